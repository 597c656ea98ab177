//! One core of the processor: what the document's speed-ups are over.

use super::numbers::CoreTime;
use std::ops::Range;
use std::time::Instant;

/// What one core does, and what share of a run's work that is.
pub(crate) struct Task<'a> {
    share: f64,
    work: Box<dyn FnMut() + 'a>,
}

impl<'a> Task<'a> {
    /// The result is what keeps a compiler from leaving out the work.
    pub(crate) fn new<T>(share: f64, mut work: impl FnMut() -> T + 'a) -> Task<'a> {
        let work = move || {
            std::hint::black_box(work());
        };
        Task { share, work: Box::new(work) }
    }

    /// Times it.
    pub(crate) fn time(&mut self) -> CoreTime {
        CoreTime::of(seconds_of(&mut self.work), self.share)
    }
}

/// The shorter time of two, since the first run also finds memory and caches cold; where the first took long, that one.
fn seconds_of(work: &mut Box<dyn FnMut() + '_>) -> f64 {
    let mut once = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let first = once();
    if first < 1.0 { once().min(first) } else { first }
}

/// The processor's name, as Linux tells it, and how wide the vectors are that its program was compiled for.
pub(crate) fn name() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let bits = match () {
        () if cfg!(target_feature = "avx512f") => 512,
        () if cfg!(target_feature = "avx2") => 256,
        () => 128,
    };
    format!("{}, vectors of {bits} bits", model.map_or("a processor without a name", |(_, name)| name.trim()))
}

/// Cuts a range into parts for all cores, and gives what each makes of its part, in order: what is expected of large inputs.
pub(crate) fn on_all_cores<T: Send>(range: Range<usize>, part: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    // More parts than cores, since some take longer.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = (4 * cores).min(range.len()).max(1);
    let bound = |k: usize| range.start + (range.len() as u128 * k as u128 / parts as u128) as usize;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let k = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if k >= parts {
                return done;
            }
            done.push((k, part(bound(k)..bound(k + 1))));
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores.min(parts)).map(|_| scope.spawn(worker)).collect();
        // A worker panics only where its part does.
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    all.sort_unstable_by_key(|(k, _)| *k);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_range_in_order() {
        for range in [0..0, 3..4, 10..1_000] {
            let all: Vec<usize> = on_all_cores(range.clone(), |part| part.collect::<Vec<_>>()).concat();
            assert_eq!(all, range.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_task_is_timed_and_says_what_share_it_was() {
        let mut runs = 0;
        let time = Task::new(0.5, || runs += 1).time();
        assert!(matches!(time, CoreTime::Scaled { share: 0.5, .. }) && time.seconds() > 0.0, "{time:?}");
        assert_eq!(runs, 2);
    }
}
