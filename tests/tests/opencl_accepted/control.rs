//! Control flow: random structured programs, compared with an interpreter that follows the IR's law to the letter.
//!
//! The programs carry values round nested loops, break and continue several levels, yield through conditions, and read and write an
//! array of the thread in between: whatever the printer may inline, share or reorder wrongly shows in the results. The seeds are
//! fixed; `WARPWRIGHT_PROGRAMS` asks for more of them.

use super::build::{at, buffer, edges, empty, from_bytes, global_id, job};
use super::{CHILD, programs};
use std::collections::BTreeMap;
use warpwright_codegen::ir::{
    Access, Address, Axis, BinaryOp, Block, Builder, CompareOp, Compute, Inst, Kernel, Loc, Memory, MemoryOp, MemoryType, Object,
    ObjectData, ObjectKind, Op, Region, Scalar, Special, Step, Terminator, Type, Value, eval,
};
use warpwright_codegen::verify;
use warpwright_tests::opencl_tools::{Job, Tool, run};

const THREADS: usize = 32;
const OUTPUTS: u32 = 4;
const CELLS: i128 = 8;

/// Numbers from a seed (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// A statement that can be left.
#[derive(Clone, Copy)]
struct Target {
    inst: Inst,
    results: usize,
    carried: usize,
    /// The next value of the counter that ends a loop, its first carried value.
    counter: Option<Value>,
    is_loop: bool,
}

struct Generator<'a> {
    numbers: Numbers,
    b: Builder<'a>,
    cells: Object,
    targets: Vec<Target>,
}

