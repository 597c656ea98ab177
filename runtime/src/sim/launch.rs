//! A launch: arguments checked against the kernel and bound to its objects, blocks run, counters gathered.

use super::buffer::View;
use super::cells::Unordered;
use super::counters::{Counters, LineCounters, Tally};
use super::order::MissingFence;
use super::program::{Access, Program};
use super::shadow::Clash;
use super::tallies::Tallies;
use super::{Error, Fault, FaultKind, FaultPlace, SimArgument, SimLaunch};
use crate::error::mistake;
use crate::texture::Picture;
use std::collections::BTreeMap;
use std::io::Write;
use warpwright_codegen::ir::{Location, Space, grid_misfit};
use warpwright_codegen::target::limits::{BLOCK_THREADS, MOST_SHARED_BYTES};

/// Blocks of a persistent kernel that run at once, at least, if the grid has as many.
const LEAST_RESIDENT: u64 = 3;

/// Blocks of the grid that one of them runs for, at most.
const MOST_ROUNDS: u64 = 8;

/// A launch, bound.
#[derive(Debug)]
pub(super) struct BoundLaunch<'a> {
    pub(super) program: &'a Program,
    /// The blocks that run.
    pub(super) grid: [u32; 3],
    /// The blocks that were asked for.
    pub(super) asked: [u32; 3],
    pub(super) block: [u32; 3],
    /// Threads of a block, a producer's included, and without these.
    pub(super) threads: u32,
    pub(super) workers: u32,
    /// Shared memory of a block in bytes, dynamic included.
    pub(super) shared_bytes: u64,
    /// Elements of each slice object.
    pub(super) lengths: Vec<u64>,
    /// Bytes of each object.
    pub(super) sizes: Vec<u64>,
    /// Buffers; empty views for other objects.
    pub(super) views: Vec<View<'a>>,
    /// By-value parameters, constant memory, tables, texels; empty for other objects.
    pub(super) constants: Vec<&'a [u8]>,
    /// Textures without their texels, which are in `constants`.
    pub(super) pictures: Vec<Option<Picture>>,
}

/// Position of a thread or block from its number, x fastest.
pub(super) fn thread_position(number: u32, size: [u32; 3]) -> [u32; 3] {
    [number % size[0], number / size[0] % size[1], number / size[0] / size[1]]
}

/// Of these blocks of a persistent kernel, those that run at once, each for several: few, so that small grids have rounds, too, and not so few that one goes
/// round long enough for a loop without end. They are whole clusters.
fn resident(asked: [u32; 3], cluster: u64) -> [u32; 3] {
    let blocks: u64 = asked.iter().map(|extent| u64::from(*extent)).product();
    // Launches of 2^32 blocks are refused.
    let some = blocks.div_ceil(MOST_ROUNDS).max(LEAST_RESIDENT).next_multiple_of(cluster);
    [u32::try_from(blocks.min(some)).unwrap_or(u32::MAX), 1, 1]
}

/// Runs a program.
pub(super) fn run(
    program: &Program,
    launch: &SimLaunch,
    arguments: &mut [SimArgument<'_>],
    output: &mut dyn Write,
) -> Result<Counters, Error> {
    // Buffers that do not begin at a multiple of 8 bytes run on copies that do.
    let mut copies: Vec<Option<Vec<u64>>> = arguments.iter().map(aligned_copy).collect();
    let result = run_bound(program, launch, arguments, &mut copies, output);
    for (argument, copy) in arguments.iter_mut().zip(&copies) {
        if let (SimArgument::Global { bytes }, Some(copy)) = (argument, copy) {
            bytes.chunks_mut(8).zip(copy).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()[..to.len()]));
        }
    }
    result
}

