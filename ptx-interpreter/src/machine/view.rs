//! What one thread sees while it runs: its registers, and memory in all state spaces.

use crate::decode::{CONST_PLACE_BITS, SHARED_BEGIN};
use crate::error::{FaultKind, Step, Stumble};
use crate::evaluate::integer::insert;
use crate::memory::{CONST_WINDOW, LOCAL_WINDOW, Memory, PARAM_WINDOW, SHARED_WINDOW, WINDOWS};
use crate::program::{Access, AccessSpace, Address, Atomic, BoolOp, Compute, Load, MemoryOp, Reg, Relation, Setp, Src};
use crate::ty::{low, signed};
use std::cmp::Ordering;

/// Bits of a shared address that are the place in a block; the bits above are the block's number in its cluster and one, or zero for the own block.
pub(crate) const SHARED_PLACE_BITS: u32 = 24;
const SHARED_PLACE: u64 = (1 << SHARED_PLACE_BITS) - 1;

/// Memory, as a thread reaches it.
pub(crate) struct Spaces<'a> {
    pub(crate) memory: &'a mut Memory,
    /// Shared memory of each block of the cluster, and which is the own.
    pub(crate) shared: &'a mut [Vec<u8>],
    pub(crate) rank: usize,
    pub(crate) local: &'a mut [u8],
    pub(crate) params: &'a [u8],
    /// Addresses of the module's `.const` variables.
    pub(crate) constants: &'a [u64],
}

/// A thread that runs.
pub(crate) struct View<'a> {
    pub(crate) registers: &'a mut [u64],
    /// The program's constants.
    pub(crate) literals: &'a [u64],
    pub(crate) spaces: Spaces<'a>,
}

/// Where bytes are, once windows are told apart.
#[derive(Clone, Copy)]
enum Found {
    Memory(u64),
    Shared(usize, usize),
    Local(usize),
    Param(usize),
}

