//! Annotations from the source into the IR: values of each instance, and what is refused when they are known.

use super::{compile, usize_value};
use crate::ir::Scalar;
use crate::syntax::{ConstValue, GenericValue};

/// The lines of the IR that hold a loop, without locations, of a kernel with this loop and these generics.
fn loops(generics: &str, annotations: &str, values: Vec<GenericValue>) -> Result<Vec<String>, Vec<String>> {
    let source = format!(
        "const FOUR: usize = 4; #[kernel] fn k{generics}(n: usize, y: &mut Global<f32>) {{ {annotations} for i in 0..n {{ y[i] = 1.0; }} }}"
    );
    let kernel = compile(&source, "k", values)?;
    let text = kernel.text_without_locations();
    Ok(text.lines().filter_map(|line| line.split_once(") ").map(|(_, rest)| rest.trim_end_matches(" {").to_owned())).collect())
}

fn boolean(value: bool) -> GenericValue {
    GenericValue::Const(ConstValue::Scalar(Scalar::bool(value)))
}

#[track_caller]
fn gives(generics: &str, annotations: &str, values: Vec<GenericValue>, expected: &str) {
    let found = loops(generics, annotations, values).unwrap();
    assert_eq!(found, [expected], "{annotations}");
}

#[test]
fn annotations_reach_the_ir() {
    gives("", "#[unroll]", vec![], "unroll");
    gives("", "#[unroll(2 * FOUR)]", vec![], "unroll(8)");
    gives("", "#[unroll(1)]", vec![], "rolled");
    gives("", "#[ilp(4, best_effort)] #[batch_loads(assume_disjoint)]", vec![], "ilp(4, best_effort) batch_loads(assume_disjoint)");
    gives("", "#[vectorize(2, assume_aligned)] #[prefetch]", vec![], "vectorize(2, assume_aligned) prefetch");
    gives("", "#[batch_loads] #[unroll(1)]", vec![], "rolled batch_loads");
}

#[test]
fn arguments_are_those_of_the_instance() {
    gives("<const N: usize>", "#[ilp(N)] #[unroll(N / 2 + 1)]", vec![usize_value(4)], "unroll(3) ilp(4)");
    gives("<const B: bool>", "#[batch_loads(B)] #[prefetch(!B)]", vec![boolean(true)], "batch_loads");
    gives("<const B: bool>", "#[unroll(B)]", vec![boolean(true)], "unroll");
    gives("<const N: usize>", "#[unroll(N)]", vec![usize_value(1)], "rolled");
}

#[test]
fn one_at_a_time_and_false_are_nothing() {
    let plain = |annotations: &str, values: Vec<GenericValue>, generics: &str| {
        assert_eq!(loops(generics, annotations, values).unwrap(), ["{"], "{annotations}");
    };
    plain("#[ilp(1)] #[vectorize(1)] #[batch_loads(false)] #[prefetch(false)] #[unroll(false)]", vec![], "");
    plain("#[unroll(B)] #[batch_loads(B)]", vec![boolean(false)], "<const B: bool>");
}

#[test]
fn a_while_keeps_what_fits_it() {
    let source = |annotation: &str| {
        format!("#[kernel] fn k<const U: usize>(y: &mut Global<f32>) {{ {annotation} while y[0] < 1.0 {{ y[0] += 1.0; }} }}")
    };
    let kernel = compile(&source("#[batch_loads]"), "k", vec![usize_value(1)]).unwrap();
    assert!(kernel.text_without_locations().contains("batch_loads"));
    assert!(compile(&source("#[unroll(U)]"), "k", vec![usize_value(1)]).is_ok());
    let refused = compile(&source("#[unroll(U)]"), "k", vec![usize_value(4)]).unwrap_err();
    assert_eq!(refused, ["`unroll` counts iterations, and those of a `while` cannot be counted before it runs"]);
}

#[test]
fn values_are_checked_when_they_are_known() {
    let refused = |annotations: &str, generics: &str, value: GenericValue, expected: &str| {
        assert_eq!(loops(generics, annotations, vec![value]).unwrap_err(), [expected], "{annotations}");
    };
    let number = "<const N: usize>";
    refused("#[ilp(N)]", number, usize_value(0), "`ilp` by 0 is not possible: it must be at least 1");
    refused("#[unroll(N * 1024)]", number, usize_value(2), "`unroll` by 2048 is not possible: the most copies of a body are 1024");
    refused(
        "#[vectorize(N)]",
        number,
        usize_value(3),
        "`vectorize` by 3 is not possible: an access takes 1, 2, 4, 8 or 16 elements, and 16 bytes at most",
    );
    refused("#[batch_loads(N)]", number, usize_value(1), "`batch_loads` takes `true` or `false`, not a `usize`");
    refused("#[ilp(B)]", "<const B: bool>", boolean(true), "`ilp` takes a number, not a `bool`");
    refused("#[ilp(N > 1)]", number, usize_value(1), "`ilp` takes a number, not a `bool`");
    refused("#[unroll(1)] #[ilp(N)]", number, usize_value(4), "`unroll(1)` keeps the loop rolled, and `ilp(4)` makes 4 iterations one");
    assert!(loops(number, "#[unroll(1)] #[ilp(N)]", vec![usize_value(1)]).is_ok());
    refused("#[ilp(n)]", number, usize_value(1), "`ilp` takes a constant, and `n` is a variable");
}
