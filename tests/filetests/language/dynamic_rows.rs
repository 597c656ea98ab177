// test ptx sm_90
// test opencl
// test rust
// kernel columns
//! A dynamic array of padded rows behind fixed arrays of more than 48 KiB: its rows are 33 elements apart, and as many as the launch gives whole.
#[kernel(block = 128, targets = [sm_90])]
fn columns(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut wide: [[f32; 128]; 128];
    #[shared(dynamic, pad = 1)]
    let mut rows: [[f32; 32]];
    let t = thread_idx().x;
    for i in 0..128usize {
        wide[i][t] = x[t + 128 * i];
    }
    for at in (t..rows.len() * 32).step_by(128) {
        rows[at / 32][at % 32] = x[at];
    }
    sync_threads();
    let mut sum = wide[127 - t][t];
    for k in 0..32usize {
        sum += rows[t % rows.len()][k];
    }
    y[t] = sum;
}
