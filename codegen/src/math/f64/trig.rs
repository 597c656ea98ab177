//! sin, cos and tan in f64. The coefficients, the parts of pi/2 and the bits of 2/pi are printed by fit_trig.py.

/// pi/2 as an unevaluated sum of three f64 (together 161 bits), each the rounding of what the ones before leave.
const TRIG_P1: f64 = 1.5707963267948966;
const TRIG_P2: f64 = 6.123233995736766e-17;
const TRIG_P3: f64 = -1.4973849048591698e-33;
/// 2/pi rounded to f64.
const TRIG_TWO_OVER_PI: f64 = 0.6366197723675814;
/// 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits.
const TRIG_MAGIC: f64 = 6755399441055744.0;
/// 2^36: up to here the three-part reduction is used, above it the one with the bits of 2/pi.
const TRIG_LARGE: f64 = 68719476736.0;
/// The largest f64.
const TRIG_MAX: f64 = 1.7976931348623157e308;

/// Minimax coefficients of (sin(r) / r - 1) / r^2 in r^2 for |r| <= pi/4, relative error of sin 2^-57.9.
const TRIG_S0: f64 = -0.1666666666666663;
const TRIG_S1: f64 = 0.008333333333321842;
const TRIG_S2: f64 = -0.000198412698293603;
const TRIG_S3: f64 = 2.7557313539239036e-06;
const TRIG_S4: f64 = -2.5050734526056752e-08;
const TRIG_S5: f64 = 1.5895442987404939e-10;

/// Minimax coefficients of (cos(r) - 1) / r^2 in r^2 for |r| <= pi/4 (the first kept at -1/2), relative error of cos 2^-63.9.
const TRIG_C0: f64 = -0.5;
const TRIG_C1: f64 = 0.041666666666666595;
const TRIG_C2: f64 = -0.0013888888888873342;
const TRIG_C3: f64 = 2.4801587289002442e-05;
const TRIG_C4: f64 = -2.755731421728845e-07;
const TRIG_C5: f64 = 2.0875705449979444e-09;
const TRIG_C6: f64 = -1.1358752971752069e-11;

/// The binary fraction of 2/pi after 64 zero bits, most significant word first.
const TRIG_BITS: [u64; 20] = [
    0x0000000000000000,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
];

/// The high 64 bits of the 128-bit product, by 32-bit halves.
fn trig_mul_high(a: u64, b: u64) -> u64 {
    let al = a & 0xffffffff;
    let ah = a >> 32;
    let bl = b & 0xffffffff;
    let bh = b >> 32;
    let mid = al.wrapping_mul(bh).wrapping_add(al.wrapping_mul(bl) >> 32);
    let cross = ah.wrapping_mul(bl).wrapping_add(mid & 0xffffffff);
    ah.wrapping_mul(bh).wrapping_add(mid >> 32).wrapping_add(cross >> 32)
}

