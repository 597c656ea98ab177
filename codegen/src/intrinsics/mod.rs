//! The table of intrinsics: one row each, and everything the compiler knows about it stands in the row.
//!
//! A row says how the source calls it, over which types, what it gives, what it does to other threads, and either how it is made
//! of core instructions (`Body::Expand`) or how each device spells it (`Body::Device`): PTX, OpenCL C, and the evaluator that the
//! simulator and constant folding use. Adding an intrinsic is adding a row in the file of its family, and a filetest.

use crate::ir::{Builder, Effects, Kernel, Op, Scalar, Type, Value};
use crate::syntax::Math;
pub use meeting::{Absent, Exchange, Gives, Meeting};
use std::fmt;
use std::hash::{Hash, Hasher};

mod bits;
mod block;
mod fast;
mod float;
mod integer;
mod meeting;
mod native;
#[cfg(test)]
mod tests;
mod transcendental;
mod warp;

/// How the source names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `name(a, b)`.
    Function,
    /// `a.name(b)`; also `T::name(a, b)`.
    Method,
    /// `T::name(a)` only, T being the type of the result (`f32::from_bits`).
    Associated,
}

/// The types that a row's type variable `T` may be. `T` is the type of the first argument (or, for `Call::Associated`, of the result).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `f16 bf16 f32 f64`.
    Float,
    /// All integers.
    Int,
    /// `i8 … i64`.
    Signed,
    /// `u8 … u64`.
    Unsigned,
    /// Integers and floats.
    Num,
    /// Every scalar, `bool` too.
    Scalar,
    /// Exactly these.
    Only(&'static [Type]),
    /// There is no `T`.
    None,
}

impl Class {
    /// Whether `T` may be `ty`.
    pub fn contains(self, ty: Type) -> bool {
        match self {
            Class::Float => ty.is_float(),
            Class::Int => ty.is_int(),
            Class::Signed => ty.is_signed_int(),
            Class::Unsigned => ty.is_unsigned_int(),
            Class::Num => ty.is_int() || ty.is_float(),
            Class::Scalar => true,
            Class::Only(types) => types.contains(&ty),
            Class::None => false,
        }
    }
}

/// The type of an argument or result, relative to `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// `T`.
    T,
    /// The unsigned integer as wide as `T` (`to_bits`, `unsigned_abs`).
    UnsignedT,
    /// This type.
    Is(Type),
    /// `usize`.
    Index,
    /// A lane or a distance between lanes: any integer in the source, a `u32` (wrapped) in the IR.
    Lane,
}

/// One spelling in PTX for some types.
#[derive(Clone, Copy, Debug)]
pub struct PtxForm {
    /// The types `T` it is for; empty: any (rows without `T`, too).
    pub types: &'static [Type],
    /// The instructions. `{d}` is the result, `{0}` `{1}` … the arguments, always registers; `{tmp0:f32}` is a scratch register of a
    /// PTX type, the same one wherever `tmp0` stands; `{{` and `}}` are braces. One instruction a line.
    pub text: &'static str,
    /// Lowest compute capability, as 10·major + minor.
    pub capability: u16,
    /// Lowest PTX version, as 10·major + minor.
    pub version: u16,
}

/// How the simulator and the folder compute it.
#[derive(Clone, Copy)]
pub enum Eval {
    /// Lane by lane: the type `T`, the arguments' bits as in [`crate::ir::Scalar`]; gives the result's bits.
    Lane(fn(Type, &[u64]) -> u64),
    /// For a whole warp at once: `T`, the arguments of each lane, the mask of active lanes; gives the results (inactive lanes: anything).
    Warp(fn(Type, &[[u64; 32]], u32) -> [u64; 32]),
    /// A shuffle: each lane gets the first argument of another lane, whose number is made of its own and its second argument modulo 32. It
    /// is undefined where that lane takes no part.
    Shuffle(fn(lane: usize, operand: usize) -> usize),
    /// A barrier. Its argument, if it has one, is a `bool`; the result is made from the count of true ones and of threads.
    Barrier(fn(count: u32, threads: u32) -> u64),
    /// Nothing to compute (fences).
    Nothing,
}

/// A row that devices have an instruction or function for. One result at most.
#[derive(Clone, Copy)]
pub struct Device {
    /// Spellings in PTX, first match wins. Empty: PTX is given the function of the row's name of the library ([`crate::math`]).
    pub ptx: &'static [PtxForm],
    /// Expression in OpenCL C with `{0}` `{1}` …, `{T}` for the type's name. Statements for rows without result. Empty where an [`Exchange::Count`] serves
    /// every device.
    pub opencl: &'static str,
    /// Functions that `opencl` calls, to be printed once before the kernel; empty for most.
    pub opencl_prelude: &'static str,
    /// Its meaning.
    pub eval: Eval,
}

