//! The library of functions (`codegen/src/math`), held to what its rows promise. On the processor, for which rustc compiles the same text, its errors
//! are measured: those of `f32` against the `f64` functions of std, those of `f64` against a table of results to 106 bits (`math/doubles.txt`, made by
//! mpmath). Special cases are std's. As PTX is given it, in the IR, it must give the same bits on the simulator.

use std::fmt::Write;
use warpwright_codegen::ir::intrinsic::Intrinsic;
use warpwright_codegen::ir::{Kernel, Op, Region, Type};
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::{intrinsics, passes};
use warpwright_runtime::sim::{SimArgument, SimLaunch, SimProgram};
use warpwright_tests::random::Random;

#[path = "math/approximate.rs"]
mod approximate;
#[path = "math/cuda.rs"]
mod cuda;
#[path = "math/devices.rs"]
mod devices;
#[path = "math/roots.rs"]
mod roots;
#[path = "math/surroundings.rs"]
mod surroundings;

/// A function as the library has it, and as std has it; of functions of one argument the second one does not matter.
struct Case<T> {
    name: &'static str,
    arguments: usize,
    /// The greatest error that the row promises, ulp.
    bound: f64,
    library: fn(T, T) -> T,
    std: fn(T, T) -> T,
    /// In `f64`.
    wide: fn(f64, f64) -> f64,
}

/// The cases of a type. `erf` and `erfc` are not in std.
macro_rules! cases {
    ($t:ident, $erf:path, $erfc:path; $($one:ident $one_bound:literal),*; $($two:ident $two_bound:literal),*; $erf_bound:literal $erfc_bound:literal) => {
        pub(crate) const CASES: &[$crate::Case<$t>] = &[
            $($crate::Case {
                name: stringify!($one),
                arguments: 1,
                bound: $one_bound,
                library: |x, _| library::$one(x),
                std: |x, _| x.$one(),
                wide: |x, _| x.$one(),
            },)*
            $($crate::Case {
                name: stringify!($two),
                arguments: 2,
                bound: $two_bound,
                library: |x, y| library::$two(x, y),
                std: |x, y| x.$two(y),
                wide: |x, y| x.$two(y),
            },)*
            $crate::Case {
                name: "erf",
                arguments: 1,
                bound: $erf_bound,
                library: |x, _| library::erf(x),
                std: |x, _| $erf(x),
                wide: |x, _| libm::erf(x),
            },
            $crate::Case {
                name: "erfc",
                arguments: 1,
                bound: $erfc_bound,
                library: |x, _| library::erfc(x),
                std: |x, _| $erfc(x),
                wide: |x, _| libm::erfc(x),
            },
        ];
    };
}

mod singles {
    pub(crate) use warpwright_codegen::math::f32 as library;

    cases! {
        f32, libm::erff, libm::erfcf;
        sin 2.0, cos 2.0, tan 4.0, asin 2.0, acos 2.0, atan 2.0, sinh 3.0, cosh 2.0, tanh 2.0, exp 2.0, exp2 2.0, exp_m1 1.0, ln 1.0, log2 1.0,
            log10 2.0, ln_1p 1.0, cbrt 1.0;
        atan2 3.0, powf 4.0, hypot 3.0;
        2.0 4.0
    }
}

mod doubles {
    pub(crate) use warpwright_codegen::math::f64 as library;

    cases! {
        f64, libm::erf, libm::erfc;
        sin 2.0, cos 2.0, tan 2.0, asin 2.0, acos 2.0, atan 2.0, sinh 2.0, cosh 1.0, tanh 1.0, exp 1.0, exp2 1.0, exp_m1 1.0, ln 1.0, log2 1.0,
            log10 1.0, ln_1p 1.0, cbrt 1.0;
        atan2 2.0, powf 2.0, hypot 2.0;
        2.0 5.0
    }
}

#[test]
fn rows_promise_what_is_tested() {
    for (single, double) in singles::CASES.iter().zip(doubles::CASES) {
        assert_eq!(single.name, double.name);
        let row = intrinsics::method(single.name, Type::F32).expect("the table has it").row();
        let promise = format!("{} ulp, f64 {} (PTX)", single.bound, double.bound);
        assert!(row.accuracy.starts_with(&promise), "`{}` promises {}, and {promise} is tested", row.name, row.accuracy);
    }
    let of_the_library = |row: &&Intrinsic| row.is_of_the_library();
    assert_eq!(intrinsics::rows().filter(of_the_library).count(), singles::CASES.len(), "every function of the library is tested");
}

