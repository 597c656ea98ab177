//! Buffers seen as other elements of the same bytes.

use warpwright::prelude::*;

// In pieces on purpose.
#[kernel(block = 64, allow(scalar_pieces))]
fn swap_halves(y: &mut Global<[u16; 2]>) {
    let i = global_id().x;
    if i < y.len() {
        let [low, high] = y[i];
        y[i] = [high, low];
    }
}

#[kernel(block = 64)]
fn count(x: &Global<u8>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < x.len() {
        y.atomic_add(x[i] as usize % 4, 1);
    }
}

#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Loose {
    a: u8,
    b: u32,
}

#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u32)]
enum Mode {
    Off,
    On,
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Flagged {
    on: [bool; 4],
}

#[test]
fn kernels_take_views_as_they_take_buffers() {
    for device in Device::all() {
        let words: Vec<u32> = (0..100).map(|n| n * 0x0001_0003).collect();
        let mut y = device.upload(&words).unwrap();
        swap_halves(y.view_mut().unwrap()).cover(words.len()).launch(&device).unwrap();
        let swapped: Vec<u32> = words.iter().map(|word| word.rotate_left(16)).collect();
        assert_eq!(y.download().unwrap(), swapped, "{device}");

        // Shared: the bytes of the words, while nobody writes them.
        let mut counts = device.zeros::<u32>(4).unwrap();
        count(y.view().unwrap(), &mut counts).cover(400).launch(&device).unwrap();
        let bytes: Vec<u8> = swapped.iter().flat_map(|word| word.to_le_bytes()).collect();
        let expected: Vec<u32> = (0..4).map(|rest| bytes.iter().filter(|byte| u32::from(**byte) % 4 == rest).count() as u32).collect();
        assert_eq!(counts.download().unwrap(), expected, "{device}");
        assert_eq!(y.view::<u8>().unwrap().download().unwrap(), bytes);
    }
}

#[test]
fn views_count_their_own_elements_and_copy_as_such() {
    let device = Device::simulator();
    let mut y = device.upload(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let points = y.view_mut::<Point>().unwrap();
    assert_eq!((points.len(), points.is_empty()), (2, false));
    points.write(&[Point { x: 5.0, y: 6.0 }, Point { x: 7.0, y: 8.0 }]).unwrap();
    assert_eq!(format!("{points:?}"), "Buffer<Point>(2 on Simulator (simulator))");
    assert_eq!(y.download().unwrap(), [5.0, 6.0, 7.0, 8.0]);
    // A view of a view, and back.
    assert_eq!(y.view::<[f32; 4]>().unwrap().view::<f64>().unwrap().view::<f32>().unwrap().download().unwrap(), [5.0, 6.0, 7.0, 8.0]);
    assert_eq!(device.zeros::<u64>(0).unwrap().view::<u8>().unwrap().len(), 0);
    let copied = device.upload(&[9.0f32; 4]).unwrap();
    y.view_mut::<u32>().unwrap().copy_from(copied.view().unwrap()).unwrap();
    assert_eq!(y.download().unwrap(), [9.0; 4]);
}

#[test]
fn what_is_no_value_is_refused() {
    let device = Device::host();
    let mut words = device.zeros::<u32>(3).unwrap();
    let refused = |result: warpwright::Result<usize>| result.unwrap_err().to_string();
    let text = refused(words.view::<u64>().map(Buffer::len));
    assert_eq!(text, "a buffer of `u32` cannot be seen as one of `u64`: its 12 bytes are not a multiple of 8; make it 16 bytes long");
    let text = refused(words.view::<Mode>().map(Buffer::len));
    assert_eq!(
        text,
        "a buffer of `u32` cannot be seen as one of `Mode`: not all bytes are a `Mode`, which is or holds a `bool` or an enum; upload values of that type"
    );
    assert!(refused(words.view::<Flagged>().map(Buffer::len)).contains("not all bytes are a `Flagged`"));
    assert!(refused(words.view_mut::<bool>().map(|view| view.len())).contains("not all bytes are a `bool`"));
    assert!(refused(words.view::<[u32; 0]>().map(Buffer::len)).contains("one of them has no bytes"));
    assert!(refused(device.zeros::<[f32; 0]>(4).unwrap().view::<u8>().map(Buffer::len)).contains("one of them has no bytes"));

    // The other way round: a `bool` may be read as what it is, but not written as what it may not be.
    let mut flags = device.upload(&[true, false, true, true]).unwrap();
    assert_eq!(flags.view::<u8>().unwrap().download().unwrap(), [1, 0, 1, 1]);
    assert!(refused(flags.view_mut::<u8>().map(|view| view.len())).contains("not all bytes are a `bool`"));
    let modes = device.upload(&[Mode::On, Mode::Off]).unwrap();
    assert_eq!(modes.view::<u32>().unwrap().download().unwrap(), [1, 0]);

    // Bytes between fields: nobody knows what they are.
    let mut loose = device.upload(&[Loose { a: 1, b: 2 }]).unwrap();
    let text = refused(loose.view::<u64>().map(Buffer::len));
    let reason = "`Loose` has bytes that belong to no field, and nothing is known of them; give it fields in their place";
    assert_eq!(text, format!("a buffer of `Loose` cannot be seen as one of `u64`: {reason}"));
    let mut eight = device.upload(&[7u64]).unwrap();
    assert_eq!(eight.view::<Loose>().unwrap().download().unwrap(), [Loose { a: 7, b: 0 }], "read, they do not matter");
    assert!(refused(eight.view_mut::<Loose>().map(|view| view.len())).contains(reason));
    assert!(refused(loose.view_mut::<[u8; 8]>().map(|view| view.len())).contains(reason));
}

#[test]
fn copies_replace_all_elements_in_order() {
    for device in Device::all() {
        let first = device.upload(&[0x0001_0002u32; 50]).unwrap();
        let mut y = device.zeros::<u32>(50).unwrap();
        let stream = device.stream().unwrap();
        for round in 0..5 {
            swap_halves(y.view_mut().unwrap()).cover(50).launch_on(&stream).unwrap();
            y.copy_from(&first).unwrap();
            swap_halves(y.view_mut().unwrap()).cover(50).launch_on(&stream).unwrap();
            assert_eq!(y.download().unwrap(), [0x0002_0001; 50], "{device}, round {round}");
        }
        let other = device.zeros::<u32>(49).unwrap();
        assert!(matches!(y.copy_from(&other), Err(warpwright::Error::LengthMismatch { buffer: 50, other: 49 })));
        device.zeros::<u32>(0).unwrap().copy_from(&device.zeros(0).unwrap()).unwrap();
    }
}

#[test]
fn copies_go_from_device_to_device_and_from_place_to_place() {
    let devices = [Device::all(), Device::simulators(2), Device::gpus()].concat();
    for (n, to) in devices.iter().enumerate() {
        for (m, from) in devices.iter().enumerate() {
            let values: Vec<u32> = (0..5000).map(|i| i * 7 + (n * 100 + m) as u32).collect();
            let source = from.upload(&values).unwrap();
            let mut here = to.zeros::<u32>(5000).unwrap();
            here.copy_from(&source).unwrap();
            assert_eq!(here.download().unwrap(), values, "{from} to {to}");
            let mut part = to.zeros::<u32>(100).unwrap();
            part.copy_range_from(10, &source, 4000..4080).unwrap();
            let expected = [&[0; 10], &values[4000..4080], &[0; 10]].concat();
            assert_eq!(part.download().unwrap(), expected, "{from} to {to}");
            part.copy_range_from(100, &source, 7..7).unwrap();
            // What the kernels of one device write, the copy to another reads.
            let mut swapped = from.upload(&values).unwrap();
            swap_halves(swapped.view_mut().unwrap()).cover(5000).launch(from).unwrap();
            here.copy_from(&swapped).unwrap();
            drop(swapped);
            assert_eq!(here.download().unwrap(), values.iter().map(|v| v.rotate_left(16)).collect::<Vec<_>>(), "{from} to {to}");
            let error = part.copy_range_from(50, &source, 0..51).unwrap_err();
            assert!(matches!(error, warpwright::Error::OutOfRange { .. }), "{error:?}");
            assert_eq!(error.to_string(), "elements 50 to 101 cannot be copied to a buffer that has 100; copy fewer, or begin earlier");
            let error = part.copy_range_from(0, &source, 4990..5001).unwrap_err().to_string();
            assert_eq!(error, "elements 4990 to 5001 cannot be copied from a buffer that has 5000; copy fewer, or begin earlier");
        }
    }
}
