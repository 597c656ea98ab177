//! Which targets are looked at: those of the command line, or those of the `Cargo.toml` nearest to a file.

use super::Stop;
use std::path::Path;
use warpwright_codegen::target::{Family, Target, Targets};
use warpwright_review::manifest::{FINDINGS, Manifest, findings};

/// What the manifest of a source file's crate says of kernels, if there is one. The environment comes before it, as it does for the macro.
pub(super) fn manifest(file: &str) -> Result<Manifest, Stop> {
    let mut found = of_file(file)?;
    if let Ok(word) = std::env::var(FINDINGS) {
        found.findings = Some(findings(&word).map_err(|help| Stop::usage(format!("`{FINDINGS}={word}`: {help}")))?);
    }
    Ok(found)
}

fn of_file(file: &str) -> Result<Manifest, Stop> {
    let Ok(file) = Path::new(file).canonicalize() else { return Ok(Manifest::default()) };
    let Some(manifest) = file.ancestors().skip(1).map(|folder| folder.join("Cargo.toml")).find(|path| path.is_file()) else {
        return Ok(Manifest::default());
    };
    let Ok(text) = std::fs::read_to_string(&manifest) else { return Ok(Manifest::default()) };
    Manifest::parse(&text).map_err(|error| {
        let message = format!("`{}`, line {}: {}; {}", manifest.display(), error.line, error.message, error.help);
        Stop::usage(message)
    })
}

/// The targets that the manifest asks for, if it asks for any.
pub(super) fn of_crate(file: &str) -> Result<Option<Targets>, Stop> {
    of_file(file).map(|manifest| manifest.targets)
}

/// The targets of these names.
///
/// # Errors
/// All that are none, at once.
pub(super) fn named(names: &[String]) -> Result<Targets, Stop> {
    let mut targets = Targets::default();
    let wrong: Vec<String> =
        names.iter().filter_map(|name| targets.add(name).err()).map(|error| format!("{error}; {}", error.help())).collect();
    if wrong.is_empty() { Ok(targets) } else { Err(Stop::usage(wrong.join("\nerror: "))) }
}

/// Targets of a kernel of which something is estimated.
///
/// # Errors
/// There is none among them.
pub(super) fn with_figures(targets: Targets, kernel: &str) -> Result<Targets, Stop> {
    if let ([], [Family { name, devices }, ..]) = (&targets.gpus[..], &targets.families[..]) {
        let message = format!(
            "`{name}` is the only target of `{kernel}`, and nothing is estimated for {devices}; give a compute capability, for example `--targets sm_90`"
        );
        return Err(Stop::usage(message));
    }
    Ok(targets)
}

/// One target: the one of this name, else the first of NVIDIA's that the crate's manifest names, else `sm_80`.
pub(super) fn one(name: Option<&str>, file: &str) -> Result<&'static Target, Stop> {
    let of_crate = if name.is_none() { of_crate(file)? } else { None };
    match of_crate.as_ref().and_then(|targets| targets.gpus.first()) {
        Some(first) => Ok(first),
        None => Target::find(name.unwrap_or("sm_80")).map_err(|error| Stop::usage(format!("{error}; {}", error.help()))),
    }
}
