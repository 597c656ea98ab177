//! What fences and atomics order across blocks and within one: clean where both sides have their fence, a race that names the missing one where not.
//!
//! `TELL` and `SEE` are the fences of the writer and of the reader: 0 none, 1 `fence_block()`, 2 `fence_device()`.

use super::{fault_on, says};
use warpwright::Launch;
use warpwright::prelude::*;
use warpwright::warp::{shuffle, shuffle_up};

/// The last block to take a ticket adds what all have written.
#[kernel(block = 64)]
fn last_block<const TELL: u32, const SEE: u32>(x: &Global<f32>, sums: &mut Global<f32>, count: &mut Global<u32>, y: &mut Global<f32>) {
    #[shared]
    let mut last: [u32; 1];
    let (t, blocks) = (thread_idx().x, grid_dim().x);
    let total = block_sum(x[global_id().x]);
    if t == 0 {
        sums[block_idx().x] = total;
        if TELL == 1 {
            fence_block();
        }
        if TELL == 2 {
            fence_device();
        }
        let ticket = count.atomic_add(0, 1);
        if SEE == 1 {
            fence_block();
        }
        if SEE == 2 {
            fence_device();
        }
        last[0] = (ticket + 1 == blocks as u32) as u32;
    }
    sync_threads();
    if last[0] == 1 {
        let mut rest = 0.0;
        for b in (t..blocks).step_by(64) {
            rest += sums[b];
        }
        let all = block_sum(rest);
        if t == 0 {
            y[0] = all;
        }
    }
}

/// Every thread writes, and the fences stand on the other sides of the barriers.
#[kernel(block = 64)]
fn last_block_by_all<const TELL: u32, const SEE: u32>(
    x: &Global<f32>,
    parts: &mut Global<f32>,
    count: &mut Global<u32>,
    y: &mut Global<f32>,
) {
    #[shared]
    let mut last: [u32; 1];
    let (t, blocks) = (thread_idx().x, grid_dim().x);
    parts[global_id().x] = x[global_id().x];
    if TELL == 2 {
        fence_device_seq_cst();
    }
    sync_threads();
    if t == 0 {
        last[0] = (count.atomic_add(0, 1) + 1 == blocks as u32) as u32;
    }
    sync_threads();
    if last[0] == 1 {
        if SEE == 2 {
            fence_device_seq_cst();
        }
        let mut rest = 0.0;
        for b in 0..blocks {
            rest += parts[b * 64 + t];
        }
        y[t] = rest;
    }
}

/// The ticket is taken before the write that it is to tell of.
#[kernel(block = 32)]
fn ticket_too_early(sums: &mut Global<u32>, count: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        let ticket = count.atomic_add(0, 1);
        sums[block_idx().x] = 7;
        fence_device();
        if ticket == 1 {
            y[0] = sums[0] + sums[1];
        }
    }
}

/// Two counters, one before the write and one after the fence: which one is looked at makes the difference.
#[kernel(block = 32)]
fn two_tickets<const LOOK: usize>(sums: &mut Global<u32>, count: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            count.atomic_add(1, 1);
            sums[0] = 7;
            fence_device();
            count.atomic_add(0, 1);
        } else {
            let seen = count.atomic_add(LOOK, 0);
            fence_device();
            if seen == 1 {
                y[0] = sums[0];
            }
        }
    }
}

