//! Batches of matrices as parameters: their elements, tiles of them that threads and the copy engine move, and what the host says of them.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::Num;
use warpwright::prelude::*;
use warpwright::{BufferMatrixBatch, BufferMatrixBatchMut, DeviceKind};
use warpwright_tests::devices::{self, on_all};
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::matrices::number;
use warpwright_tests::ptxas::{Counts, found_or_skip};

/// How matrices lie in a buffer.
#[derive(Clone, Copy, Debug)]
struct Layout {
    count: usize,
    rows: usize,
    columns: usize,
    pitch: usize,
    stride: usize,
}

impl Layout {
    /// Elements that its buffer needs, which always has the first matrix.
    fn len(self) -> usize {
        let of_one = if self.rows == 0 { 0 } else { (self.rows - 1) * self.pitch + self.columns };
        self.count.saturating_sub(1) * self.stride + of_one
    }

    /// An element's place in the buffer, if it is inside.
    fn place(self, matrix: usize, row: usize, column: usize) -> Option<usize> {
        let is_inside = matrix < self.count && row < self.rows && column < self.columns;
        is_inside.then(|| matrix * self.stride + row * self.pitch + column)
    }

    fn get<T: Copy>(self, all: &[T], (matrix, row, column): (usize, usize, usize), zero: T) -> T {
        self.place(matrix, row, column).map_or(zero, |place| all[place])
    }

    fn set<T>(self, all: &mut [T], (matrix, row, column): (usize, usize, usize), value: T) {
        if let Some(place) = self.place(matrix, row, column) {
            all[place] = value;
        }
    }

    fn of<'b, T: Element>(self, device: &Device, buffer: &'b Buffer<T>) -> BufferMatrixBatch<'b, T> {
        device.matrix(buffer, self.rows, self.columns).unwrap().pitch(self.pitch).unwrap().batch(self.count, self.stride).unwrap()
    }

    fn of_mut<'b, T: Element>(self, device: &Device, buffer: &'b mut Buffer<T>) -> BufferMatrixBatchMut<'b, T> {
        device.matrix_mut(buffer, self.rows, self.columns).unwrap().pitch(self.pitch).unwrap().batch(self.count, self.stride).unwrap()
    }
}

const fn layout(count: usize, rows: usize, columns: usize, pitch: usize, stride: usize) -> Layout {
    Layout { count, rows, columns, pitch, stride }
}

/// None, one, one behind the other, with room between, heads beside each other.
const LAYOUTS: [Layout; 7] = [
    layout(0, 9, 11, 11, 99),
    layout(1, 9, 11, 13, 0),
    layout(3, 0, 11, 11, 0),
    layout(3, 9, 11, 11, 99),
    layout(4, 10, 14, 17, 200),
    layout(3, 21, 24, 72, 24),
    layout(5, 33, 40, 48, 1600),
];

/// Matrices that have elements in common, which are only read.
const SHARED: [Layout; 2] = [layout(4, 9, 12, 12, 0), layout(3, 20, 28, 32, 64)];

/// All places of so many matrices, rows and columns.
fn places([count, rows, columns]: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..count * rows * columns).map(move |i| (i / columns / rows, i / columns % rows, i % columns))
}

#[device]
fn around(a: &Matrix<f32>, row: usize, column: usize) -> f32 {
    a[(row.wrapping_sub(1), column)] + a[(row, column.wrapping_sub(1))] + a[(row + 1, column)] + a[(row, column + 1)]
}

#[device]
fn add_to<T: Num>(c: &mut Matrix<T>, at: (usize, usize), value: T) {
    c[at] += value;
}

