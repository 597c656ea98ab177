//! `warpwright compare`: a row for each variant, what is marked, what is said of what does not fit.

use std::process::Command;
use warpwright_tests::command::Folder;

const KERNELS: &str = "use warpwright::prelude::*;
#[kernel(block = B, ilp = ILP, variants(B in [64, 128], ILP in [1, 4]))]
pub fn copy<const B: usize, const ILP: usize>(out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}
#[kernel(block = 256)]
pub fn sums<const N: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared] let mut tile: [f32; N];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[255 - t];
}
#[kernel(block = 256)]
pub fn strided<const N: usize>(y: &mut Global<f32>) {
    y[global_id().x * N] += 1.0;
}
#[kernel(block = 256)]
pub fn flagged<const FAST: bool>(y: &mut Global<f32>) {
    y[global_id().x] = if FAST { 1.0 } else { 2.0 };
}
";

/// The row of the table for a target that begins with these values of generics.
#[track_caller]
fn row<'o>(out: &'o str, target: &str, variant: &[&str]) -> &'o str {
    let table = out.split(&format!(" for {target}")).nth(1).unwrap_or_else(|| panic!("no table for {target} in:\n{out}"));
    let is_it = |line: &&str| line.trim_start_matches('◆').split_whitespace().take(variant.len()).eq(variant.iter().copied());
    table.lines().find(is_it).unwrap_or_else(|| panic!("no row for {variant:?} in:\n{out}"))
}

#[test]
fn variants_stand_side_by_side() {
    let folder = Folder::new("compare", &[("k.rs", KERNELS.as_bytes())]);
    let run = folder.run(&["compare", "k.rs::copy", "--targets", "sm_80,sm_90"]);
    run.prints("k.rs::copy for sm_80, predicted for A100");
    for variant in [["64", "1"], ["64", "4"], ["128", "1"], ["128", "4"]] {
        assert!(row(&run.out, "sm_90", &variant).contains(" GB/s ("), "{}", run.out);
    }
    // What is the same in all is said once.
    assert!(run.out.contains("in every row: sectors / need (exact) 4 / 4\n"), "{}", run.out);
    assert!(!run.out.contains('─'), "{}", run.out);
    // Four loads in flight, and what that buys, in words.
    assert!(run.out.contains("On sm_90, against the first (B = 64, ILP = 1):\n  "), "{}", run.out);
    assert!(run.out.contains("\n  ILP = 4: 3 more loads in flight"), "{}", run.out);
    // Chosen values, one of them not declared.
    let run = folder.run(&["compare", "k.rs::copy", "--set", "ILP=2,8", "-D", "B=256", "--targets", "sm_90"]);
    run.prints("ILP = 8");
    assert!(!run.out.contains("256"), "what does not vary is not said: {}", run.out);
    // On the simulator: 4096 elements are 128 requests to load and as many to store, of four sectors.
    let run = folder.run(&["compare", "k.rs::copy", "--targets", "sm_90", "--cover", "4096", "--simulate"]);
    assert!(row(&run.out, "sm_90", &["128", "4"]).contains(" 128 ") && run.out.contains("sectors (simulated) 1024"), "{}", run.out);
}

