//! The declared variants of a kernel as values: a function `copy_variants` beside the kernel `copy`, which gives a list of function pointers.
//!
//! All variants in a list have one type, so generics that the parameters' types mention are generics of `copy_variants`, too, and fixed by
//! the arguments; so are those that the kernel leaves open. The others are gone through. Each has a function of its own, generic over
//! those before it, which calls the next with each of its values: text grows with the sum of the axes, and what is instantiated
//! with their product only where somebody asks for the list. Axes that are tied, `(A, B) in [(1, 2), (3, 4)]`, have one function for all of them.

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
    let is_open = |param: &syn::GenericParam| generic_ident(param).is_some_and(|ident| !mentions(types.clone(), ident));
    let tie_of = |param: &syn::GenericParam| {
        attributes.variants.tied.iter().find(|names| generic_ident(param).is_some_and(|ident| names.contains(ident)))
    };
    // What is gone through together: generics, which of them are fixed by the arguments or the caller, and so many values.
    let mut groups: Vec<Together<'_>> = Vec::new();
    for param in &generics {
        let values = values_of(param).filter(|_| is_open(param));
        let (tie, column) = (tie_of(param), Column { param, values: values_of(param), is_open: values.is_some() });
        match groups.iter_mut().find(|group| tie.is_some() && group.tie == tie) {
            Some(group) => group.columns.push(column),
            None => groups.push(Together { tie, columns: vec![column] }),
        }
    }
    let pointer = pointer_type(sig);
    let list = quote!(::warpwright::Variants<#pointer>);
    let bounds = &sig.generics.where_clause;
    // In the kernel's order, those that are known before the group `upto`.
    let fixed = |upto: usize| {
        let is_known = |param: &&&syn::GenericParam| {
            let at = groups.iter().position(|group| group.column(param).is_some());
            at.is_some_and(|at| at < upto || groups[at].column(param).is_some_and(|column| !column.is_open))
        };
        generics.iter().filter(is_known).copied().collect::<Vec<_>>()
    };
    let step = |at: usize| format_ident!("__warpwright_axis_{at}");
    // `now`: the row of values that the group in front of `at` takes; the others are passed on.
    let call = |at: usize, now: Option<usize>| {
        let arguments = fixed(at).into_iter().map(|param| {
            let column = at.checked_sub(1).and_then(|before| groups[before].column(param)).filter(|column| column.is_open);
            match column.and_then(|column| column.values?.get(now?)) {
                Some(value) => generic_value(param, value),
                None => generic_ident(param).to_token_stream(),
            }
        });
        let name = step(at);
        quote!(#name::<#(#arguments),*>(list))
    };
    let mut steps = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let (name, params) = (step(at), fixed(at));
        let calls: Vec<TokenStream> = match group.rows() {
            Some(rows) => (0..rows)
                .map(|row| {
                    let next = call(at + 1, Some(row));
                    // Of what the arguments fix, only the rows that have it.
                    let given: Vec<TokenStream> =
                        group.columns.iter().filter(|column| !column.is_open).filter_map(|column| column.is(row)).collect();
                    if given.is_empty() { quote!(#next;) } else { quote!(if #(#given)&&* { #next; }) }
                })
                .collect(),
            None => {
                let next = call(at + 1, None);
                vec![quote!(#next;)]
            }
        };
        steps.push(quote!(fn #name<#(#params),*>(list: &mut #list) #bounds { #(#calls)* }));
    }
    let idents: Vec<&Ident> = generics.iter().filter_map(|param| generic_ident(param)).collect();
    let arguments = generics.iter().filter_map(|param| generic_argument(param));
    let last = step(groups.len());
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

/// A generic with its declared values.
struct Column<'f> {
    param: &'f syn::GenericParam,
    values: Option<&'f Vec<syn::Expr>>,
    /// Whether its values are gone through; else the arguments or the caller fix it.
    is_open: bool,
}

impl Column<'_> {
    /// Whether the generic is the value of a row: an expression.
    fn is(&self, row: usize) -> Option<TokenStream> {
        let value = self.values?.get(row)?;
        Some(is_declared(self.param, std::slice::from_ref(value)))
    }
}

/// Generics whose values go together: those of a tuple, or one.
struct Together<'f> {
    tie: Option<&'f Vec<Ident>>,
    columns: Vec<Column<'f>>,
}

impl<'f> Together<'f> {
    fn column(&self, param: &syn::GenericParam) -> Option<&Column<'f>> {
        self.columns.iter().find(|column| generic_ident(column.param) == generic_ident(param))
    }

    /// How many rows of values are gone through, if any are.
    fn rows(&self) -> Option<usize> {
        self.columns.iter().filter(|column| column.is_open).filter_map(|column| column.values.map(Vec::len)).max()
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
