//! The front end on whole kernels: what verifies, and what is refused with which words.

mod annotations;
mod atomics;

use crate::ir::Scalar;
use crate::pipeline::lower;
use crate::syntax::{ConstValue, GenericValue, Instance, Program, Unit};

fn compile(source: &str, name: &str, generics: Vec<GenericValue>) -> Result<crate::ir::Kernel, Vec<String>> {
    let mut program = Program::default();
    let unit = Unit::parse("kernel.rs", 1, 1, source).map_err(|d| d.iter().map(|d| d.message.clone()).collect::<Vec<_>>())?;
    let unit = program.add(unit);
    match lower(&program, unit, name, &Instance { generics }) {
        Ok(lowered) => {
            let violations = crate::verify::verify(&lowered.kernel);
            assert!(violations.is_ok(), "{violations:?}\n{}", lowered.kernel);
            Ok(crate::ir::Kernel::clone(&lowered.kernel))
        }
        Err(diagnostics) => Err(diagnostics.iter().map(|d| d.message.clone()).collect()),
    }
}

fn usize_value(value: i128) -> GenericValue {
    GenericValue::Const(ConstValue::Index(value, false))
}

/// What generics make of an index is known in the instance alone: `rustc` does not tell.
#[test]
fn an_index_that_generics_put_beyond_an_array_is_refused() {
    let kernel = |body: &str| {
        format!(
            "#[kernel(block = B)] fn k<const B: usize>(n: usize, y: &mut Global<f32>) {{ #[shared] let mut s: [f32; 100]; let t = thread_idx().x; {body} }}"
        )
    };
    let refused = |body: &str, b: i128| compile(&kernel(body), "k", vec![usize_value(b)]).err();
    let beyond = Some(vec!["index 127 is out of range for length 100, in `s` with these generics".to_owned()]);
    for body in [
        "y[t] = s[B - 1];",
        "let last = B - 1; s[last] = 1.0;",
        "if t < n { y[t] = s[if B > 64 { B } else { 1 } - 1]; }",
        "y[t] = s[(B as u32 - 1) as usize];",
        "for i in 0..n { y[i] = s[B / 2 * 2 - 1]; }",
    ] {
        assert_eq!(refused(body, 128), beyond, "{body}");
        assert_eq!(refused(body, 64), None, "{body}");
    }
    let source = "const W: [f32; 3] = [0.25, 0.5, 0.25]; #[kernel] fn k<const N: usize>(y: &mut Global<f32>) { y[0] = W[N]; }";
    let of_table = Some(vec!["index 3 is out of range for length 3, in this array with these generics".to_owned()]);
    assert_eq!(compile(source, "k", vec![usize_value(3)]).err(), of_table);
    // What the generics exclude is not looked into.
    for body in [
        "if B <= 100 { y[t] = s[B - 1]; }",
        "if B > 100 { return; } y[t] = s[B - 1];",
        "for i in B..100 { y[i] = s[B]; }",
        "for i in 0..B { if i < n { y[i] = s[i]; } }",
    ] {
        assert_eq!(refused(body, 128), None, "{body}");
    }
}

