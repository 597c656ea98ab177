//! Which variant is measured next: half of what may be measured is the best by prediction; the others are one step away from the fastest so far.
//!
//! Predictions err along an axis: where they rate wide tiles too high they do so in all variants with wide tiles, and the best of them are neighbours.
//! The clock sets that right, if the search leaves the corner that it was sent to.

use super::prune::Plan;
use crate::cli::compare::Variant;

/// A search through the variants of a plan.
pub(super) struct Search {
    /// Those that may be measured, the best prediction first.
    ranked: Vec<usize>,
    /// By variant: where its value stands among those of each axis.
    places: Vec<Vec<usize>>,
    /// What has been measured, with its seconds; none where it failed or has other results.
    tried: Vec<(usize, Option<f64>)>,
    most: usize,
}

impl Search {
    pub(super) fn new(variants: &[Variant], plan: &Plan) -> Search {
        let values: Vec<Vec<&str>> = variants.iter().map(|one| one.values.iter().map(|(_, value)| value.as_str()).collect()).collect();
        Search { ranked: plan.ranked.iter().map(|(n, _)| *n).collect(), places: places(&values), tried: Vec::new(), most: plan.most }
    }

    /// How many are still to be measured.
    pub(super) fn left(&self) -> usize {
        self.most.min(self.ranked.len()) - self.tried.len()
    }

    /// What to measure next, if anything is left.
    pub(super) fn next(&self) -> Option<usize> {
        if self.left() == 0 {
            return None;
        }
        let mut open = self.ranked.iter().copied().filter(|n| self.tried.iter().all(|(tried, _)| tried != n));
        if self.tried.len() < self.most.div_ceil(2) {
            return open.next();
        }
        let Some(best) = self.best() else { return open.next() };
        let open: Vec<usize> = open.collect();
        // An axis along which little has been tried may hold more than one that is known; of one axis the better prediction comes first.
        let steps = open.iter().enumerate().filter_map(|(rank, n)| Some((self.values_tried(self.axis_between(best, *n)?), rank, *n)));
        steps.min().map(|(_, _, n)| n).or_else(|| open.first().copied())
    }

    /// What came of a variant.
    pub(super) fn add(&mut self, variant: usize, seconds: Option<f64>) {
        self.tried.push((variant, seconds));
    }

    fn best(&self) -> Option<usize> {
        let timed = self.tried.iter().filter_map(|(n, seconds)| Some((*n, (*seconds)?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(n, _)| n)
    }

    /// The axis on which two variants are neighbours, if they differ in nothing else.
    fn axis_between(&self, a: usize, b: usize) -> Option<usize> {
        let (a, b) = (&self.places[a], &self.places[b]);
        let mut differing = (0..a.len()).filter(|axis| a[*axis] != b[*axis]);
        let axis = differing.next()?;
        (differing.next().is_none() && a[axis].abs_diff(b[axis]) == 1).then_some(axis)
    }

    /// How many values of an axis have been tried.
    fn values_tried(&self, axis: usize) -> usize {
        let mut values: Vec<usize> = self.tried.iter().map(|(n, _)| self.places[*n][axis]).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    }
}

/// Where each value stands on its axis: numbers by size, what is no number in the order of the variants.
fn places(variants: &[Vec<&str>]) -> Vec<Vec<usize>> {
    let axes = variants.first().map_or(0, Vec::len);
    let mut places = vec![Vec::new(); variants.len()];
    for axis in 0..axes {
        let mut values: Vec<&str> = Vec::new();
        for variant in variants {
            if !values.contains(&variant[axis]) {
                values.push(variant[axis]);
            }
        }
        let numbers: Option<Vec<i128>> = values.iter().map(|value| value.parse().ok()).collect();
        if numbers.is_some() {
            values.sort_by_key(|value| value.parse::<i128>().unwrap_or_default());
        }
        for (place, variant) in places.iter_mut().zip(variants) {
            place.push(values.iter().position(|value| *value == variant[axis]).unwrap_or_default());
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two block sizes, three numbers of points a thread, histograms a block, and histograms by lane.
    fn names() -> Vec<[&'static str; 4]> {
        let mut all = Vec::new();
        for block in ["128", "256"] {
            for own in ["1", "2", "4"] {
                for sets in ["1", "4"] {
                    for lanes in ["1", "32"] {
                        all.push([block, own, sets, lanes]);
                    }
                }
            }
        }
        all
    }

    fn search(ranked: Vec<usize>, most: usize) -> Search {
        let names = names();
        let values: Vec<Vec<&str>> = names.iter().map(|one| one.to_vec()).collect();
        Search { ranked, places: places(&values), tried: Vec::new(), most }
    }

    /// Runs a search by the clock given; what was measured, in turn.
    fn run(search: &mut Search, clock: impl Fn(usize) -> Option<f64>) -> Vec<usize> {
        let mut order = Vec::new();
        while let Some(n) = search.next() {
            search.add(n, clock(n));
            order.push(n);
        }
        order
    }

    /// The prediction prefers four points a thread in all variants, the clock two.
    #[test]
    fn an_axis_that_is_predicted_wrongly_is_left() {
        let names = names();
        let mut ranked: Vec<usize> = (0..names.len()).collect();
        let wish = |n: &usize| std::cmp::Reverse((names[*n][1], names[*n][0] == "256"));
        ranked.sort_by_key(wish);
        let clock = |n: usize| {
            let [block, own, ..] = names[n];
            let by_own = match own {
                "2" => 1.36,
                "1" => 1.40,
                _ => 1.45,
            };
            Some(by_own + if block == "256" { 0.0 } else { 0.02 } + n as f64 * 1e-5)
        };
        let order = run(&mut search(ranked.clone(), 6), clock);
        assert_eq!(order.len(), 6);
        assert_eq!(&order[..3], &ranked[..3], "the first half is the prediction's");
        assert!(order.iter().any(|n| names[*n][..2] == ["256", "2"]), "{order:?}");
        let all = run(&mut search(ranked.clone(), 24), clock);
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..24).collect::<Vec<_>>(), "each once");
    }

    #[test]
    fn what_fails_is_never_the_best_and_leaves_the_prediction() {
        let order = run(&mut search((0..24).rev().collect(), 6), |_| None);
        assert_eq!(order, [23, 22, 21, 20, 19, 18]);
        assert_eq!(run(&mut search(vec![5, 3], 6), |_| Some(1.0)), [5, 3], "no more than there are");
        assert_eq!(run(&mut search(Vec::new(), 1), |_| Some(1.0)), [0; 0]);
    }

    #[test]
    fn numbers_stand_by_size_and_words_as_declared() {
        let values = [vec!["32", "false"], vec!["4", "true"], vec!["8", "false"]];
        assert_eq!(places(&values), [vec![2, 0], vec![0, 1], vec![1, 0]]);
    }
}
