//! Compiled instances of one device, by kernel and generics. A failure is kept like a success: it is not compiled again.

use crate::definition::{GenericArgument, KernelDefinition};
use crate::error::{Error, Result};
use crate::instance::Instance;
use rustc_hash::FxHasher;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The generics of one instance: a kernel's host function has them as a constant.
pub(crate) type Generics = Cow<'static, [GenericArgument]>;

#[derive(Default)]
pub(crate) struct Cache {
    /// By hash, so that looking up builds no key. Entries of equal hash are told apart by their own fields.
    entries: RwLock<HashMap<u64, Vec<Entry>, BuildHasherDefault<FxHasher>>>,
    /// Held while compiling, so that two threads do not compile the same instance.
    compiling: Mutex<()>,
}

struct Entry {
    definition: &'static KernelDefinition,
    generics: Generics,
    outcome: Result<Arc<Instance>>,
}

impl Cache {
    /// The instance, compiled now if it never was. Allocates nothing if it was.
    pub(crate) fn get(
        &self,
        definition: &'static KernelDefinition,
        generics: &Generics,
        compile: impl FnOnce() -> Result<Instance>,
    ) -> Result<Arc<Instance>> {
        let hash = hash(definition, generics);
        if let Some(outcome) = self.find(hash, definition, generics) {
            return outcome;
        }
        let _guard = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcome) = self.find(hash, definition, generics) {
            return outcome;
        }
        let outcome = compile().map(Arc::new);
        if matches!(outcome, Err(Error::OutOfMemory { .. })) {
            // The next launch may find room.
            return outcome;
        }
        let entry = Entry { definition, generics: generics.clone(), outcome: outcome.clone() };
        self.entries.write().unwrap_or_else(PoisonError::into_inner).entry(hash).or_default().push(entry);
        outcome
    }

    fn find(&self, hash: u64, definition: &'static KernelDefinition, generics: &Generics) -> Option<Result<Arc<Instance>>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let same = |entry: &&Entry| std::ptr::eq(entry.definition, definition) && entry.generics == *generics;
        entries.get(&hash)?.iter().find(same).map(|entry| entry.outcome.clone())
    }
}

fn hash(definition: &'static KernelDefinition, generics: &Generics) -> u64 {
    let mut hasher = FxHasher::default();
    std::ptr::hash(definition, &mut hasher);
    // What most of them lack costs nothing.
    generics.iter().for_each(|generic| generic.hash(&mut hasher));
    hasher.finish()
}
