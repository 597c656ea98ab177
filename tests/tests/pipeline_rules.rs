//! The rules of pipelined loops, R1 to R8 (`codegen/src/schedule/pipeline/rules.rs`): of each, loops that break it, with what is said of them, and near misses: loops that differ
//! from these in what the rule is about, and are kept. A near miss gives what it gives without the annotation, on the simulator and on all GPUs, and its copies are asynchronous.
//!
//! V1 to V3, which no source can break, are in `runtime/src/sim/tests/engine.rs` (faults) and `tests/filetests/verify/engine.ir`.

use warpwright::prelude::*;
use warpwright::{DeviceKind, Dim3};
use warpwright_codegen::pipeline::{compile, compile_text};
use warpwright_codegen::syntax::{Instance, Program, Unit};
use warpwright_codegen::target::Target;
use warpwright_runtime::definition::ParameterKind;
use warpwright_runtime::dynamic::{DynamicArgument, DynamicGeometry, DynamicKernel};
use warpwright_tests::devices;
use warpwright_tests::emitted::ptx;

/// A kernel round some loops. The arrays are of 256 bytes, `half` of 512 and `large` of 32 KiB.
fn kernel(arrays: &str, body: &str) -> String {
    format!(
        "#[kernel(block = 64)]
fn k(n: usize, x: &Global<u32>, w: &mut Global<u32>, y: &mut Global<u32>, m: &Matrix<u32>) {{
    #[shared] let mut a: [u32; 64];
    {arrays}
    let t = thread_idx().x;
    let mut sum = 0u32;
    {body}
    y[t] = sum;
}}"
    )
}

/// What is said of a source for `sm_90`; nothing if it compiles.
fn said(source: &str, target: &str) -> String {
    ptx(source, "k", &[], target).err().unwrap_or_default()
}

/// The edits that are named for a source on a target.
fn edit(source: &str, target: &str) -> String {
    let target = Target::find(target).expect("a target");
    let found = compile_text("k.rs", source, "k", &Instance::default()).and_then(|lowered| lowered.ptx(target).map(|_| ()));
    let found = found.err().unwrap_or_else(|| panic!("nothing is wrong with\n{source}"));
    found.iter().filter_map(|finding| finding.help.clone()).collect::<Vec<_>>().join("; ")
}

#[track_caller]
fn refused(rule: &str, arrays: &str, body: &str, message: &str) {
    let source = kernel(arrays, body);
    let found = said(&source, "sm_90");
    assert!(found.contains(message), "{rule}: `{message}` is not said, but `{found}`, of\n{source}");
    // Nothing else is wrong with it.
    assert_eq!(said(&plain(&source), "sm_90"), "", "{rule}: {source}");
}

/// A source without its pipelines.
fn plain(source: &str) -> String {
    let mut text = source.to_owned();
    while let Some(at) = text.find("#[pipeline") {
        let end = at + text[at..].find(']').expect("the annotation ends") + 1;
        text.replace_range(at..end, "");
    }
    text
}

/// What a source gives on a device: `w` and `y`.
fn run(source: &str, device: &Device, n: u32) -> Vec<Vec<u8>> {
    let mut program = Program::default();
    let unit = program.add(Unit::parse("k.rs", 1, 1, source).unwrap_or_else(|_| panic!("{source}")));
    let lowered = compile(&program, unit, "k", &Instance::default()).unwrap_or_else(|_| panic!("{source}"));
    let kernel = DynamicKernel::compile(device, &program, lowered).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let numbers: Vec<u8> = (0..8192u32).flat_map(|i| (i * 7919 % 1021).to_le_bytes()).collect();
    let mut values = Vec::new();
    let mut buffers: Vec<Buffer<u8>> = Vec::new();
    for parameter in kernel.parameters() {
        let number = if parameter.name == "n" { n } else { 32 };
        values.push(number.to_le_bytes());
        buffers.push(device.upload(&numbers).unwrap());
    }
    let arguments: Vec<DynamicArgument<'_>> = kernel
        .parameters()
        .iter()
        .zip(values.iter().zip(&buffers))
        .map(|(parameter, (value, buffer))| match parameter.kind {
            ParameterKind::Value => DynamicArgument::Value(value),
            _ => DynamicArgument::Buffer(buffer),
        })
        .collect();
    kernel.run(DynamicGeometry::default().grid(Dim3::from(1usize)), &arguments).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let written = kernel.parameters().iter().zip(&buffers).filter(|(parameter, _)| parameter.kind == ParameterKind::GlobalMut);
    written.map(|(_, buffer)| buffer.download().unwrap()).collect()
}

