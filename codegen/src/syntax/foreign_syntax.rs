//! CUDA C++ that is no Rust: `__shared__ float tile[256];`, `#pragma unroll`, `for (int i = 0; i < n; i++)`. `rustc` says that it expected
//! something else; what it was meant as is said here.

use super::foreign::foreign;
use super::layout::written;
use crate::diagnostic::Diagnostic;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

/// What there is to say of tokens that are no Rust: the first that is C's.
pub fn foreign_syntax(tokens: TokenStream) -> Option<Diagnostic> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    (0..tokens.len()).find_map(|at| {
        let here = &tokens[at..];
        let found = qualifier(&tokens, at).or_else(|| pragma(here)).or_else(|| loop_of_c(here)).or_else(|| cast(&tokens, at));
        found.or_else(|| declaration(&tokens, at)).or_else(|| match &tokens[at] {
            TokenTree::Group(group) => foreign_syntax(group.stream()),
            _ => None,
        })
    })
}

fn error(span: Span, what: &str, edit: String) -> Option<Diagnostic> {
    Some(Diagnostic::error(span, format!("{what} is CUDA C++")).help(format!("write {edit}")))
}

fn ident(token: Option<&TokenTree>) -> Option<&Ident> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// What the Rust type is called that C calls so.
fn type_name(ident: &Ident) -> Option<String> {
    let found = foreign(&ident.to_string())?;
    let edit = found.edit();
    let ty = edit.strip_prefix("write `")?.split('`').next()?;
    let is_type = ty.starts_with('[') || super::vocabulary::is_scalar(ty);
    is_type.then(|| ty.to_owned())
}

/// `__shared__ float tile[16][17];`, with `extern` before it and no length behind; other words between underscores.
fn qualifier(tokens: &[TokenTree], at: usize) -> Option<Diagnostic> {
    let word = ident(tokens.get(at))?;
    let name = word.to_string();
    let found = foreign(&name).filter(|_| name.ends_with("__"))?;
    let what = format!("`{name}`");
    let element = ident(tokens.get(at + 1)).map(|ident| type_name(ident).unwrap_or_else(|| ident.to_string()));
    match (name.as_str(), element, ident(tokens.get(at + 2))) {
        ("__shared__", Some(element), Some(tile)) if element != "let" => {
            let lengths: Vec<String> = tokens[at + 3..].iter().map_while(length).collect();
            let is_dynamic = lengths.iter().any(String::is_empty);
            let edit = match (is_dynamic, lengths.is_empty()) {
                (true, _) => format!("`#[shared(dynamic)] let mut {tile}: [{element}];`, and `.shared_bytes(n)` at the launch"),
                (_, true) => format!("`#[shared] let mut {tile}: [{element}; 1];`"),
                _ => {
                    let ty = lengths.iter().rev().fold(element, |ty, length| format!("[{ty}; {length}]"));
                    format!("`#[shared] let mut {tile}: {ty};`")
                }
            };
            error(word.span(), &what, edit)
        }
        ("__shared__", Some(_), _) => error(word.span(), &what, "`#[shared]` in its place".to_owned()),
        _ => Some(Diagnostic::error(word.span(), format!("{what} is CUDA C++")).help(found.edit())),
    }
}

/// `[16]`: what is between the brackets.
fn length(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => Some(written(&group.stream())),
        _ => None,
    }
}

/// `#pragma unroll 4`.
fn pragma(here: &[TokenTree]) -> Option<Diagnostic> {
    let word = ident(here.get(1)).filter(|ident| is_punct(here.first(), '#') && *ident == "pragma")?;
    let edit = match (ident(here.get(2)).map(ToString::to_string).as_deref(), here.get(3)) {
        (Some("unroll"), Some(TokenTree::Literal(times))) => format!("`#[unroll({times})]`"),
        _ => "`#[unroll]`".to_owned(),
    };
    error(word.span(), "`#pragma`", edit)
}

/// `for (int i = 0; i < n; i++) { … }`.
fn loop_of_c(here: &[TokenTree]) -> Option<Diagnostic> {
    let word = ident(here.first()).filter(|ident| *ident == "for")?;
    let Some(TokenTree::Group(head)) = here.get(1).filter(|token| matches!(token, TokenTree::Group(_))) else { return None };
    let parts: Vec<Vec<TokenTree>> = split(head.stream());
    let [begin, condition, step] = &parts[..] else { return None };
    let text = |tokens: &[TokenTree]| written(&tokens.iter().cloned().collect::<TokenStream>());
    let equals = begin.iter().position(|token| is_punct(Some(token), '='))?;
    let counter = ident(begin[..equals].last())?;
    let start = text(&begin[equals + 1..]);
    let is_closed = is_punct(condition.get(2), '=');
    let end = text(&condition[if is_closed { 3 } else { 2 }.min(condition.len())..]);
    let range = if is_closed { format!("{start}..={end}") } else { format!("{start}..{end}") };
    let by = step.iter().position(|token| is_punct(Some(token), '=')).map(|at| text(&step[at + 1..]));
    let is_down = step.iter().any(|token| is_punct(Some(token), '-'));
    let edit = match by {
        _ if is_down => format!("`for {counter} in (a..b).rev() {{ … }}`"),
        Some(by) => format!("`for {counter} in ({range}).step_by({by}) {{ … }}`"),
        None => format!("`for {counter} in {range} {{ … }}`"),
    };
    error(word.span(), "this loop", edit)
}

