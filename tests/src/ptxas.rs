//! NVIDIA's assembler as an oracle: whether PTX is legal, for every `ptxas` that is found and every target it knows.
//!
//! Found by `WARPWRIGHT_PTXAS_11`, `WARPWRIGHT_PTXAS_12`, `WARPWRIGHT_PTXAS_13` (full paths), and by `PATH`. What ran and what could not is
//! counted; [`Counts::report`] prints it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
pub use warpwright_runtime::ptxas::{Measured, Ptxas, PtxasError, version_of};

/// The variables that name an assembler.
const VARIABLES: [&str; 4] = ["WARPWRIGHT_PTXAS_11", "WARPWRIGHT_PTXAS_12", "WARPWRIGHT_PTXAS_13", "WARPWRIGHT_PTXAS"];

/// Every assembler that is found, each release once, in the order of the variables and of `PATH`.
pub fn all() -> Vec<Ptxas> {
    let named = VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let mut found: Vec<Ptxas> = Vec::new();
    for candidate in named.chain(Ptxas::everywhere()).filter_map(|path| Ptxas::at(&path).ok()) {
        if found.iter().all(|known| known.release != candidate.release) {
            found.push(candidate);
        }
    }
    found
}

/// The newest assembler that is found.
pub fn newest() -> Option<Ptxas> {
    all().into_iter().max_by_key(|ptxas| ptxas.ptx_version().unwrap_or(u16::MAX))
}

/// How many texts an assembler is given at once. It takes longer to start than to assemble one.
pub const BATCH: usize = 32;

/// What a test ran and skipped. Texts are asked about in batches, and the same one once for each assembler.
#[derive(Debug, Default)]
pub struct Counts {
    /// Texts that an assembler took.
    pub accepted: AtomicUsize,
    /// Texts that no assembler here could be asked about: their version or target is not known to it.
    pub skipped: AtomicUsize,
    /// What was refused, or has products that wait for each other: the release, the target, the message, the text.
    pub refused: Mutex<Vec<String>>,
    /// What is still to be asked.
    open: Mutex<Vec<Batch>>,
    /// Texts that were asked about, by release and target.
    seen: Mutex<HashSet<(String, u16, String)>>,
}

/// Texts for one assembler and target, whose entries have different names.
#[derive(Debug)]
struct Batch {
    ptxas: Ptxas,
    target: u16,
    /// What `-arch` says: the target, or a variant of it.
    arch: String,
    texts: Vec<Text>,
}

#[derive(Debug)]
struct Text {
    name: String,
    entry: String,
    ptx: String,
}

impl Batch {
    /// Whether another text may go with these.
    fn takes(&self, ptxas: &Ptxas, arch: &str, entry: &str) -> bool {
        self.ptxas.release == ptxas.release && self.arch == arch && self.texts.iter().all(|text| text.entry != entry)
    }

    /// Asks about all at once. If that fails, each is asked about by itself.
    fn ask(&self, counts: &Counts) {
        let accepted = |n: usize| counts.accepted.fetch_add(n, Ordering::Relaxed);
        if self.texts.len() > 1 && self.is_taken() {
            accepted(self.texts.len());
            return;
        }
        for Text { name, ptx, .. } in &self.texts {
            match self.ptxas.measure(ptx, self.target) {
                Ok(measured) if measured.serialized => {
                    let refusal = format!("{name} for {}, ptxas {}: products are serialized", self.arch, self.ptxas.release);
                    counts.refused.lock().expect("nobody panicked").push(refusal);
                }
                Ok(_) => drop(accepted(1)),
                Err(error) => {
                    let message = error.to_string();
                    let first = message.lines().take(3).collect::<Vec<_>>().join("\n  ");
                    let refusal = format!("{name} for {}, ptxas {}:\n  {first}\n{}", self.arch, self.ptxas.release, excerpt(ptx, &message));
                    counts.refused.lock().expect("nobody panicked").push(refusal);
                }
            }
        }
    }