/// A scan of tiles in one pass: values plain, flags atomic. `BACK`: tiles wait for blocks that begin after them.
#[kernel(block = 32)]
fn look_back<const TELL: bool, const SEE: bool, const BACK: bool>(
    x: &Global<u32>,
    y: &mut Global<u32>,
    own: &mut Global<u32>,
    upto: &mut Global<u32>,
    flags: &mut Global<u32>,
    tickets: &mut Global<u32>,
) {
    let lane = lane_id();
    let ticket = if lane == 0 { tickets.atomic_add(0, 1) as usize } else { 0 };
    let mut tile = shuffle(ticket, 0);
    if BACK {
        tile = grid_dim().x - 1 - block_idx().x;
    }
    let i = tile * 32 + lane;
    let mut v = x[i];
    for level in 0..5u32 {
        let below = shuffle_up(v, 1u32 << level);
        if lane >= 1usize << level {
            v += below;
        }
    }
    let total = shuffle(v, 31);
    let mut before = 0;
    if lane == 0 {
        if tile > 0 {
            own[tile] = total;
            if TELL {
                fence_device();
            }
            flags.atomic_exchange(tile, 1);
            let mut at = tile - 1;
            loop {
                let mut flag = flags.atomic_or(at, 0);
                while flag == 0 {
                    flag = flags.atomic_or(at, 0);
                }
                if SEE {
                    fence_device();
                }
                if flag == 2 {
                    before += upto[at];
                    break;
                }
                before += own[at];
                at -= 1;
            }
        }
        upto[tile] = before + total;
        if TELL {
            fence_device();
        }
        flags.atomic_exchange(tile, 2);
    }
    y[i] = v + shuffle(before, 0);
}

/// Two blocks add in turns.
#[kernel(block = 32)]
fn ping_pong<const FENCED: bool>(rounds: u32, data: &mut Global<u32>, turn: &mut Global<u32>) {
    let me = block_idx().x as u32;
    if thread_idx().x == 0 {
        for round in 0..rounds {
            while turn.atomic_or(0, 0) != 2 * round + me {}
            if FENCED {
                fence_device();
            }
            data[0] = data[0] * 2 + me;
            fence_device();
            turn.atomic_add(0, 1);
        }
    }
}

/// Every block waits for all.
#[kernel(block = 64)]
fn grid_barrier<const FENCED: bool>(x: &mut Global<u32>, y: &mut Global<u32>, arrived: &mut Global<u32>) {
    let i = global_id().x;
    x[i] = i as u32 * 3;
    sync_threads();
    if thread_idx().x == 0 {
        if FENCED {
            fence_device();
        }
        arrived.atomic_add(0, 1);
        while arrived.atomic_add(0, 0) < grid_dim().x as u32 {}
        fence_device();
    }
    sync_threads();
    y[i] = x[x.len() - 1 - i];
}

/// Even blocks put items into a queue, odd ones take them out. `LATE`: the fence stands behind the flag.
#[kernel(block = 32)]
fn queue<const LATE: bool>(items: &mut Global<u32>, ready: &mut Global<u32>, ends: &mut Global<u32>, y: &mut Global<u32>) {
    let me = global_id().x as u32;
    if block_idx().x.is_multiple_of(2) {
        let slot = ends.atomic_add(0, 1) as usize;
        items[slot] = me;
        if !LATE {
            fence_device();
        }
        ready.atomic_exchange(slot, 1);
        if LATE {
            fence_device();
        }
    } else {
        let slot = ends.atomic_add(1, 1) as usize;
        while ready.atomic_or(slot, 0) == 0 {}
        fence_device();
        y[slot] = items[slot];
    }
}

/// A lock around plain counting, taken by one thread of each warp.
#[kernel(block = 64)]
fn locked<const OPEN: bool>(lock: &mut Global<u32>, counts: &mut Global<u32>) {
    if lane_id() == 0 {
        while lock.atomic_cas(0, 0, 1) != 0 {}
        fence_device();
        counts[0] += 1;
        if OPEN {
            fence_device();
        }
        lock.atomic_exchange(0, 0);
    }
}

/// The second warp hands over to the first, through a flag in shared memory.
#[kernel(block = 64)]
fn hand_over<const TELL: bool, const SEE: bool>(y: &mut Global<u32>) {
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
            if TELL {
                fence_block();
            }
            flag.atomic_exchange(0, 1);
        }
    } else {
        while flag.atomic_or(0, 0) == 0 {}
        if SEE {
            fence_block();
        }
        y[lane] = item[lane];
    }
}

/// A plain flag is a race, whatever fences stand around it.
#[kernel(block = 32)]
fn plain_flag(data: &mut Global<u32>, flag: &mut Global<u32>, y: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            data[0] = 5;
            fence_device();
            flag[0] = 1;
        } else if flag.atomic_or(0, 0) == 1 {
            fence_device();
            y[0] = data[0];
        }
    }
}

