//! Work on several of a kernel's variants at once.
//!
//! What is worked on is the kernel as data: nothing of the source, whose spans belong to one thread.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Most threads that work at once: cargo runs several compilers beside each other already.
const MOST: usize = 4;

/// As much stack as the thread of `rustc` has that expands macros.
const STACK: usize = 8 << 20;

/// How many are worked on at once.
pub fn width() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST)
}

/// What `f` makes of each item, in their order. Where there are no threads to be had, this one does it all.
pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let width = width().min(items.len());
    if width < 2 {
        return items.iter().map(f).collect();
    }
    let found: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((item, place)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((items.get(n)?, &found[n]))) {
            let result = f(item);
            *place.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
        }
    };
    let panicked = thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..width).filter_map(spawn).collect();
        work();
        others.into_iter().find_map(|other| other.join().err())
    });
    if let Some(panic) = panicked {
        std::panic::resume_unwind(panic);
    }
    found.into_iter().filter_map(|place| place.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        // Those that come first take longest.
        let f = |n: &u64| (0..(100 - n) * 1000).fold(*n, |sum, k| sum.wrapping_add(k * k)) % 2 + 2 * n;
        assert_eq!(map(&items, f), items.iter().map(f).collect::<Vec<u64>>());
        assert_eq!(map(&[] as &[u64], f), []);
        assert_eq!(map(&[3], f), [f(&3)]);
    }

    #[test]
    fn a_panic_is_the_callers() {
        let found = std::panic::catch_unwind(|| map(&[1, 2, 3, 4, 5], |n| if *n == 5 { panic!("five") } else { *n }));
        assert_eq!(found.unwrap_err().downcast_ref::<&str>(), Some(&"five"));
    }
}
