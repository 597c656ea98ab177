//! What a launch must satisfy, checked before anything runs: each failure names the kernel, the figure, the limit and the way out.

use crate::arguments::{Argument, Arguments};
use crate::definition::KernelDefinition;
use crate::device::Device;
use crate::dim3::Dim3;
use crate::error::{Error, Result};
use crate::instance::LaunchFacts;
use crate::repack::index_bytes;
use crate::stream::StreamCore;
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use warpwright_codegen::ir::{IndexWidth, grid_misfit};

/// The geometry as asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) grid: Option<Grid>,
    pub(crate) block: Option<Dim3>,
    /// `.shared_bytes(…)`.
    pub(crate) shared_bytes: Option<usize>,
}

/// How the grid was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grid {
    /// `.grid(…)`.
    Blocks(Dim3),
    /// `.cover(…)`.
    Cover(Dim3),
}

/// The geometry as it runs. It is copied as a whole: of parts that lie across what was written, the processor waits for the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents {
    /// Blocks.
    pub(crate) grid: [u32; 3],
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub(crate) shared_bytes: u32,
}

/// What the device limits of a block and of a grid, by axis.
const BLOCK_EXTENTS: [&str; 3] = ["threads in x of a block", "threads in y of a block", "threads in z of a block"];
const GRID_EXTENTS: [&str; 3] = ["blocks in x of the grid", "blocks in y of the grid", "blocks in z of the grid"];

/// Elements a 32-bit `usize` cannot count.
const INDEX_LIMIT: u64 = 1 << 32;

/// Every buffer is on the device, and not longer than the kernel's index type can count ([`LaunchFacts::longest`]). Gives whether the stream is in order behind all that use them already. In one pass:
/// a launch goes through its arguments as seldom as it can.
#[inline]
pub(crate) fn check_buffers(
    definition: &'static KernelDefinition,
    arguments: &Arguments<'_>,
    longest: u64,
    device: &Device,
    stream: &Arc<StreamCore>,
) -> Result<bool> {
    let mut is_in_order = true;
    for argument in arguments.iter() {
        let Some((allocation, len, writes)) = argument.memory() else { continue };
        if allocation.device() != device || len as u64 > longest {
            return Err(misfit(definition, arguments, argument, device));
        }
        if allocation.uses().has_alone(stream) {
            continue;
        }
        is_in_order &= allocation.uses().knows(stream, writes);
    }
    Ok(is_in_order)
}

/// What is wrong with an argument that is on another device, or too long.
#[cold]
fn misfit(definition: &'static KernelDefinition, arguments: &Arguments<'_>, argument: &Argument<'_>, device: &Device) -> Error {
    let index = arguments.iter().position(|other| std::ptr::eq(other, argument));
    let parameter = parameter_name(definition, index.unwrap_or(usize::MAX));
    match argument.allocation() {
        Some(allocation) if allocation.device() != device => {
            Error::OtherDevice { kernel: definition.name, parameter, buffer: allocation.device().to_string(), device: device.to_string() }
        }
        _ => {
            let what = format!("the elements of parameter `{parameter}` number");
            let len = argument.memory().map_or(0, |(_, len, _)| len);
            Error::IndexWidth { kernel: definition.name, what, figure: len as i128 }
        }
    }
}

/// A launch that was found right. Each in a cell of its own, so that what is compared is not copied before.
// What of it most launches look at lies in two lines of the cache.
#[repr(C, align(64))]
struct Found {
    /// [`LaunchFacts::number`]; 0 before the first launch.
    facts: Cell<u64>,
    grid: Cell<Option<Grid>>,
    extents: Cell<Extents>,
    shared_bytes: Cell<Option<usize>>,
    block: Cell<Option<Dim3>>,
}

impl Found {
    const fn none() -> Found {
        let extents = Cell::new(Extents { grid: [0; 3], block: [0; 3], shared_bytes: 0 });
        Found { facts: Cell::new(0), grid: Cell::new(None), block: Cell::new(None), shared_bytes: Cell::new(None), extents }
    }

    /// The geometry as it runs, if this was asked for.
    #[inline(always)]
    fn find(&self, asked: &Geometry, facts: &LaunchFacts) -> Option<Extents> {
        let is_it = self.facts.get() == facts.number
            && self.grid.get() == asked.grid
            && self.block.get() == asked.block
            && self.shared_bytes.get() == asked.shared_bytes;
        is_it.then(|| self.extents.get())
    }

