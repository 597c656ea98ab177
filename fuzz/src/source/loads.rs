//! Loads: of buffers and constants, of structs, textures and matrices.

use super::expressions::zero;
use super::scope::Generator;
use super::types::Scalar;

impl Generator<'_> {
    /// A load, as a value of this type.
    pub(super) fn load(&mut self, ty: Scalar, depth: usize) -> String {
        if self.random.chance(30)
            && let Some((part, scalar)) = self.record_part(depth.min(1))
        {
            return of_type(&part, scalar, ty);
        }
        if self.random.chance(30)
            && let Some((texel, scalar)) = self.texel(depth.min(1))
        {
            return of_type(&texel, scalar, ty);
        }
        if self.random.chance(25)
            && let Some((element, scalar)) = self.matrix_element(depth.min(1))
        {
            return of_type(&element, scalar, ty);
        }
        if self.inputs.is_empty() {
            return self.leaf(ty);
        }
        let input = self.inputs[self.random.below(self.inputs.len())].clone();
        let name = &input.name;
        let loaded = if input.is_pairs && self.random.chance(50) {
            self.hit("load.element");
            let operator = if input.scalar.is_float() { self.random.pick(&["+", "*", "-"]) } else { self.random.pick(&["+", "^", "-"]) };
            format!("{{ let p_ = {name}[{}]; p_[0] {operator} p_[1] }}", self.index(input.len, depth))
        } else if input.is_pairs {
            self.hit("load.pair");
            format!("{name}[{}][{}]", self.index(input.len, depth), self.random.below(2))
        } else if self.random.chance(15) && input.len >= 4 {
            self.hit(if input.is_global { "load.vector" } else { "load.vector_of_constants" });
            let n = self.random.pick(&[2usize, 4, 8, 16]).min(16 / input.scalar.bytes());
            format!("{name}.load::<{n}>(({}) / {n} * {n})[{}]", self.index(input.len, depth), self.random.below(n))
        } else {
            self.hit(if input.is_global { "load.global" } else { "load.constant" });
            format!("{name}[{}]", self.index(input.len, depth))
        };
        of_type(&loaded, input.scalar, ty)
    }
}

/// A value of one type as one of another.
fn of_type(text: &str, from: Scalar, ty: Scalar) -> String {
    if from == ty {
        text.to_owned()
    } else if from == Scalar::Bool && ty.is_float() {
        format!("({text} as u8 as {})", ty.name())
    } else if ty == Scalar::Bool {
        format!("({text} > {})", zero(from))
    } else {
        format!("({text} as {})", ty.name())
    }
}
