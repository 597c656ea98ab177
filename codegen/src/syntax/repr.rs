//! What `#[repr(…)]` says of a struct: `C`, `align(16)`.

/// Bytes that a struct may be aligned to at most: the widest access (PTX ISA, "Vectors"), and what parameters by value and dynamic shared memory begin at.
pub(super) const MOST_ALIGN: u64 = 16;

/// The arguments of every `#[repr(…)]`: `C`, `align(16)`.
pub(super) fn repr_arguments(attrs: &[syn::Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
        // A malformed `repr` is rustc's to report.
        let arguments = attr.parse_args_with(parser).unwrap_or_default();
        found.extend(arguments.iter().map(|argument| quote::ToTokens::to_token_stream(argument).to_string().replace(' ', "")));
    }
    found
}

/// `N` of the argument `align(N)`, if it is one.
pub(super) fn align_of_argument(argument: &str) -> Option<u64> {
    let number = argument.strip_prefix("align(")?.strip_suffix(')')?;
    syn::parse_str::<syn::LitInt>(number).ok()?.base10_parse().ok()
}

/// The least alignment of a struct with these attributes in bytes: that of `#[repr(align(N))]`, or 1.
pub fn repr_align(attrs: &[syn::Attribute]) -> u64 {
    // What is no power of two is rustc's to report.
    let aligns = repr_arguments(attrs).iter().filter_map(|argument| align_of_argument(argument)).collect::<Vec<_>>();
    aligns.into_iter().filter(|align| align.is_power_of_two()).max().unwrap_or(1)
}
