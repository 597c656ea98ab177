//! The quantities that `require(…)` bounds, as the source writes them. What is known of them on a target is no matter of syntax: the crate
//! `warpwright-review` judges clauses.

/// Something that a kernel can require a bound of.
pub struct Quantity {
    /// Which it is.
    pub kind: QuantityKind,
    /// Its name in `require(…)`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Which way a bound makes sense.
    pub sense: Sense,
    /// A clause as an example.
    pub example: &'static str,
    /// The edit that helps where a clause does not hold.
    pub help: &'static str,
}

/// Which quantity it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityKind {
    /// Resident warps of a multiprocessor as a share of the most it can hold.
    Occupancy,
    /// Registers of a thread.
    Registers,
    /// Bytes of shared memory of a block.
    Shared,
    /// Passes of a warp's worst access to shared memory beyond those it needs.
    BankConflicts,
    /// Sectors that a warp's worst access to global memory fetches.
    SectorsPerRequest,
    /// Bytes of a thread's arrays in local memory.
    LocalBytes,
}

/// Every quantity, in the order of docs/check.md.
pub const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        kind: QuantityKind::Occupancy,
        name: "occupancy",
        summary: "resident warps of a multiprocessor as a share of the most it can hold, by the estimated registers",
        sense: Sense::AtLeast,
        example: "occupancy >= 0.5",
        help: "lower `ilp` or `max_registers`, use less shared memory, choose another `block`, or require less",
    },
    &Quantity {
        kind: QuantityKind::Registers,
        name: "registers",
        summary: "registers of a thread, estimated",
        sense: Sense::AtMost,
        example: "registers <= 64",
        help: "lower `ilp` or the unrolling, set `max_registers`, or allow more",
    },
    &Quantity {
        kind: QuantityKind::Shared,
        name: "shared",
        summary: "bytes of shared memory of a block, padding included",
        sense: Sense::AtMost,
        example: "shared <= 16384",
        help: "make the array smaller, or allow more",
    },
    &Quantity {
        kind: QuantityKind::BankConflicts,
        name: "bank_conflicts",
        summary: "passes of a warp's worst access to shared memory beyond those it needs",
        sense: Sense::AtMost,
        example: "bank_conflicts == 0",
        help: "keep the rows apart with `#[shared(pad = 1)]` or `#[shared(swizzle)]`, or allow more",
    },
    &Quantity {
        kind: QuantityKind::SectorsPerRequest,
        name: "sectors_per_request",
        summary: "32-byte sectors that a warp's worst access to global memory fetches",
        sense: Sense::AtMost,
        example: "sectors_per_request <= 4",
        help: "let neighbouring threads access neighbouring elements, or allow more",
    },
    &Quantity {
        kind: QuantityKind::LocalBytes,
        name: "local_bytes",
        summary: "bytes of a thread's arrays that live in local memory",
        sense: Sense::AtMost,
        example: "local_bytes == 0",
        help: "unroll the loops whose counters index the array with `#[unroll]`, or allow more",
    },
];

/// Which way a bound makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// The more, the better.
    AtLeast,
    /// The fewer, the better.
    AtMost,
}

/// How a quantity is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `==`
    Equal,
}

impl Relation {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Relation::AtLeast => ">=",
            Relation::Above => ">",
            Relation::AtMost => "<=",
            Relation::Below => "<",
            Relation::Equal => "==",
        }
    }

    /// Whether it fits a quantity of this sense.
    pub fn fits(self, sense: Sense) -> bool {
        match self {
            Relation::AtLeast | Relation::Above => sense == Sense::AtLeast,
            Relation::AtMost | Relation::Below => sense == Sense::AtMost,
            Relation::Equal => true,
        }
    }

    /// Whether it holds of a value.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Relation::AtLeast => value >= bound,
            Relation::Above => value > bound,
            Relation::AtMost => value <= bound,
            Relation::Below => value < bound,
            Relation::Equal => value == bound,
        }
    }
}
