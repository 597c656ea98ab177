//! Cases of kernels over matrices: products from global and shared memory, transposes, shortcuts.

use super::{Bench, Output, absolute, bits};
use warpwright::Result;
use warpwright_kernels::{aat, ab, matmul, shortcut, transpose};

pub(super) fn matmul_direct<const UNROLL: usize>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = bench.random.length(40);
    let (a, b) = (bench.random.floats(n * n), bench.random.floats(n * n));
    let (a_buffer, b_buffer) = (bench.device.upload(&a)?, bench.device.upload(&b)?);
    let mut c = bench.device.zeros::<f32>(n * n)?;
    bench.go(matmul::matmul_direct::<UNROLL>(n, &a_buffer, &b_buffer, &mut c).cover((n, n)))?;
    Ok(absolute(&matmul::reference(n, &a, &b), &c.download()?, n))
}

pub(super) fn matmul_tiled<const T: usize, const UNROLL: usize, const PREFETCH: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = T * bench.random.length(3);
    let (a, b) = (bench.random.floats(n * n), bench.random.floats(n * n));
    let (a_buffer, b_buffer) = (bench.device.upload(&a)?, bench.device.upload(&b)?);
    let mut c = bench.device.zeros::<f32>(n * n)?;
    bench.go(matmul::matmul_tiled::<T, UNROLL, PREFETCH>(n, &a_buffer, &b_buffer, &mut c).cover((n, n)))?;
    Ok(absolute(&matmul::reference(n, &a, &b), &c.download()?, n))
}

pub(super) fn ab<const A_SHARED: bool, const B_SHARED: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let (m, n) = (32, 48);
    let (a, b) = (bench.random.floats(m * ab::T), bench.random.floats(ab::T * n));
    let (a_buffer, b_buffer) = (bench.device.upload(&a)?, bench.device.upload(&b)?);
    let mut c = bench.device.zeros::<f32>(m * n)?;
    bench.go(ab::ab::<A_SHARED, B_SHARED>(n, &a_buffer, &b_buffer, &mut c).cover((n, m)))?;
    Ok(absolute(&ab::reference(m, n, &a, &b), &c.download()?, ab::T))
}

pub(super) fn aat_direct(bench: &mut Bench<'_>) -> Result<Output> {
    let n = 48;
    let a = bench.random.floats(n * aat::T);
    let a_buffer = bench.device.upload(&a)?;
    let mut c = bench.device.zeros::<f32>(n * n)?;
    bench.go(aat::aat_direct(n, &a_buffer, &mut c).cover((n, n)))?;
    Ok(absolute(&aat::reference(n, &a), &c.download()?, aat::T))
}

pub(super) fn aat<const PAD: usize, const SWIZZLE: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let n = 64;
    let a = bench.random.floats(n * aat::T);
    let a_buffer = bench.device.upload(&a)?;
    let mut c = bench.device.zeros::<f32>(n * n)?;
    bench.go(aat::aat::<PAD, SWIZZLE>(n, &a_buffer, &mut c).cover((n, n)))?;
    Ok(absolute(&aat::reference(n, &a), &c.download()?, aat::T))
}

pub(super) fn transpose_direct(bench: &mut Bench<'_>) -> Result<Output> {
    let (width, height) = (bench.random.length(70), bench.random.length(70));
    let values = bench.random.floats(width * height);
    let inp = bench.device.upload(&values)?;
    let mut out = bench.device.zeros::<f32>(width * height)?;
    bench.go(transpose::transpose_direct(width, height, &inp, &mut out).cover((width, height)))?;
    Ok(Output::Exact(bits(&transpose::reference(width, height, &values)), bits(&out.download()?)))
}

pub(super) fn transpose_tiled<const PAD: usize, const SWIZZLE: bool>(bench: &mut Bench<'_>) -> Result<Output> {
    let (width, height) = (bench.random.length(70), bench.random.length(70));
    let values = bench.random.floats(width * height);
    let inp = bench.device.upload(&values)?;
    let mut out = bench.device.zeros::<f32>(width * height)?;
    let tiles = (width.div_ceil(transpose::SIDE), height.div_ceil(transpose::SIDE));
    bench.go(transpose::transpose_tiled::<PAD, SWIZZLE>(width, height, &inp, &mut out).grid(tiles))?;
    Ok(Output::Exact(bits(&transpose::reference(width, height, &values)), bits(&out.download()?)))
}

pub(super) fn shortcut(bench: &mut Bench<'_>) -> Result<Output> {
    let n = 40 + bench.random.length(40);
    let blocks = n.div_ceil(shortcut::REACH);
    let padded = blocks * shortcut::REACH;
    let d = bench.random.floats(n * n);
    let rows = bench.device.upload(&shortcut::pad(n, padded, &d, true))?;
    let columns = bench.device.upload(&shortcut::pad(n, padded, &d, false))?;
    let mut r = bench.device.zeros::<f32>(n * n)?;
    bench.go(shortcut::shortcut(n, padded, &rows, &columns, &mut r).grid((blocks, blocks)))?;
    Ok(Output::Exact(bits(&shortcut::reference(n, &d)), bits(&r.download()?)))
}
