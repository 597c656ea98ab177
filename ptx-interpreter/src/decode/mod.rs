//! From statements to a program: names become numbers, and each instruction one of the kinds that the machine knows. What is not known is an error with its line.

mod access;
mod arithmetic;
mod copies;
mod moves;
mod special;
mod together;
mod words;

use crate::error::ParseError;
use crate::program::{Address, Instruction, Op, Program, Reg, Src};
use crate::syntax::{EntryText, RawInstruction, RawOperand, Space, Statement, Variable};
use crate::ty::{Ty, low};
use std::collections::HashMap;
use words::Words;

/// The result of a part of decoding; the line is added where the instruction is known.
pub(crate) type Decoded<T> = Result<T, String>;

fn refuse<T>(message: impl Into<String>) -> Decoded<T> {
    Err(message.into())
}

/// Where shared memory begins: no address of a variable is 0.
pub(crate) const SHARED_BEGIN: u32 = 1024;
/// Bits of an address of the const space that are the place in a variable.
pub(crate) const CONST_PLACE_BITS: u32 = 17;
/// Most registers of a kernel.
const MOST_REGISTERS: u64 = 1 << 20;

/// What a name of a variable stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The module's variable of this number.
    Global(usize),
    /// An address in its space.
    Const(u64),
    Shared(u64),
    Local(u64),
    Param(u64),
}

/// Names of variables.
pub(crate) type Symbols<'t> = HashMap<&'t str, Place>;

/// What is declared between a pair of braces.
#[derive(Default)]
struct Scope<'t> {
    number: usize,
    registers: HashMap<&'t str, (Reg, Ty)>,
    /// `%r<5>`: the first register, and how many.
    ranges: HashMap<&'t str, (u32, u64, Ty)>,
    symbols: Symbols<'t>,
}

