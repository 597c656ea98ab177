//! Access paths and addresses: what is constant in them is added up now, the rest becomes a list of dimensions.

use super::super::AccessKind;
use super::super::arithmetic::carrier;
use super::super::program::{Access, Dimension, Index, Length, Path, Preset, SimStep};
use super::super::registers::Reg;
use super::objects::scalar_of;
use super::{Compiler, Result, Verified, add};
use crate::error::mistake;
use crate::sim::InstructionClass;
use warpwright_codegen::ir::{self, AtomicOp, Atomicity, MemoryType, Object, Space, Type, Value};

/// What an access does, and to which values.
pub(super) struct Work {
    pub(super) kind: AccessKind,
    pub(super) atomic: Option<(AtomicOp, Atomicity)>,
    /// Results of a load, operands of the others.
    pub(super) values: Vec<Value>,
    /// Old value of an atomic.
    pub(super) old: Option<Value>,
}

impl Compiler<'_> {
    /// An access by path.
    pub(super) fn access(&mut self, place: &ir::Access, work: &Work) -> Result<()> {
        let width = self.width(work)?;
        // Parts of one element that are no row: the verifier knows that the element has them.
        let (path, ty) = self.path(place, if place.is_row(self.kernel, width as usize) { width } else { 1 })?;
        let space = self.kernel.objects[place.object].space();
        if let (Path::Indexed { base, dimensions }, Space::Param, [value]) = (&path, space, &work.values[..])
            && dimensions.is_empty()
        {
            return self.parameter(place.object, *base, ty, *value);
        }
        self.push_access(place.object, path, ty, work)
    }

    /// An access by address.
    pub(super) fn access_at(&mut self, object: Object, ptr: Value, offset: i32, work: &Work) -> Result<()> {
        self.width(work)?;
        let ty = work.values.last().or(work.old.as_ref()).map(|v| self.ty(*v)).verified()?;
        let path = Path::Pointer { ptr: self.slot(ptr)?, offset };
        self.push_access(object, path, ty, work)
    }

    /// Consecutive scalars of an access.
    fn width(&self, work: &Work) -> Result<u32> {
        match (work.atomic, work.values.len()) {
            (None, n @ (1 | 2 | 4 | 8 | 16)) => Ok(n as u32),
            (Some((op, _)), n) if n == op.operands() => Ok(1),
            _ => Err(mistake()),
        }
    }

    /// A scalar of a by-value parameter, at a constant place: known before the kernel starts.
    fn parameter(&mut self, object: Object, offset: u64, ty: Type, value: Value) -> Result<()> {
        self.count(InstructionClass::Other, 1);
        let reg = self.preset(ty, Preset::Parameter { object: usize::from(object), offset, bytes: ty.bytes() })?;
        self.slots[usize::from(value)] = Some(reg);
        Ok(())
    }

    fn push_access(&mut self, object: Object, path: Path, ty: Type, work: &Work) -> Result<()> {
        let info = &self.program.objects[usize::from(object)];
        if work.kind != AccessKind::Read && !info.is_writable {
            return Err(mistake());
        }
        let is_bits = work.atomic.is_none() && work.values.len() > 1;
        let fits = |other: Type| carrier(other) == carrier(ty) || is_bits && other.bytes() == ty.bytes();
        if !work.values.iter().all(|value| fits(self.ty(*value))) {
            return Err(mistake());
        }
        self.count(InstructionClass::Memory, 1);
        let is_load = work.kind == AccessKind::Read;
        let values = if is_load { self.define_all(&work.values)? } else { self.slots(&work.values)? };
        let result = work.old.map(|old| self.define(old)).transpose()?;
        let location = self.location();
        let access = Access {
            object: usize::from(object),
            kind: work.kind,
            atomic: work.atomic,
            ty,
            path,
            values,
            result,
            is_of_engine: false,
            location,
        };
        let access = add(&mut self.program.accesses, access);
        self.emit(SimStep::Access(access));
        Ok(())
    }

    /// A path's constant bytes and its dimensions, and the type of the scalar it leads to.
    fn path(&self, place: &ir::Access, width: u32) -> Result<(Path, Type)> {
        let (path, ty) = self.path_into(place, width)?;
        Ok((path, scalar_of(ty).verified()?))
    }

    /// The same, and what it leads to, whatever that is.
    pub(super) fn path_into(&self, place: &ir::Access, width: u32) -> Result<(Path, &MemoryType)> {
        let kernel = self.kernel;
        let data = &kernel.objects[place.object];
        let (mut ty, mut base, mut dimensions, mut name) = (&data.ty, 0u64, Vec::new(), data.name.clone());
        let last_index = place.path.iter().rposition(|step| matches!(step, ir::Step::Index(_)));
        for (n, step) in place.path.iter().enumerate() {
            match (step, ty) {
                (ir::Step::Field(field), MemoryType::Struct(id)) => {
                    let field = kernel.structs[*id].fields.get(*field as usize).verified()?;
                    base += field.offset;
                    name = format!("{name}.{}", field.name);
                    ty = &field.ty;
                }
                (ir::Step::Index(value), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                    let length =
                        if let MemoryType::Array(_, n) | MemoryType::Padded(_, n, _) = ty { Length::Fixed(*n) } else { Length::Slice };
                    let width = if Some(n) == last_index { width } else { 1 };
                    let stride = element.size(&kernel.structs);
                    match (self.kernel.constant(*value), length) {
                        (Some(index), Length::Fixed(n)) if index.bits.saturating_add(u64::from(width)) <= n => base += index.bits * stride,
                        (index, _) => {
                            let index = match index {
                                Some(index) => Index::Fixed(index.bits),
                                None => Index::Reg(self.index_slot(*value)?),
                            };
                            dimensions.push(Dimension { index, length, stride, width, name: name.clone() });
                        }
                    }
                    name.push_str("[_]");
                    ty = element;
                }
                _ => return Err(mistake()),
            }
        }
        Ok((Path::Indexed { base, dimensions }, ty))
    }

    fn index_slot(&self, value: Value) -> Result<Reg> {
        if self.ty(value).is_int() { self.slot(value) } else { Err(mistake()) }
    }
}
