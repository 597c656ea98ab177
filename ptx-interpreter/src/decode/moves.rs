//! `mov`, `cvt`, `setp`, `selp`: values that go from register to register.

use super::arithmetic::ROUNDINGS;
use super::words::Words;
use super::{Decoded, Decoder, refuse};
use crate::evaluate::convert::{Conversion, RoundTo};
use crate::evaluate::format::Rounding;
use crate::evaluate::integer;
use crate::program::{BoolOp, Compute, Op, Relation, Setp};
use crate::syntax::RawOperand;
use crate::ty::Ty;

/// Directions of rounding to whole numbers.
const TO_WHOLE: &[(&str, Rounding)] =
    &[("rni", Rounding::Nearest), ("rzi", Rounding::Zero), ("rmi", Rounding::Down), ("rpi", Rounding::Up)];

/// Comparisons; `.lo` and its like are those of numbers without a sign.
const RELATIONS: &[(&str, Relation)] = &[
    ("eq", Relation::Eq),
    ("ne", Relation::Ne),
    ("lt", Relation::Lt),
    ("le", Relation::Le),
    ("gt", Relation::Gt),
    ("ge", Relation::Ge),
    ("lo", Relation::Lt),
    ("ls", Relation::Le),
    ("hi", Relation::Gt),
    ("hs", Relation::Ge),
    ("equ", Relation::Equ),
    ("neu", Relation::Neu),
    ("ltu", Relation::Ltu),
    ("leu", Relation::Leu),
    ("gtu", Relation::Gtu),
    ("geu", Relation::Geu),
    ("num", Relation::Num),
    ("nan", Relation::Nan),
];

const BOOLS: &[(&str, BoolOp)] = &[("and", BoolOp::And), ("or", BoolOp::Or), ("xor", BoolOp::Xor)];

impl<'t> Decoder<'t> {
    /// What moves, if it does.
    pub(super) fn moves(&mut self, name: &'t str, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Option<Op>> {
        match name {
            "mov" => self.mov(words, operands).map(Some),
            "cvt" => self.cvt(words, operands).map(Some),
            "setp" => self.setp(words, operands).map(Some),
            "selp" => {
                let ty = words.ty()?;
                words.end()?;
                let [d, a, b, c] = Self::exactly(operands)?;
                let d = self.result(d, ty)?;
                let values = [self.source(a, ty)?, self.source(b, ty)?];
                let (condition, is_negated) = self.predicate(c)?;
                let values = if is_negated { [values[1], values[0]] } else { values };
                Ok(Some(Op::Compute(Compute::Select(d, values, condition))))
            }
            "createpolicy" => {
                let [d, rest @ ..] = operands else { return refuse("`createpolicy` has a result") };
                if rest.iter().any(|operand| !matches!(operand, RawOperand::Number(_))) {
                    return words.unknown();
                }
                let (d, none) = (self.result(d, Ty::B64)?, self.constant(0));
                Ok(Some(Op::Compute(Compute::Move(d, none))))
            }
            _ => Ok(None),
        }
    }

    fn mov(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        let ty = words.ty()?;
        words.end()?;
        let [d, a] = Self::exactly(operands)?;
        let part = |count: usize| {
            let bits = ty.bits() / count.max(1) as u32;
            [Ty::B8, Ty::B16, Ty::B32].into_iter().find(|part| part.bits() == bits).map(|part| (part, bits))
        };
        let compute = match (d, a) {
            (RawOperand::Vector(parts), a) => {
                let Some((part, bits)) = part(parts.len()) else { return refuse(format!("`.{}` has no {} parts", ty.word(), parts.len())) };
                let a = self.source(a, ty)?;
                let parts = parts.iter().map(|one| self.optional_result(one, part)).collect::<Decoded<_>>()?;
                Compute::Unpack(parts, a, bits)
            }
            (d, RawOperand::Vector(parts)) => {
                let Some((part, bits)) = part(parts.len()) else { return refuse(format!("`.{}` has no {} parts", ty.word(), parts.len())) };
                let d = self.result(d, ty)?;
                Compute::Pack(d, parts.iter().map(|one| self.source(one, part)).collect::<Decoded<_>>()?, bits)
            }
            (d, a) => {
                let d = self.result(d, ty)?;
                Compute::Move(d, self.source(a, ty)?)
            }
        };
        Ok(Op::Compute(compute))
    }

