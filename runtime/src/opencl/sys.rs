//! The types and numbers of the OpenCL API that this library uses, by the API's own names.
//!
//! Source: the OpenCL specification and Khronos's `cl.h`, whose layouts these are. A test holds them to the crate `opencl-sys`, which is not used
//! itself: Cargo allows one version of it in a program (`links = "OpenCL"`), so programs with another one could not use this crate.

#![expect(non_camel_case_types, reason = "the API's own names")]

use std::ffi::c_void;

/// What the API calls an object by.
macro_rules! handles {
    ($($name:ident)*) => {
        $(pub(super) type $name = *mut c_void;)*
    };
}

handles!(cl_platform_id cl_device_id cl_context cl_command_queue cl_mem cl_program cl_kernel cl_event cl_sampler);

pub(super) type cl_int = i32;
pub(super) type cl_uint = u32;
pub(super) type cl_bool = cl_uint;
pub(super) type cl_bitfield = u64;
pub(super) type cl_context_properties = isize;

/// What the channels of an image are.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct cl_image_format {
    pub(super) image_channel_order: cl_uint,
    pub(super) image_channel_data_type: cl_uint,
}

/// The kind and the extents of an image.
#[repr(C)]
pub(super) struct cl_image_desc {
    pub(super) image_type: cl_uint,
    pub(super) image_width: usize,
    pub(super) image_height: usize,
    pub(super) image_depth: usize,
    pub(super) image_array_size: usize,
    pub(super) image_row_pitch: usize,
    pub(super) image_slice_pitch: usize,
    pub(super) num_mip_levels: cl_uint,
    pub(super) num_samples: cl_uint,
    pub(super) buffer: cl_mem,
}

macro_rules! numbers {
    ($($ty:ident: $($name:ident = $value:expr,)*;)*) => {
        $($(pub(super) const $name: $ty = $value;)*)*

        #[cfg(test)]
        mod tests {
            #[test]
            fn numbers_are_those_of_the_header() {
                $($(assert_eq!(super::$name as u64, opencl_sys::$name as u64, stringify!($name));)*)*
            }
        }
    };
}

numbers! {
    cl_bool:
        CL_TRUE = 1,
    ;
    // Kinds of device, flags of memory, properties of a queue.
    cl_bitfield:
        CL_DEVICE_TYPE_GPU = 1 << 2,
        CL_DEVICE_TYPE_ALL = 0xffff_ffff,
        CL_MEM_READ_WRITE = 1 << 0,
        CL_MEM_READ_ONLY = 1 << 2,
        CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    ;
    cl_context_properties:
        CL_CONTEXT_PLATFORM = 0x1084,
    ;
    cl_uint:
        CL_DEVICE_TYPE = 0x1000,
        CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
        CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
        CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
        CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100c,
        CL_DEVICE_IMAGE2D_MAX_WIDTH = 0x1011,
        CL_DEVICE_IMAGE2D_MAX_HEIGHT = 0x1012,
        CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101e,
        CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
        CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
        CL_DEVICE_AVAILABLE = 0x1027,
        CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
        CL_DEVICE_NAME = 0x102b,
        CL_DEVICE_VERSION = 0x102f,
        CL_DEVICE_EXTENSIONS = 0x1030,
        // Orders and types of an image's channels.
        CL_R = 0x10b0,
        CL_RG = 0x10b2,
        CL_RGBA = 0x10b5,
        CL_SIGNED_INT8 = 0x10d7,
        CL_SIGNED_INT16 = 0x10d8,
        CL_SIGNED_INT32 = 0x10d9,
        CL_UNSIGNED_INT8 = 0x10da,
        CL_UNSIGNED_INT16 = 0x10db,
        CL_UNSIGNED_INT32 = 0x10dc,
        CL_FLOAT = 0x10de,
        CL_MEM_OBJECT_IMAGE2D = 0x10f1,
        // What samplers do.
        CL_ADDRESS_CLAMP_TO_EDGE = 0x1131,
        CL_ADDRESS_CLAMP = 0x1132,
        CL_FILTER_NEAREST = 0x1140,
        CL_FILTER_LINEAR = 0x1141,
        // Queries of programs, kernels and events.
        CL_PROGRAM_BUILD_LOG = 0x1183,
        CL_KERNEL_WORK_GROUP_SIZE = 0x11b0,
        CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11d3,
        CL_PROFILING_COMMAND_START = 0x1282,
        CL_PROFILING_COMMAND_END = 0x1283,
    ;
}
