//! Textures on the host, on every device there is: what `Device::texture` refuses, and what comes back.

use warpwright::prelude::*;
use warpwright::{Addressing, DeviceKind, Error, Filter, Sampling};
use warpwright_tests::devices;
use warpwright_tests::ptx_interpreter::executed;

#[kernel(block = 64)]
fn sums(t: &Texture2d<u8>, out: &mut Global<u32>) {
    let x = global_id().x;
    if x < t.width() {
        let mut sum = 0;
        for y in 0..t.height() {
            sum += t.fetch(x as i32, y as i32) as u32;
        }
        out[x] = sum;
    }
}

/// What a refusal says, without the extent and the texel that it begins with.
fn refusal<T: Texel>(device: &Device, extent: (usize, usize), texels: &[T], sampling: Sampling) -> String {
    match device.texture(extent, texels, sampling) {
        Err(Error::Texture { reason, .. }) => reason,
        Err(other) => panic!("{device}: {other}"),
        Ok(texture) => panic!("{texture:?} was made"),
    }
}

#[test]
fn what_no_texture_can_be_is_refused_with_the_figure() {
    for device in devices::all() {
        let plain = Sampling::default();
        assert_eq!(refusal::<f32>(&device, (0, 4), &[], plain), "it has no texels; give it 1 × 1 or more");
        assert_eq!(refusal(&device, (4, 2), &[1.0f32; 7], plain), "7 texels were given for 8 places; give them row by row");
        let long = refusal(&device, (1 << 40, 2), &[0u8; 4], plain);
        assert!(long.contains("has room for") && long.ends_with("cut it into several, or read a `&Global`"), "{long}");
        let linear = Sampling { filter: Filter::Linear, ..plain };
        let integers = refusal(&device, (2, 2), &[0u8; 4], linear);
        assert_eq!(integers, "`Filter::Linear` is for floats; choose `Filter::Nearest`, or make a texture of `f32`");
        println!("ran: textures (4 refusals on {device})");
    }
    let error = Device::host().texture((3, 0), &[0i16; 0], Sampling::default()).expect_err("it has no texels");
    assert_eq!(error.to_string(), "a texture of 3 × 0 `i16`: it has no texels; give it 1 × 1 or more");
}

#[test]
fn texels_come_back_as_they_were_written() -> warpwright::Result<()> {
    for device in devices::all() {
        for (width, height) in [(1, 1), (3, 5), (257, 2)] {
            let texels: Vec<f32> = (0..width * height).map(|n| n as f32 - 3.5).collect();
            let mut texture = device.texture((width, height), &texels, Sampling::default())?;
            assert_eq!((texture.width(), texture.height(), texture.download()?), (width, height, texels.clone()), "{device}");
            let others: Vec<f32> = texels.iter().map(|texel| 2.0 * texel).collect();
            texture.write(&others)?;
            assert_eq!(texture.download()?, others, "{device}");
            texture.copy_from(&device.upload(&texels)?)?;
            assert_eq!(texture.download()?, texels, "{device}");
            let short = texture.write(&texels[1..]).expect_err("one texel is missing");
            let said = format!(
                "a texture of {width} × {height} `f32`: {} texels were given for {} places; give them row by row",
                width * height - 1,
                width * height
            );
            assert_eq!(short.to_string(), said);
            assert!(format!("{texture:?}").starts_with(&format!("Texture<f32>({width} × {height} on")));
        }
        println!("ran: textures (3 extents on {device})");
    }
    Ok(())
}

/// Launched elsewhere it is an error; `simulate` copies it.
#[test]
fn a_texture_belongs_to_its_device() -> warpwright::Result<()> {
    let (simulator, host) = (Device::simulator(), Device::host());
    let sampling = Sampling { addressing: Addressing::Border, ..Sampling::default() };
    let mut texture = host.texture((40, 3), &[2u8; 120], sampling)?;
    let elsewhere = texture.copy_from(&simulator.zeros::<u8>(120)?).expect_err("the buffer is another device's");
    assert!(matches!(elsewhere, Error::ForeignObject { what: "the texture", .. }), "{elsewhere}");
    assert_eq!(texture.sampling(), sampling);
    let mut out = simulator.zeros::<u32>(40)?;
    let error = sums(&texture, &mut out).cover(40).launch(&simulator).expect_err("the texture is another device's");
    assert!(matches!(error, Error::OtherDevice { parameter: "t", .. }), "{error}");
    for device in devices::all() {
        let texture = device.texture((40, 3), &[2u8; 120], sampling)?;
        let mut out = device.zeros::<u32>(40)?;
        let simulation = sums(&texture, &mut out).cover(40).simulate()?;
        assert_eq!(out.download()?, [6; 40], "{device}");
        // Reads of textures are memory instructions, but touch no global memory.
        let total = &simulation.counters().total;
        assert_eq!((total.thread_instructions[6], total.global_requests), (40 * 3 + 40, 2), "{device}");
    }
    Ok(())
}

/// A texture is written and copied in the order of the device's own stream, after what still reads it on others.
#[test]
fn writes_wait_for_launches_that_read() -> warpwright::Result<()> {
    for device in devices::all() {
        let stream = device.stream()?;
        let mut texture = device.texture((64, 100), &[1u8; 6_400], Sampling::default())?;
        let mut first = device.zeros::<u32>(64)?;
        sums(&texture, &mut first).cover(64).launch_on(&stream)?;
        texture.write(&[3u8; 6_400])?;
        let mut second = device.zeros::<u32>(64)?;
        sums(&texture, &mut second).cover(64).launch(&device)?;
        drop(texture);
        assert_eq!((first.download()?, second.download()?), (vec![100; 64], vec![300; 64]), "{device}");
        let what = if device.kind() == DeviceKind::Cuda { "on a GPU" } else { "within the call or on a CPU" };
        println!("ran: textures (2 launches on {device}), {what}");
    }
    Ok(())
}

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed(
        "textures",
        &["texels_come_back_as_they_were_written", "a_texture_belongs_to_its_device", "writes_wait_for_launches_that_read"],
        "8.0",
    );
}
