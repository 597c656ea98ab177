//! What not every device has becomes what every device has.
//!
//! **Needs** nothing; stands before the last `cse`, which shares the casts. **Preserves** every value bit for bit as `ir::eval` defines it
//! (NaN payloads aside). **Refuses** nothing: what it does not know is left to the back ends. Vectors, 8- and 16-bit integers and casts are theirs:
//! each has its own way.
//!
//! `f16` and `bf16` are computed in `f32` and rounded after every operation, but for sums and products that targets have instructions of ([`native_since`]), which back ends compute so themselves for the rest. f32 has 24 digits, at least 2·11 + 2, so that for
//! `+ - * /` the double rounding is the single one (S. Figueroa, *When is double rounding innocuous?*, 1995), `rem`, `min`, `max` and the comparisons are
//! exact anyway, and a fused multiply-add is rounded twice, as its definition says. Negation and absolute value are made of
//! bits, so that they keep NaNs.

use super::rewrite::{Rewrite, replace_each};
use crate::ir::{BinaryOp, Block, Builder, Compute, Inst, Kernel, Op, Scalar, Type, UnaryOp, Value, native_since};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    if !kernel.values.values().any(|value| is_short(value.ty)) {
        return false;
    }
    replace_each(kernel, legal)
}

fn is_short(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::BF16)
}

/// The value that takes the place of an operation on short floats.
fn legal(rewrite: &mut Rewrite<'_>, block: Block, inst: Inst) -> Option<Value> {
    use Compute::*;
    let data = &rewrite.kernel.insts[inst];
    let Op::Compute(Unary(_, first) | Binary(_, first, _) | MulAdd(first, ..) | Compare(_, first, _)) = data.op else { return None };
    let ty = Some(rewrite.kernel.ty(first)).filter(|ty| is_short(*ty))?;
    let loc = data.loc;
    let b = &mut Builder::new(rewrite.kernel, block, loc);
    let wide = |b: &mut Builder<'_>, value| b.cast(value, Type::F32);
    let Op::Compute(compute) = &b.kernel.insts[inst].op else { return None };
    match *compute {
        Unary(op, a) => Some(by_bits(b, op, a, ty)),
        Binary(op, ..) if native_since(op, ty).is_some() => None,
        Binary(op, left, right) => {
            let (left, right) = (wide(b, left), wide(b, right));
            let result = b.binary(op, left, right);
            Some(b.cast(result, ty))
        }
        MulAdd(x, y, z) => {
            let (x, y, z) = (wide(b, x), wide(b, y), wide(b, z));
            let result = b.mul_add(x, y, z);
            Some(b.cast(result, ty))
        }
        Compare(op, left, right) => {
            let (left, right) = (wide(b, left), wide(b, right));
            Some(b.compare(op, left, right))
        }
        Const(_) | Special(..) | Select(..) | Cast(_) | Bitcast(_) | Len(_) | Address(_) | PeerAddress(..) | Offset(..) => None,
    }
}

/// `-a` flips the sign bit, `|a|` clears it.
fn by_bits(b: &mut Builder<'_>, op: UnaryOp, a: Value, ty: Type) -> Value {
    let bits = b.bitcast(a, Type::U16);
    let (op, mask) = if op == UnaryOp::Neg { (BinaryOp::Xor, 0x8000) } else { (BinaryOp::And, 0x7fff) };
    let mask = b.constant(Scalar::new(Type::U16, mask));
    let bits = b.binary(op, bits, mask);
    b.bitcast(bits, ty)
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{check, check_refused};

    #[test]
    fn short_floats_are_rounded_after_every_operation() {
        check(
            run,
            "v0: u32 = thread_idx.x
             v1: f32 = load m1[v0]
             v2: f16 = cast v1
             v3: f16 = div v2, v2
             v4: f16 = neg v3
             v5: f32 = cast v4
             store m2[v0], v5
             return",
            "v0: u32 = thread_idx.x
             v1: f32 = load m1[v0]
             v2: f16 = cast v1
             v6: f32 = cast v2
             v7: f32 = cast v2
             v8: f32 = div v6, v7
             v3: f16 = cast v8
             v9: u16 = bitcast v3
             v10: u16 = const 32768
             v11: u16 = xor v9, v10
             v4: f16 = bitcast v11
             v5: f32 = cast v4
             store m2[v0], v5
             return",
        );
    }

    #[test]
    fn what_instructions_round_alike_stays() {
        let of = |op: &str, ty: &str| {
            format!(
                "v0: u32 = thread_idx.x\n v1: f32 = load m1[v0]\n v2: {ty} = cast v1\n v3: {ty} = {op} v2, v2\n v4: f32 = cast v3\n store m2[v0], v4\n return"
            )
        };
        for op in ["add", "sub", "mul"] {
            check_refused(run, &of(op, "f16"));
            check_refused(run, &of(op, "bf16"));
        }
        check(
            run,
            &of("div", "bf16"),
            "v0: u32 = thread_idx.x\n v1: f32 = load m1[v0]\n v2: bf16 = cast v1\n v5: f32 = cast v2\n v6: f32 = cast v2\n v7: f32 = div v5, v6\n v3: bf16 = cast v7\n v4: f32 = cast v3\n store m2[v0], v4\n return",
        );
    }

    #[test]
    fn other_floats_stay() {
        check_refused(run, "v0: u32 = thread_idx.x\n v1: f32 = load m1[v0]\n v2: f32 = mul v1, v1\n store m2[v0], v2\n return");
    }
}
