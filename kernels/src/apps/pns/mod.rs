//! PNS: simulation of a stochastic Petri net, a net to a thread. Dining philosophers in a ring: each step of a net fires one of its enabled transitions, chosen at
//! random, and what counts in the end is how tokens are spread over very many nets.
//!
//! Philosopher i of n thinks, takes a seat and the fork on the left (fork i), then that on the right (fork i + 1), eats, and gives back all three. That is four places each
//! (thinking, holding one fork, eating, the fork itself) and three transitions, a place with the free seats, and one that counts all meals. If everyone holds the left fork,
//! nothing is enabled: such a net is stuck, it stays as it is, and it is counted. With fewer seats than philosophers none ever is.
//!
//! Random numbers are those of MT19937 (Matsumoto and Nishimura, "Mersenne Twister", 1998), seeded by `init_genrand` with a number of each net's own. Its state is 624 words a
//! net, 2,496 bytes, in global memory. A number costs 12 bytes of loads, 4 of a store and some 25 operations. With the marking in global
//! memory a step reads up to five tokens a philosopher, too, 160 bytes for eight, and changes up to six. The document gives 24.0 times one core, 32 registers, the capacity of
//! global memory as the bottleneck: so many nets fit, and no more.
//!
//! What the forms are for:
//!
//! * [`simulate`]: the marking in global memory. With `INTERLEAVED` false each net's numbers lie next to each other, as one writes it first, and each access of
//!   a warp meets 32 sectors; with true the k-th numbers of all nets do, and it meets four, where the place is the same for all.
//! * [`simulate_in_registers`]: but for seats and meals a place holds one token at most, so the marking of a ring is four masks and two numbers, and what is enabled follows for all philosophers
//!   at once. `AHEAD` random numbers are drawn at a time, for which the words of the state are read at once, each but once.

mod reference;
#[cfg(test)]
mod tests;

use super::declared::axis;
use super::{Declared, Error, Go, Result};
use warpwright::Variant;
use warpwright::prelude::*;

/// Words of a generator's state.
pub const WORDS: usize = 624;

/// How far on the word is that a new one takes in.
const MIDDLE: usize = 397;

/// Places of a ring of `n`: thinking, holding, eating and forks, `n` each, then free seats, then meals.
pub const fn places(n: usize) -> usize {
    4 * n + 2
}

/// Where the k-th of a net's `length` numbers is: among the k-th of all nets, or among the net's.
#[device]
fn at<const INTERLEAVED: bool>(length: usize, nets: usize, k: usize, net: usize) -> usize {
    if INTERLEAVED { k * nets + net } else { net * length + k }
}

/// Word k of a new state, from the one before.
#[device]
fn seeded(before: u32, k: u32) -> u32 {
    1_812_433_253u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(k)
}

/// The word that takes the place of `word`.
#[device]
fn twisted(word: u32, following: u32, middle: u32) -> u32 {
    let mixed = (word & 0x8000_0000) | (following & 0x7fff_ffff);
    let flip = if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
    middle ^ (mixed >> 1) ^ flip
}

/// The random number that a word gives.
#[device]
fn tempered(word: u32) -> u32 {
    let a = word ^ (word >> 11);
    let b = a ^ ((a << 7) & 0x9d2c_5680);
    let c = b ^ ((b << 15) & 0xefc6_0000);
    c ^ (c >> 18)
}

/// `k` of the ring of words; `k` is less than twice their number.
#[device]
fn wrapped(k: usize) -> usize {
    if k < WORDS { k } else { k - WORDS }
}

/// A net's next random number, which renews word k.
#[device]
fn drawn<const INTERLEAVED: bool>(nets: usize, net: usize, k: usize, state: &mut Global<u32>) -> u32 {
    let here = at::<INTERLEAVED>(WORDS, nets, k, net);
    let following = state[at::<INTERLEAVED>(WORDS, nets, wrapped(k + 1), net)];
    let middle = state[at::<INTERLEAVED>(WORDS, nets, wrapped(k + MIDDLE), net)];
    let word = twisted(state[here], following, middle);
    state[here] = word;
    tempered(word)
}

