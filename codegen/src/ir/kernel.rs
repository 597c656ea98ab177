//! A kernel: the vectors that own everything, and where it stands in the pipeline.

use super::intrinsic::IntrinsicId;
use super::{
    Access, Annotations, Block, Compute, EntityMap, Inst, Loc, Object, ObjectData, Op, Region, Step, StructId, StructType, Terminator,
    Type, Value,
};
use crate::annotations::{Annotation, Modifier, PREFETCH};
use crate::ir::{CacheHint, KernelOptions, Space, Swizzle};
use std::collections::{BTreeMap, BTreeSet};

/// Where a kernel stands. Each stage keeps the invariants of the ones before, but for what its line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// As lowered from the source.
    Built,
    /// Annotations have been consumed.
    Scheduled,
    /// Optimised; only operations every device has. The simulator and OpenCL C start here.
    Legal,
    /// Accesses have become addresses (`Compute::Address`, `Compute::Offset`, `Address::Pointer`). PTX starts here.
    Addressed,
}

impl Stage {
    /// Every stage, with its word in the text form.
    pub const ALL: [(Stage, &'static str); 4] =
        [(Stage::Built, "built"), (Stage::Scheduled, "scheduled"), (Stage::Legal, "legal"), (Stage::Addressed, "addressed")];
}

/// A place in the user's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Location {
    /// Index into [`Kernel::files`].
    pub file: u16,
    /// From 1; 0 is "nowhere".
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The function of the language that is called there, where the instructions are what it is made of: `warp_sum`'s shuffles.
    pub call: Option<IntrinsicId>,
    /// Where the device function was called that this stands in; nothing where it stands in the kernel, or calls are not kept apart (`pipeline::lower_with_calls` does).
    pub caller: Option<Loc>,
}

/// What defines a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// The n-th result of an instruction.
    Result(Inst, u16),
    /// The n-th parameter of a block.
    Param(Block, u16),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// What defines it.
    pub def: ValueDef,
    /// The source's name for it, if it has one: a hint for printing.
    pub name: Option<Box<str>>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// What it gives.
    pub results: Vec<Value>,
    /// Where it comes from.
    pub loc: Loc,
}

/// A block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockData {
    /// Values bound when it is entered.
    pub params: Vec<Value>,
    /// Invariant: once built, the last one and only it is a terminator.
    pub insts: Vec<Inst>,
}

/// Loads that an annotation issues before what stood ahead of them in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyLoads {
    /// The annotation that was kept.
    pub annotation: &'static Annotation,
    /// Where the source says it.
    pub place: Loc,
    /// The loads. Those that a later pass removed are in no block. A set, since each instruction that is copied is looked up in it.
    pub loads: BTreeSet<Inst>,
}

impl EarlyLoads {
    /// Whether these are loads of shared arrays that `prefetch` issues early: it takes loads of one space.
    pub fn are_fragments(&self, kernel: &Kernel) -> bool {
        let is_of_shared =
            |load: &Inst| kernel.insts[*load].op.object().is_some_and(|object| kernel.objects[object].space() == Space::Shared);
        *self.annotation == PREFETCH && self.loads.iter().any(is_of_shared)
    }
}

/// What `pipeline` made of a shared array: slots, the outermost dimension, that are filled while others are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The annotation.
    pub place: Loc,
    /// Whether it is an error if a target that copies by itself cannot copy one of its stores so.
    pub is_required: bool,
    /// What fills its slots.
    pub fill: Fill,
    /// What is to make the copies, where the annotation says so.
    pub by: Option<Modifier>,
}

/// What fills the slots of a ring, and, where it is what threads compute, what copies them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Stores like any other.
    Stores,
    /// Stores that a target makes `cp.async` of, if it can: they arrive later.
    Groups,
    /// The copy engine.
    Engine,
    /// Stores like any other: threads copy it to a buffer then.
    Out,
    /// Stores like any other: the copy engine copies it to a buffer then.
    EngineOut,
}

impl Fill {
    /// Each with its word in the text form.
    pub const ALL: [(Fill, &'static str); 5] = [
        (Fill::Stores, "plain"),
        (Fill::Groups, "ring"),
        (Fill::Engine, "engine"),
        (Fill::Out, "outgoing"),
        (Fill::EngineOut, "engine_outgoing"),
    ];

    /// Its word in the text form.
    pub fn word(self) -> &'static str {
        Fill::ALL.into_iter().find(|(fill, _)| *fill == self).map_or("", |(_, word)| word)
    }
}

