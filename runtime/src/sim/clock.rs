//! What one thread knows of all others: up to which tick the accesses of each are ordered before its next one.
//!
//! A clock is a persistent Patricia trie over blocks, so that a clock that grows by a block costs a path of nodes, and joining clocks that
//! share most of their nodes, as those of a look-back scan do, costs what differs.

use std::cmp::Reverse;
use std::sync::Arc;
use warpwright_codegen::target::limits::WARP;

/// Up to which tick the accesses of one block's threads are known. Of a thread counts the latest tick that is about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Of every thread.
    pub(super) all: u32,
    /// Of every thread of a warp; warps in order.
    pub(super) warps: Vec<(u32, u32)>,
    /// Of single threads, in order.
    pub(super) threads: Vec<(u32, u32)>,
}

impl Known {
    /// Of one thread: what its block did before the tick `all`, its warp before the tick `warp`, and itself up to the tick `own`.
    pub(super) fn of_thread(thread: u32, all: u32, warp: u32, own: u32) -> Known {
        Known { all: all.saturating_sub(1), warps: vec![(thread / WARP, warp.saturating_sub(1))], threads: vec![(thread, own)] }
    }

    /// Of all threads of a block up to a tick.
    pub(super) fn of_block(tick: u32) -> Known {
        Known { all: tick, ..Known::default() }
    }

    /// Whether what a thread did at a tick is known.
    fn has(&self, thread: u32, tick: u32) -> bool {
        let of = |list: &[(u32, u32)], key: u32| list.binary_search_by_key(&key, |(k, _)| *k).map_or(0, |n| list[n].1);
        tick <= self.all || tick <= of(&self.warps, thread / WARP) || tick <= of(&self.threads, thread)
    }

    fn covers(&self, other: &Known) -> bool {
        let inside = |few: &[(u32, u32)], many: &[(u32, u32)]| {
            few.iter().all(|(key, tick)| *tick <= self.all || many.binary_search_by_key(key, |(k, _)| *k).is_ok_and(|n| many[n].1 >= *tick))
        };
        other.all <= self.all && inside(&other.warps, &self.warps) && inside(&other.threads, &self.threads)
    }

    fn join(&self, other: &Known) -> Known {
        let all = self.all.max(other.all);
        let merge = |a: &[(u32, u32)], b: &[(u32, u32)]| {
            let mut out: Vec<(u32, u32)> = a.iter().chain(b).copied().filter(|(_, tick)| *tick > all).collect();
            out.sort_unstable_by_key(|(key, tick)| (*key, Reverse(*tick)));
            out.dedup_by_key(|(key, _)| *key);
            out
        };
        Known { all, warps: merge(&self.warps, &other.warps), threads: merge(&self.threads, &other.threads) }
    }
}

#[derive(Debug)]
enum Node {
    Leaf {
        block: u32,
        known: Known,
    },
    /// Blocks with the bits `prefix` above `bit`: those without it, those with it.
    Branch {
        prefix: u32,
        bit: u32,
        sides: [Arc<Node>; 2],
    },
}

/// A clock. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorClock(Option<Arc<Node>>);

impl VectorClock {
    /// That knows of one block only.
    pub(super) fn of(block: u32, known: Known) -> VectorClock {
        VectorClock(Some(Arc::new(Node::Leaf { block, known })))
    }

    /// Whether it knows of nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether what a thread of a block did at a tick is known.
    pub(super) fn has(&self, block: u32, thread: u32, tick: u32) -> bool {
        let mut at = match &self.0 {
            Some(node) => node,
            None => return false,
        };
        loop {
            match &**at {
                Node::Leaf { block: of, known } => return *of == block && known.has(thread, tick),
                Node::Branch { bit, sides, .. } => at = &sides[usize::from(block & bit != 0)],
            }
        }
    }

    /// Knows then what the other knows, too.
    pub(super) fn join(&mut self, other: &VectorClock) {
        match (&self.0, &other.0) {
            (_, None) => {}
            (None, Some(_)) => self.0.clone_from(&other.0),
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => {}
            (Some(a), Some(b)) => self.0 = Some(join(a, b)),
        }
    }
}

impl Node {
    /// The bits above the lowest bit that its blocks may differ in, and that bit: 0 of a leaf.
    fn head(&self) -> (u32, u32) {
        match self {
            Node::Leaf { block, .. } => (*block, 0),
            Node::Branch { prefix, bit, .. } => (*prefix, *bit),
        }
    }
}

/// The bits above a bit.
fn above(key: u32, bit: u32) -> u32 {
    key & !(bit | bit.wrapping_sub(1))
}

