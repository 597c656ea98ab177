//! Collectives (`load_run`, `load_tile`, `store_tile`): who moves what.
//!
//! A collective is one instruction that all threads of a block come to. This pass makes loads and stores of it, as they would be written by hand:
//!
//! ```text
//! load_run to, from, start        if from has all of start..start + N {
//!                                     for u in (t..N / V).step_by(T) { to.store::<V>(u * V, from.load::<V>(start + u * V)) }
//!                                 } else {
//!                             ▶       for i in (t..N).step_by(T) { to[i] = if start + i < from.len() { from[start + i] } else { 0 } }
//!                                 }
//! ```
//!
//! T is the number of threads in the block, t the thread's, V as many elements as 16 bytes have, or fewer where the array's rows are no multiple of
//! that. Rounds are counted before the launch where the block is fixed, and few are written out. A tile's vectors have a condition of their own, since many
//! tiles go over an edge of their matrix; where a vector would have to begin at no multiple of its bytes, or go over the end of a row, which one uniform
//! condition tells, elements are moved one by one. Elements that are arrays are moved in vectors too, structs field by field (`vector_accesses`
//! joins those). In the ring of a pipelined loop, all of that are the shapes that the PTX back end makes `cp.async` of.
//!
//! **When**: collectives outside of pipelined loops first of all, so that other annotations see loads and stores; in those behind `pipeline`, which
//! takes a collective for a copy that covers its array. **Refuses** (before all that) collectives that not all threads of a block come to, or
//! come to with different operands; an element that is a struct of too many fields.
//!
//! Instructions keep the collective's location, which names it (`Location::call`): the simulator takes what they write to shared memory as written by
//! no thread in particular, and the PTX back end leaves narrow copies plain.

mod engine;

pub(super) use engine::{announced, by_engine, by_threads, last_row_at_most, obstacle, store_by_engine};

use super::copy::loops;
use super::{Refusal, Schedule};
use crate::analysis::uniformity::Uniformity;
use crate::annotations::PIPELINE;
use crate::collections::HashSet;
use crate::ir::{
    Access, Axis, BatchIndex, BinaryOp, Block, Builder, Collective, CompareOp, Compute, Inst, Kernel, MemoryType, Object, Op,
    PitchedMatrix, Scalar, Special, Step, Type, Value,
};
use crate::target::limits::VECTOR_BYTES;

/// The widest access, in bytes.
const WIDEST: u64 = VECTOR_BYTES as u64;

/// Most rounds that are written out one by one.
const MOST_ROUNDS: u64 = 8;

/// Most scalars of a struct that is an element.
const MOST_FIELDS: usize = 64;

/// Refuses those that cannot be kept: at their places, since no annotation is in the way.
pub(super) fn check(schedule: &mut Schedule<'_>) {
    let kernel = &*schedule.kernel;
    let all = found(kernel);
    if all.is_empty() {
        return;
    }
    let uniformity = Uniformity::of(kernel);
    for (_, inst) in all {
        let Op::Collective(collective) = &kernel.insts[inst].op else { continue };
        let word = collective.word();
        let refusal = if !uniformity.runs_together(inst) {
            let message = format!("`{word}` is for all threads of the block, and some may not come here");
            let outside = match collective {
                Collective::LoadRun { .. } => "outside of a buffer it is zero",
                Collective::LoadTile { .. } => "outside of a matrix it is zero",
                Collective::StoreTile { .. } => "what is outside of a matrix is not written",
            };
            Some(Refusal::new(
                message,
                format!("call it outside of the `if`, the loop or behind the `return` that threads part at: {outside}"),
            ))
        } else if let Some(value) = kernel.insts[inst].op.operands().into_iter().find(|value| !uniformity.is_uniform(*value)) {
            let name = kernel.values[value].name.as_deref().map(|name| format!("`{name}`, which says where,"));
            let name = name.unwrap_or_else(|| part(collective, value).to_owned());
            let message = format!("`{word}` is one copy of the whole block, and {name} may differ from thread to thread");
            let help = "compute the place from `block_idx()`, parameters, constants and counters of loops: the threads share the elements by themselves";
            Some(Refusal::new(message, help))
        } else if Shape::of(kernel, collective).is_none() {
            let message = format!("`{word}` copies structs of up to {MOST_FIELDS} scalars, and these have more");
            Some(Refusal::new(message, "copy a buffer of their parts, `x.view()` of the host"))
        } else {
            None
        };
        let loc = kernel.insts[inst].loc;
        schedule.refusals.extend(refusal.map(|refusal| Refusal { loc, ..refusal }));
    }
}

