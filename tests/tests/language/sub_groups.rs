//! Exchanges where an OpenCL device may use its sub-groups: which launches do, and what a form of its own could get wrong.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;
use warpwright::warp::{all, any, ballot, match_any, shuffle, shuffle_down, shuffle_up, shuffle_xor};
use warpwright::{Device, DeviceKind};
use warpwright_tests::opencl_tools::again_on_intel;

cases!(lanes_that_returned, counts_of_warps_and_blocks, barriers_that_warps_skip, lanes_modulo_32, unused_results, dynamic_memory, faults,);

#[kernel(block = 96)]
fn some_lanes_return(n: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i as u32 >= n {
        return;
    }
    let votes = ballot(x[i] % 3 == 0);
    let yes = any(x[i] > 40) as u32 + 2 * all(x[i] < 90) as u32;
    let same = match_any(x[i] % 5);
    sync_warp();
    // The own lane is there.
    y[i] = votes ^ same.rotate_left(7) ^ yes << 30 ^ shuffle(x[i], lane_id()) << 16;
}

fn lanes_that_returned(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(192))?;
    for n in [0, 1, 31, 33, 64, 95, 96, 100, 191] {
        let mut y = b.device.zeros::<u32>(192)?;
        b.go(some_lanes_return(n, &x, &mut y).cover(192))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 96)]
fn count_all(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut r = x[i];
    let mut rounds = 0;
    // Warps go round unequally often, and the block meets before and behind.
    let before = sync_threads_count(r % 2 == 0);
    while any(r > 9) && rounds < 40 {
        let other = shuffle_down(r, 3) / 2 + warp_id() as u32;
        r = if r > 9 { other } else { r };
        rounds += 1;
    }
    let behind = sync_threads_count(r % 2 == 0);
    let flags = sync_threads_or(r == 3) as u32 + 2 * sync_threads_and(rounds < 30) as u32;
    y[i] = r + (rounds << 8) + (before << 16) + (behind << 24) + flags;
}

fn counts_of_warps_and_blocks(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(count_all, &words(288), 1).map(drop)
}

#[kernel(block = 128)]
fn wait_for_some(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut part: [u32; 4];
    let i = global_id().x;
    let w = warp_id();
    // What the block does depends on what each warp finds, and a warp without a row is done at once.
    let sum = warp_sum(x[i] % 10);
    if lane_id() == 0 {
        part[w] = sum;
    }
    sync_threads();
    if part[0] > part[1] {
        let most = warp_max(part[lane_id() % 4]);
        sync_threads();
        if lane_id() == 0 {
            part[w] = most + w as u32;
        }
        sync_threads();
    }
    if w > 1 {
        y[i] = shuffle_up(part[w], 1) + ballot(x[i] % 2 == 0);
    } else {
        y[i] = part[3 - w];
    }
}

fn barriers_that_warps_skip(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(wait_for_some, &words(512), 1).map(drop)
}

#[kernel(block = 64)]
fn far(n: u32, x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let v = x[i];
    let mut r = shuffle(v, 35u32) as u64 + shuffle(v, n) as u64 + shuffle_xor(v, n + 64) as u64;
    r += shuffle_up(v, n % 7 + 32) as u64 * 3 + shuffle_down(v, 33u32) as u64 * 5 + shuffle_up(v, 31u32) as u64;
    r ^= (match_any((v as u64 % 2) << 40 | v as u64 % 3) as u64) << 20;
    r ^= (match_any((v % 4) as f64) as u64) << 31;
    r += (shuffle_xor((v % 200) as u8, 17u32) as u64) << 3;
    r += (shuffle(v as f16, n).to_bits() as u64) << 5;
    y[i] = r + shuffle_down(-(v as i64) << 20, n) as u64;
}

fn lanes_modulo_32(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(128))?;
    for n in [0, 5, 31, 32, 77] {
        let mut y = b.device.zeros::<u64>(128)?;
        b.go(far(n, &x, &mut y).cover(128))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 32)]
fn for_nothing(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let _ = any(x[i] > 3);
    let _ = shuffle_up(x[i], 1);
    let _ = match_any(x[i]);
    let _ = ballot(x[i] == 1);
    y[i] = x[i] + 1;
}

fn unused_results(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(for_nothing, &words(64), 1).map(drop)
}

#[kernel]
fn turn(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut tile: [f32];
    let t = thread_idx().x;
    tile[t] = x[global_id().x] + shuffle_xor(x[global_id().x], 1u32);
    sync_threads();
    let other = tile[(t + 7) % tile.len()];
    // A warp goes round as often as its number says, among barriers that all come to.
    let mut r = other;
    for _ in 0..warp_id() {
        r += warp_min(r) * 0.5;
    }
    sync_threads();
    tile[t] = r;
    sync_threads();
    y[global_id().x] = tile[tile.len() - 1 - t];
}

fn dynamic_memory(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&(0..192).map(|k| (k * 37 % 64) as f32).collect::<Vec<_>>())?;
    for block in [64usize, 96, 192] {
        let mut y = b.device.zeros::<f32>(192)?;
        b.go(turn(&x, &mut y).cover(192).block(block as u32).shared_bytes(4 * block))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 64, bounds = trap)]
fn asserted(least: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    assert!(x[i] < 1000, "too large");
    if i / 32 % 2 == 1 {
        y[i] = warp_sum(x[i]);
        assert!(y[i] >= least, "too little");
    }
}