    fn set(&self, asked: &Geometry, facts: &LaunchFacts, extents: Extents) {
        let Geometry { grid, block, shared_bytes } = *asked;
        self.facts.set(facts.number);
        self.grid.set(grid);
        self.block.set(block);
        self.shared_bytes.set(shared_bytes);
        self.extents.set(extents);
    }
}

thread_local! {
    /// The last one of this thread: the next is often like it.
    static LAST: Found = const { Found::none() };
}

/// Grid, block and shared memory are what kernel and device can take.
#[inline(always)]
pub(crate) fn check_geometry(
    definition: &'static KernelDefinition,
    asked: &Geometry,
    facts: &LaunchFacts,
    device: &Device,
) -> Result<Extents> {
    // Always there, since nothing is dropped at a thread's end. `with` would be a call.
    match LAST.try_with(|last| last.find(asked, facts)) {
        Ok(Some(extents)) => Ok(extents),
        _ => find_extents(definition, asked, facts, device),
    }
}

/// The same where the last launch of the thread was another.
#[cold]
#[inline(never)]
fn find_extents(definition: &'static KernelDefinition, asked: &Geometry, facts: &LaunchFacts, device: &Device) -> Result<Extents> {
    let extents = compute_extents(definition, asked, facts, device)?;
    LAST.with(|last| last.set(asked, facts, extents));
    Ok(extents)
}

fn compute_extents(definition: &'static KernelDefinition, asked: &Geometry, facts: &LaunchFacts, device: &Device) -> Result<Extents> {
    let check = Check { kernel: definition.name, device };
    let block = check.block(asked, facts)?;
    let limits = device.limits();
    let per_thread = u64::from(facts.elements[0]) * u64::from(facts.elements[1]);
    let grid = check.grid(asked, [block[0].saturating_mul(per_thread), block[1], block[2]], facts.cluster)?;
    for axis in 0..3 {
        check.limit(
            GRID_EXTENTS[axis],
            grid[axis],
            limits.grid[axis],
            "use a larger block, more elements per thread, or several launches",
        )?;
    }
    let product = |[x, y, z]: [u64; 3]| x.saturating_mul(y).saturating_mul(z);
    let blocks = product(grid);
    let elements = blocks.saturating_mul(product(block)).saturating_mul(per_thread);
    if facts.index == IndexWidth::Bits32 && elements >= INDEX_LIMIT {
        // More than 64 bits hold is told as it is.
        let figure = grid.iter().chain(&block).chain([&per_thread]).fold(1i128, |product, extent| product.saturating_mul((*extent).into()));
        let what = match per_thread {
            1 => "the threads of the grid number".to_owned(),
            n => format!("the elements of the grid, {n} for each thread, number"),
        };
        return Err(Error::IndexWidth { kernel: definition.name, what, figure });
    }
    if let Some(argument) = facts.numbers_blocks.filter(|_| blocks >= INDEX_LIMIT) {
        let reason = format!(
            "the grid has {blocks} blocks, and `{argument}` numbers them with 32 bits; use a larger block, more elements per thread, several launches, or remove `{argument}`"
        );
        return Err(Error::Argument { kernel: definition.name, reason });
    }
    if facts.cluster != [1; 3]
        && let Some(reason) = grid_misfit(facts.cluster, grid)
    {
        return Err(Error::Argument { kernel: definition.name, reason });
    }
    let shared_bytes = check.shared(asked, facts)?;
    // The limits of every device are below 2³².
    let narrow = |extents: [u64; 3]| extents.map(|extent| u32::try_from(extent).unwrap_or(u32::MAX));
    Ok(Extents { grid: narrow(grid), block: narrow(block), shared_bytes })
}

struct Check<'c> {
    kernel: &'static str,
    device: &'c Device,
}

