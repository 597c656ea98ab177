//! NVIDIA's assembler as an oracle: whether PTX is legal, for every `ptxas` that is found and every target it knows.
//!
//! Found by `WARPWRIGHT_PTXAS_11`, `WARPWRIGHT_PTXAS_12`, `WARPWRIGHT_PTXAS_13` (full paths), and by `PATH`. What ran and what could not is
//! counted; [`Counts::report`] prints it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variables that name an assembler.
const VARIABLES: [&str; 3] = ["WARPWRIGHT_PTXAS_11", "WARPWRIGHT_PTXAS_12", "WARPWRIGHT_PTXAS_13"];

/// An assembler.
#[derive(Clone, Debug)]
pub struct Ptxas {
    /// Its release, `12.9`.
    pub release: String,
    /// Targets that it knows, as 10·major + minor, in order.
    pub targets: Vec<u16>,
    path: PathBuf,
}

/// Why an assembler did not take a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it said.
    pub message: String,
}

/// What an assembler measured: figures *measured by ptxas*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes spilled by stores.
    pub spill_stores: u32,
}

impl Ptxas {
    /// Every assembler that is found, each release once.
    pub fn all() -> Vec<Ptxas> {
        let named = VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let searched = std::env::split_paths(&path).map(|folder| folder.join("ptxas")).filter(|file| file.is_file());
        let mut found: Vec<Ptxas> = Vec::new();
        for candidate in named.chain(searched.collect::<Vec<_>>()).filter_map(|path| Ptxas::at(&path)) {
            if found.iter().all(|known| known.release != candidate.release) {
                found.push(candidate);
            }
        }
        found
    }

    /// The assembler at a path, if there is a working one.
    fn at(path: &Path) -> Option<Ptxas> {
        let said = |argument: &str| Command::new(path).arg(argument).output().ok().map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        let release = said("--version")?.split_once("release ")?.1.split(',').next()?.trim().to_owned();
        let help = said("--help")?;
        let mut targets: Vec<u16> = help.split('\'').filter_map(|word| word.strip_prefix("sm_")?.parse().ok()).collect();
        targets.sort_unstable();
        targets.dedup();
        Some(Ptxas { release, targets, path: path.to_owned() })
    }

    /// The newest PTX version that it reads, 10·major + minor. PTX ISA, "Release Notes": CUDA 11.x and 12.x have PTX 7.x and 8.x one minor
    /// behind in 12; 13.x has 9.x.
    pub fn ptx_version(&self) -> u16 {
        let (major, minor) = self.release.split_once('.').unwrap_or((&self.release, "0"));
        let minor: u16 = minor.parse().unwrap_or(0);
        match major {
            "11" => 70 + minor,
            "12" => (80 + minor).min(88),
            _ => 90 + minor.min(9),
        }
    }

    /// Assembles a text for a target, 10·major + minor, with `extra` arguments.
    pub fn assemble(&self, ptx: &str, target: u16, extra: &[&str]) -> Result<Measured, Refusal> {
        self.run(ptx, target, extra).map(|(measured, _)| measured)
    }

    /// What it makes of a text for a target, 10·major + minor.
    pub fn cubin(&self, ptx: &str, target: u16) -> Result<Vec<u8>, Refusal> {
        self.run(ptx, target, &[]).map(|(_, cubin)| cubin)
    }

    fn run(&self, ptx: &str, target: u16, extra: &[&str]) -> Result<(Measured, Vec<u8>), Refusal> {
        let scratch = Scratch::new();
        let refused = |message: String| Refusal { message };
        std::fs::write(&scratch.ptx, ptx).map_err(|error| refused(error.to_string()))?;
        let mut command = Command::new(&self.path);
        command.arg("-v").arg(format!("-arch=sm_{target}")).args(extra).arg("-o").arg(&scratch.cubin).arg(&scratch.ptx);
        let output = command.output().map_err(|error| refused(error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(refused(said));
        }
        let cubin = std::fs::read(&scratch.cubin).map_err(|error| refused(error.to_string()))?;
        Ok((measured(&said), cubin))
    }
}

/// `Used 12 registers`, `0 bytes spill stores`.
fn measured(said: &str) -> Measured {
    let before = |mark: &str| {
        let (head, _) = said.split_once(mark)?;
        head.rsplit(|c: char| !c.is_ascii_digit()).find(|word| !word.is_empty())?.parse().ok()
    };
    Measured { registers: before(" registers").unwrap_or(0), spill_stores: before(" bytes spill stores").unwrap_or(0) }
}

/// Two files of one call, removed afterwards.
struct Scratch {
    ptx: PathBuf,
    cubin: PathBuf,
}

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("warpwright-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let base = std::env::temp_dir().join(name);
        Scratch { ptx: base.with_extension("ptx"), cubin: base.with_extension("cubin") }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.ptx);
        let _ = std::fs::remove_file(&self.cubin);
    }
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
        let version = version_of(ptx);
        if version > ptxas.ptx_version() || !ptxas.targets.contains(&target) {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        match ptxas.assemble(ptx, target, &[]) {
            Ok(_) => {
                self.accepted.fetch_add(1, Ordering::Relaxed);
            }
            Err(refusal) => {
                if let Ok(mut refused) = self.refused.lock() {
                    let first = refusal.message.lines().take(3).collect::<Vec<_>>().join("\n  ");
                    let shown = excerpt(ptx, &refusal.message);
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

/// `.version 7.8` as 78.
fn version_of(ptx: &str) -> u16 {
    let word = ptx.lines().find_map(|line| line.strip_prefix(".version ")).unwrap_or("0.0");
    let (major, minor) = word.trim().split_once('.').unwrap_or(("0", "0"));
    major.parse().unwrap_or(0u16) * 10 + minor.parse().unwrap_or(0u16)
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
    let found = Ptxas::all();
    if found.is_empty() {
        println!("skipped: {test} (no ptxas)");
        return None;
    }
    Some(found)
}
