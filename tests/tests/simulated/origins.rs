//! A fault names the lines that it comes from: where the index is computed, the condition that the thread passed, who writes what is loaded or waited for.

use super::{fault_on, says};
use std::sync::atomic::Ordering;
use warpwright::prelude::*;

/// Like a shifted copy that checks another index than it uses.
#[kernel(block = 32)]
fn shifted(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let from = i * 2;
    if i < x.len() {
        let v = x[from];
        y[i] = v;
    }
}
const SHIFTED: u32 = line!() - 4;

/// A guard that has left, and an index that goes round a loop.
#[kernel(block = 32)]
fn carried(n: usize, y: &mut Global<u32>) {
    let mut at = thread_idx().x;
    if thread_idx().x >= n {
        return;
    }
    for _ in 0..3 {
        at += 32;
    }
    y[at] = 1;
}
const CARRIED: u32 = line!() - 2;

/// An index out of an array that the kernel fills.
#[kernel(block = 32)]
fn looked_up(y: &mut Global<u32>) {
    #[shared]
    let mut places: [u32; 32];
    places[thread_idx().x] = thread_idx().x as u32 * 3;
    sync_threads();
    y[places[31 - thread_idx().x] as usize] = 1;
}
const LOOKED_UP: u32 = line!() - 2;

/// A flag that is set one place too far.
#[kernel(block = 32)]
fn handed_on(flags: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x > 0 {
            while flags.atomic_load(block_idx().x - 1, Ordering::Acquire, ThreadScope::Device) == 0 {}
        }
        flags.atomic_store(block_idx().x + 1, 1, Ordering::Release, ThreadScope::Device);
    }
}
const HANDED_ON: u32 = line!() - 3;

/// A flag that nobody sets.
#[kernel(block = 32)]
fn forgotten(flags: &mut Global<u32>) {
    if thread_idx().x == 0 {
        while flags.atomic_load(0, Ordering::Acquire, ThreadScope::Device) == 0 {}
    }
}

/// Two threads that write one element.
#[kernel(block = 32)]
fn halved(y: &mut Global<u32>) {
    let i = thread_idx().x / 2;
    y[i] = 1;
}
const HALVED: u32 = line!() - 2;

/// All on one line: there is nothing to say.
#[kernel(block = 32)]
fn short(y: &mut Global<u32>) {
    y[thread_idx().x] = 1;
}

#[test]
fn a_fault_names_the_lines_that_it_comes_from() {
    let device = Device::simulator();
    let x = device.upload(&[7u32; 40]).unwrap();
    let mut y = device.zeros::<u32>(40).unwrap();
    let error = fault_on(&device, shifted(&x, &mut y).grid(2));
    let [i, from, condition] = [SHIFTED - 3, SHIFTED - 2, SHIFTED - 1];
    let note = format!(
        "; note: the index comes from lines {i} and {from}; the condition that the thread passed comes from lines {i} and {condition}"
    );
    says(&error, &["index 40 is out of bounds of `x`", "launch fewer threads", &note]);
    assert!(error.ends_with(&note), "{error}");

    let error = fault_on(&device, carried(32, &mut y).grid(1));
    let note = format!(
        "; note: the index comes from lines {}, {} and {}; the condition that the thread passed comes from lines {} and {}",
        CARRIED - 7,
        CARRIED - 3,
        CARRIED - 2,
        // `thread_idx().x` is computed once.
        CARRIED - 7,
        CARRIED - 6
    );
    assert!(error.ends_with(&note), "{error}\n{note}");

    let error = fault_on(&device, looked_up(&mut y).grid(1));
    assert!(error.ends_with(&format!("; note: `places` is written on line {}", LOOKED_UP - 2)), "{error}");

    let error = fault_on(&device, halved(&mut y).grid(1));
    says(&error, &["race: writes scalar 0 of `y`", &format!("; note: the index comes from line {}", HALVED - 1)]);

    let error = fault_on(&device, short(&mut y).grid(2));
    assert!(!error.contains("note:"), "{error}");
}

#[test]
fn a_wait_without_end_names_who_writes_what_it_waits_for() {
    let device = Device::simulator();
    let mut flags = device.zeros::<u32>(8).unwrap();
    let error = fault_on(&device, handed_on(&mut flags).grid(2));
    assert!(error.ends_with(&format!("; note: `flags` is written on line {HANDED_ON}")), "{error}");
    let error = fault_on(&device, forgotten(&mut flags).grid(1));
    assert!(error.ends_with("; note: nothing outside the loop writes `flags`"), "{error}");
}
