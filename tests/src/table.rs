//! The table of kernels that every device must run alike: each with random inputs, a launch, and what its outputs are compared with.

mod ahead;
mod applications;
mod experiments;
mod matrices;
mod streams;

use crate::random::Random;
use warpwright::{Device, Launch, Result};
use warpwright_kernels::{complex, dot, histogram, life, mandelbrot, saxpy, stencil};

/// What a case leaves behind.
pub enum Output {
    /// Must be these bits on every device: expected, found.
    Exact(Vec<u64>, Vec<u64>),
    /// Expected in double precision, found, and the bound of the error relative to the largest expected magnitude.
    Close(Vec<f64>, Vec<f64>, f64),
}

/// A kernel on random inputs.
pub struct Case {
    /// The kernel's name.
    pub name: &'static str,
    /// Draws inputs, launches on a device, gives the reference's and the device's results.
    pub run: fn(&mut Bench<'_>) -> Result<Output>,
}

/// What a case runs with.
pub struct Bench<'a> {
    /// The device.
    pub device: &'a Device,
    /// Where inputs come from.
    pub random: Random,
    /// Sees every launch before it runs.
    pub inspect: &'a mut dyn FnMut(&Launch<'_>),
}

impl Bench<'_> {
    fn go(&mut self, launch: Launch<'_>) -> Result<()> {
        (self.inspect)(&launch);
        launch.launch(self.device)
    }
}

/// Unit roundoff of `f32`.
const EPSILON: f64 = f32::EPSILON as f64 / 2.0;

