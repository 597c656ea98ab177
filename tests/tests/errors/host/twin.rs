//! What goes wrong on the host twin, `Device::host()`, which runs a kernel's own Rust.

use warpwright::prelude::*;
use warpwright::warp::shuffle;

#[kernel(block = 64)]
pub fn part_waits(y: &mut Global<u32>) {
    if warp_id() == 0 {
        sync_threads();
        y[0] = 1;
    } else {
        sync_threads();
        y[1] = 1;
    }
}

#[kernel(block = 32)]
pub fn asked(y: &mut Global<u32>) {
    let t = thread_idx().x;
    if t < 10 {
        y[t] = shuffle(t as u32, 20);
    } else {
        sync_threads();
    }
}

#[kernel(block = 16)]
pub fn asked_beyond(y: &mut Global<u32>) {
    let t = thread_idx().x;
    y[t] = shuffle(t as u32, 20);
}

#[kernel(block = 32, cluster = 2, targets = [sm_90])]
pub fn apart(y: &mut Global<u32>) {
    if cluster_rank() == 0 {
        cluster_sync();
        y[0] = 1;
    } else {
        cluster_sync();
        y[1] = 1;
    }
}

#[kernel(block = 32)]
pub fn divided(by: i32, y: &mut Global<i32>) {
    y[global_id().x] /= by;
}

#[kernel(block = 32)]
pub fn looked_up(y: &mut Global<u32>) {
    let table = [2, 3, 5, 7];
    let i = global_id().x;
    y[i] = table[i];
}

super::examples! {
    /// Threads that wait at two different barriers
    fn divergent_barrier(device) {
        device.synchronize()?;
        let host = Device::host();
        let mut y = host.zeros::<u32>(64)?;
        part_waits(&mut y).grid(1).launch(&host)
    }

    /// A lane that is asked, and does not come
    fn missing_lane(device) {
        device.synchronize()?;
        let host = Device::host();
        let mut y = host.zeros::<u32>(64)?;
        asked(&mut y).grid(1).launch(&host)
    }

    /// A lane that there is not
    fn no_such_lane(device) {
        device.synchronize()?;
        let host = Device::host();
        let mut y = host.zeros::<u32>(64)?;
        asked_beyond(&mut y).grid(1).launch(&host)
    }

    /// Blocks of a cluster that wait at two different barriers
    fn divergent_cluster(device) {
        device.synchronize()?;
        let host = Device::host();
        let mut y = host.zeros::<u32>(64)?;
        apart(&mut y).grid(2).launch(&host)
    }

    /// A quotient that its type does not hold
    fn overflow(device) {
        device.synchronize()?;
        let host = Device::host();
        let mut y = host.upload(&[i32::MIN; 32])?;
        divided(-1, &mut y).cover(32).launch(&host)
    }

    /// A division of integers by zero
    fn division_by_zero(device) {
        device.synchronize()?;
        let host = Device::host();
        let mut y = host.zeros::<i32>(32)?;
        divided(0, &mut y).cover(32).launch(&host)
    }

    /// An index beyond the end of an array
    fn beyond_an_array(device) {
        device.synchronize()?;
        let host = Device::host();
        let mut y = host.zeros::<u32>(32)?;
        looked_up(&mut y).cover(32).launch(&host)
    }
}
