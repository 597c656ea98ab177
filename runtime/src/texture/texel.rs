//! What a texture can hold.

use crate::element::Element;
use warpwright_codegen::ir::Type;

mod sealed {
    pub trait Sealed {}
}

/// What a texture can hold: `f32`, or an integer of up to 32 bits, by itself or as an array of 2 or 4.
#[diagnostic::on_unimplemented(
    message = "a texture cannot hold `{Self}`",
    note = "a texel is `f32`, or an integer of up to 32 bits, by itself or as an array of 2 or 4"
)]
pub trait Texel: Element + sealed::Sealed {
    /// The type of its components.
    #[doc(hidden)]
    const COMPONENT: Type;
    /// How many there are.
    #[doc(hidden)]
    const CHANNELS: u32;
    /// What lies outside of a texture with a border.
    #[doc(hidden)]
    const ZEROS: Self;
}

/// What a texture can filter: `f32`, `[f32; 2]`, `[f32; 4]`.
#[diagnostic::on_unimplemented(
    message = "`sample` filters, and `{Self}` is not a texel of floats",
    note = "read one texel, `t.fetch(x, y)`"
)]
pub trait FloatTexel: Texel {
    /// Its components; the rest is zeros.
    #[doc(hidden)]
    fn components(self) -> [f32; 4];
    /// Of these components.
    #[doc(hidden)]
    fn of_components(components: [f32; 4]) -> Self;
}

macro_rules! texels {
    ($($component:ident $name:ident $zero:literal)*) => {$(
        impl sealed::Sealed for $component {}
        impl Texel for $component {
            const COMPONENT: Type = Type::$name;
            const CHANNELS: u32 = 1;
            const ZEROS: Self = $zero;
        }
        texels!(@array $component $name $zero 2);
        texels!(@array $component $name $zero 4);
    )*};
    (@array $component:ident $name:ident $zero:literal $n:literal) => {
        impl sealed::Sealed for [$component; $n] {}
        impl Texel for [$component; $n] {
            const COMPONENT: Type = Type::$name;
            const CHANNELS: u32 = $n;
            const ZEROS: Self = [$zero; $n];
        }
    };
}

texels! {
    f32 F32 0.0
    i8 I8 0
    i16 I16 0
    i32 I32 0
    u8 U8 0
    u16 U16 0
    u32 U32 0
}

impl FloatTexel for f32 {
    fn components(self) -> [f32; 4] {
        [self, 0.0, 0.0, 0.0]
    }

    fn of_components([x, ..]: [f32; 4]) -> f32 {
        x
    }
}

impl FloatTexel for [f32; 2] {
    fn components(self) -> [f32; 4] {
        [self[0], self[1], 0.0, 0.0]
    }

    fn of_components([x, y, ..]: [f32; 4]) -> [f32; 2] {
        [x, y]
    }
}

impl FloatTexel for [f32; 4] {
    fn components(self) -> [f32; 4] {
        self
    }

    fn of_components(components: [f32; 4]) -> [f32; 4] {
        components
    }
}
