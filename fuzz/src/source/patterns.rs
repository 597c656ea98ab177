//! Statements that bind by patterns which may not fit, or that bind later: `if let`, `while let`, `let … else`, blocks with labels, assignments to several places.

use super::scope::{Generator, Ty, Variable};
use super::tree::Node;
use super::types::Scalar;

impl Generator<'_> {
    /// One of them.
    pub(super) fn pattern_statement(&mut self, nesting: usize) -> Node {
        match self.random.below(16) {
            0 if nesting > 0 => self.if_let(nesting),
            1 if nesting > 0 => self.while_let(nesting),
            2 if nesting > 0 => self.labelled_block(nesting),
            3 => self.let_else(),
            4 => self.deferred(),
            5 => self.exchanged(),
            6 => self.whole_and_parts(),
            7 => self.nested_pattern(),
            8 => self.claim(),
            9 => self.changed_struct(),
            10 => self.updated_struct(),
            12.. => self.slice_statement(nesting),
            _ => self.fence(),
        }
    }

    /// An integer that is often small, and patterns that fit some of them.
    fn small_integer(&mut self) -> (Scalar, String, String) {
        let ty = self.random.pick(&Scalar::INTEGERS);
        let of = format!("({} & 127)", self.expr(ty, 1));
        let (a, b) = (self.random.below(60), 60 + self.random.below(68));
        let pattern = match self.random.below(4) {
            0 => {
                self.hit("pattern.half_open");
                format!("{a}..{b}")
            }
            1 => {
                self.hit("pattern.up_to");
                format!("..={b}")
            }
            2 => format!("({a} | {b} | {})", a + 1),
            _ => format!("{a}..={b}"),
        };
        (ty, of, pattern)
    }

    fn if_let(&mut self, nesting: usize) -> Node {
        self.hit("if_let");
        let (ty, of, pattern) = self.small_integer();
        let name = self.unique_name();
        let condition = if self.random.chance(30) {
            self.hit("if_let.chain");
            format!(" && {name} % 3 != 1")
        } else {
            String::new()
        };
        let body = self.scoped(|g| {
            g.bind(&name, Ty::Scalar(ty), false);
            g.inner(nesting)
        });
        let otherwise = if self.random.chance(50) { self.inner(nesting) } else { Vec::new() };
        let head = if self.random.chance(30) && condition.is_empty() {
            self.hit("pattern.alternatives_that_bind");
            let (n, m) = (self.random.below(4), self.random.below(60));
            format!("if let ({n}, {name}) | ({name}, {m}..) = ({of} & 7, {of})")
        } else {
            format!("if let {name} @ {pattern} = {of}{condition}")
        };
        Node::Block { head, annotations: Vec::new(), body, otherwise, end: String::new() }
    }

    fn while_let(&mut self, nesting: usize) -> Node {
        let turns = 1 + self.random.below(4);
        if self.turns < turns {
            return self.statement(0);
        }
        self.hit("while_let");
        self.turns /= turns;
        let counter = self.unique_name();
        let body = self.scoped(|g| {
            g.loops.push(None);
            let mut body = vec![Node::line(format!("{counter} += 1;"))];
            g.bind(&counter, Ty::Scalar(Scalar::U8), false);
            body.extend(g.statements(2, nesting.saturating_sub(1)));
            body.push(g.kept());
            g.loops.pop();
            body
        });
        self.turns *= turns;
        let inner = Node::block(format!("while let 0..{turns} = {counter}"), body);
        Node::block(String::new(), vec![Node::line(format!("let mut {counter} = 0u8;")), inner])
    }

    /// A block with a value, which it has early under a condition.
    fn labelled_block(&mut self, nesting: usize) -> Node {
        self.hit("block.label");
        let ty = self.random.pick(&Scalar::ALL);
        let (name, label) = (self.name(), format!("'{}", self.unique_name()));
        let body = self.scoped(|g| {
            // Within it, `break` and `continue` of loops around would have to name them.
            g.valued += 1;
            let mut body = g.statements(2, nesting.saturating_sub(1));
            let condition = g.expr(Scalar::Bool, 1);
            let early = g.expr(ty, 1);
            body.push(Node::block(format!("if {condition}"), vec![Node::line(format!("break {label} {early};"))]));
            body.extend(g.statements(1, 0));
            body.push(Node::line(g.expr(ty, 2)));
            g.valued -= 1;
            body
        });
        self.bind(&name, Ty::Scalar(ty), true);
        let head = format!("let mut {name}: {} = {label}:", ty.name());
        Node::Block { head, annotations: Vec::new(), body, otherwise: Vec::new(), end: ";".to_owned() }
    }

    /// What leaves where a pattern does not fit. Nothing, if nothing may.
    fn way_out(&mut self) -> Option<&'static str> {
        if self.valued > 0 {
            return None;
        }
        if self.loops.is_empty() {
            return self.may_return.then_some("return;");
        }
        self.jumps += 1;
        Some(self.random.pick(&["continue;", "break;"]))
    }

    fn let_else(&mut self) -> Node {
        let Some(way_out) = self.way_out() else { return self.deferred() };
        self.hit("let_else");
        let (ty, of, pattern) = self.small_integer();
        let name = self.unique_name();
        self.bind(&name, Ty::Scalar(ty), false);
        Node::line(format!("let {name} @ {pattern} = {of} else {{ {way_out} }};"))
    }

    /// A variable that gets its value later.
    fn deferred(&mut self) -> Node {
        self.hit("let.deferred");
        let ty = self.random.pick(&Scalar::ALL);
        let condition = self.expr(Scalar::Bool, 1);
        let (a, b) = (self.expr(ty, 2), self.expr(ty, 1));
        let name = self.unique_name();
        self.bind(&name, Ty::Scalar(ty), false);
        let declared = if self.random.chance(50) { format!(": {}", ty.name()) } else { String::new() };
        Node::line(format!("let {name}{declared}; if {condition} {{ {name} = {a}; }} else {{ {name} = {b}; }}"))
    }

    /// Variables of one type that are assigned at once.
    fn exchanged(&mut self) -> Node {
        let scalars: Vec<Variable> = self.variables.iter().filter(|v| v.is_mutable && matches!(v.ty, Ty::Scalar(_))).cloned().collect();
        for first in &scalars {
            let Some(second) = scalars.iter().find(|other| other.ty == first.ty && other.name != first.name) else { continue };
            let Ty::Scalar(ty) = first.ty else { continue };
            self.hit("assign.pattern");
            self.changes_floats |= ty.is_float();
            let (a, b) = (&first.name, &second.name);
            return Node::line(match self.random.below(4) {
                0 => format!("({a}, {b}) = ({b}, {a});"),
                1 => format!("({a}, {b}) = ({b}, {});", self.expr(ty, 2)),
                2 => format!("[{a}, {b}] = [{b}, {}];", self.expr(ty, 2)),
                _ => format!("(_, {a}) = ({b}, {});", self.expr(ty, 2)),
            });
        }
        self.whole_and_parts()
    }

    fn whole_and_parts(&mut self) -> Node {
        self.hit("pattern.at");
        let types = [0; 2].map(|_| self.random.pick(&Scalar::ALL));
        let value = self.aggregate(&Ty::Tuple(types.to_vec()), 1);
        let [whole, first, second] = [0; 3].map(|_| self.unique_name());
        self.bind(&whole, Ty::Tuple(types.to_vec()), false);
        self.bind(&first, Ty::Scalar(types[0]), false);
        self.bind(&second, Ty::Scalar(types[1]), true);
        Node::line(format!("let {whole} @ ({first}, mut {second}) = {value};"))
    }

    fn nested_pattern(&mut self) -> Node {
        self.hit("pattern.nested");
        self.hit("pattern.rest");
        let ty = self.random.pick(&Scalar::ALL);
        let names: [String; 4] = [0; 4].map(|_| self.unique_name());
        let list = self.aggregate(&Ty::Array(ty, 4), 1);
        let (p, q, r) = (self.expr(ty, 1), self.expr(Scalar::U32, 1), self.expr(Scalar::I16, 1));
        let [a, b, c, d] = &names;
        let text = match self.random.below(3) {
            0 => format!("let ({a}, ({b}, _), [{c}, .., {d}]) = ({q}, ({p}, {r}), {list});"),
            1 => format!("let (({a}, ..), {b}, [_, {c}, {d}, ..]) = (({q}, {r}, true), {p}, {list});"),
            _ => format!("let ({a}, .., [.., {b}]) = ({q}, {r}, {list}); let [{c}, {d}] = [{b}, {p}];"),
        };
        self.bind(a, Ty::Scalar(Scalar::U32), false);
        [b, c, d].into_iter().for_each(|name| self.bind(name, Ty::Scalar(ty), false));
        Node::line(text)
    }

    /// What always holds, and what never happens.
    fn claim(&mut self) -> Node {
        let place = self.place(Scalar::U32, false).unwrap_or_else(|| "3u32".to_owned());
        match self.random.below(6) {
            0 => {
                self.hit("assert");
                Node::line(format!("assert!({place} % 8 < 8, \"{{}} is too much\", {place});"))
            }
            1 => {
                self.hit("debug_assert");
                Node::line(format!("debug_assert!(({place} >> 31) <= 1);"))
            }
            2 => {
                self.hit("assert_eq");
                Node::line(format!("assert_eq!({place} ^ {place}, 0);"))
            }
            3 => {
                self.hit("assert_ne");
                Node::line(format!("assert_ne!({place} & 3, 4, \"never\");"))
            }
            4 => {
                self.hit("panic");
                Node::line(format!("if {place} % 5 == 7 {{ panic!(\"this cannot be: {{}}\", {place}); }}"))
            }
            _ => {
                self.hit("unreachable");
                let name = self.unique_name();
                let values = [0; 3].map(|_| self.expr(Scalar::U32, 1));
                self.bind(&name, Ty::Scalar(Scalar::U32), false);
                let [a, b, c] = values;
                Node::line(format!("let {name} = match {place} % 3 {{ 0 => {a}, 1 => {b}, 2 => {c}, _ => unreachable!() }};"))
            }
        }
    }

    /// A struct that a method changes.
    fn changed_struct(&mut self) -> Node {
        let has_methods = |g: &Self, v: &Variable| matches!(v.ty, Ty::Struct(id) if g.structs[id].has_methods);
        let all: Vec<Variable> = self.variables.iter().filter(|v| has_methods(self, v)).cloned().collect();
        if all.is_empty() {
            return self.deferred();
        }
        let of = all[self.random.below(all.len())].clone();
        let value = self.expr(Scalar::U32, 1);
        let name = self.unique_name();
        self.changes_floats = true;
        if of.is_mutable && self.random.chance(60) {
            self.hit("struct.change");
            self.bind(&name, Ty::Scalar(Scalar::U32), false);
            return Node::line(format!("let {name} = {}.change({value});", of.name));
        }
        self.hit("struct.turned");
        self.bind(&name, of.ty, true);
        Node::line(format!("let mut {name} = {}.turned({value});", of.name))
    }

    /// A struct made of another, but for one field.
    fn updated_struct(&mut self) -> Node {
        let all: Vec<Variable> = self.variables.iter().filter(|v| matches!(v.ty, Ty::Struct(_))).cloned().collect();
        if all.is_empty() {
            return self.nested_pattern();
        }
        let of = all[self.random.below(all.len())].clone();
        let Ty::Struct(id) = of.ty else { return self.nested_pattern() };
        let item = self.structs[id].clone();
        let (field, ty) = item.fields[self.random.below(item.fields.len())].clone();
        let name = self.unique_name();
        if self.random.chance(40) {
            self.hit("pattern.struct_rest");
            self.bind(&name, ty, false);
            return Node::line(format!("let {} {{ {field}: {name}, .. }} = {};", item.name, of.name));
        }
        self.hit("struct.update");
        let value = self.aggregate(&ty, 1);
        self.bind(&name, of.ty, true);
        Node::line(format!("let mut {name} = {} {{ {field}: {value}, ..{} }};", item.name, of.name))
    }

    fn fence(&mut self) -> Node {
        let fence = self.random.pick(&[
            "fence_block",
            "fence_device",
            "fence_system",
            "fence_block_seq_cst",
            "fence_device_seq_cst",
            "fence_system_seq_cst",
        ]);
        if !self.has_threads {
            return self.let_number();
        }
        self.hit(fence);
        Node::line(format!("{fence}();"))
    }
}
