//! Folding, on bodies in the text form.

use super::run;
use crate::passes::check::{check, check_refused};

/// What `lines`, which may use `v1: TY`, a loaded value, and end in the result `v9`, become. The result is stored.
fn check_value(object: &str, ty: &str, lines: &str, folded: &str, result: &str) {
    let whole = |text: &str, result: &str| {
        format!(
            "v0: u32 = thread_idx.x\n v1: {ty} = load {object}[v0]\n store {object}[v0], v1\n {text}\n store {object}[v0], {result}\n return"
        )
    };
    check(run, &whole(lines, "v9"), &whole(folded, result));
}

fn check_u32(lines: &str, folded: &str, result: &str) {
    check_value("m3", "u32", lines, folded, result);
}

fn check_f32(lines: &str, folded: &str, result: &str) {
    check_value("m2", "f32", lines, folded, result);
}

#[test]
fn integer_identities() {
    check_u32("v2: u32 = const 0\n v9: u32 = add v2, v1", "", "v1");
    check_u32("v9: u32 = sub v1, v1", "v2: u32 = const 0", "v2");
    check_u32("v2: u32 = const 0\n v9: u32 = mul v1, v2", "v2: u32 = const 0", "v2");
    check_u32("v2: u32 = const 4294967295\n v9: u32 = and v1, v2", "", "v1");
    check_u32("v2: u32 = const 40\n v9: u32 = shl v1, v2", "v2: u32 = const 8\n v3: u32 = shl v1, v2", "v3");
    check_u32("v2: u32 = add v1, v0\n v9: u32 = sub v2, v0", "", "v1");
    check_u32("v2: u32 = const 3\n v3: u32 = div v2, v2\n v9: u32 = mul v3, v1", "", "v1");
    let opposite = "v2: u32 = const 0\n v3: u32 = sub v2, v1";
    check_u32("v2: u32 = const 4294967295\n v9: u32 = mul v1, v2", opposite, "v3");
    check_u32("v2: u32 = const 1\n v3: u32 = not v1\n v9: u32 = add v3, v2", opposite, "v3");
}

#[test]
fn what_a_mask_takes_away_need_not_be_added() {
    let chain =
        |c: u32, op: &str, m: u32| format!("v2: u32 = const {c}\n v3: u32 = add v1, v2\n v4: u32 = const {m}\n v9: u32 = {op} v3, v4");
    check_u32(&chain(24, "and", 7), "v2: u32 = const 7\n v3: u32 = and v1, v2", "v3");
    check_u32(&chain(16, "rem", 8), "v2: u32 = const 8\n v3: u32 = rem v1, v2", "v3");
    // Bits that the sum changes: by itself, and by what it carries.
    check_u32(&chain(4, "and", 7), &chain(4, "and", 7), "v9");
    check_u32(&chain(8, "and", 0x18), &chain(8, "and", 0x18), "v9");
    check_u32(&chain(16, "rem", 12), &chain(16, "rem", 12), "v9");
}

#[test]
fn constants_of_a_chain_are_joined_with_the_smaller_sign() {
    check_u32(
        "v2: u32 = const 1\n v3: u32 = const 3\n v4: u32 = add v1, v2\n v9: u32 = sub v4, v3",
        "v2: u32 = const 2\n v3: u32 = sub v1, v2",
        "v3",
    );
    check_u32("v2: u32 = const 1\n v4: u32 = sub v1, v2\n v9: u32 = add v4, v2", "", "v1");
}

#[test]
fn a_division_by_zero_stays() {
    check_refused(run, "v0: u32 = const 1\n v1: u32 = const 0\n v2: u32 = div v0, v1\n store m3[v1], v2\n return");
}

