//! CP, the electric potential on a slice of a regular grid: at each point the sum of q/r over all atoms (direct Coulomb summation), as programs
//! of molecular dynamics need it to place ions.
//!
//! Nine operations an atom and point, one of them a reciprocal square root, and 4 bytes written a point: arithmetic is all there is. Every thread reads the same
//! atom at the same time, which is what constant memory is for; it holds 4,000 atoms, so more are added launch by launch. The
//! document gives 102 times one core, 20 registers, instruction issue as the bottleneck.
//!
//! [`potential_direct`] is what one writes first: atoms in global memory, a root and a division. [`potential`] takes them from constant memory and uses the hardware's
//! reciprocal root. `P` points a thread share an atom and its dy² + dz², which `ilp` alone does: 9 operations become 6 and a `P`-th of
//! three. `U` atoms a turn share the loop's counting.
//!
//! [`potential_cached`] does the same from global memory, all atoms in one launch. Warps that are at different atoms want more of them at a time than the 2 KB that the
//! constant cache's first level holds; the L1 cache of global memory holds most of them all, and gives 16 bytes at a time.

use super::{Declared, Error, Go, Result};
use std::ops::Range;
use warpwright::prelude::*;
use warpwright::{Buffer, ConstantBuffer, Device};

/// Atoms of a launch: as many as constant memory has room for, in a multiple of all `U`.
pub const CHUNK: usize = 4_000;

/// What an unrolled loop may read beyond the last atom: no charge, and not at a distance of 0, whose reciprocal times 0 is no number.
const NOTHING: [f32; 4] = [0.0, 0.0, 1.0, 0.0];

/// Atoms in this many are a multiple of all `U`.
const GROUP: usize = 4;

/// `potential` ← Σ q/r over `atoms`, each x, y, (z - z of the slice)², q.
#[kernel(block = (32, 8))]
pub fn potential_direct(width: usize, height: usize, spacing: f32, atoms: &Global<[f32; 4]>, potential: &mut Global<f32>) {
    let Dim3 { x, y, .. } = global_id();
    if x < width && y < height {
        let (px, py) = (x as f32 * spacing, y as f32 * spacing);
        let mut sum = 0.0;
        for a in 0..atoms.len() {
            let [ax, ay, zz, q] = atoms[a];
            let (dx, dy) = (ax - px, ay - py);
            sum += q / (dx * dx + dy * dy + zz).sqrt();
        }
        potential[y * width + x] = sum;
    }
}

/// The same of the first `count` of a chunk of atoms, `count` a multiple of `U`; what is there already is added to where `add` says so.
#[kernel(block = (BX, 4), ilp = P, variants(BX in [32, 64], P in [1, 4, 8], U in [1, 4]))]
pub fn potential<const BX: usize, const P: usize, const U: usize>(
    width: usize,
    height: usize,
    spacing: f32,
    atoms: &Constant<[[f32; 4]; CHUNK]>,
    count: usize,
    add: bool,
    potential: &mut Global<f32>,
) {
    let Dim3 { x, y, .. } = global_id();
    if x < width && y < height {
        let (px, py) = (x as f32 * spacing, y as f32 * spacing);
        let at = y * width + x;
        let mut sum = if add { potential[at] } else { 0.0 };
        for first in (0..count).step_by(U) {
            #[unroll]
            for k in 0..U {
                let [ax, ay, zz, q] = atoms[first + k];
                let (dx, dy) = (ax - px, ay - py);
                // In this order the points of a thread, which lie in a row, have all but dx² in common.
                sum += q * native_rsqrt(dx * dx + (dy * dy + zz));
            }
        }
        potential[at] = sum;
    }
}

