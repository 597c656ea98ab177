//! Signatures of kernels and device functions: generics, parameters, results.

use super::annotations::check_on_function;
use super::attributes::{KernelAttributes, is_named, literal_int};
use super::cache;
use super::layout::written;
use super::vocabulary::{is_scalar, missing};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::nearest::nearest;
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;

/// Traits that may bound a type parameter, and say what it can be.
const ELEMENT_BOUNDS: &[&str] = &["Float", "Num", "Int", "Element", "Texel", "FloatTexel"];

/// Memory of the device that parameters lead to.
const MEMORY: &[&str] = &["Global", "Constant", "Texture2d", "Matrix", "MatrixBatch"];

/// Traits of Rust that every element has, so that naming them does no harm.
const HARMLESS_BOUNDS: &[&str] = &["Copy", "Clone", "Send", "Sync", "Sized", "PartialEq", "PartialOrd", "SumOf"];

/// Types of const generics.
const CONST_TYPES: &[&str] = &["bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];

/// Checks a kernel's attribute, generics, parameters and result.
pub(super) fn check_kernel(item: &syn::ItemFn, diagnostics: &mut Diagnostics) {
    let attributes = KernelAttributes::find(&item.attrs, diagnostics).unwrap_or_default();
    check_on_function(&item.attrs, true, diagnostics);
    let sig = &item.sig;
    check_qualifiers(sig, "kernel", diagnostics);
    if let Some(constness) = &sig.constness {
        diagnostics.push(Diagnostic::error(constness.span(), "a kernel cannot be `const`").help("remove `const`"));
    }
    if let syn::ReturnType::Type(_, ty) = &sig.output
        && !matches!(&**ty, syn::Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        let ty_text = written(ty);
        let error = Diagnostic::error(ty.span(), "a kernel returns nothing: its threads have no caller");
        let help = format!("remove `-> {ty_text}`, take a buffer, `out: &mut Global<{ty_text}>`, and end with `out[global_id().x] = …;`");
        diagnostics.push(error.help(help));
    }
    check_generics(&sig.generics, diagnostics);
    check_variants(&attributes, sig, diagnostics);
    for input in &sig.inputs {
        cache::check(input, true, diagnostics);
        match input {
            syn::FnArg::Receiver(receiver) => {
                let error = Diagnostic::error(receiver.self_token.span(), "a kernel cannot be a method");
                diagnostics.push(error.help("take the value as a parameter of its own"));
            }
            syn::FnArg::Typed(typed) => {
                check_parameter_pattern(&typed.pat, "kernel", diagnostics);
                check_kernel_parameter(&typed.ty, diagnostics);
            }
        }
    }
}

/// Checks the signature of a `#[device]` function or method. Types are the body checker's.
pub(super) fn check_device(attrs: &[syn::Attribute], sig: &syn::Signature, diagnostics: &mut Diagnostics) {
    check_on_function(attrs, false, diagnostics);
    check_qualifiers(sig, "device function", diagnostics);
    for input in &sig.inputs {
        cache::check(input, false, diagnostics);
        if let syn::FnArg::Typed(typed) = input {
            check_device_parameter(&typed.ty, diagnostics);
        }
    }
}

/// `async`, `unsafe`, `extern "C"`, `…`.
fn check_qualifiers(sig: &syn::Signature, what: &str, diagnostics: &mut Diagnostics) {
    let mut refuse = |span: Span, word: &str| {
        diagnostics.push(Diagnostic::error(span, format!("a {what} cannot be `{word}`")).help(format!("remove `{word}`")));
    };
    if let Some(token) = &sig.asyncness {
        refuse(token.span(), "async");
    }
    if let syn::Safety::Unsafe(token) = &sig.safety {
        refuse(token.span(), "unsafe");
    }
    if let Some(abi) = &sig.abi {
        refuse(abi.extern_token.span(), "extern");
    }
    if let Some(variadic) = &sig.variadic {
        refuse(variadic.dots.span(), "...");
    }
}

fn check_generics(generics: &syn::Generics, diagnostics: &mut Diagnostics) {
    for param in &generics.params {
        match param {
            syn::GenericParam::Lifetime(lifetime) => {
                let error =
                    Diagnostic::error(lifetime.lifetime.span(), "a kernel needs no lifetimes: its buffers live as long as its launch");
                diagnostics.push(error.help(format!("remove `{}`", lifetime.lifetime)));
            }
            syn::GenericParam::Const(param) => {
                let ty = written(&param.ty);
                if !CONST_TYPES.contains(&ty.as_str()) {
                    let error = Diagnostic::error(param.ty.span(), format!("a const generic of a kernel cannot be a `{ty}`"));
                    diagnostics.push(error.help("use an integer type or `bool`"));
                }
            }
            syn::GenericParam::Type(param) => check_type_parameter(param, generics.where_clause.as_ref(), diagnostics),
        }
    }
}

/// A type parameter says by its bounds what it can be.
fn check_type_parameter(param: &syn::TypeParam, clause: Option<&syn::WhereClause>, diagnostics: &mut Diagnostics) {
    let is_of_param = |predicate: &&syn::PredicateType| param.ident == predicate.bounded_ty.to_token_stream().to_string();
    let predicates = clause.into_iter().flat_map(|clause| &clause.predicates).filter_map(|predicate| match predicate {
        syn::WherePredicate::Type(predicate) => Some(predicate),
        _ => None,
    });
    let bounds = param.bounds.iter().chain(predicates.filter(is_of_param).flat_map(|predicate| &predicate.bounds));
    let mut is_element = false;
    for bound in bounds {
        let syn::TypeParamBound::Trait(bound) = bound else { continue };
        let Some(name) = bound.path.segments.last().map(|segment| segment.ident.to_string()) else { continue };
        if ELEMENT_BOUNDS.contains(&name.as_str()) {
            is_element = true;
        } else if !HARMLESS_BOUNDS.contains(&name.as_str()) {
            is_element = true;
            let error = Diagnostic::error(bound.path.span(), format!("the device does not know the trait `{name}`"));
            diagnostics.push(match nearest(&name, ELEMENT_BOUNDS.iter().copied()) {
                Some(near) => error.help(format!("write `{near}`")),
                None => error.help("type parameters of kernels are `Float`, `Num`, `Int` or `Element`"),
            });
        }
    }
    if !is_element {
        let error = Diagnostic::error(param.ident.span(), format!("`{}` needs a bound that says what it can be", param.ident));
        diagnostics.push(error.help(format!("write `{}: Element`, or `Float`, `Num`, `Int` to calculate with it", param.ident)));
    }
}

/// Declared variants name the kernel's generics, all of them, with values of their kind.
fn check_variants(attributes: &KernelAttributes, sig: &syn::Signature, diagnostics: &mut Diagnostics) {
    let Some(span) = attributes.variants.span else { return };
    let generics: Vec<&syn::GenericParam> = sig.generics.params.iter().filter(|param| generic_name(param).is_some()).collect();
    for (axis, values) in &attributes.variants.axes {
        match generics.iter().find(|param| generic_name(param).is_some_and(|name| name == axis)) {
            Some(param) => check_values(axis, values, param, diagnostics),
            None => {
                let error = Diagnostic::error(axis.span(), format!("`{}` has no generic parameter `{axis}`", sig.ident));
                let names: Vec<String> = generics.iter().filter_map(|param| generic_name(param)).map(ToString::to_string).collect();
                diagnostics.push(match nearest(&axis.to_string(), names.iter().map(String::as_str)) {
                    Some(near) => error.help(format!("write `{near}`")),
                    None => error.help(format!("add it to the kernel: `const {axis}: usize`")),
                });
            }
        }
    }
    for param in &generics {
        let Some(name) = generic_name(param) else { continue };
        if attributes.variants.axes.iter().all(|(axis, _)| axis != name) && !attributes.variants.axes.is_empty() {
            let error = Diagnostic::error(span, format!("the variants do not list `{name}`")).label(name.span(), "declared here");
            let values = match param {
                syn::GenericParam::Type(_) => "f32, f64",
                syn::GenericParam::Const(param) if matches!(&param.ty, syn::Type::Path(path) if path.path.is_ident("bool")) => {
                    "false, true"
                }
                syn::GenericParam::Const(_) | syn::GenericParam::Lifetime(_) => "1, 2, 4",
            };
            diagnostics.push(error.help(format!("add its values: `{name} in [{values}]`")));
        }
    }
}

/// The name of a type or const parameter.
pub fn generic_name(param: &syn::GenericParam) -> Option<&syn::Ident> {
    match param {
        syn::GenericParam::Type(param) => Some(&param.ident),
        syn::GenericParam::Const(param) => Some(&param.ident),
        _ => None,
    }
}

/// Literals and the names of scalars must be of the parameter's kind; other names are looked up later.
fn check_values(axis: &syn::Ident, values: &[syn::Expr], param: &syn::GenericParam, diagnostics: &mut Diagnostics) {
    let syn::GenericParam::Const(param) = param else {
        for value in values.iter().filter(|value| syn::parse2::<syn::Type>(value.to_token_stream()).is_err()) {
            let error = Diagnostic::error(value.span(), format!("`{axis}` stands for a type, and `{}` is none", written(value)));
            diagnostics.push(error.help(format!("list types: `{axis} in [f32, f64]`")));
        }
        return;
    };
    let ty = written(&param.ty);
    for value in values {
        let is_type = matches!(value, syn::Expr::Path(path) if path.path.get_ident().is_some_and(|name| is_scalar(&name.to_string())));
        let is_bool = matches!(value, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(_), .. }));
        let is_literal = is_bool || literal_int(value).is_some() || matches!(value, syn::Expr::Lit(_));
        if is_type || is_literal && is_bool != (ty == "bool") {
            let text = written(value);
            let error = Diagnostic::error(value.span(), format!("`{axis}` is a `{ty}`, and `{text}` is not"));
            diagnostics.push(error.help(if ty == "bool" { "list `false` and `true`" } else { "list integers" }));
        }
    }
}

