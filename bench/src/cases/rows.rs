//! Rows: a thread to a row of bytes, a warp to a row of a matrix, a block to the softmax of a row.

use crate::contest::Alone;
use crate::memory::{Number, integer, random, random_integers, samples};
use crate::report::Unit;
use crate::{Outcome, Runner};
use warpwright_kernels::rows::{rows_by_thread, rows_by_warp, softmax};

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let device = runner.device.clone();
    // A power of two, as rows often are, and one that is none.
    for (name, length) in [("bytes, a thread to a row of 256", 256usize), ("bytes, a thread to a row of 1020", 1020)] {
        let rows = runner.size.pick(1 << 20, 1 << 12, 77);
        let mut arena = (random_integers::<i8>(&device, 3, 128, rows * length)?, device.zeros::<i32>(rows)?);
        let case = Alone {
            variant: name,
            threads: 256,
            work: (rows * length) as f64,
            unit: Unit::Bytes,
            launch: &|(x, sums): &mut (_, _)| rows_by_thread(length, x, sums).cover(rows),
            results: rows,
            found: &|arena, places| Ok(samples(&device, places, &arena.1)?.into_iter().map(f64::from).collect()),
            expected: &|row| (0..length).map(|k| f64::from(integer(3, (row * length + k) as u32, 128))).sum(),
            bound: 0.0,
        };
        runner.alone("rows", &mut arena, &case);
    }
    let (rows, columns) = runner.size.pick((1 << 17, 2048), (1 << 10, 512), (37, 70));
    let n = rows * columns;
    let mut arena = (random::<f32>(&device, 4, n)?, random::<f32>(&device, 5, columns)?, device.zeros::<f32>(rows)?);
    let case = Alone {
        variant: "a warp to a row",
        threads: 256,
        work: 4.0 * n as f64,
        unit: Unit::Bytes,
        launch: &|(a, x, y): &mut (_, _, _)| rows_by_warp(columns, a, x, y).grid(rows.div_ceil(8)),
        results: rows,
        found: &|arena, places| Ok(samples(&device, places, &arena.2)?.into_iter().map(f64::from).collect()),
        expected: &|row| super::inner_product(columns, |k| (4, row * columns + k), |k| (5, k)),
        bound: super::sum_bound(columns),
    };
    runner.alone("rows", &mut arena, &case);
    let mut arena = (arena.0, device.zeros::<f32>(n)?);
    let value = |row: usize, k: usize| f64::from(f32::input(4, row * columns + k));
    let case = Alone {
        variant: "softmax",
        threads: 256,
        work: 8.0 * n as f64,
        unit: Unit::Bytes,
        launch: &|(x, out): &mut (_, _)| softmax(columns, x, out).grid(rows),
        results: n,
        found: &|arena, places| Ok(samples(&device, places, &arena.1)?.into_iter().map(f64::from).collect()),
        expected: &|i| {
            let row = i / columns;
            value(row, i % columns).exp() / (0..columns).map(|k| value(row, k).exp()).sum::<f64>()
        },
        // The hardware's exponential is good to some 2⁻²¹ of what is at most e², of a sum of at least columns / e.
        bound: 1e-4,
    };
    runner.alone("rows", &mut arena, &case);
    Ok(())
}
