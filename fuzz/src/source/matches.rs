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
        match self.random.below(6) {
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
            3 => self.nested_patterns(depth),
            _ => self.integer_patterns(depth),
        }
    }

    /// A tuple with a tuple and an array in it.
    fn nested_patterns(&mut self, depth: usize) -> (String, Vec<Pattern>) {
        self.hit("match.nested");
        let [a, b, c] = [0; 3].map(|_| self.expr(Scalar::U32, depth.min(1)));
        let (n, m) = (self.random.below(4), self.random.below(4));
        let [first, second] = [0; 2].map(|_| self.unique_name());
        let patterns = vec![
            (format!("({n}, (_, [_, 1]))"), None),
            (format!("({first}, ({m}.., _)) if {first} % 3 == 1"), Some((first, Scalar::U32))),
            (format!("(_, (_, [{second}, 0 | 2]))"), Some((second, Scalar::U32))),
            (format!("(..{}, ..) | (_, (0, ..))", n + 1), None),
            ("_".to_owned(), None),
        ];
        (format!("({a} & 7, ({b} & 7, [{c} & 3, {b} & 3]))"), patterns)
    }

    /// Whether a value fits a pattern.
    pub(super) fn matches_macro(&mut self, depth: usize) -> String {
        self.hit("matches");
        if self.random.chance(30) {
            let ty = self.random.pick(&[Scalar::F32, Scalar::F64]);
            self.hit("match.float");
            let value = self.expr(ty, depth);
            return format!("matches!({value}, -1.0..=4.5 | 9.0)");
        }
        let ty = self.random.pick(&Scalar::INTEGERS);
        let (value, a, b) = (self.expr(ty, depth), self.random.below(50), 51 + self.random.below(70));
        match self.random.below(3) {
            0 => format!("matches!({value}, {a}..={b} | 127)"),
            1 => format!("matches!(({value} & 63, {value} > 9), ({a}, _) | (_, true))"),
            _ => format!("matches!({value} & 63, k_ @ {a}..{b} if k_ % 2 == 1)"),
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
            patterns.push(match self.random.below(9) {
                8 if ty.is_signed() => {
                    self.hit("match.negative");
                    (self.random.pick(&["-99..=-1", "-128", "-5..7", "..-3", "..=-1"]).to_owned(), None)
                }
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
                5 => {
                    self.hit("match.half_open");
                    (format!("{a}..{b}"), None)
                }
                6 => {
                    self.hit("match.at");
                    let bound = self.unique_name();
                    (format!("{bound} @ ({a} | {}..={})", a + 2, b.max(a + 2)), Some((bound, ty)))
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