fn check_parameter_pattern(pat: &syn::Pat, what: &str, diagnostics: &mut Diagnostics) {
    let is_plain = matches!(pat, syn::Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none());
    if !is_plain {
        let error = Diagnostic::error(pat.span(), format!("a parameter of a {what} has a plain name"));
        diagnostics.push(error.help("name it, and take it apart in the body with `let`"));
    }
}

/// What a kernel's parameter may be: a value, `&Global<T>`, `&mut Global<T>`, `&Constant<T>`, `&Texture2d<T>`,
/// `&Matrix<T>`, `&mut Matrix<T>`, `&MatrixBatch<T>`, `&mut MatrixBatch<T>`.
fn check_kernel_parameter(ty: &syn::Type, diagnostics: &mut Diagnostics) {
    let error = match ty {
        syn::Type::Group(group) => return check_kernel_parameter(&group.elem, diagnostics),
        syn::Type::Paren(paren) => return check_kernel_parameter(&paren.elem, diagnostics),
        syn::Type::Reference(reference) => refused_reference(reference),
        syn::Type::Ptr(pointer) => {
            let buffer = if matches!(pointer.mutability, syn::PointerMutability::Mut(_)) { "&mut Global" } else { "&Global" };
            let error = Diagnostic::error(ty.span(), "a kernel takes no raw pointers");
            Some(error.help(format!("take a buffer: `{buffer}<{}>`", written(&pointer.elem))))
        }
        syn::Type::Slice(slice) => {
            let error = Diagnostic::error(ty.span(), "a kernel takes no slices");
            Some(error.help(format!("take a buffer: `&Global<{}>`", written(&slice.elem))))
        }
        syn::Type::ImplTrait(_) => {
            Some(Diagnostic::error(ty.span(), "a kernel takes no `impl Trait`").help("name the type by a generic parameter: `T: Float`"))
        }
        syn::Type::TraitObject(_) | syn::Type::FnPtr(_) | syn::Type::Never(_) | syn::Type::Macro(_) => {
            let error = Diagnostic::error(ty.span(), "a kernel takes scalars, structs and buffers, nothing else");
            Some(error.help("pass what it needs by value"))
        }
        syn::Type::Path(path) => refused_value(path),
        _ => None,
    };
    if let Some(error) = error {
        diagnostics.push(error);
    }
}

