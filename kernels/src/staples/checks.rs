//! What functions ask before they write anything.

use super::{Error, Result, Workspace};
use warpwright::{Buffer, Device, DeviceKind, Element, Stream};

/// What a call is of: its name, for errors, and its stream.
#[derive(Clone, Copy)]
pub struct Call<'s> {
    pub(super) function: &'static str,
    pub(super) stream: &'s Stream,
}

/// The longest buffer that kernels with an index of 32 bits take: what they add to an index beyond the end does not wrap.
const MOST_SHORT: usize = (1 << 31) - 1;

impl<'s> Call<'s> {
    pub(super) fn new(function: &'static str, stream: &'s Stream) -> Call<'s> {
        Call { function, stream }
    }

    /// The workspace is the stream's device's.
    pub(super) fn workspace(self, workspace: &Workspace) -> Result<Self> {
        self.lies_here("workspace", workspace.device())
    }

    /// The buffer is the stream's device's.
    pub(super) fn takes<T: Element>(self, name: &'static str, buffer: &Buffer<T>) -> Result<Self> {
        self.lies_here(name, buffer.device())
    }

    /// The buffer is the stream's device's, and as long as it must be.
    pub(super) fn fits<T: Element>(self, name: &'static str, buffer: &Buffer<T>, needed: usize) -> Result<Self> {
        let has = buffer.len();
        if has < needed {
            return Err(Error::Length { function: self.function, buffer: name, has, needed });
        }
        self.takes(name, buffer)
    }

    /// The buffer has an element.
    pub(super) fn has_some<T: Element>(self, name: &'static str, buffer: &Buffer<T>) -> Result<Self> {
        if buffer.is_empty() { Err(Error::Empty { function: self.function, buffer: name }) } else { Ok(self) }
    }

    /// The buffer has at most so many elements.
    pub(super) fn at_most<T: Element>(self, name: &'static str, buffer: &Buffer<T>, most: usize) -> Result<Self> {
        let has = buffer.len();
        if has > most { Err(Error::TooLong { function: self.function, buffer: name, has, most }) } else { Ok(self) }
    }

    fn lies_here(self, name: &'static str, owner: &Device) -> Result<Self> {
        let device = self.stream.device();
        if owner == device {
            return Ok(self);
        }
        Err(Error::OtherDevice { function: self.function, buffer: name, owner: owner.to_string(), device: device.to_string() })
    }

    /// Whether the device is one that kernels by the copy engine are made for: of capability 9, with its shared memory and its products of warpgroups. The simulator and the host twin run them, too.
    pub(super) fn has_copy_engine(self) -> bool {
        let device = self.stream.device();
        match device.kind() {
            DeviceKind::OpenCl => false,
            _ => device.properties().compute_capability.is_none_or(|capability| capability.0 == 9),
        }
    }

    /// Multiprocessors of the device; of the simulator and the host twin, which have none, two.
    pub(super) fn multiprocessors(self) -> usize {
        self.stream.device().properties().multiprocessors.map_or(2, |count| count as usize)
    }
}

/// Whether a length needs kernels with an index of 64 bits.
pub(super) fn is_long(len: usize) -> bool {
    len > MOST_SHORT
}
