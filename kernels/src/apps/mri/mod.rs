//! MRI-Q and MRI-FHD, the two sums from which magnetic resonance images are reconstructed out of samples of any trajectory through k-space:
//! Q(x) = Σ |φ(k)|² · e^(2πi k·x) and FHd(x) = Σ conj(φ(k)) · d(k) · e^(2πi k·x) at each voxel x over all samples k.
//!
//! A sample and voxel take 5 operations for the phase, a sine and a cosine, and 4 operations for Q or 8 for FHd; memory is 12 bytes in and 8 out a voxel. Every thread
//! reads the same sample at the same time, so samples come from constant memory, in chunks. The document gives 457 and 316 times one
//! core, 11 and 12 registers, instruction issue as the bottleneck, and the hardware's trigonometry as about 30 % of the gain.
//!
//! [`q_direct`] and [`fhd_direct`] are what one writes first: samples in global memory, precise functions. [`q`] and [`fhd`] take samples from constant memory; `P` voxels a
//! thread share each, `U` samples a turn share the loop's counting, `FAST` takes the hardware's sine and cosine.
//!
//! [`q_cached`] and [`fhd_cached`] do the same from global memory, all samples in one launch. Warps that are at different samples want more of them at a time than the 2 KB
//! that the constant cache's first level holds; the L1 cache of global memory holds most of them all, and gives 16 bytes at a time.
//!
//! `TURNS` takes whole turns from the phase before it is multiplied by 2π. The hardware's functions are good to 2^-20.5 within ± 2π, to
//! 2^-14.7 within ± 100π (PTX ISA, `sin`), and phases here are dozens of turns. A phase in turns less the nearest whole number is exact, so nothing is lost; and
//! three additions cost nothing beside a sine and a cosine, which a multiprocessor has eight times fewer units for.

mod input;
#[cfg(test)]
mod tests;

use super::{Declared, Go, Result};
pub use input::{FAST_FAR, FAST_NEAR, Input, MOST_TURNS, PRECISE, error_of_sine};
use warpwright::prelude::*;
use warpwright::{Buffer, ConstantBuffer, Device, Variant};

/// Samples of a launch of [`q`], which fill constant memory with 16 bytes each.
pub const Q_CHUNK: usize = 4_000;

/// Samples of a launch of [`fhd`], of 20 bytes.
pub const FHD_CHUNK: usize = 3_200;

/// Samples in this many are a multiple of all `U`; those that are not there weigh nothing.
const GROUP: usize = 4;

/// What is left of a number of at most 2²² after adding and subtracting this is the nearest whole number: one between 2²³ and 2²⁴ has no fraction.
const WHOLE: f32 = 12_582_912.0;

/// Where voxels lie, in fields of view.
#[device]
pub struct Voxels<'a> {
    /// To the right.
    pub x: &'a Global<f32>,
    /// Down.
    pub y: &'a Global<f32>,
    /// Along the scanner.
    pub z: &'a Global<f32>,
}

/// A complex number for each voxel.
#[device]
pub struct Image<'a> {
    /// Real parts.
    pub re: &'a mut Global<f32>,
    /// Imaginary parts.
    pub im: &'a mut Global<f32>,
}

/// Sine and cosine of so many turns.
#[device]
fn wave<const TURNS: bool>(turns: f32) -> (f32, f32) {
    if TURNS {
        // Not `round()`: converting to whole numbers is done where sines are, and those are what the kernel waits for.
        ((turns - ((turns + WHOLE) - WHOLE)) * std::f32::consts::TAU).sin_cos()
    } else {
        (turns * std::f32::consts::TAU).sin_cos()
    }
}

/// `image` ← Q from `samples`, each the three components of k and |φ|².
#[kernel(block = 256)]
pub fn q_direct(samples: &Global<[f32; 4]>, voxels: Voxels<'_>, image: Image<'_>) {
    let v = global_id().x;
    if v < image.re.len() {
        let (x, y, z) = (voxels.x[v], voxels.y[v], voxels.z[v]);
        let (mut re, mut im) = (0.0, 0.0);
        for s in 0..samples.len() {
            let [kx, ky, kz, weight] = samples[s];
            let (sin, cos) = wave::<false>(kx * x + ky * y + kz * z);
            re += weight * cos;
            im += weight * sin;
        }
        image.re[v] = re;
        image.im[v] = im;
    }
}

