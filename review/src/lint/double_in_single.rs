//! `double_in_single`: arithmetic in `f64` whose operands come from `f32` and whose results go there.
//!
//! Found where memory of the kernel holds `f32` and none holds `f64`. A sum that a loop carries in `f64` is meant (its rounding errors are what it is for), and so is
//! anything whose result leaves as `f64`.

use super::{Finding, Lint, Subject, on};
use crate::machine::{Machine, Pipe};
use warpwright_codegen::ir::{Compute, Inst, Kernel, MemoryType, Op, Type};
use warpwright_codegen::target::Target;

pub(super) const LINT: Lint = Lint {
    name: "double_in_single",
    summary: "`f64` arithmetic in an `f32` kernel",
    of_machine: true,
    page: include_str!("double_in_single.md"),
    check,
};

/// Most other places that are shown.
const MOST_LABELS: usize = 3;

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let holds = |ty| kernel.objects.values().any(|object| holds(kernel, &object.ty, ty));
    if holds(Type::F64) || !holds(Type::F32) {
        return;
    }
    let is_carried = |value: &warpwright_codegen::ir::Value| kernel.ty(*value) == Type::F64;
    if kernel.blocks.values().any(|block| block.params.iter().any(is_carried)) {
        return;
    }
    let mut doubles: Vec<Inst> = Vec::new();
    let mut constants = 0;
    kernel.for_each_inst(|kernel, _, inst| {
        let op = &kernel.insts[inst].op;
        if !is_arithmetic(op) || !kernel.insts[inst].results.iter().any(|value| kernel.ty(*value) == Type::F64) {
            return;
        }
        op.for_each_operand(|value| constants += usize::from(kernel.constant(value).is_some_and(|constant| constant.ty == Type::F64)));
        doubles.push(inst);
    });
    let Some(first) = doubles.first() else { return };
    let loc = |inst: &Inst| kernel.insts[*inst].loc;
    let count = doubles.len();
    let operations = if count == 1 { "1 operation".to_owned() } else { format!("{count} operations") };
    let cost = costs(subject.known.targets.iter().map(|estimate| estimate.target));
    let mut labels = Vec::new();
    for inst in doubles[1..].iter().take(MOST_LABELS) {
        let span = subject.span(loc(inst));
        let is_known = labels.iter().any(|(known, _): &(proc_macro2::Span, String)| known.start() == span.start());
        if !is_known && span.start() != subject.span(loc(first)).start() {
            labels.push((span, "and here".to_owned()));
        }
    }
    let help = if constants > 0 {
        "write the constants as `f32`: `0.1f32`, or without a suffix where the other operand is `f32`"
    } else {
        "leave out `as f64`, or keep the result in `f64`"
    };
    found.push(Finding {
        span: subject.span(loc(first)),
        message: format!("{operations} in `f64` in a kernel whose data is `f32`{cost}"),
        labels,
        help: help.to_owned(),
    });
}

/// `: in `f32` operations, each costs 64 on sm_89, 2 on sm_80 and sm_90`
fn costs<'t>(targets: impl Iterator<Item = &'t Target>) -> String {
    let mut ratios: Vec<(f64, Vec<&Target>)> = Vec::new();
    for target in targets {
        let Some(machine) = Machine::of(target.capability) else { continue };
        let ratio = machine.lanes(Pipe::Single) / machine.lanes(Pipe::Double);
        match ratios.iter_mut().find(|(known, _)| *known == ratio) {
            Some((_, targets)) => targets.push(target),
            None => ratios.push((ratio, vec![target])),
        }
    }
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts: Vec<String> = ratios.into_iter().map(|(ratio, targets)| format!("{ratio:.0} {}", on(targets))).collect();
    if parts.is_empty() { String::new() } else { format!(": in `f32` operations, each costs {}", parts.join(", ")) }
}

fn holds(kernel: &Kernel, ty: &MemoryType, scalar: Type) -> bool {
    match ty {
        MemoryType::Scalar(ty) => *ty == scalar,
        MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element) => holds(kernel, element, scalar),
        MemoryType::Struct(id) => kernel.structs[*id].fields.iter().any(|field| holds(kernel, &field.ty, scalar)),
    }
}

fn is_arithmetic(op: &Op) -> bool {
    match op {
        Op::Compute(Compute::Unary(..) | Compute::Binary(..) | Compute::MulAdd(..)) => true,
        Op::Intrinsic(row, _) => row.row().effects.is_pure(),
        _ => false,
    }
}
