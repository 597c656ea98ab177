//! Every operation, type and space, and every intrinsic that has a PTX form, for every target: no assembler refuses one ([`pairs`]).

use proc_macro2::Span;
use std::sync::Mutex;
use warpwright_codegen::backend::ptx::emit_ptx;
use warpwright_codegen::intrinsics;
use warpwright_codegen::ir::KernelOptions;
use warpwright_codegen::ir::eval;
use warpwright_codegen::ir::intrinsic::{Class, Intrinsic, IntrinsicId};
use warpwright_codegen::ir::{
    Address, AtomicOp, Atomicity, Axis, BinaryOp, Builder, CompareOp, Compute, Kernel, Loc, Location, Memory, MemoryOp, MemoryOrder,
    MemoryType, Message, Object, ObjectData, ObjectKind, Op, PrintPart, Region, Scalar, Scope, Space, Special, Terminator, Type, UnaryOp,
    Value,
};
use warpwright_codegen::pipeline::Addressed;
use warpwright_codegen::target::{TARGETS, Target};
use warpwright_codegen::text::parse_kernel;
use warpwright_tests::ptxas::{Counts, Ptxas, found_or_skip};

fn types() -> impl Iterator<Item = Type> {
    Type::SCALARS.iter().map(|(ty, _)| *ty)
}

/// A kernel with an object in every space, and a builder that loads operands and stores results.
struct Maker {
    kernel: Kernel,
    offset: i32,
}

/// The objects of a [`Maker`], by number.
const OUT: Object = Object(0);
const INPUT: Object = Object(1);
const VALUE: Object = Object(2);
const CONSTANT: Object = Object(3);
const SHARED: Object = Object(4);
const LOCAL: Object = Object(5);
const TABLE: Object = Object(6);
const DYNAMIC: Object = Object(7);

impl Maker {
    fn new(name: &str, options: KernelOptions) -> Maker {
        let mut kernel = Kernel::new(name, options);
        kernel.files.push("src/main.rs".into());
        let loc = kernel.locations.push(Location { file: 0, line: 7, column: 3, call: None, caller: None });
        let words = || Box::new(MemoryType::Scalar(Type::U64));
        let slice = || MemoryType::Slice(words());
        let array = || MemoryType::Array(words(), 16);
        let table = ObjectKind::Table((0..16).map(|n| Scalar::int(Type::U64, n - 4)).collect());
        let objects = [
            ("out", ObjectKind::Global { writable: true }, slice()),
            ("input", ObjectKind::Global { writable: false }, slice()),
            ("value", ObjectKind::Value, array()),
            ("constant", ObjectKind::Constant, array()),
            ("tile", ObjectKind::Shared, array()),
            ("scratch", ObjectKind::Local, array()),
            ("table", table, array()),
            ("dynamic", ObjectKind::Shared, slice()),
        ];
        for (name, kind, ty) in objects {
            kernel.objects.push(ObjectData { name: name.into(), kind, ty, loc });
        }
        kernel.params = vec![OUT, INPUT, VALUE, CONSTANT];
        Maker { kernel, offset: 0 }
    }

    fn builder(&mut self) -> Builder<'_> {
        let body = self.kernel.body;
        Builder::new(&mut self.kernel, body, Loc(1))
    }

    fn address(&mut self, object: Object) -> Value {
        let space = self.kernel.objects[object].space();
        self.builder().push1(Op::Compute(Compute::Address(object)), Type::Ptr(space))
    }

    /// A value that nobody can foresee.
    fn unknown(&mut self, ty: Type) -> Value {
        self.offset += 8;
        let (offset, ptr) = (self.offset, self.address(INPUT));
        self.builder().push1(Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object: INPUT, ptr, offset } }), ty)
    }

    fn keep(&mut self, value: Value) {
        self.offset += 8;
        let (offset, ptr) = (self.offset, self.address(OUT));
        self.builder()
            .push(Op::Memory(Memory { op: MemoryOp::Store(vec![value]), at: Address::Pointer { object: OUT, ptr, offset } }), &[]);
    }

    fn make(&mut self, op: Op, ty: Type) {
        let value = self.builder().push1(op, ty);
        self.keep(value);
    }

    fn finish(mut self) -> Kernel {
        self.builder().push(Op::Terminator(Terminator::Return), &[]);
        self.kernel
    }
}