#[test]
fn kernels_of_every_shape_verify() {
    let sources: &[(&str, &str)] = &[
        (
            "saxpy",
            "#[kernel(block = 256)] fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; if i < y.len() { y[i] = a * x[i] + y[i]; } }",
        ),
        (
            "early",
            "#[kernel] fn early(n: u32, y: &mut Global<u32>) { let i = global_id().x; if i >= y.len() { return; } let mut s = 0; let mut k = 0; while k < n { if k == 7 { k += 2; continue; } if s > 100 { break; } s += k; k += 1; } y[i] = s; }",
        ),
        (
            "nested",
            "#[kernel] fn nested(y: &mut Global<i32>) { let mut total = 0; 'outer: for i in 0..10 { for j in (0..i).rev() { if j == 3 { continue 'outer; } if i == 8 { break 'outer; } total += j * i; } } let last = loop { total += 1; if total > 50 { break total * 2; } }; y[global_id().x] = last; }",
        ),
        (
            "tile",
            "#[kernel(block = (16, 16))] fn tile(a: &Global<f32>, c: &mut Global<f32>, n: usize) { #[shared] let mut t: [[f32; 16]; 16]; let (tx, ty) = (thread_idx().x, thread_idx().y); let mut acc = 0.0; for m in 0..n / 16 { t[ty][tx] = a[(block_idx().y * 16 + ty) * n + m * 16 + tx]; sync_threads(); for k in 0..16 { acc += t[ty][k] * t[k][tx]; } sync_threads(); } c[0] = acc; }",
        ),
        (
            "arrays",
            "#[kernel] fn arrays(y: &mut Global<f32>) { let mut a = [1.0f32; 4]; let b = [1.0, 2.0, 3.0, a[0]]; a[1] = b[2]; let [p, q, ..] = b; let big = [0.5f32; 500]; let copy = big; a = if p > q { a } else { b }; y[0] = a[3] + copy[thread_idx().x]; }",
        ),
        (
            "shapes",
            "#[derive(Clone, Copy)] #[repr(C)] struct P { pos: [f32; 3], m: f32 } #[derive(Clone, Copy)] enum Kind { A, B = 5, C } impl P { const K: f32 = 2.0; fn norm(&self) -> f32 { let mut s = 0.0; for i in 0..3 { s += self.pos[i] * self.pos[i]; } s * Self::K } fn scale(&mut self, f: f32) { if f == 0.0 { return; } self.m *= f; } } #[device] fn pick(k: Kind, x: i32) -> i32 { match (k, x) { (Kind::A, 0..=3) => 1, (Kind::B, v @ 4..) if v > 10 => v, (Kind::C, 1 | 2) => 7, _ => -1 } } #[kernel] fn shapes(ps: &Global<P>, out: &mut Global<P>, y: &mut Global<i32>) { let i = global_id().x; let mut p = ps[i]; p.scale(3.0); out[i] = P { m: p.norm(), ..p }; out[i].pos[1] = 4.0; let k = if i > 3 { Kind::A } else { Kind::C }; y[i] = pick(k, i as i32) + matches!(k, Kind::B) as i32; }",
        ),
        (
            "messages",
            "#[kernel(bounds = trap)] fn messages(y: &mut Global<f32>) { let i = global_id().x; assert!(i < 10, \"i = {i} of {}\", y.len()); println!(\"{:.3} {}\", y[i], i); debug_assert!(true); y[i] = 1.0; }",
        ),
        (
            "atomics",
            "const N: usize = 4 * 64; #[kernel(block = 256)] fn atomics(x: &Global<u32>, h: &mut Global<u32>) { #[shared] let mut bins: [u32; N]; let t = thread_idx().x; bins[t] = 0; sync_threads(); bins.atomic_add((x[global_id().x] % 256) as usize, 1); sync_threads(); if bins[t] != 0 { h.atomic_add(t, bins[t]); } let [a, b] = x.load::<2>(2 * t); h.store(2 * t, [b, a]); }",
        ),
        (
            "dynamic",
            "#[device] fn sum(buf: &[f32], n: usize) -> f32 { let mut s = 0.0; for i in 0..n { s += buf[i]; } s } #[kernel] fn dynamic(y: &mut Global<f32>, c: &Constant<[f32; 8]>) { #[shared(dynamic)] let mut buf: [f32]; buf[thread_idx().x] = c[thread_idx().x % 8]; sync_threads(); y[0] = sum(&buf, buf.len()) + sum(&c, 3); }",
        ),
        (
            "ranges",
            "#[kernel] fn ranges(y: &mut Global<u8>, n: u8) { for i in 0..=n { y[i as usize] += i; } for i in (3..n).step_by(2) { y[0] += i; } for i in (3..=n).rev().step_by(2) { y[0] += i; } for i in (3..n).step_by(2).rev() { y[0] += i; } for i in 0..=255u8 { y[1] = i; } }",
        ),
        (
            "deferred",
            "#[kernel] fn deferred(y: &mut Global<f32>, c: bool) { let x; if c { x = 1.0; } else { x = 2.0; } let (mut a, mut b) = (x, 3.0); (a, b) = (b, a); y[0] = a - b; let v = 'b: { if c { break 'b 1.0 } 2.0 }; y[1] = v; }",
        ),
        (
            "table",
            "const W: [f32; 3] = [0.25, 0.5, 0.25]; #[kernel] fn table(y: &mut Global<f32>) { let i = thread_idx().x; y[i] = W[i % 3] * std::f32::consts::PI + f32::MAX; }",
        ),
        (
            "casts",
            "#[kernel(index = 64)] fn casts(y: &mut Global<i64>, f: f64) { let i = global_id().x; y[i] = f as i64 + (f as u8) as i64 + (i as f32) as i64 + ((i > 3) as i64) + (-5i8 as u32 as i64) + (1u64 << i) as i64 + 5_000_000_000; }",
        ),
    ];
    for (name, source) in sources {
        if let Err(errors) = compile(source, name, Vec::new()) {
            panic!("`{name}`: {errors:#?}");
        }
    }
}