/// Slots from an atomic counter need no fence: nobody reads them.
#[kernel(block = 64)]
fn compact(x: &Global<u32>, y: &mut Global<u32>, count: &mut Global<u32>) {
    let i = global_id().x;
    if x[i].is_multiple_of(3) {
        let slot = count.atomic_add(0, 1) as usize;
        y[slot] = x[i];
    }
}

/// The lanes that have no element of `x` leave before anybody asks for what they loaded.
#[kernel(block = 32)]
fn leaves_early(x: &mut Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let value = x.atomic_load(i, std::sync::atomic::Ordering::Relaxed, ThreadScope::Device);
    if i >= 4 {
        return;
    }
    y[i] = value;
}

fn simulator() -> Device {
    Device::simulator()
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i % 13) as f32).collect()
}

/// Runs `last_block` with `blocks` blocks.
fn reduce<const TELL: u32, const SEE: u32>(blocks: usize) -> Result<f32, String> {
    let device = simulator();
    let x = device.upload(&numbers(64 * blocks)).unwrap();
    let (mut sums, mut count) = (device.zeros::<f32>(blocks).unwrap(), device.zeros::<u32>(1).unwrap());
    let mut y = device.zeros::<f32>(1).unwrap();
    let launched = last_block::<TELL, SEE>(&x, &mut sums, &mut count, &mut y).grid(blocks).launch(&device);
    launched.map(|()| y.download().unwrap()[0]).map_err(|error| error.to_string())
}

fn reduce_by_all<const TELL: u32, const SEE: u32>(blocks: usize) -> Result<f32, String> {
    let device = simulator();
    let x = device.upload(&numbers(64 * blocks)).unwrap();
    let (mut parts, mut count) = (device.zeros::<f32>(64 * blocks).unwrap(), device.zeros::<u32>(1).unwrap());
    let mut y = device.zeros::<f32>(64).unwrap();
    let launched = last_block_by_all::<TELL, SEE>(&x, &mut parts, &mut count, &mut y).grid(blocks).launch(&device);
    launched.map(|()| y.download().unwrap().iter().sum()).map_err(|error| error.to_string())
}

#[test]
fn the_last_block_reads_what_all_have_written() {
    for blocks in [1, 2, 7, 100] {
        let expected = numbers(64 * blocks).iter().sum();
        assert_eq!(reduce::<2, 2>(blocks), Ok(expected));
        assert_eq!(reduce_by_all::<2, 2>(blocks), Ok(expected));
    }
    // One block needs no fence.
    assert!(reduce::<0, 0>(1).is_ok() && reduce::<1, 1>(1).is_ok());
}

#[test]
fn a_missing_fence_is_named() {
    let race = "thread (0, 0, 0): race: reads scalar 0 of `sums` (of 3), which thread (0, 0, 0) of block (0, 0, 0) writes on line 18; ";
    let says = |error: Result<f32, String>, texts: &[&str]| says(&error.expect_err("a race"), texts);
    says(
        reduce::<0, 2>(3),
        &["order.rs:38:21: ", "block (2, 0, 0)", race, "no `fence_device()` is between line 18 and the atomic that tells of it; help: put"],
    );
    says(reduce::<2, 0>(3), &[race, "no `fence_device()` is between the atomic that shows it, on line 25, and this line; help: "]);
    says(
        reduce::<1, 2>(3),
        &[
            race,
            "the `fence_block()` between line 18 and the atomic that tells of it orders for its own block only; help: make it `fence_device()`",
        ],
    );
    says(reduce::<2, 1>(3), &[race, "no `fence_device()` is between the atomic that shows it, on line 25, and this line; help: "]);
    says(reduce::<0, 0>(3), &[race, "nothing orders the two blocks", "help: "]);
    says(reduce_by_all::<0, 2>(2), &["race: reads scalar 0 of `parts`", "no `fence_device()` is between line 58 and the atomic"]);
    says(reduce_by_all::<2, 0>(2), &["race: reads scalar 0 of `parts`", "between the atomic that shows it, on line 64, and this line"]);
}

