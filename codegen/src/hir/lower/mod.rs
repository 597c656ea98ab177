//! From the typed tree to the IR: aggregates become scalars, variables become SSA values, device functions are inlined.
//!
//! A variable is a tree of values; assigning replaces leaves. Where control flow joins, the leaves that differ become results of
//! the joining instruction; what a loop's body assigns is carried as its parameters. Arrays of a thread are memory objects here
//! (`ObjectKind::Local`); the pass `promote_arrays` turns them into values where every index is constant.

mod aggregate;
mod call;
mod cluster;
mod collective;
mod control;
mod elements;
mod environment;
mod expression;
mod loops;
mod matrix;
mod pattern;
mod place;
mod product;
mod ranges;
mod texture;

use super::Lowered;
use super::check::Context;
use super::items::{AdtKind, FnId};
use super::tree::{self, Body, LocalId, LocalKind, ScopeId};
use super::types::{AdtId, Arg, Ty};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::KernelOptions;
use crate::ir::intrinsic::IntrinsicId;
use crate::ir::{
    Access, Block, Builder, CacheHint, EntityMap, Inst, Kernel, Loc, Location, MOST_BYTES, Memory, MemoryOp, MemoryType, Object,
    ObjectData, ObjectKind, Op, StructId, StructType, Terminator, Type, Value,
};
use crate::syntax::cache::cache_hint;
use crate::syntax::{Unit, UnitId, repr_align};
use crate::target::limits::{CONSTANT_BYTES, MOST_SHARED_BYTES};
use elements::ElementLoops;
use environment::{Tree, Var};
use proc_macro2::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// A place that can be left with values: a loop, a labelled block, an inlined function.
#[derive(Clone)]
struct Exit {
    inst: Inst,
    /// Variables whose leaves travel with the exit.
    carried: Vec<usize>,
    /// The type of the value that leaves, if any does.
    result: Option<Ty>,
}

/// What has a location of its own: unit, line and column, the function of the language, where the device function was called.
type At = (usize, u32, u32, Option<IntrinsicId>, Option<Loc>);

/// A body being lowered: the kernel's, or that of a function inlined into it.
struct Frame {
    body: Rc<Body>,
    /// Its locals are the variables from here on.
    base: usize,
    unit: UnitId,
    /// Where `return` goes.
    returns: Returns,
    /// Where it is called, if calls are kept apart.
    caller: Option<Loc>,
    scopes: HashMap<ScopeId, Exit>,
}

/// What `return` does.
#[derive(Clone)]
enum Returns {
    /// The thread is done.
    Thread,
    /// This element of the thread is done: the loop over them goes on.
    Element(Inst),
    /// The inlined function is left.
    Function(Exit),
}

pub(super) struct Lowerer<'c, 'p> {
    context: &'c Context<'p>,
    units: &'p [Unit],
    kernel: Kernel,
    block: Block,
    /// Whether what is built now can never run: the block before ended.
    dead: bool,
    loc: Loc,
    spans: Vec<Span>,
    /// By location: the statement it stands in.
    statements: Vec<u32>,
    /// The present statement.
    statement: u32,
    /// Statements are numbered in the order they begin.
    last_statement: u32,
    places: HashMap<At, Loc>,
    /// Whether each call of a device function has locations of its own.
    keeps_calls_apart: bool,
    files: HashMap<usize, u16>,
    vars: Vec<Var>,
    frames: Vec<Frame>,
    /// Functions being inlined, outermost first.
    stack: Vec<FnId>,
    structs: HashMap<Ty, StructId>,
    shared: HashMap<(FnId, Vec<Arg>, LocalId, tree::Rows), Object>,
    tables: HashMap<String, Object>,
    elements: ElementLoops,
    /// Whether the kernel has grown beyond measure (reported).
    too_long: bool,
    /// Calls inlined so far.
    calls: usize,
    /// Expressions round the present one, those round calls counted in.
    depth: u32,
}

