//! Arithmetic of `f16` and `bf16` that GPUs have, with the result that `f32` gives.

use super::{BinaryOp, Type};
use crate::target::Requirement;

/// From when on there is an instruction, which `ptxas` makes two at a time of where elements are neighbours (PTX ISA, "Half precision floating point instructions").
///
/// Results are those of `f32`, rounded to the short type: `f32` has at least 2p + 2 digits. But a product of `bf16` below the least normal number, whose exponents are those of `f32`, is rounded twice so, and
/// once by an instruction: it is no such operation.
pub fn native_since(op: BinaryOp, ty: Type) -> Option<Requirement> {
    match (ty, op) {
        (Type::F16, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => Some(Requirement::since(53, 42)),
        (Type::BF16, BinaryOp::Add | BinaryOp::Sub) => Some(Requirement::since(90, 78)),
        _ => None,
    }
}
