//! Motion estimation as in an H.264 encoder: for each macroblock of 16 × 16 pixels, the place in the previous frame that looks most like it, by the
//! sum of absolute differences (SAD) over all displacements of a window. An encoder may also predict parts of a macroblock by themselves, so the best
//! displacement is found for each of the 41 blocks that it can be cut into: the SADs of the sixteen 4 × 4 blocks are computed, those of the greater
//! ones (8 × 4, 4 × 8, 8 × 8, 16 × 8, 8 × 16, 16 × 16) are sums of these.
//!
//! With a window of ± 16 a macroblock has 33 × 33 displacements of 256 differences each, 279 thousand, for 256 bytes of the frame and 2,304 of the other:
//! all is arithmetic on bytes that lie near. The document gives 20.2 times one core, 30 registers; bottleneck registers, and the cache's latency, as its
//! kernel reads the frames through a texture.
//!
//! * [`sad_global`] is the loop as one writes it first: bytes from global memory, coordinates clamped one by one.
//! * [`sad_shared`] keeps macroblock and window in shared memory, four pixels a word, and takes the distances of four pixels by one instruction. A thread
//!   has four neighbouring displacements at a time, which share five words of a row; shifts make the other places of them. Rows of the window are an odd
//!   number of words, and neighbouring threads have neighbouring rows, so that they meet in no bank.
//! * [`sad_texture`] is what the document's kernel does: both frames are textures, whose units clamp the coordinates and cache the window. Otherwise it works
//!   like the form before.
//!
//! **Borders.** A pixel beyond the border is that of the border next to it, in both frames. Frames of any size from 1 × 1 on are right: the last macroblocks
//! of a row or column that is no multiple of 16 are filled up in this way.
//!
//! **Ties.** Of equal SADs the first displacement counts, row by row from the upper left.

use super::{Declared, Error, Go, Result};
use warpwright::Sampling;
use warpwright::prelude::*;
use warpwright::warp::shuffle_xor;

/// Side of a macroblock.
pub const SIDE: usize = 16;
/// Blocks that a macroblock is cut into, from 16 of 4 × 4 to one of 16 × 16. [`block_of`] says which is which.
pub const BLOCKS: usize = 41;
/// The block that is the whole macroblock.
pub const WHOLE: usize = 40;

/// The greatest displacement that [`sad_shared`] has room for.
pub const MOST: usize = 16;
/// Words of a row of its window: those of the macroblock, of the displacements to both sides, and one that the last four displacements reach into. Odd.
const WIDE: usize = (SIDE + 2 * MOST) / 4 + 1;
/// Rows of its window.
const HIGH: usize = SIDE + 2 * MOST;

/// Column, row, width and height in pixels of block `p` in its macroblock: first the 4 × 4 blocks row by row, then those of 8 × 4 (width × height),
/// 4 × 8, 8 × 8, 16 × 8, 8 × 16, 16 × 16.
pub const fn block_of(p: usize) -> [usize; 4] {
    match p {
        0..16 => [p % 4 * 4, p / 4 * 4, 4, 4],
        16..24 => [(p - 16) % 2 * 8, (p - 16) / 2 * 4, 8, 4],
        24..32 => [(p - 24) % 4 * 4, (p - 24) / 4 * 8, 4, 8],
        32..36 => [(p - 32) % 2 * 8, (p - 32) / 2 * 8, 8, 8],
        36..38 => [0, (p - 36) * 8, 16, 8],
        38..40 => [(p - 38) * 8, 0, 8, 16],
        _ => [0, 0, 16, 16],
    }
}

/// The pixel `v` of a row or column of `n` pixels, clamped; `v` may lie below 0.
#[device]
pub fn clamped(v: i32, n: usize) -> usize {
    v.clamp(0, n as i32 - 1) as usize
}

