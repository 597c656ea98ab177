//! The table of intrinsics: one row each, and everything the compiler knows about it stands in the row.
//!
//! What a row says is [`crate::ir::intrinsic`]. Adding an intrinsic is adding a row in the file of its family, and a filetest.

use crate::ir::Math;
use crate::ir::intrinsic::{Body, Call, Class, Intrinsic, IntrinsicId};
use crate::ir::{Builder, Op, Type, Value};

mod bits;
mod block;
mod cluster;
mod collectives;
mod copies;
mod fast;
mod float;
mod float8;
mod integer;
mod native;
mod opaque;
mod overlap;
mod scan;
mod tensor;
#[cfg(test)]
mod tests;
mod transcendental;
mod warp;

pub(crate) use cluster::{CLUSTERS, SHARED_OF, SHARED_OF_MUT};
pub(crate) use collectives::{LOAD_TILE, MULTIPLY_ADD, PRODUCTS, STORE_TILE, TRANSPOSED};
pub(crate) use copies::{ASYNC_COPIES, ENGINE};
pub(crate) use float8::{convert, is_cast};
pub(crate) use overlap::OVERLAP;
pub use tensor::has_warpgroup_products;
pub(crate) use tensor::{TENSOR_CORES, WARPGROUPS};

/// The names of the rows that the compiler itself calls.
pub(crate) mod called {
    /// Which lanes of the warp are there, or vote.
    pub(crate) const BALLOT: &str = "ballot";
    /// The next kernel of the stream may begin.
    pub(crate) const ADMIT_NEXT: &str = "admit_next";
    /// The kernels before this one in the stream are done.
    pub(crate) const AWAIT_EARLIER: &str = "await_earlier";
    /// What was stored to rings since the last one is a group.
    pub(crate) const COMMIT_COPIES: &str = "commit_copies";
    /// Groups of stores to rings have arrived.
    pub(crate) const AWAIT_COPIES: &str = "await_copies";
    /// A word of `f32` for tensor cores.
    pub(crate) const ROUND_TO_TF32: &str = "round_to_tf32";
    /// Two sums as a word of `bf16`, for tensor cores.
    pub(crate) const PACK_BF16: &str = "pack_bf16";
    /// Two sums as a word of `f16`.
    pub(crate) const PACK_F16: &str = "pack_f16";
    /// What `as` makes of floats of 8 bits, and of `f32`.
    pub(crate) const F32_TO_E4M3: &str = "f32_to_e4m3";
    /// Likewise.
    pub(crate) const F32_TO_E5M2: &str = "f32_to_e5m2";
    /// Likewise.
    pub(crate) const E4M3_TO_F32: &str = "e4m3_to_f32";
    /// Likewise.
    pub(crate) const E5M2_TO_F32: &str = "e5m2_to_f32";
    /// The value of a lane.
    pub(crate) const SHUFFLE: &str = "shuffle";
    /// The value of a lane whose number differs in some bits.
    pub(crate) const SHUFFLE_XOR: &str = "shuffle_xor";
    /// All threads of the cluster wait for each other.
    pub(crate) const CLUSTER_SYNC: &str = "cluster_sync";
    /// Bits of a type: ones of `!0`.
    pub(crate) const COUNT_ONES: &str = "count_ones";
    /// What a division by a constant is made of.
    pub(crate) const MUL_HI: &str = "mul_hi";
    /// All threads of the block wait for each other.
    pub(crate) const SYNC_THREADS: &str = "sync_threads";
    /// The lanes of a warp wait for each other.
    pub(crate) const SYNC_WARP: &str = "sync_warp";
    /// Whether any thread of the block goes on.
    pub(crate) const SYNC_THREADS_OR: &str = "sync_threads_or";
}

/// Every row, family by family.
pub const FAMILIES: &[&[Intrinsic]] = &[
    float::ROWS,
    float8::ROWS,
    transcendental::ROWS,
    native::ROWS,
    fast::ROWS,
    integer::ROWS,
    bits::ROWS,
    warp::ROWS,
    block::ROWS,
    cluster::ROWS,
    copies::ROWS,
    tensor::ROWS,
    overlap::ROWS,
    scan::ROWS,
    opaque::ROWS,
];

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static Intrinsic> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The function (`Call::Function`) of this name: the first row of it, whatever its `T` ([`function_for`] takes the types apart).
pub fn function(name: &str) -> Option<IntrinsicId> {
    rows().find(|row| row.call == Call::Function && row.name == name).map(IntrinsicId)
}

