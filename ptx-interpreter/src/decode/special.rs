//! Special registers by name (PTX ISA, "Special Registers").

use crate::program::Special;
use crate::ty::Ty;

/// Those without an axis, each with its type.
const PLAIN: &[(&str, Special, Ty)] = &[
    ("%laneid", Special::LaneId, Ty::U32),
    ("%warpid", Special::WarpId, Ty::U32),
    ("%nwarpid", Special::NwarpId, Ty::U32),
    ("%smid", Special::SmId, Ty::U32),
    ("%nsmid", Special::NsmId, Ty::U32),
    ("%gridid", Special::GridId, Ty::U64),
    ("%lanemask_eq", Special::LaneMask(|lane| 1 << lane), Ty::U32),
    ("%lanemask_le", Special::LaneMask(|lane| (2u32 << lane).wrapping_sub(1)), Ty::U32),
    ("%lanemask_lt", Special::LaneMask(|lane| (1 << lane) - 1), Ty::U32),
    ("%lanemask_ge", Special::LaneMask(|lane| u32::MAX << lane), Ty::U32),
    ("%lanemask_gt", Special::LaneMask(|lane| u32::MAX << lane & !(1 << lane)), Ty::U32),
    ("%clock", Special::Clock, Ty::U32),
    ("%clock_hi", Special::ClockHi, Ty::U32),
    ("%clock64", Special::Clock64, Ty::U64),
    ("%globaltimer", Special::GlobalTimer, Ty::U64),
    ("%cluster_ctarank", Special::ClusterCtarank, Ty::U32),
    ("%cluster_nctarank", Special::ClusterNctarank, Ty::U32),
    ("%is_explicit_cluster", Special::IsExplicitCluster, Ty::Pred),
    ("%dynamic_smem_size", Special::DynamicSharedBytes, Ty::U32),
    ("%total_smem_size", Special::TotalSharedBytes, Ty::U32),
];

/// A special register along an axis.
type OfAxis = fn(usize) -> Special;

/// Those with one.
const WITH_AXIS: &[(&str, OfAxis)] = &[
    ("%tid", Special::Tid),
    ("%ntid", Special::Ntid),
    ("%ctaid", Special::Ctaid),
    ("%nctaid", Special::Nctaid),
    ("%clusterid", Special::ClusterId),
    ("%nclusterid", Special::NclusterId),
    ("%cluster_ctaid", Special::ClusterCtaid),
    ("%cluster_nctaid", Special::ClusterNctaid),
];

/// The special register of a name, and its type.
pub(crate) fn named(name: &str) -> Option<(Special, Ty)> {
    if let Some((_, special, ty)) = PLAIN.iter().find(|(known, ..)| *known == name) {
        return Some((*special, *ty));
    }
    let (base, axis) = name.rsplit_once('.')?;
    let axis = ["x", "y", "z"].iter().position(|known| *known == axis)?;
    let (_, special) = WITH_AXIS.iter().find(|(known, _)| *known == base)?;
    Some((special(axis), Ty::U32))
}
