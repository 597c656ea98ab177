//! What a definition of an intrinsic says: the columns of a row. The rows themselves are [`crate::intrinsics`], which calls this module's constructors.
//!
//! A row says how the source calls it, over which types, what it gives, what it does to other threads, and either how it is made
//! of core instructions ([`Body::Expand`]) or how each device spells it ([`Body::Device`]): PTX, OpenCL C, and the evaluator that the
//! simulator and constant folding use. An instruction ([`Op::Intrinsic`](super::Op::Intrinsic)) refers to its row, so the IR asks no table.

use super::{Builder, Effects, Kernel, MemoryOrder, Scalar, Type, Value};
use crate::target::{Requirement, Target};
pub use meeting::{Absent, Exchange, Gives, Meeting};
use std::fmt;
use std::hash::{Hash, Hasher};

mod meeting;

/// How the source names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `name(a, b)`.
    Function,
    /// `a.name(b)`; also `T::name(a, b)`.
    Method,
    /// The source cannot: passes place it. In texts it looks like a function.
    Pass,
    /// `name(&mut array, buffer, …)`: no row of the table but an operation of the IR ([`Collective`](super::Collective)); here it has its name.
    Collective,
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
    /// Every scalar that has an order, `bool` too: not the floats of 8 bits.
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
            Class::Scalar => !ty.is_float8(),
            Class::Only(types) => types.contains(&ty),
            Class::None => false,
        }
    }
}

/// The type of an argument or result, relative to `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandType {
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
    /// The instructions. `{d}` is the result, `{0}` `{1}` … the arguments, always registers; `{#0}` is one
    /// that is a constant, as a number; `{barrier}` is the barrier of the block's threads; `{tmp0:f32}` is a scratch register of a PTX type, the same one wherever `tmp0` stands; `{{` and `}}` are
    /// braces. One instruction a line.
    pub text: &'static str,
    /// What it needs of the target.
    pub needs: Requirement,
}

/// How the simulator and the folder compute it.
#[derive(Clone, Copy)]
pub enum Eval {
    /// Lane by lane: the type `T`, the arguments' bits as in [`Scalar`]; gives the result's bits.
    Lane(fn(Type, &[u64]) -> u64),
    /// For a whole warp at once: `T`, the arguments of each lane, the mask of active lanes; gives the results (inactive lanes: anything).
    Warp(fn(Type, &[[u64; 32]], u32) -> [u64; 32]),
    /// A shuffle: each lane gets the first argument of another lane, whose number is made of its own and its second argument modulo 32. It
    /// is undefined where that lane takes no part.
    Shuffle(fn(lane: usize, operand: usize) -> usize),
    /// A barrier. Its argument, if it has one, is a `bool`; the result is made from the count of true ones and of threads.
    Barrier(fn(count: u32, threads: u32) -> u64),
    /// A fence: nothing to compute.
    Fence(MemoryOrder),
    /// What a thread does about its copies that are on their way.
    Copies(CopyStep),
}

/// What a thread does about its stores to rings ([`Kernel::rings`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep {
    /// Those since the last commit are a group.
    Commit,
    /// Waits until all groups have arrived but for so many, its argument, that were committed last.
    Await,
}

/// A row that devices have an instruction or function for. One result at most.
#[derive(Clone, Copy)]
pub struct DeviceForm {
    /// Spellings in PTX, first match wins. Empty: PTX is given the function of the row's name of the library ([`crate::library`]).
    pub ptx: &'static [PtxForm],
    /// Expression in OpenCL C with `{0}` `{1}` …, `{T}` for the type's name. Statements for rows without result. Empty where an [`Exchange::Count`] serves
    /// every device.
    pub opencl: &'static str,
    /// Functions that `opencl` calls, to be printed once before the kernel; empty for most.
    pub opencl_prelude: &'static str,
    /// Its meaning.
    pub eval: Eval,
}

