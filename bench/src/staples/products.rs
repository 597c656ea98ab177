//! Cases of products: of matrices and vectors in `f32`, and those of tensor cores.

use super::check::{all, near, places};
use super::{Bench, Unit};
use crate::Outcome;
use crate::memory::{Number, random};
use crate::twins::at;
use warpwright::prelude::{bf16, e4m3, f16};
use warpwright::{Buffer, Launch};
use warpwright_kernels::staples::gemm;
use warpwright_kernels::staples::product::{self, MultipliesInto, Product};

mod fill {
    use warpwright::Num;
    use warpwright::prelude::*;

    /// Converts, scaled.
    #[kernel(block = 256)]
    pub(super) fn converted<T: Num>(scale: f32, x: &Global<f32>, out: &mut Global<T>) {
        let i = global_id().x;
        if i < out.len() {
            out[i] = (x[i] * scale) as T;
        }
    }

    /// The same of floats of 8 bits.
    #[kernel(block = 256)]
    pub(super) fn float8(scale: f32, x: &Global<f32>, out: &mut Global<e4m3>) {
        let i = global_id().x;
        if i < out.len() {
            out[i] = (x[i] * scale) as e4m3;
        }
    }
}

/// Products of `f32` on the ordinary units.
pub(super) fn single_precision(b: &mut Bench) -> Outcome<()> {
    let sides: Vec<usize> = b.size.pick(vec![1024, 4096, 8192], vec![1024, 4096], vec![128, 70]);
    for n in sides {
        if b.is_wanted("sgemm") {
            let (x, y) = (random::<f32>(&b.device, 16, n * n)?, random::<f32>(&b.device, 17, n * n)?);
            let z = std::cell::RefCell::new(b.device.zeros::<f32>(n * n)?);
            let (left, right, out) = (at(&x), at(&y), at(&z.borrow()));
            let checked = || {
                let found = all(&z.borrow())?;
                for s in 0..300 {
                    let (i, j) = (s * 7919 % n, s * 104_729 % n);
                    let terms = (0..n).map(|k| f64::from(f32::input(16, i * n + k)) * f64::from(f32::input(17, k * n + j)));
                    let (sum, magnitude) = terms.fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
                    near("an element", f64::from(found[i * n + j]), sum, (n + 1) as f64 * 2f64.powi(-24) * magnitude)?;
                }
                Ok(())
            };
            b.line(
                ("sgemm", n.to_string(), 2.0 * (n as f64).powi(3), Unit::Operations),
                |stream, workspace| gemm::gemm(stream, (n, n, n), 1.0, &x, &y, &mut z.borrow_mut(), workspace),
                checked,
                Some(("cuBLAS", &|twins, calls| twins.staple_gemm(calls, left, right, out, n as u32))),
            );
            b.line(
                ("sgemm by pipeline", n.to_string(), 2.0 * (n as f64).powi(3), Unit::Operations),
                |stream, workspace| {
                    workspace.force(Some(1));
                    let done = gemm::gemm(stream, (n, n, n), 1.0, &x, &y, &mut z.borrow_mut(), workspace);
                    workspace.force(None);
                    done
                },
                checked,
                Some(("cuBLAS", &|twins, calls| twins.staple_gemm(calls, left, right, out, n as u32))),
            );
        }
        if b.is_wanted("sgemv") {
            let (x, y) = (random::<f32>(&b.device, 18, n * n)?, random::<f32>(&b.device, 19, n)?);
            let z = std::cell::RefCell::new(b.device.zeros::<f32>(n)?);
            let (left, right, out) = (at(&x), at(&y), at(&z.borrow()));
            b.line(
                ("sgemv", n.to_string(), 4.0 * (n as f64).powi(2), Unit::Bytes),
                |stream, _| gemm::gemv(stream, (n, n), &x, &y, &mut z.borrow_mut()),
                || {
                    let found = all(&z.borrow())?;
                    for i in places(n) {
                        let terms = (0..n).map(|k| f64::from(f32::input(18, i * n + k)) * f64::from(f32::input(19, k)));
                        let (sum, magnitude) = terms.fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
                        near("an element", f64::from(found[i]), sum, (n + 1) as f64 * 2f64.powi(-24) * magnitude)?;
                    }
                    Ok(())
                },
                Some(("cuBLAS", &|twins, calls| twins.staple_gemv(calls, left, right, out, n as u32))),
            );
        }
    }
    Ok(())
}

