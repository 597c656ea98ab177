//! Which sums a thread owns.
//!
//! Both the number of a thread and the number of one of its sums are taken apart into digits, outermost first, and each digit is so many rows and columns: the place of a sum is
//! the thread's plus the sum's. So one description serves every way to share out: what a tensor core's instruction says of lanes and registers (PTX ISA, "Matrix fragments"), and
//! register tiles of threads that multiply one by one.

use super::thread_number;
use crate::ir::{BinaryOp, Builder, Value, WARPGROUP, WARPGROUP_ROWS};

/// A digit of a number: how many values it has, and how far each is from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digit {
    count: u64,
    rows: u64,
    columns: u64,
}

const fn rows(count: u64, rows: u64) -> Digit {
    Digit { count, rows, columns: 0 }
}

const fn columns(count: u64, columns: u64) -> Digit {
    Digit { count, rows: 0, columns }
}

/// Who owns which of M × N sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    thread: Vec<Digit>,
    element: Vec<Digit>,
    /// Rows and columns of a warp, where warps own rectangles of rows of 16 and columns of 8.
    warp: Option<[u64; 2]>,
}

impl Partition {
    /// Register tiles, as square as they can be: a thread's columns are runs of up to 4 neighbours, and those of the threads of a row lie between them.
    pub(super) fn of_threads(threads: u64, [m, n]: [u64; 2]) -> Partition {
        let own = (m * n / threads).max(1);
        // Threads in a column, and in a row, with which every side is a whole number of tiles.
        let fits = |down: &u64| {
            let across = threads / down;
            threads.is_multiple_of(*down) && m.is_multiple_of(*down) && n.is_multiple_of(across)
        };
        let cost = |down: u64| m / down + n / (threads / down);
        // Of equals the widest: neighbours of a row meet different banks.
        let down = (1..=threads).filter(fits).min_by_key(|down| (cost(*down), *down)).unwrap_or(1);
        let across = threads / down;
        let (tall, wide) = (m / down, (n / across).max(own / (m / down).max(1)));
        let run = [4, 2, 1].into_iter().find(|run| wide.is_multiple_of(*run)).unwrap_or(1);
        Partition {
            thread: vec![rows(down, 1), columns(across, run)],
            element: vec![rows(tall, down), columns(wide / run, run * across), columns(run, 1)],
            warp: None,
        }
    }

    /// Rectangles of warps, as square as they can be, of the shapes of `mma`: 16 rows, 16 columns. None if they cannot be made of as many threads.
    pub(super) fn of_warps(threads: u64, [m, n]: [u64; 2]) -> Option<Partition> {
        let warps = threads / 32;
        let fits = |down: &u64| {
            let across = warps / down;
            warps.is_multiple_of(*down) && m.is_multiple_of(16 * down) && n.is_multiple_of(16 * across)
        };
        let down = (1..=warps).filter(fits).min_by_key(|down| (m / down + n / (warps / down), *down))?;
        let [tall, wide] = [m / down, n * down / warps];
        Some(Partition {
            thread: vec![rows(down, tall), columns(warps / down, wide), rows(8, 1), columns(4, 2)],
            element: vec![rows(tall / 16, 16), columns(wide / 8, 8), rows(2, 8), columns(2, 1)],
            warp: Some([tall, wide]),
        })
        .filter(|_| threads.is_multiple_of(32))
    }

    /// Strips of warpgroups below each other, as `wgmma` has them: of each 64 rows a warp has 16. None if they cannot be made of as many threads.
    pub(super) fn of_warpgroups(threads: u64, [m, n]: [u64; 2]) -> Option<Partition> {
        let groups = threads / WARPGROUP;
        let fits = threads.is_multiple_of(WARPGROUP) && groups > 0 && m.is_multiple_of(WARPGROUP_ROWS * groups) && n.is_multiple_of(16);
        fits.then(|| Partition {
            thread: vec![rows(groups, m / groups), rows(4, 16), rows(8, 1), columns(4, 2)],
            element: vec![rows(m / groups / WARPGROUP_ROWS, WARPGROUP_ROWS), columns(n / 8, 8), rows(2, 8), columns(2, 1)],
            warp: Some([m / groups / 4, n]),
        })
    }

