//! TPACF: the two-point angular correlation of galaxies. How many pairs of points on the sphere are how far apart, in bins of equal width in the
//! logarithm of the angle, among galaxies, among random points, and between both; from the three follows how much galaxies crowd.
//!
//! A pair costs 5 operations for the cosine of its angle, 5 comparisons to find its bin among up to 32, and one addition to the histogram. Nothing else is read
//! than what many pairs share, so memory outside the chip does not matter, and it is the histogram that does. The document gives 60.2 times one core, 24 registers,
//! and shared memory's capacity as the bottleneck: of its 16 KiB, histograms for single threads took all.
//!
//! * [`pairs_direct`]: a thread a point, all others one by one, bins by a search in constant memory, counted in global memory.
//! * [`pairs`]: tiles of points in shared memory, `OWN` points a thread, and histograms in shared memory: `SETS` sets for the warps of a block, `LANES` in
//!   each for the lanes of a warp. `1, 1` is one for the block. `B / 32, 1` is one for each warp. `1, 32` is one for each lane, side by side, so
//!   that no two lanes of a warp meet in a bank. The bin's edges lie in shared memory, too, since each lane asks for another one.
//!
//! Counts are exact: a cosine is three products and two sums of `f32`, each rounded (`contract = false`), in the kernels, in the reference and on one core.

use super::{Error, Go, Result};
use std::ops::Range;
use warpwright::prelude::*;
use warpwright::{Buffer, ConstantBuffer, Device};

/// Bins of a histogram in memory. An input may use fewer.
pub const BINS: usize = 32;
/// Edges between them.
pub const EDGES: usize = BINS - 1;
/// Points of the second set that a block goes through.
pub const SPAN: usize = 2_048;

/// Points on the unit sphere.
#[device]
pub struct Points<'a> {
    /// Their first coordinates.
    pub x: &'a Global<f32>,
    /// Their second coordinates.
    pub y: &'a Global<f32>,
    /// Their third coordinates.
    pub z: &'a Global<f32>,
}

