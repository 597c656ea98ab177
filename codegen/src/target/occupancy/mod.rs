//! How many blocks a multiprocessor holds at once, what limits them, and how far the next step is.
//!
//! NVIDIA's own arithmetic, exact for the demand it is given; where that demand's registers are an estimate, so is what comes of it. What a
//! multiprocessor has is in [`Limits`]; here is what it does with that:
//!
//! * A block takes a block slot, a warp slot for each started warp, registers, shared memory and named barriers, and stays until its last
//!   warp ends. What runs out first limits.
//! * Registers go to each warp in units (to a block before 2.0), and a warp lives in one sub-partition: what is left over in one is of no
//!   use to another.
//! * A launch is checked as if the block's warps filled all sub-partitions alike: 288 threads of 169 registers are nine warps that would
//!   fit, but are refused as twelve that do not.
//! * Shared memory is rounded up after the system's own share of a block is added. The size of the memory it comes from is the carve-out:
//!   the smallest possible one that is at least what was asked for, and at least what one block needs.
//!
//! ```
//! use warpwright_codegen::target::limits::Limits;
//! use warpwright_codegen::target::occupancy::{Demand, Options, Resource, occupancy};
//!
//! let g80 = Limits::find("1.0").unwrap();
//! let tile = Demand { threads: 256, registers: 11, ..Demand::default() };
//! let resident = occupancy(g80, &tile, &Options::default());
//! assert_eq!(resident.blocks, 2);
//! assert_eq!(resident.limiters().collect::<Vec<_>>(), [Resource::Registers]);
//! let step = &resident.steps()[0];
//! assert_eq!(step.to_string(), "at ≤ 10 registers: 3 blocks, 100 %");
//! ```

mod steps;

pub use steps::{OccupancyStep, Point, register_ladder};

use super::limits::{BARRIERS_PER_BLOCK, Limits, RegisterUnit, WARP};
use std::fmt;

/// What limits the resident blocks of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// Warp slots, and the threads that a block may have.
    Warps,
    /// Block slots.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    Shared,
    /// Named barriers.
    Barriers,
    /// Virtual resources, from 10.0.
    Virtual,
}

impl Resource {
    /// Every one, in the order of [`Occupancy::allowed`].
    pub const ALL: [Resource; 6] =
        [Resource::Warps, Resource::Blocks, Resource::Registers, Resource::Shared, Resource::Barriers, Resource::Virtual];

    /// In one word, as JSON has it.
    pub fn key(self) -> &'static str {
        match self {
            Resource::Warps => "warps",
            Resource::Blocks => "blocks",
            Resource::Registers => "registers",
            Resource::Shared => "shared",
            Resource::Barriers => "barriers",
            Resource::Virtual => "virtual",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Warps => "warp slots",
            Resource::Blocks => "block slots",
            Resource::Registers => "registers",
            Resource::Shared => "shared memory",
            Resource::Barriers => "named barriers",
            Resource::Virtual => "virtual resources",
        })
    }
}

/// What a block asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Demand {
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory of a block, bytes, static and dynamic, without what the system reserves.
    pub shared: u32,
    /// Named barriers of a block.
    pub barriers: u32,
    /// Virtual resources of a block.
    pub virtual_resources: u32,
}

/// What the host asks for beside the launch itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How the memory that shared memory and the cache share is divided.
    pub cache: CachePreference,
    /// Whether blocks may have more shared memory than they get unasked. Launches of this library opt in where a kernel needs it.
    pub opt_in: bool,
    /// Whether a block is to stay on one half of a multiprocessor where that makes global loads cached (5.2, 5.3, 6.1, 6.2). The device
    /// gives it up where no block would fit.
    pub partitioned_caching: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { cache: CachePreference::Default, opt_in: true, partitioned_caching: false }
    }
}

/// How much of the memory that shared memory and the cache share is for shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CachePreference {
    /// As much as the resident blocks can use.
    #[default]
    Default,
    /// As little as possible: for the cache.
    Cache,
    /// As much for the one as for the other.
    Equal,
    /// As much as possible.
    Shared,
    /// This share of it, in percent, rounded up to a size there is. Devices before 7.0 do not know this and take it for `Default`.
    Percent(u8),
}

