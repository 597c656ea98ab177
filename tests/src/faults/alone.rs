//! Kernels of the library of staples whose blocks wait for nobody, launched by hand with a few blocks and short inputs: rows, counts, transposes, products with a vector.
//!
//! Results are held to plain Rust. What is of small whole numbers is exact.

use super::kernels::{Show, Specimen};
use super::staples::{device, numbers, zeros};
use warpwright::Result;
use warpwright_kernels::staples::{gemm, histogram, map, norm, softmax, sort, spmv, transpose};

/// Every one.
pub const ALONE: &[Specimen] = &[
    Specimen { name: "softmax_warp", run: softmax_of_warps },
    Specimen { name: "softmax_block", run: softmax_of_blocks::<50> },
    Specimen { name: "softmax_block of whole rows", run: softmax_of_blocks::<64> },
    Specimen { name: "softmax_hybrid", run: softmax_in_two_places },
    Specimen { name: "softmax_elements", run: softmax_of_elements },
    Specimen { name: "norm_warp", run: norm_of_warps },
    Specimen { name: "norm_block", run: norm_of_blocks::<50> },
    Specimen { name: "norm_block of whole rows", run: norm_of_blocks::<64> },
    Specimen { name: "norm_hybrid", run: norm_in_two_places },
    Specimen { name: "norm_elements", run: norm_of_elements },
    Specimen { name: "transpose_elements", run: transposed_elements },
    Specimen { name: "transpose_wide", run: transposed_vectors },
    Specimen { name: "gemv_rows", run: dense_rows },
    Specimen { name: "spmv_rows", run: sparse_rows },
    Specimen { name: "gemm_guarded", run: product_of_any },
    Specimen { name: "count_digits", run: digits },
    Specimen { name: "count_halves", run: counts_of_halves },
    Specimen { name: "count_global", run: counts_in_memory },
    Specimen { name: "clear_bins", run: cleared },
    Specimen { name: "copy_elements", run: copied },
    Specimen { name: "fill_elements", run: filled },
    Specimen { name: "axpy_elements", run: scaled },
];

/// Whole numbers below 61, which differ from their neighbours.
fn floats(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 61) as f32).collect()
}