impl DeviceForm {
    /// The first spelling in PTX for the type `T`, if there is one, that a target has.
    pub fn ptx_on(&self, target: &Target, ty: Option<Type>) -> Option<&'static PtxForm> {
        let forms: &'static [PtxForm] = self.ptx;
        forms.iter().find(|form| form.is_for(ty) && form.needs.is_met_by(target))
    }
}

impl PtxForm {
    /// Whether it is for the type `T`, if there is one.
    pub fn is_for(&self, ty: Option<Type>) -> bool {
        self.types.is_empty() || ty.is_some_and(|ty| self.types.contains(&ty))
    }
}

/// How it is made.
#[derive(Clone, Copy)]
pub enum Body {
    /// Of core instructions and other rows, when the kernel is lowered: the same on every device. Arguments in, results out.
    Expand(fn(&mut Builder<'_>, &[Value]) -> Vec<Value>),
    /// By the device.
    Device(DeviceForm),
}

/// A function of the library that computes two rows' results of one argument for little more than one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// The other row's name.
    pub with: &'static str,
    /// The function's name.
    pub function: &'static str,
    /// Which of the function's two results is this row's.
    pub result: usize,
}

/// What a row gives while constants are computed.
#[derive(Clone, Copy)]
pub enum ConstantForm {
    /// Of whole numbers without wrapping: whether the result fits its type is asked afterwards. `None` where it has no value.
    Exact(fn(&[i128]) -> Option<i128>),
    /// Of scalars of a type.
    OfScalars(fn(&[Scalar]) -> Option<Scalar>),
}

/// An intrinsic.
pub struct Intrinsic {
    /// The name in the source and in the IR's text form. Unique together with `call` and each type of `over`.
    pub name: &'static str,
    /// How the source names it.
    pub call: Call,
    /// What `T` may be.
    pub over: Class,
    /// Arguments, the receiver included.
    pub args: &'static [OperandType],
    /// Results: none, one, or a tuple.
    pub results: &'static [OperandType],
    /// What else it does.
    pub effects: Effects,
    /// What threads give each other, for rows of devices to which they come together.
    pub meeting: Option<Meeting>,
    /// The row that `math = fast` uses in its place, for `f32`.
    pub fast: Option<&'static str>,
    /// Issue slots relative to a 32-bit add, for estimates: 1 for full rate, 4 for a special-function unit. Of rows of devices: others cost what
    /// they are made of.
    pub cost: u16,
    /// The module that the source imports it from; empty where `warpwright::prelude` has it.
    pub module: &'static str,
    /// Whether Rust has it from `Ord`: then an integer whose type is still open takes that of the arguments.
    pub is_of_ord: bool,
    /// Whether estimates count no instructions that scale subnormal arguments of the special-function unit.
    pub takes_subnormals: bool,
    /// The function of the library that computes it together with another row.
    pub together: Option<Together>,
    /// What it gives in constants, where its body does not say it.
    pub constant: Option<ConstantForm>,
    /// How it is made.
    pub body: Body,
    /// Error bound and where it is from; empty where the result is exact or correctly rounded.
    pub accuracy: &'static str,
    /// What it computes, one line.
    pub doc: &'static str,
}

impl Intrinsic {
    /// A row of cost 1 without effects, meeting, fast form, error bound: the constructor that the families' tables use.
    pub(crate) const fn new(
        name: &'static str,
        call: Call,
        over: Class,
        args: &'static [OperandType],
        results: &'static [OperandType],
        body: Body,
    ) -> Intrinsic {
        Intrinsic {
            name,
            call,
            over,
            args,
            results,
            effects: Effects::PURE,
            meeting: None,
            fast: None,
            cost: 1,
            module: "",
            is_of_ord: false,
            takes_subnormals: false,
            together: None,
            constant: None,
            body,
            accuracy: "",
            doc: "",
        }
    }

    /// A method that expands.
    pub(crate) const fn method(
        name: &'static str,
        over: Class,
        args: &'static [OperandType],
        results: &'static [OperandType],
        expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>,
    ) -> Intrinsic {
        Intrinsic::new(name, Call::Method, over, args, results, Body::Expand(expand))
    }

