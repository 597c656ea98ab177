//! The declared variants of a kernel as instances: the product of the axes, in the order written.

use super::check::{Checker, TypeScope, generic_names};
use super::items::{Def, Namespace};
use super::types::{Const, Kind, Ty};
use super::{Context, find_kernel};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Scalar;
use crate::nearest::nearest;
use crate::syntax::{ConstValue, GenericValue, Instance, KernelAttributes, Program, UnitId, generic_name, parse_written, written};
use syn::spanned::Spanned;

/// Most variants a kernel can declare.
const MOST_VARIANTS: usize = 4096;

/// A generic of a kernel, and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The generic.
    pub name: String,
    /// Its values, in the order written.
    pub values: Vec<GenericValue>,
    /// The group of generics that take their values together, the first of each with the first: a number that they share, and as many values.
    pub tied: Option<usize>,
}

/// The values that `variants(…)` declares for each generic of a kernel, in the order of the generics; none for a generic that it leaves open.
pub fn declared_axes(program: &Program, unit: UnitId, name: &str) -> Result<Vec<Axis>, Diagnostics> {
    let context = Context::new(program);
    let function = find_kernel(program, &context, unit, name)?;
    let item = &context.items.functions[function.0];
    let mut findings = Diagnostics::new();
    let attributes = KernelAttributes::find(item.attrs, &mut findings).unwrap_or_default();
    findings.barrier()?;
    let scope = TypeScope { module: item.module, generics: Default::default(), self_ty: None };
    let mut axes = Vec::new();
    for param in &item.signature.generics.params {
        let Some(ident) = generic_name(param) else { continue };
        let declared = attributes.variants.axes.iter().find(|(name, _)| name == ident);
        let mut checker = Checker::new(&context, scope.clone());
        let values = declared.iter().flat_map(|(_, values)| values).map(|value| generic_value(&mut checker, param, value)).collect();
        let tied = attributes.variants.tied.iter().position(|names| names.contains(ident));
        axes.push(Axis { name: ident.to_string(), values, tied });
    }
    context.diagnostics.borrow_mut().barrier()?;
    Ok(axes)
}

/// The instances that `variants(…)` declares; for a kernel without generics its only instance. Empty if the kernel is generic and
/// its declaration leaves a generic open: such a kernel is compiled when it is launched.
pub fn declared_instances(program: &Program, unit: UnitId, name: &str) -> Result<Vec<Instance>, Diagnostics> {
    let axes = declared_axes(program, unit, name)?;
    if axes.iter().any(|axis| axis.values.is_empty()) {
        return Ok(Vec::new());
    }
    instances(&axes).map_err(|total| {
        let span = program.units[unit.0].kernel(name).map_or_else(|_| proc_macro2::Span::call_site(), |item| item.sig.ident.span());
        let message = format!("`{name}` declares {total} variants; at most {MOST_VARIANTS} are checked");
        Diagnostic::error(span, message).help("list fewer values").into()
    })
}

/// Every combination of the axes' values, the last axis fastest; tied axes go on together, where the first of them stands.
///
/// # Errors
/// How many there are, if that is more than anything goes through.
pub fn instances(axes: &[Axis]) -> Result<Vec<Instance>, usize> {
    let total = number_of_instances(axes);
    if total > MOST_VARIANTS {
        return Err(total);
    }
    // By group, which of its values has been chosen.
    let mut all = vec![(Instance::default(), Vec::<(usize, usize)>::new())];
    for axis in axes {
        let mut extended = Vec::new();
        for (instance, chosen) in all {
            let row = axis.tied.and_then(|group| chosen.iter().find(|(of, _)| *of == group)).map(|(_, row)| *row);
            for (n, value) in axis.values.iter().enumerate().filter(|(n, _)| row.is_none_or(|row| row == *n)) {
                let (mut instance, mut chosen) = (instance.clone(), chosen.clone());
                instance.generics.push(value.clone());
                chosen.extend(axis.tied.filter(|_| row.is_none()).map(|group| (group, n)));
                extended.push((instance, chosen));
            }
        }
        all = extended;
    }
    Ok(all.into_iter().map(|(instance, _)| instance).collect())
}

