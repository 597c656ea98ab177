// ---- A stride between neighbouring threads
#[kernel(block = 256)]
fn copy(stride: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x * stride;
    y[i] = x[i];
}
// ---- A column of a shared tile, 32 words apart
#[kernel(block = (32, 8))]
fn turned(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 32];
    let (t, row) = (thread_idx().x, thread_idx().y);
    for r in 0..4 {
        tile[t][row + 8 * r] = x[(row + 8 * r) * 32 + t];
    }
    sync_threads();
    for r in 0..4 {
        y[(row + 8 * r) * 32 + t] = tile[row + 8 * r][t];
    }
}
// ---- No barrier between a store and a load of shared memory
#[kernel(block = 256)]
fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    y[global_id().x] = part[255 - t];
}
// ---- A barrier that some threads of the block do not reach
#[kernel(block = 256)]
fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let (t, i) = (thread_idx().x, global_id().x);
    if i < x.len() {
        part[t] = x[i];
        sync_threads();
        y[i] = part[255 - t];
    }
}
// ---- A literal that makes arithmetic double precision
#[kernel(block = 256)]
fn scaled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (x[i] as f64 * 0.1) as f32;
}
// ---- A block that is not whole warps
#[kernel(block = 100)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}
// ---- A block of one warp
#[kernel(block = 32)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}
// ---- Constant memory read at another place by each thread
#[kernel(block = 256)]
fn weighted(weights: &Constant<[f32; 256]>, y: &mut Global<f32>) {
    y[global_id().x] *= weights[thread_idx().x];
}
// ---- A condition that splits warps
#[kernel(block = 256)]
fn reduced(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    let mut stride = 1;
    while stride < 256 {
        sync_threads();
        if t % (2 * stride) == 0 {
            part[t] += part[t + stride];
        }
        stride *= 2;
    }
    if t == 0 {
        y[block_idx().x] = part[0];
    }
}
// ---- An array of a thread that is indexed by a variable
#[kernel(block = 128)]
fn reversed(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut row = [0.0f32; 16];
    for k in 0..n {
        row[k] = x[i + k * 4096];
    }
    for k in 0..n {
        y[i + k * 4096] = row[n - 1 - k];
    }
}
// ---- A short loop that is kept rolled
#[kernel(block = 256)]
fn polynomial(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    let mut sum = 0.0;
    #[unroll(1)]
    for _ in 0..12 {
        sum = sum * v + 1.0;
    }
    y[i] = sum;
}
// ---- A buffer of structs of 12 bytes
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Vec3 { x: f32, y: f32, z: f32 }
#[kernel(block = 256)]
fn scaled(a: f32, x: &Global<Vec3>, y: &mut Global<Vec3>) {
    let i = global_id().x;
    let v = x[i];
    y[i] = Vec3 { x: a * v.x, y: a * v.y, z: a * v.z };
}
// ---- More registers than are allowed
#[kernel(block = 256, max_registers = 64)]
fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sums = [0.0f32; 80];
    for j in 0..n {
        #[unroll]
        for k in 0..80 {
            sums[k] = sums[k] * 0.5 + x[j * 80 + k];
        }
    }
    #[unroll]
    for k in 0..80 {
        y[k * 4096 + global_id().x] = sums[k];
    }
}
// ---- A requirement that does not hold
#[kernel(block = 256, require(shared <= 512))]
fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = part[255 - t];
}
// ---- A requirement that the launch decides
#[kernel(block = 256, require(shared <= 1024))]
fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut part: [f32];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = part[255 - t];
}
// ---- A requirement of occupancy without a block
#[kernel(require(occupancy >= 0.5))]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}
// ---- A requirement where OpenCL devices are the only target
// target opencl
#[kernel(block = 256, targets = [opencl], require(registers <= 64))]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}
// ---- A sum of a warp under a condition that may split it, where OpenCL devices are a target
// target opencl
#[kernel(block = 64, targets = [opencl])]
fn sums(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < rows {
        y[i] = warp_sum(x[i]);
    }
}
// ---- More variants than are looked at while a crate compiles
// most 1000
#[kernel(block = B, variants(B in [32, 64, 128, 256, 512]))]
fn scale<const B: usize>(y: &mut Global<f32>) {
    y[global_id().x] *= 2.0;
}
