//! How findings are written into a file, and read again. What was not written so, or was changed since, is not read.
//!
//! ```text
//! warpwright 5f0c…          the number of what follows
//! entry 91a2…               the number of the question
//! finding warning bank_conflict 0:4:12 5 -
//! message …                 line breaks as `\n`
//! label 0:2:4 …
//! help …
//! ```

use super::plain::{Found, Plain};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use warpwright_codegen::diagnostic::Level;
use warpwright_codegen::syntax::UnitId;
use warpwright_review::crates::Spot;
use warpwright_review::lint;

/// What was found for a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) question: String,
    pub(super) found: Vec<Found>,
}

/// A number that two texts share by accident in one of 2¹²⁸ cases.
pub(super) fn number(text: &str) -> String {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, text).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}

pub(super) fn write(entries: &[Entry]) -> String {
    let mut body = String::new();
    for Entry { question, found } in entries {
        line(&mut body, format_args!("entry {question}"));
        for finding in found {
            let level = match finding.level {
                Level::Warning => "warning",
                Level::Error => "error",
            };
            let (lint, at, width) = (finding.lint.unwrap_or("-"), spot_text(finding.at), finding.width);
            let too = if finding.is_rustcs_too { "rustc" } else { "-" };
            line(&mut body, format_args!("finding {level} {lint} {at} {width} {too}"));
            line(&mut body, format_args!("message {}", escaped(&finding.message)));
            for (at, text) in &finding.labels {
                line(&mut body, format_args!("label {} {}", spot_text(*at), escaped(text)));
            }
            if let Some(help) = &finding.help {
                line(&mut body, format_args!("help {}", escaped(help)));
            }
        }
    }
    format!("warpwright {}\n{body}", number(&body))
}

fn line(body: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(body, "{line}").expect("a String takes all");
}

/// The entries of a file; `None`: it was not written by [`write`].
pub(super) fn read(text: &str) -> Option<Vec<Entry>> {
    let (first, body) = text.split_once('\n')?;
    if first.strip_prefix("warpwright ")? != number(body) {
        return None;
    }
    let mut entries: Vec<Entry> = Vec::new();
    for line in body.lines() {
        let (kind, rest) = line.split_once(' ')?;
        if kind == "entry" {
            entries.push(Entry { question: rest.to_owned(), found: Vec::new() });
            continue;
        }
        let found = &mut entries.last_mut()?.found;
        if kind == "finding" {
            let [level, lint, at, width, too] = rest.split(' ').collect::<Vec<_>>().try_into().ok()?;
            let level = match level {
                "warning" => Level::Warning,
                "error" => Level::Error,
                _ => return None,
            };
            let lint = if lint == "-" { None } else { Some(lint::find(lint).ok()?.name) };
            let (width, is_rustcs_too) = (width.parse().ok()?, too == "rustc");
            let (message, labels) = (String::new(), Vec::new());
            found.push(Plain { level, message, at: spot(at)?, labels, help: None, lint, width, is_rustcs_too });
            continue;
        }
        let finding = found.last_mut()?;
        match kind {
            "message" => finding.message = unescaped(rest),
            "help" => finding.help = Some(unescaped(rest)),
            "label" => {
                let (at, text) = rest.split_once(' ')?;
                finding.labels.push((spot(at)?, unescaped(text)));
            }
            _ => return None,
        }
    }
    Some(entries)
}

fn spot_text(spot: Option<Spot>) -> String {
    spot.map_or_else(|| "-".to_owned(), |spot| format!("{}:{}:{}", spot.unit.0, spot.line, spot.column))
}

/// The outer `None`: it is no spot.
fn spot(text: &str) -> Option<Option<Spot>> {
    if text == "-" {
        return Some(None);
    }
    let numbers: Vec<usize> = text.split(':').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [unit, line, column] = numbers.try_into().ok()?;
    Some(Some(Spot { unit: UnitId(unit), line, column }))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(text: &str) -> String {
    let mut all = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        all.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            c => c,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let at = |line| Some(Spot { unit: UnitId(line % 3), line, column: 7 });
        let finding = |lint, help: Option<&str>| Plain {
            level: if lint == Some("unchecked") { Level::Error } else { Level::Warning },
            message: "`a\\n` is\r\n32-way \\ entry x\nfinding y".to_owned(),
            at: at(4),
            labels: vec![(at(5), "two  spaces ".to_owned()), (None, String::new())],
            help: help.map(str::to_owned),
            lint,
            width: 12,
            is_rustcs_too: lint.is_none(),
        };
        let found =
            vec![finding(Some("bank_conflict"), Some("pad it\nhelp me")), finding(None, None), finding(Some("unchecked"), Some(""))];
        vec![Entry { question: number("a"), found }, Entry { question: number("b"), found: Vec::new() }]
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&write(&entries())), Some(entries()));
        assert_eq!(read(&write(&[])), Some(Vec::new()));
        assert_ne!(number("a"), number("b"));
    }

    #[test]
    fn what_was_changed_is_not_read() {
        let text = write(&entries());
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert_eq!(read(&text[..end]), None, "{}", &text[..end]);
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert_eq!(String::from_utf8(bytes).ok().and_then(|text| read(&text)), None, "byte {at}");
        }
        // Whole, but of a version that knows more.
        for body in [
            "finding warning - - 0 -\n",
            "entry a\nfinding warning no_such_lint - 0 -\n",
            "entry a\nfinding note - - 0 -\n",
            "entry a\nfinding warning - - x -\n",
            "entry a\nmore b\n",
        ] {
            assert_eq!(read(&format!("warpwright {}\n{body}", number(body))), None, "{body}");
        }
    }
}
