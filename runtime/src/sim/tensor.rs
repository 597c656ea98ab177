//! Tensor cores: matrices that a warp loads together, and products of what its lanes hold.
//!
//! Both are for all lanes of a warp. Of a load each lane reads the row that it names, and gets a part of another lane's.

use super::machine::{LaneFault, Machine};
use super::memory::{Request, first};
use super::registers::{Mask, Reg};
use super::shadow::Now;
use super::stores::{self, InFlight, KnownReads};
use super::warp::Warp;
use super::{AccessKind, FaultKind};
use std::collections::HashMap;
use warpwright_codegen::ir::{MmaShape, Scalar, Swizzle, Type, WARPGROUP, WARPGROUP_ROWS, WarpgroupShape};
use warpwright_codegen::target::limits::{LANES, VECTOR_BYTES, WARP};

/// Rows of a matrix.
pub(super) const ROWS: usize = 8;

/// Rows of a warp, of each 64 of its warpgroup.
const STRIP: u64 = 16;

/// A load of matrices.
#[derive(Clone, Debug)]
pub(super) struct MatrixLoad {
    /// The access of a row, by its number.
    pub(super) access: u32,
    /// Whether columns come as rows.
    pub(super) is_transposed: bool,
    /// A word of each matrix.
    pub(super) results: Vec<Reg>,
}

/// What a store of matrices writes: the elements of the row that each lane names.
#[derive(Clone, Debug)]
pub(super) struct MatrixRows {
    /// A word of each matrix.
    pub(super) words: Vec<Reg>,
    /// The elements, one for each of a row.
    pub(super) elements: [Reg; ROWS],
}

impl MatrixRows {
    pub(super) fn spread(&self, warp: &mut Warp) -> Result<(), LaneFault> {
        whole_warp(warp, "store_matrix")?;
        let words: Vec<[u64; LANES]> = self.words.iter().map(|word| warp.registers.all(*word)).collect();
        for (n, element) in self.elements.iter().enumerate() {
            // Lanes of a row follow each other, each with two neighbours.
            let bits: [u64; LANES] = std::array::from_fn(|lane| words[lane / ROWS][lane % ROWS * 4 + n / 2] >> (n % 2 * 16) & 0xffff);
            warp.registers.set_all(*element, &bits);
        }
        Ok(())
    }
}

/// A product.
#[derive(Clone, Debug)]
pub(super) struct Product {
    pub(super) shape: &'static MmaShape,
    /// The words of both factors and the sums.
    pub(super) operands: [Vec<Reg>; 3],
    /// The new sums.
    pub(super) results: Vec<Reg>,
}

/// The left factor of a warpgroup's product.
#[derive(Clone, Debug)]
pub(super) enum Left {
    /// In shared memory.
    Tile {
        /// Where.
        tile: Tile,
        /// The warpgroup's first row.
        row: Reg,
    },
    /// Words of two elements, by strip of rows and step along K.
    Words(Vec<Reg>),
}

/// A product of a warpgroup.
#[derive(Clone, Debug)]
pub(super) struct WarpgroupProduct {
    /// Rows of the warpgroup, columns, steps along K.
    pub(super) mnk: [u64; 3],
    pub(super) shape: &'static WarpgroupShape,
    pub(super) a: Left,
    pub(super) b: Tile,
    /// How many of the warpgroup's products may run on behind it.
    pub(super) running: u8,
    pub(super) sums: Vec<Reg>,
    pub(super) results: Vec<Reg>,
}

/// What a product that is left running reads.
#[derive(Clone, Copy, Debug)]
struct Running {
    /// The warp's first thread.
    warp: u32,
    /// The product's number among those of the warp.
    number: u32,
    object: usize,
    /// The bytes of the tile.
    bytes: (u64, u64),
    site: u32,
    /// The tick of the wait, if there was one.
    done: Option<u32>,
}

/// Products of a block that are left running, and those that were awaited.
#[derive(Debug, Default)]
pub(super) struct RunningProducts {
    all: Vec<Running>,
    /// How many there have been.
    count: u32,
    /// By thread: what it has learnt at barriers of the engine.
    learnt: HashMap<u32, KnownReads>,
}

