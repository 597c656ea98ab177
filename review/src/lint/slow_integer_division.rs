//! `slow_integer_division`: a loop divides integers by something that is no constant, for which devices have no instruction.
//!
//! Divisions by constants are a product and a shift, those outside loops are done once, and what does not change in a loop has been moved
//! out of it: none of these is found. Divisions by one value are found once, if they are more than a little of the kernel's time.

use super::nest::{Nest, is_power_of_two};
use super::weigh::{Scales, WORTH};
use super::{Finding, Lint, Subject};
use warpwright_codegen::ir::{BinaryOp, Compute, Inst, Op, Type, Value};

pub(super) const LINT: Lint = Lint {
    name: "slow_integer_division",
    summary: "a loop divides integers by a variable",
    of_machine: true,
    page: include_str!("slow_integer_division.md"),
    check,
};

/// Instructions of a division: counted in what `ptxas` 13 makes of one for sm_80 and sm_90.
fn instructions(ty: Type) -> u32 {
    match ty {
        Type::U64 | Type::I64 => 68,
        ty if ty.is_signed_int() => 22,
        _ => 17,
    }
}

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let mut all: Vec<(Value, BinaryOp, Inst)> = Vec::new();
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Compute(Compute::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), _, divisor)) = kernel.insts[inst].op
            && kernel.ty(divisor).is_int()
            && kernel.constant(divisor).is_none()
        {
            all.push((divisor, op, inst));
        }
    });
    if all.is_empty() {
        return;
    }
    let nest = Nest::of(kernel);
    all.retain(|(.., inst)| nest.loop_of(*inst).is_some());
    if all.is_empty() {
        return;
    }
    let scales = Scales::of(subject);
    while let Some(&(divisor, op, first)) = all.first() {
        let (same, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(other, ..)| *other == divisor);
        all = others;
        let ty = kernel.ty(divisor);
        let share: f64 = same.iter().map(|(.., inst)| scales.of_instructions(*inst, f64::from(instructions(ty)))).sum();
        if share < WORTH {
            continue;
        }
        let loc = |inst: Inst| kernel.insts[inst].loc;
        let mut labels: Vec<_> =
            nest.loop_of(first).map(|owner| (subject.span(loc(owner)), "in this loop".to_owned())).into_iter().collect();
        labels.extend(same[1..].iter().map(|(.., inst)| (subject.span(loc(*inst)), "and here by the same".to_owned())));
        let sign = if op == BinaryOp::Div { "/" } else { "%" };
        let help = match (is_power_of_two(kernel, divisor), op) {
            (true, BinaryOp::Rem) => "the divisor `d` is a power of two: write `x & (d - 1)` for `x % d`",
            (true, _) => "the divisor `d` is a power of two: write `x >> d.trailing_zeros()` for `x / d`",
            _ => {
                "divide by a constant or a const generic, carry quotient and rest from one iteration to the next, or divide before the loop"
            }
        };
        found.push(Finding {
            span: subject.span(loc(first)),
            message: format!(
                "`{sign}` of `{ty}` by a variable is about {} instructions in each iteration; by a constant about 3",
                instructions(ty)
            ),
            labels,
            help: help.to_owned(),
        });
    }
}
