//! Every function with a bound, on every device there is: special values and thousands of random ones, held to std's functions of more bits or to the table of results.

use super::approximate::{self, NAMES, OF_ONE, allowed, is_promised};
use super::{Exact, doubles, error_of_single, exact_results, partner, single_arguments, singles};
use std::collections::BTreeSet;
use warpwright::prelude::*;
use warpwright::{DeviceKind, Float};
use warpwright_codegen::intrinsics;
use warpwright_codegen::ir::Type;
use warpwright_codegen::ir::intrinsic::{Call, Intrinsic};
use warpwright_tests::devices::on_all;
use warpwright_tests::opencl_tools::{INTEL, again_on_intel};
use warpwright_tests::ptx_interpreter::executed;
use warpwright_tests::random::Random;

/// The library's functions, and `rsqrt`.
const FUNCTIONS: [&str; 23] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2", "exp_m1", "ln", "log2", "log10", "ln_1p", "cbrt",
    "atan2", "powf", "hypot", "erf", "erfc", "rsqrt",
];

#[kernel(block = 64)]
fn precise<T: Float>(x: &Global<T>, y: &Global<T>, r: &mut Global<T>) {
    let i = global_id().x;
    if i < x.len() {
        let (a, b) = (x[i], y[i]);
        let all = [
            a.sin(),
            a.cos(),
            a.tan(),
            a.asin(),
            a.acos(),
            a.atan(),
            a.sinh(),
            a.cosh(),
            a.tanh(),
            a.exp(),
            a.exp2(),
            a.exp_m1(),
            a.ln(),
            a.log2(),
            a.log10(),
            a.ln_1p(),
            a.cbrt(),
            a.atan2(b),
            a.powf(b),
            a.hypot(b),
            a.erf(),
            a.erfc(),
            a.rsqrt(),
        ];
        for k in 0..23 {
            r[i * 23 + k] = all[k];
        }
    }
}

/// What row `name` promises of a type on a device, ulp. The host twin calls std's functions, which are held to the tighter of the two bounds for `f32`.
pub(crate) fn bound(name: &str, ty: Type, device: &Device) -> f64 {
    let is_opencl = device.kind() == DeviceKind::OpenCl;
    if name == "rsqrt" {
        return if ty == Type::F64 && !is_opencl { 1.5 } else { 2.0 };
    }
    let row = intrinsics::method(name, Type::F32).expect("the table has it").row();
    // `2 ulp, f64 1 (PTX); 3 ulp (OpenCL)`
    let figures: Vec<f64> = row.accuracy.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let [single, double, opencl] = figures[..] else { panic!("`{name}` promises {}", row.accuracy) };
    match ty {
        _ if is_opencl => opencl,
        Type::F64 => double,
        _ => single,
    }
}

/// Zeros, subnormals, whole numbers, both ends of the range, infinities, NaN, and where functions change their ways: of both signs.
fn special() -> Vec<f32> {
    let values = [
        0.0,
        1e-45,
        1e-40,
        f32::MIN_POSITIVE,
        1e-20,
        0.25,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        3.0,
        10.0,
        87.0,
        88.5,
        100.0,
        127.5,
        1e4,
        1e10,
        f32::MAX,
        f32::INFINITY,
    ];
    values.iter().flat_map(|value| [*value, -*value]).chain([f32::NAN]).collect()
}

/// Every pair of special values; then arguments of every size, each with a partner.
fn pairs() -> (Vec<f32>, Vec<f32>) {
    let special = special();
    let mut random = Random::new(31);
    let met = special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y)));
    let drawn: Vec<f32> = single_arguments(1500, 37).collect();
    met.chain(drawn.into_iter().map(|x| (x, partner(x, &mut random)))).unzip()
}

fn results<T: Float + Element>(device: &Device, x: &[T], y: &[T]) -> Vec<T> {
    let (a, b) = (device.upload(x).expect("memory"), device.upload(y).expect("memory"));
    let mut r = device.zeros::<T>(x.len() * FUNCTIONS.len()).expect("memory");
    precise::<T>(&a, &b, &mut r).cover(x.len()).launch(device).unwrap_or_else(|error| panic!("{error}"));
    r.download().expect("memory")
}

/// A function in `f64`, by its name.
fn wide(name: &str) -> impl Fn(f64, f64) -> f64 + use<> {
    let of_table = singles::CASES.iter().find(|case| case.name == name).map(|case| case.wide);
    move |x, y| of_table.map_or(1.0 / x.sqrt(), |of_table| of_table(x, y))
}

