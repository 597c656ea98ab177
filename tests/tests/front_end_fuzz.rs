//! Spoilt inputs through the front end, within bounds: no panic, no input that takes long, none that takes much memory. `tests/tests/bad_source.rs` spoils sources as text;
//! here they are trees of tokens, so that most still parse, and IR text, results of tuning and command lines are spoilt, too. The program `front-end-fuzz` does
//! the same for as long as one likes, and `fuzz-targets` hands it to `cargo fuzz`.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use warpwright_codegen::syntax::Unit;
use warpwright_tests::command::Folder;
use warpwright_tests::front_end::commands::COMMANDS;
use warpwright_tests::front_end::corpus::Corpus;
use warpwright_tests::front_end::exercise::{Reached, exercise};
use warpwright_tests::front_end::memory::Counted;
use warpwright_tests::front_end::trees::printed;
use warpwright_tests::front_end::{Spoilt, lines};
use warpwright_tests::random::Random;

// The targets of `cargo fuzz`, as they stand. Nightly Rust and LLVM's fuzzer build them; here they are functions of one input, so that every build of the tests compiles them.
extern crate self as libfuzzer_sys;

macro_rules! targets {
    ($($name:ident $path:literal;)*) => {
        $(
            #[allow(unused_attributes, reason = "`#![no_main]` is for the program that the file is elsewhere")]
            #[path = $path]
            mod $name;
        )*

        /// Their names.
        const TARGETS: &[&str] = &[$(stringify!($name)),*];
    };
}

targets! {
    commands "../../fuzz-targets/fuzz_targets/commands.rs";
    ir "../../fuzz-targets/fuzz_targets/ir.rs";
    results "../../fuzz-targets/fuzz_targets/results.rs";
    source "../../fuzz-targets/fuzz_targets/source.rs";
    spoilt "../../fuzz-targets/fuzz_targets/spoilt.rs";
}

/// What `libfuzzer_sys::fuzz_target!` takes, as a function. Behind the targets, which would not have to import it otherwise.
macro_rules! fuzz_target {
    (|$input:ident: $ty:ty| $body:block) => {
        pub(crate) fn run($input: $ty) $body
    };
}
pub(crate) use fuzz_target;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// How many times as long this build takes: without optimisation, with the verifier between passes, 10,400 inputs (seeds from 1, 100,000 and 200,000 on) took 3.7 to 4.1 times as much of the processor
/// as in an optimised build, and the longest of them 2.5 times.
const SLOWER: u32 = if cfg!(debug_assertions) { 4 } else { 1 };

/// What an input may take of the processor: a second in an optimised build.
const LONGEST: Duration = Duration::from_secs(1).saturating_mul(SLOWER);

/// After so long by the clock an input is taken for one that does not end: busy cores give a thread an eighth of one.
const ENDLESS: Duration = LONGEST.saturating_mul(8);

/// Bytes that an input may hold.
const MOST: usize = 1 << 30;

/// How long the inputs of a seed are tried.
const TIME: Duration = Duration::from_secs(12);

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn corpus() -> Corpus {
    let corpus = Corpus::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    assert!(corpus.sources.len() > 100 && corpus.ir.len() > 50, "{} sources, {} IR texts", corpus.sources.len(), corpus.ir.len());
    corpus
}

/// Stack of the thread that the inputs run on: what a program's first thread has.
const STACK: usize = 8 << 20;

