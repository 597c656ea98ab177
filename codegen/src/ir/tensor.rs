//! Products of matrices that a block's threads make together, and the instructions of tensor cores that they become.
//!
//! The sums of a product are spread over the threads of the block: each owns as many, in values of its own. [`Tensor::MultiplyAdd`] and
//! [`Tensor::Position`] leave open who owns which: `schedule` decides it for each form of a kernel, and makes loads and multiply-adds of them,
//! or [`Tensor::Mma`]. No other pass, back end, device or lint sees the first two.

use super::{Access, Completion, Effects, Kernel, MemoryType, Objects, Scalar, Scope, Type, Value};
use crate::target::Requirement;

/// A matrix in a shared array of rows, as a factor of a product.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductFactor {
    /// An array `[[T; C]; R]` of scalars.
    pub array: Access,
    /// Whether the factor is C × R: the array's rows are its columns.
    pub is_transposed: bool,
}

impl ProductFactor {
    /// Rows, columns and elements of the factor; `None`: the path leads to no array of rows of scalars.
    pub fn shape(&self, kernel: &Kernel) -> Option<(u64, u64, Type)> {
        let inner = |ty: &MemoryType| match ty {
            MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => Some((MemoryType::clone(element), *n)),
            MemoryType::Scalar(_) | MemoryType::Slice(_) | MemoryType::Struct(_) => None,
        };
        let (row, rows) = inner(self.array.leads_to(kernel)?)?;
        let (element, columns) = inner(&row)?;
        let MemoryType::Scalar(ty) = element else { return None };
        Some(if self.is_transposed { (columns, rows, ty) } else { (rows, columns, ty) })
    }
}

/// The left factor of a product.
#[derive(Clone, Debug, PartialEq)]
pub enum LeftFactor {
    /// A matrix in shared memory.
    Tile(ProductFactor),
    /// Sums of another product, each converted to an element: no memory is between.
    Sums {
        /// M and K.
        shape: [u64; 2],
        /// What each is converted to.
        element: Type,
        /// This thread's share of M × K sums, not converted yet.
        values: Vec<Value>,
    },
}

impl LeftFactor {
    /// Rows, columns and elements of the factor; `None`: its path leads to no array of rows of scalars.
    pub fn shape(&self, kernel: &Kernel) -> Option<(u64, u64, Type)> {
        match self {
            LeftFactor::Tile(tile) => tile.shape(kernel),
            LeftFactor::Sums { shape: [rows, columns], element, .. } => Some((*rows, *columns, *element)),
        }
    }

    /// The matrix in shared memory, if it is one.
    pub fn tile(&self) -> Option<&ProductFactor> {
        match self {
            LeftFactor::Tile(tile) => Some(tile),
            LeftFactor::Sums { .. } => None,
        }
    }
}

/// The left factor of a warpgroup's product.
#[derive(Clone, Debug, PartialEq)]
pub enum WarpgroupFactor {
    /// Some rows of a matrix in shared memory.
    Tile {
        /// The matrix, as the source has it.
        tile: ProductFactor,
        /// The warpgroup's first row; `u32`.
        row: Value,
    },
    /// Words of two elements of 16 bits: as those of `Mma`, for each 64 rows and each step along K, warps below each other.
    Words(Vec<Value>),
}

impl WarpgroupFactor {
    /// The matrix in shared memory, if it is one.
    pub fn tile(&self) -> Option<&ProductFactor> {
        match self {
            WarpgroupFactor::Tile { tile, .. } => Some(tile),
            WarpgroupFactor::Words(_) => None,
        }
    }
}