    pub(crate) const fn effects(mut self, effects: Effects) -> Intrinsic {
        self.effects = effects;
        self
    }

    pub(crate) const fn meeting(mut self, meeting: Meeting) -> Intrinsic {
        self.meeting = Some(meeting);
        self
    }

    pub(crate) const fn fast(mut self, name: &'static str) -> Intrinsic {
        self.fast = Some(name);
        self
    }

    pub(crate) const fn cost(mut self, cost: u16) -> Intrinsic {
        self.cost = cost;
        self
    }

    pub(crate) const fn of_module(mut self, module: &'static str) -> Intrinsic {
        self.module = module;
        self
    }

    pub(crate) const fn of_ord(mut self) -> Intrinsic {
        self.is_of_ord = true;
        self
    }

    pub(crate) const fn takes_subnormals(mut self) -> Intrinsic {
        self.takes_subnormals = true;
        self
    }

    pub(crate) const fn together(mut self, with: &'static str, function: &'static str, result: usize) -> Intrinsic {
        self.together = Some(Together { with, function, result });
        self
    }

    pub(crate) const fn exact(mut self, of: fn(&[i128]) -> Option<i128>) -> Intrinsic {
        self.constant = Some(ConstantForm::Exact(of));
        self
    }

    pub(crate) const fn of_constants(mut self, of: fn(&[Scalar]) -> Option<Scalar>) -> Intrinsic {
        self.constant = Some(ConstantForm::OfScalars(of));
        self
    }

    pub(crate) const fn accuracy(mut self, accuracy: &'static str) -> Intrinsic {
        self.accuracy = accuracy;
        self
    }

    pub(crate) const fn doc(mut self, doc: &'static str) -> Intrinsic {
        self.doc = doc;
        self
    }

    /// The types that arguments and results have where `T` is `ty`.
    pub fn operand_type(operand: OperandType, ty: Type, kernel: &Kernel) -> Type {
        match operand {
            OperandType::T => ty,
            OperandType::UnsignedT => ty.to_unsigned(),
            OperandType::Is(fixed) => fixed,
            OperandType::Lane => Type::U32,
            OperandType::Index => kernel.index_type(),
        }
    }

    /// Whether PTX is given a function of the library ([`crate::library`]).
    pub fn is_of_the_library(&self) -> bool {
        self.device().is_some_and(|device| device.ptx.is_empty())
    }

    /// What it does about copies that are on their way, if it is of these.
    pub fn copy_step(&self) -> Option<CopyStep> {
        match self.device()?.eval {
            Eval::Copies(step) => Some(step),
            Eval::Lane(_) | Eval::Warp(_) | Eval::Shuffle(_) | Eval::Barrier(_) | Eval::Fence(_) => None,
        }
    }

    /// How devices do it, unless it expands.
    pub fn device(&self) -> Option<&DeviceForm> {
        match &self.body {
            Body::Device(device) => Some(device),
            Body::Expand(_) => None,
        }
    }
}

/// A row of the table, by reference. Equal if the names and calls are.
#[derive(Clone, Copy)]
pub struct IntrinsicId(pub &'static Intrinsic);

impl IntrinsicId {
    /// What a row that works lane by lane gives for these arguments; `ty` is the result's type.
    pub fn of_scalars(self, args: &[Scalar], ty: Type) -> Option<Scalar> {
        let row = self.row();
        let Eval::Lane(lane) = row.device().filter(|_| row.effects.is_pure())?.eval else { return None };
        let over = args.first().filter(|_| row.call != Call::Associated).map_or(ty, |first| first.ty);
        let bits: Vec<u64> = args.iter().map(|scalar| scalar.bits).collect();
        Some(Scalar::new(ty, lane(over, &bits)))
    }

    /// The row.
    pub fn row(self) -> &'static Intrinsic {
        self.0
    }
}

impl PartialEq for IntrinsicId {
    fn eq(&self, other: &IntrinsicId) -> bool {
        self.0.name == other.0.name && self.0.call == other.0.call
    }
}

impl Eq for IntrinsicId {}

impl Hash for IntrinsicId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for IntrinsicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}
