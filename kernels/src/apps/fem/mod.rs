//! FEM: finite elements on a triangle mesh without order. Steps of weighted Jacobi, `x ← x + ω·D⁻¹·(b - A·x)`, on the equations of
//! `-Δu + u = f` with linear elements: a sparse matrix times a vector, whose gather follows the mesh.
//!
//! A node has some six neighbours. A row is then seven columns and values, 56 bytes, seven elements of `x` from anywhere, and 24 bytes of the row's own
//! (its bounds, `b`, `1 / D`, `x` and the result), for 18 operations: a quarter of an operation a byte. The document gives 11.0 times one core, 18
//! registers, global bandwidth as the bottleneck.
//!
//! What the forms are for:
//!
//! * [`jacobi_by_thread`]: compressed rows, a thread to a row, as one writes it first. Neighbouring threads read some seven elements apart. On the document's
//!   devices each of these was a transaction of its own. Today's caches keep the rest of a sector until the next rounds want it. The index comes from memory,
//!   so no lint can know.
//! * [`jacobi_by_lanes`]: the same rows as pairs of column and value, by 4, 8 or 32 lanes a row. Reads are next to each other. With 32, a warp to a row, most lanes
//!   of a row of seven do nothing: it is for longer rows.
//! * [`jacobi_sliced`]: 32 rows make a slice, stored so that the k-th entries of its rows lie in a row. Each of a warp's reads is one of 256 bytes. Rows that are
//!   shorter than their slice's longest are filled up; with `ahead`, several entries, and then the elements of `x` that they name, are read at once.

mod mesh;
#[cfg(test)]
mod tests;

pub use mesh::Mesh;

use super::declared::axis;
use super::{Declared, Error, Go, Result};
use std::ops::Range;
use warpwright::prelude::*;
use warpwright::warp::shuffle_xor;

/// One element of the matrix in its row.
#[device]
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Entry {
    /// Its column.
    pub column: u32,
    /// Its value.
    pub value: f32,
}

/// A row's new value. Where there is no diagonal, the node is in no triangle, and its value stays.
#[device]
fn relaxed(omega: f32, inverse: f32, x: f32, residual: f32) -> f32 {
    if inverse == 0.0 { x } else { x + omega * inverse * residual }
}

/// A step, a thread to a row. Row i has the columns and values `starts[i]` to `starts[i + 1]`; `inverse` has 1 over the diagonal, 0 where a row is empty.
#[kernel(block = B, variants(B in [128, 256]))]
#[allow(clippy::too_many_arguments, reason = "a matrix is three arrays")]
pub fn jacobi_by_thread<const B: usize>(
    omega: f32,
    starts: &Global<u32>,
    columns: &Global<u32>,
    values: &Global<f32>,
    inverse: &Global<f32>,
    b: &Global<f32>,
    x: &Global<f32>,
    next: &mut Global<f32>,
) {
    let row = global_id().x;
    if row < next.len() {
        let mut sum = 0.0;
        for k in starts[row] as usize..starts[row + 1] as usize {
            sum += values[k] * x[columns[k] as usize];
        }
        next[row] = relaxed(omega, inverse[row], x[row], b[row] - sum);
    }
}

/// A step, `LANES` threads to a row, a power of two up to 32. Rows as in [`jacobi_by_thread`], column and value together.
#[kernel(block = B, variants(LANES in [4, 8, 32], B in [128, 256]))]
pub fn jacobi_by_lanes<const LANES: usize, const B: usize>(
    omega: f32,
    starts: &Global<u32>,
    entries: &Global<Entry>,
    inverse: &Global<f32>,
    b: &Global<f32>,
    x: &Global<f32>,
    next: &mut Global<f32>,
) {
    let row = global_id().x / LANES;
    let lane = lane_id() % LANES;
    let mut sum = 0.0;
    if row < next.len() {
        for k in (starts[row] as usize + lane..starts[row + 1] as usize).step_by(LANES) {
            let entry = entries[k];
            sum += entry.value * x[entry.column as usize];
        }
    }
    // All lanes of the warp come here, those beyond the last row, too.
    let mut apart = LANES / 2;
    while apart > 0 {
        sum += shuffle_xor(sum, apart as u32);
        apart /= 2;
    }
    if row < next.len() && lane == 0 {
        next[row] = relaxed(omega, inverse[row], x[row], b[row] - sum);
    }
}

