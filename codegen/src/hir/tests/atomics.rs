//! Orders and scopes of atomics: from the source into the IR, and what is refused.

use super::compile;

fn one(statement: &str) -> Result<String, Vec<String>> {
    let source = format!("#[kernel] fn k(x: &Global<u32>, y: &mut Global<u32>) {{ {statement} }}");
    let text = compile(&source, "k", Vec::new())?.text_without_locations();
    Ok(text.lines().filter_map(|line| line.split_once("atomic ")).map(|(_, rest)| rest.trim().to_owned()).collect::<Vec<_>>().join("; "))
}

#[test]
fn orders_and_scopes_reach_the_ir() {
    let gives = |statement: &str, expected: &str| {
        let found = one(statement).unwrap();
        assert!(found.starts_with(expected), "{statement}: {found}");
    };
    gives("y.atomic_add(3, 1);", "add m1[");
    gives("y.atomic_add_ordered(3, 1, Ordering::Relaxed, ThreadScope::Device);", "add m1[");
    gives("y.atomic_add_ordered(3, 1, Ordering::AcqRel, ThreadScope::Block);", "add.acq_rel.block m1[");
    gives("y.atomic_cas_ordered(3, 1, 2, Ordering::SeqCst, ThreadScope::System);", "cas.seq_cst.system m1[");
    gives("y.atomic_load(3, core::sync::atomic::Ordering::Acquire, ThreadScope::Device);", "load.acquire.device m1[");
    gives(
        "y.atomic_store(3, 7, std::sync::atomic::Ordering::Release, warpwright::prelude::ThreadScope::Device);",
        "store.release.device m1[",
    );
    gives("y.atomic_load(3, Ordering::Relaxed, ThreadScope::Device);", "load m1[");
}

#[test]
fn orders_that_mean_nothing_are_refused() {
    let refused = |statement: &str, expected: &str| assert_eq!(one(statement), Err(vec![expected.to_owned()]), "{statement}");
    refused("y.atomic_load(0, Ordering::Release, ThreadScope::Device);", "a load writes nothing that it could release");
    refused("y.atomic_load(0, Ordering::AcqRel, ThreadScope::Device);", "a load writes nothing that it could release");
    refused("y.atomic_store(0, 1, Ordering::Acquire, ThreadScope::Device);", "a store reads nothing that it could acquire");
    let written = |of: &str| format!("`{of}` is part of the instruction, so it is written out here");
    refused("y.atomic_store(0, 1, 2, ThreadScope::Device);", &written("Ordering"));
    refused("y.atomic_store(0, 1, Ordering::Less, ThreadScope::Device);", &written("Ordering"));
    refused("y.atomic_add_ordered(0, 1, Ordering::AcqRel, Ordering::AcqRel);", &written("ThreadScope"));
    refused("y.atomic_load(0);", "`atomic_load` takes 3 arguments, 1 was given");
    refused("x.atomic_load(0, Ordering::Acquire, ThreadScope::Device);", "`x` is `&Global<u32>`, which is only read");
}
