//! Expressions: the text of a value, how tightly it binds, and what it reads.

use super::Writer;
use super::types::{is_promoted, literal, memory_type, value_type};
use crate::backend::structured::{self, Values};
pub(super) use crate::backend::structured::{Level, PRIMARY, UNARY};
use crate::ir::{Axis, BinaryOp, CompareOp, Scalar, Special, Type, UnaryOp, Value};

const MULTIPLY: Level = 13;
const ADD: Level = 12;
const SHIFT: Level = 11;
const RELATION: Level = 10;
/// `==`, `!=`.
pub(super) const EQUALITY: Level = 9;
/// `&`.
pub(super) const AND: Level = 8;
const XOR: Level = 7;
const OR: Level = 6;
const LOGICAL_AND: Level = 5;
/// `||`.
const LOGICAL_OR: Level = 4;
const CONDITIONAL: Level = 3;

/// What an expression of OpenCL C carries besides its text.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
    /// Whether C gives it type `int` although the value's type is narrower. The value is right; `typed` makes the type right.
    pub(super) loose: bool,
    /// The same bits as an unsigned expression of the same width, if that is the simpler text.
    unsigned: Option<(String, Level)>,
    /// The number, where the expression is the literal of an integer.
    integer: Option<i128>,
}

/// The text of a value.
pub(super) type Expr = structured::Expr<Extra>;

impl Expr {
    /// Marks it as of C's type `int`.
    pub(super) fn loose(mut self) -> Expr {
        self.extra.loose = true;
        self
    }

    /// The text with C's type made right, for arguments of overloaded builtins.
    pub(super) fn typed(&self, ty: Type) -> String {
        if self.extra.loose { format!("({}){}", value_type(ty), self.at(UNARY)) } else { self.text.clone() }
    }

    /// The text as an argument or operand that no operator may tear apart.
    pub(super) fn primary(&self, ty: Type) -> String {
        if self.extra.loose { format!("({})", self.typed(ty)) } else { self.at(PRIMARY) }
    }

    /// The bits of a signed or unsigned integer of type `ty` as the unsigned type of its width.
    pub(super) fn unsigned_bits(&self, ty: Type) -> Expr {
        match &self.extra.unsigned {
            Some((text, level)) => Expr::over(text.clone(), *level, &[self]),
            None => Expr::over(format!("({}){}", unsigned_type(ty), self.at(UNARY)), UNARY, &[self]),
        }
    }

    /// Notes that `source`, of the unsigned type of this one's width, has the same bits.
    pub(super) fn with_unsigned(mut self, source: &Expr) -> Expr {
        self.extra.unsigned = Some((source.text.clone(), source.level));
        self
    }

    /// Notes that it is the literal of an integer.
    pub(super) fn of_integer(mut self, value: i128) -> Expr {
        self.extra.integer = Some(value);
        self
    }

    /// The text as an array index: a literal needs no suffix there.
    pub(super) fn as_index(&self) -> String {
        match self.extra.integer {
            Some(value) if value >= 0 => value.to_string(),
            _ => self.text.clone(),
        }
    }
}

fn parenthesised(text: &str, level: Level, wanted: Level) -> String {
    if level >= wanted { text.to_owned() } else { format!("({text})") }
}

/// `a op b`. Mixed operators get parentheses where compilers warn about people mistaking their order.
fn infix(a: (&str, Level), op: &str, b: (&str, Level), level: Level) -> String {
    let left = match level {
        ADD | MULTIPLY => level,
        // A comparison or shift as an operand of another reads badly, and warns.
        EQUALITY..=SHIFT => ADD,
        _ => associative_operand(a.1, level),
    };
    let right = match level {
        ADD | MULTIPLY => level + 1,
        EQUALITY..=SHIFT => ADD,
        _ => associative_operand(b.1, level),
    };
    format!("{} {op} {}", parenthesised(a.0, a.1, left), parenthesised(b.0, b.1, right))
}

/// What an operand of `& ^ | && ||` must bind at: the same operator chains, comparisons stand bare in `&&` and `||`.
fn associative_operand(operand: Level, level: Level) -> Level {
    if operand == level {
        level
    } else if level <= LOGICAL_AND {
        EQUALITY
    } else {
        UNARY
    }
}

/// The text of an unsigned type as wide as `ty`.
fn unsigned_type(ty: Type) -> &'static str {
    memory_type(ty.to_unsigned())
}

