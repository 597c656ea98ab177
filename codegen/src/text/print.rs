//! The text form, printed. [`super::parse_kernel`] reads it back.
//!
//! ```text
//! kernel "saxpy" legal
//! block = 256, 1, 1
//! file "src/main.rs"
//! param m0 "a": value f32
//! param m1 "x": global [f32] @3:30
//! param m2 "y": global mut [f32] @3:46
//! {
//!   v0: u32 = thread_idx.x @4:13
//!   v1: u32 = len m2 @5:12
//!   v2: bool = lt v0, v1 @5:8
//!   if v2 @5:5 {
//!     v3: f32 = load m1[v0] @6:20
//!     store m2[v0], v3 @6:9
//!     yield @5:5
//!   }
//!   return @7:2
//! }
//! ```
//!
//! One instruction a line: results with their types and source names, what is done, and behind `@` the place in the source
//! (`line:column` of the first file, `file:line:column` of others). Options that have their defaults are left out, and so is an
//! `else` that only yields nothing. `//` begins a comment. `Display` prints a compacted copy ([`Kernel::compact`]);
//! `{:#}` prints the kernel's own numbers, which [`crate::verify`] speaks of.

use crate::ir::{
    Access, Address, Atomicity, Block, Collective, Compute, Engine, Inst, Kernel, LeftFactor, Loc, Location, Memory, MemoryOp, MemoryType,
    Message, ObjectKind, Op, PrintPart, ProductFactor, Region, Scope, Share, Stage, Step, StructType, Tensor, Terminator, Value,
    WarpgroupFactor,
};
use crate::ir::{BoundsCheck, IndexWidth, KernelOptions, Math, TensorCores};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return print(self, true, f);
        }
        let mut compact = self.clone();
        compact.compact();
        print(&compact, true, f)
    }
}

impl Kernel {
    /// The text form without places in the source: for tests that would otherwise change with every line.
    pub fn text_without_locations(&self) -> String {
        let mut compact = self.clone();
        compact.compact();
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = print(&compact, false, &mut text);
        text
    }
}

fn print(kernel: &Kernel, locations: bool, out: &mut dyn Write) -> fmt::Result {
    let mut printer = Printer { kernel, locations, out };
    printer.header()?;
    printer.out.write_str("{\n")?;
    printer.block(kernel.body, 1)?;
    printer.out.write_str("}\n")
}

struct Printer<'a> {
    kernel: &'a Kernel,
    locations: bool,
    out: &'a mut dyn Write,
}

