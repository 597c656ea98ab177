//! Which instructions atomics with an order, and fences, are: in our text for each generation of GPUs.

use warpwright_tests::emitted::ptx;

/// The accesses and fences of a statement.
fn instructions(statement: &str, target: &str) -> Vec<String> {
    let source = format!("#[kernel(block = 32)] fn k(y: &mut Global<u32>, z: &mut Global<u32>) {{ {statement} }}");
    let text = ptx(&source, "k", &[], target).unwrap_or_else(|error| panic!("{statement}: {error}")).to_string();
    let is_wanted = |word: &&str| {
        ["ld.", "st.", "atom.", "red.", "fence.", "membar."].iter().any(|start| word.starts_with(start)) && !word.starts_with("ld.param")
    };
    text.lines()
        .filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')))
        .filter(is_wanted)
        .map(|word| word.trim_end_matches(';').to_owned())
        .collect()
}

#[test]
fn orders_are_said_by_the_instruction_since_sm_70() {
    for (statement, since_70, before) in [
        ("y.atomic_add(0, 1);", "red.global.add.u32", "red.global.add.u32"),
        (
            "y.atomic_add_ordered(0, 1, Ordering::Release, ThreadScope::Device);",
            "red.release.gpu.global.add.u32",
            "membar.gl red.global.add.u32",
        ),
        (
            "z[0] = y.atomic_add_ordered(0, 1, Ordering::AcqRel, ThreadScope::Block);",
            "atom.acq_rel.cta.global.add.u32 st.global.u32",
            "membar.cta atom.global.add.u32 membar.cta st.global.u32",
        ),
        (
            "z[0] = y.atomic_cas_ordered(0, 1, 2, Ordering::SeqCst, ThreadScope::System);",
            "fence.sc.sys atom.acquire.sys.global.cas.b32 st.global.u32",
            "membar.sys atom.sys.global.cas.b32 membar.sys st.global.u32",
        ),
        (
            "z[0] = y.atomic_load(0, Ordering::Relaxed, ThreadScope::Device);",
            "ld.relaxed.gpu.global.u32 st.global.u32",
            "ld.volatile.global.u32 st.global.u32",
        ),
        (
            "z[0] = y.atomic_load(0, Ordering::Acquire, ThreadScope::Device);",
            "ld.acquire.gpu.global.u32 st.global.u32",
            "ld.volatile.global.u32 membar.gl st.global.u32",
        ),
        ("y.atomic_store(0, 1, Ordering::Release, ThreadScope::System);", "st.release.sys.global.u32", "membar.sys st.volatile.global.u32"),
        (
            "y.atomic_store(0, 1, Ordering::SeqCst, ThreadScope::Device);",
            "fence.sc.gpu st.relaxed.gpu.global.u32",
            "membar.gl st.volatile.global.u32",
        ),
        ("y[0] = 1; fence_device(); z[0] = 2;", "st.global.u32 fence.acq_rel.gpu st.global.u32", "st.global.u32 membar.gl st.global.u32"),
        ("y[0] = 1; fence_block(); z[0] = 2;", "st.global.u32 fence.acq_rel.cta st.global.u32", "st.global.u32 membar.cta st.global.u32"),
        (
            "y[0] = 1; fence_device_seq_cst(); z[0] = 2;",
            "st.global.u32 fence.sc.gpu st.global.u32",
            "st.global.u32 membar.gl st.global.u32",
        ),
    ] {
        assert_eq!(instructions(statement, "sm_90").join(" "), since_70, "{statement}");
        assert_eq!(instructions(statement, "sm_60").join(" "), before, "{statement} for sm_60");
    }
}

/// A loop that polls reads each time, whatever stands round it, and what it reads is not taken from elsewhere.
#[test]
fn polls_are_neither_hoisted_nor_merged() {
    let poll = "while y.atomic_load(0, Ordering::Relaxed, ThreadScope::Device) == 0 {}";
    let found = instructions(&format!("{poll} z[0] = y.atomic_load(0, Ordering::Relaxed, ThreadScope::Device);"), "sm_90");
    assert_eq!(found, ["ld.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32", "st.global.u32"]);
    let source = format!("#[kernel(block = 32)] fn k(y: &mut Global<u32>) {{ {poll} }}");
    let text = ptx(&source, "k", &[], "sm_90").unwrap().to_string();
    let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("no `{word}` in {text}"));
    assert!(at("$L") < at("ld.relaxed"), "the load is in the loop: {text}");
    // What an acquire makes known is read behind it, and again.
    let found =
        instructions("let a = z[1]; if y.atomic_load(0, Ordering::Acquire, ThreadScope::Device) == 1 { z[2] = a + z[1]; }", "sm_90");
    assert_eq!(found, ["ld.global.u32", "ld.acquire.gpu.global.u32", "ld.global.u32", "st.global.u32"]);
}

#[test]
fn the_system_needs_sm_60() {
    let source = "#[kernel(block = 32)] fn k(y: &mut Global<u32>) { y.atomic_add_ordered(0, 1, Ordering::Relaxed, ThreadScope::System); }";
    let error = ptx(source, "k", &[], "sm_50").unwrap_err();
    assert!(error.contains("atomics of the system need sm_60; this is sm_50"), "{error}");
}
