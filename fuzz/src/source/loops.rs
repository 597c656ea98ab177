//! Loops: ranges of every integer up to the ends of its type, steps, both directions, labels, values; and how they are left.

use super::names::LABELS;
use super::scope::{Generator, Ty};
use super::tree::Node;
use super::types::Scalar;

impl Generator<'_> {
    /// Room for a loop of so many turns.
    fn enter(&mut self, turns: usize) -> bool {
        let enough = self.turns >= turns;
        if enough {
            self.turns /= turns;
        }
        enough
    }

    /// A label for a loop, or none.
    fn label(&mut self) -> Option<&'static str> {
        if !self.random.chance(30) {
            return None;
        }
        let label = self.random.pick(LABELS);
        if self.loops.iter().flatten().any(|outer| *outer == label) {
            return None;
        }
        self.hit("loop.label");
        Some(label)
    }

    /// A `for` over a range of some integer.
    pub(super) fn for_loop(&mut self, nesting: usize) -> Node {
        let (range, ty, turns) = self.range();
        let before = (self.turns, self.changes_floats);
        if !self.enter(turns) {
            return self.statement(0);
        }
        let label = self.label();
        self.changes_floats = false;
        let counter = self.name();
        let (body, counter) = self.scoped(|g| {
            g.loops.push(label);
            let mut body = Vec::new();
            match ty {
                // It is an `isize`, which no variable is.
                Some(Scalar::Bool) => {
                    g.hide(&counter);
                    let name = g.unique_name();
                    let scalar = g.random.pick(&[Scalar::I64, Scalar::I32, Scalar::U64, Scalar::F32]);
                    body.push(Node::line(format!("let {name} = {counter} as {};", scalar.name())));
                    g.bind(&name, Ty::Scalar(scalar), false);
                }
                Some(ty) => g.bind(&counter, Ty::Scalar(ty), false),
                None => {
                    g.hide(&counter);
                    g.counters.push((counter.clone(), turns));
                }
            }
            body.extend(g.statements(4, nesting.saturating_sub(1)));
            body.push(g.kept());
            g.loops.pop();
            (body, counter)
        });
        let annotations = self.loop_annotations(self.changes_floats);
        self.turns = before.0;
        self.changes_floats |= before.1;
        let label = label.map_or(String::new(), |label| format!("{label}: "));
        Node::Block { head: format!("{label}for {counter} in {range}"), annotations, body, otherwise: Vec::new(), end: String::new() }
    }

    /// A range, its type (none for `usize`, `bool` for `isize`), and how many turns it has at most.
    fn range(&mut self) -> (String, Option<Scalar>, usize) {
        let n = 1 + self.random.below(6);
        if self.random.chance(40) {
            self.hit("for.usize");
            return (format!("0..{n}usize"), None, n);
        }
        if self.random.chance(15) {
            self.hit("for.usize_dynamic");
            let ((from, _), (step, _)) = (self.number(1), self.number(1));
            let range = match self.random.below(4) {
                0 => format!("{from} % 4..{n}"),
                1 => format!("({from} % 3..{n}).rev()"),
                2 => format!("({from} % 4..{n}).step_by({step} % 3 + 1)"),
                _ => format!("(0..={from} % {n}).rev()"),
            };
            return (range, None, n);
        }
        if self.random.chance(8) {
            self.hit("for.isize");
            let (low, high) = (self.random.below(4), self.random.below(3));
            let range = self.random.pick(&["(-LOWisize..=HIGH)", "(-LOWisize..HIGH + 1).rev()", "(-LOWisize..=HIGH).step_by(2)"]);
            return (range.replace("LOW", &low.to_string()).replace("HIGH", &high.to_string()), Some(Scalar::Bool), low + high + 1);
        }
        let ty = self.random.pick(&Scalar::INTEGERS);
        let name = ty.name();
        let k = 1 + self.random.below(5);
        match self.random.below(10) {
            0 => {
                self.hit("for.range");
                (format!("{}{name}..{}", k, k + n), Some(ty), n)
            }
            1 => {
                self.hit("for.to_max");
                (format!("({name}::MAX - {})..={name}::MAX", n - 1), Some(ty), n)
            }
            2 => {
                self.hit("for.from_min");
                (format!("{name}::MIN..={name}::MIN + {}", n - 1), Some(ty), n)
            }
            3 => {
                self.hit("for.rev");
                (format!("({name}::MAX - {}..={name}::MAX).rev()", n - 1), Some(ty), n)
            }
            4 => {
                self.hit("for.step_by");
                (format!("({name}::MAX - {}..={name}::MAX).step_by({k})", n * k), Some(ty), n + 1)
            }
            5 => {
                self.hit("for.rev_step_by");
                (format!("({name}::MIN..{name}::MIN + {}).rev().step_by({k})", n * k), Some(ty), n)
            }
            6 => {
                self.hit("for.whole_type");
                let ty = self.random.pick(&[Scalar::U8, Scalar::I8]);
                let by = 40 + self.random.below(90);
                let rev = if self.random.chance(30) { ".rev()" } else { "" };
                (format!("({0}::MIN..={0}::MAX){rev}.step_by({by})", ty.name()), Some(ty), 7)
            }
            7 => {
                self.hit("for.step_rev");
                let ty = self.random.pick(&[Scalar::U8, Scalar::U16, Scalar::U32]);
                (format!("(0{}..{}).step_by({k}).rev()", ty.name(), n * k), Some(ty), n)
            }
            8 => {
                self.hit("for.empty");
                let (a, b) = (self.random.below(5), self.random.below(5));
                (format!("{a}{name}..{b}"), Some(ty), 5)
            }
            _ => {
                self.hit("for.dynamic");
                let bound = self.expr(ty, 1);
                if self.random.chance(50) {
                    (format!("0{name}..({bound} & {})", n.next_power_of_two() - 1), Some(ty), n.next_power_of_two())
                } else {
                    (format!("0{name}..=({bound} & 3)"), Some(ty), 4)
                }
            }
        }
    }

    /// A `while` that ends of itself.
    pub(super) fn while_loop(&mut self, nesting: usize) -> Node {
        let before = self.turns;
        let n = 1 + self.random.below(5);
        if !self.enter(n) {
            return self.statement(0);
        }
        self.hit("while");
        let label = self.label();
        let counter = self.unique_name();
        let condition = if self.random.chance(60) { format!(" && {}", self.expr(Scalar::Bool, 1)) } else { String::new() };
        let body = self.scoped(|g| {
            g.loops.push(label);
            let mut body = vec![Node::line(format!("{counter} += 1;"))];
            g.bind(&counter, Ty::Scalar(Scalar::U32), false);
            body.extend(g.statements(3, nesting.saturating_sub(1)));
            body.push(g.kept());
            g.loops.pop();
            body
        });
        self.turns = before;
        let label = label.map_or(String::new(), |label| format!("{label}: "));
        let head = format!("{label}while {counter} < {n}{condition}");
        let annotations = if self.random.chance(15) {
            self.hit("while.annotation");
            vec![self.random.pick(&["batch_loads", "unroll(1)"]).to_owned()]
        } else {
            Vec::new()
        };
        let inner = Node::Block { head, annotations, body, otherwise: Vec::new(), end: String::new() };
        Node::block(String::new(), vec![Node::line(format!("let mut {counter} = 0u32;")), inner])
    }

    /// A `loop` whose value is that of its `break`.
    pub(super) fn loop_value(&mut self, nesting: usize) -> Node {
        let before = self.turns;
        let n = 1 + self.random.below(4);
        if !self.enter(n) {
            return self.statement(0);
        }
        self.hit("loop.value");
        let label = self.label();
        let counter = self.unique_name();
        let ty = self.random.pick(&Scalar::ALL);
        let body = self.scoped(|g| {
            // Only `break` with a value leaves it.
            g.loops.push(None);
            g.valued += 1;
            g.bind(&counter, Ty::Scalar(Scalar::U32), false);
            let mut body = vec![Node::line(format!("{counter} += 1;"))];
            let condition = g.expr(Scalar::Bool, 1);
            let value = g.expr(ty, 2);
            let of = label.map_or(String::new(), |label| format!("{label} "));
            body.push(Node::block(format!("if {counter} > {n} || {condition}"), vec![Node::line(format!("break {of}{value};"))]));
            body.extend(g.statements(2, nesting.saturating_sub(1)));
            g.valued -= 1;
            g.loops.pop();
            body
        });
        self.turns = before;
        let name = self.name();
        self.bind(&name, Ty::Scalar(ty), true);
        let label = label.map_or(String::new(), |label| format!("{label}: "));
        let inner = Node::Block { head: format!("{label}loop"), annotations: Vec::new(), body, otherwise: Vec::new(), end: String::new() };
        Node::Block {
            head: format!("let mut {name} ="),
            annotations: Vec::new(),
            body: vec![Node::line(format!("let mut {counter} = 0u32;")), inner],
            otherwise: Vec::new(),
            end: ";".to_owned(),
        }
    }

    /// `break`, `continue`, `return`, each under a condition.
    pub(super) fn jump(&mut self) -> Node {
        let condition = self.expr(Scalar::Bool, 1);
        if self.loops.is_empty() || self.valued > 0 {
            if !self.may_return || !self.random.chance(30) {
                return self.statement(0);
            }
            self.hit("return");
            return Node::block(format!("if {condition}"), vec![Node::line("return;")]);
        }
        let labels: Vec<&'static str> = self.loops.iter().flatten().copied().collect();
        let word = self.random.pick(&["break", "continue"]);
        let target = if !labels.is_empty() && self.random.chance(60) {
            self.hit("jump.label");
            format!(" {}", self.random.pick(&labels))
        } else {
            String::new()
        };
        self.hit(if word == "break" { "break" } else { "continue" });
        self.jumps += 1;
        Node::block(format!("if {condition}"), vec![Node::line(format!("{word}{target};"))])
    }
}