/// Every case.
pub const CASES: &[Case] = &[
    Case { name: "saxpy", run: run_saxpy },
    Case { name: "saxpy_exact", run: run_saxpy_exact },
    Case { name: "dot", run: run_dot },
    Case { name: "dot_tree", run: run_dot_tree },
    Case { name: "dot_integer", run: run_dot_integer },
    Case { name: "copy: plain", run: streams::copy::<32, 1, false, 1> },
    Case { name: "copy: ilp 4", run: streams::copy::<64, 4, false, 1> },
    Case { name: "copy: ilp 4, batched", run: streams::copy::<128, 4, true, 1> },
    Case { name: "copy: ilp 8, batched", run: streams::copy::<32, 8, true, 1> },
    Case { name: "copy: vectors of 2", run: streams::copy::<256, 1, false, 2> },
    Case { name: "copy: vectors of 2, ilp 4, batched", run: streams::copy::<64, 4, true, 2> },
    Case { name: "copy: shared memory taken", run: streams::copy_with_shared_memory_taken },
    Case { name: "saxpy_grouped: plain", run: streams::saxpy::<128, 1, false, 1> },
    Case { name: "saxpy_grouped: ilp 4, batched", run: streams::saxpy::<128, 4, true, 1> },
    Case { name: "saxpy_grouped: vectors of 4", run: streams::saxpy::<256, 1, false, 4> },
    Case { name: "saxpy_grouped: vectors of 4, ilp 2, batched", run: streams::saxpy::<64, 2, true, 4> },
    Case { name: "offset_copy", run: streams::offset_copy },
    Case { name: "stride_copy", run: streams::stride_copy },
    Case { name: "reduce_interleaved", run: streams::reduce_interleaved::<64> },
    Case { name: "reduce_contiguous", run: streams::reduce_contiguous::<256> },
    Case { name: "additions::<1>", run: streams::additions::<1, 1> },
    Case { name: "additions::<4>", run: streams::additions::<4, 4> },
    Case { name: "sums::<f32, 0>", run: streams::functions::<f32, 0> },
    Case { name: "sums::<f32, 7>", run: streams::functions::<f32, 7> },
    Case { name: "sums::<f32, 20>", run: streams::functions::<f32, 20> },
    Case { name: "sums::<f64, 0>", run: streams::functions::<f64, 0> },
    Case { name: "sums::<f64, 7>", run: streams::functions::<f64, 7> },
    Case { name: "sums::<f64, 20>", run: streams::functions::<f64, 20> },
    Case { name: "matmul_direct: rolled", run: matrices::matmul_direct::<1> },
    Case { name: "matmul_direct: unrolled by 4", run: matrices::matmul_direct::<4> },
    Case { name: "matmul_tiled: 4, rolled", run: matrices::matmul_tiled::<4, 1, false> },
    Case { name: "matmul_tiled: 8, unrolled", run: matrices::matmul_tiled::<8, 8, false> },
    Case { name: "matmul_tiled: 12, unrolled, prefetched", run: matrices::matmul_tiled::<12, 12, true> },
    Case { name: "matmul_tiled: 16, prefetched", run: matrices::matmul_tiled::<16, 1, true> },
    Case { name: "matmul_tiled: 16, unrolled by 4", run: matrices::matmul_tiled::<16, 4, false> },
    Case { name: "ab: direct", run: matrices::ab::<false, false> },
    Case { name: "ab: A shared", run: matrices::ab::<true, false> },
    Case { name: "ab: A and B shared", run: matrices::ab::<true, true> },
    Case { name: "aat_direct", run: matrices::aat_direct },
    Case { name: "aat: plain", run: matrices::aat::<0, false> },
    Case { name: "aat: padded", run: matrices::aat::<1, false> },
    Case { name: "aat: swizzled", run: matrices::aat::<0, true> },
    Case { name: "transpose_direct", run: matrices::transpose_direct },
    Case { name: "transpose_tiled: plain", run: matrices::transpose_tiled::<0, false> },
    Case { name: "transpose_tiled: padded", run: matrices::transpose_tiled::<1, false> },
    Case { name: "transpose_tiled: swizzled", run: matrices::transpose_tiled::<0, true> },
    Case { name: "shortcut", run: matrices::shortcut },
    Case { name: "stencil3d", run: run_stencil },
    Case { name: "stencil of planes: one at a time", run: ahead::stencil::<4, 64, 1> },
    Case { name: "stencil of planes: three ahead", run: ahead::stencil::<2, 64, 4> },
    Case { name: "stencil of planes: in caches", run: ahead::stencil_in_caches::<4, 64> },
    Case { name: "sums of runs: the block asks", run: ahead::run_sums::<2048, 3, false> },
    Case { name: "sums of runs: a producer asks", run: ahead::run_sums::<1024, 6, true> },
    Case { name: "convolution of tiles: one at a time", run: ahead::convolve::<16, 22, 1, 1> },
    Case { name: "convolution of tiles: one ahead", run: ahead::convolve::<16, 22, 16, 2> },
    Case { name: "histogram", run: run_histogram },
    Case { name: "mandelbrot", run: run_mandelbrot },
    Case { name: "live", run: run_life },
    Case { name: "sad: global", run: applications::sad_global },
    Case { name: "sad: shared, 64 threads", run: applications::sad_shared::<64> },
    Case { name: "sad: textures", run: applications::sad_texture::<64> },
    Case { name: "sad: shared, 160 threads", run: applications::sad_shared::<160> },
    Case { name: "saxpy of the suite", run: applications::saxpy },
    Case { name: "rpes: direct", run: applications::rpes_direct },
    Case { name: "rpes: pairs", run: applications::rpes_of_pairs::<1, false> },
    Case { name: "rpes: pairs, 2 kets", run: applications::rpes_of_pairs::<2, false> },
    Case { name: "rpes: pairs, by table", run: applications::rpes_of_pairs::<1, true> },
    Case { name: "rpes: pairs, 4 kets, by table", run: applications::rpes_of_pairs::<4, true> },
    Case { name: "pns: a net's numbers together", run: applications::pns_in_memory::<false> },
    Case { name: "pns: all nets' numbers together", run: applications::pns_in_memory::<true> },
    Case { name: "pns: in registers", run: applications::pns_in_registers::<1> },
    Case { name: "pns: in registers, 4 ahead", run: applications::pns_in_registers::<4> },
    Case { name: "pns: in registers, 8 ahead", run: applications::pns_in_registers::<8> },
    Case { name: "coulomb: plain", run: applications::coulomb_direct },
    Case { name: "coulomb: a point", run: applications::coulomb::<32, 1, 1> },
    Case { name: "coulomb: 4 points, unrolled", run: applications::coulomb::<64, 4, 4> },
    Case { name: "coulomb: 8 points, unrolled", run: applications::coulomb::<32, 8, 4> },
    Case { name: "coulomb: 4 points, through the cache", run: applications::coulomb_cached::<64, 4, 1> },
    Case { name: "coulomb: 8 points, unrolled, through the cache", run: applications::coulomb_cached::<32, 8, 4> },
    Case { name: "rc5: keys of 3 words", run: applications::rc5_encrypt_all::<3> },
    Case { name: "rc5: keys of 4 words", run: applications::rc5_encrypt_all::<4> },
    Case { name: "rc5: plain", run: applications::rc5_direct },
    Case { name: "rc5: 32 keys", run: applications::rc5_search::<32, 1> },
    Case { name: "rc5: 256 keys, 2 at a time", run: applications::rc5_search::<256, 2> },
    Case { name: "mri q: plain", run: applications::q_direct },
    Case { name: "mri q: precise", run: applications::q::<1, 1, false, false> },
    Case { name: "mri q: 4 voxels, fast", run: applications::q::<4, 1, true, false> },
    Case { name: "mri q: 4 voxels, unrolled, fast, turns", run: applications::q::<4, 4, true, true> },
    Case { name: "mri fhd: plain", run: applications::fhd_direct },
    Case { name: "mri fhd: 4 voxels, precise, turns", run: applications::fhd::<4, 1, false, true> },
    Case { name: "mri fhd: fast", run: applications::fhd::<1, 1, true, false> },
    Case { name: "mri fhd: 4 voxels, unrolled, fast, turns", run: applications::fhd::<4, 4, true, true> },
    Case { name: "mri q: precise, through the cache", run: applications::q_cached::<1, 1, false, false> },
    Case { name: "mri q: 4 voxels, unrolled, fast, turns, through the cache", run: applications::q_cached::<4, 4, true, true> },
    Case { name: "mri fhd: 2 voxels, unrolled, fast, turns, through the cache", run: applications::fhd_cached::<2, 4, true, true> },
    Case { name: "mri fhd: 4 voxels, unrolled, precise, through the cache", run: applications::fhd_cached::<4, 4, false, false> },
    Case { name: "fdtd: by columns", run: applications::fdtd_by_columns },
    Case { name: "fdtd: plain", run: applications::fdtd_plain::<1, false> },
    Case { name: "fdtd: ilp 4, batched", run: applications::fdtd_plain::<4, true> },
    Case { name: "fdtd: fused", run: applications::fdtd_fused::<1, true> },
    Case { name: "fdtd: fused, ilp 2, batched", run: applications::fdtd_fused::<2, true> },
    Case { name: "fdtd: tiled", run: applications::fdtd_tiled::<1> },
    Case { name: "fdtd: tiled, 2 steps a launch", run: applications::fdtd_tiled::<2> },
    Case { name: "fdtd: tiled, 4 steps a launch", run: applications::fdtd_tiled::<4> },
    Case { name: "fem: a thread to a row", run: applications::fem_by_thread },
    Case { name: "fem: 4 lanes to a row", run: applications::fem_by_lanes::<4, 128> },
    Case { name: "fem: 8 lanes to a row", run: applications::fem_by_lanes::<8, 256> },
    Case { name: "fem: a warp to a row", run: applications::fem_by_lanes::<32, 128> },
    Case { name: "fem: sliced", run: applications::fem_sliced::<256, 1> },
    Case { name: "fem: sliced, 4 ahead", run: applications::fem_sliced::<128, 4> },
    Case { name: "fem: sliced, 8 ahead", run: applications::fem_sliced::<256, 8> },
    Case { name: "tpacf: direct", run: applications::tpacf_direct },
    Case { name: "tpacf: a histogram a block", run: applications::tpacf_tiled::<128, 1, 1, 1> },
    Case { name: "tpacf: a histogram a warp", run: applications::tpacf_tiled::<128, 2, 4, 1> },
    Case { name: "tpacf: a histogram a lane", run: applications::tpacf_tiled::<256, 4, 1, 32> },
    Case { name: "lbm: structures", run: applications::lbm_structures },
    Case { name: "lbm: arrays", run: applications::lbm_arrays::<64, false> },
    Case { name: "lbm: arrays, eager", run: applications::lbm_arrays::<128, true> },
    Case { name: "lbm: staged", run: applications::lbm_staged::<64> },
    Case { name: "branches: by thread", run: experiments::split_by_thread },
    Case { name: "branches: by warp", run: experiments::split_by_warp },
    Case { name: "walks: along rows", run: experiments::along_rows },
    Case { name: "walks: along columns", run: experiments::along_columns },
    Case { name: "register cliff: 24 values", run: experiments::held::<24, 255> },
    Case { name: "register cliff: 64 values in 32 registers", run: experiments::held::<64, 32> },
    Case { name: "brake: memory", run: experiments::streamed },
    Case { name: "brake: memory, in the kernel", run: experiments::streamed_static },
    Case { name: "brake: arithmetic", run: experiments::computed },
    Case { name: "waves: precise", run: experiments::waves::<false> },
    Case { name: "waves: fast", run: experiments::waves::<true> },
    Case { name: "indices: by *", run: experiments::indices::<false> },
    Case { name: "indices: by mul24", run: experiments::indices::<true> },
    Case { name: "powers of two: unknown", run: experiments::halves::<0> },
    Case { name: "powers of two: shifts", run: experiments::halves::<1> },
    Case { name: "powers of two: known", run: experiments::halves::<2> },
    Case { name: "constants of f32", run: experiments::scaled::<false> },
    Case { name: "constants of f64", run: experiments::scaled::<true> },
    Case { name: "transfers: mixed", run: experiments::mix },
    Case { name: "transfers: copied", run: experiments::copied },
    Case { name: "constant memory: uniform", run: experiments::from_constant::<false> },
    Case { name: "constant memory: spread", run: experiments::from_constant::<true> },
    Case { name: "global memory: uniform", run: experiments::from_global::<false> },
    Case { name: "global memory: spread", run: experiments::from_global::<true> },
];

