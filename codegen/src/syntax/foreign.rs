//! Names of CUDA C++, OpenCL C and C, each with what a kernel writes in its place; and those of the host's floats of 8 bits.

use super::layout::written;
use super::operand::{behind, operand, receiver};

/// A name of another language.
pub struct Foreign {
    /// The name; of a function also what its parameters are called in the edit: `fmaf(a, b, c)`.
    signature: &'static str,
    /// What to write: an edit.
    edit: &'static str,
    /// Whether no Rust is likely to define the name, so that it is answered without a look at what else there is.
    pub is_certain: bool,
}

/// `certain`: names that Rust's own style does not give to anything. `likely`: functions, types and constants that somebody may have defined,
/// so that it takes a look at what else there is.
macro_rules! foreign {
    (certain { $($name:literal => $edit:literal),* $(,)? } likely { $($other:literal => $instead:literal),* $(,)? }) => {
        const FOREIGN: &[Foreign] = &[
            $(Foreign { signature: $name, edit: $edit, is_certain: true },)*
            $(Foreign { signature: $other, edit: $instead, is_certain: false },)*
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
        "get_global_id(axis)" => "`global_id().axis`",
        "get_local_id(axis)" => "`thread_idx().axis`",
        "get_group_id(axis)" => "`block_idx().axis`",
        "get_local_size(axis)" => "`block_dim().axis`",
        "get_num_groups(axis)" => "`grid_dim().axis`",
        "__syncthreads" => "`sync_threads()`",
        "__syncthreads_count(p)" => "`sync_threads_count(p)`",
        "__syncthreads_and(p)" => "`sync_threads_and(p)`",
        "__syncthreads_or(p)" => "`sync_threads_or(p)`",
        "syncthreads" => "`sync_threads()`",
        "__syncwarp(mask)" => "`sync_warp()`",
        "__clusterIdx" => "`cluster_idx()`",
        "__clusterDim" => "`cluster_dim()`",
        "__clusterRelativeBlockRank" => "`cluster_rank()`",
        "__cluster_barrier_arrive" => "`cluster_sync()`, which arrives and waits",
        "__cluster_barrier_wait" => "`cluster_sync()`, which arrives and waits",
        "__cluster_map_shared_rank(tile, rank)" => "`shared_of(&tile, rank)`, which is indexed as the array is",
        "__threadfence" => "`fence_device()`",
        "__threadfence_block" => "`fence_block()`",
        "__threadfence_system" => "`fence_system()`",
        "__shfl_sync(mask, v, lane)" => "`shuffle(v, lane)`, without the mask",
        "__shfl_up_sync(mask, v, n)" => "`shuffle_up(v, n)`, without the mask",
        "__shfl_down_sync(mask, v, n)" => "`shuffle_down(v, n)`, without the mask",
        "__shfl_xor_sync(lanes, v, mask)" => "`shuffle_xor(v, mask)`, without the mask of lanes before it",
        "__shfl(v, lane)" => "`shuffle(v, lane)`",
        "__shfl_up(v, n)" => "`shuffle_up(v, n)`",
        "__shfl_down(v, n)" => "`shuffle_down(v, n)`",
        "__shfl_xor(v, mask)" => "`shuffle_xor(v, mask)`",
        "__ballot_sync(mask, p)" => "`ballot(p)`, without the mask",
        "__any_sync(mask, p)" => "`any(p)`, without the mask",
        "__all_sync(mask, p)" => "`all(p)`, without the mask",
        "__ballot(p)" => "`ballot(p)`",
        "__activemask" => "`ballot(true)`",
        "__match_any_sync(mask, v)" => "`match_any(v)`, without the mask",
        "__reduce_add_sync(mask, v)" => "`warp_sum(v)`, without the mask",
        "__reduce_min_sync(mask, v)" => "`warp_min(v)`, without the mask",
        "__reduce_max_sync(mask, v)" => "`warp_max(v)`, without the mask",
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
        "__ldg(x)" => "`x`: a `&Global` is already loaded through the read-only cache",
        "__popc(a)" => "`a.count_ones()`",
        "__popcll(a)" => "`a.count_ones()`",
        "__clz(a)" => "`a.leading_zeros()`",
        "__clzll(a)" => "`a.leading_zeros()`",
        "__ffs(a)" => "`a.trailing_zeros() + 1`, which of 0 is 33 where `__ffs` is 0",
        "__brev(a)" => "`a.reverse_bits()`",
        "__byte_perm(a)" => "shifts and masks: `(a >> 8) & 0xff`",
        "__mulhi(a, b)" => "`a.mul_hi(b)`",
        "__umulhi(a, b)" => "`a.mul_hi(b)`",
        "__mul24(a, b)" => "`a.mul24(b)`",
        "__umul24(a, b)" => "`a.mul24(b)`",
        "__vsadu4(a, b)" => "`a.sad4(b, 0)`",
        "__fmaf_rn(a, b, c)" => "`a.mul_add(b, c)`",
        "__fdividef(a, b)" => "`native_div(a, b)`",
        "__expf(a)" => "`native_exp(a)`",
        "__logf(a)" => "`native_ln(a)`",
        "__log2f(a)" => "`native_log2(a)`",
        "__sinf(a)" => "`native_sin(a)`",
        "__cosf(a)" => "`native_cos(a)`",
        "__frcp_rn(a)" => "`a.recip()`",
        "__fsqrt_rn(a)" => "`a.sqrt()`",
        "__saturatef(a)" => "`a.clamp(0.0, 1.0)`",
        "__float_as_int(a)" => "`a.to_bits() as i32`",
        "__float_as_uint(a)" => "`a.to_bits()`",
        "__int_as_float(a)" => "`f32::from_bits(a as u32)`",
        "__uint_as_float(a)" => "`f32::from_bits(a)`",
        "__float2int_rn(a)" => "`a.round_ties_even() as i32`",
        "__float2int_rz(a)" => "`a as i32`",
        "__int2float_rn(a)" => "`a as f32`",
        "__float2half(a)" => "`a as f16`",
        "__half2float(a)" => "`a as f32`",
        "__half" => "`f16`",
        "__nv_bfloat16" => "`bf16`",
        "__nv_fp8_e4m3" => "`e4m3`",
        "F8E4M3" => "`e4m3`",
        "__nv_fp8_e5m2" => "`e5m2`",
        "F8E5M2" => "`e5m2`",
        "__shared__" => "`#[shared] let mut tile: [f32; 256];`",
        "__constant__" => "a parameter `c: &Constant<[f32; 64]>`, or a `const`",
        "__restrict__" => "nothing: buffers of a launch never overlap",
        "float" => "`f32`",
        "double" => "`f64`",
        "int" => "`i32`",
        "uint" => "`u32`",
        "size_t" => "`usize`",
        "unsigned" => "`u32`",
        "int8_t" => "`i8`",
        "int16_t" => "`i16`",
        "uint16_t" => "`u16`",
        "int64_t" => "`i64`",
        "uint8_t" => "`u8`",
        "uint32_t" => "`u32`",
        "int32_t" => "`i32`",
        "uint64_t" => "`u64`",
    }
    likely {
        "make_float2(a, b)" => "`[a, b]`, a `[f32; 2]`",
        "make_float3(a, b, c)" => "`[a, b, c]`, a `[f32; 3]`",
        "make_float4(a, b, c, d)" => "`[a, b, c, d]`, a `[f32; 4]`",
        "make_double2(a, b)" => "`[a, b]`, a `[f64; 2]`",
        "make_int2(a, b)" => "`[a, b]`, an `[i32; 2]`",
        "make_int4(a, b, c, d)" => "`[a, b, c, d]`, an `[i32; 4]`",
        "make_uint2(a, b)" => "`[a, b]`, a `[u32; 2]`",
        "make_uint4(a, b, c, d)" => "`[a, b, c, d]`, a `[u32; 4]`",
        "float3" => "`[f32; 3]`",
        "double2" => "`[f64; 2]`; `x.load::<2>(i)` loads one at once",
        "int2" => "`[i32; 2]`; `x.load::<2>(i)` loads one at once",
        "uint2" => "`[u32; 2]`; `x.load::<2>(i)` loads one at once",
        "uint4" => "`[u32; 4]`; `x.load::<4>(i)` loads one at once",
        "half" => "`f16`",
        "half2" => "`[f16; 2]`",
        "INFINITY" => "`f32::INFINITY`",
        "NAN" => "`f32::NAN`",
        "FLT_MAX" => "`f32::MAX`",
        "FLT_MIN" => "`f32::MIN_POSITIVE`",
        "FLT_EPSILON" => "`f32::EPSILON`",
        "DBL_MAX" => "`f64::MAX`",
        "DBL_EPSILON" => "`f64::EPSILON`",
        "INT_MAX" => "`i32::MAX`",
        "INT_MIN" => "`i32::MIN`",
        "UINT_MAX" => "`u32::MAX`",
        "M_PI" => "`std::f32::consts::PI`",
        "CUDART_PI_F" => "`std::f32::consts::PI`",
        "CUDART_INF_F" => "`f32::INFINITY`",
        "NULL" => "nothing: a buffer is always there; pass its use as a `bool`",
        "float2" => "`[f32; 2]`; `x.load::<2>(i)` loads one at once",
        "float4" => "`[f32; 4]`; `x.load::<4>(i)` loads one at once",
        "int4" => "`[i32; 4]`; `x.load::<4>(i)` loads one at once",
        "fmaf(a, b, c)" => "`a.mul_add(b, c)`",
        "fma(a, b, c)" => "`a.mul_add(b, c)`",
        "sqrtf(a)" => "`a.sqrt()`",
        "rsqrtf(a)" => "`a.rsqrt()`",
        "cbrtf(a)" => "`a.cbrt()`",
        "exp10f(a)" => "`10f32.powf(a)`",
        "expm1f(a)" => "`a.exp_m1()`",
        "log1pf(a)" => "`a.ln_1p()`",
        "sincosf(a)" => "`let (sine, cosine) = a.sin_cos();`",
        "erfcf(a)" => "`a.erfc()`",
        "expf(a)" => "`a.exp()`",
        "exp2f(a)" => "`a.exp2()`",
        "log(a)" => "`a.ln()`",
        "logf(a)" => "`a.ln()`",
        "log2f(a)" => "`a.log2()`",
        "log10f(a)" => "`a.log10()`",
        "pow(a, b)" => "`a.powf(b)`; `powi` where `b` is an integer, `pow` where both are",
        "powf(a, b)" => "`a.powf(b)`",
        "sinf(a)" => "`a.sin()`",
        "cosf(a)" => "`a.cos()`",
        "tanf(a)" => "`a.tan()`",
        "asinf(a)" => "`a.asin()`",
        "acosf(a)" => "`a.acos()`",
        "atanf(a)" => "`a.atan()`",
        "atan2f(a, b)" => "`a.atan2(b)`",
        "sinhf(a)" => "`a.sinh()`",
        "coshf(a)" => "`a.cosh()`",
        "tanhf(a)" => "`a.tanh()`",
        "erff(a)" => "`a.erf()`",
        "fabs(a)" => "`a.abs()`",
        "fabsf(a)" => "`a.abs()`",
        "fmin(a, b)" => "`a.min(b)`",
        "fminf(a, b)" => "`a.min(b)`",
        "fmax(a, b)" => "`a.max(b)`",
        "fmaxf(a, b)" => "`a.max(b)`",
        "floorf(a)" => "`a.floor()`",
        "ceilf(a)" => "`a.ceil()`",
        "roundf(a)" => "`a.round()`",
        "rintf(a)" => "`a.round_ties_even()`",
        "truncf(a)" => "`a.trunc()`",
        "fmod(a, b)" => "`a % b`",
        "fmodf(a, b)" => "`a % b`",
        "hypotf(a, b)" => "`a.hypot(b)`",
        "copysignf(a, b)" => "`a.copysign(b)`",
        "isnan(a)" => "`a.is_nan()`",
        "isinf(a)" => "`a.is_infinite()`",
    }
}

/// What there is to say of a name.
pub fn foreign(name: &str) -> Option<&'static Foreign> {
    FOREIGN.iter().find(|foreign| foreign.name() == name)
}

