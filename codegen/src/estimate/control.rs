//! Goes through a kernel's control as a few threads of each warp do: first, second, middle and last lane. What they compute of conditions and loops' bounds
//! is evaluated, with what a launch says if there is one; everything else is left alone.
//!
//! A `for` whose rounds are all alike is gone through once, counted as often as it runs; one whose body's control asks for the round
//! (a triangle's rows, a tree's steps), round by round, or some of its rounds for all. A `loop` is gone round until every thread has left it. Where
//! that depends on data, or on a launch that is not known, it counts as [`UNKNOWN_TRIPS`]. The loops that an annotation makes of one,
//! groups and what they leave over, share the rounds of that one.

use super::launched::Launched;
use super::weights::{Marks, UNKNOWN_TRIPS, Weights};
use crate::ir::{Axis, Block, Inst, Kernel, ObjectKind, Op, Scalar, Special, Type, Value, ValueDef, eval};

/// Threads of a warp that are followed: those that conditions on a lane's number tell apart.
const LANES: usize = 4;
const FOLLOWED: [u32; LANES] = [0, 1, 16, 31];

/// Lanes, one bit each.
type Mask = u8;

/// A value in each lane that is followed.
type Row = [Option<Scalar>; LANES];
const UNKNOWN: Row = [None; LANES];

/// More rounds of a loop are not gone through one by one.
const MOST_ROUNDS: u64 = 64;

/// After so many instructions, loops are gone through once.
const MOST_STEPS: u64 = 60_000;

/// Finds how often what runs.
pub(super) fn run(kernel: &Kernel, marks: &Marks, launched: &Launched) -> Weights {
    let n = kernel.insts.len();
    let weights = Weights { of: vec![0.0; n], rounds: vec![0.0; n], most: vec![0.0; n], runs: vec![false; n], exact: true };
    let block = kernel.options.block.or(launched.block);
    let threads = block.map_or(32, |block| block.iter().product::<u32>().max(1));
    let needed = needed(kernel);
    let warps = if asks_who(kernel, &needed) { threads.div_ceil(32) } else { 1 };
    let mut walk = Walk {
        kernel,
        marks,
        launched,
        block,
        needed,
        values: vec![UNKNOWN; kernel.values.len()],
        chains: Chains::of(kernel),
        weights,
        share: 1.0 / f64::from(warps),
        warp: 0,
        gone: Vec::new(),
        unsure: 0,
        may_end: false,
        endless: vec![false; n],
        steps: 0,
    };
    let mut heaviest = -1.0;
    for warp in 0..warps {
        walk.warp = warp;
        let before = walk.weights.of.clone();
        walk.gone.clear();
        let there = (0..LANES).filter(|lane| warp * 32 + FOLLOWED[*lane] < threads).fold(0, |mask, lane| mask | 1 << lane);
        walk.block(kernel.body, 1.0, there);
        let runs = walk.weights.of.iter().zip(&before).map(|(after, before)| after - before);
        let total: f64 = runs.clone().sum();
        if total > heaviest {
            heaviest = total;
            walk.weights.runs = runs.map(|more| more > 0.0).collect();
        }
    }
    walk.weights
}

/// Values that conditions and bounds are made of.
fn needed(kernel: &Kernel) -> Vec<bool> {
    let mut needed = vec![false; kernel.values.len()];
    let mut list: Vec<Value> = Vec::new();
    let mut exits: std::collections::HashMap<Inst, Vec<Inst>> = std::collections::HashMap::new();
    let mut owners: std::collections::HashMap<Block, Inst> = std::collections::HashMap::new();
    kernel.for_each_inst(|kernel, block, inst| match &kernel.insts[inst].op {
        Op::Break(owner, _) | Op::Continue(owner, _) => exits.entry(*owner).or_default().push(inst),
        Op::Yield(_) => {
            if let Some(owner) = owners.get(&block) {
                exits.entry(*owner).or_default().push(inst);
            }
        }
        op => {
            op.blocks().into_iter().for_each(|child| {
                owners.insert(child, inst);
            });
            match op {
                Op::If { condition, .. } => list.push(*condition),
                Op::For { start, end, step, .. } => list.extend([*start, *end, *step]),
                _ => {}
            }
        }
    });
    while let Some(value) = list.pop() {
        if std::mem::replace(&mut needed[usize::from(value)], true) {
            continue;
        }
        // The n-th of what is handed over where a construct ends or begins anew.
        let handed = |owner: Inst, n: usize, list: &mut Vec<Value>| {
            for exit in exits.get(&owner).into_iter().flatten() {
                list.extend(crate::analysis::exits::exit_values(&kernel.insts[*exit].op).get(n));
            }
        };
        match kernel.values[value].def {
            ValueDef::Result(inst, n) => {
                let op = &kernel.insts[inst].op;
                match op {
                    Op::If { .. } | Op::Loop { .. } | Op::Region { .. } => handed(inst, usize::from(n), &mut list),
                    Op::For { init, .. } => {
                        list.extend(init.get(usize::from(n)));
                        handed(inst, usize::from(n), &mut list);
                    }
                    _ => op.for_each_operand(|operand| list.push(operand)),
                }
            }
            ValueDef::Param(block, n) => {
                let Some(owner) = owners.get(&block) else { continue };
                let (init, n) = match &kernel.insts[*owner].op {
                    Op::For { init, .. } => match usize::from(n).checked_sub(1) {
                        Some(n) => (init, n),
                        None => continue,
                    },
                    Op::Loop { init, .. } => (init, usize::from(n)),
                    _ => continue,
                };
                list.extend(init.get(n));
                handed(*owner, n, &mut list);
            }
        }
    }
    needed
}

