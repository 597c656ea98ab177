//! The functions of the OpenCL API that this library calls, loaded when first asked for; result codes and queries.
//!
//! All of them are in OpenCL 1.2.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::sys::{
    cl_bitfield, cl_bool, cl_command_queue, cl_context, cl_context_properties, cl_device_id, cl_event, cl_image_desc, cl_image_format,
    cl_int, cl_kernel, cl_mem, cl_platform_id, cl_program, cl_sampler, cl_uint,
};
use crate::error::{Error, Result};
use crate::libraries::Api;
use libloading::Library;
use std::env::consts::OS;
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// What a context or a build may call back: nothing here is.
type Callback = *const c_void;

/// What releases an object.
pub(super) type Release = unsafe extern "system" fn(*mut c_void) -> cl_int;

/// # Safety
/// The function of this name has this type.
unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: the caller's promise.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.map(|found| *found).map_err(|_| format!("the library lacks the function `{name}`: it is older than OpenCL 1.2"))
}

macro_rules! functions {
    ($($name:ident ($($arg:ident: $ty:ty),* $(,)?) -> $result:ty;)* => $($release:ident)*) => {
        /// The API: its functions, by their names.
        #[expect(non_snake_case, reason = "the API's own names")]
        pub(super) struct OpenClApi {
            $($name: unsafe extern "system" fn($($ty),*) -> $result,)*
            $(
                /// For an object that is [`Owned`](super::owned::Owned).
                pub(super) $release: Release,
            )*
        }

        #[expect(non_snake_case, clippy::too_many_arguments, reason = "the API's own names and signatures")]
        impl OpenClApi {
            fn of(library: &Library) -> Result<OpenClApi, String> {
                Ok(OpenClApi {
                    // SAFETY: the symbols have these signatures in every loader: OpenCL specification, `cl.h`.
                    $($name: unsafe { function::<unsafe extern "system" fn($($ty),*) -> $result>(library, stringify!($name))? },)*
                    // SAFETY: as above.
                    $($release: unsafe { function::<Release>(library, stringify!($release))? },)*
                })
            }

            $(
                /// Calls the function of this name.
                ///
                /// # Safety
                /// As the specification of the function says.
                pub(super) unsafe fn $name(&self, $($arg: $ty),*) -> $result {
                    // SAFETY: the caller's promise.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}

functions! {
    clGetPlatformIDs(room: cl_uint, platforms: *mut cl_platform_id, count: *mut cl_uint) -> cl_int;
    clGetDeviceIDs(platform: cl_platform_id, kind: cl_bitfield, room: cl_uint, devices: *mut cl_device_id, count: *mut cl_uint) -> cl_int;
    clGetDeviceInfo(device: cl_device_id, what: cl_uint, size: usize, value: *mut c_void, needed: *mut usize) -> cl_int;
    clCreateContext(
        properties: *const cl_context_properties,
        count: cl_uint,
        devices: *const cl_device_id,
        notify: Callback,
        notified: *mut c_void,
        code: *mut cl_int,
    ) -> cl_context;
    clCreateBuffer(context: cl_context, flags: cl_bitfield, bytes: usize, host: *mut c_void, code: *mut cl_int) -> cl_mem;
    clCreateImage(
        context: cl_context,
        flags: cl_bitfield,
        format: *const cl_image_format,
        description: *const cl_image_desc,
        host: *mut c_void,
        code: *mut cl_int,
    ) -> cl_mem;
    clGetSupportedImageFormats(
        context: cl_context,
        flags: cl_bitfield,
        kind: cl_uint,
        room: cl_uint,
        formats: *mut cl_image_format,
        count: *mut cl_uint,
    ) -> cl_int;
    clCreateSampler(context: cl_context, normalized: cl_bool, addressing: cl_uint, filter: cl_uint, code: *mut cl_int) -> cl_sampler;
    clCreateCommandQueue(context: cl_context, device: cl_device_id, properties: cl_bitfield, code: *mut cl_int) -> cl_command_queue;
    clFlush(queue: cl_command_queue) -> cl_int;
    clFinish(queue: cl_command_queue) -> cl_int;
    clCreateProgramWithSource(
        context: cl_context,
        count: cl_uint,
        texts: *const *const c_char,
        lengths: *const usize,
        code: *mut cl_int,
    ) -> cl_program;
    clBuildProgram(
        program: cl_program,
        count: cl_uint,
        devices: *const cl_device_id,
        options: *const c_char,
        notify: Callback,
        notified: *mut c_void,
    ) -> cl_int;
    clGetProgramBuildInfo(
        program: cl_program,
        device: cl_device_id,
        what: cl_uint,
        size: usize,
        value: *mut c_void,
        needed: *mut usize,
    ) -> cl_int;
    clCreateKernel(program: cl_program, name: *const c_char, code: *mut cl_int) -> cl_kernel;
    clGetKernelWorkGroupInfo(
        kernel: cl_kernel,
        device: cl_device_id,
        what: cl_uint,
        size: usize,
        value: *mut c_void,
        needed: *mut usize,
    ) -> cl_int;
    clSetKernelArg(kernel: cl_kernel, index: cl_uint, bytes: usize, value: *const c_void) -> cl_int;
    clEnqueueNDRangeKernel(
        queue: cl_command_queue,
        kernel: cl_kernel,
        dimensions: cl_uint,
        offset: *const usize,
        global: *const usize,
        local: *const usize,
        waits: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int;
    clEnqueueReadBuffer(
        queue: cl_command_queue,
        from: cl_mem,
        wait: cl_bool,
        offset: usize,
        bytes: usize,
        to: *mut c_void,
        waits: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int;
    clEnqueueWriteBuffer(
        queue: cl_command_queue,
        to: cl_mem,
        wait: cl_bool,
        offset: usize,
        bytes: usize,
        from: *const c_void,
        waits: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int;
    clEnqueueFillBuffer(
        queue: cl_command_queue,
        to: cl_mem,
        pattern: *const c_void,
        pattern_bytes: usize,
        offset: usize,
        bytes: usize,
        waits: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int;
    clEnqueueCopyBuffer(
        queue: cl_command_queue,
        from: cl_mem,
        to: cl_mem,
        from_offset: usize,
        to_offset: usize,
        bytes: usize,
        waits: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int;
    clEnqueueReadImage(
        queue: cl_command_queue,
        from: cl_mem,
        wait: cl_bool,
        origin: *const usize,
        region: *const usize,
        row_pitch: usize,
        slice_pitch: usize,
        to: *mut c_void,
        waits: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int;
    clEnqueueWriteImage(
        queue: cl_command_queue,
        to: cl_mem,
        wait: cl_bool,
        origin: *const usize,
        region: *const usize,
        row_pitch: usize,
        slice_pitch: usize,
        from: *const c_void,
        waits: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int;
    clEnqueueCopyBufferToImage(
        queue: cl_command_queue,
        from: cl_mem,
        to: cl_mem,
        offset: usize,
        origin: *const usize,
        region: *const usize,
        waits: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int;
    clEnqueueMarkerWithWaitList(queue: cl_command_queue, waits: cl_uint, list: *const cl_event, event: *mut cl_event) -> cl_int;
    clEnqueueBarrierWithWaitList(queue: cl_command_queue, waits: cl_uint, list: *const cl_event, event: *mut cl_event) -> cl_int;
    clWaitForEvents(count: cl_uint, list: *const cl_event) -> cl_int;
    clGetEventInfo(event: cl_event, what: cl_uint, size: usize, value: *mut c_void, needed: *mut usize) -> cl_int;
    clGetEventProfilingInfo(event: cl_event, what: cl_uint, size: usize, value: *mut c_void, needed: *mut usize) -> cl_int;
    => clReleaseMemObject clReleaseSampler clReleaseCommandQueue clReleaseProgram clReleaseKernel clReleaseEvent
}

impl OpenClApi {
    /// The API, loaded once.
    pub(super) fn get() -> Result<&'static OpenClApi> {
        static API: OnceLock<Result<OpenClApi>> = OnceLock::new();
        API.get_or_init(OpenClApi::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<OpenClApi> {
        let no_driver = |reason: String| Error::NoDriver { api: "OpenCL", reason, help: Api::OpenCl.way_out(OS) };
        let names = Api::OpenCl.names(OS);
        // SAFETY: loads a library; its initialisers are the vendor's.
        let opened = || names.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
        let library = in_the_process().or_else(opened);
        let library = library.ok_or_else(|| no_driver(format!("no library `OpenCL` ({}) can be loaded", names.join(", "))))?;
        // It stays for good: what is found in it is called until the process ends.
        OpenClApi::of(Box::leak(Box::new(library))).map_err(no_driver)
    }
}

/// The process itself, where it has OpenCL already: Oclgrind is preloaded, and replaces the functions of the loader.
#[cfg(unix)]
fn in_the_process() -> Option<Library> {
    let process = Library::from(libloading::os::unix::Library::this());
    // SAFETY: looks a symbol up, and calls nothing.
    let has_it = unsafe { process.get::<unsafe extern "system" fn()>(b"clGetPlatformIDs") }.is_ok();
    has_it.then_some(process)
}

#[cfg(not(unix))]
fn in_the_process() -> Option<Library> {
    None
}

/// Codes that are told apart, and the most frequent others by name. Source: OpenCL 1.2, `cl.h` and `cl_icd`.
const NAMES: &[(cl_int, &str)] = &[
    (-1, "CL_DEVICE_NOT_FOUND"),
    (-2, "CL_DEVICE_NOT_AVAILABLE"),
    (-3, "CL_COMPILER_NOT_AVAILABLE"),
    (-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"),
    (-5, "CL_OUT_OF_RESOURCES"),
    (-6, "CL_OUT_OF_HOST_MEMORY"),
    (-7, "CL_PROFILING_INFO_NOT_AVAILABLE"),
    (-11, "CL_BUILD_PROGRAM_FAILURE"),
    (-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"),
    (-30, "CL_INVALID_VALUE"),
    (-33, "CL_INVALID_DEVICE"),
    (-34, "CL_INVALID_CONTEXT"),
    (-36, "CL_INVALID_COMMAND_QUEUE"),
    (-38, "CL_INVALID_MEM_OBJECT"),
    (-42, "CL_INVALID_BINARY"),
    (-43, "CL_INVALID_BUILD_OPTIONS"),
    (-44, "CL_INVALID_PROGRAM"),
    (-45, "CL_INVALID_PROGRAM_EXECUTABLE"),
    (-46, "CL_INVALID_KERNEL_NAME"),
    (-48, "CL_INVALID_KERNEL"),
    (-49, "CL_INVALID_ARG_INDEX"),
    (-50, "CL_INVALID_ARG_VALUE"),
    (-51, "CL_INVALID_ARG_SIZE"),
    (-52, "CL_INVALID_KERNEL_ARGS"),
    (-53, "CL_INVALID_WORK_DIMENSION"),
    (-54, "CL_INVALID_WORK_GROUP_SIZE"),
    (-55, "CL_INVALID_WORK_ITEM_SIZE"),
    (-61, "CL_INVALID_BUFFER_SIZE"),
    (-1001, "CL_PLATFORM_NOT_FOUND_KHR"),
];

pub(super) const SUCCESS: cl_int = 0;
pub(super) const MEM_OBJECT_ALLOCATION_FAILURE: cl_int = -4;
pub(super) const OUT_OF_RESOURCES: cl_int = -5;
pub(super) const OUT_OF_HOST_MEMORY: cl_int = -6;
pub(super) const BUILD_PROGRAM_FAILURE: cl_int = -11;
pub(super) const INVALID_BUILD_OPTIONS: cl_int = -43;
pub(super) const INVALID_WORK_GROUP_SIZE: cl_int = -54;
pub(super) const INVALID_BUFFER_SIZE: cl_int = -61;
pub(super) const PLATFORM_NOT_FOUND: cl_int = -1001;

/// A code by name and number.
pub(super) fn name(code: cl_int) -> String {
    match NAMES.iter().find(|(known, _)| *known == code) {
        Some((_, name)) => format!("{name} ({code})"),
        None => format!("OpenCL error {code}"),
    }
}

/// The error of a failed call.
pub(super) fn check(code: cl_int, call: &str) -> Result<()> {
    if code == SUCCESS {
        return Ok(());
    }
    Err(Error::Driver { call: call.to_owned(), code: name(code), context: way_out(code).to_owned() })
}

/// What helps where a code says it.
pub(super) fn way_out(code: cl_int) -> &'static str {
    if code == OUT_OF_HOST_MEMORY { "; free memory of the host" } else { "" }
}

/// The bytes a query gives, whose size it tells first. `query` is one of the `clGet…Info` functions, its object filled in.
pub(super) fn info(call: &str, query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<Vec<u8>> {
    let mut size = 0;
    check(query(0, null_mut(), &mut size), call)?;
    let mut bytes = vec![0u8; size];
    check(query(size, bytes.as_mut_ptr().cast(), null_mut()), call)?;
    Ok(bytes)
}

/// Text that a query gave, without the zero byte at its end.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

/// Numbers of 4 or 8 bytes that a query gave.
pub(super) fn numbers(bytes: &[u8], width: usize) -> Vec<u64> {
    let number = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    bytes.chunks_exact(width).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_loader_there_is_an_error_and_no_panic() {
        match OpenClApi::get() {
            Ok(_) => assert!(OpenClApi::get().is_ok()),
            Err(Error::NoDriver { api: "OpenCL", reason, help }) => assert!(!reason.is_empty() && help.contains("simulator")),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn reads_numbers_and_text() {
        assert_eq!(numbers(&[1, 0, 0, 0, 0, 2, 0, 0], 4), [1, 512]);
        assert_eq!(text(b"OpenCL 3.0 PoCL \0\0"), "OpenCL 3.0 PoCL");
        assert_eq!((name(-11).as_str(), name(-999).as_str()), ("CL_BUILD_PROGRAM_FAILURE (-11)", "OpenCL error -999"));
    }
}