    fn cvt(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        let mut round = RoundTo::Exact;
        if let Some(rounding) = words.one_of(TO_WHOLE) {
            round = RoundTo::Whole(rounding);
        } else if let Some(rounding) = words.one_of(ROUNDINGS) {
            round = RoundTo::Number(rounding);
        } else if words.takes("rna") {
            round = RoundTo::Number(Rounding::Away);
        }
        let flushes = words.takes("ftz");
        let mut is_relu = words.takes("relu");
        let saturates = words.takes("sat");
        let is_finite = words.takes("satfinite");
        is_relu |= words.takes("relu");
        let (to, from) = (words.ty()?, words.ty()?);
        words.end()?;
        let is_pair_of = |ty: Ty| matches!(ty, Ty::F16x2 | Ty::Bf16x2 | Ty::E4m3x2 | Ty::E5m2x2);
        let takes_two = is_pair_of(to) && !is_pair_of(from);
        self.check_rounding(words, to, from, round)?;
        let (d, a, b) = match operands {
            [d, a] if !takes_two => (d, a, None),
            [d, a, b] if takes_two => (d, a, Some(b)),
            _ => return refuse(format!("{} operands are not what this conversion has", operands.len())),
        };
        let RawOperand::Name(name) = d else { return refuse("a register is expected for the result") };
        let (d, register_bits) = self.wide_register(name, to)?;
        let a = self.wide_source(a, from)?;
        let b = match b {
            Some(b) => self.wide_source(b, from)?,
            None => a,
        };
        let conversion = Conversion { to, from, round, flushes, saturates, is_finite, is_relu, register_bits };
        Ok(Op::Compute(Compute::Convert(conversion, d, [a, b])))
    }

    /// Rounding must be said where there is something to round, and not elsewhere.
    fn check_rounding(&self, words: &Words<'t>, to: Ty, from: Ty, round: RoundTo) -> Decoded<()> {
        let whole = matches!(round, RoundTo::Whole(_));
        let number = matches!(round, RoundTo::Number(_));
        let fits = match (to.is_int(), from.is_int()) {
            (true, true) => round == RoundTo::Exact,
            (true, false) => whole,
            (false, true) => number,
            // Of one size whole numbers may be asked for; a narrower one is rounded.
            (false, false) if to == from => !number,
            (false, false) if to.bits() > from.bits() && !matches!(to, Ty::F16x2) => round == RoundTo::Exact,
            (false, false) => number,
        };
        if fits { Ok(()) } else { words.unknown() }
    }

    fn setp(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        let relation = words.needs("a comparison", RELATIONS)?;
        let combined = words.one_of(BOOLS);
        let flushes = words.takes("ftz");
        let ty = words.ty()?;
        words.end()?;
        let is_order = !matches!(relation, Relation::Eq | Relation::Ne);
        let is_of_floats = matches!(
            relation,
            Relation::Equ | Relation::Neu | Relation::Ltu | Relation::Leu | Relation::Gtu | Relation::Geu | Relation::Num | Relation::Nan
        );
        if ty.is_untyped() && is_order || is_of_floats && !ty.is_float() || flushes {
            return words.unknown();
        }
        let Some(compare) = integer::compare(ty) else { return words.unknown() };
        let (results, a, b, third) = match (operands, combined) {
            ([d, a, b], None) => (d, a, b, None),
            ([d, a, b, c], Some(op)) => (d, a, b, Some((op, c))),
            _ => return refuse(format!("{} operands are not what this comparison has", operands.len())),
        };
        let results = match results {
            RawOperand::Pair(p, q) => {
                [self.optional_result(&RawOperand::Name(p), Ty::Pred)?, self.optional_result(&RawOperand::Name(q), Ty::Pred)?]
            }
            one => [self.optional_result(one, Ty::Pred)?, None],
        };
        let operands = [self.source(a, ty)?, self.source(b, ty)?];
        let combined = match third {
            Some((op, c)) => {
                let (c, is_negated) = self.predicate(c)?;
                Some((op, c, is_negated))
            }
            None => None,
        };
        Ok(Op::Compute(Compute::Setp(Box::new(Setp { compare, relation, results, operands, combined }))))
    }
}
