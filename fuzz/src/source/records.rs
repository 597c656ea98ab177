//! Buffers of structs, and structs, arrays and indices as parameters by value.

use super::kernel::{Parameter, Passed};
use super::layouts::Layout;
use super::names::PARAMETERS;
use super::scope::{Generator, Records, Ty};
use super::tree::Node;
use super::types::Scalar;

impl Generator<'_> {
    /// A name for a parameter that no other has.
    pub(super) fn parameter_name(&mut self) -> String {
        let free: Vec<&str> = PARAMETERS.iter().copied().filter(|name| !self.reserved.contains(*name)).collect();
        let name = free[self.random.below(free.len())].to_owned();
        self.reserved.insert(name.clone());
        name
    }

    /// Parameters that structs are for, of structs that were written.
    pub(super) fn whole_parameters(&mut self, threads: usize, parameters: &mut Vec<Parameter>) {
        let mut add = |g: &mut Self, name: String, passed: Passed| {
            let seed = g.random.below(1000) as u64;
            parameters.push(Parameter::new(name, Scalar::U32, passed, seed));
        };
        let scalar = self.random.pick(&Scalar::ELEMENTS);
        let mut types: Vec<Ty> = (0..self.structs.len()).map(Ty::Struct).collect();
        types.extend((0..self.enums.len()).map(Ty::Enum));
        types.extend(
            [Ty::Array(scalar, 3), Ty::Grid(scalar, 2, 3), Ty::Scalar(Scalar::Bool)].into_iter().filter(|_| self.random.chance(20)),
        );
        let all: Vec<(Ty, Layout)> = types.into_iter().filter_map(|ty| Some((ty.clone(), self.layout(&ty)?))).collect();
        if !all.is_empty() && self.random.chance(60) {
            self.hit("records.read");
            let (ty, layout) = all[self.random.below(all.len())].clone();
            let (name, len) = (self.parameter_name(), self.random.pick(&[16usize, 64]));
            self.records.push(Records { name: name.clone(), ty, len, is_own: false });
            let is_constant = len == 16 && self.random.chance(30);
            if is_constant {
                self.hit("records.constant");
            }
            let passed = if is_constant { Passed::Constants { layout, len } } else { Passed::Elements { layout, len, is_written: false } };
            add(self, name, passed);
        }
        let plain: Vec<&(Ty, Layout)> = all.iter().filter(|(_, layout)| layout.is_plain()).collect();
        if !plain.is_empty() && self.random.chance(70) {
            self.hit("records.written");
            let (ty, layout) = plain[self.random.below(plain.len())].clone();
            let name = self.parameter_name();
            self.records.push(Records { name: name.clone(), ty, len: threads, is_own: true });
            add(self, name, Passed::Elements { layout, len: threads, is_written: true });
        }
        if !all.is_empty() && self.random.chance(30) {
            self.hit("parameter.struct");
            let (ty, layout) = all[self.random.below(all.len())].clone();
            let name = self.parameter_name();
            self.bind(&name, ty.clone(), false);
            let uniform: Vec<_> = self.leaves(&ty).into_iter().map(|(path, scalar)| (format!("{name}{path}"), scalar)).collect();
            self.uniform.extend(uniform);
            add(self, name, Passed::Whole(layout));
        }
        if self.random.chance(15) {
            self.hit("matrix.of_threads");
            let (scalar, name, is_batch) = (self.random.pick(&Scalar::ELEMENTS), self.parameter_name(), self.random.chance(40));
            let (rows, columns) = (1 + self.random.below(8), 1 + self.random.below(8));
            let pitch = columns + self.random.below(3);
            self.matrices.push((name.clone(), scalar, is_batch));
            let passed = if is_batch {
                Passed::Batch { extents: [rows, columns, pitch, 2, rows * pitch + self.random.below(3)], is_written: false }
            } else {
                Passed::Matrix { rows, columns, pitch, is_written: false }
            };
            let seed = self.random.below(1000) as u64;
            parameters.push(Parameter::new(name, scalar, passed, seed));
        }
        let mut add = |g: &mut Self, name: String, passed: Passed| {
            let seed = g.random.below(1000) as u64;
            parameters.push(Parameter::new(name, Scalar::U32, passed, seed));
        };
        if self.random.chance(10) {
            self.hit("parameter.array");
            let scalar = self.random.pick(&Scalar::ELEMENTS);
            let (name, len) = (self.parameter_name(), self.random.pick(&[2usize, 4]));
            self.bind(&name, Ty::Array(scalar, len), false);
            add(self, name, Passed::Whole(Layout::Array(Box::new(Layout::Scalar(scalar)), len)));
        }
        if self.random.chance(15) {
            self.hit("parameter.usize");
            let name = self.parameter_name();
            self.counters.push((name.clone(), 256));
            add(self, name, Passed::Whole(Layout::Index));
        }
        if self.random.chance(15) {
            self.hit("parameter.struct_with_usize");
            let scalars = [0; 3].map(|_| self.random.pick(&Scalar::ALL));
            let [a, b, c] = scalars.map(Scalar::name);
            self.items.push(format!(
                "#[device]\n#[derive(Clone, Copy)]\n#[repr(C)]\npub struct Figures {{\n    pub a: {a},\n    pub width: usize,\n    pub b: {b},\n    pub sizes: [usize; 2],\n    pub c: {c},\n}}\n"
            ));
            let name = self.parameter_name();
            let field = |(name, scalar): (&str, Scalar)| (name.to_owned(), Layout::Scalar(scalar));
            let [a, b, c] = [("a", scalars[0]), ("b", scalars[1]), ("c", scalars[2])].map(field);
            let sizes = Layout::Array(Box::new(Layout::Index), 2);
            let fields = vec![a, ("width".to_owned(), Layout::Index), b, ("sizes".to_owned(), sizes), c];
            self.uniform.extend(["a", "b", "c"].into_iter().zip(scalars).map(|(field, scalar)| (format!("{name}.{field}"), scalar)));
            self.counters.extend(["width", "sizes[0]", "sizes[1]"].map(|field| (format!("{name}.{field}"), 256)));
            add(self, name, Passed::Whole(Layout::Struct { name: "Figures".to_owned(), fields, align: 1 }));
        }
    }

    /// An element of a matrix, often one that is not there.
    pub(super) fn matrix_element(&mut self, depth: usize) -> Option<(String, Scalar)> {
        if self.matrices.is_empty() {
            return None;
        }
        let (name, scalar, is_batch) = self.matrices[self.random.below(self.matrices.len())].clone();
        self.hit(if is_batch { "batch.element" } else { "matrix.element" });
        let [(row, _), (column, _), (which, _)] = [0; 3].map(|_| self.number(depth));
        let which = if is_batch { format!("[{which} % 3]") } else { String::new() };
        let of_extents = ["rows", "columns", "pitch"];
        let column = match self.random.below(5) {
            0 => format!("{name}.{}() - 1", self.random.pick(&of_extents)),
            1 => column,
            _ => format!("{column} % 9"),
        };
        Some((format!("{name}{which}[({row} % 9, {column})]"), scalar))
    }

    /// How buffers are kept in caches, which changes no result.
    pub(super) fn cache_hints(&mut self, parameters: &mut [Parameter]) {
        for parameter in parameters {
            let is_memory = !parameter.is_value()
                && !matches!(parameter.passed, Passed::Constant(_) | Passed::Constants { .. } | Passed::Texture { .. })
                && !parameter.in_group;
            if is_memory && self.random.chance(8) {
                self.hit("cache");
                // The last hint is of what the kernel reads: `Kernel::print` adds a read.
                let last = if parameter.is_read_alone() { "last_use" } else { "streaming" };
                parameter.cache = Some(self.random.pick(&["streaming", "evict_first", "evict_last", "no_allocate", last]));
                if parameter.cache == Some("last_use") {
                    self.hit("cache.last_use");
                }
            }
        }
    }

    /// A part of an element of a buffer of structs, and its type.
    pub(super) fn record_part(&mut self, depth: usize) -> Option<(String, Scalar)> {
        let readable: Vec<Records> = self.records.iter().filter(|records| !records.is_own || self.has_threads).cloned().collect();
        if readable.is_empty() {
            return None;
        }
        let records = &readable[self.random.below(readable.len())];
        let parts = self.leaves(&records.ty);
        if parts.is_empty() {
            return None;
        }
        let (path, scalar) = parts[self.random.below(parts.len())].clone();
        self.hit("records.field");
        let index = self.record_index(records, depth);
        Some((format!("{}[{index}]{path}", records.name), scalar))
    }

    fn record_index(&mut self, records: &Records, depth: usize) -> String {
        if records.is_own { self.own.0.clone() } else { self.index(records.len, depth) }
    }

    /// A variable that is a whole element.
    pub(super) fn let_record(&mut self) -> Node {
        let readable: Vec<Records> = self.records.iter().filter(|records| !records.is_own || self.has_threads).cloned().collect();
        if readable.is_empty() {
            return self.let_number();
        }
        self.hit("records.whole");
        let records = readable[self.random.below(readable.len())].clone();
        let index = self.record_index(&records, 1);
        let (name, is_mutable) = (self.name(), self.random.chance(50));
        self.bind(&name, records.ty.clone(), is_mutable);
        let mutable = if is_mutable { "mut " } else { "" };
        Node::Let { names: vec![name.clone()], text: format!("let {mutable}{name} = {}[{index}];", records.name) }
    }

    /// A store to the thread's own element: whole, or to a part of it. Of NaNs it stores the plain one.
    pub(super) fn record_store(&mut self) -> Node {
        let Some(records) = self.records.iter().find(|records| records.is_own).filter(|_| self.has_threads).cloned() else {
            return self.change_number();
        };
        let (name, own) = (records.name, self.own.0.clone());
        if self.random.chance(30) {
            self.hit("records.store_whole");
            let value = self.clean_value(&records.ty, 1);
            return Node::line(format!("{name}[{own}] = {value};"));
        }
        let parts = self.leaves(&records.ty);
        let (path, scalar) = parts[self.random.below(parts.len())].clone();
        self.hit("records.store_field");
        let value = self.clean_value(&Ty::Scalar(scalar), 2);
        let operator = if scalar.is_float() || scalar == Scalar::Bool { "=" } else { self.random.pick(&["=", "+=", "^=", "*="]) };
        Node::line(format!("{name}[{own}]{path} {operator} {value};"))
    }

    /// A value without NaNs but the plain one.
    fn clean_value(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Scalar(scalar) if scalar.is_float() => {
                let value = self.expr(*scalar, depth);
                format!("{{ let c_ = {value}; if c_.is_nan() {{ {}::NAN }} else {{ c_ }} }}", scalar.name())
            }
            Ty::Grid(scalar, rows, columns) => {
                let rows: Vec<String> = (0..*rows).map(|_| self.clean_value(&Ty::Array(*scalar, *columns), depth)).collect();
                format!("[{}]", rows.join(", "))
            }
            Ty::Array(scalar, len) => {
                let parts: Vec<String> = (0..*len).map(|_| self.clean_value(&Ty::Scalar(*scalar), depth.min(1))).collect();
                format!("[{}]", parts.join(", "))
            }
            Ty::Struct(id) => {
                let item = self.structs[*id].clone();
                let fields: Vec<String> =
                    item.fields.iter().map(|(field, ty)| format!("{field}: {}", self.clean_value(ty, depth))).collect();
                format!("{} {{ {} }}", item.name, fields.join(", "))
            }
            _ => self.aggregate(ty, depth),
        }
    }
}
