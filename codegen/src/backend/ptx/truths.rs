//! Truths whose bits are taken for a float's: `f16::from_bits((x > 0) as u16)`.
//!
//! Where a kernel calls functions of `ptxas`'s own, as divisions of 64 bits are, 11.8 to 13.5 follow a 1 or a 0 that a comparison selects through a move into a register of a float, and take it for the
//! number 1 where that is converted: `cvt.f32.f16` of it gave 1.0, and so did rounding it, or making a whole number of it. They do not follow it through two reversals of its bits, and neither do they
//! leave those out. Adding, multiplying and comparing it they got right wherever that was read, and `f64` and `bf16` as well.

use super::code::{Operand, Reg, RegisterClass};
use super::emitter::{Emitter, ptx};
use crate::collections::{HashMap, HashSet};
use crate::ir::{Block, Compute, Inst, Kernel, Op, Terminator, Type, Value, ValueDef};

/// How far operands are followed: `ptxas` does not go on for ever either, and the stack ends.
const DEPTH: usize = 64;

/// Whether a float is one of two that have the bits 1 and 0: what is left of bits of a truth once each of the two is known.
pub(super) fn selects_truth(kernel: &Kernel, to: Type, arms: [Value; 2]) -> bool {
    let bits = arms.map(|arm| kernel.constant(arm).map(|constant| constant.bits));
    matches!(to, Type::F16 | Type::F32) && matches!(bits, [Some(0), Some(1)] | [Some(1), Some(0)])
}

/// Integers made of truths, 0 and 1 that become floats by their bits.
pub(super) fn truths_as_floats(kernel: &Kernel) -> HashSet<Value> {
    let mut asked = Vec::new();
    kernel.for_each_inst(|_, _, inst| {
        let data = &kernel.insts[inst];
        if let Op::Compute(Compute::Bitcast(bits)) = data.op
            && matches!(kernel.ty(data.results[0]), Type::F16 | Type::F32)
        {
            asked.push(bits);
        }
    });
    if asked.is_empty() {
        return HashSet::default();
    }
    let given = Given::of(kernel);
    asked.retain(|bits| given.made_of(kernel, *bits, &mut HashMap::default(), DEPTH) == Some(true));
    asked.into_iter().collect()
}

/// What values were found to be made of.
type Known = HashMap<Value, Option<bool>>;

/// What regions are given, from outside and from their ends.
#[derive(Default)]
struct Given {
    owners: HashMap<Block, Inst>,
    values: HashMap<Inst, Vec<Value>>,
}

impl Given {
    fn of(kernel: &Kernel) -> Given {
        let mut given = Given::default();
        kernel.for_each_inst(|_, block, inst| match &kernel.insts[inst].op {
            Op::Region(region) => {
                given.owners.extend(region.blocks().into_iter().map(|block| (block, inst)));
                given.values.entry(inst).or_default().extend(kernel.insts[inst].op.operands());
            }
            Op::Terminator(Terminator::Yield(values)) => {
                if let Some(owner) = given.owners.get(&block) {
                    given.values.entry(*owner).or_default().extend(values);
                }
            }
            Op::Terminator(Terminator::Break(region, values) | Terminator::Continue(region, values)) => {
                given.values.entry(*region).or_default().extend(values);
            }
            _ => {}
        });
        given
    }

    /// Whether there is a truth among what a value is made of; `None`: it is made of something else, too. Of what a region gives or is given, anything of the type may be it.
    fn made_of(&self, kernel: &Kernel, value: Value, known: &mut Known, depth: usize) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        if let Some(known) = known.get(&value) {
            return *known;
        }
        // What a loop gives itself adds nothing.
        known.insert(value, Some(false));
        let found = self.look(kernel, value, known, depth);
        known.insert(value, found);
        found
    }

    fn look(&self, kernel: &Kernel, value: Value, known: &mut Known, depth: usize) -> Option<bool> {
        let region = match kernel.values[value].def {
            ValueDef::Param(block, _) => *self.owners.get(&block)?,
            ValueDef::Result(inst, _) => match &kernel.insts[inst].op {
                Op::Region(_) => inst,
                Op::Compute(compute) => return self.computed(kernel, compute, known, depth),
                _ => return None,
            },
        };
        let mut of_type = self.values.get(&region)?.iter().filter(|given| kernel.ty(**given) == kernel.ty(value));
        let is_truth = of_type.any(|given| self.made_of(kernel, *given, known, depth) == Some(true));
        Some(is_truth)
    }

    fn computed(&self, kernel: &Kernel, compute: &Compute, known: &mut Known, depth: usize) -> Option<bool> {
        let mut all =
            |operands: &[Value]| operands.iter().try_fold(false, |is, operand| Some(self.made_of(kernel, *operand, known, depth)? || is));
        match compute {
            Compute::Const(scalar) => (scalar.bits <= 1).then_some(false),
            Compute::Cast(from) if kernel.ty(*from) == Type::Bool => Some(true),
            Compute::Cast(from) | Compute::Bitcast(from) => {
                if kernel.ty(*from).is_int() {
                    all(&[*from])
                } else {
                    None
                }
            }
            Compute::Unary(_, a) => all(&[*a]),
            Compute::Binary(_, a, b) => all(&[*a, *b]),
            // 1 or 0 is a truth, too.
            Compute::Select(_, a, b) => all(&[*a, *b]).map(|_| true),
            Compute::MulAdd(a, b, c) => all(&[*a, *b, *c]),
            _ => None,
        }
    }
}

impl Emitter<'_> {
    /// Makes a float of the bits of a truth.
    pub(super) fn float_of_truth(&mut self, to: Type, d: Reg, a: Operand) {
        let [word, reversed, again] = [(); 3].map(|()| self.temp(RegisterClass::Word));
        let is_half = to == Type::F16;
        if is_half {
            ptx!(self, Cvt.U32.U16 word, a);
        } else {
            ptx!(self, Mov.B32 word, a);
        }
        ptx!(self, Brev.B32 reversed, word);
        ptx!(self, Brev.B32 again, reversed);
        if is_half {
            ptx!(self, Cvt.U16.U32 d, again);
        } else {
            ptx!(self, Mov.B32 d, again);
        }
    }
}
