//! `WARPWRIGHT_WEAK_MEMORY=much`, in a child of this test.

use super::launches::scaled;

super::examples! {
    /// `WARPWRIGHT_WEAK_MEMORY=much`
    fn no_seed(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(device)
    }
}
