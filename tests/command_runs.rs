//! The command starts. That it is a test of the package with the command in it has Cargo build the command beside the tests of the others, which run it.

use std::process::Command;

#[test]
fn the_command_says_its_version() {
    let output = Command::new(env!("CARGO_BIN_EXE_warpwright")).arg("--version").output().expect("the command runs");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), concat!("warpwright ", env!("CARGO_PKG_VERSION")));
}
