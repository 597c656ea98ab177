//! Faults that are put into kernels on purpose: a table of mistakes, edits of source text, and what becomes of each mutant on the simulator.
//!
//! A kernel's host function embeds its source. So a mutant is a definition with other text, launched with the arguments, the generics and the
//! geometry of the kernel that it is made of ([`warpwright::Launch::simulated_memory`]).

pub mod alone;
pub mod catalogues;
pub mod engine;
pub mod engine_runs;
pub mod equivalent;
pub mod kernels;
pub mod lints;
pub mod loops;
pub mod mistakes;
pub mod mutant;
pub mod names;
pub mod pages;
pub mod plain;
pub mod products;
pub mod rings;
pub mod sameness;
pub mod site;
pub mod staples;
pub mod sweep;
pub mod tree;
pub mod verdict;
pub mod whole;
