//! The arguments of `#[kernel(…)]` with their values filled in: what one instance of a kernel is compiled with.

use super::Type;

/// Width of `usize` on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum IndexWidth {
    /// 32 bits: the default.
    #[default]
    Bits32,
    /// 64 bits: `index = 64`.
    Bits64,
}

impl IndexWidth {
    /// The type of `usize`.
    pub fn unsigned(self) -> Type {
        match self {
            IndexWidth::Bits32 => Type::U32,
            IndexWidth::Bits64 => Type::U64,
        }
    }

    /// The type of `isize`.
    pub fn signed(self) -> Type {
        match self {
            IndexWidth::Bits32 => Type::I32,
            IndexWidth::Bits64 => Type::I64,
        }
    }
}

/// How far below 2³² elements the longest buffer stays where indices have 32 bits: so that an index that wraps round by less than
/// this is out of range (`passes::address` says what that is good for).
pub const INDEX_WINDOW: u64 = 1 << 16;

impl IndexWidth {
    /// Elements of a buffer, at most.
    pub fn max_elements(self) -> u64 {
        match self {
            IndexWidth::Bits32 => (1 << 32) - INDEX_WINDOW,
            IndexWidth::Bits64 => u64::MAX,
        }
    }
}

/// `math = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Math {
    /// Within the error bounds of the documentation: the default.
    #[default]
    Precise,
    /// The hardware's approximations for the plain names.
    Fast,
}

/// `bounds = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum BoundsCheck {
    /// Out-of-range accesses are undefined on a device: the default.
    #[default]
    Unchecked,
    /// They trap with file and line.
    Trap,
}

/// `tensor = …`: whether products use tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TensorCores {
    /// Where a target has an instruction for them: the default.
    #[default]
    Best,
    /// On targets that have tensor cores, or it is an error.
    Required,
    /// The same, and factors of `f32` may be rounded to 10 bits (`tf32`).
    Tf32,
    /// Never: the same bits on every device.
    Off,
}

impl TensorCores {
    /// Each with its word in the text form.
    pub const ALL: [(TensorCores, &'static str); 4] =
        [(TensorCores::Best, "best"), (TensorCores::Required, "true"), (TensorCores::Tf32, "tf32"), (TensorCores::Off, "false")];
}

/// What is wrong with a grid of so many blocks for clusters of these extents, and the way out; `None` if it is whole clusters.
pub fn grid_misfit(cluster: [u32; 3], grid: [u64; 3]) -> Option<String> {
    let whole = [0, 1, 2].map(|axis| grid[axis].next_multiple_of(cluster[axis].max(1).into()));
    let [[x, y, z], [width, height, depth]] = [grid, whole];
    let [a, b, c] = cluster;
    (whole != grid).then(|| {
        format!(
            "a grid of ({x}, {y}, {z}) blocks is not whole clusters of ({a}, {b}, {c}); help: launch `.grid(({width}, {height}, {depth}))`, \
             and let blocks beyond the data store nothing"
        )
    })
}

/// What one instance of a kernel is compiled with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelOptions {
    /// Threads of a block in x, y, z, if the attribute fixes them.
    pub block: Option<[u32; 3]>,
    /// `min_blocks`: `.minnctapersm`.
    pub min_blocks: Option<u32>,
    /// `max_registers`: `.maxnreg`.
    pub max_registers: Option<u32>,
    /// `index`.
    pub index: IndexWidth,
    /// `math`.
    pub math: Math,
    /// `contract`.
    pub contract: bool,
    /// `bounds`.
    pub bounds: BoundsCheck,
    /// `ilp`: groups of elements of a thread, a block's threads apart.
    pub ilp: u32,
    /// `vectorize`: consecutive elements of a group.
    pub vectorize: u32,
    /// `raster(rows = …)`: rows of a band of blocks that devices start one after another. 1: row by row. The pass `blocks` consumes it.
    pub raster: u32,
    /// `persistent`: a launch starts as many blocks as are resident at once, and each runs the body for several of the grid. The pass `blocks` consumes it.
    pub persistent: bool,
    /// `overlap`: a launch may begin before the kernel before it in the stream has ended. The pass `overlap` keeps it, and PTX asks for it.
    pub overlap: bool,
    /// `tensor`.
    pub tensor: TensorCores,
    /// Whether all sums of products are shared out by rows: four neighbouring lanes have all sums of a row. Kernels that ask for maxima and sums of rows need it.
    pub sums_by_rows: bool,
    /// `cluster`: blocks of a cluster in x, y, z, which run at the same time on neighbouring multiprocessors. All 1: there are no clusters.
    pub cluster: [u32; 3],
}

impl KernelOptions {
    /// Elements along x that each thread runs the body for.
    pub fn elements_per_thread(&self) -> u64 {
        u64::from(self.ilp) * u64::from(self.vectorize)
    }

    /// Blocks of a cluster.
    pub fn cluster_blocks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Whether blocks have others beside them.
    pub fn has_clusters(&self) -> bool {
        self.cluster_blocks() > 1
    }
}

impl Default for KernelOptions {
    fn default() -> KernelOptions {
        KernelOptions {
            block: None,
            min_blocks: None,
            max_registers: None,
            index: IndexWidth::default(),
            math: Math::default(),
            contract: true,
            bounds: BoundsCheck::default(),
            ilp: 1,
            vectorize: 1,
            raster: 1,
            persistent: false,
            overlap: false,
            tensor: TensorCores::default(),
            sums_by_rows: false,
            cluster: [1; 3],
        }
    }
}
