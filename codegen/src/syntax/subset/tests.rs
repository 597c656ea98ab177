//! What of a source is in the kernel language, and what is said of the rest.

use super::*;
use crate::syntax::tests::render;

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let file = syn::parse_file(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    let mut diagnostics = Diagnostics::new();
    check_subset(&file.items, &mut diagnostics);
    assert_eq!(render(&diagnostics), expected, "{source}");
}

#[track_caller]
fn check_body(body: &str, expected: &[&str]) {
    check(&format!("#[kernel] fn k<T: Float>(a: f32, x: &Global<f32>, y: &mut Global<f32>) {{ {body} }}"), expected);
}

#[track_caller]
fn check_parameter(ty: &str, expected: &[&str]) {
    check(&format!("#[kernel] fn k(p: {ty}) {{}}"), expected);
}

#[test]
fn the_language_passes() {
    check_body("let i = global_id().x; if i < y.len() { y[i] = a * x[i] + y[i]; } else { return; }", &[]);
    check_body("'o: loop { for i in (0..4).rev().step_by(2) { if i == 3 { break 'o; } } while a > 1.0 { continue; } }", &[]);
    check_body("#[shared] let mut t: [[f32; 4]; 4]; #[shared(dynamic)] let mut d: [u8]; f(&mut t, &d, x, &t[1], &mut *y);", &[]);
    check_body("match a { 0..=3 => 1, q if q > 2 => 2, _ => 3 }; let [p, .., q] = [1, 2, 3]; let S { u, .. } = S { u: 1, ..z };", &[]);
    check_body("assert!(a < 1.0, \"a = {a}\"); println!(\"{} {}\", a, 1); assert_eq!(a, b, \"{}\", a); matches!(a, 1 | 2);", &[]);
    check_body("let v = b'a' as u8; let t: T = T::ZERO; let u = a as T; use std::f32::consts::PI;", &[]);
    check("#[device] fn f(b: &mut Global<f32>, t: &[[f32; 4]; 4], d: &mut [u8], s: S) -> (f32, [u32; 2]) { (0.0, [1, 2]) }", &[]);
    check(
        "#[kernel] fn k<const N: usize, T: Int>(n: u32, p: Params, q: (f32, u8), r: [f32; N], x: &Global<T>, y: &mut Global<T>, \
           c: &Constant<[f32; 8]>) {}",
        &[],
    );
    check("fn main() { let v: Vec<u8> = vec![]; let f = |x| x; unsafe { f(v) } } struct Host(String);", &[]);
}

#[test]
fn functions_have_names_of_their_own() {
    let refused = |name: &str| {
        format!("{name}: `{name}` is a function of the kernel language, and kernels would call that one; rename it: `own_{name}`")
    };
    check("#[device] fn any(v: bool) -> bool { v }", &[&refused("any")]);
    check("#[warpwright::module] mod m { #[device] pub fn block_sum(v: f32) -> f32 { v } }", &[&refused("block_sum")]);
    check("#[device] impl S { fn any(self) -> bool { true } } fn all() {} #[device] fn any_of(v: bool) -> bool { v }", &[]);
}

#[test]
fn expressions() {
    let closure = "closures are not in the kernel language; write it before the kernel, a `#[device] fn f` with the types of `v` and of its result, and call it";
    check_body("let f = |v| v + 1;", &[&format!("|: {closure}")]);
    check_body("unsafe { y[0] = 1.0; }", &["unsafe: `unsafe` is not in the kernel language; remove it: nothing in the language needs it"]);
    let wait = "remove it: a kernel's threads wait at barriers only";
    check_body("async { 1 };", &[&format!("async: `async` is not in the kernel language; {wait}")]);
    check_body("f().await;", &[&format!("await: `await` is not in the kernel language; {wait}")]);
    check_body("g()?;", &["?: `?` is not in the kernel language; use a flag and `if`; `return` leaves the kernel"]);
    check_body("const { 1 };", &["const: `const` blocks are not in the kernel language; define a `const` outside, and name it"]);
    check_body("&raw const a;", &["raw: raw pointers are not in the kernel language; index the buffer: `y[i]`"]);
    check_body("let r = 0..4;", &["..: a range is not a value in the kernel language; write it after `for … in`, or in a pattern"]);
    check_body(
        "let s = \"text\";",
        &[
            "\"text\": strings are not in the kernel language; only `print!`, `println!` and `assert!` take a text; an array of `u8` holds bytes",
        ],
    );
    check_body("let c = 'c';", &["'c': `char` is not a type of the kernel language; write a `u8`: `b'a'`"]);
}