/// The lesser keys of `best` and of the blocks whose 4 × 4 SADs are `s`, at displacement `n`. A key is the SAD, then, in the lower 16 bits, the displacement: the
/// least is that of the least SAD, and of equal ones the first. The SADs are shifted before they are merged, so that the minimum is of a sum, which is one
/// instruction from 9.0 on.
#[device]
pub fn merged(best: [u32; 41], s: [u32; 16], n: u32) -> [u32; 41] {
    let mut sads = [0u32; 41];
    #[unroll]
    for p in 0..16usize {
        sads[p] = s[p] << 16;
    }
    #[unroll]
    for p in 0..8usize {
        sads[16 + p] = sads[2 * p] + sads[2 * p + 1];
        sads[24 + p] = sads[p / 4 * 8 + p % 4] + sads[p / 4 * 8 + p % 4 + 4];
    }
    #[unroll]
    for p in 0..4usize {
        sads[32 + p] = sads[16 + p / 2 * 4 + p % 2] + sads[16 + p / 2 * 4 + p % 2 + 2];
    }
    #[unroll]
    for p in 0..2usize {
        sads[36 + p] = sads[32 + 2 * p] + sads[33 + 2 * p];
        sads[38 + p] = sads[32 + p] + sads[34 + p];
    }
    sads[40] = sads[36] + sads[37];
    let mut least = best;
    #[unroll]
    for p in 0..41usize {
        least[p] = best[p].min(sads[p] + n);
    }
    least
}

/// `best` ← the keys of each macroblock's 41 blocks, a block of threads to a macroblock, a displacement of up to ± `R` a thread at a time. `pitch` is the
/// distance of rows.
///
/// What the lints say of it is what the other form is for: each warp reads the macroblock again for each displacement, the inner loop mostly clamps
/// coordinates, and the keys take so many registers that few warps are there to wait for the loads.
#[kernel(block = 128, allow(low_occupancy, rolled_loop), variants(R in [16]))]
pub fn sad_global<const R: usize>(
    width: usize,
    height: usize,
    pitch: usize,
    current: &Global<u8>,
    previous: &Global<u8>,
    best: &mut Global<u32>,
) {
    #[shared]
    let mut least: [u32; 41];
    let t = thread_idx().x;
    if t < 41 {
        least[t] = u32::MAX;
    }
    sync_threads();
    let (left, top) = (block_idx().x * 16, block_idx().y * 16);
    let mut keys = [u32::MAX; 41];
    for n in (t..(2 * R + 1) * (2 * R + 1)).step_by(128) {
        let dx = (n % (2 * R + 1)) as i32 - R as i32;
        let dy = (n / (2 * R + 1)) as i32 - R as i32;
        let mut s = [0u32; 16];
        #[unroll]
        for p in 0..16usize {
            let mut sum = 0;
            #[unroll(1)]
            for y in 0..4usize {
                let row = top + p / 4 * 4 + y;
                let here = clamped(row as i32, height) * pitch;
                let there = clamped(row as i32 + dy, height) * pitch;
                #[unroll]
                for x in 0..4usize {
                    let column = left + p % 4 * 4 + x;
                    let a = current[here + clamped(column as i32, width)];
                    let b = previous[there + clamped(column as i32 + dx, width)];
                    sum += (a as u32).abs_diff(b as u32);
                }
            }
            s[p] = sum;
        }
        keys = merged(keys, s, n as u32);
    }
    #[unroll]
    for p in 0..41usize {
        least.atomic_min(p, keys[p]);
    }
    sync_threads();
    if t < 41 {
        best[(block_idx().y * grid_dim().x + block_idx().x) * 41 + t] = least[t];
    }
}

/// Four pixels from column `4 * word` on of the row that begins at `row`, as a word. `row` and `words`, its length, count words. What lies beyond the row is its
/// first or last pixel four times.
#[device]
pub fn word_of(frame: &Global<u32>, row: usize, word: i32, words: usize) -> u32 {
    let at = frame[row + clamped(word, words)];
    if word < 0 {
        (at & 0xff) * 0x0101_0101
    } else if word >= words as i32 {
        (at >> 24) * 0x0101_0101
    } else {
        at
    }
}

/// The four bytes that begin `j` bytes into the two words.
#[device]
pub fn bytes_at(low: u32, high: u32, j: usize) -> u32 {
    ((((high as u64) << 32) | low as u64) >> (8 * j as u32)) as u32
}