fn run_bound(
    program: &Program,
    launch: &SimLaunch,
    arguments: &mut [SimArgument<'_>],
    copies: &mut [Option<Vec<u64>>],
    output: &mut dyn Write,
) -> Result<Counters, Error> {
    let fail = |reason| Error::Launch { kernel: program.kernel.name.clone(), reason };
    check_geometry(program, launch).map_err(fail)?;
    let launch = bind(program, launch, arguments, copies).map_err(fail)?;
    let tallies = super::blocks::run_blocks(&launch, output)?;
    Ok(launch.counters(&tallies))
}

fn aligned_copy(argument: &SimArgument<'_>) -> Option<Vec<u64>> {
    let bytes = match argument {
        SimArgument::Global { bytes } => &**bytes,
        SimArgument::GlobalReadOnly { bytes } => bytes,
        _ => return None,
    };
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    (!bytes.as_ptr().cast::<u64>().is_aligned()).then(|| bytes.chunks(8).map(word).collect())
}

type Reason = String;

fn check_geometry(program: &Program, launch: &SimLaunch) -> Result<(), Reason> {
    let product = |sizes: [u32; 3]| sizes.iter().map(|n| u128::from(*n)).product::<u128>();
    let show = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    let (blocks, threads) = (product(launch.grid), product(launch.block));
    if blocks == 0 || threads == 0 {
        return Err(format!("grid {} of blocks {} has no threads; give every extent 1 or more", show(launch.grid), show(launch.block)));
    }
    if threads > u128::from(BLOCK_THREADS) {
        return Err(format!("block {} has {threads} threads; the limit is {BLOCK_THREADS}; use a smaller block", show(launch.block)));
    }
    if let Some(fixed) = program.block.filter(|fixed| *fixed != launch.block) {
        return Err(format!("block {} is not the kernel's own, {}; launch that", show(launch.block), show(fixed)));
    }
    if let Some(reason) = grid_misfit(program.asked_cluster, launch.grid.map(u64::from)) {
        return Err(reason);
    }
    if blocks >= 1 << 32 {
        return Err(format!("grid {} has {blocks} blocks; the simulator's limit is 2^32 - 1; use several launches", show(launch.grid)));
    }
    if !program.is_index_wide && blocks * threads >= 1 << 32 {
        return Err(format!("{} threads are too many for 32-bit indices; help: `#[kernel(index = 64)]`", blocks * threads));
    }
    let shared = shared_bytes(program, launch);
    if shared > u64::from(MOST_SHARED_BYTES) {
        return Err(format!("{shared} bytes of shared memory; the limit is {MOST_SHARED_BYTES}; use smaller tiles"));
    }
    Ok(())
}

fn shared_bytes(program: &Program, launch: &SimLaunch) -> u64 {
    let dynamic = program.objects_in(Space::Shared).filter(|(_, o)| o.is_slice).map(|(_, o)| o.base).max();
    dynamic.unwrap_or(program.shared_bytes) + u64::from(launch.shared_bytes)
}

fn bind<'a>(
    program: &'a Program,
    launch: &SimLaunch,
    arguments: &'a mut [SimArgument<'_>],
    copies: &'a mut [Option<Vec<u64>>],
) -> Result<BoundLaunch<'a>, Reason> {
    if arguments.len() != program.params.len() {
        return Err(format!("{} arguments for {} parameters; give one for each, in their order", arguments.len(), program.params.len()));
    }
    let count = program.objects.len();
    let mut bound = BoundLaunch {
        program,
        grid: if program.is_persistent {
            resident(launch.grid, program.cluster.iter().copied().map(u64::from).product())
        } else {
            launch.grid
        },
        asked: launch.grid,
        block: program.started.unwrap_or(launch.block),
        threads: program.started.unwrap_or(launch.block).iter().product(),
        workers: launch.block.iter().product(),
        shared_bytes: shared_bytes(program, launch),
        lengths: vec![0; count],
        sizes: program.objects.iter().map(|o| if o.is_slice { 0 } else { o.unit }).collect(),
        views: vec![View::empty(); count],
        pictures: vec![None; count],
        constants: program.objects.iter().map(|o| &o.table[..]).collect(),
    };
    for (n, object) in program.objects_in(Space::Shared).filter(|(_, o)| o.is_slice) {
        bound.lengths[n] = u64::from(launch.shared_bytes) / object.unit;
        bound.sizes[n] = bound.lengths[n] * object.unit;
    }
    for ((object, argument), copy) in program.params.iter().zip(arguments).zip(copies) {
        bound.bind_argument(*object, argument, copy)?;
    }
    Ok(bound)
}

/// The bytes of words.
fn bytes_of(copy: &mut [u64], len: usize) -> &mut [u8] {
    &mut super::buffer::as_bytes(copy)[..len]
}

