//! The precise functions that PTX has no instruction for, written in the language of kernels.
//!
//! A file of `f32/` or `f64/` is read twice: by rustc, for constant folding and the simulator, and by this compiler, when a kernel for PTX needs
//! one of its functions. Every operation in it is correctly rounded on both (there is no `a * b + c` that may or may not be fused: fused is what says
//! `mul_add`), so a function gives the same bits everywhere, on devices of every generation, and an error measured on the processor is the error on
//! the device. Devices whose language has such functions (OpenCL C) use those, and the host twin has std's.
//!
//! **Rules for the files**: free functions and constants of scalars, no two files of a type name anything alike; what reads a table is a path for rare arguments (estimates
//! take it as not run: [`TABLE`]), and all else is as straight as it can be, because 32 lanes go through it together. The polynomials are fitted by
//! `tests/math_fit`. A function's comment says how it works and its greatest error in ulp; the row of `intrinsics/transcendental.rs` is what it
//! promises, and `tests/tests/math.rs` holds it to that.

#[allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal, reason = "constants as they were fitted")]
pub mod f32;
#[allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal, reason = "constants as they were fitted")]
pub mod f64;

use crate::diagnostic::Diagnostics;
use crate::hir::lower_kernel;
use crate::ir::{IndexWidth, Kernel, Stage, Type};
use crate::passes;
use crate::schedule::schedule_kernel;
use crate::syntax::{Instance, Program, Unit};
use std::sync::{LazyLock, OnceLock};

/// A function of the library.
struct Function {
    /// The row's name, and the function's.
    name: &'static str,
    arguments: usize,
    ty: Type,
    /// The file that holds it, and those it takes something from.
    files: &'static [File],
}

/// A file of the library: its path in the repository, and its text.
type File = (&'static str, &'static str);

macro_rules! file {
    ($path:literal) => {
        (concat!("codegen/src/math/", $path), include_str!($path))
    };
}

const EXP_F32: &[File] = &[file!("f32/exp.rs")];
const LOG_F32: &[File] = &[file!("f32/log.rs")];
const POWER_F32: &[File] = &[file!("f32/power.rs"), file!("f32/exp.rs")];
const HYPERBOLIC_F32: &[File] = &[file!("f32/hyperbolic.rs")];
const TRIG_F32: &[File] = &[file!("f32/trig.rs")];
const ARC_F32: &[File] = &[file!("f32/arc.rs")];
const ERF_F32: &[File] = &[file!("f32/erf.rs")];
const EXP_F64: &[File] = &[file!("f64/exp.rs")];
const LOG_F64: &[File] = &[file!("f64/log.rs")];
const POWER_F64: &[File] = &[file!("f64/power.rs"), file!("f64/log.rs"), file!("f64/exp.rs")];
const HYPERBOLIC_F64: &[File] = &[file!("f64/hyperbolic.rs"), file!("f64/exp.rs")];
const TRIG_F64: &[File] = &[file!("f64/trig.rs")];
const ARC_F64: &[File] = &[file!("f64/arc.rs")];
const ERF_F64: &[File] = &[file!("f64/erf.rs")];

