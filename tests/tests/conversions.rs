//! Arrays of `ndarray` and values that `bytemuck` knows, to buffers and back, on every device.

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};
use ndarray::{Array, Array0, Array1, Array2, Array3, ArrayD, Ix2, ShapeBuilder, s};
use warpwright::prelude::*;
use warpwright::{Error, Result};
use warpwright_tests::devices::on_all;

/// y ← a · x, of matrices.
#[kernel(block = (16, 16))]
fn scaled(a: f32, x: &Matrix<f32>, y: &mut Matrix<f32>) {
    let (column, row) = (global_id().x, global_id().y);
    if row < y.rows() && column < y.columns() {
        y[(row, column)] = a * x[(row, column)];
    }
}

/// Moves points by their last number times what is given.
#[kernel(block = 64)]
fn moved(by: [f32; 4], points: &mut Global<[f32; 4]>) {
    let i = global_id().x;
    if i < points.len() {
        let p = points[i];
        points[i] = [p[0] + p[3] * by[0], p[1] + p[3] * by[1], p[2] + p[3] * by[2], p[3]];
    }
}

/// What a device has of a [`Body`].
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct BodyThere {
    place: [f32; 3],
    mass: f32,
    number: u32,
}

#[kernel(block = 64, allow(uncoalesced_access))]
fn doubled(bodies: &mut Global<BodyThere>) {
    let i = global_id().x;
    if i < bodies.len() {
        bodies[i].mass *= 2.0;
        bodies[i].number += 1;
    }
}

/// A struct of a program that knows nothing of kernels, with another library's vector in it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Body {
    place: Vec3,
    mass: f32,
    number: u32,
}

/// 3 bytes behind `small` belong to no field.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct WithGap {
    small: u8,
    large: u32,
}

/// Zero-sized, as far as `bytemuck` is concerned plain bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Nothing;

fn counted(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(r, c)| (100 * r + c) as f32)
}

#[test]
fn arrays_of_any_dimension_go_there_and_back() {
    on_all("arrays_of_any_dimension_go_there_and_back", |device| {
        let cube = Array3::from_shape_fn((3, 4, 5), |(i, j, k)| (100 * i + 10 * j + k) as i32);
        let there = device.upload_array(&cube).unwrap();
        assert_eq!(there.download().unwrap(), cube.iter().copied().collect::<Vec<_>>());
        assert_eq!(there.download_array((3, 4, 5)).unwrap(), cube);
        assert_eq!(there.download_array(cube.raw_dim()).unwrap(), cube);
        let dynamic: ArrayD<i32> = there.download_array(&[3, 4, 5][..]).unwrap();
        assert_eq!(dynamic, cube.clone().into_dyn());
        // Another shape of as many elements is those elements in order.
        assert_eq!(there.download_array(60).unwrap(), Array1::from_iter(cube.iter().copied()));
        let single = Array0::from_elem((), bf16::from_f32(1.5));
        assert_eq!(device.upload_array(&single).unwrap().download_array(()).unwrap(), single);
        let flags = Array::from_vec(vec![true, false, true]);
        assert_eq!(device.upload_array(&flags).unwrap().download_array(3).unwrap(), flags);
        let empty = Array2::<f64>::zeros((0, 7));
        let there = device.upload_array(&empty).unwrap();
        assert!(there.is_empty());
        assert_eq!(there.download_array((0, 7)).unwrap(), empty);
        assert_eq!(there.download_array((5, 0)).unwrap().shape(), [5, 0]);
    });
}