/// An instruction about products.
#[derive(Clone, Debug, PartialEq)]
pub enum Tensor {
    /// `sums + a · b`. All threads of the block come to it. Results: the new sums, as many.
    MultiplyAdd {
        /// M × K.
        a: LeftFactor,
        /// K × N, of elements of the same type.
        b: ProductFactor,
        /// This thread's share of M × N sums.
        sums: Vec<Value>,
    },
    /// Which of M × N sums one of this thread's is. Results: row and column, of the kernel's index type.
    Position {
        /// M and N.
        shape: [u64; 2],
        /// The sums' type.
        of: Type,
        /// Its number among the thread's; the kernel's index type.
        element: Value,
    },
    /// Writes each of this thread's sums to its place in an array.
    Store {
        /// M and N.
        shape: [u64; 2],
        /// The sums' type, before they were converted.
        of: Type,
        /// An array in shared memory, `[[U; N]; M]`, or `[[U; W]; M]` for W of the columns.
        to: Access,
        /// The first column that is written, of W; the kernel's index type. None: all columns are.
        from: Option<Value>,
        /// This thread's share of M × N values of its elements' type.
        sums: Vec<Value>,
    },
    /// One instruction of a warp's tensor core: `c + a · b`, each operand spread over the lanes (PTX ISA, "Matrix fragments for mma"). All lanes of the
    /// warp come to it. Results: the new `c`.
    Mma {
        /// Which.
        shape: &'static MmaShape,
        /// Words of a lane.
        a: Vec<Value>,
        /// Words of a lane.
        b: Vec<Value>,
        /// Sums of a lane.
        c: Vec<Value>,
    },
    /// `sums + a · b` of a warpgroup, four warps that begin at a multiple of four (`wgmma`): tiles are read where they lie, which is swizzled over bytes, and
    /// the sums are there when it is done. All threads of the warpgroup come to it. Results: the new sums.
    WarpgroupMma {
        /// The rows of `a` that are the warpgroup's, a multiple of 64; columns of `b`; what is summed over.
        mnk: [u64; 3],
        /// The rows that are the warpgroup's.
        a: WarpgroupFactor,
        /// The other factor, all columns of it.
        b: ProductFactor,
        /// The elements of both.
        factors: Type,
        /// How many of the warpgroup's products may still run behind the instruction, of those up to it: 1 is this one, 2 it and the one before, 0 waits for all. The sums of those
        /// go to the next product or to [`Tensor::Await`] alone, round a loop too.
        running: u8,
        /// This thread's sums: as those of `Mma`, for each 64 rows and each 8 columns, warps below each other.
        sums: Vec<Value>,
    },
    /// Waits for products of this thread's warpgroup that are left running. Results: the sums.
    Await {
        /// Sums of such a product.
        sums: Vec<Value>,
    },
}

/// Threads of a warpgroup.
pub const WARPGROUP: u64 = 128;

/// Rows of one instruction of a warpgroup.
pub const WARPGROUP_ROWS: u64 = 64;

/// A shape of `mma.sync`: one row of [`MMA_SHAPES`].
///
/// Of lane l, g is l / 4 and t is l % 4. A word has p neighbours along k: 4 bytes of elements, or one of 8. Word r of `a` has row g + 8 · (r % 2) and k from
/// (r / 2) · 4p + t · p on, word r of `b` k from r · 4p + t · p on and column g; sum r has row g + 8 · (r / 2) and column 2t + r % 2.
#[derive(Debug)]
pub struct MmaShape {
    /// Its name in the text form, and what is behind `mma.sync.aligned.` in PTX.
    pub name: &'static str,
    /// Rows of `a`, columns of `b`, and what is summed over.
    pub mnk: [u64; 3],
    /// The elements of both factors.
    pub factors: Type,
    /// The sums' type.
    pub sums: Type,
    /// Whether elements that are `f32` are rounded to the 10 bits of `tf32` first.
    pub is_rounded: bool,
    /// What it needs of a target (PTX ISA, "mma").
    pub needs: Requirement,
}

impl PartialEq for MmaShape {
    fn eq(&self, other: &MmaShape) -> bool {
        self.name == other.name
    }
}

impl MmaShape {
    /// The type of a word.
    pub fn word(&self) -> Type {
        if self.factors == Type::F64 { Type::F64 } else { Type::U32 }
    }

    /// Elements of a word.
    pub fn per_word(&self) -> u64 {
        u64::from(4 / self.factors.bytes()).max(1)
    }

