//! What `rustc` refuses of items, and the command too, which has no `rustc` beside it: what is said of each, and what is left alone.

use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::syntax::check_rust_rules;

/// A finding as `text under the span: message; help`.
fn render(found: &Diagnostic) -> String {
    let help = found.help.as_deref().unwrap_or("no help");
    format!("{}: {}; {help}", found.span.source_text().unwrap_or_default(), found.message)
}

/// What is said of a file that begins as kernels' files do.
fn said(text: &str) -> Vec<String> {
    said_of_file(&format!("use warpwright::prelude::*;\n{text}"))
}

fn said_of_file(text: &str) -> Vec<String> {
    let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut found = Diagnostics::new();
    check_rust_rules(&file.items, &mut found);
    found.iter().map(render).collect()
}

#[track_caller]
fn expect(text: &str, expected: &[&str]) {
    assert_eq!(said(text), expected, "{text}");
}

const KERNEL: &str = "#[kernel(block = 64)] pub fn k(y: &mut Global<f32>) { y[0] = 1.0; }";

#[test]
fn items_of_one_name() {
    expect(&format!("{KERNEL} {KERNEL}"), &["k: the kernel `k` is defined twice; rename this one, `fn k2`, or remove it"]);
    expect("#[device] fn f() {} #[device] fn f() {}", &["f: the function `f` is defined twice; rename this one, `fn f2`, or remove it"]);
    expect("const A: u8 = 1; const A: u8 = 2;", &["A: the constant `A` is defined twice; rename this one, `const A2`, or remove it"]);
    expect("const ROWS: u8 = 1; fn ROWS() {}", &["ROWS: the function `ROWS` is defined twice; rename this one, `fn ROWS_2`, or remove it"]);
    expect("struct S { a: u8 } enum S { A }", &["S: the enum `S` is defined twice; rename this one, `enum S2`, or remove it"]);
    expect("struct S; const S: u8 = 1;", &["S: the constant `S` is defined twice; rename this one, `const S2`, or remove it"]);
    expect("mod a {} #[device] fn a() {}", &["a: the function `a` is defined twice; rename this one, `fn a2`, or remove it"]);
    let inner = format!("mod m {{ use warpwright::prelude::*; {KERNEL} {KERNEL} }}");
    expect(&inner, &["k: the kernel `k` is defined twice; rename this one, `fn k2`, or remove it"]);
    // Two namespaces, two modules, two `cfg`s, names of nothing.
    expect("struct S { a: u8 } fn S() {} mod f {} fn f() {}", &[]);
    expect(&format!("mod a {{ use warpwright::prelude::*; {KERNEL} }} mod b {{ use warpwright::prelude::*; {KERNEL} }}"), &[]);
    expect("#[cfg(unix)] const A: u8 = 1; #[cfg(not(unix))] const A: u8 = 2; const _: u8 = 1; const _: u8 = 2;", &[]);
}

#[test]
fn imports_of_one_name() {
    let twice = ["PI: the name `PI` is defined twice; give it another name, `PI as PI_2`, or leave it out"];
    expect("use std::f32::consts::PI; const PI: f32 = 3.0;", &twice);
    expect("use std::f32::consts::PI; use std::f64::consts::PI;", &twice);
    expect("use std::f32; use std::f32;", &["f32: the name `f32` is defined twice; give it another name, `f32 as f322`, or leave it out"]);
    expect("use std::f32; use a::f32; use std::f64::{self, consts::PI}; use std::fmt::Debug as PI2;", &[]);
}

