//! The structures of `cuda.h` that callers pass, as a C compiler lays them out where addresses have 64 bits.

use std::ffi::{c_int, c_uint, c_void};

/// `CUmemPoolProps`, as far as it is looked at.
#[repr(C)]
pub struct PoolProperties {
    pub(crate) allocation: c_int,
    pub(crate) handles: c_int,
    pub(crate) location: c_int,
    pub(crate) device: c_int,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
pub struct Copy2d {
    pub(crate) from: Place2d,
    pub(crate) to: Place2d,
    pub(crate) width_bytes: usize,
    pub(crate) height: usize,
}

/// One side of it.
#[repr(C)]
pub(crate) struct Place2d {
    pub(crate) x_bytes: usize,
    pub(crate) y: usize,
    pub(crate) kind: c_uint,
    pub(crate) host: *mut c_void,
    pub(crate) device: u64,
    pub(crate) array: usize,
    pub(crate) pitch: usize,
}

/// `CUDA_MEMCPY3D`, as nodes of graphs take it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3d {
    pub(crate) from: Place3d,
    pub(crate) to: Place3d,
    pub(crate) width_bytes: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// One side of it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Place3d {
    pub(crate) offsets: [usize; 4],
    pub(crate) kind: c_uint,
    pub(crate) host: usize,
    pub(crate) device: u64,
    pub(crate) array: usize,
    pub(crate) reserved: usize,
    pub(crate) pitch: usize,
    pub(crate) height: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemsetNode {
    pub(crate) to: u64,
    pub(crate) pitch: usize,
    pub(crate) value: c_uint,
    pub(crate) element: c_uint,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// `CUgraphEdgeData`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EdgeData {
    pub(crate) from_port: u8,
    pub(crate) to_port: u8,
    pub(crate) ty: u8,
    pub(crate) reserved: [u8; 5],
}

/// `CUDA_KERNEL_NODE_PARAMS`.
#[repr(C)]
pub struct KernelNode {
    pub(crate) function: usize,
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared: c_uint,
    pub(crate) parameters: *mut *mut c_void,
    pub(crate) extra: *mut *mut c_void,
}

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
pub struct ArrayDescriptor {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) format: c_uint,
    pub(crate) channels: c_uint,
}

/// `CUDA_RESOURCE_DESC` of an array.
#[repr(C)]
pub struct Resource {
    pub(crate) kind: c_uint,
    pub(crate) array: usize,
    pub(crate) rest: [c_int; 30],
    pub(crate) flags: c_uint,
}

/// `CUDA_TEXTURE_DESC`, as far as it is looked at.
#[repr(C)]
pub struct TextureDescription {
    pub(crate) address_mode: [c_uint; 3],
    pub(crate) filter_mode: c_uint,
    pub(crate) flags: c_uint,
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared: c_uint,
    pub(crate) stream: usize,
    pub(crate) attributes: *const LaunchAttribute,
    pub(crate) count: c_uint,
}

/// `CUlaunchAttribute`: its value as words.
#[repr(C)]
pub(crate) struct LaunchAttribute {
    pub(crate) id: c_uint,
    pub(crate) padding: c_uint,
    pub(crate) value: [c_uint; 16],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn layouts_are_those_of_the_driver() {
        assert_eq!((size_of::<Copy2d>(), offset_of!(Copy2d, to) + offset_of!(Place2d, kind)), (128, 72));
        assert_eq!((size_of::<Copy3d>(), offset_of!(Copy3d, to) + offset_of!(Place3d, device)), (200, 136));
        assert_eq!((size_of::<MemsetNode>(), offset_of!(MemsetNode, width)), (40, 24));
        assert_eq!((size_of::<EdgeData>(), offset_of!(EdgeData, ty)), (8, 2));
        assert_eq!((size_of::<KernelNode>(), offset_of!(KernelNode, parameters)), (56, 40));
        assert_eq!((size_of::<ArrayDescriptor>(), size_of::<Resource>(), offset_of!(Resource, flags)), (24, 144, 136));
        assert_eq!((size_of::<LaunchConfig>(), offset_of!(LaunchConfig, attributes)), (56, 40));
        assert_eq!((size_of::<LaunchAttribute>(), offset_of!(LaunchAttribute, value)), (72, 8));
    }
}
