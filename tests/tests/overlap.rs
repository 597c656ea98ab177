//! Kernels that begin before the one before them in the stream has ended: what they compute is what they compute one after another, on every device there is.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright::{DeviceKind, Error};
use warpwright_codegen::backend::Backend;
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::target::Target;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::ptx;
use warpwright_tests::ptx_interpreter::{executed, is_here};
use warpwright_tests::ptxas::{self, Counts};
use warpwright_tests::sass::Judge;

/// How often kernels follow each other.
const ROUNDS: u32 = 50;

/// Each thread reads what another block of the kernel before has written.
#[kernel(block = 64, overlap)]
fn turned(x: &Global<u32>, y: &mut Global<u32>) {
    let (i, n) = (global_id().x, x.len());
    if i >= n {
        return;
    }
    y[n - 1 - i] = 3 * x[i] + 1;
}

/// The same through shared memory and the copy engine, where there is one: every block reads several runs of the kernel before.
#[kernel(block = 64, overlap)]
fn gathered(runs: usize, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut run: [u32; 256];
    let t = thread_idx().x;
    let mut sum = 0;
    #[pipeline(stages = 3)]
    for chunk in 0..runs {
        load_run(&mut run, x, chunk * 256);
        sync_threads();
        sum += run[(4 * t + block_idx().x) % 256] + chunk as u32;
        sync_threads();
    }
    if global_id().x < y.len() {
        y[global_id().x] = sum;
    }
}

/// Blocks that take turns at the rows of a buffer, which they read and write.
#[kernel(block = 64, overlap, persistent)]
fn added(by: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] += x[i] * by;
    }
}

/// Through a producer's slots and out by the copy engine, round by round.
#[kernel(block = 64, overlap, persistent, targets = [sm_90])]
fn passed(x: &Matrix<u32>, y: &mut Matrix<u32>) {
    #[shared]
    let mut tile: [[u32; 16]; 8];
    #[shared]
    let mut sent: [[u32; 16]; 8];
    let (t, row) = (thread_idx().x, block_idx().x * 8);
    #[pipeline(stages = 3, by = tma, producer)]
    for k in 0..x.columns().div_ceil(16) {
        load_tile(&mut tile, x, row, k * 16);
        sync_threads();
        for half in 0..2usize {
            sent[half * 4 + t / 16][t % 16] = 3 * tile[7 - (half * 4 + t / 16)][t % 16] + 1;
        }
        sync_threads();
        store_tile(y, row, k * 16, &sent);
        sync_threads();
    }
}

fn turned_here(x: &[u32]) -> Vec<u32> {
    x.iter().rev().map(|x| x.wrapping_mul(3).wrapping_add(1)).collect()
}

fn gathered_here(runs: usize, x: &[u32], len: usize) -> Vec<u32> {
    let at = |i: usize| x.get(i).copied().unwrap_or(0);
    let one = |i: usize, chunk: usize| at(chunk * 256 + (4 * (i % 64) + i / 64) % 256).wrapping_add(chunk as u32);
    (0..len).map(|i| (0..runs).fold(0u32, |sum, chunk| sum.wrapping_add(one(i, chunk)))).collect()
}

fn numbers(len: usize) -> Vec<u32> {
    (0..len as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect()
}

/// Two buffers to and fro: what a kernel reads the one before has written, and what it writes that one has read.
#[test]
fn kernels_that_need_each_other_give_what_they_give_one_by_one() {
    for len in [1000, 40_000] {
        on_all("overlap of two", |device| {
            // Many blocks are for GPUs: others run one kernel after another, slowly.
            let rounds = if device.kind() == DeviceKind::Cuda || len <= 1000 { ROUNDS } else { 2 };
            let runs = 5;
            let mut expected = numbers(len);
            let (mut a, mut b) = (device.upload(&expected).unwrap(), device.zeros::<u32>(len).unwrap());
            for _ in 0..rounds {
                turned(&a, &mut b).cover(len).launch(device).unwrap();
                gathered(runs, &b, &mut a).cover(len).launch(device).unwrap();
                expected = gathered_here(runs, &turned_here(&expected), len);
            }
            assert_eq!(a.download().unwrap(), expected, "{len} on {device}");
        });
    }
}

/// The same by a producer: it reads as early as it may, and the engine stores as late.
#[test]
fn a_producer_reads_what_the_kernel_before_has_stored() {
    let (rows, columns) = (24, 80);
    on_all("overlap of producers", |device| {
        if device.properties().compute_capability.is_some_and(|capability| capability < (9, 0)) {
            return;
        }
        let mut expected = numbers(rows * columns);
        let (mut a, mut b) = (device.upload(&expected).unwrap(), device.zeros::<u32>(rows * columns).unwrap());
        let rounds = if device.kind() == DeviceKind::Cuda { ROUNDS } else { 3 };
        for _ in 0..rounds {
            let (x, y) = (device.matrix(&a, rows, columns).unwrap(), device.matrix_mut(&mut b, rows, columns).unwrap());
            passed(x, y).grid(rows / 8).launch(device).unwrap();
            turned(&b, &mut a).cover(rows * columns).launch(device).unwrap();
            let at = |i: usize| expected[(i / columns / 8 * 8 + 7 - i / columns % 8) * columns + i % columns];
            let passed: Vec<u32> = (0..rows * columns).map(|i| at(i).wrapping_mul(3).wrapping_add(1)).collect();
            expected = turned_here(&passed);
        }
        assert_eq!(a.download().unwrap(), expected, "{device}");
    });
}

/// Copies, zeros and a plain kernel between them, and persistent ones.
#[kernel(block = 64)]
fn plain(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = y[i] * 5 + x[i];
    }
}

