//! Products of a warp (PTX ISA, "Matrix multiply-accumulate operation using mma instruction").
//!
//! Of a fragment, lane `l` has the row or column `l / 4` and the elements `l % 4` along the other side. The order in which products are added is left open: here all are added
//! in `f64`, and rounded once.

use super::state::LANES;
use super::warp::Lanes;
use crate::evaluate::format::{E4M3, E5M2, F32, Rounding, of_bf16, of_f16};
use crate::program::{Mma, Src};
use crate::ty::{Ty, low};

/// Shapes, the types of the factors, the type of the sum.
type Known = (&'static [[usize; 3]], &'static [Ty], Ty);

/// Which products there are.
const KNOWN: &[Known] = &[
    (&[[16, 8, 8], [16, 8, 16]], &[Ty::F16, Ty::Bf16], Ty::F32),
    (&[[16, 8, 4], [16, 8, 8]], &[Ty::Tf32], Ty::F32),
    (&[[16, 8, 16], [16, 8, 32]], &[Ty::E4m3, Ty::E5m2], Ty::F32),
    (&[[8, 8, 16], [16, 8, 16], [16, 8, 32]], &[Ty::S8, Ty::U8], Ty::S32),
    (&[[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]], &[Ty::F64], Ty::F64),
];

/// Whether there is such a product.
pub(crate) fn is_known(shape: [usize; 3], a: Ty, b: Ty, sum: Ty) -> bool {
    let mixes = |types: &[Ty]| types.contains(&a) && types.contains(&b);
    // Of 16 bits both factors are of one type.
    let fits = a == b || a.bits() == 8;
    fits && KNOWN.iter().any(|(shapes, types, of)| shapes.contains(&shape) && mixes(types) && *of == sum)
}

/// Elements of a register.
fn elements(ty: Ty) -> usize {
    (32 / ty.bits().min(32)) as usize
}

/// How many registers the factors, the sum and the result have.
pub(crate) fn registers(mma: &Mma) -> [usize; 4] {
    let [m, _, k] = mma.shape;
    let (halves, runs) = (m / 8, k / (4 * elements(mma.a_type)));
    [halves * runs, runs, 2 * halves, 2 * halves]
}

/// An element of a register as a number.
pub(crate) fn element(word: u64, number: usize, ty: Ty) -> f64 {
    let part = word >> (number as u32 * ty.bits().min(32));
    match ty {
        Ty::F16 => of_f16(part),
        Ty::Bf16 => of_bf16(part),
        // Of `tf32`, the last 13 bits are not looked at.
        Ty::Tf32 => f64::from(f32::from_bits(part as u32 & !0x1fff)),
        Ty::E4m3 => E4M3.decode(low(part, 8) as u32),
        Ty::E5m2 => E5M2.decode(low(part, 8) as u32),
        Ty::S8 => f64::from(part as i8),
        Ty::U8 => f64::from(part as u8),
        _ => f64::from_bits(word),
    }
}

/// A sum of products, and what was there before.
pub(crate) fn rounded(sum: f64, before: u64, ty: Ty, saturates: bool) -> u64 {
    match ty {
        // Exact: the products of a step are below 2^24.
        Ty::S32 => {
            let whole = sum as i64 + i64::from(before as i32);
            low(if saturates { whole.clamp(i32::MIN.into(), i32::MAX.into()) } else { whole } as u64, 32)
        }
        Ty::F64 => (sum + f64::from_bits(before)).to_bits(),
        _ => u64::from(F32.encode(sum + f64::from(f32::from_bits(before as u32)), Rounding::Nearest, false)),
    }
}

pub(super) fn multiply(values: &mut Lanes<'_>, mma: &Mma) {
    let [m, n, k] = mma.shape;
    let (halves, each) = (m / 8, elements(mma.a_type));
    let (mut a, mut b) = (vec![0.0; m * k], vec![0.0; n * k]);
    let spread = |registers: &[Src], ty: Ty, halves: usize, to: &mut [f64]| {
        for lane in 0..LANES {
            for (r, src) in registers.iter().enumerate() {
                let word = values.get(lane, *src);
                for e in 0..each {
                    let (row, step) = (lane / 4 + 8 * (r % halves), lane % 4 * each + r / halves * 4 * each + e);
                    to[row * k + step] = element(word, e, ty);
                }
            }
        }
    };
    spread(&mma.a, mma.a_type, halves, &mut a);
    spread(&mma.b, mma.b_type, 1, &mut b);
    for lane in 0..LANES {
        for (i, (d, c)) in mma.d.iter().zip(&mma.c).enumerate() {
            let (row, column) = (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
            let before = values.get(lane, *c);
            let products = a[row * k..][..k].iter().zip(&b[column * k..][..k]);
            let result = if mma.sum == Ty::F64 {
                // Each step is a fused product and sum.
                products.fold(f64::from_bits(before), |sum, (x, y)| x.mul_add(*y, sum)).to_bits()
            } else {
                rounded(products.map(|(x, y)| x * y).sum(), before, mma.sum, mma.saturates)
            };
            values.set(lane, *d, result);
        }
    }
}