/// `image` ← FHd from `samples`, each the three components of k and the real part of conj(φ)·d, whose imaginary parts are `imaginary`.
#[kernel(block = 256)]
pub fn fhd_direct(samples: &Global<[f32; 4]>, imaginary: &Global<f32>, voxels: Voxels<'_>, image: Image<'_>) {
    let v = global_id().x;
    if v < image.re.len() {
        let (x, y, z) = (voxels.x[v], voxels.y[v], voxels.z[v]);
        let (mut re, mut im) = (0.0, 0.0);
        for s in 0..samples.len() {
            let [kx, ky, kz, a] = samples[s];
            let b = imaginary[s];
            let (sin, cos) = wave::<false>(kx * x + ky * y + kz * z);
            re += a * cos - b * sin;
            im += a * sin + b * cos;
        }
        image.re[v] = re;
        image.im[v] = im;
    }
}

/// Q of the first `count` samples of a chunk, `count` a multiple of `U`; what is there already is added to where `add` says so.
#[kernel(
    block = 256,
    ilp = P,
    math = if FAST { fast } else { precise },
    variants(P in [1, 2, 4], U in [4], FAST in [false, true], TURNS in [false, true])
)]
pub fn q<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(
    samples: &Constant<[[f32; 4]; Q_CHUNK]>,
    count: usize,
    add: bool,
    voxels: Voxels<'_>,
    image: Image<'_>,
) {
    let v = global_id().x;
    if v < image.re.len() {
        let (x, y, z) = (voxels.x[v], voxels.y[v], voxels.z[v]);
        let mut re = if add { image.re[v] } else { 0.0 };
        let mut im = if add { image.im[v] } else { 0.0 };
        for first in (0..count).step_by(U) {
            #[unroll]
            for s in 0..U {
                let [kx, ky, kz, weight] = samples[first + s];
                let (sin, cos) = wave::<TURNS>(kx * x + ky * y + kz * z);
                re += weight * cos;
                im += weight * sin;
            }
        }
        image.re[v] = re;
        image.im[v] = im;
    }
}

/// FHd of the first `count` samples of a chunk, `count` a multiple of `U`; what is there already is added to where `add` says so.
#[kernel(
    block = 256,
    ilp = P,
    math = if FAST { fast } else { precise },
    variants(P in [1, 2, 4], U in [4], FAST in [false, true], TURNS in [false, true])
)]
pub fn fhd<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(
    samples: &Constant<[[f32; 4]; FHD_CHUNK]>,
    imaginary: &Constant<[f32; FHD_CHUNK]>,
    count: usize,
    add: bool,
    voxels: Voxels<'_>,
    image: Image<'_>,
) {
    let v = global_id().x;
    if v < image.re.len() {
        let (x, y, z) = (voxels.x[v], voxels.y[v], voxels.z[v]);
        let mut re = if add { image.re[v] } else { 0.0 };
        let mut im = if add { image.im[v] } else { 0.0 };
        for first in (0..count).step_by(U) {
            #[unroll]
            for s in 0..U {
                let [kx, ky, kz, a] = samples[first + s];
                let b = imaginary[first + s];
                let (sin, cos) = wave::<TURNS>(kx * x + ky * y + kz * z);
                re += a * cos - b * sin;
                im += a * sin + b * cos;
            }
        }
        image.re[v] = re;
        image.im[v] = im;
    }
}

/// Q of all samples, from global memory through the L1 cache: of each the three components of k and |φ|², 4 · `U` numbers at a time.
#[kernel(
    block = 256,
    ilp = P,
    math = if FAST { fast } else { precise },
    variants(P in [1, 2, 4], U in [4], FAST in [false, true], TURNS in [false, true])
)]
pub fn q_cached<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(
    samples: &Global<f32>,
    voxels: Voxels<'_>,
    image: Image<'_>,
) {
    let v = global_id().x;
    if v < image.re.len() {
        let (x, y, z) = (voxels.x[v], voxels.y[v], voxels.z[v]);
        let (mut re, mut im) = (0.0, 0.0);
        for first in (0..samples.len()).step_by(4 * U) {
            #[unroll]
            for s in 0..U {
                let [kx, ky, kz, weight] = samples.load::<4>(first + 4 * s);
                let (sin, cos) = wave::<TURNS>(kx * x + ky * y + kz * z);
                re += weight * cos;
                im += weight * sin;
            }
        }
        image.re[v] = re;
        image.im[v] = im;
    }
}