/// What a reader of the documentation is promised is what the table promises.
#[test]
fn the_docs_of_each_function_say_its_error() {
    let (methods, functions) =
        (include_str!("../../runtime/src/prelude/numeric/float.rs"), include_str!("../../runtime/src/prelude/native.rs"));
    let doc_above = |text: &str, start: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.trim_start().starts_with(start)).unwrap_or_else(|| panic!("no line begins {start}"));
        let has_doc = |line: &&&str| line.trim_start().starts_with("///") || line.trim_start().starts_with("#[");
        lines[..at].iter().rev().take_while(has_doc).copied().collect::<Vec<_>>().join("\n")
    };
    for (single, double) in singles::CASES.iter().zip(doubles::CASES) {
        let (doc, promise) =
            (doc_above(methods, &format!("fn {}(", single.name)), format!(": {} ulp, `f64` {}.", single.bound, double.bound));
        assert!(doc.contains(&promise), "`{}` says {doc}, the table {promise}", single.name);
    }
    let natives = intrinsics::rows().filter(|row| row.name.starts_with("native_") && row.over.contains(Type::F32));
    for row in natives {
        let promise = row.accuracy.split(" (").next().expect("a promise");
        let made = functions.lines().find(|line| line.contains(&format!(" {} = ", row.name))).map(str::to_owned);
        let doc = made.unwrap_or_else(|| doc_above(functions, &format!("pub fn {}<", row.name)));
        assert!(!promise.is_empty() && doc.contains(promise), "`{}` says {doc}, the table {promise}", row.name);
    }
}

/// Arguments of every size: one of each stretch of bit patterns, and as many about where functions do something.
fn single_arguments(count: u32, seed: u64) -> impl Iterator<Item = f32> {
    let mut random = Random::new(seed);
    let all = (0..count).map(move |n| f32::from_bits(n.wrapping_mul(u32::MAX / count)));
    let near = (0..count).map(move |n| {
        let scale = [1.0, 0.1, 2.0, 10.0, 100.0, 1000.0][n as usize % 6];
        let offset = [0.0, 1.0][n as usize / 6 % 2];
        random.float() * scale + offset
    });
    all.chain(near)
}

/// A second argument for each: what gives neither 0 nor infinity all the time.
fn partner(x: f32, random: &mut Random) -> f32 {
    match random.next() % 4 {
        0 => f32::from_bits(random.next() as u32),
        1 => x * (1.0 + random.float() * 1e-3),
        // What x to this power is finite for.
        2 => random.float() * 88.0 / x.abs().ln().abs().max(1e-3),
        _ => random.float() * 10.0,
    }
}

