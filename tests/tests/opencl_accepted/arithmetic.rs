//! Every operation on every type, and every cast, on edge values.

use super::CHILD;
use super::build::{BLOCK, edges, elementwise, from_bytes, is_same, job};
use warpwright_codegen::ir::{BinaryOp, Builder, CompareOp, Compute, Op, Scalar, Type, UnaryOp, Value, eval};
use warpwright_tests::opencl_tools::{Job, Tool, run};

/// An operation, as an instruction and as its meaning.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// By a constant second operand.
    ByConstant(BinaryOp, Scalar),
    Compare(CompareOp),
    MulAdd,
    Select,
    Cast(Type),
    Bitcast(Type),
}

impl Operation {
    fn build(self, b: &mut Builder<'_>, args: &[Value]) -> Value {
        match self {
            Operation::Unary(op) => b.unary(op, args[0]),
            Operation::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr)) => {
                let count = b.cast(args[1], Type::U32);
                b.binary(op, args[0], count)
            }
            Operation::Binary(op) => b.binary(op, args[0], args[1]),
            Operation::ByConstant(op, constant) => {
                let constant = b.constant(constant);
                b.binary(op, args[0], constant)
            }
            Operation::Compare(op) => b.compare(op, args[0], args[1]),
            Operation::MulAdd => b.mul_add(args[0], args[1], args[0]),
            Operation::Select => {
                let condition = b.compare(CompareOp::Lt, args[0], args[1]);
                b.select(condition, args[0], args[1])
            }
            Operation::Cast(ty) => b.push1(Op::Compute(Compute::Cast(args[0])), ty),
            Operation::Bitcast(ty) => b.push1(Op::Compute(Compute::Bitcast(args[0])), ty),
        }
    }

    fn eval(self, args: &[Scalar]) -> Option<Scalar> {
        match self {
            Operation::Unary(op) => eval::unary(op, args[0]),
            Operation::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr)) => eval::binary(op, args[0], eval::cast(args[1], Type::U32)?),
            Operation::Binary(op) => eval::binary(op, args[0], args[1]),
            Operation::ByConstant(op, constant) => eval::binary(op, args[0], constant),
            Operation::Compare(op) => eval::compare(op, args[0], args[1]),
            Operation::MulAdd => eval::mul_add(args[0], args[1], args[0]),
            Operation::Select => eval::select(eval::compare(CompareOp::Lt, args[0], args[1])?, args[0], args[1]),
            Operation::Cast(ty) => eval::cast(args[0], ty),
            Operation::Bitcast(ty) => eval::bitcast(args[0], ty),
        }
    }

    /// Zeros of either sign are one where the language does not say which: `min` and `max`.
    fn accepts(self, expected: Scalar, got: Scalar) -> bool {
        let is_zero = |s: Scalar| s.ty.is_float() && s.as_f64() == 0.0;
        let open = matches!(self, Operation::Binary(BinaryOp::Min | BinaryOp::Max));
        is_same(expected, got) || (open && is_zero(expected) && is_zero(got))
    }
}

fn operations(ty: Type) -> Vec<Operation> {
    let probe = [Scalar::new(ty, 1), Scalar::new(ty, 1)];
    let mut all: Vec<Operation> = UnaryOp::ALL.iter().map(|(op, _)| Operation::Unary(*op)).collect();
    all.extend(BinaryOp::ALL.iter().map(|(op, _)| Operation::Binary(*op)));
    all.extend(CompareOp::ALL.iter().map(|(op, _)| Operation::Compare(*op)));
    all.extend([Operation::MulAdd, Operation::Select]);
    if ty.is_int() {
        for value in [-1, 3, -3, 1 << (ty.bits() - 1)] {
            let constant = Scalar::int(ty, value);
            all.extend(
                [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem].map(|op| Operation::ByConstant(op, constant)),
            );
        }
        let count = Scalar::u32(ty.bits() + 3);
        all.extend([BinaryOp::Shl, BinaryOp::Shr].map(|op| Operation::ByConstant(op, count)));
    }
    all.into_iter().filter(|op| op.eval(&probe).is_some()).collect()
}