/// A step, a thread to a row. The entries of slice s, rows `32 * s` to `32 * s + 31`, begin at `slices[s]`; entry k of its row r is the `32 * k + r`-th.
#[kernel(
    block = B, variants(B in [128, 256], AHEAD in [1, 2, 4, 8]),
    // What the batch costs is what its variants show.
    allow(costly_batch),
)]
pub fn jacobi_sliced<const B: usize, const AHEAD: usize>(
    omega: f32,
    slices: &Global<u32>,
    entries: &Global<Entry>,
    inverse: &Global<f32>,
    b: &Global<f32>,
    x: &Global<f32>,
    next: &mut Global<f32>,
) {
    let row = global_id().x;
    if row < next.len() {
        let start = slices[row / 32] as usize;
        let width = (slices[row / 32 + 1] as usize - start) / 32;
        let (own, scale, right) = (x[row], inverse[row], b[row]);
        let mut sum = 0.0;
        #[ilp(AHEAD)]
        #[batch_loads(AHEAD > 1)]
        for k in 0..width {
            let entry = entries[start + k * 32 + row % 32];
            sum += entry.value * x[entry.column as usize];
        }
        next[row] = relaxed(omega, scale, own, right - sum);
    }
}

/// A sparse square matrix in compressed rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Where each row begins in `columns` and `values`, and where the last one ends: one more than there are rows.
    pub starts: Vec<u32>,
    /// The column of each element.
    pub columns: Vec<u32>,
    /// The elements.
    pub values: Vec<f32>,
}

impl Matrix {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Where the elements of a row are.
    pub fn range(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// Columns and values of a row.
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        self.range(row).map(|k| (self.columns[k] as usize, self.values[k]))
    }

    /// What the row has on the diagonal.
    fn diagonal(&self, row: usize) -> f32 {
        self.row(row).filter(|(column, _)| *column == row).map(|(_, value)| value).sum()
    }

    /// An `Err` where it is none: starts that do not begin with 0, rise, and end at the number of elements; a column that is no row; a value that is not finite; a row with
    /// elements and without a diagonal, by which Jacobi divides, or with one so large or small that 1 over it is no normal number of single precision.
    pub fn check(&self) -> Result<()> {
        let wrong = |why: String| Err(Error::Input(why));
        let (n, elements) = (self.rows(), self.columns.len());
        if self.values.len() != elements {
            return wrong(format!(
                "`columns` has {elements} elements, `values` has {}: make them as long as each other",
                self.values.len()
            ));
        }
        match (self.starts.first(), self.starts.last()) {
            (Some(0), Some(last)) if *last as usize == elements => {}
            (Some(0), Some(last)) => {
                return wrong(format!("`starts` ends at {last}, there are {elements} elements: it must end at their number"));
            }
            (Some(first), _) => return wrong(format!("`starts` begins with {first}: it must begin with 0")),
            _ => return wrong("`starts` is empty: it has one element more than there are rows, so [0] is the matrix without rows".into()),
        }
        if let Some(row) = (0..n).find(|row| self.starts[*row] > self.starts[row + 1]) {
            return wrong(format!("row {row} begins at {} and ends at {}: `starts` must not fall", self.starts[row], self.starts[row + 1]));
        }
        for row in 0..n {
            if let Some((column, _)) = self.row(row).find(|(column, _)| *column >= n) {
                return wrong(format!("row {row} has an element in column {column}: there are {n} columns"));
            }
            if let Some((column, value)) = self.row(row).find(|(_, value)| !value.is_finite()) {
                return wrong(format!("row {row} has {value} in column {column}: it must be finite"));
            }
            let diagonal = self.diagonal(row);
            if !self.range(row).is_empty() && diagonal == 0.0 {
                return wrong(format!("row {row} has elements, but 0 on the diagonal: a step of Jacobi divides by it"));
            }
            // An inverse of 0 would say that the row is empty.
            if !self.range(row).is_empty() && !(1.0 / diagonal).is_normal() {
                let (least, most) = (1.0 / f32::MAX, 1.0 / f32::MIN_POSITIVE);
                return wrong(format!(
                    "row {row} has {diagonal:e} on the diagonal, by which a step of Jacobi divides: its magnitude must be within {least:e} and {most:e}"
                ));
            }
        }
        Ok(())
    }
}

