//! FDTD: a two-dimensional electromagnetic wave (TM: Ez, Hx, Hy on Yee's staggered grid) in a box of conducting walls, round a dielectric disc, with a
//! source in the middle.
//!
//! A step updates H from the differences of E, then E from those of H: 6 + 7 operations a cell. In two launches, each reading every field and writing what it
//! updates, that is 40 bytes a cell and step. One launch for both needs 28, two steps a launch 14 and some more for the overlap of tiles, four steps 7. The document gives
//! 10.5 times one core, 11 registers, and global bandwidth as the bottleneck.
//!
//! * [`magnetic_by_columns`] and [`electric_by_columns`]: as one writes it with x first in mind. Neighbouring threads are neighbours in y, and each access
//!   of a warp fetches 32 sectors.
//! * [`magnetic`] and [`electric`]: neighbouring threads are neighbours in x; `ILP` cells a thread, their loads batched.
//! * [`fused`]: both in one launch. A thread computes anew the two H of its neighbours that it needs, which costs loads that the cache serves.
//! * [`tiled`]: `STEPS` steps a launch. A block holds a tile in registers, and exchanges what neighbours need through shared memory.
//!
//! No form contracts products with sums. Memory is the limit, so that costs nothing, and all forms give the bits that one core computes.

mod input;
#[cfg(test)]
mod tests;

use super::declared::axis;
use super::{Declared, Error, Go, Result};
pub use input::{FASTEST, Fields, Input};
use warpwright::prelude::*;
use warpwright::{Buffer, Device, Launch, Variant};

/// How the fields lie in memory: rows from a multiple of 128 bytes on, with at least one element behind each row and one row above and below the grid
/// that are 0 for ever. So no cell has to ask whether it has neighbours.
#[device]
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Grid {
    /// Cells in x.
    pub width: usize,
    /// Cells in y.
    pub height: usize,
    /// Elements from a row to the next.
    pub pitch: usize,
}

#[device]
impl Grid {
    /// Where the cell lies.
    pub fn at(&self, x: usize, y: usize) -> usize {
        (y + 1) * self.pitch + x
    }
}

/// Most steps of a launch.
pub const MOST: usize = 4;

/// What feeds the wave: in the k-th step of a launch `values[k]` is added to Ez of one cell.
#[device]
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Source {
    /// Its column.
    pub x: usize,
    /// Its row.
    pub y: usize,
    /// What it adds.
    pub values: [f32; MOST],
}

/// H half a step later, threads along columns. `rate` is the Courant number. Slow on purpose: each lane of a warp is in another row.
#[kernel(block = (8, 32), contract = false, allow(uncoalesced_access))]
pub fn magnetic_by_columns(grid: Grid, rate: f32, ez: &Global<f32>, hx: &mut Global<f32>, hy: &mut Global<f32>) {
    let t = thread_idx().y * 8 + thread_idx().x;
    let (x, y) = (block_idx().x * 8 + t / 32, block_idx().y * 32 + t % 32);
    if x < grid.width && y < grid.height {
        let at = grid.at(x, y);
        hx[at] -= rate * (ez[at + grid.pitch] - ez[at]);
        hy[at] += rate * (ez[at + 1] - ez[at]);
    }
}

/// E a step later, threads along columns. `material` is the Courant number over the relative permittivity of each cell, 0 in the walls. Slow on purpose.
#[kernel(block = (8, 32), contract = false, allow(uncoalesced_access))]
pub fn electric_by_columns(grid: Grid, source: Source, material: &Global<f32>, hx: &Global<f32>, hy: &Global<f32>, ez: &mut Global<f32>) {
    let t = thread_idx().y * 8 + thread_idx().x;
    let (x, y) = (block_idx().x * 8 + t / 32, block_idx().y * 32 + t % 32);
    if x < grid.width && y < grid.height {
        let at = grid.at(x, y);
        ez[at] += material[at] * ((hy[at] - hy[at - 1]) - (hx[at] - hx[at - grid.pitch]));
        if x == source.x && y == source.y {
            ez[at] += source.values[0];
        }
    }
}

