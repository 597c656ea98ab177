//! LBM: a fluid by the lattice Boltzmann method, in three dimensions with 19 velocities (D3Q19), relaxing to equilibrium at one rate (BGK), among obstacles that throw
//! back what meets them, driven by a force, through a box that is periodic on all sides.
//!
//! A cell and step read and write 19 numbers, and read which neighbours are obstacles: 156 bytes for about 250 operations. Memory's bandwidth is the limit
//! where accesses are coalesced, so layout is everything. The document gives 12.5 times one core, 32 registers, and shared memory's capacity as the
//! bottleneck: devices of that time coalesced nothing that did not begin at a multiple of 64 bytes, so all shifts along x went through shared memory.
//!
//! * [`structures`]: an array of structures, the 19 numbers of a cell together, as one has it on a processor. Each access of a warp meets 32 sectors.
//! * [`arrays`]: a structure of arrays. A cell pulls what flows to it: stores are aligned, and those of the loads that are shifted along x fetch one sector
//!   more than they need. With `EAGER` all loads go out at once, and what comes out of obstacles is mended after; without, each waits to know where from.
//! * [`staged`]: the document's form. Loads are aligned, too, and the ten shifted directions change threads in shared memory.
//!
//! Every form goes from one set of distributions to another.

use super::{Error, Go, Result};
use warpwright::prelude::*;
use warpwright::{Buffer, Device};

/// Velocities.
pub const Q: usize = 19;

/// The box, and what the fluid in it is like. Rows have a pitch that is a multiple of 32 cells.
#[device]
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Lattice {
    /// Cells in x.
    pub nx: usize,
    /// Cells in y.
    pub ny: usize,
    /// Cells in z.
    pub nz: usize,
    /// Cells from a row to the next.
    pub pitch: usize,
    /// How much of the way to equilibrium a step goes: 1/τ.
    pub omega: f32,
    /// By how much the force moves the equilibrium's velocity: τ·g.
    pub push: [f32; 3],
}

#[device]
impl Lattice {
    /// Where a cell lies.
    pub fn at(&self, x: usize, y: usize, z: usize) -> usize {
        (z * self.ny + y) * self.pitch + x
    }

    /// Cells in memory.
    pub fn cells(&self) -> usize {
        self.nz * self.ny * self.pitch
    }

    /// The column before `x`, round the box.
    pub fn left(&self, x: usize) -> usize {
        if x == 0 { self.nx - 1 } else { x - 1 }
    }

    /// The column behind `x`, round the box.
    pub fn right(&self, x: usize) -> usize {
        if x + 1 == self.nx { 0 } else { x + 1 }
    }

    /// Where what flows to a cell comes from, of each velocity: 0, then pairs of opposite ones along x, y, z, the diagonals of xy, of xz, of yz. The columns
    /// are `l` for velocities to the right, `x`, and `r` for those to the left.
    pub fn sources(&self, l: usize, x: usize, r: usize, y: usize, z: usize) -> [usize; 19] {
        let (d, u) = (if y == 0 { self.ny - 1 } else { y - 1 }, if y + 1 == self.ny { 0 } else { y + 1 });
        let (b, f) = (if z == 0 { self.nz - 1 } else { z - 1 }, if z + 1 == self.nz { 0 } else { z + 1 });
        [
            self.at(x, y, z),
            self.at(l, y, z),
            self.at(r, y, z),
            self.at(x, d, z),
            self.at(x, u, z),
            self.at(x, y, b),
            self.at(x, y, f),
            self.at(l, d, z),
            self.at(r, u, z),
            self.at(l, u, z),
            self.at(r, d, z),
            self.at(l, y, b),
            self.at(r, y, f),
            self.at(l, y, f),
            self.at(r, y, b),
            self.at(x, d, b),
            self.at(x, u, f),
            self.at(x, d, f),
            self.at(x, u, b),
        ]
    }

