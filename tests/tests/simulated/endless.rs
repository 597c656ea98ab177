//! Loops that never end, and threads that wait for each other.

use super::{fault_on, says};
use warpwright::Num;
use warpwright::prelude::*;

#[kernel(block = 32)]
fn forgets_to_change(y: &mut Global<u32>) {
    let mut v = 1;
    while v != 0 {
        v |= 1;
    }
    y[0] = v;
}

#[kernel(block = 64)]
fn one_thread_never_ends(x: &Global<u32>, y: &mut Global<u32>) {
    let i = thread_idx().x;
    let mut n = x[i];
    let mut rounds = 0;
    while n != 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        rounds = (rounds + 1) % 3;
    }
    y[i] = rounds;
}

#[kernel(block = 32)]
fn nobody_writes(flag: &mut Global<u32>, y: &mut Global<u32>) {
    while flag.atomic_or(0, 0) == 0 {}
    y[thread_idx().x] = 1;
}

/// Each of two blocks waits for the other to begin.
#[kernel(block = 32)]
fn after_you(flags: &mut Global<u32>) {
    let me = block_idx().x;
    if thread_idx().x == 0 {
        while flags.atomic_or(1 - me, 0) == 0 {}
        flags.atomic_exchange(me, 1);
    }
}

/// The flag is written behind the barrier that the waiting warp never comes to.
#[kernel(block = 64)]
fn flag_behind_a_barrier(y: &mut Global<u32>) {
    #[shared]
    let mut flag: [u32; 1];
    if thread_idx().x == 0 {
        flag[0] = 0;
    }
    sync_threads();
    if warp_id() == 1 {
        while flag.atomic_or(0, 0) == 0 {}
    }
    sync_threads();
    if thread_idx().x == 0 {
        flag.atomic_exchange(0, 1);
    }
    y[thread_idx().x] = 1;
}

/// The lane that has the lock waits behind the loop for the lanes that want it.
#[kernel(block = 32)]
fn lock_within_a_warp(lock: &mut Global<u32>, count: &mut Global<u32>) {
    while lock.atomic_cas(0, 0, 1) != 0 {}
    fence_device();
    count[0] += 1;
    fence_device();
    lock.atomic_exchange(0, 0);
}

/// A first block that waits for the last, which may begin while it waits.
#[kernel(block = 32)]
fn first_waits_for_last(flag: &mut Global<u32>, y: &mut Global<u32>) {
    let (me, blocks) = (block_idx().x, grid_dim().x);
    if thread_idx().x == 0 {
        if me == 0 {
            while flag.atomic_add(0, 0) == 0 {}
        }
        if me == blocks - 1 {
            flag.atomic_exchange(0, 1);
        }
        y[me] = 1;
    }
}

/// Waits with a counter that gives up, so that it never stands still.
#[kernel(block = 32)]
fn gives_up(flag: &mut Global<u32>, y: &mut Global<u32>) {
    let mut tries = 0;
    if block_idx().x == 1 {
        flag.atomic_exchange(0, 1);
    }
    while flag.atomic_add(0, 0) == 0 && tries < 20_000 {
        tries += 1;
    }
    if thread_idx().x == 0 {
        y[block_idx().x] = tries;
    }
}

/// A loop that never ends within one that would, in a function, with a label and a value.
#[device]
fn first_above(x: &Global<u32>, most: u32) -> u32 {
    let mut k = 0;
    let found = 'outer: loop {
        loop {
            if x[k] <= most {
                break;
            }
            if x[k] == 7 {
                break 'outer x[k];
            }
        }
        k += 1;
    };
    found + 1
}

#[kernel(block = 32)]
fn stuck_in_a_function(most: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = if i == 3 { first_above(x, most) } else { 0 };
}

/// As above, of any type, with an attribute of Rust's and an annotation on the loop.
#[kernel(block = 32)]
fn halves<T: Num>(x: &Global<T>, y: &mut Global<T>) {
    let mut v = x[0];
    #[allow(unused_parens, reason = "an attribute of Rust's on a loop")]
    #[unroll(1)]
    while (v > T::ZERO) {
        v = v / (T::ONE + T::ONE) + x[1];
    }
    y[global_id().x] = v;
}

fn zeros<const N: usize>(lengths: [usize; N]) -> (Device, [Buffer<u32>; N]) {
    let device = Device::simulator();
    let buffers = lengths.map(|n| device.zeros::<u32>(n).unwrap());
    (device, buffers)
}

#[test]
fn a_loop_that_changes_nothing_is_named() {
    let (device, [mut y]) = zeros([64]);
    let error = fault_on(&device, forgets_to_change(&mut y).grid(1));
    says(
        &error,
        &[
            "endless.rs:10:5: kernel `forgets_to_change`, block (0, 0, 0), thread (0, 0, 0): endless loop: ",
            "; help: change, in the loop, a value",
        ],
    );
    let mut x: Vec<u32> = (1..=64).collect();
    let launch = |x: &[u32], y: &mut Buffer<u32>| {
        let x = device.upload(x).unwrap();
        one_thread_never_ends(&x, y).grid(1).launch(&device).map_err(|error| error.to_string())
    };
    assert_eq!(launch(&x, &mut y), Ok(()));
    x[40] = 0;
    says(&launch(&x, &mut y).unwrap_err(), &["endless.rs:21:5: ", "thread (40, 0, 0): endless loop: "]);
}