/// The distance of an `f32` to a more exact result, in units of the last place of an `f32` of its size.
fn error_of_single(found: f32, exact: f64) -> f64 {
    // Beyond the largest is infinite; what is next to it may be either.
    let limit = f64::from(f32::MAX) * (1.0 + f64::from(f32::EPSILON));
    if found.is_nan() || exact.is_nan() {
        return if found.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let (found, exact) = (f64::from(found).clamp(-limit, limit), exact.clamp(-limit, limit));
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    (found - exact).abs() / 2f64.powi(exponent.max(-126) - 23)
}

#[test]
fn errors_of_singles_are_within_bounds() {
    let mut random = Random::new(7);
    let mut lines = String::new();
    for case in singles::CASES {
        let (mut worst, mut at) = (0.0, (0.0, 0.0));
        for x in single_arguments(40_000, 3) {
            let y = partner(x, &mut random);
            let error = error_of_single((case.library)(x, y), (case.wide)(f64::from(x), f64::from(y)));
            if error > worst {
                (worst, at) = (error, (x, y));
            }
        }
        assert!(worst <= case.bound, "{}({:?}): {worst} ulp, where {} are promised", case.name, at, case.bound);
        let _ = write!(lines, "{} {worst:.2}, ", case.name);
    }
    println!("ran: errors_of_singles ({} functions on f64); ulp: {}", singles::CASES.len(), lines.trim_end_matches(", "));
}

/// A result to 106 bits.
struct Exact {
    name: &'static str,
    arguments: [f64; 2],
    /// The nearest `f64`, and what it lacks.
    result: [f64; 2],
}

fn exact_results() -> impl Iterator<Item = Exact> {
    include_str!("math/doubles.txt").lines().map(|line| {
        let mut words = line.split(' ');
        let name = words.next().expect("a name");
        let numbers: Vec<f64> = words.map(|word| f64::from_bits(u64::from_str_radix(word, 16).expect("bits"))).collect();
        let (arguments, result) = numbers.split_at(numbers.len() - 2);
        Exact { name, arguments: [arguments[0], *arguments.last().expect("an argument")], result: [result[0], result[1]] }
    })
}

#[test]
fn errors_of_doubles_are_within_bounds() {
    let (mut complaints, mut lines, mut count) = (String::new(), String::new(), 0);
    for case in doubles::CASES {
        let mut worst = 0.0f64;
        for Exact { arguments: [x, y], result: [high, low], .. } in exact_results().filter(|exact| exact.name == case.name) {
            let found = (case.library)(x, y);
            // The difference of two neighbours is exact.
            let error = ((found - high) - low).abs() / (high.abs().next_up() - high.abs());
            if error.is_nan() || error > case.bound {
                let _ =
                    writeln!(complaints, "{}({x:e}, {y:e}) = {found:e}, {error:.3} ulp from {high:e}: {} promised", case.name, case.bound);
            }
            worst = worst.max(error);
            count += 1;
        }
        assert!(worst > 0.0, "{} was not tried", case.name);
        let _ = write!(lines, "{} {worst:.2}, ", case.name);
    }
    assert!(complaints.is_empty(), "{complaints}");
    println!("ran: errors_of_doubles ({count} results on mpmath); ulp: {}", lines.trim_end_matches(", "));
}

/// Doubles of every size, against std's, which are within an ulp or two of the truth themselves.
#[test]
fn doubles_are_near_std() {
    let mut random = Random::new(11);
    for case in doubles::CASES {
        for n in 0..20_000u64 {
            let x = if n % 2 == 0 {
                f64::from_bits(random.next())
            } else {
                f64::from(random.float()) * [1.0, 3.0, 30.0, 700.0][n as usize / 2 % 4]
            };
            let y = f64::from(partner(x as f32, &mut random));
            let (found, std) = ((case.library)(x, y), (case.std)(x, y));
            let ulp = std.abs().next_up() - std.abs();
            let is_near = found == std || found.is_nan() && std.is_nan() || (found - std).abs() <= (case.bound + 1.5) * ulp;
            assert!(is_near, "{}({x:e}, {y:e}) = {found:e}, std {std:e}", case.name);
        }
    }
}

/// Zeros, infinities, NaN, whole numbers, the ends of the range: what the functions give there is fixed.
macro_rules! special_cases {
    ($test:ident, $module:ident, $t:ty) => {
        #[test]
        fn $test() {
            let least = <$t>::from_bits(1);
            let values = [0.0, least, <$t>::MIN_POSITIVE, 1.0, 2.0, 3.0, 0.5, <$t>::MAX, <$t>::INFINITY];
            let values: Vec<$t> = values.iter().flat_map(|value| [*value, -*value]).chain([<$t>::NAN]).collect();
            let (mut complaints, mut count) = (String::new(), 0);
            for case in $module::CASES {
                for &x in &values {
                    for &y in &values[..if case.arguments == 1 { 1 } else { values.len() }] {
                        let (found, std) = ((case.library)(x, y), (case.std)(x, y));
                        // What is exact in std's is exact in ours; the rest is judged by its error.
                        let is_fixed = std == 0.0 || std.is_infinite() || std.is_nan() || std == 1.0;
                        let is_same = found.to_bits() == std.to_bits() || found.is_nan() && std.is_nan();
                        if is_fixed && !is_same {
                            let _ = writeln!(complaints, "{}({x:e}, {y:e}) = {found:e}, not {std:e}", case.name);
                        }
                        count += 1;
                    }
                }
            }
            assert!(complaints.is_empty(), "{complaints}");
            println!("ran: {} ({count} results on std)", stringify!($test));
        }
    };
}

special_cases!(special_cases_of_singles, singles, f32);
special_cases!(special_cases_of_doubles, doubles, f64);

#[test]
fn sine_and_cosine_at_once_are_those_one_by_one() {
    for x in single_arguments(10_000, 5) {
        let (sine, cosine) = singles::library::sin_cos(x);
        let expected = (singles::library::sin(x), singles::library::cos(x));
        assert!(
            x.is_infinite() || x.is_nan() || (sine.to_bits(), cosine.to_bits()) == (expected.0.to_bits(), expected.1.to_bits()),
            "{x:e}"
        );
        let x = f64::from(x) * 1.000_000_001;
        let (sine, cosine) = doubles::library::sin_cos(x);
        let expected = (doubles::library::sin(x), doubles::library::cos(x));
        assert!(
            x.is_infinite() || x.is_nan() || (sine.to_bits(), cosine.to_bits()) == (expected.0.to_bits(), expected.1.to_bits()),
            "{x:e}"
        );
    }
}

/// The kernel whose threads do `body` for an element, with the library in place, as PTX would be given it.
fn expanded(body: &str, ty: Type, index: u32) -> Kernel {
    let text = format!(
        "#[kernel(index = {index})] fn k(x: &Global<{ty}>, y: &Global<{ty}>, r: &mut Global<{ty}>) {{
            let i = global_id().x;
            if i < x.len() {{ {body} }}
        }}"
    );
    let lowered = compile_text("k.rs", &text, "k", &Instance::default()).unwrap_or_else(|found| panic!("{body}: {found:?}"));
    let mut kernel = Kernel::clone(lowered.kernel.legal());
    passes::library(&mut kernel);
    let left = kernel.insts.values().any(|inst| matches!(inst.op, Op::Intrinsic(row, _) if row.row().is_of_the_library()));
    let mut reached = false;
    kernel.for_each_inst(|kernel, _, inst| {
        reached |= matches!(kernel.insts[inst].op, Op::Intrinsic(row, _) if row.row().is_of_the_library());
    });
    assert!(left && !reached, "{body} is expanded");
    kernel
}

