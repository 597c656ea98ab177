//! The typed tree of a body. Types may be variables of the body's [`super::types::Infer`], which knows them all once it is checked.

use super::items::FnId;
use super::types::{Arg, Const, Infer, Ty};
use crate::annotations;
use crate::ir::intrinsic::IntrinsicId;
use crate::ir::{AtomicOp, Atomicity, BinaryOp, CompareOp, PrintPart, Special, Swizzle, TextureOp, UnaryOp};
use crate::syntax::ConstValue;
use proc_macro2::Span;
use std::collections::HashMap;

/// A local variable, by number within its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalId(pub(crate) usize);

/// A loop or labelled block, by number within its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(pub(crate) usize);

/// What a local is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalKind {
    /// A variable of the thread.
    Variable,
    /// A parameter declared as a reference: another name for the place given.
    Reference,
    /// `#[shared]`.
    Shared,
    /// `#[shared(dynamic)]`.
    SharedDynamic,
}

#[derive(Clone, Debug)]
pub(crate) struct LocalData {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) kind: LocalKind,
    /// Whether it may be assigned: `mut`, `&mut`, or `let x;`.
    pub(crate) mutable: bool,
    pub(crate) span: Span,
}

/// A checked function body.
pub(crate) struct Body {
    pub(crate) infer: Infer,
    pub(crate) locals: Vec<LocalData>,
    /// One for each parameter, `self` included.
    pub(crate) params: Vec<LocalId>,
    pub(crate) result: Ty,
    pub(crate) root: Expr,
    /// What is asked of its loops.
    pub(crate) annotations: HashMap<ScopeId, Annotations>,
    /// How the rows of its shared arrays lie, where it is not plainly.
    pub(crate) rows: HashMap<LocalId, Rows>,
}

/// How the rows of a shared array lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Rows {
    /// Elements of room behind each.
    pub(crate) pad: u64,
    pub(crate) swizzle: Option<Swizzle>,
}

/// What is asked of a loop or a kernel, the arguments evaluated. What asks for nothing is left out.
pub(crate) type Annotations = annotations::Annotations<Span>;

pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

