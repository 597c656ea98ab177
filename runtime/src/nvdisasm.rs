//! NVIDIA's disassembler, where there is one: the machine code (SASS) that an assembler made, as text, with the source lines it comes from.
//!
//! It is looked for in this order: the variable `WARPWRIGHT_NVDISASM` (a full path), `nvdisasm` beside the assembler, then in the folders of
//! `PATH`. One that does not run is passed over: SASS is for reading, and nothing depends on it.

use crate::ptxas::{Ptxas, Scratch};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names a disassembler.
pub const VARIABLE: &str = "WARPWRIGHT_NVDISASM";

/// A disassembler that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nvdisasm {
    path: PathBuf,
}

/// A line of machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SassLine {
    /// The instruction without its address, or a label.
    pub text: String,
    /// File and line of the source, if it comes from one.
    pub place: Option<(String, u32)>,
}

impl Nvdisasm {
    /// The one to use, if there is one.
    pub fn find(assembler: &Ptxas) -> Option<Nvdisasm> {
        let file = if cfg!(windows) { "nvdisasm.exe" } else { "nvdisasm" };
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let beside = assembler.path.parent().map(|folder| folder.join(file));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let searched: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join(file)).collect();
        let runs = |path: &Path| {
            let silent = Command::new(path).arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
            silent.is_ok_and(|status| status.success())
        };
        let found = named.into_iter().chain(beside).chain(searched).filter(|path| path.is_file()).find(|path| runs(path))?;
        Some(Nvdisasm { path: found })
    }

    /// Disassembles machine code made with [`Ptxas::cubin_with_lines`].
    ///
    /// # Errors
    ///
    /// What it, or the system, said.
    pub fn lines(&self, cubin: &[u8]) -> Result<Vec<SassLine>, String> {
        Ok(self.kernels(cubin)?.into_iter().next().map_or(Vec::new(), |(_, lines)| lines))
    }

    /// The kernels of machine code, each by its name.
    ///
    /// # Errors
    ///
    /// As [`Nvdisasm::lines`].
    pub fn kernels(&self, cubin: &[u8]) -> Result<Vec<(String, Vec<SassLine>)>, String> {
        let file = Scratch::new();
        std::fs::write(&file.0, cubin).map_err(|error| format!("`{}` cannot be written: {error}", file.0.display()))?;
        // Without the analysis that follows indirect branches, of which we make none: it takes a third of the time.
        let output = Command::new(&self.path).args(["-c", "-g", "-ndf"]).arg(&file.0).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("`{}` cannot be run: {error}; name another in `{VARIABLE}`", self.path.display()))?;
        if output.status.success() {
            Ok(read(&String::from_utf8_lossy(&output.stdout)))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }
}

/// The kernels of a listing.
fn read(listing: &str) -> Vec<(String, Vec<SassLine>)> {
    let mut kernels = Vec::new();
    let mut listing = listing.lines();
    while let Some(name) = listing.find_map(|line| line.strip_prefix(".text.")?.strip_suffix(':')) {
        let code = listing.by_ref().take_while(|line| !line.starts_with("//---"));
        kernels.push((name.to_owned(), code_of(code)));
    }
    kernels
}

/// The code of a kernel, without directives and the padding behind its last jump to itself.
fn code_of<'l>(listing: impl Iterator<Item = &'l str>) -> Vec<SassLine> {
    let mut lines: Vec<SassLine> = Vec::new();
    let mut place = None;
    for line in listing {
        let line = line.trim();
        if let Some(said) = line.strip_prefix("//## File \"") {
            place = said.split_once("\", line ").and_then(|(file, rest)| {
                let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
                Some((file.to_owned(), number.parse().ok()?))
            });
        } else if let Some((_, text)) = line.strip_prefix("/*").and_then(|line| line.split_once("*/")) {
            lines.push(SassLine { text: text.trim().to_owned(), place: place.clone() });
        } else if line.ends_with(':') {
            lines.push(SassLine { text: line.to_owned(), place: None });
        }
    }
    while lines.last().is_some_and(|line| line.text.starts_with("NOP") || line.text.ends_with(':')) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read() {
        let listing = "\t.target\tsm_90\n.section\t.text.k\n.text.k:\n\t//## File \"a b.rs\", line 23\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n\
            .L_x_0:\n\t//## File \"a b.rs\", line 24 inlined at \"c.rs\", line 2\n        /*0010*/              @!P0 BRA `(.L_x_0) ;\n        \
            /*0020*/                   NOP;\n.L_x_1:\n\n//--------------------- SYMBOLS ----\n        /*0030*/ EXIT ;\n";
        let place = |line| Some(("a b.rs".to_owned(), line));
        let expected = [("LDC R1, c[0x0][0x28] ;", place(23)), (".L_x_0:", None), ("@!P0 BRA `(.L_x_0) ;", place(24))];
        let expected: Vec<SassLine> = expected.into_iter().map(|(text, place)| SassLine { text: text.to_owned(), place }).collect();
        assert_eq!(read(listing), [("k".to_owned(), expected)]);
    }

    #[test]
    fn kernels_of_one_listing_are_told_apart() {
        let kernel = |name: &str, code: &str| {
            format!(".section\t.text.{name}\n.text.{name}:\n        /*0000*/                   {code} ;\n\n//------- NEXT ----\n")
        };
        let found = read(&[kernel("a", "EXIT"), kernel("b", "RET")].concat());
        let shown: Vec<(&str, &str)> = found.iter().map(|(name, lines)| (name.as_str(), lines[0].text.as_str())).collect();
        assert_eq!(shown, [("a", "EXIT ;"), ("b", "RET ;")]);
    }
}
