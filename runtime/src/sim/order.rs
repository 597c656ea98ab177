//! What fences and atomics order: happens-before between threads of a block and of different blocks.
//!
//! Two threads are ordered by a fence of each and an atomic between: what a thread did before a fence is *told* by its atomics after it; a thread
//! *sees* with an atomic what was told by those on the same element before it; a fence makes *known* what was seen. An atomic that releases tells
//! of itself what came before it, one that acquires makes known what it sees. What reads and writes passes on what the ones before it told; an atomic
//! store ends that. A thread's later writes of the element tell what one that released told, and one that acquires makes known what the thread's reads of the element before it saw: [`Patterns`].
//! A fence or an atomic for the device (or the system) tells and makes known across blocks, one for the block within it.
//!
//! Barriers join what is known over the block, `sync_warp` over the warp. What is told and seen is the thread's own: another thread's fence does not
//! serve its atomics. Sequentially consistent fences have one order, so for these it does not matter on which side of a barrier they stand: what is
//! told by them, and what they make known of what was seen, goes through barriers too.

use super::clock::{Known, VectorClock};
use super::shadow::Now;
use std::collections::HashMap;
use warpwright_codegen::ir::{MemoryOrder, Scope};
use warpwright_codegen::target::limits::WARP;

/// How far a fence reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The threads of the block.
    Block,
    /// All threads.
    Device,
}

impl Reach {
    /// That of a scope; a warp's threads need none.
    pub(super) fn of(scope: Scope) -> Option<Reach> {
        match scope {
            Scope::Warp => None,
            Scope::Block => Some(Reach::Block),
            Scope::Cluster | Scope::Device | Scope::System => Some(Reach::Device),
        }
    }
}

/// Why two accesses are not ordered, as far as fences would have done it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFence {
    /// An atomic after the earlier access was seen by one before the later access, but no fence is between the earlier access and its atomic.
    Release,
    /// As above, but that fence reaches no further than the block.
    WiderRelease,
    /// The earlier access was told, and an atomic saw it; no fence that reaches it is between that atomic and the later access.
    Acquire,
    /// No atomic leads from the one to the other.
    Both,
}

/// What an atomic passes on of what it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    /// Nothing: it writes nothing.
    Nothing,
    /// Its own only: it does not read.
    Own,
    /// All.
    On,
}

/// An atomic, as far as it orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordered {
    pub(super) passes: Passes,
    pub(super) order: MemoryOrder,
    pub(super) reach: Reach,
}

/// What a thread tells and has seen, for its own fences and atomics.
#[derive(Clone, Debug, Default)]
struct Private {
    seen: VectorClock,
    seen_in_block: VectorClock,
    told: VectorClock,
    told_in_block: VectorClock,
}

/// What a thread knows, and what it has seen and tells as far as sequentially consistent fences are concerned.
#[derive(Clone, Debug, Default)]
struct Standing {
    known: VectorClock,
    /// What a fence that reaches the device would make known.
    seen: VectorClock,
    /// What any fence would.
    seen_in_block: VectorClock,
    told: VectorClock,
    told_in_block: VectorClock,
    /// Seen of what was told within other blocks: known to nobody, but good for a message.
    overheard: VectorClock,
    /// What would be known if every atomic came with fences: for messages.
    reached: VectorClock,
    /// The last atomic that saw something, plus 1.
    site: u32,
}

impl Standing {
    /// An atomic sees what those before it on the element told.
    fn see(&mut self, private: &mut Private, block: u32, passed: &Passed) {
        self.seen.join(&passed.told);
        private.seen.join(&passed.told);
        for (of, told) in &passed.told_in_block {
            if *of == block {
                self.seen_in_block.join(told);
                private.seen_in_block.join(told);
            } else {
                self.overheard.join(told);
            }
        }
        self.reached.join(&passed.reached);
    }

    fn join(&mut self, other: &Standing) {
        self.known.join(&other.known);
        self.seen.join(&other.seen);
        self.seen_in_block.join(&other.seen_in_block);
        self.told.join(&other.told);
        self.told_in_block.join(&other.told_in_block);
        self.overheard.join(&other.overheard);
        self.reached.join(&other.reached);
        self.site = self.site.max(other.site);
    }
}

/// What the threads of one block know.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// What all know since the last barrier.
    base: Standing,
    /// What threads know beyond that, by number; as long as some do.
    own: Vec<Option<Box<Standing>>>,
    /// What no other thread has of them, by number; of those that have fences or atomics.
    private: Vec<Private>,
}

/// What atomics on one element have passed on.
#[derive(Clone, Debug, Default)]
pub(super) struct Passed {
    told: VectorClock,
    /// By block.
    told_in_block: Vec<(u32, VectorClock)>,
    reached: VectorClock,
}

