//! Kernels of threads that each compute words of their own: alone, or together with those of their block.

use super::atomics::{EACH, KINDS};
use super::block::Shape;
use super::kernel::{Generic, Kernel, Parameter, Passed};
use super::names::PARAMETERS;
use super::scope::{Generator, Input, Ty, Variable};
use super::tree::Node;
use super::types::Scalar;
use crate::random::Random;
use std::collections::BTreeSet;

/// Words that each thread has.
const WORDS: usize = 8;
/// How often a statement may be run at most.
const TURNS: usize = 48;

pub(super) fn generator(random: &mut Random) -> Generator<'_> {
    Generator {
        random,
        hits: BTreeSet::new(),
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

/// The seed of what is a field of the kernel's group, though most like it are none.
const OF_GROUP: u64 = 1001;

/// Which threads know of each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
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
    /// Parameters, and what of them may be named.
    fn parameters(&mut self, threads: usize) -> Vec<Parameter> {
        let in_group = self.random.chance(15);
        if in_group {
            self.hit("parameter.group");
        }
        // `g` is the group.
        let mut names: Vec<&str> = PARAMETERS.iter().copied().filter(|name| *name != "g").collect();
        self.reserved.insert("g".to_owned());
        let mut name = |g: &mut Self| {
            let at = g.random.below(names.len());
            let name = names.remove(at).to_owned();
            g.reserved.insert(name.clone());
            name
        };
        let mut all = Vec::new();
        let mut parameter = |name: String, scalar, each, passed: Passed, seed| {
            // Every kind of parameter that a group holds; of what is written, the typed buffer.
            let in_group = in_group && (matches!(passed, Passed::Global { is_written: false, .. }) || seed == OF_GROUP);
            all.push(Parameter { name, scalar, each, passed, seed, in_group, is_generic: false, cache: None });
        };
        for at in 0..1 + self.random.below(3) {
            self.hit("parameter.value");
            let scalar = if at == 0 { Scalar::U32 } else { self.random.pick(&Scalar::ELEMENTS) };
            let bits = match self.random.below(3) {
                0 => self.random.below(10) as u64,
                1 => self.random.next(),
                _ => super::contents::contents(self.random.below(1000) as u64, scalar.name(), 1)
                    .iter()
                    .rev()
                    .fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
            };
            let name = name(self);
            let is_field = in_group && self.random.chance(40);
            if is_field {
                self.hit("group.value");
            }
            self.uniform.push((if is_field { format!("g.{name}") } else { name.clone() }, scalar));
            parameter(name, scalar, 1, Passed::Value(bits), if is_field { OF_GROUP } else { 0 });
        }
        for _ in 0..1 + self.random.below(2) {
            self.hit("parameter.global");
            let scalar = self.random.pick(&Scalar::ELEMENTS);
            let is_pairs = self.random.chance(15);
            let len = self.random.pick(&[64usize, 16, 256, 32]);
            let name = name(self);
            let said = if in_group { format!("g.{name}") } else { name.clone() };
            self.inputs.push(Input { name: said, scalar, len, is_pairs, is_global: true });
            let each = if is_pairs { 2 } else { 1 };
            let passed = Passed::Global { len: len * each, is_written: false, is_zero: false };
            parameter(name, scalar, each, passed, self.random.below(1000) as u64);
        }
        if self.random.chance(20) {
            self.hit("parameter.constant");
            let scalar = self.random.pick(&Scalar::ELEMENTS);
            let name = name(self);
            let is_field = in_group && self.random.chance(50);
            if is_field {
                self.hit("group.constant");
            }
            let said = if is_field { format!("g.{name}") } else { name.clone() };
            self.inputs.push(Input { name: said, scalar, len: 16, is_pairs: false, is_global: false });
            let seed = if is_field { OF_GROUP } else { self.random.below(1000) as u64 };
            parameter(name, scalar, 1, Passed::Constant(16), seed);
        }
        let words = name(self);
        parameter(words, Scalar::U64, 1, Passed::Global { len: threads * WORDS, is_written: true, is_zero: false }, 7);
        let typed = name(self);
        let scalar = self.random.pick(&Scalar::ELEMENTS);
        let is_field = in_group && self.random.chance(50);
        if is_field {
            self.hit("group.written");
        }
        let seed = if is_field { OF_GROUP } else { 8 };
        parameter(typed, scalar, 1, Passed::Global { len: threads, is_written: true, is_zero: false }, seed);
        if self.random.chance(40) {
            self.hit("parameter.sums");
            let sums = name(self);
            let scalar = self.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64, Scalar::F32, Scalar::F64]);
            self.sums = Some((sums.clone(), scalar));
            parameter(sums, scalar, 1, Passed::Global { len: EACH * KINDS, is_written: true, is_zero: true }, 0);
        }
        all
    }

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

    /// Arguments of the attribute: options, annotations, and elements of a thread.
    fn options(&mut self, family: Family) -> (Vec<String>, Vec<String>, u32) {
        let (mut options, mut annotations, mut elements) = (vec!["contract = false".to_owned()], Vec::new(), 1);
        if self.random.chance(15) {
            self.hit("option.index");
            options.push("index = 64".to_owned());
        } else if self.random.chance(5) {
            self.hit("option.index_32");
            options.push("index = 32".to_owned());
        }
        if self.random.chance(5) {
            self.hit("option.targets");
            options.push("targets = [sm_70, sm_80, sm_90]".to_owned());
        }
        if self.random.chance(5) && !self.may_approximate {
            self.hit("option.choice");
            options.push("bounds = if 3 > 2 { unchecked } else { trap }".to_owned());
        }
        if self.random.chance(10) && !options.iter().any(|option| option.starts_with("bounds")) {
            self.hit("option.bounds");
            options.push("bounds = trap".to_owned());
        }
        if self.random.chance(10) {
            self.hit("option.raster");
            annotations.push("raster(rows = 2)".to_owned());
        }
        if self.random.chance(10) && family != Family::Elements {
            self.hit("option.persistent");
            annotations.push("persistent".to_owned());
        }
        if self.random.chance(10) {
            self.hit("option.overlap");
            annotations.push("overlap".to_owned());
        }
        if self.random.chance(10) {
            self.hit("option.registers");
            annotations.push(self.random.pick(&["max_registers = 64", "min_blocks = 2"]).to_owned());
        }
        if family == Family::Elements {
            if self.random.chance(60) {
                self.hit("kernel.ilp");
                let n = self.random.pick(&[2, 4]);
                annotations.push(format!("ilp = {n}"));
                elements *= n;
            }
            if self.random.chance(50) {
                self.hit("kernel.vectorize");
                annotations.push("vectorize = 2".to_owned());
                elements *= 2;
            }
            if self.random.chance(40) {
                self.hit("kernel.batch_loads");
                annotations.push("batch_loads".to_owned());
            }
        }
        (options, annotations, elements)
    }
}

/// A value as a word, NaNs made one.
fn bits(text: &str, scalar: Scalar) -> String {
    match scalar {
        _ if scalar.is_float() => format!("{{ let b_ = {text}; if b_.is_nan() {{ 7 }} else {{ b_.to_bits() as u64 }} }}"),
        Scalar::U64 => text.to_owned(),
        _ => format!("({text} as u64)"),
    }
}