/// At semicolons.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match parts.last_mut() {
            Some(last) if !is_punct(Some(&token), ';') => last.push(token),
            _ => parts.push(Vec::new()),
        }
    }
    parts
}

/// `(float) i`.
fn cast(tokens: &[TokenTree], at: usize) -> Option<Diagnostic> {
    let TokenTree::Group(group) = &tokens[at] else { return None };
    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
    let ty = ident(inner.first()).filter(|_| inner.len() == 1 && group.delimiter() == Delimiter::Parenthesis)?;
    let is_call = at > 0 && matches!(tokens[at - 1], TokenTree::Ident(_));
    let value = match tokens.get(at + 1) {
        Some(TokenTree::Ident(value)) if !is_call => value.to_string(),
        Some(TokenTree::Literal(value)) if !is_call => value.to_string(),
        Some(TokenTree::Group(value)) if !is_call && value.delimiter() == Delimiter::Parenthesis => written(value),
        _ => return None,
    };
    let name = type_name(ty).or_else(|| Some(ty.to_string()).filter(|name| super::vocabulary::is_scalar(name)))?;
    error(ty.span(), "this cast", format!("`{value} as {name}`"))
}

/// `int i = 0;`.
fn declaration(tokens: &[TokenTree], at: usize) -> Option<Diagnostic> {
    let ty = ident(tokens.get(at))?;
    let name = ident(tokens.get(at + 1)).filter(|_| is_punct(tokens.get(at + 2), '=') || is_punct(tokens.get(at + 2), ';'))?;
    // `let x: float = …` and `as float` are Rust but for the name.
    let is_first = at == 0
        || is_punct(tokens.get(at - 1), ';')
        || matches!(tokens[at - 1], TokenTree::Group(_))
        || ident(tokens.get(at - 1)).is_some_and(|word| word == "const");
    let ty_name = type_name(ty).filter(|_| is_first)?;
    error(ty.span(), "this declaration", format!("`let mut {name}: {ty_name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let found = foreign_syntax(source.parse().unwrap()).unwrap_or_else(|| panic!("nothing is said of {source}"));
        assert_eq!(format!("{}; {}", found.message, found.help.unwrap_or_default()), expected, "{source}");
    }

    #[test]
    fn cuda_is_answered_with_the_edit() {
        check("fn k() { __shared__ float tile[256]; }", "`__shared__` is CUDA C++; write `#[shared] let mut tile: [f32; 256];`");
        check("__shared__ int t[16][T + 1];", "`__shared__` is CUDA C++; write `#[shared] let mut t: [[i32; T + 1]; 16];`");
        check("__shared__ bool done;", "`__shared__` is CUDA C++; write `#[shared] let mut done: [bool; 1];`");
        check(
            "extern __shared__ float s[];",
            "`__shared__` is CUDA C++; write `#[shared(dynamic)] let mut s: [f32];`, and `.shared_bytes(n)` at the launch",
        );
        check("__shared__ let mut t: [f32; 4];", "`__shared__` is CUDA C++; write `#[shared]` in its place");
        check("#pragma unroll\nfor j in 0..4 {}", "`#pragma` is CUDA C++; write `#[unroll]`");
        check("#pragma unroll 4\nfor j in 0..4 {}", "`#pragma` is CUDA C++; write `#[unroll(4)]`");
        check("for (int j = 0; j < n; j++) { }", "this loop is CUDA C++; write `for j in 0..n { … }`");
        check("for (int j = t; j <= n - 1; j += 32) { }", "this loop is CUDA C++; write `for j in (t..=n - 1).step_by(32) { … }`");
        check("y[i] = (float) i;", "this cast is CUDA C++; write `i as f32`");
        check("y[i] = (int)(a + b);", "this cast is CUDA C++; write `(a + b) as i32`");
        check("{ float s = 0.0; }", "this declaration is CUDA C++; write `let mut s: f32`");
    }

    #[test]
    fn rust_is_left_alone() {
        let rust = "fn k(x: &Global<f32>) { for (a, b) in c { } f(i) (j); let float = 1; (i) + 1; x as float; #[unroll] for j in 0..4 {} }";
        assert!(foreign_syntax(rust.parse().unwrap()).is_none());
    }
}
