//! Groups of parameters: a `#[device]` struct with a lifetime, whose fields are buffers and values, and which a kernel takes as one parameter.
//!
//! The struct itself is what the kernel's code sees. Beside it stands its host side, `ParticlesBuffers` for `Particles`, with `&Buffer` where
//! the kernel has `&Global`; a launch takes its fields one by one, so that everything behind it knows plain parameters only. The twin
//! gets the struct back from the arguments of a launch: first what owns the handles, then the struct that borrows them.

use super::host::Passing;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// Whether a struct is one.
pub(super) fn is_group(generics: &syn::Generics) -> bool {
    generics.lifetimes().next().is_some()
}

/// The name of the host side.
pub(super) fn host_name(name: &Ident) -> Ident {
    format_ident!("{name}Buffers", span = name.span())
}

/// What stands beside the struct.
pub(super) fn group(item: &syn::ItemStruct, cfgs: &[&syn::Attribute]) -> TokenStream {
    let syn::ItemStruct { ident, vis, generics, .. } = item;
    // Without a lifetime there is no group, and other forms are refused.
    let Some(lifetime) = generics.lifetimes().next().map(|param| &param.lifetime) else { return TokenStream::new() };
    let fields: Vec<(&syn::Visibility, &Ident, Passing<'_>)> =
        item.fields.iter().filter_map(|field| Some((&field.vis, field.ident.as_ref()?, Passing::of(&field.ty)))).collect();
    let (params, arguments, bounds) = generics.split_for_impl();
    let host = host_name(ident);
    let doc = format!("The host's side of [`{ident}`]: a launch takes it as the argument.");
    let host_fields = fields.iter().map(|(vis, name, passing)| {
        let ty = passing.host_type(lifetime);
        quote!(#[allow(missing_docs)] #vis #name: #ty)
    });
    let pushed = fields.iter().map(|(_, name, passing)| {
        let method = passing.method();
        quote!(.#method(self.#name))
    });
    let parameters = fields.iter().map(|(_, name, passing)| {
        let (name, kind) = (name.to_string(), passing.kind());
        quote!(::warpwright::__private::Parameter { name: #name, kind: ::warpwright::__private::ParameterKind::#kind })
    });
    let owned: Vec<TokenStream> = fields.iter().map(|(_, _, passing)| owned_type(passing, lifetime)).collect();
    let taken = fields.iter().enumerate().map(|(at, (_, _, passing))| passing.twin_handle(&quote!(first + #at)));
    let parts: Vec<Ident> = (0..fields.len()).map(|at| format_ident!("part_{at}")).collect();
    let given = fields.iter().zip(&parts).map(|((_, name, passing), part)| match passing {
        Passing::Global(_) | Passing::GlobalMut(_) | Passing::Texture(_) => quote!(#name: #part),
        _ => quote!(#name: *#part),
    });
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #[allow(missing_debug_implementations)]
        #vis struct #host #generics #bounds { #(#host_fields),* }

        #(#cfgs)*
        impl #params ::warpwright::__private::ParameterGroup<#lifetime> for #host #arguments #bounds {
            fn push(self, arguments: ::warpwright::__private::Arguments<#lifetime>) -> ::warpwright::__private::Arguments<#lifetime> {
                arguments #(#pushed)*
            }
        }

        #(#cfgs)*
        #[doc(hidden)]
        #[allow(clippy::type_complexity, missing_docs)]
        impl #params #ident #arguments #bounds {
            pub const __WARPWRIGHT_PARAMETERS: &'static [::warpwright::__private::Parameter] = &[#(#parameters),*];

            pub fn __warpwright_handles(arguments: &#lifetime ::warpwright::__private::TwinArguments<'_>, first: usize) -> (#(#owned,)*) {
                (#(#taken,)*)
            }

            pub fn __warpwright_group(handles: &#lifetime mut (#(#owned,)*)) -> Self {
                let (#(#parts,)*) = handles;
                #ident { #(#given),* }
            }
        }

    }
}

/// What owns a field's handle.
fn owned_type(passing: &Passing<'_>, lifetime: &syn::Lifetime) -> TokenStream {
    match passing {
        Passing::Global(element) | Passing::GlobalMut(element) => quote!(::warpwright::prelude::Global<#element>),
        Passing::Texture(texel) => quote!(::warpwright::prelude::Texture2d<#texel>),
        Passing::Constant(inner) => quote!(&#lifetime ::warpwright::prelude::Constant<#inner>),
        // A group holds no matrix, which has been said.
        Passing::Value(ty)
        | Passing::Group(ty)
        | Passing::Matrix(ty)
        | Passing::MatrixMut(ty)
        | Passing::MatrixBatch(ty)
        | Passing::MatrixBatchMut(ty) => ty.to_token_stream(),
    }
}
