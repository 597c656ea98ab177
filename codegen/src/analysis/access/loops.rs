//! Loops of a walk: once for all iterations, or one by one.

use super::condition::{Condition, Uncertainty};
use super::evaluate::{LaneValue, Unknown};
use super::lanes::{Atom, AtomSource, Sum, Varies};
use super::walk::Walk;
use crate::ir::{Block, CompareOp, Inst, Memory, MemoryOp, Object, ObjectKind, Op, Region, Scalar, Value, eval};

/// More iterations are not gone through one by one.
const MOST_ITERATIONS: u64 = 64;

/// After so many instructions nothing more is gone through one by one.
pub(super) const MOST_VISITS: u32 = 40_000;

/// Bits there are for loops.
const MOST_LOOPS: usize = 62;

/// What is known of a loop from earlier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopState {
    /// Its bit; 0 if its iterations cannot be gone through.
    bit: Varies,
    /// Whether they are.
    one_by_one: bool,
}

/// The parts of a `For` or `Loop`.
struct Parts<'k> {
    inst: Inst,
    /// First, bound, step.
    range: Option<[Value; 3]>,
    init: &'k [Value],
    body: Block,
    /// Parameters of the body that are carried.
    carried: &'k [Value],
    /// The counter of a `For`.
    counter: Option<Value>,
}

/// Where a walk stands, to come back to.
struct Checkpoint {
    records: usize,
    branches: usize,
    left: usize,
    mark: usize,
    active: u32,
    uncertainty: Uncertainty,
    interval: u32,
    wanted: Varies,
}