/// What is wrong, or nothing: the first few, and how many.
fn none(device: &Device, complaints: &[String]) {
    assert!(complaints.is_empty(), "{} on {}:\n{}", complaints.len(), device.name(), complaints[..complaints.len().min(20)].join("\n"));
}

#[test]
fn singles_are_within_bounds() {
    let (x, y) = pairs();
    on_all("math of f32", |device| {
        let found = results::<f32>(device, &x, &y);
        let mut complaints = Vec::new();
        for (f, name) in FUNCTIONS.iter().enumerate() {
            let (wide, bound) = (wide(name), bound(name, Type::F32, device));
            for (i, (x, y)) in x.iter().zip(&y).enumerate() {
                let (found, exact) = (found[i * FUNCTIONS.len() + f], wide(f64::from(*x), f64::from(*y)));
                let error = error_of_single(found, exact);
                let is_other_zero = exact == 0.0 && found.to_bits() != (exact as f32).to_bits();
                if error > bound || is_other_zero {
                    complaints.push(format!("{name}({x:e}, {y:e}) = {found:e}, not {exact:e}: {error:.2} ulp, {bound} promised"));
                }
            }
        }
        none(device, &complaints);
    });
}

#[test]
fn doubles_are_within_bounds() {
    let table: Vec<Exact> = exact_results().collect();
    let special: Vec<f64> = [0.0, 5e-324, f64::MIN_POSITIVE, 0.5, 1.0, 2.0, 3.0, f64::MAX, f64::INFINITY]
        .iter()
        .flat_map(|value| [*value, -*value])
        .chain([f64::NAN])
        .collect();
    let met: Vec<(f64, f64)> = special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y))).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = table.iter().map(|exact| exact.arguments.into()).chain(met.iter().copied()).unzip();
    on_all("math of f64", |device| {
        let found = results::<f64>(device, &x, &y);
        let at = |i: usize, name: &str| found[i * FUNCTIONS.len() + FUNCTIONS.iter().position(|other| *other == name).expect("a function")];
        let mut complaints = Vec::new();
        for (i, Exact { name, arguments: [x, y], result: [high, low] }) in table.iter().enumerate() {
            let found = at(i, name);
            if device.kind() == DeviceKind::Host {
                // It is std's result, whatever its error: the C library's, which a platform may have several of.
                let case = doubles::CASES.iter().find(|case| case.name == *name).expect("a case");
                let std = (case.std)(*x, *y);
                if found.to_bits() != std.to_bits() {
                    complaints.push(format!("{name}({x:e}, {y:e}) = {found:e}, std has {std:e}"));
                }
                continue;
            }
            let bound = bound(name, Type::F64, device);
            let error = ((found - high) - low).abs() / (high.abs().next_up() - high.abs());
            if error.is_nan() || error > bound {
                complaints.push(format!("{name}({x:e}, {y:e}) = {found:e}, {error:.2} ulp from {high:e}: {bound} promised"));
            }
        }
        // What std has exactly is the same everywhere; but that OpenCL's bounds hold for a 1 that is rounded, too.
        let is_opencl = device.kind() == DeviceKind::OpenCl;
        for case in doubles::CASES {
            for (i, (x, y)) in met.iter().enumerate() {
                let (found, std) = (at(table.len() + i, case.name), (case.std)(*x, *y));
                let is_near_one = is_opencl && std == 1.0 && (found - 1.0).abs() <= bound(case.name, Type::F64, device) * f64::EPSILON;
                let is_fixed = std == 0.0 || std.is_infinite() || std.is_nan() || std == 1.0 && !is_near_one;
                if is_fixed && found.to_bits() != std.to_bits() && !(found.is_nan() && std.is_nan()) {
                    complaints.push(format!("{}({x:e}, {y:e}) = {found:e}, not {std:e}", case.name));
                }
            }
        }
        for (i, x) in x.iter().enumerate().filter(|(_, x)| x.is_normal() && **x > 0.0) {
            let (found, bound) = (at(i, "rsqrt"), bound("rsqrt", Type::F64, device));
            let error = error_of_root(*x, found);
            if error.is_nan() || error > bound {
                complaints.push(format!("rsqrt({x:e}) = {found:e}: {error:.2} ulp, {bound} promised"));
            }
        }
        none(device, &complaints);
    });
}

