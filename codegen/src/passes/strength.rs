//! Strength reduction: multiplication, division and remainder by constants.
//!
//! **Needs** constants on the right (`fold`). **Preserves** every result for every dividend, `MIN` and both signs included: the equations stand
//! above the functions, and the tests try all 8-bit pairs and random 32- and 64-bit ones through the evaluator. **Refuses** division by zero, which
//! stays where it faults; products of 32 bits and less, even by powers of two (devices multiply and add in one instruction, and so
//! readers see the factor that they wrote); and floats (`fold` has the exact ones).
//!
//! Sources of the division sequences: T. Granlund, P. Montgomery, *Division by Invariant Integers using Multiplication*, PLDI 1994
//! (`choose_multiplier`, figures 4.2, 5.2 and 6.2 there); the notation below is theirs: N is the width, ⊗ the high half of a product, SRL and SRA
//! the logical and the arithmetic shift to the right.

use super::rewrite::{Rewrite, replace_each};
use crate::intrinsics;
use crate::ir::{BinaryOp, Block, Builder, CompareOp, Compute, Inst, Kernel, Op, Type, UnaryOp, Value};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    replace_each(kernel, reduced)
}

fn reduced(rewrite: &mut Rewrite<'_>, block: Block, inst: Inst) -> Option<Value> {
    let data = &rewrite.kernel.insts[inst];
    let Op::Compute(Compute::Binary(op, x, y)) = data.op else { return None };
    let loc = data.loc;
    let c = rewrite.kernel.constant(y).filter(|c| c.ty.is_int() && c.bits != 0)?;
    let mut arithmetic = Arithmetic { b: rewrite.builder(block, loc), ty: c.ty };
    match (op, c.ty.is_signed_int()) {
        (BinaryOp::Mul, _) => arithmetic.multiply(x, c.bits),
        (BinaryOp::Div, true) => arithmetic.divide_signed(x, c.as_int()),
        (BinaryOp::Div, false) => arithmetic.divide_unsigned(x, c.bits),
        (BinaryOp::Rem, true) => arithmetic.remainder_signed(x, c.as_int(), y),
        (BinaryOp::Rem, false) => arithmetic.remainder_unsigned(x, c.bits, y),
        _ => None,
    }
}

/// Builds integer arithmetic of one type.
struct Arithmetic<'a> {
    b: Builder<'a>,
    ty: Type,
}

