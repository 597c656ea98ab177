//! A kernel between two calls of cuBLAS, on memory that cudarc owns: y = W₂ · relu(W₁ · x + b). Without a GPU, or without cuBLAS, the simulator runs the kernel, and plain Rust multiplies.
//!
//! cargo run --example between_cublas --features cudarc

use cudarc::cublas::{CudaBlas, Gemv, GemvConfig, sys::cublasOperation_t};
use cudarc::driver::CudaContext;
use std::error::Error;
use warpwright::cudarc::with_buffers;
use warpwright::prelude::*;

/// h ← max(h + b, 0)
#[kernel(block = 256)]
fn biased_relu(b: &Global<f32>, h: &mut Global<f32>) {
    let i = global_id().x;
    if i < h.len() {
        h[i] = (h[i] + b[i]).max(0.0);
    }
}

const INPUTS: usize = 300;
const HIDDEN: usize = 500;
const OUTPUTS: usize = 10;

struct Network {
    w1: Vec<f32>,
    b: Vec<f32>,
    w2: Vec<f32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers = |n: usize, salt: usize| (0..n).map(|i| ((i * 7919 + salt) % 17) as f32 / 17.0 - 0.5).collect::<Vec<f32>>();
    let network = Network { w1: numbers(HIDDEN * INPUTS, 1), b: numbers(HIDDEN, 2), w2: numbers(OUTPUTS * HIDDEN, 3) };
    let x = numbers(INPUTS, 4);
    let expected = by_rust(&network, &x);
    let (by, found) = match Device::cuda(0) {
        Ok(device) if has_cublas() => (format!("cuBLAS and a kernel on {device}"), by_cublas(&network, &x)?),
        Ok(_) => ("plain Rust and a kernel on the simulator (no cuBLAS)".to_owned(), by_simulator(&network, &x)?),
        Err(error) => (format!("plain Rust and a kernel on the simulator ({error})"), by_simulator(&network, &x)?),
    };
    let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    println!("{by}: y[0..3] = {:?}, off by {off:.1e} at most", &found[..3]);
    assert!(off < 1e-2, "sums of {HIDDEN} products of numbers up to 30");
    Ok(())
}

/// Whether cuBLAS is there: it comes with CUDA's toolkit, not with the driver, and cudarc ends the program where it is missing.
#[expect(unsafe_code, reason = "a library's own code runs when it is loaded")]
fn has_cublas() -> bool {
    // SAFETY: loads cuBLAS, if there is one, as the calls below do.
    unsafe { cudarc::cublas::sys::is_culib_present() }
}

/// All three steps in one stream of cudarc's: nothing waits, nothing is copied.
fn by_cublas(network: &Network, x: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let stream = CudaContext::new(0)?.new_stream()?;
    let blas = CudaBlas::new(stream.clone())?;
    let [w1, b, w2, x] = [&network.w1, &network.b, &network.w2, &x.to_vec()].map(|host| stream.clone_htod(host));
    let (w1, b, w2, x) = (w1?, b?, w2?, x?);
    let (mut h, mut y) = (stream.alloc_zeros::<f32>(HIDDEN)?, stream.alloc_zeros::<f32>(OUTPUTS)?);
    // Rows one behind the other are columns of the transposed matrix.
    let of = |columns: usize, rows: usize| GemvConfig {
        trans: cublasOperation_t::CUBLAS_OP_T,
        m: columns as i32,
        n: rows as i32,
        alpha: 1.0,
        lda: columns as i32,
        incx: 1,
        beta: 0.0,
        incy: 1,
    };
    multiplied(&blas, of(INPUTS, HIDDEN), &w1, &x, &mut h)?;
    with_buffers((&b, &mut h), &stream, |(b, h), stream| biased_relu(b, h).cover(HIDDEN).launch_on(stream))?;
    multiplied(&blas, of(HIDDEN, OUTPUTS), &w2, &h, &mut y)?;
    Ok(stream.clone_dtoh(&y)?)
}

#[expect(unsafe_code, reason = "cuBLAS does not look at lengths")]
fn multiplied(
    blas: &CudaBlas,
    config: GemvConfig<f32>,
    w: &cudarc::driver::CudaSlice<f32>,
    x: &cudarc::driver::CudaSlice<f32>,
    y: &mut cudarc::driver::CudaSlice<f32>,
) -> Result<(), Box<dyn Error>> {
    assert!(w.len() >= (config.m * config.n) as usize && x.len() >= config.m as usize && y.len() >= config.n as usize);
    // SAFETY: the matrix and both vectors are as long as the configuration says, as was just seen.
    Ok(unsafe { blas.gemv(config, w, x, y) }?)
}

fn by_simulator(network: &Network, x: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let device = Device::simulator();
    let b = device.upload(&network.b)?;
    let mut h = device.upload(&times(&network.w1, x))?;
    biased_relu(&b, &mut h).cover(HIDDEN).launch(&device)?;
    Ok(times(&network.w2, &h.download()?))
}

fn by_rust(network: &Network, x: &[f32]) -> Vec<f32> {
    let h: Vec<f32> = times(&network.w1, x).iter().zip(&network.b).map(|(h, b)| (h + b).max(0.0)).collect();
    times(&network.w2, &h)
}

/// A matrix, row after row, times a vector.
fn times(matrix: &[f32], x: &[f32]) -> Vec<f32> {
    matrix.chunks(x.len()).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}
