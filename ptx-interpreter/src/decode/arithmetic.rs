//! Instructions that compute: on whole numbers by name and type, on floats with what is said of rounding.

use super::words::Words;
use super::{Decoded, Decoder};
use crate::evaluate::float::{FloatKind, FloatOp};
use crate::evaluate::format::Rounding;
use crate::evaluate::integer;
use crate::program::{Compute, Op};
use crate::syntax::RawOperand;
use crate::ty::Ty;

/// Directions of rounding.
pub(super) const ROUNDINGS: &[(&str, Rounding)] =
    &[("rn", Rounding::Nearest), ("rz", Rounding::Zero), ("rm", Rounding::Down), ("rp", Rounding::Up)];

/// How many operands a kind reads.
fn reads(kind: FloatKind) -> usize {
    match kind {
        FloatKind::Fma => 3,
        FloatKind::Add
        | FloatKind::Sub
        | FloatKind::Mul
        | FloatKind::Div
        | FloatKind::DivApprox
        | FloatKind::Min
        | FloatKind::Max
        | FloatKind::MinNan
        | FloatKind::MaxNan
        | FloatKind::CopySign => 2,
        _ => 1,
    }
}

/// What there is of floats.
const FLOATS: &[(&str, FloatKind)] = &[
    ("add", FloatKind::Add),
    ("sub", FloatKind::Sub),
    ("mul", FloatKind::Mul),
    ("fma", FloatKind::Fma),
    ("mad", FloatKind::Fma),
    ("div", FloatKind::Div),
    ("rcp", FloatKind::Rcp),
    ("sqrt", FloatKind::Sqrt),
    ("rsqrt", FloatKind::Rsqrt),
    ("ex2", FloatKind::Ex2),
    ("lg2", FloatKind::Lg2),
    ("sin", FloatKind::Sin),
    ("cos", FloatKind::Cos),
    ("tanh", FloatKind::Tanh),
    ("min", FloatKind::Min),
    ("max", FloatKind::Max),
    ("abs", FloatKind::Abs),
    ("neg", FloatKind::Neg),
    ("copysign", FloatKind::CopySign),
];