#[test]
fn generics_are_filled_in() {
    let source = "#[device] fn twice<T: Num, const N: usize>(a: [T; N]) -> T { let mut s = T::ZERO; for i in 0..N { s += a[i]; } s + s } #[kernel(block = B)] fn g<T: Float, const B: usize>(y: &mut Global<T>) { y[B - 1] = twice([y[0], y[1], T::ONE]); }";
    let kernel = compile(source, "g", vec![GenericValue::Type("f64".into()), usize_value(64)]).expect("compiles");
    assert_eq!(kernel.options.block, Some([64, 1, 1]));
    let text = kernel.to_string();
    assert!(text.contains("f64") && !text.contains("f32"), "{text}");
}

#[test]
fn refusals_name_the_thing() {
    let cases: &[(&str, &str)] = &[
        (
            "#[device] fn f(x: u32) -> u32 { if x == 0 { 0 } else { f(x - 1) } } #[kernel] fn k(y: &mut Global<u32>) { y[0] = f(3); }",
            "`f` calls itself",
        ),
        ("#[kernel] fn k(y: &mut Global<u32>) { y[0] = sync_thread(); }", "the function `sync_thread` is not known"),
        ("#[kernel] fn k(y: &mut Global<f32>) { y[0] = y[1].sqroot(); }", "has no method `sqroot`"),
        ("#[kernel] fn k(y: &mut Global<f32>) { y[0] = 1u32; }", "expected `f32`, found `u32`"),
        ("#[kernel] fn k(y: &mut Global<f32>) { for x in y { } }", "a `for` in a kernel walks a range"),
        ("#[kernel(block = 2048)] fn k(y: &mut Global<f32>) { y[0] = 1.0; }", "2048"),
        ("#[kernel] fn k(y: &mut Global<f32>) { #[shared] let mut t: [f32; 100000]; t[0] = 1.0; y[0] = t[1]; }", "400000 bytes"),
        ("#[kernel] fn k(y: &mut Global<f32>) { y[5_000_000_000] = 1.0; }", "does not fit `usize`"),
        ("#[kernel] fn k(n: usize, y: &mut Global<f32>) { y[n << 40] = 1.0; }", "`usize` has 32 bits here, and this shifts one by 40"),
        ("#[kernel] fn k(n: isize, y: &mut Global<i32>) { let mut m = n; m >>= 32; y[0] = m as i32; }", "`isize` has 32 bits here"),
        ("#[kernel] fn k(y: &mut Global<f32>) { let a = [1.0f32; 4]; y[0] = a[4]; }", "index 4 is out of range for length 4"),
        ("#[kernel] fn k(y: &mut Global<f32>) { let i: usize = global_id(); y[i] = 1.0; }", "expected `usize`, found `Dim3`"),
        ("#[kernel] fn k(n: usize, y: &mut Global<f32>) { if global_id() < n { y[0] = 1.0; } }", "expected `usize`, found `Dim3`"),
        ("#[kernel] fn k(y: &mut Global<f32>) { let i = global_id() as usize; y[i] = 1.0; }", "expected a scalar, found `Dim3`"),
        ("#[kernel] fn k(y: &mut Global<f32>) { y[0] = unknown::N; }", "`unknown::N` is not known here"),
        ("#[kernel] fn k(y: &mut Global<u8>) { y.atomic_add(0, 1); }", "`atomic_add` does not work on `u8`"),
        ("#[kernel] fn k(y: &mut Global<f64>) { let v = y.load::<4>(0); y[0] = v[0]; }", "a vector access of 4 × 8 bytes"),
        (
            "#[device] fn of<const N: usize>(v: f32) -> [f32; N] { [v; N] } #[kernel] fn k(y: &mut Global<f32>) { let v = of(1.0); y.store(0, v); let w: [f32; 3] = v; y[3] = w[0]; }",
            "a vector access of 3 × 4 bytes",
        ),
        (
            "#[device] fn of<const N: usize>(v: f32) -> [f32; N] { [v; N] } #[kernel] fn k(y: &mut Global<f32>) { let v = of(1.0); y.store(0, v); let w: [f32; 8] = v; y[8] = w[0]; }",
            "a vector access of 8 × 4 bytes",
        ),
    ];
    for (source, expected) in cases {
        let errors = compile(source, "k", Vec::new()).err().unwrap_or_default();
        assert!(errors.iter().any(|e| e.contains(expected)), "{source}\nexpected: {expected}\nfound: {errors:?}");
    }
}