/// How many instances there are of these axes.
pub fn number_of_instances(axes: &[Axis]) -> usize {
    let is_counted = |(n, axis): &(usize, &Axis)| axis.tied.is_none_or(|group| axes[..*n].iter().all(|before| before.tied != Some(group)));
    let counted = axes.iter().enumerate().filter(is_counted);
    counted.map(|(_, axis)| axis.values.len()).fold(1, usize::saturating_mul)
}

/// Gives an axis other values than those it declares. Where the axes that it is tied to have such among theirs, they keep what goes with these; else
/// each of them is by itself from here on, with every value once.
pub fn set_values(axes: &mut [Axis], which: usize, values: Vec<GenericValue>) {
    let Some(group) = axes[which].tied else {
        axes[which].values = values;
        return;
    };
    let is_declared = !values.is_empty() && values.iter().all(|value| axes[which].values.contains(value));
    let keeps: Vec<bool> = axes[which].values.iter().map(|value| values.contains(value)).collect();
    for axis in axes.iter_mut().filter(|axis| axis.tied == Some(group)) {
        if is_declared {
            let mut kept = keeps.iter();
            axis.values.retain(|_| kept.next().copied().unwrap_or_default());
        } else {
            axis.tied = None;
            let all = std::mem::take(&mut axis.values);
            for value in all {
                if !axis.values.contains(&value) {
                    axis.values.push(value);
                }
            }
        }
    }
    if !is_declared {
        axes[which].values = values;
    }
}

fn generic_value(checker: &mut Checker<'_, '_>, param: &syn::GenericParam, value: &syn::Expr) -> GenericValue {
    let syn::GenericParam::Const(param) = param else {
        return GenericValue::Type(written(value));
    };
    let ty = checker.written_type(&param.ty);
    let value = match checker.const_expression(value, &ty) {
        Const::Value(value) => value,
        Const::Var(_) => {
            let error = Diagnostic::error(value.span(), "the value of this variant is not known");
            checker.context.report(error.help("write a number, or a constant that is computed from numbers"));
            0
        }
    };
    GenericValue::Const(match ty {
        Ty::Scalar(ty) => ConstValue::Scalar(Scalar::int(ty, value)),
        ty => ConstValue::Index(value, ty == Ty::Isize),
    })
}

/// The generics of a kernel by name, in order, each with whether it stands for a type.
pub fn generics(program: &Program, unit: UnitId, name: &str) -> Result<Vec<(String, bool)>, Diagnostics> {
    let item = program.units[unit.0].kernel(name)?;
    let one = |param| Some((generic_name(param)?.to_string(), matches!(param, syn::GenericParam::Type(_))));
    Ok(item.sig.generics.params.iter().filter_map(one).collect())
}