/// Seeds every net's generator, with `seed` and its number added.
// The form that keeps a net's numbers next to each other meets 32 sectors: the document's reason for the other one.
#[kernel(block = B, allow(uncoalesced_access), variants(B in [128], INTERLEAVED in [false, true]))]
pub fn seed_nets<const B: usize, const INTERLEAVED: bool>(nets: usize, seed: u32, state: &mut Global<u32>) {
    let net = global_id().x;
    if net < nets {
        let mut word = seed.wrapping_add(net as u32);
        state[at::<INTERLEAVED>(WORDS, nets, 0, net)] = word;
        for k in 1..WORDS {
            word = seeded(word, k as u32);
            state[at::<INTERLEAVED>(WORDS, nets, k, net)] = word;
        }
    }
}

/// The first `count` random numbers of each net: number i of all nets, then i + 1. For looks at the generator itself.
#[kernel(block = 128)]
pub fn draw(nets: usize, count: usize, state: &mut Global<u32>, out: &mut Global<u32>) {
    let net = global_id().x;
    if net < nets {
        let mut k = 0;
        for i in 0..count {
            out[i * nets + net] = drawn::<true>(nets, net, k, state);
            k = wrapped(k + 1);
        }
    }
}

/// Fires `steps` transitions of each net of rings of `N` philosophers, who all think at first, on up to `seats` seats. `tokens` has the places of each net, `fired` how many transitions fired.
// The form that keeps a net's places next to each other meets 32 sectors, as above.
#[kernel(block = B, allow(uncoalesced_access), variants(N in [8], B in [64, 128, 256], INTERLEAVED in [false, true]))]
pub fn simulate<const N: usize, const B: usize, const INTERLEAVED: bool>(
    nets: usize,
    steps: usize,
    seats: u32,
    state: &mut Global<u32>,
    tokens: &mut Global<u32>,
    fired: &mut Global<u32>,
) {
    let net = global_id().x;
    if net < nets {
        let length = 4 * N + 2;
        let (free, meals) = (at::<INTERLEAVED>(length, nets, 4 * N, net), at::<INTERLEAVED>(length, nets, 4 * N + 1, net));
        for place in 0..length {
            let full = place < N || (place >= 3 * N && place < 4 * N);
            tokens[at::<INTERLEAVED>(length, nets, place, net)] = full as u32;
        }
        tokens[free] = seats;
        let mut k = 0;
        let mut step = 0;
        while step < steps {
            let mut enabled = 0u32;
            let seat = tokens[free] > 0;
            for i in 0..N {
                let right = if i + 1 < N { i + 1 } else { 0 };
                let fork = tokens[at::<INTERLEAVED>(length, nets, 3 * N + i, net)] > 0;
                let other = tokens[at::<INTERLEAVED>(length, nets, 3 * N + right, net)] > 0;
                let takes = seat && fork && tokens[at::<INTERLEAVED>(length, nets, i, net)] > 0;
                let begins = other && tokens[at::<INTERLEAVED>(length, nets, N + i, net)] > 0;
                let ends = tokens[at::<INTERLEAVED>(length, nets, 2 * N + i, net)] > 0;
                enabled |= ((takes as u32) << i as u32) | ((begins as u32) << (N + i) as u32) | ((ends as u32) << (2 * N + i) as u32);
            }
            if enabled == 0 {
                break;
            }
            // One of those that are enabled, each as probable: the enabled ones below it are struck out.
            let mut below = drawn::<INTERLEAVED>(nets, net, k, state).mul_hi(enabled.count_ones());
            while below > 0 {
                enabled &= enabled - 1;
                below -= 1;
            }
            let transition = enabled.trailing_zeros() as usize;
            let i = transition % N;
            let right = if i + 1 < N { i + 1 } else { 0 };
            let thinking = at::<INTERLEAVED>(length, nets, i, net);
            let holding = at::<INTERLEAVED>(length, nets, N + i, net);
            let eating = at::<INTERLEAVED>(length, nets, 2 * N + i, net);
            let fork = at::<INTERLEAVED>(length, nets, 3 * N + i, net);
            let other = at::<INTERLEAVED>(length, nets, 3 * N + right, net);
            if transition < N {
                tokens[free] -= 1;
                tokens[thinking] -= 1;
                tokens[fork] -= 1;
                tokens[holding] += 1;
            } else if transition < 2 * N {
                tokens[holding] -= 1;
                tokens[other] -= 1;
                tokens[eating] += 1;
            } else {
                tokens[eating] -= 1;
                tokens[free] += 1;
                tokens[thinking] += 1;
                tokens[fork] += 1;
                tokens[other] += 1;
                tokens[meals] += 1;
            }
            k = wrapped(k + 1);
            step += 1;
        }
        fired[net] = step as u32;
    }
}

