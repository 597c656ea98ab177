//! Clusters: their blocks run together, each as far as it comes without the others, and meet at the cluster's barriers.
//!
//! A block reaches the shared memory of another where that has begun, which a barrier of the cluster says, and has not ended. What threads of several blocks do to one
//! element is ordered by barriers of the cluster alone, or by fences and atomics as anywhere.

use super::launch::BoundLaunch;
use super::machine::{Block, LaneFault, Machine};
use super::memory::Request;
use super::order::{MissingFence, Order};
use super::registers::lanes;
use super::warp::{Warp, Watch};
use super::worker::{Turn, Worker, new_warps};
use super::{AccessKind, Error, Fault, FaultKind};
use warpwright_codegen::target::limits::LANES;

/// How far a block of the running cluster is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stand {
    #[default]
    Runs,
    /// At a barrier of the cluster.
    Waits,
    Ended,
}

/// Where a block is in its cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Membership {
    pub(super) rank: usize,
    /// Barriers of the cluster that it has passed.
    pub(super) met: u32,
    pub(super) stand: Stand,
}

impl BoundLaunch<'_> {
    /// Blocks of a cluster.
    pub(super) fn cluster_blocks(&self) -> usize {
        self.program.cluster.iter().product::<u32>() as usize
    }

    /// The number in the grid of a block of a cluster.
    fn number_of(&self, cluster: u64, rank: usize) -> u64 {
        let [x, y, z] = self.program.cluster.map(u64::from);
        let [width, height, _] = self.grid.map(u64::from);
        let (across, down) = (width / x, height / y);
        let rank = rank as u64;
        let place =
            [cluster % across * x + rank % x, cluster / across % down * y + rank / x % y, cluster / across / down * z + rank / x / y];
        (place[2] * height + place[1]) * width + place[0]
    }
}

/// The running cluster: the warps of its blocks, by rank. The blocks themselves are the machine's, which reaches from one into another.
type Warps = Vec<Vec<Warp>>;

impl Worker<'_> {
    /// Runs all clusters of the launch, in order. `written` is called whenever a block has ended or waits.
    pub(super) fn run_clusters(&mut self, mut written: impl FnMut(&mut String) -> Result<(), Error>) -> Result<(), Error> {
        let launch = self.machine.launch;
        let size = launch.cluster_blocks();
        let mut warps: Warps = (0..size).map(|_| new_warps(launch)).collect();
        self.machine.members = (0..size).map(|_| self.machine.spare_block()).collect();
        for cluster in 0..launch.blocks() / size as u64 {
            for (rank, own) in warps.iter_mut().enumerate() {
                self.enter(rank, own);
                let begun = self.begin(launch.number_of(cluster, rank));
                self.machine.block.membership = Membership { rank, ..Membership::default() };
                self.leave(rank, own);
                begun?;
            }
            self.run_cluster(&mut warps, &mut written)?;
        }
        Ok(())
    }

    /// Makes a block of the cluster the current one.
    fn enter(&mut self, rank: usize, warps: &mut Vec<Warp>) {
        std::mem::swap(&mut self.machine.block, &mut self.machine.members[rank]);
        std::mem::swap(&mut self.warps, warps);
    }

    /// Makes the current one a block of the cluster again.
    fn leave(&mut self, rank: usize, warps: &mut Vec<Warp>) {
        self.enter(rank, warps);
    }

    fn run_cluster(&mut self, warps: &mut Warps, written: &mut impl FnMut(&mut String) -> Result<(), Error>) -> Result<(), Error> {
        loop {
            let (version, mut for_ever, mut moved) = (self.machine.version, true, false);
            for (rank, own) in warps.iter_mut().enumerate() {
                if self.machine.members[rank].membership.stand != Stand::Runs {
                    continue;
                }
                self.enter(rank, own);
                let turn = self.go_on();
                let stand = match &turn {
                    Ok(Turn::Ended) => Stand::Ended,
                    Ok(Turn::Meets) => Stand::Waits,
                    Ok(Turn::Waits { .. }) | Err(_) => Stand::Runs,
                };
                self.machine.block.membership.stand = stand;
                self.leave(rank, own);
                written(&mut self.machine.output)?;
                moved |= stand != Stand::Runs;
                for_ever &= matches!(turn?, Turn::Waits { for_ever: true });
            }
            let is = |stand: Stand| self.machine.members.iter().all(|member| member.membership.stand == stand);
            if is(Stand::Ended) {
                return Ok(());
            }
            if self.machine.members.iter().all(|member| member.membership.stand != Stand::Runs) {
                self.machine.pass_cluster_barrier(warps)?;
                continue;
            }
            if !moved && for_ever && version == self.machine.version {
                let blocks = std::mem::take(&mut self.machine.members);
                self.waiting = blocks.into_iter().zip(std::mem::take(warps)).collect();
                return Err(self.deadlock(0).into());
            }
        }
    }
}