#[test]
fn loops() {
    let walk = "a `for` in device code walks a range; write `for k in 0..x.len()`, and `x[k]` for `v`";
    check_body("for v in x.iter() {}", &[&format!("x.iter(): {walk}")]);
    check_body("for i in 0.. {}", &["..: this range is open; write both ends, `for i in a..b`, or `loop` with a `break`"]);
    check_body("for i in (0..4).step_by(0) {}", &["0: a range cannot have a step of 0; step by 1 or more"]);
    let down = "-1: a range cannot have a step of -1; write `(0..4).rev()`, the lower end first";
    check_body("for i in (0..4).step_by(-1) {}", &[down]);
    let down = "-2: a range cannot have a step of -2; write `(0..4).rev().step_by(2)`, the lower end first";
    check_body("for i in (0..4).step_by(-2) {}", &[down]);
    check_body(
        "#[unroll(0)] for i in 0..4 {}",
        &["0: `unroll` by 0 is not possible: it must be at least 1; use 1 to keep the loop rolled"],
    );
    check_body(
        "#[unroll(|| 4)] for i in 0..4 {}",
        &["|: closures are not in the kernel language; write it before the kernel, `#[device] fn f() -> i32 { 4 }`, and call it"],
    );
    check_body("#[unroll] if a > 1.0 {}", &["unroll: `#[unroll]` belongs on a loop, not on this; move it before the loop"]);
}

#[test]
fn references() {
    let local = "is a local, and the kernel language has no references to locals";
    check_body("let v = 1.0; f(&v);", &[&format!("&: `v` {local}; pass `v` by value")]);
    check_body("let mut v = [1.0; 4]; f(&mut v[1]);", &[&format!("&: `v` {local}; pass `v[1]` by value, and return the new one")]);
    check_body("f(&a);", &[&format!("&: `a` {local}; pass `a` by value")]);
    check_body("f(&g());", &["&: this refers to a value of no place; pass it by value"]);
    let bare = "references to locals are not in the kernel language";
    check_body("let r = &a;", &[&format!("&: {bare}; remove the `&`, and the `*` before `r`: values are copied")]);
    check_body("let r = &mut a;", &[&format!("&: {bare}; remove this `let`, and write `a` for `*r`")]);
    let own = "write `a`: values are copied, and only calls of device functions take `&buffer`";
    check_body("let r = (&a, 1);", &[&format!("&: {bare}; {own}")]);
    check_body("let s = &x[1..3];", &["&: slices are not in the kernel language; remove this `let`, and write `x[1 + k]` for `s[k]`"]);
    check_body(
        "let &v = w; let ref u = w;",
        &[&format!("&: {bare}; remove `&`: values are copied"), "ref: `ref` is not in the kernel language; remove it: values are copied"],
    );
}

