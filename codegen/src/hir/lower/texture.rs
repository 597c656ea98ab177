//! Reads of textures.

use super::Lowerer;
use super::environment::Tree;
use super::place::Place;
use crate::hir::tree::Expr;
use crate::ir::{Op, TextureOp, Value};
use proc_macro2::Span;

impl Lowerer<'_, '_> {
    /// A texel, which is a scalar or an array of its components, or an extent.
    pub(super) fn texture(&mut self, op: TextureOp, base: &Expr, coordinates: &[Expr], span: Span) -> Tree {
        let place = self.place(base);
        let coordinates: Vec<Value> = coordinates.iter().map(|coordinate| self.value(coordinate)).collect();
        self.at(span);
        let Place::Memory { access, .. } = place else { return self.unit() };
        // What is no texture of texels was refused where it is declared.
        let Some((component, n)) = self.kernel.objects[access.object].texel() else { return self.unit() };
        let types = if op.reads() { vec![component; n] } else { vec![self.kernel.index_type()] };
        let inst = self.builder().push(Op::Texture(op, access.object, coordinates), &types);
        Tree::of(&self.kernel.insts[inst].results)
    }
}
