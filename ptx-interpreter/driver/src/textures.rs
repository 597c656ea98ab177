//! Arrays, texture objects and tensor maps.

use crate::codes::{Code, INVALID_VALUE, OUT_OF_MEMORY};
use crate::layouts::{ArrayDescriptor, Copy2d, Place2d, Resource, TextureDescription};
use crate::memory::{of_host, read, to_host, write};
use crate::state::{Array, Handle, State, known, state};
use std::ffi::{c_uint, c_void};
use warpwright_ptx_interpreter::{Swizzle, TensorMap, TexelType, Texture};

/// Kinds of memory of a copy.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const ARRAY: c_uint = 3;
/// `CU_TR_ADDRESS_MODE_BORDER`, `CU_TR_FILTER_MODE_LINEAR`, and the flag of coordinates from 0 to 1.
const BORDER: c_uint = 3;
const LINEAR: c_uint = 1;
const NORMALIZED: c_uint = 2;
/// Bytes of each of `CUtensorMapDataType`, in their order.
const MAP_TYPES: &[u32] = &[1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4];
/// Most elements of a tile along a dimension.
const TILE_SIDE: u32 = 256;

/// `CUarray_format`.
fn texel(format: u32) -> Option<TexelType> {
    Some(match format {
        1 => TexelType::U8,
        2 => TexelType::U16,
        3 => TexelType::U32,
        8 => TexelType::I8,
        9 => TexelType::I16,
        10 => TexelType::I32,
        32 => TexelType::F32,
        _ => return None,
    })
}

impl Array {
    fn row_bytes(&self) -> usize {
        self.width * self.channels as usize * texel(self.format).map_or(0, TexelType::bytes) as usize
    }
}

/// Where a row of one side of a copy begins: on the host, or the device.
enum Row {
    Host(*mut c_void),
    Device(u64),
}

fn row(state: &State, place: &Place2d, number: usize) -> Result<Row, Code> {
    let further = |pitch: usize| (place.y + number) * pitch + place.x_bytes;
    match place.kind {
        HOST => Ok(Row::Host(place.host.cast::<u8>().wrapping_add(further(place.pitch)).cast())),
        DEVICE => Ok(Row::Device(place.device + further(place.pitch) as u64)),
        ARRAY => {
            let array = known(state.arrays.get(&place.array))?;
            Ok(Row::Device(array.address + further(array.row_bytes()) as u64))
        }
        _ => Err(INVALID_VALUE),
    }
}

/// A map of the driver's numbers, if there can be such.
fn tensor_map(kind: c_uint, rank: c_uint, address: u64, swizzle: c_uint) -> Result<TensorMap, Code> {
    let element = *MAP_TYPES.get(kind as usize).ok_or(INVALID_VALUE)?;
    let swizzle = *Swizzle::ALL.get(swizzle as usize).ok_or(INVALID_VALUE)?;
    if !(1..=5).contains(&rank) || !address.is_multiple_of(16) {
        return Err(INVALID_VALUE);
    }
    Ok(TensorMap { element, rank, address, extents: [1; 5], strides: [0; 4], tile: [1; 5], swizzle })
}

fn check_map(map: &TensorMap) -> Result<(), Code> {
    let rank = map.rank as usize;
    let inner = u64::from(map.tile[0] * map.element);
    let span = match map.swizzle {
        Swizzle::None => u64::MAX,
        Swizzle::B32 => 32,
        Swizzle::B64 => 64,
        Swizzle::B128 => 128,
    };
    let are_strides_right = map.strides[..rank - 1].iter().all(|stride| stride.is_multiple_of(16) && *stride < 1 << 40);
    let are_sides_right = map.tile[..rank].iter().all(|side| (1..=TILE_SIDE).contains(side));
    let are_extents_right = map.extents[..rank].iter().all(|extent| (1..=1 << 32).contains(extent));
    let fits = inner.is_multiple_of(16) && inner <= span;
    if are_strides_right && are_sides_right && are_extents_right && fits { Ok(()) } else { Err(INVALID_VALUE) }
}

