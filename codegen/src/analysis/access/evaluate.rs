//! Values, lane by lane, found when they are asked for.

use super::Numbers;
use super::condition::{Condition, Uncertainty};
use super::lanes::{Atom, AtomSource, Atoms, LaneSum, Lanes, Mask, Sum, Varies, WARP};
use crate::analysis::dependence::Dependence;
use crate::analysis::uniformity::Uniformity;
use crate::ir::intrinsic::Gives;
use crate::ir::{
    Access, Address, Axis, BinaryOp, Block, CompareOp, Compute, Engine, Kernel, Memory, MemoryOp, Object, ObjectKind, Op, Region, Scalar,
    Special, Type, UnaryOp, Value, ValueDef, eval,
};
use crate::target::limits::LANES;

/// A value in the lanes of a warp.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LaneValue {
    /// A number.
    Sum(Sum),
    /// A `bool`.
    Condition(Condition),
    /// Not known.
    Unknown(Unknown),
}

/// Why a value is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unknown {
    /// Whether it depends on data, so that nothing helps.
    pub(super) is_data: bool,
    /// What can be gone through in order to know it.
    pub(super) varies: Varies,
}

impl Unknown {
    const DATA: Unknown = Unknown { is_data: true, varies: 0 };

    fn and(self, other: Unknown) -> Unknown {
        Unknown { is_data: self.is_data || other.is_data, varies: self.varies | other.varies }
    }
}

/// The threads that a warp's lanes are.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    /// Their places in the block by axis; `None` if the launch decides.
    pub(super) place: Option<[Sum; 3]>,
    /// The warp's number.
    pub(super) warp: Sum,
    /// Lanes that there are.
    pub(super) mask: Mask,
    /// Whether these stand for every warp of a block.
    pub(super) is_any: bool,
}

/// Finds values.
pub(super) struct Evaluator<'k> {
    kernel: &'k Kernel,
    numbers: &'k Numbers,
    /// What is the same in all threads of a block.
    pub(super) uniformity: Uniformity,
    /// What is the same in all lanes of a warp; not known at first.
    warp: Option<Uniformity>,
    /// What changes from block to block and from round to round.
    pub(super) dependence: Dependence,
    /// The unknown numbers.
    pub(super) atoms: Atoms,
    /// The threads.
    pub(super) threads: Threads,
    memo: Vec<Option<LaneValue>>,
    /// What is in `memo`, in the order it came there.
    trail: Vec<Value>,
    /// By value: how many loops it is defined in.
    depths: Vec<u32>,
    /// How deep a question is nested.
    nesting: u32,
}

/// Questions that are nested deeper are not answered.
const DEEPEST: u32 = 200;

