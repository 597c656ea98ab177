//! `warpwright tune`: what is pruned and why, what is measured and kept, what a program makes of the result.

use std::process::{Command, Stdio};
use std::time::Duration;
use warpwright::prelude::*;
use warpwright::tuned::measured;
use warpwright::{DeviceKind, Tuned, TunedError};
use warpwright_tests::command::{Folder, binary};
use warpwright_tests::ptx_interpreter;
use warpwright_tests::random::Random;

/// The same text as `KERNEL`, so that this program has what the command tunes.
#[kernel(block = B, ilp = ILP, batch_loads = BATCH, variants(B in [64, 128], ILP in [1, 4], BATCH in [false, true]))]
pub fn copy<const B: usize, const ILP: usize, const BATCH: bool>(out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}

const KERNEL: &[u8] = b"use warpwright::prelude::*;
#[kernel(block = B, ilp = ILP, batch_loads = BATCH, variants(B in [64, 128], ILP in [1, 4], BATCH in [false, true]))]
pub fn copy<const B: usize, const ILP: usize, const BATCH: bool>(out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}
";

#[test]
fn variants_are_ranked_without_a_device() {
    let folder = Folder::new("tune", &[("k.rs", KERNEL)]);
    let run = folder.run(&["tune", "k.rs::copy", "--predict", "--target", "sm_90", "--share", "50", "--set", "B=64,128,2048"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("nothing was measured, this ranking is predicted"), "{}", run.err);
    for line in [
        "k.rs::copy: 12 variants",
        "   4 do not compile",
        "   2 are not measured",
        "   6 are to be measured, 50 % of all",
        "predicted for sm_90, the best first:",
    ] {
        assert!(run.out.contains(line), "`{line}` is not in:\n{}", run.out);
    }
    // Small blocks with one element each are limited by how fast blocks begin.
    let heading = run.out.lines().find(|line| line.trim_start().starts_with("speed")).expect("a heading");
    assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), ["speed", "B", "ILP", "BATCH"]);
    let best = run.out.lines().find(|line| line.contains("100.0 %")).expect("the best");
    assert_eq!(best.split_whitespace().nth(3), Some("4"), "{}", run.out);
    assert!(run.out.contains("B = 2048, ILP = 1, BATCH = false: k.rs:2:"), "why not: {}", run.out);
}

#[test]
fn nothing_is_predicted_for_opencl() {
    let folder = Folder::new("tune-opencl", &[("k.rs", KERNEL)]);
    let run = folder.run(&["tune", "k.rs::copy", "--predict", "--target", "opencl"]);
    run.refuses(
        2,
        &["`opencl` is not a compute capability: nothing is estimated for OpenCL devices; name an NVIDIA target, for example `sm_90`"],
    );
}

#[test]
fn what_is_measured_is_kept_and_loaded() {
    let device = Device::best();
    if !matches!(device.kind(), DeviceKind::Cuda | DeviceKind::OpenCl) {
        println!("skipped: what_is_measured_is_kept_and_loaded (no device to measure on)");
        return;
    }
    let folder = Folder::new("tune-device", &[("k.rs", KERNEL)]);
    let tune = |more: &[&str]| {
        folder.run(&[&["tune", "k.rs::copy", "--cover", "65536", "--share", "50", "--runs", "3", "--out", "t.toml"], more].concat())
    };
    tune(&["--out", "nowhere/t.toml"]).refuses(2, &["cannot be used multiple times"]);
    let nowhere = folder.run(&["tune", "k.rs::copy", "--cover", "65536", "--out", "nowhere/t.toml"]);
    nowhere.refuses(2, &["error: `nowhere/t.toml` cannot be written: "]);
    let run = tune(&[]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("timed on") && run.out.contains("\nbest: ") && !run.out.contains("earlier run"), "{}", run.out);
    let run = tune(&[]);
    assert!(run.out.contains("   4 were measured by an earlier run"), "{}", run.out);
    let run = tune(&["--afresh"]);
    assert!(!run.out.contains("earlier run"), "{}", run.out);
    // Nothing that was measured is replaced by something else.
    let before = std::fs::read(folder.0.join("t.toml")).expect("a result");
    let other = folder.run(&["tune", "k.rs::copy", "--cover", "4096", "--runs", "3", "--out", "t.toml"]);
    let wanted = [
        "error: `t.toml` has 4 measurements of something else\n  its launch is \"",
        "cover 65536x1x1 ",
        ", and this run's \"",
        "cover 4096x1x1 ",
        "help: `--out FILE` keeps both; `--afresh` replaces what is there",
    ];
    other.refuses(2, &wanted);
    assert_eq!(std::fs::read(folder.0.join("t.toml")).expect("a result"), before);
    let source = folder.run(&["tune", "k.rs::copy", "--cover", "4096", "--out", "k.rs", "--afresh"]);
    source.refuses(2, &["error: `k.rs` was not written by `warpwright tune`, and is left as it is\nhelp: name another file with `--out`"]);
    // What cannot be read as text is somebody's, too; an empty file is nobody's.
    std::fs::write(folder.0.join("image"), [0xff, 0xd8, 0xff]).expect("a file");
    let image = folder.run(&["tune", "k.rs::copy", "--cover", "4096", "--out", "image"]);
    image.refuses(2, &["error: `image` was not written by `warpwright tune`, and is left as it is"]);
    std::fs::write(folder.0.join("empty.toml"), "").expect("a file");
    let empty = folder.run(&["tune", "k.rs::copy", "--cover", "4096", "--runs", "2", "--out", "empty.toml"]);
    assert_eq!(empty.code, Some(0), "{}", empty.err);

    let tuned = Tuned::load(folder.0.join("t.toml"), &device).expect("a result");
    let (x, mut y) = (device.upload(&[1.0f32]).expect("x"), device.zeros::<f32>(1).expect("y"));
    // Every variant there is: the best is what was tuned, another is not.
    let best = (tuned.int("B").expect("B"), tuned.int("ILP").expect("ILP"), tuned.bool("BATCH").expect("BATCH"));
    let mut check = |variant: (i128, i128, bool)| match variant {
        (64, 1, false) => tuned.check(&copy::<64, 1, false>(&mut y, &x)),
        (64, 1, true) => tuned.check(&copy::<64, 1, true>(&mut y, &x)),
        (64, 4, false) => tuned.check(&copy::<64, 4, false>(&mut y, &x)),
        (64, 4, true) => tuned.check(&copy::<64, 4, true>(&mut y, &x)),
        (128, 1, false) => tuned.check(&copy::<128, 1, false>(&mut y, &x)),
        (128, 1, true) => tuned.check(&copy::<128, 1, true>(&mut y, &x)),
        (128, 4, false) => tuned.check(&copy::<128, 4, false>(&mut y, &x)),
        _ => tuned.check(&copy::<128, 4, true>(&mut y, &x)),
    };
    assert_eq!(check(best), Ok(()));
    let other = (if best.0 == 64 { 128 } else { 64 }, best.1, best.2);
    assert_eq!(check(other), Err(TunedError::OtherKernel { kernel: "copy".into() }));
    println!("ran: what_is_measured_is_kept_and_loaded (1 run on {})", device.name());
}

