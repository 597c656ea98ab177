//! Radix sort: keys, and keys with values, in ascending or descending order.
//!
//! | function | |
//! |---|---|
//! | [`keys`], [`keys_descending`] | `sorted` ← the keys in order |
//! | [`pairs`], [`pairs_descending`] | the same, and `sorted_values` ← the values in the order of their keys |
//!
//! Sorts are stable: equal keys keep their order, also in descending sorts. Floats are in the order of their bits, IEEE's `totalOrder`: NaNs with the sign bit set,
//! −∞, numbers, `-0.0` before `0.0`, ∞, NaNs without it.
//!
//! **Determinism.** The same bits on every run.
//!
//! **How.** A pass for each 8 bits of the key, lowest first, and one that counts the digits of all passes at once. A pass reads and writes every key once: a tile
//! ranks its keys by digit in shared memory, finds how many of each digit the tiles before it have by looking back at them (Adinets and Merrill, "Onesweep", 2022),
//! and writes runs of equal digits. For n keys of 4 bytes that moves 4 · n + 4 · 8 · n bytes, where a pass with a kernel for counts would move half as much again.

pub mod kernels;

use kernels::{count_digits, sort_pass};

use super::checks::Call;
use super::workspace::{Slot, seen};
use super::{Result, Workspace, tuned};
use warpwright::Launch;
use warpwright::prelude::*;

/// Bits of a digit's count beside the flag of a state.
const MOST: usize = (1 << 30) - 1;

/// A type of keys: `u32`, `i32`, `f32`, `u64`, `i64`, `f64`.
pub trait SortKey: Element {
    /// Passes: bytes of a key.
    #[doc(hidden)]
    const PASSES: usize;

    /// The launch that counts digits.
    #[doc(hidden)]
    fn count<'a, const DOWN: bool>(call: (usize, usize), x: &'a Buffer<Self>, counts: &'a mut Buffer<u64>) -> Result<Launch<'a>>
    where
        Self: Sized;

    /// The launch of a pass.
    #[doc(hidden)]
    fn pass<'a, const DOWN: bool, const PAIRS: bool>(candidate: usize, parts: Pass<'a>) -> Result<Launch<'a>>;

    /// A buffer of keys or values as words.
    #[doc(hidden)]
    fn words<T: Element>(x: &Buffer<T>) -> Result<Words<'_>>;

    /// The same to write to.
    #[doc(hidden)]
    fn words_mut<T: Element>(x: &mut Buffer<T>) -> Result<WordsMut<'_>>;
}

/// A type of values that go with keys of type `K`: one of the same size.
pub trait SortValue<K: SortKey>: Element {}

/// Words of keys or values.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Words<'a> {
    /// Of 4 bytes.
    Four(&'a Buffer<u32>),
    /// Of 8.
    Eight(&'a Buffer<u64>),
}

/// The same to write to.
#[doc(hidden)]
#[derive(Debug)]
pub enum WordsMut<'a> {
    /// Of 4 bytes.
    Four(&'a mut Buffer<u32>),
    /// Of 8.
    Eight(&'a mut Buffer<u64>),
}

impl<'a> WordsMut<'a> {
    fn shared(&self) -> Words<'_> {
        match self {
            WordsMut::Four(words) => Words::Four(words),
            WordsMut::Eight(words) => Words::Eight(words),
        }
    }

    fn again(&mut self) -> WordsMut<'_> {
        match self {
            WordsMut::Four(words) => WordsMut::Four(words),
            WordsMut::Eight(words) => WordsMut::Eight(words),
        }
    }
}

/// What a launch of a pass takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Pass<'a> {
    before: u32,
    pass: u32,
    n: usize,
    keys: Words<'a>,
    values: Words<'a>,
    sorted: WordsMut<'a>,
    sorted_values: WordsMut<'a>,
    counts: &'a mut Buffer<u64>,
    digits: &'a mut Buffer<u64>,
    tickets: &'a mut Buffer<u32>,
}