/// FHd of all samples, from global memory through the L1 cache: of each the three components of k and the real part of conj(φ)·d, whose imaginary parts are
/// `imaginary`, `U` at a time.
#[kernel(
    block = 256,
    ilp = P,
    math = if FAST { fast } else { precise },
    variants(P in [1, 2, 4], U in [4], FAST in [false, true], TURNS in [false, true])
)]
pub fn fhd_cached<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(
    samples: &Global<f32>,
    imaginary: &Global<f32>,
    voxels: Voxels<'_>,
    image: Image<'_>,
) {
    let v = global_id().x;
    if v < image.re.len() {
        let (x, y, z) = (voxels.x[v], voxels.y[v], voxels.z[v]);
        let (mut re, mut im) = (0.0, 0.0);
        for first in (0..imaginary.len()).step_by(U) {
            let bs = imaginary.load::<U>(first);
            #[unroll]
            for s in 0..U {
                let [kx, ky, kz, a] = samples.load::<4>(4 * (first + s));
                let (sin, cos) = wave::<TURNS>(kx * x + ky * y + kz * z);
                re += a * cos - bs[s] * sin;
                im += a * sin + bs[s] * cos;
            }
        }
        image.re[v] = re;
        image.im[v] = im;
    }
}

/// [`q`] of any generics.
type OfQChunk = for<'a> fn(&'a ConstantBuffer<[[f32; 4]; Q_CHUNK]>, usize, bool, VoxelsBuffers<'a>, ImageBuffers<'a>) -> Launch<'a>;

/// [`fhd`] of any generics.
type OfFhdChunk = for<'a> fn(
    &'a ConstantBuffer<[[f32; 4]; FHD_CHUNK]>,
    &'a ConstantBuffer<[f32; FHD_CHUNK]>,
    usize,
    bool,
    VoxelsBuffers<'a>,
    ImageBuffers<'a>,
) -> Launch<'a>;

/// [`q_cached`] of any generics.
type OfQ = for<'a> fn(&'a Buffer<f32>, VoxelsBuffers<'a>, ImageBuffers<'a>) -> Launch<'a>;

/// [`fhd_cached`] of any generics.
type OfFhd = for<'a> fn(&'a Buffer<f32>, &'a Buffer<f32>, VoxelsBuffers<'a>, ImageBuffers<'a>) -> Launch<'a>;

/// A chunk of the samples of Q in constant memory.
struct QChunk {
    samples: ConstantBuffer<[[f32; 4]; Q_CHUNK]>,
    /// How many of them count.
    count: usize,
}

/// A chunk of the samples of FHd in constant memory.
struct FhdChunk {
    samples: ConstantBuffer<[[f32; 4]; FHD_CHUNK]>,
    imaginary: ConstantBuffer<[f32; FHD_CHUNK]>,
    /// How many of them count.
    count: usize,
}

/// An input on a device.
pub struct Resident {
    q: Buffer<[f32; 4]>,
    fhd: (Buffer<[f32; 4]>, Buffer<f32>),
    /// The samples of Q number by number, as many as are a multiple of [`GROUP`].
    q_numbers: Buffer<f32>,
    /// Those of FHd, and their imaginary parts.
    fhd_numbers: (Buffer<f32>, Buffer<f32>),
    q_chunks: Vec<QChunk>,
    fhd_chunks: Vec<FhdChunk>,
    scan: Scan,
}

/// Where an image is wanted, and the image.
struct Scan {
    /// x, y and z of the voxels.
    voxels: [Buffer<f32>; 3],
    re: Buffer<f32>,
    im: Buffer<f32>,
}

