//! What was found in kernels, kept from build to build beside what the compiler keeps itself: where it compiles incrementally, `NAME-warpwright`
//! lies among its folders, with one file for each kernel. `cargo clean -p NAME` removes it as one of them.
//!
//! A question is all that an answer depends on: the compiler, the targets, what the crate says of findings, and the program. So an answer is
//! never old, and who deletes or breaks a file loses nothing but time. A file holds the answers to a kernel's last few questions; other kernels' are
//! thrown away a month after they were written.
//!
//! Two processes may compile one kernel at once, as a library and its tests are. The first claims it by a file, and the other waits for the answer. Whoever
//! has a claim says every moment that it lives: an editor stops a check that it does not need any more.

use super::arguments::Arguments;
use super::plain::Found;
use super::written::{Entry, number, read, write};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// Answers that are kept for a kernel: of other settings, other branches, of what it was before an edit that is taken back.
const MOST_ENTRIES: usize = 8;

/// How long the file of a kernel is kept.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How often a claim says that it lives, when it counts as left behind, and how often who waits looks.
const BEAT: Duration = Duration::from_millis(100);
const DEAD: Duration = Duration::from_millis(1000);
const LOOK: Duration = Duration::from_millis(5);

/// Names a file that is to have a line for each kernel looked at: whether it was reviewed, or known.
const LOG: &str = "WARPWRIGHT_REVIEWS";

pub(super) struct Memory {
    folder: PathBuf,
}

impl Memory {
    /// That of the crate that this process compiles; `None`: it compiles nothing incrementally.
    fn of_process() -> Option<Memory> {
        let Arguments { crate_name, incremental, .. } = Arguments::of_process();
        Some(Memory { folder: incremental?.join(format!("{}-warpwright", crate_name?)) })
    }

    /// The answer to a question about a kernel: the one that is known, else what `review` finds.
    pub(super) fn recall_or(kernel: &str, question: &str, review: impl FnOnce() -> Vec<Found>) -> Vec<Found> {
        let start = Instant::now();
        let (found, how) = match Memory::of_process() {
            Some(memory) => memory.answer(&number(kernel), &number(question), review),
            None => (review(), "reviewed"),
        };
        if let Some(path) = std::env::var_os(LOG)
            && let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path)
        {
            // One write, so that the lines of several processes do not mix. That it fails is no matter of the crate's.
            let _ = file.write_all(format!("{how} {kernel} {:.1} ms\n", start.elapsed().as_secs_f64() * 1e3).as_bytes());
        }
        found
    }

    fn answer(&self, kernel: &str, question: &str, review: impl FnOnce() -> Vec<Found>) -> (Vec<Found>, &'static str) {
        let path = self.folder.join(kernel);
        loop {
            if let Some(known) = entries(&path).into_iter().find(|entry| entry.question == question) {
                return (known.found, "known");
            }
            if fs::create_dir_all(&self.folder).is_err() {
                return (review(), "reviewed");
            }
            match Claim::on(&path) {
                Ok(claim) => {
                    // Whoever had it before may have answered since.
                    if let Some(known) = entries(&path).into_iter().find(|entry| entry.question == question) {
                        return (known.found, "known");
                    }
                    let found = review();
                    self.keep(&path, Entry { question: question.to_owned(), found: found.clone() });
                    drop(claim);
                    return (found, "reviewed");
                }
                Err(true) => thread::sleep(LOOK),
                Err(false) => return (review(), "reviewed"),
            }
        }
    }

    /// Keeps an answer, if the folder can be written. A reader sees the old file or the new one.
    fn keep(&self, path: &Path, entry: Entry) {
        if !path.exists() {
            self.sweep();
        }
        let mut all = entries(path);
        all.retain(|known| known.question != entry.question);
        all.insert(0, entry);
        all.truncate(MOST_ENTRIES);
        let draft = path.with_extension(format!("{}.draft", std::process::id()));
        if fs::write(&draft, write(&all)).and_then(|()| fs::rename(&draft, path)).is_err() {
            let _ = fs::remove_file(&draft);
        }
    }

    /// Throws away what is too old.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.metadata().ok().and_then(|data| age(&data)).is_some_and(|age| age > LONGEST) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// What a file holds; nothing, if it is not there or not as it was written.
fn entries(path: &Path) -> Vec<Entry> {
    fs::read_to_string(path).ok().and_then(|text| read(&text)).unwrap_or_default()
}

fn age(data: &fs::Metadata) -> Option<Duration> {
    SystemTime::now().duration_since(data.modified().ok()?).ok()
}

/// The right to review a kernel, for as long as it lives.
struct Claim {
    path: PathBuf,
    /// What stops the thread that says so.
    stop: Option<Sender<()>>,
    beats: Option<JoinHandle<()>>,
}

