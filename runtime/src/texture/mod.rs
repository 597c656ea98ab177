//! Textures: two-dimensional images that kernels read through the texture units, with addressing and filter done by the hardware.

mod picture;
mod texel;

pub use picture::Picture;
pub use texel::{FloatTexel, Texel};

use crate::buffer::{Allocation, Buffer};
use crate::device::Device;
use crate::driver::Copied;
use crate::error::{Error, Result};
use std::fmt;
use std::marker::PhantomData;

/// What a read outside of a texture gives, by fetch and by sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// The nearest texel of the edge.
    #[default]
    Clamp,
    /// Zeros.
    Border,
}

/// What `sample` gives at a point between the middles of texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The texel that the point lies in.
    #[default]
    Nearest,
    /// The mean of the four texels around the point, by its distances. GPUs keep the distances to 1/256, in fixed point; the simulator and the
    /// host twin compute them in `f32`. Texels of floats only.
    Linear,
}

/// How a texture is read: fixed when it is made, the same for all kernels. The default is `Nearest`, `Clamp`, coordinates in texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sampling {
    /// Between texels; of `sample` only.
    pub filter: Filter,
    /// Outside.
    pub addressing: Addressing,
    /// Whether `sample` takes coordinates from 0 to 1 over the whole extent, and not in texels.
    pub normalized: bool,
}

/// Texels on a device, for a `&Texture2d<T>` parameter. Made by [`Device::texture`]. No kernel writes it; the host may, between launches.
pub struct Texture<T: Texel> {
    allocation: Allocation,
    picture: Picture,
    texel: PhantomData<T>,
}

impl<T: Texel> Texture<T> {
    pub(crate) fn new(device: &Device, (width, height): (usize, usize), texels: &[T], sampling: Sampling) -> Result<Texture<T>> {
        let refuse = |reason: String| Err(Error::Texture { texel: T::TYPE.to_string(), width, height, reason });
        let [widest, highest] = device.limits().texture;
        if width == 0 || height == 0 {
            return refuse("it has no texels; give it 1 × 1 or more".to_owned());
        }
        if width as u64 > widest || height as u64 > highest {
            return refuse(format!("{device} has room for {widest} × {highest}; cut it into several, or read a `&Global`"));
        }
        // Both are below 2³² by now.
        let wanted = width as u64 * height as u64;
        if texels.len() as u64 != wanted {
            return refuse(miscounted(texels.len(), wanted));
        }
        if sampling.filter == Filter::Linear && !T::COMPONENT.is_float() {
            return refuse("`Filter::Linear` is for floats; choose `Filter::Nearest`, or make a texture of `f32`".to_owned());
        }
        let picture = Picture { width: width as u32, height: height as u32, component: T::COMPONENT, channels: T::CHANNELS, sampling };
        let memory = device.driver().texture(&picture)?;
        let mut texture = Texture { allocation: Allocation::new(device.clone(), memory), picture, texel: PhantomData };
        texture.write(texels)?;
        Ok(texture)
    }

    /// Texels of a row.
    pub fn width(&self) -> usize {
        self.picture.width as usize
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.picture.height as usize
    }

    /// How it is read.
    pub fn sampling(&self) -> Sampling {
        self.picture.sampling
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        self.allocation.device()
    }

    /// Replaces all texels, given row by row. Waits for the kernels that read the old ones.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Driver`] if the device failed.
    pub fn write(&mut self, texels: &[T]) -> Result<()> {
        self.check_len(texels.len())?;
        self.allocation.write(texels)
    }

    /// Replaces all texels by the elements of a buffer of the device, row by row, in the order of the device's own stream, and returns at once.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::ForeignObject`] if the buffer is another device's, [`Error::Driver`] if the device failed.
    pub fn copy_from(&mut self, buffer: &Buffer<T>) -> Result<()> {
        self.check_len(buffer.len())?;
        self.device().check_owner("the texture", buffer.device())?;
        self.allocation.copy_from(buffer.allocation(), Copied::of(self.bytes()))
    }

    /// The texels, row by row, copied to the host.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn download(&self) -> Result<Vec<T>> {
        let mut texels = vec![T::ZEROS; self.width() * self.height()];
        self.allocation.read(&mut texels)?;
        Ok(texels)
    }

    pub(crate) fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    pub(crate) fn picture(&self) -> &Picture {
        &self.picture
    }

    fn bytes(&self) -> usize {
        self.width() * self.height() * size_of::<T>()
    }

    fn check_len(&self, other: usize) -> Result<()> {
        let (width, height) = (self.width(), self.height());
        if width * height == other {
            return Ok(());
        }
        let reason = miscounted(other, (width * height) as u64);
        Err(Error::Texture { texel: T::TYPE.to_string(), width, height, reason })
    }
}

/// Why texels do not fill a texture.
fn miscounted(texels: usize, places: u64) -> String {
    format!("{texels} texels were given for {places} places; give them row by row")
}

impl<T: Texel> fmt::Debug for Texture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Texture<{}>({} × {} on {})", T::TYPE, self.width(), self.height(), self.device())
    }
}