/// Elements one by one, of a matrix for each layer of blocks and of its neighbours.
#[kernel(block = (8, 4))]
fn softened(weight: f32, a: &MatrixBatch<f32>, seen: &mut Global<u32>, c: &mut MatrixBatch<f32>, shift: [usize; 3]) {
    let at = global_id();
    let (matrix, row, column) = (block_idx().z, at.y, at.x);
    let to = (row + shift[1], column + shift[2]);
    c[matrix + shift[0]][to] = a[matrix][(row, column)] * weight;
    add_to(&mut c[matrix + shift[0]], to, around(&a[matrix.wrapping_sub(1)], row, column) + a[matrix + 1][(row, column)]);
    if row == 0 && column == 0 && matrix == 0 {
        let of =
            [a.rows(), a.columns(), a.pitch(), a.count(), a.stride(), c[1].rows(), c[1000].columns(), c.pitch(), c.count(), c.stride()];
        #[unroll]
        for i in 0..10 {
            seen[i] = of[i] as u32;
        }
    }
}

#[test]
fn elements_are_zero_outside_and_dropped_there() {
    on_all("elements of batches", |device| {
        for (from, to) in LAYOUTS.iter().chain(&SHARED).flat_map(|from| LAYOUTS.map(|to| (*from, to))) {
            // Indices of the device wrap at 32 bits, of the twin at 64: these do not.
            for shift in [[0, 0, 0], [1, 2, 3], [2, 0, 0], [40, 0, 0], [u32::MAX as usize - 15, 0, 0], [1, u32::MAX as usize - 50, 0]] {
                let a: Vec<f32> = (0..from.len()).map(|i| i as f32).collect();
                let mut c = vec![-5.0; to.len() + 3];
                let (source, mut target, mut seen) = (device.upload(&a).unwrap(), device.upload(&c).unwrap(), device.zeros(10).unwrap());
                let launch = softened(2.0, from.of(device, &source), &mut seen, to.of_mut(device, &mut target), shift);
                launch.grid((3, 5, 5)).launch(device).unwrap();
                for (i, row, column) in places([5, 20, 24]) {
                    let of = |i: usize, row: usize, column: usize| from.get(&a, (i, row, column), 0.0);
                    let near = [(row.wrapping_sub(1), column), (row, column.wrapping_sub(1)), (row + 1, column), (row, column + 1)];
                    let sum = near.iter().map(|(row, column)| of(i.wrapping_sub(1), *row, *column)).sum::<f32>();
                    let value = of(i, row, column) * 2.0 + (sum + of(i + 1, row, column));
                    to.set(&mut c, (i + shift[0], row + shift[1], column + shift[2]), value);
                }
                assert_eq!(target.download().unwrap(), c, "{from:?} to {to:?}, {shift:?}, on {device:?}");
                let numbers =
                    [from.rows, from.columns, from.pitch, from.count, from.stride, to.rows, to.columns, to.pitch, to.count, to.stride];
                assert_eq!(seen.download().unwrap(), numbers.map(|number| number as u32));
            }
        }
    });
}

/// Copies a tile for each block between matrices of two batches.
#[kernel(block = (16, 2))]
fn moved<T: Element, const R: usize, const C: usize>(
    from: (usize, usize, usize),
    a: &MatrixBatch<T>,
    c: &mut MatrixBatch<T>,
    to: (usize, usize, usize),
) {
    #[shared]
    let mut tile: [[T; C]; R];
    let (matrix, row, column) = (block_idx().z, block_idx().y * R, block_idx().x * C);
    load_tile(&mut tile, &a[from.0 + matrix], from.1 + row, from.2 + column);
    sync_threads();
    store_tile(&mut c[to.0 + matrix], to.1 + row, to.2 + column, &tile);
}

fn moves_agree<T: Element + PartialEq + std::fmt::Debug, const R: usize, const C: usize>(device: &Device, of: impl Fn(u8) -> T, zero: T) {
    let far = u32::MAX as usize - 7;
    let ways = [[[0; 3], [0; 3]], [[1, 0, 4], [0, 2, 8]], [[0, 3, 1], [2, 0, 0]], [[far, 0, 0], [0; 3]], [[0; 3], [far, 0, 0]]];
    for (from, to) in LAYOUTS.iter().chain(&SHARED).flat_map(|from| LAYOUTS.map(|to| (*from, to))) {
        for [first, last] in ways {
            let a: Vec<T> = (0..from.len()).map(|i| of(number(i))).collect();
            let mut c: Vec<T> = (0..to.len() + 3).map(|_| of(99)).collect();
            let (source, mut target) = (device.upload(&a).unwrap(), device.upload(&c).unwrap());
            let launch = moved::<T, R, C>(first.into(), from.of(device, &source), to.of_mut(device, &mut target), last.into());
            launch.grid((2, 2, 3)).launch(device).unwrap();
            for (i, row, column) in places([3, 2 * R, 2 * C]) {
                let value = from.get(&a, (first[0] + i, first[1] + row, first[2] + column), zero);
                to.set(&mut c, (last[0] + i, last[1] + row, last[2] + column), value);
            }
            assert_eq!(target.download().unwrap(), c, "{from:?} to {to:?}, {first:?} to {last:?}, on {device:?}");
        }
    }
}