impl<'a> BoundLaunch<'a> {
    fn bind_argument(&mut self, object: usize, argument: &'a mut SimArgument<'_>, copy: &'a mut Option<Vec<u64>>) -> Result<(), Reason> {
        let info = &self.program.objects[object];
        let name = &info.name;
        let (space, given) = match argument {
            SimArgument::Value(_) => (Space::Param, "a value"),
            SimArgument::Global { .. } | SimArgument::GlobalReadOnly { .. } => (Space::Global, "a buffer"),
            SimArgument::Constant { .. } => (Space::Constant, "constant memory"),
            SimArgument::Texture { .. } => (Space::Global, "a texture"),
        };
        let is_texture = matches!(argument, SimArgument::Texture { .. });
        if space != info.space || is_texture != info.is_texture {
            let memory = if info.is_texture { "a texture".to_owned() } else { format!("in {} memory", info.space) };
            let wanted = match info.space {
                _ if info.is_texture => "Texture",
                Space::Global if info.is_writable => "Global",
                Space::Global => "GlobalReadOnly",
                Space::Constant => "Constant",
                Space::Param | Space::Shared | Space::Local | Space::Cluster => "Value",
            };
            return Err(format!("`{name}` is {memory}, but the argument is {given}; give `SimArgument::{wanted}`"));
        }
        let bytes = match argument {
            SimArgument::Global { bytes } => {
                let len = bytes.len();
                self.views[object] = View::new(copy.as_mut().map_or(&mut **bytes, |copy| bytes_of(copy, len)));
                len
            }
            SimArgument::GlobalReadOnly { .. } if info.is_writable => {
                return Err(format!("`{name}` is `&mut Global`, but the argument is read-only; give `SimArgument::Global`"));
            }
            SimArgument::GlobalReadOnly { bytes } => {
                self.views[object] = match copy {
                    Some(copy) => View::new(bytes_of(copy, bytes.len())),
                    None => View::read_only(bytes),
                };
                bytes.len()
            }
            SimArgument::Texture { texels, picture } => {
                // Pictures are made, and have their texels, in this crate alone.
                if picture.bytes() != texels.len() as u64 || u64::from(picture.texel_bytes()) != info.unit {
                    return Err(mistake());
                }
                self.constants[object] = texels;
                self.pictures[object] = Some(*picture);
                texels.len()
            }
            SimArgument::Value(bytes) | SimArgument::Constant { bytes } => {
                self.constants[object] = bytes;
                bytes.len()
            }
        } as u64;
        self.bind_size(object, bytes)
    }

    fn bind_size(&mut self, object: usize, bytes: u64) -> Result<(), Reason> {
        let info = &self.program.objects[object];
        let (name, unit) = (&info.name, info.unit);
        if !info.is_slice && bytes != unit {
            return Err(format!("`{name}` is {unit} bytes, but the argument has {bytes}; give {unit}"));
        }
        if info.is_slice && !bytes.is_multiple_of(unit) {
            let below = bytes - bytes % unit;
            return Err(format!(
                "`{name}` has elements of {unit} bytes, but the argument's {bytes} bytes are not a multiple of that; give {below} or {}",
                below + unit
            ));
        }
        let length = bytes / unit.max(1);
        if info.is_slice && !self.program.is_index_wide && length >= 1 << 32 {
            return Err(format!("`{name}` has {length} elements, too many for 32-bit indices; help: `#[kernel(index = 64)]`"));
        }
        self.lengths[object] = length;
        self.sizes[object] = bytes;
        Ok(())
    }

    /// Bytes of an object; of the arrays of a cluster's blocks, of one of them.
    pub(super) fn bytes_of_one(&self, object: usize) -> u64 {
        self.sizes[self.program.objects[object].peers_of.unwrap_or(object)]
    }

