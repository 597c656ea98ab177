//! The host function of a kernel: the kernel's name, its parameters as buffers, a `Launch` out.

use super::group::host_name;
use super::variants::variants_function;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::syntax::KernelAttributes;

/// How a parameter is passed.
pub(super) enum Passing<'f> {
    Value(&'f syn::Type),
    /// The element type.
    Global(&'f syn::Type),
    GlobalMut(&'f syn::Type),
    Constant(&'f syn::Type),
    /// The texel type.
    Texture(&'f syn::Type),
    /// The element type.
    Matrix(&'f syn::Type),
    MatrixMut(&'f syn::Type),
    MatrixBatch(&'f syn::Type),
    MatrixBatchMut(&'f syn::Type),
    /// A struct with a lifetime, of buffers and values.
    Group(&'f syn::Type),
}

pub(super) struct Parameter<'f> {
    ident: Ident,
    /// Its type in the kernel.
    written: &'f syn::Type,
    passing: Passing<'f>,
}

impl Parameter<'_> {
    /// Its type on the host.
    pub(super) fn host_type(&self) -> TokenStream {
        self.passing.host_type(&launch_lifetime())
    }

    /// `x: &'launch Buffer<f32>`, where the kernel's parameter stands: there `rustc` shows what an argument does not fit.
    fn host_input(&self) -> TokenStream {
        let (ident, ty) = (&self.ident, placed_at(self.host_type(), self.written));
        quote!(#ident: #ty)
    }

    /// Whether that is a reference, for as long as the launch lives.
    pub(super) fn is_borrowed(&self) -> bool {
        !matches!(self.passing, Passing::Value(_))
    }
}

/// Tokens that begin and end where a type does.
fn placed_at(tokens: TokenStream, ty: &syn::Type) -> TokenStream {
    let spans: Vec<Span> = ty.to_token_stream().into_iter().map(|token| token.span()).collect();
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    if let ([first, .., last], [begin, .., end]) = (&mut tokens[..], &spans[..]) {
        first.set_span(*begin);
        last.set_span(*end);
    }
    tokens.into_iter().collect()
}

/// The parameters of a kernel.
pub(super) fn host_parameters(sig: &syn::Signature) -> Vec<Parameter<'_>> {
    sig.inputs.iter().enumerate().filter_map(|(index, input)| parameter(index, input)).collect()
}

/// The host function of a kernel that has errors: its signature, for those who call it. Its body does nothing, and asks nothing of the types
/// that are refused already. The twin stands in it, for what `rustc` has to say; not where an error of ours stands in the kernel itself: `rustc`
/// would often report the same thing again, in its own terms; `named` stands there instead. A parameter whose type is refused may be anything.
pub(super) fn refused_function(
    function: &syn::ItemFn,
    attributes: &KernelAttributes,
    errors: &Diagnostics,
    named: &TokenStream,
) -> TokenStream {
    let keeps_twin = !super::stand_in(errors, &function.sig, &function.block);
    let mut function = function.clone();
    let bounded = function.sig.generics.clone();
    for param in bounded.type_params() {
        let ident = &param.ident;
        let clause = function.sig.generics.make_where_clause();
        clause.predicates.push(syn::parse_quote!(#ident: ::warpwright::__private::Element));
    }
    let syn::ItemFn { attrs, vis, sig, .. } = &function;
    let parameters = host_parameters(sig);
    let is_refused: Vec<bool> = parameters.iter().map(|parameter| super::is_refused(errors, parameter.host_type())).collect();
    let inputs = parameters.iter().zip(&is_refused).map(|(parameter, is_refused)| {
        let (ident, ty) = (&parameter.ident, parameter.host_type());
        if *is_refused { quote!(#ident: impl ::core::marker::Sized) } else { quote!(#ident: #ty) }
    });
    let signature = host_signature(sig, inputs);
    let variants = (!is_refused.contains(&true)).then(|| variants_function(&function, attributes, true));
    let twin = keeps_twin.then(|| twin_function(&function));
    let twin = twin.map_or_else(|| named.clone(), |twin| quote!(#[allow(dead_code)] #twin));
    let names = parameters.iter().map(|parameter| &parameter.ident);
    quote! {
        #(#attrs)* #vis #signature {
            #twin
            let _ = (#(#names,)*);
            ::core::unreachable!()
        }
        #variants
    }
}

/// The host function and, in it, the twin (`function`, rewritten already) and the definition. `item` is an expression for the unit,
/// `warnings` are statements.
pub(super) fn host_function(
    function: &syn::ItemFn,
    attributes: &KernelAttributes,
    item: &TokenStream,
    warnings: &TokenStream,
) -> TokenStream {
    let syn::ItemFn { attrs, vis, sig, .. } = function;
    let parameters = host_parameters(sig);
    let signature = host_signature(sig, parameters.iter().map(Parameter::host_input));
    let variants = variants_function(function, attributes, false);
    let twin = twin_function(function);
    let named = attribute_values(&sig.generics, attributes);
    let definition = definition(&sig.generics, &parameters, item);
    let generics = sig.generics.params.iter().filter_map(generic_argument);
    let entry = twin_entry(&sig.generics, &parameters);
    let arguments = parameters.iter().map(|Parameter { ident, passing, .. }| {
        let method = passing.method();
        quote_spanned!(ident.span()=> .#method(#ident))
    });
    quote! {
        #(#attrs)* #vis #signature {
            #twin
            #named
            #warnings
            static __WARPWRIGHT_DEFINITION: ::warpwright::__private::KernelDefinition = #definition;
            let __warpwright_arguments = ::warpwright::__private::Arguments::new() #(#arguments)*;
            ::warpwright::Launch::new(&__WARPWRIGHT_DEFINITION, const { &[#(#generics),*] }, #entry, __warpwright_arguments)
        }
        #variants
    }
}

/// The values of the attribute's arguments that are more than literals, so that `rustc` knows what they name is used, and checks it.
fn attribute_values(generics: &syn::Generics, attributes: &KernelAttributes) -> TokenStream {
    let is_type = |name: &Ident| generics.type_params().any(|param| param.ident == *name);
    let variants = attributes.variants.axes.iter().filter(|(name, _)| !is_type(name)).flat_map(|(_, values)| values);
    let values: Vec<_> = attributes.values().chain(variants).filter(|value| !matches!(value, syn::Expr::Lit(_))).collect();
    if values.is_empty() { TokenStream::new() } else { quote!(let _ = (#(#values,)*);) }
}

/// The parameter, its name made up where the source has a pattern (which is refused elsewhere).
fn parameter(index: usize, input: &syn::FnArg) -> Option<Parameter<'_>> {
    let syn::FnArg::Typed(typed) = input else { return None };
    let ident = match &*typed.pat {
        syn::Pat::Ident(pat) => pat.ident.clone(),
        other => format_ident!("__warpwright_{index}", span = other.span()),
    };
    Some(Parameter { ident, written: &typed.ty, passing: Passing::of(&typed.ty) })
}

impl<'f> Passing<'f> {
    pub(super) fn of(ty: &'f syn::Type) -> Passing<'f> {
        let ty = ungrouped(ty);
        if has_lifetime(ty) {
            return Passing::Group(ty);
        }
        let syn::Type::Reference(reference) = ty else { return Passing::Value(ty) };
        let syn::Type::Path(path) = ungrouped(&reference.elem) else { return Passing::Value(ty) };
        let Some(segment) = path.path.segments.last() else { return Passing::Value(ty) };
        let Some(element) = only_type_argument(segment) else { return Passing::Value(ty) };
        match (segment.ident.to_string().as_str(), reference.mutability) {
            ("Global", None) => Passing::Global(element),
            ("Global", Some(_)) => Passing::GlobalMut(element),
            ("Constant", None) => Passing::Constant(element),
            ("Texture2d", None) => Passing::Texture(element),
            ("Matrix", None) => Passing::Matrix(element),
            ("Matrix", Some(_)) => Passing::MatrixMut(element),
            ("MatrixBatch", None) => Passing::MatrixBatch(element),
            ("MatrixBatch", Some(_)) => Passing::MatrixBatchMut(element),
            _ => Passing::Value(ty),
        }
    }

    /// The parameter's type on the host, whose memory lives as long as this.
    pub(super) fn host_type(&self, lifetime: &syn::Lifetime) -> TokenStream {
        match self {
            Passing::Value(ty) => quote!(#ty),
            Passing::Global(element) => quote!(&#lifetime ::warpwright::Buffer<#element>),
            Passing::GlobalMut(element) => quote!(&#lifetime mut ::warpwright::Buffer<#element>),
            Passing::Constant(inner) => quote!(&#lifetime ::warpwright::ConstantBuffer<#inner>),
            Passing::Texture(texel) => quote!(&#lifetime ::warpwright::Texture<#texel>),
            Passing::Matrix(element) => quote!(::warpwright::BufferMatrix<#lifetime, #element>),
            Passing::MatrixMut(element) => quote!(::warpwright::BufferMatrixMut<#lifetime, #element>),
            Passing::MatrixBatch(element) => quote!(::warpwright::BufferMatrixBatch<#lifetime, #element>),
            Passing::MatrixBatchMut(element) => quote!(::warpwright::BufferMatrixBatchMut<#lifetime, #element>),
            Passing::Group(ty) => group_on_host(ty, lifetime),
        }
    }

    /// The method of `Launch` that takes it.
    pub(super) fn method(&self) -> Ident {
        let name = match self {
            Passing::Value(_) => "value",
            Passing::Global(_) => "global",
            Passing::GlobalMut(_) => "global_mut",
            Passing::Constant(_) => "constant",
            Passing::Texture(_) => "texture",
            Passing::Matrix(_) => "matrix",
            Passing::MatrixMut(_) => "matrix_mut",
            Passing::MatrixBatch(_) => "matrix_batch",
            Passing::MatrixBatchMut(_) => "matrix_batch_mut",
            Passing::Group(_) => "group",
        };
        Ident::new(name, Span::call_site())
    }

    /// The variant of `ParameterKind`.
    pub(super) fn kind(&self) -> TokenStream {
        match self {
            Passing::Value(_) => quote!(Value),
            Passing::Global(_) => quote!(Global),
            Passing::GlobalMut(_) => quote!(GlobalMut),
            Passing::Constant(_) => quote!(Constant),
            Passing::Texture(_) => quote!(Texture),
            Passing::Matrix(_) => quote!(Group(::warpwright::__private::MATRIX)),
            Passing::MatrixMut(_) => quote!(Group(::warpwright::__private::MATRIX_MUT)),
            Passing::MatrixBatch(_) => quote!(Group(::warpwright::__private::MATRIX_BATCH)),
            Passing::MatrixBatchMut(_) => quote!(Group(::warpwright::__private::MATRIX_BATCH_MUT)),
            Passing::Group(ty) => {
                // Of which types its elements are makes no difference here, and a `static` could not name them.
                let ty = without_arguments(ty);
                quote!(Group(<#ty>::__WARPWRIGHT_PARAMETERS))
            }
        }
    }

    /// The handle of the argument, out of `TwinArguments`; `index` counts the parameters that groups are made of one by one.
    pub(super) fn twin_handle(&self, index: &TokenStream) -> TokenStream {
        match self {
            Passing::Value(ty) => quote!(arguments.value::<#ty>(#index)),
            Passing::Global(element) => quote!(arguments.global::<#element>(#index)),
            Passing::GlobalMut(element) => quote!(arguments.global_mut::<#element>(#index)),
            Passing::Constant(inner) => quote!(arguments.constant::<#inner>(#index)),
            Passing::Texture(texel) => quote!(arguments.texture::<#texel>(#index)),
            Passing::Matrix(element) | Passing::MatrixMut(element) => quote!(arguments.matrix::<#element>(#index)),
            Passing::MatrixBatch(element) | Passing::MatrixBatchMut(element) => quote!(arguments.matrix_batch::<#element>(#index)),
            Passing::Group(ty) => quote!(<#ty>::__warpwright_group(&mut <#ty>::__warpwright_handles(arguments, #index))),
        }
    }

    /// The argument as the twin takes it.
    fn twin_argument(&self, index: &TokenStream) -> TokenStream {
        let handle = self.twin_handle(index);
        match self {
            Passing::Global(_) | Passing::Texture(_) | Passing::Matrix(_) | Passing::MatrixBatch(_) => quote!(&#handle),
            Passing::GlobalMut(_) | Passing::MatrixMut(_) | Passing::MatrixBatchMut(_) => quote!(&mut #handle),
            Passing::Value(_) | Passing::Constant(_) | Passing::Group(_) => handle,
        }
    }

    /// How many parameters a launch passes for it, if that is more than one.
    fn several(&self) -> Option<TokenStream> {
        match self {
            Passing::Matrix(_) | Passing::MatrixMut(_) => Some(quote!(::warpwright::__private::MATRIX.len())),
            Passing::MatrixBatch(_) | Passing::MatrixBatchMut(_) => Some(quote!(::warpwright::__private::MATRIX_BATCH.len())),
            Passing::Group(ty) => Some(quote!(<#ty>::__WARPWRIGHT_PARAMETERS.len())),
            Passing::Value(_) | Passing::Global(_) | Passing::GlobalMut(_) | Passing::Constant(_) | Passing::Texture(_) => None,
        }
    }
}

/// How long the memory lives that a launch borrows.
fn launch_lifetime() -> syn::Lifetime {
    syn::Lifetime::new("'launch", Span::call_site())
}

/// `Particles<'_>`: what a group of parameters is known by.
fn has_lifetime(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else { return false };
    let Some(syn::PathArguments::AngleBracketed(list)) = path.path.segments.last().map(|segment| &segment.arguments) else { return false };
    list.args.iter().any(|argument| matches!(argument, syn::GenericArgument::Lifetime(_)))
}

/// `sim::Particles<'_, f32>` → `sim::ParticlesBuffers<'launch, f32>`.
fn group_on_host(ty: &syn::Type, lifetime: &syn::Lifetime) -> TokenStream {
    let mut ty = ty.clone();
    if let syn::Type::Path(path) = &mut ty
        && let Some(last) = path.path.segments.last_mut()
    {
        last.ident = host_name(&last.ident);
        if let syn::PathArguments::AngleBracketed(list) = &mut last.arguments {
            for argument in &mut list.args {
                if let syn::GenericArgument::Lifetime(written) = argument {
                    *written = lifetime.clone();
                }
            }
        }
    }
    ty.into_token_stream()
}

/// `sim::Particles<'_, f32>` → `sim::Particles`.
fn without_arguments(ty: &syn::Type) -> TokenStream {
    let mut ty = ty.clone();
    if let syn::Type::Path(path) = &mut ty
        && let Some(last) = path.path.segments.last_mut()
    {
        last.arguments = syn::PathArguments::None;
    }
    ty.into_token_stream()
}

/// Types that come through a `macro_rules!` stand in invisible groups.
fn ungrouped(ty: &syn::Type) -> &syn::Type {
    match ty {
        syn::Type::Group(group) => ungrouped(&group.elem),
        syn::Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

fn only_type_argument(segment: &syn::PathSegment) -> Option<&syn::Type> {
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first() {
        Some(syn::GenericArgument::Type(ty)) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

/// `fn name<'launch, …>(a: f32, x: &'launch Buffer<f32>) -> Launch<'launch> where …`.
fn host_signature(sig: &syn::Signature, inputs: impl Iterator<Item = TokenStream>) -> TokenStream {
    let syn::Signature { fn_token, ident, generics, .. } = sig;
    let params = &generics.params;
    let bounds = &generics.where_clause;
    quote!(#fn_token #ident<'launch, #params>(#(#inputs),*) -> ::warpwright::Launch<'launch> #bounds)
}

/// The twin: the user's function under a name that is ours.
fn twin_function(function: &syn::ItemFn) -> TokenStream {
    let mut sig = function.sig.clone();
    sig.ident = Ident::new("__warpwright_twin", sig.ident.span());
    let block = &function.block;
    // A kernel's own idiom (indices, one statement per access) is not what these lints are about; the arguments are counted on the host.
    quote!(#[allow(clippy::assign_op_pattern, clippy::needless_range_loop, clippy::too_many_arguments)] #sig #block)
}

fn definition(generics: &syn::Generics, parameters: &[Parameter<'_>], item: &TokenStream) -> TokenStream {
    let parameters = parameters.iter().map(|Parameter { ident, passing, .. }| {
        let (name, kind) = (ident.to_string(), passing.kind());
        quote!(::warpwright::__private::Parameter { name: #name, kind: ::warpwright::__private::ParameterKind::#kind })
    });
    let generics = generics.params.iter().filter_map(generic_ident).map(Ident::to_string);
    quote! {{
        const ITEM: ::warpwright::__private::DeviceItem = #item;
        ::warpwright::__private::KernelDefinition {
            name: ITEM.name,
            item: ITEM,
            parameters: &[#(#parameters),*],
            generics: &[#(#generics),*],
        }
    }}
}

/// The closure that calls the twin of this instance.
fn twin_entry(generics: &syn::Generics, parameters: &[Parameter<'_>]) -> TokenStream {
    let names: Vec<&Ident> = generics.params.iter().filter_map(generic_ident).collect();
    let turbofish = if names.is_empty() { quote!() } else { quote!(::<#(#names),*>) };
    let arguments = parameters.iter().enumerate().map(|(at, parameter)| {
        // Groups and matrices in front are several parameters each.
        let groups: Vec<TokenStream> = parameters[..at].iter().filter_map(|before| before.passing.several()).collect();
        let plain = at - groups.len();
        parameter.passing.twin_argument(&quote!(#plain #(+ #groups)*))
    });
    // A kernel without parameters does not look at its arguments.
    let name = if parameters.is_empty() { quote!(_) } else { quote!(arguments) };
    quote!(|#name: &::warpwright::__private::TwinArguments<'_>| __warpwright_twin #turbofish (#(#arguments),*))
}

pub(super) fn generic_ident(param: &syn::GenericParam) -> Option<&Ident> {
    match param {
        syn::GenericParam::Type(param) => Some(&param.ident),
        syn::GenericParam::Const(param) => Some(&param.ident),
        _ => None,
    }
}

/// The value of a generic parameter, as an expression of type `GenericArgument`.
pub(super) fn generic_argument(param: &syn::GenericParam) -> Option<TokenStream> {
    match param {
        syn::GenericParam::Type(param) => {
            let ident = &param.ident;
            let ty = quote_spanned!(ident.span()=> <#ident as ::warpwright::__private::Element>::TYPE);
            Some(quote!(::warpwright::__private::GenericArgument::Type(#ty)))
        }
        syn::GenericParam::Const(param) => {
            let ident = &param.ident;
            let kind = scalar_kind(&param.ty);
            Some(quote! {
                ::warpwright::__private::GenericArgument::Const(::warpwright::__private::ScalarKind::#kind, #ident as u64)
            })
        }
        _ => None,
    }
}

/// `usize` → `Usize`. Other types than the language's are refused elsewhere.
fn scalar_kind(ty: &syn::Type) -> Ident {
    let name = match ungrouped(ty) {
        syn::Type::Path(path) => path.path.get_ident().map(Ident::to_string),
        _ => None,
    };
    const KINDS: [(&str, &str); 11] = [
        ("bool", "Bool"),
        ("i8", "I8"),
        ("i16", "I16"),
        ("i32", "I32"),
        ("i64", "I64"),
        ("isize", "Isize"),
        ("u8", "U8"),
        ("u16", "U16"),
        ("u32", "U32"),
        ("u64", "U64"),
        ("usize", "Usize"),
    ];
    let kind = KINDS.iter().find(|(rust, _)| name.as_deref() == Some(rust)).map_or("Usize", |(_, kind)| kind);
    Ident::new(kind, Span::call_site())
}
