//! Rings of the copy engine in `persistent` kernels: barriers are made once, and slots and phases run on from round to round.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::DeviceKind;
use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptx_interpreter::executed;
use warpwright_tests::ptxas::{self, Counts};
use warpwright_tests::sass::Judge;

/// Numbers that sums of a few hundred hold exactly.
fn numbers(len: usize, salt: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919 + salt * 13 + 5) % 61) as f32 - 20.0).collect()
}

/// Each block has another count of iterations, from none on; whole blocks leave before the second loop, and some threads before the last barrier.
#[kernel(block = 64, persistent = P)]
fn rounds<const S: usize, const P: bool>(most: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 128];
    #[shared]
    let mut other: [f32; 64];
    #[shared]
    let mut all: [f32; 64];
    let (t, b) = (thread_idx().x, block_idx().x);
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for chunk in 0..b % (most + 1) {
        load_run(&mut run, x, (b + chunk) * 128);
        sync_threads();
        sum = sum * 0.5 + run[127 - t] - run[t];
        sync_threads();
    }
    if b % 5 == 3 {
        y[b * 64 + t] = sum;
        return;
    }
    #[pipeline(stages = 3)]
    for chunk in (b % 3..most).step_by(2) {
        load_run(&mut other, x, (b + chunk) * 64);
        sync_threads();
        sum = sum * 0.25 + other[63 - t];
        sync_threads();
    }
    if t >= 48 {
        y[b * 64 + t] = sum;
        return;
    }
    all[t] = sum;
    sync_threads();
    y[b * 64 + t] = sum + all[47 - t];
}

fn rounds_in_rust(blocks: usize, most: usize, x: &[f32]) -> Vec<f32> {
    let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
    let of = |b: usize, t: usize| {
        let first = (0..b % (most + 1)).fold(0.0, |sum, chunk| {
            let start = (b + chunk) * 128;
            sum * 0.5 + at(start + 127 - t) - at(start + t)
        });
        if b % 5 == 3 {
            return first;
        }
        (b % 3..most).step_by(2).fold(first, |sum, chunk| sum * 0.25 + at((b + chunk) * 64 + 63 - t))
    };
    let whole = |b: usize, t: usize| if b % 5 == 3 || t >= 48 { of(b, t) } else { of(b, t) + of(b, 47 - t) };
    (0..blocks * 64).map(|i| whole(i / 64, i % 64)).collect()
}

fn rounds_agree<const S: usize>(device: &Device) {
    for (blocks, most) in [(1, 0), (1, 2 * S + 1), (9, 0), (9, 1), (17, S), (23, 2 * S), (40, 2 * S + 1)] {
        for short in [0, 5, 200] {
            let x = numbers((blocks + most) * 128 - short.min(128), most);
            let there = device.upload(&x).unwrap();
            let expected = rounds_in_rust(blocks, most, &x);
            let mut y = device.zeros::<f32>(blocks * 64).unwrap();
            rounds::<S, true>(most, &there, &mut y).grid(blocks).launch(device).unwrap();
            assert_eq!(y.download().unwrap(), expected, "{S} stages, {blocks} blocks of up to {most}, {short} short");
            rounds::<S, false>(most, &there, &mut y).grid(blocks).launch(device).unwrap();
            assert_eq!(y.download().unwrap(), expected, "not persistent: {S} stages, {blocks} blocks of up to {most}, {short} short");
        }
    }
}

#[test]
fn rings_run_on_from_round_to_round() {
    on_all("rounds", |device| {
        rounds_agree::<2>(device);
        rounds_agree::<3>(device);
        rounds_agree::<4>(device);
        rounds_agree::<5>(device);
    });
}

/// The same with a producer, which comes to no barrier: it copies for the next blocks while this one's work still exchanges its sums.
#[kernel(block = 64, persistent = P)]
fn produced<const S: usize, const P: bool>(most: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 128];
    #[shared]
    let mut other: [f32; 64];
    #[shared]
    let mut all: [f32; 64];
    let (t, b) = (thread_idx().x, block_idx().x);
    let mut sum = 0.0;
    #[pipeline(stages = S, producer)]
    for chunk in 0..b % (most + 1) {
        load_run(&mut run, x, (b + chunk) * 128);
        sync_threads();
        sum = sum * 0.5 + run[127 - t] - run[t];
        sync_threads();
    }
    if b % 5 != 3 {
        #[pipeline(stages = 3, producer)]
        for chunk in (b % 3..most).step_by(2) {
            load_run(&mut other, x, (b + chunk) * 64);
            sync_threads();
            sum = sum * 0.25 + other[63 - t];
            sync_threads();
        }
        if t < 48 {
            all[t] = sum;
        }
        sync_threads();
        if t < 48 {
            sum += all[47 - t];
        }
    }
    y[b * 64 + t] = sum;
}