/// The least of the warp of each of `N` keys, a power of two: lane l gets that of key l % `N`. In each round a lane hands half of its keys on and keeps the
/// lesser ones of the other half, which is 31 exchanges for 32 keys instead of 160.
#[device]
pub fn least_of_warp<const N: usize>(keys: [u32; N]) -> u32 {
    let mut kept = keys;
    #[unroll]
    for level in 0..N.ilog2() {
        let half = (N / 2) >> level;
        let is_upper = lane_id() & half != 0;
        #[unroll]
        for i in 0..half {
            let (own, other) = if is_upper { (kept[i + half], kept[i]) } else { (kept[i], kept[i + half]) };
            kept[i] = own.min(shuffle_xor(other, half));
        }
    }
    let mut least = kept[0];
    #[unroll]
    for level in N.ilog2()..5 {
        least = least.min(shuffle_xor(least, 1 << level));
    }
    least
}

/// Makes `least` the least of what it is and of the keys of the warp's lanes.
#[device]
#[allow(clippy::manual_memcpy, reason = "device code has no `copy_from_slice`")]
pub fn keep_least(keys: [u32; 41], least: &mut [u32; 41]) {
    let mut first = [u32::MAX; 32];
    let mut rest = [u32::MAX; 16];
    #[unroll]
    for p in 0..32usize {
        first[p] = keys[p];
    }
    #[unroll]
    for p in 32..41usize {
        rest[p - 32] = keys[p];
    }
    let lane = lane_id();
    let (low, high) = (least_of_warp(first), least_of_warp(rest));
    least.atomic_min(lane, low);
    if lane < 9 {
        least.atomic_min(32 + lane, high);
    }
}

/// The same as [`sad_global`] through shared memory. The frames are words of four pixels, `words` of them a row; what is left of a row's last word is filled with its
/// last pixel. `R` is a multiple of 4, so that the window begins with a word, and at most [`MOST`].
///
/// Blocks of 320 threads, which the suite times too, are not declared: of their warps so few fit that `low_occupancy` finds them, as it should, and no form that is meant to be fast allows a lint.
#[kernel(block = B, variants(R in [16], B in [64, 160]))]
pub fn sad_shared<const R: usize, const B: usize>(
    words: usize,
    height: usize,
    current: &Global<u32>,
    previous: &Global<u32>,
    best: &mut Global<u32>,
) {
    #[shared]
    let mut block: [[u32; 4]; 16];
    #[shared]
    let mut window: [[u32; WIDE]; HIGH];
    #[shared]
    let mut least: [u32; 41];
    let t = thread_idx().x;
    if t < 41 {
        least[t] = u32::MAX;
    }
    let (left, top) = ((block_idx().x * 4) as i32, (block_idx().y * 16) as i32);
    for k in (t..64).step_by(B) {
        block[k / 4][k % 4] = word_of(current, clamped(top + (k / 4) as i32, height) * words, left + (k % 4) as i32, words);
    }
    for k in (t..(R / 2 + 5) * (2 * R + 16)).step_by(B) {
        let (row, column) = (k / (R / 2 + 5), k % (R / 2 + 5));
        let y = clamped(top + row as i32 - R as i32, height);
        window[row][column] = word_of(previous, y * words, left + column as i32 - (R / 4) as i32, words);
    }
    sync_threads();
    let mut keys = [u32::MAX; 41];
    // Four displacements side by side; of the last four, one is within the window.
    for item in (t..(R / 2 + 1) * (2 * R + 1)).step_by(B) {
        let (dy, first) = (item % (2 * R + 1), item / (2 * R + 1));
        let mut s = [[0u32; 16]; 4];
        #[unroll]
        for y in 0..16usize {
            let own = block[y];
            #[unroll]
            for x in 0..4usize {
                let (low, high) = (window[dy + y][first + x], window[dy + y][first + x + 1]);
                #[unroll]
                for j in 0..4usize {
                    s[j][y / 4 * 4 + x] = bytes_at(low, high, j).sad4(own[x], s[j][y / 4 * 4 + x]);
                }
            }
        }
        #[unroll]
        for j in 0..4usize {
            if 4 * first + j < 2 * R + 1 {
                keys = merged(keys, s[j], (dy * (2 * R + 1) + 4 * first + j) as u32);
            }
        }
    }
    keep_least(keys, &mut least);
    sync_threads();
    if t < 41 {
        best[(block_idx().y * grid_dim().x + block_idx().x) * 41 + t] = least[t];
    }
}

