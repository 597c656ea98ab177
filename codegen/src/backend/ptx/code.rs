//! PTX as data: what the emitter makes, the printer prints and estimates read.

use super::words::{Mnemonic, Word};
use crate::annotations::Annotation;
use crate::backend::{AbiArgument, Line};
use crate::ir::{Axis, Loc, Scalar, Space, Special, Type};
use std::sync::Arc;

/// The kinds of registers. All but predicates are untyped or float: an untyped register serves every type of its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "by what they hold")]
pub enum RegisterClass {
    Predicate,
    Half,
    Word,
    Float,
    Long,
    Double,
}

impl RegisterClass {
    /// Each with its prefix and the type it is declared with, in the order of the variants.
    pub const ALL: [(RegisterClass, &'static str, Word); 6] = [
        (RegisterClass::Predicate, "%p", Word::Pred),
        (RegisterClass::Half, "%rs", Word::B16),
        (RegisterClass::Word, "%r", Word::B32),
        (RegisterClass::Float, "%f", Word::F32),
        (RegisterClass::Long, "%rd", Word::B64),
        (RegisterClass::Double, "%fd", Word::F64),
    ];

    /// Where values of a type live. Of 8 bits in 16, extended by their sign.
    pub(super) fn of(ty: Type) -> RegisterClass {
        match ty {
            Type::Bool => RegisterClass::Predicate,
            Type::F32 => RegisterClass::Float,
            Type::F64 => RegisterClass::Double,
            _ => match ty.bytes() {
                1 | 2 => RegisterClass::Half,
                4 => RegisterClass::Word,
                _ => RegisterClass::Long,
            },
        }
    }

    /// The type that it is declared with.
    pub(super) fn ty(self) -> Word {
        RegisterClass::ALL[self as usize].2
    }
}

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg {
    /// What it holds.
    pub class: RegisterClass,
    /// Its number: among those of its class, or, if it has a name, among all that have one.
    pub number: u32,
    /// The name, of one that a template declares for itself.
    pub name: Option<&'static str>,
}

/// A place to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Its number: among all without a name, or among all with one.
    pub number: u32,
    /// The name, of one within a template.
    pub name: Option<&'static str>,
}

/// The name of a variable or function.
pub type Symbol = Arc<str>;

/// What an address is counted from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they are")]
pub enum Base {
    Reg(Reg),
    Symbol(Symbol),
}

/// A place in memory: what stands between brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressOperand {
    /// Where it is counted from.
    pub base: Base,
    /// Bytes added to that, where it is said.
    pub offset: Option<i32>,
}

impl AddressOperand {
    /// The first byte of a variable.
    pub(super) fn of(symbol: &str) -> AddressOperand {
        AddressOperand { base: Base::Symbol(symbol.into()), offset: None }
    }

    /// Bytes further on.
    pub(super) fn after(&self, bytes: i32) -> AddressOperand {
        let offset = self.offset.unwrap_or(0) + bytes;
        AddressOperand { base: self.base.clone(), offset: Some(offset).filter(|offset| *offset != 0) }
    }
}

/// What an instruction reads or writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// Several that are one operand: the elements of a vector, the halves of a word.
    Vector(Vec<Reg>),
    /// A constant. Not every instruction takes one, and none takes one of a 16-bit float: those see its bits.
    Constant(Scalar),
    /// A constant written by its bits.
    Bits(&'static str),
    /// A special register; those of threads and blocks have an axis.
    Special(Special, Axis),
    /// The address of a variable, or a function.
    Symbol(Symbol),
    /// A place in memory.
    Address(AddressOperand),
    /// A texel: the texture object, then where in the texture.
    Texel(Vec<Reg>),
    /// Where a branch goes.
    Label(Label),
    /// What is passed to a function, or given by it: variables in its scope.
    Arguments(&'static [&'static str]),
}

impl Operand {
    /// The registers that it names.
    pub fn registers(&self) -> &[Reg] {
        match self {
            Operand::Reg(reg) | Operand::Address(AddressOperand { base: Base::Reg(reg), .. }) => std::slice::from_ref(reg),
            Operand::Vector(regs) | Operand::Texel(regs) => regs,
            Operand::Constant(_)
            | Operand::Bits(_)
            | Operand::Special(..)
            | Operand::Symbol(_)
            | Operand::Address(AddressOperand { base: Base::Symbol(_), .. })
            | Operand::Label(_)
            | Operand::Arguments(_) => &[],
        }
    }
}