impl Spaces<'_> {
    #[inline]
    fn find(&self, space: AccessSpace, address: u64) -> Step<Found> {
        match space {
            AccessSpace::Global => Ok(Found::Memory(address)),
            AccessSpace::Shared if address <= SHARED_PLACE => Ok(Found::Shared(self.rank, address as usize)),
            AccessSpace::Shared => Err(illegal(format!("{address:#x} is no address of the block's own shared memory"))),
            AccessSpace::SharedCluster => self.find_shared(address),
            AccessSpace::Local => Ok(Found::Local(address as usize)),
            AccessSpace::Param => Ok(Found::Param(address as usize)),
            AccessSpace::Const => {
                let variable = (address >> CONST_PLACE_BITS).wrapping_sub(1) as usize;
                match self.constants.get(variable) {
                    Some(base) => Ok(Found::Memory(base + low(address, CONST_PLACE_BITS))),
                    None => Err(illegal(format!("{address:#x} is no address of constant memory"))),
                }
            }
            AccessSpace::Generic => match address & WINDOWS {
                0 => Ok(Found::Memory(address)),
                SHARED_WINDOW => self.find_shared(address & !WINDOWS),
                LOCAL_WINDOW => Ok(Found::Local((address & !WINDOWS) as usize)),
                PARAM_WINDOW => Ok(Found::Param((address & !WINDOWS) as usize)),
                CONST_WINDOW => self.find(AccessSpace::Const, address & !WINDOWS),
                _ => Err(illegal(format!("{address:#x} is no address"))),
            },
        }
    }

    fn find_shared(&self, address: u64) -> Step<Found> {
        let block = match address >> SHARED_PLACE_BITS {
            0 => self.rank,
            number => number as usize - 1,
        };
        if block >= self.shared.len() {
            return Err(illegal(format!("shared address {address:#x} is of block {block} of a cluster of {}", self.shared.len())));
        }
        Ok(Found::Shared(block, (address & SHARED_PLACE) as usize))
    }

    /// Bytes that are read; so many must be at a multiple of their number.
    #[inline]
    pub(crate) fn read(&self, space: AccessSpace, address: u64, bytes: u32) -> Step<&[u8]> {
        aligned(address, bytes)?;
        self.read_anywhere(space, address, bytes)
    }

    /// The same at any address.
    #[inline]
    pub(crate) fn read_anywhere(&self, space: AccessSpace, address: u64, bytes: u32) -> Step<&[u8]> {
        let count = bytes as usize;
        let range = |at: usize| at..at.wrapping_add(count);
        let found = match self.find(space, address)? {
            Found::Memory(address) => return self.memory.bytes(address, bytes.into()),
            Found::Shared(block, at) if at >= SHARED_BEGIN as usize => self.shared[block].get(range(at)),
            Found::Shared(..) => None,
            Found::Local(at) => self.local.get(range(at)),
            Found::Param(at) => self.params.get(range(at)),
        };
        found.ok_or_else(|| self.outside(space, address, bytes))
    }

    /// Bytes that are written.
    #[inline]
    pub(crate) fn write(&mut self, space: AccessSpace, address: u64, bytes: u32) -> Step<&mut [u8]> {
        aligned(address, bytes)?;
        self.write_anywhere(space, address, bytes)
    }

    /// The same at any address.
    #[inline]
    pub(crate) fn write_anywhere(&mut self, space: AccessSpace, address: u64, bytes: u32) -> Step<&mut [u8]> {
        let count = bytes as usize;
        let range = |at: usize| at..at.wrapping_add(count);
        let is_there = match self.find(space, address)? {
            Found::Memory(address) => return self.memory.bytes_mut(address, bytes.into()),
            Found::Shared(block, at) if at >= SHARED_BEGIN as usize && at + count <= self.shared[block].len() => {
                return Ok(&mut self.shared[block][range(at)]);
            }
            Found::Local(at) if at.saturating_add(count) <= self.local.len() => return Ok(&mut self.local[range(at)]),
            Found::Param(_) => Some("parameters are not written"),
            Found::Shared(..) | Found::Local(_) => None,
        };
        match is_there {
            Some(why) => Err(illegal(why.to_owned())),
            None => Err(self.outside(space, address, bytes)),
        }
    }

    #[cold]
    fn outside(&self, space: AccessSpace, address: u64, bytes: u32) -> Box<Stumble> {
        let (what, all) = match self.find(space, address) {
            Ok(Found::Shared(block, _)) => ("shared memory", self.shared[block].len()),
            Ok(Found::Local(_)) => ("local memory", self.local.len()),
            _ => ("the parameters", self.params.len()),
        };
        let begin = if what == "shared memory" { SHARED_BEGIN } else { 0 };
        illegal(format!("{bytes} bytes at address {address:#x} are outside of {what}, which goes from {begin:#x} to {all:#x}"))
    }
}

fn illegal(what: String) -> Box<Stumble> {
    Stumble::new(FaultKind::IllegalAddress, what)
}

#[inline]
fn aligned(address: u64, bytes: u32) -> Step {
    if address & u64::from(bytes - 1) != 0 {
        return Err(misaligned(address, bytes));
    }
    Ok(())
}

#[cold]
fn misaligned(address: u64, bytes: u32) -> Box<Stumble> {
    Stumble::new(FaultKind::Misaligned, format!("address {address:#x} is no multiple of {bytes}"))
}

/// Up to 8 bytes as a number.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

