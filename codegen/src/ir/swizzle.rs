//! How the elements of a swizzled shared array lie.
//!
//! A swizzle over S bytes is the layout of tensor copies, `ldmatrix`, `stmatrix` and `wgmma` (CUDA Driver API, `CUtensorMapSwizzle`; PTX ISA, "Tensors:
//! swizzling modes"). The columns of `[[T; C]; R]` are parted into **slabs** of S bytes. A slab is R rows of S bytes, one behind another, and the slabs follow one
//! another. Within a slab, bits of a byte's address that tell the row are added, by exclusive or, to those that tell the chunk of 16 bytes: with S = 128
//! bits 7 to 9 to bits 4 to 6, with 64 bits 7 and 8 to bits 4 and 5, with 32 bit 7 to bit 4. The pattern repeats after 8 rows, so arrays begin at multiples of
//! 8 S bytes, and their rows are a multiple of 8. Then the row's number says what the address says, and that is what the pass `schedule::shared` computes with.

use crate::target::limits::VECTOR_BYTES;

/// How the elements of a shared array are permuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Swizzle {
    /// Element (r, c) lies in column `c ^ (r % columns)` of its row.
    Columns,
    /// Chunks of 16 bytes are permuted within 32 bytes.
    B32,
    /// The same within 64.
    B64,
    /// The same within 128.
    B128,
}

/// Rows after which a swizzle over bytes repeats.
pub const SWIZZLE_ROWS: u64 = 8;

impl Swizzle {
    /// Each, with its word in the text form.
    pub const ALL: [(Swizzle, &'static str); 4] =
        [(Swizzle::B32, "swizzled32"), (Swizzle::B64, "swizzled64"), (Swizzle::B128, "swizzled128"), (Swizzle::Columns, "swizzled")];

    /// Its word in the text form.
    pub fn word(self) -> &'static str {
        Swizzle::ALL.into_iter().find(|(swizzle, _)| *swizzle == self).map_or("", |(_, word)| word)
    }

    /// The swizzle over so many bytes.
    pub fn over(bytes: u32) -> Option<Swizzle> {
        [Swizzle::B32, Swizzle::B64, Swizzle::B128].into_iter().find(|swizzle| swizzle.bytes() == Some(bytes.into()))
    }

    /// How many bytes of a row a slab has; none if there are no slabs.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Swizzle::Columns => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B128 => Some(128),
        }
    }

    /// What the array, and each tile in it, begins at multiples of, bytes; 1 if that does not matter.
    pub fn align(self) -> u64 {
        self.bytes().map_or(1, |bytes| bytes * SWIZZLE_ROWS)
    }

    /// The most bytes that lie side by side, if they begin at a multiple of as many.
    pub fn whole(self) -> u64 {
        if self.bytes().is_some() { VECTOR_BYTES as u64 } else { 1 }
    }

    /// Of a swizzle over bytes: by how much a row's number is shifted right, and the mask of what is left, to be the chunk's change.
    pub fn of_row(self) -> Option<(u32, u32)> {
        // Bit 7 of an address is that of 128 / S rows.
        let chunks = self.bytes()? as u32 / VECTOR_BYTES as u32;
        Some(((SWIZZLE_ROWS as u32 / chunks).trailing_zeros(), chunks - 1))
    }

    /// Where a byte of a slab lies, whose place in order of rows is this address.
    pub fn of_address(self, address: u64) -> u64 {
        let Some((_, mask)) = self.of_row() else { return address };
        address ^ ((address >> 7) & u64::from(mask)) << 4
    }
}

#[cfg(test)]
mod tests {
    use super::Swizzle;

    #[test]
    fn rows_say_what_addresses_say() {
        for swizzle in [Swizzle::B32, Swizzle::B64, Swizzle::B128] {
            let (bytes, (shift, mask)) = (swizzle.bytes().unwrap(), swizzle.of_row().unwrap());
            for row in 0..64 {
                for at in 0..bytes {
                    let moved = at ^ ((row >> shift) & u64::from(mask)) << 4;
                    assert_eq!(swizzle.of_address(row * bytes + at), row * bytes + moved, "{swizzle:?}, row {row}, byte {at}");
                }
            }
        }
        // CUDA Driver API's own example: with 128 bytes, chunk c of row r is chunk c ^ r.
        assert_eq!(Swizzle::B128.of_address(5 * 128 + 3 * 16), 5 * 128 + 6 * 16);
    }
}
