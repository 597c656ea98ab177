//! Arithmetic of `f16` and `bf16` that GPUs have, with the result that `f32` gives.

use super::{BinaryOp, Type};
use crate::target::Requirement;

/// From when on there is an instruction, which `ptxas` makes two at a time of where elements are neighbours (PTX ISA, "Half precision floating point instructions").
///
/// Results are those of `f32`, rounded to the short type: `f32` has at least 2p + 2 digits. A product of `bf16` below the least normal number, whose exponents are those of `f32`, is rounded twice so, and once
/// by an instruction, which is the same: it has 16 digits, and one that `f32` rounds first, below 2⁻¹³⁴, is less than half of the least `bf16`.
pub fn native_since(op: BinaryOp, ty: Type) -> Option<Requirement> {
    match (ty, op) {
        (Type::F16, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => Some(Requirement::since(53, 42)),
        (Type::BF16, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => Some(Requirement::since(90, 78)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::eval::cast;
    use crate::ir::{Scalar, Type};
    use half::bf16;

    /// A product depends on the digits of the factors and on the sum of their exponents.
    #[test]
    fn products_that_f32_rounds_first_are_those_that_are_rounded_once() {
        for exponent in (-151..=-120).chain([-60, 0, 127]) {
            // Both are normal numbers.
            let (of_a, of_b) = (exponent / 2, exponent - exponent / 2);
            for (a, b) in (128..256).flat_map(|a| (128..256).map(move |b| (a, b))) {
                let a = bf16::from_f64(f64::from(a) / 128.0 * 2f64.powi(of_a));
                let b = bf16::from_f64(f64::from(b) / 128.0 * 2f64.powi(of_b));
                let once = cast(Scalar::float(Type::F64, a.to_f64() * b.to_f64()), Type::BF16);
                let twice = bf16::from_f32(a.to_f32() * b.to_f32());
                assert_eq!(once, Some(Scalar::new(Type::BF16, twice.to_bits().into())), "{a:e} · {b:e}");
            }
        }
    }
}
