//! What the hardware is like: what a multiprocessor holds, one row per compute capability, 1.0 to 12.1; and what all devices have alike.
//!
//! The rows are what NVIDIA's occupancy arithmetic needs ([`super::occupancy`]), and what a kernel can be given. Rows of a family are
//! written as what sets them apart from its first. This module uses nothing else of this crate: whoever needs a figure of the hardware takes it from here.
//!
//! Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", in the edition that has the capability (1.x and
//! 2.x: of CUDA 3.2 and 8.0); the occupancy calculator's "GPU Data" (allocation units, sub-partitions, 1.0 to 8.6); the occupancy API of the
//! CUDA toolkit 13 (sub-partitions, carve-outs, barriers, virtual resources); CCCL, "arch_traits" (shared memory, threads and block slots from
//! 5.0); tuning guides of Kepler to Blackwell (carve-outs, reserved memory).

/// Threads of a warp, on every device there is.
pub const WARP: u32 = 32;

/// The same as the length of arrays that have something for each lane.
pub const LANES: usize = WARP as usize;

/// Most threads of a block on every device that kernels are compiled for.
pub const BLOCK_THREADS: u32 = FERMI.threads_per_block;

/// Most threads of a block along x, y and z. Source: as of the rows.
pub const BLOCK_EXTENT: [u32; 3] = [1024, 1024, 64];

/// Most blocks of a grid along x, y and z. Source: as of the rows.
pub const GRID_EXTENT: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];

/// Most blocks of a cluster, on every device that has clusters. Source: CUDA C++ Programming Guide, "Thread Block Clusters": the portable size.
pub const CLUSTER_BLOCKS: u32 = 8;

/// Most shared memory of a block that does not opt in, on every device that kernels are compiled for, bytes.
pub const SHARED_BYTES: u32 = FERMI.shared_per_block;

/// Most shared memory of a block on any device, bytes.
pub const MOST_SHARED_BYTES: u32 = HOPPER.shared_opted_in;

/// Local memory of a thread, bytes. Source: as of the rows.
pub const LOCAL_BYTES: u32 = kib(512);

/// Most registers of a thread, on every device that kernels are compiled for.
pub const THREAD_REGISTERS: u32 = MAXWELL.registers_per_thread;

/// Most blocks that a multiprocessor of any device holds.
pub const RESIDENT_BLOCKS: u32 = MAXWELL.blocks;

/// Constant memory of a kernel, bytes. Source: as of the rows; PTX ISA, "Constant State Space"; OpenCL 1.2 §4.2 (the least of a full-profile device).
pub const CONSTANT_BYTES: u32 = kib(64);

/// Bytes of a sector, which the caches fetch whole.
pub const SECTOR: u32 = 32;

/// Bytes of a line of the L1 cache: four sectors. The L1 cache and shared memory give as much in one pass.
pub const LINE: u32 = 4 * SECTOR;

/// The most bytes that one access moves.
pub const VECTOR_BYTES: usize = 16;

/// Banks of shared memory, each one word of 4 bytes wide.
pub const BANKS: usize = 32;

/// Registers of a capability whose unit is not the rule: 2.x gives these many registers a thread in units of 128 for a warp, not 64. Source:
/// the occupancy API of CUDA 8.0.
const FERMI_ODD_REGISTERS: &[u32] = &[21, 22, 29, 30, 37, 38, 45, 46];

/// What a multiprocessor of a compute capability holds, and in which units it gives it out. Bytes for memory; registers are of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// 10·major + minor.
    pub capability: u16,
    /// Most threads of a block.
    pub threads_per_block: u32,
    /// Warp slots.
    pub warps: u32,
    /// Block slots.
    pub blocks: u32,
    /// Warps of a block are counted in multiples of this.
    pub warp_unit: u32,
    /// Registers.
    pub registers: u32,
    /// Most registers of a block.
    pub registers_per_block: u32,
    /// Most registers of a thread.
    pub registers_per_thread: u32,
    /// Whom registers are given to, and in which unit.
    pub register_unit: RegisterUnit,
    /// Sub-partitions: each has its share of the registers, and a warp lives in one.
    pub partitions: u32,
    /// A block must be able to run with the registers in this many sub-partitions, too: 6.0 refuses what the other Pascals cannot run.
    pub launch_partitions: u32,
    /// Whether the half of the sub-partitions that a block runs on can be fixed, so that global loads are cached: 5.2, 5.3, 6.1, 6.2.
    pub partitioned_caching: bool,
    /// Shared memory, where it takes all it can of the memory it shares with the cache.
    pub shared: u32,
    /// The sizes that shared memory can be set to, smallest first.
    pub carve_outs: &'static [u32],
    /// Most shared memory of a block that does not opt in: all that arrays in the source may have.
    pub shared_per_block: u32,
    /// Most shared memory of a block that opts in to more, as dynamic memory.
    pub shared_opted_in: u32,
    /// Shared memory is given to a block in multiples of this.
    pub shared_unit: u32,
    /// Shared memory of each block that is not the kernel's.
    pub shared_reserved: u32,
    /// Named barriers; `None` where they cannot run out.
    pub barriers: Option<u32>,
    /// Virtual resources; `None` where there are none.
    pub virtual_resources: Option<u32>,
    /// Most bytes of a kernel's parameters.
    pub parameter_bytes: u32,
}

