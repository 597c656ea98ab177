//! The table holds together, and its rows compute what Rust computes.

use super::*;
use crate::ir::KernelOptions;
use crate::ir::intrinsic::{ConstantForm, CopyStep, Eval, Exchange, Gives, Meeting};
use crate::ir::{Block, Completion, Effects, Inst, Kernel, Region, Scalar, Scope, Terminator, eval};
use std::collections::{HashMap, HashSet};

fn types() -> impl Iterator<Item = Type> {
    Type::SCALARS.iter().map(|(ty, _)| *ty)
}

/// What the lanes of one thread's IR compute: straight code, conditions and loops, no memory.
struct Machine<'k> {
    kernel: &'k Kernel,
    values: HashMap<Value, Scalar>,
}

/// How a block ended.
enum End {
    Yield(Vec<Scalar>),
    Break(Inst, Vec<Scalar>),
}

impl Machine<'_> {
    fn get(&self, value: Value) -> Scalar {
        self.values[&value]
    }

    fn all(&self, values: &[Value]) -> Vec<Scalar> {
        values.iter().map(|v| self.get(*v)).collect()
    }

    fn bind(&mut self, values: &[Value], scalars: &[Scalar]) {
        assert_eq!(values.len(), scalars.len());
        for (value, scalar) in values.iter().zip(scalars) {
            assert_eq!(self.kernel.ty(*value), scalar.ty, "{value}");
            self.values.insert(*value, *scalar);
        }
    }

    fn block(&mut self, block: Block, args: &[Scalar]) -> End {
        let kernel = self.kernel;
        self.bind(&kernel.blocks[block].params, args);
        for inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[*inst];
            let results = match &data.op {
                Op::Terminator(Terminator::Yield(values)) => return End::Yield(self.all(values)),
                Op::Terminator(Terminator::Break(target, values)) => return End::Break(*target, self.all(values)),
                Op::Region(Region::If { condition, then_block, else_block }) => {
                    match self.block(if self.get(*condition).is_true() { *then_block } else { *else_block }, &[]) {
                        End::Yield(values) => values,
                        end => return end,
                    }
                }
                Op::Region(Region::Loop { init, body, .. }) => self.run_loop(*inst, *body, self.all(init)),
                op => vec![self.step(op, data.results.first().map(|r| kernel.ty(*r)))],
            };
            self.bind(&data.results, &results);
        }
        unreachable!("{block} does not end")
    }

    fn run_loop(&mut self, owner: Inst, body: Block, mut carried: Vec<Scalar>) -> Vec<Scalar> {
        loop {
            match self.block(body, &carried) {
                End::Yield(next) => carried = next,
                End::Break(target, values) => {
                    assert_eq!(target, owner);
                    return values;
                }
            }
        }
    }

    fn step(&self, op: &Op, result: Option<Type>) -> Scalar {
        let value = match op {
            Op::Compute(compute) => result.and_then(|ty| eval::compute(compute, ty, |value| Some(self.get(value)))),
            Op::Intrinsic(row, args) => result.and_then(|ty| lane(row.row(), ty, &self.all(args))),
            other => panic!("{other:?} is not for one lane"),
        };
        value.unwrap_or_else(|| panic!("{op:?} has no value"))
    }
}

/// A device row by its evaluator.
fn lane(row: &Intrinsic, result: Type, args: &[Scalar]) -> Option<Scalar> {
    let Eval::Lane(eval) = row.device()?.eval else { return None };
    let bits: Vec<_> = args.iter().map(|a| a.bits).collect();
    Some(Scalar::new(result, eval(args[0].ty, &bits)))
}

