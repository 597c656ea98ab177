//! Complex numbers for device code: what another crate's kernels can use.

use warpwright::prelude::*;

/// A complex number in single precision.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Complex {
    /// Real part.
    pub re: f32,
    /// Imaginary part.
    pub im: f32,
}

#[device]
impl Complex {
    /// |z|².
    pub fn norm_squared(self) -> f32 {
        self.re * self.re + self.im * self.im
    }

    /// z² + c.
    pub fn square_plus(self, c: Complex) -> Complex {
        Complex { re: self.re * self.re - self.im * self.im + c.re, im: 2.0 * self.re * self.im + c.im }
    }
}

/// Iterations of z ← z² + c from zero until |z| > 2, at most `limit`.
#[device]
pub fn escape_time(c: Complex, limit: u32) -> u32 {
    let mut z = Complex { re: 0.0, im: 0.0 };
    let mut n = 0;
    while n < limit {
        if z.norm_squared() > 4.0 {
            break;
        }
        z = z.square_plus(c);
        n += 1;
    }
    n
}