impl Writer<'_> {
    /// `op a`.
    pub(super) fn unary(&mut self, op: UnaryOp, a: Value, ty: Type) -> Expr {
        let e = self.take(a);
        match (op, ty) {
            (UnaryOp::Not, Type::Bool) => {
                let (text, level) = e.negation();
                let mut not = Expr::over(text, level, &[&e]);
                not.negated = Some((e.text.clone(), e.level));
                not
            }
            (UnaryOp::Not, _) => {
                let not = Expr::over(format!("~{}", e.at(UNARY)), UNARY, &[&e]);
                if is_promoted(ty) { cut(not, ty) } else { not }
            }
            (UnaryOp::Neg, Type::F16 | Type::BF16) => Expr::over(format!("{} ^ 0x8000", e.at(UNARY)), XOR, &[&e]).loose(),
            (UnaryOp::Abs, Type::F16 | Type::BF16) => Expr::over(format!("{} & 0x7fff", e.at(UNARY)), AND, &[&e]).loose(),
            (UnaryOp::Neg, Type::F32 | Type::F64) => Expr::over(minus(&e), UNARY, &[&e]),
            (UnaryOp::Abs, Type::F32 | Type::F64) => Expr::over(format!("fabs({})", e.text), PRIMARY, &[&e]),
            (UnaryOp::Neg, Type::I16) => opposite(&e, ty),
            (UnaryOp::Neg, _) if is_promoted(ty) => cut(Expr::over(minus(&e), UNARY, &[&e]), ty),
            (UnaryOp::Neg, _) => {
                let zero = literal(Scalar::int(ty.to_unsigned(), 0));
                let (text, level) = as_unsigned(&e, ty);
                let text = infix((&zero.text, PRIMARY), "-", (&text, level), ADD);
                wrapped(Expr::over(text, ADD, &[&e]), ty)
            }
            // `abs` of a builtin type gives the unsigned type, wide enough for MIN.
            (UnaryOp::Abs, Type::I32 | Type::I64) => {
                let name = self.prelude.absolute(ty);
                Expr::over(format!("{name}({})", e.text), PRIMARY, &[&e])
            }
            // In 32 bits, as `opposite`.
            (UnaryOp::Abs, _) if ty.is_signed_int() => cut(Expr::over(format!("abs((int){})", e.at(UNARY)), PRIMARY, &[&e]), ty),
            (UnaryOp::Abs, _) => e,
        }
    }

    /// `a op b`.
    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value, ty: Type) -> Expr {
        if matches!(ty, Type::F16 | Type::BF16) {
            self.narrow_float_binary(op, a, b, ty)
        } else if ty.is_float() {
            let (x, y) = (self.take(a), self.take(b));
            float_binary(op, &x, &y)
        } else if ty == Type::Bool {
            let (x, y) = (self.take(a), self.take(b));
            bool_binary(op, &x, &y, self.is_taken_apart)
        } else {
            self.int_binary(op, a, b, ty)
        }
    }

    /// Correctly rounded for `+ - * /`, since `float` has more than 2p + 2 digits of either narrow type.
    fn narrow_float_binary(&mut self, op: BinaryOp, a: Value, b: Value, ty: Type) -> Expr {
        let (x, y) = (self.take(a), self.take(b));
        let (x, y) = (self.cast_expr(&x, ty, Type::F32), self.cast_expr(&y, ty, Type::F32));
        let wide = float_binary(op, &x, &y);
        self.cast_expr(&wide, Type::F32, ty)
    }

    fn int_binary(&mut self, op: BinaryOp, a: Value, b: Value, ty: Type) -> Expr {
        let constant = self.kernel.constant(b);
        let (x, mut y) = (self.take(a), self.take(b));
        match op {
            BinaryOp::Sub if matches!(ty, Type::I16 | Type::U16) && self.kernel.constant(a).is_some_and(|a| a.bits == 0) => {
                opposite(&y, ty)
            }
            BinaryOp::Add | BinaryOp::Sub => match constant.and_then(subtrahend) {
                // a + (-3) reads a - 3.
                Some(positive) => {
                    y = literal(positive);
                    self.wrapping(if op == BinaryOp::Add { BinaryOp::Sub } else { BinaryOp::Add }, &x, &y, ty)
                }
                None => self.wrapping(op, &x, &y, ty),
            },
            BinaryOp::Mul => self.wrapping(op, &x, &y, ty),
            BinaryOp::Div | BinaryOp::Rem => self.division(op, &x, &y, ty, constant.map(Scalar::as_int)),
            BinaryOp::And => logic(&x, "&", &y, AND, ty),
            BinaryOp::Or => logic(&x, "|", &y, OR, ty),
            BinaryOp::Xor => logic(&x, "^", &y, XOR, ty),
            BinaryOp::Shl | BinaryOp::Shr => shift(op, &x, &y, constant.map(|c| c.bits), ty),
            // In 32 bits: of short ones, NVIDIA's compiler takes a comparison of the result with an operand from both halves of a register.
            BinaryOp::Min | BinaryOp::Max if is_promoted(ty) => {
                let call = format!("{}((int){}, (int){})", op.word(), x.at(UNARY), y.at(UNARY));
                cut(Expr::over(call, PRIMARY, &[&x, &y]), ty)
            }
            BinaryOp::Min | BinaryOp::Max => Expr::over(format!("{}({}, {})", op.word(), x.typed(ty), y.typed(ty)), PRIMARY, &[&x, &y]),
        }
    }

    /// `a + b`, `a - b`, `a * b`, wrapping: signed overflow is undefined in C, unsigned is not.
    fn wrapping(&mut self, op: BinaryOp, x: &Expr, y: &Expr, ty: Type) -> Expr {
        let (word, level) = op.sign().map_or(("*", MULTIPLY), |sign| (if sign > 0 { "+" } else { "-" }, ADD));
        if is_promoted(ty) && !(ty == Type::U16 && op == BinaryOp::Mul) {
            // `int` has room for it.
            return cut(Expr::over(infix((&x.text, x.level), word, (&y.text, y.level), level), level, &[x, y]), ty);
        }
        let ((a, a_level), (b, b_level)) = (as_unsigned(x, ty), as_unsigned(y, ty));
        wrapped(Expr::over(infix((&a, a_level), word, (&b, b_level), level), level, &[x, y]), ty)
    }

    /// Towards zero. `MIN / -1` wraps in the language, and is an arithmetic exception on x86.
    fn division(&mut self, op: BinaryOp, x: &Expr, y: &Expr, ty: Type, constant: Option<i128>) -> Expr {
        let word = if op == BinaryOp::Div { "/" } else { "%" };
        let parts = [x, y];
        let plain = || infix((&x.text, x.level), word, (&y.text, y.level), MULTIPLY);
        match (ty.is_signed_int(), is_promoted(ty)) {
            (true, false) if constant.is_none_or(|c| c == -1) => {
                let name = self.prelude.division(op, ty);
                Expr::over(format!("{name}({}, {})", x.text, y.text), PRIMARY, &parts)
            }
            (true, true) => cut(Expr::over(plain(), MULTIPLY, &parts), ty),
            (false, true) => Expr::over(plain(), MULTIPLY, &parts).loose(),
            (_, false) => Expr::over(plain(), MULTIPLY, &parts),
        }
    }

    /// `a * b + c`.
    pub(super) fn mul_add(&mut self, a: Value, b: Value, c: Value, ty: Type) -> Expr {
        let (x, y, z) = (self.take(a), self.take(b), self.take(c));
        match ty {
            Type::F32 | Type::F64 => Expr::over(format!("fma({}, {}, {})", x.text, y.text, z.text), PRIMARY, &[&x, &y, &z]),
            Type::F16 | Type::BF16 => {
                let [x, y, z] = [&x, &y, &z].map(|e| self.cast_expr(e, ty, Type::F32));
                let wide = Expr::over(format!("fma({}, {}, {})", x.text, y.text, z.text), PRIMARY, &[&x, &y, &z]);
                self.cast_expr(&wide, Type::F32, ty)
            }
            Type::Bool
            | Type::I8
            | Type::I16
            | Type::I32
            | Type::I64
            | Type::U8
            | Type::U16
            | Type::U32
            | Type::U64
            | Type::E4M3
            | Type::E5M2
            | Type::Ptr(_) => {
                let product = self.wrapping(BinaryOp::Mul, &x, &y, ty);
                self.wrapping(BinaryOp::Add, &product, &z, ty)
            }
        }
    }

    /// `a op b`, a `bool`.
    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Expr {
        let ty = self.kernel.ty(a);
        let (mut x, mut y) = (self.take(a), self.take(b));
        if matches!(ty, Type::F16 | Type::BF16) {
            (x, y) = (self.cast_expr(&x, ty, Type::F32), self.cast_expr(&y, ty, Type::F32));
        }
        let text = |op| {
            let (word, level) = comparison(op);
            (infix((&x.text, x.level), word, (&y.text, y.level), level), level)
        };
        let (positive, level) = text(op);
        let mut expr = Expr::over(positive, level, &[&x, &y]);
        // With a NaN both `a < b` and `a >= b` are false; equality has no such gap.
        if !ty.is_float() || matches!(op, CompareOp::Eq | CompareOp::Ne) {
            expr.negated = Some(text(op.negated()));
        }
        expr
    }

    /// `if c { a } else { b }`, both evaluated.
    pub(super) fn select(&mut self, c: Value, a: Value, b: Value, ty: Type) -> Expr {
        let (c, x, y) = (self.take(c), self.take(a), self.take(b));
        let text = format!("{} ? {} : {}", c.at(LOGICAL_OR), x.at(LOGICAL_OR), y.at(LOGICAL_OR));
        let expr = Expr::over(text, CONDITIONAL, &[&c, &x, &y]);
        if is_promoted(ty) { expr.loose() } else { expr }
    }

    /// Where a thread stands.
    pub(super) fn special(&mut self, special: Special, axis: Axis) -> Expr {
        let n = axis as u8;
        let call = |name: &str| Expr::new(format!("(uint){name}({n})"), UNARY);
        match special {
            Special::ThreadIdx => call("get_local_id"),
            Special::BlockIdx => call("get_group_id"),
            Special::BlockDim => call("get_local_size"),
            Special::GridDim => call("get_num_groups"),
            Special::AskedGrid => Expr::new(self.grid_names[usize::from(n)].clone(), PRIMARY),
            Special::LaneId => Expr::new(format!("{} & 31u", self.linear_thread().at(UNARY)), AND),
            Special::WarpId => Expr::new(format!("{} >> 5", self.linear_thread().at(UNARY)), SHIFT),
        }
    }

    /// The number of the thread in its block, x fastest.
    pub(super) fn linear_thread(&mut self) -> Expr {
        match self.kernel.options.block {
            Some([_, 1, 1]) => Expr::new("(uint)get_local_id(0)", UNARY),
            Some([x, y, 1]) if y > 1 => Expr::new(format!("(uint)get_local_id(1) * {x}u + (uint)get_local_id(0)"), ADD),
            Some([x, y, _]) => {
                Expr::new(format!("((uint)get_local_id(2) * {y}u + (uint)get_local_id(1)) * {x}u + (uint)get_local_id(0)"), ADD)
            }
            None => Expr::new(format!("{}()", self.prelude.linear_thread()), PRIMARY),
        }
    }
}

