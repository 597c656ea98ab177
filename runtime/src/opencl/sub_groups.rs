//! Whether the sub-groups of a device are the warps of a block: asked of the device, never assumed.
//!
//! How threads are put into sub-groups is the device's own business. (Intel's CPU driver forms them along x alone: the sub-groups of a block of
//! 16 × 16 have 16 threads each.) So a small kernel is run once for each extent of a block, in which every thread tells its place.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api;
use super::device::{Context, NONE};
use super::kernel::{OwnedKernel, create_kernel};
use super::program::Program;
use super::queue::OpenClQueue;
use crate::backend::{Memory, Queue};
use crate::error::Result;
use ocl_core::ffi::{self, cl_device_id, cl_mem, cl_uint};
use std::collections::BTreeMap;
use std::ptr::null;
use std::sync::{Arc, Mutex, PoisonError};

/// Query of the extension `cl_intel_required_subgroup_size`. Source: the extension's text.
const SUB_GROUP_SIZES_INTEL: cl_uint = 0x4108;

/// What the form for sub-groups is made of.
const EXTENSIONS: [&str; 3] = ["cl_khr_subgroup_shuffle", "cl_khr_subgroup_ballot", "cl_intel_required_subgroup_size"];

/// Set to `off`: sub-groups are not used.
const VARIABLE: &str = "WARPWRIGHT_SUB_GROUPS";

const WARP: usize = 32;

const PROBE: &str = "__kernel __attribute__((intel_reqd_sub_group_size(32)))
void warps(__global uint *places, __global uint *sizes) {
    const uint thread = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
    places[thread] = get_sub_group_id() * 32u + get_sub_group_local_id();
    sizes[thread] = get_sub_group_size();
}
";

/// A device's sub-groups of 32.
pub(super) struct SubGroups {
    /// The language version whose compiler knows sub-groups, as an option.
    pub(super) standard: &'static str,
    /// By the extents of a block: whether its sub-groups are the warps.
    known: Mutex<BTreeMap<[u32; 3], bool>>,
}

impl SubGroups {
    /// `None`: the device has none, or not what exchanges need of them.
    pub(super) fn of(device: cl_device_id, version: &str) -> Option<SubGroups> {
        if std::env::var_os(VARIABLE).is_some_and(|value| value == "off") {
            return None;
        }
        // What OpenCL C a device of 3.0 calls its own may be 1.2; it takes 3.0 in any case.
        let standard = match version.split('.').next()?.parse::<u32>().ok()? {
            0 | 1 => return None,
            2 => "-cl-std=CL2.0",
            _ => "-cl-std=CL3.0",
        };
        // SAFETY: writes at most the size it is given.
        let info =
            |what| api::info("clGetDeviceInfo", |size, value, needed| unsafe { ffi::clGetDeviceInfo(device, what, size, value, needed) });
        let names = api::text(&info(ffi::CL_DEVICE_EXTENSIONS).ok()?);
        if !EXTENSIONS.iter().all(|wanted| names.split_whitespace().any(|name| name == *wanted)) {
            return None;
        }
        let sizes = api::numbers(&info(SUB_GROUP_SIZES_INTEL).ok()?, size_of::<usize>());
        sizes.contains(&(WARP as u64)).then(|| SubGroups { standard, known: Mutex::default() })
    }

    /// Whether the sub-groups of a block of these extents are its warps: 32 threads each, in order of their number. A device that fails at
    /// telling is one whose are not.
    pub(super) fn are_warps(&self, context: &Arc<Context>, block: [u32; 3]) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(block).or_insert_with(|| self.places(context, block).is_ok_and(|places| is_linear(&places)))
    }

    /// The place of each thread of a block: its number by sub-groups, and the size of its sub-group.
    fn places(&self, context: &Arc<Context>, block: [u32; 3]) -> Result<Vec<(u32, u32)>> {
        let program = Program::build(context, "warps", PROBE, &[self.standard], 1)?;
        let kernel: OwnedKernel = create_kernel(&program, "warps", "warps")?;
        let threads = block.iter().map(|extent| *extent as usize).product::<usize>();
        let memories = [context.allocate(4 * threads)?, context.allocate(4 * threads)?];
        for (index, memory) in (0..).zip(&memories) {
            let object = memory.handle() as cl_mem;
            // SAFETY: a memory object, which is copied before the call returns.
            let code = unsafe { ffi::clSetKernelArg(kernel.0, index, size_of::<cl_mem>(), (&raw const object).cast()) };
            api::check(code, "clSetKernelArg")?;
        }
        let queue = OpenClQueue::new(Arc::clone(context))?;
        let local = block.map(|extent| extent as usize);
        let handle = queue.handle() as ffi::cl_command_queue;
        // SAFETY: both arguments are set and have a word for each thread of the one block.
        let code = unsafe {
            ffi::clEnqueueNDRangeKernel(handle, kernel.0, 3, null(), local.as_ptr(), local.as_ptr(), 0, NONE, std::ptr::null_mut())
        };
        api::check(code, "clEnqueueNDRangeKernel")?;
        let mut words = [vec![0u32; threads], vec![0u32; threads]];
        for (memory, words) in memories.iter().zip(&mut words) {
            // SAFETY: both have this many bytes, and the call waits until they are there.
            unsafe { queue.read(memory, words.as_mut_ptr().cast(), 4 * threads, true)? };
        }
        let [places, sizes] = words;
        Ok(places.into_iter().zip(sizes).collect())
    }
}

/// Whether each thread's place is its number, and all sub-groups are full but the last.
fn is_linear(places: &[(u32, u32)]) -> bool {
    let size = |thread: usize| WARP.min(places.len() - thread / WARP * WARP);
    places.iter().enumerate().all(|(thread, place)| *place == (thread as u32, size(thread) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_are_full_and_in_order() {
        let linear = |threads: u32| (0..threads).map(|t| (t, 32.min(threads - t / 32 * 32))).collect::<Vec<_>>();
        for threads in [1, 31, 32, 33, 48, 64, 1000] {
            assert!(is_linear(&linear(threads)), "{threads}");
        }
        // 16 × 16, sub-groups along x: 16 of each 32 places are there.
        let by_rows: Vec<(u32, u32)> = (0..256).map(|t| (t / 16 * 32 + t % 16, 16)).collect();
        assert!(!is_linear(&by_rows));
        // The right places, in sub-groups of 16.
        assert!(!is_linear(&linear(64).into_iter().map(|(t, _)| (t, 16)).collect::<Vec<_>>()));
        // Two threads the other way round.
        let mut swapped = linear(64);
        swapped.swap(3, 4);
        assert!(!is_linear(&swapped));
    }
}