#[test]
fn float_identities_are_the_exact_ones() {
    check_f32("v2: f32 = const 1.0\n v9: f32 = mul v2, v1", "", "v1");
    check_f32("v2: f32 = const -0.0\n v9: f32 = add v1, v2", "", "v1");
    check_f32("v2: f32 = const 0.0\n v9: f32 = sub v1, v2", "", "v1");
    check_f32("v2: f32 = const 4.0\n v9: f32 = div v1, v2", "v2: f32 = const 0.25\n v3: f32 = mul v1, v2", "v3");
    for inexact in [
        "v2: f32 = const 0.0\n v9: f32 = add v1, v2",
        "v2: f32 = const 0.0\n v9: f32 = mul v1, v2",
        "v9: f32 = sub v1, v1",
        "v9: f32 = div v1, v1",
        "v2: f32 = const 3.0\n v9: f32 = div v1, v2",
        "v2: f32 = const 1.0\n v3: f32 = add v1, v2\n v9: f32 = add v3, v2",
    ] {
        check_f32(inexact, inexact, "v9");
    }
}

#[test]
fn casts_of_casts() {
    check_u32("v2: u64 = cast v1\n v9: u32 = cast v2", "", "v1");
    check_u32("v2: i32 = cast v1\n v9: u32 = cast v2", "", "v1");
    check_u32("v2: f64 = cast v1\n v9: u32 = cast v2", "", "v1");
    check_u32("v2: u8 = cast v1\n v3: u64 = cast v2\n v9: u32 = cast v3", "v2: u8 = cast v1\n v3: u32 = cast v2", "v3");
    for lossy in [
        "v2: f32 = cast v1\n v9: u32 = cast v2",
        "v2: i32 = cast v1\n v3: f64 = cast v2\n v9: u32 = cast v3",
        "v2: u8 = cast v1\n v9: u32 = cast v2",
    ] {
        check_u32(lossy, lossy, "v9");
    }
}

#[test]
fn a_choice_that_becomes_a_float_is_one_of_floats() {
    let choice = |float: &str, of: [&str; 2]| {
        format!(
            "v2: u32 = const 3\n v3: bool = lt v1, v2\n v4: {float} = const {}\n v5: {float} = const {}\n v6: {float} = select v3, v4, v5",
            of[0], of[1]
        )
    };
    let compare = "v2: u32 = const 3\n v3: bool = lt v1, v2";
    for float in ["f32", "f64"] {
        let text = format!("{compare}\n v4: u8 = cast v3\n v8: {float} = cast v4\n v9: u32 = cast v8");
        check_u32(&text, &format!("{}\n v7: u32 = cast v6", choice(float, ["1.0", "0.0"])), "v7");
    }
    let text =
        format!("{compare}\n v4: i16 = const -5\n v5: i16 = const 9\n v6: i16 = select v3, v4, v5\n v8: f32 = cast v6\n v9: u32 = cast v8");
    check_u32(&text, &format!("{}\n v7: u32 = cast v6", choice("f32", ["-5.0", "9.0"])), "v7");
    let unknown = format!("{compare}\n v4: u32 = const 5\n v6: u32 = select v3, v4, v1\n v8: f32 = cast v6\n v9: u32 = cast v8");
    check_u32(&unknown, &unknown, "v9");
}

#[test]
fn comparisons_are_decided_by_the_block() {
    check(
        run,
        "v0: u32 = thread_idx.x
         v1: u32 = const 16
         v2: bool = lt v0, v1
         if v2 {
           store m3[v0], v0
           yield
         } else {
           store m3[v0], v1
           yield
         }
         return",
        "v0: u32 = thread_idx.x
         store m3[v0], v0
         return",
    );
}