    /// What a warp computes: operands and result by number and lane, sums as bits. Products are exact, and are added one by one in the order of k, rounded
    /// each time, where the hardware leaves that open.
    pub fn evaluate(&self, a: &[[u64; 32]], b: &[[u64; 32]], c: &[[u64; 32]]) -> Vec<[u64; 32]> {
        let per_word = self.per_word();
        let bits = u64::from(self.factors.bytes()) * 8;
        let element = |words: &[[u64; 32]], word: u64, lane: u64, n: u64| {
            let value = words[word as usize][lane as usize] >> (n * bits) & (u64::MAX >> (64 - bits));
            Scalar::new(self.factors, value)
        };
        let of_a = |row: u64, k: u64| {
            let (group, rest) = (k / (4 * per_word), k % (4 * per_word));
            element(a, group * 2 + row / 8, row % 8 * 4 + rest / per_word, rest % per_word)
        };
        let of_b = |k: u64, column: u64| {
            let (group, rest) = (k / (4 * per_word), k % (4 * per_word));
            element(b, group, column * 4 + rest / per_word, rest % per_word)
        };
        let mut result = c.to_vec();
        for (n, sums) in result.iter_mut().enumerate() {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let (row, column) = (lane as u64 / 4 + n as u64 / 2 * 8, lane as u64 % 4 * 2 + n as u64 % 2);
                for k in 0..self.mnk[2] {
                    *sum = self.step(of_a(row, k), of_b(k, column), *sum);
                }
            }
        }
        result
    }

    fn step(&self, a: Scalar, b: Scalar, sum: u64) -> u64 {
        if self.sums == Type::I32 {
            let product = (a.as_int() as i32).wrapping_mul(b.as_int() as i32);
            return u64::from((sum as u32 as i32).wrapping_add(product) as u32);
        }
        let [a, b] = [a, b].map(Scalar::as_f64);
        if self.sums == Type::F64 {
            return a.mul_add(b, f64::from_bits(sum)).to_bits();
        }
        let [a, b] = [a, b].map(|factor| factor as f32);
        u64::from(a.mul_add(b, f32::from_bits(sum as u32)).to_bits())
    }

    /// Words of `a` and of `b`, and sums, of a lane.
    pub fn words(&self) -> [usize; 3] {
        let [m, n, k] = self.mnk;
        let lanes = 32;
        [m * k / lanes / self.per_word(), k * n / lanes / self.per_word(), m * n / lanes].map(|words| words as usize)
    }
}

const fn row(name: &'static str, k: u64, factors: Type, sums: Type) -> MmaShape {
    MmaShape { name, mnk: [16, 8, k], factors, sums, is_rounded: matches!(factors, Type::F32), needs: Requirement::since(80, 70) }
}

/// What a target needs to multiply matrices of floats of 8 bits by `mma.sync`.
pub(crate) const FLOAT8_TENSOR_CORES: Requirement = Requirement::since(89, 84);

/// What it needs of those elements that the first such tensor cores have.
pub(crate) const FIRST_TENSOR_CORES: Requirement = Requirement::since(75, 65);

/// A shape of which targets before sm_80 have parts, which lie in registers alike.
const fn in_parts(shape: MmaShape) -> MmaShape {
    MmaShape { needs: FIRST_TENSOR_CORES, ..shape }
}

const fn of_8_bits(name: &'static str, factors: Type) -> MmaShape {
    MmaShape { needs: FLOAT8_TENSOR_CORES, ..row(name, 32, factors, Type::F32) }
}

/// What tensor cores multiply.
pub static MMA_SHAPES: &[MmaShape] = &[
    row("m16n8k16.row.col.f32.bf16.bf16.f32", 16, Type::BF16, Type::F32),
    in_parts(row("m16n8k16.row.col.f32.f16.f16.f32", 16, Type::F16, Type::F32)),
    row("m16n8k8.row.col.f32.tf32.tf32.f32", 8, Type::F32, Type::F32),
    in_parts(row("m16n8k32.row.col.s32.s8.s8.s32", 32, Type::I8, Type::I32)),
    in_parts(row("m16n8k32.row.col.s32.u8.u8.s32", 32, Type::U8, Type::I32)),
    of_8_bits("m16n8k32.row.col.f32.e4m3.e4m3.f32", Type::E4M3),
    of_8_bits("m16n8k32.row.col.f32.e5m2.e5m2.f32", Type::E5M2),
    row("m16n8k8.row.col.f64.f64.f64.f64", 8, Type::F64, Type::F64),
];

impl MmaShape {
    /// The shape for elements and sums of these types.
    pub fn of(factors: Type, sums: Type) -> Option<&'static MmaShape> {
        MMA_SHAPES.iter().find(|shape| shape.factors == factors && shape.sums == sums)
    }
}

/// A product of `wgmma`: one row of [`WARPGROUP_SHAPES`]. An instruction has 64 rows and 32 bytes of each row along K.
#[derive(Debug)]
pub struct WarpgroupShape {
    /// The elements of both factors.
    pub factors: Type,
    /// The sums' type.
    pub sums: Type,
    /// Whether the rows of both factors must go along K: only elements of 16 bits are transposed on the way.
    pub is_along: bool,
    /// Whether elements that are `f32` lose the bits behind the 10 of `tf32`: the instruction reads them where they lie, and leaves those out.
    pub is_rounded: bool,
}

