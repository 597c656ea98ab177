//! The types of the language, with inference variables, and the table that unifies them.
//!
//! References are transparent here: `&Global<T>`, `&mut [f32; 16]`, `&self` have the type behind them, and a local that was declared
//! as one stands for the place it was given (see `LocalKind::Reference`).

use crate::ir::Type;
use std::fmt;

/// Names a struct or enum definition: an index into `Items`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AdtId(pub(crate) usize);

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    Scalar(Type),
    Usize,
    Isize,
    Tuple(Vec<Ty>),
    Array(Box<Ty>, Const),
    /// `[T]`: dynamic shared memory.
    Slice(Box<Ty>),
    /// A struct or enum with its generic arguments.
    Adt(AdtId, Vec<Arg>),
    /// `Global<T>`.
    Global(Box<Ty>),
    /// `Constant<T>`.
    Constant(Box<Ty>),
    /// `Texture2d<T>`.
    Texture(Box<Ty>),
    /// `Matrix<T>`: a group of parameters, of a buffer, rows, columns and pitch.
    Matrix(Box<Ty>),
    /// `MatrixBatch<T>`: one of these, how many there are, and the stride.
    MatrixBatch(Box<Ty>),
    /// `Accumulator<T, M, N>`: M × N sums spread over the block's threads. Lowered, the array of those that are a thread's.
    Accumulator(Box<Ty>, Const, Const),
    /// `Rows<T, M>`: a value for each of M rows of sums. Lowered, the array of those of the rows that a thread has sums of.
    Rows(Box<Ty>, Const),
    /// The geometry's `Dim3 { x, y, z: usize }`.
    Dim3,
    /// `!`: of expressions that do not return; unifies with everything.
    Never,
    /// Not known yet: an index into [`Infer`].
    Var(usize),
}

/// The value of a const generic or an array's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Const {
    Value(i128),
    Var(usize),
}

/// A generic argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arg {
    Ty(Ty),
    /// A const generic's value, with its type.
    Const(Const, Box<Ty>),
}

impl Ty {
    pub(crate) const BOOL: Ty = Ty::Scalar(Type::Bool);
    pub(crate) const U32: Ty = Ty::Scalar(Type::U32);

    pub(crate) fn unit() -> Ty {
        Ty::Tuple(Vec::new())
    }

    pub(crate) fn is_int(&self) -> bool {
        matches!(self, Ty::Usize | Ty::Isize) || matches!(self, Ty::Scalar(ty) if ty.is_int())
    }

    /// Whether it is memory of the device that a parameter leads to, and no value.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self, Ty::Global(_) | Ty::Constant(_) | Ty::Texture(_) | Ty::Matrix(_) | Ty::MatrixBatch(_))
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Ty::Scalar(ty) if ty.is_float())
    }

    /// Whether it is a float of 8 bits, which is stored and converted alone.
    pub(crate) fn is_float8(&self) -> bool {
        matches!(self, Ty::Scalar(ty) if ty.is_float8())
    }

    /// The primitive type of this name.
    pub(crate) fn primitive(name: &str) -> Option<Ty> {
        match name {
            "usize" => Some(Ty::Usize),
            "isize" => Some(Ty::Isize),
            _ => name.parse::<Type>().ok().filter(|ty| !matches!(ty, Type::Ptr(_))).map(Ty::Scalar),
        }
    }
}

/// What a type variable may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Any,
    /// An integer literal's type: `i32` unless something else decides.
    Int,
    /// A float literal's type: `f64` unless something else decides.
    Float,
}

/// The type and length variables of one body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Infer {
    types: Vec<(Kind, Option<Ty>)>,
    consts: Vec<Option<Const>>,
}

impl Infer {
    pub(crate) fn fresh(&mut self, kind: Kind) -> Ty {
        self.types.push((kind, None));
        Ty::Var(self.types.len() - 1)
    }

    pub(crate) fn fresh_const(&mut self) -> Const {
        self.consts.push(None);
        Const::Var(self.consts.len() - 1)
    }

