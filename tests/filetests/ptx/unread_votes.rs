// test ptx sm_90
//! A vote or a shuffle whose result nobody reads is not printed: `ptxas` 13.5 ends with an internal error at this ballot. `sync_warp` orders memory, so it stays.
use warpwright::prelude::*;
use warpwright::warp::{ballot, shuffle_xor};

#[kernel(block = (4, 4, 4), contract = false)]
fn unread(p: bool, y: &mut Global<u32>) {
    let i = global_id().x;
    if warp_id() == 1 {
        panic!("the second warp");
    }
    ballot(p);
    let _ = shuffle_xor(i as u32 * 3, 1);
    sync_warp();
    print!("{}", i);
    y[i] = 1;
}
