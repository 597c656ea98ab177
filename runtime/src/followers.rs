//! Devices that get copies of what may still fail on another: if it does, it has failed for them, too.

use crate::device::{Device, KnownDevice};
use crate::driver::Marker;
use crate::error::Result;
use std::sync::{Mutex, PoisonError};

/// Where a device's memory was copied to while something there might have to be given up, and what the other has passed when the last such copy is done. Copies to one device are in the order of its own
/// stream.
#[derive(Default)]
pub(crate) struct Followers(Mutex<Vec<(KnownDevice, Box<dyn Marker>)>>);

fn is_under_way(passed: &dyn Marker) -> bool {
    matches!(passed.is_complete(), Ok(false))
}

impl Followers {
    /// A copy has been put into the other device's own stream.
    pub(crate) fn add(&self, other: &Device) -> Result<()> {
        let passed = other.own_stream().queue().mark()?;
        let mut followers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        followers.retain(|(known, passed)| !known.is(other) && is_under_way(&**passed));
        followers.push((other.known(), passed));
        Ok(())
    }

    /// Those whose copies are not done yet, to be told once.
    pub(crate) fn take(&self) -> Vec<Device> {
        let followers = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        followers.into_iter().filter(|(_, passed)| is_under_way(&**passed)).filter_map(|(known, _)| known.get()).collect()
    }
}
