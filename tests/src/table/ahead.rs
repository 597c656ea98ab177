//! Cases of kernels whose tiles come ahead of the work: a stencil, a convolution.

use super::{Bench, EPSILON, Output, wide};
use warpwright::Result;
use warpwright_kernels::{ahead, stencil};

/// A grid of random extents: some end within a block's tile, some have no row that begins at 16 bytes.
fn extent(bench: &mut Bench<'_>) -> (usize, usize, usize) {
    let odd = bench.random.length(4) - 1;
    (4 * bench.random.length(30) + odd, 2 + bench.random.length(30), 2 + bench.random.length(9))
}

pub(super) fn stencil<const EACH: usize, const DEPTH: usize, const STAGES: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let (nx, ny, nz) = extent(bench);
    let input = bench.random.floats(nx * ny * nz);
    let source = bench.device.upload(&input)?;
    let mut out = bench.device.upload(&input)?;
    let from = bench.device.matrix(&source, nz * ny, nx)?;
    let to = bench.device.matrix_mut(&mut out, nz * ny, nx)?;
    let grid = ((nx - 2).div_ceil(ahead::COLUMNS), (ny - 2).div_ceil(ahead::ROWS), (nz - 2).div_ceil(DEPTH));
    bench.go(ahead::stencil::<EACH, DEPTH, STAGES>(ny, 0.4, 0.1, from, to).grid(grid))?;
    Ok(Output::Close(wide(&stencil::reference((nx, ny, nz), 0.4, 0.1, &input)), wide(&out.download()?), 2.0 * EPSILON))
}

pub(super) fn stencil_in_caches<const EACH: usize, const DEPTH: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let (nx, ny, nz) = extent(bench);
    let input = bench.random.floats(nx * ny * nz);
    let source = bench.device.upload(&input)?;
    let mut out = bench.device.upload(&input)?;
    let grid = ((nx - 2).div_ceil(ahead::COLUMNS), (ny - 2).div_ceil(ahead::ROWS), (nz - 2).div_ceil(DEPTH));
    bench.go(ahead::stencil_in_caches::<EACH, DEPTH>(nx, ny, nz, 0.4, 0.1, &source, &mut out).grid(grid))?;
    Ok(Output::Close(wide(&stencil::reference((nx, ny, nz), 0.4, 0.1, &input)), wide(&out.download()?), 2.0 * EPSILON))
}

pub(super) fn run_sums<const N: usize, const STAGES: usize, const PRODUCER: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let (elements, blocks) = (bench.random.length(12 * N), bench.random.length(3));
    let x = bench.random.floats(elements);
    let mut sums = bench.device.zeros::<f32>(blocks)?;
    bench.go(ahead::run_sums::<N, STAGES, PRODUCER>(&bench.device.upload(&x)?, &mut sums).grid(blocks))?;
    let found: Vec<f64> = sums.download()?.into_iter().map(f64::from).collect();
    // Of a thread's elements each is added once, in one of four sums; then the warps' and the block's: as many roundings at most, of sums no larger than all magnitudes together.
    let most = x.iter().map(|x| f64::from(x.abs())).sum::<f64>() / elements as f64;
    Ok(Output::Close(ahead::summed_runs(N, blocks, &x), found, (elements as f64 * (most + 1.0)) * EPSILON))
}

pub(super) fn convolve<const DOWN: usize, const HIGH: usize, const DEPTH: usize, const STAGES: usize>(
    bench: &mut Bench<'_>,
) -> Result<Output> {
    let (rows, columns) = (bench.random.length(100), bench.random.length(150));
    let wide = columns + ahead::MASK - 1;
    let input = bench.random.floats((rows + ahead::MASK - 1) * wide);
    let weights = bench.random.floats(49);
    let mask: [f32; 49] = std::array::from_fn(|k| weights[k]);
    let source = bench.device.upload(&input)?;
    let mut out = bench.device.zeros::<f32>(rows * columns)?;
    let constant = bench.device.constant(mask)?;
    let from = bench.device.matrix(&source, rows + ahead::MASK - 1, wide)?;
    let to = bench.device.matrix_mut(&mut out, rows, columns)?;
    let grid = (columns.div_ceil(ahead::ACROSS), rows.div_ceil(DOWN * DEPTH));
    bench.go(ahead::convolve::<DOWN, HIGH, DEPTH, STAGES>(&constant, from, to).grid(grid))?;
    let found: Vec<f64> = out.download()?.into_iter().map(f64::from).collect();
    // As many roundings of sums below 49 as there are products, relative to a largest result that may be small.
    Ok(Output::Close(ahead::convolved(rows, columns, &mask, &input), found, 49.0 * 49.0 * EPSILON))
}
