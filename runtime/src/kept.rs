//! Who keeps the handle of a stream of others: a word that the thread asks at each call, beside what others gave to keep it.

use crate::foreign::SharedKeep;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// Nobody: it may be no handle any more. The thread that let go of it may borrow it again.
const FREE: u8 = 0;
/// A call that borrows it.
const BORROWED: u8 = 1;
/// What others gave for that.
const KEPT: u8 = 2;
/// Nobody, for good.
const GIVEN_UP: u8 = 3;
/// Somebody is about to say which of these it is.
const UNDECIDED: u8 = 4;

/// Who keeps a handle. A launch asks it twice, behind the driver's work, which leaves nothing at hand: so it is a word, and not behind a lock.
#[derive(Debug)]
pub(crate) struct Kept {
    state: AtomicU8,
    keep: Mutex<Option<SharedKeep>>,
}

impl Kept {
    pub(crate) fn by(keep: SharedKeep) -> Kept {
        Kept { state: AtomicU8::new(KEPT), keep: Mutex::new(Some(keep)) }
    }

    /// Says that a call of the calling thread, which has let go of the handle, borrows what keeps it. Gives whether it may: somebody else may have given the handle up since.
    #[inline]
    #[cfg_attr(not(any(feature = "cudarc", test)), expect(dead_code, reason = "only streams of `cudarc`'s are borrowed"))]
    pub(crate) fn borrow_again(&self) -> bool {
        self.state.compare_exchange(FREE, BORROWED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The end of a call that borrows the handle: lets go of it if it `may`, which nobody can change meanwhile by asking [`Kept::is_kept`]. Else all stays as it is. Gives whether it let go.
    #[inline]
    #[cfg_attr(not(any(feature = "cudarc", test)), expect(dead_code, reason = "only streams of `cudarc`'s are let go"))]
    pub(crate) fn end_of_call(&self, may: impl FnOnce() -> bool) -> bool {
        if self.state.compare_exchange(BORROWED, UNDECIDED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        let lets_go = may();
        self.state.store(if lets_go { FREE } else { BORROWED }, Ordering::Release);
        lets_go
    }

    /// The same, of a handle that is borrowed or kept: one that was borrowed and is not let go of is kept by `keep` from then on.
    #[cfg_attr(not(any(feature = "cudarc", test)), expect(dead_code, reason = "only streams of `cudarc`'s are let go"))]
    pub(crate) fn let_go(&self, may: impl FnOnce() -> bool, keep: impl FnOnce() -> SharedKeep) -> bool {
        let before = loop {
            let state = self.decided();
            if !matches!(state, BORROWED | KEPT) {
                return false;
            }
            if self.state.compare_exchange(state, UNDECIDED, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                break state;
            }
        };
        let lets_go = may();
        let mut kept = self.keep.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = if lets_go { kept.take() } else { None };
        if !lets_go && before == BORROWED {
            *kept = Some(keep());
        }
        drop(kept);
        self.state.store(if lets_go { FREE } else { KEPT }, Ordering::Release);
        drop(dropped);
        lets_go
    }

    /// Whether somebody keeps the handle: then somebody does as long as the caller has what `may` looks at.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self.decided(), BORROWED | KEPT)
    }

    /// The same. A handle that nobody keeps is given up: its thread may not borrow it any more.
    pub(crate) fn is_kept_or_given_up(&self) -> bool {
        loop {
            match self.decided() {
                FREE => {
                    if self.state.compare_exchange(FREE, GIVEN_UP, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                        return false;
                    }
                }
                state => return state != GIVEN_UP,
            }
        }
    }

    /// What it is once it is decided. Written and not only read: who decides later knows what the caller did before.
    fn decided(&self) -> u8 {
        loop {
            match self.state.fetch_or(0, Ordering::AcqRel) {
                UNDECIDED => std::thread::yield_now(),
                state => return state,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use std::sync::{Arc, Weak};

    fn keep() -> SharedKeep {
        Arc::new(())
    }

    #[test]
    fn what_is_borrowed_is_let_go_or_kept() {
        let kept = Kept::by(keep());
        assert!(kept.is_kept() && !kept.borrow_again());
        assert!(!kept.end_of_call(|| true), "what others keep is not a call's");
        assert!(kept.let_go(|| true, || unreachable!()) && !kept.is_kept());
        assert!(kept.borrow_again() && kept.is_kept() && !kept.borrow_again());
        assert!(!kept.end_of_call(|| false) && kept.is_kept());
        assert!(kept.end_of_call(|| true) && !kept.is_kept());
        assert!(kept.borrow_again());
        assert!(!kept.let_go(|| false, keep) && kept.is_kept() && !kept.borrow_again());
        assert!(kept.let_go(|| true, || unreachable!()));
        assert!(!kept.is_kept_or_given_up() && !kept.borrow_again(), "given up for good");
        assert!(!kept.let_go(|| true, || unreachable!()) && !kept.is_kept() && !kept.is_kept_or_given_up());
    }

    #[test]
    fn what_kept_it_goes_when_it_is_let_go() {
        let owner = keep();
        let kept = Kept::by(Arc::clone(&owner));
        assert!(!kept.let_go(|| false, || unreachable!("it is kept")));
        assert_eq!(Arc::strong_count(&owner), 2);
        assert!(kept.let_go(|| true, || unreachable!()));
        assert_eq!(Arc::strong_count(&owner), 1);
        assert!(kept.borrow_again() && !kept.let_go(|| false, || Arc::clone(&owner) as SharedKeep));
        assert_eq!(Arc::strong_count(&owner), 2);
    }

    /// A thread borrows and lets go as launches do; others find the handle in a list, and use it where it is kept. None may find it let go meanwhile.
    #[test]
    fn who_found_it_kept_finds_it_kept_until_he_is_done() {
        // Times that each is to have tried; both go on until the other has, too. Miri takes a thousand times as long.
        const TIMES: usize = if cfg!(miri) { 20 } else { 2000 };
        let core = Arc::new(Kept::by(keep()));
        let [is_used, is_over] = [const { AtomicBool::new(false) }; 2];
        let found = AtomicUsize::new(0);
        let ask = |core: Weak<Kept>| {
            while !is_over.load(Ordering::Relaxed) {
                let Some(core) = core.upgrade().filter(|core| core.is_kept()) else { continue };
                is_used.store(true, Ordering::SeqCst);
                found.fetch_add(1, Ordering::Relaxed);
                assert!(core.is_kept());
                is_used.store(false, Ordering::SeqCst);
            }
        };
        let is_alone = || {
            let is_alone = Arc::strong_count(&core) == 1;
            fence(Ordering::Acquire);
            is_alone
        };
        std::thread::scope(|scope| {
            let other = Arc::downgrade(&core);
            let asking = scope.spawn(move || ask(other));
            let mut let_go = 0;
            while (let_go < TIMES || found.load(Ordering::Relaxed) < TIMES) && !asking.is_finished() {
                if core.end_of_call(is_alone) || core.let_go(is_alone, keep) {
                    assert!(!is_used.load(Ordering::SeqCst), "let go while it was used");
                    let_go += 1;
                    assert!(core.borrow_again());
                }
            }
            is_over.store(true, Ordering::Relaxed);
            asking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    }
}