/// The edits that are said of a kernel's body, before which these items stand.
fn edits(items: &str, body: &str) -> Vec<String> {
    let source = format!(
        "{items} #[kernel] fn k(a: i32, b: u8, f: f32, g: f64, h: f16, n: usize, x: &Global<i32>, y: &mut Global<i32>) {{ {body} }}"
    );
    let mut program = Program::default();
    let unit = program.add(Unit::parse("kernel.rs", 1, 1, &source).expect("it is Rust"));
    let found = lower(&program, unit, "k", &Instance::default()).err();
    found.iter().flat_map(|found| found.iter()).map(|finding| finding.help.clone().unwrap_or_default()).collect()
}

#[test]
fn what_may_be_too_large_is_looked_at_by_its_type() {
    for (body, edit) in [
        ("let s = b.checked_add(3);", "write `let (sum, over) = (b.wrapping_add(3), b > u8::MAX - 3);`: there is no `Option`"),
        (
            "let s = b.checked_add(b & 1);",
            "write `let (sum, over) = (b.wrapping_add(b & 1), b > u8::MAX - (b & 1));`: there is no `Option`",
        ),
        ("let s = a.checked_add(3);", "write `let sum = a.wrapping_add(3); let over = (sum < a) != (3 < 0);`: there is no `Option`"),
        ("let s = n.checked_sub(1);", "compare first: `if n >= 1 { n - 1 } else { … }`: there is no `Option`"),
        (
            "let s = a.checked_sub(3);",
            "write `let difference = a.wrapping_sub(3); let over = (difference > a) != (3 < 0);`: there is no `Option`",
        ),
        ("let s = b.overflowing_sub(b);", "write `let (difference, over) = (b.wrapping_sub(b), b < b);`"),
        ("let s = a.checked_neg();", "write `let (negative, over) = (a.wrapping_neg(), a == i32::MIN);`: there is no `Option`"),
        ("let s = a.checked_div(2);", "write `a / 2`"),
        (
            "let s = a.checked_rem(a);",
            "compare first: `if a != 0 && (a != i32::MIN || a != -1) { a % a } else { … }`: there is no `Option`",
        ),
        ("let s = b.checked_div(b);", "compare first: `if b != 0 { b / b } else { … }`: there is no `Option`"),
        ("let s = a.wrapping_rem_euclid(3);", "write `a.rem_euclid(3)`"),
        (
            "let s = b.carrying_add(3, a > 0);",
            "write `let low = b.wrapping_add(3); let sum = low.wrapping_add((a > 0) as u8); let carry = low < b || sum < low;`",
        ),
        ("let s = a.sin();", "write `(a as f32).sin()`"),
        ("let s = (x[n] as i64 + 1).exp();", "write `((x[n] as i64 + 1) as f64).exp()`"),
        ("let s = a.sqrt();", "write `a.isqrt()`, which leaves the fraction out, or `(a as f32).sqrt()`"),
        ("let s = a.mni(3);", "did you mean `min`?"),
    ] {
        assert_eq!(edits("", body), [edit], "{body}");
    }
}