fn bits(values: &[f32]) -> Vec<u64> {
    values.iter().map(|value| u64::from(value.to_bits())).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|value| f64::from(*value)).collect()
}

fn run_saxpy(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    let n = random.length(5_000);
    let (a, xs, ys) = (random.float(), random.floats(n), random.floats(n));
    let x = device.upload(&xs)?;
    let mut y = device.upload(&ys)?;
    bench.go(saxpy::saxpy(a, &x, &mut y).cover(n))?;
    // One rounding on a device that contracts, two on the host: they differ by a rounding of the product.
    Ok(Output::Close(wide(&saxpy::reference(a, &xs, &ys)), wide(&y.download()?), 2.0 * EPSILON))
}

fn run_saxpy_exact(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    let n = random.length(5_000);
    let (a, xs, ys) = (random.float(), random.floats(n), random.floats(n));
    let x = device.upload(&xs)?;
    let mut y = device.upload(&ys)?;
    bench.go(saxpy::saxpy_exact(a, &x, &mut y).cover(n))?;
    Ok(Output::Exact(bits(&saxpy::reference(a, &xs, &ys)), bits(&y.download()?)))
}

/// Sums of n products, in any order: n roundings of partial sums of magnitude at most Σ|x·y|, which is at most n here.
fn sum_bound(n: usize) -> f64 {
    n as f64 * EPSILON
}

