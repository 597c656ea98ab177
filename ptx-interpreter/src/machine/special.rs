//! Values of special registers.

use super::state::LANES;
use super::{Machine, Who};
use crate::decode::SHARED_BEGIN;
use crate::program::Special;

impl Machine<'_> {
    pub(super) fn special(&self, who: Who, special: Special) -> u64 {
        let block = &self.resident[who.cluster].blocks[who.block];
        let (grid, extent, cluster) = (self.launch.grid, self.launch.block, self.cluster);
        let lane = (who.thread % LANES) as u32;
        let in_cluster = |axis: usize| block.ctaid[axis] % cluster[axis];
        let narrow = match special {
            Special::Tid(axis) => block.threads[who.thread].tid[axis],
            Special::Ntid(axis) => extent[axis],
            Special::Ctaid(axis) => block.ctaid[axis],
            Special::Nctaid(axis) => grid[axis],
            Special::LaneId => lane,
            Special::WarpId => (who.thread / LANES) as u32,
            Special::NwarpId => block.warps.len() as u32,
            Special::SmId => (who.cluster % 4) as u32,
            Special::NsmId => 4,
            Special::GridId => 1,
            Special::LaneMask(f) => f(lane),
            Special::Clock => self.executed as u32,
            Special::ClockHi => (self.executed >> 32) as u32,
            Special::Clock64 | Special::GlobalTimer => return self.executed,
            Special::ClusterId(axis) => block.ctaid[axis] / cluster[axis],
            Special::NclusterId(axis) => grid[axis] / cluster[axis],
            Special::ClusterCtaid(axis) => in_cluster(axis),
            Special::ClusterNctaid(axis) => cluster[axis],
            Special::ClusterCtarank => who.block as u32,
            Special::ClusterNctarank => cluster.iter().product(),
            Special::IsExplicitCluster => u32::from(cluster != [1; 3]),
            Special::DynamicSharedBytes => self.launch.dynamic_shared,
            Special::TotalSharedBytes => self.program.shared_bytes - SHARED_BEGIN + self.launch.dynamic_shared,
        };
        narrow.into()
    }
}
