//! What no kernel asks for and `rustc` looks at all the same: device functions that nothing calls, and generic ones as every type of their bounds would have them.
//!
//! Bodies are typed with concrete types here, so `a.sqrt()` of a `T: Num` is right where a kernel calls it with an `f32`, and `rustc` refuses it. Each generic function is
//! therefore typed with a few types of its bounds: what is right for the bound is right for each of them. Asked by the command, which has no `rustc` beside it; only what
//! `rustc` says, too, is said.

use super::check::{Context, generic_names};
use super::items::{FnId, FnItem};
use super::types::{AdtId, Arg, Const, Ty};
use crate::collections::HashMap;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Type;
use crate::syntax::{Program, is_named};

/// What a const generic is where nobody gives it: a number that lengths, counts and powers of two can be.
const ANY_NUMBER: i128 = 4;

/// The types that stand for all of a bound: numbers of each kind, and of elements what has no operators.
fn types_of(bound: Option<&str>) -> Option<Vec<Ty>> {
    let all = |types: &[Type]| Some(types.iter().copied().map(Ty::Scalar).collect());
    match bound {
        Some("Float") => all(&[Type::F32, Type::F64, Type::F16]),
        Some("Num") => all(&[Type::F32, Type::I32, Type::U8]),
        Some("Int") => all(&[Type::I32, Type::U32, Type::U8]),
        Some("Element" | "Copy" | "Clone") | None => {
            // `Dim3` stands for a struct without any trait.
            Some(vec![Ty::Scalar(Type::F32), Ty::Scalar(Type::U32), Ty::BOOL, Ty::Dim3])
        }
        // Other bounds say what else there is to call.
        Some(_) => None,
    }
}

/// The bounds of a type parameter, where it is declared and behind `where`.
fn bounds_of(generics: &syn::Generics, param: &syn::TypeParam) -> Vec<String> {
    let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let behind = clauses.filter_map(|clause| match clause {
        syn::WherePredicate::Type(ty) if matches!(&ty.bounded_ty, syn::Type::Path(path) if path.path.is_ident(&param.ident)) => {
            Some(&ty.bounds)
        }
        _ => None,
    });
    let all = param.bounds.iter().chain(behind.flatten());
    all.filter_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => bound.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    })
    .collect()
}

/// A type parameter with what it is bounded by and the types that are tried.
struct Parameter {
    name: String,
    bound: String,
    types: Vec<Ty>,
}

/// The type parameters of a function and of its `impl`. `None`: one of them has a bound of which nothing is known.
fn parameters(function: &FnItem<'_>) -> Option<Vec<Parameter>> {
    let all = function.parent.map(|(generics, _)| generics).into_iter().chain([&function.signature.generics]);
    let all: Vec<&syn::Generics> = all.collect();
    // What is asked of other types, `f32: SumOf<T>`, is asked of `T`, too.
    let is_of_param = |predicate: &syn::WherePredicate| match predicate {
        syn::WherePredicate::Type(syn::PredicateType { bounded_ty: syn::Type::Path(path), .. }) => {
            all.iter().flat_map(|generics| generics.type_params()).any(|param| path.path.is_ident(&param.ident))
        }
        _ => false,
    };
    if !all.iter().flat_map(|generics| &generics.where_clause).flat_map(|clause| &clause.predicates).all(is_of_param) {
        return None;
    }
    let params = all.iter().flat_map(|generics| generics.type_params().map(move |param| (*generics, param)));
    params
        .map(|(generics, param)| {
            let bounds = bounds_of(generics, param);
            let known = ["Float", "Int", "Num", "Element", "Copy", "Clone"];
            let strongest = known.iter().find(|known| bounds.iter().any(|bound| bound == *known));
            let is_known = bounds.iter().all(|bound| known.contains(&bound.as_str()));
            let types = types_of(strongest.copied()).filter(|_| is_known)?;
            Some(Parameter { name: param.ident.to_string(), bound: strongest.map_or_else(String::new, |bound| (*bound).to_owned()), types })
        })
        .collect()
}

