//! The simulator against an interpreter that runs one thread after the other and knows neither warps, masks nor compiled programs.
//!
//! The kernels are those of `warpwright_tests::random_kernels` whose threads go alone. NaNs count as equal.

use std::collections::HashMap;
use warpwright_codegen::ir::{
    Access, Address, Block, Compute, Inst, Kernel, Memory, MemoryOp, MemoryType, Object, ObjectKind, Op, Region, Scalar, Special, Step,
    Terminator, Type, Value, eval,
};
use warpwright_tests::random::{Failure, check_all};
use warpwright_tests::random_kernels::{Style, contents, random_kernel, simulated, written};

/// How a block ends.
enum Flow {
    Yield(Vec<Scalar>),
    Break(Inst, Vec<Scalar>),
    Continue(Inst, Vec<Scalar>),
    Return,
}

/// One thread.
struct Thread<'k> {
    kernel: &'k Kernel,
    number: u32,
    values: HashMap<Value, Scalar>,
    /// Parameters: bytes, which all threads share.
    parameters: &'k mut [(Object, Vec<u8>)],
    /// Shared and local arrays: each thread reads its own elements only.
    own: HashMap<(Object, Vec<u64>), Scalar>,
    /// What is taken for a loop without end.
    fuel: u32,
}

type Run<T> = Result<T, String>;

impl Thread<'_> {
    fn get(&self, value: Value) -> Run<Scalar> {
        self.values.get(&value).copied().ok_or_else(|| format!("{value} is read before it is defined"))
    }

    fn all(&self, values: &[Value]) -> Run<Vec<Scalar>> {
        values.iter().map(|value| self.get(*value)).collect()
    }

    fn set(&mut self, values: &[Value], scalars: &[Scalar]) -> Run<()> {
        if values.len() != scalars.len() {
            return Err(format!("{} values for {}", scalars.len(), values.len()));
        }
        self.values.extend(values.iter().copied().zip(scalars.iter().copied()));
        Ok(())
    }

    fn indices(&self, access: &Access) -> Run<Vec<u64>> {
        let index = |step: &Step| match step {
            Step::Index(value) => Ok(self.get(*value)?.bits),
            Step::Field(_) => Err("the generator makes no structs".to_owned()),
        };
        access.path.iter().map(index).collect()
    }

    /// Where an access to a parameter goes, to its so-manieth neighbour: its number, and the first byte.
    fn parameter(&self, access: &Access, neighbour: u64, bytes: usize) -> Run<Option<(usize, usize)>> {
        let Some(n) = self.parameters.iter().position(|(object, _)| *object == access.object) else { return Ok(None) };
        let at = self.indices(access)?.first().map_or(0, |index| (*index + neighbour) as usize * bytes);
        let length = self.parameters[n].1.len();
        if at + bytes <= length { Ok(Some((n, at))) } else { Err(format!("byte {at} of {length}")) }
    }

    /// The indices of an access's so-manieth neighbour.
    fn element(&self, access: &Access, neighbour: u64) -> Run<Vec<u64>> {
        let mut indices = self.indices(access)?;
        indices.iter_mut().last().into_iter().for_each(|index| *index += neighbour);
        Ok(indices)
    }

    fn load(&self, access: &Access, neighbour: u64, ty: Type) -> Run<Scalar> {
        let bytes = ty.bytes() as usize;
        if let Some((n, at)) = self.parameter(access, neighbour, bytes)? {
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(&self.parameters[n].1[at..at + bytes]);
            return Ok(Scalar::new(ty, u64::from_le_bytes(word)));
        }
        let key = (access.object, self.element(access, neighbour)?);
        self.own.get(&key).copied().ok_or_else(|| format!("{key:?} is read before it is written"))
    }

    fn store(&mut self, access: &Access, neighbour: u64, scalar: Scalar) -> Run<()> {
        let bytes = scalar.ty.bytes() as usize;
        if let Some((n, at)) = self.parameter(access, neighbour, bytes)? {
            self.parameters[n].1[at..at + bytes].copy_from_slice(&scalar.bits.to_le_bytes()[..bytes]);
        } else {
            self.own.insert((access.object, self.element(access, neighbour)?), scalar);
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> Run<Flow> {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[*inst];
            match &data.op {
                Op::Terminator(Terminator::Yield(values)) => return Ok(Flow::Yield(self.all(values)?)),
                Op::Terminator(Terminator::Break(to, values)) => return Ok(Flow::Break(*to, self.all(values)?)),
                Op::Terminator(Terminator::Continue(to, values)) => return Ok(Flow::Continue(*to, self.all(values)?)),
                Op::Terminator(Terminator::Return) => return Ok(Flow::Return),
                Op::Region(region) => match self.region(*inst, region)? {
                    Flow::Yield(results) => self.set(&data.results, &results)?,
                    exit => return Ok(exit),
                },
                Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => {
                    let ty = kernel.ty(data.results[0]);
                    let loaded = (0..data.results.len() as u64).map(|n| self.load(access, n, ty)).collect::<Run<Vec<Scalar>>>()?;
                    self.set(&data.results, &loaded)?;
                }
                Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) => {
                    for (n, value) in (0..).zip(values) {
                        self.store(access, n, self.get(*value)?)?;
                    }
                }
                Op::Compute(compute) => {
                    let ty = kernel.ty(data.results[0]);
                    let result = match compute {
                        Compute::Special(Special::ThreadIdx, _) => Some(Scalar::u32(self.number)),
                        compute => eval::compute(compute, ty, |value| self.values.get(&value).copied()),
                    };
                    self.set(&data.results, &[result.ok_or_else(|| format!("{compute:?} has no value"))?])?;
                }
                // Of one thread: those that threads meet at have no such value.
                Op::Intrinsic(row, arguments) => {
                    let result = row.of_scalars(&self.all(arguments)?, kernel.ty(data.results[0]));
                    self.set(&data.results, &[result.ok_or_else(|| format!("`{}` has no value", data.op))?])?;
                }
                op => return Err(format!("the generator makes no `{op}`")),
            }
        }
        Err("a block has no end".to_owned())
    }

    /// Gives the results as a `Yield`, or the exit that goes further out.
    fn region(&mut self, inst: Inst, region: &Region) -> Run<Flow> {
        match region {
            Region::If { condition, then_block, else_block } => {
                self.block(if self.get(*condition)?.is_true() { *then_block } else { *else_block })
            }
            Region::Block { body } => Ok(match self.block(*body)? {
                Flow::Break(to, values) if to == inst => Flow::Yield(values),
                flow => flow,
            }),
            Region::For { start, end, step, init, body, .. } => {
                let (mut counter, carried) = (self.get(*start)?, self.all(init)?);
                let (end, step) = (self.get(*end)?.as_int(), self.get(*step)?.as_int());
                let next = |_: &[Scalar]| {
                    let now = counter;
                    counter = Scalar::int(now.ty, now.as_int() + step);
                    (now.as_int() < end).then_some(vec![now])
                };
                self.rounds(inst, *body, carried, next)
            }
            Region::Loop { init, body, .. } => {
                let carried = self.all(init)?;
                self.rounds(inst, *body, carried, |_| Some(Vec::new()))
            }
        }
    }

    /// Rounds of a loop's body while `next` gives what its parameters begin with.
    fn rounds(
        &mut self,
        inst: Inst,
        body: Block,
        mut carried: Vec<Scalar>,
        mut next: impl FnMut(&[Scalar]) -> Option<Vec<Scalar>>,
    ) -> Run<Flow> {
        while let Some(first) = next(&carried) {
            self.fuel = self.fuel.checked_sub(1).ok_or("a loop does not end")?;
            self.set(&self.kernel.blocks[body].params, &[first, carried].concat())?;
            carried = match self.block(body)? {
                Flow::Yield(values) => values,
                Flow::Continue(to, values) if to == inst => values,
                Flow::Break(to, values) if to == inst => return Ok(Flow::Yield(values)),
                flow => return Ok(flow),
            };
        }
        Ok(Flow::Yield(carried))
    }
}

