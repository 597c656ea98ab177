//! Products by tensor cores (`mma.sync`, from sm_80 on, of some elements from sm_75 on): a warp owns a rectangle of sums, and for each step along K brings what it needs of both factors by `ldmatrix`.
//!
//! ```text
//! for each k16 of K:      a[i] = load_matrix x4 of 16 rows of the warp          (i: each 16 rows)
//!                         b[j] = load_matrix x4 of 16 columns of the warp       (j: each 16 columns)
//!                         sums[i][2j], sums[i][2j + 1] = mma a[i], the halves of b[j]
//! ```
//!
//! Which lane names which row of which 8 × 8 matrix is such that the registers are those that `mma` wants (`MmaShape`). A factor whose rows do not go along K is loaded transposed, which
//! the hardware does for elements of 16 bits; other elements are refused so. Rows begin at multiples of 16 bytes; that eight of them meet different banks is the source's business
//! (`#[shared(pad = 8)]`, `swizzle`), and a lint's.
//!
//! Doubles are no 16-bit elements that `ldmatrix` could move: threads load their own ([`doubles`]), whichever way the rows go.

use super::super::Refusal;
use super::doubles::Doubles;
use super::{Partition, alignment, operand, plus, thread_number, whole};
use crate::intrinsics::{by_name, called};
use crate::ir::{
    Access, Address, BinaryOp, Builder, Kernel, LeftFactor, Memory, MemoryOp, MmaShape, Op, ProductFactor, Step, Tensor, TensorCores, Type,
    Value,
};

/// What `ldmatrix` reads of a row, bytes.
const CHUNK: u64 = 16;

/// Why tensor cores do not multiply these; nothing if they do.
pub(super) fn obstacle(kernel: &Kernel, (a, b): (&LeftFactor, &ProductFactor), (mnk, sum): ([u64; 3], Type)) -> Option<Refusal> {
    let refuse = |why: String, help: &str| Some(Refusal::new(format!("`tensor`: {why}"), help));
    let Some((_, _, element)) = a.shape(kernel) else {
        return refuse("a factor is no array of rows".to_owned(), "leave `tensor` out");
    };
    let Some(shape) = MmaShape::of(element, sum) else {
        return refuse(
            format!("tensor cores have no instruction for products of `{element}`"),
            "leave `tensor` out, or take `bf16`, `f16`, `e4m3` or `i8`",
        );
    };
    if shape.is_rounded && kernel.options.tensor != TensorCores::Tf32 {
        return refuse(
            "tensor cores round `f32` to 10 bits (`tf32`)".to_owned(),
            "write `tensor = tf32` if that is precise enough, or leave `tensor` out",
        );
    }
    let [m, n, k] = mnk;
    let of_k = shape.mnk[2];
    if !k.is_multiple_of(of_k) {
        let more = k.next_multiple_of(of_k);
        return refuse(
            format!("the factors have {k} columns and rows, and tensor cores take multiples of {of_k} of `{element}`"),
            &format!("make it {more}"),
        );
    }
    let threads = kernel.options.block.map_or(1, |block| block.iter().map(|side| u64::from(*side)).product::<u64>());
    if Partition::of_warps(threads, [m, n]).is_none() {
        let why = format!("{m} × {n} sums cannot be shared out among {threads} threads in rectangles of whole warps of 16 × 16");
        return refuse(why, "take sides that are multiples of 32, and a block of 128 or 256 threads");
    }
    if a.tile().is_none() && !operand::fits(element) {
        let why = format!("sums become no factor of `{element}` where they are: its fragments lie otherwise");
        return refuse(why, "take `operand::<bf16>()` or `f16`, or store the sums to a shared array and multiply that");
    }
    for (factor, along) in a.tile().map(|a| (a, !a.is_transposed)).into_iter().chain([(b, b.is_transposed)]) {
        let name = &kernel.objects[factor.array.object].name;
        if !along && !matches!(element.bytes(), 2 | 8) {
            let help = if factor.is_transposed {
                "copy it without `transposed`, with rows along the other factor's"
            } else {
                "copy its columns as rows, and write `transposed(&…)`"
            };
            return refuse(format!("the rows of `{name}` do not go along the sum, and tensor cores load only 16-bit elements so"), help);
        }
        let row = factor.array.leads_to(kernel).and_then(|ty| ty.element()).map_or(0, |row| row.size(&kernel.structs));
        if whole(kernel, &factor.array) < CHUNK || !row.is_multiple_of(CHUNK) || alignment(kernel, &factor.array) < CHUNK {
            return refuse(
                format!("rows of `{name}` do not lie in order at multiples of {CHUNK} bytes"),
                "pad them to such: `#[shared(pad = 8)]` of 16-bit elements",
            );
        }
    }
    None
}