/// H half a step later, threads along rows. Without `BATCH` the second field waits for what the first one waits for.
#[kernel(
    block = (32, 8), ilp = ILP, batch_loads = BATCH, contract = false, allow(serial_loads),
    variants(ILP in [1, 2, 4], BATCH in [false, true])
)]
pub fn magnetic<const ILP: usize, const BATCH: bool>(grid: Grid, rate: f32, ez: &Global<f32>, hx: &mut Global<f32>, hy: &mut Global<f32>) {
    let (x, y) = (global_id().x, global_id().y);
    if x < grid.width && y < grid.height {
        let at = grid.at(x, y);
        let here = ez[at];
        hx[at] -= rate * (ez[at + grid.pitch] - here);
        hy[at] += rate * (ez[at + 1] - here);
    }
}

/// E a step later, threads along rows.
#[kernel(
    block = (32, 8), ilp = ILP, batch_loads = BATCH, contract = false,
    variants(ILP in [1, 2, 4], BATCH in [false, true]),
    // What the batch costs is what its variants show.
    allow(costly_batch),
)]
pub fn electric<const ILP: usize, const BATCH: bool>(
    grid: Grid,
    source: Source,
    material: &Global<f32>,
    hx: &Global<f32>,
    hy: &Global<f32>,
    ez: &mut Global<f32>,
) {
    let (x, y) = (global_id().x, global_id().y);
    if x < grid.width && y < grid.height {
        let at = grid.at(x, y);
        let next = ez[at] + material[at] * ((hy[at] - hy[at - 1]) - (hx[at] - hx[at - grid.pitch]));
        ez[at] = if x == source.x && y == source.y { next + source.values[0] } else { next };
    }
}

/// The three fields as a step finds them.
#[device]
pub struct Before<'a> {
    /// The electric field.
    pub ez: &'a Global<f32>,
    /// The magnetic field along x, half a cell below.
    pub hx: &'a Global<f32>,
    /// The magnetic field along y, half a cell to the right.
    pub hy: &'a Global<f32>,
}

/// The three fields as a step leaves them.
#[device]
pub struct After<'a> {
    /// The electric field.
    pub ez: &'a mut Global<f32>,
    /// The magnetic field along x.
    pub hx: &'a mut Global<f32>,
    /// The magnetic field along y.
    pub hy: &'a mut Global<f32>,
}

/// H and E in one launch, from one set of fields to another.
#[kernel(
    block = (32, 8), ilp = ILP, batch_loads = BATCH, contract = false,
    variants(ILP in [1, 2, 4], BATCH in [false, true]),
    // What the batch costs is what its variants show.
    allow(costly_batch),
)]
pub fn fused<const ILP: usize, const BATCH: bool>(
    grid: Grid,
    rate: f32,
    source: Source,
    material: &Global<f32>,
    before: Before<'_>,
    after: After<'_>,
) {
    let (x, y) = (global_id().x, global_id().y);
    if x < grid.width && y < grid.height {
        let at = grid.at(x, y);
        let here = before.ez[at];
        let hx = before.hx[at] - rate * (before.ez[at + grid.pitch] - here);
        let hy = before.hy[at] + rate * (before.ez[at + 1] - here);
        let hx_above = before.hx[at - grid.pitch] - rate * (here - before.ez[at - grid.pitch]);
        let hy_left = before.hy[at - 1] + rate * (here - before.ez[at - 1]);
        let next = here + material[at] * ((hy - hy_left) - (hx - hx_above));
        after.hx[at] = hx;
        after.hy[at] = hy;
        after.ez[at] = if x == source.x && y == source.y { next + source.values[0] } else { next };
    }
}

/// Columns of a block's tile.
pub const COLUMNS: usize = 64;
/// Threads above each other in a block.
pub const BANDS: usize = 8;
/// Rows of a thread.
pub const OWN: usize = 4;
/// Rows of a block's tile.
pub const ROWS: usize = BANDS * OWN;