impl View<'_> {
    #[inline]
    pub(crate) fn get(&self, src: Src) -> u64 {
        match src.constant() {
            None => self.registers[src.0 as usize],
            Some(constant) => self.literals[constant],
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, reg: Reg, value: u64) {
        self.registers[reg.0 as usize] = value;
    }

    #[inline]
    pub(crate) fn address(&self, at: &Address) -> u64 {
        let address = self.get(at.base).wrapping_add_signed(at.offset);
        if at.is_narrow { low(address, 32) } else { address }
    }

    #[inline]
    pub(crate) fn compute(&mut self, compute: &Compute) {
        match compute {
            Compute::Move(d, a) => self.set(*d, self.get(*a)),
            Compute::Unary(f, d, a) => self.set(*d, f(self.get(*a))),
            Compute::Binary(f, d, [a, b]) => self.set(*d, f(self.get(*a), self.get(*b))),
            Compute::Ternary(f, d, [a, b, c]) => self.set(*d, f(self.get(*a), self.get(*b), self.get(*c))),
            Compute::Float(op, d, [a, b, c]) => self.set(*d, op.evaluate(self.get(*a), self.get(*b), self.get(*c))),
            Compute::Convert(conversion, d, [a, b]) => self.set(*d, conversion.evaluate(self.get(*a), self.get(*b))),
            Compute::Setp(setp) => self.setp(setp),
            Compute::Select(d, [a, b], c) => self.set(*d, self.get(if self.get(*c) & 1 == 1 { *a } else { *b })),
            Compute::Pack(d, parts, bits) => {
                let whole = parts.iter().rev().fold(0, |whole, part| whole << bits | low(self.get(*part), *bits));
                self.set(*d, whole);
            }
            Compute::Unpack(parts, a, bits) => {
                let whole = self.get(*a);
                for (n, part) in parts.iter().enumerate() {
                    if let Some(part) = part {
                        self.set(*part, low(whole >> (n as u32 * bits), *bits));
                    }
                }
            }
            Compute::Insert(d, [a, b, place, length], bits) => {
                self.set(*d, insert(self.get(*a), self.get(*b), self.get(*place), self.get(*length), (*bits).into()));
            }
            Compute::Logic3(d, [a, b, c], table) => {
                let (a, b, c) = (self.get(*a), self.get(*b), self.get(*c));
                let of = |n: u32, x: u64| if n == 1 { x } else { !x };
                let row = |n: u32| of(n >> 2 & 1, a) & of(n >> 1 & 1, b) & of(n & 1, c);
                let all = (0..8).filter(|n| table >> n & 1 == 1).fold(0, |all, n| all | row(n));
                self.set(*d, low(all, 32));
            }
        }
    }

    fn setp(&mut self, setp: &Setp) {
        let [a, b] = setp.operands;
        let holds = setp.relation.holds((setp.compare)(self.get(a), self.get(b)));
        let combine = |holds: bool| match setp.combined {
            None => holds,
            Some((op, c, is_negated)) => {
                let other = (self.get(c) & 1 == 1) != is_negated;
                match op {
                    BoolOp::And => holds && other,
                    BoolOp::Or => holds || other,
                    BoolOp::Xor => holds != other,
                }
            }
        };
        let both = [combine(holds), combine(!holds)];
        for (result, value) in setp.results.iter().zip(both) {
            if let Some(reg) = result {
                self.set(*reg, value.into());
            }
        }
    }

    #[inline]
    pub(crate) fn memory(&mut self, op: &MemoryOp) -> Step {
        match op {
            MemoryOp::Load(access, loads) => self.load(access, loads),
            MemoryOp::Store(access, values) => self.store(access, values),
            MemoryOp::Atomic(atomic) => self.atomic(atomic),
            MemoryOp::Tex(tex) => {
                let at = tex.at.map(|coordinate| self.get(coordinate));
                let texel = super::texture::read(self.spaces.memory, self.get(tex.handle), tex, at)?;
                for (result, value) in tex.results.iter().zip(texel) {
                    if let Some(reg) = result {
                        self.set(*reg, value);
                    }
                }
                Ok(())
            }
            MemoryOp::ToGeneric(space, d, a) => {
                let address = self.get(*a);
                self.set(*d, window(*space) | address);
                Ok(())
            }
            MemoryOp::FromGeneric(space, d, a) => {
                let address = self.get(*a);
                let own = window(*space);
                if address & WINDOWS != own {
                    return Err(Stumble::undefined(format!("{address:#x} is no address of {space:?} memory")));
                }
                self.set(*d, address & !WINDOWS);
                Ok(())
            }
            MemoryOp::Mapa(d, [a, rank], is_generic) => {
                let (address, rank) = (self.get(*a), self.get(*rank));
                if rank >= self.spaces.shared.len() as u64 {
                    return Err(Stumble::undefined(format!("block {rank} of a cluster of {}", self.spaces.shared.len())));
                }
                let there = address & SHARED_PLACE | (rank + 1) << SHARED_PLACE_BITS;
                self.set(*d, if *is_generic { SHARED_WINDOW | there } else { there });
                Ok(())
            }
        }
    }

    fn load(&mut self, access: &Access, loads: &[Load]) -> Step {
        let address = self.address(&access.at);
        let bytes = self.spaces.read(access.space, address, access.bytes * loads.len() as u32)?;
        if let [Load { reg: Some(reg), extended: None }] = loads {
            self.registers[reg.0 as usize] = number(bytes);
            return Ok(());
        }
        for (load, part) in loads.iter().zip(bytes.chunks_exact(access.bytes as usize)) {
            let value = number(part);
            let value = match load.extended {
                Some(bits) => low(signed(value, access.bytes * 8) as u64, bits),
                None => value,
            };
            if let Some(reg) = load.reg {
                self.registers[reg.0 as usize] = value;
            }
        }
        Ok(())
    }

    fn store(&mut self, access: &Access, values: &[Src]) -> Step {
        let address = self.address(&access.at);
        let each = access.bytes as usize;
        let mut all = [0u8; 64];
        for (part, value) in all.chunks_exact_mut(each).zip(values) {
            part.copy_from_slice(&self.get(*value).to_le_bytes()[..each]);
        }
        let count = each * values.len();
        self.spaces.write(access.space, address, count as u32)?.copy_from_slice(&all[..count]);
        Ok(())
    }

    fn atomic(&mut self, atomic: &Atomic) -> Step {
        let address = self.address(&atomic.access.at);
        let [b, c] = atomic.operands.map(|operand| self.get(operand));
        let bytes = self.spaces.write(atomic.access.space, address, atomic.access.bytes)?;
        let old = number(bytes);
        let new = (atomic.f)(old, b, c);
        bytes.copy_from_slice(&new.to_le_bytes()[..bytes.len()]);
        if let Some(reg) = atomic.old {
            self.set(reg, old);
        }
        Ok(())
    }
}

