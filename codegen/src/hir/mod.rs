//! The typed tree of a kernel and its lowering to the IR.
//!
//! `items` finds what names mean, `check` types bodies, `lower` makes structured SSA of them. Generics are filled in from the start:
//! what is typed and lowered is one instance.

mod check;
mod constant;
mod definitions;
mod items;
mod lower;
mod options;
#[cfg(test)]
mod tests;
mod tree;
mod types;
mod unasked;
mod variants;

pub use options::Clause;
pub use unasked::check_unasked;
pub use variants::{
    Axis, declared_axes, declared_instances, generics, instances, is_constant_known, number_of_instances, parse_constant, parse_generic,
    set_values,
};

pub use check::standard_constant;

use crate::analysis::known_index;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{BoundsCheck, Kernel, Loc, ObjectKind, Scalar};
use crate::syntax::{ConstValue, GenericValue, Instance, KernelAttributes, Program, UnitId, parse_written};
use check::{Checker, Context, TypeScope};
use items::{Def, FnId, Namespace};
use proc_macro2::Span;
use types::{Arg, Const, Ty};

/// A kernel in the IR, with what ties it to its source. `K` says how far it is: [`crate::pipeline`].
pub struct Lowered<K = Kernel> {
    /// The kernel.
    pub kernel: K,
    /// For each location of the kernel, the span it was made from.
    pub spans: Vec<Span>,
    /// For each location of the kernel, the statement of the source it belongs to: what `ilp` interleaves. Beyond the end, every
    /// instruction is a statement of its own.
    pub statements: Vec<u32>,
    /// What `best_effort` let pass so far.
    pub warnings: Diagnostics,
    /// What its `require(…)` asks for.
    pub required: Vec<Clause>,
}

impl<K> Lowered<K> {
    /// The same source with what `stage` makes of the kernel.
    pub(crate) fn map<L>(self, stage: impl FnOnce(K) -> L) -> Lowered<L> {
        let Lowered { kernel, spans, statements, warnings, required } = self;
        Lowered { kernel: stage(kernel), spans, statements, warnings, required }
    }

    /// The span behind a location.
    pub fn span(&self, loc: Loc) -> Span {
        self.spans.get(loc.0 as usize).copied().unwrap_or_else(Span::call_site)
    }
}

/// Where a kernel is lowered in another way than its attribute asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instead {
    /// A thread has one element, whatever `ilp` and `vectorize` say.
    pub(crate) one_element: bool,
    /// Every index is checked, whatever `bounds` says.
    pub(crate) checks_bounds: bool,
    /// Each call of a device function has locations of its own.
    pub(crate) keeps_calls_apart: bool,
}

/// Types and lowers one instance of the kernel `name` (its path within the unit) of `unit`; with it comes why it cannot run for several elements of a
/// thread, if so: then it is of no use. All findings of a phase come at once.
pub(crate) fn lower_kernel(
    program: &Program,
    unit: UnitId,
    name: &str,
    instance: &Instance,
    instead: Instead,
) -> Result<(Lowered, Option<Diagnostic>), Diagnostics> {
    let context = Context::new(program);
    let function = find_kernel(program, &context, unit, name)?;
    definitions::check_definitions(&context);
    context.diagnostics.borrow_mut().barrier()?;
    let item = &context.items.functions[function.0];
    let args = generic_arguments(&context, function, instance)?;
    let mut findings = Diagnostics::new();
    let attributes = KernelAttributes::find(item.attrs, &mut findings).unwrap_or_default();
    context.diagnostics.borrow_mut().append(findings);
    let mut checker = Checker::new(&context, options::scope(&context, function, &args));
    let (mut options, mut elements) = options::evaluate(&mut checker, &attributes);
    if instead.checks_bounds {
        options.bounds = BoundsCheck::Trap;
    }
    if instead.one_element {
        elements = elements.filter(|asked| asked.annotation.elements.is_none());
        (options.ilp, options.vectorize) = (1, 1);
    }
    let required = options::required(&mut checker, &attributes);
    context.body(function, &args);
    context.diagnostics.borrow_mut().barrier()?;
    let lowered = lower::lower(&context, &program.units, (unit, function), &args, options, &elements, instead.keeps_calls_apart);
    context.diagnostics.borrow_mut().barrier()?;
    let could_not = || Diagnostic::error(Span::call_site(), format!("the kernel `{name}` could not be compiled"));
    let (mut lowered, refused) = lowered.ok_or_else(could_not)?;
    lowered.warnings = context.diagnostics.take();
    lowered.required = required;
    if refused.is_none() {
        refuse_known_indices(&lowered, instance)?;
    }
    Ok((lowered, refused))
}

