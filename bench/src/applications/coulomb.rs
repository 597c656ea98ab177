//! CP: nine operations an atom and point, one of them a reciprocal square root; 4 bytes a point.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::coulomb::{self, Input, Resident};
use warpwright_review::machine::Pipe;

pub(super) struct Coulomb {
    input: Input,
    /// Rows that one core does.
    rows: usize,
}

pub(super) struct Theirs {
    atoms: Buffer<[f32; 4]>,
    potential: Buffer<f32>,
}

fn twin(p: &Coulomb, twins: &Twins, t: &Theirs, variant: u32, points: u32) -> Outcome<f64> {
    let Input { width, height, spacing, .. } = p.input;
    twins.coulomb(variant, points, width as u32, height as u32, spacing, at(&t.atoms), t.atoms.len() as u32, at(&t.potential))
}

impl Application for Coulomb {
    const NAME: &'static str = "coulomb";
    const DECLARED: Declaring<Self> = |_| coulomb::declared();
    type Form = ();
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Coulomb, Expected)> {
        let (atoms, side, apart) = size.pick((12_000, 2_048, 64), (4_000, 1_024, 32), (10, 20, 1));
        let input = Input::new(2, atoms, side, side);
        // The points at every so many columns and rows are a grid, too.
        let coarse = Input { width: side / apart, height: side / apart, spacing: input.spacing * apart as f32, ..input.clone() };
        let places = (0..coarse.width * coarse.height).map(|i| i / coarse.width * apart * side + i % coarse.width * apart).collect();
        let bound = Tolerance::Each(coarse.error_bound());
        let expected = Expected { known: Known::Floats(coarse.reference()), places: Some(places), source: "the reference", bound };
        Ok((Coulomb { input, rows: size.pick(16, 32, 2) }, expected))
    }

    fn input(&self) -> String {
        format!("{} atoms, {} × {} points", self.input.atoms.len(), self.input.width, self.input.height)
    }

    fn variants() -> Vec<TimedVariant<Coulomb>> {
        vec![
            Self::variant("atoms in global memory", (), |_, r, go| r.run_direct(go), |p, twins, t| twin(p, twins, t, 0, 1)),
            Self::variant("constant memory", (), |_, r, go| r.run::<32, 1, 1>(go), |p, twins, t| twin(p, twins, t, 1, 1)),
            Self::variant("4 points a thread", (), |_, r, go| r.run::<32, 4, 4>(go), |p, twins, t| twin(p, twins, t, 1, 4)),
            Self::variant("8 points a thread", (), |_, r, go| r.run::<32, 8, 4>(go), |p, twins, t| twin(p, twins, t, 1, 8)),
            Self::variant("8 points, an atom a turn", (), |_, r, go| r.run::<32, 8, 1>(go), |p, twins, t| twin(p, twins, t, 1, 8)),
            Self::variant("4 points, cached", (), |_, r, go| r.run_cached::<32, 4, 4>(go), |p, twins, t| twin(p, twins, t, 2, 4)),
            Self::variant("8 points, cached", (), |_, r, go| r.run_cached::<32, 8, 4>(go), |p, twins, t| twin(p, twins, t, 2, 8)),
        ]
    }

    fn work(&self, (): ()) -> Work {
        let points = (self.input.width * self.input.height) as f64;
        let pairs = points * self.input.atoms.len() as f64;
        Work::bytes(4.0 * points).and(Pipe::Single, 8.0 * pairs).and(Pipe::Special, pairs)
    }

    fn one_core(&self) -> Task<'_> {
        Task::new(self.rows as f64 / self.input.height as f64, || self.input.one_core(0..self.rows))
    }

    fn ours(&self, device: &Device, (): ()) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Floats(ours.result()?))
    }

    fn theirs(&self, device: &Device, (): ()) -> Outcome<Theirs> {
        let flat = |&[x, y, z, q]: &[f32; 4]| [x, y, (f64::from(z) - f64::from(self.input.z)).powi(2) as f32, q];
        let atoms: Vec<[f32; 4]> = self.input.atoms.iter().map(flat).collect();
        Ok(Theirs { atoms: device.upload(&atoms)?, potential: device.zeros(self.input.width * self.input.height)? })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        Ok(Results::Floats(theirs.potential.download()?))
    }
}
