//! The precise functions that PTX has no instruction for, in the IR: what the compiler makes of the files of [`crate::math`].
//!
//! The texts are checked in, so that nothing is compiled when a kernel asks for a function, and nothing of it is kept: reading a text back takes less
//! than the passes that see its instructions. The test of this module compiles the files and holds the texts to that; `WARPWRIGHT_BLESS=1`
//! writes them. A text has no places in the source, since a function's instructions stand where it is called, and indices of 32 bits: whoever copies
//! it into a kernel with wider ones widens those of its tables.

use crate::ir::{Kernel, Type};
use crate::text::parse_kernel;

#[cfg(test)]
mod tests;

/// The name in a kernel of every table of the library's. What reads one is for rare arguments. No table of a kernel's own is called so.
pub const TABLE: &str = "math";

/// A function of the library: the row's name, and its text for each type.
struct Function {
    name: &'static str,
    f32: &'static str,
    f64: &'static str,
}

macro_rules! function {
    ($name:literal) => {
        Function { name: $name, f32: include_str!(concat!("f32/", $name, ".ir")), f64: include_str!(concat!("f64/", $name, ".ir")) }
    };
}

const FUNCTIONS: &[Function] = &[
    function!("exp"),
    function!("exp2"),
    function!("exp_m1"),
    function!("ln"),
    function!("ln_1p"),
    function!("log2"),
    function!("log10"),
    function!("powf"),
    function!("cbrt"),
    function!("hypot"),
    function!("sinh"),
    function!("cosh"),
    function!("tanh"),
    function!("sin"),
    function!("cos"),
    // For kernels that ask for both of an argument.
    function!("sin_cos"),
    function!("tan"),
    function!("asin"),
    function!("acos"),
    function!("atan"),
    function!("atan2"),
    function!("erf"),
    function!("erfc"),
];

impl Function {
    fn text(&self, ty: Type) -> Option<&'static str> {
        match ty {
            Type::F32 => Some(self.f32),
            Type::F64 => Some(self.f64),
            _ => None,
        }
    }
}

/// The function of this name that takes values of type `ty`: as the kernel `out[0] = f(a, b)` of stage `Legal`. What it loads from its parameters are
/// the arguments, what it stores is the result; of `sin_cos`, two.
pub(crate) fn function(name: &str, ty: Type) -> Option<Kernel> {
    let text = FUNCTIONS.iter().find(|function| function.name == name)?.text(ty)?;
    // Invariant: it is a kernel's text (the tests read every one).
    Some(parse_kernel(text).unwrap_or_else(|error| unreachable!("`{name}` of {ty}: {error}")))
}