/// The resident blocks of a multiprocessor. Exact for the demand it was computed from; that demand's registers may be an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Of which multiprocessor.
    pub limits: &'static Limits,
    /// What was asked for.
    pub demand: Demand,
    /// How the host asked for it.
    pub options: Options,
    /// Resident blocks; 0 where not even one fits.
    pub blocks: u32,
    /// Resident warps.
    pub warps: u32,
    /// How many blocks each resource would allow by itself; `None` where the block asks for none of it.
    pub allowed: [(Resource, Option<u32>); 6],
}

impl Occupancy {
    /// Resident warps as a share of the most there can be, 0 to 1.
    pub fn share(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.limits.warps)
    }

    /// The same in percent, as people write it: `37.5`.
    pub fn percent(&self) -> f64 {
        // Warp slots are 24, 32, 48 or 64: one decimal tells every two apart.
        (self.share() * 1000.0).round() / 10.0
    }

    /// The resources that allow no more blocks than are resident.
    pub fn limiters(&self) -> impl Iterator<Item = Resource> + '_ {
        self.allowed.iter().filter(|(_, blocks)| *blocks == Some(self.blocks)).map(|(resource, _)| *resource)
    }

    /// What a block takes of a resource, in the units it is given out in, and how much there is: slots, registers, bytes. `None` for what
    /// the multiprocessor does not count.
    pub fn taken(&self, resource: Resource) -> Option<(u32, u32)> {
        let (limits, demand) = (self.limits, &self.demand);
        let warps = warps_of_block(limits, demand.threads);
        match resource {
            Resource::Warps => Some((narrow(warps), limits.warps)),
            Resource::Blocks => Some((1, limits.blocks)),
            Resource::Registers => Some((narrow(registers_of_block(limits, demand.registers, warps)), limits.registers)),
            Resource::Shared => {
                let of_block = shared_of_block(limits, demand.shared);
                Some((narrow(of_block), narrow(carve_out(limits, of_block, &self.options))))
            }
            Resource::Barriers => Some((demand.barriers, limits.barriers?)),
            Resource::Virtual => Some((demand.virtual_resources, limits.virtual_resources?)),
        }
    }

    /// Registers that a launch is checked for: those of the block if its warps filled all sub-partitions alike. More than
    /// [`Limits::registers_per_block`], and the launch fails, even where the block itself would fit.
    pub fn launch_registers(&self) -> u32 {
        let warps = warps_of_block(self.limits, self.demand.threads).next_multiple_of(u64::from(self.limits.partitions));
        narrow(registers_of_block(self.limits, self.demand.registers, warps))
    }

    /// Threads of all resident blocks.
    pub fn threads(&self) -> u32 {
        self.blocks * self.demand.threads
    }
}

/// A demand that no block can have, whatever else it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// Threads.
    #[error("a block has 1 to {limit} threads on {capability}, not {asked}; ask for 1 to {limit}", capability = .on.name(), limit = .on.threads_per_block)]
    Threads {
        /// What was asked for.
        asked: u32,
        /// Of which multiprocessor.
        on: &'static Limits,
    },
    /// Registers of a thread.
    #[error("a thread has at most {limit} registers on {capability}, not {asked}; ask for {limit} or fewer", capability = .on.name(), limit = .on.registers_per_thread)]
    Registers {
        /// What was asked for.
        asked: u32,
        /// Of which multiprocessor.
        on: &'static Limits,
    },
    /// Shared memory of a block, bytes.
    #[error("a block has at most {limit} bytes of shared memory on {capability}, not {asked}; ask for {limit} or fewer", capability = .on.name())]
    Shared {
        /// What was asked for.
        asked: u32,
        /// The most there can be.
        limit: u32,
        /// Of which multiprocessor.
        on: &'static Limits,
    },
    /// Named barriers of a block.
    #[error("a block has at most {BARRIERS_PER_BLOCK} named barriers, not {asked}; ask for {BARRIERS_PER_BLOCK} or fewer")]
    Barriers {
        /// What was asked for.
        asked: u32,
    },
    /// Virtual resources of a block.
    #[error("a block has at most {limit} virtual resources on {capability}, not {asked}; ask for {limit} or fewer", capability = .on.name())]
    Virtual {
        /// What was asked for.
        asked: u32,
        /// The most there can be.
        limit: u32,
        /// Of which multiprocessor.
        on: &'static Limits,
    },
}