impl Printer<'_> {
    fn header(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        let stage = Stage::ALL.iter().find(|(stage, _)| *stage == kernel.stage).map_or("", |(_, word)| word);
        writeln!(self.out, "kernel {:?} {stage}", kernel.name)?;
        print_options(&kernel.options, self.out)?;
        if self.locations {
            for file in &kernel.files {
                writeln!(self.out, "file {file:?}")?;
            }
        }
        for (id, ty) in kernel.structs.iter() {
            writeln!(self.out, "struct {id} {}", StructText(ty, kernel))?;
        }
        for (id, object) in kernel.objects.iter() {
            let keyword = if kernel.params.contains(&id) { "param" } else { "object" };
            let of = if let ObjectKind::Peers(array) = &object.kind { format!("{array} ") } else { String::new() };
            write!(self.out, "{keyword} {id} {:?}: {} {of}", object.name, kind_word(&object.kind))?;
            if let Some(swizzle) = kernel.swizzled.get(&id) {
                write!(self.out, "{} ", swizzle.word())?;
            }
            if let Some(ring) = kernel.rings.get(&id) {
                write!(self.out, "{} ", ring.fill.word())?;
            }
            if let Some(hint) = kernel.cached.get(&id) {
                write!(self.out, "cached {} ", hint.word())?;
            }
            write!(self.out, "{}", object.ty)?;
            if let ObjectKind::Table(scalars) = &object.kind {
                write!(self.out, " = {}", list(scalars))?;
            }
            self.location(object.loc)?;
            self.out.write_char('\n')?;
        }
        Ok(())
    }

    fn block(&mut self, block: Block, depth: usize) -> fmt::Result {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            self.inst(*inst, depth)?;
        }
        Ok(())
    }

    fn annotations(&mut self, inst: Inst) -> fmt::Result {
        self.kernel.annotations.get(&inst).map_or(Ok(()), |asked| write!(self.out, "{asked}"))
    }

    fn inst(&mut self, inst: Inst, depth: usize) -> fmt::Result {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        self.indent(depth)?;
        for (n, result) in data.results.iter().enumerate() {
            self.out.write_str(if n == 0 { "" } else { ", " })?;
            self.definition(*result)?;
        }
        self.out.write_str(if data.results.is_empty() { "" } else { " = " })?;
        match &data.op {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                write!(self.out, "if {condition}")?;
                self.child(*then_block, data.loc, depth)?;
                if !self.only_yields(*else_block, data.loc) {
                    self.out.write_str(" else {\n")?;
                    self.block(*else_block, depth + 1)?;
                    self.indent(depth)?;
                    self.out.write_char('}')?;
                }
            }
            Op::Region(Region::For { start, end, step, init, body, keep_rolled }) => {
                write!(self.out, "for {inst} (")?;
                let params = &kernel.blocks[*body].params;
                if let Some(iv) = params.first() {
                    self.definition(*iv)?;
                }
                write!(self.out, " in {start}..{end} step {step}")?;
                self.carried("; ", params.get(1..).unwrap_or(&[]), init)?;
                self.out.write_str(if *keep_rolled { ") rolled" } else { ")" })?;
                self.annotations(inst)?;
                self.child(*body, data.loc, depth)?;
            }
            Op::Region(Region::Loop { init, body, keep_rolled }) => {
                write!(self.out, "loop {inst} (")?;
                self.carried("", &kernel.blocks[*body].params, init)?;
                self.out.write_str(if *keep_rolled { ") rolled" } else { ")" })?;
                self.annotations(inst)?;
                self.child(*body, data.loc, depth)?;
            }
            Op::Region(Region::Block { body }) => {
                write!(self.out, "region {inst}")?;
                self.child(*body, data.loc, depth)?;
            }
            op => {
                write!(self.out, "{op}")?;
                self.location(data.loc)?;
            }
        }
        self.out.write_char('\n')
    }

    /// ` @place {`, the block, `}`.
    fn child(&mut self, block: Block, loc: Loc, depth: usize) -> fmt::Result {
        self.location(loc)?;
        self.out.write_str(" {\n")?;
        self.block(block, depth + 1)?;
        self.indent(depth)?;
        self.out.write_char('}')
    }

    /// `v4: f32 = v1, v5: u32 = v2`: block parameters with their first values.
    fn carried(&mut self, before: &str, params: &[Value], init: &[Value]) -> fmt::Result {
        // Where the numbers differ the kernel is broken, and the text shows it.
        for n in 0..params.len().max(init.len()) {
            self.out.write_str(if n == 0 { before } else { ", " })?;
            if let Some(param) = params.get(n) {
                self.definition(*param)?;
                self.out.write_str(if n < init.len() { " " } else { "" })?;
            }
            if let Some(value) = init.get(n) {
                write!(self.out, "= {value}")?;
            }
        }
        Ok(())
    }

    fn definition(&mut self, value: Value) -> fmt::Result {
        let data = &self.kernel.values[value];
        write!(self.out, "{value}: {}", data.ty)?;
        match &data.name {
            Some(name) => write!(self.out, " {name:?}"),
            None => Ok(()),
        }
    }

    fn only_yields(&self, block: Block, loc: Loc) -> bool {
        let [inst] = self.kernel.blocks[block].insts[..] else { return false };
        let yields_nothing = self.kernel.yielded(block).is_some_and(<[Value]>::is_empty);
        yields_nothing && (self.kernel.insts[inst].loc == loc || !self.locations)
    }

    fn location(&mut self, loc: Loc) -> fmt::Result {
        let location = self.kernel.locations.get(loc).copied().unwrap_or_default();
        if location == Location::default() || !self.locations {
            return Ok(());
        }
        self.out.write_str(" @")?;
        if location.file != 0 {
            write!(self.out, "{}:", location.file)?;
        }
        write!(self.out, "{}:{}", location.line, location.column)?;
        location.call.map_or(Ok(()), |call| write!(self.out, " in {}", call.row().name))
    }

    fn indent(&mut self, depth: usize) -> fmt::Result {
        (0..depth).try_for_each(|_| self.out.write_str("  "))
    }
}

