//! Whether a thread begins with the registers that an instruction of a warpgroup's product (`wgmma`) takes: all at once, since the assembler can spill none of them.
//!
//! It goes by what a thread has where the kernel begins, also where `setmaxnreg` gives it more behind that. With fewer `ptxas` ends ("Insufficient registers to compile
//! instruction", C7602), and names a line of PTX. So the figures are compared here, and the product is named, with shapes that fit.

use super::emitter::Emitter;
use crate::intrinsics::WARPGROUPS;
use crate::ir::{Kernel, Op, PRODUCER_THREADS, ProductFactor, Tensor, WARPGROUP, WARPGROUP_ROWS, WarpgroupFactor};
use crate::target::Target;
use crate::target::occupancy::{Demand, Options, occupancy};

/// Registers that the instruction takes besides its sums: for any number of columns and all elements, with `ptxas` 12.9 and 13.5 (`tests/tests/product_registers.rs`).
const BESIDE_SUMS: u32 = 26;

/// And those of a left factor that is in registers.
const OF_FACTOR: u32 = 4;

/// Columns come in so many.
const COLUMNS: u32 = 16;

/// Bytes of a row of a tile whose rows go across the sum: these are swizzled in slabs.
const SLAB: u32 = 128;

/// What a thread has where the kernel begins, and who says so.
struct Room {
    registers: u32,
    /// The threads that a launch starts, those of a producer among them.
    threads: u32,
    producer: u32,
    /// Blocks that are to be resident.
    blocks: u32,
    /// `max_registers`, if that is the bound.
    bound: Option<u32>,
}

impl Room {
    fn of(kernel: &Kernel, target: &Target) -> Option<Room> {
        let [started, declared] = [kernel.started_block()?, kernel.options.block?].map(|block| block.iter().product::<u32>());
        let blocks = kernel.options.min_blocks.unwrap_or(1).max(1);
        // Of blocks that cannot be resident anyway the assembler takes no notice.
        let (by_threads, blocks) = [blocks, 1].iter().find_map(|blocks| Some((registers(target, started, *blocks)?, *blocks)))?;
        let bound = kernel.options.max_registers.filter(|most| *most < by_threads);
        Some(Room { registers: bound.unwrap_or(by_threads), threads: started, producer: started - declared, blocks, bound })
    }

    /// ` has 128`, and why.
    fn text(&self) -> String {
        if let Some(bound) = self.bound {
            return format!("`max_registers = {bound}` leaves it fewer");
        }
        let producer = if self.producer > 0 { format!(" ({} of them the producer's)", self.producer) } else { String::new() };
        let blocks = if self.blocks > 1 { format!(" in {} resident blocks", self.blocks) } else { String::new() };
        format!("each of {} threads{producer}{blocks} begins with {}", self.threads, self.registers)
    }
}

/// The most registers of a thread with which so many blocks are resident.
fn registers(target: &Target, threads: u32, blocks: u32) -> Option<u32> {
    let resident = |registers| occupancy(target.limits, &Demand { threads, registers, ..Demand::default() }, &Options::default()).blocks;
    (1..=target.limits.registers_per_thread).rev().find(|registers| resident(*registers) >= blocks)
}

/// What an instruction of so many columns takes.
fn wanted(columns: u32, a: &WarpgroupFactor) -> u32 {
    let factor = if matches!(a, WarpgroupFactor::Words(_)) { OF_FACTOR } else { 0 };
    columns * WARPGROUP_ROWS as u32 / WARPGROUP as u32 + BESIDE_SUMS + factor
}

impl Emitter<'_> {
    /// Refuses the products that begin with too few, each place once.
    pub(super) fn check_product_registers(&mut self) {
        let (kernel, target) = (self.kernel, self.target);
        let (true, Some(room)) = (WARPGROUPS.is_met_by(target), Room::of(kernel, target)) else { return };
        let mut places = Vec::new();
        for inst in kernel.insts_in(kernel.body) {
            let data = &kernel.insts[inst];
            let Op::Tensor(Tensor::WarpgroupMma { mnk: [rows, columns, _], a, b, .. }) = &data.op else { continue };
            let [rows, columns] = [*rows, *columns].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
            let takes = wanted(columns, a);
            if takes <= room.registers || places.contains(&data.loc) {
                continue;
            }
            places.push(data.loc);
            let sums = columns * WARPGROUP_ROWS as u32 / WARPGROUP as u32;
            let message = format!(
                "this product takes {takes} registers of a thread at once on {}, {sums} of them sums, and {}",
                target.name,
                room.text()
            );
            let edits = edits(kernel, target, &room, ([rows, columns], a, b));
            self.refuse_at(data.loc, message, edits.join(", or "));
        }
    }
}

/// What fits, the nearest of each way.
fn edits(
    kernel: &Kernel,
    target: &Target,
    room: &Room,
    ([rows, columns], a, b): ([u32; 2], &WarpgroupFactor, &ProductFactor),
) -> Vec<String> {
    let takes = wanted(columns, a);
    let warpgroups = (room.threads - room.producer) / WARPGROUP as u32;
    let mut edits = Vec::new();
    // A whole number of slabs where rows go across.
    let bytes = b.shape(kernel).map_or(1, |(_, _, element)| element.bytes());
    let step = if b.is_transposed { COLUMNS } else { (SLAB / bytes).max(COLUMNS) };
    let fewer = (1..columns / step + 1).rev().map(|n| n * step).find(|fewer| wanted(*fewer, a) <= room.registers);
    if let Some(fewer) = fewer {
        edits.push(format!("take {} × {fewer} sums", rows * warpgroups));
    }
    let alone = registers(target, room.threads, 1).is_some_and(|alone| takes <= alone);
    if room.bound.is_some() {
        if registers(target, room.threads, room.blocks).is_some_and(|all| takes <= all) {
            edits.push(format!("write `max_registers = {takes}` at least"));
        }
    } else if alone {
        // Fewer blocks suffice.
        let blocks = (1..room.blocks).rev().find(|blocks| registers(target, room.threads, *blocks).is_some_and(|all| takes <= all));
        edits.extend(blocks.map(|blocks| format!("write `min_blocks = {blocks}` at most")));
    } else {
        let fits = |fewer: &u32| {
            let producer = if room.producer > 0 { PRODUCER_THREADS } else { 0 };
            registers(target, fewer * WARPGROUP as u32 + producer, room.blocks).is_some_and(|all| takes <= all)
        };
        let fewer = (1..warpgroups).rev().find(fits);
        edits.extend(fewer.map(|fewer| format!("{} × {columns} among {} threads", rows * fewer, fewer * WARPGROUP as u32)));
    }
    edits
}
