//! Packages that the tests write, and what `cargo check` and `warpwright check` say of them.

use crate::command::{binary, outside_cargo, outside_target, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lint (or `error`), file, line, message.
pub type Finding = (String, String, u64, String);

/// A package of files of a test.
pub struct Package {
    /// Where it lies.
    pub folder: PathBuf,
    /// The target folder, for all crates that tests write.
    target: PathBuf,
}

/// What `cargo check` did.
pub struct Checked {
    /// What it says.
    pub found: BTreeSet<Finding>,
    /// Whether there was no error.
    pub is_right: bool,
}

impl Package {
    /// Writes a package of these files, which depends on this one. `temporary` is `CARGO_TARGET_TMPDIR`. Nothing is known of its kernels.
    pub fn new(temporary: &str, name: &str, files: &[(&str, &str)]) -> Package {
        let package = Package { folder: Path::new(temporary).join("agrees").join(name), target: outside_target(temporary) };
        let _ = std::fs::remove_dir_all(&package.folder);
        let _ = std::fs::remove_dir_all(package.memory());
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[features]\nbig = []\n\n[dependencies]\nwarpwright = {{ path = '{}' }}\n\n[workspace]\n",
            root().display()
        );
        package.write("Cargo.toml", &manifest);
        files.iter().for_each(|(path, text)| package.write(path, text));
        std::fs::copy(root().join("Cargo.lock"), package.folder.join("Cargo.lock")).expect("the workspace has a lock file");
        package
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.folder.file_name().and_then(|name| name.to_str()).expect("a name")
    }

    /// `CARGO_TARGET_TMPDIR`, in which the folder is.
    fn temporary(&self) -> &str {
        self.folder.ancestors().nth(2).and_then(Path::to_str).expect("the folder is two levels down")
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("the folder can be made");
        std::fs::write(path, text).expect("the file can be written");
    }

    /// Where the macro keeps what it found in its kernels.
    pub fn memory(&self) -> PathBuf {
        let name = self.name().replace('-', "_");
        self.target.join("debug").join("incremental").join(format!("{name}-warpwright"))
    }

    /// What `cargo check` says, with these arguments.
    pub fn cargo(&self, arguments: &[&str]) -> BTreeSet<Finding> {
        self.check(arguments, &[]).found
    }

    /// The same with these variables, and nothing else of the tests' own that says how to check.
    pub fn check(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Checked {
        let (said, is_right) = self.said(arguments, variables);
        Checked { found: said.iter().filter_map(|message| self.of_rustc(&message["message"])).collect(), is_right }
    }

    /// What `cargo check` shows of each binary, by its name, as on a terminal without colour; without what counts the findings behind them.
    pub fn shown(&self) -> BTreeMap<String, String> {
        let mut shown: BTreeMap<String, String> = BTreeMap::new();
        for message in self.said(&[], &[]).0 {
            let (target, text) = (&message["target"]["name"], &message["message"]["rendered"]);
            let (Some(target), Some(text)) = (target.as_str(), text.as_str()) else { continue };
            if message["message"]["spans"].as_array().is_none_or(Vec::is_empty) {
                continue;
            }
            let shown = shown.entry(target.to_owned()).or_default();
            if !shown.is_empty() {
                shown.push('\n');
            }
            shown.push_str(text.trim_end());
            shown.push('\n');
        }
        shown
    }

    /// The messages of the compiler that `cargo check` passes on, and whether it found no error.
    fn said(&self, arguments: &[&str], variables: &[(&str, &str)]) -> (Vec<Value>, bool) {
        let output = outside_cargo(self.temporary())
            .args(["check", "--offline", "--message-format=json", "--keep-going", "--target-dir"])
            .arg(&self.target)
            .args(arguments)
            .current_dir(&self.folder)
            .env_remove("WARPWRIGHT_FINDINGS")
            .envs(variables.iter().copied())
            .output()
            .expect("cargo runs");
        let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
        assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        (messages.filter(|message| message["reason"] == "compiler-message").collect(), output.status.success())
    }

    /// `cargo clean -p` of this package.
    pub fn clean(&self) {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["clean", "--quiet", "--offline", "--target-dir"]).arg(&self.target).arg("-p").arg(self.name());
        assert!(cargo.current_dir(&self.folder).status().expect("cargo runs").success());
    }

    fn of_rustc(&self, message: &Value) -> Option<Finding> {
        let text = message["message"].as_str()?;
        let span = message["spans"].as_array()?.iter().find(|span| span["is_primary"] == true)?;
        let (lint, text) = match text.strip_prefix("use of deprecated constant `") {
            Some(rest) => {
                let (name, text) = rest.split_once("`: ")?;
                (name.rsplit("::").next()?.to_owned(), text)
            }
            None => (message["level"].as_str()?.to_owned(), text),
        };
        let mut lines = text.lines();
        let first = lines.next()?.to_owned();
        let (mut file, mut line) = (span["file_name"].as_str()?.to_owned(), span["line_start"].as_u64()?);
        if let Some(place) = lines.next().and_then(|second| second.strip_prefix("at ")) {
            let mut parts = place.rsplitn(3, ':');
            let _column = parts.next()?;
            line = parts.next()?.parse().ok()?;
            file = parts.next()?.to_owned();
        }
        Some((lint, file, line, first))
    }

    /// What `warpwright check` says of these files.
    pub fn command(&self, files: &[&str]) -> BTreeSet<Finding> {
        self.command_with(files, &[])
    }

    /// The same with these variables.
    pub fn command_with(&self, files: &[&str], variables: &[(&str, &str)]) -> BTreeSet<Finding> {
        let mut command = Command::new(binary());
        command.env_remove("WARPWRIGHT_FINDINGS").envs(variables.iter().copied());
        let output = command.args(["check", "--json"]).args(files).current_dir(&self.folder).output().expect("it runs");
        let document: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        let findings = document["files"].as_array().expect("files").iter().flat_map(|file| file["findings"].as_array().expect("findings"));
        let one = |finding: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let lint = finding["lint"].as_str().or(finding["level"].as_str()).expect("a lint or a level").to_owned();
            (lint, text(&finding["place"]["file"]), finding["place"]["line"].as_u64().unwrap_or(0), text(&finding["message"]))
        };
        findings.map(one).collect()
    }
}