/// Lowers a checked kernel. `elements` are the annotations among the arguments of `#[kernel(…)]`; with the kernel comes why it cannot run for
/// several elements of a thread, if so: then it is of no use.
pub(super) fn lower<'p>(
    context: &Context<'p>,
    units: &'p [Unit],
    (unit, function): (UnitId, FnId),
    args: &[Arg],
    options: KernelOptions,
    elements: &tree::Annotations,
    keeps_calls_apart: bool,
) -> Option<(Lowered, Option<Diagnostic>)> {
    let body = context.body(function, args)?;
    let item = &context.items.functions[function.0];
    let mut lowerer = Lowerer {
        context,
        units,
        kernel: Kernel::new(item.signature.ident.to_string(), options),
        block: Block(0),
        dead: false,
        loc: Loc(0),
        spans: vec![item.signature.ident.span()],
        statements: vec![0],
        statement: 0,
        last_statement: 0,
        places: HashMap::new(),
        keeps_calls_apart,
        files: HashMap::new(),
        vars: Vec::new(),
        frames: Vec::new(),
        stack: vec![function],
        structs: HashMap::new(),
        shared: HashMap::new(),
        tables: HashMap::new(),
        elements: ElementLoops::default(),
        too_long: false,
        calls: 0,
        depth: 0,
    };
    lowerer.block = lowerer.kernel.body;
    lowerer.enter(body.clone(), unit, None);
    let parameters = lowerer.parameters(&body, item.signature);
    lowerer.for_each_element(elements, |lowerer| {
        lowerer.bind_parameters(parameters);
        lowerer.expression(&body.root);
    });
    if !lowerer.dead {
        lowerer.terminate(Op::Terminator(Terminator::Return));
    }
    lowerer.meet_peers();
    lowerer.check_shared(item.signature.ident.span());
    lowerer.check_hints();
    let refused = lowerer.refuse_elements(elements);
    let (kernel, spans, statements) = (lowerer.kernel, lowerer.spans, lowerer.statements);
    Some((Lowered { kernel, spans, statements, warnings: Diagnostics::new(), required: Vec::new() }, refused))
}

impl<'c, 'p> Lowerer<'c, 'p> {
    fn report(&self, diagnostic: Diagnostic) {
        self.context.report(diagnostic);
    }

