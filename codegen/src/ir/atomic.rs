//! What sources call atomic operations, their orders and their scopes.

use super::{AtomicOp, Atomicity, MemoryOrder, Scope};

/// Relaxed, for the device.
pub const ATOMICS: &[(&str, AtomicOp)] = &[
    ("atomic_add", AtomicOp::Add),
    ("atomic_sub", AtomicOp::Sub),
    ("atomic_min", AtomicOp::Min),
    ("atomic_max", AtomicOp::Max),
    ("atomic_and", AtomicOp::And),
    ("atomic_or", AtomicOp::Or),
    ("atomic_xor", AtomicOp::Xor),
    ("atomic_exchange", AtomicOp::Exchange),
    ("atomic_cas", AtomicOp::CompareExchange),
];

/// Those that always have an order and a scope.
pub const ORDERED: &[(&str, AtomicOp)] = &[
    ("atomic_load", AtomicOp::Load),
    ("atomic_store", AtomicOp::Store),
    ("atomic_add_ordered", AtomicOp::Add),
    ("atomic_sub_ordered", AtomicOp::Sub),
    ("atomic_min_ordered", AtomicOp::Min),
    ("atomic_max_ordered", AtomicOp::Max),
    ("atomic_and_ordered", AtomicOp::And),
    ("atomic_or_ordered", AtomicOp::Or),
    ("atomic_xor_ordered", AtomicOp::Xor),
    ("atomic_exchange_ordered", AtomicOp::Exchange),
    ("atomic_cas_ordered", AtomicOp::CompareExchange),
];

/// Rust's names of orders.
pub const ORDERS: &[(&str, MemoryOrder)] = &[
    ("Relaxed", MemoryOrder::Relaxed),
    ("Acquire", MemoryOrder::Acquire),
    ("Release", MemoryOrder::Release),
    ("AcqRel", MemoryOrder::AcqRel),
    ("SeqCst", MemoryOrder::SeqCst),
];

/// The variants of `ThreadScope`.
pub const SCOPES: &[(&str, Scope)] = &[("Block", Scope::Block), ("Device", Scope::Device), ("System", Scope::System)];

/// How the source calls it.
pub fn spelling(op: AtomicOp, atomicity: Atomicity) -> (&'static str, Option<String>) {
    let is_plain = atomicity == Atomicity::RELAXED && !matches!(op, AtomicOp::Load | AtomicOp::Store);
    let list = if is_plain { ATOMICS } else { ORDERED };
    let name = list.iter().find(|(_, known)| *known == op).map_or("", |(name, _)| *name);
    let order = ORDERS.iter().find(|(_, order)| *order == atomicity.order).map_or("", |(word, _)| *word);
    let scope = SCOPES.iter().find(|(_, scope)| *scope == atomicity.scope).map_or("", |(word, _)| *word);
    (name, (!is_plain).then(|| format!("Ordering::{order}, ThreadScope::{scope}")))
}
