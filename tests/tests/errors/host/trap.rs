//! A kernel that asks for what does not hold, on a GPU: in a child of this test, since its context is lost.

use warpwright::prelude::*;

#[kernel(block = 64)]
pub fn halved(y: &mut Global<u32>) {
    let i = global_id().x;
    assert!(y[i] & 1 == 0, "odd numbers have no half");
    y[i] /= 2;
}

super::examples! {
    /// An assertion that does not hold, on a GPU
    fn asserted(device) {
        device.synchronize()?;
        let gpu = Device::cuda(0)?;
        let mut y = gpu.upload(&[3u32; 64])?;
        halved(&mut y).cover(64).launch(&gpu)?;
        gpu.synchronize()
    }
}