#[test]
fn types_and_names() {
    check_body(
        "let v: Vec<f32> = Vec::new();",
        &[
            "Vec: `Vec` needs a heap, which device code does not have; use an array, `let mut v = [0.0f32; 16];`, and `v[n] = …` for `push`; or take a buffer, `&mut Global<f32>`",
        ],
    );
    check_body(
        "let b = Box::new(1); let s = std::string::String::from(a);",
        &[
            "Box: `Box` needs a heap, which device code does not have; use the value itself",
            "String: `String` needs a heap, which device code does not have; print with `println!`; for a text take an array, `[u8; 16]`, or a buffer, `&Global<u8>`",
        ],
    );
    let flag = "is an enum with fields, which the kernel language does not have; use a flag beside the value, `(bool, f32)`: `(true, v)` for `Some(v)`, \
                `(false, 0.0)` for `None`, and `if o.0`, in which `o.1` is the value, for `if let Some(v) = o`";
    // One mistake, however often it is named.
    check_body("let o: Option<u32> = Some(1);", &[&format!("Option: `Option` {flag}")]);
    check_body("if let None = o {}", &[&format!("None: `None` {flag}")]);
    check_body(
        "let r: &f32; let d: [f32]; let p: *const f32; let f: fn(u32);",
        &[
            "&f32: references to locals are not in the kernel language; use the value itself",
            "[f32]: slices of locals are not in the kernel language; use an array `[f32; N]`, or `#[shared(dynamic)]`",
            "*const f32: raw pointers are not in the kernel language; use a buffer and an index: `&mut Global<f32>`",
            "fn(u32): function pointers are not in the kernel language; call the function by its name, or choose with `match`",
        ]
        .map(|text| text),
    );
    check_body("let w = 1u64 as u128;", &["u128: `u128` is not a type of the kernel language; use `u64`, or two of them"]);
    check(
        "#[device] fn f(x: Box<dyn T>, y: impl F) {}",
        &[
            "Box: `Box` needs a heap, which device code does not have; use the value itself",
            "dyn T: `dyn` is not in the kernel language; name the type, or make it a generic parameter: `T: Float`",
            "impl F: `impl Trait` is not in the kernel language; name the type, or make it a generic parameter: `T: Float`",
        ],
    );
}

#[test]
fn macros_and_items_in_bodies() {
    check_body("vec![1]; format!(\"x\"); asert!(true); foo::bar!();", &[
        "vec: the macro `vec!` is not in the kernel language; write `[1]`: an array, whose length is a constant",
        "format: the macro `format!` is not in the kernel language; print it, `println!(\"x\")`: device code has no strings",
        "asert: the macro `asert!` is not in the kernel language; write `assert!`",
        "foo::bar: the macro `bar!` is not in the kernel language; there are `assert!`, `debug_assert!`, `print!` and `println!`; call a \
         `#[device]` function for the rest",
    ].map(|text| text));
    check_body(
        "println!(\"{}\", |v| v); assert!(\"a\" == \"b\", \"{}\", \"c\");",
        &[
            "|: closures are not in the kernel language; write it before the kernel, a `#[device] fn f` with the types of `v` and of its result, and call it",
            "\"a\": strings are not in the kernel language; only `print!`, `println!` and `assert!` take a text; an array of `u8` holds bytes",
            "\"b\": strings are not in the kernel language; only `print!`, `println!` and `assert!` take a text; an array of `u8` holds bytes",
            "\"c\": strings are not in the kernel language; only `print!`, `println!` and `assert!` take a text; an array of `u8` holds bytes",
        ],
    );
    check_body(
        "fn f() {} const N: usize = 1; struct S; static Z: u8 = 0;",
        &[
            "fn: functions within a body are not in the kernel language; move it out of the function",
            "struct: structs within a body are not in the kernel language; move it out of the function",
            "static: `static`s within a body are not in the kernel language; write `const Z: u8 = 0;` before the function",
        ],
    );
    let shared = "static: `static`s within a body are not in the kernel language; write `#[shared] let mut t: [f32; 4];`";
    check_body("#[shared] static mut t: [f32; 4];", &[shared]);
    check_body("#[shared] static mut t: [f32; 4] = [0.0; 4];", &[shared]);
    check_body("static mut t: [f32; 4] = [0.0; 4];", &[&format!("{shared}: an array of the block")]);
    check_body(
        "#[cfg(test)] y[0] = 1.0;",
        &[
            "cfg: `#[cfg]` inside device code is not supported; put it on the whole item, or ask a constant defined outside: `const CHECKED: \
         bool = cfg!(feature = \"checked\");`",
        ],
    );
}

