//! OpenCL C 1.2, for people to read and for every OpenCL device to run.
//!
//! Source names stay, control flow is C's own, a value used once is part of its user's expression. The rooms: `names`, `types`,
//! `expressions`, `values` (what becomes a variable), `casts`, `memory`, `order` (where a compiler needs to be told), `control`, `atomics`, `intrinsics`, `warp` (exchanges
//! without sub-groups), `forms` (one text for devices with sub-groups and without), `output` (printf and faults), `portable` (what cannot run there), `texture` (images and samplers), `signature` (parameters and what the runtime passes), `prelude` (functions
//! before the kernel).
//!
//! # The traps of OpenCL C, and where they are met
//!
//! * Signed overflow is undefined, in C as in LLVM; Rust's wraps. Signed `+ - * <<` go through the unsigned type (`expressions`).
//!   Types below `int` are promoted to it, and the product of two `ushort` overflows an `int`: that one goes through `uint` too.
//! * Shift counts are taken modulo the width *of the promoted type*: right for 32 and 64 bits, masked by hand below.
//! * `INT_MIN / -1` raises an arithmetic exception on x86, and so kills the host with a CPU device. Division by anything but a
//!   constant asks for −1 first. (By zero stays undefined, as the language says.)
//! * `(int)x` of a float out of range is undefined; `convert_int_sat` is not, but for NaN (`casts`).
//! * Overloaded builtins (`min`, `abs`, `as_T` …) choose by C's type, and a `uchar` expression has type `int`: arguments are cast.
//! * `a * b + c` may be contracted by default: `FP_CONTRACT OFF`, and `fma` where the IR says so. Division and square root are
//!   not correctly rounded by default: a build option, which the runtime drops where the device lacks it.
//! * `half` is a storage type without `cl_khr_fp16`: `f16` and `bf16` are `ushort` bits, converted to `float` to compute.
//! * `bool` may not be a kernel argument, nor has it a size: a `uchar` in memory.
//! * `double`, 64-bit atomics: extensions, enabled only where used. Atomics on floats: compare-and-exchange loops.
//! * Arrays are not passed by value: a struct around them. `__local` arrays stand at the top of the kernel, and get a vector's alignment
//!   where vectors are read from them.
//! * No device traps: an assertion that fails writes into a fault buffer that the runtime reads after the launch, and the thread returns. Before a
//!   barrier it takes no further part and comes there all the same: others wait for it, and PoCL 3.1 goes wrong behind a `return` that nobody takes.
//! * `for (i = a; i < n; i += 4)` never ends where `n` is near the type's greatest value: the step is cut to what is left (`control`).
//! * A barrier that not all threads of the block reach is undefined, and exchanges between the threads of a warp are made of barriers: the pass
//!   `converge` brings all threads to them before anything is printed. Where sub-groups are the warps, the
//!   kernel is also printed as it is, with exchanges that are sub-group functions (`forms`).
//! * `abs(INT_MIN)` is 2³¹ in OpenCL C; PoCL computes it as a signed negation, which overflows, and LLVM then takes the result to be
//!   positive. `abs` of `int` and `long` is written out.
//! * PoCL's vectoriser may move an access over a store to the same place (`order`).
//! * PoCL 3.1 loses values where a branch stands between the barriers of loops inside loops, and `a && b` is a branch: in kernels that
//!   `converge` has taken apart, bools meet by `&` and `|`.
//! * Names: builtins are overloaded functions in one scope with everything else, and vendors define macros; `names` has the table.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod atomics;
mod casts;
mod control;
mod expressions;
mod forms;
mod intrinsics;
mod memory;
mod names;
mod order;
mod output;
mod portable;
mod prelude;
mod signature;
mod texture;
mod types;
mod warp;

pub use forms::SUB_GROUPS_MACRO;

use super::structured::{State, Values};
use super::{Backend, Emitted, Language, TextureReads};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Address, Compute, Inst, Kernel, Loc, Memory, MemoryOp, Message, Object, ObjectKind, Op, Stage, Value};
use crate::pipeline::{Legal, Scheduled};
use crate::target::{OPENCL, Target, Targets};
use forms::Form;
use names::Namer;
use prelude::Prelude;
use proc_macro2::Span;

/// Options for the device's compiler.
const BUILD_OPTIONS: &str = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";

static LANGUAGE: Language = Language {
    name: "opencl",
    title: "OpenCL C",
    purpose: "OpenCL C 1.2",
    stage: Stage::Legal,
    is_per_target: false,
    is_for_devices: true,
    family: Some(&OPENCL),
};