#[test]
fn threads_that_wait_for_each_other_are_a_deadlock() {
    let (device, [mut flag, mut y]) = zeros([2, 64]);
    let error = fault_on(&device, nobody_writes(&mut flag, &mut y).grid(3));
    says(
        &error,
        &[
            "endless.rs:30:5: ",
            "block (0, 0, 0), thread (0, 0, 0): deadlock: 3 warps of 3 blocks wait in loops for a value that no thread is left to write; help: ",
        ],
    );
    let error = fault_on(&device, after_you(&mut flag).grid(2));
    says(&error, &["endless.rs:39:9: ", "deadlock: 2 warps of 2 blocks wait in loops"]);
    let error = fault_on(&device, flag_behind_a_barrier(&mut y).grid(2));
    says(&error, &["endless.rs:54:9: ", "thread (32, 0, 0): deadlock: ", " others at the barrier on line 56"]);
    let error = fault_on(&device, lock_within_a_warp(&mut flag, &mut y).grid(1));
    says(
        &error,
        &[
            "endless.rs:66:5: ",
            "thread (1, 0, 0): deadlock: 1 warp of 1 block waits",
            "; 1 thread of this warp has left the loop and waits",
            "help: do the work that the rest waits for inside the loop",
        ],
    );
}

#[test]
fn waiting_for_what_comes_is_no_deadlock() {
    for blocks in [2, 3, 50] {
        let (device, [mut flag, mut y]) = zeros([1, blocks]);
        first_waits_for_last(&mut flag, &mut y).grid(blocks).launch(&device).unwrap();
        assert_eq!(y.download().unwrap(), vec![1; blocks]);
    }
    let (device, [mut flag, mut y]) = zeros([1, 2]);
    gives_up(&mut flag, &mut y).grid(2).launch(&device).unwrap();
    let tries = y.download().unwrap();
    assert!(tries[0] > 0 && tries[0] < 20_000, "the first block waits until the second has begun: {tries:?}");
}

/// What the host twin says of a loop at the limit.
const LIMIT: &str = "a thread has gone round this loop 16777216 times without an end: is it an endless loop, or a wait for what a thread does that \
                     runs after this one here?";

/// And what to do, behind the place.
const MORE: &str = "; help: if it is none, set `WARPWRIGHT_LOOP_LIMIT` to more";

#[test]
fn the_host_twin_ends_loops_as_well() {
    let device = Device::host();
    let mut y = device.zeros::<u32>(64).unwrap();
    let error = fault_on(&device, forgets_to_change(&mut y).grid(1));
    says(&error, &["kernel `forgets_to_change`", LIMIT, "endless.rs:10:5", "block (0, 0, 0), thread (0, 0, 0)", MORE]);
    // Waits for what nobody writes, and for what a block writes that runs later.
    let mut flag = device.zeros::<u32>(2).unwrap();
    says(&fault_on(&device, nobody_writes(&mut flag, &mut y).grid(1)), &[LIMIT, "endless.rs:30:5", MORE]);
    says(&fault_on(&device, first_waits_for_last(&mut flag, &mut y).grid(2)), &[LIMIT, "endless.rs:79:13", "block (0, 0, 0)", MORE]);
}

#[test]
fn the_host_twin_names_the_loop_that_does_not_end() {
    let device = Device::host();
    let mut y = device.zeros::<u32>(32).unwrap();
    let x = |values: &[u32]| device.upload(values).unwrap();
    let error = fault_on(&device, stuck_in_a_function(1, &x(&[0, 1, 2]), &mut y).grid(1));
    says(&error, &[LIMIT, "endless.rs:108:9", "thread (3, 0, 0)", MORE]);
    stuck_in_a_function(1, &x(&[0, 1, 7]), &mut y).grid(1).launch(&device).unwrap();
    assert_eq!(y.download().unwrap()[2..5], [0, 8, 0]);
    let mut y = device.zeros::<f32>(32).unwrap();
    let floats = |values: &[f32]| device.upload(values).unwrap();
    halves::<f32>(&floats(&[1e9, 0.0]), &mut y).grid(1).launch(&device).unwrap();
    assert_eq!(y.download().unwrap(), [0.0; 32]);
    says(&fault_on(&device, halves::<f32>(&floats(&[1.0, 1.0]), &mut y).grid(1)), &[LIMIT, "endless.rs:133:5", MORE]);
}

/// Outside a launch a device function is any Rust function: nothing counts.
#[test]
fn device_functions_by_themselves_have_no_limit() {
    assert_eq!(counts_to(20_000_000), 20_000_000);
}

#[device]
fn counts_to(n: u32) -> u32 {
    let mut k = 0;
    while k < n {
        k += 1;
    }
    k
}
