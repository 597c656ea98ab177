//! Loads of shared arrays that `prefetch` issues early stand in the order in which their values are used first.
//!
//! ```text
//! a0 = load(&a[4]); a1 = load(&a[8]); b0 = load(&b[4])         (as the source says it)
//!                          ▶
//! a0 = load(&a[4]); b0 = load(&b[4]); a1 = load(&a[8])         where a0 * b0 is the first product and a1 * b0 a later one
//! ```
//!
//! `ptxas` is told to keep the order (`backend/ptx/early.rs`), and spreads the loads over the work in front of which they stand. So the last of them has the
//! shortest way to its use, and that is to be the one that is used last.
//!
//! **Needs** to run behind all that moves products. **Preserves** everything: between the loads of a run there is nothing but such loads and what computes
//! their addresses, which moves in front. **Refuses** nothing.

use crate::collections::{HashMap, HashSet};
use crate::ir::{Block, Inst, Kernel, Op, Terminator, Value};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let early = kernel.early_loads.iter().filter(|early| early.are_fragments(kernel));
    let loads: HashSet<Inst> = early.flat_map(|early| &early.loads).copied().collect();
    let mut changed = false;
    if loads.is_empty() {
        return changed;
    }
    let mut blocks = vec![kernel.body];
    while let Some(block) = blocks.pop() {
        blocks.extend(kernel.blocks[block].insts.iter().flat_map(|inst| kernel.insts[*inst].op.blocks()));
        let runs = runs(kernel, block, &loads);
        if runs.iter().any(|run| run.len() > 1) {
            let uses = first_uses(kernel, block);
            for run in runs {
                changed |= order(kernel, block, &run, &uses);
            }
        }
    }
    changed
}

/// The places of loads in a block that have nothing but each other and what computes their addresses between them. Work between loads parts them: it is what
/// they were issued ahead of.
fn runs(kernel: &Kernel, block: Block, loads: &HashSet<Inst>) -> Vec<Vec<usize>> {
    let insts = &kernel.blocks[block].insts;
    // What the loads' addresses are made of in this block.
    let (mut of_addresses, mut needed) = (HashSet::<Inst>::default(), HashSet::<Value>::default());
    for inst in insts.iter().rev() {
        let data = &kernel.insts[*inst];
        let is_needed = data.results.iter().any(|value| needed.contains(value)) && kernel.effects(*inst).is_pure();
        if is_needed || loads.contains(inst) {
            data.op.for_each_operand(|value| _ = needed.insert(value));
            of_addresses.extend(is_needed.then_some(*inst));
        }
    }
    let (mut runs, mut run, mut loaded) = (Vec::new(), Vec::new(), HashSet::<Value>::default());
    for (n, inst) in insts.iter().enumerate() {
        let data = &kernel.insts[*inst];
        let is_load = loads.contains(inst);
        let mut uses = false;
        data.op.for_each_operand(|value| uses |= loaded.contains(&value));
        if uses || !(is_load || of_addresses.contains(inst) && !data.op.owns_blocks()) {
            runs.push(std::mem::take(&mut run));
            loaded.clear();
        }
        if is_load {
            run.push(n);
            loaded.extend(data.results.iter().copied());
        }
    }
    runs.push(run);
    runs
}

/// By value, which instruction behind the start of a block uses it first; what is handed on to the next iteration of a loop is used where that uses it.
fn first_uses(kernel: &Kernel, block: Block) -> HashMap<Value, usize> {
    let insts = &kernel.blocks[block].insts;
    let mut uses: HashMap<Value, usize> = HashMap::default();
    for (n, inst) in insts.iter().enumerate().filter(|(_, inst)| !kernel.insts[**inst].op.is_terminator()) {
        kernel.insts[*inst].op.for_each_operand(|value| _ = uses.entry(value).or_insert(n));
        for inner in kernel.insts[*inst].op.blocks().into_iter().flat_map(|inner| kernel.insts_in(inner)) {
            kernel.insts[inner].op.for_each_operand(|value| _ = uses.entry(value).or_insert(n));
        }
    }
    // Those of a loop's body: the parameter's first use, an iteration later.
    if let Some(Op::Terminator(Terminator::Yield(values))) = insts.last().map(|last| &kernel.insts[*last].op) {
        let params = &kernel.blocks[block].params;
        let carried = params.len().checked_sub(values.len()).map(|first| &params[first..]).unwrap_or_default();
        for (value, param) in values.iter().zip(carried) {
            let there = uses.get(param).copied().unwrap_or(insts.len());
            uses.entry(*value).or_insert(insts.len() + there);
        }
    }
    uses
}

/// Puts the loads at these places of a block into the order of their first uses, behind what computes their addresses. Whether that is another order.
fn order(kernel: &mut Kernel, block: Block, run: &[usize], uses: &HashMap<Value, usize>) -> bool {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
    let before = kernel.blocks[block].insts[*first..=*last].to_vec();
    let used = |inst: &Inst| kernel.insts[*inst].results.iter().filter_map(|value| uses.get(value)).min().copied().unwrap_or(usize::MAX);
    let (mut loads, mut after): (Vec<Inst>, Vec<Inst>) = before.iter().partition(|inst| !kernel.effects(**inst).reads.is_empty());
    loads.sort_by_key(used);
    after.extend(loads);
    let changed = before != after;
    kernel.blocks[block].insts.splice(*first..=*last, after);
    changed
}
