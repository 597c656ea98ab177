//! Sources as trees of tokens: what is deleted, doubled, swapped and put elsewhere is a whole group or a token, so that most of what comes out is still
//! Rust, and goes further than the parser.

use crate::random::Random;
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::str::FromStr;

/// A token, or a group of them.
#[derive(Clone)]
enum Tree {
    Group(Delimiter, Vec<Tree>),
    /// Its text, and whether the next one follows at once.
    Token(String, bool),
}

/// Literals at edges: of types, of shifts, of warps and blocks, of what a file may ask for.
const LITERALS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "31",
    "32",
    "33",
    "63",
    "64",
    "127",
    "128",
    "255",
    "256",
    "1024",
    "1025",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "340282366920938463463374607431768211455",
    "340282366920938463463374607431768211456",
    "1e999",
    "1e-999",
    "0.0",
    "1e38f32",
    "0x7fff_ffffu32",
    "1u8",
    "255i8",
    "1f16",
    "\"text\"",
    "'c'",
    "b\"bytes\"",
    "true",
];

/// Types and what stands where types do.
const TYPES: &[&str] = &[
    "f32",
    "f64",
    "f16",
    "bf16",
    "e4m3",
    "e5m2",
    "u8",
    "i8",
    "u16",
    "u32",
    "i32",
    "u64",
    "i64",
    "u128",
    "usize",
    "isize",
    "bool",
    "char",
    "str",
    "String",
    "Dim3",
    "Self",
    "()",
    "!",
    "_",
    "[f32; 0]",
    "[f32; 4]",
    "[[f32; 32]; 32]",
    "[f32; 1 << 40]",
    "(u32, f32)",
    "Option<u32>",
    "&Global<f32>",
    "&mut Global<u32>",
    "&Matrix<f32>",
    "&mut MatrixBatch<bf16>",
    "&Constant<[f32; 16]>",
    "&Texture2d<f32>",
    "Accumulator<f32, 64, 64>",
    "Rows<f32, 64>",
    "&mut [f32; 64]",
];

/// What is put into brackets of attributes.
const ATTRIBUTES: &[&str] = &[
    "kernel(block = 0)",
    "kernel(block = (1024, 1024))",
    "kernel(block = 64, ilp = 128, vectorize = 8)",
    "kernel(block = B)",
    "kernel(block = 32, cluster = 8)",
    "kernel(block = 32, cluster = (3, 0))",
    "kernel(block = 64, variants(A in [1, 2, 3], B in [true, false]))",
    "kernel(block = 64, persistent, raster(rows = 0))",
    "kernel(block = 64, bounds = trap, math = fast, contract = false, index = 64)",
    "kernel(block = 64, require(occupancy >= 2.0, registers <= 0))",
    "kernel(block = 64, targets = [sm_90a, opencl, sm_1])",
    "kernel(block = 64, overlap, tensor = tf32, max_registers = 0)",
    "device",
    "shared",
    "shared(dynamic)",
    "shared(pad = 64)",
    "shared(swizzle = 128)",
    "shared(dynamic, pad = 3, swizzle)",
    "unroll",
    "unroll(1024)",
    "ilp(128)",
    "vectorize(8, assume_aligned)",
    "batch_loads(best_effort)",
    "prefetch",
    "pipeline(stages = 32)",
    "pipeline(stages = 2, by = tma, producer)",
    "pipeline(stages = 3, by = bulk)",
    "cache(last_use)",
    "repr(C, align(16))",
    "repr(u8)",
    "cfg(never)",
    "derive(Clone, Copy)",
];

/// Most levels that something is put under.
const DEEPEST: usize = 3_000;

fn parse(text: &str) -> Option<Vec<Tree>> {
    TokenStream::from_str(text).ok().map(trees)
}

fn trees(tokens: TokenStream) -> Vec<Tree> {
    let tree = |token| match token {
        TokenTree::Group(group) => Tree::Group(group.delimiter(), trees(group.stream())),
        TokenTree::Punct(punct) => Tree::Token(punct.as_char().to_string(), punct.spacing() == Spacing::Joint),
        other => Tree::Token(other.to_string(), false),
    };
    tokens.into_iter().map(tree).collect()
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{\n", "}\n"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

fn print(list: &[Tree], text: &mut String) {
    for tree in list {
        match tree {
            Tree::Group(delimiter, inner) => {
                let (open, close) = brackets(*delimiter);
                text.push_str(open);
                print(inner, text);
                text.push_str(close);
            }
            Tree::Token(token, is_joint) => {
                text.push_str(token);
                // Faults of what is found name lines: a file of one line would say little.
                text.push_str(if *is_joint { "" } else { " " });
                if token == ";" {
                    text.push('\n');
                }
            }
        }
    }
}

/// A list of trees somewhere in a tree, deeper ones as likely as flat ones.
fn somewhere<'t>(list: &'t mut Vec<Tree>, random: &mut Random) -> &'t mut Vec<Tree> {
    let groups: Vec<usize> = (0..list.len()).filter(|at| matches!(&list[*at], Tree::Group(_, inner) if !inner.is_empty())).collect();
    if groups.is_empty() || random.chance(15) {
        return list;
    }
    let at = groups[random.below(groups.len())];
    match &mut list[at] {
        Tree::Group(_, inner) => somewhere(inner, random),
        Tree::Token(..) => unreachable!("a group was chosen"),
    }
}