    fn is_taken(&self) -> bool {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("warpwright-batch-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let file = |n: usize| folder.join(format!("{n}.ptx"));
        for (n, text) in self.texts.iter().enumerate() {
            std::fs::write(file(n), renumbered(&text.ptx, n * MOST_FILES)).expect("a text can be written");
        }
        let mut command = Command::new(&self.ptxas.path);
        command.arg(format!("-arch={}", self.arch)).args((0..self.texts.len()).map(file)).arg("-o").arg(folder.join("cubin"));
        let output = command.stdin(Stdio::null()).output().expect("the assembler can be run");
        let _ = std::fs::remove_dir_all(&folder);
        // It says on its own which products it serializes.
        let serializes = |said: &[u8]| String::from_utf8_lossy(said).contains("serialized");
        output.status.success() && !serializes(&output.stderr) && !serializes(&output.stdout)
    }
}

/// The most source files that a text names.
const MOST_FILES: usize = 1000;

/// A text whose source files have other numbers: texts of one call count theirs together.
fn renumbered(ptx: &str, by: usize) -> String {
    let other = |line: &str| {
        let (before, rest) = ["\t.file\t", "\t.loc\t"].into_iter().find_map(|word| Some((word, line.strip_prefix(word)?)))?;
        let (number, behind) = rest.split_once(' ')?;
        Some(format!("{before}{} {behind}\n", number.parse::<usize>().ok()? + by))
    };
    ptx.lines().map(|line| other(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}

/// The name of a text's entry.
fn entry_of(ptx: &str) -> String {
    ptx.split_once(".entry ").and_then(|(_, behind)| behind.split('(').next()).unwrap_or_default().trim().to_owned()
}

/// `sm_90a` of a text that says so and a target of 90.
fn arch_of(ptx: &str, target: u16) -> String {
    let said = ptx.lines().find_map(|line| line.strip_prefix(".target ")).unwrap_or("").trim();
    let letter = said.strip_prefix(&format!("sm_{target}")).filter(|letter| matches!(*letter, "a" | "f")).unwrap_or("");
    format!("sm_{target}{letter}")
}

/// Whether an assembler knows the target, and the text's version of PTX.
pub fn reads(ptxas: &Ptxas, ptx: &str, target: u16) -> bool {
    let is_known = ptxas.targets.is_empty() || ptxas.targets.contains(&target);
    is_known && ptxas.ptx_version().is_none_or(|reads| reads >= version_of(ptx))
}

impl Counts {
    /// Asks an assembler about a text of a PTX version, now or in a batch later, and counts.
    ///
    /// # Panics
    ///
    /// If the assembler cannot be run.
    pub fn ask(&self, ptxas: &Ptxas, ptx: &str, name: &str, target: u16) {
        if !reads(ptxas, ptx, target) {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if !self.seen.lock().expect("nobody panicked").insert((ptxas.release.clone(), target, ptx.to_owned())) {
            return;
        }
        let (arch, text) = (arch_of(ptx, target), Text { name: name.to_owned(), entry: entry_of(ptx), ptx: ptx.to_owned() });
        let full = {
            let mut open = self.open.lock().expect("nobody panicked");
            let at = open.iter().position(|batch| batch.takes(ptxas, &arch, &text.entry)).unwrap_or_else(|| {
                open.push(Batch { ptxas: ptxas.clone(), target, arch, texts: Vec::new() });
                open.len() - 1
            });
            open[at].texts.push(text);
            (open[at].texts.len() == BATCH).then(|| open.swap_remove(at))
        };
        if let Some(batch) = full {
            batch.ask(self);
        }
    }

    /// Prints the counts, and panics if something was refused.
    ///
    /// # Panics
    ///
    /// If a text was refused: with the first refusals.
    pub fn report(&self, test: &str) {
        let open = std::mem::take(&mut *self.open.lock().expect("nobody panicked"));
        open.iter().for_each(|batch| batch.ask(self));
        let (accepted, skipped) = (self.accepted.load(Ordering::Relaxed), self.skipped.load(Ordering::Relaxed));
        let refused = self.refused.lock().map(|r| r.clone()).unwrap_or_default();
        println!("ran: {test} ({accepted} texts on ptxas), {} refused, {skipped} not asked about", refused.len());
        assert!(refused.is_empty(), "{}", refused.iter().take(8).cloned().collect::<Vec<_>>().join("\n"));
    }
}

/// The lines that a message speaks of.
fn excerpt(ptx: &str, message: &str) -> String {
    let number = |line: &str| line.split_once("line ")?.1.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok();
    let lines: Vec<&str> = ptx.lines().collect();
    let shown = message.lines().filter_map(number).take(3).filter_map(|n| Some(format!("  {n}: {}", lines.get(n.checked_sub(1)?)?)));
    shown.collect::<Vec<_>>().join("\n")
}

/// The assemblers, or none after saying that `test` is skipped.
pub fn found_or_skip(test: &str) -> Option<Vec<Ptxas>> {
    let found = all();
    if found.is_empty() {
        println!("skipped: {test} (no ptxas)");
        return None;
    }
    Some(found)
}