impl Claim {
    /// Claims a kernel. `Err`: whether somebody else has it; `false`: nobody can.
    fn on(kernel: &Path) -> Result<Claim, bool> {
        let path = kernel.with_extension("claim");
        let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                // A time in the future is of a clock that is not ours: nothing is known of that claim either.
                let is_alive = match fs::metadata(&path) {
                    Ok(data) => age(&data).is_some_and(|age| age < DEAD),
                    Err(_) => return Err(true),
                };
                if is_alive {
                    return Err(true);
                }
                return Err(fs::remove_file(&path).is_ok() || !path.exists());
            }
            Err(_) => return Err(false),
        };
        let (stop, stopped) = channel::<()>();
        // Where the system gives no thread, others take the claim for one that is dead, and review what is reviewed here: that costs time, and nothing else.
        let beats = thread::Builder::new().spawn(move || {
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                let _ = file.set_modified(SystemTime::now());
            }
        });
        Ok(Claim { path, stop: Some(stop), beats: beats.ok() })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.beats.take().map(JoinHandle::join);
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An empty memory; gone with the test.
    struct Own(Memory);

    impl Own {
        fn new(name: &str) -> Own {
            let folder = std::env::temp_dir().join(format!("warpwright-memory-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            Own(Memory { folder })
        }

        fn files(&self) -> Vec<String> {
            let all = fs::read_dir(&self.0.folder).into_iter().flatten().flatten();
            let mut names: Vec<String> = all.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }

        /// How a question is answered.
        fn ask(&self, kernel: &str, question: &str) -> &'static str {
            self.0.answer(kernel, question, Vec::new).1
        }
    }

    impl Drop for Own {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0.folder);
        }
    }

    #[test]
    fn a_kernel_has_one_file_of_its_last_questions() {
        let own = Own::new("last");
        let questions: Vec<String> = (0..MOST_ENTRIES + 1).map(|index| number(&index.to_string())).collect();
        for question in &questions {
            assert_eq!(own.ask("k", question), "reviewed");
        }
        assert_eq!(own.files(), ["k"]);
        let (oldest, others) = questions.split_first().expect("some");
        assert!(others.iter().all(|question| own.ask("k", question) == "known"));
        assert_eq!(own.ask("other", &questions[1]), "reviewed");
        assert_eq!(own.ask("k", oldest), "reviewed");
    }

    #[test]
    fn what_is_old_is_thrown_away_when_a_kernel_is_new() {
        let own = Own::new("old");
        for kernel in ["a", "b"] {
            own.ask(kernel, "q");
        }
        let set = |name: &str, age| {
            let file = OpenOptions::new().write(true).open(own.0.folder.join(name)).expect("a file");
            file.set_modified(SystemTime::now() - age).expect("a time");
        };
        set("a", LONGEST + BEAT);
        set("b", LONGEST - DEAD);
        assert_eq!(own.ask("b", "other"), "reviewed");
        assert_eq!(own.files(), ["a", "b"]);
        assert_eq!(own.ask("c", "q"), "reviewed");
        assert_eq!(own.files(), ["b", "c"]);
    }

    #[test]
    fn of_several_at_once_one_reviews_and_the_others_wait() {
        let own = Own::new("several");
        let reviews = AtomicUsize::new(0);
        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let review = || {
                        reviews.fetch_add(1, Ordering::Relaxed);
                        // Longer than a claim lives that says nothing.
                        thread::sleep(DEAD + DEAD / 2);
                        Vec::new()
                    };
                    own.0.answer("k", "q", review)
                });
            }
        });
        assert_eq!(reviews.load(Ordering::Relaxed), 1, "{:?}", start.elapsed());
        assert_eq!(own.files(), ["k"]);
    }

    #[test]
    fn a_claim_that_was_left_behind_holds_nobody_up() {
        let own = Own::new("left");
        fs::create_dir_all(&own.0.folder).expect("a folder");
        let claim = own.0.folder.join("k.claim");
        fs::write(&claim, "").expect("a claim");
        // As one that a process leaves that is stopped.
        assert_eq!(own.ask("k", "q"), "reviewed");
        // Of a clock that is ahead.
        fs::write(&claim, "").expect("a claim");
        let file = OpenOptions::new().write(true).open(&claim).expect("a claim");
        file.set_modified(SystemTime::now() + LONGEST).expect("a time");
        assert_eq!(own.ask("k", "other"), "reviewed");
        assert_eq!(own.files(), ["k"]);
        // A review that panics leaves none.
        let panics = std::panic::AssertUnwindSafe(|| own.0.answer("k", "third", || panic!("no review")));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(own.files(), ["k"]);
    }

    #[test]
    fn where_nothing_can_be_written_all_is_reviewed() {
        let own = Own::new("nowhere");
        fs::write(&own.0.folder, "in the way").expect("a file");
        assert_eq!([own.ask("k", "q"), own.ask("k", "q")], ["reviewed"; 2]);
        fs::remove_file(&own.0.folder).expect("it can be removed");
    }
}