impl Check<'_> {
    fn block(&self, asked: &Geometry, facts: &LaunchFacts) -> Result<[u64; 3]> {
        let block = match (facts.block, asked.block) {
            (None, None) => return Err(Error::NoBlock { kernel: self.kernel }),
            (None, Some(given)) => self.extents("a block of", given)?,
            (Some(fixed), None) => fixed.map(u64::from),
            (Some(fixed), Some(given)) => {
                let fixed_dim = Dim3::from(fixed.map(|extent| extent as usize));
                if given != fixed_dim {
                    return Err(Error::FixedBlock { kernel: self.kernel, fixed: fixed_dim.to_string(), given: given.to_string() });
                }
                fixed.map(u64::from)
            }
        };
        let limits = self.device.limits();
        for axis in 0..3 {
            self.limit(BLOCK_EXTENTS[axis], block[axis], limits.block[axis], "use a smaller block")?;
        }
        self.limit("threads in a block", block.iter().product(), limits.block_threads, "use a smaller block")?;
        Ok(block)
    }

    /// The blocks of the grid; `block` is the elements of each. What covers elements is whole clusters.
    #[inline]
    fn grid(&self, asked: &Geometry, block: [u64; 3], cluster: [u32; 3]) -> Result<[u64; 3]> {
        match asked.grid {
            None => Err(Error::NoGrid { kernel: self.kernel }),
            Some(Grid::Blocks(given)) => self.extents("a grid of", given),
            Some(Grid::Cover(given)) => {
                let elements = self.extents("a grid to cover", given)?;
                // Divisions are most of what a launch's checks would cost, and there is little to divide, as a rule.
                let whole = |extent: u64, by: u64| if extent == 1 || by == 1 { extent } else { extent.div_ceil(by) };
                let blocks = [0, 1, 2].map(|axis| whole(elements[axis], block[axis]));
                if cluster == [1; 3] {
                    return Ok(blocks);
                }
                Ok([0, 1, 2].map(|axis| blocks[axis].next_multiple_of(cluster[axis].max(1).into())))
            }
        }
    }

    /// The extents, each at least 1.
    #[inline]
    fn extents(&self, what: &'static str, given: Dim3) -> Result<[u64; 3]> {
        let extents = given.to_array();
        // A negative literal arrives sign-extended.
        if extents.iter().any(|extent| *extent == 0 || *extent > isize::MAX as usize) {
            return Err(self.empty_extent(what, given));
        }
        Ok(extents.map(|extent| extent as u64))
    }

    #[cold]
    fn empty_extent(&self, what: &'static str, given: Dim3) -> Error {
        Error::EmptyExtent { kernel: self.kernel, what, given: given.to_string() }
    }

    fn shared(&self, asked: &Geometry, facts: &LaunchFacts) -> Result<u32> {
        let limit = self.device.limits().shared_bytes;
        if let (Some(name), None) = (&facts.dynamic_shared, asked.shared_bytes) {
            let reason =
                format!("the length of `{name}`, its dynamic shared memory, is not given: call `.shared_bytes(bytes)` before launching");
            return Err(Error::Argument { kernel: self.kernel, reason });
        }
        let bytes = asked.shared_bytes.unwrap_or(0);
        if isize::try_from(bytes).is_err() {
            let reason = format!("`.shared_bytes({})`: the size must not be negative; give 0 or more", bytes as isize);
            return Err(Error::Argument { kernel: self.kernel, reason });
        }
        let dynamic = bytes as u64;
        let figure = facts.shared_bytes.saturating_add(dynamic);
        if figure > limit {
            let what = match (facts.shared_bytes, dynamic) {
                (_, 0) => "bytes of shared memory".into(),
                (0, _) => "bytes of dynamic shared memory".into(),
                (fixed, dynamic) => format!("bytes of shared memory, {fixed} of fixed arrays and {dynamic} of the launch's own").into(),
            };
            return Err(self.exceeded(what, figure, limit, "use smaller tiles"));
        }
        Ok(u32::try_from(dynamic).unwrap_or(u32::MAX))
    }

    #[inline]
    fn limit(&self, what: &'static str, figure: u64, limit: u64, help: &'static str) -> Result<()> {
        if figure <= limit { Ok(()) } else { Err(self.exceeded(what.into(), figure, limit, help)) }
    }

    #[cold]
    fn exceeded(&self, what: Cow<'static, str>, figure: u64, limit: u64, help: &'static str) -> Error {
        Error::Limit { kernel: self.kernel, what, figure, limit, device: self.device.to_string(), help }
    }
}

/// All parameters together fit what the device can be handed.
pub(crate) fn check_parameter_bytes(
    definition: &'static KernelDefinition,
    arguments: &Arguments<'_>,
    index: IndexWidth,
    device: &Device,
) -> Result<()> {
    // A buffer is an address and a length.
    let bytes = |argument: &Argument<'_>| if argument.is_value() { argument.ty.device_layout(index_bytes(index)).size } else { 16 };
    let figure = arguments.iter().map(|argument| bytes(argument) as u64).sum();
    let limit = device.limits().parameter_bytes;
    let help = "pass large parameters as `&Constant` or `&Global`";
    Check { kernel: definition.name, device }.limit("bytes of parameters", figure, limit, help)
}

/// A parameter's name.
pub(crate) fn parameter_name(definition: &'static KernelDefinition, index: usize) -> &'static str {
    definition.passed_name(index)
}
