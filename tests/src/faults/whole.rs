//! What the test needs more where every mistake is made (`WARPWRIGHT_FAULTS=all`): launches whose inputs show mistakes of values in kernels in which the bounded test
//! makes those of order alone, and what is told of their mutants by a person.

use super::equivalent::{Listed, row};
use super::kernels::{Show, Specimen};
use super::mistakes::Mistake::{EarlyEnd, IndexAbove, IndexBelow, LateEnd, LateStart};
use super::products::{attention_by_engine, attention_by_threads};
use super::staples::{self, least, numbers, scan_by_key};
use warpwright::Result;

/// Launches beside those of the bounded test.
pub const MORE: &[Specimen] = &[
    Specimen { name: "find_words, in the first vector", run: least::<1> },
    Specimen { name: "find_words, in the second warp", run: least::<90> },
    Specimen { name: "find_words, in the last warp of the second block", run: least::<995> },
    Specimen { name: "find_words, in the last vector", run: least::<1029> },
    Specimen { name: "scan_runs, shorter ones", run: scan_by_key::<150> },
    Specimen { name: "select_words, all but one value", run: selected::<1> },
    Specimen { name: "select_words, by flags", run: selected::<7> },
    Specimen { name: "select_words, heads of runs", run: selected::<8> },
    Specimen { name: "attention_threads, not causal", run: attention_by_threads::<false> },
    Specimen { name: "attention_engine, not causal", run: attention_by_engine::<false> },
];

/// What is kept: by mode 1 all but 7, by 7 those with a flag, by 8 those that differ from the one before.
fn selected<const MODE: u32>(show: Show<'_>) -> Result<()> {
    let x: Vec<u32> = numbers(600).iter().enumerate().map(|(i, n)| if i % 5 == 2 { 7 } else { n % 3 }).collect();
    let marks: Vec<u8> = numbers(600).iter().map(|n| (n % 5 / 3) as u8).collect();
    staples::selected::<MODE>(show, &x, &marks, 7, |i| match MODE {
        1 => x[i] != 7,
        7 => marks[i] != 0,
        _ => i == 0 || x[i] != x[i - 1],
    })
}

const ONE_LEAST: &str = "places count among equal values, and the least is one";
const BEGINS_WITH: &str = "the first block's best is what the loop begins with, and another thread looks at each of the others";
const ROUND_AGAIN: &str = "one round more compares what is the best already";
const NO_LANES: &str = "one level more is for lanes that a warp has not";
const BEYOND_END: &str =
    "the vector that is added, or left out, is behind the end in the last tile, which a condition in the loop leaves out";
const ONE_VECTOR: &str = "a thread has one vector in this variant, and nothing comes behind the last element of it";
const UNUSED_BITS: &str = "bits of elements behind the end, or of none: nobody looks at them";
const EMPTY_WORD: &str = "the second word of counts is empty in this variant";
const FIRST_IS_HEAD: &str = "what stands before the first element does not matter: it is a head";
const TOLD_ALL: &str = "the tile before has told of all tiles when it is looked at";

const FIRST_THERE: &str = "a thread's first element is of one of the tile's first eight keys, all of which are there";
const MASKED: &str = "one tile more is of keys behind the end, which are masked";
const NO_PLACE: &str =
    "the element that is not there is asked for its place, which is that of the first, and the condition does not hold for it";

const LAST_ROW: &str = "a thread's last element is of a row behind the matrix in this variant";
const STEP_OF_ZEROS: &str = "one step more is of columns behind the end, which are zeros";

/// Mutants that leave what the kernel leaves.
pub const EQUIVALENT: &[Listed] = &[
    row("find_words", IndexBelow, 1, ONE_LEAST),
    row("find_words", LateStart, 1, BEGINS_WITH),
    row("find_words", LateEnd, 1, ROUND_AGAIN),
    row("find_words", LateEnd, 1, NO_LANES),
    row("scan_runs", IndexBelow, 1, ONE_VECTOR),
    row("scan_runs", LateEnd, 1, BEYOND_END),
    row("scan_runs", LateEnd, 1, NO_LANES),
    row("select_words", IndexAbove, 1, FIRST_IS_HEAD),
    row("select_words", EarlyEnd, 1, BEYOND_END),
    row("select_words", LateEnd, 1, BEYOND_END),
    row("select_words", LateEnd, 3, UNUSED_BITS),
    row("select_words", LateEnd, 1, NO_LANES),
    row("select_words", LateEnd, 2, EMPTY_WORD),
    row("sort_pass", LateEnd, 1, TOLD_ALL),
    row("multiply_nn", EarlyEnd, 1, LAST_ROW),
    row("multiply_nn", LateEnd, 1, STEP_OF_ZEROS),
    row("multiply_nn_engine", EarlyEnd, 1, LAST_ROW),
    row("multiply_nn_engine", LateEnd, 1, STEP_OF_ZEROS),
    row("multiply_nt", LateEnd, 1, STEP_OF_ZEROS),
    row("multiply_nt_engine", LateEnd, 1, STEP_OF_ZEROS),
    row("multiply_tn", EarlyEnd, 1, LAST_ROW),
    row("multiply_tn", LateEnd, 1, STEP_OF_ZEROS),
    row("multiply_tn_engine", EarlyEnd, 1, LAST_ROW),
    row("multiply_tn_engine", LateEnd, 1, STEP_OF_ZEROS),
    row("multiply_tt", EarlyEnd, 1, LAST_ROW),
    row("multiply_tt", LateEnd, 1, STEP_OF_ZEROS),
    row("multiply_tt_engine", EarlyEnd, 1, LAST_ROW),
    row("multiply_tt_engine", LateEnd, 1, STEP_OF_ZEROS),
    row("attention_engine", LateStart, 1, FIRST_THERE),
    row("attention_engine", LateEnd, 1, MASKED),
    row("attention_engine", LateEnd, 1, NO_PLACE),
    row("attention_threads", LateStart, 1, FIRST_THERE),
    row("attention_threads", LateEnd, 1, MASKED),
    row("attention_threads", LateEnd, 1, NO_PLACE),
];

const A_PLACE: &str = "what is computed here is a place later: the access there is at fault";

/// Mutants whose fault is not at the changed line and does not name it: between the two are an array and what is computed from it.
pub const BEHIND: &[Listed] = &[
    row("select_words", IndexAbove, 9, A_PLACE),
    row("select_words", LateStart, 7, A_PLACE),
    row("select_words", EarlyEnd, 7, A_PLACE),
    row("sort_pass", IndexAbove, 5, A_PLACE),
    row("sort_pass", IndexBelow, 3, A_PLACE),
    row("sort_pass", LateStart, 5, A_PLACE),
    row("sort_pass", EarlyEnd, 5, A_PLACE),
];
