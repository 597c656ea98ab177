//! Every row of the table of intrinsics that a device does by itself, over every type it takes, with the results that its
//! evaluator gives.

use super::CHILD;
use super::build::{BLOCK, edges, elementwise, from_bytes, is_same, job};
use warpwright_codegen::intrinsics::rows;
use warpwright_codegen::ir::intrinsic::{Call, Class, Eval, Intrinsic, IntrinsicId, OperandType};
use warpwright_codegen::ir::{Builder, Op, Scalar, Type, Value};
use warpwright_tests::opencl_tools::{Job, Tool, run};

/// Most that a float may be off, in units of the last place: the bounds of OpenCL C 1.2, table 7.4, are at most 16. Results near
/// zero are compared with the size of the arguments instead.
const ULPS: f64 = 20.0;

struct Case {
    row: &'static Intrinsic,
    ty: Type,
    inputs: Vec<Vec<Scalar>>,
    result: Type,
    job: Job,
}

fn operand_type(sort: OperandType, ty: Type) -> Type {
    match sort {
        OperandType::T => ty,
        OperandType::UnsignedT => ty.to_unsigned(),
        OperandType::Is(ty) => ty,
        _ => Type::U32,
    }
}

/// What the row may be asked for: finite and of a moderate size for floats.
fn arguments(ty: Type) -> Vec<Scalar> {
    if !ty.is_float() {
        return edges(ty);
    }
    [-9.5, -2.5, -1.0, -0.75, -0.5, -0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.0, 10.0, 100.25].map(|v| Scalar::float(ty, v)).to_vec()
}

fn case(row: &'static Intrinsic, ty: Type) -> Case {
    let types: Vec<Type> = row.args.iter().map(|sort| operand_type(*sort, ty)).collect();
    let sets: Vec<Vec<Scalar>> = types.iter().map(|ty| arguments(*ty)).collect();
    // All pairs of the first two arguments; the third goes along.
    let n = sets[0].len() * sets.get(1).map_or(1, Vec::len);
    let stride = |k: usize| if k == 0 { 1 } else { sets[0].len() };
    let inputs: Vec<Vec<Scalar>> =
        sets.iter().enumerate().map(|(k, set)| (0..n).map(|i| set[(i / stride(k) + k / 2 * i) % set.len()]).collect()).collect();
    let result = operand_type(row.results[0], ty);
    let name = format!("{}_{ty}", row.name);
    let kernel =
        elementwise(&name, &types, |b: &mut Builder<'_>, args: &[Value]| vec![b.intrinsic(IntrinsicId(row), args.to_vec(), result)]);
    let mut contents = inputs.clone();
    contents.push(vec![Scalar { ty: result, bits: 0 }; n]);
    let job = job(&kernel, BLOCK, n, &contents);
    Case { row, ty, inputs, result, job }
}

fn is_near(expected: Scalar, got: Scalar) -> bool {
    let (a, b) = (expected.as_f64(), got.as_f64());
    let epsilon = if expected.ty == Type::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    is_same(expected, got) || a == b || (a - b).abs() <= ULPS * epsilon * a.abs().max(1e-3)
}

#[test]
fn pure_intrinsics_give_what_their_rows_say() {
    let mut cases = Vec::new();
    for row in rows().filter(|row| row.device().is_some_and(|d| !d.opencl.is_empty()) && row.effects.is_pure() && !row.args.is_empty()) {
        // Narrow floats are computed as `f32` long before.
        let types = Type::SCALARS.iter().map(|(ty, _)| *ty).filter(|ty| row.over.contains(*ty) && !matches!(ty, Type::F16 | Type::BF16));
        match row.over {
            Class::None => cases.push(case(row, Type::U32)),
            _ => cases.extend(types.map(|ty| case(row, ty))),
        }
    }
    assert!(cases.len() > 50, "the table has many rows: {}", cases.len());
    let jobs: Vec<Job> = cases.iter().map(|c| c.job.clone()).collect();
    let mut wrong = Vec::new();
    for tool in Tool::ALL {
        let Some(outcomes) = run("pure_intrinsics_give_what_their_rows_say", CHILD, tool, &jobs) else { continue };
        for (case, outcome) in cases.iter().zip(&outcomes) {
            if !outcome.all_complaints().is_empty() {
                wrong.push(format!("{} on {}: {}\n{}", case.job.name, tool.name(), outcome.all_complaints(), case.job.text));
                continue;
            }
            check(case, tool, &outcome.buffers, &mut wrong);
        }
    }
    let n = wrong.len();
    wrong.truncate(60);
    assert!(wrong.is_empty(), "{n} wrong:\n{}", wrong.join("\n"));
}

fn check(case: &Case, tool: Tool, buffers: &[Vec<u8>], wrong: &mut Vec<String>) {
    let Some(Eval::Lane(eval)) = case.row.device().map(|d| d.eval) else { return };
    // The hardware's approximations may be anything within their own bounds.
    let approximate = case.row.name.starts_with("native_");
    let receiver = if case.row.call == Call::Associated { case.result } else { case.ty };
    for (i, got) in from_bytes(case.result, &buffers[case.inputs.len()]).into_iter().enumerate() {
        let args: Vec<Scalar> = case.inputs.iter().map(|input| input[i]).collect();
        let bits: Vec<u64> = args.iter().map(|a| a.bits).collect();
        let expected = Scalar { ty: case.result, bits: eval(receiver, &bits) };
        let good = if case.result.is_float() { approximate || is_near(expected, got) } else { expected == got };
        if !good {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            wrong.push(format!("{} on {} of {}: {expected} expected, {got} found", case.job.name, tool.name(), args.join(", ")));
        }
    }
}

/// Each cell for OpenCL C is in the text of a kernel that calls the row, with the functions that it calls. Rows to which threads come together are
/// run in `warps`.
#[test]
fn every_cell_is_printed() {
    let mut wrong = Vec::new();
    for row in rows().filter(|row| !row.effects.is_convergent() && row.call != Call::Pass) {
        let Some(device) = row.device() else { continue };
        let mut types = Type::SCALARS.iter().map(|(ty, _)| *ty).filter(|ty| row.over.contains(*ty));
        let ty = types.next().unwrap_or(Type::U32);
        let args: Vec<Type> = row.args.iter().map(|sort| operand_type(*sort, ty)).chain([Type::U32]).collect();
        let results: Vec<Type> = row.results.iter().map(|sort| operand_type(*sort, ty)).collect();
        let kernel = elementwise(row.name, &args, |b: &mut Builder<'_>, args: &[Value]| {
            let (other, args) = args.split_last().expect("one of its own");
            let inst = b.push(Op::Intrinsic(IntrinsicId(row), args.to_vec()), &results);
            b.kernel.insts[inst].results.iter().copied().chain([*other]).collect()
        });
        let contents = vec![Vec::new(); kernel.params.len()];
        let text = job(&kernel, BLOCK, 0, &contents).text;
        let pieces = device.opencl.split('}').map(|piece| piece.split('{').next().unwrap_or_default().trim());
        let function = device.opencl_prelude.split('(').next().unwrap_or_default().replace("inline ", "");
        let lacks: Vec<&str> = pieces.chain([function.as_str()]).filter(|piece| !text.contains(*piece)).collect();
        if !lacks.is_empty() {
            wrong.push(format!("`{}`: {lacks:?} is not in\n{text}", row.name));
        }
    }
    let n = wrong.len();
    wrong.truncate(10);
    assert!(wrong.is_empty(), "{n} wrong:\n{}", wrong.join("\n"));
}