#[test]
fn tiles_are_copied() {
    on_all("tiles of batches", |device| {
        moves_agree::<f32, 16, 16>(device, f32::from, 0.0);
        moves_agree::<u8, 8, 32>(device, |n| n, 0);
        moves_agree::<[u16; 3], 4, 8>(device, |n| [u16::from(n), 1, 2], [0; 3]);
    });
}

/// Doubles every tile of every matrix; the copy engine, where there is one, brings tiles and takes them away.
#[kernel(block = 64, persistent = P)]
fn doubled<const S: usize, const P: bool>(a: &MatrixBatch<f32>, c: &mut MatrixBatch<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 16];
    #[shared]
    let mut twice: [[f32; 16]; 16];
    let (matrix, row) = (block_idx().y, block_idx().x * 16);
    #[pipeline(stages = S, by = tma)]
    for step in 0..a.columns().div_ceil(16) {
        load_tile(&mut tile, &a[matrix], row, step * 16);
        sync_threads();
        for i in (thread_idx().x..256).step_by(64) {
            twice[i / 16][i % 16] = tile[i / 16][i % 16] * 2.0;
        }
        sync_threads();
        store_tile(&mut c[matrix], row, step * 16, &twice);
        sync_threads();
    }
}

/// The same, a loop over the matrices.
#[kernel(block = 64)]
fn doubled_along<const S: usize>(a: &MatrixBatch<f32>, c: &mut MatrixBatch<f32>) {
    #[shared(swizzle = 64)]
    let mut tile: [[f32; 16]; 16];
    #[shared(swizzle = 64)]
    let mut twice: [[f32; 16]; 16];
    let (column, row) = (block_idx().y * 16, block_idx().x * 16);
    #[pipeline(stages = S, by = tma)]
    for matrix in 0..a.count() {
        load_tile(&mut tile, &a[matrix], row, column);
        sync_threads();
        for i in (thread_idx().x..256).step_by(64) {
            twice[i / 16][i % 16] = tile[i / 16][i % 16] * 2.0;
        }
        sync_threads();
        store_tile(&mut c[matrix], row, column, &twice);
        sync_threads();
    }
}

/// What the copy engine finds: pitches and strides of multiples of 16 bytes, rows of whole ones where it stores.
const OF_ENGINE: [Layout; 6] = [
    layout(0, 9, 12, 12, 108),
    layout(1, 9, 12, 16, 0),
    layout(3, 32, 32, 32, 1024),
    layout(4, 20, 28, 32, 644),
    layout(3, 21, 24, 72, 24),
    layout(7, 17, 4, 12, 204),
];

#[test]
fn the_copy_engine_moves_tiles() {
    on_all("tiles of batches by the copy engine", |device| {
        for (from, to) in OF_ENGINE.iter().chain(&[layout(4, 9, 12, 12, 0)]).flat_map(|from| OF_ENGINE.map(|to| (*from, to))) {
            let a: Vec<f32> = (0..from.len()).map(|i| f32::from(number(i))).collect();
            let source = device.upload(&a).unwrap();
            let before = vec![-5.0; to.len() + 3];
            let kernels = [doubled::<1, false>, doubled::<3, false>, doubled::<2, true>, doubled_along::<1>, doubled_along::<3>];
            for (n, kernel) in kernels.into_iter().enumerate() {
                let (mut c, mut target) = (before.clone(), device.upload(&before).unwrap());
                // Blocks of matrices that are not there, too.
                kernel(from.of(device, &source), to.of_mut(device, &mut target)).grid((3, 4)).launch(device).unwrap();
                let extents = if n < 3 { [4, 48, from.columns.div_ceil(16) * 16] } else { [from.count, 48, 64] };
                for (i, row, column) in places(extents) {
                    to.set(&mut c, (i, row, column), 2.0 * from.get(&a, (i, row, column), 0.0));
                }
                assert_eq!(target.download().unwrap(), c, "kernel {n}, {from:?} to {to:?}, on {device:?}");
            }
        }
    });
}

