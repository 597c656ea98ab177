//! What is known of a launch beside its kernel: numbers that decide how often loops run.

use std::collections::HashMap;
use warpwright_codegen::analysis::access::Numbers;
use warpwright_codegen::ir::Object;

/// A launch, as far as it is known. Nothing is: the default.
#[derive(Clone, Debug, Default)]
pub struct Launched {
    /// Blocks.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block, where the kernel leaves them to the launch.
    pub block: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Parameters by value: the object and the byte in it where a number lies.
    pub numbers: Numbers,
    /// Elements of buffers.
    pub lengths: HashMap<Object, u64>,
}
