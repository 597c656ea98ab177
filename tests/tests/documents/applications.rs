//! The applications of Ryoo et al. (PPoPP 2008), their table 3, and our forms of each.

use super::library::{Looked, Named};
use warpwright_codegen::target::occupancy::Resource;
use warpwright_review::estimate::time::Bound;

/// What the document says keeps a kernel from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bottleneck {
    /// Instructions that are issued.
    Issue,
    /// What global memory moves.
    GlobalBandwidth,
    /// What global memory holds.
    GlobalCapacity,
    /// What shared memory holds, and so how many threads there are.
    SharedCapacity,
    /// What the register file holds, and so how many threads wait for the texture cache.
    RegistersAndCache,
}

impl Bottleneck {
    /// In the document's words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Bottleneck::Issue => "instruction issue",
            Bottleneck::GlobalBandwidth => "global memory bandwidth",
            Bottleneck::GlobalCapacity => "global memory capacity",
            Bottleneck::SharedCapacity => "shared memory capacity",
            Bottleneck::RegistersAndCache => "register file capacity and cache latencies",
        }
    }

    /// Whether a report of a variant on one target says so, too.
    pub(super) fn is_said_of(self, looked: &Looked) -> bool {
        let [on] = &looked.known.targets[..] else { return false };
        let bound = on.prediction.as_ref().map(|prediction| prediction.bound);
        let limits = |resource| on.occupancy.as_ref().is_some_and(|found| found.limiters().any(|limiter| limiter == resource));
        match self {
            Bottleneck::Issue => bound == Some(Bound::Arithmetic),
            Bottleneck::GlobalBandwidth => bound == Some(Bound::MemoryBandwidth),
            Bottleneck::SharedCapacity => limits(Resource::Shared),
            Bottleneck::RegistersAndCache => limits(Resource::Registers) && bound.is_some_and(Bound::is_latency),
            // How much memory a device has is nothing that a kernel's report knows.
            Bottleneck::GlobalCapacity => false,
        }
    }
}

/// A form of an application.
pub(super) struct Form {
    /// What it is.
    pub(super) role: &'static str,
    /// Which kernel.
    pub(super) named: Named,
    /// The lints that find something in it where it allows nothing.
    pub(super) lints: &'static [&'static str],
}

/// An application.
pub(super) struct Application {
    /// The document's name, and the mark of its table.
    pub(super) name: &'static str,
    /// How many times one core the kernel is.
    pub(super) speed_up: f64,
    /// Registers of a thread.
    pub(super) registers: u32,
    /// Shared memory of a thread, bytes.
    pub(super) shared: f64,
    /// Most threads at once on the 16 multiprocessors.
    pub(super) threads: u32,
    /// What bounds it.
    pub(super) bottleneck: Bottleneck,
    /// The plain one first; the tuned one, the fastest that was timed on an H200, last.
    pub(super) forms: &'static [Form],
}

const fn form(
    role: &'static str,
    file: &'static str,
    kernel: &'static str,
    generics: &'static str,
    lints: &'static [&'static str],
) -> Form {
    Form { role, named: Named { file, kernel, generics }, lints }
}

