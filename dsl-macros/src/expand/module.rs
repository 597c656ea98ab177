//! `#[warpwright::module] mod name { … }`: one unit, whose items share its source and what it names from outside.

use super::source::{UnitSource, mark, without_tests};
use super::{check, device, host, refuse_item, refuse_nesting, twin};
use crate::diagnostics::compile_errors;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::syntax::{KernelAttributes, is_named, mark_called_in};

/// `#[module] item`.
pub(crate) fn module(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(refused) = refuse_nesting(&item) {
        return refused;
    }
    let mut parsed: syn::ItemMod = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => return refuse_item("warpwright::module", "a module", &error, item),
    };
    let mut findings = Diagnostics::new();
    if let Some(first) = arguments.into_iter().next() {
        let error = Diagnostic::error(first.span(), "`#[warpwright::module]` takes no arguments");
        findings.push(error.help("put them on the kernels: `#[kernel(block = 256)]`"));
    }
    if parsed.content.is_none() {
        let error = Diagnostic::error(parsed.ident.span(), format!("the macro cannot see into the file of `mod {};`", parsed.ident));
        findings.push(error.help("write the module inline, `mod name { … }`, or mark its items one by one"));
        let errors = compile_errors(&findings);
        return quote!(#item #errors);
    }
    // The embedded source is as it was written: whoever reads it marks the same functions.
    let mut written = without_tests(&parsed);
    written.attrs.insert(0, mark("module", TokenStream::new()));
    let mut unit = written.clone();
    let as_written = syn::Item::Mod(parsed.clone());
    for item in [&mut parsed, &mut unit] {
        item.content.iter_mut().for_each(|(_, content)| mark_called_in(content));
    }
    let content = parsed.content.as_ref().map_or(&[][..], |(_, content)| content);
    let calls = twin::Calls::of(unit.to_token_stream());
    let items = vec![syn::Item::Mod(unit)];
    let mut found = check::check_items(&items, &as_written);
    findings.append(std::mem::take(&mut found.errors));
    found.errors = findings.clone();
    let has_items = content.iter().any(is_device_item);
    let (text, externs) = UnitSource::new(written.into_token_stream(), &items, String::new(), &found).into_parts();
    let mut slots = twin::Slots::default();
    let expanded: Vec<TokenStream> =
        content.iter().map(|item| expand_item(item, &parsed.ident, calls, &findings, &found, &mut slots)).collect();
    let (errors, denied) = (compile_errors(&findings), found.denied());
    let syn::ItemMod { attrs, vis, mod_token, ident, .. } = &parsed;
    let shared = has_items.then(|| {
        quote! {
            const __WARPWRIGHT_SOURCE: ::warpwright::__private::SourceText = #text;
            const __WARPWRIGHT_EXTERNS: &[::warpwright::__private::ExternItem] = #externs;
        }
    });
    quote! {
        #(#attrs)*
        #vis #mod_token #ident {
            #(#expanded)*
            #shared
        }
        #errors
        #denied
    }
}

/// Kernels, device functions, types and their methods: everything that others may name. The rest stays as it is.
fn is_device_item(item: &syn::Item) -> bool {
    match item {
        syn::Item::Fn(item) => item.attrs.iter().any(|attr| is_named(attr, "kernel") || is_named(attr, "device")),
        syn::Item::Struct(_) | syn::Item::Enum(_) => true,
        syn::Item::Impl(item) => item.trait_.is_none(),
        _ => false,
    }
}

fn expand_item(
    item: &syn::Item,
    module: &syn::Ident,
    calls: twin::Calls,
    errors: &Diagnostics,
    found: &check::Findings,
    slots: &mut twin::Slots,
) -> TokenStream {
    if !is_device_item(item) {
        // Where the twin of a kernel is left out, what only that uses is no matter.
        let is_named_there = matches!(item, syn::Item::Use(_) | syn::Item::Const(_) | syn::Item::Type(_));
        let allow = (errors.has_errors() && is_named_there).then(|| quote!(#[allow(unused)]));
        return quote!(#allow #item);
    }
    let source = |name: &syn::Ident| {
        let name = format!("{module}::{name}");
        quote! {
            ::warpwright::__private::DeviceItem { name: #name, source: __WARPWRIGHT_SOURCE, externs: __WARPWRIGHT_EXTERNS }
        }
    };
    let mut item = item.clone();
    match &mut item {
        syn::Item::Fn(function) if function.attrs.iter().any(|attr| is_named(attr, "kernel")) => {
            let attributes = KernelAttributes::find(&function.attrs, &mut Diagnostics::new()).unwrap_or_default();
            function.attrs.retain(|attr| !is_named(attr, "kernel"));
            let source = source(&function.sig.ident);
            twin::rewrite_function(&mut function.sig, &mut function.block, calls, slots);
            if errors.has_errors() {
                return host::refused_function(function, &attributes, errors, &TokenStream::new());
            }
            let warnings = found.warnings_of(&function.sig.ident);
            host::host_function(function, &attributes, &source, &warnings)
        }
        syn::Item::Fn(function) => {
            function.attrs.retain(|attr| !is_named(attr, "device"));
            let source = source(&function.sig.ident);
            device::leave_body_out(function, errors, &TokenStream::new());
            device::mark_item(item, &source, calls, slots)
        }
        syn::Item::Struct(ty) => {
            ty.attrs.retain(|attr| !is_named(attr, "device"));
            let source = source(&ty.ident);
            device::lay_out(ty, errors);
            device::mark_item(item, &source, calls, slots)
        }
        syn::Item::Enum(ty) => {
            ty.attrs.retain(|attr| !is_named(attr, "device"));
            let source = source(&ty.ident);
            device::mark_item(item, &source, calls, slots)
        }
        syn::Item::Impl(methods) => {
            methods.attrs.retain(|attr| !is_named(attr, "device"));
            // The methods' source is the module's, which their type leads to already.
            twin::rewrite_impl(methods, calls, slots);
            item.to_token_stream()
        }
        _ => item.to_token_stream(),
    }
}