#[test]
fn members_of_one_name() {
    let marked = "#[device] #[derive(Clone, Copy)] #[repr(C)] struct S { a: u8 }";
    expect("struct S { a: u8, b: u8, a: u8 }", &["a: the field `a` is defined twice; rename this field, `a2`, or remove it"]);
    expect("enum E { A, A }", &["A: the variant `A` is defined twice; rename this variant, `A2`, or remove it"]);
    expect("fn f<const N: usize, const N: usize>() {}", &["N: the generic `N` is defined twice; rename this one, `N2`"]);
    expect(
        "struct S<T> { a: u8 }",
        &["T: no field of `S` is of the type `T`, which its generics name; remove `T`, or give a field that type: `value: T`"],
    );
    expect("struct S<T, const N: usize> { a: [T; 4] }", &[]);
    let twice = "f: in `S`, `f` is defined twice; rename this one, `f2`, or remove it";
    expect(&format!("{marked} #[device] impl S {{ fn f(self) {{}} fn f(self) {{}} }}"), &[twice]);
    expect(&format!("{marked} impl S {{ fn f(self) {{}} }} impl S {{ fn f(self) {{}} }}"), &[twice]);
    let two = "impl: `S` has two `impl`s for the device; a type has one; move these functions into the first one";
    expect(&format!("{marked} #[device] impl S {{ fn f(self) {{}} }} #[device] impl S {{ fn g(self) {{}} }}"), &[two]);
    expect(&format!("{marked} impl S {{ fn f(self) {{}} }} impl T for S {{ fn f(self) {{}} }} impl R<2> {{ fn f() {{}} }}"), &[]);
}

#[test]
fn values_of_variants() {
    expect("enum E { A = 1, B = 1 }", &["B: `E::B` is 1, and so is `E::A`; give it a value of its own: `B = …`"]);
    expect("enum E { A = 1, B = 0, C }", &["C: `E::C` is 1, and so is `E::A`; give it a value of its own: `C = …`"]);
    expect("enum E { A = -1, B, C = 5, D = N, F }", &[]);
    expect("#[repr(u8)] enum E {}", &["E: `E` has no variants, so there is no value to represent; write a variant: `A`"]);
    expect("#[repr(u8, u16)] enum E { A }", &["E: `E` cannot be both a `u8` and a `u16`; write one of them: `#[repr(u8)]`"]);
    expect("#[repr(f32)] enum E { A }", &["E: `#[repr(f32)]` of `E` is no representation; write `#[repr(u32)]`, or another integer"]);
    expect("#[repr(C, align(3))] struct S { a: u8 }", &["S: `S` cannot be aligned to 3 bytes, which is no power of two; write `align(4)`"]);
    expect("#[repr(C, align(8))] struct S { a: u8 } #[repr(transparent)] struct T(u8); #[repr(packed(2))] struct U(u8);", &[]);
}

#[test]
fn attributes_that_nothing_knows() {
    expect("#[foo] const A: u8 = 1;", &["foo: there is no attribute `#[foo]` in scope; remove it, or import it: `use …::foo;`"]);
    expect("#[kernal(block = 64)] fn k() {}", &["kernal: there is no attribute `#[kernal]` in scope; write `#[kernel]`"]);
    expect(
        "struct S { #[shared] a: u8 }",
        &["shared: `#[shared]` belongs on a `let`, not on a field; write `#[shared] let mut tile: [f32; 256];`"],
    );
    expect(
        "enum E { #[shared] A }",
        &["shared: `#[shared]` belongs on a `let`, not on a variant; write `#[shared] let mut tile: [f32; 256];`"],
    );
    expect("#[unroll] struct S { a: u8 }", &["unroll: `#[unroll]` belongs on a loop, not on an item; move it before the loop"]);
    expect(
        "enum E { #[default] A }",
        &["default: there is no attribute `#[default]` in scope; remove it, or import it: `use …::default;`"],
    );
    expect(&format!("#[kernel(block = 64)] {KERNEL}"), &["kernel: `#[kernel]` is given twice; remove one of them"]);
    expect("#[inline] #[must_use] fn f() {} #[derive(Default)] enum E { #[default] A } #[test] fn t() {}", &[]);
    // What another crate may bring in is not known.
    expect("use serde::*; #[foo] fn f() {}", &[]);
    expect("use a::foo; #[foo] fn f() {} #[b::bar] fn g() {}", &[]);
    expect("use serde::Serialize; #[derive(Serialize)] struct S { #[serde] a: u8 }", &[]);
}