fn print_options(options: &KernelOptions, out: &mut dyn Write) -> fmt::Result {
    let defaults = KernelOptions::default();
    if let Some(block) = options.block {
        writeln!(out, "block = {}", list(&block))?;
    }
    if let Some(n) = options.min_blocks {
        writeln!(out, "min_blocks = {n}")?;
    }
    if let Some(n) = options.max_registers {
        writeln!(out, "max_registers = {n}")?;
    }
    if options.index != defaults.index {
        writeln!(out, "index = {}", if options.index == IndexWidth::Bits64 { 64 } else { 32 })?;
    }
    if options.math != defaults.math {
        writeln!(out, "math = {}", if options.math == Math::Fast { "fast" } else { "precise" })?;
    }
    if options.contract != defaults.contract {
        writeln!(out, "contract = {}", options.contract)?;
    }
    if options.bounds != defaults.bounds {
        writeln!(out, "bounds = {}", if options.bounds == BoundsCheck::Trap { "trap" } else { "unchecked" })?;
    }
    if options.persistent {
        writeln!(out, "persistent = true")?;
    }
    if let Some((_, word)) = TensorCores::ALL.iter().find(|(cores, _)| *cores == options.tensor && *cores != defaults.tensor) {
        writeln!(out, "tensor = {word}")?;
    }
    if options.sums_by_rows {
        writeln!(out, "sums_by_rows = true")?;
    }
    if options.overlap {
        writeln!(out, "overlap = true")?;
    }
    if options.cluster != defaults.cluster {
        writeln!(out, "cluster = {}", list(&options.cluster))?;
    }
    for (name, n) in
        [("ilp", options.ilp), ("vectorize", options.vectorize), ("raster", options.raster)].into_iter().filter(|(_, n)| *n != 1)
    {
        writeln!(out, "{name} = {n}")?;
    }
    Ok(())
}

fn kind_word(kind: &ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Value => "value",
        ObjectKind::Global { writable: false } => "global",
        ObjectKind::Global { writable: true } => "global mut",
        ObjectKind::Constant => "constant",
        ObjectKind::Texture => "texture",
        ObjectKind::Table(_) => "table",
        ObjectKind::Shared => "shared",
        ObjectKind::Peers(_) => "peers",
        ObjectKind::Local => "local",
    }
}

struct StructText<'a>(&'a StructType, &'a Kernel);

impl Display for StructText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.name)?;
        if let Some(align) = self.0.asked_align(&self.1.structs) {
            write!(f, " align {align}")?;
        }
        f.write_str(" {")?;
        for (n, field) in self.0.fields.iter().enumerate() {
            write!(f, "{}{:?}: {}", if n == 0 { " " } else { ", " }, field.name, field.ty)?;
        }
        f.write_str(" }")
    }
}

impl Display for MemoryType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MemoryType::Scalar(ty) => write!(f, "{ty}"),
            MemoryType::Array(element, n) => write!(f, "[{element}; {n}]"),
            MemoryType::Padded(element, n, pad) => write!(f, "[{element}; {n} pad {pad}]"),
            MemoryType::Slice(element) => write!(f, "[{element}]"),
            MemoryType::Struct(id) => write!(f, "{id}"),
        }
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.object)?;
        self.path.iter().try_for_each(|step| match step {
            Step::Index(value) => write!(f, "[{value}]"),
            Step::Field(n) => write!(f, ".{n}"),
        })
    }
}

/// `m1[v2].0`; `m1, v2 + 8`.
impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Address::Path(access) => write!(f, "{access}"),
            Address::Pointer { object, ptr, offset: 0 } => write!(f, "{object}, {ptr}"),
            Address::Pointer { object, ptr, offset } => write!(f, "{object}, {ptr} + {offset}"),
        }
    }
}

impl Display for Memory {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Memory { op, at } = self;
        let way = if matches!(at, Address::Pointer { .. }) { "_at" } else { "" };
        match op {
            MemoryOp::Load => write!(f, "load{way} {at}"),
            MemoryOp::LoadMatrix { is_transposed } => {
                write!(f, "load_matrix{way}{} {at}", if *is_transposed { " transposed" } else { "" })
            }
            MemoryOp::Store(values) => write!(f, "store{way} {at}{}", Rest(values)),
            MemoryOp::StoreMatrix(values) => write!(f, "store_matrix{way} {at}{}", Rest(values)),
            MemoryOp::Atomic(op, atomicity, operands) => {
                write!(f, "atomic{way} {}", op.word())?;
                if *atomicity != Atomicity::RELAXED {
                    let scope = Scope::OF_MEMORY.iter().find(|(scope, _)| *scope == atomicity.scope).map_or("warp", |(_, word)| word);
                    write!(f, ".{}.{scope}", atomicity.order.word())?;
                }
                write!(f, " {at}{}", Rest(operands))
            }
        }
    }
}

