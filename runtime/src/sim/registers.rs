//! The register file of a warp, and how operations go over its 32 lanes.
//!
//! Every value of the IR has a slot: a 32-bit mask for a `bool`, 32 words of 32 bits for types up to 32 bits (narrower ones
//! zero-extended, as in [`warpwright_codegen::ir::Scalar`]), 32 words of 64 bits for the rest. Operations compute all lanes, active or
//! not: an inactive lane of a result is never looked at, and a loop over all 32 lanes is what the compiler makes vector code of.

use half::{bf16, f16};
use warpwright_codegen::ir::Type;
use warpwright_codegen::ir::eval::lane::Lane;
use warpwright_codegen::target::limits::LANES;

/// A set of lanes: bit n is lane n.
pub(super) type Mask = u32;

/// The lanes of a mask, in order.
pub(super) fn lanes(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// A slot of the register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reg {
    /// A `bool`.
    Pred(u16),
    /// A type of up to 32 bits.
    Narrow(u16),
    /// A type of 64 bits.
    Wide(u16),
}

impl Reg {
    /// The slot's number in its file.
    pub(super) fn index(self) -> u16 {
        match self {
            Reg::Pred(n) | Reg::Narrow(n) | Reg::Wide(n) => n,
        }
    }

    /// The number of its file.
    pub(super) fn file(self) -> usize {
        match self {
            Reg::Pred(_) => 0,
            Reg::Narrow(_) => 1,
            Reg::Wide(_) => 2,
        }
    }

    /// Which file a type lives in: 0, 1 or 2 for `Pred`, `Narrow`, `Wide`.
    pub(super) fn file_of(ty: Type) -> usize {
        match ty {
            Type::Bool => 0,
            ty if ty.bytes() == 8 => 2,
            _ => 1,
        }
    }

    /// Slot `n` of file `file`.
    pub(super) fn new(file: usize, n: u16) -> Reg {
        match file {
            0 => Reg::Pred(n),
            1 => Reg::Narrow(n),
            _ => Reg::Wide(n),
        }
    }
}

/// The slots of an operation; unused ones are 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operands {
    /// The result.
    pub(super) d: u16,
    /// First operand.
    pub(super) a: u16,
    /// Second operand.
    pub(super) b: u16,
    /// Third operand.
    pub(super) c: u16,
}

/// An operation over all lanes.
pub(super) type Pure = fn(&mut Registers, &Operands);

/// A check over all lanes: gives those that fail it.
pub(super) type Check = fn(&Registers, &Operands) -> Mask;

/// The register file of one warp.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Registers {
    /// `bool`s.
    pub(super) preds: Vec<Mask>,
    /// Up to 32 bits.
    pub(super) narrow: Vec<[u32; LANES]>,
    /// 64 bits.
    pub(super) wide: Vec<[u64; LANES]>,
}

impl Registers {
    /// A file with this many slots of each kind, all zero.
    pub(super) fn new(sizes: [usize; 3]) -> Registers {
        Registers { preds: vec![0; sizes[0]], narrow: vec![[0; LANES]; sizes[1]], wide: vec![[0; LANES]; sizes[2]] }
    }

    /// The bits of one lane.
    pub(super) fn lane(&self, reg: Reg, lane: usize) -> u64 {
        match reg {
            Reg::Pred(n) => u64::from(self.preds[n as usize] >> lane & 1),
            Reg::Narrow(n) => u64::from(self.narrow[n as usize][lane]),
            Reg::Wide(n) => self.wide[n as usize][lane],
        }
    }

    /// The bits of all lanes.
    pub(super) fn all(&self, reg: Reg) -> [u64; LANES] {
        match reg {
            Reg::Pred(n) => std::array::from_fn(|lane| u64::from(self.preds[n as usize] >> lane & 1)),
            Reg::Narrow(n) => self.narrow[n as usize].map(u64::from),
            Reg::Wide(n) => self.wide[n as usize],
        }
    }

    /// Sets all lanes; bits beyond the slot's width are cut off.
    pub(super) fn set_all(&mut self, reg: Reg, bits: &[u64; LANES]) {
        match reg {
            Reg::Pred(n) => self.preds[n as usize] = pack(|lane| bits[lane] & 1 != 0),
            Reg::Narrow(n) => {
                let slot = &mut self.narrow[n as usize];
                for lane in 0..LANES {
                    slot[lane] = bits[lane] as u32;
                }
            }
            Reg::Wide(n) => self.wide[n as usize] = *bits,
        }
    }