fn produced_agree<const S: usize>(device: &Device) {
    for (blocks, most) in [(1, 0), (1, 2 * S + 1), (9, 0), (9, 1), (23, 2 * S), (40, 2 * S + 1)] {
        for short in [0, 5, 200] {
            let x = numbers((blocks + most) * 128 - short.min(128), most);
            let there = device.upload(&x).unwrap();
            let expected = rounds_in_rust(blocks, most, &x);
            let mut y = device.zeros::<f32>(blocks * 64).unwrap();
            produced::<S, true>(most, &there, &mut y).grid(blocks).launch(device).unwrap();
            assert_eq!(y.download().unwrap(), expected, "{S} stages, {blocks} blocks of up to {most}, {short} short");
            produced::<S, false>(most, &there, &mut y).grid(blocks).launch(device).unwrap();
            assert_eq!(y.download().unwrap(), expected, "not persistent: {S} stages, {blocks} blocks of up to {most}, {short} short");
        }
    }
}

#[test]
fn producers_go_on_to_the_next_block() {
    on_all("produced", |device| {
        produced_agree::<2>(device);
        produced_agree::<3>(device);
    });
}

/// Tiles by tensor copies, of a grid of blocks in bands; a loop in a loop.
#[kernel(block = (16, 4), persistent, raster(rows = 2), targets = [sm_90])]
fn products<const S: usize, const P: bool>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut left: [[f32; 8]; 16];
    #[shared]
    let mut right: [[f32; 16]; 8];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (block_idx().y * 16, block_idx().x * 16);
    let mut sum = [0.0f32; 4];
    for half in 0..2 {
        #[pipeline(stages = S, by = tma, producer = P)]
        for k in (half * 8..a.columns()).step_by(16) {
            load_tile(&mut left, a, row, k);
            load_tile(&mut right, b, k, column);
            sync_threads();
            for i in 0..8 {
                #[unroll]
                for r in 0..4 {
                    sum[r] += left[ty * 4 + r][i] * right[i][tx];
                }
            }
            sync_threads();
        }
    }
    #[unroll]
    for r in 0..4 {
        c[(row + ty * 4 + r, column + tx)] = sum[r];
    }
}

