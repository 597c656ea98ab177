//! The annotations that reorganise iterations: on a loop, and those of them that `#[kernel(…)]` takes for the elements of a thread.
//!
//! `#[ilp(4, best_effort)]`, `ilp(4, best_effort)`, `ilp = 4`: a name, at most one expression, and words. The expression may name
//! constants and const generics, so its value is looked at twice: here where it is a literal, in `hir::check` for each instance.

use super::annotations::{annotations, refuse_annotation};
use super::attributes::{literal_int, skip_to_comma};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::nearest::nearest;
use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, Token};

/// Which annotation it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationKind {
    /// `unroll`, `unroll(N)`, `unroll(BOOL)`.
    Unroll,
    /// `ilp(N)`.
    Ilp,
    /// `batch_loads`, `batch_loads(BOOL)`.
    BatchLoads,
    /// `prefetch`, `prefetch(BOOL)`.
    Prefetch,
    /// `vectorize(N)`.
    Vectorize,
}

impl AnnotationKind {
    /// Every one.
    pub const ALL: [AnnotationKind; 5] =
        [AnnotationKind::Unroll, AnnotationKind::Ilp, AnnotationKind::BatchLoads, AnnotationKind::Prefetch, AnnotationKind::Vectorize];

    /// Its name in the source.
    pub fn name(self) -> &'static str {
        match self {
            AnnotationKind::Unroll => "unroll",
            AnnotationKind::Ilp => "ilp",
            AnnotationKind::BatchLoads => "batch_loads",
            AnnotationKind::Prefetch => "prefetch",
            AnnotationKind::Vectorize => "vectorize",
        }
    }

    fn find(name: &Ident) -> Option<AnnotationKind> {
        AnnotationKind::ALL.into_iter().find(|kind| name == kind.name())
    }

    /// The words that mean something to it.
    fn words(self) -> &'static [&'static str] {
        match self {
            AnnotationKind::Unroll => &["best_effort"],
            AnnotationKind::Ilp | AnnotationKind::BatchLoads | AnnotationKind::Prefetch => &["best_effort", "assume_disjoint"],
            AnnotationKind::Vectorize => &["best_effort", "assume_disjoint", "assume_aligned"],
        }
    }

    /// Whether it says how many iterations, so that an argument must be given.
    fn needs_number(self) -> bool {
        matches!(self, AnnotationKind::Ilp | AnnotationKind::Vectorize)
    }

    /// Whether its argument may be a number.
    pub fn takes_number(self) -> bool {
        self.needs_number() || self == AnnotationKind::Unroll
    }

    /// Whether its argument may be `true` or `false`.
    pub fn takes_bool(self) -> bool {
        !self.needs_number()
    }

    /// What is wrong with a number as its argument, and the way out.
    pub fn check_number(self, value: i128) -> Option<(String, &'static str)> {
        let name = self.name();
        let (most, why) = match self {
            AnnotationKind::Unroll => (MAX_UNROLL, "the most copies of a body are"),
            AnnotationKind::Ilp => (MAX_ILP, "a thread has 255 registers, so the most iterations at a time are"),
            _ if value < 1 || (value.count_ones() == 1 && value <= MAX_VECTOR) => (MAX_VECTOR, ""),
            _ => {
                let message = format!("`{name}` by {value} is not possible: an access takes 1, 2, 4 or 8 elements, and 16 bytes at most");
                return Some((message, "use 2 or 4"));
            }
        };
        if value < 1 {
            let help = if self == AnnotationKind::Unroll { "use 1 to keep the loop rolled" } else { "use 1 for no change" };
            return Some((format!("`{name}` by {value} is not possible: it must be at least 1"), help));
        }
        (value > most)
            .then(|| (format!("`{name}` by {value} is not possible: {why} {most}"), "use a smaller number, for example 2, 4 or 8"))
    }
}

/// Most copies of a loop's body: beyond it, the instruction cache loses what the branches gain.
const MAX_UNROLL: i128 = 1024;

/// Most iterations at a time: each needs a register for its value and one for its address, and a thread has 255.
const MAX_ILP: i128 = 128;

/// Most elements of a vector access: what every device has.
const MAX_VECTOR: i128 = 8;

