//! Device functions that take and give more than scalars: arrays, tuples, structs that are generic, enums; and what they write and share.

use super::names::FUNCTIONS;
use super::scope::{Function, Generator, Ty};
use super::types::Scalar;

impl Generator<'_> {
    /// One of them, with a function of scalars that calls it.
    pub(super) fn wider_function(&mut self) {
        match self.random.below(6) {
            0 => self.giving_a_tuple(),
            1 => self.taking_an_array(),
            2 => self.generic_struct(),
            3 => self.tuple_struct(),
            4 => self.taking_parts(),
            _ => self.enum_with_methods(),
        }
    }

    fn wider_name(&mut self) -> String {
        format!("{}{}", self.random.pick(FUNCTIONS), self.functions.len())
    }

    fn add_function(&mut self, name: String, parameters: Vec<Scalar>, result: Scalar) {
        self.functions.push(Function { name, parameters, result, turbofish: String::new(), given: Vec::new() });
    }

    /// An expression of these variables alone.
    fn of_variables(&mut self, variables: &[(&str, Scalar)], ty: Scalar) -> String {
        self.scoped(|g| {
            g.variables.clear();
            variables.iter().for_each(|(name, scalar)| g.bind(name, Ty::Scalar(*scalar), false));
            g.expr(ty, 2)
        })
    }

    fn giving_a_tuple(&mut self) {
        self.hit("device_function.tuple");
        let name = self.wider_name();
        let [first, second, result] = [0; 3].map(|_| self.random.pick(&Scalar::ALL));
        let given = [("a", first), ("b", second)];
        let condition = self.of_variables(&given, Scalar::Bool);
        let (early, p, q) = (self.of_variables(&given, second), self.of_variables(&given, first), self.of_variables(&given, second));
        let value = self.of_variables(&[("p", first), ("q", second)], result);
        let (t, u, r) = (first.name(), second.name(), result.name());
        self.items.push(format!(
            "#[device]\npub fn {name}_pair(a: {t}, b: {u}) -> ({t}, {u}) {{\n    if {condition} {{\n        return (a, {early});\n    }}\n    ({p}, {q})\n}}\n#[device]\npub fn {name}(a: {t}, b: {u}) -> {r} {{\n    let (p, q) = {name}_pair(a, b);\n    {value}\n}}\n"
        ));
        self.add_function(name, vec![first, second], result);
    }

    fn taking_an_array(&mut self) {
        self.hit("device_function.array");
        let name = self.wider_name();
        let ty = self.random.pick(&Scalar::ELEMENTS);
        let t = ty.name();
        self.items.push(format!(
            "#[device]\npub fn {name}_of<const N: usize>(list: [{t}; N], by: {t}) -> {t} {{\n    let mut s = by;\n    for k in (0..N).rev() {{\n        s = s * by + list[k];\n    }}\n    s\n}}\n#[device]\npub fn {name}(a: {t}, b: {t}) -> {t} {{\n    {name}_of([a, b], b) - {name}_of::<3>([b, a, b], a)\n}}\n"
        ));
        self.add_function(name, vec![ty, ty], ty);
    }

    fn generic_struct(&mut self) {
        self.hit("struct.generic");
        let name = self.wider_name();
        let ty = self.random.pick(&Scalar::ELEMENTS);
        let (t, n) = (ty.name(), 1 + self.random.below(4));
        let ring = format!("Ring{}", self.functions.len());
        self.items.push(format!(
            "#[device]\n#[derive(Clone, Copy)]\n#[repr(C)]\npub struct {ring}<T: Num, const N: usize> {{\n    pub slots: [T; N],\n    pub at: u32,\n}}\n#[device]\nimpl<T: Num, const N: usize> {ring}<T, N> {{\n    pub fn new(first: T) -> Self {{\n        {ring} {{ slots: [first; N], at: 0 }}\n    }}\n    pub fn push(&mut self, v: T) -> T {{\n        let k = self.at as usize % N;\n        let old = self.slots[k];\n        self.slots[k] = v;\n        self.at += 1;\n        old\n    }}\n    pub fn total(self) -> T {{\n        let mut t = T::ZERO;\n        for k in 0..N {{\n            t = t + self.slots[k];\n        }}\n        t\n    }}\n}}\n#[device]\npub fn {name}(a: {t}, b: {t}) -> {t} {{\n    let mut ring = {ring}::<{t}, {n}>::new(a);\n    ring.push(b);\n    let c = ring.push(a);\n    ring.push(c) + ring.total()\n}}\n"
        ));
        self.add_function(name, vec![ty, ty], ty);
    }

    fn tuple_struct(&mut self) {
        self.hit("struct.of_tuple");
        let name = self.wider_name();
        let [first, second, result] = [0; 3].map(|_| self.random.pick(&Scalar::ALL));
        let (t, u, r) = (first.name(), second.name(), result.name());
        let wrap = format!("Wrap{}", self.functions.len());
        // No variable that `value` may name ends in `_`: one called `w` would hide it.
        let value = self.of_variables(&[("c", first), ("d", second), ("wrap_.1[1]", second), ("wrap_.0", first)], result);
        self.items.push(format!(
            "#[device]\n#[derive(Clone, Copy)]\n#[repr(C)]\npub struct {wrap}(pub {t}, pub [{u}; 2]);\n#[device]\npub fn {name}(a: {t}, b: {u}) -> {r} {{\n    let mut wrap_ = {wrap}(a, [b; 2]);\n    let {wrap}(c, [d, _]) = wrap_;\n    wrap_.0 = a;\n    {value}\n}}\n"
        ));
        self.add_function(name, vec![first, second], result);
    }

    fn enum_with_methods(&mut self) {
        let Some(item) = self.enums.last().cloned() else { return self.giving_a_tuple() };
        let name = self.wider_name();
        if self.functions.iter().any(|function| function.name.starts_with(&item.name)) {
            return self.taking_an_array();
        }
        self.hit("enum.methods");
        let count = item.variants.len();
        let arms = |value: &dyn Fn(usize) -> String, pattern: &dyn Fn(usize) -> String| {
            (0..count).map(|at| format!("            {} => {},\n", pattern(at), value(at))).collect::<String>()
        };
        let variant = |at: usize| format!("{}::{}", item.name, item.variants[at]);
        let of = arms(&variant, &|at| if at + 1 == count { "_".to_owned() } else { at.to_string() });
        let salt = self.random.below(90);
        let weights = arms(&|at| (at * 37 + salt).to_string(), &|at| format!("Self::{}", item.variants[at]));
        self.items.push(format!(
            "#[device]\nimpl {0} {{\n    pub fn of(word: u32) -> Self {{\n        match word % {count} {{\n{of}        }}\n    }}\n    pub fn weight(self) -> u32 {{\n        match self {{\n{weights}        }}\n    }}\n    pub fn weight_of(word: u32) -> u32 {{\n        Self::of(word).weight() ^ Self::of(word / 3) as u32\n    }}\n}}\n#[device]\npub fn {name}(a: u32) -> u32 {{\n    let k = {0}::of(a);\n    if k == {1} {{ a }} else {{ k.weight() }}\n}}\n",
            item.name,
            variant(0)
        ));
        self.add_function(format!("{}::weight_of", item.name), vec![Scalar::U32], Scalar::U32);
        self.add_function(name, vec![Scalar::U32], Scalar::U32);
    }

    /// A table of constants, and a constant that is computed.
    pub(super) fn tables(&mut self) {
        if self.random.chance(20) {
            self.hit("const.array");
            let ty = self.random.pick(&[Scalar::U32, Scalar::I16, Scalar::F32, Scalar::U64, Scalar::U8]);
            let values: Vec<String> = (0..4).map(|_| self.literal(ty)).collect();
            self.items.push(format!("#[allow(dead_code)]\nconst TABLE: [{}; 2 + 2] = [{}];\n", ty.name(), values.join(", ")));
            self.bind("TABLE", Ty::Array(ty, 4), false);
        }
        if self.random.chance(20) {
            self.hit("const.computed");
            let (a, b) = (1 + self.random.below(4), self.random.below(5));
            self.items.push(format!(
                "#[allow(dead_code)]\nconst SIZE: usize = {a} * 2 + {b};\n#[allow(dead_code)]\nconst MASK: u32 = (1 << SIZE) - 1 ^ {b};\n"
            ));
            self.counters.push(("SIZE".to_owned(), 13));
            self.uniform.push(("MASK".to_owned(), Scalar::U32));
        }
    }

    /// Methods of the kernel's group, and a function that takes it.
    pub(super) fn group_method(&mut self) {
        let Some(input) = self.inputs.iter().find(|input| input.is_global && !input.is_pairs && input.name.starts_with("g.")).cloned()
        else {
            return;
        };
        self.hit("group.method");
        self.hit("group.function");
        let (t, name, field) = (input.scalar.name(), self.wider_name(), &input.name[2..]);
        self.items.push(format!(
            "#[device]\nimpl Inputs<'_> {{\n    pub fn at_(&self, i: u32) -> {t} {{\n        self.{field}[i as usize % self.{field}.len()]\n    }}\n}}\n#[device]\npub fn {name}(of: &Inputs<'_>, i: u32) -> {t} {{\n    if i % 2 == 0 {{ of.at_(i / 2) }} else {{ of.{field}[i as usize % {}] }}\n}}\n",
            input.len
        ));
        self.add_function("g.at_".to_owned(), vec![Scalar::U32], input.scalar);
        self.functions.push(Function {
            name,
            parameters: vec![Scalar::U32],
            result: input.scalar,
            turbofish: String::new(),
            given: vec!["&g".to_owned()],
        });
    }

    /// A device function that writes a word.
    pub(super) fn writer(&mut self) {
        self.hit("device_function.written");
        let name = self.wider_name();
        self.items.push(format!(
            "#[device]\npub fn {name}_put(to: &mut Global<u64>, at: usize, v: u64) -> bool {{\n    if at >= to.len() {{\n        return false;\n    }}\n    to[at] = v ^ (to[at] >> 1);\n    true\n}}\n"
        ));
        self.putter = Some(format!("{name}_put"));
    }
}