/// Whom registers are given to, in which unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterUnit {
    /// To a block, all its warps together.
    Block(u32),
    /// To each warp; in units twice as large where a thread has this many.
    Warp(u32, &'static [u32]),
}

/// The most named barriers of a block. Source: PTX ISA, "bar, barrier".
pub const BARRIERS_PER_BLOCK: u32 = 16;

/// What a kernel with more bytes of parameters needs than were possible everywhere since 2.0.
pub struct LargeParameters {
    /// That many.
    pub above: u32,
    /// The PTX version, 10·major + minor.
    pub ptx_version: u16,
    /// The CUDA version of the driver, 1000·major + 10·minor.
    pub driver: u32,
}

/// Source: PTX ISA, "Kernel Function Parameters" and "Release Notes"; CUDA C++ Programming Guide, "`__global__` Function Parameters".
pub const LARGE_PARAMETERS: LargeParameters = LargeParameters { above: 4096, ptx_version: 81, driver: 12_010 };

const fn kib(n: u32) -> u32 {
    n * 1024
}

/// In KiB: the sizes that shared memory can be set to.
macro_rules! carve_outs {
    ($($kib:literal)*) => { &[$(kib($kib)),*] };
}

const TESLA: Limits = Limits {
    capability: 10,
    threads_per_block: 512,
    warps: 24,
    blocks: 8,
    warp_unit: 2,
    registers: 8 * 1024,
    registers_per_block: 8 * 1024,
    registers_per_thread: 124,
    register_unit: RegisterUnit::Block(256),
    partitions: 1,
    launch_partitions: 1,
    partitioned_caching: false,
    shared: kib(16),
    carve_outs: carve_outs![16],
    shared_per_block: kib(16),
    shared_opted_in: kib(16),
    shared_unit: 512,
    shared_reserved: 0,
    barriers: None,
    virtual_resources: None,
    parameter_bytes: 256,
};

const TESLA_2: Limits = Limits {
    capability: 12,
    warps: 32,
    registers: 16 * 1024,
    registers_per_block: 16 * 1024,
    register_unit: RegisterUnit::Block(512),
    ..TESLA
};

const FERMI: Limits = Limits {
    capability: 20,
    threads_per_block: 1024,
    warps: 48,
    blocks: 8,
    warp_unit: 1,
    registers: 32 * 1024,
    registers_per_block: 32 * 1024,
    registers_per_thread: 63,
    register_unit: RegisterUnit::Warp(64, FERMI_ODD_REGISTERS),
    partitions: 2,
    launch_partitions: 2,
    shared: kib(48),
    carve_outs: carve_outs![16 48],
    shared_per_block: kib(48),
    shared_opted_in: kib(48),
    shared_unit: 128,
    parameter_bytes: LARGE_PARAMETERS.above,
    ..TESLA
};

const KEPLER: Limits = Limits {
    capability: 30,
    warps: 64,
    blocks: 16,
    registers: 64 * 1024,
    registers_per_block: 64 * 1024,
    register_unit: RegisterUnit::Warp(256, &[]),
    partitions: 4,
    launch_partitions: 4,
    carve_outs: carve_outs![16 32 48],
    shared_unit: 256,
    ..FERMI
};

const MAXWELL: Limits =
    Limits { capability: 50, blocks: 32, registers_per_thread: 255, shared: kib(64), carve_outs: carve_outs![64], ..KEPLER };

const PASCAL: Limits = Limits { capability: 60, partitions: 2, ..MAXWELL };

const VOLTA: Limits = Limits {
    capability: 70,
    partitions: 4,
    shared: kib(96),
    carve_outs: carve_outs![0 8 16 32 64 96],
    shared_opted_in: kib(96),
    parameter_bytes: 32_764,
    ..PASCAL
};

