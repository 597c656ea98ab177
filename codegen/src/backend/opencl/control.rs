//! How OpenCL C spells values and control flow (see `backend::structured`).
//!
//! Exits print as `break` and `continue` where C's reach the right statement, and as a `goto` to the statement's end otherwise
//! (several levels at once).

use super::Writer;
use super::expressions::{Expr, Extra};
use super::types::{is_promoted, literal, value_type};
use crate::backend::structured::{Context, Control, Language, PRIMARY, State, Storage, Values, is_assignment};
use crate::ir::{Block, Inst, Kernel, Op, Scalar, Type, Value};

/// Expressions longer than this become a statement of their own.
const LONGEST: usize = 100;

impl<'k> Language<'k> for Writer<'k> {
    type Extra = Extra;

    const KEEP_ROLLED: &'static str = "#pragma unroll 1";

    fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    fn state(&self) -> &State<Extra> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State<Extra> {
        &mut self.state
    }

    fn plain(&mut self, inst: Inst, op: &Op) {
        self.simple(inst, op);
    }

    fn trap(&mut self, inst: Inst, message: &str) {
        self.fault(inst, message);
    }

    fn literal(&self, scalar: Scalar) -> Expr {
        literal(scalar)
    }

    fn hint(&self, value: Value) -> String {
        self.kernel.values[value].name.as_deref().map_or_else(|| value.to_string(), str::to_owned)
    }

    fn declare_name(&mut self, hint: &str) -> String {
        self.names.name(hint)
    }

    fn is_inlined(&self, inst: Inst, value: Value, expr: &Expr) -> bool {
        let is_assigned = self.state.user[value.0 as usize].is_some_and(|user| is_assignment(&self.kernel.insts[user].op));
        let is_named = self.kernel.values[value].name.is_some() && !is_assigned;
        self.state.is_used_once_here(inst, value) && !is_named && expr.text.len() <= LONGEST
    }

    fn take_like(&mut self, value: Value, _like: Value) -> Expr {
        self.take(value)
    }

    fn constant_variable(&mut self, hint: &str, like: Value, expr: &Expr) -> String {
        self.constant_of(hint, self.kernel.ty(like), expr)
    }

    fn declare(&mut self, storage: Storage, first: Option<&Expr>) {
        let data = self.state.storage(storage);
        let first = first.map_or(String::new(), |e| format!(" = {}", e.text));
        let text = format!("{} {}{first};", value_type(self.kernel.ty(data.like)), data.name);
        self.line(&text);
    }

    fn assigned(&self, name: &str, expr: &Expr) -> String {
        format!("{name} = {};", expr.text)
    }

    fn if_header(&self, condition: &str) -> String {
        format!("if ({condition})")
    }

    fn for_loop(&mut self, inst: Inst, [start, end, step]: [Value; 3], init: &[Value], body: Block, keep_rolled: bool) {
        let params = &self.kernel.blocks[body].params;
        let ty = self.kernel.ty(start);
        let counter = self.names.name(&self.hint_of(&[Some(params[0])]));
        let from = self.take(start);
        let limit = self.stable(end, &format!("{counter}_end"));
        let increment = self.increment(&counter, end, step, &limit, ty);
        let carried = self.carried(inst, init, &params[1..]);
        self.flush_loads();
        if keep_rolled {
            self.line(Self::KEEP_ROLLED);
        }
        self.line(&format!("for ({} {counter} = {}; {counter} < {limit}; {increment}) {{", value_type(ty), from.text));
        self.enter_block();
        self.push_context(inst, true, &carried.iter().copied().map(Some).collect::<Vec<_>>(), &carried);
        self.bind(params[0], Expr::new(counter, PRIMARY));
        self.counted_body(inst, body, &carried);
    }

    fn loop_header(&self, condition: Option<&str>, _body: Block) -> String {
        format!("while ({})", condition.unwrap_or("1"))
    }

    fn region_header(&self) -> String {
        "do".to_owned()
    }

    fn close(&mut self, context: &Context) {
        if let Some(label) = &context.continue_label {
            self.line(&format!("{label}:;"));
        }
        self.leave_block();
        self.line(if context.is_loop { "}" } else { "} while (0);" });
        if let Some(label) = &context.break_label {
            self.line(&format!("{label}:;"));
        }
    }

    fn context(&mut self, inst: Inst, is_loop: bool) -> Context {
        Context::new(inst, is_loop)
    }

    fn exit(&mut self, at: usize, is_break: bool) -> String {
        // C's `break` and `continue` mean the innermost statement.
        if at + 1 == self.state.contexts.len() {
            return if is_break { "break;" } else { "continue;" }.to_owned();
        }
        let context = &self.state.contexts[at];
        let known = if is_break { context.break_label.clone() } else { context.continue_label.clone() };
        let label = known.unwrap_or_else(|| self.names.name(if is_break { "done" } else { "next" }));
        let context = &mut self.state.contexts[at];
        *(if is_break { &mut context.break_label } else { &mut context.continue_label }) = Some(label.clone());
        format!("goto {label};")
    }
}

impl Writer<'_> {
    /// Prints a constant of a type; its name.
    pub(super) fn constant_of(&mut self, hint: &str, ty: Type, expr: &Expr) -> String {
        let name = self.names.name(hint);
        self.line(&format!("const {} {name} = {};", value_type(ty), expr.text));
        name
    }

    /// An operand that the loop's header evaluates again and again: a literal or a name that does not change.
    fn stable(&mut self, value: Value, hint: &str) -> String {
        let expr = self.take(value);
        let simple = expr.text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
        if simple && expr.reads.is_empty() && !expr.loads {
            return expr.text;
        }
        self.constant_variable(hint, value, &expr)
    }

    /// The next value of the counter. The trip count is that of unbounded integers, so the step must not pass the end by wrapping.
    fn increment(&mut self, counter: &str, end: Value, step: Value, limit: &str, ty: Type) -> String {
        let constant = |v| self.kernel.constant(v).map(Scalar::as_int);
        let (last, by) = (constant(end), constant(step));
        if by == Some(1) {
            self.take(step);
            return format!("{counter}++");
        }
        let greatest = (1i128 << (ty.bits() - u32::from(ty.is_signed_int()))) - 1;
        let step = self.stable(step, &format!("{counter}_step"));
        if let (Some(last), Some(by)) = (last, by)
            && last - 1 + by <= greatest
        {
            return format!("{counter} += {step}");
        }
        if ty == Type::I32 {
            format!("{counter} += (int)min((uint){step}, (uint){limit} - (uint){counter})")
        } else if ty == Type::I64 {
            format!("{counter} += (long)min((ulong){step}, (ulong){limit} - (ulong){counter})")
        } else if is_promoted(ty) && by.is_none() {
            format!("{counter} += min((int){step}, {limit} - {counter})")
        } else {
            format!("{counter} += min({step}, {limit} - {counter})")
        }
    }
}
