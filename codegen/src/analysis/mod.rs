//! Facts about a kernel, each in the file of its name. Pure functions: they change nothing.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod access;
pub mod affine;
pub mod alias;
pub mod banks;
pub mod bounds;
pub mod clobbers;
pub mod conditions;
pub mod cost;
pub mod dependence;
pub mod exits;
pub mod known_index;
pub mod moved_registers;
pub mod multiples;
pub mod origins;
pub mod parting;
pub mod place;
pub mod uniformity;
pub mod variant;
