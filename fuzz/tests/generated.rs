//! Kernels that `warpwright-fuzz` generates over the whole language: the simulator in every form and stage, executed PTX and the host twin agree.
//!
//! Fixed seeds. `WARPWRIGHT_GENERATED_SEED` and `WARPWRIGHT_GENERATED` ask for others and for more; campaigns of hours are `warpwright-fuzz run` (docs/trust.md).

use std::path::{Path, PathBuf};
use warpwright_fuzz::campaign::coverage::cells;
use warpwright_fuzz::campaign::state::State;
use warpwright_fuzz::campaign::{Judge, Settings, run};
use warpwright_fuzz::source::features::FEATURES;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// A campaign of so many kernels.
fn campaign(name: &str, judges: &[Judge], kernels: u64) -> State {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let state: PathBuf = folder.join(format!("{name}.state"));
    let _ = std::fs::remove_file(&state);
    let settings = Settings {
        judges: judges.to_vec(),
        kernels,
        seconds: f64::INFINITY,
        seed: variable("WARPWRIGHT_GENERATED_SEED").unwrap_or(1),
        batch: 40,
        threads: 2,
        gpu: 0,
        until_find: false,
        state,
        root: Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above this crate").to_owned(),
    };
    let state = run(&settings).expect("the campaign runs");
    assert_eq!(state.count("finds"), 0, "finds are in {}", settings.finds().display());
    assert_eq!(state.count("kernels"), kernels, "every one is a kernel");
    state
}

#[test]
fn simulator_and_executed_ptx_agree() {
    let kernels = variable("WARPWRIGHT_GENERATED").unwrap_or(160).next_multiple_of(40);
    let state = campaign("ptx", &[Judge::Simulator, Judge::Ptx], kernels);
    println!("ran: generated ({kernels} kernels, {} runs on the simulator)", state.count("simulator runs"));
    println!("ran: generated ({} kernels on the PTX interpreter)", state.count("ptx"));
    let known = |key: &String| key.strip_prefix("feature ").is_none_or(|feature| FEATURES.contains(&feature));
    let unknown: Vec<&String> = state.counts.keys().filter(|key| !known(key)).collect();
    assert!(unknown.is_empty(), "features that the table lacks: {unknown:?}");
    let cells = cells();
    let is_cell = |key: &String| {
        let call = key.strip_prefix("call ").and_then(|call| call.split_once(' '));
        call.is_none_or(|call| cells.keys().any(|cell| *cell == call))
    };
    let unknown: Vec<&String> = state.counts.keys().filter(|key| !is_cell(key)).collect();
    assert!(unknown.is_empty(), "calls that no intrinsic has for this type: {unknown:?}");
    if kernels >= 160 {
        let hit = FEATURES.iter().filter(|feature| state.count(&format!("feature {feature}")) > 0).count();
        println!("{hit} of {} features of the language in {kernels} kernels", FEATURES.len());
        assert!(hit * 100 >= FEATURES.len() * 85, "{hit} of {}", FEATURES.len());
    }
}

#[test]
fn host_twins_agree() {
    let state = campaign("twin", &[Judge::Simulator, Judge::Twin], 40);
    assert!(state.count("twin") >= 30, "{} twins", state.count("twin"));
    println!("ran: generated ({} kernels on the host twin)", state.count("twin"));
}

/// By the program, as docs/trust.md has it.
#[test]
fn a_campaign_of_two_processes_is_one_of_twice_the_seeds() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated-processes");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let state = folder.join("all.state");
    let start = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpwright-fuzz"));
        command.args(["run", "--on", "ptx", "--processes", "2", "--kernels", "8", "--batch", "4", "--seed", "7", "--state"]).arg(&state);
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let said = start();
    for line in ["1: 4 kernels (4 runs on simulator", "2: 4 kernels (4 runs on simulator"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let last = |said: &str| said.lines().last().unwrap_or_default().to_owned();
    assert!(last(&said).starts_with("8 kernels (8 runs on simulator"), "{said}");
    let [first, second] = [1, 2].map(|n| State::read(&folder.join(format!("all-{n}.state"))).expect("a state"));
    assert_ne!(first.counts, second.counts, "they are other kernels");
    // Nothing is left to do, and nothing is lost.
    assert_eq!(last(&start()), last(&said));
}
