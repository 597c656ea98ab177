//! Memory objects: their sizes, places and what shadow memory must tell apart.

use super::super::SimOptions;
use super::super::program::{ObjectInfo, Program};
use super::Result;
use std::collections::HashMap;
use std::sync::Arc;
use warpwright_codegen::ir::IndexWidth;
use warpwright_codegen::ir::{
    AtomicOp, Atomicity, Engine, Fill, Kernel, Memory, MemoryOp, MemoryOrder, MemoryType, Message, Object, ObjectKind, Op, Scope, Space,
    Tensor, Type,
};

use warpwright_codegen::target::limits::{CONSTANT_BYTES, LOCAL_BYTES, MOST_SHARED_BYTES};

/// Shared objects and local ones begin at multiples of this many bytes, so that any vector fits.
const OBJECT_ALIGN: u64 = 16;

/// A program without steps, its objects laid out.
pub(super) fn layout(kernel: &Arc<Kernel>, options: SimOptions) -> Result<Program> {
    let mut program = Program {
        kernel: kernel.clone(),
        options,
        block: kernel.options.block,
        started: if kernel.has_producer() { kernel.started_block() } else { None },
        is_index_wide: kernel.options.index == IndexWidth::Bits64,
        is_persistent: false,
        cluster: kernel.options.cluster,
        asked_cluster: kernel.options.cluster,
        is_clustered: is_clustered(kernel),
        steps: Vec::new(),
        insts: Vec::new(),
        registers: [0; 3],
        masks: 0,
        presets: Vec::new(),
        segments: Vec::new(),
        checks: Vec::new(),
        accesses: Vec::new(),
        calls: Vec::new(),
        barriers: Vec::new(),
        matrix_loads: Vec::new(),
        matrix_rows: Vec::new(),
        products: Vec::new(),
        awaited_sums: Vec::new(),
        warpgroup_products: Vec::new(),
        engines: Vec::new(),
        messages: Vec::new(),
        textures: Vec::new(),
        branches: Vec::new(),
        objects: Vec::new(),
        params: kernel.params.iter().map(|object| usize::from(*object)).collect(),
        shared_bytes: 0,
        local_bytes: 0,
        is_order_free: is_order_free(kernel),
        waits: false,
        has_fences: false,
        has_patterns: false,
        orders: false,
    };
    let synchronises = Synchronises::of(kernel);
    program.waits = synchronises.waits;
    program.has_fences = synchronises.has_fences;
    program.has_patterns = synchronises.arrays.values().any(Atomics::mix);
    // Barriers of the copy engine order the roles of a kernel with a producer, and no barrier of the block does.
    let has_roles = program.started.is_some();
    program.orders = has_roles
        || synchronises.blocks_wait
        || synchronises.waits && synchronises.has_fences
        || synchronises.is_ordered
        || program.is_clustered
        || synchronises.is_weak && program.options.weak_memory.is_some();
    program.is_order_free &= !program.orders;
    let written = written_objects(kernel);
    let engines = touched_by_engine(kernel);
    let far = kernel.far_aligned();
    for (object, data) in kernel.objects.iter() {
        let n = usize::from(object);
        let (is_slice, unit) = if let MemoryType::Slice(element) = &data.ty {
            (true, element.size(&kernel.structs))
        } else {
            (false, data.ty.size(&kernel.structs))
        };
        if is_slice && unit == 0 {
            return Err(format!("`{}` has elements of no size; give them a field", data.name));
        }
        let base = match data.kind {
            ObjectKind::Shared => &mut program.shared_bytes,
            ObjectKind::Local => &mut program.local_bytes,
            ObjectKind::Value
            | ObjectKind::Global { .. }
            | ObjectKind::Constant
            | ObjectKind::Texture
            | ObjectKind::Table(_)
            | ObjectKind::Peers(_) => &mut 0,
        };
        let start = if let ObjectKind::Peers(array) = data.kind {
            program.objects[usize::from(array)].base
        } else {
            base.next_multiple_of(far.get(&object).copied().unwrap_or(OBJECT_ALIGN))
        };
        if !is_slice {
            *base = start.saturating_add(unit);
        }
        program.objects.push(ObjectInfo {
            name: data.name.clone(),
            space: data.space(),
            is_slice,
            unit,
            granule: smallest_scalar(&data.ty, kernel),
            base: start,
            table: table_bytes(&data.kind),
            is_texture: data.kind == ObjectKind::Texture,
            is_writable: !data.is_read_only(),
            is_written: written[n],
            is_ring: kernel.is_filled_by(object, Fill::Groups),
            is_engines: engines.contains(&object),
            peers_of: if let ObjectKind::Peers(array) = data.kind { Some(usize::from(array)) } else { None },
        });
    }
    // Dynamic arrays come after all static ones, and share their bytes.
    let dynamic = program.shared_bytes.next_multiple_of(OBJECT_ALIGN);
    program.objects.iter_mut().filter(|o| o.space == Space::Shared && o.is_slice).for_each(|o| o.base = dynamic);
    check_sizes(&program)?;
    Ok(program)
}

