//! Random kernels as text, correct by construction: every index is in range, every thread has elements of its own, what others write
//! is read behind a barrier only, and sums of floats are sums of small integers, exact in any order.

use super::annotate::annotations;
use super::expression::{Counter, Scope, Ty};
use super::run::{Buffer, Inputs};
use super::text::{Elements, Node, Source};
use warpwright_tests::random::Random;

/// Elements of a written buffer that a thread has of its own.
pub(crate) const OWN: i64 = 32;
/// Elements of a buffer that is only read; a power of two.
pub(crate) const READ: i64 = 2048;
/// The largest `n` and `m` of a launch.
pub(crate) const MOST: i64 = 17;

/// How the elements of written buffers belong to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `y[base + 0..32]`.
    Rows,
    /// `y[t + threads * 0..32]`.
    Columns,
    /// `y[i]`: one.
    One,
}

pub(crate) struct Generator<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) scope: Scope,
    pub(crate) layout: Layout,
    /// Threads of the launch where each has one element.
    pub(crate) threads: i64,
    pub(crate) has_shared: bool,
    pub(crate) atomic: &'static str,
    names: usize,
    depth: u32,
    /// Labels of the loops round here, innermost last.
    loops: Vec<String>,
    /// Whether threads may be apart, so that there are no barriers.
    pub(crate) is_apart: bool,
}

const PARAMETERS: &str = "n: u32, m: u32, o: i32, w: u32, x: &Global<i32>, f: &Global<f32>, b: &Global<u8>, \
     y: &mut Global<i32>, z: &mut Global<f32>, a: &mut Global<i32>, c: &mut Global<u8>";

const ITEMS: &str = "use warpwright::prelude::*;

#[device]
pub fn mix(a: i32, b: i32) -> i32 {
    (a ^ (b >> 3)).wrapping_add(b)
}

