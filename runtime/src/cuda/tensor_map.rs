//! Maps of matrices for tensor copies: made from a launch's arguments, and kept for the next one with the same.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::api::DriverApi;
use super::{Context, sys};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::ffi::c_uint;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};
use warpwright_codegen::backend::TensorMap;
use warpwright_codegen::ir::Swizzle;

/// What rows begin at multiples of, and the matrix itself, bytes (CUDA Driver API, `cuTensorMapEncodeTiled`).
const ALIGN: u64 = 16;

/// The most rows and columns: coordinates are signed 32-bit numbers.
const MOST: u64 = 1 << 31;

/// What the bytes from row to row are less than (CUDA Driver API, `cuTensorMapEncodeTiled`).
const MOST_STRIDE: u64 = 1 << 40;

/// Most maps that are kept.
const KEPT: usize = 256;

/// A matrix in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Matrix {
    pub(super) address: sys::CUdeviceptr,
    pub(super) rows: u64,
    pub(super) columns: u64,
    /// Elements from row to row.
    pub(super) pitch: u64,
}

/// The maps that were made for a kernel.
#[derive(Default)]
pub(super) struct Maps(Mutex<HashMap<(TensorMap, Matrix), sys::CUtensorMap>>);

impl Maps {
    /// The map of a matrix. `name`: the kernel's and the matrix's, for messages.
    pub(super) fn get(&self, context: &Context, name: (&'static str, String), map: &TensorMap, matrix: Matrix) -> Result<sys::CUtensorMap> {
        // Nothing is copied by it.
        if matrix.rows == 0 || matrix.columns == 0 {
            return Ok(sys::CUtensorMap::default());
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&(*map, matrix)) {
            return Ok(*known);
        }
        check(name, map, &matrix)?;
        let made = make(context, map, &matrix)?;
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert((*map, matrix), made);
        Ok(made)
    }
}

/// Whether there can be a map.
fn check((kernel, name): (&'static str, String), map: &TensorMap, matrix: &Matrix) -> Result<()> {
    let bytes = matrix.pitch.saturating_mul(map.element);
    let most = matrix.rows.max(matrix.columns);
    let reason = if !bytes.is_multiple_of(ALIGN) {
        format!(
            "the matrix `{name}` has a pitch of {} elements, {bytes} bytes, and tensor copies (`by = tma`) need a multiple of {ALIGN}; \
             help: give it a pitch that is one, `.pitch({})`, or leave `by = tma` out",
            matrix.pitch,
            bytes.next_multiple_of(ALIGN) / map.element.max(1)
        )
    } else if !matrix.address.is_multiple_of(ALIGN) {
        format!(
            "the matrix `{name}` begins {} bytes behind a multiple of {ALIGN}, where tensor copies (`by = tma`) need to begin; \
             help: begin it where its buffer begins, or leave `by = tma` out",
            matrix.address % ALIGN
        )
    } else if bytes >= MOST_STRIDE {
        format!(
            "the matrix `{name}` has a pitch of {bytes} bytes, and tensor copies (`by = tma`) take less than {MOST_STRIDE}; \
             help: give it a smaller one, or leave `by = tma` out"
        )
    } else if most >= MOST {
        format!(
            "the matrix `{name}` has {most} rows or columns, and tensor copies (`by = tma`) count to {}; help: leave `by = tma` out",
            MOST - 1
        )
    } else {
        return Ok(());
    };
    Err(Error::Argument { kernel, reason })
}

fn make(context: &Context, map: &TensorMap, matrix: &Matrix) -> Result<sys::CUtensorMap> {
    let driver: &DriverApi = context.driver;
    let Some(encode) = driver.cuTensorMapEncodeTiled else {
        let call = "cuTensorMapEncodeTiled".to_owned();
        return Err(Error::Driver { call, code: "not found".to_owned(), context: "the driver is older than CUDA 12.0".to_owned() });
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
    let (extents, strides) = ([matrix.columns, matrix.rows], [matrix.pitch * map.element]);
    let (tile, steps): ([c_uint; 2], [c_uint; 2]) = ([map.tile[1], map.tile[0]], [1, 1]);
    // SAFETY: reads two extents, one stride, two sides and two steps, and writes one map; the address is looked at when a kernel copies.
    let code = unsafe {
        encode(
            &raw mut made,
            data_type,
            2,
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
