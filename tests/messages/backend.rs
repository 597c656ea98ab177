// ---- Atomics of the system on an old device
// target sm_50
#[kernel(block = 256)]
fn count(counts: &mut Global<u32>) {
    counts.atomic_add_ordered(block_idx().x, 1, Ordering::Relaxed, ThreadScope::System);
}
// ---- More bytes of parameters than a device takes
// target sm_50
#[kernel(block = 256)]
fn scaled(weights: [[f64; 16]; 40], y: &mut Global<f64>) {
    y[global_id().x] *= weights[1][2];
}
// ---- Copies of the copy engine where there is none
// target sm_80
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 4096];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 4, by = bulk)]
    for chunk in (block_idx().x..x.len() / 4096).step_by(grid_dim().x) {
        load_run(&mut run, x, chunk * 4096);
        sync_threads();
        for i in 0..16 {
            sum += run[i * 256 + t];
        }
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- Shared memory of another block on OpenCL devices
// target sm_90
#[kernel(block = 256, cluster = 2)]
fn exchanged(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    cluster_sync();
    y[global_id().x] = shared_of(&part, 1)[t];
    cluster_sync();
}
// ---- A barrier of a cluster on OpenCL devices
// target sm_90
#[kernel(block = 256, cluster = 2)]
fn filled(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
    cluster_sync();
}
// ---- More shared memory than a block has on a target
// target sm_80
#[kernel(block = 256)]
fn turned(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 256]; 192];
    let t = thread_idx().x;
    tile[0][t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[0][255 - t];
}
// ---- Tables that are larger than constant memory
const SINES: [f32; 10_000] = [0.5; 10_000];
const COSINES: [f32; 10_000] = [0.25; 10_000];
#[kernel(block = 256)]
fn waves(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = SINES[block_idx().x] * COSINES[block_idx().x];
}
// ---- Asynchronous copies on a device that has none
// target sm_70
#[kernel(block = 256)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = cp_async)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[global_id().x] = sum;
}
// ---- A product whose instruction takes more registers than a thread begins with
// target sm_90a
#[kernel(block = 512)]
fn product(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; 256];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; 256];
    load_tile(&mut left, a, 0, 0);
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 256, 256>::zero();
    multiply_add(&left, transposed(&right), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}