/// A kernel: one instance, all generics filled in, all device functions inlined.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its name in the source.
    pub name: String,
    /// The arguments of its attribute, evaluated.
    pub options: KernelOptions,
    /// Where it stands: which invariants the verifier holds it to, and what its text form says.
    pub(crate) stage: Stage,
    /// Its parameters, in the host's order.
    pub params: Vec<Object>,
    /// Struct types that memory objects use.
    pub structs: EntityMap<StructId, StructType>,
    /// Memory objects.
    pub objects: EntityMap<Object, ObjectData>,
    /// Values, used or not.
    pub values: EntityMap<Value, ValueData>,
    /// Instructions, in a block or not.
    pub insts: EntityMap<Inst, InstData>,
    /// Blocks, reachable or not.
    pub blocks: EntityMap<Block, BlockData>,
    /// The body.
    pub body: Block,
    /// What the source asks of a `For` or `Loop`. Empty from `Scheduled` on.
    pub annotations: BTreeMap<Inst, Annotations>,
    /// Shared arrays whose source says `swizzle`, and how. Up to `Scheduled`, types and indices are the source's. From then on they are those of memory: the
    /// last two dimensions of an array that is swizzled over bytes are a slab's, before them comes the slab, if there are several, and none is
    /// [`Swizzle::Columns`] any more.
    pub swizzled: BTreeMap<Object, Swizzle>,
    /// Shared arrays that are rings. What is stored to one that groups fill may arrive at any time up to the `await_copies` that covers it, what the engine
    /// copies up to the end of its barrier's phase; nobody may touch it before.
    pub rings: BTreeMap<Object, Ring>,
    /// What annotations moved ahead: their order is a promise, which assemblers are held to.
    pub early_loads: Vec<EarlyLoads>,
    /// Buffers whose source says how the caches are to treat them.
    pub cached: BTreeMap<Object, CacheHint>,
    /// Source files.
    pub files: Vec<String>,
    /// Places in them. Index 0 is "nowhere".
    pub locations: EntityMap<Loc, Location>,
}

/// Instructions that are looked at for a value made of constants.
const MOST_KNOWN: u32 = 1000;

impl Kernel {
    /// Whether an object is a ring that is filled so.
    pub fn is_filled_by(&self, object: Object, fill: Fill) -> bool {
        self.rings.get(&object).is_some_and(|ring| ring.fill == fill)
    }

    /// A kernel with an empty body.
    pub fn new(name: impl Into<String>, options: KernelOptions) -> Kernel {
        let mut blocks = EntityMap::default();
        let body = blocks.push(BlockData::default());
        let mut locations = EntityMap::default();
        locations.push(Location::default());
        Kernel {
            name: name.into(),
            options,
            stage: Stage::Built,
            params: Vec::new(),
            structs: EntityMap::default(),
            objects: EntityMap::default(),
            values: EntityMap::default(),
            insts: EntityMap::default(),
            blocks,
            body,
            annotations: BTreeMap::new(),
            swizzled: BTreeMap::new(),
            rings: BTreeMap::new(),
            early_loads: Vec::new(),
            cached: BTreeMap::new(),
            files: Vec::new(),
            locations,
        }
    }

    /// Where it stands.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// What a value is defined by, if that is an instruction.
    pub fn def(&self, value: Value) -> Option<(Inst, &Op)> {
        match self.values[value].def {
            ValueDef::Result(inst, _) => Some((inst, &self.insts[inst].op)),
            ValueDef::Param(..) => None,
        }
    }

    /// The constant a value is, if it is one.
    pub fn constant(&self, value: Value) -> Option<super::Scalar> {
        match self.def(value) {
            Some((_, Op::Compute(Compute::Const(scalar)))) => Some(*scalar),
            _ => None,
        }
    }

    /// The value of what is computed from constants alone.
    pub fn known(&self, value: Value) -> Option<super::Scalar> {
        self.known_within(value, &mut { MOST_KNOWN })
    }