impl Foreign {
    /// Whose name it is.
    pub fn origin(&self) -> &'static str {
        if self.signature.starts_with("F8") { "the crate `float8`" } else { "CUDA C++" }
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.signature.split('(').next().unwrap_or_default()
    }

    fn parameters(&self) -> Vec<&'static str> {
        let list = self.signature.strip_suffix(')').and_then(|signature| signature.split_once('('));
        list.map_or_else(Vec::new, |(_, list)| list.split(", ").collect())
    }

    /// The edit for the name alone.
    pub fn edit(&self) -> String {
        format!("write {}", self.edit.replace("().axis", "().x"))
    }

    /// The edit for a call with these arguments.
    pub fn edit_of_call<'a>(&self, arguments: impl IntoIterator<Item = &'a syn::Expr>) -> String {
        let parameters = self.parameters();
        let arguments: Vec<&syn::Expr> = arguments.into_iter().map(behind).collect();
        if arguments.len() < parameters.len() {
            return self.edit();
        }
        // The code is what stands between the first backticks.
        let mut parts: Vec<String> = self.edit.split('`').map(str::to_owned).collect();
        if let Some(code) = parts.get_mut(1) {
            *code = filled(code, &parameters, &arguments);
        }
        format!("write {}", parts.join("`"))
    }

    /// The method of buffers that it is, if it is an atomic.
    pub(super) fn atomic(&self) -> Option<&'static str> {
        self.edit.strip_prefix("`y.")?.split('(').next().filter(|method| method.starts_with("atomic_"))
    }

    /// The number that the method takes where the function takes none, or a bound.
    pub(super) fn atomic_step(&self) -> Option<&'static str> {
        self.edit.contains("(i, 1)").then_some("1")
    }
}

