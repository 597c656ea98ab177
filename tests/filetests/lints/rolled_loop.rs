// test lints
use warpwright::prelude::*;

// Ryoo et al., PPoPP 2008: the inner product of a tiled multiply, not unrolled, is one product in eight instructions.
#[kernel(block = (16, 16))]
pub fn product(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut left: [[f32; 16]; 16];
    #[shared]
    let mut right: [[f32; 16]; 16];
    let Dim3 { x, y, .. } = thread_idx();
    let (row, column) = (block_idx().y * 16 + y, block_idx().x * 16 + x);
    let mut sum = 0.0f32;
    for tile in 0..n / 16 {
        left[y][x] = a[row * n + tile * 16 + x];
        right[y][x] = b[(tile * 16 + y) * n + column];
        sync_threads();
        #[unroll(1)]
        for k in 0..16 {
            sum += left[y][k] * right[k][x];
        }
        sync_threads();
    }
    c[row * n + column] = sum;
}

#[kernel(block = 256)]
pub fn powers(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    let mut sum = 0.0f32;
    #[unroll(1)]
    for _ in 0..12 {
        sum = sum * v + 1.0;
    }
    y[i] = sum;
}

// Unrolled by 4, three rounds are left.
#[kernel(block = 256)]
pub fn by_four(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0f32;
    #[unroll(4)]
    for k in 0..12usize {
        sum += x[i * 5 % 64 + k * k];
    }
    y[i] = sum;
}

// The assembler unrolls it.
#[kernel(block = 256)]
pub fn left_to_the_assembler(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    let mut sum = 0.0f32;
    for _ in 0..12 {
        sum = sum * v + 1.0;
    }
    y[i] = sum;
}

// The launch decides how often.
#[kernel(block = 256)]
pub fn open(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    let mut sum = 0.0f32;
    #[unroll(1)]
    for _ in 0..n {
        sum = sum * v + 1.0;
    }
    y[i] = sum;
}

// There is enough to do in each iteration.
#[kernel(block = 256)]
pub fn busy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    let (mut a, mut b, mut c, mut d) = (0.0f32, 1.0f32, 2.0f32, 3.0f32);
    #[unroll(1)]
    for _ in 0..12 {
        a = a * v + 1.0;
        b = b * v + a;
        c = c * v + b;
        d = d * v + c;
    }
    y[i] = a + b + c + d;
}
