//! What stands around the instructions: the header, the entry's parameters and directives, the declarations of memory.

use super::code::{Initial, Linkage, Statement, Variable};
use super::emitter::Emitter;
use super::room::register_bound;
use super::types::{memory_suffix, unsigned, untyped};
use super::words::Word;
use crate::analysis::moved_registers::MovedRegisters;
use crate::annotations::Modifier;
use crate::backend::AbiArgument;
use crate::intrinsics::{ASYNC_COPIES, CLUSTERS, ENGINE};
use crate::ir::{Axis, Fill, Loc, MemoryType, Object, ObjectData, ObjectKind, Type};
use crate::target::limits::{BLOCK_THREADS, CONSTANT_BYTES, LARGE_PARAMETERS};

impl Emitter<'_> {
    /// The arguments in order, and how each is declared.
    pub(super) fn parameters(&mut self) -> (Vec<AbiArgument>, Vec<Variable>) {
        let (mut abi, mut declared) = (Vec::new(), Vec::new());
        let index_bytes = u64::from(self.kernel.index_type().bytes());
        let index_type = unsigned(self.kernel.index_type().bits());
        for (param, object) in self.kernel.params.iter().enumerate() {
            let data = &self.kernel.objects[*object];
            let (bytes, align) = (data.ty.size(&self.kernel.structs), data.ty.align(&self.kernel.structs));
            let symbol = self.symbol(*object);
            match data.kind {
                ObjectKind::Constant => abi.push(AbiArgument::ConstantSymbol { param, symbol: symbol.to_string(), bytes }),
                ObjectKind::Global { .. } => {
                    abi.push(AbiArgument::Buffer { param });
                    declared.push(Variable::parameter(Word::U64, symbol));
                    if self.lengths.contains(object) {
                        abi.push(AbiArgument::Length { param, bytes: index_bytes });
                        declared.push(Variable::parameter(index_type, self.length_symbol(*object)));
                    }
                }
                ObjectKind::Texture => self.texture_parameters(param, *object, &mut abi, &mut declared),
                // A value of no bytes has no argument.
                _ if bytes == 0 => {}
                _ => {
                    abi.push(AbiArgument::Value { param, bytes, align });
                    declared.push(match &data.ty {
                        MemoryType::Scalar(ty) => Variable::parameter(memory_suffix(*ty), symbol),
                        _ => Variable::bytes(Word::Param, align, symbol, bytes),
                    });
                }
            }
        }
        for object in self.lengths.clone() {
            let data = &self.kernel.objects[object];
            if data.kind == ObjectKind::Shared {
                let element = match &data.ty {
                    MemoryType::Slice(element) => element.size(&self.kernel.structs),
                    other => other.size(&self.kernel.structs),
                };
                abi.push(AbiArgument::DynamicLength { element, bytes: index_bytes });
                declared.push(Variable::parameter(index_type, self.length_symbol(object)));
            }
        }
        for axis in [Axis::X, Axis::Y, Axis::Z].into_iter().filter(|_| self.asks_grid) {
            abi.push(AbiArgument::AskedGrid { axis });
            declared.push(Variable::parameter(Word::U32, self.asked_grid_symbol(axis)));
        }
        for (n, map) in self.maps.iter().enumerate() {
            abi.push(AbiArgument::TensorMap(*map));
            declared.push(Variable::bytes(Word::Param, 64, self.map_symbol(n), 128));
        }
        self.check_parameters(&abi);
        (abi, declared)
    }

    fn check_parameters(&mut self, abi: &[AbiArgument]) {
        let end = |at: u64, argument: &AbiArgument| match argument {
            AbiArgument::Value { bytes, align, .. } => at.next_multiple_of((*align).max(1)) + bytes,
            AbiArgument::Buffer { .. } | AbiArgument::Texture { .. } => at.next_multiple_of(8) + 8,
            AbiArgument::Length { bytes, .. } | AbiArgument::DynamicLength { bytes, .. } => at.next_multiple_of(*bytes) + bytes,
            AbiArgument::TensorMap(_) => at.next_multiple_of(64) + 128,
            AbiArgument::Extent { .. } | AbiArgument::AskedGrid { .. } => at.next_multiple_of(4) + 4,
            _ => at,
        };
        let bytes = abi.iter().fold(0, end);
        let limit = u64::from(self.target.limits.parameter_bytes);
        if bytes > limit {
            let message = format!("the parameters take {bytes} bytes, and {} has {limit}", self.target.name);
            self.refuse_at(Loc(0), message, "pass the data in a buffer, `&Global<T>`".into());
        } else if bytes > u64::from(LARGE_PARAMETERS.above) {
            self.needs(LARGE_PARAMETERS.ptx_version);
        }
    }

    /// Shared and local memory, within the entry; the bytes of shared memory.
    pub(super) fn memory(&mut self) -> (Vec<Variable>, u64) {
        let (mut declared, mut shared) = (Vec::new(), 0u64);
        let mut objects: Vec<(Object, &ObjectData)> = self.kernel.objects.iter().collect();
        // Those of the largest multiples first: there is little room between them.
        objects.sort_by_key(|(object, _)| std::cmp::Reverse(self.far_aligned.get(object).copied()));
        for (object, data) in objects {
            let space = match data.kind {
                ObjectKind::Shared => Word::Shared,
                ObjectKind::Local => Word::Local,
                _ => continue,
            };
            if matches!(data.ty, MemoryType::Slice(_)) {
                continue;
            }
            // Whole words: narrow atomics work on the word around them. Vector accesses want up to 16 bytes of alignment.
            let (bytes, align) = (self.bytes(data).max(1).next_multiple_of(4), self.alignment(object, data));
            if self.place_in_region(object).is_none() {
                declared.push(Variable::bytes(space, align, self.symbol(object), bytes));
            }
            if data.kind == ObjectKind::Shared {
                shared = shared.next_multiple_of(align) + bytes;
                if shared > u64::from(self.target.limits.shared_opted_in) {
                    let (limit, target) = (self.target.limits.shared_opted_in, self.target.name);
                    let message =
                        format!("shared arrays up to `{}` take {shared} bytes, and a block on {target} can have {limit}", data.name);
                    let targets = "name targets that have more: `targets = [sm_90]`";
                    let (place, help) = match self.most_stages() {
                        Some((place, most)) if most > 1 => (place, format!("write `stages = {most}` at most, or {targets}")),
                        _ => (data.loc, format!("make an array smaller, or {targets}")),
                    };
                    self.refuse_at(place, message, help);
                    return (declared, shared);
                }
            }
        }
        let limit = u64::from(self.target.limits.shared_opted_in);
        if let Some(bytes) = self.region.as_ref().map(|region| region.bytes).filter(|bytes| *bytes > limit) {
            let place = self.kernel.objects.values().rfind(|data| data.kind == ObjectKind::Shared).map_or(Loc(0), |data| data.loc);
            let message = format!(
                "shared arrays take {bytes} bytes, each from a multiple of 16 on, and a block on {} can have {limit}",
                self.target.name
            );
            self.refuse_at(place, message, "make an array smaller, or several small ones one".into());
            return (declared, bytes);
        }
        if self.has_print {
            declared.push(Variable::bytes(Word::Local, 8, self.print_symbol(), self.print_bytes.max(8).into()));
        }
        (declared, self.region.as_ref().map_or(shared, |region| region.bytes))
    }

    /// Refuses annotations that name what this target does not have.
    pub(super) fn check_rings(&mut self) {
        if self.cluster().is_some() {
            self.needs(CLUSTERS.ptx_version);
        }
        let kernel = self.kernel;
        let mut places: Vec<Loc> = Vec::new();
        for ring in kernel.rings.values().filter(|ring| ring.is_required) {
            let (needs, sm) = match ring.by {
                Some(Modifier::ByCpAsync) => (ASYNC_COPIES, "sm_80"),
                Some(Modifier::ByBulk | Modifier::ByTma) => (ENGINE, "sm_90"),
                // Elsewhere the block's threads copy.
                Some(Modifier::Producer) if ENGINE.is_met_by(self.target) => (ENGINE, "sm_90"),
                _ => continue,
            };
            if places.contains(&ring.place) {
                continue;
            }
            let is_for_engine = matches!(ring.by, Some(Modifier::ByBulk | Modifier::ByTma | Modifier::Producer));
            if needs.is_met_by(self.target) {
                // The form for the engine was refused.
                if is_for_engine && !matches!(ring.fill, Fill::Engine | Fill::EngineOut) {
                    places.push(ring.place);
                    let by = ring.by.map_or("", Modifier::name);
                    let message = format!("`{by}`: the kernel becomes too large where the copy engine copies");
                    let leave = if ring.by == Some(Modifier::Producer) { "producer" } else { "by" };
                    self.refuse_at(ring.place, message, format!("unroll less, or leave `{leave}` out"));
                }
                continue;
            }
            places.push(ring.place);
            let by = ring.by.map_or("", Modifier::name);
            let message = format!("`{by}` needs {sm}, and this is {}", self.target.name);
            self.refuse_at(
                ring.place,
                message,
                format!("leave `by` out, which takes what a target has, or name other targets: `targets = [{sm}]`"),
            );
        }
    }

    /// The most stages whose slots fit the target beside all other arrays, where there are pipelines, and the annotation of one. Those with fewer stages
    /// keep theirs.
    fn most_stages(&self) -> Option<(Loc, u64)> {
        let kernel = self.kernel;
        let stages = |object: &Object| match kernel.objects[*object].ty {
            MemoryType::Array(_, slots) => slots,
            _ => 1,
        };
        let most = kernel.rings.keys().map(stages).max()?;
        let bytes_with = |limit: u64| {
            let shared = kernel.objects.iter().filter(|(_, data)| data.kind == ObjectKind::Shared);
            let bytes = |(object, data): (Object, &ObjectData)| {
                let slots = if kernel.rings.contains_key(&object) { stages(&object) } else { 1 };
                self.bytes(data) / slots * slots.min(limit)
            };
            shared.map(|one| bytes(one).next_multiple_of(16)).sum::<u64>()
        };
        let fits = (1..most).rev().find(|stages| bytes_with(*stages) <= u64::from(self.target.limits.shared_opted_in))?;
        let ring = kernel.rings.iter().max_by_key(|(object, _)| stages(object))?;
        Some((ring.1.place, fits))
    }

    fn bytes(&self, data: &ObjectData) -> u64 {
        data.ty.size(&self.kernel.structs)
    }

    /// The alignment of an array: its own, and that of a vector access where it is large enough for one.
    fn alignment(&self, object: Object, data: &ObjectData) -> u64 {
        if let Some(align) = self.far_aligned.get(&object) {
            return *align;
        }
        let own = data.ty.align(&self.kernel.structs).max(4);
        if matches!(data.ty, MemoryType::Slice(_)) || self.bytes(data) >= 16 {
            own.max(16)
        } else {
            own.max(self.bytes(data).next_power_of_two().min(16))
        }
    }

    /// What stands before the entry: texts, constants, dynamic shared memory.
    pub(super) fn variables(&mut self) -> Vec<Variable> {
        let text = |(n, text): (usize, &String)| {
            let variable = Variable::bytes(Word::Global, 1, self.text_symbol(n), text.len() as u64 + 1);
            Variable { initial: Initial::Text(text.clone()), ..variable }
        };
        let mut declared: Vec<Variable> = self.strings.iter().enumerate().map(text).collect();
        self.constants(&mut declared);
        let is_dynamic = |data: &ObjectData| data.kind == ObjectKind::Shared && matches!(data.ty, MemoryType::Slice(_));
        let own = self.kernel.objects.iter().find(|(_, data)| is_dynamic(data)).map(|(object, _)| self.symbol(object));
        let region = self.region.as_ref().map(|_| self.region_symbol().into());
        declared.extend(region.or(own).map(|symbol| {
            let align = self.region.as_ref().map_or(16, |region| region.align);
            let variable = Variable::bytes(Word::Shared, align, symbol, 0);
            Variable { linkage: Linkage::Extern, length: Some(None), ..variable }
        }));
        declared
    }

    fn constants(&mut self, declared: &mut Vec<Variable>) {
        let mut total = 0u64;
        for (object, data) in self.kernel.objects.iter() {
            let table = match &data.kind {
                ObjectKind::Constant => None,
                ObjectKind::Table(scalars) => Some(scalars),
                ObjectKind::Global { .. }
                | ObjectKind::Shared
                | ObjectKind::Peers(_)
                | ObjectKind::Local
                | ObjectKind::Value
                | ObjectKind::Texture => continue,
            };
            let (bytes, align) = (self.bytes(data), self.alignment(object, data));
            total += bytes;
            if total > u64::from(CONSTANT_BYTES) {
                // A table has no name in the source: it is a constant array where it is indexed.
                let last = match table {
                    None => format!("`{}`", data.name),
                    Some(scalars) => format!("this array of {} `{}`", scalars.len(), scalars.first().map_or(Type::U8, |scalar| scalar.ty)),
                };
                let message = format!("constants up to {last} take {total} bytes, and there are {CONSTANT_BYTES}");
                return self.refuse_at(data.loc, message, "pass the data in a buffer, `&Global<T>`".into());
            }
            let variable = Variable::bytes(Word::Const, align, self.symbol(object), bytes.max(1));
            declared.push(match table {
                None => Variable { linkage: Linkage::Visible, ..variable },
                Some(scalars) => Variable {
                    ty: untyped(scalars.first().map_or(Type::U8, |scalar| scalar.ty).bytes() * 8),
                    length: Some(Some(scalars.len().max(1) as u64)),
                    initial: Initial::Table(scalars.iter().map(|scalar| scalar.bits).collect()),
                    ..variable
                },
            });
        }
    }

    /// Blocks of a cluster, if they are started in clusters. On a target without them they are alone: what asks for the others was refused.
    pub(super) fn cluster(&self) -> Option<[u32; 3]> {
        let options = &self.kernel.options;
        (options.has_clusters() && CLUSTERS.is_met_by(self.target)).then_some(options.cluster)
    }

    /// `.reqntid` and its like.
    pub(super) fn directives(&self) -> Vec<(&'static str, Vec<u32>)> {
        let options = &self.kernel.options;
        let threads = match self.kernel.started_block() {
            Some(block) => ("reqntid", block.to_vec()),
            // What it can at most be launched with.
            None => ("maxntid", vec![BLOCK_THREADS, 1, 1]),
        };
        let explicit = self.cluster().map(|_| ("explicitcluster", Vec::new()));
        let cluster = self.cluster().map(|extents| ("reqnctapercluster", extents.to_vec()));
        let blocks = options.min_blocks.map(|blocks| ("minnctapersm", vec![blocks]));
        let moved = MovedRegisters::of(self.kernel, self.target).map(|moved| moved.entry);
        let registers =
            options.max_registers.or(moved).or_else(|| register_bound(self.kernel, &self.code, self.target).map(|bound| bound.most));
        let registers = registers.map(|registers| ("maxnreg", vec![registers]));
        [Some(threads), explicit, cluster, blocks, registers].into_iter().flatten().collect()
    }

    /// The source files, if a location names any.
    pub(super) fn files(&self) -> Vec<String> {
        let has_places = self.code.iter().any(|statement| matches!(statement, Statement::Loc(_)));
        if has_places { self.kernel.files.clone() } else { Vec::new() }
    }
}

/// The name of an entry: PTX takes Rust's names but for letters beyond ASCII, and for the one constant that it predefines.
pub(super) fn entry_name(name: &str) -> String {
    let mut entry: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if entry == "WARP_SZ" || entry.is_empty() || entry == "_" || entry.starts_with(|c: char| c.is_ascii_digit()) {
        entry.insert_str(0, "k_");
    }
    // These names are the module's own.
    if matches!(entry.as_str(), "vprintf" | "__assertfail") {
        entry.push('_');
    }
    entry
}
