//! Molecules, what the kernels are compared with, and what one core does.

use super::{CELLS, Error, Function, Input, PRIMITIVES, PRODUCTS, Product, Result};
use std::f64::consts::PI;
use std::ops::Range;

/// STO-3G: a Slater function of ζ = 1 by three Gaussians, exponents and weights. (Hehre, Stewart and Pople 1969; Szabo and Ostlund, section 3.5.2.)
const STO_3G: [(f64, f64); PRIMITIVES] = [(0.109_818, 0.444_635), (0.405_771, 0.535_328), (2.227_66, 0.154_329)];

/// ζ of hydrogen in a molecule, and that of helium.
const ZETA: [f64; 2] = [1.24, 2.092_5];

impl Function {
    /// The function of STO-3G of ζ at a place.
    pub fn sto_3g(zeta: f64, centre: [f32; 3]) -> Function {
        let exponents = STO_3G.map(|(exponent, _)| exponent * zeta * zeta);
        let weight = |k: usize| (STO_3G[k].1 * (2.0 * exponents[k] / PI).powf(0.75)) as f32;
        Function { centre, exponents: exponents.map(|exponent| exponent as f32), weights: [weight(0), weight(1), weight(2)] }
    }
}

impl Input {
    /// A cluster of as many atoms, of hydrogen and of helium, at random in a cube about the origin, some 3 bohr³ to each and rarely closer than 1.2 bohr.
    pub fn new(seed: u64, atoms: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let side = 2.4 * (atoms as f32).cbrt();
        let mut functions: Vec<Function> = Vec::with_capacity(atoms);
        for _ in 0..atoms {
            let mut place = || [0; 3].map(|_| side * (random.f32() - 0.5));
            let near = |at: [f32; 3]| {
                let square = |f: &Function| (0..3).map(|axis| (f.centre[axis] - at[axis]).powi(2)).sum::<f32>();
                functions.iter().any(|f| square(f) < 1.44)
            };
            let mut at = place();
            for _ in 0..20 {
                if !near(at) {
                    break;
                }
                at = place();
            }
            functions.push(Function::sto_3g(ZETA[usize::from(random.bool())], at));
        }
        Input { functions }
    }

    pub(super) fn check(&self) -> Result<()> {
        let wrong = |why: String| Err(Error::Input(why));
        let n = self.functions.len();
        if n > 300 {
            return wrong(format!("{n} functions: there may be 300, whose integrals have numbers of 32 bits"));
        }
        for (number, f) in self.functions.iter().enumerate() {
            if let Some(exponent) = f.exponents.iter().find(|exponent| !(**exponent > 0.0 && exponent.is_finite())) {
                return wrong(format!("function {number} has the exponent {exponent}: it must be a number above 0"));
            }
            if let Some(value) = f.centre.iter().chain(&f.weights).find(|value| !value.is_finite()) {
                return wrong(format!("function {number} has {value} in its centre or its weights: there must be numbers"));
            }
        }
        Ok(())
    }

