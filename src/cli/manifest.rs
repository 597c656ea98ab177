//! The `Cargo.toml` nearest to a file, as far as kernels are concerned.

use super::Stop;
use std::path::Path;
use warpwright_codegen::target::{Target, of_manifest};

/// The targets that the manifest of a source file's crate asks for, if there is one and it asks for any.
pub(super) fn targets(file: &str) -> Result<Option<Vec<&'static Target>>, Stop> {
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