/// Whether any of them depends on which thread of the block asks.
fn asks_who(kernel: &Kernel, needed: &[bool]) -> bool {
    let mut asks = false;
    kernel.for_each_inst(|kernel, _, inst| {
        let data = &kernel.insts[inst];
        asks |= matches!(data.op, Op::Special(Special::ThreadIdx | Special::WarpId, _))
            && data.results.iter().any(|value| needed[usize::from(*value)]);
    });
    asks
}

/// Loops that go on where an earlier one ended: what an annotation made of one loop.
struct Chains {
    /// By loop: the one that goes on where it ended.
    next: Vec<Option<Inst>>,
    /// By loop: whether it goes on where another ended.
    goes_on: Vec<bool>,
    /// By loop of such a chain: the rounds that are its own, found when the chain begins.
    rounds: Vec<Option<f64>>,
}

impl Chains {
    fn of(kernel: &Kernel) -> Chains {
        let n = kernel.insts.len();
        let mut chains = Chains { next: vec![None; n], goes_on: vec![false; n], rounds: vec![None; n] };
        kernel.for_each_inst(|kernel, _, inst| {
            if let Op::For { start, .. } = &kernel.insts[inst].op
                && let Some((first, Op::For { .. })) = kernel.def(*start)
            {
                chains.next[usize::from(first)] = Some(inst);
                chains.goes_on[usize::from(inst)] = true;
            }
        });
        chains
    }

    /// Gives each loop of the chain that `first` begins its rounds, of `total` of the last one's. Of a total that nobody knows nothing is left
    /// over: that is the steady state.
    fn share(&mut self, kernel: &Kernel, first: Inst, total: Option<f64>) {
        let mut members = vec![first];
        while let Some(next) = self.next[usize::from(members[members.len() - 1])].filter(|_| members.len() < 8) {
            members.push(next);
        }
        let step_of = |inst: Inst| match &kernel.insts[inst].op {
            Op::For { step, .. } => Some(*step),
            _ => None,
        };
        let last = step_of(members[members.len() - 1]);
        let mut left = total.unwrap_or(UNKNOWN_TRIPS);
        for member in members {
            let factor = step_of(member).zip(last).and_then(|(step, last)| times(kernel, step, last)).unwrap_or(1.0).max(1.0);
            let own = if total.is_some() { (left / factor).floor() } else { left / factor };
            left -= own * factor;
            self.rounds[usize::from(member)] = Some(own);
        }
    }
}

/// How many times `of` a step is: both constants, or one a multiple of the other.
fn times(kernel: &Kernel, step: Value, of: Value) -> Option<f64> {
    if step == of {
        return Some(1.0);
    }
    if let (Some(step), Some(of)) = (kernel.constant(step), kernel.constant(of)) {
        return (of.as_int() != 0).then(|| step.as_int() as f64 / of.as_int() as f64);
    }
    match kernel.def(step)?.1 {
        Op::Binary(crate::ir::BinaryOp::Mul, a, b) if *a == of => kernel.constant(*b).map(|n| n.as_int() as f64),
        Op::Binary(crate::ir::BinaryOp::Mul, a, b) if *b == of => kernel.constant(*a).map(|n| n.as_int() as f64),
        Op::Binary(crate::ir::BinaryOp::Shl, a, b) if *a == of => kernel.constant(*b).map(|n| (1u64 << (n.as_int() as u32 & 31)) as f64),
        Op::Select(_, a, _) => times(kernel, *a, of),
        _ => None,
    }
}

