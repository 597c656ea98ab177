//! MRI-Q and MRI-FHD: for each sample and voxel a phase of 6 operations, a sine and a cosine, and 4 or 8 operations more; 20 bytes a voxel.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance, spread};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use std::marker::PhantomData;
use std::ops::Range;
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::mri::{self, FAST_FAR, FAST_NEAR, Input, PRECISE, Resident};
use warpwright_kernels::apps::{Declared, Go};
use warpwright_review::machine::Pipe;

/// How far a variant's sines are off.
type Off = f64;

/// One of the two sums.
pub(super) struct Mri<S> {
    input: Input,
    /// The voxels that something is known of.
    some: Input,
    /// Voxels that one core does.
    part: usize,
    sum: PhantomData<S>,
}

/// What they differ in.
pub(super) trait Sum: 'static {
    const NAME: &'static str;
    /// Of a sample and voxel, beside a phase's six and the functions.
    const OPERATIONS: f64;
    const REFERENCE: fn(&Input) -> Vec<[f64; 2]>;
    const ERROR_BOUND: fn(&Input, Off) -> Vec<f64>;
    const ONE_CORE: fn(&Input, Range<usize>) -> Vec<[f32; 2]>;
    const DECLARED: fn() -> Vec<Declared<Resident, Off>>;
    const DIRECT: fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()>;
    const TWIN: fn(&Twins, &Theirs, u32, u32) -> Outcome<f64>;
    /// A sample's weight, of its φ and its data.
    const WEIGHT: fn([f32; 2], [f32; 2]) -> [f32; 2];

    fn run<const P: usize, const FAST: bool, const TURNS: bool>(r: &mut Resident, go: &mut Go<'_>) -> warpwright::Result<()>;
    fn run_cached<const P: usize, const FAST: bool, const TURNS: bool>(r: &mut Resident, go: &mut Go<'_>) -> warpwright::Result<()>;
}

/// MRI-Q.
pub(super) struct Q;

impl Sum for Q {
    const NAME: &'static str = "mri_q";
    const OPERATIONS: f64 = 4.0;
    const REFERENCE: fn(&Input) -> Vec<[f64; 2]> = Input::reference_q;
    const ERROR_BOUND: fn(&Input, Off) -> Vec<f64> = Input::error_bound_q;
    const ONE_CORE: fn(&Input, Range<usize>) -> Vec<[f32; 2]> = Input::one_core_q;
    const DECLARED: fn() -> Vec<Declared<Resident, Off>> = mri::declared_q;
    const DIRECT: fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()> = Resident::run_q_direct;
    const TWIN: fn(&Twins, &Theirs, u32, u32) -> Outcome<f64> = twin_q;
    const WEIGHT: fn([f32; 2], [f32; 2]) -> [f32; 2] = |[a, b], _| [a * a + b * b, 0.0];

    fn run<const P: usize, const FAST: bool, const TURNS: bool>(r: &mut Resident, go: &mut Go<'_>) -> warpwright::Result<()> {
        r.run_q::<P, 4, FAST, TURNS>(go)
    }

    fn run_cached<const P: usize, const FAST: bool, const TURNS: bool>(r: &mut Resident, go: &mut Go<'_>) -> warpwright::Result<()> {
        r.run_q_cached::<P, 4, FAST, TURNS>(go)
    }
}

/// MRI-FHD.
pub(super) struct Fhd;

impl Sum for Fhd {
    const NAME: &'static str = "mri_fhd";
    const OPERATIONS: f64 = 8.0;
    const REFERENCE: fn(&Input) -> Vec<[f64; 2]> = Input::reference_fhd;
    const ERROR_BOUND: fn(&Input, Off) -> Vec<f64> = Input::error_bound_fhd;
    const ONE_CORE: fn(&Input, Range<usize>) -> Vec<[f32; 2]> = Input::one_core_fhd;
    const DECLARED: fn() -> Vec<Declared<Resident, Off>> = mri::declared_fhd;
    const DIRECT: fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()> = Resident::run_fhd_direct;
    const TWIN: fn(&Twins, &Theirs, u32, u32) -> Outcome<f64> = twin_fhd;
    const WEIGHT: fn([f32; 2], [f32; 2]) -> [f32; 2] = |[a, b], [c, d]| [a * c + b * d, a * d - b * c];

    fn run<const P: usize, const FAST: bool, const TURNS: bool>(r: &mut Resident, go: &mut Go<'_>) -> warpwright::Result<()> {
        r.run_fhd::<P, 4, FAST, TURNS>(go)
    }

    fn run_cached<const P: usize, const FAST: bool, const TURNS: bool>(r: &mut Resident, go: &mut Go<'_>) -> warpwright::Result<()> {
        r.run_fhd_cached::<P, 4, FAST, TURNS>(go)
    }
}

/// Each bound is that of both parts of a voxel.
fn of_parts(bounds: &[f64]) -> Tolerance {
    Tolerance::Each(bounds.iter().flat_map(|bound| [*bound; 2]).collect())
}

pub(super) struct Theirs {
    samples: Buffer<[f32; 4]>,
    imaginary: Buffer<f32>,
    voxels: [Buffer<f32>; 3],
    re: Buffer<f32>,
    im: Buffer<f32>,
}

fn twin_q(twins: &Twins, t: &Theirs, variant: u32, voxels: u32) -> Outcome<f64> {
    let ([x, y, z], count, n) = (&t.voxels, t.samples.len() as u32, t.re.len() as u32);
    twins.mri_q(variant, voxels, at(&t.samples), count, at(x), at(y), at(z), at(&t.re), at(&t.im), n)
}

fn twin_fhd(twins: &Twins, t: &Theirs, variant: u32, voxels: u32) -> Outcome<f64> {
    let ([x, y, z], count, n) = (&t.voxels, t.samples.len() as u32, t.re.len() as u32);
    twins.mri_fhd(variant, voxels, at(&t.samples), at(&t.imaginary), count, at(x), at(y), at(z), at(&t.re), at(&t.im), n)
}

impl<S: Sum> Application for Mri<S> {
    const NAME: &'static str = S::NAME;
    const DECLARED: Declaring<Self> = |_| S::DECLARED();
    type Form = Off;
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Mri<S>, Expected)> {
        let (samples, grid, many) = size.pick((16_000, [128, 128, 64], 200), (8_000, [64, 64, 64], 100), (9, [7, 3, 2], 10));
        let input = Input::new(4, samples, grid);
        let places = spread(input.voxels.len(), many);
        let some = Input { voxels: places.iter().map(|v| input.voxels[*v]).collect(), ..input.clone() };
        let known = Known::Floats(S::REFERENCE(&some).into_flattened());
        let parts = places.iter().flat_map(|v| [2 * v, 2 * v + 1]).collect();
        let bound = of_parts(&S::ERROR_BOUND(&some, PRECISE));
        let expected = Expected { known, places: Some(parts), source: "the reference", bound };
        Ok((Mri { input, some, part: size.pick(1_500, 1_500, 3), sum: PhantomData }, expected))
    }

    fn input(&self) -> String {
        format!("{} samples, {} voxels", self.input.k.len(), self.input.voxels.len())
    }

    fn variants() -> Vec<TimedVariant<Mri<S>>> {
        vec![
            Self::variant("samples in global memory", PRECISE, |_, r, go| S::DIRECT(r, go), |_, w, t| S::TWIN(w, t, 0, 1)),
            Self::variant("4 voxels, precise", PRECISE, |_, r, go| S::run::<4, false, false>(r, go), |_, w, t| S::TWIN(w, t, 1, 4)),
            Self::variant("4 voxels, fast", FAST_FAR, |_, r, go| S::run::<4, true, false>(r, go), |_, w, t| S::TWIN(w, t, 2, 4)),
            Self::variant("1 voxel, fast, turns", FAST_NEAR, |_, r, go| S::run::<1, true, true>(r, go), |_, w, t| S::TWIN(w, t, 3, 1)),
            Self::variant("2 voxels, fast, turns", FAST_NEAR, |_, r, go| S::run::<2, true, true>(r, go), |_, w, t| S::TWIN(w, t, 3, 2)),
            Self::variant("4 voxels, fast, turns", FAST_NEAR, |_, r, go| S::run::<4, true, true>(r, go), |_, w, t| S::TWIN(w, t, 3, 4)),
            Self::variant(
                "4 voxels, cached, precise",
                PRECISE,
                |_, r, go| S::run_cached::<4, false, false>(r, go),
                |_, w, t| S::TWIN(w, t, 11, 4),
            ),
            Self::variant(
                "4 voxels, cached, fast",
                FAST_FAR,
                |_, r, go| S::run_cached::<4, true, false>(r, go),
                |_, w, t| S::TWIN(w, t, 12, 4),
            ),
            Self::variant(
                "1 voxel, cached, fast",
                FAST_FAR,
                |_, r, go| S::run_cached::<1, true, false>(r, go),
                |_, w, t| S::TWIN(w, t, 12, 1),
            ),
            Self::variant(
                "1 voxel, cached, turns",
                FAST_NEAR,
                |_, r, go| S::run_cached::<1, true, true>(r, go),
                |_, w, t| S::TWIN(w, t, 13, 1),
            ),
            Self::variant(
                "2 voxels, cached, turns",
                FAST_NEAR,
                |_, r, go| S::run_cached::<2, true, true>(r, go),
                |_, w, t| S::TWIN(w, t, 13, 2),
            ),
            Self::variant(
                "4 voxels, cached, turns",
                FAST_NEAR,
                |_, r, go| S::run_cached::<4, true, true>(r, go),
                |_, w, t| S::TWIN(w, t, 13, 4),
            ),
        ]
    }

    fn work(&self, _: Off) -> Work {
        let voxels = self.input.voxels.len() as f64;
        let waves = voxels * self.input.k.len() as f64;
        Work::bytes(20.0 * voxels).and(Pipe::Single, (6.0 + S::OPERATIONS) * waves).and(Pipe::Special, 2.0 * waves)
    }

    fn bound(&self, off: Off) -> Option<Tolerance> {
        Some(of_parts(&S::ERROR_BOUND(&self.some, off)))
    }

    fn one_core(&self) -> Task<'_> {
        let share = self.part as f64 / self.input.voxels.len() as f64;
        Task::new(share, || S::ONE_CORE(&self.input, 0..self.part))
    }

    fn ours(&self, device: &Device, _: Off) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Floats(ours.result()?.into_flattened()))
    }

    fn theirs(&self, device: &Device, _: Off) -> Outcome<Theirs> {
        let Input { k, phi, data, voxels } = &self.input;
        let weights: Vec<[f32; 2]> = phi.iter().zip(data).map(|(phi, data)| S::WEIGHT(*phi, *data)).collect();
        let samples: Vec<[f32; 4]> = k.iter().zip(&weights).map(|([x, y, z], [re, _])| [*x, *y, *z, *re]).collect();
        let axis = |axis: usize| device.upload(&voxels.iter().map(|voxel| voxel[axis]).collect::<Vec<f32>>());
        Ok(Theirs {
            samples: device.upload(&samples)?,
            imaginary: device.upload(&weights.iter().map(|[_, im]| *im).collect::<Vec<f32>>())?,
            voxels: [axis(0)?, axis(1)?, axis(2)?],
            re: device.zeros(voxels.len())?,
            im: device.zeros(voxels.len())?,
        })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        let parts = theirs.re.download()?.into_iter().zip(theirs.im.download()?).flat_map(|(re, im)| [re, im]);
        Ok(Results::Floats(parts.collect()))
    }
}
