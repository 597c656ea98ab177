//! Hints for the caches: what `ld` and `st` of a buffer say beside their type.
//!
//! `cs` and `lu` are as old as the targets. Priorities in L1 come with sm_70, those in L2 with sm_80, as a policy that is made once at the kernel's start
//! and is an operand of each access. A target that lacks one gets what comes closest, or nothing: a hint changes no result.

use super::code::{Operand, RegisterClass};
use super::emitter::{Emitter, ptx};
use super::words::Word;
use crate::ir::{CacheHint, Object};

/// What an access says to the caches.
#[derive(Default)]
pub(super) struct Hint {
    /// Between the space with `nc` and the vector: before `nc` where `is_operator`.
    pub(super) words: Vec<Word>,
    /// Whether it is a cache operator, which stands before `nc`.
    pub(super) is_operator: bool,
    /// The policy of L2, the last operand.
    pub(super) policy: Option<Operand>,
}

/// The priority that a hint gives in L1, and in L2.
fn priorities(hint: CacheHint) -> Option<(Word, Option<Word>)> {
    match hint {
        CacheHint::Streaming | CacheHint::LastUse => None,
        CacheHint::EvictFirst => Some((Word::L1EvictFirst, Some(Word::L2EvictFirst))),
        CacheHint::EvictLast => Some((Word::L1EvictLast, Some(Word::L2EvictLast))),
        CacheHint::NoAllocate => Some((Word::L1NoAllocate, None)),
    }
}

impl Emitter<'_> {
    /// Makes the policies that the kernel's accesses take.
    pub(super) fn policies(&mut self) {
        if !self.has(80) {
            return;
        }
        let mut hints: Vec<CacheHint> = self.kernel.cached.values().copied().collect();
        hints.sort_unstable();
        hints.dedup();
        for hint in hints {
            let Some((_, Some(priority))) = priorities(hint) else { continue };
            self.needs(74);
            let policy = self.temp(RegisterClass::Long);
            ptx!(self, Createpolicy.Fractional.(priority).B64 policy);
            self.policies.push((hint, policy));
        }
    }

    /// What a load (or a store) of an object says.
    pub(super) fn hint(&mut self, object: Object, is_load: bool) -> Hint {
        let Some(hint) = self.kernel.cached.get(&object).copied() else { return Hint::default() };
        let operator = |word| Hint { words: vec![word], is_operator: true, policy: None };
        match priorities(hint) {
            None if hint == CacheHint::LastUse => {
                if is_load {
                    operator(Word::Lu)
                } else {
                    Hint::default()
                }
            }
            None => operator(Word::Cs),
            Some(_) if !self.has(70) => {
                if hint == CacheHint::EvictFirst {
                    operator(Word::Cs)
                } else {
                    Hint::default()
                }
            }
            Some((priority, _)) => {
                self.needs(74);
                let policy = self.policies.iter().find(|(of, _)| *of == hint).map(|(_, policy)| Operand::from(*policy));
                let words = [Some(priority), policy.is_some().then_some(Word::L2CacheHint)].into_iter().flatten().collect();
                Hint { words, is_operator: false, policy }
            }
        }
    }
}
