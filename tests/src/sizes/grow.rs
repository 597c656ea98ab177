//! Random sources that grow along several dimensions at once: chains in nested loops under annotations, matches in branches, calls of calls.
//!
//! What is written out of one is bounded while it is made: lines in an unrolled loop count as often as they are copied.

use super::lines;
use crate::random::Random;

/// Most lines of a kernel, counted as often as annotations copy them.
const MOST_LINES: usize = 160;

/// How deep blocks stand in each other.
const MOST_DEPTH: usize = 6;

/// A random source.
pub fn grow(random: &mut Random) -> String {
    let mut grower = Grower { random, counters: vec!["i".to_owned()], names: 0, functions: 0 };
    grower.source()
}

struct Grower<'r> {
    random: &'r mut Random,
    /// What indices are made of.
    counters: Vec<String>,
    /// Names that were given.
    names: usize,
    /// Functions that may be called.
    functions: usize,
}

impl Grower<'_> {
    fn source(&mut self) -> String {
        let functions = self.functions();
        let (arguments, copies) = self.arguments();
        let body = self.block(0, MOST_LINES / copies);
        let end = self.pick(&["y[i] = v + w;", "y[i] = if a > b { v } else { w };", "y[i] = v; y[i + 1] = w; y[i + 2] = a as f32;"]);
        let inner = format!("let mut v = x[i]; let mut w = w; let mut a = z[i];\n{body}{end}");
        let guarded = match self.below(4) {
            0 => inner,
            1 => format!("if i >= y.len() {{ return; }}\n{inner}"),
            _ => format!("if i < y.len() {{\n{inner}\n}}"),
        };
        format!(
            "{functions}#[kernel({arguments})]\npub fn k(m: usize, w: f32, b: u32, x: &Global<f32>, z: &Global<u32>, y: &mut Global<f32>) {{\n\
             let i = global_id().x;\n{guarded}\n}}\n"
        )
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }

    fn fresh(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// The kernel's arguments, and how many copies they make.
    fn arguments(&mut self) -> (String, usize) {
        let mut words = vec![format!("block = {}", self.pick(&["32", "64", "128", "256"]))];
        let mut copies = 1;
        if self.below(3) == 0 {
            let n = self.pick(&["2", "3", "4", "8"]);
            copies *= n.parse::<usize>().expect("a number");
            words.push(format!("ilp = {n}"));
        }
        if self.below(4) == 0 {
            let n = self.pick(&["2", "4"]);
            copies *= n.parse::<usize>().expect("a number");
            words.push(format!("vectorize = {n}"));
        }
        if self.below(3) == 0 {
            words.push("batch_loads".to_owned());
        }
        if self.below(8) > 0 {
            words.push("best_effort".to_owned());
        }
        (words.join(", "), copies)
    }

    /// Some functions, each of which may call those before it.
    fn functions(&mut self) -> String {
        let count = self.below(5);
        let mut text = String::new();
        for n in 0..count {
            self.functions = n;
            let body = match self.below(4) {
                0 => "let mut t = s; for _ in 0..n { t = t * t + 1.0; } t".to_owned(),
                1 => "if s > 1.0 { return s * 0.5; } s + n as f32".to_owned(),
                2 => "match n { 0 => s, 1 => s * 2.0, 2..=9 => -s, _ => 1.0 }".to_owned(),
                _ => format!("{} + {}", self.call("s", "n"), self.call("s * 2.0", "n + 1")),
            };
            text += &format!("#[device] fn f{n}(s: f32, n: u32) -> f32 {{ {body} }}\n");
        }
        self.functions = count;
        text
    }

    fn call(&mut self, float: &str, number: &str) -> String {
        match self.functions {
            0 => format!("({float}) * ({number}) as f32"),
            count => format!("f{}({float}, {number})", self.below(count)),
        }
    }

    fn index(&mut self) -> String {
        let (first, second) = (self.below(self.counters.len()), self.below(self.counters.len()));
        let (first, second) = (self.counters[first].clone(), self.counters[second].clone());
        match self.below(7) {
            0 => first,
            1 => format!("{first} + {}", self.below(100)),
            2 => format!("{first} * m + {second}"),
            3 => format!("{first} * {} + {second}", self.below(9) + 1),
            4 => format!("(a as usize + {first}) % m"),
            5 => format!("z[{first}] as usize"),
            _ => format!("i + {second}"),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        match self.below(if depth > 3 { 4 } else { 11 }) {
            0 | 1 => "v".to_owned(),
            2 => "w".to_owned(),
            3 => format!("{}.5", self.below(50)),
            4 => format!("x[{}]", self.index()),
            5 => format!("({}).{}()", self.float(depth + 1), self.pick(&["sqrt", "abs", "exp", "sin", "floor"])),
            6 => {
                let inner = self.float(depth + 1);
                self.call(&inner, "a")
            }
            7 => format!("(if {} {{ {} }} else {{ {} }})", self.condition(), self.float(depth + 1), self.float(depth + 1)),
            _ => format!("({} {} {})", self.float(depth + 1), self.pick(&["+", "-", "*", "/"]), self.float(depth + 1)),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        match self.below(if depth > 3 { 4 } else { 9 }) {
            0 | 1 => "a".to_owned(),
            2 => "b".to_owned(),
            3 => (self.below(500) + 1).to_string(),
            4 => format!("z[{}]", self.index()),
            5 => format!("({} {} {})", self.number(depth + 1), self.pick(&["/", "%", "<<", ">>"]), self.below(30) + 1),
            _ => format!("({} {} {})", self.number(depth + 1), self.pick(&["+", "*", "^", "&", "|"]), self.number(depth + 1)),
        }
    }

    fn condition(&mut self) -> String {
        let n = if self.below(12) == 0 { 12 } else { 1 + self.below(2) };
        let op = self.pick(&["&&", "||"]);
        let parts: Vec<String> = (0..n)
            .map(|_| match self.below(4) {
                0 => format!("v > {}.5", self.below(99)),
                1 => format!("{} < m", self.counters[self.counters.len() - 1]),
                2 => format!("a & {} == {}", self.below(60) + 1, self.below(8)),
                _ => "w < v".to_owned(),
            })
            .collect();
        parts.join(&format!(" {op} "))
    }

    /// Statements that are written out as about `room` lines.
    fn block(&mut self, depth: usize, room: usize) -> String {
        let mut text = String::new();
        let mut left = room;
        while left > 0 {
            let mine = if depth == 0 { left.min(MOST_LINES / 3) } else { left };
            let used = 1 + self.below(mine);
            text += &self.statement(depth, used);
            left -= used;
            if self.below(5) == 0 {
                break;
            }
        }
        text
    }

    fn statement(&mut self, depth: usize, room: usize) -> String {
        let inside = depth < MOST_DEPTH && room > 2;
        match self.below(if inside { 16 } else { 9 }) {
            0 => {
                let line =
                    self.pick(&["v = v * w + 1.5;", "v = v * v + w;", "w = (v + w) * (v - w);", "v = if v > w { w * 2.0 } else { v };"]);
                lines(room, |_| line.to_owned())
            }
            1 => {
                let line =
                    self.pick(&["a = a * a + b;", "a ^= a << 13; a ^= a >> 17;", "a = (a ^ (a << 5)) + (a & b);", "a = a / 3 + a % 7;"]);
                lines(room, |_| line.to_owned())
            }
            2 => {
                let arms = lines(room, |n| format!("{n} => {},", (n * 7) % 31));
                format!("a = match a {{ {arms} _ => b }};\n")
            }
            3 => {
                let arms = lines(room, |n| format!("({}, {n}..) if v > {n}.0 => {n}.5,", n % 5));
                format!("w = match (a % 8, b) {{ {arms} _ => v }};\n")
            }
            4 => lines(room.min(30), |n| format!("v += x[i + {n}];")),
            5 => lines(room.min(20), |n| format!("y[i + {n}] = v + {n}.0;")),
            6 => {
                let name = self.fresh("l");
                let (length, value) = (room.min(12) + 1, self.float(2));
                format!("let mut {name} = [{value}; {length}]; {name}[a as usize % {length}] = w; v += {name}[i % {length}];\n")
            }
            7 => format!("v = {};\nw = {};\n", self.float(0), self.float(1)),
            8 => format!("a = {};\n", self.number(0)),
            9 => format!("if {} {{\n{}}}\n", self.condition(), self.block(depth + 1, room - 1)),
            10 => {
                let (first, second) = (self.block(depth + 1, room / 2), self.block(depth + 1, room - room / 2));
                format!("if {} {{\n{first}}} else {{\n{second}}}\n", self.condition())
            }
            11 => {
                let limit = self.below(30);
                format!("while v > {limit}.0 {{\n{} v -= 1.0;\n}}\n", self.block(depth + 1, room - 1))
            }
            12 => {
                let exit = self.pick(&["break", "continue", "return"]);
                let (name, condition) = (self.fresh("j"), self.condition());
                let body = self.with(&name.clone(), |grower| grower.block(depth + 1, room - 1));
                format!("for {name} in 0..m {{\n{body}if {condition} {{ {exit}; }}\nv += x[{name}];\n}}\n")
            }
            _ => self.annotated(depth, room),
        }
    }

    fn with<T>(&mut self, counter: &str, make: impl FnOnce(&mut Self) -> T) -> T {
        self.counters.push(counter.to_owned());
        let made = make(self);
        self.counters.pop();
        made
    }

    /// A loop with annotations.
    fn annotated(&mut self, depth: usize, room: usize) -> String {
        let name = self.fresh("j");
        let (mut marks, mut copies) = (String::new(), 1);
        let trips = self.below(9) + 1;
        let mut is_known = self.below(3) == 0;
        if self.below(3) == 0 {
            let n = self.below(4) + 2;
            copies *= n;
            marks += &format!("#[ilp({n}, best_effort)] ");
        }
        match self.below(5) {
            0 => {
                (is_known, copies) = (true, copies * trips);
                marks += "#[unroll(best_effort)] ";
            }
            1 => {
                let n = self.below(6) + 2;
                copies *= n;
                marks += &format!("#[unroll({n}, best_effort)] ");
            }
            _ => {}
        }
        if self.below(3) == 0 {
            marks += "#[batch_loads(best_effort)] ";
        }
        if self.below(4) == 0 {
            marks += "#[prefetch(best_effort)] ";
        }
        let end = match (is_known, self.counters.len()) {
            (true, _) => trips.to_string(),
            (false, 1) => "m".to_owned(),
            // A triangle, now and then.
            (false, _) if self.below(3) == 0 => self.counters[self.counters.len() - 1].clone(),
            _ => "m".to_owned(),
        };
        let sum =
            self.pick(&["v += x[i * m + J];", "w += x[J] * z[J] as f32;", "y[i * m + J] = w;", "a ^= z[i + J];", ""]).replace('J', &name);
        let body = self.with(&name.clone(), |grower| grower.block(depth + 1, (room / copies).saturating_sub(1)));
        format!("{marks}for {name} in 0..{end} {{\n{body}{sum}\n}}\n")
    }
}
