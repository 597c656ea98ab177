//! Reads of textures (CUDA C++ Programming Guide, "Texture Fetching").

use crate::error::Step;
use crate::memory::{Memory, TexelType, Texture};
use crate::program::Tex;
use crate::ty::Ty;

/// Steps of a weight between two texels: fixed point with 8 bits behind the point.
const STEPS: f32 = 256.0;

/// A texel's components, as registers hold them; those that a texel lacks are 0.
pub(crate) fn read(memory: &Memory, handle: u64, tex: &Tex, at: [u64; 2]) -> Step<[u64; 4]> {
    let texture = memory.texture(handle)?;
    let reader = Reader { memory, texture };
    if tex.is_fetch {
        let [x, y] = at.map(|coordinate| i64::from(coordinate as i32));
        return reader.texel(x, y);
    }
    let [x, y] = at.map(|coordinate| f32::from_bits(coordinate as u32));
    let [x, y] = if texture.is_normalized { [x * texture.width as f32, y * texture.height as f32] } else { [x, y] };
    if texture.is_linear && tex.ty == Ty::F32 { reader.mixture(x, y) } else { reader.texel(floor(x), floor(y)) }
}

struct Reader<'a> {
    memory: &'a Memory,
    texture: &'a Texture,
}

fn floor(coordinate: f32) -> i64 {
    coordinate.floor().clamp(-1e9, 1e9) as i64
}

impl Reader<'_> {
    fn texel(&self, x: i64, y: i64) -> Step<[u64; 4]> {
        let Texture { width, height, channels, component, .. } = *self.texture;
        let (width, height) = (i64::from(width), i64::from(height));
        let mut texel = [0; 4];
        if self.texture.has_border && !((0..width).contains(&x) && (0..height).contains(&y)) {
            return Ok(texel);
        }
        let (x, y) = (x.clamp(0, width - 1), y.clamp(0, height - 1));
        let bytes = u64::from(component.bytes());
        let place = (y * width + x) as u64 * bytes * u64::from(channels);
        let read = self.memory.bytes(self.texture.address + place, bytes * u64::from(channels))?;
        for (value, part) in texel.iter_mut().zip(read.chunks_exact(bytes as usize)) {
            let bits = super::view::number(part);
            *value = match component {
                TexelType::I8 => u64::from(i32::from(bits as i8) as u32),
                TexelType::I16 => u64::from(i32::from(bits as i16) as u32),
                TexelType::U8 | TexelType::U16 | TexelType::U32 | TexelType::I32 | TexelType::F32 => bits,
            };
        }
        Ok(texel)
    }

    /// A mixture of the four texels round a point, by their middles.
    fn mixture(&self, x: f32, y: f32) -> Step<[u64; 4]> {
        let between = |place: f32| {
            let place = (place - 0.5).clamp(-1e9, 1e9);
            let weight = ((place - place.floor()) * STEPS).round() / STEPS;
            (place.floor() as i64, weight)
        };
        let ((x, a), (y, b)) = (between(x), between(y));
        let mut sums = [0f32; 4];
        for (dx, dy, weight) in [(0, 0, (1.0 - a) * (1.0 - b)), (1, 0, a * (1.0 - b)), (0, 1, (1.0 - a) * b), (1, 1, a * b)] {
            for (sum, bits) in sums.iter_mut().zip(self.texel(x + dx, y + dy)?) {
                *sum += weight * f32::from_bits(bits as u32);
            }
        }
        Ok(sums.map(|sum| u64::from(sum.to_bits())))
    }
}
