//! Expressions, indices and updates of generated kernels.

use super::generate::{Generator, Layout, MOST, OWN, READ};

/// The types that values have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Int,
    Float,
}

/// A loop's counter.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    pub(crate) name: String,
    pub(crate) ty: &'static str,
    /// Its least value, and its greatest.
    pub(crate) min: i64,
    pub(crate) max: i64,
    /// Iterations, if known.
    pub(crate) trips: Option<u32>,
}

impl Counter {
    /// As a `usize` from 0 or its least value on, and the greatest that is.
    fn index(&self) -> (String, i64) {
        let name = &self.name;
        match self.ty {
            "usize" => (name.clone(), self.max),
            "u32" if self.min < 1000 => (format!("{name} as usize"), self.max),
            "u32" => (format!("({name} - {}) as usize", self.min), self.max - self.min),
            "i32" if self.min < 0 => (format!("({name} + {}) as usize", -self.min), self.max - self.min),
            "i32" => (format!("({name} - {}) as usize", self.min), self.max - self.min),
            "u8" => (format!("{name} as usize"), self.max),
            _ => (format!("({name} as i32 + {}) as usize", -self.min), self.max - self.min),
        }
    }
}

/// `acc op= e`, in one of the ways there are to write it.
#[derive(Clone, Debug)]
pub(crate) struct Accumulator {
    /// The place: a variable, a field, an element.
    place: String,
    ty: Ty,
    operator: &'static str,
    is_bool: bool,
    style: u64,
}

impl Accumulator {
    pub(crate) fn update(&self, value: &str) -> String {
        let (place, op) = (&self.place, self.operator);
        if self.is_bool {
            return format!("{place} {op}= ({value}) > 0;");
        }
        match (op, self.style) {
            ("min" | "max", 0) => format!("{place} = ({value}).{op}({place});"),
            ("min" | "max", 1) if self.ty == Ty::Int => {
                let compare = if op == "min" { "<" } else { ">" };
                format!("{{ let next = {value}; if next {compare} {place} {{ {place} = next; }} }}")
            }
            ("min" | "max", _) => format!("{place} = {place}.{op}({value});"),
            ("*", _) if self.ty == Ty::Float => format!("{place} *= if ({value}) > 0.0 {{ 1.0 }} else {{ -1.0 }};"),
            ("+", 0) if self.ty == Ty::Int => format!("{place} = {place}.wrapping_add({value});"),
            ("-", 0 | 1) => format!("{place} = {place} - ({value});"),
            (_, 0) => format!("{place} = ({value}) {op} {place};"),
            (_, 1) => format!("{place} = {place} {op} ({value});"),
            _ => format!("{place} {op}= {value};"),
        }
    }
}

/// What can be named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) threads: i64,
    pub(crate) counters: Vec<Counter>,
    pub(crate) temporaries: Vec<(String, Ty)>,
    pub(crate) accumulators: Vec<Accumulator>,
}

impl Scope {
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.counters.len(), self.temporaries.len())
    }

    pub(crate) fn reset(&mut self, (counters, temporaries): (usize, usize)) {
        self.counters.truncate(counters);
        self.temporaries.truncate(temporaries);
    }

    /// The first accumulator of integers.
    pub(crate) fn integer_operator(&self) -> Accumulator {
        self.accumulators[0].clone()
    }

    /// What is stored at the end.
    pub(crate) fn final_values(&self) -> Vec<(String, Ty)> {
        let one = |a: &Accumulator| if a.is_bool { (format!("{} as i32", a.place), Ty::Int) } else { (a.place.clone(), a.ty) };
        let mut all: Vec<(String, Ty)> = self.accumulators.iter().map(one).collect();
        if !all.is_empty() {
            all.push(("last".to_owned(), Ty::Int));
        }
        all
    }
}