#[test]
fn a_ticket_tells_of_what_came_before_it_only() {
    let device = simulator();
    let buffers = || [1, 2, 2].map(|n| device.zeros::<u32>(n).unwrap());
    let [mut y, mut sums, mut count] = buffers();
    let error = fault_on(&device, ticket_too_early(&mut sums, &mut count, &mut y).grid(2));
    says(&error, &["race: reads scalar 0 of `sums`", "of block (0, 0, 0) writes on line 84; nothing orders the two blocks there; "]);
    let [mut y, mut sums, mut count] = buffers();
    two_tickets::<0>(&mut sums, &mut count, &mut y).grid(2).launch(&device).unwrap();
    assert_eq!(y.download().unwrap(), [7]);
    count.clear().unwrap();
    let error = fault_on(&device, two_tickets::<1>(&mut sums, &mut count, &mut y).grid(2));
    says(&error, &["race: reads scalar 0 of `sums`", "writes on line 98; nothing orders the two blocks there; "]);
}

fn scan<const TELL: bool, const SEE: bool, const BACK: bool>(tiles: usize) -> Result<(), String> {
    let device = simulator();
    let host: Vec<u32> = (0..tiles as u32 * 32).map(|i| i * i % 11).collect();
    let x = device.upload(&host).unwrap();
    let mut y = device.zeros::<u32>(host.len()).unwrap();
    let [mut own, mut upto, mut flags, mut tickets] = [tiles, tiles, tiles, 1].map(|n| device.zeros::<u32>(n).unwrap());
    let launch = look_back::<TELL, SEE, BACK>(&x, &mut y, &mut own, &mut upto, &mut flags, &mut tickets).grid(tiles);
    launch.launch(&device).map_err(|error| error.to_string())?;
    let mut sum = 0;
    let expected: Vec<u32> = host.iter().map(|v| (sum += v, sum).1).collect();
    assert_eq!(y.download().unwrap(), expected);
    Ok(())
}

#[test]
fn a_scan_that_looks_back_is_ordered_by_its_flags() {
    for tiles in [1, 2, 40] {
        assert_eq!(scan::<true, true, false>(tiles), Ok(()));
        assert_eq!(scan::<true, true, true>(tiles), Ok(()), "blocks that wait for later ones");
    }
    says(
        &scan::<false, true, false>(5).unwrap_err(),
        &["race: reads scalar 0 of `upto`", "no `fence_device()` is between line ", " and the atomic"],
    );
    says(
        &scan::<true, false, false>(5).unwrap_err(),
        &["race: reads scalar 0 of `upto`", "no `fence_device()` is between the atomic that shows it, on line "],
    );
    says(
        &scan::<true, false, true>(5).unwrap_err(),
        &["race: reads scalar ", "no `fence_device()` is between the atomic that shows it, on line "],
    );
}

#[test]
fn blocks_that_wait_for_each_other_take_turns() {
    let device = simulator();
    let [mut data, mut turn] = [1, 1].map(|n| device.zeros::<u32>(n).unwrap());
    ping_pong::<true>(10, &mut data, &mut turn).grid(2).launch(&device).unwrap();
    assert_eq!(data.download().unwrap(), [(0..20).fold(0, |v, n| v * 2 + n % 2)]);
    turn.clear().unwrap();
    let error = fault_on(&device, ping_pong::<false>(10, &mut data, &mut turn).grid(2));
    says(&error, &["race: reads scalar 0 of `data`", "between the atomic that shows it, on line "]);

    for blocks in [1, 5, 60] {
        let n = blocks * 64;
        let [mut x, mut y, mut arrived] = [n, n, 1].map(|n| device.zeros::<u32>(n).unwrap());
        grid_barrier::<true>(&mut x, &mut y, &mut arrived).grid(blocks).launch(&device).unwrap();
        assert!(y.download().unwrap().into_iter().eq((0..n as u32).rev().map(|i| i * 3)));
    }
    let [mut x, mut y, mut arrived] = [128, 128, 1].map(|n| device.zeros::<u32>(n).unwrap());
    let error = fault_on(&device, grid_barrier::<false>(&mut x, &mut y, &mut arrived).grid(2));
    says(&error, &["race: reads scalar ", " of `x` (of 128), which thread ", "no `fence_device()` is between line "]);
}