/// Both; one of the two where that is all.
fn join(a: &Arc<Node>, b: &Arc<Node>) -> Arc<Node> {
    if Arc::ptr_eq(a, b) {
        return a.clone();
    }
    let ((p, m), (q, n)) = (a.head(), b.head());
    match (&**a, &**b) {
        (Node::Leaf { block, known }, Node::Leaf { block: other, known: more }) if block == other => {
            if known.covers(more) {
                a.clone()
            } else if more.covers(known) {
                b.clone()
            } else {
                Arc::new(Node::Leaf { block: *block, known: known.join(more) })
            }
        }
        (Node::Branch { sides: [a0, a1], .. }, Node::Branch { sides: [b0, b1], .. }) if (p, m) == (q, n) => {
            rebuilt(a, [join(a0, b0), join(a1, b1)], Some(b))
        }
        (Node::Branch { sides: [a0, a1], .. }, _) if m > n && above(q, m) == p => {
            let sides = if q & m == 0 { [join(a0, b), a1.clone()] } else { [a0.clone(), join(a1, b)] };
            rebuilt(a, sides, None)
        }
        (_, Node::Branch { sides: [b0, b1], .. }) if n > m && above(p, n) == q => {
            let sides = if p & n == 0 { [join(a, b0), b1.clone()] } else { [b0.clone(), join(a, b1)] };
            rebuilt(b, sides, None)
        }
        _ => {
            let bit = 1 << (p ^ q).ilog2();
            let sides = if p & bit == 0 { [a.clone(), b.clone()] } else { [b.clone(), a.clone()] };
            Arc::new(Node::Branch { prefix: above(p, bit), bit, sides })
        }
    }
}

/// A branch like `node` with other sides: itself, or `other`, if the sides are theirs.
fn rebuilt(node: &Arc<Node>, sides: [Arc<Node>; 2], other: Option<&Arc<Node>>) -> Arc<Node> {
    let has_these = |node: &&Arc<Node>| matches!(&***node, Node::Branch { sides: [x, y], .. } if Arc::ptr_eq(x, &sides[0]) && Arc::ptr_eq(y, &sides[1]));
    if let Some(same) = [Some(node), other].into_iter().flatten().find(has_these) {
        return same.clone();
    }
    let (prefix, bit) = node.head();
    Arc::new(Node::Branch { prefix, bit, sides })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn nodes(clock: &VectorClock) -> usize {
        fn count(node: &Node) -> usize {
            match node {
                Node::Leaf { .. } => 1,
                Node::Branch { sides, .. } => 1 + count(&sides[0]) + count(&sides[1]),
            }
        }
        clock.0.as_ref().map_or(0, |node| count(node))
    }

    #[test]
    fn a_thread_is_known_by_itself_its_warp_or_its_block() {
        let known = Known::of_thread(70, 5, 8, 11);
        assert!(known.has(3, 4) && !known.has(3, 5), "the block up to its last barrier");
        assert!(known.has(64, 7) && !known.has(64, 8), "the warp up to its last meeting");
        assert!(known.has(70, 11) && !known.has(70, 12), "itself up to now");
        let both = known.join(&Known::of_thread(1, 7, 7, 20));
        assert!(both.has(3, 6) && both.has(1, 20) && both.has(70, 11) && both.has(65, 7) && !both.has(65, 8));
        assert!(both.covers(&known) && !known.covers(&both));
    }

    #[test]
    fn joins_are_those_of_maps() {
        let mut state = 12345u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for _ in 0..200 {
            let mut clocks = vec![(VectorClock::default(), BTreeMap::<u32, u32>::new()); 4];
            for _ in 0..60 {
                let (to, from) = (next(4) as usize, next(4) as usize);
                if next(3) == 0 {
                    let (clock, map) = clocks[from].clone();
                    clocks[to].0.join(&clock);
                    map.into_iter().for_each(|(block, tick)| {
                        let known = clocks[to].1.entry(block).or_default();
                        *known = (*known).max(tick);
                    });
                } else {
                    let block = [next(9), next(1 << 20), u32::MAX - next(3)][next(3) as usize];
                    let tick = 1 + next(50);
                    clocks[to].0.join(&VectorClock::of(block, Known { all: tick, ..Known::default() }));
                    let known = clocks[to].1.entry(block).or_default();
                    *known = (*known).max(tick);
                }
            }
            for (clock, map) in &clocks {
                assert_eq!(nodes(clock), (2 * map.len()).saturating_sub(1));
                map.iter().for_each(|(block, tick)| assert!(clock.has(*block, 0, *tick) && !clock.has(*block, 0, tick + 1)));
                (0..9).filter(|block| !map.contains_key(block)).for_each(|block| assert!(!clock.has(block, 0, 1)));
            }
        }
    }

    #[test]
    fn what_a_clock_knows_already_adds_nothing() {
        let mut clock = VectorClock::default();
        (0..1000).for_each(|block| clock.join(&VectorClock::of(block, Known { all: 7, ..Known::default() })));
        let before = clock.clone();
        (0..1000).for_each(|block| clock.join(&VectorClock::of(block, Known { all: 6, ..Known::default() })));
        assert!(Arc::ptr_eq(clock.0.as_ref().unwrap(), before.0.as_ref().unwrap()));
    }
}