    /// What is in a cell after collisions.
    pub fn collide(&self, f: [f32; 19]) -> [f32; 19] {
        let east = f[1] + f[7] + f[9] + f[11] + f[13];
        let west = f[2] + f[8] + f[10] + f[12] + f[14];
        let density = f[0] + f[3] + f[4] + f[5] + f[6] + f[15] + f[16] + f[17] + f[18] + east + west;
        let part = 1.0 / density;
        let ux = (east - west) * part + self.push[0];
        let uy = (f[3] - f[4] + f[7] - f[8] + f[10] - f[9] + f[15] - f[16] + f[17] - f[18]) * part + self.push[1];
        let uz = (f[5] - f[6] + f[11] - f[12] + f[14] - f[13] + f[15] - f[16] + f[18] - f[17]) * part + self.push[2];
        let base = 1.0 - 1.5 * (ux * ux + uy * uy + uz * uz);
        let along = [ux, uy, uz, ux + uy, ux - uy, ux + uz, ux - uz, uy + uz, uy - uz];
        let share = self.omega * density;
        let keep = 1.0 - self.omega;
        let mut out = [0.0f32; 19];
        out[0] = keep * f[0] + share * (1.0 / 3.0) * base;
        #[unroll]
        for pair in 0..9usize {
            let weight = share * (if pair < 3 { 1.0 / 18.0 } else { 1.0 / 36.0 });
            let even = weight * (base + 4.5 * (along[pair] * along[pair]));
            let odd = weight * (3.0 * along[pair]);
            out[2 * pair + 1] = keep * f[2 * pair + 1] + (even + odd);
            out[2 * pair + 2] = keep * f[2 * pair + 2] + (even - odd);
        }
        out
    }
}

/// The velocity opposite to `i`.
#[device]
fn back(i: usize) -> usize {
    if i == 0 { 0 } else { ((i - 1) ^ 1) + 1 }
}

/// A step on an array of structures. Bit i of `walls` says that what would come with velocity i comes from an obstacle, bit 0 that the cell is one.
/// Slow on purpose: lanes are 76 bytes apart.
#[kernel(block = 128, allow(uncoalesced_access))]
pub fn structures(lattice: Lattice, walls: &Global<u32>, before: &Global<f32>, after: &mut Global<f32>) {
    let (x, y, z) = (global_id().x, global_id().y, global_id().z);
    if x < lattice.nx {
        let here = lattice.at(x, y, z);
        let from = lattice.sources(lattice.left(x), x, lattice.right(x), y, z);
        let wall = walls[here];
        if wall & 1 == 0 {
            let mut f = [0.0f32; 19];
            #[unroll]
            for i in 0..Q {
                f[i] = before[if wall >> i & 1 == 1 { here * Q + back(i) } else { from[i] * Q + i }];
            }
            let out = lattice.collide(f);
            #[unroll]
            for i in 0..Q {
                after[here * Q + i] = out[i];
            }
        }
    }
}

/// A step on a structure of arrays.
#[kernel(block = B, variants(B in [64, 128, 256], EAGER in [false, true]))]
pub fn arrays<const B: usize, const EAGER: bool>(lattice: Lattice, walls: &Global<u32>, before: &Global<f32>, after: &mut Global<f32>) {
    let (x, y, z) = (global_id().x, global_id().y, global_id().z);
    if x < lattice.nx {
        let n = lattice.cells();
        let here = lattice.at(x, y, z);
        let from = lattice.sources(lattice.left(x), x, lattice.right(x), y, z);
        let mut f = [0.0f32; 19];
        let wall = walls[here];
        if EAGER {
            #[unroll]
            for i in 0..Q {
                f[i] = before[i * n + from[i]];
            }
            if wall != 0 {
                #[unroll]
                for i in 1..Q {
                    if wall >> i & 1 == 1 {
                        f[i] = before[back(i) * n + here];
                    }
                }
            }
        } else {
            #[unroll]
            for i in 0..Q {
                f[i] = before[if wall >> i & 1 == 1 { back(i) * n + here } else { i * n + from[i] }];
            }
        }
        if wall & 1 == 0 {
            let out = lattice.collide(f);
            #[unroll]
            for i in 0..Q {
                after[i * n + here] = out[i];
            }
        }
    }
}

