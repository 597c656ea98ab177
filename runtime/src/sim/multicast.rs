//! Tiles that the blocks of a cluster share: each copies a part of the rows into the same place of several blocks, and their barriers count what comes to them.
//!
//! A block reaches others only after they have met, and before they end. What it writes there is checked against what their threads did as if the issuer wrote it: who arrived at this
//! block's barriers has told it.

use super::cluster::Stand;
use super::engine::Flight;
use super::launch::thread_position;
use super::machine::{LaneFault, Machine};
use super::memory::Request;
use super::order::MissingFence;
use super::registers::{Reg, Registers};
use super::warp::Warp;
use super::{AccessKind, FaultKind};
use std::ops::Range;

/// What a block copies of a tile that it shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedPart {
    /// In how many parts the tile is copied.
    pub(super) parts: u32,
    /// The number of this one.
    pub(super) part: Reg,
    /// The blocks that get it, a bit for each rank.
    pub(super) blocks: Reg,
}

impl Machine<'_> {
    /// The rows of a tile that a copy brings, and the ranks of the blocks that get them.
    pub(super) fn share_of(&self, registers: &Registers, lane: usize, share: Option<SharedPart>, rows: u64) -> (Range<u64>, Vec<usize>) {
        let Some(SharedPart { parts, part, blocks }) = share else { return (0..rows, vec![self.block.membership.rank]) };
        let (each, part, blocks) = (rows / u64::from(parts), registers.lane(part, lane), registers.lane(blocks, lane));
        (part * each..(part + 1) * each, (0..self.members.len()).filter(|rank| blocks >> rank & 1 == 1).collect())
    }

    /// Whether the block of a rank is there to be reached.
    pub(super) fn check_block(&self, object: usize, access: AccessKind, rank: usize) -> Result<(), FaultKind> {
        let me = self.block.membership;
        if rank == me.rank {
            return Ok(());
        }
        let peer = self.peer(rank);
        let has_returned = peer.membership.stand == Stand::Ended;
        if has_returned || me.met == 0 {
            let object = self.launch.program.objects[object].name.clone();
            return Err(FaultKind::NoPeer { object, access, block: peer.place, has_returned });
        }
        Ok(())
    }

    /// A scalar arrives in the shared memory of another block; nobody may touch it there before the flight's phase is over.
    pub(super) fn arrive_at_peer(
        &mut self,
        warp: &Warp,
        target: &Request<'_>,
        lane: usize,
        (rank, offset): (usize, u64),
        bits: u64,
        flight: Flight,
    ) -> Result<(), LaneFault> {
        let (access, info) = (target.access, target.info);
        let (object, size) = (access.object, access.ty.bytes());
        let now = self.now(warp, lane, target.number + 1);
        let (mine, number, peer) = (&self.block.order, self.block.number, &mut self.members[rank]);
        let (index, length) = (offset / target.size(), self.launch.sizes[object] / target.size());
        let line = |site: u32| self.launch.program.accesses.get(site as usize).map(|site| site.location.line).filter(|line| *line != 0);
        let fault = |kind: FaultKind| Err(LaneFault { lane, kind });
        for at in (offset..offset + u64::from(size)).step_by(info.granule.max(1) as usize) {
            let name = || info.name.clone();
            if let Some(found) = peer.engine.under_way(object, at) {
                let (thread, line) = (thread_position(found.thread, self.launch.block), line(found.site));
                return fault(FaultKind::CopyInFlight {
                    object: name(),
                    index,
                    length,
                    access: access.kind,
                    thread,
                    line,
                    is_awaited: false,
                });
            }
            if let Some(found) = peer.engine.out.unread(object, at) {
                let (thread, line) = (thread_position(found.thread, self.launch.block), line(found.site));
                return fault(FaultKind::StoreInFlight { object: name(), index, length, thread, line, is_awaited: false });
            }
            if let Some(writer) = peer.engine.unfenced(object, at) {
                let writer = thread_position(writer, self.launch.block);
                return fault(FaultKind::MissingEngineFence { object: name(), index, length, writer, access: access.kind });
            }
        }
        if let Err(found) = peer.cells[object].access(offset, size, (AccessKind::Write, false), &now, number, mine) {
            let missing: (MissingFence, Option<u32>) = mine.missing(now.thread, found.epoch.block, found.thread, found.epoch.tick);
            return fault(self.launch.unordered(access, offset, &found, number, missing));
        }
        peer.cells[object].settle(offset, size);
        for at in (offset..offset + u64::from(size)).step_by(info.granule.max(1) as usize) {
            peer.engine.fly(object, at, flight);
        }
        super::memory::store(&mut peer.shared, (info.base + offset) as usize, size, bits);
        Ok(())
    }
}
