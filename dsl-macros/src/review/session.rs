//! The files of the crate that is compiled: each is read once in a process, and again if it has changed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;
use warpwright_codegen::crates::Crate;

/// When a file was changed last, and how long it is; `None`: it is not there.
type Stamp = Option<(SystemTime, u64)>;

type Stamps = Rc<RefCell<HashMap<PathBuf, Stamp>>>;

thread_local! {
    static FILES: RefCell<Option<(Crate, Stamps)>> = const { RefCell::new(None) };
}

/// Hands over the files.
pub(super) fn with_files<R>(work: impl FnOnce(&mut Crate) -> R) -> R {
    FILES.with_borrow_mut(|known| {
        let is_old = |(_, stamps): &(Crate, Stamps)| stamps.borrow().iter().any(|(path, stamp)| self::stamp(path) != *stamp);
        if known.as_ref().is_some_and(is_old) {
            *known = None;
        }
        let (files, _) = known.get_or_insert_with(open);
        work(files)
    })
}

fn open() -> (Crate, Stamps) {
    let stamps = Stamps::default();
    let seen = Rc::clone(&stamps);
    let read = move |path: &Path| {
        seen.borrow_mut().insert(path.to_owned(), stamp(path));
        std::fs::read_to_string(path).ok()
    };
    (Crate::new(root(std::env::args_os().skip(1)).as_deref(), Box::new(read)), stamps)
}

fn stamp(path: &Path) -> Stamp {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

/// Flags of `rustc` whose value is an argument of its own.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-L",
    "-l",
    "-C",
    "-A",
    "-W",
    "-D",
    "-F",
    "-Z",
    "--allow",
    "--warn",
    "--deny",
    "--forbid",
    "--cap-lints",
    "--cfg",
    "--check-cfg",
    "--codegen",
    "--crate-name",
    "--crate-type",
    "--edition",
    "--emit",
    "--extern",
    "--out-dir",
    "--print",
    "--remap-path-prefix",
    "--sysroot",
    "--target",
];

/// The file that the crate begins with: the only one among the compiler's arguments. That a module is in it is seen from the files; so what
/// this gets wrong makes names unknown, and none wrong.
fn root(arguments: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let mut found = None;
    let mut is_value = false;
    for argument in arguments {
        let path = PathBuf::from(&argument);
        if !is_value && path.extension().is_some_and(|extension| extension == "rs") {
            if found.is_some() {
                return None;
            }
            found = Some(path);
        }
        is_value = argument.to_str().is_some_and(|text| WITH_VALUE.contains(&text));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_one_file_among_the_arguments() {
        let root = |text: &str| root(text.split(' ').map(OsString::from)).map(|path| path.display().to_string());
        assert_eq!(root("--crate-name a --edition=2024 src/lib.rs --emit=metadata --test").as_deref(), Some("src/lib.rs"));
        assert_eq!(root("rustc --crate-name a -o b.rs tests/a.rs --extern c=libc.rlib").as_deref(), Some("tests/a.rs"));
        for none in ["", "--crate-name a", "a.rs b.rs", "- --cfg x.rs"] {
            assert_eq!(root(none), None, "{none}");
        }
    }
}
