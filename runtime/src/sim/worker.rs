//! Which warp of which block runs next.
//!
//! The warps of a block run in order, each until it has ended or stands at a barrier. When every warp has, the barrier is passed: all warps that
//! have not ended must stand at the same one with all their living threads. Threads that have returned early are not waited for, as on
//! NVIDIA's devices; that a living thread does not come, or has come to the kernel's end without it, is a fault.
//!
//! Where an atomic may tell a thread what another did, a warp that goes round a loop and changes nothing pauses. A block all of whose
//! warps pause or stand at a barrier waits, the next ones begin, and those that wait have another turn whenever their number has
//! doubled, and when no more can begin. If all that are left go round in circles, none of them will ever end: that is a fault.

use super::launch::BoundLaunch;
use super::machine::{Block, Machine};
use super::registers::Reg;
use super::warp::{Warp, Watch};
use super::{Error, Fault, FaultKind};
use warpwright_codegen::target::limits::LANES;

/// Blocks that may wait at once: more than any device runs at a time.
const MOST_WAITING: usize = 8192;

/// Rounds without a change of memory after which a block lets others begin.
const PATIENCE: u32 = 16;

/// A machine with its warps.
#[derive(Debug)]
pub(super) struct Worker<'l> {
    pub(super) machine: Machine<'l>,
    /// Of the current block.
    pub(super) warps: Vec<Warp>,
    /// Blocks that wait.
    pub(super) waiting: Vec<(Block, Vec<Warp>)>,
    /// Blocks that have ended, for others to use.
    spare: Vec<(Block, Vec<Warp>)>,
}

/// How far a block has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Ended,
    /// It stands at a barrier of its cluster.
    Meets,
    /// It waits; whether it goes round in circles, so that only a change of memory may help.
    Waits {
        for_ever: bool,
    },
}