macro_rules! operands {
    ($($ty:ty, $x:ident => $operand:expr;)*) => {
        $(impl From<$ty> for Operand {
            fn from($x: $ty) -> Operand {
                $operand
            }
        })*
    };
}

operands! {
    Reg, reg => Operand::Reg(reg);
    &Reg, reg => Operand::Reg(*reg);
    &Operand, operand => operand.clone();
    &AddressOperand, address => Operand::Address(address.clone());
    AddressOperand, address => Operand::Address(address);
    Label, label => Operand::Label(label);
    &Symbol, symbol => Operand::Symbol(symbol.clone());
    // One is no vector.
    Scalar, scalar => Operand::Constant(scalar);
    [Reg; 2], regs => Operand::Vector(regs.to_vec());
    [Reg; 4], regs => Operand::Vector(regs.to_vec());
    &[Reg], regs => if let [one] = regs { Operand::Reg(*one) } else { Operand::Vector(regs.to_vec()) };
    i32, value => Operand::Constant(Scalar::int(Type::I32, value.into()));
    u32, value => Operand::Constant(Scalar::u32(value));
}

/// What an instruction is under: it runs where the register is as said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// A predicate.
    pub reg: Reg,
    /// What it must be.
    pub wanted: bool,
}

/// What an instruction is: `ld.global.f32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// The first word.
    pub mnemonic: Mnemonic,
    /// The others, in order.
    pub words: Vec<Word>,
}

impl Opcode {
    /// Whether this is one of its further words.
    pub fn has(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    /// Whether it reads global or shared memory, or a texture.
    pub fn is_load(&self) -> bool {
        self.mnemonic == Mnemonic::Tex || (self.mnemonic == Mnemonic::Ld && (self.has(Word::Global) || self.has(Word::Shared)))
    }

    /// Whether it multiplies and adds `f32`, rounding once.
    pub fn is_fused_f32(&self) -> bool {
        self.mnemonic == Mnemonic::Fma && self.has(Word::F32)
    }

    /// The state space that it names.
    pub fn space(&self) -> Option<Space> {
        self.words.iter().find_map(|word| match word {
            Word::Param => Some(Space::Param),
            Word::Global => Some(Space::Global),
            Word::Const => Some(Space::Constant),
            Word::Shared | Word::SharedCta | Word::SharedCluster => Some(Space::Shared),
            Word::Local => Some(Space::Local),
            _ => None,
        })
    }

    /// Elements of a vector access; 1 of all else.
    pub fn elements(&self) -> u8 {
        if self.has(Word::V4) { 4 } else { 1 + u8::from(self.has(Word::V2)) }
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// What it is under.
    pub guard: Option<Guard>,
    /// What it is.
    pub opcode: Opcode,
    /// In the order of PTX: what it writes comes first.
    pub operands: Vec<Operand>,
    /// Which of [`Module::early_loads`] it is one of.
    pub early: Option<usize>,
}

impl Instruction {
    /// The operand that it writes, if it writes one, and those that it reads.
    pub fn results_and_sources(&self) -> (&[Operand], &[Operand]) {
        let Opcode { mnemonic, .. } = self.opcode;
        let tests =
            (mnemonic == Mnemonic::Bar && self.opcode.has(Word::Red)) || (mnemonic == Mnemonic::Mbarrier && self.opcode.has(Word::TryWait));
        let is_written = mnemonic.has_result() || tests;
        self.operands.split_at(usize::from(is_written).min(self.operands.len()))
    }
}

/// What a body is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// An instruction.
    Instruction(Instruction),
    /// A place to jump to.
    Label(Label),
    /// Where in the source what follows comes from: the file's number, from 1, line and column.
    Loc([u32; 3]),
    /// The loop that begins here is not to be unrolled.
    KeepRolled,
    /// A scope begins, or ends.
    Open,
    /// The end of one.
    Close,
    /// Registers of a scope, all of a type.
    Registers(Word, Vec<Reg>),
    /// A parameter that a function is called with, or its result: a variable of a scope.
    Parameter(Word, &'static str),
}

impl Statement {
    /// The instruction, if it is one.
    pub fn instruction(&self) -> Option<&Instruction> {
        match self {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        }
    }
}

/// Who else sees a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Nobody.
    Own,
    /// The host.
    Visible,
    /// It is the host's.
    Extern,
}

/// What a variable holds at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Nothing is said.
    None,
    /// The bytes of a text, and a zero.
    Text(String),
    /// Numbers, by their bits.
    Table(Vec<u64>),
}

