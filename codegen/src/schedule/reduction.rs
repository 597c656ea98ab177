//! Which carried values are accumulators: `acc op= e`, and nothing else done with `acc`.
//!
//! From the value that an iteration hands on, the chain of updates leads back to the parameter it began with: through operations of
//! one kind (`+` and `-` together), the arms of an `if`, the carried values of inner loops, however these and blocks are left. Every use
//! of a value of the chain has to be a link of it: what else looks at the accumulator sees a sum that no split one has.

use crate::analysis::exits::{Exits, exit_values};
use crate::collections::{HashMap, HashSet};
use crate::ir::{BinaryOp, Block, Compute, Inst, Kernel, Op, Region, Scalar, Type, Value, ValueDef};

/// What carrying a value round comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// It stays what it was.
    Invariant,
    /// Every iteration gives it anew: the last one counts.
    Replaced,
    /// It gathers, by this operation.
    Accumulator(BinaryOp),
    /// It is the best so far, or goes with it (`schedule::extremum`).
    Best,
    /// Anything else: the instruction that looks at it, if one does.
    Other(Option<Inst>),
}

/// How control goes in a body: what hands values on, and from where.
pub(super) struct Ways {
    exits: Exits,
    /// The loop whose body a block is.
    loops: HashMap<Block, Inst>,
}

impl Ways {
    /// Those of a kernel.
    pub(super) fn of(kernel: &Kernel) -> Ways {
        let mut loops = HashMap::default();
        kernel.for_each_inst(|kernel, _, inst| {
            if let Op::Region(Region::For { body, .. } | Region::Loop { body, .. }) = kernel.insts[inst].op {
                loops.insert(body, inst);
            }
        });
        Ways { exits: Exits::of(kernel), loops }
    }

    /// The exits that give a region's results, as far as they are not a loop's carried values.
    fn ends<'w>(&'w self, kernel: &Kernel, region: Inst) -> impl Iterator<Item = Inst> + 'w {
        let is_loop = matches!(kernel.insts[region].op, Op::Region(Region::For { .. } | Region::Loop { .. }));
        let exits = self.exits.get(region);
        exits.breaks.iter().chain(exits.yields.iter().filter(move |_| !is_loop)).copied()
    }

    /// The exits that give a loop's next carried values.
    fn rounds(&self, region: Inst) -> impl Iterator<Item = Inst> + '_ {
        let exits = self.exits.get(region);
        exits.yields.iter().chain(&exits.continues).copied()
    }
}

/// What the parameter `param` of `body` is, given what `next` an iteration hands on.
pub(super) fn carried(kernel: &Kernel, ways: &Ways, body: Block, param: Value, next: Value) -> Carried {
    if param == next {
        return Carried::Invariant;
    }
    let derived = derived(kernel, ways, body, param);
    if !is_used(kernel, body, param) {
        return Carried::Replaced;
    }
    let mut chain = Chain {
        kernel,
        ways,
        derived: &derived,
        op: None,
        links: HashSet::default(),
        values: HashSet::from_iter([param]),
        left: Vec::new(),
    };
    if !chain.leads_back(next) {
        return Carried::Other(user(kernel, body, param));
    }
    // The iteration's end hands the last value on: the one use that is no link.
    let mut stray = None;
    kernel.walk_block(body, &mut |kernel, _, inst| {
        let mut n = 0;
        kernel.insts[inst].op.for_each_operand(|value| {
            let is_end = value == next && is_end(kernel, body, inst);
            if chain.values.contains(&value) && !chain.links.contains(&(inst, n)) && !is_end {
                stray = stray.or(Some(inst));
            }
            n += 1;
        });
    });
    match (stray, chain.op) {
        (None, Some(op)) => Carried::Accumulator(op),
        (None, None) => Carried::Other(None),
        (stray, _) => Carried::Other(stray),
    }
}

