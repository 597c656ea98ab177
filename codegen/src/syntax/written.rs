//! One annotation as it is written: its argument, an expression, and its modifiers.
//!
//! `#[ilp(4, best_effort)]` on a loop; `ilp(4, best_effort)` or `ilp = 4` in `#[kernel(…)]`; `pad = 1` in `#[shared(…)]`. The expression may name
//! constants and const generics, so its value is looked at twice: here where it is a literal, in `hir::check` for each instance. What an
//! annotation takes is in its row.

use super::attributes::{literal_int, parse_list};
use crate::annotations::{Annotation, Annotations, Asked, Loops, Modifier, Modifiers, On, Takes};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::nearest::nearest;
use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, Token};

/// One annotation, unevaluated.
pub type Written = Asked<Span, Option<Expr>>;

/// Those of one loop, kernel or array.
pub type WrittenAnnotations = Annotations<Span, Option<Expr>>;

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

impl WrittenAnnotations {
    /// The expressions among the arguments: names that the kernel uses.
    pub fn arguments(&self) -> impl Iterator<Item = &Expr> {
        self.iter().flat_map(|written| written.argument.iter().chain(&written.condition))
    }
}

impl Written {
    fn new(annotation: &'static Annotation, place: Span) -> Written {
        Asked { annotation, place, argument: None, modifiers: Modifiers::default(), condition: None }
    }

    /// Parses an attribute of a loop. `None` if it has another form (reported).
    pub(super) fn parse_on_loop(
        annotation: &'static Annotation,
        attr: &syn::Attribute,
        keyword: LoopKeyword,
        diagnostics: &mut Diagnostics,
    ) -> Option<Written> {
        let mut written = Written::new(annotation, attr.path().span());
        match &attr.meta {
            syn::Meta::Path(_) => {}
            syn::Meta::List(list) => written.parse_arguments(list.tokens.clone(), diagnostics),
            syn::Meta::NameValue(value) => {
                let message = format!("`#[{}]` takes its arguments in parentheses", annotation.name);
                let help = format!("write `{}`", annotation.example(On::Loop));
                diagnostics.push(Diagnostic::error(value.eq_token.span(), message).help(help));
                return None;
            }
        }
        written.check(On::Loop, diagnostics);
        written.check_keyword(keyword, diagnostics);
        Some(written)
    }