/// Refuses indices that are known to be beyond their arrays. `rustc` tells of literals alone, and only when it builds.
fn refuse_known_indices(lowered: &Lowered, instance: &Instance) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    for found in known_index::beyond(&lowered.kernel) {
        let message = format!("index {} is out of range for length {}", found.index, found.len);
        let span = lowered.span(found.loc);
        if found.step == 0 && matches!(lowered.kernel.objects[found.object].kind, ObjectKind::Peers(_)) {
            let (rank, blocks) = (found.index, found.len);
            let message = format!("there is no rank {rank} in a cluster of {blocks} blocks: ranks are 0 to {}", blocks - 1);
            let help = format!("use a rank below {blocks}: `(cluster_rank() + 1) % {blocks}` is the next block's");
            diagnostics.push(Diagnostic::error(span, message).help(help));
            continue;
        }
        diagnostics.push(if instance.generics.is_empty() {
            Diagnostic::error(span, message).help(format!("use an index below {}, or make the array longer", found.len))
        } else {
            let object = &lowered.kernel.objects[found.object];
            // What a constant array is made of has no name in the source.
            let array = if matches!(object.kind, ObjectKind::Table(_)) { "this array".to_owned() } else { format!("`{}`", object.name) };
            Diagnostic::error(span, format!("{message}, in {array} with these generics"))
                .help("make the array longer, leave the variant out, or put the access under a condition that excludes it")
        });
    }
    diagnostics.barrier()
}

fn find_kernel(program: &Program, context: &Context<'_>, unit: UnitId, name: &str) -> Result<FnId, Diagnostics> {
    let segments: Vec<String> = name.split("::").map(str::to_owned).collect();
    if let Some(Def::Function(id)) = context.items.resolve(context.items.root(unit), &segments, Namespace::Values) {
        return Ok(id);
    }
    // By its last name, wherever it stands in the unit.
    let item = program.units[unit.0].kernel(name)?;
    let found = context.items.functions.iter().position(|function| std::ptr::eq(function.signature, &item.sig));
    found.map(FnId).ok_or_else(|| Diagnostic::error(item.sig.ident.span(), format!("the kernel `{name}` is not reachable")).into())
}

/// The instance's generics as arguments, checked against what the kernel declares.
fn generic_arguments(context: &Context<'_>, function: FnId, instance: &Instance) -> Result<Vec<Arg>, Diagnostics> {
    let item = &context.items.functions[function.0];
    let params: Vec<&syn::GenericParam> =
        item.signature.generics.params.iter().filter(|p| !matches!(p, syn::GenericParam::Lifetime(_))).collect();
    let name = &item.signature.ident;
    if params.len() != instance.generics.len() {
        let names = check::generic_names(None, Some(&item.signature.generics));
        let message = format!("`{name}` {}", check::generic_arity_text(params.len(), instance.generics.len()));
        let own = match names.as_slice() {
            [] => "leave them out: the kernel has no generics".to_owned(),
            names => format!("give one for each of `<{}>`", names.join(", ")),
        };
        return Err(Diagnostic::error(name.span(), message).help(own).into());
    }
    let scope = TypeScope { module: item.module, generics: Default::default(), self_ty: None };
    let mut checker = Checker::new(context, scope.clone());
    let mut args = Vec::new();
    for (param, value) in params.into_iter().zip(&instance.generics) {
        args.push(match (param, value) {
            (syn::GenericParam::Type(_), GenericValue::Type(text)) => match parse_written::<syn::Type>(text) {
                Some(ty) => {
                    let ty = checker.written_type(&ty);
                    let ty = checker.infer.exported(&ty);
                    if let syn::GenericParam::Type(param) = param {
                        context.check_bound(param, &ty, scope.clone());
                    }
                    Arg::Ty(ty)
                }
                None => {
                    let message = format!("`{name}` wants a type here, and `{text}` is none");
                    return Err(Diagnostic::error(name.span(), message).help("give it the name of a type: `f32`").into());
                }
            },
            (syn::GenericParam::Const(param), GenericValue::Const(value)) => {
                let ty = checker.written_type(&param.ty);
                let ty = checker.infer.exported(&ty);
                let value = match value {
                    ConstValue::Scalar(scalar) => *scalar,
                    ConstValue::Index(value, _) => Scalar::int(crate::ir::Type::I64, *value),
                    ConstValue::Array(_) | ConstValue::Tuple(_) => {
                        let help = format!("give `{}` one number, like `64`", param.ident);
                        return Err(Diagnostic::error(param.ident.span(), "a const generic is a scalar").help(help).into());
                    }
                };
                let int = value.as_int();
                if let Ty::Scalar(ty) = ty
                    && Scalar::int(ty, int).as_int() != int
                {
                    let message = format!("`{}` is a `{ty}`; {int} does not fit it", param.ident);
                    let fit = check::edits::nearest_number(ty, int);
                    let help = match check::edits::wider(ty, int) {
                        Some(wider) => format!("give it {fit}, or declare `const {}: {wider}`", param.ident),
                        None => format!("give it {fit}"),
                    };
                    return Err(Diagnostic::error(param.ident.span(), message).help(help).into());
                }
                Arg::Const(Const::Value(int), Box::new(ty))
            }
            (syn::GenericParam::Type(param), GenericValue::Const(_)) => {
                let error = Diagnostic::error(param.ident.span(), format!("`{}` stands for a type, not a value", param.ident));
                return Err(error.help("give it the name of a type: `f32`").into());
            }
            (param, _) => {
                let error = Diagnostic::error(syn::spanned::Spanned::span(param), "this generic stands for a value, not a type");
                return Err(error.help("give it a number, like `64`").into());
            }
        });
    }
    context.diagnostics.borrow_mut().barrier()?;
    Ok(args)
}
