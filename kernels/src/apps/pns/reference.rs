//! What the kernels are compared with: the published generator in blocks of 624, a Petri net as lists of arcs; and the ring as one core runs it.

use super::{Input, Statistics, WORDS, places};
use std::ops::Range;

/// MT19937 as it was published: all words are renewed at once when they are used up.
pub(super) struct Generator {
    words: [u32; WORDS],
    used: usize,
}

impl Generator {
    pub(super) fn new(seed: u32) -> Generator {
        let mut words = [seed; WORDS];
        for i in 1..WORDS {
            let before = u64::from(words[i - 1] ^ (words[i - 1] >> 30));
            words[i] = ((1_812_433_253 * before + i as u64) & 0xffff_ffff) as u32;
        }
        Generator { words, used: WORDS }
    }

    fn renew(&mut self) {
        for i in 0..WORDS {
            let y = (self.words[i] & (1 << 31)) + (self.words[(i + 1) % WORDS] & ((1 << 31) - 1));
            self.words[i] = self.words[(i + 397) % WORDS] ^ (y / 2) ^ ((y % 2) * 0x9908_b0df);
        }
        self.used = 0;
    }

    pub(super) fn next(&mut self) -> u32 {
        if self.used == WORDS {
            self.renew();
        }
        let mut y = self.words[self.used];
        self.used += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 2_636_928_640;
        y ^= (y << 15) & 4_022_730_752;
        y ^ (y >> 18)
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        ((u64::from(self.next()) * n as u64) >> 32) as usize
    }
}

/// A transition: the places that it takes a token from, and those that it gives one to.
struct Transition {
    takes: Vec<usize>,
    gives: Vec<usize>,
}

/// The net's transitions, in the order in which they are chosen from.
fn transitions(n: usize) -> Vec<Transition> {
    let right = |i: usize| 3 * n + (i + 1) % n;
    let (seats, meals) = (4 * n, 4 * n + 1);
    let left_fork = (0..n).map(|i| Transition { takes: vec![i, 3 * n + i, seats], gives: vec![n + i] });
    let right_fork = (0..n).map(|i| Transition { takes: vec![n + i, right(i)], gives: vec![2 * n + i] });
    let back = (0..n).map(|i| Transition { takes: vec![2 * n + i], gives: vec![i, 3 * n + i, right(i), seats, meals] });
    left_fork.chain(right_fork).chain(back).collect()
}

impl<const N: usize> Input<N> {
    /// How many transitions each net fires, and what is counted in the end.
    pub fn reference(&self) -> (Vec<u32>, Statistics) {
        let net = transitions(N);
        let mut counted = Statistics { nets: self.nets, sums: vec![0; places(N)], squares: vec![0; places(N)], stuck: 0 };
        let fires = |number: usize| {
            let mut generator = Generator::new(self.seed.wrapping_add(number as u32));
            let mut tokens = vec![0u64; places(N)];
            tokens[..N].fill(1);
            tokens[3 * N..4 * N].fill(1);
            tokens[4 * N] = u64::from(self.seats);
            let mut fired = 0;
            while fired < self.steps {
                let enabled: Vec<&Transition> = net.iter().filter(|t| t.takes.iter().all(|place| tokens[*place] > 0)).collect();
                if enabled.is_empty() {
                    break;
                }
                let chosen = enabled[generator.below(enabled.len())];
                chosen.takes.iter().for_each(|place| tokens[*place] -= 1);
                chosen.gives.iter().for_each(|place| tokens[*place] += 1);
                fired += 1;
            }
            for (place, tokens) in tokens.iter().enumerate() {
                counted.sums[place] += tokens;
                counted.squares[place] += tokens * tokens;
            }
            counted.stuck += u64::from(fired < self.steps);
            fired as u32
        };
        let fired = (0..self.nets).map(fires).collect();
        (fired, counted)
    }

    /// Some of the nets, by one core, the marking in masks: what is counted of them.
    pub fn one_core(&self, nets: Range<usize>) -> Statistics {
        let mut counted = Statistics { nets: nets.len(), sums: vec![0; places(N)], squares: vec![0; places(N)], stuck: 0 };
        let all = (1u32 << N) - 1;
        for number in nets {
            let mut generator = Generator::new(self.seed.wrapping_add(number as u32));
            let (mut thinking, mut holding, mut eating, mut forks) = (all, 0u32, 0u32, all);
            let (mut seats, mut meals, mut fired) = (self.seats, 0u32, 0);
            while fired < self.steps {
                let others = forks >> 1 | (forks & 1) << (N - 1);
                let begin = if seats > 0 { thinking & forks } else { 0 };
                let mut enabled = begin | (holding & others) << N | eating << (2 * N);
                if enabled == 0 {
                    break;
                }
                for _ in 0..generator.below(enabled.count_ones() as usize) {
                    enabled &= enabled - 1;
                }
                let chosen = enabled.trailing_zeros() as usize;
                let left = 1 << (chosen % N);
                let right = 1 << ((chosen + 1) % N);
                match chosen / N {
                    0 => {
                        (thinking, forks, holding) = (thinking & !left, forks & !left, holding | left);
                        seats -= 1;
                    }
                    1 => (holding, forks, eating) = (holding & !left, forks & !right, eating | left),
                    _ => {
                        (eating, thinking, forks) = (eating & !left, thinking | left, forks | left | right);
                        seats += 1;
                        meals += 1;
                    }
                }
                fired += 1;
            }
            for (kind, mask) in [thinking, holding, eating, forks].into_iter().enumerate() {
                for i in 0..N {
                    let token = u64::from(mask >> i & 1);
                    counted.sums[kind * N + i] += token;
                    counted.squares[kind * N + i] += token;
                }
            }
            for (place, tokens) in [(4 * N, u64::from(seats)), (4 * N + 1, u64::from(meals))] {
                counted.sums[place] += tokens;
                counted.squares[place] += tokens * tokens;
            }
            counted.stuck += u64::from(fired < self.steps);
        }
        counted
    }
}
