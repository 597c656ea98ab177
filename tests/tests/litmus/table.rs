//! The tests, with what the memory model of PTX says of their outcomes.

use super::program::Access::{Ordered, Plain, Relaxed, SeqCst};
use super::program::Act::{Add, Bump, Hear, Load, LoadIf, Store, Then};
use super::program::Variable::{X, Y};
use super::program::{Act, Fence, Reach, Threads};

/// What the model says of the outcomes that sequential consistency does not give.
#[derive(Clone, Copy)]
pub(crate) enum Weak {
    /// None of them may be seen.
    Forbidden,
    /// They may be seen.
    Allowed,
    /// Plain accesses race: the language gives no result.
    Race,
}

/// A test.
pub(crate) struct Litmus {
    /// Its name.
    pub(crate) name: &'static str,
    /// What the threads do.
    pub(crate) threads: Threads,
    /// Whom they are among.
    pub(crate) reaches: &'static [Reach],
    /// What else may happen.
    pub(crate) weak: Weak,
}

const ALL: &[Reach] = &[Reach::Block, Reach::Device, Reach::System];
const WIDE: &[Reach] = &[Reach::Device, Reach::System];

const fn test(name: &'static str, threads: Threads, reaches: &'static [Reach], weak: Weak) -> Litmus {
    Litmus { name, threads, reaches, weak }
}

/// A block says that its part is there, and asks how many others are.
const LAST: &[Act] = &[Then(&Store(X, 1, Plain), Fence::Ordinary), Add(0, Y)];