/// Tries the inputs from a seed on, in a thread of their own, so that one that does not end is found, too; what is wrong with them.
fn tried(name: &str, seed: u64, most: u64, time: Duration, corpus: &Arc<Corpus>) -> Vec<String> {
    let (sender, costs) = mpsc::channel();
    let (own, start) = (Arc::clone(corpus), Instant::now());
    let work = move || {
        for seed in (0..most).map(|i| seed.wrapping_add(i)) {
            let mut reached = Reached::default();
            let cost = exercise(&Spoilt::of(seed, &own), true, &mut reached);
            if sender.send((cost, reached)).is_err() || start.elapsed() > time {
                return;
            }
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    let (mut all, mut wrong, mut count) = (Reached::default(), Vec::new(), 0);
    let (mut longest, mut largest) = (Duration::ZERO, 0);
    loop {
        let seed = seed.wrapping_add(count);
        let (cost, reached) = match costs.recv_timeout(ENDLESS) {
            Ok(found) => found,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                wrong.push(format!("seed {seed} does not end within {ENDLESS:?}\n{}", Spoilt::of(seed, corpus).text()));
                break;
            }
        };
        (all.parsed, all.lowered, all.printed) =
            (all.parsed + reached.parsed, all.lowered + reached.lowered, all.printed + reached.printed);
        (longest, largest, count) = (longest.max(cost.time), largest.max(cost.bytes), count + 1);
        let complaint = match cost.panic {
            Some(place) => Some(format!("panicked: {place}")),
            None if cost.time > LONGEST => Some(format!("took {:?}", cost.time)),
            None if cost.bytes > MOST => Some(format!("held {} bytes", cost.bytes)),
            None => None,
        };
        wrong.extend(complaint.map(|complaint| format!("seed {seed} {complaint}\n{}", Spoilt::of(seed, corpus).text())));
    }
    println!(
        "{name}: seeds from {seed} on: {count} inputs, {} parsed, {} lowered, {} printed; the longest took {longest:?}, the largest held {} KiB",
        all.parsed,
        all.lowered,
        all.printed,
        largest >> 10
    );
    assert!(!wrong.is_empty() || all.lowered > 0, "every input was refused: nothing was tried behind the checks");
    wrong
}

#[test]
fn spoilt_inputs_cost_little_and_never_panic() {
    let corpus = Arc::new(corpus());
    let seed = variable("WARPWRIGHT_FUZZ_SEED").unwrap_or_else(Random::fresh_seed);
    let time = variable("WARPWRIGHT_FUZZ_SECONDS").map_or(TIME, Duration::from_secs);
    let mut wrong = tried("fixed", 1, 400, TIME, &corpus);
    wrong.extend(tried("fresh", seed, u64::MAX, time, &corpus));
    assert!(wrong.is_empty(), "{} inputs\n\n{}", wrong.len(), wrong.join("\n\n"));
    println!("ran: front end (spoilt inputs on the compiler)");
}

#[test]
fn the_targets_of_cargo_fuzz_take_inputs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz-targets");
    let files = std::fs::read_dir(folder.join("fuzz_targets")).expect("the targets").map(|file| file.expect("a file").path());
    let mut files: Vec<String> = files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    files.sort_unstable();
    assert_eq!(files, TARGETS, "fuzz-targets/fuzz_targets has these files: name each in `targets!` of tests/tests/front_end_fuzz.rs");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    for name in TARGETS {
        let wanted = format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"");
        assert!(manifest.contains(&wanted), "`[[bin]]` of target `{name}` is not in fuzz-targets/Cargo.toml: {wanted}");
    }
    let corpus = corpus();
    for at in 0..5 {
        source::run(&corpus.sources[at]);
        ir::run(&corpus.ir[at]);
        results::run(&corpus.results[at % corpus.results.len()]);
        commands::run(Spoilt::command(&mut Random::new(at as u64)).text());
        spoilt::run(at as u64);
    }
    println!("ran: the targets of cargo fuzz ({} inputs on the compiler)", 5 * TARGETS.len());
}

#[test]
fn what_is_not_changed_is_read_again() {
    let corpus = corpus();
    let parses = |text: &str| Unit::parse("k.rs", 1, 1, text).is_ok();
    let whole: Vec<&String> = corpus.sources.iter().filter(|text| parses(text)).collect();
    assert!(whole.len() > 80, "{} of {} sources parse", whole.len(), corpus.sources.len());
    let wrong: Vec<String> = whole.iter().filter_map(|text| printed(text)).filter(|again| !parses(again)).collect();
    assert!(wrong.is_empty(), "{} sources are printed as what is no Rust\n{}", wrong.len(), wrong[0]);
}

