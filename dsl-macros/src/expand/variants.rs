//! The declared variants of a kernel as values: a function `copy_variants` beside the kernel `copy`, which gives a list of function pointers.
//!
//! All variants in a list have one type, so generics that the parameters' types mention are generics of `copy_variants`, too, and fixed by
//! the arguments; so are those that the kernel leaves open. The others are gone through. Each has a function of its own, generic over
//! those before it, which calls the next with each of its values: text grows with the sum of the axes, and what is instantiated
//! with their product only where somebody asks for the list.

use super::host::{generic_argument, generic_ident, host_parameters};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use warpwright_codegen::syntax::KernelAttributes;

/// The function, if the kernel declares variants. Of one that is refused it does nothing: `rustc` shall say nothing of values that are refused already.
pub(super) fn variants_function(function: &syn::ItemFn, attributes: &KernelAttributes, is_refused: bool) -> TokenStream {
    if attributes.variants.axes.is_empty() {
        return TokenStream::new();
    }
    let syn::ItemFn { vis, sig, attrs, .. } = function;
    let name = &sig.ident;
    let generics: Vec<&syn::GenericParam> = sig.generics.params.iter().filter(|param| generic_ident(param).is_some()).collect();
    let types: TokenStream = host_parameters(sig).iter().map(|parameter| parameter.host_type()).collect();
    let values_of = |param: &syn::GenericParam| {
        let ident = generic_ident(param)?;
        attributes.variants.axes.iter().find(|(axis, _)| axis == ident).map(|(_, values)| values)
    };
    // A generic and its values, where these are gone through; without, where the arguments or the caller fix it.
    let axes: Vec<(&syn::GenericParam, Option<&Vec<syn::Expr>>)> = generics
        .iter()
        .map(|param| (*param, values_of(param).filter(|_| generic_ident(param).is_some_and(|ident| !mentions(types.clone(), ident)))))
        .collect();
    let pointer = pointer_type(sig);
    let list = quote!(::warpwright::Variants<#pointer>);
    let bounds = &sig.generics.where_clause;
    let fixed = |upto: usize| {
        let known = axes.iter().enumerate().filter(move |(at, (_, values))| values.is_none() || *at < upto);
        known.map(|(_, (param, _))| *param).collect::<Vec<_>>()
    };
    let step = |at: usize| format_ident!("__warpwright_axis_{at}");
    let call = |at: usize, now: Option<&syn::Expr>| {
        // The axis in front of `at` takes the value; the others are passed on.
        let arguments = axes[..].iter().enumerate().filter(|(n, (_, values))| values.is_none() || *n < at).map(|(n, (param, values))| {
            let ident = generic_ident(param);
            match now.filter(|_| n + 1 == at && values.is_some()) {
                Some(value) => generic_value(param, value),
                None => ident.to_token_stream(),
            }
        });
        let name = step(at);
        quote!(#name::<#(#arguments),*>(list))
    };
    let mut steps = Vec::new();
    for (at, (_, values)) in axes.iter().enumerate() {
        let (name, params) = (step(at), fixed(at));
        let calls: Vec<TokenStream> = match values {
            Some(values) => values.iter().map(|value| call(at + 1, Some(value))).collect(),
            None => vec![call(at + 1, None)],
        };
        steps.push(quote!(fn #name<#(#params),*>(list: &mut #list) #bounds { #(#calls;)* }));
    }
    let idents: Vec<&Ident> = generics.iter().filter_map(|param| generic_ident(param)).collect();
    let arguments = generics.iter().filter_map(|param| generic_argument(param));
    let last = step(axes.len());
    let turbofish = if idents.is_empty() { quote!() } else { quote!(::<#(#idents),*>) };
    // Bounds of generics that the list does not have are the steps' business.
    let own: Vec<&syn::GenericParam> = fixed(0);
    let declared = own.iter().filter_map(|param| Some(is_declared(param, values_of(param)?)));
    let first = call(0, None);
    let names = idents.iter().map(ToString::to_string);
    let (kernel, list_name) = (name.to_string(), format_ident!("{name}_variants", span = name.span().resolved_at(Span::call_site())));
    let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let body = if is_refused {
        quote!(::core::unreachable!())
    } else {
        quote! {
            #(#steps)*
            fn #last<#(#generics),*>(list: &mut #list) #bounds {
                list.push(&[#(#arguments),*], #name #turbofish);
            }
            let mut variants = ::warpwright::Variants::new(#kernel, &[#(#names),*]);
            if true #(&& (#declared))* {
                let list = &mut variants;
                #first;
            }
            variants
        }
    };
    let doc = format!("The variants that the kernel `{name}` declares: to go through, to choose from, to launch.");
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #[allow(dead_code, clippy::type_complexity)]
        #[inline]
        #[must_use]
        #vis fn #list_name<#(#own),*>() -> #list #bounds {
            #body
        }
    }
}

/// `for<'launch> fn(&'launch mut Buffer<f64>, f32) -> Launch<'launch>`.
fn pointer_type(sig: &syn::Signature) -> TokenStream {
    let parameters = host_parameters(sig);
    let types: Vec<TokenStream> = parameters.iter().map(|parameter| parameter.host_type()).collect();
    // Without a buffer no argument has the lifetime, and a launch borrows nothing.
    match parameters.iter().any(|parameter| parameter.is_borrowed()) {
        true => quote!(for<'launch> fn(#(#types),*) -> ::warpwright::Launch<'launch>),
        false => quote!(fn(#(#types),*) -> ::warpwright::Launch<'static>),
    }
}

/// A value of an axis as a generic argument: `{ 64 }`, `f32`.
fn generic_value(param: &syn::GenericParam, value: &syn::Expr) -> TokenStream {
    match param {
        syn::GenericParam::Const(_) => quote!({ #value }),
        _ => quote!(#value),
    }
}

/// Whether the value that a generic is fixed at is one of those declared: an expression.
fn is_declared(param: &syn::GenericParam, values: &[syn::Expr]) -> TokenStream {
    let Some(ident) = generic_ident(param) else { return quote!(true) };
    let one = values.iter().map(|value| match param {
        syn::GenericParam::Const(_) => quote!(#ident == #value),
        _ => quote!(<#ident as ::warpwright::__private::Element>::TYPE == <#value as ::warpwright::__private::Element>::TYPE),
    });
    quote!(#(#one)||*)
}

/// Whether an identifier stands among the tokens.
fn mentions(tokens: TokenStream, ident: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(found) => found == *ident,
        TokenTree::Group(group) => mentions(group.stream(), ident),
        _ => false,
    })
}
