//! Shared memory as a brake, NVIDIA's OpenCL best practices guide 1.0, "Effects of shared memory": a kernel is given shared memory it does not need, more and more of it,
//! so that fewer and fewer blocks run at once. What that costs tells how much the kernel depends on occupancy.
//!
//! The brake is the launch's `.shared_bytes(n)`, as in [`crate::copy`], so that one compiled kernel is measured at every occupancy; [`bytes_for`] gives the
//! figure that leaves room for so many blocks. In [`streamed_static`] it is a generic instead, so that `compare` and `tune` see it as an axis of variants.
//!
//! Two kernels feel the brake differently. [`streamed`] waits for memory, and needs warps for as many loads in flight as the memory's latency takes. [`computed`] only
//! computes, in four chains of its own, and is content with few warps.

use warpwright::occupancy::{Demand, Limits, Options, occupancy};
use warpwright::prelude::*;

/// y ← 3·x + 1: a load and a store for one multiply-add.
#[kernel(block = 256)]
pub fn streamed(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].wrapping_mul(3).wrapping_add(1);
    }
}

/// The same, where `WORDS` words of shared memory are taken by the kernel itself: 7,296 words are an eighth of what a multiprocessor of 9.0 has. More
/// than 48 KiB only the launch can give.
#[kernel(block = 256, allow(low_occupancy), variants(WORDS in [256, 1_792, 3_648, 7_296, 12_032]))]
pub fn streamed_static<const WORDS: usize>(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut taken: [u32; WORDS];
    let i = global_id().x;
    let t = thread_idx().x;
    // Another thread's number, so that the array is needed.
    taken[t] = t as u32;
    sync_threads();
    let one = taken[t ^ 1] - (t ^ 1) as u32 + 1;
    if i < y.len() {
        y[i] = x[i].wrapping_mul(3).wrapping_add(one);
    }
}

/// y ← what `steps` rounds of four generators make of x: no memory but at both ends.
#[kernel(block = 256)]
pub fn computed(steps: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        let first = x[i];
        let (mut a, mut b, mut c, mut d) = (first, first ^ 1, first ^ 2, first ^ 3);
        #[unroll(4)]
        for _ in 0..steps {
            a = a.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b = b.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            c = c.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            d = d.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        y[i] = a ^ b ^ c ^ d;
    }
}

/// Reference of [`streamed`] and [`streamed_static`].
pub fn streamed_reference(x: &[u32]) -> Vec<u32> {
    x.iter().map(|x| (3 * u64::from(*x) + 1) as u32).collect()
}

/// Reference of [`computed`].
pub fn computed_reference(steps: usize, x: &[u32]) -> Vec<u32> {
    let chain = |first: u32| (0..steps).fold(first, |v, _| (u64::from(v) * 1_664_525 + 1_013_904_223) as u32);
    x.iter().map(|x| chain(*x) ^ chain(x ^ 1) ^ chain(x ^ 2) ^ chain(x ^ 3)).collect()
}

/// The least shared memory of a block, in steps of 256 bytes, with which at most `blocks` blocks of 256 threads with 16 registers run at once on a compute capability;
/// `None` where no block may have that much, or the capability is unknown.
pub fn bytes_for(capability: &str, blocks: u32) -> Option<u32> {
    let limits = Limits::find(capability).ok()?;
    let held = |shared: u32| {
        let demand = Demand { threads: 256, registers: 16, shared, ..Demand::default() };
        occupancy(limits, &demand, &Options::default()).blocks
    };
    (0..=1_024).map(|k| k * 256).find(|shared| held(*shared) <= blocks).filter(|shared| held(*shared) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brake_leaves_as_many_blocks_as_it_is_asked_for() {
        assert_eq!(bytes_for("9.0", 8), Some(0));
        for blocks in [1, 2, 4] {
            let shared = bytes_for("9.0", blocks).expect("there is such a figure");
            let held = |shared| {
                let demand = Demand { threads: 256, registers: 16, shared, ..Demand::default() };
                occupancy(Limits::find("9.0").expect("known"), &demand, &Options::default()).blocks
            };
            assert!(held(shared) <= blocks && held(shared - 256) > blocks, "{blocks} blocks: {shared} bytes");
        }
        assert_eq!(bytes_for("9.0", 0), None);
        assert_eq!(bytes_for("0.1", 1), None);
    }
}
