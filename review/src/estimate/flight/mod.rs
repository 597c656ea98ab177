//! What one warp waits for: its instructions on a line of time, when nothing but its own dependences delays it.
//!
//! An instruction starts when its operands are there, not before the last fence: a barrier, a branch that is no predicate, the end of an
//! iteration. Inside those limits the assembler moves what it likes, and so it is here: loads start as soon as their addresses are known.
//! What it must not do, it does not do here either: a load from memory that somebody writes stays behind a store that may be to the same
//! place. Read-only buffers are loaded above any store; of two accesses from one pointer, constants tell which are different places; buffers
//! that are written are not told apart, since pointers may alias for all the assembler knows. Small loops that count by a constant are taken four
//! iterations at a time, as `ptxas` takes them, unless the kernel keeps them rolled. Copies to rings go on by themselves: only the wait for their group waits for
//! what they load, or, for the copy engine's, for the phase that counts them.
//!
//! Loops run three times, deep ones once; the last time tells what each of the others takes. A pipelined loop runs until it has come round its ring
//! twice, and the second time tells: it waits for memory once in as many iterations as are under way.

mod ahead;
mod stores;

use super::constants::ConstantLoad;
use super::engine;
use super::mix;
use super::traffic::{LoadSource, Merged};
use super::weights::Weights;
use crate::machine::{Machine, PIPES, Pipe};
use ahead::{Ahead, Brought, Fed, MOST_AHEAD, Phases, fed, most_at_once};
use stores::Stored;
use warpwright_codegen::collections::HashMap;
use warpwright_codegen::ir::intrinsic::CopyStep;
use warpwright_codegen::ir::{Address, Block, Fill, Inst, Kernel, Loc, Memory, MemoryOp, Op, Region, Space, Terminator, Value};
use warpwright_codegen::target::limits::WARP;

/// Cycles until a load of another block's shared memory gives its value. Source: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
/// Microbenchmarking" (2024), of an H800.
const PEER: f64 = 180.0;

/// Iterations that the assembler takes at a time.
const ASSEMBLER_UNROLLS: usize = 4;

/// Instructions of a body up to which it does.
const SMALL_BODY: usize = 40;

/// Loops inside of more loops than this run once: what they take is a share of what is round them already.
const DEEP: usize = 2;

/// Stores that later loads are held against: as many as are under way.
const STORES: usize = 64;

/// One warp by itself, *estimated*.
#[derive(Clone, Debug, PartialEq)]
pub struct Flight {
    /// Clock cycles from its first instruction to its last.
    pub cycles: f64,
    /// Loads from global memory that are under way at once, at most.
    pub loads: u32,
    /// Bytes of a thread that they bring.
    pub bytes: f64,
    /// Loads that wait although nothing they need does.
    pub serial: Vec<SerialLoad>,
}

/// A load that stays behind a store to memory that it may read, while the store waits for another load. Without the order of the
/// source, both would be under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialLoad {
    /// The load that waits.
    pub load: Inst,
    /// The store it stays behind.
    pub store: Inst,
    /// The load whose value the store waits for.
    pub first: Inst,
    /// Where that one is in the source.
    pub first_loc: Loc,
}

/// Follows one warp of an `Addressed` kernel. Streams that are loaded side by side come a little later than one alone.
pub(crate) fn flight(kernel: &Kernel, weights: &Weights, sources: &HashMap<Inst, LoadSource>, warps: f64, machine: &Machine) -> Flight {
    let values = kernel.values.len();
    let mut line = Line {
        kernel,
        weights,
        sources,
        merged: Merged::of(kernel),
        warps,
        machine,
        memory: machine.memory.latency
            * machine.clock
            * (1.0 + machine.memory.spread * (1.0 - 1.0 / buffers_read(kernel, weights, sources))),
        ready: vec![0.0; values],
        origin: vec![None; values],
        fence: 0.0,
        issued: 0.0,
        skipped: 0.0,
        used: [0.0; PIPES],
        slots: 0.0,
        phase: Phase::default(),
        barriers: 0,
        landed: 0.0,
        stores: Vec::new(),
        open: 0.0,
        groups: Vec::new(),
        phases: Phases::default(),
        fed: fed(kernel),
        asked: HashMap::default(),
        loads: Vec::new(),
        serial: Vec::new(),
        frames: Vec::new(),
    };
    line.block(kernel.body);
    line.settle();
    let (loads, bytes) = most_at_once(&mut line.loads);
    Flight { cycles: line.issued + line.skipped, loads, bytes, serial: line.serial }
}

