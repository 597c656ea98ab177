//! `warpwright occupancy`, of bare numbers and of kernels.

use super::{Folder, GENERIC, SAXPY};

/// The value of a top-level key of JSON as it is printed, up to the end of its line.
fn field<'a>(json: &'a str, key: &str) -> &'a str {
    let mark = format!("\n  \"{key}\": ");
    let rest = json.split_once(&mark).unwrap_or_else(|| panic!("no `{key}` in {json}")).1;
    rest.lines().next().unwrap_or_default().trim_end_matches(',')
}

const TILES: &[u8] = b"use warpwright::prelude::*;
#[kernel(block = (16, 16), variants(N in [1, 2]))]
pub fn tiled<const N: usize>(y: &mut Global<f32>) {
    #[shared] let mut tile: [[f32; 16]; 16];
    tile[thread_idx().y][thread_idx().x] = y[thread_idx().x];
    sync_threads();
    y[thread_idx().x] = tile[thread_idx().x][thread_idx().y] * N as f32;
}
#[kernel]
pub fn open(y: &mut Global<f32>) {
    #[shared(dynamic)] let mut buf: [f32];
    buf[thread_idx().x] = 1.0;
    sync_threads();
    y[thread_idx().x] = buf[0];
}
";

#[test]
fn bare_numbers() {
    let folder = Folder::new("occupancy-numbers", &[]);
    let numbers = |cc: &str, threads: &str, registers: &str, more: &[&str]| {
        folder.run(&[&["occupancy", "--cc", cc, "--threads", threads, "--registers", registers], more].concat())
    };
    let tile = numbers("1.0", "256", "11", &[]);
    tile.prints("cc 1.0: 256 threads, 11 registers, 0 bytes of shared memory, 0 named barriers\n");
    tile.prints("\n2 blocks, 16 of 24 warps: 66.7 %, limited by registers\n");
    tile.prints("registers               2816       8192       2  ← limit\n");
    tile.prints("step up: at ≤ 10 registers: 3 blocks, 100 %\n");
    tile.prints("cliff:   at 17 registers: 1 block, 33.3 %\n");
    numbers("9.0", "256", "65", &["--barriers", "1"]).prints("named barriers              1         64      64\n");
    numbers("5.0", "288", "169", &[]).prints("a launch is checked for 67584 registers of the block, and the most are 65536\n");
    numbers("sm_90", "1024", "32", &["--shared", "100000", "--no-opt-in"])
        .refuses(2, &["error: a block has at most 49152 bytes of shared memory on 9.0, not 100000"]);
    numbers("9.0", "1024", "32", &["--shared", "100000"])
        .prints("2 blocks, 64 of 64 warps: 100 %, limited by warp slots, registers and shared memory");
    numbers("9.0", "32", "16", &["--carve-out", "cache"]).prints("8 blocks, 8 of 64 warps: 12.5 %, limited by shared memory");
    numbers("8.6", "128", "40", &["--plot"]).prints("▲ 40 registers: 100 %\n");
}

#[test]
fn bare_numbers_as_json() {
    let folder = Folder::new("occupancy-json", &[]);
    let json = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let outcome = folder.run(&[&["occupancy", "--json"], arguments.as_slice()].concat());
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
        outcome.out
    };
    let fermi = json("--cc 2.0 --threads 256 --registers 10 --shared 0 --barriers 1");
    let fields = ["blocks_per_sm", "warps_per_sm", "max_warps_per_sm", "occupancy", "capability"].map(|key| field(&fermi, key));
    assert_eq!(fields, ["6", "48", "48", "1.0", "\"2.0\""]);
    let flat = |text: &str| text.split_whitespace().collect::<String>();
    assert!(flat(&fermi).contains("\"limiters\":[\"warps\"]"), "{fermi}");
    assert!(flat(&fermi).contains("{\"resource\":\"registers\",\"per_block\":2560,\"per_sm\":32768,\"blocks\":12}"), "{fermi}");
    assert!(flat(&fermi).contains("{\"at\":{\"registers\":21},\"blocks_per_sm\":5,\"warps_per_sm\":40,"), "{fermi}");
    // A figure of the Fortran talk with the shared memory taken, and one where no block fits.
    let braked = json("--cc 2.0 --threads 512 --registers 10 --shared 44236 --barriers 1");
    assert_eq!((field(&braked, "blocks_per_sm"), &field(&braked, "occupancy")[..5]), ("1", "0.333"));
    let none = json("--cc 2.0 --threads 1024 --registers 35");
    assert_eq!((field(&none, "blocks_per_sm"), field(&none, "occupancy"), field(&none, "next_cliff")), ("0", "0.0", "[]"));
}

