//! Tiles that leave shared memory by the copy engine (`by = tma`, sm_90 on): the `store_tile`s of a pipelined loop's work.
//!
//! ```text
//! c_tile[i] = …                   c_tile[i] = …
//!                                 engine_fence
//! sync_threads()             ▶    sync_threads()
//! store_tile(c, r, k, &c_tile)    if t == 0 { put_tile c_tile, c, r, k; commit_stores }
//! …                               …
//!                                 if t == 0 { await_stores 0 read }
//! sync_threads()                  sync_threads()
//! ```
//!
//! The thread that tells the engine to copy in tells it to copy out, too. The engine reads what threads wrote behind a fence of each of them and a barrier,
//! so a fence stands before each barrier that comes after a write of such an array; and the array may be written again once the engine has read it, so
//! that thread waits before the last barrier ahead of such a write, which tells the others. Behind the loop it waits until the matrix is written, before the loop's closing barrier: what comes
//! then sees what the loop stored.
//!
//! Stores of the engine may land in any order. Where two of a loop may meet in the matrix, each waits until the one before is done, not only read.
//! Within the loop nobody else may touch the matrix, nor tell other blocks that it was written: [`Plan::store_obstacle`].

use super::super::Refusal;
use super::super::collectives::{obstacle, store_by_engine};
use super::super::dependence::defined;
use super::{Plan, all_in};
use crate::analysis::affine::Affine;
use crate::annotations::Modifier;
use crate::collections::HashSet;
use crate::ir::{Block, Builder, Collective, Engine, Inst, Kernel, Object, ObjectKind, Op, Scope, StoreStage, Value};

/// The most elements from a store to that of the next iteration, for them to be known apart: indices wrap round after 2³², and then so many iterations
/// lie between two stores that meet.
const MOST_DISTANCE: u64 = 1 << 16;

impl Plan {
    /// The `store_tile`s of the work.
    pub(super) fn stores(&self, kernel: &Kernel) -> Vec<Inst> {
        let is_store = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Collective(Collective::StoreTile { .. }));
        all_in(kernel, &self.work).into_iter().filter(is_store).collect()
    }

    /// R9: why the engine cannot make the stores of this loop.
    pub(super) fn store_obstacle(&self, kernel: &Kernel) -> Option<Refusal> {
        let of_tile = |store: &Inst| {
            let Op::Collective(collective) = &kernel.insts[*store].op else { return None };
            let refusal = obstacle(kernel, &[collective], Modifier::ByTma, Modifier::ByTma)?;
            Some(refusal.label(kernel.insts[*store].loc, "stored here"))
        };
        self.stores(kernel).iter().find_map(of_tile).or_else(|| self.touched_while_stored(kernel, Modifier::ByTma.name(), "by"))
    }

    /// Why the stores may not be under way while the loop goes on. `asks` says that they are, and can be left out by `word`.
    pub(super) fn touched_while_stored(&self, kernel: &Kernel, asks: &str, word: &str) -> Option<Refusal> {
        let stores = self.stores(kernel);
        for store in &stores {
            let Op::Collective(collective) = &kernel.insts[*store].op else { continue };
            let matrix = collective.buffer();
            let name = kernel.objects[matrix].name.trim_end_matches(".data");
            let touches = |inst: &Inst| {
                let effects = kernel.effects(*inst);
                !stores.contains(inst) && (effects.reads.contains(matrix) || effects.writes == Some(matrix))
            };
            if let Some(other) = kernel.insts_in(self.walk.body).find(touches) {
                let message = format!("`{asks}`: tiles that are stored to `{name}` may arrive after this access of the same loop");
                let refusal = Refusal::new(message, format!("access `{name}` behind the loop, or leave `{word}` out"));
                return Some(refusal.label(kernel.insts[other].loc, "accessed here").label(kernel.insts[*store].loc, "stored here"));
            }
            let tells = |inst: &Inst| kernel.effects(*inst).orders >= Some(Scope::Device);
            if let Some(told) = kernel.insts_in(self.walk.body).find(tells) {
                let message = format!("`{asks}`: another block may learn of the tiles that are stored to `{name}` before they arrive");
                let refusal = Refusal::new(message, format!("tell other blocks behind the loop, or leave `{word}` out"));
                return Some(refusal.label(kernel.insts[told].loc, "told here").label(kernel.insts[*store].loc, "stored here"));
            }
        }
        None
    }

    /// What a store waits for of the ones before: that they have read, where no two of the loop meet in a matrix; else that they are done.
    pub(super) fn stores_until(&self, kernel: &Kernel, affine: &mut Affine) -> StoreStage {
        let stores = self.stores(kernel);
        let mut inside = defined(kernel, self.walk.body);
        inside.insert(self.walk.counter);
        let counter = affine.counter(kernel, self.walk.counter);
        let step = kernel.constant(self.walk.step).map(|step| step.as_int());
        let mut goes_on = |at: Value, length: u64| {
            let Some((factor, rest)) = affine.polynomial(kernel, at).split(counter) else { return false };
            let (Some(factor), Some(step)) = (factor.as_constant(), step) else { return false };
            let distance = u64::try_from((i128::from(factor) * step).abs()).unwrap_or(u64::MAX);
            let is_same = rest.atoms().all(|atom| !affine.depends(atom, &|value| inside.contains(&value)));
            is_same && (length..=MOST_DISTANCE).contains(&distance)
        };
        let mut matrices: HashSet<Object> = HashSet::default();
        let are_apart = stores.iter().all(|store| {
            let Op::Collective(Collective::StoreTile { to, row, column, from }) = &kernel.insts[*store].op else { return false };
            let Some((rows, columns, _)) = kernel.tile_of(from) else { return false };
            matrices.insert(to.data)
                && self.work.contains(store)
                && (goes_on(*row, rows) || goes_on(*column, columns) || to.batch.is_some_and(|batch| goes_on(batch.index, 1)))
        });
        if are_apart { StoreStage::Read } else { StoreStage::Done }
    }
}

