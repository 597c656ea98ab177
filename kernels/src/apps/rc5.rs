//! RC5-72, the search for a key of nine bytes of the cipher RC5-32/12 by trying one after another, as the contest of that name does: known are a block
//! of plain text and what it was encrypted to.
//!
//! A key takes 3 × 26 steps that make its schedule of 26 words, two rotations each, and 24 half rounds, a rotation each: 180 rotations and twice
//! as many additions, and no memory at all. Each step waits for the one before. The document gives 17.1 times one core, 42 registers, instruction issue as the
//! bottleneck, and that its GPU had no instruction for a rotation by a variable; today's have one.
//!
//! [`search_direct`] tries a key a thread, with the loops and arrays of the cipher's description: arrays that are indexed by a counter lie in local memory. [`search`] writes out
//! all loops, so that schedule and key are registers. Its threads try `KEYS` keys each, all alike but for the last byte, so that what the words before it
//! do to the schedule is computed once; `P` keys at a time have chains of their own.

use super::declared::axis;
use super::{Declared, Error, Go, Result};
use std::ops::Range;
use warpwright::prelude::*;
use warpwright::{Buffer, Device, Variant};

/// Rounds of the cipher.
const ROUNDS: usize = 12;

/// Words of a schedule: two, and two for each round.
const TABLE: usize = 2 + 2 * ROUNDS;

/// Steps that mix the key in, for keys of up to [`TABLE`] words.
const STEPS: usize = 3 * TABLE;

/// What a schedule begins with, and what its words differ by: the digits of e - 2 and of the golden ratio.
const FIRST: u32 = 0xB7E1_5163;
const NEXT: u32 = 0x9E37_79B9;

/// The schedule of a key of so many words.
#[allow(clippy::needless_range_loop, reason = "loops of kernels go over numbers")]
#[device]
pub fn schedule<const WORDS: usize, const UNROLL: bool>(key: [u32; WORDS]) -> [u32; TABLE] {
    let mut table = [0; TABLE];
    let mut word = FIRST;
    #[unroll(if UNROLL { TABLE } else { 1 })]
    for i in 0..TABLE {
        table[i] = word;
        word = word.wrapping_add(NEXT);
    }
    let mut key = key;
    let (mut a, mut b) = (0u32, 0u32);
    #[unroll(if UNROLL { STEPS } else { 1 })]
    for step in 0..STEPS {
        a = table[step % TABLE].wrapping_add(a).wrapping_add(b).rotate_left(3);
        table[step % TABLE] = a;
        let turn = a.wrapping_add(b);
        b = key[step % WORDS].wrapping_add(turn).rotate_left(turn);
        key[step % WORDS] = b;
    }
    table
}

/// A block, encrypted with a schedule.
#[device]
pub fn encrypted<const UNROLL: bool>(table: [u32; TABLE], plain: [u32; 2]) -> [u32; 2] {
    let mut a = plain[0].wrapping_add(table[0]);
    let mut b = plain[1].wrapping_add(table[1]);
    #[unroll(if UNROLL { ROUNDS } else { 1 })]
    for round in 1..=ROUNDS {
        a = (a ^ b).rotate_left(b).wrapping_add(table[2 * round]);
        b = (b ^ a).rotate_left(a).wrapping_add(table[2 * round + 1]);
    }
    [a, b]
}

/// `blocks` ← each encrypted with the key of the same number: the functions above by themselves, for keys of any length.
#[kernel(block = 64, variants(WORDS in [3, 4], UNROLL in [true]))]
pub fn encrypt_all<const WORDS: usize, const UNROLL: bool>(keys: &Global<[u32; WORDS]>, blocks: &mut Global<[u32; 2]>) {
    let i = global_id().x;
    if i < blocks.len() {
        blocks[i] = encrypted::<UNROLL>(schedule::<WORDS, UNROLL>(keys[i]), blocks[i]);
    }
}

/// A window of keys, and what is known.
#[device]
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Window {
    /// The first key's bytes 0 to 3 and 4 to 7, the first the most significant.
    pub head: [u32; 2],
    /// Its last byte.
    pub last: u32,
    /// How many keys there are.
    pub count: u32,
    /// What was encrypted.
    pub plain: [u32; 2],
    /// To what.
    pub cipher: [u32; 2],
}

