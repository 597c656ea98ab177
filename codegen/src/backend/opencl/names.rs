//! Names: what the source calls things, made safe for OpenCL C and unique in the text.
//!
//! One scope for the whole text: two variables never share a name, so nothing shadows anything and moving a declaration out of a
//! block cannot capture another. Names of the back end's own start with `ww_`, which no user's name can.

use std::collections::{HashMap, HashSet};

/// Words that a name must not be: keywords of C99 and OpenCL C, types, and functions and macros that the text may use. Sorted.
const RESERVED: &[&str] = &[
    "ALIGN4",
    "ALIGN8",
    "HUGE_VAL",
    "HUGE_VALF",
    "INFINITY",
    "INT_MAX",
    "INT_MIN",
    "LONG_MAX",
    "LONG_MIN",
    "MAXFLOAT",
    "NAN",
    "NULL",
    "UINT_MAX",
    "ULONG_MAX",
    "abs",
    "abs_diff",
    "acos",
    "acosh",
    "acospi",
    "add_sat",
    "all",
    "any",
    "asin",
    "asinh",
    "asinpi",
    "asm",
    "atan",
    "atan2",
    "atan2pi",
    "atanh",
    "atanpi",
    "auto",
    "barrier",
    "bit_reverse",
    "bitselect",
    "bool",
    "break",
    "capture_event_profiling_info",
    "case",
    "cbrt",
    "ceil",
    "char",
    "clamp",
    "clk_event_t",
    "clz",
    "complex",
    "const",
    "constant",
    "continue",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "create_user_event",
    "cross",
    "ctz",
    "default",
    "degrees",
    "distance",
    "do",
    "dot",
    "double",
    "else",
    "enqueue_kernel",
    "enqueue_marker",
    "enum",
    "erf",
    "erfc",
    "event_t",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "extern",
    "fabs",
    "false",
    "fdim",
    "float",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "for",
    "fract",
    "frexp",
    "generic",
    "global",
    "goto",
    "hadd",
    "half",
    "hypot",
    "if",
    "ilogb",
    "imaginary",
    "inline",
    "int",
    "intptr_t",
    "is_valid_event",
    "is_valid_reserve_id",
    "isequal",
    "isfinite",
    "isgreater",
    "isgreaterequal",
    "isinf",
    "isless",
    "islessequal",
    "islessgreater",
    "isnan",
    "isnormal",
    "isnotequal",
    "isordered",
    "isunordered",
    "kernel",
    "kernel_enqueue_flags_t",
    "kernel_exec",
    "ldexp",
    "length",
    "lgamma",
    "lgamma_r",
    "linux",
    "local",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "long",
    "mad",
    "mad24",
    "mad_hi",
    "mad_sat",
    "main",
    "max",
    "maxmag",
    "mem_fence",
    "memory_order",
    "memory_scope",
    "min",
    "minmag",
    "mix",
    "modf",
    "mul24",
    "mul_hi",
    "nan",
    "ndrange_t",
    "nextafter",
    "normalize",
    "pipe",
    "popcount",
    "pow",
    "pown",
    "powr",
    "prefetch",
    "printf",
    "private",
    "ptrdiff_t",
    "quad",
    "queue_t",
    "radians",
    "rand",
    "read_mem_fence",
    "read_only",
    "read_write",
    "register",
    "release_event",
    "remainder",
    "remquo",
    "reserve_id_t",
    "restrict",
    "retain_event",
    "return",
    "rhadd",
    "rint",
    "rootn",
    "rotate",
    "round",
    "rsqrt",
    "sampler_t",
    "select",
    "set_user_event_status",
    "short",
    "shuffle",
    "shuffle2",
    "sign",
    "signbit",
    "signed",
    "sin",
    "sincos",
    "sinh",
    "sinpi",
    "size_t",
    "sizeof",
    "smoothstep",
    "sqrt",
    "static",
    "step",
    "struct",
    "sub_sat",
    "switch",
    "tan",
    "tanh",
    "tanpi",
    "tgamma",
    "to_global",
    "to_local",
    "to_private",
    "true",
    "trunc",
    "typedef",
    "uchar",
    "uint",
    "uintptr_t",
    "ulong",
    "uniform",
    "union",
    "unix",
    "unsigned",
    "upsample",
    "ushort",
    "vec_step",
    "vector",
    "void",
    "volatile",
    "wait_group_events",
    "while",
    "write_mem_fence",
    "write_only",
];

