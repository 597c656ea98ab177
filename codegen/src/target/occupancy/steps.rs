//! What a little less or a little more of a resource would do: steps up, cliffs down, and the whole curve.
//!
//! Fewer registers, bytes or barriers never hold fewer blocks, so a step and a cliff are found by halving. One case is an exception: before
//! 7.0, where the host prefers the cache, a block that needs more than that leaves gets all there is; then every byte is tried. Fewer threads
//! may hold fewer warps, so block sizes are tried one after the other, a warp at a time.

use super::{CachePreference, Demand, Occupancy, Options, Resource, occupancy};
use crate::target::limits::{BARRIERS_PER_BLOCK, Limits, WARP};
use std::fmt;

/// Another demand, and what it would give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccupancyStep {
    /// What must change, and to which figure: of registers, bytes, barriers; of threads for `Warps` and `Blocks`.
    pub changes: Vec<(Resource, u32)>,
    /// Whether the figures are the most that may be asked for (a step up) or the least that is too much (a cliff).
    pub is_step_up: bool,
    /// What comes of it.
    pub occupancy: Occupancy,
}

impl fmt::Display for OccupancyStep {
    /// `at ≤ 64 registers: 2 blocks, 50 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_step_up { "≤ " } else { "" };
        for (index, (resource, figure)) in self.changes.iter().enumerate() {
            f.write_str(if index == 0 { "at " } else { " and " })?;
            match resource {
                Resource::Warps | Resource::Blocks => write!(f, "{figure} threads")?,
                Resource::Registers => write!(f, "{sign}{figure} register{}", plural(*figure))?,
                Resource::Shared => write!(f, "{sign}{figure} byte{} of shared memory", plural(*figure))?,
                Resource::Barriers => write!(f, "{sign}{figure} named barrier{}", plural(*figure))?,
                Resource::Virtual => write!(f, "{sign}{figure} virtual resource{}", plural(*figure))?,
            }
        }
        let blocks = self.occupancy.blocks;
        write!(f, ": {blocks} block{}, {} %", plural(blocks), self.occupancy.percent())
    }
}

fn plural(n: u32) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Threads, registers, bytes or barriers.
    pub figure: u32,
    /// Resident blocks.
    pub blocks: u32,
    /// Resident warps.
    pub warps: u32,
}

impl Demand {
    /// How much it asks for of a resource; of threads for `Warps` and `Blocks`.
    pub fn figure(&self, resource: Resource) -> u32 {
        match resource {
            Resource::Warps | Resource::Blocks => self.threads,
            Resource::Registers => self.registers,
            Resource::Shared => self.shared,
            Resource::Barriers => self.barriers,
            Resource::Virtual => self.virtual_resources,
        }
    }

    /// The same with another figure for this resource.
    #[must_use]
    pub fn with(mut self, resource: Resource, figure: u32) -> Demand {
        match resource {
            Resource::Warps | Resource::Blocks => self.threads = figure,
            Resource::Registers => self.registers = figure,
            Resource::Shared => self.shared = figure,
            Resource::Barriers => self.barriers = figure,
            Resource::Virtual => self.virtual_resources = figure,
        }
        self
    }
}

/// What a block takes from a pool: less of it never holds fewer blocks.
const POOLS: [Resource; 4] = [Resource::Registers, Resource::Shared, Resource::Barriers, Resource::Virtual];

impl Occupancy {
    /// What would hold more warps: for each resource by itself the nearest figure that does; where only several together help, all of
    /// them at once. Of block sizes, the next smaller and the next larger one (in whole warps) that would.
    pub fn steps(&self) -> Vec<OccupancyStep> {
        let mut steps: Vec<OccupancyStep> = POOLS.iter().filter_map(|resource| self.step_of(*resource)).collect();
        if steps.is_empty() {
            steps.extend(self.step_of_all());
        }
        let holds_more = |found: &Occupancy| found.warps > self.warps;
        steps.extend(self.block_size(Resource::Warps, Direction::Down, true, holds_more));
        steps.extend(self.block_size(Resource::Blocks, Direction::Up, true, holds_more));
        steps
    }

    /// What would lose a block: for each resource by itself the nearest figure that does; of larger block sizes (in whole warps), the
    /// next that holds fewer warps. Nothing where no block is resident, nor where the most a block can ask for loses none.
    pub fn cliffs(&self) -> Vec<OccupancyStep> {
        if self.blocks == 0 {
            return Vec::new();
        }
        let mut cliffs: Vec<OccupancyStep> = POOLS.iter().filter_map(|resource| self.cliff_of(*resource)).collect();
        cliffs.extend(self.block_size(Resource::Warps, Direction::Up, false, |found| found.warps < self.warps));
        cliffs
    }

    /// The curve over one resource, all else as it is: from none (or one warp) to the most there can be, in the resource's units.
    pub fn curve(&self, resource: Resource) -> Vec<Point> {
        let (first, unit) = match resource {
            Resource::Warps | Resource::Blocks => (WARP, WARP),
            Resource::Registers | Resource::Barriers | Resource::Virtual => (1, 1),
            Resource::Shared => (0, self.limits.shared_unit),
        };
        let figures = (first..=self.most(resource)).step_by(unit as usize);
        let point = |figure| {
            let found = self.instead(resource, figure);
            Point { figure, blocks: found.blocks, warps: found.warps }
        };
        figures.map(point).collect()
    }

