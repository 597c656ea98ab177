//! Hash maps and sets of what a kernel is made of: small numbers, and lists of them.
//!
//! The standard library's hash withstands keys that an enemy chooses, at a cost that an unoptimised macro feels. These keys are the compiler's own.
//! What order such a map is gone through in does not depend on the process, but counts for nothing all the same.

use std::hash::{BuildHasherDefault, Hasher};

/// A map.
pub type HashMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Mixer>>;

/// A set.
pub type HashSet<K> = std::collections::HashSet<K, BuildHasherDefault<Mixer>>;

/// An odd number without a pattern: 2⁶⁴ divided by the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Multiplies by [`ODD`]: what is in the high bits then depends on all bits of the key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        // The high bits of what came before come into the low ones, which a product leaves where they are.
        self.0 = ((self.0 ^ (self.0 >> 32)) ^ n).wrapping_mul(ODD);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn finish(&self) -> u64 {
        // Once more: a key may have its bits far up.
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(ODD);
        mixed ^ (mixed >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher, Hash};

    /// Keys of a kernel, in a table of as many places: no place gets many. The low bits choose it, the seven highest are compared first.
    #[test]
    fn keys_are_spread() {
        let most = |hashes: Vec<u64>, place: &dyn Fn(u64) -> u64| {
            let mut places = std::collections::HashMap::new();
            hashes.into_iter().for_each(|hash| *places.entry(place(hash)).or_insert(0u32) += 1);
            places.into_values().max().expect("some")
        };
        fn of<K: Hash>(keys: impl Iterator<Item = K>) -> Vec<u64> {
            keys.map(|key| BuildHasherDefault::<Mixer>::default().hash_one(key)).collect()
        }
        let lists = [
            of(0..4096u32),
            of((0..4096u32).map(|n| n * 64)),
            of((0..4096u32).map(|n| (n % 64, n / 64))),
            of((0..4096u32).map(|n| vec![n as u64, 7])),
            of((0..4096u32).map(|n| (n % 2 == 0, u64::from(n) << 40))),
            of((0..4096i64).map(|n| vec![n - 2048, 0])),
        ];
        for (n, list) in lists.into_iter().enumerate() {
            let (low, high) = (most(list.clone(), &|hash| hash % 4096), most(list, &|hash| hash >> 57));
            assert!(low <= 16 && high <= 128, "list {n}: {low} in one place, {high} of one tag");
        }
    }
}