/// What the edits for sums and differences compute, of all pairs of small numbers.
#[test]
fn what_is_said_of_numbers_that_may_be_too_large_is_so() {
    for (a, b) in (i8::MIN..=i8::MAX).flat_map(|a| (i8::MIN..=i8::MAX).map(move |b| (a, b))) {
        let (sum, difference, product) = (a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b));
        assert_eq!((sum, (sum < a) != (b < 0)), a.overflowing_add(b), "{a} + {b}");
        assert_eq!((difference, (difference > a) != (b < 0)), a.overflowing_sub(b), "{a} - {b}");
        let high = ((i16::from(a) * i16::from(b)) >> 8) as i8;
        assert_eq!((product, high != product >> (i8::BITS - 1)), a.overflowing_mul(b), "{a} * {b}");
        let (a, b) = (a as u8, b as u8);
        assert_eq!((a.wrapping_add(b), a > u8::MAX - b), a.overflowing_add(b), "{a} + {b}");
        assert_eq!((a.wrapping_sub(b), a < b), a.overflowing_sub(b), "{a} - {b}");
        for carry in [false, true] {
            let low = a.wrapping_add(b);
            let sum = low.wrapping_add(u8::from(carry));
            let wide = u16::from(a) + u16::from(b) + u16::from(carry);
            assert_eq!((sum, low < a || sum < low), (wide as u8, wide > 255), "{a} + {b} + {carry}");
            let low = a.wrapping_sub(b);
            let difference = low.wrapping_sub(u8::from(carry));
            let wide = i16::from(a) - i16::from(b) - i16::from(carry);
            assert_eq!((difference, low > a || difference > low), (wide as u8, wide < 0), "{a} - {b} - {carry}");
        }
    }
}

#[test]
fn a_value_too_many_or_none_is_said_where_it_stands() {
    let of = |item: &str| edits(&format!("#[device] {item}"), "f(a);");
    assert_eq!(of("fn f(v: i32) { if v > 3 { return 5; } }"), ["remove the value, or write `-> i32` behind the parameters"]);
    assert_eq!(of("fn f(v: i32) { if v > 3 { return v > 4; } }"), ["remove the value, or write `-> bool` behind the parameters"]);
    assert_eq!(of("fn f(v: i32) -> i32 { if v > 3 { return; } 5 }"), ["write the value behind `return`"]);
    assert_eq!(of("fn f(v: i32) -> i32 { if v > 3 { return 5; } }"), ["write the value behind the `if`, or an `else` with it"]);
    assert_eq!(of("fn f(v: i32) -> i32 { for i in 0..v { return i; } }"), ["write the value behind the loop"]);
    assert_eq!(of("fn f(v: i32) -> i32 { v + 1; }"), ["end with the value, and no `;` behind it"]);
    assert_eq!(of("fn f(v: i32) -> i32 { let mut w = v; w += 1; }"), ["write the value behind it"]);
    let otherwise = "write `;` behind the value, `return` before it, or an `else` with another";
    assert_eq!(of("fn f(v: i32) -> i32 { if v > 3 { 5 } }"), [otherwise]);
    assert_eq!(edits("", "if a > 3 { 5 } y[0] = 1;")[0], otherwise);
    assert_eq!(of("fn f(v: i32) -> i32 { }"), ["write the value between the braces"]);
    assert_eq!(of("fn f(v: i32) { v + 1 }"), ["write `;` behind it"]);
    assert_eq!(edits("", "return 5;"), ["a kernel gives nothing back: write `y[i] = 5; return;`, into a buffer"]);
    assert_eq!(edits("", "if a = 7 { y[0] = 1; }"), ["write `a == 7`"]);
    assert_eq!(edits("", "while a > 3 && n = 7 { y[0] = 1; }"), ["write `a > 3 && n == 7`"]);
}