/// Fast functions take fewer operations, so operations a second say nothing; and of a launch the time is known.
#[test]
fn variants_are_compared_by_what_is_the_same_in_all() {
    let kernel = "use warpwright::prelude::*;
#[kernel(block = 256, ilp = ILP, math = if FAST { fast } else { precise }, variants(ILP in [1, 2], FAST in [false, true]))]
pub fn waves<const ILP: usize, const FAST: bool>(count: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let at = x[i];
        let mut sum = 0.0;
        for k in 0..count {
            sum += (k as f32 * at).sin();
        }
        y[i] = sum;
    }
}
";
    let folder = Folder::new("compare-yardstick", &[("k.rs", kernel.as_bytes())]);
    let compare = |more: &[&str]| folder.run(&[&["compare", "k.rs::waves", "--targets", "sm_90"], more].concat());
    let faster = |out: &str, variant: &str| -> f64 {
        let line = out.lines().find(|line| line.trim_start().starts_with(&format!("{variant}:"))).unwrap_or_else(|| panic!("{out}"));
        let figure = line.split("predicted ").nth(1).and_then(|rest| rest.split('×').next()).and_then(|figure| figure.parse().ok());
        figure.unwrap_or_else(|| panic!("{line}"))
    };
    let (rates, launched) = (compare(&[]), compare(&["--cover", "1048576", "--args", "count=3000"]));
    for out in [&rates.out, &launched.out] {
        assert!(faster(out, "FAST = true") > 1.5, "{out}");
    }
    // 3000 rounds a thread are known, and so is the time.
    assert!(!rates.out.contains("predicted time") && launched.out.contains("predicted time"), "{}", launched.out);
    assert!(rates.out.contains("counts 1000") && !launched.out.contains("counts 1000"), "{}", launched.out);
    let ranked = folder.run(&["tune", "k.rs::waves", "--predict", "--cover", "1048576", "--args", "count=3000"]);
    let best = ranked.out.lines().find(|line| line.contains("100.0 %")).unwrap_or_else(|| panic!("{}", ranked.out));
    assert!(best.ends_with("true"), "{}", ranked.out);
    // What is written of a launch is looked at, whether or not it runs.
    compare(&["--cover", "4096", "--args", "coun=2"]).refuses(2, &["there is no parameter `coun`; did you mean `count`?"]);
    compare(&["--cover", "4096", "--args", "count=x"]).refuses(2, &["`count` is `x`, which is neither a number"]);
    compare(&["--args", "count=2"]).refuses(2, &["how many threads is not said: give `--cover 4096` (elements) or `--grid 16` (blocks)"]);
}

#[test]
fn a_last_wave_that_is_far_from_full_is_noted() {
    let kernel = "use warpwright::prelude::*;
#[kernel(block = 128, variants(N in [128, 176]))]
pub fn tiles<const N: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared] let mut tile: [f32; 40000];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[127 - t] * N as f32;
}
";
    let folder = Folder::new("compare-tail", &[("k.rs", kernel.as_bytes())]);
    let notes = |more: &[&str]| -> Vec<String> {
        let run = folder.run(&[&["compare", "k.rs::tiles", "--targets", "sm_80,sm_90", "--json"], more].concat());
        let json: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {} {}", run.out, run.err));
        let notes = json["comparisons"][0]["notes"].as_array().expect("notes").iter().filter_map(|note| note.as_str());
        notes.filter(|note| note.contains("wave")).map(str::to_owned).collect()
    };
    let of_three = "wave tail on sm_90: N = 128: 352 blocks on 132 multiprocessors, 1 a multiprocessor: 3 waves, the last 67 % full";
    assert_eq!(notes(&["--grid", "45056/N"]), [format!("{of_three}; N = 176 has 2 waves, the last 94 % full")]);
    let run = folder.run(&["compare", "k.rs::tiles", "--targets", "sm_90", "--grid", "45056/N"]);
    assert!(run.out.contains(of_three), "{}", run.out);
    // Alike in all: nobody is better.
    let alike = of_three.replace("N = 128", "N = 128 and N = 176");
    assert_eq!(notes(&["--grid", "352"]), [alike]);
    // On the device of sm_80, 108 multiprocessors, the waves are others.
    let of_one = notes(&["--grid", "352", "--set", "N=128", "--targets", "sm_80"]);
    assert_eq!(of_one, ["wave tail on sm_80: tiles: 352 blocks on 108 multiprocessors, 1 a multiprocessor: 4 waves, the last 26 % full"]);
    // Full waves, one wave, many waves, and no launch.
    for none in [&["--grid", "264"][..], &["--grid", "100"], &["--grid", "1057"], &[]] {
        assert_eq!(notes(none), [""; 0], "{none:?}");
    }
}

