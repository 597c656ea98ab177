//! Five programs as people write them: a warp for a row of a sparse matrix, a lattice and a wave, sums over constant memory in chunks, histograms with a binary search,
//! searches in integers; with constants and device functions in modules of their own, and structures of arrays. `tests/trial` has them, and
//! beside each all that the lints say of it, `findings.txt`: every finding is right, and there is no other.
//!
//! `WARPWRIGHT_BLESS=1` writes what is said; each finding is then to be judged again. The kernels give what their references on the host give, so that they are no fakes.

use serde_json::Value;
use std::path::Path;
use warpwright::prelude::*;
use warpwright_tests::command::{Folder, root};

#[path = "../trial/correlation/lib.rs"]
#[allow(deprecated, dead_code, unreachable_pub, reason = "a program of a user's, whose findings are what is tested")]
mod correlation;
#[path = "../trial/lattice/lib.rs"]
#[allow(deprecated, dead_code, unreachable_pub, reason = "a program of a user's, whose findings are what is tested")]
mod lattice;
#[path = "../trial/mri/lib.rs"]
#[allow(deprecated, dead_code, unreachable_pub, reason = "a program of a user's, whose findings are what is tested")]
mod mri;
#[path = "../trial/search/lib.rs"]
#[allow(deprecated, dead_code, unreachable_pub, reason = "a program of a user's, whose findings are what is tested")]
mod search;
#[path = "../trial/spmv/lib.rs"]
#[allow(deprecated, dead_code, unreachable_pub, reason = "a program of a user's, whose findings are what is tested")]
mod spmv;