fn is_end(kernel: &Kernel, body: Block, inst: Inst) -> bool {
    kernel.blocks[body].insts.last() == Some(&inst)
}

fn is_used(kernel: &Kernel, body: Block, value: Value) -> bool {
    kernel.insts_in(body).any(|inst| kernel.insts[inst].op.operands().contains(&value))
}

/// The first instruction that uses a value, other than to hand it on.
fn user(kernel: &Kernel, body: Block, value: Value) -> Option<Inst> {
    kernel.insts_in(body).find(|inst| {
        let op = &kernel.insts[*inst].op;
        !op.is_terminator() && op.operands().contains(&value)
    })
}

/// What is computed from `param`, directly or not; which way control goes is left out.
pub(super) fn derived(kernel: &Kernel, ways: &Ways, body: Block, param: Value) -> HashSet<Value> {
    let mut found = HashSet::from_iter([param]);
    derive(kernel, ways, body, false, &mut found);
    found
}

/// The same, and what an `if` gives whose condition is among them: `e < best && f` is an `if` that looks at the best.
pub(super) fn derived_or_chosen(kernel: &Kernel, ways: &Ways, body: Block, param: Value) -> HashSet<Value> {
    let mut found = HashSet::from_iter([param]);
    derive(kernel, ways, body, true, &mut found);
    found
}

fn derive(kernel: &Kernel, ways: &Ways, block: Block, with_chosen: bool, found: &mut HashSet<Value>) {
    for inst in &kernel.blocks[block].insts {
        let data = &kernel.insts[*inst];
        let Op::Region(region) = &data.op else {
            if data.op.operands().iter().any(|operand| found.contains(operand)) {
                found.extend(&data.results);
            }
            continue;
        };
        let carried = kernel.carried(*inst);
        if let Region::For { init, .. } | Region::Loop { init, .. } = region {
            let begun: Vec<Value> = carried.iter().zip(init).filter(|(_, first)| found.contains(first)).map(|(param, _)| *param).collect();
            found.extend(begun);
        }
        region.blocks().into_iter().for_each(|child| derive(kernel, ways, child, with_chosen, found));
        if let Region::If { condition, .. } = region
            && with_chosen
            && found.contains(condition)
        {
            found.extend(&data.results);
        }
        // A `For` gives what its last round hands on.
        let rounds = matches!(region, Region::For { .. }).then(|| ways.rounds(*inst));
        let exits = rounds.into_iter().flatten().chain(ways.ends(kernel, *inst));
        let given: Vec<Value> = exits
            .map(|exit| exit_values(&kernel.insts[exit].op))
            .chain(matches!(region, Region::For { .. }).then_some(carried))
            .flat_map(|values| values.iter().zip(&data.results))
            .filter(|(value, _)| found.contains(value))
            .map(|(_, result)| *result)
            .collect();
        found.extend(given);
    }
}

struct Chain<'k> {
    kernel: &'k Kernel,
    ways: &'k Ways,
    derived: &'k HashSet<Value>,
    op: Option<BinaryOp>,
    /// Uses that are links: the instruction and which of its operands.
    links: HashSet<(Inst, usize)>,
    /// The accumulator's values: from the parameter to the last.
    values: HashSet<Value>,
    /// What is still to be found to lead back.
    left: Vec<Value>,
}