/// Every test. MP is message passing, SB store buffering, LB load buffering, IRIW independent reads of independent writes, WRC write to read causality,
/// 2+2W two writes against two; *last block* and *look-back* are the patterns of reductions and scans in one pass.
pub(crate) const TESTS: &[Litmus] = &[
    test(
        "MP, release and acquire",
        &[&[Store(X, 1, Plain), Store(Y, 1, Ordered)], &[Load(0, Y, Ordered), LoadIf(1, X)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "MP, sequentially consistent",
        &[&[Store(X, 1, Plain), Store(Y, 1, SeqCst)], &[Load(0, Y, SeqCst), LoadIf(1, X)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "MP, relaxed with fences",
        &[
            &[Then(&Store(X, 1, Plain), Fence::Ordinary), Store(Y, 1, Relaxed)],
            &[Then(&Load(0, Y, Relaxed), Fence::Ordinary), LoadIf(1, X)],
        ],
        ALL,
        Weak::Forbidden,
    ),
    test("MP, relaxed, data plain", &[&[Store(X, 1, Plain), Store(Y, 1, Relaxed)], &[Load(0, Y, Relaxed), LoadIf(1, X)]], ALL, Weak::Race),
    test("MP, release only", &[&[Store(X, 1, Plain), Store(Y, 1, Ordered)], &[Load(0, Y, Relaxed), LoadIf(1, X)]], ALL, Weak::Race),
    test("MP, acquire only", &[&[Store(X, 1, Plain), Store(Y, 1, Relaxed)], &[Load(0, Y, Ordered), LoadIf(1, X)]], ALL, Weak::Race),
    test("MP, all plain", &[&[Store(X, 1, Plain), Store(Y, 1, Plain)], &[Load(0, Y, Plain), Load(1, X, Plain)]], ALL, Weak::Race),
    test(
        "MP, scope too narrow",
        &[&[Store(X, 1, Plain), Store(Y, 1, Ordered)], &[Load(0, Y, Ordered), LoadIf(1, X)]],
        &[Reach::Narrow],
        Weak::Race,
    ),
    test(
        "MP, all relaxed",
        &[&[Store(X, 1, Relaxed), Store(Y, 1, Relaxed)], &[Load(0, Y, Relaxed), Load(1, X, Relaxed)]],
        ALL,
        Weak::Allowed,
    ),
    test("SB, relaxed", &[&[Store(X, 1, Relaxed), Load(0, Y, Relaxed)], &[Store(Y, 1, Relaxed), Load(0, X, Relaxed)]], ALL, Weak::Allowed),
    test(
        "SB, release and acquire",
        &[&[Store(X, 1, Ordered), Load(0, Y, Ordered)], &[Store(Y, 1, Ordered), Load(0, X, Ordered)]],
        ALL,
        Weak::Allowed,
    ),
    test(
        "SB, sequentially consistent",
        &[&[Store(X, 1, SeqCst), Load(0, Y, SeqCst)], &[Store(Y, 1, SeqCst), Load(0, X, SeqCst)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "SB, fences of one order",
        &[
            &[Then(&Store(X, 1, Relaxed), Fence::SeqCst), Load(0, Y, Relaxed)],
            &[Then(&Store(Y, 1, Relaxed), Fence::SeqCst), Load(0, X, Relaxed)],
        ],
        ALL,
        Weak::Forbidden,
    ),
    test("LB, relaxed", &[&[Load(0, X, Relaxed), Store(Y, 1, Relaxed)], &[Load(0, Y, Relaxed), Store(X, 1, Relaxed)]], ALL, Weak::Allowed),
    test(
        "LB, release and acquire",
        &[&[Load(0, X, Ordered), Store(Y, 1, Ordered)], &[Load(0, Y, Ordered), Store(X, 1, Ordered)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "IRIW, relaxed",
        &[
            &[Store(X, 1, Relaxed)],
            &[Store(Y, 1, Relaxed)],
            &[Load(0, X, Relaxed), Load(1, Y, Relaxed)],
            &[Load(0, Y, Relaxed), Load(1, X, Relaxed)],
        ],
        ALL,
        Weak::Allowed,
    ),
    test(
        "IRIW, release and acquire",
        &[
            &[Store(X, 1, Ordered)],
            &[Store(Y, 1, Ordered)],
            &[Load(0, X, Ordered), Load(1, Y, Ordered)],
            &[Load(0, Y, Ordered), Load(1, X, Ordered)],
        ],
        ALL,
        Weak::Allowed,
    ),
    test(
        "IRIW, fences of one order",
        &[
            &[Store(X, 1, Relaxed)],
            &[Store(Y, 1, Relaxed)],
            &[Then(&Load(0, X, Relaxed), Fence::SeqCst), Load(1, Y, Relaxed)],
            &[Then(&Load(0, Y, Relaxed), Fence::SeqCst), Load(1, X, Relaxed)],
        ],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "WRC, release and acquire",
        &[&[Store(X, 1, Relaxed)], &[Load(0, X, Ordered), Store(Y, 1, Ordered)], &[Load(0, Y, Ordered), Load(1, X, Relaxed)]],
        WIDE,
        Weak::Forbidden,
    ),
    test("CoRR", &[&[Store(X, 1, Relaxed)], &[Load(0, X, Relaxed), Load(1, X, Relaxed)]], ALL, Weak::Forbidden),
    test(
        "CoRR, two writers",
        &[&[Store(X, 1, Relaxed)], &[Store(X, 2, Relaxed)], &[Load(0, X, Relaxed), Load(1, X, Relaxed)]],
        ALL,
        Weak::Forbidden,
    ),
    test("CoWW", &[&[Store(X, 1, Relaxed), Store(X, 2, Relaxed)], &[Load(0, X, Relaxed), Load(1, X, Relaxed)]], ALL, Weak::Forbidden),
    test("CoWR", &[&[Store(X, 1, Relaxed), Load(0, X, Relaxed)], &[Store(X, 2, Relaxed)]], ALL, Weak::Forbidden),
    test("CoRW", &[&[Load(0, X, Relaxed), Store(X, 1, Relaxed)], &[Store(X, 2, Relaxed)]], ALL, Weak::Forbidden),
    test("atomicity", &[&[Add(0, X), Add(1, X)], &[Add(0, X), Add(1, X)]], ALL, Weak::Forbidden),
    // Updates whose old value nobody asks for may be done upon what comes later.
    test("CoWR, update", &[&[Bump(X), Load(0, X, Relaxed)], &[Add(0, X)]], ALL, Weak::Forbidden),
    test("CoRW, update", &[&[Load(0, X, Relaxed), Bump(X)], &[Bump(X), Load(0, X, Relaxed)]], ALL, Weak::Forbidden),
    test("SB, updates", &[&[Bump(X), Load(0, Y, Relaxed)], &[Bump(Y), Load(0, X, Relaxed)]], ALL, Weak::Allowed),
    test("MP, updates", &[&[Bump(X), Bump(Y)], &[Load(0, Y, Relaxed), Load(1, X, Relaxed)]], ALL, Weak::Allowed),
    test("2+2W, updates", &[&[Bump(X), Store(Y, 2, Relaxed)], &[Bump(Y), Store(X, 2, Relaxed)]], ALL, Weak::Allowed),
    test("last block", &[LAST, &[Then(&Add(0, Y), Fence::Ordinary), LoadIf(1, X)]], ALL, Weak::Forbidden),
    test(
        "last block, no fence before",
        &[&[Store(X, 1, Plain), Add(0, Y)], &[Then(&Add(0, Y), Fence::Ordinary), LoadIf(1, X)]],
        ALL,
        Weak::Race,
    ),
    test("last block, no fence behind", &[LAST, &[Add(0, Y), LoadIf(1, X)]], ALL, Weak::Race),
    // The one between passes on what the first has told, in an update that orders nothing itself.
    test(
        "look-back",
        &[&[Store(X, 1, Plain), Store(Y, 1, Ordered)], &[Add(0, Y)], &[Load(0, Y, Ordered), LoadIf(2, X)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "look-back, relaxed",
        &[&[Store(X, 1, Plain), Store(Y, 1, Relaxed)], &[Add(0, Y)], &[Load(0, Y, Ordered), LoadIf(2, X)]],
        ALL,
        Weak::Race,
    ),
    // What a release told, the thread's later writes of the element tell, and nobody else's. An acquire hears what the thread's reads of the element before it saw, and of no other.
    test(
        "MP, released before",
        &[&[Store(X, 1, Plain), Store(Y, 1, Ordered), Store(Y, 2, Relaxed)], &[Load(0, Y, Ordered), LoadIf(2, X)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "MP, released before, data relaxed",
        &[&[Store(X, 1, Relaxed), Store(Y, 1, Ordered), Store(Y, 2, Relaxed)], &[Load(0, Y, Ordered), Load(1, X, Relaxed)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "MP, released by another",
        &[&[Store(X, 1, Plain), Store(Y, 1, Ordered)], &[Store(Y, 2, Relaxed)], &[Load(0, Y, Ordered), LoadIf(2, X)]],
        ALL,
        Weak::Race,
    ),
    test(
        "MP, released elsewhere",
        &[&[Store(X, 1, Ordered), Store(Y, 1, Relaxed)], &[Load(0, Y, Ordered), Load(1, X, Relaxed)]],
        ALL,
        Weak::Allowed,
    ),
    test(
        "MP, acquired behind",
        &[&[Store(X, 1, Plain), Store(Y, 1, Ordered)], &[Store(Y, 2, Relaxed)], &[Load(0, Y, Relaxed), Hear(Y), LoadIf(1, X)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "MP, acquired behind, data relaxed",
        &[&[Store(X, 1, Relaxed), Store(Y, 1, Ordered)], &[Store(Y, 2, Relaxed)], &[Load(0, Y, Relaxed), Hear(Y), Load(1, X, Relaxed)]],
        ALL,
        Weak::Allowed,
    ),
    test(
        "MP, acquired elsewhere",
        &[&[Store(X, 1, Relaxed), Store(Y, 1, Ordered)], &[Load(0, Y, Relaxed), Load(1, X, Ordered)]],
        ALL,
        Weak::Allowed,
    ),
    test(
        "look-back, released before",
        &[&[Store(X, 1, Plain), Store(Y, 1, Ordered), Store(Y, 2, Relaxed)], &[Add(0, Y)], &[Load(0, Y, Ordered), LoadIf(3, X)]],
        ALL,
        Weak::Forbidden,
    ),
    test(
        "2+2W, relaxed",
        &[&[Store(X, 1, Relaxed), Store(Y, 2, Relaxed)], &[Store(Y, 1, Relaxed), Store(X, 2, Relaxed)]],
        ALL,
        Weak::Allowed,
    ),
];