/// What a value without a name is to a collective.
fn part(collective: &Collective, value: Value) -> &'static str {
    let names: &[&str] = match collective {
        Collective::LoadRun { .. } => &["where it starts"],
        Collective::LoadTile { .. } | Collective::StoreTile { .. } => {
            &["how many rows", "how many columns", "the pitch", "the row", "the column", "which matrix", "how many matrices", "the stride"]
        }
    };
    let place = collective.place();
    place.iter().zip(names).find(|(other, _)| **other == value).map_or("which array it is", |(_, name)| name)
}

/// Makes loads and stores of those that `pipeline` is not asked about.
pub(super) fn outside_pipelines(schedule: &mut Schedule<'_>) {
    let kernel = &mut *schedule.kernel;
    let is_several =
        |annotations: &crate::ir::Annotations| annotations.iter().any(|asked| asked.annotation == &PIPELINE && asked.count() > 1);
    let within: HashSet<Inst> = loops(kernel, is_several)
        .into_iter()
        .flat_map(|(inst, _)| kernel.insts[inst].op.blocks())
        .flat_map(|block| kernel.insts_in(block))
        .collect();
    for (block, inst) in found(kernel) {
        if !within.contains(&inst) {
            expand(kernel, block, inst);
        }
    }
}

/// Makes loads and stores of all that are left.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    for (block, inst) in found(schedule.kernel) {
        expand(schedule.kernel, block, inst);
    }
}

/// Every collective, with the block it stands in.
fn found(kernel: &Kernel) -> Vec<(Block, Inst)> {
    let mut found = Vec::new();
    kernel.for_each_inst(|kernel, block, inst| {
        if matches!(kernel.insts[inst].op, Op::Collective(_)) {
            found.push((block, inst));
        }
    });
    found
}

/// Puts what a collective is made of in its place.
fn expand(kernel: &mut Kernel, block: Block, inst: Inst) {
    let Op::Collective(collective) = kernel.insts[inst].op.clone() else { return };
    let Some(at) = kernel.blocks[block].insts.iter().position(|other| *other == inst) else { return };
    let behind = kernel.blocks[block].insts.split_off(at + 1);
    kernel.blocks[block].insts.pop();
    // Of an array without elements nothing is left, and what would divide by a row's length.
    if let Some(shape) = Shape::of(kernel, &collective).filter(|shape| shape.rows * shape.of_row() > 0) {
        let loc = kernel.insts[inst].loc;
        let mut b = Builder::new(kernel, block, loc);
        Expansion::new(&mut b, &shape, &collective).all(&mut b);
    }
    kernel.blocks[block].insts.extend(behind);
}

/// One scalar of an element: the constant steps to it, indices and fields.
#[derive(Clone)]
struct Leaf {
    steps: Vec<(bool, u64)>,
    ty: Type,
}

/// What is moved: rows of elements, each an array (of arrays) of leaves.
struct Shape {
    rows: u64,
    columns: u64,
    /// Lengths of the arrays that an element is, outermost first.
    dims: Vec<u64>,
    /// What the innermost array holds: a scalar, or the scalars of a struct.
    leaves: Vec<Leaf>,
    /// Scalars that one access moves, of one row or one array.
    lanes: u64,
}

impl Shape {
    fn of(kernel: &Kernel, collective: &Collective) -> Option<Shape> {
        let array = collective.array();
        let inner = |ty: &MemoryType| match ty {
            MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => Some(((**element).clone(), *n)),
            MemoryType::Scalar(_) | MemoryType::Slice(_) | MemoryType::Struct(_) => None,
        };
        let whole = array.leads_to(kernel)?;
        // Where rows begin, the array's place and the rows' distance say.
        let mut align = alignment(kernel, array);
        let (rows, row) = match collective {
            Collective::LoadRun { .. } => (1, whole.clone()),
            Collective::LoadTile { .. } | Collective::StoreTile { .. } => {
                let (row, rows) = inner(whole)?;
                align = align.min(power_in(row.size(&kernel.structs)));
                (rows, row)
            }
        };
        let (mut element, columns) = inner(&row)?;
        let mut dims = Vec::new();
        while let Some((part, n)) = inner(&element) {
            dims.push(n);
            element = part;
        }
        let mut leaves = Vec::new();
        gather(kernel, &element, &mut Vec::new(), &mut leaves);
        if leaves.len() > MOST_FIELDS {
            return None;
        }
        // Neighbours of a row whose columns are swizzled are none in memory.
        let is_apart = kernel.swizzled.get(&array.object).is_some_and(|swizzle| swizzle.whole() < WIDEST);
        let lanes = match (&element, is_apart) {
            (MemoryType::Scalar(ty), false) => {
                let size = u64::from(ty.bytes());
                let of_row = power_in(dims.last().copied().unwrap_or(columns));
                (WIDEST.min(align) / size).clamp(1, 16).min(of_row)
            }
            _ => 1,
        };
        Some(Shape { rows, columns, dims, leaves, lanes })
    }

