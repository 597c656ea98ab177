//! `local_memory`: an array of a thread is indexed by what is only known at run time, so that it has an address, and no registers.
//!
//! An array that only counters of small loops of constant trips index is left alone: the assembler unrolls those by itself, and then every
//! index is a constant. Histograms of a thread and other arrays that data indexes are found: what they cost is worth knowing.
//! An array that the thread's own number indexes was probably meant for the block: the help asks.

use super::nest::{Nest, names_thread};
use super::{Finding, Lint, Subject};
use warpwright_codegen::ir::{Access, Address, Inst, Kernel, Memory, MemoryOp, Object, ObjectKind, Op};

pub(super) const LINT: Lint = Lint {
    name: "local_memory",
    summary: "an array of a thread lives in local memory",
    of_machine: true,
    page: include_str!("local_memory.md"),
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    if !kernel.objects.values().any(|object| object.kind == ObjectKind::Local) {
        return;
    }
    let nest = Nest::of(kernel);
    let mut culprits: Vec<(Object, Inst)> = Vec::new();
    kernel.for_each_inst(|kernel, _, inst| {
        let Some(access) = access(kernel, inst) else { return };
        let is_local = kernel.objects[access.object].kind == ObjectKind::Local;
        let is_new = !culprits.iter().any(|(object, _)| *object == access.object);
        if is_local && is_new && !access.indices().all(|index| nest.is_constant_once_unrolled(index)) {
            culprits.push((access.object, inst));
        }
    });
    for (object, inst) in culprits {
        let data = &kernel.objects[object];
        let bytes = data.ty.size(&kernel.structs);
        found.push(Finding {
            span: subject.span(data.loc),
            message: format!(
                "`{}` is in local memory, {bytes} bytes of each thread: its index is not a constant, and registers have no addresses",
                data.name
            ),
            labels: vec![(subject.span(kernel.insts[inst].loc), "indexed here by a value that is only known at run time".to_owned())],
            help: help(kernel, object),
        });
    }
}

fn help(kernel: &Kernel, object: Object) -> String {
    let mut is_by_thread = false;
    kernel.for_each_inst(|kernel, _, inst| {
        let access = access(kernel, inst).filter(|access| access.object == object);
        is_by_thread |= access.is_some_and(|access| access.indices().any(|index| names_thread(kernel, index)));
    });
    if is_by_thread {
        let name = &kernel.objects[object].name;
        return format!(
            "each thread has a `{name}` of its own, and the thread's number indexes it: was one array for the block meant? Then write `#[shared]` \
             before `let mut {name}`, with its type and no value"
        );
    }
    "index it by constants, or by the counter of a loop of constant trips with `#[unroll]`; or keep it in a `#[shared]` array, one row for \
     each thread"
        .to_owned()
}

fn access(kernel: &Kernel, inst: Inst) -> Option<&Access> {
    if let Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::Store(_), at: Address::Path(access) }) = &kernel.insts[inst].op {
        Some(access)
    } else {
        None
    }
}
