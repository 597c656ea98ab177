//! Names: what the source calls things, made safe for OpenCL C and unique in the text.
//!
//! One scope for the whole text: two variables never share a name, so nothing shadows anything and moving a declaration out of a
//! block cannot capture another. Names of the back end's own start with `ww_`, which no user's name can.

use std::collections::HashSet;

/// Words that a name must not be: keywords of C99 and OpenCL C, types, and functions and macros that the text may use. Sorted.
const RESERVED: &[&str] = &[
    "DBL_MAX",
    "DBL_MIN",
    "FLT_MAX",
    "FLT_MIN",
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
    "bitselect",
    "bool",
    "break",
    "case",
    "cbrt",
    "ceil",
    "char",
    "clamp",
    "clz",
    "complex",
    "const",
    "constant",
    "continue",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "cross",
    "ctz",
    "default",
    "degrees",
    "distance",
    "do",
    "dot",
    "double",
    "else",
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
    "isequal",
    "isfinite",
    "isgreater",
    "isinf",
    "isless",
    "isnan",
    "isnormal",
    "isnotequal",
    "isordered",
    "isunordered",
    "kernel",
    "ldexp",
    "length",
    "lgamma",
    "lgamma_r",
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
    "min",
    "minmag",
    "mix",
    "modf",
    "mul24",
    "mul_hi",
    "nan",
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
    "radians",
    "rand",
    "read_mem_fence",
    "read_only",
    "read_write",
    "register",
    "remainder",
    "remquo",
    "restrict",
    "return",
    "rhadd",
    "rint",
    "rootn",
    "rotate",
    "round",
    "rsqrt",
    "sampler_t",
    "select",
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
    "true",
    "trunc",
    "typedef",
    "uchar",
    "uint",
    "uintptr_t",
    "ulong",
    "uniform",
    "union",
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
    "_",
    "CLK_",
    "CL_",
    "M_",
    "as_",
    "async_work_group_",
    "atom_",
    "atomic_",
    "cl_",
    "convert_",
    "fast_",
    "get_",
    "half_",
    "image",
    "native_",
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
}

impl Namer {
    /// A name as near to `wanted` as can be, never given before.
    pub(super) fn name(&mut self, wanted: &str) -> String {
        let base = identifier(wanted);
        if self.taken.insert(base.clone()) {
            return base;
        }
        // A name that ends in a digit takes a separator anyway, so that `x1` and `x` + `1` stay apart.
        (1u32..).map(|n| format!("{base}_{n}")).find(|candidate| self.taken.insert(candidate.clone())).expect("the numbers do not end")
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
