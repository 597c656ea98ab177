//! By-value parameters that hold `usize`s, tuples and enums: every device gets what the host wrote, whatever its own `usize`.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use params::{Mode, Params, Step, Window, at, gather, generic, modes, wide};
use warpwright::{Device, Error};
use warpwright_tests::devices;
use warpwright_tests::ptx_interpreter::executed;

/// The kernels, and what they take.
#[warpwright::module]
mod params {
    use warpwright::prelude::*;

    #[derive(Clone, Copy)]
    #[repr(C)]
    pub(super) struct Window {
        pub(super) first: usize,
        pub(super) shift: isize,
    }

    #[derive(Clone, Copy)]
    #[repr(C)]
    pub(super) struct Params {
        pub(super) flag: bool,
        pub(super) width: usize,
        pub(super) scale: f32,
        pub(super) window: Window,
        pub(super) sizes: [usize; 2],
        pub(super) pair: (u8, usize),
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(u16)]
    pub(super) enum Mode {
        Low = 3,
        High = 300,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub(super) struct Step {
        pub(super) mode: Mode,
        pub(super) is_last: bool,
        pub(super) count: u32,
    }

    #[kernel(block = 32)]
    pub(super) fn gather(p: Params, t: (usize, u8, isize), a: [usize; 2], y: &mut Global<i64>) {
        if global_id().x == 0 {
            y[0] = p.flag as i64;
            y[1] = p.width as i64;
            y[2] = (p.scale * 4.0) as i64;
            y[3] = p.window.first as i64;
            y[4] = p.window.shift as i64;
            y[5] = p.sizes[0] as i64;
            y[6] = p.sizes[1] as i64;
            y[7] = p.pair.0 as i64;
            y[8] = p.pair.1 as i64;
            y[9] = t.0 as i64;
            y[10] = t.1 as i64;
            y[11] = t.2 as i64;
            y[12] = a[0] as i64;
            y[13] = a[1] as i64;
        }
    }

    #[kernel(block = 32, index = 64)]
    pub(super) fn wide(p: Params, t: (usize, u8, isize), y: &mut Global<i64>) {
        if global_id().x == 0 {
            y[0] = p.width as i64;
            y[1] = p.window.shift as i64;
            y[2] = p.pair.1 as i64;
            y[3] = t.0 as i64;
            y[4] = t.2 as i64;
        }
    }

    #[kernel(block = 32)]
    pub(super) fn at(windows: &Global<Window>, y: &mut Global<u32>) {
        y[0] = windows[0].first as u32;
    }

    #[kernel(block = 32)]
    pub(super) fn modes(mode: Mode, steps: &mut Global<Step>) {
        #[shared]
        let mut seen: [Mode; 32];
        let i = global_id().x;
        seen[thread_idx().x] = mode;
        sync_threads();
        if i < steps.len() {
            let step = steps[i];
            let next = if step.mode == seen[0] { Mode::Low } else { Mode::High };
            steps[i] = Step { mode: next, is_last: i + 1 == steps.len(), count: step.count + 1 };
        }
    }

