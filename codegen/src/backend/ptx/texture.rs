//! Textures: `tex` with a texture object, and the parameters that textures are passed in.
//!
//! Texels are always read at `f32` coordinates: at integer ones the texture units give zeros outside, whatever the texture says of its edge. A fetch is a
//! read at the middle of its texel, by a texture object of its own that neither filters nor scales. A texture has at most 131,072 columns
//! (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"), whose middles are exact in `f32`.

use super::code::{AddressOperand, Operand, Reg, RegisterClass, Symbol, Variable};
use super::emitter::{Emitter, ptx};
use super::words::Word;
use crate::backend::{AbiArgument, TextureReads};
use crate::ir::{Axis, Object, Scalar, TextureOp, Type, Value};

/// What the kernel asks of a texture beside its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Handle {
    Reads(TextureReads),
    Extent(Axis),
}

impl Emitter<'_> {
    /// Reads a texture, or asks how large it is.
    pub(super) fn texture(&mut self, op: TextureOp, object: Object, coordinates: &[Value], results: &[Value]) {
        match op {
            TextureOp::Width => self.extent(object, Axis::X, results[0]),
            TextureOp::Height => self.extent(object, Axis::Y, results[0]),
            TextureOp::Fetch => {
                let at = [coordinates[0], coordinates[1]].map(|coordinate| self.middle(coordinate));
                self.read(object, TextureReads::Fetch, at, results);
            }
            TextureOp::Sample => {
                let at = [coordinates[0], coordinates[1]].map(|coordinate| self.in_register(coordinate));
                self.read(object, TextureReads::Sample, at, results);
            }
        }
    }

    /// The middle of a texel.
    fn middle(&mut self, coordinate: Value) -> Reg {
        let (integer, float) = (self.in_register(coordinate), self.temp(RegisterClass::Float));
        ptx!(self, Cvt.Rn.F32.S32 float, integer);
        ptx!(self, Add.Rn.F32 float, float, Scalar::float(Type::F32, 0.5));
        float
    }

    fn read(&mut self, object: Object, reads: TextureReads, [x, y]: [Reg; 2], results: &[Value]) {
        let Some((component, _)) = self.kernel.objects[object].texel() else {
            return self.refuse("what is no texture is read as one".into(), String::new());
        };
        let symbol = self.handle(object, Handle::Reads(reads));
        let handle = self.temp(RegisterClass::Long);
        ptx!(self, Ld.Param.U64 handle, AddressOperand::of(&symbol));
        let (ty, class) = match component {
            ty if ty.is_float() => (Word::F32, RegisterClass::Float),
            ty if ty.is_signed_int() => (Word::S32, RegisterClass::Word),
            _ => (Word::U32, RegisterClass::Word),
        };
        let is_direct = component.bytes() == 4;
        let texel = [0, 1, 2, 3].map(|n: usize| match results.get(n) {
            Some(result) if is_direct => self.register(*result),
            _ => self.temp(class),
        });
        ptx!(self, Tex.D2.V4.(ty).F32 texel, Operand::Texel(vec![handle, x, y]));
        if !is_direct {
            for (result, arrived) in results.iter().zip(texel) {
                let result = self.register(*result);
                // Of 8 bits in 16, extended as they arrive.
                ptx!(self, Cvt.U16.U32 result, arrived);
            }
        }
    }

    fn extent(&mut self, object: Object, axis: Axis, result: Value) {
        let symbol = self.handle(object, Handle::Extent(axis));
        let d = self.register(result);
        if self.kernel.ty(result) == Type::U32 {
            return ptx!(self, Ld.Param.U32 d, AddressOperand::of(&symbol));
        }
        let narrow = self.temp(RegisterClass::Word);
        ptx!(self, Ld.Param.U32 narrow, AddressOperand::of(&symbol));
        ptx!(self, Cvt.U64.U32 d, narrow);
    }

    /// The parameter of a handle, which is declared from now on.
    fn handle(&mut self, object: Object, handle: Handle) -> Symbol {
        if !self.handles.contains(&(object, handle)) {
            self.handles.push((object, handle));
        }
        self.handle_symbol(object, handle)
    }

    fn handle_symbol(&self, object: Object, handle: Handle) -> Symbol {
        let symbol = self.symbol(object);
        match handle {
            Handle::Reads(TextureReads::Sample) => symbol,
            Handle::Reads(TextureReads::Fetch) => format!("{symbol}_fetch").into(),
            Handle::Extent(Axis::X) => format!("{symbol}_width").into(),
            Handle::Extent(_) => format!("{symbol}_height").into(),
        }
    }

    /// What a texture is passed as: only what the body asks for.
    pub(super) fn texture_parameters(&self, param: usize, object: Object, abi: &mut Vec<AbiArgument>, declared: &mut Vec<Variable>) {
        let mut handles: Vec<Handle> = self.handles.iter().filter(|(of, _)| *of == object).map(|(_, handle)| *handle).collect();
        handles.sort_unstable();
        for handle in handles {
            let symbol = self.handle_symbol(object, handle);
            match handle {
                Handle::Reads(reads) => {
                    abi.push(AbiArgument::Texture { param, reads });
                    declared.push(Variable::parameter(Word::U64, symbol));
                }
                Handle::Extent(axis) => {
                    abi.push(AbiArgument::Extent { param, axis });
                    declared.push(Variable::parameter(Word::U32, symbol));
                }
            }
        }
    }
}