/// `STEPS` steps in one launch. A thread keeps `OWN` cells of a column in registers; E goes to the neighbours on the left and above, and H to those on the right
/// and below, through shared memory. At the rim of the tile neighbours are missing, so one more cell on each side is wrong after each step: the
/// tiles overlap by that, and a block writes what is right. What lies outside the grid is 0 there, material too, and stays so.
#[kernel(block = (COLUMNS, BANDS), contract = false, max_registers = 32, variants(STEPS in [1, 2, 4]))]
pub fn tiled<const STEPS: usize>(grid: Grid, rate: f32, source: Source, material: &Global<f32>, before: Before<'_>, after: After<'_>) {
    // Rows and columns beside the tile are read where a neighbour is missing, and what comes of it is not written.
    #[shared]
    let mut electric: [[f32; COLUMNS + 1]; ROWS];
    #[shared]
    let mut tops: [[f32; COLUMNS]; BANDS + 1];
    #[shared]
    let mut magnetic: [[f32; COLUMNS + 1]; ROWS];
    #[shared]
    let mut bottoms: [[f32; COLUMNS]; BANDS + 1];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    // Left of the grid and above it these wrap round, and are beyond its other sides.
    let x = (block_idx().x * (COLUMNS - 2 * STEPS) + tx).wrapping_sub(STEPS);
    let top = (block_idx().y * (ROWS - 2 * STEPS) + ty * OWN).wrapping_sub(STEPS);
    let mut e = [0.0f32; OWN];
    let mut hx = [0.0f32; OWN];
    let mut hy = [0.0f32; OWN];
    let mut c = [0.0f32; OWN];
    #[unroll]
    for k in 0..OWN {
        let y = top.wrapping_add(k);
        if x < grid.width && y < grid.height {
            let at = grid.at(x, y);
            e[k] = before.ez[at];
            hx[k] = before.hx[at];
            hy[k] = before.hy[at];
            c[k] = material[at];
        }
    }
    if tx == 0 {
        #[unroll]
        for k in 0..OWN {
            electric[ty * OWN + k][COLUMNS] = 0.0;
            magnetic[ty * OWN + k][0] = 0.0;
        }
    }
    if ty == 0 {
        tops[BANDS][tx] = 0.0;
        bottoms[0][tx] = 0.0;
    }
    #[unroll]
    for step in 0..STEPS {
        #[unroll]
        for k in 0..OWN {
            electric[ty * OWN + k][tx] = e[k];
        }
        tops[ty][tx] = e[0];
        sync_threads();
        let below = tops[ty + 1][tx];
        #[unroll]
        for k in 0..OWN {
            hx[k] -= rate * ((if k + 1 < OWN { e[(k + 1) % OWN] } else { below }) - e[k]);
            hy[k] += rate * (electric[ty * OWN + k][tx + 1] - e[k]);
            magnetic[ty * OWN + k][tx + 1] = hy[k];
        }
        bottoms[ty + 1][tx] = hx[OWN - 1];
        sync_threads();
        let above = bottoms[ty][tx];
        #[unroll]
        for k in 0..OWN {
            let up = if k > 0 { hx[(k + OWN - 1) % OWN] } else { above };
            e[k] += c[k] * ((hy[k] - magnetic[ty * OWN + k][tx]) - (hx[k] - up));
            if x == source.x && top.wrapping_add(k) == source.y {
                e[k] += source.values[step];
            }
        }
    }
    let inner = tx >= STEPS && tx < COLUMNS - STEPS;
    #[unroll]
    for k in 0..OWN {
        let (row, y) = (ty * OWN + k, top.wrapping_add(k));
        if inner && row >= STEPS && row < ROWS - STEPS && x < grid.width && y < grid.height {
            let at = grid.at(x, y);
            after.ez[at] = e[k];
            after.hx[at] = hx[k];
            after.hy[at] = hy[k];
        }
    }
}