/// How it is made.
#[derive(Clone, Copy)]
pub enum Body {
    /// Of core instructions and other rows, when the kernel is lowered: the same on every device. Arguments in, results out.
    Expand(fn(&mut Builder<'_>, &[Value]) -> Vec<Value>),
    /// By the device.
    Device(Device),
}

/// An intrinsic.
pub struct Row {
    /// The name in the source and in the IR's text form. Unique together with `call` and each type of `over`.
    pub name: &'static str,
    /// How the source names it.
    pub call: Call,
    /// What `T` may be.
    pub over: Class,
    /// Arguments, the receiver included.
    pub args: &'static [Sort],
    /// Results: none, one, or a tuple.
    pub results: &'static [Sort],
    /// What else it does.
    pub effects: Effects,
    /// What threads give each other, for rows of devices to which they come together.
    pub meeting: Option<Meeting>,
    /// The row that `math = fast` uses in its place, for `f32`.
    pub fast: Option<&'static str>,
    /// Issue slots relative to a 32-bit add, for estimates: 1 for full rate, 4 for a special-function unit.
    pub cost: u16,
    /// How it is made.
    pub body: Body,
    /// Error bound and where it is from; empty where the result is exact or correctly rounded.
    pub accuracy: &'static str,
    /// What it computes, one line.
    pub doc: &'static str,
}

impl Row {
    /// A row of cost 1 without effects, meeting, fast form, error bound: the constructor that the families' tables use.
    const fn new(name: &'static str, call: Call, over: Class, args: &'static [Sort], results: &'static [Sort], body: Body) -> Row {
        Row { name, call, over, args, results, effects: Effects::PURE, meeting: None, fast: None, cost: 1, body, accuracy: "", doc: "" }
    }

    /// A method that expands.
    const fn method(
        name: &'static str,
        over: Class,
        args: &'static [Sort],
        results: &'static [Sort],
        expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>,
    ) -> Row {
        Row::new(name, Call::Method, over, args, results, Body::Expand(expand))
    }

    const fn effects(mut self, effects: Effects) -> Row {
        self.effects = effects;
        self
    }

    const fn meeting(mut self, meeting: Meeting) -> Row {
        self.meeting = Some(meeting);
        self
    }

    const fn fast(mut self, name: &'static str) -> Row {
        self.fast = Some(name);
        self
    }

    const fn cost(mut self, cost: u16) -> Row {
        self.cost = cost;
        self
    }

    const fn accuracy(mut self, accuracy: &'static str) -> Row {
        self.accuracy = accuracy;
        self
    }

    const fn doc(mut self, doc: &'static str) -> Row {
        self.doc = doc;
        self
    }

    /// The types that arguments and results have where `T` is `ty`.
    pub fn sort(sort: Sort, ty: Type, kernel: &Kernel) -> Type {
        match sort {
            Sort::T => ty,
            Sort::UnsignedT => ty.to_unsigned(),
            Sort::Is(fixed) => fixed,
            Sort::Lane => Type::U32,
            Sort::Index => kernel.index_type(),
        }
    }

    /// Whether PTX is given a function of the library ([`crate::math`]).
    pub fn is_of_the_library(&self) -> bool {
        self.device().is_some_and(|device| device.ptx.is_empty())
    }

    /// How devices do it, unless it expands.
    pub fn device(&self) -> Option<&Device> {
        match &self.body {
            Body::Device(device) => Some(device),
            Body::Expand(_) => None,
        }
    }
}

/// A row of the table, by reference. Equal if the names and calls are.
#[derive(Clone, Copy)]
pub struct RowId(pub &'static Row);

impl RowId {
    /// What a row that works lane by lane gives for these arguments; `ty` is the result's type.
    pub fn of_scalars(self, args: &[Scalar], ty: Type) -> Option<Scalar> {
        let row = self.row();
        let Eval::Lane(lane) = row.device().filter(|_| row.effects.is_pure())?.eval else { return None };
        let over = args.first().filter(|_| row.call != Call::Associated).map_or(ty, |first| first.ty);
        let bits: Vec<u64> = args.iter().map(|scalar| scalar.bits).collect();
        Some(Scalar::new(ty, lane(over, &bits)))
    }

    /// The row.
    pub fn row(self) -> &'static Row {
        self.0
    }
}

impl PartialEq for RowId {
    fn eq(&self, other: &RowId) -> bool {
        self.0.name == other.0.name && self.0.call == other.0.call
    }
}

impl Eq for RowId {}

impl Hash for RowId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Every row, family by family.
pub const FAMILIES: &[&[Row]] =
    &[float::ROWS, transcendental::ROWS, native::ROWS, fast::ROWS, integer::ROWS, bits::ROWS, warp::ROWS, block::ROWS];

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The function (`Call::Function`) of this name: the first row of it, whatever its `T` ([`function_for`] takes the types apart).
pub fn function(name: &str) -> Option<RowId> {
    rows().find(|row| row.call == Call::Function && row.name == name).map(RowId)
}

/// The function of this name whose `T` may be `ty`: where types differ in how they are made, there is a row for each group.
pub fn function_for(name: &str, ty: Type) -> Option<RowId> {
    rows().find(|row| row.call == Call::Function && row.name == name && (row.over == Class::None || row.over.contains(ty))).map(RowId)
}

/// The method of this name whose receiver may be `ty`.
pub fn method(name: &str, ty: Type) -> Option<RowId> {
    rows().find(|row| row.call == Call::Method && row.name == name && row.over.contains(ty)).map(RowId)
}

/// `T::name`: an associated function whose `T` may be `ty`, or a method called by its path.
pub fn associated(name: &str, ty: Type) -> Option<RowId> {
    rows().find(|row| row.call != Call::Function && row.name == name && row.over.contains(ty)).map(RowId)
}

/// Appends a call of `row` for `T` = `ty`: expanded, or as an instruction; with the row's fast form where the kernel asks for fast
/// mathematics and there is one. Where a name has several rows, that for `ty` is taken, whichever of them `row` is. Gives the results.
pub fn emit(b: &mut Builder<'_>, row: RowId, ty: Type, args: &[Value]) -> Vec<Value> {
    let row = row_for(row, ty);
    let is_fast = b.kernel.options.math == Math::Fast && ty == Type::F32;
    let row = row.0.fast.filter(|_| is_fast).and_then(function_for_f32).unwrap_or(row).row();
    match row.body {
        Body::Expand(expand) => expand(b, args),
        Body::Device(_) => {
            let types: Vec<_> = row.results.iter().map(|sort| Row::sort(*sort, ty, b.kernel)).collect();
            let inst = b.push(Op::Intrinsic(RowId(row), args.to_vec()), &types);
            b.kernel.insts[inst].results.clone()
        }
    }
}

/// The row of the same name and call whose `T` may be `ty`.
fn row_for(row: RowId, ty: Type) -> RowId {
    let fits = |other: &&Row| other.name == row.0.name && other.call == row.0.call && other.over.contains(ty);
    if row.0.over == Class::None || row.0.over.contains(ty) { row } else { rows().find(fits).map_or(row, RowId) }
}

fn function_for_f32(name: &str) -> Option<RowId> {
    rows().find(|row| row.call == Call::Function && row.name == name && row.over.contains(Type::F32)).map(RowId)
}

/// [`emit`] of the row of this name and call for the type of the first argument; what expansions call each other with.
/// Invariant: there is such a row with one result (the tests expand every row for every type).
fn call(b: &mut Builder<'_>, call: Call, name: &str, args: &[Value]) -> Value {
    let ty = b.kernel.ty(args[0]);
    let row = rows().find(|row| row.call == call && row.name == name && (row.over == Class::None || row.over.contains(ty)));
    let row = row.unwrap_or_else(|| unreachable!("an expansion calls `{name}` for `{ty}`, which has no row"));
    emit(b, RowId(row), ty, args)[0]
}

/// The method of this name: see [`call`].
fn call_method(b: &mut Builder<'_>, name: &str, args: &[Value]) -> Value {
    call(b, Call::Method, name, args)
}

/// The function of this name: see [`call`].
fn call_function(b: &mut Builder<'_>, name: &str, args: &[Value]) -> Value {
    call(b, Call::Function, name, args)
}

/// The row of this name that a device does itself, for `T` = `ty`: the text form names rows so.
pub fn by_name(name: &str, ty: Option<Type>) -> Option<RowId> {
    let fits =
        |row: &&Row| row.name == name && row.device().is_some() && (row.over == Class::None || ty.is_none_or(|ty| row.over.contains(ty)));
    rows().find(fits).map(RowId)
}