/// A loop taken apart.
struct Parts<'k> {
    inst: Inst,
    init: &'k [Value],
    body: Block,
    carried: &'k [Value],
}

struct Walk<'k> {
    kernel: &'k Kernel,
    marks: &'k Marks,
    launched: &'k Launched,
    block: Option<[u32; 3]>,
    needed: Vec<bool>,
    values: Vec<Row>,
    chains: Chains,
    weights: Weights,
    /// Of the block's warps, one.
    share: f64,
    warp: u32,
    /// Lanes that left something further out, whether for its next round, and what they handed over.
    gone: Vec<Gone>,
    /// Branches round the present place whose conditions are not known.
    unsure: u32,
    /// Whether a `loop` was left, or not, nobody knows.
    may_end: bool,
    /// By `loop`: whether an earlier warp came to no end in it.
    endless: Vec<bool>,
    steps: u64,
}

struct Gone {
    target: Option<Inst>,
    goes_on: bool,
    mask: Mask,
    values: Vec<Row>,
}

impl<'k> Walk<'k> {
    fn row(&self, value: Value) -> Row {
        self.values[usize::from(value)]
    }

    fn rows(&self, values: &[Value]) -> Vec<Row> {
        values.iter().map(|value| self.row(*value)).collect()
    }

    fn bind(&mut self, values: &[Value], rows: &[Row]) {
        for (n, value) in values.iter().enumerate() {
            self.values[usize::from(*value)] = rows.get(n).copied().unwrap_or(UNKNOWN);
        }
    }

