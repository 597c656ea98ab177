//! MRI-Q and MRI-FHD: for each sample and voxel a phase of 6 operations, a sine and a cosine, and 4 or 8 operations more; 20 bytes a voxel.

use super::application::{Application, Variant};
use super::check::{Bound, Expected, Known, Results, spread};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::Declared;
use warpwright_kernels::apps::mri::{self, FAST_FAR, FAST_NEAR, Input, PRECISE, Resident};
use warpwright_review::machine::Pipe;

/// How far a variant's sines are off.
type Off = f64;

/// What both programs share.
struct Scan {
    input: Input,
    /// The voxels that something is known of.
    some: Input,
    expected: Expected,
    /// Voxels that one core does.
    part: usize,
}

impl Scan {
    fn new(size: Size, reference: fn(&Input) -> Vec<[f64; 2]>) -> Scan {
        let (samples, grid, many) = size.pick((16_000, [128, 128, 64], 200), (8_000, [64, 64, 64], 100), (9, [7, 3, 2], 10));
        let input = Input::new(4, samples, grid);
        let places = spread(input.voxels.len(), many);
        let some = Input { voxels: places.iter().map(|v| input.voxels[*v]).collect(), ..input.clone() };
        let known = reference(&some).into_flattened();
        let parts = places.iter().flat_map(|v| [2 * v, 2 * v + 1]).collect();
        let expected = Expected { known: Known::Floats(known), places: Some(parts), source: "the reference" };
        Scan { input, some, expected, part: size.pick(1_500, 1_500, 3) }
    }

    fn text(&self) -> String {
        format!("{} samples, {} voxels", self.input.k.len(), self.input.voxels.len())
    }

    fn work(&self, operations: f64) -> Work {
        let voxels = self.input.voxels.len() as f64;
        let waves = voxels * self.input.k.len() as f64;
        Work::bytes(20.0 * voxels).and(Pipe::Single, operations * waves).and(Pipe::Special, 2.0 * waves)
    }

    fn share(&self) -> f64 {
        self.part as f64 / self.input.voxels.len() as f64
    }

    fn twin(&self, device: &Device, samples: Vec<[f32; 4]>, imaginary: Vec<f32>) -> Outcome<Theirs> {
        let axis = |axis: usize| device.upload(&self.input.voxels.iter().map(|voxel| voxel[axis]).collect::<Vec<f32>>());
        let zeros = || device.zeros(self.input.voxels.len());
        Ok(Theirs {
            samples: device.upload(&samples)?,
            imaginary: device.upload(&imaginary)?,
            voxels: [axis(0)?, axis(1)?, axis(2)?],
            re: zeros()?,
            im: zeros()?,
        })
    }

    /// k and the real part of each sample's weight.
    fn weighted(&self, weight: impl Fn([f32; 2], [f32; 2]) -> f32) -> Vec<[f32; 4]> {
        let Input { k, phi, data, .. } = &self.input;
        k.iter().zip(phi.iter().zip(data)).map(|([x, y, z], (phi, data))| [*x, *y, *z, weight(*phi, *data)]).collect()
    }
}

/// Each bound is that of both parts of a voxel.
fn of_parts(bounds: &[f64]) -> Bound {
    Bound::Each(bounds.iter().flat_map(|bound| [*bound; 2]).collect())
}

pub(super) struct Theirs {
    samples: Buffer<[f32; 4]>,
    imaginary: Buffer<f32>,
    voxels: [Buffer<f32>; 3],
    re: Buffer<f32>,
    im: Buffer<f32>,
}

impl Theirs {
    fn results(&self) -> Outcome<Results> {
        Ok(Results::Floats(self.re.download()?.into_iter().zip(self.im.download()?).flat_map(|(re, im)| [re, im]).collect()))
    }
}

fn ours_of(resident: &Resident) -> Outcome<Results> {
    Ok(Results::Floats(resident.result()?.into_flattened()))
}

fn twin_q(twins: &Twins, t: &Theirs, variant: u32, voxels: u32) -> Outcome<f64> {
    let ([x, y, z], count, n) = (&t.voxels, t.samples.len() as u32, t.re.len() as u32);
    twins.mri_q(variant, voxels, at(&t.samples), count, at(x), at(y), at(z), at(&t.re), at(&t.im), n)
}

