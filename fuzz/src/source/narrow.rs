//! Loops over a row of elements that is the thread's own, read and written in one body, at indices that narrow types cut and wrap; and loops over narrow types up to their last number.
//!
//! An index is made together with the number that it is in every iteration: so it is in range whatever cuts it, and it is known which loads meet which stores.

use super::annotations::feature_of;
use super::kernel::{Kernel, Passed};
use super::scope::{Generator, Ty};
use super::threads::generator;
use super::tiles::{made, parameter};
use super::tree::Node;
use super::types::Scalar;
use crate::random::Random;

/// What is computed of a loop's counter.
#[derive(Clone)]
struct Index {
    text: String,
    /// None for `usize`, which is never negative here, and the same on every device.
    ty: Option<Scalar>,
    /// Its number in every iteration.
    numbers: Vec<i128>,
}

/// A row of a buffer: `buffer[first + index]` for indices below `len`, a power of two or more than 256.
struct Row {
    buffer: String,
    first: String,
    scalar: Scalar,
    len: usize,
}

/// A loop: its range and its counter.
struct Walk {
    range: String,
    counter: Index,
}

/// The number that a type of integers has for it.
fn wrapped(number: i128, ty: Scalar) -> i128 {
    let modulus = 1i128 << ty.bits();
    let low = number.rem_euclid(modulus);
    if ty.is_signed() && low >= modulus / 2 { low - modulus } else { low }
}

fn greatest(ty: Scalar) -> i128 {
    (1i128 << (ty.bits() - usize::from(ty.is_signed()))) - 1
}

impl Index {
    fn least(&self) -> i128 {
        self.numbers.iter().copied().min().unwrap_or(0)
    }

    fn most(&self) -> i128 {
        self.numbers.iter().copied().max().unwrap_or(0)
    }

    /// It with an operation behind it, which wraps as its type does.
    fn with(self, text: String, change: impl Fn(i128) -> i128) -> Index {
        let ty = self.ty;
        let fitting = |number: i128| ty.map_or(number, |ty| wrapped(number, ty));
        Index { text, ty, numbers: self.numbers.iter().map(|number| fitting(change(*number))).collect() }
    }

    fn cast(self, ty: Scalar) -> Index {
        let text = format!("({} as {})", self.text, ty.name());
        Index { ty: Some(ty), ..self }.with(text, |number| number)
    }

    /// As an index below `len`.
    fn below(self, len: usize) -> Index {
        let mut index = self;
        if let Some(ty) = index.ty.filter(|ty| ty.is_signed() && index.least() < 0) {
            index = index.cast(ty.unsigned());
        }
        if index.most() >= len as i128 {
            let text = format!("({} % {len})", index.text);
            index = index.with(text, |number| number % len as i128);
        }
        match index.ty {
            Some(_) => Index { text: format!("({} as usize)", index.text), ty: None, ..index },
            None => index,
        }
    }

    /// In how many iterations both are one number.
    fn meets(&self, other: &Index) -> usize {
        self.numbers.iter().zip(&other.numbers).filter(|(a, b)| a == b).count()
    }
}

