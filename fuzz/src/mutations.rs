//! How strong the generator is: mistakes seeded into a copy of the workspace, each of which has to be found.
//!
//! All rows of the table go into one copy, each asleep until an environment variable names it: one build serves for all, and each is still tried by itself.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

/// The table's text.
const TABLE: &str = include_str!("../mutations.txt");

/// The environment variable that wakes one, by its number from 1 on.
const VARIABLE: &str = "WARPWRIGHT_MUTATION";

/// What the mutated crate has at its end.
const SWITCH: &str = r#"
/// Whether the mutation of this number is awake.
#[doc(hidden)]
pub fn is_mutated(number: u32) -> bool {
    static AWAKE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *AWAKE.get_or_init(|| std::env::var("WARPWRIGHT_MUTATION").ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == number
}
"#;

/// A row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutation {
    /// What is wrong with it.
    pub name: String,
    /// Who is asked; nobody in particular if empty.
    asks: String,
    file: String,
    place: String,
    old: String,
    new: String,
}

/// How long a mutation is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Only mutations whose names have this text.
    pub only: &'a str,
    /// Kernels, at most.
    pub kernels: u64,
    /// Threads that run them.
    pub threads: u64,
}

/// The rows.
pub fn table() -> Vec<Mutation> {
    let row = |text: &str| {
        let field = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_default().trim().to_owned();
        Mutation {
            name: field("mutation "),
            asks: field("asks "),
            file: field("file "),
            place: field("in "),
            old: field("old "),
            new: field("new "),
        }
    };
    TABLE.split("\n\n").map(row).filter(|row| !row.name.is_empty()).collect()
}

/// The text of a file with a mutation in it, asleep.
fn seeded(text: &str, number: usize, row: &Mutation) -> Result<String, String> {
    let wrong = |what: &str| format!("mutation `{}`: {what} in {}", row.name, row.file);
    if text.matches(&row.place).count() != 1 {
        return Err(wrong("its place does not stand once"));
    }
    if !row.place.contains(&row.old) {
        return Err(wrong("its place has not what it changes"));
    }
    let switch = format!("(if crate::is_mutated({number}) {{ {} }} else {{ {} }})", row.new, row.old);
    Ok(text.replacen(&row.place, &row.place.replacen(&row.old, &switch, 1), 1))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(text) } else { Err(text) }
}

/// A file of an earlier copy: one that comes out the same keeps its time, so that cargo builds what is new.
struct Earlier {
    path: PathBuf,
    text: String,
    time: SystemTime,
}

impl Earlier {
    fn of(path: PathBuf) -> Option<Earlier> {
        let text = std::fs::read_to_string(&path).ok()?;
        let time = std::fs::metadata(&path).and_then(|found| found.modified()).ok()?;
        Some(Earlier { path, text, time })
    }

    fn keep(&self) -> Result<(), String> {
        if std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let file = std::fs::File::options().write(true).open(&self.path);
            file.and_then(|file| file.set_modified(self.time)).map_err(|error| format!("{}: {error}", self.path.display()))?;
        }
        Ok(())
    }
}

/// A copy of the workspace at `root` with all mutations asleep, built: the program to ask.
///
/// # Errors
/// A row that fits no longer, or a build that fails.
pub fn copy(root: &Path, scratch: &Path) -> Result<PathBuf, String> {
    std::fs::create_dir_all(scratch).map_err(|error| error.to_string())?;
    let library = scratch.join("codegen/src/lib.rs");
    let changed = table().into_iter().map(|row| scratch.join(row.file)).chain([library.clone()]);
    let before: Vec<Earlier> = changed.filter_map(Earlier::of).collect();
    run(Command::new("sh")
        .current_dir(root)
        .arg("-c")
        .arg(format!("git ls-files -z | xargs -0 cp -p --parents -t '{}'", scratch.display())))?;
    for (at, row) in table().iter().enumerate() {
        let path = scratch.join(&row.file);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        std::fs::write(&path, seeded(&text, at + 1, row)?).map_err(|error| error.to_string())?;
    }
    let text = std::fs::read_to_string(&library).map_err(|error| error.to_string())?;
    std::fs::write(&library, text + SWITCH).map_err(|error| error.to_string())?;
    before.iter().try_for_each(Earlier::keep)?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let (profile, folder) = if cfg!(debug_assertions) { ("dev", "debug") } else { ("release", "release") };
    // A target folder of its own: the programs have one name.
    let target = scratch.join("target");
    cargo.current_dir(scratch).env("CARGO_TARGET_DIR", &target).args(["build", "--offline", "--quiet", "--package", "warpwright-fuzz"]);
    run(cargo.args(["--profile", profile]))?;
    Ok(target.join(folder).join("warpwright-fuzz"))
}

/// Who is asked about a mutation that does not say.
const JUDGES: &str = "simulator,ptx";

/// Wakes each mutation in turn, and runs so many kernels, or until something is found. A table of what was caught by what. `on`: who is asked, whatever the table says.
///
/// # Errors
/// There is a mutation that nothing caught, or the copy cannot be made.
pub fn try_all(root: &Path, scratch: &Path, on: Option<&str>, limits: Limits<'_>) -> Result<String, String> {
    let program = copy(root, scratch)?;
    let (mut text, mut escaped) = (String::new(), Vec::new());
    let rows = table();
    let asked: Vec<(usize, &Mutation)> = rows.iter().enumerate().filter(|(_, row)| row.name.contains(limits.only)).collect();
    if asked.is_empty() {
        return Err(format!("no mutation's name has `{}`", limits.only));
    }
    for (at, row) in asked.iter().copied() {
        let state = scratch.join(format!("mutation-{}.state", at + 1));
        let _ = std::fs::remove_file(&state);
        let start = Instant::now();
        let on = on.unwrap_or(if row.asks.is_empty() { JUDGES } else { &row.asks });
        let mut command = Command::new(&program);
        command.args(["run", "--until-find", "--batch", "10", "--on", on, "--state"]).arg(&state);
        command.arg("--kernels").arg(limits.kernels.to_string()).arg("--threads").arg(limits.threads.to_string());
        let output = command.env(VARIABLE, (at + 1).to_string()).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let found = said.lines().find(|line| line.starts_with("found:")).unwrap_or("escaped");
        if found == "escaped" {
            escaped.push(row.name.clone());
        }
        let line = format!(
            "{:>2}  {:<72} {:>5.0} s  {}",
            at + 1,
            row.name,
            start.elapsed().as_secs_f64(),
            found.chars().take(150).collect::<String>()
        );
        println!("{line}");
        // Writing to a string does not fail.
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "{} of {} mutations are caught", asked.len() - escaped.len(), asked.len());
    if escaped.is_empty() { Ok(text) } else { Err(format!("{text}escaped:\n{}", escaped.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutation_still_has_its_place() {
        let root = crate::campaign::workspace();
        let rows = table();
        assert!(rows.len() >= 30, "{} mutations", rows.len());
        for (at, row) in rows.iter().enumerate() {
            let text = std::fs::read_to_string(root.join(&row.file)).unwrap();
            let changed = seeded(&text, at + 1, row).unwrap();
            assert!(changed.contains(&format!("is_mutated({})", at + 1)) && row.old != row.new, "{}", row.name);
        }
    }
}