impl Scan {
    /// One launch over all voxels; none where there are none.
    fn cover<'s>(
        &'s mut self,
        kernel: impl FnOnce(VoxelsBuffers<'s>, ImageBuffers<'s>) -> Launch<'s>,
        go: &mut Go<'_>,
    ) -> warpwright::Result<()> {
        let [x, y, z] = &self.voxels;
        if x.is_empty() {
            return Ok(());
        }
        go(kernel(VoxelsBuffers { x, y, z }, ImageBuffers { re: &mut self.re, im: &mut self.im }).cover(x.len()))
    }
}

impl Resident {
    /// Uploads an input. An `Err` where a sample has no φ or no data, where anything is not finite, and where a phase may have more than [`MOST_TURNS`].
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        input.check()?;
        let (q, (fhd, imaginary)) = (input.q_samples(), input.fhd_samples());
        let part = |at: usize, size: usize| at..q.len().min(at + size);
        let (mut q_chunks, mut fhd_chunks) = (Vec::new(), Vec::new());
        // Without any sample there is one chunk of none, which writes zeros.
        for at in (0..q.len().max(1)).step_by(Q_CHUNK) {
            let mut samples = q[part(at, Q_CHUNK)].to_vec();
            let count = samples.len().next_multiple_of(GROUP);
            samples.resize(Q_CHUNK, [0.0; 4]);
            q_chunks.push(QChunk { samples: device.constant_from_slice(&samples)?, count });
        }
        for at in (0..q.len().max(1)).step_by(FHD_CHUNK) {
            let (mut samples, mut imaginary) = (fhd[part(at, FHD_CHUNK)].to_vec(), imaginary[part(at, FHD_CHUNK)].to_vec());
            let count = samples.len().next_multiple_of(GROUP);
            samples.resize(FHD_CHUNK, [0.0; 4]);
            imaginary.resize(FHD_CHUNK, 0.0);
            let (samples, imaginary) = (device.constant_from_slice(&samples)?, device.constant_from_slice(&imaginary)?);
            fhd_chunks.push(FhdChunk { samples, imaginary, count });
        }
        let padded = |samples: &[[f32; 4]]| {
            let mut samples = samples.to_vec();
            samples.resize(samples.len().next_multiple_of(GROUP), [0.0; 4]);
            device.upload(samples.as_flattened())
        };
        let mut padded_imaginary = imaginary.clone();
        padded_imaginary.resize(imaginary.len().next_multiple_of(GROUP), 0.0);
        let axis = |axis: usize| -> Vec<f32> { input.voxels.iter().map(|voxel| voxel[axis]).collect() };
        Ok(Resident {
            q: device.upload(&q)?,
            fhd: (device.upload(&fhd)?, device.upload(&imaginary)?),
            q_numbers: padded(&q)?,
            fhd_numbers: (padded(&fhd)?, device.upload(&padded_imaginary)?),
            q_chunks,
            fhd_chunks,
            scan: Scan {
                voxels: [device.upload(&axis(0))?, device.upload(&axis(1))?, device.upload(&axis(2))?],
                re: device.zeros(input.voxels.len())?,
                im: device.zeros(input.voxels.len())?,
            },
        })
    }

    /// The plain kernel for Q: one launch, none where there are no voxels.
    pub fn run_q_direct(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.scan.cover(|voxels, image| q_direct(&self.q, voxels, image), go)
    }

    /// The plain kernel for FHd: one launch, none where there are no voxels.
    pub fn run_fhd_direct(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.scan.cover(|voxels, image| fhd_direct(&self.fhd.0, &self.fhd.1, voxels, image), go)
    }

    /// Q: a launch for each chunk of samples. The first writes, the others add, so that it may run again.
    pub fn run_q<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(
        &mut self,
        go: &mut Go<'_>,
    ) -> warpwright::Result<()> {
        const { assert!(GROUP.is_multiple_of(U)) };
        self.q_by_chunks(q::<P, U, FAST, TURNS>, go)
    }

    fn q_by_chunks(&mut self, kernel: OfQChunk, go: &mut Go<'_>) -> warpwright::Result<()> {
        for (number, QChunk { samples, count }) in self.q_chunks.iter().enumerate() {
            self.scan.cover(|voxels, image| kernel(samples, *count, number > 0, voxels, image), go)?;
        }
        Ok(())
    }

    /// FHd: a launch for each chunk of samples. The first writes, the others add, so that it may run again.
    pub fn run_fhd<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(
        &mut self,
        go: &mut Go<'_>,
    ) -> warpwright::Result<()> {
        const { assert!(GROUP.is_multiple_of(U)) };
        self.fhd_by_chunks(fhd::<P, U, FAST, TURNS>, go)
    }

    fn fhd_by_chunks(&mut self, kernel: OfFhdChunk, go: &mut Go<'_>) -> warpwright::Result<()> {
        for (number, FhdChunk { samples, imaginary, count }) in self.fhd_chunks.iter().enumerate() {
            self.scan.cover(|voxels, image| kernel(samples, imaginary, *count, number > 0, voxels, image), go)?;
        }
        Ok(())
    }

    /// Q by [`q_cached`]: one launch, none where there are no voxels.
    pub fn run_q_cached<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(
        &mut self,
        go: &mut Go<'_>,
    ) -> warpwright::Result<()> {
        const { assert!(GROUP.is_multiple_of(U)) };
        self.q_at_once(q_cached::<P, U, FAST, TURNS>, go)
    }

    fn q_at_once(&mut self, kernel: OfQ, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.scan.cover(|voxels, image| kernel(&self.q_numbers, voxels, image), go)
    }

    /// FHd by [`fhd_cached`]: one launch, none where there are no voxels.
    pub fn run_fhd_cached<const P: usize, const U: usize, const FAST: bool, const TURNS: bool>(
        &mut self,
        go: &mut Go<'_>,
    ) -> warpwright::Result<()> {
        const { assert!(GROUP.is_multiple_of(U)) };
        self.fhd_at_once(fhd_cached::<P, U, FAST, TURNS>, go)
    }

    fn fhd_at_once(&mut self, kernel: OfFhd, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.scan.cover(|voxels, image| kernel(&self.fhd_numbers.0, &self.fhd_numbers.1, voxels, image), go)
    }

    /// What the last run found for each voxel: real and imaginary part.
    pub fn result(&self) -> Result<Vec<[f32; 2]>> {
        Ok(self.scan.re.download()?.into_iter().zip(self.scan.im.download()?).map(|(re, im)| [re, im]).collect())
    }

    /// What the kernels for Q read of samples, for others that do the same work.
    pub fn q_samples(&self) -> &Buffer<[f32; 4]> {
        &self.q
    }

    /// The same for FHd, and the imaginary parts.
    pub fn fhd_samples(&self) -> (&Buffer<[f32; 4]>, &Buffer<f32>) {
        (&self.fhd.0, &self.fhd.1)
    }

    /// x, y and z of the voxels.
    pub fn voxels(&self) -> &[Buffer<f32>; 3] {
        &self.scan.voxels
    }
}

