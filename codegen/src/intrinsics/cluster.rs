//! Clusters: blocks that run at the same time on neighbouring multiprocessors, and reach each other's shared memory.

use super::called::{CLUSTER_SYNC, SYNC_THREADS};
use crate::ir::intrinsic::OperandType::Index;
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Exchange, Intrinsic, Meeting, PtxForm};
use crate::ir::{Axis, BinaryOp, Builder, Effects, Op, Scope, Special, Type, Value};
use crate::target::Requirement;

/// What a target needs to have clusters; the version of PTX is that of a barrier that says what it orders.
pub(crate) const CLUSTERS: Requirement = Requirement::since(90, 80);

/// A shared array of another block, to be read.
pub(crate) const SHARED_OF: &str = "shared_of";

/// The same, to be written.
pub(crate) const SHARED_OF_MUT: &str = "shared_of_mut";

/// Arriving releases what a thread wrote, and waiting acquires it (PTX ISA, "barrier.cluster"). The lanes of a warp may have parted before.
const BARRIER: &[PtxForm] =
    &[PtxForm { types: &[], text: "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;", needs: CLUSTERS }];

pub(super) const ROWS: &[Intrinsic] = &[
    Intrinsic::new("cluster_rank", Call::Function, Class::None, &[], &[Index], Body::Expand(|b, _| vec![rank(b)]))
        .doc("the block within its cluster: 0 to one less than the cluster's blocks, x fastest"),
    Intrinsic::new(CLUSTER_SYNC, Call::Function, Class::None, &[], &[], Body::Expand(sync))
        .effects(Effects::barrier(Scope::Cluster))
        .doc("waits for the threads of the cluster's blocks, and orders their memory accesses; needs sm_90 where they are several"),
    Intrinsic::new(
        CLUSTER_SYNC,
        Call::Pass,
        Class::None,
        &[],
        &[],
        Body::Device(DeviceForm { ptx: BARRIER, opencl: "", opencl_prelude: "", eval: Eval::Barrier(|_, _| 0) }),
    )
    .effects(Effects::barrier(Scope::Cluster))
    .meeting(Meeting::wait(Exchange::Impossible))
    .cost(100)
    .doc("what `cluster_sync` is where clusters have more than one block"),
];

/// Where there are no clusters, the block is alone.
fn sync(b: &mut Builder<'_>, _: &[Value]) -> Vec<Value> {
    let name = if b.kernel.options.has_clusters() { CLUSTER_SYNC } else { SYNC_THREADS };
    if let Some(row) = super::by_name(name, None) {
        b.push(Op::Intrinsic(row, Vec::new()), &[]);
    }
    Vec::new()
}

/// The number of the block within its cluster, which is where the grid has it: clusters are aligned in the grid, and PTX numbers their blocks so, too
/// (`%cluster_ctarank`).
fn rank(b: &mut Builder<'_>) -> Value {
    let (ty, extents) = (b.kernel.index_type(), b.kernel.options.cluster);
    let mut rank: Option<Value> = None;
    for (axis, extent) in [Axis::X, Axis::Y, Axis::Z].into_iter().zip(extents).rev().filter(|(_, extent)| *extent > 1) {
        let (place, extent) = (b.special(Special::BlockIdx, axis), b.int(Type::U32, extent.into()));
        let place = b.binary(BinaryOp::Rem, place, extent);
        rank = Some(match rank {
            Some(above) => b.mul_add(above, extent, place),
            None => place,
        });
    }
    match rank {
        Some(rank) => b.cast(rank, ty),
        None => b.int(ty, 0),
    }
}