/// The same of all atoms, from global memory through the L1 cache: of each x, y, (z - z of the slice)², q, 4 · `U` numbers at a time.
#[kernel(block = (BX, 4), ilp = P, variants(BX in [32, 64], P in [1, 4, 8], U in [1, 4]))]
pub fn potential_cached<const BX: usize, const P: usize, const U: usize>(
    width: usize,
    height: usize,
    spacing: f32,
    atoms: &Global<f32>,
    potential: &mut Global<f32>,
) {
    let Dim3 { x, y, .. } = global_id();
    if x < width && y < height {
        let (px, py) = (x as f32 * spacing, y as f32 * spacing);
        let mut sum = 0.0;
        for first in (0..atoms.len()).step_by(4 * U) {
            #[unroll]
            for k in 0..U {
                let [ax, ay, zz, q] = atoms.load::<4>(first + 4 * k);
                let (dx, dy) = (ax - px, ay - py);
                sum += q * native_rsqrt(dx * dx + (dy * dy + zz));
            }
        }
        potential[y * width + x] = sum;
    }
}

/// Atoms, and the grid on which their potential is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// x, y, z in ångström and the charge in units of the elementary one.
    pub atoms: Vec<[f32; 4]>,
    /// Points in x.
    pub width: usize,
    /// Points in y.
    pub height: usize,
    /// Between neighbours of the grid, in ångström. Its first point is at x = y = 0.
    pub spacing: f32,
    /// Where the slice lies.
    pub z: f32,
}

impl Input {
    /// So many atoms anywhere in a box as wide and high as the grid and as deep as it is wide, with the slice in its middle. Each second atom has the opposite
    /// charge of the one before, so that an even number is neutral.
    pub fn new(seed: u64, atoms: usize, width: usize, height: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let spacing = 0.5;
        let (wide, high) = (width as f32 * spacing, height as f32 * spacing);
        let mut charge = 0.0;
        let mut atom = |i| {
            charge = if i % 2 == 0 { 0.1 + 0.9 * random.f32() } else { -charge };
            [wide * random.f32(), high * random.f32(), wide * random.f32(), charge]
        };
        Input { atoms: (0..atoms).map(&mut atom).collect(), width, height, spacing, z: wide / 2.0 }
    }

    /// The potential of all points, row by row, in elementary charges by ångström, in double precision. Where an atom with a charge lies on a point it is
    /// infinite, with the sign of the charge; where two lie there whose charges have opposite signs it is no number.
    pub fn reference(&self) -> Vec<f64> {
        self.each_point(|atoms, px, py| atoms.iter().map(|&[x, y, z, q]| q / (x - px).hypot(y - py).hypot(z)).sum())
    }

    /// How far a result in single precision may be from the reference, for each point.
    ///
    /// With u = 2⁻²⁴, a distance in x is wrong by u of the point's x and u of itself. So 1/r is wrong by
    /// u · Σ(|d| · (|p| + |d|))/r² relative to itself for its x and y, by 2 u for the sum of the squares, by at most 4 u for the root. A product is wrong by one u, and
    /// each of n sums by u of Σ|q|/r at most. A tenth more is for what is of second order.
    pub fn error_bound(&self) -> Vec<f64> {
        let unit = f64::from(f32::EPSILON) / 2.0;
        let others = (self.atoms.len() + 7) as f64;
        self.each_point(|atoms, px, py| {
            let of_atom = |&[x, y, z, q]: &[f64; 4]| {
                let (dx, dy) = ((x - px).abs(), (y - py).abs());
                let squares = dx * dx + dy * dy + z * z;
                q.abs() / squares.sqrt() * ((dx * (px + dx) + dy * (py + dy)) / squares + others)
            };
            1.1 * unit * atoms.iter().map(of_atom).sum::<f64>()
        })
    }

    /// What `value` says of each point, given atoms relative to the slice and the point's x and y.
    fn each_point(&self, value: impl Fn(&[[f64; 4]], f64, f64) -> f64) -> Vec<f64> {
        let charged = self.atoms.iter().filter(|atom| atom[3] != 0.0).map(|atom| atom.map(f64::from));
        let atoms: Vec<[f64; 4]> = charged.map(|[x, y, z, q]| [x, y, z - f64::from(self.z), q]).collect();
        let at = |i: usize| i as f64 * f64::from(self.spacing);
        let rows = 0..self.height;
        rows.flat_map(|y| (0..self.width).map(move |x| (x, y))).map(|(x, y)| value(&atoms, at(x), at(y))).collect()
    }