fn twin_fhd(twins: &Twins, t: &Theirs, variant: u32, voxels: u32) -> Outcome<f64> {
    let ([x, y, z], count, n) = (&t.voxels, t.samples.len() as u32, t.re.len() as u32);
    twins.mri_fhd(variant, voxels, at(&t.samples), at(&t.imaginary), count, at(x), at(y), at(z), at(&t.re), at(&t.im), n)
}

fn with_its_bound<A: Application<Form = Off, Ours = Resident>>(declared: Declared<Resident, Off>) -> Variant<A> {
    let off = declared.form;
    Variant::declared(declared, off)
}

/// MRI-Q.
pub(super) struct Q(Scan);

impl Application for Q {
    const NAME: &'static str = "mri_q";
    type Form = Off;
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<Q> {
        Ok(Q(Scan::new(size, Input::reference_q)))
    }

    fn input(&self) -> String {
        self.0.text()
    }

    fn variants() -> Vec<Variant<Q>> {
        vec![
            Self::variant("samples in global memory", PRECISE, |_, r, go| r.run_q_direct(go), |_, w, t| twin_q(w, t, 0, 1)),
            Self::variant("4 voxels, precise", PRECISE, |_, r, go| r.run_q::<4, 4, false, false>(go), |_, w, t| twin_q(w, t, 1, 4)),
            Self::variant("4 voxels, fast", FAST_FAR, |_, r, go| r.run_q::<4, 4, true, false>(go), |_, w, t| twin_q(w, t, 2, 4)),
            Self::variant("1 voxel, fast, turns", FAST_NEAR, |_, r, go| r.run_q::<1, 4, true, true>(go), |_, w, t| twin_q(w, t, 3, 1)),
            Self::variant("2 voxels, fast, turns", FAST_NEAR, |_, r, go| r.run_q::<2, 4, true, true>(go), |_, w, t| twin_q(w, t, 3, 2)),
            Self::variant("4 voxels, fast, turns", FAST_NEAR, |_, r, go| r.run_q::<4, 4, true, true>(go), |_, w, t| twin_q(w, t, 3, 4)),
            Self::variant(
                "4 voxels, cached, precise",
                PRECISE,
                |_, r, go| r.run_q_cached::<4, 4, false, false>(go),
                |_, w, t| twin_q(w, t, 11, 4),
            ),
            Self::variant(
                "4 voxels, cached, fast",
                FAST_FAR,
                |_, r, go| r.run_q_cached::<4, 4, true, false>(go),
                |_, w, t| twin_q(w, t, 12, 4),
            ),
            Self::variant(
                "1 voxel, cached, fast",
                FAST_FAR,
                |_, r, go| r.run_q_cached::<1, 4, true, false>(go),
                |_, w, t| twin_q(w, t, 12, 1),
            ),
            Self::variant(
                "1 voxel, cached, turns",
                FAST_NEAR,
                |_, r, go| r.run_q_cached::<1, 4, true, true>(go),
                |_, w, t| twin_q(w, t, 13, 1),
            ),
            Self::variant(
                "2 voxels, cached, turns",
                FAST_NEAR,
                |_, r, go| r.run_q_cached::<2, 4, true, true>(go),
                |_, w, t| twin_q(w, t, 13, 2),
            ),
            Self::variant(
                "4 voxels, cached, turns",
                FAST_NEAR,
                |_, r, go| r.run_q_cached::<4, 4, true, true>(go),
                |_, w, t| twin_q(w, t, 13, 4),
            ),
        ]
    }

    fn declared(&self) -> Vec<Variant<Q>> {
        mri::declared_q().into_iter().map(with_its_bound).collect()
    }

    fn work(&self, _: Off) -> Work {
        self.0.work(6.0 + 4.0)
    }

    fn expected(&self) -> &Expected {
        &self.0.expected
    }

    fn bound(&self, off: Off) -> Bound {
        of_parts(&self.0.some.error_bound_q(off))
    }

    fn one_core(&self) -> Task<'_> {
        Task::new(self.0.share(), || self.0.input.one_core_q(0..self.0.part))
    }

    fn ours(&self, device: &Device, _: Off) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.0.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        ours_of(ours)
    }

    fn theirs(&self, device: &Device, _: Off) -> Outcome<Theirs> {
        self.0.twin(device, self.0.weighted(|[a, b], _| a * a + b * b), vec![])
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        theirs.results()
    }
}

