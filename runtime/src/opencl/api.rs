//! What every file here needs of the OpenCL API: result codes and queries.

use crate::error::{Error, Result};
use ocl_core::ffi::{cl_int, size_t};
use std::ffi::c_void;
use std::ptr::null_mut;

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
    Err(Error::Driver { call: call.to_owned(), code: name(code), context: String::new() })
}

/// The bytes a query gives, whose size it tells first. `query` is one of the `clGet…Info` functions, its object filled in.
pub(super) fn info(call: &str, query: impl Fn(size_t, *mut c_void, *mut size_t) -> cl_int) -> Result<Vec<u8>> {
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
    fn reads_numbers_and_text() {
        assert_eq!(numbers(&[1, 0, 0, 0, 0, 2, 0, 0], 4), [1, 512]);
        assert_eq!(text(b"OpenCL 3.0 PoCL \0\0"), "OpenCL 3.0 PoCL");
        assert_eq!((name(-11).as_str(), name(-999).as_str()), ("CL_BUILD_PROGRAM_FAILURE (-11)", "OpenCL error -999"));
    }
}
