//! Maps of matrices for tensor copies (CUDA Driver API, "Tensor Map Object Management"), in a layout of this interpreter's own.

/// How a tile lies in shared memory: which bits of an address are changed by which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "by the bytes that a pattern spans")]
pub enum Swizzle {
    None,
    B32,
    B64,
    B128,
}

impl Swizzle {
    /// In the order of the driver's numbers.
    pub const ALL: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];

    /// Where the byte of an address lies.
    pub(crate) fn place(self, address: u64) -> u64 {
        let bits = match self {
            Swizzle::None => 0,
            Swizzle::B32 => 1,
            Swizzle::B64 => 3,
            Swizzle::B128 => 7,
        };
        address ^ (address >> 7 & bits) << 4
    }

    /// Bytes of a row of the pattern.
    pub(crate) fn span(self) -> u64 {
        match self {
            Swizzle::None => u64::MAX,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 => 128,
        }
    }
}

/// A map of up to five dimensions, the one whose elements lie side by side first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Bytes of an element: 1, 2, 4 or 8.
    pub element: u32,
    /// How many dimensions.
    pub rank: u32,
    /// The first element.
    pub address: u64,
    /// Elements along each dimension.
    pub extents: [u64; 5],
    /// Bytes from each element to the next, of all dimensions but the first.
    pub strides: [u64; 4],
    /// Elements of a tile along each.
    pub tile: [u32; 5],
    /// How tiles lie in shared memory.
    pub swizzle: Swizzle,
}

/// What the first word of a map begins with.
const MARK: u64 = 0x7e45_0000_0000_0000;

impl TensorMap {
    /// The map's words.
    pub fn encode(&self) -> [u64; 16] {
        let swizzle = Swizzle::ALL.iter().position(|one| *one == self.swizzle).unwrap_or(0) as u64;
        let mut words = [0; 16];
        words[0] = MARK | swizzle << 16 | u64::from(self.rank) << 8 | u64::from(self.element);
        words[1] = self.address;
        words[2..7].copy_from_slice(&self.extents);
        words[7..11].copy_from_slice(&self.strides);
        for (word, tile) in words[11..].iter_mut().zip(self.tile) {
            *word = tile.into();
        }
        words
    }

    /// Whether its figures are those of some matrix.
    fn is_possible(&self) -> bool {
        let are_sides = self.tile.iter().all(|side| (1..=256).contains(side));
        let elements: u64 = self.tile.iter().map(|side| u64::from((*side).clamp(1, 256))).product();
        matches!(self.element, 1 | 2 | 4 | 8) && (1..=5).contains(&self.rank) && are_sides && elements <= 1 << 18
    }

    /// The map of words, if it is one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<TensorMap> {
        let word = |n: usize| bytes.get(8 * n..8 * n + 8).map_or(0, super::machine_number);
        let first = word(0);
        if first & (0xffff << 48) != MARK {
            return None;
        }
        let map = TensorMap {
            element: first as u32 & 0xff,
            rank: first as u32 >> 8 & 0xff,
            address: word(1),
            extents: std::array::from_fn(|n| word(2 + n)),
            strides: std::array::from_fn(|n| word(7 + n)),
            tile: std::array::from_fn(|n| word(11 + n) as u32),
            swizzle: Swizzle::ALL[(first >> 16 & 3) as usize],
        };
        map.is_possible().then_some(map)
    }

    /// Elements of a tile, each by its number in shared memory and its address in the matrix; none where the tile is beyond the matrix.
    pub(crate) fn elements(&self, at: &[i32]) -> impl Iterator<Item = (u64, Option<u64>)> {
        let (map, rank) = (*self, self.rank as usize);
        let at: Vec<i64> = at.iter().map(|coordinate| i64::from(*coordinate)).collect();
        let count: u64 = map.tile[..rank].iter().map(|n| u64::from(*n)).product();
        (0..count).map(move |number| {
            let (mut rest, mut address, mut is_within) = (number, map.address, true);
            for (dimension, begin) in at.iter().enumerate().take(rank) {
                let side = u64::from(map.tile[dimension]);
                let place = begin + (rest % side) as i64;
                rest /= side;
                is_within &= place >= 0 && (place as u64) < map.extents[dimension];
                let stride = if dimension == 0 { u64::from(map.element) } else { map.strides[dimension - 1] };
                address = address.wrapping_add((place as u64).wrapping_mul(stride));
            }
            (number, is_within.then_some(address))
        })
    }

    /// Bytes of a tile.
    pub(crate) fn tile_bytes(&self) -> u32 {
        self.tile[..self.rank as usize].iter().product::<u32>() * self.element
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_as_it_was_written() {
        let map = TensorMap {
            element: 4,
            rank: 2,
            address: 4096,
            extents: [10, 3, 1, 1, 1],
            strides: [48, 0, 0, 0],
            tile: [4, 2, 1, 1, 1],
            swizzle: Swizzle::B64,
        };
        let bytes: Vec<u8> = map.encode().iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(TensorMap::decode(&bytes), Some(map));
        assert_eq!(TensorMap::decode(&[0; 128]), None);
        let places: Vec<_> = map.elements(&[8, -1]).collect();
        let zero = [0, 1, 2, 3].map(|n| (n, None));
        assert_eq!(places[..4], zero);
        assert_eq!(places[4..], [(4, Some(4096 + 32)), (5, Some(4096 + 36)), (6, None), (7, None)]);
        assert_eq!([Swizzle::B128.place(0x90), Swizzle::B32.place(0x90), Swizzle::None.place(0x90)], [0x80, 0x80, 0x90]);
    }
}
