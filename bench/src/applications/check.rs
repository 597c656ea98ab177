//! Results, what is expected of them, and how far they may be off.

use crate::Outcome;

/// What a run leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Results {
    Integers(Vec<u64>),
    Floats(Vec<f32>),
}

/// How far floats may be from what is expected of them; two results are as far from each other as both may be. Integers are equal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tolerance {
    /// Each by so much.
    Most(f64),
    /// Each by its own, in the order of the expected places. Where nothing is expected, by the greatest of them.
    Each(Vec<f64>),
    /// All together: the root of the sum of their squares.
    Root(f64),
    /// Not at all.
    Exact,
}

/// What is known of the results.
pub(crate) enum Known {
    Integers(Vec<u64>),
    Floats(Vec<f64>),
}

/// What is expected of some of the results, or of all.
pub(crate) struct Expected {
    pub(crate) known: Known,
    /// Where: one place for each that is known; none where it is all, in order.
    pub(crate) places: Option<Vec<usize>>,
    /// Who says so.
    pub(crate) source: &'static str,
    /// How far results may be off.
    pub(crate) bound: Tolerance,
}

impl Results {
    fn len(&self) -> usize {
        match self {
            Results::Integers(v) => v.len(),
            Results::Floats(v) => v.len(),
        }
    }

    /// An `Err` where two sides' results are further apart than both may be off.
    pub(crate) fn agree(&self, other: &Results, bound: &Tolerance) -> Outcome<()> {
        if self.len() != other.len() {
            return Err(format!("{} results, the twin has {}", self.len(), other.len()).into());
        }
        let differ = |count: usize, first: Option<usize>| match first {
            Some(at) => Err(format!("{count} of {} results differ from the twin's, the first at {at}", self.len()).into()),
            None => Ok(()),
        };
        match (self, other) {
            (Results::Integers(ours), Results::Integers(theirs)) => {
                let mut apart = (0..ours.len()).filter(|i| ours[*i] != theirs[*i]);
                let first = apart.next();
                differ(1 + apart.count(), first)
            }
            (Results::Floats(ours), Results::Floats(theirs)) => {
                let wide = |i: usize| (f64::from(ours[i]), f64::from(theirs[i]));
                let places = 0..ours.len();
                match bound {
                    Tolerance::Root(most) => within_root(places.map(wide), 2.0 * most, "the twin's results"),
                    bound => {
                        let greatest = bound.greatest();
                        let most = |i: usize| match bound {
                            Tolerance::Each(bounds) if bounds.len() == ours.len() => 2.0 * bounds[i],
                            _ => 2.0 * greatest,
                        };
                        let mut apart = places.filter(|i| !near(wide(*i), most(*i)));
                        let first = apart.next();
                        differ(1 + apart.count(), first)
                    }
                }
            }
            _ => Err("one side has integers, the other floats".into()),
        }
    }
}

impl Tolerance {
    fn greatest(&self) -> f64 {
        match self {
            Tolerance::Most(most) | Tolerance::Root(most) => *most,
            Tolerance::Each(bounds) => bounds.iter().fold(0.0, |most, bound| bound.max(most)),
            Tolerance::Exact => 0.0,
        }
    }
}

/// Whether two are that close; what is not a number is close to nothing.
fn near((a, b): (f64, f64), most: f64) -> bool {
    a == b || (a - b).abs() <= most
}

fn within_root(pairs: impl Iterator<Item = (f64, f64)>, most: f64, what: &str) -> Outcome<()> {
    let root = pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    // What is not a number is within no bound.
    if root <= most { Ok(()) } else { Err(format!("off from {what} by {root:e} in all, more than {most:e}").into()) }
}

impl Expected {
    /// All results are known.
    pub(crate) fn all(known: Known, source: &'static str, bound: Tolerance) -> Expected {
        Expected { known, places: None, source, bound }
    }

    /// How many of so many results are compared, and with what.
    pub(crate) fn describe(&self, results: usize) -> String {
        match &self.places {
            None => format!("all by {}", self.source),
            Some(places) => format!("{} of {results} by {}", places.len(), self.source),
        }
    }