impl Arithmetic<'_> {
    fn width(&self) -> u32 {
        self.ty.bits()
    }

    fn shift(&mut self, op: BinaryOp, x: Value, count: u32) -> Value {
        if count == 0 {
            return x;
        }
        let count = self.b.int(Type::U32, i128::from(count));
        self.b.binary(op, x, count)
    }

    /// SRL for unsigned types, SRA for signed ones.
    fn shr(&mut self, x: Value, count: u32) -> Value {
        self.shift(BinaryOp::Shr, x, count)
    }

    fn add(&mut self, x: Value, y: Value) -> Value {
        self.b.binary(BinaryOp::Add, x, y)
    }

    fn sub(&mut self, x: Value, y: Value) -> Value {
        self.b.binary(BinaryOp::Sub, x, y)
    }

    fn and(&mut self, x: Value, mask: u64) -> Value {
        let mask = self.b.int(self.ty, i128::from(mask));
        self.b.binary(BinaryOp::And, x, mask)
    }

    /// `x ⊗ m`.
    fn high(&mut self, x: Value, m: u128) -> Option<Value> {
        let row = intrinsics::by_name(intrinsics::called::MUL_HI, Some(self.ty))?;
        let m = self.b.int(self.ty, m as i128);
        Some(self.b.intrinsic(row, vec![x, m], self.ty))
    }

    /// The same operation at 32 bits, which hold every value of a narrower type, and back.
    fn at_32_bits(&mut self, x: Value, run: impl FnOnce(&mut Arithmetic<'_>, Value) -> Option<Value>) -> Option<Value> {
        let narrow = self.ty;
        let wide = if narrow.is_signed_int() { Type::I32 } else { Type::U32 };
        let x = self.b.cast(x, wide);
        let mut at_32 = Arithmetic { b: Builder::new(self.b.kernel, self.b.block, self.b.loc), ty: wide };
        let result = run(&mut at_32, x)?;
        Some(self.b.cast(result, narrow))
    }

    /// `x * 2ᵏ = x << k`, modulo 2ᴺ, for N = 64: a product of 64 bits is four of 32.
    fn multiply(&mut self, x: Value, c: u64) -> Option<Value> {
        (c.is_power_of_two() && c > 1 && self.width() == 64).then(|| self.shift(BinaryOp::Shl, x, c.trailing_zeros()))
    }

    /// Unsigned `x / d`. d = 2ᵏ: `SRL(x, k)`. d > 2ᴺ⁻¹: the quotient is 1 or 0, `x >= d`. Else, by figure 4.2, with m and s of
    /// [`choose_multiplier`]: `SRL(m ⊗ x, s)` if m < 2ᴺ; for an even d = 2ᵉ·d′ `SRL(m′ ⊗ SRL(x, e), s′)`; otherwise
    /// `t = (m − 2ᴺ) ⊗ x`, `SRL(t + SRL(x − t, 1), s − 1)`.
    fn divide_unsigned(&mut self, x: Value, d: u64) -> Option<Value> {
        let n = self.width();
        if d.is_power_of_two() {
            return Some(self.shr(x, d.trailing_zeros()));
        }
        if n < 32 {
            return self.at_32_bits(x, |wide, x| wide.divide_unsigned(x, d));
        }
        if d >> (n - 1) != 0 {
            let divisor = self.b.int(self.ty, i128::from(d));
            let reaches = self.b.compare(CompareOp::Ge, x, divisor);
            return Some(self.b.cast(reaches, self.ty));
        }
        let (m, s) = choose_multiplier(u128::from(d), n, n);
        if m >> n == 0 {
            let q = self.high(x, m)?;
            return Some(self.shr(q, s));
        }
        if d.is_multiple_of(2) {
            let e = d.trailing_zeros();
            let (m, s) = choose_multiplier(u128::from(d >> e), n, n - e);
            let x = self.shr(x, e);
            let q = self.high(x, m)?;
            return Some(self.shr(q, s));
        }
        let t = self.high(x, m - (1 << n))?;
        let rest = self.sub(x, t);
        let half = self.shr(rest, 1);
        let sum = self.add(t, half);
        Some(self.shr(sum, s - 1))
    }

    /// Unsigned `x % 2ᵏ = x & (2ᵏ − 1)`; else `x − (x / d)·d`.
    fn remainder_unsigned(&mut self, x: Value, d: u64, divisor: Value) -> Option<Value> {
        if d.is_power_of_two() {
            return Some(self.and(x, d - 1));
        }
        let q = self.divide_unsigned(x, d)?;
        Some(self.less_multiple(x, q, divisor))
    }

    /// `x − q·d`.
    fn less_multiple(&mut self, x: Value, q: Value, d: Value) -> Value {
        let multiple = self.b.binary(BinaryOp::Mul, q, d);
        self.sub(x, multiple)
    }

    /// `2ᵏ − 1` where x < 0, else 0: what takes a shift, which rounds down, to a division, which rounds towards zero.
    fn bias(&mut self, x: Value, k: u32) -> Value {
        let sign = self.shr(x, self.width() - 1);
        self.and(sign, (1 << k) - 1)
    }

    /// Signed `x / d`, towards zero. |d| = 1: x or −x (−MIN wraps to MIN). |d| = 2ᵏ: `SRA(x + bias, k)`. Else, by figure 5.2, with m and s for |d|
    /// and N − 1 digits: `SRA(m ⊗ x, s) − SRA(x, N − 1)` if m < 2ᴺ⁻¹, with `x + (m − 2ᴺ) ⊗ x` for the product otherwise; and
    /// subtracted the other way round where d < 0.
    fn divide_signed(&mut self, x: Value, d: i128) -> Option<Value> {
        let (n, magnitude) = (self.width(), d.unsigned_abs());
        if magnitude.is_power_of_two() {
            let k = magnitude.trailing_zeros();
            let q = if k == 0 {
                x
            } else {
                let bias = self.bias(x, k);
                let biased = self.add(x, bias);
                self.shr(biased, k)
            };
            return Some(if d < 0 { self.b.unary(UnaryOp::Neg, q) } else { q });
        }
        if n < 32 {
            return self.at_32_bits(x, |wide, x| wide.divide_signed(x, d));
        }
        let (m, s) = choose_multiplier(magnitude, n, n - 1);
        let product = if m >> (n - 1) == 0 {
            self.high(x, m)?
        } else {
            let high = self.high(x, m)?;
            self.add(x, high)
        };
        let rounded_down = self.shr(product, s);
        let sign = self.shr(x, n - 1);
        Some(if d < 0 { self.sub(sign, rounded_down) } else { self.sub(rounded_down, sign) })
    }

    /// Signed `x % d`, with the sign of x: |d| = 2ᵏ: `((x + bias) & (2ᵏ − 1)) − bias`; else `x − (x / d)·d`.
    fn remainder_signed(&mut self, x: Value, d: i128, divisor: Value) -> Option<Value> {
        let magnitude = d.unsigned_abs();
        if magnitude == 1 {
            return Some(self.b.int(self.ty, 0));
        }
        if magnitude.is_power_of_two() {
            let bias = self.bias(x, magnitude.trailing_zeros());
            let biased = self.add(x, bias);
            let low = self.and(biased, (magnitude - 1) as u64);
            return Some(self.sub(low, bias));
        }
        let q = self.divide_signed(x, d)?;
        Some(self.less_multiple(x, q, divisor))
    }
}