/// What one ring does, as masks of philosophers.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Marking {
    thinking: u32,
    holding: u32,
    eating: u32,
    forks: u32,
    seats: u32,
    meals: u32,
    fired: u32,
}

/// The ring after a transition that the random number chooses; as it was where none is enabled.
#[device]
fn after<const N: usize>(m: Marking, random: u32) -> Marking {
    let all = (1u32 << N as u32) - 1;
    // Bit i: the fork on the right of philosopher i.
    let others = (m.forks >> 1) | ((m.forks & 1) << (N - 1) as u32);
    let seated = if m.seats > 0 { m.thinking & m.forks } else { 0 };
    let enabled = seated | ((m.holding & others) << N as u32) | (m.eating << (2 * N) as u32);
    // The place of the set bit with so many below it, by halves.
    let mut below = random.mul_hi(enabled.count_ones());
    let mut transition = 0u32;
    #[unroll]
    for halving in 0..5u32 {
        let width = 16u32 >> halving;
        let low = ((enabled >> transition) & ((1u32 << width) - 1)).count_ones();
        let beyond = below >= low;
        below = if beyond { below - low } else { below };
        transition = if beyond { transition + width } else { transition };
    }
    let bit = if enabled == 0 { 0 } else { 1u32 << transition };
    let (takes, begins, ends) = (bit & all, (bit >> N as u32) & all, bit >> (2 * N) as u32);
    let right = ((begins | ends) << 1) & all | ((begins | ends) >> (N - 1) as u32);
    Marking {
        thinking: m.thinking ^ takes ^ ends,
        holding: m.holding ^ takes ^ begins,
        eating: m.eating ^ begins ^ ends,
        forks: m.forks ^ takes ^ ends ^ right,
        seats: m.seats + (ends != 0) as u32 - (takes != 0) as u32,
        meals: m.meals + (ends != 0) as u32,
        fired: m.fired + (bit != 0) as u32,
    }
}

/// As [`simulate`] with `INTERLEAVED`, with the marking in registers until the end, and `AHEAD` random numbers at a time.
#[kernel(block = B, variants(N in [8], B in [64, 128, 256], AHEAD in [1, 4, 8]))]
pub fn simulate_in_registers<const N: usize, const B: usize, const AHEAD: usize>(
    nets: usize,
    steps: usize,
    seats: u32,
    state: &mut Global<u32>,
    tokens: &mut Global<u32>,
    fired: &mut Global<u32>,
) {
    let net = global_id().x;
    if net < nets {
        let all = (1u32 << N as u32) - 1;
        let mut m = Marking { thinking: all, holding: 0, eating: 0, forks: all, seats, meals: 0, fired: 0 };
        let mut k = 0;
        let mut step = 0;
        let mut first = state[net];
        while step + AHEAD <= steps {
            // Words k to k + AHEAD, and those that they take in, before any is renewed: none of these is among those.
            let mut words = [0u32; AHEAD];
            let mut middles = [0u32; AHEAD];
            #[unroll]
            for j in 0..AHEAD {
                words[j] = state[wrapped(k + j + 1) * nets + net];
                middles[j] = state[wrapped(k + j + MIDDLE) * nets + net];
            }
            #[unroll]
            for j in 0..AHEAD {
                let word = twisted(first, words[j], middles[j]);
                state[wrapped(k + j) * nets + net] = word;
                first = words[j];
                m = after::<N>(m, tempered(word));
            }
            k = wrapped(k + AHEAD);
            step += AHEAD;
            if m.fired < step as u32 {
                break; // It is stuck: nothing will change any more.
            }
        }
        while step < steps {
            m = after::<N>(m, drawn::<true>(nets, net, k, state));
            k = wrapped(k + 1);
            step += 1;
            if m.fired < step as u32 {
                break;
            }
        }
        #[unroll]
        for i in 0..N {
            tokens[i * nets + net] = (m.thinking >> i as u32) & 1;
            tokens[(N + i) * nets + net] = (m.holding >> i as u32) & 1;
            tokens[(2 * N + i) * nets + net] = (m.eating >> i as u32) & 1;
            tokens[(3 * N + i) * nets + net] = (m.forks >> i as u32) & 1;
        }
        tokens[4 * N * nets + net] = m.seats;
        tokens[(4 * N + 1) * nets + net] = m.meals;
        fired[net] = m.fired;
    }
}

