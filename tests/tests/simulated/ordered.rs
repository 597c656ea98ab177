//! What the orders of atomics, their scopes and the kinds of fences order: clean where they do, a race where they do not.
//!
//! Orders are numbers here: 0 relaxed, 1 acquire or release, 2 both, 3 sequentially consistent.

use super::{fault_on, says};
use std::sync::atomic::Ordering;
use warpwright::prelude::*;

/// Block 0 hands a value to block 1. `VIA`: by what block 1 learns of it.
#[kernel(block = 32)]
fn message<const TELL: u32, const SEE: u32>(data: &mut Global<u32>, flag: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            data[0] = 7;
            if TELL == 0 {
                flag.atomic_store(0, 1, Ordering::Relaxed, ThreadScope::Device);
            }
            if TELL == 1 {
                flag.atomic_store(0, 1, Ordering::Release, ThreadScope::Device);
            }
            if TELL == 2 {
                flag.atomic_exchange_ordered(0, 1, Ordering::AcqRel, ThreadScope::System);
            }
            if TELL == 3 {
                flag.atomic_store(0, 1, Ordering::SeqCst, ThreadScope::Device);
            }
            if TELL == 4 {
                flag.atomic_store(0, 1, Ordering::Release, ThreadScope::Block);
            }
            data[1] = 8;
        } else {
            let mut seen = 0;
            while seen == 0 {
                if SEE == 0 {
                    seen = flag.atomic_load(0, Ordering::Relaxed, ThreadScope::Device);
                }
                if SEE == 1 {
                    seen = flag.atomic_load(0, Ordering::Acquire, ThreadScope::Device);
                }
                if SEE == 2 {
                    seen = flag.atomic_add_ordered(0, 0, Ordering::AcqRel, ThreadScope::Device);
                }
                if SEE == 3 {
                    seen = flag.atomic_load(0, Ordering::SeqCst, ThreadScope::System);
                }
                if SEE == 4 {
                    seen = flag.atomic_load(0, Ordering::Acquire, ThreadScope::Block);
                }
                if SEE == 5 {
                    seen = flag.atomic_load(0, Ordering::Relaxed, ThreadScope::Device);
                    fence_device();
                }
            }
            y[0] = data[0];
        }
    }
}

fn handed<const TELL: u32, const SEE: u32>() -> Result<u32, String> {
    let device = Device::simulator();
    let [mut data, mut flag, mut y] = [2, 1, 1].map(|n| device.zeros::<u32>(n).unwrap());
    let launched = message::<TELL, SEE>(&mut data, &mut flag, &mut y).grid(2).launch(&device);
    launched.map(|()| y.download().unwrap()[0]).map_err(|error| error.to_string())
}

#[test]
fn a_release_and_an_acquire_order_and_less_does_not() {
    for found in [
        handed::<1, 1>(),
        handed::<1, 2>(),
        handed::<1, 3>(),
        handed::<2, 1>(),
        handed::<3, 1>(),
        handed::<3, 3>(),
        handed::<2, 2>(),
        handed::<1, 5>(),
    ] {
        assert_eq!(found, Ok(7));
    }
    let missing = |found: Result<u32, String>, text: &str| says(&found.unwrap_err(), &["race: reads scalar 0 of `data`", text]);
    missing(handed::<0, 1>(), "no `fence_device()` is between line 14 and the atomic that tells of it");
    missing(handed::<1, 0>(), "no `fence_device()` is between the atomic that shows it, on line 35, and this line");
    missing(handed::<0, 0>(), "nothing orders the two blocks");
    missing(handed::<0, 5>(), "no `fence_device()` is between line 14 and the atomic that tells of it");
}

#[test]
fn atomics_of_one_block_race_with_those_of_others() {
    let narrow =
        |found: Result<u32, String>, text: &str| says(&found.unwrap_err(), &[text, "of `flag`", "is atomic for its own block only"]);
    narrow(handed::<4, 1>(), "race: atomically reads scalar 0");
    narrow(handed::<1, 4>(), "race: atomically ");
}

/// What is done behind a release is not told by it.
#[kernel(block = 32)]
fn too_late(data: &mut Global<u32>, flag: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            flag.atomic_store(0, 1, Ordering::Release, ThreadScope::Device);
            data[0] = 7;
        } else {
            while flag.atomic_load(0, Ordering::Acquire, ThreadScope::Device) == 0 {}
            y[0] = data[0];
        }
    }
}

/// Block 0 releases 1. Block 1 changes that: by an atomic that reads it, or by a store. Block 2 acquires what block 1 wrote.
#[kernel(block = 32)]
fn chain<const STORES: bool>(data: &mut Global<u32>, flag: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            data[0] = 7;
            flag.atomic_store(0, 1, Ordering::Release, ThreadScope::Device);
        }
        if block_idx().x == 1 {
            while flag.atomic_load(0, Ordering::Relaxed, ThreadScope::Device) == 0 {}
            if STORES {
                flag.atomic_store(0, 2, Ordering::Relaxed, ThreadScope::Device);
            } else {
                flag.atomic_add(0, 1);
            }
        }
        if block_idx().x == 2 {
            while flag.atomic_load(0, Ordering::Acquire, ThreadScope::Device) != 2 {}
            y[0] = data[0];
        }
    }
}