impl Expr {
    /// The number that it is known to be before types are: a literal, a constant, one with a sign, or cast to where it fits whatever the type is.
    pub(crate) fn known_int(&self) -> Option<i128> {
        match &self.kind {
            ExprKind::Int(value) | ExprKind::Const(ConstValue::Index(value, _)) => Some(*value),
            ExprKind::Const(ConstValue::Scalar(scalar)) if !scalar.ty.is_float() => Some(scalar.as_int()),
            ExprKind::Unary(UnaryOp::Neg, value) => value.known_int().map(|value| -value),
            ExprKind::Cast(value) => value.known_int().filter(|value| (0..=127).contains(value)),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Geometry {
    Special(Special),
    /// `block_idx / cluster_dim`.
    ClusterIdx,
    /// Blocks of a cluster.
    ClusterDim,
    /// `block_idx * block_dim + thread_idx`.
    GlobalId,
}

pub(crate) enum ExprKind {
    Int(i128),
    Float(f64),
    Const(ConstValue),
    Local(LocalId),
    Unary(UnaryOp, Box<Expr>),
    /// Shifts take any integer on the right.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// `&&`.
    And(Box<Expr>, Box<Expr>),
    /// `||`.
    Or(Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    AssignOp(BinaryOp, Box<Expr>, Box<Expr>),
    Field(Box<Expr>, u32),
    Index(Box<Expr>, Box<Expr>),
    /// Tuples and structs (fields in order of declaration, evaluated in the order given).
    Aggregate(Vec<(u32, Expr)>, Option<Box<Expr>>),
    Array(Vec<Expr>),
    Repeat(Box<Expr>, Const),
    Block(Block),
    Labelled(ScopeId, Block),
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    Match(Box<Expr>, Vec<Arm>),
    /// `if let` conditions and `matches!`: whether the pattern fits; binds.
    Let(Pattern, Box<Expr>),
    While(ScopeId, Box<Expr>, Block),
    Loop(ScopeId, Block),
    For(Box<ForLoop>),
    Break(ScopeId, Option<Box<Expr>>),
    Continue(ScopeId),
    Return(Option<Box<Expr>>),
    /// A `#[device]` function or method, with its generic arguments.
    Call(FnId, Vec<Arg>, Vec<Expr>),
    Intrinsic(IntrinsicId, Ty, Vec<Expr>),
    /// A shared array as another block of the cluster has it: the array, the block's rank, and whether it may be written.
    SharedOf(Box<Expr>, Box<Expr>, bool),
    /// What a block's threads do together, by its name.
    Collective(IntrinsicId, Vec<Expr>),
    /// `Accumulator::zero()`.
    NoSums,
    /// `multiply_add`: the factors, and the sums.
    MultiplyAdd([(Box<Expr>, FactorForm); 2], Box<Expr>),
    /// `sums.position(element)`.
    Position(Box<Expr>, Box<Expr>),
    /// `sums.store(&mut tile)`, or `sums.store_columns(from, &mut tile)`.
    StoreSums(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    /// `Rows::splat(value)`.
    SplatRows(Box<Expr>),
    /// `sums.row(element)`.
    RowOf(Box<Expr>, Box<Expr>),
    /// `sums.row_max()`, `sums.row_sum()`.
    ReduceRows(RowReduction, Box<Expr>),
    Geometry(Geometry),
    /// Elements of a buffer, array or dynamic shared array.
    Len(Box<Expr>),
    VectorLoad(Box<Expr>, Box<Expr>, Const),
    VectorStore(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The texture and the coordinates.
    Texture(TextureOp, Box<Expr>, Vec<Expr>),
    /// Place, index, operands.
    Atomic(AtomicOp, Atomicity, Box<Expr>, Box<Expr>, Vec<Expr>),
    Print(Vec<PrintPart>, Vec<Expr>),
    Assert(Box<Expr>, Vec<PrintPart>, Vec<Expr>),
    /// `unreachable!`, `panic!`.
    Trap(String),
}

/// How `multiply_add` takes a factor.
#[derive(Clone, Debug)]
pub(crate) enum FactorForm {
    /// `&tile`.
    Array,
    /// `transposed(&tile)`.
    Transposed,
    /// `sums.operand::<U>()`, with U.
    Operand(Ty),
}

/// What is made of the sums of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowReduction {
    Max,
    Sum,
}

impl RowReduction {
    /// The method's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RowReduction::Max => "row_max",
            RowReduction::Sum => "row_sum",
        }
    }

    /// That of this name.
    pub(crate) fn named(name: &str) -> Option<RowReduction> {
        [RowReduction::Max, RowReduction::Sum].into_iter().find(|reduction| reduction.name() == name)
    }
}

pub(crate) struct Block {
    pub(crate) statements: Vec<Statement>,
    pub(crate) tail: Option<Box<Expr>>,
}

pub(crate) enum Statement {
    Let(Pattern, Option<Expr>),
    /// A `#[shared]` declaration.
    Shared(LocalId),
    Expr(Expr),
}

pub(crate) struct Arm {
    pub(crate) pattern: Pattern,
    pub(crate) guard: Option<Expr>,
    pub(crate) body: Expr,
}

/// How a `for` walks its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `a..b`.
    Up,
    /// `(a..b).rev()`, and `.rev().step_by(k)`: down from the end.
    Down,
    /// `.step_by(k).rev()`: the values of the stepped range, backwards.
    StepsDown,
}

pub(crate) struct ForLoop {
    pub(crate) scope: ScopeId,
    pub(crate) pattern: Pattern,
    pub(crate) start: Expr,
    pub(crate) end: Expr,
    pub(crate) inclusive: bool,
    pub(crate) direction: Direction,
    pub(crate) step: Option<Expr>,
    pub(crate) body: Block,
}

pub(crate) struct Pattern {
    pub(crate) kind: PatternKind,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

pub(crate) enum PatternKind {
    Wildcard,
    /// A name, and what it must also match.
    Bind(LocalId, Option<Box<Pattern>>),
    /// A constant.
    Value(Box<Expr>),
    /// Bounds, the second included or not.
    Range(Option<Box<Expr>>, Option<Box<Expr>>, bool),
    /// Tuples, structs and arrays: positions and what they must match.
    Fields(Vec<(u32, Pattern)>),
    /// Among the fields of an array: a name for all elements from that position on that the pattern's own type, an array, has.
    Rest(Box<Pattern>),
    Or(Vec<Pattern>),
}
