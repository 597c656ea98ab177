//! Kernels of threads that each compute words of their own: alone, or together with those of their block.

use super::block::Shape;
use super::kernel::{Generic, Kernel, Passed};
use super::scope::{Generator, Ty, Variable};
use super::tree::Node;
use super::types::Scalar;
use crate::random::Random;
use std::collections::BTreeSet;

/// Words that each thread has.
pub(super) const WORDS: usize = 8;
/// How often a statement may be run at most.
const TURNS: usize = 48;

pub(super) fn generator(random: &mut Random) -> Generator<'_> {
    Generator {
        random,
        hits: BTreeSet::new(),
        calls: BTreeSet::new(),
        variables: Vec::new(),
        inputs: Vec::new(),
        records: Vec::new(),
        matrices: Vec::new(),
        textures: Vec::new(),
        structs: Vec::new(),
        enums: Vec::new(),
        functions: Vec::new(),
        uniform: Vec::new(),
        items: Vec::new(),
        turns: TURNS,
        loops: Vec::new(),
        is_arithmetic: false,
        may_approximate: false,
        is_approximate: false,
        changes_floats: false,
        has_threads: false,
        own: (String::new(), String::new()),
        reserved: BTreeSet::new(),
        counters: Vec::new(),
        indices: Vec::new(),
        putter: None,
        own_words: None,
        sums: None,
        valued: 0,
        may_return: false,
        jumps: 0,
        fresh: 0,
    }
}

/// Which threads know of each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Each is alone, and may end early.
    Alone,
    /// Each has several elements by the kernel's annotations.
    Elements,
    /// Those of a block meet.
    Block,
}

/// A kernel of such threads.
pub(super) fn kernel(random: &mut Random) -> Kernel {
    let family = match random.below(5) {
        0 | 1 => Family::Alone,
        2 => Family::Elements,
        _ => Family::Block,
    };
    let mut g = generator(random);
    g.may_approximate = g.random.chance(8);
    let block = match family {
        Family::Elements => [g.random.pick(&[32, 64]), 1, 1],
        Family::Alone => g.random.pick(&[[32, 1, 1], [8, 1, 1], [8, 4, 1], [4, 2, 2], [33, 1, 1], [1, 1, 1]]),
        Family::Block => g.random.pick(&[[32, 1, 1], [64, 1, 1], [8, 8, 1], [32, 2, 1], [4, 4, 4], [48, 1, 1], [96, 1, 1], [16, 1, 1]]),
    };
    let grid = match family {
        Family::Elements => [8, 1, 1],
        _ => g.random.pick(&[[1, 1, 1], [2, 1, 1], [2, 2, 1], [3, 1, 1]]),
    };
    let threads: usize = block.iter().chain(&grid).map(|extent| *extent as usize).product();
    let mut parameters = g.parameters(threads);
    g.tables();
    g.write_items();
    if g.random.chance(25) {
        g.writer();
    }
    g.whole_parameters(threads, &mut parameters);
    if g.random.chance(5) {
        g.texture_parameter(&mut parameters);
    }
    g.cache_hints(&mut parameters);
    let mut generics = Vec::new();
    if g.random.chance(15) {
        let value = 1 + g.random.below(8);
        generics.push(Generic::Width(value));
        g.hit("kernel.const_generic");
        g.counters.push(("WIDTH".to_owned(), value + 1));
        g.uniform.push(("(WIDTH as u32)".to_owned(), Scalar::U32));
    }
    let in_module = g.random.chance(10);
    if g.random.chance(8) {
        g.hit("kernel.const_bool");
        generics.push(Generic::Flag(g.random.chance(50)));
        g.uniform.push(("FLAG".to_owned(), Scalar::Bool));
    }
    let mut is_generic = false;
    if let Some(parameter) = parameters.iter_mut().filter(|p| p.is_written()).nth(1).filter(|p| p.each == 1 && !p.in_group)
        && matches!(parameter.passed, Passed::Global { .. })
        && g.random.chance(8)
    {
        g.hit("kernel.type_generic");
        generics.push(Generic::Type(parameter.scalar));
        parameter.is_generic = true;
        is_generic = true;
    }
    if in_module {
        g.hit("module");
    }
    if g.random.chance(25) {
        g.reader();
    }
    if g.random.chance(50) {
        g.group_method();
    }
    let words = parameters.iter().find(|p| p.scalar == Scalar::U64 && p.is_written()).map(|p| p.name.clone()).unwrap_or_default();
    let typed = parameters
        .iter()
        .filter(|p| p.is_written())
        .nth(1)
        .map(|p| (if p.in_group { format!("g.{}", p.name) } else { p.name.clone() }, p.scalar));
    let mut body = g.own_numbers(family, block, grid);
    g.has_threads = true;
    g.own_words = Some((words.clone(), WORDS));
    g.may_return = family != Family::Block;
    let shape = Shape { threads: block.iter().map(|extent| *extent as usize).product() };
    let mut inner = g.first_values();
    if family == Family::Elements && g.random.chance(40) {
        inner.push(g.let_quotient());
    }
    for _ in 0..2 + g.random.below(6) {
        match family {
            Family::Block => inner.extend(g.together(shape, 2)),
            _ => inner.push(g.statement(3)),
        }
    }
    inner.extend(g.results(&words, typed, is_generic));
    if family == Family::Block {
        inner.extend(g.warp_that_returns(shape.threads, &words));
    }
    if g.random.chance(1) {
        inner.push(g.printed());
    }
    let guarded = family == Family::Elements || family == Family::Alone && g.random.chance(30);
    if guarded {
        g.hit("guard");
        body.push(Node::block(format!("if {} < {threads}", g.own.0), inner));
    } else {
        body.extend(inner);
    }
    let (options, annotations, elements) = g.options(family);
    let items = g.items.concat();
    let has_free_block = family != Family::Elements && g.random.chance(5);
    if has_free_block {
        g.hit("kernel.free_block");
    }
    let (hits, is_approximate) = (std::mem::take(&mut g.hits), g.is_approximate);
    let mut kernel = Kernel {
        items,
        options,
        annotations,
        elements,
        block,
        grid,
        has_free_block,
        shared_bytes: 0,
        parameters: Vec::new(),
        generics,
        in_module,
        has_clusters: false,
        has_engine: false,
        waits: false,
        body,
        hits,
        calls: std::mem::take(&mut g.calls),
        is_approximate,
        family: match family {
            Family::Alone => "alone",
            Family::Elements => "elements",
            Family::Block => "block",
        },
    };
    kernel.parameters.append(&mut parameters);
    kernel
}

