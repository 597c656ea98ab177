//! RPES: two-electron repulsion integrals (ij|kl) over contracted Gaussians of type s, three primitives to a function: what a quantum chemist's program spends its time on.
//!
//! The product of two Gaussians is one about a point between them. So a pair of functions is nine primitives, and an integral is 81 terms
//! `Kp·Kq / √(p + q) · F0(ρ·R²)`: p and q the exponents, `ρ = p·q / (p + q)`, R how far the two points are from each other, and `F0(t) = ½·√(π / t)·erf(√t)`, the Boys
//! function (Szabo and Ostlund, "Modern Quantum Chemistry", appendix A). Four bytes are written for some 81 × 25 operations. The document gives 210 times one
//! core, 23 registers, the issue of instructions as the bottleneck.
//!
//! What the forms are for:
//!
//! * [`integrals_direct`]: a thread to a quartet, from the functions themselves, as one writes it first. Each of the 81 terms has an exponential function and an erf.
//! * [`integrals_of_pairs`]: a thread takes `KETS` of one side with one pair of the other. What a pair is was found out before. All threads of a block have the
//!   same kets, so these lie in constant memory. With `TABLE` F0 is a polynomial of degree 3 from a table in shared memory, and roots are the hardware's.
//!
//! Pairs (i, j) with i ≥ j are numbered `i·(i + 1) / 2 + j`; integrals are those with bra ≥ ket, since (ij|kl) = (kl|ij).

mod host;
#[cfg(test)]
mod tests;

pub use host::cells;

use super::declared::axis;
use super::{Declared, Error, Go, Result};
use warpwright::Variant;
use warpwright::prelude::*;

/// Primitives of a function.
pub const PRIMITIVES: usize = 3;

/// Primitives of a pair.
pub const PRODUCTS: usize = PRIMITIVES * PRIMITIVES;

/// Kets of a launch of [`integrals_of_pairs`], as many as constant memory has room for.
pub const CHUNK: usize = 256;

/// Cells of the table of F0, eight to 1.
pub const CELLS: usize = 128;

/// π to the power of 5/2, twice.
const FACTOR: f32 = 34.986_836;

/// A contracted Gaussian `Σ weights[k]·exp(-exponents[k]·|r - centre|²)`.
#[device]
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Function {
    /// Where it is, in bohr.
    pub centre: [f32; 3],
    /// The exponents, above 0, in 1 / bohr².
    pub exponents: [f32; PRIMITIVES],
    /// The weights, each with what makes its primitive's square one in the whole of space.
    pub weights: [f32; PRIMITIVES],
}

/// A primitive of a pair.
#[device]
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Product {
    /// Where it is: x, y, z. Then its exponent.
    pub place: [f32; 4],
    /// Its share of the integrals.
    pub factor: f32,
}

/// The Boys function of order 0.
#[device]
fn boys(t: f32) -> f32 {
    if t < 1e-5 { 1.0 - t * (1.0 / 3.0) } else { 0.886_226_95 / t.sqrt() * t.sqrt().erf() }
}

/// The same from the table's cells: a polynomial about the middle of each; beyond the last, where erf is 1 in single precision, without it.
#[device]
fn boys_of_cells(t: f32, cells: &mut [[f32; 4]; CELLS]) -> f32 {
    let cell = ((t * 8.0) as usize).min(CELLS - 1);
    let d = t - (cell as f32 + 0.5) * 0.125;
    let [a, b, c, e] = cells[cell];
    let near = a + d * (b + d * (c + d * e));
    if t < 16.0 { near } else { 0.886_226_95 * native_rsqrt(t) }
}

/// The product of primitive a of function i and primitive b of function j.
#[device]
fn product(functions: &Global<Function>, i: usize, a: usize, j: usize, b: usize) -> Product {
    let (from, to) = (functions[i].centre, functions[j].centre);
    let (alpha, beta) = (functions[i].exponents[a], functions[j].exponents[b]);
    let p = alpha + beta;
    let [dx, dy, dz] = [from[0] - to[0], from[1] - to[1], from[2] - to[2]];
    let left = (-(alpha * beta / p) * (dx * dx + dy * dy + dz * dz)).exp();
    let place = [(alpha * from[0] + beta * to[0]) / p, (alpha * from[1] + beta * to[1]) / p, (alpha * from[2] + beta * to[2]) / p, p];
    Product { place, factor: functions[i].weights[a] * functions[j].weights[b] * left / p }
}