/// The results of `row` for `T` = `ty`: with constant arguments, and with arguments that the expansion cannot see through.
fn run(row: &'static Intrinsic, ty: Type, args: &[Scalar], math: Math) -> Vec<Scalar> {
    let [seen, unseen] = [true, false].map(|is_constant| {
        let mut kernel = Kernel::new("k", KernelOptions { math, ..KernelOptions::default() });
        let body = kernel.body;
        let types: Vec<_> = args.iter().map(|a| a.ty).collect();
        let params: Vec<_> = if is_constant { Vec::new() } else { types.iter().map(|ty| kernel.add_param(body, *ty)).collect() };
        let mut b = Builder::new(&mut kernel, body, crate::ir::Loc(0));
        let values = if is_constant { args.iter().map(|a| b.constant(*a)).collect() } else { params };
        let results = emit(&mut b, IntrinsicId(row), ty, &values);
        b.push(Op::Terminator(Terminator::Yield(results)), &[]);
        let mut machine = Machine { kernel: &kernel, values: HashMap::new() };
        match machine.block(body, if is_constant { &[] } else { args }) {
            End::Yield(values) => values,
            End::Break(..) => unreachable!(),
        }
    });
    assert_eq!(seen.len(), row.results.len(), "{}", row.name);
    for (a, b) in seen.iter().zip(&unseen) {
        assert!(same(*a, *b), "{} for {ty}: {a} with constants, {b} without", row.name);
    }
    seen
}

fn same(a: Scalar, b: Scalar) -> bool {
    a == b || (a.ty == b.ty && a.ty.is_float() && a.as_f64().is_nan() && b.as_f64().is_nan())
}

#[test]
fn a_name_means_one_row_for_each_type() {
    let mut seen = HashSet::new();
    for row in rows() {
        for ty in types().map(Some).filter(|ty| ty.is_some_and(|ty| row.over.contains(ty))).chain((row.over == Class::None).then_some(None))
        {
            assert!(seen.insert((row.name, row.call == Call::Function, ty)), "`{}` has two rows for {ty:?}", row.name);
        }
        assert!(!row.doc.is_empty(), "`{}` says what it computes", row.name);
        assert!(row.device().is_some() || row.cost == 1, "`{}` costs what it is made of", row.name);
    }
}

/// The numbers of the arguments that a template names, and whether it names the result.
fn placeholders(text: &str) -> (Vec<usize>, bool) {
    let text = text.replace("{{", "").replace("}}", "");
    let text = text.replace("{#", "{");
    let inside = text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or("").to_owned());
    let names: Vec<String> = inside.collect();
    let args = names.iter().filter_map(|n| n.parse().ok()).collect();
    for name in &names {
        assert!(
            name == "d" || name == "T" || name == "barrier" || name.parse::<usize>().is_ok() || name.starts_with("tmp"),
            "`{name}` in {text}"
        );
    }
    (args, names.iter().any(|n| n == "d"))
}

#[test]
fn templates_name_arguments_that_exist() {
    for row in rows() {
        let Some(device) = row.device() else { continue };
        assert!(row.results.len() <= 1, "`{}`: one result at most", row.name);
        for form in device.ptx {
            let (args, has_result) = placeholders(form.text);
            assert!(form.text.is_empty() || (0..row.args.len()).all(|n| args.contains(&n)), "`{}`: {}", row.name, form.text);
            assert!(args.iter().all(|n| *n < row.args.len()), "`{}`: {}", row.name, form.text);
            assert_eq!(has_result, !row.results.is_empty(), "`{}`: {}", row.name, form.text);
            assert!(form.types.iter().all(|ty| row.over.contains(*ty)), "`{}`: {}", row.name, form.text);
        }
        let in_library = |ty: Type| crate::library::function(row.name, ty).is_some();
        let has_form = |ty: Type| device.ptx.iter().any(|form| form.types.is_empty() || form.types.contains(&ty));
        let is_covered = |ty: Type| if device.ptx.is_empty() { in_library(ty) } else { has_form(ty) };
        assert!(types().filter(|ty| row.over.contains(*ty)).all(is_covered), "`{}` has no form in PTX for some type", row.name);
        let has_none = matches!(row.meeting, Some(Meeting { exchange: Exchange::Count(_) | Exchange::Impossible, .. }));
        assert_eq!(device.opencl.is_empty(), has_none, "`{}`: {}", row.name, device.opencl);
        assert!(placeholders(device.opencl).0.iter().all(|n| *n < row.args.len()), "`{}`: {}", row.name, device.opencl);
    }
}

#[test]
fn every_fast_form_exists_with_the_same_signature() {
    for row in rows() {
        let Some(fast) = row.fast else { continue };
        let found = function_for_f32(fast).unwrap_or_else(|| panic!("`{fast}`, the fast form of `{}`, has no row", row.name)).row();
        assert_eq!((found.args, found.results), (row.args, row.results), "`{fast}`");
        assert!(row.over.contains(Type::F32));
    }
}