#[device]
impl Window {
    /// The words of the key with these first eight bytes after the head, and this last one.
    pub fn key(&self, after: u32, last: u32) -> [u32; 3] {
        let low = self.head[1].wrapping_add(after);
        let high = self.head[0].wrapping_add((low < after) as u32);
        // Keys count from their last byte on; their words are the other way round.
        [high.swap_bytes(), low.swap_bytes(), last]
    }
}

/// `found` ← the least of itself and the number in the window of a key that fits. A key a thread.
// Loops that stay loops, and so arrays in local memory, are what this kernel shows.
#[kernel(block = 128, allow(local_memory, rolled_loop))]
pub fn search_direct(window: Window, found: &mut Global<u32>) {
    let i = global_id().x as u32;
    if i < window.count {
        let number = window.last + i;
        let key = window.key(number >> 8, number & 0xFF);
        if encrypted::<false>(schedule::<3, false>(key), window.plain) == window.cipher {
            found.atomic_min(0, i);
        }
    }
}

/// The same with `KEYS` keys a thread, a power of two of at most 256. Their last bytes begin at a multiple of that: the first thread and the last one
/// may try keys that are not in the window, and report none of them. `threads` is how many have work.
#[kernel(block = 128, variants(KEYS in [32, 256], P in [1, 2]))]
pub fn search<const KEYS: usize, const P: usize>(window: Window, threads: usize, found: &mut Global<u32>) {
    let i = global_id().x;
    if i < threads {
        let number = window.last / KEYS as u32 * KEYS as u32 + (i * KEYS) as u32;
        #[ilp(P)]
        for k in 0..KEYS {
            let key = window.key(number >> 8, (number & 0xFF) + k as u32);
            if encrypted::<true>(schedule::<3, true>(key), window.plain) == window.cipher {
                let at = (number + k as u32).wrapping_sub(window.last);
                if at < window.count {
                    found.atomic_min(0, at);
                }
            }
        }
    }
}

/// Keys that a window may have: with those that threads try beyond its ends, as many as are counted in 32 bits.
pub const MOST: usize = u32::MAX as usize - 511;

/// What is known, and the keys among which the right one is sought.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The first key. Keys are numbers of nine bytes, the first byte the most significant; after the last of all comes 0.
    pub first: [u8; 9],
    /// How many keys there are to try.
    pub count: usize,
    /// A block of plain text.
    pub plain: [u32; 2],
    /// What it was encrypted to.
    pub cipher: [u32; 2],
}

impl Input {
    /// A window of so many keys somewhere, and what the key of number `planted` makes of a text's beginning. Where that is beyond the window, there is nothing to be found.
    pub fn new(seed: u64, count: usize, planted: u64) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut input = Input { first: [0; 9], count, plain: [0; 2], cipher: [0; 2] };
        random.fill(&mut input.first);
        // Blocks are chained: the first one is joined with a random one.
        input.plain = [b"The ", b"unkn"].map(|letters| u32::from_le_bytes(*letters) ^ random.u32(..));
        input.cipher = encrypt(&input.key(planted), input.plain);
        input
    }

    /// The key of this number in the window.
    pub fn key(&self, number: u64) -> [u8; 9] {
        let mut bytes = [0; 16];
        bytes[7..].copy_from_slice(&self.first);
        let sum = u128::from_be_bytes(bytes) + u128::from(number);
        bytes = sum.to_be_bytes();
        let mut key = [0; 9];
        key.copy_from_slice(&bytes[7..]);
        key
    }

    /// The number of the first key that fits.
    pub fn reference(&self) -> Option<usize> {
        (0..self.count).find(|number| encrypt(&self.key(*number as u64), self.plain) == self.cipher)
    }

    /// What one core does for a part of the keys: some at a time, since each step of one waits for the one before.
    pub fn one_core(&self, numbers: Range<usize>) -> Option<usize> {
        const LANES: usize = 4;
        for first in numbers.clone().step_by(LANES) {
            let bytes: [[u8; 9]; LANES] = std::array::from_fn(|lane| self.key((first + lane) as u64));
            let word = |from: usize| bytes.map(|key| u32::from_le_bytes([key[from], key[from + 1], key[from + 2], key[from + 3]]));
            let key = [word(0), word(4), bytes.map(|key| u32::from(key[8]))];
            let found = encrypt_lanes(key, self.plain);
            let fits = |lane: &usize| [found[0][*lane], found[1][*lane]] == self.cipher && first + lane < numbers.end;
            if let Some(lane) = (0..LANES).find(fits) {
                return Some(first + lane);
            }
        }
        None
    }
}

