//! `%` of floats: templates as the table of intrinsics has them.
//!
//! |x| = m·2^e and |y| = n·2^f with whole significands. Where e ≥ f the remainder is that of m·2^(e−f) by n, found by shifting m up as far as a
//! 64-bit word holds and reducing, until e−f is used up. Subnormals are normalised first, the result is denormalised if it must be.

/// Of `f32`: 40 bits at a time.
pub(super) const F32: &str = "{{
.reg .pred odd, more;
.reg .b32 x, y, sign, e, f, shift, count, low, high;
.reg .b64 rest, divisor;
mov.b32 x, {0};
mov.b32 y, {1};
and.b32 sign, x, 0x80000000;
and.b32 x, x, 0x7FFFFFFF;
and.b32 y, y, 0x7FFFFFFF;
mov.b32 {d}, 0x7FFFFFFF;
setp.eq.u32 odd, y, 0;
@odd bra done;
setp.gt.u32 odd, y, 0x7F800000;
@odd bra done;
setp.ge.u32 odd, x, 0x7F800000;
@odd bra done;
mov.b32 {d}, {0};
setp.lt.u32 odd, x, y;
@odd bra done;
shr.u32 e, x, 23;
and.b32 low, x, 0x7FFFFF;
clz.b32 count, low;
sub.u32 count, count, 8;
setp.eq.u32 odd, e, 0;
shl.b32 x, low, count;
sub.u32 shift, 1, count;
or.b32 low, low, 0x800000;
selp.b32 x, x, low, odd;
selp.b32 e, shift, e, odd;
shr.u32 f, y, 23;
and.b32 low, y, 0x7FFFFF;
clz.b32 count, low;
sub.u32 count, count, 8;
setp.eq.u32 odd, f, 0;
shl.b32 y, low, count;
sub.u32 shift, 1, count;
or.b32 low, low, 0x800000;
selp.b32 y, y, low, odd;
selp.b32 f, shift, f, odd;
sub.u32 e, e, f;
cvt.u64.u32 rest, x;
cvt.u64.u32 divisor, y;
rem.u64 rest, rest, divisor;
next:
setp.eq.u32 more, e, 0;
@more bra reduced;
min.u32 shift, e, 40;
shl.b64 rest, rest, shift;
rem.u64 rest, rest, divisor;
sub.u32 e, e, shift;
bra next;
reduced:
cvt.u32.u64 x, rest;
mov.b32 {d}, sign;
setp.eq.u32 odd, x, 0;
@odd bra done;
clz.b32 count, x;
sub.u32 count, count, 8;
shl.b32 x, x, count;
sub.u32 f, f, count;
setp.gt.s32 more, f, 0;
and.b32 low, x, 0x7FFFFF;
shl.b32 high, f, 23;
or.b32 low, low, high;
sub.u32 shift, 1, f;
shr.u32 high, x, shift;
selp.b32 x, low, high, more;
or.b32 x, x, sign;
mov.b32 {d}, x;
done:
}}";

/// Of `f64`: 11 bits at a time.
pub(super) const F64: &str = "{{
.reg .pred odd, more;
.reg .b32 e, f, shift, count;
.reg .b64 x, y, sign, low, high, wide;
mov.b64 x, {0};
mov.b64 y, {1};
and.b64 sign, x, 0x8000000000000000;
and.b64 x, x, 0x7FFFFFFFFFFFFFFF;
and.b64 y, y, 0x7FFFFFFFFFFFFFFF;
mov.b64 {d}, 0x7FFFFFFFFFFFFFFF;
setp.eq.u64 odd, y, 0;
@odd bra done;
setp.gt.u64 odd, y, 0x7FF0000000000000;
@odd bra done;
setp.ge.u64 odd, x, 0x7FF0000000000000;
@odd bra done;
mov.b64 {d}, {0};
setp.lt.u64 odd, x, y;
@odd bra done;
shr.u64 wide, x, 52;
cvt.u32.u64 e, wide;
and.b64 low, x, 0xFFFFFFFFFFFFF;
clz.b64 count, low;
sub.u32 count, count, 11;
setp.eq.u32 odd, e, 0;
shl.b64 x, low, count;
sub.u32 shift, 1, count;
or.b64 low, low, 0x10000000000000;
selp.b64 x, x, low, odd;
selp.b32 e, shift, e, odd;
shr.u64 wide, y, 52;
cvt.u32.u64 f, wide;
and.b64 low, y, 0xFFFFFFFFFFFFF;
clz.b64 count, low;
sub.u32 count, count, 11;
setp.eq.u32 odd, f, 0;
shl.b64 y, low, count;
sub.u32 shift, 1, count;
or.b64 low, low, 0x10000000000000;
selp.b64 y, y, low, odd;
selp.b32 f, shift, f, odd;
sub.u32 e, e, f;
rem.u64 x, x, y;
next:
setp.eq.u32 more, e, 0;
@more bra reduced;
min.u32 shift, e, 11;
shl.b64 x, x, shift;
rem.u64 x, x, y;
sub.u32 e, e, shift;
bra next;
reduced:
mov.b64 {d}, sign;
setp.eq.u64 odd, x, 0;
@odd bra done;
clz.b64 count, x;
sub.u32 count, count, 11;
shl.b64 x, x, count;
sub.u32 f, f, count;
setp.gt.s32 more, f, 0;
and.b64 low, x, 0xFFFFFFFFFFFFF;
cvt.u64.u32 wide, f;
shl.b64 high, wide, 52;
or.b64 low, low, high;
sub.u32 shift, 1, f;
shr.u64 high, x, shift;
selp.b64 x, low, high, more;
or.b64 x, x, sign;
mov.b64 {d}, x;
done:
}}";