/// All pairs of edge values; a zero divisor would be undefined, so second operands of integers are never zero.
fn pairs(ty: Type) -> (Vec<Scalar>, Vec<Scalar>) {
    let edges = edges(ty);
    let all = edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b)));
    all.filter(|(_, b)| !ty.is_int() || b.bits != 0).unzip()
}

/// A kernel of these operations over these operands: its job, and what it must give.
struct Case {
    job: Job,
    operations: Vec<Operation>,
    inputs: Vec<Vec<Scalar>>,
    results: Vec<Type>,
}

fn case(name: &str, operations: Vec<Operation>, inputs: Vec<Vec<Scalar>>) -> Case {
    let types: Vec<Type> = inputs.iter().map(|i| i[0].ty).collect();
    let mut results = Vec::new();
    let kernel = elementwise(name, &types, |b, args| {
        let values: Vec<Value> = operations.iter().map(|op| op.build(b, args)).collect();
        results.extend(values.iter().map(|v| b.kernel.ty(*v)));
        values
    });
    let n = inputs[0].len();
    let mut contents = inputs.clone();
    contents.extend(results.iter().map(|ty| vec![Scalar { ty: *ty, bits: 0 }; n]));
    Case { job: job(&kernel, BLOCK, n, &contents), operations, inputs, results }
}

impl Case {
    fn check(&self, tool: Tool, buffers: &[Vec<u8>], wrong: &mut Vec<String>) {
        for (k, operation) in self.operations.iter().enumerate() {
            let got = from_bytes(self.results[k], &buffers[self.inputs.len() + k]);
            for (i, got) in got.iter().enumerate() {
                let args: Vec<Scalar> = self.inputs.iter().map(|input| input[i]).collect();
                let Some(expected) = operation.eval(&args) else { continue };
                if !operation.accepts(expected, *got) {
                    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
                    wrong.push(format!(
                        "{} on {}: {operation:?} of {}: {expected} expected, {got} found",
                        self.job.name,
                        tool.name(),
                        args.join(", ")
                    ));
                }
            }
        }
    }
}

fn check_all(test: &str, cases: &[Case]) {
    let jobs: Vec<Job> = cases.iter().map(|c| c.job.clone()).collect();
    let mut wrong = Vec::new();
    for tool in Tool::ALL {
        let Some(outcomes) = run(test, CHILD, tool, &jobs) else { continue };
        for (case, outcome) in cases.iter().zip(&outcomes) {
            if outcome.all_complaints().is_empty() {
                case.check(tool, &outcome.buffers, &mut wrong);
            } else {
                wrong.push(format!("{} on {}: {}\n{}", case.job.name, tool.name(), outcome.all_complaints(), case.job.text));
            }
        }
    }
    let n = wrong.len();
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{n} wrong:\n{}", wrong.join("\n"));
}

#[test]
fn arithmetic_is_that_of_rust() {
    let mut cases = Vec::new();
    for (ty, name) in Type::SCALARS {
        let (a, b) = pairs(ty);
        // Kernels may have few arguments on small devices.
        for (n, operations) in operations(ty).chunks(24).enumerate() {
            cases.push(case(&format!("arithmetic_{name}_{n}"), operations.to_vec(), vec![a.clone(), b.clone()]));
        }
    }
    check_all("arithmetic_is_that_of_rust", &cases);
}

#[test]
fn casts_are_those_of_rust() {
    let mut cases = Vec::new();
    for (from, name) in Type::SCALARS {
        let probe = Scalar::new(from, 1);
        let targets = Type::SCALARS.iter().map(|(ty, _)| *ty);
        let all = targets.clone().map(Operation::Cast).chain(targets.map(Operation::Bitcast)).filter(|op| op.eval(&[probe]).is_some());
        cases.push(case(&format!("casts_from_{name}"), all.collect(), vec![edges(from)]));
    }
    check_all("casts_are_those_of_rust", &cases);
}
