//! Every launch that cannot work is an error that names kernel, figure and limit, before anything runs.

use super::null::Null;
use super::{BROKEN, FREE, NO_TWIN, SAXPY, SHARED, definition};
use crate::arguments::Arguments;
use crate::definition::{GenericArgument, ScalarKind};
use crate::device::Device;
use crate::error::Error;
use crate::launch::Launch;
use std::sync::atomic::Ordering;

fn free<'a>(n: usize, y: &'a mut crate::Buffer<u32>) -> Launch<'a> {
    Launch::new(&FREE, &[], NO_TWIN, Arguments::new().value(n).global_mut(y))
}

fn shared(block: u64, y: &mut crate::Buffer<f32>) -> Launch<'_> {
    Launch::new(&SHARED, vec![GenericArgument::Const(ScalarKind::Usize, block)], NO_TWIN, Arguments::new().global_mut(y))
}

/// The error of a launch, which must have run nothing.
fn refusal(null: &Null, device: &Device, launch: Launch<'_>) -> String {
    let before = null.launched.load(Ordering::Relaxed);
    let error = launch.launch(device).expect_err("the launch cannot work");
    assert_eq!(null.launched.load(Ordering::Relaxed), before, "nothing may run: {error}");
    error.to_string()
}

#[test]
fn geometry_that_cannot_work_is_refused() {
    let null = Null::default();
    let device = null.device();
    let mut y = device.zeros::<u32>(8).unwrap();
    let mut cases: Vec<(&str, String)> = Vec::new();
    let mut case = |expected: &'static str, make: &dyn Fn(Launch<'_>) -> crate::Result<()>| {
        let before = null.launched.load(Ordering::Relaxed);
        let error = make(free(8, &mut y)).expect_err(expected);
        assert_eq!(null.launched.load(Ordering::Relaxed), before);
        cases.push((expected, error.to_string()));
    };
    case("without a grid: call `.grid(blocks)` or `.cover(elements)`", &|l| l.block(32).launch(&device));
    case("fixes no block: call `.block(threads)`", &|l| l.grid(1).launch(&device));
    case("a grid of (0, 1, 1)", &|l| l.block(32).grid(0).launch(&device));
    case("a grid to cover (0, 1, 1)", &|l| l.block(32).cover(0).launch(&device));
    case("a grid of (1, -2, 1)", &|l| l.block(32).grid((1, -2)).launch(&device));
    case("a block of (0, 4, 1)", &|l| l.block((0, 4)).grid(1).launch(&device));
    case("2048 threads in x of a block, but Null (nothing) has a limit of 1024", &|l| l.block(2048).grid(1).launch(&device));
    case("4096 threads in a block, but Null (nothing) has a limit of 1024", &|l| l.block((64, 64)).grid(1).launch(&device));
    case("65 threads in z of a block, but Null (nothing) has a limit of 64", &|l| l.block((1, 1, 65)).grid(1).launch(&device));
    case("70000 blocks in y of the grid, but Null (nothing) has a limit of 65535", &|l| l.block(32).grid((1, 70_000)).launch(&device));
    case("300000 bytes of dynamic shared memory, but Null (nothing) has a limit of 232448", &|l| {
        l.block(32).grid(1).shared_bytes(300_000).launch(&device)
    });
    case("`.shared_bytes(-4)`: the size must not be negative", &|l| l.block(32).grid(1).shared_bytes(-4).launch(&device));
    case("the threads of the grid number 4294967296; write `#[kernel(index = 64)]`", &|l| l.block(1024).grid(1usize << 22).launch(&device));
    case("`.time(device, 0)` has no runs: give 1 or more", &|l| l.block(32).grid(1).time(&device, 0).map(drop));
    for (expected, error) in cases {
        assert!(error.contains(expected) && error.contains("`free`"), "expected {expected:?} in {error:?}");
    }
}