#[test]
fn what_is_not_in_standard_layout_is_made_so() {
    on_all("what_is_not_in_standard_layout_is_made_so", |device| {
        let a = counted(6, 8);
        let by_columns = Array2::from_shape_fn((6, 8).f(), |(r, c)| a[[r, c]]);
        assert!(by_columns.as_slice().is_none());
        let check = |found: Buffer<f32>, expected: ndarray::ArrayView2<'_, f32>| {
            let found = found.download_array(expected.raw_dim()).unwrap();
            assert!(found.is_standard_layout());
            assert_eq!(found, expected, "{device}");
        };
        check(device.upload_array(&by_columns).unwrap(), a.view());
        check(device.upload_array(&a.t()).unwrap(), a.t());
        check(device.upload_array(&a.slice(s![1..4, ..;2])).unwrap(), a.slice(s![1..4, ..;2]));
        check(device.upload_array(&a.slice(s![..;-1, ..])).unwrap(), a.slice(s![..;-1, ..]));
        // Rows one behind the other are a slice, wherever they begin; a row for all is none.
        check(device.upload_array(&a.slice(s![2..5, ..])).unwrap(), a.slice(s![2..5, ..]));
        let row = a.row(3);
        let repeated = row.broadcast((4, 8)).unwrap();
        check(device.upload_array(&repeated).unwrap(), repeated);
        let column = device.upload_array(&a.column(1)).unwrap();
        assert_eq!(column.download_array(6).unwrap(), a.column(1), "{device}");
    });
}

#[test]
fn matrices_are_made_of_arrays() {
    on_all("matrices_are_made_of_arrays", |device| {
        let a = counted(20, 33);
        // Transposed, as a kernel sees it.
        let x = device.upload_array(&a.t()).unwrap();
        let mut y = device.zeros::<f32>(a.len()).unwrap();
        let there = device.matrix(&x, a.ncols(), a.nrows()).unwrap();
        scaled(2.0, there, device.matrix_mut(&mut y, 33, 20).unwrap()).cover((20, 33)).launch(device).unwrap();
        let found: Array2<f32> = y.download_array((33, 20)).unwrap();
        assert_eq!(found, 2.0 * &a.t(), "{device}");
    });
}

#[test]
fn a_shape_that_a_buffer_does_not_have_is_an_error_with_both_figures() {
    on_all("a_shape_that_a_buffer_does_not_have_is_an_error_with_both_figures", |device| {
        let buffer = device.upload(&[1.0f32; 10]).unwrap();
        let error = buffer.download_array((3, 4)).unwrap_err();
        assert!(matches!(error, Error::Array { .. }), "{error:?}");
        assert_eq!(error.to_string(), "an array of shape [3, 4] has 12 elements, and the buffer has 10; give a shape of 10");
        let error = buffer.download_array(Ix2(usize::MAX, 3)).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "an array of shape [{}, 3] has more elements than can be counted, and the buffer has 10; give a shape of 10",
                usize::MAX
            )
        );
        let error = buffer.download_array(()).unwrap_err().to_string();
        assert_eq!(error, "an array of shape [] has 1 elements, and the buffer has 10; give a shape of 10");
    });
}

#[test]
fn vectors_of_glam_are_arrays_of_numbers() {
    on_all("vectors_of_glam_are_arrays_of_numbers", |device| {
        let vectors: Vec<Vec4> = (0..100).map(|i| Vec4::new(i as f32, 1.0, -1.0, 2.0)).collect();
        let mut points = device.upload_as::<[f32; 4]>(&vectors).unwrap();
        assert_eq!(points.len(), 100);
        moved([1.0, 2.0, 3.0, 0.0], &mut points).cover(100).launch(device).unwrap();
        let found: Vec<Vec4> = points.download_as().unwrap();
        let expected: Vec<Vec4> = vectors.iter().map(|v| *v + v.w * Vec4::new(1.0, 2.0, 3.0, 0.0)).collect();
        assert_eq!(found, expected, "{device}");
        points.write_as(&vectors).unwrap();
        assert_eq!(points.download_as::<Vec4>().unwrap(), vectors);
        // One value as several elements, and several as one.
        let matrices = [Mat4::from_diagonal(Vec4::new(1.0, 2.0, 3.0, 4.0)); 3];
        let numbers: Buffer<f32> = device.upload_as(&matrices).unwrap();
        assert_eq!((numbers.len(), numbers.download().unwrap()[5]), (48, 2.0));
        assert_eq!(numbers.download_as::<Mat4>().unwrap(), matrices);
        let thrice = device.upload_as::<[f32; 3]>(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(thrice.download_as::<Vec3>().unwrap(), [Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)]);
        assert!(device.upload_as::<[f32; 4]>(&[] as &[Vec4]).unwrap().download_as::<Vec4>().unwrap().is_empty());
    });
}

