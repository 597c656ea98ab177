//! Devices, and their contexts.

use crate::codes::{Code, INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_UNSUPPORTED, name};
use crate::state::{CURRENT, Handle, any_state, current, primary_context, state};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null;
use std::sync::OnceLock;
use warpwright_ptx_interpreter::{MOST_DEVICES, RESIDENT_BLOCKS};

/// The version of CUDA that the driver has, major and minor: 13.0 if nothing is said that can be one.
pub(crate) fn version() -> (u32, u32) {
    static CHOSEN: OnceLock<(u32, u32)> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let said = std::env::var("PTX_INTERPRETER_CUDA").unwrap_or_default();
        let numbers = said.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        numbers.filter(|(major, minor)| (11..100).contains(major) && *minor < 100).unwrap_or((13, 0))
    })
}

/// How many devices there are: one, if nothing is said that there can be.
pub(crate) fn count() -> usize {
    static CHOSEN: OnceLock<usize> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let said = std::env::var("PTX_INTERPRETER_DEVICES").unwrap_or_default();
        said.parse().ok().filter(|count| (1..=MOST_DEVICES).contains(count)).unwrap_or(1)
    })
}

/// Whether one of two devices reaches the other's memory: those of even numbers each other's, and those of odd ones. So there are both where there are three.
fn reaches(device: usize, peer: usize) -> bool {
    device != peer && device % 2 == peer % 2
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

/// The devices' compute capability, ten times the major number and the minor: 8.0 if nothing is said that there is.
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

/// The device of a number.
pub(crate) fn known_device(device: c_int) -> Result<usize, Code> {
    usize::try_from(device).ok().filter(|device| *device < count()).ok_or(INVALID_DEVICE)
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

    /// How many there are.
    fn cuDeviceGetCount(count: *mut c_int) {
        put!(count, self::count() as c_int);
        Ok(())
    }

    /// The device of a number.
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        known_device(ordinal)?;
        put!(device, ordinal);
        Ok(())
    }

    /// Its name says what it is.
    fn cuDeviceGetName(to: *mut c_char, len: c_int, device: c_int) {
        known_device(device)?;
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
        known_device(device)?;
        put!(value, attribute(number).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Bytes of its memory.
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) {
        known_device(device)?;
        put!(bytes, crate::memory::TOTAL as usize);
        Ok(())
    }

    /// Whether a device reaches another's memory, by copies.
    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) {
        put!(can, reaches(known_device(device)?, known_device(peer)?).into());
        Ok(())
    }

    /// Its primary context.
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) {
        put!(context, primary_context(known_device(device)?));
        Ok(())
    }

    /// The context stays.
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        known_device(device).map(|_| ())
    }

    /// Another context, which is the calling thread's then.
    fn cuCtxCreate_v4(context: *mut Handle, _parameters: *mut c_void, _flags: c_uint, device: c_int) {
        let device = known_device(device)?;
        let mut state = any_state();
        let new = state.new_handle();
        state.contexts.insert(new, device);
        if let Some(code) = state.gpu_of(new)?.lost {
            state.contexts.remove(&new);
            return Err(code);
        }
        CURRENT.set(new);
        put!(context, new);
        Ok(())
    }

    /// Its end, and that of what was made in it.
    fn cuCtxDestroy_v2(context: Handle) {
        let mut state = any_state();
        state.do_everything();
        let is_primary = (0..count()).any(|device| primary_context(device) == context);
        if is_primary || state.contexts.remove(&context).is_none() {
            return Err(INVALID_CONTEXT);
        }
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
        if context != 0 && !any_state().contexts.contains_key(&context) {
            return Err(INVALID_CONTEXT);
        }
        CURRENT.set(context);
        Ok(())
    }

    /// Waits for all that its streams have to do.
    fn cuCtxSynchronize() {
        state()?.synchronized()
    }

    /// Lets the current context reach another's memory, once.
    fn cuCtxEnablePeerAccess(peer: Handle, _flags: c_uint) {
        let mut state = state()?;
        let current = current()?;
        let device = |context: Handle| state.contexts.get(&context).copied().ok_or(INVALID_CONTEXT);
        if !reaches(device(current)?, device(peer)?) {
            return Err(PEER_ACCESS_UNSUPPORTED);
        }
        if state.peers.insert((current, peer)) { Ok(()) } else { Err(PEER_ACCESS_ALREADY_ENABLED) }
    }
}
