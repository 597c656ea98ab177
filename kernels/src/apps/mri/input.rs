//! What MRI-Q and MRI-FHD are computed from, what comes out of it, and how close.

use super::super::{Error, Result};
use std::ops::Range;

/// Turns that a phase may have: the 100π for which the hardware's functions have a bound.
pub const MOST_TURNS: f64 = 50.0;

/// How far the sine and cosine of the plain kernels and of `FAST = false` may be off: 4 units in the last place, as OpenCL allows, are the most of all devices.
pub const PRECISE: f64 = 4.77e-7;

/// The same of `FAST` with `TURNS`: 2^-20.5, within a half turn.
pub const FAST_NEAR: f64 = 6.75e-7;

/// The same of `FAST` alone: 2^-14.7, within [`MOST_TURNS`].
pub const FAST_FAR: f64 = 3.76e-5;

/// How far sine and cosine of a variant with these may be off.
pub const fn error_of_sine(fast: bool, turns: bool) -> f64 {
    match (fast, turns) {
        (false, _) => PRECISE,
        (true, true) => FAST_NEAR,
        (true, false) => FAST_FAR,
    }
}

/// What a scanner measured, and where an image is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Where each sample lies in k-space, in cycles a field of view.
    pub k: Vec<[f32; 3]>,
    /// φ of each sample, the transform of what a voxel looks like: real and imaginary part.
    pub phi: Vec<[f32; 2]>,
    /// What was measured there: real and imaginary part.
    pub data: Vec<[f32; 2]>,
    /// Where each voxel lies, in fields of view from the middle.
    pub voxels: Vec<[f32; 3]>,
}

impl Input {
    /// How far spirals reach, in cycles a field of view: for 64 voxels across.
    const REACH: f32 = 32.0;

