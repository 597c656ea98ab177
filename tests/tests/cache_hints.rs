//! `#[cache(…)]` on a buffer: what PTX of each generation says, that assemblers take it, that results stay, and what is refused.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::syntax::check_subset;
use warpwright_tests::devices;
use warpwright_tests::emitted::ptx;
use warpwright_tests::ptxas::{Counts, found_or_skip};
use warpwright_tests::sass::Judge;

const HINTS: [&str; 5] = ["streaming", "last_use", "evict_first", "evict_last", "no_allocate"];

/// Loads of a buffer that nobody writes, of one that is written, and stores, by elements and by vectors, of small types and under a condition.
fn source(hint: &str) -> String {
    format!(
        "#[device] fn at(x: &Global<f32>, i: usize) -> f32 {{ x[i] }}
        #[kernel(block = 64)] pub fn k(#[cache({hint})] x: &Global<f32>, #[cache({hint})] y: &mut Global<f32>, #[cache({hint})] b: &mut Global<u8>, z: &mut Global<f32>) {{
            let i = global_id().x;
            let v = x.load::<4>(4 * i);
            y[i] = at(x, i) + y[i + 1] + v[2];
            y.store::<2>(2 * i + 512, [v[0], v[1]]);
            b[i] += 1;
            if v[3] > 1.0 {{ z[i] = x[i + 9]; }}
            y.atomic_add(0, 1.0);
        }}"
    )
}

fn text(hint: &str, target: &str) -> String {
    ptx(&source(hint), "k", &[], target).unwrap_or_else(|error| panic!("{hint}: {error}")).to_string()
}

/// The first words of the accesses of global memory.
fn accesses(text: &str) -> Vec<&str> {
    let words = text.lines().filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')));
    words.filter(|word| word.contains(".global.") && !word.starts_with("cvta")).collect()
}

#[test]
fn hints_are_words_of_the_accesses() {
    let first = |hint: &str, target: &str| accesses(&text(hint, target))[0].to_owned();
    for (hint, since_80, since_70, before) in [
        ("streaming", "ld.global.cs.nc.v4.f32", "ld.global.cs.nc.v4.f32", "ld.global.cs.nc.v4.f32"),
        ("last_use", "ld.global.lu.v4.f32", "ld.global.lu.v4.f32", "ld.global.lu.v4.f32"),
        (
            "evict_first",
            "ld.global.nc.L1::evict_first.L2::cache_hint.v4.f32",
            "ld.global.nc.L1::evict_first.v4.f32",
            "ld.global.cs.nc.v4.f32",
        ),
        ("evict_last", "ld.global.nc.L1::evict_last.L2::cache_hint.v4.f32", "ld.global.nc.L1::evict_last.v4.f32", "ld.global.nc.v4.f32"),
        ("no_allocate", "ld.global.nc.L1::no_allocate.v4.f32", "ld.global.nc.L1::no_allocate.v4.f32", "ld.global.nc.v4.f32"),
    ] {
        assert_eq!([first(hint, "sm_90"), first(hint, "sm_75"), first(hint, "sm_60")], [since_80, since_70, before], "{hint}");
    }
    // Every access of the buffer, in device functions, too, and no other; an atomic has none.
    let text = text("streaming", "sm_90");
    let all = accesses(&text);
    let hinted = all.iter().filter(|word| word.contains(".cs")).count();
    let plain: Vec<&&str> = all.iter().filter(|word| !word.contains(".cs")).collect();
    assert_eq!((hinted, plain), (8, vec![&"st.global.f32", &"red.global.add.f32"]), "{all:?}");
    // What is only stored is not used for the last time.
    assert!(accesses(&text_of_last_use()).iter().filter(|word| word.starts_with("st.")).all(|word| !word.contains(".lu")));
}

fn text_of_last_use() -> String {
    text("last_use", "sm_90")
}

#[test]
fn assemblers_take_every_hint() {
    let Some(assemblers) = found_or_skip("cache_hints") else { return };
    let counts = Counts::default();
    for hint in HINTS {
        for (target, capability) in [("sm_50", 50), ("sm_60", 60), ("sm_75", 75), ("sm_80", 80), ("sm_90", 90), ("sm_120", 120)] {
            assemblers.iter().for_each(|assembler| counts.ask(assembler, &text(hint, target), hint, capability));
        }
    }
    counts.report("cache_hints");
}

/// The hints are in the machine code.
#[test]
fn hints_reach_the_machine_code() {
    let Some(judge) = Judge::found_or_skip("cache_hints_in_sass") else { return };
    let sass = |hint: &str| judge.sass(&text(hint, "sm_90"), 90).unwrap_or_else(|error| panic!("{hint}: {error}"));
    let has = |text: &str, word: &str| text.lines().any(|line| line.contains("LDG.E") && line.contains(word));
    assert!(has(&sass("streaming"), ".EF"), "{}", sass("streaming"));
    assert!(has(&sass("evict_first"), ".EF"), "{}", sass("evict_first"));
    assert!(has(&sass("evict_last"), ".EL"), "{}", sass("evict_last"));
    assert!(has(&sass("no_allocate"), ".NA"), "{}", sass("no_allocate"));
    println!("ran: cache_hints_in_sass (4 texts on nvdisasm)");
}