/// `load_run m1, m0, v2`; `load_tile m1, m0, ROWS, COLUMNS, PITCH, ROW, COLUMN`, of one of several matrices `, INDEX, COUNT, STRIDE`, and the same of `store_tile`: the array first.
impl Display for Collective {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {}{}", self.word(), self.array(), self.buffer(), Rest(&self.place()))
    }
}

/// `multiply_add m1[v2], m2[v3] transposed, v4, v5 …`; `multiply_add operand bf16 128 x 64 [v1, v2 …], m2[v3], v4 …`; `position f32 128 x 64, v2`; `mma "m16n8k16…", v1, v2 …`: the words of `a`, of `b`, the sums.
impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = self.word();
        let factor = |factor: &ProductFactor| format!("{}{}", factor.array, if factor.is_transposed { " transposed" } else { "" });
        match self {
            Tensor::MultiplyAdd { a, b, sums } => {
                let a = match a {
                    LeftFactor::Tile(tile) => factor(tile),
                    LeftFactor::Sums { shape: [m, k], element, values } => format!("operand {element} {m} x {k} [{}]", List(values)),
                };
                write!(f, "{word} {a}, {}{}", factor(b), Rest(sums))
            }
            Tensor::Store { shape: [m, n], of, to, from, sums } => {
                let from = from.map_or_else(String::new, |from| format!(" from {from}"));
                write!(f, "{word} {of} {m} x {n}, {to}{from}{}", Rest(sums))
            }
            Tensor::Position { shape: [m, n], of, element } => write!(f, "{word} {of} {m} x {n}, {element}"),
            Tensor::Await { sums } => {
                write!(f, "{word} {}", List(sums))
            }
            Tensor::WarpgroupMma { mnk: [m, n, k], a, b, factors, running, sums } => {
                let word = if *running > 0 { format!("{word} left {running}") } else { word.to_owned() };
                let a = match a {
                    WarpgroupFactor::Tile { tile, row } => format!("{}, {row}", factor(tile)),
                    WarpgroupFactor::Words(words) => format!("words [{}]", List(words)),
                };
                write!(f, "{word} {factors} {m} x {n} x {k}, {a}, {}{}", factor(b), Rest(sums))
            }
            Tensor::Mma { shape, a, b, c } => write!(f, "{word} {:?}{}{}{}", shape.name, Rest(a), Rest(b), Rest(c)),
        }
    }
}

impl Display for Engine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Engine::Init { barriers, arrivals: 1 } => write!(f, "{word} {barriers}"),
            Engine::Init { barriers, arrivals } => write!(f, "{word} {barriers}, {arrivals}"),
            Engine::Arrive { barrier, of_block } => {
                write!(f, "{word} {barrier}")?;
                of_block.map_or(Ok(()), |rank| write!(f, " of {rank}"))
            }
            Engine::Turn(object) => write!(f, "{word} {object}"),
            Engine::KeepTurn { barriers, slot, parity } => write!(f, "{word} {barriers}, {slot}, {parity}"),
            Engine::Expect { barrier, bytes: value } | Engine::Wait { barrier, parity: value } => write!(f, "{word} {barrier}, {value}"),
            Engine::CopyRun { to, from, start, barrier } => write!(f, "{word} {to}, {from}, {barrier}, {start}"),
            Engine::CopyTile { to, from, row, column, barrier, share } => {
                let (data, places) = (from.data, from.place(*row, *column));
                let places = Rest(&places);
                match share {
                    None => write!(f, "{word} {to}, {data}, {barrier}{places}"),
                    Some(Share { parts, part, blocks }) => {
                        write!(f, "{word} shared {parts} {to}, {data}, {barrier}{places}, {part}, {blocks}")
                    }
                }
            }
            Engine::StoreTile { from, to, row, column } => {
                write!(f, "{word} {from}, {}{}", to.data, Rest(&to.place(*row, *column)))
            }
            Engine::AwaitStores { but, until } => write!(f, "{word} {but} {}", until.word()),
            Engine::Meet { warpgroup } => write!(f, "{word} {warpgroup}"),
            Engine::CommitStores | Engine::Fence | Engine::Is(_) => f.write_str(word),
        }
    }
}

