//! The files of the crate that is compiled: each is read once in a process, and again if it has changed.

use super::arguments::Arguments;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;
use warpwright_review::crates::Crate;

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
    (Crate::new(Arguments::of_process().root.as_deref(), Box::new(read)), stamps)
}

fn stamp(path: &Path) -> Stamp {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}
