//! Structured SSA: what every pass, back end and device works on.
//!
//! A [`Kernel`] owns vectors of values, instructions, blocks and memory objects, named by newtyped indices whose `Display` is
//! the text form (`v3`, `i7`, `b1`, `m0`). Control flow is structured: [`Region::If`], [`Region::For`], [`Region::Loop`] and
//! [`Region::Block`] own child blocks; values carried round a loop are block parameters; there are no phis and no floating
//! expressions: order is the vector's. The invariants are in [`crate::verify`].

mod access;
pub mod atomic;
mod builder;
mod collective;
mod compact;
mod copy;
mod effects;
mod engine;
mod entities;
pub mod eval;
pub mod intrinsic;
mod kernel;
mod memory;
mod op;
mod options;
mod scalar;
mod short_floats;
mod swizzle;
mod tensor;
mod types;
mod walk;

pub use access::{Access, Enclosing, Step};
pub use builder::Builder;
pub use collective::{BatchIndex, Collective, PitchedMatrix};
pub(crate) use compact::Locations;
pub(crate) use copy::Copy;
pub use effects::{Completion, Control, Effects, Objects, Scope};
pub use engine::{
    BARRIER, Engine, MOST_TILE_ROWS, MatrixParameters, PRODUCER_THREADS, Role, Roles, Share, StoreStage, TILE_ALIGN, slow_axis,
    with_producer,
};
pub use entities::{Block, EntityMap, Inst, Loc, Object, StructId, Value};
pub use kernel::{BlockData, EarlyLoads, Fill, InstData, Kernel, Location, Ring, Stage, ValueData, ValueDef};
pub use memory::{Field, MOST_BYTES, MemoryType, ObjectData, ObjectKind, StructType};
pub use op::{
    Address, AtomicOp, Atomicity, Axis, BinaryOp, CacheHint, CompareOp, Compute, Memory, MemoryOp, MemoryOrder, Message, Op, PrintPart,
    Region, Special, Terminator, TextureOp, UnaryOp,
};
pub use options::{BoundsCheck, INDEX_WINDOW, IndexWidth, KernelOptions, Math, TensorCores, grid_misfit};
pub use scalar::Scalar;
pub use short_floats::native_since;
pub use swizzle::{SWIZZLE_ROWS, Swizzle};
pub(crate) use tensor::{FIRST_TENSOR_CORES, FLOAT8_TENSOR_CORES};
pub use tensor::{
    LeftFactor, MMA_SHAPES, MmaShape, PRODUCTS, ProductFactor, STEP_BYTES, Tensor, WARPGROUP, WARPGROUP_ROWS, WARPGROUP_SHAPES,
    WarpgroupFactor, WarpgroupShape,
};
pub use types::{Space, Type};

/// What the source asks of a loop: data for `schedule`, which consumes it. None is left from `Scheduled` on.
pub type Annotations = crate::annotations::Annotations<Loc>;

/// One annotation of a loop. Its number is more than one.
pub type Asked = crate::annotations::Asked<Loc>;
