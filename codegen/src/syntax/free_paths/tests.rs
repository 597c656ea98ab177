//! What names of a source are free.

use super::*;

/// The free paths of a source, as `key: kind`.
fn free(source: &str) -> Vec<String> {
    let file = syn::parse_file(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    free_paths(&file.items).iter().map(|found| format!("{}: {:?}", found.key, found.kind)).collect()
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(free(source), expected, "{source}");
}

#[track_caller]
fn check_body(body: &str, expected: &[&str]) {
    check(&format!("#[kernel] fn k<const B: usize, T: Float>(a: f32, x: &Global<T>, y: &mut Global<f32>) {{ {body} }}"), expected);
}

#[test]
fn what_the_language_knows_is_not_free() {
    check_body("let i = global_id().x; if i < y.len() { y[i] = a * x[i] + f32::MAX; }", &[]);
    check_body("let t = thread_idx().x as u64; let z = f32::from_bits(3u32); let w: [f16; B] = [T::ZERO; B];", &[]);
    check_body("let p = std::f32::consts::PI + f32::consts::E + core::f64::consts::TAU + std::u32::MAX;", &[]);
    check_body("y[lane_id() as usize] = warp_sum(warp_id());", &[]);
    check_body("f::<Matrix<f32>>(); let m = Matrix { side: 3 };", &["f: Function", "Matrix: Type"]);
    check_body("half(half::f16::ONE, core);", &["half: Function", "core: Constant"]);
    check_body("let d: warpwright::prelude::Dim3 = warpwright::prelude::thread_idx();", &[]);
}

#[test]
fn elements_are_types_whatever_their_names_look_like() {
    check("#[kernel] fn k(x: &Global<RGB>, y: &mut warpwright::Global<m::XY>) {}", &["RGB: Type", "m::XY: Type"]);
    check_body(
        "f::<N>(1); let d: Matrix<RGB> = g; let s: Own<SIDE> = g;",
        &["f: Function", "N: Constant", "g: Constant", "RGB: Type", "Own: Type", "SIDE: Constant"],
    );
}

#[test]
fn names_that_the_prelude_lacks_are_imported() {
    let source = "#[kernel] fn k<T: Num>(any: u32, y: &mut Global<T>) {
        y.atomic_add_ordered(0, any, Ordering::Relaxed, ThreadScope::Block);
        shuffle(T::ONE, std::hint::black_box(lane_id())); { use m::all; all(1); } mine();
    }";
    let imported = imported_names_of_language(&syn::parse_file(source).unwrap().items);
    assert_eq!(imported.iter().map(|found| found.key.as_str()).collect::<Vec<_>>(), ["Ordering", "shuffle", "all"]);
    check(source, &["mine: Function"]);
    check_body("warp::any(hint::black_box(true)); warp::other();", &["warp::other: Function"]);
}

#[test]
fn locals_follow_rusts_scopes() {
    check_body("let n = 1; { let m = n; } m;", &["m: Constant"]);
    check_body("let v = v;", &["v: Constant"]);
    check_body("for i in 0..n { i; } i;", &["n: Constant", "i: Constant"]);
    check_body("match a { q if q > r => q, Z => Z, o @ 1..=M => o } q;", &["r: Constant", "Z: Constant", "M: Constant", "q: Constant"]);
    check_body("if let (c, d) = e { c; } else { d; }", &["e: Constant", "d: Constant"]);
    check_body("while let c = 1 { c; }", &[]);
    check_body("let (a, [b, c]) = (1, [2, 3]); let P { u, v: w } = P { u: b, v: c }; u + w; v;", &["P: Type", "v: Constant"]);
}

#[test]
fn blocks_import() {
    check_body("use Shape::*; match s { Line => Circle, LOW => 1 };", &["Shape: Type", "s: Constant", "LOW: Constant"]);
    check_body("{ use m::Shape::{Line, Dot as Point}; Line; Point; } Line;", &["m::Shape: Type", "Line: Type"]);
    check_body("use m::f; use m::n::{self, C}; f(); n::g(); C;", &["f: Function", "n::g: Function", "C: Constant"]);
    check_body("const N: usize = M; N;", &["M: Constant"]);
    check("mod a { enum E { A } #[kernel] fn k() { use E::*; use self::E::A as B; A; B; } }", &[]);
    check_body("matches!(a, 1..=2 | N if b)", &["N: Constant", "b: Constant"]);
}

