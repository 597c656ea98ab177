// test ptx sm_90
// test rust
//! More shared memory than a block has without asking: arrays are places in one region, the dynamic one behind the others.
#[kernel(block = 256, targets = [sm_90])]
fn columns(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 128]; 128];
    #[shared]
    let mut last: [u8; 5];
    #[shared(dynamic)]
    let mut row: [f32];
    let t = thread_idx().x;
    row[t] = x[t];
    if t < 5 {
        last[t] = 1;
    }
    for i in 0..64usize {
        tile[i * 2 + t / 128][t % 128] = x[t + 256 * i];
    }
    sync_threads();
    let mut sum = row[row.len() - 1 - t] + last[2] as f32;
    for i in 0..128usize {
        sum += tile[i][t % 128];
    }
    y[t] = sum;
}
