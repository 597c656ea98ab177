//! What is under way: loads of a thread, copies of the engine, and the loops that issue some ahead and wait for them.

use super::super::{engine, mix};
use super::Line;
use warpwright_codegen::collections::HashMap;
use warpwright_codegen::ir::intrinsic::CopyStep;
use warpwright_codegen::ir::{Block, Engine, Inst, Kernel, Object, Op, StoreStage};

/// Iterations that copies are ahead, at most.
pub(super) const MOST_AHEAD: f64 = 31.0;

/// What a loop has to do with copies that are under way.
#[derive(Clone, Copy)]
pub(super) enum Ahead {
    /// It asks for the first of them.
    Fills,
    /// It waits for them; so many slots are under way when it begins.
    Waits(usize),
}

/// What is under way from one time to another.
pub(super) struct Brought {
    pub(super) start: f64,
    pub(super) end: f64,
    /// Bytes of a thread.
    pub(super) bytes: f64,
    /// Loads of the thread: one, or none if the copy engine brings it.
    pub(super) loads: u32,
}

/// When what was asked of the engine is there: for each array of barriers, the phases that nobody has waited for yet, in order.
#[derive(Default)]
pub(super) struct Phases(HashMap<Object, Vec<f64>>);

impl Phases {
    /// How many phases are under way, at most of one array of barriers.
    pub(super) fn under_way(&self) -> usize {
        self.0.values().map(Vec::len).max().unwrap_or(0)
    }

    /// A phase is announced.
    pub(super) fn announce(&mut self, barriers: Object, now: f64) {
        self.0.entry(barriers).or_default().push(now);
    }

    /// A copy of the phase that was announced last is there at this time.
    pub(super) fn arrive(&mut self, barriers: Object, time: f64) {
        if let Some(last) = self.0.get_mut(&barriers).and_then(|phases| phases.last_mut()) {
            *last = last.max(time);
        }
    }

    /// When the phase is over that is waited for next.
    pub(super) fn awaited(&mut self, barriers: Object) -> Option<f64> {
        let phases = self.0.get_mut(&barriers)?;
        (!phases.is_empty()).then(|| phases.remove(0))
    }
}

/// Whether an instruction, itself, asks for copies into slots that are filled ahead, or closes a group of them.
fn fills_ahead(kernel: &Kernel, inst: Inst) -> bool {
    match &kernel.insts[inst].op {
        Op::Engine(Engine::Expect { .. }) => true,
        Op::Intrinsic(row, _) => row.row().copy_step() == Some(CopyStep::Commit),
        _ => false,
    }
}

/// Whether it waits for some.
fn waits(kernel: &Kernel, inst: Inst) -> bool {
    match &kernel.insts[inst].op {
        Op::Engine(Engine::Wait { .. }) => true,
        Op::Intrinsic(row, _) => row.row().copy_step() == Some(CopyStep::Await),
        _ => false,
    }
}

impl Line<'_> {
    /// What a loop has to do with copies that are under way.
    pub(super) fn ahead(&self, body: Block) -> Option<Ahead> {
        let of = |wanted: fn(&Kernel, Inst) -> bool| self.kernel.insts_in(body).any(|inst| wanted(self.kernel, inst));
        let is_waiting = self.kernel.blocks[body].insts.iter().any(|inst| waits(self.kernel, *inst));
        match (is_waiting, of(fills_ahead)) {
            (true, _) => Some(Ahead::Waits(self.groups.len().max(self.phases.under_way()).clamp(1, MOST_AHEAD as usize))),
            (false, true) => Some(Ahead::Fills).filter(|_| !of(waits)),
            (false, false) => None,
        }
    }

    /// An instruction to the copy engine, or about it.
    pub(super) fn tell_engine(&mut self, inst: Inst, told: &Engine) {
        // Iterations that the loop does not have ask for nothing.
        let visits = self.asked.entry(inst).or_default();
        *visits += 1.0;
        if *visits > (self.weights.get(inst) * self.warps).ceil().max(1.0) {
            return;
        }
        self.charge(&mix::cost(self.kernel, inst));
        let start =
            self.kernel.insts[inst].op.operands().iter().fold(self.fence, |start, value| start.max(self.ready[usize::from(*value)]));
        self.issued = self.issued.max(start);
        match told {
            Engine::Expect { barrier, .. } => self.phases.announce(barrier.object, start),
            Engine::CopyRun { barrier, .. } | Engine::CopyTile { barrier, .. } => {
                let latency = self.of_source(inst, start);
                self.phases.arrive(barrier.object, start + latency);
                let bytes = engine::copied(self.kernel, inst).map_or(0.0, |(_, bytes)| bytes);
                // All warps wait for what one has asked for.
                let bytes = engine::of_thread(self.kernel, bytes, 1.0 / self.warps);
                self.loads.push(Brought { start, end: start + latency, bytes, loads: 0 });
            }
            Engine::Wait { barrier, .. } => {
                self.settle();
                self.fence = self.phases.awaited(barrier.object).map_or(self.fence, |time| self.fence.max(time));
                self.issued = self.fence;
            }
            // What is stored is at least in the second cache.
            Engine::AwaitStores { until: StoreStage::Done, .. } => {
                self.settle();
                self.fence += self.machine.cycles.l2;
                self.issued = self.fence;
            }
            Engine::Init { .. }
            | Engine::Arrive { .. }
            | Engine::Is(_)
            | Engine::Fence
            | Engine::Turn(_)
            | Engine::KeepTurn { .. }
            | Engine::StoreTile { .. }
            | Engine::CommitStores
            | Engine::AwaitStores { until: StoreStage::Read, .. } => {}
        }
        for result in &self.kernel.insts[inst].results {
            self.ready[usize::from(*result)] = start;
        }
    }
}

/// The most loads under way at one time, and the most bytes.
pub(super) fn most_at_once(loads: &mut [Brought]) -> (u32, f64) {
    loads.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut ends: Vec<&Brought> = loads.iter().collect();
    ends.sort_by(|a, b| a.end.total_cmp(&b.end));
    let (mut done, mut count, mut bytes) = (0, 0, 0.0);
    let (mut most, mut most_bytes) = (0, 0.0f64);
    for load in loads.iter() {
        while let Some(ended) = ends.get(done).filter(|ended| ended.end <= load.start) {
            count = u32::saturating_sub(count, ended.loads);
            bytes -= ended.bytes;
            done += 1;
        }
        count += load.loads;
        bytes += load.bytes;
        most = most.max(count);
        most_bytes = most_bytes.max(bytes);
    }
    (most, most_bytes)
}