#[test]
fn kernel_parameters() {
    check_parameter("&[f32]", &["&: a kernel takes no slices; take a buffer: `&Global<f32>`"]);
    check_parameter("&mut [f32]", &["&: a kernel takes no slices; take a buffer: `&mut Global<f32>`"]);
    check_parameter("Vec<f64>", &["Vec: a kernel takes no `Vec`; take a buffer: `&Global<f64>`"]);
    check_parameter("&Vec<f64>", &["Vec: a kernel takes no `Vec`; take a buffer: `&Global<f64>`"]);
    check_parameter(
        "&str",
        &[
            "str: `str` is not a type of the kernel language; print with `println!`; for a text take an array, `[u8; 16]`, or a buffer, `&Global<u8>`",
        ],
    );
    check_parameter("Global<f32>", &["Global: a `Global` is memory of the device: it is taken by reference; write `&Global<f32>`"]);
    check_parameter("&f32", &["&: a kernel takes a single `f32` by value; write `f32`"]);
    check_parameter("&Gobal<f32>", &["&: there is no memory `Gobal<f32>`; write `Global<f32>`"]);
    check_parameter("&Texture3d<u8>", &["&: there is no memory `Texture3d<u8>`; write `Texture2d<u8>`"]);
    check_parameter("&Pair<f32>", &["&: a kernel takes a single `Pair<f32>` by value; write `Pair<f32>`"]);
    check_parameter(
        "&mut u32",
        &["&: a kernel cannot write to a single `u32` of the host; take a buffer of one element: `&mut Global<u32>`"],
    );
    check_parameter(
        "&mut Constant<[f32; 4]>",
        &["&: constant memory cannot be written by a kernel; write `&Constant<…>`, or take a `&mut Global<…>`"],
    );
    check_parameter("Matrix<f32>", &["Matrix: a `Matrix` is memory of the device: it is taken by reference; write `&Matrix<f32>`"]);
    let already = "`&Global<f32>` is a reference already, and memory of the device is taken by one; write `&Global<f32>`";
    check_parameter("&&Global<f32>", &[&format!("&: {already}")]);
    check_parameter("&&f32", &["&: a kernel takes a single `f32` by value; write `f32`"]);
    check("#[device] fn f(x: &&Global<f32>) {}", &[&format!("&: {already}")]);
    check_parameter("Matrix", &[]);
    check_parameter("&mut Matrix", &["Matrix: `Matrix` takes one type: that of its elements; write `Matrix<f32>`"]);
    check_parameter("&Matrx<f32>", &["&: there is no memory `Matrx<f32>`; write `Matrix<f32>`"]);
    check_parameter("&Global", &["Global: `Global` takes one type: that of its elements; write `Global<f32>`"]);
    check_parameter("*mut f32", &["*mut f32: a kernel takes no raw pointers; take a buffer: `&mut Global<f32>`"]);
    check_parameter("&[f32; 4]", &["&: a kernel takes no reference to an array; take `&Constant<[f32; 4]>` or `&Global<f32>`"]);
    check_parameter("impl Fn()", &["impl Fn(): a kernel takes no `impl Trait`; name the type by a generic parameter: `T: Float`"]);
    check_parameter("char", &["char: `char` is not a type of the kernel language; use `u8` or `u32`"]);
}

