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

mod input;
#[cfg(test)]
mod tests;

use super::declared::axis;
use super::{Declared, Error, Go, Result};
pub use input::{Counts, Input, Sphere};
use warpwright::prelude::*;
use warpwright::{Buffer, ConstantBuffer, Device, Variant};

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
#[kernel(block = 128, contract = false, allow(constant_divergence))]
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

/// [`pairs`] of any generics.
type Tiled = for<'a> fn(bool, PointsBuffers<'a>, PointsBuffers<'a>, &'a ConstantBuffer<[f32; EDGES]>, &'a mut Buffer<u64>) -> Launch<'a>;

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
        self.by_tiles(pairs::<B, OWN, SETS, LANES>, B * OWN, go)
    }

    /// Three launches of a kernel whose blocks have so many points of the first set each.
    fn by_tiles(&mut self, kernel: Tiled, own: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.each(&mut |Pairing { same, first, second, edges, counts }| {
            let grid = (first.x.len().div_ceil(own), second.x.len().div_ceil(SPAN));
            go(kernel(same, first.points(), second.points(), edges, counts).grid(grid))
        })
    }

    /// The counts of all runs since the start, or since they were cleared.
    pub fn result(&self) -> Result<Counts> {
        let [galaxies, mixed, random] = &self.counts;
        let used = |counts: &Buffer<u64>| -> Result<Vec<u64>> { Ok(counts.download()?[..self.used].to_vec()) };
        Ok(Counts { galaxies: used(galaxies)?, mixed: used(mixed)?, random: used(random)? })
    }
}

/// The declared variants of [`pairs`].
pub fn declared() -> Vec<Declared<Resident>> {
    let run = |r: &mut Resident, variant: &Variant<Tiled>, go: &mut Go<'_>| {
        r.by_tiles(variant.kernel(), axis(variant, "B") * axis(variant, "OWN"), go)
    };
    Declared::each(pairs_variants(), |_| (), run).collect()
}
