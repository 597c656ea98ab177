//! `rolled_loop`: a loop is kept rolled by `#[unroll(1)]`, or what is left of it by `#[unroll(N)]`, although counting and addresses are most of what its iterations do.
//!
//! Only loops that are kept rolled: all others of constant trips the assembler unrolls by itself. Of those tried, sums of up to 100 loads,
//! nests, conditions and early exits, `ptxas` 13 for sm_80 and sm_90 left none rolled.

use super::nest::trips;
use super::{Finding, Lint, Subject};
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::HashSet;
use warpwright_codegen::annotations::UNROLL;
use warpwright_codegen::ir::{Block, Compute, Inst, Kernel, Loc, Op, Region, Terminator, Type, Value};

pub(super) const LINT: Lint = Lint {
    name: "rolled_loop",
    summary: "a small loop of constant trips is kept rolled, and counting dominates it",
    of_machine: true,
    page: include_str!("rolled_loop.md"),
    check,
};

/// Most iterations times instructions of a body that unrolling would leave: more belongs into no instruction cache.
const MOST_UNROLLED: f64 = 1024.0;

/// The counter's sum, its comparison, and the branch.
const COUNTING: usize = 3;

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    // Addresses are instructions only there.
    let kernel = subject.known.legal.addressed();
    kernel.for_each_inst(|kernel, _, inst| {
        let op = &kernel.insts[inst].op;
        let Op::Region(Region::For { body, keep_rolled: true, .. }) = op else { return };
        let Some(trips) = trips(kernel, op).filter(|trips| *trips > 1.0) else { return };
        let Some((overhead, work)) = split(kernel, *body) else { return };
        let total = overhead + work;
        if overhead <= work || trips * total as f64 > MOST_UNROLLED {
            return;
        }
        let (span, factor) = place(subject, kernel.insts[inst].loc);
        let rounds = if factor == "1" { "iterations".to_owned() } else { format!("rounds of {factor} iterations") };
        found.push(Finding {
            span,
            message: format!(
                "{overhead} of about {total} instructions of each of {trips} {rounds} count and compute addresses; unrolled, they are constants"
            ),
            labels: Vec::new(),
            help: format!("write `#[unroll]` instead of `#[unroll({factor})]`"),
        });
    });
}

/// Instructions of a body that count and compute addresses, and all others. `None` if it branches: then they are not all of each iteration.
fn split(kernel: &Kernel, body: Block) -> Option<(usize, usize)> {
    let block = &kernel.blocks[body];
    // What a body hangs on from outside is no work of its iterations; what it carries that is no number of the kernel's own, is.
    let inside: HashSet<Value> = block.insts.iter().flat_map(|inst| kernel.insts[*inst].results.iter().copied()).collect();
    let mut bookkeeping: HashSet<Value> = block.params.iter().copied().filter(|param| is_address(kernel.ty(*param))).collect();
    let (mut overhead, mut work) = (COUNTING, 0);
    for inst in &block.insts {
        let data = &kernel.insts[*inst];
        if !data.op.blocks().is_empty() {
            return None;
        }
        if matches!(
            data.op,
            Op::Compute(Compute::Const(_))
                | Op::Terminator(Terminator::Yield(_))
                | Op::Compute(Compute::Special(..) | Compute::Address(_) | Compute::Len(_))
        ) {
            continue;
        }
        if is_bookkeeping(kernel, *inst, &bookkeeping, &inside) {
            bookkeeping.extend(&data.results);
            overhead += 1;
        } else {
            work += 1;
        }
    }
    Some((overhead, work))
}

/// Whether an instruction computes an integer or address from the counter, carried addresses, and what does not change.
fn is_bookkeeping(kernel: &Kernel, inst: Inst, bookkeeping: &HashSet<Value>, inside: &HashSet<Value>) -> bool {
    let data = &kernel.insts[inst];
    let computes = matches!(
        data.op,
        Op::Compute(Compute::Unary(..) | Compute::Binary(..) | Compute::MulAdd(..) | Compute::Cast(_) | Compute::Offset(..))
    );
    let gives = data.results.iter().all(|value| is_address(kernel.ty(*value)));
    let mut known = computes && gives;
    data.op.for_each_operand(|value| known &= bookkeeping.contains(&value) || !inside.contains(&value) || kernel.constant(value).is_some());
    known
}

fn is_address(ty: Type) -> bool {
    ty.is_int() || matches!(ty, Type::Ptr(_))
}

/// The annotation that keeps the loop rolled, if the loop is of the kernel's own body; and by how many it says to unroll, as it is written.
fn place(subject: &Subject<'_>, loc: Loc) -> (Span, String) {
    let span = subject.span(loc);
    let mut sites = subject.sites.loops.iter().filter(|site| site.keyword.start().line == span.start().line);
    let annotation = sites.find_map(|site| site.annotations.get(&UNROLL));
    let factor = annotation.and_then(|unroll| unroll.argument.as_ref()).map(|argument| argument.to_token_stream().to_string());
    (annotation.map_or(span, |unroll| unroll.place), factor.unwrap_or_else(|| "1".to_owned()))
}
