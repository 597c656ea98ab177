//! The functions, their inputs, what is expected of them, and which incumbent does the same.

use super::check::{all, holds, mixture, near, places};
use super::{Bench, Unit, products};
use crate::memory::{integer, random, random_integers, uniform};
use crate::twins::at;
use crate::{Outcome, Size};
use warpwright::Buffer;
use warpwright::prelude::bf16;
use warpwright_kernels::ahead;
use warpwright_kernels::staples::select::Predicate;
use warpwright_kernels::staples::{histogram, map, norm, reduce, scan, select, softmax, sort, transpose};

/// Every case, in the order of the table.
pub(super) const CASES: &[fn(&mut Bench) -> Outcome<()>] =
    &[streams, sums, scans, sorts, selections, histograms, transposes, rows, products::single_precision, products::of_tensor_cores];

mod fill {
    use warpwright::prelude::*;

    /// Any word: what a sort is given.
    #[device]
    pub(super) fn word(seed: u32, i: u32) -> u32 {
        let mut bits = i.wrapping_mul(0x9e37_79b9).wrapping_add(seed.wrapping_mul(0x85eb_ca6b)).wrapping_add(1);
        bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
        bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
        bits ^ (bits >> 16)
    }

    /// Fills with words.
    #[kernel(block = 256)]
    pub(super) fn words(seed: u32, out: &mut Global<u32>) {
        let i = global_id().x;
        if i < out.len() {
            out[i] = word(seed, i as u32);
        }
    }

    /// Fills with their numbers.
    #[kernel(block = 256)]
    pub(super) fn numbers(out: &mut Global<u32>) {
        let i = global_id().x;
        if i < out.len() {
            out[i] = i as u32;
        }
    }

    /// Rounds.
    #[kernel(block = 256)]
    pub(super) fn halves(x: &Global<f32>, out: &mut Global<bf16>) {
        let i = global_id().x;
        if i < out.len() {
            out[i] = (x[i] * 8.0) as bf16;
        }
    }

    /// Times 8.
    #[kernel(block = 256)]
    pub(super) fn eightfold(x: &mut Global<f32>) {
        let i = global_id().x;
        if i < x.len() {
            x[i] *= 8.0;
        }
    }
}

/// A buffer of words.
fn words(b: &Bench, seed: u32, n: usize) -> Outcome<Buffer<u32>> {
    let mut buffer = b.device.zeros::<u32>(n)?;
    fill::words(seed, &mut buffer).cover(n).launch(&b.device)?;
    Ok(buffer)
}