/// The words of floats.
fn words(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// The tolerance of a softmax and of a norm of a few hundred numbers, relative: what `staples::softmax` derives for n ≤ 4096 and differences ≤ 16, and more than `staples::norm` does.
const ROUNDED: f64 = 8e-6;

fn is_near(found: &[u32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let found = f64::from(f32::from_bits(*found));
        assert!((found - expected).abs() <= ROUNDED * expected.abs(), "[{at}]: {found} for {expected}");
    }
}

/// Rows of at most four, of numbers from 0 to 6, each with one that is greater: at the row's first place, its last, and at ends of vectors between, so that the maximum needs all loops.
fn peaked(rows: usize, columns: usize) -> Vec<f32> {
    let mut x: Vec<f32> = floats(rows * columns).iter().map(|x| x / 10.0).collect();
    let peaks = [0, columns - 1, 3, columns - 4];
    (0..rows).for_each(|row| x[row * columns + peaks[row]] = 7.0);
    x
}

fn softmaxes(x: &[f32], columns: usize) -> Vec<f64> {
    let of_row = |row: &[f32]| {
        let most = row.iter().fold(f64::NEG_INFINITY, |most, x| most.max(f64::from(*x)));
        let sum: f64 = row.iter().map(|x| (f64::from(*x) - most).exp()).sum();
        row.iter().map(|x| (f64::from(*x) - most).exp() / sum).collect::<Vec<f64>>()
    };
    x.chunks(columns).flat_map(of_row).collect()
}

/// Shows a launch that writes the softmaxes of these rows.
macro_rules! softmax {
    ($show:ident, $rows:expr, $columns:expr, |$x:ident, $y:ident| $launch:expr) => {{
        let (rows, columns) = ($rows, $columns);
        let of = peaked(rows, columns);
        let (there, mut result) = (device().upload(&words(&of))?, zeros(rows * columns)?);
        let ($x, $y) = (&there, &mut result);
        let launch = $launch;
        $show(&launch);
        launch.launch(&device())?;
        is_near(&result.download()?, &softmaxes(&of, columns));
        Ok(())
    }};
}

fn softmax_of_warps(show: Show<'_>) -> Result<()> {
    softmax!(show, 3, 4 * 20, |x, y| softmax::softmax_warp::<2, 4, 1, 2>(3, 20, x, y).grid(2))
}

fn softmax_of_blocks<const VECTORS: usize>(show: Show<'_>) -> Result<()> {
    softmax!(show, 4, 4 * VECTORS, |x, y| softmax::softmax_block::<2, 4, 64, 1>(VECTORS, x, y).grid(4))
}

fn softmax_in_two_places(show: Show<'_>) -> Result<()> {
    softmax!(show, 4, 4 * 192, |x, y| softmax::softmax_hybrid::<2, 4, 64, 1, 2, 1>(x, y).grid(4).shared_bytes(16 * 64 * 2))
}

fn softmax_of_elements(show: Show<'_>) -> Result<()> {
    softmax!(show, 3, 101, |x, y| softmax::softmax_elements::<u32, 2, 64>(101, x, y).grid(3))
}

/// Norms of rows, times weights; with shifts, layer norms.
fn norms(x: &[f32], w: &[f32], b: Option<&[f32]>) -> Vec<f64> {
    let columns = w.len();
    let of_row = |row: &[f32]| {
        let n = columns as f64;
        let mean = if b.is_some() { row.iter().map(|x| f64::from(*x)).sum::<f64>() / n } else { 0.0 };
        let square = row.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / n;
        let scale = 1.0 / (square + f64::from(EPSILON)).sqrt();
        let shift = |c: usize| b.map_or(0.0, |b| f64::from(b[c]));
        row.iter().enumerate().map(|(c, x)| (f64::from(*x) - mean) * scale * f64::from(w[c]) + shift(c)).collect::<Vec<f64>>()
    };
    x.chunks(columns).flat_map(of_row).collect()
}

const EPSILON: f32 = 0.25;

/// Shows a launch that writes the norms of these rows.
macro_rules! norm {
    ($show:ident, $rows:expr, $columns:expr, $centred:literal, |$x:ident, $w:ident, $b:ident, $y:ident| $launch:expr) => {{
        let (rows, columns) = ($rows, $columns);
        let of = peaked(rows, columns);
        // Shifts are larger than what they are added to, so that no sum is near zero.
        let (weights, shifts): (Vec<f32>, Vec<f32>) = (0..columns).map(|c| ((c % 7 + 1) as f32, (c % 5 + 50) as f32)).unzip();
        let (there, of_w, of_b) = (device().upload(&words(&of))?, device().upload(&words(&weights))?, device().upload(&words(&shifts))?);
        let mut result = zeros(rows * columns)?;
        let ($x, $w, $b, $y) = (&there, &of_w, &of_b, &mut result);
        let launch = $launch;
        $show(&launch);
        launch.launch(&device())?;
        is_near(&result.download()?, &norms(&of, &weights, $centred.then_some(&shifts)));
        Ok(())
    }};
}

fn norm_of_warps(show: Show<'_>) -> Result<()> {
    norm!(show, 3, 4 * 20, true, |x, w, b, y| norm::norm_warp::<2, 4, true, 1, 2>(3, 20, EPSILON, x, w, b, y).grid(2))
}

fn norm_of_blocks<const VECTORS: usize>(show: Show<'_>) -> Result<()> {
    norm!(show, 3, 4 * VECTORS, true, |x, w, b, y| norm::norm_block::<2, 4, true, 64, 1>(VECTORS, EPSILON, x, w, b, y).grid(3))
}

fn norm_in_two_places(show: Show<'_>) -> Result<()> {
    norm!(show, 2, 4 * 192, false, |x, w, _b, y| norm::norm_hybrid::<2, 4, 64, 1, 2, 1>(EPSILON, x, w, y).grid(2).shared_bytes(16 * 64 * 2))
}

fn norm_of_elements(show: Show<'_>) -> Result<()> {
    norm!(show, 3, 101, true, |x, w, b, y| norm::norm_elements::<u32, 2, true, 64>(101, EPSILON, x, w, b, y).grid(3))
}

/// The extents of what is transposed: a tile and more either way.
fn turned(x: &[u32], height: usize, width: usize) -> Vec<u32> {
    (0..height * width).map(|at| x[at % height * width + at / height]).collect()
}

fn transposed_elements(show: Show<'_>) -> Result<()> {
    let (height, width) = (37, 45);
    let x = numbers(height * width);
    let (there, mut y) = (device().upload(&x)?, zeros(height * width)?);
    let launch = transpose::transpose_elements::<u32, 32>(2, width, height, &there, &mut y).grid(4);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, turned(&x, height, width));
    Ok(())
}

fn transposed_vectors(show: Show<'_>) -> Result<()> {
    let (height, width) = (68, 76);
    let x = numbers(height * width);
    let (there, mut y) = (device().upload(&x)?, zeros(height * width)?);
    let launch = transpose::transpose_wide::<32>(2, width, height, &there, &mut y).grid(4);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, turned(&x, height, width));
    Ok(())
}

fn dense_rows(show: Show<'_>) -> Result<()> {
    let (m, n) = (11, 70);
    let (a, x) = (floats(m * n), floats(n));
    let (of_a, of_x, mut y) = (device().upload(&a)?, device().upload(&x)?, zeros(m)?);
    let launch = gemm::gemv_rows::<f32, 2, 32>(m, n, &of_a, &of_x, &mut y).grid(2);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, a.chunks(n).map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect::<Vec<f32>>());
    Ok(())
}

