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

use super::{Error, Go, Result};
use warpwright::prelude::*;
use warpwright::{Buffer, Device};

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

/// H half a step later, threads along rows.
#[kernel(
    block = (32, 8), ilp = ILP, batch_loads = BATCH, contract = false,
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
    variants(ILP in [1, 2, 4], BATCH in [false, true])
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
    variants(ILP in [1, 2, 4], BATCH in [false, true])
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
#[kernel(block = (COLUMNS, BANDS), contract = false, variants(STEPS in [1, 2, 4]))]
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

/// A box, what is in it, and what feeds the wave.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Cells in x. Those of the first and the last column are conducting walls.
    pub width: usize,
    /// Cells in y. Those of the first and the last row are conducting walls.
    pub height: usize,
    /// The Courant number c·Δt/Δx. Stable up to 1/√2.
    pub rate: f32,
    /// The relative permittivity of each cell, row by row: 1 in a vacuum.
    pub permittivity: Vec<f32>,
    /// Ez at the start, row by row. Walls count as 0. H is 0 half a step before.
    pub ez: Vec<f32>,
    /// Column and row of the source.
    pub source: (usize, usize),
    /// What it adds to Ez in each step. It is silent afterwards.
    pub samples: Vec<f32>,
}

/// What a wave is after some steps: three fields, row by row. H is half a step behind E.
#[derive(Debug, Clone, PartialEq)]
pub struct Fields<T> {
    /// The electric field.
    pub ez: Vec<T>,
    /// The magnetic field along x, half a cell below its cell.
    pub hx: Vec<T>,
    /// The magnetic field along y, half a cell to the right of its cell.
    pub hy: Vec<T>,
}

impl Input {
    /// A disc of glass (permittivity 2.25) right of the middle, and a pulse of 20 cells' wavelength from the middle.
    pub fn new(seed: u64, width: usize, height: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let rate = 0.5f32;
        let (w, h) = (width as f32, height as f32);
        let (x0, y0, r) = (w * (0.65 + 0.1 * random.f32()), h * (0.45 + 0.1 * random.f32()), w.min(h) * 0.2);
        let place = |i: usize| ((i % width) as f32, (i / width) as f32);
        let glass = |(x, y): (f32, f32)| (x - x0).powi(2) + (y - y0).powi(2) < r * r;
        let permittivity = (0..width * height).map(|i| if glass(place(i)) { 2.25 } else { 1.0 }).collect();
        let phase = random.f32();
        let sample = |n: i32| {
            let t = rate * (n - 80) as f32;
            (-(t / 20.0).powi(2)).exp() * (std::f32::consts::TAU * (t / 20.0 + phase)).sin()
        };
        let samples = (0..160).map(sample).collect();
        Input { width, height, rate, permittivity, ez: vec![0.0; width * height], source: (width / 2, height / 2), samples }
    }

    fn is_wall(&self, x: usize, y: usize) -> bool {
        x == 0 || y == 0 || x + 1 == self.width || y + 1 == self.height
    }

    /// The Courant number over the permittivity; 0 in the walls, where E never changes.
    pub fn material(&self) -> Vec<f32> {
        let cell = |i: usize| if self.is_wall(i % self.width, i / self.width) { 0.0 } else { self.rate / self.permittivity[i] };
        (0..self.width * self.height).map(cell).collect()
    }

    /// The fields after `steps` steps in double precision.
    pub fn reference(&self, steps: usize) -> Fields<f64> {
        let (w, h) = (self.width, self.height);
        let rate = f64::from(self.rate);
        let mut ez: Vec<f64> = (0..w * h).map(|i| if self.is_wall(i % w, i / w) { 0.0 } else { f64::from(self.ez[i]) }).collect();
        let (mut hx, mut hy) = (vec![0.0; w * h], vec![0.0; w * h]);
        for step in 0..steps {
            for y in 0..h {
                for x in 0..w {
                    let beyond = |inside: bool, at: usize| if inside { ez[at] } else { 0.0 };
                    hx[y * w + x] -= rate * (beyond(y + 1 < h, (y + 1) * w + x) - ez[y * w + x]);
                    hy[y * w + x] += rate * (beyond(x + 1 < w, y * w + x + 1) - ez[y * w + x]);
                }
            }
            for y in 1..h.saturating_sub(1) {
                for x in 1..w.saturating_sub(1) {
                    let curl = hy[y * w + x] - hy[y * w + x - 1] - hx[y * w + x] + hx[(y - 1) * w + x];
                    ez[y * w + x] += rate / f64::from(self.permittivity[y * w + x]) * curl;
                }
            }
            let (x, y) = self.source;
            ez[y * w + x] += self.samples.get(step).map_or(0.0, |sample| f64::from(*sample));
        }
        Fields { ez, hx, hy }
    }