/// A step on a structure of arrays, whose shifts along x go through shared memory: a thread reads at its own column what its neighbours need. Of what moves to
/// the right the block's last thread reads what comes in on the left, since what it would read leaves; and the other way round.
#[kernel(block = B, variants(B in [64, 128, 256]))]
pub fn staged<const B: usize>(lattice: Lattice, walls: &Global<u32>, before: &Global<f32>, after: &mut Global<f32>) {
    // The velocities with a part along x: 1, 2, and 7 to 14. Odd ones go to the right.
    #[shared]
    let mut rows: [[f32; B]; 10];
    let t = thread_idx().x;
    let (x, y, z) = (global_id().x, global_id().y, global_id().z);
    let first = block_idx().x * B;
    let last = (lattice.nx - first).min(B) - 1;
    let n = lattice.cells();
    let here = lattice.at(x, y, z);
    let mut f = [0.0f32; 19];
    let mut wall = 1u32;
    if t <= last {
        wall = walls[here];
        let rightwards = if t == last { lattice.left(first) } else { x };
        let leftwards = if t == 0 { lattice.right(first + last) } else { x };
        let from = lattice.sources(rightwards, x, leftwards, y, z);
        #[unroll]
        for i in 0..Q {
            f[i] = before[i * n + from[i]];
        }
        let (right, left) = (if t == last { 0 } else { t + 1 }, if t == 0 { last } else { t - 1 });
        #[unroll]
        for k in 0..10usize {
            rows[k][if k % 2 == 0 { right } else { left }] = f[if k < 2 { k + 1 } else { k + 5 }];
        }
    }
    sync_threads();
    if wall & 1 == 0 {
        #[unroll]
        for k in 0..10usize {
            f[if k < 2 { k + 1 } else { k + 5 }] = rows[k][t];
        }
        if wall != 0 {
            #[unroll]
            for i in 1..Q {
                if wall >> i & 1 == 1 {
                    f[i] = before[back(i) * n + here];
                }
            }
        }
        let out = lattice.collide(f);
        #[unroll]
        for i in 0..Q {
            after[i * n + here] = out[i];
        }
    }
}

/// Velocities of the model, in the order of [`Lattice::sources`].
pub const VELOCITIES: [[i32; 3]; Q] = [
    [0, 0, 0],
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1],
    [0, 0, -1],
    [1, 1, 0],
    [-1, -1, 0],
    [1, -1, 0],
    [-1, 1, 0],
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, -1],
    [0, 1, -1],
    [0, -1, 1],
];

/// The share of each velocity at rest.
fn weight(i: usize) -> f64 {
    match i {
        0 => 1.0 / 3.0,
        1..=6 => 1.0 / 18.0,
        _ => 1.0 / 36.0,
    }
}

/// What of density 1 has a velocity when all of it moves by `u` on average.
fn equilibrium(i: usize, u: [f64; 3]) -> f64 {
    let along: f64 = VELOCITIES[i].iter().zip(u).map(|(c, u)| f64::from(*c) * u).sum();
    let square: f64 = u.iter().map(|u| u * u).sum();
    weight(i) * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square)
}

/// Density and momentum of a cell's distribution.
pub fn moments(f: [f64; Q]) -> (f64, [f64; 3]) {
    let momentum = |axis: usize| f.iter().zip(&VELOCITIES).map(|(f, c)| f * f64::from(c[axis])).sum();
    (f.iter().sum(), [momentum(0), momentum(1), momentum(2)])
}

/// A box with obstacles, a fluid, and what drives it. Cells are numbered x first, then y, then z.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Cells in x.
    pub nx: usize,
    /// Cells in y.
    pub ny: usize,
    /// Cells in z.
    pub nz: usize,
    /// The time in which the fluid relaxes, in steps: above ½. Its viscosity is (τ - ½)/3.
    pub tau: f32,
    /// The acceleration that drives the fluid, in cells a step².
    pub force: [f32; 3],
    /// Whether a cell is an obstacle.
    pub solid: Vec<bool>,
    /// The velocity of the fluid in each cell at the start, in cells a step: well below 1/√3. Its density is 1.
    pub velocity: Vec<[f32; 3]>,
}