/// Reads the value of a generic from text, as the kernel declares it: `64`, `true`, `f32`.
pub fn parse_generic(program: &Program, unit: UnitId, kernel: &str, generic: &str, text: &str) -> Result<GenericValue, Diagnostics> {
    let context = Context::new(program);
    let function = find_kernel(program, &context, unit, kernel)?;
    let item = &context.items.functions[function.0];
    let named = |param: &&syn::GenericParam| generic_name(param).is_some_and(|name| name == generic);
    let Some(param) = item.signature.generics.params.iter().find(named) else {
        let error = Diagnostic::error(item.signature.ident.span(), format!("`{kernel}` has no generic `{generic}`"));
        let own: Vec<String> = generic_names(None, Some(&item.signature.generics)).iter().map(|name| format!("`{name}`")).collect();
        return Err(match (nearest(generic, own.iter().map(|name| name.trim_matches('`'))), own.as_slice()) {
            (Some(near), _) => error.help(format!("did you mean `{near}`?")),
            (None, []) => error.help(format!("leave out `{generic}`: the kernel has no generics")),
            (None, own) => error.help(format!("write one of its own: {}", own.join(", "))),
        }
        .into());
    };
    let scope = TypeScope { module: item.module, generics: Default::default(), self_ty: None };
    if let syn::GenericParam::Type(param) = param {
        let none =
            || Diagnostic::error(param.span(), format!("`{text}` is not a type for `{generic}`")).help("write the name of a type: `f32`");
        let written: syn::Type = parse_written(text).ok_or_else(none)?;
        let mut checker = Checker::new(&context, scope.clone());
        let ty = checker.written_type(&written);
        context.check_bound(param, &checker.infer.exported(&ty), scope);
        context.diagnostics.borrow_mut().barrier()?;
        return Ok(GenericValue::Type(text.to_owned()));
    }
    let none = || {
        let error = Diagnostic::error(param.span(), format!("`{text}` is not a value for `{generic}`"));
        error.help("write a number, like `64`, or the name of a constant")
    };
    let value: syn::Expr = parse_written(text).ok_or_else(none)?;
    let mut checker = Checker::new(&context, scope);
    if let syn::GenericParam::Const(param) = param
        && checker.written_type(&param.ty) == Ty::Scalar(crate::ir::Type::Bool)
        && !matches!(text, "true" | "false")
    {
        return Err(Diagnostic::error(param.ident.span(), format!("`{generic}` is a `bool`: write `true` or `false`")).into());
    }
    let found = generic_value(&mut checker, param, &value);
    // What has another type whatever the kernel declares.
    let is_no_number = match &value {
        syn::Expr::Path(_) => true,
        syn::Expr::Lit(literal) => !matches!(literal.lit, syn::Lit::Int(_)),
        _ => false,
    };
    context.diagnostics.borrow_mut().barrier().map_err(|errors| match param {
        syn::GenericParam::Const(param) if is_no_number => {
            let message = format!("`{generic}` is a `{}`: write a number, like `64`, or a constant of the file", written(&param.ty));
            Diagnostic::error(param.ident.span(), message).into()
        }
        _ => errors,
    })?;
    Ok(found)
}

/// Whether the value of a constant of a unit (its path there) can be computed here.
pub fn is_constant_known(program: &Program, unit: UnitId, path: &str) -> bool {
    let context = Context::new(program);
    let segments: Vec<String> = path.split("::").map(str::to_owned).collect();
    match context.items.resolve(context.items.root(unit), &segments, Namespace::Values) {
        Some(Def::Const(id)) => context.constant(id).is_some() && !context.diagnostics.borrow().has_errors(),
        _ => false,
    }
}

/// Reads an outside constant from text: `7`, `2.5f32`, `true`. An integer without suffix is a `usize`.
pub fn parse_constant(text: &str) -> Result<ConstValue, Diagnostics> {
    let bad = || {
        let error = Diagnostic::error(proc_macro2::Span::call_site(), format!("`{text}` is not a constant"));
        Diagnostics::from(error.help("write a number or a `bool`: `7`, `2.5f32`, `true`"))
    };
    let value: syn::Expr = parse_written(text).ok_or_else(bad)?;
    let program = Program { units: vec![crate::syntax::Unit::from_items("", Vec::new())] };
    let context = Context::new(&program);
    let scope = TypeScope { module: super::items::ModuleId(0), generics: Default::default(), self_ty: None };
    let mut checker = Checker::new(&context, scope);
    let typed = checker.expression(&value);
    if checker.infer.kind(&checker.infer.shallow(&typed.ty)) == Some(Kind::Int) {
        checker.expect(&typed.ty, &Ty::Usize, typed.span);
    }
    checker.finish();
    context.diagnostics.borrow_mut().barrier()?;
    super::constant::evaluate(&typed, &checker.infer, &typed.ty).map_err(|_| bad())
}
