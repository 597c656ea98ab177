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
use crate::intrinsics::Row;
use crate::ir::{Inst, Type, Value};

/// How a row exchanges values: the statements between the two barriers, where `word` is the thread's own value, `second` the second
/// argument, `thread`, `lane`, `first` (thread number of lane 0) and `threads` (of the block) describe the place; and what it returns.
struct Exchange {
    name: &'static str,
    between: &'static str,
    result: &'static str,
}

const EXCHANGES: &[Exchange] = &[
    Exchange {
        name: "shuffle",
        between: "    const uint source = first + (second & 31u);\n",
        result: "source < threads ? exchange[source] : word",
    },
    Exchange {
        name: "shuffle_up",
        between: "    const uint distance = second & 31u;\n    const uint source = lane >= distance ? thread - distance : thread;\n",
        result: "exchange[source]",
    },
    Exchange {
        name: "shuffle_down",
        between: "    const uint distance = second & 31u;\n    const uint source = lane + distance < 32u ? thread + distance : thread;\n",
        result: "source < threads ? exchange[source] : word",
    },
    Exchange {
        name: "shuffle_xor",
        between: "    const uint source = first + (lane ^ (second & 31u));\n",
        result: "source < threads ? exchange[source] : word",
    },
    Exchange {
        name: "ballot",
        between: "    uint votes = 0u;\n    for (uint i = 0u; i < 32u && first + i < threads; i++) {\n        votes |= exchange[first + i] << i;\n    }\n",
        result: "votes",
    },
    Exchange {
        name: "match_any",
        between: "    uint same = 0u;\n    for (uint i = 0u; i < 32u && first + i < threads; i++) {\n        same |= (exchange[first + i] == word ? 1u : 0u) << i;\n    }\n",
        result: "same",
    },
];

impl Writer<'_> {
    /// Whether a row is made here and not by its text in the table.
    pub(super) fn is_exchange(&self, row: &Row) -> bool {
        if row.effects.is_of_warp() { self.form == Form::Portable } else { row.effects.is_barrier() && !row.results.is_empty() }
    }

    /// Prints a warp intrinsic or a barrier with a result.
    pub(super) fn exchange(&mut self, inst: Inst, row: &'static Row, args: &[Value]) {
        let exprs: Vec<Expr> = args.iter().map(|v| self.take(*v)).collect();
        self.flush_loads();
        let result = self.kernel.insts[inst].results.first().copied();
        if row.name == "sync_warp" {
            self.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
            return;
        }
        let ty = args.first().map_or(Type::U32, |v| self.kernel.ty(*v));
        let call = self.exchange_call(row.name, ty, &exprs);
        match result.filter(|r| self.state.uses[r.0 as usize] > 0) {
            Some(result) => self.materialise(result, &call),
            // A compiler would wonder at `x != 0u;`.
            None => self.line(&format!("(void){};", call.at(UNARY))),
        }
    }

    fn exchange_call(&mut self, name: &str, ty: Type, args: &[Expr]) -> Expr {
        self.features.exchange = true;
        let array = self.exchange_name.clone();
        let word = |e: &Expr| match ty {
            Type::Bool => format!("(uint)({})", e.text),
            ty => bitcast_expr(e, ty, Type::U32).text,
        };
        match name {
            "any" | "all" => {
                let function = self.vote(name);
                Expr::new(format!("{function}({array}, {})", word(&args[0])), PRIMARY)
            }
            "sync_threads_count" | "sync_threads_and" | "sync_threads_or" => {
                let count = Expr::new(format!("{}({array}, {})", self.count(), word(&args[0])), PRIMARY);
                let (text, level) = match name {
                    "sync_threads_count" => return count,
                    "sync_threads_and" => (format!("{} == {}()", count.text, self.threads()), super::expressions::EQUALITY),
                    _ => (format!("{} != 0u", count.text), super::expressions::EQUALITY),
                };
                Expr::new(text, level)
            }
            "match_any" if ty.bytes() == 8 => {
                // Lanes with the same low half, and of these those with the same high half.
                let function = self.exchange_function("match_any", 1);
                let bits = bitcast_expr(&args[0], ty, Type::U64);
                let bits = self.constant_of("wide", Type::U64, &bits);
                Expr::new(format!("{function}({array}, (uint){bits}) & {function}({array}, (uint)({bits} >> 32))"), 8)
            }
            _ => {
                let function = self.exchange_function(name, args.len());
                let others: String = args[1..].iter().map(|e| format!(", {}", e.text)).collect();
                let call = Expr::new(format!("{function}({array}, {}{others})", word(&args[0])), PRIMARY);
                if name.starts_with("shuffle") { bitcast_expr(&call, Type::U32, ty) } else { call }
            }
        }
    }

    fn threads(&self) -> String {
        self.prelude.ask("ww_threads".into(), |name| {
            format!("uint {name}(void) {{\n    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));\n}}")
        })
    }

    fn exchange_function(&self, row: &str, arguments: usize) -> String {
        let (linear, threads) = (self.prelude.linear_thread(), self.threads());
        let second = if arguments > 1 { ", uint second" } else { "" };
        let Some(exchange) = EXCHANGES.iter().find(|e| e.name == row) else { return row.to_owned() };
        self.prelude.ask(format!("ww_{row}"), |name| {
            let (between, result) = (exchange.between, exchange.result);
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

    /// `any` and `all` of a warp: its ballot against no lane, or against the lanes there are.
    fn vote(&self, row: &str) -> String {
        let ballot = self.exchange_function("ballot", 1);
        if row == "any" {
            return self.prelude.ask("ww_any".into(), |name| {
                format!("bool {name}(__local uint *exchange, uint word) {{\n    return {ballot}(exchange, word) != 0u;\n}}")
            });
        }
        self.prelude.ask("ww_all".into(), |name| {
            format!("bool {name}(__local uint *exchange, uint word) {{\n    return {ballot}(exchange, word ^ 1u) == 0u;\n}}")
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