impl<'k> Evaluator<'k> {
    /// For a kernel and the lanes of a warp.
    pub(super) fn new(kernel: &'k Kernel, threads: Threads, atoms: Atoms, numbers: &'k Numbers) -> Evaluator<'k> {
        let mut depths = vec![0; kernel.values.len()];
        note_depths(kernel, kernel.body, 0, &mut depths);
        let memo = vec![None; kernel.values.len()];
        let uniformity = Uniformity::of(kernel);
        let dependence = Dependence::of(kernel);
        let mut evaluator =
            Evaluator { kernel, numbers, uniformity, warp: None, dependence, atoms, threads, memo, trail: Vec::new(), depths, nesting: 0 };
        let known = evaluator.uniform_by_arithmetic();
        evaluator.warp = Some(Uniformity::in_warp(kernel, &known));
        evaluator
    }

    /// What is the same in all lanes of a warp.
    pub(super) fn into_uniform_in_warp(self) -> Uniformity {
        self.warp.unwrap_or(self.uniformity)
    }

    /// By value: whether arithmetic makes it the same in all lanes of every warp, as `global_id().x / 32` is. Of loops nothing is known yet.
    fn uniform_by_arithmetic(&mut self) -> Vec<bool> {
        let kernel = self.kernel;
        let mut known = vec![false; kernel.values.len()];
        if self.threads.is_any {
            // Instructions that are no longer in the program may name what is gone.
            for value in kernel.insts_in(kernel.body).flat_map(|inst| &kernel.insts[inst].results).copied() {
                known[usize::from(value)] = match kernel.def(value) {
                    _ if kernel.ty(value).is_int() => self.is_uniform(value),
                    Some((_, Op::Compute(Compute::Compare(CompareOp::Lt | CompareOp::Ge, a, b)))) => self.parts_whole_warps(*a, *b),
                    Some((_, Op::Compute(Compute::Compare(CompareOp::Gt | CompareOp::Le, a, b)))) => self.parts_whole_warps(*b, *a),
                    _ => false,
                };
            }
            self.forget(0, 0);
        }
        known
    }

    /// Whether `a < b` is the same in all lanes of every warp since it tells whole warps apart, as `thread_idx().x < 64` does: one is a multiple of the
    /// lanes' number, and the other the same in all lanes but for less than that.
    fn parts_whole_warps(&mut self, a: Value, b: Value) -> bool {
        if !self.kernel.ty(a).is_int() {
            return false;
        }
        let (Ok(a), Ok(b)) = (self.sum(a), self.sum(b)) else { return false };
        let lanes = LANES as u64;
        let is_multiple = |atoms: &Atoms, sum: &Sum| {
            let is_known_one = sum.constant_term().same().is_some_and(|known| known.rem_euclid(LANES as i64) == 0);
            sum.is_uniform() && is_known_one && atoms.divisor(sum).is_multiple_of(lanes)
        };
        // `31 < b` is `b >= 32`.
        let after_a = a.plus(&Sum::number(a.bits(), 1), 1);
        let (from_b, from_a) = (is_multiple(&self.atoms, &b), is_multiple(&self.atoms, &after_a));
        let mut is_one = |sum: &Sum| self.atoms.quotient(sum, lanes).is_some_and(|quotient| quotient.is_uniform());
        (from_b && is_one(&a)) || (from_a && is_one(&b))
    }

    /// For another warp.
    pub(super) fn restart(&mut self, threads: Threads) {
        self.forget(0, 0);
        self.threads = threads;
    }

    /// Says what a value is.
    pub(super) fn bind(&mut self, value: Value, is: LaneValue) {
        self.memo[value.0 as usize] = Some(is);
        self.trail.push(value);
    }

    /// How much is remembered.
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Forgets what came after a mark and is defined in at least `depth` loops.
    pub(super) fn forget(&mut self, mark: usize, depth: u32) {
        let since = self.trail.split_off(mark);
        for value in since {
            if self.depths[value.0 as usize] >= depth {
                self.memo[value.0 as usize] = None;
            } else {
                self.trail.push(value);
            }
        }
    }

    /// What a value is.
    pub(super) fn value(&mut self, value: Value) -> LaneValue {
        if let Some(known) = &self.memo[value.0 as usize] {
            return known.clone();
        }
        if self.nesting >= DEEPEST {
            return LaneValue::Unknown(Unknown::DATA);
        }
        self.nesting += 1;
        let found = match self.compute(value) {
            LaneValue::Unknown(why) if why.is_data => self.at_least(value),
            found @ (LaneValue::Sum(_) | LaneValue::Condition(_) | LaneValue::Unknown(_)) => found,
        };
        self.nesting -= 1;
        self.bind(value, found.clone());
        found
    }

    /// A value as a number.
    pub(super) fn sum(&mut self, value: Value) -> Result<Sum, Unknown> {
        match self.value(value) {
            LaneValue::Sum(sum) => Ok(sum),
            LaneValue::Condition(_) => Err(Unknown::DATA),
            LaneValue::Unknown(why) => Err(why),
        }
    }

    /// A value as a `bool`.
    pub(super) fn condition(&mut self, value: Value) -> Condition {
        match self.value(value) {
            LaneValue::Condition(condition) => condition,
            LaneValue::Sum(_) => Condition::unknown(Uncertainty::Data, 0),
            LaneValue::Unknown(why) => Condition::unknown(Uncertainty::Data, if why.is_data { 0 } else { why.varies }),
        }
    }

    /// An unknown value that is the same in all lanes.
    pub(super) fn uniform(&mut self, value: Value, varies: Varies) -> LaneValue {
        let ty = self.kernel.ty(value);
        if ty == Type::Bool {
            return LaneValue::Condition(Condition::unknown(Uncertainty::Uniform, varies));
        }
        let atom = self.atoms.fresh(1, None, varies);
        self.atoms.depends_on(atom, self.dependence.of_value(value));
        if !self.uniformity.is_uniform(value) {
            self.atoms.differs_by_warp(atom);
        }
        LaneValue::Sum(Sum::atom(ty.bits(), atom))
    }

    /// What is known of any value.
    fn at_least(&mut self, value: Value) -> LaneValue {
        if self.is_one_in_warp(value) { self.uniform(value, 0) } else { LaneValue::Unknown(Unknown::DATA) }
    }

    /// Whether a value is known to be the same in all lanes of a warp, whatever it is.
    pub(super) fn is_one_in_warp(&self, value: Value) -> bool {
        self.warp.as_ref().unwrap_or(&self.uniformity).is_uniform(value)
    }

    fn compute(&mut self, value: Value) -> LaneValue {
        let ty = self.kernel.ty(value);
        let ValueDef::Result(inst, n) = self.kernel.values[value].def else { return self.at_least(value) };
        let op = &self.kernel.insts[inst].op;
        match op {
            Op::Compute(Compute::Const(scalar)) if ty == Type::Bool => LaneValue::Condition(Condition::always(scalar.is_true())),
            Op::Compute(Compute::Const(scalar)) if ty.is_int() => LaneValue::Sum(Sum::number(ty.bits(), scalar.as_int() as i64)),
            Op::Compute(Compute::Special(special, axis)) => self.special(*special, *axis),
            Op::Compute(Compute::Len(object)) => {
                let atom = self.atoms.get(AtomSource::Length(*object), 1, None, 0);
                LaneValue::Sum(Sum::atom(ty.bits(), atom))
            }
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => self.load(access, value),
            Op::Region(Region::If { condition, then_block, else_block }) => {
                self.result_of_if(*condition, [*then_block, *else_block], n, value)
            }
            Op::Intrinsic(row, _) if row.row().meeting.is_some_and(|meeting| meeting.gives == Gives::OneForAll) => self.uniform(value, 0),
            Op::Intrinsic(_, operands) if operands.iter().all(|v| self.is_uniform(*v)) => self.uniform(value, 0),
            Op::Intrinsic(..) => self.at_least(value),
            _ if ty == Type::Bool => self.boolean(op, value),
            _ if ty.is_int() => match self.integer(op, ty, value) {
                Ok(sum) => LaneValue::Sum(sum),
                Err(why) => LaneValue::Unknown(why),
            },
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => self.at_least(value),
        }
    }

    fn is_uniform(&mut self, value: Value) -> bool {
        match self.value(value) {
            LaneValue::Sum(sum) => sum.is_uniform(),
            LaneValue::Condition(condition) => condition.is_uniform(),
            LaneValue::Unknown(_) => false,
        }
    }

    // --- where a thread stands, and memory ---

    fn special(&mut self, special: Special, axis: Axis) -> LaneValue {
        let fixed = self.kernel.options.block;
        let unknown = LaneValue::Unknown(Unknown::DATA);
        let sum = match special {
            Special::ThreadIdx => match &self.threads.place {
                Some(place) => place[axis as usize].clone(),
                None => return unknown,
            },
            Special::LaneId => lane_numbers(),
            Special::WarpId => self.threads.warp.clone(),
            Special::BlockDim => match (fixed, axis) {
                (Some(block), _) => Sum::number(32, i64::from(block[axis as usize])),
                // A block that the launch decides is taken to be a row of whole warps.
                (None, Axis::X) => self.geometry(special, axis, 32),
                (None, _) if self.threads.place.is_some() => Sum::number(32, 1),
                (None, _) => self.geometry(special, axis, 1),
            },
            Special::BlockIdx | Special::GridDim | Special::AskedGrid => self.geometry(special, axis, 1),
        };
        LaneValue::Sum(sum)
    }

    fn geometry(&mut self, special: Special, axis: Axis, divisor: u64) -> Sum {
        Sum::atom(32, self.atoms.get(AtomSource::Geometry(special, axis), divisor, None, 0))
    }

    fn load(&mut self, access: &Access, value: Value) -> LaneValue {
        let object = &self.kernel.objects[access.object];
        if object.kind == ObjectKind::Value
            && self.kernel.ty(value) != Type::Bool
            && let Some(path) = self.kernel.constant_path(access)
        {
            // Fields of parameters are taken to be open.
            if let Some(number) = self.numbers.get(&(access.object, 0)).filter(|number| path.is_empty() && number.ty.is_int()) {
                return LaneValue::Sum(Sum::number(number.ty.bits(), number.as_int() as i64));
            }
            let atom = self.atoms.get(AtomSource::Parameter(access.object, path), 1, None, 0);
            return LaneValue::Sum(Sum::atom(self.kernel.ty(value).bits(), atom));
        }
        // All lanes that read one place at one time read one value.
        let same = object.kind != ObjectKind::Local && access.indices().all(|index| self.is_uniform(index));
        if same { self.uniform(value, 0) } else { LaneValue::Unknown(Unknown::DATA) }
    }

    /// The parameter, length or place that an atom is.
    pub(super) fn object_of(&self, atom: Atom) -> Option<(Object, bool)> {
        match self.atoms.source(atom) {
            AtomSource::Parameter(object, _) => Some((*object, false)),
            AtomSource::Length(object) => Some((*object, true)),
            AtomSource::Geometry(..) | AtomSource::Iteration(_) | AtomSource::Warp | AtomSource::Other(_) => None,
        }
    }

    // --- choices ---

    fn result_of_if(&mut self, condition: Value, blocks: [Block; 2], n: u16, value: Value) -> LaneValue {
        let kernel = self.kernel;
        match blocks.map(|block| kernel.yielded(block)?.get(usize::from(n)).copied()) {
            [Some(a), Some(b)] => self.choice(condition, a, b, value),
            [Some(only), None] | [None, Some(only)] => self.value(only),
            [None, None] => LaneValue::Unknown(Unknown::DATA),
        }
    }

    /// `if condition { a } else { b }`.
    fn choice(&mut self, condition: Value, a: Value, b: Value, value: Value) -> LaneValue {
        let condition = self.condition(condition);
        match (self.value(a), self.value(b)) {
            (LaneValue::Condition(a), LaneValue::Condition(b)) => LaneValue::Condition(condition.select(&a, &b)),
            (LaneValue::Sum(a), LaneValue::Sum(b)) => match self.choose(&condition, &a, &b) {
                Some(LaneValue::Unknown(why)) if why.is_data => self.at_least(value),
                Some(chosen) => chosen,
                None => self.uniform(value, condition.varies),
            },
            (a, _) if condition.yes == Mask::MAX => a,
            (_, b) if condition.no == Mask::MAX => b,
            (LaneValue::Unknown(why), _) | (_, LaneValue::Unknown(why)) => LaneValue::Unknown(why),
            _ => LaneValue::Unknown(Unknown::DATA),
        }
    }

    /// The same of numbers; `None`: some number that is the same in all lanes.
    fn choose(&mut self, condition: &Condition, a: &Sum, b: &Sum) -> Option<LaneValue> {
        if condition.open() == 0 || a == b {
            return Some(LaneValue::Sum(a.chosen(b, condition.yes)));
        }
        let clamped = |sum: &Sum| Some(LaneValue::Sum(Sum::clamped(sum)));
        match condition.rest {
            Uncertainty::None | Uncertainty::Uniform if a.is_uniform() && b.is_uniform() && condition.is_uniform() => None,
            // At the boundary something else: what depends on the lane is what is meant inside.
            Uncertainty::Boundary | Uncertainty::Limit if b.is_uniform() && !a.is_uniform() => clamped(a),
            Uncertainty::Boundary | Uncertainty::Limit if a.is_uniform() && !b.is_uniform() => clamped(b),
            Uncertainty::None | Uncertainty::Uniform | Uncertainty::Boundary | Uncertainty::Limit | Uncertainty::Data => {
                Some(LaneValue::Unknown(Unknown { is_data: condition.varies == 0, varies: condition.varies }))
            }
        }
    }

    fn boolean(&mut self, op: &Op, value: Value) -> LaneValue {
        let kernel = self.kernel;
        // What a block does is what its own threads do.
        if matches!(op, Op::Engine(Engine::Is(_))) {
            return LaneValue::Condition(Condition::always(false));
        }
        let Op::Compute(compute) = op else { return self.at_least(value) };
        use Compute::*;
        let condition = match *compute {
            Unary(UnaryOp::Not, a) => self.condition(a).not(),
            Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor), a, b) => {
                let (a, b) = (self.condition(a), self.condition(b));
                Condition::binary(op, &a, &b)
            }
            Select(c, a, b) => return self.choice(c, a, b, value),
            Compare(op, a, b) if kernel.ty(a).is_int() => match (self.sum(a), self.sum(b)) {
                (Ok(left), Ok(right)) => self.compare(op, kernel.ty(a), &left, &right),
                (a, b) => {
                    let why = a.err().unwrap_or_default().and(b.err().unwrap_or_default());
                    Condition::unknown(Uncertainty::Data, if why.is_data { 0 } else { why.varies })
                }
            },
            Compare(op @ (CompareOp::Eq | CompareOp::Ne), a, b) if kernel.ty(a) == Type::Bool => {
                let (a, b) = (self.condition(a), self.condition(b));
                let differs = Condition::binary(BinaryOp::Xor, &a, &b);
                if op == CompareOp::Ne { differs } else { differs.not() }
            }
            Const(_) | Special(..) | Unary(..) | Binary(..) | MulAdd(..) | Compare(..) | Cast(_) | Bitcast(_) | Len(_) | Address(_)
            | PeerAddress(..) | Offset(..) => return self.at_least(value),
        };
        let is_hopeless = condition.yes | condition.no == 0 && condition.rest == Uncertainty::Data && condition.varies == 0;
        if is_hopeless { self.at_least(value) } else { LaneValue::Condition(condition) }
    }

    /// `a op b` of integers.
    pub(super) fn compare(&mut self, op: CompareOp, ty: Type, a: &Sum, b: &Sum) -> Condition {
        if a.is_clamped || b.is_clamped {
            // What holds inside may not hold at the boundary.
            return Condition::unknown(Uncertainty::Limit, 0);
        }
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            let holds = |lane: usize| {
                let [a, b] = [a.of(lane), b.of(lane)].map(|n| Scalar::int(ty, n.into()));
                eval::compare(op, a, b).is_some_and(Scalar::is_true)
            };
            let known = match (&a, &b) {
                (Lanes::Same(_), Lanes::Same(_)) => Mask::from(holds(0)).wrapping_neg(),
                _ => (0..LANES).fold(0, |mask, lane| mask | Mask::from(holds(lane)) << lane),
            };
            return Condition::known(known);
        }
        let is_below = b.as_constant().and_then(|b| b.same()).zip(self.atoms.most(a)).is_some_and(|(b, most)| b >= 0 && most < b as u64);
        match op {
            CompareOp::Lt | CompareOp::Le | CompareOp::Ne if is_below => Condition::always(true),
            CompareOp::Gt | CompareOp::Ge | CompareOp::Eq if is_below => Condition::always(false),
            CompareOp::Eq | CompareOp::Ne | CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => {
                Condition::compare(&self.atoms, op, a, b)
            }
        }
    }

    // --- integers ---

    /// As `affine::arithmetic`, but that it says why a number is not known, and that sums and products that are too long are numbers of their own.
    fn integer(&mut self, op: &Op, ty: Type, value: Value) -> Result<Sum, Unknown> {
        let Op::Compute(compute) = op else { return sum_or_data(self.at_least(value)) };
        let bits = ty.bits();
        use Compute::*;
        match *compute {
            Unary(UnaryOp::Neg, a) => Ok(Sum::number(bits, 0).plus(&self.sum(a)?, -1)),
            Unary(UnaryOp::Not, a) => Ok(Sum::number(bits, -1).plus(&self.sum(a)?, -1)),
            Binary(op, a, b) => {
                let (a, b) = (self.sum(a), self.sum(b));
                let (a, b) = match (a, b) {
                    (Ok(a), Ok(b)) => (a, b),
                    (a, b) => return Err(a.err().unwrap_or_default().and(b.err().unwrap_or_default())),
                };
                Ok(self.binary(op, ty, &a, &b)?.made_of(&[&a, &b]))
            }
            MulAdd(a, b, c) => {
                let (a, b, c) = (self.sum(a)?, self.sum(b)?, self.sum(c)?);
                Ok(Sum::from(self.product(&a, &b)?.plus(&c, 1)).made_of(&[&a, &b, &c]))
            }
            Select(c, a, b) => match self.choice(c, a, b, value) {
                LaneValue::Unknown(why) => Err(why),
                found @ (LaneValue::Sum(_) | LaneValue::Condition(_)) => sum_or_data(found),
            },
            Cast(a) => self.cast(a, ty, value),
            Bitcast(a) if self.kernel.ty(a).is_int() => self.sum(a),
            Const(_) | Special(..) | Unary(..) | Compare(..) | Bitcast(_) | Len(_) | Address(_) | PeerAddress(..) | Offset(..) => {
                sum_or_data(self.at_least(value))
            }
        }
    }

    fn cast(&mut self, a: Value, ty: Type, value: Value) -> Result<Sum, Unknown> {
        let from = self.kernel.ty(a);
        if from.is_int() {
            let sum = self.sum(a)?;
            return Ok(match sum.as_constant() {
                Some(known) => {
                    let numbers = known.map(|n| Scalar::int(from, n.into()).as_int() as i64);
                    Sum::known(ty.bits(), &numbers).made_of(&[&sum])
                }
                None => sum.resized(ty.bits()),
            });
        }
        if from == Type::Bool {
            let condition = self.condition(a);
            if condition.open() == 0 {
                return Ok(Sum::number(ty.bits(), 1).chosen(&Sum::number(ty.bits(), 0), condition.yes));
            }
        }
        sum_or_data(if self.is_uniform(a) { self.uniform(value, 0) } else { self.at_least(value) })
    }

    fn product(&mut self, a: &LaneSum, b: &LaneSum) -> Result<LaneSum, Unknown> {
        a.times(b).map_or_else(|| self.some(a, b), Ok)
    }

    /// Some number that is the same in all lanes if the operands are.
    fn some(&mut self, a: &LaneSum, b: &LaneSum) -> Result<LaneSum, Unknown> {
        let varies = self.atoms.varies(a) | self.atoms.varies(b);
        let is_data = [a, b].iter().any(|sum| !self.atoms.is_all_varying(sum));
        if a.is_uniform() && b.is_uniform() {
            let atom = self.atoms.fresh(1, None, varies);
            self.atoms.depends_on(atom, self.atoms.reasons_of(a) | self.atoms.reasons_of(b));
            if [a, b].iter().any(|sum| !self.atoms.is_of_block(sum)) {
                self.atoms.differs_by_warp(atom);
            }
            return Ok(LaneSum::atom(a.bits(), atom));
        }
        Err(Unknown { is_data, varies })
    }

    fn binary(&mut self, op: BinaryOp, ty: Type, a: &LaneSum, b: &LaneSum) -> Result<Sum, Unknown> {
        if let Some(sign) = op.sign() {
            return Ok(a.plus(b, sign as i64).into());
        }
        if op == BinaryOp::Mul {
            return self.product(a, b).map(Sum::from);
        }
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return known(op, ty, &a, &b).map(|lanes| Sum::known(ty.bits(), &lanes)).ok_or(Unknown::DATA);
        }
        let number = b.as_constant().and_then(|lanes| lanes.same());
        let power = number.map(|n| 1u64.checked_shl((n.rem_euclid(i64::from(ty.bits()))) as u32).unwrap_or(0));
        let found = match (op, number) {
            (BinaryOp::Div, Some(d)) if d > 0 => self.atoms.quotient(a, d as u64),
            (BinaryOp::Rem, Some(d)) if d > 0 => self.atoms.remainder(a, d as u64),
            (BinaryOp::Shr, Some(_)) => power.filter(|d| *d < 1 << 32).and_then(|d| self.atoms.quotient(a, d)),
            (BinaryOp::Shl, Some(_)) => power.and_then(|d| a.times(&LaneSum::constant(a.bits(), d as i64))),
            (BinaryOp::And, Some(mask)) if mask > 0 && (mask as u64 + 1).is_power_of_two() => self.atoms.remainder(a, mask as u64 + 1),
            (BinaryOp::And, Some(mask)) if mask < 0 && mask.wrapping_neg().count_ones() == 1 => {
                self.atoms.remainder(a, mask.unsigned_abs()).map(|rest| a.minus(&rest))
            }
            (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, _) => self.low_bits(op, ty, a, b),
            (BinaryOp::Min | BinaryOp::Max, _) => match clamp(&self.atoms, a, b) {
                Some(place) => return Ok(Sum::clamped(place)),
                None => None,
            },
            _ => None,
        };
        found.map_or_else(|| self.some(a, b), Ok).map(Sum::from)
    }

    /// Bit by bit, where what is unknown of one operand is above all that the other has, and all that is known of the first.
    fn low_bits(&mut self, op: BinaryOp, ty: Type, a: &LaneSum, b: &LaneSum) -> Option<LaneSum> {
        let (unknown, known) = if b.as_constant().is_some() { (a, b) } else { (b, a) };
        let low = known.as_constant()?;
        let step = self.atoms.divisor(unknown);
        let limit = 1i64.checked_shl(step.trailing_zeros()).filter(|n| *n > 0)?;
        let fits = |lanes: &Lanes| lanes.all().into_iter().all(|n| (0..limit).contains(&n));
        let (above, own) = unknown.without_constant();
        if !fits(&low) || !fits(&own) {
            return None;
        }
        let low = LaneSum::known(ty.bits(), &super::evaluate::known(op, ty, &own, &low)?);
        Some(if op == BinaryOp::And { low } else { above.plus(&low, 1) })
    }
}

