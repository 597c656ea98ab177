//! Every declared variant of the stencil, of the convolution and of the sums whose tiles come ahead, against Rust, for extents of all kinds, on every device there is.

use warpwright_kernels::{ahead, stencil};
use warpwright_tests::devices::on_all;

/// Numbers that are exact in `f32`, and whose sums of a few hundred products are.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919 + 11) % 61) as f32 - 30.0).collect()
}

/// Nothing inside, one point, tiles that end with the grid, one more, rows that begin at no multiple of 16 bytes, several planes.
const GRIDS: [(usize, usize, usize); 10] =
    [(2, 2, 2), (3, 3, 3), (66, 18, 4), (67, 19, 3), (68, 20, 7), (65, 17, 9), (4, 50, 3), (131, 3, 5), (64, 16, 2), (12, 9, 70)];

#[test]
fn every_stencil_is_the_reference() {
    on_all("stencils", |device| {
        for (nx, ny, nz) in GRIDS {
            let input = numbers(nx * ny * nz);
            // Weights that leave all of it exact: nothing is rounded, whatever is contracted.
            let expected = stencil::reference((nx, ny, nz), 2.0, 0.5, &input);
            let source = device.upload(&input).unwrap();
            let from = device.matrix(&source, nz * ny, nx).unwrap();
            let tiles = ((nx - 2).div_ceil(ahead::COLUMNS), (ny - 2).div_ceil(ahead::ROWS));
            let grid = |depth: i128| (tiles.0.max(1), tiles.1.max(1), (nz - 2).div_ceil(depth as usize).max(1));
            let variants = ahead::stencil_variants();
            assert_eq!(variants.len(), 12);
            for variant in variants {
                let mut out = device.upload(&input).unwrap();
                let to = device.matrix_mut(&mut out, nz * ny, nx).unwrap();
                let depth = variant.int("DEPTH").unwrap();
                variant.kernel()(ny, 2.0, 0.5, from, to).grid(grid(depth)).launch(device).unwrap();
                assert_eq!(out.download().unwrap(), expected, "{variant}, {nx} x {ny} x {nz}, {device:?}");
            }
            for variant in ahead::stencil_in_caches_variants() {
                let mut out = device.upload(&input).unwrap();
                let depth = variant.int("DEPTH").unwrap();
                variant.kernel()(nx, ny, nz, 2.0, 0.5, &source, &mut out).grid(grid(depth)).launch(device).unwrap();
                assert_eq!(out.download().unwrap(), expected, "{variant} in caches, {nx} x {ny} x {nz}, {device:?}");
            }
        }
    });
}

/// Rows and columns of results, and elements behind the rows of both matrices.
const IMAGES: [([usize; 2], [usize; 2]); 8] = [
    ([1, 1], [0, 0]),
    ([32, 128], [0, 0]),
    ([32, 128], [2, 4]),
    ([33, 129], [1, 0]),
    ([31, 127], [3, 1]),
    ([70, 36], [2, 0]),
    ([300, 5], [0, 3]),
    ([40, 260], [2, 4]),
];

#[test]
fn every_convolution_is_the_reference() {
    on_all("convolutions", |device| {
        let weights: [f32; 49] = std::array::from_fn(|k| ((k * 5 + 1) % 9) as f32 - 4.0);
        let mask = device.constant(weights).unwrap();
        for ([rows, columns], [gap, gap_of_results]) in IMAGES {
            let (high, wide) = (rows + ahead::MASK - 1, columns + ahead::MASK - 1);
            let image = numbers(high * wide);
            let expected = ahead::convolved(rows, columns, &weights, &image);
            let held: Vec<f32> = image.chunks(wide).flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(9e9, gap))).collect();
            let source = device.upload(&held).unwrap();
            let from = device.matrix(&source, high, wide).unwrap().pitch(wide + gap).unwrap();
            let pitch = columns + gap_of_results;
            let variants = ahead::convolve_variants();
            assert_eq!(variants.len(), 8);
            for variant in variants {
                let mut out = device.upload(&vec![-7.0f32; rows * pitch]).unwrap();
                let to = device.matrix_mut(&mut out, rows, columns).unwrap().pitch(pitch).unwrap();
                let tiles = (variant.int("DOWN").unwrap() * variant.int("DEPTH").unwrap()) as usize;
                let grid = (columns.div_ceil(ahead::ACROSS), rows.div_ceil(tiles));
                variant.kernel()(&mask, from, to).grid(grid).launch(device).unwrap();
                let found = out.download().unwrap();
                for (row, found) in found.chunks(pitch).enumerate() {
                    let results: Vec<f64> = found[..columns].iter().map(|value| f64::from(*value)).collect();
                    assert_eq!(results, expected[row * columns..][..columns], "{variant}, row {row} of {rows} x {columns}, {device:?}");
                    assert!(found[columns..].iter().all(|value| *value == -7.0), "{variant} writes behind row {row}");
                }
            }
        }
    });
}

#[test]
fn every_copy_of_tiles_is_the_matrix_and_no_more() {
    on_all("copies of tiles", |device| {
        for ([rows, columns], [gap, gap_of_results]) in
            [([1, 4], [0, 0]), ([4, 256], [0, 0]), ([5, 260], [4, 4]), ([3, 252], [8, 4]), ([33, 520], [0, 4]), ([16, 36], [4, 0])]
        {
            let held: Vec<f32> = numbers(rows * (columns + gap));
            let source = device.upload(&held).unwrap();
            let from = device.matrix(&source, rows, columns).unwrap().pitch(columns + gap).unwrap();
            let pitch = columns + gap_of_results;
            let variants = ahead::copy_tiles_variants();
            assert_eq!(variants.len(), 2);
            for variant in variants {
                let mut out = device.upload(&vec![-7.0f32; rows * pitch]).unwrap();
                let to = device.matrix_mut(&mut out, rows, columns).unwrap().pitch(pitch).unwrap();
                let of_block = (variant.int("TILES").unwrap() * variant.int("ROWS").unwrap()) as usize;
                variant.kernel()(from, to).grid((rows.div_ceil(of_block), columns.div_ceil(256))).launch(device).unwrap();
                for (row, found) in out.download().unwrap().chunks(pitch).enumerate() {
                    assert_eq!(
                        found[..columns],
                        held[row * (columns + gap)..][..columns],
                        "{variant}, row {row} of {rows} x {columns}, {device:?}"
                    );
                    assert!(found[columns..].iter().all(|value| *value == -7.0), "{variant} writes behind row {row}");
                }
            }
        }
    });
}

#[test]
fn every_sum_of_runs_is_the_reference() {
    on_all("sums of runs", |device| {
        for (elements, blocks) in [(1, 1), (4095, 2), (8192, 1), (8193, 2), (100_000, 3), (300_001, 2)] {
            let x = numbers(elements);
            let there = device.upload(&x).unwrap();
            let variants = ahead::run_sums_variants();
            assert_eq!(variants.len(), 4);
            for variant in variants {
                let mut sums = device.zeros::<f32>(blocks).unwrap();
                variant.kernel()(&there, &mut sums).grid(blocks).launch(device).unwrap();
                let found: Vec<f64> = sums.download().unwrap().into_iter().map(f64::from).collect();
                let expected = ahead::summed_runs(variant.int("N").unwrap() as usize, blocks, &x);
                assert_eq!(found, expected, "{variant}, {elements} elements, {blocks} blocks, {device:?}");
            }
        }
    });
}
