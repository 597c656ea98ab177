//! PNS: a net's 624 words of random numbers are written, then 3 words read or written a step, and what is left of it counted; some 90 operations a step.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::{Task, on_all_cores};
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::pns::{self, Resident, Statistics, WORDS};
use warpwright_review::machine::Pipe;

/// Philosophers of a net.
const N: usize = 8;
type Input = pns::Input<N>;

/// Places of a net.
const PLACES: usize = pns::places(N);

pub(super) struct Pns {
    input: Input,
    /// Nets that one core simulates.
    part: usize,
}

pub(super) struct Theirs {
    state: Buffer<u32>,
    tokens: Buffer<u32>,
    fired: Buffer<u32>,
    sums: Buffer<u64>,
    squares: Buffer<u64>,
}

fn twin(p: &Pns, twins: &Twins, t: &Theirs, variant: u32) -> Outcome<f64> {
    let pns::Input { nets, steps, seats, seed } = p.input;
    let (state, tokens, fired) = (at(&t.state), at(&t.tokens), at(&t.fired));
    twins.pns(variant, nets as u32, steps as u32, seats, seed, state, tokens, fired, at(&t.sums), at(&t.squares))
}

fn flat(counted: Statistics) -> Vec<u64> {
    counted.sums.into_iter().chain(counted.squares).chain([counted.stuck]).collect()
}

impl Application for Pns {
    const NAME: &'static str = "pns";
    const DECLARED: Declaring<Self> = |_| pns::declared();
    type Form = ();
    type Ours = Resident<N>;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Pns, Expected)> {
        let (nets, steps) = size.pick((1 << 18, 1_024), (1 << 16, 512), (40, 12));
        let input = Input::new(9, nets, steps);
        let parts = on_all_cores(0..nets, |part| flat(input.one_core(part)));
        let mut counted = vec![0; 2 * PLACES + 1];
        parts.iter().for_each(|part| counted.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        let expected = Expected::all(Known::Integers(counted), "one core's program", Tolerance::Exact);
        Ok((Pns { input, part: size.pick(16_384, 16_384, 10) }, expected))
    }

    fn input(&self) -> String {
        format!("{} nets of {N} philosophers, {} steps", self.input.nets, self.input.steps)
    }

    fn variants() -> Vec<TimedVariant<Pns>> {
        vec![
            Self::variant("a net's words together", (), |_, r, go| r.run::<128, false>(go), |p, w, t| twin(p, w, t, 0)),
            Self::variant("all nets' words together", (), |_, r, go| r.run::<128, true>(go), |p, w, t| twin(p, w, t, 1)),
            Self::variant("marking in registers", (), |_, r, go| r.run_in_registers::<128, 1>(go), |p, w, t| twin(p, w, t, 101)),
            Self::variant("registers, 4 ahead", (), |_, r, go| r.run_in_registers::<128, 4>(go), |p, w, t| twin(p, w, t, 104)),
            Self::variant("registers, 8 ahead", (), |_, r, go| r.run_in_registers::<128, 8>(go), |p, w, t| twin(p, w, t, 108)),
        ]
    }

    /// A step takes 18 operations for the random number, some 72 to choose a transition and fire it. Tokens and firings are written, and read once.
    fn work(&self, (): ()) -> Work {
        let (nets, steps) = (self.input.nets as f64, self.input.steps as f64);
        Work::bytes(4.0 * nets * (WORDS as f64 + 3.0 * steps + 2.0 * (PLACES + 1) as f64)).and(Pipe::Integer, 90.0 * nets * steps)
    }

    fn one_core(&self) -> Task<'_> {
        Task::new(self.part as f64 / self.input.nets as f64, || self.input.one_core(0..self.part))
    }

    fn ours(&self, device: &Device, (): ()) -> Outcome<Resident<N>> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident<N>) -> Outcome<Results> {
        Ok(Results::Integers(flat(ours.result()?)))
    }

    fn theirs(&self, device: &Device, (): ()) -> Outcome<Theirs> {
        let nets = self.input.nets;
        Ok(Theirs {
            state: device.zeros(WORDS * nets)?,
            tokens: device.zeros(PLACES * nets)?,
            fired: device.zeros(nets)?,
            sums: device.zeros(PLACES + 1)?,
            squares: device.zeros(PLACES + 1)?,
        })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        let (mut sums, mut squares) = (theirs.sums.download()?, theirs.squares.download()?);
        squares.truncate(PLACES);
        let stuck = sums.split_off(PLACES);
        Ok(Results::Integers([sums, squares, stuck].concat()))
    }
}
