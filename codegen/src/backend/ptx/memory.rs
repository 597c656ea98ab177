//! Addresses, loads and stores.

use super::emitter::{Emitter, ptx};
use super::registers::{Class, Reg, memory_suffix};
use crate::ir::{Object, ObjectData, ObjectKind, Space, Type, Value};
use std::fmt;

/// What stands between the brackets: a register or a symbol, and bytes added to it.
#[derive(Clone)]
pub(super) enum Place {
    Reg(Reg, i32),
    Symbol(String, i32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, offset): (&dyn fmt::Display, i32) = match self {
            Place::Reg(reg, offset) => (reg, *offset),
            Place::Symbol(symbol, offset) => (symbol, *offset),
        };
        match offset {
            0 => write!(f, "[{base}]"),
            _ => write!(f, "[{base}+{offset}]"),
        }
    }
}

impl Place {
    /// Bytes further on.
    pub(super) fn after(&self, bytes: i32) -> Place {
        match self {
            Place::Reg(reg, offset) => Place::Reg(*reg, offset + bytes),
            Place::Symbol(symbol, offset) => Place::Symbol(symbol.clone(), offset + bytes),
        }
    }
}

/// The word of a space in `ld` and `st`.
pub(super) fn space_word(space: Space) -> &'static str {
    match space {
        Space::Param => "param",
        Space::Global => "global",
        Space::Constant => "const",
        Space::Shared => "shared",
        Space::Local => "local",
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

fn vector_suffix(parts: usize) -> &'static str {
    match parts {
        1 => "",
        2 => ".v2",
        _ => ".v4",
    }
}

