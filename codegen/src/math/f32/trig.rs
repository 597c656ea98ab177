//! sin, cos and tan of f32, with the reduction by multiples of pi/2 that they share.
//! Constants: fit_trig.py. All polynomials are fitted for |r| <= pi/4 + 0.004, since the multiple of pi/2 is found from a rounded product.

// pi/2 = -(HI + MID + LO), each part the f32 nearest to what the parts before it leave; negated for use with an fma.
const TRIG_PIO2_HI: f32 = -1.5707964;
const TRIG_PIO2_MID: f32 = 4.371139e-8;
const TRIG_PIO2_LO: f32 = 1.7151245e-15;
// 2/pi, rounded.
const TRIG_TWO_OVER_PI: f32 = 0.63661975;
// 1.5 * 2^23: added to a number below 2^22, it rounds that number to an integer, which its lowest bits then hold.
const TRIG_MAGIC: f32 = 12582912.0;
// Up to here the three parts of pi/2 leave a remainder good to a unit in its last place; beyond, trig_reduce_large takes over.
const TRIG_FAST_MAX: f32 = 131072.0;
// 32 zero bits, then the bits of 2/pi after the binary point.
const TRIG_TWO_OVER_PI_BITS: [u32; 8] = [0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab];
// pi/2 in units of 2^-31, rounded.
const TRIG_PIO2_FIXED: u64 = 0xc90fdaa2;

// sin r = r + r*z*(S0 + z*(S1 + z*S2)), z = r*r; minimax in relative error, 2^-27.8.
const TRIG_S0: f32 = -0.16666654;
const TRIG_S1: f32 = 0.008332106;
const TRIG_S2: f32 = -0.00019507874;
// cos r = 1 + z*(-1/2 + z*(C0 + z*(C1 + z*C2))); minimax in relative error, 2^-32.9.
const TRIG_C0: f32 = 0.041666646;
const TRIG_C1: f32 = -0.0013887305;
const TRIG_C2: f32 = 2.4431421e-5;
// tan r = r + r*z*(T0 + ... + z^5*T5); minimax in relative error, 2^-25.6.
const TRIG_T0: f32 = 0.33333144;
const TRIG_T1: f32 = 0.13339148;
const TRIG_T2: f32 = 0.053381927;
const TRIG_T3: f32 = 0.024536438;
const TRIG_T4: f32 = 0.0029470637;
const TRIG_T5: f32 = 0.009489028;

/// The quadrant (only its lowest two bits count) and the remainder of `a` > 2^17 by pi/2, after Payne and Hanek. With a = m * 2^e, m an
/// integer of 24 bits, only 96 bits of 2/pi matter: those above give multiples of 4 quadrants, those below less than 2^-70 of a quadrant,
/// and no f32 is nearer to a multiple of pi/2 than about 2^-30. Infinity gives NaN.
fn trig_reduce_large(a: f32) -> (u32, f32) {
    let bits = a.to_bits();
    let m = ((bits & 0x007fffff) | 0x00800000) as u64;
    // The window starts at the bit of weight 2^(1-e), e = exponent field - 150, counted with the 32 zero bits in front.
    let start = (bits >> 23).wrapping_sub(120);
    let word = start >> 5;
    let shift = start & 31;
    let t0 = TRIG_TWO_OVER_PI_BITS[word as usize];
    let t1 = TRIG_TWO_OVER_PI_BITS[(word + 1) as usize];
    let t2 = TRIG_TWO_OVER_PI_BITS[(word + 2) as usize];
    let t3 = TRIG_TWO_OVER_PI_BITS[(word + 3) as usize];
    let w0 = ((((t0 as u64) << 32) | (t1 as u64)) << shift) >> 32;
    let w1 = ((((t1 as u64) << 32) | (t2 as u64)) << shift) >> 32;
    let w2 = ((((t2 as u64) << 32) | (t3 as u64)) << shift) >> 32;
    // The upper 64 bits of m * (w0 w1 w2) modulo 2^96, in units of 2^-62 of a quadrant.
    let p = ((m * w0) << 32).wrapping_add(m * w1).wrapping_add((m * w2) >> 32);
    let quadrant = p.wrapping_add(1 << 61) >> 62;
    let f = p.wrapping_sub(quadrant << 62);
    let negative = (f >> 63) != 0;
    // Never zero for a finite argument; the lowest bit keeps the shift below 64 whatever comes.
    let size = (if negative { f.wrapping_neg() } else { f }) | 1;
    let zeros = size.leading_zeros();
    // Its 32 leading bits by pi/2: 64 bits, rounded to f32 once, then scaled by a power of two.
    let product = ((size << zeros) >> 32) * TRIG_PIO2_FIXED;
    let r = (product as f32) * f32::from_bits((66u32.wrapping_sub(zeros)) << 23);
    // Infinity by 0 is NaN.
    let r = a.mul_add(0.0, r);
    (quadrant as u32, if negative { -r } else { r })
}

