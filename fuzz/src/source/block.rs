//! What all threads of a block do together: shared arrays between barriers, votes, sums and scans of the block.

use super::expressions::zero;
use super::scope::{Generator, Ty};
use super::tree::Node;
use super::types::Scalar;

/// The shape of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) threads: usize,
}

impl Generator<'_> {
    /// Statements that every thread of the block comes to.
    pub(super) fn together(&mut self, shape: Shape, nesting: usize) -> Vec<Node> {
        match self.random.below(11) {
            9 if shape.threads.is_multiple_of(32) => self.warps_apart(),
            10 => self.exchange_of_aggregates(shape),
            0..=2 => vec![self.statement(2)],
            3 => self.exchange(shape),
            4 => self.block_call(),
            5 if shape.threads.is_multiple_of(32) => self.warp_call(),
            6 => self.atomic(shape),
            7 if nesting > 0 => self.uniform_loop(shape, nesting),
            8 if nesting > 0 => self.uniform_branch(shape, nesting),
            _ => self.warp_reduction(),
        }
    }

    fn all_together(&mut self, shape: Shape, nesting: usize) -> Vec<Node> {
        self.scoped(|g| (0..1 + g.random.below(2)).flat_map(|_| g.together(shape, nesting - 1)).collect())
    }

    fn uniform_loop(&mut self, shape: Shape, nesting: usize) -> Vec<Node> {
        let n = 1 + self.random.below(3);
        if self.turns < n {
            return vec![self.statement(0)];
        }
        self.hit("barrier.in_loop");
        self.turns /= n;
        let counter = self.unique_name();
        self.counters.push((counter.clone(), n));
        let body = self.all_together(shape, nesting);
        self.counters.pop();
        self.turns *= n;
        let annotations =
            if self.random.chance(40) { vec![self.random.pick(&["unroll", "unroll(2)", "unroll(1)"]).to_owned()] } else { Vec::new() };
        vec![Node::Block { head: format!("for {counter} in 0..{n}usize"), annotations, body, otherwise: Vec::new(), end: String::new() }]
    }

    fn uniform_branch(&mut self, shape: Shape, nesting: usize) -> Vec<Node> {
        let Some(value) = self.uniform_value(Scalar::U32) else { return self.exchange(shape) };
        self.hit("barrier.under_condition");
        let body = self.all_together(shape, nesting);
        let otherwise = if self.random.chance(50) { self.all_together(shape, nesting) } else { Vec::new() };
        let head = format!("if {value} % 3 {} 1", self.random.pick(&["==", "!="]));
        vec![Node::Block { head, annotations: Vec::new(), body, otherwise, end: String::new() }]
    }

    /// Each thread writes an element, and behind a barrier reads those of others.
    fn exchange(&mut self, shape: Shape) -> Vec<Node> {
        self.hit("shared");
        self.hit("sync_threads");
        let ty = self.random.pick(&Scalar::ALL);
        let tile = self.unique_name();
        let (threads, t) = (shape.threads, self.own.1.clone());
        let value = self.expr(ty, 2);
        let rows = threads / 8;
        let is_grid = threads % 64 == 0 && self.random.chance(50);
        let mut nodes = Vec::new();
        if is_grid {
            let (annotation, feature) = match self.random.below(4) {
                0 => ("#[shared]", "shared.of_rows"),
                1 => ("#[shared(pad = 1)]", "annotation.pad"),
                2 => ("#[shared(swizzle)]", "annotation.swizzle"),
                _ if ty.bytes() == 4 && ty != Scalar::Bool => ("#[shared(swizzle = 32)]", "annotation.swizzle_bytes"),
                _ => ("#[shared(pad = 2)]", "annotation.pad"),
            };
            self.hit(feature);
            nodes.push(Node::line(annotation));
            nodes.push(Node::line(format!("let mut {tile}: [[{}; 8]; {rows}];", ty.name())));
            nodes.push(Node::line(format!("{tile}[{t} / 8][{t} % 8] = {value};")));
        } else {
            nodes.push(Node::line("#[shared]"));
            nodes.push(Node::line(format!("let mut {tile}: [{}; {threads}];", ty.name())));
            nodes.push(Node::line(format!("{tile}[{t}] = {value};")));
        }
        nodes.push(Node::line("sync_threads();"));
        for _ in 0..1 + self.random.below(2) {
            let index = self.shared_index(threads);
            let read = if !is_grid && ty != Scalar::Bool && threads.is_multiple_of(16) && self.random.chance(25) {
                self.hit("load.vector_of_shared");
                let n = self.random.pick(&[2usize, 4]).min(16 / ty.bytes());
                format!("{tile}.load::<{n}>(({index}) / {n} * {n})[{}]", self.random.below(n))
            } else if !is_grid && self.random.chance(25) {
                self.hit("device_function.shared");
                let reader = format!("reader_{}", self.unique_name());
                let t = ty.name();
                self.items.push(format!(
                    "#[device]\npub fn {reader}(line: &[{t}; {threads}], at: usize) -> {t} {{\n    if at % 2 == 0 {{ line[at] }} else {{ line[line.len() - at] }}\n}}\n"
                ));
                format!("{reader}(&{tile}, {index})")
            } else if is_grid {
                format!("{tile}[({index}) / 8][({index}) % 8]")
            } else {
                format!("{tile}[{index}]")
            };
            let name = self.name();
            self.bind(&name, Ty::Scalar(ty), self.jumps.is_multiple_of(2));
            let mutable = if self.jumps.is_multiple_of(2) { "mut " } else { "" };
            nodes.push(Node::line(format!("let {mutable}{name} = {read};")));
        }
        nodes.push(Node::line("sync_threads();"));
        nodes
    }

    /// The same of structs, tuples and arrays.
    fn exchange_of_aggregates(&mut self, shape: Shape) -> Vec<Node> {
        self.hit("shared.of_aggregates");
        let ty = self.aggregate_type();
        let value = self.aggregate(&ty, 1);
        let (tile, t, threads) = (self.unique_name(), self.own.1.clone(), shape.threads);
        let index = self.shared_index(threads);
        let (name, is_mutable) = (self.name(), self.random.chance(50));
        let mutable = if is_mutable { "mut " } else { "" };
        let element = self.type_name(&ty);
        self.bind(&name, ty, is_mutable);
        [
            "#[shared]".to_owned(),
            format!("let mut {tile}: [{element}; {threads}];"),
            format!("{tile}[{t}] = {value};"),
            "sync_threads();".to_owned(),
            format!("let {mutable}{name} = {tile}[{index}];"),
            "sync_threads();".to_owned(),
        ]
        .map(Node::line)
        .to_vec()
    }

    fn shared_index(&mut self, threads: usize) -> String {
        let t = self.own.1.clone();
        match self.random.below(5) {
            0 => format!("{} - {t}", threads - 1),
            1 => format!("({t} + {}) % {threads}", 1 + self.random.below(threads)),
            2 => self.random.below(threads).to_string(),
            3 => format!("({t} * {}) % {threads}", 3 + 2 * self.random.below(5)),
            _ => format!("({} as usize) % {threads}", self.expr(Scalar::U8, 1)),
        }
    }

    fn block_call(&mut self) -> Vec<Node> {
        let name = self.name();
        let is_float = self.random.chance(30);
        let ty = if is_float { self.random.pick(&Scalar::FLOATS) } else { self.random.pick(&Scalar::INTEGERS) };
        let condition = self.expr(Scalar::Bool, 1);
        let value = self.expr(ty, 1);
        let (call, ty) = match self.random.below(11) {
            0 => (self.calling("sync_threads_count", &condition), Scalar::U32),
            1 => (self.calling("sync_threads_and", &condition), Scalar::Bool),
            2 => (self.calling("sync_threads_or", &condition), Scalar::Bool),
            3 => {
                let call = self.calling_of("block_exclusive_sum_and_total", ty, &value);
                self.bind(&name, Ty::Tuple(vec![ty, ty]), false);
                return vec![Node::line(format!("let {name} = {call};"))];
            }
            kind => {
                let function = [
                    "block_sum",
                    "block_min",
                    "block_max",
                    "block_inclusive_sum",
                    "block_inclusive_min",
                    "block_inclusive_max",
                    "block_exclusive_sum",
                ][kind - 4];
                match function {
                    // Every device adds floats in one order.
                    "block_sum" if is_float => self.hit("block_sum.float"),
                    "block_inclusive_sum" if is_float => self.hit("block_inclusive_sum.float"),
                    _ => {}
                }
                (self.reducing(function, ty, &value), ty)
            }
        };
        self.bind(&name, Ty::Scalar(ty), false);
        vec![Node::line(format!("let {name} = {call};"))]
    }

    /// A call by name, which is a feature by itself.
    pub(super) fn calling(&mut self, function: &'static str, argument: &str) -> String {
        self.hit(function);
        format!("{function}({argument})")
    }

    /// The same of a function that is there for several types.
    pub(super) fn calling_of(&mut self, function: &'static str, ty: Scalar, arguments: &str) -> String {
        self.called(function, ty.name());
        self.calling(function, arguments)
    }

    /// A sum, a least or a greatest value. Which of two zeros is the least one no device says: floats have one of them.
    pub(super) fn reducing(&mut self, function: &'static str, ty: Scalar, value: &str) -> String {
        let call = self.calling_of(function, ty, value);
        if ty.is_float() && !function.ends_with("sum") { format!("({call} + {})", zero(ty)) } else { call }
    }
}
