//! Addresses, loads and stores.

use super::cache::Hint;
use super::code::{AddressOperand, Base, Opcode, Reg, RegisterClass, Symbol};
use super::emitter::{Emitter, ptx};
use super::types::{memory_suffix, unsigned, untyped};
use super::words::{Mnemonic, Word};
use crate::intrinsics::CLUSTERS;
use crate::ir::{Axis, Object, ObjectKind, Space, Type, Value};

/// The word of a space in `ld` and `st`.
pub(super) fn space_word(space: Space) -> Word {
    match space {
        Space::Param => Word::Param,
        Space::Global => Word::Global,
        Space::Constant => Word::Const,
        Space::Shared => Word::Shared,
        Space::Cluster => Word::SharedCluster,
        Space::Local => Word::Local,
    }
}

/// How a vector access is cut into instructions of at most 16 bytes: for each, the elements of the access that it carries, how many
/// parts it has, and the type of a part.
struct Piece {
    elements: usize,
    parts: usize,
    part: Type,
}

/// 16 bytes, or less. Up to 4 parts: smaller elements share 32-bit parts.
fn piece(ty: Type, elements: usize) -> Piece {
    let fit = (16 / ty.bytes() as usize).min(elements);
    if fit <= 4 {
        Piece { elements: fit, parts: fit, part: ty }
    } else {
        Piece { elements: fit, parts: fit * ty.bytes() as usize / 4, part: Type::U32 }
    }
}

/// The opcode of an access to `parts` of a type in memory: `nc` if it goes through the read-only cache.
fn opcode(mnemonic: Mnemonic, (space, nc, hint): (Word, Option<Word>, &Hint), parts: usize, part: Word) -> Opcode {
    let vector = match parts {
        1 => None,
        2 => Some(Word::V2),
        _ => Some(Word::V4),
    };
    let (before, behind): (&[Word], &[Word]) = if hint.is_operator { (&hint.words, &[]) } else { (&[], &hint.words) };
    let words = [Some(space)].into_iter().chain(before.iter().map(|word| Some(*word))).chain([nc]);
    let words = words.chain(behind.iter().map(|word| Some(*word))).chain([vector, Some(part)]);
    Opcode { mnemonic, words: words.flatten().collect() }
}

/// What stands in memory where values go or come from: several types of one width are bits.
fn suffix_of(emitter: &Emitter<'_>, part: Type, values: &[Value]) -> Word {
    let is_mixed = values.windows(2).any(|pair| emitter.kernel.ty(pair[0]) != emitter.kernel.ty(pair[1]));
    if is_mixed { untyped(part.bits()) } else { memory_suffix(part) }
}