#[test]
fn every_row_expands_for_every_type_in_every_mode() {
    for (block, math) in
        [(None, Math::Precise), (Some([256, 1, 1]), Math::Fast), (Some([5, 3, 2]), Math::Precise), (Some([1, 1, 1]), Math::Fast)]
    {
        for row in rows() {
            for ty in types().filter(|ty| row.over.contains(*ty)).chain((row.over == Class::None).then_some(Type::U32)) {
                let mut kernel = Kernel::new("k", KernelOptions { block, math, ..KernelOptions::default() });
                let body = kernel.body;
                let args: Vec<_> = row.args.iter().map(|operand| Intrinsic::operand_type(*operand, ty, &kernel)).collect();
                let args: Vec<_> = args.into_iter().map(|ty| kernel.add_param(body, ty)).collect();
                let results = emit(&mut Builder::new(&mut kernel, body, crate::ir::Loc(0)), IntrinsicId(row), ty, &args);
                let expected: Vec<_> = row.results.iter().map(|operand| Intrinsic::operand_type(*operand, ty, &kernel)).collect();
                let found: Vec<_> = results.iter().map(|r| kernel.ty(*r)).collect();
                assert_eq!(found, expected, "`{}` for {ty}", row.name);
            }
        }
    }
}

fn find(name: &str, ty: Type) -> &'static Intrinsic {
    rows().find(|r| r.call != Call::Function && r.name == name && r.over.contains(ty)).unwrap_or_else(|| panic!("`{name}` for {ty}"))
}

/// Methods of `x` (and `y`) of these names against the table's.
macro_rules! check_methods {
    ($get:ident, $put:ident, $x:ident; $($name:ident)*) => {$(
        check_methods!(@one $name, $get, $put, $x);
    )*};
    ($get:ident, $put:ident, $x:ident, $y:ident; $($name:ident)*) => {$(
        check_methods!(@one $name, $get, $put, $x, $y);
    )*};
    (@one $name:ident, $get:ident, $put:ident, $x:ident) => {
        let (found, expected) = ($get(stringify!($name), &[$put($x)]), $put($x.$name()));
        assert!(same(found, expected), "{}({}): {found}, Rust {expected}", stringify!($name), $x);
    };
    (@one $name:ident, $get:ident, $put:ident, $x:ident, $y:ident) => {
        let (found, expected) = ($get(stringify!($name), &[$put($x), $put($y)]), $put($x.$name($y)));
        assert!(same(found, expected), "{}({}, {}): {found}, Rust {expected}", stringify!($name), $x, $y);
    };
}

/// The same of methods that give a `bool`.
macro_rules! check_questions {
    ($get:ident, $put:ident, $x:ident; $($name:ident)*) => {$(
        assert_eq!($get(stringify!($name), &[$put($x)]), Scalar::bool($x.$name()), "{}({})", stringify!($name), $x);
    )*};
}

