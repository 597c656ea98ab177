//! PTX as text.

use super::code::{
    AddressOperand, Base, Entry, Guard, Initial, Instruction, Label, Linkage, Module, Opcode, Operand, Reg, RegisterClass, Statement,
    Variable,
};
use crate::ir::{Special, Type};
use std::fmt::{Display, Formatter, Result};

/// Writes things with commas between them, and what stands before and behind.
fn list<T: Display>(f: &mut Formatter<'_>, open: &str, items: impl IntoIterator<Item = T>, close: &str) -> Result {
    f.write_str(open)?;
    for (n, item) in items.into_iter().enumerate() {
        write!(f, "{}{item}", if n == 0 { "" } else { ", " })?;
    }
    f.write_str(close)
}

impl Display for Reg {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "{}{}", RegisterClass::ALL[self.class as usize].1, self.number),
        }
    }
}

impl Display for Label {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "$L{}", self.number),
        }
    }
}

impl Display for AddressOperand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let base: &dyn Display = match &self.base {
            Base::Reg(reg) => reg,
            Base::Symbol(symbol) => symbol,
        };
        match self.offset {
            None => write!(f, "[{base}]"),
            Some(offset) => write!(f, "[{base}+{offset}]"),
        }
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Operand::Reg(reg) => reg.fmt(f),
            Operand::Vector(regs) => list(f, "{", regs, "}"),
            Operand::Constant(scalar) => match scalar.ty {
                Type::F32 => write!(f, "0f{:08X}", scalar.bits),
                Type::F64 => write!(f, "0d{:016X}", scalar.bits),
                Type::F16 | Type::BF16 => write!(f, "0x{:04X}", scalar.bits),
                // Decimal literals are signed 64-bit integers.
                Type::U64 | Type::I64 if scalar.bits > 1 << 62 => write!(f, "0x{:X}", scalar.bits),
                _ => write!(f, "{}", scalar.as_int()),
            },
            Operand::Bits(text) => f.write_str(text),
            Operand::Special(special, axis) => {
                let name = match special {
                    Special::ThreadIdx => "tid",
                    Special::BlockIdx => "ctaid",
                    Special::BlockDim => "ntid",
                    // What was asked for is a parameter: `Emitter::asked_grid`.
                    Special::GridDim | Special::AskedGrid => "nctaid",
                    Special::LaneId => return f.write_str("%laneid"),
                    Special::WarpId => return f.write_str("%warpid"),
                };
                write!(f, "%{name}.{}", axis.word())
            }
            Operand::Symbol(symbol) => f.write_str(symbol),
            Operand::Address(address) => address.fmt(f),
            Operand::Texel(regs) => {
                let (handle, at) = regs.split_at(regs.len().min(1));
                list(f, "[", handle, ", ")?;
                list(f, "{", at, "}]")
            }
            Operand::Label(label) => label.fmt(f),
            Operand::Arguments(names) => list(f, "(", *names, ")"),
        }
    }
}

impl Display for Opcode {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.mnemonic.word())?;
        self.words.iter().try_for_each(|word| write!(f, ".{}", word.word()))
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(Guard { reg, wanted }) = self.guard {
            write!(f, "@{}{reg} ", if wanted { "" } else { "!" })?;
        }
        self.opcode.fmt(f)?;
        list(f, if self.operands.is_empty() { "" } else { " " }, &self.operands, ";")
    }
}

/// A line, with what stands before it and without its end.
impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Statement::Instruction(instruction) => write!(f, "\t{instruction}"),
            Statement::Label(label) => write!(f, "{}{label}:", if label.name.is_some() { "\t" } else { "" }),
            Statement::Loc([file, line, column]) => write!(f, "\t.loc\t{file} {line} {column}"),
            Statement::KeepRolled => f.write_str("\t.pragma \"nounroll\";"),
            Statement::Open => f.write_str("\t{"),
            Statement::Close => f.write_str("\t}"),
            Statement::Registers(ty, regs) => {
                write!(f, "\t.reg .{}", ty.word())?;
                list(f, " ", regs, ";")
            }
            Statement::Parameter(ty, name) => write!(f, "\t.param .{} {name};", ty.word()),
        }
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.linkage {
            Linkage::Own => "",
            Linkage::Visible => ".visible ",
            Linkage::Extern => ".extern ",
        })?;
        write!(f, ".{}", self.space.word())?;
        if let Some(align) = self.align {
            write!(f, " .align {align}")?;
        }
        write!(f, " .{} {}", self.ty.word(), self.symbol)?;
        match self.length {
            None => {}
            Some(None) => f.write_str("[]")?,
            Some(Some(length)) => write!(f, "[{length}]")?,
        }
        match &self.initial {
            Initial::None => Ok(()),
            Initial::Text(text) => list(f, " = {", text.bytes().chain([0]), "}"),
            Initial::Table(bits) => list(f, " = {", bits.iter().map(|bits| format!("0x{bits:X}")), "}"),
        }
    }
}

impl Display for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, ".visible .entry {}(", self.name)?;
        for (n, parameter) in self.parameters.iter().enumerate() {
            write!(f, "{}\n\t{parameter}", if n == 0 { "" } else { "," })?;
        }
        f.write_str("\n)\n")?;
        for (name, figures) in &self.directives {
            write!(f, ".{name}")?;
            list(f, if figures.is_empty() { "" } else { " " }, figures, "\n")?;
        }
        f.write_str("{\n")?;
        for ((_, prefix, ty), count) in RegisterClass::ALL.iter().zip(self.registers).filter(|(_, count)| *count > 1) {
            writeln!(f, "\t.reg .{}\t{prefix}<{count}>;", ty.word())?;
        }
        self.variables.iter().try_for_each(|variable| writeln!(f, "\t{variable};"))?;
        f.write_str("\n")?;
        self.body.iter().try_for_each(|statement| writeln!(f, "{statement}"))?;
        f.write_str("}\n")
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Module { version, target, functions, variables, entry, files, .. } = self;
        write!(f, ".version {}.{}\n.target {target}\n.address_size 64\n\n", version / 10, version % 10)?;
        functions.iter().try_for_each(|function| writeln!(f, ".extern .func {function};"))?;
        variables.iter().try_for_each(|variable| writeln!(f, "{variable};"))?;
        write!(f, "\n{entry}")?;
        for (n, file) in files.iter().enumerate() {
            writeln!(f, "\t.file\t{} \"{}\"", n + 1, file.replace('\\', "/").replace('"', "'"))?;
        }
        Ok(())
    }
}
