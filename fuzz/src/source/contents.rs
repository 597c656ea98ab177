//! What buffers hold before a launch. This file is also part of the program that runs host twins: it names nothing from elsewhere.

/// Bytes of `len` elements of a scalar type from a seed: small numbers, any numbers, and edges.
pub fn contents(seed: u64, scalar: &str, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes = Vec::new();
    for at in 0..len {
        let (kind, random) = (next() % 8, next());
        let small = (random % 17) as i64 - 8;
        let whole = match kind {
            0 | 1 => random,
            2 => 1 << (random % 64),
            3 => random >> (random % 61),
            _ => small as u64,
        };
        let quarter = small as f32 * 0.75 + at as f32 * 0.5;
        let float = match kind {
            0 => f32::from_bits(random as u32),
            1 => [0.0, -0.0, 1.0, f32::INFINITY, f32::NAN, f32::MAX, 1e-45, -65504.0][(random % 8) as usize],
            _ => quarter,
        };
        // One NaN: which bits others have, no device says.
        let float = if float.is_nan() { f32::NAN } else { float };
        match scalar {
            "u8" | "i8" => bytes.push(whole as u8),
            "u16" | "i16" => bytes.extend_from_slice(&(whole as u16).to_le_bytes()),
            "u32" | "i32" => bytes.extend_from_slice(&(whole as u32).to_le_bytes()),
            "u64" | "i64" => bytes.extend_from_slice(&whole.to_le_bytes()),
            "f32" => bytes.extend_from_slice(&float.to_le_bytes()),
            "f64" => {
                let wide = if kind == 2 { f64::from_bits(random) } else { f64::from(float) };
                bytes.extend_from_slice(&(if wide.is_nan() { f64::NAN } else { wide }).to_le_bytes());
            }
            // Short floats: any bits that are no NaN, and small whole numbers.
            "f16" => {
                let bits = if kind < 4 { random as u16 } else { (random % 8) as u16 * 0x0400 + 0x3000 };
                bytes.extend_from_slice(&(if bits & 0x7fff > 0x7c00 { 0x7e00 } else { bits }).to_le_bytes());
            }
            _ => {
                let bits = if kind < 4 { random as u16 } else { (quarter.to_bits() >> 16) as u16 };
                bytes.extend_from_slice(&(if bits & 0x7fff > 0x7f80 { 0x7fc0 } else { bits }).to_le_bytes());
            }
        }
    }
    bytes
}

/// A scalar of every element.
#[derive(Debug)]
pub struct Column<'c> {
    /// What its contents are made as.
    pub scalar: &'c str,
    /// The byte of an element where it begins.
    pub at: usize,
    /// Its bytes, at least as many as those of `scalar`.
    pub size: usize,
    /// If there are any, the contents are bytes, each of which says one of these.
    pub numbers: &'c [i64],
}

/// Bytes of `len` elements of so many bytes each; a seed for each column, from this one on.
pub fn placed(seed: u64, len: usize, size: usize, columns: &[Column<'_>]) -> Vec<u8> {
    let mut bytes = vec![0; size * len];
    for (column, seed) in columns.iter().zip(seed..) {
        let made = contents(seed, column.scalar, len);
        let each = made.len() / len.max(1);
        for element in 0..len {
            let to = &mut bytes[element * size + column.at..][..column.size];
            match column.numbers {
                [] => to[..each].copy_from_slice(&made[element * each..][..each]),
                numbers => to.copy_from_slice(&numbers[made[element] as usize % numbers.len()].to_le_bytes()[..column.size]),
            }
        }
    }
    bytes
}
