//! Every operation on every type, on random bits, against [`eval`].

use super::super::arithmetic as arith;
use super::super::registers::{Operands, Reg, Registers};
use super::*;
use warpwright_codegen::ir::{BinaryOp, CompareOp, Scalar, Type, UnaryOp, eval};
use warpwright_codegen::target::limits::LANES;

/// Bits that are often at the edges of a type.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn scalar(&mut self, ty: Type) -> Scalar {
        let random = self.next();
        let bits = match self.next() % 6 {
            0 => 0,
            1 => u64::MAX << (random % 64),
            2 => random % 4,
            3 => 1 << (random % 64),
            4 if ty.is_float() => Scalar::float(ty, (random as i64 % 1000) as f64 / 8.0).bits,
            _ => random,
        };
        Scalar::new(ty, bits)
    }
}

/// Runs an operation on three slots and compares each lane.
#[track_caller]
fn check(what: &str, run: super::super::registers::Pure, types: [Type; 3], to: Type, expected: impl Fn([Scalar; 3]) -> Option<Scalar>) {
    let mut bits = Bits(0x9e37_79b9_7f4a_7c15);
    let slots = [1, 2, 3].map(|n| n as u16);
    for _ in 0..8 {
        let mut registers = Registers::new([4; 3]);
        let operands: Vec<[Scalar; 3]> = (0..LANES).map(|_| types.map(|ty| bits.scalar(ty))).collect();
        for n in 0..3 {
            let all: [u64; LANES] = std::array::from_fn(|lane| operands[lane][n].bits);
            registers.set_all(Reg::new(Reg::file_of(types[n]), slots[n]), &all);
        }
        run(&mut registers, &Operands { d: 0, a: 1, b: 2, c: 3 });
        for (lane, operands) in operands.iter().enumerate() {
            let Some(expected) = expected(*operands) else {
                continue;
            };
            let result = Scalar { ty: to, bits: registers.lane(Reg::new(Reg::file_of(to), 0), lane) };
            let both_nan = to.is_float() && result.as_f64().is_nan() && expected.as_f64().is_nan();
            assert!(result == expected || both_nan, "{what} of {operands:?} is {expected:?}, not {result:?}");
        }
    }
}

fn types() -> impl Iterator<Item = Type> {
    Type::SCALARS.iter().map(|(ty, _)| *ty)
}

#[test]
fn unary_operations() {
    for ty in types() {
        for (op, word) in UnaryOp::ALL {
            let expected = eval::unary(*op, Scalar::new(ty, 1));
            let run = arith::unary(*op, ty);
            assert_eq!(run.is_some(), expected.is_some(), "{word} {ty}");
            if let Some(run) = run {
                check(&format!("{word} {ty}"), run, [ty; 3], ty, |[a, _, _]| eval::unary(*op, a));
            }
        }
    }
}

#[test]
fn binary_operations() {
    for ty in types() {
        for (op, word) in BinaryOp::ALL {
            let second = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { Type::U32 } else { ty };
            let expected = eval::binary(*op, Scalar::new(ty, 1), Scalar::new(second, 1));
            let run = arith::binary(*op, ty);
            assert_eq!(run.is_some(), expected.is_some(), "{word} {ty}");
            if let Some(run) = run {
                check(&format!("{word} {ty}"), run, [ty, second, ty], ty, |[a, b, _]| eval::binary(*op, a, b));
            }
        }
    }
}

#[test]
fn mul_adds_comparisons_and_selections() {
    for ty in types() {
        if let Some(run) = arith::mul_add(ty) {
            check(&format!("mul_add {ty}"), run, [ty; 3], ty, |[a, b, c]| eval::mul_add(a, b, c));
        }
        for (op, word) in CompareOp::ALL {
            let run = arith::compare(*op, ty);
            assert_eq!(run.is_none(), ty.is_float8(), "{word} {ty}");
            let Some(run) = run else { continue };
            check(&format!("{word} {ty}"), run, [ty; 3], Type::Bool, |[a, b, _]| eval::compare(*op, a, b));
        }
        let run = arith::selection(ty);
        check(&format!("select {ty}"), run, [ty, ty, Type::Bool], ty, |[a, b, c]| eval::select(c, a, b));
    }
}

#[test]
fn casts_and_bitcasts() {
    for from in types() {
        for to in types() {
            let expected = eval::cast(Scalar::new(from, 1), to);
            let run = arith::cast(from, to);
            assert_eq!(run.is_some(), expected.is_some(), "{from} as {to}");
            if let Some(run) = run {
                check(&format!("{from} as {to}"), run, [from; 3], to, |[a, _, _]| eval::cast(a, to));
            }
            let run = arith::bitcast(from, to);
            assert_eq!(run.is_some(), from.bits() == to.bits(), "bits of {from} as {to}");
            if let Some(run) = run {
                check(&format!("bits of {from} as {to}"), run, [from; 3], to, |[a, _, _]| eval::bitcast(a, to));
            }
        }
    }
}