fn run_dot(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    let n = random.length(20_000);
    let (xs, ys) = (random.floats(n), random.floats(n));
    let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
    let mut result = device.upload(&[0.0f32])?;
    bench.go(dot::dot(&x, &y, &mut result).grid(7))?;
    Ok(absolute(&[dot::reference(&xs, &ys)], &result.download()?, n))
}

fn run_dot_tree(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    let n = random.length(20_000);
    let (xs, ys) = (random.floats(n), random.floats(n));
    let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
    let mut result = device.upload(&[0.0f32])?;
    bench.go(dot::dot_tree(&x, &y, &mut result).grid(5))?;
    Ok(absolute(&[dot::reference(&xs, &ys)], &result.download()?, n))
}

/// Compares against an absolute bound: inputs are at most 1 in magnitude, so sums of `n` products are at most `n`.
fn absolute(expected: &[f64], found: &[f32], n: usize) -> Output {
    let mut expected: Vec<f64> = expected.to_vec();
    let mut found = wide(found);
    // The scale of the comparison: the largest a partial sum can be.
    expected.push(n as f64);
    found.push(n as f64);
    Output::Close(expected, found, sum_bound(n))
}

fn run_dot_integer(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    let n = random.length(10_000);
    let mut ints = |n| (0..n).map(|_| random.next() as i32).collect::<Vec<i32>>();
    let (xs, ys) = (ints(n), ints(n));
    let expected = xs.iter().zip(&ys).fold(0i64, |sum, (x, y)| sum.wrapping_add(i64::from(*x) * i64::from(*y)));
    let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
    let mut result = device.upload(&[0i64])?;
    bench.go(dot::dot_integer(&x, &y, &mut result).cover(n))?;
    Ok(Output::Exact(vec![expected as u64], result.download()?.into_iter().map(|v| v as u64).collect()))
}