/// Products of a batch, blocks beside each other in a cluster. With `DOWN` those below each other have different matrices.
#[kernel(block = 128, cluster = (X, Y), tensor = true)]
fn products<const X: usize, const Y: usize, const AHEAD: bool, const DOWN: bool>(
    a: &MatrixBatch<bf16>,
    b: &MatrixBatch<bf16>,
    c: &mut MatrixBatch<f32>,
) {
    #[shared(swizzle = 64)]
    let mut left: [[bf16; 32]; 64];
    #[shared(swizzle = 64)]
    let mut right: [[bf16; 32]; 64];
    #[shared]
    let mut results: [[f32; 64]; 64];
    let at = block_idx();
    let (matrix, row) = if DOWN { (at.y, at.z * 64) } else { (at.z, at.y * 64) };
    let column = at.x * 64;
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    #[pipeline(stages = 3, by = tma, producer = AHEAD)]
    for step in 0..a.columns().div_ceil(32) {
        load_tile(&mut left, &a[matrix], row, step * 32);
        load_tile(&mut right, &b[matrix], column, step * 32);
        sync_threads();
        multiply_add(&left, transposed(&right), &mut sums);
        sync_threads();
    }
    sums.store(&mut results);
    sync_threads();
    store_tile(&mut c[matrix], row, column, &results);
}

#[test]
fn blocks_share_tiles_of_the_same_matrix() {
    on_all("products of batches", |device| {
        let (a, b, c) = (layout(3, 100, 72, 80, 8000), layout(3, 70, 72, 72, 5040), layout(3, 100, 70, 71, 7100));
        let (left, right): (Vec<_>, Vec<_>) =
            ((0..a.len()).map(|i| f32::from(number(i) % 4)).collect(), (0..b.len()).map(|i| f32::from(number(i + 3) % 4)).collect());
        let halves = |all: &[f32]| all.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>();
        let (of_a, of_b) = (device.upload(&halves(&left)).unwrap(), device.upload(&halves(&right)).unwrap());
        let mut expected = vec![-5.0; c.len()];
        for (i, row, column) in places([c.count, c.rows, c.columns]) {
            let terms = (0..a.columns).map(|k| a.get(&left, (i, row, k), 0.0) * b.get(&right, (i, column, k), 0.0));
            c.set(&mut expected, (i, row, column), terms.sum::<f32>());
        }
        let kernels = [
            products::<1, 1, false, false>,
            products::<1, 1, true, false>,
            products::<2, 1, true, false>,
            products::<1, 2, true, false>,
            products::<2, 2, true, false>,
            products::<1, 2, true, true>,
            products::<2, 2, true, true>,
        ];
        for (n, kernel) in kernels.into_iter().enumerate() {
            let mut to = device.upload(&vec![-5.0; c.len()]).unwrap();
            let grid = if n < 5 { (2, 2, 3) } else { (2, 4, 2) };
            kernel(a.of(device, &of_a), b.of(device, &of_b), c.of_mut(device, &mut to)).grid(grid).launch(device).unwrap();
            assert_eq!(to.download().unwrap(), expected, "kernel {n} on {device:?}");
        }
    });
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    ptx(kernel_of(include_str!("matrix_batches.rs"), kernel), kernel, generics, target)
        .unwrap_or_else(|error| panic!("{error}"))
        .to_string()
}