/// The opposite of a constant that is small and negative, seen as signed: adding `u32` 4294967295 is subtracting 1.
fn subtrahend(constant: Scalar) -> Option<Scalar> {
    let unused = 128 - constant.ty.bits();
    let signed = (i128::from(constant.bits) << unused) >> unused;
    (-4096..0).contains(&signed).then(|| Scalar::int(constant.ty, -signed)).filter(|s| s.as_int() > 0)
}

fn comparison(op: CompareOp) -> (&'static str, Level) {
    match op {
        CompareOp::Eq => ("==", EQUALITY),
        CompareOp::Ne => ("!=", EQUALITY),
        CompareOp::Lt => ("<", RELATION),
        CompareOp::Le => ("<=", RELATION),
        CompareOp::Gt => (">", RELATION),
        CompareOp::Ge => (">=", RELATION),
    }
}

/// `-e`, never `--`.
fn minus(e: &Expr) -> String {
    if e.text.starts_with('-') { format!("-({})", e.text) } else { format!("-{}", e.at(UNARY)) }
}

/// An `int` expression cut back to a narrow type.
fn cut(expr: Expr, ty: Type) -> Expr {
    Expr::over(format!("({}){}", value_type(ty), expr.at(UNARY)), UNARY, &[&expr])
}

/// `-e` of 16 bits, by a function that is of 32: of `-e` NVIDIA's compiler makes `neg.s16`, whatever the text, and its assembler takes the 32768 that this makes of -32768 for extended by its sign.
fn opposite(e: &Expr, ty: Type) -> Expr {
    cut(Expr::over(format!("mad24((int){}, -1, 0)", e.at(UNARY)), PRIMARY, &[e]), ty)
}