impl Input {
    /// A channel along x between two plates, with balls in it, the fluid in it pushed along and stirred a little.
    pub fn new(seed: u64, nx: usize, ny: usize, nz: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let n = nx * ny * nz;
        let radius = 0.12 * (nx.min(ny).min(nz).max(4) as f32);
        let extents = [nx, ny, nz].map(|extent| extent as f32);
        let balls: Vec<[f32; 3]> = (0..6).map(|_| extents.map(|extent| extent * random.f32())).collect();
        let place = |cell: usize| [cell % nx, cell / nx % ny, cell / nx / ny];
        let within = |cell: usize, ball: &[f32; 3]| {
            place(cell).iter().zip(ball).map(|(p, b)| (*p as f32 - b).powi(2)).sum::<f32>() < radius * radius
        };
        let plate = |cell: usize| ny > 2 && (place(cell)[1] == 0 || place(cell)[1] == ny - 1);
        let solid = (0..n).map(|cell| plate(cell) || balls.iter().any(|ball| within(cell, ball))).collect();
        let velocity = (0..n).map(|_| [0.05, 0.0, 0.0].map(|u| u + 0.02 * (random.f32() - 0.5))).collect();
        Input { nx, ny, nz, tau: 0.8, force: [1e-4, 0.0, 0.0], solid, velocity }
    }

    /// Where the flow to a cell with velocity `i` comes from.
    fn source(&self, cell: usize, i: usize) -> usize {
        let back = |place: usize, step: i32, extent: usize| (place as i64 - i64::from(step)).rem_euclid(extent as i64) as usize;
        let [cx, cy, cz] = VELOCITIES[i];
        let (x, y, z) = (cell % self.nx, cell / self.nx % self.ny, cell / self.nx / self.ny);
        (back(z, cz, self.nz) * self.ny + back(y, cy, self.ny)) * self.nx + back(x, cx, self.nx)
    }

    /// The start: the distributions of velocity 0 in all cells, then those of velocity 1, and so on; 0 in obstacles.
    pub fn start(&self) -> Vec<f32> {
        let one = |i: usize, cell: usize| if self.solid[cell] { 0.0 } else { equilibrium(i, self.velocity[cell].map(f64::from)) as f32 };
        (0..Q).flat_map(|i| (0..self.solid.len()).map(move |cell| one(i, cell))).collect()
    }

    /// Which of the velocities come to a cell from obstacles, a bit each; bit 0 if it is one.
    pub fn walls(&self) -> Vec<u32> {
        let bit = |cell: usize, i: usize| u32::from(self.solid[self.source(cell, i)]) << i;
        (0..self.solid.len()).map(|cell| (0..Q).fold(0, |bits, i| bits | bit(cell, i))).collect()
    }

    /// The distributions after `steps` steps in double precision, in the order of `start`.
    pub fn reference(&self, steps: usize) -> Vec<f64> {
        let n = self.solid.len();
        let mut before: Vec<f64> = self.start().iter().map(|f| f64::from(*f)).collect();
        let tau = f64::from(self.tau);
        for _ in 0..steps {
            let mut after = vec![0.0; Q * n];
            for cell in (0..n).filter(|cell| !self.solid[*cell]) {
                let pulled = |i: usize| {
                    let from = self.source(cell, i);
                    let opposite = || VELOCITIES.iter().position(|c| *c == VELOCITIES[i].map(|c| -c)).unwrap_or(0);
                    if self.solid[from] { before[opposite() * n + cell] } else { before[i * n + from] }
                };
                let f: [f64; Q] = std::array::from_fn(pulled);
                let (density, momentum) = moments(f);
                let u: [f64; 3] = std::array::from_fn(|axis| momentum[axis] / density + tau * f64::from(self.force[axis]));
                for i in 0..Q {
                    after[i * n + cell] = f[i] + (density * equilibrium(i, u) - f[i]) / tau;
                }
            }
            before = after;
        }
        before
    }