#[test]
fn kinds_are_told_by_place_and_by_convention() {
    check_body(
        "y[0] = other::helper(x[0]) + crate::N as f32 + SCALE;",
        &["other::helper: Function", "crate::N: Constant", "SCALE: Constant"],
    );
    check_body(
        "let v = geometry::Vec3::new(1.0); let m = Mode::Fast; Pair(1, 2); let p = Particle { mass: 1.0 };",
        &["geometry::Vec3: Type", "Mode: Type", "Pair: Type", "Particle: Type"],
    );
    check_body("let v: Vec3 = f::<W, Vec4, B, T, 3>();", &["f: Function", "W: Constant", "Vec4: Type", "Vec3: Type"]);
    check_body("let a: [f32; LEN] = [0.0; LEN];", &["LEN: Constant"]);
    check_body("match m { Mode::A => 1, LOW..=HIGH => 2, _ => 3 };", &["m: Constant", "Mode: Type", "LOW: Constant", "HIGH: Constant"]);
    check_body(
        "helper(1); helper(2); self::helper(3); super::deep::f(4)",
        &["helper: Function", "self::helper: Function", "super::deep::f: Function"],
    );
}

#[test]
fn signatures_and_attributes_name_things_too() {
    check(
        "#[kernel(block = (crate::B, W), variants(W in [FEW, 2]))] fn k<const W: usize>(p: Params, x: &Global<Particle>) {}",
        &["crate::B: Constant", "FEW: Constant", "Params: Type", "Particle: Type"],
    );
    check("#[device] fn f(v: V) -> Out { g(v) }", &["V: Type", "Out: Type", "g: Function"]);
    check("#[device] struct S { a: Inner, b: [f32; N] }", &["Inner: Type", "N: Constant"]);
    check("#[device] impl S { const K: u32 = J; fn f(&self) -> f32 { self.x + Self::K as f32 } }", &["S: Type", "J: Constant"]);
}

#[test]
fn macros_are_looked_into() {
    check_body("assert!(a < LIMIT, \"a = {a}, {OTHER} {{no}} {0}\", more);", &["LIMIT: Constant", "OTHER: Constant", "more: Constant"]);
    check_body("println!(\"{}\", N);", &["N: Constant"]);
}

#[test]
fn items_of_a_module_are_its_own() {
    let source = "mod m {
        use super::OUTSIDE; use Shape::*; use crate::far::away;
        const N: usize = OUTSIDE; struct P { x: f32 } enum Shape { Round, Square }
        impl P { fn new() -> P { P { x: 0.0 } } }
        #[device] fn f(s: Shape) -> f32 { match s { Round => 1.0, Square => away(self::N), Shape::Round => super::g() } }
        #[kernel] fn k(y: &mut Global<P>) { y[0] = P::new(); f(Shape::Square); }
        fn host() { std::fs::read(undefined); }
    }";
    check(source, &["OUTSIDE: Constant", "away: Function", "super::g: Function"]);
    check(
        "mod m { mod inner { #[device] fn f() { super::g(); super::super::h(); } } #[device] fn g() {} }",
        &["super::super::h: Function"],
    );
}

#[test]
fn uses_within_a_body_travel_with_the_path() {
    let file = syn::parse_file("#[kernel] fn k() { use crate::consts::A; { use crate::B; A + B } }").unwrap();
    let found = free_paths(&file.items);
    let uses: Vec<_> = found.iter().map(|found| (found.key.as_str(), found.uses.len())).collect();
    assert_eq!(uses, [("A", 2), ("B", 2)]);
    let file = syn::parse_file("#[kernel] fn k() { { use crate::B; B } C }").unwrap();
    let found = free_paths(&file.items);
    assert_eq!(found.iter().map(|found| found.uses.len()).collect::<Vec<_>>(), [1, 0]);
}
