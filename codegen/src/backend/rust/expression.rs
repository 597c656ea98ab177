//! Expressions: the text of a value, and how tightly it binds.

use super::Printer;
use super::kinds::{Kind, type_text};
use crate::backend::structured::{self, Binding, Level, PRIMARY, UNARY, Values};
use crate::intrinsics::{self, SHARED_OF, SHARED_OF_MUT};
use crate::ir::atomic::spelling;
use crate::ir::intrinsic::{Call, Intrinsic, OperandType};
use crate::ir::{
    Access, AtomicOp, Atomicity, Axis, BinaryOp, CompareOp, Compute, MemoryType, ObjectKind, Op, PrintPart, Scalar, Space, Special, Step,
    Type, UnaryOp, Value,
};

/// How the rest binds.
const CAST: Level = 11;
const MULTIPLY: Level = 10;
const ADD: Level = 9;
const SHIFT: Level = 8;
const AND: Level = 7;
const XOR: Level = 6;
const OR: Level = 5;
const COMPARE: Level = 4;
const LOGICAL_AND: Level = 3;
const LOGICAL_OR: Level = 2;
/// `if c { a } else { b }`.
pub(super) const LOWEST: Level = 0;
/// What the ends of `a..b` must bind at.
pub(super) const RANGE: Level = LOGICAL_OR;

/// What an expression of Rust carries besides its text.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
    /// The constant it is, whose type the text does not say.
    pub(super) literal: Option<Scalar>,
    /// The same value as `usize`, where the IR has it in fewer bits: who asks for `usize` is given that.
    wide: Option<String>,
    /// The number that who reads it sees behind signs and casts.
    behind: Option<i128>,
    /// `left op right`: what `op=` is made of.
    parts: Option<(String, &'static str, String)>,
}

/// The text of a value.
pub(super) type Expr = structured::Expr<Extra>;

impl Expr {
    /// A constant.
    pub(super) fn literal(scalar: Scalar) -> Expr {
        let ty = scalar.ty;
        if ty == Type::Bool {
            return Expr::new(scalar.to_string(), PRIMARY);
        }
        let text = if ty.is_any_float() {
            let is_wide = matches!(ty, Type::F32 | Type::F64);
            if !is_wide || !scalar.as_f64().is_finite() {
                let text = match (scalar.as_f64().is_infinite() && is_wide, scalar.as_f64() > 0.0) {
                    (true, true) => format!("{ty}::INFINITY"),
                    (true, false) => format!("{ty}::NEG_INFINITY"),
                    (false, _) => format!("{ty}::from_bits({:#x})", scalar.bits),
                };
                return Expr::new(text, PRIMARY);
            }
            if ty == Type::F32 { format!("{:?}", f32::from_bits(scalar.bits as u32)) } else { format!("{:?}", scalar.as_f64()) }
        } else if ty.is_signed_int() && scalar.as_int() == -1i128 << (ty.bits() - 1) {
            return Expr::new(format!("{ty}::MIN"), PRIMARY);
        } else {
            scalar.as_int().to_string()
        };
        let mut expr = Expr::new(text.clone(), if text.starts_with('-') { UNARY } else { PRIMARY });
        expr.extra.literal = Some(scalar);
        expr
    }

    /// The text, its type said where a literal leaves it open.
    pub(super) fn typed(&self, ty: Type, kind: Kind) -> String {
        if self.extra.literal.is_some() { format!("{}{}", self.text, type_text(ty, kind)) } else { self.text.clone() }
    }

    /// As another type.
    pub(super) fn cast(&self, from: Type, kind: Kind, to: &str) -> Expr {
        let inner = Expr { text: self.typed(from, kind), ..self.clone() };
        let mut expr = Expr::over(format!("{} as {to}", inner.at(CAST)), CAST, &[self]);
        // Of others the type says what remains.
        expr.extra.behind = self.seen().filter(|number| (0..=127).contains(number));
        expr
    }

