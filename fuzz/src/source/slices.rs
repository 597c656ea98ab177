//! Arrays taken apart with a name for the rest, and alternatives that bind arrays or parts of them: several may fit, and the first of them binds.

use super::names::FUNCTIONS;
use super::scope::{Function, Generator, Ty};
use super::tree::Node;
use super::types::Scalar;

impl Generator<'_> {
    /// A statement with such a pattern.
    pub(super) fn slice_statement(&mut self, nesting: usize) -> Node {
        match self.random.below(6) {
            0 => self.ends_and_rest(),
            1 => self.rows_apart(),
            2 => self.array_of_alternatives(),
            3 => self.part_of_alternatives(),
            4 if nesting > 0 => self.if_let_rest(nesting),
            _ => self.match_of_slices(),
        }
    }

    /// An array of these that patterns of small numbers may fit.
    fn small_array(&mut self, ty: Scalar, len: usize) -> String {
        let all: Vec<String> = (0..len).map(|_| format!("({} & {})", self.expr(ty, 1), self.random.pick(&[1, 3, 7, 63]))).collect();
        format!("[{}]", all.join(", "))
    }

    fn bind_array(&mut self, name: &str, ty: Scalar, len: usize, is_mutable: bool) {
        if len > 0 {
            self.bind(name, Ty::Array(ty, len), is_mutable);
        }
    }

    /// `[a, rest @ .., b]`
    fn ends_and_rest(&mut self) -> Node {
        self.hit("pattern.named_rest");
        let ty = self.random.pick(&Scalar::ALL);
        let len = 2 + self.random.below(4);
        let value = self.aggregate(&Ty::Array(ty, len), 1);
        let [first, rest, last, whole] = [0; 4].map(|_| self.unique_name());
        let (pattern, count) = match self.random.below(4) {
            0 => (format!("[mut {first}, {rest} @ ..]"), len - 1),
            1 => (format!("[mut {rest} @ .., _, {first}]"), len - 2),
            2 => {
                self.hit("pattern.at");
                self.bind(&whole, Ty::Array(ty, len), false);
                (format!("{whole} @ [{first}, {rest} @ ..]"), len - 1)
            }
            _ => {
                self.bind(&last, Ty::Scalar(ty), false);
                (format!("[{first}, mut {rest} @ .., {last}]"), len - 2)
            }
        };
        self.bind(&first, Ty::Scalar(ty), pattern.contains(&format!("mut {first}")));
        self.bind_array(&rest, ty, count, pattern.contains(&format!("mut {rest}")));
        Node::line(format!("let {pattern} = {value};"))
    }

    /// Rows of an array of arrays, and the rest of one.
    fn rows_apart(&mut self) -> Node {
        self.hit("pattern.named_rest");
        self.hit("pattern.nested");
        let ty = self.random.pick(&Scalar::ALL);
        let (rows, columns) = (2 + self.random.below(2), 2 + self.random.below(3));
        let value = self.aggregate(&Ty::Grid(ty, rows, columns), 1);
        let [first, inner, outer] = [0; 3].map(|_| self.unique_name());
        let pattern = match self.random.below(2) {
            0 => format!("[[{first}, {inner} @ ..], {outer} @ ..]"),
            _ => format!("[{outer} @ .., [{inner} @ .., {first}]]"),
        };
        self.bind(&first, Ty::Scalar(ty), false);
        self.bind(&inner, Ty::Array(ty, columns - 1), false);
        self.bind(&outer, Ty::Grid(ty, rows - 1, columns), false);
        Node::line(format!("let {pattern} = {value};"))
    }

    /// One of several arrays, and a number beside it.
    fn array_of_alternatives(&mut self) -> Node {
        self.hit("pattern.alternatives_of_arrays");
        let ty = self.random.pick(&Scalar::ALL);
        let len = self.random.pick(&[2usize, 4, 3]);
        let values = [0; 3].map(|_| self.aggregate(&Ty::Array(ty, len), 1));
        let [p, q] = [0; 2].map(|_| format!("({} & 3)", self.expr(Scalar::U32, 1)));
        let [list, number] = [0; 2].map(|_| self.unique_name());
        let (n, m) = (self.random.below(4), self.random.below(4));
        let [a, b, c] = values;
        let is_mutable = self.random.chance(30);
        let (text, binds_number) = match self.random.below(4) {
            0 => (format!("let (({n}, {list}, _) | (_, _, {list})) = ({p}, {a}, {b});"), false),
            1 => (format!("let (({n}, _, {list}, ..) | (_, {m}.., _, {list}, _) | (.., {list})) = ({p}, {q}, {a}, {b}, {c});"), false),
            2 => (
                format!(
                    "let (({number}, {n} | {m}, {list}, _) | ({n}, {number}, _, {list}) | (_, {number}, {list}, _)) = ({p}, {q}, {a}, {b});"
                ),
                true,
            ),
            _ => (format!("let ((0 | {n}, ({number}, {list}), _) | (_, _, ({list}, {number}))) = ({p}, ({q}, {a}), ({b}, {p}));"), true),
        };
        let text = if is_mutable {
            text.replace(&format!("{list},"), &format!("mut {list},")).replace(&format!("{list})"), &format!("mut {list})"))
        } else {
            text
        };
        self.bind(&list, Ty::Array(ty, len), is_mutable);
        if binds_number {
            self.bind(&number, Ty::Scalar(Scalar::U32), false);
        }
        let read = self.read_anywhere(&list, ty, len);
        Node::line(text + &read)
    }

    /// Reads an element by an index that is not known, for which the array lies in memory.
    fn read_anywhere(&mut self, list: &str, ty: Scalar, len: usize) -> String {
        if len == 0 || self.random.chance(25) {
            return String::new();
        }
        let (read, index) = (self.unique_name(), self.expr(Scalar::U32, 1));
        self.bind(&read, Ty::Scalar(ty), false);
        format!(" let {read} = {list}[({index}) as usize % {len}];")
    }

    /// Either part of one array, which has as many elements.
    fn part_of_alternatives(&mut self) -> Node {
        self.hit("pattern.alternatives_of_arrays");
        self.hit("pattern.named_rest");
        let ty = self.random.pick(&Scalar::INTEGERS);
        let len = 3 + self.random.below(3);
        let value = self.small_array(ty, len);
        let [rest, end] = [0; 2].map(|_| self.unique_name());
        let (n, m) = (self.random.below(4), self.random.below(8));
        let (pattern, count, has_end) = match self.random.below(4) {
            0 => (format!("[{n}, {rest} @ ..] | [{rest} @ .., _]"), len - 1, false),
            1 => (format!("[{rest} @ .., {n} | {m}] | [{m}, {rest} @ ..] | [_, {rest} @ ..]"), len - 1, false),
            2 => (format!("[{n}, {end}, {rest} @ ..] | [{rest} @ .., {end}, (..={m})] | [_, {rest} @ .., {end}]"), len - 2, true),
            _ => (format!("[{end}, {rest} @ .., ({m}..)] | [{rest} @ .., {n}, {end}] | [{end}, _, {rest} @ ..]"), len - 2, true),
        };
        self.bind(&rest, Ty::Array(ty, count), false);
        if has_end {
            self.bind(&end, Ty::Scalar(ty), false);
        }
        let read = self.read_anywhere(&rest, ty, count);
        Node::line(format!("let ({pattern}) = {value};{read}"))
    }

    fn if_let_rest(&mut self, nesting: usize) -> Node {
        self.hit("if_let");
        self.hit("if_let.named_rest");
        let ty = self.random.pick(&Scalar::INTEGERS);
        let len = 2 + self.random.below(3);
        let value = self.small_array(ty, len);
        let rest = self.unique_name();
        let (n, m) = (self.random.below(4), self.random.below(8));
        let pattern = match self.random.below(3) {
            0 => format!("[{n} | {m}, {rest} @ ..]"),
            1 => format!("[{rest} @ .., {n}]"),
            _ => {
                self.hit("pattern.alternatives_of_arrays");
                format!("[{n}, {rest} @ ..] | [{rest} @ .., ({m}..)]")
            }
        };
        let body = self.scoped(|g| {
            g.bind(&rest, Ty::Array(ty, len - 1), false);
            g.inner(nesting)
        });
        let otherwise = if self.random.chance(50) { self.inner(nesting) } else { Vec::new() };
        Node::Block { head: format!("if let {pattern} = {value}"), annotations: Vec::new(), body, otherwise, end: String::new() }
    }

    fn match_of_slices(&mut self) -> Node {
        self.hit("match.named_rest");
        let ty = self.random.pick(&Scalar::INTEGERS);
        let result = self.random.pick(&Scalar::ALL);
        let len = 3 + self.random.below(2);
        let value = self.small_array(ty, len);
        let [part, name] = [0; 2].map(|_| self.unique_name());
        let (n, m) = (self.random.below(4), self.random.below(8));
        let mut arm = |pattern: String, count: usize| {
            let value = self.scoped(|g| {
                g.bind_array(&part, ty, count, false);
                g.expr(result, 2)
            });
            format!("{pattern} => {value}")
        };
        let arms = [
            arm(format!("[{n}..={}, {part} @ ..] if {part}[0] % 2 == 0", n + 2), len - 1),
            arm(format!("[.., {m}] | [{m}, ..]"), 0),
            arm(format!("[{part} @ .., 3 | {n}] | [({m}..), {part} @ ..]"), len - 1),
            arm(format!("[{n}, {part} @ .., _] | [_, {part} @ .., _]"), len - 2),
        ];
        self.hit("pattern.alternatives_of_arrays");
        self.bind(&name, Ty::Scalar(result), false);
        Node::line(format!("let {name} = match {value} {{ {} }};", arms.join(", ")))
    }

    /// A device function whose parameters are patterns.
    pub(super) fn taking_parts(&mut self) {
        self.hit("device_function.named_rest");
        let name = format!("{}{}", self.random.pick(FUNCTIONS), self.functions.len());
        let ty = self.random.pick(&Scalar::INTEGERS);
        let (t, n) = (ty.name(), self.random.below(8));
        let (pattern, len) = match self.random.below(3) {
            0 => ("[first_, rest_ @ .., last_]".to_owned(), 4),
            1 => (format!("([{n}, rest_ @ .., first_, last_] | [first_, last_, rest_ @ .., _])"), 5),
            _ => (format!("([rest_ @ .., first_, last_ @ ({n}..)] | [last_, first_, rest_ @ ..])"), 4),
        };
        self.items.push(format!(
            "#[device]\npub fn {name}_parts({pattern}: [{t}; {len}], by: {t}) -> {t} {{\n    let mut s = first_ * 3 + last_ * by;\n    for k in 0..rest_.len() {{\n        s = s * 5 + rest_[k];\n    }}\n    s\n}}\n#[device]\npub fn {name}(a: {t}, b: {t}) -> {t} {{\n    {name}_parts([{}], b)\n}}\n",
            ["a & 7", "b & 7", "a", "b & 3", "a + b"][..len].join(", "),
        ));
        self.functions.push(Function { name, parameters: vec![ty, ty], result: ty, turbofish: String::new(), given: Vec::new() });
    }
}