/// Payne-Hanek reduction for finite |x| >= 2^36: (hi, lo, quadrant) with x = quadrant * pi/2 + hi + lo modulo 2 pi.
/// With x = m * 2^e (m an integer of 53 bits), the bits of 2/pi that give multiples of 4 in the product are dropped and the next 192 taken:
/// what is left out is below 2^-137 while no f64 comes closer than 2^-62 to a multiple of pi/2.
fn trig_reduce_large(x: f64) -> (f64, f64, u32) {
    let bits = x.to_bits();
    let m = (bits & 0x000fffffffffffff) | 0x0010000000000000;
    // e = biased - 1075, the first bit of weight 2 in the product is number e - 2 of the fraction, and 64 zeros stand before that.
    let at = (((bits >> 52) & 0x7ff) as u32).wrapping_sub(1075 + 2 - 64);
    let i = at >> 6;
    let left = at & 63;
    let right = 63 - left;
    let t0 = TRIG_BITS[i as usize];
    let t1 = TRIG_BITS[(i + 1) as usize];
    let t2 = TRIG_BITS[(i + 2) as usize];
    let t3 = TRIG_BITS[(i + 3) as usize];
    let w0 = (t0 << left) | ((t1 >> 1) >> right);
    let w1 = (t1 << left) | ((t2 >> 1) >> right);
    let w2 = (t2 << left) | ((t3 >> 1) >> right);
    // The product modulo 2^192: two bits of quadrant, then the fraction.
    let p2 = m.wrapping_mul(w2);
    let l1 = m.wrapping_mul(w1);
    let p1 = l1.wrapping_add(trig_mul_high(m, w2));
    let carry = if p1 < l1 { 1u64 } else { 0u64 };
    let p0 = m.wrapping_mul(w0).wrapping_add(trig_mul_high(m, w1)).wrapping_add(carry);
    let f0 = (p0 << 2) | (p1 >> 62);
    let f1 = (p1 << 2) | (p2 >> 62);
    // To the nearest quadrant: a fraction above one half becomes its negative distance to one (less one unit of 2^-128, too little to matter).
    let above = f0 >> 63;
    let flip = 0u64.wrapping_sub(above);
    let g0 = f0 ^ flip;
    let g1 = f1 ^ flip;
    let quadrant = ((p0 >> 62) as u32).wrapping_add(above as u32);
    // Leading zeros out, so that hi has 53 good bits and lo the 64 after them.
    let zeros = g0.leading_zeros() & 63;
    let h = (g0 << zeros) | ((g1 >> 1) >> (63 - zeros));
    let l = g1 << zeros;
    // 2^-53 and 2^-117 from the place of the bits, 2^-zeros from the shift.
    let unit = f64::from_bits(((1023 - 53 - zeros) as u64) << 52);
    let tail = f64::from_bits(((1023 - 117 - zeros) as u64) << 52);
    let fh = (h >> 11) as f64 * unit;
    let fl = ((h << 53) | (l >> 11)) as f64 * tail;
    // Times pi/2, in two parts.
    let a = fh * TRIG_P1;
    let b = fl.mul_add(TRIG_P1, fh.mul_add(TRIG_P2, fh.mul_add(TRIG_P1, -a)));
    let hi = a + b;
    let lo = (a - hi) + b;
    let sign = (above << 63) ^ (bits & 0x8000000000000000);
    let signed = f64::from_bits(hi.to_bits() ^ sign);
    let q = if x < 0.0 { 0u32.wrapping_sub(quadrant) } else { quadrant };
    (signed, f64::from_bits(lo.to_bits() ^ sign), q)
}

/// (hi, lo, quadrant) with x = quadrant * pi/2 + hi + lo modulo 2 pi, |hi| <= pi/4 (1 + 2^-15), the quadrant modulo 2^32.
/// The sum is off by less than 2^-64 of |hi|. Infinities and NaN give NaN.
fn trig_reduce(x: f64) -> (f64, f64, u32) {
    let rounded = x.mul_add(TRIG_TWO_OVER_PI, TRIG_MAGIC);
    let k = rounded - TRIG_MAGIC;
    // Exact: both terms are multiples of 2^-53 and the difference is below 1.
    let t = (-k).mul_add(TRIG_P1, x);
    // k * P2 = p + e exactly; t is a multiple of the last place of p, so the difference t - p = hi + rest is exact as well.
    let p = k * TRIG_P2;
    let e = k.mul_add(TRIG_P2, -p);
    let mut hi = t - p;
    let rest = (t - hi) - p;
    let mut lo = (-k).mul_add(TRIG_P3, rest - e);
    let mut quadrant = rounded.to_bits() as u32;
    // (An infinity has become NaN above and stays so.)
    if x.abs() > TRIG_LARGE && x.abs() <= TRIG_MAX {
        let (h, l, q) = trig_reduce_large(x);
        hi = h;
        lo = l;
        quadrant = q;
    }
    (hi, lo, quadrant)
}