/// RC5-32/12 with a key of any length, as its author describes it.
pub fn encrypt(key: &[u8], plain: [u32; 2]) -> [u32; 2] {
    let mut words = vec![0u32; key.len().div_ceil(4).max(1)];
    for (i, byte) in key.iter().enumerate().rev() {
        words[i / 4] = (words[i / 4] << 8) + u32::from(*byte);
    }
    let mut expanded = vec![0xB7E1_5163u32];
    for i in 1..26 {
        expanded.push(expanded[i - 1].wrapping_add(0x9E37_79B9));
    }
    let (mut i, mut j, mut a, mut b) = (0, 0, 0u32, 0u32);
    for _ in 0..3 * words.len().max(26) {
        expanded[i] = expanded[i].wrapping_add(a.wrapping_add(b)).rotate_left(3);
        a = expanded[i];
        words[j] = words[j].wrapping_add(a.wrapping_add(b)).rotate_left(a.wrapping_add(b) % 32);
        b = words[j];
        (i, j) = ((i + 1) % 26, (j + 1) % words.len());
    }
    let (mut a, mut b) = (plain[0].wrapping_add(expanded[0]), plain[1].wrapping_add(expanded[1]));
    for pair in expanded[2..].chunks(2) {
        a = (a ^ b).rotate_left(b % 32).wrapping_add(pair[0]);
        b = (b ^ a).rotate_left(a % 32).wrapping_add(pair[1]);
    }
    [a, b]
}

/// The same with several keys of three words at once, side by side.
fn encrypt_lanes<const LANES: usize>(mut key: [[u32; LANES]; 3], plain: [u32; 2]) -> [[u32; LANES]; 2] {
    let mut table = [[0; LANES]; TABLE];
    let (mut a, mut b) = ([0u32; LANES], [0u32; LANES]);
    for step in 0..STEPS {
        let (i, j) = (step % TABLE, step % 3);
        for lane in 0..LANES {
            let before = if step < TABLE { FIRST.wrapping_add(NEXT.wrapping_mul(i as u32)) } else { table[i][lane] };
            a[lane] = before.wrapping_add(a[lane]).wrapping_add(b[lane]).rotate_left(3);
            table[i][lane] = a[lane];
            let turn = a[lane].wrapping_add(b[lane]);
            b[lane] = key[j][lane].wrapping_add(turn).rotate_left(turn);
            key[j][lane] = b[lane];
        }
    }
    let (mut a, mut b) = (table[0].map(|word| word.wrapping_add(plain[0])), table[1].map(|word| word.wrapping_add(plain[1])));
    for round in 1..=ROUNDS {
        for lane in 0..LANES {
            a[lane] = (a[lane] ^ b[lane]).rotate_left(b[lane]).wrapping_add(table[2 * round][lane]);
            b[lane] = (b[lane] ^ a[lane]).rotate_left(a[lane]).wrapping_add(table[2 * round + 1][lane]);
        }
    }
    [a, b]
}

/// [`search`] of any generics.
type Search = for<'a> fn(Window, usize, &'a mut Buffer<u32>) -> Launch<'a>;

/// An input on a device.
pub struct Resident {
    window: Window,
    found: Buffer<u32>,
}

impl Resident {
    /// Prepares a search. An `Err` where there are more than [`MOST`] keys.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        if input.count > MOST {
            return Err(Error::Input(format!("a window of {} keys: at most {MOST} are tried at once, so take several", input.count)));
        }
        let [a, b, c, d, e, f, g, h, last] = input.first;
        let head = [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])];
        let window = Window { head, last: last.into(), count: input.count as u32, plain: input.plain, cipher: input.cipher };
        Ok(Resident { window, found: device.upload(&[u32::MAX])? })
    }

    /// The plain kernel: one launch, none where there are no keys.
    pub fn run_direct(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        match self.window.count {
            0 => Ok(()),
            count => go(search_direct(self.window, &mut self.found).cover(count as usize)),
        }
    }

    /// One launch, none where there are no keys. What an earlier run found stays found.
    pub fn run<const KEYS: usize, const P: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        const { assert!(KEYS.is_power_of_two() && KEYS <= 256) };
        self.by_threads(search::<KEYS, P>, KEYS, go)
    }

    /// One launch of a kernel whose threads try so many keys each.
    fn by_threads(&mut self, kernel: Search, keys: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        match self.window.count as usize {
            0 => Ok(()),
            count => {
                let threads = (self.window.last as usize % keys + count).div_ceil(keys);
                go(kernel(self.window, threads, &mut self.found).cover(threads))
            }
        }
    }

    /// The number of the first key that fits, if one was found by now.
    pub fn result(&self) -> Result<Option<usize>> {
        let found = self.found.download()?[0];
        Ok((found != u32::MAX).then_some(found as usize))
    }

    /// What is sought, for others that do the same work.
    pub fn window(&self) -> Window {
        self.window
    }
}