/// The square of the distance of two products.
#[device]
fn apart(p: [f32; 4], q: [f32; 4]) -> f32 {
    let [dx, dy, dz] = [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    dx * dx + dy * dy + dz * dz
}

/// The integrals of every bra along x and every ket along y, bra ≥ ket, to `out[ket * pairs + bra]`. `firsts` and `seconds` are the functions of each pair.
#[kernel(block = B, variants(B in [64, 128]))]
pub fn integrals_direct<const B: usize>(functions: &Global<Function>, firsts: &Global<u32>, seconds: &Global<u32>, out: &mut Global<f32>) {
    let (bra, ket) = (global_id().x, global_id().y);
    let pairs = firsts.len();
    if bra < pairs && bra >= ket {
        let (i, j) = (firsts[bra] as usize, seconds[bra] as usize);
        let (k, l) = (firsts[ket] as usize, seconds[ket] as usize);
        let mut sum = 0.0;
        for a in 0..PRIMITIVES {
            for b in 0..PRIMITIVES {
                let p = product(functions, i, a, j, b);
                for c in 0..PRIMITIVES {
                    for d in 0..PRIMITIVES {
                        let q = product(functions, k, c, l, d);
                        let both = p.place[3] + q.place[3];
                        let t = p.place[3] * q.place[3] / both * apart(p.place, q.place);
                        sum += p.factor * q.factor / both.sqrt() * boys(t);
                    }
                }
            }
        }
        out[ket * pairs + bra] = FACTOR * sum;
    }
}

/// The integrals of every bra along x with `KETS` kets along y, of those `first` and on that are in constant memory. Products of the bras are product by product.
#[kernel(block = B, variants(B in [64, 128, 256], KETS in [1, 2, 4], TABLE in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "places and factors of bras are arrays of their own")]
pub fn integrals_of_pairs<const B: usize, const KETS: usize, const TABLE: bool>(
    pairs: usize,
    first: usize,
    kets: &Constant<[Product; CHUNK * PRODUCTS]>,
    places: &Global<[f32; 4]>,
    factors: &Global<f32>,
    table: &Global<[f32; 4]>,
    out: &mut Global<f32>,
) {
    #[shared]
    let mut cells: [[f32; 4]; CELLS];
    if TABLE {
        for cell in (thread_idx().x..CELLS).step_by(B) {
            cells[cell] = table[cell];
        }
        sync_threads();
    }
    let bra = global_id().x;
    let ket = block_idx().y * KETS;
    if bra < pairs && bra >= first + ket {
        let mut sums = [0.0f32; KETS];
        for a in 0..PRODUCTS {
            let p = places[a * pairs + bra];
            let factor = factors[a * pairs + bra];
            let mut shares = [0.0f32; KETS];
            // Unrolled, the kets' places in constant memory are known, and they are read once, before the outer loop. Blocks of a multiprocessor have
            // different kets: together these are more than the constant cache's first level holds, so that each read would wait.
            #[unroll]
            for b in 0..PRODUCTS {
                #[unroll]
                for j in 0..KETS {
                    let q = kets[(ket + j) * PRODUCTS + b];
                    let both = p[3] + q.place[3];
                    if TABLE {
                        let root = native_rsqrt(both);
                        let t = p[3] * q.place[3] * (root * root) * apart(p, q.place);
                        shares[j] += q.factor * root * boys_of_cells(t, &mut cells);
                    } else {
                        let t = p[3] * q.place[3] / both * apart(p, q.place);
                        shares[j] += q.factor / both.sqrt() * boys(t);
                    }
                }
            }
            #[unroll]
            for j in 0..KETS {
                sums[j] += factor * shares[j];
            }
        }
        #[unroll]
        for j in 0..KETS {
            // Those behind the last ket of the diagonal are somebody else's.
            if first + ket + j <= bra {
                out[(first + ket + j) * pairs + bra] = FACTOR * sums[j];
            }
        }
    }
}

/// A molecule, as its functions.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// All functions, one to an atom or more.
    pub functions: Vec<Function>,
}

/// [`integrals_direct`] of any generics.
type Direct = for<'a> fn(&'a Buffer<Function>, &'a Buffer<u32>, &'a Buffer<u32>, &'a mut Buffer<f32>) -> Launch<'a>;

/// [`integrals_of_pairs`] of any generics.
type OfPairs = for<'a> fn(
    usize,
    usize,
    &'a ConstantBuffer<[Product; CHUNK * PRODUCTS]>,
    &'a Buffer<[f32; 4]>,
    &'a Buffer<f32>,
    &'a Buffer<[f32; 4]>,
    &'a mut Buffer<f32>,
) -> Launch<'a>;