/// MRI-FHD.
pub(super) struct Fhd(Scan);

impl Application for Fhd {
    const NAME: &'static str = "mri_fhd";
    type Form = Off;
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<Fhd> {
        Ok(Fhd(Scan::new(size, Input::reference_fhd)))
    }

    fn input(&self) -> String {
        self.0.text()
    }

    fn variants() -> Vec<Variant<Fhd>> {
        vec![
            Self::variant("samples in global memory", PRECISE, |_, r, go| r.run_fhd_direct(go), |_, w, t| twin_fhd(w, t, 0, 1)),
            Self::variant("4 voxels, precise", PRECISE, |_, r, go| r.run_fhd::<4, 4, false, false>(go), |_, w, t| twin_fhd(w, t, 1, 4)),
            Self::variant("4 voxels, fast", FAST_FAR, |_, r, go| r.run_fhd::<4, 4, true, false>(go), |_, w, t| twin_fhd(w, t, 2, 4)),
            Self::variant("1 voxel, fast, turns", FAST_NEAR, |_, r, go| r.run_fhd::<1, 4, true, true>(go), |_, w, t| twin_fhd(w, t, 3, 1)),
            Self::variant("2 voxels, fast, turns", FAST_NEAR, |_, r, go| r.run_fhd::<2, 4, true, true>(go), |_, w, t| twin_fhd(w, t, 3, 2)),
            Self::variant("4 voxels, fast, turns", FAST_NEAR, |_, r, go| r.run_fhd::<4, 4, true, true>(go), |_, w, t| twin_fhd(w, t, 3, 4)),
            Self::variant(
                "4 voxels, cached, precise",
                PRECISE,
                |_, r, go| r.run_fhd_cached::<4, 4, false, false>(go),
                |_, w, t| twin_fhd(w, t, 11, 4),
            ),
            Self::variant(
                "4 voxels, cached, fast",
                FAST_FAR,
                |_, r, go| r.run_fhd_cached::<4, 4, true, false>(go),
                |_, w, t| twin_fhd(w, t, 12, 4),
            ),
            Self::variant(
                "1 voxel, cached, fast",
                FAST_FAR,
                |_, r, go| r.run_fhd_cached::<1, 4, true, false>(go),
                |_, w, t| twin_fhd(w, t, 12, 1),
            ),
            Self::variant(
                "1 voxel, cached, turns",
                FAST_NEAR,
                |_, r, go| r.run_fhd_cached::<1, 4, true, true>(go),
                |_, w, t| twin_fhd(w, t, 13, 1),
            ),
            Self::variant(
                "2 voxels, cached, turns",
                FAST_NEAR,
                |_, r, go| r.run_fhd_cached::<2, 4, true, true>(go),
                |_, w, t| twin_fhd(w, t, 13, 2),
            ),
            Self::variant(
                "4 voxels, cached, turns",
                FAST_NEAR,
                |_, r, go| r.run_fhd_cached::<4, 4, true, true>(go),
                |_, w, t| twin_fhd(w, t, 13, 4),
            ),
        ]
    }

    fn declared(&self) -> Vec<Variant<Fhd>> {
        mri::declared_fhd().into_iter().map(with_its_bound).collect()
    }

    fn work(&self, _: Off) -> Work {
        self.0.work(6.0 + 8.0)
    }

    fn expected(&self) -> &Expected {
        &self.0.expected
    }

    fn bound(&self, off: Off) -> Bound {
        of_parts(&self.0.some.error_bound_fhd(off))
    }

    fn one_core(&self) -> Task<'_> {
        Task::new(self.0.share(), || self.0.input.one_core_fhd(0..self.0.part))
    }

    fn ours(&self, device: &Device, _: Off) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.0.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        ours_of(ours)
    }

    fn theirs(&self, device: &Device, _: Off) -> Outcome<Theirs> {
        let imaginary = self.0.weighted(|[a, b], [c, d]| a * d - b * c).into_iter().map(|[.., b]| b).collect();
        self.0.twin(device, self.0.weighted(|[a, b], [c, d]| a * c + b * d), imaginary)
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        theirs.results()
    }
}