/// All that is impossible about a demand; [`occupancy`] of such a one is 0 blocks.
pub fn impossible(limits: &'static Limits, demand: &Demand, options: &Options) -> Vec<Impossible> {
    let (on, shared) = (limits, most_shared(limits, options));
    let virtual_resources = limits.virtual_resources.unwrap_or(0);
    let checks = [
        (!(1..=limits.threads_per_block).contains(&demand.threads), Impossible::Threads { asked: demand.threads, on }),
        (demand.registers > limits.registers_per_thread, Impossible::Registers { asked: demand.registers, on }),
        (demand.shared > shared, Impossible::Shared { asked: demand.shared, limit: shared, on }),
        (demand.barriers > BARRIERS_PER_BLOCK, Impossible::Barriers { asked: demand.barriers }),
        (
            demand.virtual_resources > virtual_resources,
            Impossible::Virtual { asked: demand.virtual_resources, limit: virtual_resources, on },
        ),
    ];
    checks.into_iter().filter(|(is_wrong, _)| *is_wrong).map(|(_, why)| why).collect()
}

/// The most shared memory that a block can ask for.
fn most_shared(limits: &Limits, options: &Options) -> u32 {
    if options.opt_in { limits.shared_opted_in } else { limits.shared_per_block }
}

/// How many blocks of this demand a multiprocessor holds at once.
pub fn occupancy(limits: &'static Limits, demand: &Demand, options: &Options) -> Occupancy {
    let warps = warps_of_block(limits, demand.threads);
    let in_halves = |halves| by_registers(limits, demand.registers, warps, halves);
    let halves = options.partitioned_caching && limits.partitioned_caching && in_halves(true) != Some(0);
    let by_warps = match demand.threads {
        threads if threads > limits.threads_per_block => 0,
        _ if halves => u64::from(limits.warps / 2) / warps * 2,
        _ => u64::from(limits.warps) / warps,
    };
    let share = |available: Option<u32>, asked: u32| match available {
        Some(available) if asked > 0 => Some(u64::from(available / asked)),
        _ => None,
    };
    let allowed = [
        Some(by_warps),
        Some(u64::from(limits.blocks)),
        in_halves(halves),
        by_shared(limits, demand.shared, options),
        share(limits.barriers, demand.barriers),
        share(limits.virtual_resources, demand.virtual_resources),
    ];
    let allowed = allowed.map(|blocks| blocks.map(narrow));
    let blocks = allowed.iter().flatten().min().copied().unwrap_or(0);
    let mut pairs = Resource::ALL.map(|resource| (resource, None));
    pairs.iter_mut().zip(allowed).for_each(|(pair, blocks)| pair.1 = blocks);
    // Warps are counted as started: what 1.x rounds up is empty.
    let started = demand.threads.div_ceil(WARP).max(1);
    Occupancy { limits, demand: *demand, options: *options, blocks, warps: blocks * started, allowed: pairs }
}

/// As 32 bits; beyond that, as many as there are.
fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Warp slots that a block takes.
fn warps_of_block(limits: &Limits, threads: u32) -> u64 {
    u64::from(threads.div_ceil(WARP).max(1)).next_multiple_of(u64::from(limits.warp_unit))
}

/// Registers that a warp takes where each has its own.
fn registers_of_warp(registers: u32, unit: u32, odd: &[u32]) -> u64 {
    let unit = if odd.contains(&registers) { 2 * unit } else { unit };
    (u64::from(registers) * u64::from(WARP)).next_multiple_of(u64::from(unit))
}

