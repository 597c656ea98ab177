//! Cases of kernels that pass over vectors: copies, saxpy in groups, reductions, chains of additions. Lengths are drawn, and so mostly fit
//! no block and no group.

use super::{Bench, EPSILON, Output, bits, sum_bound, wide};
use warpwright::Result;
use warpwright_kernels::{access, copy, functions, reduce, saxpy, throughput};

fn doubles(bench: &mut Bench<'_>, n: usize) -> Vec<f64> {
    (0..n).map(|_| f64::from(bench.random.float()) / 3.0).collect()
}

fn double_bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

pub(super) fn copy<const B: usize, const ILP: usize, const BATCH: bool, const V: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(5_000);
    let values = doubles(bench, n);
    let inp = bench.device.upload(&values)?;
    let mut out = bench.device.zeros::<f64>(n)?;
    bench.go(copy::copy::<f64, B, ILP, BATCH, V>(&mut out, &inp).cover(n))?;
    Ok(Output::Exact(double_bits(&copy::reference(&values)), double_bits(&out.download()?)))
}

/// Shared memory that no `#[shared(dynamic)]` asks for is a brake, and nothing else.
pub(super) fn copy_with_shared_memory_taken(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(1_000);
    let values = bench.random.floats(n);
    let inp = bench.device.upload(&values)?;
    let mut out = bench.device.zeros::<f32>(n)?;
    bench.go(copy::copy::<f32, 128, 1, false, 1>(&mut out, &inp).cover(n).shared_bytes(8_192))?;
    Ok(Output::Exact(bits(&copy::reference(&values)), bits(&out.download()?)))
}

pub(super) fn saxpy<const B: usize, const ILP: usize, const BATCH: bool, const V: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(5_000);
    let (a, xs, ys) = (bench.random.float(), bench.random.floats(n), bench.random.floats(n));
    let x = bench.device.upload(&xs)?;
    let mut y = bench.device.upload(&ys)?;
    bench.go(saxpy::saxpy_grouped::<B, ILP, BATCH, V>(a, &x, &mut y).cover(n))?;
    // As for the plain saxpy: a device that contracts saves the rounding of the product.
    Ok(Output::Close(wide(&saxpy::reference(a, &xs, &ys)), wide(&y.download()?), 2.0 * EPSILON))
}

pub(super) fn offset_copy(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(3_000);
    let offset = bench.random.length(33) - 1;
    let (old, values) = (bench.random.floats(n + offset), bench.random.floats(n + offset));
    let inp = bench.device.upload(&values)?;
    let mut out = bench.device.upload(&old)?;
    bench.go(access::offset_copy(offset, &mut out, &inp).cover(n))?;
    Ok(Output::Exact(bits(&access::reference(offset, 1, &old, &values)), bits(&out.download()?)))
}

pub(super) fn stride_copy(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(5_000);
    let stride = bench.random.length(16);
    let (old, values) = (bench.random.floats(n), bench.random.floats(n));
    let inp = bench.device.upload(&values)?;
    let mut out = bench.device.upload(&old)?;
    bench.go(access::stride_copy(stride, &mut out, &inp).cover(n.div_ceil(stride)))?;
    Ok(Output::Exact(bits(&access::reference(0, stride, &old, &values)), bits(&out.download()?)))
}

/// The sums of `B` values of magnitude at most 1.
fn sums<const B: usize>(values: &[f32], found: &[f32]) -> Output {
    let mut expected = reduce::reference(B, values);
    let mut found = wide(found);
    // The scale of the comparison: the largest a partial sum can be.
    expected.push(B as f64);
    found.push(B as f64);
    Output::Close(expected, found, sum_bound(B))
}

pub(super) fn reduce_interleaved<const B: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(5_000);
    let values = bench.random.floats(n);
    let x = bench.device.upload(&values)?;
    let mut found = bench.device.zeros::<f32>(n.div_ceil(B))?;
    bench.go(reduce::reduce_interleaved::<B>(&x, &mut found).cover(n))?;
    Ok(sums::<B>(&values, &found.download()?))
}

pub(super) fn reduce_contiguous<const B: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(5_000);
    let values = bench.random.floats(n);
    let x = bench.device.upload(&values)?;
    let mut found = bench.device.zeros::<f32>(n.div_ceil(B))?;
    bench.go(reduce::reduce_contiguous::<B>(&x, &mut found).cover(n))?;
    Ok(sums::<B>(&values, &found.download()?))
}

pub(super) fn additions<const I: usize, const U: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let steps = bench.random.length(100);
    let mut out = bench.device.zeros::<f32>(70)?;
    bench.go(throughput::additions::<I, U>(steps, 3.0, &mut out).grid(2).block(64))?;
    // Small integers: exact in every order.
    Ok(Output::Exact(bits(&[throughput::reference(steps, 3.0); 70]), bits(&out.download()?)))
}

/// Sums of exponentials, sines, powers, on points from 1.1 to 4.3.
pub(super) fn functions<T: Real, const F: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(300);
    let points: Vec<f64> = bench.random.floats(n).iter().map(|x| 2.0 + 0.9 * f64::from(*x)).collect();
    // Exact in `f32`, so that the points are the same in both types.
    let step = 1.0 / 32.0;
    let points: Vec<T> = points.iter().map(|x| T::narrow(*x)).collect();
    let x = bench.device.upload(&points)?;
    let mut found = bench.device.zeros::<T>(n)?;
    bench.go(functions::sums::<T, F>(T::narrow(step), &x, &mut found).cover(n))?;
    let expected: Vec<f64> = points.iter().map(|x| functions::reference::<F>(step, x.wide())).collect();
    let found: Vec<f64> = found.download()?.iter().map(|sum| sum.wide()).collect();
    // Up to 16 ulp of a term (OpenCL's bound of a power; the point's own rounding is worth as much), half an ulp of the sum for each.
    let bound = (16.0 + functions::POINTS as f64 / 2.0) * T::ULP;
    Ok(Output::Close(expected, found, bound))
}

/// What the test needs of `f32` and `f64`.
pub(super) trait Real: warpwright::Float + warpwright::Element {
    /// The distance from 1 to the next number.
    const ULP: f64;
    fn narrow(value: f64) -> Self;
    fn wide(self) -> f64;
}

impl Real for f32 {
    const ULP: f64 = f32::EPSILON as f64;

    fn narrow(value: f64) -> f32 {
        value as f32
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const ULP: f64 = f64::EPSILON;

    fn narrow(value: f64) -> f64 {
        value
    }

    fn wide(self) -> f64 {
        self
    }
}
