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

mod input;
#[cfg(test)]
mod tests;

use super::{Declared, Error, Go, Result};
pub use input::{Input, VELOCITIES, moments};
use warpwright::prelude::*;
use warpwright::{Buffer, Device, Launch, Variant};

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
pub enum Layout {
    /// Those of each cell together.
    Structures,
    /// Those of each direction together.
    Arrays,
}

impl Layout {
    /// Distributions of so many cells laid out so, from the other layout.
    pub fn of_other(self, all: &[f32], n: usize) -> Vec<f32> {
        match self {
            Layout::Structures => (0..Q * n).map(|k| all[k % Q * n + k / Q]).collect(),
            Layout::Arrays => (0..Q * n).map(|k| all[k % n * Q + k / n]).collect(),
        }
    }
}

/// A kernel that makes a step, or one of its variants.
type Step = for<'l> fn(Lattice, &'l Buffer<u32>, &'l Buffer<f32>, &'l mut Buffer<f32>) -> Launch<'l>;

/// A fluid on a device.
pub struct Resident {
    lattice: Lattice,
    layout: Layout,
    walls: Buffer<u32>,
    before: Buffer<f32>,
    after: Buffer<f32>,
}

impl Resident {
    /// Uploads an input. An `Err` where the box has no cells, a field is not as large as the box, a number is not finite, or `tau` is not above ½.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        input.check()?;
        let lattice = Lattice::new(input);
        // Nobody writes to obstacles, so what is there at the start is there in both.
        Ok(Resident {
            lattice,
            layout: Layout::Arrays,
            walls: device.upload(&lattice.spread(&input.walls()))?,
            before: device.upload(&lattice.spread(&input.start()))?,
            after: device.zeros(Q * lattice.cells())?,
        })
    }

    /// Goes on by `steps` steps of [`structures`], a launch each.
    pub fn run_structures(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_of((structures, Layout::Structures), steps, go)
    }

    /// Goes on by `steps` steps, a launch each.
    pub fn run<const B: usize, const EAGER: bool>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_of((arrays::<B, EAGER>, Layout::Arrays), steps, go)
    }

    /// Goes on by `steps` steps, a launch each, shifts along x through shared memory.
    pub fn run_staged<const B: usize>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_of((staged::<B>, Layout::Arrays), steps, go)
    }

    /// Where the run before had another layout, the distributions are laid out anew first.
    fn run_of(&mut self, (step, layout): (Step, Layout), steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        if self.layout != layout {
            let all = layout.of_other(&self.before.download()?, self.lattice.cells());
            self.before.write(&all)?;
            self.after.write(&all)?;
            self.layout = layout;
        }
        let Lattice { nx, ny, nz, .. } = self.lattice;
        for _ in 0..steps {
            go(step(self.lattice, &self.walls, &self.before, &mut self.after).cover((nx, ny, nz)))?;
            std::mem::swap(&mut self.before, &mut self.after);
        }
        Ok(())
    }

    /// The distributions as they are by now, in the order of [`Input::start`].
    pub fn result(&self) -> Result<Vec<f32>> {
        let all = self.before.download()?;
        Ok(self.lattice.gather(&match self.layout {
            Layout::Structures => Layout::Arrays.of_other(&all, self.lattice.cells()),
            Layout::Arrays => all,
        }))
    }
}

/// The declared variants of [`arrays`] and of [`staged`], each a run of so many steps.
pub fn declared(steps: usize) -> Vec<Declared<Resident, Layout>> {
    let run = move |r: &mut Resident, variant: &Variant<Step>, go: &mut Go<'_>| r.run_of((variant.kernel(), Layout::Arrays), steps, go);
    Declared::each(arrays_variants(), |_| Layout::Arrays, run).chain(Declared::each(staged_variants(), |_| Layout::Arrays, run)).collect()
}