/// See [`Program::is_clustered`].
fn is_clustered(kernel: &Kernel) -> bool {
    let meets = |inst| kernel.effects(inst).converges == Some(Scope::Cluster);
    kernel.options.has_clusters()
        && (kernel.objects.values().any(|data| data.space() == Space::Cluster) || kernel.insts_in(kernel.body).any(meets))
}

/// Beyond these no device goes either.
fn check_sizes(program: &Program) -> Result<()> {
    let limits = [
        ("local memory of a thread", program.local_bytes, LOCAL_BYTES),
        ("shared memory of a block", program.shared_bytes, MOST_SHARED_BYTES),
    ];
    for (what, bytes, limit) in limits {
        if bytes > u64::from(limit) {
            return Err(format!("{what} is {bytes} bytes; the limit is {limit}; make its arrays smaller"));
        }
    }
    match program.objects_in(Space::Constant).find(|(_, o)| o.unit > u64::from(CONSTANT_BYTES)) {
        Some((_, o)) => {
            Err(format!("constant memory `{}` is {} bytes; the limit is {CONSTANT_BYTES}; pass it as `&Global`", o.name, o.unit))
        }
        None => Ok(()),
    }
}

/// Bytes of the smallest scalar in a type.
fn smallest_scalar(ty: &MemoryType, kernel: &Kernel) -> u64 {
    match ty {
        MemoryType::Scalar(scalar) => u64::from(scalar.bytes()),
        MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element) => smallest_scalar(element, kernel),
        MemoryType::Struct(id) => kernel.structs[*id].fields.iter().map(|f| smallest_scalar(&f.ty, kernel)).min().unwrap_or(1),
    }
}

fn table_bytes(kind: &ObjectKind) -> Vec<u8> {
    let ObjectKind::Table(scalars) = kind else {
        return Vec::new();
    };
    scalars.iter().flat_map(|s| s.bits.to_le_bytes().into_iter().take(s.ty.bytes() as usize)).collect()
}

/// The shared arrays that the copy engine writes or reads, and those that products of warpgroups read as it does.
fn touched_by_engine(kernel: &Kernel) -> Vec<Object> {
    let mut written = Vec::new();
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Engine(engine) = &kernel.insts[inst].op {
            written.extend(engine.copied().map(|(array, _)| array.object));
        }
        if let Op::Tensor(tensor @ Tensor::WarpgroupMma { .. }) = &kernel.insts[inst].op {
            written.extend(tensor.arrays().into_iter().map(|array| array.object));
        }
    });
    written
}

