//! TPACF: a pair takes 5 operations for its cosine, 5 comparisons, and 4 accesses of shared memory: three edges and a count.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::{Task, on_all_cores};
use super::work::Work;
use crate::twins::{Address, Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::tpacf::{self, BINS, Counts, EDGES, Input, Resident, Sphere};
use warpwright_review::machine::Pipe;

pub(super) struct Tpacf {
    input: Input,
    /// Galaxies whose pairs one core counts.
    part: usize,
}

pub(super) struct Theirs {
    galaxies: [Buffer<f32>; 3],
    random: [Buffer<f32>; 3],
    edges: Buffer<f32>,
    counts: [Buffer<u64>; 3],
}

impl Theirs {
    /// Coordinates of galaxies and of random points, edges, counts: as twins take them.
    fn addresses(&self) -> ([Address; 6], Address, [Address; 3]) {
        let ([a, b, c], [d, e, f], [x, y, z]) = (&self.galaxies, &self.random, &self.counts);
        ([at(a), at(b), at(c), at(d), at(e), at(f)], at(&self.edges), [at(x), at(y), at(z)])
    }
}

fn twin_direct(p: &Tpacf, twins: &Twins, t: &Theirs) -> Outcome<f64> {
    let ([a, b, c, d, e, f], edges, [dd, dr, rr]) = t.addresses();
    twins.tpacf_direct(p.input.galaxies.len() as u32, p.input.random.len() as u32, a, b, c, d, e, f, edges, dd, dr, rr)
}

fn twin(p: &Tpacf, twins: &Twins, t: &Theirs, [block, own, sets, lanes]: [u32; 4]) -> Outcome<f64> {
    let ([a, b, c, d, e, f], edges, [dd, dr, rr]) = t.addresses();
    let (galaxies, random) = (p.input.galaxies.len() as u32, p.input.random.len() as u32);
    twins.tpacf(block, own, sets, lanes, galaxies, random, a, b, c, d, e, f, edges, dd, dr, rr)
}

fn flat(counts: Counts) -> Vec<u64> {
    counts.galaxies.into_iter().chain(counts.mixed).chain(counts.random).collect()
}

impl Tpacf {
    /// Pairs that begin with one of the first `galaxies` galaxies, and those that begin with one of the first `random` random points.
    fn pairs(&self, galaxies: usize, random: usize) -> f64 {
        let (all, others) = (self.input.galaxies.len(), self.input.random.len());
        let among = |first: usize, all: usize| first * all - first * (first + 1) / 2;
        (among(galaxies, all) + galaxies * others + among(random, others)) as f64
    }

    fn all_pairs(&self) -> f64 {
        self.pairs(self.input.galaxies.len(), self.input.random.len())
    }
}

impl Application for Tpacf {
    const NAME: &'static str = "tpacf";
    const DECLARED: Declaring<Self> = |_| tpacf::declared();
    type Form = ();
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Tpacf, Expected)> {
        let (galaxies, random) = size.pick((30_000, 30_000), (10_000, 10_000), (17, 60));
        let input = Input::new(11, galaxies, random);
        let mut counts = vec![0; 3 * (input.edges.len() + 1)];
        for part in on_all_cores(0..galaxies + random, |part| flat(input.one_core(part))) {
            // Two runs add up.
            counts.iter_mut().zip(part).for_each(|(sum, part)| *sum += 2 * part);
        }
        let expected = Expected::all(Known::Integers(counts), "one core's program", Tolerance::Exact);
        Ok((Tpacf { input, part: size.pick(2_000, 2_000, 5) }, expected))
    }

    fn input(&self) -> String {
        format!("{} galaxies, {} random points", self.input.galaxies.len(), self.input.random.len())
    }

    fn variants() -> Vec<TimedVariant<Tpacf>> {
        vec![
            Self::variant("counts in global memory", (), |_, r, go| r.run_direct(go), twin_direct),
            Self::variant("a histogram a block", (), |_, r, go| r.run::<256, 4, 1, 1>(go), |p, w, t| twin(p, w, t, [256, 4, 1, 1])),
            Self::variant("a histogram a warp", (), |_, r, go| r.run::<128, 4, 4, 1>(go), |p, w, t| twin(p, w, t, [128, 4, 4, 1])),
            Self::variant("a histogram a lane, 128", (), |_, r, go| r.run::<128, 4, 1, 32>(go), |p, w, t| twin(p, w, t, [128, 4, 1, 32])),
            Self::variant("a histogram a lane, 256", (), |_, r, go| r.run::<256, 4, 1, 32>(go), |p, w, t| twin(p, w, t, [256, 4, 1, 32])),
            Self::variant("a histogram a thread", (), |_, r, go| r.run::<128, 4, 4, 32>(go), |p, w, t| twin(p, w, t, [128, 4, 4, 32])),
            Self::variant(
                "one point, a histogram a warp",
                (),
                |_, r, go| r.run::<128, 1, 4, 1>(go),
                |p, w, t| twin(p, w, t, [128, 1, 4, 1]),
            ),
            Self::variant(
                "one point, a histogram a thread",
                (),
                |_, r, go| r.run::<128, 1, 4, 32>(go),
                |p, w, t| twin(p, w, t, [128, 1, 4, 32]),
            ),
        ]
    }

    fn work(&self, (): ()) -> Work {
        let points = (self.input.galaxies.len() + self.input.random.len()) as f64;
        let pairs = self.all_pairs();
        Work::bytes(12.0 * points).and(Pipe::Single, 5.0 * pairs).and(Pipe::Logic, 5.0 * pairs).and(Pipe::Memory, 4.0 * pairs)
    }

    fn one_core(&self) -> Task<'_> {
        Task::new(self.pairs(self.part, 0) / self.all_pairs(), || self.input.one_core(0..self.part))
    }

    fn ours(&self, device: &Device, (): ()) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Integers(flat(ours.result()?)))
    }

    fn theirs(&self, device: &Device, (): ()) -> Outcome<Theirs> {
        let points =
            |of: &Sphere| -> Outcome<[Buffer<f32>; 3]> { Ok([device.upload(&of.x)?, device.upload(&of.y)?, device.upload(&of.z)?]) };
        // No cosine is less than the edges that are not used.
        let mut edges = [f32::NEG_INFINITY; EDGES];
        edges[..self.input.edges.len()].copy_from_slice(&self.input.edges);
        Ok(Theirs {
            galaxies: points(&self.input.galaxies)?,
            random: points(&self.input.random)?,
            edges: device.upload(&edges)?,
            counts: [device.zeros(BINS)?, device.zeros(BINS)?, device.zeros(BINS)?],
        })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        let used = self.input.edges.len() + 1;
        let mut all = Vec::new();
        for counts in &theirs.counts {
            all.extend_from_slice(&counts.download()?[..used]);
        }
        Ok(Results::Integers(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_as_one_core_counts_them() {
        let (program, _) = Tpacf::new(Size::Tiny).expect("it is drawn");
        for (galaxies, random) in [(5, 0), (17, 0), (17, 60), (17, 20)] {
            let counted = flat(program.input.one_core(0..galaxies + random)).iter().sum::<u64>();
            assert_eq!(program.pairs(galaxies, random), counted as f64, "{galaxies} and {random}");
        }
    }
}