impl RunningProducts {
    /// A warp has waited for its products, but for so many of the last.
    fn finish(&mut self, warp: u32, but: u8, tick: u32) {
        let mut numbers: Vec<u32> = self.all.iter().filter(|one| one.warp == warp && one.done.is_none()).map(|one| one.number).collect();
        numbers.dedup();
        let kept = numbers.split_off(numbers.len().saturating_sub(but.into()));
        self.all.iter_mut().filter(|one| one.warp == warp && !kept.contains(&one.number)).for_each(|one| {
            one.done.get_or_insert(tick);
        });
    }

    /// One more. Of those of the warp that read the same and are done, it stands for all.
    fn begin(&mut self, running: Running) {
        let is_same = |one: &Running| one.warp == running.warp && one.object == running.object && one.bytes == running.bytes;
        self.all.retain(|one| one.done.is_none() || !is_same(one));
        self.all.push(running);
    }

    /// What a thread knows to be read: by warp, the number of its last product that is done.
    pub(super) fn known_to(&self, now: &Now) -> KnownReads {
        let mut known = self.learnt.get(&now.thread).cloned().unwrap_or_default();
        let warp = now.thread / WARP * WARP;
        let is_known = |one: &&Running| one.done.is_some_and(|tick| one.warp == warp || tick < now.interval_start);
        for one in self.all.iter().filter(is_known) {
            let last = known.entry(one.warp).or_default();
            *last = (*last).max(one.number.into());
        }
        known
    }

    /// A thread learns what is read.
    pub(super) fn learn(&mut self, thread: u32, reads: &KnownReads) {
        if !reads.is_empty() {
            stores::join(self.learnt.entry(thread).or_default(), reads);
        }
    }

    /// A product that may still read this byte, for who writes it now.
    pub(super) fn find(&mut self, object: usize, offset: u64, now: &Now) -> Option<InFlight> {
        let warp = now.thread / WARP * WARP;
        self.all.retain(|one| one.done.is_none_or(|tick| tick >= now.interval_start));
        let learnt = self.learnt.get(&now.thread);
        let is_known = |one: &Running| {
            let is_learnt = learnt.and_then(|known| known.get(&one.warp)).is_some_and(|last| u64::from(one.number) <= *last);
            one.done.is_some() && (one.warp == warp || is_learnt)
        };
        let reads = |one: &&Running| one.object == object && (one.bytes.0..one.bytes.1).contains(&offset) && !is_known(one);
        self.all.iter().find(reads).map(|one| InFlight { thread: one.warp, site: one.site, is_awaited: one.done.is_some() })
    }
}

/// A tile in shared memory, swizzled over bytes.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    /// An access of 16 bytes where it begins, by its number.
    pub(super) access: u32,
    pub(super) swizzle: Swizzle,
    /// Bytes of the tile.
    pub(super) bytes: u64,
    /// Bytes of a slab.
    pub(super) slab: u64,
    /// Whether the rows of the array go along the sum.
    pub(super) is_along: bool,
}

