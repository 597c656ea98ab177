//! Libraries that cargo built for the tests, for files that a test has `rustc` compile: with the features that the tests ask for, and without a build of their own.

use crate::command::root;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpwright_fuzz::executions::twin::WORKSPACE_BUILD;

/// What `rustc` shows of a file of the repository that uses these libraries, each message by itself, as on a terminal without colour; without what counts the messages behind them. `work` is a folder
/// for what is made of it, and for the manifest that the macro reads.
///
/// # Panics
///
/// If the folder cannot be written, or `rustc` does not run.
pub fn shown_by_rustc(work: &Path, file: &str, libraries: &BTreeMap<String, PathBuf>) -> Vec<String> {
    std::fs::create_dir_all(work).expect("the folder can be made");
    std::fs::write(work.join("Cargo.toml"), "[package]\nname = \"mistakes\"\n").expect("the macro's manifest can be written");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "bin", "--emit", "metadata", "--error-format", "json", "--out-dir"]).arg(work);
    for (name, library) in libraries {
        rustc.arg("--extern").arg(format!("{name}={}", library.display()));
        rustc.arg("-L").arg(format!("dependency={}", library.with_file_name("").display()));
    }
    // As cargo compiles the libraries: their places are relative to the repository, and their lines are shown.
    let rustc = rustc.arg(file).current_dir(root()).env("CARGO_MANIFEST_DIR", work).env("CARGO_PKG_NAME", "mistakes");
    let text = String::from_utf8(rustc.output().expect("rustc runs").stderr).expect("rustc writes UTF-8");
    let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("no JSON: {line}")));
    let placed = messages.filter(|message| message["spans"].as_array().is_some_and(|spans| !spans.is_empty()));
    placed.map(|message| message["rendered"].as_str().expect("a text").to_owned()).collect()
}

/// The libraries of these names, as the tests have them.
///
/// # Panics
///
/// If cargo does not run, or builds none of one of these names.
pub fn libraries(names: &[&str]) -> BTreeMap<String, PathBuf> {
    // Tests lie in `TARGET/PROFILE/deps`.
    let test = std::env::current_exe().expect("the path of this test");
    let folder = test.parent().and_then(Path::parent).expect("the folder of the profile");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(WORKSPACE_BUILD).args(["--offline", "--quiet", "--message-format=json"]).current_dir(root());
    cargo.arg("--target-dir").arg(folder.parent().expect("the target folder"));
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "the libraries do not build: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let artifacts = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut found = BTreeMap::new();
    for artifact in artifacts.filter(|artifact| artifact["reason"] == "compiler-artifact") {
        let name = artifact["target"]["name"].as_str().unwrap_or_default();
        let mut files = artifact["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let Some(file) = files.find(|file| names.contains(&name) && file.ends_with(".rlib")) {
            found.insert(name.to_owned(), PathBuf::from(file));
        }
    }
    let missing: Vec<_> = names.iter().filter(|name| !found.contains_key(**name)).collect();
    assert!(missing.is_empty(), "cargo builds no library {missing:?}");
    found
}