    /// What one core does in `steps` steps: a structure of arrays, sixteen cells of a row at a time so that the compiler makes vectors of them.
    pub fn one_core(&self, steps: usize) -> Vec<f32> {
        const LANES: usize = 16;
        let (n, nx) = (self.solid.len(), self.nx);
        let walls = self.walls();
        let omega = 1.0 / self.tau;
        let push = self.force.map(|g| self.tau * g);
        let mut before = self.start();
        let mut after = before.clone();
        for _ in 0..steps {
            for row in (0..n).step_by(nx) {
                // Where rows of velocity i come from: x is column 0 there, round the box.
                let rows: [usize; Q] = std::array::from_fn(|i| i * n + self.source(row, i) / nx * nx);
                for x in (0..nx).step_by(LANES) {
                    let count = LANES.min(nx - x);
                    let mut f = [[0.0f32; LANES]; Q];
                    for (i, f) in f.iter_mut().enumerate() {
                        let first = x as i64 - i64::from(VELOCITIES[i][0]);
                        if first >= 0 && first as usize + count <= nx {
                            f[..count].copy_from_slice(&before[rows[i] + first as usize..][..count]);
                        } else {
                            for (lane, f) in f[..count].iter_mut().enumerate() {
                                *f = before[rows[i] + (first + lane as i64).rem_euclid(nx as i64) as usize];
                            }
                        }
                    }
                    let walls = &walls[row + x..][..count];
                    for (lane, wall) in walls.iter().enumerate().filter(|(_, wall)| **wall != 0) {
                        for i in (1..Q).filter(|i| wall >> i & 1 == 1) {
                            f[i][lane] = before[(((i - 1) ^ 1) + 1) * n + row + x + lane];
                        }
                    }
                    let mut density = [0.0f32; LANES];
                    let mut u = [[0.0f32; LANES]; 3];
                    for (i, f) in f.iter().enumerate() {
                        for lane in 0..LANES {
                            density[lane] += f[lane];
                        }
                        for axis in 0..3 {
                            match VELOCITIES[i][axis] {
                                0 => {}
                                c => (0..LANES).for_each(|lane| u[axis][lane] += c as f32 * f[lane]),
                            }
                        }
                    }
                    let mut base = [1.0f32; LANES];
                    for axis in 0..3 {
                        for lane in 0..LANES {
                            u[axis][lane] = u[axis][lane] / density[lane] + push[axis];
                            base[lane] -= 1.5 * u[axis][lane] * u[axis][lane];
                        }
                    }
                    for (i, f) in f.iter().enumerate() {
                        let c = VELOCITIES[i].map(|c| c as f32);
                        let share = omega * weight(i) as f32;
                        let mut out = [0.0f32; LANES];
                        for lane in 0..LANES {
                            let along = c[0] * u[0][lane] + c[1] * u[1][lane] + c[2] * u[2][lane];
                            out[lane] = (1.0 - omega) * f[lane] + share * density[lane] * (base[lane] + along * (3.0 + 4.5 * along));
                        }
                        let place = &mut after[i * n + row + x..][..count];
                        for (lane, place) in place.iter_mut().enumerate() {
                            *place = if walls[lane] & 1 == 0 { out[lane] } else { 0.0 };
                        }
                    }
                }
            }
            std::mem::swap(&mut before, &mut after);
        }
        before
    }

    fn check(&self) -> Result<()> {
        let Input { nx, ny, nz, tau, .. } = *self;
        let refuse = |why: String| Err(Error::Input(why));
        if nx == 0 || ny == 0 || nz == 0 {
            return refuse(format!("the box has {nx} × {ny} × {nz} cells: it needs one at least"));
        }
        let cells = nx.checked_mul(ny).and_then(|n| n.checked_mul(nz));
        for (name, n) in [("solid", self.solid.len()), ("velocity", self.velocity.len())] {
            if cells != Some(n) {
                return refuse(format!("`{name}` has {n} elements, the box {nx} × {ny} × {nz} cells: make them as many"));
            }
        }
        if !tau.is_finite() || tau <= 0.5 {
            return refuse(format!("`tau` is {tau}: it must be above 0.5, where the viscosity is 0"));
        }
        if let Some(cell) = self.velocity.iter().position(|u| u.iter().any(|u| !u.is_finite())) {
            return refuse(format!("the velocity of cell {cell} is {:?}: it must be finite", self.velocity[cell]));
        }
        if self.force.iter().any(|g| !g.is_finite()) {
            return refuse(format!("the force is {:?}: it must be finite", self.force));
        }
        Ok(())
    }
}

impl Lattice {
    /// What the kernels know of an input.
    pub fn new(input: &Input) -> Lattice {
        let Input { nx, ny, nz, tau, force, .. } = *input;
        Lattice { nx, ny, nz, pitch: nx.next_multiple_of(32), omega: 1.0 / tau, push: force.map(|g| tau * g) }
    }

