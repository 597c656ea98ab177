//! Tokens back to text, each at the line and column its span names.
//!
//! The macro embeds the text of an item, and the front end reads it again at run time: errors, `.loc` lines and the simulator's faults
//! then name the places of the user's file. Spans are followed as long as they move forward; where they do not (tokens that came out of
//! a `macro_rules!`), the text goes on after one space, and is the same tokens all the same. Documentation is left out.

use proc_macro2::{Delimiter, LineColumn, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// Text of an item, and where its first character stands in the file.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The text. Its line breaks are the file's.
    pub text: String,
    /// Line of the first character, from 1.
    pub line: u32,
    /// Column of the first character, from 1, in characters.
    pub column: u32,
    /// Where each token begins in the text (line from 1, column from 0), and its span.
    pub tokens: Vec<(LineColumn, Span)>,
}

/// The farthest a token may stand below the one before it, in lines: spans that leap farther are not from the item's own text.
const LONGEST_GAP: usize = 500;

/// Lays out tokens.
pub fn layout(tokens: TokenStream) -> Layout {
    let at = LineColumn { line: 1, column: 0 };
    let mut writer = Writer { text: String::new(), start: None, at, written: at, joint: false, tokens: Vec::new() };
    writer.stream(tokens);
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let start = writer.start.unwrap_or(LineColumn { line: 1, column: 0 });
    Layout { text: writer.text, line: number(start.line), column: number(start.column.saturating_add(1)), tokens: writer.tokens }
}

struct Writer {
    text: String,
    /// Where the next character goes, in the file.
    at: LineColumn,
    /// The same in the text.
    written: LineColumn,
    /// Where the first token stands.
    start: Option<LineColumn>,
    tokens: Vec<(LineColumn, Span)>,
    /// Whether the last token was punctuation that the next one continues (`<` of `<=`, `'` of `'a`).
    joint: bool,
}

impl Writer {
    fn stream(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let next_is_doc = |next: &TokenTree| matches!(next, TokenTree::Group(group) if is_doc(group));
            let is_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
            if is_hash && tokens.next_if(next_is_doc).is_some() {
                continue;
            }
            self.token(token);
        }
    }

    fn token(&mut self, token: TokenTree) {
        match token {
            TokenTree::Group(group) => self.group(&group),
            TokenTree::Ident(ident) => self.word(&ident.to_string(), ident.span()),
            TokenTree::Literal(literal) => self.word(&literal.to_string(), literal.span()),
            TokenTree::Punct(punct) => {
                self.word(punct.as_char().encode_utf8(&mut [0; 4]), punct.span());
                self.joint = punct.spacing() == Spacing::Joint;
            }
        }
    }

    fn group(&mut self, group: &proc_macro2::Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None if needs_parentheses(group.stream()) => ("(", ")"),
            Delimiter::None => return self.stream(group.stream()),
        };
        // All of it stands for its first bracket: findings about `(a, b)` are shown there.
        self.word(open, group.span());
        self.stream(group.stream());
        self.joint = false;
        self.word(close, group.span_close());
    }

    /// Writes one token where its span says, or as near behind the last one as it can be.
    fn word(&mut self, word: &str, span: Span) {
        let place = span.start();
        if self.start.is_none() {
            // A span that is nowhere has line 0.
            self.at = LineColumn { line: place.line.max(1), column: place.column };
            self.start = Some(self.at);
        }
        if !std::mem::take(&mut self.joint) {
            self.move_to(place);
            self.separate(word);
        }
        self.tokens.push((self.written, span));
        self.write(word);
    }

    /// Writes text, and follows it in the file and in the text.
    fn write(&mut self, text: &str) {
        self.text.push_str(text);
        for at in [&mut self.at, &mut self.written] {
            for c in text.chars() {
                *at = if c == '\n' { LineColumn { line: at.line + 1, column: 0 } } else { LineColumn { column: at.column + 1, ..*at } };
            }
        }
    }

    /// Adds line breaks and spaces up to a place further on; places behind leave everything as it is.
    fn move_to(&mut self, to: LineColumn) {
        let gap = to.line.saturating_sub(self.at.line);
        if gap > LONGEST_GAP {
            return;
        }
        if gap > 0 {
            self.write(&"\n".repeat(gap));
        }
        if self.at.line == to.line {
            let spaces = to.column.saturating_sub(self.at.column);
            self.write(&" ".repeat(spaces));
        }
    }

    /// Keeps `word` from growing together with what stands before it: in the user's text such neighbours are joint or apart already.
    fn separate(&mut self, word: &str) {
        let is_wordy = |c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | '#');
        let is_operator = |c: char| "+-*/%^!&|=<>@.:;,?~$#'".contains(c);
        let (Some(last), Some(first)) = (self.text.chars().next_back(), word.chars().next()) else { return };
        if (is_wordy(last) && is_wordy(first)) || (is_operator(last) && is_operator(first)) {
            self.write(" ");
        }
    }
}

/// `[doc = "…"]` and `[doc(…)]`.
fn is_doc(group: &proc_macro2::Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(ident)) if ident == "doc")
}

/// Whether the content of an invisible group (an argument of a `macro_rules!`) would fall apart beside other operators.
fn needs_parentheses(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter();
    let Some(first) = tokens.next() else { return false };
    if matches!(&first, TokenTree::Ident(ident) if ident == "let") {
        return false;
    }
    let is_operator = |token: TokenTree| match token {
        TokenTree::Punct(punct) => "+-*/%^!&|=<>.".contains(punct.as_char()),
        TokenTree::Ident(ident) => ident == "as",
        _ => false,
    };
    tokens.any(is_operator)
}

