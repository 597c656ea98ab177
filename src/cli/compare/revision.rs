//! The same file at another revision of its repository: its Rust files are written into a folder of their own, so that what it names is found.

use crate::cli::Stop;
use crate::cli::source::{Define, Source, unreadable};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that goes with its owner.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind lies where temporary files lie.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Reads a file as it was at a revision.
pub(super) fn source(path: &str, revision: &str, defines: &[Define]) -> Result<Source, Stop> {
    let stop = |reason: String| Stop::usage(format!("`--against {revision}`: {reason}"));
    let unreadable = |error: std::io::Error| Stop::usage(unreadable(path, &error));
    std::fs::metadata(path).map_err(unreadable)?;
    let file = std::path::absolute(path).map_err(unreadable)?;
    let (folder, name) = (file.parent().unwrap_or(Path::new(".")), file.file_name().unwrap_or_default().to_string_lossy());
    // Where the file is in its repository is git's to say: how folders are written differs from system to system.
    let asked = |what: &str| match git(folder, ["rev-parse", what]) {
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches(['\n', '\r']).to_owned()),
        Err(reason) if reason.contains("not a git repository") => {
            Err(stop(format!("`{path}` is in no git repository; leave out `--against`, or compare a file that is in one")))
        }
        Err(reason) => Err(stop(reason)),
    };
    let top = PathBuf::from(asked("--show-toplevel")?);
    let inside = format!("{}{name}", asked("--show-prefix")?);
    let commit = format!("{revision}^{{commit}}");
    let commit = git(&top, ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
        .map_err(|_| stop("there is no such revision; name one that `git log --oneline` or `git tag` lists".to_owned()))?;
    let commit = String::from_utf8_lossy(&commit.stdout).trim().to_owned();
    let absent = |_| stop(format!("`{inside}` is not in that revision; name one that `git log --oneline -- {path}` lists"));
    git(&top, ["cat-file", "-e", &format!("{commit}:{inside}")]).map_err(absent)?;
    let archive = git(&top, ["archive", "--format=tar", &commit, "--", "*.rs"]).map_err(stop)?;
    let temporary = std::env::temp_dir();
    let scratch = Scratch(temporary.join(format!("warpwright-{}-{commit}", std::process::id())));
    let no_room = |error| {
        let temporary = temporary.display();
        stop(format!(
            "its files cannot be written to `{temporary}`: {error}; set `TMPDIR` (on Windows `TMP`) to a folder that can be written to"
        ))
    };
    std::fs::create_dir_all(&scratch.0).map_err(no_room)?;
    unpack(&archive.stdout, &scratch.0).map_err(stop)?;
    let then = scratch.0.join(inside);
    Source::read_below(&scratch.0, &format!("{revision}:"), &then.to_string_lossy(), defines)
}

fn git<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Result<Output, String> {
    let arguments: Vec<&OsStr> = arguments.into_iter().map(OsStr::new).collect();
    let output = Command::new("git")
        .args(&arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("git, which has the earlier file, cannot be run: {error}; install it"))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("fatal: ").to_owned())
    }
}

fn unpack(archive: &[u8], into: &Path) -> Result<(), String> {
    use std::io::Write;
    let failed = |error: std::io::Error| format!("tar, which unpacks the files of the revision, cannot be run: {error}; install it");
    let mut tar = Command::new("tar").args(["-x", "-f", "-"]).current_dir(into).stdin(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut input) = tar.stdin.take() {
        input.write_all(archive).map_err(failed)?;
    }
    let status = tar.wait().map_err(failed)?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("tar, which unpacks the files of the revision, ended with {status}; what it says stands above"))
    }
}
