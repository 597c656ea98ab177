//! Annotations, and loops that annotations are for: sums, searches, element by element.

use super::scope::{Generator, Ty};
use super::tree::Node;
use super::types::Scalar;

impl Generator<'_> {
    /// Annotations for a loop as it comes; most cannot be kept on it.
    pub(super) fn loop_annotations(&mut self, changes_floats: bool) -> Vec<String> {
        if !self.random.chance(35) {
            return Vec::new();
        }
        let annotation = match self.random.below(6) {
            0 => "unroll".to_owned(),
            1 => format!("unroll({})", 2 + self.random.below(3)),
            2 => "unroll(1)".to_owned(),
            3 => "batch_loads".to_owned(),
            4 => "prefetch".to_owned(),
            // The order of float sums is not the plain loop's.
            _ if changes_floats => "unroll".to_owned(),
            _ => format!("ilp({})", 2 + self.random.below(3)),
        };
        self.hit(feature_of(&annotation));
        vec![annotation]
    }

    /// Annotations of a loop that they are made for, in the order in which they apply.
    fn annotations(&mut self, may_ilp: bool) -> Vec<String> {
        let mut all = Vec::new();
        if self.random.chance(40) {
            let aligned = if self.random.chance(30) { ", assume_aligned" } else { "" };
            all.push(format!("vectorize({}{aligned})", self.random.pick(&[2, 4, 8])));
        }
        if may_ilp && self.random.chance(50) {
            all.push(format!("ilp({})", self.random.pick(&[2, 3, 4, 8])));
        }
        if self.random.chance(30) {
            // `unroll(1)` beside those before is an error whatever they say of effort.
            let fitting: &[&str] = if all.is_empty() {
                &["unroll", "unroll(2)", "unroll(4)", "unroll(3)", "unroll(1)"]
            } else {
                &["unroll", "unroll(2)", "unroll(4)", "unroll(3)"]
            };
            all.push(self.random.pick(fitting).to_owned());
        }
        if self.random.chance(30) {
            all.push("prefetch".to_owned());
        }
        if self.random.chance(40) {
            all.push(self.random.pick(&["batch_loads", "batch_loads(assume_disjoint)"]).to_owned());
        }
        all.iter().for_each(|annotation| self.hit(feature_of(annotation)));
        all
    }

    /// A loop over a part of an input that sums, or searches, or maps to the thread's own words.
    pub(super) fn reduction(&mut self) -> Node {
        let inputs: Vec<usize> = (0..self.inputs.len()).filter(|at| self.inputs[*at].is_global && !self.inputs[*at].is_pairs).collect();
        let turns = self.random.pick(&[8usize, 16, 5, 12, 3]);
        if inputs.is_empty() || self.turns < turns || !self.has_threads {
            return self.statement(0);
        }
        let input = self.inputs[self.random.pick(&inputs)].clone();
        let groups = (input.len / 16).max(1);
        let counter = self.unique_name();
        // Aligned rows of 16, as vectors want them; or anything.
        let at = match self.random.below(3) {
            0 | 1 => format!("({} % {groups}) * 16 + {counter}", self.own.0),
            _ => format!("({counter} * {} + {}) % {}", 2 + self.random.below(9), self.own.1, input.len),
        };
        let element = format!("{}[{at}]", input.name);
        match self.random.below(5) {
            4 => self.strided(&input.name, input.len, &counter),
            0 => self.search(&input.scalar, &element, &counter, turns),
            1 if self.own_words.is_some() => self.mapped(input.scalar, &element, &counter, turns),
            _ => self.sum(input.scalar, &element, &counter, turns),
        }
    }

    fn for_of(&mut self, counter: &str, turns: usize, may_ilp: bool, body: Vec<Node>) -> Node {
        let annotations = self.annotations(may_ilp);
        let range = if self.random.chance(30) { format!("0..{turns} - {} % 2", self.own.1) } else { format!("0..{turns}usize") };
        Node::Block { head: format!("for {counter} in {range}"), annotations, body, otherwise: Vec::new(), end: String::new() }
    }

    fn sum(&mut self, scalar: Scalar, element: &str, counter: &str, turns: usize) -> Node {
        self.hit("loop.sum");
        let ty = self.random.pick(&Scalar::INTEGERS);
        let name = self.name();
        let start = self.literal(ty);
        let term = self.scoped(|g| {
            g.turns /= turns;
            g.counters.push((counter.to_owned(), turns));
            let other = g.expr(ty, 1);
            g.counters.pop();
            g.turns *= turns;
            format!("({element} as {}) {} {other}", ty.name(), g.random.pick(&["^", "+", "*", "&"]))
        });
        let term = if scalar == Scalar::Bool { self.literal(ty) } else { term };
        let change = match self.random.below(7) {
            0 => format!("{name} = {name}.min({term});"),
            1 => format!("{name} = {name}.max({term});"),
            n => format!("{name} {}= {term};", ["+", "+", "^", "|", "*"][n - 2]),
        };
        // Names in the term that the sum hides would mean the sum.
        let name_is_used = term.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        let (name, change) = if name_is_used {
            let unique = self.unique_name();
            (unique.clone(), format!("{unique} ^= {term};"))
        } else {
            (name, change)
        };
        let each = self.for_of(counter, turns, true, vec![Node::line(change)]);
        self.bind(&name, Ty::Scalar(ty), true);
        self.hit("block.of_statements");
        Node::Block {
            head: format!("let mut {name} ="),
            annotations: Vec::new(),
            body: vec![Node::line(format!("let mut {name}: {} = {start};", ty.name())), each, Node::line(name)],
            otherwise: Vec::new(),
            end: ";".to_owned(),
        }
    }

    /// A row of elements that are a distance apart that only the launch knows.
    fn strided(&mut self, input: &str, len: usize, counter: &str) -> Node {
        self.hit("loop.strided");
        let Some(value) = self.uniform_value(Scalar::U32) else { return self.statement(0) };
        let [name, stride] = [(); 2].map(|()| self.unique_name());
        let (turns, most) = (2 + self.random.below(4), len / 16);
        let term = format!("{input}[{} % {most} + {counter} * {stride}]", self.own.1);
        let body = vec![Node::line(format!("{name} = {name} * 3 ^ ({term} as u32);"))];
        let annotations = self.random.pick(&["unroll", "unroll(2)", "batch_loads"]).to_owned();
        self.hit(feature_of(&annotations));
        let each = Node::Block {
            head: format!("for {counter} in 0..{turns}usize"),
            annotations: vec![annotations],
            body,
            otherwise: Vec::new(),
            end: String::new(),
        };
        self.bind(&name, Ty::Scalar(Scalar::U32), true);
        Node::Block {
            head: format!("let mut {name} ="),
            annotations: Vec::new(),
            body: vec![
                Node::line(format!("let {stride} = ({value} % {}) as usize;", (len - most) / 6)),
                Node::line(format!("let mut {name} = 1u32;")),
                each,
                Node::line(name),
            ],
            otherwise: Vec::new(),
            end: ";".to_owned(),
        }
    }

    fn search(&mut self, scalar: &Scalar, element: &str, counter: &str, turns: usize) -> Node {
        self.hit("loop.search");
        let [best, place, value] = [(); 3].map(|()| self.unique_name());
        let (start, compare) = match (scalar.is_float(), self.random.chance(50)) {
            (true, true) => (format!("{}::NEG_INFINITY", scalar.name()), ">"),
            (true, false) => (format!("{}::INFINITY", scalar.name()), "<"),
            (false, true) => (format!("{}::MIN", scalar.name()), ">"),
            (false, false) => (format!("{}::MAX", scalar.name()), "<"),
        };
        let compare = if self.random.chance(30) { format!("{compare}=") } else { compare.to_owned() };
        let found = Node::block(
            format!("if {value} {compare} {best}"),
            vec![Node::line(format!("{best} = {value};")), Node::line(format!("{place} = {counter} as u32;"))],
        );
        let body = vec![Node::line(format!("let {value} = {element};")), found];
        let each = self.for_of(counter, turns, true, body);
        self.bind(&place, Ty::Scalar(Scalar::U32), false);
        Node::Block {
            head: format!("let {place} ="),
            annotations: Vec::new(),
            body: vec![
                Node::line(format!("let mut {best} = {start};")),
                Node::line(format!("let mut {place} = 99u32;")),
                each,
                Node::line(place),
            ],
            otherwise: Vec::new(),
            end: ";".to_owned(),
        }
    }

    fn mapped(&mut self, scalar: Scalar, element: &str, counter: &str, turns: usize) -> Node {
        self.hit("loop.map");
        let Some((words, each)) = self.own_words.clone() else { return self.statement(0) };
        let turns = turns.min(each);
        let other = self.scoped(|g| {
            g.counters.push((counter.to_owned(), turns));
            let other = g.expr(Scalar::U64, 1);
            g.counters.pop();
            other
        });
        let value = if scalar == Scalar::U64 { element.to_owned() } else { format!("({element} as u64)") };
        let operator = self.random.pick(&["=", "^=", "+="]);
        let store = Node::line(format!("{words}[{} * {each} + {counter}] {operator} {value} ^ {other};", self.own.0));
        self.for_of(counter, turns, true, vec![store])
    }
}

/// An annotation's row in the table of features.
pub(super) fn feature_of(annotation: &str) -> &'static str {
    const ALL: &[&str] = &["unroll", "ilp", "vectorize", "batch_loads", "prefetch", "pipeline"];
    const NAMES: &[&str] = &[
        "annotation.unroll",
        "annotation.ilp",
        "annotation.vectorize",
        "annotation.batch_loads",
        "annotation.prefetch",
        "annotation.pipeline",
    ];
    let at = ALL.iter().position(|name| annotation.starts_with(name)).unwrap_or(0);
    NAMES[at]
}