    /// Parses an argument of `#[kernel(…)]` or `#[shared(…)]`: `ilp = 4`, `ilp(4, best_effort)`, `batch_loads`. The input stands behind the
    /// name.
    pub(super) fn parse_in_list(
        annotation: &'static Annotation,
        on: On,
        name: &Ident,
        input: ParseStream<'_>,
        diagnostics: &mut Diagnostics,
    ) -> syn::Result<Written> {
        let mut written = Written::new(annotation, name.span());
        if input.peek(syn::token::Paren) && !annotation.modifiers.is_empty() {
            let group: proc_macro2::Group = input.parse()?;
            written.parse_arguments(group.stream(), diagnostics);
        } else if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            if input.is_empty() || input.peek(Token![,]) {
                let error = Diagnostic::error(name.span(), format!("`{name}` needs a value"));
                diagnostics.push(error.help(format!("write `{}`", annotation.example(on))));
                return Ok(written);
            }
            written.argument = Some(input.parse()?);
        }
        written.check(on, diagnostics);
        Ok(written)
    }

    /// What stands in the parentheses: an expression and modifiers, in any order.
    fn parse_arguments(&mut self, tokens: TokenStream, diagnostics: &mut Diagnostics) {
        let of = format!("`{}`", self.annotation.name);
        parse_list(tokens, &of, diagnostics, |input, diagnostics| self.parse_argument(input, diagnostics));
    }

    fn parse_argument(&mut self, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
        let name = self.annotation.name;
        let word = self.annotation.numbers().and_then(|numbers| numbers.word);
        let mut is_worded = false;
        if let Some(word) = word
            && let Some(ident) = word_before_value(input)
        {
            input.parse::<Ident>()?;
            input.parse::<Token![=]>()?;
            if ident == "by" {
                return self.parse_by(&ident, input, diagnostics);
            }
            if ident == Modifier::Producer.name() && self.annotation.modifiers.contains(&Modifier::Producer) {
                return self.parse_producer(&ident, input, diagnostics);
            }
            is_worded = true;
            if ident != word {
                let error = Diagnostic::error(ident.span(), format!("`{name}` has no argument `{ident}`"));
                diagnostics.push(error.help(format!("write `{}`", self.annotation.example(On::Loop))));
            }
            if input.is_empty() || input.peek(Token![,]) {
                return Ok(());
            }
        } else if let Some(ident) = lone_word(input) {
            let text = ident.to_string();
            let known = Modifier::named(&text);
            // Constants and const generics are upper case, but need not be.
            let near = nearest(&text, Modifier::ALL.map(|(_, name)| name)).filter(|_| text.contains('_'));
            if known.is_some() || near.is_some() || (self.argument.is_some() && text.chars().any(char::is_lowercase)) {
                input.parse::<Ident>()?;
                let refused = match (known, near) {
                    (Some(modifier), _) if !self.annotation.modifiers.contains(&modifier) => {
                        Some((format!("`{text}` does not apply to `{name}`"), "remove it".to_owned()))
                    }
                    (Some(modifier), _) => {
                        (!self.modifiers.add(modifier)).then(|| (format!("`{text}` is given twice"), "remove one of them".to_owned()))
                    }
                    (None, Some(near)) => Some((format!("unknown modifier `{text}` in `{name}`"), format!("write `{near}`"))),
                    (None, None) => Some((format!("unknown modifier `{text}` in `{name}`"), "remove it".to_owned())),
                };
                diagnostics.extend(refused.map(|(message, help)| Diagnostic::error(ident.span(), message).help(help)));
                return Ok(());
            }
        }
        let mut value: Expr = input.parse()?;
        if let Expr::Assign(assign) = &value
            && let Expr::Path(word) = &*assign.left
        {
            let word_text = super::layout::written(word);
            let error = Diagnostic::error(word.span(), format!("`{name}` has no argument `{word_text}`"));
            diagnostics.push(error.help(format!("write `{name}({})`", super::layout::written(&assign.right))));
            value = (*assign.right).clone();
        }
        if let (Some(word), false) = (word, is_worded) {
            let error = Diagnostic::error(value.span(), format!("`{name}` takes its number as `{word} = …`"));
            diagnostics.push(error.help(format!("write `{word} = {}`", super::layout::written(&value))));
        }
        if let Some(first) = &self.argument {
            let error = Diagnostic::error(value.span(), format!("`{name}` takes one value")).label(first.span(), "first given here");
            diagnostics.push(error.help("remove one of them"));
        } else {
            self.argument = Some(value);
        }
        Ok(())
    }

    /// What stands behind `by =`.
    fn parse_by(&mut self, by: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
        let name = self.annotation.name;
        let known: Vec<&str> = Modifier::BY
            .into_iter()
            .filter(|by| self.annotation.modifiers.contains(by))
            .map(|by| by.name().trim_start_matches("by = "))
            .collect();
        let written: Option<Ident> = if input.peek(syn::Ident) { Some(input.parse()?) } else { None };
        let modifier = written.as_ref().and_then(|written| Modifier::named(&format!("by = {written}")));
        let list = format!("write one of {}", known.iter().map(|by| format!("`by = {by}`")).collect::<Vec<_>>().join(", "));
        let refused = match (&written, modifier.filter(|by| self.annotation.modifiers.contains(by))) {
            _ if known.is_empty() => {
                Some((format!("`{name}` has no argument `by`"), format!("write `{}`", self.annotation.example(On::Loop))))
            }
            (_, Some(_)) if Modifier::BY.into_iter().any(|by| self.modifiers.has(by)) => {
                Some((format!("`{name}` takes one `by`"), "remove one of them".to_owned()))
            }
            (_, Some(modifier)) => {
                self.modifiers.add(modifier);
                None
            }
            (Some(written), None) => Some((format!("nothing copies by `{written}`"), list)),
            (None, None) => Some(("`by` names what makes the copies".to_owned(), list)),
        };
        let place = written.as_ref().unwrap_or(by).span();
        diagnostics.extend(refused.map(|(message, help)| Diagnostic::error(place, message).help(help)));
        if written.is_none() && !input.is_empty() && !input.peek(Token![,]) {
            input.parse::<Expr>()?;
        }
        Ok(())
    }

    /// What stands behind `producer =`.
    fn parse_producer(&mut self, word: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
        let value: Expr = input.parse()?;
        let is_bool = matches!(value, Expr::Lit(ExprLit { lit: Lit::Bool(_), .. }));
        if !self.modifiers.add(Modifier::Producer) {
            diagnostics.push(Diagnostic::error(word.span(), format!("`{word}` is given twice")).help("remove one of them"));
        } else if matches!(value, Expr::Lit(_)) && !is_bool {
            diagnostics.push(Written::refuse_condition(&value, "this"));
        } else {
            self.condition = Some(value);
        }
        Ok(())
    }

    /// A condition of another type.
    pub fn refuse_condition(value: &Expr, found: &str) -> Diagnostic {
        let message = format!("`{}` takes `true` or `false`, not {found}", Modifier::Producer.name());
        Diagnostic::error(value.span(), message).help("write a `bool`, a constant or a const generic of one, or leave it out")
    }

    /// What literals show to be wrong, and a missing number.
    fn check(&self, on: On, diagnostics: &mut Diagnostics) {
        let annotation = self.annotation;
        let Some(argument) = &self.argument else {
            if annotation.needs_number() {
                let error = Diagnostic::error(self.place, format!("`{}` needs a number", annotation.name));
                diagnostics.push(error.help(format!("write `{}`", annotation.example(on))));
            }
            return;
        };
        // Those of arrays are looked at together with the array's type, in `hir`.
        if on == On::Shared {
            return;
        }
        let is_bool = matches!(argument, Expr::Lit(ExprLit { lit: Lit::Bool(_), .. }));
        diagnostics.extend(match (literal_int(argument), argument) {
            (Some(value), _) if annotation.numbers().is_some() => {
                annotation.refuse_number(value).map(|(message, help)| Diagnostic::error(argument.span(), message).help(help))
            }
            (Some(_), _) => Some(self.refuse_type(argument, "a number")),
            (None, Expr::Lit(_)) if is_bool && !annotation.needs_number() => None,
            (None, Expr::Lit(_)) if is_bool => Some(self.refuse_type(argument, "a `bool`")),
            (None, Expr::Lit(_)) => Some(self.refuse_type(argument, "this")),
            _ => None,
        });
    }

    /// An argument of another type.
    pub fn refuse_type(&self, argument: &Expr, found: &str) -> Diagnostic {
        let (wanted, help) = match self.annotation.takes {
            Takes::Switch => ("`true` or `false`", "write `true`, or leave it out"),
            Takes::Number(_) => ("a number", "write a literal, a constant or a const generic"),
            Takes::All(_) => ("a number, `true` or `false`", "write a literal, a constant or a const generic"),
        };
        Diagnostic::error(argument.span(), format!("`{}` takes {wanted}, not {found}", self.annotation.name)).help(help)
    }

    /// `while` and `loop`: how often they run is not known before they do.
    fn check_keyword(&self, keyword: LoopKeyword, diagnostics: &mut Diagnostics) {
        let fits = match self.annotation.loops {
            Loops::All => true,
            Loops::CountedUnlessOne => self.argument.as_ref().is_some_and(|argument| literal_int(argument).is_none_or(|value| value == 1)),
            Loops::Counted => false,
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
        let name = self.annotation.name;
        let message = format!("`{name}` counts iterations, and those of a `{word}` cannot be counted before it runs");
        Some(Diagnostic::error(self.place, message).help("write the loop as `for i in a..b`"))
    }
}

