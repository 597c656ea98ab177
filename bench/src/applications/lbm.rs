//! LBM: 156 bytes and some 250 operations a cell and step.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::lbm::{self, Input, Lattice, Layout, Q, Resident};
use warpwright_review::machine::Pipe;

/// Cells on each side of a cube whose distributions are known.
const CUBE: usize = 6;

/// Steps of a run that one core does.
const CORE_STEPS: usize = 4;

pub(super) struct Lbm {
    input: Input,
    lattice: Lattice,
    steps: usize,
    /// As twins take them, an element a cell of memory.
    walls: Vec<u32>,
    start: Vec<f32>,
}

pub(super) struct Theirs {
    walls: Buffer<u32>,
    before: Buffer<f32>,
    after: Buffer<f32>,
    layout: Layout,
}

fn twin(p: &Lbm, twins: &Twins, t: &Theirs, variant: u32, block: u32) -> Outcome<f64> {
    let Lattice { nx, ny, nz, pitch, omega, push: [x, y, z] } = p.lattice;
    let [nx, ny, nz, pitch, steps] = [nx, ny, nz, pitch, p.steps].map(|v| v as u32);
    twins.lbm(variant, block, nx, ny, nz, pitch, omega, x, y, z, steps, at(&t.walls), at(&t.before), at(&t.after))
}

/// What the reference says of a cube of cells after so many steps: their places in the results, and the distributions. A step reaches one cell further, so the box
/// round the cube that many cells wider on each side is all that matters.
fn known_of(input: &Input, corner: [usize; 3], steps: usize) -> Vec<(usize, f64)> {
    let wide = CUBE + 2 * steps;
    let extents = [input.nx, input.ny, input.nz];
    // Column, row or layer `k` of the wider box, in the box, which is periodic.
    let back = |axis: usize, k: usize| (corner[axis] + k + steps.div_ceil(extents[axis]) * extents[axis] - steps) % extents[axis];
    let number = |[x, y, z]: [usize; 3]| (back(2, z) * input.ny + back(1, y)) * input.nx + back(0, x);
    let place = |i: usize| [i % wide, i / wide % wide, i / wide / wide];
    let cells = || (0..wide * wide * wide).map(|i| number(place(i)));
    let part = Input {
        nx: wide,
        ny: wide,
        nz: wide,
        solid: cells().map(|cell| input.solid[cell]).collect(),
        velocity: cells().map(|cell| input.velocity[cell]).collect(),
        ..input.clone()
    };
    let found = part.reference(steps);
    let inner = |i: &usize| place(*i).iter().all(|k| (steps..steps + CUBE).contains(k));
    let (n, small) = (input.solid.len(), part.solid.len());
    let of_cell = |i: usize| (0..Q).map(move |q| (q * n + number(place(i)), q * small + i));
    (0..small).filter(inner).flat_map(of_cell).map(|(at, from)| (at, found[from])).collect()
}

impl Application for Lbm {
    const NAME: &'static str = "lbm";
    const DECLARED: Declaring<Self> = |program| lbm::declared(program.steps);
    type Form = Layout;
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Lbm, Expected)> {
        let ([nx, ny, nz], steps) = size.pick(([256, 128, 128], 8), ([128, 64, 64], 8), ([70, 5, 4], 1));
        let input = Input::new(7, nx, ny, nz);
        // At the box's corner, in its middle, and round an obstacle that is no plate.
        let ball =
            (0..input.solid.len()).find(|cell| input.solid[*cell] && !(cell / nx % ny == 0 || cell / nx % ny == ny - 1)).unwrap_or(0);
        let corners = [[0, 0, 0], [nx / 2, ny / 2, nz / 2], [ball % nx, ball / nx % ny, ball / nx / ny]];
        let known: Vec<(usize, f64)> = corners.into_iter().flat_map(|corner| known_of(&input, corner, 2 * steps)).collect();
        let (places, known) = known.into_iter().unzip();
        let lattice = Lattice::new(&input);
        let bound = Tolerance::Most(input.error_bound(2 * steps));
        let expected = Expected { known: Known::Floats(known), places: Some(places), source: "the reference", bound };
        Ok((Lbm { walls: lattice.spread(&input.walls()), start: lattice.spread(&input.start()), lattice, input, steps }, expected))
    }

    fn input(&self) -> String {
        format!("{} × {} × {} cells, {} steps", self.lattice.nx, self.lattice.ny, self.lattice.nz, self.steps)
    }

    fn variants() -> Vec<TimedVariant<Lbm>> {
        use Layout::*;
        vec![
            Self::variant("array of structures", Structures, |p, r, go| r.run_structures(p.steps, go), |p, w, t| twin(p, w, t, 0, 128)),
            Self::variant("arrays", Arrays, |p, r, go| r.run::<128, false>(p.steps, go), |p, w, t| twin(p, w, t, 1, 128)),
            Self::variant("arrays, eager", Arrays, |p, r, go| r.run::<128, true>(p.steps, go), |p, w, t| twin(p, w, t, 2, 128)),
            Self::variant("eager, 64 threads", Arrays, |p, r, go| r.run::<64, true>(p.steps, go), |p, w, t| twin(p, w, t, 2, 64)),
            Self::variant("staged", Arrays, |p, r, go| r.run_staged::<128>(p.steps, go), |p, w, t| twin(p, w, t, 3, 128)),
            Self::variant("staged, 64 threads", Arrays, |p, r, go| r.run_staged::<64>(p.steps, go), |p, w, t| twin(p, w, t, 3, 64)),
        ]
    }

    /// 19 numbers read and written, and which neighbours are obstacles.
    fn work(&self, _: Layout) -> Work {
        let updates = (self.input.solid.len() * self.steps) as f64;
        Work::bytes((2 * Q + 1) as f64 * 4.0 * updates).and(Pipe::Single, 250.0 * updates)
    }

    fn one_core(&self) -> Task<'_> {
        let steps = CORE_STEPS.min(self.steps);
        let (walls, mut now) = (self.input.walls(), self.input.start());
        let mut other = now.clone();
        // It goes on where it stopped.
        Task::new(steps as f64 / self.steps as f64, move || self.input.one_core_from(&walls, &mut now, &mut other, steps))
    }

    fn ours(&self, device: &Device, _: Layout) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Floats(ours.result()?))
    }

    fn theirs(&self, device: &Device, layout: Layout) -> Outcome<Theirs> {
        let n = self.lattice.cells();
        let before = match layout {
            Layout::Arrays => device.upload(&self.start)?,
            Layout::Structures => device.upload(&layout.of_other(&self.start, n))?,
        };
        Ok(Theirs { walls: device.upload(&self.walls)?, before, after: device.zeros(Q * n)?, layout })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        let (found, n) = (theirs.before.download()?, self.lattice.cells());
        let arrays = match theirs.layout {
            Layout::Arrays => found,
            Layout::Structures => Layout::Arrays.of_other(&found, n),
        };
        Ok(Results::Floats(self.lattice.gather(&arrays)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_is_known_from_the_box_round_it() {
        let input = Input::new(8, 13, 9, 8);
        let all = input.reference(2);
        for corner in [[0, 0, 0], [5, 4, 3], [12, 8, 7]] {
            let known = known_of(&input, corner, 2);
            assert_eq!(known.len(), Q * CUBE.pow(3));
            assert!(known.iter().all(|(at, value)| (all[*at] - value).abs() < 1e-15), "{corner:?}");
        }
    }
}
