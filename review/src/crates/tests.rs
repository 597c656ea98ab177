//! Crates that stand in the tests: what the names of their kernels lead to.

use super::{Crate, Reached};
use std::collections::HashMap;
use std::path::Path;
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::pipeline::lower;
use warpwright_codegen::syntax::{ConstValue, Extern};

fn crate_of(root: Option<&str>, files: &[(&str, &str)]) -> Crate {
    let files: HashMap<String, String> = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Crate::new(root.map(Path::new), Box::new(move |path| files.get(path.to_str()?).cloned()))
}

fn reach(files: &mut Crate, path: &str, kernel: &str) -> Reached {
    let kernels = files.kernels(Path::new(path));
    let place = kernels.iter().find(|place| place.path == kernel).unwrap_or_else(|| panic!("no `{kernel}` among {kernels:?}"));
    files.reach(place, &|_| None)
}

/// The constants of a kernel's program by name, and what is unknown.
#[track_caller]
fn check(files: &[(&str, &str)], path: &str, kernel: &str, expected: &[&str]) {
    let mut files = crate_of(None, files);
    let reached = reach(&mut files, path, kernel);
    assert_eq!(said(&reached), expected);
    if reached.unknown.is_empty() {
        let instances = declared_instances(&reached.program, reached.unit, &reached.name()).expect("the attribute is right");
        for instance in instances {
            let lowered = lower(&reached.program, reached.unit, &reached.name(), &instance);
            let messages: Vec<String> = lowered.err().into_iter().flatten().map(|finding| finding.message).collect();
            assert_eq!(messages, [""; 0]);
        }
    }
}

/// `f → src/a.rs f`, `N: comes from the crate `c``.
fn said(reached: &Reached) -> Vec<String> {
    let own = &reached.program.units[reached.unit.0];
    let known = own.externs.iter().map(|(key, meaning)| match meaning {
        Extern::Constant(value) => format!("{key} = {value:?}"),
        Extern::Item(unit, name) => format!("{key} → {} {name}", reached.program.units[unit.0].file),
    });
    let unknown = reached.unknown.iter().map(|unknown| match &unknown.needed_by {
        Some(by) => format!("{by} needs {} {}", unknown.key, unknown.reason),
        None => format!("{} {}", unknown.key, unknown.reason),
    });
    known.chain(unknown).collect()
}

const KERNEL: &str = "#[kernel(block = 64)] fn k(y: &mut Global<f32>) ";

fn kernel(before: &str, body: &str) -> String {
    format!("{before}\n{KERNEL}{{ {body} }}")
}

#[test]
fn files_modules_and_renames() {
    let lib = "mod consts; mod math; mod kernels; pub mod deep { pub mod er { pub const TWO: f32 = 2.0; } }";
    let consts = "pub const N: usize = 4; pub const M: usize = N * super::deep::er::TWO as usize;";
    let math = "pub mod fast; pub use self::fast::twice as double; pub use fast::*;";
    let fast = "use crate::consts as c; #[device] pub fn twice(x: f32) -> f32 { x * c::M as f32 } #[device] pub fn half(x: f32) -> f32 { x / 2.0 }";
    let text = kernel(
        "use crate::{consts::{self, N as COUNT}, math::double}; use super::deep::*; use crate::math;",
        "y[COUNT] = double(er::TWO) + math::half(consts::M as f32) + crate::math::fast::twice(1.0); y[self::consts::N] = 0.0;",
    );
    let files =
        [("src/lib.rs", lib), ("src/consts.rs", consts), ("src/math/mod.rs", math), ("src/math/fast.rs", fast), ("src/kernels.rs", &text)];
    check(
        &files,
        "src/kernels.rs",
        "k",
        &[
            "COUNT → src/consts.rs N",
            "consts::M → src/consts.rs M",
            "crate::math::fast::twice → src/math/fast.rs twice",
            "double → src/math/fast.rs twice",
            "er::TWO → src/lib.rs TWO",
            "math::half → src/math/fast.rs half",
            "self::consts::N → src/consts.rs N",
        ],
    );
}

