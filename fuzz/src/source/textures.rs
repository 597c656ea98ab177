//! Textures, read texel by texel, or by points that are far enough from the edge between two.

use super::kernel::{Parameter, Passed};
use super::scope::Generator;
use super::types::Scalar;

/// A texture that a kernel reads.
#[derive(Clone, Debug)]
pub(super) struct Input {
    name: String,
    scalar: Scalar,
    /// Components of a texel.
    each: usize,
    width: usize,
    height: usize,
    is_normalized: bool,
}

impl Generator<'_> {
    /// A texture among the parameters.
    pub(super) fn texture_parameter(&mut self, parameters: &mut Vec<Parameter>) {
        self.hit("parameter.texture");
        let scalar = self.random.pick(&[Scalar::F32, Scalar::U8, Scalar::I32, Scalar::U16, Scalar::U32, Scalar::I8, Scalar::I16]);
        let each = self.random.pick(&[1usize, 4, 2]);
        let (width, height) = (1 + self.random.below(9), 1 + self.random.below(7));
        let [has_border, is_normalized] = [0; 2].map(|_| self.random.chance(50));
        let name = self.parameter_name();
        self.textures.push(Input { name: name.clone(), scalar, each, width, height, is_normalized });
        let passed = Passed::Texture { width, height, has_border, is_normalized };
        let seed = self.random.below(1000) as u64;
        parameters.push(Parameter { each, ..Parameter::new(name, scalar, passed, seed) });
    }

    /// A component of a texel, often one of the border.
    pub(super) fn texel(&mut self, depth: usize) -> Option<(String, Scalar)> {
        if self.textures.is_empty() {
            return None;
        }
        let of = self.textures[self.random.below(self.textures.len())].clone();
        let name = &of.name;
        let component = if of.each == 1 { String::new() } else { format!("[{}]", self.random.below(of.each)) };
        let [(x, _), (y, _)] = [0; 2].map(|_| self.number(depth));
        if of.scalar == Scalar::F32 && self.random.chance(50) {
            self.hit("texture.sample");
            // A quarter of a texel from its edge: what a division by the extent rounds does not reach that.
            let point = |number: &str, extent: usize| {
                let point = format!("(({number}) % 12) as f32 - 1.75");
                if of.is_normalized { format!("({point}) / {extent}.0") } else { point }
            };
            return Some((format!("{name}.sample({}, {}){component}", point(&x, of.width), point(&y, of.height)), of.scalar));
        }
        self.hit("texture.fetch");
        let place = |number: &str| format!("(({number}) % 12) as i32 - 2");
        let column = match self.random.below(6) {
            0 => self.expr(Scalar::I32, depth),
            1 => {
                self.hit("texture.extent");
                format!("{name}.width() as i32 - 1")
            }
            _ => place(&x),
        };
        Some((format!("{name}.fetch({column}, {}){component}", place(&y)), of.scalar))
    }
}
