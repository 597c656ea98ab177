//! Who says what a kernel's buffers hold after a launch: one file for each. None knows what another says.

pub mod compiled;
pub mod device;
mod maps;
mod pictures;
pub mod ptx;
pub mod simulator;
pub mod twin;

/// What the written buffers hold, in the order of the parameters.
pub type Output = Vec<Vec<u8>>;

/// Where two outputs differ first.
pub fn difference(expected: &Output, found: &Output) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!("{} written buffers, expected {}", found.len(), expected.len()));
    }
    for (buffer, (expected, found)) in expected.iter().zip(found).enumerate() {
        if expected.len() != found.len() {
            return Some(format!("written buffer {buffer} has {} bytes, expected {}", found.len(), expected.len()));
        }
        if let Some(at) = expected.iter().zip(found).position(|(a, b)| a != b) {
            let word = |bytes: &[u8]| bytes[at / 8 * 8..].iter().take(8).rev().map(|b| format!("{b:02x}")).collect::<String>();
            return Some(format!("written buffer {buffer}, byte {at}: {}, expected {}", word(found), word(expected)));
        }
    }
    None
}

/// A number for an output: FNV-1a over its bytes.
pub fn digest(output: &Output) -> u64 {
    let bytes = output.iter().flatten();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
