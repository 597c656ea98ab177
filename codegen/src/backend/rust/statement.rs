//! Instructions as statements; control flow as Rust's own.

use super::{Printer, Target};
use crate::ir::{Block, Inst, Op, Value};

impl Printer<'_> {
    pub(super) fn statement(&mut self, inst: Inst, yields_to: Option<&[String]>) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        match &data.op {
            Op::If { condition, then_block, else_block } => self.branch(*condition, *then_block, *else_block, &data.results),
            Op::For { start, end, step, init, body, keep_rolled } => {
                if *keep_rolled {
                    self.line("#[unroll(1)]");
                }
                let by = match kernel.constant(*step) {
                    Some(one) if one.as_int() == 1 => format!("{}..{}", self.value(*start), self.value(*end)),
                    _ => format!("({}..{}).step_by({} as usize)", self.value(*start), self.value(*end), self.value(*step)),
                };
                let index = kernel.blocks[*body].params[0];
                let header = format!("for {} in {by}", self.name(index));
                self.looped(inst, &header, init, *body, 1);
            }
            Op::Loop { init, body } => self.looped(inst, "loop", init, *body, 0),
            Op::Region { body } => {
                let results = self.declare_results(&data.results);
                let label = self.label(inst);
                self.line(&format!("{label}: {{"));
                let target = Target { inst, label, results: results.clone(), carried: Vec::new(), is_loop: false };
                self.nested(*body, Some(target), Some(&results));
                self.line("}");
            }
            Op::Yield(values) => self.assign(yields_to.unwrap_or_default(), values),
            Op::Break(to, values) => self.exit(*to, values, true),
            Op::Continue(to, values) => self.exit(*to, values, false),
            Op::Return => {
                // The end of the kernel's body needs no word.
                if self.level > 1 {
                    self.line("return;");
                }
            }
            Op::Trap(message) => self.line(&format!("panic!({message:?});")),
            Op::Store(access, values) if values.len() == 1 => {
                let text = format!("{} = {};", self.place(access), self.value(values[0]));
                self.line(&text);
            }
            Op::Store(access, values) => {
                let text = format!("{};", self.vector_store(access, values));
                self.line(&text);
            }
            Op::Print(parts, values) => self.call_macro("print!", None, parts, values),
            Op::Assert(condition, parts, values) => self.call_macro("assert!", Some(*condition), parts, values),
            op => self.plain(op, &data.results),
        }
    }

    /// Something with a value, or a call for its effect.
    fn plain(&mut self, op: &Op, results: &[Value]) {
        let Some(text) = self.expression(op, results) else { return };
        match results {
            [] => self.line(&format!("{text};")),
            [value] => {
                let uses = self.uses[value.0 as usize];
                let is_constant = matches!(op, Op::Const(_));
                if (op.is_pure() && uses <= 1) || is_constant {
                    self.inlined[value.0 as usize] = Some(text);
                } else if uses == 0 {
                    self.line(&format!("{text};"));
                } else {
                    let line = format!("let {} = {text};", self.name(*value));
                    self.line(&line);
                }
            }
            many => {
                let names: Vec<&str> = many.iter().map(|value| self.name(*value)).collect();
                let line = format!("let [{}] = {text};", names.join(", "));
                self.line(&line);
            }
        }
    }

    fn call_macro(&mut self, name: &str, condition: Option<Value>, parts: &[crate::ir::PrintPart], values: &[Value]) {
        let mut arguments: Vec<String> = condition.iter().map(|value| self.value(*value)).collect();
        arguments.push(self.message(parts));
        arguments.extend(values.iter().map(|value| self.value(*value)));
        self.line(&format!("{name}({});", arguments.join(", ")));
    }

    fn declare_results(&mut self, results: &[Value]) -> Vec<String> {
        let names: Vec<String> = results.iter().map(|value| self.name(*value).to_owned()).collect();
        for name in &names {
            self.line(&format!("let {name};"));
        }
        names
    }

    fn assign(&mut self, names: &[String], values: &[Value]) {
        let pairs: Vec<(String, String)> = names
            .iter()
            .zip(values)
            .map(|(name, value)| (name.clone(), self.value(*value)))
            .filter(|(name, value)| name != value)
            .collect();
        match pairs.as_slice() {
            [] => {}
            [(name, value)] => self.line(&format!("{name} = {value};")),
            pairs => {
                // At once: a value may be one that is assigned here.
                let (names, values): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
                self.line(&format!("({}) = ({});", names.join(", "), values.join(", ")));
            }
        }
    }

    fn label(&self, inst: Inst) -> String {
        format!("'{}{}", if self.is_loop(inst) { "l" } else { "b" }, inst.0)
    }

    fn is_loop(&self, inst: Inst) -> bool {
        matches!(self.kernel.insts[inst].op, Op::For { .. } | Op::Loop { .. })
    }

    fn nested(&mut self, block: Block, target: Option<Target>, yields_to: Option<&[String]>) {
        let pushed = target.is_some();
        self.targets.extend(target);
        self.level += 1;
        self.block(block, yields_to);
        self.level -= 1;
        if pushed {
            self.targets.pop();
        }
    }

    fn branch(&mut self, condition: Value, then_block: Block, else_block: Block, results: &[Value]) {
        let names = self.declare_results(results);
        let condition = self.value(condition);
        self.line(&format!("if {condition} {{"));
        self.nested(then_block, None, Some(&names));
        let is_empty = matches!(self.kernel.blocks[else_block].insts.as_slice(), [only] if matches!(&self.kernel.insts[*only].op, Op::Yield(values) if values.is_empty()));
        if !is_empty {
            self.line("} else {");
            self.nested(else_block, None, Some(&names));
        }
        self.line("}");
    }

    /// `For` and `Loop`: carried values are variables; results that break out beside them are too.
    fn looped(&mut self, inst: Inst, header: &str, init: &[Value], body: Block, first: usize) {
        let kernel = self.kernel;
        let params = &kernel.blocks[body].params[first..];
        let carried: Vec<String> = params.iter().map(|value| self.name(*value).to_owned()).collect();
        for (name, value) in carried.iter().zip(init) {
            let line = format!("let mut {name} = {};", self.value(*value));
            self.line(&line);
        }
        let results = &kernel.insts[inst].results;
        let names = if first == 1 {
            // A `for` gives its carried values.
            for (result, name) in results.iter().zip(&carried) {
                self.inlined[result.0 as usize] = Some(name.clone());
            }
            carried.clone()
        } else {
            self.declare_results(results)
        };
        let label = self.label(inst);
        let named = self.is_left_from_within(body, inst);
        self.line(&if named { format!("{label}: {header} {{") } else { format!("{header} {{") });
        let target = Target { inst, label, results: names, carried: carried.clone(), is_loop: true };
        self.nested(body, Some(target), Some(&carried));
        self.line("}");
    }

    /// Whether an exit inside an inner loop or region leaves `inst`.
    fn is_left_from_within(&self, body: Block, inst: Inst) -> bool {
        let mut found = false;
        self.kernel.walk_block(body, &mut |kernel, _, inner| {
            if matches!(kernel.insts[inner].op, Op::For { .. } | Op::Loop { .. } | Op::Region { .. }) {
                for block in kernel.insts[inner].op.blocks() {
                    kernel.walk_block(block, &mut |kernel, _, exit| {
                        found |= matches!(kernel.insts[exit].op, Op::Break(to, _) | Op::Continue(to, _) if to == inst);
                    });
                }
            }
        });
        found
    }

    fn exit(&mut self, to: Inst, values: &[Value], leaves: bool) {
        let Some(position) = self.targets.iter().position(|target| target.inst == to) else { return };
        let target = &self.targets[position];
        let innermost = position + 1 == self.targets.len() && target.is_loop;
        let label = if innermost { String::new() } else { format!(" {}", target.label) };
        let names = if leaves { target.results.clone() } else { target.carried.clone() };
        self.assign(&names, values);
        self.line(&format!("{}{label};", if leaves { "break" } else { "continue" }));
    }
}
