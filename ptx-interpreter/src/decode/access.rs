//! Instructions that access memory, and those that turn addresses of one space into those of another.

use super::words::Words;
use super::{Decoded, Decoder, Place, refuse};
use crate::evaluate::float::{FloatKind, FloatOp};
use crate::program::{Access, AccessSpace, Atomic, Load, MemoryOp, Op, Src, Tex};
use crate::syntax::RawOperand;
use crate::ty::{Ty, low};

/// State spaces by their words.
pub(super) const SPACES: &[(&str, AccessSpace)] = &[
    ("global", AccessSpace::Global),
    ("shared", AccessSpace::Shared),
    ("shared::cta", AccessSpace::Shared),
    ("shared::cluster", AccessSpace::SharedCluster),
    ("local", AccessSpace::Local),
    ("const", AccessSpace::Const),
    ("param", AccessSpace::Param),
    ("param::entry", AccessSpace::Param),
    ("param::func", AccessSpace::Param),
];

const SCOPES: &[&str] = &["cta", "cluster", "gpu", "sys"];
const OPERATORS: &[&str] = &["ca", "cg", "cs", "lu", "cv", "wb", "wt"];
/// What says to caches how long to keep it.
const HINTS: &[&str] = &[
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_first",
    "L2::evict_last",
    "L2::evict_normal",
    "L2::64B",
    "L2::128B",
    "L2::256B",
];

type AtomicFunction = fn(u64, u64, u64) -> u64;

impl<'t> Decoder<'t> {
    /// What accesses memory, if it does.
    pub(super) fn access(&mut self, name: &'t str, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<Option<Op>> {
        let op = match name {
            "ld" => self.load(words, operands)?,
            "st" => self.store(words, operands)?,
            "atom" | "red" => self.atomic(name == "atom", words, operands)?,
            "tex" => self.tex(words, operands)?,
            "cvta" => self.cvta(words, operands)?,
            "mapa" => self.mapa(words, operands)?,
            _ => return Ok(None),
        };
        Ok(Some(Op::Memory(op)))
    }

    /// What says in which order accesses are seen: here all are in one order.
    fn order(words: &mut Words<'t>, orders: &[&str]) -> Decoded<()> {
        match words.any_of(orders) {
            None | Some("volatile" | "weak") => Ok(()),
            Some(order) => match words.any_of(SCOPES) {
                Some(_) => Ok(()),
                None => refuse(format!("`.{order}` has a scope")),
            },
        }
    }