fn emit(kernel: &Kernel, target: &Target) -> Result<String, String> {
    let refused =
        |found: warpwright_codegen::diagnostic::Diagnostics| found.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ");
    let kernel = Addressed::verified(kernel.clone()).map_err(|violations| format!("{violations:?}"))?;
    emit_ptx(&kernel, target, &|_| Span::call_site()).map(|emitted| emitted.text).map_err(refused)
}

/// Every target with the newest assembler that knows it, every assembler with the oldest target that it knows. What an assembler reads does not depend on the
/// target, and what it makes of a target hardly on its release: all pairs take twice as long.
fn pairs(assemblers: &[Ptxas]) -> Vec<(&Ptxas, &'static Target)> {
    let knows = |ptxas: &Ptxas, target: &Target| ptxas.targets.contains(&target.capability);
    let newest = TARGETS.iter().filter_map(|target| {
        let able = assemblers.iter().filter(|ptxas| knows(ptxas, target));
        Some((able.max_by_key(|ptxas| ptxas.ptx_version().unwrap_or(u16::MAX))?, target))
    });
    let oldest = assemblers.iter().filter_map(|ptxas| Some((ptxas, TARGETS.iter().find(|target| knows(ptxas, target))?)));
    let mut pairs: Vec<(&Ptxas, &'static Target)> = Vec::new();
    for (ptxas, target) in newest.chain(oldest) {
        if pairs.iter().all(|(other, known)| other.release != ptxas.release || known.name != target.name) {
            pairs.push((ptxas, target));
        }
    }
    pairs
}

/// Every kernel that `make` gives for a target, through the assemblers of [`pairs`], on all cores.
fn accept(test: &str, make: impl Fn(&'static Target) -> Vec<(String, Kernel)> + Sync) {
    let Some(assemblers) = found_or_skip(test) else { return };
    let counts = Counts::default();
    let work = Mutex::new(pairs(&assemblers));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((ptxas, target)) = work.lock().ok().and_then(|mut work| work.pop()) {
                    for (name, kernel) in make(target) {
                        let text = emit(&kernel, target).unwrap_or_else(|error| panic!("{name} for {}: {error}", target.name));
                        assert_eq!(emit(&kernel, target).as_ref(), Ok(&text), "the same kernel gives the same text");
                        counts.ask(ptxas, &text, &name, target.capability);
                    }
                }
            });
        }
    });
    counts.report(test);
}

fn arithmetic(ty: Type) -> Kernel {
    let mut m = Maker::new("arithmetic", KernelOptions { block: Some([128, 1, 1]), ..KernelOptions::default() });
    let (a, b, c) = (m.unknown(ty), m.unknown(ty), m.unknown(ty));
    let constant =
        m.builder().constant(if ty.is_float() { Scalar::float(ty, 1.5) } else { Scalar::int(ty, if ty == Type::Bool { 1 } else { 93 }) });
    let count = m.unknown(Type::U32);
    let five = m.builder().int(Type::U32, 5);
    let condition = m.unknown(Type::Bool);
    let is_number = ty.is_int() || ty.is_float();
    let is_bits = ty.is_int() || ty == Type::Bool;
    for (op, _) in UnaryOp::ALL {
        if if *op == UnaryOp::Not { is_bits } else { is_number } {
            m.make(Op::Compute(Compute::Unary(*op, a)), ty);
        }
    }
    for (op, _) in BinaryOp::ALL {
        let (is_shift, is_logic) =
            (matches!(op, BinaryOp::Shl | BinaryOp::Shr), matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor));
        if is_shift && ty.is_int() {
            m.make(Op::Compute(Compute::Binary(*op, a, count)), ty);
            m.make(Op::Compute(Compute::Binary(*op, a, five)), ty);
        } else if !is_shift && if is_logic { is_bits } else { is_number } {
            m.make(Op::Compute(Compute::Binary(*op, a, b)), ty);
            m.make(Op::Compute(Compute::Binary(*op, a, constant)), ty);
            m.make(Op::Compute(Compute::Binary(*op, constant, a)), ty);
        }
    }
    if is_number {
        m.make(Op::Compute(Compute::MulAdd(a, b, c)), ty);
        m.make(Op::Compute(Compute::MulAdd(a, constant, c)), ty);
        m.make(Op::Compute(Compute::MulAdd(a, b, constant)), ty);
    }
    for (op, _) in CompareOp::ALL.iter().filter(|_| !ty.is_float8()) {
        m.make(Op::Compute(Compute::Compare(*op, a, b)), Type::Bool);
        m.make(Op::Compute(Compute::Compare(*op, a, constant)), Type::Bool);
    }
    m.make(Op::Compute(Compute::Select(condition, a, b)), ty);
    m.make(Op::Compute(Compute::Select(condition, constant, b)), ty);
    let fixed = m.builder().bool(true);
    m.make(Op::Compute(Compute::Select(fixed, a, constant)), ty);
    for to in types() {
        let is_castable = eval::cast(Scalar::new(ty, 0), to).is_some();
        if is_castable {
            m.make(Op::Compute(Compute::Cast(a)), to);
            m.make(Op::Compute(Compute::Cast(constant)), to);
        }
        if to.bits() == ty.bits() && to != ty {
            m.make(Op::Compute(Compute::Bitcast(a)), to);
            m.make(Op::Compute(Compute::Bitcast(constant)), to);
        }
    }
    m.keep(constant);
    m.finish()
}