/// A list in an attribute, if there is one in this list.
fn attribute<'t>(list: &'t mut [Tree], random: &mut Random) -> Option<&'t mut Vec<Tree>> {
    let is_mark = |tree: &Tree| matches!(tree, Tree::Token(text, _) if text == "#");
    let marks: Vec<usize> = (0..list.len().saturating_sub(1)).filter(|at| is_mark(&list[*at])).collect();
    let at = *marks.get(random.below(marks.len()))? + 1;
    match &mut list[at] {
        Tree::Group(_, inner) => Some(inner),
        Tree::Token(..) => None,
    }
}

fn token(text: &str) -> Tree {
    Tree::Token(text.to_owned(), false)
}

/// A tree under many levels of brackets.
fn nested(tree: Tree, random: &mut Random) -> Tree {
    let delimiter = random.pick(&[Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket]);
    let levels = if random.chance(20) { random.below(DEEPEST) } else { random.below(60) };
    (0..levels).fold(tree, |tree, _| Tree::Group(delimiter, vec![tree]))
}

/// One change of a list.
fn change(list: &mut Vec<Tree>, donor: &mut Vec<Tree>, random: &mut Random) {
    let (at, to) = (random.below(list.len()), random.below(list.len()));
    if list.is_empty() {
        return;
    }
    match random.below(20) {
        0 => drop(list.remove(at)),
        1 => list.insert(at, list[at].clone()),
        2 => list.swap(at, to),
        3 => list[at] = list[to].clone(),
        4 => list[at] = token(random.pick(LITERALS)),
        5 => list[at] = token(random.pick(TYPES)),
        6 => {
            let tree = list[at].clone();
            list[at] = nested(tree, random);
        }
        7 | 8 => {
            let from = somewhere(donor, random);
            let start = random.below(from.len());
            let many = random.below(8);
            list.splice(at..at, from[start..].iter().take(many).cloned().collect::<Vec<_>>());
        }
        9 => {
            let end = (at + random.below(12)).min(list.len());
            list.drain(at..end);
        }
        10 => {
            let run: Vec<Tree> = list[at..].iter().take(1 + random.below(6)).cloned().collect();
            let times = random.below(40);
            list.splice(at..at, std::iter::repeat_n(run, times).flatten().collect::<Vec<_>>());
        }
        11 => list.insert(at, token(&format!("#[{}]", random.pick(ATTRIBUTES)))),
        12 | 13 => {
            // A name by another one of the list.
            let is_name = |tree: &Tree| matches!(tree, Tree::Token(text, _) if text.starts_with(|c: char| c.is_alphabetic()));
            let names: Vec<usize> = (0..list.len()).filter(|at| is_name(&list[*at])).collect();
            if let (Some(at), Some(from)) = (names.get(random.below(names.len())), names.get(random.below(names.len()))) {
                list[*at] = list[*from].clone();
            }
        }
        14 | 15 => {
            // A statement or an argument: what stands between two separators goes, or stands twice, or elsewhere.
            let is_end = |tree: &Tree| matches!(tree, Tree::Token(text, _) if text == ";" || text == ",");
            let ends: Vec<usize> = (0..list.len()).filter(|at| is_end(&list[*at])).collect();
            if ends.is_empty() {
                return;
            }
            let n = random.below(ends.len());
            let start = if n == 0 { 0 } else { ends[n - 1] + 1 };
            let run: Vec<Tree> = list[start..=ends[n]].to_vec();
            match random.below(3) {
                0 => drop(list.drain(start..=ends[n])),
                1 => drop(list.splice(start..start, run)),
                _ => {
                    let to = ends[random.below(ends.len())] + 1;
                    list.splice(to..to, run);
                }
            }
        }
        _ => {
            // A literal of the list, if it has one.
            let is_literal = |tree: &Tree| matches!(tree, Tree::Token(text, _) if text.starts_with(|c: char| c.is_ascii_digit()));
            let literals: Vec<usize> = (0..list.len()).filter(|at| is_literal(&list[*at])).collect();
            let at = literals.get(random.below(literals.len())).copied().unwrap_or(at);
            list[at] = token(random.pick(LITERALS));
        }
    }
}

/// A source as it is printed when nothing is changed.
pub fn printed(text: &str) -> Option<String> {
    let mut again = String::new();
    print(&parse(text)?, &mut again);
    Some(again)
}

/// One to three changes of a source. What does not parse as tokens stays as it is.
pub fn spoil(text: &str, other: &str, random: &mut Random) -> String {
    let (Some(mut list), Some(mut donor)) = (parse(text), parse(other)) else { return text.to_owned() };
    let changes = if random.chance(60) { 1 } else { 1 + random.below(3) };
    for _ in 0..changes {
        let place = somewhere(&mut list, random);
        let in_attribute = random.chance(25);
        match if in_attribute { attribute(place, random) } else { None } {
            Some(inner) if random.chance(40) => *inner = vec![token(random.pick(ATTRIBUTES))],
            Some(inner) => {
                let inner = somewhere(inner, random);
                change(inner, &mut donor, random);
            }
            None => {
                let place = somewhere(&mut list, random);
                change(place, &mut donor, random);
            }
        }
    }
    let mut spoilt = String::new();
    print(&list, &mut spoilt);
    spoilt
}
