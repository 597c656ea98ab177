//! A browser without a window: what a page becomes once its script has run, and what it said.
//!
//! Found by `WARPWRIGHT_CHROMIUM` (a full path) and, as `chromium`, `chromium-browser` or `google-chrome`, by `PATH`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A browser.
#[derive(Clone, Debug)]
pub struct Chromium(PathBuf);

/// What became of a page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The document as it stands at the end, as HTML.
    pub html: String,
    /// What its script said on the console, errors among it.
    pub console: Vec<String>,
}

impl Chromium {
    /// One that runs, or none after saying that `test` is skipped.
    pub fn found_or_skip(test: &str) -> Option<Chromium> {
        let named = std::env::var_os("WARPWRIGHT_CHROMIUM").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let searched = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
        let runs = |file: &PathBuf| Command::new(file).arg("--version").output().is_ok_and(|output| output.status.success());
        let found = named.into_iter().chain(searched).filter(|file| file.is_file()).find(runs);
        if found.is_none() {
            println!("skipped: {test} (no Chromium)");
        }
        found.map(Chromium)
    }

    /// Opens a file with this behind `#`.
    ///
    /// # Panics
    ///
    /// If the browser does not come to an end well.
    #[track_caller]
    pub fn open(&self, file: &Path, address: &str) -> Page {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("warpwright-chromium-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let profile = std::env::temp_dir().join(name);
        let mut command = Command::new(&self.0);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--dump-dom"]);
        command.args(["--enable-logging=stderr", "--v=0", "--window-size=1280,900"]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg(format!("file://{}#{address}", file.display()));
        let output = command.stdin(Stdio::null()).output().expect("the browser runs");
        // What is left behind lies where temporary files lie.
        let _ = std::fs::remove_dir_all(&profile);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let console = said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
        Page { html: String::from_utf8_lossy(&output.stdout).into_owned(), console }
    }
}
