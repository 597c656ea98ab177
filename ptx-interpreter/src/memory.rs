//! The device's memory: allocations at addresses that are never used twice, and textures.
//!
//! Each allocation has a range of addresses for itself, far from all others. So an access beyond its end, or to one that was freed, is never one to another. Devices share no addresses either.

use crate::error::{FaultKind, Step, Stumble};

/// Bits of an address that are the place in an allocation.
const PLACE_BITS: u32 = 36;
const PLACE: u64 = (1 << PLACE_BITS) - 1;

/// Bits of an address that are the number of an allocation of its device.
const NUMBER_BITS: u32 = 20;
/// Most allocations that a device ever makes: none has the number 0, and the last number is the one before the next device's first.
const MOST_ALLOCATIONS: usize = (1 << NUMBER_BITS) - 2;

/// Most devices: what is left of an address below the windows tells them apart.
pub const MOST_DEVICES: usize = 1 << (60 - PLACE_BITS - NUMBER_BITS);

/// Of generic addresses: where those of the other state spaces begin. Global ones are below.
pub(crate) const SHARED_WINDOW: u64 = 1 << 60;
pub(crate) const LOCAL_WINDOW: u64 = 2 << 60;
pub(crate) const PARAM_WINDOW: u64 = 3 << 60;
pub(crate) const CONST_WINDOW: u64 = 4 << 60;
/// The bits that tell windows apart.
pub(crate) const WINDOWS: u64 = 0xf << 60;

/// Most bytes of an allocation.
pub const LARGEST_ALLOCATION: u64 = 1 << PLACE_BITS;

/// An allocation: its bytes, and whether it was freed.
#[derive(Debug, Default)]
struct Allocation {
    bytes: Vec<u8>,
    /// Set where it was freed: how many bytes it had.
    freed: Option<usize>,
}

/// A texture, with what its object says of how it is read.
#[derive(Clone, Debug)]
pub struct Texture {
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Components of a texel: 1, 2 or 4.
    pub channels: u32,
    /// What a component is.
    pub component: TexelType,
    /// The allocation with the texels, row by row.
    pub address: u64,
    /// Whether coordinates outside read the border, which is zeros, instead of the edge.
    pub has_border: bool,
    /// Whether what lies between texels is a mixture of them.
    pub is_linear: bool,
    /// Whether coordinates go from 0 to 1.
    pub is_normalized: bool,
}

/// What a component of a texel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they are")]
pub enum TexelType {
    U8,
    U16,
    U32,
    I8,
    I16,
    I32,
    F32,
}

impl TexelType {
    /// Bytes of one.
    pub fn bytes(self) -> u32 {
        match self {
            TexelType::U8 | TexelType::I8 => 1,
            TexelType::U16 | TexelType::I16 => 2,
            TexelType::U32 | TexelType::I32 | TexelType::F32 => 4,
        }
    }
}

/// A device's memory.
#[derive(Debug, Default)]
pub struct Memory {
    /// What stands in an address above its place before the number of an allocation: the device.
    device: u64,
    /// By the number in an address, from 1.
    allocations: Vec<Allocation>,
    /// By handle, from 1.
    textures: Vec<Option<Texture>>,
    used: u64,
}

impl Memory {
    /// Memory without allocations.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// The memory of one of several devices, below [`MOST_DEVICES`]: no other's has its addresses.
    pub fn of_device(device: usize) -> Memory {
        Memory { device: (device as u64) << NUMBER_BITS, ..Memory::default() }
    }

    /// The device whose memory an address would be in.
    pub fn device_of(address: u64) -> usize {
        (address >> (PLACE_BITS + NUMBER_BITS)) as usize
    }

    /// The place of an allocation among the device's, by an address in it; beyond all of them for an address of another device.
    #[inline]
    fn slot(&self, address: u64) -> usize {
        ((address >> PLACE_BITS).wrapping_sub(self.device) as usize).wrapping_sub(1)
    }