/// Each method against Rust's own of the same name, over all pairs of edge values.
macro_rules! check_int {
    ($($test:ident: $t:ident $ty:ident $sign:ident;)*) => {$(
        #[test]
        fn $test() {
            let ty = Type::$ty;
            let put = |x: $t| Scalar::int(ty, i128::from(x));
            let get = |name: &str, args: &[Scalar]| run(find(name, ty), ty, args, Math::Precise)[0];
            let values: Vec<$t> = edges(ty).into_iter().map(|v| v as $t).collect();
            for &x in &values {
                check_counts!(get, put, x; count_ones count_zeros leading_zeros leading_ones trailing_zeros trailing_ones);
                check_methods!(get, put, x; reverse_bits swap_bytes wrapping_neg);
                if x > 0 {
                    check_counts!(get, put, x; ilog2);
                    check_methods!(get, put, x; isqrt);
                }
                for n in [0u32, 1, 3, 7, 8, 15, 31, 33, 63, 64] {
                    let count = Scalar::u32(n);
                    assert_eq!(get("rotate_left", &[put(x), count]), put(x.rotate_left(n)), "{x} {n}");
                    assert_eq!(get("rotate_right", &[put(x), count]), put(x.rotate_right(n)), "{x} {n}");
                    assert_eq!(get("pow", &[put(x), count]), put(x.wrapping_pow(n)), "{x} {n}");
                    assert_eq!(get("wrapping_shl", &[put(x), count]), put(x.wrapping_shl(n)), "{x} {n}");
                    assert_eq!(get("wrapping_shr", &[put(x), count]), put(x.wrapping_shr(n)), "{x} {n}");
                }
                check_sign!($sign, get, put, x);
                for &y in &values {
                    check_methods!(get, put, x, y; saturating_add saturating_sub saturating_mul wrapping_add wrapping_sub wrapping_mul min max);
                    assert_eq!(get("mul_hi", &[put(x), put(y)]), put(high_product(i128::from(x), i128::from(y), ty) as $t), "{x} {y}");
                    assert_eq!(get("abs_diff", &[put(x), put(y)]), Scalar::int(ty.to_unsigned(), i128::from(x.abs_diff(y))), "{x} {y}");
                    if x <= y {
                        assert_eq!(get("clamp", &[put(1), put(x), put(y)]), put((1 as $t).clamp(x, y)));
                    }
                    if y != 0 {
                        check_methods!(get, put, x, y; wrapping_div wrapping_rem);
                        assert_eq!(get("rem_euclid", &[put(x), put(y)]), put(x.wrapping_rem_euclid(y)), "{x} {y}");
                        assert_eq!(get("div_euclid", &[put(x), put(y)]), put(x.wrapping_div_euclid(y)), "{x} {y}");
                        check_sign!(@division $sign, get, put, x, y);
                    }
                }
            }
        }
    )*};
}

macro_rules! check_counts {
    ($get:ident, $put:ident, $x:ident; $($name:ident)*) => {$(
        assert_eq!($get(stringify!($name), &[$put($x)]), Scalar::u32($x.$name()), "{}({})", stringify!($name), $x);
    )*};
}

/// What only signed or only unsigned types have.
macro_rules! check_sign {
    (signed, $get:ident, $put:ident, $x:ident) => {
        check_methods!($get, $put, $x; signum wrapping_abs);
        check_questions!($get, $put, $x; is_negative is_positive);
        assert_eq!($get("abs", &[$put($x)]), $put($x.wrapping_abs()));
        assert_eq!($get("unsigned_abs", &[$put($x)]).as_int(), i128::from($x.unsigned_abs()));
    };
    (unsigned, $get:ident, $put:ident, $x:ident) => {
        check_questions!($get, $put, $x; is_power_of_two);
        assert_eq!($get("next_power_of_two", &[$put($x)]), $put($x.checked_next_power_of_two().unwrap_or(0)), "{}", $x);
    };
    (@division signed, $get:ident, $put:ident, $x:ident, $y:ident) => {};
    (@division unsigned, $get:ident, $put:ident, $x:ident, $y:ident) => {
        check_methods!($get, $put, $x, $y; div_ceil);
        let multiple = $x.checked_next_multiple_of($y).unwrap_or_else(|| $x.wrapping_add($y - $x % $y));
        assert_eq!($get("next_multiple_of", &[$put($x), $put($y)]), $put(multiple), "{} {}", $x, $y);
        assert_eq!($get("is_multiple_of", &[$put($x), $put($y)]), Scalar::bool($x.is_multiple_of($y)), "{} {}", $x, $y);
        assert_eq!($get("is_multiple_of", &[$put($x), $put(0)]), Scalar::bool($x == 0), "{}", $x);
    };
}

fn edges(ty: Type) -> Vec<i128> {
    let top = ty.bits() - 1;
    let mut values = vec![0, 1, 2, 3, 5, 7, 10, 63, 64, 100, 127, 128, 255, 256, 32767, 46340, 46341, 65535, 0x7fff_ffff, 0xffff_ffff];
    values.extend([1 << 52, (1 << 53) + 1, (1 << 62) - 1, -1, -2, -3, -7, -128, -32768]);
    values.extend([1 << top, (1 << top) - 1, (1 << top) + 1, 1 << (top - 1), 3 << (top - 2)]);
    values
}