/// The edit for C's `printf("%d: %f\n", i, x)`.
pub(super) fn printf_edit(call: &syn::ExprCall) -> Option<String> {
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(format), .. }) = call.args.first()? else { return None };
    let text = format.value();
    let (text, name) = text.strip_suffix('\n').map_or((text.as_str(), "print"), |text| (text, "println"));
    let mut ours = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            // `%5.2f`, `%lu`, `%%`.
            '%' => match chars.by_ref().find(|c| c.is_ascii_alphabetic() && !"hlLzjt".contains(*c) || *c == '%') {
                Some('%') => ours.push('%'),
                _ => ours.push_str("{}"),
            },
            '{' | '}' => ours.extend([c, c]),
            other => ours.push(other),
        }
    }
    let rest: String = call.args.iter().skip(1).map(|argument| format!(", {}", written(argument))).collect();
    Some(format!("write `{name}!(\"{}\"{rest})`", ours.escape_debug()))
}

/// Code with arguments in the place of parameters.
fn filled(code: &str, parameters: &[&str], arguments: &[&syn::Expr]) -> String {
    let mut text = String::new();
    let mut rest = code;
    while let Some(begin) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
        let length = rest[begin..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len() - begin);
        let (before, word, after) = (&rest[..begin], &rest[begin..begin + length], &rest[begin + length..]);
        text.push_str(before);
        // What is part of a number is none: `10f32`.
        let is_name = !before.ends_with(|c: char| c.is_ascii_digit());
        match parameters.iter().position(|parameter| *parameter == word).filter(|_| is_name) {
            Some(at) if word == "axis" => text.push_str(axis(arguments[at])),
            Some(at) => {
                let ends = after.is_empty() || after.starts_with(['(', ',', '[', ']', ')']);
                let is_apart = before.trim_end().is_empty() || before.trim_end().ends_with(['(', ',', '[']);
                text.push_str(&if after.starts_with('.') {
                    receiver(arguments[at])
                } else if is_apart && ends {
                    written(arguments[at])
                } else {
                    operand(arguments[at])
                });
            }
            None => text.push_str(word),
        }
        rest = after;
    }
    text + rest
}

