//! Textures, as a kernel sees them.
#![expect(unsafe_code, reason = "texels are shared by the threads of a launch, as on a device")]

use crate::texture::{FloatTexel, Picture, Texel};

/// A texture in a kernel, `&Texture2d<T>`: a grid of texels that the texture units read, cached for neighbourhoods in two dimensions. What a read outside
/// gives, and what lies between texels, was said when it was made, by [`Sampling`](crate::texture::Sampling).
#[derive(Debug)]
pub struct Texture2d<T> {
    /// First texel. Invariant: valid for reads of all the picture's texels while the launch runs; nobody writes them.
    start: *const T,
    picture: Picture,
}

impl<T: Texel> Texture2d<T> {
    /// A handle to a picture's texels.
    ///
    /// # Safety
    /// `start` is aligned and valid for reads of as many initialised texels as the picture has, as long as the handle is used; nobody writes them
    /// meanwhile.
    pub(crate) unsafe fn from_raw(start: *const T, picture: Picture) -> Texture2d<T> {
        Texture2d { start, picture }
    }

    /// The texel at a column and a row, unfiltered. Outside, the nearest texel of the edge, or zeros.
    #[inline]
    pub fn fetch(&self, x: i32, y: i32) -> T {
        self.picture.fetch(x, y).map_or(T::ZEROS, |n| self.texel(n))
    }

    /// Texels of a row.
    #[inline]
    pub fn width(&self) -> usize {
        self.picture.width as usize
    }

    /// Rows.
    #[inline]
    pub fn height(&self) -> usize {
        self.picture.height as usize
    }

    #[inline]
    fn texel(&self, n: usize) -> T {
        // SAFETY: pictures give numbers of texels that there are; valid by the invariant.
        unsafe { *self.start.add(n) }
    }
}

impl<T: FloatTexel> Texture2d<T> {
    /// The texture at a point: in texels, the middle of the first at (0.5, 0.5), or from 0 to 1 over the extent; filtered or not.
    pub fn sample(&self, u: f32, v: f32) -> T {
        T::of_components(self.picture.sample(u, v, |n| self.texel(n).components()))
    }
}