impl Grid {
    /// The layout of a box.
    pub fn new(width: usize, height: usize) -> Grid {
        Grid { width, height, pitch: (width + 1).next_multiple_of(32) }
    }

    /// A map of the box, row by row, as it lies in memory.
    pub fn spread(&self, map: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.pitch * (self.height + 2)];
        for (y, row) in map.chunks_exact(self.width).enumerate() {
            out[self.at(0, y)..][..self.width].copy_from_slice(row);
        }
        out
    }

    /// What lies in memory as a map of the box.
    pub fn gather(&self, memory: &[f32]) -> Vec<f32> {
        (0..self.height).flat_map(|y| memory[self.at(0, y)..][..self.width].iter().copied()).collect()
    }
}

/// A variant of [`magnetic`].
type Magnetic = for<'l> fn(Grid, f32, &'l Buffer<f32>, &'l mut Buffer<f32>, &'l mut Buffer<f32>) -> Launch<'l>;

/// A variant of [`electric`].
type Electric = for<'l> fn(Grid, Source, &'l Buffer<f32>, &'l Buffer<f32>, &'l Buffer<f32>, &'l mut Buffer<f32>) -> Launch<'l>;

/// A variant of [`fused`] or of [`tiled`].
type Both = for<'l> fn(Grid, f32, Source, &'l Buffer<f32>, BeforeBuffers<'l>, AfterBuffers<'l>) -> Launch<'l>;

struct Set {
    ez: Buffer<f32>,
    hx: Buffer<f32>,
    hy: Buffer<f32>,
}

/// A wave on a device.
pub struct Resident {
    grid: Grid,
    rate: f32,
    source: (usize, usize),
    samples: Vec<f32>,
    material: Buffer<f32>,
    now: Set,
    next: Set,
    step: usize,
}

