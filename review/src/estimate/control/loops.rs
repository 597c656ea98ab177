//! Loops: their rounds, and which of them are gone through.

use super::{LANES, MOST_ROUNDS, MOST_STEPS, Mask, Walk};
use crate::estimate::weights::UNKNOWN_TRIPS;
use warpwright_codegen::collections::HashSet;
use warpwright_codegen::ir::{BinaryOp, Block, Compute, Inst, Kernel, Op, Region, Scalar, Value};

/// A loop taken apart.
struct Parts<'k> {
    inst: Inst,
    init: &'k [Value],
    body: Block,
    carried: &'k [Value],
}

impl<'k> Walk<'k> {
    pub(super) fn repeat(&mut self, inst: Inst, weight: f64, active: Mask) -> Mask {
        let kernel = self.kernel;
        match &kernel.insts[inst].op {
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let Some((counter, carried)) = kernel.blocks[*body].params.split_first() else { return active };
                let parts = Parts { inst, init, body: *body, carried };
                self.counted(&parts, *counter, [*start, *end, *step], weight, active)
            }
            Op::Region(Region::Loop { init, body, .. }) => {
                let parts = Parts { inst, init, body: *body, carried: &kernel.blocks[*body].params };
                self.open_ended(&parts, weight, active)
            }
            _ => active,
        }
    }

    fn note(&mut self, inst: Inst, weight: f64, rounds: f64) {
        self.weights.rounds[usize::from(inst)] += weight * self.share * rounds;
        let most = &mut self.weights.most[usize::from(inst)];
        *most = most.max(rounds);
    }

    /// Rounds of a `for` in each lane.
    fn rounds_of(&self, [start, end, step]: [Value; 3], active: Mask) -> Option<[i128; LANES]> {
        // `first..first + 4` is four rounds, whatever `first` is.
        let same = match (and_constant(self.kernel, start), and_constant(self.kernel, end)) {
            ((from, start), (to, end)) if from == to && from.is_some() => Some((start, end)),
            _ => None,
        };
        let (start, end, step) = (self.row(start), self.row(end), self.row(step));
        let mut rounds = [0; LANES];
        for lane in (0..LANES).filter(|lane| active >> lane & 1 == 1) {
            let step = step[lane]?.as_int();
            let (start, end) = match same {
                Some(both) => both,
                None => (start[lane]?.as_int(), end[lane]?.as_int()),
            };
            if step <= 0 {
                return None;
            }
            rounds[lane] = ((end - start).max(0) + step - 1) / step;
        }
        Some(rounds)
    }

    fn counted(&mut self, parts: &Parts<'k>, counter: Value, range: [Value; 3], weight: f64, active: Mask) -> Mask {
        let kernel = self.kernel;
        let at = usize::from(parts.inst);
        let found = self.rounds_of(range, active);
        if let (Some(_), false) = (self.chains.next[at], self.chains.goes_on[at]) {
            self.share_of_chain(parts.inst, range[0], weight, active);
        }
        let results = &kernel.insts[parts.inst].results;
        let init = self.rows(parts.init);
        let rounds = match (found, self.chains.rounds[at]) {
            (Some(rounds), _) => rounds.into_iter().max().unwrap_or(0) as f64,
            (None, Some(rounds)) => rounds,
            (None, None) => self.guess_of_range(counter, parts.body, range, weight),
        };
        self.note(parts.inst, weight, rounds);
        if rounds < 1.0 {
            self.bind(results, &init);
            return active;
        }
        let asks = self.asks_for_round(parts, Some(counter));
        if let Some(each) = found.filter(|_| asks && rounds <= MOST_ROUNDS as f64 && self.steps < MOST_STEPS) {
            let mut carried = init;
            let mut inside = active;
            for round in 0..rounds as i128 {
                let here = (0..LANES).filter(|lane| inside >> lane & 1 == 1 && round < each[*lane]).fold(0, |mask, lane| mask | 1 << lane);
                if here == 0 {
                    break;
                }
                self.count(counter, range, round);
                self.bind(parts.carried, &carried);
                let (ended, rows) = self.block(parts.body, weight, here);
                self.merge(parts.carried, &rows.unwrap_or_default(), ended);
                let again = ended | self.back(parts.inst, true, parts.carried);
                carried = self.rows(parts.carried);
                inside &= !here | again;
            }
            self.bind(results, &carried);
            return inside | self.back(parts.inst, false, results);
        }
        // Some rounds stand for all: those of the middle of each part.
        let samples = if asks && found.is_some() && self.steps < MOST_STEPS { 8 } else { 1 };
        let mut after = active;
        for sample in 0..samples {
            let round = (rounds * (f64::from(sample) + 0.5) / f64::from(samples)) as i128;
            self.count(counter, range, if asks { round } else { 0 });
            let is_carried = !asks && rounds <= 1.0;
            self.bind(parts.carried, if is_carried { &init } else { &[] });
            let (ended, _) = self.block(parts.body, weight * rounds / f64::from(samples), active);
            let again = ended | self.back(parts.inst, true, &[]);
            after &= again | self.back(parts.inst, false, &[]);
        }
        self.bind(results, &[]);
        // Who left all of it in a round that stands for others is missing after all of them.
        after
    }

    /// Gives the loops of a chain that begins here their rounds of the one that it was made of: that goes in the steps of the last one.
    fn share_of_chain(&mut self, first: Inst, start: Value, weight: f64, active: Mask) {
        let kernel = self.kernel;
        let Op::Region(Region::For { end, step, body, .. }) = &kernel.insts[self.chains.last(first)].op else { return };
        let Some(counter) = kernel.blocks[*body].params.first() else { return };
        let range = [start, *end, *step];
        match self.rounds_of(range, active) {
            Some(rounds) => self.chains.share(kernel, first, rounds.into_iter().max().unwrap_or(0) as f64, true),
            None => {
                let total = self.guess_of_range(*counter, *body, range, weight);
                self.chains.share(kernel, first, total, false);
            }
        }
    }

    /// Binds a counter for a round.
    fn count(&mut self, counter: Value, [start, _, step]: [Value; 3], round: i128) {
        let ty = self.kernel.ty(counter);
        let (start, step) = (self.row(start), self.row(step));
        let value = |lane: usize| Some(Scalar::int(ty, start[lane]?.as_int() + round * step[lane]?.as_int()));
        self.values[usize::from(counter)] = std::array::from_fn(value);
    }

    /// Whether anything in a loop's body that decides what runs depends on the round.
    fn asks_for_round(&mut self, parts: &Parts<'_>, counter: Option<Value>) -> bool {
        let at = usize::from(parts.inst);
        if let Some(asks) = self.asks[at] {
            return asks;
        }
        let is_asked = |value: &Value| self.needed[usize::from(*value)];
        // What is needed and varies is needed somewhere inside, unless it is for the loop's own end or for what comes after.
        let mut varying: HashSet<Value> = parts.carried.iter().copied().chain(counter).filter(is_asked).collect();
        let mut asks = false;
        if !varying.is_empty() {
            self.kernel.walk_block(parts.body, &mut |kernel, _, inst| {
                let data = &kernel.insts[inst];
                let mut depends = false;
                match &data.op {
                    Op::Region(Region::If { condition, .. }) => asks |= varying.contains(condition),
                    Op::Region(Region::For { start, end, step, .. }) => {
                        asks |= [start, end, step].into_iter().any(|value| varying.contains(value));
                    }
                    _ => {}
                }
                data.op.for_each_operand(|operand| depends |= varying.contains(&operand));
                if depends {
                    varying.extend(data.results.iter().copied().filter(is_asked));
                    for block in data.op.blocks() {
                        varying.extend(kernel.blocks[block].params.iter().copied().filter(is_asked));
                    }
                }
            });
        }
        self.asks[at] = Some(asks);
        asks
    }

    fn open_ended(&mut self, parts: &Parts<'k>, weight: f64, active: Mask) -> Mask {
        let before = (self.weights.of.clone(), self.weights.rounds.clone(), self.weights.most.clone(), self.gone.len());
        let results = &self.kernel.insts[parts.inst].results;
        self.bind(parts.carried, &[]);
        let init = self.rows(parts.init);
        self.bind(parts.carried, &init);
        let (mut inside, mut after, mut rounds) = (active, 0, 0u64);
        let from = self.steps;
        let may_end = std::mem::replace(&mut self.may_end, false);
        // Of one whose end depends on data, it is looked at whether it ends soon in any case.
        while inside != 0
            && !self.endless[usize::from(parts.inst)]
            && rounds <= UNKNOWN_TRIPS as u64
            && self.steps - from < if self.may_end { MOST_STEPS / 32 } else { MOST_STEPS / 4 }
        {
            let (ended, rows) = self.block(parts.body, weight, inside);
            self.merge(parts.carried, &rows.unwrap_or_default(), ended);
            let next = ended | self.back(parts.inst, true, parts.carried);
            after |= self.back(parts.inst, false, results);
            inside = next;
            rounds += u64::from(next != 0);
        }
        self.weights.is_guessed |= self.may_end;
        self.may_end = may_end;
        if inside == 0 {
            self.note(parts.inst, weight, rounds as f64);
            return after;
        }
        // It never ended: once for all.
        self.endless[usize::from(parts.inst)] = true;
        (self.weights.of, self.weights.rounds, self.weights.most) = (before.0, before.1, before.2);
        self.gone.truncate(before.3);
        let rounds = self.guess_of_loop(parts.inst, parts.init, parts.body, active);
        self.note(parts.inst, weight, rounds);
        self.bind(parts.carried, &[]);
        self.unsure += 1;
        self.block(parts.body, weight * rounds, active);
        self.unsure -= 1;
        self.bind(results, &[]);
        active
    }
}

/// A value as another (none for a constant) and what is added to it. Sums that wrap are not thought of: this is for estimates.
pub(super) fn and_constant(kernel: &Kernel, value: Value) -> (Option<Value>, i128) {
    if let Some(constant) = kernel.constant(value) {
        return (None, constant.as_int());
    }
    let Some((_, Op::Compute(Compute::Binary(BinaryOp::Add, a, b)))) = kernel.def(value) else { return (Some(value), 0) };
    let (base, added) = match (kernel.constant(*a), kernel.constant(*b)) {
        (None, Some(constant)) => (*a, constant),
        (Some(constant), None) => (*b, constant),
        _ => return (Some(value), 0),
    };
    let (base, more) = and_constant(kernel, base);
    (base, more + added.as_int())
}