#[test]
fn arithmetic_of_every_type_is_accepted() {
    accept("arithmetic_of_every_type_is_accepted", |_| types().map(|ty| (format!("arithmetic of {ty}"), arithmetic(ty))).collect());
}

fn memory(ty: Type) -> Kernel {
    let mut m = Maker::new("memory", KernelOptions::default());
    let index = m.unknown(Type::U32);
    for object in [OUT, INPUT, VALUE, CONSTANT, SHARED, LOCAL, TABLE, DYNAMIC] {
        let space = m.kernel.objects[object].space();
        let (named, writable) = (m.address(object), !m.kernel.objects[object].is_read_only());
        let bytes = if space == Space::Global { m.builder().cast(index, Type::U64) } else { index };
        let moved = m.builder().push1(Op::Compute(Compute::Offset(named, bytes)), Type::Ptr(space));
        for ptr in [named, moved] {
            for lanes in [1usize, 2, 4, 8] {
                let inst = m
                    .builder()
                    .push(Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, ptr, offset: 16 } }), &vec![ty; lanes]);
                let values = m.kernel.insts[inst].results.clone();
                if writable {
                    m.builder().push(
                        Op::Memory(Memory { op: MemoryOp::Store(values.clone()), at: Address::Pointer { object, ptr, offset: 32 } }),
                        &[],
                    );
                }
                for value in values {
                    m.keep(value);
                }
            }
            if writable {
                let constant = m.builder().constant(if ty.is_float() { Scalar::float(ty, 1.5) } else { Scalar::int(ty, 1) });
                m.builder().push(
                    Op::Memory(Memory { op: MemoryOp::Store(vec![constant]), at: Address::Pointer { object, ptr, offset: -16 + 16 } }),
                    &[],
                );
                m.builder().push(
                    Op::Memory(Memory { op: MemoryOp::Store(vec![constant; 4]), at: Address::Pointer { object, ptr, offset: 16 } }),
                    &[],
                );
            }
        }
    }
    for object in [OUT, INPUT, DYNAMIC] {
        m.make(Op::Compute(Compute::Len(object)), Type::U32);
    }
    m.finish()
}

#[test]
fn memory_of_every_type_and_space_is_accepted() {
    accept("memory_of_every_type_and_space_is_accepted", |_| types().map(|ty| (format!("memory of {ty}"), memory(ty))).collect());
}

/// A kernel whose fixed shared array has so many bytes, beside the dynamic one.
fn with_shared(bytes: u32) -> Kernel {
    let mut kernel = memory(Type::U64);
    kernel.objects[SHARED].ty = MemoryType::Array(Box::new(MemoryType::Scalar(Type::U64)), u64::from(bytes) / 8);
    kernel
}

#[test]
fn as_much_shared_memory_as_a_launch_can_ask_for_is_accepted() {
    accept("as_much_shared_memory_as_a_launch_can_ask_for_is_accepted", |target| {
        let most = with_shared(target.limits.shared_opted_in);
        let more = emit(&with_shared(target.limits.shared_opted_in + 16), target);
        assert!(more.as_ref().is_err_and(|error| error.starts_with("shared arrays up to `tile` take")), "{}: {more:?}", target.name);
        let text = emit(&most, target).unwrap_or_else(|error| panic!("{}: {error}", target.name));
        let is_asked = target.limits.shared_opted_in > target.limits.shared_per_block;
        assert_eq!(text.contains(".extern .shared .align 16 .b8 memory_shared[];"), is_asked, "{}:\n{text}", target.name);
        vec![("all shared memory".to_owned(), most)]
    });
}