impl Resident {
    /// Uploads an input. An `Err` where the box has no cells, a map is not as large as the box, the source is outside of it or in a wall; where a number is not finite, a
    /// permittivity is below 1, or `rate` is not above 0 or is above [`FASTEST`]; and where fields may become larger than single precision has numbers for.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        input.check()?;
        let Input { width, height, source, .. } = *input;
        let grid = Grid::new(width, height);
        let spread = |map: &[f32]| device.upload(&grid.spread(map));
        let zeros = || device.zeros::<f32>(grid.pitch * (height + 2));
        Ok(Resident {
            grid,
            rate: input.rate,
            source,
            samples: input.samples.clone(),
            material: spread(&input.material())?,
            now: Set { ez: spread(&input.start().ez)?, hx: zeros()?, hy: zeros()? },
            next: Set { ez: zeros()?, hx: zeros()?, hy: zeros()? },
            step: 0,
        })
    }

    /// The source from the present step on.
    fn source(&self) -> Source {
        let value = |k: usize| self.samples.get(self.step + k).copied().unwrap_or(0.0);
        Source { x: self.source.0, y: self.source.1, values: std::array::from_fn(value) }
    }

    /// Goes on by `steps` steps, two launches each, threads along columns.
    pub fn run_by_columns(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        let blocks = (self.grid.width.div_ceil(8), self.grid.height.div_ceil(32));
        for _ in 0..steps {
            let source = self.source();
            let Set { ez, hx, hy } = &mut self.now;
            go(magnetic_by_columns(self.grid, self.rate, ez, hx, hy).grid(blocks))?;
            go(electric_by_columns(self.grid, source, &self.material, hx, hy, ez).grid(blocks))?;
            self.step += 1;
        }
        Ok(())
    }

    /// Goes on by `steps` steps, two launches each.
    pub fn run<const ILP: usize, const BATCH: bool>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_of((magnetic::<ILP, BATCH>, electric::<ILP, BATCH>), steps, go)
    }

    fn run_of(&mut self, (magnetic, electric): (Magnetic, Electric), steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        let cells = (self.grid.width, self.grid.height);
        for _ in 0..steps {
            let source = self.source();
            let Set { ez, hx, hy } = &mut self.now;
            go(magnetic(self.grid, self.rate, ez, hx, hy).cover(cells))?;
            go(electric(self.grid, source, &self.material, hx, hy, ez).cover(cells))?;
            self.step += 1;
        }
        Ok(())
    }

    /// Goes on by `steps` steps, one launch each.
    pub fn run_fused<const ILP: usize, const BATCH: bool>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_fused_of(fused::<ILP, BATCH>, steps, go)
    }

    fn run_fused_of(&mut self, fused: Both, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        let cells = (self.grid.width, self.grid.height);
        for _ in 0..steps {
            self.launch(fused, 1, |launch| go(launch.cover(cells)))?;
        }
        Ok(())
    }

    /// Goes on by `steps` steps, `STEPS` a launch; those that are left over, one by one.
    pub fn run_tiled<const STEPS: usize>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        const { assert!(STEPS > 0 && STEPS <= MOST) };
        self.run_tiled_of((tiled::<STEPS>, STEPS), steps, go)
    }

    fn run_tiled_of(&mut self, (kernel, each): (Both, usize), steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        let Grid { width, height, .. } = self.grid;
        let blocks = |each: usize| (width.div_ceil(COLUMNS - 2 * each), height.div_ceil(ROWS - 2 * each));
        for _ in 0..steps / each {
            self.launch(kernel, each, |launch| go(launch.grid(blocks(each))))?;
        }
        for _ in 0..steps % each {
            self.launch(tiled::<1>, 1, |launch| go(launch.grid(blocks(1))))?;
        }
        Ok(())
    }

    /// Makes a launch that goes on by `steps` steps, from one set of fields to the other.
    fn launch(&mut self, kernel: Both, steps: usize, go: impl FnOnce(Launch<'_>) -> warpwright::Result<()>) -> warpwright::Result<()> {
        let source = self.source();
        let before = BeforeBuffers { ez: &self.now.ez, hx: &self.now.hx, hy: &self.now.hy };
        let after = AfterBuffers { ez: &mut self.next.ez, hx: &mut self.next.hx, hy: &mut self.next.hy };
        go(kernel(self.grid, self.rate, source, &self.material, before, after))?;
        std::mem::swap(&mut self.now, &mut self.next);
        self.step += steps;
        Ok(())
    }

    /// The fields as they are by now.
    pub fn result(&self) -> Result<Fields<f32>> {
        let gather = |buffer: &Buffer<f32>| -> Result<Vec<f32>> { Ok(self.grid.gather(&buffer.download()?)) };
        Ok(Fields { ez: gather(&self.now.ez)?, hx: gather(&self.now.hx)?, hy: gather(&self.now.hy)? })
    }
}

/// What a launch does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Half a step.
    Half,
    /// So many steps.
    Steps(usize),
}

/// The declared variants, each a run of so many steps: each of [`magnetic`] with one of [`electric`], until all of both are there; those of [`fused`] and of [`tiled`].
pub fn declared(steps: usize) -> Vec<Declared<Resident, Form>> {
    let (magnetic, electric) = (magnetic_variants(), electric_variants());
    let both = |k: usize| {
        let (h, e) = (&magnetic[k % magnetic.len()], &electric[k % electric.len()]);
        let kernels = (h.kernel(), e.kernel());
        Declared::new((h, e), Form::Half, move |r: &mut Resident, go| r.run_of(kernels, steps, go))
    };
    let halves = (0..magnetic.len().max(electric.len())).map(both);
    let fused = Declared::each(fused_variants(), |_| Form::Steps(1), move |r: &mut Resident, v, go| r.run_fused_of(v.kernel(), steps, go));
    let each = |v: &Variant<Both>| axis(v, "STEPS");
    let tiled = Declared::each(
        tiled_variants(),
        |v| Form::Steps(axis(v, "STEPS")),
        move |r: &mut Resident, v, go| r.run_tiled_of((v.kernel(), each(v)), steps, go),
    );
    halves.chain(fused).chain(tiled).collect()
}
