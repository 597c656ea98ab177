//! One worker's machine: runs the blocks it is given, one after the other, warp by warp from barrier to barrier.
//!
//! A warp runs until it has ended or stands at a barrier. When every warp of a block has, the barrier is passed: all warps that have not
//! ended must stand at the same one with all their living threads. Threads that have returned early are not waited for, as on NVIDIA's
//! devices; that a living thread does not come, or has come to the kernel's end without it, is a fault.

use super::launch::{Launch, thread_position};
use super::memory::first;
use super::print::format_message;
use super::program::{Call, CallEval, Finding, Preset, Program, Step};
use super::registers::{LANES, Mask, Reg, Registers, copy_masked, lanes};
use super::shadow::Shadow;
use super::{Fault, FaultKind};
use warpwright_codegen::ir::{Axis, Location, Scalar, Space, Special};

/// A fault before it is known whose it is.
#[derive(Debug)]
pub(super) struct LaneFault {
    /// The first lane at fault.
    pub(super) lane: usize,
    /// What it did.
    pub(super) kind: FaultKind,
}

/// What an access cost, in sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    pub(super) requests: u64,
    pub(super) lanes: u64,
    pub(super) sectors: u64,
    pub(super) bytes: u64,
    pub(super) replays: u64,
}

/// What a machine has counted, by number in the program.
#[derive(Clone, Debug)]
pub(super) struct Tallies {
    /// Warps and threads that ran each segment.
    pub(super) segments: Vec<(u64, u64)>,
    /// By access.
    pub(super) traffic: Vec<Traffic>,
    /// How often each branch split a warp.
    pub(super) divergent: Vec<u64>,
    /// How often a block passed each barrier.
    pub(super) barriers: Vec<u64>,
    /// Blocks that ran.
    pub(super) blocks: u64,
}

impl Tallies {
    pub(super) fn new(program: &Program) -> Tallies {
        Tallies {
            segments: vec![(0, 0); program.segments.len()],
            traffic: vec![Traffic::default(); program.accesses.len()],
            divergent: vec![0; program.branches.len()],
            barriers: vec![0; program.barriers.len()],
            blocks: 0,
        }
    }

    /// Adds another machine's.
    pub(super) fn add(&mut self, other: &Tallies) {
        for (a, b) in self.segments.iter_mut().zip(&other.segments) {
            *a = (a.0 + b.0, a.1 + b.1);
        }
        for (a, b) in self.traffic.iter_mut().zip(&other.traffic) {
            a.requests += b.requests;
            a.lanes += b.lanes;
            a.sectors += b.sectors;
            a.bytes += b.bytes;
            a.replays += b.replays;
        }
        self.divergent.iter_mut().zip(&other.divergent).for_each(|(a, b)| *a += b);
        self.barriers.iter_mut().zip(&other.barriers).for_each(|(a, b)| *a += b);
        self.blocks += other.blocks;
    }
}

/// A warp of the current block.
#[derive(Debug)]
pub(super) struct Warp {
    pub(super) registers: Registers,
    masks: Vec<Mask>,
    /// Lanes that run now.
    pub(super) active: Mask,
    /// Lanes that have not returned.
    living: Mask,
    /// Lanes that came to the end of the kernel, past every barrier.
    ended: Mask,
    step: usize,
    /// Number of lane 0 in the block.
    pub(super) first_thread: u32,
    /// Times it may still go round loops.
    fuel: u64,
    /// Tick of its last `sync_warp`, barrier or begin.
    pub(super) start: u32,
    /// Local memory, lane after lane.
    pub(super) local: Vec<u8>,
    /// For each byte of it the tick of its last write.
    pub(super) local_written: Vec<u32>,
    /// The barrier it stands at.
    waits_at: Option<u32>,
}

/// One worker's machine.
#[derive(Debug)]
pub(super) struct Machine<'l> {
    pub(super) launch: &'l Launch<'l>,
    /// Shared memory of the current block.
    pub(super) shared: Vec<u8>,
    /// Shadow of each object; empty where none is needed.
    pub(super) shadows: Vec<Shadow>,
    pub(super) tallies: Tallies,
    /// What the kernel printed and has not been written yet.
    pub(super) output: String,
    /// See [`super::shadow`].
    pub(super) tick: u32,
    pub(super) block_start: u32,
    pub(super) interval_start: u32,
    block: [u32; 3],
}