#[track_caller]
fn near_miss(rule: &str, arrays: &str, body: &str) {
    let source = kernel(arrays, body);
    assert_eq!(said(&source, "sm_90"), "", "{rule}: {source}");
    let text = text_of(&source);
    assert!(text.contains("cp.async"), "{rule}: {source}\n{text}");
    // The twin has no kernels from texts, and GPUs before sm_90 are refused what R8 is about.
    let runs = |device: &&Device| {
        device.kind() != DeviceKind::Host && device.properties().compute_capability.is_none_or(|capability| capability >= (9, 0))
    };
    for device in devices::all().iter().filter(runs) {
        for n in 0..=5 {
            assert!(run(&source, device, n) == run(&plain(&source), device, n), "{rule}, {n} iterations on {device}: {source}");
        }
    }
}

/// The PTX of a source for `sm_90`.
fn text_of(source: &str) -> String {
    ptx(source, "k", &[], "sm_90").map_or_else(|error| error, |module| module.to_string())
}

#[test]
fn r1_barriers_stand_between_copies_and_work_and_at_the_end() {
    let between = "the body has no barrier between writing `a` and reading it";
    refused("R1", "", "#[pipeline(stages = 2)] for k in 0..n { a[t] = x[k * 64 + t]; sum += a[t]; }", between);
    refused(
        "R1",
        "",
        "#[pipeline(stages = 2)] for k in 0..n { a[t] = x[k * 64 + t]; if n > 3 { sync_threads(); } sum += a[t]; sync_threads(); }",
        between,
    );
    refused(
        "R1",
        "",
        "#[pipeline(stages = 2)] for k in 0..n { a[t] = x[k * 64 + t]; sync_threads(); sum += a[t]; }",
        "the body does not end with a barrier",
    );
    near_miss(
        "R1",
        "",
        "#[pipeline(stages = 2)] for k in 0..n { a[t] = x[k * 64 + t]; sync_threads(); sum += a[63 - t]; sync_threads(); }",
    );
    // Barriers of the work's own, also where not all iterations come to them.
    near_miss(
        "R1",
        "#[shared] let mut c: [u32; 64];",
        "#[pipeline(stages = 3)] for k in 0..n {
            a[t] = x[k * 64 + t];
            sync_threads();
            c[t] = a[63 - t] * 3;
            if n > 3 { sync_threads(); sum += c[63 - t]; }
            sync_threads();
        }",
    );
}

#[test]
fn r2_each_iteration_writes_what_it_reads() {
    let half = "#[shared] let mut half: [u32; 128];";
    refused(
        "R2",
        half,
        "#[pipeline(stages = 2)] for k in 0..n { half[t] = x[k * 64 + t]; sync_threads(); sum += half[127 - t]; sync_threads(); }",
        "the copies do not always write `half[64]`",
    );
    refused(
        "R2",
        "",
        "#[pipeline(stages = 2)] for k in 0..n { sum += a[63 - t]; sync_threads(); a[t] = x[k * 64 + t]; sync_threads(); }",
        "`a` is read before it is written",
    );
    near_miss(
        "R2",
        half,
        "#[pipeline(stages = 2)] for k in 0..n {
            half[t] = x[k * 64 + t];
            half[t + 64] = x[k * 64 + t + 7];
            sync_threads();
            sum += half[127 - t];
            sync_threads();
        }",
    );
}