    /// Makes an allocation of so many bytes, all of them 0xCD, and gives its address, a multiple of 512; `None` if the host has no such memory.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        if bytes > LARGEST_ALLOCATION || self.allocations.len() >= MOST_ALLOCATIONS {
            return None;
        }
        let mut content = Vec::new();
        content.try_reserve_exact(bytes as usize).ok()?;
        content.resize(bytes as usize, 0xcd);
        self.used += bytes;
        self.allocations.push(Allocation { bytes: content, freed: None });
        Some((self.device + self.allocations.len() as u64) << PLACE_BITS)
    }

    /// Frees the allocation that begins at an address; false if none does, or it was freed before.
    pub fn free(&mut self, address: u64) -> bool {
        match self.slot_mut(address) {
            Some(allocation) if address & PLACE == 0 && allocation.freed.is_none() => {
                let bytes = std::mem::take(&mut allocation.bytes).len();
                allocation.freed = Some(bytes);
                self.used -= bytes as u64;
                true
            }
            _ => false,
        }
    }

    /// Bytes in allocations.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes at an address.
    ///
    /// # Errors
    ///
    /// In words, where these bytes are not all in one allocation.
    pub fn read(&self, address: u64, bytes: u64) -> Result<&[u8], String> {
        self.bytes(address, bytes).map_err(|stumble| stumble.what)
    }

    /// Sets bytes at an address.
    ///
    /// # Errors
    ///
    /// In words, where these bytes are not all in one allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        self.bytes_mut(address, bytes.len() as u64).map(|to| to.copy_from_slice(bytes)).map_err(|stumble| stumble.what)
    }

    /// Sets so many bytes to one value.
    ///
    /// # Errors
    ///
    /// In words, where these bytes are not all in one allocation.
    pub fn fill(&mut self, address: u64, value: u8, bytes: u64) -> Result<(), String> {
        self.bytes_mut(address, bytes).map(|to| to.fill(value)).map_err(|stumble| stumble.what)
    }

    /// Makes a texture object and gives its handle.
    pub fn add_texture(&mut self, texture: Texture) -> u64 {
        self.textures.push(Some(texture));
        self.textures.len() as u64
    }

    /// Forgets a texture object; false if there is none.
    pub fn remove_texture(&mut self, handle: u64) -> bool {
        let slot = (handle as usize).checked_sub(1).and_then(|at| self.textures.get_mut(at));
        slot.is_some_and(|slot| slot.take().is_some())
    }

    pub(crate) fn texture(&self, handle: u64) -> Step<&Texture> {
        let slot = (handle as usize).checked_sub(1).and_then(|at| self.textures.get(at));
        slot.and_then(Option::as_ref).ok_or_else(|| Stumble::new(FaultKind::IllegalAddress, format!("{handle:#x} is no texture object")))
    }

    fn slot_mut(&mut self, address: u64) -> Option<&mut Allocation> {
        let slot = self.slot(address);
        self.allocations.get_mut(slot)
    }

    #[inline]
    pub(crate) fn bytes(&self, address: u64, bytes: u64) -> Step<&[u8]> {
        let place = (address & PLACE) as usize;
        let slot = self.slot(address);
        match self.allocations.get(slot).and_then(|allocation| allocation.bytes.get(place..place + bytes as usize)) {
            Some(found) => Ok(found),
            None => Err(self.no_access(address, bytes)),
        }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self, address: u64, bytes: u64) -> Step<&mut [u8]> {
        let place = (address & PLACE) as usize;
        let slot = self.slot(address);
        let is_there = self.allocations.get(slot).is_some_and(|allocation| place + bytes as usize <= allocation.bytes.len());
        if !is_there {
            return Err(self.no_access(address, bytes));
        }
        Ok(&mut self.allocations[slot].bytes[place..place + bytes as usize])
    }

    #[cold]
    fn no_access(&self, address: u64, bytes: u64) -> Box<Stumble> {
        let slot = self.slot(address);
        let place = address & PLACE;
        let at = |slot: usize| self.allocations.get(slot);
        // An address before the first byte of an allocation counts as one far behind the allocation before it.
        let before = PLACE - place < PLACE / 2;
        let nearest = match (before, at(slot), at(slot.wrapping_add(1))) {
            (true, _, Some(next)) => {
                format!("{} bytes before an allocation of {} bytes", PLACE - place + 1, next.freed.unwrap_or(next.bytes.len()))
            }
            (_, Some(Allocation { freed: Some(size), .. }), _) => {
                format!("at byte {place} of an allocation of {size} bytes that was freed")
            }
            (_, Some(Allocation { bytes, .. }), _) => format!("at byte {place} of an allocation of {} bytes", bytes.len()),
            _ => "in no allocation".to_owned(),
        };
        Stumble::new(FaultKind::IllegalAddress, format!("{bytes} bytes at address {address:#x} are {nearest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_accessed() {
        let mut memory = Memory::new();
        let first = memory.allocate(16).expect("memory");
        let second = memory.allocate(8).expect("memory");
        memory.write(first + 8, &7u64.to_le_bytes()).expect("within");
        assert_eq!(memory.read(first + 8, 8), Ok(&7u64.to_le_bytes()[..]));
        assert!(memory.read(first + 12, 8).unwrap_err().ends_with("at byte 12 of an allocation of 16 bytes"));
        assert!(memory.read(second - 4, 4).unwrap_err().ends_with("4 bytes before an allocation of 8 bytes"));
        assert!(memory.free(first) && !memory.free(first) && !memory.free(second + 1));
        assert!(memory.read(first, 4).unwrap_err().ends_with("at byte 0 of an allocation of 16 bytes that was freed"));
        assert_eq!(memory.used(), 8);
        assert!(memory.read(0, 4).unwrap_err().ends_with("in no allocation"));
        let empty = memory.allocate(0).expect("memory");
        assert!(memory.read(empty, 1).is_err());
    }

    #[test]
    fn devices_share_no_addresses() {
        let mut memories = [0, 1, MOST_DEVICES - 1].map(Memory::of_device);
        let addresses = memories.each_mut().map(|memory| memory.allocate(8).expect("memory"));
        assert_eq!(addresses.map(Memory::device_of), [0, 1, MOST_DEVICES - 1]);
        assert!(addresses.iter().all(|address| address + 8 < SHARED_WINDOW));
        for (n, memory) in memories.iter().enumerate() {
            for (m, address) in addresses.iter().enumerate() {
                assert_eq!(memory.read(*address, 8).is_ok(), n == m, "{n} {m}");
            }
        }
        assert!(memories[1].read(addresses[0], 8).unwrap_err().ends_with("in no allocation"));
    }
}