/// What the two written buffers hold afterwards.
fn interpreted(kernel: &Kernel) -> Run<Vec<u32>> {
    let threads = kernel.options.block.map_or(0, |block| block[0]);
    let mut parameters: Vec<(Object, Vec<u8>)> = kernel.params.iter().copied().zip(contents(threads)).collect();
    for (object, data) in kernel.objects.iter() {
        assert!(kernel.params.contains(&object) || matches!(data.kind, ObjectKind::Shared | ObjectKind::Local));
        assert!(!matches!(data.ty, MemoryType::Struct(_)));
    }
    for number in 0..threads {
        let (values, own) = (HashMap::new(), HashMap::new());
        let mut thread = Thread { kernel, number, values, parameters: &mut parameters, own, fuel: 100_000 };
        thread.block(kernel.body)?;
    }
    Ok(written(&parameters[3].1, &parameters[4].1))
}

#[test]
fn random_kernels_agree_with_one_thread_at_a_time() {
    let exits = check_all(
        1..=400,
        |random| random_kernel(random, Style::Alone),
        Kernel::to_string,
        |kernel| {
            let expected = interpreted(kernel).map_err(Failure::NoCase)?;
            let found = simulated(kernel).map_err(Failure::Wrong)?;
            let mut exits = 0;
            kernel.for_each_inst(|kernel, _, inst| {
                let op = &kernel.insts[inst].op;
                exits += usize::from(matches!(op, Op::Terminator(Terminator::Break(..) | Terminator::Continue(..) | Terminator::Return)));
            });
            if found == expected { Ok(exits) } else { Err(Failure::Wrong(format!("{found:?}, expected {expected:?}"))) }
        },
    );
    let exits: usize = exits.into_iter().sum();
    assert!(exits > 1000, "the kernels hardly leave their loops: {exits}");
}