#[test]
fn a_fixed_block_stays_and_static_shared_memory_counts() {
    let null = Null::default();
    let device = null.device();
    let mut y = device.zeros::<f32>(256).unwrap();
    let error = refusal(&null, &device, shared(64, &mut y).block(32).grid(1));
    assert!(error.contains("`shared` fixes its block at (64, 1, 1)") && error.contains(".block((32, 1, 1))"), "{error}");
    let error = refusal(&null, &device, shared(64, &mut y).grid(1).shared_bytes(232_448 - 512));
    assert!(
        error.contains(
            "232960 bytes of shared memory, 1024 of fixed arrays and 231936 of the launch's own, but Null (nothing) has a limit of 232448"
        ),
        "{error}"
    );
    shared(64, &mut y).grid(1).shared_bytes(232_448 - 1024).launch(&device).unwrap();
    let error = refusal(&null, &device, shared(2000, &mut y).grid(1));
    assert!(error.contains("2000") && error.contains("`shared`"), "{error}");
}

#[test]
fn cover_rounds_up_to_whole_blocks() {
    let device = Null::default().device();
    let mut y = device.zeros::<u32>(1).unwrap();
    let at = |device: &Device, launch: Launch<'_>| {
        let instance = launch.instance(device).unwrap();
        launch.plan(device, instance, device.own_stream()).map(|(plan, _)| (plan.extents.grid, plan.extents.block)).unwrap()
    };
    assert_eq!(at(&device, free(1, &mut y).block(32).cover(65)), ([3, 1, 1], [32, 1, 1]));
    assert_eq!(at(&device, free(1, &mut y).block((8, 4)).cover((17usize, 4u32))), ([3, 1, 1], [8, 4, 1]));
    assert_eq!(at(&device, free(1, &mut y).block((8, 8, 8)).cover((8, 9, 1))), ([1, 2, 1], [8, 8, 8]));
}

#[test]
fn lengths_beyond_the_index_type_are_refused() {
    let null = Null::default();
    let device = null.device();
    let mut y = crate::Buffer::<u32>::new(&device, 1 << 32, device.own_stream()).unwrap();
    let error = refusal(&null, &device, free(8, &mut y).block(32).grid(1));
    assert!(error.contains("the elements of parameter `y` number 4294967296"), "{error}");
    let mut y = device.zeros::<u32>(8).unwrap();
    let error = refusal(&null, &device, free(1 << 33, &mut y).block(32).grid(1));
    assert!(error.contains("but parameter `n` is 8589934592"), "{error}");
    assert!(matches!(crate::Buffer::<u64>::new(&device, usize::MAX, device.own_stream()), Err(Error::TooLarge { .. })));
}

#[test]
fn buffers_of_another_device_are_refused() {
    let null = Null::default();
    let (here, there) = (null.device(), Device::simulator());
    let x = there.zeros::<f32>(8).unwrap();
    let mut y = here.zeros::<f32>(8).unwrap();
    let error =
        refusal(&null, &here, Launch::new(&SAXPY, &[], NO_TWIN, Arguments::new().value(2f32).global(&x).global_mut(&mut y)).grid(1));
    assert!(error.contains("`x` of kernel `saxpy` lies on Simulator (simulator)") && error.contains("on Null (nothing)"), "{error}");
    let event = there.default_stream().record().unwrap();
    assert!(matches!(here.default_stream().wait(&event), Err(Error::ForeignObject { what: "the event", .. })));
    let mut pinned = there.pinned::<f32>(8).unwrap();
    assert!(matches!(y.read_async(&mut pinned, &here.default_stream()), Err(Error::ForeignObject { .. })));
}

#[test]
fn a_kernel_that_does_not_compile_says_where_and_is_compiled_once() {
    let null = Null::default();
    let device = null.device();
    let mut y = device.zeros::<u32>(8).unwrap();
    for _ in 0..2 {
        let error = refusal(&null, &device, Launch::new(&BROKEN, &[], NO_TWIN, Arguments::new().global_mut(&mut y)).block(32).grid(1));
        assert!(error.contains("`broken` does not compile") && error.contains("src/kernels.rs:12:12"), "{error}");
        assert!(error.contains("nowhere"), "{error}");
    }
    assert_eq!(null.compiled.load(Ordering::Relaxed), 0);
}

