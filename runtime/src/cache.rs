//! Compiled instances of one device, by kernel and generics. A failure is kept like a success: it is not compiled again.
//!
//! Instances are added and never taken out, so whoever looks one up takes no lock and counts no reference.

use crate::definition::{GenericArgument, KernelDefinition};
use crate::error::{Error, Result};
use crate::instance::Instance;
use rustc_hash::FxHasher;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The generics of one instance: a kernel's host function has them as a constant.
pub(crate) type Generics = Cow<'static, [GenericArgument]>;

/// Lists that instances are spread over, by their hashes: a power of two.
const LISTS: usize = 256;

pub(crate) struct Cache {
    lists: Box<[Link; LISTS]>,
    /// Held while compiling, so that two threads do not compile the same instance.
    compiling: Mutex<()>,
}

/// The end of a list, or its next entry.
type Link = OnceLock<Box<Entry>>;

// What is looked at comes first, in one line of the cache.
#[repr(C, align(64))]
struct Entry {
    definition: &'static KernelDefinition,
    generics: Generics,
    outcome: Result<Arc<Instance>>,
    next: Link,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache { lists: Box::new([const { Link::new() }; LISTS]), compiling: Mutex::default() }
    }
}

impl Cache {
    /// The instance, if it was compiled. Why it could not be, [`Cache::add`] tells.
    #[inline]
    pub(crate) fn find(&self, definition: &'static KernelDefinition, generics: &Generics) -> Option<&Arc<Instance>> {
        find(self.list(definition, generics), definition, generics).ok()?.outcome.as_ref().ok()
    }

    fn list(&self, definition: &'static KernelDefinition, generics: &Generics) -> &Link {
        &self.lists[hash(definition, generics) % LISTS]
    }

    /// The instance, compiled now if nobody else has in between, or why it could not be compiled.
    #[cold]
    pub(crate) fn add(
        &self,
        definition: &'static KernelDefinition,
        generics: &Generics,
        compile: impl FnOnce() -> Result<Instance>,
    ) -> Result<&Arc<Instance>> {
        let _guard = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = match find(self.list(definition, generics), definition, generics) {
            Ok(found) => found,
            Err(end) => {
                let outcome = compile().map(Arc::new);
                if let Err(error @ Error::OutOfMemory { .. }) = outcome {
                    // The next launch may find room.
                    return Err(error);
                }
                // Nobody else adds while the guard is held.
                end.get_or_init(|| Box::new(Entry { definition, generics: generics.clone(), outcome, next: Link::new() }))
            }
        };
        entry.outcome()
    }
}

impl Entry {
    fn outcome(&self) -> Result<&Arc<Instance>> {
        self.outcome.as_ref().map_err(Error::clone)
    }
}

/// The entry in a list, or the list's end.
#[inline]
fn find<'c>(mut link: &'c Link, definition: &'static KernelDefinition, generics: &Generics) -> Result<&'c Entry, &'c Link> {
    while let Some(entry) = link.get() {
        if std::ptr::eq(entry.definition, definition) && are_same(&entry.generics, generics) {
            return Ok(entry);
        }
        link = &entry.next;
    }
    Err(link)
}

/// Whether generics are the same; most kernels have none.
#[inline]
fn are_same(some: &Generics, others: &Generics) -> bool {
    if some.is_empty() { others.is_empty() } else { are_equal(some, others) }
}

#[inline(never)]
fn are_equal(some: &Generics, others: &Generics) -> bool {
    some == others
}

fn hash(definition: &'static KernelDefinition, generics: &Generics) -> usize {
    let mut hasher = FxHasher::default();
    std::ptr::hash(definition, &mut hasher);
    // What most of them lack costs nothing.
    generics.iter().for_each(|generic| generic.hash(&mut hasher));
    hasher.finish() as usize
}