fn streams(b: &mut Bench) -> Outcome<()> {
    for n in b.lengths() {
        if b.is_wanted("copy") {
            let (x, y) = (random::<f32>(&b.device, 1, n)?, std::cell::RefCell::new(b.device.zeros::<f32>(n)?));
            let (out, inp) = (at(&y.borrow()), at(&x));
            b.line(
                ("copy f32", n.to_string(), 8.0 * n as f64, Unit::Bytes),
                |stream, _| map::copy(stream, &x, &mut y.borrow_mut()),
                || {
                    let found = all(&y.borrow())?;
                    holds(places(n).all(|i| found[i] == uniform(1, i as u32)), || "the copy is another".into())
                },
                Some(("cudaMemcpy", &|twins, calls| twins.staple_copy(calls, out, inp, n as u32))),
            );
        }
        // A matrix of rows as wide as the copy engine's tiles; one row, which begins at 16 bytes, where nothing is timed.
        if b.is_wanted("copy") && (n % 256 == 0 || !b.is_timed() && n % 4 == 0) {
            let columns = if n % 256 == 0 { 256 } else { n };
            let rows = n / columns;
            let (x, y) = (random::<f32>(&b.device, 1, n)?, std::cell::RefCell::new(b.device.zeros::<f32>(n)?));
            let (out, inp) = (at(&y.borrow()), at(&x));
            let device = b.device.clone();
            b.line(
                ("copy f32 by TMA", n.to_string(), 8.0 * n as f64, Unit::Bytes),
                |stream, _| {
                    let mut y = y.borrow_mut();
                    let (from, to) = (device.matrix(&x, rows, columns)?, device.matrix_mut(&mut y, rows, columns)?);
                    Ok(ahead::copy_tiles::<2, 1, 5>(from, to).grid((rows.div_ceil(2), columns.div_ceil(256))).launch_on(stream)?)
                },
                || {
                    let found = all(&y.borrow())?;
                    holds(places(n).all(|i| found[i] == uniform(1, i as u32)), || "the copy is another".into())
                },
                Some(("cudaMemcpy", &|twins, calls| twins.staple_copy(calls, out, inp, n as u32))),
            );
        }
        if b.is_wanted("saxpy") {
            let (x, y) = (random::<f32>(&b.device, 1, n)?, std::cell::RefCell::new(random::<f32>(&b.device, 2, n)?));
            b.line(
                ("saxpy f32", n.to_string(), 12.0 * n as f64, Unit::Bytes),
                |stream, _| map::axpy(stream, 0.5, &x, &mut y.borrow_mut()),
                || {
                    let found = all(&y.borrow())?;
                    let expected = |i: usize| 0.5 * uniform(1, i as u32) + uniform(2, i as u32);
                    holds(places(n).all(|i| (found[i] - expected(i)).abs() <= 3e-7), || "the sum is another".into())
                },
                None,
            );
        }
    }
    Ok(())
}

fn sums(b: &mut Bench) -> Outcome<()> {
    for n in b.lengths() {
        if b.is_wanted("sum") {
            let (x, out) = (random::<f32>(&b.device, 3, n)?, std::cell::RefCell::new(b.device.zeros::<f32>(1)?));
            let device = b.device.clone();
            let (ours, inp) = (at(&out.borrow()), at(&x));
            b.line(
                ("sum f32", n.to_string(), 4.0 * n as f64, Unit::Bytes),
                |stream, workspace| reduce::sum(stream, &x, &mut out.borrow_mut(), workspace),
                || {
                    let (sum, magnitude) =
                        (0..n).map(|i| f64::from(uniform(3, i as u32))).fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
                    let bound = reduce::depth::<f32>(&device, n) as f64 * 2f64.powi(-24) * magnitude;
                    near("the sum", f64::from(all(&out.borrow())?[0]), sum, bound)
                },
                Some(("CUB", &|twins, calls| twins.staple_sum(calls, inp, ours, n as u32))),
            );
        }
        // Sums of blocks, which stay apart: each block's runs by bulk copies.
        if b.is_wanted("sum") && (n % 256 == 0 || !b.is_timed()) {
            let blocks = b.device.properties().multiprocessors.map_or(2, |count| 2 * count as usize);
            let (x, sums) = (random::<f32>(&b.device, 3, n)?, std::cell::RefCell::new(b.device.zeros::<f32>(blocks)?));
            let (ours, inp) = (at(&sums.borrow()), at(&x));
            b.line(
                ("sum f32 by bulk copies", n.to_string(), 4.0 * n as f64, Unit::Bytes),
                |stream, _| Ok(ahead::run_sums::<8192, 3, false>(&x, &mut sums.borrow_mut()).grid(blocks).launch_on(stream)?),
                || {
                    let found: f64 = all(&sums.borrow())?.into_iter().map(f64::from).sum();
                    let (sum, magnitude) =
                        (0..n).map(|i| f64::from(uniform(3, i as u32))).fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
                    // What a thread adds to one of its four sums, and the block's sum of all of them.
                    let additions = n.div_ceil(1024 * blocks) + 12;
                    near("the sum", found, sum, additions as f64 * 2f64.powi(-24) * magnitude)
                },
                Some(("CUB", &|twins, calls| twins.staple_sum(calls, inp, ours, n as u32))),
            );
        }
        if b.is_wanted("max") {
            let (x, out) = (words(b, 4, n)?, std::cell::RefCell::new(b.device.zeros::<u32>(1)?));
            let (ours, inp) = (at(&out.borrow()), at(&x));
            b.line(
                ("max u32", n.to_string(), 4.0 * n as f64, Unit::Bytes),
                |stream, workspace| reduce::max(stream, &x, &mut out.borrow_mut(), workspace),
                || {
                    let most = (0..n as u32).map(|i| fill::word(4, i)).max();
                    holds(Some(all(&out.borrow())?[0]) == most, || format!("the greatest is not {most:?}"))
                },
                Some(("CUB", &|twins, calls| twins.staple_max(calls, inp, ours, n as u32))),
            );
        }
    }
    Ok(())
}

