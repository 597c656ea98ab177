//! Templates as the table of intrinsics has them, read and filled in.
//!
//! A line is an instruction whose operands are `{d}`, the result, `{0}` `{1}` …, the arguments, `{#0}`, one that is a constant, `{tmp0:f32}`, a scratch register of a PTX type, a number,
//! or a name; `{barrier}` is that of all threads of the block, or of a role's. `{{` and `}}` lines are a scope; `.reg .b32 x, y;` declares its registers, and `next:` is a label in it.

use super::code::{Guard, Instruction, Label, Opcode, Operand, Reg, RegisterClass, Statement};
use super::emitter::Emitter;
use super::words::{Mnemonic, Word};
use crate::ir::{Scalar, Type};

/// What a template's names stand for, where it is filled in.
struct Names<'a> {
    d: Option<Reg>,
    args: &'a [Operand],
    /// Scratch registers, and those that the template declares.
    registers: Vec<(&'static str, Reg)>,
    labels: Vec<Label>,
}

impl Emitter<'_> {
    /// Appends the lines of a template, filled in. Scratch registers are new each time.
    pub(super) fn template(&mut self, text: &'static str, d: Option<Reg>, args: &[Operand]) {
        let mut names = Names { d, args, registers: Vec::new(), labels: Vec::new() };
        for line in text.lines() {
            match self.filled_in(line, &mut names) {
                Some(statement) => self.push(statement),
                // The tests hold that there is none such.
                None => self.refuse(format!("`{line}` in the table of intrinsics is no PTX"), String::new()),
            }
        }
    }

    fn filled_in(&mut self, line: &'static str, names: &mut Names<'_>) -> Option<Statement> {
        match line {
            "{{" => return Some(Statement::Open),
            "}}" => return Some(Statement::Close),
            _ => {}
        }
        if let Some(label) = line.strip_suffix(':') {
            return Some(Statement::Label(self.local_label(label, names)));
        }
        let line = line.strip_suffix(';')?;
        if let Some(declared) = line.strip_prefix(".reg .") {
            let (ty, declared) = declared.split_once(' ')?;
            let ty = Word::named(ty)?;
            let registers = declared.split(", ").map(|name| {
                let reg = Reg { class: class_of(ty), number: self.local_number(), name: Some(name) };
                names.registers.push((name, reg));
                reg
            });
            return Some(Statement::Registers(ty, registers.collect()));
        }
        let (guard, line) = match line.strip_prefix('@') {
            None => (None, line),
            Some(guarded) => {
                let (name, line) = guarded.split_once(' ')?;
                let (_, reg) = names.registers.iter().find(|(known, _)| *known == name)?;
                (Some(Guard { reg: *reg, wanted: true }), line)
            }
        };
        let (opcode, operands) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = opcode.split('.');
        let mnemonic = Mnemonic::named(words.next()?)?;
        let words = words.map(Word::named).collect::<Option<Vec<Word>>>()?;
        let operands = operands.split(", ").filter(|name| !name.is_empty()).map(|name| match name {
            "{barrier}" => Some(self.barrier_operands()),
            _ => self.named_operand(name, names).map(|operand| vec![operand]),
        });
        let operands = operands.collect::<Option<Vec<_>>>()?.concat();
        Some(Statement::Instruction(Instruction { guard, opcode: Opcode { mnemonic, words }, operands, early: None }))
    }

    fn named_operand(&mut self, name: &'static str, names: &mut Names<'_>) -> Option<Operand> {
        if let Some(name) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            let number = name.strip_prefix('#').unwrap_or(name).parse::<usize>();
            return Some(match (name, number) {
                ("d", _) => names.d?.into(),
                (_, Ok(n)) => names.args.get(n)?.clone(),
                _ => self.scratch(name, names)?.into(),
            });
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(name.parse::<i64>().map_or(Operand::Bits(name), |value| Operand::Constant(Scalar::int(Type::I64, value.into()))));
        }
        let known = names.registers.iter().find(|(known, _)| *known == name).map(|(_, reg)| reg.into());
        Some(known.unwrap_or_else(|| self.local_label(name, names).into()))
    }

    /// The register of `tmp0:f32`.
    fn scratch(&mut self, name: &'static str, names: &mut Names<'_>) -> Option<Reg> {
        if let Some((_, reg)) = names.registers.iter().find(|(known, _)| *known == name) {
            return Some(*reg);
        }
        let reg = self.temp(class_of(Word::named(name.split_once(':')?.1)?));
        names.registers.push((name, reg));
        Some(reg)
    }

    fn local_label(&mut self, name: &'static str, names: &mut Names<'_>) -> Label {
        if let Some(label) = names.labels.iter().find(|label| label.name == Some(name)) {
            return *label;
        }
        let label = Label { number: self.local_number(), name: Some(name) };
        names.labels.push(label);
        label
    }
}

/// Where a register of a PTX type lives.
fn class_of(ty: Word) -> RegisterClass {
    let declared = RegisterClass::ALL.iter().find(|(_, _, declared)| *declared == ty).map(|(class, ..)| *class);
    declared.unwrap_or(match ty.bits() {
        Some(64) => RegisterClass::Long,
        Some(8 | 16) => RegisterClass::Half,
        _ => RegisterClass::Word,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intrinsics::rows;
    use crate::ir::{Kernel, KernelOptions};
    use crate::target::Target;
    use proc_macro2::Span;

    /// A template filled in with registers that are named as its placeholders are.
    fn filled_in(text: &'static str) -> String {
        let kernel = Kernel::new("k", KernelOptions::default());
        let target = Target::find("sm_90").expect("a target");
        let span = |_| Span::call_site();
        let mut emitter = Emitter::new(&kernel, target, String::new(), &span);
        let named = |name| Reg { class: RegisterClass::Word, number: 0, name: Some(name) };
        emitter.template(text, Some(named("{d}")), &["{0}", "{1}", "{2}"].map(|name| named(name).into()));
        assert!(emitter.diagnostics.is_empty(), "{:?}", emitter.diagnostics);
        emitter.code.iter().map(|statement| format!("{statement}\n").replace('\t', "")).collect()
    }

    /// The text with its scratch registers named: those of a kind are counted in the order of the text.
    fn with_scratch(mut text: String) -> String {
        let mut counts = std::collections::HashMap::<&str, u32>::new();
        while let Some(at) = text.find("{tmp") {
            let name = text[at..].split_inclusive('}').next().unwrap_or_default().to_owned();
            let prefix = match name.rsplit(':').next().unwrap_or_default() {
                "pred}" => "%p",
                "f32}" => "%f",
                "f64}" => "%fd",
                "b16}" => "%rs",
                "u64}" => "%rd",
                "b32}" | "u32}" => "%r",
                other => panic!("{other}"),
            };
            let count = counts.entry(prefix).or_default();
            *count += 1;
            text = text.replace(&name, &format!("{prefix}{count}"));
        }
        text
    }

    #[test]
    fn every_template_is_read_and_printed_as_it_is_written() {
        let of_rows = rows().filter_map(|row| row.device()).flat_map(|device| device.ptx).map(|form| form.text);
        let mut count = 0;
        for text in of_rows.chain([super::super::remainder::F32, super::super::remainder::F64]) {
            count += 1;
            let lines = text.to_owned() + if text.is_empty() { "" } else { "\n" };
            let expected = lines.replace("{{", "{").replace("}}", "}").replace("{#", "{").replace("{barrier}", "0");
            assert_eq!(filled_in(text), with_scratch(expected));
        }
        assert!(count > 40, "{count}");
    }
}