fn run_stencil(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    let extent = (17, 9, 7);
    let n = extent.0 * extent.1 * extent.2;
    let input = random.floats(n);
    let source = device.upload(&input)?;
    let mut out = device.zeros::<f32>(n)?;
    bench.go(stencil::stencil3d(extent.0, extent.1, extent.2, 0.4, 0.1, &source, &mut out).cover(extent))?;
    // Contraction saves one of the roundings of the last sum.
    Ok(Output::Close(wide(&stencil::reference(extent, 0.4, 0.1, &input)), wide(&out.download()?), 2.0 * EPSILON))
}

fn run_histogram(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    let n = random.length(30_000);
    let values: Vec<u8> = (0..n).map(|_| (random.next() % 97) as u8).collect();
    let source = device.upload(&values)?;
    let mut bins = device.zeros::<u32>(histogram::BINS)?;
    bench.go(histogram::histogram(&source, &mut bins).grid(6))?;
    let widen = |bins: &[u32]| bins.iter().map(|bin| u64::from(*bin)).collect();
    Ok(Output::Exact(widen(&histogram::reference(&values)), widen(&bins.download()?)))
}

fn run_mandelbrot(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    let (width, height, limit) = (70, 50, 60);
    let corner = complex::Complex { re: -2.0 - random.float().abs() / 8.0, im: 1.2 };
    let mut counts = device.zeros::<u32>(width * height)?;
    bench.go(mandelbrot::mandelbrot(width, height, corner, 0.045, limit, &mut counts).cover((width, height)))?;
    let widen = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).collect();
    Ok(Output::Exact(widen(&mandelbrot::reference(width, height, corner, 0.045, limit)), widen(&counts.download()?)))
}

fn run_life(bench: &mut Bench<'_>) -> Result<Output> {
    let device = bench.device;
    let random = &mut bench.random;
    use life::particles::{Particle, live, reference};
    let n = random.length(700);
    let one = |_| Particle {
        motion: [random.float() * 50.0, random.float() * 20.0],
        age: (random.next() % 1000) as u16,
        bounce: (random.next() % 6) as u8,
        state: 1,
    };
    let before: Vec<Particle> = (0..n).map(one).collect();
    let mut particles = device.upload(&before)?;
    bench.go(live(40, &mut particles).cover(n))?;
    let flat = |all: &[Particle]| {
        let one = |p: &Particle| {
            [u64::from(p.motion[0].to_bits()), u64::from(p.motion[1].to_bits()), u64::from(p.age), u64::from(p.bounce), u64::from(p.state)]
        };
        all.iter().flat_map(one).collect()
    };
    let expected: Vec<Particle> = before.into_iter().map(|particle| reference(40, particle)).collect();
    Ok(Output::Exact(flat(&expected), flat(&particles.download()?)))
}

impl Output {
    /// What is wrong with it, if anything.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Output::Exact(expected, found) => {
                if expected.len() != found.len() {
                    return Some(format!("{} results, expected {}", found.len(), expected.len()));
                }
                let at = expected.iter().zip(found).position(|(e, f)| e != f)?;
                Some(format!("element {at}: bits {:#x}, expected {:#x}", found[at], expected[at]))
            }
            Output::Close(expected, found, bound) => {
                if expected.len() != found.len() {
                    return Some(format!("{} results, expected {}", found.len(), expected.len()));
                }
                let scale = expected.iter().fold(0.0f64, |most, e| most.max(e.abs()));
                let wrong = |(e, f): (&f64, &f64)| (e - f).abs() > bound * scale || f.is_nan();
                let at = expected.iter().zip(found).position(wrong)?;
                Some(format!("element {at}: {}, expected {} within {:e}", found[at], expected[at], bound * scale))
            }
        }
    }
}