/// The cosine of the angle between two unit vectors.
#[device]
fn cosine(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Adds to `counts[k]` how many pairs have `k` edges above their cosine; `edges` fall. Of one set with itself, `same`, each pair counts once.
/// As one writes it first: constant memory serves a warp one edge after the other, and blocks meet in 32 counters.
#[kernel(block = 128, contract = false, allow(constant_divergence, redundant_global_loads))]
pub fn pairs_direct(same: bool, first: Points<'_>, second: Points<'_>, edges: &Constant<[f32; EDGES]>, counts: &mut Global<u64>) {
    let i = global_id().x;
    if i < first.x.len() {
        let own = [first.x[i], first.y[i], first.z[i]];
        for j in (if same { i + 1 } else { 0 })..second.x.len() {
            let c = cosine(own, [second.x[j], second.y[j], second.z[j]]);
            let mut bin = 0;
            #[unroll]
            for level in 0..5 {
                let half = 16usize >> level;
                bin += if c < edges[bin + half - 1] { half } else { 0 };
            }
            counts.atomic_add(bin, 1);
        }
    }
}

/// The same by tiles: a block pairs `B · OWN` points of the first set with [`SPAN`] of the second.
#[kernel(
    block = B, contract = false,
    variants(B in [128, 256], OWN in [1, 2, 4], SETS in [1, 4], LANES in [1, 32])
)]
pub fn pairs<const B: usize, const OWN: usize, const SETS: usize, const LANES: usize>(
    same: bool,
    first: Points<'_>,
    second: Points<'_>,
    edges: &Constant<[f32; EDGES]>,
    counts: &mut Global<u64>,
) {
    #[shared]
    let mut near: [f32; EDGES];
    #[shared]
    let mut tile: [[f32; 4]; B];
    #[shared]
    let mut local: [[[u32; LANES]; BINS]; SETS];
    let t = thread_idx().x;
    let from = block_idx().x * (B * OWN);
    let start = block_idx().y * SPAN;
    let beyond = (start + SPAN).min(second.x.len());
    // Where all of the second set's points here come before those of the first, or are the first of them, the pairs are another block's.
    let end = if same && beyond <= from + 1 { start } else { beyond };
    if t < EDGES {
        near[t] = edges[t];
    }
    for n in (t..SETS * BINS * LANES).step_by(B) {
        local[n / (LANES * BINS)][n / LANES % BINS][n % LANES] = 0;
    }
    let mut own = [[0.0f32; 3]; OWN];
    // The first point that each is paired with: none, where there is no point.
    let mut partner = [usize::MAX; OWN];
    #[unroll]
    for k in 0..OWN {
        let i = from + k * B + t;
        if i < first.x.len() {
            own[k] = [first.x[i], first.y[i], first.z[i]];
            partner[k] = if same { i + 1 } else { 0 };
        }
    }
    sync_threads();
    // The first two levels of the search are three numbers that every pair needs.
    let (middle, low, high) = (near[15], near[7], near[23]);
    let set = warp_id() % SETS;
    let lane = lane_id() % LANES;
    for base in (start..end).step_by(B) {
        let j = base + t;
        if j < end {
            tile[t] = [second.x[j], second.y[j], second.z[j], 0.0];
        }
        sync_threads();
        for other in base..end.min(base + B) {
            let [x, y, z, _] = tile[other - base];
            #[unroll]
            for k in 0..OWN {
                let c = cosine(own[k], [x, y, z]);
                let upper = c < middle;
                let mut bin = if upper { 16usize } else { 0 };
                bin += if c < (if upper { high } else { low }) { 8 } else { 0 };
                bin += if c < near[bin + 3] { 4 } else { 0 };
                bin += if c < near[bin + 1] { 2 } else { 0 };
                bin += if c < near[bin] { 1 } else { 0 };
                if other >= partner[k] {
                    local[set][bin].atomic_add(lane, 1);
                }
            }
        }
        sync_threads();
    }
    if t < BINS {
        let mut sum = 0u32;
        for n in 0..SETS * LANES {
            // Each thread begins in another column, so that they meet in no bank.
            sum += local[n / LANES][t][(n + t) % LANES];
        }
        if sum > 0 {
            counts.atomic_add(t, sum as u64);
        }
    }
}

/// Points on the unit sphere, a coordinate each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sphere {
    /// Their first coordinates.
    pub x: Vec<f32>,
    /// Their second coordinates.
    pub y: Vec<f32>,
    /// Their third coordinates.
    pub z: Vec<f32>,
}

impl Sphere {
    fn push(&mut self, [x, y, z]: [f64; 3]) {
        let length = (x * x + y * y + z * z).sqrt();
        self.x.push((x / length) as f32);
        self.y.push((y / length) as f32);
        self.z.push((z / length) as f32);
    }

    fn at(&self, i: usize) -> [f32; 3] {
        [self.x[i], self.y[i], self.z[i]]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }
}

/// Galaxies, random points to compare them with, and bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The galaxies.
    pub galaxies: Sphere,
    /// Points that do not crowd, mostly several times as many.
    pub random: Sphere,
    /// The cosines of the angles between the bins, falling: at most [`EDGES`]. Before the first and behind the last is a bin, too.
    pub edges: Vec<f32>,
}

/// How many pairs are in each bin, from close ones to distant ones: a bin more than there are edges.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Pairs of galaxies.
    pub galaxies: Vec<u64>,
    /// Pairs of a galaxy and a random point.
    pub mixed: Vec<u64>,
    /// Pairs of random points.
    pub random: Vec<u64>,
}

