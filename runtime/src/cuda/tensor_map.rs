//! Maps of matrices for tensor copies: made from a launch's arguments, and kept for the next one with the same.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::api::DriverApi;
use super::{Context, Owned, sys};
use crate::error::{Error, Result};
use crate::tensor::Matrix;
use std::collections::HashMap;
use std::ffi::c_uint;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use warpwright_codegen::backend::TensorMap;
use warpwright_codegen::ir::Swizzle;

/// Most maps that are kept.
const KEPT: usize = 256;

/// Bytes that stand in for a matrix without elements where it is read, and as many for one that is stored to.
const STAND_IN: usize = 256;

/// The maps that were made for a kernel.
#[derive(Default)]
pub(super) struct Maps {
    made: Mutex<HashMap<(TensorMap, Matrix), sys::CUtensorMap>>,
    /// What a matrix without elements is, since no map has none: kernels read and store the tiles round it.
    stand_in: OnceLock<Owned<sys::CUdeviceptr>>,
}

impl Maps {
    /// The map of a matrix. `name`: the kernel's and the matrix's, for messages.
    pub(super) fn get(
        &self,
        context: &Arc<Context>,
        name: (&'static str, String),
        map: &TensorMap,
        matrix: Matrix,
    ) -> Result<sys::CUtensorMap> {
        let mut kept = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&(*map, matrix)) {
            return Ok(*known);
        }
        let made = if matrix.has_elements() {
            matrix.check((name.0, &name.1), map.element, map.is_stored)?;
            make(context, map, &matrix)?
        } else {
            make(context, map, &matrix.of_one_element(self.stand_in(context, map.is_stored)?, map.element))?
        };
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert((*map, matrix), made);
        Ok(made)
    }

    /// The address of one element: of a zero that nothing writes, or (`is_stored`) of one that nothing reads.
    fn stand_in(&self, context: &Arc<Context>, is_stored: bool) -> Result<u64> {
        let offset = if is_stored { STAND_IN as u64 } else { 0 };
        if let Some(made) = self.stand_in.get() {
            return Ok(made.handle + offset);
        }
        let made = context.allocate(2 * STAND_IN)?;
        let (driver, stream) = (context.driver, sys::Handle::NULL);
        // SAFETY: so many bytes were just allocated, and the context is current.
        context.check(unsafe { driver.cuMemsetD8Async(made.handle, 0, 2 * STAND_IN, stream) }, "cuMemsetD8Async")?;
        // SAFETY: waits for the default stream of the context.
        context.check(unsafe { driver.cuStreamSynchronize(stream) }, "cuStreamSynchronize")?;
        Ok(self.stand_in.get_or_init(|| made).handle + offset)
    }
}

fn make(context: &Context, map: &TensorMap, matrix: &Matrix) -> Result<sys::CUtensorMap> {
    let driver: &DriverApi = context.driver;
    let Some(encode) = driver.cuTensorMapEncodeTiled else {
        // A driver that takes the kernel's PTX, 8.0 of CUDA 12.0, has it.
        return Err(Error::internal(&context.identity.name));
    };
    let data_type = match map.element {
        1 => sys::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        2 => sys::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        4 => sys::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        _ => sys::CU_TENSOR_MAP_DATA_TYPE_UINT64,
    };
    let swizzle = match map.swizzle {
        // A map has no swizzle of columns.
        None | Some(Swizzle::Columns) => sys::CU_TENSOR_MAP_SWIZZLE_NONE,
        Some(Swizzle::B32) => sys::CU_TENSOR_MAP_SWIZZLE_32B,
        Some(Swizzle::B64) => sys::CU_TENSOR_MAP_SWIZZLE_64B,
        Some(Swizzle::B128) => sys::CU_TENSOR_MAP_SWIZZLE_128B,
    };
    let mut made = sys::CUtensorMap::default();
    // The dimension whose elements lie side by side comes first.
    let row = matrix.pitch * map.element;
    let (count, to_next) = match matrix.batch {
        Some(batch) if batch.count > 1 => (batch.count, batch.stride * map.element),
        // Of one alone nobody asks; a row is what every map may have.
        _ => (1, row),
    };
    let (extents, strides) = ([matrix.columns, matrix.rows, count], [row, to_next]);
    let (tile, steps): ([c_uint; 3], [c_uint; 3]) = ([map.tile[1], map.tile[0], 1], [1; 3]);
    let dimensions = if matrix.batch.is_some() { 3 } else { 2 };
    // SAFETY: reads so many extents, sides and steps, one stride less, and writes one map; the address is looked at when a kernel copies.
    let code = unsafe {
        encode(
            &raw mut made,
            data_type,
            dimensions,
            null_mut::<u8>().wrapping_add(matrix.address as usize).cast(),
            extents.as_ptr(),
            strides.as_ptr(),
            tile.as_ptr(),
            steps.as_ptr(),
            sys::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle,
            sys::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            sys::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    };
    context.check(code, "cuTensorMapEncodeTiled")?;
    Ok(made)
}