/// The words behind an annotation's argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// What cannot be kept is a warning.
    pub best_effort: bool,
    /// Loads and stores that are not known to be of different elements are promised to be.
    pub assume_disjoint: bool,
    /// Groups of elements are promised to begin at multiples of their length.
    pub assume_aligned: bool,
}

impl Words {
    fn slot(&mut self, word: &str) -> Option<&mut bool> {
        match word {
            "best_effort" => Some(&mut self.best_effort),
            "assume_disjoint" => Some(&mut self.assume_disjoint),
            "assume_aligned" => Some(&mut self.assume_aligned),
            _ => None,
        }
    }
}

/// One annotation, unevaluated.
#[derive(Clone)]
pub struct Annotation {
    /// Which.
    pub kind: AnnotationKind,
    /// Its name: where errors are shown.
    pub span: Span,
    /// Its argument.
    pub argument: Option<Expr>,
    /// Its words.
    pub words: Words,
}

/// The keyword of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKeyword {
    /// `for i in a..b`.
    For,
    /// `while c`.
    While,
    /// `loop`.
    Loop,
}

/// Annotations of a loop, each kind once.
#[derive(Clone, Default)]
pub struct LoopAttributes {
    /// In the order written.
    pub annotations: Vec<Annotation>,
}

impl LoopAttributes {
    /// Parses the attributes of a loop.
    pub fn parse(attrs: &[syn::Attribute], keyword: LoopKeyword, diagnostics: &mut Diagnostics) -> LoopAttributes {
        let mut parsed = LoopAttributes::default();
        for attr in annotations(attrs, diagnostics) {
            let Some(kind) = attr.path().get_ident().and_then(AnnotationKind::find) else {
                let all = AnnotationKind::ALL.map(AnnotationKind::name);
                diagnostics.push(refuse_annotation(attr, "a loop", &all));
                continue;
            };
            let span = attr.path().span();
            if let Some(first) = parsed.annotations.iter().find(|known| known.kind == kind) {
                let error = Diagnostic::error(span, format!("`#[{}]` is given twice", kind.name())).label(first.span, "first given here");
                diagnostics.push(error.help("remove one of them"));
                continue;
            }
            let mut annotation = Annotation { kind, span, argument: None, words: Words::default() };
            match &attr.meta {
                syn::Meta::Path(_) => {}
                syn::Meta::List(list) => annotation.parse_arguments(list.tokens.clone(), diagnostics),
                syn::Meta::NameValue(value) => {
                    let name = kind.name();
                    let error = Diagnostic::error(value.eq_token.span(), format!("`#[{name}]` takes its arguments in parentheses"));
                    diagnostics.push(error.help(format!("write `{}`", annotation.example(true))));
                    continue;
                }
            }
            annotation.check(true, diagnostics);
            annotation.check_keyword(keyword, diagnostics);
            parsed.annotations.push(annotation);
        }
        parsed
    }

    /// The expressions among the arguments: names that the kernel uses.
    pub fn arguments(&self) -> impl Iterator<Item = &Expr> {
        self.annotations.iter().filter_map(|annotation| annotation.argument.as_ref())
    }
}