/// `min(i, n)` and `max(i, n)` with a bound that is the same in all lanes: `i`, but at the boundary.
fn clamp<'s>(atoms: &Atoms, a: &'s LaneSum, b: &'s LaneSum) -> Option<&'s LaneSum> {
    let (place, bound) = match (a.is_uniform(), b.is_uniform()) {
        (false, true) => (a, b),
        (true, false) => (b, a),
        _ => return None,
    };
    let is_knowable = atoms.is_all_varying(place) && atoms.is_all_varying(bound);
    (!is_knowable).then_some(place)
}

/// Known numbers, lane by lane.
fn known(op: BinaryOp, ty: Type, a: &Lanes, b: &Lanes) -> Option<Lanes> {
    let right = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { Type::U32 } else { ty };
    let one =
        |a: i64, b: i64| eval::binary(op, Scalar::int(ty, a.into()), Scalar::int(right, b.into())).map(|scalar| scalar.as_int() as i64);
    if let (Some(a), Some(b)) = (a.same(), b.same()) {
        return one(a, b).map(Lanes::Same);
    }
    let mut numbers = [0; LANES];
    for (lane, number) in numbers.iter_mut().enumerate() {
        *number = one(a.of(lane), b.of(lane))?;
    }
    Some(Lanes::each(numbers))
}