    /// The type with every known variable at its top replaced; what is inside may still hold variables.
    pub(crate) fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(index) = ty {
            match &self.types[*index].1 {
                Some(next) => ty = next,
                None => break,
            }
        }
        ty.clone()
    }

    pub(crate) fn resolve_const(&self, mut value: Const) -> Const {
        while let Const::Var(index) = value {
            match self.consts[index] {
                Some(next) => value = next,
                None => break,
            }
        }
        value
    }

    /// The type with every known variable replaced, all the way down.
    pub(crate) fn resolve(&self, ty: &Ty) -> Ty {
        self.rebuilt(ty, false)
    }

    pub(crate) fn resolve_arg(&self, arg: &Arg) -> Arg {
        self.rebuilt_arg(arg, false)
    }

    /// The type for use outside this body, whose variables mean nothing there: what is not known (and was reported) goes with
    /// everything.
    pub(crate) fn exported(&self, ty: &Ty) -> Ty {
        self.rebuilt(ty, true)
    }

    /// Whether all of a type is known.
    pub(crate) fn is_known(&self, ty: &Ty) -> bool {
        self.resolve(ty) == self.exported(ty)
    }

    /// The innermost struct or enum in a type whose generics are not all known.
    pub(crate) fn of_unknown_generics(&self, ty: &Ty) -> Option<AdtId> {
        match self.shallow(ty) {
            Ty::Tuple(fields) => fields.iter().find_map(|field| self.of_unknown_generics(field)),
            Ty::Array(element, _)
            | Ty::Slice(element)
            | Ty::Global(element)
            | Ty::Constant(element)
            | Ty::Texture(element)
            | Ty::Matrix(element)
            | Ty::MatrixBatch(element)
            | Ty::Accumulator(element, ..)
            | Ty::Rows(element, _) => self.of_unknown_generics(&element),
            Ty::Adt(id, args) => {
                let types = args.iter().filter_map(|arg| if let Arg::Ty(ty) = arg { Some(ty) } else { None });
                let inner = types.into_iter().find_map(|ty| self.of_unknown_generics(ty));
                let is_unknown = args.iter().any(|arg| self.rebuilt_arg(arg, false) != self.rebuilt_arg(arg, true));
                inner.or_else(|| is_unknown.then_some(id))
            }
            _ => None,
        }
    }

    /// `is_exported`: without variables.
    fn rebuilt(&self, ty: &Ty, is_exported: bool) -> Ty {
        let of = |ty: &Ty| Box::new(self.rebuilt(ty, is_exported));
        match self.shallow(ty) {
            Ty::Var(_) if is_exported => Ty::Never,
            Ty::Tuple(fields) => Ty::Tuple(fields.iter().map(|field| self.rebuilt(field, is_exported)).collect()),
            Ty::Array(element, len) => match self.resolve_const(len) {
                Const::Var(_) if is_exported => Ty::Never,
                len => Ty::Array(of(&element), len),
            },
            Ty::Slice(element) => Ty::Slice(of(&element)),
            Ty::Global(element) => Ty::Global(of(&element)),
            Ty::Constant(element) => Ty::Constant(of(&element)),
            Ty::Texture(texel) => Ty::Texture(of(&texel)),
            Ty::Matrix(element) => Ty::Matrix(of(&element)),
            Ty::MatrixBatch(element) => Ty::MatrixBatch(of(&element)),
            Ty::Accumulator(element, rows, columns) => match [rows, columns].map(|side| self.resolve_const(side)) {
                [Const::Var(_), _] | [_, Const::Var(_)] if is_exported => Ty::Never,
                [rows, columns] => Ty::Accumulator(of(&element), rows, columns),
            },
            Ty::Rows(element, rows) => match self.resolve_const(rows) {
                Const::Var(_) if is_exported => Ty::Never,
                rows => Ty::Rows(of(&element), rows),
            },
            Ty::Adt(id, args) => Ty::Adt(id, args.iter().map(|arg| self.rebuilt_arg(arg, is_exported)).collect()),
            other => other,
        }
    }

    fn rebuilt_arg(&self, arg: &Arg, is_exported: bool) -> Arg {
        match arg {
            Arg::Ty(ty) => Arg::Ty(self.rebuilt(ty, is_exported)),
            Arg::Const(value, ty) => {
                let value = match self.resolve_const(*value) {
                    Const::Var(_) if is_exported => Const::Value(0),
                    value => value,
                };
                Arg::Const(value, Box::new(self.rebuilt(ty, is_exported)))
            }
        }
    }

    /// The kind of a variable that is not known yet.
    pub(crate) fn kind(&self, ty: &Ty) -> Option<Kind> {
        match ty {
            Ty::Var(index) => Some(self.types[*index].0),
            _ => None,
        }
    }

    pub(crate) fn unify_consts(&mut self, a: Const, b: Const) -> bool {
        match (self.resolve_const(a), self.resolve_const(b)) {
            (Const::Value(a), Const::Value(b)) => a == b,
            (Const::Var(a), b) => {
                if b != Const::Var(a) {
                    self.consts[a] = Some(b);
                }
                true
            }
            (a, Const::Var(b)) => {
                self.consts[b] = Some(a);
                true
            }
        }
    }

    /// What is left of a budget of `left` types when this one is written out.
    pub(crate) fn weigh(&self, ty: &Ty, left: usize) -> usize {
        let Some(left) = left.checked_sub(1) else { return 0 };
        match self.shallow(ty) {
            Ty::Tuple(fields) => fields.iter().fold(left, |left, field| self.weigh(field, left)),
            Ty::Array(inner, _) => self.weigh(&inner, left),
            Ty::Adt(_, args) => args.iter().fold(left, |left, arg| match arg {
                Arg::Ty(ty) => self.weigh(ty, left),
                Arg::Const(..) => left,
            }),
            _ => left,
        }
    }

    /// Whether a variable stands somewhere in a type: a type that held itself would have no end.
    fn occurs(&self, index: usize, ty: &Ty) -> bool {
        let in_arg = |arg: &Arg| matches!(arg, Arg::Ty(ty) if self.occurs(index, ty));
        match self.shallow(ty) {
            Ty::Var(other) => other == index,
            Ty::Tuple(fields) => fields.iter().any(|field| self.occurs(index, field)),
            Ty::Array(inner, _)
            | Ty::Slice(inner)
            | Ty::Global(inner)
            | Ty::Constant(inner)
            | Ty::Texture(inner)
            | Ty::Matrix(inner)
            | Ty::MatrixBatch(inner) => self.occurs(index, &inner),
            Ty::Accumulator(inner, ..) | Ty::Rows(inner, _) => self.occurs(index, &inner),
            Ty::Adt(_, args) => args.iter().any(in_arg),
            _ => false,
        }
    }

    fn bind(&mut self, index: usize, ty: Ty) -> bool {
        if self.occurs(index, &ty) {
            return false;
        }
        let fits = match (self.types[index].0, &ty) {
            (Kind::Any, _) => true,
            (Kind::Int, ty) => ty.is_int(),
            (Kind::Float, ty) => ty.is_float(),
        };
        if fits {
            self.types[index].1 = Some(ty);
        }
        fits
    }

    /// Makes two types equal; `false` if they cannot be. `!` goes with everything.
    pub(crate) fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (a, b) {
            (Ty::Never, _) | (_, Ty::Never) => true,
            (Ty::Var(a), Ty::Var(b)) => {
                if a == b {
                    return true;
                }
                match (self.types[a].0, self.types[b].0) {
                    (Kind::Any, _) => self.types[a].1 = Some(Ty::Var(b)),
                    (_, Kind::Any) => self.types[b].1 = Some(Ty::Var(a)),
                    (ka, kb) if ka == kb => self.types[a].1 = Some(Ty::Var(b)),
                    _ => return false,
                }
                true
            }
            (Ty::Var(a), b) => self.bind(a, b),
            (a, Ty::Var(b)) => self.bind(b, a),
            (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.unify(a, b)),
            (Ty::Array(a, n), Ty::Array(b, m)) => self.unify_consts(n, m) && self.unify(&a, &b),
            (Ty::Accumulator(a, m, n), Ty::Accumulator(b, o, p)) => {
                self.unify(&a, &b) && self.unify_consts(m, o) && self.unify_consts(n, p)
            }
            (Ty::Rows(a, m), Ty::Rows(b, n)) => self.unify(&a, &b) && self.unify_consts(m, n),
            (Ty::Slice(a), Ty::Slice(b))
            | (Ty::Global(a), Ty::Global(b))
            | (Ty::Constant(a), Ty::Constant(b))
            | (Ty::Texture(a), Ty::Texture(b))
            | (Ty::Matrix(a), Ty::Matrix(b))
            | (Ty::MatrixBatch(a), Ty::MatrixBatch(b)) => self.unify(&a, &b),
            // Dynamic shared memory and fixed arrays both go where `[T]` is asked for.
            (Ty::Array(a, _), Ty::Slice(b)) | (Ty::Slice(a), Ty::Array(b, _)) => self.unify(&a, &b),
            // `&Constant<T>` goes where `&T` is asked for, through its `Deref`.
            (Ty::Constant(a), b) | (b, Ty::Constant(a)) => self.unify(&a, &b),
            (Ty::Adt(a, args), Ty::Adt(b, brgs)) => {
                a == b && args.len() == brgs.len() && args.iter().zip(&brgs).all(|(a, b)| self.unify_args(a, b))
            }
            (a, b) => a == b,
        }
    }

    fn unify_args(&mut self, a: &Arg, b: &Arg) -> bool {
        match (a, b) {
            (Arg::Ty(a), Arg::Ty(b)) => self.unify(a, b),
            (Arg::Const(a, _), Arg::Const(b, _)) => self.unify_consts(*a, *b),
            _ => false,
        }
    }

    /// Gives what is still open its default: `i32`, `f64`. Rust's own rule.
    pub(crate) fn default_literals(&mut self) {
        for (kind, known) in &mut self.types {
            if known.is_none() {
                match kind {
                    Kind::Int => *known = Some(Ty::Scalar(Type::I32)),
                    Kind::Float => *known = Some(Ty::Scalar(Type::F64)),
                    Kind::Any => {}
                }
            }
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Scalar(ty) => write!(f, "{ty}"),
            Ty::Usize => f.write_str("usize"),
            Ty::Isize => f.write_str("isize"),
            Ty::Tuple(fields) => {
                let fields: Vec<_> = fields.iter().map(Ty::to_string).collect();
                write!(f, "({}{})", fields.join(", "), if fields.len() == 1 { "," } else { "" })
            }
            Ty::Array(element, Const::Value(n)) => write!(f, "[{element}; {n}]"),
            Ty::Array(element, Const::Var(_)) => write!(f, "[{element}; _]"),
            Ty::Slice(element) => write!(f, "[{element}]"),
            Ty::Adt(..) => f.write_str("struct"),
            Ty::Global(element) => write!(f, "Global<{element}>"),
            Ty::Constant(element) => write!(f, "Constant<{element}>"),
            Ty::Texture(texel) => write!(f, "Texture2d<{texel}>"),
            Ty::Matrix(element) => write!(f, "Matrix<{element}>"),
            Ty::MatrixBatch(element) => write!(f, "MatrixBatch<{element}>"),
            Ty::Accumulator(element, rows, columns) => {
                let side = |side: &Const| if let Const::Value(n) = side { n.to_string() } else { "_".to_owned() };
                write!(f, "Accumulator<{element}, {}, {}>", side(rows), side(columns))
            }
            Ty::Rows(element, Const::Value(n)) => write!(f, "Rows<{element}, {n}>"),
            Ty::Rows(element, Const::Var(_)) => write!(f, "Rows<{element}, _>"),
            Ty::Dim3 => f.write_str("Dim3"),
            Ty::Never => f.write_str("!"),
            Ty::Var(_) => f.write_str("_"),
        }
    }
}