    /// Scalars (or structs) of a row.
    fn of_row(&self) -> u64 {
        self.columns * self.dims.iter().product::<u64>()
    }
}

/// The greatest power of two that divides a number; of nothing, one that divides everything.
fn power_in(n: u64) -> u64 {
    if n == 0 { 1 << 16 } else { 1 << n.trailing_zeros() }
}

/// A power of two that the place of an array in bytes is a multiple of, as far as vectors ask.
pub(super) fn alignment(kernel: &Kernel, access: &Access) -> u64 {
    alignment_up_to(kernel, access, WIDEST)
}

/// The same of an array whose object begins at a multiple of `most`.
fn alignment_up_to(kernel: &Kernel, access: &Access, most: u64) -> u64 {
    let mut ty = &kernel.objects[access.object].ty;
    let mut align = most;
    for step in &access.path {
        match (step, ty) {
            (Step::Index(_), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                align = align.min(power_in(element.size(&kernel.structs)));
                ty = element;
            }
            (Step::Field(field), MemoryType::Struct(id)) => {
                let field = &kernel.structs[*id].fields[*field as usize];
                align = align.min(power_in(field.offset));
                ty = &field.ty;
            }
            _ => return 1,
        }
    }
    align
}

/// The scalars of a type.
fn gather(kernel: &Kernel, ty: &MemoryType, steps: &mut Vec<(bool, u64)>, leaves: &mut Vec<Leaf>) {
    if leaves.len() > MOST_FIELDS {
        return;
    }
    let mut parts = |parts: &mut dyn Iterator<Item = ((bool, u64), &MemoryType)>| {
        for (step, part) in parts {
            steps.push(step);
            gather(kernel, part, steps, leaves);
            steps.pop();
        }
    };
    match ty {
        MemoryType::Scalar(ty) => leaves.push(Leaf { steps: steps.clone(), ty: *ty }),
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => {
            parts(&mut (0..(*n).min(MOST_FIELDS as u64 + 1)).map(|i| ((true, i), &**element)));
        }
        MemoryType::Struct(id) => {
            parts(&mut kernel.structs[*id].fields.iter().enumerate().map(|(n, field)| ((false, n as u64), &field.ty)));
        }
        MemoryType::Slice(_) => {}
    }
}

/// How many threads share the work.
#[derive(Clone, Copy)]
enum Threads {
    Known(u64),
    Asked(Value),
}

/// Which round of a thread this is.
#[derive(Clone, Copy)]
enum Round {
    Known(u64),
    Counted(Value),
}

/// Where elements come from or go to in the buffer, in the kernel's index type.
#[derive(Clone, Copy)]
struct Place {
    data: Object,
    /// The element that is the first of the array.
    first: Value,
    /// Elements from row to row; none for a run.
    pitch: Option<Value>,
    /// Rows from the first on that there are, and elements of each.
    left: [Option<Value>; 2],
}

/// A collective being expanded.
struct Expansion<'s> {
    shape: &'s Shape,
    array: Access,
    is_load: bool,
    index: Type,
    threads: Threads,
    /// The thread's number in its block.
    thread: Value,
    place: Place,
    /// Whether vectors are possible; always, if there is no condition. In runs it also says that all elements are there.
    condition: Option<Value>,
}

