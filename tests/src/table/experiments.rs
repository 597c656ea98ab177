//! Cases of the experiments: each form against the reference that it shares with the one it is set against.

use super::{Bench, EPSILON, Output, bits, sum_bound, wide};
use warpwright::Result;
use warpwright_kernels::experiments::{brake, cliff, constants, divergence, instructions, transfers, walks};

fn words(bench: &mut Bench<'_>, n: usize) -> Vec<u32> {
    (0..n).map(|_| bench.random.next() as u32).collect()
}

fn exact(expected: &[u32], found: &[u32]) -> Output {
    let widen = |words: &[u32]| words.iter().map(|word| u64::from(*word)).collect();
    Output::Exact(widen(expected), widen(found))
}

pub(super) fn split_by_thread(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(1_000), bench.random.length(20));
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(divergence::split_by_thread(steps, &mut y).cover(n))?;
    Ok(exact(&divergence::reference(steps, 1, n), &y.download()?))
}

pub(super) fn split_by_warp(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(1_000), bench.random.length(20));
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(divergence::split_by_warp(steps, &mut y).cover(n))?;
    Ok(exact(&divergence::reference(steps, 32, n), &y.download()?))
}

/// Sums of `n` values of magnitude at most 1.
fn sums(mut expected: Vec<f64>, found: &[f32], n: usize) -> Output {
    let mut found = wide(found);
    // The scale of the comparison: the largest a partial sum can be.
    expected.push(n as f64);
    found.push(n as f64);
    Output::Close(expected, found, sum_bound(n))
}

pub(super) fn along_rows(bench: &mut Bench<'_>) -> Result<Output> {
    let (rows, columns) = (bench.random.length(200), bench.random.length(40));
    let values = bench.random.floats(rows * columns);
    let x = bench.device.upload(&values)?;
    let mut found = bench.device.zeros::<f32>(rows)?;
    bench.go(walks::along_rows(columns, &x, &mut found).cover(rows))?;
    Ok(sums(walks::rows_reference(columns, &values), &found.download()?, columns))
}

pub(super) fn along_columns(bench: &mut Bench<'_>) -> Result<Output> {
    let (rows, columns) = (bench.random.length(40), bench.random.length(200));
    let values = bench.random.floats(rows * columns);
    let x = bench.device.upload(&values)?;
    let mut found = bench.device.zeros::<f32>(columns)?;
    bench.go(walks::along_columns(rows, &x, &mut found).cover(columns))?;
    Ok(sums(walks::columns_reference(columns, &values), &found.download()?, rows))
}

pub(super) fn held<const LIVE: usize, const MOST: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(500), bench.random.length(4));
    let values = words(bench, n);
    let x = bench.device.upload(&values)?;
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(cliff::held::<LIVE, MOST>(steps, &x, &mut y).grid(n.div_ceil(cliff::THREADS)))?;
    Ok(exact(&cliff::reference(LIVE, steps, &values), &y.download()?))
}

pub(super) fn streamed(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(2_000);
    let values = words(bench, n);
    let x = bench.device.upload(&values)?;
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(brake::streamed(&x, &mut y).cover(n).shared_bytes(4_096))?;
    Ok(exact(&brake::streamed_reference(&values), &y.download()?))
}

pub(super) fn streamed_static(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(2_000);
    let values = words(bench, n);
    let x = bench.device.upload(&values)?;
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(brake::streamed_static::<1_792>(&x, &mut y).cover(n))?;
    Ok(exact(&brake::streamed_reference(&values), &y.download()?))
}

pub(super) fn computed(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(500), bench.random.length(20));
    let values = words(bench, n);
    let x = bench.device.upload(&values)?;
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(brake::computed(steps, &x, &mut y).cover(n).shared_bytes(4_096))?;
    Ok(exact(&brake::computed_reference(steps, &values), &y.download()?))
}

/// Points from -1 to 1, and on in steps of an eighth.
pub(super) fn waves<const FAST: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(500), bench.random.length(16));
    let points = bench.random.floats(n);
    let x = bench.device.upload(&points)?;
    let mut y = bench.device.zeros::<f32>(n)?;
    bench.go(instructions::waves::<FAST>(steps, &x, &mut y).cover(n))?;
    let mut expected = instructions::waves_reference(steps, &points);
    let mut found = wide(&y.download()?);
    // A term is at most e in magnitude; so is its derivative up to a factor of two, and a point is off by half an ulp of at most 2 after the addition.
    // sin and exp are within 4 ulp each (OpenCL's bounds), the hardware's within 2⁻²⁰ of 1 and of the result's magnitude up to the argument's rounding. Relative to
    // the scale of `steps` times e that is 16 and 64 units for a term, and one more for each addition.
    expected.push(steps as f64 * std::f64::consts::E);
    found.push(steps as f64 * std::f64::consts::E);
    let bound = (if FAST { 64.0 } else { 16.0 } + steps as f64) * EPSILON;
    Ok(Output::Close(expected, found, bound))
}

pub(super) fn indices<const MUL24: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(1_000), bench.random.length(20));
    let width = bench.random.next() as u32 & 0xff_ffff;
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(instructions::indices::<MUL24>(steps, width, &mut y).cover(n))?;
    Ok(exact(&instructions::indices_reference(steps, width, n), &y.download()?))
}

pub(super) fn halves<const HOW: u32>(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(1_000), bench.random.length(20));
    // What is known while compiling is 10.
    let power = if HOW == instructions::dividing::KNOWN { 10 } else { bench.random.length(31) as u32 };
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(instructions::halves::<HOW>(steps, power, &mut y).cover(n))?;
    Ok(exact(&instructions::halves_reference(steps, power, n), &y.download()?))
}

pub(super) fn scaled<const STRAY: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(1_000), bench.random.length(8));
    let values: Vec<f32> = (0..n).map(|_| (bench.random.next() % 4_096) as f32).collect();
    let x = bench.device.upload(&values)?;
    let mut y = bench.device.zeros::<f32>(n)?;
    bench.go(instructions::scaled::<STRAY>(steps, &x, &mut y).cover(n))?;
    // Twelve bits before the point, at most nine behind it: exact.
    Ok(Output::Exact(bits(&instructions::scaled_reference(steps, &values)), bits(&y.download()?)))
}

pub(super) fn mix(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(500);
    let values = words(bench, n);
    let mut x = bench.device.upload(&values)?;
    bench.go(transfers::mix(5, &mut x).cover(n))?;
    Ok(exact(&transfers::reference(5, &values), &x.download()?))
}

pub(super) fn copied(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(5_000);
    let values = words(bench, n);
    let x = bench.device.upload(&values)?;
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(transfers::copied(&x, &mut y).cover(n))?;
    Ok(exact(&values, &y.download()?))
}

pub(super) fn from_constant<const SPREAD: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(1_000), bench.random.length(40));
    let values = words(bench, constants::TABLE);
    let table = bench.device.constant_from_slice::<_, { constants::TABLE }>(&values)?;
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(constants::from_constant::<SPREAD>(steps, &table, &mut y).cover(n))?;
    Ok(exact(&constants::reference(SPREAD, steps, &values, n), &y.download()?))
}

pub(super) fn from_global<const SPREAD: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let (n, steps) = (bench.random.length(1_000), bench.random.length(40));
    let values = words(bench, constants::TABLE);
    let table = bench.device.upload(&values)?;
    let mut y = bench.device.zeros::<u32>(n)?;
    bench.go(constants::from_global::<SPREAD>(steps, &table, &mut y).cover(n))?;
    Ok(exact(&constants::reference(SPREAD, steps, &values, n), &y.download()?))
}