/// Registers that a block of so many warps takes.
fn registers_of_block(limits: &Limits, registers: u32, warps: u64) -> u64 {
    match limits.register_unit {
        RegisterUnit::Block(unit) => (u64::from(registers) * u64::from(WARP) * warps).next_multiple_of(u64::from(unit)),
        RegisterUnit::Warp(unit, odd) => registers_of_warp(registers, unit, odd) * warps,
    }
}

/// How many blocks of so many warps the registers hold; with `halves`, none of them is on both halves of the multiprocessor.
fn by_registers(limits: &Limits, registers: u32, warps: u64, halves: bool) -> Option<u64> {
    if registers > limits.registers_per_thread {
        return Some(0);
    }
    if registers == 0 {
        return None;
    }
    let RegisterUnit::Warp(unit, odd) = limits.register_unit else {
        let of_block = registers_of_block(limits, registers, warps);
        let fits = of_block <= u64::from(limits.registers_per_block);
        return Some(if fits { u64::from(limits.registers) / of_block } else { 0 });
    };
    let of_warp = registers_of_warp(registers, unit, odd);
    let blocks = |partitions: u32| {
        let partitions = u64::from(partitions);
        if of_warp * warps.next_multiple_of(partitions) > u64::from(limits.registers_per_block) {
            return 0;
        }
        let warps_of_partition = u64::from(limits.registers) / partitions / of_warp;
        if halves { warps_of_partition * (partitions / 2) / warps * 2 } else { warps_of_partition * partitions / warps }
    };
    let can_launch = limits.launch_partitions == limits.partitions || blocks(limits.launch_partitions) > 0;
    Some(if can_launch { blocks(limits.partitions) } else { 0 })
}

/// Shared memory that a block takes.
fn shared_of_block(limits: &Limits, shared: u32) -> u64 {
    (u64::from(shared) + u64::from(limits.shared_reserved)).next_multiple_of(u64::from(limits.shared_unit))
}

/// How many blocks the shared memory holds.
fn by_shared(limits: &Limits, shared: u32, options: &Options) -> Option<u64> {
    let of_block = shared_of_block(limits, shared);
    if of_block == 0 {
        return None;
    }
    let most = u64::from(most_shared(limits, options) + limits.shared_reserved);
    Some(if of_block > most { 0 } else { carve_out(limits, of_block, options) / of_block })
}

/// The size that shared memory is set to for blocks that take so much.
fn carve_out(limits: &Limits, of_block: u64, options: &Options) -> u64 {
    let preferred = u64::from(preferred_shared(limits, options.cache));
    if preferred >= of_block {
        return preferred;
    }
    // Since 7.0 what one block needs, before that everything.
    let mut sizes = limits.carve_outs.iter().map(|size| u64::from(*size));
    let enough = sizes.find(|size| limits.capability >= 70 && *size >= of_block);
    enough.unwrap_or(u64::from(limits.shared))
}

/// The size of shared memory that the host's preference asks for.
fn preferred_shared(limits: &Limits, preference: CachePreference) -> u32 {
    let sizes = limits.carve_outs;
    // Before 7.0 sizes are set by name: the smallest, the middle one and the largest. Since then by a share of the whole, rounded up.
    let is_by_name = limits.capability < 70;
    let of_percent = |percent: u8| {
        let wanted = u64::from(limits.shared) * u64::from(percent.min(100)) / 100;
        sizes.iter().find(|size| u64::from(**size) >= wanted)
    };
    let size = match preference {
        CachePreference::Default | CachePreference::Shared => None,
        CachePreference::Cache if is_by_name => sizes.first(),
        CachePreference::Equal if is_by_name => sizes.get(sizes.len() / 2),
        CachePreference::Percent(_) if is_by_name => None,
        CachePreference::Cache => of_percent(0),
        CachePreference::Equal => of_percent(50),
        CachePreference::Percent(percent) => of_percent(percent),
    };
    size.copied().unwrap_or(limits.shared)
}

#[cfg(test)]
mod tests;
