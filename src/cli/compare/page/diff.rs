//! Two texts side by side: what is equal folded, what only moved told from what is new. The page's script does the same for other pairs.

use super::texts::{Body, Texts};
use serde_json::{Value as Json, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;

/// Lines shown around what differs.
const CONTEXT: usize = 3;
/// Fewer equal or moved lines than these are not folded.
const LEAST_FOLDED: usize = 4;

/// A line of each side; `None` where a side has none.
struct Row {
    a: Option<usize>,
    b: Option<usize>,
    /// `same`, `changed`, `moved`.
    class: &'static str,
}

/// The rows of two texts in groups, some of which are folded.
pub(super) fn rows(texts: &Texts, a: &Body, b: &Body) -> Json {
    let rows = align(&a.lines, &b.lines, |line| texts.line(line).trim().len() > 1);
    // A text beside itself is there to be read.
    let differs = rows.iter().any(|row| row.class != "same");
    let mut groups: Vec<Json> = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let class = rows[at].class;
        let end = at + rows[at..].iter().take_while(|row| row.class == class).count();
        let show = |from: usize, to: usize| -> Vec<Json> {
            let number = |line: Option<usize>| line.map(|line| line + 1);
            let text = |body: &Body, line: Option<usize>| line.map(|line| texts.line(body.lines[line]).to_owned());
            let row = |row: &Row| json!({ "a": number(row.a), "b": number(row.b), "at": text(a, row.a), "bt": text(b, row.b), "class": row.class });
            rows[from..to].iter().map(row).collect()
        };
        // Equal lines at the very top and bottom have their context on one side only.
        let before = if at == 0 || class != "same" { 0 } else { CONTEXT };
        let after = if end == rows.len() || class != "same" { 0 } else { CONTEXT };
        if class != "changed" && differs && end - at >= before + after + LEAST_FOLDED {
            let (from, to) = (at + before, end - after);
            groups.push(json!({ "rows": show(at, from) }));
            let word = if class == "same" { "unchanged" } else { "moved" };
            groups.push(json!({ "fold": format!("{} {word} lines", to - from), "rows": show(from, to) }));
            groups.push(json!({ "rows": show(to, end) }));
        } else {
            groups.push(json!({ "rows": show(at, end) }));
        }
        at = end;
    }
    json!(groups.into_iter().filter(|group| group["rows"].as_array().is_some_and(|rows| !rows.is_empty())).collect::<Vec<_>>())
}

/// What of the one stands beside what of the other. A line that goes in one place and comes in another, and is only one of its kind, is moved.
fn align(a: &[usize], b: &[usize], tells: impl Fn(usize) -> bool) -> Vec<Row> {
    let ops = capture_diff_slices(Algorithm::Myers, a, b);
    let (mut gone, mut come): (HashMap<usize, usize>, HashMap<usize, usize>) = Default::default();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        op.old_range().for_each(|n| *gone.entry(a[n]).or_default() += 1);
        op.new_range().for_each(|n| *come.entry(b[n]).or_default() += 1);
    }
    let is_moved = |line: usize| tells(line) && gone.get(&line) == Some(&1) && come.get(&line) == Some(&1);
    let mut rows = Vec::new();
    for op in ops {
        let (old, new) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            rows.extend(old.zip(new).map(|(a, b)| Row { a: Some(a), b: Some(b), class: "same" }));
            continue;
        }
        // What is moved stands alone: beside it would be what it has nothing to do with.
        let (mut old, mut new) = (old.peekable(), new.peekable());
        loop {
            let left = old.next_if(|n| !is_moved(a[*n]));
            let right = new.next_if(|n| !is_moved(b[*n]));
            match (left, right) {
                (None, None) => match (old.next(), new.next()) {
                    (None, None) => break,
                    (left, right) => {
                        rows.extend(left.map(|n| Row { a: Some(n), b: None, class: "moved" }));
                        rows.extend(right.map(|n| Row { a: None, b: Some(n), class: "moved" }));
                    }
                },
                (a, b) => rows.push(Row { a, b, class: "changed" }),
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_told_from_what_is_new() {
        let rows = align(&[1, 2, 3, 4, 5], &[2, 3, 9, 1, 5], |_| true);
        let shown: Vec<_> = rows.iter().map(|row| (row.a, row.b, row.class)).collect();
        let expected = [
            (Some(0), None, "moved"),
            (Some(1), Some(0), "same"),
            (Some(2), Some(1), "same"),
            (Some(3), Some(2), "changed"),
            (None, Some(3), "moved"),
            (Some(4), Some(4), "same"),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn every_line_is_there_once() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let mut text = || -> Vec<usize> { (0..random.usize(0..30)).map(|_| random.usize(0..12)).collect() };
            let (a, b) = (text(), text());
            let rows = align(&a, &b, |_| true);
            assert_eq!(rows.iter().filter_map(|row| row.a).collect::<Vec<_>>(), (0..a.len()).collect::<Vec<_>>());
            assert_eq!(rows.iter().filter_map(|row| row.b).collect::<Vec<_>>(), (0..b.len()).collect::<Vec<_>>());
            assert!(rows.iter().all(|row| row.class != "same" || a[row.a.unwrap_or(99)] == b[row.b.unwrap_or(99)]));
        }
    }
}