/// Four pixels from column `x` on of row `y`, as a word. The texture clamps.
#[device]
pub fn four(frame: &Texture2d<u8>, x: i32, y: i32) -> u32 {
    let low = frame.fetch(x, y) as u32 | ((frame.fetch(x + 1, y) as u32) << 8);
    let high = frame.fetch(x + 2, y) as u32 | ((frame.fetch(x + 3, y) as u32) << 8);
    low | (high << 16)
}

/// The same as [`sad_shared`], but that the window is read from a texture, each row's 20 pixels once for four displacements. The macroblock is in shared memory.
/// Neighbouring threads have neighbouring displacements of a row, or of the next, which is what a texture's cache is for.
#[kernel(block = B, variants(R in [16], B in [64, 128]))]
pub fn sad_texture<const R: usize, const B: usize>(current: &Texture2d<u8>, previous: &Texture2d<u8>, best: &mut Global<u32>) {
    #[shared]
    let mut block: [[u32; 4]; 16];
    #[shared]
    let mut least: [u32; 41];
    let t = thread_idx().x;
    if t < 41 {
        least[t] = u32::MAX;
    }
    let (left, top) = ((block_idx().x * 16) as i32, (block_idx().y * 16) as i32);
    for k in (t..64).step_by(B) {
        block[k / 4][k % 4] = four(current, left + (k % 4 * 4) as i32, top + (k / 4) as i32);
    }
    sync_threads();
    let mut keys = [u32::MAX; 41];
    // Four displacements side by side; of the last four, one is within the window.
    for item in (t..(R / 2 + 1) * (2 * R + 1)).step_by(B) {
        let (dy, first) = (item / (R / 2 + 1), item % (R / 2 + 1));
        let (x0, y0) = (left + (4 * first) as i32 - R as i32, top + dy as i32 - R as i32);
        let mut s = [[0u32; 16]; 4];
        #[unroll]
        for y in 0..16usize {
            let own = block[y];
            let mut low = four(previous, x0, y0 + y as i32);
            #[unroll]
            for x in 0..4usize {
                let high = four(previous, x0 + (4 * x + 4) as i32, y0 + y as i32);
                #[unroll]
                for j in 0..4usize {
                    s[j][y / 4 * 4 + x] = bytes_at(low, high, j).sad4(own[x], s[j][y / 4 * 4 + x]);
                }
                low = high;
            }
        }
        #[unroll]
        for j in 0..4usize {
            if 4 * first + j < 2 * R + 1 {
                keys = merged(keys, s[j], (dy * (2 * R + 1) + 4 * first + j) as u32);
            }
        }
    }
    keep_least(keys, &mut least);
    sync_threads();
    if t < 41 {
        best[(block_idx().y * grid_dim().x + block_idx().x) * 41 + t] = least[t];
    }
}

/// A picture of brightnesses, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width · height` brightnesses.
    pub luma: Vec<u8>,
}

impl Frame {
    /// The pixel at a place, or that of the border next to it.
    fn at(&self, x: isize, y: isize) -> u8 {
        let inside = |v: isize, n: usize| v.clamp(0, n as isize - 1) as usize;
        self.luma[inside(y, self.height) * self.width + inside(x, self.width)]
    }

    /// An `Err` unless there are pixels, and as many as the sizes say.
    fn check(&self, name: &str) -> Result<()> {
        let Frame { width, height, luma } = self;
        if *width == 0 || *height == 0 {
            return Err(Error::Input(format!("the {name} frame has {width} × {height} pixels: it needs at least one")));
        }
        match width.checked_mul(*height) {
            Some(n) if n == luma.len() => Ok(()),
            _ => Err(Error::Input(format!("the {name} frame has {width} × {height} pixels, but `luma` has {}", luma.len()))),
        }
    }

    /// The rows, each filled up to a multiple of four with its last pixel.
    fn in_words(&self) -> Vec<u8> {
        let pitch = self.width.next_multiple_of(4);
        self.luma
            .chunks(self.width)
            .flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(row[row.len() - 1], pitch - row.len())))
            .collect()
    }
}