/// Assertions before and behind exchanges; a fault says the same whichever form ran.
fn faults(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(128))?;
    let mut y = b.device.zeros::<u32>(128)?;
    b.go(asserted(0, &x, &mut y).cover(128))?;
    b.keep(&y)?;
    b.stops(asserted(u32::MAX, &x, &mut y).cover(128), "too little");
    Ok(())
}

// ---- which launches have warps

#[kernel(block = (16, 16))]
fn square(x: &Global<u32>, y: &mut Global<u32>) {
    let i = thread_idx().y * 16 + thread_idx().x;
    y[i] = warp_sum(x[i]);
}

#[kernel(block = (32, 4))]
fn rows_of_warps(x: &Global<u32>, y: &mut Global<u32>) {
    let i = thread_idx().y * 32 + thread_idx().x;
    y[i] = warp_sum(x[i]);
}

#[kernel]
fn of_any_block(x: &Global<u32>, y: &mut Global<u32>) {
    let i = (thread_idx().z * block_dim().y + thread_idx().y) * block_dim().x + thread_idx().x;
    y[i] = ballot(x[i] % 2 == 0) ^ shuffle_up(x[i], 3u32) ^ match_any(x[i] % 4);
}

#[kernel(block = 64)]
fn parts_lanes(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if x[i] % 2 == 0 {
        y[i] = ballot(x[i] % 4 == 0);
    }
}

#[kernel(block = 64)]
fn without_exchanges(x: &Global<u32>, y: &mut Global<u32>) {
    y[global_id().x] = x[global_id().x];
}

/// What `small` gives, and what a launch makes of it; whether it had warps.
fn ran(
    device: &Device,
    launch: impl for<'k> FnOnce(&'k Buffer<u32>, &'k mut Buffer<u32>) -> Launch<'k>,
) -> warpwright::Result<(Vec<u32>, bool)> {
    let x = device.upload(&small(512))?;
    let mut y = device.zeros::<u32>(512)?;
    let launch = launch(&x, &mut y);
    let has_warps = launch.has_warps(device)?;
    launch.launch(device)?;
    Ok((y.download()?, has_warps))
}

/// Sub-groups are used where they are the warps and nowhere else, and the results are the same.
#[test]
fn launches_use_sub_groups_where_they_are_the_warps() {
    let host = Device::host();
    for device in Device::all() {
        let is_opencl = device.kind() == DeviceKind::OpenCl;
        let (mut count, mut with_warps) = (0, 0);
        macro_rules! check {
            ($launch:expr, $where_sub_groups:expr) => {{
                let expected = ran(&host, $launch).expect("the host runs it").0;
                let (found, has_warps) = ran(&device, $launch).unwrap_or_else(|error| panic!("{device}: {error}"));
                assert_eq!(found, expected, "{} on {device}", stringify!($launch));
                let wanted = if is_opencl { $where_sub_groups && device.properties().has_warps } else { true };
                assert_eq!(has_warps, wanted, "{} on {device}", stringify!($launch));
                count += 1;
                with_warps += usize::from(is_opencl && has_warps);
            }};
        }
        check!(|x, y| rows_of_warps(x, y).grid(1), true);
        for (block, is_linear) in [
            ((64, 1, 1), true),
            ((48, 1, 1), true),
            ((5, 1, 1), true),
            ((64, 2, 1), true),
            ((32, 2, 3), true),
            // Sub-groups of Intel's CPU driver are rows.
            ((16, 16, 1), false),
            ((40, 2, 1), false),
            ((8, 4, 2), false),
            ((1, 1, 64), false),
        ] {
            check!(|x, y| of_any_block(x, y).grid(1).block(block), is_linear);
        }
        check!(|x, y| square(x, y).grid(1), false);
        check!(|x, y| without_exchanges(x, y).grid(2), false);
        println!("ran: launches_use_sub_groups_where_they_are_the_warps ({count} launches on {})", device.name());
        if is_opencl {
            println!("{with_warps} of them with warps of an OpenCL device");
        }
    }
}

/// And they do on Intel's driver, which has sub-groups, unless they are turned off.
#[test]
fn launches_on_intel_use_sub_groups() {
    let name = "sub_groups::launches_use_sub_groups_where_they_are_the_warps";
    for (setting, with_warps) in [("on", 6), ("off", 0)] {
        let variable = ("WARPWRIGHT_SUB_GROUPS", setting);
        let Some(answer) = again_on_intel("launches_on_intel_use_sub_groups", name, &[variable]) else { return };
        assert!(answer.contains(&format!("{with_warps} of them with warps of an OpenCL device")), "{setting}: {answer}");
    }
}

/// The text has a form for sub-groups where the lanes of each warp come to the exchanges together.
#[test]
fn kernels_that_part_lanes_have_the_portable_form_only() {
    let device = Device::host();
    let (x, mut y) = (device.upload(&small(64)).expect("memory"), device.zeros::<u32>(64).expect("memory"));
    for (launch, has_form) in [
        (parts_lanes(&x, &mut y).opencl_c(), false),
        (without_exchanges(&x, &mut y).opencl_c(), false),
        (square(&x, &mut y).opencl_c(), true),
        (some_lanes_return(3, &x, &mut y).opencl_c(), true),
    ] {
        let text = launch.expect("it compiles");
        assert_eq!(text.contains("#ifdef WARPWRIGHT_SUB_GROUPS"), has_form, "{text}");
        assert_eq!(text.contains("sub_group_"), has_form, "{text}");
    }
}