/// The bits of `e` as the unsigned type of its width (`uint` for narrow types, which is as good).
fn as_unsigned(e: &Expr, ty: Type) -> (String, Level) {
    if let Some(unsigned) = &e.extra.unsigned {
        return unsigned.clone();
    }
    if matches!(ty, Type::U32 | Type::U64) {
        return (e.text.clone(), e.level);
    }
    // A literal that is not negative takes the suffix.
    if let Some(value) = e.extra.integer.filter(|value| *value >= 0) {
        return (format!("{value}{}", if ty == Type::I64 { "ul" } else { "u" }), PRIMARY);
    }
    let name = if is_promoted(ty) { "uint" } else { unsigned_type(ty) };
    (format!("({name}){}", e.at(UNARY)), UNARY)
}

/// An unsigned result as a value of `ty`.
fn wrapped(expr: Expr, ty: Type) -> Expr {
    if matches!(ty, Type::U32 | Type::U64) {
        return expr;
    }
    let signed = Expr::over(format!("({}){}", value_type(ty), expr.at(UNARY)), UNARY, &[&expr]);
    if matches!(ty, Type::I32 | Type::I64) { signed.with_unsigned(&expr) } else { signed }
}

/// OpenCL C takes counts modulo the width of the left operand *after promotion*: right for 32 and 64 bits, not below.
fn shift(op: BinaryOp, x: &Expr, y: &Expr, count: Option<u64>, ty: Type) -> Expr {
    let mask = u64::from(ty.bits() - 1);
    let count = match count {
        Some(n) => (n & mask).to_string(),
        None if is_promoted(ty) => format!("({} & {mask}u)", y.at(UNARY)),
        None => y.at(UNARY),
    };
    match (op, ty) {
        (BinaryOp::Shr, _) => {
            let expr = Expr::over(format!("{} >> {count}", x.at(UNARY)), SHIFT, &[x, y]);
            if is_promoted(ty) { expr.loose() } else { expr }
        }
        _ => {
            // The left shift of a negative number is undefined in C99.
            let (text, level) = as_unsigned(x, ty);
            wrapped(Expr::over(format!("{} << {count}", parenthesised(&text, level, UNARY)), SHIFT, &[x, y]), ty)
        }
    }
}