    /// The same among the rows of a warpgroup, which begin at 0.
    pub(super) fn within_warpgroups(&self) -> Partition {
        let mut within = self.clone();
        if let Some(groups) = within.thread.first_mut() {
            groups.rows = 0;
        }
        within
    }

    /// How many rows further on a warp's next 16 are.
    pub(super) fn stride(&self) -> u64 {
        self.element[0].rows
    }

    /// The first row of a thread's warpgroup, and how many it has.
    pub(super) fn rows_of_warpgroup(&self, b: &mut Builder<'_>) -> (Value, u64) {
        let index = b.kernel.index_type();
        let thread = thread_number(b, index);
        let threads = b.int(index, i128::from(WARPGROUP));
        let group = b.binary(BinaryOp::Div, thread, threads);
        let [row, _] = along(b, &self.thread[..1], group);
        (row, self.thread[0].rows)
    }

    /// Rows and columns of a warp.
    pub(super) fn warp(&self) -> Option<[u64; 2]> {
        self.warp
    }

    /// Sums of a thread.
    #[cfg(test)]
    fn own(&self) -> u64 {
        self.element.iter().map(|digit| digit.count).product()
    }

    /// How many sums that follow each other are neighbours in a row.
    pub(super) fn neighbours(&self) -> u64 {
        self.element.last().filter(|digit| digit.columns == 1).map_or(1, |digit| digit.count)
    }

    /// Whether a warp has whole rows: 16 of each strip, in the lanes that instructions have them in.
    pub(super) fn is_by_rows(&self) -> bool {
        self.warp.is_some() && self.thread[..self.thread.len() - 1].iter().all(|digit| digit.columns == 0)
    }

    /// How many columns the first sums of threads are apart at most.
    pub(super) fn columns_of_threads(&self) -> u64 {
        self.thread.iter().map(|digit| (digit.count - 1) * digit.columns).sum()
    }

    /// How far a sum of this number is from the thread's first.
    pub(super) fn place(&self, mut element: u64) -> [u64; 2] {
        let mut place = [0, 0];
        for digit in self.element.iter().rev() {
            let at = element % digit.count;
            element /= digit.count;
            place = [place[0] + at * digit.rows, place[1] + at * digit.columns];
        }
        place
    }

    /// Where a thread's first sum is.
    pub(super) fn base(&self, b: &mut Builder<'_>) -> [Value; 2] {
        let index = b.kernel.index_type();
        let thread = thread_number(b, index);
        along(b, &self.thread, thread)
    }

    /// Where the first sum of a thread's warp is.
    pub(super) fn base_of_warp(&self, b: &mut Builder<'_>) -> [Value; 2] {
        let index = b.kernel.index_type();
        let thread = thread_number(b, index);
        let lanes = b.int(index, 32);
        let warp = b.binary(BinaryOp::Div, thread, lanes);
        along(b, &self.thread[..2], warp)
    }

    /// Where a sum is whose number is not known.
    pub(super) fn position(&self, b: &mut Builder<'_>, element: Value) -> [Value; 2] {
        let base = self.base(b);
        if let Some(element) = b.kernel.constant(element) {
            let place = self.place(element.bits);
            return [super::plus(b, base[0], place[0]), super::plus(b, base[1], place[1])];
        }
        let place = along(b, &self.element, element);
        [0, 1].map(|side| b.binary(BinaryOp::Add, base[side], place[side]))
    }
}

