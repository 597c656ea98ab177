//! Shared memory of other blocks of the cluster: the place that `shared_of(&tile, rank)` is, and what a kernel that reaches so far owes the other blocks.
//!
//! A block that has not begun has no shared memory yet, and one that has ended has none any more. So
//!
//! * a `cluster_sync()` stands before the first use on every way there: asked of the source, where what is read is written before it, too;
//! * a block waits for the others at its end, unless it does already: added here. A `return` goes there; where another `cluster_sync()` may follow, those that have
//!   returned would be taken for ones that come to it, and the `return` is refused; and so it is where other threads of the block may come to a barrier or an exchange, which would
//!   wait for them.

use super::Lowerer;
use super::place::Place;
use crate::analysis::uniformity::Uniformity;
use crate::collections::HashSet;
use crate::diagnostic::Diagnostic;
use crate::hir::tree::Expr;
use crate::intrinsics::{self, SHARED_OF};
use crate::ir::{
    Access, Block, BoundsCheck, Builder, CompareOp, Inst, Kernel, Loc, Memory, MemoryType, Message, Object, ObjectKind, Op, PrintPart,
    Region, Scope, Step, Terminator, Value,
};
use proc_macro2::Span;

const SYNC: &str = "write `cluster_sync();` before it, behind what writes the array";

impl Lowerer<'_, '_> {
    /// Another block's array.
    pub(super) fn peer_place(&mut self, array: &Expr, rank: &Expr, span: Span) -> Place {
        let place = self.place(array);
        let rank = self.value(rank);
        self.at(span);
        let (access, ty) = match place {
            Place::Memory { access, ty } => (access, ty),
            other => {
                self.report(Diagnostic::error(array.span, format!("`{SHARED_OF}` takes a shared array")).help("declare it `#[shared]`"));
                return other;
            }
        };
        if let Some((why, help)) = self.out_of_reach(access.object) {
            let message = format!("`{SHARED_OF}` does not reach `{}`: {why}", self.kernel.objects[access.object].name);
            self.report(Diagnostic::error(array.span, message).help(help));
            return Place::Memory { access, ty };
        }
        let blocks = self.kernel.options.cluster_blocks();
        if blocks == 1 {
            self.check_rank(rank, blocks);
            return Place::Memory { access, ty };
        }
        if self.kernel.options.bounds == BoundsCheck::Trap {
            self.check_rank(rank, blocks);
        }
        let mut path = vec![Step::Index(rank)];
        path.extend(access.path);
        Place::Memory { access: Access { object: self.peers(access.object), path }, ty }
    }

    /// Why other blocks cannot reach an object, and what to do.
    fn out_of_reach(&self, object: Object) -> Option<(&'static str, &'static str)> {
        let data = &self.kernel.objects[object];
        if data.kind != ObjectKind::Shared {
            Some(("it is no shared array", "take an array that is declared `#[shared]`"))
        } else if matches!(data.ty, MemoryType::Slice(_)) {
            Some(("its length is the launch's", "declare it with its length: `#[shared] let mut tile: [f32; 256];`"))
        } else if self.kernel.swizzled.contains_key(&object) {
            Some(("its columns are swizzled", "leave `swizzle` out; `#[shared(pad = 1)]` avoids bank conflicts, too"))
        } else {
            None
        }
    }

    /// Stops the kernel where there is no such block.
    fn check_rank(&mut self, rank: Value, blocks: u32) {
        let mut b = self.builder();
        let ty = b.kernel.ty(rank);
        let blocks = b.int(ty, blocks.into());
        let fits = b.compare(CompareOp::Lt, rank, blocks);
        let text = |text: &str| PrintPart::Text(text.to_owned());
        let parts = vec![text("rank "), PrintPart::Argument(None), text(" of a cluster of "), PrintPart::Argument(None), text(" blocks")];
        b.push(Op::Message(Message::Assert(fits, parts, vec![rank, blocks])), &[]);
    }

    /// The arrays of the cluster's blocks that an array is one of.
    fn peers(&mut self, array: Object) -> Object {
        let known = self.kernel.objects.iter().find(|(_, data)| data.kind == ObjectKind::Peers(array)).map(|(object, _)| object);
        known.unwrap_or_else(|| {
            let (name, ty) = (self.kernel.objects[array].name.clone(), self.kernel.objects[array].ty.clone());
            let ty = MemoryType::Array(Box::new(ty), self.kernel.options.cluster_blocks().into());
            self.new_object(&name, ObjectKind::Peers(array), ty)
        })
    }