/// The declared variants of [`search`].
pub fn declared() -> Vec<Declared<Resident>> {
    let run = |r: &mut Resident, variant: &Variant<Search>, go: &mut Go<'_>| r.by_threads(variant.kernel(), axis(variant, "KEYS"), go);
    Declared::each(search_variants(), |_| (), run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, plain text and cipher text as their author published them for RC5-32/12/16, byte by byte.
    const PUBLISHED: [(u128, [u32; 2]); 5] = [
        (0x00000000000000000000000000000000, [0xEEDBA521, 0x6D8F4B15]),
        (0x915F4619BE41B2516355A50110A9CE91, [0xAC13C0F7, 0x52892B5B]),
        (0x783348E75AEB0F2FD7B169BB8DC16787, [0xB7B3422F, 0x92FC6903]),
        (0xDC49DB1375A5584F6485B413B5F12BAF, [0xB278C165, 0xCC97D184]),
        (0x5269F149D41BA0152497574D7F153125, [0x15E444EB, 0x249831DA]),
    ];

    /// Each encrypts what the one before made, the first two words of zeros.
    fn published() -> impl Iterator<Item = ([u8; 16], [u32; 2], [u32; 2])> {
        let plain = [[0; 2]].into_iter().chain(PUBLISHED.map(|(_, cipher)| cipher));
        PUBLISHED.into_iter().zip(plain).map(|((key, cipher), plain)| (key.to_be_bytes(), plain, cipher))
    }

    fn words(key: [u8; 16]) -> [u32; 4] {
        [0, 4, 8, 12].map(|at| u32::from_le_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]]))
    }

    #[test]
    fn published_vectors_are_reproduced_by_all() {
        let device = Device::simulator();
        for (key, plain, cipher) in published() {
            assert_eq!(encrypt(&key, plain), cipher, "the reference, {key:02X?}");
            assert_eq!(encrypted::<false>(schedule::<4, false>(words(key)), plain), cipher, "loops, {key:02X?}");
            assert_eq!(encrypted::<true>(schedule::<4, true>(words(key)), plain), cipher, "written out, {key:02X?}");
        }
        let keys: Vec<[u32; 4]> = published().map(|(key, ..)| words(key)).collect();
        let keys = device.upload(&keys).expect("keys");
        let mut blocks = device.upload(&published().map(|(_, plain, _)| plain).collect::<Vec<_>>()).expect("blocks");
        encrypt_all::<4, true>(&keys, &mut blocks).cover(5).launch(&device).expect("it runs");
        assert_eq!(blocks.download().expect("blocks"), PUBLISHED.map(|(_, cipher)| cipher));
    }

    /// Every declared variant of `encrypt_all` for keys of so many words, on keys that fit no block.
    fn every_encryption_is_right<const WORDS: usize>(device: &Device) {
        let mut random = fastrand::Rng::with_seed(WORDS as u64);
        let keys: Vec<[u32; WORDS]> = (0..70).map(|_| [0; WORDS].map(|_| random.u32(..))).collect();
        let plain: Vec<[u32; 2]> = (0..70).map(|_| [random.u32(..), random.u32(..)]).collect();
        let bytes = |key: &[u32; WORDS]| key.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let expected: Vec<[u32; 2]> = keys.iter().zip(&plain).map(|(key, plain)| encrypt(&bytes(key), *plain)).collect();
        let keys = device.upload(&keys).expect("keys");
        assert!(!encrypt_all_variants::<WORDS>().is_empty());
        for variant in encrypt_all_variants::<WORDS>() {
            let mut blocks = device.upload(&plain).expect("blocks");
            variant.kernel()(&keys, &mut blocks).cover(70).launch(device).expect("it runs");
            assert_eq!(blocks.download().expect("blocks"), expected, "{device}, {variant:?}");
        }
    }

    #[test]
    fn every_declared_variant_is_right_on_keys_that_fit_no_thread() {
        // The window begins within a thread's keys, and ends within another's.
        let mut input = Input { first: [9; 9], count: 70, plain: [3, 4], cipher: [0; 2] };
        input.cipher = encrypt(&input.key(66), input.plain);
        assert_eq!(input.reference(), Some(66));
        for device in crate::apps::devices() {
            every_encryption_is_right::<3>(&device);
            every_encryption_is_right::<4>(&device);
            for declared in declared() {
                let mut resident = Resident::new(&device, &input).expect("an input");
                let run = declared.run(&mut resident, &mut |launch| launch.launch(&device));
                run.unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
                assert_eq!(resident.result(), Ok(Some(66)), "{declared} on {device}");
            }
        }
    }

    type Run = fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()>;

    /// What these and one core find on the simulator, which must be the same.
    fn found_by(input: &Input, runs: &[Run]) -> Result<Option<usize>> {
        let device = Device::simulator();
        let core = input.one_core(0..input.count);
        for run in runs {
            let mut resident = Resident::new(&device, input)?;
            run(&mut resident, &mut |launch| launch.launch(&device))?;
            assert_eq!(resident.result(), Ok(core), "{input:?}");
        }
        Ok(core)
    }

    fn found(input: &Input) -> Result<Option<usize>> {
        found_by(input, &[Resident::run_direct, Resident::run::<32, 2>])
    }

    #[test]
    fn a_planted_key_is_found_wherever_it_is() {
        for (seed, count, planted) in [(1, 1, 0), (2, 50, 0), (3, 65, 64), (4, 33, 10)] {
            let input = Input::new(seed, count, planted);
            assert_eq!(found(&input), Ok(Some(planted as usize)), "{input:?}");
            assert_eq!(input.reference(), Some(planted as usize), "{input:?}");
        }
    }

    #[test]
    fn a_thread_may_try_all_last_bytes() {
        let input = Input::new(8, 30, 20);
        assert_eq!(found_by(&input, &[Resident::run::<256, 1>]), Ok(Some(20)));
    }

    #[test]
    fn keys_beyond_the_window_are_not_found() {
        // One before it, which threads with several keys try, one behind it, and no window at all.
        let mut input = Input::new(5, 40, 40);
        input.first[8] = 17;
        input.cipher = encrypt(&input.key(40), input.plain);
        assert_eq!(found(&input), Ok(None));
        let mut before = input.first;
        before[8] = 16;
        input.cipher = encrypt(&before, input.plain);
        assert_eq!(found(&input), Ok(None));
        assert_eq!(found(&Input::new(6, 0, 0)), Ok(None));
    }

    #[test]
    fn windows_may_carry_into_every_byte() {
        for first in [[1, 2, 3, 4, 255, 255, 255, 255, 250], [255; 9]] {
            let mut input = Input { first, count: 60, plain: [7, 8], cipher: [0; 2] };
            let next = if first[0] == 1 { [1, 2, 3, 5, 0, 0, 0, 0, 0] } else { [0; 9] };
            let number = 256 - usize::from(first[8]);
            assert_eq!(input.key(number as u64), next);
            input.cipher = encrypt(&next, input.plain);
            assert_eq!(found(&input), Ok(Some(number)));
        }
    }

    #[test]
    fn of_two_keys_that_fit_the_first_counts() {
        let device = Device::simulator();
        let input = Input::new(9, 150, 130);
        let mut resident = Resident::new(&device, &input).expect("an input");
        resident.found.write(&[400]).expect("what another thread found");
        resident.run::<32, 1>(&mut |launch| launch.launch(&device)).expect("it runs");
        assert_eq!(resident.result(), Ok(Some(130)));
    }

    #[test]
    fn windows_that_are_too_long_are_refused() {
        let input = Input::new(1, MOST + 1, 0);
        let error = Resident::new(&Device::simulator(), &input).err().expect("it is refused").to_string();
        assert_eq!(error, "a window of 4294966785 keys: at most 4294966784 are tried at once, so take several");
    }
}
