// test opencl
//! A block that no attribute fixes, barriers of the block beside exchanges of its warps, and lanes that return: what both forms share stands before
//! them, and both take the same arguments.

use warpwright::prelude::*;
use warpwright::warp::{all, ballot, match_any, shuffle, shuffle_up};

#[kernel]
fn sub_groups(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let count = sync_threads_count(x[i] > 3);
    if i >= n {
        return;
    }
    let v = shuffle_up(x[i], 1) / 7 + shuffle(x[i], n);
    let same = match_any(x[i] as u64) ^ match_any(v);
    sync_warp();
    if all(v < 9) {
        y[i] = ballot(v % 2 == 0) + count;
    } else {
        y[i] = same;
    }
}
