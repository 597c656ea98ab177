//! The rows. Which pass keeps those of loops is said in `schedule`; `docs/language.md` says what they mean.

use super::{Annotation, Elements, Loops, Modifier, Numbers, On, Takes};

/// Every annotation, in the order in which texts list them.
pub static ANNOTATIONS: &[&Annotation] = &[&UNROLL, &ILP, &VECTORIZE, &BATCH_LOADS, &PREFETCH, &PIPELINE, &PAD, &SWIZZLE];

/// What most of a row is.
const PLAIN: Annotation = Annotation {
    name: "",
    takes: Takes::Switch,
    modifiers: &[],
    on: &[],
    loops: Loops::Counted,
    elements: None,
    joins: false,
    keeps_one: false,
};

/// What most of a row's numbers are.
const NUMBERS: Numbers = Numbers {
    word: None,
    least: 1,
    most: 1,
    are_powers: false,
    limit: "",
    instead: "use a smaller number, for example 2, 4 or 8",
    example: 4,
};

/// `#[unroll]`, `#[unroll(N)]`: iterations are written out. Beyond the most, the instruction cache loses what the branches gain.
pub static UNROLL: Annotation = Annotation {
    name: "unroll",
    takes: Takes::All(Numbers { most: 1024, limit: "the most copies of a body are 1024", ..NUMBERS }),
    modifiers: &[Modifier::BestEffort],
    on: &[On::Loop],
    loops: Loops::CountedUnlessOne,
    ..PLAIN
};

/// `#[ilp(N)]`: N iterations at a time, interleaved. Each needs a register for its value and one for its address.
pub static ILP: Annotation = Annotation {
    name: "ilp",
    takes: Takes::Number(Numbers { most: 128, limit: "a thread has 255 registers, so the most iterations at a time are 128", ..NUMBERS }),
    modifiers: &[Modifier::BestEffort, Modifier::AssumeDisjoint],
    on: &[On::Loop, On::Kernel],
    elements: Some(Elements::Groups),
    joins: true,
    ..PLAIN
};

/// `#[vectorize(N)]`: N consecutive iterations with accesses of N, of as many elements as every device has.
pub static VECTORIZE: Annotation = Annotation {
    name: "vectorize",
    takes: Takes::Number(Numbers {
        most: 8,
        are_powers: true,
        limit: "an access takes 1, 2, 4 or 8 elements, and 16 bytes at most",
        instead: "use 2 or 4",
        ..NUMBERS
    }),
    modifiers: &[Modifier::BestEffort, Modifier::AssumeDisjoint, Modifier::AssumeAligned],
    on: &[On::Loop, On::Kernel],
    elements: Some(Elements::Lanes),
    joins: true,
    ..PLAIN
};

/// `#[batch_loads]`: the loads of the body are issued before what waits for one of them.
pub static BATCH_LOADS: Annotation = Annotation {
    name: "batch_loads",
    modifiers: &[Modifier::BestEffort, Modifier::AssumeDisjoint],
    on: &[On::Loop, On::Kernel],
    loops: Loops::All,
    ..PLAIN
};

/// `#[prefetch]`: the loads of the next iteration are issued before the work of this one.
pub static PREFETCH: Annotation =
    Annotation { name: "prefetch", modifiers: &[Modifier::BestEffort, Modifier::AssumeDisjoint], on: &[On::Loop], ..PLAIN };

/// `#[pipeline(stages = S)]`: the copies of S − 1 iterations into shared arrays are on their way while one iteration works. More stages than a block's
/// shared memory has room for are refused by their bytes.
pub static PIPELINE: Annotation = Annotation {
    name: "pipeline",
    takes: Takes::Number(Numbers {
        word: Some("stages"),
        most: 32,
        limit: "the most stages are 32",
        instead: "use a smaller number, for example 3 or 4",
        example: 3,
        ..NUMBERS
    }),
    modifiers: &[
        Modifier::BestEffort,
        Modifier::AssumeDisjoint,
        Modifier::ByRegisters,
        Modifier::ByCpAsync,
        Modifier::ByBulk,
        Modifier::ByTma,
        Modifier::Producer,
    ],
    on: &[On::Loop],
    keeps_one: true,
    ..PLAIN
};

/// `#[shared(pad = P)]`: room for P more elements behind each row. Sixty-four are 32-bit words of two rounds through all banks.
pub static PAD: Annotation = Annotation {
    name: "pad",
    takes: Takes::Number(Numbers {
        least: 0,
        most: 64,
        limit: "the padding after a row is 0 to 64 elements",
        instead: "write `pad = 1`: this is usually enough",
        example: 1,
        ..NUMBERS
    }),
    on: &[On::Shared],
    ..PLAIN
};

/// `#[shared(swizzle)]`: the columns of each row are permuted by its number. `#[shared(swizzle = S)]`: chunks of 16 bytes are, as tensor copies do over S bytes.
pub static SWIZZLE: Annotation = Annotation {
    name: "swizzle",
    takes: Takes::All(Numbers {
        least: 32,
        most: 128,
        are_powers: true,
        limit: "chunks are permuted within 32, 64 or 128 bytes",
        instead: "write `swizzle = 128`, or `swizzle` alone, which permutes elements",
        example: 128,
        ..NUMBERS
    }),
    on: &[On::Shared],
    ..PLAIN
};