/// A path by value: memory is taken by reference, containers as buffers.
fn refused_value(path: &syn::TypePath) -> Option<Diagnostic> {
    let segment = path.path.segments.last()?;
    let name = segment.ident.to_string();
    let span = segment.ident.span();
    let argument = || match &segment.arguments {
        syn::PathArguments::AngleBracketed(arguments) => written(&arguments.args),
        _ => "f32".to_owned(),
    };
    match name.as_str() {
        // One without a type of its elements is somebody's own struct.
        "Matrix" | "MatrixBatch" if !has_one_type_argument(segment) => None,
        _ if MEMORY.contains(&name.as_str()) => {
            let error = Diagnostic::error(span, format!("a `{name}` is memory of the device: it is taken by reference"));
            Some(error.help(format!("write `&{name}<{}>`", argument())))
        }
        "Vec" | "Box" | "VecDeque" | "Buffer" => {
            Some(Diagnostic::error(span, format!("a kernel takes no `{name}`")).help(format!("take a buffer: `&Global<{}>`", argument())))
        }
        _ => {
            let missing = missing(&name)?;
            Some(Diagnostic::error(span, format!("`{name}` {}", missing.why)).help(missing.instead))
        }
    }
}

/// References other than to the device's memory.
fn refused_reference(reference: &syn::TypeReference) -> Option<Diagnostic> {
    let span = reference.and_token.span();
    if let Some(lifetime) = &reference.lifetime {
        let error = Diagnostic::error(lifetime.span(), "a kernel needs no lifetimes: its buffers live as long as its launch");
        return Some(error.help(format!("remove `{lifetime}`")));
    }
    let is_mut = reference.mutability.is_some();
    let buffer = if is_mut { "&mut Global" } else { "&Global" };
    match &*reference.elem {
        syn::Type::Slice(slice) => {
            let error = Diagnostic::error(span, "a kernel takes no slices");
            Some(error.help(format!("take a buffer: `{buffer}<{}>`", written(&slice.elem))))
        }
        syn::Type::Array(array) => {
            let error = Diagnostic::error(span, "a kernel takes no reference to an array");
            let (elem, whole) = (written(&array.elem), written(array));
            let help = if is_mut { format!("`{buffer}<{elem}>`") } else { format!("`&Constant<{whole}>` or `{buffer}<{elem}>`") };
            Some(error.help(format!("take {help}")))
        }
        syn::Type::Path(path) => {
            let segment = path.path.segments.last()?;
            let name = segment.ident.to_string();
            match name.as_str() {
                _ if MEMORY.contains(&name.as_str()) && !has_one_type_argument(segment) => {
                    let error = Diagnostic::error(segment.ident.span(), format!("`{name}` takes one type: that of its elements"));
                    Some(error.help(format!("write `{name}<f32>`")))
                }
                "Global" | "Matrix" | "MatrixBatch" => None,
                "Constant" if is_mut => {
                    let error = Diagnostic::error(span, "constant memory cannot be written by a kernel");
                    Some(error.help("write `&Constant<…>`, or take a `&mut Global<…>`"))
                }
                "Constant" => None,
                "Texture2d" if is_mut => {
                    let error = Diagnostic::error(span, "a texture cannot be written by a kernel");
                    Some(error.help("write `&Texture2d<…>`; to write, take a `&mut Global<…>`, and copy it into the texture on the host"))
                }
                "Texture2d" => None,
                _ if is_group_type(path) => {
                    let error = Diagnostic::error(span, "a kernel takes a group of parameters by value");
                    Some(error.help(format!("write `{name}<'_>`, without the `&`")))
                }
                _ => refused_value(path).or_else(|| Some(refused_single(reference, span))),
            }
        }
        syn::Type::Reference(inner) => Some(refused_reference(inner).unwrap_or_else(|| refuse_second(span, inner))),
        syn::Type::TraitObject(_) | syn::Type::ImplTrait(_) | syn::Type::FnPtr(_) | syn::Type::Ptr(_) => {
            Some(Diagnostic::error(span, "a kernel takes scalars, structs and buffers, nothing else").help("pass what it needs by value"))
        }
        _ => Some(refused_single(reference, span)),
    }
}

