//! Products of matrices and attention of the library of staples, launched by hand: tiles by threads and by the copy engine.
//!
//! Results are held to plain Rust. Sums of small whole numbers are exact.

use super::kernels::{Show, Specimen};
use super::staples::{BEFORE, device, numbers, tickets, zeros};
use warpwright::Result;
use warpwright::prelude::bf16;
use warpwright_kernels::staples::{attention, product, reduce};

/// Every one.
pub const PRODUCTS: &[Specimen] = &[
    Specimen { name: "multiply_nn", run: nn::<false> },
    Specimen { name: "multiply_nn, finished", run: nn::<true> },
    Specimen { name: "multiply_nt", run: nt::<false> },
    Specimen { name: "multiply_tn", run: tn::<false> },
    Specimen { name: "multiply_tt", run: tt::<false> },
    Specimen { name: "multiply_nn_engine", run: nn_engine::<false> },
    Specimen { name: "multiply_nn_engine, finished", run: nn_engine::<true> },
    Specimen { name: "multiply_nt_engine", run: nt_engine::<false> },
    Specimen { name: "multiply_tn_engine", run: tn_engine::<false> },
    Specimen { name: "multiply_tt_engine", run: tt_engine::<false> },
    Specimen { name: "turn", run: turned },
    Specimen { name: "attention_threads", run: attention_by_threads::<true> },
    Specimen { name: "attention_engine", run: attention_by_engine::<true> },
    Specimen { name: "reduce_ring", run: sum_of_chunks },
];

/// Rows and columns of a product, and the inner extent: several tiles, none of which is whole.
const EXTENT: (usize, usize, usize) = (40, 72, 72);

/// The factor of a product, and of what was there before.
const SCALES: (f32, f32) = (2.0, 3.0);

/// Shows a launch of a product: `$a` says whether a lies as columns, `$b` whether b does. Where results are finished, the first 50 columns have a bias, and what is there
/// counts three times.
macro_rules! product {
    ($name:ident, $kernel:ident, $a:literal, $b:literal, [$($generic:expr),*]) => {
        pub(super) fn $name<const END: bool>(show: Show<'_>) -> Result<()> {
            let (m, n, inner) = EXTENT;
            let small = |n: usize, seed: usize| (0..n).map(|i| ((i * seed + 3) % 7) as f32).collect::<Vec<f32>>();
            let (a, b, bias, before) = (small(m * inner, 5), small(inner * n, 11), small(50, 3), small(m * n, 13));
            let (left, right) = (device().upload(&a)?, device().upload(&b)?);
            let (of_bias, mut result) = (device().upload(&bias)?, device().upload(&before)?);
            let of_a = if $a { device().matrix(&left, inner, m)? } else { device().matrix(&left, m, inner)? };
            let of_b = if $b { device().matrix(&right, n, inner)? } else { device().matrix(&right, inner, n)? };
            let of_c = device().matrix_mut(&mut result, m, n)?;
            let (alpha, beta) = SCALES;
            let beta = if END { beta } else { 0.0 };
            let biased = if END { bias.len() } else { 0 };
            let (of_a, of_b, of_c) = (of_a.into(), of_b.into(), of_c.into());
            let launch = product::$kernel::<f32, f32, f32, $($generic),*, END>(alpha, beta, 0, biased, of_a, of_b, &of_bias, of_c)
                .grid((n.div_ceil(64), m.div_ceil(64), 1));
            show(&launch);
            launch.launch(&device())?;
            let of_a = |row: usize, k: usize| if $a { a[k * m + row] } else { a[row * inner + k] };
            let of_b = |k: usize, column: usize| if $b { b[column * inner + k] } else { b[k * n + column] };
            let expected = |at: usize| {
                let (row, column) = (at / n, at % n);
                let sum: f32 = (0..inner).map(|k| of_a(row, k) * of_b(k, column)).sum();
                let added = if column < biased { bias[column] } else { 0.0 };
                alpha * sum + beta * before[at] + added
            };
            assert_eq!(result.download()?, (0..m * n).map(expected).collect::<Vec<f32>>());
            Ok(())
        }
    };
}

product!(nn, multiply_nn, false, false, [128, 64, 64, 32, 32, 2, true]);
product!(nt, multiply_nt, false, true, [128, 64, 64, 32, 32, 2, true]);
product!(tn, multiply_tn, true, false, [128, 64, 64, 32, 32, 2, true]);
product!(tt, multiply_tt, true, true, [128, 64, 64, 32, 32, 2, true]);
product!(nn_engine, multiply_nn_engine, false, false, [128, 64, 64, 32, 32, 2, 1, false, 1, true]);
product!(nt_engine, multiply_nt_engine, false, true, [128, 64, 64, 32, 32, 2, 1, false, 1, true]);
product!(tn_engine, multiply_tn_engine, true, false, [128, 64, 64, 32, 32, 2, 1, false, 1, true]);
product!(tt_engine, multiply_tt_engine, true, true, [128, 64, 64, 32, 32, 2, 1, false, 1, true]);