#[test]
fn r3_rings_are_touched_in_pipelined_loops_only() {
    let copy = "a[t] = x[k * 64 + t]; sync_threads(); sum += a[63 - t]; sync_threads();";
    refused("R3", "", &format!("a[t] = 0; #[pipeline(stages = 2)] for k in 0..n {{ {copy} }}"), "`a` is touched outside the loop");
    refused("R3", "", &format!("#[pipeline(stages = 2)] for k in 0..n {{ {copy} }} sum += a[t];"), "`a` is touched outside the loop");
    refused(
        "R3",
        "",
        "#[pipeline(stages = 2)] for k in 0..n { a[t] = x[k * 64 + t]; sync_threads(); a[t] += 1; sync_threads(); }",
        "`a` is written behind the barrier",
    );
    // Another array is cleared, and another pipelined loop has this one.
    near_miss(
        "R3",
        "#[shared] let mut c: [u32; 64];",
        &format!(
            "c[t] = 5; sync_threads(); sum += c[63 - t];
            #[pipeline(stages = 2)] for k in 0..n {{ {copy} }}
            #[pipeline(stages = 3)] for k in 0..n {{ {copy} }}"
        ),
    );
}

#[test]
fn r4_before_the_barrier_there_are_copies_only() {
    let with =
        |copy: &str, work: &str| format!("#[pipeline(stages = 2)] for k in 0..n {{ {copy} sync_threads(); {work} sync_threads(); }}");
    refused("R4", "", &with("a[t] = x[k * 64 + t] + 1;", "sum += a[63 - t];"), "a copy changes what it copies");
    refused(
        "R4",
        "",
        &with("a[t] = x[k * 64 + t]; w[t] = k as u32;", "sum += a[63 - t];"),
        "before the barrier only shared arrays of fixed length are written",
    );
    refused(
        "R4",
        "",
        &with("let v = x[k]; a[t] = x[k * 64 + t];", "sum += a[63 - t] + v;"),
        "a value that is loaded before the barrier is used behind it",
    );
    refused(
        "R4",
        "",
        "let mut at = t; #[pipeline(stages = 2)] for k in 0..n { a[t] = x[at]; sync_threads(); sum += a[63 - t]; at += k; sync_threads(); }",
        "a copy needs `at`, which changes from iteration to iteration",
    );
    near_miss("R4", "", &with("a[t] = if k * 64 + t < 130 { x[k * 64 + t] } else { 0 };", "sum += a[63 - t] + 1;"));
    near_miss("R4", "", &with("let first = k * 64; a[t] = x[first + t];", "let v = x[k]; w[t] = v; sum += a[63 - t] + first as u32;"));
}

#[test]
fn r5_what_is_copied_is_not_written_meanwhile() {
    let with = |work: &str| {
        format!(
            "#[pipeline(stages = 2)] for k in 0..n {{ a[t] = w[k * 64 + t]; sync_threads(); sum += a[63 - t]; {work} sync_threads(); }}"
        )
    };
    refused("R5", "", &with("w[k * 64 + t + 64] = sum;"), "copies from `w` ahead of the work, which writes it");
    refused("R5", "", &with("fence_device();"), "copies from `w` ahead of the work, which may wait there for what another block writes");
    near_miss("R5", "", &with("y[k * 64 + t + 64] = sum;"));
    // Behind the loop it may be written.
    near_miss("R5", "", &format!("{} sync_threads(); w[t] = sum;", with("")));
}

#[test]
fn r6_all_slots_fit_a_block() {
    let large = "#[shared] let mut large: [[u32; 64]; 128];";
    let with = |stages: u32| {
        format!(
            "#[pipeline(stages = {stages})] for k in 0..n {{
                for r in 0..128 {{ large[r][t] = x[(k * 64 + r * 8 + t) % 8192]; }}
                sync_threads();
                sum += large[t][63 - t];
                sync_threads();
            }}"
        )
    };
    refused("R6", large, &with(8), "8 stages of 32768 bytes");
    near_miss("R6", large, &with(7));
    // Each target has a limit of its own, and the most stages that fit are named.
    let source = |stages: u32| kernel(large, &with(stages));
    for (target, most, limit) in
        [("sm_80", 5, 166_912), ("sm_86", 3, 101_376), ("sm_89", 3, 101_376), ("sm_120", 3, 101_376), ("sm_90", 7, 232_448)]
    {
        assert_eq!(said(&source(most), target), "", "{target}");
        let found = ptx(&source(most + 1), "k", &[], target).err().unwrap_or_default();
        assert!(
            edit(&source(most + 1), target).contains(&format!("write `stages = {most}` at most")),
            "{target}: {}",
            edit(&source(most + 1), target)
        );
        let is_said = found.contains(&limit.to_string()) && (target == "sm_90" || found.contains(&format!("{target} can have {limit}")));
        assert!(is_said, "{target}: {found}");
    }
}

