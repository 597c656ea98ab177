//! What products on tensor cores need beside their instructions: what the pass `products` places round them.

use super::called;
use crate::ir::eval::cast;
use crate::ir::intrinsic::OperandType::Is;
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, PtxForm};
use crate::ir::{Scalar, Type};
use crate::target::{ArchitectureVariant, Requirement, Target};

/// What a target needs to multiply matrices of each kind by `mma.sync`.
pub(crate) const TENSOR_CORES: Requirement = Requirement::since(80, 70);

/// What a target needs for the tensor cores of a warpgroup, `wgmma`.
pub(crate) const WARPGROUPS: Requirement =
    Requirement { capability: 90, variant: Some(ArchitectureVariant::Architecture), ptx_version: 80 };

/// Whether devices whose best target is this one multiply by warpgroups (`wgmma`): it or a variant of it has the instruction.
pub fn has_warpgroup_products(target: &Target) -> bool {
    WARPGROUPS.is_met_by(target) || target.variants().any(|variant| WARPGROUPS.is_met_by(variant))
}

/// The bits of an `f32` with 10 bits behind the point, the others zero: to nearest, ties away from zero. What is no number stays none.
fn to_tf32(word: u32) -> u32 {
    let is_finite = word & 0x7f80_0000 != 0x7f80_0000;
    let rounded = if is_finite { word.wrapping_add(0x1000) } else { word };
    rounded & 0xffff_e000
}

/// Two words of `f32` as elements of 16 bits, the first in the lower half. Each is what `as` makes of it.
fn pack(words: &[u64], element: Type) -> u64 {
    let [low, high] = [words[0], words[1]].map(|word| cast(Scalar::new(Type::F32, word), element).map_or(0, |scalar| scalar.bits));
    low | high << 16
}

/// A function that makes a word of two sums.
const fn packed(
    name: &'static str,
    ptx: &'static [PtxForm],
    [opencl, opencl_prelude]: [&'static str; 2],
    eval: fn(Type, &[u64]) -> u64,
) -> Intrinsic {
    let body = Body::Device(DeviceForm { ptx, opencl, opencl_prelude, eval: Eval::Lane(eval) });
    Intrinsic::new(name, Call::Pass, Class::None, &[Is(Type::F32), Is(Type::F32)], &[Is(Type::U32)], body)
}

pub(super) const ROWS: &[Intrinsic] = &[
    packed(
        called::PACK_BF16,
        &[PtxForm { types: &[], text: "cvt.rn.bf16x2.f32 {d}, {1}, {0};", needs: TENSOR_CORES }],
        [
            "warpwright_pack_bf16({0}, {1})",
            "uint warpwright_round_to_bf16(float x) {\n\
             \x20   const uint bits = as_uint(x);\n\
             \x20   return isnan(x) ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;\n}\n\
             uint warpwright_pack_bf16(float low, float high) {\n\
             \x20   return warpwright_round_to_bf16(low) | warpwright_round_to_bf16(high) << 16;\n}\n",
        ],
        |_, words| pack(words, Type::BF16),
    )
    .doc("two `f32` rounded to `bf16`, as tensor cores take them"),
    packed(
        called::PACK_F16,
        &[PtxForm { types: &[], text: "cvt.rn.f16x2.f32 {d}, {1}, {0};", needs: TENSOR_CORES }],
        [
            "warpwright_pack_f16({0}, {1})",
            "uint warpwright_pack_f16(float low, float high) {\n\
             \x20   ushort halves[2];\n\
             \x20   vstore_half2_rte((float2)(low, high), 0, (half *)halves);\n\
             \x20   return halves[0] | (uint)halves[1] << 16;\n}\n",
        ],
        |_, words| pack(words, Type::F16),
    )
    .doc("two `f32` rounded to `f16`, as tensor cores take them"),
    Intrinsic::new(
        called::ROUND_TO_TF32,
        Call::Pass,
        Class::None,
        &[Is(Type::U32)],
        &[Is(Type::U32)],
        Body::Device(DeviceForm {
            ptx: &[PtxForm { types: &[], text: "cvt.rna.tf32.f32 {d}, {0};", needs: TENSOR_CORES }],
            opencl: "((({0} & 0x7f800000u) != 0x7f800000u ? {0} + 0x1000u : {0}) & 0xffffe000u)",
            opencl_prelude: "",
            eval: Eval::Lane(|_, words| u64::from(to_tf32(words[0] as u32))),
        }),
    )
    .doc("a word of `f32` rounded as tensor cores take it"),
];

#[cfg(test)]
mod tests {
    use super::{pack, to_tf32};
    use crate::ir::Type;

    #[test]
    fn the_first_of_two_lies_below() {
        let words = [1.0f32, -2.0].map(|value| u64::from(value.to_bits()));
        assert_eq!(pack(&words, Type::BF16), 0xc000_3f80);
        assert_eq!(pack(&words, Type::F16), 0xc000_3c00);
    }

    #[test]
    fn ten_bits_are_left() {
        for (value, rounded) in [
            (1.0f32, 1.0f32),
            (1.0 + 1.0 / 1024.0, 1.0 + 1.0 / 1024.0),
            (1.0 + 1.0 / 2048.0, 1.0 + 1.0 / 1024.0),
            (-1.0 - 1.0 / 4096.0, -1.0),
        ] {
            assert_eq!(f32::from_bits(to_tf32(value.to_bits())), rounded, "{value}");
        }
        assert!(f32::from_bits(to_tf32(f32::INFINITY.to_bits())).is_infinite());
        assert_eq!(to_tf32(f32::MAX.to_bits()), f32::INFINITY.to_bits());
    }
}