fn turned(show: Show<'_>) -> Result<()> {
    let (rows, columns) = (37, 45);
    let x: Vec<f32> = numbers(rows * columns).iter().map(|x| *x as f32).collect();
    let (there, mut y) = (device().upload(&x)?, zeros::<f32>(rows * columns)?);
    let (from, to) = (device().matrix(&there, rows, columns)?, device().matrix_mut(&mut y, columns, rows)?);
    let launch = product::turn::<f32>(from.into(), to.into()).grid((2, 2, 1));
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..rows * columns).map(|at| x[at % rows * columns + at / rows]).collect::<Vec<f32>>());
    Ok(())
}

/// Shows a launch of attention: two heads of queries and one of keys, of size 64. What is not causal has keys in the second tile that weigh more than all before, and a tile of them that is not whole.
macro_rules! attended {
    ($show:ident, $causal:expr, $extent:expr, |$scale:ident, $q:ident, $k:ident, $v:ident, $o:ident| $launch:expr) => {{
        let (heads, size) = (2, 64);
        let (queries, keys) = $extent;
        let some = |n: usize, seed: usize| (0..n).map(|i| bf16::from_f32((i * seed % 9) as f32 / 4.0 - 1.0)).collect::<Vec<bf16>>();
        let (q, mut k, v) = (some(heads * queries * size, 7), some(keys * size, 5), some(keys * size, 11));
        if !$causal {
            k[32 * size..].iter_mut().for_each(|x| *x = bf16::from_f32(4.0 * x.to_f32()));
        }
        let (of_q, of_k, of_v, mut of_o) =
            (device().upload(&q)?, device().upload(&k)?, device().upload(&v)?, zeros::<bf16>(heads * queries * size)?);
        let $scale = 0.125f32 * std::f32::consts::LOG2_E;
        let $q = device().matrix(&of_q, queries, size)?.batch(heads, queries * size)?;
        let ($k, $v) = (device().matrix(&of_k, keys, size)?.into(), device().matrix(&of_v, keys, size)?.into());
        let $o = device().matrix_mut(&mut of_o, queries, size)?.batch(heads, queries * size)?;
        let launch = $launch;
        $show(&launch);
        launch.launch(&device())?;
        let found = of_o.download()?;
        for (row, query) in q.chunks(size).enumerate() {
            let seen = if $causal { row % queries + 1 + keys - queries } else { keys };
            let score = |key: usize| {
                query.iter().zip(&k[key * size..]).map(|(q, k)| f64::from(q.to_f32()) * f64::from(k.to_f32())).sum::<f64>() * 0.125
            };
            let scores: Vec<f64> = (0..seen).map(score).collect();
            let most = scores.iter().fold(f64::NEG_INFINITY, |most, score| most.max(*score));
            let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
            for at in 0..size {
                let terms = scores.iter().zip(v.chunks(size)).map(|(score, v)| (score - most).exp() / total * f64::from(v[at].to_f32()));
                let (expected, weight) = terms.fold((0.0, 0.0), |(sum, of), term| (sum + term, of + term.abs()));
                // What `staples::attention` derives: weights and results are rounded to `bf16`, u = 2⁻⁸.
                let allowed = (2.0 * weight + f64::abs(expected)) / 256.0;
                assert!((f64::from(found[row * size + at].to_f32()) - expected).abs() <= allowed, "[{row}][{at}]");
            }
        }
        Ok(())
    }};
}

pub(super) fn attention_by_threads<const CAUSAL: bool>(show: Show<'_>) -> Result<()> {
    attended!(show, CAUSAL, if CAUSAL { (40, 50) } else { (48, 45) }, |scale, q, k, v, o| attention::attention_threads::<
        bf16,
        64,
        64,
        32,
        2,
        CAUSAL,
    >(scale, 2, q, k, v, o)
    .grid((1, 2)))
}

pub(super) fn attention_by_engine<const CAUSAL: bool>(show: Show<'_>) -> Result<()> {
    attended!(show, CAUSAL, if CAUSAL { (40, 50) } else { (48, 45) }, |scale, q, k, v, o| attention::attention_engine::<
        bf16,
        64,
        64,
        32,
        2,
        CAUSAL,
    >(scale, 2, q, k, v, o)
    .grid((1, 2)))
}

/// Five tiles of keys in two slots.
pub(super) fn attention_in_ring(show: Show<'_>) -> Result<()> {
    attended!(show, true, (40, 150), |scale, q, k, v, o| attention::attention_engine::<bf16, 64, 64, 32, 2, true>(scale, 2, q, k, v, o)
        .grid((1, 2)))
}

/// Two blocks, whose chunks fill each slot again.
fn sum_of_chunks(show: Show<'_>) -> Result<()> {
    let x = numbers(9 * 512 + 5);
    let there = device().upload(&x)?;
    let (mut partials, mut tickets, mut out) = (zeros(2)?, tickets()?, zeros(1)?);
    let launch =
        reduce::reduce_ring::<u32, u32, 0, 0, 0, 1, 256, 3, true, 32>(BEFORE, &there, &mut partials, &mut tickets, &mut out).grid(2);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(out.download()?, [x.iter().sum::<u32>()]);
    Ok(())
}