/// What products of a type are timed with.
struct TensorProduct<T: warpwright::Element> {
    /// Its name, and that of the other layout.
    names: [&'static str; 2],
    /// Its number for the twin.
    kind: u32,
    /// What uniform numbers are multiplied by first.
    scale: f32,
    /// Makes numbers of the type of uniform ones.
    fill: for<'a> fn(f32, &'a Buffer<f32>, &'a mut Buffer<T>) -> Launch<'a>,
    /// A number of the type from a uniform one.
    of: fn(f32) -> T,
    /// What a factor may be off by, of its size; of the result, too.
    precision: (f64, f64),
    /// What an addition may.
    of_sum: f64,
    /// Sides of the squares, and how many products.
    sizes: Vec<(usize, usize)>,
}

/// Both layouts that are read fastest: b by its columns, and as it is.
fn tensor_product<T, U>(b: &mut Bench, about: TensorProduct<T>, wide: fn(T) -> f64, wide_result: fn(U) -> f64) -> Outcome<()>
where
    T: MultipliesInto<U>,
    U: warpwright::Element,
{
    if !about.names.iter().any(|name| b.is_wanted(name)) {
        return Ok(());
    }
    for (n, count) in about.sizes {
        let (of_one, elements) = (n * n, count * n * n);
        let made = |b: &Bench, seed: u32| -> Outcome<Buffer<T>> {
            let x = random::<f32>(&b.device, seed, elements)?;
            let mut there = b.device.zeros::<T>(elements)?;
            (about.fill)(about.scale, &x, &mut there).cover(elements).launch(&b.device)?;
            b.device.synchronize()?;
            Ok(there)
        };
        let (x, y) = (made(b, 20)?, made(b, 21)?);
        let z = std::cell::RefCell::new(b.device.zeros::<U>(elements)?);
        for (layout, name) in about.names.into_iter().enumerate().filter(|(_, name)| b.is_wanted(name)).collect::<Vec<_>>() {
            let is_by_columns = layout == 0;
            let checked = || {
                let found = all(&z.borrow())?;
                let number = |seed: u32, i: usize| wide((about.of)(f32::input(seed, i) * about.scale));
                for s in 0..300 {
                    let (which, i, j) = (s * 31 % count, s * 7919 % n, s * 104_729 % n);
                    let first = which * of_one;
                    let of_b = |k: usize| if is_by_columns { j * n + k } else { k * n + j };
                    let terms = (0..n).map(|k| number(20, first + i * n + k) * number(21, first + of_b(k)));
                    let (sum, magnitude) = terms.fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
                    let (of_factor, of_result) = about.precision;
                    let bound = ((n + 1) as f64 * about.of_sum + 2.0 * of_factor) * magnitude + of_result * sum.abs();
                    near("an element", wide_result(found[first + i * n + j]), sum, bound)?;
                }
                Ok(())
            };
            let (left, right, out) = (at(&x), at(&y), at(&z.borrow()));
            let device = b.device.clone();
            let factors = (device.matrix(&x, n, n)?.batch(count, of_one)?, device.matrix(&y, n, n)?.batch(count, of_one)?);
            let product = Product::new(factors.0, factors.1).transposed(false, is_by_columns).tf32();
            let size = if count == 1 { n.to_string() } else { format!("{count} x {n}") };
            let transposed = if is_by_columns { 2 } else { 0 };
            b.line(
                (name, size, 2.0 * (n as f64).powi(3) * count as f64, Unit::Operations),
                |stream, workspace| {
                    let mut z = z.borrow_mut();
                    product::multiply(stream, &product, device.matrix_mut(&mut z, n, n)?.batch(count, of_one)?, workspace)
                },
                checked,
                Some(("cuBLAS", &|twins, calls| {
                    twins.staple_product(calls, about.kind, transposed, left, right, out, n as u32, count as u32)
                })),
            );
        }
    }
    Ok(())
}

/// Products on tensor cores, by the type of their elements.
pub(super) fn of_tensor_cores(b: &mut Bench) -> Outcome<()> {
    let of_sum = 2f64.powi(-23);
    let squares =
        |b: &Bench| b.size.pick(vec![(1024, 1), (4096, 1), (8192, 1), (16_384, 1)], vec![(1024, 1), (4096, 1)], vec![(128, 1), (70, 1)]);
    let batches = b.size.pick(vec![(128, 1024), (512, 256), (1024, 64), (2048, 16)], vec![(512, 64)], vec![(70, 3)]);
    let bf16s = |names, sizes| TensorProduct {
        names,
        kind: 0,
        scale: 1.0,
        fill: fill::converted::<bf16>,
        of: bf16::from_f32,
        precision: (0.0, 2f64.powi(-8)),
        of_sum,
        sizes,
    };
    let one = bf16s(["gemm bf16 NT", "gemm bf16 NN"], squares(b));
    tensor_product::<bf16, bf16>(b, one, |v| v.to_f64(), |v| v.to_f64())?;
    let several = bf16s(["batched gemm bf16 NT", "batched gemm bf16 NN"], batches);
    tensor_product::<bf16, bf16>(b, several, |v| v.to_f64(), |v| v.to_f64())?;
    let f16s = TensorProduct {
        names: ["gemm f16 NT", "gemm f16 NN"],
        kind: 1,
        scale: 1.0,
        fill: fill::converted::<f16>,
        of: f16::from_f32,
        precision: (0.0, 2f64.powi(-11)),
        of_sum,
        sizes: squares(b),
    };
    tensor_product::<f16, f16>(b, f16s, |v| v.to_f64(), |v| v.to_f64())?;
    let tf32s = TensorProduct {
        names: ["gemm tf32 NT", "gemm tf32 NN"],
        kind: 2,
        scale: 1.0,
        fill: fill::converted::<f32>,
        of: |v| v,
        precision: (2f64.powi(-10), 2f64.powi(-24)),
        of_sum,
        sizes: squares(b),
    };
    tensor_product::<f32, f32>(b, tf32s, f64::from, f64::from)?;
    let i8s = TensorProduct {
        names: ["gemm i8 NT", "gemm i8 NN"],
        kind: 3,
        scale: 127.0,
        fill: fill::converted::<i8>,
        of: |v| v as i8,
        precision: (0.0, 0.0),
        of_sum,
        sizes: squares(b),
    };
    tensor_product::<i8, i32>(b, i8s, f64::from, f64::from)?;
    let e4m3s = TensorProduct {
        names: ["gemm e4m3 NT", "gemm e4m3 NN"],
        kind: 5,
        scale: 1.0,
        fill: fill::float8,
        of: e4m3::from_f32,
        precision: (0.0, 2f64.powi(-8)),
        // Tensor cores of `sm_90` keep 13 bits behind the point of the largest of what they add.
        of_sum: 2f64.powi(-13),
        sizes: squares(b),
    };
    tensor_product::<e4m3, bf16>(b, e4m3s, |v| v.to_f64(), |v| v.to_f64())?;
    let doubles = TensorProduct {
        names: ["gemm f64 NT", "gemm f64 NN"],
        kind: 4,
        scale: 1.0,
        fill: fill::converted::<f64>,
        of: f64::from,
        precision: (0.0, 2f64.powi(-53)),
        of_sum: 2f64.powi(-52),
        // A call with sides of 16,384 takes a sixth of a second.
        sizes: squares(b).into_iter().filter(|(n, _)| *n <= 8192).collect(),
    };
    tensor_product::<f64, f64>(b, doubles, |v| v, |v| v)
}