    /// Binds in some lanes only.
    fn merge(&mut self, values: &[Value], rows: &[Row], mask: Mask) {
        for (n, value) in values.iter().enumerate() {
            let row = rows.get(n).copied().unwrap_or(UNKNOWN);
            for (lane, known) in row.into_iter().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
                self.values[usize::from(*value)][lane] = known;
            }
        }
    }

    /// Goes through a block as these lanes: those that come to its end, and what they hand over there.
    fn block(&mut self, block: Block, weight: f64, mut active: Mask) -> (Mask, Option<Vec<Row>>) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let inst = *inst;
            if active == 0 {
                return (0, None);
            }
            self.steps += 1;
            self.weights.of[usize::from(inst)] += weight * self.share;
            match &kernel.insts[inst].op {
                Op::Yield(values) => return (active, Some(self.rows(values))),
                Op::Break(owner, values) => return self.leave(Some(*owner), false, values, active),
                Op::Continue(owner, values) => return self.leave(Some(*owner), true, values, active),
                Op::Return | Op::Trap(_) => return self.leave(None, false, &[], active),
                Op::If { condition, then_block, else_block } => {
                    active = self.branch(inst, *condition, [*then_block, *else_block], weight, active);
                }
                Op::Region { body } => {
                    let (ended, rows) = self.block(*body, weight, active);
                    let results = &kernel.insts[inst].results;
                    self.bind(results, &[]);
                    self.merge(results, &rows.unwrap_or_default(), ended);
                    active = ended | self.back(inst, false, results);
                }
                Op::For { .. } | Op::Loop { .. } => active = self.repeat(inst, weight, active),
                _ => self.instruction(inst),
            }
        }
        (active, None)
    }

    fn leave(&mut self, target: Option<Inst>, goes_on: bool, values: &[Value], mask: Mask) -> (Mask, Option<Vec<Row>>) {
        // Who leaves where nobody knows whether is taken to stay.
        if self.unsure == 0 {
            let values = self.rows(values);
            self.gone.push(Gone { target, goes_on, mask, values });
        } else if !goes_on && target.is_some_and(|target| matches!(self.kernel.insts[target].op, Op::Loop { .. })) {
            self.may_end = true;
        }
        (0, None)
    }

    /// Lanes that left `inst`, with what they handed over.
    fn back(&mut self, inst: Inst, goes_on: bool, values: &[Value]) -> Mask {
        let mut back = 0;
        let mut at = 0;
        while at < self.gone.len() {
            if self.gone[at].target == Some(inst) && self.gone[at].goes_on == goes_on {
                let gone = self.gone.swap_remove(at);
                self.merge(values, &gone.values, gone.mask);
                back |= gone.mask;
            } else {
                at += 1;
            }
        }
        back
    }

    fn branch(&mut self, inst: Inst, condition: Value, arms: [Block; 2], weight: f64, active: Mask) -> Mask {
        let kernel = self.kernel;
        let results = &kernel.insts[inst].results;
        let row = self.row(condition);
        let lanes = (0..LANES).filter(|lane| active >> lane & 1 == 1);
        let is_known = lanes.clone().all(|lane| row[lane].is_some());
        self.bind(results, &[]);
        if is_known {
            let yes = lanes.filter(|lane| row[*lane].is_some_and(Scalar::is_true)).fold(0, |mask, lane| mask | 1 << lane);
            let mut after = 0;
            for (arm, mask) in arms.into_iter().zip([yes, active & !yes]) {
                if mask != 0 {
                    let (ended, rows) = self.block(arm, weight, mask);
                    self.merge(results, &rows.unwrap_or_default(), ended);
                    after |= ended;
                }
            }
            return after;
        }
        let (then, other) = self.marks.arms(kernel, arms[0], arms[1], inst);
        self.unsure += 1;
        let mut known: Option<Vec<Row>> = None;
        let mut is_one = true;
        for (arm, share) in arms.into_iter().zip([then, other]) {
            if share > 0.0 {
                let (_, rows) = self.block(arm, weight * share, active);
                if let Some(rows) = rows {
                    is_one &= known.is_none();
                    known = Some(rows);
                }
            }
        }
        self.unsure -= 1;
        // Of two ways that may both be taken, nothing is known.
        if is_one {
            self.bind(results, &known.unwrap_or_default());
        }
        active
    }

    // --- loops ---

    fn repeat(&mut self, inst: Inst, weight: f64, active: Mask) -> Mask {
        let kernel = self.kernel;
        match &kernel.insts[inst].op {
            Op::For { start, end, step, init, body, .. } => {
                let Some((counter, carried)) = kernel.blocks[*body].params.split_first() else { return active };
                let parts = Parts { inst, init, body: *body, carried };
                self.counted(&parts, *counter, [*start, *end, *step], weight, active)
            }
            Op::Loop { init, body, .. } => {
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
            let total = self.total_of_chain(parts.inst, range, active);
            self.weights.exact &= total.is_some();
            self.chains.share(kernel, parts.inst, total);
        }
        let results = &kernel.insts[parts.inst].results;
        let init = self.rows(parts.init);
        let rounds = match (found, self.chains.rounds[at]) {
            (Some(rounds), _) => rounds.into_iter().max().unwrap_or(0) as f64,
            (None, Some(rounds)) => rounds,
            (None, None) => {
                self.weights.exact = false;
                UNKNOWN_TRIPS
            }
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

    /// The rounds of the loop that a chain was made of.
    fn total_of_chain(&self, first: Inst, [start, ..]: [Value; 3], active: Mask) -> Option<f64> {
        let mut last = first;
        while let Some(next) = self.chains.next[usize::from(last)] {
            last = next;
        }
        let Op::For { end, step, .. } = &self.kernel.insts[last].op else { return None };
        let rounds = self.rounds_of([start, *end, *step], active)?;
        Some(rounds.into_iter().max().unwrap_or(0) as f64)
    }

    /// Binds a counter for a round.
    fn count(&mut self, counter: Value, [start, _, step]: [Value; 3], round: i128) {
        let ty = self.kernel.ty(counter);
        let (start, step) = (self.row(start), self.row(step));
        let value = |lane: usize| Some(Scalar::int(ty, start[lane]?.as_int() + round * step[lane]?.as_int()));
        self.values[usize::from(counter)] = std::array::from_fn(value);
    }

    /// Whether anything in a loop's body that decides what runs depends on the round.
    fn asks_for_round(&self, parts: &Parts<'_>, counter: Option<Value>) -> bool {
        let is_asked = |value: &Value| self.needed[usize::from(*value)];
        // What is needed and varies is needed somewhere inside, unless it is for the loop's own end or for what comes after.
        let mut varying: Vec<Value> = parts.carried.iter().copied().chain(counter).filter(is_asked).collect();
        if varying.is_empty() {
            return false;
        }
        let mut asks = false;
        self.kernel.walk_block(parts.body, &mut |kernel, _, inst| {
            let data = &kernel.insts[inst];
            let mut depends = false;
            match &data.op {
                Op::If { condition, .. } => asks |= varying.contains(condition),
                Op::For { start, end, step, .. } => asks |= [start, end, step].into_iter().any(|value| varying.contains(value)),
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
        self.weights.exact &= !self.may_end;
        self.may_end = may_end;
        if inside == 0 {
            self.note(parts.inst, weight, rounds as f64);
            return after;
        }
        // It never ended: once for all.
        self.endless[usize::from(parts.inst)] = true;
        (self.weights.of, self.weights.rounds, self.weights.most) = (before.0, before.1, before.2);
        self.gone.truncate(before.3);
        self.weights.exact = false;
        self.note(parts.inst, weight, UNKNOWN_TRIPS);
        self.bind(parts.carried, &[]);
        self.unsure += 1;
        self.block(parts.body, weight * UNKNOWN_TRIPS, active);
        self.unsure -= 1;
        self.bind(results, &[]);
        active
    }

    // --- values ---

    fn instruction(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        let Some(result) = data.results.first().filter(|value| self.needed[usize::from(**value)]) else { return };
        let row: Row = std::array::from_fn(|lane| self.computed(&data.op, kernel.ty(*result), lane));
        self.bind(&data.results, &[row]);
    }

    fn computed(&self, op: &Op, ty: Type, lane: usize) -> Option<Scalar> {
        let of = |value: Value| self.values[usize::from(value)][lane];
        match op {
            Op::Const(scalar) => Some(*scalar),
            Op::Special(special, axis) => self.special(*special, *axis, lane).map(Scalar::u32),
            Op::Unary(op, a) => eval::unary(*op, of(*a)?),
            Op::Binary(op, a, b) => binary(*op, of(*a), of(*b)),
            Op::MulAdd(a, b, c) => eval::mul_add(of(*a)?, of(*b)?, of(*c)?),
            Op::Compare(op, a, b) => eval::compare(*op, of(*a)?, of(*b)?),
            Op::Select(c, a, b) => eval::select(of(*c)?, of(*a)?, of(*b)?),
            Op::Cast(a) => eval::cast(of(*a)?, ty),
            Op::Bitcast(a) => eval::bitcast(of(*a)?, ty),
            Op::Len(object) => self.launched.lengths.get(object).map(|n| Scalar::int(ty, i128::from(*n))),
            Op::Load(access) if access.path.is_empty() => self.launched.numbers.get(&(access.object, 0)).copied(),
            Op::LoadAt { object, offset, .. } if self.kernel.objects[*object].kind == ObjectKind::Value => {
                self.launched.numbers.get(&(*object, u64::try_from(*offset).ok()?)).copied().filter(|number| number.ty == ty)
            }
            Op::Intrinsic(row, operands) if row.row().is_pure() => {
                let operands: Option<Vec<Scalar>> = operands.iter().map(|value| of(*value)).collect();
                row.of_scalars(&operands?, ty)
            }
            _ => None,
        }
    }

    fn special(&self, special: Special, axis: Axis, lane: usize) -> Option<u32> {
        let axis = axis as usize;
        let thread = self.warp * 32 + FOLLOWED[lane];
        match special {
            Special::LaneId => Some(FOLLOWED[lane]),
            Special::WarpId => Some(self.warp),
            Special::ThreadIdx => {
                // A block that the launch decides is taken for a row.
                let [x, y, _] = self.block.unwrap_or([u32::MAX, 1, 1]);
                Some([thread % x, thread / x % y, thread / x / y][axis])
            }
            Special::BlockDim => self.block.map(|block| block[axis]),
            Special::GridDim => self.launched.grid.map(|grid| grid[axis]),
            // One in the middle is like most.
            Special::BlockIdx => self.launched.grid.map(|grid| grid[axis] / 2),
        }
    }
}

/// `a op b`, where one side may be enough.
fn binary(op: crate::ir::BinaryOp, a: Option<Scalar>, b: Option<Scalar>) -> Option<Scalar> {
    use crate::ir::BinaryOp::{And, Or};
    match (a, b) {
        (Some(a), Some(b)) => eval::binary(op, a, b),
        (Some(known), None) | (None, Some(known)) if known.ty == Type::Bool => match op {
            And if !known.is_true() => Some(Scalar::bool(false)),
            Or if known.is_true() => Some(Scalar::bool(true)),
            _ => None,
        },
        _ => None,
    }
}

/// A value as another (none for a constant) and what is added to it. Sums that wrap are not thought of: this is for estimates.
fn and_constant(kernel: &Kernel, value: Value) -> (Option<Value>, i128) {
    if let Some(constant) = kernel.constant(value) {
        return (None, constant.as_int());
    }
    let Some((_, Op::Binary(crate::ir::BinaryOp::Add, a, b))) = kernel.def(value) else { return (Some(value), 0) };
    let (base, added) = match (kernel.constant(*a), kernel.constant(*b)) {
        (None, Some(constant)) => (*a, constant),
        (Some(constant), None) => (*b, constant),
        _ => return (Some(value), 0),
    };
    let (base, more) = and_constant(kernel, base);
    (base, more + added.as_int())
}