    /// Blocks of the grid.
    pub(super) fn blocks(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// A fault at a place in the source.
    pub(super) fn fault(&self, location: Location, block: [u32; 3], thread: u32, kind: FaultKind) -> Box<Fault> {
        let file_of = |location: Location| self.program.file(location.file);
        let caller_of = |location: &Location| Some(self.program.kernel.locations[location.caller?]);
        let calls = std::iter::successors(caller_of(&location), caller_of);
        let calls = calls.map(|call| FaultPlace { file: file_of(call), line: call.line, column: call.column }).collect();
        Box::new(Fault {
            kernel: self.program.kernel.name.clone(),
            file: file_of(location),
            line: location.line,
            column: location.column,
            calls,
            block,
            thread: thread_position(thread, self.block),
            kind,
            origins: Vec::new(),
        })
    }

    /// The race of an access at `offset` with an earlier one.
    pub(super) fn race(&self, access: &Access, offset: u64, clash: &Clash) -> FaultKind {
        let size = u64::from(access.ty.bytes());
        let site = clash.site.and_then(|site| self.program.accesses.get(site as usize));
        FaultKind::Race {
            object: self.program.objects[access.object].name.clone(),
            index: offset / size,
            length: self.bytes_of_one(access.object) / size,
            access: access.kind,
            other_access: clash.other,
            other_thread: clash.thread.map(|thread| thread_position(thread, self.block)),
            other_line: site.map(|site| site.location.line).filter(|line| *line != 0),
            across_blocks: clash.across_blocks,
            other_block: None,
            missing_fence: None,
            atomic_line: None,
            in_cluster: self.program.is_clustered && matches!(self.program.objects[access.object].space, Space::Shared | Space::Cluster),
        }
    }

    /// The race of an access at `offset`, in block `block`, with an earlier one: why it is not ordered, and the atomic that saw it.
    pub(super) fn unordered(
        &self,
        access: &Access,
        offset: u64,
        found: &Unordered,
        block: u32,
        (missing, atomic): (MissingFence, Option<u32>),
    ) -> FaultKind {
        let line = |site: u32| self.program.accesses.get(site as usize).map(|site| site.location.line).filter(|line| *line != 0);
        let across_blocks = found.epoch.block != block;
        let clash = Clash { other: found.other, thread: Some(found.thread), site: found.epoch.site().checked_sub(1), across_blocks };
        let mut race = self.race(access, offset, &clash);
        if let FaultKind::Race { other_block, missing_fence, atomic_line, .. } = &mut race {
            *other_block = Some(thread_position(found.epoch.block, self.grid));
            *missing_fence = Some(missing);
            *atomic_line = atomic.and_then(line);
        }
        race
    }

    /// What machines have counted, by source line.
    pub(super) fn counters(&self, tallies: &Tallies) -> Counters {
        let mut lines: BTreeMap<(u16, u32), Tally> = BTreeMap::new();
        let mut at = |location: Location, add: &dyn Fn(&mut Tally)| add(lines.entry((location.file, location.line)).or_default());
        let program = self.program;
        for (segment, (warps, threads)) in program.segments.iter().zip(&tallies.segments) {
            for (location, class, number) in &segment.items {
                at(*location, &|tally| {
                    tally.warp_instructions[*class as usize] += warps * u64::from(*number);
                    tally.thread_instructions[*class as usize] += threads * u64::from(*number);
                });
            }
        }
        for (access, traffic) in program.accesses.iter().zip(&tallies.traffic) {
            at(access.location, &|tally| match program.objects[access.object].space {
                Space::Global => {
                    tally.global_requests += traffic.requests;
                    tally.global_sectors += traffic.sectors;
                    tally.global_bytes += traffic.bytes;
                }
                Space::Shared => {
                    tally.shared_requests += traffic.requests;
                    tally.shared_passes += traffic.passes;
                    tally.shared_replays += traffic.replays;
                }
                _ => {}
            });
            if access.atomic.is_some() {
                at(access.location, &|tally| tally.atomics += traffic.lanes);
            }
        }
        for (location, splits) in program.branches.iter().zip(&tallies.divergent) {
            at(*location, &|tally| tally.divergent_branches += splits);
        }
        for (barrier, passed) in program.barriers.iter().zip(&tallies.barriers) {
            at(barrier.location, &|tally| tally.barriers += passed);
        }
        let mut counters = Counters {
            kernel: program.kernel.name.clone(),
            blocks: tallies.blocks,
            threads: tallies.blocks * u64::from(self.threads),
            ..Counters::default()
        };
        for ((file, line), tally) in lines {
            counters.total += &tally;
            if tally != Tally::default() {
                let file = program.file(file);
                counters.lines.push(LineCounters { file, line, tally });
            }
        }
        counters
    }
}
