//! Random numbers from a seed, for inputs and for what nobody wrote; and failing cases made smaller.
//!
//! What a generator makes depends on nothing but the numbers it draws. So a failing case is made smaller by running the same generator
//! on fewer and smaller numbers, whatever it makes: [`check_all`] deletes runs of them, then makes each smaller, and keeps what still
//! fails (MacIver and Donaldson: Test-case reduction via test-case generation, ECOOP 2020). Behind the numbers' end there are zeros, so
//! a generator's first alternative should be its plainest.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub struct Random {
    state: u64,
    /// What was drawn, if it is kept.
    drawn: Option<Vec<u64>>,
    /// What is drawn instead, zeros behind it.
    replayed: Option<std::vec::IntoIter<u64>>,
}

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed, drawn: None, replayed: None }
    }

    fn replay(numbers: Vec<u64>) -> Random {
        Random { state: 0, drawn: None, replayed: Some(numbers.into_iter()) }
    }

    /// A seed that differs between runs.
    pub fn fresh_seed() -> u64 {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64)
    }

    fn draw(&mut self, small: impl FnOnce(u64) -> u64) -> u64 {
        if let Some(replayed) = &mut self.replayed {
            return small(replayed.next().unwrap_or(0));
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = small(z ^ (z >> 31));
        if let Some(drawn) = &mut self.drawn {
            drawn.push(number);
        }
        number
    }

    /// 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "a generator that never ends needs no Option")]
    pub fn next(&mut self) -> u64 {
        self.draw(|bits| bits)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.draw(|bits| bits % n.max(1) as u64) as usize
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Whether something happens that does so in this many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        // Not to happen is the plainer case.
        self.below(100) >= 100 - percent
    }

    /// A float in −1 … 1.
    pub fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// `n` of them.
    pub fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.float()).collect()
    }

    /// A length in 1 ..= most.
    pub fn length(&mut self, most: usize) -> usize {
        1 + self.below(most)
    }
}

/// How often a failing case is tried smaller.
const MOST_TRIES: usize = 2000;

/// Failures made smaller and shown in full; of more, the seed and the reason are said.
const MOST_SHOWN: usize = 3;