fn sort<K: SortKey, V: Element, const DOWN: bool, const PAIRS: bool>(
    call: Call<'_>,
    keys: &Buffer<K>,
    sorted: &mut Buffer<K>,
    values: Option<(&Buffer<V>, &mut Buffer<V>)>,
    workspace: &mut Workspace,
) -> Result<()> {
    let n = keys.len();
    call.workspace(workspace)?;
    if n == 0 {
        return Ok(());
    }
    let table = if PAIRS { tuned::SORT_PAIRS } else { tuned::SORT };
    let candidate = table.choose(call.stream.device(), n, workspace.forced());
    let (warps, own) = tuned::SORT_SHAPES[candidate];
    let tiles = n.div_ceil(32 * warps * own);
    let bytes = n * size_of::<K>();
    let needs = [
        (Slot::Elements, bytes),
        (Slot::Values, if PAIRS { bytes } else { 8 }),
        (Slot::Digits, tiles * 1024),
        (Slot::Counts, K::PASSES * 1024),
    ];
    let mut run = workspace.begin(call.function, &needs)?;
    run.launch(tiles * K::PASSES, |before, _, parts| {
        let multiprocessors = call.multiprocessors();
        K::count::<DOWN>((multiprocessors, n), keys, parts.counts)?.launch_on(call.stream)?;
        let (mut sorted, mut between) = (K::words_mut(sorted)?, K::words_mut(parts.elements)?);
        let mut between_values = K::words_mut(parts.values)?;
        let (values, mut sorted_values) = match values {
            Some((values, sorted)) => (Some(K::words(values)?), Some(K::words_mut(sorted)?)),
            None => (None, None),
        };
        for pass in 0..K::PASSES {
            // To the place between first, so that an even number of passes ends where the result is to be.
            let (from, to) = match pass % 2 {
                0 => (&mut sorted, &mut between),
                _ => (&mut between, &mut sorted),
            };
            let (from_values, to_values) = match (&mut sorted_values, pass % 2) {
                (Some(sorted), 0) => (Some(sorted), &mut between_values),
                (Some(sorted), _) => (Some(&mut between_values), sorted),
                (None, _) => (None, &mut between_values),
            };
            let keys = if pass == 0 { K::words(keys)? } else { from.shared() };
            let values = match (values, from_values) {
                (Some(values), _) if pass == 0 => values,
                (_, Some(values)) => values.shared(),
                // Nobody reads them: the kernel's parameters must be something.
                _ => keys,
            };
            let pass = Pass {
                before: before.wrapping_add((pass * tiles) as u32),
                pass: pass as u32,
                n,
                keys,
                values,
                sorted: to.again(),
                sorted_values: to_values.again(),
                counts: &mut *parts.counts,
                digits: &mut *parts.digits,
                tickets: &mut *parts.tickets,
            };
            K::pass::<DOWN, PAIRS>(candidate, pass)?.grid(tiles).shared_bytes(32 * warps * own * size_of::<K>()).launch_on(call.stream)?;
        }
        Ok(())
    })
}

macro_rules! sorts {
    ($($name:ident $pairs:ident $down:literal $order:literal;)*) => {$(
        #[doc = concat!("`sorted` ← the elements of `keys` in ", $order, " order.")]
        ///
        /// # Errors
        /// [`Error`](super::Error), before anything is written: `sorted` is shorter than `keys`, `keys` has 2³⁰ elements or more, a buffer or the workspace lies on another device, a frozen
        /// workspace is too small.
        pub fn $name<K: SortKey>(stream: &Stream, keys: &Buffer<K>, sorted: &mut Buffer<K>, workspace: &mut Workspace) -> Result<()> {
            let call = Call::new(concat!("sort::", stringify!($name)), stream).takes("keys", keys)?;
            let call = call.at_most("keys", keys, MOST)?.fits("sorted", sorted, keys.len())?;
            sort::<K, K, $down, false>(call, keys, sorted, None, workspace)
        }

        #[doc = concat!("`sorted` ← the elements of `keys` in ", $order, " order, `sorted_values` ← those of `values`, each at the place of its key.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`]; `values` or `sorted_values` is shorter than `keys`.")]
        pub fn $pairs<K: SortKey, V: SortValue<K>>(
            stream: &Stream,
            (keys, values): (&Buffer<K>, &Buffer<V>),
            (sorted, sorted_values): (&mut Buffer<K>, &mut Buffer<V>),
            workspace: &mut Workspace,
        ) -> Result<()> {
            let n = keys.len();
            let call = Call::new(concat!("sort::", stringify!($pairs)), stream).takes("keys", keys)?.at_most("keys", keys, MOST)?;
            let call = call.fits("sorted", sorted, n)?.fits("values", values, n)?.fits("sorted_values", sorted_values, n)?;
            sort::<K, V, $down, true>(call, keys, sorted, Some((values, sorted_values)), workspace)
        }
    )*};
}

