//! Accesses of kernels whose threads are ordered by fences and atomics: checked against [`super::cells`], and atomics passed on by
//! [`super::order`].

use super::AccessKind;
use super::machine::{LaneFault, Machine};
use super::memory::Request;
use super::order::{Ordered, Passes, Reach};
use super::program::Program;
use super::registers::lanes;
use super::warp::Warp;
use warpwright_codegen::ir::{Atomicity, Scope, Space};
use warpwright_codegen::target::limits::LANES;

impl Machine<'_> {
    /// Whether the active lanes may access what they do.
    pub(super) fn check_order(&mut self, warp: &Warp, request: &Request<'_>, offsets: &[u64; LANES]) -> Result<(), LaneFault> {
        let Request { number, access, info, mask } = *request;
        let is_shared = info.space == Space::Shared;
        let is_written = info.space == Space::Global && info.is_written;
        if !is_shared && !is_written {
            return Ok(());
        }
        let size = access.ty.bytes();
        let is_write_only = access.kind == AccessKind::Write || request.is_store();
        // In shared memory nobody else is there.
        let is_for_block = !is_shared && access.atomic.is_some_and(|(_, atomicity)| atomicity.scope == Scope::Block);
        for lane in lanes(mask) {
            let now = self.now(warp, lane, number + 1);
            for n in 0..request.scalars() {
                let offset = offsets[lane] + n * u64::from(size);
                let cells = if is_shared { &mut self.block.cells } else { &mut self.cells };
                let cells = &mut cells[access.object];
                if is_shared && !is_write_only && !cells.is_initialised(offset, size) {
                    return Err(LaneFault { lane, kind: self.uninitialised(access, offset) });
                }
                if let Err(found) = cells.access(offset, size, (access.kind, is_for_block), &now, self.block.number, &self.block.order) {
                    let missing = self.block.order.missing(now.thread, found.epoch.block, found.thread, found.epoch.tick);
                    return Err(LaneFault { lane, kind: self.launch.unordered(access, offset, &found, self.block.number, missing) });
                }
            }
        }
        Ok(())
    }

    /// What an atomic of a lane tells those after it, and hears of those before it.
    pub(super) fn pass_on(&mut self, warp: &Warp, lane: usize, number: u32, offset: u64, passes: Passes, atomicity: Atomicity) {
        if !self.launch.program.has_fences {
            return;
        }
        let object = self.launch.program.accesses[number as usize].object;
        let now = self.now(warp, lane, number + 1);
        let Program { objects, is_clustered, has_patterns, .. } = self.launch.program;
        let space = objects[object].space;
        let reach = match space {
            // Other blocks come to the same array.
            Space::Shared | Space::Cluster if *is_clustered => Reach::Device,
            Space::Shared => Reach::Block,
            _ => Reach::of(atomicity.scope).unwrap_or(Reach::Block),
        };
        let ordered = Ordered { passes, order: atomicity.order, reach };
        let number = self.block.number;
        match objects[object].peers_of {
            Some(own) => {
                let (rank, offset) = self.peer_place(object, offset);
                // It is passed on through the block whose memory it is.
                let mut element = self.peer_mut(rank).passed.remove(&(own, offset)).unwrap_or_default();
                let patterns = has_patterns.then_some(&mut element.patterns);
                self.block.order.atomic(&now, number, &mut element.passed, patterns, &ordered);
                self.peer_mut(rank).passed.insert((own, offset), element);
            }
            None => {
                let passed = if space == Space::Shared { &mut self.block.passed } else { &mut self.passed };
                let element = passed.entry((object, offset)).or_default();
                let patterns = has_patterns.then_some(&mut element.patterns);
                self.block.order.atomic(&now, number, &mut element.passed, patterns, &ordered);
            }
        }
    }
}