/// What `found` lacks of 1 / √x, ulp: of r² x - 1, twice the relative error, without rounding what matters.
fn error_of_root(x: f64, found: f64) -> f64 {
    // By an even power of two to between 1 and 4, where no product leaves the range.
    let exponent = ((x.to_bits() >> 52) as i32 - 1023).div_euclid(2);
    let half = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
    let (x, r) = (x / half / half, found * half);
    let square = r * r;
    let square_rest = r.mul_add(r, -square);
    let product = square * x;
    let product_rest = square.mul_add(x, -product);
    let off = ((product - 1.0) + product_rest + square_rest * x) / 2.0;
    (off * r).abs() / (r.next_up() - r)
}

/// Of floats of 16 bits the result of `f32` is rounded: half a unit of theirs is added to the bound.
macro_rules! short_floats {
    ($test:ident, $t:ident, $digits:literal, $least:literal, $greatest:expr) => {
        #[test]
        fn $test() {
            let bits = (0..=u16::MAX).filter(|bits| bits % 29 == 0 || bits & 0xff == 0);
            let x: Vec<$t> = bits.map($t::from_bits).collect();
            let y: Vec<$t> = (0..x.len()).map(|i| x[(i * 7 + 3) % x.len()]).collect();
            on_all(concat!("math of ", stringify!($t)), |device| {
                let found = results::<$t>(device, &x, &y);
                let mut complaints = Vec::new();
                for (f, name) in FUNCTIONS.iter().enumerate() {
                    let (wide, bound) = (wide(name), bound(name, Type::F32, device));
                    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
                        let (found, exact) = (found[i * FUNCTIONS.len() + f].to_f64(), wide(x.to_f64(), y.to_f64()));
                        let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
                        let unit = 2f64.powi(exponent.max($least) - $digits);
                        // Beyond the greatest number by half a unit is infinite.
                        let limit = $greatest;
                        let off = (found.clamp(-limit, limit) - exact.clamp(-limit, limit)).abs();
                        let is_near = off <= unit / 2.0 + bound * approximate::ulp(exact);
                        if !(is_near || found.is_nan() && exact.is_nan()) {
                            complaints.push(format!("{name}({x}, {y}) = {found:e}, not {exact:e}: {:.2} ulp", off / unit));
                        }
                    }
                }
                none(device, &complaints);
            });
        }
    };
}

short_floats!(halves_are_within_bounds, f16, 10, -14, 65520.0);
short_floats!(brains_are_within_bounds, bf16, 7, -126, f64::from(f32::MAX) * 0.998_046_9);

/// Row `F` on each pair.
#[kernel(block = 64, math = fast)]
fn approximated<const F: usize>(x: &Global<f32>, y: &Global<f32>, r: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        r[i] = approximate::found::<F>(x[i], y[i]);
    }
}

/// What is wrong with row `F`, and the greatest part of its bound that is used.
fn judged<const F: usize>(device: &Device, x: &[f32], y: &[f32]) -> (Vec<String>, f64) {
    let (a, b) = (device.upload(x).expect("memory"), device.upload(y).expect("memory"));
    let mut r = device.zeros::<f32>(x.len()).expect("memory");
    let launch = approximated::<F>(&a, &b, &mut r).cover(x.len());
    // With the precise function in its place the bound would hold, too.
    let ir = launch.ir().unwrap_or_else(|error| panic!("{error}"));
    if let Some(method) = NAMES[F].strip_prefix("fast_") {
        assert!(!ir.split_whitespace().any(|word| word == method), "`{method}` is precise in {ir}");
    }
    launch.launch(device).unwrap_or_else(|error| panic!("{error}"));
    let (mut complaints, mut most) = (Vec::new(), 0.0f64);
    // The bounds are NVIDIA's. OpenCL leaves those of `native_` functions to the device; less than three digits would be of no use to anybody.
    let least_allowed = if device.kind() == DeviceKind::OpenCl { 1e-3 } else { 0.0 };
    // Next to the largest number is infinite.
    let limit = f64::from(f32::MAX) * (1.0 + f64::from(f32::EPSILON));
    for ((x, y), found) in x.iter().zip(y).zip(r.download().expect("memory")) {
        let (wide_x, wide_y) = (f64::from(*x), f64::from(*y));
        if !is_promised::<F>(wide_x, wide_y) {
            continue;
        }
        let exact = approximate::exact::<F>(wide_x, wide_y);
        let allowed = allowed::<F>(wide_x, wide_y, exact).max(least_allowed * exact.abs().max(1.0));
        let off = (f64::from(found).clamp(-limit, limit) - exact.clamp(-limit, limit)).abs();
        let is_right = if exact.is_nan() { found.is_nan() } else { off <= allowed || off == 0.0 };
        if !is_right {
            complaints.push(format!("{}({x:e}, {y:e}) = {found:e}, not {exact:e}: {:.2} of what is allowed", NAMES[F], off / allowed));
        } else if off > 0.0 {
            most = most.max(off / allowed);
        }
    }
    (complaints, most)
}