/// Looks at the generic functions of a program as all types of their bounds; with `all` at its other device functions and its structs, too, which a kernel that needs them
/// asks for itself.
pub fn check_unasked(program: &Program, all: bool) -> Diagnostics {
    let context = Context::new(program);
    super::definitions::check_definitions(&context);
    if context.diagnostics.borrow().has_errors() {
        let found = context.diagnostics.take();
        return if all { of_rustc(found) } else { Diagnostics::new() };
    }
    let mut found = Diagnostics::new();
    for (index, function) in context.items.functions.iter().enumerate() {
        let names = generic_names(function.parent.map(|(generics, _)| generics), Some(&function.signature.generics));
        if names.is_empty() {
            if all && !function.attrs.iter().any(|attr| is_named(attr, "kernel")) {
                context.body(FnId(index), &[]);
                found.append(of_rustc(context.diagnostics.take()));
            }
        } else if let Some(parameters) = parameters(function).filter(|parameters| !parameters.is_empty()) {
            found.append(as_all(&context, FnId(index), &parameters));
        }
    }
    for (index, adt) in context.items.adts.iter().enumerate() {
        if all && generic_names(None, Some(adt.generics)).is_empty() {
            context.field_types(&Ty::Adt(AdtId(index), Vec::new()));
            found.append(of_rustc(context.diagnostics.take()));
        }
    }
    found
}

/// What `rustc` says, too.
fn of_rustc(found: Diagnostics) -> Diagnostics {
    found.filter_map(|finding| (finding.by_rustc || finding.is_rustcs_too).then_some(finding))
}

/// Types a function with each of the types that its parameters may be.
fn as_all(context: &Context<'_>, function: FnId, parameters: &[Parameter]) -> Diagnostics {
    let item = &context.items.functions[function.0];
    let generics = item.parent.map(|(generics, _)| generics).into_iter().chain([&item.signature.generics]);
    let params: Vec<&syn::GenericParam> = generics.flat_map(|generics| &generics.params).collect();
    let rounds = parameters.iter().map(|parameter| parameter.types.len()).max().unwrap_or(0);
    let mut said: Vec<(Diagnostic, usize, Vec<usize>)> = Vec::new();
    for round in 0..rounds {
        let mut types = parameters.iter().map(|parameter| Arg::Ty(parameter.types[round % parameter.types.len()].clone()));
        let args: Vec<Arg> = params
            .iter()
            .filter_map(|param| match param {
                syn::GenericParam::Type(_) => types.next(),
                syn::GenericParam::Const(_) => Some(Arg::Const(Const::Value(ANY_NUMBER), Box::new(Ty::Usize))),
                syn::GenericParam::Lifetime(_) => None,
            })
            .collect();
        context.body(function, &args);
        for finding in of_rustc(context.diagnostics.take()) {
            let same = |known: &&mut (Diagnostic, usize, Vec<usize>)| known.0.span.start() == finding.span.start();
            match said.iter_mut().find(same) {
                Some((.., rounds)) => rounds.push(round),
                None => said.push((finding, round, vec![round])),
            }
        }
    }
    // What is wrong whatever the types are is no matter of bounds: a call says it.
    let own = said.into_iter().filter(|(.., found)| found.len() < rounds);
    own.map(|(finding, round, _)| in_words(finding, round, parameters, context)).collect()
}

/// A finding about one of the types, in terms of the parameter that it stands for.
fn in_words(finding: Diagnostic, round: usize, parameters: &[Parameter], context: &Context<'_>) -> Diagnostic {
    let of = |parameter: &Parameter| context.show(&parameter.types[round % parameter.types.len()]);
    let named: HashMap<String, &Parameter> = parameters.iter().map(|parameter| (of(parameter), parameter)).collect();
    let is_named = |ty: &str| finding.message.contains(&format!("`{ty}`")) || finding.message.contains(&format!("`{ty}::"));
    let meant = named.iter().find(|(ty, _)| is_named(ty)).map(|(_, parameter)| *parameter).or(parameters.first());
    let Some(parameter) = meant else { return finding };
    let (ty, name) = (of(parameter), &parameter.name);
    let bound = if parameter.bound.is_empty() { name.clone() } else { format!("{name}: {}", parameter.bound) };
    let message = match ty.as_str() {
        "Dim3" => format!("{}, and `{bound}` may be a struct", finding.message.replace("`Dim3`", &format!("`{name}`"))),
        _ => format!("{}, and `{bound}` may be `{ty}`", finding.message),
    };
    let help = match &finding.help {
        Some(help) if help.contains(&format!("{ty}::")) => help.replace(&format!("{ty}::"), &format!("{name}::")),
        _ => match parameter.bound.as_str() {
            "Float" | "Int" => format!("write the type that is meant, `f32` or another, in place of `{name}`"),
            "Num" => format!("bound `{name}` by what has it: `{name}: Float` or `{name}: Int`"),
            _ => format!("bound `{name}` by what has it: `{name}: Float`, `{name}: Int` or `{name}: Num`"),
        },
    };
    Diagnostic { message, help: Some(help), ..finding }
}
