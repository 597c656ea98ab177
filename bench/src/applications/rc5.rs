//! RC5-72: 338 sums, 180 rotations and 24 exclusive ors a key, and no memory.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::rc5::{self, Input, Resident};
use warpwright_review::machine::Pipe;

pub(super) struct Rc5 {
    input: Input,
    /// Keys that one core tries.
    part: usize,
}

pub(super) struct Theirs {
    found: Buffer<u32>,
}

fn twin(p: &Rc5, twins: &Twins, t: &Theirs, variant: u32, keys: u32) -> Outcome<f64> {
    let Input { first: [a, b, c, d, e, f, g, h, last], count, plain, cipher } = p.input;
    let (high, low) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
    twins.rc5(variant, keys, high, low, last.into(), count as u32, plain[0], plain[1], cipher[0], cipher[1], at(&t.found))
}

impl Application for Rc5 {
    const NAME: &'static str = "rc5";
    const DECLARED: Declaring<Self> = |_| rc5::declared();
    type Form = ();
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Rc5, Expected)> {
        let count = size.pick(1 << 28, 1 << 25, 300);
        // Every key is tried, wherever the right one is; that another one before it fits, too, has a chance of 2⁻³⁶.
        let planted = count - count / 7;
        let input = Input::new(3, count, planted as u64);
        let expected = Expected::all(Known::Integers(vec![planted as u64]), "the planted key", Tolerance::Exact);
        Ok((Rc5 { input, part: size.pick(1 << 21, 1 << 21, 64) }, expected))
    }

    fn input(&self) -> String {
        format!("{} keys", self.input.count)
    }

    fn variants() -> Vec<TimedVariant<Rc5>> {
        vec![
            Self::variant("a key a thread", (), |_, r, go| r.run_direct(go), |p, twins, t| twin(p, twins, t, 0, 1)),
            Self::variant("32 keys in registers", (), |_, r, go| r.run::<32, 1>(go), |p, twins, t| twin(p, twins, t, 1, 32)),
            Self::variant("32 keys, 2 at once", (), |_, r, go| r.run::<32, 2>(go), |p, twins, t| twin(p, twins, t, 1, 32)),
            Self::variant("256 keys in registers", (), |_, r, go| r.run::<256, 1>(go), |p, twins, t| twin(p, twins, t, 1, 256)),
            Self::variant("256 keys, 2 at once", (), |_, r, go| r.run::<256, 2>(go), |p, twins, t| twin(p, twins, t, 1, 256)),
        ]
    }

    /// Four sums and two rotations for each of 78 steps of the schedule; a sum, a rotation and an exclusive or for each of 24 half rounds; two sums before.
    fn work(&self, (): ()) -> Work {
        let keys = self.input.count as f64;
        Work::bytes(0.0).and(Pipe::Integer, (338 + 180 + 24) as f64 * keys).and(Pipe::Logic, (180 + 24) as f64 * keys)
    }

    fn one_core(&self) -> Task<'_> {
        Task::new(self.part as f64 / self.input.count as f64, || self.input.one_core(0..self.part))
    }

    fn ours(&self, device: &Device, (): ()) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Integers(vec![ours.result()?.map_or(u64::MAX, |found| found as u64)]))
    }

    fn theirs(&self, device: &Device, (): ()) -> Outcome<Theirs> {
        Ok(Theirs { found: device.upload(&[u32::MAX])? })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        Ok(Results::Integers(theirs.found.download()?.into_iter().map(u64::from).collect()))
    }
}
