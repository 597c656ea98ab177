//! Random structured kernels, against an interpreter that runs one thread at a time and knows neither masks nor slots.

use super::*;
use std::fmt::Write;
use warpwright_codegen::ir::{
    Address, Block, Compute, Inst, Memory, MemoryOp, Op, Region, Scalar, Special, Step, Terminator, Type, Value, ValueDef, eval,
};

/// Writes a kernel's text.
struct Generator {
    state: u64,
    text: String,
    depth: usize,
    next_value: u32,
    next_inst: u32,
    /// Values in scope, all `u32`.
    scope: Vec<u32>,
    /// Constructs around that a break may leave, innermost last.
    targets: Vec<Target>,
}

#[derive(Clone)]
struct Target {
    inst: u32,
    results: usize,
    /// What `continue` must give: the values that must come first, and how many more.
    carried: Option<(Vec<u32>, usize)>,
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % n
    }

    fn value(&mut self) -> u32 {
        self.next_value += 1;
        self.next_value
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(self.depth));
    }

    fn any(&mut self) -> u32 {
        // Prefer recent values, but reach back for old ones.
        let n = self.scope.len();
        let back = if self.below(2) == 0 { self.below(n) } else { self.below(n.min(5)) };
        self.scope[n - 1 - back]
    }

    fn list(&mut self, first: &[u32], more: usize) -> String {
        let mut all: Vec<u32> = first.to_vec();
        (0..more).for_each(|_| all.push(self.any()));
        all.iter().map(|v| format!(" v{v},")).collect::<String>().trim_end_matches(',').to_string()
    }

    fn define(&mut self, what: &str) -> u32 {
        let v = self.value();
        self.line(&format!("v{v}: u32 = {what}"));
        self.scope.push(v);
        v
    }

    fn condition(&mut self) -> u32 {
        let (a, b, bit) = (self.any(), self.any(), [1, 2, 4][self.below(3)]);
        let bit = self.define(&format!("const {bit}"));
        let mixed = self.define(&format!("xor v{a}, v{b}"));
        let masked = self.define(&format!("and v{mixed}, v{bit}"));
        let condition = self.value();
        self.line(&format!("v{condition}: bool = eq v{masked}, v{bit}"));
        condition
    }

    /// Statements and a terminator; `first` is what a `yield` must give first, `more` how many more.
    fn block(&mut self, first: &[u32], more: usize, may_exit: bool) {
        self.depth += 1;
        let in_scope = self.scope.len();
        for _ in 0..self.below(4) {
            self.statement();
        }
        let exit = if may_exit { self.below(4) } else { 0 };
        let number = self.below(self.targets.len().max(1));
        let target = self.targets.get(number).cloned();
        match (exit, target) {
            (1, Some(Target { carried: Some((first, more)), inst, .. })) => {
                let values = self.list(&first, more);
                self.line(&format!("continue i{inst}{values}"));
            }
            (1 | 2, Some(target)) => {
                let values = self.list(&[], target.results);
                self.line(&format!("break i{}{values}", target.inst));
            }
            (3, _) if self.below(6) == 0 => self.line("return"),
            _ => {
                let values = self.list(first, more);
                self.line(&format!("yield{values}"));
            }
        }
        self.scope.truncate(in_scope);
        self.depth -= 1;
    }

    fn results(&mut self, number: usize) -> (Vec<u32>, String) {
        let values: Vec<u32> = (0..number).map(|_| self.value()).collect();
        let text = values.iter().map(|v| format!("v{v}: u32, ")).collect::<String>();
        let text = if number == 0 { String::new() } else { format!("{} = ", text.trim_end_matches(", ")) };
        (values, text)
    }

    fn statement(&mut self) {
        let deep = self.depth > 5;
        match self.below(if deep { 5 } else { 11 }) {
            0..3 => {
                let op = ["add", "sub", "mul", "xor", "min", "shr"][self.below(6)];
                let (a, b) = (self.any(), self.any());
                self.define(&format!("{op} v{a}, v{b}"));
            }
            3 => {
                let value = self.any();
                self.line(&format!("store m0[v0], v{value}"));
            }
            4 => {
                let (c, a, b) = (self.condition(), self.any(), self.any());
                self.define(&format!("select v{c}, v{a}, v{b}"));
            }
            5..8 => self.branch(),
            8 => self.for_loop(),
            9 => self.endless_loop(),
            _ => self.region(),
        }
    }

    fn branch(&mut self) {
        let (condition, number) = (self.condition(), self.below(3));
        let (results, text) = self.results(number);
        self.line(&format!("{text}if v{condition} {{"));
        self.block(&[], number, true);
        self.line("} else {");
        self.block(&[], number, true);
        self.line("}");
        self.scope.extend(results);
    }

    fn for_loop(&mut self) {
        let (bound, number) = (self.any(), self.below(3));
        let seven = self.define("const 7");
        let end = self.define(&format!("and v{bound}, v{seven}"));
        let start = self.define("const 0");
        let (results, text) = self.results(number);
        let init: Vec<u32> = (0..number).map(|_| self.any()).collect();
        let (iv, carried): (u32, Vec<u32>) = (self.value(), (0..number).map(|_| self.value()).collect());
        self.next_inst += 1;
        let inst = self.next_inst;
        let params: Vec<String> = carried.iter().zip(&init).map(|(p, i)| format!("v{p}: u32 = v{i}")).collect();
        let params = if number == 0 { String::new() } else { format!("; {}", params.join(", ")) };
        self.line(&format!("{text}for i{inst} (v{iv}: u32 in v{start}..v{end} step v1{params}) {{"));
        let in_scope = self.scope.len();
        self.scope.push(iv);
        self.scope.extend(carried);
        self.targets.push(Target { inst, results: number, carried: Some((Vec::new(), number)) });
        self.block(&[], number, true);
        self.targets.pop();
        self.scope.truncate(in_scope);
        self.line("}");
        self.scope.extend(results);
    }

    /// With a counter that every way round increases.
    fn endless_loop(&mut self) {
        let (number, carried_number) = (self.below(3), self.below(3));
        let start = self.define("const 0");
        let limit = self.below(6);
        let limit = self.define(&format!("const {limit}"));
        let (results, text) = self.results(number);
        let init: Vec<u32> = (0..carried_number).map(|_| self.any()).collect();
        let (counter, carried): (u32, Vec<u32>) = (self.value(), (0..carried_number).map(|_| self.value()).collect());
        self.next_inst += 1;
        let inst = self.next_inst;
        let params: String = carried.iter().zip(&init).map(|(p, i)| format!(", v{p}: u32 = v{i}")).collect();
        self.line(&format!("{text}loop i{inst} (v{counter}: u32 = v{start}{params}) {{"));
        let in_scope = self.scope.len();
        self.depth += 1;
        self.scope.push(counter);
        self.scope.extend(carried);
        let next = self.define(&format!("add v{counter}, v1"));
        let condition = self.value();
        self.line(&format!("v{condition}: bool = ge v{counter}, v{limit}"));
        self.line(&format!("if v{condition} {{"));
        let values = self.list(&[], number);
        self.line(&format!("  break i{inst}{values}"));
        self.line("}");
        self.depth -= 1;
        self.targets.push(Target { inst, results: number, carried: Some((vec![next], carried_number)) });
        self.block(&[next], carried_number, true);
        self.targets.pop();
        self.scope.truncate(in_scope);
        self.line("}");
        self.scope.extend(results);
    }

    fn region(&mut self) {
        let number = self.below(3);
        let (results, text) = self.results(number);
        self.next_inst += 1;
        let inst = self.next_inst;
        self.line(&format!("{text}region i{inst} {{"));
        self.targets.push(Target { inst, results: number, carried: None });
        self.block(&[], number, true);
        self.targets.pop();
        self.line("}");
        self.scope.extend(results);
    }
}

