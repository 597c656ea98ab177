//! The known name that a misspelt one was probably meant to be.

use strsim::osa_distance;

/// The candidate closest to `name`, if one is close enough to be what was meant: at most a third of its letters differ, a swap of neighbours
/// counting once, and at least one edit is always forgiven.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let limit = (name.chars().count() / 3).max(1);
    // Of one letter every other one is an edit away; only its other case is a slip.
    let is_one = |text: &str| text.chars().count() == 1;
    let candidates = candidates.into_iter().filter(|candidate| !is_one(name) && !is_one(candidate) || candidate.eq_ignore_ascii_case(name));
    let candidates: Vec<&str> = candidates.collect();
    let scored = candidates.iter().map(|candidate| (osa_distance(name, candidate), *candidate));
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

#[cfg(test)]
mod tests {
    use super::*;

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