/// Orders and scopes that an operation can have on a target: all, of one operation of each form.
fn atomicities(op: AtomicOp, target: &Target) -> Vec<Atomicity> {
    use AtomicOp::{Add, CompareExchange, Load, Min, Store};
    if !matches!(op, Add | Min | CompareExchange | Load | Store) {
        return vec![Atomicity::RELAXED];
    }
    let orders = MemoryOrder::ALL.iter().map(|(order, _)| *order).filter(|order| order.is_for(op));
    let scopes = || Scope::OF_MEMORY.iter().map(|(scope, _)| *scope).filter(|scope| *scope != Scope::System || target.capability >= 60);
    orders.flat_map(|order| scopes().map(move |scope| Atomicity { order, scope })).collect()
}

fn atomics(ty: Type, target: &Target) -> Kernel {
    let mut m = Maker::new("atomics", KernelOptions::default());
    for object in [OUT, SHARED] {
        let (a, b) = (m.unknown(ty), m.unknown(ty));
        let one = m.builder().constant(if ty.is_float() { Scalar::float(ty, 1.0) } else { Scalar::int(ty, 1) });
        let ptr = m.address(object);
        for (op, _) in AtomicOp::ALL {
            if !op.takes(ty) {
                continue;
            }
            for operand in [a, one] {
                let operands = [operand, b].into_iter().take(op.operands()).collect::<Vec<_>>();
                let all = atomicities(*op, target);
                for atomicity in if operand == a { all } else { vec![Atomicity::RELAXED] } {
                    let atomic = MemoryOp::Atomic(*op, atomicity, operands.clone());
                    let atomic = Op::Memory(Memory { op: atomic, at: Address::Pointer { object, ptr, offset: 4 } });
                    if *op == AtomicOp::Store {
                        m.builder().push(atomic, &[]);
                        continue;
                    }
                    // Where somebody wants the old value, and where nobody does.
                    m.make(atomic.clone(), ty);
                    m.builder().push1(atomic, ty);
                }
            }
        }
    }
    m.finish()
}

#[test]
fn atomics_of_every_type_are_accepted() {
    accept("atomics_of_every_type_are_accepted", |target| {
        types().filter(|ty| *ty != Type::Bool).map(|ty| (format!("atomics of {ty}"), atomics(ty, target))).collect()
    });
}

/// A row's device form, if the target has one for the type.
fn has_form(row: &Intrinsic, ty: Option<Type>, target: &Target) -> bool {
    row.device().is_some_and(|device| {
        let fits = |types: &[Type]| types.is_empty() || ty.is_some_and(|ty| types.contains(&ty));
        device.ptx.iter().any(|form| fits(form.types) && form.needs.is_met_by(target))
    })
}

#[test]
fn every_intrinsic_with_a_form_is_accepted() {
    accept("every_intrinsic_with_a_form_is_accepted", |target| {
        let mut m = Maker::new("intrinsics", KernelOptions::default());
        let mut count = 0;
        for row in intrinsics::rows() {
            let all = types().filter(|ty| row.over.contains(*ty)).map(Some);
            for ty in all.chain((row.over == Class::None).then_some(None)) {
                if !has_form(row, ty, target) {
                    continue;
                }
                let ty = ty.unwrap_or(Type::U32);
                // Twice: labels and scratch registers must not meet.
                for _ in 0..2 {
                    let sorts: Vec<_> = row.args.iter().map(|sort| Intrinsic::operand_type(*sort, ty, &m.kernel)).collect();
                    let args: Vec<_> = sorts.into_iter().map(|ty| argument(&mut m, row, ty)).collect();
                    let results: Vec<_> = row.results.iter().map(|sort| Intrinsic::operand_type(*sort, ty, &m.kernel)).collect();
                    let inst = m.builder().push(Op::Intrinsic(IntrinsicId(row), args), &results);
                    for value in m.kernel.insts[inst].results.clone() {
                        m.keep(value);
                    }
                }
                count += 1;
            }
        }
        assert!(count > 40, "{count} forms for {}", target.name);
        vec![("intrinsics".into(), m.finish())]
    });
}