    /// The functions of each pair, in order.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        (0..self.functions.len()).flat_map(|i| (0..=i).map(move |j| (i, j))).collect()
    }

    /// The products of each pair, pair by pair, in double precision before they are rounded.
    pub fn products(&self) -> Vec<Product> {
        let round = |[x, y, z, p, factor]: [f64; 5]| Product { place: [x, y, z, p].map(|v| v as f32), factor: factor as f32 };
        self.pairs().into_iter().flat_map(|pair| self.products_of(pair)).map(round).collect()
    }

    /// Place, exponent and factor of a pair's products.
    fn products_of(&self, (i, j): (usize, usize)) -> [[f64; 5]; PRODUCTS] {
        let (f, g) = (&self.functions[i], &self.functions[j]);
        let wide = |values: [f32; 3]| values.map(f64::from);
        let (from, to) = (wide(f.centre), wide(g.centre));
        let square: f64 = (0..3).map(|axis| (from[axis] - to[axis]).powi(2)).sum();
        std::array::from_fn(|k| {
            let (a, b) = (k / PRIMITIVES, k % PRIMITIVES);
            let (alpha, beta) = (f64::from(f.exponents[a]), f64::from(g.exponents[b]));
            let p = alpha + beta;
            let at = |axis: usize| (alpha * from[axis] + beta * to[axis]) / p;
            let factor = f64::from(f.weights[a]) * f64::from(g.weights[b]) * (-alpha * beta / p * square).exp() / p;
            [at(0), at(1), at(2), p, factor]
        })
    }

    /// The integrals in double precision: element `ket * pairs + bra`, 0 where the bra is below the ket. From the definition, `∬ f·g(r₁) · 1/r₁₂ · h·k(r₂)`, without
    /// products of pairs and without the Boys function: see `Quadrature`.
    pub fn reference(&self) -> Vec<f64> {
        let (quadrature, names) = (Quadrature::new(), self.pairs());
        let pairs = names.len();
        let mut integrals = vec![0.0; pairs * pairs];
        for (ket, (k, l)) in names.iter().enumerate() {
            for (bra, (i, j)) in names.iter().enumerate().skip(ket) {
                integrals[ket * pairs + bra] = quadrature.integral([i, j, k, l].map(|name| &self.functions[*name]));
            }
        }
        integrals
    }

    /// By how much single precision may be off, as a share of the greatest integral, where all weights are above 0.
    ///
    /// Then all 81 terms are, and their sum is off by no more than 81 roundings, and by what the worst of them is. A term has some 40 roundings, the Boys function
    /// and the hardware's roots with them. Its product's places are off by a rounding or three of the greatest coordinate, on each of three axes and of two
    /// products: 14 of them. F0(ρ·R²) changes by no more than 0.4·√ρ for each bohr, and ρ is at most half the greatest exponent of a function.
    pub fn error_bound(&self) -> f64 {
        let greatest = |values: &mut dyn Iterator<Item = f32>| f64::from(values.fold(0.0f32, |most, v| most.max(v.abs())));
        let far = greatest(&mut self.functions.iter().flat_map(|f| f.centre));
        // Of two exponents a and a it is a · a / (a + a), for each side; of two sides 2a each, a.
        let steep = greatest(&mut self.functions.iter().flat_map(|f| f.exponents));
        f64::from(f32::EPSILON) / 2.0 * (121.0 + 14.0 * 0.4 * steep.sqrt() * far)
    }

    /// The integrals of some of the kets, by one core, with all that is known of pairs and of F0: those of the first ket with each bra from it on, then of the next.
    pub fn one_core(&self, products: &[Product], cells: &[[f32; 4]], kets: Range<usize>) -> Vec<f32> {
        let pairs = products.len() / PRODUCTS;
        let mut integrals = Vec::new();
        for ket in kets {
            let of_ket = &products[ket * PRODUCTS..][..PRODUCTS];
            for of_bra in products[ket * PRODUCTS..pairs * PRODUCTS].chunks_exact(PRODUCTS) {
                let mut sum = 0.0f32;
                for p in of_bra {
                    let mut share = 0.0f32;
                    for q in of_ket {
                        let both = p.place[3] + q.place[3];
                        let square = (0..3).map(|axis| (p.place[axis] - q.place[axis]) * (p.place[axis] - q.place[axis])).sum::<f32>();
                        let t = p.place[3] * q.place[3] / both * square;
                        let boys = if t < 16.0 {
                            let cell = (t * 8.0) as usize;
                            let d = t - (cell as f32 + 0.5) / 8.0;
                            cells[cell].iter().rev().fold(0.0, |sum, c| sum * d + c)
                        } else {
                            0.886_226_95 / t.sqrt()
                        };
                        share += q.factor / both.sqrt() * boys;
                    }
                    sum += p.factor * share;
                }
                integrals.push(34.986_836 * sum);
            }
        }
        integrals
    }
}

