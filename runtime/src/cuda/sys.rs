//! The types and numbers of the CUDA driver's interface that this library uses, by the driver's own names.
//!
//! Source: CUDA Driver API, "Data types used by CUDA driver", and `cuda.h`, whose layouts these are.

#![expect(non_camel_case_types, non_snake_case, reason = "the driver's own names")]
#![expect(unsafe_code, reason = "says that handles may go from thread to thread")]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// What the driver calls an object by; or the address of page-locked memory.
#[derive(Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(super) struct Handle(pub(super) *mut c_void);

// SAFETY: the driver's API is thread-safe.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub(super) const NULL: Handle = Handle(null_mut());

    /// From what the traits of `driver` pass on.
    pub(super) fn of(bits: u64) -> Handle {
        Handle(bits as *mut c_void)
    }

    pub(super) fn bits(self) -> u64 {
        self.0 as u64
    }
}

macro_rules! handles {
    ($($name:ident)*) => {
        $(pub(super) type $name = Handle;)*
    };
}

handles!(CUarray CUcontext CUevent CUfunction CUgraph CUgraphExec CUgraphNode CUmemoryPool CUmodule CUstream);

pub(super) type CUdevice = c_int;
pub(super) type CUdeviceptr = u64;
pub(super) type CUtexObject = u64;

/// What `cuDeviceGetAttribute` is asked.
#[derive(Clone, Copy)]
pub(super) enum CUdevice_attribute {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = 22,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT = 23,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
}

/// What `cuFuncGetAttribute` is asked.
#[derive(Clone, Copy)]
pub(super) enum CUfunction_attribute {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
}

/// What `cuModuleLoadDataEx` is told.
pub(super) enum CUjit_option {
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
}

/// `CUmemAllocationType`, `CUmemLocationType`.
pub(super) const CU_MEM_ALLOCATION_TYPE_PINNED: c_uint = 1;
pub(super) const CU_MEM_LOCATION_TYPE_DEVICE: c_uint = 1;

/// `CUmemPool_attribute`.
pub(super) const CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: c_uint = 4;
pub(super) const CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: c_uint = 5;
pub(super) const CU_MEMPOOL_ATTR_USED_MEM_CURRENT: c_uint = 7;

/// Where memory lies.
#[repr(C)]
pub(super) struct CUmemLocation {
    pub(super) ty: c_uint,
    pub(super) id: c_int,
}

/// Who may access memory, and how: 3 is to read and to write.
#[repr(C)]
pub(super) struct CUmemAccessDesc {
    pub(super) location: CUmemLocation,
    pub(super) flags: c_uint,
}

/// What a pool is made of: the rest is zero.
#[repr(C)]
pub(super) struct CUmemPoolProps {
    pub(super) allocType: c_uint,
    pub(super) handleTypes: c_uint,
    pub(super) location: CUmemLocation,
    pub(super) rest: [u64; 9],
}

/// A map of a matrix for tensor copies: what is in it, the driver knows.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct CUtensorMap {
    pub(super) opaque: [u64; 16],
}

/// `CUtensorMapDataType`.
pub(super) const CU_TENSOR_MAP_DATA_TYPE_UINT8: c_uint = 0;
pub(super) const CU_TENSOR_MAP_DATA_TYPE_UINT16: c_uint = 1;
pub(super) const CU_TENSOR_MAP_DATA_TYPE_UINT32: c_uint = 2;
pub(super) const CU_TENSOR_MAP_DATA_TYPE_UINT64: c_uint = 4;

/// The rest of what a map is told.
pub(super) const CU_TENSOR_MAP_INTERLEAVE_NONE: c_uint = 0;
pub(super) const CU_TENSOR_MAP_SWIZZLE_NONE: c_uint = 0;
pub(super) const CU_TENSOR_MAP_SWIZZLE_32B: c_uint = 1;
pub(super) const CU_TENSOR_MAP_SWIZZLE_64B: c_uint = 2;
pub(super) const CU_TENSOR_MAP_SWIZZLE_128B: c_uint = 3;
pub(super) const CU_TENSOR_MAP_L2_PROMOTION_L2_256B: c_uint = 3;
pub(super) const CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE: c_uint = 0;

/// `CUmemorytype`.
pub(super) const CU_MEMORYTYPE_HOST: c_uint = 1;
pub(super) const CU_MEMORYTYPE_DEVICE: c_uint = 2;
pub(super) const CU_MEMORYTYPE_ARRAY: c_uint = 3;

/// `CUarray_format`.
pub(super) const CU_AD_FORMAT_UNSIGNED_INT8: c_uint = 1;
pub(super) const CU_AD_FORMAT_UNSIGNED_INT16: c_uint = 2;
pub(super) const CU_AD_FORMAT_UNSIGNED_INT32: c_uint = 3;
pub(super) const CU_AD_FORMAT_SIGNED_INT8: c_uint = 8;
pub(super) const CU_AD_FORMAT_SIGNED_INT16: c_uint = 9;
pub(super) const CU_AD_FORMAT_SIGNED_INT32: c_uint = 10;
pub(super) const CU_AD_FORMAT_FLOAT: c_uint = 32;

