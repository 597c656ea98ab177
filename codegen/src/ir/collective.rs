//! Copies that the threads of a block make together: between a shared array and a buffer, or a matrix in one.
//!
//! All threads of the block come to a collective with equal operands. It is plain by meaning: when it is done, every element has been copied. Who moves
//! which element is left open, so no thread, not even the one that moved it, may read an element before the next barrier; nor is anything
//! ordered. They are instructions up to `schedule`, where `pipeline` may give their copies to the hardware and the pass `collectives` makes
//! loads and stores of all others: no other pass, back end, device or lint sees one.

use super::{Access, Effects, Object, Scope, Value};

/// A matrix in a buffer, row after row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PitchedMatrix {
    /// The buffer. The matrix begins at its first element.
    pub data: Object,
    /// How many rows it has; the kernel's index type, as all that follow.
    pub rows: Value,
    /// Elements of a row.
    pub columns: Value,
    /// Elements from the start of a row to the start of the next.
    pub pitch: Value,
    /// Which matrix it is, if the buffer has several.
    pub batch: Option<BatchIndex>,
}

/// A matrix's place among others of the same shape in one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchIndex {
    /// Its number. All elements of one that is not there are outside.
    pub index: Value,
    /// How many there are.
    pub count: Value,
    /// Elements from the start of a matrix to the start of the next.
    pub stride: Value,
}

impl PitchedMatrix {
    /// Which element of which matrix, in order: rows, columns, pitch, row, column; of one of several its number, how many there are, and the stride.
    pub fn place(&self, row: Value, column: Value) -> Vec<Value> {
        let batch = self.batch.map(|batch| [batch.index, batch.count, batch.stride]);
        [self.rows, self.columns, self.pitch, row, column].into_iter().chain(batch.into_iter().flatten()).collect()
    }

    /// Of what [`PitchedMatrix::place`] gives: the matrix, row and column.
    pub fn from_place(data: Object, place: &[Value]) -> Option<(PitchedMatrix, Value, Value)> {
        let (&[rows, columns, pitch, row, column], batch) = place.split_first_chunk()?;
        let batch = match *batch {
            [] => None,
            [index, count, stride] => Some(BatchIndex { index, count, stride }),
            _ => return None,
        };
        Some((PitchedMatrix { data, rows, columns, pitch, batch }, row, column))
    }
}

/// A copy that a block makes. The shared array has a fixed length and may be an element of a larger array, as a ring's slot is.
#[derive(Clone, Debug, PartialEq)]
pub enum Collective {
    /// `to[i] = from[start + i]` for all elements of an array; zero where `from` has no such element.
    LoadRun {
        /// An array `[T; N]`.
        to: Access,
        /// A buffer of `T`.
        from: Object,
        /// The first element; its place in bytes is a multiple of 16.
        start: Value,
    },
    /// `to[r][c] = from[(row + r, column + c)]` for all elements of an array of rows; zero outside of the matrix.
    LoadTile {
        /// An array `[[T; C]; R]`.
        to: Access,
        /// A matrix of `T`.
        from: PitchedMatrix,
        /// The matrix's row that is the first of the array.
        row: Value,
        /// The same of columns.
        column: Value,
    },
    /// `to[(row + r, column + c)] = from[r][c]` for all elements of an array of rows; what is outside of the matrix is left out.
    StoreTile {
        /// A matrix of `T`.
        to: PitchedMatrix,
        /// The matrix's row that the first of the array is written to.
        row: Value,
        /// The same of columns.
        column: Value,
        /// An array `[[T; C]; R]`.
        from: Access,
    },
}

impl Collective {
    /// Its word in the text form and its name in the source.
    pub fn word(&self) -> &'static str {
        match self {
            Collective::LoadRun { .. } => "load_run",
            Collective::LoadTile { .. } => "load_tile",
            Collective::StoreTile { .. } => "store_tile",
        }
    }

    /// The shared array.
    pub fn array(&self) -> &Access {
        match self {
            Collective::LoadRun { to, .. } | Collective::LoadTile { to, .. } => to,
            Collective::StoreTile { from, .. } => from,
        }
    }

    /// The same, to replace it.
    pub fn array_mut(&mut self) -> &mut Access {
        match self {
            Collective::LoadRun { to, .. } | Collective::LoadTile { to, .. } => to,
            Collective::StoreTile { from, .. } => from,
        }
    }

    /// The buffer.
    pub fn buffer(&self) -> Object {
        match self {
            Collective::LoadRun { from, .. } => *from,
            Collective::LoadTile { from: matrix, .. } | Collective::StoreTile { to: matrix, .. } => matrix.data,
        }
    }

    /// The same, to replace it.
    pub fn buffer_mut(&mut self) -> &mut Object {
        match self {
            Collective::LoadRun { from, .. } => from,
            Collective::LoadTile { from: matrix, .. } | Collective::StoreTile { to: matrix, .. } => &mut matrix.data,
        }
    }

    /// Whether it writes the shared array, and reads the buffer.
    pub fn is_load(&self) -> bool {
        match self {
            Collective::LoadRun { .. } | Collective::LoadTile { .. } => true,
            Collective::StoreTile { .. } => false,
        }
    }

    /// What it asks of the place in the buffer, in order: start; or [`PitchedMatrix::place`].
    pub fn place(&self) -> Vec<Value> {
        match self {
            Collective::LoadRun { start, .. } => vec![*start],
            Collective::LoadTile { from: matrix, row, column, .. } | Collective::StoreTile { to: matrix, row, column, .. } => {
                matrix.place(*row, *column)
            }
        }
    }

    /// What it may do. It orders nothing: that is the next barrier's.
    pub fn effects(&self) -> Effects {
        let (array, buffer) = (self.array().object, self.buffer());
        let (reads, writes) = if self.is_load() { (buffer, array) } else { (array, buffer) };
        Effects { reads: Some(reads).into(), writes: Some(writes), converges: Some(Scope::Block), can_fault: true, ..Effects::PURE }
    }
}
