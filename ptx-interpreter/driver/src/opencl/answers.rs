//! The platform, its device, and what is asked of them.

use super::{INVALID_VALUE, making, state};
use crate::codes::Code;
use crate::failing::told;
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

/// The only platform and the only device.
const PLATFORM: usize = 1;
const DEVICE: usize = 2;

/// Work items of a group that the device has at most, and those of a kernel.
const DEVICE_GROUP: usize = 1024;
pub(super) const KERNEL_GROUP: usize = 256;

/// An image format: the order of its channels, and their type. `CL_R` and `CL_RGBA` of `CL_FLOAT`.
const FORMATS: [[c_uint; 2]; 2] = [[0x10b0, 0x10de], [0x10b5, 0x10de]];

/// Gives an answer to a query, and how long it is.
pub(super) fn answer(bytes: &[u8], size: usize, value: *mut c_void, needed: *mut usize) -> Result<(), Code> {
    if !needed.is_null() {
        put!(needed, bytes.len());
    }
    if !value.is_null() {
        crate::memory::to_host(value, bytes.get(..bytes.len().min(size)).unwrap_or_default())?;
    }
    Ok(())
}

/// Writes the only handle of a list, and how many there are.
fn list(one: usize, room: c_uint, to: *mut usize, found: *mut c_uint) -> Result<(), Code> {
    if !found.is_null() {
        put!(found, 1);
    }
    if room != 0 && !to.is_null() {
        put!(to, one);
    }
    Ok(())
}

/// What `clGetDeviceInfo` gives (`cl.h`).
fn of_device(what: c_uint) -> Option<Vec<u8>> {
    let word = |word: usize| word.to_ne_bytes().to_vec();
    let flag = |word: c_uint| word.to_ne_bytes().to_vec();
    Some(match what {
        // A CPU.
        0x1000 => word(2),
        0x1002 => flag(4),
        0x1004 => word(DEVICE_GROUP),
        0x1005 => [DEVICE_GROUP; 3].into_iter().flat_map(word).collect(),
        0x100c => flag(1000),
        0x1011 | 0x1012 => word(16384),
        0x1017 => word(4352),
        0x101e => word(1 << 20),
        0x101f => word(8 << 30),
        0x1023 => word(48 << 10),
        0x1027 | 0x1028 => flag(1),
        0x102b => b"OpenCL stand-in\0".to_vec(),
        0x102f => b"OpenCL 1.2 stand-in\0".to_vec(),
        0x1030 => b"\0".to_vec(),
        _ => return None,
    })
}

making! {
    /// A context.
    fn clCreateContext(
        _properties: *const isize,
        _count: c_uint,
        _devices: *const usize,
        _notify: *const c_void,
        _notified: *mut c_void,
    ) {
        state().new_handle()
    }

    /// A queue.
    fn clCreateCommandQueue(_context: usize, _device: usize, _properties: u64) {
        state().new_handle()
    }

    /// A sampler.
    fn clCreateSampler(_context: usize, _normalized: c_uint, _addressing: c_uint, _filter: c_uint) {
        state().new_handle()
    }
}

exported! {
    /// One.
    fn clGetPlatformIDs(room: c_uint, platforms: *mut usize, count: *mut c_uint) {
        list(PLATFORM, room, platforms, count)
    }

    /// One.
    fn clGetDeviceIDs(_platform: usize, _kind: u64, room: c_uint, devices: *mut usize, count: *mut c_uint) {
        list(DEVICE, room, devices, count)
    }

    /// What the device has.
    fn clGetDeviceInfo(_device: usize, what: c_uint, size: usize, value: *mut c_void, needed: *mut usize) {
        answer(&of_device(what).ok_or(INVALID_VALUE)?, size, value, needed)
    }

    /// What images hold.
    fn clGetSupportedImageFormats(
        _context: usize,
        _flags: u64,
        _kind: c_uint,
        room: c_uint,
        formats: *mut [c_uint; 2],
        count: *mut c_uint,
    ) {
        if !count.is_null() {
            put!(count, FORMATS.len() as c_uint);
        }
        let bytes: Vec<u8> = FORMATS.iter().take(room as usize).flatten().flat_map(|word| word.to_ne_bytes()).collect();
        answer(&bytes, bytes.len(), formats.cast(), null_mut())
    }

    /// What a build has said.
    fn clGetProgramBuildInfo(_program: usize, _device: usize, _what: c_uint, size: usize, value: *mut c_void, needed: *mut usize) {
        answer(b"OpenCL stand-in: it was told to refuse the program\0", size, value, needed)
    }

    /// Work items of a group that a kernel may have.
    fn clGetKernelWorkGroupInfo(_kernel: usize, _device: usize, _what: c_uint, size: usize, value: *mut c_void, needed: *mut usize) {
        answer(&KERNEL_GROUP.to_ne_bytes(), size, value, needed)
    }

    /// How far what an event marks has come: all of it, or what a test says of `status`.
    fn clGetEventInfo(_event: usize, _what: c_uint, size: usize, value: *mut c_void, needed: *mut usize) {
        answer(&told("status").unwrap_or(0).to_ne_bytes(), size, value, needed)
    }

    /// Nanoseconds of nothing that ran.
    fn clGetEventProfilingInfo(_event: usize, _what: c_uint, size: usize, value: *mut c_void, needed: *mut usize) {
        answer(&0u64.to_ne_bytes(), size, value, needed)
    }
}