#[test]
fn copies_and_plain_kernels_between_them_keep_their_order() {
    let len = 5000;
    on_all("overlap and copies", |device| {
        let mut expected = numbers(len);
        let (mut a, mut b) = (device.upload(&expected).unwrap(), device.zeros::<u32>(len).unwrap());
        for round in 0..ROUNDS / 5 {
            let before = expected.clone();
            turned(&a, &mut b).cover(len).launch(device).unwrap();
            added(round + 2, &b, &mut a).cover(len).launch(device).unwrap();
            plain(&b, &mut a).cover(len).launch(device).unwrap();
            turned(&a, &mut b).cover(len).launch(device).unwrap();
            // The end of the last one is waited for here.
            let other = b.download().unwrap();
            a.copy_from(&b).unwrap();
            added(1, &b, &mut a).cover(len).launch(device).unwrap();
            let turned_before = turned_here(&before);
            let sum = |(a, b): (&u32, &u32)| a.wrapping_add(b.wrapping_mul(round + 2)).wrapping_mul(5).wrapping_add(*b);
            let both: Vec<u32> = before.iter().zip(&turned_before).map(sum).collect();
            let turned_both = turned_here(&both);
            assert_eq!(other, turned_both, "round {round} on {device}");
            expected = turned_both.iter().map(|x| x.wrapping_mul(2)).collect();
        }
        assert_eq!(a.download().unwrap(), expected, "{device}");
    });
}

/// Long enough that the kernels behind it would begin before it has ended.
#[kernel(block = 64)]
fn slowly(times: usize, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut value = i as u32;
    for _ in 0..times {
        value = value * 1_664_525 + 1_013_904_223;
    }
    y[i] = value;
}

/// Does nothing if `n` is 0: its threads are done at once.
#[kernel(block = 64, overlap)]
fn first_of(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i >= n {
        return;
    }
    y[i] = x[i];
}