/// Decodes one kernel.
pub(crate) struct Decoder<'t> {
    program: Program,
    scopes: Vec<Scope<'t>>,
    opened: usize,
    constants: HashMap<u64, u32>,
    labels: HashMap<(usize, &'t str), u32>,
    /// Branches whose place is not known yet: the instruction, the scopes it is in, the label, the line.
    branches: Vec<(usize, Vec<usize>, &'t str, u32)>,
}

/// A kernel's program, and how large what is shared is.
pub(crate) fn decode<'t>(entry: &EntryText<'t>, module: &[Variable<'t>], symbols: &Symbols<'t>) -> Result<Program, ParseError> {
    let outer = Scope { symbols: symbols.clone(), ..Scope::default() };
    let mut decoder = Decoder {
        program: Program { shared_bytes: SHARED_BEGIN, ..Program::default() },
        scopes: vec![outer, Scope { number: 1, ..Scope::default() }],
        opened: 1,
        constants: HashMap::new(),
        labels: HashMap::new(),
        branches: Vec::new(),
    };
    let mut at = 0u64;
    for parameter in &entry.parameters {
        at = at.next_multiple_of(parameter.align);
        decoder.declare_symbol(parameter.name, Place::Param(at));
        at += parameter.bytes;
    }
    let is_shared = |variable: &&Variable<'t>| variable.space == Space::Shared;
    let own = entry.body.iter().filter_map(|statement| if let Statement::Variable(variable) = statement { Some(variable) } else { None });
    let shared: Vec<&Variable<'t>> = module.iter().chain(own).filter(is_shared).collect();
    decoder.place_shared(&shared)?;
    for statement in &entry.body {
        decoder.statement(statement)?;
    }
    decoder.emit(None, Op::Exit, entry.body.len() as u32);
    decoder.resolve()?;
    Ok(decoder.program)
}

impl<'t> Decoder<'t> {
    /// Variables of fixed length first; those of the launch's length begin together behind them.
    fn place_shared(&mut self, variables: &[&Variable<'t>]) -> Result<(), ParseError> {
        let mut at = u64::from(SHARED_BEGIN);
        for variable in variables.iter().filter(|variable| !variable.is_dynamic) {
            at = at.next_multiple_of(variable.align);
            self.scopes[0].symbols.insert(variable.name, Place::Shared(at));
            at += variable.bytes;
        }
        let dynamic = variables.iter().filter(|variable| variable.is_dynamic);
        at = at.next_multiple_of(dynamic.clone().map(|variable| variable.align).max().unwrap_or(1));
        for variable in dynamic {
            self.scopes[0].symbols.insert(variable.name, Place::Shared(at));
        }
        if at > 1 << 20 {
            let line = variables.first().map_or(1, |variable| variable.line);
            return Err(ParseError { line, message: format!("shared variables take {} bytes", at - u64::from(SHARED_BEGIN)) });
        }
        self.program.shared_bytes = at as u32;
        Ok(())
    }

    fn declare_symbol(&mut self, name: &'t str, place: Place) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.symbols.insert(name, place);
        }
    }

    fn statement(&mut self, statement: &Statement<'t>) -> Result<(), ParseError> {
        match statement {
            Statement::Open => {
                self.opened += 1;
                self.scopes.push(Scope { number: self.opened, ..Scope::default() });
            }
            Statement::Close => {
                self.scopes.pop();
            }
            Statement::Label(name, line) => {
                let scope = self.scopes.last().map_or(0, |scope| scope.number);
                if self.labels.insert((scope, name), self.program.code.len() as u32).is_some() {
                    return Err(ParseError { line: *line, message: format!("the label `{name}` stands twice") });
                }
            }
            Statement::Registers(ty, names) => self.registers(*ty, names),
            Statement::Variable(variable) => self.variable(variable)?,
            Statement::Instruction(instruction) => {
                self.instruction(instruction).map_err(|message| ParseError { line: instruction.line, message })?;
            }
        }
        if u64::from(self.program.registers) > MOST_REGISTERS {
            return Err(ParseError { line: 1, message: format!("a kernel has more than {MOST_REGISTERS} registers") });
        }
        Ok(())
    }

    fn registers(&mut self, ty: Ty, names: &[(&'t str, Option<u64>)]) {
        let program = &mut self.program;
        let Some(scope) = self.scopes.last_mut() else { return };
        for (name, count) in names {
            let first = program.registers;
            let taken = count.unwrap_or(1).min(MOST_REGISTERS + 1);
            program.registers = program.registers.saturating_add(taken as u32);
            match count {
                None => {
                    scope.registers.insert(name, (Reg(first), ty));
                }
                Some(_) => {
                    scope.ranges.insert(name, (first, taken, ty));
                }
            }
        }
    }

    /// Variables of a body: of local memory, and those that calls pass, which are kept there, too. Shared ones have their place.
    fn variable(&mut self, variable: &Variable<'t>) -> Result<(), ParseError> {
        if variable.space == Space::Shared {
            return Ok(());
        }
        if !matches!(variable.space, Space::Local | Space::Param) {
            return Err(ParseError { line: variable.line, message: format!("`{}`: a body has no such variables", variable.name) });
        }
        let at = u64::from(self.program.local_bytes).next_multiple_of(variable.align);
        self.declare_symbol(variable.name, Place::Local(at));
        match u32::try_from(at + variable.bytes) {
            Ok(end) if end <= 1 << 19 => self.program.local_bytes = end,
            _ => return Err(ParseError { line: variable.line, message: "local variables take more than 512 KiB".into() }),
        }
        Ok(())
    }

    fn emit(&mut self, guard: Option<(Reg, bool)>, op: Op, line: u32) {
        self.program.code.push(Instruction { guard, op, line });
    }

    fn resolve(&mut self) -> Result<(), ParseError> {
        for (at, scopes, label, line) in std::mem::take(&mut self.branches) {
            let found = scopes.iter().rev().find_map(|scope| self.labels.get(&(*scope, label)));
            match found {
                Some(place) => self.program.code[at].op = Op::Branch(*place),
                None => return Err(ParseError { line, message: format!("there is no label `{label}`") }),
            }
        }
        Ok(())
    }

    fn instruction(&mut self, raw: &RawInstruction<'t>) -> Decoded<()> {
        let guard = match raw.guard {
            Some((name, wanted)) => Some((self.register(name, Ty::Pred)?, wanted)),
            None => None,
        };
        let (first, mut words) = Words::of(raw.opcode);
        let operands = &raw.operands[..];
        let before = self.program.code.len();
        let op = match first {
            "bra" => {
                words.takes("uni");
                words.end()?;
                let [RawOperand::Name(label)] = operands else { return refuse("`bra` names a label") };
                let scopes = self.scopes.iter().map(|scope| scope.number).collect();
                self.branches.push((self.program.code.len(), scopes, label, raw.line));
                Op::Branch(u32::MAX)
            }
            "ret" | "exit" => {
                words.takes("uni");
                words.end()?;
                Op::Exit
            }
            "trap" => Op::Trap,
            "brkpt" | "griddepcontrol" | "setmaxnreg" | "pmevent" | "prefetch" | "prefetchu" | "discard" | "applypriority" => Op::Nothing,
            "nanosleep" => Op::Sleep,
            _ => {
                let found = self.arithmetic(first, &mut words, operands)?;
                let found = if found.is_some() { found } else { self.moves(first, &mut words, operands)? };
                let found = if found.is_some() { found } else { self.access(first, &mut words, operands)? };
                let found = if found.is_some() { found } else { self.together(first, &mut words, operands)? };
                let found = if found.is_some() { found } else { self.copies(first, &mut words, operands)? };
                match found {
                    Some(op) => op,
                    None => return words.unknown(),
                }
            }
        };
        // What reads special registers for the instruction is no part of what the guard says.
        self.program.code[before..].iter_mut().for_each(|hidden| hidden.line = raw.line);
        self.emit(guard, op, raw.line);
        Ok(())
    }

    /// The register of a name, with the type it is declared with.
    fn find_register(&self, name: &str) -> Option<(Reg, Ty)> {
        self.scopes.iter().rev().find_map(|scope| {
            if let Some(found) = scope.registers.get(name) {
                return Some(*found);
            }
            let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
            let (first, count, ty) = scope.ranges.get(&name[..digits])?;
            let number: u64 = name[digits..].parse().ok()?;
            (number < *count).then(|| (Reg(first + number as u32), *ty))
        })
    }

    fn find_symbol(&self, name: &str) -> Option<Place> {
        self.scopes.iter().rev().find_map(|scope| scope.symbols.get(name).copied())
    }

    /// The register of a name, which must be as wide as a type.
    fn register(&self, name: &str, ty: Ty) -> Decoded<Reg> {
        match self.find_register(name) {
            Some((reg, own)) if own.bits() == ty.bits() => Ok(reg),
            Some((_, own)) => refuse(format!("`{name}` is `.{}`, and `.{}` is needed", own.word(), ty.word())),
            None => refuse(format!("`{name}` is no register")),
        }
    }

    /// The register of a name, which may be wider than a type; and its bits.
    fn wide_register(&self, name: &str, ty: Ty) -> Decoded<(Reg, u32)> {
        match self.find_register(name) {
            Some((reg, own)) if own.bits() >= ty.bits() && own != Ty::Pred => Ok((reg, own.bits())),
            Some((_, own)) => refuse(format!("`{name}` is `.{}`, too narrow for `.{}`", own.word(), ty.word())),
            None => refuse(format!("`{name}` is no register")),
        }
    }

    /// Where a result goes.
    fn result(&self, operand: &RawOperand<'t>, ty: Ty) -> Decoded<Reg> {
        match operand {
            RawOperand::Name(name) => self.register(name, ty),
            other => refuse(format!("a register is expected for the result, and here is {other:?}")),
        }
    }

    /// The same; `_` is nowhere.
    fn optional_result(&self, operand: &RawOperand<'t>, ty: Ty) -> Decoded<Option<Reg>> {
        if *operand == RawOperand::Name("_") { Ok(None) } else { self.result(operand, ty).map(Some) }
    }

    fn constant(&mut self, bits: u64) -> Src {
        let next = self.program.constants.len() as u32;
        let number = *self.constants.entry(bits).or_insert(next);
        if number == next {
            self.program.constants.push(bits);
        }
        Src(number | Src::CONSTANT)
    }

    /// What an instruction reads: a register as wide as the type, a number, a special register or an address of a variable.
    fn source(&mut self, operand: &RawOperand<'t>, ty: Ty) -> Decoded<Src> {
        match operand {
            RawOperand::Number(bits) => Ok(self.constant(low(*bits, ty.bits()))),
            RawOperand::Name(name) if self.find_register(name).is_some() => self.register(name, ty).map(Src::from),
            RawOperand::Name(name) => self.named(name, ty),
            other => refuse(format!("a value is expected, and here is {other:?}")),
        }
    }

    /// The same of registers that may be wider.
    fn wide_source(&mut self, operand: &RawOperand<'t>, ty: Ty) -> Decoded<Src> {
        match operand {
            RawOperand::Name(name) if self.find_register(name).is_some() => self.wide_register(name, ty).map(|(reg, _)| reg.into()),
            other => self.source(other, ty),
        }
    }

    /// A special register, which is read to a register beforehand, or an address.
    fn named(&mut self, name: &str, ty: Ty) -> Decoded<Src> {
        if let Some((special, own)) = special::named(name) {
            if own.bits() > ty.bits() {
                return refuse(format!("`{name}` is `.{}`, too wide for `.{}`", own.word(), ty.word()));
            }
            let reg = Reg(self.program.registers);
            self.program.registers += 1;
            self.emit(None, Op::Special(reg, special), 0);
            return Ok(reg.into());
        }
        match self.find_symbol(name) {
            Some(place) => self.symbol(name, place, ty, 0),
            None => refuse(format!("`{name}` is not declared")),
        }
    }

    /// The address of a variable in its own space.
    fn symbol(&mut self, name: &str, place: Place, ty: Ty, offset: i64) -> Decoded<Src> {
        match place {
            Place::Global(_) if ty.bits() < 64 => refuse(format!("the address of `{name}` has 64 bits")),
            Place::Global(variable) => {
                let number = self.program.constants.len();
                self.program.constants.push(0);
                self.program.addresses.push((number, variable, offset));
                Ok(Src(number as u32 | Src::CONSTANT))
            }
            Place::Const(at) | Place::Shared(at) | Place::Local(at) | Place::Param(at) => {
                Ok(self.constant(low(at.wrapping_add_signed(offset), ty.bits())))
            }
        }
    }

    /// A predicate, and whether it is negated.
    fn predicate(&mut self, operand: &RawOperand<'t>) -> Decoded<(Src, bool)> {
        match operand {
            RawOperand::Not(name) => Ok((self.register(name, Ty::Pred)?.into(), true)),
            RawOperand::Number(value) => Ok((self.constant(u64::from(*value != 0)), false)),
            other => Ok((self.source(other, Ty::Pred)?, false)),
        }
    }

    /// A place in memory, and what its symbol is, if it has one.
    fn address(&mut self, operand: &RawOperand<'t>) -> Decoded<(Address, Option<Place>)> {
        let RawOperand::Address(base, offset) = operand else { return refuse(format!("an address is expected, and here is {operand:?}")) };
        let (base, is_narrow, place) = match &**base {
            RawOperand::Number(at) => (self.constant(*at), false, None),
            RawOperand::Name(name) => match self.find_register(name) {
                Some((reg, ty)) if matches!(ty.bits(), 32 | 64) => (reg.into(), ty.bits() == 32, None),
                Some((_, ty)) => return refuse(format!("`{name}` is `.{}`, which no address is", ty.word())),
                None => {
                    let Some(place) = self.find_symbol(name) else { return refuse(format!("`{name}` is not declared")) };
                    (self.symbol(name, place, Ty::U64, *offset)?, false, Some(place))
                }
            },
            other => return refuse(format!("{other:?} is no base of an address")),
        };
        let offset = if place.is_some() { 0 } else { *offset };
        Ok((Address { base, offset, is_narrow }, place))
    }

    /// So many operands.
    fn exactly<'o, const N: usize>(operands: &'o [RawOperand<'t>]) -> Decoded<&'o [RawOperand<'t>; N]> {
        operands.try_into().or_else(|_| refuse(format!("{N} operands are expected, and here are {}", operands.len())))
    }
}
