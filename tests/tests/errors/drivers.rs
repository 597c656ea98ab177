//! Drivers for children of the tests: the stand-in for NVIDIA's, which executes PTX on the processor, or none at all.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use warpwright_tests::command::Folder;

/// Says to this program that it is a child, and which.
const CHILD: &str = "WARPWRIGHT_ERRORS_CHILD";

/// Variables with which a program finds no driver, and the files that are in a driver's place.
pub(super) struct Without {
    pub(super) variables: Vec<(&'static str, String)>,
    _files: Folder,
}

/// No driver: files that are no libraries have the drivers' names, and are found first.
pub(super) fn without(name: &str) -> Without {
    let files = Folder::new(name, &[("libcuda.so.1", b""), ("libcuda.so", b""), ("libOpenCL.so.1", b""), ("libOpenCL.so", b"")]);
    let folder = files.0.display().to_string();
    Without { variables: vec![("LD_LIBRARY_PATH", folder.clone()), ("OCL_ICD_VENDORS", folder)], _files: files }
}

/// The stand-in as a GPU of compute capability 9.0, and nothing else. The folder is there once a test has been run on it.
pub(super) fn with() -> Vec<(&'static str, String)> {
    let program = std::env::current_exe().expect("a program has a path");
    let folder: PathBuf = program.parent().expect("it is in a folder").join("ptx-driver");
    let folder = folder.display().to_string();
    vec![("LD_LIBRARY_PATH", folder.clone()), ("OCL_ICD_VENDORS", folder), ("PTX_INTERPRETER_CAPABILITY", "9.0".to_owned())]
}

/// The stand-in as the driver of a version of CUDA.
pub(super) fn of_cuda(version: &str) -> Vec<(&'static str, String)> {
    let mut variables = with();
    variables.push(("PTX_INTERPRETER_CUDA", version.to_owned()));
    variables
}

/// Which child this is, if it is one.
pub(super) fn child() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// What a test of this program prints as a child, with these variables.
pub(super) fn run(which: &str, test: &str, variables: &[(&str, String)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("a program has a path"));
    command.args(["--exact", "--nocapture", test]).stdin(Stdio::null()).env(CHILD, which);
    command.envs(variables.iter().map(|(name, value)| (*name, value)));
    let output = command.output().expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}