/// Buffers that are read from memory, at least 1.
fn buffers_read(kernel: &Kernel, weights: &Weights, sources: &HashMap<Inst, LoadSource>) -> f64 {
    let mut read = vec![false; kernel.objects.len()];
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, .. } }) = &kernel.insts[inst].op
            && kernel.objects[*object].space() == Space::Global
        {
            let is_near = sources.get(&inst).is_some_and(|source| source.first + source.second > 0.5);
            read[usize::from(*object)] |= weights.get(inst) > 0.0 && !is_near;
        }
        if let Some((object, _)) = engine::copied(kernel, inst) {
            read[usize::from(object)] |= weights.get(inst) > 0.0;
        }
    });
    read.iter().filter(|is_read| **is_read).count().max(1) as f64
}

/// What a warp has done since the last barrier: the block's other warps do it at the same time.
#[derive(Clone, Copy, Default)]
struct Phase {
    /// When it began, what was skipped counted.
    begin: f64,
    used: [f64; PIPES],
    slots: f64,
}

struct Frame {
    owner: Inst,
    next: Vec<f64>,
    results: Vec<f64>,
}

struct Line<'k> {
    kernel: &'k Kernel,
    weights: &'k Weights,
    sources: &'k HashMap<Inst, LoadSource>,
    merged: Merged,
    /// Warps of the block.
    warps: f64,
    machine: &'k Machine,
    /// Cycles of a load from device memory.
    memory: f64,
    /// By value: when it can be used.
    ready: Vec<f64>,
    /// By value: the global load that it waits for longest.
    origin: Vec<Option<Inst>>,
    /// Nothing starts before.
    fence: f64,
    /// When the last instruction started.
    issued: f64,
    /// Cycles of the iterations that are not gone through: they count, but the line goes on without them.
    skipped: f64,
    /// Since the fence: instructions by pipe, and all.
    used: [f64; PIPES],
    slots: f64,
    phase: Phase,
    /// How many barriers there were.
    barriers: u32,
    /// When the last store to shared memory is seen.
    landed: f64,
    stores: Vec<Stored>,
    /// When the copies to rings that are in no group yet will have arrived, and those of each group.
    open: f64,
    groups: Vec<f64>,
    phases: Phases,
    fed: Vec<Fed>,
    /// How often each instruction to the copy engine was come to.
    asked: HashMap<Inst, f64>,
    loads: Vec<Brought>,
    serial: Vec<SerialLoad>,
    frames: Vec<Frame>,
}