impl<'l> Worker<'l> {
    pub(super) fn new(launch: &'l BoundLaunch<'l>) -> Worker<'l> {
        let (machine, warps) = (Machine::new(launch), new_warps(launch));
        Worker { machine, warps, waiting: Vec::new(), spare: Vec::new() }
    }

    /// Runs all blocks of the launch, in order but for those that wait. `written` is called whenever a block has ended or waits.
    pub(super) fn run_all(&mut self, mut written: impl FnMut(&mut String) -> Result<(), Error>) -> Result<(), Error> {
        if self.machine.launch.program.is_clustered {
            return self.run_clusters(written);
        }
        let blocks = self.machine.launch.blocks();
        let mut revisit_at = 1;
        for number in 0..blocks {
            let turn = self.begin(number).and_then(|()| self.go_on());
            written(&mut self.machine.output)?;
            if let Turn::Waits { .. } = turn? {
                self.put_aside();
            }
            if self.waiting.len() >= revisit_at.min(MOST_WAITING) {
                self.revisit(blocks - 1 - number, &mut written)?;
                revisit_at = (2 * self.waiting.len()).max(1);
            }
        }
        while !self.waiting.is_empty() {
            self.revisit(0, &mut written)?;
        }
        Ok(())
    }

    /// Runs a block to its end, where no other has to run for it.
    pub(super) fn run_block(&mut self, number: u64) -> Result<(), Box<Fault>> {
        self.begin(number)?;
        loop {
            match self.go_on()? {
                Turn::Ended => return Ok(()),
                // Clusters run in order, and not here.
                Turn::Meets | Turn::Waits { for_ever: false } => {}
                Turn::Waits { for_ever: true } => {
                    self.put_aside();
                    return Err(self.deadlock(0));
                }
            }
        }
    }

    pub(super) fn begin(&mut self, number: u64) -> Result<(), Box<Fault>> {
        self.machine.begin_block(number)?;
        for warp in &mut self.warps {
            warp.begin(self.machine.launch, self.machine.block.place, self.machine.tick);
        }
        Ok(())
    }

    /// Runs the current block until it has ended or waits.
    pub(super) fn go_on(&mut self) -> Result<Turn, Box<Fault>> {
        let mut idle_rounds = 0;
        loop {
            let (version, at_barriers) = (self.machine.version, at_barriers(&self.warps));
            for warp in self.warps.iter_mut().filter(|warp| warp.living != 0 && warp.waits_at.is_none()) {
                match warp.watch.circles_in {
                    Some(version) if version == self.machine.version => continue,
                    Some(_) => warp.watch = Watch { is_close: true, ..Watch::default() },
                    None => {}
                }
                self.machine.run(warp)?;
            }
            let living = || self.warps.iter().filter(|warp| warp.living != 0);
            if living().next().is_none() {
                self.machine.end_block()?;
                self.machine.tallies.blocks += 1;
                return Ok(Turn::Ended);
            }
            if let Some(count) = self.complete() {
                if self.machine.pass_barrier(&mut self.warps[..count])? {
                    return Ok(Turn::Meets);
                }
                idle_rounds = 0;
                continue;
            }
            let circles = |warp: &Warp| warp.waits_at.is_some() || warp.watch.circles_in == Some(self.machine.version);
            if living().all(circles) {
                return Ok(Turn::Waits { for_ever: true });
            }
            let is_idle = (version, at_barriers) == (self.machine.version, self::at_barriers(&self.warps));
            idle_rounds = if is_idle { idle_rounds + 1 } else { 0 };
            if idle_rounds == PATIENCE {
                return Ok(Turn::Waits { for_ever: false });
            }
        }
    }

    /// The warps that stand at a barrier, if all do that come to it: those of the work, or all of the block.
    fn complete(&self) -> Option<usize> {
        let launch = self.machine.launch;
        let waits = |warp: &Warp| warp.living == 0 || warp.waits_at.is_some();
        let at = self.warps.iter().find_map(|warp| warp.waits_at)?;
        let is_of_work = launch.program.barriers[at as usize].is_of_work;
        let count = if is_of_work { (launch.workers as usize).div_ceil(LANES) } else { self.warps.len() };
        self.warps[..count].iter().all(waits).then_some(count)
    }

    /// Lets the current block wait.
    fn put_aside(&mut self) {
        let launch = self.machine.launch;
        let (block, warps) = self.spare.pop().unwrap_or_else(|| (self.machine.spare_block(), new_warps(launch)));
        let block = std::mem::replace(&mut self.machine.block, block);
        self.waiting.push((block, std::mem::replace(&mut self.warps, warps)));
    }

    /// Makes a waiting block the current one, or the current one a waiting block.
    fn swap(&mut self, n: usize) {
        std::mem::swap(&mut self.machine.block, &mut self.waiting[n].0);
        std::mem::swap(&mut self.warps, &mut self.waiting[n].1);
    }

    /// Gives all that wait another turn, and again while that changes something. `coming` blocks have not begun.
    fn revisit(&mut self, coming: u64, written: &mut impl FnMut(&mut String) -> Result<(), Error>) -> Result<(), Error> {
        let can_begin = coming > 0 && self.waiting.len() < MOST_WAITING;
        loop {
            let (version, count) = (self.machine.version, self.waiting.len());
            let (mut n, mut for_ever) = (0, true);
            while n < self.waiting.len() {
                self.swap(n);
                let turn = self.go_on();
                self.swap(n);
                written(&mut self.machine.output)?;
                match turn? {
                    Turn::Ended => self.spare.push(self.waiting.remove(n)),
                    Turn::Meets => n += 1,
                    Turn::Waits { for_ever: this } => {
                        for_ever &= this;
                        n += 1;
                    }
                }
            }
            if (version, count) == (self.machine.version, self.waiting.len()) {
                return if for_ever && !can_begin && count > 0 { Err(self.deadlock(coming).into()) } else { Ok(()) };
            }
        }
    }

    /// The fault of threads that wait for each other.
    pub(super) fn deadlock(&self, coming: u64) -> Box<Fault> {
        let goes_round = |warp: &&Warp| warp.living != 0 && warp.waits_at.is_none();
        let mut all = self.waiting.iter().flat_map(|(block, warps)| warps.iter().filter(goes_round).map(move |warp| (block, warp)));
        let warps = all.clone().count() as u64;
        let program = self.machine.launch.program;
        let barrier = self.waiting.iter().flat_map(|(_, warps)| warps).find_map(|warp| warp.waits_at);
        // A producer that waits for the work does so since the work has not handed a slot back: what it waits for is the cause, and not what the work waits for.
        let is_producer = |(_, warp): &(&Block, &Warp)| warp.first_thread >= self.machine.launch.workers;
        let Some((block, warp)) = all.clone().find(is_producer).or_else(|| all.next()) else {
            return self.machine.launch.fault(Default::default(), [0; 3], 0, FaultKind::EndlessLoop);
        };
        let kind = self.machine.stuck_at_barrier(block, warp).unwrap_or(FaultKind::Deadlock {
            warps,
            blocks: self.waiting.len() as u64,
            coming,
            behind: (warp.living & !warp.active).count_ones(),
            barrier_line: barrier.map(|n| program.barriers[n as usize].location.line),
        });
        let thread = warp.first_thread + warp.active.trailing_zeros();
        let fault = self.machine.launch.fault(program.location(warp.watch.at), block.place, thread, kind);
        fault.with_origins(program, warp.watch.at)
    }
}