#[test]
fn derives_of_types_of_the_device() {
    let device = |derives: &str, fields: &str| format!("#[device] #[derive({derives})] #[repr(C)] struct S {{ {fields} }}");
    let copied =
        |lacks: &str, all: &str| format!("S: `S` is not `{lacks}`, and the values of a kernel are copied; write `#[derive({all})]` on it");
    expect("#[device] #[repr(C)] struct S { a: f32 }", &[&copied("Copy", "Clone, Copy")]);
    expect(&device("Clone, PartialEq", "a: f32"), &[&copied("Copy", "Clone, Copy, PartialEq")]);
    expect(&device("Copy", "a: f32"), &[&copied("Clone", "Clone, Copy")]);
    expect(&device("Clone, Copy, Eq", "a: u32"), &["Eq: `Eq` of `S` needs `PartialEq`, which it does not derive; write `PartialEq, Eq`"]);
    let float = ["Eq: `S` derives `Eq`, and its field of the type `f32` is not `Eq`; remove `Eq`"];
    expect(&device("Clone, Copy, PartialEq, Eq", "a: [f32; 4]"), &float);
    let inner = "#[device] #[derive(Clone, Copy)] #[repr(C)] struct T { a: f32 }";
    let without =
        ["PartialEq: `S` derives `PartialEq`, and its field of the type `T` is not `PartialEq`; write `#[derive(PartialEq)]` on `T`, too"];
    expect(&format!("{inner} {}", device("Clone, Copy, PartialEq", "a: T")), &without);
    expect(&device("Clone, Copy, Partialeq", "a: f32"), &["Partialeq: there is no derive `Partialeq` in scope; write `PartialEq`"]);
    expect("#[device] #[repr(C)] struct S { a: f32 } impl Clone for S { fn clone(&self) -> S { *self } } impl Copy for S {}", &[]);
    expect("struct Host { a: Vec<f32> } struct Group<'a> { a: &'a Global<f32> } #[device] struct G<'a> { a: &'a Global<f32> }", &[]);
    let compared =
        "==: `E` has no `==`: it derives no `PartialEq`; write `#[derive(Clone, Copy, PartialEq)]` on `enum E`, below `#[device]`";
    let of = |derives: &str| format!("#[device] #[derive({derives})] enum E {{ A }} #[device] fn f(e: E) -> bool {{ e == E::A }}");
    expect(&of("Clone, Copy"), &[compared]);
    expect(&of("Clone, Copy, PartialEq"), &[]);
}

#[test]
fn halves_of_the_prelude() {
    let said = |imports: &str| said_of_file(&format!("{imports} {KERNEL} #[device] fn f() -> usize {{ global_id().x }}"));
    for imports in [
        "use warpwright::kernel_prelude::*;",
        "use warpwright::kernel_prelude::*; use warpwright::host_prelude::*;",
        "use warpwright::kernel_prelude::{Global, device, global_id, kernel};",
        "use warpwright::host_prelude::Buffer; use warpwright::prelude::*;",
        "use warpwright::kernel_prelude::kernel; use warpwright::kernel_prelude::{device, *};",
    ] {
        assert_eq!(said(imports), [""; 0], "{imports}");
    }
    let lacks = |what: &str, why: &str| {
        format!(
            "{what}: `{}` is not in scope: {why}; write `use warpwright::prelude::*;` at the top of the module",
            match what {
                "kernel" | "device" => format!("#[{what}]"),
                _ => what.to_owned(),
            }
        )
    };
    let nothing = "`host_prelude` has nothing for kernels";
    assert_eq!(said("use warpwright::host_prelude::*;"), [lacks("kernel", nothing), lacks("device", nothing)]);
    assert_eq!(
        said("use warpwright::host_prelude::*; use warpwright::{device, kernel};"),
        [lacks("Global", nothing), lacks("global_id", nothing)]
    );
    let none = "this module does not import the prelude";
    assert_eq!(said("use std::fmt::Debug;"), [lacks("kernel", none), lacks("device", none)]);
    // What the prelude leaves out, its halves leave out, too.
    let bound = "#[device] fn f<T: Float>(x: T) -> T { x }";
    let missing = "Float: `Float` is not in scope: the prelude leaves it out; write `use warpwright::Float;` at the top of the module";
    assert_eq!(said_of_file(&format!("use warpwright::kernel_prelude::*; {bound}")), [missing]);
    assert_eq!(said_of_file(&format!("use warpwright::kernel_prelude::*; use warpwright::Float; {bound}")), [""; 0]);
}