/// The function of this name whose `T` may be `ty`: where types differ in how they are made, there is a row for each group.
pub fn function_for(name: &str, ty: Type) -> Option<IntrinsicId> {
    rows().find(|row| row.call == Call::Function && row.name == name && (row.over == Class::None || row.over.contains(ty))).map(IntrinsicId)
}

/// The collective of this name.
pub fn collective(name: &str) -> Option<IntrinsicId> {
    collectives::ROWS.iter().find(|row| row.name == name).map(IntrinsicId)
}

/// Every collective.
pub fn collectives() -> impl Iterator<Item = &'static Intrinsic> {
    collectives::ROWS.iter()
}

/// Whether integers have the method of this name from `Ord`.
pub(crate) fn is_of_ord(name: &str) -> bool {
    rows().any(|row| row.is_of_ord && row.name == name)
}

/// The method of this name whose receiver may be `ty`.
pub fn method(name: &str, ty: Type) -> Option<IntrinsicId> {
    rows().find(|row| row.call == Call::Method && row.name == name && row.over.contains(ty)).map(IntrinsicId)
}

/// `T::name`: an associated function whose `T` may be `ty`, or a method called by its path.
pub fn associated(name: &str, ty: Type) -> Option<IntrinsicId> {
    rows().find(|row| matches!(row.call, Call::Method | Call::Associated) && row.name == name && row.over.contains(ty)).map(IntrinsicId)
}

/// The names that [`associated`] knows of a type.
pub fn associated_names(ty: Type) -> impl Iterator<Item = &'static str> {
    rows().filter(move |row| matches!(row.call, Call::Method | Call::Associated) && row.over.contains(ty)).map(|row| row.name)
}

/// Appends a call of `row` for `T` = `ty`: expanded, or as an instruction; with the row's fast form where the kernel asks for fast
/// mathematics and there is one. Where a name has several rows, that for `ty` is taken, whichever of them `row` is. Gives the results.
pub fn emit(b: &mut Builder<'_>, row: IntrinsicId, ty: Type, args: &[Value]) -> Vec<Value> {
    let row = row_for(row, ty);
    let is_fast = b.kernel.options.math == Math::Fast && ty == Type::F32;
    let row = row.0.fast.filter(|_| is_fast).and_then(function_for_f32).unwrap_or(row).row();
    match row.body {
        Body::Expand(expand) => expand(b, args),
        Body::Device(_) => {
            let types: Vec<_> = row.results.iter().map(|operand| Intrinsic::operand_type(*operand, ty, b.kernel)).collect();
            let inst = b.push(Op::Intrinsic(IntrinsicId(row), args.to_vec()), &types);
            b.kernel.insts[inst].results.clone()
        }
    }
}

/// The row of the same name and call whose `T` may be `ty`.
pub(crate) fn row_for(row: IntrinsicId, ty: Type) -> IntrinsicId {
    let fits = |other: &&Intrinsic| other.name == row.0.name && other.call == row.0.call && other.over.contains(ty);
    if row.0.over == Class::None || row.0.over.contains(ty) { row } else { rows().find(fits).map_or(row, IntrinsicId) }
}

fn function_for_f32(name: &str) -> Option<IntrinsicId> {
    rows().find(|row| row.call == Call::Function && row.name == name && row.over.contains(Type::F32)).map(IntrinsicId)
}

/// [`emit`] of the row of this name and call for the type of the first argument; what expansions call each other with.
/// Invariant: there is such a row with one result (the tests expand every row for every type).
fn call(b: &mut Builder<'_>, call: Call, name: &str, args: &[Value]) -> Value {
    let ty = b.kernel.ty(args[0]);
    let row = rows().find(|row| row.call == call && row.name == name && (row.over == Class::None || row.over.contains(ty)));
    let row = row.unwrap_or_else(|| unreachable!("an expansion calls `{name}` for `{ty}`, which has no row"));
    emit(b, IntrinsicId(row), ty, args)[0]
}

/// The method of this name: see [`call`].
fn call_method(b: &mut Builder<'_>, name: &str, args: &[Value]) -> Value {
    call(b, Call::Method, name, args)
}

/// The function of this name: see [`call`].
fn call_function(b: &mut Builder<'_>, name: &str, args: &[Value]) -> Value {
    call(b, Call::Function, name, args)
}

/// The row of this name that a device does itself, for `T` = `ty`: the text form names rows so.
pub fn by_name(name: &str, ty: Option<Type>) -> Option<IntrinsicId> {
    let fits = |row: &&Intrinsic| {
        row.name == name && row.device().is_some() && (row.over == Class::None || ty.is_none_or(|ty| row.over.contains(ty)))
    };
    rows().find(fits).map(IntrinsicId)
}
