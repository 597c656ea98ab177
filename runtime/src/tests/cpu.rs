//! Kernels on the devices every machine has: the simulator and the host twin.

use super::{NO_TWIN, SAXPY, definition, type_name};
use crate::arguments::Arguments;
use crate::device::Device;
use crate::element::{ElementType, Field, Fields, StructType};
use crate::error::Error;
use crate::launch::Launch;
use crate::prelude::*;
use crate::sim::FaultKind;
use crate::timing::Clock;
use crate::twin::TwinEntry;
use std::mem::offset_of;

/// As the macro writes it.
const SAXPY_TWIN: TwinEntry = |args| {
    fn twin(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
        let i = global_id().x;
        if i < y.len() {
            y[i] += a * x[i];
        }
    }
    twin(args.value::<f32>(0), &args.global::<f32>(1), &mut args.global_mut::<f32>(2));
};

fn saxpy<'a>(x: &'a crate::Buffer<f32>, y: &'a mut crate::Buffer<f32>) -> Launch<'a> {
    Launch::new(&SAXPY, &[], SAXPY_TWIN, Arguments::new().value(2f32).global(x).global_mut(y))
}

#[test]
fn the_simulator_and_the_twin_agree() {
    let xs: Vec<f32> = (0..1000).map(|i| i as f32 / 3.0).collect();
    let expected: Vec<f32> = xs.iter().map(|x| x.mul_add(2.0, 1.0)).collect();
    for device in [Device::simulator(), Device::host()] {
        let x = device.upload(&xs).unwrap();
        let mut y = device.upload(&[1f32; 1000]).unwrap();
        let stream = device.stream().unwrap();
        saxpy(&x, &mut y).cover(xs.len()).launch_on(&stream).unwrap();
        // Doubling is exact, so that fused and separate rounding agree.
        assert_eq!(y.download().unwrap(), expected, "{device}");
        let timing = saxpy(&x, &mut y).cover(xs.len()).time(&device, 3).unwrap();
        assert_eq!((timing.runs, timing.clock), (3, Clock::Host));
        let empty = device.zeros::<f32>(0).unwrap();
        let mut none = device.zeros::<f32>(0).unwrap();
        saxpy(&empty, &mut none).grid(2).launch(&device).unwrap();
    }
}

#[test]
fn simulating_counts_and_leaves_the_result_in_buffers_of_any_device() {
    for device in Device::all() {
        let x = device.upload(&[3f32; 100]).unwrap();
        let mut y = device.upload(&[1f32; 100]).unwrap();
        let simulation = saxpy(&x, &mut y).cover(100).simulate().unwrap();
        assert_eq!(y.download().unwrap(), [7f32; 100], "{device}");
        let counters = simulation.counters();
        assert_eq!((counters.blocks, counters.threads), (1, 256));
        assert!(counters.total.global_requests >= 12, "{simulation}");
        assert!(simulation.to_string().contains("src/kernels.rs:11"), "{simulation}");
    }
}

definition!(
    BEYOND = "beyond",
    "#[kernel(block = 32)]
fn beyond(n: usize, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < n { y[i] = 5; }
}",
    ["n": Value, "y": GlobalMut],
    []
);

#[test]
fn a_simulated_fault_names_the_place_and_changes_no_buffer() {
    let device = Device::host();
    let mut y = device.zeros::<u32>(10).unwrap();
    let error = Launch::new(&BEYOND, &[], NO_TWIN, Arguments::new().value(12usize).global_mut(&mut y)).grid(1).simulate().unwrap_err();
    let Error::Simulated(fault) = &error else { panic!("{error}") };
    assert_eq!((fault.file.as_str(), fault.line, fault.thread), ("src/kernels.rs", 13, [10, 0, 0]));
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { index: 10, length: 10, .. }), "{error}");
    assert_eq!(y.download().unwrap(), [0; 10]);
    Launch::new(&BEYOND, &[], NO_TWIN, Arguments::new().value(10usize).global_mut(&mut y)).grid(1).simulate().unwrap();
    assert_eq!(y.download().unwrap(), [5; 10]);
}

definition!(
    PARAMETERS = "parameters",
    "#[derive(Clone, Copy)] #[repr(C)] struct Pair { a: u8, b: f64 }
    #[kernel] fn parameters(p: Pair, w: [u16; 3], flag: bool, c: &Constant<[u32; 2]>, y: &mut Global<f64>) {
        if flag { y[0] = p.b + p.a as f64 + w[2] as f64 + c[1] as f64; }
    }",
    ["p": Value, "w": Value, "flag": Value, "c": Constant, "y": GlobalMut],
    []
);

#[derive(Clone, Copy)]
#[repr(C)]
struct Pair {
    a: u8,
    b: f64,
}

// SAFETY: all fields, where rustc put them.
#[expect(unsafe_code, reason = "a test's own element")]
unsafe impl Element for Pair {
    const TYPE: ElementType = ElementType::Struct(&StructType {
        id: type_name("Pair"),
        fields: &Fields {
            size: size_of::<Pair>(),
            align: align_of::<Pair>(),
            least_align: 1,
            list: &[
                Field { name: "a", ty: u8::TYPE, offset: offset_of!(Pair, a) },
                Field { name: "b", ty: f64::TYPE, offset: offset_of!(Pair, b) },
            ],
        },
    });
}

#[test]
fn every_kind_of_parameter_arrives() {
    for device in Device::all().into_iter().filter(|device| *device != Device::host()) {
        let constant = device.constant([10u32, 20]).unwrap();
        let mut y = device.zeros::<f64>(1).unwrap();
        let values = Arguments::new().value(Pair { a: 7, b: 0.5 }).value([1u16, 2, 300]).value(true);
        let arguments = values.constant(&constant).global_mut(&mut y);
        Launch::new(&PARAMETERS, &[], NO_TWIN, arguments).block(1).grid(1).launch(&device).unwrap();
        assert_eq!(y.download().unwrap(), [327.5], "{device}");
    }
}

#[test]
fn the_text_of_every_stage_needs_no_device() {
    let device = Device::simulator();
    let x = device.zeros::<f32>(1).unwrap();
    let mut y = device.zeros::<f32>(1).unwrap();
    let launch = saxpy(&x, &mut y);
    assert!(launch.ir().unwrap().contains("saxpy"));
    assert!(launch.opencl_c().unwrap().contains("__kernel"));
    let ptx = launch.ptx("sm_90").unwrap();
    assert!(ptx.contains(".target sm_90") && ptx.contains(".entry"), "{ptx}");
    let error = launch.ptx("sm_12345").unwrap_err().to_string();
    assert!(error.contains("`sm_12345`"), "{error}");
}