    /// What one core does in `steps` steps: rows in order, E one row behind H, so that each row passes through the cache once a step.
    pub fn one_core(&self, steps: usize) -> Fields<f32> {
        let (w, h) = (self.width, self.height);
        let material = self.material();
        let mut ez: Vec<f32> = (0..w * h).map(|i| if self.is_wall(i % w, i / w) { 0.0 } else { self.ez[i] }).collect();
        let (mut hx, mut hy) = (vec![0.0f32; w * h], vec![0.0f32; w * h]);
        for step in 0..steps {
            for y in 0..h {
                let (hx_above, hx) = hx.split_at_mut(y * w);
                let (hx, hy) = (&mut hx[..w], &mut hy[y * w..][..w]);
                if y + 1 < h {
                    let (here, below) = (&ez[y * w..][..w], &ez[(y + 1) * w..][..w]);
                    for x in 0..w {
                        hx[x] -= self.rate * (below[x] - here[x]);
                    }
                }
                let here = &mut ez[y * w..][..w];
                for x in 0..w - 1 {
                    hy[x] += self.rate * (here[x + 1] - here[x]);
                }
                if y > 0 && y + 1 < h {
                    let (above, material) = (&hx_above[(y - 1) * w..], &material[y * w..][..w]);
                    for x in 1..w - 1 {
                        here[x] += material[x] * ((hy[x] - hy[x - 1]) - (hx[x] - above[x]));
                    }
                }
            }
            let (x, y) = self.source;
            ez[y * w + x] += self.samples.get(step).copied().unwrap_or(0.0);
        }
        Fields { ez, hx, hy }
    }
}

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
    /// Uploads an input. An `Err` where the box has no cells, a map is not as large as the box, or the source is outside of it or in a wall.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        let Input { width, height, source, .. } = *input;
        let refuse = |why: String| Err(Error::Input(why));
        if width == 0 || height == 0 {
            return refuse(format!("the box has {width} × {height} cells: it needs one at least"));
        }
        for (name, map) in [("permittivity", &input.permittivity), ("ez", &input.ez)] {
            if width.checked_mul(height) != Some(map.len()) {
                return refuse(format!("`{name}` has {} elements, the box {width} × {height} cells: make them as many", map.len()));
            }
        }
        if source.0 >= width || source.1 >= height || (input.is_wall(source.0, source.1) && !input.samples.is_empty()) {
            let (x, y) = source;
            return refuse(format!(
                "the source is at ({x}, {y}), in the walls of a box of {width} × {height} cells or beyond: put it inside, or leave `samples` empty"
            ));
        }
        let grid = Grid::new(width, height);
        let spread = |map: &[f32]| device.upload(&grid.spread(map));
        let ez: Vec<f32> = (0..width * height).map(|i| if input.is_wall(i % width, i / width) { 0.0 } else { input.ez[i] }).collect();
        let zeros = || device.zeros::<f32>(grid.pitch * (height + 2));
        Ok(Resident {
            grid,
            rate: input.rate,
            source,
            samples: input.samples.clone(),
            material: spread(&input.material())?,
            now: Set { ez: spread(&ez)?, hx: zeros()?, hy: zeros()? },
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
        let cells = (self.grid.width, self.grid.height);
        for _ in 0..steps {
            let source = self.source();
            let Set { ez, hx, hy } = &mut self.now;
            go(magnetic::<ILP, BATCH>(self.grid, self.rate, ez, hx, hy).cover(cells))?;
            go(electric::<ILP, BATCH>(self.grid, source, &self.material, hx, hy, ez).cover(cells))?;
            self.step += 1;
        }
        Ok(())
    }

    /// Goes on by `steps` steps, one launch each.
    pub fn run_fused<const ILP: usize, const BATCH: bool>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        let cells = (self.grid.width, self.grid.height);
        for _ in 0..steps {
            let source = self.source();
            let before = BeforeBuffers { ez: &self.now.ez, hx: &self.now.hx, hy: &self.now.hy };
            let after = AfterBuffers { ez: &mut self.next.ez, hx: &mut self.next.hx, hy: &mut self.next.hy };
            go(fused::<ILP, BATCH>(self.grid, self.rate, source, &self.material, before, after).cover(cells))?;
            std::mem::swap(&mut self.now, &mut self.next);
            self.step += 1;
        }
        Ok(())
    }

    /// Goes on by `steps` steps, `STEPS` a launch; those that are left over, one by one.
    pub fn run_tiled<const STEPS: usize>(&mut self, steps: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        for _ in 0..steps / STEPS {
            self.launch_tiled::<STEPS>(go)?;
        }
        for _ in 0..steps % STEPS {
            self.launch_tiled::<1>(go)?;
        }
        Ok(())
    }

    fn launch_tiled<const STEPS: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        const { assert!(STEPS > 0 && STEPS <= MOST) };
        let blocks = (self.grid.width.div_ceil(COLUMNS - 2 * STEPS), self.grid.height.div_ceil(ROWS - 2 * STEPS));
        let source = self.source();
        let before = BeforeBuffers { ez: &self.now.ez, hx: &self.now.hx, hy: &self.now.hy };
        let after = AfterBuffers { ez: &mut self.next.ez, hx: &mut self.next.hx, hy: &mut self.next.hy };
        go(tiled::<STEPS>(self.grid, self.rate, source, &self.material, before, after).grid(blocks))?;
        std::mem::swap(&mut self.now, &mut self.next);
        self.step += STEPS;
        Ok(())
    }

    /// The fields as they are by now.
    pub fn result(&self) -> Result<Fields<f32>> {
        let gather = |buffer: &Buffer<f32>| -> Result<Vec<f32>> { Ok(self.grid.gather(&buffer.download()?)) };
        Ok(Fields { ez: gather(&self.now.ez)?, hx: gather(&self.now.hx)?, hy: gather(&self.now.hy)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Run = fn(&mut Resident, usize, &mut Go<'_>) -> warpwright::Result<()>;

    const FORMS: [(&str, Run); 7] = [
        ("by columns", Resident::run_by_columns),
        ("plain", Resident::run::<1, false>),
        ("four cells a thread", Resident::run::<4, true>),
        ("fused", Resident::run_fused::<2, true>),
        ("tiled, 1 step", Resident::run_tiled::<1>),
        ("tiled, 2 steps", Resident::run_tiled::<2>),
        ("tiled, 4 steps", Resident::run_tiled::<4>),
    ];

    fn after(device: &Device, input: &Input, run: Run, steps: usize) -> Result<Fields<f32>> {
        let mut resident = Resident::new(device, input)?;
        run(&mut resident, steps, &mut |launch| launch.launch(device))?;
        resident.result()
    }

    fn bits(fields: &Fields<f32>) -> Vec<u32> {
        [&fields.ez, &fields.hx, &fields.hy].into_iter().flatten().map(|value| value.to_bits()).collect()
    }

    /// A box with waves all over it from the start.
    fn full(seed: u64, width: usize, height: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut input = Input::new(seed, width, height);
        input.ez.fill_with(|| 2.0 * random.f32() - 1.0);
        if width < 3 || height < 3 {
            input.samples.clear();
        }
        input
    }

    #[test]
    fn every_form_gives_the_bits_of_one_core() {
        for (width, height) in [(1, 1), (1, 5), (2, 2), (3, 3), (61, 31), (70, 9)] {
            let input = full(3, width, height);
            let expected = bits(&input.one_core(5));
            for (name, run) in FORMS {
                let found = after(&Device::simulator(), &input, run, 5).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(bits(&found) == expected, "{name}, {width} × {height}");
            }
        }
        let input = full(4, 20, 20);
        for (name, run) in FORMS {
            let found = after(&Device::host(), &input, run, 5).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(bits(&found) == bits(&input.one_core(5)), "{name} on the host twin");
        }
    }

    #[test]
    fn one_core_is_as_close_to_the_reference_as_roundings_allow() {
        let (input, steps) = (full(5, 40, 30), 200);
        let (expected, found) = (input.reference(steps), input.one_core(steps));
        // A step keeps a quadratic form of the fields that is within a factor of 1 ± rate·√2 of the sum of their squares (here also times 2.25
        // in glass), so what a step's roundings add stays as large as it is: at most 8 roundings of each value a step.
        let square = |fields: &Fields<f64>| fields.ez.iter().chain(&fields.hx).chain(&fields.hy).map(|v| v * v).sum::<f64>();
        let difference = |a: &[f64], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - f64::from(*b)).powi(2)).sum::<f64>();
        let error = difference(&expected.ez, &found.ez) + difference(&expected.hx, &found.hx) + difference(&expected.hy, &found.hy);
        let spread = (2.25 * (1.0 + 0.5f64.sqrt()) / (1.0 - 0.5f64.sqrt())).sqrt();
        let bound = spread * steps as f64 * 8.0 * f64::from(f32::EPSILON) / 2.0 * square(&expected).sqrt();
        assert!(error.sqrt() <= bound, "{} > {bound}", error.sqrt());
    }

    /// Yee's numerical dispersion relation: sin²(ωΔt/2) = (cΔt/Δx)²·(sin²(k₁Δx/2) + sin²(k₂Δx/2)).
    #[test]
    fn a_mode_of_the_empty_box_swings_with_its_published_frequency() {
        let (width, height, modes, steps) = (33, 21, (3.0, 2.0), 60);
        let mut input = Input::new(1, width, height);
        input.samples.clear();
        input.permittivity.fill(1.0);
        let (k1, k2) = (modes.0 * std::f64::consts::PI / (width - 1) as f64, modes.1 * std::f64::consts::PI / (height - 1) as f64);
        let shape = |i: usize| (k1 * (i % width) as f64).sin() * (k2 * (i / width) as f64).sin();
        input.ez = (0..width * height).map(|i| shape(i) as f32).collect();
        let half = (0.5 * ((k1 / 2.0).sin().powi(2) + (k2 / 2.0).sin().powi(2)).sqrt()).asin();
        // H is 0 half a step before the start, so E is at its greatest there.
        let swing = ((2 * steps + 1) as f64 * half).cos() / half.cos();
        // One core speaks for all forms, which give its bits.
        let found = input.one_core(steps);
        let error = found.ez.iter().enumerate().fold(0.0f64, |most, (i, e)| most.max((f64::from(*e) - swing * shape(i)).abs()));
        assert!(swing.abs() > 0.1 && error < 1e-5, "{error} of {swing}");
    }

    #[test]
    fn running_goes_on_where_it_stopped_and_the_source_with_it() {
        let device = Device::simulator();
        let input = Input::new(2, 45, 40);
        let mut resident = Resident::new(&device, &input).expect("it is right");
        resident.run_tiled::<4>(7, &mut |launch| launch.launch(&device)).expect("it runs");
        resident.run_fused::<1, false>(0, &mut |_| panic!("no step, no launch")).expect("it runs");
        resident.run::<1, false>(3, &mut |launch| launch.launch(&device)).expect("it runs");
        let found = resident.result().expect("it is there");
        assert!(bits(&found) == bits(&input.one_core(10)) && found.ez.iter().any(|e| *e != 0.0));
    }

    #[test]
    fn what_is_no_number_spreads_by_a_cell_a_step_and_no_further() {
        let mut input = Input::new(2, 20, 20);
        input.samples = vec![f32::NAN];
        for (name, run) in FORMS {
            let found = after(&Device::simulator(), &input, run, 4).unwrap_or_else(|error| panic!("{name}: {error}"));
            let touched = |i: usize| (i % 20).abs_diff(10) + (i / 20).abs_diff(10) <= 3;
            assert!(found.ez.iter().enumerate().all(|(i, e)| e.is_nan() == touched(i)), "{name}");
        }
    }

    #[test]
    fn what_is_no_box_is_refused() {
        let refused = |change: fn(&mut Input)| {
            let mut input = Input::new(2, 8, 6);
            change(&mut input);
            Resident::new(&Device::simulator(), &input).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(refused(|input| *input = Input::new(1, 0, 6)), "the box has 0 × 6 cells: it needs one at least");
        assert!(refused(|input| input.ez.truncate(47)).starts_with("`ez` has 47 elements, the box 8 × 6 cells"));
        assert!(refused(|input| input.permittivity.push(1.0)).starts_with("`permittivity` has 49 elements"));
        assert!(refused(|input| input.source = (8, 2)).contains("(8, 2)"));
        assert!(refused(|input| input.source = (7, 2)).contains("in the walls"));
        assert_eq!(refused(|_| ()), "");
    }
}
