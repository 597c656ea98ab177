//! The known name that a misspelt one was probably meant to be.

/// The candidate closest to `name`, if one is close enough to be what was meant: at most a third of its letters differ, and at least
/// one edit is always forgiven.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let limit = (name.chars().count() / 3).max(1);
    // Of one letter every other one is an edit away; only its other case is a slip.
    let is_one = |text: &str| text.chars().count() == 1;
    let candidates = candidates.into_iter().filter(|candidate| !is_one(name) && !is_one(candidate) || candidate.eq_ignore_ascii_case(name));
    let candidates: Vec<&str> = candidates.collect();
    let scored = candidates.iter().map(|candidate| (distance(name, candidate), *candidate));
    let closest = scored.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, candidate)| candidate);
    closest.or_else(|| begun(name, &candidates))
}

/// The only candidate that begins as `name` or that `name` begins as, by three letters or more: `uncoalesced` for `uncoalesced_access`,
/// `padding` for `pad`.
fn begun<'c>(name: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let begins = |candidate: &&&str| {
        let (short, long) = if name.len() < candidate.len() { (name, **candidate) } else { (**candidate, name) };
        short.chars().count() >= 3 && long.starts_with(short)
    };
    let mut found = candidates.iter().filter(begins);
    found.next().filter(|_| found.next().is_none()).copied()
}

/// Edits from `a` to `b`: insertions, deletions, substitutions and swaps of neighbours (optimal string alignment distance).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Rows of the table for the last two prefixes of `a` and for the current one.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let substituted = last[j] + usize::from(a[i] != b[j]);
            let mut best = substituted.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, d) in [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("blok", "block", 1), ("bolck", "block", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(a, b), d, "{a} → {b}");
            assert_eq!(distance(b, a), d, "{b} → {a}");
        }
    }

    #[test]
    fn only_what_is_close_is_named() {
        let names = ["block", "bounds", "min_blocks"];
        assert_eq!(nearest("blok", names), Some("block"));
        assert_eq!(nearest("minblocks", names), Some("min_blocks"));
        assert_eq!(nearest("bound", names), Some("bounds"));
        assert_eq!(nearest("blocks_per_grid", names), Some("block"));
        assert_eq!(nearest("threads", names), None);
    }
}
