//! What comes out is Rust, with the user's items in it, whatever went in.

use super::{device, kernel, module};
use proc_macro2::TokenStream;
use quote::ToTokens;

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The expansion, which must be items, as text without spaces.
#[track_caller]
fn expand(attribute: fn(TokenStream, TokenStream) -> TokenStream, arguments: &str, item: &str) -> String {
    let expanded = attribute(tokens(arguments), tokens(item));
    let file: syn::File = syn::parse2(expanded.clone()).unwrap_or_else(|error| panic!("{expanded}: {error}"));
    file.to_token_stream().to_string().split_whitespace().collect()
}

#[track_caller]
fn check(text: &str, parts: &[&str]) {
    for part in parts {
        let part: String = part.split_whitespace().collect();
        assert!(text.contains(&part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn a_kernel_becomes_a_host_function_and_a_twin() {
    let text = expand(
        kernel,
        "block = 256",
        "/// y ← a·x + y\npub(crate) fn saxpy(mut a: f32, x: &Global<f32>, y: &mut Global<f32>) { y[0] = a; }",
    );
    check(
        &text,
        &[
            "pub(crate) fn saxpy<'launch,>(a: f32, x: &'launch ::warpwright::Buffer<f32>, y: &'launch mut ::warpwright::Buffer<f32>)
         -> ::warpwright::Launch<'launch>",
            "fn __warpwright_twin(mut a: f32, x: &Global<f32>, y: &mut Global<f32>) { y[0] = a; }",
            "__warpwright_twin(arguments.value::<f32>(0usize), &arguments.global::<f32>(1usize), &mut arguments.global_mut::<f32>(2usize))",
            ".value(a).global(x).global_mut(y)",
            "#[kernel(block = 256)]\\npub(crate) fn saxpy(",
        ],
    );
}

#[test]
fn generics_go_to_host_twin_and_instance() {
    let text = expand(kernel, "", "fn k<const N: usize, T: Float, const B: bool>(c: &Constant<[T; N]>) where T: Copy { let z = N as T; }");
    check(
        &text,
        &[
            "fn k<'launch, const N: usize, T: Float, const B: bool>(c: &'launch ::warpwright::ConstantBuffer<[T; N]>) -> ::warpwright::Launch<'launch> where T: Copy",
            "fn __warpwright_twin<const N: usize, T: Float, const B: bool>",
            "GenericArgument::Const(::warpwright::__private::ScalarKind::Usize, N as u64)",
            "GenericArgument::Type(<T as ::warpwright::__private::Element>::TYPE)",
            "ScalarKind::Bool, B as u64",
            "__warpwright_twin::<N, T, B>(arguments.constant::<[T; N]>(0usize))",
            "let z = ::warpwright::__private::cast::<_, T>(N);",
        ],
    );
}

#[test]
fn structs_with_a_lifetime_are_groups_of_parameters() {
    let text = expand(
        device,
        "",
        "pub(crate) struct P<'a, T: Num> { pub x: &'a Global<T>, y: &'a mut Global<u8>, c: &'a Constant<[T; 2]>, n: (u32, T) }",
    );
    check(
        &text,
        &[
            "impl<'a, T: Num> ::warpwright::__private::DeviceType for P<'a, T>",
            "pub(crate) struct PBuffers<'a, T: Num = f32> {",
            "pub x: &'a ::warpwright::Buffer<T>, #[allow(missing_docs)] y: &'a mut ::warpwright::Buffer<u8>,",
            "c: &'a ::warpwright::ConstantBuffer<[T; 2]>, #[allow(missing_docs)] n: (u32, T)",
            "arguments.global(self.x).global_mut(self.y).constant(self.c).value(self.n)",
            "Parameter { name: \"y\", kind: ::warpwright::__private::ParameterKind::GlobalMut }",
            "P { x: part_0, y: part_1, c: *part_2, n: *part_3 }",
        ],
    );
    let text = expand(kernel, "", "fn k(a: f32, p: sim::P<'_, f32>, n: u32) {}");
    check(
        &text,
        &[
            "fn k<'launch,>(a: f32, p: sim::PBuffers<'launch, f32>, n: u32) -> ::warpwright::Launch<'launch>",
            "ParameterKind::Group(<sim::P>::__WARPWRIGHT_PARAMETERS)",
            "<sim::P<'_, f32>>::__warpwright_group(&mut <sim::P<'_, f32>>::__warpwright_handles(arguments, 1usize))",
            "arguments.value::<u32>(1usize + <sim::P<'_, f32>>::__WARPWRIGHT_PARAMETERS.len())",
            ".value(a).group(p).value(n)",
        ],
    );
}

#[test]
fn matrices_are_four_parameters() {
    let text = expand(kernel, "", "fn k(a: &MatrixBatch<u8>, c: &mut MatrixBatch<f32>, n: u32) {}");
    check(
        &text,
        &[
            "fn k<'launch,>(a: ::warpwright::BufferMatrixBatch<'launch, u8>, c: ::warpwright::BufferMatrixBatchMut<'launch, f32>, n: u32)",
            "Parameter { name: \"a\", kind: ::warpwright::__private::ParameterKind::Group(::warpwright::__private::MATRIX_BATCH) }",
            "Parameter { name: \"c\", kind: ::warpwright::__private::ParameterKind::Group(::warpwright::__private::MATRIX_BATCH_MUT) }",
            "&arguments.matrix_batch::<u8>(0usize)",
            "&mut arguments.matrix_batch::<f32>(0usize + ::warpwright::__private::MATRIX_BATCH.len())",
            ".matrix_batch(a).matrix_batch_mut(c).value(n)",
        ],
    );
    let text = expand(kernel, "", "fn k(a: &Matrix<u8>, c: &mut Matrix<[f32; 2]>, n: u32) {}");
    check(
        &text,
        &[
            "fn k<'launch,>(a: ::warpwright::BufferMatrix<'launch, u8>, c: ::warpwright::BufferMatrixMut<'launch, [f32; 2]>, n: u32)",
            "Parameter { name: \"a\", kind: ::warpwright::__private::ParameterKind::Group(::warpwright::__private::MATRIX) }",
            "Parameter { name: \"c\", kind: ::warpwright::__private::ParameterKind::Group(::warpwright::__private::MATRIX_MUT) }",
            "&arguments.matrix::<u8>(0usize)",
            "&mut arguments.matrix::<[f32; 2]>(0usize + ::warpwright::__private::MATRIX.len())",
            "arguments.value::<u32>(0usize + ::warpwright::__private::MATRIX.len() + ::warpwright::__private::MATRIX.len())",
            ".matrix(a).matrix_mut(c).value(n)",
        ],
    );
}

#[test]
fn declared_variants_become_a_list() {
    let text = expand(
        kernel,
        "variants(T in [f32, f64], B in [64, 2 * 64], F in [false, true], O in [1])",
        "pub fn k<T: Float, const B: usize, const F: bool, const O: u8>(x: &Global<T>, y: &mut Global<T>) where T: Copy {}",
    );
    let pointer =
        "for<'launch> fn(&'launch ::warpwright::Buffer<T>, &'launch mut ::warpwright::Buffer<T>) -> ::warpwright::Launch<'launch>";
    check(
        &text,
        &[
            // `T` follows from the arguments; the others are gone through, each by a function of its own.
            &format!("pub fn k_variants<T: Float>() -> ::warpwright::Variants<{pointer}> where T: Copy"),
            "(list: &mut ::warpwright::Variants<",
            "{ __warpwright_axis_2::<T, { 64 }>(list); __warpwright_axis_2::<T, { 2 * 64 }>(list); }",
            "{ __warpwright_axis_3::<T, B, { false }>(list); __warpwright_axis_3::<T, B, { true }>(list); }",
            "k::<T, B, F, O>);",
            "if true && (<T as ::warpwright::__private::Element>::TYPE == <f32 as ::warpwright::__private::Element>::TYPE || ",
        ],
    );
    assert!(!expand(kernel, "", "fn k<const N: usize>(y: &mut Global<f32>) {}").contains("k_variants"));
    // A kernel that is refused has the list all the same: nobody who calls it gets an error more.
    let text = expand(kernel, "variants(N in [1]), blok = 1", "fn k<const N: usize>(y: &mut Global<f32>) {}");
    check(&text, &["fn k_variants()", "::core::unreachable!()"]);
    assert!(!text.contains("k::<"));
    check(&expand(kernel, "variants(N in [1])", "fn k<const N: u32>(a: u32) {}"), &["fn(u32) -> ::warpwright::Launch<'static>"]);
}

#[test]
fn shared_arrays_and_casts_are_rewritten() {
    let text = expand(
        kernel,
        "",
        "fn k(y: &mut Global<f16>) { #[shared] let mut a: [f32; 4]; #[shared(dynamic)] let mut b: [u8]; y[0] = a[0] as f16; 1 as f32; }",
    );
    check(
        &text,
        &[
            "let mut a = ::warpwright::__private::shared::<[f32; 4]>(0usize);",
            "let mut b = ::warpwright::__private::shared_dynamic::<u8>(0);",
            "::warpwright::__private::cast::<_, f16>(a[0])",
            "1 as f32",
        ],
    );
    let text = expand(kernel, "", "fn k(n: u64, y: &mut Global<f16>) { y[0] = (n as f32 + 1.0) as f16; }");
    check(&text, &["::warpwright::__private::cast::<_, f16>(::warpwright::__private::cast::<_, f32>(n) + 1.0)"]);
    let text = expand(kernel, "", "fn k(n: u64, y: &mut Global<u32>) { y[0] = n as u32; }");
    check(&text, &["y[0] = n as u32;"]);
    // What is named elsewhere may be one of those floats.
    for value in ["mean(n)", "weights::mean::<4>(n)", "SCALE"] {
        let text = expand(kernel, "", &format!("fn k(n: u64, y: &mut Global<u32>) {{ y[0] = {value} as u32; }}"));
        check(&text, &[&format!("y[0] = ::warpwright::__private::cast::<_, u32>({value});")]);
    }
    // Shifts stay Rust's own there, with the overflow checks of the crate.
    let text = expand(kernel, "", "fn k(n: u32, y: &mut Global<u32>) { let mean = mean(n) as u32; y[0] = mean << n; }");
    check(&text, &["let mean = ::warpwright::__private::cast::<_, u32>(mean(n));", "y[0] = mean << n;"]);
    for value in ["global_id().x", "f32::MAX", "N", "if (n > 1) { n } else { std::f32::consts::PI }"] {
        let text = expand(
            kernel,
            "block = 32",
            &format!("fn k<const N: usize>(n: u64, y: &mut Global<u32>) {{ #[unroll(4)] for _ in 0..4 {{ y[0] = ({value}) as u32; }} }}"),
        );
        check(&text, &["as u32;"]);
    }
}

#[test]
fn a_dynamic_array_of_rows_knows_the_room_behind_them() {
    let rows = "fn k<const P: u32>(y: &mut Global<f32>) { #[shared(dynamic, pad = P + 1)] let mut rows: [[f32; 32]]; }";
    check(&expand(kernel, "", rows), &["let pad = (P + 1) as usize;", "::warpwright::__private::shared_dynamic::<[f32; 32]>(pad)"]);
}

#[test]
fn operators_of_traits_read_before_they_borrow() {
    let text =
        expand(kernel, "", "fn k(y: &mut Global<f16>) { y[0] += y[1]; y[0].x *= y[1] + y[2]; y[0] += c; let mut s = y[0]; s += y[1]; }");
    check(
        &text,
        &[
            "{ let __warpwright_value = y[1]; y[0] += __warpwright_value; }",
            "{ let __warpwright_value = y[1] + y[2]; y[0].x *= __warpwright_value; }",
            "y[0] += c;",
            "s += y[1];",
        ],
    );
    let text = expand(kernel, "", "fn k(y: &mut Global<f32>) { y[0] += y[1]; }");
    check(&text, &["y[0] += y[1];"]);
}

#[test]
fn other_threads_may_write_to_borrowed_shared_arrays() {
    let text = expand(device, "", "fn f(tile: &mut [f32; 64], mut rest: &[f32], y: &mut Global<f32>) { tile[0] = 1.0; }");
    check(&text, &["{ let tile = ::core::hint::black_box(tile); let mut rest = ::core::hint::black_box(rest); tile[0] = 1.0; }"]);
}

#[test]
fn loops_count_their_turns() {
    let counted = "{ let mut __warpwright_turns = ::warpwright::__private::Turns::new();";
    let text = expand(kernel, "", "fn k(n: u32) { let mut k = 0; 'a: while k < n { k += 1; continue 'a; } for _ in 0..n { } }");
    check(&text, &[&format!("{counted} 'a: while k < n {{ __warpwright_turns.next(); k += 1; continue 'a; }} }}"), "for _ in 0..n { }"]);
    let text = expand(device, "", "fn f(n: u32) -> u32 { let v = loop { break n; }; v }");
    check(&text, &[&format!("let v = {counted} loop {{ __warpwright_turns.next(); break n; }} }};")]);
    // `rustc` may run it.
    assert!(!expand(device, "", "const fn f(n: u32) -> u32 { loop { return n; } }").contains("turns"));
}

#[test]
fn methods_that_std_keeps_unstable_do_not_warn() {
    let text = expand(kernel, "", "fn k(y: &mut Global<f32>) { y[0] = y[1].erf(); }");
    check(&text, &["{ #![allow(unstable_name_collisions)] y[0] = y[1].erf(); }"]);
    assert!(!expand(kernel, "", "fn k(y: &mut Global<f32>) { y[0] = y[1].exp(); }").contains("unstable"));
}

#[test]
fn names_from_outside_are_handed_in() {
    let text = expand(kernel, "", "fn k(y: &mut Global<Point>) { use crate::far::N; y[0] = other::make(N); }");
    check(
        &text,
        &[
            "path: \"other::make\", target: ::warpwright::__private::ExternTarget::Item({",
            "<other::make as ::warpwright::__private::DeviceType>::item })",
            "<Point as ::warpwright::__private::DeviceType>::item })",
            "use crate::far::N; ::warpwright::__private::IntoConstValue::into_const(N)",
        ],
    );
}

#[test]
fn device_items_are_marked() {
    let text = expand(device, "", "pub fn helper(x: f32) -> f32 { x }");
    check(&text, &["pub fn helper(x: f32) -> f32 { x }", "pub enum helper {}", "impl ::warpwright::__private::DeviceType for helper"]);
    let text = expand(device, "", "#[derive(Clone, Copy)] #[repr(C)] struct P { x: f32 }");
    check(
        &text,
        &[
            "unsafe impl ::warpwright::__private::Element for P",
            "Field { name: \"x\", ty: <f32 as ::warpwright::__private::Element>::TYPE, offset: ::core::mem::offset_of!(P, x) }",
            "<P>::__warpwright_methods })",
        ],
    );
    let text = expand(device, "", "#[derive(Clone, Copy)] #[repr(C)] struct P(u32, #[cfg(test)] pub usize);");
    check(&text, &["Field { name: \"0\", ty: <u32", "#[cfg(test)] ::warpwright::__private::Field { name: \"1\"", "offset_of!(P, 1)"]);
    let text = expand(device, "", "impl P { fn len(self) -> f32 { self.x } }");
    check(&text, &["pub fn __warpwright_methods()", "<P as ::warpwright::__private::DeviceType>::item })"]);
    let text = expand(device, "", "#[derive(Clone, Copy)] #[repr(u32)] enum E { A, B }");
    check(&text, &["unsafe impl ::warpwright::__private::Element for E", "impl ::warpwright::__private::CastSource for E"]);
    check(&text, &["repr: \"u32\", discriminants: &[{ E::A as i128 }, { E::B as i128 }]"]);
    let text = expand(device, "", "enum E { A, B }");
    assert!(!text.contains("::Element"), "`rustc` chooses the integer");
}

#[test]
fn a_module_shares_its_source() {
    let text = expand(
        module,
        "",
        "pub mod m {
        const N: usize = 4;
        #[device] fn f() -> usize { N }
        #[kernel(block = N)] pub fn k(y: &mut Global<u32>) { y[0] = f() as u32; }
        #[cfg(test)] mod tests { fn only_here() {} }
    }",
    );
    check(
        &text,
        &[
            "name: \"m::f\", source: __WARPWRIGHT_SOURCE, externs: __WARPWRIGHT_EXTERNS",
            "name: \"m::k\"",
            "const __WARPWRIGHT_EXTERNS: &[::warpwright::__private::ExternItem] = &[];",
            "#[cfg(test)] mod tests { fn only_here() {} }",
        ],
    );
    assert_eq!(text.matches("only_here").count(), 1, "tests are not embedded");
}

#[test]
fn errors_leave_the_item_in_place() {
    let text = expand(kernel, "blok = 1, index = 8", "fn k(x: &Global<f32>) { x; }");
    check(&text, &["fn k<'launch,>", "unknown argument `blok`", "`index` is 32 or 64"]);
    let text = expand(kernel, "", "struct S;");
    check(&text, &["struct S;", "`#[kernel]` belongs on a function"]);
    let text = expand(device, "", "fn norm(self) -> f32 { 1.0 }");
    check(&text, &["fn norm(self) -> f32 { 1.0 }", "a method is marked by its `impl`"]);
    assert!(!text.contains("enum"), "an `impl` has no place for it");
    let text = expand(device, "", "trait T {}");
    check(&text, &["trait T {}", "`#[device]` belongs on"]);
    let text = expand(module, "", "mod m;");
    check(&text, &["mod m;", "the macro cannot see into the file of `mod m;`"]);
}