impl<'k> Walk<'k> {
    fn parts(&self, inst: Inst) -> Option<Parts<'k>> {
        let kernel = self.kernel;
        Some(match &kernel.insts[inst].op {
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let counter = kernel.blocks[*body].params.first().copied();
                Parts { inst, range: Some([*start, *end, *step]), init, body: *body, carried: kernel.carried(inst), counter }
            }
            Op::Region(Region::Loop { init, body, .. }) => {
                Parts { inst, range: None, init, body: *body, carried: kernel.carried(inst), counter: None }
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => {
                return None;
            }
        })
    }

    /// Goes through a loop.
    pub(super) fn any_loop(&mut self, inst: Inst) {
        let Some(parts) = self.parts(inst) else { return };
        let trips = self.trips(&parts);
        if !self.loops.contains_key(&inst) {
            let bit = if self.can_go_one_by_one(&parts, trips) { 1 << (self.loops.len().min(MOST_LOOPS) + 1) } else { 0 };
            self.loops.insert(inst, LoopState { bit, one_by_one: false });
        }
        self.depth += 1;
        let state = self.loops[&inst];
        if !(state.one_by_one && self.one_by_one(&parts, trips)) {
            let place = self.place();
            self.all_at_once(&parts, trips);
            let state = self.loops[&inst];
            if self.wanted & state.bit != 0 && self.visits < MOST_VISITS {
                self.go_back(&place);
                self.loops.insert(inst, LoopState { one_by_one: true, ..state });
                if !self.one_by_one(&parts, trips) {
                    self.all_at_once(&parts, trips);
                }
            }
        }
        self.depth -= 1;
    }

    fn place(&self) -> Checkpoint {
        Checkpoint {
            records: self.records.len(),
            branches: self.branches.len(),
            left: self.left.len(),
            mark: self.values.mark(),
            active: self.active,
            uncertainty: self.uncertainty,
            interval: self.interval,
            wanted: self.wanted,
        }
    }

    fn go_back(&mut self, place: &Checkpoint) {
        self.records.truncate(place.records);
        self.branches.truncate(place.branches);
        self.left.truncate(place.left);
        self.values.forget(place.mark, self.depth);
        (self.active, self.uncertainty, self.interval, self.wanted) = (place.active, place.uncertainty, place.interval, place.wanted);
    }

    /// Iterations of a `For`, if they are known and few.
    fn trips(&mut self, parts: &Parts<'_>) -> Option<u64> {
        let [start, end, step] = parts.range?;
        let ty = self.kernel.ty(start);
        // Sums are signed; the numbers of the loop's own type decide how far it is.
        let mut known = |value| Some(Scalar::int(ty, i128::from(self.values.sum(value).ok()?.as_constant()?.same()?)).as_int());
        eval::trips([known(start)?, known(end)?, known(step)?])
    }

    fn can_go_one_by_one(&mut self, parts: &Parts<'_>, trips: Option<u64>) -> bool {
        let is_known = |walk: &mut Self, value: Value| walk.values.sum(value).is_ok_and(|sum| sum.as_constant().is_some());
        let is_small = match parts.range {
            Some(_) => trips.is_some_and(|trips| trips <= MOST_ITERATIONS),
            None => parts.init.iter().any(|value| self.kernel.ty(*value).is_int() && is_known(self, *value)),
        };
        is_small && self.loops.len() < MOST_LOOPS && self.exits.get(parts.inst).continues.is_empty()
    }

    // --- all iterations at once ---

    fn all_at_once(&mut self, parts: &Parts<'_>, trips: Option<u64>) {
        let place = self.place();
        self.enter(parts, trips, false);
        let first = self.left.len();
        let inside = self.uncertainty;
        self.block(parts.body);
        // Who left in one iteration is missing in the next.
        let leaves = &self.left[first..];
        let later = leaves.iter().filter(|leave| !leave.goes_on).fold(inside, |uncertainty, leave| {
            let is_whole = leave.mask == place.active && leave.uncertainty <= Uncertainty::Uniform;
            let is_part = leave.uncertainty <= Uncertainty::Uniform && !is_whole;
            uncertainty.max(if is_part { Uncertainty::Data } else { leave.uncertainty })
        });
        if later > inside {
            let wanted = self.wanted;
            self.go_back(&place);
            self.uncertainty = later;
            self.enter(parts, trips, false);
            self.block(parts.body);
            self.wanted |= wanted;
        }
        if trips != Some(1) && self.stores_to_shared(parts.body) && self.visits < MOST_VISITS {
            self.once_more(parts, trips, &place);
        }
        let is_for = parts.range.is_some();
        self.active = if is_for { place.active } else { 0 };
        self.rejoin(parts.inst, place.uncertainty, place.left);
        self.values.forget(place.mark, self.depth);
    }

    /// The next iteration, for the sake of what one leaves to the next.
    fn once_more(&mut self, parts: &Parts<'_>, trips: Option<u64>, place: &Checkpoint) {
        let (active, uncertainty, left, wanted) = (self.active, self.uncertainty, self.left.len(), self.wanted);
        self.values.forget(place.mark, self.depth);
        self.active = place.active;
        self.again.push(parts.inst);
        self.enter(parts, trips, true);
        self.block(parts.body);
        self.left.truncate(left);
        self.again.pop();
        (self.active, self.uncertainty, self.wanted) = (active, uncertainty, wanted);
    }

    fn stores_to_shared(&self, body: Block) -> bool {
        let is_shared = |object: Object| self.kernel.objects[object].kind == ObjectKind::Shared;
        self.kernel.insts_in(body).any(|inst| matches!(&self.kernel.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Store(_) | MemoryOp::StoreMatrix(_) | MemoryOp::Atomic(..), at }) if is_shared(at.object())))
    }

    /// Binds the body's parameters for any iteration, or the one after it, and leaves the lanes active that make it.
    fn enter(&mut self, parts: &Parts<'_>, trips: Option<u64>, next: bool) {
        let bit = self.loops[&parts.inst].bit;
        let most = trips.map(|trips| trips.saturating_sub(1));
        let iteration = self.values.atoms.get(AtomSource::Iteration(parts.inst), 1, most, bit);
        self.values.atoms.depends_on(iteration, self.values.dependence.rounds(parts.inst));
        self.bind_carried(parts, iteration, next, bit);
        if let (Some([start, end, step]), Some(counter)) = (parts.range, parts.counter) {
            let is = self.counter(start, step, iteration, next);
            let ty = self.kernel.ty(counter);
            let condition = match (&is, self.values.sum(end)) {
                _ if trips.is_some() => Condition::unknown(Uncertainty::Uniform, 0),
                (Ok(counter), Ok(end)) => self.values.compare(CompareOp::Lt, ty, counter, &end),
                _ => Condition::unknown(Uncertainty::Data, 0),
            };
            self.note_branch(parts.inst, &condition);
            self.values.bind(counter, is.map_or_else(LaneValue::Unknown, LaneValue::Sum));
            self.active &= !condition.no;
            if self.active & condition.open() != 0 {
                self.uncertainty = self.uncertainty.max(condition.rest);
            }
        }
    }

    /// `start + iteration · step`.
    fn counter(&mut self, start: Value, step: Value, iteration: Atom, next: bool) -> Result<Sum, Unknown> {
        let (start, step) = (self.values.sum(start)?, self.values.sum(step)?);
        progress(&start, &step, iteration, next).ok_or(Unknown { is_data: true, varies: 0 })
    }

    /// What is carried round: unchanged, or changed by one number each time, or unknown.
    fn bind_carried(&mut self, parts: &Parts<'_>, iteration: Atom, next: bool, bit: Varies) {
        let kernel = self.kernel;
        let init: Vec<LaneValue> = parts.init.iter().map(|value| self.values.value(*value)).collect();
        let first = self.values.atoms.fresh(1, None, 0);
        let mark = self.values.mark();
        let guesses: Vec<Atom> = parts.carried.iter().map(|_| self.values.atoms.fresh(1, None, 0)).collect();
        for (value, atom) in parts.carried.iter().zip(&guesses) {
            let ty = kernel.ty(*value);
            if ty.is_int() {
                self.values.bind(*value, LaneValue::Sum(Sum::atom(ty.bits(), *atom)));
            }
        }
        let exits = self.exits.get(parts.inst);
        let next_values: Vec<Value> = match (exits.yields.as_slice(), exits.continues.is_empty()) {
            ([only], true) => crate::analysis::exits::exit_values(&kernel.insts[*only].op).to_vec(),
            _ => Vec::new(),
        };
        let mut steps = Vec::new();
        for (n, value) in parts.carried.iter().enumerate() {
            let ty = kernel.ty(*value);
            let after = next_values.get(n).filter(|_| ty.is_int()).and_then(|after| self.values.sum(*after).ok());
            let step = after.map(|after| after.plus(&Sum::atom(ty.bits(), guesses[n]), -1));
            steps.push(step.filter(|step| step.atoms().all(|atom| !self.is_new(atom, &first))));
        }
        self.values.forget(mark, self.depth);
        let are = parts.carried.iter().zip(init).zip(steps).map(|((value, init), step)| match (init, step) {
            (LaneValue::Sum(init), Some(step)) => progress(&init, &step, iteration, next).map(LaneValue::Sum).ok_or(*value),
            _ => Err(*value),
        });
        let are: Vec<Result<LaneValue, Value>> = are.collect();
        let are = are.into_iter().map(|is| is.unwrap_or_else(|value| self.some_carried(value, bit))).collect();
        self.bind_all(parts.carried, are);
    }

    fn some_carried(&mut self, value: Value, bit: Varies) -> LaneValue {
        if self.values.is_one_in_warp(value) {
            let varies = if self.kernel.ty(value).is_int() { bit } else { 0 };
            return self.values.uniform(value, varies);
        }
        LaneValue::Unknown(Unknown { is_data: bit == 0 || !self.kernel.ty(value).is_int(), varies: bit })
    }

    // --- one by one ---

    /// Tells whether it came to an end.
    fn one_by_one(&mut self, parts: &Parts<'_>, trips: Option<u64>) -> bool {
        let place = self.place();
        let mut carried: Vec<LaneValue> = parts.init.iter().map(|value| self.values.value(*value)).collect();
        let mut is_over = false;
        for iteration in 0..=MOST_ITERATIONS {
            is_over = self.active == 0 || trips.is_some_and(|trips| iteration >= trips);
            if is_over || self.visits >= MOST_VISITS {
                break;
            }
            self.bind_all(parts.carried, carried.clone());
            if let (Some([start, _, step]), Some(counter)) = (parts.range, parts.counter) {
                let known = |sum: Result<Sum, Unknown>| sum.ok()?.as_constant()?.same();
                let (start, step) = (known(self.values.sum(start)).unwrap_or(0), known(self.values.sum(step)).unwrap_or(1));
                let bits = self.kernel.ty(counter).bits();
                self.values.bind(counter, LaneValue::Sum(Sum::number(bits, start.wrapping_add(step.wrapping_mul(iteration as i64)))));
            }
            self.block(parts.body);
            if let Some(next) = self.kernel.yielded(parts.body) {
                carried = next.iter().map(|value| self.values.value(*value)).collect();
            }
            self.values.forget(place.mark, self.depth);
        }
        if !is_over {
            self.go_back(&place);
            self.loops.insert(parts.inst, LoopState::default());
            return false;
        }
        let has_breaks = !self.exits.get(parts.inst).breaks.is_empty();
        self.rejoin(parts.inst, place.uncertainty, place.left);
        if parts.range.is_some() && !has_breaks {
            let results = self.kernel.insts[parts.inst].results.clone();
            self.bind_all(&results, carried);
        }
        if parts.range.is_some() {
            let condition = Condition::unknown(Uncertainty::Uniform, 0);
            self.note_branch(parts.inst, &condition);
        }
        true
    }
}

/// `start + iteration · step`, or one step further.
fn progress(start: &Sum, step: &Sum, iteration: Atom, next: bool) -> Option<Sum> {
    let sum = start.plus(&step.times(&Sum::atom(step.bits(), iteration))?, 1);
    Some(if next { sum.plus(step, 1) } else { sum })
}