/// Variants of `MANY`: enough that a run can be ended in its midst.
const VARIANTS: usize = 16;

/// Kills of runs that go on with what an earlier one measured.
const KILLS: usize = 5;

/// Runs that may be tried for that: about one of two is killed and had something to lose.
const TRIES: usize = 40;

/// Starts a run in a folder, and kills it a while after something is so. Whether it had not ended by then.
fn is_killed(folder: &Folder, arguments: &[&str], is_so: impl Fn() -> bool, then: Duration) -> bool {
    let mut command = Command::new(binary());
    let mut run = command.args(arguments).current_dir(&folder.0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    while run.try_wait().expect("it can be asked").is_none() && !is_so() {
        std::thread::sleep(Duration::from_micros(500));
    }
    std::thread::sleep(then);
    run.kill().expect("it can be killed");
    !run.wait().expect("it ends").success()
}

const MANY: &str = "use warpwright::prelude::*;
#[kernel(block = B, ilp = ILP, batch_loads = BATCH, variants(B in [32, 64, 128, 256], ILP in [1, 4], BATCH in [false, true]))]
pub fn copy<const B: usize, const ILP: usize, const BATCH: bool>(out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}
";

#[test]
fn a_run_that_is_killed_loses_nothing_that_it_measured() {
    let test = "a_run_that_is_killed_loses_nothing_that_it_measured";
    let device = Device::best();
    if !matches!(device.kind(), DeviceKind::Cuda | DeviceKind::OpenCl) {
        println!("skipped: {test} (no device to measure on)");
        return;
    }
    let folder = Folder::new("tune-killed", &[("k.rs", MANY.as_bytes())]);
    let arguments = ["tune", "k.rs::copy", "--cover", "4096", "--share", "100", "--runs", "2", "--out", "t.toml"];
    let there = || std::fs::read_to_string(folder.0.join("t.toml")).map_or(Vec::new(), |text| measured(&text));
    let seed = Random::fresh_seed();
    let (mut random, mut before, mut kills, mut kept) = (Random::new(seed), Vec::new(), 0, 0);
    for _ in 0..TRIES {
        let (more, then) = (random.below(4), Duration::from_micros(random.below(60_000) as u64));
        let was_killed = is_killed(&folder, &arguments, || there().len() >= before.len() + more, then);
        let now = there();
        let lost: Vec<_> = before.iter().filter(|one| !now.contains(one)).collect();
        assert!(lost.is_empty(), "seed {seed}: {lost:?} are lost of {before:?}");
        // A kill counts if the run had something to lose.
        (kills, kept) = (kills + usize::from(was_killed), kept + usize::from(was_killed && !before.is_empty()));
        before = now;
        if kept >= KILLS && (1..VARIANTS).contains(&before.len()) {
            break;
        }
        if !(1..VARIANTS).contains(&before.len()) {
            // The next run begins from nothing.
            let _ = std::fs::remove_file(folder.0.join("t.toml"));
            before.clear();
        }
    }
    assert!(kept >= KILLS, "seed {seed}: of {TRIES} runs {kills} were killed, and {kept} of them had something to lose");
    assert!((1..VARIANTS).contains(&before.len()), "seed {seed}: the last run that was killed left {} measurements", before.len());
    let run = folder.run(&arguments);
    assert_eq!(run.code, Some(0), "seed {seed}: {}", run.err);
    let said = format!("{:>4} were measured by an earlier run", before.len());
    assert!(run.out.contains(&said), "seed {seed}: `{said}` is not in:\n{}", run.out);
    let all = there();
    assert!(all.len() == VARIANTS && before.iter().all(|one| all.contains(one)), "seed {seed}: {before:?}, then {all:?}");
    println!("{test}: {kept} of them had something to lose, {} of {VARIANTS} variants at the last", before.len());
    println!("ran: {test} ({kills} kills on {})", device.name());
}

/// What asks for a device to measure on has one wherever programs can be given another driver: the command, which the tests start, takes it, too.
#[test]
fn on_the_ptx_interpreter() {
    let tests = ["what_is_measured_is_kept_and_loaded", "a_run_that_is_killed_loses_nothing_that_it_measured"];
    let Some(answer) = ptx_interpreter::again("command_tune", &tests, "9.0") else { return };
    let told: Vec<&str> =
        answer.lines().filter(|line| tests.iter().any(|test| line.contains(test)) && !line.starts_with("test ")).collect();
    assert_eq!(told.iter().filter(|line| line.starts_with("ran: ")).count(), tests.len(), "{answer}");
    println!("{}", told.join("\n"));
}

#[test]
fn results_that_do_not_hold_are_refused() {
    let device = Device::simulator();
    let text = |kernel: &str, device: &str, compiler: &str, rest: &str| {
        format!(
            "schema = 1\nkernel = \"{kernel}\"\nfile = \"k.rs\"\ndevice = \"{device}\"\ntarget = \"sm_90\"\ncompiler = \"{compiler}\"\n{rest}"
        )
    };
    let here = device.to_string();
    let best = "fingerprint = \"00\"\n[best]\nB = 64\n";
    let load = |text: String| {
        let folder = Folder::new("tuned", &[("t.toml", text.as_bytes())]);
        Tuned::load(folder.0.join("t.toml"), &device).map_err(|error| error.to_string())
    };
    let compiler = warpwright::tuned::COMPILER;
    assert_eq!(load(text("copy", &here, compiler, best)).and_then(|t| t.int("B").map_err(|e| e.to_string())), Ok(64));
    let missing = load(text("copy", &here, compiler, best)).and_then(|t| t.bool("BATCH").map_err(|e| e.to_string()));
    assert_eq!(missing.unwrap_err(), "`copy` was tuned over `B = 64`: there is no `BATCH` that is a `bool`; ask for one of these");
    for (text, part) in [
        (text("copy", "NVIDIA H200 (sm_90)", compiler, best), "was tuned on NVIDIA H200 (sm_90), and this is Simulator"),
        (text("copy", &here, "0.0.1", best), "was tuned with warpwright 0.0.1, and this is"),
        (text("copy", &here, compiler, ""), "it does not say which variant is best; run `warpwright tune` again"),
        ("schema = 2\n".to_owned(), "its schema is 2, and 1 is read here"),
        ("not = [toml".to_owned(), "is not the result of a finished tuning run"),
    ] {
        let error = load(text).expect_err(part);
        assert!(error.contains(part), "{error}");
    }
    let missing = Tuned::load("nowhere.toml", &device).unwrap_err();
    assert!(matches!(missing, TunedError::Unreadable { .. }), "{missing}");
}

#[test]
fn the_command_and_a_program_see_the_same_code() {
    let folder = Folder::new("tune-same", &[("k.rs", KERNEL)]);
    let emitted = folder.run(&["emit", "k.rs::copy", "-D", "B=128", "-D", "ILP=4", "-D", "BATCH=true", "--target", "sm_90"]);
    assert_eq!(emitted.code, Some(0), "{}", emitted.err);
    let device = Device::simulator();
    let (x, mut y) = (device.upload(&[1.0f32]).expect("x"), device.zeros::<f32>(1).expect("y"));
    let ptx = copy::<128, 4, true>(&mut y, &x).ptx("sm_90").expect("PTX");
    let is_code = |line: &&str| !line.trim_start().starts_with(".loc") && !line.trim_start().starts_with(".file");
    let code = |text: &str| text.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect::<String>();
    let fingerprint = |text: &str| warpwright::tuned::fingerprint(&code(text));
    assert_eq!(fingerprint(&emitted.out), fingerprint(&ptx), "{}\n{ptx}", emitted.out);
    let other = copy::<64, 4, true>(&mut y, &x).ptx("sm_90").expect("PTX");
    assert_ne!(fingerprint(&other), fingerprint(&ptx));
}