/// The lint is of the launch that `check` is told, at the level that the kernel says; `compare` does not note what the kernel allows.
#[test]
fn a_wave_tail_is_a_lint_where_a_launch_is_known() {
    let kernel = |says: &str| {
        format!(
            "use warpwright::prelude::*;
#[kernel(block = 128, targets = [sm_90]{says})]
pub fn tiles(x: &Global<f32>, y: &mut Global<f32>) {{
    #[shared] let mut tile: [f32; 40000];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[127 - t];
}}
"
        )
    };
    let files = [("warned.rs", kernel("")), ("allowed.rs", kernel(", allow(wave_tail)")), ("denied.rs", kernel(", deny(wave_tail)"))];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_bytes()));
    let folder = Folder::new("check-tail", &files);
    let check = |file: &str, more: &[&str]| folder.run(&[&["check", file, "--quiet"], more].concat());
    let says = "352 blocks on 132 multiprocessors, 1 a multiprocessor: 3 waves, the last 67 % full on sm_90 (estimated)";
    let edit = "give each block 1.33 times the work: 264 blocks are 2 full waves";
    let warned = check("warned.rs", &["--grid", "352"]);
    assert!(
        warned.err.contains(says) && warned.err.contains(edit) && warned.err.contains("warpwright explain wave_tail"),
        "{}",
        warned.err
    );
    assert_eq!(check("warned.rs", &["--cover", "45056"]).err.matches(says).count(), 1);
    for silent in [check("warned.rs", &[]), check("warned.rs", &["--grid", "264"]), check("allowed.rs", &["--grid", "352"])] {
        assert!(!silent.err.contains("waves"), "{}", silent.err);
    }
    check("denied.rs", &["--grid", "352"]).refuses(1, &[says]);
    check("warned.rs", &["--grid", "n"]).refuses(2, &["`n`"]);
    let noted = |file: &str| folder.run(&["compare", file, "--grid", "352"]).out.contains("wave tail on sm_90");
    assert!(noted("warned.rs") && !noted("allowed.rs"));
}

#[test]
fn dynamic_shared_memory_of_the_launch_counts() {
    let folder = Folder::new("compare-shared", &[("k.rs", KERNELS.as_bytes())]);
    let compare = |more: &[&str]| folder.run(&[&["compare", "k.rs::copy", "-D", "B=128", "--targets", "sm_90", "--json"], more].concat());
    let occupancy = |out: &str| {
        let json: serde_json::Value = serde_json::from_str(out).expect("JSON");
        json["comparisons"][0]["variants"][0]["targets"][0]["figures"]["occupancy"]["value"].as_f64().expect("a figure")
    };
    assert_eq!(occupancy(&compare(&[]).out), 100.0);
    // 210,112 bytes of 233,472: one block of four warps of 64, rounded as NVIDIA does.
    assert_eq!(occupancy(&compare(&["--shared-bytes", "210112"]).out), 6.3);
}

#[test]
fn json_says_of_each_figure_what_kind_it_is() {
    let folder = Folder::new("compare-json", &[("k.rs", KERNELS.as_bytes())]);
    let run = folder.run(&["compare", "k.rs::copy", "--targets", "sm_90", "--json"]);
    run.prints("\"version\": 1");
    let json: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let variants = json["comparisons"][0]["variants"].as_array().expect("variants");
    assert_eq!(variants.len(), 4);
    let figures = &variants[3]["targets"][0]["figures"];
    assert_eq!(figures["registers"]["kind"], "estimated");
    assert_eq!(figures["sectors_need"]["kind"], "exact");
    assert_eq!(figures["loads_in_flight"]["value"], 4.0);
}

#[test]
fn a_variant_that_does_not_compile_is_a_row() {
    let folder = Folder::new("compare-error", &[("k.rs", KERNELS.as_bytes())]);
    let run = folder.run(&["compare", "k.rs::sums", "--set", "N=256,100000", "--targets", "sm_90"]);
    run.prints("100000  does not compile: k.rs:11:");
    assert!(row(&run.out, "sm_90", &["256"]).contains("1024 B"), "{}", run.out);
}