    /// Sets all lanes to one value.
    pub(super) fn splat(&mut self, reg: Reg, bits: u64) {
        match reg {
            Reg::Pred(n) => self.preds[n as usize] = if bits & 1 != 0 { Mask::MAX } else { 0 },
            Reg::Narrow(n) => self.narrow[n as usize] = [bits as u32; LANES],
            Reg::Wide(n) => self.wide[n as usize] = [bits; LANES],
        }
    }
}

/// The mask of the lanes for which `f` holds.
#[inline(always)]
pub(super) fn pack(f: impl Fn(usize) -> bool) -> Mask {
    let mut mask = 0;
    for byte in 0..LANES / 8 {
        // Eight flags as bytes 0 or 1, gathered into eight bits by one multiplication: flag n lands on bit 56 + n.
        let flags: [u8; 8] = std::array::from_fn(|n| u8::from(f(byte * 8 + n)));
        let bits = u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= (bits as u32) << (byte * 8);
    }
    mask
}

/// A word of the register file: `u32` or `u64`.
pub(super) trait Word: Copy + Default + PartialEq + 'static {
    /// The file of such words.
    fn file(registers: &Registers) -> &[[Self; LANES]];
    /// The same, to change.
    fn file_mut(registers: &mut Registers) -> &mut [[Self; LANES]];
    /// The low bits.
    fn cut(bits: u64) -> Self;
    /// Zero-extended.
    fn widen(self) -> u64;
}

macro_rules! word {
    ($word:ident, $file:ident) => {
        impl Word for $word {
            #[inline(always)]
            fn file(registers: &Registers) -> &[[$word; LANES]] {
                &registers.$file
            }
            #[inline(always)]
            fn file_mut(registers: &mut Registers) -> &mut [[$word; LANES]] {
                &mut registers.$file
            }
            #[inline(always)]
            fn cut(bits: u64) -> $word {
                bits as $word
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                u64::from(self)
            }
        }
    };
}

word!(u32, narrow);
word!(u64, wide);

/// A scalar type that lives in words.
pub(super) trait Slot: Lane {
    /// The word.
    type Word: Word;

    /// Out of a word.
    #[inline(always)]
    fn take(word: Self::Word) -> Self {
        Self::from_bits(word.widen())
    }

    /// Into a word.
    #[inline(always)]
    fn give(self) -> Self::Word {
        Self::Word::cut(self.to_bits())
    }
}

macro_rules! slot {
    ($($word:ident: $($ty:ident)*;)*) => {
        $($(impl Slot for $ty { type Word = $word; })*)*
    };
}

slot! {
    u32: i8 u8 i16 u16 i32 u32 f16 bf16 f32;
    u64: i64 u64 f64;
}

/// A result slot, and the rest of its file for the operands. A result's slot differs from its operands': slots are freed only after the
/// instruction of their last use, whose results have theirs by then.
#[inline(always)]
fn split<W: Word>(registers: &mut Registers, d: u16) -> (&mut [W; LANES], Sources<'_, W>) {
    let (below, rest) = W::file_mut(registers).split_at_mut(usize::from(d));
    let (dest, above) = rest.split_first_mut().expect("slots are numbered within their file");
    (dest, Sources { below, above })
}

/// A file but for one slot.
struct Sources<'a, W> {
    below: &'a [[W; LANES]],
    above: &'a [[W; LANES]],
}

impl<'a, W> Sources<'a, W> {
    #[inline(always)]
    fn get(&self, n: u16) -> &'a [W; LANES] {
        let n = usize::from(n);
        if n < self.below.len() { &self.below[n] } else { &self.above[n - self.below.len() - 1] }
    }
}

/// `d = f(a)`, within a file.
#[inline(always)]
pub(super) fn map1<T: Slot>(registers: &mut Registers, o: &Operands, f: impl Fn(T) -> T) {
    let (dest, from) = split::<T::Word>(registers, o.d);
    let a = from.get(o.a);
    for lane in 0..LANES {
        dest[lane] = f(T::take(a[lane])).give();
    }
}