    /// From the space to the elements: the space, how many elements, their type, whether a policy follows.
    fn shape(&mut self, words: &mut Words<'t>, is_load: bool) -> Decoded<(AccessSpace, usize, Ty, bool)> {
        let space = words.one_of(SPACES).unwrap_or(AccessSpace::Generic);
        words.any_of(OPERATORS);
        let is_cached = is_load && words.takes("nc");
        if is_cached && space != AccessSpace::Global {
            return words.unknown();
        }
        while words.any_of(HINTS).is_some() {}
        let has_policy = words.takes("L2::cache_hint");
        while words.any_of(HINTS).is_some() {}
        let elements = words.one_of(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
        let ty = words.ty()?;
        words.end()?;
        Ok((space, elements, ty, has_policy))
    }

    /// An access to a symbol that calls pass is one to local memory; a symbol must be of the space that the instruction names.
    pub(super) fn place(&mut self, operand: &RawOperand<'t>, space: AccessSpace, bytes: u32) -> Decoded<Access> {
        let (at, place) = self.address(operand)?;
        let fits = match place {
            None => true,
            Some(Place::Global(_)) => matches!(space, AccessSpace::Global | AccessSpace::Generic),
            Some(Place::Const(_)) => space == AccessSpace::Const,
            Some(Place::Shared(_)) => matches!(space, AccessSpace::Shared | AccessSpace::SharedCluster),
            Some(Place::Local(_)) => matches!(space, AccessSpace::Local | AccessSpace::Param),
            Some(Place::Param(_)) => space == AccessSpace::Param,
        };
        if !fits {
            return refuse("the variable is of another state space than the instruction names");
        }
        if at.is_narrow && matches!(space, AccessSpace::Generic | AccessSpace::Global) {
            return refuse("an address of this space has 64 bits");
        }
        let space = if matches!(place, Some(Place::Local(_))) { AccessSpace::Local } else { space };
        Ok(Access { space, at, bytes })
    }

    /// The elements of a vector, or the one that is none.
    fn elements<'o>(operand: &'o RawOperand<'t>, count: usize) -> Decoded<&'o [RawOperand<'t>]> {
        match operand {
            RawOperand::Vector(elements) if elements.len() == count && count > 1 => Ok(elements),
            RawOperand::Vector(_) => refuse(format!("{count} elements are expected")),
            one if count == 1 => Ok(std::slice::from_ref(one)),
            _ => refuse(format!("a vector of {count} elements is expected")),
        }
    }

    fn load(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<MemoryOp> {
        Self::order(words, &["volatile", "weak", "relaxed", "acquire"])?;
        let (space, count, ty, has_policy) = self.shape(words, true)?;
        let (d, at) = match operands {
            [d, at] if !has_policy => (d, at),
            [d, at, _] if has_policy => (d, at),
            _ => return refuse(format!("{} operands are not what this load has", operands.len())),
        };
        let access = self.place(at, space, ty.bytes())?;
        let mut loads = Vec::new();
        for element in Self::elements(d, count)? {
            let RawOperand::Name(name) = element else { return refuse("a load goes to registers") };
            loads.push(if *name == "_" {
                Load { reg: None, extended: None }
            } else {
                let (reg, bits) = self.wide_register(name, ty)?;
                Load { reg: Some(reg), extended: ty.is_signed().then_some(bits) }
            });
        }
        Ok(MemoryOp::Load(access, loads))
    }

    fn store(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<MemoryOp> {
        Self::order(words, &["volatile", "weak", "relaxed", "release"])?;
        let (space, count, ty, has_policy) = self.shape(words, false)?;
        let (at, value) = match operands {
            [at, value] if !has_policy => (at, value),
            [at, value, _] if has_policy => (at, value),
            _ => return refuse(format!("{} operands are not what this store has", operands.len())),
        };
        let access = self.place(at, space, ty.bytes())?;
        if access.space == AccessSpace::Const || access.space == AccessSpace::Param {
            return refuse("nothing is stored to this state space");
        }
        let values = Self::elements(value, count)?.iter().map(|one| self.wide_source(one, ty)).collect::<Decoded<_>>()?;
        Ok(MemoryOp::Store(access, values))
    }

    fn atomic(&mut self, has_result: bool, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<MemoryOp> {
        words.any_of(&["relaxed", "acquire", "release", "acq_rel"]);
        words.any_of(SCOPES);
        let space = words.one_of(SPACES).unwrap_or(AccessSpace::Generic);
        let Some(name) = words.any_of(&["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"]) else {
            return words.unknown();
        };
        words.takes("noftz");
        let has_policy = words.takes("L2::cache_hint");
        let ty = words.ty()?;
        words.end()?;
        let Some(f) = function(name, ty, space) else { return words.unknown() };
        let reads = if name == "cas" { 2 } else { 1 };
        let (d, rest) =
            if has_result { operands.split_first().map(|(d, rest)| (Some(d), rest)).unwrap_or((None, operands)) } else { (None, operands) };
        if rest.len() != 1 + reads + usize::from(has_policy) {
            return refuse(format!("{} operands are not what this atomic has", operands.len()));
        }
        let access = self.place(&rest[0], space, ty.bytes())?;
        let first = self.source(&rest[1], ty)?;
        let second = if reads == 2 { self.source(&rest[2], ty)? } else { first };
        let old = match d {
            Some(d) => self.optional_result(d, ty)?,
            None => None,
        };
        Ok(MemoryOp::Atomic(Box::new(Atomic { access, f, old, operands: [first, second] })))
    }

    fn tex(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<MemoryOp> {
        if !(words.takes("2d") && words.takes("v4")) {
            return words.unknown();
        }
        let (ty, coordinates) = (words.ty()?, words.ty()?);
        words.end()?;
        let is_fetch = coordinates == Ty::S32;
        if !is_fetch && coordinates != Ty::F32 || !matches!(ty, Ty::F32 | Ty::S32 | Ty::U32) {
            return words.unknown();
        }
        let [RawOperand::Vector(d), RawOperand::Texel(handle, at)] = operands else { return words.unknown() };
        let ([x, y], [a, b, c, e]) = (&at[..], &d[..]) else { return words.unknown() };
        let mut results = [None; 4];
        for (result, operand) in results.iter_mut().zip([a, b, c, e]) {
            *result = self.optional_result(operand, ty)?;
        }
        let handle = self.source(&RawOperand::Name(handle), Ty::U64)?;
        let at = [self.source(x, coordinates)?, self.source(y, coordinates)?];
        Ok(MemoryOp::Tex(Box::new(Tex { results, ty, handle, at, is_fetch })))
    }

    fn cvta(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<MemoryOp> {
        let is_from = words.takes("to");
        let space = words.needs("a state space", SPACES)?;
        let ty = words.ty()?;
        words.end()?;
        if ty != Ty::U64 {
            return words.unknown();
        }
        let [d, a] = Self::exactly(operands)?;
        let (d, a) = (self.result(d, ty)?, self.source(a, ty)?);
        Ok(if is_from { MemoryOp::FromGeneric(space, d, a) } else { MemoryOp::ToGeneric(space, d, a) })
    }

    fn mapa(&mut self, words: &mut Words<'t>, operands: &[RawOperand<'t>]) -> Decoded<MemoryOp> {
        let is_shared = words.takes("shared::cluster");
        let ty = words.ty()?;
        words.end()?;
        let [d, a, rank] = Self::exactly(operands)?;
        let d = self.result(d, ty)?;
        let sources: [Src; 2] = [self.source(a, ty)?, self.source(rank, Ty::U32)?];
        Ok(MemoryOp::Mapa(d, sources, !is_shared))
    }
}

/// Wrapping sums and the like of one width.
macro_rules! of_widths {
    ($ty:expr, $($variant:ident: $name:ty),*; |$a:ident, $b:ident| $result:expr) => {
        match $ty {
            $(Ty::$variant => Some((|$a: u64, $b: u64, _: u64| { let ($a, $b) = ($a as $name, $b as $name); low(($result) as u64, Ty::$variant.bits()) }) as AtomicFunction),)*
            _ => None,
        }
    };
}

/// The new value of an atomic, from the old one and its operands.
fn function(name: &str, ty: Ty, space: AccessSpace) -> Option<AtomicFunction> {
    match name {
        "add" if ty == Ty::F32 && space == AccessSpace::Shared => {
            Some(|old, b, _| FloatOp::new(FloatKind::Add, Ty::F32).evaluate(old, b, 0))
        }
        // Of global memory, subnormal numbers are zeros.
        "add" if ty == Ty::F32 => Some(|old, b, _| FloatOp { flushes: true, ..FloatOp::new(FloatKind::Add, Ty::F32) }.evaluate(old, b, 0)),
        "add" if ty == Ty::F64 => Some(|old, b, _| FloatOp::new(FloatKind::Add, Ty::F64).evaluate(old, b, 0)),
        "add" if ty == Ty::F16 => Some(|old, b, _| FloatOp::new(FloatKind::Add, Ty::F16).evaluate(old, b, 0)),
        "add" if ty == Ty::F16x2 => Some(|old, b, _| FloatOp::new(FloatKind::Add, Ty::F16x2).evaluate(old, b, 0)),
        "add" if ty == Ty::Bf16 => Some(|old, b, _| FloatOp::new(FloatKind::Add, Ty::Bf16).evaluate(old, b, 0)),
        "add" if ty == Ty::Bf16x2 => Some(|old, b, _| FloatOp::new(FloatKind::Add, Ty::Bf16x2).evaluate(old, b, 0)),
        "add" => of_widths!(ty, U32: u32, S32: u32, U64: u64; |a, b| a.wrapping_add(b)),
        "min" => of_widths!(ty, U32: u32, S32: i32, U64: u64, S64: i64; |a, b| a.min(b)),
        "max" => of_widths!(ty, U32: u32, S32: i32, U64: u64, S64: i64; |a, b| a.max(b)),
        "and" => of_widths!(ty, B32: u32, B64: u64; |a, b| a & b),
        "or" => of_widths!(ty, B32: u32, B64: u64; |a, b| a | b),
        "xor" => of_widths!(ty, B32: u32, B64: u64; |a, b| a ^ b),
        "inc" => of_widths!(ty, U32: u32; |a, b| if a >= b { 0 } else { a + 1 }),
        "dec" => of_widths!(ty, U32: u32; |a, b| if a == 0 || a > b { b } else { a - 1 }),
        "exch" if matches!(ty, Ty::B32 | Ty::B64) => Some(|_, b, _| b),
        "cas" if matches!(ty, Ty::B16 | Ty::B32 | Ty::B64) => Some(|old, b, c| if old == b { c } else { old }),
        _ => None,
    }
}