#[test]
fn kernels() {
    let folder = Folder::new("occupancy-kernels", &[("ok.rs", SAXPY), ("tiles.rs", TILES), ("generic.rs", GENERIC)]);
    folder.run(&["occupancy", "ok.rs"]).prints("\n        estimated\n");
    let tiled = folder.run(&["occupancy", "tiles.rs::tiled", "--targets", "sm_75,sm_90"]);
    for row in ["in every row: threads 256; shared 1024 B; limited by warp slots\n", "\n1  sm_75   12 [", "\n2  sm_90   12 ["] {
        tiled.prints(row);
    }
    // What `-D` leaves of the declared variants; a value that is not declared is an instance of its own.
    let one = folder.run(&["occupancy", "tiles.rs::tiled", "-D", "N=2", "--targets", "sm_75"]);
    assert!(one.out.contains("\n2  sm_75") && !one.out.contains("\n1  sm_75"), "{}", one.out);
    folder.run(&["occupancy", "tiles.rs::tiled", "-D", "N=7", "--registers", "33"]).prints("; registers (given) 33; ");
    let json = folder.run(&["occupancy", "tiles.rs::tiled", "-D", "N=1", "--targets", "sm_90", "--json"]);
    for text in ["\"source\": \"estimated\"", "\"target\": \"sm_90\"", "\"blocks_per_sm\": ", "\"barriers\": 1", "\"shared\": 1024"] {
        json.prints(text);
    }
    let open = ["occupancy", "tiles.rs::open", "--threads", "128", "--targets", "sm_90", "--registers", "16"];
    folder.run(&[&open, &["--shared", "65536"] as &[&str]].concat()).prints("12/64");
    folder.run(&[&open, &["--plot"] as &[&str]].concat()).prints("sm_90: 16 blocks, 64 of 64 warps: 100 %, limited by warp slots\n");
}

#[test]
fn all_that_is_wrong_at_once() {
    let folder = Folder::new(
        "occupancy-wrong",
        &[("ok.rs", SAXPY), ("tiles.rs", TILES), ("generic.rs", GENERIC), ("bad.rs", b"#[kernel] fn k(y: &mut Global<f32>) { y[0] = z; }")],
    );
    let refuses = |arguments: &str, code: i32, texts: &[&str]| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        folder.run(&[&["occupancy"], arguments.as_slice()].concat()).refuses(code, texts);
    };
    let over = [
        "a block has 1 to 1024 threads on 3.0, not 2048",
        "error: a thread has at most 63 registers on 3.0, not 64; ask for 63 or fewer",
        "error: a block has at most 16 named barriers, not 17",
    ];
    refuses("--cc 3.0 --threads 2048 --registers 64 --barriers 17", 2, &over);
    refuses("--cc 8.5 --threads 32 --registers 16", 2, &["there is no compute capability `8.5`; did you mean `8.6`?"]);
    refuses("--cc x --threads 32 --registers 16", 2, &["there is no compute capability `x`; write one of 1.0, 1.1, "]);
    refuses("--cc 9.0 --threads 0 --registers 16", 2, &["a block has 1 to 1024 threads on 9.0, not 0"]);
    refuses("--cc 9.0 --threads 32", 2, &["--registers <N>"]);
    refuses("--cc 9.0 --threads -1 --registers 16", 2, &["invalid value '-1' for '--threads <N>': -1 is not in 0..=4294967295"]);
    refuses("--cc 9.0 --threads 32 --registers 16 --carve-out 101", 2, &["write `default`, `cache`, `equal`, `shared`, or a percentage"]);
    folder.run(&["occupancy"]).refuses(2, &["--cc <CAPABILITY>"]);
    folder.run(&["occupancy"]).refuses(2, &["--cc <CAPABILITY>"]);
    refuses("ok.rs --cc 9.0", 2, &["cannot be used with"]);
    refuses("ok.rs --threads 64", 2, &["the attribute of `saxpy` fixes its block, (64, 1, 1); leave out `--threads`"]);
    refuses("ok.rs --shared 64", 2, &["`saxpy` has no dynamic shared memory; leave out `--shared`"]);
    refuses("ok.rs --registers 300", 2, &["a thread has at most 255 registers on 8.0, not 300", "on 9.0, not 300"]);
    refuses("tiles.rs", 2, &["`open` leaves its block to the launch; give `--threads N`"]);
    refuses("tiles.rs::open --threads 64 --shared 4294967295", 2, &["of shared memory on 8.0, not 4294967295"]);
    refuses("ok.rs --targets sm_85", 2, &["`sm_85` is not a target; did you mean `sm_86`?"]);
    refuses("ok.rs::saxpi", 2, &["there is no kernel `saxpi` in `ok.rs`; did you mean `saxpy`?"]);
    refuses("generic.rs", 2, &["`scale` is generic in `B`, `F`, `T`; give -D B=… -D F=… -D T=…"]);
    refuses("tiles.rs::tiled -D M=2", 2, &["`-D M=…` names nothing in the kernel"]);
    refuses("bad.rs", 1, &["`z` is not known here"]);
}