/// Two-electron integrals by quadrature. With `1/r = 2/√π · ∫₀^∞ exp(-u²·r²) du` an integral over primitives is, for each u, that of a Gaussian in six variables,
/// `exp(-vᵀMv + 2bᵀv - c)` in each of three dimensions with `M = [[p + u², -u²], [-u², q + u²]]`, where p and q are the sums of two exponents:
/// `π / √det M · exp(bᵀM⁻¹b - c)` in each. With `u² = pq / (p + q) · e^2x`, where `det M = pq · (1 + e^2x)`, the rest is an integral over all x.
struct Quadrature {
    /// e^2x and the weight of each x.
    nodes: Vec<[f64; 2]>,
}

impl Quadrature {
    /// The trapezoidal rule, whose error falls as exp(-2π·d / step) for what is bounded within d of the real line. Within π/4 the integrand is, wherever the centres are:
    /// 1e-10 at most. What is beyond the ends falls as e^x on the left, and as e^-2x on the right: 1e-11. Single precision is off by 7e-6.
    fn new() -> Quadrature {
        const STEP: f64 = 0.2;
        let node = |k: i32| {
            let x = STEP * f64::from(k);
            let square = (2.0 * x).exp();
            [square, STEP * x.exp() * (1.0 + square).powf(-1.5)]
        };
        Quadrature { nodes: (-128..=64).map(node).collect() }
    }

    /// `(fg|hk)`.
    fn integral(&self, functions: [&Function; 4]) -> f64 {
        let mut sum = 0.0;
        for all in 0..PRIMITIVES.pow(4) {
            let primitive = [1, 3, 9, 27].map(|place| all / place % PRIMITIVES);
            let exponents: [f64; 4] = std::array::from_fn(|n| functions[n].exponents[primitive[n]].into());
            let weights: f64 = (0..4).map(|n| f64::from(functions[n].weights[primitive[n]])).product();
            sum += weights * self.of_primitives(functions.map(|f| f.centre.map(f64::from)), exponents);
        }
        sum
    }

    /// That of four primitives with these exponents about these centres.
    fn of_primitives(&self, centres: [[f64; 3]; 4], [a, b, c, d]: [f64; 4]) -> f64 {
        let (p, q) = (a + b, c + d);
        // b·b of the first particle, of both, of the second, and c, each summed over the dimensions; the first centre is the origin.
        let (mut first, mut both, mut second, mut rest) = (0.0, 0.0, 0.0, 0.0);
        for axis in 0..3 {
            let [_, y, z, w] = centres.map(|centre| centre[axis] - centres[0][axis]);
            let (one, two) = (b * y, c * z + d * w);
            first += one * one;
            both += one * two;
            second += two * two;
            rest += b * y * y + c * z * z + d * w * w;
        }
        let scale = p * q / (p + q);
        let at = |[square, weight]: &[f64; 2]| {
            let u = scale * square;
            let exponent = ((q + u) * first + 2.0 * u * both + (p + u) * second) / (p * q * (1.0 + square)) - rest;
            weight * exponent.exp()
        };
        2.0 * PI.powf(2.5) * scale.sqrt() * (p * q).powf(-1.5) * self.nodes.iter().map(at).sum::<f64>()
    }
}

/// F of order m, by the series `exp(-t) · Σ (2t)^k / ((2m + 1) · (2m + 3) · … · (2m + 2k + 1))`.
pub(super) fn boys_of_order(m: usize, t: f64) -> f64 {
    let mut odd = (2 * m + 1) as f64;
    let (mut term, mut sum) = (1.0 / odd, 0.0);
    while term > sum * 1e-17 {
        sum += term;
        odd += 2.0;
        term *= 2.0 * t / odd;
    }
    (-t).exp() * sum
}

/// The table of F0: in each cell the coefficients of its Taylor polynomial about the cell's middle. The derivative of order m is (-1)^m times F of order m. What
/// is left out is at most 1/16⁴ / 24 · 1/9, 7e-8.
pub fn cells() -> Vec<[f32; 4]> {
    const SHARES: [f64; 4] = [1.0, -1.0, 0.5, -1.0 / 6.0];
    let middle = |cell: usize| (cell as f64 + 0.5) / 8.0;
    (0..CELLS).map(|cell| std::array::from_fn(|m| (SHARES[m] * boys_of_order(m, middle(cell))) as f32)).collect()
}
