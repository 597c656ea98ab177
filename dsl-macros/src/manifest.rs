//! The `Cargo.toml` of the crate that is compiled, as far as kernels are concerned.

use proc_macro2::TokenStream;
use quote::quote;
use std::path::Path;
use warpwright_codegen::target::{ManifestError, Target, of_manifest};

/// The targets that the crate's manifest asks for: `None` if there is no manifest to read, `Some(None)` if it asks for none.
pub(crate) fn targets() -> Result<Option<Option<Vec<&'static Target>>>, ManifestError> {
    let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR") else { return Ok(None) };
    let Ok(text) = std::fs::read_to_string(Path::new(&folder).join("Cargo.toml")) else { return Ok(None) };
    of_manifest(&text).map(Some)
}

/// An item that makes cargo compile the crate again when its manifest changes: stable Rust lets a macro say so in no other way.
pub(crate) fn dependency() -> TokenStream {
    quote!(
        const _: &[u8] = ::core::include_bytes!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    )
}