    /// The same, by at most so many instructions: sums of one value with itself, again and again, would be looked through twice each.
    fn known_within(&self, value: Value, left: &mut u32) -> Option<super::Scalar> {
        *left = left.checked_sub(1)?;
        let (_, op) = self.def(value)?;
        let Op::Compute(compute) = op else { return None };
        super::eval::compute(compute, self.ty(value), |operand| self.known_within(operand, left))
    }

    /// What the instructions of a block do, in order.
    pub fn ops(&self, block: Block) -> impl DoubleEndedIterator<Item = &Op> + ExactSizeIterator {
        self.blocks[block].insts.iter().map(|inst| &self.insts[*inst].op)
    }

    /// The terminator of a block that has one.
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        self.blocks[block].insts.last().copied().filter(|inst| self.insts[*inst].op.is_terminator())
    }

    /// What a block yields, if it ends in a `Yield`.
    pub fn yielded(&self, block: Block) -> Option<&[Value]> {
        if let Op::Terminator(Terminator::Yield(values)) = &self.insts[self.terminator(block)?].op { Some(values) } else { None }
    }

    /// The parameters of a loop's body that are carried round; none if it is no loop.
    pub fn carried(&self, inst: Inst) -> &[Value] {
        match self.insts[inst].op {
            Op::Region(Region::For { body, .. }) => self.blocks[body].params.get(1..).unwrap_or_default(),
            Op::Region(Region::Loop { body, .. }) => &self.blocks[body].params,
            _ => &[],
        }
    }

    /// How often a `For` runs, if its bounds are constants.
    pub fn trips(&self, inst: Inst) -> Option<u64> {
        let Op::Region(Region::For { start, end, step, .. }) = self.insts[inst].op else { return None };
        let constant = |value| self.constant(value).map(|scalar| scalar.as_int());
        super::eval::trips([constant(start)?, constant(end)?, constant(step)?])
    }

    /// The way that an access takes, as numbers, if all its indices are constants.
    pub fn constant_path(&self, access: &Access) -> Option<Vec<u64>> {
        let step = |step: &Step| match step {
            Step::Field(field) => Some(u64::from(*field)),
            Step::Index(index) => self.constant(*index).map(|index| index.bits),
        };
        access.path.iter().map(step).collect()
    }

    /// The type of `usize` in this kernel.
    pub fn index_type(&self) -> Type {
        self.options.index.unsigned()
    }

    /// A new value.
    pub fn new_value(&mut self, ty: Type, def: ValueDef) -> Value {
        self.values.push(ValueData { ty, def, name: None })
    }

    /// A new, empty block with parameters of these types.
    pub fn new_block(&mut self, params: &[Type]) -> Block {
        let block = self.blocks.push(BlockData::default());
        for ty in params {
            self.add_param(block, *ty);
        }
        block
    }

    /// Appends a parameter to a block.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        let n = u16::try_from(self.blocks[block].params.len()).expect("fewer than 65,536 block parameters");
        let value = self.new_value(ty, ValueDef::Param(block, n));
        self.blocks[block].params.push(value);
        value
    }

    /// A new instruction, in no block yet, with results of these types.
    pub fn new_inst(&mut self, op: Op, results: &[Type], loc: Loc) -> Inst {
        let inst = self.insts.push(InstData { op, results: Vec::new(), loc });
        for ty in results {
            self.add_result(inst, *ty);
        }
        inst
    }

    /// Appends a result to an instruction.
    pub fn add_result(&mut self, inst: Inst, ty: Type) -> Value {
        let n = u16::try_from(self.insts[inst].results.len()).expect("fewer than 65,536 results");
        let value = self.new_value(ty, ValueDef::Result(inst, n));
        self.insts[inst].results.push(value);
        value
    }

    /// The source location of an instruction.
    pub fn location(&self, inst: Inst) -> Location {
        self.locations[self.insts[inst].loc]
    }

    /// The name of what the source calls where an instruction stands: that of the intrinsic that it is made of, or is; else nothing.
    pub fn called(&self, inst: Inst) -> &'static str {
        let own = if let Op::Intrinsic(row, _) = self.insts[inst].op { row.row().name } else { "" };
        self.location(inst).call.map_or(own, |call| call.row().name)
    }
}
