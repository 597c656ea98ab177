use super::*;
use crate::pipeline::compile_text;
use crate::syntax::Instance;

/// What is refused of the kernel `k` of a source: the text at its place, the message, the label's text, the help.
fn refused(source: &str) -> Vec<[String; 4]> {
    let lowered = compile_text("kernel.rs", source, "k", &Instance::default()).expect("the source has no errors");
    let text = |span: Span| span.source_text().unwrap_or_default();
    let shown = |found: Diagnostic| {
        let label = found.labels.first().map_or(String::new(), |(span, says)| format!("{}: {says}", text(*span)));
        [text(found.span), found.message, label, found.help.unwrap_or_default()]
    };
    refusals(lowered.kernel.legal(), &|loc| lowered.span(loc)).into_iter().map(shown).collect()
}

/// A kernel with blocks of 128 threads; `v` is the thread's own, `row` its warp's.
fn kernel(body: &str) -> String {
    format!(
        "#[kernel(block = 128)] fn k(n: usize, rows: usize, x: &Global<u32>, y: &mut Global<u32>) {{ let i = global_id().x; let row = i / 32; let v = x[i]; {body} }}"
    )
}

fn names(source: &str) -> Vec<String> {
    refused(source).into_iter().map(|[_, message, ..]| message.split('`').nth(1).unwrap_or_default().to_owned()).collect()
}

#[test]
fn an_exchange_under_a_condition_of_lanes_is_refused_by_the_name_in_the_source() {
    let [[place, message, label, help]] = &refused(&kernel("if i < n { y[i] = warp_sum(v); }"))[..] else { panic!("one refusal") };
    assert_eq!(place, "warp_sum(v)");
    assert_eq!(
        message,
        "`warp_sum` is under a condition that may split a warp; the target `opencl` needs all lanes of the warp to reach it"
    );
    assert!(label.ends_with(": lanes of one warp may differ in this"), "{label}");
    assert_eq!(
        help,
        "call `warp_sum` before the condition, and put only the use of its result under it; or, if all lanes agree, write `if any(…)`"
    );
}

#[test]
fn every_exchange_is_named_as_it_is_written() {
    let calls = [
        ("warp_max(v)", "warp_max"),
        ("shuffle(v, 3)", "shuffle"),
        ("shuffle(v as f64, 3) as u32", "shuffle"),
        ("shuffle_xor(v as u8, 1) as u32", "shuffle_xor"),
        ("ballot(v > 3)", "ballot"),
        ("any(v > 3) as u32", "any"),
        ("match_any(v as u16)", "match_any"),
        ("{ sync_warp(); v }", "sync_warp"),
    ];
    for (call, name) in calls {
        assert_eq!(names(&kernel(&format!("if v > 7 {{ y[i] = {call}; }}"))), [name], "{call}");
    }
}

#[test]
fn loops_exits_and_device_functions_are_looked_through() {
    let function = "#[device] fn total(v: u32) -> u32 { warp_sum(v) + 1 }";
    let early = "#[device] fn early(v: u32) -> u32 { if v < 3 { return 0; } warp_sum(v) }";
    let nested = "#[device] fn nested(v: u32, n: usize) -> u32 { if n > 5 { if v < 3 { return 0; } if n == 7 { return 1; } } warp_sum(v) }";
    let cases = [
        ("while v > y[i] { y[i] = warp_sum(y[i]); }".to_owned(), "in a loop", "go on until no lane"),
        ("for k in 0..v { y[i] += warp_sum(k); }".to_owned(), "in a loop", "go on until no lane"),
        ("loop { if y[i] > v { break; } y[i] = warp_sum(v); }".to_owned(), "in a loop", "go on until no lane"),
        ("if i % 2 == 0 { y[i] = total(v); }".to_owned(), "under a condition", "call `warp_sum` before the condition"),
        ("y[i] = early(v);".to_owned(), "under a condition", "call `warp_sum` before the condition"),
        ("y[i] = nested(v, n);".to_owned(), "behind an exit", "call `warp_sum` before the exit"),
        ("if row < rows { if lane_id() < 16 { y[i] = warp_sum(v); } }".to_owned(), "under a condition", "call `warp_sum` before"),
    ];
    for (body, place, help) in cases {
        let source = format!("{function} {early} {nested} {}", kernel(&body));
        let [[at, message, _, says]] = &refused(&source)[..] else { panic!("{body}: {:?}", refused(&source)) };
        assert!(at.starts_with("warp_sum(") && message.contains(place) && says.starts_with(help), "{body}: {at}: {message}: {says}");
    }
}

