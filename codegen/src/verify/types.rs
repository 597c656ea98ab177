//! Types: operands and results of the instructions that own no blocks and are no exits.

use super::Verifier;
use super::structure::list;
use crate::ir::intrinsic::{Call, Class, Intrinsic, OperandType};
use crate::ir::{Axis, BinaryOp, Compute, Message, Op, PrintPart, Scalar, Stage, Type, UnaryOp, Value, eval};

impl Verifier<'_> {
    pub(super) fn check_types(&mut self, op: &Op, results: &[Value]) {
        match op {
            Op::Compute(Compute::Const(scalar)) => self.check_constant(*scalar, results),
            Op::Compute(Compute::Special(special, axis)) => {
                self.require(special.has_axes() || *axis == Axis::X, || format!("`{}` has no axes", special.word()));
                self.check_results(results, &[Type::U32]);
            }
            Op::Compute(Compute::Unary(op, a)) => {
                let classes = if *op == UnaryOp::Not { LOGIC } else { ARITHMETIC };
                self.check_same(classes, &[*a], results);
            }
            Op::Compute(Compute::Binary(op, a, b)) => self.check_binary(*op, *a, *b, results),
            Op::Compute(Compute::MulAdd(a, b, c)) => self.check_same(ARITHMETIC, &[*a, *b, *c], results),
            Op::Compute(Compute::Compare(_, a, b)) => {
                self.check_operands(Class::Scalar, &[*a, *b]);
                self.check_results(results, &[Type::Bool]);
            }
            Op::Compute(Compute::Select(condition, a, b)) => {
                self.check_type(*condition, Type::Bool, "the condition");
                let ty = self.kernel.ty(*a);
                self.check_type(*b, ty, "the second value");
                self.check_results(results, &[ty]);
            }
            Op::Compute(Compute::Cast(a)) => self.check_conversion(*a, results, |from, to| eval::cast(Scalar::new(from, 0), to).is_some()),
            Op::Compute(Compute::Bitcast(a)) => {
                self.check_conversion(*a, results, |from, to| eval::bitcast(Scalar::new(from, 0), to).is_some());
            }
            Op::Intrinsic(row, args) => self.check_intrinsic(row.row(), args, results),
            Op::Message(Message::Print(parts, values)) => self.check_message(parts, values, results),
            Op::Message(Message::Assert(condition, parts, values)) => {
                self.check_type(*condition, Type::Bool, "the condition");
                self.check_message(parts, values, results);
            }
            Op::Compute(Compute::Len(_) | Compute::Address(_) | Compute::PeerAddress(..) | Compute::Offset(..))
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Region(_)
            | Op::Terminator(_) => self.check_memory(op, results),
        }
        let pointers = results.iter().any(|value| matches!(self.kernel.ty(*value), Type::Ptr(_)));
        self.require(!pointers || self.kernel.stage == Stage::Addressed, || "a pointer before addresses are made".to_owned());
    }

    fn check_constant(&mut self, scalar: Scalar, results: &[Value]) {
        self.require(!matches!(scalar.ty, Type::Ptr(_)), || "a constant pointer".to_owned());
        self.require(Scalar::new(scalar.ty, scalar.bits) == scalar, || format!("bits beyond the width of `{}`", scalar.ty));
        self.check_results(results, &[scalar.ty]);
    }

    fn check_binary(&mut self, op: BinaryOp, a: Value, b: Value, results: &[Value]) {
        match op {
            BinaryOp::Shl | BinaryOp::Shr => {
                self.check_same(Class::Int, &[a], results);
                self.check_type(b, Type::U32, "the count");
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => self.check_same(LOGIC, &[a, b], results),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Min | BinaryOp::Max => {
                self.check_same(ARITHMETIC, &[a, b], results);
            }
        }
    }

    /// Operands and the one result are of one type of the class.
    fn check_same(&mut self, class: Class, operands: &[Value], results: &[Value]) {
        let ty = self.check_operands(class, operands);
        self.check_results(results, &[ty]);
    }

    /// Operands are of one type of the class: of the first one's.
    fn check_operands(&mut self, class: Class, operands: &[Value]) -> Type {
        let ty = self.kernel.ty(operands[0]);
        self.require(class.contains(ty) && !matches!(ty, Type::Ptr(_)), || format!("not for `{ty}`"));
        for operand in &operands[1..] {
            self.check_type(*operand, ty, "operand");
        }
        ty
    }

    pub(super) fn check_results(&mut self, results: &[Value], expected: &[Type]) {
        let is_same = results.len() == expected.len() && results.iter().zip(expected).all(|(value, ty)| self.kernel.ty(*value) == *ty);
        let found = if is_same { Vec::new() } else { self.types(results) };
        self.require(is_same, || format!("results: {} expected, found {}", list(expected), list(&found)));
    }

    fn check_conversion(&mut self, a: Value, results: &[Value], is_allowed: impl FnOnce(Type, Type) -> bool) {
        let from = self.kernel.ty(a);
        let [result] = results else { return self.complain("one result expected") };
        let to = self.kernel.ty(*result);
        self.require(is_allowed(from, to), || format!("not from `{from}` to `{to}`"));
    }

    fn check_intrinsic(&mut self, row: &Intrinsic, args: &[Value], results: &[Value]) {
        self.require(row.device().is_some(), || format!("`{}` is made of other instructions and was not expanded", row.name));
        let (found_args, found_results) = (self.types(args), self.types(results));
        let t = type_variable(row, &found_args, &found_results);
        let fits = row.over == Class::None || t.is_some_and(|t| row.over.contains(t));
        self.require(fits, || format!("`{}` is not for {}", row.name, t.map_or("this".to_owned(), |t| format!("`{t}`"))));
        let are_constants = args.iter().all(|arg| self.kernel.constant(*arg).is_some());
        self.require(row.copy_step().is_none() || are_constants, || format!("`{}` takes a constant", row.name));
        let index = self.kernel.index_type();
        for (operands, found, what) in [(row.args, found_args, "arguments"), (row.results, found_results, "results")] {
            let expected: Vec<Type> = operands.iter().map(|operand| type_of(*operand, t, index)).collect();
            self.require(found == expected, || format!("{what}: {} expected, found {}", list(&expected), list(&found)));
        }
    }

    fn check_message(&mut self, parts: &[PrintPart], values: &[Value], results: &[Value]) {
        let arguments = parts.iter().filter(|part| matches!(part, PrintPart::Argument(_))).count();
        self.require(arguments == values.len(), || format!("{arguments} places for {} values", values.len()));
        self.check_results(results, &[]);
    }
}

const ARITHMETIC: Class = Class::Num;

const LOGIC: Class = Class::Only(&[Type::Bool, Type::I8, Type::I16, Type::I32, Type::I64, Type::U8, Type::U16, Type::U32, Type::U64]);

/// What `T` stands for: the type of the first argument; of the result for associated functions.
fn type_variable(row: &Intrinsic, args: &[Type], results: &[Type]) -> Option<Type> {
    let of = |operands: &[OperandType], types: &[Type]| {
        operands.iter().zip(types).find(|(operand, _)| **operand == OperandType::T).map(|(_, ty)| *ty)
    };
    if row.call == Call::Associated {
        of(row.results, results)
    } else {
        of(row.args, args).or_else(|| of(row.results, results)).or(args.first().copied())
    }
}

fn type_of(operand: OperandType, t: Option<Type>, index: Type) -> Type {
    match operand {
        // Where `T` is unknown a complaint has been made.
        OperandType::T => t.unwrap_or(Type::Bool),
        OperandType::UnsignedT => t.unwrap_or(Type::Bool).to_unsigned(),
        OperandType::Is(ty) => ty,
        OperandType::Lane => Type::U32,
        OperandType::Index => index,
    }
}
