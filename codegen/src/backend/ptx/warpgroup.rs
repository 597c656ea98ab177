//! Products of a warpgroup (`wgmma`, sm_90a; PTX ISA, "Asynchronous warpgroup level matrix instructions"): issued together, and waited for.
//!
//! The instruction is told where factors lie by descriptors of 64 bits ("Matrix descriptor format"): where they begin, how far apart their groups of eight rows are, and how they are
//! swizzled. Where the rows of a tile go along the sum, a step along K is some bytes further on in its rows, or in the next slab; where they go across, it is some rows further on. Whatever is
//! swizzled by address bits begins at a multiple of 1024 bytes, so that offsets are simply added.

use super::code::{Base, Opcode, Operand, Reg, RegisterClass};
use super::emitter::{Emitter, ptx};
use super::first_product::Adds;
use super::tensor::{of_factor, of_sum};
use super::types::suffix;
use super::words::{Mnemonic, Word};
use crate::collections::HashSet;
use crate::ir::{
    Inst, MemoryType, ProductFactor, STEP_BYTES, Swizzle, Type, Value, ValueDef, WARPGROUP_ROWS, WarpgroupFactor, WarpgroupShape,
};

/// Steps along K of one instruction, for elements of 16 bits: those alone may have rows that go across the sum.
const STEPS: u64 = 16;

/// Rows of a group.
const GROUP: u64 = 8;

/// Addresses and distances in descriptors are counted in so many bytes: a shift.
const UNIT: u32 = 4;

/// Words of a lane that a step along K takes of elements that are in registers.
const WORDS: usize = 4;

/// Where the instruction finds the left factor.
enum Left {
    Tile(Descriptors),
    Words(Vec<Reg>),
}

/// What a factor's descriptors are made of.
struct Descriptors {
    /// The low word without the address, and the high word.
    low: u32,
    high: u32,
    /// The address of the first instruction's part.
    base: Reg,
    /// Bytes from step to step along K within a slab, the steps of a slab, and bytes from slab to slab.
    step: u64,
    of_slab: u64,
    slab: u64,
    /// Bytes from 64 rows to the next.
    rows: u64,
    /// Whether the tile's rows go across the sum.
    is_across: bool,
}

