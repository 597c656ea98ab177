//! Three extents: of a grid, of a block; a thread's place in them. What `thread_idx()` gives and what `.grid(…)` takes.

use std::fmt;

/// Three extents or coordinates, x fastest.
///
/// On the host it is made from integers: `256`, `(16, 16)`, `(w, h, d)`; extents not given are 1. Integers convert as they are,
/// a negative one too: the launch refuses what cannot be, naming the figure.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Fastest-running axis.
    pub x: usize,
    /// Second axis.
    pub y: usize,
    /// Third axis.
    pub z: usize,
}

impl Dim3 {
    /// All three extents.
    pub const fn new(x: usize, y: usize, z: usize) -> Dim3 {
        Dim3 { x, y, z }
    }

    /// x, y, z.
    pub const fn to_array(self) -> [usize; 3] {
        [self.x, self.y, self.z]
    }
}

impl fmt::Display for Dim3 {
    /// `(16, 16, 1)`; what was negative before it was converted is shown negative.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x as isize, self.y as isize, self.z as isize)
    }
}

impl fmt::Debug for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// An integer that can be an extent or a size: `i32` (an integer literal's type), `u32`, `usize`.
pub trait Extent: sealed::Sealed {
    /// Sign-extended to the host's index type; what is negative is refused where it is used.
    fn extent(self) -> usize;
}

macro_rules! extents {
    ($($ty:ty),*) => {$(
        impl sealed::Sealed for $ty {}

        impl Extent for $ty {
            fn extent(self) -> usize {
                self as usize
            }
        }

        impl From<$ty> for Dim3 {
            fn from(x: $ty) -> Dim3 {
                Dim3::new(x.extent(), 1, 1)
            }
        }
    )*};
}

// `i32` is what an integer literal becomes where several types would do.
extents!(i32, u32, usize);

impl<X: Extent, Y: Extent> From<(X, Y)> for Dim3 {
    fn from((x, y): (X, Y)) -> Dim3 {
        Dim3::new(x.extent(), y.extent(), 1)
    }
}

impl<X: Extent, Y: Extent, Z: Extent> From<(X, Y, Z)> for Dim3 {
    fn from((x, y, z): (X, Y, Z)) -> Dim3 {
        Dim3::new(x.extent(), y.extent(), z.extent())
    }
}

impl From<[usize; 3]> for Dim3 {
    fn from([x, y, z]: [usize; 3]) -> Dim3 {
        Dim3::new(x, y, z)
    }
}

#[cfg(test)]
mod tests {
    use super::Dim3;

    fn convert(extents: impl Into<Dim3>) -> [usize; 3] {
        extents.into().to_array()
    }

    #[test]
    fn literals_and_mixed_tuples_convert() {
        let (w, h) = (7usize, 5u32);
        assert_eq!(convert(256), [256, 1, 1]);
        assert_eq!(convert(w), [7, 1, 1]);
        assert_eq!(convert(h), [5, 1, 1]);
        assert_eq!(convert((4, 4)), [4, 4, 1]);
        assert_eq!(convert((w, 4)), [7, 4, 1]);
        assert_eq!(convert((w, h, 3)), [7, 5, 3]);
        assert_eq!(convert((w.div_ceil(2), w)), [4, 7, 1]);
    }

    #[test]
    fn a_negative_literal_stays_visible() {
        assert_eq!(Dim3::from((-1, 2)).to_string(), "(-1, 2, 1)");
    }
}