exported! {
    /// An array of two dimensions.
    fn cuArrayCreate_v2(array: *mut Handle, descriptor: *const ArrayDescriptor) {
        let mut state = state()?;
        let descriptor = take!(descriptor);
        let mut new = Array {
            address: 0,
            width: descriptor.width,
            height: descriptor.height.max(1),
            format: descriptor.format,
            channels: descriptor.channels,
        };
        if texel(new.format).is_none() || !matches!(new.channels, 1 | 2 | 4) || new.width == 0 {
            return Err(INVALID_VALUE);
        }
        new.address = state.gpu()?.memory.allocate((new.row_bytes() * new.height) as u64).ok_or(OUT_OF_MEMORY)?;
        let handle = state.new_handle();
        state.arrays.insert(handle, new);
        put!(array, handle);
        Ok(())
    }

    /// Its end.
    fn cuArrayDestroy(array: Handle) {
        let mut state = state()?;
        state.do_everything();
        let array = known(state.arrays.remove(&array))?;
        state.memory_at(array.address)?.free(array.address);
        Ok(())
    }

    /// A texture object.
    fn cuTexObjectCreate(object: *mut u64, resource: *const Resource, texture: *const TextureDescription, _view: *const c_void) {
        let (resource, texture) = (take!(resource), take!(texture));
        let mut state = state()?;
        let array = known(state.arrays.get(&resource.array))?;
        let new = Texture {
            width: array.width as u32,
            height: array.height as u32,
            channels: array.channels,
            component: texel(array.format).ok_or(INVALID_VALUE)?,
            address: array.address,
            has_border: texture.address_mode[0] == BORDER,
            is_linear: texture.filter_mode == LINEAR,
            is_normalized: texture.flags & NORMALIZED != 0,
        };
        put!(object, state.gpu()?.memory.add_texture(new));
        Ok(())
    }

    /// Its end.
    fn cuTexObjectDestroy(object: u64) {
        let mut state = state()?;
        state.do_everything();
        if state.gpu()?.memory.remove_texture(object) { Ok(()) } else { Err(INVALID_VALUE) }
    }

    /// A copy of rows, which is never late: one side of it may be the host's.
    fn cuMemcpy2DAsync_v2(copy: *const Copy2d, stream: Handle) {
        let copy = take!(copy);
        let mut state = state()?;
        let place = state.place_of(stream)?;
        state.come_to_end(place);
        state.told(place.context)?;
        for number in 0..copy.height {
            let content = match row(&state, &copy.from, number)? {
                Row::Host(from) => of_host(from, copy.width_bytes)?.to_vec(),
                Row::Device(from) => read(&mut state, from, copy.width_bytes)?,
            };
            match row(&state, &copy.to, number)? {
                Row::Host(to) => to_host(to, &content)?,
                Row::Device(to) => write(&mut state, to, &content)?,
            }
        }
        Ok(())
    }

    /// A map of a matrix.
    fn cuTensorMapEncodeTiled(
        to: *mut [u64; 16],
        kind: c_uint,
        rank: c_uint,
        address: *mut c_void,
        extents: *const u64,
        strides: *const u64,
        tile: *const c_uint,
        steps: *const c_uint,
        interleave: c_uint,
        swizzle: c_uint,
        _promotion: c_uint,
        fill: c_uint,
    ) {
        let mut map = tensor_map(kind, rank, address as u64, swizzle)?;
        if interleave != 0 || fill != 0 {
            return Err(INVALID_VALUE);
        }
        for n in 0..rank as usize {
            map.extents[n] = *take!(extents.wrapping_add(n));
            map.tile[n] = *take!(tile.wrapping_add(n));
            if *take!(steps.wrapping_add(n)) != 1 {
                return Err(INVALID_VALUE);
            }
            if n > 0 {
                map.strides[n - 1] = *take!(strides.wrapping_add(n - 1));
            }
        }
        check_map(&map)?;
        put!(to, map.encode());
        Ok(())
    }
}
