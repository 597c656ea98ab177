// ---- A large array as the value of an `if`
#[kernel(block = 256)]
fn chosen(n: usize, y: &mut Global<f32>) {
    let i = global_id().x;
    let ones = [1.0f32; 2048];
    let zeros = [0.0f32; 2048];
    let table = if i < n { ones } else { zeros };
    y[i] = table[i % 2048];
}
// ---- A struct with a large array, copied
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Sample {
    value: f32,
    history: [f32; 8192],
}
#[kernel(block = 256)]
fn copied(x: &Global<Sample>, y: &mut Global<Sample>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i];
    }
}
// ---- A struct larger than any device
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Sample {
    value: f32,
    history: [f32; 1 << 60],
}
#[kernel(block = 256)]
fn values(x: &Global<Sample>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].value;
    }
}
// ---- A device function that calls itself
#[device]
fn factorial(n: u32) -> u32 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}
#[kernel(block = 256)]
fn factorials(y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = factorial(y[i]);
}
// ---- A call that does not say for which type
#[device]
fn bits<T: Int>() -> u32 {
    T::BITS
}
#[kernel(block = 256)]
fn fill(y: &mut Global<u32>) {
    y[global_id().x] = bits();
}
// ---- Calls that become too large a kernel
#[device]
fn one(x: f32) -> f32 {
    let a = x * x + 1.0;
    let b = a * a + x;
    let c = b * b + a;
    c * c + b
}
#[device]
fn two(x: f32) -> f32 {
    one(one(one(one(one(one(one(one(one(one(x))))))))))
}
#[device]
fn three(x: f32) -> f32 {
    two(two(two(two(two(two(two(two(two(two(x))))))))))
}
#[device]
fn four(x: f32) -> f32 {
    three(three(three(three(three(three(three(three(three(three(x))))))))))
}
#[device]
fn five(x: f32) -> f32 {
    four(four(four(four(four(four(four(four(four(four(x))))))))))
}
#[kernel(block = 256)]
fn iterated(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = five(y[i]);
}
// ---- A matrix's element reached in another block
#[kernel(block = 256, cluster = 2)]
fn exchanged(tiles: &mut Matrix<[f32; 256]>, y: &mut Global<f32>) {
    cluster_sync();
    y[global_id().x] = shared_of(&tiles[(0, 0)], 1)[thread_idx().x];
    cluster_sync();
}
// ---- A swizzled array reached in another block
#[kernel(block = 256, cluster = 2)]
fn exchanged(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(swizzle)]
    let mut tile: [[f32; 32]; 8];
    let t = thread_idx().x;
    tile[t / 32][t % 32] = x[global_id().x];
    cluster_sync();
    y[global_id().x] = shared_of(&tile, 1)[t / 32][t % 32];
    cluster_sync();
}
// ---- Another block's array before that block is known to run
#[kernel(block = 256, cluster = 2)]
fn exchanged(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    y[global_id().x] = shared_of(&part, 1)[t];
    cluster_sync();
}
// ---- A `return` before the other blocks of the cluster are met
#[kernel(block = 256, cluster = 2)]
fn exchanged(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 256];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    cluster_sync();
    let other = shared_of(&part, 1)[t];
    if other < 0.0 {
        return;
    }
    cluster_sync();
    y[global_id().x] = other;
}
// ---- A run that is copied into a buffer
#[kernel(block = 256)]
fn runs(x: &Global<f32>, y: &mut Global<[f32; 256]>) {
    let row = block_idx().x;
    load_run(&mut y[row], x, 256 * row);
}
// ---- Several elements of a thread, and a barrier
#[kernel(block = 256, ilp = 4)]
fn neighbours(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
    sync_threads();
    y[i] += x[i + 1];
}
// ---- Several elements of a thread, and the number of the block
#[kernel(block = 256, ilp = 4)]
fn fill(y: &mut Global<f32>) {
    y[block_idx().x * 256 + thread_idx().x] = 1.0;
}
// ---- A number that an index of 32 bits cannot hold
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    let n: usize = 5_000_000_000;
    let i = global_id().x;
    if i < n {
        y[i] = 1.0;
    }
}
// ---- A vector load of an array that is passed by value
#[device]
struct Filter<'a> {
    weights: [f32; 4],
    x: &'a Global<f32>,
    y: &'a mut Global<f32>,
}
#[kernel(block = 256)]
fn filtered(f: Filter<'_>) {
    let i = global_id().x;
    let w = f.weights.load::<4>(0);
    f.y[i] = w[0] * f.x[i];
}
// ---- A vector load of a swizzled array
#[kernel(block = 256)]
fn turned(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(swizzle)]
    let mut tile: [[f32; 32]; 8];
    let t = thread_idx().x;
    tile[t / 32][t % 32] = x[global_id().x];
    sync_threads();
    let v = tile[t % 8].load::<4>(0);
    y[global_id().x] = v[0] + v[3];
}
// ---- A vector store, to a swizzled array, of more elements than lie side by side
#[device]
fn filled<const N: usize>(value: f32) -> [f32; N] {
    [value; N]
}
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    #[shared(swizzle = 128)]
    let mut tile: [[f32; 32]; 8];
    let t = thread_idx().x;
    let row = filled(1.0);
    tile[t % 8].store(0, row);
    sync_threads();
    let own: [f32; 8] = row;
    y[global_id().x] = own[7] + tile[t / 32][t % 32];
}
// ---- A vector load of rows that padding has moved
#[kernel(block = 256)]
fn turned(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 1)]
    let mut tile: [[f32; 32]; 8];
    let t = thread_idx().x;
    tile[t / 32][t % 32] = x[global_id().x];
    sync_threads();
    let v = tile[t % 8].load::<4>(0);
    y[global_id().x] = v[0] + v[3];
}
// ---- An atomic of a part of a matrix's element
#[kernel(block = 256)]
fn count(histograms: &mut Matrix<[u32; 4]>, x: &Global<u32>) {
    let bin = x[global_id().x] as usize;
    histograms[(0, bin / 4)].atomic_add(bin % 4, 1);
}
// ---- A buffer of elements whose size is not known
#[kernel(block = 256)]
fn sums(rows: &Global<[f32]>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = rows[i][0];
}
// ---- A constant that is larger than constant memory
#[kernel(block = 256)]
fn weighted(w: &Constant<[f32; 32768]>, y: &mut Global<f32>) {
    y[global_id().x] *= w[block_idx().x];
}
// ---- A buffer that is said to be read for the last time, and never is
#[kernel(block = 256)]
fn fill(#[cache(last_use)] y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- A group of parameters without its lifetime
#[device]
struct Particles<'a> {
    x: &'a mut Global<f32>,
    v: &'a Global<f32>,
}
#[kernel(block = 256)]
fn step(p: Particles) {
    let i = global_id().x;
    p.x[i] += p.v[i];
}
// ---- A matrix of elements whose size is not known
#[kernel(block = 256)]
fn sums(a: &Matrix<[f32]>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = a[(0, i)][0];
}
// ---- Shared arrays that are larger than shared memory
#[kernel(block = 256)]
fn turned(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 256]; 256];
    let t = thread_idx().x;
    tile[0][t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[0][255 - t];
}
// ---- Two dynamic shared arrays
#[kernel(block = 256)]
fn both(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut left: [f32];
    #[shared(dynamic)]
    let mut right: [f32];
    let t = thread_idx().x;
    left[t] = x[global_id().x];
    right[t] = 2.0 * x[global_id().x];
    sync_threads();
    y[global_id().x] = left[255 - t] + right[255 - t];
}
// ---- A buffer in shared memory
#[kernel(block = 256)]
fn kept(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut buffers: [Global<f32>; 2];
    y[global_id().x] = buffers[0][global_id().x];
}
// ---- A buffer in a variable
#[kernel(block = 256)]
fn chosen(a: &Global<f32>, b: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let x = if i % 2 == 0 { a } else { b };
    y[i] = x[i];
}
// ---- A matrix in a variable
#[kernel(block = 256)]
fn copy(a: &Matrix<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let kept = a;
    y[i] = kept[(0, i)];
}
// ---- Constant memory in a variable
#[kernel(block = 256)]
fn weighted(weights: &Constant<[f32; 64]>, y: &mut Global<f32>) {
    let w = weights;
    y[global_id().x] *= w[block_idx().x % 64];
}
// ---- Sums in a kernel whose block the launch chooses
#[kernel]
fn sums(y: &mut Global<f32>) {
    let sums = Accumulator::<f32, 64, 64>::zero();
    y[global_id().x] = sums[0];
}
// ---- Sums that the threads of a block cannot share evenly
#[kernel(block = 256)]
fn sums(y: &mut Global<f32>) {
    let sums = Accumulator::<f32, 24, 24>::zero();
    y[global_id().x] = sums[0];
}
// ---- A product of tiles that are not in shared memory
#[kernel(block = 128)]
fn products(tiles: &Global<[[bf16; 64]; 64]>, y: &mut Global<f32>) {
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    multiply_add(&tiles[0], &tiles[1], &mut sums);
    y[global_id().x] = sums[0];
}
// ---- Rows of sums in a block that is not whole warpgroups
#[kernel(block = 192)]
fn rows(y: &mut Global<f32>) {
    let sums = Accumulator::<f32, 192, 64>::zero();
    let most = sums.row_max();
    y[global_id().x] = most[0];
}

