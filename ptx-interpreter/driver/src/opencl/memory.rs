//! Memory, and copies from and to it: all is done in the call.

use super::{INVALID_MEM_OBJECT, INVALID_VALUE, State, making, state};
use crate::codes::Code;
use crate::memory::{of_host, to_host};
use std::ffi::{c_uint, c_void};

/// Bytes of a texel at most.
const TEXEL: usize = 16;

/// The first field that counts of `cl_image_desc`: width and height behind the kind of image.
#[repr(C)]
pub struct Description {
    kind: c_uint,
    width: usize,
    height: usize,
}

fn allocate(bytes: usize) -> usize {
    let mut state = state();
    let new = state.new_handle();
    state.memory.insert(new, vec![0; bytes]);
    new
}

/// Bytes of a memory object from an offset on.
fn part(state: &mut State, object: usize, offset: usize, bytes: usize) -> Result<&mut [u8], Code> {
    let all = state.memory.get_mut(&object).ok_or(INVALID_MEM_OBJECT)?;
    offset.checked_add(bytes).and_then(|end| all.get_mut(offset..end)).ok_or(INVALID_VALUE)
}

making! {
    /// A buffer.
    fn clCreateBuffer(_context: usize, _flags: u64, bytes: usize, _host: *mut c_void) {
        allocate(bytes)
    }

    /// An image, which has room for the widest texels.
    fn clCreateImage(_context: usize, _flags: u64, _format: *const c_void, description: *const Description, _host: *mut c_void) {
        // SAFETY: the caller's address of a description, or null.
        let extents = unsafe { description.as_ref() }.map_or((0, 0), |description| (description.width, description.height));
        allocate(extents.0.saturating_mul(extents.1).saturating_mul(TEXEL))
    }
}

exported! {
    /// Forgets memory.
    fn clReleaseMemObject(object: usize) {
        state().memory.remove(&object).map(drop).ok_or(INVALID_MEM_OBJECT)
    }

    /// Reads.
    fn clEnqueueReadBuffer(
        _queue: usize,
        from: usize,
        _wait: c_uint,
        offset: usize,
        bytes: usize,
        to: *mut c_void,
        _waits: c_uint,
        _list: *const usize,
        _event: *mut usize,
    ) {
        to_host(to, part(&mut state(), from, offset, bytes)?)
    }

    /// Writes.
    fn clEnqueueWriteBuffer(
        _queue: usize,
        to: usize,
        _wait: c_uint,
        offset: usize,
        bytes: usize,
        from: *const c_void,
        _waits: c_uint,
        _list: *const usize,
        _event: *mut usize,
    ) {
        part(&mut state(), to, offset, bytes)?.copy_from_slice(of_host(from, bytes)?);
        Ok(())
    }

    /// Fills with a byte.
    fn clEnqueueFillBuffer(
        _queue: usize,
        to: usize,
        pattern: *const c_void,
        pattern_bytes: usize,
        offset: usize,
        bytes: usize,
        _waits: c_uint,
        _list: *const usize,
        _event: *mut usize,
    ) {
        let [byte] = of_host(pattern, pattern_bytes)? else { return Err(INVALID_VALUE) };
        part(&mut state(), to, offset, bytes)?.fill(*byte);
        Ok(())
    }

    /// Copies.
    fn clEnqueueCopyBuffer(
        _queue: usize,
        from: usize,
        to: usize,
        from_offset: usize,
        to_offset: usize,
        bytes: usize,
        _waits: c_uint,
        _list: *const usize,
        _event: *mut usize,
    ) {
        let mut state = state();
        let content = part(&mut state, from, from_offset, bytes)?.to_vec();
        part(&mut state, to, to_offset, bytes)?.copy_from_slice(&content);
        Ok(())
    }

    /// Images keep nothing: no kernel reads them.
    fn clEnqueueReadImage(
        _queue: usize,
        _from: usize,
        _wait: c_uint,
        _origin: *const usize,
        _region: *const usize,
        _row_pitch: usize,
        _slice_pitch: usize,
        _to: *mut c_void,
        _waits: c_uint,
        _list: *const usize,
        _event: *mut usize,
    ) {
        Ok(())
    }

    /// See above.
    fn clEnqueueWriteImage(
        _queue: usize,
        _to: usize,
        _wait: c_uint,
        _origin: *const usize,
        _region: *const usize,
        _row_pitch: usize,
        _slice_pitch: usize,
        _from: *const c_void,
        _waits: c_uint,
        _list: *const usize,
        _event: *mut usize,
    ) {
        Ok(())
    }

    /// See above.
    fn clEnqueueCopyBufferToImage(
        _queue: usize,
        _from: usize,
        _to: usize,
        _offset: usize,
        _origin: *const usize,
        _region: *const usize,
        _waits: c_uint,
        _list: *const usize,
        _event: *mut usize,
    ) {
        Ok(())
    }
}
