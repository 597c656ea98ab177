//! Rust: a kernel as a person would write it, device functions inlined and annotations done. `emit --format rust`.
//!
//! What is printed is a kernel of the language again, and means the same (the tests compile it and run both). Names, `usize`,
//! `global_id()`, `x[i]` and `+=` are the source's. What is not: generics are filled in; structs that were locals are their fields; a parameter
//! `n: u32` that meets an index without a cast in the IR reads `n: usize`, which is as wide; `bounds = trap` has become `assert!`s; arrays that
//! the source left uninitialised are zeros; conditions are asked for as far as is needed, `&` reads `&&`. The rooms: `kinds` tells `usize` from `u32`, which the IR does
//! not; `names`; `values` (what becomes a variable), `expression`, `statement`, `memory` (parameters, arrays, plain accesses).

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod expression;
mod kinds;
mod memory;
mod names;
mod statement;
mod values;

use super::structured::{Control, PRIMARY, State, Values};
use super::{Backend, Emitted, Language};
use crate::diagnostic::Diagnostics;
use crate::ir::{Address, Compute, Inst, Kernel, Loc, Memory, MemoryOp, Message, Op, Stage, Value};
use crate::pipeline::Scheduled;
use crate::target::Target;
use kinds::Kinds;
use names::Names;
use proc_macro2::Span;

static LANGUAGE: Language = Language {
    name: "rust",
    title: "Rust, annotations done",
    purpose: "The kernel as readable Rust, after its annotations",
    stage: Stage::Scheduled,
    is_per_target: false,
    is_for_devices: false,
    family: None,
};

/// The back end, for people: annotations are kept, and nothing else is optimised.
pub struct Rust;

impl Backend for Rust {
    fn language(&self) -> &'static Language {
        &LANGUAGE
    }

    fn emit(&self, kernel: &Scheduled, _target: Option<&Target>, _span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
        Ok(Emitted { text: emit_rust(&kernel.tidied()), ..Emitted::default() })
    }
}

/// Prints a kernel of stage `Built`, `Scheduled` or `Legal`.
pub fn emit_rust(kernel: &Kernel) -> String {
    let mut printer = Printer {
        kernel,
        kinds: Kinds::of(kernel),
        names: Names::default(),
        object_names: Vec::new(),
        state: State::new(kernel),
        labels: 0,
        moves: Vec::new(),
        fills: Vec::new(),
    };
    printer.find_moves();
    printer.name_objects();
    printer.find_fills();
    printer.items();
    printer.signature();
    printer.enter_block();
    printer.arrays();
    printer.body();
    printer.leave_block();
    printer.state.text.push_str("}\n");
    printer.names.fill_in(&printer.state.text)
}

struct Printer<'k> {
    kernel: &'k Kernel,
    kinds: Kinds,
    names: Names,
    object_names: Vec<String>,
    state: State<expression::Extra>,
    labels: usize,
    /// By instruction: whether it is a load that may be written where it is used.
    moves: Vec<bool>,
    fills: Vec<memory::Fill>,
}

impl Printer<'_> {
    /// An instruction without blocks of its own that ends none either.
    fn simple(&mut self, inst: Inst, op: &Op) {
        let result = self.kernel.insts[inst].results.first().copied();
        match op {
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => return self.load(inst, access),
            Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) => return self.store(inst, access, values),
            Op::Texture(op, object, coordinates) => return self.texture(inst, *op, *object, coordinates),
            Op::Memory(Memory { op: MemoryOp::Atomic(op, operands), at: Address::Path(access) }) => {
                let expr = self.atomic(*op, access, operands);
                return self.effect(result, &expr);
            }
            Op::Intrinsic(row, args) if !row.row().effects.is_pure() => {
                let expr = self.intrinsic(row.row(), args, result);
                return self.effect(result, &expr);
            }
            Op::Message(Message::Print(parts, values)) => {
                let message = self.message(parts, values);
                return self.line(&format!("print!({message});"));
            }
            Op::Message(Message::Assert(condition, parts, values)) => {
                let condition = self.take(*condition);
                let message = self.message(parts, values);
                return self.line(&format!("assert!({}, {message});", condition.text));
            }
            Op::Compute(_)
            | Op::Intrinsic(..)
            | Op::Memory(Memory { at: Address::Pointer { .. }, .. })
            | Op::Region(_)
            | Op::Terminator(_) => {}
        }
        let Some(result) = result.filter(|result| self.state.is_used(*result)) else { return };
        match op {
            Op::Compute(Compute::Const(scalar)) => self.bind(result, expression::Expr::literal(*scalar)),
            Op::Compute(Compute::Special(special, axis)) if self.kernel.values[result].name.is_none() => {
                self.bind(result, Self::special(*special, *axis));
            }
            Op::Compute(_) | Op::Memory(_) | Op::Texture(..) | Op::Intrinsic(..) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => {
                let expr = self.computation(op, result);
                self.define(inst, result, expr);
            }
        }
    }

    /// Something done for its effect, which may have a value.
    fn effect(&mut self, result: Option<Value>, expr: &expression::Expr) {
        self.flush_loads();
        match result.filter(|result| self.state.is_used(*result)) {
            Some(result) => self.materialise(result, expr),
            None => self.line(&format!("{};", expr.text)),
        }
    }

    /// The expression of an instruction that computes its result from its operands.
    fn computation(&mut self, op: &Op, result: Value) -> expression::Expr {
        let ty = self.kernel.ty(result);
        match op {
            Op::Compute(Compute::Special(special, axis)) => Self::special(*special, *axis),
            Op::Compute(Compute::Unary(op, a)) => self.unary(*op, *a, result),
            Op::Compute(Compute::Binary(op, a, b)) => self.binary(*op, *a, *b, result),
            Op::Compute(Compute::MulAdd(a, b, c)) => self.mul_add([*a, *b, *c], result),
            Op::Compute(Compute::Compare(op, a, b)) => self.compare(*op, *a, *b),
            Op::Compute(Compute::Select(c, a, b)) => self.choose(*c, *a, *b, result),
            Op::Compute(Compute::Cast(a)) => self.cast(*a, result),
            Op::Compute(Compute::Bitcast(a)) => self.bitcast(*a, ty),
            Op::Intrinsic(row, args) => self.intrinsic(row.row(), args, Some(result)),
            Op::Compute(Compute::Len(object)) => expression::Expr::new(format!("{}.len()", self.object_names[object.0 as usize]), PRIMARY),
            // Addresses are of a later stage, and the rest is statements.
            Op::Compute(Compute::Const(_) | Compute::Address(_) | Compute::Offset(..))
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => expression::Expr::new("0 /* of another stage */", PRIMARY),
        }
    }
}
