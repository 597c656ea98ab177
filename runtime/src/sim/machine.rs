//! One worker's machine: runs warps, each until it has ended, stands at a barrier, or lets others run. [`super::worker`] says which is next.

use super::cells::Cells;
use super::cluster::Membership;
use super::engine::Engine;
use super::flight::Flights;
use super::launch::BoundLaunch;
use super::memory::first;
use super::order::{Element, Order};
use super::print::format_message;
use super::program::{Call, CallEval, CheckFailure, ObjectInfo, SimStep};
use super::registers::{Mask, Reg, Registers, copy_masked, lanes};
use super::shadow::{Now, Shadow};
use super::tallies::Tallies;
use super::warp::{Warp, Watch};
use super::weak::{Places, Weak};
use super::{Fault, FaultKind};
use std::collections::HashMap;
use warpwright_codegen::ir::{Location, MemoryOrder, Scalar, Space};
use warpwright_codegen::target::limits::LANES;

/// A fault before it is known whose it is.
#[derive(Debug)]
pub(super) struct LaneFault {
    /// The first lane at fault.
    pub(super) lane: usize,
    /// What it did.
    pub(super) kind: FaultKind,
}

/// The block that runs, or one that waits.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) number: u32,
    pub(super) place: [u32; 3],
    /// Where it is in its cluster.
    pub(super) membership: Membership,
    /// Shared memory.
    pub(super) shared: Vec<u8>,
    /// Shadow of each shared object, in kernels with [`Program::orders`].
    pub(super) cells: Vec<Cells>,
    /// What its threads know of others, in such kernels.
    pub(super) order: Order,
    /// What atomics on its shared memory passed on, by object and byte.
    pub(super) passed: HashMap<(usize, u64), Element>,
    /// What atomics on its shared memory wrote, where memory is weak.
    pub(super) places: Places,
    /// Its copies on their way.
    pub(super) flights: Flights,
    /// What it has told the copy engine.
    pub(super) engine: Engine,
    /// Tick of its begin, and of its last barrier: see [`super::shadow`].
    pub(super) start: u32,
    pub(super) interval_start: u32,
    /// Of its last barrier to which a producer's threads came, too.
    pub(super) met: u32,
}

impl Block {
    fn new(launch: &BoundLaunch<'_>) -> Block {
        let cells = |(n, object): (usize, &ObjectInfo)| {
            if matches!(object.space, Space::Shared if launch.program.orders) {
                Cells::new(launch.sizes[n], object.granule)
            } else {
                Cells::default()
            }
        };
        let ring = |(n, object): (usize, &ObjectInfo)| object.is_ring.then_some((launch.sizes[n], object.granule));
        Block {
            number: 0,
            place: [0; 3],
            membership: Membership::default(),
            shared: vec![0; launch.shared_bytes as usize],
            cells: launch.program.objects.iter().enumerate().map(cells).collect(),
            order: Order::default(),
            passed: HashMap::new(),
            places: Places::default(),
            flights: Flights::new(launch.program.objects.iter().enumerate().map(ring), launch.threads),
            engine: Engine::new(launch.threads),
            start: 0,
            interval_start: 0,
            met: 0,
        }
    }
}

/// One worker's machine.
#[derive(Debug)]
pub(super) struct Machine<'l> {
    pub(super) launch: &'l BoundLaunch<'l>,
    /// The current block.
    pub(super) block: Block,
    /// The blocks of the cluster, by rank; the current one's place is taken by another.
    pub(super) members: Vec<Block>,
    /// Shadow of each object; empty where none is needed.
    pub(super) shadows: Vec<Shadow>,
    /// The same of global objects, in kernels with [`Program::orders`].
    pub(super) cells: Vec<Cells>,
    /// What atomics on global memory passed on, by object and byte.
    pub(super) passed: HashMap<(usize, u64), Element>,
    /// What atomics on global memory wrote, where memory is weak.
    pub(super) weak: Option<Weak>,
    pub(super) tallies: Tallies,
    /// What the kernel printed and has not been written yet.
    pub(super) output: String,
    /// See [`super::shadow`].
    pub(super) tick: u32,
    /// Counts changes of memory, so that who waits for one knows that there was none.
    pub(super) version: u64,
}