fn lane_numbers() -> Sum {
    Sum::known(32, &Lanes::each(std::array::from_fn(|lane| lane as i64)))
}

impl Threads {
    /// The lanes of a block's warp number `warp`.
    pub(super) fn of_warp(block: [u32; 3], warp: u32) -> Threads {
        let [x, y, z] = block.map(u64::from);
        let first = u64::from(warp) * LANES as u64;
        let axis = |f: &dyn Fn(u64) -> u64| Sum::known(32, &Lanes::each(std::array::from_fn(|lane| f(first + lane as u64) as i64)));
        let place = [axis(&|n| n % x), axis(&|n| n / x % y), axis(&|n| n / x / y)];
        let threads = (x * y * z).saturating_sub(first).min(LANES as u64) as u32;
        let mask = if threads == 32 { Mask::MAX } else { (1 << threads) - 1 };
        Threads { place: Some(place), warp: Sum::number(32, i64::from(warp)), mask, is_any: x * y * z <= LANES as u64 }
    }

    /// The lanes of any warp of a block; `None` if not every warp can be told by one, or there is but one.
    pub(super) fn of_any_warp(block: [u32; 3], atoms: &mut Atoms) -> Option<Threads> {
        let [x, y, z] = block.map(u64::from);
        let threads = x * y * z;
        if !threads.is_multiple_of(LANES as u64) || threads == LANES as u64 {
            return None;
        }
        let warp = Sum::atom(32, atoms.warp(Some(threads / LANES as u64)));
        let thread = first_of(&warp).plus(&lane_numbers(), 1);
        let row = atoms.quotient(&thread, x)?;
        let place = [atoms.remainder(&thread, x)?, atoms.remainder(&row, y)?, atoms.quotient(&row, y)?];
        Some(Threads { place: Some(place.map(Sum::from)), warp, mask: Mask::MAX, is_any: true })
    }

