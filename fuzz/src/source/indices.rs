//! `usize` and `isize`: as wide as a kernel says on devices, 64 bits in the host twin. So numbers stay small, and no result depends on the width.

use super::scope::Generator;
use super::tree::Node;
use super::types::Scalar;

/// What every number is below: products of two are no more than 32 bits hold.
const MOST: usize = 1 << 15;

/// Threads that a generated launch has at most, rounded up.
const THREADS: usize = 1024;

impl Generator<'_> {
    /// An expression of type `usize`, parenthesised where that is needed, and what it is below.
    pub(super) fn number(&mut self, depth: usize) -> (String, usize) {
        if depth == 0 || self.random.chance(25) {
            return self.number_leaf();
        }
        let depth = depth - 1;
        let (a, below) = self.number(depth);
        let (b, other) = self.number(depth);
        let k = 1 + self.random.below(9);
        let power = below.max(other).next_power_of_two();
        match self.random.below(20) {
            0 | 1 => self.kept_small(format!("({a} + {b})"), below + other),
            2 | 3 => self.kept_small(format!("({a} * {b})"), below * other),
            // What is subtracted is never more.
            4 => self.kept_small(format!("({a} + {other} - {b})"), below + other),
            5 => (format!("({a} / {k})"), below.div_ceil(k)),
            6 => (format!("({a} % {k})"), below.min(k)),
            7 => (format!("({a} % ({b} + 1))"), below.min(other)),
            8 => (format!("({a} / ({b} + 1))"), below),
            9 => (format!("({a} & {b})"), below.min(other)),
            10 => {
                let operator = self.random.pick(&["|", "^"]);
                self.kept_small(format!("({a} {operator} {b})"), power)
            }
            11 => (format!("({a} >> {})", k % 6), below),
            12 => self.kept_small(format!("({a} << {})", k % 6), below << (k % 6)),
            13 => (format!("{a}.min({b})"), below.min(other)),
            14 => (format!("{a}.max({b})"), below.max(other)),
            15 => {
                self.hit("usize.method");
                self.number_method(&a, below, &b, other, k)
            }
            16 => {
                self.hit("usize.choice");
                let condition = self.expr(Scalar::Bool, depth);
                (format!("(if {condition} {{ {a} }} else {{ {b} }})"), below.max(other))
            }
            17 => {
                self.hit("isize");
                let signed = self.signed_number(depth);
                (format!("({signed}.rem_euclid({k}) as usize)"), k)
            }
            18 => {
                self.hit("isize");
                (format!("(({a} as isize - {b} as isize).abs() as usize)"), below.max(other))
            }
            _ => {
                self.hit("usize.block");
                self.kept_small(format!("({{ let u_ = {a}; u_ + {k} }})"), below + k)
            }
        }
    }

    fn number_method(&mut self, a: &str, below: usize, b: &str, other: usize, k: usize) -> (String, usize) {
        match self.random.below(10) {
            0 => (format!("{a}.abs_diff({b})"), below.max(other)),
            1 => (format!("{a}.saturating_sub({b})"), below),
            2 => (format!("{a}.div_ceil({k})"), below + 1),
            3 => self.kept_small(format!("{a}.next_multiple_of({k})"), below + k),
            4 => (format!("{a}.isqrt()"), below),
            5 => (format!("({a}.count_ones() as usize)"), 33),
            6 => (format!("(({a} | 1).ilog2() as usize)"), 33),
            7 => (format!("(({a} | 1).trailing_zeros() as usize)"), 33),
            8 => self.kept_small(format!("{a}.next_power_of_two()"), 2 * below.next_power_of_two() + 1),
            _ => (format!("{a}.clamp({k}, {})", k + 20), k + 21),
        }
    }

    /// The same, brought below the most.
    fn kept_small(&mut self, text: String, below: usize) -> (String, usize) {
        if below <= MOST { (text, below) } else { (format!("({text} % {MOST})"), MOST) }
    }

    fn number_leaf(&mut self) -> (String, usize) {
        let named: Vec<(String, usize)> = self.counters.iter().chain(&self.indices).cloned().collect();
        if !named.is_empty() && self.random.chance(60) {
            return named[self.random.below(named.len())].clone();
        }
        match self.random.below(9) {
            0 if self.has_threads => (self.own.0.clone(), THREADS),
            1 if self.has_threads => (self.own.1.clone(), THREADS),
            2 if self.has_threads && self.own.0 != self.own.1 => {
                let (feature, text) = self.random.pick(&[
                    ("block_dim", "block_dim().x"),
                    ("block_dim", "block_dim().y"),
                    ("grid_dim", "grid_dim().x"),
                    ("warp_id", "warp_id()"),
                    ("block_idx", "block_idx().x"),
                    ("lane_id", "lane_id()"),
                ]);
                self.hit(feature);
                (text.to_owned(), THREADS)
            }
            3 if self.inputs.iter().any(|input| input.is_global) => {
                self.hit("len");
                let inputs: Vec<_> = self.inputs.iter().filter(|input| input.is_global).cloned().collect();
                let input = &inputs[self.random.below(inputs.len())];
                (format!("{}.len()", input.name), input.len + 1)
            }
            4 => {
                self.hit("as_usize");
                let ty = self.random.pick(&[Scalar::U8, Scalar::Bool]);
                (format!("({} as usize)", self.expr(ty, 1)), 256)
            }
            5 => {
                self.hit("as_usize");
                // The sign is gone before: of a negative number the twin's index would have more bits.
                let ty = self.random.pick(&Scalar::INTEGERS);
                (format!("(({} & 63) as usize)", self.expr(ty, 1)), 64)
            }
            6 => {
                self.hit("as_usize.float");
                let ty = self.random.pick(&[Scalar::F32, Scalar::F64]);
                (format!("({}.min(99.0) as usize)", self.expr(ty, 1)), 100)
            }
            _ => {
                let n = self.random.below(12);
                (n.to_string() + self.random.pick(&["usize", "usize", "_usize"]), n + 1)
            }
        }
    }

    /// An expression of type `isize`, small on both sides of zero.
    fn signed_number(&mut self, depth: usize) -> String {
        let ((a, _), (b, _)) = (self.number(depth), self.number(depth));
        let k = 1 + self.random.below(9);
        match self.random.below(6) {
            0 => format!("({a} as isize - {b} as isize)"),
            1 => format!("(-({a} as isize) / {k})"),
            2 => format!("(({a} as isize - {b} as isize) >> {})", k % 5),
            3 => format!("({a} as isize).max({k} - ({b} as isize))"),
            4 => format!("(!({a} as isize) % {k})"),
            _ => format!("(({a} as isize - {b} as isize).signum() * {k})"),
        }
    }

    /// A number as another type.
    pub(super) fn cast_number(&mut self, ty: Scalar, depth: usize) -> String {
        if ty == Scalar::Bool {
            return self.number_comparison(depth);
        }
        self.hit("usize.cast");
        let number = if self.random.chance(25) {
            self.hit("isize");
            self.signed_number(depth)
        } else {
            self.number(depth).0
        };
        format!("({number} as {})", ty.name())
    }

    /// Numbers compared.
    pub(super) fn number_comparison(&mut self, depth: usize) -> String {
        self.hit("usize.compare");
        let operator = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        if self.random.chance(25) {
            self.hit("isize");
            let (a, b) = (self.signed_number(depth), self.signed_number(depth));
            return format!("({a} {operator} {b})");
        }
        let ((a, _), (b, _)) = (self.number(depth), self.number(depth));
        format!("({a} {operator} {b})")
    }

    /// A variable of type `usize`, which may change later.
    pub(super) fn let_number(&mut self) -> Node {
        self.hit("usize.let");
        let (value, below) = self.number(2);
        let name = self.name();
        self.hide(&name);
        let is_mutable = self.random.chance(50);
        let mutable = if is_mutable { "mut " } else { "" };
        if is_mutable {
            self.indices.push((name.clone(), below));
        } else {
            self.counters.push((name.clone(), below));
        }
        Node::Let { names: vec![name.clone()], text: format!("let {mutable}{name}: usize = {value};") }
    }

    /// Such a variable changed. It stays below what it was below.
    pub(super) fn change_number(&mut self) -> Node {
        if self.indices.is_empty() {
            return self.let_number();
        }
        self.hit("usize.assign");
        let (name, below) = self.indices[self.random.below(self.indices.len())].clone();
        let (value, most) = self.number(2);
        if most <= below && self.random.chance(50) {
            return Node::line(format!("{name} = {value};"));
        }
        match self.random.below(4) {
            0 => Node::line(format!("{name} /= {value} + 1;")),
            1 => Node::line(format!("{name} &= {value};")),
            2 => Node::line(format!("{name} %= {value} + 1;")),
            _ => Node::line(format!("{name} = ({name} + {value}) % {below};")),
        }
    }
}