impl Counts {
    /// How much more often than by chance two galaxies are that far apart, by Landy and Szalay's estimate (DD - 2·DR + RR) / RR; NaN in a bin without pairs of
    /// random points.
    pub fn correlation(&self, galaxies: usize, random: usize) -> Vec<f64> {
        let (d, r) = (galaxies as f64, random as f64);
        let bin = |((dd, dr), rr): ((&u64, &u64), &u64)| {
            let rr = *rr as f64 / (r * (r - 1.0) / 2.0);
            (*dd as f64 / (d * (d - 1.0) / 2.0) - 2.0 * *dr as f64 / (d * r) + rr) / rr
        };
        self.galaxies.iter().zip(&self.mixed).zip(&self.random).map(bin).collect()
    }
}

impl Input {
    /// `galaxies` galaxies, most of them in clusters a degree or so wide, and `random` random points; bins of a sixth of a decade from 10 to 10,000 minutes of arc.
    pub fn new(seed: u64, galaxies: usize, random: usize) -> Input {
        let mut draw = fastrand::Rng::with_seed(seed);
        let mut normal = || (-2.0 * (1.0 - draw.f64()).ln()).sqrt() * (std::f64::consts::TAU * draw.f64()).cos();
        let mut clustered = Sphere::default();
        let mut centre = [0.0; 3];
        for i in 0..galaxies {
            // Three in the field for each cluster of 21.
            if i % 24 < 4 {
                let place = [normal(), normal(), normal()];
                let length = place.iter().map(|v| v * v).sum::<f64>().sqrt();
                centre = place.map(|v| v / length);
                clustered.push(centre);
            } else {
                clustered.push(centre.map(|v| v + 0.02 * normal()));
            }
        }
        let mut free = Sphere::default();
        (0..random).for_each(|_| free.push([normal(), normal(), normal()]));
        let edge = |k: i32| (10.0 * 10f64.powf(f64::from(k) / 6.0) / 60.0).to_radians().cos() as f32;
        Input { galaxies: clustered, random: free, edges: (0..=18).map(edge).collect() }
    }

    /// The counts, each pair's bin by asking edge after edge. The cosine is rounded as the kernels round it, since a count has no tolerance: in double precision
    /// a pair at an edge may fall on its other side.
    pub fn reference(&self) -> Counts {
        let count = |a: &Sphere, b: &Sphere, same: bool| {
            let mut bins = vec![0; self.edges.len() + 1];
            for i in 0..a.len() {
                for j in if same { i + 1 } else { 0 }..b.len() {
                    let cosine = a.x[i] * b.x[j] + a.y[i] * b.y[j] + a.z[i] * b.z[j];
                    bins[self.edges.iter().filter(|edge| cosine < **edge).count()] += 1;
                }
            }
            bins
        };
        Counts {
            galaxies: count(&self.galaxies, &self.galaxies, true),
            mixed: count(&self.galaxies, &self.random, false),
            random: count(&self.random, &self.random, true),
        }
    }

    /// What one core does: cosines by the dozen, which the compiler makes vectors of, and a search by halves. `part` are the points to begin pairs with, the galaxies before
    /// the random points; all counts together are the pairs that were looked at.
    pub fn one_core(&self, part: Range<usize>) -> Counts {
        let mut edges = [f32::NEG_INFINITY; EDGES];
        edges[..self.edges.len()].copy_from_slice(&self.edges);
        let count = |bins: &mut [u64; BINS], own: [f32; 3], others: &Sphere, from: usize| {
            let (x, y, z) = (&others.x[from..], &others.y[from..], &others.z[from..]);
            for ((x, y), z) in x.chunks(64).zip(y.chunks(64)).zip(z.chunks(64)) {
                let mut cosines = [0.0f32; 64];
                for (c, ((x, y), z)) in cosines.iter_mut().zip(x.iter().zip(y).zip(z)) {
                    *c = own[0] * x + own[1] * y + own[2] * z;
                }
                for c in &cosines[..x.len()] {
                    let mut bin = 0;
                    for half in [16, 8, 4, 2, 1] {
                        bin += if *c < edges[bin + half - 1] { half } else { 0 };
                    }
                    bins[bin] += 1;
                }
            }
        };
        let (mut dd, mut dr, mut rr) = ([0; BINS], [0; BINS], [0; BINS]);
        for i in part {
            match i.checked_sub(self.galaxies.len()) {
                None => {
                    count(&mut dd, self.galaxies.at(i), &self.galaxies, i + 1);
                    count(&mut dr, self.galaxies.at(i), &self.random, 0);
                }
                Some(i) => count(&mut rr, self.random.at(i), &self.random, i + 1),
            }
        }
        let used = self.edges.len() + 1;
        Counts { galaxies: dd[..used].to_vec(), mixed: dr[..used].to_vec(), random: rr[..used].to_vec() }
    }
}