const AMPERE: Limits = Limits {
    capability: 80,
    shared: kib(164),
    carve_outs: carve_outs![0 8 16 32 64 100 132 164],
    shared_opted_in: kib(163),
    shared_unit: 128,
    shared_reserved: kib(1),
    ..VOLTA
};

/// The smaller Ampere, of graphics cards.
const AMPERE_2: Limits = Limits {
    capability: 86,
    warps: 48,
    blocks: 16,
    shared: kib(100),
    carve_outs: carve_outs![0 8 16 32 64 100],
    shared_opted_in: kib(99),
    ..AMPERE
};

const HOPPER: Limits = Limits {
    capability: 90,
    shared: kib(228),
    carve_outs: carve_outs![0 8 16 32 64 100 132 164 196 228],
    shared_opted_in: kib(227),
    barriers: Some(64),
    ..AMPERE
};

const BLACKWELL: Limits = Limits { capability: 100, virtual_resources: Some(128), ..HOPPER };

/// Jetson Thor: named 10.1 by CUDA 12, 11.0 since.
const THOR: Limits = Limits { capability: 110, warps: 48, blocks: 24, barriers: Some(24), ..BLACKWELL };

/// The Blackwell of graphics cards.
const BLACKWELL_2: Limits = Limits { capability: 120, blocks: 24, barriers: Some(24), virtual_resources: Some(128), ..AMPERE_2 };

/// Every compute capability, in order.
pub const LIMITS: &[Limits] = &[
    TESLA,
    Limits { capability: 11, ..TESLA },
    TESLA_2,
    Limits { capability: 13, ..TESLA_2 },
    FERMI,
    Limits { capability: 21, ..FERMI },
    KEPLER,
    Limits { capability: 32, registers_per_block: 32 * 1024, registers_per_thread: 255, ..KEPLER },
    Limits { capability: 35, registers_per_thread: 255, ..KEPLER },
    Limits {
        capability: 37,
        registers: 128 * 1024,
        registers_per_thread: 255,
        shared: kib(112),
        carve_outs: carve_outs![80 96 112],
        ..KEPLER
    },
    MAXWELL,
    Limits { capability: 52, shared: kib(96), carve_outs: carve_outs![96], partitioned_caching: true, ..MAXWELL },
    Limits { capability: 53, registers_per_block: 32 * 1024, partitioned_caching: true, ..MAXWELL },
    PASCAL,
    Limits { capability: 61, partitions: 4, shared: kib(96), carve_outs: carve_outs![96], partitioned_caching: true, ..PASCAL },
    Limits { capability: 62, partitions: 4, registers_per_block: 32 * 1024, partitioned_caching: true, ..PASCAL },
    VOLTA,
    Limits { capability: 72, ..VOLTA },
    Limits { capability: 75, warps: 32, blocks: 16, shared: kib(64), carve_outs: carve_outs![32 64], shared_opted_in: kib(64), ..VOLTA },
    AMPERE,
    AMPERE_2,
    Limits { capability: 87, warps: 48, blocks: 16, ..AMPERE },
    Limits { capability: 88, ..AMPERE_2 },
    Limits { capability: 89, blocks: 24, ..AMPERE_2 },
    HOPPER,
    BLACKWELL,
    Limits { capability: 101, ..THOR },
    Limits { capability: 103, barriers: Some(32), ..BLACKWELL },
    Limits { capability: 107, warps: 32, blocks: 16, barriers: Some(16), ..BLACKWELL },
    THOR,
    BLACKWELL_2,
    Limits { capability: 121, ..BLACKWELL_2 },
];

/// A compute capability that no device has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no compute capability `{name}`")]
pub struct UnknownCapability {
    /// What was asked for.
    pub name: String,
    /// The one next to it, 10·major + minor, if it is a capability at all.
    pub nearest: Option<u16>,
}

