//! The `warpwright` command, built once for the tests of a binary, and a folder to run it in.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Once, OnceLock};
use std::time::Duration;
use warpwright_fuzz::executions::twin::WORKSPACE_BUILD;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The command, built once for all tests.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        // Tests lie in `TARGET/PROFILE/deps`.
        let test = std::env::current_exe().expect("the path of this test");
        let folder = test.parent().and_then(Path::parent).expect("the folder of the profile");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(WORKSPACE_BUILD).arg("--quiet").current_dir(root());
        cargo.arg("--target-dir").arg(folder.parent().expect("the target folder"));
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo runs").success(), "the command does not build");
        folder.join(format!("warpwright{}", std::env::consts::EXE_SUFFIX))
    })
}

/// A configuration for cargo with this workspace's profile, for crates that a test writes. Our packages are built once for all those crates, since cargo tells them from
/// the workspace's; unoptimised, as they compile little, and not incrementally, as they do not change. The crates themselves are incremental: the macro keeps what it found
/// beside what the compiler keeps. What is said of `lto` is left out: `cargo check` does not say it of macros, and would build each again, with all it depends on.
/// `temporary` is `CARGO_TARGET_TMPDIR`.
fn profile(temporary: &str) -> PathBuf {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
    let (mut is_profile, mut text) = (false, String::new());
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_profile = line.starts_with("[profile.dev");
        }
        if is_profile && !["#", "opt-level", "lto"].iter().any(|left_out| line.starts_with(left_out)) {
            text += line;
            text.push('\n');
            if line.starts_with('[') {
                text += if line == "[profile.dev]" { "incremental = true\n" } else { "incremental = false\n" };
            }
        }
    }
    let path = Path::new(temporary).join("profile.toml");
    // Several programs may write it at once, each the same; of one program's threads the first does.
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(|| {
        let draft = path.with_extension(format!("{}.new", std::process::id()));
        std::fs::write(&draft, text).expect("the file can be written");
        std::fs::rename(&draft, &path).expect("the file can be renamed");
    });
    path
}

/// Cargo for the crates that tests write, with this workspace's profile and without what those who run the tests ask of their own build: flags, and lints instead of the compiler
/// (`RUSTC_WORKSPACE_WRAPPER`). `temporary` is `CARGO_TARGET_TMPDIR`.
pub fn outside_cargo(temporary: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.arg("--config").arg(profile(temporary));
    for variable in
        ["RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_PROFILE_DEV_LTO", "RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS", "CARGO_INCREMENTAL"]
    {
        cargo.env_remove(variable);
    }
    cargo
}

/// Where cargo builds the crates that tests write, for all of them together: apart from the tests' own builds, which would wait for it. `temporary` is
/// `CARGO_TARGET_TMPDIR`.
pub fn outside_target(temporary: &str) -> PathBuf {
    Path::new(temporary).with_file_name("outside")
}

/// A folder of files for one test; gone with it.
pub struct Folder(pub PathBuf);

impl Folder {
    /// With these files.
    pub fn new(name: &str, files: &[(&str, &[u8])]) -> Folder {
        let folder = std::env::temp_dir().join(format!("warpwright-command-line-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test's files");
        for (file, text) in files {
            std::fs::write(folder.join(file), text).expect("a file of the test");
        }
        Folder(folder)
    }

    /// Runs the command in it.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(&[], arguments)
    }

    /// Runs the command in it with these variables, and without those of the terminal that the test runs in.
    #[track_caller]
    pub fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(&self.0);
        for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(variable);
        }
        command.envs(variables.iter().copied());
        let output = command.output().expect("the command runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Starts the command in it, and kills it after that time. Whether it had not ended by then.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn kills_after(&self, time: Duration, arguments: &[&str]) -> bool {
        let mut command = Command::new(binary());
        let command = command.args(arguments).current_dir(&self.0).stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().expect("the command runs");
        std::thread::sleep(time);
        run.kill().expect("it can be killed");
        !run.wait().expect("it ends").success()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a run of the command left.
pub struct Outcome {
    /// Its exit status.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Outcome {
    /// Refused with this code; nothing on standard output, and these texts on standard error.
    #[track_caller]
    pub fn refuses(&self, code: i32, texts: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{}", self.err);
        for text in texts {
            assert!(self.err.contains(text), "`{text}` is not in:\n{}", self.err);
        }
    }

    /// Done, with this text on standard output and nothing on standard error.
    #[track_caller]
    pub fn prints(&self, text: &str) {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        assert!(self.out.contains(text), "`{text}` is not in:\n{}", self.out);
    }
}