pub(super) fn new_warps(launch: &BoundLaunch<'_>) -> Vec<Warp> {
    (0..launch.threads.div_ceil(LANES as u32)).map(|n| Warp::new(launch, n)).collect()
}

fn at_barriers(warps: &[Warp]) -> usize {
    warps.iter().filter(|warp| warp.waits_at.is_some() || warp.living == 0).count()
}

impl Machine<'_> {
    /// Lets the block pass the barrier its warps stand at; gives whether that is one of the cluster, which other blocks have to come to, too.
    fn pass_barrier(&mut self, warps: &mut [Warp]) -> Result<bool, Box<Fault>> {
        let Some((at, barrier)) = warps.iter().enumerate().find_map(|(n, warp)| Some((n, warp.waits_at?))) else {
            return Ok(false);
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
        // It counts the threads of the work: one that has returned does not come, and is waited for.
        if data.is_of_work && living < self.launch.workers {
            let kind = FaultKind::DivergentBarrier { waiting: living, living: self.launch.workers, within_warp: false, other_line: None };
            return Err(self.fault_at(&warps[at], barrier, kind));
        }
        if data.is_of_cluster {
            return Ok(true);
        }
        let holds = |warp: &Warp| match data.argument {
            Some(Reg::Pred(n)) => (warp.registers.preds[usize::from(n)] & warp.living).count_ones(),
            _ => 0,
        };
        let count = warps.iter().map(holds).sum();
        let result = (data.eval)(count, living);
        if let Err(kind) = self.next_tick() {
            return Err(self.fault_at(&warps[at], barrier, kind));
        }
        self.block.interval_start = self.tick;
        if data.is_of_work {
            self.block.order.meet_without(self.launch.workers);
        } else {
            self.block.met = self.tick;
            if self.launch.program.orders {
                self.block.order.meet();
            }
        }
        self.tallies.barriers[barrier as usize] += 1;
        for warp in warps.iter_mut().filter(|warp| warp.waits_at.is_some()) {
            warp.waits_at = None;
            // Others have had a say in the barrier's result.
            warp.watch = Watch::default();
            warp.start = self.tick;
            if let Some(reg) = data.result {
                warp.registers.splat(reg, result);
            }
        }
        Ok(false)
    }
}