struct Set {
    x: Buffer<f32>,
    y: Buffer<f32>,
    z: Buffer<f32>,
}

impl Set {
    fn new(device: &Device, name: &str, points: &Sphere) -> Result<Set> {
        let Sphere { x, y, z } = points;
        let refuse = |why: String| Err(Error::Input(why));
        if x.len() != y.len() || x.len() != z.len() {
            return refuse(format!("`{name}` has {}, {} and {} coordinates: make them as many", x.len(), y.len(), z.len()));
        }
        let length = |i: usize| points.at(i).iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
        match (0..x.len()).find(|i| length(*i).is_nan() || (length(*i) - 1.0).abs() >= 1e-3) {
            Some(i) => refuse(format!("point {i} of `{name}` is {} from the centre: it must be 1 to a thousandth", length(i))),
            None => Ok(Set { x: device.upload(x)?, y: device.upload(y)?, z: device.upload(z)? }),
        }
    }

    fn points(&self) -> PointsBuffers<'_> {
        PointsBuffers { x: &self.x, y: &self.y, z: &self.z }
    }
}

/// What one launch pairs.
struct Pairing<'a> {
    same: bool,
    first: &'a Set,
    second: &'a Set,
    edges: &'a ConstantBuffer<[f32; EDGES]>,
    counts: &'a mut Buffer<u64>,
}

/// An input on a device.
pub struct Resident {
    galaxies: Set,
    random: Set,
    edges: ConstantBuffer<[f32; EDGES]>,
    used: usize,
    counts: [Buffer<u64>; 3],
}

