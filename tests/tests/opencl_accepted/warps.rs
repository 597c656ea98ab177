//! Warp intrinsics and voting barriers through the exchange array, against their rows' evaluators: whole and partial warps, blocks
//! that the kernel fixes and blocks that it does not.

use super::CHILD;
use super::build::{at, buffer, edges, empty, from_bytes, global_id, is_same, job};
use warpwright_codegen::intrinsics::rows;
use warpwright_codegen::ir::intrinsic::{Eval, Intrinsic, IntrinsicId, OperandType};
use warpwright_codegen::ir::{Builder, Kernel, MemoryType, Op, Scalar, Terminator, Type, Value};
use warpwright_tests::opencl_tools::{Job, Tool, run};

const BLOCKS: usize = 2;

/// `y[i] = row(x[i], n[i])`, all threads together.
fn kernel(row: &'static Intrinsic, ty: Type, block: u32, is_fixed: bool) -> Kernel {
    let mut kernel = empty(&format!("{}_{ty}_{block}_{is_fixed}", row.name), is_fixed.then_some(block));
    let argument = if row.args.first() == Some(&OperandType::T) { ty } else { Type::Bool };
    let result = match row.results[0] {
        OperandType::Is(ty) => ty,
        _ => ty,
    };
    let x = buffer(&mut kernel, "x", MemoryType::Scalar(argument), false);
    let n = buffer(&mut kernel, "n", MemoryType::Scalar(Type::U32), false);
    let y = buffer(&mut kernel, "y", MemoryType::Scalar(result), true);
    let body = kernel.body;
    let mut b = Builder::new(&mut kernel, body, warpwright_codegen::ir::Loc(0));
    let i = global_id(&mut b);
    let value = b.push1(Op::load(at(x, i)), argument);
    let lane = b.push1(Op::load(at(n, i)), Type::U32);
    let args: Vec<Value> = [value, lane].into_iter().take(row.args.len()).collect();
    let given = b.intrinsic(IntrinsicId(row), args, result);
    b.push(Op::store(at(y, i), vec![given]), &[]);
    b.push(Op::Terminator(Terminator::Return), &[]);
    kernel
}

struct Case {
    row: &'static Intrinsic,
    ty: Type,
    block: usize,
    inputs: [Vec<Scalar>; 2],
    result: Type,
    job: Job,
}

fn case(row: &'static Intrinsic, ty: Type, block: usize, is_fixed: bool) -> Case {
    let kernel = kernel(row, ty, block as u32, is_fixed);
    let threads = BLOCKS * block;
    let argument = if row.args.first() == Some(&OperandType::T) { ty } else { Type::Bool };
    let some = edges(argument);
    let values: Vec<Scalar> = (0..threads).map(|i| some[i * i / 3 % some.len()]).collect();
    // Lanes and distances beyond 32 too, but no lane that a partial warp does not have: what that gives is undefined.
    let is_there = |i: usize, operand: usize| {
        let (lane, present) = (i % block % 32, (block - i % block / 32 * 32).min(32));
        !matches!(row.device().map(|d| d.eval), Some(Eval::Shuffle(source)) if source(lane, operand % 32) >= present)
    };
    let operand = |i: usize| (0..37).map(|k| (i * 7 + k) % 37).find(|operand| is_there(i, *operand)).unwrap_or(0);
    let lanes: Vec<Scalar> = (0..threads).map(|i| Scalar::u32(operand(i) as u32)).collect();
    let result = match row.results[0] {
        OperandType::Is(ty) => ty,
        _ => ty,
    };
    let zeros = vec![Scalar { ty: result, bits: 0 }; threads];
    let job = job(&kernel, block as u32, threads, &[values.clone(), lanes.clone(), zeros]);
    Case { row, ty, block, inputs: [values, lanes], result, job }
}

/// What each thread of a block gets.
fn expected(case: &Case, first: usize) -> Vec<u64> {
    let bits = |k: usize, i: usize| case.inputs[k][first + i].bits;
    match case.row.device().map(|d| d.eval) {
        Some(Eval::Warp(eval)) => (0..case.block)
            .step_by(32)
            .flat_map(|warp| {
                let lanes = (case.block - warp).min(32);
                let mut args = [[0u64; 32]; 2];
                for (k, of_argument) in args.iter_mut().enumerate() {
                    of_argument.iter_mut().enumerate().take(lanes).for_each(|(lane, slot)| *slot = bits(k, warp + lane));
                }
                let mask = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
                eval(case.ty, &args[..case.row.args.len()], mask).into_iter().take(lanes).collect::<Vec<_>>()
            })
            .collect(),
        Some(Eval::Shuffle(source)) => (0..case.block).map(|i| bits(0, i / 32 * 32 + source(i % 32, bits(1, i) as usize % 32))).collect(),
        Some(Eval::Barrier(eval)) => {
            let count = (0..case.block).filter(|i| bits(0, *i) != 0).count();
            vec![eval(count as u32, case.block as u32); case.block]
        }
        _ => panic!("`{}` exchanges nothing", case.row.name),
    }
}

#[test]
fn exchanges_give_what_their_rows_say() {
    let exchanges = rows().filter(|row| row.device().is_some() && !row.results.is_empty() && row.effects.is_convergent());
    let mut cases = Vec::new();
    for row in exchanges {
        let types: Vec<Type> = Type::SCALARS.iter().map(|(ty, _)| *ty).filter(|ty| row.over.contains(*ty)).collect();
        for ty in if types.is_empty() { vec![Type::Bool] } else { types } {
            cases.extend([(64, true), (40, true), (96, false)].map(|(block, is_fixed)| case(row, ty, block, is_fixed)));
        }
    }
    assert!(cases.len() > 30, "the table has many rows: {}", cases.len());
    let jobs: Vec<Job> = cases.iter().map(|c| c.job.clone()).collect();
    for tool in Tool::ALL {
        let Some(outcomes) = run("exchanges_give_what_their_rows_say", CHILD, tool, &jobs) else { continue };
        for (case, outcome) in cases.iter().zip(&outcomes) {
            let complaints = outcome.all_complaints();
            assert!(complaints.is_empty(), "{} on {}: {complaints}\n{}", case.job.name, tool.name(), case.job.text);
            let got = from_bytes(case.result, &outcome.buffers[2]);
            let expected: Vec<u64> = (0..BLOCKS).flat_map(|block| expected(case, block * case.block)).collect();
            for (i, (got, bits)) in got.iter().zip(&expected).enumerate() {
                let expected = Scalar { ty: case.result, bits: *bits };
                assert!(
                    is_same(expected, *got),
                    "{} on {}: thread {i} got {got}, not {expected}\n{}",
                    case.job.name,
                    tool.name(),
                    case.job.text
                );
            }
        }
    }
}
