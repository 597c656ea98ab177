//! The best so far: `if e > best { best = e; at = i; }`, which `ilp` can split although the loop looks at `best`.
//!
//! Each copy keeps its own best, beginning with the value before the loop; after the groups the copies are compared. Where other variables go with the
//! best one (`at`), the copies are joined so that the same iteration wins as in the plain loop: the first of equals for `<` and `>`, the
//! last for `<=` and `>=`. For that the loop carries the counter of the iteration that won (unless one of the variables is the counter), and, for `<=` and `>=`, whether
//! any did. The result is the plain loop's, bit for bit; only for a float on its own, `-0.0` and `0.0` count as equal, and either may come out.
//!
//! **Needs** one comparison of the new value with the variable, under which (and under any other conditions that do not look at these variables)
//! it is replaced; everything that goes with it is replaced under the same conditions; nothing else in the loop looks at any of them, or is done
//! under these conditions.
//! The negation of a comparison of floats is none: it is true for a NaN, and then the order of iterations counts.

use super::groups::Counted;
use super::ilp::next;
use super::reduction::{Ways, derived, derived_or_chosen};
use crate::collections::HashSet;
use crate::ir::{
    Address, Block, Builder, CompareOp, Compute, Inst, Kernel, Memory, MemoryOp, Op, Region, Scalar, Terminator, Type, Value, ValueDef,
};
use crate::ir::{BinaryOp, UnaryOp};

/// As many operations as two expressions are compared by.
const MOST_OPERATIONS: usize = 64;

/// A variable that keeps the best so far, and what goes with it; numbers are those of carried values.
#[derive(Clone, Debug)]
pub(super) struct Extremum {
    /// The best.
    best: usize,
    /// It is replaced where `new op best`.
    op: CompareOp,
    /// What is replaced with it.
    with: Vec<usize>,
    /// Of these, the counter of the iteration that won, if anything goes with the best.
    when: Option<usize>,
    /// Of these, whether any iteration won; for `<=` and `>=`.
    has_won: Option<usize>,
}

/// How a carried value comes to be another one.
struct Update {
    /// The conditions under which it is replaced, the outermost first.
    path: Vec<(Value, bool)>,
    /// The `if`s and selections that choose, the outermost first.
    choices: Vec<Inst>,
    /// What replaces it.
    new: Value,
    uses: Uses,
}

/// Uses of a value that only hand it on or ask whether it is replaced, as instruction and operand; and the values they concern.
#[derive(Default)]
struct Uses {
    allowed: HashSet<(Inst, usize)>,
    values: HashSet<Value>,
}

/// The extremum that the carried value `best` is, given which others are neither accumulators nor anything else that can be split.
pub(super) fn extremum(kernel: &Kernel, ways: &Ways, walk: &Counted, best: usize, others: &[usize]) -> Option<Extremum> {
    let update = update(kernel, ways, walk, best)?;
    let mut uses = update.uses;
    let (op, conditions) = comparison(kernel, ways, walk, best, &update.path, &update.choices, update.new, &mut uses)?;
    let mut members = vec![best];
    for other in others.iter().filter(|other| **other != best) {
        let Some(follower) = self::update(kernel, ways, walk, *other).filter(|found| found.path == update.path) else { continue };
        uses.allowed.extend(&follower.uses.allowed);
        uses.allowed.extend(follower.choices.iter().map(|choice| (*choice, 0)));
        uses.values.extend(&follower.uses.values);
        members.push(*other);
    }
    let does_no_more = update
        .choices
        .iter()
        .zip(&update.path)
        .filter(|(_, (condition, _))| uses.values.contains(condition))
        .map(|(choice, _)| choice)
        .chain(&conditions)
        .all(|choice| chooses_only(kernel, *choice, &uses));
    (does_no_more && is_all(kernel, walk, &members, &uses)).then(|| Extremum {
        best,
        op,
        with: members.split_off(1),
        when: None,
        has_won: None,
    })
}