/// Makes a case of each seed and holds it against `check`, whose errors are failures, and panics with all of them: seed, reason, and the smallest case
/// found that still fails. What `check` gives is gathered. A panic of what is tested is a failure, too.
pub fn check_all<T, R>(
    seeds: impl IntoIterator<Item = u64>,
    make: impl Fn(&mut Random) -> T,
    show: impl Fn(&T) -> String,
    check: impl Fn(&T) -> Result<R, Failure>,
) -> Vec<R> {
    let (mut good, mut failures) = (Vec::new(), Vec::new());
    let tried = |case: &T| quietly(|| check(case)).unwrap_or_else(|panicked| Err(Failure::Wrong(panicked)));
    for seed in seeds {
        let mut random = Random { drawn: Some(Vec::new()), ..Random::new(seed) };
        let case = make(&mut random);
        let why = match tried(&case) {
            Ok(result) => {
                good.push(result);
                continue;
            }
            Err(Failure::NoCase(why)) => {
                failures.push(format!("seed {seed} is no case: {why}\n{}", show(&case)));
                continue;
            }
            Err(Failure::Wrong(why)) => why,
        };
        if failures.len() >= MOST_SHOWN {
            failures.push(format!("seed {seed}: {why}"));
            continue;
        }
        let mut smallest = (case, why.clone());
        shrink(random.drawn.unwrap_or_default(), &mut |numbers| {
            let case = make(&mut Random::replay(numbers.to_vec()));
            let Err(Failure::Wrong(still)) = tried(&case) else { return false };
            smallest = (case, still);
            true
        });
        failures.push(format!("seed {seed}: {why}\nsmallest: {}\n{}", smallest.1, show(&smallest.0)));
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
    good
}

/// The case of a seed, and the numbers that it was drawn from.
pub fn drawn<T>(seed: u64, make: impl Fn(&mut Random) -> T) -> (T, Vec<u64>) {
    let mut random = Random { drawn: Some(Vec::new()), ..Random::new(seed) };
    let case = make(&mut random);
    (case, random.drawn.unwrap_or_default())
}

/// The smallest case found, by so many tries at most, that still fails as the seed's does. Nothing, if that does not fail.
pub fn smallest<T>(seed: u64, tries: usize, make: impl Fn(&mut Random) -> T, mut fails: impl FnMut(&T) -> bool) -> Option<T> {
    let (case, numbers) = drawn(seed, &make);
    if !fails(&case) {
        return None;
    }
    let mut smallest = case;
    shrink_within(numbers, tries, &mut |numbers| {
        let case = make(&mut Random::replay(numbers.to_vec()));
        let still = fails(&case);
        if still {
            smallest = case;
        }
        still
    });
    Some(smallest)
}

/// Why a case does not pass.
#[derive(Clone, Debug)]
pub enum Failure {
    /// What is tested does something wrong.
    Wrong(String),
    /// The generator made what is no case at all. It is shown as it is, and nothing is made smaller into such a one.
    NoCase(String),
}

/// Fewer and smaller numbers for which `fails` says yes, as it does for `numbers`.
fn shrink(numbers: Vec<u64>, fails: &mut dyn FnMut(&[u64]) -> bool) -> Vec<u64> {
    shrink_within(numbers, MOST_TRIES, fails)
}

/// The same with so many tries at most.
fn shrink_within(mut numbers: Vec<u64>, most: usize, fails: &mut dyn FnMut(&[u64]) -> bool) -> Vec<u64> {
    let mut tries = 0;
    let mut keep = |numbers: &mut Vec<u64>, smaller: Vec<u64>| {
        tries += 1;
        let keeps = tries <= most && fails(&smaller);
        if keeps {
            *numbers = smaller;
        }
        keeps
    };
    loop {
        let before = numbers.clone();
        let mut run = numbers.len().div_ceil(2);
        while run > 0 {
            // From the end on: what stands there depends on what stands before.
            let mut end = numbers.len();
            while end > 0 {
                let start = end.saturating_sub(run);
                let mut smaller = numbers.clone();
                smaller.drain(start..end);
                keep(&mut numbers, smaller);
                end = start;
            }
            run /= 2;
        }
        for at in 0..numbers.len() {
            for number in [0, numbers[at] / 2, numbers[at].saturating_sub(1)] {
                let mut smaller = numbers.clone();
                if number < numbers[at] {
                    smaller[at] = number;
                    if keep(&mut numbers, smaller) {
                        break;
                    }
                }
            }
        }
        if numbers == before {
            return numbers;
        }
    }
}

thread_local! {
    /// Whether this thread's panics are kept, and the last of them.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What `f` gives, or what it said when it panicked, which is not printed.
///
/// # Errors
/// The panic's place and message.
pub fn quietly<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if IS_QUIET.get() {
                PANIC.set(info.to_string());
            } else {
                loud(info);
            }
        }));
    });
    let before = IS_QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    IS_QUIET.set(before);
    result.map_err(|_| PANIC.take())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(random: &mut Random) -> Vec<usize> {
        (0..random.below(40)).map(|_| random.below(1000)).collect()
    }

    /// What `check_all` says of these lists.
    fn said(check: impl Fn(&Vec<usize>) -> Result<(), Failure>) -> String {
        quietly(|| check_all(1..=40, list, |list| format!("{list:?}"), check)).expect_err("some of them fail")
    }

    #[test]
    fn what_fails_is_made_smaller() {
        let text = said(|list| match list.iter().find(|n| **n > 900) {
            Some(large) => Err(Failure::Wrong(format!("{large} is large"))),
            None => Ok(()),
        });
        assert!(text.contains("smallest: 901 is large\n[901]"), "{text}");
        let text = said(|list| {
            assert!(list.iter().sum::<usize>() < 5000, "too much");
            Ok(())
        });
        let smallest = text.lines().find(|line| line.starts_with('[')).expect("a list is shown");
        let numbers = smallest.trim_matches(['[', ']']).split(", ").map(|n| n.parse::<usize>().expect("a number"));
        // One less of any, and it would not fail.
        assert_eq!(numbers.sum::<usize>(), 5000, "{text}");
        assert!(text.contains("random.rs") && text.contains("too much"), "a panic is a failure: {text}");
    }

    #[test]
    fn nothing_is_made_smaller_into_what_is_no_case() {
        let text = said(|list| match list.len() {
            0..=4 => Err(Failure::NoCase("too short".to_owned())),
            30.. => Err(Failure::Wrong("long".to_owned())),
            _ => Ok(()),
        });
        assert!(text.contains("smallest: long\n") && text.contains(" is no case: too short\n"), "{text}");
        assert!(!text.contains("smallest: too short"), "{text}");
    }

    #[test]
    fn a_seed_gives_one_sequence_and_replaying_it_the_same() {
        let mut first = Random { drawn: Some(Vec::new()), ..Random::new(5) };
        let made = list(&mut first);
        assert_eq!(made, list(&mut Random::new(5)));
        assert_eq!(made, list(&mut Random::replay(first.drawn.unwrap())));
        assert_eq!(list(&mut Random::replay(vec![3])), [0, 0, 0]);
    }
}
