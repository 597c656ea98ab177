//! `#[pipeline]` changes no result, whatever the number of iterations: kernels whose copies run ahead, against Rust, on the simulator (where nobody may touch a copy that is on
//! its way), on the host twin and on what other devices there are; and what becomes of them in PTX and in machine code.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::ptx;
use warpwright_tests::sass::Judge;

/// Values that are exact in every format used here, and whose sums are.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + 13) % 31) as f32 - 15.0).collect()
}

/// Trip counts round what the stages are.
fn trips(stages: usize) -> impl Iterator<Item = usize> {
    0..=2 * stages + 1
}

#[kernel(block = 64)]
fn sums<const S: usize>(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for row in 0..rows {
        #[vectorize(4)]
        for k in 0..4 {
            tile[t * 4 + k] = x[row * 256 + t * 4 + k];
        }
        sync_threads();
        for k in 0..4 {
            sum += tile[(t + k * 65) % 256] * (row + 1) as f32;
        }
        sync_threads();
    }
    y[t] = sum;
}

fn sums_agree<const S: usize>(device: &Device) {
    for rows in trips(S) {
        let x = numbers(rows.max(1) * 256);
        let mut y = device.zeros::<f32>(64).unwrap();
        sums::<S>(rows, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
        let of = |t: usize| (0..rows).map(|row| (0..4).map(|k| x[row * 256 + (t + k * 65) % 256] * (row + 1) as f32).sum::<f32>()).sum();
        assert_eq!(y.download().unwrap(), (0..64).map(of).collect::<Vec<f32>>(), "{S} stages, {rows} iterations");
    }
}

#[test]
fn every_number_of_iterations_gives_the_plain_loops_sums() {
    on_all("sums", |device| {
        sums_agree::<1>(device);
        sums_agree::<2>(device);
        sums_agree::<3>(device);
        sums_agree::<4>(device);
        sums_agree::<7>(device);
    });
}

/// Weights that the work loads, in a batch or not.
#[kernel(block = 64)]
fn weighted<const S: usize, const BATCH: bool>(rows: usize, x: &Global<f32>, w: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 64]; 2];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    #[batch_loads(BATCH)]
    for row in 0..rows {
        tile[0][t] = x[row * 128 + t];
        tile[1][t] = if t < 40 { x[row * 128 + 64 + t] } else { 0.0 };
        sync_threads();
        sum += tile[0][63 - t] * w[row * 2];
        if row % 3 != 1 {
            sum += tile[1][63 - t] * w[row * 2 + 1];
        }
        sync_threads();
    }
    y[t] = sum;
}

fn weighted_agree<const S: usize, const BATCH: bool>(device: &Device) {
    for rows in trips(S) {
        let (x, w) = (numbers(rows.max(1) * 128), numbers(rows.max(1) * 2));
        let mut y = device.zeros::<f32>(64).unwrap();
        weighted::<S, BATCH>(rows, &device.upload(&x).unwrap(), &device.upload(&w).unwrap(), &mut y).grid(1).launch(device).unwrap();
        let second = |row: usize, t: usize| if row % 3 != 1 && t < 40 { x[row * 128 + 64 + t] * w[row * 2 + 1] } else { 0.0 };
        let of = |t: usize| (0..rows).map(|row| x[row * 128 + t] * w[row * 2] + second(row, t)).sum::<f32>();
        assert_eq!(y.download().unwrap(), (0..64).rev().map(of).collect::<Vec<f32>>(), "{S} stages, {rows} iterations, batch {BATCH}");
    }
}

#[test]
fn batches_beside_copies_give_the_plain_loops_sums() {
    on_all("weighted", |device| {
        weighted_agree::<1, true>(device);
        weighted_agree::<2, true>(device);
        weighted_agree::<3, false>(device);
        weighted_agree::<3, true>(device);
        weighted_agree::<5, true>(device);
    });
}