sorts! {
    keys pairs false "ascending";
    keys_descending pairs_descending true "descending";
}

/// Type, its word, its variant of words, what the word holds, passes, elements of a vector, replicas of counters where many are counted, and the types of values.
macro_rules! sort_keys {
    ($($t:ty: $word:ty, $words:ident $kind:literal $passes:literal $v:literal $replicas:literal, $($value:ty)*;)*) => {$(
        impl SortKey for $t {
            const PASSES: usize = $passes;

            fn count<'a, const DOWN: bool>((multiprocessors, n): (usize, usize), x: &'a Buffer<$t>, counts: &'a mut Buffer<u64>) -> Result<Launch<'a>> {
                let (x, counts) = (x.view::<$word>()?, seen::<u32>(counts)?);
                Ok(if n < 1 << 20 {
                    let grid = n.div_ceil(256 * $v * 2).min(4 * multiprocessors);
                    count_digits::<$word, $kind, DOWN, $passes, $v, 256, 1>(x, counts).grid(grid).shared_bytes($passes * 1024)
                } else {
                    count_digits::<$word, $kind, DOWN, $passes, $v, 1024, $replicas>(x, counts)
                        .grid(multiprocessors)
                        .shared_bytes($passes * 1024 * $replicas)
                })
            }

            fn pass<'a, const DOWN: bool, const PAIRS: bool>(candidate: usize, parts: Pass<'a>) -> Result<Launch<'a>> {
                let Pass { before, pass, n, keys, values, sorted, sorted_values, counts, digits, tickets } = parts;
                let (Words::$words(keys), Words::$words(values)) = (keys, values) else { unreachable!("made by `words`") };
                let (WordsMut::$words(sorted), WordsMut::$words(sorted_values)) = (sorted, sorted_values) else { unreachable!("made by `words_mut`") };
                let (counts, digits) = (seen::<u32>(counts)?, seen::<u32>(digits)?);
                macro_rules! variant {
                    ($warps:literal, $keys:literal, $matched:literal, $look:literal, $blocks:literal) => {
                        sort_pass::<$word, $kind, DOWN, PAIRS, $warps, $keys, $matched, $look, $blocks>(
                            before, pass, n, keys, values, sorted, sorted_values, counts, digits, tickets,
                        )
                    };
                }
                Ok(match candidate {
                    0 => variant!(8, 8, false, 1, 4),
                    1 => variant!(8, 16, false, 1, 3),
                    2 => variant!(8, 16, false, 1, 4),
                    3 => variant!(16, 12, false, 1, 2),
                    4 => variant!(16, 16, false, 1, 2),
                    5 => variant!(16, 16, true, 1, 2),
                    6 => variant!(8, 16, true, 1, 3),
                    7 => variant!(16, 16, false, 4, 2),
                    _ => variant!(16, 16, false, 2, 2),
                })
            }

            fn words<T: Element>(x: &Buffer<T>) -> Result<Words<'_>> {
                Ok(Words::$words(x.view()?))
            }

            fn words_mut<T: Element>(x: &mut Buffer<T>) -> Result<WordsMut<'_>> {
                Ok(WordsMut::$words(x.view_mut()?))
            }
        }

        $(impl SortValue<$t> for $value {})*
    )*};
}

sort_keys! {
    u32: u32, Four 0 4 4 32, u32 i32 f32;
    i32: u32, Four 1 4 4 32, u32 i32 f32;
    f32: u32, Four 2 4 4 32, u32 i32 f32;
    u64: u64, Eight 0 8 2 16, u64 i64 f64;
    i64: u64, Eight 1 8 2 16, u64 i64 f64;
    f64: u64, Eight 2 8 2 16, u64 i64 f64;
}