fn scans(b: &mut Bench) -> Outcome<()> {
    for n in b.lengths() {
        if b.is_wanted("scan f32") {
            let (x, y) = (random::<f32>(&b.device, 5, n)?, std::cell::RefCell::new(b.device.zeros::<f32>(n)?));
            let device = b.device.clone();
            let (out, inp) = (at(&y.borrow()), at(&x));
            b.line(
                ("scan f32 inclusive", n.to_string(), 8.0 * n as f64, Unit::Bytes),
                |stream, workspace| scan::inclusive_sum(stream, &x, &mut y.borrow_mut(), workspace),
                || {
                    let unit = scan::depth::<f32>(&device, n) as f64 * 2f64.powi(-24);
                    let (mut sum, mut magnitude) = (0.0, 0.0);
                    for (i, found) in all(&y.borrow())?.into_iter().enumerate() {
                        let v = f64::from(uniform(5, i as u32));
                        sum += v;
                        magnitude += v.abs();
                        near("an element", f64::from(found), sum, unit * magnitude)?;
                    }
                    Ok(())
                },
                Some(("CUB", &|twins, calls| twins.staple_scan_inclusive(calls, inp, out, n as u32))),
            );
        }
        if b.is_wanted("scan u32") {
            let (x, y) = (words(b, 6, n)?, std::cell::RefCell::new(b.device.zeros::<u32>(n)?));
            let (out, inp) = (at(&y.borrow()), at(&x));
            b.line(
                ("scan u32 exclusive", n.to_string(), 8.0 * n as f64, Unit::Bytes),
                |stream, workspace| scan::exclusive_sum(stream, &x, &mut y.borrow_mut(), workspace),
                || {
                    let mut sum = 0u32;
                    let is_right = all(&y.borrow())?.into_iter().enumerate().all(|(i, found)| {
                        let is_right = found == sum;
                        sum = sum.wrapping_add(fill::word(6, i as u32));
                        is_right
                    });
                    holds(is_right, || "an element is another".into())
                },
                Some(("CUB", &|twins, calls| twins.staple_scan_exclusive(calls, inp, out, n as u32))),
            );
        }
    }
    Ok(())
}