/// Rows of none to 12 elements.
fn sparse_rows(show: Show<'_>) -> Result<()> {
    let rows = 70;
    let mut starts = vec![0u32];
    (0..rows).for_each(|row| starts.push(starts[row] + (row as u32 * 5) % 13));
    let n = starts[rows] as usize;
    let columns: Vec<u32> = (0..n as u32).map(|k| k * 29 % 50).collect();
    let (values, x) = (floats(n), floats(50));
    let (of_starts, of_columns) = (device().upload(&starts)?, device().upload(&columns)?);
    let (of_values, of_x, mut y) = (device().upload(&values)?, device().upload(&x)?, zeros(rows)?);
    let launch = spmv::spmv_rows::<f32, 4>(rows, &of_starts, &of_columns, &of_values, &of_x, &mut y).grid(2);
    show(&launch);
    launch.launch(&device())?;
    let of_row = |row: usize| (starts[row] as usize..starts[row + 1] as usize).map(|k| values[k] * x[columns[k] as usize]).sum();
    assert_eq!(y.download()?, (0..rows).map(of_row).collect::<Vec<f32>>());
    Ok(())
}

fn product_of_any(show: Show<'_>) -> Result<()> {
    let (m, n, inner) = (67, 70, 18);
    let (a, b) = (floats(m * inner), floats(inner * n));
    let (left, right, mut c) = (device().upload(&a)?, device().upload(&b)?, zeros(m * n)?);
    let launch = gemm::gemm_guarded::<f32, 32>(2, (m, n, inner), 1.0, &left, &right, &mut c).grid(4);
    show(&launch);
    launch.launch(&device())?;
    let expected = |at: usize| (0..inner).map(|k| a[at / n * inner + k] * b[k * n + at % n]).sum::<f32>();
    assert_eq!(c.download()?, (0..m * n).map(expected).collect::<Vec<f32>>());
    Ok(())
}

fn digits(show: Show<'_>) -> Result<()> {
    // What is left over is three keys, of which one is a lane's with the other counter; and some digit is the last.
    let mut x: Vec<u32> = numbers(303).iter().map(|n| n * 61).collect();
    x[8] = 0xffff;
    let (there, mut counts) = (device().upload(&x)?, zeros(2 * 256)?);
    let launch = sort::kernels::count_digits::<u32, 0, false, 2, 4, 64, 2>(&there, &mut counts).grid(2).shared_bytes(2 * 256 * 2 * 4);
    show(&launch);
    launch.launch(&device())?;
    let expected = |at: usize| x.iter().filter(|x| (**x >> (at / 256 * 8)) as usize % 256 == at % 256).count() as u32;
    assert_eq!(counts.download()?, (0..2 * 256).map(expected).collect::<Vec<_>>());
    Ok(())
}

/// How often each of the first values comes.
fn counted(x: &[u32], bins: usize) -> Vec<u32> {
    (0..bins as u32).map(|bin| x.iter().filter(|x| **x == bin).count() as u32).collect()
}

/// Values of which some have no bin.
fn values(n: usize) -> Vec<u32> {
    numbers(n).iter().map(|n| n % 40).collect()
}

fn counts_of_halves(show: Show<'_>) -> Result<()> {
    let mut x = values(4 * 1024 + 7);
    // Of what is left over, two have the same bin, and the one between has none.
    x[4 * 1024 + 4..].copy_from_slice(&[1, 39, 1]);
    let (there, mut bins) = (device().upload(&x)?, zeros(33)?);
    let launch = histogram::count_halves::<u32, 4, 1, 32>(&there, &mut bins).grid(2).shared_bytes(17 * 4);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(bins.download()?, counted(&x, 33));
    Ok(())
}

fn counts_in_memory(show: Show<'_>) -> Result<()> {
    let x = values(1201);
    let (there, mut bins) = (device().upload(&x)?, zeros(33)?);
    let launch = histogram::count_global::<u32, 2, 32>(&there, &mut bins).grid(2);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(bins.download()?, counted(&x, 33));
    Ok(())
}

fn cleared(show: Show<'_>) -> Result<()> {
    let mut bins = device().upload(&numbers(300))?;
    let launch = histogram::clear_bins(&mut bins).grid(2);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(bins.download()?, [0; 300]);
    Ok(())
}

fn copied(show: Show<'_>) -> Result<()> {
    let x = numbers(701);
    let (there, mut y) = (device().upload(&x)?, zeros(701)?);
    let launch = map::copy_elements::<u32, 4, 32>(&there, &mut y).cover(701);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, x);
    Ok(())
}

fn filled(show: Show<'_>) -> Result<()> {
    let mut y = device().upload(&numbers(1201))?;
    let launch = map::fill_elements::<u32, 4, 32>(5, &mut y).cover(1201);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, [5; 1201]);
    Ok(())
}

fn scaled(show: Show<'_>) -> Result<()> {
    let (x, y) = (floats(1201), floats(1300)[7..1208].to_vec());
    let (of_x, mut of_y) = (device().upload(&x)?, device().upload(&y)?);
    let launch = map::axpy_elements::<f32, 4, 1, 32>(3.0, &of_x, &mut of_y).cover(1201);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(of_y.download()?, x.iter().zip(&y).map(|(x, y)| 3.0 * x + y).collect::<Vec<f32>>());
    Ok(())
}