/// OpenCL's number of an axis.
fn axis(number: &syn::Expr) -> &'static str {
    match written(number).as_str() {
        "1" => "y",
        "2" => "z",
        _ => "x",
    }
}

#[cfg(test)]
mod tests {
    use super::{FOREIGN, foreign};
    use crate::intrinsics;

    /// What a kernel is told to call is there.
    #[test]
    fn edits_name_what_there_is() {
        let geometry = [
            "thread_idx",
            "block_idx",
            "block_dim",
            "grid_dim",
            "cluster_idx",
            "cluster_dim",
            "shared_of",
            "global_id",
            "lane_id",
            "warp_id",
            "atomic_",
            "f32",
            "load",
        ];
        for foreign in FOREIGN {
            let edit = foreign.edit.split('`').nth(1).unwrap_or_default();
            let edit = edit.split(" = ").last().unwrap_or_default();
            let call = edit.split('(').next().unwrap_or_default();
            if !edit.contains('(') || edit.starts_with("println") || edit.starts_with("(a") {
                continue;
            }
            let name = call.rsplit('.').next().unwrap_or_default();
            let is_known = intrinsics::rows().any(|row| row.name == name) || geometry.iter().any(|known| name.starts_with(known));
            assert!(is_known, "{}: {}", foreign.signature, foreign.edit);
        }
    }