    /// An `Err` where results are further off than they may be. Gives how many there are.
    pub(crate) fn check(&self, found: &Results, bound: &Tolerance) -> Outcome<usize> {
        let at = |k: usize| self.places.as_ref().map_or(k, |places| places[k]);
        let count = match &self.known {
            Known::Integers(known) => known.len(),
            Known::Floats(known) => known.len(),
        };
        if (0..count).map(at).max().is_some_and(|last| last >= found.len()) || (self.places.is_none() && count != found.len()) {
            return Err(format!("{} results, {count} of which are known: fewer or more than expected", found.len()).into());
        }
        match (&self.known, found) {
            (Known::Integers(known), Results::Integers(found)) => {
                if let Some(k) = (0..count).find(|k| known[*k] != found[at(*k)]) {
                    return Err(format!("element {} is {}, expected {}", at(k), found[at(k)], known[k]).into());
                }
            }
            (Known::Floats(known), Results::Floats(found)) => {
                let pair = |k: usize| (known[k], f64::from(found[at(k)]));
                if let Tolerance::Root(most) = bound {
                    within_root((0..count).map(pair), *most, "what is expected")?;
                    return Ok(found.len());
                }
                let greatest = bound.greatest();
                for (k, known) in known.iter().enumerate() {
                    let most = if let Tolerance::Each(bounds) = bound { bounds[k] } else { greatest };
                    if !near(pair(k), most) {
                        return Err(format!("element {} is {}, expected {known} within {most:e}", at(k), found[at(k)]).into());
                    }
                }
            }
            _ => return Err("integers are expected and floats found, or the other way round".into()),
        }
        Ok(found.len())
    }
}

/// So many places of `n` results, evenly spread, the first and the last among them.
pub(crate) fn spread(n: usize, many: usize) -> Vec<usize> {
    match many.min(n) {
        0 => Vec::new(),
        1 => vec![0],
        many => (0..many).map(|k| (k as u128 * (n as u128 - 1) / (many as u128 - 1)) as usize).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(result: Outcome<impl std::fmt::Debug>) -> String {
        result.expect_err("it differs").to_string()
    }

    #[test]
    fn integers_are_equal_or_wrong() {
        let found = |last| Results::Integers(vec![1, 2, last]);
        assert!(found(3).agree(&found(3), &Tolerance::Exact).is_ok());
        assert_eq!(says(found(3).agree(&found(4), &Tolerance::Exact)), "1 of 3 results differ from the twin's, the first at 2");
        let some = Expected { known: Known::Integers(vec![3]), places: Some(vec![2]), source: "hand", bound: Tolerance::Exact };
        assert_eq!(some.check(&found(3), &Tolerance::Exact).expect("it is right"), 3);
        assert_eq!(says(some.check(&found(5), &Tolerance::Exact)), "element 2 is 5, expected 3");
        assert_eq!(some.describe(3), "1 of 3 by hand");
    }

    #[test]
    fn floats_are_within_their_bounds_and_two_sides_within_both() {
        let found = |last| Results::Floats(vec![1.0, last]);
        let expected = Expected::all(Known::Floats(vec![1.0, 2.0]), "hand", Tolerance::Exact);
        let each = || Tolerance::Each(vec![0.0, 0.5]);
        for (bound, ours, is_right) in [
            (Tolerance::Most(0.5), 2.5, true),
            (Tolerance::Most(0.25), 2.5, false),
            (each(), 1.5, true),
            (each(), 1.25, false),
            (Tolerance::Root(0.5), 2.5, true),
            (Tolerance::Root(0.25), 2.5, false),
            (Tolerance::Exact, 2.0, true),
            (Tolerance::Exact, 2.5, false),
            (Tolerance::Most(9.0), f32::NAN, false),
            (Tolerance::Root(9.0), f32::NAN, false),
        ] {
            assert_eq!(expected.check(&found(ours), &bound).is_ok(), is_right, "{ours} within {bound:?}");
        }
        assert!(found(1.5).agree(&found(2.5), &each()).is_ok(), "both may be off by 0.5");
        assert!(found(1.5).agree(&found(2.75), &each()).is_err() && found(f32::NAN).agree(&found(1.0), &each()).is_err());
        assert!(
            found(1.0).agree(&found(2.0), &Tolerance::Root(0.5)).is_ok() && found(1.0).agree(&found(2.5), &Tolerance::Root(0.5)).is_err()
        );
    }

    #[test]
    fn fewer_results_than_are_known_are_wrong() {
        let expected = Expected::all(Known::Floats(vec![1.0, 2.0]), "hand", Tolerance::Exact);
        assert!(says(expected.check(&Results::Floats(vec![1.0]), &Tolerance::Most(9.0))).starts_with("1 results, 2 of which are known"));
        assert!(expected.check(&Results::Integers(vec![1, 2]), &Tolerance::Exact).is_err());
    }

    #[test]
    fn places_are_spread_from_the_first_to_the_last() {
        assert_eq!(spread(11, 3), [0, 5, 10]);
        assert_eq!(spread(2, 9), [0, 1]);
        assert_eq!((spread(0, 4), spread(7, 1)), (vec![], vec![0]));
    }
}