/// Rows and columns that no tile divides: zeros outside.
#[kernel(block = (16, 4), index = 64)]
fn product<const S: usize>(m: usize, n: usize, k: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared(pad = 4)]
    let mut a_tile: [[f32; 8]; 16];
    #[shared(swizzle)]
    let mut b_tile: [[f32; 16]; 8];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (block_idx().y * 16, block_idx().x * 16);
    let mut sum = [0.0; 4];
    #[pipeline(stages = S)]
    for step in (0..k).step_by(8) {
        for half in 0..2 {
            let (i, j) = ((ty * 16 + tx) / 8 + half * 8, tx % 8);
            a_tile[i][j] = if row + i < m && step + j < k { a[(row + i) * k + step + j] } else { 0.0 };
        }
        for half in 0..2 {
            let i = ty + half * 4;
            let j = column + tx;
            b_tile[i][tx] = if step + i < k && j < n { b[(step + i) * n + j] } else { 0.0 };
        }
        sync_threads();
        for e in 0..8 {
            #[unroll]
            for r in 0..4 {
                sum[r] += a_tile[ty * 4 + r][e] * b_tile[e][tx];
            }
        }
        sync_threads();
    }
    #[unroll]
    for r in 0..4 {
        if row + ty * 4 + r < m && column + tx < n {
            c[(row + ty * 4 + r) * n + column + tx] = sum[r];
        }
    }
}

fn product_agrees<const S: usize>(device: &Device) {
    for k in [0, 1, 8, 9, 16, 24, 8 * (S - 1), 8 * S, 8 * S + 3, 8 * (2 * S + 1)] {
        let (m, n) = (19, 33);
        let (a, b) = (numbers(m * k), numbers(k * n));
        let mut c = device.zeros::<f32>(m * n).unwrap();
        let (da, db) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        product::<S>(m, n, k, &da, &db, &mut c).grid((n.div_ceil(16), m.div_ceil(16))).launch(device).unwrap();
        let of = |i: usize| (0..k).map(|e| a[i / n * k + e] * b[e * n + i % n]).sum::<f32>();
        assert_eq!(c.download().unwrap(), (0..m * n).map(of).collect::<Vec<f32>>(), "{S} stages, {k}");
    }
}

#[test]
fn what_is_outside_is_zero() {
    on_all("product", |device| {
        product_agrees::<1>(device);
        product_agrees::<2>(device);
        product_agrees::<5>(device);
    });
}

