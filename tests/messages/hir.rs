// ---- An array of a negative length
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    let part = [0.0f32; 4 - 8];
    y[global_id().x] = part[0];
}
// ---- A constant that divides by zero
const COLUMNS: usize = 0;
const ROWS: usize = 1024 / COLUMNS;
#[kernel(block = 256)]
fn fill(y: &mut Global<u32>) {
    y[global_id().x] = ROWS as u32;
}
// ---- A constant that its type cannot hold
const SIZE: u8 = 256 + 1;
#[kernel(block = 256)]
fn fill(y: &mut Global<u32>) {
    y[global_id().x] = SIZE as u32;
}
// ---- A constant that only the host can compute
const START: f32 = start();
fn start() -> f32 {
    0.5
}
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = START;
}
// ---- A variant of an enum that its integer cannot hold
#[device]
#[derive(Clone, Copy)]
#[repr(u8)]
enum Color { Black = 0, White = 256 }
#[kernel(block = 256)]
fn paint(y: &mut Global<Color>) {
    y[global_id().x] = Color::White;
}
// ---- A struct that holds itself
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Node { value: f32, next: Node }
#[kernel(block = 256)]
fn values(nodes: &Global<Node>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = nodes[i].value;
}
// ---- A type that an item leaves open
#[device]
fn doubled(x: _) -> f32 {
    x + x
}
#[kernel(block = 256)]
fn doubles(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = doubled(x[i]);
}
// ---- The type of what does not return
#[device]
fn doubled(x: !) -> f32 {
    x + x
}
#[kernel(block = 256)]
fn doubles(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = doubled(x[i]);
}
// ---- An array of the launch's length as a value
#[kernel(block = 64)]
fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut tile: [f32];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[{ tile }.len() - 1 - t];
}
// ---- A literal that is taken apart
#[kernel(block = 64)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let (mut a, mut b) = (0.0);
    a += x[0];
    b += x[1];
    y[global_id().x] = a * b;
}
// ---- A const generic of a struct's type
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Size { rows: u32 }
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Tile<const SIZE: Size> { value: f32 }
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- A struct of more scalars than a thread can hold
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Row(f32, f32, f32, f32, f32, f32, f32, f32);
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Page(Row, Row, Row, Row, Row, Row, Row, Row, Row, Row, Row, Row, Row, Row, Row, Row);
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Book(Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page);
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Library(Book, Book, Book, Book, Book, Book, Book, Book, Book, Book, Book, Book, Book, Book, Book, Book);
#[kernel(block = 256)]
fn first(x: &Global<Library>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i].0.0.0.0;
}
// ---- A constant index beyond an array
#[kernel(block = 256)]
fn last(x: &Global<[f32; 4]>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i][4];
}
// ---- An index beyond an array in a variant
#[kernel(block = 256, variants(N in [8]))]
fn last<const N: usize>(x: &Global<[f32; 4]>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i][N - 1];
}
// ---- A variant that is a number instead of a type
#[kernel(block = 256, variants(T in [64]))]
fn double<T: Float>(y: &mut Global<T>) {
    let i = global_id().x;
    y[i] = y[i] + y[i];
}
// ---- A block of more threads along x than there are
const THREADS: usize = 2048;
#[kernel(block = THREADS)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- A block of too many threads in all
const SIDE: usize = 64;
#[kernel(block = (SIDE, SIDE))]
fn fill(y: &mut Global<f32>) {
    let at = global_id();
    y[at.y * 4096 + at.x] = 1.0;
}
// ---- More resident blocks than a multiprocessor has threads for
#[kernel(block = 1024, min_blocks = 4)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- An occupancy in percent
#[kernel(block = 256, require(occupancy >= 50))]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- A number where `persistent` is or is not
const BLOCKS: usize = 132;
#[kernel(block = 256, persistent = BLOCKS)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- Bands of no rows
const ROWS: usize = 0;
#[kernel(block = 256, raster(rows = ROWS))]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- Indices of 16 bits
const BITS: usize = 16;
#[kernel(block = 256, index = BITS)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- More registers than a thread can have
const REGISTERS: usize = 256;
#[kernel(block = 256, max_registers = REGISTERS)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- A cluster of no blocks
const BLOCKS: usize = 0;
#[kernel(block = 256, cluster = BLOCKS)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
// ---- A cluster of too many blocks
const SIDE: usize = 4;
#[kernel(block = 256, cluster = (SIDE, SIDE))]
fn fill(y: &mut Global<f32>) {
    let at = global_id();
    y[at.y * 4096 + at.x] = 1.0;
}
// ---- Bands that cut clusters in two
#[kernel(block = 256, cluster = (1, 2), raster(rows = 5))]
fn fill(y: &mut Global<f32>) {
    let at = global_id();
    y[at.y * 4096 + at.x] = 1.0;
}
// ---- More variants than can be checked
#[kernel(block = 256, variants(A in [1, 2, 3, 4, 5, 6, 7, 8], B in [1, 2, 3, 4, 5, 6, 7, 8], C in [1, 2, 3, 4, 5, 6, 7, 8], D in [1, 2, 3, 4, 5, 6, 7, 8, 9]))]
fn fill<const A: u32, const B: u32, const C: u32, const D: u32>(y: &mut Global<u32>) {
    y[global_id().x] = A * B * C * D;
}
// ---- A variant whose value no number can be
#[kernel(block = 256, variants(N in [4 - 8, 8]))]
fn fill<const N: usize>(y: &mut Global<u32>) {
    y[global_id().x] = N as u32;
}

// ---- A rank that the cluster has not
// target sm_90
#[kernel(block = 256, cluster = 2)]
fn swap(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    cluster_sync();
    y[global_id().x] = shared_of(&tile, 2)[t];
}

// ---- Variants of one value
const FIRST: u8 = 1;

#[device]
#[derive(Clone, Copy)]
#[repr(u8)]
enum Mode {
    Fast = FIRST,
    Precise = 1 + 0,
}

#[kernel(block = 256)]
fn modes(y: &mut Global<Mode>) {
    y[global_id().x] = Mode::Fast;
}
