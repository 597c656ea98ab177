//! Goes through a kernel's control as a few threads of each warp do: first, second, middle and last lane. What they compute of conditions and loops' bounds
//! is evaluated, with what a launch says if there is one; everything else is left alone.
//!
//! A `for` whose rounds are all alike is gone through once, counted as often as it runs; one whose body's control asks for the round
//! (a triangle's rows, a tree's steps), round by round, or some of its rounds for all. A `loop` is gone round until every thread has left it. Where
//! that depends on data, or on a launch that is not known, `rounds.rs` guesses. The loops that an annotation makes of one,
//! groups and what they leave over, share the rounds of that one.

mod chains;
mod loops;
mod needed;
mod rounds;
mod values;

use super::launched::Launched;
use super::weights::{Marks, Weights};
use chains::Chains;
use needed::{asks_who, needed};
use warpwright_codegen::analysis::dependence::Dependence;
use warpwright_codegen::ir::{Block, Inst, Kernel, Op, Region, Scalar, Terminator, Value};
use warpwright_codegen::target::limits::WARP;

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
    let weights =
        Weights { of: vec![0.0; n], rounds: vec![0.0; n], most: vec![0.0; n], runs: vec![false; n], is_open: false, is_guessed: false };
    let block = kernel.options.block.or(launched.block);
    let threads = block.map_or(WARP, |block| block.iter().product::<u32>().max(1));
    let needed = needed(kernel);
    let roles = kernel.roles();
    let warps = if roles.is_some() || asks_who(kernel, &needed) { threads.div_ceil(WARP) } else { 1 };
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
        is_producer: false,
        gone: Vec::new(),
        unsure: 0,
        may_end: false,
        endless: vec![false; n],
        asks: vec![None; n],
        dependence: None,
        steps: 0,
    };
    let mut heaviest = -1.0;
    for warp in 0..warps {
        walk.warp = warp;
        let before = walk.weights.of.clone();
        walk.gone.clear();
        let there = (0..LANES).filter(|lane| warp * WARP + FOLLOWED[*lane] < threads).fold(0, |mask, lane| mask | 1 << lane);
        walk.block(kernel.body, 1.0, there);
        let runs = walk.weights.of.iter().zip(&before).map(|(after, before)| after - before);
        let total: f64 = runs.clone().sum();
        if total > heaviest {
            heaviest = total;
            walk.weights.runs = runs.map(|more| more > 0.0).collect();
        }
    }
    // What the issuer does is a warp's, too: that of none that the block waits for.
    if let Some(roles) = roles {
        walk.is_producer = true;
        walk.gone.clear();
        walk.block(roles.producer, 1.0, 1);
    }
    walk.weights
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
    /// Whether it is the producer's first, which the block has beside its own.
    is_producer: bool,
    /// Lanes that left something further out, whether for its next round, and what they handed over.
    gone: Vec<Gone>,
    /// Branches round the present place whose conditions are not known.
    unsure: u32,
    /// Whether a `loop` was left, or not, nobody knows.
    may_end: bool,
    /// By `loop`: whether an earlier warp came to no end in it.
    endless: Vec<bool>,
    /// By `for`: whether what runs inside depends on the round, once it was asked.
    asks: Vec<Option<bool>>,
    /// What values depend on, once it was asked.
    dependence: Option<Dependence>,
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
                Op::Terminator(Terminator::Yield(values)) => return (active, Some(self.rows(values))),
                Op::Terminator(Terminator::Break(owner, values)) => return self.leave(Some(*owner), false, values, active),
                Op::Terminator(Terminator::Continue(owner, values)) => return self.leave(Some(*owner), true, values, active),
                Op::Terminator(Terminator::Return | Terminator::Trap(_)) => return self.leave(None, false, &[], active),
                Op::Region(Region::If { condition, then_block, else_block }) => {
                    active = self.branch(inst, *condition, [*then_block, *else_block], weight, active);
                }
                Op::Region(Region::Block { body }) => {
                    let (ended, rows) = self.block(*body, weight, active);
                    let results = &kernel.insts[inst].results;
                    self.bind(results, &[]);
                    self.merge(results, &rows.unwrap_or_default(), ended);
                    active = ended | self.back(inst, false, results);
                }
                Op::Region(Region::For { .. } | Region::Loop { .. }) => active = self.repeat(inst, weight, active),
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
        } else if !goes_on && target.is_some_and(|target| matches!(self.kernel.insts[target].op, Op::Region(Region::Loop { .. }))) {
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
}