impl Chain<'_> {
    /// Whether updates lead from the chain's parameter to `value`: to all that it is made of as well, so what is left to look at is a list.
    ///
    /// A loop's carried value is among `values` before what its rounds make of it is looked at: that leads back if the first value does, and goes on from what was there.
    fn leads_back(&mut self, value: Value) -> bool {
        self.left.push(value);
        while let Some(value) = self.left.pop() {
            if !self.values.insert(value) {
                continue;
            }
            let goes_on = match self.kernel.values[value].def {
                ValueDef::Result(inst, n) => self.result(inst, usize::from(n)),
                ValueDef::Param(block, n) => self.ways.loops.get(&block).is_some_and(|inst| self.carried(*inst, usize::from(n))),
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    fn result(&mut self, inst: Inst, n: usize) -> bool {
        match self.kernel.insts[inst].op {
            Op::Compute(Compute::Binary(op, a, b)) => return self.update(inst, op, a, b),
            Op::Compute(Compute::MulAdd(_, _, c)) => {
                self.link(inst, 2, c);
                return self.is_kind(BinaryOp::Add);
            }
            Op::Compute(Compute::Select(_, a, b)) => {
                self.link(inst, 1, a);
                self.link(inst, 2, b);
            }
            Op::Region(ref region) => {
                // As many rounds as there are leave the carried value; `break`s leave others.
                if let Region::For { .. } = region {
                    self.left.push(self.kernel.carried(inst)[n]);
                }
                let (ways, kernel) = (self.ways, self.kernel);
                ways.ends(kernel, inst).for_each(|exit| self.given(exit, n));
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => return false,
        }
        true
    }

    /// A parameter of an inner loop's body: what it begins with, and what each round makes of it.
    fn carried(&mut self, inst: Inst, n: usize) -> bool {
        // The first values are a loop's last operands: start, end and step of a `For` come before them, and its counter before what it carries.
        let Op::Region(region) = &self.kernel.insts[inst].op else { return false };
        let (k, operand, first) = match region {
            Region::For { init, .. } if n > 0 => (n - 1, n + 2, init[n - 1]),
            Region::Loop { init, .. } => (n, n, init[n]),
            Region::For { .. } | Region::If { .. } | Region::Block { .. } => return false,
        };
        self.link(inst, operand, first);
        let ways = self.ways;
        ways.rounds(inst).for_each(|exit| self.given(exit, k));
        true
    }

    /// The n-th value that an exit hands over is a link.
    fn given(&mut self, exit: Inst, n: usize) {
        let value = exit_values(&self.kernel.insts[exit].op)[n];
        self.link(exit, n, value);
    }

    fn update(&mut self, inst: Inst, op: BinaryOp, a: Value, b: Value) -> bool {
        let kind = if op == BinaryOp::Sub { BinaryOp::Add } else { op };
        let gathers = [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor];
        let is_first = self.derived.contains(&a);
        let (n, value) = if is_first { (0, a) } else { (1, b) };
        self.link(inst, n, value);
        gathers.contains(&kind) && self.is_kind(kind) && (is_first || op != BinaryOp::Sub)
    }

    fn is_kind(&mut self, op: BinaryOp) -> bool {
        *self.op.get_or_insert(op) == op
    }

    fn link(&mut self, inst: Inst, n: usize, value: Value) {
        self.links.insert((inst, n));
        self.left.push(value);
    }
}

/// What an accumulator begins with that gathers by `op` and has gathered nothing: `x op it` is `x`, bit for bit.
pub(super) fn identity(op: BinaryOp, ty: Type) -> Scalar {
    let ones = if ty == Type::Bool { Scalar::bool(true) } else { Scalar::int(ty, -1) };
    let (least, greatest) = ty.numbers().into_inner();
    match (op, ty.is_float()) {
        // x + −0 is x, also where x is −0.
        (BinaryOp::Add, true) => Scalar::float(ty, -0.0),
        (BinaryOp::Mul, true) => Scalar::float(ty, 1.0),
        // `min` and `max` give the number if one side is none.
        (BinaryOp::Min | BinaryOp::Max, true) => Scalar::float(ty, f64::NAN),
        (BinaryOp::Mul, false) => Scalar::int(ty, 1),
        (BinaryOp::Min, false) => Scalar::int(ty, greatest),
        (BinaryOp::Max, false) => Scalar::int(ty, least),
        (BinaryOp::And, _) => ones,
        _ if ty == Type::Bool => Scalar::bool(false),
        _ => Scalar::int(ty, 0),
    }
}
