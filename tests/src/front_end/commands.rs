//! Command lines that are right, to be spoilt.

use crate::random::Random;

/// One of each kind; `k.rs` need not be there where they are only read.
pub const COMMANDS: &[&str] = &[
    "check k.rs",
    "check k.rs --json --targets sm_90 -D N=4",
    "check k.rs::tile --quiet --targets sm_80,sm_90a,opencl --grid 352",
    "emit k.rs::saxpy --format ptx --target sm_80",
    "emit k.rs::tile --format opencl",
    "emit k.rs::tile --format rust --target sm_90",
    "emit k.rs::tile --after scheduled --timings --json",
    "simulate k.rs::saxpy --cover 1000 --args a=2.0 x=random(1000)",
    "simulate k.rs::saxpy --cover 64x32 --shared-bytes 1024 --seed 7 --args a=-1.5 x=random(4096,0..256) y=[1,2,3]",
    "simulate k.rs::tile --grid 2x1x1 --args x=iota(128) y=zeros(128) -D N=2 --json",
    "compare k.rs::tile --set N=1,2,4 --targets sm_90",
    "compare k.rs::tile --set N=1,2 -D T=f32 --grid 1024/N,768/(block.y*2) --args x=[0.5;64] p=Params{width:64,gain:(1,2.5)}",
    "occupancy --block 256 --registers 64 --shared 1024 --target sm_90",
    "explain missing_barrier",
    "tune k.rs::tile --grid 1 --args x=iota(64) y=zeros(64)",
    "completions bash",
    "devices",
];

/// One of them, a word a line.
pub(super) fn drawn(random: &mut Random) -> String {
    random.pick(COMMANDS).replace(' ', "\n")
}