#[test]
fn kernel_signatures() {
    check(
        "#[kernel] async unsafe extern \"C\" fn k() {}",
        &[
            "async: a kernel cannot be `async`; remove `async`",
            "unsafe: a kernel cannot be `unsafe`; remove `unsafe`",
            "extern: a kernel cannot be `extern`; remove `extern`",
        ],
    );
    check(
        "#[kernel] const fn k() -> f32 { 1.0 }",
        &[
            "const: a kernel cannot be `const`; remove `const`",
            "f32: a kernel returns nothing: its threads have no caller; remove `-> f32`, take a buffer, `out: &mut Global<f32>`, and end with \
             `out[global_id().x] = …;`",
        ],
    );
    check("#[kernel] fn k() -> () {}", &[]);
    check(
        "#[kernel] fn k<'a>(x: &'a Global<f32>, (b, c): (u32, u32)) {}",
        &[
            "'a: a kernel needs no lifetimes: its buffers live as long as its launch; remove `'a`",
            "'a: a kernel needs no lifetimes: its buffers live as long as its launch; remove `'a`",
            "(b, c): a parameter of a kernel has a plain name; name it, and take it apart in the body with `let`",
        ],
    );
    check(
        "#[kernel] fn k<T, U: Copy, V: Flot, W: Display, const C: char>() {}",
        &[
            "T: `T` needs a bound that says what it can be; write `T: Element`, or `Float`, `Num`, `Int` to calculate with it",
            "U: `U` needs a bound that says what it can be; write `U: Element`, or `Float`, `Num`, `Int` to calculate with it",
            "Flot: the device does not know the trait `Flot`; write `Float`",
            "Display: the device does not know the trait `Display`; type parameters of kernels are `Float`, `Num`, `Int` or `Element`",
            "char: a const generic of a kernel cannot be a `char`; use an integer type or `bool`",
        ],
    );
    check("#[kernel] fn k<T>() where T: Num {}", &[]);
}

#[test]
fn variants_fit_the_generics() {
    check("#[kernel(variants(B in [1, 2], F in [true]))] fn k<const B: usize, const F: bool>() {}", &[]);
    check(
        "#[kernel(variants(BLOK in [1], F in [1]))] fn k<const BLOCK: usize, const F: bool>() {}",
        &[
            "BLOK: `k` has no generic parameter `BLOK`; write `BLOCK`",
            "1: `F` is a `bool`, and `1` is not; list `false` and `true`",
            "variants: the variants do not list `BLOCK`; add its values: `BLOCK in [1, 2, 4]`",
        ],
    );
    check(
        "#[kernel(variants(B in [1]))] fn k<const B: usize, const F: bool, T: Float>() {}",
        &[
            "variants: the variants do not list `F`; add its values: `F in [false, true]`",
            "variants: the variants do not list `T`; add its values: `T in [f32, f64]`",
        ],
    );
    check("#[kernel(variants(N in [true]))] fn k<const N: u32>() {}", &["true: `N` is a `u32`, and `true` is not; list integers"]);
    check("#[kernel(variants(N in [f32]))] fn k<const N: u32>() {}", &["f32: `N` is a `u32`, and `f32` is not; list integers"]);
    check(
        "#[kernel(variants(T in [f32, 64, [f16; 2], N]))] fn k<T: Element>() {}",
        &["64: `T` stands for a type, and `64` is none; list types: `T in [f32, f64]`"],
    );
    check("#[kernel(variants(N in [1]))] fn k() {}", &["N: `k` has no generic parameter `N`; add it to the kernel: `const N: usize`"]);
}

#[test]
fn device_signatures() {
    let only = "device functions take references to buffers and shared arrays only";
    check(
        "#[device] fn f(x: &f32, y: &mut P) {}",
        &[&format!("&: {only}; take `f32` by value"), &format!("&: {only}; take `P` by value, and return the new one")],
    );
    check(
        "#[device] async fn f() -> &f32 { x }",
        &[
            "async: a device function cannot be `async`; remove `async`",
            "&f32: references to locals are not in the kernel language; use the value itself",
        ],
    );
    check(
        "#[device] impl S { fn f(&self, other: &S) {} fn g(&mut self, a: f32) {} const N: usize = 1; }",
        &[&format!("&: {only}; take `S` by value")],
    );
    check(
        "#[device] impl S { #[kernel(block = 64)] fn k(&self, y: &mut Global<f32>) { y[0] = 1.0; } }",
        &["k: the kernel `k` stands in an `impl`, where nothing can launch it; move `#[kernel] fn k` out of the `impl`; what it needs of \
         `self` is a parameter"],
    );
    check(
        "#[device] impl Add for S { fn add(self) {} }",
        &[
            "Add: implementations of traits are not in the kernel language; write the methods into an `impl` without a trait, or move this one \
         out of the module",
        ],
    );
}

