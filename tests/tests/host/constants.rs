//! Constant memory that the host writes again, and fills from slices.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn weighted(c: &Constant<[[f32; 2]; 3]>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = c[i % 3][0] * 10.0 + c[i % 3][1];
    }
}

/// What the kernel makes of a table.
fn expected(table: &[[f32; 2]]) -> Vec<f32> {
    (0..7).map(|i| table[i % 3][0] * 10.0 + table[i % 3][1]).collect()
}

#[test]
fn launches_see_what_was_written_last() {
    for device in Device::all() {
        let tables: Vec<[[f32; 2]; 3]> = (0..5).map(|n| [[n as f32, 1.0], [2.0, n as f32], [n as f32, n as f32]]).collect();
        let mut constant = device.constant(tables[0]).unwrap();
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let mut results: Vec<_> = (0..10).map(|_| device.zeros::<f32>(7).unwrap()).collect();
        // Nothing waits between launches and writes but what orders itself.
        for (n, y) in results.iter_mut().enumerate() {
            constant.write(&tables[n % 5]).unwrap();
            weighted(&constant, y).cover(7).launch_on(&streams[n % 2]).unwrap();
        }
        for (n, y) in results.iter().enumerate() {
            assert_eq!(y.download().unwrap(), expected(&tables[n % 5]), "{device}, launch {n}");
        }
        assert_eq!(constant.download().unwrap(), tables[4], "{device}");
    }
}

#[test]
fn two_constants_of_one_kernel_take_turns_with_writes() {
    for device in Device::all() {
        let [mut a, b] = [[[1.0, 2.0]; 3], [[3.0, 4.0]; 3]].map(|table| device.constant(table).unwrap());
        let mut y = device.zeros::<f32>(7).unwrap();
        let mut run = |c: &ConstantBuffer<[[f32; 2]; 3]>| {
            weighted(c, &mut y).cover(7).launch(&device).unwrap();
            y.download().unwrap()[0]
        };
        assert_eq!((run(&a), run(&b), run(&a)), (12.0, 34.0, 12.0), "{device}");
        a.write(&[[5.0, 6.0]; 3]).unwrap();
        assert_eq!((run(&b), run(&a), run(&b)), (34.0, 56.0, 34.0), "{device}");
    }
}

#[test]
fn slices_fill_constants_of_their_length() {
    for device in Device::all() {
        let table: Vec<[f32; 2]> = (0..3).map(|n| [n as f32, 0.5]).collect();
        let constant = device.constant_from_slice(&table).unwrap();
        let mut y = device.zeros::<f32>(7).unwrap();
        weighted(&constant, &mut y).cover(7).launch(&device).unwrap();
        assert_eq!(y.download().unwrap(), expected(&table), "{device}");
        for n in [0, 2, 4] {
            let given = vec![[0f32; 2]; n];
            let error = device.constant_from_slice::<_, 3>(&given).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("the buffer holds 3 elements, but {n} were given: lengths must be equal; give 3, or make the buffer as long")
            );
        }
        let mut constant = device.constant([1u8; 5]).unwrap();
        assert!(matches!(constant.write(&[0; 4]), Err(warpwright::Error::LengthMismatch { buffer: 5, other: 4 })));
        assert_eq!(constant.download().unwrap(), [1; 5], "a write that is refused changes nothing");
        let error = device.constant_from_slice::<_, 65_537>(&[0u8; 65_537]).unwrap_err();
        assert!(matches!(error, warpwright::Error::ConstantTooLarge { bytes: 65_537, .. }), "{error}");
    }
}