definition!(PAIRS = "pairs", "#[kernel(block = 32)] fn pairs(y: &mut Global<usize>) { y[0] = 1; }", ["y": GlobalMut], []);
definition!(WIDE = "wide", "#[kernel(block = 32, index = 64)] fn wide(y: &mut Global<usize>) { y[0] = 1; }", ["y": GlobalMut], []);

#[test]
fn elements_laid_out_otherwise_are_refused() {
    let null = Null::default();
    let device = null.device();
    let mut y = device.zeros::<usize>(8).unwrap();
    let error = refusal(&null, &device, Launch::new(&PAIRS, &[], NO_TWIN, Arguments::new().global_mut(&mut y)).grid(1));
    assert!(
        error.contains("parameter `y` of kernel `pairs`: `usize` has 64 bits on the host and 32") && error.contains("index = 64"),
        "{error}"
    );
    Launch::new(&WIDE, &[], NO_TWIN, Arguments::new().global_mut(&mut y)).grid(1).launch(&device).unwrap();
    // What the macro's types forbid, a layout that differs, is found all the same.
    let mut narrow = device.zeros::<u16>(8).unwrap();
    let error =
        refusal(&null, &device, Launch::new(&FREE, &[], NO_TWIN, Arguments::new().value(1usize).global_mut(&mut narrow)).block(1).grid(1));
    assert!(error.contains("`y`: it is not as it was checked to be (at `src/instance.rs:"), "{error}");
}

#[test]
fn instances_are_told_apart_by_their_generics() {
    let null = Null::default();
    let device = null.device();
    let mut y = device.zeros::<f32>(256).unwrap();
    for block in [64, 128, 64, 128, 64] {
        shared(block, &mut y).grid(1).launch(&device).unwrap();
    }
    assert_eq!(null.compiled.load(Ordering::Relaxed), 2);
    assert_eq!(null.launched.load(Ordering::Relaxed), 5);
}

definition!(BIG = "big", "#[kernel(block = 32)] fn big(w: [u64; 4100], y: &mut Global<u64>) { y[0] = w[1]; }", ["w": Value, "y": GlobalMut], []);

#[test]
fn parameters_beyond_the_device_are_refused() {
    let null = Null::default();
    let device = null.device();
    let mut y = device.zeros::<u64>(8).unwrap();
    let error = refusal(&null, &device, Launch::new(&BIG, &[], NO_TWIN, Arguments::new().value([0u64; 4100]).global_mut(&mut y)).grid(1));
    assert!(error.contains("32816 bytes of parameters, but Null (nothing) has a limit of 32764; pass large parameters"), "{error}");
}

definition!(
    BANDS = "bands",
    "#[kernel(block = 1, index = 64, raster(rows = R))] fn bands<const R: usize>(y: &mut Global<usize>) { y[0] = block_idx().x; }",
    ["y": GlobalMut],
    ["R"]
);

#[test]
fn blocks_that_are_numbered_have_numbers() {
    let null = Null::default();
    let device = null.device();
    let mut y = device.zeros::<usize>(8).unwrap();
    let grid = (1usize << 20, 1usize << 12);
    let error = refusal(
        &null,
        &device,
        Launch::new(&BANDS, vec![GenericArgument::Const(ScalarKind::Usize, 8)], NO_TWIN, Arguments::new().global_mut(&mut y)).grid(grid),
    );
    assert_eq!(
        error,
        "kernel `bands`: the grid has 4294967296 blocks, and `raster` numbers them with 32 bits; use a larger block, more elements per thread, several launches, \
         or remove `raster`"
    );
    Launch::new(&BANDS, vec![GenericArgument::Const(ScalarKind::Usize, 1)], NO_TWIN, Arguments::new().global_mut(&mut y))
        .grid(grid)
        .launch(&device)
        .unwrap();
    Launch::new(&BANDS, vec![GenericArgument::Const(ScalarKind::Usize, 8)], NO_TWIN, Arguments::new().global_mut(&mut y))
        .grid((grid.0, grid.1 - 1))
        .launch(&device)
        .unwrap();
}
