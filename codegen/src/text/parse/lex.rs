//! Tokens of the text form.

use super::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// A letter or `_`, then letters, digits and `_`.
    Word(&'t str),
    /// From a digit, or `-` and a digit, on: `7`, `-1.5e-7`, `0x7fc00000`.
    Number(&'t str),
    /// A string, its escapes resolved.
    Text(String),
    /// Anything else.
    Sign(char),
    /// End of a line that is not empty.
    Newline,
    End,
}

impl Token<'_> {
    /// How an error names it.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(text) | Token::Number(text) => format!("`{text}`"),
            Token::Text(text) => format!("{text:?}"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Newline => "the end of the line".to_owned(),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// The tokens, each with its line from 1; the last is `End`.
pub(super) fn lex(text: &str) -> Result<Vec<(Token<'_>, usize)>, ParseError> {
    let mut tokens = Vec::new();
    let mut last_line = 1;
    for (n, line) in text.lines().enumerate() {
        last_line = n + 1;
        let before = tokens.len();
        let mut rest = line;
        let mut is_after_dot = false;
        while let Some((token, after)) = next(rest, is_after_dot).map_err(|message| ParseError { line: last_line, message })? {
            is_after_dot = token == Token::Sign('.');
            tokens.push((token, last_line));
            rest = after;
        }
        if tokens.len() > before {
            tokens.push((Token::Newline, last_line));
        }
    }
    tokens.push((Token::End, last_line));
    Ok(tokens)
}

/// The first token of a line's rest and what is behind it; `None` at its end or a comment. After a dot a number has digits only:
/// `m0.1.2` has no `1.2` in it.
fn next(text: &str, is_after_dot: bool) -> Result<Option<(Token<'_>, &str)>, String> {
    let text = text.trim_start();
    let Some(first) = text.chars().next().filter(|_| !text.starts_with("//")) else { return Ok(None) };
    let second = text[first.len_utf8()..].chars().next().unwrap_or(' ');
    let (token, length) = match first {
        '"' => return string(text).map(Some),
        c if c.is_ascii_alphabetic() || c == '_' => {
            let length = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
            (Token::Word(&text[..length]), length)
        }
        c if c.is_ascii_digit() || (c == '-' && second.is_ascii_digit() && !is_after_dot) => {
            let digits = || text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let length = if is_after_dot { digits() } else { number_length(text) };
            (Token::Number(&text[..length]), length)
        }
        c => (Token::Sign(c), c.len_utf8()),
    };
    Ok(Some((token, &text[length..])))
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_hex = text.trim_start_matches('-').starts_with("0x");
    let mut n = 1;
    while let Some(byte) = bytes.get(n) {
        let goes_on = match byte {
            b'.' => bytes.get(n + 1).is_some_and(u8::is_ascii_digit),
            b'+' | b'-' => !is_hex && bytes[n - 1].eq_ignore_ascii_case(&b'e'),
            byte => byte.is_ascii_alphanumeric() || *byte == b'_',
        };
        if !goes_on {
            break;
        }
        n += 1;
    }
    n
}

/// A string at the start of `text`, with the escapes of Rust's `{:?}`.
fn string(text: &str) -> Result<(Token<'_>, &str), String> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(value), &text[at + 1..])),
            '\\' => value.push(escape(&mut chars.by_ref().map(|(_, c)| c))?),
            c => value.push(c),
        }
    }
    Err("a string without end".to_owned())
}

fn escape(chars: &mut impl Iterator<Item = char>) -> Result<char, String> {
    match chars.next() {
        Some('n') => Ok('\n'),
        Some('t') => Ok('\t'),
        Some('r') => Ok('\r'),
        Some('0') => Ok('\0'),
        Some(c @ ('"' | '\'' | '\\')) => Ok(c),
        Some('u') => {
            let digits: String = chars.skip_while(|c| *c == '{').take_while(|c| *c != '}').take(8).collect();
            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).ok_or(format!("`\\u{{{digits}}}` is not a character"))
        }
        other => Err(format!("`\\{}` is not an escape", other.unwrap_or(' '))),
    }
}
