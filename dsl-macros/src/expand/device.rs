//! `#[device]`: functions, structs, enums and `impl`s that kernels of any crate may name.
//!
//! Beside the item, which stays as it is but for what `twin` rewrites, stands what takes a kernel from the item's path to its source:
//! an implementation of `DeviceType`. A function has no type of its own, so an empty enum of the function's name is put into the
//! namespace of types: `use other::helper` then imports both.

use super::group::{group, is_group};
use super::source::{UnitSource, mark};
use super::{check, refuse_item, twin};
use crate::diagnostics::compile_errors;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::ir::Type;
use warpwright_codegen::syntax::repr_align;

/// `#[device] item`.
pub(crate) fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(refused) = super::refuse_nesting(&item) {
        return refused;
    }
    let wanted = "a function, a struct, an enum or an `impl`";
    let parsed: syn::Item = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => return refuse_item("device", wanted, &error, item),
    };
    let mut findings = Diagnostics::new();
    if let Some(first) = arguments.into_iter().next() {
        findings.push(Diagnostic::error(first.span(), "`#[device]` takes no arguments").help("write `#[device]`"));
    }
    if let syn::Item::Fn(function) = &parsed
        && let Some(receiver) = function.sig.receiver()
    {
        // Within an `impl` there is no place for what a device function needs beside it.
        let error = Diagnostic::error(receiver.self_token.span(), "a method is marked by its `impl`");
        findings.push(error.help("write `#[device]` before the `impl`, and remove it here"));
        let errors = compile_errors(&findings);
        return quote!(#item #errors);
    }
    let mark = mark("device", TokenStream::new());
    let mut unit = parsed.clone();
    match &mut unit {
        syn::Item::Fn(item) => item.attrs.insert(0, mark.clone()),
        syn::Item::Struct(item) => item.attrs.insert(0, mark.clone()),
        syn::Item::Enum(item) => item.attrs.insert(0, mark.clone()),
        syn::Item::Impl(item) => item.attrs.insert(0, mark.clone()),
        _ => return refuse_item("device", wanted, &syn::Error::new(parsed.span(), ""), item),
    }
    let items = vec![unit];
    let mut found = check::check_items(&items, &parsed);
    findings.append(std::mem::take(&mut found.errors));
    found.errors = findings.clone();
    let calls = twin::Calls::of(item.clone());
    let text = [mark.into_token_stream(), item].into_iter().collect();
    let source = |name: String| UnitSource::new(text, &items, name, &found);
    let source = match &parsed {
        syn::Item::Fn(item) => source(item.sig.ident.to_string()),
        syn::Item::Struct(item) => source(item.ident.to_string()).with_methods_of(&item.ident),
        syn::Item::Enum(item) => source(item.ident.to_string()).with_methods_of(&item.ident),
        _ => source(String::new()),
    };
    let source = source.item_expression();
    let mut parsed = parsed;
    if let syn::Item::Struct(item) = &mut parsed {
        lay_out(item, &findings);
    }
    if let syn::Item::Fn(function) = &mut parsed {
        leave_body_out(function, &findings, &super::source::named(&items, &found));
    }
    let marked = mark_item(parsed, &source, calls, &mut twin::Slots::default());
    let errors = compile_errors(&findings);
    quote!(#marked #errors)
}

/// Gives a struct that is refused for want of its layout what it wants, so that `rustc` does not ask for the same.
pub(super) fn lay_out(item: &mut syn::ItemStruct, errors: &Diagnostics) {
    if !errors.iter().any(|error| error.span.start() == item.ident.span().start()) {
        return;
    }
    // Fields of other types may not be `Copy`.
    let is_scalar = |field: &syn::Field| matches!(&field.ty, syn::Type::Path(path) if path.path.get_ident().is_some_and(|ident| ident.to_string().parse::<Type>().is_ok() || ident == "usize"));
    if !item.fields.iter().all(is_scalar) {
        return;
    }
    let derives = item.attrs.iter().filter(|attr| attr.path().is_ident("derive")).map(|attr| attr.to_token_stream().to_string());
    let derives: String = derives.collect();
    if !derives.contains("Clone") {
        item.attrs.push(syn::parse_quote!(#[derive(Clone)]));
    }
    if !derives.contains("Copy") {
        item.attrs.push(syn::parse_quote!(#[derive(Copy)]));
    }
}

/// Leaves out the body of a function that an error of ours stands in: what `rustc` would say of it is often the same thing again. `named` stands in its place.
pub(super) fn leave_body_out(function: &mut syn::ItemFn, errors: &Diagnostics, named: &TokenStream) {
    twin::forget_hints(&mut function.sig);
    if super::stand_in(errors, &function.sig, &function.block) {
        // Nor does it ask what is refused as a type.
        for input in &mut function.sig.inputs {
            if let syn::FnArg::Typed(typed) = input
                && super::is_refused(errors, typed.ty.to_token_stream())
            {
                *typed.ty = syn::parse_quote!(impl ::core::marker::Sized);
            }
        }
        if super::is_refused(errors, function.sig.output.to_token_stream()) {
            function.sig.output = syn::parse_quote!(-> !);
        }
        function.attrs.push(syn::parse_quote!(#[allow(unused_variables, unused_mut)]));
        *function.block = syn::parse_quote!({ #named ::core::unreachable!() });
    }
}

/// A device item with its mark. `source` is an expression of type `DeviceItem`.
pub(super) fn mark_item(item: syn::Item, source: &TokenStream, calls: twin::Calls, slots: &mut twin::Slots) -> TokenStream {
    match item {
        syn::Item::Fn(item) => mark_function(item, source, calls, slots),
        syn::Item::Struct(mut item) => {
            add_defaults(&mut item.generics);
            let mark = mark_struct(&item, source);
            quote!(#item #mark)
        }
        syn::Item::Enum(item) => {
            let mark = mark_enum(&item, source);
            quote!(#item #mark)
        }
        syn::Item::Impl(mut item) => {
            twin::rewrite_impl(&mut item, calls, slots);
            let mark = mark_impl(&item, source);
            quote!(#item #mark)
        }
        other => other.into_token_stream(),
    }
}

/// Gives the parameters of a generic struct defaults where they have none. Its source is the same whatever they are, and what asks for
/// it knows the struct's name only: `<Complex as DeviceType>` means the struct with its defaults.
fn add_defaults(generics: &mut syn::Generics) {
    for param in &mut generics.params {
        match param {
            syn::GenericParam::Type(param) if param.default.is_none() => {
                let is_int = |bound: &syn::TypeParamBound| matches!(bound, syn::TypeParamBound::Trait(bound) if is_named_int(&bound.path));
                let ty = if param.bounds.iter().any(is_int) { syn::parse_quote!(i32) } else { syn::parse_quote!(f32) };
                param.default = Some((syn::Token![=](Span::call_site()), ty));
            }
            syn::GenericParam::Const(param) if param.default.is_none() => {
                let is_bool = matches!(&param.ty, syn::Type::Path(path) if path.path.is_ident("bool"));
                let value = if is_bool { syn::parse_quote!(false) } else { syn::parse_quote!(1) };
                param.default = Some((syn::Token![=](Span::call_site()), value));
            }
            _ => {}
        }
    }
}

fn is_named_int(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident == "Int")
}

/// The function, an empty enum of the same name, and the way from it to the source.
fn mark_function(mut item: syn::ItemFn, source: &TokenStream, calls: twin::Calls, slots: &mut twin::Slots) -> TokenStream {
    twin::rewrite_function(&mut item.sig, &mut item.block, calls, slots);
    let (name, vis) = (&item.sig.ident, &item.vis);
    let cfgs = cfgs(&item.attrs);
    // At the attribute's place: `rustc` then knows the enum for generated code and lints it less.
    let mut marker = name.clone();
    marker.set_span(name.span().resolved_at(Span::call_site()));
    let device_type = device_type(&quote!(#marker), &syn::Generics::default(), &cfgs, source);
    quote! {
        #item
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #marker {}
        #device_type
    }
}

/// `impl DeviceType for …`.
fn device_type(ty: &TokenStream, generics: &syn::Generics, cfgs: &[&syn::Attribute], source: &TokenStream) -> TokenStream {
    let (params, arguments, bounds) = generics.split_for_impl();
    quote! {
        #(#cfgs)*
        impl #params ::warpwright::__private::DeviceType for #ty #arguments #bounds {
            fn item() -> &'static ::warpwright::__private::DeviceItem {
                static ITEM: ::warpwright::__private::DeviceItem = #source;
                &ITEM
            }
        }
    }
}

fn cfgs(attrs: &[syn::Attribute]) -> Vec<&syn::Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")).collect()
}

/// A struct is a `DeviceType`, and, without generics, an `Element` if its fields are.
fn mark_struct(item: &syn::ItemStruct, source: &TokenStream) -> TokenStream {
    let ident = &item.ident;
    let cfgs = cfgs(&item.attrs);
    let device_type = device_type(&quote!(#ident), &item.generics, &cfgs, source);
    if is_group(&item.generics) {
        let group = group(item, &cfgs);
        return quote!(#device_type #group);
    }
    if !item.generics.params.is_empty() {
        return device_type;
    }
    let element = element(ident, &cfgs, &struct_type(item), &struct_check(item));
    quote! {
        #device_type
        #element
    }
}

/// `unsafe impl Element`, of this `ElementType`. rustc evaluates `check` with it, which holds the item to what `ty` says of it: another
/// attribute may have changed it since.
fn element(ident: &Ident, cfgs: &[&syn::Attribute], ty: &TokenStream, check: &TokenStream) -> TokenStream {
    quote! {
        #(#cfgs)*
        // SAFETY: `ty` has all fields at the places that rustc gave them, or all variants, and `check` compiles.
        unsafe impl ::warpwright::__private::Element for #ident {
            const TYPE: ::warpwright::__private::ElementType = {
                #check
                #ty
            };
        }
    }
}

/// Compiles only if the struct has exactly the fields that stand in the source, of these types.
fn struct_check(item: &syn::ItemStruct) -> TokenStream {
    let ident = &item.ident;
    let (mut patterns, mut types) = (Vec::new(), Vec::new());
    for (i, (member, field)) in item.fields.members().zip(&item.fields).enumerate() {
        let (ty, cfgs, name) = (&field.ty, cfgs(&field.attrs), format_ident!("field_{i}"));
        patterns.push(quote!(#(#cfgs)* #member: #name));
        types.push(quote!(#(#cfgs)* let _: #ty = #name;));
    }
    quote!(const _: fn(#ident) = |#ident { #(#patterns),* }| { #(#types)* };)
}

/// Compiles only if the enum has exactly the variants that stand in the source, and the size of its integer.
fn enum_check(item: &syn::ItemEnum, repr: &str) -> TokenStream {
    let (ident, repr) = (&item.ident, Ident::new(repr, Span::call_site()));
    let arms = item.variants.iter().map(|variant| {
        let (variant, cfgs) = (&variant.ident, cfgs(&variant.attrs));
        quote!(#(#cfgs)* #ident::#variant => {})
    });
    quote! {
        const _: fn(#ident) = |value| match value { #(#arms)* };
        const _: () = ::core::assert!(::core::mem::size_of::<#ident>() == ::core::mem::size_of::<::core::primitive::#repr>());
    }
}

/// The `ElementType` of a struct: its fields, with the places that rustc gave them.
fn struct_type(item: &syn::ItemStruct) -> TokenStream {
    let ident = &item.ident;
    let id = type_name(ident);
    let least_align = usize::try_from(repr_align(&item.attrs)).unwrap_or(1);
    let fields = item.fields.members().zip(&item.fields).map(|(member, field)| {
        let (ty, cfgs) = (&field.ty, cfgs(&field.attrs));
        let name = match &member {
            syn::Member::Named(ident) => ident.unraw().to_string(),
            syn::Member::Unnamed(index) => index.index.to_string(),
        };
        // At the field's own place, so that `rustc` points there if it is not an `Element`.
        let ty = quote_spanned!(ty.span()=> <#ty as ::warpwright::__private::Element>::TYPE);
        quote! {
            #(#cfgs)*
            ::warpwright::__private::Field { name: #name, ty: #ty, offset: ::core::mem::offset_of!(#ident, #member) }
        }
    });
    quote! {{
        const __WARPWRIGHT_FIELDS: ::warpwright::__private::Fields = ::warpwright::__private::Fields {
            size: ::core::mem::size_of::<#ident>(),
            align: ::core::mem::align_of::<#ident>(),
            least_align: #least_align,
            list: &[#(#fields),*],
        };
        const __WARPWRIGHT_STRUCT: ::warpwright::__private::StructType =
            ::warpwright::__private::StructType { id: #id, fields: &__WARPWRIGHT_FIELDS };
        ::warpwright::__private::ElementType::Struct(&__WARPWRIGHT_STRUCT)
    }}
}

/// The `ElementType` of an enum held by this integer: `rustc` says which values are its variants.
fn enum_type(item: &syn::ItemEnum, repr: &str) -> TokenStream {
    let ident = &item.ident;
    let id = type_name(ident);
    let discriminants = item.variants.iter().map(|variant| {
        let (variant, cfgs) = (&variant.ident, cfgs(&variant.attrs));
        quote!(#(#cfgs)* { #ident::#variant as i128 })
    });
    quote! {{
        const __WARPWRIGHT_ENUM: ::warpwright::__private::EnumType =
            ::warpwright::__private::EnumType { id: #id, repr: #repr, discriminants: &[#(#discriminants),*] };
        ::warpwright::__private::ElementType::Enum(&__WARPWRIGHT_ENUM)
    }}
}

/// The `TypeName` of a type: crate, module and place in the file tell it from others of its name.
fn type_name(ident: &Ident) -> TokenStream {
    let name = ident.to_string();
    let place = format!("::{name} at ");
    quote! {
        ::warpwright::__private::TypeName {
            name: #name,
            place: ::core::concat!(::core::module_path!(), #place, ::core::file!(), ":", ::core::line!(), ":", ::core::column!()),
            item: <#ident as ::warpwright::__private::DeviceType>::item,
        }
    }
}

/// A C-like enum is a `DeviceType` and can be cast; with an integer `repr` it is an `Element` too.
fn mark_enum(item: &syn::ItemEnum, source: &TokenStream) -> TokenStream {
    let ident = &item.ident;
    let cfgs = cfgs(&item.attrs);
    let device_type = device_type(&quote!(#ident), &item.generics, &cfgs, source);
    let is_c_like = item.variants.iter().all(|variant| variant.fields.is_empty());
    if !is_c_like || !item.generics.params.is_empty() || item.variants.is_empty() {
        return device_type;
    }
    let element = integer_repr(&item.attrs).map(|repr| element(ident, &cfgs, &enum_type(item, &repr), &enum_check(item, &repr)));
    quote! {
        #device_type
        #element
        #(#cfgs)*
        impl ::warpwright::__private::CastSource for #ident {
            fn to_universal(self) -> ::warpwright::__private::Universal {
                ::warpwright::__private::Universal::Signed(self as i64)
            }
        }
    }
}

/// The integer type of `#[repr(u32)]`.
fn integer_repr(attrs: &[syn::Attribute]) -> Option<String> {
    let is_integer = |text: &String| text.parse::<Type>().is_ok_and(|ty| ty.is_int());
    let argument = |attr: &syn::Attribute| Some(attr.parse_args::<Ident>().ok()?.to_string());
    attrs.iter().filter(|attr| attr.path().is_ident("repr")).filter_map(argument).find(is_integer)
}

/// The methods' source hangs on the type as an inherent function: whoever needs the type asks for it, and gets an empty unit where
/// there is none (see `DeviceMethods`).
fn mark_impl(item: &syn::ItemImpl, source: &TokenStream) -> TokenStream {
    let (params, _, bounds) = item.generics.split_for_impl();
    let ty = &item.self_ty;
    let cfgs = cfgs(&item.attrs);
    if item.trait_.is_some() {
        return TokenStream::new();
    }
    quote! {
        #(#cfgs)*
        impl #params #ty #bounds {
            #[doc(hidden)]
            #[allow(dead_code)]
            pub fn __warpwright_methods() -> &'static ::warpwright::__private::DeviceItem {
                static ITEM: ::warpwright::__private::DeviceItem = #source;
                &ITEM
            }
        }
    }
}