#[test]
fn bounds_that_nothing_brings_in() {
    let missing = "Float: `Float` is not in scope: the prelude leaves it out; write `use warpwright::Float;` at the top of the module";
    expect("#[device] fn f<T: Float>(a: T) -> T { a }", &[missing]);
    expect("#[device] fn f<T>(a: T) -> T where T: Float { a }", &[missing]);
    expect("use warpwright::{Float, Num}; #[device] fn f<T: Float, U: Num, V: Element>(a: T) -> T { a }", &[]);
    expect("use warpwright::*; #[device] fn f<T: Float>(a: T) -> T { a }", &[]);
}

#[test]
fn names_bound_twice() {
    let body = |body: &str| format!("#[device] fn f(n: u32) {{ {body} }}");
    let part = "a: the parts of this pattern have the name `a` twice; give this one another name, `a2`, or `_`";
    let params = "x: the parameters of `k` have the name `x` twice; give this one another name, `x2`, or `_`";
    expect("#[kernel(block = 64)] fn k(x: &Global<f32>, x: &Global<f32>) {}", &[params]);
    expect("#[device] fn k((x, y): (f32, f32), x: f32) {}", &[params]);
    expect(&body("let (a, a) = (1, 2);"), &[part]);
    expect(&body("match (n, n) { (a, a) => {} }"), &[part]);
    expect(&body("if let (a, a) = (n, n) {}"), &[part]);
    let other = "b: one alternative of this pattern binds `b`, and another does not; bind `b` in all of them, or write `_` for it";
    let first = "a: one alternative of this pattern binds `a`, and another does not; bind `a` in all of them, or write `_` for it";
    expect(&body("match (n, n) { (a, 1) | (1, b) => {} _ => {} }"), &[first, other]);
    expect(&body("match (n, n) { (a, 1) | (1, a) => {} (1, 2) | (3, 4) => {} (b, NONE) | (_, b) => {} }"), &[]);
    let rest = "..: `..` stands twice in this pattern: which parts it leaves out is not known; keep one `..`, and write `_` for each part that the other leaves out";
    expect(&body("let (a, .., b, ..) = (1, 2, 3);"), &[rest]);
    let field = "a: the field `a` is named twice; remove one of the two, or write the field that was meant";
    expect(&body("let s = S { a: 1, a: 2 };"), &[field]);
    expect(&body("let S { a: b, a: c } = s;"), &[field]);
    expect("fn host() { let (a, a) = (1, 2); }", &[]);
}