impl Passed {
    /// Whether nothing is told.
    fn is_silent(&self) -> bool {
        self.told.is_empty() && self.told_in_block.is_empty()
    }

    /// Passes on what another does, too.
    pub(super) fn join(&mut self, other: &Passed) {
        self.told.join(&other.told);
        for (block, told) in &other.told_in_block {
            match self.told_in_block.iter_mut().find(|(of, _)| of == block) {
                Some((_, own)) => own.join(told),
                None => self.told_in_block.push((*block, told.clone())),
            }
        }
        self.reached.join(&other.reached);
    }
}

/// What a thread's atomics on one element have told and seen.
#[derive(Debug, Default)]
struct Pattern {
    /// By the last that released.
    told: VectorClock,
    told_in_block: VectorClock,
    seen: VectorClock,
    seen_in_block: VectorClock,
}

/// The release and acquire patterns of one element, by block and thread. (PTX ISA, *Memory Consistency Model*: a release and a strong write behind it in program order are a release pattern; a strong read and an acquire behind it, an acquire pattern.)
#[derive(Debug, Default)]
pub(super) struct Patterns(HashMap<(u32, u32), Pattern>);

impl Patterns {
    /// That of a thread: where there is none, a new one if it is to hold something.
    fn of(&mut self, thread: (u32, u32), is_wanted: bool) -> Option<&mut Pattern> {
        if is_wanted { Some(self.0.entry(thread).or_default()) } else { self.0.get_mut(&thread) }
    }
}

/// What is known of the atomics on one element.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) passed: Passed,
    pub(super) patterns: Patterns,
}

impl Order {
    fn of(&self, thread: u32) -> &Standing {
        self.own_of(thread).unwrap_or(&self.base)
    }

    fn own_of(&self, thread: u32) -> Option<&Standing> {
        self.own.get(thread as usize)?.as_deref()
    }

    fn of_mut(&mut self, thread: u32) -> (&mut Standing, &mut Private) {
        let Order { base, own, private } = self;
        let thread = thread as usize;
        if own.len() <= thread {
            own.resize_with(thread + 1, || None);
        }
        if private.len() <= thread {
            private.resize_with(thread + 1, Private::default);
        }
        (own[thread].get_or_insert_with(|| Box::new(base.clone())), &mut private[thread])
    }

    /// A fence of a thread. The tick has to go on behind it.
    pub(super) fn fence(&mut self, now: &Now, block: u32, reach: Reach, is_seq_cst: bool) {
        let mine = now.known(block);
        let (standing, private) = self.of_mut(now.thread);
        standing.known.join(&private.seen_in_block);
        if reach == Reach::Device {
            standing.known.join(&private.seen);
        }
        if is_seq_cst {
            standing.known.join(&standing.seen_in_block);
            if reach == Reach::Device {
                standing.known.join(&standing.seen);
            }
        }
        let mut told = standing.known.clone();
        told.join(&mine);
        private.told_in_block = told.clone();
        if reach == Reach::Device {
            private.told = told.clone();
        }
        if is_seq_cst {
            standing.told_in_block = told.clone();
            if reach == Reach::Device {
                standing.told = told;
            }
        }
    }

    /// An atomic of a thread. The tick has to go on behind it. `patterns`: those of the element, where the kernel has any.
    pub(super) fn atomic(&mut self, now: &Now, block: u32, passed: &mut Passed, patterns: Option<&mut Patterns>, ordered: &Ordered) {
        if ordered.order == MemoryOrder::SeqCst {
            self.fence(now, block, ordered.reach, true);
        }
        let mine = now.known(block);
        let (standing, private) = self.of_mut(now.thread);
        let mut patterns = patterns.map(|patterns| (patterns, (block, now.thread)));
        if ordered.passes != Passes::Own {
            if !passed.reached.is_empty() {
                standing.site = now.site;
            }
            standing.see(private, block, passed);
            if let Some(pattern) = patterns.as_mut().and_then(|(patterns, thread)| patterns.of(*thread, !passed.is_silent())) {
                pattern.seen.join(&passed.told);
                passed.told_in_block.iter().filter(|(of, _)| *of == block).for_each(|(_, told)| pattern.seen_in_block.join(told));
                if ordered.order.acquires() {
                    standing.known.join(&pattern.seen_in_block);
                    if ordered.reach == Reach::Device {
                        standing.known.join(&pattern.seen);
                    }
                }
            }
            if ordered.order.acquires() {
                passed.told_in_block.iter().filter(|(of, _)| *of == block).for_each(|(_, told)| standing.known.join(told));
                if ordered.reach == Reach::Device {
                    standing.known.join(&passed.told);
                }
            }
        }
        if ordered.passes == Passes::Nothing {
            return;
        }
        if ordered.passes == Passes::Own {
            *passed = Passed::default();
        }
        let (mut told, mut told_in_block) = (private.told.clone(), private.told_in_block.clone());
        told.join(&standing.told);
        told_in_block.join(&standing.told_in_block);
        if ordered.order.releases() {
            told_in_block.join(&standing.known);
            told_in_block.join(&mine);
            if ordered.reach == Reach::Device {
                told.join(&told_in_block);
            }
        }
        if let Some(pattern) = patterns.and_then(|(patterns, thread)| patterns.of(thread, ordered.order.releases())) {
            if ordered.order.releases() {
                pattern.told.clone_from(&told);
                pattern.told_in_block.clone_from(&told_in_block);
            } else {
                told.join(&pattern.told);
                told_in_block.join(&pattern.told_in_block);
            }
        }
        passed.told.join(&told);
        if !told_in_block.is_empty() {
            match passed.told_in_block.iter_mut().find(|(of, _)| *of == block) {
                Some((_, told)) => told.join(&told_in_block),
                None => passed.told_in_block.push((block, told_in_block)),
            }
        }
        passed.reached.join(&standing.reached);
        passed.reached.join(&mine);
    }

