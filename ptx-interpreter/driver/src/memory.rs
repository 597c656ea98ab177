//! Memory: allocations, pools, copies.

use crate::codes::{Code, INVALID_CONTEXT, INVALID_VALUE, OUT_OF_MEMORY};
use crate::device::known_device;
use crate::layouts::PoolProperties;
use crate::state::{Gpu, Handle, State, any_state, current, known, primary_context, state, state_of_all};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_uint, c_void};
use warpwright_ptx_interpreter::Memory;

/// Bytes of a device's memory.
pub(crate) const TOTAL: u64 = 8 << 30;
/// What page-locked memory begins at multiples of.
const PAGE: usize = 4096;

/// Attributes of a pool: what it has, and what of that is used.
const RESERVED: c_uint = 5;
const USED: c_uint = 7;

/// A copy or the like that names what is no memory: the driver says that the value is bad.
pub(crate) fn said(result: Result<(), String>) -> Result<(), Code> {
    result.map_err(|message| {
        eprintln!("PTX interpreter: {message}");
        INVALID_VALUE
    })
}

fn allocate_now(gpu: &mut Gpu, bytes: usize) -> Option<u64> {
    let memory = &mut gpu.memory;
    let fits = memory.used().checked_add(bytes as u64).is_some_and(|all| all <= TOTAL);
    if fits { memory.allocate(bytes as u64) } else { None }
}

/// In the memory of a context; if there is none, once what is freed by streams is free.
fn allocate(state: &mut State, context: Handle, bytes: usize) -> Result<u64, Code> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    if let Some(address) = allocate_now(state.gpu_of(context)?, bytes) {
        return Ok(address);
    }
    state.do_everything();
    allocate_now(state.gpu_of(context)?, bytes).ok_or(OUT_OF_MEMORY)
}

/// Errors unless these bytes are there at the call.
fn check(state: &mut State, address: u64, bytes: usize) -> Result<(), Code> {
    said(state.memory_at(address)?.read(address, bytes as u64).map(|_| ()))
}

/// Whether the host's bytes are page-locked: only then a stream reads or writes them after the call.
fn is_pinned(state: &State, address: usize) -> bool {
    state.pinned.iter().any(|(start, bytes)| (*start..start + bytes).contains(&address))
}

fn free(state: &mut State, address: u64) -> Result<(), Code> {
    if state.memory_at(address)?.free(address) { Ok(()) } else { Err(INVALID_VALUE) }
}

/// Bytes of a device.
pub(crate) fn read(state: &mut State, from: u64, bytes: usize) -> Result<Vec<u8>, Code> {
    let content = state.memory_at(from)?.read(from, bytes as u64).map(<[u8]>::to_vec);
    content.map_err(|message| said(Err(message)).err().unwrap_or(INVALID_VALUE))
}

/// Sets bytes of a device.
pub(crate) fn write(state: &mut State, to: u64, content: &[u8]) -> Result<(), Code> {
    said(state.memory_at(to)?.write(to, content))
}

/// From one place of a device to another, of this or another device.
pub(crate) fn copy(state: &mut State, to: u64, from: u64, bytes: usize) -> Result<(), Code> {
    let content = read(state, from, bytes)?;
    write(state, to, &content)
}

/// The caller's bytes.
pub(crate) fn of_host<'h>(from: *const c_void, bytes: usize) -> Result<&'h [u8], Code> {
    if from.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller says that so many bytes are there; they are read before the call returns.
    Ok(unsafe { std::slice::from_raw_parts(from.cast(), bytes) })
}

/// Bytes to the caller.
pub(crate) fn to_host(to: *mut c_void, content: &[u8]) -> Result<(), Code> {
    if to.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller says that there is room for so many bytes.
    unsafe { to.cast::<u8>().copy_from_nonoverlapping(content.as_ptr(), content.len()) };
    Ok(())
}