impl Machine<'_> {
    /// Multiplies what a warp of a warpgroup has its sums of.
    pub(super) fn warpgroup_product(&mut self, warp: &mut Warp, number: u32) -> Result<(), LaneFault> {
        let program = self.launch.program;
        let product = &program.warpgroup_products[number as usize];
        whole_warp(warp, "warpgroup_mma")?;
        let [m, n, k] = product.mnk;
        let columns = self.factor(warp, &product.b, product.shape, (0, n), k)?;
        for part in 0..m / WARPGROUP_ROWS {
            let rows = match &product.a {
                Left::Tile { tile, row } => {
                    let row = warp.registers.lane(*row, 0);
                    let own = row + u64::from(warp.first_thread / WARP % (WARPGROUP as u32 / WARP)) * STRIP;
                    self.factor(warp, tile, product.shape, (own + part * WARPGROUP_ROWS, STRIP), k)?
                }
                Left::Words(words) => {
                    let of_part = words.len() / (m / WARPGROUP_ROWS) as usize;
                    rows_of_words(warp, &words[part as usize * of_part..][..of_part], product.shape)
                }
            };
            for of_part in 0..n / 2 {
                let at = (part * n / 2 + of_part) as usize;
                let mut sums = warp.registers.all(product.sums[at]);
                for (lane, sum) in sums.iter_mut().enumerate() {
                    let row = lane / 4 + of_part as usize % 4 / 2 * ROWS;
                    let column = of_part as usize / 4 * ROWS + lane % 4 * 2 + of_part as usize % 2;
                    let pairs = rows[row].iter().zip(&columns[column]);
                    let total = if product.shape.sums == Type::I32 {
                        pairs.fold(*sum as u32, |total, (a, b)| total.wrapping_add(a.wrapping_mul(*b)))
                    } else {
                        let first = f32::from_bits(*sum as u32);
                        pairs.fold(first, |total, (a, b)| f32::from_bits(*a).mul_add(f32::from_bits(*b), total)).to_bits()
                    };
                    *sum = u64::from(total);
                }
                warp.registers.set_all(product.results[at], &sums);
            }
        }
        self.block.engine.products.finish(warp.first_thread, product.running.saturating_sub(1), self.tick);
        self.block.engine.products.count += 1;
        let of_a = match &product.a {
            Left::Tile { tile, .. } => Some(tile),
            Left::Words(_) => None,
        };
        for tile in of_a.into_iter().chain([&product.b]).filter(|_| product.running > 0) {
            let access = &program.accesses[tile.access as usize];
            let one = Request { number: tile.access, access, info: &program.objects[access.object], mask: 1 };
            let start = self.resolve(&warp.registers, &one)?[0];
            let running = Running {
                warp: warp.first_thread,
                number: self.block.engine.products.count,
                object: access.object,
                bytes: (start, start + tile.bytes),
                site: tile.access,
                done: None,
            };
            self.block.engine.products.begin(running);
        }
        Ok(())
    }

    /// A warp waits for the products that it has left running.
    pub(super) fn await_products(&mut self, warp: &Warp) {
        self.block.engine.products.finish(warp.first_thread, 0, self.tick);
    }

    /// So many rows of `a`, or columns of `b`, each with its elements along K.
    fn factor(
        &mut self,
        warp: &Warp,
        tile: &Tile,
        shape: &WarpgroupShape,
        (first, count): (u64, u64),
        k: u64,
    ) -> Result<Vec<Vec<u32>>, LaneFault> {
        let ty = shape.factors;
        let program = self.launch.program;
        let access = &program.accesses[tile.access as usize];
        let one = Request { number: tile.access, access, info: &program.objects[access.object], mask: 1 };
        let base = self.resolve(&warp.registers, &one)?[0];
        let (size, row_bytes) = (u64::from(ty.bytes()), tile.swizzle.bytes().unwrap_or(1));
        let of_chunk = VECTOR_BYTES as u64 / size;
        // Rows and chunks of the array.
        let (rows, chunks) =
            if tile.is_along { (first..first + count, 0..k / of_chunk) } else { (0..k, first / of_chunk..(first + count) / of_chunk) };
        let units: Vec<(u64, u64)> = rows.flat_map(|row| chunks.clone().map(move |chunk| (row, chunk))).collect();
        let mut found = vec![vec![0; k as usize]; count as usize];
        for units in units.chunks(LANES) {
            let mut offsets = [base; LANES];
            for (offset, (row, chunk)) in offsets.iter_mut().zip(units) {
                let byte = chunk * VECTOR_BYTES as u64;
                *offset = base + byte / row_bytes * tile.slab + tile.swizzle.of_address(row * row_bytes + byte % row_bytes);
            }
            let mask = if units.len() == LANES { Mask::MAX } else { (1 << units.len()) - 1 };
            let request = Request { mask, ..one };
            for (lane, offset) in offsets.iter().enumerate().take(units.len()) {
                self.check_fence(&request, *offset, AccessKind::Read).map_err(|kind| LaneFault { lane, kind })?;
            }
            for (n, bits) in self.read_all(warp, &request, &offsets)?.into_iter().enumerate() {
                for (bits, (row, chunk)) in bits.into_iter().zip(units) {
                    let column = chunk * of_chunk + n as u64;
                    let (own, step) = if tile.is_along { (*row - first, column) } else { (column - first, *row) };
                    found[own as usize][step as usize] = shape.operand(Scalar::new(ty, bits));
                }
            }
        }
        Ok(found)
    }

    /// Loads matrices.
    pub(super) fn load_matrix(&mut self, warp: &mut Warp, number: u32) -> Result<(), LaneFault> {
        let program = self.launch.program;
        let load = &program.matrix_loads[number as usize];
        whole_warp(warp, "load_matrix")?;
        // The lanes beyond name nothing.
        let named = ROWS * load.results.len();
        let mask = if named >= LANES { Mask::MAX } else { (1 << named) - 1 };
        let access = &program.accesses[load.access as usize];
        let request = Request { number: load.access, access, info: &program.objects[access.object], mask: warp.active & mask };
        let rows = self.rows(warp, &request)?;
        for (matrix, result) in load.results.iter().enumerate() {
            let byte = |row: usize, at: usize| u64::from(rows[matrix * ROWS + row][at]);
            let word = |lane: usize| {
                let (group, at) = (lane / 4, lane % 4);
                let bytes = if load.is_transposed {
                    [(2 * at, 2 * group), (2 * at, 2 * group + 1), (2 * at + 1, 2 * group), (2 * at + 1, 2 * group + 1)]
                } else {
                    [0, 1, 2, 3].map(|n| (group, 4 * at + n))
                };
                bytes.iter().rev().fold(0, |word, (row, at)| word << 8 | byte(*row, *at))
            };
            let words: [u64; LANES] = std::array::from_fn(word);
            warp.registers.set_all(*result, &words);
        }
        Ok(())
    }

    /// The bytes of the row that each lane names.
    fn rows(&mut self, warp: &Warp, request: &Request<'_>) -> Result<[[u8; VECTOR_BYTES]; LANES], LaneFault> {
        let mut rows = [[0; VECTOR_BYTES]; LANES];
        let size = request.access.ty.bytes() as usize;
        for (n, bits) in self.load_all(warp, request)?.into_iter().enumerate() {
            for (row, bits) in rows.iter_mut().zip(bits) {
                row[n * size..(n + 1) * size].copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        Ok(rows)
    }

    /// Multiplies and adds.
    pub(super) fn multiply_add(&self, warp: &mut Warp, number: u32) -> Result<(), LaneFault> {
        let product = &self.launch.program.products[number as usize];
        whole_warp(warp, "mma")?;
        let [a, b, c] = [0, 1, 2].map(|n| product.operands[n].iter().map(|reg| warp.registers.all(*reg)).collect::<Vec<_>>());
        for (result, bits) in product.results.iter().zip(product.shape.evaluate(&a, &b, &c)) {
            warp.registers.set_all(*result, &bits);
        }
        Ok(())
    }
}

/// The 16 rows of a warp, each with its elements along K, of the words that its lanes have: two for each eight columns, of rows that are eight apart.
fn rows_of_words(warp: &Warp, words: &[Reg], shape: &WarpgroupShape) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); STRIP as usize];
    for (n, word) in words.iter().enumerate() {
        let of_lanes = warp.registers.all(*word);
        for (lane, word) in of_lanes.iter().enumerate() {
            // Lanes of a row follow each other, and so do words.
            let elements = [word & 0xffff, word >> 16 & 0xffff].map(|bits| shape.operand(Scalar::new(shape.factors, bits)));
            rows[lane / 4 + n % 2 * ROWS].extend(elements);
        }
    }
    rows
}

/// A fault if not all lanes of the warp have come.
fn whole_warp(warp: &Warp, name: &'static str) -> Result<(), LaneFault> {
    let Some(lane) = first(warp.active).filter(|_| warp.active != Mask::MAX) else { return Ok(()) };
    let [active, living] = [warp.active, Mask::MAX].map(Mask::count_ones);
    Err(LaneFault { lane, kind: FaultKind::DivergentWarp { name, active, living } })
}
