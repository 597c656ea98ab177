//! Textures of the GPU: an array, and two texture objects of it, one for each way of reading.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::api::{DriverApi, code};
use super::sys;
use super::{Context, Owned};
use crate::driver::Memory;
use crate::error::{Error, Result};
use crate::texture::{Addressing, Filter, Picture};
use std::ffi::c_uint;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use warpwright_codegen::backend::TextureReads;
use warpwright_codegen::ir::Type;

/// An array with its texture objects, which go before it.
pub(super) struct TextureMemory {
    picture: Picture,
    fetch: Owned<sys::CUtexObject>,
    sample: Owned<sys::CUtexObject>,
    array: Owned<sys::CUarray>,
}

impl TextureMemory {
    pub(super) fn new(context: Arc<Context>, picture: &Picture) -> Result<TextureMemory> {
        // Texels are of no other components.
        let Some(format) = format(picture.component) else { return Err(Error::internal(&picture.component.to_string())) };
        context.bind()?;
        let (width, height) = (picture.width as usize, picture.height as usize);
        let descriptor = sys::CUDA_ARRAY_DESCRIPTOR { Width: width, Height: height, Format: format, NumChannels: picture.channels };
        let mut array = sys::Handle::NULL;
        // SAFETY: writes one handle; the context is current.
        match unsafe { context.driver.cuArrayCreate(&mut array, &descriptor) } {
            code::OUT_OF_MEMORY => return Err(Error::OutOfMemory { device: context.identity.named(), bytes: picture.bytes() }),
            code => context.check(code, "cuArrayCreate")?,
        }
        let array = Owned { context, handle: array, free: DriverApi::cuArrayDestroy };
        let (fetch, sample) = (object(&array, picture, TextureReads::Fetch)?, object(&array, picture, TextureReads::Sample)?);
        Ok(TextureMemory { picture: *picture, fetch, sample, array })
    }

    /// A copy of all texels, one side of which is this array; the caller names the other.
    pub(super) fn copy_of(array: u64, picture: &Picture, to_array: bool) -> sys::CUDA_MEMCPY2D {
        let (array, none) = (sys::Handle::of(array), sys::Handle::NULL);
        let row = picture.width as usize * picture.texel_bytes() as usize;
        // An array has no pitch of its own.
        sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: sys::CU_MEMORYTYPE_ARRAY,
            srcHost: null(),
            srcDevice: 0,
            srcArray: if to_array { none } else { array },
            srcPitch: row,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: sys::CU_MEMORYTYPE_ARRAY,
            dstHost: null_mut(),
            dstDevice: 0,
            dstArray: if to_array { array } else { none },
            dstPitch: row,
            WidthInBytes: row,
            Height: picture.height as usize,
        }
    }
}

/// What the array is read through.
fn object(array: &Owned<sys::CUarray>, picture: &Picture, reads: TextureReads) -> Result<Owned<sys::CUtexObject>> {
    let sampling = &picture.sampling;
    let is_sample = reads == TextureReads::Sample;
    let address = match sampling.addressing {
        Addressing::Clamp => sys::CU_TR_ADDRESS_MODE_CLAMP,
        Addressing::Border => sys::CU_TR_ADDRESS_MODE_BORDER,
    };
    let is_linear = is_sample && sampling.filter == Filter::Linear;
    let integers = if picture.component.is_float() { 0 } else { sys::CU_TRSF_READ_AS_INTEGER };
    let normalized = if is_sample && sampling.normalized { sys::CU_TRSF_NORMALIZED_COORDINATES } else { 0 };
    let mut res = sys::Resource { reserved: [0; 32] };
    res.hArray = array.handle;
    let resource = sys::CUDA_RESOURCE_DESC { resType: sys::CU_RESOURCE_TYPE_ARRAY, res, flags: 0 };
    let filter = if is_linear { sys::CU_TR_FILTER_MODE_LINEAR } else { sys::CU_TR_FILTER_MODE_POINT };
    let texture = sys::CUDA_TEXTURE_DESC {
        addressMode: [address; 3],
        filterMode: filter,
        flags: integers | normalized,
        ..sys::CUDA_TEXTURE_DESC::default()
    };
    let mut object = 0;
    // SAFETY: writes one handle; the descriptions are filled in, and no view of other texels is asked for.
    let code = unsafe { array.context.driver.cuTexObjectCreate(&mut object, &resource, &texture, null()) };
    array.context.check(code, "cuTexObjectCreate")?;
    Ok(Owned { context: Arc::clone(&array.context), handle: object, free: DriverApi::cuTexObjectDestroy })
}

/// The format of an array's components.
fn format(component: Type) -> Option<c_uint> {
    Some(match component {
        Type::F32 => sys::CU_AD_FORMAT_FLOAT,
        Type::I8 => sys::CU_AD_FORMAT_SIGNED_INT8,
        Type::I16 => sys::CU_AD_FORMAT_SIGNED_INT16,
        Type::I32 => sys::CU_AD_FORMAT_SIGNED_INT32,
        Type::U8 => sys::CU_AD_FORMAT_UNSIGNED_INT8,
        Type::U16 => sys::CU_AD_FORMAT_UNSIGNED_INT16,
        Type::U32 => sys::CU_AD_FORMAT_UNSIGNED_INT32,
        _ => return None,
    })
}

impl Memory for TextureMemory {
    fn handle(&self) -> u64 {
        self.array.handle.bits()
    }

    fn picture(&self) -> Option<&Picture> {
        Some(&self.picture)
    }

    fn reader(&self, reads: TextureReads) -> u64 {
        match reads {
            TextureReads::Fetch => self.fetch.handle,
            TextureReads::Sample => self.sample.handle,
        }
    }
}
