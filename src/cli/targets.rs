//! Which targets are looked at: those of the command line, or those of the `Cargo.toml` nearest to a file.

use super::Stop;
use std::path::Path;
use warpwright_codegen::target::{Target, of_manifest};

/// The targets that the manifest of a source file's crate asks for, if there is one and it asks for any.
pub(super) fn of_crate(file: &str) -> Result<Option<Vec<&'static Target>>, Stop> {
    let Ok(file) = Path::new(file).canonicalize() else { return Ok(None) };
    let Some(manifest) = file.ancestors().skip(1).map(|folder| folder.join("Cargo.toml")).find(|path| path.is_file()) else {
        return Ok(None);
    };
    let Ok(text) = std::fs::read_to_string(&manifest) else { return Ok(None) };
    of_manifest(&text).map_err(|error| {
        let message = format!("`{}`, line {}: {}; {}", manifest.display(), error.line, error.message, error.help);
        Stop::usage(message)
    })
}

/// The targets of these names.
///
/// # Errors
/// All that are none, at once.
pub(super) fn named(names: &[String]) -> Result<Vec<&'static Target>, Stop> {
    let found: Vec<_> = names.iter().map(|name| Target::find(name)).collect();
    let wrong: Vec<String> =
        found.iter().filter_map(|found| found.as_ref().err()).map(|error| format!("{error}; {}", error.help())).collect();
    if wrong.is_empty() { Ok(found.into_iter().flatten().collect()) } else { Err(Stop::usage(wrong.join("\nerror: "))) }
}

/// One target: the one of this name, else the first that the crate's manifest names, else `sm_80`.
pub(super) fn one(name: Option<&str>, file: &str) -> Result<&'static Target, Stop> {
    let of_crate = if name.is_none() { of_crate(file)? } else { None };
    match of_crate.as_deref() {
        Some([first, ..]) => Ok(first),
        _ => Target::find(name.unwrap_or("sm_80")).map_err(|error| Stop::usage(format!("{error}; {}", error.help()))),
    }
}
