//! Devices, buffers and streams that every machine has.

use super::drivers::ONE_AT_A_TIME;
use crate::device::{Device, DeviceKind};
use crate::error::Error;
use std::sync::PoisonError;

#[test]
fn a_device_asked_for_twice_is_the_same() {
    assert_eq!(Device::simulator(), Device::simulator());
    assert_ne!(Device::simulator(), Device::host());
    let all = Device::all();
    assert!(all.contains(&Device::simulator()) && all.contains(&Device::host()));
    assert!(all.contains(&Device::best()));
    assert_eq!((Device::host().target(), Device::simulator().to_string().as_str()), ("host", "Simulator (simulator)"));
}

#[test]
fn without_a_gpu_cuda_is_an_error_with_a_way_out() {
    match Device::cuda(0) {
        Ok(device) => assert_eq!(device.kind(), DeviceKind::Cuda),
        Err(Error::NoDriver { api: "CUDA", help, .. }) => assert!(help.contains("simulator")),
        Err(Error::NoDevice { api: "CUDA", .. }) => {}
        Err(other) => panic!("{other}"),
    }
    assert!(matches!(Device::cuda(4000), Err(Error::NoDriver { .. } | Error::NoDevice { .. })));
}

#[test]
fn without_an_opencl_device_opencl_is_an_error_with_a_way_out() {
    match Device::opencl(0) {
        Ok(device) => assert_eq!(device.kind(), DeviceKind::OpenCl),
        Err(Error::NoDriver { api: "OpenCL", help, .. }) => assert!(help.contains("simulator")),
        Err(Error::NoDevice { api: "OpenCL", .. }) => {}
        Err(other) => panic!("{other}"),
    }
    assert!(matches!(Device::opencl(4000), Err(Error::NoDriver { .. } | Error::NoDevice { .. })));
}

#[test]
fn buffers_keep_what_is_put_into_them() {
    for device in Device::all() {
        let values: Vec<u32> = (0..1000).collect();
        let mut buffer = device.upload(&values).unwrap();
        assert_eq!(buffer.download().unwrap(), values, "{device}");
        let doubled: Vec<u32> = values.iter().map(|v| v * 2).collect();
        buffer.write(&doubled).unwrap();
        let mut host = vec![7; 1000];
        buffer.read_into(&mut host).unwrap();
        assert_eq!(host, doubled);
        buffer.clear().unwrap();
        assert!(buffer.download().unwrap().iter().all(|v| *v == 0));
        let error = buffer.write(&values[..10]).unwrap_err().to_string();
        assert!(error.contains("1000 elements, but 10 were given"), "{error}");
        assert!(matches!(buffer.read_into(&mut [0; 3]), Err(Error::LengthMismatch { .. })));
        assert_eq!(device.constant([1.5f32; 4]).unwrap().download().unwrap(), [1.5; 4]);
        assert_eq!(device.upload(&[true, false]).unwrap().download().unwrap(), [true, false]);
    }
}

#[test]
fn empty_buffers_work_everywhere() {
    for device in Device::all() {
        let mut buffer = device.upload::<f64>(&[]).unwrap();
        assert!(buffer.is_empty());
        buffer.write(&[]).unwrap();
        assert_eq!(buffer.download().unwrap(), [0f64; 0]);
        assert_eq!(device.zeros::<[u8; 3]>(0).unwrap().download().unwrap(), [[0u8; 3]; 0]);
        let mut pinned = device.pinned::<f64>(0).unwrap();
        buffer.write_async(&pinned, &device.default_stream()).unwrap();
        buffer.read_async(&mut pinned, &device.default_stream()).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), [0f64; 0]);
    }
}

#[test]
fn too_much_memory_is_an_error_and_the_device_stays_usable() {
    for device in Device::all() {
        // 64 PiB.
        let error = device.zeros::<f32>(1 << 54).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }), "{device}: {error}");
        assert!(matches!(device.zeros::<u64>(usize::MAX), Err(Error::TooLarge { .. })));
        assert_eq!(device.upload(&[1u8, 2]).unwrap().download().unwrap(), [1, 2]);
        let error = device.constant([0u8; 65_537]).unwrap_err().to_string();
        assert!(error.contains("65537 bytes") && error.contains("65536"), "{error}");
    }
}

#[test]
fn pinned_copies_wait_for_each_other() {
    for device in Device::all() {
        let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
        let mut host = device.pinned::<u32>(5000).unwrap();
        assert!(host.as_slice().unwrap().iter().all(|v| *v == 0));
        let mut buffer = device.zeros::<u32>(5000).unwrap();
        for round in 0..20 {
            host.as_mut_slice().unwrap().fill(round);
            // Through two streams: whatever runs where, the order is that of the program.
            buffer.write_async(&host, &first).unwrap();
            let mut back = device.pinned::<u32>(5000).unwrap();
            buffer.read_async(&mut back, &second).unwrap();
            assert!(back.as_slice().unwrap().iter().all(|v| *v == round), "{device}");
            buffer.write_async(&back, &first).unwrap();
        }
        // Dropped streams lose nothing.
        drop((first, second));
        assert!(buffer.download().unwrap().iter().all(|v| *v == 19), "{device}");
    }
}

#[test]
fn events_pass_in_order() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for device in Device::all() {
        let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
        let start = first.record().unwrap();
        let buffer = device.zeros::<u64>(100_000).unwrap();
        second.wait(&start).unwrap();
        let end = second.record().unwrap();
        end.synchronize().unwrap();
        assert!(start.is_complete().unwrap() && end.is_complete().unwrap(), "{device}");
        assert!(end.since(&start).unwrap().as_secs() < 60, "{device}");
        first.synchronize().unwrap();
        device.synchronize().unwrap();
        assert_eq!(buffer.len(), 100_000);
    }
}

#[test]
fn buffers_and_streams_cross_threads() {
    fn check<T: Send + Sync>() {}
    check::<crate::Buffer<f32>>();
    check::<crate::ConstantBuffer<[f32; 4]>>();
    check::<crate::PinnedBuffer<f32>>();
    check::<crate::Stream>();
    check::<crate::Event>();
    check::<Device>();
    check::<crate::Launch<'_>>();
}