    /// Checks that the blocks of a cluster meet before they reach each other's memory, and has them meet when they end.
    pub(super) fn meet_peers(&mut self) {
        let uses: Vec<Inst> = self.kernel.insts_in(self.kernel.body).filter(|inst| is_use(&self.kernel, *inst)).collect();
        let Some(last) = uses.last() else { return };
        let loc = self.kernel.insts[*last].loc;
        let mut found = Vec::new();
        begun(&self.kernel, self.kernel.body, false, &mut found);
        let mut said = HashSet::default();
        for inst in found {
            let place = self.kernel.insts[inst].loc;
            if said.insert(place) {
                let name = self.kernel.insts[inst].op.object().map_or("", |object| self.kernel.objects[object].name.as_str());
                let message = format!(
                    "the other blocks may not have begun here: no `cluster_sync()` is before this use of their `{name}` on every way"
                );
                self.report(Diagnostic::error(self.spans[place.0 as usize], message).help(SYNC));
            }
        }
        let returns = early_returns(&self.kernel);
        self.check_returns(&returns);
        if returns.is_empty() && ends_in_barrier(&self.kernel) {
            return;
        }
        let returns: Vec<Inst> = returns.into_iter().map(|early| early.inst).collect();
        leave_together(&mut self.kernel, &returns, loc);
    }

    /// Refuses to return where others go on to what all have to come to: who has returned waits at the end.
    fn check_returns(&self, returns: &[EarlyReturn]) {
        if returns.is_empty() {
            return;
        }
        let uniformity = Uniformity::of(&self.kernel);
        for early in returns {
            let name = |inst: Inst| match (self.kernel.location(inst).call, &self.kernel.insts[inst].op) {
                (Some(call), _) => call.row().name,
                (None, Op::Intrinsic(call, _)) => call.row().name,
                (None, Op::Collective(collective)) => collective.word(),
                _ => "barrier",
            };
            let (met, message) = if let Some(met) = early.met.of_cluster {
                let message =
                    "a block that returns here does not come to a `cluster_sync()` of the others, who may still reach its shared memory";
                (met, message.to_owned())
            } else if let Some(met) = early.met.of_block.filter(|_| !uniformity.runs_together(early.inst)) {
                let name = name(met);
                (
                    met,
                    format!(
                        "a thread that returns here waits at the kernel's end, where `shared_of` needs its block, and others wait for it at a `{name}`"
                    ),
                )
            } else {
                continue;
            };
            let error = Diagnostic::error(self.span(early.inst), message).label(self.span(met), "this one");
            self.report(error.help(format!("put what follows under an `if`, and `{}` behind it", name(met))));
        }
    }

    fn span(&self, inst: Inst) -> Span {
        self.spans[self.kernel.insts[inst].loc.0 as usize]
    }
}

/// The first of what threads come to together.
#[derive(Clone, Copy, Default)]
struct Met {
    of_cluster: Option<Inst>,
    /// Of a block or a warp.
    of_block: Option<Inst>,
}

impl Met {
    fn note(&mut self, kernel: &Kernel, inst: Inst) {
        match kernel.effects(inst).converges {
            Some(Scope::Cluster) => self.of_cluster.get_or_insert(inst),
            Some(_) => self.of_block.get_or_insert(inst),
            None => return,
        };
    }
}

/// A return before the kernel's end, with what other threads may come to after it.
struct EarlyReturn {
    inst: Inst,
    met: Met,
}

/// The returns before the end.
fn early_returns(kernel: &Kernel) -> Vec<EarlyReturn> {
    let last = kernel.blocks[kernel.body].insts.last().copied();
    let mut found = Vec::new();
    returns_in(kernel, kernel.body, last, None, &mut found);
    found
}

/// Whether it reaches another block's memory.
fn is_use(kernel: &Kernel, inst: Inst) -> bool {
    matches!(&kernel.insts[inst].op, Op::Memory(Memory { at, .. }) if matches!(kernel.objects[at.object()].kind, ObjectKind::Peers(_)))
}

fn is_barrier(kernel: &Kernel, inst: Inst) -> bool {
    kernel.effects(inst).converges == Some(Scope::Cluster)
}