#[device]
pub fn early(a: i32, b: i32) -> i32 {
    if a > b {
        return a - 1;
    }
    a + b
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sums {
    pub count: i32,
    pub total: f32,
}

";

impl Generator<'_> {
    /// A kernel, and what it is launched with.
    pub(crate) fn kernel(random: &mut Random) -> (Source, Vec<Inputs>) {
        let mut below = |n: usize| random.below(n) as u64;
        let style = below(10);
        let is_grouped = style < 3;
        let (is_flat, atomic) = (below(3) > 0, ["atomic_add", "atomic_min", "atomic_max", "atomic_xor", "atomic_or"][below(5) as usize]);
        let block = if is_flat { [8, 1] } else { [8, 2] };
        let elements = if is_grouped {
            let ilp = [1, 1, 2, 3, 4, 8][below(6) as usize];
            let vectorize = [1, 1, 2, 4][below(4) as usize];
            Elements { ilp, vectorize, batch_loads: below(2) == 0 }
        } else {
            Elements::ONE
        };
        let grid = [2 * elements.each(), if is_flat { 1 } else { 2 }];
        let width = i64::from(grid[0] * block[0]);
        let threads = width * i64::from(grid[1] * block[1]);
        let layout = match (is_grouped, below(3)) {
            (true, 0..=1) => Layout::One,
            (false, 0) => Layout::Columns,
            _ => Layout::Rows,
        };
        let mut generator = Generator {
            random,
            scope: Scope::default(),
            layout,
            threads,
            has_shared: false,
            atomic,
            names: 0,
            depth: 0,
            loops: Vec::new(),
            is_apart: false,
        };
        let mut body = generator.start(is_flat, width);
        if is_grouped {
            body.extend(generator.guarded(is_flat));
        } else {
            body.extend(generator.ungrouped(style));
        }
        let arguments = if generator.chance(15) { ", bounds = trap" } else { "" };
        let parameters = PARAMETERS.to_owned();
        let items = format!("{ITEMS}const WHOLE: usize = {};\n\n", block[0] * block[1]);
        let source = Source { items, block, arguments: arguments.to_owned(), elements, parameters, body };
        let inputs = generator.inputs(grid, width, is_flat, is_grouped);
        (source, inputs)
    }

    /// Where the thread is, and what it has.
    fn start(&mut self, is_flat: bool, width: i64) -> Vec<Node> {
        let mut body = vec![Node::line("let t = global_id().x;")];
        let threads = self.threads;
        if is_flat {
            body.push(Node::line("let i = t;"));
        } else {
            body.push(Node::line("let r = global_id().y;"));
            let by = if self.layout == Layout::One { "w as usize".to_owned() } else { width.to_string() };
            body.push(Node::line(format!("let i = r * {by} + t;")));
        }
        self.scope.threads = threads;
        match self.layout {
            Layout::Rows => body.push(Node::line(format!("let base = i * {OWN};"))),
            Layout::Columns | Layout::One => {}
        }
        body
    }

    fn ungrouped(&mut self, style: u64) -> Vec<Node> {
        let mut body = Vec::new();
        if style == 3 || (style == 4 && self.chance(50)) {
            return self.tiles();
        }
        if self.chance(30) {
            self.has_shared = true;
            body.push(Node::line("let tid = thread_idx().x + thread_idx().y * 8;"));
            // A row has 64 bytes.
            let rows = self.pick(&["", "", "(swizzle)", "(swizzle = 64)", "(swizzle = 32)", "(pad = 4)"]);
            body.push(Node::line(format!("#[shared{rows}] let mut s: [[i32; 16]; 16];")));
            body.push(Node::block("for q in 0..16", vec![Node::line("s[tid][q] = q as i32 * 3 + tid as i32;")]));
        }
        if self.chance(15) {
            let condition = self.condition(1);
            body.push(Node::block(format!("if {condition}"), vec![Node::line("return;")]));
        }
        self.is_apart = true;
        body.extend(self.accumulators());
        let n = 1 + self.below(3);
        for _ in 0..n {
            body.push(self.a_loop());
            if self.chance(30) {
                body.extend(self.statement());
            }
        }
        body.extend(self.results());
        body
    }

    /// A body for the elements of a thread, under its guard or behind it.
    fn guarded(&mut self, is_flat: bool) -> Vec<Node> {
        self.is_apart = true;
        let mut body = Vec::new();
        let guard = match (self.layout, is_flat) {
            (Layout::One, true) => "t < y.len()".to_owned(),
            (Layout::One, false) => "t < w as usize && r * (w as usize) < y.len()".to_owned(),
            (_, true) => "t < w as usize".to_owned(),
            (_, false) => "t < w as usize && r < m as usize".to_owned(),
        };
        let more = if self.chance(20) { format!(" && {}", self.condition(0)) } else { String::new() };
        let early = self.chance(30);
        if early {
            body.push(Node::block(format!("if !({guard}{more})"), vec![Node::line("return;")]));
        }
        let mut inside = Vec::new();
        if self.chance(30) {
            inside.extend(self.accumulators());
            inside.push(self.a_loop());
            inside.extend(self.statement());
            inside.extend(self.results());
        } else {
            for _ in 0..1 + self.below(3) {
                let stream = self.stream();
                inside.push(stream);
            }
        }
        if early {
            body.extend(inside);
        } else {
            body.push(Node::block(format!("if {guard}{more}"), inside));
        }
        body
    }

    /// The loop over tiles: deposit, barrier, compute, barrier.
    fn tiles(&mut self) -> Vec<Node> {
        let mut body = self.accumulators();
        body.push(Node::line("let tid = thread_idx().x + thread_idx().y * 8;"));
        // An array of an element for each thread, which each iteration fills, can be pipelined; one that is touched before cannot.
        let is_whole = self.chance(60);
        body.push(Node::line(if is_whole { "#[shared] let mut s: [i32; WHOLE];" } else { "#[shared] let mut s: [i32; 16];" }));
        if !is_whole {
            body.push(Node::line("s[tid] = tid as i32;"));
            body.push(Node::line("sync_threads();"));
        }
        let (head, counter) = self.range(true);
        self.scope.counters.push(counter.clone());
        let guard = self.chance(40);
        let index = self.read_index();
        let load = if guard {
            let condition = self.condition(0);
            format!("s[tid] = if {condition} {{ x[{index}] }} else {{ {} }};", usize::from(!is_whole))
        } else {
            format!("s[tid] = x[{index}];")
        };
        let mut inside = vec![Node::line(load)];
        if self.chance(if is_whole { 10 } else { 50 }) {
            let index = self.read_index();
            inside.insert(0, Node::line(format!("let ahead = f[{index}];")));
            let update = self.update_of(Ty::Float, "ahead");
            inside.push(Node::line(update));
        }
        inside.push(Node::line("sync_threads();"));
        let operator = self.scope.integer_operator();
        let inner = vec![Node::line(operator.update("s[(tid + j) & 7]"))];
        let mut block = Node::block("for j in 0..8usize", inner);
        if !is_whole || self.chance(40) {
            self.annotate(&mut block, Some(8));
        }
        inside.push(block);
        inside.push(Node::line("sync_threads();"));
        self.scope.counters.pop();
        let mut outer = Node::block(format!("for {} in {head}", counter.name), inside);
        self.annotate(&mut outer, counter.trips);
        if let (true, Node::Block { annotations, .. }) = (is_whole && self.chance(80), &mut outer) {
            let stages = 2 + self.below(4);
            *annotations = vec![format!("pipeline(stages = {stages})")];
            if self.chance(25) {
                annotations.insert(0, "unroll(2)".to_owned());
            }
            if self.chance(25) {
                annotations.push("batch_loads(best_effort)".to_owned());
            }
        }
        body.push(outer);
        body.extend(self.results());
        body
    }

    /// A loop of any kind, with its annotations.
    pub(crate) fn a_loop(&mut self) -> Node {
        self.depth += 1;
        let visible = self.scope.mark();
        let (head, counter) = self.range(false);
        let label = format!("'l{}", self.names);
        self.names += 1;
        self.scope.counters.push(counter.clone());
        self.loops.push(label.clone());
        let body = match self.below(10) {
            0..=2 => (0..1 + self.below(2)).map(|_| self.stream()).collect(),
            3..=5 => self.gather(),
            _ => self.statements(),
        };
        self.loops.pop();
        self.scope.reset(visible);
        let uses_label = format!("{body:?}").contains(&label);
        let head = format!("for {} in {head}", counter.name);
        let mut block = Node::block(if uses_label { format!("{label}: {head}") } else { head }, body);
        self.annotate(&mut block, counter.trips);
        self.depth -= 1;
        block
    }

    fn annotate(&mut self, node: &mut Node, trips: Option<u32>) {
        let text = format!("{node:?}");
        let stores = [" y[", "\"y[", "z[", "c[", "s[", "v["].iter().any(|place| text.contains(place));
        let found = annotations(self.random, trips, !stores);
        if let Node::Block { annotations, .. } = node {
            *annotations = found;
        }
    }

    /// Loads, accumulators and perhaps a guard: what a sum looks like.
    fn gather(&mut self) -> Vec<Node> {
        let mut body = Vec::new();
        let mut inside = Vec::new();
        for _ in 0..1 + self.below(2) {
            let float = self.chance(40);
            let index = self.read_index();
            let (term, ty) = if float { (format!("f[{index}]"), Ty::Float) } else { (format!("x[{index}]"), Ty::Int) };
            let term = match self.below(3) {
                0 => term,
                1 if float => format!("{term} * f[{}]", self.read_index()),
                _ if float => format!("{term} * 2.0"),
                _ => format!("({term} ^ {})", self.integer(1)),
            };
            inside.push(Node::line(self.update_of(ty, &term)));
        }
        match self.below(5) {
            0 => {
                let condition = self.condition(1);
                body.push(Node::block(format!("if {condition}"), inside));
            }
            1 => {
                let condition = self.condition(1);
                body.push(Node::block(format!("if {condition}"), vec![Node::line("continue;")]));
                body.extend(inside);
            }
            _ => body.extend(inside),
        }
        body
    }

    /// A load, some work and a store: what a copy looks like.
    fn stream(&mut self) -> Node {
        let own = self.own_index(true);
        let from = if self.chance(60) && self.layout == Layout::Rows && self.threads * OWN <= READ {
            own.clone()
        } else {
            self.read_index_straight()
        };
        match self.below(8) {
            0 => Node::line(format!("y[{own}] = x[{from}];")),
            1 => Node::line(format!("y[{own}] = y[{own}] * 3 + x[{from}];")),
            2 => Node::line(format!("z[{own}] = f[{from}] * 2.0 + z[{own}].clamp(-8.0, 8.0);")),
            3 => Node::line(format!("z[{own}] += f[{from}];")),
            4 => Node::line(format!("c[{own}] = b[{from}];")),
            5 => Node::line(format!("c[{own}] = b[{from}].wrapping_mul(3) ^ c[{own}];")),
            6 => Node::line(format!("y[{own}] = x[{from}] ^ {};", self.integer(1))),
            _ => Node::line(format!("z[{own}] = f[{from}];")),
        }
    }

    fn statements(&mut self) -> Vec<Node> {
        let mut body = Vec::new();
        for _ in 0..1 + self.below(4) {
            body.extend(self.statement());
        }
        body
    }

    /// A statement of any kind, with what has to stand before it.
    pub(crate) fn statement(&mut self) -> Vec<Node> {
        let deep = self.depth >= 3;
        match self.below(20) {
            0..=4 => vec![Node::line(self.update())],
            5..=6 => {
                let float = self.chance(40);
                self.names += 1;
                let name = format!("q{}", self.names);
                let (value, ty) = if float { (self.float(2), Ty::Float) } else { (self.integer(2), Ty::Int) };
                let value = if float { format!("({value}).clamp(-64.0, 64.0)") } else { value };
                self.scope.temporaries.push((name.clone(), ty));
                vec![Node::line(format!("let {name} = {value};"))]
            }
            7..=8 => vec![self.store()],
            9 => vec![self.stream()],
            10 => {
                let (value, element) = (self.integer(1), self.below(8));
                vec![Node::line(format!("a.{}({element}, {value});", self.atomic))]
            }
            11..=13 => {
                let condition = self.condition(1);
                let visible = self.scope.mark();
                self.depth += 1;
                let body = if deep { vec![Node::line(self.update())] } else { self.statements() };
                self.scope.reset(visible);
                let otherwise = if self.chance(30) { vec![Node::line(self.update())] } else { Vec::new() };
                self.depth -= 1;
                vec![Node::Block { head: format!("if {condition}"), annotations: Vec::new(), body, otherwise }]
            }
            14 if !self.loops.is_empty() => {
                let condition = self.condition(1);
                let label = self.pick(&self.loops.clone());
                let way = match self.below(10) {
                    0..=4 => "continue;".to_owned(),
                    5..=6 => "break;".to_owned(),
                    7 => format!("continue {label};"),
                    8 => format!("break {label};"),
                    _ => "return;".to_owned(),
                };
                vec![Node::block(format!("if {condition}"), vec![Node::line(way)])]
            }
            15..=17 if !deep => {
                if self.chance(30) {
                    self.names += 1;
                    let name = format!("g{}", self.names);
                    let own = self.own_index(false);
                    let before = Node::line(format!("let mut {name} = 0;"));
                    let index = self.read_index();
                    let inner = Node::line(format!("{name} += x[{index}] & 255;"));
                    let (head, counter) = self.range(false);
                    let mut block = Node::block(format!("for {} in {head}", counter.name), vec![inner]);
                    self.annotate(&mut block, counter.trips);
                    return vec![before, block, Node::line(format!("y[{own}] = {name};"))];
                }
                vec![self.a_loop()]
            }
            18 if !deep => {
                self.names += 1;
                let name = format!("h{}", self.names);
                let update = self.update();
                let body = vec![Node::line(format!("{name} += 1;")), Node::line(update)];
                vec![Node::line(format!("let mut {name} = 0;")), Node::block(format!("while {name} < n % 5"), body)]
            }
            _ => vec![Node::line(self.update())],
        }
    }

    fn store(&mut self) -> Node {
        let own = self.own_index(false);
        match self.below(6) {
            0 => Node::line(format!("z[{own}] = ({}).clamp(-64.0, 64.0);", self.float(2))),
            1 => Node::line(format!("c[{own}] = ({}) as u8;", self.integer(1))),
            2 if self.has_shared => {
                let k = self.written_index(16);
                Node::line(format!("s[tid][{k}] = {};", self.integer(1)))
            }
            3 => Node::line(format!("y[{own}] += {};", self.integer(1))),
            _ => Node::line(format!("y[{own}] = {};", self.integer(2))),
        }
    }

    /// Launches: every kind of length that groups can come upon.
    fn inputs(&mut self, grid: [u32; 2], width: i64, is_flat: bool, is_grouped: bool) -> Vec<Inputs> {
        let trips = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17];
        let mut all = Vec::new();
        for round in 0..3 {
            let n = trips[self.below(trips.len() as u64) as usize];
            let m = if round == 0 { MOST as u32 } else { trips[self.below(trips.len() as u64) as usize] };
            let o = self.below(8) as i32 - 3;
            let w = match self.below(4) {
                0 => width as u64,
                _ => self.below(width as u64 + 1),
            };
            let w = if is_grouped { w } else { width as u64 };
            let whole = self.threads * if self.layout == Layout::One { 1 } else { OWN };
            let length = match (self.layout, is_flat) {
                (Layout::One, true) if round > 0 => self.below(whole as u64 + 1) as i64,
                (Layout::One, false) => (w as i64 * i64::from(grid[1]) * 2).max(1),
                _ => whole,
            };
            let mut buffers = Vec::new();
            let mut push = |bytes: Vec<u8>, is_written: bool, is_float: bool| buffers.push(Buffer { bytes, is_written, is_float });
            let random = &mut *self.random;
            let mut word = |_: i64| (random.next() as u32 >> (random.next() % 32)).to_le_bytes();
            push((0..READ).flat_map(&mut word).collect(), false, false);
            let mut random_float = |_: i64| ((random_small(random) % 9) as f32 - 4.0).to_le_bytes();
            push((0..READ).flat_map(&mut random_float).collect(), false, true);
            push((0..READ).map(|k| (k * 37 % 251) as u8).collect(), false, false);
            push((0..length).flat_map(|k| ((k * 7919) as u32).to_le_bytes()).collect(), true, false);
            push((0..length).flat_map(|k| ((k % 11) as f32 - 5.0).to_le_bytes()).collect(), true, true);
            push((0..8i32).flat_map(|k| k.to_le_bytes()).collect(), true, false);
            push((0..length).map(|k| (k % 253) as u8).collect(), true, false);
            let values = vec![n.to_le_bytes(), m.to_le_bytes(), o.to_le_bytes(), (w as u32).to_le_bytes()];
            all.push(Inputs { grid, values, buffers });
        }
        all
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.random.below(n as usize) as u64
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.random.chance(percent)
    }

    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len())].clone()
    }

    fn accumulators(&mut self) -> Vec<Node> {
        let (declarations, scope) = self.declare();
        self.scope.accumulators = scope;
        declarations.into_iter().map(Node::Line).collect()
    }

    /// What every accumulator came to, stored.
    fn results(&mut self) -> Vec<Node> {
        let mut body = Vec::new();
        for (n, (value, ty)) in self.scope.final_values().into_iter().enumerate() {
            let own = match self.layout {
                Layout::Rows => format!("base + {n}"),
                Layout::Columns => format!("i + {}", n as i64 * self.threads),
                Layout::One => "i".to_owned(),
            };
            body.push(Node::line(match ty {
                Ty::Int => format!("y[{own}] ^= {value};"),
                Ty::Float => format!("z[{own}] = {value};"),
            }));
        }
        body
    }

    pub(crate) fn counter_name(&mut self) -> String {
        self.names += 1;
        format!("k{}", self.names)
    }
}

fn random_small(random: &mut Random) -> u64 {
    random.next() >> 40
}

/// A counter's name with what is known of it.
impl Generator<'_> {
    /// A range, and the counter that walks it; `is_uniform`: the same for all threads.
    pub(crate) fn range(&mut self, is_uniform: bool) -> (String, Counter) {
        super::ranges::range(self, is_uniform)
    }
}