#[test]
fn what_is_one_in_a_warp_splits_none() {
    let bodies = [
        "y[i] = warp_sum(v);",
        "if row < rows { y[i] = warp_sum(v); }",
        "if block_idx().x < n { y[i] = warp_sum(v); }",
        "if warp_id() == 1 { y[i] = warp_sum(v); }",
        "for k in 0..x[row] { y[i] += warp_sum(k); }",
        "let mut k = x[row]; while k < n as u32 { y[i] += warp_sum(k); k += 4; }",
        "if any(v > 3) { y[i] = warp_sum(v); }",
        "if thread_idx().x < 32 { y[i] = warp_sum(v); }",
        "if thread_idx().x >= 64 && row < rows { y[i] = warp_sum(v); }",
        "if thread_idx().x > 31 { y[i] = warp_sum(v); }",
        "if 64 <= thread_idx().x { y[i] = warp_sum(v); } else { y[i] = warp_max(v); }",
        "if i < 32 * n { y[i] = warp_sum(v); }",
        "let mut left = ballot(v > 3); while left != 0 { let lane = left.trailing_zeros(); y[i] += shuffle(v, lane); left &= left - 1; }",
        "if warp_sum(v) > 100 { y[i] = warp_max(v); }",
        "if row >= rows { return; } y[i] = warp_sum(v);",
        // Threads that have returned take no part: the language says what that means.
        "if i >= n { return; } y[i] = ballot(v > 3);",
        "let d = if v > 3 { 1 } else { 2 }; y[i] = warp_sum(d);",
        "if i < n { y[i] = v; } sync_threads(); y[i] = warp_sum(v);",
    ];
    for body in bodies {
        assert_eq!(refused(&kernel(body)), Vec::<[String; 4]>::new(), "{body}");
    }
    for condition in
        ["thread_idx().x < 31", "thread_idx().x <= 32", "thread_idx().x < 40", "i < n", "15 < lane_id()", "i * 2 < 64 + n", "32 <= i + 1"]
    {
        assert_eq!(names(&kernel(&format!("if {condition} {{ y[i] = warp_sum(v); }}"))), ["warp_sum"], "{condition}");
    }
    // Where the launch decides the block, that may be of 48 threads, and a row of 32 elements be in two warps.
    let free = |condition: &str| kernel(&format!("if {condition} {{ y[i] = warp_sum(v); }}")).replace("(block = 128)", "");
    assert_eq!(names(&free("row < rows")), ["warp_sum"]);
    for condition in ["any(row < rows)", "warp_id() < rows", "block_idx().x < rows"] {
        assert_eq!(names(&free(condition)), Vec::<String>::new(), "{condition}");
    }
    let rows = "#[kernel(block = (32, 4))] fn k(rows: usize, x: &Global<u32>, y: &mut Global<u32>) { let row = global_id().y; if row < rows { y[row] = warp_sum(x[row * 32 + thread_idx().x]); } }";
    assert_eq!(names(rows), Vec::<String>::new());
    assert_eq!(names(&rows.replace("(32, 4)", "(16, 8)")), ["warp_sum"]);
}

#[test]
fn what_opencl_c_has_no_words_for_is_refused_as_well() {
    let source = "#[kernel(block = 64)] fn k(y: &mut Global<u32>, f: &mut Global<f32>) { f.atomic_add(0, 1.0); y.atomic_add(0, 1); }";
    assert_eq!(refused(source), Vec::<[String; 4]>::new());
    // The back end's own list, not another.
    let split = "#[kernel(block = 64)] fn k(y: &mut Global<u32>) { if lane_id() < 3 { y[0] = ballot(true); } if lane_id() > 4 { y[1] = warp_min(lane_id() as u32); } }";
    assert_eq!(names(split), ["ballot", "warp_min"]);
}