/// A kernel that does nothing is no way past the one before it; and what another stream writes is waited for.
#[test]
fn the_end_of_one_is_the_end_of_all_before() {
    let (len, times) = (64 * 20, 20_000);
    let one = |i: u32, times| (0..times).fold(i, |value, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    on_all("overlap of idle kernels", |device| {
        let times = if device.kind() == DeviceKind::Cuda { 100 * times } else { 20 };
        let expected: Vec<u32> = (0..len as u32).map(|i| one(i, times)).collect();
        let other = device.stream().unwrap();
        for _ in 0..3 {
            let [mut slow, mut idle, mut copy] = [(); 3].map(|()| device.zeros::<u32>(len).unwrap());
            slowly(times, &mut slow).grid(20).launch(device).unwrap();
            first_of(0, &copy, &mut idle).grid(20).launch(device).unwrap();
            first_of(len, &slow, &mut copy).grid(20).launch(device).unwrap();
            assert_eq!(copy.download().unwrap(), expected, "{device}");
            assert_eq!(idle.download().unwrap(), vec![0; len], "{device}");

            let [mut slow, mut copy] = [(); 2].map(|()| device.zeros::<u32>(len).unwrap());
            slowly(times, &mut slow).grid(20).launch_on(&other).unwrap();
            first_of(0, &copy, &mut idle).grid(20).launch(device).unwrap();
            first_of(len, &slow, &mut copy).grid(20).launch(device).unwrap();
            assert_eq!(copy.download().unwrap(), expected, "another stream, on {device}");
        }
    });
}

/// Reads what two kernels have written, of which the second waits for the first.
#[kernel(block = 64, overlap)]
fn joined(x: &Global<u32>, y: &Global<u32>, z: &mut Global<u32>) {
    let i = global_id().x;
    if i < z.len() {
        z[i] = x[i] + 7 * y[i];
    }
}

/// Not the PTX interpreter in its place, which takes its time.
fn is_gpu(device: &Device) -> bool {
    device.kind() == DeviceKind::Cuda && !is_here()
}

/// The numbers of a graph's kernels, whichever of them may begin early, are those of one launch after another.
#[test]
fn kernels_of_a_graph_give_what_they_give_one_by_one() {
    let (len, runs) = (5000, 5);
    on_all("overlap in graphs", |device| {
        let rounds = if is_gpu(device) { ROUNDS } else { 2 };
        let (mut a, mut b) = (device.upload(&numbers(len)).unwrap(), device.zeros::<u32>(len).unwrap());
        let graph = device.record((&mut a, &mut b), |steps, (a, b)| {
            for round in 0..3 {
                steps.launch(turned(a, b).cover(len))?;
                steps.launch(gathered(runs, b, a).cover(len))?;
                steps.launch(added(round + 2, b, a).cover(len))?;
                steps.launch(plain(b, a).cover(len))?;
                steps.launch(turned(a, b).cover(len))?;
                steps.copy(a, b)?;
                steps.launch(added(1, b, a).cover(len))?;
            }
            Ok::<(), Error>(())
        });
        let mut graph = graph.unwrap();
        let mut expected = numbers(len);
        for _ in 0..rounds {
            graph.launch((&mut a, &mut b)).unwrap();
            for round in 0..3u32 {
                let b = turned_here(&expected);
                let sum = |(a, b): (&u32, &u32)| a.wrapping_add(b.wrapping_mul(round + 2)).wrapping_mul(5).wrapping_add(*b);
                let a: Vec<u32> = gathered_here(runs, &b, len).iter().zip(&b).map(sum).collect();
                expected = turned_here(&a).iter().map(|x| x.wrapping_mul(2)).collect();
            }
        }
        assert_eq!(a.download().unwrap(), expected, "{device}");
    });
}

/// A kernel that does nothing is no way past the one before it in a graph, either, and neither are two that do not wait for each other.
#[test]
fn a_step_of_a_graph_begins_behind_all_that_it_waits_for() {
    let (len, times) = (64 * 20, 20_000);
    let one = |i: u32, times| (0..times).fold(i, |value, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    on_all("overlap of idle kernels in graphs", |device| {
        let times = if is_gpu(device) { 100 * times } else { 20 };
        let [mut slow, mut idle, mut other, mut result] = [(); 4].map(|()| device.zeros::<u32>(len).unwrap());
        let graph = device.record((&mut slow, &mut idle, &mut other, &mut result), |steps, (slow, idle, other, result)| {
            steps.launch(slowly(times, slow).grid(20))?;
            steps.launch(first_of(0, slow, idle).grid(20))?;
            steps.launch(joined(slow, idle, result).grid(20))?;
            steps.launch(first_of(len, slow, other).grid(20))?;
            steps.launch(joined(other, result, slow).grid(20))?;
            Ok::<(), Error>(())
        });
        let mut graph = graph.unwrap();
        let first: Vec<u32> = (0..len as u32).map(|i| one(i, times)).collect();
        let last: Vec<u32> = first.iter().map(|x| x.wrapping_mul(8)).collect();
        for round in 0..3 {
            graph.launch((&mut slow, &mut idle, &mut other, &mut result)).unwrap();
            assert_eq!(slow.download().unwrap(), last, "round {round} on {device}");
            assert_eq!(result.download().unwrap(), first, "round {round} on {device}");
            assert_eq!(idle.download().unwrap(), vec![0; len], "round {round} on {device}");
        }
    });
}

/// The same as PTX that is executed without a GPU, by a driver that takes no edge between others than kernels.
#[test]
fn graphs_on_the_ptx_interpreter() {
    let names = ["a_step_of_a_graph_begins_behind_all_that_it_waits_for", "kernels_of_a_graph_give_what_they_give_one_by_one"];
    executed("overlap", &names, "9.0");
}

/// One step of a row of short kernels.
#[kernel(block = 64, overlap = P)]
fn stepped<const P: bool>(x: &Global<u32>, y: &mut Global<u32>) {
    let (i, n) = (global_id().x, x.len());
    if i < n {
        y[i] = x[(i + 1) % n] + 3;
    }
}

/// What a row of launches takes, and whether it gives what it should.
fn row<const P: bool>(device: &Device, len: usize, pairs: usize) -> Duration {
    let x = numbers(len);
    let (mut a, mut b) = (device.upload(&x).unwrap(), device.zeros::<u32>(len).unwrap());
    // Compiled, and the device awake.
    stepped::<P>(&a, &mut b).cover(len).launch(device).unwrap();
    device.synchronize().unwrap();
    let start = Instant::now();
    for _ in 0..pairs {
        stepped::<P>(&a, &mut b).cover(len).launch(device).unwrap();
        stepped::<P>(&b, &mut a).cover(len).launch(device).unwrap();
    }
    device.synchronize().unwrap();
    let took = start.elapsed();
    let expected: Vec<u32> = (0..len).map(|i| x[(i + 2 * pairs) % len].wrapping_add(6 * pairs as u32)).collect();
    assert_eq!(a.download().unwrap(), expected, "{P} on {device}");
    took
}

/// What a replay of a graph of a row takes for each kernel, best of ten.
fn replayed<const P: bool>(device: &Device, len: usize, pairs: usize) -> Duration {
    let x = numbers(len);
    let (mut a, mut b) = (device.upload(&x).unwrap(), device.zeros::<u32>(len).unwrap());
    let graph = device.record((&mut a, &mut b), |steps, (a, b)| {
        for _ in 0..pairs {
            steps.launch(stepped::<P>(a, b).cover(len))?;
            steps.launch(stepped::<P>(b, a).cover(len))?;
        }
        Ok::<(), Error>(())
    });
    let mut graph = graph.unwrap();
    let replays = 10;
    let times = (0..replays).map(|_| {
        let start = Instant::now();
        graph.launch((&mut a, &mut b)).unwrap();
        device.synchronize().unwrap();
        start.elapsed()
    });
    let best = times.min().expect("there are some");
    let steps = 2 * pairs * replays;
    let expected: Vec<u32> = (0..len).map(|i| x[(i + steps) % len].wrapping_add(3 * steps as u32)).collect();
    assert_eq!(a.download().unwrap(), expected, "{P} on {device}");
    best
}

/// The same with and without; the times are for reading.
#[test]
fn rows_of_short_kernels_are_the_same_with_and_without() {
    on_all("rows of kernels", |device| {
        let pairs = if device.kind() == DeviceKind::Cuda { 2000 } else { 5 };
        for len in [64, 2000] {
            let each = |took: Duration| took.as_secs_f64() * 1e6 / (2 * pairs) as f64;
            let (with, without) = (each(row::<true>(device, len, pairs)), each(row::<false>(device, len, pairs)));
            println!("{len} elements on {device}: {with:.2} µs each with overlap, {without:.2} µs without");
            let (with, without) = (each(replayed::<true>(device, len, pairs)), each(replayed::<false>(device, len, pairs)));
            println!("in a graph: {with:.2} µs each with overlap, {without:.2} µs without");
        }
    });
}

const SOURCE: &str = include_str!("overlap.rs");

/// The source of a kernel of this file.
fn source(kernel: &str) -> &'static str {
    let start = SOURCE.find(&format!("fn {kernel}(")).and_then(|at| SOURCE[..at].rfind("#[kernel(")).expect("a kernel of this file");
    let end = SOURCE[start..].find("\n}\n").expect("its end");
    &SOURCE[start..start + end + 3]
}

/// With how often each waits: once, a persistent one in a round and behind its rounds, and roles each for themselves.
const OVERLAPPING: [(&str, usize); 6] = [("turned", 1), ("gathered", 1), ("first_of", 1), ("joined", 1), ("added", 2), ("passed", 4)];

/// Whether a target has what the kernel needs: matrices are copied by the engine from sm_90 on.
fn runs_on(kernel: &str, capability: u16) -> bool {
    kernel != "passed" || capability >= 90
}

#[test]
fn a_launch_is_told_which_texts_wait() {
    for (kernel, waits) in OVERLAPPING.into_iter().chain([("plain", 0), ("slowly", 0)]) {
        let lowered = compile_text("kernel.rs", source(kernel), kernel, &Instance::default()).unwrap_or_else(|_| panic!("it compiles"));
        for name in ["sm_70", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"] {
            let target = Target::find(name).unwrap_or_else(|error| panic!("{error}"));
            if !runs_on(kernel, target.capability) {
                continue;
            }
            let emitted = Ptx.emit(&lowered.kernel, Some(target), &|_| proc_macro2::Span::call_site());
            let emitted = emitted.unwrap_or_else(|_| panic!("{kernel} on {name}"));
            let count = |word: &str| emitted.text.matches(word).count();
            let (wanted, admits) = if target.capability >= 90 { (waits, usize::from(waits > 0)) } else { (0, 0) };
            assert_eq!(emitted.overlaps, wanted > 0, "{kernel} on {name}");
            assert_eq!([count("griddepcontrol.wait;"), count("griddepcontrol.launch_dependents;")], [wanted, admits], "{}", emitted.text);
            // What a kernel reads that has begun is not read-only while it runs.
            assert!(wanted == 0 || count("ld.global.") + count("cp.async.bulk.tensor.") > 0 && count(".nc") == 0, "{}", emitted.text);
        }
    }
}

#[test]
fn assemblers_take_the_waits() {
    let test = "assemblers_take_the_waits";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_80", 80), ("sm_90", 90), ("sm_100", 100), ("sm_120", 120)] {
        for (kernel, _) in OVERLAPPING.into_iter().filter(|(kernel, _)| runs_on(kernel, capability)) {
            let text = ptx(source(kernel), kernel, &[], target).unwrap_or_else(|error| panic!("{error}")).to_string();
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, kernel, capability));
        }
    }
    counts.report(test);
}

