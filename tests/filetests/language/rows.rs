// test opencl
// kernel rows
// A warp for a row: the exchanges stand outside of the condition, in which the rest stays.

#[device]
fn at(x: &Global<f32>, row: usize, width: usize) -> f32 {
    let mut sum = 0.0;
    for k in (lane_id()..width).step_by(32) {
        sum += x[row * width + k];
    }
    warp_sum(sum)
}

#[kernel(block = 64)]
pub fn rows(rows: usize, width: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x / 32;
    if row < rows {
        let sum = at(x, row, width);
        if lane_id() == 0 {
            y[row] = sum;
        }
    }
}