/// Sums over all nets, a block to a place: its tokens, and their squares. The block behind the last place counts the nets that fired less than `steps`.
// Allowed for the form with `INTERLEAVED` false, as above.
#[kernel(block = B, allow(uncoalesced_access), variants(B in [64, 256], INTERLEAVED in [false, true]))]
pub fn count<const B: usize, const INTERLEAVED: bool>(
    nets: usize,
    steps: usize,
    tokens: &Global<u32>,
    fired: &Global<u32>,
    sums: &mut Global<u64>,
    squares: &mut Global<u64>,
) {
    let place = block_idx().x;
    let length = grid_dim().x - 1;
    let (mut sum, mut square) = (0u64, 0u64);
    // There are fewer blocks than multiprocessors, so a thread's loads have nobody else to wait with.
    #[ilp(8)]
    for net in (thread_idx().x..nets).step_by(B) {
        let found =
            if place < length { tokens[at::<INTERLEAVED>(length, nets, place, net)] } else { ((fired[net] as usize) < steps) as u32 };
        sum += found as u64;
        square += found as u64 * found as u64;
    }
    let (sum, square) = (block_sum(sum), block_sum(square));
    if thread_idx().x == 0 {
        sums[place] = sum;
        squares[place] = square;
    }
}

/// Rings of `N` philosophers, 1 to 10.
#[derive(Debug, Clone, PartialEq)]
pub struct Input<const N: usize> {
    /// How many nets there are.
    pub nets: usize,
    /// Transitions that each net fires, unless it gets stuck.
    pub steps: usize,
    /// Seats at each table. Where there are as many as philosophers, nets get stuck; where there are none, at once.
    pub seats: u32,
    /// The seed of the first net's random numbers; that of the next is one more.
    pub seed: u32,
}

impl<const N: usize> Input<N> {
    /// Tables with a seat less than philosophers, the seed drawn.
    pub fn new(seed: u64, nets: usize, steps: usize) -> Input<N> {
        Input { nets, steps, seats: (N as u32).saturating_sub(1), seed: fastrand::Rng::with_seed(seed).u32(..) }
    }

    /// An `Err` where a ring is too large or has none, or where there is more than is counted by 32 bits.
    fn check(&self) -> Result<()> {
        let wrong = |why: String| Err(Error::Input(why));
        if !(1..=10).contains(&N) {
            return wrong(format!("rings of {N} philosophers: there must be 1 to 10, whose transitions have a bit each in 32"));
        }
        let most = u32::MAX as usize;
        if self.steps > most - 16 {
            return wrong(format!("{} steps: there may be {}", self.steps, most - 16));
        }
        if self.nets > most / WORDS {
            return wrong(format!("{} nets: there may be {}, whose {WORDS} words each have numbers of 32 bits", self.nets, most / WORDS));
        }
        if self.seats > 1 << 16 {
            return wrong(format!("{} seats: there may be {}", self.seats, 1 << 16));
        }
        Ok(())
    }
}

/// What is known of all nets at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    /// How many nets there are.
    pub nets: usize,
    /// The tokens of each [place](places), over all nets.
    pub sums: Vec<u64>,
    /// Their squares.
    pub squares: Vec<u64>,
    /// Nets that got stuck before their last step.
    pub stuck: u64,
}

impl Statistics {
    /// A place's mean over the nets; NaN if there are none.
    pub fn mean(&self, place: usize) -> f64 {
        self.sums[place] as f64 / self.nets as f64
    }

    /// A place's variance over the nets; NaN if there are none.
    pub fn variance(&self, place: usize) -> f64 {
        self.squares[place] as f64 / self.nets as f64 - self.mean(place).powi(2)
    }
}

/// A variant of [`seed_nets`].
type Seed = for<'l> fn(usize, u32, &'l mut Buffer<u32>) -> Launch<'l>;

/// A variant of [`simulate`] or of [`simulate_in_registers`].
type Simulate = for<'l> fn(usize, usize, u32, &'l mut Buffer<u32>, &'l mut Buffer<u32>, &'l mut Buffer<u32>) -> Launch<'l>;

/// A variant of [`count`].
type Count = for<'l> fn(usize, usize, &'l Buffer<u32>, &'l Buffer<u32>, &'l mut Buffer<u64>, &'l mut Buffer<u64>) -> Launch<'l>;