#[test]
fn what_has_to_be_known_early_is_no_variable_and_no_static() {
    let constant = "define `const M: usize = …;` and write `M`, or make it a const generic of the function";
    for body in ["let m = 3; let q = [0; m];", "let m = 3; let q: [i32; m] = [0; 4];", "let m = 3; #[shared] let mut q: [f32; m * 2];"] {
        assert_eq!(edits("", body), [constant], "{body}");
    }
    assert_eq!(edits("#[device] fn f<const N: usize>() {}", "let m = 3; f::<m>();"), [constant]);
    assert_eq!(edits("#[device] fn f<T: Num>(v: T) -> T { v }", "let i32 = a; y[0] = f::<i32>(i32);"), [""; 0]);
    assert_eq!(edits("", "let q = [0; x.len()];"), [constant.replace('M', "LEN")]);
    let of_static = ["define a constant in its place: `const T: [i32; 2] = …;`"];
    assert_eq!(edits("static T: [i32; 2] = [1, 2];", "y[0] = T[1];"), of_static);
    assert_eq!(edits("static mut T: i32 = 1;", "y[0] = T;"), ["pass a buffer: `t: &mut Global<i32>`"]);
}

#[test]
fn from_takes_what_keeps_every_number() {
    for body in [
        "let v = i16::from(b); let w = u32::from(b); let v = i64::from(a); let v = i32::from(a); let v = usize::from(b); let v = isize::from(b);",
        "let v = f32::from(b); let v = f64::from(a); let v = f64::from(f); let v = f32::from(h); let v = f64::from(h); let v = f16::from(b);",
        "let v = u8::from(a > 3); let v = f32::from(a > 3); let v = usize::from(a > 3); let v = f32::from(f); let v = usize::from(n);",
        "let v = u8::from(3); let v = i8::from(-3); let v = i32::from(3); let v = i64::from(3); let v = f32::from(1.5); let v = f64::from(1.5);",
    ] {
        assert_eq!(edits("", body), [""; 0], "{body}");
    }
    for (body, edit) in [
        ("let v = i16::from(a * 100000);", "write `(a * 100000) as i16`"),
        ("let v = u8::from(f);", "write `f as u8`"),
        ("let v = f32::from(g);", "write `g as f32`"),
        ("let v = f32::from(a);", "write `a as f32`"),
        ("let v = u32::from(a);", "write `a as u32`"),
        ("let v = i8::from(b);", "write `b as i8`"),
        ("let v = f16::from(f);", "write `f as f16`"),
        ("let v = f16::from(a > 3);", "write `(a > 3) as u8 as f16`"),
        ("let v = u64::from(n);", "write `n as u64`"),
        ("let v = usize::from(a);", "write `a as usize`"),
        ("let v = u64::from(3);", "write `3 as u64`"),
        ("let v = f32::from(1);", "write `1 as f32`"),
    ] {
        assert_eq!(edits("", body), [edit], "{body}");
    }
}