impl WarpgroupShape {
    /// What one instruction sums over.
    pub fn steps(&self) -> u64 {
        STEP_BYTES / u64::from(self.factors.bytes())
    }

    /// A word of an element, as the instruction takes it: a number of the sums' type.
    pub fn operand(&self, element: Scalar) -> u32 {
        match self.sums {
            Type::I32 => element.as_int() as u32,
            _ if self.is_rounded => (element.as_f64() as f32).to_bits() & !0x1fff,
            _ => (element.as_f64() as f32).to_bits(),
        }
    }

    /// The shape for elements and sums of these types.
    pub fn of(factors: Type, sums: Type) -> Option<&'static WarpgroupShape> {
        WARPGROUP_SHAPES.iter().find(|shape| shape.factors == factors && shape.sums == sums)
    }
}

/// Bytes of a row that one instruction of a warpgroup sums over.
pub const STEP_BYTES: u64 = 32;

/// What the tensor cores of a warpgroup multiply (PTX ISA, "wgmma.mma_async").
pub static WARPGROUP_SHAPES: &[WarpgroupShape] = &[
    WarpgroupShape { factors: Type::BF16, sums: Type::F32, is_along: false, is_rounded: false },
    WarpgroupShape { factors: Type::F16, sums: Type::F32, is_along: false, is_rounded: false },
    WarpgroupShape { factors: Type::F32, sums: Type::F32, is_along: true, is_rounded: true },
    WarpgroupShape { factors: Type::E4M3, sums: Type::F32, is_along: true, is_rounded: false },
    WarpgroupShape { factors: Type::E5M2, sums: Type::F32, is_along: true, is_rounded: false },
    WarpgroupShape { factors: Type::I8, sums: Type::I32, is_along: true, is_rounded: false },
    WarpgroupShape { factors: Type::U8, sums: Type::I32, is_along: true, is_rounded: false },
];

/// The factors and sums that products can have: those without a row of [`MMA_SHAPES`] are multiplied and added one by one.
pub const PRODUCTS: &[(Type, Type)] = &[
    (Type::BF16, Type::F32),
    (Type::F16, Type::F32),
    (Type::E4M3, Type::F32),
    (Type::E5M2, Type::F32),
    (Type::F32, Type::F32),
    (Type::F64, Type::F64),
    (Type::I8, Type::I32),
    (Type::U8, Type::I32),
];

impl Tensor {
    /// M, N and K of a product; `None`: the factors do not fit each other.
    pub fn shape_of(kernel: &Kernel, a: &LeftFactor, b: &ProductFactor) -> Option<[u64; 3]> {
        let ((m, k, _), (rows, n, _)) = (a.shape(kernel)?, b.shape(kernel)?);
        (k == rows).then_some([m, n, k])
    }