/// Nets on a device.
pub struct Resident<const N: usize> {
    input: Input<N>,
    state: Buffer<u32>,
    tokens: Buffer<u32>,
    fired: Buffer<u32>,
    sums: Buffer<u64>,
    squares: Buffer<u64>,
}

impl<const N: usize> Resident<N> {
    /// Makes room for the nets. An `Err` where `N` is not 1 to 10, and where there are too many.
    pub fn new(device: &Device, input: &Input<N>) -> Result<Resident<N>> {
        input.check()?;
        Ok(Resident {
            input: input.clone(),
            state: device.zeros(WORDS * input.nets)?,
            tokens: device.zeros(places(N) * input.nets)?,
            fired: device.zeros(input.nets)?,
            sums: device.zeros(places(N) + 1)?,
            squares: device.zeros(places(N) + 1)?,
        })
    }

    /// Seeds, simulates with [`simulate`], and counts: three launches, none where there are no nets. Every run begins anew, here and below.
    pub fn run<const B: usize, const INTERLEAVED: bool>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_of((seed_nets::<128, INTERLEAVED>, simulate::<N, B, INTERLEAVED>, self.counting::<INTERLEAVED>()), go)
    }

    /// The same with [`simulate_in_registers`].
    pub fn run_in_registers<const B: usize, const AHEAD: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.run_of((seed_nets::<128, true>, simulate_in_registers::<N, B, AHEAD>, self.counting::<true>()), go)
    }

    /// Few nets leave most threads of a large block without work.
    fn counting<const INTERLEAVED: bool>(&self) -> Count {
        if self.input.nets < 1_024 { count::<64, INTERLEAVED> } else { count::<256, INTERLEAVED> }
    }

    fn run_of(&mut self, (seed_nets, simulate, count): (Seed, Simulate, Count), go: &mut Go<'_>) -> warpwright::Result<()> {
        let Input { nets, steps, seats, seed } = self.input;
        if nets == 0 {
            return Ok(());
        }
        go(seed_nets(nets, seed, &mut self.state).cover(nets))?;
        go(simulate(nets, steps, seats, &mut self.state, &mut self.tokens, &mut self.fired).cover(nets))?;
        go(count(nets, steps, &self.tokens, &self.fired, &mut self.sums, &mut self.squares).grid(places(N) + 1))
    }

    /// What the last run counted.
    pub fn result(&self) -> Result<Statistics> {
        let (mut sums, mut squares) = (self.sums.download()?, self.squares.download()?);
        squares.truncate(places(N));
        let stuck = sums.pop().unwrap_or(0);
        Ok(Statistics { nets: self.input.nets, sums, squares, stuck })
    }

    /// How many transitions each net fired in the last run.
    pub fn fired(&self) -> Result<Vec<u32>> {
        Ok(self.fired.download()?)
    }
}

/// The declared variants, nets of 8 philosophers: each of [`simulate`] and [`simulate_in_registers`] with one of [`seed_nets`] and of [`count`] that has numbers lie as it
/// has them, until all of those are there, too.
pub fn declared() -> Vec<Declared<Resident<8>>> {
    let mut all = Vec::new();
    for interleaved in [false, true] {
        let (mut seeding, mut counting) = (Vec::from(&*seed_nets_variants()), Vec::from(&*count_variants()));
        seeding.retain(|variant| variant.bool("INTERLEAVED") == Some(interleaved));
        counting.retain(|variant| variant.bool("INTERLEAVED") == Some(interleaved));
        let mut simulating: Vec<Variant<Simulate>> = Vec::from(&*simulate_variants());
        simulating.retain(|variant| variant.bool("INTERLEAVED") == Some(interleaved));
        if interleaved {
            simulating.extend(simulate_in_registers_variants());
        }
        for k in 0..seeding.len().max(simulating.len()).max(counting.len()) {
            // Kernels with fewer variants go on with their first.
            let seed = seeding.get(k).unwrap_or(&seeding[0]);
            let simulate = simulating.get(k).unwrap_or(&simulating[0]);
            let count = counting.get(k).unwrap_or(&counting[0]);
            assert_eq!(axis(simulate, "N"), 8, "{simulate:?} is no run of nets of 8");
            let kernels = (seed.kernel(), simulate.kernel(), count.kernel());
            all.push(Declared::new((seed, simulate, count), (), move |r: &mut Resident<8>, go| r.run_of(kernels, go)));
        }
    }
    all
}
