//! What is under way: loads of a thread, copies of the engine, and the loops that issue some ahead and wait for them.

use super::super::{engine, mix};
use super::Line;
use warpwright_codegen::collections::HashMap;
use warpwright_codegen::ir::intrinsic::CopyStep;
use warpwright_codegen::ir::{Block, Engine, Inst, Kernel, MemoryType, Object, Op, StoreStage};

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

/// A ring that a producer fills: it asks for the copies to a slot as soon as the work has handed that back, whatever the work does meanwhile.
pub(super) struct Fed {
    /// The barriers that the work waits for, and those that it hands slots back at.
    arrived: Object,
    free: Object,
    slots: usize,
    copies: Vec<Inst>,
    /// How often the work has waited, and when it has handed slots back.
    waits: usize,
    freed: Vec<f64>,
}

/// The rings that a kernel's producer fills.
pub(super) fn fed(kernel: &Kernel) -> Vec<Fed> {
    let mut found: Vec<Fed> = Vec::new();
    let Some(roles) = kernel.roles() else { return found };
    kernel.walk_block(roles.producer, &mut |kernel, block, inst| {
        let Op::Engine(Engine::Expect { barrier, .. }) = &kernel.insts[inst].op else { return };
        let arrived = barrier.object;
        let within = || kernel.blocks[block].insts.iter();
        let waits = |inst: &Inst| match &kernel.insts[*inst].op {
            Op::Engine(Engine::Wait { barrier, .. }) => Some(barrier.object),
            _ => None,
        };
        let counted = |inst: &Inst| {
            let op = &kernel.insts[*inst].op;
            matches!(op, Op::Engine(told @ (Engine::CopyRun { .. } | Engine::CopyTile { .. })) if told.barriers() == Some(arrived))
        };
        let Some(free) = within().find_map(waits) else { return };
        let MemoryType::Array(_, slots) = kernel.objects[arrived].ty else { return };
        let copies = kernel.insts_in(block).filter(counted).collect();
        found.push(Fed { arrived, free, slots: slots as usize, copies, waits: 0, freed: Vec::new() });
    });
    found
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
        let of_producer = |inst: &Inst| match &self.kernel.insts[*inst].op {
            Op::Engine(Engine::Wait { barrier, .. }) => self.fed.iter().find(|ring| ring.arrived == barrier.object),
            _ => None,
        };
        if let Some(ring) = self.kernel.blocks[body].insts.iter().find_map(of_producer) {
            return Some(Ahead::Waits(ring.slots.clamp(1, MOST_AHEAD as usize)));
        }
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
            Engine::Wait { barrier, .. } if self.fed.iter().any(|ring| ring.arrived == barrier.object) => {
                self.settle();
                self.wait_for_producer(barrier.object);
            }
            Engine::Arrive { barrier, .. } => {
                let now = self.issued;
                self.fed.iter_mut().filter(|ring| ring.free == barrier.object).for_each(|ring| ring.freed.push(now));
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
            | Engine::Is(_)
            | Engine::Fence
            | Engine::Meet { .. }
            | Engine::Turn(_)
            | Engine::KeepTurn { .. }
            | Engine::StoreTile { .. }
            | Engine::CommitStores
            | Engine::AwaitStores { until: StoreStage::Read | StoreStage::Exit, .. } => {}
        }
        for result in &self.kernel.insts[inst].results {
            self.ready[usize::from(*result)] = start;
        }
    }
}

impl Line<'_> {
    /// The slot that is waited for next was asked for when it was handed back last, or when the kernel began.
    fn wait_for_producer(&mut self, arrived: Object) {
        let Some(at) = self.fed.iter().position(|ring| ring.arrived == arrived) else { return };
        let ring = &self.fed[at];
        let start = ring.waits.checked_sub(ring.slots).map_or(Some(0.0), |before| ring.freed.get(before).copied()).unwrap_or(self.fence);
        let mut there = start;
        for copy in ring.copies.clone() {
            let end = start + self.of_source(copy, start);
            let bytes = engine::copied(self.kernel, copy).map_or(0.0, |(_, bytes)| bytes);
            let bytes = engine::of_thread(self.kernel, bytes, 1.0 / self.warps);
            self.loads.push(Brought { start, end, bytes, loads: 0 });
            there = there.max(end);
        }
        self.fed[at].waits += 1;
        self.fence = self.fence.max(there);
        self.issued = self.fence;
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
