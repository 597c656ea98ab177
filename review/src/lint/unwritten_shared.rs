//! `unwritten_shared`: a shared array is read, or changed by an atomic, before anything has written it.
//!
//! Only what is proved is said: no thread's way to the read has a write to the array, whichever sides and rounds are taken.

use super::{Finding, Lint, Subject};
use std::collections::BTreeSet;
use warpwright_codegen::ir::{AtomicOp, Block, Inst, Kernel, Memory, MemoryOp, Object, ObjectKind, Op};

pub(super) const LINT: Lint = Lint {
    name: "unwritten_shared",
    summary: "shared memory is read before anything has written it",
    of_machine: false,
    page: include_str!("unwritten_shared.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    if kernel.objects.values().all(|data| data.kind != ObjectKind::Shared) {
        return;
    }
    let mut walk = Walk { kernel, written: BTreeSet::new(), found: Vec::new() };
    walk.block(kernel.body);
    for (inst, array) in walk.found {
        let name = &kernel.objects[array].name;
        let (does, help) = if matches!(kernel.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Atomic(..), .. })) {
            ("changed", "set its elements first, each by one thread")
        } else {
            ("read", "write it first")
        };
        findings.push(Finding {
            span: subject.span(kernel.insts[inst].loc),
            message: format!(
                "`{name}` is {does} here, and nothing has written it before: shared memory holds anything when a block begins"
            ),
            labels: Vec::new(),
            help: format!("{help}, and put `sync_threads()` between"),
        });
    }
}

/// The shared array that an object is, in this block or in others of the cluster.
fn array(kernel: &Kernel, object: Object) -> Option<Object> {
    match kernel.objects[object].kind {
        ObjectKind::Shared => Some(object),
        ObjectKind::Peers(array) => Some(array),
        _ => None,
    }
}

struct Walk<'k> {
    kernel: &'k Kernel,
    /// Arrays that may have been written before the present place, by any thread.
    written: BTreeSet<Object>,
    /// The first reads of each that were not.
    found: Vec<(Inst, Object)>,
}

impl Walk<'_> {
    fn block(&mut self, block: Block) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[*inst].op;
            // The engine's own arrays, and what it copies, are the compiler's. An exchange is how an atomic begins.
            let begins = matches!(op, Op::Memory(Memory { op: MemoryOp::Atomic(AtomicOp::Store | AtomicOp::Exchange, ..), .. }));
            if !begins && !matches!(op, Op::Engine(_)) {
                for array in op.effects(kernel).reads.iter().filter_map(|object| array(kernel, object)) {
                    if self.written.insert(array) {
                        self.found.push((*inst, array));
                    }
                }
            }
            self.write(*inst);
            let blocks = op.blocks();
            for child in &blocks {
                // What comes before in the next round, or what threads do on the other side.
                let others = blocks.iter().filter(|other| op.is_loop() || *other != child);
                others.for_each(|other| self.write_all(*other));
                self.block(*child);
            }
        }
    }

    fn write_all(&mut self, block: Block) {
        let insts: Vec<Inst> = self.kernel.insts_in(block).collect();
        insts.into_iter().for_each(|inst| self.write(inst));
    }

    fn write(&mut self, inst: Inst) {
        let (kernel, op) = (self.kernel, &self.kernel.insts[inst].op);
        let touched = op.effects(kernel).writes.or_else(|| op.object().filter(|_| !matches!(op, Op::Memory(_))));
        self.written.extend(touched.and_then(|object| array(kernel, object)));
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn says(body: &str) -> Vec<(String, String)> {
        let source = format!(
            "#[kernel(block = 128)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>, counts: &mut Global<u32>) {{ #[shared] let mut s: [f32; 128]; #[shared] let mut bins: [u32; 16]; \
             let t = thread_idx().x; let i = global_id().x; {body} }}"
        );
        found("unwritten_shared", &source)
    }

    #[test]
    fn reads_of_what_nobody_wrote_are_found() {
        for body in [
            "y[i] = s[t];",
            "sync_threads(); y[i] = s[127 - t]; s[t] = x[i]; counts[i] = s[t] as u32;",
            "if i < n { y[i] = s[t]; s[t] = x[i]; sync_warp(); y[i] += s[t ^ 1]; }",
        ] {
            let found = says(body);
            assert_eq!(found.len(), 1, "{body}: {found:?}");
            assert_eq!(found[0].0, "`s` is read here, and nothing has written it before: shared memory holds anything when a block begins");
            assert_eq!(found[0].1, "write it first, and put `sync_threads()` between");
        }
    }

    #[test]
    fn histograms_that_do_not_begin_at_zero_are_found() {
        let found =
            says("bins.atomic_add((x[i] as usize) % 16, 1); sync_threads(); if t < 16 { counts[block_idx().x * 16 + t] = bins[t]; }");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0].0,
            "`bins` is changed here, and nothing has written it before: shared memory holds anything when a block begins"
        );
        let whole = "if t < 16 { bins[t] = 0; } sync_threads(); bins.atomic_add((x[i] as usize) % 16, 1); sync_threads(); if t < 16 { counts[block_idx().x * 16 + t] = bins[t]; }";
        assert_eq!(says(whole), []);
    }

    #[test]
    fn what_somebody_may_have_written_is_not() {
        for body in [
            "s[t] = x[i]; sync_threads(); y[i] = s[127 - t];",
            "if t == 0 { s[0] = x[i]; } sync_threads(); y[i] = s[0];",
            // By the other side, or in the round before.
            "if t < 64 { s[t] = x[i]; } else { y[i] = s[t - 64]; }",
            "for k in 0..n { if k > 0 { y[i] += s[127 - t]; } sync_threads(); s[t] = x[k]; sync_threads(); }",
            "load_run(&mut s, x, block_idx().x * 128); sync_threads(); y[i] = s[t];",
            "y[i] = block_sum(x[i]);",
            "if t < 16 { bins.atomic_exchange(t, 0); } sync_threads(); bins.atomic_add(t % 16, 1); sync_threads(); counts[i] = bins[t % 16];",
        ] {
            assert_eq!(says(body), [], "{body}");
        }
    }
}