    /// The same with another figure for this resource.
    fn instead(&self, resource: Resource, figure: u32) -> Occupancy {
        occupancy(self.limits, &self.demand.with(resource, figure), &self.options)
    }

    /// The most that a block (a thread, for registers) can ask for.
    fn most(&self, resource: Resource) -> u32 {
        match resource {
            Resource::Warps | Resource::Blocks => self.limits.threads_per_block,
            Resource::Registers => self.limits.registers_per_thread,
            Resource::Shared => super::most_shared(self.limits, &self.options),
            Resource::Barriers => BARRIERS_PER_BLOCK,
            Resource::Virtual => self.limits.virtual_resources.unwrap_or(0),
        }
    }

    /// The most of one resource's pool (registers, shared memory, barriers) that holds another block, all else as it is.
    pub fn step_of(&self, resource: Resource) -> Option<OccupancyStep> {
        let figure = self.demand.figure(resource);
        let holds_more = |figure: &u32| self.instead(resource, *figure).blocks > self.blocks;
        let figure = if self.is_falling(resource) {
            first(figure, |figure| !holds_more(&figure)).checked_sub(1)?
        } else {
            (0..figure).rev().find(holds_more)?
        };
        Some(self.step(vec![(resource, figure)], true, self.instead(resource, figure)))
    }

    /// One block more, by less of everything that stands in its way.
    fn step_of_all(&self) -> Option<OccupancyStep> {
        let mut demand = self.demand;
        let mut changes = Vec::new();
        for resource in POOLS.into_iter().filter(|resource| self.limiters().any(|limiter| limiter == *resource)) {
            let allows = |figure: u32| self.instead(resource, figure).allowed.iter().find(|(of, _)| *of == resource)?.1;
            let is_short = |figure: u32| allows(figure).is_some_and(|blocks| blocks <= self.blocks);
            let figure = first(demand.figure(resource), is_short).checked_sub(1)?;
            demand = demand.with(resource, figure);
            changes.push((resource, figure));
        }
        let found = occupancy(self.limits, &demand, &self.options);
        (found.blocks > self.blocks).then(|| self.step(changes, true, found))
    }

    fn cliff_of(&self, resource: Resource) -> Option<OccupancyStep> {
        let (figure, most) = (self.demand.figure(resource), self.most(resource));
        let more = most.checked_sub(figure)?;
        let holds_less = |more: &u32| self.instead(resource, figure + more).blocks < self.blocks;
        let beyond = if self.is_falling(resource) {
            first(more + 1, |more| holds_less(&more))
        } else {
            (0..=more).find(holds_less).unwrap_or(more + 1)
        };
        (beyond <= more).then(|| self.step(vec![(resource, figure + beyond)], false, self.instead(resource, figure + beyond)))
    }

    /// Whether more of it never holds more blocks.
    fn is_falling(&self, resource: Resource) -> bool {
        resource != Resource::Shared || self.limits.capability >= 70 || self.options.cache == CachePreference::Default
    }

    fn block_size(
        &self,
        resource: Resource,
        direction: Direction,
        is_step_up: bool,
        is_it: impl Fn(&Occupancy) -> bool,
    ) -> Option<OccupancyStep> {
        let threads = self.demand.threads;
        let sizes = (1..=self.limits.threads_per_block / WARP).map(|warps| warps * WARP);
        let sizes: Vec<u32> = match direction {
            Direction::Down => sizes.filter(|size| *size < threads).rev().collect(),
            Direction::Up => sizes.filter(|size| *size > threads).collect(),
        };
        let found = sizes.into_iter().map(|size| self.instead(resource, size)).find(|found| is_it(found))?;
        Some(self.step(vec![(resource, found.demand.threads)], is_step_up, found))
    }

    fn step(&self, changes: Vec<(Resource, u32)>, is_step_up: bool, occupancy: Occupancy) -> OccupancyStep {
        OccupancyStep { changes, is_step_up, occupancy }
    }
}

/// Which block sizes to try.
#[derive(Clone, Copy)]
enum Direction {
    Down,
    Up,
}

/// The first of `0..end` for which this holds, given that it holds for all that follow; `end` if there is none.
fn first(end: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The register counts beyond which a multiprocessor holds fewer blocks of this many threads, smallest first: the steps that an assembler
/// fills registers up to. Ends with the most that such a block can have.
pub fn register_ladder(limits: &'static Limits, threads: u32) -> Vec<u32> {
    let resident = |registers| {
        let demand = Demand { threads, registers, ..Demand::default() };
        occupancy(limits, &demand, &Options::default()).blocks
    };
    let counts: Vec<u32> = (1..=limits.registers_per_thread + 1).map(resident).collect();
    (1..=limits.registers_per_thread).filter(|registers| counts[*registers as usize - 1] > counts[*registers as usize]).collect()
}