/// The high half of a product; of two `u64` it needs all 128 bits.
fn high_product(x: i128, y: i128, ty: Type) -> i128 {
    if ty == Type::U64 { ((x as u128 * y as u128) >> 64) as i128 } else { (x * y) >> ty.bits() }
}

check_int! {
    i8_methods_are_rusts: i8 I8 signed;
    i16_methods_are_rusts: i16 I16 signed;
    i32_methods_are_rusts: i32 I32 signed;
    i64_methods_are_rusts: i64 I64 signed;
    u8_methods_are_rusts: u8 U8 unsigned;
    u16_methods_are_rusts: u16 U16 unsigned;
    u32_methods_are_rusts: u32 U32 unsigned;
    u64_methods_are_rusts: u64 U64 unsigned;
}

#[test]
fn distances_of_bytes_are_added_up() {
    let sad4 = |a: u32, b: u32, sum: u32| {
        let args = [a, b, sum].map(Scalar::u32);
        run(find("sad4", Type::U32), Type::U32, &args, Math::Precise)[0]
    };
    assert_eq!(sad4(0, 0, 5), Scalar::u32(5));
    assert_eq!(sad4(0x00ff_0a03, 0xff00_0b01, 1_000), Scalar::u32(1_000 + 255 + 255 + 1 + 2));
    assert_eq!(sad4(u32::MAX, 0, u32::MAX), Scalar::u32(4 * 255 - 1));
}

macro_rules! check_float {
    ($($test:ident: $t:ident $ty:ident;)*) => {$(
        #[test]
        fn $test() {
            let ty = Type::$ty;
            let put = |x: $t| Scalar::float(ty, f64::from(x));
            let get = |name: &str, args: &[Scalar]| run(find(name, ty), ty, args, Math::Precise)[0];
            let values: [f64; 21] = [0.0, 0.25, 0.5, 0.49999997, 0.49999999999999994, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.5, 1e-40, 8388607.5, 8388609.0,
                16777217.0, 4503599627370495.5, 1e30, 3.4e38, f64::INFINITY, f64::NAN];
            let values: Vec<$t> = values.iter().flat_map(|v| [*v as $t, -*v as $t]).collect();
            for &x in &values {
                check_methods!(get, put, x; abs floor ceil trunc round round_ties_even sqrt fract recip signum to_radians to_degrees);
                check_questions!(get, put, x; is_nan is_finite is_infinite is_sign_negative is_sign_positive);
                assert_eq!(get("to_bits", &[put(x)]).bits, u64::from(x.to_bits()));
                let bits = Scalar::new(ty.to_unsigned(), u64::from(x.to_bits()));
                assert!(same(get("from_bits", &[bits]), put(x)));
                for n in [0, 1, 2, 3, 5, -1, -2, -7, i32::MAX, i32::MIN] {
                    let found = get("powi", &[put(x), Scalar::int(Type::I32, i128::from(n))]);
                    assert!(same(found, put(x.powi(n))), "{x}^{n}: {found}, Rust {}", x.powi(n));
                }
                for &y in &values {
                    check_methods!(get, put, x, y; copysign rem_euclid div_euclid);
                    // Rust leaves the sign open where zeros differ in it.
                    if x != y {
                        check_methods!(get, put, x, y; min max);
                    }
                    if x <= y {
                        assert_eq!(get("clamp", &[put(0.75), put(x), put(y)]), put((0.75 as $t).clamp(x, y)));
                        assert!(same(get("clamp", &[put($t::NAN), put(x), put(y)]), put($t::NAN)));
                    }
                }
            }
        }
    )*};
}

check_float! {
    f32_methods_are_rusts: f32 F32;
    f64_methods_are_rusts: f64 F64;
}