impl Resident {
    /// Uploads an input. An `Err` where a point is not on the unit sphere, its coordinates are not three, or edges do not fall or are too many.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        let given = &input.edges;
        if given.len() > EDGES {
            return Err(Error::Input(format!("`edges` has {} elements: at most {EDGES} are possible", given.len())));
        }
        if let Some(k) = (0..given.len()).find(|k| !given[*k].is_finite() || (*k > 0 && given[*k] >= given[*k - 1])) {
            return Err(Error::Input(format!("edge {k} is {}: edges are cosines, each less than the one before", given[k])));
        }
        // No cosine is less than the edges that are not used.
        let mut edges = [f32::NEG_INFINITY; EDGES];
        edges[..given.len()].copy_from_slice(given);
        Ok(Resident {
            galaxies: Set::new(device, "galaxies", &input.galaxies)?,
            random: Set::new(device, "random", &input.random)?,
            edges: device.constant(edges)?,
            used: given.len() + 1,
            counts: [device.zeros(BINS)?, device.zeros(BINS)?, device.zeros(BINS)?],
        })
    }

    /// Sets all counts to 0, as they are at first.
    pub fn clear(&mut self) -> Result<()> {
        for counts in &mut self.counts {
            counts.clear()?;
        }
        Ok(())
    }

    fn each(&mut self, go: &mut dyn FnMut(Pairing<'_>) -> warpwright::Result<()>) -> warpwright::Result<()> {
        let [dd, dr, rr] = &mut self.counts;
        let sets =
            [(true, &self.galaxies, &self.galaxies, dd), (false, &self.galaxies, &self.random, dr), (true, &self.random, &self.random, rr)];
        for (same, first, second, counts) in sets {
            if !first.x.is_empty() && !second.x.is_empty() {
                go(Pairing { same, first, second, edges: &self.edges, counts })?;
            }
        }
        Ok(())
    }

    /// Adds all pairs to the counts, by three launches of the plain kernel; none for a set without points.
    pub fn run_direct(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.each(&mut |Pairing { same, first, second, edges, counts }| {
            go(pairs_direct(same, first.points(), second.points(), edges, counts).cover(first.x.len()))
        })
    }

    /// Adds all pairs to the counts, by three launches; none for a set without points.
    pub fn run<const B: usize, const OWN: usize, const SETS: usize, const LANES: usize>(
        &mut self,
        go: &mut Go<'_>,
    ) -> warpwright::Result<()> {
        self.each(&mut |Pairing { same, first, second, edges, counts }| {
            let grid = (first.x.len().div_ceil(B * OWN), second.x.len().div_ceil(SPAN));
            go(pairs::<B, OWN, SETS, LANES>(same, first.points(), second.points(), edges, counts).grid(grid))
        })
    }

    /// The counts of all runs since the start, or since they were cleared.
    pub fn result(&self) -> Result<Counts> {
        let [galaxies, mixed, random] = &self.counts;
        let used = |counts: &Buffer<u64>| -> Result<Vec<u64>> { Ok(counts.download()?[..self.used].to_vec()) };
        Ok(Counts { galaxies: used(galaxies)?, mixed: used(mixed)?, random: used(random)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Run = fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()>;

    const FORMS: [(&str, Run); 4] = [
        ("direct", Resident::run_direct),
        ("one histogram a block", Resident::run::<128, 1, 1, 1>),
        ("one a warp", Resident::run::<128, 2, 4, 1>),
        ("one a lane", Resident::run::<256, 4, 1, 32>),
    ];

    fn run(device: &Device, input: &Input, run: Run) -> Result<Counts> {
        let mut resident = Resident::new(device, input)?;
        run(&mut resident, &mut |launch| launch.launch(device))?;
        resident.result()
    }

    #[test]
    fn every_form_counts_every_pair_of_any_number_of_points() {
        for (galaxies, random) in [(0, 0), (1, 0), (0, 2), (1, 1), (33, 130), (260, 7)] {
            let input = Input::new(5, galaxies, random);
            let expected = input.reference();
            assert_eq!(expected.galaxies.iter().sum::<u64>() as usize, galaxies * galaxies.saturating_sub(1) / 2);
            assert_eq!(expected.mixed.iter().sum::<u64>() as usize, galaxies * random);
            assert_eq!(input.one_core(0..galaxies + random), expected);
            for (name, form) in FORMS {
                let found = run(&Device::simulator(), &input, form).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(found, expected, "{name}, {galaxies} and {random}");
            }
        }
        let input = Input::new(6, 20, 140);
        for (name, form) in FORMS {
            assert_eq!(run(&Device::host(), &input, form), Ok(input.reference()), "{name} on the host twin");
        }
    }

    #[test]
    fn pairs_beyond_a_span_are_another_blocks() {
        let mut input = Input::new(7, 3, SPAN + 300);
        input.random.x.truncate(SPAN + 300);
        let mut resident = Resident::new(&Device::host(), &input).expect("it is right");
        let expected = input.one_core(0..SPAN + 303);
        // The mixed pairs only, whose second set has two spans.
        resident
            .each(&mut |Pairing { same, first, second, edges, counts }| match same {
                true => Ok(()),
                false => pairs::<128, 1, 1, 1>(same, first.points(), second.points(), edges, counts).grid((1, 2)).launch(&Device::host()),
            })
            .expect("it runs");
        assert_eq!(resident.result().expect("it is there").mixed, expected.mixed);
    }

    /// Random points have sin θ dθ / 2 of their pairs at the angle θ; counts differ from that as chance makes them.
    #[test]
    fn random_points_are_as_far_apart_as_chance_has_them_and_galaxies_crowd() {
        let input = Input::new(8, 480, 1_500);
        let counts = input.one_core(0..1_980);
        let pairs = 1_500.0 * 1_499.0 / 2.0;
        for (k, count) in counts.random.iter().enumerate() {
            let upper = if k == 0 { 1.0 } else { f64::from(input.edges[k - 1]) };
            let lower = input.edges.get(k).map_or(-1.0, |edge| f64::from(*edge));
            let expected = pairs * (upper - lower) / 2.0;
            // Pairs of independent points are independent in pairs, so the variance is that of a count of as many throws; six times its root.
            assert!((*count as f64 - expected).abs() <= 6.0 * expected.sqrt() + 6.0, "bin {k}: {count}, expected {expected}");
        }
        let correlation = counts.correlation(480, 1_500);
        // Clusters of two degrees: far above chance at one degree (bins 4 to 6), little beyond 46 (bins 17 and 18), where pairs of 20 clusters are as
        // chance has them: a hundred or so in a bin.
        assert!(correlation[4..7].iter().all(|w| *w > 10.0) && correlation[17..19].iter().all(|w| w.abs() < 0.3), "{correlation:?}");
    }

    #[test]
    fn a_cosine_at_an_edge_belongs_to_the_closer_bin() {
        let point = |x: &[f32], y: &[f32]| Sphere { x: x.to_vec(), y: y.to_vec(), z: vec![0.0; x.len()] };
        let input = Input {
            galaxies: point(&[1.0], &[0.0]),
            random: point(&[1.0, 0.6, 0.0, -1.0], &[0.0, 0.8, 1.0, 0.0]),
            edges: vec![1.0, 0.6, 0.0],
        };
        for (name, form) in FORMS {
            let found = run(&Device::simulator(), &input, form).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(found.mixed, [1, 1, 1, 1], "{name}");
        }
    }

    #[test]
    fn runs_add_up_until_they_are_cleared() {
        let (device, input) = (Device::simulator(), Input::new(9, 10, 10));
        let mut resident = Resident::new(&device, &input).expect("it is right");
        let expected = input.reference();
        for times in [1, 2] {
            resident.run::<128, 1, 1, 1>(&mut |launch| launch.launch(&device)).expect("it runs");
            let doubled: Vec<u64> = expected.mixed.iter().map(|count| count * times).collect();
            assert_eq!(resident.result().expect("it is there").mixed, doubled);
        }
        resident.clear().expect("it clears");
        assert_eq!(resident.result().expect("it is there").mixed, vec![0; 20]);
    }

    #[test]
    fn what_is_no_point_and_what_is_no_edge_is_refused() {
        let refused = |change: fn(&mut Input)| {
            let mut input = Input::new(2, 8, 6);
            change(&mut input);
            Resident::new(&Device::simulator(), &input).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(refused(|_| ()), "");
        assert_eq!(refused(|input| input.galaxies.y.truncate(7)), "`galaxies` has 8, 7 and 8 coordinates: make them as many");
        assert_eq!(
            refused(|input| input.random.x[5] = f32::NAN),
            "point 5 of `random` is NaN from the centre: it must be 1 to a thousandth"
        );
        assert!(refused(|input| input.random.x[0] = 3.0).starts_with("point 0 of `random` is 3"));
        assert_eq!(refused(|input| input.edges[3] = input.edges[2]).split(':').next(), Some("edge 3 is 0.9999804"));
        assert!(refused(|input| input.edges[0] = f32::NAN).starts_with("edge 0 is NaN"));
        assert_eq!(refused(|input| input.edges = vec![0.5; 32]), "`edges` has 32 elements: at most 31 are possible");
        assert_eq!(refused(|input| input.edges.clear()), "");
    }
}
