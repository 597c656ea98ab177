//! Addresses, on bodies in the text form, with what runs behind.

use crate::ir::{Kernel, Stage};
use crate::passes::check::{body, kernel};
use crate::passes::{ADDRESS, cse, dce};
use crate::verify::verify;

/// The addresses of a body.
fn addressed(before: &str) -> String {
    let mut kernel = kernel(before);
    for pass in ADDRESS {
        (pass.run)(&mut kernel);
        assert_eq!(verify(&kernel), Ok(()), "after {}:\n{kernel:#}", pass.name);
    }
    body(&kernel)
}

#[track_caller]
fn check(before: &str, after: &str) {
    let expected = {
        let mut kernel: Kernel = kernel(after);
        kernel.stage = Stage::Addressed;
        cse::run(&mut kernel);
        dce::run(&mut kernel);
        body(&kernel)
    };
    let found = addressed(before);
    assert!(found == expected, "expected\n{expected}\nbut found\n{found}");
}

#[test]
fn neighbours_share_a_pointer_whatever_comes_first() {
    check(
        "v0: u32 = load m0
         v1: u32 = const 1
         v2: u32 = add v0, v1
         v3: u32 = sub v0, v1
         v4: f32 = load m1[v2]
         v5: f32 = load m1[v0]
         v6: f32 = load m1[v3]
         v7: f32 = add v4, v5
         v8: f32 = add v7, v6
         store m2[v0], v8
         return",
        "v20: ptr.param = address m0
         v0: u32 = load_at m0, v20 + 0
         v1: u32 = const 1
         v2: u32 = add v0, v1
         v21: ptr.global = address m1
         v22: u64 = cast v2
         v23: u64 = const 4
         v24: u64 = mul v22, v23
         v25: ptr.global = offset v21, v24
         v4: f32 = load_at m1, v25 + 0
         v5: f32 = load_at m1, v25 + -4
         v6: f32 = load_at m1, v25 + -8
         v7: f32 = add v4, v5
         v8: f32 = add v7, v6
         v26: ptr.global = address m2
         v27: u64 = cast v0
         v28: u64 = mul v27, v23
         v29: ptr.global = offset v26, v28
         store_at m2, v29 + 0, v8
         return",
    );
}

#[test]
fn a_negative_constant_or_a_bounded_index_needs_no_sum() {
    check(
        "v0: u32 = thread_idx.x
         v1: u32 = const 1
         v2: u32 = sub v0, v1
         v3: u32 = add v0, v1
         v4: f32 = load m1[v2]
         store m2[v3], v4
         return",
        "v0: u32 = thread_idx.x
         v21: ptr.global = address m1
         v22: u64 = cast v0
         v23: u64 = const 4
         v24: u64 = mul v22, v23
         v25: ptr.global = offset v21, v24
         v4: f32 = load_at m1, v25 + -4
         v26: ptr.global = address m2
         v27: ptr.global = offset v26, v24
         store_at m2, v27 + 4, v4
         return",
    );
}

#[test]
fn a_positive_constant_that_may_wrap_stays_in_the_index() {
    let text = addressed(
        "v0: u32 = load m0
         v1: u32 = const 1
         v2: u32 = add v0, v1
         v3: f32 = load m1[v2]
         store m2[v2], v3
         return",
    );
    assert!(text.contains("add v1, "), "{text}");
    assert!(!text.contains("+ 4"), "{text}");
}

#[test]
fn an_access_of_one_arm_proves_nothing_for_the_other() {
    let text = addressed(
        "v0: u32 = load m0
         v1: u32 = const 1
         v2: u32 = add v0, v1
         v3: u32 = len m1
         v4: bool = lt v0, v3
         if v4 {
           v5: f32 = load m1[v0]
           store m2[v0], v5
           yield
         } else {
           v6: f32 = load m1[v2]
           store m2[v2], v6
           yield
         }
         return",
    );
    assert!(!text.contains("+ 4"), "{text}");
}

#[test]
fn a_tile_in_a_loop_is_one_register_and_immediates() {
    check(
        "v0: u32 = thread_idx.x
         v1: u32 = thread_idx.y
         v2: u32 = const 0
         v3: u32 = const 4
         v4: u32 = const 1
         v5: u32 = load m0
         for i9 (v6: u32 in v2..v5 step v3) {
           v7: u32 = add v6, v4
           v8: f32 = load m5[v1][v6]
           v9: f32 = load m5[v1][v7]
           v10: f32 = load m5[v4][v0]
           v11: f32 = mul_add v8, v9, v10
           store m5[v1][v0], v11
           yield
         }
         return",
        "v0: u32 = thread_idx.x
         v1: u32 = thread_idx.y
         v2: u32 = const 0
         v3: u32 = const 4
         v40: ptr.param = address m0
         v5: u32 = load_at m0, v40 + 0
         v20: ptr.shared = address m5
         v21: u32 = const 6
         v22: u32 = shl v1, v21
         v23: ptr.shared = offset v20, v22
         v24: u32 = const 2
         v27: u32 = shl v0, v24
         v28: ptr.shared = offset v20, v27
         v29: ptr.shared = offset v23, v27
         v30: u32 = const 16
         v31: ptr.shared = for i9 (v6: u32 in v2..v5 step v3; v26: ptr.shared = v23) {
           v8: f32 = load_at m5, v26 + 0
           v9: f32 = load_at m5, v26 + 4
           v10: f32 = load_at m5, v28 + 64
           v11: f32 = mul_add v8, v9, v10
           store_at m5, v29 + 0, v11
           v32: ptr.shared = offset v26, v30
           yield v32
         }
         return",
    );
}

#[test]
fn an_address_that_a_condition_makes_stays_under_it() {
    // `if p { y[x[i]] = 0.0 }` with indices from memory: the second place is known behind the first load only.
    let text = "v0: u32 = load m0
         v1: u32 = thread_idx.x
         v2: bool = lt v1, v0
         v3: f32 = const 0.0
         if v2 {
           v4: u32 = load m3[v1]
           store m2[v4], v3
           yield
         }
         return";
    // `addressed` asks the verifier, which wants every value defined where it is used.
    let found = addressed(text);
    let (before, inside) = found.split_once("if v").expect("a branch");
    let addresses = [before, inside].map(|part| part.matches("offset v").count());
    assert!(addresses[1] > 0, "{found}");
}
