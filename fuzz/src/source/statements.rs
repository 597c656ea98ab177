//! Statements of one thread: variables, assignments, branches. Loops are in `loops`.

use super::scope::{Generator, Ty};
use super::tree::Node;
use super::types::Scalar;

/// How deep an expression may be.
const DEPTH: usize = 3;

impl Generator<'_> {
    /// Some statements, and what they bind stays bound.
    pub(super) fn statements(&mut self, most: usize, nesting: usize) -> Vec<Node> {
        let count = 1 + self.random.below(most);
        (0..count).map(|_| self.statement(nesting)).collect()
    }

    /// The depth of the next expression: most are shallow.
    pub(super) fn depth(&mut self) -> usize {
        self.random.below(DEPTH + 1)
    }

    pub(super) fn statement(&mut self, nesting: usize) -> Node {
        let block = nesting > 0;
        match self.random.below(26) {
            20 => self.let_number(),
            21 => self.change_number(),
            22 => self.let_record(),
            23 => self.record_store(),
            24 => self.pattern_statement(nesting),
            25 if block => self.own_row_loop(),
            0..=3 => self.let_scalar(),
            4 => self.let_quotient(),
            5 => self.let_aggregate(),
            6..=8 => self.assignment(),
            9 => self.own_store(),
            10 | 11 if block => self.branch(nesting),
            12 if block => self.match_statement(nesting),
            13 | 14 if block => self.for_loop(nesting),
            16 if block => self.while_loop(nesting),
            17 if block => self.loop_value(nesting),
            15 | 18 if block => self.reduction(),
            19 => self.jump(),
            _ => self.let_scalar(),
        }
    }

    fn let_scalar(&mut self) -> Node {
        let ty = self.random.pick(&Scalar::ALL);
        let depth = self.depth();
        let value = self.expr(ty, depth);
        let name = self.name();
        let is_mutable = self.random.chance(60);
        self.hit(if is_mutable { "let.mut" } else { "let" });
        self.bind(&name, Ty::Scalar(ty), is_mutable);
        let mutable = if is_mutable { "mut " } else { "" };
        let annotation = if self.random.chance(30) { format!(": {}", ty.name()) } else { String::new() };
        Node::Let { names: vec![name.clone()], text: format!("let {mutable}{name}{annotation} = {value};") }
    }

    /// A quotient that only some threads compute, often of what is the same for all: nothing may move it out of its condition, and no thread may have another's.
    pub(super) fn let_quotient(&mut self) -> Node {
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .filter(|input| !input.scalar.is_float() && input.scalar != Scalar::Bool && !input.is_pairs)
            .cloned()
            .collect();
        if inputs.is_empty() {
            return self.let_scalar();
        }
        self.hit("quotient.under_condition");
        let input = inputs[self.random.below(inputs.len())].clone();
        let (name, ty) = (&input.name, input.scalar);
        let [a, b] = [0, 1].map(|_| match self.random.chance(70) {
            true => format!("{name}[{}]", self.random.below(input.len)),
            false => self.expr(ty, 1),
        });
        // Of each thread's own, as a rule: of several elements of a thread, some have it and some do not.
        let condition = match self.random.chance(60) {
            // A thread's elements are a multiple of 32 apart, or neighbours.
            true => {
                let turn = self.random.pick(&["% 3", "/ 32 % 2", "% 5 % 2", "% 2"]);
                format!("{} {turn} == {}", self.own.0, self.random.below(2))
            }
            false => self.expr(Scalar::Bool, 2),
        };
        let otherwise = self.leaf(ty);
        let operator = self.random.pick(&["/", "%"]);
        let quotient = format!("({a} {operator} (({b} & 15) + 1))");
        let (first, second) = if self.random.chance(50) { (quotient, otherwise) } else { (otherwise, quotient) };
        let value = match self.random.chance(50) {
            true => format!("if {condition} {{ {first} }} else {{ {second} }}"),
            false => format!("match {condition} {{ true => {first}, false => {second} }}"),
        };
        let name = self.name();
        self.bind(&name, Ty::Scalar(ty), false);
        Node::Let { names: vec![name.clone()], text: format!("let {name} = {value};") }
    }

    fn let_aggregate(&mut self) -> Node {
        let depth = self.depth().min(2);
        let ty = self.aggregate_type();
        let value = self.aggregate(&ty, depth);
        match (&ty, self.random.below(3)) {
            (Ty::Tuple(parts), 0) => {
                self.hit("pattern.tuple");
                let names: Vec<String> = parts.iter().map(|_| self.unique_name()).collect();
                names.iter().zip(parts).for_each(|(name, part)| self.bind(name, Ty::Scalar(*part), false));
                let text = format!("let ({}) = {value};", names.join(", "));
                Node::Let { names, text }
            }
            (Ty::Array(scalar, len), 0) => {
                self.hit("pattern.array");
                let names: Vec<String> = (0..*len).map(|_| self.unique_name()).collect();
                names.iter().for_each(|name| self.bind(name, Ty::Scalar(*scalar), false));
                let text = format!("let [{}] = {value};", names.join(", "));
                Node::Let { names, text }
            }
            (Ty::Struct(id), 0) => {
                self.hit("pattern.struct");
                let item = self.structs[*id].clone();
                let names: Vec<String> = item.fields.iter().map(|_| self.unique_name()).collect();
                let parts: Vec<String> = item.fields.iter().zip(&names).map(|((field, _), name)| format!("{field}: {name}")).collect();
                names.iter().zip(&item.fields).for_each(|(name, (_, ty))| self.bind(name, ty.clone(), false));
                let text = format!("let {} {{ {} }} = {value};", item.name, parts.join(", "));
                Node::Let { names, text }
            }
            _ => {
                let name = self.name();
                let is_mutable = self.random.chance(70);
                let mutable = if is_mutable { "mut " } else { "" };
                self.bind(&name, ty, is_mutable);
                Node::Let { names: vec![name.clone()], text: format!("let {mutable}{name} = {value};") }
            }
        }
    }

    /// A name that no other has.
    pub(super) fn unique_name(&mut self) -> String {
        self.fresh += 1;
        format!("n_{}", self.fresh)
    }

    pub(super) fn aggregate_type(&mut self) -> Ty {
        match self.random.below(7) {
            6 if !self.structs.is_empty() => Ty::List(self.random.below(self.structs.len()), 2),
            0 if !self.structs.is_empty() => Ty::Struct(self.random.below(self.structs.len())),
            1 if !self.enums.is_empty() => Ty::Enum(self.random.below(self.enums.len())),
            2 => Ty::Tuple((0..2 + self.random.below(2)).map(|_| self.random.pick(&Scalar::ALL)).collect()),
            3 => Ty::Grid(self.random.pick(&Scalar::ALL), 2, self.random.pick(&[2, 4])),
            _ => Ty::Array(self.random.pick(&Scalar::ALL), self.random.pick(&[2, 4, 8])),
        }
    }

    /// A value of such a type.
    pub(super) fn aggregate(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Scalar(scalar) => self.expr(*scalar, depth),
            Ty::Tuple(parts) => {
                self.hit("tuple");
                let parts: Vec<String> = parts.iter().map(|part| self.expr(*part, depth)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::List(id, len) => {
                self.hit("array.of_structs");
                let parts: Vec<String> = (0..*len).map(|_| self.aggregate(&Ty::Struct(*id), depth)).collect();
                format!("[{}]", parts.join(", "))
            }
            Ty::Array(scalar, len) => self.array(*scalar, *len, depth),
            Ty::Grid(scalar, rows, columns) => {
                self.hit("array.of_arrays");
                if self.random.chance(30) {
                    return format!("[{}; {rows}]", self.array(*scalar, *columns, depth));
                }
                let rows: Vec<String> = (0..*rows).map(|_| self.array(*scalar, *columns, depth)).collect();
                format!("[{}]", rows.join(", "))
            }
            Ty::Struct(id) => {
                self.hit("struct.value");
                let item = self.structs[*id].clone();
                if item.has_methods && self.random.chance(30) {
                    self.hit("struct.associated_function");
                    return format!("{}::made({})", item.name, self.expr(Scalar::U32, depth));
                }
                let fields: Vec<String> = item.fields.iter().map(|(field, ty)| format!("{field}: {}", self.aggregate(ty, depth))).collect();
                format!("{} {{ {} }}", item.name, fields.join(", "))
            }
            Ty::Enum(id) => {
                self.hit("enum.value");
                let item = self.enums[*id].clone();
                let [a, b] = [0, 1].map(|_| item.variants[self.random.below(item.variants.len())]);
                let condition = self.expr(Scalar::Bool, depth);
                format!("if {condition} {{ {name}::{a} }} else {{ {name}::{b} }}", name = item.name)
            }
        }
    }

    fn array(&mut self, scalar: Scalar, len: usize, depth: usize) -> String {
        if self.random.chance(30) {
            self.hit("array.repeated");
            return format!("[{}; {len}]", self.expr(scalar, depth));
        }
        self.hit("array");
        let values: Vec<String> = (0..len).map(|_| self.expr(scalar, depth.min(1))).collect();
        format!("[{}]", values.join(", "))
    }

    pub(super) fn assignment(&mut self) -> Node {
        let ty = self.random.pick(&Scalar::ALL);
        let depth = self.depth();
        let Some(place) = self.place(ty, true) else { return self.let_scalar() };
        self.changes_floats |= ty.is_float();
        let value = self.expr(ty, depth);
        if ty == Scalar::Bool || self.random.chance(40) {
            self.hit("assign");
            return Node::line(format!("{place} = {value};"));
        }
        self.hit("assign.compound");
        if !ty.is_float() && self.random.chance(15) {
            self.hit("assign.quotient");
            return Node::line(format!("{place} {}= ({value} & 15) + 1;", self.random.pick(&["/", "%"])));
        }
        let operators: &[&str] = if ty.is_float() { &["+", "-", "*", "/", "%"] } else { &["+", "-", "*", "&", "|", "^", "<<", ">>"] };
        let operator = self.random.pick(operators);
        let value = if operator.len() == 2 { format!("{value} & 7") } else { value };
        Node::line(format!("{place} {operator}= {value};"))
    }

    /// A store to one of the thread's own words, which it may read again.
    pub(super) fn own_store(&mut self) -> Node {
        let Some((words, each)) = self.own_words.clone() else { return self.let_scalar() };
        self.hit("store.global");
        let depth = self.depth();
        let at = self.random.below(each);
        let value = self.expr(Scalar::U64, depth);
        if let Some(putter) = self.putter.clone().filter(|_| self.random.chance(40)) {
            self.hit("device_function.put");
            return Node::line(format!("{putter}({words}, {} * {each} + {at}, {value});", self.own.0));
        }
        if self.random.chance(20) {
            return self.own_vector_or_atomic(&words, each, &value);
        }
        match self.random.below(3) {
            0 => Node::line(format!("{words}[{} * {each} + {at}] = {value};", self.own.0)),
            1 => Node::line(format!("{words}[{} * {each} + {at}] ^= {value};", self.own.0)),
            _ => {
                self.hit("load.own");
                let other = self.random.below(each);
                let own = &self.own.0;
                Node::line(format!("{words}[{own} * {each} + {at}] = {words}[{own} * {each} + {other}] + {value};"))
            }
        }
    }

    /// A store of several of the thread's own words, or an atomic one, which nobody meets.
    fn own_vector_or_atomic(&mut self, words: &str, each: usize, value: &str) -> Node {
        let (own, other) = (self.own.0.clone(), self.expr(Scalar::U64, 1));
        let at = self.random.below(each / 2) * 2;
        match self.random.below(3) {
            0 => {
                self.hit("store.vector");
                Node::line(format!("{words}.store::<2>({own} * {each} + {at}, [{value}, {other}]);"))
            }
            1 => {
                self.hit("atomic_store");
                let order = self.random.pick(&["Relaxed", "Release", "SeqCst"]);
                let scope = self.random.pick(&["Block", "Device", "System"]);
                Node::line(format!("{words}.atomic_store({own} * {each} + {at}, {value}, Ordering::{order}, ThreadScope::{scope});"))
            }
            _ => {
                self.hit("atomic_load");
                let name = self.unique_name();
                self.bind(&name, Ty::Scalar(Scalar::U64), false);
                let order = self.random.pick(&["Relaxed", "Acquire", "SeqCst"]);
                Node::line(format!("let {name} = {words}.atomic_load({own} * {each} + {at}, Ordering::{order}, ThreadScope::Device);"))
            }
        }
    }

    /// Statements with variables of their own.
    pub(super) fn inner(&mut self, nesting: usize) -> Vec<Node> {
        self.scoped(|g| {
            let mut nodes = g.statements(3, nesting.saturating_sub(1));
            nodes.push(g.kept());
            nodes
        })
    }

    /// What hands on to the outside what was just computed: an assignment, or a store.
    pub(super) fn kept(&mut self) -> Node {
        if self.random.chance(50) { self.own_store() } else { self.assignment() }
    }

    fn branch(&mut self, nesting: usize) -> Node {
        self.hit("if");
        let depth = self.depth();
        let condition = self.expr(Scalar::Bool, depth);
        let body = self.inner(nesting);
        let otherwise = if self.random.chance(50) { self.inner(nesting) } else { Vec::new() };
        Node::Block { head: format!("if {condition}"), annotations: Vec::new(), body, otherwise, end: String::new() }
    }

    fn match_statement(&mut self, nesting: usize) -> Node {
        self.hit("match.statement");
        let (of, patterns) = self.scrutinee(1);
        let arms = patterns
            .into_iter()
            .map(|(pattern, bound)| {
                self.scoped(|g| {
                    if let Some((name, scalar)) = bound {
                        g.bind(&name, Ty::Scalar(scalar), false);
                    }
                    Node::block(format!("{pattern} =>"), g.inner(nesting.min(2)))
                })
            })
            .collect();
        Node::block(format!("match {of}"), arms)
    }
}
