//! The `Cargo.toml` of the crate that is compiled, as far as kernels are concerned, and the variable that comes before it.

use proc_macro2::TokenStream;
use quote::quote;
use std::path::Path;
use warpwright_review::manifest::{FINDINGS, Manifest, findings};

/// What the crate says of kernels, and whether there is a manifest.
///
/// # Errors
/// What is wrong with the manifest or the variable, and the edit that mends it.
pub(crate) fn read() -> Result<(Manifest, bool), (String, String)> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR");
    let text = folder.and_then(|folder| std::fs::read_to_string(Path::new(&folder).join("Cargo.toml")).ok());
    let mut manifest = match &text {
        Some(text) => Manifest::parse(text).map_err(|error| (error.to_string(), error.help))?,
        None => Manifest::default(),
    };
    if let Ok(word) = std::env::var(FINDINGS) {
        let setting = findings(&word).map_err(|help| (format!("`{FINDINGS}` is `{word}`"), help))?;
        manifest.findings = Some(setting);
    }
    Ok((manifest, text.is_some()))
}

/// Items that make cargo compile the crate again when its manifest or the variable changes: stable Rust lets a macro say so in no other way.
pub(crate) fn dependency(has_manifest: bool) -> TokenStream {
    let manifest = has_manifest.then(|| {
        quote!(
            const _: &[u8] = ::core::include_bytes!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        )
    });
    quote!(
        #manifest
        const _: ::core::option::Option<&str> = ::core::option_env!(#FINDINGS);
    )
}