/// All that the command finds in a program, each finding in two lines.
fn findings(program: &Path) -> String {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(program)
        .expect("the program")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).expect("a source")))
        .collect();
    files.sort();
    let given: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    let folder = Folder::new(&format!("trial-{}", program.file_name().unwrap().to_str().unwrap()), &given);
    let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    let outcome = folder.run(&[&["check", "--json"], &names[..]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let said: Value = serde_json::from_str(&outcome.out).expect("a document");
    let mut text = String::new();
    for finding in said["files"].as_array().unwrap().iter().flat_map(|file| file["findings"].as_array().unwrap()) {
        let word = |name: &str| finding[name].as_str().unwrap_or("nothing").to_owned();
        let place = &finding["place"];
        let (file, line) = (place["file"].as_str().unwrap_or("nowhere"), &place["line"]);
        text += &format!("{file}:{line}: {}: {}\n  help: {}\n", word("lint"), word("message"), word("help"));
    }
    if text.is_empty() { "nothing\n".to_owned() } else { text }
}

#[test]
fn every_finding_is_right_and_there_is_no_other() {
    let is_set = |name| std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0");
    let mut wrong = Vec::new();
    for name in ["correlation", "lattice", "mri", "search", "spmv"] {
        let program = root().join("tests/trial").join(name);
        let (found, expected) = (findings(&program), program.join("findings.txt"));
        if is_set("WARPWRIGHT_BLESS") {
            assert!(!is_set("CI"), "what is expected is not written where CI is set");
            std::fs::write(&expected, &found).expect("the findings are written");
        }
        let expected = std::fs::read_to_string(&expected).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{name}: expected\n{expected}found\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Numbers that look random: those of a linear congruence.
fn numbers(count: usize, seed: u32) -> Vec<u32> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(seed), next).skip(1).take(count).map(|state| state >> 8).collect()
}

fn floats(count: usize, seed: u32) -> Vec<f32> {
    numbers(count, seed).into_iter().map(|n| (n % 4096) as f32 / 4096.0 - 0.5).collect()
}

/// Rows of 0 to 70 elements.
#[test]
fn rows_of_a_sparse_matrix() -> warpwright::Result<()> {
    let device = Device::simulator();
    let lengths: Vec<u32> = numbers(37, 1).into_iter().map(|n| n % 71).collect();
    let starts: Vec<u32> = std::iter::once(0)
        .chain(lengths.iter().scan(0, |sum, n| {
            *sum += n;
            Some(*sum)
        }))
        .collect();
    let count = *starts.last().unwrap() as usize;
    let columns: Vec<u32> = numbers(count, 2).into_iter().map(|n| n % 100).collect();
    let (values, x) = (floats(count, 3), floats(100, 4));
    let row = |row: usize| {
        (starts[row]..starts[row + 1]).map(|k| f64::from(values[k as usize]) * f64::from(x[columns[k as usize] as usize])).sum::<f64>()
    };
    let expected: Vec<f64> = (0..37).map(row).collect();
    let (s, c, v, xs) = (device.upload(&starts)?, device.upload(&columns)?, device.upload(&values)?, device.upload(&x)?);
    let near = |y: Vec<f32>| {
        // At most 70 products below 1/4, each rounded twice in f32.
        y.iter().zip(&expected).for_each(|(y, expected)| assert!((f64::from(*y) - expected).abs() < 70.0 * 2.0 * 6e-8, "{y} {expected}"));
    };
    let mut y = device.zeros::<f32>(37)?;
    spmv::csr_by_warp(&s, &c, &v, &xs, &mut y).cover(37 * 32).launch(&device)?;
    near(y.download()?);
    let mut y = device.zeros::<f32>(37)?;
    spmv::csr_by_thread(&s, &c, &v, &xs, &mut y).cover(37).launch(&device)?;
    near(y.download()?);
    let mut y = device.zeros::<f32>(37)?;
    spmv::csr_by_half(&s, &c, &v, &xs, &mut y).cover(37 * 16).launch(&device)?;
    near(y.download()?);
    Ok(())
}

/// A step keeps the mass, and both layouts give the same.
#[test]
fn a_step_of_the_lattice() -> warpwright::Result<()> {
    let device = Device::simulator();
    let (width, cells) = (16, 128);
    let fluid = lattice::populations::Fluid { rate: 0.6 };
    let cell = |n: &Vec<f32>| lattice::populations::Cell { f: std::array::from_fn(|k| 1.0 + 0.1 * n[k]) };
    let from: Vec<_> = (0..cells).map(|i| cell(&floats(9, i as u32 + 1))).collect();
    let by_part: Vec<f32> = (0..9).flat_map(|k| from.iter().map(move |cell| cell.f[k])).collect();
    let (structs, arrays) = (device.upload(&from)?, device.upload(&by_part)?);
    let mut to_structs = device.zeros::<lattice::populations::Cell>(cells)?;
    let mut to_arrays = device.zeros::<f32>(9 * cells)?;
    lattice::step_of_structs(width, fluid, &structs, &mut to_structs).cover(cells).launch(&device)?;
    lattice::step_of_arrays(width, fluid, &arrays, &mut to_arrays).cover(cells).launch(&device)?;
    let (structs, arrays) = (to_structs.download()?, to_arrays.download()?);
    for k in 0..9 {
        (0..cells).for_each(|i| assert_eq!(structs[i].f[k].to_bits(), arrays[k * cells + i].to_bits()));
    }
    let mass = |all: &[f32]| all.iter().map(|f| f64::from(*f)).sum::<f64>();
    // 1152 populations, each rounded a few times to 24 bits.
    assert!((mass(&arrays) - mass(&by_part)).abs() < 1152.0 * 4.0 * 6e-8, "{} {}", mass(&arrays), mass(&by_part));
    Ok(())
}

/// Every pair of 512 points is counted once in each order.
#[test]
fn histograms_of_pairs() -> warpwright::Result<()> {
    let device = Device::simulator();
    let points: Vec<[f32; 3]> = floats(1536, 9)
        .chunks(3)
        .map(|p| {
            let length = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
            [p[0] / length, p[1] / length, p[2] / length]
        })
        .collect();
    let axis = |k: usize| points.iter().map(|p| p[k]).collect::<Vec<f32>>();
    let edges: [f32; correlation::bins::BINS] = std::array::from_fn(|k| 1.0 - 0.1 * k as f32);
    let (e, x, y, z) = (device.constant(edges)?, device.upload(&axis(0))?, device.upload(&axis(1))?, device.upload(&axis(2))?);
    let mut counts = device.zeros::<u32>(correlation::bins::BINS)?;
    correlation::correlate(&e, &x, &y, &z, &mut counts).cover(512).launch(&device)?;
    let mut expected = [0u32; correlation::bins::BINS];
    for a in &points {
        for b in &points {
            // As the kernel rounds it: products and sums fused.
            let dot = a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]));
            // The first edge from the second on that is not above.
            let above = (1..correlation::bins::BINS).take_while(|k| dot < edges[*k]).count();
            expected[above] += 1;
        }
    }
    assert_eq!(counts.download()?, expected);
    Ok(())
}