/// Right where names are shared between namespaces, modules and crates.
#[test]
fn names_that_only_look_taken() {
    // A module and a function of one name, of which one is private.
    expect("mod m { fn f() {} pub mod f { pub fn g() {} } } use m::f; fn h() { f::g() }", &[]);
    expect("mod m { mod f { pub fn g() {} } pub fn f() { f::g() } } use m::f;", &[]);
    expect("mod m { fn f() {} mod f {} } use m::f;", &["m::f: `f` is private to the module `m`; write `pub` before it, `pub fn f`"]);
    // What a foreign block defines.
    expect("mod ffi { unsafe extern \"C\" { pub fn strlen(p: *const i8) -> usize; } } use ffi::strlen;", &[]);
    // Paths that begin outside of the module, in one without a `use`.
    expect("mod m { #[warpwright::device] pub fn f(x: f32) -> f32 { x + f32::MAX + std::f32::consts::PI + u8::MAX as f32 } }", &[]);
    let own = "pub fn new() -> Self { Self::of(1.0) } pub fn of(a: f32) -> Self { Self { a } }";
    let point = "#[warpwright::device] #[derive(Clone, Copy)] #[repr(C)] pub struct P { a: f32 }";
    expect(&format!("mod m {{ {point} #[warpwright::device] impl P {{ {own} }} }}"), &[]);
    // Names that conventions put into the other namespace, and a trait beside a derive.
    expect("mod m { pub struct RGB { pub a: u8 } } use m::RGB; const RGB: u32 = 1;", &[]);
    expect("mod a { pub struct Pair { pub a: u8 } } mod b { pub fn Pair() {} } use a::Pair; use b::Pair;", &[]);
    expect("use serde::Serialize; use serde_derive::Serialize;", &[]);
    expect("use std::fmt::Write as _; use std::io::Write as _; use std::fmt::Write as _;", &[]);
    let twice = "Pair: the name `Pair` is defined twice; give it another name, `Pair as Pair2`, or leave it out";
    expect("mod a { pub struct Pair { pub a: u8 } } mod b { pub enum Pair { A } } use a::Pair; use b::Pair;", &[twice]);
}

/// Right though a type has the name that is looked for.
#[test]
fn types_that_share_names() {
    let mode = "#[device] #[derive(Clone, Copy)] enum Mode { A, B } #[device] impl Mode { const COUNT: u32 = 2; }";
    expect(&format!("{mode} #[device] fn f(n: u32) -> bool {{ n == Mode::COUNT }}"), &[]);
    expect(
        "#[device] #[derive(Clone, Copy)] enum Class { NAN, One } #[device] fn f(c: Class) { match c { Class::NAN => {} _ => {} } }",
        &[],
    );
    let nan = "f32::NAN: NaN is equal to nothing, itself included: this pattern fits no number; ask by a condition: `v if v.is_nan()`";
    expect("#[device] fn f(c: f32) { match c { f32::NAN => {} _ => {} } }", &[nan]);
    let shape = "struct Circle { x: f32, r: f32 } enum Shape { Circle { r: f32 } }";
    expect(&format!("{shape} #[device] fn f(s: Shape) -> f32 {{ match s {{ Shape::Circle {{ r }} => r }} }}"), &[]);
    let generic = "#[device] #[derive(Clone, Copy)] #[repr(C)] struct T { a: f32 }";
    expect(&format!("{generic} #[device] #[derive(Clone, Copy, PartialEq, Default)] #[repr(C)] struct S<T> {{ a: T }}"), &[]);
    let marked = "use std::marker::PhantomData; #[device] #[derive(Clone, Copy, PartialEq, Eq)] #[repr(C)]";
    expect(&format!("{marked} struct S {{ a: u32, of: PhantomData<f32> }}"), &[]);
    let ended = "fn f(i: impl DoubleEndedIterator<Item = u32> + ExactSizeIterator) {}";
    expect(&format!("#[warpwright::module] mod m {{ use warpwright::prelude::*; {ended} }}"), &[]);
}

#[test]
fn constants_that_are_right() {
    expect("#[cfg(a)] fn f() -> u8 { 1 } #[cfg(not(a))] const fn f() -> u8 { 2 } const N: u8 = f();", &[]);
    expect("fn f() -> u8 { 1 } const N: u8 = { const fn f() -> u8 { 2 } f() };", &[]);
    expect("#[allow(overflowing_literals)] const A: u8 = 300; const B: i8 = -128; const C: u64 = 0xFFFF_FFFF_FFFF_FFFF;", &[]);
    let beyond = "300: `A` is 300, which does not fit `u8`, whose numbers are 0 to 255; use a number from 0 to 255, or another type";
    expect("#[allow(unused)] const A: u8 = 300;", &[beyond]);
}