/// How far the sines of a variant may be off.
fn off<K>(variant: &Variant<K>) -> f64 {
    let [fast, turns] = ["FAST", "TURNS"].map(|name| variant.bool(name).unwrap_or_else(|| panic!("`{name}` is no axis of {variant:?}")));
    error_of_sine(fast, turns)
}

/// The declared variants of [`q`] and of [`q_cached`], with how far their sines may be off.
pub fn declared_q() -> Vec<Declared<Resident, f64>> {
    let by_chunks = Declared::each(q_variants(), off, |r: &mut Resident, variant, go| r.q_by_chunks(variant.kernel(), go));
    by_chunks.chain(Declared::each(q_cached_variants(), off, |r: &mut Resident, variant, go| r.q_at_once(variant.kernel(), go))).collect()
}

/// The declared variants of [`fhd`] and of [`fhd_cached`], with how far their sines may be off.
pub fn declared_fhd() -> Vec<Declared<Resident, f64>> {
    let by_chunks = Declared::each(fhd_variants(), off, |r: &mut Resident, variant, go| r.fhd_by_chunks(variant.kernel(), go));
    by_chunks
        .chain(Declared::each(fhd_cached_variants(), off, |r: &mut Resident, variant, go| r.fhd_at_once(variant.kernel(), go)))
        .collect()
}
