//! Reads of textures, lane by lane.

use super::launch::BoundLaunch;
use super::memory::load;
use super::registers::{Mask, Reg, Registers, lanes};
use warpwright_codegen::ir::{TextureOp, Type};
use warpwright_codegen::target::limits::LANES;

/// A read of a texture.
#[derive(Clone, Debug)]
pub(super) struct TextureRead {
    /// `Fetch` or `Sample`.
    pub(super) op: TextureOp,
    /// The object.
    pub(super) object: usize,
    /// The component's type.
    pub(super) component: Type,
    /// The coordinates.
    pub(super) at: [Reg; 2],
    /// One for each component.
    pub(super) results: Vec<Reg>,
}

/// Reads it in the active lanes.
pub(super) fn read(launch: &BoundLaunch<'_>, read: &TextureRead, registers: &mut Registers, active: Mask) {
    let Some(picture) = &launch.pictures[read.object] else { return };
    let texels = launch.constants[read.object];
    let bytes = read.component.bytes();
    let channels = read.results.len();
    // The bits of a texel's component.
    let component = |texel: usize, channel: usize| load(texels, (texel * channels + channel) * bytes as usize, bytes);
    let [x, y] = read.at.map(|reg| registers.all(reg));
    let mut found = vec![[0; LANES]; channels];
    for lane in lanes(active) {
        let (x, y) = (x[lane] as u32, y[lane] as u32);
        if matches!(read.op, TextureOp::Fetch) {
            let Some(texel) = picture.fetch(x as i32, y as i32) else { continue };
            found.iter_mut().enumerate().for_each(|(channel, all)| all[lane] = component(texel, channel));
        } else {
            let texel = |texel: usize| {
                std::array::from_fn(|channel| if channel < channels { f32::from_bits(component(texel, channel) as u32) } else { 0.0 })
            };
            let sampled: [f32; 4] = picture.sample(f32::from_bits(x), f32::from_bits(y), texel);
            found.iter_mut().zip(sampled).for_each(|(all, component)| all[lane] = u64::from(component.to_bits()));
        }
    }
    for (result, bits) in read.results.iter().zip(&found) {
        registers.set_all(*result, bits);
    }
}