impl Display for Op {
    /// The instruction without its results and blocks.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Op::Region(Region::If { condition, .. }) => write!(f, "if {condition}"),
            Op::Region(Region::For { start, end, step, .. }) => write!(f, "for {start}..{end} step {step}"),
            Op::Region(Region::Loop { .. }) => f.write_str("loop"),
            Op::Region(Region::Block { .. }) => f.write_str("region"),
            Op::Texture(op, object, coordinates) => write!(f, "texture {} {object}{}", op.word(), Rest(coordinates)),
            Op::Memory(memory) => memory.fmt(f),
            Op::Collective(collective) => collective.fmt(f),
            Op::Tensor(tensor) => tensor.fmt(f),
            Op::Engine(engine) => engine.fmt(f),
            Op::Message(Message::Print(parts, values)) => write!(f, "print {}{}", Parts(parts), Rest(values)),
            Op::Message(Message::Assert(condition, parts, values)) => write!(f, "assert {condition}, {}{}", Parts(parts), Rest(values)),
            Op::Compute(Compute::Const(scalar)) => write!(f, "const {scalar}"),
            Op::Compute(Compute::Special(special, axis)) => write!(f, "{}.{}", special.word(), axis.word()),
            Op::Compute(Compute::Len(object)) => write!(f, "len {object}"),
            Op::Compute(Compute::Address(object)) => write!(f, "address {object}"),
            Op::Compute(Compute::PeerAddress(object, rank)) => write!(f, "peer_address {object}, {rank}"),
            Op::Compute(Compute::Unary(op, _)) => self.with_operands(f, op.word()),
            Op::Compute(Compute::Binary(op, ..)) => self.with_operands(f, op.word()),
            Op::Compute(Compute::Compare(op, ..)) => self.with_operands(f, op.word()),
            Op::Compute(Compute::MulAdd(..)) => self.with_operands(f, "mul_add"),
            Op::Compute(Compute::Select(..)) => self.with_operands(f, "select"),
            Op::Compute(Compute::Cast(_)) => self.with_operands(f, "cast"),
            Op::Compute(Compute::Bitcast(_)) => self.with_operands(f, "bitcast"),
            Op::Compute(Compute::Offset(..)) => self.with_operands(f, "offset"),
            Op::Intrinsic(row, _) => self.with_operands(f, &format!("call {}", row.row().name)),
            Op::Terminator(Terminator::Yield(_)) => self.with_operands(f, "yield"),
            Op::Terminator(Terminator::Break(target, _)) => self.with_operands(f, &format!("break {target}")),
            Op::Terminator(Terminator::Continue(target, _)) => self.with_operands(f, &format!("continue {target}")),
            Op::Terminator(Terminator::Return) => f.write_str("return"),
            Op::Terminator(Terminator::Trap(message)) => write!(f, "trap {message:?}"),
        }
    }
}

impl Op {
    /// Words, then the operands.
    fn with_operands(&self, f: &mut Formatter<'_>, words: &str) -> fmt::Result {
        f.write_str(words)?;
        let separators = [" "].into_iter().chain(std::iter::repeat(", "));
        self.operands().iter().zip(separators).try_for_each(|(value, separator)| write!(f, "{separator}{value}"))
    }
}

/// `v1, v2`.
struct List<'a>(&'a [Value]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.0.split_first() else { return Ok(()) };
        write!(f, "{first}{}", Rest(rest))
    }
}

/// `, v1, v2`.
struct Rest<'a>(&'a [Value]);

impl Display for Rest<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|value| write!(f, ", {value}"))
    }
}

/// `"x = {:.2}"`: a format string as the source has it.
struct Parts<'a>(&'a [PrintPart]);

impl Display for Parts<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for part in self.0 {
            match part {
                PrintPart::Text(part) => text.push_str(&part.replace('{', "{{").replace('}', "}}")),
                PrintPart::Argument(None) => text.push_str("{}"),
                PrintPart::Argument(Some(digits)) => write!(text, "{{:.{digits}}}")?,
            }
        }
        write!(f, "{text:?}")
    }
}

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
