//! Hash maps and sets of what a kernel is made of: small numbers, and lists of them.
//!
//! The standard library's hash withstands keys that an enemy chooses, at a cost that an unoptimised macro feels. These keys are the compiler's own.
//! What order such a map is gone through in does not depend on the process, but counts for nothing all the same.

pub use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet, FxHasher};