#[test]
fn structs_with_a_lifetime_are_groups() {
    check("#[device] struct P<'a, T: Num> { x: &'a Global<T>, y: &'a mut Global<[f32; 2]>, c: &'a Constant<[T; 4]>, n: (u32, T) }", &[]);
    check("#[device] fn f(p: &P<'_>, q: &mut P<'_>, r: P<'_>) { g(&r); }", &[]);
    check("#[kernel] fn k(p: P<'_>, q: sim::P<'_, f32>) { f(&p, &q); }", &[]);
    let form = "write `&'a Global<f32>`, `&'a mut Global<f32>`, `&'a Constant<[f32; 8]>`, or the value itself";
    check(
        "#[device] struct P<'a, 'b> { x: &'a mut Constant<f32>, y: &'b [f32], q: Q<'a> }",
        &[
            "'b: `P` is a group of parameters, and has one lifetime; remove `'b`, and use the first in every field",
            &format!("&: a group of parameters holds buffers and values, and `&'a mut Constant<f32>` is neither; {form}"),
            &format!("&: a group of parameters holds buffers and values, and `&'b[f32]` is neither; {form}"),
            "Q<'a>: a group of parameters holds no other; take both as parameters of the kernel",
        ],
    );
    let text = "Q: the fields of `Q`, a group of parameters, have no names; name them: `x: &'a Global<f32>`";
    check("#[device] struct Q<'a>(&'a Global<f32>);", &[text]);
    let text = "&: a group of parameters holds no matrix; take both as parameters of the kernel";
    check("#[device] struct M<'a> { a: &'a mut Matrix<f32> }", &[text]);
    check("#[kernel] fn k(p: &P<'_>) {}", &["&: a kernel takes a group of parameters by value; write `P<'_>`, without the `&`"]);
}

#[test]
fn types_of_the_device() {
    check("#[device] #[derive(Clone, Copy)] #[repr(C)] struct S { a: f32, b: [u8; 4], c: (u32, T) }", &[]);
    check("#[device] #[derive(Clone, Copy)] #[repr(C, align(16))] struct S { a: f32 }", &[]);
    check(
        "#[device] #[derive(Clone, Copy)] #[repr(C, packed)] struct S { a: f32 }",
        &[
            "S: `#[repr(packed)]` gives `S` a layout that the device does not have; leave it at `#[repr(C)]`, or `#[repr(C, align(N))]` with an N up to 16; more room is a field of its own",
        ],
    );
    check(
        "#[device] struct S { a: f32 }",
        &["S: `S` needs the layout that the device gives it; write `#[derive(Clone, Copy)] #[repr(C)]` before it"],
    );
    check(
        "#[device] #[repr(C, align(64))] struct S { a: String }",
        &[
            "S: `#[repr(align(64))]` gives `S` a layout that the device does not have; write `#[repr(C, align(16))]`, which is what the widest access needs",
            "String: `String` needs a heap, which device code does not have; print with `println!`; for a text take an array, `[u8; 16]`, or a buffer, `&Global<u8>`",
        ],
    );
    check(
        "#[device] enum E { A, B(f32) }",
        &[
            "B: `B` has fields; enums of the kernel language have none; write `#[derive(Clone, Copy)] #[repr(u32)] enum E { A, B }`, and hold \
             the fields beside it: `#[device] #[derive(Clone, Copy)] #[repr(C)] struct EValue { kind: E, b: f32 }`",
        ],
    );
    for (variants, fields) in [
        ("A { r: f32 }, B { r: f32, s: u32 }", "r: f32, s: u32"),
        ("A { r: f32 }, B { r: u32 }", "r: f32, b_r: u32"),
        ("Kind(f32), If(f32, [f32; 2])", "kind_kind: f32, if_value: f32, if1: [f32; 2]"),
        ("A { b: f32 }, B(f32)", "b: f32, b_b: f32"),
    ] {
        let file = syn::parse_file(&format!("#[device] enum E {{ {variants} }}")).unwrap();
        let mut diagnostics = Diagnostics::new();
        check_subset(&file.items, &mut diagnostics);
        let found = render(&diagnostics);
        assert!(found[0].ends_with(&format!("struct EValue {{ kind: E, {fields} }}`")), "{variants}: {found:?}");
    }
}

