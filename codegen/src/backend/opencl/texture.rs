//! Textures: images, read through samplers that the runtime passes.
//!
//! The image's channels are the texel's components, unconverted: `read_imagef` for floats, `read_imagei` and `read_imageui` for integers.

use super::Writer;
use super::expressions::Expr;
use super::types::memory_type;
use crate::backend::structured::{Language, PRIMARY, UNARY, Values};
use crate::backend::{AbiArgument, TextureReads};
use crate::ir::{Inst, Object, Op, TextureOp, Type, Value};

impl Writer<'_> {
    /// Names a sampler for each way in which the body reads each texture.
    pub(super) fn name_samplers(&mut self) {
        let kernel = self.kernel;
        let mut samplers: Vec<(Object, TextureReads)> = Vec::new();
        kernel.for_each_inst(|kernel, _, inst| {
            if let Op::Texture(op, object, _) = &kernel.insts[inst].op {
                samplers.extend(TextureReads::of(*op).map(|reads| (*object, reads)));
            }
        });
        samplers.sort_unstable();
        samplers.dedup();
        for (object, reads) in samplers {
            let word = match reads {
                TextureReads::Fetch => "fetch",
                TextureReads::Sample => "sample",
            };
            let name = self.names.name(&format!("{}_{word}", kernel.objects[object].name));
            self.sampler_names.push((object, reads, name));
        }
    }

    /// The image and the samplers of a texture.
    pub(super) fn texture_parameter(&self, param: usize, object: Object, texts: &mut Vec<String>, abi: &mut Vec<AbiArgument>) {
        texts.push(format!("read_only image2d_t {}", self.object_names[object.0 as usize]));
        abi.push(AbiArgument::Image { param });
        for (_, reads, name) in self.sampler_names.iter().filter(|(of, ..)| *of == object) {
            texts.push(format!("const sampler_t {name}"));
            abi.push(AbiArgument::Sampler { param, reads: *reads });
        }
    }

    /// Reads a texture, or asks how large it is.
    pub(super) fn texture(&mut self, inst: Inst, op: TextureOp, object: Object, coordinates: &[Value]) {
        let results = self.kernel.insts[inst].results.clone();
        if results.iter().all(|result| !self.state.is_used(*result)) {
            return;
        }
        let name = self.object_names[object.0 as usize].clone();
        let Some(reads) = TextureReads::of(op) else {
            let axis = if op == TextureOp::Width { "width" } else { "height" };
            let ty = memory_type(self.kernel.ty(results[0]));
            let expr = Expr::new(format!("({ty})get_image_{axis}({name})"), UNARY);
            return self.define(inst, results[0], expr);
        };
        let Some((component, _)) = self.kernel.objects[object].texel() else { return };
        let sampler = self.sampler_names.iter().find(|(of, how, _)| (*of, *how) == (object, reads));
        let sampler = sampler.map_or(String::new(), |(.., name)| name.clone());
        let (function, vector) = match component {
            ty if ty.is_float() => ("read_imagef", "float4"),
            ty if ty.is_signed_int() => ("read_imagei", "int4"),
            _ => ("read_imageui", "uint4"),
        };
        let point = if reads == TextureReads::Fetch { "int2" } else { "float2" };
        let at = [coordinates[0], coordinates[1]].map(|coordinate| self.take(coordinate));
        let mut read = Expr::new(format!("{function}({name}, {sampler}, ({point})({}, {}))", at[0].text, at[1].text), PRIMARY);
        at.iter().for_each(|coordinate| read.absorb(coordinate));
        if let [result] = results[..] {
            let part = channel(&read, 0, component);
            return self.define(inst, result, part);
        }
        let variable = self.hint(results[0]);
        let variable = self.names.name(&variable);
        self.line(&format!("const {vector} {variable} = {};", read.text));
        for (n, result) in results.iter().enumerate() {
            let part = channel(&Expr::new(variable.clone(), PRIMARY), n, component);
            self.bind(*result, part);
        }
    }
}

/// A channel of what was read, in the component's type.
fn channel(read: &Expr, n: usize, component: Type) -> Expr {
    let channel = ["x", "y", "z", "w"][n];
    let mut part = Expr::new(format!("{}.{channel}", read.text), PRIMARY);
    if component.bytes() < 4 {
        part = Expr::new(format!("({}){}", memory_type(component), part.text), UNARY);
    }
    part.absorb(read);
    part
}
