//! What goes wrong on the host twin where no memory is left: a child of this test that may have little more than it has.

#![allow(unsafe_code, reason = "the system's function that limits memory")]

use warpwright::prelude::*;

#[kernel(block = 1024)]
pub fn turned(y: &mut Global<u32>) {
    #[shared]
    let mut all: [u32; 1024];
    let t = thread_idx().x;
    all[t] = y[t];
    sync_threads();
    y[t] = all[1023 - t];
}

/// So many bytes more than it has by now is what this program may have.
#[cfg(target_os = "linux")]
fn limit_memory(more: u64) {
    /// `RLIMIT_AS` of `sys/resource.h`.
    const ADDRESS_SPACE: std::ffi::c_int = 9;
    unsafe extern "C" {
        fn setrlimit(resource: std::ffi::c_int, limits: *const [u64; 2]) -> std::ffi::c_int;
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("a program knows its size");
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB")?.parse().ok());
    let limit = 1024 * size.unwrap_or(0u64) + more;
    // SAFETY: two numbers, as the function wants them.
    assert_eq!(unsafe { setrlimit(ADDRESS_SPACE, &[limit; 2]) }, 0);
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_more: u64) {}

super::examples! {
    /// No memory for what the threads of a block work on
    fn stacks(_device) {
        let host = Device::host();
        let mut y = host.zeros::<u32>(1024)?;
        limit_memory(64 << 20);
        turned(&mut y).grid(1).launch(&host)
    }
}