#[test]
fn approximations_are_within_bounds() {
    let (x, y) = pairs();
    on_all("approximations", |device| {
        macro_rules! each {
            ($($f:literal)*) => { [$(judged::<$f>(device, &x, &y)),*] };
        }
        let judged = each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25);
        assert!(OF_ONE < judged.len());
        let parts: Vec<String> = NAMES.iter().zip(&judged).map(|(name, (_, most))| format!("{name} {most:.2}")).collect();
        println!("approximations on {}, of what is allowed: {}", device.name(), parts.join(", "));
        let complaints: Vec<String> = judged.into_iter().flat_map(|(complaints, _)| complaints.into_iter().take(3)).collect();
        none(device, &complaints);
    });
}

/// The table's rows and those that are tested are the same.
#[test]
fn every_row_with_a_bound_is_tested() {
    let of_f32 = |prefix: &str| -> BTreeSet<&str> {
        intrinsics::rows().filter(|row| row.name.starts_with(prefix) && row.over.contains(Type::F32)).map(|row| row.name).collect()
    };
    let tested: BTreeSet<&str> = NAMES.into_iter().collect();
    assert_eq!(tested, of_f32("native_").union(&of_f32("fast_")).copied().collect());
    let with_bounds = |row: &&Intrinsic| row.call == Call::Method && row.accuracy.contains("ulp") && row.over.contains(Type::F32);
    let promised: BTreeSet<&str> = intrinsics::rows().filter(with_bounds).map(|row| row.name).collect();
    assert_eq!(FUNCTIONS.into_iter().collect::<BTreeSet<_>>(), promised);
}

#[kernel(block = 64)]
fn approximated_doubles(x: &Global<f64>, y: &mut Global<f64>, z: &mut Global<f64>) {
    let i = global_id().x;
    if i < x.len() {
        y[i] = native_recip(x[i]);
        z[i] = native_rsqrt(x[i]);
    }
}

/// Of `f64` the hardware approximates two functions, to about 2^-20.
#[test]
fn approximations_of_doubles_have_twenty_bits() {
    let mut random = Random::new(41);
    // Neither they nor their reciprocals are subnormal.
    let x: Vec<f64> = (0..4096).map(|_| f64::from_bits(random.next())).filter(|x| x.abs() > 1e-300 && x.abs() < 1e300).collect();
    on_all("approximations of f64", |device| {
        let (mut y, mut z) = (device.zeros::<f64>(x.len()).unwrap(), device.zeros::<f64>(x.len()).unwrap());
        approximated_doubles(&device.upload(&x).unwrap(), &mut y, &mut z).cover(x.len()).launch(device).unwrap();
        for ((x, y), z) in x.iter().zip(y.download().unwrap()).zip(z.download().unwrap()) {
            // "About": up to twice as much.
            let near = |found: f64, exact: f64| found.is_nan() && exact.is_nan() || (found - exact).abs() <= exact.abs() * 2f64.powi(-19);
            assert!(near(y, 1.0 / x), "native_recip({x:e}) = {y:e} on {}", device.name());
            assert!(near(z, 1.0 / x.sqrt()), "native_rsqrt({x:e}) = {z:e} on {}", device.name());
        }
    });
}

/// The tests of this file.
const ALL: [&str; 6] = [
    "devices::singles_are_within_bounds",
    "devices::doubles_are_within_bounds",
    "devices::halves_are_within_bounds",
    "devices::brains_are_within_bounds",
    "devices::approximations_are_within_bounds",
    "devices::approximations_of_doubles_have_twenty_bits",
];

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed("math", &ALL, "9.0");
}

/// The same on Intel's OpenCL.
#[test]
fn on_intels_opencl() {
    // Where there is none, that is said once.
    let have_passed = ALL.iter().all(|test| again_on_intel("math", test, &[]).is_some());
    assert!(have_passed || std::env::var_os(INTEL).is_none());
}
