//! Loops that go round more often than `WARPWRIGHT_LOOP_LIMIT` allows: 1000 times, in a child of this test.

use warpwright::prelude::*;

#[kernel(block = 1)]
pub fn halved(y: &mut Global<u32>) {
    let mut left = y[0];
    while left > 1 {
        left -= left % 2;
    }
    y[0] = left;
}

super::examples! {
    /// A loop without an end, on the host twin
    fn endless(device) {
        device.synchronize()?;
        let host = Device::host();
        let mut y = host.upload(&[6u32])?;
        halved(&mut y).grid(1).launch(&host)
    }
}