impl Annotation {
    /// Parses an argument of `#[kernel(…)]`: `ilp = 4`, `ilp(4, best_effort)`, `batch_loads`. The input stands behind the name.
    pub(super) fn parse_in_kernel(
        kind: AnnotationKind,
        name: &Ident,
        input: ParseStream<'_>,
        diagnostics: &mut Diagnostics,
    ) -> syn::Result<Annotation> {
        let mut annotation = Annotation { kind, span: name.span(), argument: None, words: Words::default() };
        if input.peek(syn::token::Paren) {
            let group: proc_macro2::Group = input.parse()?;
            annotation.parse_arguments(group.stream(), diagnostics);
        } else if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            if !input.is_empty() && !input.peek(Token![,]) {
                annotation.argument = Some(input.parse()?);
            } else {
                let error = Diagnostic::error(name.span(), format!("`{name}` needs a value"));
                diagnostics.push(error.help(format!("write `{}`", annotation.example(false))));
                return Ok(annotation);
            }
        }
        annotation.check(false, diagnostics);
        Ok(annotation)
    }

    /// How it is written, for a loop or for a kernel.
    fn example(&self, on_loop: bool) -> &'static str {
        match (self.kind, on_loop) {
            (AnnotationKind::Unroll, _) => "#[unroll(4)]",
            (AnnotationKind::Ilp, true) => "#[ilp(4)]",
            (AnnotationKind::Ilp, false) => "ilp = 4",
            (AnnotationKind::BatchLoads, true) => "#[batch_loads]",
            (AnnotationKind::BatchLoads, false) => "batch_loads = true",
            (AnnotationKind::Prefetch, _) => "#[prefetch]",
            (AnnotationKind::Vectorize, true) => "#[vectorize(4)]",
            (AnnotationKind::Vectorize, false) => "vectorize = 4",
        }
    }

    /// What stands in the parentheses: an expression and words, in any order.
    fn parse_arguments(&mut self, tokens: TokenStream, diagnostics: &mut Diagnostics) {
        let arguments = |input: ParseStream<'_>| {
            while !input.is_empty() {
                self.parse_argument(input, diagnostics)?;
                if !input.is_empty() && !input.peek(Token![,]) {
                    let message = format!("expected `,` between the arguments of `{}`", self.kind.name());
                    diagnostics.push(Diagnostic::error(input.span(), message));
                    skip_to_comma(input)?;
                }
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(())
        };
        if let Err(error) = arguments.parse2(tokens) {
            diagnostics.append(error.into());
        }
    }

    fn parse_argument(&mut self, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
        let kind = self.kind;
        let name = kind.name();
        if let Some(word) = lone_word(input) {
            let text = word.to_string();
            let is_known = Words::default().slot(&text).is_some();
            // Constants and const generics are upper case, but need not be.
            let near = nearest(&text, ["best_effort", "assume_disjoint", "assume_aligned"]).filter(|_| text.contains('_'));
            if is_known || near.is_some() || (self.argument.is_some() && text.chars().any(char::is_lowercase)) {
                input.parse::<Ident>()?;
                let refused = match near {
                    _ if is_known && !kind.words().contains(&text.as_str()) => {
                        Some((format!("`{text}` does not apply to `{name}`"), "remove it".to_owned()))
                    }
                    _ if is_known => None,
                    Some(near) => Some((format!("unknown modifier `{text}` in `{name}`"), format!("write `{near}`"))),
                    None => Some((format!("unknown modifier `{text}` in `{name}`"), "remove it".to_owned())),
                };
                if let Some((message, help)) = refused {
                    diagnostics.push(Diagnostic::error(word.span(), message).help(help));
                } else if let Some(slot) = self.words.slot(&text)
                    && std::mem::replace(slot, true)
                {
                    diagnostics.push(Diagnostic::error(word.span(), format!("`{text}` is given twice")).help("remove one of them"));
                }
                return Ok(());
            }
        }
        let value: Expr = input.parse()?;
        if let Some(first) = &self.argument {
            let error = Diagnostic::error(value.span(), format!("`{name}` takes one value")).label(first.span(), "first given here");
            diagnostics.push(error.help("remove one of them"));
        } else {
            self.argument = Some(value);
        }
        Ok(())
    }

    /// What literals show to be wrong, and a missing number.
    fn check(&self, on_loop: bool, diagnostics: &mut Diagnostics) {
        let Some(argument) = &self.argument else {
            if self.kind.needs_number() {
                let error = Diagnostic::error(self.span, format!("`{}` needs a number", self.kind.name()));
                diagnostics.push(error.help(format!("write `{}`", self.example(on_loop))));
            }
            return;
        };
        let is_bool = matches!(argument, Expr::Lit(ExprLit { lit: Lit::Bool(_), .. }));
        let found = match (literal_int(argument), argument) {
            (Some(value), _) if self.kind.takes_number() => {
                self.kind.check_number(value).map(|(message, help)| Diagnostic::error(argument.span(), message).help(help))
            }
            (Some(_), _) => Some(self.refuse_type(argument, "a number")),
            (None, Expr::Lit(_)) if is_bool && self.kind.takes_bool() => None,
            (None, Expr::Lit(_)) if is_bool => Some(self.refuse_type(argument, "a `bool`")),
            (None, Expr::Lit(_)) => Some(self.refuse_type(argument, "this")),
            _ => None,
        };
        diagnostics.extend(found);
    }

    /// An argument of another type.
    pub fn refuse_type(&self, argument: &Expr, found: &str) -> Diagnostic {
        let wanted = match (self.kind.takes_number(), self.kind.takes_bool()) {
            (true, true) => "a number, `true` or `false`",
            (true, false) => "a number",
            _ => "`true` or `false`",
        };
        let help =
            if self.kind.takes_number() { "write a literal, a constant or a const generic" } else { "write `true`, or leave it out" };
        Diagnostic::error(argument.span(), format!("`{}` takes {wanted}, not {found}", self.kind.name())).help(help)
    }

    /// `while` and `loop`: how often they run is not known before they do.
    fn check_keyword(&self, keyword: LoopKeyword, diagnostics: &mut Diagnostics) {
        let fits = match self.kind {
            AnnotationKind::BatchLoads => true,
            AnnotationKind::Unroll => self.argument.as_ref().is_some_and(|argument| literal_int(argument).is_none_or(|value| value == 1)),
            _ => false,
        };
        if !fits {
            diagnostics.extend(self.refuse_keyword(keyword));
        }
    }

    /// The refusal of an annotation that counts iterations, on a loop where they cannot be counted.
    pub fn refuse_keyword(&self, keyword: LoopKeyword) -> Option<Diagnostic> {
        let word = match keyword {
            LoopKeyword::For => return None,
            LoopKeyword::While => "while",
            LoopKeyword::Loop => "loop",
        };
        let message = format!("`{}` counts iterations, and those of a `{word}` cannot be counted before it runs", self.kind.name());
        Some(Diagnostic::error(self.span, message).help("write the loop as `for i in a..b`"))
    }
}

