//! Memory: places as the source names them, loads, stores, and the declarations of arrays.

use super::Writer;
use super::expressions::{EQUALITY, Expr, PRIMARY};
use super::order::IN_ORDER;
use super::types::{Declarator, literal, memory_type};
use crate::backend::structured::{Language, Values};
use crate::ir::{Access, Address, Inst, Memory, MemoryType, Object, ObjectKind, Op, Scalar, Space, Step, Type, Value};

/// A place in memory: `tile[i][j]`, `p.pos[2]`.
pub(super) struct Lvalue {
    /// The lvalue.
    pub(super) expr: Expr,
    /// The type of the scalar there.
    pub(super) ty: Type,
    /// What a pointer to it is qualified with: `__global const`.
    pub(super) space: &'static str,
    /// What else: [`IN_ORDER`] or nothing.
    order: &'static str,
}

/// What a pointer into an object is qualified with.
pub(super) fn qualifier(kind: &ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Global { writable: true } => "__global",
        ObjectKind::Global { writable: false } => "__global const",
        ObjectKind::Constant | ObjectKind::Table(_) => "__constant",
        // There are no clusters: what uses them was refused.
        ObjectKind::Shared | ObjectKind::Peers(_) => "__local",
        // Images have a qualifier of their own, `read_only`, and are not pointed to.
        ObjectKind::Local | ObjectKind::Texture => "",
        ObjectKind::Value => "const",
    }
}

/// A pointer's declaration: `__global float *x`, `__global float (*x)[4]`.
pub(super) fn pointer(space: &str, element: &Declarator, name: &str) -> String {
    if element.extents.is_empty() {
        format!("{space} {} *{name}", element.base)
    } else {
        format!("{space} {} (*{name}){}", element.base, element.extents)
    }
}

