//! Numbers for registers: pairs on even ones, rows of a vector access on multiples of their size, the lowest that are free.

use super::schedule::{Graph, Value};

/// Registers that are kept track of; more than there can be, so that what would be spilt is counted.
const MOST: usize = 1024;

/// The register of the stack pointer.
const STACK: usize = 1;

const NONE: usize = usize::MAX;

/// The registers that an order of a stretch's instructions takes: one more than the highest number.
pub(super) fn allocate(graph: &Graph, order: &[u32]) -> u32 {
    let mut file = File { used: [0; MOST / 64], top: 0 };
    file.take(STACK, 1);
    let mut at = vec![NONE; graph.values.len()];
    let mut rows = vec![NONE; graph.rows.len()];
    for _ in 0..graph.through_pairs {
        file.find(2);
    }
    let mut entering: Vec<usize> = (0..at.len()).filter(|n| graph.values[*n].is_in && graph.values[*n].width > 0).collect();
    entering.sort_by_key(|n| std::cmp::Reverse(graph.values[*n].width));
    for n in entering {
        at[n] = file.find(graph.values[n].width as usize);
    }
    for _ in 0..graph.through - 2 * graph.through_pairs {
        file.find(1);
    }
    let mut reads: Vec<u32> = graph.values.iter().map(|value| value.reads).collect();
    for node in order {
        let node = &graph.nodes[*node as usize];
        if node.extra > 0 {
            file.find_and_free(node.extra as usize);
        }
        let mut dying = Vec::new();
        for value in &node.uses {
            let n = *value as usize;
            reads[n] -= 1;
            if reads[n] == 0 && !graph.values[n].is_out && at[n] != NONE {
                file.free(at[n], graph.values[n].width as usize);
                dying.push(n);
            }
        }
        for value in &node.defs {
            let n = *value as usize;
            let data = &graph.values[n];
            if data.width == 0 {
                continue;
            }
            at[n] = match data.row {
                Some((row, offset)) => {
                    if rows[row as usize] == NONE {
                        rows[row as usize] = file.row(graph, row, data, offset, &dying, &at);
                    }
                    let start = rows[row as usize] + offset as usize;
                    file.take(start, data.width as usize);
                    start
                }
                None => file.find(data.width as usize),
            };
        }
        for value in &node.defs {
            let n = *value as usize;
            if reads[n] == 0 && !graph.values[n].is_out && at[n] != NONE {
                file.free(at[n], graph.values[n].width as usize);
            }
        }
    }
    file.top as u32
}

/// Which registers are used, a bit each.
struct File {
    used: [u64; MOST / 64],
    top: usize,
}

impl File {
    fn set(&mut self, start: usize, width: usize, is_used: bool) {
        for at in start..(start + width).min(MOST) {
            let bit = 1 << (at % 64);
            if is_used {
                self.used[at / 64] |= bit;
            } else {
                self.used[at / 64] &= !bit;
            }
        }
    }

    fn take(&mut self, start: usize, width: usize) {
        self.set(start, width, true);
        self.top = self.top.max((start + width).min(MOST));
    }

    fn free(&mut self, start: usize, width: usize) {
        self.set(start, width, false);
    }

    /// The lowest free registers in a row, from a multiple of their number on; their number is rounded up to a power of two.
    fn lowest(&self, width: usize) -> usize {
        let unit = width.next_power_of_two();
        for (n, word) in self.used.iter().enumerate() {
            // Each bit at a multiple of the unit becomes whether any of its row is used.
            let (mut any, mut reach) = (*word, 1);
            while reach < unit {
                any |= any >> reach;
                reach *= 2;
            }
            let starts = match unit {
                1 => !0,
                2 => 0x5555_5555_5555_5555,
                4 => 0x1111_1111_1111_1111,
                _ => 0x0101_0101_0101_0101u64,
            };
            let free = !any & starts;
            if free != 0 {
                return n * 64 + free.trailing_zeros() as usize;
            }
        }
        MOST
    }

    fn find(&mut self, width: usize) -> usize {
        let start = self.lowest(width);
        self.take(start, width);
        start
    }

    /// As many single ones, for a moment.
    fn find_and_free(&mut self, count: usize) {
        let taken: Vec<usize> = (0..count).map(|_| self.find(1)).collect();
        taken.into_iter().for_each(|start| self.free(start, 1));
    }

    /// Where a row begins: where the operand that its first value replaces stands in one like it, or wherever there is room.
    fn row(&mut self, graph: &Graph, row: u32, value: &Value, offset: u32, dying: &[usize], at: &[usize]) -> usize {
        let width = graph.rows[row as usize];
        let like = |n: &&usize| {
            let other = &graph.values[**n];
            other.width == value.width && other.row.is_some_and(|(theirs, place)| place == offset && graph.rows[theirs as usize] == width)
        };
        match dying.iter().find(like) {
            Some(n) => at[*n] - offset as usize,
            None => {
                let start = self.lowest(width as usize);
                self.top = self.top.max(start + width as usize);
                start
            }
        }
    }
}