    /// So many samples on a stack of 16 spirals one cycle apart, and a grid of so many voxels in x, y and z that fills the field of view. Measured are four bright points, each at a voxel.
    pub fn new(seed: u64, samples: usize, grid: [usize; 3]) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let place = |i: usize, n: usize| (i as f32 + 0.5) / n as f32 - 0.5;
        let [width, height, depth] = grid;
        let voxel = |i: usize| [place(i % width, width), place(i / width % height, height), place(i / width / height, depth)];
        let voxels: Vec<[f32; 3]> = (0..width * height * depth).map(voxel).collect();
        let sample = |i: usize| {
            let on_spiral = samples.div_ceil(16);
            let (spiral, along) = (i / on_spiral, (i % on_spiral) as f32 / on_spiral as f32);
            let (sin, cos) = (16.0 * std::f32::consts::TAU * along).sin_cos();
            [Self::REACH * along * cos, Self::REACH * along * sin, spiral as f32 - 8.0]
        };
        let k: Vec<[f32; 3]> = (0..samples).map(sample).collect();
        // Bright towards the middle of k-space, as anything smooth is, with a slowly turning phase of the coil.
        let transform = |k: &[f32; 3]| {
            let far = k.iter().map(|c| c * c).sum::<f32>() / (Self::REACH * Self::REACH);
            let (sin, cos) = (0.05 * (k[0] + k[1])).sin_cos();
            [(-far).exp() * cos, (-far).exp() * sin]
        };
        let phi: Vec<[f32; 2]> = k.iter().map(transform).collect();
        let points: Vec<([f32; 3], f32)> = match voxels.len() {
            0 => Vec::new(),
            n => (0..4).map(|_| (voxels[random.usize(..n)], 0.5 + random.f32())).collect(),
        };
        let measured = |(k, [re, im]): (&[f32; 3], &[f32; 2])| {
            let mut signal = [0.0; 2];
            for (at, bright) in &points {
                let (sin, cos) = (-std::f32::consts::TAU * (k[0] * at[0] + k[1] * at[1] + k[2] * at[2])).sin_cos();
                signal[0] += bright * (re * cos - im * sin);
                signal[1] += bright * (re * sin + im * cos);
            }
            // Noise of the scanner.
            signal.map(|part| part + 0.01 * (random.f32() - 0.5))
        };
        let data = k.iter().zip(&phi).map(measured).collect();
        Input { k, phi, data, voxels }
    }

    /// Q of each voxel in double precision: real and imaginary part.
    pub fn reference_q(&self) -> Vec<[f64; 2]> {
        self.sums(|phi, _| [phi[0] * phi[0] + phi[1] * phi[1], 0.0])
    }

    /// FHd of each voxel in double precision: real and imaginary part.
    pub fn reference_fhd(&self) -> Vec<[f64; 2]> {
        self.sums(|phi, data| [phi[0] * data[0] + phi[1] * data[1], phi[0] * data[1] - phi[1] * data[0]])
    }

    /// Σ of a complex weight of each sample times its wave, for each voxel.
    fn sums(&self, weight: impl Fn([f64; 2], [f64; 2]) -> [f64; 2]) -> Vec<[f64; 2]> {
        let samples = self.k.iter().zip(&self.phi).zip(&self.data);
        let samples: Vec<_> = samples.map(|((k, phi), data)| (k.map(f64::from), weight(phi.map(f64::from), data.map(f64::from)))).collect();
        let at = |voxel: &[f32; 3]| {
            let mut sum = [0.0; 2];
            for (k, weight) in &samples {
                let turns: f64 = k.iter().zip(voxel).map(|(k, x)| k * f64::from(*x)).sum();
                let (sin, cos) = (std::f64::consts::TAU * turns).sin_cos();
                sum[0] += weight[0] * cos - weight[1] * sin;
                sum[1] += weight[0] * sin + weight[1] * cos;
            }
            sum
        };
        self.voxels.iter().map(at).collect()
    }

    /// How far each part of Q at each voxel may be from the reference where sines and cosines are off by `function`.
    pub fn error_bound_q(&self, function: f64) -> Vec<f64> {
        self.error_bound(&self.q_samples(), function)
    }

    /// The same of FHd.
    pub fn error_bound_fhd(&self, function: f64) -> Vec<f64> {
        let (samples, imaginary) = self.fhd_samples();
        let both: Vec<_> = samples.iter().zip(imaginary).map(|(&[x, y, z, re], im)| [x, y, z, re.abs() + im.abs()]).collect();
        self.error_bound(&both, function)
    }

    /// With u = 2⁻²⁴, the sum of three products is off by 3 u of the products' magnitudes in turns. Multiplied by 2π in single
    /// precision it is off by 2 u more. The sine is off by that, and by `function`. A weight is off by 2 u, its product by another, and a sum of
    /// two products for each of n samples, by 2 n u of all that is summed. A tenth more is for what is of second order.
    fn error_bound(&self, samples: &[[f32; 4]], function: f64) -> Vec<f64> {
        let unit = f64::from(f32::EPSILON) / 2.0;
        let sums = 2.0 * samples.len() as f64 + 3.0;
        let at = |voxel: &[f32; 3]| {
            let of_sample = |[x, y, z, weight]: &[f32; 4]| {
                let turns: f64 = [x, y, z].iter().zip(voxel).map(|(k, at)| (f64::from(**k) * f64::from(*at)).abs()).sum();
                f64::from(*weight).abs() * (5.0 * std::f64::consts::TAU * turns * unit + function + sums * unit)
            };
            1.1 * samples.iter().map(of_sample).sum::<f64>()
        };
        self.voxels.iter().map(at).collect()
    }

    /// What one core does for Q of some of the voxels.
    pub fn one_core_q(&self, voxels: Range<usize>) -> Vec<[f32; 2]> {
        let samples = self.q_samples();
        let at = |&[x, y, z]: &[f32; 3]| {
            let (mut re, mut im) = (0.0, 0.0);
            for [kx, ky, kz, weight] in &samples {
                let (sin, cos) = (std::f32::consts::TAU * (kx * x + ky * y + kz * z)).sin_cos();
                re += weight * cos;
                im += weight * sin;
            }
            [re, im]
        };
        self.voxels[voxels].iter().map(at).collect()
    }

    /// What one core does for FHd of some of the voxels.
    pub fn one_core_fhd(&self, voxels: Range<usize>) -> Vec<[f32; 2]> {
        let (samples, imaginary) = self.fhd_samples();
        let at = |&[x, y, z]: &[f32; 3]| {
            let (mut re, mut im) = (0.0, 0.0);
            for ([kx, ky, kz, a], b) in samples.iter().zip(&imaginary) {
                let (sin, cos) = (std::f32::consts::TAU * (kx * x + ky * y + kz * z)).sin_cos();
                re += a * cos - b * sin;
                im += a * sin + b * cos;
            }
            [re, im]
        };
        self.voxels[voxels].iter().map(at).collect()
    }

    /// k and |φ|² of each sample.
    pub(super) fn q_samples(&self) -> Vec<[f32; 4]> {
        let one = |(k, phi): (&[f32; 3], &[f32; 2])| [k[0], k[1], k[2], phi[0] * phi[0] + phi[1] * phi[1]];
        self.k.iter().zip(&self.phi).map(one).collect()
    }

    /// k and the real part of conj(φ)·d of each sample, and the imaginary parts.
    pub(super) fn fhd_samples(&self) -> (Vec<[f32; 4]>, Vec<f32>) {
        let samples = || self.k.iter().zip(&self.phi).zip(&self.data);
        let real = samples().map(|((k, phi), data)| [k[0], k[1], k[2], phi[0] * data[0] + phi[1] * data[1]]).collect();
        (real, samples().map(|((_, phi), data)| phi[0] * data[1] - phi[1] * data[0]).collect())
    }

    pub(super) fn check(&self) -> Result<()> {
        let (k, phi, data) = (self.k.len(), self.phi.len(), self.data.len());
        if phi != k || data != k {
            return Err(Error::Input(format!("there are {k} samples, {phi} of their φ and {data} data: make them as many as each other")));
        }
        let finite = |numbers: &[f32]| numbers.iter().all(|v| v.is_finite());
        if let Some(i) = (0..k).find(|&i| !(finite(&self.k[i]) && finite(&self.phi[i]) && finite(&self.data[i]))) {
            return Err(Error::Input(format!(
                "sample {i} is not finite: k is {:?}, φ {:?}, its data {:?}",
                self.k[i], self.phi[i], self.data[i]
            )));
        }
        if let Some(i) = self.voxels.iter().position(|voxel| !finite(voxel)) {
            return Err(Error::Input(format!("voxel {i} is at {:?}: give it a finite place", self.voxels[i])));
        }
        let farthest = |places: &[[f32; 3]], axis: usize| places.iter().fold(0.0f64, |most, at| most.max(f64::from(at[axis]).abs()));
        let turns: f64 = (0..3).map(|axis| farthest(&self.k, axis) * farthest(&self.voxels, axis)).sum();
        if turns > MOST_TURNS {
            return Err(Error::Input(format!(
                "phases may have {turns} turns, and sines are good for {MOST_TURNS}: give voxels in fields of view, k in cycles a field"
            )));
        }
        Ok(())
    }
}