/// The place that a number leads to by its digits.
fn along(b: &mut Builder<'_>, digits: &[Digit], number: Value) -> [Value; 2] {
    let ty = b.kernel.ty(number);
    let mut place: [Option<Value>; 2] = [None, None];
    let mut rest = Some(number);
    for (n, digit) in digits.iter().enumerate().rev() {
        let Some(left) = rest else { break };
        if digit.count == 1 {
            continue;
        }
        // What is outermost is what is left.
        let is_last = digits[..n].iter().all(|digit| digit.count == 1);
        let count = b.int(ty, i128::from(digit.count));
        let at = if is_last { left } else { b.binary(BinaryOp::Rem, left, count) };
        rest = (!is_last).then(|| b.binary(BinaryOp::Div, left, count));
        for (side, far) in [digit.rows, digit.columns].into_iter().enumerate() {
            if far == 0 {
                continue;
            }
            let far = b.int(ty, i128::from(far));
            let distance = b.binary(BinaryOp::Mul, at, far);
            place[side] = Some(place[side].map_or(distance, |before| b.binary(BinaryOp::Add, before, distance)));
        }
    }
    place.map(|side| side.unwrap_or_else(|| b.int(ty, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a thread's first sum is.
    fn base(partition: &Partition, mut thread: u64) -> [u64; 2] {
        let mut place = [0, 0];
        for digit in partition.thread.iter().rev() {
            let at = thread % digit.count;
            thread /= digit.count;
            place = [place[0] + at * digit.rows, place[1] + at * digit.columns];
        }
        place
    }

    fn covers(partition: &Partition, threads: u64, [m, n]: [u64; 2]) {
        let mut owned = vec![0; (m * n) as usize];
        assert_eq!(partition.own() * threads, m * n, "{partition:?}");
        for thread in 0..threads {
            let base = base(partition, thread);
            for element in 0..partition.own() {
                let place = partition.place(element);
                owned[((base[0] + place[0]) * n + base[1] + place[1]) as usize] += 1;
            }
        }
        assert!(owned.iter().all(|owners| *owners == 1), "{m} x {n}, {threads} threads: {partition:?}");
    }

    #[test]
    fn every_sum_has_one_owner() {
        for threads in [1, 32, 64, 96, 128, 256, 384, 512, 1024] {
            for [m, n] in [
                [16, 16],
                [32, 32],
                [64, 64],
                [128, 64],
                [64, 128],
                [128, 128],
                [128, 256],
                [256, 128],
                [96, 96],
                [48, 112],
                [1, 1024],
                [1024, 1],
                [3, 1024],
            ] {
                let own = m * n / threads;
                if own * threads == m * n && own > 0 {
                    covers(&Partition::of_threads(threads, [m, n]), threads, [m, n]);
                }
                let shapes = [Partition::of_warps(threads, [m, n]), Partition::of_warpgroups(threads, [m, n])];
                shapes.into_iter().flatten().for_each(|partition| covers(&partition, threads, [m, n]));
            }
        }
    }

    /// PTX ISA, "Matrix fragments for mma.m16n8k16": c0 and c1 of lane l are in row l / 4 and the columns 2 · (l % 4) and one more, c2 and c3 8 rows below.
    #[test]
    fn warps_own_what_the_manual_says() {
        let partition = Partition::of_warps(32, [16, 16]).expect("one warp");
        for lane in 0..32u64 {
            let [row, column] = base(&partition, lane);
            assert_eq!([row, column], [lane / 4, lane % 4 * 2]);
        }
        let places: Vec<_> = (0..8).map(|element| partition.place(element)).collect();
        assert_eq!(places, [[0, 0], [0, 1], [8, 0], [8, 1], [0, 8], [0, 9], [8, 8], [8, 9]]);
    }

    #[test]
    fn tiles_are_as_square_as_they_can_be() {
        let partition = Partition::of_warps(128, [128, 128]).expect("four warps");
        assert_eq!(partition.warp(), Some([64, 64]));
        let partition = Partition::of_threads(256, [128, 128]);
        assert_eq!((partition.own(), partition.neighbours()), (64, 4));
    }
}