fn is_float_type(word: &str) -> bool {
    matches!(word, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64")
}

impl<'t> Decoder<'t> {
    /// What computes, if it does.
    pub(super) fn arithmetic(&mut self, name: &'t str, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Option<Op>> {
        if words.last().is_some_and(is_float_type)
            && let Some((_, kind)) = FLOATS.iter().find(|(known, _)| *known == name)
        {
            return self.float(*kind, words, operands).map(Some);
        }
        match name {
            "mul" | "mad" | "mul24" | "mad24" => self.product(name, words, operands).map(Some),
            "shf" => {
                let direction = words.needs("a direction", &[("l", "l"), ("r", "r")])?;
                let mode = words.needs("a mode", &[("wrap", "wrap"), ("clamp", "clamp")])?;
                let ty = words.ty()?;
                self.ternary(&format!("shf.{direction}.{mode}"), ty, [ty, ty, Ty::U32], ty, words, operands).map(Some)
            }
            "dp4a" => {
                let (a, b) = (words.ty()?, words.ty()?);
                let signed = if a == Ty::S32 || b == Ty::S32 { Ty::S32 } else { Ty::U32 };
                self.ternary(&format!("dp4a.{}.{}", a.word(), b.word()), signed, [Ty::B32; 3], Ty::B32, words, operands).map(Some)
            }
            "vabsdiff4" => {
                let types = [words.ty()?, words.ty()?, words.ty()?];
                if types != [Ty::U32; 3] || !words.takes("add") {
                    return words.unknown();
                }
                self.ternary("vabsdiff4", Ty::U32, types, Ty::U32, words, operands).map(Some)
            }
            "bfe" => {
                let ty = words.ty()?;
                self.ternary("bfe", ty, [ty, Ty::U32, Ty::U32], ty, words, operands).map(Some)
            }
            "bfi" => self.insert(words, operands).map(Some),
            "lop3" => self.logic(words, operands).map(Some),
            "prmt" => {
                let ty = words.ty()?;
                self.ternary("prmt", ty, [ty; 3], ty, words, operands).map(Some)
            }
            "sad" => {
                let ty = words.ty()?;
                self.ternary("sad", ty, [ty; 3], ty, words, operands).map(Some)
            }
            "shl" | "shr" => {
                let ty = words.ty()?;
                self.binary(name, ty, [ty, Ty::U32], ty, words, operands).map(Some)
            }
            "popc" | "clz" | "bfind" => {
                let ty = words.ty()?;
                self.unary(name, ty, Ty::U32, words, operands).map(Some)
            }
            "abs" | "neg" | "not" | "cnot" | "brev" => {
                let ty = words.ty()?;
                self.unary(name, ty, ty, words, operands).map(Some)
            }
            "add" | "sub" if words.takes("sat") => words.unknown(),
            "add" | "sub" | "div" | "rem" | "min" | "max" | "and" | "or" | "xor" => {
                let ty = words.ty()?;
                self.binary(name, ty, [ty; 2], ty, words, operands).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn float(&mut self, kind: FloatKind, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        let mut op = FloatOp::new(kind, Ty::F32);
        let is_approximate = words.any_of(&["approx", "full"]).is_some();
        if is_approximate && kind == FloatKind::Div {
            op.kind = FloatKind::DivApprox;
        }
        if let Some(rounding) = words.one_of(ROUNDINGS) {
            op.rounding = rounding;
        }
        op.flushes = words.takes("ftz");
        if words.takes("NaN") {
            op.kind = match kind {
                FloatKind::Min => FloatKind::MinNan,
                FloatKind::Max => FloatKind::MaxNan,
                _ => return words.unknown(),
            };
        }
        op.saturates = words.takes("sat");
        op.is_relu = words.takes("relu");
        op.ty = words.ty()?;
        words.end()?;
        let count = reads(kind);
        if operands.len() != count + 1 {
            return Err(format!("{} operands are expected, and here are {}", count + 1, operands.len()));
        }
        let d = self.result(&operands[0], op.ty)?;
        let zero = self.constant(0);
        let mut sources = [zero; 3];
        for (source, operand) in sources.iter_mut().zip(&operands[1..]) {
            *source = self.source(operand, op.ty)?;
        }
        Ok(Op::Compute(Compute::Float(op, d, sources)))
    }

    fn product(&mut self, name: &str, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        let part = words.needs("`.lo`, `.hi` or `.wide`", &[("lo", "lo"), ("hi", "hi"), ("wide", "wide")])?;
        let ty = words.ty()?;
        let wide = match (part, ty) {
            ("wide", Ty::U16) => Ty::U32,
            ("wide", Ty::S16) => Ty::S32,
            ("wide", Ty::U32) => Ty::U64,
            ("wide", Ty::S32) => Ty::S64,
            _ => ty,
        };
        let full = format!("{name}.{part}");
        if name.starts_with("mul") {
            self.binary(&full, ty, [ty; 2], wide, words, operands)
        } else {
            self.ternary(&full, ty, [ty, ty, wide], wide, words, operands)
        }
    }

    fn unary(&mut self, name: &str, ty: Ty, to: Ty, words: &Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        words.end()?;
        let Some(f) = integer::unary(name, ty) else { return words.unknown() };
        let [d, a] = Self::exactly(operands)?;
        Ok(Op::Compute(Compute::Unary(f, self.result(d, to)?, self.source(a, ty)?)))
    }

    fn binary(&mut self, name: &str, ty: Ty, from: [Ty; 2], to: Ty, words: &Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        words.end()?;
        let Some(f) = integer::binary(name, ty) else { return words.unknown() };
        let [d, a, b] = Self::exactly(operands)?;
        let d = self.result(d, to)?;
        let sources = [self.source(a, from[0])?, self.source(b, from[1])?];
        Ok(Op::Compute(Compute::Binary(f, d, sources)))
    }

    fn ternary(&mut self, name: &str, ty: Ty, from: [Ty; 3], to: Ty, words: &Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        words.end()?;
        let Some(f) = integer::ternary(name, ty) else { return words.unknown() };
        let [d, a, b, c] = Self::exactly(operands)?;
        let d = self.result(d, to)?;
        let sources = [self.source(a, from[0])?, self.source(b, from[1])?, self.source(c, from[2])?];
        Ok(Op::Compute(Compute::Ternary(f, d, sources)))
    }

    /// `bfi`, which has four sources.
    fn insert(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        let ty = words.ty()?;
        words.end()?;
        if !matches!(ty, Ty::B32 | Ty::B64) {
            return words.unknown();
        }
        let [d, a, b, c, length] = Self::exactly(operands)?;
        let d = self.result(d, ty)?;
        let sources = [self.source(a, ty)?, self.source(b, ty)?, self.source(c, Ty::U32)?, self.source(length, Ty::U32)?];
        Ok(Op::Compute(Compute::Insert(d, sources, ty.bits())))
    }

    fn logic(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Op> {
        let ty = words.ty()?;
        words.end()?;
        let [d, a, b, c, table] = Self::exactly(operands)?;
        let (Ty::B32, RawOperand::Number(table)) = (ty, table) else { return words.unknown() };
        let d = self.result(d, ty)?;
        let sources = [self.source(a, ty)?, self.source(b, ty)?, self.source(c, ty)?];
        Ok(Op::Compute(Compute::Logic3(d, sources, *table as u8)))
    }
}
