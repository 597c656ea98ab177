//! What a campaign finds: made smaller, and written to a file that says how to have it again.

use crate::random::{Failure, quietly, smallest};
use crate::source::{self, Form, Kernel};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What making one smaller may take.
const MOST_TIME: Duration = Duration::from_secs(120);

/// Something that disagrees.
#[derive(Clone, Debug)]
pub struct Find {
    /// The kernel's seed.
    pub seed: u64,
    /// Who disagrees.
    pub judge: &'static str,
    /// What it says.
    pub why: String,
}

/// What a check that may panic says.
pub fn tried<T>(check: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    quietly(check).unwrap_or_else(|panicked| Err(Failure::Wrong(format!("panic: {panicked}"))))
}

impl Find {
    /// The smallest kernel that still fails, with what it says; by so many tries at most, and in two minutes: a compiler may take a second for each.
    pub fn shrunk(&self, tries: usize, check: impl Fn(&Kernel) -> Result<(), Failure>) -> Option<(Kernel, String)> {
        let mut why = self.why.clone();
        let begun = Instant::now();
        let kernel = smallest(self.seed, tries, source::kernel, |kernel| {
            match tried(|| if begun.elapsed() < MOST_TIME { check(kernel) } else { Ok(()) }) {
                Err(Failure::Wrong(still)) => {
                    why = still;
                    true
                }
                Ok(()) | Err(Failure::NoCase(_)) => false,
            }
        })?;
        Some((kernel, why))
    }

    /// Writes it to a folder, as a file test begins: the kernel, and above it what is wrong.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, folder: &Path, kernel: &Kernel, why: &str) -> Result<PathBuf, String> {
        let path = folder.join(format!("{}-{}.rs", self.seed, self.judge));
        let said = |text: &str| text.lines().map(|line| format!("// {line}\n")).collect::<String>();
        let launch = format!("grid {:?}, block {:?}, {} bytes of dynamic shared memory", kernel.grid, kernel.block, kernel.shared_bytes);
        let arguments: String = kernel
            .parameters
            .iter()
            .map(|parameter| format!("// {}: {:?}, seed {}\n", parameter.name, parameter.passed, parameter.seed))
            .collect();
        let text = format!(
            "// test ir legal\n// `warpwright-fuzz one {}` shows it again. {}: the whole kernel says\n{}// the smallest found says\n{}// {launch}\n{arguments}\n{}",
            self.seed,
            self.judge,
            said(&self.why),
            said(why),
            kernel.file(Form::Annotated)
        );
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}