    /// Rows of the box as they lie in memory, a pitch apart.
    pub fn spread<T: Copy + Default>(&self, rows: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); rows.len() / self.nx * self.pitch];
        for (row, place) in rows.chunks_exact(self.nx).zip(out.chunks_exact_mut(self.pitch)) {
            place[..self.nx].copy_from_slice(row);
        }
        out
    }

    /// What lies in memory as rows of the box.
    pub fn gather<T: Copy>(&self, memory: &[T]) -> Vec<T> {
        memory.chunks_exact(self.pitch).flat_map(|row| &row[..self.nx]).copied().collect()
    }
}

/// How distributions lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Structures,
    Arrays,
}

/// A fluid on a device.
pub struct Resident {
    lattice: Lattice,
    layout: Layout,
    walls: Buffer<u32>,
    before: Buffer<f32>,
    after: Buffer<f32>,
}

/// A fluid on a device, the distributions of each cell together.
pub struct Structures(Resident);

impl Resident {
    /// Uploads an input as a structure of arrays. An `Err` where the box has no cells, a field is not as large as the box, a number is not finite, or `tau` is not above ½.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        Resident::laid_out(device, input, Layout::Arrays)
    }

    fn laid_out(device: &Device, input: &Input, layout: Layout) -> Result<Resident> {
        input.check()?;
        let lattice = Lattice::new(input);
        let mut start = lattice.spread(&input.start());
        let n = lattice.cells();
        if layout == Layout::Structures {
            start = (0..Q * n).map(|k| start[k % Q * n + k / Q]).collect();
        }
        // Nobody writes to obstacles, so what is there at the start is there in both.
        Ok(Resident {
            lattice,
            layout,
            walls: device.upload(&lattice.spread(&input.walls()))?,
            before: device.upload(&start)?,
            after: device.zeros(Q * n)?,
        })
    }

    /// Goes on by `steps` steps, a launch each.
    pub fn run<const B: usize, const EAGER: bool>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        for _ in 0..steps {
            let Lattice { nx, ny, nz, .. } = self.lattice;
            go(arrays::<B, EAGER>(self.lattice, &self.walls, &self.before, &mut self.after).cover((nx, ny, nz)))?;
            std::mem::swap(&mut self.before, &mut self.after);
        }
        Ok(())
    }

    /// Goes on by `steps` steps, a launch each, shifts along x through shared memory.
    pub fn run_staged<const B: usize>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        for _ in 0..steps {
            let Lattice { nx, ny, nz, .. } = self.lattice;
            go(staged::<B>(self.lattice, &self.walls, &self.before, &mut self.after).cover((nx, ny, nz)))?;
            std::mem::swap(&mut self.before, &mut self.after);
        }
        Ok(())
    }

    /// The distributions as they are by now, in the order of [`Input::start`].
    pub fn result(&self) -> Result<Vec<f32>> {
        let mut all = self.before.download()?;
        let n = self.lattice.cells();
        if self.layout == Layout::Structures {
            all = (0..Q * n).map(|k| all[k % n * Q + k / n]).collect();
        }
        Ok(self.lattice.gather(&all))
    }
}

impl Structures {
    /// Uploads an input as an array of structures; as [`Resident::new`].
    pub fn new(device: &Device, input: &Input) -> Result<Structures> {
        Ok(Structures(Resident::laid_out(device, input, Layout::Structures)?))
    }

    /// Goes on by `steps` steps, a launch each.
    pub fn run(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        let this = &mut self.0;
        for _ in 0..steps {
            let Lattice { nx, ny, nz, .. } = this.lattice;
            go(structures(this.lattice, &this.walls, &this.before, &mut this.after).cover((nx, ny, nz)))?;
            std::mem::swap(&mut this.before, &mut this.after);
        }
        Ok(())
    }