exported! {
    /// What is free, and all.
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let mut state = state()?;
        state.do_everything();
        let used = state.gpu()?.memory.used();
        put!(free, TOTAL.saturating_sub(used) as usize);
        put!(total, TOTAL as usize);
        Ok(())
    }

    /// Allocates.
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        let new = allocate(&mut *state()?, current()?, bytes)?;
        put!(address, new);
        Ok(())
    }

    /// Frees, behind all that streams have to do.
    fn cuMemFree_v2(address: u64) {
        let mut state = state()?;
        state.do_everything();
        if address == 0 { Ok(()) } else { free(&mut state, address) }
    }

    /// Memory of the host.
    fn cuMemHostAlloc(address: *mut *mut c_void, bytes: usize, _flags: c_uint) {
        let mut state = state()?;
        let layout = Layout::from_size_align(bytes, PAGE).map_err(|_| INVALID_VALUE)?;
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        // SAFETY: of at least one byte.
        let new = unsafe { alloc_zeroed(layout) };
        if new.is_null() {
            return Err(OUT_OF_MEMORY);
        }
        state.pinned.insert(new as usize, bytes);
        put!(address, new.cast());
        Ok(())
    }

    /// Frees it.
    fn cuMemFreeHost(address: *mut c_void) {
        let mut state = any_state();
        state.do_everything();
        let bytes = state.pinned.remove(&(address as usize)).ok_or(INVALID_VALUE)?;
        let layout = Layout::from_size_align(bytes, PAGE).map_err(|_| INVALID_VALUE)?;
        // SAFETY: allocated above with this layout, and freed once: it is no longer known.
        unsafe { dealloc(address.cast(), layout) };
        Ok(())
    }

    /// To the device. What is not page-locked has been read when the call returns.
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: Handle) {
        let mut state = state()?;
        let content = of_host(from, bytes)?;
        check(&mut state, to, bytes)?;
        if is_pinned(&state, from as usize) {
            let from = from as usize;
            return state.in_stream(stream, move |state| write(state, to, of_host(from as *const c_void, bytes)?));
        }
        let content = content.to_vec();
        state.in_stream(stream, move |state| write(state, to, &content))
    }

    /// From the device. What is not page-locked has been written when the call returns.
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: Handle) {
        let mut state = state()?;
        check(&mut state, from, bytes)?;
        if is_pinned(&state, to as usize) {
            let to = to as usize;
            return state.in_stream(stream, move |state| to_host(to as *mut c_void, &read(state, from, bytes)?));
        }
        let place = state.place_of(stream)?;
        state.come_to_end(place);
        state.told(place.context)?;
        to_host(to, &read(&mut state, from, bytes)?)
    }

    /// On a device: what is of two has a function of its own.
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        if Memory::device_of(to) != Memory::device_of(from) {
            return Err(INVALID_VALUE);
        }
        let mut state = state()?;
        [to, from].into_iter().try_for_each(|address| check(&mut state, address, bytes))?;
        state.in_stream(stream, move |state| copy(state, to, from, bytes))
    }

    /// From one context to another: of the same device or of two.
    fn cuMemcpyPeerAsync(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize, stream: Handle) {
        let mut state = state()?;
        for (address, context) in [(to, to_context), (from, from_context)] {
            let device = state.contexts.get(&context).copied().ok_or(INVALID_CONTEXT)?;
            if Memory::device_of(address) != device {
                return Err(INVALID_VALUE);
            }
            check(&mut state, address, bytes)?;
        }
        state.in_stream(stream, move |state| copy(state, to, from, bytes))
    }

    /// Sets bytes.
    fn cuMemsetD8Async(to: u64, byte: u8, bytes: usize, stream: Handle) {
        let mut state = state()?;
        check(&mut state, to, bytes)?;
        state.in_stream(stream, move |state| said(state.memory_at(to)?.fill(to, byte, bytes as u64)))
    }

    /// A pool of a device, whichever context is current, if one is.
    fn cuMemPoolCreate(pool: *mut Handle, properties: *const PoolProperties) {
        let mut state = state_of_all()?;
        let context = primary_context(known_device(take!(properties).device)?);
        let new = state.new_handle();
        state.pools.insert(new, context);
        put!(pool, new);
        Ok(())
    }

    /// Its end.
    fn cuMemPoolDestroy(pool: Handle) {
        known(any_state().pools.remove(&pool)).map(|_| ())
    }

    /// Nothing is kept.
    fn cuMemPoolSetAttribute(pool: Handle, _attribute: c_uint, _value: *mut c_void) {
        known(state_of_all()?.pools.get(&pool)).map(|_| ())
    }

    /// What it has is what is used.
    fn cuMemPoolGetAttribute(pool: Handle, attribute: c_uint, value: *mut c_void) {
        let mut state = state_of_all()?;
        let context = *known(state.pools.get(&pool))?;
        state.do_everything();
        let used = state.gpu_of(context)?.memory.used();
        put!(value.cast::<u64>(), if matches!(attribute, RESERVED | USED) { used } else { 0 });
        Ok(())
    }

    /// Of devices that reach each other's memory.
    fn cuMemPoolSetAccess(pool: Handle, _access: *const c_void, _count: usize) {
        known(state_of_all()?.pools.get(&pool)).map(|_| ())
    }

    /// Nothing is kept.
    fn cuMemPoolTrimTo(pool: Handle, _bytes: usize) {
        known(state_of_all()?.pools.get(&pool)).map(|_| ())
    }

    /// Allocates from a pool.
    fn cuMemAllocFromPoolAsync(address: *mut u64, bytes: usize, pool: Handle, _stream: Handle) {
        let mut state = state()?;
        let context = *known(state.pools.get(&pool))?;
        let new = allocate(&mut state, context, bytes)?;
        put!(address, new);
        Ok(())
    }

    /// Allocates.
    fn cuMemAllocAsync(address: *mut u64, bytes: usize, _stream: Handle) {
        let new = allocate(&mut *state()?, current()?, bytes)?;
        put!(address, new);
        Ok(())
    }

    /// Gives it back.
    fn cuMemFreeAsync(address: u64, stream: Handle) {
        let mut state = state()?;
        check(&mut state, address, 0)?;
        state.in_stream(stream, move |state| free(state, address))
    }
}