/// `a & b`, `a | b`, `a ^ b` of integers.
fn logic(x: &Expr, word: &str, y: &Expr, level: Level, ty: Type) -> Expr {
    let expr = Expr::over(infix((&x.text, x.level), word, (&y.text, y.level), level), level, &[x, y]);
    if is_promoted(ty) { expr.loose() } else { expr }
}

fn float_binary(op: BinaryOp, x: &Expr, y: &Expr) -> Expr {
    let parts = [x, y];
    let call = |name: &str| Expr::over(format!("{name}({}, {})", x.text, y.text), PRIMARY, &parts);
    let operator = |word: &str, level| Expr::over(infix((&x.text, x.level), word, (&y.text, y.level), level), level, &parts);
    match op {
        BinaryOp::Add | BinaryOp::Sub => {
            let (plus, minus) = if op == BinaryOp::Add { ("+", "-") } else { ("-", "+") };
            // a + −b is a − b, exactly, whatever b is: a plain literal or name here.
            match y.text.strip_prefix('-').filter(|rest| y.level == UNARY && rest.bytes().all(is_plain)) {
                Some(rest) => Expr::over(infix((&x.text, x.level), minus, (rest, PRIMARY), ADD), ADD, &parts),
                None => operator(plus, ADD),
            }
        }
        BinaryOp::Mul => operator("*", MULTIPLY),
        BinaryOp::Div => operator("/", MULTIPLY),
        BinaryOp::Rem => call("fmod"),
        BinaryOp::Min => call("fmin"),
        BinaryOp::Max => call("fmax"),
        // The others are of integers.
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => call(op.word()),
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

/// Neither side has effects, so `&` and `&&` say the same; `has_no_branches` asks for the one without a branch.
fn bool_binary(op: BinaryOp, x: &Expr, y: &Expr, has_no_branches: bool) -> Expr {
    let (word, level) = match (op, has_no_branches) {
        (BinaryOp::And, false) => ("&&", LOGICAL_AND),
        (BinaryOp::And, true) => ("&", AND),
        (BinaryOp::Or, false) => ("||", LOGICAL_OR),
        (BinaryOp::Or, true) => ("|", OR),
        _ => ("!=", EQUALITY),
    };
    Expr::over(infix((&x.text, x.level), word, (&y.text, y.level), level), level, &[x, y])
}
