//! Names of CUDA C++, OpenCL C and C, each with what a kernel writes in its place.

/// A name of another language.
pub struct Foreign {
    /// The name.
    pub name: &'static str,
    /// What to write: an edit.
    pub edit: &'static str,
    /// Whether no Rust is likely to define the name, so that it is answered without a look at what else there is.
    pub is_certain: bool,
}

/// `certain`: names that Rust's own style does not give to anything. `likely`: functions and types that somebody may have defined, so that it
/// takes a look at what else there is.
macro_rules! foreign {
    (certain { $($name:literal => $edit:literal),* $(,)? } likely { $($other:literal => $instead:literal),* $(,)? }) => {
        const FOREIGN: &[Foreign] = &[
            $(Foreign { name: $name, edit: $edit, is_certain: true },)*
            $(Foreign { name: $other, edit: $instead, is_certain: false },)*
        ];
    };
}

foreign! {
    certain {
        "threadIdx" => "`thread_idx()`, of which `.x`, `.y` and `.z` are fields",
        "blockIdx" => "`block_idx()`; `blockIdx.x * blockDim.x + threadIdx.x` is `global_id().x`",
        "blockDim" => "`block_dim()`, of which `.x`, `.y` and `.z` are fields",
        "gridDim" => "`grid_dim()`, of which `.x`, `.y` and `.z` are fields",
        "warpSize" => "`32`: warps have 32 lanes",
        "laneId" => "`lane_id()`",
        "warpId" => "`warp_id()`",
        "get_global_id" => "`global_id().x`",
        "get_local_id" => "`thread_idx().x`",
        "get_group_id" => "`block_idx().x`",
        "get_local_size" => "`block_dim().x`",
        "get_num_groups" => "`grid_dim().x`",
        "__syncthreads" => "`sync_threads()`",
        "__syncthreads_count" => "`sync_threads_count(p)`",
        "__syncthreads_and" => "`sync_threads_and(p)`",
        "__syncthreads_or" => "`sync_threads_or(p)`",
        "syncthreads" => "`sync_threads()`",
        "__syncwarp" => "`sync_warp()`",
        "__threadfence" => "`fence_device()`",
        "__threadfence_block" => "`fence_block()`",
        "__threadfence_system" => "`fence_system()`",
        "__shfl_sync" => "`shuffle(v, lane)`, without the mask",
        "__shfl_up_sync" => "`shuffle_up(v, n)`, without the mask",
        "__shfl_down_sync" => "`shuffle_down(v, n)`, without the mask",
        "__shfl_xor_sync" => "`shuffle_xor(v, mask)`, without the mask of lanes before it",
        "__shfl" => "`shuffle(v, lane)`",
        "__shfl_up" => "`shuffle_up(v, n)`",
        "__shfl_down" => "`shuffle_down(v, n)`",
        "__shfl_xor" => "`shuffle_xor(v, mask)`",
        "__ballot_sync" => "`ballot(p)`, without the mask",
        "__any_sync" => "`any(p)`, without the mask",
        "__all_sync" => "`all(p)`, without the mask",
        "__ballot" => "`ballot(p)`",
        "__activemask" => "`ballot(true)`",
        "__match_any_sync" => "`match_any(v)`, without the mask",
        "__reduce_add_sync" => "`warp_sum(v)`, without the mask",
        "__reduce_min_sync" => "`warp_min(v)`, without the mask",
        "__reduce_max_sync" => "`warp_max(v)`, without the mask",
        "atomicAdd" => "`y.atomic_add(i, v)`, of a buffer or a shared array",
        "atomicSub" => "`y.atomic_sub(i, v)`, of a buffer or a shared array",
        "atomicMin" => "`y.atomic_min(i, v)`, of a buffer or a shared array",
        "atomicMax" => "`y.atomic_max(i, v)`, of a buffer or a shared array",
        "atomicAnd" => "`y.atomic_and(i, v)`, of a buffer or a shared array",
        "atomicOr" => "`y.atomic_or(i, v)`, of a buffer or a shared array",
        "atomicXor" => "`y.atomic_xor(i, v)`, of a buffer or a shared array",
        "atomicExch" => "`y.atomic_exchange(i, v)`, of a buffer or a shared array",
        "atomicCAS" => "`y.atomic_cas(i, old, new)`, of a buffer or a shared array",
        "atomicInc" => "`y.atomic_add(i, 1)`, of a buffer or a shared array",
        "atomicDec" => "`y.atomic_sub(i, 1)`, of a buffer or a shared array",
        "__ldg" => "`x[i]`: what is taken as `&Global` is loaded through the read-only cache",
        "__popc" => "`a.count_ones()`",
        "__popcll" => "`a.count_ones()`",
        "__clz" => "`a.leading_zeros()`",
        "__clzll" => "`a.leading_zeros()`",
        "__ffs" => "`a.trailing_zeros() + 1`, which of 0 is 33 where `__ffs` is 0",
        "__brev" => "`a.reverse_bits()`",
        "__byte_perm" => "shifts and masks: `(a >> 8) & 0xff`",
        "__mulhi" => "`a.mul_hi(b)`",
        "__umulhi" => "`a.mul_hi(b)`",
        "__mul24" => "`a.mul24(b)`",
        "__umul24" => "`a.mul24(b)`",
        "__fmaf_rn" => "`a.mul_add(b, c)`",
        "__fdividef" => "`native_div(a, b)`",
        "__expf" => "`native_exp(a)`",
        "__logf" => "`native_ln(a)`",
        "__log2f" => "`native_log2(a)`",
        "__sinf" => "`native_sin(a)`",
        "__cosf" => "`native_cos(a)`",
        "__frcp_rn" => "`a.recip()`",
        "__fsqrt_rn" => "`a.sqrt()`",
        "__saturatef" => "`a.clamp(0.0, 1.0)`",
        "__float_as_int" => "`a.to_bits() as i32`",
        "__float_as_uint" => "`a.to_bits()`",
        "__int_as_float" => "`f32::from_bits(a as u32)`",
        "__uint_as_float" => "`f32::from_bits(a)`",
        "__float2int_rn" => "`a.round_ties_even() as i32`",
        "__float2int_rz" => "`a as i32`",
        "__int2float_rn" => "`a as f32`",
        "__float2half" => "`a as f16`",
        "__half2float" => "`a as f32`",
        "__shared__" => "`#[shared] let mut tile: [f32; 256];`",
        "__constant__" => "a parameter `c: &Constant<[f32; 64]>`, or a `const`",
        "__restrict__" => "nothing: buffers of a launch never overlap",
        "float" => "`f32`",
        "double" => "`f64`",
        "int" => "`i32`",
        "uint" => "`u32`",
        "size_t" => "`usize`",
        "uint8_t" => "`u8`",
        "uint32_t" => "`u32`",
        "int32_t" => "`i32`",
        "uint64_t" => "`u64`",
    }
    likely {
        "float2" => "`[f32; 2]`; `x.load::<2>(i)` loads one at once",
        "float4" => "`[f32; 4]`; `x.load::<4>(i)` loads one at once",
        "int4" => "`[i32; 4]`; `x.load::<4>(i)` loads one at once",
        "printf" => "`println!(\"{}\", a)`",
        "fmaf" => "`a.mul_add(b, c)`",
        "fma" => "`a.mul_add(b, c)`",
        "sqrtf" => "`a.sqrt()`",
        "rsqrtf" => "`a.rsqrt()`",
        "cbrtf" => "`a.cbrt()`",
        "expf" => "`a.exp()`",
        "exp2f" => "`a.exp2()`",
        "log" => "`a.ln()`",
        "logf" => "`a.ln()`",
        "log2f" => "`a.log2()`",
        "log10f" => "`a.log10()`",
        "pow" => "`a.powf(b)`; `a.powi(n)` where `n` is an integer, `a.pow(n)` where both are",
        "powf" => "`a.powf(b)`",
        "sinf" => "`a.sin()`",
        "cosf" => "`a.cos()`",
        "tanf" => "`a.tan()`",
        "asinf" => "`a.asin()`",
        "acosf" => "`a.acos()`",
        "atanf" => "`a.atan()`",
        "atan2f" => "`a.atan2(b)`",
        "sinhf" => "`a.sinh()`",
        "coshf" => "`a.cosh()`",
        "tanhf" => "`a.tanh()`",
        "erff" => "`a.erf()`",
        "fabs" => "`a.abs()`",
        "fabsf" => "`a.abs()`",
        "fmin" => "`a.min(b)`",
        "fminf" => "`a.min(b)`",
        "fmax" => "`a.max(b)`",
        "fmaxf" => "`a.max(b)`",
        "floorf" => "`a.floor()`",
        "ceilf" => "`a.ceil()`",
        "roundf" => "`a.round()`",
        "rintf" => "`a.round_ties_even()`",
        "truncf" => "`a.trunc()`",
        "fmod" => "`a % b`",
        "fmodf" => "`a % b`",
        "hypotf" => "`a.hypot(b)`",
        "copysignf" => "`a.copysign(b)`",
        "isnan" => "`a.is_nan()`",
        "isinf" => "`a.is_infinite()`",
    }
}

/// What there is to say of a name.
pub fn foreign(name: &str) -> Option<&'static Foreign> {
    FOREIGN.iter().find(|foreign| foreign.name == name)
}

#[cfg(test)]
mod tests {
    use super::FOREIGN;
    use crate::intrinsics;

    /// What a kernel is told to call is there.
    #[test]
    fn edits_name_what_there_is() {
        let geometry = ["thread_idx", "block_idx", "block_dim", "grid_dim", "global_id", "lane_id", "warp_id", "atomic_", "f32", "load"];
        for foreign in FOREIGN {
            let edit = foreign.edit.split('`').nth(1).unwrap_or_default();
            let call = edit.split('(').next().unwrap_or_default();
            if !edit.contains('(') || edit.starts_with("println") || edit.starts_with("(a") {
                continue;
            }
            let name = call.rsplit('.').next().unwrap_or_default();
            let is_known = intrinsics::rows().any(|row| row.name == name) || geometry.iter().any(|known| name.starts_with(known));
            assert!(is_known, "{}: {}", foreign.name, foreign.edit);
        }
    }

    #[test]
    fn each_name_has_one_row() {
        let mut names: Vec<&str> = FOREIGN.iter().map(|foreign| foreign.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
