//! Maps of matrices, which tensor copies find rows by.

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;

/// Whether a device runs these kernels: GPUs before sm_90 are refused them.
fn has_target(device: &Device) -> bool {
    device.properties().compute_capability.is_none_or(|capability| capability >= (9, 0))
}

/// Tiles of a matrix, one below another, each written where it comes from.
#[kernel(block = (32, 4), targets = [sm_90])]
fn doubled(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 8];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let column = block_idx().x * 32;
    #[pipeline(stages = 3, by = tma)]
    for k in 0..a.rows().div_ceil(8) {
        load_tile(&mut tile, a, k * 8, column);
        sync_threads();
        for half in 0..2 {
            let r = ty + half * 4;
            c[(k * 8 + r, column + tx)] = tile[r][tx] * 2.0;
        }
        sync_threads();
    }
}

/// A matrix in a buffer of its own, and what comes of it.
struct Case {
    rows: usize,
    columns: usize,
    pitch: usize,
    from: Buffer<f32>,
    to: Buffer<f32>,
}

impl Case {
    fn new(device: &Device, n: usize) -> Case {
        let (rows, columns) = (1 + n * 5 % 37, 1 + n * 11 % 71);
        let pitch = (columns + n % 3 * 4).next_multiple_of(4);
        let numbers: Vec<f32> = (0..rows * pitch).map(|i| Case::number(n, i)).collect();
        Case { rows, columns, pitch, from: device.upload(&numbers).unwrap(), to: device.zeros(rows * columns).unwrap() }
    }

    fn number(n: usize, i: usize) -> f32 {
        ((i * 7919 + n * 131) % 1021) as f32
    }

    fn launch(&mut self, device: &Device, stream: &Stream) {
        let a = device.matrix(&self.from, self.rows, self.columns).unwrap().pitch(self.pitch).unwrap();
        let c = device.matrix_mut(&mut self.to, self.rows, self.columns).unwrap();
        doubled(a, c).grid(self.columns.div_ceil(32)).launch_on(stream).unwrap();
    }

    #[track_caller]
    fn check(&self, n: usize) {
        let of = |i: usize| Case::number(n, i / self.columns * self.pitch + i % self.columns) * 2.0;
        let expected: Vec<f32> = (0..self.rows * self.columns).map(of).collect();
        assert_eq!(self.to.download().unwrap(), expected, "matrix {n}: {} x {} of pitch {}", self.rows, self.columns, self.pitch);
    }
}

/// DeepGEMM, pull request 343: a map that was changed in place for the next launch, while the one before was using it. Here a map is an argument of its launch.
#[test]
fn launches_of_one_kernel_have_maps_of_their_own() {
    on_all("matrices one after another", |device| {
        if !has_target(device) {
            return;
        }
        let stream = device.stream().unwrap();
        // Nothing waits for a launch before the next one is asked for; more matrices than maps are kept come twice.
        let mut cases: Vec<Case> = (0..300).map(|n| Case::new(device, n)).collect();
        for _ in 0..2 {
            cases.iter_mut().for_each(|case| case.launch(device, &stream));
        }
        stream.synchronize().unwrap();
        cases.iter().enumerate().for_each(|(n, case)| case.check(n));
    });
}

/// The same from many threads, each with a stream and with matrices of its own.
#[test]
fn threads_launch_one_kernel_side_by_side() {
    on_all("threads with matrices", |device| {
        if !has_target(device) {
            return;
        }
        std::thread::scope(|scope| {
            for thread in 0..6 {
                scope.spawn(move || {
                    let stream = device.stream().unwrap();
                    let mut cases: Vec<(usize, Case)> = (0..20).map(|n| n * 6 + thread).map(|n| (n, Case::new(device, n))).collect();
                    cases.iter_mut().for_each(|(_, case)| case.launch(device, &stream));
                    stream.synchronize().unwrap();
                    cases.iter().for_each(|(n, case)| case.check(*n));
                });
            }
        });
    });
}

/// A buffer that was freed, and another one that may be where it was: a map is of an address, extents and a pitch, and is used again where all of these are the same.
#[test]
fn a_map_is_of_its_matrix_alone() {
    on_all("matrices where others were", |device| {
        if !has_target(device) {
            return;
        }
        let stream = device.stream().unwrap();
        for n in 0..40 {
            let mut case = Case::new(device, n);
            case.launch(device, &stream);
            case.check(n);
            // The same memory in other shapes.
            let [rows, columns] = [case.rows, case.pitch];
            for (rows, columns) in [(rows, columns), (1, rows * columns), (rows * columns / 4, 4)] {
                let mut to = device.zeros::<f32>(rows * columns).unwrap();
                let a = device.matrix(&case.from, rows, columns).unwrap();
                doubled(a, device.matrix_mut(&mut to, rows, columns).unwrap()).grid(columns.div_ceil(32)).launch_on(&stream).unwrap();
                let expected: Vec<f32> = (0..rows * columns).map(|i| Case::number(n, i) * 2.0).collect();
                assert_eq!(to.download().unwrap(), expected, "matrix {n} as {rows} x {columns}");
            }
        }
    });
}
