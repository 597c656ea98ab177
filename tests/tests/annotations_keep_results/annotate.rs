//! Annotations at random.

use warpwright_tests::random::Random;

/// For a loop of so many iterations, if that is known; `is_disjoint`: nothing in it writes what loads of it read.
pub(crate) fn annotations(random: &mut Random, trips: Option<u32>, is_disjoint: bool) -> Vec<String> {
    let mut below = |n: usize| random.below(n);
    let mut names: Vec<&str> = match below(16) {
        0 => vec![],
        1 => vec!["unroll"],
        2 => vec!["unroll(N)"],
        3 | 4 => vec!["ilp"],
        5 => vec!["batch_loads"],
        6 => vec!["prefetch"],
        7 => vec!["vectorize"],
        8 => vec!["ilp", "batch_loads"],
        9 => vec!["unroll(N)", "batch_loads"],
        10 => vec!["unroll", "batch_loads"],
        11 => vec!["prefetch", "unroll(N)"],
        12 => vec!["ilp", "unroll(N)"],
        13 => vec!["vectorize", "batch_loads"],
        14 => vec!["prefetch", "ilp"],
        _ => {
            let all = ["unroll(N)", "ilp", "batch_loads", "prefetch", "vectorize"];
            all.into_iter().filter(|_| below(2) == 0).collect()
        }
    };
    if below(2) == 0 {
        names.reverse();
    }
    // Mostly what the loop has iterations for.
    let most = trips.unwrap_or(8).max(1);
    // `unroll(1)` keeps a loop as it is, and contradicts what does not.
    let contradicts = names.iter().any(|name| ["ilp", "vectorize"].contains(name));
    let mut all = Vec::new();
    for name in names {
        let number = [1, 2, 2, 3, 4, 4, 5, 8][below(8)];
        let number = if below(8) == 0 { number } else { number.min(most) };
        let mut words: Vec<String> = Vec::new();
        let name = match name {
            "unroll" if trips.is_none() && below(4) > 0 => "unroll(N)",
            name => name,
        };
        match name {
            "unroll(N)" if contradicts && number == 1 => words.push("2".to_owned()),
            "unroll(N)" | "ilp" => words.push(number.to_string()),
            "vectorize" => words.push([1, 2, 2, 4, 4, 8][below(6)].to_string()),
            _ => {}
        }
        if is_disjoint && name != "unroll" && name != "unroll(N)" && below(5) == 0 {
            words.push("assume_disjoint".to_owned());
        }
        if below(7) == 0 {
            words.push("best_effort".to_owned());
        }
        let name = name.trim_end_matches("(N)");
        all.push(if words.is_empty() { name.to_owned() } else { format!("{name}({})", words.join(", ")) });
    }
    all
}
