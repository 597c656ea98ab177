//! NVIDIA's assembler, `ptxas`: programs that are none, and one that says what a `ptxas` says.

use std::path::{Path, PathBuf};
use warpwright::ptxas::{Ptxas, PtxasError};
use warpwright_tests::command::Folder;

const PTX: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// What `Ptxas::find` finds, at another path.
fn found(release: &str, path: impl Into<PathBuf>) -> Ptxas {
    Ptxas { release: release.to_owned(), targets: vec![80, 90], path: path.into() }
}

/// A folder with a program that refuses what it is given.
fn refusing() -> Folder {
    let said = b"#!/bin/sh\necho \"ptxas <stdin>, line 3; error   : Arguments mismatch for instruction 'add'\" >&2\nexit 255\n";
    let folder = Folder::new("errors-ptxas", &[("ptxas", said)]);
    #[cfg(unix)]
    std::fs::set_permissions(folder.0.join("ptxas"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it becomes a program");
    folder
}

super::examples! {
    PtxasError, "PtxasError::";

    /// A program that is not there
    fn not_run(_device) {
        Ptxas::at(Path::new("missing/ptxas")).map(drop)
    }

    /// A program that is no `ptxas`
    fn unknown_release(_device) {
        Ptxas::at(Path::new("/bin/true")).map(drop)
    }

    /// A target that it does not know
    fn unknown_target(_device) {
        found("12.9", "ptxas").measure(PTX, 120).map(drop)
    }

    /// A text that is newer than it
    fn old_release(_device) {
        found("11.8", "ptxas").measure(PTX, 90).map(drop)
    }

    /// A text that it refuses
    fn refused(_device) {
        let folder = refusing();
        found("12.9", folder.0.join("ptxas")).measure(PTX, 90).map(drop)
    }

    /// One that takes the text, and measures nothing
    fn no_figures(_device) {
        found("12.9", "/bin/true").measure(PTX, 90).map(drop)
    }
}
