//! The result file: TOML, written whole or not at all, after every variant, so that an interrupted run can go on.

use crate::cli::Stop;
use crate::cli::compare::Variant;
use crate::cli::launch::LaunchArguments;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use warpwright::Device;
use warpwright::tuned::{self, MeasuredVariant};
use warpwright_codegen::hir::Axis;
use warpwright_codegen::syntax::{ConstValue, GenericValue};
use warpwright_codegen::target::Target;

/// What a run is about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) file: &'a str,
    pub(super) kernel: &'a str,
    pub(super) device: &'a Device,
    /// What the kernel was predicted and fingerprinted for.
    pub(super) target: &'static Target,
    pub(super) launch: &'a LaunchArguments,
}

/// What a run has measured, and where it stands.
pub(super) struct Record {
    path: PathBuf,
    /// What the figures are about: another of these, and they are of no use.
    about: String,
    pub(super) measured: Vec<MeasuredVariant>,
    /// How many were there when the run began.
    pub(super) kept: usize,
    best: String,
}

impl Record {
    /// The record at a path: what an earlier run of the same kernel, device and size has left, or a new one.
    ///
    /// # Errors
    /// The file is about something else, and `afresh` does not say that it may go; it is no record; it cannot be written.
    pub(super) fn open(path: &Path, about: &About<'_>, afresh: bool) -> Result<Record, Stop> {
        let about = format!(
            "kernel = {}\nfile = {}\ndevice = {}\ntarget = {}\ncompiler = {}\nlaunch = {}\n",
            text(about.kernel),
            text(about.file),
            text(&about.device.model()),
            text(about.target.name),
            text(tuned::COMPILER),
            text(&about.launch.to_string())
        );
        let mut record = Record { path: path.to_owned(), about, measured: Vec::new(), kept: 0, best: String::new() };
        // Nothing is lost of a file that is empty, as `mktemp` makes one.
        if path.metadata().is_ok_and(|file| file.len() > 0) {
            let before = std::fs::read_to_string(path).unwrap_or_default();
            if !before.starts_with(FIRST_LINE) {
                let message = format!(
                    "`{}` was not written by `warpwright tune`, and is left as it is\nhelp: name another file with `--out`",
                    path.display()
                );
                return Err(Stop::usage(message));
            }
            if !afresh {
                if !before.contains(&record.about) {
                    return Err(of_something_else(path, &before, &record.about));
                }
                record.measured = tuned::measured(&before);
                record.kept = record.measured.len();
            }
        }
        // Now rather than after an hour of measuring.
        record.write()?;
        Ok(record)
    }

    /// What was measured of a variant as it is now.
    pub(super) fn get(&self, variant: &Variant) -> Option<&MeasuredVariant> {
        let fingerprint = fingerprint(variant);
        self.measured.iter().find(|measured| measured.variant == variant.words && measured.fingerprint == fingerprint)
    }

    /// Adds what was measured, in the place of what is out of date.
    pub(super) fn add(&mut self, measured: MeasuredVariant) -> Result<(), Stop> {
        self.measured.retain(|before| before.variant != measured.variant);
        self.measured.push(measured);
        self.write()
    }

    /// The fastest of those whose results are the first one's.
    pub(super) fn best(&self) -> Option<&MeasuredVariant> {
        self.measured.iter().filter(|measured| !measured.differs).min_by(|a, b| a.median.total_cmp(&b.median))
    }

    /// All that was measured, the fastest first.
    pub(super) fn fastest(&self) -> Vec<&MeasuredVariant> {
        let mut measured: Vec<&MeasuredVariant> = self.measured.iter().collect();
        measured.sort_by(|a, b| a.median.total_cmp(&b.median));
        measured
    }

    /// Writes down which is best, by its generics and its PTX.
    pub(super) fn finish(&mut self, axes: &[Axis], variants: &[Variant]) -> Result<(), Stop> {
        let Some(best) = self.best().map(|best| best.variant.clone()) else { return Ok(()) };
        let Some(variant) = variants.iter().find(|variant| variant.words == best) else { return Ok(()) };
        let mut best = format!("fingerprint = \"{:016x}\"\n\n[best]\n", fingerprint(variant));
        for (axis, value) in axes.iter().zip(&variant.instance.generics) {
            let _ = writeln!(best, "{} = {}", axis.name, generic(value));
        }
        self.best = best;
        self.write()
    }

    fn write(&self) -> Result<(), Stop> {
        let mut file = format!("{FIRST_LINE}; `warpwright::Tuned::load` reads it. Times are in seconds.\nschema = 1\n{}", self.about);
        file.push_str(&self.best);
        for measured in &self.measured {
            let MeasuredVariant { variant, median, least, most, runs, differs, fingerprint } = measured;
            let _ = write!(file, "\n[[measured]]\nvariant = {}\nmedian = {median:e}\nleast = {least:e}\nmost = {most:e}\n", text(variant));
            let _ = writeln!(file, "runs = {runs}\ndiffers = {differs}\nfingerprint = \"{fingerprint:016x}\"");
        }
        let beside = self.path.with_extension("toml.part");
        std::fs::write(&beside, file).and_then(|()| std::fs::rename(&beside, &self.path)).map_err(|error| {
            // Half a file is of no use; where there is none, there is nothing to remove.
            let _ = std::fs::remove_file(&beside);
            Stop::usage(format!("`{}` cannot be written: {error}; name another file with `--out`", self.path.display()))
        })
    }
}

/// How every record begins.
const FIRST_LINE: &str = "# Written by `warpwright tune`";

/// Why a record is not gone on with: what it is about, where this run is about something else.
fn of_something_else(path: &Path, before: &str, about: &str) -> Stop {
    let count = tuned::measured(before).len();
    let mut message = format!("`{}` has {count} measurement{} of something else", path.display(), if count == 1 { "" } else { "s" });
    for line in about.lines() {
        let name = line.split(" = ").next().unwrap_or_default();
        let there = before.lines().find(|there| there.split(" = ").next() == Some(name)).unwrap_or_default();
        if there != line {
            let value = |line: &str| line.split_once(" = ").map_or_else(|| "none".to_owned(), |(_, value)| value.to_owned());
            let _ = write!(message, "\n  its {name} is {}, and this run's {}", value(there), value(line));
        }
    }
    Stop::usage(message + "\nhelp: `--out FILE` keeps both; `--afresh` replaces what is there")
}

/// What stands for a variant's code.
pub(super) fn fingerprint(variant: &Variant) -> u64 {
    let code = variant.compiled().and_then(|compiled| compiled.ptx[0].clone());
    tuned::fingerprint(&code.map_or_else(String::new, |code| code.without_places().to_string()))
}

/// A string as TOML has it.
fn text(value: &str) -> String {
    let mut quoted = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn generic(value: &GenericValue) -> String {
    match value {
        GenericValue::Type(name) => text(name),
        GenericValue::Const(ConstValue::Scalar(value)) => value.to_string(),
        GenericValue::Const(ConstValue::Index(value, _)) => value.to_string(),
        GenericValue::Const(ConstValue::Array(_) | ConstValue::Tuple(_)) => text("…"),
    }
}