#[test]
fn a_queue_is_ordered_by_its_flags() {
    let device = simulator();
    let run = |late: bool| {
        let [mut items, mut ready, mut y] = [(); 3].map(|()| device.zeros::<u32>(96).unwrap());
        let mut ends = device.zeros::<u32>(2).unwrap();
        let launched = match late {
            false => queue::<false>(&mut items, &mut ready, &mut ends, &mut y).grid(6).launch(&device),
            true => queue::<true>(&mut items, &mut ready, &mut ends, &mut y).grid(6).launch(&device),
        };
        launched.map(|()| y.download().unwrap()).map_err(|error| error.to_string())
    };
    let mut taken = run(false).unwrap();
    taken.sort_unstable();
    assert!(taken.into_iter().eq((0..192).filter(|i| i / 32 % 2 == 0)));
    says(
        &run(true).unwrap_err(),
        &["race: reads scalar 0 of `items`", "no `fence_device()` is between line ", "; help: put it right before that atomic"],
    );
}

#[test]
fn a_lock_orders_what_it_guards() {
    let device = simulator();
    let [mut lock, mut counts] = [1, 1].map(|n| device.zeros::<u32>(n).unwrap());
    locked::<true>(&mut lock, &mut counts).grid(20).launch(&device).unwrap();
    assert_eq!(counts.download().unwrap(), [40]);
    let error = fault_on(&device, locked::<false>(&mut lock, &mut counts).grid(20));
    says(&error, &["race: reads scalar 0 of `counts`", "which thread ", " writes on line ", "no `fence_"]);
}

#[test]
fn warps_of_a_block_hand_over_by_flags() {
    let device = simulator();
    let run = |launch: fn(&mut Buffer<u32>) -> Launch<'_>| {
        let mut y = device.zeros::<u32>(32).unwrap();
        let launched = launch(&mut y).grid(3).launch(&device);
        launched.map(|()| y.download().unwrap()).map_err(|error| error.to_string())
    };
    let one = |launch: fn(&mut Buffer<u32>) -> Launch<'_>| {
        let mut y = device.zeros::<u32>(32).unwrap();
        launch(&mut y).grid(1).launch(&device).map(|()| y.download().unwrap()).map_err(|error| error.to_string())
    };
    assert_eq!(one(hand_over::<true, true>).unwrap(), (0..32).map(|i| i * 7).collect::<Vec<u32>>());
    says(
        &one(hand_over::<false, true>).unwrap_err(),
        &["race: reads scalar 0 of `item` (of 32), which thread (32, 0, 0) writes on line ", "; no `fence_block()` is between line "],
    );
    says(
        &one(hand_over::<true, false>).unwrap_err(),
        &["race: reads scalar 0 of `item`", "no `fence_block()` is between the atomic that shows it"],
    );
    // All blocks write the same elements.
    says(&run(hand_over::<true, true>).unwrap_err(), &["race: writes scalar 0 of `y`", "of block (0, 0, 0) writes on line "]);
}

#[test]
fn flags_are_atomic() {
    let device = simulator();
    let [mut data, mut flag, mut y] = [1, 1, 1].map(|n| device.zeros::<u32>(n).unwrap());
    let error = fault_on(&device, plain_flag(&mut data, &mut flag, &mut y).grid(2));
    says(
        &error,
        &["race: atomically changes scalar 0 of `flag`", "thread (0, 0, 0) of block (0, 0, 0) writes on line ", "; help: make both atomic"],
    );
}

#[test]
fn slots_from_a_counter_are_nobody_elses() {
    let device = simulator();
    let x = device.upload(&(0..640).collect::<Vec<u32>>()).unwrap();
    let [mut y, mut count] = [640, 1].map(|n| device.zeros::<u32>(n).unwrap());
    compact(&x, &mut y, &mut count).grid(10).launch(&device).unwrap();
    assert_eq!(count.download().unwrap(), [214]);
}

#[test]
fn loads_that_may_come_late_are_made_by_lanes_that_leave() {
    for device in [simulator(), Device::weak_simulator(1)] {
        let [mut x, mut y] = [4, 4].map(|n| device.zeros::<u32>(n).unwrap());
        let error = fault_on(&device, leaves_early(&mut x, &mut y).grid(1));
        says(&error, &["thread (4, 0, 0)", "`x`"]);
    }
}