impl Generator<'_> {
    /// Accumulators of every kind, and the lines that declare them.
    pub(crate) fn declare(&mut self) -> (Vec<String>, Vec<Accumulator>) {
        let mut lines = vec!["let mut last = 3;".to_owned()];
        let mut all: Vec<Accumulator> = Vec::new();
        for n in 0..2 + self.below(3) {
            let style = self.below(4);
            let operators = ["+", "+", "-", "*", "&", "|", "^", "min", "max"];
            let operator = self.pick(&operators);
            let float = if ["&", "|", "^"].contains(&operator) { "+" } else { operator };
            let kind = if n == 0 { 0 } else { self.below(10) };
            let one = |place: String, ty, operator| Accumulator { place, ty, operator, is_bool: false, style };
            match kind {
                0..=2 => {
                    lines.push(format!("let mut acc{n} = {};", self.below(5)));
                    all.push(one(format!("acc{n}"), Ty::Int, operator));
                }
                3..=5 => {
                    lines.push(format!("let mut acc{n} = {}.0f32;", self.below(5)));
                    all.push(one(format!("acc{n}"), Ty::Float, float));
                }
                6 => {
                    lines.push(format!("let mut acc{n} = (1i32, 2.0f32);"));
                    all.push(one(format!("acc{n}.0"), Ty::Int, operator));
                    all.push(one(format!("acc{n}.1"), Ty::Float, float));
                }
                7 => {
                    lines.push(format!("let mut acc{n} = Sums {{ count: 1, total: 2.0 }};"));
                    all.push(one(format!("acc{n}.count"), Ty::Int, operator));
                    all.push(one(format!("acc{n}.total"), Ty::Float, float));
                }
                8 => {
                    lines.push(format!("let mut acc{n} = [1i32; 3];"));
                    all.extend((0..3).map(|k| one(format!("acc{n}[{k}]"), Ty::Int, operator)));
                }
                _ => {
                    let operator = self.pick(&["&", "|", "^"]);
                    lines.push(format!("let mut acc{n} = {};", operator == "&"));
                    all.push(Accumulator { place: format!("acc{n}"), ty: Ty::Int, operator, is_bool: true, style: 2 });
                }
            }
        }
        (lines, all)
    }

    /// An accumulator takes something in; now and then by another operation than its own.
    pub(crate) fn update(&mut self) -> String {
        if self.scope.accumulators.is_empty() || self.chance(4) {
            let own = self.own_index(false);
            return format!("y[{own}] = {};", self.integer(1));
        }
        if self.chance(6) {
            return format!("last = {};", self.integer(1));
        }
        if self.chance(4) {
            return format!("last = last * 3 + {};", self.integer(1));
        }
        let list = self.scope.accumulators.clone();
        let accumulator = self.pick(&list);
        let value = if accumulator.ty == Ty::Float { self.float(1) } else { self.integer(1) };
        if self.chance(4) && accumulator.ty == Ty::Int && !accumulator.is_bool {
            return format!("{} ^= {value};", accumulator.place);
        }
        accumulator.update(&value)
    }

    /// An accumulator of a type takes `value` in.
    pub(crate) fn update_of(&mut self, ty: Ty, value: &str) -> String {
        let list: Vec<Accumulator> = self.scope.accumulators.iter().filter(|a| a.ty == ty).cloned().collect();
        match list[..] {
            [] if ty == Ty::Float => format!("acc0 ^= ({value}) as i32;"),
            [] => format!("last = {value};"),
            _ => self.pick(&list).update(value),
        }
    }

    /// A linear form of counters that stays below `limit`, if the counters allow.
    fn linear(&mut self, limit: i64) -> Option<String> {
        if self.scope.counters.is_empty() {
            return None;
        }
        let innermost = self.scope.counters.len() - 1;
        let chosen = if self.chance(75) { innermost } else { self.below(innermost as u64 + 1) as usize };
        let (text, most) = self.scope.counters[chosen].index();
        let factor = self.pick(&[1i64, 1, 1, 1, 2, 3, 4]);
        let offset = self.pick(&[0i64, 0, 0, 1, 2, 4, 8]);
        if self.chance(10) && most < limit {
            return Some(format!("{most} - ({text})"));
        }
        let mut greatest = most * factor + offset;
        let text = if text.contains(' ') && factor > 1 { format!("({text})") } else { text };
        let mut all = if factor == 1 { text } else { format!("{text} * {factor}") };
        if self.scope.counters.len() > 1 && self.chance(30) {
            let other = self.below(innermost as u64 + 1) as usize;
            let (text, most) = self.scope.counters[other].index();
            let factor = self.pick(&[1i64, 2, 4, 8, 16]);
            greatest += most * factor;
            all = format!("{all} + ({text}) * {factor}");
        }
        if greatest >= limit {
            return None;
        }
        Some(if offset > 0 { format!("{all} + {offset}") } else { all })
    }

    /// An index below `limit`.
    pub(crate) fn small_index(&mut self, limit: i64) -> String {
        if self.chance(85)
            && let Some(text) = self.linear(limit)
        {
            return text;
        }
        match self.below(3) {
            0 => self.below(limit as u64).to_string(),
            _ => format!("({} & {}) as usize", self.integer(1), limit - 1),
        }
    }

    /// The same without loads: `rustc` has the buffer borrowed while it computes the index of an element that is written.
    pub(crate) fn written_index(&mut self, limit: i64) -> String {
        loop {
            let text = self.small_index(limit);
            if !text.contains('[') {
                return text;
            }
        }
    }

    /// An element that the thread has of its own in a written buffer; `is_straight`: one that goes on with the counter.
    pub(crate) fn own_index(&mut self, is_straight: bool) -> String {
        if self.layout == Layout::One {
            return "i".to_owned();
        }
        let innermost = self.scope.counters.last().map(Counter::index).filter(|(_, most)| *most < OWN);
        let straight = innermost.filter(|_| is_straight && self.chance(85)).map(|(text, _)| text);
        let k = match straight {
            Some(text) => text,
            None => self.written_index(OWN),
        };
        match self.layout {
            Layout::Rows => format!("base + {}", parenthesised(&k)),
            _ => format!("i + {} * {}", parenthesised(&k), self.threads),
        }
    }

    /// An index into a buffer that is only read.
    pub(crate) fn read_index(&mut self) -> String {
        let threads = self.scope.threads;
        match self.below(8) {
            0..=2 => match self.linear(READ - threads) {
                Some(text) => format!("i % {threads} + {text}"),
                None => format!("i & {}", READ - 1),
            },
            3..=4 => match self.linear(READ) {
                Some(text) => text,
                None => self.below(READ as u64).to_string(),
            },
            5 => match self.linear(64) {
                Some(text) => format!("x[{text}] as usize & {}", READ - 1),
                None => "n as usize".to_owned(),
            },
            6 => match self.linear(READ) {
                Some(text) => format!("((i & 7) * 37 + {text}) & {}", READ - 1),
                None => format!("(i * 8) & {}", READ - 1),
            },
            _ => format!("({} & {}) as usize", self.integer(0), READ - 1),
        }
    }

    /// One that goes on with the innermost counter.
    pub(crate) fn read_index_straight(&mut self) -> String {
        if self.layout == Layout::One && self.chance(70) {
            return format!("i & {}", READ - 1);
        }
        if self.layout == Layout::One && self.scope.threads <= READ && self.chance(60) {
            return "i".to_owned();
        }
        let innermost = self.scope.counters.last().map(Counter::index);
        match innermost {
            Some((text, most)) if most < READ - 8 => {
                let offset = self.pick(&[0, 0, 0, 4, 8, 1]);
                if offset == 0 { text } else { format!("{} + {offset}", parenthesised(&text)) }
            }
            _ => self.read_index(),
        }
    }

    /// An `i32`.
    pub(crate) fn integer(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.below(8) {
                0..=1 => self.below(9).to_string(),
                2 => "o".to_owned(),
                3 => "i as i32".to_owned(),
                4..=5 => match self.scope.counters.last() {
                    Some(counter) => format!("({} as i32)", counter.name),
                    None => "n as i32".to_owned(),
                },
                _ => {
                    let list: Vec<_> =
                        self.scope.temporaries.iter().filter(|(_, ty)| *ty == Ty::Int).map(|(name, _)| name.clone()).collect();
                    if list.is_empty() { "m as i32".to_owned() } else { self.pick(&list) }
                }
            };
        }
        let less = depth - 1;
        match self.below(16) {
            0..=4 => format!("x[{}]", self.read_index()),
            5 => {
                let own = self.own_index(false);
                format!("y[{own}]")
            }
            6 if self.has_shared => {
                let k = self.small_index(16);
                format!("s[tid][{k}]")
            }
            7 => format!("(b[{}] as i32)", self.read_index()),
            8..=10 => {
                let op = self.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {op} {})", self.integer(less), self.integer(less))
            }
            11 => {
                let call = self.pick(&["mix", "early"]);
                format!("{call}({}, {})", self.integer(less), self.integer(less))
            }
            12 => format!("(if {} {{ {} }} else {{ {} }})", self.condition(less), self.integer(less), self.integer(less)),
            13 => format!("({}).{}({})", self.cast(less), self.pick(&["min", "max"]), self.integer(less)),
            14 if self.chance(20) && !self.scope.accumulators.is_empty() => "last".to_owned(),
            15 if self.chance(15) && !self.scope.accumulators.is_empty() => "(acc0 >> 1)".to_owned(),
            _ => self.integer(0),
        }
    }

    /// An `i32` that Rust knows to be one.
    fn cast(&mut self, depth: u32) -> String {
        format!("({}) as i32", self.integer(depth))
    }

    /// A small whole `f32`.
    pub(crate) fn float(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.below(4) {
                0 => format!("{}.0f32", self.below(5)),
                1 => format!("({} & 15) as f32", self.integer(0)),
                _ => {
                    let list: Vec<_> =
                        self.scope.temporaries.iter().filter(|(_, ty)| *ty == Ty::Float).map(|(name, _)| name.clone()).collect();
                    if list.is_empty() { format!("f[{}]", self.read_index()) } else { self.pick(&list) }
                }
            };
        }
        let less = depth - 1;
        match self.below(9) {
            0..=3 => format!("f[{}]", self.read_index()),
            4 => format!("z[{}].clamp(-8.0, 8.0)", self.own_index(false)),
            5 => format!("({} {} {})", self.float(less), self.pick(&["+", "-"]), self.float(less)),
            6 => format!("f[{}] * f[{}]", self.read_index(), self.read_index()),
            7 => format!("(if {} {{ {} }} else {{ {} }})", self.condition(less), self.float(less), self.float(less)),
            _ => self.float(0),
        }
    }

    pub(crate) fn condition(&mut self, depth: u32) -> String {
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => format!("t < {}", self.below(self.threads as u64 + 4)),
            1 => format!("n > {}", self.below(MOST as u64)),
            2 | 3 => match self.scope.counters.last().cloned() {
                Some(counter) if self.chance(50) => format!("{} % 2 == 0", counter.name),
                Some(counter) if counter.ty == "usize" => format!("{} < m as usize", counter.name),
                Some(counter) => {
                    let (text, most) = counter.index();
                    format!("({text}) < {}", self.below(most as u64 + 2))
                }
                None => "i & 1 == 0".to_owned(),
            },
            4 => "o > 0".to_owned(),
            5 => format!("x[{}] & 3 != 0", self.read_index()),
            6 => format!("({}) > {}", self.integer(1), self.below(64)),
            7 => format!("{} && {}", self.condition(0), self.condition(0)),
            _ => format!("({} || {})", self.condition(0), self.condition(0)),
        }
    }
}

fn parenthesised(text: &str) -> String {
    if text.contains(' ') { format!("({text})") } else { text.to_owned() }
}