    /// Its word in the text form.
    pub fn word(&self) -> &'static str {
        match self {
            Tensor::MultiplyAdd { .. } => "multiply_add",
            Tensor::Position { .. } => "position",
            Tensor::Store { .. } => "store_sums",
            Tensor::Mma { .. } => "mma",
            Tensor::WarpgroupMma { .. } => "warpgroup_mma",
            Tensor::Await { .. } => "await_products",
        }
    }

    /// The arrays that it reads or writes.
    pub fn arrays(&self) -> Vec<&Access> {
        match self {
            Tensor::MultiplyAdd { a, b, .. } => a.tile().into_iter().chain([b]).map(|factor| &factor.array).collect(),
            Tensor::WarpgroupMma { a, b, .. } => a.tile().into_iter().chain([b]).map(|factor| &factor.array).collect(),
            Tensor::Store { to, .. } => vec![to],
            Tensor::Position { .. } | Tensor::Mma { .. } | Tensor::Await { .. } => Vec::new(),
        }
    }

    /// The same, to replace them.
    pub fn arrays_mut(&mut self) -> Vec<&mut Access> {
        match self {
            Tensor::MultiplyAdd { a: LeftFactor::Tile(a), b, .. }
            | Tensor::WarpgroupMma { a: WarpgroupFactor::Tile { tile: a, .. }, b, .. } => {
                vec![&mut a.array, &mut b.array]
            }
            Tensor::MultiplyAdd { b, .. } | Tensor::WarpgroupMma { b, .. } => vec![&mut b.array],
            Tensor::Store { to, .. } => vec![to],
            Tensor::Position { .. } | Tensor::Mma { .. } | Tensor::Await { .. } => Vec::new(),
        }
    }

    /// The arrays of the factors that lie in memory.
    fn read_by(a: Option<&ProductFactor>, b: &ProductFactor) -> Objects {
        [a.unwrap_or(b).array.object, b.array.object].into()
    }

    /// What it may do.
    pub fn effects(&self) -> Effects {
        match self {
            Tensor::MultiplyAdd { a, b, .. } => {
                Effects { reads: Self::read_by(a.tile(), b), converges: Some(Scope::Block), can_fault: true, ..Effects::PURE }
            }
            Tensor::Store { to, .. } => Effects { writes: Some(to.object), can_fault: true, ..Effects::PURE },
            Tensor::Position { .. } => Effects::PURE,
            Tensor::Mma { .. } => Effects::EXCHANGE,
            Tensor::WarpgroupMma { a, b, running, .. } => Effects {
                reads: Self::read_by(a.tile(), b),
                converges: Some(Scope::Warp),
                completes: if *running > 0 { Completion::Later } else { Completion::Awaits },
                can_fault: true,
                ..Effects::PURE
            },
            Tensor::Await { .. } => Effects { completes: Completion::Awaits, ..Effects::EXCHANGE },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers of a lane as the PTX ISA lists them for each shape ("Matrix fragments for mma.m16n8k16 …").
    #[test]
    fn lanes_have_the_registers_of_the_manual() {
        let words: Vec<_> = MMA_SHAPES.iter().map(|shape| (shape.name.split('.').next().unwrap(), shape.words())).collect();
        let expected = [[4, 2, 4]; 8];
        assert_eq!(words.iter().map(|(_, words)| *words).collect::<Vec<_>>(), expected, "{words:?}");
    }

    /// One of the shapes of sm_75, which have a register of `b`, and of `a` one for each eight rows ("Matrix fragments for mma.m16n8k8", "for mma.m8n8k16").
    fn part(shape: &MmaShape, k: u64, a: &[[u64; 32]], b: &[u64; 32], c: &[[u64; 32]]) -> Vec<[u64; 32]> {
        let (per_word, bits) = (shape.per_word(), u64::from(shape.factors.bytes()) * 8);
        let element = |word: u64, n: u64| Scalar::new(shape.factors, word >> (n * bits) & ((1 << bits) - 1));
        let sum = |n: usize, lane: usize| {
            let (row, column) = (lane / 4 + n / 2 * 8, lane % 4 * 2 + n % 2);
            let word = |line: usize, step: u64| line % 8 * 4 + (step / per_word) as usize;
            let of = |words: &[u64; 32], line: usize, step: u64| element(words[word(line, step)], step % per_word);
            (0..k).fold(c[n][lane], |sum, step| shape.step(of(&a[row / 8], row, step), of(b, column, step), sum))
        };
        (0..c.len()).map(|n| std::array::from_fn(|lane| sum(n, lane))).collect()
    }

    #[test]
    fn products_of_16_rows_are_made_of_the_parts_that_sm_75_has() {
        for shape in MMA_SHAPES.iter().filter(|shape| shape.needs == FIRST_TENSOR_CORES) {
            let number = |salt: u64, lane: usize| (lane as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_mul(salt) >> 32;
            // Small numbers of `f16`, whose sums are exact.
            let mask = if shape.factors == Type::F16 { 0x83ff_83ff } else { u64::from(u32::MAX) };
            let some = |salt: u64| -> [u64; 32] { std::array::from_fn(|lane| number(salt, lane) & mask) };
            let (a, b): (Vec<_>, Vec<_>) = ((1..5).map(some).collect(), (7..9).map(some).collect());
            let c = vec![[0; 32]; 4];
            let found = if shape.factors == Type::F16 {
                let first = part(shape, 8, &a[..2], &b[0], &c);
                part(shape, 8, &a[2..], &b[1], &first)
            } else {
                let half = |half: usize| {
                    let first = part(shape, 16, &a[half..=half], &b[0], &c[..2]);
                    part(shape, 16, &a[2 + half..=2 + half], &b[1], &first)
                };
                [half(0), half(1)].concat()
            };
            assert_eq!(found, shape.evaluate(&a, &b, &c), "{}", shape.name);
        }
    }
}
