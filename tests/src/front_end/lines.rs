//! Texts of lines and words: what is changed is a line, a word, a number, a bracket or a byte.

use crate::random::Random;

/// What replaces words.
const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e999",
    "nan",
    "inf",
    "true",
    "v0",
    "v1",
    "v4000000000",
    "b0",
    "@0",
    "%1",
    "f32",
    "f64",
    "i32",
    "u64",
    "bool",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "\"",
    "'",
    "=",
    ",",
    ":",
    "->",
    "\\u{0}",
    "\u{10ffff}",
    "loop",
    "if",
    "for",
    "break",
    "yield",
    "return",
    "[[[[[[[[",
    "{a={a={a=",
];

fn words(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut last = None;
    for c in line.chars() {
        let kind = (c.is_alphanumeric() || c == '_' || c == '.', c.is_whitespace());
        match found.last_mut() {
            Some(word) if last == Some(kind) && kind != (false, false) => word.push(c),
            _ => found.push(c.to_string()),
        }
        last = Some(kind);
    }
    found
}

/// One to five changes of a text.
pub fn spoil(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + random.below(5) {
        if lines.is_empty() {
            break;
        }
        let (at, to) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(12) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[to].clone()),
            2 => lines.swap(at, to),
            3 => {
                let line = lines[at].clone();
                let times = random.below(200);
                lines.splice(at..at, std::iter::repeat_n(line, times));
            }
            4 => {
                // The end of the text is missing.
                lines.truncate(at + 1);
                let cut = lines[at].char_indices().nth(random.below(lines[at].chars().count() + 1)).map_or(lines[at].len(), |(at, _)| at);
                lines[at].truncate(cut);
            }
            5 => lines[at] = format!("{}{}", random.pick(WORDS).repeat(random.below(5_000)), lines[at]),
            _ => {
                let mut list = words(&lines[at]);
                if list.is_empty() {
                    continue;
                }
                let (word, other) = (random.below(list.len()), random.below(list.len()));
                match random.below(5) {
                    0 => drop(list.remove(word)),
                    1 => list.swap(word, other),
                    2 => list.insert(word, list[other].clone()),
                    _ => list[word] = random.pick(WORDS).to_owned(),
                }
                lines[at] = list.concat();
            }
        }
    }
    lines.join("\n")
}