fn sorts(b: &mut Bench) -> Outcome<()> {
    for n in b.lengths() {
        if b.is_wanted("sort keys") {
            let (x, y) = (words(b, 7, n)?, std::cell::RefCell::new(b.device.zeros::<u32>(n)?));
            let (out, inp) = (at(&y.borrow()), at(&x));
            b.line(
                ("sort keys u32", n.to_string(), n as f64, Unit::Items),
                |stream, workspace| sort::keys(stream, &x, &mut y.borrow_mut(), workspace),
                || {
                    let found = all(&y.borrow())?;
                    holds(found.is_sorted(), || "the keys are not in order".into())?;
                    let expected = mixture((0..n as u32).map(|i| fill::word(7, i)));
                    holds(mixture(found.into_iter()) == expected, || "the keys are others".into())
                },
                Some(("CUB", &|twins, calls| twins.staple_sort_keys(calls, inp, out, n as u32))),
            );
        }
        if b.is_wanted("sort pairs") {
            let (k, mut v) = (words(b, 8, n)?, b.device.zeros::<u32>(n)?);
            fill::numbers(&mut v).cover(n).launch(&b.device)?;
            let sorted = std::cell::RefCell::new((b.device.zeros::<u32>(n)?, b.device.zeros::<u32>(n)?));
            let (out, moved, keys, values) = (at(&sorted.borrow().0), at(&sorted.borrow().1), at(&k), at(&v));
            b.line(
                ("sort pairs u32 u32", n.to_string(), n as f64, Unit::Items),
                |stream, workspace| {
                    let (sorted, moved) = &mut *sorted.borrow_mut();
                    sort::pairs(stream, (&k, &v), (sorted, moved), workspace)
                },
                || {
                    let (keys, values) = (all(&sorted.borrow().0)?, all(&sorted.borrow().1)?);
                    let in_order = (1..n).all(|i| (keys[i - 1], values[i - 1]) < (keys[i], values[i]));
                    holds(in_order, || "the pairs are not in their order".into())?;
                    holds((0..n).all(|i| keys[i] == fill::word(8, values[i])), || "values are not with their keys".into())
                },
                Some(("CUB", &|twins, calls| twins.staple_sort_pairs(calls, keys, out, values, moved, n as u32))),
            );
        }
    }
    Ok(())
}

fn selections(b: &mut Bench) -> Outcome<()> {
    for n in b.lengths() {
        let y = std::cell::RefCell::new((b.device.zeros::<u32>(n)?, b.device.zeros::<u32>(1)?));
        let (out, count) = (at(&y.borrow().0), at(&y.borrow().1));
        if b.is_wanted("select") {
            let x = words(b, 9, n)?;
            let inp = at(&x);
            b.line(
                ("select odd u32", n.to_string(), 6.0 * n as f64, Unit::Bytes),
                |stream, workspace| {
                    let (y, count) = &mut *y.borrow_mut();
                    select::select(stream, Predicate::AnyBit(1), &x, y, count, workspace)
                },
                || {
                    let (found, count) = (all(&y.borrow().0)?, all(&y.borrow().1)?[0] as usize);
                    let expected = (0..n as u32).map(|i| fill::word(9, i)).filter(|v| v % 2 == 1);
                    holds(expected.eq(found[..count].iter().copied()), || "what is kept is not the odd ones".into())
                },
                Some(("CUB", &|twins, calls| twins.staple_select(calls, inp, out, count, n as u32))),
            );
        }
        if b.is_wanted("unique") {
            // As many values as elements, sorted: two of three are there, some of them several times.
            let (unsorted, mut x) = (random_integers::<u32>(&b.device, 10, n as u32, n)?, b.device.zeros::<u32>(n)?);
            sort::keys(&b.stream, &unsorted, &mut x, &mut b.workspace)?;
            let inp = at(&x);
            b.line(
                ("unique sorted u32", n.to_string(), 8.0 * n as f64, Unit::Bytes),
                |stream, workspace| {
                    let (y, count) = &mut *y.borrow_mut();
                    select::unique(stream, &x, y, count, workspace)
                },
                || {
                    let (found, count) = (all(&y.borrow().0)?, all(&y.borrow().1)?[0] as usize);
                    let mut expected = all(&x)?;
                    expected.dedup();
                    holds(found[..count] == expected, || "what is kept is not each value once".into())
                },
                Some(("CUB", &|twins, calls| twins.staple_unique(calls, inp, out, count, n as u32))),
            );
        }
    }
    Ok(())
}