const KERNELS: &[u8] = b"use warpwright::prelude::*;
#[kernel(block = 64)]
pub fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}
#[kernel(block = 64, variants(N in [1, 2]))]
pub fn tile<const N: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[63 - t] * N as f32;
}
";

/// Command lines that are tried.
const LINES: u64 = 60;

#[test]
fn spoilt_command_lines_are_refused_or_done() {
    let folder = Folder::new("front-end", &[("k.rs", KERNELS)]);
    // The first run may have to build the command.
    assert_eq!(folder.run(&["--version"]).code, Some(0));
    let seed = variable("WARPWRIGHT_FUZZ_SEED").unwrap_or_else(Random::fresh_seed);
    for seed in (1..=LINES / 2).chain((0..LINES / 2).map(|i| seed.wrapping_add(i))) {
        let mut random = Random::new(seed);
        let spoilt = lines::spoil(random.pick(COMMANDS), &mut random);
        let arguments: Vec<String> = spoilt.split_whitespace().map(|word| word.replace('\0', "")).collect();
        let short: Vec<&str> = arguments.iter().take(200).map(|word| word.get(..4_000).unwrap_or(word)).collect();
        let start = Instant::now();
        let outcome = folder.run(&short);
        let shown = || format!("seed {seed}: {short:?}\n{}", outcome.err);
        assert!(matches!(outcome.code, Some(0..=2)), "{:?}: {}", outcome.code, shown());
        assert!(!outcome.err.contains("panicked at"), "{}", shown());
        assert!(start.elapsed() < ENDLESS, "{:?}: {}", start.elapsed(), shown());
    }
    println!("ran: command lines ({LINES} spoilt lines on the command)");
}

/// Command lines that are read in this program, many more than are run.
const READ: u64 = 400;

#[test]
fn spoilt_command_lines_are_read_quickly() {
    let seed = variable("WARPWRIGHT_FUZZ_SEED").unwrap_or_else(Random::fresh_seed);
    let (mut reached, mut longest, mut largest) = (Reached::default(), Duration::ZERO, 0);
    for seed in (1..=READ / 2).chain((0..READ / 2).map(|i| seed.wrapping_add(i))) {
        let input = Spoilt::command(&mut Random::new(seed));
        let cost = exercise(&input, true, &mut reached);
        (longest, largest) = (longest.max(cost.time), largest.max(cost.bytes));
        let is_within = cost.panic.is_none() && cost.time < LONGEST && cost.bytes < MOST;
        assert!(is_within, "seed {seed}: {cost:?}\n{}", input.text());
    }
    // Some are still right, and not all.
    assert!((1..READ).contains(&reached.parsed), "{} of {READ}", reached.parsed);
    println!("{READ} command lines, {} right; the longest took {longest:?}, the largest held {} KiB", reached.parsed, largest >> 10);
    println!("ran: command lines ({READ} spoilt lines on the command)");
}

/// Whatever stands behind `NAME=` is parsed by recursion, and a stack has an end.
#[test]
fn values_that_nest_deep_are_refused() {
    let folder = Folder::new("front-end-deep", &[("k.rs", KERNELS)]);
    let nested = format!("{}1{}", "[".repeat(40_000), "]".repeat(40_000));
    for (option, name) in [("--args", "x"), ("--set", "N"), ("-D", "N")] {
        let outcome = folder.run(&["compare", "k.rs::tile", "--simulate", "--grid", "1", option, &format!("{name}={nested}")]);
        assert_eq!(outcome.code, Some(2), "{option}: {:.200}", outcome.err);
    }
}
