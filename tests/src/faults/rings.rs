//! Kernels of the tree whose tiles come ahead into rings, launched by hand with enough tiles that each slot is filled again: for mistakes in IR.

use super::kernels::{Show, Specimen};
use super::products::{attention_in_ring, nn_engine};
use super::staples::{BEFORE, device, numbers, tickets, zeros};
use warpwright::Result;
use warpwright::prelude::bf16;
use warpwright_kernels::ahead;
use warpwright_kernels::staples::{product, reduce};

/// Every one.
pub const RINGS: &[Specimen] = &[
    Specimen { name: "run_sums, the block asks", run: sums_of_runs::<false> },
    Specimen { name: "run_sums, a producer asks", run: sums_of_runs::<true> },
    Specimen { name: "reduce_ring", run: sum_of_chunks },
    Specimen { name: "multiply_nt_engine", run: tiles_of_bf16 },
    Specimen { name: "multiply_nn_engine", run: nn_engine::<false> },
    Specimen { name: "attention_engine", run: attention_in_ring },
];

/// The last run is not whole: threads store it.
fn sums_of_runs<const PRODUCER: bool>(show: Show<'_>) -> Result<()> {
    let x: Vec<f32> = numbers(7 * 1024 + 500).iter().map(|n| (n % 61) as f32).collect();
    let (there, mut sums) = (device().upload(&x)?, zeros(1)?);
    let launch = ahead::run_sums::<1024, 3, PRODUCER>(&there, &mut sums).grid(1);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(sums.download()?, [x.iter().sum::<f32>()]);
    Ok(())
}

fn sum_of_chunks(show: Show<'_>) -> Result<()> {
    let x = numbers(4 * 2048 + 5);
    let there = device().upload(&x)?;
    let (mut partials, mut tickets, mut out) = (zeros(1)?, tickets()?, zeros(1)?);
    let launch =
        reduce::reduce_ring::<u32, u32, 0, 0, 0, 4, 1024, 3, true, 32>(BEFORE, &there, &mut partials, &mut tickets, &mut out).grid(1);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(out.download()?, [x.iter().sum::<u32>()]);
    Ok(())
}

/// A product of tiles by the copy engine, 64 of the inner extent at a time.
fn tiles_of_bf16(show: Show<'_>) -> Result<()> {
    let (side, inner) = (64, 4 * 64);
    let numbers = |seed: usize| (0..side * inner).map(|i| bf16::from_f32((i * seed % 5) as f32)).collect::<Vec<bf16>>();
    let (a, b) = (numbers(7), numbers(13));
    let (left, right, none, mut c) = (device().upload(&a)?, device().upload(&b)?, zeros::<bf16>(1)?, zeros::<bf16>(side * side)?);
    let (of_a, of_b) = (device().matrix(&left, side, inner)?, device().matrix(&right, side, inner)?);
    let of_c = device().matrix_mut(&mut c, side, side)?;
    let launch = product::multiply_nt_engine::<bf16, f32, bf16, 128, 64, 64, 64, 64, 2, 1, false, 1, true, false>(
        1.0,
        0.0,
        0,
        0,
        of_a.into(),
        of_b.into(),
        &none,
        of_c.into(),
    )
    .grid((1, 1, 1));
    show(&launch);
    launch.launch(&device())?;
    let expected = |at: usize| (0..inner).map(|k| a[at / side * inner + k].to_f32() * b[at % side * inner + k].to_f32()).sum::<f32>();
    assert_eq!(c.download()?, (0..side * side).map(|at| bf16::from_f32(expected(at))).collect::<Vec<_>>());
    Ok(())
}