/// What docs/math.md says of branches: 32 lanes go through a function together.
#[test]
fn functions_that_branch_are_those_of_the_docs() {
    let branching = |ty: Type, name: &str, arguments: usize| {
        let call = if arguments == 1 { "" } else { "y[i]" };
        let mut ifs = 0;
        expanded(&format!("r[i] = x[i].{name}({call});"), ty, 32).for_each_inst(|kernel, _, inst| {
            assert!(!matches!(kernel.insts[inst].op, Op::Region(Region::For { .. } | Region::Loop { .. })), "`{name}` loops");
            ifs += usize::from(matches!(kernel.insts[inst].op, Op::Region(Region::If { .. })));
        });
        // One is the kernel's own.
        ifs > 1
    };
    let singles = singles::CASES.iter().filter(|case| branching(Type::F32, case.name, case.arguments)).map(|case| case.name);
    assert_eq!(singles.collect::<Vec<_>>(), ["sin", "cos", "tan", "asin", "acos", "atan"]);
    let doubles = doubles::CASES.iter().filter(|case| branching(Type::F64, case.name, case.arguments)).map(|case| case.name);
    assert_eq!(doubles.collect::<Vec<_>>(), ["sin", "cos", "tan", "asin", "acos"]);
}

/// Bytes of the results of `body` for each element, on the simulator.
fn simulate(body: &str, ty: Type, index: u32, x: &mut [u8], y: &mut [u8], count: usize) -> Vec<u8> {
    let kernel = expanded(body, ty, index);
    let program = SimProgram::compile(&kernel).expect("the simulator takes it");
    let bytes = x.len() / count;
    let mut results = vec![0; 2 * count * bytes];
    let mut arguments =
        [SimArgument::GlobalReadOnly { bytes: x }, SimArgument::GlobalReadOnly { bytes: y }, SimArgument::Global { bytes: &mut results }];
    let launch = SimLaunch { grid: [count.div_ceil(128) as u32, 1, 1], block: [128, 1, 1], shared_bytes: 0 };
    program.run(&launch, &mut arguments).unwrap_or_else(|error| panic!("{body}: {error}"));
    results
}

macro_rules! as_in_the_ir {
    ($test:ident, $module:ident, $t:ident, $ty:ident, $bytes:literal) => {
        #[test]
        fn $test() {
            let mut random = Random::new(13);
            let special = [-0.0, $t::INFINITY, -$t::INFINITY, $t::NAN, $t::MAX, $t::MIN_POSITIVE / 8.0];
            let xs: Vec<$t> = single_arguments(1000, 17).map($t::from).chain(special).collect();
            let ys: Vec<$t> = xs.iter().map(|x| $t::from(partner(*x as f32, &mut random))).collect();
            let bytes = |values: &[$t]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
            let read =
                |bytes: &[u8]| bytes.chunks_exact($bytes).map(|b| $t::from_le_bytes(b.try_into().expect("whole"))).collect::<Vec<_>>();
            let same = |a: $t, b: $t| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            for case in $module::CASES {
                for index in [32, 64] {
                    let call = if case.arguments == 1 { "" } else { "y[i]" };
                    let body = format!("r[i] = x[i].{}({call});", case.name);
                    let found = read(&simulate(&body, Type::$ty, index, &mut bytes(&xs), &mut bytes(&ys), xs.len()));
                    for ((x, y), found) in xs.iter().zip(&ys).zip(found) {
                        let expected = (case.library)(*x, *y);
                        assert!(same(found, expected), "{}({x:e}, {y:e}) is {found:e} in the IR, {expected:e} by rustc", case.name);
                    }
                }
            }
            let body = "let (s, c) = x[i].sin_cos(); r[i] = c; r[i + x.len()] = s;";
            let found = read(&simulate(body, Type::$ty, 32, &mut bytes(&xs), &mut bytes(&ys), xs.len()));
            for (n, x) in xs.iter().enumerate() {
                let (sine, cosine) = $module::library::sin_cos(*x);
                assert!(same(found[n], cosine) && same(found[n + xs.len()], sine), "sin_cos({x:e})");
            }
            println!("ran: {} ({} functions on the simulator)", stringify!($test), $module::CASES.len() + 1);
        }
    };
}

as_in_the_ir!(singles_are_the_same_in_the_ir, singles, f32, F32, 4);
as_in_the_ir!(doubles_are_the_same_in_the_ir, doubles, f64, F64, 8);
