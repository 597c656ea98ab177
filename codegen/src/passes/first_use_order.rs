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
//! **Needs** to run behind all that moves products. **Preserves** everything: between the loads of a run there is nothing but such loads and pure
//! instructions. **Refuses** nothing; a load whose pointer is computed within its run stays behind that.

use crate::annotations::PREFETCH;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Block, Inst, Kernel, Op, Space, Terminator, Value};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let early = kernel.early_loads.iter().filter(|early| *early.annotation == PREFETCH);
    let loads: HashSet<Inst> = early.flat_map(|early| &early.loads).copied().filter(|load| is_of_shared(kernel, *load)).collect();
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

fn is_of_shared(kernel: &Kernel, load: Inst) -> bool {
    kernel.insts[load].op.object().is_some_and(|object| kernel.objects[object].space() == Space::Shared)
}

/// The places of loads in a block that have nothing but each other and pure instructions between them, none of which uses what they load.
fn runs(kernel: &Kernel, block: Block, loads: &HashSet<Inst>) -> Vec<Vec<usize>> {
    let (mut runs, mut run, mut loaded) = (Vec::new(), Vec::new(), HashSet::<Value>::default());
    for (n, inst) in kernel.blocks[block].insts.iter().enumerate() {
        let data = &kernel.insts[*inst];
        let is_load = loads.contains(inst);
        let mut uses = false;
        data.op.for_each_operand(|value| uses |= loaded.contains(&value));
        if uses || !(is_load || kernel.effects(*inst).is_pure() && !data.op.owns_blocks()) {
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

/// Puts the loads at these places of a block into the order of their first uses. Whether that is another order.
fn order(kernel: &mut Kernel, block: Block, run: &[usize], uses: &HashMap<Value, usize>) -> bool {
    let insts = &kernel.blocks[block].insts;
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
    // A pointer that is computed between the loads keeps all of them where they are.
    let computed: HashSet<Value> = insts[*first..*last].iter().flat_map(|inst| kernel.insts[*inst].results.clone()).collect();
    let needs_one = |n: &usize| kernel.insts[insts[*n]].op.operands().iter().any(|value| computed.contains(value));
    if run.iter().any(needs_one) {
        return false;
    }
    let used = |inst: &Inst| kernel.insts[*inst].results.iter().filter_map(|value| uses.get(value)).min().copied().unwrap_or(usize::MAX);
    let before: Vec<Inst> = run.iter().map(|n| insts[*n]).collect();
    let mut after = before.clone();
    after.sort_by_key(used);
    for (n, inst) in run.iter().zip(&after) {
        kernel.blocks[block].insts[*n] = *inst;
    }
    before != after
}