/// `&&Global<f32>`: a reference to one that would do.
fn refuse_second(span: Span, inner: &syn::TypeReference) -> Diagnostic {
    let memory = written(inner);
    Diagnostic::error(span, format!("`{memory}` is a reference already, and memory of the device is taken by one"))
        .help(format!("write `{memory}`"))
}

/// Whether a type is written as a group of parameters: `Particles<'_>`.
pub fn is_group_type(path: &syn::TypePath) -> bool {
    let Some(syn::PathArguments::AngleBracketed(list)) = path.path.segments.last().map(|segment| &segment.arguments) else { return false };
    list.args.iter().any(|argument| matches!(argument, syn::GenericArgument::Lifetime(_)))
}

/// What is held by the memory that a reference leads to: `&Global<T>`, `&mut Global<T>`, `&Constant<T>`, `&Texture2d<T>`.
pub(super) fn memory_behind(ty: &syn::Type) -> Option<&syn::Type> {
    let syn::Type::Reference(reference) = ty else { return None };
    let syn::Type::Path(path) = &*reference.elem else { return None };
    let segment = path.path.segments.last()?;
    let is_read = segment.ident == "Constant" || segment.ident == "Texture2d";
    let is_memory = segment.ident == "Global" || (is_read && reference.mutability.is_none());
    let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return None };
    match (is_memory, list.args.first()) {
        (true, Some(syn::GenericArgument::Type(element))) if list.args.len() == 1 => Some(element),
        _ => None,
    }
}

