// test ptx sm_90
//! The loads of the next step stand in the order in which its products use them, `volatile`, with registers for both steps: the first row's and the column's vectors before the second row's.
use warpwright::prelude::*;
#[kernel(block = 32)]
pub fn fragments(y: &mut Global<f32>) {
    #[shared]
    let mut rows: [[f32; 64]; 3];
    #[shared]
    let mut columns: [[f32; 32]; 3];
    let t = thread_idx().x;
    #[unroll]
    for k in 0..3usize {
        rows[k][t] = y[t + 96 * k];
        rows[k][t + 32] = y[t + 96 * k + 32];
        columns[k][t] = y[t + 96 * k + 64];
    }
    sync_threads();
    let mut s = [[0.0f32; 2]; 4];
    #[unroll]
    #[prefetch]
    for k in 0..3usize {
        let (a, b) = (rows[k].load::<2>(t % 8 * 2), rows[k].load::<2>(t % 8 * 2 + 32));
        let c = columns[k].load::<2>(t / 8 * 2);
        #[unroll]
        for i in 0..4usize {
            #[unroll]
            for j in 0..2usize {
                s[i][j] += if i < 2 { a[i % 2] } else { b[i % 2] } * c[j];
            }
        }
    }
    #[unroll]
    for i in 0..4usize {
        #[unroll]
        for j in 0..2usize {
            y[(i * 2 + j) * 32 + t] = s[i][j];
        }
    }
}