impl Generator<'_> {
    fn ints(n: usize) -> Vec<Type> {
        vec![Type::I32; n]
    }

    fn value(&mut self, values: &[Value]) -> Value {
        self.numbers.pick(values)
    }

    fn some(&mut self, values: &[Value], n: usize) -> Vec<Value> {
        (0..n).map(|_| self.value(values)).collect()
    }

    fn name(&mut self, value: Value) {
        if self.numbers.below(3) == 0 {
            let name = self.numbers.pick(&["acc", "i", "sum", "int"]);
            self.b.name(value, name);
        }
    }

    /// A place in the thread's array.
    fn cell(&mut self, values: &[Value]) -> Access {
        let value = self.value(values);
        let mask = self.b.int(Type::I32, CELLS - 1);
        let index = self.b.binary(BinaryOp::And, value, mask);
        let index = self.b.bitcast(index, Type::U32);
        Access { object: self.cells, path: vec![Step::Index(index)] }
    }

    fn statements(&mut self, depth: u32, values: &mut Vec<Value>) {
        for _ in 0..=self.numbers.below(4) {
            match self.numbers.below(if depth == 0 { 5 } else { 10 }) {
                0..=2 => self.arithmetic(values),
                3 => {
                    let access = self.cell(values);
                    let loaded = self.b.push1(Op::load(access), Type::I32);
                    self.name(loaded);
                    values.push(loaded);
                }
                4 => {
                    let stored = self.value(values);
                    let access = self.cell(values);
                    self.b.push(Op::store(access, vec![stored]), &[]);
                }
                5 | 6 => self.condition(depth - 1, values),
                7 => self.counted(depth - 1, values),
                8 => self.endless(depth - 1, values),
                _ => self.region(depth - 1, values),
            }
        }
    }

    fn arithmetic(&mut self, values: &mut Vec<Value>) {
        let op = self.numbers.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Xor, BinaryOp::Max, BinaryOp::And]);
        let (x, y) = (self.value(values), self.value(values));
        let result = self.b.binary(op, x, y);
        self.name(result);
        values.push(result);
    }

    fn test(&mut self, values: &[Value]) -> Value {
        let op = self.numbers.pick(&[CompareOp::Lt, CompareOp::Eq, CompareOp::Ge, CompareOp::Ne]);
        let (x, y) = (self.value(values), self.value(values));
        self.b.compare(op, x, y)
    }

    /// Fills `block`: statements, then `end`, or an exit to some statement around it.
    fn fill(&mut self, block: Block, depth: u32, outer: &[Value], may_exit: bool, end: impl FnOnce(&mut Self, &[Value]) -> Op) {
        let back = std::mem::replace(&mut self.b.block, block);
        let mut values = outer.to_vec();
        self.statements(depth, &mut values);
        let op = if may_exit && !self.targets.is_empty() && self.numbers.below(3) == 0 {
            let target = self.numbers.below(self.targets.len() as u64) as usize;
            self.exit(self.targets[target], &values)
        } else {
            end(self, &values)
        };
        self.b.push(op, &[]);
        self.b.block = back;
    }

    fn exit(&mut self, target: Target, values: &[Value]) -> Op {
        if target.is_loop && self.numbers.below(2) == 0 {
            return Op::Terminator(Terminator::Continue(target.inst, self.next(target, values)));
        }
        Op::Terminator(Terminator::Break(target.inst, self.some(values, target.results)))
    }

    fn next(&mut self, target: Target, values: &[Value]) -> Vec<Value> {
        let mut next = self.some(values, target.carried);
        if let Some(counter) = target.counter {
            next[0] = counter;
        }
        next
    }

    fn condition(&mut self, depth: u32, values: &mut Vec<Value>) {
        let condition = self.test(values);
        let n = self.numbers.below(3) as usize;
        let (then_block, else_block) = (self.b.kernel.new_block(&[]), self.b.kernel.new_block(&[]));
        let short = self.numbers.below(3) == 0;
        self.fill(then_block, depth, values, true, |g, values| Op::Terminator(Terminator::Yield(g.some(values, n))));
        if short {
            let yields = self.some(values, n);
            let back = std::mem::replace(&mut self.b.block, else_block);
            self.b.push(Op::Terminator(Terminator::Yield(yields)), &[]);
            self.b.block = back;
        } else {
            self.fill(else_block, depth, values, true, |g, values| Op::Terminator(Terminator::Yield(g.some(values, n))));
        }
        let inst = self.b.push(Op::Region(Region::If { condition, then_block, else_block }), &Self::ints(n));
        self.results(inst, values);
    }

    fn results(&mut self, inst: Inst, values: &mut Vec<Value>) {
        for result in self.b.kernel.insts[inst].results.clone() {
            self.name(result);
            values.push(result);
        }
    }

    fn counted(&mut self, depth: u32, values: &mut Vec<Value>) {
        let n = self.numbers.below(3) as usize;
        let start = self.b.int(Type::I32, 0);
        let (bound, mask) = (self.value(values), self.b.int(Type::I32, 3));
        let end = self.b.binary(BinaryOp::And, bound, mask);
        let step = 1 + self.numbers.below(2) as i128;
        let step = self.b.int(Type::I32, step);
        let init = self.some(values, n);
        let body = self.b.kernel.new_block(&Self::ints(n + 1));
        let inst = self.b.push(Op::Region(Region::For { start, end, step, init, body, keep_rolled: false }), &Self::ints(n));
        let mut inner = values.clone();
        inner.extend(self.b.kernel.blocks[body].params.clone());
        let target = Target { inst, results: n, carried: n, counter: None, is_loop: true };
        self.targets.push(target);
        self.fill(body, depth, &inner, false, |g, values| Op::Terminator(Terminator::Yield(g.next(target, values))));
        self.targets.pop();
        self.results(inst, values);
    }

    fn endless(&mut self, depth: u32, values: &mut Vec<Value>) {
        let (n, results) = (1 + self.numbers.below(3) as usize, self.numbers.below(3) as usize);
        let mut init = self.some(values, n);
        init[0] = self.b.int(Type::I32, 0);
        let body = self.b.kernel.new_block(&Self::ints(n));
        let inst = self.b.push(Op::Region(Region::Loop { init, body, keep_rolled: false }), &Self::ints(results));
        let mut inner = values.clone();
        inner.extend(self.b.kernel.blocks[body].params.clone());
        let back = std::mem::replace(&mut self.b.block, body);
        // Three rounds, then out.
        let (counter, limit, one) = (self.b.kernel.blocks[body].params[0], self.b.int(Type::I32, 3), self.b.int(Type::I32, 1));
        let condition = self.b.compare(CompareOp::Ge, counter, limit);
        let (then_block, else_block) = (self.b.kernel.new_block(&[]), self.b.kernel.new_block(&[]));
        self.b.push(Op::Region(Region::If { condition, then_block, else_block }), &[]);
        self.b.block = then_block;
        let given = self.some(&inner, results);
        self.b.push(Op::Terminator(Terminator::Break(inst, given)), &[]);
        self.b.block = else_block;
        self.b.push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
        self.b.block = body;
        let next = self.b.binary(BinaryOp::Add, counter, one);
        self.b.block = back;
        let target = Target { inst, results, carried: n, counter: Some(next), is_loop: true };
        self.targets.push(target);
        self.fill(body, depth, &inner, false, |g, values| Op::Terminator(Terminator::Yield(g.next(target, values))));
        self.targets.pop();
        self.results(inst, values);
    }

    fn region(&mut self, depth: u32, values: &mut Vec<Value>) {
        let n = self.numbers.below(3) as usize;
        let body = self.b.kernel.new_block(&[]);
        let inst = self.b.push(Op::Region(Region::Block { body }), &Self::ints(n));
        self.targets.push(Target { inst, results: n, carried: 0, counter: None, is_loop: false });
        self.fill(body, depth, values, false, |g, values| Op::Terminator(Terminator::Yield(g.some(values, n))));
        self.targets.pop();
        self.results(inst, values);
    }
}

