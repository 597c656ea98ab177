//! `.inspect(target)` and `compare!`: what a crate's own tests can ask of its kernels, with no device.

use warpwright::compare;
use warpwright::prelude::*;
use warpwright::warp::{any, shuffle_xor};

#[kernel(block = 256, ilp = ILP, batch_loads = BATCH)]
fn scaled<const ILP: usize, const BATCH: bool>(a: f32, out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = a * inp[i];
    }
}

#[kernel(block = (32, 8))]
fn column_sums<const PAD: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = PAD)]
    let mut tile: [[f32; 32]; 32];
    let t = thread_idx();
    for r in 0..4 {
        tile[t.y + 8 * r][t.x] = x[(t.y + 8 * r) * 32 + t.x];
    }
    sync_threads();
    let mut sum = 0.0;
    for k in 0..4 {
        sum += tile[t.x][t.y + 8 * k];
    }
    y[t.y * 32 + t.x] = sum;
}

/// An exchange that a warp may skip.
#[kernel(block = 64)]
fn some_warps(y: &mut Global<u32>) {
    let i = global_id().x;
    if any(y[i] > 3) {
        y[i] = shuffle_xor(y[i], 1);
    }
}

#[test]
fn what_an_annotation_does_can_be_asserted() {
    let device = Device::simulator();
    let (mut out, inp) = (device.zeros::<f32>(4096).unwrap(), device.zeros::<f32>(4096).unwrap());
    let compared =
        compare!("sm_90"; scaled::<1, false>(2.0, &mut out, &inp), scaled::<4, false>(2.0, &mut out, &inp), scaled::<4, true>(2.0, &mut out, &inp))
            .unwrap();
    let [plain, four, batched] = &compared[..] else { panic!("three launches, {} inspections", compared.len()) };
    assert_eq!(batched.name, "scaled (ILP = 4, BATCH = true)");
    assert_eq!((plain.count("ld.global"), plain.count("st.global"), plain.count("mul.f32"), plain.count("mul")), (1, 1, 0, 3));
    assert_eq!(plain.count("ld.glob"), 0, "names are counted by their whole words");
    assert_eq!((plain.count("ld.param"), plain.count("ret")), (4, 1));
    assert!(plain.instructions() < four.instructions());
    assert_eq!(plain.order().to_string(), "@bra L1, ld.global.32, st.global.32, L1");
    let pairs = "ld.global.32, st.global.32, ld.global.32, st.global.32, ld.global.32, st.global.32, ld.global.32, st.global.32";
    assert!(four.order().to_string().contains(pairs), "{}", four.order());
    assert!(batched.order().to_string().contains("ld.global.32 x4, st.global.32 x4"), "{}", batched.order());
    assert_eq!(batched.occupancy().map(|occupancy| (occupancy.blocks, occupancy.percent())), Some((8, 100.0)));
    assert_eq!(batched.sectors_per_request().and_then(|range| range.exact()), Some(4));
    assert_eq!(batched.bank_conflicts(), None, "there is no shared array");
    let table = compared.to_string();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[0].starts_with("sm_90 ") && lines[0].contains("  registers (est.)") && !lines[0].contains("shared"), "{table}");
    assert!(lines[3].starts_with("scaled (ILP = 4, BATCH = true) ") && lines[3].contains("  100 %"), "{table}");
    let whole = batched.to_string();
    assert!(whole.contains("scaled (ILP = 4, BATCH = true) on sm_90, estimated") && whole.contains("\nPTX          "), "{whole}");
}

#[test]
fn conflicts_can_be_asserted() {
    let device = Device::simulator();
    let (x, mut y) = (device.zeros::<f32>(1024).unwrap(), device.zeros::<f32>(256).unwrap());
    let compared = compare!("sm_80"; column_sums::<0>(&x, &mut y), column_sums::<1>(&x, &mut y)).unwrap();
    let conflicts: Vec<_> = compared.iter().map(|one| one.bank_conflicts().and_then(|range| range.exact())).collect();
    assert_eq!(conflicts, [Some(31), Some(0)]);
}

#[test]
fn texts_are_fit_for_snapshots() {
    let device = Device::simulator();
    let (mut out, inp) = (device.zeros::<f32>(4096).unwrap(), device.zeros::<f32>(4096).unwrap());
    let launch = scaled::<2, true>(2.0, &mut out, &inp);
    let one = launch.inspect("sm_90").unwrap();
    insta::assert_snapshot!("scaled_ptx", one.ptx());
    insta::assert_snapshot!("scaled_opencl", one.opencl_c().unwrap());
    // The launch's own text says where each instruction comes from; the snapshot's does not.
    let with_places = launch.ptx("sm_90").unwrap();
    assert!(with_places.contains("inspected.rs") && with_places.contains(".loc") && !one.ptx().contains("inspected.rs"));
    let code = |text: &str| text.lines().map(str::trim).filter(|line| line.ends_with(';')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(code(&with_places), code(one.ptx()));
}

#[test]
fn an_unknown_target_is_an_error_that_names_the_nearest() {
    let device = Device::simulator();
    let mut y = device.zeros::<u32>(64).unwrap();
    let one = some_warps(&mut y).inspect("sm_90").unwrap();
    assert_eq!(one.count("shfl"), 1);
    assert!(one.opencl_c().unwrap().contains("ww_shuffle"), "an exchange under a condition has a text for OpenCL, too");
    let unknown = compare!("sm_91"; some_warps(&mut y)).unwrap_err().to_string();
    assert!(unknown.contains("sm_91") && unknown.contains("sm_90"), "{unknown}");
}
