//! The device, and its contexts.

use crate::codes::{Code, INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, name};
use crate::state::{CONTEXT, CURRENT, Handle, any_state, state};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null;
use std::sync::OnceLock;
use warpwright_ptx_interpreter::RESIDENT_BLOCKS;

/// The version of CUDA that the driver has, major and minor: 13.0 if nothing is said that can be one.
pub(crate) fn version() -> (u32, u32) {
    static CHOSEN: OnceLock<(u32, u32)> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let said = std::env::var("PTX_INTERPRETER_CUDA").unwrap_or_default();
        let numbers = said.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        numbers.filter(|(major, minor)| (11..100).contains(major) && *minor < 100).unwrap_or((13, 0))
    })
}

/// Multiprocessors: as many blocks are resident as the interpreter runs at once.
pub(crate) const MULTIPROCESSORS: usize = 4;
/// Blocks that a multiprocessor holds.
pub(crate) const BLOCKS: usize = RESIDENT_BLOCKS / MULTIPROCESSORS;
/// Threads that it holds.
pub(crate) const THREADS: usize = 2048;

/// Per compute capability, ten times the major number and the minor: shared memory of a multiprocessor, and the most that a block can ask for (CUDA C++ Programming
/// Guide, "Technical Specifications per Compute Capability").
const SHARED: &[(u32, c_int, c_int)] = &[
    // Older than all that anything can be compiled for.
    (30, 49152, 49152),
    (70, 98304, 98304),
    (75, 65536, 65536),
    (80, 167_936, 166_912),
    (86, 102_400, 101_376),
    (87, 167_936, 166_912),
    (89, 102_400, 101_376),
    (90, 233_472, 232_448),
];

/// The device's compute capability, ten times the major number and the minor: 8.0 if nothing is said that there is.
pub(crate) fn capability() -> u32 {
    static CHOSEN: OnceLock<u32> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let said = std::env::var("PTX_INTERPRETER_CAPABILITY").unwrap_or_default();
        let digits: String = said.chars().filter(char::is_ascii_digit).collect();
        let known = digits.parse().ok().filter(|asked| SHARED.iter().any(|(known, ..)| known == asked));
        known.unwrap_or(80)
    })
}

/// Shared memory of a multiprocessor, and the most that a block can ask for.
pub(crate) fn shared_limits() -> (c_int, c_int) {
    SHARED.iter().find(|(known, ..)| *known == capability()).map_or((167_936, 166_912), |(_, all, block)| (*all, *block))
}

/// What `cuDeviceGetAttribute` is asked (CUDA Driver API, `CUdevice_attribute`).
fn attribute(number: c_uint) -> Option<c_int> {
    let (shared, opted_in) = shared_limits();
    Some(match number {
        // Threads of a block, in all and along each axis.
        1..=3 => 1024,
        4 => 64,
        // Blocks of a grid.
        5 => c_int::MAX,
        6 | 7 => 65535,
        8 => 49152,
        10 => 32,
        // Kilohertz: of nothing that runs.
        13 | 36 => 1_000_000,
        16 => MULTIPROCESSORS as c_int,
        22 => 131_072,
        23 => 65_536,
        37 => 256,
        38 => 1 << 20,
        39 => THREADS as c_int,
        75 => capability() as c_int / 10,
        76 => capability() as c_int % 10,
        81 => shared,
        82 => 65536,
        97 => opted_in,
        // Pools of memory.
        115 => 1,
        _ => return None,
    })
}

fn is_device(device: c_int) -> Result<(), Code> {
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

exported! {
    /// Begins.
    fn cuInit(_flags: c_uint) {
        Ok(())
    }

    /// The version of CUDA.
    fn cuDriverGetVersion(version: *mut c_int) {
        let (major, minor) = self::version();
        put!(version, (1000 * major + 10 * minor) as c_int);
        Ok(())
    }

    /// The name of a code.
    fn cuGetErrorName(code: Code, text: *mut *const c_char) {
        let Some(name) = name(code) else {
            put!(text, null());
            return Err(INVALID_VALUE);
        };
        put!(text, name.as_ptr().cast());
        Ok(())
    }

    /// The same: who knows the name needs no sentence.
    fn cuGetErrorString(code: Code, text: *mut *const c_char) {
        let Some(name) = name(code) else {
            put!(text, null());
            return Err(INVALID_VALUE);
        };
        put!(text, name.as_ptr().cast());
        Ok(())
    }

    /// One.
    fn cuDeviceGetCount(count: *mut c_int) {
        put!(count, 1);
        Ok(())
    }

    /// The device of a number.
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        is_device(ordinal)?;
        put!(device, 0);
        Ok(())
    }

    /// Its name says what it is.
    fn cuDeviceGetName(to: *mut c_char, len: c_int, device: c_int) {
        is_device(device)?;
        let text = format!("PTX interpreter {}.{}", capability() / 10, capability() % 10);
        let room = usize::try_from(len).unwrap_or(0);
        if to.is_null() || room == 0 {
            return Err(INVALID_VALUE);
        }
        let count = text.len().min(room - 1);
        // SAFETY: the caller's address for `len` bytes, and one more than `count` of them are written.
        unsafe {
            to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), count);
            to.add(count).write(0);
        }
        Ok(())
    }

    /// What it has.
    fn cuDeviceGetAttribute(value: *mut c_int, number: c_uint, device: c_int) {
        is_device(device)?;
        put!(value, attribute(number).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Bytes of its memory.
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) {
        is_device(device)?;
        put!(bytes, crate::memory::TOTAL as usize);
        Ok(())
    }

    /// Whether a device reaches another's memory.
    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) {
        is_device(device)?;
        is_device(peer)?;
        put!(can, 0);
        Ok(())
    }

    /// The context.
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) {
        is_device(device)?;
        put!(context, CONTEXT);
        Ok(())
    }

    /// The context stays.
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        is_device(device)
    }

    /// Another context, which is the calling thread's then.
    fn cuCtxCreate_v4(context: *mut Handle, _parameters: *mut c_void, _flags: c_uint, device: c_int) {
        is_device(device)?;
        let mut state = state()?;
        let new = state.new_handle();
        state.contexts.push(new);
        CURRENT.set(new);
        put!(context, new);
        Ok(())
    }

    /// Its end, and that of what was made in it.
    fn cuCtxDestroy_v2(context: Handle) {
        let mut state = any_state();
        if !state.contexts.contains(&context) {
            return Err(INVALID_CONTEXT);
        }
        state.contexts.retain(|known| *known != context);
        state.streams.retain(|_, of| *of != context);
        state.functions.retain(|_, function| function.context != context);
        state.modules.retain(|_, (of, _)| *of != context);
        if CURRENT.get() == context {
            CURRENT.set(0);
        }
        Ok(())
    }

    /// The calling thread's.
    fn cuCtxGetCurrent(context: *mut Handle) {
        put!(context, CURRENT.get());
        Ok(())
    }

    /// Sets it.
    fn cuCtxSetCurrent(context: Handle) {
        if context != 0 && context != CONTEXT && !any_state().contexts.contains(&context) {
            return Err(INVALID_CONTEXT);
        }
        CURRENT.set(context);
        Ok(())
    }

    /// All is done already.
    fn cuCtxSynchronize() {
        state().map(|_| ())
    }

    /// There is one device.
    fn cuCtxEnablePeerAccess(_peer: Handle, _flags: c_uint) {
        Err(INVALID_DEVICE)
    }
}
