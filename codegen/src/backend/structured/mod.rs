//! Structured text out of SSA: what OpenCL C and Rust have in common.
//!
//! A language says how things are spelt ([`Language`]); here stands what becomes part of whose expression, what gets a name, what lives
//! in a variable that changes (`values`), and how blocks, `if`s, loops and exits become statements (`control`). A value becomes part
//! of its user's expression if the language says so and moving it there cannot change it.
//!
//! Values carried round a loop, and results of an `if`, live in variables ([`Storage`]). Invariant: of the values bound to one
//! variable, at most one is still to be used. That is what lets the accumulator of an inner loop be that of the outer one.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod control;
mod expr;
mod values;

pub(super) use control::{Context, Control, Flow};
pub(super) use expr::{Expr, Level, PRIMARY, UNARY};
pub(super) use values::{Binding, State, Storage, UNNAMED, Values, is_assignment};

use crate::ir::{Block, Inst, Kernel, Op, Scalar, Value};

/// How one language spells things.
pub(super) trait Language<'k>: Sized {
    /// What an expression of the language carries besides its text.
    type Extra: Clone + Default;

    /// Asks the assembler or compiler not to unroll the loop that follows.
    const KEEP_ROLLED: &'static str;

    /// The kernel being printed.
    fn kernel(&self) -> &'k Kernel;
    /// Its values, and the text so far.
    fn state(&self) -> &State<Self::Extra>;
    /// The same, to change.
    fn state_mut(&mut self) -> &mut State<Self::Extra>;

    /// An instruction without blocks of its own that ends none either.
    fn plain(&mut self, inst: Inst, op: &Op);
    /// The statement of a thread that must not get here.
    fn trap(&mut self, inst: Inst, message: &str);
    /// A constant.
    fn literal(&self, scalar: Scalar) -> Expr<Self::Extra>;
    /// What a value is to be called.
    fn hint(&self, value: Value) -> String;
    /// A new name, visible from here on.
    fn declare_name(&mut self, hint: &str) -> String;
    /// Whether the result of `inst` is written where it is used, `expr` being its text.
    fn is_inlined(&self, inst: Inst, value: Value, expr: &Expr<Self::Extra>) -> bool;
    /// An operand as a value of the type that the source gives `like`: consumes one use of it.
    fn take_like(&mut self, value: Value, like: Value) -> Expr<Self::Extra>;
    /// Prints a constant of `like`'s type that holds `expr`; its name.
    fn constant_variable(&mut self, hint: &str, like: Value, expr: &Expr<Self::Extra>) -> String;
    /// Declares a variable.
    fn declare(&mut self, storage: Storage, first: Option<&Expr<Self::Extra>>);
    /// The statement that puts `expr` into a variable.
    fn assigned(&self, name: &str, expr: &Expr<Self::Extra>) -> String;

    /// What stands before the `{` of an `if`.
    fn if_header(&self, condition: &str) -> String;
    /// Prints an `if` that the language has a shorter form for. Whether it did.
    fn short_if(&mut self, _inst: Inst, _condition: &Expr<Self::Extra>, _sides: [Block; 2]) -> bool {
        false
    }
    /// Prints a `For`.
    fn for_loop(&mut self, inst: Inst, range: [Value; 3], init: &[Value], body: Block, keep_rolled: bool);
    /// What stands before the `{` of a loop, the innermost context, that goes on while `condition` holds.
    fn loop_header(&self, condition: Option<&str>, body: Block) -> String;
    /// The first line of a block that can be left, the innermost context.
    fn region_header(&self) -> String;
    /// The closing brace of a loop or region, and the labels about it; the block was left already.
    fn close(&mut self, context: &Context);
    /// What an exit needs to know of a statement.
    fn context(&mut self, inst: Inst, is_loop: bool) -> Context;
    /// The statement that leaves, or begins again, the `at`-th context from outside.
    fn exit(&mut self, at: usize, is_break: bool) -> String;
    /// Goes one block in: names may be of that block.
    fn enter_scope(&mut self) {}
    /// And out of it.
    fn leave_scope(&mut self) {}
}