fn products_agree<const S: usize, const P: bool>(device: &Device) {
    for (m, k, n) in [(1, 4, 4), (20, 8, 36), (48, 40, 64), (65, 16 * S + 8, 20)] {
        let (a, b) = (numbers(m * k, 3), numbers(k * n, 4));
        let [a_there, b_there] = [&a, &b].map(|x| device.upload(x).unwrap());
        let mut c = device.zeros::<f32>(m * n).unwrap();
        let (left, right) = (device.matrix(&a_there, m, k).unwrap(), device.matrix(&b_there, k, n).unwrap());
        let product = device.matrix_mut(&mut c, m, n).unwrap();
        products::<S, P>(left, right, product).grid((n.div_ceil(16), m.div_ceil(16))).launch(device).unwrap();
        let of = |i: usize| (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum::<f32>();
        assert_eq!(c.download().unwrap(), (0..m * n).map(of).collect::<Vec<f32>>(), "{S} stages, {m} x {k} x {n}");
    }
}

#[test]
fn tiles_come_by_tensor_copies_in_all_rounds() {
    on_all("products", |device| {
        // GPUs before sm_90 are refused it.
        if device.properties().compute_capability.is_some_and(|capability| capability < (9, 0)) {
            return;
        }
        products_agree::<2, false>(device);
        products_agree::<3, false>(device);
        products_agree::<2, true>(device);
        products_agree::<4, true>(device);
    });
}

/// Tiles in and out by tensor copies, a block of the grid for each column of tiles.
#[kernel(block = 64, persistent, targets = [sm_90])]
fn moved<const S: usize, const P: bool>(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    let column = block_idx().x * 16;
    #[pipeline(stages = S, by = tma, producer = P)]
    for k in 0..(block_idx().x % 5).min(a.rows().div_ceil(8)) {
        load_tile(&mut tile, a, k * 8, column);
        sync_threads();
        store_tile(c, k * 8, column, &tile);
        sync_threads();
    }
}

#[test]
fn tiles_go_out_by_tensor_copies_in_all_rounds() {
    on_all("moved", |device| {
        // GPUs before sm_90 are refused it.
        if device.properties().compute_capability.is_some_and(|capability| capability < (9, 0)) {
            return;
        }
        for (rows, columns) in [(1, 4), (29, 100), (40, 500)] {
            let x = numbers(rows * columns, 7);
            let x_there = device.upload(&x).unwrap();
            let moves = |run: &dyn Fn(&mut Buffer<f32>)| {
                let mut c = device.zeros::<f32>(rows * columns).unwrap();
                run(&mut c);
                let at = |i: usize| if i / columns < i % columns / 16 % 5 * 8 { x[i] } else { 0.0 };
                assert_eq!(c.download().unwrap(), (0..rows * columns).map(at).collect::<Vec<f32>>(), "{rows} x {columns}");
            };
            let a = || device.matrix(&x_there, rows, columns).unwrap();
            let grid = columns.div_ceil(16);
            moves(&|c| moved::<2, false>(a(), device.matrix_mut(c, rows, columns).unwrap()).grid(grid).launch(device).unwrap());
            moves(&|c| moved::<4, false>(a(), device.matrix_mut(c, rows, columns).unwrap()).grid(grid).launch(device).unwrap());
            moves(&|c| moved::<3, true>(a(), device.matrix_mut(c, rows, columns).unwrap()).grid(grid).launch(device).unwrap());
        }
    });
}

/// Products of tiles that a producer asks for; results leave in strips through a ring of R slots, two strips a round.
#[kernel(block = 256, persistent, targets = [sm_90])]
fn multiplied<const S: usize, const R: usize>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<bf16>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; 128];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; 128];
    #[shared(swizzle = 128)]
    let mut strip: [[bf16; 64]; 128];
    let (row, column) = (block_idx().y * 128, block_idx().x * 128);
    let mut sums = Accumulator::<f32, 128, 128>::zero();
    #[pipeline(stages = S, by = tma, producer)]
    for step in 0..a.columns().div_ceil(64) {
        load_tile(&mut left, a, row, step * 64);
        load_tile(&mut right, b, column, step * 64);
        sync_threads();
        multiply_add(&left, transposed(&right), &mut sums);
        sync_threads();
    }
    #[pipeline(stages = R, by = tma)]
    for n in 0..2 {
        sums.store_columns(n * 64, &mut strip);
        sync_threads();
        store_tile(c, row, column + n * 64, &strip);
        sync_threads();
    }
}

fn multiplied_agrees<const S: usize, const R: usize>(device: &Device) {
    // Whole numbers whose sums bf16 holds, up to 256.
    let small = |len: usize, salt: usize| (0..len).map(|i| ((i * 7919 + salt) % 3) as f32 - 1.0).collect::<Vec<f32>>();
    for [m, n, k] in [[8, 16, 8], [136, 264, 200], [128, 128, 0]] {
        let (x, y) = (small(m * k, 1), small(n * k, 2));
        let of = |values: &[f32]| values.iter().copied().map(bf16::from_f32).collect::<Vec<_>>();
        let (a, b) = (device.upload(&of(&x)).unwrap(), device.upload(&of(&y)).unwrap());
        let mut c = device.upload(&vec![bf16::from_f32(9.0); m * n]).unwrap();
        let launch = multiplied::<S, R>(
            device.matrix(&a, m, k).unwrap(),
            device.matrix(&b, n, k).unwrap(),
            device.matrix_mut(&mut c, m, n).unwrap(),
        );
        launch.grid((n.div_ceil(128), m.div_ceil(128))).launch(device).unwrap();
        let expected: Vec<f32> = (0..m * n).map(|i| (0..k).map(|step| x[i / n * k + step] * y[i % n * k + step]).sum()).collect();
        assert_eq!(c.download().unwrap().into_iter().map(bf16::to_f32).collect::<Vec<_>>(), expected, "{m} × {n} × {k}, {S}, {R}");
    }
}

