//! Vector accesses of arrays, as a kernel sees them.

/// [`Global::load`](super::Global::load) and [`Global::store`](super::Global::store) on shared arrays and constants.
pub trait ArrayVectors<T> {
    /// `N` consecutive elements by one vector access. `i` is a multiple of `N`.
    fn load<const N: usize>(&self, i: usize) -> [T; N];

    /// Writes `N` consecutive elements by one vector access. `i` is a multiple of `N`.
    fn store<const N: usize>(&mut self, i: usize, v: [T; N]);
}

impl<T: Copy> ArrayVectors<T> for [T] {
    #[inline]
    #[track_caller]
    fn load<const N: usize>(&self, i: usize) -> [T; N] {
        let start = first::<N>(i, self.len());
        std::array::from_fn(|n| self[start + n])
    }

    #[inline]
    #[track_caller]
    fn store<const N: usize>(&mut self, i: usize, v: [T; N]) {
        let start = first::<N>(i, self.len());
        self[start..start + N].copy_from_slice(&v);
    }
}

/// The index, of as many elements of an array this long.
#[inline]
#[track_caller]
fn first<const N: usize>(i: usize, len: usize) -> usize {
    const { assert!(N > 0, "a vector access has at least one element") }
    assert!(
        i.is_multiple_of(N),
        "index {i} of a vector access is not a multiple of its {N} elements; help: begin at {} or {}",
        i - i % N,
        (i - i % N).saturating_add(N)
    );
    assert!(
        i < len && N <= len - i,
        "elements {i} to {} are out of bounds of an array of {len} elements; help: guard it, `if i + {N} <= {len}` where `i` is the index",
        i.saturating_add(N - 1)
    );
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_written_in_vectors() {
        let mut tile = [[0u8; 16]; 2];
        tile[1].store(8, [1, 2, 3, 4]);
        assert_eq!(tile[1].load::<8>(8), [1, 2, 3, 4, 0, 0, 0, 0]);
        assert_eq!(tile[0], [0; 16]);
    }

    #[test]
    #[should_panic(expected = "index 2 of a vector access is not a multiple of its 4 elements")]
    fn a_misaligned_vector_is_refused() {
        let _ = [0.0f32; 8].load::<4>(2);
    }

    #[test]
    #[should_panic(expected = "elements 4 to 7 are out of bounds of an array of 6 elements")]
    fn a_vector_beyond_the_end_is_refused() {
        [0.0f32; 6].store(4, [0.0; 4]);
    }
}
