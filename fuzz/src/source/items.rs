//! Items before a kernel: structs with methods, enums, device functions plain and generic, constants.

use super::names::{FIELDS, FUNCTIONS};
use super::scope::{Enum, Function, Generator, Struct, Ty};
use super::tree::{Form, Node};
use super::types::Scalar;

impl Generator<'_> {
    /// Some of each.
    pub(super) fn write_items(&mut self) {
        // Nothing in an item knows of threads, buffers or parameters.
        let (inputs, uniform) = (std::mem::take(&mut self.inputs), std::mem::take(&mut self.uniform));
        for _ in 0..self.random.below(2) {
            self.constant();
        }
        for _ in 0..self.random.below(2) {
            self.enumeration();
        }
        for _ in 0..self.random.below(3) {
            self.structure();
        }
        for _ in 0..self.random.below(4) {
            match self.random.below(6) {
                4 | 5 => self.wider_function(),
                0 => self.const_generic(),
                1 => self.type_generic(),
                _ => self.function(),
            }
        }
        self.inputs = inputs;
        self.uniform.extend(uniform);
    }

    fn constant(&mut self) {
        self.hit("const");
        let ty = self.random.pick(&[Scalar::U32, Scalar::I32, Scalar::F32, Scalar::U64, Scalar::I8]);
        let value = self.literal(ty);
        let name = format!("{}{}", self.random.pick(&["E", "L", "NULL", "INT_MAX_", "M_PI_"]), self.uniform.len());
        self.items.push(format!("#[allow(dead_code)]\nconst {name}: {} = {value};\n", ty.name()));
        self.uniform.push((name, ty));
    }

    fn enumeration(&mut self) {
        self.hit("enum");
        let repr = self.random.pick(&[Scalar::U32, Scalar::U8, Scalar::I32, Scalar::I16]);
        let variants: Vec<&'static str> = ["Red", "Int", "L", "NAN_"].into_iter().take(2 + self.random.below(3)).collect();
        let name = format!("Kind{}", self.enums.len());
        let mut text = format!("#[device]\n#[derive(Clone, Copy, PartialEq)]\n#[repr({})]\npub enum {name} {{\n", repr.name());
        let mut numbers: Vec<i64> = Vec::new();
        for (at, variant) in variants.iter().enumerate() {
            let said = self.random.chance(40).then(|| at * 7 + self.random.below(5));
            let value = said.map_or(String::new(), |number| format!(" = {number}"));
            numbers.push(said.map_or(numbers.last().map_or(0, |last| last + 1), |number| number as i64));
            text += &format!("    {variant}{value},\n");
        }
        self.items.push(text + "}\n");
        self.enums.push(Enum { name, variants, numbers, repr });
    }

    fn structure(&mut self) {
        self.hit("struct");
        let name = format!("{}{}", self.random.pick(&["Pair", "Float4_", "Texel", "Rec"]), self.structs.len());
        let count = 1 + self.random.below(4);
        let start = self.random.below(FIELDS.len() - count);
        // Without padding every second one: its buffers may be written.
        let width = self.random.chance(50).then(|| self.random.pick(&[4usize, 2, 8, 1]));
        let fields: Vec<(String, Ty)> = (0..count).map(|at| (FIELDS[start + at].to_owned(), self.field_type(width))).collect();
        let listed: String = fields.iter().map(|(field, ty)| format!("    pub {field}: {},\n", self.type_name(ty))).collect();
        let is_aligned = self.random.chance(15);
        if is_aligned {
            self.hit("struct.align");
        }
        let repr = if is_aligned { "C, align(16)" } else { "C" };
        let mut text = format!("#[device]\n#[derive(Clone, Copy, PartialEq)]\n#[repr({repr})]\npub struct {name} {{\n{listed}}}\n");
        let has_methods = self.random.chance(50);
        if has_methods {
            self.hit("struct.methods");
            let made: Vec<String> = self.scoped(|g| {
                g.variables.clear();
                g.bind("v", Ty::Scalar(Scalar::U32), false);
                fields.iter().map(|(field, ty)| format!("{field}: {}", g.aggregate(ty, 2))).collect()
            });
            let mixed = self.scoped(|g| {
                g.variables.clear();
                fields.iter().for_each(|(field, ty)| g.bind(&format!("self.{field}"), ty.clone(), false));
                g.expr(Scalar::U32, 3)
            });
            let changed = self.changing_method(&fields);
            text += &format!(
                "#[device]\nimpl {name} {{\n    pub fn made(v: u32) -> Self {{\n        {name} {{ {} }}\n    }}\n    pub fn mixed(&self) -> u32 {{\n        {mixed}\n    }}\n{changed}}}\n",
                made.join(", ")
            );
        }
        self.items.push(text);
        self.structs.push(Struct { name, fields, align: if is_aligned { 16 } else { 1 }, has_methods });
    }

    /// The type of a field: a scalar of this width, or something else as well.
    fn field_type(&mut self, width: Option<usize>) -> Ty {
        let fitting: Vec<Scalar> = match width {
            Some(width) => Scalar::ELEMENTS.into_iter().filter(|scalar| scalar.bytes() == width).collect(),
            None => Scalar::ALL.to_vec(),
        };
        let scalar = self.random.pick(&fitting);
        match self.random.below(12) {
            0 => {
                self.hit("struct.array");
                Ty::Array(scalar, self.random.pick(&[2, 4]))
            }
            1 if width.is_none() && !self.structs.is_empty() => {
                self.hit("struct.of_structs");
                Ty::Struct(self.random.below(self.structs.len()))
            }
            2 if width.is_none() && !self.enums.is_empty() => {
                self.hit("struct.of_enum");
                Ty::Enum(self.random.below(self.enums.len()))
            }
            3 if width.is_none() => {
                self.hit("struct.tuple");
                Ty::Tuple(vec![scalar, self.random.pick(&Scalar::ALL)])
            }
            _ => Ty::Scalar(scalar),
        }
    }

    /// A type as source says it.
    pub(super) fn type_name(&self, ty: &Ty) -> String {
        match ty {
            Ty::Scalar(scalar) => scalar.name().to_owned(),
            Ty::Tuple(parts) => format!("({})", parts.iter().map(|part| part.name()).collect::<Vec<_>>().join(", ")),
            Ty::Array(scalar, len) => format!("[{}; {len}]", scalar.name()),
            Ty::Grid(scalar, rows, columns) => format!("[[{}; {columns}]; {rows}]", scalar.name()),
            Ty::Struct(id) => self.structs[*id].name.clone(),
            Ty::List(id, len) => format!("[{}; {len}]", self.structs[*id].name),
            Ty::Enum(id) => self.enums[*id].name.clone(),
        }
    }

    /// Methods that change `self`, and one that takes it by value; with a constant of the type.
    fn changing_method(&mut self, fields: &[(String, Ty)]) -> String {
        self.hit("struct.changing_method");
        self.hit("struct.constant");
        let base = self.literal(Scalar::U32);
        let (changes, last) = self.scoped(|g| {
            g.variables.clear();
            g.bind("v", Ty::Scalar(Scalar::U32), false);
            fields.iter().for_each(|(field, ty)| g.bind(&format!("self.{field}"), ty.clone(), true));
            let changes: String = fields
                .iter()
                .map(|(field, ty)| {
                    let value = g.aggregate(ty, 1);
                    let condition = g.expr(Scalar::Bool, 1);
                    format!("        if {condition} {{\n            self.{field} = {value};\n        }}\n")
                })
                .collect();
            (changes, g.expr(Scalar::U32, 2))
        });
        format!(
            "    pub const BASE: u32 = {base};\n    pub fn change(&mut self, v: u32) -> u32 {{\n{changes}        ({last}) ^ Self::BASE\n    }}\n    pub fn turned(mut self, v: u32) -> Self {{\n        self.change(v);\n        self\n    }}\n"
        )
    }

    fn function_name(&mut self) -> String {
        format!("{}{}", self.random.pick(FUNCTIONS), self.functions.len())
    }

    /// A device function with statements.
    fn function(&mut self) {
        self.hit("device_function");
        let name = self.function_name();
        let parameters: Vec<Scalar> = (0..1 + self.random.below(3)).map(|_| self.random.pick(&Scalar::ALL)).collect();
        let result = self.random.pick(&Scalar::ALL);
        let (names, body, value) = self.scoped(|g| {
            g.variables.clear();
            let names: Vec<String> = parameters.iter().map(|_| g.unique_name()).collect();
            names.iter().zip(&parameters).for_each(|(name, ty)| g.bind(name, Ty::Scalar(*ty), false));
            let turns = std::mem::replace(&mut g.turns, 6);
            let mut body = if g.random.chance(70) { g.statements(3, 2) } else { Vec::new() };
            if g.random.chance(30) {
                g.hit("function.return");
                let condition = g.expr(Scalar::Bool, 1);
                let early = g.expr(result, 1);
                body.push(Node::block(format!("if {condition}"), vec![Node::line(format!("return {early};"))]));
            }
            let value = g.expr(result, 2);
            g.turns = turns;
            (names, body, value)
        });
        let listed: Vec<String> = names.iter().zip(&parameters).map(|(name, ty)| format!("{name}: {}", ty.name())).collect();
        let mut text = format!("#[device]\npub fn {name}({}) -> {} {{\n", listed.join(", "), result.name());
        body.iter().for_each(|node| node.print(Form::Stripped, 1, &mut text));
        self.items.push(format!("{text}    {value}\n}}\n"));
        self.functions.push(Function { name, parameters, result, turbofish: String::new(), given: Vec::new() });
    }

    fn const_generic(&mut self) {
        self.hit("generics.const");
        let name = self.function_name();
        let ty = self.random.pick(&Scalar::INTEGERS);
        let step = self.scoped(|g| {
            g.variables.clear();
            g.bind("v", Ty::Scalar(ty), false);
            g.bind("r", Ty::Scalar(ty), true);
            g.expr(ty, 2)
        });
        let t = ty.name();
        self.items.push(format!(
            "#[device]\npub fn {name}<const N: usize>(v: {t}) -> {t} {{\n    let mut r = v;\n    for _ in 0..N {{\n        r = {step};\n    }}\n    r ^ (N as {t})\n}}\n"
        ));
        for n in [1 + self.random.below(3), 4] {
            let turbofish = format!("::<{n}>");
            self.functions.push(Function { name: name.clone(), parameters: vec![ty], result: ty, turbofish, given: Vec::new() });
        }
    }

    fn type_generic(&mut self) {
        self.hit("generics.type");
        let name = self.function_name();
        let (bound, types, body): (&str, &[Scalar], &str) = match self.random.below(3) {
            0 => ("Num", &Scalar::ELEMENTS, "if a > b { a * b + T::ONE } else { (a - b).max(T::ONE) }"),
            1 => ("Int", &Scalar::INTEGERS, "(a ^ (b << 3)) & !(a >> 1) | T::ONE.rotate_left(a.count_ones() + T::BITS)"),
            _ => ("Float", &Scalar::FLOATS, "if a.is_nan() { -b } else { a.mul_add(b, T::EPSILON).floor() + T::ONE }"),
        };
        self.items.push(format!("#[device]\npub fn {name}<T: {bound}>(a: T, b: T) -> T {{\n    {body}\n}}\n"));
        for _ in 0..2 {
            let ty = self.random.pick(types);
            let turbofish = if self.random.chance(50) { format!("::<{}>", ty.name()) } else { String::new() };
            self.functions.push(Function { name: name.clone(), parameters: vec![ty, ty], result: ty, turbofish, given: Vec::new() });
        }
    }

    /// A device function that reads a buffer of the kernel's.
    pub(super) fn reader(&mut self) {
        let Some(input) = self.inputs.iter().find(|input| input.is_global && !input.is_pairs).cloned() else { return };
        self.hit("device_function.buffer");
        let name = self.function_name();
        let t = input.scalar.name();
        self.items.push(format!(
            "#[device]\npub fn {name}(from: &Global<{t}>, at: u32) -> {t} {{\n    if at as usize % 3 == 1 {{ from[at as usize % from.len()] }} else {{ from[(at as usize ^ 5) % {}] }}\n}}\n",
            input.len
        ));
        self.functions.push(Function {
            name,
            parameters: vec![Scalar::U32],
            result: input.scalar,
            turbofish: String::new(),
            given: vec![input.name],
        });
    }
}
