//! Warp intrinsics and voting barriers on devices without sub-groups: through an exchange array in local memory and barriers of
//! the whole work-group.
//!
//! A barrier must be reached by every thread of the block. The pass `converge` has seen to it: all threads come to every exchange here, and
//! those that take no part pass what contributes nothing. Warps are 32 threads in order of their number in the block, whatever the
//! device's own sub-groups are. Values travel as 32-bit words: the table takes wider and narrower ones apart.

use super::Writer;
use super::casts::bitcast_expr;
use super::expressions::{Expr, PRIMARY, UNARY};
use super::forms::Form;
use crate::backend::structured::Values;
use crate::intrinsics::{called, function};
use crate::ir::intrinsic::{Exchange, Intrinsic};
use crate::ir::{Inst, Type, Value};

impl Writer<'_> {
    /// Whether a row is made here and not by its text in the table.
    pub(super) fn is_exchange(&self, row: &Intrinsic) -> bool {
        match row.meeting.map(|meeting| meeting.exchange) {
            None | Some(Exchange::None | Exchange::Impossible) => false,
            Some(Exchange::Count(_)) => true,
            Some(Exchange::Barrier | Exchange::Words { .. } | Exchange::Vote { .. }) => self.form == Form::Portable,
        }
    }

    /// Prints a warp intrinsic or a barrier with a result.
    pub(super) fn exchange(&mut self, inst: Inst, row: &'static Intrinsic, args: &[Value]) {
        let exprs: Vec<Expr> = args.iter().map(|v| self.take(*v)).collect();
        self.flush_loads();
        let result = self.kernel.insts[inst].results.first().copied();
        let ty = args.first().map_or(Type::U32, |v| self.kernel.ty(*v));
        let call = match row.meeting.map_or(Exchange::None, |meeting| meeting.exchange) {
            Exchange::None | Exchange::Impossible | Exchange::Barrier => {
                return self.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
            }
            Exchange::Words { between, result } => self.words(row.name, [between, result], ty, &exprs),
            Exchange::Vote { of_all } => self.called(&self.vote(row.name, of_all), ty, &exprs),
            Exchange::Count(result) => {
                let count = self.called(&self.count(), ty, &exprs);
                let level = if result == "{count}" { PRIMARY } else { super::expressions::EQUALITY };
                let threads = if result.contains("{threads}") { format!("{}()", self.threads()) } else { String::new() };
                Expr::new(result.replace("{count}", &count.text).replace("{threads}", &threads), level)
            }
        };
        self.features.exchange = true;
        match result.filter(|r| self.state.uses[r.0 as usize] > 0) {
            Some(result) => self.materialise(result, &call),
            // A compiler would wonder at `x != 0u;`.
            None => self.line(&format!("(void){};", call.at(UNARY))),
        }
    }

    /// A call of a function that exchanges words: the first argument as one, the others as they are.
    fn called(&self, function: &str, ty: Type, args: &[Expr]) -> Expr {
        let word = if ty == Type::Bool { format!("(uint)({})", args[0].text) } else { bitcast_expr(&args[0], ty, Type::U32).text };
        let others: String = args[1..].iter().map(|e| format!(", {}", e.text)).collect();
        Expr::new(format!("{function}({}, {word}{others})", self.exchange_name), PRIMARY)
    }

    fn words(&mut self, name: &str, parts: [&str; 2], ty: Type, args: &[Expr]) -> Expr {
        let function = self.exchange_function(name, parts, args.len());
        if ty.bytes() == 8 {
            // Lanes with the same low half, and of these those with the same high half.
            let bits = bitcast_expr(&args[0], ty, Type::U64);
            let bits = self.constant_of("wide", Type::U64, &bits);
            let array = &self.exchange_name;
            return Expr::new(format!("{function}({array}, (uint){bits}) & {function}({array}, (uint)({bits} >> 32))"), 8);
        }
        let call = self.called(&function, ty, args);
        // What is passed on is of the argument's type, what is made of all a set of lanes.
        if args.len() > 1 { bitcast_expr(&call, Type::U32, ty) } else { call }
    }

    fn threads(&self) -> String {
        self.prelude.ask("ww_threads".into(), |name| {
            format!("uint {name}(void) {{\n    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));\n}}")
        })
    }

    fn exchange_function(&self, row: &str, [between, result]: [&str; 2], arguments: usize) -> String {
        let (linear, threads) = (self.prelude.linear_thread(), self.threads());
        let second = if arguments > 1 { ", uint second" } else { "" };
        self.prelude.ask(format!("ww_{row}"), |name| {
            let uses = |word: &str| between.contains(word) || result.contains(word);
            let mut places = String::new();
            if uses("lane") || uses("first") {
                places.push_str("    const uint lane = thread & 31u;\n");
            }
            if uses("first") {
                places.push_str("    const uint first = thread - lane;\n");
            }
            if uses("threads") {
                places.push_str(&format!("    const uint threads = {threads}();\n"));
            }
            format!(
                "uint {name}(__local uint *exchange, uint word{second}) {{\n    const uint thread = {linear}();\n{places}    exchange[thread] = word;\n    \
                 barrier(CLK_LOCAL_MEM_FENCE);\n{between}    const uint found = {result};\n    barrier(CLK_LOCAL_MEM_FENCE);\n    return found;\n}}"
            )
        })
    }

    /// Votes of a warp: its ballot against no lane, or that of those who object.
    fn vote(&self, row: &str, of_all: bool) -> String {
        let ballot = function(called::BALLOT).and_then(|ballot| match ballot.row().meeting?.exchange {
            Exchange::Words { between, result } => Some(self.exchange_function(called::BALLOT, [between, result], 1)),
            Exchange::None | Exchange::Impossible | Exchange::Barrier | Exchange::Vote { .. } | Exchange::Count(_) => None,
        });
        let ballot = ballot.unwrap_or_else(|| unreachable!("the table has a `ballot` of words"));
        let votes = if of_all { "word ^ 1u) == 0u" } else { "word) != 0u" };
        self.prelude.ask(format!("ww_{row}"), |name| {
            format!("bool {name}(__local uint *exchange, uint word) {{\n    return {ballot}(exchange, {votes};\n}}")
        })
    }

    /// How many threads of the block pass 1.
    fn count(&self) -> String {
        let linear = self.prelude.linear_thread();
        self.prelude.ask("ww_sync_threads_count".into(), |name| {
            format!(
                "uint {name}(__local uint *exchange, uint word) {{\n    if ({linear}() == 0u) {{\n        exchange[0] = 0u;\n    }}\n    \
                 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n    if (word != 0u) {{\n        atomic_inc(exchange);\n    }}\n    \
                 barrier(CLK_LOCAL_MEM_FENCE);\n    const uint count = exchange[0];\n    barrier(CLK_LOCAL_MEM_FENCE);\n    return count;\n}}"
            )
        })
    }
}