/// Two loops over one array with unequal stages, in a loop that is none; halves, eight at a time; a counter that starts elsewhere and has a sign.
#[kernel(block = 32)]
fn twice<const S: usize, const R: usize>(start: i32, end: i32, x: &Global<bf16>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [bf16; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for round in 0..2u32 {
        #[pipeline(stages = S)]
        for k in (start..end).step_by(3) {
            let first = (k + 8) as usize * 256 + t * 8;
            tile.store::<8>(t * 8, x.load::<8>(first));
            sync_threads();
            sum += f32::from(tile[(t * 7 + round as usize) % 256]);
            sync_threads();
        }
        #[pipeline(stages = R)]
        for k in start..end {
            let first = (k + 8) as usize * 256 + t * 8;
            tile.store::<8>(t * 8, x.load::<8>(first));
            sync_threads();
            sum -= f32::from(tile[(t * 5 + 3) % 256]) * 2.0;
            sync_threads();
        }
    }
    y[t] = sum;
}

fn twice_agrees<const S: usize, const R: usize>(device: &Device) {
    for (start, end) in [(0, 0), (5, -3), (-8, -7), (-3, 4), (0, 9)] {
        let x: Vec<bf16> = numbers(20 * 256).into_iter().map(bf16::from_f32).collect();
        let mut y = device.zeros::<f32>(32).unwrap();
        twice::<S, R>(start, end, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
        let at = |k: i32, i: usize| f32::from(x[(k + 8) as usize * 256 + i]);
        let of = |t: usize| {
            let mut sum = 0.0;
            for round in 0..2 {
                (start..end).step_by(3).for_each(|k| sum += at(k, (t * 7 + round) % 256));
                (start..end).for_each(|k| sum -= at(k, (t * 5 + 3) % 256) * 2.0);
            }
            sum
        };
        assert_eq!(y.download().unwrap(), (0..32).map(of).collect::<Vec<f32>>(), "{S} and {R} stages, {start}..{end}");
    }
}

#[test]
fn loops_may_share_an_array() {
    on_all("twice", |device| {
        twice_agrees::<2, 3>(device);
        twice_agrees::<4, 2>(device);
        twice_agrees::<3, 1>(device);
        twice_agrees::<1, 3>(device);
    });
}

/// Kernels whose results with stages must be those without, bit for bit, on the simulator: shapes that people write.
macro_rules! shapes {
    ($($name:ident($n:ident, $x:ident, $tile:ident: $tile_type:ty, $t:ident, $sum:ident) $(if $condition:expr;)? $(#[$mark:meta])* for $k:ident in $range:expr => $body:block)*) => {
        $(
            #[kernel(block = 64)]
            fn $name<const S: usize>($n: usize, $x: &Global<f32>, y: &mut Global<f32>) {
                #[shared]
                let mut $tile: $tile_type;
                let $t = thread_idx().x;
                let mut $sum = 0.0f32;
                if true $(&& $condition)? {
                    $(#[$mark])*
                    #[pipeline(stages = S)]
                    for $k in $range $body
                }
                y[$t] = $sum;
            }
        )*

        #[test]
        fn shapes_that_people_write_keep_their_results() {
            let device = Device::simulator();
            let x = device.upload(&numbers(2048)).unwrap();
            for n in 0..=9usize {
                $({
                    let run = |kernel: for<'a> fn(usize, &'a Buffer<f32>, &'a mut Buffer<f32>) -> Launch<'a>| {
                        let mut y = device.zeros::<f32>(64).unwrap();
                        kernel(n, &x, &mut y).grid(1).launch(&device).unwrap_or_else(|error| panic!("{}, {n}: {error}", stringify!($name)));
                        y.download().unwrap().into_iter().map(f32::to_bits).collect::<Vec<u32>>()
                    };
                    let plain = run($name::<1>);
                    for staged in [run($name::<2>), run($name::<3>), run($name::<4>), run($name::<8>)] {
                        assert_eq!(staged, plain, "{}, {n}", stringify!($name));
                    }
                })*
            }
        }
    };
}

shapes! {
    both_arms(n, x, tile: [f32; 64], t, sum) for k in 0..n => {
        if k * 64 + t < 300 {
            tile[t] = x[k * 64 + t];
        } else {
            tile[t] = 0.0;
        }
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
    under_a_condition(n, x, tile: [f32; 64], t, sum) if n > 3; for k in 1..n => {
        tile[t] = x[k * 64 + t];
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
    backwards(n, x, tile: [f32; 64], t, sum) for k in (0..n).rev() => {
        tile[t] = x[k * 64 + t];
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
    to_the_end(n, x, tile: [f32; 64], t, sum) for k in 0..=n => {
        tile[t] = x[k * 64 + t];
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
    to_the_end_of_the_type(n, x, tile: [f32; 64], t, sum) for k in (255 - n as u8)..=255u8 => {
        tile[t] = x[(255 - k as usize) * 64 + t];
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
    by_an_index(n, x, tile: [f32; 64], t, sum) for k in 0..n => {
        tile[t] = x[(x[k].abs() as usize * 64 + t) % 2048];
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
    unrolled(n, x, tile: [f32; 64], t, sum) #[unroll(4)] for k in 0..n => {
        tile[t] = x[k * 64 + t];
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
    with_exits_inside(n, x, tile: [f32; 64], t, sum) for k in 0..n => {
        let at = k * 64 + t;
        tile[t] = x[at];
        sync_threads();
        for j in 0..8usize {
            if (t + j).is_multiple_of(3) {
                continue;
            }
            sum = sum * 0.5 + tile[(t + j) % 64] * at as f32;
            if j > 5 {
                break;
            }
        }
        sync_threads();
    }
    of_an_odd_size(n, x, tile: [[f32; 33]; 3], t, sum) for k in 0..n => {
        for r in 0..3 {
            if t < 33 {
                tile[r][t] = x[(k * 3 + r) * 33 + t];
            }
        }
        sync_threads();
        sum = sum * 0.5 + tile[t % 3][t * 5 % 33];
        sync_threads();
    }
    far_apart(n, x, tile: [f32; 64], t, sum) for k in (3u64..n as u64 + 3).step_by(2) => {
        tile[t] = x[(k as usize - 3) * 64 + t];
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
}

/// The text of a loop's body in PTX: from its wait for copies on to the jump back.
fn body(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with(".loc")).collect();
    let first = lines.iter().position(|line| line.starts_with("cp.async.wait_group")).expect("a wait");
    let last = lines.iter().rposition(|line| line.contains("bra $L")).expect("a jump back");
    lines[first..=last].to_vec()
}

fn text(stages: &str, target: &str) -> String {
    const SOURCE: &str = include_str!("pipelines.rs");
    let kernel = SOURCE.split("#[kernel(block = 64)]").nth(1).and_then(|rest| rest.split("\n}\n").next()).expect("the first kernel");
    ptx(&format!("#[kernel(block = 64)]{kernel}\n}}"), "sums", &[stages], target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn one_barrier_an_iteration_is_left_and_copies_need_no_register() {
    for stages in 2..6 {
        let text = text(&stages.to_string(), "sm_90");
        let body = body(&text);
        let count = |word: &str| body.iter().filter(|line| line.contains(word)).count();
        assert_eq!(body[0], format!("cp.async.wait_group {};", stages - 2));
        assert_eq!(
            ["bar.sync", "cp.async.cg.shared.global", "cp.async.commit_group", "ld.global", "st.shared"].map(count),
            [1, 1, 1, 0, 0]
        );
        let place = |word: &str| body.iter().position(|line| line.contains(word));
        assert!(place("bar.sync") < place("cp.async.cg") && place("commit_group") < place("ld.shared"), "{text}");
        // The plain loop's barrier behind its work stands behind the loop.
        assert_eq!(text.matches("bar.sync").count(), 2, "{text}");
        assert!(text.contains(&format!("sums_tile_3[{}]", stages * 1024)), "{text}");
    }
    // With one stage the loop is as it was.
    let plain = text("1", "sm_90");
    assert!(!plain.contains("cp.async") && plain.contains("sums_tile_3[1024]"), "{plain}");
}

#[test]
fn older_targets_copy_through_registers() {
    let text = text("3", "sm_75");
    assert!(!text.contains("cp.async") && text.contains("ld.global.v4.f32") && text.contains("st.shared.v4.f32"), "{text}");
    assert_eq!(text.matches("bar.sync").count(), 2);
}

/// The loop of machine code with the copies, from its first instruction to its jump back.
fn machine_loop(sass: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut labels = Vec::new();
    for line in sass.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':').filter(|label| label.starts_with(".L")) {
            labels.push((label.to_owned(), lines.len()));
        } else if let Some((_, rest)) = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
            lines.push(rest.trim().to_owned());
        }
    }
    let jumps = lines.iter().enumerate().filter_map(|(at, line)| {
        let label = line.contains("BRA").then(|| line.split(['(', ')']).nth(1))??;
        let (_, begin) = labels.iter().find(|(known, begin)| known == label && *begin <= at)?;
        Some((*begin, at))
    });
    let has_copies = |(begin, end): &(usize, usize)| lines[*begin..=*end].iter().any(|line| line.contains("LDGSTS"));
    let (begin, end) = jumps.filter(has_copies).max_by_key(|(begin, end)| end - begin).expect("a loop with copies");
    lines[begin..=end].to_vec()
}

/// What `ptxas` makes of it keeps the promise: copies that no register goes through, waited for by their groups, one barrier an iteration.
#[test]
fn machine_code_keeps_the_copies_ahead() {
    let Some(judge) = Judge::found_or_skip("machine_code_keeps_the_copies_ahead") else { return };
    for (target, name) in [(80, "sm_80"), (86, "sm_86"), (89, "sm_89"), (90, "sm_90"), (100, "sm_100"), (120, "sm_120")] {
        for stages in ["2", "4"] {
            let sass = judge.sass(&text(stages, name), target).unwrap_or_else(|error| panic!("{name}: {error}"));
            let body = machine_loop(&sass);
            let count = |word: &str| {
                body.iter().filter(|line| line.split(' ').any(|part| part == word || part.starts_with(&format!("{word}.")))).count()
            };
            let found = ["LDGSTS", "BAR", "DEPBAR", "LDGDEPBAR", "LDG", "STS", "MEMBAR"].map(count);
            assert_eq!(found, [1, 1, 1, 1, 0, 0, 0], "{stages} stages on {name}:\n{}", body.join("\n"));
            let place = |word: &str| body.iter().position(|line| line.split(' ').any(|part| part.starts_with(word)));
            // All have arrived that are read before the barrier, and the next are issued behind it.
            assert!(
                place("DEPBAR.LE") < place("BAR.") && place("BAR.") < place("LDGSTS"),
                "{stages} stages on {name}:\n{}",
                body.join("\n")
            );
        }
    }
    println!("ran: machine_code_keeps_the_copies_ahead (6 targets on nvdisasm)");
}