/// `CUresourcetype`.
pub(super) const CU_RESOURCE_TYPE_ARRAY: c_uint = 0;

/// `CUaddress_mode`.
pub(super) const CU_TR_ADDRESS_MODE_CLAMP: c_uint = 1;
pub(super) const CU_TR_ADDRESS_MODE_BORDER: c_uint = 3;

/// `CUfilter_mode`.
pub(super) const CU_TR_FILTER_MODE_POINT: c_uint = 0;
pub(super) const CU_TR_FILTER_MODE_LINEAR: c_uint = 1;

/// Flags of a texture object.
pub(super) const CU_TRSF_READ_AS_INTEGER: c_uint = 1;
pub(super) const CU_TRSF_NORMALIZED_COORDINATES: c_uint = 2;

/// A copy between arrays and other memory.
#[repr(C)]
pub(super) struct CUDA_MEMCPY2D {
    pub(super) srcXInBytes: usize,
    pub(super) srcY: usize,
    pub(super) srcMemoryType: c_uint,
    pub(super) srcHost: *const c_void,
    pub(super) srcDevice: CUdeviceptr,
    pub(super) srcArray: CUarray,
    pub(super) srcPitch: usize,
    pub(super) dstXInBytes: usize,
    pub(super) dstY: usize,
    pub(super) dstMemoryType: c_uint,
    pub(super) dstHost: *mut c_void,
    pub(super) dstDevice: CUdeviceptr,
    pub(super) dstArray: CUarray,
    pub(super) dstPitch: usize,
    pub(super) WidthInBytes: usize,
    pub(super) Height: usize,
}

/// The same of three dimensions, as a node of a graph takes it. Words that are zero here have no names of their own.
#[repr(C)]
pub(super) struct CUDA_MEMCPY3D {
    from: [usize; 4],
    srcMemoryType: c_uint,
    srcHost: usize,
    srcDevice: CUdeviceptr,
    srcArray: usize,
    reserved0: usize,
    srcPitch: usize,
    srcHeight: usize,
    to: [usize; 4],
    dstMemoryType: c_uint,
    dstHost: usize,
    dstDevice: CUdeviceptr,
    dstArray: usize,
    reserved1: usize,
    dstPitch: usize,
    dstHeight: usize,
    WidthInBytes: usize,
    Height: usize,
    Depth: usize,
}

impl CUDA_MEMCPY3D {
    /// So many bytes of the device's memory, at least one, one after the other.
    pub(super) fn of_bytes(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> CUDA_MEMCPY3D {
        // Of one row nobody asks where the next begins, and a pitch has a limit.
        let pitch = if bytes > c_int::MAX as usize { 0 } else { bytes };
        CUDA_MEMCPY3D {
            from: [0; 4],
            srcMemoryType: CU_MEMORYTYPE_DEVICE,
            srcHost: 0,
            srcDevice: from,
            srcArray: 0,
            reserved0: 0,
            srcPitch: pitch,
            srcHeight: 1,
            to: [0; 4],
            dstMemoryType: CU_MEMORYTYPE_DEVICE,
            dstHost: 0,
            dstDevice: to,
            dstArray: 0,
            reserved1: 0,
            dstPitch: pitch,
            dstHeight: 1,
            WidthInBytes: bytes,
            Height: 1,
            Depth: 1,
        }
    }
}

/// What a node of a graph sets.
#[repr(C)]
pub(super) struct CUDA_MEMSET_NODE_PARAMS {
    pub(super) dst: CUdeviceptr,
    pub(super) pitch: usize,
    pub(super) value: c_uint,
    pub(super) elementSize: c_uint,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// When the node behind an edge of a graph may begin.
#[repr(C)]
pub(super) struct CUgraphEdgeData {
    from_port: u8,
    to_port: u8,
    ty: u8,
    reserved: [u8; 5],
}

impl CUgraphEdgeData {
    /// `CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC` and `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`: when each block of the kernel before has admitted it, or has ended.
    pub(super) const PROGRAMMATIC: CUgraphEdgeData = CUgraphEdgeData { from_port: 1, to_port: 0, ty: 1, reserved: [0; 5] };
}

/// What a node of a graph launches.
#[repr(C)]
pub(super) struct CUDA_KERNEL_NODE_PARAMS {
    pub(super) func: CUfunction,
    pub(super) gridDim: [c_uint; 3],
    pub(super) blockDim: [c_uint; 3],
    pub(super) sharedMemBytes: c_uint,
    pub(super) kernelParams: *mut *mut c_void,
    pub(super) extra: *mut *mut c_void,
}

#[repr(C)]
pub(super) struct CUDA_ARRAY_DESCRIPTOR {
    pub(super) Width: usize,
    pub(super) Height: usize,
    pub(super) Format: c_uint,
    pub(super) NumChannels: c_uint,
}

/// What a texture object reads: one array, of the kinds that the union of `cuda.h` has.
#[repr(C)]
pub(super) struct CUDA_RESOURCE_DESC {
    pub(super) resType: c_uint,
    pub(super) res: Resource,
    pub(super) flags: c_uint,
}

#[repr(C)]
pub(super) union Resource {
    pub(super) hArray: CUarray,
    pub(super) reserved: [c_int; 32],
}

/// How a texture object reads.
#[repr(C)]
#[derive(Default)]
pub(super) struct CUDA_TEXTURE_DESC {
    pub(super) addressMode: [c_uint; 3],
    pub(super) filterMode: c_uint,
    pub(super) flags: c_uint,
    pub(super) maxAnisotropy: c_uint,
    pub(super) mipmapFilterMode: c_uint,
    pub(super) mipmapLevelBias: f32,
    pub(super) minMipmapLevelClamp: f32,
    pub(super) maxMipmapLevelClamp: f32,
    pub(super) borderColor: [f32; 4],
    pub(super) reserved: [c_int; 12],
}

/// `CUlaunchAttributeID`: the launch may begin before the kernel before it in the stream has ended, and waits by itself.
pub(super) const CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: c_uint = 6;

/// `CUlaunchAttributeID`: blocks of a cluster.
pub(super) const CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: c_uint = 4;

/// What `cuLaunchKernelEx` is told of a launch beside its parameters.
#[repr(C)]
pub(super) struct CUlaunchConfig {
    pub(super) gridDim: [c_uint; 3],
    pub(super) blockDim: [c_uint; 3],
    pub(super) sharedMemBytes: c_uint,
    pub(super) hStream: CUstream,
    pub(super) attrs: *mut CUlaunchAttribute,
    pub(super) numAttrs: c_uint,
}

/// An attribute of a launch. Its value begins at a multiple of 8 bytes.
#[repr(C)]
pub(super) struct CUlaunchAttribute {
    pub(super) id: c_uint,
    pub(super) value: LaunchAttributeValue,
}

/// `CUlaunchAttributeValue`: of the kinds that the union of `cuda.h` has, a flag and three extents; the others have words and addresses.
#[repr(C, align(8))]
pub(super) union LaunchAttributeValue {
    pub(super) programmaticStreamSerializationAllowed: c_int,
    pub(super) clusterDim: [c_uint; 3],
    pub(super) pad: [u8; 64],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{align_of, offset_of, size_of};