/// sin(hi + lo + quadrant * pi/2): one polynomial of degree 6 in the square with the coefficients of sin or cos chosen by the quadrant's parity.
fn trig_sin_quadrant(hi: f64, lo: f64, quadrant: u32) -> f64 {
    let odd = (quadrant & 1) != 0;
    // The square of hi + lo.
    let z = hi.mul_add(hi, (hi + hi) * lo);
    let c6 = if odd { TRIG_C6 } else { 0.0 };
    let c5 = if odd { TRIG_C5 } else { TRIG_S5 };
    let c4 = if odd { TRIG_C4 } else { TRIG_S4 };
    let c3 = if odd { TRIG_C3 } else { TRIG_S3 };
    let c2 = if odd { TRIG_C2 } else { TRIG_S2 };
    let c1 = if odd { TRIG_C1 } else { TRIG_S1 };
    let c0 = if odd { TRIG_C0 } else { TRIG_S0 };
    let p = z.mul_add(z.mul_add(z.mul_add(z.mul_add(z.mul_add(z.mul_add(c6, c5), c4), c3), c2), c1), c0);
    let sine = hi + hi.mul_add(z * p, lo);
    let cosine = z.mul_add(p, 1.0);
    let v = if odd { cosine } else { sine };
    f64::from_bits(v.to_bits() ^ (((quadrant & 2) as u64) << 62))
}

/// Sine. The argument is reduced to |r| <= pi/4 as a sum of two f64 (three-part pi/2 with fma up to 2^36, the bits of 2/pi beyond), then a minimax
/// polynomial of sin or cos in r^2. At most 0.89 ulp on 301 million points.
pub fn sin(x: f64) -> f64 {
    let (hi, lo, quadrant) = trig_reduce(x);
    let v = trig_sin_quadrant(hi, lo, quadrant);
    // Keeps the sign of zero.
    if x == 0.0 { x } else { v }
}

/// Cosine, as the sine one quadrant further. At most 0.89 ulp on 301 million points.
pub fn cos(x: f64) -> f64 {
    let (hi, lo, quadrant) = trig_reduce(x);
    trig_sin_quadrant(hi, lo, quadrant.wrapping_add(1))
}

/// Tangent: sine and cosine of the reduced argument as sums of two f64, then sin/cos or -cos/sin by the quadrant's parity, the quotient corrected
/// by its remainder. At most 1.22 ulp on 301 million points.
pub fn tan(x: f64) -> f64 {
    let (hi, lo, quadrant) = trig_reduce(x);
    let odd = (quadrant & 1) != 0;
    // The square of hi + lo is z + zl.
    let z = hi * hi;
    let zl = (hi + hi).mul_add(lo, hi.mul_add(hi, -z));
    let s = z.mul_add(z.mul_add(z.mul_add(z.mul_add(z.mul_add(TRIG_S5, TRIG_S4), TRIG_S3), TRIG_S2), TRIG_S1), TRIG_S0);
    let c = z.mul_add(z.mul_add(z.mul_add(z.mul_add(z.mul_add(TRIG_C6, TRIG_C5), TRIG_C4), TRIG_C3), TRIG_C2), TRIG_C1);
    let c = z.mul_add(c, TRIG_C0);
    // sin = sh + sl. The small terms of lo and zl are multiplied by the leading terms of the derivatives only.
    let st = hi.mul_add(z * s, lo);
    let sh = hi + st;
    let sl = (hi - sh) + st;
    let ch = z.mul_add(c, 1.0);
    let cl = zl.mul_add(c, z.mul_add(c, 1.0 - ch));
    let n = if odd { ch } else { sh };
    let nl = if odd { cl } else { sl };
    let d = if odd { -sh } else { ch };
    let dl = if odd { -sl } else { cl };
    let y = 1.0 / d;
    let q = n * y;
    let rem = (-q).mul_add(dl, (-q).mul_add(d, n) + nl);
    let v = rem.mul_add(y, q);
    if x == 0.0 { x } else { v }
}

/// Sine and cosine of one argument: the results of `sin` and `cos`, with one reduction for both.
pub fn sin_cos(x: f64) -> (f64, f64) {
    let (hi, lo, quadrant) = trig_reduce(x);
    let sine = trig_sin_quadrant(hi, lo, quadrant);
    let cosine = trig_sin_quadrant(hi, lo, quadrant.wrapping_add(1));
    // Keeps the sign of zero.
    (if x == 0.0 { x } else { sine }, cosine)
}