#[test]
fn products_go_on_over_the_ends_of_rounds() {
    on_all("products over rounds", |device| {
        let properties = device.properties();
        // Three slots of two tiles and of a strip are more than NVIDIA's OpenCL has.
        let is_small = device.kind() == DeviceKind::OpenCl && properties.shared_bytes_per_block < 150 << 10;
        if is_small || properties.compute_capability.is_some_and(|capability| capability < (9, 0)) {
            return;
        }
        multiplied_agrees::<2, 2>(device);
        multiplied_agrees::<3, 2>(device);
        multiplied_agrees::<3, 3>(device);
    });
    let count = |text: &str, word: &str| text.matches(word).count();
    // Of two strips and two slots, a round waits for what the strips themselves wait for, and the block for the rest at its end.
    let late = text("multiplied", &["3", "2"], "sm_90a");
    let loops = late.rfind("bar.sync").unwrap_or_else(|| panic!("{late}"));
    let last = late.rfind("cp.async.bulk.wait_group.read 0").unwrap_or_else(|| panic!("{late}"));
    assert!(count(&late, "cp.async.bulk.wait_group 0") == 0 && last > loops, "{late}");
    // Of three slots the strips are no multiple: all is written before the next round.
    let whole = text("multiplied", &["3", "3"], "sm_90a");
    assert!(count(&whole, "cp.async.bulk.wait_group 0") == 1 && count(&whole, "cp.async.bulk.wait_group.read 0") == 0, "{whole}");
    // A product runs on while the next is asked for, where there are slots for it; nothing is ordered by a barrier before or behind the loop.
    let two = text("multiplied", &["2", "2"], "sm_90a");
    assert_eq!([&late, &two].map(|text| count(text, "wgmma.wait_group.sync.aligned 1")), [1, 0], "{late}");
    let product = late.rfind("wgmma.mma_async").unwrap_or_else(|| panic!("{late}"));
    let first_strip = product + late[product..].find("st.shared").unwrap_or_else(|| panic!("{late}"));
    assert_eq!(count(&late[product..first_strip], "bar.sync"), 0, "{late}");
}

