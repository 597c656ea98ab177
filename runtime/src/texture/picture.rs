//! What a read of a texture gives: the one meaning that the simulator and the host twin have, and devices but for the precision of their filter.

use super::{Addressing, Filter, Sampling};
use warpwright_codegen::ir::Type;

/// A texture without its texels: extent, what a texel is, how it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Texels of a row, at least 1.
    pub width: u32,
    /// Rows, at least 1.
    pub height: u32,
    /// The type of a texel's components.
    pub component: Type,
    /// How many a texel has: 1, 2 or 4.
    pub channels: u32,
    /// How it is read.
    pub sampling: Sampling,
}

impl Picture {
    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> u32 {
        self.component.bytes() * self.channels
    }

    /// Bytes of all texels.
    pub fn bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * u64::from(self.texel_bytes())
    }

    /// The number of the texel that a fetch reads, row by row; `None` for the border, which is all zeros.
    #[inline]
    pub fn fetch(&self, x: i32, y: i32) -> Option<usize> {
        self.texel(i64::from(x), i64::from(y))
    }

    /// The texture at a point. `read` gives the components of a texel by its number.
    ///
    /// A texel's value stands in its middle: (0.5, 0.5) is the middle of the first. What a coordinate that is NaN gives has no meaning, and is
    /// another thing on a GPU; nothing faults.
    pub fn sample(&self, u: f32, v: f32, read: impl Fn(usize) -> [f32; 4]) -> [f32; 4] {
        let scale = |coordinate: f32, extent: u32| if self.sampling.normalized { coordinate * extent as f32 } else { coordinate };
        let (x, y) = (scale(u, self.width), scale(v, self.height));
        let texel = |x: i64, y: i64| self.texel(x, y).map_or([0.0; 4], &read);
        match self.sampling.filter {
            Filter::Nearest => texel(x.floor() as i64, y.floor() as i64),
            Filter::Linear => {
                let ((x, a), (y, b)) = (between(x), between(y));
                let corners = [(texel(x, y), (1.0 - a) * (1.0 - b)), (texel(x + 1, y), a * (1.0 - b))];
                let below = [(texel(x, y + 1), (1.0 - a) * b), (texel(x + 1, y + 1), a * b)];
                let all = [corners[0], corners[1], below[0], below[1]];
                std::array::from_fn(|channel| all.iter().map(|(texel, weight)| weight * texel[channel]).sum())
            }
        }
    }

    /// The number of the texel at a column and a row, anywhere in the plane.
    #[inline]
    fn texel(&self, x: i64, y: i64) -> Option<usize> {
        let (width, height) = (i64::from(self.width), i64::from(self.height));
        let (x, y) = match self.sampling.addressing {
            Addressing::Clamp => (x.clamp(0, width - 1), y.clamp(0, height - 1)),
            Addressing::Border if (0..width).contains(&x) && (0..height).contains(&y) => (x, y),
            Addressing::Border => return None,
        };
        Some((y * width + x) as usize)
    }
}

/// The texel left of a place, by the middles of texels, and how far the place is from it to the next.
fn between(place: f32) -> (i64, f32) {
    // Farther out than any texel there is nothing between them, and `i64` has room for the next one.
    let place = (place - 0.5).clamp(-1e9, 1e9);
    let place = if place.is_nan() { 0.0 } else { place };
    (place.floor() as i64, place - place.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(sampling: Sampling) -> Picture {
        Picture { width: 3, height: 2, component: Type::F32, channels: 1, sampling }
    }

    /// Texel n is n.
    fn sample(sampling: Sampling, u: f32, v: f32) -> f32 {
        picture(sampling).sample(u, v, |n| [n as f32; 4])[0]
    }

    const LINEAR: Sampling = Sampling { filter: Filter::Linear, addressing: Addressing::Clamp, normalized: false };

    #[test]
    fn values_stand_in_the_middle_of_texels() {
        assert_eq!([(0.5, 0.5), (1.0, 0.5), (1.5, 1.5), (2.5, 1.0)].map(|(u, v)| sample(LINEAR, u, v)), [0.0, 0.5, 4.0, 3.5]);
        let normalized = Sampling { normalized: true, ..LINEAR };
        assert_eq!([(0.5, 0.25), (0.5, 0.5)].map(|(u, v)| sample(normalized, u, v)), [1.0, 2.5]);
        let nearest = Sampling::default();
        assert_eq!([(0.999, 0.0), (1.0, 1.0), (2.999, 1.999)].map(|(u, v)| sample(nearest, u, v)), [0.0, 4.0, 5.0]);
    }

    #[test]
    fn outside_is_the_edge_or_zeros() {
        assert_eq!([(-7.0, 0.5), (9.0, 9.0), (f32::INFINITY, 0.5)].map(|(u, v)| sample(LINEAR, u, v)), [0.0, 5.0, 2.0]);
        let border = Sampling { addressing: Addressing::Border, ..LINEAR };
        // Half of the last texel, half of the border.
        assert_eq!([(3.0, 1.5), (4.0, 1.5), (f32::NEG_INFINITY, 0.5)].map(|(u, v)| sample(border, u, v)), [2.5, 0.0, 0.0]);
        assert_eq!(
            (picture(border).fetch(-1, 0), picture(border).fetch(2, 1), picture(LINEAR).fetch(i32::MIN, i32::MAX)),
            (None, Some(5), Some(3))
        );
        assert!(!sample(LINEAR, f32::NAN, f32::NAN).is_nan());
    }
}