impl Machine<'_> {
    /// Lets the cluster's blocks pass the barrier where those stand that have not ended.
    fn pass_cluster_barrier(&mut self, warps: &mut Warps) -> Result<(), Box<Fault>> {
        let program = self.launch.program;
        let at = |warps: &[Warp]| warps.iter().find_map(|warp| warp.waits_at);
        let waiting = self.members.iter().filter(|member| member.membership.stand == Stand::Waits).count() as u32;
        let Some((rank, barrier)) = warps.iter().enumerate().find_map(|(rank, warps)| Some((rank, at(warps)?))) else { return Ok(()) };
        let apart = |(other, warps): (usize, &Vec<Warp>)| match at(warps) {
            Some(found) => (found != barrier).then(|| (other, Some(program.barriers[found as usize].location.line))),
            // All of its threads have returned early: nobody waits for these.
            None => warps.iter().any(|warp| warp.ended != 0).then_some((other, None)),
        };
        if let Some((other, other_line)) = warps.iter().enumerate().find_map(apart) {
            let blocks = self.members.len() as u32;
            let kind = FaultKind::ClusterApart { waiting, blocks, other_block: self.members[other].place, other_line };
            let thread =
                warps[rank].iter().find(|warp| warp.waits_at.is_some()).map_or(0, |warp| warp.first_thread + warp.active.trailing_zeros());
            return Err(self.launch.fault(program.barriers[barrier as usize].location, self.members[rank].place, thread, kind));
        }
        let tick = self.tick;
        self.next_tick()
            .map_err(|kind| self.launch.fault(program.barriers[barrier as usize].location, self.members[rank].place, 0, kind))?;
        Order::meet_across(&mut self.members.iter_mut().map(|member| (member.number, &mut member.order)).collect::<Vec<_>>(), tick);
        for (member, warps) in self.members.iter_mut().zip(warps).filter(|(member, _)| member.membership.stand == Stand::Waits) {
            member.membership.stand = Stand::Runs;
            member.membership.met += 1;
            member.interval_start = self.tick;
            if !program.barriers[barrier as usize].is_of_work {
                member.met = self.tick;
            }
            self.tallies.barriers[barrier as usize] += 1;
            for warp in warps.iter_mut().filter(|warp| warp.waits_at.is_some()) {
                warp.waits_at = None;
                warp.watch = Watch::default();
                warp.start = self.tick;
            }
        }
        Ok(())
    }

    /// The block whose array a place of the cluster's arrays is in, and the bytes from the start of that.
    pub(super) fn peer_place(&self, object: usize, offset: u64) -> (usize, u64) {
        let one = self.launch.bytes_of_one(object).max(1);
        ((offset / one) as usize, offset % one)
    }

    /// The block of this rank, which may be the current one.
    pub(super) fn peer(&self, rank: usize) -> &Block {
        if rank == self.block.membership.rank { &self.block } else { &self.members[rank] }
    }

    /// The same, to be changed.
    pub(super) fn peer_mut(&mut self, rank: usize) -> &mut Block {
        if rank == self.block.membership.rank { &mut self.block } else { &mut self.members[rank] }
    }

    /// Whether the active lanes may access the arrays of other blocks as they do.
    pub(super) fn check_peers(&mut self, warp: &Warp, request: &Request<'_>, offsets: &[u64; LANES]) -> Result<(), LaneFault> {
        let Request { number, access, info, mask } = *request;
        let Some(own) = info.peers_of else { return Ok(()) };
        let size = access.ty.bytes();
        for lane in lanes(mask) {
            let now = self.now(warp, lane, number + 1);
            let (rank, _) = self.peer_place(access.object, offsets[lane]);
            let me = self.block.membership;
            let has_returned = self.peer(rank).membership.stand == Stand::Ended;
            if rank != me.rank && (has_returned || me.met == 0) {
                let (object, block) = (info.name.clone(), self.peer(rank).place);
                return Err(LaneFault { lane, kind: FaultKind::NoPeer { object, access: access.kind, block, has_returned } });
            }
            for n in 0..request.scalars() {
                let (_, offset) = self.peer_place(access.object, offsets[lane] + n * u64::from(size));
                let (mine, theirs) = if rank == me.rank {
                    (&self.block.order, &mut self.block.cells[own])
                } else {
                    (&self.block.order, &mut self.members[rank].cells[own])
                };
                if access.kind != AccessKind::Write && !request.is_store() && !theirs.is_initialised(offset, size) {
                    return Err(LaneFault { lane, kind: self.uninitialised(access, offset) });
                }
                if let Err(found) = theirs.access(offset, size, (access.kind, false), &now, self.block.number, mine) {
                    let missing: (MissingFence, Option<u32>) = mine.missing(now.thread, found.epoch.block, found.thread, found.epoch.tick);
                    return Err(LaneFault { lane, kind: self.launch.unordered(access, offset, &found, self.block.number, missing) });
                }
            }
        }
        Ok(())
    }
}