fn histograms(b: &mut Bench) -> Outcome<()> {
    for n in b.lengths() {
        if b.is_wanted("histogram u8") {
            let x = words(b, 11, n / 4)?;
            let bytes = x.view::<u8>()?;
            let n = bytes.len();
            let bins = std::cell::RefCell::new(b.device.zeros::<u32>(256)?);
            let (out, inp) = (at(&bins.borrow()), at(&x));
            b.line(
                ("histogram u8 256", n.to_string(), n as f64, Unit::Bytes),
                |stream, workspace| histogram::count_values(stream, bytes, &mut bins.borrow_mut(), workspace),
                || {
                    let mut expected = vec![0u32; 256];
                    (0..n as u32 / 4).flat_map(|i| fill::word(11, i).to_ne_bytes()).for_each(|v| expected[usize::from(v)] += 1);
                    holds(all(&bins.borrow())? == expected, || "a bin is another".into())
                },
                Some(("CUB", &|twins, calls| twins.staple_histogram_bytes(calls, inp, out, n as u32))),
            );
        }
        if b.is_wanted("histogram u32") {
            let x = random_integers::<u32>(&b.device, 12, 65_536, n)?;
            let bins = std::cell::RefCell::new(b.device.zeros::<u32>(65_536)?);
            let (out, inp) = (at(&bins.borrow()), at(&x));
            b.line(
                ("histogram u32 65536", n.to_string(), 4.0 * n as f64, Unit::Bytes),
                |stream, workspace| histogram::count_values(stream, &x, &mut bins.borrow_mut(), workspace),
                || {
                    let mut expected = vec![0u32; 65_536];
                    (0..n as u32).for_each(|i| expected[integer(12, i, 65_536) as usize] += 1);
                    holds(all(&bins.borrow())? == expected, || "a bin is another".into())
                },
                Some(("CUB", &|twins, calls| twins.staple_histogram_words(calls, inp, out, n as u32))),
            );
        }
    }
    Ok(())
}

fn transposes(b: &mut Bench) -> Outcome<()> {
    let sides: Vec<(usize, usize)> = match b.size {
        Size::Full => vec![(100, 100), (4000, 2500), (16_384, 16_384)],
        Size::Small => vec![(100, 100), (4000, 2500), (8192, 8192)],
        Size::Tiny => vec![(36, 68), (37, 21)],
    };
    for (height, width) in sides {
        if b.is_wanted("transpose") {
            let n = height * width;
            let (x, y) = (random::<f32>(&b.device, 13, n)?, std::cell::RefCell::new(b.device.zeros::<f32>(n)?));
            let (out, inp) = (at(&y.borrow()), at(&x));
            b.line(
                ("transpose f32", format!("{height}x{width}"), 8.0 * n as f64, Unit::Bytes),
                |stream, _| transpose::transpose(stream, (height, width), &x, &mut y.borrow_mut()),
                || {
                    let found = all(&y.borrow())?;
                    let is_right = places(n).all(|i| found[i] == uniform(13, (i % height * width + i / height) as u32));
                    holds(is_right, || "an element is another".into())
                },
                Some(("cuBLAS", &|twins, calls| twins.staple_transpose(calls, inp, out, height as u32, width as u32))),
            );
        }
    }
    Ok(())
}

/// Rows and columns of softmax and norms.
fn extents(b: &Bench) -> Vec<(usize, usize)> {
    match b.size {
        Size::Full => vec![(32_768, 1024), (8192, 4096), (32_768, 4096), (2048, 65_536)],
        Size::Small => vec![(8192, 1024), (2048, 4096), (256, 65_536)],
        Size::Tiny => vec![(2, 128), (1, 1024), (2, 133)],
    }
}

/// The rows that are looked at.
fn some_rows(rows: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(rows.div_ceil(31).max(1))
}

