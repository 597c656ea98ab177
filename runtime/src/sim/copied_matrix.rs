//! Matrices that the copy engine finds tiles of.

use super::registers::{Reg, Registers};
use warpwright_codegen::target::limits::VECTOR_BYTES;

/// A matrix, by registers. All lanes may have others.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopiedMatrix {
    pub(super) rows: Reg,
    pub(super) columns: Reg,
    pub(super) pitch: Reg,
    /// Of one of several: its number, how many there are, and the stride.
    pub(super) batch: Option<[Reg; 3]>,
}

impl CopiedMatrix {
    /// That of a lane.
    pub(super) fn of_lane(&self, registers: &Registers, lane: usize) -> LaneMatrix {
        let value = |reg: Reg| registers.lane(reg, lane);
        let [index, count, stride] = self.batch.map_or([0, 1, 0], |batch| batch.map(value));
        LaneMatrix {
            // Of one that is not there, no row is.
            rows: if index < count { value(self.rows) } else { 0 },
            columns: value(self.columns),
            pitch: value(self.pitch),
            // Of one alone it says nothing.
            stride: if count > 1 { stride } else { 0 },
            first: index.wrapping_mul(stride),
        }
    }
}

/// A matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneMatrix {
    rows: u64,
    columns: u64,
    pitch: u64,
    stride: u64,
    /// Its first element in the buffer.
    first: u64,
}

impl LaneMatrix {
    /// The pitch, or the stride, of elements of so many bytes that no map has. One without elements has neither.
    pub(super) fn unaligned(&self, element: u64) -> Option<u64> {
        if self.rows == 0 || self.columns == 0 {
            return None;
        }
        [self.pitch, self.stride].into_iter().find(|elements| !(elements * element).is_multiple_of(VECTOR_BYTES as u64))
    }

    /// Of `wanted` elements of a row from a column on: the place of the first in the buffer, and how many are there.
    pub(super) fn run(&self, row: u64, column: u64, wanted: u64) -> (u64, u64) {
        let there = if row < self.rows { wanted.min(self.columns.saturating_sub(column)) } else { 0 };
        (self.first.wrapping_add(row.wrapping_mul(self.pitch)).wrapping_add(column), there)
    }
}