    /// The lanes of any warp where the launch decides the block's size, a row of whole warps; unless the kernel asks for other axes.
    pub(super) fn of_any_block(kernel: &Kernel, atoms: &mut Atoms) -> Threads {
        let warp = Sum::atom(32, atoms.warp(None));
        let mut is_row = true;
        kernel.for_each_inst(|kernel, _, inst| {
            let is_other = |op: &Op| matches!(op, Op::Compute(Compute::Special(Special::ThreadIdx | Special::BlockDim, Axis::Y | Axis::Z)));
            is_row &= !is_other(&kernel.insts[inst].op);
        });
        let thread = first_of(&warp).plus(&lane_numbers(), 1);
        let zero = Sum::number(32, 0);
        Threads { place: is_row.then(|| [thread, zero.clone(), zero]), warp, mask: Mask::MAX, is_any: true }
    }
}

/// The number of a warp's first thread.
fn first_of(warp: &Sum) -> Sum {
    Sum::number(32, 0).plus(warp, LANES as i64)
}

/// Counts the loops round each value.
fn note_depths(kernel: &Kernel, block: Block, depth: u32, depths: &mut [u32]) {
    for value in &kernel.blocks[block].params {
        depths[value.0 as usize] = depth;
    }
    for inst in &kernel.blocks[block].insts {
        let data = &kernel.insts[*inst];
        data.results.iter().for_each(|value| depths[value.0 as usize] = depth);
        let inside = depth + u32::from(data.op.is_loop());
        data.op.blocks().into_iter().for_each(|child| note_depths(kernel, child, inside, depths));
    }
}

/// Whether the warp's number is among what varies.
pub(super) fn needs_warps(varies: Varies) -> bool {
    varies & WARP != 0
}

/// A value that is a sum.
fn sum_or_data(found: LaneValue) -> Result<Sum, Unknown> {
    if let LaneValue::Sum(sum) = found { Ok(sum) } else { Err(Unknown::DATA) }
}