#[test]
fn fast_forms_are_close() {
    let close = |name: &str, args: &[f32], expected: f32, bound: f32| {
        let scalars: Vec<_> = args.iter().map(|x| Scalar::float(Type::F32, f64::from(*x))).collect();
        let found = run(find(name, Type::F32), Type::F32, &scalars, Math::Fast)[0].as_f64() as f32;
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error <= bound || found == expected, "fast {name}({args:?}): {found}, not {expected}");
    };
    for n in -60..=60 {
        let x = n as f32 / 20.0;
        close("sin", &[x], x.sin(), 1e-6);
        close("tan", &[x], x.tan(), 1e-5);
        close("atan", &[x], x.atan(), 1e-6);
        close("sinh", &[x], x.sinh(), 2e-6);
        close("cosh", &[x], x.cosh(), 2e-6);
        close("tanh", &[x], x.tanh(), 2e-6);
        close("exp_m1", &[x], x.exp_m1(), 2e-6);
        close("cbrt", &[x], x.cbrt(), 2e-6);
        close("erf", &[x], libm::erff(x), 1e-6);
        close("erfc", &[x], libm::erfcf(x), 1e-6);
        close("recip", &[x + 0.01], 1.0 / (x + 0.01), 1e-6);
        close("asin", &[x / 3.0], (x / 3.0).asin(), 1e-6);
        close("acos", &[x / 3.0], (x / 3.0).acos(), 1e-6);
        close("ln_1p", &[x / 4.0], (x / 4.0).ln_1p(), 1e-6);
        for m in -6..=6 {
            let y = m as f32 / 2.0;
            close("atan2", &[x, y], x.atan2(y), 1e-6);
            close("hypot", &[x, y], x.hypot(y), 1e-6);
            close("powf", &[x.abs() + 0.1, y], (x.abs() + 0.1).powf(y), 5e-6);
        }
    }
    // Small arguments keep their relative precision.
    for (name, x) in [("sinh", 1e-6f32), ("exp_m1", 1e-6), ("ln_1p", 1e-6), ("asin", 1e-6), ("atan", 1e-6)] {
        let scalar = Scalar::float(Type::F32, f64::from(x));
        let found = run(find(name, Type::F32), Type::F32, &[scalar], Math::Fast)[0].as_f64();
        assert!((found / f64::from(x) - 1.0).abs() < 1e-5, "fast {name}({x}): {found}");
    }
}

/// A slip in the cell, not the accuracy, which other tests judge.
#[test]
fn fast_forms_compute_the_same() {
    for row in rows().filter(|row| row.fast.is_some()) {
        let args: Vec<_> = [0.3, 0.7].iter().take(row.args.len()).map(|x| Scalar::float(Type::F32, *x)).collect();
        let [fast, precise] = [Math::Fast, Math::Precise].map(|math| run(row, Type::F32, &args, math)[0].as_f64());
        assert!((fast - precise).abs() < 1e-5 * precise.abs().max(1.0), "`{}` of {args:?}: {fast}, not {precise}", row.name);
    }
}

/// A constant is what the row gives where nothing wraps.
#[test]
fn constants_are_what_rows_compute() {
    for row in rows() {
        let numbers = [1, 2, 3, 7, 12, 100];
        let pairs = numbers.iter().flat_map(|a| numbers.iter().map(|b| [*a, *b, 200]));
        for all in pairs.filter(|all| row.args.len() < 3 || all[1] <= all[2]) {
            let numbers = &all[..row.args.len()];
            let ty = if row.over.contains(Type::I64) { Type::I64 } else { Type::U64 };
            match row.constant {
                None => {}
                Some(ConstantForm::Exact(of)) => {
                    let kernel = Kernel::new("k", KernelOptions::default());
                    let typed =
                        row.args.iter().zip(numbers).map(|(operand, n)| Scalar::int(Intrinsic::operand_type(*operand, ty, &kernel), *n));
                    let exact = of(numbers).expect("it has a value");
                    let found = run(row, ty, &typed.collect::<Vec<_>>(), Math::Precise)[0];
                    // A power may be beyond the type: then it is refused.
                    if i64::try_from(exact).is_ok() {
                        assert_eq!(i128::from(found.bits), exact, "`{}` of {numbers:?}", row.name);
                    }
                }
                Some(ConstantForm::OfScalars(of)) => {
                    for ty in [Type::F16, Type::BF16, Type::F32, Type::F64].into_iter().filter(|ty| row.over.contains(*ty)) {
                        let kernel = Kernel::new("k", KernelOptions::default());
                        let number = |n: i128| Scalar::float(ty, 5.0 - n as f64).bits;
                        let typed = |(operand, n): (_, &i128)| Scalar::new(Intrinsic::operand_type(operand, ty, &kernel), number(*n));
                        let args: Vec<_> = row.args.iter().copied().zip(numbers).map(typed).collect();
                        assert_eq!(of(&args), Some(run(row, ty, &args, Math::Precise)[0]), "`{}` of {args:?}", row.name);
                    }
                }
            }
        }
    }
}

