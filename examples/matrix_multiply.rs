//! A product of matrices three times: plainly, through tiles in shared memory, and by tensor cores. A table says what each asks of memory, as the simulator counts it, and how far its
//! result is from one in double precision. Without tensor cores the threads multiply what they would; the source is the same.
//!
//! `cargo run --release --example matrix_multiply`

use warpwright::prelude::*;
use warpwright::{BufferMatrix, BufferMatrixMut, Launch, Result};

const ROWS: usize = 64;
const COLUMNS: usize = 128;
const DEPTH: usize = 128;

/// c ← a · b: each thread has an element of c, and reads a row of a and a column of b.
#[kernel(block = (16, 16), allow(redundant_global_loads))]
fn plain(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    let Dim3 { x: column, y: row, .. } = global_id();
    let mut sum = 0.0;
    for k in 0..a.columns() {
        sum += a[(row, k)] as f32 * b[(k, column)] as f32;
    }
    c[(row, column)] = sum;
}

/// Side of a tile.
const SIDE: usize = 16;

/// The same, but a block reads a and b a tile at a time, and each of its threads uses a row and a column of the tiles.
#[kernel(block = (SIDE, SIDE))]
fn tiled(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut a_tile: [[bf16; SIDE]; SIDE];
    #[shared]
    let mut b_tile: [[bf16; SIDE]; SIDE];
    let (Dim3 { x, y, .. }, Dim3 { x: column, y: row, .. }) = (thread_idx(), global_id());
    let mut sum = 0.0;
    for first in (0..a.columns()).step_by(SIDE) {
        a_tile[y][x] = a[(row, first + x)];
        b_tile[y][x] = b[(first + y, column)];
        sync_threads();
        #[unroll]
        for k in 0..SIDE {
            sum += a_tile[y][k] as f32 * b_tile[k][x] as f32;
        }
        sync_threads();
    }
    c[(row, column)] = sum;
}

/// The same by tensor cores: a block has 64 × 128 elements of c, spread over its threads. The next tiles are on their way while one is multiplied.
#[kernel(block = 128)]
fn tensor(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[bf16; 64]; 64];
    #[shared(swizzle = 128)]
    let mut b_tile: [[bf16; 128]; 64];
    let (row, column) = (block_idx().y * 64, block_idx().x * 128);
    let mut sums = Accumulator::<f32, 64, 128>::zero();
    #[pipeline(stages = 2)]
    for first in (0..a.columns()).step_by(64) {
        load_tile(&mut a_tile, a, row, first);
        load_tile(&mut b_tile, b, first, column);
        sync_threads();
        multiply_add(&a_tile, &b_tile, &mut sums);
        sync_threads();
    }
    #[unroll]
    for e in 0..sums.len() {
        let (r, n) = sums.position(e);
        c[(row + r, column + n)] = sums[e];
    }
}

/// How the host sees each of these kernels.
type Product = for<'a> fn(BufferMatrix<'a, bf16>, BufferMatrix<'a, bf16>, BufferMatrixMut<'a, f32>) -> Launch<'a>;

fn main() -> Result<()> {
    let device = Device::best();
    let (a, b) = (numbers(ROWS * DEPTH, 1), numbers(DEPTH * COLUMNS, 2));
    let (a_there, b_there) = (device.upload(&a)?, device.upload(&b)?);
    let (left, right) = (device.matrix(&a_there, ROWS, DEPTH)?, device.matrix(&b_there, DEPTH, COLUMNS)?);
    let expected = by_rust(&a, &b);

    println!("{}: {ROWS} x {DEPTH} by {DEPTH} x {COLUMNS}, bf16; the figures in the middle are counted by the simulator", device.name());
    println!(
        "{:>12} {:>18} {:>15} {:>15} {:>14} {:>10}",
        "", "warp instructions", "global requests", "global sectors", "shared passes", "off by"
    );
    let elements = (COLUMNS / SIDE, ROWS / SIDE);
    let variants: [(&str, Product, _); 3] =
        [("plain", plain, elements), ("tiled", tiled, elements), ("tensor cores", tensor, (COLUMNS / 128, ROWS / 64))];
    for (name, product, blocks) in variants {
        let mut c = device.zeros::<f32>(ROWS * COLUMNS)?;
        let simulation = product(left, right, device.matrix_mut(&mut c, ROWS, COLUMNS)?).grid(blocks).simulate()?;
        c.clear()?;
        product(left, right, device.matrix_mut(&mut c, ROWS, COLUMNS)?).grid(blocks).launch(&device)?;
        let off = c.download()?.iter().zip(&expected).map(|(c, exact)| (f64::from(*c) - exact).abs()).fold(0.0, f64::max);
        let total = &simulation.counters().total;
        let (instructions, requests) = (total.total_warp_instructions(), total.global_requests);
        println!("{name:>12} {instructions:>18} {requests:>15} {:>15} {:>14} {off:>10.1e}", total.global_sectors, total.shared_passes);
        // The products are exact in `f32`. Each of the sums, which stay below 10, is rounded 128 times.
        assert!(off < 1e-4, "{name} is off by {off}");
    }
    println!("a `multiply_add` counts as one instruction of a warp, and what it reads of shared memory does not count");
    Ok(())
}

/// Numbers from -0.5 to 0.5.
fn numbers(n: usize, salt: usize) -> Vec<bf16> {
    (0..n).map(|i| bf16::from_f32(((i * 7919 + salt) % 1009) as f32 / 1009.0 - 0.5)).collect()
}

/// The product in double precision.
fn by_rust(a: &[bf16], b: &[bf16]) -> Vec<f64> {
    let element = |i: usize| (0..DEPTH).map(|k| a[i / COLUMNS * DEPTH + k].to_f64() * b[k * COLUMNS + i % COLUMNS].to_f64()).sum();
    (0..ROWS * COLUMNS).map(element).collect()
}