/// Code as it is written, on one line: on stable Rust a macro has no other way to the text of several tokens.
pub fn written(code: &impl ToTokens) -> String {
    let text = layout(code.to_token_stream()).text;
    // Tokens by themselves stay apart, as those of a lifetime do.
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("& '", "&'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::{Group, Ident, Punct};
    use quote::{ToTokens, quote};

    /// Every leaf of a stream with its place.
    fn leaves(tokens: TokenStream, into: &mut Vec<(String, usize, usize)>) {
        for token in tokens {
            let at = token.span().start();
            match token {
                TokenTree::Group(group) => {
                    let close = group.span_close().start();
                    into.push((format!("{:?}", group.delimiter()), at.line, at.column));
                    leaves(group.stream(), into);
                    into.push(("close".to_owned(), close.line, close.column));
                }
                other => into.push((other.to_string(), at.line, at.column)),
            }
        }
    }

    /// Lays out the text's tokens, reads them again and compares each with where it stood. Lines before the first token are the file's.
    #[track_caller]
    fn check_round_trip(source: &str) {
        let tokens: TokenStream = source.parse().unwrap();
        let Layout { text, line, column, .. } = layout(tokens.clone());
        let (mut before, mut after) = (Vec::new(), Vec::new());
        leaves(tokens, &mut before);
        leaves(text.parse().unwrap_or_else(|error| panic!("{text}: {error}")), &mut after);
        let shifted =
            |(word, at, col): (String, usize, usize)| (word, at + line as usize - 1, if at == 1 { col + column as usize - 1 } else { col });
        let after: Vec<_> = after.into_iter().map(shifted).collect();
        assert_eq!(after, before, "{text}");
    }

    #[test]
    fn every_token_keeps_its_place() {
        check_round_trip("fn f() {}");
        check_round_trip("\n\n   fn f(a: f32, x: &Global<f32>) {\n        let i = 0..=n<<2;\n\n\n  x[i]>>=-1; }\n");
        check_round_trip("    pub fn f<const N: usize>() where T: A {\n\t let x = 'a: loop { break 'a; }; // comment\n /* more */ y }");
        check_round_trip("fn f() { let s = \"ä\\n\"; t.0.1; 1.0; 1..2; x = &&y; a&&b; \"two\nlines\"; z() }");
        check_round_trip("fn f() { println!(\"{}\", r#\"raw\n \"text\"\"#); x as u32 }");
        check_round_trip("#[a(b = 1)] impl S { const N: u32 = !0; fn g(&self)->f32 { self.x } }");
    }

    #[test]
    fn tokens_know_where_they_were_written() {
        let tokens: TokenStream = "\n  /// a\n  fn f(x: &u32) {\n    \"two\nlines\" - 1;\n  }".parse().unwrap();
        let Layout { text, tokens: written, .. } = layout(tokens);
        let again: TokenStream = text.parse().unwrap();
        let mut starts = Vec::new();
        leaves(again, &mut starts);
        let starts: Vec<(usize, usize)> = starts.into_iter().map(|(_, line, column)| (line, column)).collect();
        assert_eq!(written.iter().map(|(at, _)| (at.line, at.column)).collect::<Vec<_>>(), starts);
        assert!(written.iter().all(|(_, span)| span.source_text().is_some()));
    }

    #[test]
    fn documentation_is_left_out() {
        let Layout { text, line, .. } = layout("/// one\n/// two\n#[doc = \"x\"]\nstruct S {\n/// three\n x: u32 }".parse().unwrap());
        assert_eq!((text.as_str(), line), ("struct S {\n\n x: u32 }", 4));
    }

    #[test]
    fn tokens_without_places_stay_apart() {
        let tokens = quote!(
            fn f<'a>(x: &'a u32, y: &&u32) -> u32 {
                let a = x as u32;
                a < -1;
                a && b;
                1..2;
                t.0.1;
                #[x]
                "s"
            }
        );
        let Layout { text, .. } = layout(tokens.clone());
        let again: TokenStream = text.parse().unwrap();
        assert_eq!(again.to_string(), tokens.to_string());
        let alone = |c| TokenTree::Punct(Punct::new(c, Spacing::Alone));
        let spaced: TokenStream = [alone('<'), alone('-'), alone('&'), alone('&')].into_iter().collect();
        assert_eq!(layout(spaced).text, "< - & &");
    }

    #[test]
    fn invisible_groups_keep_their_precedence() {
        let none = |tokens: TokenStream| TokenTree::Group(Group::new(Delimiter::None, tokens)).to_token_stream();
        let (sum, name, ty) = (none(quote!(a + b)), none(quote!(c)), none(quote!(let x = 1)));
        assert_eq!(layout(quote!(#sum * #name)).text.replace(' ', ""), "(a+b)*c");
        assert_eq!(layout(quote!(#ty;)).text, "let x=1;");
    }

    #[test]
    fn spans_that_run_back_or_leap_are_not_followed() {
        let two: TokenStream = "first\n\n\nsecond".parse().unwrap();
        let backwards: TokenStream = two.clone().into_iter().collect::<Vec<_>>().into_iter().rev().collect();
        assert_eq!(layout(backwards).text, "second first");
        let far = format!("first{}second", "\n".repeat(LONGEST_GAP + 1));
        assert_eq!(layout(far.parse().unwrap()).text, "first second");
        let nowhere = TokenTree::Ident(Ident::new("x", Span::call_site())).to_token_stream();
        assert_eq!(layout(nowhere).text, "x");
        assert_eq!(layout(TokenStream::new()).text, "");
    }
}