/// Equations, and where their solution is begun from.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The matrix A, symmetric and positive definite where it comes from a mesh.
    pub matrix: Matrix,
    /// The right side; one element a row.
    pub b: Vec<f32>,
    /// What is begun from; one element a row.
    pub x: Vec<f32>,
    /// ω, the weight of a step. With linear elements on triangles the steps lead to the solution if it is below 2/3, on whatever mesh.
    pub omega: f32,
    /// Steps of a run.
    pub steps: usize,
}

impl Input {
    /// `-Δu + u = f` on [`Mesh::new`]'s mesh from a grid of `width` × `height` nodes, with a smooth f, from random numbers in 0 to 1.
    pub fn new(seed: u64, width: usize, height: usize, steps: usize) -> Input {
        let mesh = Mesh::new(seed, width, height);
        let mut random = fastrand::Rng::with_seed(seed ^ 0xfe);
        let source = |[x, y]: [f64; 2]| 1.0 + (3.0 * x).sin() * (5.0 * y).cos();
        let (matrix, b) = mesh.assemble(1.0, 1.0, source).expect("a mesh that is drawn is right");
        let x = (0..matrix.rows()).map(|_| random.f32()).collect();
        Input { matrix, b, x, omega: 0.65, steps }
    }

    /// An `Err` where the matrix is none, where a vector has not one element a row, and where `b` or `omega` is not finite. What is no number in `x` spreads by one
    /// element of the matrix a step.
    fn check(&self) -> Result<()> {
        self.matrix.check()?;
        let n = self.matrix.rows();
        for (name, length) in [("b", self.b.len()), ("x", self.x.len())] {
            if length != n {
                return Err(Error::Input(format!("`{name}` has {length} elements, the matrix has {n} rows: make them as many")));
            }
        }
        if let Some(row) = self.b.iter().position(|b| !b.is_finite()) {
            return Err(Error::Input(format!("`b` of row {row} is {}: it must be finite", self.b[row])));
        }
        if !self.omega.is_finite() {
            return Err(Error::Input(format!(
                "`omega` is {}: it must be finite, and steps lead to a solution where it is below 2/3",
                self.omega
            )));
        }
        Ok(())
    }

    /// x after the steps of a run, in double precision.
    pub fn reference(&self) -> Vec<f64> {
        self.walked().0
    }

    /// For each row, by how much single precision may be off after the steps of a run: every rounding of a row's sum at its greatest, handed on by the matrix.
    pub fn error_bound(&self) -> Vec<f64> {
        self.walked().1
    }

    /// x and the bound of its error after the steps of a run.
    fn walked(&self) -> (Vec<f64>, Vec<f64>) {
        const UNIT: f64 = f32::EPSILON as f64 / 2.0;
        let omega = f64::from(self.omega);
        let mut x: Vec<f64> = self.x.iter().map(|x| f64::from(*x)).collect();
        let mut errors = vec![0.0; x.len()];
        for _ in 0..self.steps {
            let (from, before) = (x.clone(), errors.clone());
            for row in 0..self.matrix.rows() {
                let range = self.matrix.range(row);
                if range.is_empty() {
                    continue;
                }
                let (mut product, mut diagonal, mut magnitude, mut handed_on) = (0.0, 0.0, f64::from(self.b[row]).abs(), 0.0);
                for k in range.clone() {
                    let (column, value) = (self.matrix.columns[k] as usize, f64::from(self.matrix.values[k]));
                    product += value * from[column];
                    magnitude += (value * from[column]).abs();
                    if column == row {
                        diagonal += value;
                    } else {
                        handed_on += value.abs() * before[column];
                    }
                }
                let factor = omega / diagonal;
                x[row] = from[row] + factor * (f64::from(self.b[row]) - product);
                // A product and a sum for each element, then `b -`, `1 / D`, `omega *`, the product of both, and the sum with x: five.
                let rounded = (range.len() + 6) as f64 * UNIT;
                errors[row] = (1.0 - omega).abs() * before[row]
                    + factor.abs() * handed_on
                    + rounded * (from[row].abs() + factor.abs() * magnitude)
                    + UNIT * x[row].abs();
            }
        }
        (x, errors)
    }