impl Emitter<'_> {
    /// By sum: whether its register may take the result, since nobody needs it any more.
    pub(super) fn in_place(&self, inst: Inst, sums: &[Value]) -> Vec<(Value, bool)> {
        let kernel = self.kernel;
        let home = self.homes[inst.0 as usize];
        let is_of_block = |value: Value| match kernel.values[value].def {
            ValueDef::Param(block, _) => Some(block) == home,
            ValueDef::Result(maker, _) => home.is_some() && self.homes[maker.0 as usize] == home,
        };
        let is_free = |value: &Value| kernel.constant(*value).is_none() && self.uses[value.0 as usize] == 1 && is_of_block(*value);
        sums.iter().map(|value| (*value, is_free(value))).collect()
    }

    /// Has the results of a product that is left running lie where the next iteration finds them: between there and here nothing may read them, not even to move them.
    pub(super) fn stay_in_place(&mut self, inst: Inst, results: &[Value]) {
        let kernel = self.kernel;
        let home = self.homes[inst.0 as usize];
        let Some((home, yielded)) = home.and_then(|home| Some((home, kernel.yielded(home)?))) else { return };
        let block = &kernel.blocks[home];
        let behind = block.insts.iter().skip_while(|other| **other != inst).skip(1);
        let within = |inst: &Inst| kernel.insts[*inst].op.blocks().into_iter().flat_map(|block| kernel.insts_in(block)).chain([*inst]);
        let is_kept = |reg: Reg, used: &HashSet<Value>| used.iter().any(|value| self.known_register(*value) == Some(reg));
        let used: HashSet<Value> = behind.flat_map(within).flat_map(|inst| kernel.insts[inst].op.operands()).collect();
        let homes: Vec<(Value, Reg)> = results
            .iter()
            .filter_map(|result| {
                let number = yielded.iter().position(|value| value == result)?;
                let reg = self.known_register(*block.params.get(number + 1)?)?;
                (self.uses[result.0 as usize] == 1 && !is_kept(reg, &used)).then_some((*result, reg))
            })
            .collect();
        homes.into_iter().for_each(|(result, reg)| self.alias(result, reg));
    }

    pub(super) fn warpgroup_mma(
        &mut self,
        [m, n, k]: [u64; 3],
        (a, b, factors): (&WarpgroupFactor, &ProductFactor, Type),
        (sums, adds, running): (&[(Value, bool)], Adds, u8),
        results: &[Value],
    ) {
        let own = self.share_registers(sums, results);
        if !matches!(adds, Adds::Never) {
            let moves = own.iter().zip(sums).map(|(reg, (sum, _))| (*reg, self.raw(*sum))).collect();
            self.parallel_moves(moves);
        }
        let of_a = match a {
            WarpgroupFactor::Tile { tile, row } => self.descriptors(tile, Some(*row), !tile.is_transposed).map(Left::Tile),
            WarpgroupFactor::Words(words) => Some(Left::Words(words.iter().map(|word| self.in_register(*word)).collect())),
        };
        let (Some(of_a), Some(of_b)) = (of_a, self.descriptors(b, None, b.is_transposed)) else {
            return self.refuse("a product of tiles that are not swizzled over bytes reached the PTX back end".into(), String::new());
        };
        let of_sums = sums.first().map_or(Type::F32, |(sum, _)| self.kernel.ty(*sum));
        let shape = WarpgroupShape::of(factors, of_sums);
        let Some((shape, size)) = shape.and_then(|shape| Some((shape, Word::named(&format!("m64n{n}k{}", shape.steps()))?))) else {
            return self.refuse(format!("a product of `{factors}` and {n} columns reached the PTX back end"), String::new());
        };
        let (ty, sum) = (of_factor(factors), of_sum(shape.sums));
        let always = self.temp(RegisterClass::Predicate);
        ptx!(self, Setp.Eq.U32 always, 0, 0);
        let first = self.adds_at_first(adds, always);
        ptx!(self, Wgmma.Fence.Sync.Aligned);
        let each = own.len() / (m / WARPGROUP_ROWS).max(1) as usize;
        // The signs of factors of floats, and whether those of 16 bits have rows across the sum.
        let flags = match (shape.is_along, shape.sums) {
            (_, Type::I32) => Vec::new(),
            (true, _) => vec![1, 1],
            (false, _) => {
                let of_tile = a.tile().map(|a| i32::from(a.is_transposed));
                [1, 1].into_iter().chain(of_tile).chain([i32::from(!b.is_transposed)]).collect()
            }
        };
        let steps = k / shape.steps();
        for step in 0..steps {
            let adds = if step == 0 { first } else { always };
            let of_b = self.descriptor(&of_b, step, 0);
            for (part, registers) in own.chunks(each).enumerate() {
                let of_a = match &of_a {
                    Left::Tile(of_a) => self.descriptor(of_a, step, part as u64).into(),
                    Left::Words(words) => {
                        let first = (part as u64 * steps + step) as usize * WORDS;
                        Operand::Vector(words[first..first + WORDS].to_vec())
                    }
                };
                let words = vec![Word::MmaAsync, Word::Sync, Word::Aligned, size, sum, ty, ty];
                let flags = flags.iter().copied().map(Operand::from);
                let operands = [Operand::Vector(registers.to_vec()), of_a, of_b.into(), adds.into()];
                self.put(Opcode { mnemonic: Mnemonic::Wgmma, words }, operands.into_iter().chain(flags).collect());
            }
        }
        ptx!(self, Wgmma.CommitGroup.Sync.Aligned);
        ptx!(self, Wgmma.WaitGroup.Sync.Aligned i32::from(running));
    }

    /// The predicate of the first instruction for each sum: whether it adds.
    fn adds_at_first(&mut self, adds: Adds, always: Reg) -> Reg {
        if matches!(adds, Adds::Always) {
            return always;
        }
        let first = self.temp(RegisterClass::Predicate);
        match adds {
            Adds::ButFirst(counter, start) => {
                let (ty, start) = (self.kernel.ty(start), self.operand(start));
                ptx!(self, Setp.Ne.(suffix(ty)) first, counter, start);
            }
            Adds::Never | Adds::Always => ptx!(self, Setp.Ne.U32 first, 0, 0),
        }
        first
    }

    pub(super) fn await_products(&mut self, inst: Inst, sums: &[(Value, bool)], results: &[Value]) {
        ptx!(self, Wgmma.WaitGroup.Sync.Aligned 0);
        self.zero_what_was_not_entered(inst);
        let own = self.share_registers(sums, results);
        let moves = own.iter().zip(sums).map(|(reg, (sum, _))| (*reg, self.raw(*sum))).collect();
        self.parallel_moves(moves);
    }

    /// The registers of results: those of the sums that nobody needs any more.
    fn share_registers(&mut self, sums: &[(Value, bool)], results: &[Value]) -> Vec<Reg> {
        for ((sum, is_free), result) in sums.iter().zip(results) {
            if *is_free && self.known_register(*result).is_none() {
                let reg = self.register(*sum);
                self.alias(*result, reg);
            }
        }
        results.iter().map(|result| self.register(*result)).collect()
    }

    /// `row`: the first row of the factor, where it is not all of it.
    fn descriptors(&mut self, factor: &ProductFactor, row: Option<Value>, is_along: bool) -> Option<Descriptors> {
        let kernel = self.kernel;
        let swizzle = kernel.swizzled.get(&factor.array.object)?;
        let bytes = swizzle.bytes()?;
        // `[[T; E]; R]`, or several such slabs.
        let (mut tile, mut slabs) = (factor.array.leads_to(kernel)?, 1);
        if let MemoryType::Array(slab, n) = tile
            && matches!(slab.element(), Some(MemoryType::Array(..)))
        {
            (tile, slabs) = (slab, *n);
        }
        let slab = tile.size(&kernel.structs);
        let mode = match swizzle {
            Swizzle::B128 => 1,
            Swizzle::B64 => 2,
            Swizzle::B32 => 3,
            Swizzle::Columns => return None,
        };
        let (start, step, of_slab, rows, leading) = if is_along {
            (bytes, STEP_BYTES, bytes / STEP_BYTES, WARPGROUP_ROWS * bytes, 1)
        } else {
            // 64 rows of the factor are a slab.
            (slab / WARPGROUP_ROWS, STEPS * bytes, u64::MAX, slab, if slabs > 1 { slab as u32 >> UNIT } else { 1 })
        };
        let place = self.place_of(&factor.array);
        let Base::Reg(mut base) = place.base else { return None };
        if let Some(offset) = place.offset {
            let further = self.temp(RegisterClass::Word);
            ptx!(self, Add.U32 further, base, offset as u32);
            base = further;
        }
        if let Some(row) = row {
            let row = self.in_register(row);
            let further = self.temp(RegisterClass::Word);
            ptx!(self, Mad.Lo.U32 further, row, start as u32, base);
            base = further;
        }
        let high = (bytes * GROUP) as u32 >> UNIT | mode << 30;
        let [masked, low] = [(); 2].map(|()| self.temp(RegisterClass::Word));
        ptx!(self, And.B32 masked, base, 0x3_ffff);
        ptx!(self, Shr.U32 low, masked, UNIT);
        Some(Descriptors { low: leading << 16, high, base: low, step, of_slab, slab, rows, is_across: !is_along })
    }

    /// The descriptor of a step along K and of so many times 64 rows.
    fn descriptor(&mut self, of: &Descriptors, step: u64, part: u64) -> Reg {
        let along = if of.is_across { step * of.step } else { step / of.of_slab * of.slab + step % of.of_slab * of.step };
        let further = (along + part * of.rows) as u32 >> UNIT;
        let [low, high] = [(); 2].map(|()| self.temp(RegisterClass::Word));
        ptx!(self, Add.U32 low, of.base, further | of.low);
        ptx!(self, Mov.U32 high, of.high);
        let whole = self.temp(RegisterClass::Long);
        ptx!(self, Mov.B64 whole, [low, high]);
        whole
    }
}