impl Line<'_> {
    fn times(&self, values: &[Value]) -> Vec<f64> {
        values.iter().map(|value| self.ready[usize::from(*value)]).collect()
    }

    fn bind(&mut self, values: &[Value], times: &[f64]) {
        for (n, value) in values.iter().enumerate() {
            self.ready[usize::from(*value)] = times.get(n).copied().unwrap_or(self.fence);
        }
    }

    /// The warp has issued all that it had to issue; what it had to issue took its time.
    fn settle(&mut self) {
        let pipes = Pipe::ALL.iter().map(|(pipe, _)| self.used[*pipe as usize] * f64::from(WARP) * 4.0 / self.machine.lanes(*pipe));
        let busy = pipes.fold(self.slots * 4.0 / self.machine.lanes.issue, f64::max);
        self.issued = self.issued.max(self.fence + busy);
        self.fence = self.issued;
        self.phase.used.iter_mut().zip(self.used).for_each(|(sum, count)| *sum += count);
        self.phase.slots += self.slots;
        self.used = [0.0; PIPES];
        self.slots = 0.0;
        // Whatever comes starts after all of them.
        self.stores.clear();
    }

    /// Goes through a block; gives what it yields.
    fn block(&mut self, block: Block) -> Option<Vec<f64>> {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let inst = *inst;
            match &kernel.insts[inst].op {
                Op::Terminator(Terminator::Yield(values)) => return Some(self.times(values)),
                Op::Terminator(Terminator::Continue(owner, values)) => {
                    let times = self.times(values);
                    self.leave(*owner, times, true);
                }
                Op::Terminator(Terminator::Break(owner, values)) => {
                    let times = self.times(values);
                    self.leave(*owner, times, false);
                }
                Op::Terminator(Terminator::Return | Terminator::Trap(_)) => {}
                Op::Region(Region::If { condition, then_block, else_block }) => self.branch(inst, *condition, [*then_block, *else_block]),
                Op::Region(Region::For { .. } | Region::Loop { .. }) => self.repeat(inst),
                Op::Region(Region::Block { body }) => {
                    self.frames.push(Frame { owner: inst, next: Vec::new(), results: Vec::new() });
                    let yielded = self.block(*body);
                    let frame = self.frames.pop();
                    let results = yielded.or(frame.map(|frame| frame.results)).unwrap_or_default();
                    self.bind(&kernel.insts[inst].results, &results);
                }
                _ => self.instruction(inst),
            }
        }
        None
    }

    fn leave(&mut self, owner: Inst, times: Vec<f64>, continues: bool) {
        if let Some(frame) = self.frames.iter_mut().rev().find(|frame| frame.owner == owner) {
            let slot = if continues { &mut frame.next } else { &mut frame.results };
            if slot.len() == times.len() {
                slot.iter_mut().zip(times).for_each(|(known, time)| *known = known.max(time));
            } else {
                *slot = times;
            }
        }
    }

    fn branch(&mut self, inst: Inst, condition: Value, arms: [Block; 2]) {
        let kernel = self.kernel;
        let known = self.ready[usize::from(condition)];
        let cost = mix::cost(kernel, inst);
        let is_predicate = cost.slots() == 0.0;
        if !is_predicate {
            self.charge(&cost);
            self.issued = self.issued.max(known);
            self.settle();
        }
        let mut results: Vec<f64> = Vec::new();
        let whole = self.weights.get(inst);
        for arm in arms {
            let first = kernel.blocks[arm].insts.first();
            let weight = first.map_or(0.0, |first| self.weights.get(*first));
            if !first.is_some_and(|first| self.weights.is_run(*first)) {
                continue;
            }
            // Some warps pass it by: that is a branch taken.
            if !is_predicate && weight < whole {
                self.fence += self.machine.cycles.branch;
            }
            for (n, time) in self.block(arm).unwrap_or_default().into_iter().enumerate() {
                let time = time.max(known);
                match results.get_mut(n) {
                    Some(result) => *result = result.max(time),
                    None => results.push(time),
                }
            }
        }
        if !is_predicate {
            self.settle();
        }
        self.bind(&kernel.insts[inst].results, &results);
        self.inherit(inst, arms);
    }

    /// What an `if` gives waits for what its arms give.
    fn inherit(&mut self, inst: Inst, arms: [Block; 2]) {
        let kernel = self.kernel;
        for arm in arms {
            if let Some(Op::Terminator(Terminator::Yield(values))) = kernel.blocks[arm].insts.last().map(|last| &kernel.insts[*last].op) {
                for (result, value) in kernel.insts[inst].results.iter().zip(values) {
                    if let Some(origin) = self.origin[usize::from(*value)] {
                        self.origin[usize::from(*result)] = Some(origin);
                    }
                }
            }
        }
    }

    fn repeat(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let op = &kernel.insts[inst].op;
        let (body, init, counts) = match op {
            Op::Region(Region::For { init, body, .. }) => (*body, init, true),
            Op::Region(Region::Loop { init, body, .. }) => (*body, init, false),
            _ => return,
        };
        self.settle();
        let copies = if assembler_unrolls(kernel, inst) { ASSEMBLER_UNROLLS } else { 1 };
        let groups = (self.weights.most_rounds(inst) / copies as f64).ceil();
        if groups < 1.0 {
            let times = self.times(init);
            self.bind(&kernel.insts[inst].results, &times);
            return;
        }
        let params = &kernel.blocks[body].params;
        let carried = if counts { &params[1.min(params.len())..] } else { params.as_slice() };
        let mut state = self.times(init);
        let loops = self.frames.iter().filter(|frame| !matches!(kernel.insts[frame.owner].op, Op::Region(Region::Block { .. }))).count();
        // The rounds that tell together what the others take.
        let ahead = self.ahead(body);
        let simulated = groups.min(match ahead {
            Some(Ahead::Fills) => MOST_AHEAD,
            Some(Ahead::Waits(slots)) => 1.0 + 2.0 * slots as f64,
            None if loops < DEEP => 3.0,
            None => 1.0,
        }) as usize;
        let mut ends = vec![self.fence + self.skipped];
        let mut before = (self.phase, self.barriers);
        for _ in 0..simulated {
            before = (self.phase, self.barriers);
            for _ in 0..copies {
                if let (true, Some(counter)) = (counts, params.first()) {
                    self.ready[usize::from(*counter)] = self.fence;
                }
                self.bind(carried, &state);
                self.frames.push(Frame { owner: inst, next: Vec::new(), results: Vec::new() });
                let yielded = self.block(body);
                let frame = self.frames.pop();
                state = match (yielded, frame) {
                    (Some(times), _) => times,
                    (None, Some(frame)) if !frame.next.is_empty() => frame.next,
                    (None, Some(frame)) => frame.results,
                    (None, None) => Vec::new(),
                };
            }
            self.charge(&mix::iteration(op));
            self.settle();
            self.fence += self.machine.cycles.branch;
            self.issued = self.fence;
            ends.push(self.fence + self.skipped);
        }
        let telling = if let Some(Ahead::Waits(slots)) = ahead { slots.clamp(1, simulated) } else { 1 };
        let each = (ends[simulated] - ends[simulated - telling]) / telling as f64;
        let skipped = groups - simulated as f64;
        if self.barriers == before.1 {
            // No barrier in it: all of it is of one phase.
            let now = self.phase;
            self.phase
                .used
                .iter_mut()
                .zip(now.used.iter().zip(before.0.used))
                .for_each(|(sum, (now, before))| *sum += skipped * (now - before));
            self.phase.slots += skipped * (now.slots - before.0.slots);
        } else {
            self.phase.begin += skipped * each;
        }
        self.skipped += skipped * each;
        self.bind(&kernel.insts[inst].results, &state);
    }

    /// At a barrier: the block's warps have issued what they had to since the last one, on schedulers and pipes that they share, and what they
    /// stored is there.
    fn wait_for_all(&mut self) {
        let Phase { begin, used, slots } = self.phase;
        let pipes = Pipe::ALL.iter().map(|(pipe, _)| used[*pipe as usize] * f64::from(WARP) / self.machine.lanes(*pipe));
        let busy = self.warps * pipes.fold(slots / self.machine.lanes.issue, f64::max);
        self.fence = self.fence.max(begin - self.skipped + busy).max(self.landed);
        let cycles = &self.machine.cycles;
        self.fence += cycles.barrier + cycles.barrier_per_warp * (self.warps - 1.0).max(0.0);
        self.phase = Phase { begin: self.fence + self.skipped, ..Phase::default() };
        self.barriers += 1;
    }

    fn charge(&mut self, cost: &mix::Cost) {
        self.slots += cost.slots();
        self.used.iter_mut().zip(cost.pipes).for_each(|(sum, count)| *sum += count);
    }

    fn instruction(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        if let Op::Engine(told) = &data.op {
            return self.tell_engine(inst, told);
        }
        let cost = if self.merged.rides_along(inst) { mix::Cost::default() } else { mix::cost(kernel, inst) };
        self.charge(&cost);
        let (mut start, mut origin, mut latest) = (self.fence, None, f64::NEG_INFINITY);
        let copied = self.copied(&data.op);
        data.op.for_each_operand(|value| {
            if copied.contains(&value) {
                return;
            }
            let time = self.ready[usize::from(value)];
            start = start.max(time);
            if time > latest {
                (latest, origin) = (time, self.origin[usize::from(value)]);
            }
        });
        let mut latency = self.latency(inst, &cost);
        if let Some((space, is_write, bytes)) = mix::access(kernel, inst) {
            let wanted = start;
            if !copied.is_empty() {
                self.open = copied.iter().map(|value| self.ready[usize::from(*value)]).fold(self.open, f64::max);
                self.issued = self.issued.max(start);
                return;
            }
            start = self.in_order(inst, space, start);
            if is_write {
                self.remember(inst, space, start, origin);
                if space == Space::Shared {
                    self.landed = self.landed.max(start + self.machine.cycles.shared);
                }
            } else if space == Space::Global {
                if start - wanted > self.memory / 2.0 {
                    self.note_serial(inst, start);
                }
                latency = self.of_source(inst, start);
                origin = Some(inst);
                self.loads.push(Brought { start, end: start + latency, bytes: f64::from(bytes), loads: 1 });
            }
        }
        self.issued = self.issued.max(start);
        if let Op::Intrinsic(row, args) = &data.op
            && row.row().effects.orders_blocks()
        {
            self.settle();
            if row.row().effects.is_barrier() {
                self.wait_for_all();
            }
            match (row.row().copy_step(), args.first().and_then(|groups| kernel.constant(*groups))) {
                (Some(CopyStep::Commit), _) => self.groups.push(std::mem::take(&mut self.open)),
                (Some(CopyStep::Await), Some(last)) => {
                    let arrived = self.groups.len().saturating_sub(last.bits as usize);
                    self.fence = self.groups.drain(..arrived).fold(self.fence, f64::max);
                }
                _ => {}
            }
            self.issued = self.fence;
        }
        for result in &data.results {
            self.ready[usize::from(*result)] = start + latency;
            self.origin[usize::from(*result)] = origin;
        }
    }

    /// What a store to a ring stores, if it is one: nobody waits for it there.
    fn copied<'o>(&self, op: &'o Op) -> &'o [Value] {
        match op {
            Op::Memory(Memory { op: MemoryOp::Store(values), at }) if self.kernel.is_filled_by(at.object(), Fill::Groups) => values,
            _ => &[],
        }
    }

    /// Cycles of a load from global memory that starts then: what each of its sources takes, as often as it is that one. Caches that many ask at once
    /// answer as much later as memory does.
    fn of_source(&self, inst: Inst, start: f64) -> f64 {
        const ASKED_BY_MANY: f64 = 1.15;
        let cycles = &self.machine.cycles;
        let Some(LoadSource { first, second, with, .. }) = self.sources.get(&inst) else { return self.memory };
        if let Some(value) = with.and_then(|with| self.kernel.insts[with].results.first()) {
            return (self.ready[usize::from(*value)] - start).max(cycles.l1);
        }
        first * cycles.l1 + second * cycles.l2 * ASKED_BY_MANY + (1.0 - first - second).max(0.0) * self.memory
    }

    /// Cycles until the results of an instruction can be used.
    fn latency(&self, inst: Inst, cost: &mix::Cost) -> f64 {
        let cycles = &self.machine.cycles;
        if let Some((space, is_write, _)) = mix::access(self.kernel, inst) {
            return match space {
                Space::Param => 0.0,
                // Only an atomic both writes and gives something.
                Space::Global if is_write => cycles.l2,
                Space::Global => self.memory,
                Space::Shared if is_write => 2.0 * cycles.shared,
                Space::Shared => cycles.shared,
                Space::Constant => {
                    let load = self.sources.get(&inst).map_or(ConstantLoad::default(), |source| source.constant);
                    cycles.shared + load.replays * cycles.constant + load.lines * cycles.constant_line
                }
                Space::Cluster if is_write => 2.0 * PEER,
                Space::Cluster => PEER,
                Space::Local => cycles.l1,
            };
        }
        // What a texture is read for is near: its cache is the first one.
        if matches!(&self.kernel.insts[inst].op, Op::Texture(op, ..) if op.reads()) {
            return cycles.l1;
        }
        let slots = cost.slots();
        let one = match cost.pipe() {
            _ if slots == 0.0 => return 0.0,
            Pipe::Single | Pipe::Product => cycles.single,
            Pipe::Double => cycles.double,
            Pipe::Special => cycles.special,
            Pipe::Memory => cycles.shuffle,
            Pipe::Integer | Pipe::Logic | Pipe::Control | Pipe::Tensor | Pipe::WarpTensor | Pipe::DoubleTensor => cycles.integer,
        };
        // A sequence of instructions is mostly a chain.
        one * slots.max(1.0).sqrt().ceil().max(slots / 2.0)
    }
}

/// Whether the assembler takes several iterations of a loop at a time by itself.
fn assembler_unrolls(kernel: &Kernel, inst: Inst) -> bool {
    let Op::Region(Region::For { step, body, keep_rolled: false, .. }) = &kernel.insts[inst].op else { return false };
    // A loop in larger steps is written so that its counter does not wrap round, which the assembler does not see through.
    if kernel.constant(*step).is_none_or(|step| step.as_int() != 1) {
        return false;
    }
    let (mut size, mut is_plain) = (0, true);
    kernel.walk_block(*body, &mut |kernel, _, inst| {
        size += 1;
        is_plain &= match &kernel.insts[inst].op {
            Op::Region(Region::For { .. } | Region::Loop { .. }) => false,
            Op::Intrinsic(row, _) => row.row().effects.is_pure(),
            _ => true,
        };
    });
    is_plain && size <= SMALL_BODY
}
