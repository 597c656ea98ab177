//! Textures: `tex` with a texture object, and the parameters that textures are passed in.
//!
//! Texels are always read at `f32` coordinates: at integer ones the texture units give zeros outside, whatever the texture says of its edge. A fetch is a
//! read at the middle of its texel, by a texture object of its own that neither filters nor scales. A texture has at most 131,072 columns
//! (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"), whose middles are exact in `f32`.

use super::emitter::{Emitter, ptx};
use super::registers::{Class, Reg};
use crate::backend::{AbiArgument, TextureReads};
use crate::ir::{Axis, Object, TextureOp, Type, Value};

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
        let (integer, float) = (self.in_register(coordinate), self.temp(Class::Float));
        ptx!(self, "cvt.rn.f32.s32 {float}, {integer};");
        ptx!(self, "add.rn.f32 {float}, {float}, 0f3F000000;");
        float
    }

    fn read(&mut self, object: Object, reads: TextureReads, [x, y]: [Reg; 2], results: &[Value]) {
        let Some((component, _)) = self.kernel.objects[object].texel() else {
            return self.refuse("what is no texture is read as one".into(), String::new());
        };
        let symbol = self.handle(object, Handle::Reads(reads));
        let handle = self.temp(Class::Long);
        ptx!(self, "ld.param.u64 {handle}, [{symbol}];");
        let (ty, class) = match component {
            ty if ty.is_float() => ("f32", Class::Float),
            ty if ty.is_signed_int() => ("s32", Class::Word),
            _ => ("u32", Class::Word),
        };
        let is_direct = component.bytes() == 4;
        let texel = [0, 1, 2, 3].map(|n: usize| match results.get(n) {
            Some(result) if is_direct => self.register(*result),
            _ => self.temp(class),
        });
        let [a, b, c, d] = texel;
        ptx!(self, "tex.2d.v4.{ty}.f32 {{{a}, {b}, {c}, {d}}}, [{handle}, {{{x}, {y}}}];");
        if !is_direct {
            for (result, arrived) in results.iter().zip(texel) {
                let result = self.register(*result);
                // Of 8 bits in 16, extended as they arrive.
                ptx!(self, "cvt.u16.u32 {result}, {arrived};");
            }
        }
    }

    fn extent(&mut self, object: Object, axis: Axis, result: Value) {
        let symbol = self.handle(object, Handle::Extent(axis));
        let d = self.register(result);
        if self.kernel.ty(result) == Type::U32 {
            return ptx!(self, "ld.param.u32 {d}, [{symbol}];");
        }
        let narrow = self.temp(Class::Word);
        ptx!(self, "ld.param.u32 {narrow}, [{symbol}];");
        ptx!(self, "cvt.u64.u32 {d}, {narrow};");
    }

    /// The parameter of a handle, which is declared from now on.
    fn handle(&mut self, object: Object, handle: Handle) -> String {
        if !self.handles.contains(&(object, handle)) {
            self.handles.push((object, handle));
        }
        self.handle_symbol(object, handle)
    }

    fn handle_symbol(&self, object: Object, handle: Handle) -> String {
        let symbol = self.symbol(object);
        match handle {
            Handle::Reads(TextureReads::Sample) => symbol,
            Handle::Reads(TextureReads::Fetch) => format!("{symbol}_fetch"),
            Handle::Extent(Axis::X) => format!("{symbol}_width"),
            Handle::Extent(_) => format!("{symbol}_height"),
        }
    }

    /// What a texture is passed as: only what the body asks for.
    pub(super) fn texture_parameters(&self, param: usize, object: Object, abi: &mut Vec<AbiArgument>, declared: &mut Vec<String>) {
        let mut handles: Vec<Handle> = self.handles.iter().filter(|(of, _)| *of == object).map(|(_, handle)| *handle).collect();
        handles.sort_unstable();
        for handle in handles {
            let symbol = self.handle_symbol(object, handle);
            match handle {
                Handle::Reads(reads) => {
                    abi.push(AbiArgument::Texture { param, reads });
                    declared.push(format!(".param .u64 {symbol}"));
                }
                Handle::Extent(axis) => {
                    abi.push(AbiArgument::Extent { param, axis });
                    declared.push(format!(".param .u32 {symbol}"));
                }
            }
        }
    }
}