#[test]
fn r7_all_threads_go_round_equally_often() {
    let with = |end: &str, work: &str| {
        format!("#[pipeline(stages = 2)] for k in 0..{end} {{ a[t] = x[k * 64 + t]; sync_threads(); {work} sync_threads(); }}")
    };
    refused("R7", "", &with("t", "sum += a[63 - t];"), "threads of a block may go round this loop unequally often");
    refused("R7", "", &with("n", "if a[0] > 1000 { break; }"), "this loop may be left early");
    near_miss("R7", "", &with("n.min(x.len() / 64)", "if t < 20 + k { sum += a[63 - t]; }"));
    near_miss("R7", "", &with("n", "for j in 0..64 { if a[j] > 900 { break; } sum += a[j]; }"));
    // What cannot be counted.
    refused(
        "R7",
        "",
        "let mut k = 0; #[pipeline(stages = 2)] while k < n { a[t] = x[k * 64 + t]; sync_threads(); sum += a[63 - t]; k += 1; sync_threads(); }",
        "`pipeline`",
    );
}

#[test]
fn r8_the_engine_copies_what_collectives_do() {
    let run_of = |length: usize| format!("#[shared] let mut run: [u32; {length}];");
    let bulk = |copy: &str| {
        format!("#[pipeline(stages = 3, by = bulk)] for k in 0..n {{ {copy} sync_threads(); sum += run[t % 50]; sync_threads(); }}")
    };
    let load = "load_run(&mut run, x, k * 64);";
    refused("R8", &run_of(64), &bulk("run[t] = x[k * 64 + t];"), "before the barrier threads copy elements");
    refused("R8", &run_of(50), &bulk(load), "`run` has 200 bytes, and bulk copies move multiples of 16");
    refused(
        "R8",
        &run_of(64),
        &format!("w[t] = 1; sync_threads(); {}", bulk("load_run(&mut run, w, k * 64);")),
        "the copy engine does not see what this kernel",
    );
    near_miss("R8", &run_of(52), &bulk(load));
    near_miss("R8", &run_of(64), &bulk("load_run(&mut run, w, k * 64);"));
    let tile_of = |rows: usize, columns: usize| format!("#[shared] let mut tile: [[u32; {columns}]; {rows}];");
    let tma = "#[pipeline(stages = 2, by = tma)] for k in 0..n { load_tile(&mut tile, m, k * 8, 0); sync_threads(); sum += tile[t % 8][t / 16]; sync_threads(); }";
    refused("R8", &tile_of(32, 6), tma, "`tile` has rows of 24 bytes, and tensor copies move multiples of 16");
    // Tiles come from anywhere, and go where the engine can write.
    near_miss("R8", &tile_of(16, 8), &tma.replace("k * 8, 0)", "k * 8, k)"));
    refused("R8", &tile_of(8, 512), tma, "`tile` has rows of 512 elements, and tensor copies move 256 at most");
    near_miss("R8", &tile_of(16, 8), tma);
    near_miss("R8", &tile_of(8, 256), tma);
    // Boxes of more than 256 rows are several copies.
    near_miss("R8", &tile_of(512, 8), tma);
    let parts = text_of(&kernel(&tile_of(512, 8), tma));
    assert_eq!(parts.matches("cp.async.bulk.tensor.2d").count() % 2, 0, "{parts}");
}