fn generate(seed: u64) -> String {
    let mut generator = Generator {
        state: seed,
        text: "kernel \"k\" legal\nparam m0 \"y\": global mut [u32]\n{\n  v0: u32 = thread_idx.x\n  v1: u32 = const 1\n".into(),
        depth: 1,
        next_value: 1,
        next_inst: 0,
        scope: vec![0, 1],
        targets: Vec::new(),
    };
    for _ in 0..8 {
        generator.statement();
        let value = generator.any();
        generator.line(&format!("store m0[v0], v{value}"));
    }
    generator.text + "  return\n}\n"
}

/// How a block ends.
enum Flow {
    Yield(Vec<u64>),
    Break(Inst, Vec<u64>),
    Continue(Inst, Vec<u64>),
    Return,
}

/// One thread.
struct Thread<'k> {
    kernel: &'k Kernel,
    number: u64,
    values: Vec<u64>,
    stored: u64,
}

impl Thread<'_> {
    fn get(&self, value: Value) -> u64 {
        self.values[usize::from(value)]
    }

    fn scalar(&self, value: Value) -> Scalar {
        Scalar { ty: self.kernel.ty(value), bits: self.get(value) }
    }

    fn all(&self, values: &[Value]) -> Vec<u64> {
        values.iter().map(|v| self.get(*v)).collect()
    }

    fn set(&mut self, values: &[Value], bits: &[u64]) {
        assert_eq!(values.len(), bits.len());
        values.iter().zip(bits).for_each(|(v, bits)| self.values[usize::from(*v)] = *bits);
    }

    fn block(&mut self, block: Block) -> Flow {
        let kernel = self.kernel;
        for &inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[inst];
            match &data.op {
                Op::Terminator(Terminator::Yield(values)) => return Flow::Yield(self.all(values)),
                Op::Terminator(Terminator::Break(to, values)) => return Flow::Break(*to, self.all(values)),
                Op::Terminator(Terminator::Continue(to, values)) => return Flow::Continue(*to, self.all(values)),
                Op::Terminator(Terminator::Return) => return Flow::Return,
                Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) => {
                    assert!(matches!(access.path[..], [Step::Index(Value(0))]));
                    self.stored = self.get(values[0]);
                }
                Op::Region(Region::If { .. } | Region::For { .. } | Region::Loop { .. } | Region::Block { .. }) => {
                    match self.construct(inst) {
                        Flow::Yield(results) => self.set(&data.results, &results),
                        exit => return exit,
                    }
                }
                op => {
                    let result = self.pure(op);
                    self.set(&data.results, &[result]);
                }
            }
        }
        panic!("a block without end");
    }

    fn pure(&self, op: &Op) -> u64 {
        let result = match op {
            Op::Compute(Compute::Special(Special::ThreadIdx, _)) => Some(Scalar::new(Type::U32, self.number)),
            // It makes no conversions, for which alone the type counts.
            Op::Compute(compute) => eval::compute(compute, Type::U32, |value| Some(self.scalar(value))),
            _ => None,
        };
        result.expect("an operation that the generator makes").bits
    }

    /// Gives the results as a `Yield`, or the exit that goes further out.
    fn construct(&mut self, inst: Inst) -> Flow {
        let kernel = self.kernel;
        match &kernel.insts[inst].op {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                self.block(if self.get(*condition) != 0 { *then_block } else { *else_block })
            }
            Op::Region(Region::Block { body }) => match self.block(*body) {
                Flow::Break(to, values) if to == inst => Flow::Yield(values),
                flow => flow,
            },
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let (mut iv, end, step, mut carried) = (self.get(*start), self.get(*end), self.get(*step), self.all(init));
                while iv < end {
                    let params = kernel.blocks[*body].params.clone();
                    self.set(&params[..1], &[iv]);
                    self.set(&params[1..], &carried);
                    carried = match self.block(*body) {
                        Flow::Yield(values) => values,
                        Flow::Continue(to, values) if to == inst => values,
                        Flow::Break(to, values) if to == inst => return Flow::Yield(values),
                        flow => return flow,
                    };
                    iv += step;
                }
                Flow::Yield(carried)
            }
            Op::Region(Region::Loop { init, body, .. }) => {
                let mut carried = self.all(init);
                loop {
                    let params = kernel.blocks[*body].params.clone();
                    self.set(&params, &carried);
                    carried = match self.block(*body) {
                        Flow::Yield(values) => values,
                        Flow::Continue(to, values) if to == inst => values,
                        Flow::Break(to, values) if to == inst => return Flow::Yield(values),
                        flow => return flow,
                    };
                }
            }
            _ => panic!("no construct"),
        }
    }
}

#[test]
fn random_kernels_agree_with_one_thread_at_a_time() {
    let mut exits = 0;
    for seed in 0..400 {
        let text = generate(seed);
        exits += text.matches("break").count() + text.matches("continue").count();
        let kernel = parse(&text);
        assert!(kernel.values.values().all(|v| !matches!(v.def, ValueDef::Param(..)) || v.ty == Type::U32));
        let expected: Vec<u32> = (0..40)
            .map(|number| {
                let mut thread = Thread { kernel: &kernel, number, values: vec![0; kernel.values.len()], stored: 7777 };
                thread.block(kernel.body);
                thread.stored as u32
            })
            .collect();
        let mut y = vec![7777; 40];
        run(&text, 1, 40, &mut y).unwrap_or_else(|error| panic!("seed {seed}: {error} in\n{text}"));
        assert_eq!(y, expected, "seed {seed}\n{text}");
    }
    assert!(exits > 1000, "the kernels hardly leave their loops: {exits}");
}
