//! SAXPY: 12 bytes and 2 operations an element.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::saxpy::{self, Input, Resident};
use warpwright_review::machine::Pipe;

pub(super) struct Saxpy {
    input: Input,
}

pub(super) struct Theirs {
    x: Buffer<f32>,
    y: Buffer<f32>,
}

fn twin(p: &Saxpy, twins: &Twins, t: &Theirs, [block, ilp, vector]: [u32; 3]) -> Outcome<f64> {
    twins.saxpy(block, ilp, vector, p.input.a, at(&t.x), at(&t.y), p.input.x.len() as u32)
}

impl Application for Saxpy {
    const NAME: &'static str = "saxpy";
    const DECLARED: Declaring<Self> = |_| saxpy::declared();
    type Form = ();
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Saxpy, Expected)> {
        let input = Input::new(1, size.pick(1 << 27, 1 << 25, 4_999));
        // What two runs add: a·x twice.
        let twice = input.x.iter().zip(&input.y).map(|(x, y)| 2.0 * f64::from(input.a) * f64::from(*x) + f64::from(*y)).collect();
        // Two roundings a run of sums of magnitude at most 2.5, of products of at most 1.
        let bound = Tolerance::Most(4.0 * f64::from(f32::EPSILON));
        Ok((Saxpy { input }, Expected::all(Known::Floats(twice), "the formula", bound)))
    }

    fn input(&self) -> String {
        format!("{} elements", self.input.x.len())
    }

    fn variants() -> Vec<TimedVariant<Saxpy>> {
        vec![
            Self::variant("an element a thread", (), |_, r, go| r.run::<256, 1, false, 1>(go), |p, w, t| twin(p, w, t, [256, 1, 1])),
            Self::variant("4 elements", (), |_, r, go| r.run::<256, 4, true, 1>(go), |p, w, t| twin(p, w, t, [256, 4, 1])),
            Self::variant("vectors", (), |_, r, go| r.run::<256, 1, true, 4>(go), |p, w, t| twin(p, w, t, [256, 1, 4])),
            Self::variant("2 vectors", (), |_, r, go| r.run::<128, 2, true, 4>(go), |p, w, t| twin(p, w, t, [128, 2, 4])),
        ]
    }

    fn work(&self, (): ()) -> Work {
        let n = self.input.x.len() as f64;
        Work::bytes(12.0 * n).and(Pipe::Single, 2.0 * n)
    }

    fn one_core(&self) -> Task<'_> {
        let mut y = self.input.y.clone();
        Task::new(1.0, move || {
            self.input.one_core(&mut y);
            y[0]
        })
    }

    fn ours(&self, device: &Device, (): ()) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Floats(ours.result()?))
    }

    fn theirs(&self, device: &Device, (): ()) -> Outcome<Theirs> {
        Ok(Theirs { x: device.upload(&self.input.x)?, y: device.upload(&self.input.y)? })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        Ok(Results::Floats(theirs.y.download()?))
    }
}