/// Warpgroups meet apart in the strips of their sums, unless an iteration touches what others write.
#[test]
fn warpgroups_store_apart_what_is_theirs() {
    let of = |change: &dyn Fn(String) -> String| {
        let source = change(kernel_of(include_str!("engine_rounds.rs"), "multiplied").replace(", targets = [sm_90]", ""));
        let text = ptx(&source, "multiplied", &["3", "2"], "sm_90a").unwrap_or_else(|error| panic!("{error}")).to_string();
        let all = text.matches("bar.sync 1, 256").count();
        (all, text.matches("bar.sync").count() - all - text.matches("bar.sync 0").count(), text)
    };
    // No barrier of all of the work's threads is left, in a round or at its end.
    let (all, apart, text) = of(&|source| source);
    assert_eq!((all, apart), (0, 1), "{text}");
    assert!(text.contains(", 128;") && text.contains("cp.async.bulk.wait_group.read 0;"), "{text}");
    // Behind strips that are no multiple of the slots, one stands before the next round.
    let source = kernel_of(include_str!("engine_rounds.rs"), "multiplied").replace(", targets = [sm_90]", "");
    let whole = ptx(&source, "multiplied", &["3", "3"], "sm_90a").unwrap_or_else(|error| panic!("{error}")).to_string();
    assert_eq!(whole.matches("bar.sync 1, 256").count(), 1, "{whole}");
    let strips = "sums.store_columns(n * 64, &mut strip);";
    let refused: [&dyn Fn(String) -> String; 4] = [
        // What an iteration reads beside its sums, another thread has written.
        &|source| {
            let declared = source.replace(
                "let (row, column)",
                "#[shared]\n    let mut more: [f32; 256];\n    more[thread_idx().x] = 1.0;\n    let (row, column)",
            );
            declared.replace(
                strips,
                &format!("#[unroll]\n        for e in 0..sums.len() {{ sums[e] += more[255 - thread_idx().x]; }}\n        {strips}"),
            )
        },
        // A slot has more than sums.
        &|source| source.replace(strips, &format!("{strips}\n        if thread_idx().x == 0 {{ strip[n][0] = bf16::from_f32(1.0); }}")),
        // Somebody reads the matrix before the strips are stored.
        &|source| {
            let reads = "let old = c[(row, column)] as f32;\n    #[unroll]\n    for e in 0..sums.len() { sums[e] += old; }\n    #[pipeline(stages = R";
            source.replace("#[pipeline(stages = R", reads)
        },
        // Each multiplies by itself.
        &|source| source.replace("block = 256", "block = 256, tensor = false"),
    ];
    for change in refused {
        let (all, apart, text) = of(change);
        assert!(all > 0 && apart == 0, "{all}, {apart}: {text}");
    }
}

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed("engine_rounds", &["products_go_on_over_the_ends_of_rounds", "tiles_go_out_by_tensor_copies_in_all_rounds"], "9.0");
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("engine_rounds.rs"), kernel).replace(", targets = [sm_90]", "");
    ptx(&source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn barriers_are_made_once() {
    let text = text("rounds", &["4", "true"], "sm_90");
    // Before the place of the block is asked for, which the loop over blocks begins with.
    let made: Vec<usize> = text.match_indices("mbarrier.init").map(|(at, _)| at).collect();
    let place = text.find("%ctaid.x").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(made.len(), 4 + 3, "{text}");
    assert!(made.iter().all(|at| *at < place), "{text}");
    assert!(text.contains("cp.async.bulk.shared::cluster.global") && !text.contains("cp.async.c"), "{text}");
}

/// A kernel that may begin before the one before it has ended waits behind its barriers, in each round before the first copy, and behind the rounds.
#[test]
fn rounds_of_a_kernel_that_overlaps_wait() {
    let source = kernel_of(include_str!("engine_rounds.rs"), "rounds").replace("persistent = P", "persistent = P, overlap");
    let text = ptx(&source, "rounds", &["3", "true"], "sm_90").unwrap_or_else(|error| panic!("{error}")).to_string();
    let all = |word: &str| text.match_indices(word).map(|(at, _)| at).collect::<Vec<usize>>();
    let (barriers, waits, copies, stores) =
        (all("mbarrier.init"), all("griddepcontrol.wait"), all("cp.async.bulk.shared"), all("st.global"));
    assert!(waits.len() == 2 && barriers[0] < waits[0] && waits[0] < copies[0] && stores[stores.len() - 1] < waits[1], "{text}");
}

/// Each role has a loop over blocks of its own.
#[test]
fn each_role_goes_through_its_rounds() {
    let source = kernel_of(include_str!("engine_rounds.rs"), "produced").replace("persistent = P", "persistent = P, overlap");
    let text = ptx(&source, "produced", &["3", "true"], "sm_90a").unwrap_or_else(|error| panic!("{error}")).to_string();
    let all = |word: &str| text.match_indices(word).map(|(at, _)| at).collect::<Vec<usize>>();
    let (place, copied) = (all("%ctaid.x"), all("cp.async.bulk.shared::cluster.global"));
    assert_eq!(place.len(), 2, "{text}");
    assert!(place[0] < copied[0] && copied[copied.len() - 1] < place[1], "{text}");
    // Each role waits for the kernel before in its rounds, before its first access, and behind them.
    let (waits, stores) = (all("griddepcontrol.wait"), all("st.global"));
    assert_eq!(waits.len(), 4, "{text}");
    assert!(place[0] < waits[0] && waits[0] < copied[0] && copied[copied.len() - 1] < waits[1], "{text}");
    assert!(place[1] < waits[2] && waits[2] < stores[0] && stores[stores.len() - 1] < waits[3], "{text}");
    // No barrier of all threads stands behind the parting; the work's are at the end of a round, too.
    assert!(all("bar.sync 0").iter().all(|at| *at < place[0]), "{text}");
    assert!(all("bar.sync 1, 64").len() >= 2, "{text}");
}

#[test]
fn assemblers_take_rounds() {
    let test = "assemblers_take_rounds";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_80", 80), ("sm_90", 90), ("sm_100", 100), ("sm_120", 120)] {
        for text in ["3", "4"].map(|stages| text("rounds", &[stages, "true"], target)) {
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "rounds of a ring", capability));
        }
        if capability >= 90 {
            for text in [
                text("products", &["3", "false"], target),
                text("products", &["3", "true"], target),
                text("produced", &["3", "true"], target),
            ] {
                assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "rounds of tiles, and of producers", capability));
            }
        }
    }
    let text = text("multiplied", &["3", "2"], "sm_90a");
    assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "products over rounds", 90));
    counts.report(test);
}

#[test]
fn machine_code_of_the_loop_is_that_of_one_round() {
    let test = "machine_code_of_the_loop_is_that_of_one_round";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let of =
        |is_persistent: &str| judge.sass(&text("rounds", &["3", is_persistent], "sm_90"), 90).unwrap_or_else(|error| panic!("{error}"));
    let (one, many) = (of("false"), of("true"));
    let count = |sass: &str, word: &str| sass.matches(word).count();
    // The barrier at the end of a round, and what brings threads that have left there.
    assert!((1..=2).contains(&(count(&many, "BAR.SYNC") - count(&one, "BAR.SYNC"))), "{many}");
    for word in ["UBLKCP", "SYNCS.PHASECHK"] {
        assert_eq!(count(&many, word), count(&one, word), "{word}: {many}");
    }
    assert_eq!(["MEMBAR.ALL.GPU", "MEMBAR.SC", "CCTL.IVALL", "LDGSTS", "LDL", "STL"].map(|word| count(&many, word)), [0; 6], "{many}");
    println!("ran: {test}");
}