/// An acquire makes known what is told by the element that it reads, not what its thread has seen otherwise.
#[kernel(block = 32)]
fn other_element(data: &mut Global<u32>, flag: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            data[0] = 7;
            flag.atomic_store(0, 1, Ordering::Release, ThreadScope::Device);
        } else {
            while flag.atomic_load(0, Ordering::Relaxed, ThreadScope::Device) == 0 {}
            flag.atomic_load(1, Ordering::Acquire, ThreadScope::Device);
            y[0] = data[0];
        }
    }
}

/// All threads write and have a fence; one tells after the barrier. `STRONG`: the fences are sequentially consistent.
#[kernel(block = 64)]
fn fence_of_others<const STRONG: bool>(data: &mut Global<u32>, flag: &mut Global<u32>, y: &mut Global<u32>) {
    let t = thread_idx().x;
    if block_idx().x == 0 {
        data[t] = t as u32;
        if STRONG {
            fence_device_seq_cst();
        } else {
            fence_device();
        }
        sync_threads();
        if t == 0 {
            flag.atomic_store(0, 1, Ordering::Relaxed, ThreadScope::Device);
        }
    } else {
        if t == 0 {
            while flag.atomic_load(0, Ordering::Acquire, ThreadScope::Device) == 0 {}
        }
        sync_threads();
        y[t] = data[63 - t];
    }
}

/// Both only read; a plain read beside an atomic one is no race, a plain write is one.
#[kernel(block = 32)]
fn beside<const WRITES: bool>(data: &mut Global<u32>, y: &mut Global<u32>) {
    let i = block_idx().x;
    if thread_idx().x == 0 {
        if i == 0 {
            y[i] = data.atomic_load(0, Ordering::Relaxed, ThreadScope::Device);
        } else if WRITES {
            data[0] = 3;
        } else {
            y[i] = data[0];
        }
    }
}

/// A flag in shared memory, released by one warp and acquired by the other.
#[kernel(block = 64)]
fn between_warps<const ORDERED: bool>(y: &mut Global<u32>) {
    #[shared]
    let mut item: [u32; 32];
    #[shared]
    let mut flag: [u32; 1];
    let lane = lane_id();
    if thread_idx().x == 0 {
        flag[0] = 0;
    }
    sync_threads();
    if warp_id() == 1 {
        item[lane] = lane as u32 * 7;
        sync_warp();
        if lane == 0 {
            if ORDERED {
                flag.atomic_store(0, 1, Ordering::Release, ThreadScope::Block);
            } else {
                flag.atomic_store(0, 1, Ordering::Relaxed, ThreadScope::Block);
            }
        }
    } else {
        while flag.atomic_load(0, Ordering::Acquire, ThreadScope::Block) == 0 {}
        y[lane] = item[lane];
    }
}

#[test]
fn what_is_not_ordered_is_a_race() {
    let device = Device::simulator();
    let buffers = || [64, 2, 64].map(|n| device.zeros::<u32>(n).unwrap());
    let [mut data, mut flag, mut y] = buffers();
    says(&fault_on(&device, too_late(&mut data, &mut flag, &mut y).grid(2)), &["race: ", "of `data`"]);

    let [mut data, mut flag, mut y] = buffers();
    chain::<false>(&mut data, &mut flag, &mut y).grid(3).launch(&device).unwrap();
    assert_eq!(y.download().unwrap()[0], 7);
    let [mut data, mut flag, mut y] = buffers();
    says(&fault_on(&device, chain::<true>(&mut data, &mut flag, &mut y).grid(3)), &["race: reads scalar 0 of `data`"]);

    let [mut data, mut flag, mut y] = buffers();
    says(&fault_on(&device, other_element(&mut data, &mut flag, &mut y).grid(2)), &["race: reads scalar 0 of `data`"]);

    let [mut data, mut flag, mut y] = buffers();
    fence_of_others::<true>(&mut data, &mut flag, &mut y).grid(2).launch(&device).unwrap();
    assert!(y.download().unwrap().into_iter().eq((0..64).rev()));
    let [mut data, mut flag, mut y] = buffers();
    let error = fault_on(&device, fence_of_others::<false>(&mut data, &mut flag, &mut y).grid(2));
    says(&error, &["race: reads scalar ", "of `data`", "help: put it right before that atomic"]);

    let [mut data, _, mut y] = buffers();
    beside::<false>(&mut data, &mut y).grid(2).launch(&device).unwrap();
    says(&fault_on(&device, beside::<true>(&mut data, &mut y).grid(2)), &["race: writes scalar 0 of `data`", "atomically reads"]);

    let mut y = device.zeros::<u32>(32).unwrap();
    between_warps::<true>(&mut y).grid(1).launch(&device).unwrap();
    assert!(y.download().unwrap().into_iter().eq((0..32).map(|lane| lane * 7)));
    says(&fault_on(&device, between_warps::<false>(&mut y).grid(1)), &["race: reads scalar ", "of `item`"]);
}

/// A loop that polls a value that nobody changes is a deadlock, not an endless loop.
#[kernel(block = 32)]
fn waits_for_nobody(flag: &mut Global<u32>) {
    while flag.atomic_load(0, Ordering::Acquire, ThreadScope::Device) == 0 {}
}

#[test]
fn polling_what_nobody_writes_is_named() {
    let device = Device::simulator();
    let mut flag = device.zeros::<u32>(1).unwrap();
    says(&fault_on(&device, waits_for_nobody(&mut flag).grid(1)), &["deadlock: "]);
}
