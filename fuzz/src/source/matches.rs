//! `match`: integers with ranges, alternatives and guards, tuples, enums, bools.

use super::scope::{Generator, Ty};
use super::types::Scalar;

/// A pattern, and the variable that it binds with its type.
pub(super) type Pattern = (String, Option<(String, Scalar)>);

impl Generator<'_> {
    /// A `match` as an expression of this type.
    pub(super) fn match_value(&mut self, ty: Scalar, depth: usize) -> String {
        let (of, patterns) = self.scrutinee(depth);
        let arms: Vec<String> = patterns
            .into_iter()
            .map(|(pattern, bound)| {
                self.scoped(|g| {
                    if let Some((name, scalar)) = bound {
                        g.bind(&name, Ty::Scalar(scalar), false);
                    }
                    format!("{pattern} => {}", g.expr(ty, depth.saturating_sub(1)))
                })
            })
            .collect();
        format!("(match {of} {{ {} }})", arms.join(", "))
    }

    /// What is matched, and patterns that leave nothing out: each with the variable that it binds.
    pub(super) fn scrutinee(&mut self, depth: usize) -> (String, Vec<Pattern>) {
        let enums: Vec<(String, usize)> =
            self.variables.iter().filter_map(|v| if let Ty::Enum(id) = v.ty { Some((v.name.clone(), id)) } else { None }).collect();
        match self.random.below(5) {
            0 if !enums.is_empty() => {
                self.hit("match.enum");
                let (name, id) = enums[self.random.below(enums.len())].clone();
                let item = self.enums[id].clone();
                let mut patterns: Vec<_> = item.variants.iter().map(|variant| (format!("{}::{variant}", item.name), None)).collect();
                if patterns.len() > 2 && self.random.chance(50) {
                    self.hit("match.alternatives");
                    let (last, _) = patterns.pop().unwrap_or_default();
                    let (before, _) = patterns.pop().unwrap_or_default();
                    patterns.push((format!("{before} | {last}"), None));
                }
                (name, patterns)
            }
            1 => {
                self.hit("match.tuple");
                let (a, b) = (self.expr(Scalar::Bool, depth), self.expr(Scalar::U8, depth));
                let n = self.random.below(255);
                let patterns = vec![
                    (format!("(true, 0..={n})"), None),
                    ("(false, _)".to_owned(), None),
                    ("(_, l)".to_owned(), Some(("l".to_owned(), Scalar::U8))),
                ];
                (format!("({a}, {b})"), patterns)
            }
            2 => {
                self.hit("match.bool");
                (self.expr(Scalar::Bool, depth), vec![("true".to_owned(), None), ("false".to_owned(), None)])
            }
            _ => self.integer_patterns(depth),
        }
    }

    fn integer_patterns(&mut self, depth: usize) -> (String, Vec<Pattern>) {
        let ty = self.random.pick(&Scalar::INTEGERS);
        let name = ty.name();
        let of = self.expr(ty, depth);
        let of = if self.random.chance(60) { format!("{of} & 15") } else { of };
        let mut patterns = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let (a, b) = (self.random.below(8), 8 + self.random.below(100));
            patterns.push(match self.random.below(6) {
                0 | 1 => (a.to_string(), None),
                2 => {
                    self.hit("match.range");
                    (format!("{a}..={b}"), None)
                }
                3 => {
                    self.hit("match.alternatives");
                    (format!("{a} | {} | {b}{name}", a + 9), None)
                }
                4 => {
                    self.hit("match.open_range");
                    (format!("{b}.."), None)
                }
                _ => {
                    self.hit("match.guard");
                    let guard = self.expr(Scalar::Bool, depth.min(1));
                    (format!("{a}..={b} if {guard}"), None)
                }
            });
        }
        if self.random.chance(30) {
            self.hit("match.binding");
            let bound = self.name();
            patterns.push((bound.clone(), Some((bound, ty))));
        } else {
            patterns.push(("_".to_owned(), None));
        }
        (of, patterns)
    }
}