fn written_objects(kernel: &Kernel) -> Vec<bool> {
    let mut written = vec![false; kernel.objects.len()];
    kernel.for_each_inst(|kernel, _, inst| match &kernel.insts[inst].op {
        Op::Memory(Memory { op: MemoryOp::Store(_) | MemoryOp::StoreMatrix(_) | MemoryOp::Atomic(..), at }) => {
            written[usize::from(at.object())] = true;
        }
        Op::Engine(Engine::StoreTile { to, .. }) => written[usize::from(to.data)] = true,
        Op::Memory(_)
        | Op::Compute(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => {}
    });
    written
}

/// By what threads can learn what others have done.
#[derive(Default)]
struct Synchronises {
    /// The result of an atomic is used.
    waits: bool,
    /// Of one on a buffer.
    blocks_wait: bool,
    has_fences: bool,
    /// There are atomics.
    is_weak: bool,
    /// There are atomics that order, that only read or write, or that are for some threads only.
    is_ordered: bool,
    /// Those of each array.
    arrays: HashMap<Object, Atomics>,
}

/// Which atomics an array has.
#[derive(Default)]
struct Atomics {
    release: bool,
    write_only: bool,
    acquire: bool,
    read_only: bool,
}

impl Atomics {
    fn add(&mut self, op: AtomicOp, order: MemoryOrder) {
        let (reads, writes) = (op != AtomicOp::Store, op != AtomicOp::Load);
        self.release |= writes && order.releases();
        self.write_only |= writes && !order.releases();
        self.acquire |= reads && order.acquires();
        self.read_only |= reads && !order.acquires();
    }

    /// See [`Program::has_patterns`].
    fn mix(&self) -> bool {
        self.release && self.write_only || self.acquire && self.read_only
    }
}

impl Synchronises {
    fn of(kernel: &Kernel) -> Synchronises {
        let (uses, mut found) = (kernel.use_counts(), Synchronises::default());
        kernel.for_each_inst(|kernel, _, inst| {
            let data = &kernel.insts[inst];
            let object = match &data.op {
                Op::Memory(Memory { op: MemoryOp::Atomic(op, atomicity, _), at }) => {
                    found.is_weak = true;
                    found.is_ordered |= *atomicity != Atomicity::RELAXED || matches!(op, AtomicOp::Load | AtomicOp::Store);
                    found.has_fences |= atomicity.order != MemoryOrder::Relaxed;
                    let object = at.object();
                    let array = if let ObjectKind::Peers(array) = kernel.objects[object].kind { array } else { object };
                    found.arrays.entry(array).or_default().add(*op, atomicity.order);
                    object
                }
                Op::Intrinsic(row, _) => {
                    // Waiting for its own copies tells nobody else.
                    found.has_fences |=
                        row.row().copy_step().is_none() && !row.row().effects.is_convergent() && row.row().effects.orders.is_some();
                    return;
                }
                Op::Compute(_)
                | Op::Memory(_)
                | Op::Texture(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_)
                | Op::Region(_)
                | Op::Terminator(_) => return,
            };
            let is_used = data.results.iter().any(|v| uses[usize::from(*v)] != 0);
            found.waits |= is_used;
            found.blocks_wait |= is_used && kernel.objects[object].space() == Space::Global;
        });
        found
    }
}

/// See [`Program::is_order_free`].
fn is_order_free(kernel: &Kernel) -> bool {
    let uses = kernel.use_counts();
    let mut free = true;
    kernel.for_each_inst(|kernel, _, inst| {
        let data = &kernel.insts[inst];
        let (op, object, operands) = match &data.op {
            Op::Message(Message::Print(..)) => {
                free = false;
                return;
            }
            Op::Memory(Memory { op: MemoryOp::Atomic(op, _, operands), at }) => (*op, at.object(), operands),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => {
                return;
            }
        };
        let is_global = kernel.objects[object].space() == Space::Global;
        let commutes = !matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Load | AtomicOp::Store);
        let is_exact = operands.iter().all(|v| kernel.ty(*v).is_int());
        let is_used = data.results.iter().any(|v| uses[usize::from(*v)] != 0);
        free &= !is_global || commutes && is_exact && !is_used;
    });
    free
}

/// The type that values of a memory scalar have; a check that the kernel's accesses agree with it.
pub(super) fn scalar_of(ty: &MemoryType) -> Option<Type> {
    if let MemoryType::Scalar(ty) = ty { Some(*ty) } else { None }
}