    /// What one core does for some of the rows: the points of a row are next to each other in the inner loop, so that a compiler makes vectors of them.
    pub fn one_core(&self, rows: Range<usize>) -> Vec<f32> {
        let atoms = self.flattened();
        let xs: Vec<f32> = (0..self.width).map(|x| x as f32 * self.spacing).collect();
        let mut potential = vec![0.0; rows.len() * self.width];
        // A width of 0 has no rows; `chunks_mut` wants at least 1.
        for (row, y) in potential.chunks_mut(self.width.max(1)).zip(rows) {
            let py = y as f32 * self.spacing;
            for [ax, ay, zz, q] in &atoms {
                let rest = (ay - py) * (ay - py) + zz;
                for (sum, px) in row.iter_mut().zip(&xs) {
                    let dx = ax - px;
                    *sum += q / (dx * dx + rest).sqrt();
                }
            }
        }
        potential
    }

    /// The atoms that have a charge, as the kernels want them: with the square of their distance from the slice in the place of z.
    fn flattened(&self) -> Vec<[f32; 4]> {
        let flat = |&[x, y, z, q]: &[f32; 4]| [x, y, (f64::from(z) - f64::from(self.z)).powi(2) as f32, q];
        self.atoms.iter().filter(|atom| atom[3] != 0.0).map(flat).collect()
    }

    fn check(&self) -> Result<()> {
        if let Some(i) = self.atoms.iter().position(|atom| atom.iter().any(|v| !v.is_finite())) {
            return Err(Error::Input(format!("atom {i} is {:?}: give it a finite place and a finite charge", self.atoms[i])));
        }
        if !(self.spacing > 0.0 && self.spacing.is_finite() && self.z.is_finite()) {
            let (spacing, z) = (self.spacing, self.z);
            return Err(Error::Input(format!("the grid's spacing is {spacing}, its z {z}: make both finite, and the spacing more than 0")));
        }
        match self.width.checked_mul(self.height) {
            Some(_) => Ok(()),
            None => Err(Error::Input(format!("a grid of {} by {} points is more than can be counted", self.width, self.height))),
        }
    }
}

/// [`potential`] of any generics.
type OfChunk = for<'a> fn(usize, usize, f32, &'a ConstantBuffer<[[f32; 4]; CHUNK]>, usize, bool, &'a mut Buffer<f32>) -> Launch<'a>;

/// [`potential_cached`] of any generics.
type OfAll = for<'a> fn(usize, usize, f32, &'a Buffer<f32>, &'a mut Buffer<f32>) -> Launch<'a>;

/// A chunk of atoms in constant memory.
struct Chunk {
    atoms: ConstantBuffer<[[f32; 4]; CHUNK]>,
    /// How many of them count.
    count: usize,
}

/// An input on a device.
pub struct Resident {
    width: usize,
    height: usize,
    spacing: f32,
    atoms: Buffer<[f32; 4]>,
    /// The same, number by number, as many atoms as are a multiple of [`GROUP`].
    numbers: Buffer<f32>,
    chunks: Vec<Chunk>,
    potential: Buffer<f32>,
}

