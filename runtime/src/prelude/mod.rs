//! What a kernel's source names, as real Rust: the host twin of a kernel is type-checked against these, and runs on them.
//!
//! Every item has the device's meaning. Outside a launch a program is one thread of one block of one thread: `thread_idx()` is 0,
//! barriers are passed at once and `warp_sum(v)` is `v`, so that device functions can be tested like any other function.
//!
//! A glob import takes as few names as it can, and none that others are known by. Traits are here without their names where few kernels write them, for
//! their methods: bounds are `warpwright::{Float, Int, Num}`, since the names are also those of `num_traits` and others. Votes and exchanges of lanes are in
//! [`warp`](crate::warp): `any`, `all` and `shuffle` are words of many programs. What is std's own is imported from std: `Ordering`, `black_box`.

pub(crate) mod atomics;
mod block;
pub(crate) mod cast;
mod cluster;
mod geometry;
mod global;
mod matrix;
pub(crate) mod native;
pub(crate) mod numeric;
mod products;
mod texture;
mod tiles;
mod vectors;
pub(crate) mod warp;

pub use crate::Dim3;
pub use crate::element::Element;
pub use crate::texture::{FloatTexel, Texel};
pub use atomics::{SharedAtomics as _, ThreadScope};
pub use block::{
    block_exclusive_sum, block_exclusive_sum_and_total, block_inclusive_max, block_inclusive_min, block_inclusive_sum, block_max,
    block_min, block_sum, fence_block, fence_block_seq_cst, fence_device, fence_device_seq_cst, fence_system, fence_system_seq_cst,
    sync_threads, sync_threads_and, sync_threads_count, sync_threads_or,
};
pub use cluster::{cluster_dim, cluster_idx, cluster_rank, cluster_sync, shared_of, shared_of_mut};
pub use float8::{F8E4M3 as e4m3, F8E5M2 as e5m2};
pub use geometry::{block_dim, block_idx, global_id, grid_dim, lane_id, thread_idx, warp_id};
pub use global::{Constant, Global};
pub use half::{bf16, f16};
pub use matrix::{Matrix, MatrixBatch};
pub use native::{
    native_cos, native_div, native_exp, native_exp2, native_ln, native_log2, native_recip, native_rsqrt, native_sin, native_sqrt,
    native_tanh,
};
pub use numeric::{Float as _, Int as _, Num as _};
pub use products::{Accumulator, Rows, SumOf, multiply_add, transposed};
pub use texture::Texture2d;
pub use tiles::{load_run, load_tile, store_tile};
pub use vectors::ArrayVectors as _;
pub use warp::{sync_warp, warp_exclusive_sum, warp_inclusive_max, warp_inclusive_min, warp_inclusive_sum, warp_max, warp_min, warp_sum};