    /// One step from `x` for some of the rows, by one core: `next` has an element for each of `rows`.
    pub fn one_core(&self, inverse: &[f32], x: &[f32], rows: Range<usize>, next: &mut [f32]) {
        let bounds = &self.matrix.starts[rows.start..=rows.end];
        for ((row, next), bounds) in rows.zip(next).zip(bounds.windows(2)) {
            let range = bounds[0] as usize..bounds[1] as usize;
            let elements = self.matrix.columns[range.clone()].iter().zip(&self.matrix.values[range]);
            let sum: f32 = elements.map(|(column, value)| value * x[*column as usize]).sum();
            *next = if inverse[row] == 0.0 { x[row] } else { x[row] + self.omega * inverse[row] * (self.b[row] - sum) };
        }
    }

    /// 1 over each row's diagonal, 0 where a row is empty.
    pub fn inverse_diagonal(&self) -> Vec<f32> {
        let inverse = |row| if self.matrix.range(row).is_empty() { 0.0 } else { 1.0 / self.matrix.diagonal(row) };
        (0..self.matrix.rows()).map(inverse).collect()
    }

    /// Where each slice of 32 rows begins, and the entries of all. What fills a row up is 0 in the row's own column: it asks for no other node.
    fn sliced(&self) -> (Vec<u32>, Vec<Entry>) {
        let n = self.matrix.rows();
        let (mut slices, mut entries) = (vec![0], Vec::new());
        for first in (0..n).step_by(32) {
            let width = (first..n.min(first + 32)).map(|row| self.matrix.range(row).len()).max().unwrap_or(0);
            let start = entries.len();
            entries.resize(start + 32 * width, Entry { column: first as u32, value: 0.0 });
            for row in first..n.min(first + 32) {
                let lane = start + row - first;
                for (k, (column, value)) in self.matrix.row(row).enumerate() {
                    entries[lane + 32 * k] = Entry { column: column as u32, value };
                }
                for k in self.matrix.range(row).len()..width {
                    entries[lane + 32 * k].column = row as u32;
                }
            }
            slices.push(entries.len() as u32);
        }
        (slices, entries)
    }
}

/// One of a kernel's variants: [`jacobi_by_thread`], to which a matrix is three arrays; and [`jacobi_by_lanes`] or [`jacobi_sliced`], to which it is two.
type OfArrays = for<'l> fn(
    f32,
    &'l Buffer<u32>,
    &'l Buffer<u32>,
    &'l Buffer<f32>,
    &'l Buffer<f32>,
    &'l Buffer<f32>,
    &'l Buffer<f32>,
    &'l mut Buffer<f32>,
) -> Launch<'l>;
type OfEntries = for<'l> fn(
    f32,
    &'l Buffer<u32>,
    &'l Buffer<Entry>,
    &'l Buffer<f32>,
    &'l Buffer<f32>,
    &'l Buffer<f32>,
    &'l mut Buffer<f32>,
) -> Launch<'l>;

/// Equations on a device.
pub struct Resident {
    omega: f32,
    steps: usize,
    starts: Buffer<u32>,
    columns: Buffer<u32>,
    values: Buffer<f32>,
    entries: Buffer<Entry>,
    slices: Buffer<u32>,
    sliced: Buffer<Entry>,
    inverse: Buffer<f32>,
    b: Buffer<f32>,
    x: Buffer<f32>,
    next: Buffer<f32>,
}

