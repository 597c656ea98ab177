//! Textures, as the simulator and the interpreter of PTX take them.

use crate::source::{Parameter, Passed, Scalar};
use warpwright_codegen::backend::TextureReads;
use warpwright_codegen::ir::Type;
use warpwright_ptx_interpreter::{TexelType, Texture};
use warpwright_runtime::texture::Picture;
use warpwright_runtime::{Addressing, Filter, Sampling};

/// A texture without its texels, if a parameter is one.
pub(super) fn picture(parameter: &Parameter) -> Option<Picture> {
    let Passed::Texture { width, height, has_border, is_normalized } = parameter.passed else { return None };
    let component = match parameter.scalar {
        Scalar::U8 => Type::U8,
        Scalar::I8 => Type::I8,
        Scalar::U16 => Type::U16,
        Scalar::I16 => Type::I16,
        Scalar::U32 => Type::U32,
        Scalar::I32 => Type::I32,
        _ => Type::F32,
    };
    let addressing = if has_border { Addressing::Border } else { Addressing::Clamp };
    let sampling = Sampling { filter: Filter::Nearest, addressing, normalized: is_normalized };
    Some(Picture { width: width as u32, height: height as u32, component, channels: parameter.each as u32, sampling })
}

/// The same for the interpreter, with its texels at an address.
pub(super) fn texture(picture: &Picture, address: u64, reads: TextureReads) -> Texture {
    Texture {
        width: picture.width,
        height: picture.height,
        channels: picture.channels,
        component: match picture.component {
            Type::U8 => TexelType::U8,
            Type::I8 => TexelType::I8,
            Type::U16 => TexelType::U16,
            Type::I16 => TexelType::I16,
            Type::U32 => TexelType::U32,
            Type::I32 => TexelType::I32,
            _ => TexelType::F32,
        },
        address,
        has_border: picture.sampling.addressing == Addressing::Border,
        is_linear: false,
        is_normalized: picture.sampling.normalized && reads == TextureReads::Sample,
    }
}
