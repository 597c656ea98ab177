//! Rust: a kernel as a person would write it, device functions inlined and annotations done. `emit --format rust`.
//!
//! What is printed is a kernel of the language again, and means the same (the tests compile it and run both). Names, `usize`,
//! `global_id()`, `x[i]` and `+=` are the source's. What is not: generics are filled in; structs that were locals are their fields; a parameter
//! `n: u32` that meets an index without a cast in the IR reads `n: usize`, which is as wide; `bounds = trap` has become `assert!`s; arrays that
//! the source left uninitialised are zeros; conditions are asked for as far as is needed, `&` reads `&&`. Where a target is named that has a copy engine, its copies are comments (`engine`): that
//! form is for reading only. A form for tensor cores is not printed: that for devices without is. The rooms: `kinds` tells `usize` from `u32`, which the IR does
//! not; `names`; `values` (what becomes a variable), `expression`, `statement`, `memory` (parameters, arrays, plain accesses).

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod engine;
mod expression;
mod kinds;
mod memory;
mod names;
mod statement;
mod values;

use super::structured::{Control, PRIMARY, State, Values};
use super::{Backend, Emitted, Language};
use crate::diagnostic::Diagnostics;
use crate::ir::intrinsic::CopyStep;
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

    fn emit(&self, kernel: &Scheduled, target: Option<&Target>, _span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
        // Instructions of tensor cores have no Rust: products are then made of multiply-adds, as for devices that have none.
        let of_target = target.map(|target| kernel.for_target(target)).filter(|form| !is_for_tensor_cores(form));
        let kernel = of_target.unwrap_or(kernel);
        Ok(Emitted { text: emit_rust(&kernel.tidied()), ..Emitted::default() })
    }
}

fn is_for_tensor_cores(kernel: &Kernel) -> bool {
    let mut found = false;
    kernel.walk_block(kernel.body, &mut |kernel, _, inst| {
        let op = &kernel.insts[inst].op;
        let moves_matrices = |op: &MemoryOp| matches!(op, MemoryOp::LoadMatrix { .. } | MemoryOp::StoreMatrix(_));
        found |= matches!(op, Op::Tensor(_)) || matches!(op, Op::Memory(Memory { op, .. }) if moves_matrices(op));
    });
    found
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
        let used = result.filter(|result| self.state.is_used(*result));
        match op {
            Op::Memory(Memory { op, at: Address::Path(access) }) => match op {
                MemoryOp::Load => self.load(inst, access),
                // Of the forms for tensor cores, which are not printed.
                MemoryOp::LoadMatrix { .. } | MemoryOp::StoreMatrix(_) => {}
                MemoryOp::Store(values) => self.store(inst, access, values),
                MemoryOp::Atomic(op, atomicity, operands) => {
                    let expr = self.atomic((*op, *atomicity), access, operands);
                    self.effect(used, &expr);
                }
            },
            Op::Texture(op, object, coordinates) => self.texture(inst, *op, *object, coordinates),
            // Nobody can call these: copies have arrived when the next statement runs.
            Op::Intrinsic(row, args) if row.row().copy_step().is_some() => {
                let groups = args.first().and_then(|groups| self.kernel.constant(*groups)).map_or(0, |scalar| scalar.bits);
                self.line(&match (row.row().copy_step(), groups) {
                    (None | Some(CopyStep::Commit), _) => "// Copies so far are a group.".to_owned(),
                    (Some(CopyStep::Await), 0) => "// Waits for this thread's groups of copies.".to_owned(),
                    (Some(CopyStep::Await), groups) => format!("// Waits for this thread's groups of copies but the last {groups}."),
                });
            }
            Op::Intrinsic(row, args) if !row.row().effects.is_pure() => {
                let expr = self.intrinsic(row.row(), args, result);
                self.effect(used, &expr);
            }
            Op::Message(Message::Print(parts, values)) => {
                let message = self.message(parts, values);
                self.line(&format!("print!({message});"));
            }
            Op::Message(Message::Assert(condition, parts, values)) => {
                let condition = self.take(*condition);
                let message = self.message(parts, values);
                self.line(&format!("assert!({}, {message});", condition.text));
            }
            Op::Intrinsic(row, args) => {
                if let Some(result) = used {
                    let expr = self.intrinsic(row.row(), args, Some(result));
                    self.define(inst, result, expr);
                }
            }
            Op::Compute(compute) => {
                if let Some(result) = used {
                    self.computation(inst, compute, result);
                }
            }
            Op::Engine(engine) => self.engine(inst, engine),
            // Pointers are of a later stage, collectives of an earlier one, and the rest is no simple instruction.
            Op::Memory(Memory { at: Address::Pointer { .. }, .. })
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Region(_)
            | Op::Terminator(_) => {}
        }
    }

    /// Something done for its effect; its value, if that is used.
    fn effect(&mut self, used: Option<Value>, expr: &expression::Expr) {
        self.flush_loads();
        match used {
            Some(result) => self.materialise(result, expr),
            None => self.line(&format!("{};", expr.text)),
        }
    }

    /// An instruction that computes its result from its operands.
    fn computation(&mut self, inst: Inst, compute: &Compute, result: Value) {
        let expr = match compute {
            Compute::Const(scalar) => return self.bind(result, expression::Expr::literal(*scalar)),
            Compute::Special(special, axis) if self.kernel.values[result].name.is_none() => {
                return self.bind(result, self.special(*special, *axis));
            }
            Compute::Special(special, axis) => self.special(*special, *axis),
            Compute::Unary(op, a) => self.unary(*op, *a, result),
            Compute::Binary(op, a, b) => self.binary(*op, *a, *b, result),
            Compute::MulAdd(a, b, c) => self.mul_add([*a, *b, *c], result),
            Compute::Compare(op, a, b) => self.compare(*op, *a, *b),
            Compute::Select(c, a, b) => self.choose(*c, *a, *b, result),
            Compute::Cast(a) => self.cast(*a, result),
            Compute::Bitcast(a) => self.bitcast(*a, self.kernel.ty(result)),
            Compute::Len(object) => expression::Expr::new(format!("{}.len()", self.object_names[object.0 as usize]), PRIMARY),
            Compute::Address(_) | Compute::PeerAddress(..) | Compute::Offset(..) => {
                expression::Expr::new("0 /* of another stage */", PRIMARY)
            }
        };
        self.define(inst, result, expr);
    }
}