#[test]
fn indices_are_shifted_within_the_kernels_width() {
    let accepted = [
        "#[kernel(index = 64)] fn k(n: usize, y: &mut Global<f32>) { y[n << 40] = 1.0; }",
        "#[kernel] fn k(n: usize, y: &mut Global<f32>) { y[n << 31] = 1.0; }",
        "#[kernel] fn k(n: u64, y: &mut Global<f32>) { y[(n >> 40) as usize] = 1.0; }",
    ];
    for source in accepted {
        assert_eq!(compile(source, "k", Vec::new()).err(), None, "{source}");
    }
    let of_width = "#[kernel(index = W)] fn k<const W: usize>(n: usize, y: &mut Global<f32>) { if W == 64 { y[n << 40] = 1.0; } }";
    for width in [32, 64] {
        assert_eq!(compile(of_width, "k", vec![usize_value(width)]).err(), None, "{width}");
    }
}

#[test]
fn an_unknown_type_is_one_error_at_each_place_that_names_it() {
    let source = "#[kernel] fn k(p: Missing, y: &mut Global<f32>) { let mut q = p; q.v[0] += 1.0f32; q.w = 2u32; y[0] = p.scale(q.v[1]); }";
    let errors = compile(source, "k", Vec::new()).err().unwrap_or_default();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("the type `Missing` is not known"), "{errors:?}");
}

#[test]
fn what_a_refused_pattern_binds_is_no_second_error() {
    let of = |body: &str| {
        let source = format!(
            "struct P {{ a: f32 }} #[kernel] fn k(p: P, y: &mut Global<f32>) {{ let pair = (1.0f32, 2.0f32); let one = y[0]; {body} y[0] = a + b; }}"
        );
        compile(&source, "k", Vec::new()).err().unwrap_or_default()
    };
    for (body, expected) in [
        ("let (a, mut b, c) = pair; b += a;", "expected 2 parts, found 3"),
        ("let (a, b) = one;", "`f32` has no parts to match"),
        ("let P { a, b } = p;", "`P` has no field `b`"),
        ("#[shared] let (a, b): ([f32; 4], [f32; 4]);", "a shared array has one plain name"),
    ] {
        assert_eq!(of(body), [expected], "{body}");
    }
}

#[test]
fn constants_from_outside_are_used() {
    let mut program = Program::default();
    let mut unit = Unit::parse("kernel.rs", 1, 1, "#[kernel] fn k(y: &mut Global<u32>) { y[crate::N] = crate::LIMIT; }").expect("parses");
    unit.externs.insert("crate::N".into(), crate::syntax::Extern::Constant(ConstValue::Index(7, false)));
    unit.externs.insert("crate::LIMIT".into(), crate::syntax::Extern::Constant(ConstValue::Scalar(Scalar::u32(99))));
    let unit = program.add(unit);
    let lowered = lower(&program, unit, "k", &Instance::default()).unwrap_or_else(|d| panic!("{d:?}"));
    let text = lowered.kernel.to_string();
    assert!(text.contains("99") && text.contains('7'), "{text}");
}

#[test]
fn lanes_are_usize_and_shuffles_take_any_integer() {
    let source = "#[kernel(block = 64)] fn k(y: &mut Global<f32>) { #[shared] let mut part: [f32; 2]; let v = shuffle(y[0], lane_id() ^ 1) + shuffle_down(y[1], 4) + shuffle_xor(y[2], 3u32); if lane_id() == 0 { part[warp_id()] = v; } sync_threads(); y[lane_id()] = part[1]; }";
    assert_eq!(compile(source, "k", Vec::new()).err(), None);
}

#[test]
fn destinations_negative_patterns_and_shapes_of_floats() {
    let source = "struct P { a: i32, b: i32 } #[kernel] fn k(y: &mut Global<i32>) { let (mut p, mut q) = (1, 2); [p, _] = [q + 1, 0]; (_, q) = (0, p); let mut s = P { a: 3, b: 4 }; (s.b, s.a) = (s.a, s.b); y[0] = match p { -5 => s.a, -3..=-1 => q, _ => s.b } + f32::MAX_EXP + f64::MANTISSA_DIGITS as i32; }";
    assert_eq!(compile(source, "k", Vec::new()).err(), None);
}
