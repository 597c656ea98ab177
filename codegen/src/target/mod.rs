//! What each device can do: one row per compute capability.

/// A compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `sm_90`.
    pub name: &'static str,
    /// 10·major + minor, as in `sm_NN`.
    pub capability: u16,
    /// First PTX version that knows it, 10·major + minor.
    pub ptx_version: u16,
    /// Most shared memory a block can ask for statically, bytes.
    pub static_shared: u32,
    /// Most shared memory a block can have, bytes (dynamic, opted in).
    pub max_shared: u32,
}