/// The new sums.
pub(super) fn multiply_add(
    b: &mut Builder<'_>,
    (x, y): (&LeftFactor, &ProductFactor),
    sums: &[Value],
    partition: &Partition,
) -> Vec<Value> {
    let (Some([_, _, k]), Some(first), Some([tall, wide])) = (Tensor::shape_of(b.kernel, x, y), sums.first(), partition.warp()) else {
        return sums.to_vec();
    };
    let sum = b.kernel.ty(*first);
    let Some(shape) = x.shape(b.kernel).and_then(|(_, _, element)| MmaShape::of(element, sum)) else { return sums.to_vec() };
    let base = partition.base_of_warp(b);
    let index = b.kernel.index_type();
    let lane = {
        let thread = thread_number(b, index);
        let lanes = b.int(index, 32);
        b.binary(BinaryOp::Rem, thread, lanes)
    };
    let of_a = match x {
        LeftFactor::Tile(x) => LeftFragments::Tile(Fragments::new(b, (Some(x), y, shape), base[0], lane, Side::A)),
        LeftFactor::Sums { element, values, .. } => LeftFragments::Words(operand::words(b, values, *element)),
    };
    let of_b = Fragments::new(b, (x.tile(), y, shape), base[1], lane, Side::B);
    let [across, steps] = [wide / 8, k / shape.mnk[2]];
    let mut sums = sums.to_vec();
    // What the next step needs is loaded before this one multiplies.
    let load = |b: &mut Builder<'_>, step: u64| {
        let at = step * shape.mnk[2];
        let a: Vec<Vec<Value>> = (0..tall / 16)
            .map(|i| match &of_a {
                LeftFragments::Tile(of_a) => of_a.load(b, i * partition.stride(), at),
                LeftFragments::Words(words) => words[(i * steps + step) as usize * shape.words()[0]..][..shape.words()[0]].to_vec(),
            })
            .collect();
        let c: Vec<Vec<Value>> = (0..wide / 16).map(|j| of_b.load(b, j * 16, at)).collect();
        (a, c)
    };
    let mut next = load(b, 0);
    for step in 0..steps {
        let (a, c) = next;
        next = if step + 1 < steps { load(b, step + 1) } else { (Vec::new(), Vec::new()) };
        for (i, a) in a.iter().enumerate() {
            for j in 0..across as usize {
                let first = (i * across as usize + j) * 4;
                let of_b = &c[j / 2][j % 2 * 2..j % 2 * 2 + 2];
                let op = Tensor::Mma { shape, a: a.clone(), b: of_b.to_vec(), c: sums[first..first + 4].to_vec() };
                let inst = b.push(Op::Tensor(op), &[sum; 4]);
                sums[first..first + 4].copy_from_slice(&b.kernel.insts[inst].results.clone());
            }
        }
    }
    sums
}

/// Where the registers of the left factor come from.
enum LeftFragments<'f> {
    Tile(Fragments<'f>),
    /// They are there, by strip and step.
    Words(Vec<Value>),
}