#[test]
fn overflow_is_found_where_rust_finds_it() {
    macro_rules! check {
        ($($t:ident $ty:ident)*) => {$({
            let ty = Type::$ty;
            let mut bits = Bits(42);
            for (op, rust) in [
                (BinaryOp::Add, <$t>::checked_add as fn($t, $t) -> Option<$t>),
                (BinaryOp::Sub, <$t>::checked_sub),
                (BinaryOp::Mul, <$t>::checked_mul),
            ] {
                let find = arith::overflows(op, ty).unwrap();
                for _ in 0..20 {
                    let mut registers = Registers::new([4; 3]);
                    let [a, b]: [[Scalar; LANES]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| bits.scalar(ty)));
                    let file = Reg::file_of(ty);
                    registers.set_all(Reg::new(file, 1), &a.map(|s| s.bits));
                    registers.set_all(Reg::new(file, 2), &b.map(|s| s.bits));
                    let found = find(&registers, &Operands { d: 0, a: 1, b: 2, c: 3 });
                    for lane in 0..LANES {
                        let expected = rust(a[lane].as_int() as $t, b[lane].as_int() as $t).is_none();
                        assert_eq!(found >> lane & 1 == 1, expected, "{op:?} {ty} of {} and {}", a[lane], b[lane]);
                    }
                }
            }
        })*};
    }
    check!(i8 I8 i16 I16 i32 I32 i64 I64 u8 U8 u16 U16 u32 U32 u64 U64);
}

#[test]
fn division_by_zero_and_overflow_are_faults() {
    let text = "kernel \"k\" legal
file \"k.rs\"
param m0 \"y\": global mut [i32]
{
  v0: u32 = thread_idx.x
  v1: i32 = load m0[v0]
  v2: i32 = const 2147483647
  v3: i32 = OP v2, v1 @9:4
  store m0[v0], v3
  return
}
";
    let zero = fault(run(&text.replace("OP", "div"), 1, 4, &mut vec![1, 2, 0, 0]));
    assert_eq!((zero.kind.clone(), zero.thread, zero.line), (FaultKind::DivisionByZero, [2, 0, 0], 9));
    assert_eq!(
        zero.to_string(),
        "k.rs:9:4: kernel `k`, block (0, 0, 0), thread (2, 0, 0): integer division by zero; help: divide only where the divisor is not 0"
    );
    let mut y = vec![0, 1, 2, 3];
    run(&text.replace("OP", "add"), 1, 4, &mut y).unwrap();
    assert_eq!(y, [i32::MAX, i32::MIN, i32::MIN + 1, i32::MIN + 2]);
    let strict = program(&text.replace("OP", "add"), SimOptions { overflow: true, ..SimOptions::default() });
    let mut bytes = to_bytes(&[0, 1, 2, 3]);
    let overflow = fault(strict.run(&launch(1, 4), &mut [SimArgument::Global { bytes: &mut bytes }]));
    assert_eq!(overflow.thread, [1, 0, 0]);
    assert!(
        overflow
            .to_string()
            .ends_with("`+` of 2147483647 and 1 overflows `i32`; help: write `wrapping_add` if that is meant, or compute it in `i64`"),
        "{overflow}"
    );
}

#[test]
fn assertions_traps_and_prints() {
    let text = "kernel \"k\" legal
file \"k.rs\"
param m0 \"y\": global mut [f32]
{
  v0: u32 = thread_idx.x
  v1: f32 = load m0[v0]
  v2: f32 = const 3.0
  v3: bool = lt v1, v2
  print \"{}: {:.2} {}\\n\", v0, v1, v3
  assert v3, \"{} is too much\", v1 @7:3
  if v3 {
    yield
  } else {
    trap \"never\"
  }
  return
}
";
    let (program, mut bytes, mut output) = (program(text, SimOptions::default()), to_bytes(&[1.0f32, 2.5]), Vec::new());
    let buffer = SimArgument::Global { bytes: &mut bytes };
    program.run_with(&launch(1, 2), &mut [buffer], &mut output).unwrap();
    assert_eq!(String::from_utf8(output).unwrap(), "0: 1.00 true\n1: 2.50 true\n");
    let mut bytes = to_bytes(&[1.0f32, 3.5]);
    let result = program.run_with(&launch(1, 2), &mut [SimArgument::Global { bytes: &mut bytes }], &mut Vec::new());
    let failed = fault(result);
    assert_eq!(failed.kind, FaultKind::Assertion { message: "3.5 is too much".into() });
    assert_eq!((failed.line, failed.thread), (7, [1, 0, 0]));
}