/// The word of `word = value`, if that is what comes next.
fn word_before_value(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    let word: Ident = ahead.parse().ok()?;
    (ahead.peek(Token![=]) && !ahead.peek(Token![==])).then_some(word)
}

/// The next argument, if it is an identifier alone.
fn lone_word(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    let word: Ident = ahead.parse().ok()?;
    (ahead.is_empty() || ahead.peek(Token![,])).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::super::annotations::loop_annotations;
    use super::*;
    use crate::annotations::ANNOTATIONS;
    use crate::syntax::tests::render;

    fn parse(expression: &str) -> (WrittenAnnotations, Vec<String>) {
        let (attrs, keyword) = match syn::parse_str(expression).unwrap() {
            Expr::ForLoop(e) => (e.attrs, LoopKeyword::For),
            Expr::While(e) => (e.attrs, LoopKeyword::While),
            Expr::Loop(e) => (e.attrs, LoopKeyword::Loop),
            _ => panic!("not a loop"),
        };
        let mut diagnostics = Diagnostics::new();
        let parsed = loop_annotations(&attrs, keyword, &mut diagnostics);
        (parsed, render(&diagnostics))
    }

    #[track_caller]
    fn check(annotations: &str, expected: &[&str]) {
        assert_eq!(parse(&format!("{annotations} for i in 0..4 {{}}")).1, expected, "{annotations}");
    }

    #[test]
    fn every_form_is_parsed() {
        let (parsed, findings) = parse(
            "#[unroll] #[ilp(2 * N, best_effort)] #[batch_loads(BATCH, assume_disjoint)] #[prefetch(false)] #[pipeline(stages = S)] \
             #[vectorize(assume_aligned, 4, assume_disjoint,)] #[allow(unused)] for i in 0..4 {}",
        );
        assert_eq!(findings, [""; 0]);
        let found: Vec<_> = parsed.iter().map(|written| (written.annotation, written.argument.is_some())).collect();
        let with_arguments = [false, true, true, true, true, true];
        assert_eq!(found, ANNOTATIONS.iter().copied().zip(with_arguments).collect::<Vec<_>>());
        let modifiers: Vec<Vec<&str>> = parsed
            .iter()
            .map(|written| Modifier::ALL.into_iter().filter(|(modifier, _)| written.says(*modifier)).map(|(_, name)| name).collect())
            .collect();
        let (none, soft, disjoint) = (vec![], vec!["best_effort"], vec!["assume_disjoint"]);
        assert_eq!(modifiers, [none.clone(), soft, vec!["assume_disjoint", "assume_aligned"], disjoint, none.clone(), none]);
        assert_eq!(parsed.arguments().count(), 5);
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
        check(
            "#[pipeline(stages = 33)]",
            &["33: `stages = 33` is not possible: the most stages are 32; use a smaller number, for example 3 or 4"],
        );
        check("#[unroll(1024)] #[ilp(128)] #[vectorize(8)] #[pipeline(stages = 32)]", &[]);
        check("#[unroll(1)]", &[]);
    }

    #[test]
    fn arguments_have_types_and_numbers() {
        check("#[ilp]", &["ilp: `ilp` needs a number; write `#[ilp(4)]`"]);
        check("#[vectorize(best_effort)]", &["vectorize: `vectorize` needs a number; write `#[vectorize(4)]`"]);
        check("#[pipeline]", &["pipeline: `pipeline` needs a number; write `#[pipeline(stages = 3)]`"]);
        check("#[pipeline(S + 1)]", &["S + 1: `pipeline` takes its number as `stages = …`; write `stages = S + 1`"]);
        check("#[pipeline(3)]", &["3: `pipeline` takes its number as `stages = …`; write `stages = 3`"]);
        check("#[pipeline(depth = 3)]", &["depth: `pipeline` has no argument `depth`; write `#[pipeline(stages = 3)]`"]);
        check("#[pipeline(stages = 3, best_effort)]", &[]);
        check("#[ilp = 4]", &["=: `#[ilp]` takes its arguments in parentheses; write `#[ilp(4)]`"]);
        check("#[ilp(true)]", &["true: `ilp` takes a number, not a `bool`; write a literal, a constant or a const generic"]);
        check("#[prefetch(2)]", &["2: `prefetch` takes `true` or `false`, not a number; write `true`, or leave it out"]);
        check(
            "#[unroll(2.5)]",
            &["2.5: `unroll` takes a number, `true` or `false`, not this; write a literal, a constant or a const generic"],
        );
        check("#[ilp(2, 4)]", &["4: `ilp` takes one value; remove one of them"]);
        check("#[ilp(2 4)]", &["4: expected `,` between the arguments of `ilp`; write `,` before it"]);
        check("#[unroll] #[unroll(2)]", &["unroll: `#[unroll]` is given twice; remove one of them"]);
    }

    #[test]
    fn modifiers_are_known_and_fit() {
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
