//! The copy engine: its barriers, its copies, and that nothing else touches a barrier.

use super::Verifier;
use crate::ir::{Access, BARRIER, Engine, Kernel, MemoryType, Object, ObjectKind, Op, Share, Type, Value, WARPGROUP};
use crate::target::limits::VECTOR_BYTES;

/// The most arrivals that a barrier counts (PTX ISA, "mbarrier: contents of the mbarrier object").
const MOST_ARRIVALS: u32 = (1 << 20) - 1;

impl Verifier<'_> {
    pub(super) fn check_engine(&mut self, engine: &Engine, results: &[Value]) {
        let kernel = self.kernel;
        if let Some(object) = engine.barriers() {
            let data = &kernel.objects[object];
            let is_array = matches!(&data.ty, MemoryType::Array(element, _) if **element == MemoryType::Scalar(BARRIER));
            self.require(data.kind == ObjectKind::Shared && is_array, || format!("{object} is no shared array of barriers"));
        }
        match engine {
            Engine::Init { arrivals, .. } => {
                self.require((1..=MOST_ARRIVALS).contains(arrivals), || format!("a barrier of {arrivals} arrivals"));
            }
            Engine::Arrive { barrier, of_block } => {
                self.check_barrier(barrier);
                if let Some(rank) = of_block {
                    self.check_type(*rank, Type::U32, "the block of a barrier");
                    self.require(kernel.options.has_clusters(), || "a barrier of another block, and there are no clusters".to_owned());
                }
            }
            Engine::CommitStores | Engine::AwaitStores { .. } | Engine::Fence => {}
            Engine::Meet { warpgroup } => {
                self.check_type(*warpgroup, Type::U32, "the number of a warpgroup");
                let threads = kernel.options.block.map_or(0, |block| block.iter().map(|side| u64::from(*side)).product());
                self.require(threads > 0 && threads.is_multiple_of(WARPGROUP), || format!("{threads} threads are no whole warpgroups"));
            }
            Engine::Is(_) => return self.check_results(results, &[Type::Bool]),
            Engine::Turn(_) => return self.check_results(results, &[Type::U32; 2]),
            Engine::KeepTurn { slot, parity, .. } => {
                for value in [slot, parity] {
                    self.check_type(*value, Type::U32, "where the ring stands");
                }
            }
            Engine::Expect { barrier, bytes: value } | Engine::Wait { barrier, parity: value } => {
                self.check_barrier(barrier);
                self.check_type(*value, Type::U32, "the operand");
            }
            Engine::CopyRun { to, from, start, barrier } => {
                self.check_barrier(barrier);
                self.check_type(*start, kernel.index_type(), "a place");
                self.check_copied(to, *from, false);
            }
            Engine::CopyTile { to, from, row, column, barrier, share } => {
                self.check_barrier(barrier);
                if let Some(Share { parts, part, blocks }) = share {
                    for value in [part, blocks] {
                        self.check_type(*value, Type::U32, "what blocks share");
                    }
                    let rows = kernel.tile_of(to).map_or(0, |(rows, ..)| rows);
                    let is_whole = *parts > 1 && rows.is_multiple_of(u64::from(*parts));
                    self.require(is_whole, || format!("{rows} rows in {parts} parts"));
                    let fits = kernel.options.cluster_blocks() >= *parts;
                    self.require(fits, || format!("{parts} blocks share a tile, and a cluster has fewer"));
                }
                for value in from.place(*row, *column) {
                    self.check_type(value, kernel.index_type(), "a place");
                }
                self.check_copied(to, from.data, true);
            }
            Engine::StoreTile { from, to, row, column } => {
                for value in to.place(*row, *column) {
                    self.check_type(value, kernel.index_type(), "a place");
                }
                self.check_copied(from, to.data, true);
                self.require(!kernel.objects[to.data].is_read_only(), || format!("{} is read-only", to.data));
            }
        }
        self.check_results(results, &[]);
    }

    /// The path leads to one barrier.
    fn check_barrier(&mut self, barrier: &Access) {
        let leads = barrier.leads_to(self.kernel) == Some(&MemoryType::Scalar(BARRIER));
        self.require(leads, || format!("{barrier} is no barrier"));
        self.check_indices(barrier);
    }

    fn check_indices(&mut self, access: &Access) {
        for index in access.indices() {
            let ty = self.kernel.ty(index);
            self.require(ty == Type::U32 || ty == self.kernel.index_type(), || format!("index {index} is `{ty}`"));
        }
    }

    /// An array in shared memory (of rows: a tile), whole vectors long, of a buffer's elements.
    fn check_copied(&mut self, to: &Access, from: Object, is_tile: bool) {
        let kernel = self.kernel;
        self.check_indices(to);
        self.require(kernel.objects[to.object].kind == ObjectKind::Shared, || format!("{} is no shared array", to.object));
        let is_buffer = matches!(kernel.objects[from].kind, ObjectKind::Global { .. });
        self.require(is_buffer, || format!("{from} is no buffer"));
        let element = |ty: Option<&MemoryType>| {
            if let Some(MemoryType::Array(element, _)) = ty { Some(MemoryType::clone(element)) } else { None }
        };
        let mut of_array = element(to.leads_to(kernel));
        if is_tile {
            of_array = element(of_array.as_ref());
        }
        let of_buffer = if let MemoryType::Slice(element) = &kernel.objects[from].ty { Some(MemoryType::clone(element)) } else { None };
        self.require(of_array.is_some() && of_array == of_buffer, || format!("{to} and {from} are not of the same elements"));
        let bytes = kernel.bytes_of(to);
        let is_whole = bytes > 0 && bytes.is_multiple_of(VECTOR_BYTES as u64);
        self.require(is_whole, || format!("{bytes} bytes are no whole vectors"));
    }

    /// Nothing but the engine touches a barrier.
    pub(super) fn check_barriers_are_alone(&mut self) {
        let mut touched: Vec<(Option<crate::ir::Inst>, Object)> = Vec::new();
        let barriers = barriers(self.kernel);
        self.kernel.for_each_inst(|kernel, _, inst| {
            let op = &kernel.insts[inst].op;
            let copied = if let Op::Engine(engine) = op { engine.copied() } else { None };
            let of_op = [op.object(), copied.map(|(_, from)| from)];
            if !matches!(op, Op::Engine(_)) || copied.is_some() {
                touched.extend(of_op.into_iter().flatten().filter(|object| barriers.contains(object)).map(|object| (Some(inst), object)));
            }
        });
        for (inst, object) in touched {
            self.inst = inst;
            self.complain(format!("{object} are barriers"));
        }
    }
}

/// The arrays of barriers.
fn barriers(kernel: &Kernel) -> Vec<Object> {
    let mut found = Vec::new();
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Engine(engine) = &kernel.insts[inst].op {
            found.extend(engine.barriers().filter(|object| !found.contains(object)));
        }
    });
    found
}
