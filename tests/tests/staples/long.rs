//! Lengths that 32 bits hardly hold, or do not: on a GPU with the memory for them, as any other device takes hours.

use super::benches;
use warpwright::DeviceKind;
use warpwright_kernels::staples::{histogram, map, reduce, scan};

/// Bytes of memory that the buffers of a test take, and as much again.
const ROOM: u64 = 40 << 30;

#[test]
fn every_element_of_billions_counts_once() {
    let mut ran = 0;
    for mut b in benches() {
        let memory = b.device.properties().memory_bytes.unwrap_or(0);
        if b.device.kind() != DeviceKind::Cuda || memory < ROOM {
            continue;
        }
        ran += 1;
        // The longest that an index of 32 bits may be tried with, where a thread's number is added to a length; and what it does not hold.
        for n in [(1usize << 31) + 77, (1 << 32) - 70_000, (1 << 32) + 5] {
            let mut x = b.zeros::<u8>(n);
            map::fill(&b.stream, 1u8, &mut x).expect("right");
            // By counters of 32 bits in shared memory, of 16 bits, and in global memory; modulo 2³².
            for bins in [2, 1000, 20_000, 70_000] {
                let mut found = b.upload(&vec![7u32; bins]);
                histogram::count_values(&b.stream, &x, &mut found, &mut b.workspace).expect("right");
                let found = found.download().expect("run");
                assert_eq!(
                    (found[0], found[1], found[2..].iter().max()),
                    (0, n as u32, (bins > 2).then_some(&0)),
                    "{n} bytes, {bins} bins"
                );
            }
            let mut sum = b.zeros::<u32>(1);
            for candidate in [None, Some(5), Some(7), Some(8)] {
                b.workspace.force(candidate);
                reduce::sum(&b.stream, &x, &mut sum, &mut b.workspace).expect("right");
                assert_eq!(sum.download().expect("run")[0], n as u32, "{n} bytes, {candidate:?}");
            }
            b.workspace.force(None);
        }
        let n = (1usize << 31) + 77;
        let (mut x, mut y) = (b.zeros::<u32>(n), b.zeros::<u32>(n));
        map::fill(&b.stream, 1u32, &mut x).expect("right");
        scan::inclusive_sum(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
        let mut last = b.zeros::<u32>(1);
        reduce::max(&b.stream, &y, &mut last, &mut b.workspace).expect("right");
        assert_eq!(last.download().expect("run")[0], n as u32);
    }
    match ran {
        0 => println!("skipped: every_element_of_billions_counts_once (no CUDA GPU)"),
        _ => println!("ran: every_element_of_billions_counts_once ({ran} on CUDA)"),
    }
}