/// The next argument, if it is an identifier alone.
fn lone_word(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    let word: Ident = ahead.parse().ok()?;
    (ahead.is_empty() || ahead.peek(Token![,])).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tests::render;

    fn parse(expression: &str) -> (LoopAttributes, Vec<String>) {
        let (attrs, keyword) = match syn::parse_str(expression).unwrap() {
            Expr::ForLoop(e) => (e.attrs, LoopKeyword::For),
            Expr::While(e) => (e.attrs, LoopKeyword::While),
            Expr::Loop(e) => (e.attrs, LoopKeyword::Loop),
            _ => panic!("not a loop"),
        };
        let mut diagnostics = Diagnostics::new();
        let parsed = LoopAttributes::parse(&attrs, keyword, &mut diagnostics);
        (parsed, render(&diagnostics))
    }

    #[track_caller]
    fn check(annotations: &str, expected: &[&str]) {
        assert_eq!(parse(&format!("{annotations} for i in 0..4 {{}}")).1, expected, "{annotations}");
    }

    #[test]
    fn every_form_is_parsed() {
        let (parsed, findings) = parse(
            "#[unroll] #[ilp(2 * N, best_effort)] #[batch_loads(BATCH, assume_disjoint)] #[prefetch(false)] \
             #[vectorize(assume_aligned, 4, assume_disjoint,)] #[allow(unused)] for i in 0..4 {}",
        );
        assert_eq!(findings, [""; 0]);
        let kinds: Vec<_> = parsed.annotations.iter().map(|annotation| (annotation.kind, annotation.argument.is_some())).collect();
        let with_arguments = [false, true, true, true, true];
        assert_eq!(kinds, AnnotationKind::ALL.into_iter().zip(with_arguments).collect::<Vec<_>>());
        let words: Vec<_> = parsed.annotations.iter().map(|annotation| annotation.words).collect();
        assert_eq!(words[0], Words::default());
        assert_eq!(words[1], Words { best_effort: true, ..Words::default() });
        assert_eq!(words[2], Words { assume_disjoint: true, ..Words::default() });
        assert_eq!(words[4], Words { assume_disjoint: true, assume_aligned: true, ..Words::default() });
        assert_eq!(parsed.arguments().count(), 4);
    }

    #[test]
    fn numbers_have_limits() {
        check("#[unroll(0)]", &["0: `unroll` by 0 is not possible: it must be at least 1; use 1 to keep the loop rolled"]);
        check("#[ilp(-2)]", &["-2: `ilp` by -2 is not possible: it must be at least 1; use 1 for no change"]);
        check(
            "#[unroll(1025)]",
            &["1025: `unroll` by 1025 is not possible: the most copies of a body are 1024; use a smaller number, for example 2, 4 or 8"],
        );
        check(
            "#[ilp(129)]",
            &["129: `ilp` by 129 is not possible: a thread has 255 registers, so the most iterations at a time are 128; use a smaller \
               number, for example 2, 4 or 8"],
        );
        for count in [3, 16] {
            let expected = format!(
                "{count}: `vectorize` by {count} is not possible: an access takes 1, 2, 4 or 8 elements, and 16 bytes at most; use 2 or 4"
            );
            check(&format!("#[vectorize({count})]"), &[&expected]);
        }
        check("#[unroll(1024)] #[ilp(128)] #[vectorize(8)]", &[]);
        check("#[unroll(1)]", &[]);
    }

    #[test]
    fn arguments_have_types_and_numbers() {
        check("#[ilp]", &["ilp: `ilp` needs a number; write `#[ilp(4)]`"]);
        check("#[vectorize(best_effort)]", &["vectorize: `vectorize` needs a number; write `#[vectorize(4)]`"]);
        check("#[ilp = 4]", &["=: `#[ilp]` takes its arguments in parentheses; write `#[ilp(4)]`"]);
        check("#[ilp(true)]", &["true: `ilp` takes a number, not a `bool`; write a literal, a constant or a const generic"]);
        check("#[prefetch(2)]", &["2: `prefetch` takes `true` or `false`, not a number; write `true`, or leave it out"]);
        check(
            "#[unroll(2.5)]",
            &["2.5: `unroll` takes a number, `true` or `false`, not this; write a literal, a constant or a const generic"],
        );
        check("#[ilp(2, 4)]", &["4: `ilp` takes one value; remove one of them"]);
        check("#[ilp(2 4)]", &["4: expected `,` between the arguments of `ilp`"]);
        check("#[unroll] #[unroll(2)]", &["unroll: `#[unroll]` is given twice; remove one of them"]);
    }

    #[test]
    fn words_are_known_and_fit() {
        check("#[ilp(2, best_efort)]", &["best_efort: unknown modifier `best_efort` in `ilp`; write `best_effort`"]);
        check("#[prefetch(asume_disjoint)]", &["asume_disjoint: unknown modifier `asume_disjoint` in `prefetch`; write `assume_disjoint`"]);
        check("#[ilp(2, softly)]", &["softly: unknown modifier `softly` in `ilp`; remove it"]);
        check("#[unroll(assume_disjoint)]", &["assume_disjoint: `assume_disjoint` does not apply to `unroll`; remove it"]);
        check("#[batch_loads(assume_aligned)]", &["assume_aligned: `assume_aligned` does not apply to `batch_loads`; remove it"]);
        check("#[prefetch(best_effort, best_effort)]", &["best_effort: `best_effort` is given twice; remove one of them"]);
    }

    #[test]
    fn places_and_names_are_checked() {
        check("#[unrol(2)]", &["unrol: unknown annotation `#[unrol]` on a loop; write `#[unroll(2)]`"]);
        check("#[shared]", &["shared: `#[shared]` belongs on a `let`, not on a loop; write `#[shared] let mut tile: [f32; 256];`"]);
        check("#[magic]", &["magic: unknown annotation `#[magic]` on a loop; remove it"]);
    }

    #[test]
    fn a_while_counts_nothing() {
        let refused = |name: &str, word: &str| {
            format!(
                "{name}: `{name}` counts iterations, and those of a `{word}` cannot be counted before it runs; write the loop as `for i in a..b`"
            )
        };
        for (annotation, name) in [("unroll", "unroll"), ("unroll(4)", "unroll"), ("ilp(2)", "ilp"), ("prefetch", "prefetch")] {
            assert_eq!(parse(&format!("#[{annotation}] while c {{}}")).1, [refused(name, "while")]);
        }
        assert_eq!(parse("#[vectorize(4)] loop {}").1, [refused("vectorize", "loop")]);
        assert_eq!(parse("#[batch_loads] #[unroll(1)] while c {}").1, [""; 0]);
        assert_eq!(parse("#[batch_loads] #[unroll(UNROLL)] loop {}").1, [""; 0]);
    }
}