/// A molecule on a device.
pub struct Resident {
    pairs: usize,
    functions: Buffer<Function>,
    firsts: Buffer<u32>,
    seconds: Buffer<u32>,
    places: Buffer<[f32; 4]>,
    factors: Buffer<f32>,
    kets: Vec<ConstantBuffer<[Product; CHUNK * PRODUCTS]>>,
    table: Buffer<[f32; 4]>,
    out: Buffer<f32>,
}

impl Resident {
    /// Uploads a molecule in every form that the kernels take. An `Err` where a number of a function is none, where an exponent is not above 0, and where there are more
    /// integrals than are counted by 32 bits.
    pub fn new(device: &Device, input: &Input) -> Result<Resident> {
        input.check()?;
        let names = input.pairs();
        let pairs = names.len();
        let products = input.products();
        let at = |k: usize, pair: usize| products[pair * PRODUCTS + k];
        let by_product = || (0..PRODUCTS).flat_map(|k| (0..pairs).map(move |pair| (k, pair)));
        let chunk = |part: &[Product]| {
            let mut part = part.to_vec();
            // Kets that there are not are computed with the last ones, and thrown away.
            part.resize(CHUNK * PRODUCTS, Product { place: [0.0, 0.0, 0.0, 1.0], factor: 0.0 });
            device.constant_from_slice(&part)
        };
        Ok(Resident {
            pairs,
            functions: device.upload(&input.functions)?,
            firsts: device.upload(&names.iter().map(|(i, _)| *i as u32).collect::<Vec<_>>())?,
            seconds: device.upload(&names.iter().map(|(_, j)| *j as u32).collect::<Vec<_>>())?,
            places: device.upload(&by_product().map(|(k, pair)| at(k, pair).place).collect::<Vec<_>>())?,
            factors: device.upload(&by_product().map(|(k, pair)| at(k, pair).factor).collect::<Vec<_>>())?,
            kets: products.chunks(CHUNK * PRODUCTS).map(chunk).collect::<warpwright::Result<_>>()?,
            table: device.upload(&cells())?,
            out: device.zeros(pairs * pairs)?,
        })
    }

    /// All integrals by [`integrals_direct`]: a launch, none where there are no functions.
    pub fn run_direct<const B: usize>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.by_quartets(integrals_direct::<B>, go)
    }

    fn by_quartets(&mut self, kernel: Direct, go: &mut Go<'_>) -> warpwright::Result<()> {
        match self.pairs {
            0 => Ok(()),
            pairs => go(kernel(&self.functions, &self.firsts, &self.seconds, &mut self.out).cover((pairs, pairs))),
        }
    }

    /// All integrals by [`integrals_of_pairs`]: a launch for each [`CHUNK`] of kets.
    pub fn run<const B: usize, const KETS: usize, const TABLE: bool>(&mut self, go: &mut Go<'_>) -> warpwright::Result<()> {
        self.by_chunks(integrals_of_pairs::<B, KETS, TABLE>, KETS, go)
    }

    /// A launch for each chunk of a kernel whose threads take so many kets each.
    fn by_chunks(&mut self, kernel: OfPairs, kets_of_thread: usize, go: &mut Go<'_>) -> warpwright::Result<()> {
        for (chunk, kets) in self.kets.iter().enumerate() {
            let first = chunk * CHUNK;
            let many = (self.pairs - first).min(CHUNK).div_ceil(kets_of_thread);
            let (places, factors, table) = (&self.places, &self.factors, &self.table);
            let launch = kernel(self.pairs, first, kets, places, factors, table, &mut self.out);
            go(launch.cover((self.pairs, many)))?;
        }
        Ok(())
    }

    /// The integrals of the last run: element `ket * pairs + bra`, 0 where the bra is below the ket.
    pub fn result(&self) -> Result<Vec<f32>> {
        Ok(self.out.download()?)
    }
}

/// The declared variants of [`integrals_direct`] and of [`integrals_of_pairs`].
pub fn declared() -> Vec<Declared<Resident>> {
    let direct = Declared::each(integrals_direct_variants(), |_| (), |r: &mut Resident, v, go| r.by_quartets(v.kernel(), go));
    let run = |r: &mut Resident, v: &Variant<OfPairs>, go: &mut Go<'_>| r.by_chunks(v.kernel(), axis(v, "KETS"), go);
    direct.chain(Declared::each(integrals_of_pairs_variants(), |_| (), run)).collect()
}