/// A machine with its warps.
#[derive(Debug)]
pub(super) struct Worker<'l> {
    pub(super) machine: Machine<'l>,
    warps: Vec<Warp>,
}

impl<'l> Worker<'l> {
    pub(super) fn new(launch: &'l Launch<'l>) -> Worker<'l> {
        let program = launch.program;
        let shadow = |(n, object): (usize, &super::program::ObjectInfo)| match object.space {
            Space::Shared => Shadow::new(launch.sizes[n], object.granule),
            Space::Global if object.is_written => Shadow::new(launch.sizes[n], object.granule),
            _ => Shadow::default(),
        };
        let machine = Machine {
            launch,
            shared: vec![0; launch.shared_bytes as usize],
            shadows: program.objects.iter().enumerate().map(shadow).collect(),
            tallies: Tallies::new(program),
            output: String::new(),
            tick: 0,
            block_start: 0,
            interval_start: 0,
            block: [0; 3],
        };
        let warps = (0..launch.threads.div_ceil(LANES as u32)).map(|n| new_warp(launch, n)).collect();
        Worker { machine, warps }
    }

    /// Runs a block to its end.
    pub(super) fn run_block(&mut self, number: u64) -> Result<(), Box<Fault>> {
        self.machine.begin_block(number)?;
        for warp in &mut self.warps {
            self.machine.begin_warp(warp);
        }
        loop {
            for warp in self.warps.iter_mut().filter(|warp| warp.living != 0) {
                self.machine.run(warp)?;
            }
            if self.warps.iter().all(|warp| warp.waits_at.is_none()) {
                break;
            }
            self.machine.pass_barrier(&mut self.warps)?;
        }
        self.machine.tallies.blocks += 1;
        Ok(())
    }
}

fn new_warp(launch: &Launch<'_>, number: u32) -> Warp {
    let program = launch.program;
    let mut registers = Registers::new(program.registers);
    let first_thread = number * LANES as u32;
    let count = (launch.threads - first_thread).min(LANES as u32);
    for (reg, preset) in &program.presets {
        match preset {
            Preset::Constant(_, bits) => registers.splat(*reg, *bits),
            Preset::Special(special, axis) => {
                let all = std::array::from_fn(|lane| special_value(launch, *special, *axis, first_thread + lane as u32));
                registers.set_all(*reg, &all);
            }
            Preset::Len(object) => registers.splat(*reg, launch.lengths[*object]),
            Preset::Parameter { object, offset, bytes } => {
                registers.splat(*reg, super::memory::load(launch.constants[*object], *offset as usize, *bytes));
            }
        }
    }
    let local = program.local_bytes as usize * LANES;
    Warp {
        registers,
        masks: vec![0; program.masks],
        active: 0,
        living: Mask::MAX >> (LANES as u32 - count),
        ended: 0,
        step: 0,
        first_thread,
        fuel: 0,
        start: 0,
        local: vec![0; local],
        local_written: vec![0; local],
        waits_at: None,
    }
}

/// A special register of a thread; that of the block is filled in when the block begins.
fn special_value(launch: &Launch<'_>, special: Special, axis: Axis, thread: u32) -> u64 {
    let at = axis as usize;
    u64::from(match special {
        Special::ThreadIdx => thread_position(thread, launch.block)[at],
        Special::BlockIdx => 0,
        Special::BlockDim => launch.block[at],
        Special::GridDim => launch.grid[at],
        Special::LaneId => thread % LANES as u32,
        Special::WarpId => thread / LANES as u32,
    })
}

/// Why a warp stopped.
enum Stop {
    Done,
    Barrier(u32),
}