/// An argument of a row: some take constants alone.
fn argument(m: &mut Maker, row: &Intrinsic, ty: Type) -> Value {
    if row.copy_step().is_some() { m.builder().int(ty, 3) } else { m.unknown(ty) }
}

/// A kernel that is one intrinsic for a type.
fn only(row: &'static Intrinsic, ty: Type) -> Kernel {
    let mut m = Maker::new("only", KernelOptions::default());
    let sorts: Vec<_> = row.args.iter().map(|sort| Intrinsic::operand_type(*sort, ty, &m.kernel)).collect();
    let args: Vec<_> = sorts.into_iter().map(|ty| argument(&mut m, row, ty)).collect();
    let results: Vec<_> = row.results.iter().map(|sort| Intrinsic::operand_type(*sort, ty, &m.kernel)).collect();
    let inst = m.builder().push(Op::Intrinsic(IntrinsicId(row), args), &results);
    for value in m.kernel.insts[inst].results.clone() {
        m.keep(value);
    }
    m.finish()
}

/// The `.version` of a module, as in a row.
fn version(text: &str) -> u16 {
    let digits = text.lines().find_map(|line| line.strip_prefix(".version ")).expect("a version").replace('.', "");
    digits.parse().expect("two digits")
}

/// Each spelling is what the first target that has all it needs prints, in a version of PTX that has it; and where no spelling's needs are met,
/// the error names what is missing.
#[test]
fn every_form_is_printed_where_its_needs_are_met() {
    let mut printed = Vec::new();
    let mut wrong = Vec::new();
    for row in intrinsics::rows() {
        let Some(device) = row.device().filter(|device| !device.ptx.is_empty()) else { continue };
        let all = types().filter(|ty| row.over.contains(*ty)).chain((row.over == Class::None).then_some(Type::U32));
        for (ty, target) in all.flat_map(|ty| TARGETS.iter().map(move |target| (ty, target))) {
            let mut forms = device.ptx.iter().filter(|form| form.types.is_empty() || form.types.contains(&ty));
            let found = emit(&only(row, ty), target);
            match (forms.find(|form| form.needs.is_met_by(target)), found) {
                (Some(form), Ok(text)) => {
                    let mnemonics = form
                        .text
                        .lines()
                        .filter_map(|line| line.split_whitespace().find(|word| word.contains('.') && !word.starts_with('.')));
                    let lacks: Vec<&str> = mnemonics.filter(|word| !text.contains(&word.replace("{{", "{").replace("}}", "}"))).collect();
                    if !lacks.is_empty() || version(&text) < form.needs.ptx_version {
                        wrong.push(format!("`{}` of `{ty}` on {}: {lacks:?} is not in\n{text}", row.name, target.name));
                    }
                    printed.push(std::ptr::from_ref(form));
                }
                (None, Err(refusal)) if refusal.contains(&format!("`{}`", row.name)) && refusal.contains("needs sm_") => {}
                (form, found) => wrong.push(format!("`{}` of `{ty}` on {}: {form:?}, {found:?}", row.name, target.name)),
            }
        }
        for form in device.ptx.iter().filter(|form| !printed.contains(&std::ptr::from_ref(*form))) {
            wrong.push(format!("`{}`: nothing prints {:?}", row.name, form.text));
        }
    }
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn geometry_messages_and_options_are_accepted() {
    accept("geometry_messages_and_options_are_accepted", |_| {
        let fixed = KernelOptions { block: Some([8, 8, 4]), min_blocks: Some(2), ..KernelOptions::default() };
        let limited = KernelOptions { max_registers: Some(64), ..KernelOptions::default() };
        [KernelOptions::default(), fixed, limited].into_iter().map(|options| ("messages".to_owned(), messages(options))).collect()
    });
}

fn messages(options: KernelOptions) -> Kernel {
    let mut m = Maker::new("WARP_SZ", options);
    for (special, _) in Special::ALL {
        for (axis, _) in Axis::ALL.iter().filter(|(axis, _)| special.has_axes() || *axis == Axis::X) {
            m.make(Op::Compute(Compute::Special(*special, *axis)), Type::U32);
        }
    }
    let values: Vec<_> = types().map(|ty| m.unknown(ty)).collect();
    let mut parts = vec![PrintPart::Text("100 % \"quoted\"\n".into())];
    parts.extend(values.iter().flat_map(|_| [PrintPart::Argument(None), PrintPart::Text(" ".into())]));
    m.builder().push(Op::Message(Message::Print(parts.clone(), values.clone())), &[]);
    m.builder().push(Op::Message(Message::Print(vec![PrintPart::Text("nothing\n".into())], Vec::new())), &[]);
    m.builder().push(Op::Message(Message::Assert(values[0], parts, values.clone())), &[]);
    let condition = values[0];
    let (then_block, else_block) = (m.kernel.new_block(&[]), m.kernel.new_block(&[]));
    Builder::new(&mut m.kernel, then_block, Loc(1)).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
    Builder::new(&mut m.kernel, else_block, Loc(1)).push(Op::Terminator(Terminator::Trap("index out of range: größer".into())), &[]);
    m.builder().push(Op::Region(Region::If { condition, then_block, else_block }), &[]);
    m.finish()
}

/// Loops and exits of every shape, in the text form; `TYPE` is replaced.
const CONTROL: &str = r#"kernel "control" addressed
file "src/main.rs"
param m0 "n": value TYPE
param m1 "y": global mut [TYPE]
{
  v0: ptr.param = address m0 @1:1
  v1: TYPE = load_at m0, v0
  v2: TYPE = const 0
  v3: TYPE = const 3
  v4: TYPE = const 100
  v5: TYPE = const 1
  v6: ptr.global = address m1
  v7: bool = lt v1, v3
  if v7 @2:1 {
    return
  }
  v8: TYPE, v9: TYPE = for i10 (v10: TYPE in v2..v1 step v5; v11: TYPE = v2, v12: TYPE = v5) rolled @3:1 {
    v13: bool = lt v10, v3
    if v13 {
      continue i10 v12, v11
    }
    v14: bool = gt v10, v4
    if v14 {
      break i10 v12, v10
    }
    yield v12, v11 @4:1
  }
  store_at m1, v6, v8
  store_at m1, v6 + 8, v9
  v15: TYPE = for i20 (v16: TYPE in v2..v1 step v3; v17: TYPE = v2) {
    v18: TYPE = add v17, v16
    yield v18
  }
  store_at m1, v6 + 16, v15
  v19: TYPE = for i30 (v20: TYPE in v2..v4 step v3; v21: TYPE = v2) {
    v22: TYPE = for i31 (v23: TYPE in v20..v1 step v1; v24: TYPE = v21) {
      v25: TYPE = mul_add v24, v23, v20
      yield v25
    }
    yield v22
  }
  store_at m1, v6 + 24, v19
  v26: TYPE = loop i40 (v27: TYPE = v2, v28: TYPE = v1) @5:1 {
    v29: TYPE = load_at m1, v6 + 32
    v30: bool = ge v27, v29
    if v30 {
      break i40 v28
    }
    v31: TYPE = add v27, v5
    v32: bool = eq v31, v3
    if v32 {
      continue i40 v28, v31
    }
    store_at m1, v6 + 40, v31
    yield v31, v28
  }
  store_at m1, v6 + 48, v26
  v33: TYPE = region i50 {
    v34: TYPE = loop i51 (v35: TYPE = v1) {
      v36: bool = eq v35, v3
      if v36 {
        break i50 v35
      } else {
        break i51 v3
      }
      yield v35
    }
    yield v34
  }
  v37: bool = ne v33, v4
  v38: TYPE = if v37 {
    store_at m1, v6 + 64, v33
    yield v33
  } else {
    v39: bool = eq v1, v3
    if v39 {
      trap "no way"
    }
    yield v4
  }
  store_at m1, v6 + 56, v38
  if v37 {
    store_at m1, v6 + 72, v38
    yield
  }
  return
}
"#;

#[test]
fn control_flow_of_every_shape_is_accepted() {
    accept("control_flow_of_every_shape_is_accepted", |_| {
        let kernel = |name: &str| {
            let text = CONTROL.replace("TYPE", name);
            parse_kernel(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
        };
        ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"].iter().map(|name| (format!("control of {name}"), kernel(name))).collect()
    });
}