/// A variable in memory, or a parameter of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Who else sees it.
    pub linkage: Linkage,
    /// Where it is.
    pub space: Word,
    /// Its alignment in bytes, where it is not that of its type.
    pub align: Option<u64>,
    /// The type of it, or of its elements.
    pub ty: Word,
    /// Its name.
    pub symbol: Symbol,
    /// The elements of an array: `Some(None)` if the launch says how many.
    pub length: Option<Option<u64>>,
    /// What it holds.
    pub initial: Initial,
}

impl Variable {
    /// An array of bytes.
    pub(super) fn bytes(space: Word, align: u64, symbol: Symbol, length: u64) -> Variable {
        let (align, length) = (Some(align), Some(Some(length)));
        Variable { linkage: Linkage::Own, space, align, ty: Word::B8, symbol, length, initial: Initial::None }
    }

    /// A parameter of a type.
    pub(super) fn parameter(ty: Word, symbol: Symbol) -> Variable {
        Variable { linkage: Linkage::Own, space: Word::Param, align: None, ty, symbol, length: None, initial: Initial::None }
    }
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its parameters in order.
    pub parameters: Vec<Variable>,
    /// How a launch may be, and what the assembler may take: `.reqntid 32, 1, 1`.
    pub directives: Vec<(&'static str, Vec<u32>)>,
    /// How many registers of each class are declared: their numbers are below.
    pub registers: [u32; RegisterClass::ALL.len()],
    /// Shared and local memory.
    pub variables: Vec<Variable>,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A text for the assembler: one kernel and what it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The lowest PTX version that has all of it, as 10·major + minor.
    pub version: u16,
    /// The target's name.
    pub target: &'static str,
    /// Declarations of the functions that are called.
    pub functions: Vec<&'static str>,
    /// Texts, constants, dynamic shared memory.
    pub variables: Vec<Variable>,
    /// The kernel.
    pub entry: Entry,
    /// The source files, if [`Statement::Loc`] names any.
    pub files: Vec<String>,
    /// What the host must pass.
    pub abi: Vec<AbiArgument>,
    /// Shared arrays of fixed length, bytes.
    pub shared_bytes: u64,
    /// Whether they are dynamic shared memory, for which a launch asks.
    pub asks_for_shared: bool,
    /// Whether it waits by itself for the kernels before it in the stream.
    pub overlaps: bool,
    /// Whether a launch adds a producer's threads to the block.
    pub has_producer: bool,
    /// Blocks of a cluster, by axis, if it has clusters.
    pub cluster: Option<[u32; 3]>,
    /// Annotations that issue loads early, and where the source says them.
    pub early_loads: Vec<(&'static Annotation, Loc)>,
}

impl Module {
    /// The same without places in source files: what is left is code.
    #[must_use]
    pub fn without_places(mut self) -> Module {
        self.entry.body.retain(|statement| !matches!(statement, Statement::Loc(_)));
        self.files.clear();
        self
    }

    /// The instructions in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.entry.body.iter().filter_map(Statement::instruction)
    }

    /// The same with the number of each instruction, from 1, as its place: what an assembler makes of it can be told by that.
    #[must_use]
    pub fn numbered(self) -> Module {
        let mut module = self.without_places();
        module.files.push("instructions".into());
        let mut number = 0;
        let statements = std::mem::take(&mut module.entry.body);
        module.entry.body = statements
            .into_iter()
            .flat_map(|statement| {
                let is_one = statement.instruction().is_some();
                number += u32::from(is_one);
                is_one.then_some(Statement::Loc([1, number, 1])).into_iter().chain([statement])
            })
            .collect();
        module
    }

    /// The lines of the text but for those that only name places, each with the place that it comes from.
    pub(super) fn lines(self) -> Vec<Line> {
        let mut origins = Vec::new();
        let mut last = None;
        for statement in &self.entry.body {
            match statement {
                Statement::Loc([file, line, _]) => last = self.files.get(*file as usize - 1).map(|file| (file.clone(), *line)),
                Statement::Instruction(_) => origins.push(last.clone()),
                _ => origins.push(None),
            }
        }
        let text = self.without_places().to_string();
        // Behind the body there is a brace.
        let head = text.lines().count() - 1 - origins.len();
        let origins = std::iter::repeat_n(None, head).chain(origins).chain([None]);
        text.lines().zip(origins).map(|(text, origin)| Line { text: text.to_owned(), origin }).collect()
    }
}
