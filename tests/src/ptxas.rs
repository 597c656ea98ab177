//! NVIDIA's assembler as an oracle: whether PTX is legal, for every `ptxas` that is found and every target it knows.
//!
//! Found by `WARPWRIGHT_PTXAS_11`, `WARPWRIGHT_PTXAS_12`, `WARPWRIGHT_PTXAS_13` (full paths), and by `PATH`. What ran and what could not is
//! counted; [`Counts::report`] prints it.

use std::path::PathBuf;
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

/// What a test ran and skipped.
#[derive(Debug, Default)]
pub struct Counts {
    /// Texts that an assembler took.
    pub accepted: AtomicUsize,
    /// Texts that no assembler here could be asked about: their version or target is not known to it.
    pub skipped: AtomicUsize,
    /// What was refused: the release, the target, the message, the text.
    pub refused: std::sync::Mutex<Vec<String>>,
}

impl Counts {
    /// Asks an assembler about a text of a PTX version, and counts.
    pub fn ask(&self, ptxas: &Ptxas, ptx: &str, name: &str, target: u16) {
        match ptxas.measure(ptx, target) {
            Ok(_) => {
                self.accepted.fetch_add(1, Ordering::Relaxed);
            }
            Err(PtxasError::UnknownTarget { .. } | PtxasError::OldRelease { .. }) => {
                self.skipped.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                if let Ok(mut refused) = self.refused.lock() {
                    let message = error.to_string();
                    let first = message.lines().take(3).collect::<Vec<_>>().join("\n  ");
                    let shown = excerpt(ptx, &message);
                    refused.push(format!("{name} for sm_{target}, ptxas {}:\n  {first}\n{shown}", ptxas.release));
                }
            }
        }
    }

    /// Prints the counts, and panics if something was refused.
    ///
    /// # Panics
    ///
    /// If a text was refused: with the first refusals.
    pub fn report(&self, test: &str) {
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
