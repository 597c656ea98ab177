//! Expressions of a wanted type, of which nothing is undefined: divisors are not zero, indices are in range, bits of NaN are looked at by nobody.

use super::methods::{self, Method};
use super::scope::{Generator, Ty};
use super::types::Scalar;

/// What an expression of an arithmetic kernel is, by the numbers below: operators and methods, two casts, and a choice.
const ARITHMETIC: [usize; 13] = [0, 2, 2, 2, 2, 2, 6, 6, 6, 6, 9, 9, 11];

impl Generator<'_> {
    /// An expression of this type, parenthesised where that is needed.
    pub(super) fn expr(&mut self, ty: Scalar, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        let kind = if self.is_arithmetic { self.random.pick(&ARITHMETIC) } else { self.random.below(17) };
        match kind {
            0 | 1 => self.leaf(ty),
            2..=5 => self.operator(ty, depth - 1),
            6..=8 => self.method(ty, depth - 1),
            9 | 10 => self.cast(ty, depth - 1),
            11 => self.choice(ty, depth - 1),
            12 => self.load(ty, depth - 1),
            13 => self.call(ty, depth - 1),
            14 => self.block_value(ty, depth - 1),
            15 => self.cast_number(ty, (depth - 1).min(2)),
            _ => self.match_value(ty, depth - 1),
        }
    }

    /// A variable, a parameter or a literal.
    pub(super) fn leaf(&mut self, ty: Scalar) -> String {
        if self.random.chance(if self.is_arithmetic { 88 } else { 75 }) {
            if let Some(place) = self.place(ty, false) {
                return place;
            }
            if let Some(value) = self.uniform_value(ty) {
                return value;
            }
            if let Some(cast) = self.cast_variable(ty) {
                return cast;
            }
        }
        if self.has_threads && ty == Scalar::U32 && self.random.chance(30) {
            self.hit("cast.usize");
            // Lanes and blocks are of threads: an element of a thread that has several has none.
            let several = self.own.0 == self.own.1;
            return match self.random.below(if several { 2 } else { 4 }) {
                0 => format!("({} as u32)", self.own.0),
                1 => format!("({} as u32)", self.own.1),
                2 => "(block_idx().x as u32)".to_owned(),
                _ => "(lane_id() as u32)".to_owned(),
            };
        }
        self.literal(ty)
    }

    /// A variable of another type, cast.
    fn cast_variable(&mut self, ty: Scalar) -> Option<String> {
        let from = if self.is_arithmetic { self.type_in_scope()? } else { self.random.pick(&Scalar::ELEMENTS) };
        let place = self.place(from, false).or_else(|| self.uniform_value(from))?;
        if ty == Scalar::Bool {
            let zero = zero(from);
            return Some(format!("({place} > {zero})"));
        }
        Some(format!("({place} as {})", ty.name()))
    }

    /// The type of a variable that is one value.
    fn type_in_scope(&mut self) -> Option<Scalar> {
        let scalar = |ty: &Ty| if let Ty::Scalar(scalar) = ty { Some(*scalar) } else { None };
        let types: Vec<Scalar> = self.variables.iter().filter_map(|variable| scalar(&variable.ty)).collect();
        (!types.is_empty()).then(|| self.random.pick(&types))
    }

    /// A parameter by value of this type.
    pub(super) fn uniform_value(&mut self, ty: Scalar) -> Option<String> {
        let fitting: Vec<String> = self.uniform.iter().filter(|(_, scalar)| *scalar == ty).map(|(name, _)| name.clone()).collect();
        (!fitting.is_empty()).then(|| fitting[self.random.below(fitting.len())].clone())
    }

    fn operator(&mut self, ty: Scalar, depth: usize) -> String {
        if ty == Scalar::Bool {
            return self.bool_operator(depth);
        }
        let a = self.expr(ty, depth);
        if ty.is_float() {
            return match self.random.below(9) {
                8 => self.joined("float.rem", &a, "%", ty, depth),
                7 => {
                    self.hit("float.neg");
                    let b = self.leaf(ty);
                    format!("({a} {} (-{b}))", self.random.pick(&["-", "+", "*"]))
                }
                0 | 1 => self.joined("float.add", &a, "+", ty, depth),
                2 => self.joined("float.sub", &a, "-", ty, depth),
                3 | 4 => self.joined("float.mul", &a, "*", ty, depth),
                5 if self.random.chance(50) => {
                    self.hit("float.div");
                    format!("({a} / {})", self.positive(ty))
                }
                5 => self.joined("float.div", &a, "/", ty, depth),
                _ => {
                    self.hit("float.neg");
                    format!("(-{a})")
                }
            };
        }
        match self.random.below(17) {
            0 | 1 => self.joined("int.add", &a, "+", ty, depth),
            2 => self.joined("int.sub", &a, "-", ty, depth),
            3 | 4 => self.joined("int.mul", &a, "*", ty, depth),
            5 => self.joined("int.and", &a, "&", ty, depth),
            6 => self.joined("int.or", &a, "|", ty, depth),
            7 => self.joined("int.xor", &a, "^", ty, depth),
            8 => self.shift("int.shl", &a, "<<", depth),
            9 => self.shift("int.shr", &a, ">>", depth),
            10 | 14 | 15 => self.quotient("int.div", &a, "/", ty, depth),
            11 | 16 => self.quotient("int.rem", &a, "%", ty, depth),
            12 if ty.is_signed() => {
                self.hit("int.neg");
                format!("(-{a})")
            }
            _ => {
                self.hit("int.not");
                format!("(!{a})")
            }
        }
    }

    fn joined(&mut self, feature: &'static str, a: &str, operator: &str, ty: Scalar, depth: usize) -> String {
        self.hit(feature);
        let b = self.expr(ty, depth);
        format!("({a} {operator} {b})")
    }

    /// Counts are taken modulo the width, on the device as in Rust without overflow checks; of a constant count, that is an error.
    fn shift(&mut self, feature: &'static str, a: &str, operator: &str, depth: usize) -> String {
        self.hit(feature);
        let ty = if self.random.chance(50) { Scalar::U32 } else { self.random.pick(&Scalar::INTEGERS) };
        let place = match self.random.below(4) {
            0 => None,
            1 => Some(format!("({} & 7)", self.expr(ty, depth))),
            _ => self.place(ty, false),
        };
        let count = place.unwrap_or_else(|| self.random.below(8).to_string());
        format!("({a} {operator} {count})")
    }

    /// The divisor is 1 to 16: a least number divided by −1 has no quotient.
    fn quotient(&mut self, feature: &'static str, a: &str, operator: &str, ty: Scalar, depth: usize) -> String {
        self.hit(feature);
        if self.random.chance(60) {
            // Of a value that is known, nothing would be left.
            let a = self.place(ty, false).unwrap_or_else(|| a.to_owned());
            let divisor = if self.random.chance(50) { format!("{}{}", 2 << self.random.below(5), ty.name()) } else { self.positive(ty) };
            return format!("({a} {operator} {divisor})");
        }
        let b = self.expr(ty, depth);
        format!("({a} {operator} (({b} & 15) + 1))")
    }

    fn bool_operator(&mut self, depth: usize) -> String {
        match self.random.below(11) {
            10 => {
                self.hit("bool.compare");
                let operator = self.random.pick(&["<", "<=", "==", "!=", ">="]);
                let (a, b) = (self.expr(Scalar::Bool, depth), self.expr(Scalar::Bool, depth));
                format!("({a} {operator} {b})")
            }
            9 => self.matches_macro(depth),
            0..=3 => self.comparison(depth),
            8 => {
                // Of floats it is not the opposite comparison.
                self.hit("bool.not");
                let ty = self.random.pick(&Scalar::ELEMENTS);
                let (a, b) = (self.leaf(ty), self.leaf(ty));
                format!("!({a} {} {b})", self.random.pick(&["<", "<=", ">", ">="]))
            }
            4 => {
                self.hit("bool.and_or");
                let operator = self.random.pick(&["&&", "||"]);
                let (a, b) = (self.expr(Scalar::Bool, depth), self.expr(Scalar::Bool, depth));
                format!("({a} {operator} {b})")
            }
            5 => {
                self.hit("bool.bitwise");
                let operator = self.random.pick(&["^", "&", "|"]);
                let (a, b) = (self.expr(Scalar::Bool, depth), self.expr(Scalar::Bool, depth));
                format!("({a} {operator} {b})")
            }
            6 => self.equality(depth),
            _ => {
                self.hit("bool.not");
                format!("!{}", self.expr(Scalar::Bool, depth))
            }
        }
    }

    fn comparison(&mut self, depth: usize) -> String {
        let ty = self.random.pick(&Scalar::ELEMENTS);
        self.hit(if ty.is_float() { "float.compare" } else { "int.compare" });
        let operator = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
        format!("({a} {operator} {b})")
    }

    /// Tuples, arrays, structs and enums are compared whole.
    fn equality(&mut self, depth: usize) -> String {
        let whole: Vec<(String, Ty)> =
            self.variables.iter().filter(|v| !matches!(v.ty, Ty::Scalar(_))).map(|v| (v.name.clone(), v.ty.clone())).collect();
        if whole.is_empty() {
            return self.comparison(depth);
        }
        let (name, ty) = whole[self.random.below(whole.len())].clone();
        self.hit("aggregate.equality");
        let operator = self.random.pick(&["==", "!="]);
        let other = self.aggregate(&ty, depth);
        format!("({name} {operator} ({other}))")
    }

    fn method(&mut self, ty: Scalar, depth: usize) -> String {
        let rows = methods::giving(ty);
        let fitting: Vec<(&Method, Scalar)> = rows.iter().filter(|(m, _)| self.may_approximate || !m.is_approximate).copied().collect();
        if fitting.is_empty() {
            return self.leaf(ty);
        }
        let (method, receiver) = fitting[self.random.below(fitting.len())];
        self.hit(method.feature);
        self.calls.extend(method.call(receiver));
        self.is_approximate |= method.is_approximate;
        let mut text = String::new();
        let mut rest = method.template;
        while let Some(start) = rest.find('{') {
            let slot = rest[start..].find('}').map(|end| &rest[start + 1..start + end]);
            text += &rest[..start];
            let Some(filled) = slot.and_then(|slot| self.filled(slot, receiver, depth)) else {
                text += "{";
                rest = &rest[start + 1..];
                continue;
            };
            text += &filled;
            rest = &rest[start + 2 + slot.unwrap_or_default().len()..];
        }
        text + rest
    }

    /// What stands in a slot of a template; nothing for a brace of Rust.
    fn filled(&mut self, slot: &str, ty: Scalar, depth: usize) -> Option<String> {
        Some(match slot {
            "s" | "a" => self.expr(ty, depth),
            "n" => format!("({} | 1)", self.expr(ty, depth)),
            "p" => self.positive(ty),
            "k" => self.expr(Scalar::U32, depth),
            "1" => one(ty),
            "0" => zero(ty),
            "max" => format!("{}::MAX", ty.name()),
            "lo" => self.bound(ty, false),
            "hi" => self.bound(ty, true),
            _ => return None,
        })
    }

    fn bound(&mut self, ty: Scalar, is_high: bool) -> String {
        let n = 1 + self.random.below(60);
        let name = ty.name();
        match (ty.is_float(), is_high) {
            (true, high) if ty.has_literals() => {
                if high {
                    format!("{n}.5{name}")
                } else {
                    format!("(-{n}.25{name})")
                }
            }
            (true, true) => format!("{name}::from_f32({n}.5f32)"),
            (true, false) => format!("{name}::from_f32(-{n}.5f32)"),
            (false, true) => format!("{}{name}", 60 + n),
            (false, false) if ty.is_signed() => format!("(-{n}{name})"),
            (false, false) => format!("{n}{name}"),
        }
    }

    /// Every cast that Rust has.
    fn cast(&mut self, ty: Scalar, depth: usize) -> String {
        if ty == Scalar::Bool {
            return self.comparison(depth);
        }
        let from = self.random.pick(&Scalar::ALL);
        if from == Scalar::Bool && ty.is_float() {
            self.hit("cast.bool");
            return format!("({} as u8 as {})", self.expr(from, depth), ty.name());
        }
        self.hit(match (from, from.is_float(), ty.is_float()) {
            (Scalar::Bool, ..) => "cast.bool",
            (_, false, false) => "cast.int_to_int",
            (_, true, false) => "cast.float_to_int",
            (_, false, true) => "cast.int_to_float",
            (_, true, true) => "cast.float_to_float",
        });
        let of = self.expr(from, depth);
        // A cast before `<` would begin generics.
        format!("({of} as {})", ty.name())
    }

    fn choice(&mut self, ty: Scalar, depth: usize) -> String {
        self.hit("if.value");
        let condition = self.expr(Scalar::Bool, depth);
        let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
        if self.random.chance(20) {
            self.hit("else_if.value");
            let (also, c) = (self.expr(Scalar::Bool, depth), self.expr(ty, depth));
            return format!("(if {condition} {{ {a} }} else if {also} {{ {c} }} else {{ {b} }})");
        }
        format!("(if {condition} {{ {a} }} else {{ {b} }})")
    }

    fn call(&mut self, ty: Scalar, depth: usize) -> String {
        let fitting: Vec<usize> = (0..self.functions.len()).filter(|at| self.functions[*at].result == ty).collect();
        if fitting.is_empty() {
            return self.method(ty, depth);
        }
        self.hit("device_function.call");
        let function = self.functions[self.random.pick(&fitting)].clone();
        let mut arguments = function.given.clone();
        for parameter in &function.parameters {
            arguments.push(self.expr(*parameter, depth));
        }
        format!("{}{}({})", function.name, function.turbofish, arguments.join(", "))
    }

    /// A block with a variable of its own.
    fn block_value(&mut self, ty: Scalar, depth: usize) -> String {
        self.hit("block.value");
        self.scoped(|g| {
            let own = g.random.pick(&Scalar::ALL);
            let value = g.expr(own, depth);
            let name = g.name();
            g.bind(&name, Ty::Scalar(own), false);
            let result = g.expr(ty, depth);
            format!("{{ let {name} = {value}; {result} }}")
        })
    }
}

/// 1 of a type.
pub(super) fn one(ty: Scalar) -> String {
    let name = ty.name();
    match ty {
        Scalar::F16 | Scalar::Bf16 => format!("{name}::ONE"),
        Scalar::Bool => "true".to_owned(),
        _ if ty.is_float() => format!("1.0{name}"),
        _ => format!("1{name}"),
    }
}

/// 0 of a type.
pub(super) fn zero(ty: Scalar) -> String {
    let name = ty.name();
    match ty {
        Scalar::F16 | Scalar::Bf16 => format!("{name}::ZERO"),
        Scalar::Bool => "false".to_owned(),
        _ if ty.is_float() => format!("0.0{name}"),
        _ => format!("0{name}"),
    }
}
