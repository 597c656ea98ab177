//! Buffers that are seen as other elements, and values of other crates that are made elements (feature `bytemuck`).

use warpwright::prelude::*;

/// Three bytes behind `is_on` belong to no field.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    is_on: u8,
    weight: f32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

super::examples! {
    /// Elements of another size that do not come out even
    fn view_of_other_size(device) {
        let x = device.zeros::<u32>(3)?;
        x.view::<u64>().map(drop)
    }

    /// Elements that not all bytes are
    fn view_of_truths(device) {
        let x = device.zeros::<u8>(4)?;
        x.view::<bool>().map(drop)
    }

    /// Elements with bytes that belong to no field
    fn view_of_padding(device) {
        let x = device.zeros::<Padded>(4)?;
        x.view::<u32>().map(drop)
    }

    /// Elements that have no bytes
    fn view_of_nothing(device) {
        let x = device.zeros::<u32>(4)?;
        x.view::<[u32; 0]>().map(drop)
    }

    /// Values whose size is no multiple of an element's, nor the other way round
    fn other_size(device) {
        let points = [Point { x: 0.0, y: 1.0, z: 2.0 }; 4];
        device.upload_as::<f64>(&points).map(drop)
    }

    /// Values that are no whole elements
    fn no_whole_elements(device) {
        let numbers = [0.0f32; 3];
        device.upload_as::<f64>(&numbers).map(drop)
    }

    /// Values that have no bytes
    fn values_of_nothing(device) {
        let nothing = [[0u32; 0]; 4];
        device.upload_as::<u32>(&nothing).map(drop)
    }

    /// Elements that not all bytes are, from values
    fn truths_of_bytes(device) {
        device.upload_as::<bool>(&[0u8, 1, 2]).map(drop)
    }

    /// Elements with bytes that belong to no field, to values
    fn padding_to_values(device) {
        let x = device.zeros::<Padded>(4)?;
        x.download_as::<u32>().map(drop)
    }
}