/// Beginnings that a name must not have: builtins, macros of compilers, our own.
const RESERVED_PREFIXES: &[&str] = &[
    "ATOMIC_",
    "CHAR_",
    "CLANG_",
    "CLK_",
    "CL_",
    "DBL_",
    "FLT_",
    "FP_",
    "HALF_",
    "LLVM_",
    "M_",
    "POCL_",
    "SCHAR_",
    "SHRT_",
    "UCHAR_",
    "USHRT_",
    "_",
    "amd_",
    "arm_",
    "as_",
    "async_work_group_",
    "atom_",
    "atomic_",
    "bitfield_",
    "cl_",
    "cles_",
    "convert_",
    "dot_",
    "fast_",
    "get_",
    "half_",
    "image",
    "intel_",
    "native_",
    "ndrange_",
    "opencl_",
    "pocl_",
    "read_image",
    "sub_group_",
    "vload",
    "vstore",
    "work_group_",
    "write_image",
    "ww_",
];

/// Scalar types that exist as vectors too: `float4`, `uint16` are types.
const VECTOR_BASES: &[&str] =
    &["bool", "char", "double", "float", "half", "int", "long", "quad", "short", "uchar", "uint", "ulong", "ushort"];

/// Hands out names.
#[derive(Default)]
pub(super) struct Namer {
    taken: HashSet<String>,
    /// By the name that was wanted: the last number that was tried behind it.
    numbers: HashMap<String, u32>,
}

impl Namer {
    /// A name as near to `wanted` as can be, never given before.
    pub(super) fn name(&mut self, wanted: &str) -> String {
        let base = identifier(wanted);
        if self.taken.insert(base.clone()) {
            return base;
        }
        // A name that ends in a digit takes a separator anyway, so that `x1` and `x` + `1` stay apart.
        let last = self.numbers.entry(base.clone()).or_insert(0);
        loop {
            *last += 1;
            let candidate = format!("{base}_{last}");
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// `wanted` as an identifier of C that means nothing else in OpenCL C.
pub(super) fn identifier(wanted: &str) -> String {
    let wanted = wanted.strip_prefix("r#").unwrap_or(wanted);
    let mut name = String::with_capacity(wanted.len());
    for c in wanted.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            c if c.is_alphanumeric() => name.push_str(&format!("u{:x}", c as u32)),
            _ => name.push('_'),
        }
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) || RESERVED_PREFIXES.iter().any(|p| name.starts_with(p)) || name.is_empty() {
        name.insert_str(0, "v_");
    }
    if RESERVED.binary_search(&name.as_str()).is_ok() || is_vector_type(&name) {
        name.push('_');
    }
    name
}

fn is_vector_type(name: &str) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'x');
    base.len() < name.len() && VECTOR_BASES.contains(&base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserved_words_are_sorted() {
        assert!(RESERVED.is_sorted(), "binary search needs order");
    }

    #[test]
    fn what_the_table_of_intrinsics_calls_is_reserved() {
        for device in crate::intrinsics::rows().filter_map(crate::ir::intrinsic::Intrinsic::device) {
            for (at, _) in device.opencl.match_indices('(') {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let word = device.opencl[..at].rsplit(|c| !is_word(c)).next().unwrap_or_default();
                // `_` comes from `as_{T}`.
                let is_ours = word.starts_with("ww_") || word.starts_with("warpwright_") || word.is_empty() || word == "_";
                assert!(is_ours || identifier(word) != word, "`{word}` of `{}`", device.opencl);
            }
        }
    }

    #[test]
    fn keeps_what_is_free_and_changes_what_is_not() {
        let cases = [
            ("acc", "acc"),
            ("r#type", "type"),
            ("kernel", "kernel_"),
            ("float4", "float4_"),
            ("int8x", "int8x_"),
            ("x4", "x4"),
            ("_unused", "v__unused"),
            ("get_size", "v_get_size"),
            ("ww_fault", "v_ww_fault"),
            ("größe", "gruf6udfe"),
            ("0", "v_0"),
            ("", "v_"),
        ];
        for (wanted, expected) in cases {
            assert_eq!(identifier(wanted), expected, "`{wanted}`");
        }
    }

    #[test]
    fn gives_each_name_once() {
        let mut namer = Namer::default();
        assert_eq!(namer.name("i"), "i");
        assert_eq!(namer.name("i"), "i_1");
        assert_eq!(namer.name("i_1"), "i_1_1");
        assert_eq!(namer.name("i"), "i_2");
    }
}