/// The multiplier m and the shift s behind it for dividing N-bit values of `digits` significant bits by d, figure 6.2: the least s with
/// `2^(N+s) < m·d ≤ 2^(N+s) · (1 + 2^−digits)`. 1 < d < 2ᴺ⁻¹; m < 2ᴺ⁺¹.
fn choose_multiplier(d: u128, n: u32, digits: u32) -> (u128, u32) {
    let l = 128 - (d - 1).leading_zeros();
    let mut s = l;
    let mut low = (1u128 << (n + l)) / d;
    let mut high = ((1u128 << (n + l)) + (1u128 << (n + l - digits))) / d;
    while low >> 1 < high >> 1 && s > 0 {
        (low, high, s) = (low >> 1, high >> 1, s - 1);
    }
    (high, s)
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::collections::HashMap;
    use crate::ir::KernelOptions;
    use crate::ir::intrinsic::Eval;
    use crate::ir::{BinaryOp, Builder, Compute, Kernel, Loc, Op, Scalar, Type, Value, eval};
    use crate::passes::check::check;

    /// A kernel whose last value is `x op d`, reduced, x being its first value.
    struct Reduced {
        kernel: Kernel,
        x: Value,
        result: Value,
    }

    fn reduce(op: BinaryOp, ty: Type, d: Scalar) -> Reduced {
        let mut kernel = Kernel::new("k", KernelOptions::default());
        let body = kernel.body;
        let mut b = Builder::new(&mut kernel, body, Loc(0));
        let x = b.int(ty, 0);
        let d = b.constant(d);
        // The result is held on to by a cast, which stays.
        let result = b.binary(op, x, d);
        b.push1(Op::Compute(Compute::Cast(result)), ty);
        run(&mut kernel);
        let last = *kernel.blocks[body].insts.last().unwrap();
        let Op::Compute(Compute::Cast(result)) = kernel.insts[last].op else { panic!("the cast went") };
        Reduced { kernel, x, result }
    }

    impl Reduced {
        fn has_division(&self) -> bool {
            let insts = &self.kernel.blocks[self.kernel.body].insts;
            insts.iter().any(|i| matches!(self.kernel.insts[*i].op, Op::Compute(Compute::Binary(BinaryOp::Div | BinaryOp::Rem, ..))))
        }

        fn evaluate(&self, x: Scalar) -> Scalar {
            let mut known = HashMap::from_iter([(self.x, x)]);
            for inst in &self.kernel.blocks[self.kernel.body].insts {
                let data = &self.kernel.insts[*inst];
                let result = data.results[0];
                let value = match &data.op {
                    Op::Compute(Compute::Const(_)) if result == self.x => x,
                    Op::Compute(compute) => eval::compute(compute, self.kernel.ty(result), |value| known.get(&value).copied()).unwrap(),
                    Op::Intrinsic(row, args) => {
                        let Eval::Lane(lane) = row.row().device().unwrap().eval else { panic!("not by lane") };
                        let bits: Vec<u64> = args.iter().map(|v| known[v].bits).collect();
                        Scalar::new(self.kernel.ty(result), lane(known[&args[0]].ty, &bits))
                    }
                    other => panic!("unexpected {other:?}"),
                };
                known.insert(result, value);
            }
            known[&self.result]
        }
    }

    #[track_caller]
    fn check_division(ty: Type, d: Scalar, dividends: impl Iterator<Item = u64> + Clone) {
        for op in [BinaryOp::Div, BinaryOp::Rem] {
            let reduced = reduce(op, ty, d);
            assert!(!reduced.has_division(), "{} {d} of {ty} still divides", op.word());
            for bits in dividends.clone() {
                let x = Scalar::new(ty, bits);
                assert_eq!(reduced.evaluate(x), eval::binary(op, x, d).unwrap(), "{x} {} {d}: {ty}", op.word());
            }
        }
    }

    #[test]
    fn every_8_bit_division() {
        for ty in [Type::U8, Type::I8] {
            for d in 1..256 {
                check_division(ty, Scalar::new(ty, d), 0..256);
            }
        }
    }

    /// Xorshift64: the same numbers every time.
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        // Of all sizes.
        *state >> (*state % 61)
    }

    #[test]
    fn divisions_of_16_32_and_64_bits() {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        for ty in [Type::U16, Type::I16, Type::U32, Type::I32, Type::U64, Type::I64] {
            let top = 1u64 << (ty.bits() - 1);
            let edges =
                [1, 2, 3, 5, 6, 7, 10, 14, 25, 28, 100, 641, 1000, top - 1, top, top + 1, top.wrapping_neg(), u64::MAX, u64::MAX - 1];
            let divisors: Vec<u64> = edges.into_iter().chain((0..300).map(|_| random(&mut state))).collect();
            for d in divisors.into_iter().map(|bits| Scalar::new(ty, bits)).filter(|d| d.bits != 0) {
                let near =
                    |q: u64| [q.wrapping_mul(d.bits).wrapping_sub(1), q.wrapping_mul(d.bits), q.wrapping_mul(d.bits).wrapping_add(1)];
                let quotients: Vec<u64> = (0..20).map(|_| random(&mut state)).collect();
                let random: Vec<u64> = (0..40).map(|_| random(&mut state)).collect();
                let all: Vec<u64> = edges.into_iter().chain([0]).chain(quotients.into_iter().flat_map(near)).chain(random).collect();
                check_division(ty, d, all.into_iter());
            }
        }
    }

    #[test]
    fn powers_of_two_are_shifts_and_masks() {
        check(
            run,
            "v0: u32 = load m0
             v1: u32 = const 16
             v2: u32 = mul v0, v1
             v10: u64 = cast v0
             v11: u64 = const 16
             v12: u64 = mul v10, v11
             v13: u32 = cast v12
             v3: u32 = div v0, v1
             v4: u32 = rem v0, v1
             store m3[v2], v3
             store m3[v3], v4
             store m3[v3], v13
             return",
            "v0: u32 = load m0
             v1: u32 = const 16
             v2: u32 = mul v0, v1
             v10: u64 = cast v0
             v9: u32 = const 4
             v12: u64 = shl v10, v9
             v13: u32 = cast v12
             v8: u32 = const 4
             v3: u32 = shr v0, v8
             v7: u32 = const 15
             v4: u32 = and v0, v7
             store m3[v2], v3
             store m3[v3], v4
             store m3[v3], v13
             return",
        );
    }
}