/// The stores of a loop, given to the engine.
pub(super) struct Stores {
    /// The arrays that are stored from.
    sources: HashSet<Object>,
    /// What a store waits for of the ones before.
    until: StoreStage,
    /// Whether each is a group of its own.
    commits: bool,
    /// Whether an array was written since the last barrier.
    written: bool,
    /// Whether a store was asked for since the last barrier.
    stored: bool,
}

impl Stores {
    /// Those of these instructions, which are in their slots already.
    pub(super) fn of(kernel: &Kernel, work: &[Inst], until: StoreStage, commits: bool) -> Stores {
        let source = |inst: Inst| match &kernel.insts[inst].op {
            Op::Collective(Collective::StoreTile { from, .. }) => Some(from.object),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => None,
        };
        Stores { sources: all_in(kernel, work).into_iter().filter_map(source).collect(), until, commits, written: false, stored: false }
    }

    /// Whether an array of theirs, but for rings, is written outside of a loop.
    pub(super) fn are_written_outside(&self, kernel: &Kernel, body: Block) -> bool {
        let inside: HashSet<Inst> = kernel.insts_in(body).collect();
        let is_source = |object: &Object| self.sources.contains(object) && !kernel.rings.contains_key(object);
        let mut is_written = false;
        kernel.for_each_inst(|kernel, _, inst| {
            is_written |= !inside.contains(&inst) && kernel.effects(inst).writes.as_ref().is_some_and(is_source);
        });
        is_written
    }

    /// Gives the engine the stores of a block, from an instruction on: of the body from the work on, or of a block in it, from 0 on.
    pub(super) fn weave(&mut self, kernel: &mut Kernel, block: Block, from: usize) {
        let insts = kernel.blocks[block].insts.split_off(from);
        for (n, inst) in insts.iter().copied().enumerate() {
            let (op, loc) = (kernel.insts[inst].op.clone(), kernel.insts[inst].loc);
            if let Op::Collective(collective @ Collective::StoreTile { .. }) = op {
                let commits = self.commits;
                let mut b = Builder::new(kernel, block, loc);
                let store = store_by_engine(&mut b, &collective);
                b.in_first_thread(|b| {
                    if let Some(store) = store {
                        b.push(Op::Engine(store), &[]);
                    }
                    if commits {
                        b.push(Op::Engine(Engine::CommitStores), &[]);
                    }
                });
                self.stored = true;
                continue;
            }
            if kernel.effects(inst).is_barrier() {
                // What is not written before the next barrier need not be read yet.
                let goes_on = self.until == StoreStage::Read && from > 0 && !self.are_written_next(kernel, &insts[n + 1..]);
                let stored = self.stored;
                self.stored &= !goes_on;
                self.settle(&mut Builder::new(kernel, block, loc));
                self.stored = stored && goes_on;
            }
            kernel.blocks[block].insts.push(inst);
            let blocks = op.blocks();
            if op.is_loop() {
                // What the end of an iteration leaves, the next one begins with.
                for inner in blocks.iter().flat_map(|block| kernel.insts_in(*block)).collect::<Vec<Inst>>() {
                    self.written |= self.writes(kernel, inner);
                    self.stored |= matches!(kernel.insts[inner].op, Op::Collective(Collective::StoreTile { .. }));
                }
            }
            let before = (self.written, self.stored);
            let mut behind = before;
            for inner in blocks {
                (self.written, self.stored) = before;
                self.weave(kernel, inner, 0);
                behind = (behind.0 | self.written, behind.1 | self.stored);
            }
            (self.written, self.stored) = behind;
            self.written |= self.writes(kernel, inst);
        }
    }

    /// Whether an array of theirs is written before the next barrier.
    fn are_written_next(&self, kernel: &Kernel, insts: &[Inst]) -> bool {
        let next: Vec<Inst> = insts.iter().copied().take_while(|inst| !kernel.effects(*inst).is_barrier()).collect();
        all_in(kernel, &next).into_iter().any(|inst| self.writes(kernel, inst))
    }

    fn writes(&self, kernel: &Kernel, inst: Inst) -> bool {
        kernel
            .effects(inst)
            .writes
            .is_some_and(|object| self.sources.contains(&object) && kernel.objects[object].kind == ObjectKind::Shared)
    }

    /// What stands before a barrier, as far as it is needed: each thread's fence, and the wait of the one that tells the engine.
    pub(super) fn settle(&mut self, b: &mut Builder<'_>) {
        if std::mem::take(&mut self.written) {
            b.push(Op::Engine(Engine::Fence), &[]);
        }
        if std::mem::take(&mut self.stored) {
            let until = self.until;
            b.in_first_thread(|b| b.await_stores(0, until));
        }
    }
}
