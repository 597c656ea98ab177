//! Accesses of kernels whose threads are ordered by fences and atomics: checked against [`super::cells`], and atomics passed on by
//! [`super::order`].

use super::AccessKind;
use super::machine::{LaneFault, Machine};
use super::memory::Request;
use super::registers::lanes;
use super::warp::Warp;
use warpwright_codegen::ir::Space;
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
        for lane in lanes(mask) {
            let now = self.now(warp, lane, number + 1);
            for n in 0..request.scalars() {
                let offset = offsets[lane] + n * u64::from(size);
                let cells = if is_shared { &mut self.block.cells } else { &mut self.cells };
                let cells = &mut cells[access.object];
                if is_shared && access.kind != AccessKind::Write && !cells.is_initialised(offset, size) {
                    return Err(LaneFault { lane, kind: self.uninitialised(access, offset) });
                }
                if let Err(found) = cells.access(offset, size, access.kind, &now, self.block.number, &self.block.order) {
                    let missing = self.block.order.missing(now.thread, found.epoch.block, found.thread, found.epoch.tick);
                    return Err(LaneFault { lane, kind: self.launch.unordered(access, offset, &found, self.block.number, missing) });
                }
            }
        }
        Ok(())
    }

    /// What an atomic of a lane tells those after it, and hears of those before it.
    pub(super) fn pass_on(&mut self, warp: &Warp, lane: usize, number: u32, offset: u64, writes: bool) {
        if !self.launch.program.has_fences {
            return;
        }
        let object = self.launch.program.accesses[number as usize].object;
        let now = self.now(warp, lane, number + 1);
        let is_shared = self.launch.program.objects[object].space == Space::Shared;
        let passed = if is_shared { &mut self.block.passed } else { &mut self.passed };
        let passed = passed.entry((object, offset)).or_default();
        self.block.order.atomic(&now, self.block.number, passed, writes);
    }
}