impl Emitter<'_> {
    /// The name of an object in PTX. Dots and letters that PTX does not take are left out; the index keeps names apart.
    pub(super) fn symbol(&self, object: Object) -> Symbol {
        let data = &self.kernel.objects[object];
        if let Some(n) = self.kernel.params.iter().position(|p| *p == object)
            && data.kind != ObjectKind::Constant
        {
            return format!("{}_param_{n}", self.entry).into();
        }
        let name: String = data.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        format!("{}_{name}_{}", self.entry, object.0).into()
    }

    /// The address of an object's first byte.
    pub(super) fn address(&mut self, object: Object, d: Reg) {
        if let Some(place) = self.place_in_region(object) {
            let symbol: Symbol = self.region_symbol().into();
            if place == 0 {
                return ptx!(self, Mov.U32 d, &symbol);
            }
            let region = self.temp(RegisterClass::Word);
            ptx!(self, Mov.U32 region, &symbol);
            return ptx!(self, Add.U32 d, region, place as u32);
        }
        let symbol = self.symbol(object);
        if self.kernel.objects[object].space() == Space::Global {
            // Parameters are generic addresses.
            let generic = self.temp(RegisterClass::Long);
            ptx!(self, Ld.Param.U64 generic, AddressOperand::of(&symbol));
            ptx!(self, Cvta.To.Global.U64 d, generic);
        } else {
            ptx!(self, Mov.U32 d, &symbol);
        }
    }

    /// The address of a shared array's first byte in another block of the cluster.
    pub(super) fn peer_address(&mut self, object: Object, rank: Value, d: Reg) {
        let ObjectKind::Peers(array) = self.kernel.objects[object].kind else { return };
        if let Some((missing, help)) = CLUSTERS.missing(self.target) {
            return self.refuse(format!("`shared_of` {missing}"), help);
        }
        self.needs(CLUSTERS.ptx_version);
        let own = self.temp(RegisterClass::Word);
        self.address(array, own);
        let rank = self.in_register(rank);
        ptx!(self, Mapa.SharedCluster.U32 d, own, rank);
    }

    /// Where an access goes.
    pub(super) fn place(&mut self, ptr: Value, offset: i32) -> AddressOperand {
        let (base, first) = match self.named_address(ptr) {
            Some(object) => match self.place_in_region(object) {
                Some(place) => (Base::Symbol(self.region_symbol().into()), place as i32),
                None => (Base::Symbol(self.symbol(object)), 0),
            },
            None => (Base::Reg(self.in_register(ptr)), 0),
        };
        AddressOperand { base, offset: None }.after(first + offset)
    }

    /// The number of elements of a slice.
    pub(super) fn length(&mut self, object: Object, d: Reg) {
        if !self.lengths.contains(&object) {
            self.lengths.push(object);
        }
        let symbol = self.length_symbol(object);
        ptx!(self, Ld.Param.(unsigned(self.kernel.index_type().bits())) d, AddressOperand::of(&symbol));
    }

    /// The blocks of the grid that was asked for.
    pub(super) fn asked_grid(&mut self, axis: Axis, d: Reg) {
        self.asks_grid = true;
        let symbol = self.asked_grid_symbol(axis);
        ptx!(self, Ld.Param.U32 d, AddressOperand::of(&symbol));
    }

    /// The parameter that they are passed in.
    pub(super) fn asked_grid_symbol(&self, axis: Axis) -> Symbol {
        format!("{}_grid_{}", self.entry, axis.word()).into()
    }

    /// The parameter that a slice's length is passed in.
    pub(super) fn length_symbol(&self, object: Object) -> Symbol {
        format!("{}_len", self.symbol(object)).into()
    }

    pub(super) fn load(&mut self, object: Object, place: &AddressOperand, results: &[Value]) {
        let data = &self.kernel.objects[object];
        let ty = self.kernel.ty(results[0]);
        // The read-only cache where nobody writes the buffer while the kernel runs: one that overlaps with others runs before they have written. Under a predicate `.nc` would let later stores overtake the load (`predicate`), and a
        // barrier that it is issued ahead of (`early`).
        let is_cached = data.kind == ObjectKind::Global { writable: false }
            && self.predicate.is_none()
            && !self.overlaps
            && !self.is_ahead_of_barrier();
        let hint = self.hint(object, true);
        // `lu` is for memory that is written.
        let is_cached = is_cached && !hint.words.contains(&Word::Lu);
        let (space, nc) = (space_word(data.space()), is_cached.then_some(Word::Nc));
        let mut done = 0;
        while done < results.len() {
            let Piece { elements, parts, part } = piece(ty, results.len() - done);
            let wanted: Vec<Reg> = results[done..done + elements].iter().map(|v| self.register(*v)).collect();
            let at = place.after(done as i32 * ty.bytes() as i32);
            // What arrives is not yet the value for `bool` (a byte) and for elements that share a part.
            let is_direct = parts == elements && ty != Type::Bool;
            let arriving = match (is_direct, ty, parts == elements) {
                (true, ..) => wanted.clone(),
                (_, Type::Bool, true) => (0..parts).map(|_| self.temp(RegisterClass::Half)).collect(),
                _ => (0..parts).map(|_| self.temp(RegisterClass::Word)).collect(),
            };
            if !is_direct {
                self.begin_with_zeros(&arriving);
            }
            // `ptxas` (11.8 to 13.5) takes a byte of `ld.v4.s8` that is made unsigned, and then a float, for signed: the sign is given to each byte by itself.
            let gives_signs = ty == Type::I8 && is_direct && parts > 1;
            let suffix = if gives_signs { memory_suffix(Type::U8) } else { suffix_of(self, part, &results[done..done + elements]) };
            let operands = [arriving.as_slice().into(), at.into()].into_iter().chain(hint.policy.clone());
            let mut opcode = opcode(Mnemonic::Ld, (space, nc, &hint), parts, suffix);
            if self.keeps_order() {
                opcode.words.insert(0, Word::Volatile);
            }
            self.put(opcode, operands.collect());
            if parts != elements {
                let each = elements / parts;
                for (n, value) in results[done..done + elements].iter().enumerate() {
                    self.parts_of_words.insert(*value, (arriving[n / each], n % each));
                }
                self.unpack(ty, &arriving, &wanted);
            } else if gives_signs {
                for d in &wanted {
                    ptx!(self, Cvt.S16.S8 d, d);
                }
            } else if ty == Type::Bool {
                for (d, byte) in wanted.iter().zip(&arriving) {
                    ptx!(self, Setp.Ne.S16 d, byte, 0);
                }
            }
            done += elements;
        }
    }

    pub(super) fn store(&mut self, object: Object, place: &AddressOperand, values: &[Value]) {
        let space = space_word(self.kernel.objects[object].space());
        let hint = self.hint(object, false);
        let ty = self.kernel.ty(values[0]);
        let mut done = 0;
        while done < values.len() {
            let Piece { elements, parts, part } = piece(ty, values.len() - done);
            let at = place.after(done as i32 * ty.bytes() as i32);
            let group = &values[done..done + elements];
            done += elements;
            if let [one] = group
                && !matches!(ty, Type::Bool)
            {
                let value = self.operand(*one);
                let operands = [at.into(), value].into_iter().chain(hint.policy.clone());
                self.put(opcode(Mnemonic::St, (space, None, &hint), 1, memory_suffix(ty)), operands.collect());
                continue;
            }
            let mut given: Vec<Reg> = group.iter().map(|v| self.in_register(*v)).collect();
            if ty == Type::Bool {
                given = given.into_iter().map(|p| self.bool_byte(p)).collect();
            }
            let leaving = if parts == elements {
                given
            } else {
                let each = elements / parts;
                let one =
                    |(values, given): (&[Value], &[Reg])| self.whole_word(values).map_or_else(|| self.pack(ty, given), |word| vec![word]);
                group.chunks(each).zip(given.chunks(each)).flat_map(one).collect()
            };
            let suffix = suffix_of(self, part, group);
            let operands = [at.into(), leaving.as_slice().into()].into_iter().chain(hint.policy.clone());
            self.put(opcode(Mnemonic::St, (space, None, &hint), parts, suffix), operands.collect());
        }
    }

    fn bool_byte(&mut self, predicate: Reg) -> Reg {
        let byte = self.temp(RegisterClass::Half);
        ptx!(self, Selp.B16 byte, 1, 0, predicate);
        byte
    }

    /// Zeros for registers that a predicated load is about to write, and nothing else has written. `ptxas` (11.8 to 13.5) takes two loads of one place for one, though they
    /// stand under different predicates, if nothing is known of what the registers held before: what the second was to load is then whatever the register of the first happens to hold.
    fn begin_with_zeros(&mut self, registers: &[Reg]) {
        let Some(predicate) = self.predicate.take() else { return };
        for register in registers {
            if register.class == RegisterClass::Half {
                ptx!(self, Mov.B16 register, 0);
            } else {
                ptx!(self, Mov.B32 register, 0);
            }
        }
        self.predicate = Some(predicate);
    }

    /// 32-bit words into the 8- or 16-bit values that they hold, lowest first.
    fn unpack(&mut self, ty: Type, words: &[Reg], values: &[Reg]) {
        if ty.bytes() == 2 {
            for (word, pair) in words.iter().zip(values.chunks(2)) {
                ptx!(self, Mov.B32 [pair[0], pair[1]], word);
            }
            return;
        }
        // Each byte in a half of its own, below zeros or below its sign.
        let selectors = if ty == Type::I8 { [0x9180, 0xb3a2] } else { [0x4140, 0x4342] };
        for (word, four) in words.iter().zip(values.chunks(4)) {
            for (selector, pair) in selectors.into_iter().zip(four.chunks(2)) {
                let halves = self.temp(RegisterClass::Word);
                ptx!(self, Prmt.B32 halves, word, 0, selector);
                if ty != Type::Bool {
                    ptx!(self, Mov.B32 [pair[0], pair[1]], halves);
                    continue;
                }
                let bytes = [(); 2].map(|()| self.temp(RegisterClass::Half));
                ptx!(self, Mov.B32 [bytes[0], bytes[1]], halves);
                for (d, byte) in pair.iter().zip(bytes) {
                    ptx!(self, Setp.Ne.S16 d, byte, 0);
                }
            }
        }
    }

    /// The other way.
    fn pack(&mut self, ty: Type, values: &[Reg]) -> Vec<Reg> {
        let mut pairs = Vec::new();
        for pair in values.chunks(2) {
            let word = self.temp(RegisterClass::Word);
            ptx!(self, Mov.B32 word, [pair[0], pair[1]]);
            pairs.push(word);
        }
        if ty.bytes() == 2 {
            return pairs;
        }
        let mut words = Vec::new();
        for two in pairs.chunks(2) {
            let word = self.temp(RegisterClass::Word);
            // The lower byte of each half.
            ptx!(self, Prmt.B32 word, two[0], two[1], 0x6420);
            words.push(word);
        }
        words
    }

    /// The word that values were unpacked from, if they are all that it holds, in order: what is copied is not taken apart.
    fn whole_word(&self, values: &[Value]) -> Option<Reg> {
        let (first, _) = self.parts_of_words.get(values.first()?)?;
        let is_part = |(n, value): (usize, &Value)| self.parts_of_words.get(value) == Some(&(*first, n));
        values.iter().enumerate().all(is_part).then_some(*first)
    }
}