/// The back end.
pub struct OpenCl;

impl Backend for OpenCl {
    fn language(&self) -> &'static Language {
        &LANGUAGE
    }

    fn refusals(&self, kernel: &Scheduled, targets: &Targets, span: &dyn Fn(Loc) -> Span) -> Diagnostics {
        let is_target = targets.families.iter().any(|family| **family == OPENCL);
        if is_target { portable::refusals(kernel.legal(), span) } else { Diagnostics::new() }
    }

    fn emit(&self, kernel: &Scheduled, _target: Option<&Target>, span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
        emit_opencl(kernel.legal(), span)
    }
}

/// Prints a `Legal` kernel as OpenCL C 1.2, taken apart by `passes::converge` where exchanges need it. A kernel with exchanges is printed for
/// devices with sub-groups, too, in the same text, if the lanes of its warps come to each exchange together. `span` gives the source span
/// behind a location, for refusals.
///
/// # Errors
///
/// What OpenCL C 1.2 cannot do, each at its place: intrinsics that it has no text for, atomics on narrow types.
pub fn emit_opencl(kernel: &Legal, span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
    forms::emit(kernel, span)
}

/// Extensions and implicit arguments that a body turned out to need.
#[derive(Clone, Copy, Default)]
struct Features {
    int64_base_atomics: bool,
    int64_extended_atomics: bool,
    fault: bool,
    exchange: bool,
}

impl Features {
    /// What either needs.
    fn or(self, other: Features) -> Features {
        Features {
            int64_base_atomics: self.int64_base_atomics | other.int64_base_atomics,
            int64_extended_atomics: self.int64_extended_atomics | other.int64_extended_atomics,
            fault: self.fault | other.fault,
            exchange: self.exchange | other.exchange,
        }
    }
}

/// A kernel being printed.
struct Writer<'k> {
    kernel: &'k Kernel,
    form: Form,
    span: &'k dyn Fn(Loc) -> Span,
    diagnostics: Diagnostics,
    names: Namer,
    prelude: Prelude,
    features: Features,
    state: State<expressions::Extra>,

    entry: String,
    /// Objects whose accesses must stay in order.
    in_order: Vec<Object>,
    struct_names: Vec<String>,
    field_names: Vec<Vec<String>>,
    object_names: Vec<String>,
    length_names: Vec<(Object, String)>,
    sampler_names: Vec<(Object, TextureReads, String)>,
    fault_name: String,
    exchange_name: String,
    /// The blocks of the grid that was asked for, by axis.
    grid_names: [String; 3],
    /// What dynamic shared memory is passed as, if it is accessed by vectors.
    vectors_name: Option<String>,
    faults: Vec<String>,
    /// What was refused, and where.
    refused: Vec<(Loc, String)>,
    shared_bytes: u64,
    /// Whether `converge` has taken the kernel apart.
    is_taken_apart: bool,
}

