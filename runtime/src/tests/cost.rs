//! A repeated launch allocates nothing and takes less than 5 µs of host time.

#![expect(unsafe_code, reason = "counts allocations")]

use super::null::Null;
use super::{NO_TWIN, SAXPY, SHARED, definition};
use crate::arguments::Arguments;
use crate::definition::{GenericArgument, ScalarKind};
use crate::driver::DeviceKind;
use crate::launch::Launch;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

thread_local! {
    /// Allocations of this thread: tests run beside each other.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_repeated_launch_allocates_nothing() {
    let null = Null::default();
    let device = null.device();
    let x = device.zeros::<f32>(1000).unwrap();
    let mut y = device.zeros::<f32>(1000).unwrap();
    let stream = device.stream().unwrap();
    const NARROW: &[GenericArgument] = &[GenericArgument::Const(ScalarKind::Usize, 64)];
    const WIDE: &[GenericArgument] = &[GenericArgument::Const(ScalarKind::Usize, 128)];
    let mut launch = |on_stream: bool, generics: &'static [GenericArgument]| {
        let saxpy = Launch::new(&SAXPY, &[], NO_TWIN, Arguments::new().value(2f32).global(&x).global_mut(&mut y)).cover(1000);
        let launched = if on_stream { saxpy.launch_on(&stream) } else { saxpy.launch(&device) };
        launched.unwrap();
        Launch::new(&SHARED, generics, NO_TWIN, Arguments::new().global_mut(&mut y)).grid(1).launch(&device).unwrap();
    };
    launch(false, NARROW);
    launch(true, WIDE);
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..10 {
        launch(false, NARROW);
        launch(true, WIDE);
    }
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0);
    assert_eq!(null.launched.load(Ordering::Relaxed), 44);
    // The counter counts.
    drop(Box::new(7));
    assert!(ALLOCATIONS.with(Cell::get) > before);
}

definition!(
    SIZES = "sizes",
    "#[kernel(block = 32)] fn sizes(a: [usize; 20], t: (u8, usize, usize), n: usize, y: &mut Global<u32>) { y[0] = (a[1] + t.1 + n) as u32; }",
    ["a": Value, "t": Value, "n": Value, "y": GlobalMut],
    []
);

#[test]
fn laying_values_out_for_the_device_allocates_nothing() {
    // Not one that runs the host's code: there values stay as they are.
    let null = Null::of_kind(DeviceKind::Cuda);
    let device = null.device();
    let mut y = device.zeros::<u32>(8).unwrap();
    let mut launch = || {
        let values = Arguments::new().value([1usize; 20]).value((1u8, 2usize, 3usize)).value(4usize);
        Launch::new(&SIZES, &[], NO_TWIN, values.global_mut(&mut y)).grid(1).launch(&device).unwrap();
    };
    launch();
    let before = ALLOCATIONS.with(Cell::get);
    (0..10).for_each(|_| launch());
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0);
    assert_eq!(null.launched.load(Ordering::Relaxed), 11);
}

#[test]
fn a_repeated_launch_takes_less_than_five_microseconds() {
    let device = Null::default().device();
    let x = device.zeros::<f32>(1000).unwrap();
    let mut y = device.zeros::<f32>(1000).unwrap();
    let mut launch = || {
        Launch::new(&SAXPY, &[], NO_TWIN, Arguments::new().value(2f32).global(&x).global_mut(&mut y)).cover(1000).launch(&device).unwrap();
    };
    launch();
    // The best of as many as it takes: the machine may be busy with other tests for a while. Unoptimised code counts too.
    let mut best = Duration::MAX;
    let begun = Instant::now();
    while best >= Duration::from_micros(5) && begun.elapsed() < Duration::from_secs(20) {
        let start = Instant::now();
        for _ in 0..10 {
            launch();
        }
        best = best.min(start.elapsed() / 10);
    }
    println!("a repeated launch takes {best:?} of host time before the driver");
    assert!(best < Duration::from_micros(5), "{best:?}");
}