fn program(seed: u64) -> Kernel {
    let mut kernel = empty(&format!("program_{seed}"), Some(THREADS as u32));
    let x = buffer(&mut kernel, "x", MemoryType::Scalar(Type::I32), false);
    let y = buffer(&mut kernel, "y", MemoryType::Scalar(Type::I32), true);
    let ty = MemoryType::Array(Box::new(MemoryType::Scalar(Type::I32)), CELLS as u64);
    let cells = kernel.objects.push(ObjectData { name: "cells".into(), kind: ObjectKind::Local, ty, loc: Loc(0) });
    let body = kernel.body;
    let mut b = Builder::new(&mut kernel, body, Loc(0));
    let i = global_id(&mut b);
    let mut values = vec![b.push1(Op::load(at(x, i)), Type::I32), b.bitcast(i, Type::I32), b.int(Type::I32, 2)];
    for cell in 0..CELLS {
        let index = b.int(Type::U32, cell);
        b.push(Op::store(at(cells, index), vec![values[cell as usize % 2]]), &[]);
    }
    let mut generator = Generator { numbers: Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), b, cells, targets: Vec::new() };
    generator.statements(4, &mut values);
    generator.statements(3, &mut values);
    let mut b = generator.b;
    let last = values.len();
    let width = b.int(Type::U32, OUTPUTS.into());
    let base = b.binary(BinaryOp::Mul, i, width);
    for n in 0..OUTPUTS {
        let offset = b.int(Type::U32, n.into());
        let index = b.binary(BinaryOp::Add, base, offset);
        b.push(Op::store(at(y, index), vec![values[last - 1 - n as usize % last]]), &[]);
    }
    b.push(Op::Terminator(Terminator::Return), &[]);
    kernel
}

/// How a block ended.
enum Flow {
    Yield(Vec<Scalar>),
    Break(Inst, Vec<Scalar>),
    Continue(Inst, Vec<Scalar>),
    Return,
}

/// One thread, instruction by instruction.
struct Interpreter<'k> {
    kernel: &'k Kernel,
    thread: u32,
    values: Vec<Option<Scalar>>,
    memory: BTreeMap<Object, Vec<Scalar>>,
}