#[test]
fn modules_of_one_file_have_names_of_their_own() {
    let text = "const N: usize = 1;
mod a { pub const N: usize = 2; #[kernel] fn k(y: &mut Global<f32>) { y[N + super::N] = 0.0; } }
mod b { use super::a::N; #[kernel] fn k(y: &mut Global<f32>) { y[N] = 0.0; } }
mod c { use super::*; #[kernel] fn k(y: &mut Global<f32>) { use super::a::N as M; y[N + M] = 0.0; } }";
    let values = |kernel: &str| {
        let mut files = crate_of(None, &[("main.rs", text)]);
        let reached = reach(&mut files, "main.rs", kernel);
        let externs = reached.program.units[0].externs.clone();
        let value = |unit: usize| match &reached.program.units[unit].items[0] {
            syn::Item::Const(item) => quote::quote!(#item).to_string().chars().filter(char::is_ascii_digit).collect::<String>(),
            _ => panic!("a constant"),
        };
        externs
            .into_iter()
            .map(|(key, meaning)| match meaning {
                Extern::Item(unit, _) => format!("{key} = {}", value(unit.0)),
                Extern::Constant(_) => panic!("an item"),
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(values("a::k"), ["N = 2", "super::N = 1"]);
    assert_eq!(values("b::k"), ["N = 2"]);
    assert_eq!(values("c::k"), ["M = 2", "N = 1"]);
}

#[test]
fn types_come_with_their_methods() {
    let shapes = "#[device] #[derive(Clone, Copy)] pub struct P { pub x: f32, pub w: Weight } pub type Weight = f32;
#[device] impl P { pub const ONE: f32 = SCALE; pub fn len(self) -> f32 { self.x * self.w } }
impl P { pub fn load(path: &str) -> P { std::fs::read(path); host(); } }
const SCALE: f32 = 1.0;
#[device] #[derive(Clone, Copy)] pub enum Kind { Near, Far }";
    let text = kernel(
        "mod shapes; use shapes::{P, Kind, Kind::Far};",
        "let p = P { x: P::ONE, w: 1.0 }; let k = Kind::Near; y[0] = p.len(); match k { Far => {}, Kind::Near => {} }",
    );
    check(
        &[("main.rs", &text), ("shapes.rs", shapes)],
        "main.rs",
        "k",
        &["Far → shapes.rs Kind::Far", "Kind → shapes.rs Kind", "P → shapes.rs P"],
    );
}

#[test]
fn what_files_do_not_tell_is_unknown_with_its_reason() {
    let one = |before: &str, body: &str, expected: &[&str]| check(&[("lib.rs", &kernel(before, body))], "lib.rs", "k", expected);
    one("use shapes::area;", "y[0] = area(1.0);", &["area comes from the crate `shapes`"]);
    one("use ::shapes::N;", "y[N] = shapes::M;", &["N comes from the crate `shapes`", "shapes::M comes from the crate `shapes`"]);
    one("use shapes::*;", "y[N] = 1.0;", &["N may be in `shapes::*`, which comes from the crate `shapes`"]);
    one(
        "#[cfg(feature = \"big\")] const N: usize = 2; #[cfg(not(feature = \"big\"))] const N: usize = 1;",
        "y[N] = 1.0;",
        &["N is under `#[cfg(feature = \"big\")]`"],
    );
    one("include!(\"consts.rs\");", "y[N] = 1.0;", &["N may be made by `include!`"]);
    one("constants! { N = 3 }", "y[N] = 1.0;", &["N may be made by `constants!`"]);
    one("#[doubled] const N: usize = 1;", "y[N] = 1.0;", &["N is changed by `#[doubled]`, a macro"]);
    one(
        "const N: usize = size(); const fn size() -> usize { let mut i = 0; while i < 3 { i += 1; } i }",
        "y[N] = 1.0;",
        &["N → lib.rs N", "N is computed in a way that only `rustc` knows"],
    );
    one("mod missing;", "y[missing::N] = 1.0;", &["missing::N is in the module `missing`, whose file cannot be read"]);
    one(
        "#[device] fn f() -> f32 { shapes::area() }",
        "y[0] = f();",
        &["f → lib.rs f", "f needs shapes::area comes from the crate `shapes`"],
    );
    // What the language brings in hides nothing; names that are nowhere are left to who types the kernel.
    let mut files = crate_of(None, &[("lib.rs", &kernel("use warpwright::prelude::*; use std::cmp::max;", "y[N] = max(1, 2) as f32;"))]);
    assert_eq!(said(&reach(&mut files, "lib.rs", "k")), [""; 0]);
}

#[test]
fn what_is_under_the_kernels_own_cfg_is_there() {
    let lib = "#[cfg(test)] mod tests; #[cfg(test)] const A: usize = 1; #[cfg(unix)] const B: usize = 2;";
    let text = kernel("use super::{A, B};", "y[A] = 1.0;");
    check(&[("src/lib.rs", lib), ("src/tests.rs", &text)], "src/tests.rs", "k", &["A → src/lib.rs A"]);
    let text = kernel("use super::{A, B};", "y[B] = 1.0;");
    check(&[("src/lib.rs", lib), ("src/tests.rs", &text)], "src/tests.rs", "k", &["B is under `#[cfg(unix)]`"]);
}

#[test]
fn the_crate_begins_where_the_compiler_says() {
    let common = kernel("", "y[crate::N] = 1.0;");
    let files = [
        ("tests/a.rs", "mod common; const N: usize = 1;"),
        ("tests/b.rs", "mod common; const N: usize = 2;"),
        ("tests/common/mod.rs", &common),
    ];
    for root in ["tests/a.rs", "tests/b.rs"] {
        let mut files = crate_of(Some(root), &files);
        assert_eq!(said(&reach(&mut files, "tests/common/mod.rs", "k")), [format!("crate::N → {root} N")]);
    }
    // Nobody says, and a `mod.rs` is never the beginning.
    let mut files = crate_of(None, &files);
    assert_eq!(said(&reach(&mut files, "tests/common/mod.rs", "k")), ["crate::N the module of this file is not found in its crate"]);
    // A program beside a library, and one among others, which no library declares.
    let files = [
        ("src/lib.rs", "pub const N: usize = 1;"),
        ("src/main.rs", &kernel("const N: usize = 2;", "y[crate::N] = 1.0;")),
        ("src/bin/other.rs", &kernel("const N: usize = 3;", "y[crate::N] = 1.0;")),
    ];
    for path in ["src/main.rs", "src/bin/other.rs"] {
        check(&files, path, "k", &[&format!("crate::N → {path} N")]);
    }
}

#[test]
fn modules_lie_where_their_path_says() {
    let lib = "#[path = \"elsewhere/k.rs\"] mod kernels; mod inner { #[path = \"x.rs\"] pub mod y; }";
    let text = kernel("mod own;", "y[own::N + crate::inner::y::M] = 1.0;");
    let files = [
        ("src/lib.rs", lib),
        ("src/elsewhere/k.rs", &text),
        ("src/elsewhere/own.rs", "pub const N: usize = 1;"),
        ("src/inner/x.rs", "pub const M: usize = 1;"),
    ];
    check(&files, "src/elsewhere/k.rs", "k", &["crate::inner::y::M → src/inner/x.rs M", "own::N → src/elsewhere/own.rs N"]);
}

#[test]
fn circles_end() {
    let lib = "mod a; mod b; use a::*; use b::N as M; use b::M as N; const A: usize = B; const B: usize = A;";
    let text = kernel("use crate::b::*; use super::*;", "y[X + N] = A as f32;");
    let mut files = crate_of(None, &[("src/lib.rs", lib), ("src/a.rs", &text), ("src/b.rs", "pub use crate::a::*; pub use super::*;")]);
    let reached = reach(&mut files, "src/a.rs", "k");
    assert_eq!(said(&reached), ["A → src/lib.rs A"]);
}

#[test]
fn private_items_come_through_no_glob() {
    let text = kernel(
        "mod a { const N: usize = 1; pub const M: usize = 1; } use a::*; use b::*; mod b { pub const N: usize = 2; }",
        "y[N + M] = 1.0;",
    );
    let mut files = crate_of(None, &[("lib.rs", &text)]);
    let reached = reach(&mut files, "lib.rs", "k");
    assert_eq!(said(&reached), ["M → lib.rs M", "N → lib.rs N"]);
    let items: Vec<String> = reached
        .program
        .units
        .iter()
        .map(|unit| {
            let item = &unit.items[0];
            quote::quote!(#item).to_string()
        })
        .collect();
    assert!(items.contains(&"pub const N : usize = 2 ;".to_owned()), "{items:?}");
}

#[test]
fn constants_are_overridden_and_fragments_know_nothing_outside() {
    let mut files = crate_of(None, &[("lib.rs", &kernel("const N: usize = 1;", "y[N + c::M] = 1.0;"))]);
    let kernels = files.kernels(Path::new("lib.rs"));
    let reached = files.reach(&kernels[0], &|key| (key == "c::M").then_some(ConstValue::Index(7, false)));
    assert_eq!(said(&reached), ["N → lib.rs N", "c::M = Index(7, false)"]);
    let (mut fragment, kernels) = Crate::fragment("", &kernel("", "y[N] = f();"), "is outside what a macro made").expect("Rust");
    let reached = fragment.reach(&kernels[0], &|_| None);
    assert_eq!(said(&reached), ["N is outside what a macro made", "f is outside what a macro made"]);
    let (mut fragment, kernels) = Crate::fragment("", &kernel("", "y[0] = 1.0;"), "is outside").expect("Rust");
    assert!(fragment.reach(&kernels[0], &|_| None).unknown.is_empty());
}

/// The first file of a crate of two, and what the second defines.
fn moved(lib: &str, math: &str) -> Reached {
    reach(&mut crate_of(None, &[("lib.rs", &format!("mod math;{lib}")), ("math.rs", math)]), "lib.rs", "k")
}

#[test]
fn spots_stay_where_they_are_when_units_move() {
    let math = "#[device] pub fn f(i: usize) -> usize {\n  i * 3\n}";
    let lib = kernel("", "\n  y[math::f(2)] = 1.0;\n ");
    let (first, second) = (moved(&lib, math), moved(&format!("\n\n/* ä */  {}", lib.trim_start()), &format!("const A: u32 = 1; {math}")));
    assert_eq!(first.identity(), second.identity());
    let spans = |reached: &Reached| -> Vec<proc_macro2::Span> {
        let inner = |token: proc_macro2::TokenTree| match token {
            proc_macro2::TokenTree::Group(group) => group.stream().into_iter().map(|token| token.span()).collect(),
            other => vec![other.span()],
        };
        reached.program.units.iter().flat_map(|unit| quote::ToTokens::to_token_stream(&unit.items[0])).flat_map(inner).collect()
    };
    let (before, after) = (spans(&first), spans(&second));
    assert!(before.len() > 20 && before.len() == after.len());
    for (before, after) in before.into_iter().zip(after) {
        let spot = first.spot(before).expect("it is in a unit");
        assert_eq!(second.spot(after), Some(spot));
        assert_eq!((first.place_of(spot), second.place_of(spot)), (Some(before.start()), Some(after.start())));
    }
    assert_eq!(first.spot(proc_macro2::Span::call_site()), None);
}

#[test]
fn programs_are_the_same_if_their_texts_and_names_are() {
    let math = "#[device] pub fn f(i: usize) -> usize { i * N } const N: usize = 2; const M: usize = 2;";
    let lib = kernel("", "y[math::f(2)] = 1.0;");
    let first = moved(&lib, math).identity();
    // What the kernel does not name is no part of it.
    assert_eq!(moved(&lib, &math.replace("M: usize = 2", "M: usize = 3")).identity(), first);
    for (from, to) in [("N: usize = 2", "N: usize = 3"), ("i * N", "i * M"), ("#[device] pub", "pub"), ("i * N", "i  * N")] {
        assert_ne!(moved(&lib, &math.replace(from, to)).identity(), first, "{to}");
    }
    assert_ne!(moved(&lib.replace("block = 64", "block = 32"), math).identity(), first);
    // The same text with another meaning: a `use`; a module's mark on a function that has none of its own.
    let imported = |of: &str| {
        moved(&kernel(&format!("use math::{of} as f;"), "y[f(2)] = 1.0;"), "pub fn a() -> usize { 1 } pub fn b() -> usize { 1 }")
    };
    assert_ne!(imported("a").identity(), imported("b").identity());
    let in_module = |mark: &str| {
        let text = format!("{mark} mod m {{ pub fn f(i: usize) -> usize {{ i }} {KERNEL} {{ y[f(1)] = 1.0; }} }}");
        reach(&mut crate_of(None, &[("lib.rs", &text)]), "lib.rs", "m::k").identity()
    };
    assert_ne!(in_module("#[warpwright::module]"), in_module(""));
}

#[test]
fn constants_of_the_standard_library() {
    let value = |ty: &str, value: f64| match ty {
        "f32" => format!("{:?}", ConstValue::Scalar(warpwright_codegen::ir::Scalar::float(warpwright_codegen::ir::Type::F32, value))),
        _ => format!("{:?}", ConstValue::Scalar(warpwright_codegen::ir::Scalar::float(warpwright_codegen::ir::Type::F64, value))),
    };
    let pi = format!("PI = {}", value("f32", std::f64::consts::PI));
    for used in ["use std::f32::consts::PI;", "use core::f32::consts::*;", "use std::f32::consts::{E, PI};"] {
        check(&[("a.rs", &kernel(used, "y[0] = PI;"))], "a.rs", "k", &[&pi]);
    }
    let turn = format!("TURN = {}", value("f64", std::f64::consts::TAU));
    check(&[("a.rs", &kernel("use std::f64::consts::TAU as TURN;", "y[0] = TURN as f32;"))], "a.rs", "k", &[&turn]);
    let consts = format!("consts::PI = {}", value("f32", std::f64::consts::PI));
    check(&[("a.rs", &kernel("use std::f32::consts;", "y[0] = consts::PI;"))], "a.rs", "k", &[&consts]);
    let other = "MAX_STR_LEN is the standard library's, and known to `rustc` only";
    check(&[("a.rs", &kernel("use std::str::MAX_STR_LEN;", "y[0] = MAX_STR_LEN as f32;"))], "a.rs", "k", &[other]);
}

/// The names of an item that are nowhere, each with whether it is the standard library's.
#[track_caller]
fn check_absent(source: &str, item: &str, expected: &[(&str, bool)]) {
    let mut files = crate_of(None, &[("a.rs", source)]);
    let column = source.lines().position(|line| line.contains(item)).and_then(|line| Some((line, source.lines().nth(line)?.find(item)?)));
    let (line, column) = column.unwrap_or_else(|| panic!("no {item}"));
    let at = proc_macro2::LineColumn { line: line + 1, column };
    let found = files.absent(Path::new("a.rs"), at, &|_| true).unwrap_or_else(|| panic!("{item} is not found"));
    let found: Vec<(&str, bool)> = found.iter().map(|absent| (absent.key.as_str(), absent.is_std)).collect();
    assert_eq!(found, expected, "{source}");
}

#[test]
fn names_that_are_nowhere() {
    let body = "y[0] = sqrt(y[1]) + max(y[2], N) + near(y[3]);";
    let before = "use warpwright::prelude::*; use std::cmp::max; #[device] fn near(a: f32) -> f32 { a }";
    check_absent(&kernel(before, body), "k(y", &[("sqrt", false), ("max", true), ("N", false)]);
    // What another crate, a macro or a `cfg` may bring in is not said to be nowhere.
    let unsure = "use other::*; #[cfg(fast)] const N: f32 = 1.0;";
    check_absent(&kernel(unsure, body), "k(y", &[]);
    check_absent(&kernel("make!();", body), "k(y", &[]);
    check_absent(&kernel("use std::mem::*;", "y[0] = swap(y[1]);"), "k(y", &[]);
    // The prelude's own types are there, for the host.
    check_absent(&kernel("use warpwright::prelude::*;", "let d: Device; let p: Prams;"), "k(y", &[("Device", true), ("Prams", false)]);
    check_absent("#[device]\nfn f(a: f32) -> f32 { cosf(a) }", "f(a", &[("cosf", false)]);
    check_absent(
        "#[warpwright::module]\nmod m {\n fn g(a: f32) -> f32 { fabsf(a) + h(a) } #[device] fn h(a: f32) -> f32 { g(a) } }",
        "m {",
        &[("fabsf", false)],
    );
}

#[test]
fn functions_of_an_impl_without_a_mark_are_told_from_those_that_are_nowhere() {
    let source = "#[device] #[derive(Clone, Copy)] #[repr(C)] pub struct P { a: f32 }
        impl P { fn twice(&self) -> f32 { self.a } fn new() -> P { P { a: 1.0 } } }
        #[device] impl P { fn half(&self) -> f32 { self.a } }";
    let source = kernel(source, "let p = P { a: y[0] }; y[0] = p.half() + p.twice() + p.nothing();");
    let mut files = crate_of(None, &[("a.rs", &source)]);
    let reached = reach(&mut files, "a.rs", "k");
    let instances = declared_instances(&reached.program, reached.unit, "k").expect("the attribute is right");
    let found = lower(&reached.program, reached.unit, "k", &instances[0]).err().into_iter().flatten();
    let messages: Vec<String> = found.map(|finding| finding.message).collect();
    assert_eq!(
        messages,
        ["`twice`, defined at a.rs:2:21, is in an `impl` that is not marked for the device", "`P` has no method `nothing` in a kernel"]
    );
}

/// Modules that bring in each other's items, in the order of no one: each is searched once for a name, not once for each way to it.
#[test]
fn globs_of_many_modules_are_followed_once() {
    for super_ in ["super::", ""] {
        let modules: String = (0..24)
            .map(|n| {
                let globs: String = (0..24).filter(|other| *other != n).map(|other| format!("pub use {super_}m{other}::*; ")).collect();
                // Without `super::`, the names in the globs are themselves brought in by a glob.
                let all = if super_.is_empty() { "use super::*; " } else { "" };
                let own = if n == 23 { "pub const N: usize = 4;" } else { "" };
                format!("pub mod m{n} {{ {all}{globs}{own} }}\n")
            })
            .collect();
        let text = kernel(&format!("{modules}use m0::*;"), "y[N + ABSENT] = 1.0;");
        let mut files = crate_of(None, &[("lib.rs", &text)]);
        let started = std::time::Instant::now();
        let said = said(&reach(&mut files, "lib.rs", "k"));
        // Milliseconds, but for a machine that has other things to do: in every order it would be longer than the universe is old.
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
        let followed = ["N → lib.rs N".to_owned()];
        let unknown = ["N", "ABSENT"].map(|name| format!("{name} is behind more `use` statements than are followed"));
        assert!(said == followed || (super_.is_empty() && said == unknown), "{super_:?}: {said:?}");
    }
}