impl Resident {
    /// Uploads an input. Atoms without a charge are left out. An `Err` where an atom or the grid is not finite.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        input.check()?;
        let atoms = input.flattened();
        let mut chunks = Vec::new();
        // Without any atom there is one chunk of none, which writes zeros.
        for at in (0..atoms.len().max(1)).step_by(CHUNK) {
            let mut chunk = atoms[at..atoms.len().min(at + CHUNK)].to_vec();
            let count = chunk.len().next_multiple_of(GROUP);
            chunk.resize(CHUNK, NOTHING);
            chunks.push(Chunk { atoms: device.constant_from_slice(&chunk)?, count });
        }
        let mut padded = atoms.clone();
        padded.resize(atoms.len().next_multiple_of(GROUP), NOTHING);
        Ok(Resident {
            width: input.width,
            height: input.height,
            spacing: input.spacing,
            atoms: device.upload(&atoms)?,
            numbers: device.upload(padded.as_flattened())?,
            chunks,
            potential: device.zeros(input.width * input.height)?,
        })
    }

    /// The plain kernel: one launch, none where the grid has no points.
    pub fn run_direct(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        if self.potential.is_empty() {
            return Ok(());
        }
        let grid = (self.width, self.height);
        go(potential_direct(self.width, self.height, self.spacing, &self.atoms, &mut self.potential).cover(grid))
    }

    /// A launch for each chunk of atoms: the first writes, the others add, so that it may run again. None where the grid has no points.
    pub fn run<const BX: usize, const P: usize, const U: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        const { assert!(GROUP.is_multiple_of(U)) };
        self.by_chunks(potential::<BX, P, U>, go)
    }

    fn by_chunks(&mut self, kernel: OfChunk, go: &mut Go<'_>) -> warpwright::Result<()> {
        if self.potential.is_empty() {
            return Ok(());
        }
        let grid = (self.width, self.height);
        for (number, Chunk { atoms, count }) in self.chunks.iter().enumerate() {
            let (width, height, spacing) = (self.width, self.height, self.spacing);
            go(kernel(width, height, spacing, atoms, *count, number > 0, &mut self.potential).cover(grid))?;
        }
        Ok(())
    }

    /// [`potential_cached`]: one launch, none where the grid has no points.
    pub fn run_cached<const BX: usize, const P: usize, const U: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        const { assert!(GROUP.is_multiple_of(U)) };
        self.at_once(potential_cached::<BX, P, U>, go)
    }

    fn at_once(&mut self, kernel: OfAll, go: &mut Go<'_>) -> warpwright::Result<()> {
        if self.potential.is_empty() {
            return Ok(());
        }
        let (width, height, spacing) = (self.width, self.height, self.spacing);
        go(kernel(width, height, spacing, &self.numbers, &mut self.potential).cover((width, height)))
    }

    /// The potential as it is by now, row by row.
    pub fn result(&self) -> Result<Vec<f32>> {
        Ok(self.potential.download()?)
    }

    /// Where the atoms lie that the kernels are given, without their padding: x, y, (z - z of the slice)², q.
    pub fn atoms(&self) -> &Buffer<[f32; 4]> {
        &self.atoms
    }
}