    #[kernel(block = 32)]
    pub(super) fn generic<T: Element>(value: T, n: usize, y: &mut Global<T>) {
        let i = global_id().x;
        if i < n {
            y[i] = value;
        }
    }
}

const PARAMS: Params =
    Params { flag: true, width: 0xffff_fff0, scale: 2.5, window: Window { first: 7, shift: -9 }, sizes: [11, 12], pair: (250, 13) };

#[test]
fn every_device_gets_what_the_host_wrote() {
    for device in devices::all() {
        let mut y = device.zeros::<i64>(14).unwrap();
        gather(PARAMS, (14, 251, -15), [16, 17], &mut y).grid(1).launch(&device).unwrap();
        let expected = [1, 0xffff_fff0, 10, 7, -9, 11, 12, 250, 13, 14, 251, -15, 16, 17];
        assert_eq!(y.download().unwrap(), expected, "{device}");
        let far = Params { width: 1 << 40, pair: (1, 1 << 41), ..PARAMS };
        wide(far, (1 << 42, 2, -(1 << 43)), &mut y).grid(1).launch(&device).unwrap();
        assert_eq!(y.download().unwrap()[..5], [1 << 40, -9, 1 << 41, 1 << 42, -(1 << 43)], "{device}");
        println!("ran: values ({device})");
    }
}

#[test]
fn simulating_takes_values_of_any_device() {
    let device = Device::host();
    let mut y = device.zeros::<i64>(14).unwrap();
    gather(PARAMS, (14, 251, -15), [16, 17], &mut y).grid(1).simulate().unwrap();
    assert_eq!(y.download().unwrap()[8..12], [13, 14, 251, -15]);
}

#[test]
fn what_a_32_bit_index_cannot_hold_is_refused_before_anything_runs() {
    for device in devices::all() {
        let mut y = device.zeros::<i64>(14).unwrap();
        let refused = |launch: warpwright::Launch<'_>, expected: &str| {
            let error = launch.grid(1).launch(&device).unwrap_err();
            assert!(matches!(error, Error::IndexWidth { kernel: "params::gather", .. }), "{error:?}");
            assert!(error.to_string().contains(expected), "{error}");
        };
        let far = Params { width: 1 << 32, ..PARAMS };
        refused(gather(far, (0, 0, 0), [0; 2], &mut y), "`p.width` of parameter `p` is 4294967296");
        let far = Params { window: Window { first: 0, shift: -(1 << 31) - 1 }, ..PARAMS };
        refused(gather(far, (0, 0, 0), [0; 2], &mut y), "`p.window.shift` of parameter `p` is -2147483649");
        refused(gather(PARAMS, (0, 0, 1 << 31), [0; 2], &mut y), "`t.2` of parameter `t` is 2147483648");
        refused(gather(PARAMS, (0, 0, 0), [0, 1 << 32], &mut y), "`a[1]` of parameter `a` is 4294967296");
        assert_eq!(y.download().unwrap(), [0; 14]);
    }
}

#[test]
fn buffers_keep_the_layout_of_the_host_and_refuse_a_narrow_index() {
    let device = Device::simulator();
    let windows = device.upload(&[Window { first: 1, shift: 2 }]).unwrap();
    let mut y = device.zeros::<u32>(1).unwrap();
    let error = at(&windows, &mut y).grid(1).launch(&device).unwrap_err().to_string();
    let expected = "parameter `windows` of kernel `params::at`: `Window` holds `usize` or `isize`, 64 bits on the host";
    assert!(error.contains(expected) && error.contains("index = 64"), "{error}");
}

#[test]
fn enums_without_a_variant_0_are_moved_but_not_zeroed() {
    for device in devices::all() {
        let expected = "the enum `Mode` has no variant of value 0";
        assert!(device.zeros::<Step>(4).unwrap_err().to_string().contains(expected));
        assert!(device.pinned::<[Mode; 2]>(4).unwrap_err().to_string().contains(expected));
        let step = |mode, is_last, count| Step { mode, is_last, count };
        let mut steps = device.upload(&[step(Mode::Low, true, 1), step(Mode::High, false, 2)]).unwrap();
        modes(Mode::High, &mut steps).grid(1).launch(&device).unwrap();
        assert_eq!(steps.download().unwrap(), [step(Mode::High, false, 2), step(Mode::Low, true, 3)], "{device}");
    }
}

/// Not the module's: the same name and size, other fields.
mod elsewhere {
    use warpwright::prelude::*;

    #[device]
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub(super) struct Step {
        pub(super) a: f32,
        pub(super) b: f32,
    }
}

#[test]
fn types_of_one_name_are_told_apart() {
    for device in [Device::simulator(), Device::host()] {
        let step = Step { mode: Mode::High, is_last: true, count: 5 };
        let mut steps = device.upload(&[Step { mode: Mode::Low, is_last: false, count: 0 }; 2]).unwrap();
        generic(step, 1, &mut steps).grid(1).launch(&device).unwrap();
        assert_eq!(steps.download().unwrap()[0], step, "{device}");
        let other = elsewhere::Step { a: 1.5, b: -2.5 };
        let mut others = device.zeros::<elsewhere::Step>(2).unwrap();
        generic(other, 1, &mut others).grid(1).launch(&device).unwrap();
        assert_eq!(others.download().unwrap(), [other, elsewhere::Step { a: 0.0, b: 0.0 }], "{device}");
        let mut pairs = device.upload(&[[(step, other); 2]]).unwrap();
        let both = [(Step { count: 6, ..step }, other), (step, elsewhere::Step { a: 7.0, b: 8.0 })];
        generic(both, 1, &mut pairs).grid(1).launch(&device).unwrap();
        assert_eq!(pairs.download().unwrap(), [both], "{device}");
    }
}

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed("values", &["every_device_gets_what_the_host_wrote"], "8.0");
}