/// Which factor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// Where the lanes of a warp find a factor.
enum Fragments<'f> {
    Matrices(Matrices<'f>),
    Doubles(Doubles<'f>),
}

impl<'f> Fragments<'f> {
    /// Of a product of `a`, if that is a tile, and `b`, the side's. `base`: the warp's first row of `a`, or column of `b`.
    fn new(
        build: &mut Builder<'_>,
        (a, b, shape): (Option<&'f ProductFactor>, &'f ProductFactor, &'static MmaShape),
        base: Value,
        lane: Value,
        side: Side,
    ) -> Fragments<'f> {
        if shape.factors == Type::F64 {
            return Fragments::Doubles(Doubles::new(build, (a, b), base, lane, side));
        }
        let factor = a.filter(|_| side == Side::A).unwrap_or(b);
        Fragments::Matrices(Matrices::new(build, (factor, shape), base, lane, side))
    }

    /// The registers of 16 rows or columns from `outer` on, for one step along K from `k` on: of `b` those of both halves.
    fn load(&self, b: &mut Builder<'_>, outer: u64, k: u64) -> Vec<Value> {
        match self {
            Fragments::Matrices(matrices) => matrices.load(b, outer, k),
            Fragments::Doubles(doubles) => doubles.load(b, outer, k),
        }
    }
}

/// What `ldmatrix` is told: the row that a lane names.
struct Matrices<'f> {
    factor: &'f ProductFactor,
    shape: &'static MmaShape,
    /// The array's row and column that this lane names, of the first matrices.
    row: Value,
    column: Value,
    /// Whether the array's rows go along K.
    along: bool,
}

impl<'f> Matrices<'f> {
    fn new(
        b: &mut Builder<'_>,
        (factor, shape): (&'f ProductFactor, &'static MmaShape),
        base: Value,
        lane: Value,
        side: Side,
    ) -> Matrices<'f> {
        let ty = b.kernel.ty(lane);
        let along = factor.is_transposed == (side == Side::B);
        let elements = factor.shape(b.kernel).map_or(8, |(_, _, element)| CHUNK / u64::from(element.bytes()));
        let [eight, two] = [8, 2].map(|n| b.int(ty, n));
        let low = b.binary(BinaryOp::Rem, lane, eight);
        let group = b.binary(BinaryOp::Div, lane, eight);
        let even = b.binary(BinaryOp::Rem, group, two);
        let high = b.binary(BinaryOp::Div, group, two);
        // Matrix 1 is that of the second register: of `a` the lower eight rows, of `b` the second half of K; matrix 2 the other way round.
        let (second_outer, second_k) = if side == Side::A { (even, high) } else { (high, even) };
        let outer = b.binary(BinaryOp::Mul, second_outer, eight);
        let [rows_along, chunk] = [eight, b.int(ty, i128::from(elements))];
        let (row, column) = if along {
            let row = b.binary(BinaryOp::Add, outer, low);
            (b.binary(BinaryOp::Add, base, row), b.binary(BinaryOp::Mul, second_k, chunk))
        } else {
            let row = b.binary(BinaryOp::Mul, second_k, rows_along);
            (b.binary(BinaryOp::Add, row, low), b.binary(BinaryOp::Add, base, outer))
        };
        Matrices { factor, shape, row, column, along }
    }

    fn load(&self, b: &mut Builder<'_>, outer: u64, k: u64) -> Vec<Value> {
        let (further_row, further_column) = if self.along { (outer, k) } else { (k, outer) };
        let (row, column) = (plus(b, self.row, further_row), plus(b, self.column, further_column));
        let path = self.factor.array.path.iter().copied().chain([Step::Index(row), Step::Index(column)]).collect();
        let at = Address::Path(Access { object: self.factor.array.object, path });
        let op = Op::Memory(Memory { op: MemoryOp::LoadMatrix { is_transposed: !self.along }, at });
        let inst = b.push(op, &[Type::U32; 4]);
        let words = b.kernel.insts[inst].results.clone();
        match by_name(called::ROUND_TO_TF32, None).filter(|_| self.shape.is_rounded) {
            Some(row) => words.into_iter().map(|word| b.intrinsic(row, vec![word], Type::U32)).collect(),
            None => words,
        }
    }
}