// ---- A call that does not say the value of a const generic
#[device]
fn last<const N: usize>() -> usize {
    N - 1
}
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x % last()] = 1.0;
}
// ---- An index shifted by more than it has bits
#[kernel(block = 256)]
fn pages(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i << 40] = x[i];
}
// ---- More columns stored at a time than the sums have
#[kernel(block = 128)]
fn stored(c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 64]; 64];
    let sums = Accumulator::<f32, 64, 32>::zero();
    sums.store_columns(0, &mut strip);
    sync_threads();
    store_tile(c, 0, 0, &strip);
}
// ---- Columns stored from a place that is not known, of which no place has enough
#[kernel(block = 128)]
fn stored(c: &mut Matrix<f32>, from: u32) {
    #[shared]
    let mut strip: [[f32; 64]; 64];
    let sums = Accumulator::<f32, 64, 32>::zero();
    sums.store_columns(from as usize, &mut strip);
    sync_threads();
    store_tile(c, 0, 0, &strip);
}
// ---- Columns stored from behind the sums' end on
#[kernel(block = 128)]
fn stored(c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 64];
    let sums = Accumulator::<f32, 64, 32>::zero();
    sums.store_columns(32, &mut strip);
    sync_threads();
    store_tile(c, 0, 32, &strip);
}