/// How the k-th carried value is replaced.
fn update(kernel: &Kernel, ways: &Ways, walk: &Counted, k: usize) -> Option<Update> {
    let (param, mut value) = (walk.carried[k], next(kernel, walk, k));
    let derived = derived(kernel, ways, walk.body, param);
    let mut uses = Uses { values: HashSet::from_iter([param]), ..Uses::default() };
    let (mut path, mut choices) = (Vec::new(), Vec::new());
    loop {
        let ValueDef::Result(inst, n) = kernel.values[value].def else { return None };
        let (condition, arms) = choice(kernel, inst, usize::from(n))?;
        let is = match [arms[0].0 == param, arms[1].0 == param] {
            [false, true] => true,
            [true, false] => false,
            _ => return None,
        };
        let (new, kept) = if is { (arms[0], arms[1]) } else { (arms[1], arms[0]) };
        uses.values.insert(value);
        uses.allowed.insert(kept.1);
        path.push((condition, is));
        choices.push(inst);
        if !derived.contains(&new.0) {
            return Some(Update { path, choices, new: new.0, uses });
        }
        uses.allowed.insert(new.1);
        value = new.0;
    }
}

/// A choice between two values: its condition, and each value with the use that hands it on.
type Choice = (Value, [(Value, (Inst, usize)); 2]);

fn choice(kernel: &Kernel, inst: Inst, n: usize) -> Option<Choice> {
    match kernel.insts[inst].op {
        Op::Compute(Compute::Select(condition, a, b)) => Some((condition, [(a, (inst, 1)), (b, (inst, 2))])),
        Op::Region(Region::If { condition, then_block, else_block }) => {
            let given = |block: Block| Some((*kernel.yielded(block)?.get(n)?, (kernel.terminator(block)?, n)));
            Some((condition, [given(then_block)?, given(else_block)?]))
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
        | Op::Terminator(_) => None,
    }
}

/// The one comparison of `new` with the carried value among the conditions of its update; and the `if`s among these, of `&&` and `||`, that look at it.
#[expect(clippy::too_many_arguments, reason = "what an update is, and what it is of")]
fn comparison(
    kernel: &Kernel,
    ways: &Ways,
    walk: &Counted,
    best: usize,
    path: &[(Value, bool)],
    choices: &[Inst],
    new: Value,
    uses: &mut Uses,
) -> Option<(CompareOp, Vec<Inst>)> {
    let param = walk.carried[best];
    let derived = derived_or_chosen(kernel, ways, walk.body, param);
    let (mut found, mut conditions) = (None, Vec::new());
    let mut work: Vec<(Value, bool, (Inst, usize))> =
        path.iter().zip(choices).map(|((condition, is), inst)| (*condition, *is, (*inst, 0))).collect();
    while let Some((value, is, used)) = work.pop() {
        if !derived.contains(&value) {
            continue;
        }
        uses.allowed.insert(used);
        uses.values.insert(value);
        let ValueDef::Result(inst, n) = kernel.values[value].def else { return None };
        match kernel.insts[inst].op {
            Op::Compute(Compute::Compare(op, a, b)) if found.is_none() => {
                let (op, n) = match (b == param && is_same(kernel, a, new), a == param && is_same(kernel, b, new)) {
                    (true, _) => (op, 1),
                    (_, true) => (op.swapped(), 0),
                    _ => return None,
                };
                let op = match (is, kernel.ty(a).is_float()) {
                    (true, _) => op,
                    (false, false) => op.negated(),
                    (false, true) => return None,
                };
                uses.allowed.insert((inst, n));
                found = Some(op).filter(|op| !matches!(op, CompareOp::Eq | CompareOp::Ne));
                found?;
            }
            Op::Compute(Compute::Unary(UnaryOp::Not, a)) => work.push((a, !is, (inst, 0))),
            Op::Compute(Compute::Binary(op, a, b)) if (op, is) == (BinaryOp::And, true) || (op, is) == (BinaryOp::Or, false) => {
                work.extend([(a, is, (inst, 0)), (b, is, (inst, 1))]);
            }
            Op::Compute(Compute::Select(..)) | Op::Region(Region::If { .. }) => {
                let (first, arms) = choice(kernel, inst, usize::from(n))?;
                let never = arms.map(|(arm, _)| kernel.constant(arm).is_some_and(|known| known.is_true() != is));
                let arm = match never {
                    [false, true] => 0,
                    [true, false] => 1,
                    _ => return None,
                };
                work.extend([(first, arm == 0, (inst, 0)), (arms[arm].0, is, arms[arm].1)]);
                if derived.contains(&first) {
                    conditions.push(inst);
                }
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
        }
    }
    found.map(|op| (op, conditions))
}

/// Whether two values are computed alike: `x[i]` is written twice in `if x[i] < best { best = x[i] }`.
fn is_same(kernel: &Kernel, a: Value, b: Value) -> bool {
    let mut work = vec![(a, b)];
    for _ in 0..MOST_OPERATIONS {
        let Some((a, b)) = work.pop() else { return true };
        if a == b {
            continue;
        }
        let (ValueDef::Result(x, n), ValueDef::Result(y, m)) = (kernel.values[a].def, kernel.values[b].def) else { return false };
        let mut ops = [x, y].map(|inst| kernel.insts[inst].op.clone());
        let is_repeatable = if let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) = &ops[0] {
            kernel.objects[access.object].is_read_only()
        } else {
            ops[0].effects(kernel).is_pure() && ops[0].blocks().is_empty()
        };
        let [left, right] = [&ops[0], &ops[1]].map(|op| op.operands());
        if n != m || kernel.ty(a) != kernel.ty(b) || !is_repeatable || left.len() != right.len() {
            return false;
        }
        // The same operation apart from its operands.
        let mut operands = left.iter();
        ops[1].for_each_operand_mut(|value| *value = operands.next().copied().unwrap_or(*value));
        if ops[0] != ops[1] {
            return false;
        }
        work.extend(left.into_iter().zip(right));
    }
    false
}

/// Whether an `if` that looks at the best does nothing but choose these values: how often there was a new best, a copy cannot tell.
fn chooses_only(kernel: &Kernel, choice: Inst, uses: &Uses) -> bool {
    let mut found = kernel.insts[choice].results.iter().all(|result| uses.values.contains(result));
    for arm in kernel.insts[choice].op.blocks() {
        let inside: HashSet<Inst> = kernel.insts_in(arm).collect();
        for inst in &inside {
            let op = &kernel.insts[*inst].op;
            found &= match op {
                Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }) | Op::Region(_) | Op::Terminator(Terminator::Yield(_)) => {
                    true
                }
                Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) => inside.contains(target),
                Op::Compute(_)
                | Op::Memory(_)
                | Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_)
                | Op::Terminator(_) => op.effects(kernel).is_pure(),
            };
        }
    }
    found
}