/// One sample turns every voxel by its own angle.
#[test]
fn a_sum_over_constant_memory() -> warpwright::Result<()> {
    let device = Device::simulator();
    let mut samples = [mri::samples::Sample { kx: 0.0, ky: 0.0, kz: 0.0, magnitude: 0.0 }; mri::samples::CHUNK];
    let k = floats(12, 5);
    (0..3).for_each(|n| {
        samples[n] = mri::samples::Sample { kx: k[4 * n], ky: k[4 * n + 1], kz: k[4 * n + 2], magnitude: 1.0 + k[4 * n + 3] }
    });
    let [x, y, z] = [6, 7, 8].map(|seed| floats(300, seed));
    let (chunk, px, py, pz) = (device.constant(samples)?, device.upload(&x)?, device.upload(&y)?, device.upload(&z)?);
    let (mut real, mut imaginary) = (device.zeros::<f32>(300)?, device.zeros::<f32>(300)?);
    mri::q(3, &chunk, &px, &py, &pz, &mut real, &mut imaginary).cover(300).launch(&device)?;
    let (real, imaginary) = (real.download()?, imaginary.download()?);
    for i in 0..300 {
        let angle = |s: &mri::samples::Sample| std::f64::consts::TAU * f64::from(s.kx * x[i] + s.ky * y[i] + s.kz * z[i]);
        let sum = |f: fn(f64) -> f64| samples[..3].iter().map(|s| f64::from(s.magnitude) * f(angle(s))).sum::<f64>();
        // Three terms of at most 1.5, by approximations that are within 2^-20.9 for angles below π.
        assert!((f64::from(real[i]) - sum(f64::cos)).abs() < 1e-5 && (f64::from(imaginary[i]) - sum(f64::sin)).abs() < 1e-5, "{i}");
    }
    Ok(())
}

/// RC5-32/12 as its paper has it, word by word.
fn rc5(key: u64, plain: [u32; 2]) -> [u32; 2] {
    let mut s = [0u32; 26];
    (0..26).for_each(|k| s[k] = 0xb7e1_5163u32.wrapping_add(0x9e37_79b9u32.wrapping_mul(k as u32)));
    let mut l = [key as u32, (key >> 32) as u32, 0];
    let (mut a, mut b) = (0u32, 0u32);
    for k in 0..78 {
        a = s[k % 26].wrapping_add(a).wrapping_add(b).rotate_left(3);
        s[k % 26] = a;
        b = l[k % 3].wrapping_add(a).wrapping_add(b).rotate_left(a.wrapping_add(b) % 32);
        l[k % 3] = b;
    }
    let (mut x, mut y) = (plain[0].wrapping_add(s[0]), plain[1].wrapping_add(s[1]));
    for k in 1..13 {
        x = (x ^ y).rotate_left(y % 32).wrapping_add(s[2 * k]);
        y = (y ^ x).rotate_left(x % 32).wrapping_add(s[2 * k + 1]);
    }
    [x, y]
}

#[test]
fn searches_in_integers() -> warpwright::Result<()> {
    let device = Device::simulator();
    let (plain, first, key) = ([0x6e6b_6e75, 0x006e_776f], 0x1_2345_6000u64, 0x1_2345_6111);
    let mut found = device.zeros::<u64>(1)?;
    search::rc5(first, plain, rc5(key, plain), &mut found).cover(512).launch(&device)?;
    assert_eq!(found.download()?, [key]);
    // Two by two blocks, and the window's 16 pixels beyond.
    let width = 48;
    let [now, before] = [21, 22].map(|seed| numbers(width * width, seed).into_iter().map(|n| n as u8).collect::<Vec<u8>>());
    let (a, b) = (device.upload(&now)?, device.upload(&before)?);
    let mut sums = device.zeros::<u32>(4 * 256)?;
    search::motion::motion(width, &a, &b, &mut sums).grid((2, 2)).launch(&device)?;
    let sums = sums.download()?;
    for (n, sum) in sums.iter().enumerate() {
        let (block, dy, dx) = (n / 256, n / 16 % 16, n % 16);
        let at = |y: usize, x: usize| (block / 2 * 16 + y) * width + block % 2 * 16 + x;
        let apart = |k: usize| u32::from(now[at(k / 16, k % 16)].abs_diff(before[at(k / 16 + dy, k % 16 + dx)]));
        assert_eq!(*sum, (0..256).map(apart).sum::<u32>(), "{n}");
    }
    Ok(())
}