/// Goes through a block; `has_met`: whether the cluster's blocks have met where it begins. Gives whether they have where it ends, if it does.
fn begun(kernel: &Kernel, block: Block, mut has_met: bool, early: &mut Vec<Inst>) -> bool {
    for inst in &kernel.blocks[block].insts {
        if !has_met && is_use(kernel, *inst) {
            early.push(*inst);
        }
        has_met |= is_barrier(kernel, *inst);
        match kernel.insts[*inst].op {
            Op::Region(Region::If { then_block, else_block, .. }) => {
                let then = begun(kernel, then_block, has_met, early) || leaves(kernel, then_block);
                let otherwise = begun(kernel, else_block, has_met, early) || leaves(kernel, else_block);
                has_met |= then && otherwise;
            }
            // Its first round.
            Op::Region(Region::For { body, .. } | Region::Loop { body, .. }) => {
                begun(kernel, body, has_met, early);
            }
            Op::Region(Region::Block { body }) => {
                let behind = begun(kernel, body, has_met, early);
                has_met |= behind && !kernel.is_exited(*inst, body);
            }
            _ => {}
        }
    }
    has_met
}

/// Whether the thread does not come to what stands behind a block.
fn leaves(kernel: &Kernel, block: Block) -> bool {
    let last = kernel.terminator(block).map(|inst| &kernel.insts[inst].op);
    matches!(last, Some(Op::Terminator(Terminator::Return | Terminator::Trap(_))))
}

/// Notes the returns of a block, and what comes behind those noted before. `round`: what is in the outermost loop round the block, where others may still go round.
fn returns_in(kernel: &Kernel, block: Block, last: Option<Inst>, round: Option<Met>, found: &mut Vec<EarlyReturn>) {
    for inst in &kernel.blocks[block].insts {
        let op = &kernel.insts[*inst].op;
        if kernel.effects(*inst).is_convergent() {
            found.iter_mut().for_each(|early| early.met.note(kernel, *inst));
        }
        if matches!(op, Op::Terminator(Terminator::Return)) && Some(*inst) != last {
            found.push(EarlyReturn { inst: *inst, met: round.unwrap_or_default() });
        }
        let children = op.blocks();
        let round = round.or_else(|| {
            let mut met = Met::default();
            let inside = children.iter().flat_map(|child| kernel.insts_in(*child));
            op.is_loop().then(|| inside.for_each(|inner| met.note(kernel, inner))).map(|()| met)
        });
        for child in children {
            returns_in(kernel, child, last, round, found);
        }
    }
}

/// Whether nothing reaches another block's memory behind the last barrier of the cluster, which all threads come to.
fn ends_in_barrier(kernel: &Kernel) -> bool {
    let uses = |inst: Inst| {
        is_use(kernel, inst)
            || kernel.insts[inst].op.blocks().into_iter().any(|block| kernel.insts_in(block).any(|inner| is_use(kernel, inner)))
    };
    kernel.blocks[kernel.body].insts.iter().rev().take_while(|inst| !uses(**inst)).any(|inst| is_barrier(kernel, *inst))
}

/// Has all threads of the cluster meet at the kernel's end, those that return earlier, too.
fn leave_together(kernel: &mut Kernel, returns: &[Inst], loc: Loc) {
    let body = kernel.body;
    let mut insts = std::mem::take(&mut kernel.blocks[body].insts);
    let end = insts.pop_if(|last| matches!(kernel.insts[*last].op, Op::Terminator(Terminator::Return)));
    if returns.is_empty() {
        let Some(end) = end else {
            kernel.blocks[body].insts = insts;
            return;
        };
        kernel.blocks[body].insts = insts;
        meet(kernel, loc);
        kernel.blocks[body].insts.push(end);
        return;
    }
    let once = kernel.new_block(&[]);
    let region = kernel.new_inst(Op::Region(Region::Block { body: once }), &[], loc);
    for inst in returns {
        kernel.insts[*inst].op = Op::Terminator(Terminator::Break(region, Vec::new()));
    }
    kernel.blocks[once].insts = insts;
    if end.is_some() {
        Builder::new(kernel, once, loc).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
    }
    kernel.blocks[body].insts.push(region);
    meet(kernel, loc);
    let end = end.unwrap_or_else(|| kernel.new_inst(Op::Terminator(Terminator::Return), &[], loc));
    kernel.blocks[body].insts.push(end);
}

/// A barrier of the cluster at the end of the body as it is.
fn meet(kernel: &mut Kernel, loc: Loc) {
    let body = kernel.body;
    if let Some(row) = intrinsics::by_name(intrinsics::called::CLUSTER_SYNC, None) {
        Builder::new(kernel, body, loc).push(Op::Intrinsic(row, Vec::new()), &[]);
    }
}