/// What may not come before the wait: accesses of global memory, by threads and by the copy engine, and a thread's end.
const BEHIND_THE_WAIT: [&str; 14] =
    ["LD", "LDG", "LDGSTS", "ST", "STG", "RED", "REDG", "ATOM", "ATOMG", "TEX", "TLD", "UBLKCP", "UTMALDG", "UTMASTG"];

/// Whether the assembler has kept it on every way through a kernel: what was found in front of the wait.
fn unwaited(sass: &str) -> Vec<String> {
    let is_label = |line: &&str| line.starts_with('.') && line.ends_with(':');
    let lines: Vec<&str> = sass.lines().map(str::trim).filter(|line| line.starts_with("/*") || is_label(line)).collect();
    let of_label =
        |label: &str| lines.iter().position(|line| line.strip_suffix(':') == Some(label)).unwrap_or_else(|| panic!("{label}:\n{sass}"));
    let (mut seen, mut to_see, mut found) = (vec![false; lines.len()], vec![0], Vec::new());
    while let Some(at) = to_see.pop() {
        if at >= lines.len() || std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let instruction = lines[at].rsplit("*/").next().unwrap_or_default().trim();
        let (is_guarded, instruction) = match instruction.strip_prefix('@') {
            Some(guarded) => (true, guarded.split_once(' ').map_or("", |(_, rest)| rest.trim())),
            None => (false, instruction),
        };
        let name = instruction.split([' ', '.', ';']).next().unwrap_or_default();
        match name {
            // Not under a guard: then some threads would not wait.
            "ACQBULK" if !is_guarded => continue,
            "BRX" | "BRXU" | "JMP" | "JMX" | "CALL" | "RET" | "ACQBULK" => panic!("{name} at {at}:\n{sass}"),
            "EXIT" => found.push(lines[at].to_owned()),
            "BRA" => to_see.push(of_label(instruction.split(['(', ')']).nth(1).unwrap_or_default())),
            _ if BEHIND_THE_WAIT.contains(&name) => found.push(lines[at].to_owned()),
            _ => {}
        }
        if is_guarded || !matches!(name, "BRA" | "EXIT") {
            to_see.push(at + 1);
        }
    }
    found
}

#[test]
fn machine_code_accesses_nothing_before_it_waits() {
    let test = "machine_code_accesses_nothing_before_it_waits";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    for (kernel, waits) in OVERLAPPING {
        let text = ptx(source(kernel), kernel, &[], "sm_90").unwrap_or_else(|error| panic!("{error}")).to_string();
        let sass = judge.sass(&text, 90).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!([sass.matches("ACQBULK").count(), sass.matches("PREEXIT").count()], [waits, 1], "{sass}");
        assert_eq!(unwaited(&sass), Vec::<String>::new(), "{sass}");
        // Without its waits, the walk finds what they are for.
        let is_access = |line: &String| !line.contains("EXIT");
        assert!(unwaited(&sass.replace("ACQBULK", "NOP")).iter().any(is_access), "{sass}");
    }
    println!("ran: {test} ({} kernels)", OVERLAPPING.len());
}