impl Generator<'_> {
    /// A loop's range: of a wide type near and beyond what a narrow one holds, or of a narrow one up to its last number.
    fn walk(&mut self, counter: &str, most: usize) -> Walk {
        let ty =
            self.random.pick(&[None, None, Some(Scalar::U32), Some(Scalar::I32), Some(Scalar::U64), Some(Scalar::I16), Some(Scalar::U16)]);
        if self.random.chance(35) {
            return self.narrow_walk(counter, most);
        }
        let rounds = if ty.is_some_and(|ty| ty.bits() == 16) || self.random.chance(75) { 256 } else { 65536 };
        let turns = self.turns_of(most);
        let first = match self.random.below(4) {
            0 => rounds * (1 + self.random.below(3)) + self.random.below(3),
            // Both sides of a wrap: of numbers without a sign, or of those with one.
            1 => rounds * (1 + self.random.below(3)) - 1 - self.random.below(turns.min(20)),
            2 => rounds * (1 + self.random.below(2)) + rounds / 2 - 1 - self.random.below(turns.min(20)),
            _ => self.random.below(3),
        };
        if rounds < first + turns {
            self.hit("for.past_a_narrow_type");
        }
        let suffix = ty.map_or("usize", Scalar::name);
        let end = first + turns;
        let plain = match self.random.below(10) {
            0 => format!("({first}{suffix}..{end}).rev()"),
            1 => format!("({first}{suffix}..{end}).step_by(2)"),
            2..=4 if ty.is_none() && turns > 1 => format!("{first}..{end} - {} % 2", self.own.1),
            5 => format!("{first}{suffix}..={}", end - 1),
            _ => format!("{first}{suffix}..{end}"),
        };
        // What steps by two has its numbers, too: those between are in range for nothing.
        let numbers = (first..end).map(|number| number as i128).collect();
        Walk { range: plain, counter: Index { text: counter.to_owned(), ty, numbers } }
    }

    fn narrow_walk(&mut self, counter: &str, most: usize) -> Walk {
        self.hit("for.narrow_to_last");
        let ty = self.random.pick(&[Scalar::U8, Scalar::U8, Scalar::I8, Scalar::U16, Scalar::I16]);
        let turns = self.turns_of(most).min(1 << ty.bits());
        let last = greatest(ty);
        let first = last + 1 - turns as i128;
        let t = ty.name();
        let range = match self.random.below(8) {
            0 => format!("({first}{t}..={last}).rev()"),
            1 => format!("({first}{t}..={last}).step_by(2)"),
            2 if turns > 1 && turns < 100 => format!("{first}{t} + ({} % 2) as {t}..={last}", self.own.1),
            3 => format!("{first}{t}..={t}::MAX"),
            _ => format!("{first}{t}..={last}"),
        };
        let numbers = (first..=last).collect();
        Walk { range, counter: Index { text: counter.to_owned(), ty: Some(ty), numbers } }
    }

    /// Turns of a loop: groups of vectors often, and all numbers of a byte if there is room.
    fn turns_of(&mut self, most: usize) -> usize {
        let all: &[usize] = if most >= 300 { &[8, 16, 5, 32, 300, 260] } else { &[8, 4, 7, 5] };
        self.random.pick(all).min(most)
    }

    /// One more operation.
    fn step(&mut self, index: Index) -> Index {
        let narrow: &[Scalar] = &[Scalar::U8, Scalar::U8, Scalar::I8, Scalar::U16, Scalar::I16];
        let text = index.text.clone();
        let (least, most) = (index.least(), index.most());
        // What brings the first number, or the round that it is in, to 0: in the type that it is in.
        let home = |g: &mut Self| least - if g.random.chance(50) { least.rem_euclid(256) } else { 0 };
        match self.random.below(10) {
            0..=3 => {
                self.hit("index.narrow_cast");
                let ty = self.random.pick(narrow);
                index.cast(ty)
            }
            4 if index.ty.is_none() => {
                let by = home(self);
                index.with(format!("({text} - {by})"), |number| number - by)
            }
            4 | 5 if index.ty.is_some() => {
                let Some(ty) = index.ty else { return index };
                self.hit("index.wrapping");
                let small = 1 + self.random.below(9) as i128;
                match self.random.below(4) {
                    0 => index.with(format!("{text}.wrapping_add({small})"), |number| number + small),
                    1 => index.with(format!("{text}.wrapping_mul({small})"), |number| number * small),
                    _ => {
                        let by = home(self);
                        let by = if by >= 0 { by } else { 0 };
                        debug_assert!(by <= greatest(ty), "{by} is one of its numbers");
                        index.with(format!("{text}.wrapping_sub({by})"), |number| number - by)
                    }
                }
            }
            6 => {
                self.hit("index.masked");
                let mask = self.random.pick(&[7i128, 15, 63, 127, 255]);
                let mask = index.ty.map_or(mask, |ty| mask.min(greatest(ty)));
                index.with(format!("({text} & {mask})"), |number| number & mask)
            }
            7 => {
                let by = self.random.below(5) as i128;
                index.with(format!("({text} + {by})"), |number| number + by)
            }
            8 if least >= 0 => {
                let by = self.random.below(3);
                index.with(format!("({text} >> {by})"), |number| number >> by)
            }
            9 => {
                let ty = self.random.pick(&[Scalar::U32, Scalar::I32, Scalar::U64]);
                index.cast(ty)
            }
            _ if most < 1 << 20 && least >= 0 && index.ty.is_some() => Index { text: format!("({text} as usize)"), ty: None, ..index },
            _ => index,
        }
    }

    /// An index of the counter: the iteration's number in one of several ways, or anything.
    fn index_of(&mut self, counter: &Index, len: usize) -> Index {
        if self.random.chance(60) {
            return self.number_of_turn(counter, len).below(len);
        }
        let mut index = counter.clone();
        for _ in 0..1 + self.random.below(3) {
            index = self.step(index);
        }
        index.below(len)
    }

    /// The iteration's number, counted from the first or from a multiple of 256, in a wide type or in a narrow one.
    fn number_of_turn(&mut self, counter: &Index, len: usize) -> Index {
        let (text, first) = (&counter.text, counter.least());
        let round = first - first.rem_euclid(256);
        let has_room = counter.most() - round < len as i128;
        let home = if has_room && self.random.chance(60) { round } else { first };
        let is_wide = counter.ty.is_none_or(|ty| ty.bits() > 8);
        if first < 0 || is_wide && self.random.chance(50) {
            self.hit("index.narrow_cast");
            let narrow = if is_wide { self.random.pick(&[Scalar::U8, Scalar::U8, Scalar::I8, Scalar::U16]) } else { Scalar::U8 };
            let narrow = if first < 0 { counter.ty.map_or(narrow, Scalar::unsigned) } else { narrow };
            let mut index = counter.clone().cast(narrow);
            if narrow.is_signed() {
                index = index.cast(narrow.unsigned());
            }
            let by = wrapped(home, narrow.unsigned());
            if by != 0 {
                let text = format!("{}.wrapping_sub({by})", index.text);
                index = index.with(text, |number| number - by);
            }
            return index;
        }
        match counter.ty {
            Some(_) if self.random.chance(50) => {
                let numbers = counter.numbers.iter().map(|number| number - home).collect();
                Index { text: format!("({text} as usize - {home})"), ty: None, numbers }
            }
            _ => counter.clone().with(format!("({text} - {home})"), |number| number - home),
        }
    }

    /// An index that meets the other one in some iterations, if one is found soon.
    fn meeting(&mut self, counter: &Index, other: &Index, len: usize) -> Index {
        let mut best = self.index_of(counter, len);
        for _ in 0..self.random.below(8) {
            let next = self.index_of(counter, len);
            let is_better = (best.text == other.text || best.meets(other) == 0) && next.text != other.text && next.meets(other) > 0;
            if is_better {
                best = next;
            }
        }
        best
    }

    /// Annotations of such a loop, in the order in which they apply.
    fn row_annotations(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        if self.random.chance(35) {
            all.push(format!("vectorize({})", self.random.pick(&[2, 4, 8])));
        }
        if self.random.chance(30) {
            all.push(format!("ilp({})", self.random.pick(&[2, 3, 4])));
        }
        if self.random.chance(20) {
            all.push(self.random.pick(&["unroll(2)", "unroll(4)", "unroll(3)"]).to_owned());
        }
        if self.random.chance(25) {
            all.push("prefetch".to_owned());
        }
        if self.random.chance(60) {
            all.push("batch_loads".to_owned());
        }
        all.iter().for_each(|annotation| self.hit(feature_of(annotation)));
        all
    }

    /// A loop that reads and writes the row, and the sum that it makes.
    fn row_loop(&mut self, row: &Row, most: usize) -> (Vec<Node>, String) {
        self.hit("row.read_and_written");
        let [counter, sum] = [0; 2].map(|_| self.unique_name());
        let Walk { range, counter: k } = self.walk(&counter, most);
        let t = row.scalar.name();
        let mut body = Vec::new();
        let written = self.index_of(&k, row.len);
        let mut last = None;
        for _ in 0..2 + self.random.below(3) {
            let is_store = self.random.chance(45);
            let index = match (is_store, self.random.chance(70)) {
                (true, true) => written.clone(),
                _ => self.meeting(&k, &written, row.len),
            };
            let place = format!("{}[{} + {}]", row.buffer, row.first, index.text);
            if is_store {
                let value = match (&last, self.random.below(3)) {
                    (Some(last), 0 | 1) => format!("{last} * 3 + ({counter} as {t})"),
                    _ => format!("({counter} as {t}) * {}", 3 + self.random.below(9)),
                };
                let operator = self.random.pick(&["=", "=", "^=", "+="]);
                body.push(Node::line(format!("{place} {operator} {value};")));
            } else {
                let value = self.unique_name();
                let change = match self.random.below(4) {
                    0 => format!("{sum} ^= {value};"),
                    1 => format!("{sum} = {sum} * 3 + {value};"),
                    _ => format!("{sum} += {value};"),
                };
                let load = vec![Node::line(format!("let {value} = {place};")), Node::line(change)];
                if self.random.chance(12) {
                    body.push(Node::block(format!("if {counter} % 3 != 1"), load));
                } else {
                    body.extend(load);
                    last = Some(value);
                }
            }
        }
        let annotations = self.row_annotations();
        self.bind(&sum, Ty::Scalar(row.scalar), true);
        let nodes = vec![
            Node::line(format!("let mut {sum} = {}{t};", 1 + self.random.below(9))),
            Node::Block { head: format!("for {counter} in {range}"), annotations, body, otherwise: Vec::new(), end: String::new() },
        ];
        (nodes, sum)
    }

    /// Such a loop over the thread's own words.
    pub(super) fn own_row_loop(&mut self) -> Node {
        let Some((words, each)) = self.own_words.clone().filter(|(_, each)| self.turns >= *each) else { return self.statement(0) };
        let row = Row { buffer: words, first: format!("{} * {each}", self.own.0), scalar: Scalar::U64, len: each };
        let (mut body, sum) = self.scoped(|g| g.row_loop(&row, each));
        let name = self.unique_name();
        self.bind(&name, Ty::Scalar(Scalar::U64), false);
        body.push(Node::line(sum));
        Node::Block { head: format!("let {name} ="), annotations: Vec::new(), body, otherwise: Vec::new(), end: ";".to_owned() }
    }
}