fn window(space: AccessSpace) -> u64 {
    match space {
        AccessSpace::Generic | AccessSpace::Global => 0,
        AccessSpace::Shared | AccessSpace::SharedCluster => SHARED_WINDOW,
        AccessSpace::Local => LOCAL_WINDOW,
        AccessSpace::Param => PARAM_WINDOW,
        AccessSpace::Const => CONST_WINDOW,
    }
}

impl Relation {
    /// Whether it holds of two values that stand so to each other; `None`: one is NaN.
    #[inline]
    pub(crate) fn holds(self, order: Option<Ordering>) -> bool {
        let Some(order) = order else {
            return matches!(
                self,
                Relation::Equ | Relation::Neu | Relation::Ltu | Relation::Leu | Relation::Gtu | Relation::Geu | Relation::Nan
            );
        };
        match self {
            Relation::Eq | Relation::Equ => order.is_eq(),
            Relation::Ne | Relation::Neu => order.is_ne(),
            Relation::Lt | Relation::Ltu => order.is_lt(),
            Relation::Le | Relation::Leu => order.is_le(),
            Relation::Gt | Relation::Gtu => order.is_gt(),
            Relation::Ge | Relation::Geu => order.is_ge(),
            Relation::Num => true,
            Relation::Nan => false,
        }
    }
}
