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
    lists: Box<[Link]>,
    /// Held while compiling, so that two threads do not compile the same instance.
    compiling: Mutex<()>,
}

/// The end of a list, or its next entry.
type Link = OnceLock<Box<Entry>>;

struct Entry {
    definition: &'static KernelDefinition,
    generics: Generics,
    outcome: Result<Arc<Instance>>,
    next: Link,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache { lists: (0..LISTS).map(|_| Link::new()).collect(), compiling: Mutex::default() }
    }
}

impl Cache {
    /// The instance, compiled now if it never was. Allocates nothing if it was.
    pub(crate) fn get(
        &self,
        definition: &'static KernelDefinition,
        generics: &Generics,
        compile: impl FnOnce() -> Result<Instance>,
    ) -> Result<&Arc<Instance>> {
        let list = &self.lists[hash(definition, generics) % LISTS];
        match find(list, definition, generics) {
            Ok(found) => found.outcome.as_ref().map_err(Error::clone),
            Err(_) => self.add(list, definition, generics, compile),
        }
    }

    #[cold]
    fn add<'c>(
        &'c self,
        list: &'c Link,
        definition: &'static KernelDefinition,
        generics: &Generics,
        compile: impl FnOnce() -> Result<Instance>,
    ) -> Result<&'c Arc<Instance>> {
        let _guard = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = match find(list, definition, generics) {
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
        entry.outcome.as_ref().map_err(Error::clone)
    }
}

/// The entry in a list, or the list's end.
fn find<'c>(mut link: &'c Link, definition: &'static KernelDefinition, generics: &Generics) -> Result<&'c Entry, &'c Link> {
    while let Some(entry) = link.get() {
        if std::ptr::eq(entry.definition, definition) && entry.generics == *generics {
            return Ok(entry);
        }
        link = &entry.next;
    }
    Err(link)
}

fn hash(definition: &'static KernelDefinition, generics: &Generics) -> usize {
    let mut hasher = FxHasher::default();
    std::ptr::hash(definition, &mut hasher);
    // What most of them lack costs nothing.
    generics.iter().for_each(|generic| generic.hash(&mut hasher));
    hasher.finish() as usize
}