impl Resident {
    /// Uploads equations in every form that the kernels take. An `Err` where the [matrix](Matrix::check) is none, where a vector has not one element a row, and where
    /// `b` or `omega` is not finite.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        input.check()?;
        let Matrix { starts, columns, values } = &input.matrix;
        let (slices, sliced) = input.sliced();
        if u32::try_from(sliced.len()).is_err() {
            return Err(Error::Input(format!("the slices have {} entries: there must be fewer than 2³²", sliced.len())));
        }
        let entries: Vec<Entry> = columns.iter().zip(values).map(|(column, value)| Entry { column: *column, value: *value }).collect();
        Ok(Resident {
            omega: input.omega,
            steps: input.steps,
            starts: device.upload(starts)?,
            columns: device.upload(columns)?,
            values: device.upload(values)?,
            entries: device.upload(&entries)?,
            slices: device.upload(&slices)?,
            sliced: device.upload(&sliced)?,
            inverse: device.upload(&input.inverse_diagonal())?,
            b: device.upload(&input.b)?,
            x: device.upload(&input.x)?,
            next: device.zeros(input.matrix.rows())?,
        })
    }

    /// The steps of a run with [`jacobi_by_thread`]. A further run goes on from where this one ends, and so with the others.
    pub fn run_by_thread<const B: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_by_thread_of(jacobi_by_thread::<B>, go)
    }

    fn run_by_thread_of(&mut self, kernel: OfArrays, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.each_step(|r| go(kernel(r.omega, &r.starts, &r.columns, &r.values, &r.inverse, &r.b, &r.x, &mut r.next).cover(r.b.len())))
    }

    /// The steps of a run with [`jacobi_by_lanes`].
    pub fn run_by_lanes<const LANES: usize, const B: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_by_lanes_of((jacobi_by_lanes::<LANES, B>, LANES), go)
    }

    fn run_by_lanes_of(&mut self, (kernel, lanes): (OfEntries, usize), go: &mut Go<'_>) -> warpwright::Result<()> {
        self.each_step(|r| go(kernel(r.omega, &r.starts, &r.entries, &r.inverse, &r.b, &r.x, &mut r.next).cover(r.b.len() * lanes)))
    }

    /// The steps of a run with [`jacobi_sliced`].
    pub fn run_sliced<const B: usize, const AHEAD: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_sliced_of(jacobi_sliced::<B, AHEAD>, go)
    }

    fn run_sliced_of(&mut self, kernel: OfEntries, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.each_step(|r| go(kernel(r.omega, &r.slices, &r.sliced, &r.inverse, &r.b, &r.x, &mut r.next).cover(r.b.len())))
    }

    /// Makes the launches of a run: one a step, none where there are no rows. After each, what it wrote is x.
    fn each_step(&mut self, mut step: impl FnMut(&mut Resident) -> warpwright::Result<()>) -> warpwright::Result<()> {
        if self.b.is_empty() {
            return Ok(());
        }
        for _ in 0..self.steps {
            step(self)?;
            std::mem::swap(&mut self.x, &mut self.next);
        }
        Ok(())
    }

    /// x as it is by now.
    pub fn result(&self) -> Result<Vec<f32>> {
        Ok(self.x.download()?)
    }
}

/// The declared variants of [`jacobi_by_thread`], [`jacobi_by_lanes`] and [`jacobi_sliced`].
pub fn declared() -> Vec<Declared<Resident>> {
    let by_thread = Declared::each(jacobi_by_thread_variants(), |_| (), |r: &mut Resident, v, go| r.run_by_thread_of(v.kernel(), go));
    let by_lanes =
        Declared::each(jacobi_by_lanes_variants(), |_| (), |r: &mut Resident, v, go| r.run_by_lanes_of((v.kernel(), axis(v, "LANES")), go));
    let sliced = Declared::each(jacobi_sliced_variants(), |_| (), |r: &mut Resident, v, go| r.run_sliced_of(v.kernel(), go));
    by_thread.chain(by_lanes).chain(sliced).collect()
}