#[test]
fn structs_of_a_program_are_structs_of_a_device() {
    on_all("structs_of_a_program_are_structs_of_a_device", |device| {
        let body = |i: u32| Body { place: Vec3::splat(i as f32), mass: 1.5, number: i };
        let bodies: Vec<Body> = (0..70).map(body).collect();
        let mut there = device.upload_as::<BodyThere>(&bodies).unwrap();
        doubled(&mut there).cover(70).launch(device).unwrap();
        let found: Vec<Body> = there.download_as().unwrap();
        let expected: Vec<Body> = bodies.iter().map(|b| Body { mass: 3.0, number: b.number + 1, ..*b }).collect();
        assert_eq!(found, expected, "{device}");
        assert_eq!(there.download().unwrap()[7], BodyThere { place: [7.0; 3], mass: 3.0, number: 8 });
        // Numbers of 16 bits are elements as they are, and their bytes are others' too.
        let halves = device.upload(&[bf16::ONE; 4]).unwrap();
        assert_eq!(halves.download_as::<u32>().unwrap(), [0x3f80_3f80; 2]);
        // What is read may be what cannot be written: a byte that is a flag is a number, but not any number is a flag.
        let flags = device.upload(&[true, false, true, true]).unwrap();
        assert_eq!(flags.download_as::<[u8; 2]>().unwrap(), [[1, 0], [1, 1]]);
    });
}

#[test]
fn bytes_that_are_no_such_values_are_an_error_that_says_why() {
    on_all("bytes_that_are_no_such_values_are_an_error_that_says_why", |device| {
        fn there<T: Element>(device: &Device, values: &[impl NoUninit]) -> String {
            text(device.upload_as::<T>(values))
        }
        fn back<P: AnyBitPattern>(buffer: Result<Buffer<impl Element>>) -> String {
            text(buffer.unwrap().download_as::<P>())
        }
        fn text<R>(result: Result<R>) -> String {
            let Err(error) = result else { panic!("not refused") };
            assert!(matches!(error, Error::View { .. }), "{error:?}");
            error.to_string()
        }
        let vectors = [Vec3::ONE; 4];
        let name = std::any::type_name::<Vec3>();
        assert_eq!(
            there::<[f32; 4]>(device, &vectors),
            format!(
                "a buffer of `{name}` cannot be seen as one of `[f32; 4]`: one has 12 bytes, the other 16, and neither is a multiple of the other; choose elements whose size divides 12"
            )
        );
        assert_eq!(
            there::<[f32; 4]>(device, &[1.0f32; 7]),
            "a buffer of `f32` cannot be seen as one of `[f32; 4]`: its 28 bytes are not a multiple of 16; make it 32 bytes long"
        );
        assert_eq!(
            there::<bool>(device, &[1u8]),
            "a buffer of `u8` cannot be seen as one of `bool`: not all bytes are a `bool`, which is or holds a `bool` or an enum; upload values of that type"
        );
        assert!(
            there::<f32>(device, &[Nothing; 4])
                .ends_with("Nothing` cannot be seen as one of `f32`: one of them has no bytes; choose elements that have some")
        );
        assert_eq!(
            back::<[u32; 3]>(device.upload(&[1u32; 4])),
            "a buffer of `u32` cannot be seen as one of `[u32; 3]`: its 16 bytes are not a multiple of 12; make it 24 bytes long"
        );
        assert_eq!(
            back::<u32>(device.upload(&[WithGap { small: 1, large: 2 }])),
            "a buffer of `WithGap` cannot be seen as one of `u32`: `WithGap` has bytes that belong to no field, and nothing is known of them; give it fields in their place"
        );
        assert!(back::<Nothing>(device.upload(&[1u32])).ends_with("one of them has no bytes; choose elements that have some"));
        let mut four = device.zeros::<[f32; 4]>(4).unwrap();
        assert!(text(four.write_as(&vectors)).contains("neither is a multiple of the other"));
        let error = four.write_as(&[Vec4::ONE; 3]).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { buffer: 4, other: 3 }), "{error:?}");
        assert_eq!(four.download_as::<Vec4>().unwrap(), [Vec4::ZERO; 4], "nothing was written");
    });
}
