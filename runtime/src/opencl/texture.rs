//! Textures of an OpenCL device: an image, and two samplers, one for each way of reading.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::check;
use super::device::Context;
use super::owned::Owned;
use super::sys::{self, cl_bool, cl_image_desc, cl_image_format, cl_uint};
use crate::driver::Memory;
use crate::error::{Error, Result};
use crate::texture::{Addressing, Filter, Picture};
use std::ptr::null_mut;
use warpwright_codegen::backend::TextureReads;
use warpwright_codegen::ir::Type;

/// An image with its samplers.
pub(super) struct ImageMemory {
    picture: Picture,
    image: Owned,
    fetch: Owned,
    sample: Owned,
}

impl ImageMemory {
    pub(super) fn new(context: &Context, picture: &Picture) -> Result<ImageMemory> {
        let (width, height) = (picture.width as usize, picture.height as usize);
        let texel = match picture.channels {
            1 => picture.component.to_string(),
            n => format!("[{}; {n}]", picture.component),
        };
        let format = format(picture).filter(|format| is_supported(context, format).unwrap_or(false));
        let Some(format) = format else {
            let reason =
                format!("the images of {} do not hold it; read a `&Global`, or use texels of 1 or 4 components", context.identity.name);
            return Err(Error::Texture { texel, width, height, reason });
        };
        let description = cl_image_desc {
            image_type: sys::CL_MEM_OBJECT_IMAGE2D,
            image_width: width,
            image_height: height,
            image_depth: 1,
            image_array_size: 1,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: null_mut(),
        };
        let mut code = 0;
        // SAFETY: no host pointer is given; format and description are filled in.
        let image =
            unsafe { context.api.clCreateImage(context.context, sys::CL_MEM_READ_ONLY, &format, &description, null_mut(), &mut code) };
        let image = context.made(image, code, "clCreateImage", picture.bytes())?;
        let (fetch, sample) = (sampler(context, picture, TextureReads::Fetch)?, sampler(context, picture, TextureReads::Sample)?);
        Ok(ImageMemory { picture: *picture, image, fetch, sample })
    }
}

fn sampler(context: &Context, picture: &Picture, reads: TextureReads) -> Result<Owned> {
    let is_sample = reads == TextureReads::Sample;
    // `CL_ADDRESS_CLAMP` gives the border's colour, zeros in all channels that an image has.
    let addressing = match picture.sampling.addressing {
        Addressing::Clamp => sys::CL_ADDRESS_CLAMP_TO_EDGE,
        Addressing::Border => sys::CL_ADDRESS_CLAMP,
    };
    let is_linear = is_sample && picture.sampling.filter == Filter::Linear;
    let filter = if is_linear { sys::CL_FILTER_LINEAR } else { sys::CL_FILTER_NEAREST };
    let normalized = cl_bool::from(is_sample && picture.sampling.normalized);
    let mut code = 0;
    // SAFETY: the context is alive.
    let sampler = unsafe { context.api.clCreateSampler(context.context, normalized, addressing, filter, &mut code) };
    check(code, "clCreateSampler").map(|()| Owned(sampler, context.api.clReleaseSampler))
}

/// The format of an image: channels as components, unconverted.
fn format(picture: &Picture) -> Option<cl_image_format> {
    let order = match picture.channels {
        1 => sys::CL_R,
        2 => sys::CL_RG,
        _ => sys::CL_RGBA,
    };
    let data = match picture.component {
        Type::F32 => sys::CL_FLOAT,
        Type::I8 => sys::CL_SIGNED_INT8,
        Type::I16 => sys::CL_SIGNED_INT16,
        Type::I32 => sys::CL_SIGNED_INT32,
        Type::U8 => sys::CL_UNSIGNED_INT8,
        Type::U16 => sys::CL_UNSIGNED_INT16,
        Type::U32 => sys::CL_UNSIGNED_INT32,
        _ => return None,
    };
    Some(cl_image_format { image_channel_order: order, image_channel_data_type: data })
}

/// Whether the device has images of a format.
fn is_supported(context: &Context, wanted: &cl_image_format) -> Result<bool> {
    let mut count: cl_uint = 0;
    let list = |room: cl_uint, formats: *mut cl_image_format, count: *mut cl_uint| {
        // SAFETY: writes at most `room` formats, and how many there are.
        unsafe {
            context.api.clGetSupportedImageFormats(context.context, sys::CL_MEM_READ_ONLY, sys::CL_MEM_OBJECT_IMAGE2D, room, formats, count)
        }
    };
    check(list(0, null_mut(), &mut count), "clGetSupportedImageFormats")?;
    let mut formats = vec![cl_image_format::default(); count as usize];
    check(list(count, formats.as_mut_ptr(), null_mut()), "clGetSupportedImageFormats")?;
    let is_wanted = |format: &cl_image_format| {
        format.image_channel_order == wanted.image_channel_order && format.image_channel_data_type == wanted.image_channel_data_type
    };
    Ok(formats.iter().any(is_wanted))
}

impl Memory for ImageMemory {
    fn handle(&self) -> u64 {
        self.image.handle()
    }

    fn picture(&self) -> Option<&Picture> {
        Some(&self.picture)
    }

    fn reader(&self, reads: TextureReads) -> u64 {
        match reads {
            TextureReads::Fetch => self.fetch.handle(),
            TextureReads::Sample => self.sample.handle(),
        }
    }
}
