//! The tokens of a text (PTX ISA, "Syntax").

use crate::error::ParseError;

/// What a text is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'t> {
    /// A name, an opcode with its modifiers, or a directive with its dot.
    Word(&'t str),
    /// A literal, by its bits: integers of 64 bits, `0f` of 32, `0d` of 64.
    Number(u64),
    /// The content of a string.
    Text(&'t str),
    /// A mark by itself.
    Mark(char),
}

/// Tokens with their lines, from 1.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token<'_>, u32)>, ParseError> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\n' => {
                line += 1;
                1
            }
            _ if first.is_whitespace() => first.len_utf8(),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
                line += rest[..end].matches('\n').count() as u32;
                end
            }
            '"' => {
                let end = rest[1..].find('"').ok_or_else(|| error(line, "a string has no end"))?;
                found.push((Token::Text(&rest[1..=end]), line));
                end + 2
            }
            '0'..='9' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                found.push((Token::Number(number(&rest[..end], line)?), line));
                end
            }
            _ if is_of_word(first) => {
                let end = word_end(rest);
                found.push((Token::Word(&rest[..end]), line));
                end
            }
            ',' | ';' | ':' | '[' | ']' | '{' | '}' | '(' | ')' | '<' | '>' | '+' | '-' | '|' | '!' | '@' | '=' => {
                found.push((Token::Mark(first), line));
                1
            }
            _ => return Err(error(line, &format!("`{first}` is nothing that PTX is made of"))),
        };
        rest = &rest[taken..];
    }
    Ok(found)
}

fn error(line: u32, message: &str) -> ParseError {
    ParseError { line, message: message.to_owned() }
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')
}

/// The end of a word, which may have `::` within.
fn word_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        end += text[end..].find(|c| !is_of_word(c)).unwrap_or(text.len() - end);
        if text[end..].starts_with("::") && text[end + 2..].starts_with(is_of_word) {
            end += 2;
        } else {
            return end;
        }
    }
}

fn number(text: &str, line: u32) -> Result<u64, ParseError> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match digits.get(..2) {
        Some("0x" | "0X" | "0f" | "0F" | "0d" | "0D") => (&text[2..], 16),
        Some("0b" | "0B") => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let wanted = match text.get(..2) {
        Some("0f" | "0F") => Some(8),
        Some("0d" | "0D") => Some(16),
        _ => None,
    };
    let digits = if radix == 16 && wanted.is_none() { digits.strip_suffix('U').unwrap_or(digits) } else { digits };
    if wanted.is_some_and(|wanted| wanted != digits.len()) {
        return Err(error(line, &format!("`{text}`: a float is `0f` with 8 digits or `0d` with 16")));
    }
    u64::from_str_radix(digits, radix).map_err(|_| error(line, &format!("`{text}` is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_colons_and_numbers_their_bits() {
        let found = tokens("a.b::c.d x:\n[%r1+-4], 0f3F800000 0x10U; // rest\n").expect("tokens");
        let words: Vec<Token<'_>> = found.iter().map(|(token, _)| *token).collect();
        let expected = [
            Token::Word("a.b::c.d"),
            Token::Word("x"),
            Token::Mark(':'),
            Token::Mark('['),
            Token::Word("%r1"),
            Token::Mark('+'),
            Token::Mark('-'),
            Token::Number(4),
            Token::Mark(']'),
            Token::Mark(','),
            Token::Number(0x3f80_0000),
            Token::Number(16),
            Token::Mark(';'),
        ];
        assert_eq!(words, expected);
        assert_eq!(found[3].1, 2);
        assert_eq!(tokens("mov.u32 ?"), Err(ParseError { line: 1, message: "`?` is nothing that PTX is made of".into() }));
        assert!(tokens("0f3F80").is_err());
    }
}