/// Two rows that one function of the library computes name each other, and one result each.
#[test]
fn rows_that_are_computed_together_are_pairs() {
    for row in rows() {
        let Some(together) = row.together else { continue };
        let other = find(together.with, Type::F32).together.expect("it names this one");
        assert_eq!((other.with, other.function, other.result), (row.name, together.function, 1 - together.result));
    }
}

#[test]
fn short_floats_go_through_f32() {
    let x = Scalar::float(Type::F16, 0.75);
    assert_eq!(
        run(find("sin", Type::F16), Type::F16, &[x], Math::Precise)[0],
        Scalar::float(Type::F16, f64::from(crate::math::f32::sin(0.75)))
    );
    let x = Scalar::float(Type::BF16, 2.5);
    assert_eq!(run(find("round", Type::BF16), Type::BF16, &[x], Math::Precise)[0], Scalar::float(Type::BF16, 3.0));
}

#[test]
fn warp_rows_move_values_between_lanes() {
    let number: [u64; 32] = std::array::from_fn(|lane| lane as u64);
    let eval = |name: &str, args: &[[u64; 32]], mask: u32| match function(name).unwrap().row().device().unwrap().eval {
        Eval::Warp(eval) => eval(Type::U32, args, mask),
        Eval::Shuffle(source) => std::array::from_fn(|lane| args[0][source(lane, args[1][lane] as usize % 32)]),
        _ => panic!("`{name}` is for a warp"),
    };
    let all = u32::MAX;
    assert_eq!(eval("shuffle_xor", &[number, [1; 32]], all)[..4], [1, 0, 3, 2]);
    assert_eq!(eval("shuffle_down", &[number, [30; 32]], all)[..4], [30, 31, 2, 3]);
    assert_eq!(eval("shuffle_up", &[number, [2; 32]], all)[..4], [0, 1, 0, 1]);
    assert_eq!(eval("shuffle", &[number, [33; 32]], all), [1; 32]);
    let odd = std::array::from_fn(|lane| lane as u64 % 2);
    assert_eq!(eval("ballot", &[odd], 0xff)[0], 0xaa);
    assert_eq!(eval("all", &[odd], 0xaa)[0], 1);
    assert_eq!(eval("any", &[odd], 0x55)[0], 0);
    assert_eq!(eval("match_any", &[odd], 0xff)[..2], [0x55, 0xaa]);
}

/// What the simulator does at a row is what passes are told of it.
#[test]
fn effects_are_those_that_the_simulator_gives() {
    for row in rows() {
        let Some(device) = row.device() else { continue };
        let fits = match device.eval {
            Eval::Lane(_) => [Effects::PURE, Effects::OPAQUE].contains(&row.effects),
            Eval::Warp(_) if row.results.is_empty() => row.effects == Effects::barrier(Scope::Warp),
            Eval::Warp(_) | Eval::Shuffle(_) => row.effects == Effects::EXCHANGE,
            Eval::Barrier(_) => [Scope::Block, Scope::Cluster].map(Effects::barrier).contains(&row.effects),
            Eval::Copies(step) => {
                let completes = if step == CopyStep::Await { Completion::Awaits } else { Completion::Now };
                row.effects == Effects { completes, ..Effects::fence(Scope::Block) }
            }
            Eval::Fence(_) => [Scope::Block, Scope::Device, Scope::System].map(Effects::fence).contains(&row.effects),
        };
        assert!(fits, "`{}`: {:?}", row.name, row.effects);
        assert_eq!(row.effects.is_convergent(), row.meeting.is_some(), "`{}` says what threads give each other", row.name);
        let gives_nothing = row.meeting.is_some_and(|meeting| meeting.gives == Gives::Nothing);
        assert_eq!(gives_nothing, row.results.is_empty() && row.meeting.is_some(), "`{}`", row.name);
    }
}
