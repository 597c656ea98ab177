//! What the terminal is like: whether standard output and standard error take colour, how wide they are, whether a person is there to watch
//! progress. Nothing else in the command asks.

use anstyle::{AnsiColor, Style};
use std::io::IsTerminal;

/// Columns of a terminal that does not say how wide it is.
const UNKNOWN_WIDTH: usize = 80;

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// Best figures.
pub(super) const BEST: Style = AnsiColor::Green.on_default().bold();
/// The mark of the Pareto set.
pub(super) const PARETO: Style = AnsiColor::Cyan.on_default().bold();
/// What is wrong.
pub(super) const WRONG: Style = AnsiColor::Red.on_default().bold();
/// What asks for attention without being wrong: hot source lines.
pub(super) const HOT: Style = AnsiColor::Yellow.on_default();
/// Headings.
pub(super) const HEADING: Style = Style::new().bold();
/// What is said by the way.
pub(super) const ASIDE: Style = Style::new().dimmed();

/// A variable of the environment; an empty one is none.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_terminal(stream: Stream) -> bool {
    match stream {
        Stream::Out => std::io::stdout().is_terminal(),
        Stream::Err => std::io::stderr().is_terminal(),
    }
}

/// Whether text there is coloured.
pub(super) fn colour(stream: Stream) -> bool {
    decide(is_terminal(stream), variable)
}

/// `NO_COLOR` forbids it, else `CLICOLOR_FORCE` asks for it, else a terminal that can has it, unless `CLICOLOR=0`.
fn decide(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    if variable("NO_COLOR").is_some() {
        return false;
    }
    if variable("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    is_terminal && variable("CLICOLOR").is_none_or(|value| value != "0") && variable("TERM").is_none_or(|term| term != "dumb")
}

/// Whether a bar that redraws itself on standard error has someone to look at it.
pub(super) fn shows_progress() -> bool {
    is_terminal(Stream::Err) && variable("TERM").is_none_or(|term| term != "dumb")
}

/// Columns that text on standard output may have: what `COLUMNS` says, else those of the terminal. `None` in a pipe or a file: then nothing is
/// left out or wrapped.
pub(super) fn width() -> Option<usize> {
    if let Some(columns) = variable("COLUMNS").and_then(|columns| columns.trim().parse().ok()).filter(|columns| *columns > 0) {
        return Some(columns);
    }
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(stdout).map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0);
    size.or(Some(UNKNOWN_WIDTH))
}

/// Text in a style, where there is colour.
pub(super) fn paint(colour: bool, style: Style, text: &str) -> String {
    if colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// A paragraph broken at blanks to a width, later lines indented; as it is where there is no width.
pub(super) fn wrap(text: &str, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let words = text.trim_start_matches(' ');
    let mut at = text.len() - words.len();
    let mut wrapped = " ".repeat(at);
    for (n, word) in words.split(' ').enumerate() {
        let wide = columns(word);
        if at > indent && at + 1 + wide > width {
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(indent));
            at = indent;
        } else if n > 0 {
            wrapped.push(' ');
            at += 1;
        }
        wrapped.push_str(word);
        at += wide;
    }
    wrapped
}

/// Columns that text takes.
pub(super) fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_about_colour() {
        let decided = |is_terminal: bool, set: &[(&str, &str)]| {
            let set: Vec<(String, String)> = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            decide(is_terminal, |name| set.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
        };
        assert!(decided(true, &[("TERM", "xterm")]) && !decided(false, &[]));
        assert!(!decided(true, &[("NO_COLOR", "1")]) && !decided(true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
        assert!(decided(false, &[("CLICOLOR_FORCE", "1")]) && !decided(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!decided(true, &[("TERM", "dumb")]) && !decided(true, &[("CLICOLOR", "0")]));
    }

    #[test]
    fn paragraphs_are_broken_at_blanks() {
        assert_eq!(wrap("one two three", 2, Some(8)), "one two\n  three");
        assert_eq!(wrap("a-word-longer-than-that b", 2, Some(8)), "a-word-longer-than-that\n  b");
        assert_eq!(wrap("  one two three", 4, Some(9)), "  one two\n    three");
        assert_eq!(wrap("one two three", 2, None), "one two three");
    }
}