    fn builder(&mut self) -> Builder<'_> {
        Builder::new(&mut self.kernel, self.block, self.loc)
    }

    fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn enter(&mut self, body: Rc<Body>, unit: UnitId, caller: Option<Loc>) {
        let base = self.vars.len();
        self.vars.resize_with(base + body.locals.len(), || Var::Undeclared);
        self.frames.push(Frame { body, base, unit, returns: Returns::Thread, caller, scopes: HashMap::new() });
    }

    fn var(&self, local: LocalId) -> usize {
        self.frame().base + local.0
    }

    /// A type of the current body, all variables known.
    fn resolve(&self, ty: &Ty) -> Ty {
        self.shared_out(self.frame().body.infer.resolve(ty))
    }

    /// Makes `span` the location of what is built next.
    fn at(&mut self, span: Span) {
        self.at_call(span, None);
    }

    /// The same where it is what a function of the language is made of.
    fn at_call(&mut self, span: Span, call: Option<IntrinsicId>) {
        let start = span.start();
        let unit = self.frame().unit.0;
        let caller = self.frame().caller;
        let key = (unit, start.line as u32, start.column as u32, call, caller);
        if let Some(loc) = self.places.get(&key) {
            self.loc = *loc;
            return;
        }
        let data = &self.units[unit];
        let file = match self.files.get(&unit) {
            Some(file) => *file,
            None => {
                let known = self.kernel.files.iter().position(|name| *name == data.file);
                let file = known.unwrap_or_else(|| {
                    self.kernel.files.push(data.file.clone());
                    self.kernel.files.len() - 1
                }) as u16;
                self.files.insert(unit, file);
                file
            }
        };
        let line = start.line as u32 + data.line_offset;
        let column = start.column as u32 + 1 + if start.line == 1 { data.column_offset } else { 0 };
        self.loc = self.kernel.locations.push(Location { file, line, column, call, caller });
        self.spans.push(span);
        self.statements.push(self.statement);
        self.places.insert(key, self.loc);
    }

    /// Ends the current block; what follows is dead until control joins again.
    fn terminate(&mut self, op: Op) {
        let inst = self.kernel.new_inst(op, &[], self.loc);
        self.kernel.blocks[self.block].insts.push(inst);
        self.block = self.kernel.new_block(&[]);
        self.dead = true;
    }

    /// The IR type of a scalar type of the language.
    fn scalar(&self, ty: &Ty) -> Option<Type> {
        match ty {
            Ty::Scalar(ty) => Some(*ty),
            Ty::Usize => Some(self.kernel.options.index.unsigned()),
            Ty::Isize => Some(self.kernel.options.index.signed()),
            Ty::Adt(id, _) => match &self.context.items.adts[id.0].kind {
                AdtKind::Enum(_, repr) => Some(*repr),
                AdtKind::Struct(_) => None,
            },
            _ => None,
        }
    }

    /// The types of a struct's, tuple's or `Dim3`'s parts.
    fn parts(&self, ty: &Ty) -> Option<Vec<Ty>> {
        match ty {
            Ty::Tuple(fields) => Some(fields.clone()),
            Ty::Dim3 => Some(vec![Ty::Usize; 3]),
            Ty::Adt(..) => Some(self.context.field_types(ty)?.into_iter().map(|(_, ty)| self.shared_out(ty)).collect()),
            _ => None,
        }
    }

    /// How a parameter or shared array of this type lies in memory: a slice or a buffer has as many elements as the launch says.
    fn object_type(&mut self, ty: &Ty) -> Option<MemoryType> {
        match ty {
            Ty::Slice(element) | Ty::Global(element) | Ty::Texture(element) => {
                Some(MemoryType::Slice(Box::new(self.memory_type(element)?)))
            }
            Ty::Constant(inner) => self.memory_type(inner),
            ty => self.memory_type(ty),
        }
    }

    /// How a type of a fixed size lies in memory.
    fn memory_type(&mut self, ty: &Ty) -> Option<MemoryType> {
        if let Some(scalar) = self.scalar(ty) {
            return Some(MemoryType::Scalar(scalar));
        }
        match ty {
            Ty::Array(element, len) => {
                let len = super::check::array_len(*len)?;
                Some(MemoryType::Array(Box::new(self.memory_type(element)?), len))
            }
            Ty::Tuple(_) | Ty::Adt(..) | Ty::Dim3 => self.struct_type(ty).map(MemoryType::Struct),
            _ => None,
        }
    }

    /// What in a type has no size, as the end of a message about the whole type.
    fn without_size(&self, ty: &Ty) -> String {
        let outer = match ty {
            Ty::Slice(inner)
            | Ty::Global(inner)
            | Ty::Texture(inner)
            | Ty::Constant(inner)
            | Ty::Matrix(inner)
            | Ty::MatrixBatch(inner) => inner,
            ty => ty,
        };
        let mut open = vec![outer.clone()];
        while let Some(ty) = open.pop() {
            match &ty {
                Ty::Slice(_) | Ty::Global(_) | Ty::Texture(_) | Ty::Constant(_) | Ty::Matrix(_) | Ty::MatrixBatch(_) => {
                    return format!(": `{}` in it has no fixed size", self.context.show(&ty));
                }
                Ty::Array(element, _) => open.push((**element).clone()),
                ty => open.extend(self.parts(ty).unwrap_or_default()),
            }
        }
        String::new()
    }

    fn struct_type(&mut self, ty: &Ty) -> Option<StructId> {
        if let Some(id) = self.structs.get(ty) {
            return Some(*id);
        }
        let (name, fields): (String, Vec<(String, Ty)>) = match ty {
            Ty::Adt(id, _) => (self.struct_name(*id), self.context.field_types(ty)?),
            _ => {
                let parts = self.parts(ty)?;
                let fields = parts.into_iter().enumerate().map(|(i, ty)| (format!("f{i}"), ty)).collect();
                (format!("Tuple{}", self.kernel.structs.len()), fields)
            }
        };
        let mut laid_out = Vec::new();
        for (name, ty) in fields {
            let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("f{name}") } else { name };
            laid_out.push((name, self.memory_type(&ty)?));
        }
        let least_align = if let Ty::Adt(id, _) = ty { repr_align(self.context.items.adts[id.0].attrs) } else { 1 };
        let data = StructType::new(name, laid_out, least_align, &self.kernel.structs);
        if data.size > MOST_BYTES {
            let span = if let Ty::Adt(id, _) = ty { self.context.items.adts[id.0].span } else { self.spans[self.loc.0 as usize] };
            let message = format!("`{}` takes more than {MOST_BYTES} bytes, as no device has", data.name);
            self.report(Diagnostic::error(span, message).help("hold what is long in a buffer of its own, `&Global<T>`"));
        }
        let id = self.kernel.structs.push(data);
        self.structs.insert(ty.clone(), id);
        Some(id)
    }

    /// A struct's name, told apart from other instances of the same generic struct.
    fn struct_name(&self, id: AdtId) -> String {
        let name = &self.context.items.adts[id.0].name;
        let taken = |structs: &EntityMap<StructId, StructType>, name: &str| structs.values().any(|s| s.name == name);
        if !taken(&self.kernel.structs, name) {
            return name.clone();
        }
        (2..).map(|n| format!("{name}{n}")).find(|name| !taken(&self.kernel.structs, name)).unwrap_or_else(|| name.clone())
    }

    fn new_object(&mut self, name: &str, kind: ObjectKind, ty: MemoryType) -> Object {
        self.kernel.objects.push(ObjectData { name: name.to_owned(), kind, ty, loc: self.loc })
    }

    /// The location of a span, without going there.
    fn place_of(&mut self, span: Span) -> Loc {
        let here = self.loc;
        self.at(span);
        std::mem::replace(&mut self.loc, here)
    }

    /// Says where the arrays of a variable are declared.
    fn declare_arrays(&mut self, tree: &Tree, span: Span) {
        match tree {
            Tree::Array(object) => {
                let loc = self.place_of(span);
                self.kernel.objects[*object].loc = loc;
            }
            Tree::Node(children) => children.iter().for_each(|child| self.declare_arrays(child, span)),
            _ => {}
        }
    }

    /// Declares the parameters, and loads those by value, but for arrays that nothing changes: their variables, and what these hold at first.
    fn parameters(&mut self, body: &Rc<Body>, signature: &syn::Signature) -> Vec<(LocalId, Ty, Tree)> {
        let mut values = Vec::new();
        let mut constant = 0u64;
        for (local, input) in body.params.iter().zip(&signature.inputs) {
            let data = &body.locals[local.0];
            let ty = self.resolve(&data.ty);
            self.at(data.span);
            let var = self.var(*local);
            let mutable = matches!(input, syn::FnArg::Typed(typed)
                if matches!(&*typed.ty, syn::Type::Reference(r) if r.mutability.is_some()));
            if self.context.is_group(&ty) || matches!(ty, Ty::Matrix(_) | Ty::MatrixBatch(_)) {
                self.check_group(input, data.span, &ty);
                let before = self.kernel.params.len();
                let place = self.group((&data.name, data.span), &ty, mutable, &mut constant);
                // Of a matrix, its elements.
                if let (Some(hint), Ty::Matrix(_) | Ty::MatrixBatch(_)) = (cache_hint(input), &ty) {
                    let is_buffer = |object: &&Object| matches!(self.kernel.objects[**object].kind, ObjectKind::Global { .. });
                    let data = self.kernel.params[before..].iter().find(is_buffer).copied();
                    self.kernel.cached.extend(data.map(|data| (data, hint)));
                }
                self.vars[var] = Var::Place(place);
                continue;
            }
            let Some(access) = self.parameter(&data.name, &ty, mutable, data.span, &mut constant) else { continue };
            if let (Some(hint), Ty::Global(_)) = (cache_hint(input), &ty) {
                self.kernel.cached.insert(access.object, hint);
            }
            // An array stays where it is: an index that is not known would have it copied to local memory.
            if self.kernel.objects[access.object].kind == ObjectKind::Value && (data.mutable || !self.has_array(&ty)) {
                let value = self.load_tree(&access, &ty);
                values.push((*local, ty, value));
            } else {
                self.vars[var] = Var::Place(place::Place::Memory { access, ty });
            }
        }
        values
    }

    /// One parameter of the compiled kernel; `constant` is what others take of constant memory.
    fn parameter(&mut self, name: &str, ty: &Ty, mutable: bool, span: Span, constant: &mut u64) -> Option<Access> {
        // A slice by value would be one of no known length.
        let memory = if matches!(ty, Ty::Slice(_)) { None } else { self.object_type(ty) };
        let Some(memory) = memory else {
            let message = format!("a kernel parameter cannot be of type `{}`{}", self.context.show(ty), self.without_size(ty));
            self.report(Diagnostic::error(span, message).help("pass scalars and structs by value, buffers as `&Global<T>`"));
            return None;
        };
        let kind = match ty {
            Ty::Global(_) => ObjectKind::Global { writable: mutable },
            Ty::Constant(_) => ObjectKind::Constant,
            Ty::Texture(_) => ObjectKind::Texture,
            _ => ObjectKind::Value,
        };
        if kind == ObjectKind::Constant {
            let bytes = memory.size(&self.kernel.structs);
            *constant = constant.saturating_add(bytes);
            if *constant > u64::from(CONSTANT_BYTES) {
                let message = match *constant - bytes {
                    0 => format!("`{name}` takes {bytes} bytes of constant memory; there are {CONSTANT_BYTES}"),
                    before => format!(
                        "`{name}` takes {bytes} bytes of constant memory beside {before} of other parameters; there are {CONSTANT_BYTES}"
                    ),
                };
                self.report(Diagnostic::error(span, message).help("take it as `&Global<T>`"));
            }
        }
        let object = self.new_object(name, kind, memory);
        self.kernel.params.push(object);
        Some(Access { object, path: Vec::new() })
    }

    /// What is never read is not read for the last time either.
    fn check_hints(&self) {
        for object in self.kernel.cached.iter().filter(|(_, hint)| **hint == CacheHint::LastUse).map(|(object, _)| *object) {
            let mut is_read = false;
            self.kernel.for_each_inst(|kernel, _, inst| {
                is_read |= match &kernel.insts[inst].op {
                    Op::Memory(Memory { op: MemoryOp::Load, at }) => at.object() == object,
                    Op::Collective(collective) => collective.is_load() && collective.buffer() == object,
                    _ => false,
                };
            });
            if !is_read {
                let data = &self.kernel.objects[object];
                let error = Diagnostic::error(
                    self.spans[usize::from(data.loc)],
                    format!("`{}` is never read, so `last_use` says nothing", data.name.trim_end_matches(".data")),
                );
                self.report(error.help("write `#[cache(streaming)]` for what is written once"));
            }
        }
    }

    /// A group is known by its lifetime, where only the parameter is seen.
    fn check_group(&self, input: &syn::FnArg, span: Span, ty: &Ty) {
        let syn::FnArg::Typed(typed) = input else { return };
        if let Ty::Adt(id, _) = ty
            && !matches!(&*typed.ty, syn::Type::Path(path) if crate::syntax::is_group_type(path))
        {
            let name = &self.context.items.adts[id.0].name;
            let error = Diagnostic::error(span, format!("`{name}` is a group of parameters, and its type here does not say so"));
            self.report(error.help(format!("write its lifetime: `{name}<'_>`")));
        }
    }

    /// A group of parameters, or a matrix: each field is one of its own, called `p.x`. Values are loaded here, once: nothing changes them.
    /// `mutable` says of a matrix whether it is a `&mut`.
    fn group(&mut self, (name, span): (&str, Span), ty: &Ty, mutable: bool, constant: &mut u64) -> place::Place {
        let fields = self.context.field_types(ty).unwrap_or_default();
        let mut parts = Vec::new();
        if let Ty::Matrix(element) | Ty::MatrixBatch(element) = ty
            && self.memory_type(element).is_none()
        {
            let message = format!("a kernel parameter cannot be of type `{}`{}", self.context.show(ty), self.without_size(ty));
            self.report(Diagnostic::error(span, message).help("take a matrix of scalars, or of arrays or structs of these"));
            return place::Place::Group { parts, ty: ty.clone() };
        }
        for (index, (field, field_type)) in (0u32..).zip(fields) {
            let name = format!("{name}.{field}");
            let mutable = if matches!(ty, Ty::Matrix(_) | Ty::MatrixBatch(_)) { mutable } else { self.context.is_mutable_field(ty, index) };
            let place = match self.parameter(&name, &field_type, mutable, span, constant) {
                Some(access) if self.kernel.objects[access.object].kind == ObjectKind::Value && !self.has_array(&field_type) => {
                    let value = self.load_tree(&access, &field_type);
                    let value = self.bound(&field, &field_type, value);
                    self.vars.push(Var::Value(value));
                    place::Place::Register { var: self.vars.len() - 1, path: Vec::new(), ty: field_type }
                }
                Some(access) => place::Place::Memory { access, ty: field_type },
                // Reported: any place will do.
                None => place::Place::Group { parts: Vec::new(), ty: field_type },
            };
            parts.push(place);
        }
        place::Place::Group { parts, ty: ty.clone() }
    }

    /// Gives parameters by value to their variables. What the body may assign, each element of a thread gets afresh.
    fn bind_parameters(&mut self, values: Vec<(LocalId, Ty, Tree)>) {
        let body = self.frame().body.clone();
        for (local, ty, value) in values {
            let data = &body.locals[local.0];
            self.at(data.span);
            let tree = self.bound(&data.name, &ty, value);
            let var = self.var(local);
            self.vars[var] = Var::Value(tree);
        }
    }

    fn check_shared(&self, span: Span) {
        let statics = self.kernel.objects.values().filter(|o| o.kind == ObjectKind::Shared);
        let bytes: u64 = statics.clone().map(|o| o.ty.size(&self.kernel.structs)).fold(0, u64::saturating_add);
        if bytes > u64::from(MOST_SHARED_BYTES) {
            let largest = statics.max_by_key(|o| o.ty.size(&self.kernel.structs));
            let (place, name) = largest.map_or((span, ""), |o| (self.spans[o.loc.0 as usize], o.name.as_str()));
            let message = format!("shared arrays take {bytes} bytes, and no target has more than {MOST_SHARED_BYTES} for a block");
            let help = format!("make `{name}` smaller");
            self.report(Diagnostic::error(place, message).help(help));
        }
        if self.kernel.objects.values().filter(|o| o.kind == ObjectKind::Shared && matches!(o.ty, MemoryType::Slice(_))).count() > 1 {
            let message = "a kernel has one dynamic shared array; two are declared";
            self.report(Diagnostic::error(span, message).help("split one slice by hand, or give one of them a fixed length"));
        }
    }

    /// Gives a value the source's name.
    fn name(&mut self, value: Value, name: &str) {
        self.kernel.values[value].name.get_or_insert_with(|| name.into());
    }

    /// Declares `#[shared]` arrays; each once, however often its function is inlined.
    fn declare_shared(&mut self, local: LocalId) {
        let body = self.frame().body.clone();
        let data = &body.locals[local.0];
        self.at(data.span);
        let ty = self.resolve(&data.ty);
        let function = self.stack[self.stack.len() - 1];
        let rows = body.rows.get(&local).copied().unwrap_or_default();
        let key = (function, vec![Arg::Ty(ty.clone())], local, rows);
        let object = match self.shared.get(&key) {
            Some(object) => *object,
            None => {
                let Some(memory) = self.object_type(&ty) else {
                    let message = format!("shared memory cannot hold a `{}`{}", self.context.show(&ty), self.without_size(&ty));
                    self.report(Diagnostic::error(data.span, message).help("it holds scalars, structs and arrays of these"));
                    return;
                };
                let memory = if rows.pad > 0 { memory.padded(rows.pad) } else { memory };
                let object = self.new_object(&data.name, ObjectKind::Shared, memory);
                if let Some(swizzle) = rows.swizzle {
                    self.kernel.swizzled.insert(object, swizzle);
                }
                self.shared.insert(key, object);
                object
            }
        };
        debug_assert!(data.kind == LocalKind::Shared || data.kind == LocalKind::SharedDynamic);
        let var = self.var(local);
        self.vars[var] = Var::Place(place::Place::Memory { access: Access { object, path: Vec::new() }, ty });
    }

    /// A unit value.
    fn unit(&self) -> Tree {
        Tree::Node(Vec::new())
    }
}