impl Generator<'_> {
    /// Variables that nobody knows before the launch: else most of what follows would fold.
    fn first_values(&mut self) -> Vec<Node> {
        let count = 2 + self.random.below(4);
        (0..count)
            .map(|at| {
                let types: &[Scalar] = if at % 2 == 0 { &Scalar::INTEGERS } else { &Scalar::FLOATS };
                let ty = self.random.pick(types);
                let value = self.load(ty, 0);
                let name = self.name();
                let is_mutable = self.random.chance(50);
                self.bind(&name, Ty::Scalar(ty), is_mutable);
                let mutable = if is_mutable { "mut " } else { "" };
                Node::Let { names: vec![name.clone()], text: format!("let {mutable}{name} = {value};") }
            })
            .collect()
    }

    /// The thread's numbers in the grid and in the block.
    fn own_numbers(&mut self, family: Family, block: [u32; 3], grid: [u32; 3]) -> Vec<Node> {
        let [bx, by, _] = block;
        let per_block: u32 = block.iter().product();
        let name = self.random.pick(&["i", "id", "gid", "get_global_id"]).to_owned();
        self.reserved.insert(name.clone());
        if family == Family::Elements {
            self.own = (name.clone(), name.clone());
            return vec![Node::line(format!("let {name} = global_id().x;"))];
        }
        let local = self.random.pick(&["t", "lid", "ltid", "get_local_id"]).to_owned();
        self.reserved.insert(local.clone());
        self.own = (name.clone(), local.clone());
        if block[1..] == [1, 1] && grid[1..] == [1, 1] {
            return vec![Node::line(format!("let {local} = thread_idx().x;")), Node::line(format!("let {name} = global_id().x;"))];
        }
        self.hit("indices.dimensions");
        vec![
            Node::line("let Dim3 { x: tx_, y: ty_, z: tz_ } = thread_idx();"),
            Node::line(format!("let {local} = (tz_ * {by} + ty_) * {bx} + tx_;")),
            Node::line(format!("let {name} = (block_idx().y * grid_dim().x + block_idx().x) * {per_block} + {local};")),
        ]
    }

    /// All that is in scope goes to the thread's words.
    fn results(&mut self, words: &str, typed: Option<(String, Scalar)>, is_generic: bool) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.sums.is_some() && self.random.chance(70) {
            nodes.extend(self.atomic_on_global());
        }
        let own = self.own.0.clone();
        if let Some((typed, scalar)) = typed {
            let value = self.expr(scalar, 2);
            let value = if scalar.is_float() {
                format!("{{ let c_ = {value}; if c_.is_nan() {{ {}::NAN }} else {{ c_ }} }}", scalar.name())
            } else {
                value
            };
            let value = if is_generic { format!("({value}) as T") } else { value };
            nodes.push(Node::line(format!("{typed}[{own}] = {value};")));
        }
        let all: Vec<Variable> = self.variables.clone();
        let mut slot = 0;
        for variable in all {
            for (text, scalar) in self.parts(&variable) {
                let operator = if slot < WORDS { "=" } else { "^=" };
                nodes.push(Node::line(format!("{words}[{own} * {WORDS} + {}] {operator} {};", slot % WORDS, bits(&text, scalar))));
                slot += 1;
            }
        }
        let numbers: Vec<String> = self.counters.iter().chain(&self.indices).map(|(name, _)| name.clone()).collect();
        for number in numbers {
            nodes.push(Node::line(format!("{words}[{own} * {WORDS} + {}] ^= ({number} as u64);", slot % WORDS)));
            slot += 1;
        }
        nodes
    }

    /// A warp that ends before the others meet once more.
    fn warp_that_returns(&mut self, threads: usize, words: &str) -> Vec<Node> {
        if threads < 64 || !threads.is_multiple_of(32) || !self.random.chance(10) {
            return Vec::new();
        }
        self.hit("return.of_warp");
        // Sums of the block want all of its warps.
        let call = self.random.pick(&["sync_threads_count", "sync_threads_and", "sync_threads_or"]);
        let value = self.expr(Scalar::Bool, 1);
        let own = self.own.0.clone();
        vec![
            Node::block("if warp_id() == 1", vec![Node::line("return;")]),
            Node::line(format!("let last_ = {call}({value});")),
            Node::line(format!("{words}[{own} * {WORDS}] ^= last_ as u64;")),
        ]
    }

    /// A line that begins as the program of twins knows it.
    fn printed(&mut self) -> Node {
        self.hit("print");
        let (a, b, c) = (self.expr(Scalar::U32, 1), self.expr(Scalar::F32, 1), self.expr(Scalar::I64, 1));
        Node::block(format!("if {} == 0", self.own.0), vec![Node::line(format!("println!(\"~ {{}} {{:.3}} {{:?}}\", {a}, {b}, {c});"))])
    }

    /// The scalars of a variable, and what says which others it has.
    fn parts(&self, variable: &Variable) -> Vec<(String, Scalar)> {
        let name = &variable.name;
        let mut parts: Vec<_> = self.leaves(&variable.ty).into_iter().map(|(path, scalar)| (format!("{name}{path}"), scalar)).collect();
        match &variable.ty {
            Ty::Struct(id) => {
                let item = &self.structs[*id];
                if item.has_methods {
                    parts.push((format!("{name}.mixed()"), Scalar::U32));
                }
                for (field, ty) in &item.fields {
                    if let Ty::Enum(id) = ty {
                        parts.push((format!("({name}.{field} as {})", self.enums[*id].repr.name()), self.enums[*id].repr));
                    }
                }
            }
            Ty::Enum(id) => parts.push((format!("({name} as {})", self.enums[*id].repr.name()), self.enums[*id].repr)),
            _ => {}
        }
        parts
    }
}

/// A value as a word, NaNs made one.
pub(super) fn bits(text: &str, scalar: Scalar) -> String {
    match scalar {
        _ if scalar.is_float() => format!("{{ let b_ = {text}; if b_.is_nan() {{ 7 }} else {{ b_.to_bits() as u64 }} }}"),
        Scalar::U64 => text.to_owned(),
        _ => format!("({text} as u64)"),
    }
}