/// Two frames of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The frame whose macroblocks are looked for.
    pub current: Frame,
    /// The frame that they are looked for in: the one before.
    pub previous: Frame,
}

/// The best displacement of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Motion {
    /// Columns from the block to where it looks alike in the previous frame.
    pub dx: i32,
    /// Rows, likewise.
    pub dy: i32,
    /// The sum of absolute differences there.
    pub sad: u32,
}

impl Motion {
    /// What a key of a window of ± `range` says.
    pub fn of(key: u32, range: usize) -> Motion {
        let (n, side) = ((key & 0xffff) as i32, 2 * range as i32 + 1);
        Motion { dx: n % side - range as i32, dy: n / side - range as i32, sad: key >> 16 }
    }
}

/// A smooth pattern without end: brightnesses on a grid of a period of 64 × 64 points, eight pixels apart and, weaker, two.
struct Pattern(Vec<f32>);

impl Pattern {
    fn new(random: &mut fastrand::Rng) -> Pattern {
        Pattern((0..64 * 64).map(|_| random.f32()).collect())
    }

    /// The brightness at a place, 20 to 235.
    fn at(&self, x: i32, y: i32) -> f32 {
        let octave = |apart: i32| {
            let point = |x: i32, y: i32| self.0[(y.rem_euclid(64) * 64 + x.rem_euclid(64)) as usize];
            let (column, row) = (x.div_euclid(apart), y.div_euclid(apart));
            let (u, v) = (x.rem_euclid(apart) as f32 / apart as f32, y.rem_euclid(apart) as f32 / apart as f32);
            let along = |row| point(column, row) * (1.0 - u) + point(column + 1, row) * u;
            along(row) * (1.0 - v) + along(row + 1) * v
        };
        20.0 + 215.0 * (0.75 * octave(8) + 0.25 * octave(2))
    }
}

impl Input {
    /// Frames of `width` × `height` pixels: a patterned background that the camera pans over by up to six pixels a frame, before it a disc with a pattern of its
    /// own, which moves by up to twelve, and noise of ± 2.
    pub fn new(seed: u64, width: usize, height: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let (ground, disc) = (Pattern::new(&mut random), Pattern::new(&mut random));
        let pan = (random.i32(-6..=6), random.i32(-6..=6));
        let moved = (random.i32(-12..=12), random.i32(-12..=12));
        let centre = (random.usize(0..=width) as i32, random.usize(0..=height) as i32);
        let radius = (width.min(height) / 4) as i32;
        let mut frame = |time: i32| {
            let pixel = |i: usize| {
                let (x, y) = ((i % width) as i32, (i / width) as i32);
                let (u, v) = (x - centre.0 - time * moved.0, y - centre.1 - time * moved.1);
                let brightness = match u * u + v * v < radius * radius {
                    true => disc.at(u, v),
                    false => ground.at(x + time * pan.0, y + time * pan.1),
                };
                (brightness + 4.0 * random.f32() - 2.0) as u8
            };
            Frame { width, height, luma: (0..width * height).map(pixel).collect() }
        };
        Input { previous: frame(0), current: frame(1) }
    }

    /// Macroblocks of a row and of a column.
    pub fn macroblocks(&self) -> (usize, usize) {
        (self.current.width.div_ceil(SIDE), self.current.height.div_ceil(SIDE))
    }

    /// The keys of all blocks of all macroblocks ([`Motion::of`] reads them): each block by itself, pixel by pixel.
    pub fn reference(&self, range: usize) -> Vec<u32> {
        let (columns, rows) = self.macroblocks();
        let (range, side) = (range as isize, 2 * range + 1);
        let mut keys = Vec::with_capacity(columns * rows * BLOCKS);
        for macroblock in 0..columns * rows {
            let (left, top) = ((macroblock % columns * SIDE) as isize, (macroblock / columns * SIDE) as isize);
            let mut best = [(u32::MAX, 0); BLOCKS];
            for n in 0..side * side {
                let (dx, dy) = ((n % side) as isize - range, (n / side) as isize - range);
                let difference = |i: usize| {
                    let (x, y) = (left + (i % SIDE) as isize, top + (i / SIDE) as isize);
                    u32::from(self.current.at(x, y).abs_diff(self.previous.at(x + dx, y + dy)))
                };
                let differences: [u32; SIDE * SIDE] = std::array::from_fn(difference);
                for (p, best) in best.iter_mut().enumerate() {
                    let [x, y, w, h] = block_of(p);
                    let sad = (y..y + h).flat_map(|row| &differences[row * SIDE + x..][..w]).sum();
                    if sad < best.0 {
                        *best = (sad, n as u32);
                    }
                }
            }
            keys.extend(best.map(|(sad, n)| sad << 16 | n));
        }
        keys
    }