#[test]
fn modules_hold_device_code() {
    check(
        "#[warpwright::module] mod m {
             use warpwright::prelude::*; const N: usize = 4; type Real = f32; enum E { A }
             #[derive(Clone, Copy)] #[repr(C)] struct S { a: f32 } impl S { fn f(&self) -> f32 { self.a } }
             #[device] fn g() {} #[kernel] fn k() { g() }
             fn host() { vec![1]; } #[cfg(test)] mod tests { static A: u8 = 0; }
           }",
        &[],
    );
    check(
        "#[module] mod m { static A: u32 = 0; union U { a: u32 } trait T {} mod n {} macro_rules! w { () => {} } impl T for S {} }",
        &[
            "static: `static`s are not in the kernel language; use a `const`, a `&Constant<…>` parameter, or `#[shared]` memory",
            "union: unions are not in the kernel language; use a struct, and `to_bits`/`from_bits` to reinterpret",
            "trait: traits are not in the kernel language; move it out of the module; bounds are `Float`, `Num`, `Int`, `Element`",
            "mod: modules within a module are not in the kernel language; give it a `#[warpwright::module]` of its own beside this one",
            "macro_rules: macros that make items are not in the kernel language; write the items out, or move the macro out of the module",
            "T: implementations of traits are not in the kernel language; write the methods into an `impl` without a trait, or move this one \
         out of the module",
        ],
    );
    check(
        "#[module] mod m { fn helper() {} #[kernel] fn k() { helper(); } }",
        &["helper: `helper` is not marked for the device; write `#[device]` before `fn helper`"],
    );
    check(
        "#[module] mod m { #[cfg(feature = \"x\")] #[device] fn f() {} }",
        &[
            "cfg: `#[cfg]` inside device code is not supported; put it on the whole item, or ask a constant defined outside: `const CHECKED: \
         bool = cfg!(feature = \"checked\");`",
        ],
    );
}

#[test]
fn everything_is_reported_at_once() {
    check(
        "#[kernel(blok = 1)] fn k(x: &[f32]) { let f = |a| a; unsafe {} } #[device] fn g(s: &str) { \"x\"; }",
        &[
            "blok: unknown argument `blok` of `#[kernel]`; write `block`",
            "&: a kernel takes no slices; take a buffer: `&Global<f32>`",
            "|: closures are not in the kernel language; write it before the kernel, a `#[device] fn f` with the types of `a` and of its result, and call it",
            "unsafe: `unsafe` is not in the kernel language; remove it: nothing in the language needs it",
            "&: device functions take references to buffers and shared arrays only; take `str` by value",
            "str: `str` is not a type of the kernel language; print with `println!`; for a text take an array, `[u8; 16]`, or a buffer, `&Global<u8>`",
            "\"x\": strings are not in the kernel language; only `print!`, `println!` and `assert!` take a text; an array of `u8` holds bytes",
        ],
    );
}
