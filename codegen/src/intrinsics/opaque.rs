//! `black_box`: the value, of which the compiler is not to know what it is made of.
//!
//! Passes tell it from its argument and from every other call, since it counts as observed. `ptxas` would look through a move, so what PTX says is true of
//! the machine code only where an instruction stands that `ptxas` cannot fold and does not merge: an exclusive or with the top bit of the clock's 64,
//! which is 0 for longer than any device runs. Reads of the clock are volatile, and on the uniform path.

use super::call_function;
use super::warp::to_word;
use crate::ir::intrinsic::OperandType::T;
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, PtxForm};
use crate::ir::{Builder, CompareOp, Effects, Type, Value};
use crate::target::Requirement;

const WORDS: Class = Class::Only(&[Type::I32, Type::U32, Type::F32, Type::I64, Type::U64, Type::F64]);
const NARROW: Class = Class::Only(&[Type::Bool, Type::I8, Type::U8, Type::I16, Type::U16, Type::E4M3, Type::E5M2, Type::F16, Type::BF16]);
const DOC: &str =
    "the value, which the compiler neither merges with its argument nor with another call: what is made of it is computed again";

const BLACK_BOX: Body = Body::Device(DeviceForm {
    ptx: &[
        PtxForm {
            types: &[Type::I32, Type::U32, Type::F32],
            text: "mov.u32 {tmp0:u32}, %clock_hi;\nshr.u32 {tmp0:u32}, {tmp0:u32}, 31;\nxor.b32 {d}, {0}, {tmp0:u32};",
            needs: Requirement::since(20, 50),
        },
        PtxForm {
            types: &[Type::I64, Type::U64, Type::F64],
            text: "mov.u32 {tmp0:u32}, %clock_hi;\nshr.u32 {tmp0:u32}, {tmp0:u32}, 31;\ncvt.u64.u32 {tmp1:u64}, {tmp0:u32};\nxor.b64 {d}, {0}, {tmp1:u64};",
            needs: Requirement::since(20, 50),
        },
    ],
    opencl: "{0}",
    opencl_prelude: "",
    eval: Eval::Lane(|_, a| a[0]),
});

/// It is std's own.
const MODULE: &str = "std::hint";

pub(super) const ROWS: &[Intrinsic] = &[
    Intrinsic::new("black_box", Call::Function, WORDS, &[T], &[T], BLACK_BOX).effects(Effects::OPAQUE).of_module(MODULE).cost(3).doc(DOC),
    Intrinsic::new("black_box", Call::Function, NARROW, &[T], &[T], Body::Expand(|b, a| vec![narrow(b, a[0])]))
        .effects(Effects::OPAQUE)
        .of_module(MODULE)
        .doc(DOC),
];

/// In 32 bits.
fn narrow(b: &mut Builder<'_>, value: Value) -> Value {
    let ty = b.kernel.ty(value);
    let word = to_word(b, value);
    let word = call_function(b, "black_box", &[word]);
    if ty == Type::Bool {
        let zero = b.int(Type::U32, 0);
        return b.compare(CompareOp::Ne, word, zero);
    }
    let bits = b.cast(word, ty.to_unsigned());
    b.bitcast(bits, ty)
}