/// `%f1`, or `{%f1, %f2}`.
struct List<'a>(&'a [Reg]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => one.fmt(f),
            many => {
                f.write_str("{")?;
                for (n, reg) in many.iter().enumerate() {
                    write!(f, "{}{reg}", if n == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Emitter<'_> {
    /// The name of an object in PTX. Dots and letters that PTX does not take are left out; the index keeps names apart.
    pub(super) fn symbol(&self, object: Object) -> String {
        let data = &self.kernel.objects[object];
        if let Some(n) = self.kernel.params.iter().position(|p| *p == object)
            && data.kind != ObjectKind::Constant
        {
            return format!("{}_param_{n}", self.entry);
        }
        let name: String = data.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        format!("{}_{name}_{}", self.entry, object.0)
    }

    /// The address of an object's first byte.
    pub(super) fn address(&mut self, object: Object, d: Reg) {
        let symbol = self.symbol(object);
        if self.kernel.objects[object].space() == Space::Global {
            // Parameters are generic addresses.
            let generic = self.temp(Class::Long);
            ptx!(self, "ld.param.u64 {generic}, [{symbol}];");
            ptx!(self, "cvta.to.global.u64 {d}, {generic};");
        } else {
            ptx!(self, "mov.u32 {d}, {symbol};");
        }
    }

    /// Where an access goes.
    pub(super) fn place(&mut self, ptr: Value, offset: i32) -> Place {
        match self.named_address(ptr) {
            Some(object) => Place::Symbol(self.symbol(object), offset),
            None => Place::Reg(self.in_register(ptr), offset),
        }
    }

    /// The number of elements of a slice.
    pub(super) fn length(&mut self, object: Object, d: Reg) {
        if !self.lengths.contains(&object) {
            self.lengths.push(object);
        }
        let symbol = self.length_symbol(object);
        ptx!(self, "ld.param.u{} {d}, [{symbol}];", self.kernel.index_type().bits());
    }

    /// The parameter that a slice's length is passed in.
    pub(super) fn length_symbol(&self, object: Object) -> String {
        format!("{}_len", self.symbol(object))
    }

    pub(super) fn load(&mut self, object: Object, place: &Place, results: &[Value]) {
        let data = &self.kernel.objects[object];
        let ty = self.kernel.ty(results[0]);
        // Under a predicate `.nc` would let later stores overtake the load (`predicate`).
        let space = if self.predicate.is_some() { space_word(data.space()) } else { load_space(data) };
        let mut done = 0;
        while done < results.len() {
            let Piece { elements, parts, part } = piece(ty, results.len() - done);
            let wanted: Vec<Reg> = results[done..done + elements].iter().map(|v| self.register(*v)).collect();
            let at = place.after(done as i32 * ty.bytes() as i32);
            // What arrives is not yet the value for `bool` (a byte) and for elements that share a part.
            let is_direct = parts == elements && ty != Type::Bool;
            let arriving = match (is_direct, ty, parts == elements) {
                (true, ..) => wanted.clone(),
                (_, Type::Bool, true) => (0..parts).map(|_| self.temp(Class::Half)).collect(),
                _ => (0..parts).map(|_| self.temp(Class::Word)).collect(),
            };
            ptx!(self, "ld.{space}{}.{} {}, {at};", vector_suffix(parts), memory_suffix(part), List(&arriving));
            if parts != elements {
                self.unpack(ty, &arriving, &wanted);
            } else if ty == Type::Bool {
                for (d, byte) in wanted.iter().zip(&arriving) {
                    ptx!(self, "setp.ne.s16 {d}, {byte}, 0;");
                }
            }
            done += elements;
        }
    }

    pub(super) fn store(&mut self, object: Object, place: &Place, values: &[Value]) {
        let space = space_word(self.kernel.objects[object].space());
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
                ptx!(self, "st.{space}.{} {at}, {value};", memory_suffix(ty));
                continue;
            }
            let mut given: Vec<Reg> = group.iter().map(|v| self.in_register(*v)).collect();
            if ty == Type::Bool {
                given = given.into_iter().map(|p| self.bool_byte(p)).collect();
            }
            let leaving = if parts == elements { given } else { self.pack(ty, &given) };
            ptx!(self, "st.{space}{}.{} {at}, {};", vector_suffix(parts), memory_suffix(part), List(&leaving));
        }
    }

    fn bool_byte(&mut self, predicate: Reg) -> Reg {
        let byte = self.temp(Class::Half);
        ptx!(self, "selp.b16 {byte}, 1, 0, {predicate};");
        byte
    }

    /// 32-bit words into the 8- or 16-bit values that they hold, lowest first.
    fn unpack(&mut self, ty: Type, words: &[Reg], values: &[Reg]) {
        let halves: Vec<Reg> =
            if ty.bytes() == 2 { values.to_vec() } else { (0..words.len() * 2).map(|_| self.temp(Class::Half)).collect() };
        for (word, pair) in words.iter().zip(halves.chunks(2)) {
            ptx!(self, "mov.b32 {{{}, {}}}, {word};", pair[0], pair[1]);
        }
        if ty.bytes() == 2 {
            return;
        }
        for (half, pair) in halves.iter().zip(values.chunks(2)) {
            match ty {
                Type::I8 => {
                    ptx!(self, "cvt.s16.s8 {}, {half};", pair[0]);
                    ptx!(self, "shr.s16 {}, {half}, 8;", pair[1]);
                }
                Type::U8 => {
                    ptx!(self, "and.b16 {}, {half}, 255;", pair[0]);
                    ptx!(self, "shr.u16 {}, {half}, 8;", pair[1]);
                }
                _ => {
                    let [low, high] = [(); 2].map(|()| self.temp(Class::Half));
                    ptx!(self, "and.b16 {low}, {half}, 255;");
                    ptx!(self, "shr.u16 {high}, {half}, 8;");
                    ptx!(self, "setp.ne.s16 {}, {low}, 0;", pair[0]);
                    ptx!(self, "setp.ne.s16 {}, {high}, 0;", pair[1]);
                }
            }
        }
    }

    /// The other way.
    fn pack(&mut self, ty: Type, values: &[Reg]) -> Vec<Reg> {
        let halves: Vec<Reg> = if ty.bytes() == 2 {
            values.to_vec()
        } else {
            let join = |pair: &[Reg]| {
                let [low, high, half] = [(); 3].map(|()| self.temp(Class::Half));
                ptx!(self, "and.b16 {low}, {}, 255;", pair[0]);
                ptx!(self, "shl.b16 {high}, {}, 8;", pair[1]);
                ptx!(self, "or.b16 {half}, {low}, {high};");
                half
            };
            values.chunks(2).map(join).collect()
        };
        let mut words = Vec::new();
        for pair in halves.chunks(2) {
            let word = self.temp(Class::Word);
            ptx!(self, "mov.b32 {word}, {{{}, {}}};", pair[0], pair[1]);
            words.push(word);
        }
        words
    }
}

/// The space of a load, and the read-only cache where nobody writes the buffer.
fn load_space(data: &ObjectData) -> &'static str {
    match data.kind {
        ObjectKind::Global { writable: false } => "global.nc",
        _ => space_word(data.space()),
    }
}
