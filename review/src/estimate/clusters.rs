//! How many clusters are resident at once.
//!
//! The blocks of a cluster run on multiprocessors of one group (a GPC), so what is left over in one group is of no use to another. How the multiprocessors of a device are
//! spread over its groups differs from chip to chip, since each has some switched off; they are switched off in pairs (TPCs). So this is an interval: at most, all groups
//! are filled; at least, each has as much left over as it can. Measured on an H200, one block a multiprocessor: 66 of 66 clusters of 2, 30 of 33 of 4.
//!
//! Sources: NVIDIA, "H100 Tensor Core GPU Architecture" (2022), the GPU and its GPCs; CUDA C++ Programming Guide, "Thread Block Clusters".

use crate::machine::Machine;
use warpwright_codegen::ir::KernelOptions;
use warpwright_codegen::target::Target;
use warpwright_codegen::target::occupancy::Occupancy;

/// Multiprocessors that are switched off together.
const PAIR: u32 = 2;

/// The clusters that a device holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidentClusters {
    /// Blocks of a cluster.
    pub size: u32,
    /// At least so many.
    pub least: u32,
    /// At most.
    pub most: u32,
    /// Blocks that all multiprocessors have room for, whatever clusters they are of.
    pub slots: u32,
    /// The device.
    pub device: &'static str,
}

impl ResidentClusters {
    /// Of a kernel with clusters, on the device that stands for a target with clusters. `None` where it is not known how that is divided.
    pub(super) fn of(options: &KernelOptions, occupancy: Option<&Occupancy>, target: &Target) -> Option<ResidentClusters> {
        let machine = Machine::of(target.capability)?;
        ResidentClusters::on(machine, options.has_clusters().then(|| options.cluster_blocks())?, occupancy?.blocks)
    }

    /// Of clusters of so many blocks, of which a multiprocessor holds so many.
    pub fn on(machine: &Machine, size: u32, blocks: u32) -> Option<ResidentClusters> {
        let groups = machine.groups?;
        let slots = machine.multiprocessors * blocks;
        let left_over = groups * (size - common_divisor(size, PAIR * blocks));
        let least = slots.saturating_sub(left_over).div_ceil(size);
        Some(ResidentClusters { size, least, most: slots / size, slots, device: machine.name })
    }

    /// The share of the device's room that may stay empty, 0 to 1.
    pub fn idle(&self) -> f64 {
        if self.slots == 0 { 0.0 } else { 1.0 - f64::from(self.least * self.size) / f64::from(self.slots) }
    }

    /// `66`, `29 to 33`.
    pub fn range(&self) -> String {
        if self.least == self.most { self.most.to_string() } else { format!("{} to {}", self.least, self.most) }
    }
}

/// The greatest number that divides both; the first where the second is 0.
fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::ResidentClusters;
    use crate::machine::{H200, Machine};

    fn range(size: u32, blocks: u32) -> (u32, u32) {
        let found = ResidentClusters::on(&H200, size, blocks).unwrap();
        (found.least, found.most)
    }

    #[test]
    fn what_was_measured_is_within() {
        assert_eq!(range(2, 1), (66, 66));
        let (least, most) = range(4, 1);
        assert!(least <= 30 && most == 33, "{least}");
        // 16 of these, and no more, are what groups of 16 and 18 multiprocessors hold of 8.
        let (least, most) = range(8, 1);
        assert!((least..=most).contains(&16) && most == 16, "{least} to {most}");
    }

    #[test]
    fn small_blocks_fill_every_group() {
        assert_eq!(range(4, 2), (66, 66));
        assert_eq!(range(8, 4), (66, 66));
        assert_eq!(range(4, 0), (0, 0));
        let three = ResidentClusters::on(&H200, 3, 1).unwrap();
        assert!(three.idle() > 0.05 && three.range() == "39 to 44", "{three:?}");
    }

    #[test]
    fn nothing_is_said_of_devices_whose_groups_are_not_known() {
        assert!(ResidentClusters::on(Machine::of(80).unwrap(), 2, 1).is_none());
    }
}
