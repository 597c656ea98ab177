//! NVIDIA's disassembler: what `ptxas` made of a text, instruction by instruction.
//!
//! Found by `WARPWRIGHT_NVDISASM` (a full path) and by `PATH`. It reads what assemblers of its own release and older ones wrote; the newest
//! `ptxas` found is used.

use crate::ptxas::Ptxas;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An assembler and a disassembler.
#[derive(Clone, Debug)]
pub struct Judge {
    ptxas: Ptxas,
    nvdisasm: PathBuf,
}

impl Judge {
    /// The pair, or none after saying that `test` is skipped.
    pub fn found_or_skip(test: &str) -> Option<Judge> {
        let Some(ptxas) = crate::ptxas::newest() else {
            println!("skipped: {test} (no ptxas)");
            return None;
        };
        let Some(nvdisasm) = nvdisasm() else {
            println!("skipped: {test} (no nvdisasm)");
            return None;
        };
        Some(Judge { ptxas, nvdisasm })
    }

    /// A pair for every assembler, or none after saying that `test` is skipped.
    pub fn every_or_skip(test: &str) -> Vec<Judge> {
        let Some(Judge { nvdisasm, .. }) = Judge::found_or_skip(test) else { return Vec::new() };
        crate::ptxas::all().into_iter().map(|ptxas| Judge { ptxas, nvdisasm: nvdisasm.clone() }).collect()
    }

    /// The assembler's release.
    pub fn release(&self) -> &str {
        &self.ptxas.release
    }

    /// The SASS of a text for a target, 10·major + minor, as `nvdisasm -c` prints it.
    ///
    /// # Errors
    ///
    /// What the tool that refused said.
    pub fn sass(&self, ptx: &str, target: u16) -> Result<String, String> {
        let cubin = self.ptxas.cubin(ptx, target).map_err(|error| error.to_string())?;
        let file = Scratch::new(&cubin).map_err(|error| error.to_string())?;
        let output = Command::new(&self.nvdisasm).args(["-c", "-ndf"]).arg(&file.0).output().map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

fn nvdisasm() -> Option<PathBuf> {
    let named = std::env::var_os("WARPWRIGHT_NVDISASM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let works = |file: &PathBuf| Command::new(file).arg("--version").output().is_ok_and(|output| output.status.success());
    named.into_iter().chain(std::env::split_paths(&path).map(|folder| folder.join("nvdisasm"))).filter(|file| file.is_file()).find(works)
}

/// A file of one call, removed afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(bytes: &[u8]) -> std::io::Result<Scratch> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("warpwright-sass-{}-{}.cubin", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let scratch = Scratch(std::env::temp_dir().join(name));
        std::fs::write(&scratch.0, bytes)?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