#[test]
fn loops_with_no_or_one_round_and_unchanged_values() {
    check(
        run,
        "v0: u32 = const 4
         v1: u32 = const 5
         v2: u32 = const 1
         v10: u32 = for i9 (v3: u32 in v1..v0 step v2; v4: u32 = v2) {
           store m3[v3], v4
           yield v3
         }
         v11: u32 = for i8 (v5: u32 in v0..v1 step v2; v6: u32 = v10) {
           store m3[v5], v6
           yield v5
         }
         store m3[v11], v11
         return",
        "v0: u32 = const 4
         v2: u32 = const 1
         store m3[v0], v2
         store m3[v0], v0
         return",
    );
    check(
        run,
        "v0: u32 = const 0
         v1: u32 = load m0
         v2: u32 = const 1
         v10: u32 = for i9 (v3: u32 in v0..v1 step v2; v4: u32 = v1) {
           store m3[v3], v4
           yield v4
         }
         store m3[v10], v2
         return",
        "v0: u32 = const 0
         v1: u32 = load m0
         v2: u32 = const 1
         for i9 (v3: u32 in v0..v1 step v2) {
           store m3[v3], v1
           yield
         }
         store m3[v1], v2
         return",
    );
}

#[test]
fn early_returns_of_an_inlined_function_become_arms() {
    check(
        run,
        "v0: u32 = thread_idx.x
         v9: u32 = region i9 {
           v2: u32 = load m3[v0]
           v3: bool = lt v2, v0
           if v3 {
             break i9 v0
           }
           v4: bool = gt v2, v0
           if v4 {
             yield
           } else {
             break i9 v2
           }
           v5: u32 = add v0, v0
           yield v5
         }
         store m3[v0], v9
         return",
        "v0: u32 = thread_idx.x
         v2: u32 = load m3[v0]
         v3: bool = lt v2, v0
         v9: u32 = if v3 {
           yield v0
         } else {
           v4: bool = gt v2, v0
           v8: u32 = if v4 {
             v5: u32 = add v0, v0
             yield v5
           } else {
             yield v2
           }
           yield v8
         }
         store m3[v0], v9
         return",
    );
}

#[test]
fn a_return_from_an_endless_loop_is_the_loops_result() {
    check(
        run,
        "v0: u32 = thread_idx.x
         v1: u32 = const 1
         v9: u32 = region i9 {
           loop i5 (v2: u32 = v0) {
             v3: u32 = add v2, v1
             v4: bool = lt v3, v0
             if v4 {
               break i9 v3
             }
             yield v3
           }
           v5: u32 = const 0
           yield v5
         }
         store m3[v0], v9
         return",
        "v0: u32 = thread_idx.x
         v1: u32 = const 1
         v9: u32 = loop i5 (v2: u32 = v0) {
           v3: u32 = add v2, v1
           v4: bool = lt v3, v0
           if v4 {
             break i5 v3
           }
           yield v3
         }
         store m3[v0], v9
         return",
    );
}

#[test]
fn what_follows_two_leaving_arms_is_dropped() {
    check(
        run,
        "v0: u32 = thread_idx.x
         v1: u32 = load m3[v0]
         v2: bool = lt v1, v0
         if v2 {
           return
         } else {
           store m3[v0], v0
           return
         }
         store m3[v1], v0
         return",
        "v0: u32 = thread_idx.x
         v1: u32 = load m3[v0]
         v2: bool = lt v1, v0
         if v2 {
           return
         }
         store m3[v0], v0
         return",
    );
}

#[test]
fn a_match_on_a_chosen_constant_is_the_choice() {
    check_u32(
        "v2: bool = lt v0, v1\n v3: u32 = const 0\n v4: u32 = const 6\n v5: u32 = select v2, v3, v4\n v6: bool = eq v5, v4\n v9: u32 = cast v6",
        "v3: bool = ge v0, v1\n v4: u32 = cast v3",
        "v4",
    );
}

#[test]
fn a_table_at_a_constant_index_is_known() {
    let text = "kernel \"k\" built
param m0 \"y\": global mut [f32]
object m1 \"w\": table [[f32; 2]; 2] = 1.0, 2.0, 3.0, 4.0
{
  v0: u32 = const 1
  v1: u32 = const 0
  v2: f32 = load m1[v0][v1]
  store m0[v0], v2
  return
}
";
    let mut kernel = crate::text::parse_kernel(text).unwrap();
    run(&mut kernel);
    crate::passes::dce::run(&mut kernel);
    let text = kernel.text_without_locations();
    assert!(text.contains("const 3.0") && !text.contains("load") && !text.contains("table"), "{text}");
}

