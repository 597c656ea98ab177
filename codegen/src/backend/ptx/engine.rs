//! The copy engine (sm_90 on; PTX ISA, "Data movement: asynchronous copy" and "mbarrier"): its barriers, and bulk copies.

use super::code::{AddressOperand, Base, Opcode, Operand, Reg, RegisterClass, Symbol};
use super::emitter::{Emitter, ptx};
use super::words::{Mnemonic, Word};
use crate::backend::TensorMap;
use crate::intrinsics::ENGINE;
use crate::ir::{
    Access, Axis, BARRIER, Engine, Kernel, MemoryType, Object, PitchedMatrix, Role, Share, Special, Step, StoreStage, Value, slow_axis,
};

/// A tile that tensor copies move.
struct Tile {
    /// The number of the matrix's map.
    map: usize,
    /// In how many copies, of how many rows and bytes each.
    parts: u64,
    part_rows: u64,
    part_bytes: u64,
}

/// How many coordinates a tile has: row and column; of one of several matrices its number, too.
fn dimensions(matrix: &PitchedMatrix) -> Word {
    if matrix.batch.is_some() { Word::D3 } else { Word::D2 }
}

impl Emitter<'_> {
    pub(super) fn engine(&mut self, engine: &Engine, results: &[Value]) {
        if !ENGINE.is_met_by(self.target) {
            let message = format!("bulk copies need sm_90; this is {}", self.target.name);
            return self.refuse(message, "leave `by` out".into());
        }
        self.needs(ENGINE.ptx_version);
        match engine {
            Engine::Init { barriers, arrivals } => {
                self.each_barrier(*barriers, |emitter, barrier| ptx!(emitter, Mbarrier.Init.SharedCta.B64 barrier, *arrivals));
                // The engine sees barriers and not what was there before.
                ptx!(self, Fence.MbarrierInit.Release.Cluster);
                ptx!(self, Fence.Proxy.Async.SharedCta);
            }
            Engine::Arrive { barrier, of_block: None } => {
                let barrier = self.place_of(barrier);
                ptx!(self, Mbarrier.Arrive.SharedCta.B64 Operand::Bits("_"), barrier);
            }
            Engine::Arrive { barrier, of_block: Some(rank) } => {
                let (own, rank) = (self.address_in_register(barrier), self.in_register(*rank));
                let there = self.temp(RegisterClass::Word);
                ptx!(self, Mapa.SharedCluster.U32 there, own, rank);
                let there = AddressOperand { base: Base::Reg(there), offset: None };
                // What a slot's readers have read they have; `.release.cluster` here, and `.acquire.cluster` at the wait, would add fences of all memory, for the whole GPU, to each iteration.
                ptx!(self, Mbarrier.Arrive.SharedCluster.B64 Operand::Bits("_"), there);
            }
            Engine::Expect { barrier, bytes } => {
                let barrier = self.place_of(barrier);
                let bytes = self.operand(*bytes);
                ptx!(self, Mbarrier.Arrive.ExpectTx.SharedCta.B64 Operand::Bits("_"), barrier, bytes);
            }
            Engine::Wait { barrier, parity } => {
                let barrier = self.place_of(barrier);
                let (parity, is_over) = (self.operand(*parity), self.temp(RegisterClass::Predicate));
                let again = self.new_label();
                self.label(again);
                // Sleeps for a while by itself.
                ptx!(self, Mbarrier.TryWait.Parity.SharedCta.B64 is_over, barrier, parity);
                self.jump_if(is_over, false, again);
            }
            Engine::CopyRun { to, from, start, barrier } => self.copy_run(to, *from, *start, barrier),
            Engine::CopyTile { to, from, row, column, barrier, share } => {
                self.copy_tile(to, from, [*row, *column], barrier, share.as_ref());
            }
            Engine::StoreTile { from, to, row, column } => self.store_tile(from, to, [*row, *column]),
            Engine::CommitStores => ptx!(self, Cp.Async.Bulk.CommitGroup),
            Engine::AwaitStores { but, until: StoreStage::Read | StoreStage::Exit } => ptx!(self, Cp.Async.Bulk.WaitGroup.Read * but),
            Engine::AwaitStores { but, until: StoreStage::Done } => ptx!(self, Cp.Async.Bulk.WaitGroup * but),
            Engine::Fence => ptx!(self, Fence.Proxy.Async.SharedCta),
            Engine::Meet { warpgroup } => self.meet(*warpgroup),
            Engine::Is(role) => {
                if let [result] = results {
                    self.role(*role, *result);
                }
            }
            Engine::Turn(object) => {
                let turn = self.turn(*object);
                for (value, kept) in results.iter().zip(turn) {
                    let result = self.register(*value);
                    self.copy(result, kept.into());
                }
            }
            Engine::KeepTurn { barriers, slot, parity } => {
                let turn = self.turn(*barriers);
                self.move_values(&turn, &[*slot, *parity]);
            }
        }
    }

    /// Whether the thread has a role: whole rows or planes of the started block are the producer's.
    fn role(&mut self, role: Role, result: Value) {
        let Some(block) = self.kernel.options.block else {
            return self.refuse("a producer of a block of unknown size reached the PTX back end".into(), String::new());
        };
        let d = self.register(result);
        let slow = slow_axis(block);
        let read = |emitter: &mut Self, axis: Axis| {
            let at = emitter.temp(RegisterClass::Word);
            ptx!(emitter, Mov.U32 at, Operand::Special(Special::ThreadIdx, axis));
            at
        };
        let axes = Axis::ALL.iter().map(|(axis, _)| *axis);
        let own = block[slow];
        match role {
            Role::Producer => {
                let Some(axis) = axes.clone().nth(slow) else { return };
                let at = read(self, axis);
                ptx!(self, Setp.Ge.U32 d, at, own);
            }
            Role::Issuer => {
                // The first thread behind the block's own: where it begins along the slow axis, and 0 along all others.
                let mut differs: Option<Reg> = None;
                for (n, axis) in axes.enumerate().filter(|(n, _)| *n == slow || block[*n] > 1) {
                    let mut at = read(self, axis);
                    if n == slow {
                        let from = self.temp(RegisterClass::Word);
                        ptx!(self, Sub.U32 from, at, own);
                        at = from;
                    }
                    differs = Some(match differs {
                        None => at,
                        Some(other) => {
                            let both = self.temp(RegisterClass::Word);
                            ptx!(self, Or.B32 both, other, at);
                            both
                        }
                    });
                }
                if let Some(differs) = differs {
                    ptx!(self, Setp.Eq.U32 d, differs, 0);
                }
            }
        }
    }

    /// The registers that keep where a ring stands: slot and parity.
    fn turn(&mut self, barriers: Object) -> [Reg; 2] {
        if let Some((_, turn)) = self.turns.iter().find(|(object, _)| *object == barriers) {
            return *turn;
        }
        let turn = [(); 2].map(|()| self.temp(RegisterClass::Word));
        self.turns.push((barriers, turn));
        turn
    }

    fn copy_run(&mut self, to: &Access, from: Object, start: Value, barrier: &Access) {
        let kernel = self.kernel;
        let bytes = kernel.bytes_of(to) as u32;
        let element = match &kernel.objects[from].ty {
            MemoryType::Slice(element) => element.size(&kernel.structs) as u32,
            _ => 1,
        };
        let (to, barrier) = (self.place_of(to), self.place_of(barrier));
        let [base, distance, place] = [(); 3].map(|()| self.temp(RegisterClass::Long));
        self.address(from, base);
        let is_wide = kernel.ty(start).bytes() == 8;
        let start = self.operand(start);
        if is_wide {
            ptx!(self, Mul.Lo.U64 distance, start, element);
        } else {
            ptx!(self, Mul.Wide.U32 distance, start, element);
        }
        ptx!(self, Add.S64 place, base, distance);
        let policy = self.hint(from, true).policy;
        let words = [Word::Async, Word::Bulk, Word::SharedCluster, Word::Global, Word::CompleteTx].into_iter();
        let words = words.chain(policy.as_ref().map(|_| Word::L2CacheHint)).collect();
        let from = AddressOperand { base: Base::Reg(place), offset: None };
        let operands = [Operand::from(to), from.into(), bytes.into(), barrier.into()];
        self.put(Opcode { mnemonic: Mnemonic::Cp, words }, operands.into_iter().chain(policy).collect());
    }

    fn copy_tile(&mut self, to: &Access, from: &PitchedMatrix, at: [Value; 2], barrier: &Access, share: Option<&Share>) {
        let Some(tile) = self.tile(to, from, share.map_or(1, |share| share.parts), false) else { return };
        let barrier = self.place_of(barrier);
        let policy = self.hint(from.data, true).policy;
        let mut words = vec![Word::Async, Word::Bulk, Word::Tensor, dimensions(from), Word::SharedCluster, Word::Global, Word::CompleteTx];
        let blocks = share.map(|share| {
            words.push(Word::Multicast);
            let (blocks, bits) = (self.in_register(share.blocks), self.temp(RegisterClass::Half));
            ptx!(self, Cvt.U16.U32 bits, blocks);
            Operand::from(bits)
        });
        let form = |place, texel| {
            let operands = [place, texel, (&barrier).into()].into_iter().chain(blocks.clone()).collect();
            (words.clone(), operands)
        };
        self.each_part(&tile, (to, share.map(|share| share.part)), (from, at), form, policy);
    }

    fn store_tile(&mut self, from: &Access, to: &PitchedMatrix, at: [Value; 2]) {
        let Some(tile) = self.tile(from, to, 1, true) else { return };
        let policy = self.hint(to.data, false).policy;
        let words = [Word::Async, Word::Bulk, Word::Tensor, dimensions(to), Word::Global, Word::SharedCta, Word::BulkGroup];
        self.each_part(&tile, (from, None), (to, at), |place, texel| (words.to_vec(), vec![texel, place]), policy);
    }

    /// How a tile of an array and a matrix is moved, or one of `shares` of it.
    fn tile(&mut self, array: &Access, matrix: &PitchedMatrix, shares: u32, is_stored: bool) -> Option<Tile> {
        let kernel = self.kernel;
        let Some((rows, columns, element)) = kernel.tile_of(array) else {
            self.refuse("a tensor copy of what is no tile reached the PTX back end".into(), String::new());
            return None;
        };
        let rows = rows / u64::from(shares);
        let row_bytes = columns * u64::from(element.bytes());
        let swizzle = kernel.swizzled.get(&array.object).copied();
        let Some(parts) = Kernel::tile_parts(rows, row_bytes, kernel.tile_align(array.object)) else {
            self.refuse("a tensor copy of a tile that cannot be parted reached the PTX back end".into(), String::new());
            return None;
        };
        let Some(parameters) = kernel.parameters_of(matrix) else {
            self.refuse("a tensor copy of a matrix that is no parameter reached the PTX back end".into(), String::new());
            return None;
        };
        let part_rows = rows / parts;
        let tile = [part_rows as u32, columns as u32];
        let element = element.bytes().into();
        let map = TensorMap { matrix: parameters, element, tile, swizzle, is_stored };
        let map = self.maps.iter().position(|known| *known == map).unwrap_or_else(|| {
            self.maps.push(map);
            self.maps.len() - 1
        });
        Some(Tile { map, parts, part_rows, part_bytes: part_rows * row_bytes })
    }

    /// A copy for each part of a tile, or of the share of it that has a number: `form` gives its words and operands, of the part's place in shared memory and of that in
    /// the matrix.
    fn each_part(
        &mut self,
        tile: &Tile,
        (array, share): (&Access, Option<Value>),
        (matrix, at): (&PitchedMatrix, [Value; 2]),
        form: impl Fn(Operand, Operand) -> (Vec<Word>, Vec<Operand>),
        policy: Option<Operand>,
    ) {
        let [of_parameter, map] = [(); 2].map(|()| self.temp(RegisterClass::Long));
        ptx!(self, Mov.U64 of_parameter, &self.map_symbol(tile.map));
        ptx!(self, Cvta.Param.U64 map, of_parameter);
        let mut place = self.place_of(array);
        let [mut row, column] = at.map(|value| self.low_word(value));
        let of_batch = matrix.batch.map(|batch| self.low_word(batch.index));
        if let Some(share) = share {
            let (own, share) = (self.address_in_register(array), self.in_register(share));
            let [there, further] = [(); 2].map(|()| self.temp(RegisterClass::Word));
            let (bytes, rows) = (tile.parts * tile.part_bytes, tile.parts * tile.part_rows);
            ptx!(self, Mad.Lo.U32 there, share, bytes as u32, own);
            ptx!(self, Mad.Lo.U32 further, share, rows as u32, row);
            (place, row) = (AddressOperand { base: Base::Reg(there), offset: None }, further);
        }
        for part in 0..tile.parts {
            let row = if part == 0 {
                row
            } else {
                let further = self.temp(RegisterClass::Word);
                ptx!(self, Add.U32 further, row, (part * tile.part_rows) as u32);
                further
            };
            let place = place.after((part * tile.part_bytes) as i32);
            let (words, operands) = form(Operand::from(place), Operand::Texel([map, column, row].into_iter().chain(of_batch).collect()));
            let words = words.into_iter().chain(policy.as_ref().map(|_| Word::L2CacheHint)).collect();
            self.put(Opcode { mnemonic: Mnemonic::Cp, words }, operands.into_iter().chain(policy.clone()).collect());
        }
    }

    /// The parameter that a map is passed in.
    pub(super) fn map_symbol(&self, number: usize) -> Symbol {
        format!("{}_map_{number}", self.entry).into()
    }

    /// The first byte of what an access to shared memory leads to, in a register.
    fn address_in_register(&mut self, access: &Access) -> Reg {
        let place = self.place_of(access);
        let Base::Reg(base) = place.base else { return self.temp(RegisterClass::Word) };
        let Some(offset) = place.offset else { return base };
        let address = self.temp(RegisterClass::Word);
        ptx!(self, Add.U32 address, base, offset);
        address
    }

    /// The low 32 bits of an index.
    fn low_word(&mut self, index: Value) -> Reg {
        let low = self.in_register(index);
        if self.kernel.ty(index).bytes() == 4 {
            return low;
        }
        let word = self.temp(RegisterClass::Word);
        ptx!(self, Cvt.U32.U64 word, low);
        word
    }

    /// Every barrier of an array.
    fn each_barrier(&mut self, object: Object, f: impl Fn(&mut Self, AddressOperand)) {
        let count = match &self.kernel.objects[object].ty {
            MemoryType::Array(_, count) => *count as u32,
            _ => 0,
        };
        let first = self.place_of(&Access { object, path: Vec::new() });
        for n in 0..count {
            f(self, first.after((n * BARRIER.bytes()) as i32));
        }
    }

    /// The first byte of what an access to shared memory leads to.
    pub(super) fn place_of(&mut self, access: &Access) -> AddressOperand {
        let kernel = self.kernel;
        let base = self.temp(RegisterClass::Word);
        self.address(access.object, base);
        let (mut base, mut fixed) = (base, 0u64);
        let mut ty = &kernel.objects[access.object].ty;
        for step in &access.path {
            match (step, ty) {
                (Step::Field(field), MemoryType::Struct(id)) => {
                    let field = &kernel.structs[*id].fields[*field as usize];
                    fixed += field.offset;
                    ty = &field.ty;
                }
                (Step::Index(index), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                    let size = element.size(&kernel.structs);
                    match kernel.constant(*index) {
                        Some(index) => fixed += index.bits * size,
                        None => base = self.further(base, *index, size as u32),
                    }
                    ty = element;
                }
                // The verifier has seen to it that paths fit.
                _ => {}
            }
        }
        AddressOperand { base: Base::Reg(base), offset: None }.after(fixed as i32)
    }

    /// `base + index * size`, in shared memory.
    fn further(&mut self, base: Reg, index: Value, size: u32) -> Reg {
        let low = self.low_word(index);
        let sum = self.temp(RegisterClass::Word);
        ptx!(self, Mad.Lo.U32 sum, low, size, base);
        sum
    }
}
