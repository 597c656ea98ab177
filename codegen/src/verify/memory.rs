//! Memory: objects, and the instructions that touch them, as accesses or through addresses.

use super::Verifier;
use super::structure::list;
use crate::ir::{
    Access, Address, AtomicOp, Atomicity, Collective, Compute, Memory, MemoryOp, MemoryType, Object, ObjectData, ObjectKind, Op,
    SWIZZLE_ROWS, Scope, Space, Stage, TextureOp, Type, Value,
};

impl Verifier<'_> {
    pub(super) fn check_objects(&mut self) {
        let kernel = self.kernel;
        for (id, object) in kernel.objects.iter() {
            let times = kernel.params.iter().filter(|param| **param == id).count();
            let is_param =
                matches!(object.kind, ObjectKind::Value | ObjectKind::Global { .. } | ObjectKind::Constant | ObjectKind::Texture);
            self.require(times == usize::from(is_param), || format!("{id} is {times} times among the parameters"));
            self.check_object_type(id, object);
            self.check_peers(id, object);
        }
        for id in kernel.cached.keys() {
            let is_buffer = matches!(kernel.objects[*id].kind, ObjectKind::Global { .. });
            self.require(is_buffer, || format!("a hint for the caches of {id}, which is no buffer"));
        }
        for id in kernel.rings.keys() {
            let data = &kernel.objects[*id];
            let has_slots = matches!(data.ty, MemoryType::Array(_, slots) if slots > 1);
            self.require(data.kind == ObjectKind::Shared && has_slots, || format!("{id} is no ring"));
        }
        for (id, swizzle) in &kernel.swizzled {
            let data = &kernel.objects[*id];
            let is_built = kernel.stage == Stage::Built;
            let fits = match swizzle.bytes() {
                None => data.ty.columns().is_some_and(u64::is_power_of_two),
                Some(bytes) => data.ty.tile().is_some_and(|(rows, columns, element)| {
                    let row = columns * u64::from(element.bytes());
                    rows.is_multiple_of(SWIZZLE_ROWS) && if is_built { row.is_multiple_of(bytes) } else { row == bytes }
                }),
            };
            self.require(data.kind == ObjectKind::Shared && fits, || format!("{id} cannot be swizzled"));
            self.require(is_built || swizzle.bytes().is_some(), || format!("{id} is still to be swizzled"));
        }
        for (id, ty) in kernel.structs.iter() {
            let is_sized = ty.fields.iter().all(|field| is_sized(&field.ty));
            self.require(is_sized, || format!("{id} has a slice or a pointer in it"));
        }
    }

    fn check_object_type(&mut self, id: Object, object: &ObjectData) {
        let element = if let MemoryType::Slice(element) = &object.ty {
            let may_be_slice = matches!(object.kind, ObjectKind::Global { .. } | ObjectKind::Shared | ObjectKind::Texture);
            self.require(may_be_slice, || format!("{id} is a slice"));
            element
        } else {
            let must_be_slice = matches!(object.kind, ObjectKind::Global { .. } | ObjectKind::Texture);
            self.require(!must_be_slice, || format!("{id} is a buffer and no slice"));
            &object.ty
        };
        self.require(is_sized(element), || format!("{id} has a slice or a pointer in it"));
        let has_texels = object.kind != ObjectKind::Texture || object.texel().is_some();
        self.require(has_texels, || format!("{id} is a texture of what is no texel"));
        if let ObjectKind::Table(scalars) = &object.kind {
            let fits = places(&object.ty).is_some_and(|(ty, n)| n == scalars.len() as u64 && scalars.iter().all(|s| s.ty == ty));
            self.require(fits, || format!("the scalars of table {id} do not fit its type"));
        }
    }

    /// The blocks' arrays are those of one shared array of a fixed length, one for each block of the cluster.
    fn check_peers(&mut self, id: Object, object: &ObjectData) {
        let kernel = self.kernel;
        let ObjectKind::Peers(array) = object.kind else { return };
        let Some(own) = kernel.objects.get(array) else { return self.complain(format!("{id} is of {array}, which is not there")) };
        let is_array = own.kind == ObjectKind::Shared && !matches!(own.ty, MemoryType::Slice(_));
        self.require(is_array, || format!("{id} is of {array}, which is no shared array of a fixed length"));
        let blocks = u64::from(kernel.options.cluster_blocks());
        let is_one_each = matches!(&object.ty, MemoryType::Array(element, n) if **element == own.ty && *n == blocks);
        self.require(is_one_each, || format!("{id} is not {blocks} arrays like {array}"));
        self.require(!kernel.rings.contains_key(&array), || format!("{id} is of {array}, which is a ring"));
        self.require(!kernel.swizzled.contains_key(&array), || format!("{id} is of {array}, which is swizzled"));
    }

    pub(super) fn check_memory(&mut self, op: &Op, results: &[Value]) {
        let needs_addresses = matches!(
            op,
            Op::Compute(Compute::Address(_) | Compute::PeerAddress(..) | Compute::Offset(..))
                | Op::Memory(Memory { at: Address::Pointer { .. }, .. })
        );
        let is_access = matches!(op, Op::Memory(Memory { at: Address::Path(_), .. }));
        let is_addressed = self.kernel.stage == Stage::Addressed;
        self.require(is_addressed || !needs_addresses, || "addresses before they are made".to_owned());
        self.require(!is_addressed || !is_access, || "an access after addresses were made".to_owned());
        match op {
            Op::Compute(Compute::Len(object)) => {
                self.require(matches!(self.kernel.objects[*object].ty, MemoryType::Slice(_)), || format!("{object} is no slice"));
                self.check_results(results, &[self.kernel.index_type()]);
            }
            Op::Compute(Compute::Address(object)) => {
                self.require(!matches!(self.kernel.objects[*object].kind, ObjectKind::Peers(_)), || {
                    format!("the address of {object} in no block")
                });
                self.check_results(results, &[Type::Ptr(self.kernel.objects[*object].space())]);
            }
            Op::Compute(Compute::PeerAddress(object, rank)) => {
                self.require(matches!(self.kernel.objects[*object].kind, ObjectKind::Peers(_)), || {
                    format!("{object} is not the blocks' of a cluster")
                });
                self.check_type(*rank, Type::U32, "the rank");
                self.check_results(results, &[Type::Ptr(Space::Cluster)]);
            }
            Op::Compute(Compute::Offset(ptr, bytes)) => self.check_offset(*ptr, *bytes, results),
            Op::Texture(op, object, coordinates) => self.check_texture(*op, *object, coordinates, results),
            Op::Memory(memory) => self.check_accessed(memory, results),
            Op::Collective(collective) => self.check_collective(collective, results),
            Op::Tensor(tensor) => self.check_tensor(tensor, results),
            Op::Engine(engine) => self.check_engine(engine, results),
            Op::Compute(_) | Op::Intrinsic(..) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => {}
        }
    }

    fn check_accessed(&mut self, Memory { op, at }: &Memory, results: &[Value]) {
        let object = at.object();
        let scalars = match op {
            MemoryOp::Load => self.types(results),
            MemoryOp::LoadMatrix { .. } | MemoryOp::StoreMatrix(_) => {
                at.path().and_then(|access| access.scalars(self.kernel, 1)).unwrap_or_default()
            }
            MemoryOp::Store(values) => self.types(values),
            // Its operands are checked with it.
            MemoryOp::Atomic(AtomicOp::Load, ..) => self.types(results),
            MemoryOp::Atomic(_, _, operands) => self.types(operands),
        };
        let is_atomic = matches!(op, MemoryOp::Atomic(..));
        match at {
            Address::Path(access) => self.check_access(access, if is_atomic { scalars.get(..1).unwrap_or(&[]) } else { &scalars }),
            Address::Pointer { ptr, .. } => {
                self.check_pointer(object, *ptr);
                if !is_atomic && !scalars.is_empty() {
                    self.check_scalars(&scalars);
                }
            }
        }
        match op {
            MemoryOp::Load => {}
            MemoryOp::LoadMatrix { is_transposed } => self.check_load_matrix(object, *is_transposed, &scalars, results),
            MemoryOp::Store(_) => self.check_write(object, results),
            MemoryOp::StoreMatrix(words) => {
                self.check_store_matrix(object, &scalars, words);
                self.check_write(object, results);
            }
            MemoryOp::Atomic(op, atomicity, operands) => {
                self.check_atomicity(*op, *atomicity);
                self.require(operands.len() == op.operands(), || format!("{} operands expected, found {}", op.operands(), operands.len()));
                self.check_atomic(*op, object, &scalars, results);
            }
        }
    }

    /// An array in shared memory of a fixed length, a buffer of the same elements, indices of the kernel's width.
    fn check_collective(&mut self, collective: &Collective, results: &[Value]) {
        let kernel = self.kernel;
        self.require(kernel.stage == Stage::Built, || "a collective after annotations were consumed".to_owned());
        let (array, buffer) = (collective.array(), &kernel.objects[collective.buffer()]);
        self.require(kernel.objects[array.object].kind == ObjectKind::Shared, || format!("{} is no shared array", array.object));
        let is_buffer = matches!(buffer.kind, ObjectKind::Global { .. });
        self.require(is_buffer, || format!("{} is no buffer", collective.buffer()));
        let writes = !collective.is_load();
        self.require(!writes || !buffer.is_read_only(), || format!("{} is read-only", collective.buffer()));
        let index = kernel.index_type();
        for value in array.indices() {
            let ty = kernel.ty(value);
            self.require(ty == Type::U32 || ty == index, || format!("index {value} is `{ty}`"));
        }
        for value in collective.place() {
            self.check_type(value, index, "a place");
        }
        let element = |ty: &MemoryType| match ty {
            MemoryType::Array(element, _) | MemoryType::Padded(element, ..) => Some((**element).clone()),
            MemoryType::Scalar(_) | MemoryType::Slice(_) | MemoryType::Struct(_) => None,
        };
        let mut of_array = array.leads_to(kernel).and_then(element);
        if !matches!(collective, Collective::LoadRun { .. }) {
            of_array = of_array.as_ref().and_then(element);
        }
        let MemoryType::Slice(of_buffer) = &buffer.ty else { return };
        match of_array {
            None => self.complain(format!("{} is not the array that `{}` takes", array, collective.word())),
            Some(of_array) => {
                // Room behind the rows of an element is the array's own.
                self.require(of_array.clone().unpadded() == **of_buffer, || format!("elements of `{of_array}` and of `{of_buffer}`"));
            }
        }
        self.check_results(results, &[]);
    }

    fn check_texture(&mut self, op: TextureOp, object: Object, coordinates: &[Value], results: &[Value]) {
        let Some((component, n)) = self.kernel.objects[object].texel() else {
            return self.complain(format!("{object} is no texture"));
        };
        let found = self.types(coordinates);
        let expected: Vec<Type> = op.coordinates().map_or(Vec::new(), |ty| vec![ty; 2]);
        self.require(found == expected, || format!("coordinates: {} expected, found {}", list(&expected), list(&found)));
        let filtered = op == TextureOp::Sample;
        self.require(!filtered || component.is_float(), || format!("texels of `{component}` are not filtered"));
        let results_of = if op.reads() { vec![component; n] } else { vec![self.kernel.index_type()] };
        self.check_results(results, &results_of);
    }

    /// The path leads to a scalar, of the type of all that is read or written there.
    fn check_access(&mut self, access: &Access, found: &[Type]) {
        for index in access.indices() {
            let ty = self.kernel.ty(index);
            self.require(ty == Type::U32 || ty == self.kernel.index_type(), || format!("index {index} is `{ty}`"));
        }
        let Some(MemoryType::Scalar(ty)) = access.leads_to(self.kernel) else {
            return self.complain("the path does not lead to a scalar");
        };
        let there = access.scalars(self.kernel, found.len());
        let is_one_type = found.iter().all(|found| found == ty);
        match there {
            Some(there) if there == found => {}
            Some(there) if there.iter().any(|other| other != ty) => {
                self.complain(format!("{} are there, not {}", list(&there), list(found)));
            }
            _ if !is_one_type => self.complain(format!("`{ty}` is there, not {}", list(found))),
            _ => self.complain(format!("{} scalars of one width are not side by side there", found.len())),
        }
        self.check_scalars(found);
        let bytes: u64 = found.iter().map(|ty| u64::from(ty.bytes())).sum();
        let fits = self.kernel.swizzled.get(&access.object).is_none_or(|swizzle| bytes <= swizzle.whole());
        self.require(found.len() < 2 || fits, || format!("{} scalars of {}, which is swizzled", found.len(), access.object));
    }

    /// As many as one instruction reads or writes: of one type, or of several that take whole registers.
    fn check_scalars(&mut self, types: &[Type]) {
        self.require(matches!(types.len(), 1 | 2 | 4 | 8 | 16), || format!("{} scalars at once", types.len()));
        let may_follow = |pair: &[Type]| pair[0] == pair[1] || pair[0].bytes() == pair[1].bytes() && pair[0].bytes() >= 4;
        self.require(types.windows(2).all(may_follow), || format!("several types at once: {}", list(types)));
    }

    fn check_write(&mut self, object: Object, results: &[Value]) {
        self.require(!self.kernel.objects[object].is_read_only(), || format!("{object} is read-only"));
        self.check_results(results, &[]);
    }

    fn check_atomic(&mut self, op: AtomicOp, object: Object, scalars: &[Type], results: &[Value]) {
        let data = &self.kernel.objects[object];
        let has_atomics = matches!(data.space(), Space::Global | Space::Shared | Space::Cluster);
        self.require(has_atomics && !data.is_read_only(), || format!("{object} has no atomics"));
        let Some(ty) = scalars.first() else { return };
        self.require(scalars.iter().all(|other| other == ty), || format!("several types at once: {}", list(scalars)));
        self.require(op.takes(*ty), || format!("not for `{ty}`"));
        self.check_results(results, if op == AtomicOp::Store { &[] } else { std::slice::from_ref(ty) });
    }

    /// A load has nothing to release, a store nothing to acquire; both are for more than a warp.
    fn check_atomicity(&mut self, op: AtomicOp, Atomicity { order, scope }: Atomicity) {
        self.require(scope != Scope::Warp, || "an atomic of a warp".to_owned());
        self.require(order.is_for(op), || format!("`{}` does not go with `{}`", order.word(), op.word()));
    }

    fn check_offset(&mut self, ptr: Value, bytes: Value, results: &[Value]) {
        let (ty, width) = (self.kernel.ty(ptr), self.kernel.ty(bytes));
        self.require(matches!(ty, Type::Ptr(_)), || format!("{ptr} is no pointer"));
        let fits = matches!(width, Type::U32 | Type::U64) && width.bytes() == ty.bytes();
        self.require(fits, || format!("an offset of type `{width}` to `{ty}`"));
        self.check_results(results, &[ty]);
    }

    fn check_pointer(&mut self, object: Object, ptr: Value) {
        let space = self.kernel.objects[object].space();
        self.check_type(ptr, Type::Ptr(space), "the pointer");
    }
}

fn is_sized(ty: &MemoryType) -> bool {
    match ty {
        MemoryType::Scalar(ty) => !matches!(ty, Type::Ptr(_)),
        MemoryType::Array(element, _) | MemoryType::Padded(element, ..) => is_sized(element),
        MemoryType::Slice(_) => false,
        // Checked on its own.
        MemoryType::Struct(_) => true,
    }
}

/// The scalar type of a table and how many of it there are.
fn places(ty: &MemoryType) -> Option<(Type, u64)> {
    match ty {
        MemoryType::Scalar(ty) => Some((*ty, 1)),
        MemoryType::Array(element, n) => places(element).map(|(ty, m)| (ty, n.saturating_mul(m))),
        MemoryType::Padded(..) | MemoryType::Slice(_) | MemoryType::Struct(_) => None,
    }
}