#[test]
fn of_neighbours_below_a_bound_the_last_tells() {
    let both = |base: &str, first: &str, second: &str| {
        format!(
            "v2: u32 = const 3\n v3: u32 = const 1\n {base}\n v5: u32 = add v4, v3\n v6: u32 = add v4, v2\n \
             v7: bool = lt v{first}, v1\n v8: bool = lt v{second}, v1\n v10: bool = and v7, v8\n v9: u32 = cast v10"
        )
    };
    let below = "v2: u32 = const 3\n v4: u32 = thread_idx.y\n v5: u32 = add v4, v2\n v6: bool = lt v5, v1\n v9: u32 = cast v6";
    check_u32(&both("v4: u32 = thread_idx.y", "5", "6"), below, "v9");
    check_u32(&both("v4: u32 = thread_idx.y", "6", "4"), below, "v9");
    // A loaded number may wrap round.
    let text =
        format!("v0: u32 = thread_idx.x\n v1: u32 = load m0\n v4: u32 = load m3[v0]\n {}\n store m3[v0], v9\n return", both("", "5", "6"));
    check_refused(run, &text);
}

#[test]
fn less_than_one_is_zero() {
    check_u32(
        "v2: u32 = const 1\n v3: bool = lt v1, v2\n v9: u32 = cast v3",
        "v2: u32 = const 0\n v3: bool = eq v1, v2\n v9: u32 = cast v3",
        "v9",
    );
}

#[test]
fn a_load_from_constant_memory_at_one_of_two_places_is_a_select() {
    let loaded = |condition: &str, index: &str| {
        format!("v2: u32 = const 3\n v3: bool = lt v1, v2\n {condition}\n v9: u8 = load m10[{index}]\n v10: u32 = cast v9")
    };
    let check_load = |condition: &str, index: &str, folded: &str| {
        let whole = |lines: &str| format!("v0: u32 = thread_idx.x\n v1: u32 = load m3[v0]\n {lines}\n store m3[v0], v10\n return");
        check(run, &whole(&loaded(condition, index)), &whole(&format!("v2: u32 = const 3\n v3: bool = lt v1, v2\n {folded}")));
    };
    let (second, first) = ("v12: u32 = const 1\n v4: u8 = load m10[v12]", "v13: u32 = const 0\n v5: u8 = load m10[v13]");
    let chosen = "v9: u8 = select v3, v4, v5\n v10: u32 = cast v9";
    check_load("v6: u32 = cast v3", "v6", &format!("{second}\n {first}\n {chosen}"));
    // An index that is computed of one.
    let computed = "v6: u32 = cast v3\n v7: u32 = mul v6, v2\n v11: u32 = const 4\n v8: u32 = sub v11, v7";
    check_load(
        computed,
        "v8",
        &format!("v12: u32 = const 1\n v4: u8 = load m10[v12]\n v13: u32 = const 4\n v5: u8 = load m10[v13]\n {chosen}"),
    );
    // A place that is not there is no load.
    let outside = "v6: u32 = cast v3\n v7: u32 = const 7\n v8: u32 = add v6, v7";
    check_load(outside, "v8", &format!("{outside}\n v9: u8 = load m10[v8]\n v10: u32 = cast v9"));
    // Memory that may change is none of this, nor are numbers that a launch brings, of which two would be loaded for one.
    let text = "v0: u32 = thread_idx.x\n v1: u32 = load m0\n v2: bool = lt v1, v0\n v3: u32 = cast v2\n v4: f32 = load m1[v3]\n store m2[v0], v4\n return";
    check_refused(run, text);
    check_refused(run, &text.replace("load m1[", "load m4["));
}