#[test]
fn maps_of_batches_have_three_dimensions() {
    let copies =
        |text: &str| ["tensor.3d.shared::cluster", "tensor.3d.global", "tensor.2d", "multicast"].map(|word| text.matches(word).count());
    assert_eq!(copies(&text("doubled", &["3", "false"], "sm_90")), [2, 1, 0, 0]);
    // Those below each other have other matrices, and share neither tile.
    let shared = |x: &str, y: &str, down: &str| copies(&text("products", &[x, y, "true", down], "sm_90a"))[3];
    assert_eq!([shared("2", "1", "false"), shared("1", "2", "false"), shared("2", "2", "false")], [1, 1, 2]);
    assert_eq!([shared("1", "2", "true"), shared("2", "2", "true")], [0, 1]);
}

#[test]
fn assemblers_take_all_of_it() {
    let Some(assemblers) = found_or_skip("batches of matrices") else { return };
    let counts = Counts::default();
    let kernels: [(&str, &[&str]); 8] = [
        ("moved", &["f32", "16", "16"]),
        ("moved", &["u8", "8", "32"]),
        ("moved", &["[u16; 3]", "4", "8"]),
        ("doubled", &["3", "false"]),
        ("doubled", &["2", "true"]),
        ("doubled_along", &["3"]),
        ("products", &["1", "1", "false", "false"]),
        ("products", &["2", "2", "true", "false"]),
    ];
    for (kernel, generics) in kernels {
        for (number, target) in [(80, "sm_80"), (90, "sm_90"), (120, "sm_120")] {
            // The copy engine is of sm_90 and later.
            if number == 80 && kernel != "moved" {
                continue;
            }
            let ptx = text(kernel, generics, target);
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &ptx, kernel, number));
        }
    }
    counts.report("batches of matrices");
}

#[test]
fn batches_that_no_map_has_are_refused() {
    let checks = |device: &&Device| matches!(device.kind(), DeviceKind::Cuda | DeviceKind::Simulator) && has_target(device);
    for device in devices::all().iter().filter(checks) {
        let (buffer, mut out) = (device.zeros::<f32>(600).unwrap(), device.zeros::<f32>(600).unwrap());
        let a = device.matrix(&buffer, 10, 16).unwrap();
        let mut c = device.matrix_mut(&mut out, 10, 16).unwrap();
        let mut said = |a: BufferMatrixBatch<'_, f32>, stride: usize| {
            let c = c.reborrow().batch(3, stride).unwrap();
            doubled::<2, false>(a, c).grid((1, 3)).launch(device).expect_err("a stride of odd bytes").to_string()
        };
        let error = said(a.batch(3, 170).unwrap(), 160);
        assert!(error.contains("the matrices `a` are 170 elements apart, 680 bytes") && error.contains("a multiple of 16"), "{error}");
        let error = said(a.batch(3, 160).unwrap(), 165);
        assert!(
            error.contains("the matrices `c` are 165 elements apart, 660 bytes") && error.contains("a stride that is one, 168"),
            "{error}"
        );
    }
}

#[test]
fn batches_that_buffers_do_not_hold_are_refused() {
    for device in devices::all() {
        let mut buffer = device.zeros::<f32>(40).unwrap();
        let error = device.matrix(&buffer, 3, 4).unwrap().batch(4, 12).expect_err("it does not fit").to_string();
        assert!(
            error.contains("4 matrices of 3 rows and 4 columns, 4 elements from row to row and 12 from matrix to matrix, need 48"),
            "{error}"
        );
        let beside = device.matrix(&buffer, 3, 4).unwrap().pitch(12).unwrap().batch(3, 4).unwrap();
        assert_eq!([beside.count(), beside.rows(), beside.columns(), beside.row_pitch(), beside.stride()], [3, 3, 4, 12, 4]);
        let error = device.matrix_mut(&mut buffer, 3, 4).unwrap().batch(3, 6).expect_err("they overlap").to_string();
        assert!(
            error.contains("overlap where one begins 6 elements behind the other") && error.contains("a stride of 12 or more"),
            "{error}"
        );
    }
}

/// Whether a device has a copy engine, or does what one does.
fn has_target(device: &Device) -> bool {
    device.properties().compute_capability.is_none_or(|capability| capability >= (9, 0))
}