/// Whether nothing else in the body uses these values; its end hands the last ones on.
fn is_all(kernel: &Kernel, walk: &Counted, members: &[usize], uses: &Uses) -> bool {
    let last = kernel.blocks[walk.body].insts.last().copied();
    let mut found = true;
    kernel.walk_block(walk.body, &mut |kernel, _, inst| {
        let mut n = 0;
        kernel.insts[inst].op.for_each_operand(|value| {
            let is_end = Some(inst) == last && members.contains(&n);
            found &= is_end || !uses.values.contains(&value) || uses.allowed.contains(&(inst, n));
            n += 1;
        });
    });
    found
}

impl Extremum {
    /// All carried values that it is about.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(self.best).chain(self.with.iter().copied())
    }

    /// Adds to the loop what tells which of two equals won. The loop's carried values are then more.
    pub(super) fn break_ties(&mut self, kernel: &mut Kernel, ways: &Ways, inst: Inst, walk: &mut Counted) {
        if self.with.is_empty() {
            return;
        }
        let is_strict = matches!(self.op, CompareOp::Lt | CompareOp::Gt);
        let is_counter = |k: &usize| update(kernel, ways, walk, *k).is_some_and(|update| update.new == walk.counter);
        self.when = self.with.iter().copied().find(is_counter);
        if self.when.is_none() {
            self.when = self.follow(kernel, ways, inst, walk, walk.counter, walk.start);
        }
        if !is_strict {
            let loc = walk.loc;
            let yes = kernel.new_inst(Op::Compute(Compute::Const(Scalar::bool(true))), &[Type::Bool], loc);
            kernel.blocks[walk.body].insts.insert(0, yes);
            let home = home(kernel, inst);
            let no = kernel.new_inst(Op::Compute(Compute::Const(Scalar::bool(false))), &[Type::Bool], loc);
            let at = kernel.blocks[home].insts.iter().position(|other| *other == inst).unwrap_or(0);
            kernel.blocks[home].insts.insert(at, no);
            let (yes, no) = (kernel.insts[yes].results[0], kernel.insts[no].results[0]);
            self.has_won = self.follow(kernel, ways, inst, walk, yes, no);
        }
    }

    /// Carries one more value, that is `first` before the loop and becomes `new` where the best is replaced.
    fn follow(&mut self, kernel: &mut Kernel, ways: &Ways, inst: Inst, walk: &mut Counted, new: Value, first: Value) -> Option<usize> {
        let update = update(kernel, ways, walk, self.best)?;
        let ty = kernel.ty(new);
        let param = kernel.add_param(walk.body, ty);
        let mut value = new;
        for (choice, (condition, is)) in update.choices.iter().zip(&update.path).rev() {
            let (a, b) = if *is { (value, param) } else { (param, value) };
            value = if let Op::Region(Region::If { then_block, else_block, .. }) = kernel.insts[*choice].op {
                give(kernel, then_block, a);
                give(kernel, else_block, b);
                kernel.add_result(*choice, ty)
            } else {
                let selection = kernel.new_inst(Op::Compute(Compute::Select(*condition, a, b)), &[ty], kernel.insts[*choice].loc);
                let home = home(kernel, *choice);
                let at = kernel.blocks[home].insts.iter().position(|other| other == choice).unwrap_or(0);
                kernel.blocks[home].insts.insert(at + 1, selection);
                kernel.insts[selection].results[0]
            };
        }
        give(kernel, walk.body, value);
        if let Op::Region(Region::For { init, .. }) = &mut kernel.insts[inst].op {
            init.push(first);
        }
        kernel.add_result(inst, ty);
        *walk = Counted::of(kernel, inst)?;
        let k = walk.carried.len() - 1;
        self.with.push(k);
        Some(k)
    }

    /// What is left of the copies' values after the groups, by carried value.
    pub(super) fn join(&self, b: &mut Builder<'_>, parts: &[&[Value]]) -> Vec<(usize, Value)> {
        let mut winner: Vec<(usize, Value)> = self.members().map(|k| (k, parts[k][0])).collect();
        let copies = parts[self.best].len();
        for n in 1..copies {
            let of =
                |winner: &[(usize, Value)], k: usize| winner.iter().find(|(own, _)| *own == k).map_or(parts[k][0], |(_, value)| *value);
            let (new, old) = (parts[self.best][n], of(&winner, self.best));
            let (better, later) = if matches!(self.op, CompareOp::Lt | CompareOp::Le) {
                (CompareOp::Lt, self.op == CompareOp::Le)
            } else {
                (CompareOp::Gt, self.op == CompareOp::Ge)
            };
            let mut wins = b.compare(better, new, old);
            if let Some(when) = self.when {
                let order = if later { CompareOp::Gt } else { CompareOp::Lt };
                let mut comes = b.compare(order, parts[when][n], of(&winner, when));
                if let Some(has_won) = self.has_won {
                    let none = b.unary(UnaryOp::Not, of(&winner, has_won));
                    comes = b.binary(BinaryOp::Or, none, comes);
                    comes = b.binary(BinaryOp::And, parts[has_won][n], comes);
                }
                let equal = b.compare(CompareOp::Eq, new, old);
                let tie = b.binary(BinaryOp::And, equal, comes);
                wins = b.binary(BinaryOp::Or, wins, tie);
            }
            for (k, value) in &mut winner {
                *value = b.select(wins, parts[*k][n], *value);
            }
        }
        winner
    }
}

/// Yields one more value at the end of a block.
fn give(kernel: &mut Kernel, block: Block, value: Value) {
    if let Some(last) = kernel.terminator(block)
        && let Op::Terminator(Terminator::Yield(values)) = &mut kernel.insts[last].op
    {
        values.push(value);
    }
}

/// The block in which an instruction stands.
fn home(kernel: &Kernel, inst: Inst) -> Block {
    let mut home = kernel.body;
    kernel.for_each_inst(|_, block, other| {
        if other == inst {
            home = block;
        }
    });
    home
}