impl Writer<'_> {
    /// The lvalue of an access.
    pub(super) fn place(&mut self, access: &Access) -> Lvalue {
        let kernel = self.kernel;
        let data = &kernel.objects[access.object];
        let name = &self.object_names[access.object.0 as usize];
        // Constant objects that are no array, and arrays passed by value, are reached differently from what the path says.
        let mut expr = match (&data.kind, &data.ty) {
            (ObjectKind::Constant, MemoryType::Scalar(_) | MemoryType::Struct(_)) => Expr::new(format!("(*{name})"), PRIMARY),
            (ObjectKind::Value, MemoryType::Array(..)) => Expr::new(format!("{name}.e"), PRIMARY),
            _ => Expr::new(name.clone(), PRIMARY),
        };
        let mut ty = &data.ty;
        for step in &access.path {
            match (step, ty) {
                (Step::Index(index), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                    let index = self.take(*index);
                    expr.text = format!("{}[{}]", expr.text, index.as_index());
                    expr.absorb(&index);
                    ty = element;
                }
                (Step::Field(n), MemoryType::Struct(id)) => {
                    expr.text = format!("{}.{}", expr.text, self.field_names[id.0 as usize][*n as usize]);
                    ty = &kernel.structs[*id].fields[*n as usize].ty;
                }
                // The verifier refuses other paths.
                _ => {}
            }
        }
        let ty = if let MemoryType::Scalar(ty) = ty { *ty } else { Type::U32 };
        Lvalue { expr, ty, space: qualifier(&data.kind), order: self.order(access.object) }
    }

    /// What says that accesses to an object must stay in order, if they must.
    pub(super) fn order(&self, object: Object) -> &'static str {
        if self.in_order.contains(&object) { IN_ORDER } else { "" }
    }

    /// Reads one scalar or a vector.
    pub(super) fn load(&mut self, inst: Inst, access: &Access) {
        let results = self.kernel.insts[inst].results.clone();
        if results.iter().all(|r| self.state.uses[r.0 as usize] == 0) {
            return;
        }
        let place = self.place(access);
        let changes = !matches!(self.kernel.objects[access.object].space(), Space::Param | Space::Constant);
        let by_value = self.kernel.objects[access.object].kind == ObjectKind::Value;
        let [result] = results[..] else {
            return self.load_vector(&results, &place);
        };
        let mut expr = if self.is_held_as_bits(access.object) {
            Expr::over(format!("as_{}({})", memory_type(place.ty), place.expr.text), PRIMARY, &[&place.expr])
        } else {
            from_memory(place.expr, place.ty)
        };
        expr.loads = changes || expr.loads;
        if by_value && access.indices().next().is_none() {
            self.bind(result, expr);
        } else {
            self.define(inst, result, expr);
        }
    }

    fn load_vector(&mut self, results: &[Value], place: &Lvalue) {
        let n = results.len();
        let base = self.component(results);
        let wanted = self.hint(results[0]);
        let name = self.names.name(&wanted);
        let from = vector_pointer(place, base, n);
        self.line(&format!("const {base}{n} {name} = {from};"));
        for (i, result) in results.iter().enumerate() {
            let ty = self.kernel.ty(*result);
            let part = reinterpreted(&format!("{name}.s{i:x}"), base, memory_type(ty));
            self.bind(*result, from_memory(Expr::new(part, PRIMARY), ty));
        }
    }

    /// The type of a vector's components in memory: bits, where they are of several types.
    fn component(&self, values: &[Value]) -> &'static str {
        let types: Vec<Type> = values.iter().map(|value| self.kernel.ty(*value)).collect();
        if types.windows(2).all(|pair| pair[0] == pair[1]) {
            memory_type(types[0])
        } else {
            memory_type(if types[0].bytes() == 8 { Type::U64 } else { Type::U32 })
        }
    }

    /// Writes one scalar or a vector.
    pub(super) fn store(&mut self, access: &Access, values: &[Value]) {
        let exprs: Vec<Expr> = values.iter().map(|v| self.take(*v)).collect();
        let place = self.place(access);
        self.flush_loads();
        let line = match &exprs[..] {
            [value] => format!("{} = {};", place.expr.text, value.text),
            _ => {
                let (n, base) = (exprs.len(), self.component(values));
                let part = |(expr, value): (&Expr, &Value)| {
                    let ty = self.kernel.ty(*value);
                    reinterpreted(&expr.typed(ty), memory_type(ty), base)
                };
                let parts: Vec<String> = exprs.iter().zip(values).map(part).collect();
                format!("{} = ({base}{n})({});", vector_pointer(&place, base, n), parts.join(", "))
            }
        };
        self.line(&line);
    }

    /// Arrays of the block and of the thread, declared where the kernel begins: `__local` ones must stand there.
    pub(super) fn declare_arrays(&mut self) {
        for object in self.kernel.objects.keys() {
            let data = &self.kernel.objects[object];
            let name = self.object_names[object.0 as usize].clone();
            let Declarator { base, extents } = self.ordered_declarator(object, &data.ty);
            match (&data.kind, &data.ty) {
                (ObjectKind::Shared, MemoryType::Slice(_)) => {
                    let argument = self.dynamic_shared().filter(|first| *first != object);
                    let argument = argument.map(|first| self.object_names[first.0 as usize].clone()).or_else(|| self.vectors_name.clone());
                    let Some(first) = argument else { continue };
                    let declarator = Declarator { base, extents };
                    let target = pointer("__local", &declarator, &name);
                    let cast = pointer("__local", &declarator, "");
                    self.line(&format!("{target} = ({cast}){first};"));
                }
                (ObjectKind::Shared, ty) => {
                    self.shared_bytes =
                        self.shared_bytes.next_multiple_of(ty.align(&self.kernel.structs).max(1)) + ty.size(&self.kernel.structs);
                    let align = self.vector_alignment(object);
                    self.line(&format!("__local {base} {name}{extents}{align};"));
                }
                (ObjectKind::Local, _) => {
                    let align = self.vector_alignment(object);
                    self.line(&format!("{base} {name}{extents}{align};"));
                }
                _ => {}
            }
        }
    }

    /// How to declare an object, or its elements, of type `ty`.
    pub(super) fn ordered_declarator(&self, object: Object, ty: &MemoryType) -> Declarator {
        let Declarator { base, extents } = self.declarator(ty);
        Declarator { base: format!("{}{base}", self.order(object)), extents }
    }

    /// The first dynamic shared array: the one that is the kernel's argument. There is one memory for all.
    pub(super) fn dynamic_shared(&self) -> Option<Object> {
        self.kernel.objects.keys().find(|object| self.is_dynamic(*object))
    }

    /// Whether an object is a dynamic shared array.
    pub(super) fn is_dynamic(&self, object: Object) -> bool {
        let data = &self.kernel.objects[object];
        data.kind == ObjectKind::Shared && matches!(data.ty, MemoryType::Slice(_))
    }

    /// Arrays that are read or written by vectors need a vector's alignment, which C would not give them.
    pub(super) fn vector_alignment(&self, object: Object) -> String {
        let mut bytes = 0;
        self.kernel.for_each_inst(|kernel, _, inst| {
            let data = &kernel.insts[inst];
            let Op::Memory(memory @ Memory { at: Address::Path(access), .. }) = &data.op else { return };
            let scalars = memory.scalars(&data.results);
            if access.object == object && scalars.len() > 1 {
                bytes = bytes.max(kernel.ty(scalars[0]).bytes() * scalars.len() as u32);
            }
        });
        if bytes == 0 { String::new() } else { format!(" __attribute__((aligned({bytes})))") }
    }

    /// Whether a table's elements are the bits of its floats: C has no constants for infinities and NaNs, and not every compiler takes `INFINITY` in an initializer.
    fn is_held_as_bits(&self, object: Object) -> bool {
        let is_bits = |scalar: &Scalar| matches!(scalar.ty, Type::F32 | Type::F64) && !scalar.as_f64().is_finite();
        matches!(&self.kernel.objects[object].kind, ObjectKind::Table(scalars) if scalars.iter().any(is_bits))
    }

    /// Constant tables of the kernel, at file scope.
    pub(super) fn emit_tables(&self) -> String {
        let mut out = String::new();
        for (object, data) in self.kernel.objects.iter() {
            let ObjectKind::Table(scalars) = &data.kind else { continue };
            let Declarator { base, extents } = self.declarator(&data.ty);
            let is_bits = self.is_held_as_bits(object);
            let base = match base.as_str() {
                "float" if is_bits => "uint",
                "double" if is_bits => "ulong",
                base => base,
            };
            let text = |scalar: &Scalar| match (is_bits, scalar.ty.bytes()) {
                (true, 8) => format!("0x{:016x}ul", scalar.bits),
                (true, _) => format!("0x{:08x}u", scalar.bits),
                (false, _) => literal(*scalar).text,
            };
            let texts: Vec<String> = scalars.iter().map(text).collect();
            let body = nested(&data.ty, &mut texts.into_iter());
            out.push_str(&format!("__constant {base} {}{extents} = {body};\n\n", self.object_names[object.0 as usize]));
        }
        out
    }
}

/// The initializer of a table, a pair of braces for each array.
fn nested(ty: &MemoryType, scalars: &mut impl Iterator<Item = String>) -> String {
    if let MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) = ty {
        let parts: Vec<String> = (0..*n).map(|_| nested(element, scalars)).collect();
        format!("{{{}}}", parts.join(", "))
    } else {
        scalars.next().unwrap_or_else(|| "0".into())
    }
}

/// A scalar read from memory as a value: a `bool` is a byte there.
fn from_memory(expr: Expr, ty: Type) -> Expr {
    if ty != Type::Bool {
        return expr;
    }
    Expr::over(format!("{} != 0", expr.text), EQUALITY, &[&expr])
}

/// One access to `n` scalars at once. The language promises the alignment.
fn vector_pointer(place: &Lvalue, base: &str, n: usize) -> String {
    format!("*({} {}{base}{n} *)&{}", place.space, place.order, place.expr.text).replace("*( ", "*(")
}

/// The bits of an expression of one type as another's.
fn reinterpreted(text: &str, from: &str, to: &str) -> String {
    if from == to { text.to_owned() } else { format!("as_{to}({text})") }
}
