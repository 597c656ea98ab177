//! Whether the sub-groups of a device are the warps of a block: asked of the device, never assumed.
//!
//! How threads are put into sub-groups is the device's own business. (Intel's CPU driver forms them along x alone: the sub-groups of a block of
//! 16 × 16 have 16 threads each.) And some devices make sub-group functions of barriers of the whole block, which warps that part do not all
//! reach. (PoCL does, from 4.0 on.) So a small kernel is run once for each extent of a block, in which every thread tells its place, warps part and
//! lanes return.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::{self, OpenClApi};
use super::device::{Context, NONE};
use super::kernel::create_kernel;
use super::program;
use super::queue::OpenClQueue;
use super::sys::{self, cl_command_queue, cl_device_id, cl_mem, cl_uint};
use crate::driver::Queue;
use crate::error::Result;
use std::collections::BTreeMap;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};
use warpwright_codegen::target::limits::LANES;

/// Query of the extension `cl_intel_required_subgroup_size`. Source: the extension's text.
const SUB_GROUP_SIZES_INTEL: cl_uint = 0x4108;

/// What the form for sub-groups is made of, and the promise that lanes need not all come.
const EXTENSIONS: [&str; 4] =
    ["cl_khr_subgroup_shuffle", "cl_khr_subgroup_ballot", "cl_khr_subgroup_non_uniform_vote", "cl_intel_required_subgroup_size"];

/// Set to `off`: sub-groups are not used.
const VARIABLE: &str = "WARPWRIGHT_SUB_GROUPS";

/// What each thread tells: its place by sub-groups, the size of its own, what it got where warps part, and who voted where lanes have returned.
const PROBE: &str = "__kernel __attribute__((intel_reqd_sub_group_size(32)))
void warps(__global uint *told) {
    const uint thread = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
    const uint lane = thread % 32u;
    const uint warp = thread / 32u;
    uint sum = 0u;
    if (warp % 2u == 1u) {
        sum = sub_group_shuffle(thread + 1u, 0u);
    }
    for (uint round = 0u; round < warp; round++) {
        sum += sub_group_shuffle(thread + round, 0u);
    }
    told[4u * thread] = get_sub_group_id() * 32u + get_sub_group_local_id();
    told[4u * thread + 1u] = get_sub_group_size();
    told[4u * thread + 2u] = sum;
    told[4u * thread + 3u] = 0u;
    if (lane % 3u == 1u) {
        return;
    }
    told[4u * thread + 3u] = sub_group_ballot(lane % 2u == 0u).x;
}
";

/// What it tells where sub-groups are the warps.
fn expected(threads: usize) -> Vec<u32> {
    let of = |thread: usize| {
        let (warp, lane, first) = (thread / LANES, thread % LANES, thread / LANES * LANES);
        let size = LANES.min(threads - first);
        let sum = (first + 1) * (warp % 2) + (0..warp).map(|round| first + round).sum::<usize>();
        let votes = (0..size).filter(|lane| lane % 3 != 1 && lane % 2 == 0).fold(0u32, |votes, lane| votes | 1 << lane);
        [thread as u32, size as u32, sum as u32, if lane % 3 == 1 { 0 } else { votes }]
    };
    (0..threads).flat_map(of).collect()
}

/// A device's sub-groups of 32.
pub(super) struct SubGroups {
    /// The language version whose compiler knows sub-groups, as an option.
    pub(super) standard: &'static str,
    /// By the extents of a block: whether its sub-groups are the warps.
    known: Mutex<BTreeMap<[u32; 3], bool>>,
}

impl SubGroups {
    /// `None`: the device has none, or not what exchanges need of them.
    pub(super) fn of(api: &OpenClApi, device: cl_device_id, version: &str) -> Option<SubGroups> {
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
            |what| api::info("clGetDeviceInfo", |size, value, needed| unsafe { api.clGetDeviceInfo(device, what, size, value, needed) });
        let names = api::text(&info(sys::CL_DEVICE_EXTENSIONS).ok()?);
        if !EXTENSIONS.iter().all(|wanted| names.split_whitespace().any(|name| name == *wanted)) {
            return None;
        }
        let sizes = api::numbers(&info(SUB_GROUP_SIZES_INTEL).ok()?, size_of::<usize>());
        sizes.contains(&(LANES as u64)).then(|| SubGroups { standard, known: Mutex::default() })
    }

    /// Whether the sub-groups of a block of these extents are its warps: 32 threads each, in order of their number, that go their own ways. A device
    /// that fails at telling is one whose are not.
    pub(super) fn are_warps(&self, context: &Arc<Context>, block: [u32; 3]) -> bool {
        let threads = block.iter().map(|extent| *extent as usize).product::<usize>();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(block).or_insert_with(|| self.told(context, block, threads).is_ok_and(|told| told == expected(threads)))
    }

    /// What the threads of a block tell.
    fn told(&self, context: &Arc<Context>, block: [u32; 3], threads: usize) -> Result<Vec<u32>> {
        let program = program::build(context, "warps", PROBE, &[self.standard], 1)?;
        let kernel = create_kernel(context, &program, "warps", "warps")?;
        let mut told = vec![0u32; 4 * threads];
        let memory = context.allocate(4 * told.len())?;
        let object = memory.0;
        // SAFETY: a memory object, which is copied before the call returns.
        let code = unsafe { context.api.clSetKernelArg(kernel.0, 0, size_of::<cl_mem>(), (&raw const object).cast()) };
        api::check(code, "clSetKernelArg")?;
        let queue = OpenClQueue::new(Arc::clone(context))?;
        let local = block.map(|extent| extent as usize);
        let handle = queue.handle() as cl_command_queue;
        // SAFETY: the argument is set and has four words for each thread of the one block.
        let code =
            unsafe { context.api.clEnqueueNDRangeKernel(handle, kernel.0, 3, null(), local.as_ptr(), local.as_ptr(), 0, NONE, null_mut()) };
        api::check(code, "clEnqueueNDRangeKernel")?;
        // SAFETY: both have this many bytes, and the call waits until they are there.
        unsafe { queue.read(&memory, told.as_mut_ptr().cast(), 4 * told.len(), true)? };
        Ok(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_tell_is_their_place_and_what_their_warp_did() {
        let told = expected(80);
        let of = |thread: usize| &told[4 * thread..4 * thread + 4];
        let even_but_each_third = 0x4514_5145;
        assert_eq!(of(0), [0, 32, 0, even_but_each_third]);
        // Lane 1 has returned; warp 1 takes the condition, and goes round once.
        assert_eq!(of(33), [33, 32, 33 + 32, 0]);
        // Warp 2 goes round twice, and has 16 lanes.
        assert_eq!(of(79), [79, 16, 64 + 65, even_but_each_third & 0xffff]);
        assert_eq!(expected(1), [0, 1, 0, 1]);
    }
}