    #[test]
    fn each_name_has_one_row() {
        let mut names: Vec<&str> = FOREIGN.iter().map(|foreign| foreign.name()).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn printf_is_print() {
        let edit = |call: &str| {
            let syn::Expr::Call(call) = syn::parse_str(call).unwrap() else { panic!("{call} is no call") };
            super::printf_edit(&call).unwrap()
        };
        assert_eq!(edit(r#"printf("%d: %5.2f\n", i, x[i])"#), r#"write `println!("{}: {}", i, x[i])`"#);
        assert_eq!(edit(r#"printf("%lu%% {done}")"#), r#"write `print!("{}% {{done}}")`"#);
    }

    #[test]
    fn edits_have_the_arguments_of_the_call() {
        let edit = |call: &str| {
            let syn::Expr::Call(call) = syn::parse_str(call).unwrap() else { panic!("{call} is no call") };
            let name = quote::ToTokens::to_token_stream(&call.func).to_string();
            foreign(&name).unwrap().edit_of_call(&call.args)
        };
        assert_eq!(edit("__shfl_down_sync(0xffffffff, v + 1.0, 16)"), "write `shuffle_down(v + 1.0, 16)`, without the mask");
        assert_eq!(edit("fmaf(x[i] + 1.0, b, c)"), "write `(x[i] + 1.0).mul_add(b, c)`");
        assert_eq!(edit("fmaxf(0.0, x[i])"), "write `0.0f32.max(x[i])`");
        assert_eq!(edit("fmodf(a - b, 2.0)"), "write `(a - b) % 2.0`");
        assert_eq!(edit("__float_as_int(-a)"), "write `(-a).to_bits() as i32`");
        assert_eq!(edit("__int_as_float(a | b)"), "write `f32::from_bits((a | b) as u32)`");
        assert_eq!(edit("__ldg(&x[i + 1])"), "write `x[i + 1]`: a `&Global` is already loaded through the read-only cache");
        assert_eq!(edit("make_float2(a + b, 0.0)"), "write `[a + b, 0.0]`, a `[f32; 2]`");
        assert_eq!(edit("get_global_id(1)"), "write `global_id().y`");
        assert_eq!(edit("__cluster_map_shared_rank(own, r + 1)"), "write `shared_of(&own, r + 1)`, which is indexed as the array is");
        assert_eq!(edit("exp10f(a)"), "write `10f32.powf(a)`");
        assert_eq!(edit("fmaf(a, b)"), "write `a.mul_add(b, c)`");
    }
}