impl<'s> Expansion<'s> {
    fn new(b: &mut Builder<'_>, shape: &'s Shape, collective: &Collective) -> Expansion<'s> {
        let index = b.kernel.index_type();
        let (thread, threads) = threads(b, index);
        let (place, condition) = match *collective {
            Collective::LoadRun { from, start, .. } => of_run(b, shape, from, start),
            Collective::LoadTile { from: matrix, row, column, .. } | Collective::StoreTile { to: matrix, row, column, .. } => {
                of_tile(b, shape, matrix, row, column)
            }
        };
        Expansion { shape, array: collective.array().clone(), is_load: collective.is_load(), index, threads, thread, place, condition }
    }

    /// Both ways, or the one there is.
    fn all(&self, b: &mut Builder<'_>) {
        let is_run = self.place.pitch.is_none();
        match self.condition {
            None => self.rounds(b, self.shape.lanes, true),
            Some(condition) => {
                b.if_else(
                    condition,
                    |b| {
                        self.rounds(b, self.shape.lanes, !is_run);
                        Vec::new()
                    },
                    |b| {
                        self.elements(b);
                        Vec::new()
                    },
                );
            }
        }
    }

    /// One by one, each with its condition. Arrays that are elements are there whole or not at all.
    fn elements(&self, b: &mut Builder<'_>) {
        self.rounds(b, if self.shape.dims.is_empty() { 1 } else { self.shape.lanes }, true);
    }

    /// All accesses of a thread, of so many lanes each.
    fn rounds(&self, b: &mut Builder<'_>, lanes: u64, is_guarded: bool) {
        let units = self.shape.rows * self.shape.of_row() / lanes;
        let per_row = self.shape.of_row() / lanes;
        let threads = match self.threads {
            Threads::Known(threads) => threads,
            Threads::Asked(threads) => {
                let end = b.int(self.index, i128::from(units));
                b.for_each([self.thread, end, threads], &[], |b, unit, _| {
                    let (row, rest) = self.parted(b, unit, per_row);
                    self.unit(b, (row, None), rest, lanes, is_guarded);
                    Vec::new()
                });
                return;
            }
        };
        let whole = units / threads;
        if whole <= MOST_ROUNDS {
            (0..whole).for_each(|n| self.round(b, Round::Known(n), per_row, lanes, is_guarded));
        } else {
            let [zero, one] = [0, 1].map(|n| b.int(self.index, n));
            let end = b.int(self.index, i128::from(whole));
            b.for_each([zero, end, one], &[], |b, n, _| {
                self.round(b, Round::Counted(n), per_row, lanes, is_guarded);
                Vec::new()
            });
        }
        if !units.is_multiple_of(threads) {
            let some = b.int(self.index, i128::from(units % threads));
            let is_some = b.compare(CompareOp::Lt, self.thread, some);
            b.if_else(
                is_some,
                |b| {
                    self.round(b, Round::Known(whole), per_row, lanes, is_guarded);
                    Vec::new()
                },
                |_| Vec::new(),
            );
        }
    }

    /// A thread's access of this round: the rows that a round is further on, if these are whole, need no division.
    fn round(&self, b: &mut Builder<'_>, round: Round, per_row: u64, lanes: u64, is_guarded: bool) {
        let Threads::Known(threads) = self.threads else { return };
        let scaled = |b: &mut Builder<'_>, by: u64| match round {
            Round::Known(0) => None,
            Round::Known(n) => Some(b.int(self.index, i128::from(n * by))),
            Round::Counted(n) => {
                let by = b.int(self.index, i128::from(by));
                Some(b.binary(BinaryOp::Mul, n, by))
            }
        };
        if self.shape.rows > 1 && threads.is_multiple_of(per_row) {
            let (row, rest) = self.parted(b, self.thread, per_row);
            let further = scaled(b, threads / per_row);
            return self.unit(b, (row, further), rest, lanes, is_guarded);
        }
        let unit = match scaled(b, threads) {
            Some(done) => b.binary(BinaryOp::Add, self.thread, done),
            None => self.thread,
        };
        let (row, rest) = self.parted(b, unit, per_row);
        self.unit(b, (row, None), rest, lanes, is_guarded);
    }

    /// A number as a row and what is left of it.
    fn parted(&self, b: &mut Builder<'_>, unit: Value, per_row: u64) -> (Option<Value>, Value) {
        if self.shape.rows == 1 {
            return (self.place.pitch.is_some().then(|| b.int(self.index, 0)), unit);
        }
        let per_row = b.int(self.index, i128::from(per_row));
        (Some(b.binary(BinaryOp::Div, unit, per_row)), b.binary(BinaryOp::Rem, unit, per_row))
    }

    /// One access: the row, and how much further, and the number of the access within it.
    fn unit(&self, b: &mut Builder<'_>, (row, further): (Option<Value>, Option<Value>), number: Value, lanes: u64, is_guarded: bool) {
        let product = |b: &mut Builder<'_>, a: Value, by: u64| {
            if by == 1 {
                return a;
            }
            let by = b.int(self.index, i128::from(by));
            b.binary(BinaryOp::Mul, a, by)
        };
        // The column, and the way into an element that is an array.
        let mut rest = product(b, number, lanes);
        let mut way = Vec::new();
        for n in 0..self.shape.dims.len() {
            let size = b.int(self.index, i128::from(self.shape.dims[n..].iter().product::<u64>()));
            let outer = b.binary(BinaryOp::Div, rest, size);
            rest = b.binary(BinaryOp::Rem, rest, size);
            way.push(outer);
        }
        way.push(rest);
        let column = way[0];
        let at_row = row.map(|row| further.map_or(row, |further| b.binary(BinaryOp::Add, row, further)));
        let mut element = b.binary(BinaryOp::Add, self.place.first, column);
        if let (Some(row), Some(pitch)) = (row, self.place.pitch) {
            // What a round is further on is one product for all threads.
            for part in [Some(row), further].into_iter().flatten() {
                let distance = b.binary(BinaryOp::Mul, part, pitch);
                element = b.binary(BinaryOp::Add, element, distance);
            }
        }
        let inner: Vec<Step> = way[1..].iter().map(|index| Step::Index(*index)).collect();
        let in_array = at_row.filter(|_| self.place.pitch.is_some()).into_iter().chain([column]).map(Step::Index).chain(inner.clone());
        let array = Access { object: self.array.object, path: self.array.path.iter().copied().chain(in_array).collect() };
        let buffer = Access { object: self.place.data, path: [Step::Index(element)].into_iter().chain(inner).collect() };
        let is_inside = if is_guarded { self.is_inside(b, at_row, column) } else { None };
        self.shape.leaves.iter().for_each(|leaf| self.transfer(b, leaf, [&array, &buffer], lanes, is_inside));
    }

    /// Whether an element is there, if that is a question.
    fn is_inside(&self, b: &mut Builder<'_>, row: Option<Value>, column: Value) -> Option<Value> {
        let mut all = None;
        for (index, left) in [row, Some(column)].into_iter().zip(self.place.left) {
            let (Some(index), Some(left)) = (index, left) else { continue };
            let is_there = b.compare(CompareOp::Lt, index, left);
            all = Some(all.map_or(is_there, |all| b.binary(BinaryOp::And, all, is_there)));
        }
        all
    }

    /// Moves scalars of an element: zero, or nothing, where it is not there.
    fn transfer(&self, b: &mut Builder<'_>, leaf: &Leaf, [array, buffer]: [&Access; 2], lanes: u64, is_inside: Option<Value>) {
        let types = vec![leaf.ty; lanes as usize];
        let into = |b: &mut Builder<'_>, access: &Access| {
            let steps = leaf.steps.iter().map(|(is_index, n)| match is_index {
                true => Step::Index(b.int(self.index, i128::from(*n))),
                false => Step::Field(*n as u32),
            });
            Access { object: access.object, path: access.path.iter().copied().chain(steps).collect() }
        };
        let (array, buffer) = (into(b, array), into(b, buffer));
        let load = |b: &mut Builder<'_>, access: &Access| {
            let inst = b.push(Op::load(access.clone()), &types);
            b.kernel.insts[inst].results.clone()
        };
        if self.is_load {
            let values = match is_inside {
                None => load(b, &buffer),
                Some(condition) => {
                    b.if_else(condition, |b| load(b, &buffer), |b| types.iter().map(|ty| b.constant(Scalar::new(*ty, 0))).collect())
                }
            };
            b.push(Op::store(array, values), &[]);
            return;
        }
        let write = |b: &mut Builder<'_>| {
            let values = load(b, &array);
            b.push(Op::store(buffer.clone(), values), &[]);
            Vec::new()
        };
        match is_inside {
            None => drop(write(b)),
            Some(condition) => drop(b.if_else(condition, write, |_| Vec::new())),
        }
    }
}

