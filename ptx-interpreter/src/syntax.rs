//! A module as it is written: directives, variables, and the statements of its entries, before anything of them is understood.

use crate::ty::Ty;

/// A text.
#[derive(Debug, Default)]
pub(crate) struct Text<'t> {
    /// The words behind `.target`.
    pub(crate) target: Vec<&'t str>,
    /// Ten times the version and its minor number.
    pub(crate) version: u32,
    /// Variables of the module.
    pub(crate) variables: Vec<Variable<'t>>,
    /// Its kernels.
    pub(crate) entries: Vec<EntryText<'t>>,
}

/// State spaces in which variables are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Const,
    Shared,
    Local,
    Param,
}

impl Space {
    /// The space of a directive.
    pub(crate) fn named(word: &str) -> Option<Space> {
        Some(match word {
            ".global" => Space::Global,
            ".const" => Space::Const,
            ".shared" => Space::Shared,
            ".local" => Space::Local,
            ".param" => Space::Param,
            _ => return None,
        })
    }
}

/// A variable, or a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Variable<'t> {
    pub(crate) name: &'t str,
    pub(crate) space: Space,
    pub(crate) align: u64,
    /// Bytes; of an array whose length the launch says, 0.
    pub(crate) bytes: u64,
    /// Whether the launch says how long it is: `.extern .shared … name[]`.
    pub(crate) is_dynamic: bool,
    /// Its first contents; what is not said is zero.
    pub(crate) initial: Vec<u8>,
    pub(crate) line: u32,
}

/// A kernel.
#[derive(Debug)]
pub(crate) struct EntryText<'t> {
    pub(crate) name: &'t str,
    pub(crate) parameters: Vec<Variable<'t>>,
    /// Directives between the parameters and the body: their words and numbers.
    pub(crate) directives: Vec<(&'t str, Vec<u64>)>,
    pub(crate) body: Vec<Statement<'t>>,
}

/// What a body is made of.
#[derive(Debug)]
pub(crate) enum Statement<'t> {
    Label(&'t str, u32),
    Instruction(RawInstruction<'t>),
    /// A scope begins.
    Open,
    /// It ends.
    Close,
    /// Registers: `%r<5>` is five.
    Registers(Ty, Vec<(&'t str, Option<u64>)>),
    Variable(Variable<'t>),
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct RawInstruction<'t> {
    pub(crate) line: u32,
    /// The predicate that it is under, and what that must be.
    pub(crate) guard: Option<(&'t str, bool)>,
    pub(crate) opcode: &'t str,
    pub(crate) operands: Vec<RawOperand<'t>>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RawOperand<'t> {
    Name(&'t str),
    /// `!p`.
    Not(&'t str),
    Number(u64),
    /// `{a, b}`.
    Vector(Vec<RawOperand<'t>>),
    /// `[a+4]`; without a base, a number alone.
    Address(Box<RawOperand<'t>>, i64),
    /// `[a, {b, c}]`.
    Texel(&'t str, Vec<RawOperand<'t>>),
    /// `p|q`.
    Pair(&'t str, &'t str),
    /// `(a, b)`.
    Arguments(Vec<&'t str>),
}
