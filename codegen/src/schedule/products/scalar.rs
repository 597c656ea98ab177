//! Products one by one: for each step along K, what a thread's sums need of both factors is loaded, and every sum takes one multiply-add.
//!
//! Sums are added in the order of K, each rounded once (fused), factors of 8 and 16 bits widened before: the same bits on every device.

use super::operand::Exchange;
use super::{Partition, element, lanes, plus};
use crate::ir::{Builder, LeftFactor, Op, ProductFactor, Tensor, Type, Value};
use std::collections::BTreeSet;

/// Steps along K that are written out, and the most elements of one load.
const STEPS: u64 = 4;

/// The new sums.
pub(super) fn multiply_add(
    b: &mut Builder<'_>,
    (x, y): (&LeftFactor, &ProductFactor),
    sums: &[Value],
    partition: &Partition,
) -> Vec<Value> {
    let (Some([_, _, k]), Some(first)) = (Tensor::shape_of(b.kernel, x, y), sums.first()) else { return sums.to_vec() };
    let ty = b.kernel.ty(*first);
    let places: Vec<[u64; 2]> = (0..sums.len() as u64).map(|element| partition.place(element)).collect();
    let [rows, columns]: [Vec<u64>; 2] =
        [0, 1].map(|side| places.iter().map(|place| place[side]).collect::<BTreeSet<_>>().into_iter().collect());
    let base = partition.base(b);
    let x = match x {
        LeftFactor::Tile(x) => x,
        LeftFactor::Sums { shape, element, values } => {
            let Some(of_factor) = Partition::of_warpgroups(super::threads(b.kernel), *shape) else { return sums.to_vec() };
            let mut exchange = Exchange::new(b, values, of_factor, *element);
            let of_b = Side { factor: y, own: &columns, base: base[1], along_rows: y.is_transposed };
            let (zero, mut sums) = (b.int(b.kernel.index_type(), 0), sums.to_vec());
            for k in 0..shape[1] {
                let at = plus(b, zero, k);
                let c = of_b.load(b, at, 1, ty);
                let a: Option<Vec<Value>> = rows.iter().map(|row| exchange.get(b, *row, k)).collect();
                let Some(a) = a else { return sums };
                for (sum, [row, column]) in sums.iter_mut().zip(&places) {
                    let (row, column) = (rows.binary_search(row).unwrap_or(0), columns.binary_search(column).unwrap_or(0));
                    *sum = b.mul_add(a[row], c[column][0], *sum);
                }
            }
            return sums;
        }
    };
    let steps = if k.is_multiple_of(STEPS) { STEPS } else { 1 };
    let body = |b: &mut Builder<'_>, at: Value, sums: &[Value]| {
        let of_a = Side { factor: x, own: &rows, base: base[0], along_rows: !x.is_transposed };
        let of_b = Side { factor: y, own: &columns, base: base[1], along_rows: y.is_transposed };
        let (a, c) = (of_a.load(b, at, steps, ty), of_b.load(b, at, steps, ty));
        let mut sums = sums.to_vec();
        for step in 0..steps as usize {
            for (sum, [row, column]) in sums.iter_mut().zip(&places) {
                let (row, column) = (rows.binary_search(row).unwrap_or(0), columns.binary_search(column).unwrap_or(0));
                *sum = b.mul_add(a[row][step], c[column][step], *sum);
            }
        }
        sums
    };
    let index = b.kernel.index_type();
    let [start, end, step] = [0, k, steps].map(|n| b.int(index, i128::from(n)));
    if k == steps {
        return body(b, start, sums);
    }
    b.for_each([start, end, step], sums, |b, at, sums| body(b, at, sums))
}

/// A factor, as the sums of a thread need it.
struct Side<'a> {
    factor: &'a ProductFactor,
    /// Its rows or columns, from the first on.
    own: &'a [u64],
    /// The first.
    base: Value,
    /// Whether steps along K are neighbours in memory: the array's rows go along K.
    along_rows: bool,
}

impl Side<'_> {
    /// Of each of the thread's rows or columns so many steps along K, widened.
    fn load(&self, b: &mut Builder<'_>, at: Value, steps: u64, ty: Type) -> Vec<Vec<Value>> {
        let array = &self.factor.array;
        let Some((_, _, element_type)) = self.factor.shape(b.kernel) else { return Vec::new() };
        let most = lanes(b.kernel, array, element_type).min(STEPS);
        let mut found = vec![Vec::new(); self.own.len()];
        if self.along_rows {
            let lanes = most.min(steps);
            for (own, found) in self.own.iter().zip(&mut found) {
                for n in (0..steps).step_by(lanes as usize) {
                    let access = element(b, array, [self.base, at], [*own, n]);
                    found.extend(load(b, access, lanes, element_type, ty));
                }
            }
            return found;
        }
        // Neighbours of a row that are all a thread's.
        let run = self.own.windows(2).position(|pair| pair[1] != pair[0] + 1).map_or(self.own.len(), |n| n + 1) as u64;
        let lanes = [4, 2, 1]
            .into_iter()
            .find(|lanes| *lanes <= most && run.is_multiple_of(*lanes) && (self.own.len() as u64).is_multiple_of(*lanes))
            .unwrap_or(1);
        let is_run = |chunk: &[u64]| chunk.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let lanes = if self.own.chunks(lanes as usize).all(is_run) { lanes } else { 1 };
        for step in 0..steps {
            for (n, chunk) in self.own.chunks(lanes as usize).enumerate() {
                let access = element(b, array, [at, self.base], [step, chunk[0]]);
                for (lane, value) in load(b, access, lanes, element_type, ty).into_iter().enumerate() {
                    found[n * lanes as usize + lane].push(value);
                }
            }
        }
        found
    }
}

fn load(b: &mut Builder<'_>, access: crate::ir::Access, lanes: u64, element: Type, ty: Type) -> Vec<Value> {
    let inst = b.push(Op::load(access), &vec![element; lanes as usize]);
    let values = b.kernel.insts[inst].results.clone();
    values.into_iter().map(|value| crate::intrinsics::convert(b, value, ty)).collect()
}
