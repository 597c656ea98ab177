//! Annotations at random.

use warpwright_codegen::annotations::{Annotation, Modifier, On, UNROLL};
use warpwright_tests::random::Random;

/// For a loop of so many iterations, if that is known; `is_disjoint`: nothing in it writes what loads of it read.
pub(crate) fn annotations(random: &mut Random, trips: Option<u32>, is_disjoint: bool) -> Vec<String> {
    let mut below = |n: usize| random.below(n);
    // Pipelines need loops made for them, which `tiles` draws.
    let rows: Vec<&Annotation> = Annotation::all_on(On::Loop).filter(|annotation| !annotation.keeps_one).collect();
    let mut names: Vec<&str> = match below(16) {
        0 => vec![],
        // Each row alone.
        1..=6 => match rows[below(rows.len())] {
            row if *row == UNROLL && below(2) == 0 => vec!["unroll(N)"],
            row => vec![row.name],
        },
        7 => vec![["ilp", "vectorize"][below(2)]],
        8 => vec!["ilp", "batch_loads"],
        9 => vec!["unroll(N)", "batch_loads"],
        10 => vec!["unroll", "batch_loads"],
        11 => vec!["prefetch", "unroll(N)"],
        12 => vec!["ilp", "unroll(N)"],
        13 => vec!["vectorize", "batch_loads"],
        14 => vec!["prefetch", "ilp"],
        _ => {
            let all = rows.into_iter().filter(|_| below(2) == 0);
            all.map(|annotation| if *annotation == UNROLL { "unroll(N)" } else { annotation.name }).collect()
        }
    };
    if below(2) == 0 {
        names.reverse();
    }
    // Mostly what the loop has iterations for.
    let most = trips.unwrap_or(8).max(1);
    // `unroll(1)` keeps a loop as it is, and contradicts what does not.
    let contradicts = names.iter().any(|name| Annotation::named(name).is_some_and(|annotation| annotation.joins));
    let mut all = Vec::new();
    for name in names {
        let number = [1, 2, 2, 3, 4, 4, 5, 8][below(8)];
        let number = if below(8) == 0 { number } else { number.min(most) };
        let mut words: Vec<String> = Vec::new();
        let name = match name {
            "unroll" if trips.is_none() && below(4) > 0 => "unroll(N)",
            name => name,
        };
        let annotation = Annotation::named(name.trim_end_matches("(N)")).expect("a name of the table");
        match annotation.numbers().filter(|_| name != "unroll") {
            Some(numbers) if numbers.word.is_some() => {
                words.push(format!("{} = {number}", numbers.word.unwrap_or_default()));
            }
            Some(_) if contradicts && number == 1 && !annotation.needs_number() => words.push("2".to_owned()),
            Some(numbers) if numbers.are_powers => words.push([1, 2, 2, 4, 4, 8][below(6)].to_string()),
            Some(_) => words.push(number.to_string()),
            None => {}
        }
        if is_disjoint && annotation.modifiers.contains(&Modifier::AssumeDisjoint) && below(5) == 0 {
            words.push("assume_disjoint".to_owned());
        }
        if below(7) == 0 {
            words.push("best_effort".to_owned());
        }
        let name = annotation.name;
        all.push(if words.is_empty() { name.to_owned() } else { format!("{name}({})", words.join(", ")) });
    }
    all
}
