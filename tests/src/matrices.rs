//! Matrices on the host, for tests of kernels that take some.

/// Numbers that are exact in every format used here.
pub fn number(i: usize) -> u8 {
    ((i * 7919 + 13) % 31) as u8 + 1
}

/// A matrix on the host: everything in its buffer, with what lies between the rows and behind them.
#[derive(Clone, Debug)]
pub struct Held<T> {
    /// Every element of the buffer.
    pub all: Vec<T>,
    /// How many rows.
    pub rows: usize,
    /// Elements of each.
    pub columns: usize,
    /// Elements from row to row.
    pub pitch: usize,
}

impl<T: Copy> Held<T> {
    /// Rows of so many elements, so many from row to row, and some behind the last.
    pub fn new([rows, columns, pitch, behind]: [usize; 4], of: impl Fn(usize) -> T) -> Held<T> {
        let used = if rows == 0 { 0 } else { (rows - 1) * pitch + columns };
        Held { all: (0..used + behind).map(of).collect(), rows, columns, pitch }
    }

    /// An element's place in the buffer, if it is inside.
    pub fn place(&self, row: usize, column: usize) -> Option<usize> {
        (row < self.rows && column < self.columns).then(|| row * self.pitch + column)
    }

    /// An element, zero outside.
    pub fn get(&self, row: usize, column: usize, zero: T) -> T {
        self.place(row, column).map_or(zero, |place| self.all[place])
    }

    /// Writes an element, but not outside.
    pub fn set(&mut self, row: usize, column: usize, value: T) {
        if let Some(place) = self.place(row, column) {
            self.all[place] = value;
        }
    }
}