impl Machine<'_> {
    fn begin_block(&mut self, number: u64) -> Result<(), Box<Fault>> {
        let [x, y, _] = self.launch.grid.map(u64::from);
        self.block = [number % x, number / x % y, number / x / y].map(|n| n as u32);
        self.next_tick().map_err(|kind| self.launch.fault(Location::default(), self.block, 0, kind))?;
        self.block_start = self.tick;
        self.interval_start = self.tick;
        Ok(())
    }

    fn begin_warp(&self, warp: &mut Warp) {
        for (reg, preset) in &self.launch.program.presets {
            if let Preset::Special(Special::BlockIdx, axis) = preset {
                warp.registers.splat(*reg, u64::from(self.block[*axis as usize]));
            }
        }
        let count = (self.launch.threads - warp.first_thread).min(LANES as u32);
        warp.living = Mask::MAX >> (LANES as u32 - count);
        warp.active = warp.living;
        warp.ended = 0;
        warp.step = 0;
        warp.fuel = self.launch.program.options.loop_limit;
        warp.start = self.tick;
        warp.waits_at = None;
    }

    fn next_tick(&mut self) -> Result<(), FaultKind> {
        self.tick = self.tick.checked_add(1).ok_or(FaultKind::IntervalLimit)?;
        Ok(())
    }

    /// Runs a warp to its end or next barrier.
    fn run(&mut self, warp: &mut Warp) -> Result<(), Box<Fault>> {
        match self.run_steps(warp) {
            Ok(Stop::Done) => {
                warp.living = 0;
                warp.waits_at = None;
                Ok(())
            }
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
                let location = self.launch.program.locations[warp.step];
                Err(self.launch.fault(location, self.block, warp.first_thread + fault.lane as u32, fault.kind))
            }
        }
    }

    fn fault_at(&self, warp: &Warp, barrier: u32, kind: FaultKind) -> Box<Fault> {
        let location = self.launch.program.barriers[barrier as usize].location;
        self.launch.fault(location, self.block, warp.first_thread + warp.active.trailing_zeros(), kind)
    }

    fn run_steps(&mut self, warp: &mut Warp) -> Result<Stop, LaneFault> {
        let program = self.launch.program;
        loop {
            match program.steps[warp.step] {
                Step::Pure(run, operands) => run(&mut warp.registers, &operands),
                Step::Count(segment) => {
                    let (warps, threads) = &mut self.tallies.segments[segment as usize];
                    *warps += u64::from(warp.active != 0);
                    *threads += u64::from(warp.active.count_ones());
                }
                Step::Move(reg, from) => match reg {
                    Reg::Narrow(d) => copy_masked::<u32>(&mut warp.registers, d, from, warp.active),
                    Reg::Wide(d) => copy_masked::<u64>(&mut warp.registers, d, from, warp.active),
                    Reg::Pred(d) => {
                        let preds = &mut warp.registers.preds;
                        preds[usize::from(d)] = preds[usize::from(from)] & warp.active | preds[usize::from(d)] & !warp.active;
                    }
                },
                Step::Access(number) => self.access(warp, number)?,
                Step::Barrier(barrier) if warp.active != 0 => {
                    warp.step += 1;
                    return Ok(Stop::Barrier(barrier));
                }
                Step::Done => return Ok(Stop::Done),
                step => {
                    if let Some(to) = self.run_control(warp, step)? {
                        warp.step = to as usize;
                        continue;
                    }
                }
            }
            warp.step += 1;
        }
    }

    /// Runs a step that changes masks or is rare; tells where to jump.
    #[inline]
    fn run_control(&mut self, warp: &mut Warp, step: Step) -> Result<Option<u32>, LaneFault> {
        match step {
            Step::If { condition, mask, otherwise, branch } => {
                if self.part(warp, condition, mask, branch) {
                    return Ok(Some(otherwise));
                }
            }
            Step::Else { mask, end } => {
                std::mem::swap(&mut warp.masks[usize::from(mask)], &mut warp.active);
                return Ok((warp.active == 0).then_some(end));
            }
            Step::Join(mask) => warp.active |= std::mem::take(&mut warp.masks[usize::from(mask)]),
            Step::Exit(mask) => warp.masks[usize::from(mask)] |= std::mem::take(&mut warp.active),
            Step::Return => warp.living &= !std::mem::take(&mut warp.active),
            Step::End => {
                warp.ended |= warp.active;
                warp.living &= !std::mem::take(&mut warp.active);
            }
            Step::SkipIfEmpty(to) => return Ok((warp.active == 0).then_some(to)),
            Step::Enter { condition, mask, end, branch } => {
                if self.part(warp, condition, mask, branch) {
                    return Ok(Some(end));
                }
            }
            Step::Again { condition, mask, head, branch } => {
                if !self.part(warp, condition, mask, branch) {
                    self.burn(warp)?;
                    return Ok(Some(head));
                }
            }
            Step::Repeat(head) if warp.active != 0 => {
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
    fn burn(&self, warp: &mut Warp) -> Result<(), LaneFault> {
        match warp.fuel.checked_sub(1) {
            Some(fuel) => {
                warp.fuel = fuel;
                Ok(())
            }
            None => {
                let kind = FaultKind::LoopLimit { limit: self.launch.program.options.loop_limit };
                Err(LaneFault { lane: warp.active.trailing_zeros() as usize, kind })
            }
        }
    }

    fn run_rare(&mut self, warp: &mut Warp, step: Step) -> Result<(), LaneFault> {
        let program = self.launch.program;
        match step {
            Step::Check(find, operands, finding) => {
                if let Some(lane) = first(find(&warp.registers, &operands) & warp.active) {
                    let kind = found(&program.checks[finding as usize], &warp.registers, lane);
                    return Err(LaneFault { lane, kind });
                }
            }
            Step::Call(call) => run_call(&program.calls[call as usize], warp, self.launch.threads)?,
            Step::SyncWarp => {
                if let (Some(lane), Err(kind)) = (first(warp.active), self.next_tick()) {
                    return Err(LaneFault { lane, kind });
                }
                warp.start = self.tick;
            }
            Step::Print(message) => {
                for lane in lanes(warp.active) {
                    format_message(&mut self.output, &program.messages[message as usize], &warp.registers, lane);
                }
            }
            Step::Assert(condition, message) => {
                if let Some(lane) = first(warp.active & !warp.registers.preds[usize::from(condition)]) {
                    let message = self.message(message, warp, lane);
                    return Err(LaneFault { lane, kind: FaultKind::Assertion { message } });
                }
            }
            Step::Trap(message) => {
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

    /// Lets the block pass the barrier its warps stand at.
    fn pass_barrier(&mut self, warps: &mut [Warp]) -> Result<(), Box<Fault>> {
        let Some((at, barrier)) = warps.iter().enumerate().find_map(|(n, warp)| Some((n, warp.waits_at?))) else {
            return Ok(());
        };
        let living: u32 = warps.iter().map(|warp| warp.living.count_ones()).sum();
        if let Some(other) = warps.iter().find_map(|warp| warp.waits_at.filter(|b| *b != barrier)) {
            let waiting = warps.iter().filter(|w| w.waits_at == Some(barrier)).map(|w| w.living.count_ones()).sum();
            let other_line = Some(self.launch.program.barriers[other as usize].location.line);
            return Err(self.fault_at(
                &warps[at],
                barrier,
                FaultKind::DivergentBarrier { waiting, living, within_warp: false, other_line },
            ));
        }
        let ended: u32 = warps.iter().map(|warp| warp.ended.count_ones()).sum();
        if ended > 0 {
            let kind = FaultKind::DivergentBarrier { waiting: living, living: living + ended, within_warp: false, other_line: None };
            return Err(self.fault_at(&warps[at], barrier, kind));
        }
        let data = &self.launch.program.barriers[barrier as usize];
        let holds = |warp: &Warp| match data.argument {
            Some(Reg::Pred(n)) => (warp.registers.preds[usize::from(n)] & warp.living).count_ones(),
            _ => 0,
        };
        let count = warps.iter().map(holds).sum();
        let result = (data.eval)(count, living);
        if let Err(kind) = self.next_tick() {
            return Err(self.fault_at(&warps[at], barrier, kind));
        }
        self.interval_start = self.tick;
        self.tallies.barriers[barrier as usize] += 1;
        for warp in warps.iter_mut().filter(|warp| warp.waits_at.is_some()) {
            warp.waits_at = None;
            warp.start = self.tick;
            if let Some(reg) = data.result {
                warp.registers.splat(reg, result);
            }
        }
        Ok(())
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

fn found(finding: &Finding, registers: &Registers, lane: usize) -> FaultKind {
    match finding {
        Finding::DivisionByZero => FaultKind::DivisionByZero,
        Finding::Overflow { operation, ty, operands } => FaultKind::Overflow {
            operation,
            ty: ty.to_string(),
            operands: operands.iter().map(|reg| Scalar::new(*ty, registers.lane(*reg, lane)).as_int()).collect(),
        },
        Finding::Step { ty, reg } => FaultKind::Step { step: Scalar::new(*ty, registers.lane(*reg, lane)).as_int() },
    }
}
