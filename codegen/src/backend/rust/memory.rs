//! Memory: parameters, structs, arrays, loads and stores.

use super::Printer;
use super::expression::Expr;
use super::kinds::{Kind, type_text};
use crate::analysis::place::{constant_place, scalars_of};
use crate::backend::structured::{Language, PRIMARY, Values};
use crate::ir::{
    Access, Address, Block, CacheHint, Compute, Inst, Memory, MemoryOp, MemoryType, Object, ObjectKind, Op, Scalar, Space, StructId,
    TextureOp,
};
use crate::ir::{IndexWidth, Math};
use crate::passes;
use std::collections::{BTreeMap, HashSet};

/// Stores of one constant to every element of an array, one after another: `= [[0.0; 4]; 4]`.
pub(super) struct Fill {
    object: Object,
    value: Scalar,
    stores: Vec<Inst>,
    /// Whether the array can be declared here: nothing outside this block touches it.
    declares: bool,
}

impl Printer<'_> {
    /// Every object a name of its own.
    pub(super) fn name_objects(&mut self) {
        for data in self.kernel.objects.values() {
            let base: String = data.name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
            let mut name = base.clone();
            let mut number = 1;
            while !self.names.taken.insert(name.clone()) {
                number += 1;
                name = format!("{base}_{number}");
            }
            self.object_names.push(name);
        }
        for data in self.kernel.structs.values() {
            self.names.taken.insert(data.name.clone());
        }
    }

    fn is_tuple(&self, id: StructId) -> bool {
        let data = &self.kernel.structs[id];
        let is_made_up = data.name.strip_prefix("Tuple").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        is_made_up && data.fields.iter().enumerate().all(|(n, field)| field.name == format!("f{n}"))
    }

    /// The name of a field: a number in a tuple.
    pub(super) fn field_name(&self, id: StructId, field: u32) -> String {
        if self.is_tuple(id) { field.to_string() } else { self.kernel.structs[id].fields[field as usize].name.clone() }
    }

    fn memory_type(&self, ty: &MemoryType) -> String {
        match ty {
            MemoryType::Scalar(ty) => ty.to_string(),
            MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => format!("[{}; {n}]", self.memory_type(element)),
            MemoryType::Slice(element) => format!("[{}]", self.memory_type(element)),
            MemoryType::Struct(id) if self.is_tuple(*id) => {
                let fields: Vec<String> = self.kernel.structs[*id].fields.iter().map(|field| self.memory_type(&field.ty)).collect();
                format!("({}{})", fields.join(", "), if fields.len() == 1 { "," } else { "" })
            }
            MemoryType::Struct(id) => self.kernel.structs[*id].name.clone(),
        }
    }

    /// A value of a type, every scalar of which is `scalar`'s bits.
    fn filled(&self, ty: &MemoryType, bits: u64) -> String {
        match ty {
            MemoryType::Scalar(ty) => Expr::literal(Scalar::new(*ty, bits)).typed(*ty, Kind::Plain),
            MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => format!("[{}; {n}]", self.filled(element, bits)),
            MemoryType::Slice(_) => String::new(),
            MemoryType::Struct(id) => {
                let fields = &self.kernel.structs[*id].fields;
                let values: Vec<String> = fields.iter().map(|field| self.filled(&field.ty, bits)).collect();
                if self.is_tuple(*id) {
                    return format!("({}{})", values.join(", "), if values.len() == 1 { "," } else { "" });
                }
                let pairs: Vec<String> = fields.iter().zip(values).map(|(field, value)| format!("{}: {value}", field.name)).collect();
                format!("{} {{ {} }}", self.kernel.structs[*id].name, pairs.join(", "))
            }
        }
    }

    /// What stands before the kernel: structs, and constants that are tables.
    pub(super) fn items(&mut self) {
        for (id, data) in self.kernel.structs.iter() {
            if self.is_tuple(id) {
                continue;
            }
            let fields: String =
                data.fields.iter().map(|field| format!("    {}: {},\n", field.name, self.memory_type(&field.ty))).collect();
            let align = data.asked_align(&self.kernel.structs).map_or(String::new(), |align| format!(", align({align})"));
            self.state
                .text
                .push_str(&format!("#[device]\n#[derive(Clone, Copy)]\n#[repr(C{align})]\nstruct {} {{\n{fields}}}\n\n", data.name));
        }
        for (object, data) in self.kernel.objects.iter() {
            let ObjectKind::Table(scalars) = &data.kind else { continue };
            let mut texts = scalars.iter().map(|scalar| Expr::literal(*scalar).text);
            let table = nested(&data.ty, &mut texts);
            let ty = self.memory_type(&data.ty);
            self.state.text.push_str(&format!("const {}: {ty} = {table};\n\n", self.object_names[object.0 as usize]));
        }
    }

    fn attribute(&self) -> String {
        let options = &self.kernel.options;
        let mut arguments = Vec::new();
        match options.block {
            Some([x, 1, 1]) => arguments.push(format!("block = {x}")),
            Some([x, y, 1]) => arguments.push(format!("block = ({x}, {y})")),
            Some([x, y, z]) => arguments.push(format!("block = ({x}, {y}, {z})")),
            None => {}
        }
        match options.cluster {
            [1, 1, 1] => {}
            [x, 1, 1] => arguments.push(format!("cluster = {x}")),
            [x, y, 1] => arguments.push(format!("cluster = ({x}, {y})")),
            [x, y, z] => arguments.push(format!("cluster = ({x}, {y}, {z})")),
        }
        arguments.extend(options.min_blocks.map(|n| format!("min_blocks = {n}")));
        arguments.extend(options.max_registers.map(|n| format!("max_registers = {n}")));
        if options.persistent {
            arguments.push("persistent".to_owned());
        }
        if options.overlap {
            arguments.push("overlap".to_owned());
        }
        if options.raster > 1 {
            arguments.push(format!("raster(rows = {})", options.raster));
        }
        if options.index == IndexWidth::Bits64 {
            arguments.push("index = 64".to_owned());
        }
        if options.math == Math::Fast {
            arguments.push("math = fast".to_owned());
        }
        if !options.contract {
            arguments.push("contract = false".to_owned());
        }
        if arguments.is_empty() { "#[kernel]".to_owned() } else { format!("#[kernel({})]", arguments.join(", ")) }
    }

    pub(super) fn signature(&mut self) {
        let parameter = |object: Object| {
            let data = &self.kernel.objects[object];
            let name = &self.object_names[object.0 as usize];
            match (&data.kind, &data.ty) {
                (ObjectKind::Value, MemoryType::Scalar(ty)) => format!("{name}: {}", type_text(*ty, self.kinds.object(object))),
                (ObjectKind::Global { writable }, MemoryType::Slice(element)) => {
                    // Loads that nobody used are gone, and then there is no last one.
                    let is_idle = |hint: &CacheHint| *hint == CacheHint::LastUse && !self.is_loaded(object);
                    let hint = self.kernel.cached.get(&object).filter(|hint| !is_idle(hint));
                    let hint = hint.map_or(String::new(), |hint| format!("#[cache({})] ", hint.word()));
                    format!("{hint}{name}: &{}Global<{}>", if *writable { "mut " } else { "" }, self.memory_type(element))
                }
                (ObjectKind::Texture, MemoryType::Slice(texel)) => format!("{name}: &Texture2d<{}>", self.memory_type(texel)),
                (ObjectKind::Constant, ty) => format!("{name}: &Constant<{}>", self.memory_type(ty)),
                (_, ty) => format!("{name}: {}", self.memory_type(ty)),
            }
        };
        let parameters: Vec<String> = self.kernel.params.iter().map(|object| parameter(*object)).collect();
        let one_line = parameters.join(", ");
        let list = if one_line.len() <= 100 { one_line } else { format!("\n    {},\n", parameters.join(",\n    ")) };
        let attribute = self.attribute();
        self.state.text.push_str(&format!("{attribute}\nfn {}({list}) {{\n", self.kernel.name));
    }

    /// Whether anybody needs what a parameter's buffer holds: only then a load of it is printed for sure.
    fn is_loaded(&self, object: Object) -> bool {
        let mut needed = self.kernel.clone();
        passes::run(&mut needed, passes::TIDY, None);
        let at = self.kernel.params.iter().position(|param| *param == object);
        let Some(object) = at.and_then(|at| needed.params.get(at).copied()) else { return false };
        let is_load = |inst: Inst| matches!(&needed.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Load, at }) if at.object() == object);
        needed.insts_in(needed.body).any(is_load)
    }

    /// Shared arrays, and those of a thread that are not declared where they are filled.
    pub(super) fn arrays(&mut self) {
        for (object, data) in self.kernel.objects.iter() {
            let name = self.object_names[object.0 as usize].clone();
            let ty = self.memory_type(&data.ty);
            match data.kind {
                ObjectKind::Shared => {
                    let arguments = match (&data.ty, data.ty.padding()) {
                        (MemoryType::Slice(_), 0) => "(dynamic)".to_owned(),
                        (MemoryType::Slice(_), pad) => format!("(dynamic, pad = {pad})"),
                        (_, 0) => String::new(),
                        (_, pad) => format!("(pad = {pad})"),
                    };
                    self.line(&format!("#[shared{arguments}]"));
                    self.line(&format!("let mut {name}: {ty};"));
                }
                ObjectKind::Local if !self.fills.iter().any(|fill| fill.object == object && fill.declares) => {
                    let zeros = self.filled(&data.ty, 0);
                    self.line(&format!("let mut {name} = {zeros};"));
                }
                ObjectKind::Local
                | ObjectKind::Peers(_)
                | ObjectKind::Value
                | ObjectKind::Global { .. }
                | ObjectKind::Constant
                | ObjectKind::Texture
                | ObjectKind::Table(_) => {}
            }
        }
    }

    /// Finds the arrays that are filled with one constant.
    pub(super) fn find_fills(&mut self) {
        let kernel = self.kernel;
        let mut all: BTreeMap<Object, Vec<(Block, Inst)>> = BTreeMap::new();
        kernel.for_each_inst(|kernel, block, inst| {
            if let Some(object) = kernel.insts[inst].op.object() {
                all.entry(object).or_default().push((block, inst));
            }
        });
        for (object, accesses) in all {
            let data = &kernel.objects[object];
            if data.kind != ObjectKind::Local || !is_uniform(&data.ty) {
                continue;
            }
            let Some((block, first)) = accesses.first().copied() else { continue };
            let Some((value, stores)) = self.fill_at(object, block, first) else { continue };
            let mut inside = 0;
            kernel.walk_block(block, &mut |kernel, _, inst| inside += usize::from(kernel.insts[inst].op.object() == Some(object)));
            self.fills.push(Fill { object, value, stores, declares: inside == accesses.len() });
        }
    }

    /// The stores from `first` on, if they put one constant into every element of `object`.
    fn fill_at(&self, object: Object, block: Block, first: Inst) -> Option<(Scalar, Vec<Inst>)> {
        let kernel = self.kernel;
        let (mut value, mut stores, mut places) = (None, Vec::new(), HashSet::new());
        for inst in kernel.blocks[block].insts.iter().skip_while(|inst| **inst != first) {
            let op = &kernel.insts[*inst].op;
            if matches!(op, Op::Compute(Compute::Const(_))) {
                continue;
            }
            let Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) = op else { break };
            // Other arrays may be filled in between.
            if values.len() != 1 || access.object != object && kernel.objects[access.object].kind != ObjectKind::Local {
                break;
            }
            if access.object == object {
                let scalar = kernel.constant(values[0])?;
                if *value.get_or_insert(scalar) != scalar {
                    return None;
                }
                places.insert(constant_place(kernel, access, 1)?);
                stores.push(*inst);
            }
            if places.len() == scalars_of(kernel, &kernel.objects[object].ty) {
                return Some((value?, stores));
            }
        }
        None
    }

    /// The elements of a vector in an array of one thread, one by one: the language has vectors of all others.
    fn neighbours(&mut self, base: &Expr, index: Expr, count: usize) -> Vec<String> {
        let first: Option<usize> = index.text.parse().ok();
        let name = match first {
            Some(_) => String::new(),
            None if index.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => index.text.clone(),
            None => {
                let name = self.declare_name("at");
                self.line(&format!("let {name} = {};", index.text));
                name
            }
        };
        let index = |k: usize| match (first, k) {
            (Some(first), _) => (first + k).to_string(),
            (None, 0) => name.clone(),
            (None, _) => format!("{name} + {k}"),
        };
        (0..count).map(|k| format!("{}[{}]", base.text, index(k))).collect()
    }

    /// Reads one scalar or a vector.
    pub(super) fn load(&mut self, inst: Inst, access: &Access) {
        let results = self.kernel.insts[inst].results.clone();
        if results.iter().all(|r| self.state.uses[r.0 as usize] == 0) {
            return;
        }
        let data = &self.kernel.objects[access.object];
        let [result] = results[..] else {
            let (base, index) = self.split_place(access);
            let is_buffer = data.space() != Space::Local;
            let places = if is_buffer { Vec::new() } else { self.neighbours(&base, index.clone(), results.len()) };
            let names: Vec<String> = results.iter().map(|value| self.declare_name(&self.hint(*value))).collect();
            let read = match is_buffer {
                true => format!("{}.load::<{}>({})", base.text, results.len(), index.text),
                false => format!("[{}]", places.join(", ")),
            };
            self.line(&format!("let [{}] = {read};", names.join(", ")));
            for (result, name) in results.iter().zip(names) {
                self.bind(*result, Expr::new(name, PRIMARY));
            }
            return;
        };
        let expr = self.place(access.object, &access.path);
        if data.kind == ObjectKind::Value && access.indices().next().is_none() {
            self.bind(result, expr);
        } else {
            self.define(inst, result, expr);
        }
    }

    /// Reads a texture.
    pub(super) fn texture(&mut self, inst: Inst, op: TextureOp, object: Object, coordinates: &[crate::ir::Value]) {
        let results = self.kernel.insts[inst].results.clone();
        if results.iter().all(|result| !self.state.is_used(*result)) {
            return;
        }
        let mut arguments = Vec::new();
        for coordinate in coordinates {
            arguments.push(self.take_as(*coordinate, Kind::Plain));
        }
        let list: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        let read = format!("{}.{}({})", self.object_names[object.0 as usize], op.word(), list.join(", "));
        if let [result] = results[..] {
            let mut expr = Expr::new(read, PRIMARY);
            arguments.iter().for_each(|argument| expr.absorb(argument));
            return self.define(inst, result, expr);
        }
        let names: Vec<String> = results.iter().map(|value| self.declare_name(&self.hint(*value))).collect();
        self.line(&format!("let [{}] = {read};", names.join(", ")));
        for (result, name) in results.iter().zip(names) {
            self.bind(*result, Expr::new(name, PRIMARY));
        }
    }

    /// Writes one scalar or a vector.
    pub(super) fn store(&mut self, inst: Inst, access: &Access, values: &[crate::ir::Value]) {
        if let Some(fill) = self.fills.iter().find(|fill| fill.stores.contains(&inst)) {
            if fill.stores.first() == Some(&inst) {
                let text = self.filled(&self.kernel.objects[fill.object].ty, fill.value.bits);
                let name = self.object_names[fill.object.0 as usize].clone();
                let word = if fill.declares { "let mut " } else { "" };
                self.line(&format!("{word}{name} = {text};"));
            }
            access.indices().for_each(|index| drop(self.take(index)));
            return;
        }
        let mut exprs = Vec::new();
        for value in values {
            exprs.push(self.take_as(*value, Kind::Plain));
        }
        let text = match &exprs[..] {
            [value] => {
                let place = self.place_to_write(access.object, &access.path);
                value.assigned_to(&place.text)
            }
            _ => {
                let (mut base, index) = self.split_place(access);
                self.to_write(access.object, &mut base);
                if self.kernel.objects[access.object].space() == Space::Local {
                    self.flush_loads();
                    for (place, expr) in self.neighbours(&base, index, exprs.len()).iter().zip(&exprs) {
                        let text = expr.assigned_to(place);
                        self.line(&text);
                    }
                    return;
                }
                let list: Vec<&str> = exprs.iter().map(|e| e.text.as_str()).collect();
                format!("{}.store::<{}>({}, [{}]);", base.text, exprs.len(), index.text, list.join(", "))
            }
        };
        self.flush_loads();
        self.line(&text);
    }
}

/// Whether a type is made of one scalar type only, so that a constant can fill it.
fn is_uniform(ty: &MemoryType) -> bool {
    match ty {
        MemoryType::Scalar(_) => true,
        MemoryType::Array(element, _) | MemoryType::Padded(element, ..) => is_uniform(element),
        MemoryType::Slice(_) | MemoryType::Struct(_) => false,
    }
}

/// The value of a table, a pair of brackets for each array.
fn nested(ty: &MemoryType, scalars: &mut impl Iterator<Item = String>) -> String {
    if let MemoryType::Array(element, n) = ty {
        let parts: Vec<String> = (0..*n).map(|_| nested(element, scalars)).collect();
        format!("[{}]", parts.join(", "))
    } else {
        scalars.next().unwrap_or_else(|| "0".into())
    }
}