    /// The distributions as they are by now, in the order of [`Input::start`].
    pub fn result(&self) -> Result<Vec<f32>> {
        self.0.result()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Run = fn(&Device, &Input, usize) -> Result<Vec<f32>>;

    fn of_structures(device: &Device, input: &Input, steps: usize) -> Result<Vec<f32>> {
        let mut resident = Structures::new(device, input)?;
        resident.run(steps, &mut |launch| launch.launch(device))?;
        resident.result()
    }

    fn of_arrays<const B: usize, const EAGER: bool>(device: &Device, input: &Input, steps: usize) -> Result<Vec<f32>> {
        let mut resident = Resident::new(device, input)?;
        resident.run::<B, EAGER>(steps, &mut |launch| launch.launch(device))?;
        resident.result()
    }

    fn staged_in<const B: usize>(device: &Device, input: &Input, steps: usize) -> Result<Vec<f32>> {
        let mut resident = Resident::new(device, input)?;
        resident.run_staged::<B>(steps, &mut |launch| launch.launch(device))?;
        resident.result()
    }

    fn on_one_core(_: &Device, input: &Input, steps: usize) -> Result<Vec<f32>> {
        Ok(input.one_core(steps))
    }

    const FORMS: [(&str, Run); 5] = [
        ("one core", on_one_core),
        ("structures", of_structures),
        ("arrays", of_arrays::<64, false>),
        ("arrays, eager", of_arrays::<128, true>),
        ("staged", staged_in::<64>),
    ];

    /// Sums of 19 numbers, which are 1 together, are off by 18 roundings of 1 at most; what follows from three such sums, by at most three times that. A
    /// collision draws a cell to its equilibrium, so errors of steps add up.
    fn close(expected: &[f64], found: &[f32], steps: usize) -> bool {
        let bound = (3 * 18 + 10) as f64 * steps as f64 * f64::from(f32::EPSILON) / 2.0;
        expected.len() == found.len() && expected.iter().zip(found).all(|(e, f)| (e - f64::from(*f)).abs() <= bound)
    }

    #[test]
    fn every_form_is_close_to_the_reference_in_boxes_of_any_size() {
        for extents in [(1, 1, 1), (2, 1, 1), (1, 5, 2), (70, 4, 3), (129, 3, 1)] {
            let mut input = Input::new(3, extents.0, extents.1, extents.2);
            if extents == (1, 1, 1) {
                input.solid = vec![false];
            }
            let expected = input.reference(3);
            for (name, run) in FORMS {
                let found = run(&Device::simulator(), &input, 3).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(close(&expected, &found, 3), "{name}, {extents:?}");
            }
        }
        let input = Input::new(4, 9, 6, 5);
        for (name, run) in FORMS {
            let found = run(&Device::host(), &input, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(close(&input.reference(2), &found, 2), "{name} on the host twin");
        }
    }

    #[test]
    fn obstacles_everywhere_leave_nothing_to_do_and_one_cell_between_them_keeps_what_it_has() {
        let mut input = Input::new(5, 5, 5, 5);
        input.solid.fill(true);
        for (name, run) in FORMS {
            let found = run(&Device::simulator(), &input, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(found.iter().all(|f| *f == 0.0), "{name}");
        }
        input.solid[62] = false;
        let expected = input.reference(2);
        for (name, run) in FORMS {
            let found = run(&Device::simulator(), &input, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(close(&expected, &found, 2) && found.iter().filter(|f| **f != 0.0).count() == Q, "{name}");
        }
    }

    #[test]
    fn no_mass_is_lost_to_obstacles() {
        let (input, steps) = (Input::new(6, 20, 9, 4), 10);
        let mass = |f: &[f32]| f.iter().map(|f| f64::from(*f)).sum::<f64>();
        let cells = input.solid.iter().filter(|solid| !**solid).count() as f64;
        let before = mass(&input.start());
        assert!((before - cells).abs() < 1e-6 * cells);
        let exact: f64 = input.reference(steps).iter().sum();
        assert!((exact - before).abs() < 1e-12 * before, "{exact} of {before}");
        for (name, run) in FORMS {
            let after = mass(&run(&Device::simulator(), &input, steps).unwrap_or_else(|error| panic!("{name}: {error}")));
            // A cell's sum is off by 18 roundings a step at most, and its 19 numbers by a few of theirs.
            let bound = (18 + 10) as f64 * steps as f64 * f64::from(f32::EPSILON) / 2.0 * cells;
            assert!((after - before).abs() <= bound, "{name}: {after} of {before}");
        }
    }

    /// A fluid without obstacles along a line of `n` cells in y, whose velocity along x is what `u` says.
    fn line(n: usize, tau: f32, u: impl Fn(usize) -> f64) -> Input {
        let velocity = (0..n).map(|y| [u(y) as f32, 0.0, 0.0]).collect();
        Input { nx: 1, ny: n, nz: 1, tau, force: [0.0; 3], solid: vec![false; n], velocity }
    }

    fn velocity_along_x<T: Copy + Into<f64>>(f: &[T], n: usize, cell: usize) -> f64 {
        let (density, momentum) = moments(std::array::from_fn(|i| f[i * n + cell].into()));
        momentum[0] / density
    }

    /// The viscosity of the model is (τ - ½)/3; with k = 2π/32 the lattice's own error is of the order of k²/12, a third of a per cent.
    #[test]
    fn a_shear_wave_dies_away_as_fast_as_the_viscosity_says() {
        let (n, tau, steps) = (32, 0.8f32, 100);
        let k = std::f64::consts::TAU / n as f64;
        let input = line(n, tau, |y| 0.01 * (k * y as f64).sin());
        let amplitude = |f: &[f32]| (0..n).map(|y| velocity_along_x(f, n, y) * (k * y as f64).sin()).sum::<f64>() * 2.0 / n as f64;
        let (before, after) = (amplitude(&input.start()), amplitude(&input.one_core(steps)));
        let viscosity = (before / after).ln() / (k * k * steps as f64);
        assert!((viscosity / ((f64::from(tau) - 0.5) / 3.0) - 1.0).abs() < 0.01, "{viscosity}");
    }

    /// Between plates a driven flow is a parabola. Obstacles that throw back are plates half-way between cells exactly where (τ - ½)² is 3/16 (He, Zou, Luo and
    /// Dembo, Journal of Statistical Physics 87, 1997).
    #[test]
    fn a_driven_flow_between_plates_is_poiseuilles_parabola() {
        let (n, force, steps) = (12, 1e-5, 4_000);
        let tau = (0.5 + (3.0f64 / 16.0).sqrt()) as f32;
        let mut input = line(n, tau, |_| 0.0);
        input.force[0] = force as f32;
        (input.solid[0], input.solid[n - 1]) = (true, true);
        let f = input.reference(steps);
        let (viscosity, width) = ((f64::from(tau) - 0.5) / 3.0, (n - 2) as f64);
        for y in 1..n - 1 {
            let from_plate = y as f64 - 0.5;
            let expected = force / (2.0 * viscosity) * from_plate * (width - from_plate);
            // After a collision the force has pushed for half a step more.
            let found = velocity_along_x(&f, n, y) - force / 2.0;
            assert!((found / expected - 1.0).abs() < 1e-3, "row {y}: {found}, expected {expected}");
        }
    }

    #[test]
    fn what_is_no_fluid_is_refused() {
        let refused = |change: fn(&mut Input)| {
            let mut input = Input::new(2, 4, 3, 2);
            change(&mut input);
            let refused = Resident::new(&Device::simulator(), &input).err().map(|error| error.to_string());
            assert_eq!(Structures::new(&Device::simulator(), &input).err().map(|error| error.to_string()), refused);
            refused.unwrap_or_default()
        };
        assert_eq!(refused(|_| ()), "");
        assert_eq!(refused(|input| *input = Input::new(1, 4, 0, 2)), "the box has 4 × 0 × 2 cells: it needs one at least");
        assert_eq!(refused(|input| input.solid.truncate(23)), "`solid` has 23 elements, the box 4 × 3 × 2 cells: make them as many");
        assert!(refused(|input| input.velocity.truncate(1)).starts_with("`velocity` has 1 elements"));
        assert!(refused(|input| input.tau = 0.5).starts_with("`tau` is 0.5: it must be above 0.5"));
        assert!(refused(|input| input.tau = f32::NAN).starts_with("`tau` is NaN"));
        assert!(refused(|input| input.velocity[7][1] = f32::INFINITY).starts_with("the velocity of cell 7 is"));
        assert!(refused(|input| input.force[2] = f32::NAN).starts_with("the force is"));
    }
}