    #[test]
    fn layouts_are_those_of_the_driver() {
        // As a C compiler lays `cuda.h` out where pointers have 64 bits.
        assert_eq!((size_of::<CUDA_MEMCPY2D>(), offset_of!(CUDA_MEMCPY2D, dstMemoryType), align_of::<CUDA_MEMCPY2D>()), (128, 72, 8));
        assert_eq!((size_of::<CUDA_ARRAY_DESCRIPTOR>(), offset_of!(CUDA_ARRAY_DESCRIPTOR, NumChannels)), (24, 20));
        assert_eq!((size_of::<CUDA_RESOURCE_DESC>(), offset_of!(CUDA_RESOURCE_DESC, flags)), (144, 136));
        assert_eq!((size_of::<CUDA_TEXTURE_DESC>(), offset_of!(CUDA_TEXTURE_DESC, borderColor)), (104, 40));
        assert_eq!((size_of::<CUlaunchConfig>(), align_of::<CUlaunchConfig>()), (56, 8));
        let offsets =
            [offset_of!(CUlaunchConfig, blockDim), offset_of!(CUlaunchConfig, sharedMemBytes), offset_of!(CUlaunchConfig, hStream)];
        assert_eq!(offsets, [12, 24, 32]);
        assert_eq!((offset_of!(CUlaunchConfig, attrs), offset_of!(CUlaunchConfig, numAttrs)), (40, 48));
        assert_eq!((size_of::<LaunchAttributeValue>(), align_of::<LaunchAttributeValue>()), (64, 8));
        assert_eq!(
            (size_of::<CUDA_MEMCPY3D>(), offset_of!(CUDA_MEMCPY3D, srcDevice), offset_of!(CUDA_MEMCPY3D, dstDevice)),
            (200, 48, 136)
        );
        assert_eq!((size_of::<CUDA_MEMSET_NODE_PARAMS>(), offset_of!(CUDA_MEMSET_NODE_PARAMS, width)), (40, 24));
        assert_eq!((size_of::<CUDA_KERNEL_NODE_PARAMS>(), offset_of!(CUDA_KERNEL_NODE_PARAMS, kernelParams)), (56, 40));
        assert_eq!((size_of::<CUgraphEdgeData>(), offset_of!(CUgraphEdgeData, ty)), (8, 2));
        assert_eq!((size_of::<CUmemPoolProps>(), offset_of!(CUmemPoolProps, location), align_of::<CUmemPoolProps>()), (88, 8, 8));
        assert_eq!((size_of::<CUlaunchAttribute>(), offset_of!(CUlaunchAttribute, value)), (72, 8));
    }
}
