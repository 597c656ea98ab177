//! FEM: 8 bytes and 2 operations an element of the matrix, 20 bytes and 4 operations a row, and a gather that the cache serves.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::fem::{self, Entry, Input, Matrix, Resident};
use warpwright_review::machine::Pipe;

pub(super) struct Fem {
    input: Input,
}

pub(super) struct Theirs {
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

fn twin(p: &Fem, twins: &Twins, t: &Theirs, variant: u32) -> Outcome<f64> {
    twins.fem(
        variant,
        p.input.steps as u32,
        p.input.omega,
        at(&t.starts),
        at(&t.columns),
        at(&t.values),
        at(&t.entries),
        at(&t.slices),
        at(&t.sliced),
        at(&t.inverse),
        at(&t.b),
        at(&t.x),
        at(&t.next),
        t.b.len() as u32,
    )
}

/// Slices of 32 rows: where each begins, and the entries, the k-th ones of its rows next to each other. What fills a row up is 0 in its own column.
fn sliced(matrix: &Matrix) -> (Vec<u32>, Vec<Entry>) {
    let (mut slices, mut entries) = (vec![0], Vec::new());
    for first in (0..matrix.rows()).step_by(32) {
        let rows = first..matrix.rows().min(first + 32);
        let width = rows.clone().map(|row| matrix.range(row).len()).max().unwrap_or(0);
        for k in 0..width {
            let entry = |row: usize| match matrix.range(row).nth(k) {
                Some(at) if row < rows.end => Entry { column: matrix.columns[at], value: matrix.values[at] },
                _ => Entry { column: row as u32, value: 0.0 },
            };
            entries.extend((first..rows.end).map(entry));
            entries.resize(entries.len().next_multiple_of(32), Entry { column: first as u32, value: 0.0 });
        }
        slices.push(entries.len() as u32);
    }
    (slices, entries)
}

impl Application for Fem {
    const NAME: &'static str = "fem";
    const DECLARED: Declaring<Self> = |_| fem::declared();
    type Form = ();
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Fem, Expected)> {
        let (side, steps) = size.pick((1_536, 4), (512, 4), (13, 2));
        let input = Input::new(8, side, side, steps);
        let twice = Input { steps: 2 * steps, ..input.clone() };
        let expected = Expected::all(Known::Floats(twice.reference()), "the reference", Tolerance::Each(twice.error_bound()));
        Ok((Fem { input }, expected))
    }

    fn input(&self) -> String {
        format!("{} rows, {} elements, {} steps", self.input.matrix.rows(), self.input.matrix.values.len(), self.input.steps)
    }

    fn variants() -> Vec<TimedVariant<Fem>> {
        vec![
            Self::variant("a thread a row", (), |_, r, go| r.run_by_thread::<128>(go), |p, w, t| twin(p, w, t, 0)),
            Self::variant("4 lanes a row", (), |_, r, go| r.run_by_lanes::<4, 128>(go), |p, w, t| twin(p, w, t, 4)),
            Self::variant("8 lanes a row", (), |_, r, go| r.run_by_lanes::<8, 128>(go), |p, w, t| twin(p, w, t, 8)),
            Self::variant("a warp a row", (), |_, r, go| r.run_by_lanes::<32, 128>(go), |p, w, t| twin(p, w, t, 32)),
            Self::variant("slices", (), |_, r, go| r.run_sliced::<128, 1>(go), |p, w, t| twin(p, w, t, 101)),
            Self::variant("slices, 4 ahead", (), |_, r, go| r.run_sliced::<128, 4>(go), |p, w, t| twin(p, w, t, 104)),
            Self::variant("slices, 8 ahead", (), |_, r, go| r.run_sliced::<128, 8>(go), |p, w, t| twin(p, w, t, 108)),
        ]
    }

    /// Of a row its beginning, b, 1 over the diagonal, x and the result.
    fn work(&self, (): ()) -> Work {
        let (rows, elements) = (self.input.matrix.rows() as f64, self.input.matrix.values.len() as f64);
        let steps = self.input.steps as f64;
        Work::bytes((8.0 * elements + 20.0 * rows) * steps).and(Pipe::Single, (2.0 * elements + 4.0 * rows) * steps)
    }

    fn one_core(&self) -> Task<'_> {
        let (inverse, rows) = (self.input.inverse_diagonal(), self.input.matrix.rows());
        let mut next = vec![0.0; rows];
        Task::new(1.0 / self.input.steps as f64, move || {
            self.input.one_core(&inverse, &self.input.x, 0..rows, &mut next);
            next[0]
        })
    }

    fn ours(&self, device: &Device, (): ()) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Floats(ours.result()?))
    }

    fn theirs(&self, device: &Device, (): ()) -> Outcome<Theirs> {
        let Matrix { starts, columns, values } = &self.input.matrix;
        let entries: Vec<Entry> = columns.iter().zip(values).map(|(column, value)| Entry { column: *column, value: *value }).collect();
        let (slices, sliced) = sliced(&self.input.matrix);
        Ok(Theirs {
            starts: device.upload(starts)?,
            columns: device.upload(columns)?,
            values: device.upload(values)?,
            entries: device.upload(&entries)?,
            slices: device.upload(&slices)?,
            sliced: device.upload(&sliced)?,
            inverse: device.upload(&self.input.inverse_diagonal())?,
            b: device.upload(&self.input.b)?,
            x: device.upload(&self.input.x)?,
            next: device.zeros(self.input.x.len())?,
        })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        Ok(Results::Floats(theirs.x.download()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_have_every_element_once_and_zeros_elsewhere() {
        let matrix = Input::new(1, 9, 5, 1).matrix;
        let (slices, entries) = sliced(&matrix);
        assert_eq!((slices.len(), slices[0], *slices.last().expect("there is one") as usize), (3, 0, entries.len()));
        for row in 0..matrix.rows() {
            let start = slices[row / 32] as usize + row % 32;
            let mut found: Vec<(u32, f32)> =
                (start..slices[row / 32 + 1] as usize).step_by(32).map(|at| (entries[at].column, entries[at].value)).collect();
            let own: Vec<(u32, f32)> = matrix.range(row).map(|at| (matrix.columns[at], matrix.values[at])).collect();
            let filled = found.split_off(own.len());
            assert_eq!(found, own);
            assert!(filled.iter().all(|entry| *entry == (row as u32, 0.0)), "row {row}: {filled:?}");
        }
    }
}