/// All of them, in the document's order.
pub(super) const APPLICATIONS: &[Application] = &[
    Application {
        name: "H.264",
        speed_up: 20.2,
        registers: 30,
        shared: 55.1,
        threads: 3936,
        bottleneck: Bottleneck::RegistersAndCache,
        forms: &[
            form("plain", "apps/sad.rs", "sad_global", "R=16", &["low_occupancy", "rolled_loop"]),
            form("the document's", "apps/sad.rs", "sad_texture", "R=16 B=64", &[]),
            form("tuned", "apps/sad.rs", "sad_shared", "R=16 B=64", &[]),
        ],
    },
    Application {
        name: "LBM",
        speed_up: 12.5,
        registers: 32,
        shared: 84.2,
        threads: 3200,
        bottleneck: Bottleneck::SharedCapacity,
        forms: &[
            form("plain", "apps/lbm/mod.rs", "structures", "", &["uncoalesced_access"]),
            form("the document's", "apps/lbm/mod.rs", "staged", "B=128", &[]),
            form("tuned", "apps/lbm/mod.rs", "arrays", "B=128 EAGER=false", &[]),
        ],
    },
    Application {
        name: "RC5-72",
        speed_up: 17.1,
        registers: 42,
        shared: 0.3,
        threads: 3072,
        bottleneck: Bottleneck::Issue,
        forms: &[
            form("plain", "apps/rc5.rs", "search_direct", "", &["local_memory", "rolled_loop"]),
            form("tuned", "apps/rc5.rs", "search", "KEYS=32 P=1", &[]),
        ],
    },
    Application {
        name: "FEM",
        speed_up: 11.0,
        registers: 18,
        shared: 61.0,
        threads: 4096,
        bottleneck: Bottleneck::GlobalBandwidth,
        forms: &[
            form("plain", "apps/fem/mod.rs", "jacobi_by_thread", "B=128", &[]),
            form("tuned", "apps/fem/mod.rs", "jacobi_sliced", "B=128 AHEAD=1", &[]),
        ],
    },
    Application {
        name: "RPES",
        speed_up: 210.0,
        registers: 23,
        shared: 24.8,
        threads: 4096,
        bottleneck: Bottleneck::Issue,
        forms: &[
            form("plain", "apps/rpes/mod.rs", "integrals_direct", "B=128", &[]),
            form("tuned", "apps/rpes/mod.rs", "integrals_of_pairs", "B=128 KETS=2 TABLE=true", &[]),
        ],
    },
    Application {
        name: "PNS",
        speed_up: 24.0,
        registers: 32,
        shared: 9.9,
        threads: 2048,
        bottleneck: Bottleneck::GlobalCapacity,
        forms: &[
            form("plain", "apps/pns/mod.rs", "simulate", "N=8 B=128 INTERLEAVED=false", &["uncoalesced_access"]),
            form("the document's", "apps/pns/mod.rs", "simulate", "N=8 B=128 INTERLEAVED=true", &[]),
            form("tuned", "apps/pns/mod.rs", "simulate_in_registers", "N=8 B=128 AHEAD=8", &[]),
        ],
    },
    Application {
        name: "SAXPY",
        speed_up: 19.4,
        registers: 7,
        shared: 0.3,
        threads: 12_288,
        bottleneck: Bottleneck::GlobalBandwidth,
        forms: &[
            form("plain", "saxpy.rs", "saxpy", "", &[]),
            form("tuned", "saxpy.rs", "saxpy_grouped", "B=256 ILP=4 BATCH=true V=1", &[]),
        ],
    },
    Application {
        name: "TPACF",
        speed_up: 60.2,
        registers: 24,
        shared: 52.2,
        threads: 4096,
        bottleneck: Bottleneck::SharedCapacity,
        forms: &[
            form("plain", "apps/tpacf/mod.rs", "pairs_direct", "", &["constant_divergence"]),
            form("tuned", "apps/tpacf/mod.rs", "pairs", "B=128 OWN=1 SETS=4 LANES=32", &[]),
        ],
    },
    Application {
        name: "FDTD",
        speed_up: 10.5,
        registers: 11,
        shared: 8.1,
        threads: 12_288,
        bottleneck: Bottleneck::GlobalBandwidth,
        forms: &[
            form("plain", "apps/fdtd/mod.rs", "magnetic_by_columns", "", &["uncoalesced_access"]),
            form("plain", "apps/fdtd/mod.rs", "electric_by_columns", "", &["uncoalesced_access"]),
            form("the document's", "apps/fdtd/mod.rs", "magnetic", "ILP=1 BATCH=true", &[]),
            form("the document's", "apps/fdtd/mod.rs", "electric", "ILP=1 BATCH=true", &[]),
            form("tuned", "apps/fdtd/mod.rs", "tiled", "STEPS=4", &[]),
        ],
    },
    Application {
        name: "MRI-Q",
        speed_up: 457.0,
        registers: 11,
        shared: 20.1,
        threads: 8192,
        bottleneck: Bottleneck::Issue,
        forms: &[
            form("plain", "apps/mri/mod.rs", "q_direct", "", &[]),
            form("the document's", "apps/mri/mod.rs", "q", "P=4 U=4 FAST=true TURNS=true", &[]),
            form("tuned", "apps/mri/mod.rs", "q_cached", "P=1 U=4 FAST=true TURNS=false", &[]),
        ],
    },
    Application {
        name: "MRI-FHD",
        speed_up: 316.0,
        registers: 12,
        shared: 20.1,
        threads: 8192,
        bottleneck: Bottleneck::Issue,
        forms: &[
            form("plain", "apps/mri/mod.rs", "fhd_direct", "", &[]),
            form("the document's", "apps/mri/mod.rs", "fhd", "P=4 U=4 FAST=true TURNS=true", &[]),
            form("tuned", "apps/mri/mod.rs", "fhd_cached", "P=4 U=4 FAST=true TURNS=false", &[]),
        ],
    },
    Application {
        name: "CP",
        speed_up: 102.0,
        registers: 20,
        shared: 0.4,
        threads: 6144,
        bottleneck: Bottleneck::Issue,
        forms: &[
            form("plain", "apps/coulomb.rs", "potential_direct", "", &[]),
            form("the document's", "apps/coulomb.rs", "potential", "BX=32 P=8 U=1", &[]),
            form("tuned", "apps/coulomb.rs", "potential_cached", "BX=32 P=8 U=4", &[]),
        ],
    },
];
