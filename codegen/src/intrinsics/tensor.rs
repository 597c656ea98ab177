//! What products on tensor cores need beside their instructions: what the pass `products` places round them.

use crate::ir::Type;
use crate::ir::intrinsic::OperandType::Is;
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, PtxForm};
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

pub(super) const ROWS: &[Intrinsic] = &[Intrinsic::new(
    "round_to_tf32",
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
.doc("a word of `f32` rounded as tensor cores take it")];

#[cfg(test)]
mod tests {
    use super::to_tf32;

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