const FUNCTIONS: &[Function] = &[
    function_of(Type::F32, "exp", 1, EXP_F32),
    function_of(Type::F32, "exp2", 1, EXP_F32),
    function_of(Type::F32, "exp_m1", 1, EXP_F32),
    function_of(Type::F32, "ln", 1, LOG_F32),
    function_of(Type::F32, "ln_1p", 1, LOG_F32),
    function_of(Type::F32, "log2", 1, LOG_F32),
    function_of(Type::F32, "log10", 1, LOG_F32),
    function_of(Type::F32, "powf", 2, POWER_F32),
    function_of(Type::F32, "cbrt", 1, POWER_F32),
    function_of(Type::F32, "hypot", 2, POWER_F32),
    function_of(Type::F32, "sinh", 1, HYPERBOLIC_F32),
    function_of(Type::F32, "cosh", 1, HYPERBOLIC_F32),
    function_of(Type::F32, "tanh", 1, HYPERBOLIC_F32),
    function_of(Type::F32, "sin", 1, TRIG_F32),
    function_of(Type::F32, "cos", 1, TRIG_F32),
    // For kernels that ask for both of an argument.
    function_of(Type::F32, "sin_cos", 1, TRIG_F32),
    function_of(Type::F32, "tan", 1, TRIG_F32),
    function_of(Type::F32, "asin", 1, ARC_F32),
    function_of(Type::F32, "acos", 1, ARC_F32),
    function_of(Type::F32, "atan", 1, ARC_F32),
    function_of(Type::F32, "atan2", 2, ARC_F32),
    function_of(Type::F32, "erf", 1, ERF_F32),
    function_of(Type::F32, "erfc", 1, ERF_F32),
    function_of(Type::F64, "exp", 1, EXP_F64),
    function_of(Type::F64, "exp2", 1, EXP_F64),
    function_of(Type::F64, "exp_m1", 1, EXP_F64),
    function_of(Type::F64, "ln", 1, LOG_F64),
    function_of(Type::F64, "ln_1p", 1, LOG_F64),
    function_of(Type::F64, "log2", 1, LOG_F64),
    function_of(Type::F64, "log10", 1, LOG_F64),
    function_of(Type::F64, "powf", 2, POWER_F64),
    function_of(Type::F64, "cbrt", 1, POWER_F64),
    function_of(Type::F64, "hypot", 2, POWER_F64),
    function_of(Type::F64, "sinh", 1, HYPERBOLIC_F64),
    function_of(Type::F64, "cosh", 1, HYPERBOLIC_F64),
    function_of(Type::F64, "tanh", 1, HYPERBOLIC_F64),
    function_of(Type::F64, "sin", 1, TRIG_F64),
    function_of(Type::F64, "cos", 1, TRIG_F64),
    // For kernels that ask for both of an argument.
    function_of(Type::F64, "sin_cos", 1, TRIG_F64),
    function_of(Type::F64, "tan", 1, TRIG_F64),
    function_of(Type::F64, "asin", 1, ARC_F64),
    function_of(Type::F64, "acos", 1, ARC_F64),
    function_of(Type::F64, "atan", 1, ARC_F64),
    function_of(Type::F64, "atan2", 2, ARC_F64),
    function_of(Type::F64, "erf", 1, ERF_F64),
    function_of(Type::F64, "erfc", 1, ERF_F64),
];

const fn function_of(ty: Type, name: &'static str, arguments: usize, files: &'static [File]) -> Function {
    Function { name, arguments, ty, files }
}

/// Functions by their place in [`FUNCTIONS`] and [`IndexWidth`], compiled when first asked for. Their text is part of the compiler: this is no state
/// of it.
static COMPILED: LazyLock<Vec<[OnceLock<Kernel>; 2]>> = LazyLock::new(|| FUNCTIONS.iter().map(|_| Default::default()).collect());

/// The function of this name that takes values of type `ty`, in a kernel whose `usize` is that wide: as the kernel `out[0] = f(a, b)` of stage
/// `Legal`. What it loads from its parameters are the arguments, what it stores is the result; of `sin_cos`, two.
pub(crate) fn function(name: &str, ty: Type, index: IndexWidth) -> Option<&'static Kernel> {
    let n = FUNCTIONS.iter().position(|function| function.name == name && function.ty == ty)?;
    Some(COMPILED[n][index as usize].get_or_init(|| FUNCTIONS[n].compile(index)))
}

/// The name in a kernel of every table of the library's. What reads one is for rare arguments. No table of a kernel's own is called so.
pub const TABLE: &str = "math";

impl Function {
    /// Invariant: it compiles (the tests compile every one).
    fn compile(&self, index: IndexWidth) -> Kernel {
        self.try_compile(index)
            .unwrap_or_else(|found| unreachable!("`{}` of {} is not in the language: {found:?}", self.name, self.files[0].0))
    }

    fn try_compile(&self, index: IndexWidth) -> Result<Kernel, Diagnostics> {
        let ty = self.ty;
        let letters = &["a", "b"][..self.arguments];
        let parameters: String = letters.iter().map(|letter| format!("{letter}: {ty}, ")).collect();
        let width = if index == IndexWidth::Bits32 { 32 } else { 64 };
        let call = format!("{}({})", self.name, letters.join(", "));
        let body = if self.name == "sin_cos" {
            format!("let (sine, cosine) = {call}; out[0] = sine; out[1] = cosine;")
        } else {
            format!("out[0] = {call};")
        };
        let kernel = format!("#[kernel(contract = false, index = {width})] fn call({parameters}out: &mut Global<{ty}>) {{ {body} }}");
        // One namespace: no two files of a type name anything alike. Comments would be parsed into attributes.
        let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.starts_with("use super");
        let lines = self.files.iter().flat_map(|(_, text)| text.lines()).filter(is_code);
        let text: String = lines.chain([kernel.as_str()]).flat_map(|line| [line, "\n"]).collect();
        let mut program = Program::default();
        let unit = program.add(Unit::parse(self.files[0].0, 1, 1, &text)?);
        let mut lowered = lower_kernel(&program, unit, "call", &Instance::default())?;
        schedule_kernel(&mut lowered.kernel, &lowered.statements);
        passes::run(&mut lowered.kernel, passes::OPTIMIZE, None);
        lowered.kernel.stage = Stage::Legal;
        lowered.kernel.compact();
        Ok(lowered.kernel)
    }
}