    /// What one core does for the macroblocks `some`, counted row by row: the window is copied once, clamped, the rest are sums of rows of four bytes, which
    /// compilers take together, and sums of sums.
    pub fn one_core(&self, range: usize, some: std::ops::Range<usize>) -> Vec<u32> {
        let (columns, _) = self.macroblocks();
        let (side, wide) = (2 * range + 1, SIDE + 2 * range);
        let mut window = vec![0u8; wide * wide];
        let mut own = [0u8; SIDE * SIDE];
        let mut keys = Vec::with_capacity(some.len() * BLOCKS);
        for macroblock in some {
            let (left, top) = ((macroblock % columns * SIDE) as isize, (macroblock / columns * SIDE) as isize);
            for (i, pixel) in own.iter_mut().enumerate() {
                *pixel = self.current.at(left + (i % SIDE) as isize, top + (i / SIDE) as isize);
            }
            for (i, pixel) in window.iter_mut().enumerate() {
                *pixel = self.previous.at(left + (i % wide) as isize - range as isize, top + (i / wide) as isize - range as isize);
            }
            let mut best = [u32::MAX; BLOCKS];
            for n in 0..side * side {
                let mut s = [0u32; BLOCKS];
                for (y, row) in own.chunks_exact(SIDE).enumerate() {
                    let there = &window[(n / side + y) * wide + n % side..][..SIDE];
                    for (p, (a, b)) in row.chunks_exact(4).zip(there.chunks_exact(4)).enumerate() {
                        s[y / 4 * 4 + p] += a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>();
                    }
                }
                for p in 0..8 {
                    s[16 + p] = s[2 * p] + s[2 * p + 1];
                    s[24 + p] = s[p / 4 * 8 + p % 4] + s[p / 4 * 8 + p % 4 + 4];
                }
                for p in 0..4 {
                    s[32 + p] = s[16 + p / 2 * 4 + p % 2] + s[16 + p / 2 * 4 + p % 2 + 2];
                }
                for p in 0..2 {
                    s[36 + p] = s[32 + 2 * p] + s[33 + 2 * p];
                    s[38 + p] = s[32 + p] + s[34 + p];
                }
                s[40] = s[36] + s[37];
                for (best, sad) in best.iter_mut().zip(s) {
                    *best = (*best).min(sad << 16 | n as u32);
                }
            }
            keys.extend(best);
        }
        keys
    }
}

/// [`sad_global`] of any generics.
type OfBytes = for<'a> fn(usize, usize, usize, &'a Buffer<u8>, &'a Buffer<u8>, &'a mut Buffer<u32>) -> Launch<'a>;

/// [`sad_shared`] of any generics.
type OfWords = for<'a> fn(usize, usize, &'a Buffer<u32>, &'a Buffer<u32>, &'a mut Buffer<u32>) -> Launch<'a>;

/// [`sad_texture`] of any generics.
type OfTextures = for<'a> fn(&'a Texture<u8>, &'a Texture<u8>, &'a mut Buffer<u32>) -> Launch<'a>;

/// Two frames on a device, and the keys of their macroblocks.
pub struct Resident {
    width: usize,
    height: usize,
    /// The frames' rows are filled up to whole words.
    current: Buffer<u8>,
    previous: Buffer<u8>,
    /// The same as textures, once they have been asked for: not every device has them.
    textures: Option<[Texture<u8>; 2]>,
    macroblocks: (usize, usize),
    best: Buffer<u32>,
}