impl UnknownCapability {
    /// The edit that mends it.
    pub fn help(&self) -> String {
        match self.nearest {
            Some(nearest) => format!("did you mean `{}`?", dotted(nearest)),
            None => format!("write one of {}", LIMITS.iter().map(|row| row.name()).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// 90 as `9.0`.
fn dotted(capability: u16) -> String {
    format!("{}.{}", capability / 10, capability % 10)
}

impl Limits {
    /// The row of a capability, 10·major + minor.
    pub const fn of(capability: u16) -> Option<&'static Limits> {
        let mut index = 0;
        while index < LIMITS.len() {
            if LIMITS[index].capability == capability {
                return Some(&LIMITS[index]);
            }
            index += 1;
        }
        None
    }

    /// The row of a capability by its name: `9.0`, `90` and `sm_90` are one, and so is `sm_90a`.
    pub fn find(name: &str) -> Result<&'static Limits, UnknownCapability> {
        let bare = name.trim().trim_start_matches("sm_").trim_start_matches("compute_").trim_end_matches(['a', 'f']);
        let number = match bare.split_once('.') {
            Some((major, minor)) if minor.len() == 1 => major.parse::<u16>().ok().zip(minor.parse::<u16>().ok()).map(|(a, b)| (a, Some(b))),
            Some(_) => None,
            None => bare.parse::<u16>().ok().map(|number| (number, None)),
        };
        let number = match number {
            Some((major, Some(minor))) => major.checked_mul(10).and_then(|tens| tens.checked_add(minor)),
            // `9` is 9.0: no capability has one digit.
            Some((number, None)) => Some(if number < 10 { number * 10 } else { number }),
            None => None,
        };
        let unknown = |nearest| UnknownCapability { name: name.to_owned(), nearest };
        let number = number.ok_or_else(|| unknown(None))?;
        let nearest = || LIMITS.iter().map(|row| row.capability).min_by_key(|known| known.abs_diff(number));
        Limits::of(number).ok_or_else(|| unknown(nearest()))
    }

    /// `9.0`.
    pub fn name(&self) -> String {
        dotted(self.capability)
    }

    /// Most bytes of a kernel's parameters with a driver of this CUDA version, 1000·major + 10·minor.
    pub fn parameter_bytes_with(&self, driver: u32) -> u32 {
        let is_large_known = driver >= LARGE_PARAMETERS.driver;
        if is_large_known { self.parameter_bytes } else { self.parameter_bytes.min(LARGE_PARAMETERS.above) }
    }

    /// Thread slots.
    pub fn threads(&self) -> u32 {
        self.warps * WARP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_order_and_are_possible() {
        assert!(LIMITS.windows(2).all(|pair| pair[0].capability < pair[1].capability));
        for row in LIMITS {
            let name = row.name();
            assert!(row.threads_per_block <= row.threads(), "{name}");
            assert!(row.registers_per_block <= row.registers, "{name}");
            assert!(row.shared_per_block <= row.shared_opted_in && row.shared_opted_in + row.shared_reserved <= row.shared, "{name}");
            assert!(row.carve_outs.windows(2).all(|pair| pair[0] < pair[1]) && row.carve_outs.last() == Some(&row.shared), "{name}");
            assert_eq!(row.warps % row.launch_partitions, 0, "{name}");
            // A kernel with one barrier is never short of them.
            assert!(row.barriers.is_none_or(|barriers| barriers == row.blocks || barriers == 2 * row.blocks), "{name}");
        }
    }

    #[test]
    fn capabilities_are_found_by_name() {
        for row in LIMITS {
            assert_eq!(Limits::find(&row.name()), Ok(row));
            assert_eq!(Limits::find(&format!("sm_{}", row.capability)), Ok(row));
        }
        assert_eq!(Limits::find("sm_90a").map(|row| row.capability), Ok(90));
        assert_eq!(Limits::find("9").map(|row| row.capability), Ok(90));
        assert_eq!(Limits::find("12.0").map(|row| row.capability), Ok(120));
        let error = Limits::find("8.5").unwrap_err();
        assert_eq!(format!("{error}; {}", error.help()), "there is no compute capability `8.5`; did you mean `8.6`?");
        assert!(Limits::find("gfx90").unwrap_err().help().starts_with("write one of 1.0, 1.1, "));
        assert_eq!(Limits::find("65535.9").unwrap_err().nearest, None);
        assert_eq!(Limits::find("").unwrap_err().nearest, None);
    }

    #[test]
    fn figures_that_the_source_documents_state() {
        // The table of capabilities of the CUDA Fortran talk: registers and threads of 1.0, 1.3 and 2.0.
        let figures = |capability| Limits::of(capability).map(|row| (row.registers, row.threads(), row.threads_per_block, row.shared));
        assert_eq!(figures(10), Some((8192, 768, 512, 16 << 10)));
        assert_eq!(figures(13), Some((16384, 1024, 512, 16 << 10)));
        assert_eq!(figures(20), Some((32768, 1536, 1024, 48 << 10)));
        // Maxwell as Programming Parallel Computers 5B has it: 64 K registers, 64 KB shared, 64 warp slots, 32 block slots.
        assert_eq!(figures(50), Some((65536, 2048, 1024, 64 << 10)));
        assert_eq!(Limits::of(50).map(|row| row.blocks), Some(32));
    }
}