impl Interpreter<'_> {
    fn get(&self, value: Value) -> Scalar {
        self.values[value.0 as usize].expect("defined before it is used")
    }

    fn all(&self, values: &[Value]) -> Vec<Scalar> {
        values.iter().map(|v| self.get(*v)).collect()
    }

    fn set(&mut self, to: &[Value], from: &[Scalar]) {
        for (value, scalar) in to.iter().zip(from) {
            self.values[value.0 as usize] = Some(*scalar);
        }
    }

    fn block(&mut self, block: Block) -> Flow {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            if let Some(flow) = self.inst(*inst) {
                return flow;
            }
        }
        panic!("a block without an end")
    }

    fn inst(&mut self, inst: Inst) -> Option<Flow> {
        let kernel = self.kernel;
        let results = &kernel.insts[inst].results;
        match &kernel.insts[inst].op {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                let block = if self.get(*condition).is_true() { *then_block } else { *else_block };
                match self.block(block) {
                    Flow::Yield(values) => self.set(results, &values),
                    flow => return Some(flow),
                }
            }
            Op::Region(Region::Block { body }) => match self.block(*body) {
                Flow::Yield(values) => self.set(results, &values),
                Flow::Break(target, values) if target == inst => self.set(results, &values),
                flow => return Some(flow),
            },
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let range = (self.get(*start).as_int()..self.get(*end).as_int()).step_by(self.get(*step).as_int() as usize);
                let mut carried = self.all(init);
                for counter in range {
                    let mut params = vec![Scalar::int(kernel.ty(*start), counter)];
                    params.extend(&carried);
                    self.set(&kernel.blocks[*body].params, &params);
                    match self.block(*body) {
                        Flow::Yield(values) => carried = values,
                        Flow::Continue(target, values) if target == inst => carried = values,
                        Flow::Break(target, values) if target == inst => {
                            carried = values;
                            break;
                        }
                        flow => return Some(flow),
                    }
                }
                self.set(results, &carried);
            }
            Op::Region(Region::Loop { init, body, .. }) => {
                let mut carried = self.all(init);
                loop {
                    self.set(&kernel.blocks[*body].params, &carried);
                    match self.block(*body) {
                        Flow::Yield(values) => carried = values,
                        Flow::Continue(target, values) if target == inst => carried = values,
                        Flow::Break(target, values) if target == inst => {
                            self.set(results, &values);
                            break;
                        }
                        flow => return Some(flow),
                    }
                }
            }
            Op::Terminator(Terminator::Yield(values)) => return Some(Flow::Yield(self.all(values))),
            Op::Terminator(Terminator::Break(target, values)) => return Some(Flow::Break(*target, self.all(values))),
            Op::Terminator(Terminator::Continue(target, values)) => return Some(Flow::Continue(*target, self.all(values))),
            Op::Terminator(Terminator::Return) => return Some(Flow::Return),
            Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) => {
                let (index, value) = (self.index(access), self.get(values[0]));
                self.memory.get_mut(&access.object).expect("every object has memory")[index] = value;
            }
            op => {
                let value = self.compute(op, kernel.ty(results[0]));
                self.set(results, &[value]);
            }
        }
        None
    }

    fn index(&self, access: &Access) -> usize {
        self.get(access.indices().next().expect("one index")).bits as usize
    }

    fn compute(&self, op: &Op, ty: Type) -> Scalar {
        match op {
            Op::Compute(Compute::Const(scalar)) => *scalar,
            Op::Compute(Compute::Special(Special::ThreadIdx, Axis::X)) => Scalar::u32(self.thread),
            Op::Compute(Compute::Special(Special::BlockDim, _)) => Scalar::u32(THREADS as u32),
            Op::Compute(Compute::Special(..)) => Scalar::u32(0),
            Op::Compute(Compute::Binary(op, a, b)) => eval::binary(*op, self.get(*a), self.get(*b)).expect("has a value"),
            Op::Compute(Compute::Compare(op, a, b)) => eval::compare(*op, self.get(*a), self.get(*b)).expect("has a value"),
            Op::Compute(Compute::Bitcast(a)) => eval::bitcast(self.get(*a), ty).expect("has a value"),
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => self.memory[&access.object][self.index(access)],
            other => panic!("not generated: {other:?}"),
        }
    }
}

/// What the program writes.
fn interpret(kernel: &Kernel, inputs: &[Scalar]) -> Vec<Scalar> {
    let zero = Scalar::int(Type::I32, 0);
    let mut output = vec![zero; THREADS * OUTPUTS as usize];
    for thread in 0..THREADS as u32 {
        let memory = [(Object(0), inputs.to_vec()), (Object(1), output), (Object(2), vec![zero; CELLS as usize])];
        let mut interpreter = Interpreter { kernel, thread, values: vec![None; kernel.values.len()], memory: memory.into_iter().collect() };
        interpreter.block(kernel.body);
        output = interpreter.memory.remove(&Object(1)).expect("the output is there");
    }
    output
}

#[test]
fn random_programs_do_what_the_ir_says() {
    let edges = edges(Type::I32);
    let inputs: Vec<Scalar> = (0..THREADS).map(|n| edges[n % edges.len()]).collect();
    let kernels: Vec<Kernel> = (1..=programs(24)).map(program).collect();
    for kernel in &kernels {
        let violations = verify::verify(kernel);
        assert!(violations.is_ok(), "{violations:?}\n{kernel:#}");
    }
    let zeros = vec![Scalar::int(Type::I32, 0); THREADS * OUTPUTS as usize];
    let jobs: Vec<Job> = kernels.iter().map(|k| job(k, THREADS as u32, THREADS, &[inputs.clone(), zeros.clone()])).collect();
    for tool in Tool::ALL {
        let Some(outcomes) = run("random_programs_do_what_the_ir_says", CHILD, tool, &jobs) else { continue };
        for ((kernel, job), outcome) in kernels.iter().zip(&jobs).zip(&outcomes) {
            // Compilers warn about `v == v` and `2 ^ 2`, of which the passes leave none: the warnings do not count here.
            assert!(outcome.complaints.is_empty(), "{} on {}: {}\n{}", job.name, tool.name(), outcome.complaints, job.text);
            let (expected, got) = (interpret(kernel, &inputs), from_bytes(Type::I32, &outcome.buffers[1]));
            let differs = expected.iter().zip(&got).position(|(a, b)| a != b);
            assert!(
                differs.is_none(),
                "{} on {}, output {differs:?}: {expected:?}\n{got:?}\n{}\n{kernel}",
                job.name,
                tool.name(),
                job.text
            );
        }
    }
}