impl Resident {
    /// Uploads two frames. An `Err` where they are empty, of two sizes, or hold more or fewer pixels than their sizes say.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        let Input { current, previous } = input;
        current.check("current")?;
        previous.check("previous")?;
        if (current.width, current.height) != (previous.width, previous.height) {
            return Err(Error::Input(format!(
                "the current frame has {} × {} pixels, the previous one {} × {}: make them as large as each other",
                current.width, current.height, previous.width, previous.height
            )));
        }
        let macroblocks = input.macroblocks();
        Ok(Resident {
            width: current.width,
            height: current.height,
            current: device.upload(&current.in_words())?,
            previous: device.upload(&previous.in_words())?,
            textures: None,
            macroblocks,
            best: device.zeros(macroblocks.0 * macroblocks.1 * BLOCKS)?,
        })
    }

    /// The best displacements of up to ± `R` by [`sad_global`]: one launch.
    pub fn run_global<const R: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        const { assert!(R <= 127, "a key has 16 bits for the displacement") };
        self.of_bytes(sad_global::<R>, go)
    }

    /// The same by [`sad_shared`].
    pub fn run_shared<const R: usize, const B: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        const { assert!(R.is_multiple_of(4) && R <= MOST, "the window has no room for this range") };
        const { assert!(B.is_multiple_of(32) && B >= 64, "whole warps, and a thread to each of the 41 keys") };
        self.of_words(sad_shared::<R, B>, go)
    }

    /// The same by [`sad_texture`], an `Err` where the device has no textures.
    pub fn run_texture<const R: usize, const B: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        const { assert!(R <= 127, "a key has 16 bits for the displacement") };
        const { assert!(B.is_multiple_of(32) && B >= 64, "whole warps, and a thread to each of the 41 keys") };
        self.of_textures(sad_texture::<R, B>, go)
    }

    fn of_bytes(&mut self, kernel: OfBytes, go: &mut Go<'_>) -> warpwright::Result<()> {
        let pitch = self.width.next_multiple_of(4);
        go(kernel(self.width, self.height, pitch, &self.current, &self.previous, &mut self.best).grid(self.macroblocks))
    }

    fn of_words(&mut self, kernel: OfWords, go: &mut Go<'_>) -> warpwright::Result<()> {
        let (current, previous) = (self.current.view()?, self.previous.view()?);
        go(kernel(self.width.div_ceil(4), self.height, current, previous, &mut self.best).grid(self.macroblocks))
    }

    fn of_textures(&mut self, kernel: OfTextures, go: &mut Go<'_>) -> warpwright::Result<()> {
        let textures = match self.textures.take() {
            Some(textures) => textures,
            None => [self.texture(&self.current)?, self.texture(&self.previous)?],
        };
        let [current, previous] = self.textures.insert(textures);
        go(kernel(current, previous, &mut self.best).grid(self.macroblocks))
    }

    /// A frame as a texture. Its rows end in copies of their last pixel, so that the texture clamps to the same.
    fn texture(&self, frame: &Buffer<u8>) -> warpwright::Result<Texture<u8>> {
        let extent = (self.width.next_multiple_of(4), self.height);
        let mut texture = frame.device().texture(extent, &vec![0; frame.len()], Sampling::default())?;
        texture.copy_from(frame)?;
        Ok(texture)
    }

    /// The keys: 41 of each macroblock, the macroblocks row by row.
    pub fn result(&self) -> Result<Vec<u32>> {
        Ok(self.best.download()?)
    }
}

/// The declared variants of all three kernels. Displacements of each are at most 16 pixels.
pub fn declared() -> Vec<Declared<Resident>> {
    let bytes = Declared::each(sad_global_variants(), |_| (), |r: &mut Resident, variant, go| r.of_bytes(variant.kernel(), go));
    let words = Declared::each(sad_shared_variants(), |_| (), |r: &mut Resident, variant, go| r.of_words(variant.kernel(), go));
    let textures = Declared::each(sad_texture_variants(), |_| (), |r: &mut Resident, variant, go| r.of_textures(variant.kernel(), go));
    bytes.chain(words).chain(textures).collect()
}

#[cfg(test)]
mod tests;
