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
    for (annotation, expected) in [("#[batch_loads]", ") batch_loads {"), ("#[unroll(U)]", ") rolled {"), ("#[unroll(false)]", ") {")] {
        let text = compile(&source(annotation), "k", vec![usize_value(1)]).unwrap().text_without_locations();
        assert!(text.lines().any(|line| line.contains("loop ") && line.ends_with(expected)), "{annotation}\n{text}");
    }
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
        "`vectorize` by 3 is not possible: an access takes 1, 2, 4 or 8 elements, and 16 bytes at most",
    );
    refused("#[batch_loads(N)]", number, usize_value(1), "`batch_loads` takes `true` or `false`, not a `usize`");
    refused("#[ilp(B)]", "<const B: bool>", boolean(true), "`ilp` takes a number, not a `bool`");
    refused("#[ilp(N > 1)]", number, usize_value(1), "`ilp` takes a number, not a `bool`");
    refused("#[unroll(1)] #[ilp(N)]", number, usize_value(4), "`unroll(1)` keeps the loop rolled, and `ilp(4)` makes 4 iterations one");
    assert!(loops(number, "#[unroll(1)] #[ilp(N)]", vec![usize_value(1)]).is_ok());
    refused("#[ilp(n)]", number, usize_value(1), "`ilp` takes a constant, and `n` is a variable");
}

/// A kernel of one parameter `y: &mut Global<f32>` with these arguments and body.
fn kernel(arguments: &str, body: &str) -> Result<crate::ir::Kernel, Vec<String>> {
    compile(&format!("#[kernel({arguments})] fn k(y: &mut Global<f32>) {{ {body} }}"), "k", vec![])
}

const PLAIN: &str = "let i = global_id().x; if i < y.len() { y[i] = 1.0; }";

#[track_caller]
fn has_loops(arguments: &str, expected: &[&str]) {
    let text = kernel(arguments, PLAIN).unwrap().text_without_locations();
    let found: Vec<&str> = text.lines().filter(|line| line.contains(" for ")).map(|line| line.split_once(") ").unwrap().1).collect();
    assert_eq!(found, expected, "{arguments}\n{text}");
}

#[test]
fn elements_of_a_thread_are_loops() {
    has_loops("ilp = 4", &["ilp(4) of_kernel {"]);
    has_loops("ilp = 4, vectorize = 2, batch_loads", &["ilp(4) batch_loads of_kernel {", "vectorize(2) of_kernel {"]);
    has_loops(
        "vectorize(2, assume_aligned), batch_loads(assume_disjoint)",
        &["vectorize(2, assume_aligned) batch_loads(assume_disjoint) of_kernel {"],
    );
    has_loops("batch_loads, best_effort", &["batch_loads(best_effort) of_kernel {"]);
    has_loops(
        "ilp = 4, vectorize(2, assume_disjoint), best_effort",
        &["ilp(4, best_effort) of_kernel {", "vectorize(2, best_effort, assume_disjoint) of_kernel {"],
    );
    has_loops("ilp = 1, vectorize = 1, batch_loads = false", &[]);
}

#[test]
fn a_return_ends_the_element() {
    let body = "let i = global_id().x; if i >= y.len() { return; } y[i] = 1.0;";
    let text = kernel("ilp = 4, vectorize = 2", body).unwrap().text_without_locations();
    assert_eq!((text.matches("continue ").count(), text.matches("return").count()), (1, 1), "{text}");
    let options = kernel("ilp = 4, vectorize = 2", body).unwrap().options;
    assert_eq!((options.ilp, options.vectorize, options.elements_per_thread()), (4, 2, 8));
}

#[test]
fn what_elements_cannot_do_is_refused() {
    let refused = |arguments: &str, body: &str, expected: &str| {
        assert_eq!(kernel(arguments, body).unwrap_err(), [expected], "{arguments} {body}");
    };
    let meets = |name: &str| format!("`ilp = 2` runs the body for 2 elements of a thread, and `{name}` waits for other threads");
    refused("ilp = 2", "sync_threads(); y[global_id().x] = 1.0;", &meets("sync_threads"));
    refused("ilp = 2", "let i = global_id().x; y[i] = block_sum(y[i]);", &meets("block_sum"));
    refused("ilp = 2, vectorize = 4", "let i = global_id().x; y[i] = shuffle_xor(y[i], 1);", &meets("shuffle_xor"));
    let asks = |name: &str| format!("with `vectorize = 4` a block has more elements than threads, and the body uses `{name}`");
    refused("vectorize = 4", "y[block_idx().x * 32 + thread_idx().x] = 1.0;", &asks("block_idx().x"));
    refused("vectorize = 4", "let mut i = global_id().x; while i < 100 { y[i] = 0.0; i += grid_dim().x; }", &asks("grid_dim().x"));
    refused(
        "ilp = 8",
        "y[global_id().y] = 1.0;",
        "`ilp = 8` runs the body for 8 elements of a thread, and the body never uses `global_id().x`: it would do the same work 8 times",
    );
    let fine = "let b = block_idx(); let g = global_id(); y[g.x + b.y + grid_dim().z + lane_id()] = 1.0;";
    assert!(kernel("ilp = 2", fine).is_ok());
    // One element a thread is what there is without the argument; and loads are batched in any kernel.
    assert!(kernel("ilp = 1, vectorize = 1, batch_loads", "sync_threads(); y[block_idx().x] = 1.0;").is_ok());
}

#[test]
fn best_effort_leaves_one_element_and_a_warning() {
    let source = "#[kernel(ilp = 4, best_effort)] fn k(y: &mut Global<f32>) { sync_threads(); y[global_id().x] = 1.0; }";
    let mut program = crate::syntax::Program::default();
    let unit = program.add(crate::syntax::Unit::parse("k.rs", 1, 1, source).unwrap());
    let lowered = crate::pipeline::lower(&program, unit, "k", &Default::default()).unwrap_or_else(|found| panic!("{found:?}"));
    assert_eq!((lowered.kernel.options.ilp, lowered.kernel.annotations.len()), (1, 0));
    let warnings: Vec<_> = lowered.warnings.iter().map(|warning| (warning.level, warning.span.source_text().unwrap())).collect();
    assert_eq!(warnings, [(crate::diagnostic::Level::Warning, "ilp".to_owned())]);
    let hard = "#[kernel(ilp(4, best_effort), vectorize = 2)] fn k(y: &mut Global<f32>) { sync_threads(); y[global_id().x] = 1.0; }";
    assert!(compile(hard, "k", vec![]).is_err());
}
