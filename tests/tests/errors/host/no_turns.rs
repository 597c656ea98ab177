//! `WARPWRIGHT_LOOP_LIMIT=many`, in a child of this test.

use super::launches::scaled;

super::examples! {
    /// `WARPWRIGHT_LOOP_LIMIT=many`
    fn no_number_of_turns(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(device)
    }
}
