//! A fault in a device function says where the function was called, and where the one that calls it was.

use super::fault_on;
use super::put::{PUTS, put};
use warpwright::prelude::*;

#[device]
fn put_both(y: &mut Global<u32>, i: usize) {
    put(y, i);
    put(y, i + 64);
}
const PUTS_SECOND: u32 = line!() - 2;

#[kernel(block = 32)]
fn puts(y: &mut Global<u32>) {
    put(y, thread_idx().x);
    put_both(y, thread_idx().x);
}
const PUTS_BOTH: u32 = line!() - 2;

#[test]
fn a_fault_in_a_function_names_its_callers() {
    let device = Device::simulator();
    let mut y = device.zeros::<u32>(64).unwrap();
    let error = fault_on(&device, puts(&mut y).grid(1));
    let expected = format!(
        "{}:{PUTS}:5, called at {}:{PUTS_SECOND}:5, called on line {PUTS_BOTH}: kernel `puts`, block (0, 0, 0), thread (0, 0, 0): \
         index 64 is out of bounds of `y`, which has 64 elements; ",
        file!().replace("calls.rs", "put.rs"),
        file!()
    );
    assert!(error.starts_with(&expected), "{error}\n{expected}");
    // What the kernel does itself has no callers.
    let mut short = device.zeros::<u32>(16).unwrap();
    let error = fault_on(&device, own(&mut short).grid(1));
    assert!(error.starts_with(&format!("{}:{OWN}:5: kernel `own`, block (0, 0, 0), thread (16, 0, 0): ", file!())), "{error}");
}

#[kernel(block = 32)]
fn own(y: &mut Global<u32>) {
    y[thread_idx().x] = 1;
}
const OWN: u32 = line!() - 2;