impl<'k> Writer<'k> {
    fn new(kernel: &'k Kernel, form: Form, span: &'k dyn Fn(Loc) -> Span) -> Writer<'k> {
        Writer {
            kernel,
            form,
            span,
            diagnostics: Diagnostics::new(),
            names: Namer::default(),
            prelude: Prelude::default(),
            features: Features::default(),
            state: State::new(kernel),
            entry: String::new(),
            in_order: order::objects(kernel),
            struct_names: Vec::new(),
            field_names: Vec::new(),
            object_names: Vec::new(),
            length_names: Vec::new(),
            sampler_names: Vec::new(),
            fault_name: String::new(),
            exchange_name: String::new(),
            grid_names: [const { String::new() }; 3],
            vectors_name: None,
            faults: Vec::new(),
            refused: Vec::new(),
            shared_bytes: 0,
            is_taken_apart: false,
        }
    }

    fn span_of(&self, inst: Inst) -> Span {
        (self.span)(self.kernel.insts[inst].loc)
    }

    /// Notes an error at an instruction, once for all that one call became; its results stand for anything from here on, so that all errors are found.
    fn refuse(&mut self, inst: Inst, diagnostic: Diagnostic) {
        let place = (self.kernel.insts[inst].loc, diagnostic.message.clone());
        if !self.refused.contains(&place) {
            self.refused.push(place);
            self.diagnostics.push(diagnostic);
        }
        for result in &self.kernel.insts[inst].results {
            self.bind(*result, expressions::Expr::new("0", expressions::PRIMARY));
        }
    }

    /// An instruction without blocks of its own that ends none either.
    fn simple(&mut self, inst: Inst, op: &Op) {
        match op {
            Op::Memory(Memory { at: Address::Path(access), .. })
                if matches!(self.kernel.objects[access.object].kind, ObjectKind::Peers(_)) =>
            {
                let message = "OpenCL devices have no clusters, and so no shared memory of other blocks: `shared_of`";
                self.refuse(inst, Diagnostic::error(self.span_of(inst), message).help("run this kernel on CUDA or on the simulator"));
            }
            Op::Memory(Memory { op, at: Address::Path(access) }) => match op {
                MemoryOp::Load => self.load(inst, access),
                MemoryOp::LoadMatrix { .. } | MemoryOp::StoreMatrix(_) => self.refuse_stage(inst),
                MemoryOp::Store(values) => self.store(access, values),
                MemoryOp::Atomic(op, atomicity, values) => self.ordered_atomic(inst, (*op, *atomicity), access, values),
            },
            Op::Texture(op, object, coordinates) => self.texture(inst, *op, *object, coordinates),
            Op::Intrinsic(row, args) => self.intrinsic(inst, row.row(), args),
            Op::Message(Message::Print(parts, values)) => self.print(parts, values),
            Op::Message(Message::Assert(condition, parts, _)) => self.assert(inst, *condition, parts),
            Op::Compute(compute) => {
                let result = self.kernel.insts[inst].results[0];
                if self.state.is_used(result) {
                    self.computation(inst, compute, result);
                }
            }
            Op::Memory(Memory { at: Address::Pointer { .. }, .. })
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Region(_)
            | Op::Terminator(_) => {
                self.refuse_stage(inst);
            }
        }
    }

    /// An instruction that computes its result from its operands.
    fn computation(&mut self, inst: Inst, compute: &Compute, result: Value) {
        let ty = self.kernel.ty(result);
        let expr = match compute {
            Compute::Const(scalar) => return self.bind(result, types::literal(*scalar)),
            Compute::Len(object) => {
                let name = self.length_names.iter().find(|(o, _)| o == object).map_or(String::new(), |(_, name)| name.clone());
                return self.bind(result, expressions::Expr::new(name, expressions::PRIMARY));
            }
            Compute::Special(special, axis) => self.special(*special, *axis),
            Compute::Unary(op, a) => self.unary(*op, *a, ty),
            Compute::Binary(op, a, b) => self.binary(*op, *a, *b, ty),
            Compute::MulAdd(a, b, c) => self.mul_add(*a, *b, *c, ty),
            Compute::Compare(op, a, b) => self.compare(*op, *a, *b),
            Compute::Select(c, a, b) => self.select(*c, *a, *b, ty),
            Compute::Cast(a) => self.cast(*a, ty),
            Compute::Bitcast(a) => self.bitcast(*a, ty),
            Compute::Address(_) | Compute::PeerAddress(..) | Compute::Offset(..) => return self.refuse_stage(inst),
        };
        self.define(inst, result, expr);
    }

    fn refuse_stage(&mut self, inst: Inst) {
        let message = format!("the kernel `{}` is not in the stage that OpenCL C is printed from", self.kernel.name);
        self.refuse(inst, Diagnostic::error(self.span_of(inst), message));
    }
}

/// Whether a text has `double` or one of its vectors as a word.
fn has_doubles(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words
        .filter_map(|word| word.strip_prefix("double").or_else(|| word.strip_prefix("as_double")))
        .any(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::compile_text;
    use crate::syntax::Instance;

    fn emit(source: &str) -> Result<Emitted, Diagnostics> {
        let lowered = compile_text("kernel.rs", source, "k", &Instance::default()).expect("the source has no errors");
        emit_opencl(lowered.kernel.legal(), &|loc| lowered.span(loc))
    }

    #[test]
    fn texts_of_faults_have_no_holes() {
        let emitted = emit("#[kernel(bounds = trap)] fn k(y: &mut Global<f32>) { y[global_id().x] = 1.0; }").expect("it compiles");
        assert_eq!(emitted.faults, ["index … is out of range for `y` of length …"]);
    }

    #[test]
    fn doubles_are_words() {
        for (text, expected) in
            [("const double x", true), ("(double4)(a)", true), ("as_double(x)", true), ("float doubled", false), ("redouble", false)]
        {
            assert_eq!(has_doubles(text), expected, "{text}");
        }
    }
}
