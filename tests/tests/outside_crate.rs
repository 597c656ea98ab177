//! Crates outside the workspace, as a user would make them: kernels inline in `main.rs`, device code from a second crate, nothing
//! installed but Rust. They forbid `unsafe`, deny warnings, and run on the simulator and the host twin.

use std::path::{Path, PathBuf};
use warpwright_tests::command::{outside_cargo, outside_target};

/// The sources, in `outside/` beside `tests/`: a library of device code, and a program that uses it.
const CRATES: [&str; 2] = ["shapes", "app"];

#[test]
fn a_crate_outside_the_workspace_builds_and_runs() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().expect("the workspace is above its tests");
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    for name in CRATES {
        copy_crate(&tests.join("outside").join(name), &work.join(name), root);
    }
    std::fs::copy(root.join("Cargo.lock"), work.join("app/Cargo.lock")).expect("the workspace has a lock file");
    let output = outside_cargo(env!("CARGO_TARGET_TMPDIR"))
        .args(["run", "--offline", "--manifest-path"])
        .arg(work.join("app/Cargo.toml"))
        .arg("--target-dir")
        .arg(outside_target(env!("CARGO_TARGET_TMPDIR")))
        .output()
        .expect("cargo runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert_eq!(stdout.trim(), "simulator: good\nhost: good", "{stderr}");
}

/// Copies a crate; `ROOT` in its manifest stands for the workspace.
fn copy_crate(from: &Path, to: &Path, root: &Path) {
    std::fs::create_dir_all(to.join("src")).expect("the folder can be made");
    let manifest = std::fs::read_to_string(from.join("Cargo.toml.in")).expect("the manifest is there");
    std::fs::write(to.join("Cargo.toml"), manifest.replace("ROOT", &root.display().to_string())).expect("the manifest can be written");
    for entry in std::fs::read_dir(from.join("src")).expect("the sources are there") {
        let path: PathBuf = entry.expect("the folder can be read").path();
        let name = path.file_name().expect("a file has a name");
        std::fs::copy(&path, to.join("src").join(name)).expect("the source can be copied");
    }
}