fn has_one_type_argument(segment: &syn::PathSegment) -> bool {
    match &segment.arguments {
        syn::PathArguments::AngleBracketed(arguments) => {
            arguments.args.len() == 1 && matches!(arguments.args.first(), Some(syn::GenericArgument::Type(_)))
        }
        _ => false,
    }
}

/// The memory that a generic type with one argument was to be, `Gobal<f32>`: the nearest name. Textures have two dimensions.
fn misspelt_memory(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last().filter(|segment| has_one_type_argument(segment))?;
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    let name = segment.ident.to_string();
    let memory = if name.starts_with("Texture") { Some("Texture2d") } else { nearest(&name, MEMORY.iter().copied()) };
    let element = arguments.args.first().map(written)?;
    Some(format!("{}<{element}>", memory?))
}

/// `&f32`, `&mut Params`: one value.
fn refused_single(reference: &syn::TypeReference, span: Span) -> Diagnostic {
    if let Some(meant) = misspelt_memory(&reference.elem) {
        let given = written(&reference.elem);
        return Diagnostic::error(span, format!("there is no memory `{given}`")).help(format!("write `{meant}`"));
    }
    let ty = written(&reference.elem);
    if reference.mutability.is_some() {
        let error = Diagnostic::error(span, format!("a kernel cannot write to a single `{ty}` of the host"));
        error.help(format!("take a buffer of one element: `&mut Global<{ty}>`"))
    } else {
        Diagnostic::error(span, format!("a kernel takes a single `{ty}` by value")).help(format!("write `{ty}`"))
    }
}

/// Whether device functions take references to such: buffers, groups of parameters, shared arrays.
fn is_taken_by_reference(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Path(path) => {
            is_group_type(path) || path.path.segments.last().is_some_and(|segment| MEMORY.iter().any(|name| segment.ident == name))
        }
        syn::Type::Array(_) | syn::Type::Slice(_) | syn::Type::Group(_) => true,
        _ => false,
    }
}

/// What a device function's parameter may refer to: buffers, constant memory, shared arrays. Everything else goes by value.
fn check_device_parameter(ty: &syn::Type, diagnostics: &mut Diagnostics) {
    let syn::Type::Reference(reference) = ty else { return };
    match &*reference.elem {
        elem if is_taken_by_reference(elem) => {}
        syn::Type::Reference(inner) if is_taken_by_reference(&inner.elem) => {
            diagnostics.push(refuse_second(reference.and_token.span(), inner));
        }
        elem => {
            let mut value = elem;
            while let syn::Type::Reference(inner) = value {
                value = &inner.elem;
            }
            let ty = written(value);
            let error = Diagnostic::error(reference.and_token.span(), "device functions take references to buffers and shared arrays only");
            diagnostics.push(if reference.mutability.is_some() {
                error.help(format!("take `{ty}` by value, and return the new one"))
            } else {
                error.help(format!("take `{ty}` by value"))
            });
        }
    }
}

/// Whether a function is the device's.
pub fn is_marked(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| is_named(attr, "kernel") || is_named(attr, "device"))
}