/// Threads with rows of their own, and loops over them.
pub(super) fn kernel(random: &mut Random) -> Kernel {
    let mut g = generator(random);
    let scalar = g.random.pick(&Scalar::INTEGERS);
    let len = g.random.pick(&[16usize, 64, 256, 320]);
    let block = g.random.pick(&[8usize, 16, 32]);
    g.own = ("i".to_owned(), "i".to_owned());
    let row = Row { buffer: "y".to_owned(), first: format!("i * {len}"), scalar, len };
    let mut body = vec![Node::line("let i = global_id().x;")];
    let mut sums = Vec::new();
    for _ in 0..1 + g.random.below(2) {
        let (nodes, sum) = g.row_loop(&row, if len > 64 { 300 } else { 32 });
        body.extend(nodes);
        sums.push(sum);
    }
    body.push(Node::line(format!("out[i] = {};", sums.join(" ^ "))));
    let seed = g.random.below(1000);
    let parameters = vec![
        parameter("y", scalar, Passed::Global { len: block * 2 * len, is_written: true, is_zero: false }, seed),
        parameter("out", scalar, Passed::Global { len: block * 2, is_written: true, is_zero: true }, seed + 1),
    ];
    Kernel { family: "narrow", ..made(&mut g, Vec::new(), block as u32, [2, 1, 1], parameters, body) }
}
