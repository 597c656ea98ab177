//! What the source asks of a loop: data for [`crate::schedule`], which consumes it. None is left from `Scheduled` on.

use super::Loc;
use std::fmt;

/// One annotation: its argument and how it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<T> {
    /// Its argument.
    pub value: T,
    /// The annotation: where errors are shown.
    pub loc: Loc,
    /// `best_effort`: what cannot be kept is a warning.
    pub best_effort: bool,
    /// `assume_disjoint`: the person promises that no access of another iteration (or, to `batch_loads`, no store before it) touches
    /// the element that a load reads.
    pub assume_disjoint: bool,
    /// `assume_aligned`: the person promises that a group's first element is a multiple of its length.
    pub assume_aligned: bool,
}

impl<T> Asked<T> {
    /// Without any of the words that soften it.
    pub fn new(value: T, loc: Loc) -> Asked<T> {
        Asked { value, loc, best_effort: false, assume_disjoint: false, assume_aligned: false }
    }

    /// The same words about something else.
    pub fn with<U>(&self, value: U) -> Asked<U> {
        let Asked { loc, best_effort, assume_disjoint, assume_aligned, .. } = *self;
        Asked { value, loc, best_effort, assume_disjoint, assume_aligned }
    }
}

/// How far to unroll. `#[unroll(1)]` is `keep_rolled` of the loop itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unroll {
    /// Every iteration.
    Full,
    /// So many at a time; more than one.
    By(u32),
}

/// The annotations of one loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopAnnotations {
    /// `#[unroll]`, `#[unroll(N)]`.
    pub unroll: Option<Asked<Unroll>>,
    /// `#[ilp(N)]`, N more than one.
    pub ilp: Option<Asked<u32>>,
    /// `#[batch_loads]`.
    pub batch_loads: Option<Asked<()>>,
    /// `#[prefetch]`.
    pub prefetch: Option<Asked<()>>,
    /// `#[vectorize(N)]`, N more than one.
    pub vectorize: Option<Asked<u32>>,
    /// Whether they are arguments of `#[kernel]`, and the loop is the one over the elements of a thread that they imply.
    pub of_kernel: bool,
}

impl LoopAnnotations {
    /// Where its annotations that make copies stand.
    pub fn places(&self) -> Vec<Loc> {
        let unroll = self.unroll.map(|asked| asked.loc);
        [self.ilp, self.vectorize].into_iter().flatten().map(|asked| asked.loc).chain(unroll).collect()
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.unroll.is_none() && self.ilp.is_none() && self.batch_loads.is_none() && self.prefetch.is_none() && self.vectorize.is_none()
    }
}

/// The text form: ` unroll(4) ilp(2) batch_loads`, each with a space before it; words that soften it follow in the parentheses.
impl fmt::Display for LoopAnnotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(asked) = &self.unroll {
            match asked.value {
                Unroll::Full => word(f, "unroll", None, asked)?,
                Unroll::By(n) => word(f, "unroll", Some(n), asked)?,
            }
        }
        for (name, asked) in [("ilp", &self.ilp), ("vectorize", &self.vectorize)] {
            if let Some(asked) = asked {
                word(f, name, Some(asked.value), asked)?;
            }
        }
        for (name, asked) in [("batch_loads", &self.batch_loads), ("prefetch", &self.prefetch)] {
            if let Some(asked) = asked {
                word(f, name, None, asked)?;
            }
        }
        f.write_str(if self.of_kernel { " of_kernel" } else { "" })
    }
}

fn word<T>(f: &mut fmt::Formatter<'_>, name: &str, n: Option<u32>, asked: &Asked<T>) -> fmt::Result {
    let flags = [("best_effort", asked.best_effort), ("assume_disjoint", asked.assume_disjoint), ("assume_aligned", asked.assume_aligned)];
    let mut arguments: Vec<String> = n.map(|n| n.to_string()).into_iter().collect();
    arguments.extend(flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned()));
    write!(f, " {name}")?;
    if arguments.is_empty() { Ok(()) } else { write!(f, "({})", arguments.join(", ")) }
}
