//! Programs, which are taken as they are, kernels, which do nothing, and events, which have happened.

use super::answers::KERNEL_GROUP;
use super::{INVALID_WORK_GROUP_SIZE, making, state};
use crate::failing::told;
use crate::memory::of_host;
use std::ffi::{c_char, c_uint, c_void};

/// An event, if the caller wants one.
fn happened(event: *mut usize) {
    if !event.is_null() {
        let new = state().new_handle();
        // SAFETY: the caller's address for one handle, and not null.
        unsafe { event.write(new) };
    }
}

/// What a kernel leaves in the last buffer of its arguments, if a test says so: a fault's number, a line, a thread.
fn leave_fault(kernel: usize) {
    let Some(fault) = told("fault") else { return };
    let words = [fault, told("line").unwrap_or(0), told("thread").unwrap_or(0), 0];
    let mut state = state();
    let last = state.arguments.iter().filter(|((of, _), _)| *of == kernel).max_by_key(|((_, index), _)| *index).map(|(_, object)| *object);
    if let Some(memory) = last.and_then(|object| state.memory.get_mut(&object)) {
        memory.iter_mut().zip(words.iter().flat_map(|word| word.to_ne_bytes())).for_each(|(to, byte)| *to = byte);
    }
}

making! {
    /// A program.
    fn clCreateProgramWithSource(_context: usize, _count: c_uint, _texts: *const *const c_char, _lengths: *const usize) {
        state().new_handle()
    }

    /// A kernel.
    fn clCreateKernel(_program: usize, _name: *const c_char) {
        state().new_handle()
    }
}

exported! {
    /// All are built.
    fn clBuildProgram(
        _program: usize,
        _count: c_uint,
        _devices: *const usize,
        _options: *const c_char,
        _notify: *const c_void,
        _notified: *mut c_void,
    ) {
        Ok(())
    }

    /// Keeps those that are memory.
    fn clSetKernelArg(kernel: usize, index: c_uint, bytes: usize, value: *const c_void) {
        let mut state = state();
        state.arguments.remove(&(kernel, index));
        // Of local memory there is a size and no value.
        if bytes == size_of::<usize>() && !value.is_null() {
            let handle = of_host(value, bytes)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            if state.memory.contains_key(&handle) {
                state.arguments.insert((kernel, index), handle);
            }
        }
        Ok(())
    }

    /// Runs nothing.
    fn clEnqueueNDRangeKernel(
        _queue: usize,
        kernel: usize,
        dimensions: c_uint,
        _offset: *const usize,
        _global: *const usize,
        local: *const usize,
        _waits: c_uint,
        _list: *const usize,
        event: *mut usize,
    ) {
        // SAFETY: the caller's extents, one for each dimension.
        let items: usize = (0..dimensions as usize).map(|axis| unsafe { *local.add(axis) }).product();
        if items > KERNEL_GROUP {
            return Err(INVALID_WORK_GROUP_SIZE);
        }
        leave_fault(kernel);
        happened(event);
        Ok(())
    }

    /// All is done already.
    fn clFlush(_queue: usize) {
        Ok(())
    }

    /// All is done already.
    fn clFinish(_queue: usize) {
        Ok(())
    }

    /// An event that has happened.
    fn clEnqueueMarkerWithWaitList(_queue: usize, _waits: c_uint, _list: *const usize, event: *mut usize) {
        happened(event);
        Ok(())
    }

    /// All is done already.
    fn clEnqueueBarrierWithWaitList(_queue: usize, _waits: c_uint, _list: *const usize, event: *mut usize) {
        happened(event);
        Ok(())
    }

    /// They have happened.
    fn clWaitForEvents(_count: c_uint, _list: *const usize) {
        Ok(())
    }

    /// Nothing is kept.
    fn clReleaseSampler(_sampler: usize) {
        Ok(())
    }

    /// Nothing is kept.
    fn clReleaseCommandQueue(_queue: usize) {
        Ok(())
    }

    /// Nothing is kept.
    fn clReleaseProgram(_program: usize) {
        Ok(())
    }

    /// Its arguments go.
    fn clReleaseKernel(kernel: usize) {
        state().arguments.retain(|(of, _), _| *of != kernel);
        Ok(())
    }

    /// Nothing is kept.
    fn clReleaseEvent(_event: usize) {
        Ok(())
    }
}