    /// The number that it is, if the text says so: as `rustc` and the front end see it, who refuse shifts by too much.
    fn seen(&self) -> Option<i128> {
        self.extra.literal.filter(|scalar| scalar.ty.is_int()).map(|scalar| scalar.as_int()).or(self.extra.behind)
    }

    /// The text left of an operator: a cast before `<` would begin a list of types.
    fn left_of(&self, op: &str, level: Level) -> String {
        let ends_in_cast =
            op.starts_with('<') && self.text.rsplit_once(" as ").is_some_and(|(_, ty)| ty.bytes().all(|b| b.is_ascii_alphanumeric()));
        if ends_in_cast { format!("({})", self.text) } else { self.at(level) }
    }

    fn infix(a: &Expr, op: &'static str, b: &Expr, level: Level) -> Expr {
        // Rust's order of these is not in every reader's head.
        let mixes = |operand: &Expr| matches!(level, SHIFT..=SHIFT | OR..=AND) && operand.level != level && operand.level < UNARY;
        let need = |operand: &Expr, least: Level| if mixes(operand) { UNARY } else { least };
        // Comparisons do not chain.
        let left_least = if level == COMPARE { COMPARE + 1 } else { level };
        let text = format!("{} {op} {}", a.left_of(op, need(a, left_least)), b.at(need(b, level + 1)));
        Expr::over(text, level, &[a, b])
    }

    /// The same with `op=` in mind.
    fn arithmetic(a: &Expr, op: &'static str, b: &Expr, level: Level) -> Expr {
        let mut expr = Expr::infix(a, op, b, level);
        expr.extra.parts = Some((a.text.clone(), op, b.text.clone()));
        expr
    }

    /// The statement that puts it into a place.
    pub(super) fn assigned_to(&self, place: &str) -> String {
        match &self.extra.parts {
            Some((left, op, right)) if left == place => format!("{place} {op}= {right};"),
            _ => format!("{place} = {};", self.text),
        }
    }
}

fn binary_symbol(op: BinaryOp) -> Option<(&'static str, Level)> {
    Some(match op {
        BinaryOp::Add => ("+", ADD),
        BinaryOp::Sub => ("-", ADD),
        BinaryOp::Mul => ("*", MULTIPLY),
        BinaryOp::Div => ("/", MULTIPLY),
        BinaryOp::Rem => ("%", MULTIPLY),
        BinaryOp::And => ("&", AND),
        BinaryOp::Or => ("|", OR),
        BinaryOp::Xor => ("^", XOR),
        BinaryOp::Shl => ("<<", SHIFT),
        BinaryOp::Shr => (">>", SHIFT),
        BinaryOp::Min | BinaryOp::Max => return None,
    })
}

fn compare_symbol(op: CompareOp) -> (&'static str, &'static str) {
    match op {
        CompareOp::Eq => ("==", "!="),
        CompareOp::Ne => ("!=", "=="),
        CompareOp::Lt => ("<", ">="),
        CompareOp::Le => ("<=", ">"),
        CompareOp::Gt => (">", "<="),
        CompareOp::Ge => (">=", "<"),
    }
}

