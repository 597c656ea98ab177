//! Of `f64`.

mod arc;
mod erf;
mod exp;
mod hyperbolic;
mod log;
mod power;
mod trig;

pub use arc::{acos, asin, atan, atan2};
pub use erf::{erf, erfc};
pub use exp::{exp, exp_m1, exp2};
pub use hyperbolic::{cosh, sinh, tanh};
pub use log::{ln, ln_1p, log2, log10};
pub use power::{cbrt, hypot, powf};
pub use trig::{cos, sin, sin_cos, tan};