/// The quadrant (only its lowest two bits count) and the remainder, |r| <= pi/4 + 0.004, of `a` >= 0 by pi/2; NaN gives NaN.
/// The first fma is exact, the other two round: to about one unit in the last place of r at most.
fn trig_reduce(a: f32) -> (u32, f32) {
    if a > TRIG_FAST_MAX {
        trig_reduce_large(a)
    } else {
        let q = a.mul_add(TRIG_TWO_OVER_PI, TRIG_MAGIC);
        let k = q - TRIG_MAGIC;
        let r = k.mul_add(TRIG_PIO2_HI, a);
        let r = k.mul_add(TRIG_PIO2_MID, r);
        (q.to_bits(), k.mul_add(TRIG_PIO2_LO, r))
    }
}

/// sin r for a remainder of trig_reduce, z = r * r.
fn trig_sin_poly(r: f32, z: f32) -> f32 {
    let p = TRIG_S2.mul_add(z, TRIG_S1).mul_add(z, TRIG_S0);
    (r * z).mul_add(p, r)
}

/// cos r for a remainder of trig_reduce, z = r * r.
fn trig_cos_poly(z: f32) -> f32 {
    TRIG_C2.mul_add(z, TRIG_C1).mul_add(z, TRIG_C0).mul_add(z, -0.5).mul_add(z, 1.0)
}

/// Sine: the remainder by pi/2 (three-part Cody-Waite to 2^17, Payne-Hanek beyond), then an odd polynomial of degree 7 or an even one of
/// degree 8 by the quadrant. At most 1.544 ulp, over every f32.
pub fn sin(x: f32) -> f32 {
    let (k, r) = trig_reduce(x.abs());
    let z = r * r;
    let s = trig_sin_poly(r, z);
    let c = trig_cos_poly(z);
    let y = if (k & 1) != 0 { c } else { s };
    // The sign of x, changed in the quadrants 2 and 3. Taking |x| first keeps the sign of a zero.
    let sign = ((k << 30) ^ x.to_bits()) & 0x80000000;
    f32::from_bits(y.to_bits() ^ sign)
}

/// Cosine: reduced and evaluated as the sine, one quadrant on. At most 1.544 ulp, over every f32.
pub fn cos(x: f32) -> f32 {
    let (k, r) = trig_reduce(x.abs());
    let z = r * r;
    let s = trig_sin_poly(r, z);
    let c = trig_cos_poly(z);
    let y = if (k & 1) != 0 { s } else { c };
    // Negative in the quadrants 1 and 2.
    let sign = (k.wrapping_add(1) << 30) & 0x80000000;
    f32::from_bits(y.to_bits() ^ sign)
}

/// Tangent: reduced as the sine, then an odd polynomial of degree 13, or -1 over it in the odd quadrants. At most 3.001 ulp, over
/// every f32.
pub fn tan(x: f32) -> f32 {
    let (k, r) = trig_reduce(x.abs());
    let z = r * r;
    let p = TRIG_T5.mul_add(z, TRIG_T4).mul_add(z, TRIG_T3).mul_add(z, TRIG_T2).mul_add(z, TRIG_T1).mul_add(z, TRIG_T0);
    let t = (r * z).mul_add(p, r);
    let y = if (k & 1) != 0 { -1.0 / t } else { t };
    f32::from_bits(y.to_bits() ^ (x.to_bits() & 0x80000000))
}

/// Sine and cosine of one argument: the results of `sin` and `cos`, with one reduction for both.
pub fn sin_cos(x: f32) -> (f32, f32) {
    let (k, r) = trig_reduce(x.abs());
    let z = r * r;
    let s = trig_sin_poly(r, z);
    let c = trig_cos_poly(z);
    let odd = (k & 1) != 0;
    let sine = if odd { c } else { s };
    let cosine = if odd { s } else { c };
    let sign_of_sine = ((k << 30) ^ x.to_bits()) & 0x80000000;
    let sign_of_cosine = (k.wrapping_add(1) << 30) & 0x80000000;
    (f32::from_bits(sine.to_bits() ^ sign_of_sine), f32::from_bits(cosine.to_bits() ^ sign_of_cosine))
}