    /// What a thread has done, and knows: what it tells who waits for it. The tick has to go on behind it.
    pub(super) fn tell(&self, now: &Now, block: u32) -> VectorClock {
        let mut told = self.of(now.thread).known.clone();
        told.join(&now.known(block));
        told
    }

    /// A thread learns what others told.
    pub(super) fn learn(&mut self, thread: u32, told: &VectorClock) {
        self.of_mut(thread).0.known.join(told);
    }

    /// All threads of the block have met.
    pub(super) fn meet(&mut self) {
        for standing in self.own.drain(..).flatten() {
            self.base.join(&standing);
        }
    }

    /// All but the issuer of a producer have met.
    pub(super) fn meet_without(&mut self, issuer: u32) {
        let apart = self.of(issuer).clone();
        if let Some(own) = self.own.get_mut(issuer as usize) {
            *own = None;
        }
        self.meet();
        *self.of_mut(issuer).0 = apart;
    }

    /// The threads of several blocks have met, at a tick.
    pub(super) fn meet_across(blocks: &mut [(u32, &mut Order)], tick: u32) {
        let mut joined = Standing::default();
        for (number, order) in blocks.iter_mut() {
            order.meet();
            joined.join(&order.base);
            joined.known.join(&VectorClock::of(*number, Known::of_block(tick)));
        }
        blocks.iter_mut().for_each(|(_, order)| order.base.clone_from(&joined));
    }

    /// The threads of a warp have met: those of `lanes`, from thread `first` on.
    pub(super) fn meet_in_warp(&mut self, first: u32, lanes: u32) {
        let threads = || (0..WARP).filter(|lane| lanes >> lane & 1 == 1).map(|lane| first + lane);
        if threads().all(|thread| self.own_of(thread).is_none()) {
            return;
        }
        let mut joined = self.base.clone();
        threads().filter_map(|thread| self.own_of(thread)).for_each(|standing| joined.join(standing));
        for thread in threads() {
            self.of_mut(thread).0.clone_from(&joined);
        }
    }

    /// Whether a thread knows of anything by fences.
    pub(super) fn knows_others(&self, thread: u32) -> bool {
        !self.of(thread).known.is_empty()
    }

    /// Whether what a thread of a block did at a tick is known to the thread by fences.
    pub(super) fn knows(&self, thread: u32, block: u32, other: u32, tick: u32) -> bool {
        self.of(thread).known.has(block, other, tick)
    }

    /// Why it is not known, and the atomic that saw it.
    pub(super) fn missing(&self, thread: u32, block: u32, other: u32, tick: u32) -> (MissingFence, Option<u32>) {
        let standing = self.of(thread);
        let has = |clock: &VectorClock| clock.has(block, other, tick);
        let missing = if has(&standing.seen) || has(&standing.seen_in_block) {
            MissingFence::Acquire
        } else if has(&standing.overheard) {
            MissingFence::WiderRelease
        } else if has(&standing.reached) {
            MissingFence::Release
        } else {
            MissingFence::Both
        };
        (missing, standing.site.checked_sub(1))
    }
}

impl Now {
    /// What a thread may tell of itself and of those that it has met.
    fn known(&self, block: u32) -> VectorClock {
        VectorClock::of(block, Known::of_thread(self.thread, self.interval_start, self.warp_start, self.tick))
    }
}