/// The declared variants of [`potential`] and of [`potential_cached`].
pub fn declared() -> Vec<Declared<Resident>> {
    let by_chunks = Declared::each(potential_variants(), |_| (), |r: &mut Resident, variant, go| r.by_chunks(variant.kernel(), go));
    let at_once = Declared::each(potential_cached_variants(), |_| (), |r: &mut Resident, variant, go| r.at_once(variant.kernel(), go));
    by_chunks.chain(at_once).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of a plain and two tuned kernels on the simulator, and of one core.
    fn run(input: &Input) -> Result<[Vec<f32>; 4]> {
        let device = Device::simulator();
        let mut resident = Resident::new(&device, input)?;
        let mut go = |launch: Launch<'_>| launch.launch(&device);
        resident.run_direct(&mut go)?;
        let direct = resident.result()?;
        resident.run::<32, 4, 4>(&mut go)?;
        resident.run::<32, 4, 4>(&mut go)?; // A run after another gives the same.
        let tuned = resident.result()?;
        resident.run_cached::<32, 8, 4>(&mut go)?;
        let cached = resident.result()?;
        Ok([direct, tuned, cached, input.one_core(0..input.height)])
    }

    fn assert_close(input: &Input, name: &str) {
        let (expected, bounds) = (input.reference(), input.error_bound());
        for (which, found) in run(input).unwrap_or_else(|error| panic!("{name}: {error}")).iter().enumerate() {
            assert_within(&format!("{name}, {which}"), found, &expected, &bounds);
        }
    }

    fn assert_within(name: &str, found: &[f32], expected: &[f64], bounds: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{name}");
        for (i, ((e, f), bound)) in expected.iter().zip(found).zip(bounds).enumerate() {
            assert!((e - f64::from(*f)).abs() <= *bound, "{name}: point {i} is {f}, expected {e} within {bound:e}");
        }
    }

    #[test]
    fn every_declared_variant_is_right_on_a_grid_that_fits_no_block() {
        // A block is 512 points wide at most: all points of its threads are there, and of the next one's some.
        let input = Input::new(12, 6, 531, 3);
        let (expected, bounds) = (input.reference(), input.error_bound());
        for device in crate::apps::devices() {
            let mut resident = Resident::new(&device, &input).expect("it is right");
            let go = &mut |launch: Launch<'_>| launch.launch(&device);
            for declared in declared() {
                declared.run(&mut resident, go).unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
                assert_within(&format!("{declared} on {device}"), &resident.result().expect("it is there"), &expected, &bounds);
                resident.potential.clear().expect("it clears");
            }
        }
    }

    #[test]
    fn every_size_is_right_from_nothing_on() {
        for (atoms, width, height) in
            [(0, 3, 2), (1, 1, 1), (7, 33, 3), (2, 257, 1), (3, 1, 9), (5, 0, 4), (5, 4, 0), (CHUNK, 2, 1), (CHUNK + 1, 3, 1)]
        {
            assert_close(&Input::new(11, atoms, width, height), &format!("{atoms} atoms, {width} by {height} points"));
        }
    }

    #[test]
    fn a_unit_charge_has_the_potential_of_its_distance() {
        // Points 0, 3, 6, 9 in x and y, the atom over the first of them at 4: distances of 4, 5, …
        let input = Input { atoms: vec![[0.0, 0.0, 6.0, 1.0]], width: 4, height: 4, spacing: 3.0, z: 2.0 };
        for found in run(&input).expect("it runs") {
            assert!((found[0] - 0.25).abs() < 1e-7 && (found[1] - 0.2).abs() < 1e-7 && (found[4] - 0.2).abs() < 1e-7, "{found:?}");
        }
        assert_close(&input, "a unit charge");
    }

    #[test]
    fn an_atom_on_a_point_makes_it_infinite() {
        let at = |x, y, q| [x, y, 2.0, q];
        // On points 1, 3 and 4; on 4 two that are opposite; on 0 one without a charge.
        let atoms = vec![at(0.0, 0.0, 0.0), at(0.5, 0.0, 1.0), at(0.0, 0.5, -1.0), at(0.5, 0.5, 1.0), at(0.5, 0.5, -1.0)];
        let input = Input { atoms, width: 3, height: 2, spacing: 0.5, z: 2.0 };
        let reference = input.reference();
        let [direct, tuned, cached, core] = run(&input).expect("it runs");
        for found in [direct, tuned, cached, core, reference.iter().map(|v| *v as f32).collect()] {
            assert_eq!((found[1], found[3]), (f32::INFINITY, f32::NEG_INFINITY));
            assert!(found[4].is_nan());
            assert!([0, 2, 5].iter().all(|&i| (f64::from(found[i]) - reference[i]).abs() < 1e-5), "{found:?}");
        }
    }

    #[test]
    fn half_of_the_charges_cancel_the_others() {
        let input = Input::new(3, 1_000, 8, 8);
        assert_eq!(input.atoms.iter().map(|atom| f64::from(atom[3])).sum::<f64>(), 0.0);
        assert!(input.atoms.iter().any(|atom| atom[3] > 0.5) && input.atoms.iter().any(|atom| atom[3] < -0.5));
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let message = |input: &Input| run(input).expect_err("it is refused").to_string();
        let input = Input::new(1, 2, 4, 4);
        let mut broken = input.clone();
        broken.atoms[1] = [1.0, f32::NAN, 2.0, 1.0];
        assert_eq!(message(&broken), "atom 1 is [1.0, NaN, 2.0, 1.0]: give it a finite place and a finite charge");
        let broken = Input { spacing: 0.0, z: 1.0, ..input.clone() };
        assert_eq!(message(&broken), "the grid's spacing is 0, its z 1: make both finite, and the spacing more than 0");
        let broken = Input { width: usize::MAX, height: 2, ..input };
        assert_eq!(message(&broken), format!("a grid of {} by 2 points is more than can be counted", usize::MAX));
    }
}