impl Printer<'_> {
    /// An operand as a value of a kind, with the cast that it takes: consumes one use of it.
    pub(super) fn take_as(&mut self, value: Value, kind: Kind) -> Expr {
        let (ty, own) = (self.kernel.ty(value), self.kinds.value(value));
        let expr = self.take(value);
        if ty != self.kernel.index_type() || own == kind || expr.extra.literal.is_some() {
            expr
        } else {
            expr.cast(ty, own, &type_text(ty, kind))
        }
    }

    /// An operand where the language wants a `usize`: an index, a rank, a step. Passes use narrower numbers there, too, such as the slots of a
    /// pipelined loop.
    pub(super) fn take_index(&mut self, value: Value) -> Expr {
        let ty = self.kernel.ty(value);
        let expr = self.take_as(value, Kind::Index);
        if ty == self.kernel.index_type() || expr.extra.literal.is_some() {
            return expr;
        }
        match &expr.extra.wide {
            Some(wide) => Expr::new(wide.clone(), PRIMARY),
            None => expr.cast(ty, Kind::Plain, "usize"),
        }
    }

    /// An operand as a receiver of a method.
    fn receiver(&mut self, value: Value) -> Expr {
        self.receiver_as(value, self.kinds.value(value))
    }

    /// The same, of a kind.
    fn receiver_as(&mut self, value: Value, kind: Kind) -> Expr {
        let expr = self.take_as(value, kind);
        let text = expr.typed(self.kernel.ty(value), kind);
        let extra = Extra { behind: expr.seen(), ..Extra::default() };
        Expr { text, extra, ..expr }
    }

    /// Operands of one type, of the kind of `like`; if all are literals the first says which.
    fn operands(&mut self, values: &[Value], like: Kind) -> Vec<Expr> {
        let mut all: Vec<Expr> = Vec::new();
        for value in values {
            all.push(self.take_as(*value, like));
        }
        if all.iter().all(|e| e.extra.literal.is_some())
            && let (Some(first), Some(value)) = (all.first_mut(), values.first())
        {
            first.text = first.typed(self.kernel.ty(*value), like);
            first.extra.literal = None;
        }
        all
    }

    pub(super) fn unary(&mut self, op: UnaryOp, a: Value, result: Value) -> Expr {
        let (ty, kind) = (self.kernel.ty(result), self.kinds.value(result));
        let unsigned = ty.is_int() && !ty.is_signed_int();
        match op {
            UnaryOp::Neg if !unsigned => {
                let e = self.receiver_as(a, kind);
                let text = if e.text.starts_with('-') { format!("-({})", e.text) } else { format!("-{}", e.at(UNARY)) };
                let mut negated = Expr::over(text, UNARY, &[&e]);
                negated.extra.behind = e.seen().map(|number| -number);
                negated
            }
            UnaryOp::Not if ty == Type::Bool => {
                let e = self.take(a);
                let (text, level) = e.negation();
                let mut not = Expr::over(text, level, &[&e]);
                not.negated = Some((e.text.clone(), e.level));
                not
            }
            UnaryOp::Not => {
                let e = self.receiver_as(a, kind);
                Expr::over(format!("!{}", e.at(UNARY)), UNARY, &[&e])
            }
            UnaryOp::Abs if unsigned => self.take_as(a, kind),
            UnaryOp::Neg | UnaryOp::Abs => {
                let e = self.receiver_as(a, kind);
                let name = if op == UnaryOp::Neg {
                    "wrapping_neg"
                } else if ty.is_int() {
                    "wrapping_abs"
                } else {
                    "abs"
                };
                Expr::over(format!("{}.{name}()", e.at(PRIMARY)), PRIMARY, &[&e])
            }
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value, result: Value) -> Expr {
        if let Some(axis) = self.global_id(op, a, b) {
            [a, b].into_iter().for_each(|v| drop(self.take(v)));
            return Expr::new(format!("global_id().{}", axis.word()), PRIMARY);
        }
        let kind = self.kinds.value(result);
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let ty = self.kernel.ty(a);
            let x = self.take_as(a, kind);
            let x = Expr { text: x.typed(ty, kind), extra: Extra::default(), ..x };
            // A count is taken modulo the width; of a number that it sees, `rustc` asks that it is below.
            let y = self.take(b);
            let y = y.seen().map(|count| Expr::new(count.rem_euclid(ty.bits().into()).to_string(), PRIMARY)).unwrap_or(y);
            return Expr::arithmetic(&x, if op == BinaryOp::Shl { "<<" } else { ">>" }, &y, SHIFT);
        }
        let both = self.operands(&[a, b], kind);
        let [x, y] = &both[..] else { return Expr::new("0", PRIMARY) };
        match binary_symbol(op) {
            Some(("&", _)) if self.kernel.ty(a) == Type::Bool => Expr::infix(x, "&&", y, LOGICAL_AND),
            Some(("|", _)) if self.kernel.ty(a) == Type::Bool => Expr::infix(x, "||", y, LOGICAL_OR),
            Some((symbol, level)) => Expr::arithmetic(x, symbol, y, level),
            None => {
                let receiver = Expr { text: x.typed(self.kernel.ty(a), kind), ..x.clone() };
                Expr::over(format!("{}.{}({})", receiver.at(PRIMARY), op.word(), y.text), PRIMARY, &[x, y])
            }
        }
    }

    /// The axis, if `a + b` is a block's first thread and the thread in it.
    fn global_id(&self, op: BinaryOp, a: Value, b: Value) -> Option<Axis> {
        if op != BinaryOp::Add {
            return None;
        }
        let special = |v: Value, which: Special| {
            if let Op::Compute(Compute::Special(special, axis)) = self.kernel.def(v)?.1
                && *special == which
            {
                Some(*axis)
            } else {
                None
            }
        };
        [(a, b), (b, a)].into_iter().find_map(|(first, thread)| {
            let axis = special(thread, Special::ThreadIdx)?;
            let Op::Compute(Compute::Binary(BinaryOp::Mul, x, y)) = self.kernel.def(first)?.1 else { return None };
            let is_pending = matches!(self.state.bindings[first.0 as usize], Binding::Pending(_));
            let is_block = |v: Value| special(v, Special::BlockIdx) == Some(axis);
            let is_size = |v: Value| {
                let fixed = self.kernel.options.block.map(|block| u64::from(block[axis as usize]));
                special(v, Special::BlockDim) == Some(axis) || (fixed.is_some() && self.kernel.constant(v).map(|c| c.bits) == fixed)
            };
            (is_pending && ((is_block(*x) && is_size(*y)) || (is_block(*y) && is_size(*x)))).then_some(axis)
        })
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Expr {
        let ty = self.kernel.ty(a);
        let kind = if [a, b].iter().any(|v| self.kernel.constant(*v).is_none() && self.kinds.value(*v) == Kind::Index) {
            Kind::Index
        } else {
            Kind::Plain
        };
        let both = self.operands(&[a, b], kind);
        let [x, y] = &both[..] else { return Expr::new("0", PRIMARY) };
        let (symbol, opposite) = compare_symbol(op);
        let mut expr = Expr::infix(x, symbol, y, COMPARE);
        // With a NaN both `a < b` and `a >= b` are false.
        if !ty.is_float() || matches!(op, CompareOp::Eq | CompareOp::Ne) {
            expr.negated = Some((Expr::infix(x, opposite, y, COMPARE).text, COMPARE));
        }
        expr
    }

    pub(super) fn choose(&mut self, c: Value, a: Value, b: Value, result: Value) -> Expr {
        let (c, kind) = (self.take(c), self.kinds.value(result));
        let both = self.operands(&[a, b], kind);
        let [x, y] = &both[..] else { return Expr::new("0", PRIMARY) };
        Expr::over(format!("if {} {{ {} }} else {{ {} }}", c.text, x.text, y.text), LOWEST, &[&c, x, y])
    }

    pub(super) fn cast(&mut self, a: Value, result: Value) -> Expr {
        let (ty, kind) = (self.kernel.ty(result), self.kinds.value(result));
        let (from, own) = (self.kernel.ty(a), self.kinds.value(a));
        let e = self.take(a);
        match &e.extra.wide {
            Some(wide) if kind == Kind::Index => Expr::new(wide.clone(), PRIMARY),
            Some(wide) => Expr::new(wide.clone(), PRIMARY).cast(from, own, &type_text(ty, kind)),
            None => e.cast(from, own, &type_text(ty, kind)),
        }
    }

    pub(super) fn bitcast(&mut self, a: Value, to: Type) -> Expr {
        let (from, kind) = (self.kernel.ty(a), self.kinds.value(a));
        let e = self.receiver(a);
        if to.is_any_float() && from.is_any_float() {
            let bits = Expr::over(format!("{}.to_bits()", e.at(PRIMARY)), PRIMARY, &[&e]);
            return Expr::over(format!("{to}::from_bits({})", bits.text), PRIMARY, &[&bits]);
        }
        if to.is_any_float() {
            let bits = if from.is_signed_int() || kind == Kind::Index { e.cast(from, kind, &from.to_unsigned().to_string()) } else { e };
            return Expr::over(format!("{to}::from_bits({})", bits.text), PRIMARY, &[&bits]);
        }
        if from.is_any_float() {
            let bits = Expr::over(format!("{}.to_bits()", e.at(PRIMARY)), PRIMARY, &[&e]);
            return if to.is_signed_int() { bits.cast(from, Kind::Plain, &to.to_string()) } else { bits };
        }
        e.cast(from, kind, &to.to_string())
    }

    pub(super) fn mul_add(&mut self, args: [Value; 3], result: Value) -> Expr {
        let ty = self.kernel.ty(result);
        let kind = self.kinds.value(result);
        if ty.is_int() {
            let all = self.operands(&args, kind);
            let product = Expr::infix(&all[0], "*", &all[1], MULTIPLY);
            return Expr::arithmetic(&product, "+", &all[2], ADD);
        }
        let x = self.receiver(args[0]);
        let (y, z) = (self.take(args[1]), self.take(args[2]));
        Expr::over(format!("{}.mul_add({}, {})", x.at(PRIMARY), y.text, z.text), PRIMARY, &[&x, &y, &z])
    }

    /// Where a thread stands: `usize`, which the IR has in 32 bits.
    pub(super) fn special(&self, special: Special, axis: Axis) -> Expr {
        let text = if special.has_axes() { format!("{}().{}", special.word(), axis.word()) } else { format!("{}()", special.word()) };
        let expr = Expr::new(text.clone(), PRIMARY);
        if self.kernel.index_type() == Type::U32 {
            return expr;
        }
        let mut narrow = expr.cast(Type::U32, Kind::Index, "u32");
        narrow.extra.wide = Some(text);
        narrow
    }

    /// A place in memory.
    pub(super) fn place(&mut self, object: crate::ir::Object, path: &[Step]) -> Expr {
        let kernel = self.kernel;
        let data = &kernel.objects[object];
        let mut expr = Expr::new(self.object_names[object.0 as usize].clone(), PRIMARY);
        let mut ty = &data.ty;
        let mut path = path;
        if let (ObjectKind::Peers(array), Some((Step::Index(rank), rest)), MemoryType::Array(own, _)) = (&data.kind, path.split_first(), ty)
        {
            let rank = self.take_index(*rank);
            expr.text = format!("{SHARED_OF}(&{}, {})", self.object_names[array.0 as usize], rank.text);
            expr.absorb(&rank);
            (ty, path) = (own, rest);
        }
        for step in path {
            match (step, ty) {
                (Step::Index(index), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                    let index = self.take_index(*index);
                    expr.text = format!("{}[{}]", expr.text, index.text);
                    expr.absorb(&index);
                    ty = element;
                }
                (Step::Field(field), MemoryType::Struct(id)) => {
                    let name = self.field_name(*id, *field);
                    expr.text = format!("{}.{name}", expr.text);
                    ty = &kernel.structs[*id].fields[*field as usize].ty;
                }
                // The verifier refuses other paths.
                _ => {}
            }
        }
        expr.loads = !data.is_read_only() || data.space() == Space::Global;
        expr
    }

    /// The same where it is written: another block's array is taken as one that may be.
    pub(super) fn place_to_write(&mut self, object: crate::ir::Object, path: &[Step]) -> Expr {
        let mut expr = self.place(object, path);
        self.to_write(object, &mut expr);
        expr
    }

    /// Has a place of an object be one that is written.
    pub(super) fn to_write(&self, object: crate::ir::Object, place: &mut Expr) {
        if matches!(self.kernel.objects[object].kind, ObjectKind::Peers(_)) {
            place.text = place.text.replacen(&format!("{SHARED_OF}(&"), &format!("{SHARED_OF_MUT}(&mut "), 1);
        }
    }

    /// The place of a vector or an atomic: what it is a method of, and the index.
    pub(super) fn split_place(&mut self, access: &Access) -> (Expr, Expr) {
        match access.path.split_last() {
            Some((Step::Index(index), rest)) => {
                let base = self.place(access.object, rest);
                (base, self.take_index(*index))
            }
            _ => (self.place(access.object, &access.path), Expr::new("0", PRIMARY)),
        }
    }

    pub(super) fn atomic(&mut self, (op, atomicity): (AtomicOp, Atomicity), access: &Access, operands: &[Value]) -> Expr {
        let (mut base, index) = self.split_place(access);
        if op != AtomicOp::Load {
            self.to_write(access.object, &mut base);
        }
        let mut parts = vec![index];
        for value in operands {
            parts.push(self.take_as(*value, Kind::Plain));
        }
        let (name, words) = spelling(op, atomicity);
        let list: Vec<&str> = parts.iter().map(|e| e.text.as_str()).chain(words.as_deref()).collect();
        let text = format!("{}.{name}({})", base.text, list.join(", "));
        let mut all: Vec<&Expr> = vec![&base];
        all.extend(&parts);
        Expr::over(text, PRIMARY, &all)
    }

    pub(super) fn intrinsic(&mut self, row: &Intrinsic, args: &[Value], result: Option<Value>) -> Expr {
        if let (true, [value], Some(result)) = (intrinsics::is_cast(row), args, result) {
            return self.cast(*value, result);
        }
        let mut parts = Vec::new();
        for (n, value) in args.iter().enumerate() {
            let operand = row.args.get(n).copied();
            let is_receiver = n == 0 && row.call == Call::Method;
            let own = self.kinds.value(*value);
            let kind = match operand {
                Some(OperandType::Index | OperandType::Lane) => own,
                // What such a method gives is of its receiver's type, and results of intrinsics are never `usize`.
                _ if is_receiver && row.results.first() != Some(&OperandType::T) => own,
                _ => Kind::Plain,
            };
            let expr = self.take_as(*value, kind);
            // Nothing else may say which type a literal has.
            let is_open = is_receiver || (row.call == Call::Function && matches!(operand, Some(OperandType::T)));
            parts.push(if is_open { Expr { text: expr.typed(self.kernel.ty(*value), kind), ..expr } } else { expr });
        }
        let all: Vec<&Expr> = parts.iter().collect();
        let list = |parts: &[Expr]| parts.iter().map(|e| e.text.clone()).collect::<Vec<_>>().join(", ");
        let text = match (row.call, parts.split_first()) {
            (Call::Method, Some((first, rest))) => format!("{}.{}({})", first.at(PRIMARY), row.name, list(rest)),
            (Call::Associated, _) => {
                let ty = result.map_or(Type::U32, |value| self.kernel.ty(value));
                format!("{ty}::{}({})", row.name, list(&parts))
            }
            _ => format!("{}({})", row.name, list(&parts)),
        };
        Expr::over(text, PRIMARY, &all)
    }

    /// `"text {}", a, b`.
    pub(super) fn message(&mut self, parts: &[PrintPart], values: &[Value]) -> String {
        let one = |part: &PrintPart| match part {
            PrintPart::Text(text) => text.replace('{', "{{").replace('}', "}}").escape_debug().to_string(),
            PrintPart::Argument(None) => "{}".to_owned(),
            PrintPart::Argument(Some(digits)) => format!("{{:.{digits}}}"),
        };
        let mut text = format!("\"{}\"", parts.iter().map(one).collect::<String>());
        for value in values {
            let (ty, kind) = (self.kernel.ty(*value), self.kinds.value(*value));
            let expr = self.take(*value);
            text.push_str(&format!(", {}", expr.typed(ty, kind)));
        }
        text
    }
}