/// Why a warp stopped.
enum Stop {
    Done,
    Barrier(u32),
    /// It waits, or others should run, too.
    Pause,
}

/// Turns of loops after which a warp is looked at: in kernels where threads may wait for each other, and in others.
const TURNS: [u64; 2] = [256, 1 << 13];

/// Turns within which it has to be as it was.
const CIRCLE: u32 = 64;

/// Turns of loops after which a warp lets others run even if it changes memory.
const SLICE: u64 = 1 << 14;

impl<'l> Machine<'l> {
    pub(super) fn new(launch: &'l BoundLaunch<'l>) -> Machine<'l> {
        let program = launch.program;
        let is_watched = |object: &ObjectInfo| object.space == Space::Shared || object.space == Space::Global && object.is_written;
        let shadow = |(n, object): (usize, &ObjectInfo)| match is_watched(object) && !program.orders {
            true => Shadow::new(launch.sizes[n], object.granule),
            false => Shadow::default(),
        };
        let cells = |(n, object): (usize, &ObjectInfo)| match is_watched(object) && object.space == Space::Global && program.orders {
            true => Cells::new(launch.sizes[n], object.granule),
            false => Cells::default(),
        };
        Machine {
            launch,
            block: Block::new(launch),
            members: Vec::new(),
            shadows: program.objects.iter().enumerate().map(shadow).collect(),
            cells: program.objects.iter().enumerate().map(cells).collect(),
            passed: HashMap::new(),
            weak: program.options.weak_memory.filter(|_| program.orders).map(Weak::new),
            tallies: Tallies::new(program),
            output: String::new(),
            tick: 0,
            version: 0,
        }
    }

    /// A block that may take the current one's place.
    pub(super) fn spare_block(&self) -> Block {
        Block::new(self.launch)
    }

    /// Makes the current block this one.
    pub(super) fn begin_block(&mut self, number: u64) -> Result<(), Box<Fault>> {
        let [x, y, _] = self.launch.grid.map(u64::from);
        self.block.number = number as u32;
        self.block.place = [number % x, number / x % y, number / x / y].map(|n| n as u32);
        self.block.cells.iter_mut().for_each(Cells::clear);
        self.block.order = Order::default();
        self.block.passed.clear();
        self.block.places.clear();
        self.block.flights.clear();
        self.block.engine.clear();
        self.next_tick().map_err(|kind| self.launch.fault(Location::default(), self.block.place, 0, kind))?;
        self.block.start = self.tick;
        self.block.interval_start = self.tick;
        self.block.met = self.tick;
        Ok(())
    }

    pub(super) fn next_tick(&mut self) -> Result<(), FaultKind> {
        self.tick = self.tick.checked_add(1).ok_or(FaultKind::IntervalLimit)?;
        Ok(())
    }

    /// Runs a warp to its end or next barrier, or until it pauses.
    pub(super) fn run(&mut self, warp: &mut Warp) -> Result<(), Box<Fault>> {
        match self.run_steps(warp) {
            Ok(Stop::Done) => {
                warp.living = 0;
                warp.waits_at = None;
                Ok(())
            }
            Ok(Stop::Pause) => Ok(()),
            Ok(Stop::Barrier(barrier)) => {
                warp.waits_at = Some(barrier);
                if warp.active == warp.living {
                    return Ok(());
                }
                let (waiting, living) = (warp.active.count_ones(), warp.living.count_ones());
                let kind = FaultKind::DivergentBarrier { waiting, living, within_warp: true, other_line: None };
                Err(self.fault_at(warp, barrier, kind))
            }
            Err(fault) => {
                let location = self.launch.program.location(warp.step);
                let fault = self.launch.fault(location, self.block.place, warp.first_thread + fault.lane as u32, fault.kind);
                Err(fault.with_origins(self.launch.program, warp.step))
            }
        }
    }

    /// A fault of a warp at a barrier.
    pub(super) fn fault_at(&self, warp: &Warp, barrier: u32, kind: FaultKind) -> Box<Fault> {
        let location = self.launch.program.barriers[barrier as usize].location;
        self.launch.fault(location, self.block.place, warp.first_thread + warp.active.trailing_zeros(), kind)
    }

    fn run_steps(&mut self, warp: &mut Warp) -> Result<Stop, LaneFault> {
        let program = self.launch.program;
        loop {
            match program.steps[warp.step] {
                SimStep::Pure(run, operands) => run(&mut warp.registers, &operands),
                SimStep::Count(segment) => {
                    let (warps, threads) = &mut self.tallies.segments[segment as usize];
                    *warps += u64::from(warp.active != 0);
                    *threads += u64::from(warp.active.count_ones());
                }
                SimStep::Move(reg, from) => match reg {
                    Reg::Narrow(d) => copy_masked::<u32>(&mut warp.registers, d, from, warp.active),
                    Reg::Wide(d) => copy_masked::<u64>(&mut warp.registers, d, from, warp.active),
                    Reg::Pred(d) => {
                        let preds = &mut warp.registers.preds;
                        preds[usize::from(d)] = preds[usize::from(from)] & warp.active | preds[usize::from(d)] & !warp.active;
                    }
                },
                SimStep::Access(number) => self.access(warp, number)?,
                SimStep::Barrier(barrier) if warp.active != 0 => {
                    warp.step += 1;
                    return Ok(Stop::Barrier(barrier));
                }
                SimStep::Engine(number) if warp.active != 0 => {
                    if !self.engine(warp, number)? {
                        warp.watch = Watch { circles_in: Some(self.version), at: warp.step, ..Watch::default() };
                        return Ok(Stop::Pause);
                    }
                }
                SimStep::Done => return Ok(Stop::Done),
                step => {
                    if let Some(to) = self.run_control(warp, step)? {
                        warp.step = to as usize;
                        if std::mem::take(&mut warp.watch.is_paused) {
                            return Ok(Stop::Pause);
                        }
                        continue;
                    }
                }
            }
            warp.step += 1;
        }
    }

    /// Runs a step that changes masks or is rare; tells where to jump.
    #[inline]
    fn run_control(&mut self, warp: &mut Warp, step: SimStep) -> Result<Option<u32>, LaneFault> {
        match step {
            SimStep::If { condition, mask, otherwise, branch } => {
                if self.part(warp, condition, mask, branch) {
                    return Ok(Some(otherwise));
                }
            }
            SimStep::Else { mask, end } => {
                std::mem::swap(&mut warp.masks[usize::from(mask)], &mut warp.active);
                return Ok((warp.active == 0).then_some(end));
            }
            SimStep::Join(mask) => warp.active |= std::mem::take(&mut warp.masks[usize::from(mask)]),
            SimStep::Exit(mask) => warp.masks[usize::from(mask)] |= std::mem::take(&mut warp.active),
            SimStep::Return => warp.living &= !std::mem::take(&mut warp.active),
            SimStep::End => {
                warp.ended |= warp.active;
                warp.living &= !std::mem::take(&mut warp.active);
            }
            SimStep::SkipIfEmpty(to) => return Ok((warp.active == 0).then_some(to)),
            SimStep::Enter { condition, mask, end, branch } => {
                if self.part(warp, condition, mask, branch) {
                    return Ok(Some(end));
                }
            }
            SimStep::Again { condition, mask, head, branch } => {
                if !self.part(warp, condition, mask, branch) {
                    self.burn(warp)?;
                    return Ok(Some(head));
                }
            }
            SimStep::Repeat(head) if warp.active != 0 => {
                self.burn(warp)?;
                return Ok(Some(head));
            }
            step => self.run_rare(warp, step)?,
        }
        Ok(None)
    }

    /// Sends the lanes where the `bool` does not hold to wait; tells whether none is left.
    #[inline]
    fn part(&mut self, warp: &mut Warp, condition: u16, mask: u16, branch: u32) -> bool {
        let leaving = warp.active & !warp.registers.preds[usize::from(condition)];
        warp.active &= !leaving;
        warp.masks[usize::from(mask)] |= leaving;
        self.tallies.divergent[branch as usize] += u64::from(leaving != 0 && warp.active != 0);
        warp.active == 0
    }

    /// Counts one more turn of a loop.
    #[inline]
    fn burn(&mut self, warp: &mut Warp) -> Result<(), LaneFault> {
        let Some(fuel) = warp.fuel.checked_sub(1) else {
            let kind = FaultKind::LoopLimit { limit: self.launch.program.options.loop_limit };
            return Err(LaneFault { lane: warp.active.trailing_zeros() as usize, kind });
        };
        warp.fuel = fuel;
        if fuel & (TURNS[0] - 1) == 0 || warp.watch.is_close {
            return self.look(warp);
        }
        Ok(())
    }

    /// Looks whether a warp goes round in circles: then it pauses where another may help it, and is at fault where none can.
    #[cold]
    fn look(&mut self, warp: &mut Warp) -> Result<(), LaneFault> {
        let waits = self.launch.program.waits;
        let watch = &mut warp.watch;
        watch.turns += 1;
        if let Some(before) = watch.before.take() {
            if warp.is_as(&before, self.version) {
                if !waits {
                    return Err(LaneFault { lane: warp.active.trailing_zeros() as usize, kind: FaultKind::EndlessLoop });
                }
                warp.watch = Watch { circles_in: Some(self.version), is_paused: true, at: warp.step, ..Watch::default() };
                return Ok(());
            }
            if warp.watch.turns < CIRCLE {
                warp.watch.before = Some(before);
                return Ok(());
            }
            // Whoever may wait, and has changed nothing since, lets others run.
            let is_idle = before.version == self.version;
            warp.watch = Watch { is_paused: waits && is_idle, at: warp.step, ..Watch::default() };
        }
        if waits && warp.fuel & (SLICE - 1) == 0 {
            warp.watch = Watch { is_paused: true, at: warp.step, ..Watch::default() };
        } else if warp.watch.is_close || warp.fuel & (TURNS[usize::from(!waits)] - 1) == 0 {
            warp.watch = Watch { is_close: true, before: Some(warp.now(self.version)), ..Watch::default() };
        }
        Ok(())
    }

    fn run_rare(&mut self, warp: &mut Warp, step: SimStep) -> Result<(), LaneFault> {
        let program = self.launch.program;
        match step {
            SimStep::Check(find, operands, finding) => {
                if let Some(lane) = first(find(&warp.registers, &operands) & warp.active) {
                    let kind = found(&program.checks[finding as usize], &warp.registers, lane);
                    return Err(LaneFault { lane, kind });
                }
            }
            SimStep::Call(call) => run_call(&program.calls[call as usize], warp, self.launch.threads)?,
            SimStep::Texture(read) => {
                super::texture::read(self.launch, &program.textures[read as usize], &mut warp.registers, warp.active);
            }
            SimStep::LoadMatrix(load) => self.load_matrix(warp, load)?,
            SimStep::MatrixRows(rows) => program.matrix_rows[rows as usize].spread(warp)?,
            SimStep::AwaitProducts(sums) => {
                self.await_products(warp);
                for (from, to) in &program.awaited_sums[sums as usize] {
                    let sums = warp.registers.all(*from);
                    warp.registers.set_all(*to, &sums);
                }
            }
            SimStep::WarpgroupMma(product) => self.warpgroup_product(warp, product)?,
            SimStep::Mma(product) => self.multiply_add(warp, product)?,
            SimStep::SyncWarp => {
                if let (Some(lane), Err(kind)) = (first(warp.active), self.next_tick()) {
                    return Err(LaneFault { lane, kind });
                }
                warp.start = self.tick;
                if program.orders {
                    self.block.order.meet_in_warp(warp.first_thread, warp.active);
                }
            }
            SimStep::Copies(step, groups) => {
                for lane in lanes(warp.active) {
                    let groups = groups.map_or(0, |reg| warp.registers.lane(reg, lane) as u32);
                    self.block.flights.step(warp.first_thread + lane as u32, step, groups, self.tick);
                }
            }
            SimStep::Fence(reach, order) => {
                for lane in lanes(warp.active) {
                    let now = self.now(warp, lane, 0);
                    match (order, &mut self.weak) {
                        (MemoryOrder::SeqCst, Some(weak)) => weak.fence(&mut self.block.order, &now, self.block.number, reach),
                        _ => self.block.order.fence(&now, self.block.number, reach, order == MemoryOrder::SeqCst),
                    }
                }
                if let (Some(lane), Err(kind)) = (first(warp.active), self.next_tick()) {
                    return Err(LaneFault { lane, kind });
                }
            }
            SimStep::Print(message) => {
                for lane in lanes(warp.active) {
                    format_message(&mut self.output, &program.messages[message as usize], &warp.registers, lane);
                }
            }
            SimStep::Assert(condition, message) => {
                if let Some(lane) = first(warp.active & !warp.registers.preds[usize::from(condition)]) {
                    let message = self.message(message, warp, lane);
                    return Err(LaneFault { lane, kind: FaultKind::Assertion { message } });
                }
            }
            SimStep::Trap(message) => {
                if let Some(lane) = first(warp.active) {
                    let message = self.message(message, warp, lane);
                    return Err(LaneFault { lane, kind: FaultKind::Trap { message } });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn message(&self, message: u32, warp: &Warp, lane: usize) -> String {
        let mut text = String::new();
        format_message(&mut text, &self.launch.program.messages[message as usize], &warp.registers, lane);
        text
    }

    /// Who accesses, and when.
    pub(super) fn now(&self, warp: &Warp, lane: usize, site: u32) -> Now {
        let is_producer = warp.first_thread >= self.launch.workers;
        Now {
            tick: self.tick,
            block_start: self.block.start,
            interval_start: if is_producer { self.block.met } else { self.block.interval_start },
            warp_start: warp.start,
            thread: warp.first_thread + lane as u32,
            site,
            is_of_block: false,
        }
    }
}

fn run_call(call: &Call, warp: &mut Warp, threads: u32) -> Result<(), LaneFault> {
    let Some(lane) = first(warp.active) else {
        return Ok(());
    };
    if !matches!(call.eval, CallEval::Lane(_)) && warp.active != warp.living {
        let [active, living] = [warp.active, warp.living].map(Mask::count_ones);
        return Err(LaneFault { lane, kind: FaultKind::DivergentWarp { name: call.name, active, living } });
    }
    let Some(result) = call.result else {
        return Ok(());
    };
    let args: Vec<[u64; LANES]> = call.args.iter().map(|reg| warp.registers.all(*reg)).collect();
    let bits = match call.eval {
        CallEval::Warp(eval) => eval(call.ty, &args, warp.active),
        CallEval::Shuffle(source) => {
            let mut bits = [0; LANES];
            for lane in lanes(warp.active) {
                let from = source(lane, args[1][lane] as usize % LANES);
                if warp.active >> from & 1 == 0 {
                    let lanes = (threads - warp.first_thread).min(LANES as u32);
                    return Err(LaneFault { lane, kind: FaultKind::MissingLane { name: call.name, source: from as u32, lanes } });
                }
                bits[lane] = args[0][from];
            }
            bits
        }
        CallEval::Lane(eval) => {
            let mut bits = [0; LANES];
            let mut of_lane = [0; 8];
            let of_lane = &mut of_lane[..args.len().min(8)];
            for lane in lanes(warp.active) {
                of_lane.iter_mut().zip(&args).for_each(|(arg, all)| *arg = all[lane]);
                bits[lane] = eval(call.ty, of_lane);
            }
            bits
        }
    };
    warp.registers.set_all(result, &bits);
    Ok(())
}

fn found(finding: &CheckFailure, registers: &Registers, lane: usize) -> FaultKind {
    match finding {
        CheckFailure::DivisionByZero => FaultKind::DivisionByZero,
        CheckFailure::Overflow { operation, ty, operands } => FaultKind::Overflow {
            operation,
            ty: ty.to_string(),
            operands: operands.iter().map(|reg| Scalar::new(*ty, registers.lane(*reg, lane)).as_int()).collect(),
        },
        CheckFailure::Step { ty, reg } => FaultKind::Step { step: Scalar::new(*ty, registers.lane(*reg, lane)).as_int() },
    }
}
