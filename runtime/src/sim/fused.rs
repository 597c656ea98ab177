//! Fused multiply-add over 32 lanes. Without the processor's own instruction it is a library call per lane, some twenty times slower,
//! so x86-64 machines that have one are asked for it at run time; elsewhere the compiler knows.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "calls functions compiled for features that were detected"))]

use super::registers::{Pure, map3};

/// `d = a * b + c` in `f32`, rounded once.
pub(super) fn mul_add_f32() -> Pure {
    #[cfg(target_arch = "x86_64")]
    if has_fma() {
        // SAFETY: `has_fma` has found the features that the function is compiled for.
        return |r, o| unsafe { x86::mul_add_f32(r, o) };
    }
    |r, o| map3::<f32>(r, o, f32::mul_add)
}

/// `d = a * b + c` in `f64`, rounded once.
pub(super) fn mul_add_f64() -> Pure {
    #[cfg(target_arch = "x86_64")]
    if has_fma() {
        // SAFETY: `has_fma` has found the features that the function is compiled for.
        return |r, o| unsafe { x86::mul_add_f64(r, o) };
    }
    |r, o| map3::<f64>(r, o, f64::mul_add)
}

#[cfg(target_arch = "x86_64")]
fn has_fma() -> bool {
    is_x86_feature_detected!("avx") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::sim::registers::{Operands, Registers, map3};

    #[target_feature(enable = "avx,fma")]
    pub(super) fn mul_add_f32(r: &mut Registers, o: &Operands) {
        map3::<f32>(r, o, |a, b, c| a.mul_add(b, c));
    }

    #[target_feature(enable = "avx,fma")]
    pub(super) fn mul_add_f64(r: &mut Registers, o: &Operands) {
        map3::<f64>(r, o, |a, b, c| a.mul_add(b, c));
    }
}