/// The thread's number in its block.
pub(super) fn thread_number(b: &mut Builder<'_>, index: Type) -> Value {
    threads(b, index).0
}

/// The thread's number in its block, and how many there are.
fn threads(b: &mut Builder<'_>, index: Type) -> (Value, Threads) {
    let block = b.kernel.options.block;
    let mut number: Option<Value> = None;
    let mut size: Option<Value> = None;
    for (n, axis) in [Axis::Z, Axis::Y, Axis::X].into_iter().enumerate() {
        let fixed = block.map(|block| block[2 - n]);
        if fixed == Some(1) {
            continue;
        }
        let extent = match fixed {
            Some(fixed) => b.constant(Scalar::u32(fixed)),
            None => b.special(Special::BlockDim, axis),
        };
        let here = b.special(Special::ThreadIdx, axis);
        number = Some(match number {
            Some(outer) => {
                let before = b.binary(BinaryOp::Mul, outer, extent);
                b.binary(BinaryOp::Add, before, here)
            }
            None => here,
        });
        size = Some(size.map_or(extent, |size| b.binary(BinaryOp::Mul, size, extent)));
    }
    let number = number.unwrap_or_else(|| b.constant(Scalar::u32(0)));
    let number = b.cast(number, index);
    let threads = match (block, size) {
        (Some(block), _) => Threads::Known(block.iter().map(|n| u64::from(*n)).product::<u64>().max(1)),
        (None, Some(size)) => Threads::Asked(b.cast(size, index)),
        (None, None) => Threads::Known(1),
    };
    (number, threads)
}