/// `d = f(a)`, across files or not.
#[inline(always)]
pub(super) fn convert<S: Slot, T: Slot>(registers: &mut Registers, o: &Operands, f: impl Fn(S) -> T) {
    let a = S::Word::file(registers)[usize::from(o.a)];
    let dest = &mut T::Word::file_mut(registers)[usize::from(o.d)];
    for lane in 0..LANES {
        dest[lane] = f(S::take(a[lane])).give();
    }
}

/// `d = f(a, b)`.
#[inline(always)]
pub(super) fn map2<T: Slot>(registers: &mut Registers, o: &Operands, f: impl Fn(T, T) -> T) {
    let (dest, from) = split::<T::Word>(registers, o.d);
    let (a, b) = (from.get(o.a), from.get(o.b));
    for lane in 0..LANES {
        dest[lane] = f(T::take(a[lane]), T::take(b[lane])).give();
    }
}

/// `d = f(a, b, c)`.
#[inline(always)]
pub(super) fn map3<T: Slot>(registers: &mut Registers, o: &Operands, f: impl Fn(T, T, T) -> T) {
    let (dest, from) = split::<T::Word>(registers, o.d);
    let (a, b, c) = (from.get(o.a), from.get(o.b), from.get(o.c));
    for lane in 0..LANES {
        dest[lane] = f(T::take(a[lane]), T::take(b[lane]), T::take(c[lane])).give();
    }
}

/// `d = f(a, b)` with `b` a `u32`, for shifts.
#[inline(always)]
pub(super) fn map_count<T: Slot>(registers: &mut Registers, o: &Operands, f: impl Fn(T, u32) -> T) {
    let b = registers.narrow[usize::from(o.b)];
    let (dest, from) = split::<T::Word>(registers, o.d);
    let a = from.get(o.a);
    for lane in 0..LANES {
        dest[lane] = f(T::take(a[lane]), b[lane]).give();
    }
}

/// The lanes for which `f(a)` holds.
#[inline(always)]
pub(super) fn test1<T: Slot>(registers: &Registers, o: &Operands, f: impl Fn(T) -> bool) -> Mask {
    let a = &T::Word::file(registers)[usize::from(o.a)];
    pack(|lane| f(T::take(a[lane])))
}

/// The lanes for which `f(a, b)` holds.
#[inline(always)]
pub(super) fn test2<T: Slot>(registers: &Registers, o: &Operands, f: impl Fn(T, T) -> bool) -> Mask {
    let file = T::Word::file(registers);
    let (a, b) = (&file[usize::from(o.a)], &file[usize::from(o.b)]);
    pack(|lane| f(T::take(a[lane]), T::take(b[lane])))
}

/// The lanes for which `f(a, b, c)` holds.
#[inline(always)]
pub(super) fn test3<T: Slot>(registers: &Registers, o: &Operands, f: impl Fn(T, T, T) -> bool) -> Mask {
    let file = T::Word::file(registers);
    let (a, b, c) = (&file[usize::from(o.a)], &file[usize::from(o.b)], &file[usize::from(o.c)]);
    pack(|lane| f(T::take(a[lane]), T::take(b[lane]), T::take(c[lane])))
}

/// `d = if c { a } else { b }`; `c` is a mask.
#[inline(always)]
pub(super) fn select<W: Word>(registers: &mut Registers, o: &Operands) {
    let mask = registers.preds[usize::from(o.c)];
    let (dest, from) = split::<W>(registers, o.d);
    let (a, b) = (from.get(o.a), from.get(o.b));
    for lane in 0..LANES {
        dest[lane] = if mask & (1 << lane) != 0 { a[lane] } else { b[lane] };
    }
}

/// `d = a` in the lanes of `mask`.
#[inline(always)]
pub(super) fn copy_masked<W: Word>(registers: &mut Registers, d: u16, a: u16, mask: Mask) {
    if d == a {
        return;
    }
    let (dest, from) = split::<W>(registers, d);
    let a = from.get(a);
    if mask == Mask::MAX {
        *dest = *a;
        return;
    }
    for lane in 0..LANES {
        dest[lane] = if mask & (1 << lane) != 0 { a[lane] } else { dest[lane] };
    }
}