/// What the copy engine copies in and out has the policies of its matrices.
#[test]
fn hints_of_matrices_are_policies_of_their_copies() {
    let source = |hints: [&str; 2]| {
        format!(
            "#[kernel(block = 64)] pub fn k({} a: &Matrix<f32>, {} c: &mut Matrix<f32>) {{
                #[shared] let mut tile: [[f32; 16]; 8];
                #[pipeline(stages = 2, by = tma)]
                for k in 0..a.rows() / 8 {{
                    load_tile(&mut tile, a, k * 8, 0);
                    sync_threads();
                    store_tile(c, k * 8, 0, &tile);
                    sync_threads();
                }}
            }}",
            hints[0], hints[1]
        )
    };
    let text = |hints: [&str; 2]| ptx(&source(hints), "k", &[], "sm_90").unwrap_or_else(|error| panic!("{error}")).to_string();
    let hinted = text(["#[cache(evict_last)]", "#[cache(evict_first)]"]);
    let count = |text: &str, form: &str| text.matches(form).count();
    assert_eq!(count(&hinted, "createpolicy.fractional.L2::evict_last.b64"), 1, "{hinted}");
    assert_eq!(count(&hinted, "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"), 2, "{hinted}");
    assert_eq!(count(&hinted, "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint"), 1, "{hinted}");
    // Each by its own, none where none is asked for.
    let one = text(["", "#[cache(evict_first)]"]);
    assert_eq!(count(&one, "complete_tx::bytes.L2::cache_hint") + count(&one, "L2::evict_last"), 0, "{one}");
    assert_eq!(count(&one, "bulk_group.L2::cache_hint"), 1, "{one}");
    // What is copied by the block is read.
    text(["#[cache(last_use)]", ""]);
    let Some(assemblers) = found_or_skip("cache_hints_of_matrices") else { return };
    let counts = Counts::default();
    assemblers.iter().for_each(|assembler| counts.ask(assembler, &hinted, "hints of matrices", 90));
    counts.report("cache_hints_of_matrices");
}

#[kernel(block = 64)]
fn hinted(
    #[cache(streaming)] a: &Global<f32>,
    #[cache(evict_last)] b: &Global<f32>,
    #[cache(last_use)] c: &mut Global<f32>,
    #[cache(evict_first)] d: &mut Global<f32>,
    #[cache(no_allocate)] e: &Global<f32>,
) {
    let i = global_id().x;
    if i < a.len() {
        d[i] = a[i] + b[i] * 2.0 + c[i] * 4.0 + e[i] * 8.0;
    }
}

#[test]
fn results_are_those_without_hints() {
    for device in devices::all() {
        let x = device.upload(&[1.0f32; 100]).unwrap();
        let (mut c, mut d) = (device.upload(&[1.0f32; 100]).unwrap(), device.zeros::<f32>(100).unwrap());
        hinted(&x, &x, &mut c, &mut d, &x).cover(100).launch(&device).unwrap();
        assert_eq!(d.download().unwrap(), [15.0; 100], "{}", device.name());
    }
}

#[test]
fn hints_without_a_meaning_are_refused() {
    let refused = |kernel: &str, expected: &str| {
        let file: syn::File = syn::parse_str(kernel).unwrap();
        let mut found = Diagnostics::new();
        check_subset(&file.items, &mut found);
        let written = found.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join("; ");
        let text = if written.is_empty() { ptx(kernel, "k", &[], "sm_90").err().unwrap_or_default() } else { written };
        assert!(text.contains(expected), "{kernel}: {text}");
    };
    let kernel = |parameter: &str| format!("#[kernel] pub fn k({parameter}, y: &mut Global<f32>) {{ y[0] = 1.0; }}");
    refused(&kernel("#[cache(streeming)] x: &Global<f32>"), "the caches have no hint `streeming`");
    refused(&kernel("#[cache] x: &Global<f32>"), "`#[cache(…)]` takes one hint");
    refused(&kernel("#[cache(streaming, last_use)] x: &Global<f32>"), "`#[cache(…)]` takes one hint");
    refused(&kernel("#[cache(streaming)] #[cache(last_use)] x: &Global<f32>"), "a buffer has one hint for the caches");
    refused(&kernel("#[cache(streaming)] n: usize"), "`#[cache(…)]` is about the accesses of a buffer");
    refused(&kernel("#[cache(streaming)] x: &Constant<[f32; 4]>"), "`#[cache(…)]` is about the accesses of a buffer");
    refused(&kernel("#[cache(last_use)] x: &mut Matrix<f32>"), "`x` is never read, so `last_use` says nothing");
    refused(&kernel("#[cache(last_use)] x: &mut Global<f32>"), "`x` is never read, so `last_use` says nothing");
    refused(
        "#[device] fn f(#[cache(streaming)] x: &Global<f32>) -> f32 { x[0] } #[kernel] pub fn k(x: &Global<f32>, y: &mut Global<f32>) { y[0] = f(x); }",
        "`#[cache(…)]` stands on the kernel's parameter",
    );
}