/// An `Err` unless some rows of a softmax are within a relative bound.
fn check_softmax<T: Copy>(
    (rows, columns): (usize, usize),
    x: &[T],
    y: &[T],
    wide: impl Fn(T) -> f64,
    (relative, absolute): (f64, f64),
) -> Outcome<()> {
    for row in some_rows(rows) {
        let row = row * columns..(row + 1) * columns;
        let most = x[row.clone()].iter().map(|x| wide(*x)).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = x[row.clone()].iter().map(|x| (wide(*x) - most).exp()).sum();
        for i in row {
            let expected = (wide(x[i]) - most).exp() / sum;
            near("an element", wide(y[i]), expected, relative * expected + absolute)?;
        }
    }
    Ok(())
}

fn rows(b: &mut Bench) -> Outcome<()> {
    for (rows, columns) in extents(b) {
        let (n, size) = (rows * columns, format!("{rows}x{columns}"));
        if !["softmax", "rmsnorm", "layernorm"].iter().any(|work| b.is_wanted(work)) {
            return Ok(());
        }
        let mut x = random::<f32>(&b.device, 14, n)?;
        let mut short = b.device.zeros::<bf16>(n)?;
        fill::halves(&x, &mut short).cover(n).launch(&b.device)?;
        fill::eightfold(&mut x).cover(n).launch(&b.device)?;
        if b.is_wanted("softmax f32") {
            let y = std::cell::RefCell::new(b.device.zeros::<f32>(n)?);
            b.line(
                ("softmax f32", size.clone(), 8.0 * n as f64, Unit::Bytes),
                |stream, _| softmax::softmax(stream, (rows, columns), &x, &mut y.borrow_mut()),
                || check_softmax((rows, columns), &all(&x)?, &all(&y.borrow())?, f64::from, (3e-5, 1e-12)),
                None,
            );
        }
        let y = std::cell::RefCell::new(b.device.zeros::<bf16>(n)?);
        if b.is_wanted("softmax bf16") {
            b.line(
                ("softmax bf16", size.clone(), 4.0 * n as f64, Unit::Bytes),
                |stream, _| softmax::softmax(stream, (rows, columns), &short, &mut y.borrow_mut()),
                || check_softmax((rows, columns), &all(&short)?, &all(&y.borrow())?, |v| v.to_f64(), (4.1e-3, 1e-12)),
                None,
            );
        }
        let w: Vec<bf16> = (0..columns).map(|i| bf16::from_f32(uniform(15, i as u32) + 1.5)).collect();
        let weights = b.device.upload(&w)?;
        if b.is_wanted("rmsnorm") {
            b.line(
                ("rmsnorm bf16", size.clone(), 4.0 * n as f64, Unit::Bytes),
                |stream, _| norm::rms_norm(stream, (rows, columns), 1e-6, &short, &weights, &mut y.borrow_mut()),
                || {
                    let (x, y) = (all(&short)?, all(&y.borrow())?);
                    for row in some_rows(rows) {
                        let row = &x[row * columns..(row + 1) * columns];
                        let scale = 1.0 / (row.iter().map(|x| x.to_f64().powi(2)).sum::<f64>() / columns as f64 + 1e-6).sqrt();
                        let first = row.as_ptr() as usize - x.as_ptr() as usize;
                        for (i, v) in row.iter().enumerate() {
                            let expected = v.to_f64() * scale * w[i].to_f64();
                            near("an element", y[first / 2 + i].to_f64(), expected, 4.1e-3 * expected.abs())?;
                        }
                    }
                    Ok(())
                },
                None,
            );
        }
        if b.is_wanted("layernorm") {
            let shifts = b.device.zeros::<bf16>(columns)?;
            b.line(
                ("layernorm bf16", size.clone(), 4.0 * n as f64, Unit::Bytes),
                |stream, _| norm::layer_norm(stream, (rows, columns), 1e-6, &short, (&weights, &shifts), &mut y.borrow_mut()),
                || holds(all(&y.borrow())?.iter().all(|v| v.is_finite()), || "an element is no number".into()),
                None,
            );
        }
    }
    Ok(())
}