/// How much of `0..all` is left from `first` on.
fn left(b: &mut Builder<'_>, all: Value, first: Value) -> Value {
    let ty = b.kernel.ty(all);
    let zero = b.int(ty, 0);
    let is_some = b.compare(CompareOp::Lt, first, all);
    let rest = b.binary(BinaryOp::Sub, all, first);
    b.select(is_some, rest, zero)
}

fn of_run(b: &mut Builder<'_>, shape: &Shape, from: Object, start: Value) -> (Place, Option<Value>) {
    let index = b.kernel.index_type();
    let len = b.push1(Op::Compute(Compute::Len(from)), index);
    let left = left(b, len, start);
    let all = b.int(index, i128::from(shape.columns));
    let is_whole = b.compare(CompareOp::Ge, left, all);
    (Place { data: from, first: start, pitch: None, left: [None, Some(left)] }, Some(is_whole))
}

fn of_tile(b: &mut Builder<'_>, shape: &Shape, matrix: PitchedMatrix, row: Value, column: Value) -> (Place, Option<Value>) {
    let index = b.kernel.index_type();
    let rows = left(b, matrix.rows, row);
    let columns = left(b, matrix.columns, column);
    let rows = match matrix.batch {
        // Of a matrix that is not there, no row is left.
        Some(BatchIndex { index: at, count, .. }) => {
            let is_there = b.compare(CompareOp::Lt, at, count);
            let none = b.int(index, 0);
            b.select(is_there, rows, none)
        }
        None => rows,
    };
    let above = b.binary(BinaryOp::Mul, row, matrix.pitch);
    let mut first = b.binary(BinaryOp::Add, above, column);
    if let Some(BatchIndex { index: at, stride, .. }) = matrix.batch {
        let before = b.binary(BinaryOp::Mul, at, stride);
        first = b.binary(BinaryOp::Add, before, first);
    }
    let place = Place { data: matrix.data, first, pitch: Some(matrix.pitch), left: [Some(rows), Some(columns)] };
    if shape.lanes == 1 || !shape.dims.is_empty() {
        return (place, None);
    }
    // Vectors begin at multiples of their bytes, and none goes over the end of a row.
    let [zero, low, all] = [0, i128::from(shape.lanes) - 1, i128::from(shape.columns)].map(|n| b.int(index, n));
    let mut places = b.binary(BinaryOp::Or, matrix.pitch, column);
    if let Some(batch) = matrix.batch {
        places = b.binary(BinaryOp::Or, places, batch.stride);
    }
    let odd = b.binary(BinaryOp::And, places, low);
    let is_aligned = b.compare(CompareOp::Eq, odd, zero);
    let over = b.binary(BinaryOp::And, columns, low);
    let ends_whole = b.compare(CompareOp::Eq, over, zero);
    let goes_on = b.compare(CompareOp::Ge, columns, all);
    let fits = b.binary(BinaryOp::Or, ends_whole, goes_on);
    (place, Some(b.binary(BinaryOp::And, is_aligned, fits)))
}
