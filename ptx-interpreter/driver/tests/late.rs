//! Streams that do what they have to late: a wait that is missing between two of them shows, and none is missing where one waits.

#![expect(unsafe_code, reason = "calls a driver")]

use std::ptr::null_mut;
use warpwright_ptx_driver::{device, memory, streams};

const BYTES: usize = 4;
const NON_BLOCKING: u32 = 1;

/// What memory has that nobody has written.
const UNWRITTEN: [u8; BYTES] = [0xcd; BYTES];

struct Streams {
    one: usize,
    other: usize,
    event: usize,
}

impl Streams {
    fn new() -> Streams {
        let (mut one, mut other, mut event) = (0, 0, 0);
        // SAFETY: each writes one handle.
        let codes = unsafe {
            [
                streams::cuStreamCreate(&mut one, NON_BLOCKING),
                streams::cuStreamCreate(&mut other, NON_BLOCKING),
                streams::cuEventCreate(&mut event, 0),
            ]
        };
        assert_eq!(codes, [0; 3]);
        Streams { one, other, event }
    }

    /// Memory, and what one stream is to set it to.
    fn set_in_one(&self, byte: u8) -> u64 {
        let mut address = 0;
        // SAFETY: writes one address, and sets as many bytes as are there.
        let codes = unsafe { [memory::cuMemAlloc_v2(&mut address, BYTES), memory::cuMemsetD8Async(address, byte, BYTES, self.one)] };
        assert_eq!(codes, [0; 2]);
        address
    }

    /// Lets the other stream wait for what the first one has now.
    fn order(&self) {
        // SAFETY: handles of this.
        let codes = unsafe { [streams::cuEventRecord(self.event, self.one), streams::cuStreamWaitEvent(self.other, self.event, 0)] };
        assert_eq!(codes, [0; 2]);
    }
}

fn read(address: u64, stream: usize) -> [u8; BYTES] {
    let mut found = [0; BYTES];
    // SAFETY: as many bytes are there.
    assert_eq!(unsafe { memory::cuMemcpyDtoHAsync_v2(found.as_mut_ptr().cast(), address, BYTES, stream) }, 0);
    found
}

fn query(event: usize) -> u32 {
    // SAFETY: an event, or none, which is told.
    unsafe { streams::cuEventQuery(event) }
}

#[test]
fn what_nobody_waits_for_is_not_done_yet() {
    // SAFETY: the only test of this program, before anything reads the environment.
    unsafe {
        std::env::set_var("PTX_INTERPRETER_STREAMS", "late");
        std::env::set_var("PTX_INTERPRETER_DEVICES", "2");
    }
    let (mut context, mut other_context) = (0, 0);
    // SAFETY: each writes one handle.
    let codes = unsafe { [device::cuDevicePrimaryCtxRetain(&mut context, 0), device::cuDevicePrimaryCtxRetain(&mut other_context, 1)] };
    assert_eq!(codes, [0; 2]);
    // SAFETY: a context, as was just told.
    assert_eq!(unsafe { device::cuCtxSetCurrent(context) }, 0);
    let streams = Streams::new();

    // Without a wait the other stream is first.
    let missing = streams.set_in_one(1);
    assert_eq!(read(missing, streams.other), UNWRITTEN);
    assert_eq!(read(missing, streams.one), [1; BYTES]);
    // With one it is not.
    let ordered = streams.set_in_one(2);
    streams.order();
    assert_eq!(read(ordered, streams.other), [2; BYTES]);
    // What was put there behind the event is not waited for.
    let behind = streams.set_in_one(3);
    streams.order();
    // SAFETY: as many bytes are there.
    assert_eq!(unsafe { memory::cuMemsetD8Async(behind, 4, BYTES, streams.one) }, 0);
    assert_eq!(read(behind, streams.other), [3; BYTES]);
    assert_eq!(read(behind, streams.one), [4; BYTES]);

    // An event has not happened when it is recorded, and has once somebody asked.
    let _ = streams.set_in_one(5);
    streams.order();
    assert_eq!([query(streams.event), query(streams.event)], [600, 0]);

    // Page-locked memory is read when the stream comes to it, other memory at once.
    let (to, mut pinned, plain) = (streams.set_in_one(6), null_mut(), [7u8; BYTES]);
    // SAFETY: writes one address, at which as many bytes are written and read.
    let codes = unsafe {
        let allocated = memory::cuMemHostAlloc(&mut pinned, BYTES, 0);
        pinned.cast::<[u8; BYTES]>().write([8; BYTES]);
        let copied = memory::cuMemcpyHtoDAsync_v2(to, pinned, BYTES, streams.one);
        pinned.cast::<[u8; BYTES]>().write([9; BYTES]);
        [allocated, copied]
    };
    assert_eq!(codes, [0; 2]);
    assert_eq!(read(to, streams.one), [9; BYTES], "written over before the copy");
    // SAFETY: as many bytes are there.
    assert_eq!(unsafe { memory::cuMemcpyHtoDAsync_v2(to, plain.as_ptr().cast(), BYTES, streams.one) }, 0);
    // All that the context has to do.
    // SAFETY: takes nothing.
    assert_eq!(unsafe { device::cuCtxSynchronize() }, 0);
    assert_eq!(read(to, streams.other), [7; BYTES]);

    // A default stream and one that blocks wait for each other.
    let mut blocking = 0;
    // SAFETY: writes one handle.
    assert_eq!(unsafe { streams::cuStreamCreate(&mut blocking, 0) }, 0);
    let blocking = Streams { one: blocking, other: streams.other, event: streams.event };
    let address = blocking.set_in_one(10);
    assert_eq!(read(address, 0), [10; BYTES]);

    // An event is recorded in streams of its own context, and waited for in any.
    // SAFETY: a context, as was told; a handle of this.
    let codes = unsafe { [device::cuCtxSetCurrent(other_context), streams::cuEventRecord(blocking.event, 0)] };
    assert_eq!(codes, [0, 400]);
}