#[test]
fn a_variant_that_faults_leaves_the_others_what_they_have() {
    let folder = Folder::new("compare-fault", &[("k.rs", KERNELS.as_bytes())]);
    let run = folder.run(&[
        "compare",
        "k.rs::strided",
        "--set",
        "N=1,2,4",
        "--targets",
        "sm_90",
        "--cover",
        "1024",
        "--simulate",
        "--html",
        "p.html",
    ]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(row(&run.out, "sm_90", &["1"]).contains(" 256"), "sectors: {}", run.out);
    assert!(row(&run.out, "sm_90", &["2"]).contains(" ?"), "{}", run.out);
    let errors: Vec<&str> = run.err.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 2, "{}", run.err);
    assert!(errors.iter().all(|line| line.contains("`y`") || line.contains("k.rs:")), "{}", run.err);
    assert!(folder.0.join("p.html").is_file());
    // Nothing ran: nothing is shown.
    let run = folder.run(&["compare", "k.rs::strided", "--set", "N=2", "--targets", "sm_90", "--cover", "1024", "--simulate"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
}

#[test]
fn the_file_at_another_revision() {
    let folder = Folder::new("compare-git", &[("k.rs", KERNELS.as_bytes())]);
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];
        let status = Command::new("git").args(identity).args(arguments).current_dir(&folder.0).status().expect("git runs");
        assert!(status.success(), "git {arguments:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "k.rs"]);
    git(&["commit", "--quiet", "-m", "before"]);
    let slower = KERNELS.replace("out[i] = inp[i];", "out[i] = inp[(i * 2) % inp.len()];");
    std::fs::write(folder.0.join("k.rs"), slower).expect("the file");
    let run = folder.run(&["compare", "k.rs::copy", "-D", "B=64", "-D", "ILP=1", "--targets", "sm_90", "--against", "HEAD"]);
    run.prints("On sm_90, against this:\n  at HEAD: ");
    let instructions = run.out.lines().last().expect("a line");
    assert!(instructions.contains("instructions of a thread"), "{}", run.out);
    folder.run(&["compare", "k.rs", "--against", "nowhere"]).refuses(2, &["`--against nowhere`: there is no such revision"]);
}

#[test]
fn what_does_not_fit_is_said() {
    let folder = Folder::new("compare-bad", &[("k.rs", KERNELS.as_bytes())]);
    let compare = |more: &[&str]| folder.run(&[&["compare"], more].concat());
    compare(&["k.rs::cpy"]).refuses(2, &["there is no kernel `cpy` in `k.rs`; did you mean `copy`?"]);
    compare(&["k.rs::copy", "--set", "IPL=1"]).refuses(2, &["`--set IPL=…` names no generic of the kernel; did you mean `ILP`?"]);
    compare(&["k.rs::copy", "--set", "ILP=1,many"]).refuses(2, &["`--set ILP=many` does not fit `copy`"]);
    compare(&["k.rs::flagged", "--set", "FAST=true,maybe"])
        .refuses(2, &["`--set FAST=maybe` does not fit `flagged`: `FAST` is a `bool`: write `true` or `false`"]);
    compare(&["k.rs::sums"]).refuses(2, &["`sums` is generic in `N` and declares no values of it: give `--set N=…`"]);
    compare(&["k.rs::copy", "--targets", "sm_91"]).refuses(2, &["`sm_91` is not a target; did you mean `sm_90`?"]);
    compare(&["k.rs::copy", "--set", "ILP=many"]).refuses(2, &["`ILP` is a `usize`: write a number, like `64`, or a constant of the file"]);
    compare(&["k.rs::copy", "--targets", "sm_91,foo"]).refuses(2, &["`sm_91` is not a target", "\nerror: `foo` is not a target"]);
    compare(&["k.rs::copy", "--simulate"])
        .refuses(2, &["how many threads is not said: give `--cover 4096` (elements) or `--grid 16` (blocks)\n"]);
    // All at once.
    compare(&["k.rs::copy", "--set", "ILP=1,x", "ILPP=2", "-D", "QQ=1"]).refuses(
        2,
        &[
            "error: `-D QQ=…` names nothing in the kernel; write one of `B`, `ILP`",
            "error: `--set ILPP=…` names no generic of the kernel; did you mean `ILP`?",
            "error: `--set ILP=x` does not fit `copy`",
        ],
    );
    compare(&["k.rs::copy", "--set", "ILP=1", "--set", "ILP=2"]).refuses(2, &["`--set ILP=…` is given twice; write `--set ILP=V1,V2`"]);
    compare(&["k.rs::copy", "--set", "ILP=1,1"]).refuses(2, &["`--set ILP=…` has 1 twice"]);
    compare(&["k.rs::copy", "--set", "ILP=1", "-D", "ILP=2"]).refuses(2, &["`ILP` is given by `--set` and by `-D`; leave one out"]);
    compare(&["k.rs::copy", "--time", "0"]).refuses(2, &["invalid value '0' for '--time <RUNS>'"]);
    // What has no values to compare is left out where others have.
    let run = compare(&["k.rs", "--targets", "sm_90"]);
    assert!(run.code == Some(0) && run.out.contains("k.rs::copy for sm_90"), "{}", run.err);
    assert!(run.err.contains("note: left out: `sums` is generic in `N` and declares no values of it: give `--set N=…`"), "{}", run.err);
}

#[test]
fn a_kernel_that_never_compiles_is_shown_as_check_shows_it() {
    let bad = b"use warpwright::prelude::*;\n#[kernel(block = B, variants(B in [64, 128]))]\nfn k<const B: usize>(y: &mut Global<f32>) {\n    y[0] = z;\n}\n";
    let folder = Folder::new("compare-never", &[("bad.rs", bad), ("open.rs", b"fn main() {")]);
    for command in [["compare", "bad.rs"], ["tune", "bad.rs"]] {
        folder.run(&command).refuses(1, &["error: `z` is not known here\n --> bad.rs:4:12", "1 error"]);
    }
    folder.run(&["compare", "open.rs"]).refuses(1, &["error: this `{` is never closed\n --> open.rs:1:11"]);
}

#[test]
fn files_that_cannot_be_written_and_revisions_that_are_not_there() {
    let folder = Folder::new("compare-files", &[("k.rs", KERNELS.as_bytes())]);
    let compare = |more: &[&str]| folder.run(&[&["compare", "k.rs::copy", "--targets", "sm_90"], more].concat());
    compare(&["--html", "nowhere/page.html"]).refuses(2, &["error: `nowhere/page.html` cannot be written: "]);
    compare(&["--html", "."]).refuses(2, &["error: `.` cannot be written: "]);
    compare(&["--against", "HEAD"]).refuses(2, &["error: `--against HEAD`: `k.rs` is in no git repository"]);
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];
        assert!(Command::new("git").args(identity).args(arguments).current_dir(&folder.0).status().expect("git runs").success());
    };
    let write = |text: &str| std::fs::write(folder.0.join("k.rs"), text).expect("the file");
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "nothing"]);
    compare(&["--against", "HEAD"]).refuses(2, &["error: `--against HEAD`: `k.rs` is not in that revision"]);
    write(&KERNELS.replace("fn copy<", "fn copied<"));
    git(&["add", "k.rs"]);
    git(&["commit", "--quiet", "-m", "another name"]);
    write(KERNELS);
    let run = compare(&["--against", "HEAD"]);
    run.prints("does not compile: there is no kernel `copy` in HEAD:k.rs\n");
    write("fn copy(");
    git(&["commit", "--quiet", "-a", "-m", "half a file"]);
    write(KERNELS);
    compare(&["--against", "HEAD"]).refuses(1, &[" --> HEAD:k.rs:1:8"]);
}
