//! Kernels written by hand, whose results the document of PTX says.

use warpwright_ptx_interpreter::{Fault, FaultKind, Launch, Memory, Module};

/// What a body finds: registers, and `%rd1` with the place of its thread's eight bytes.
const HEAD: &str = "
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 data)
{
.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<33>; .reg .f32 %f<33>; .reg .b64 %rd<9>; .reg .f64 %fd<9>;
.shared .align 1024 .b8 s[4096];
ld.param.u64 %rd1, [data];
mov.u32 %r31, %tid.x;
mad.wide.u32 %rd1, %r31, 8, %rd1;
";

/// Runs a body with so many threads: each thread's eight bytes, which are zero at first.
fn launched(body: &str, threads: u32, seed: u64) -> Result<Vec<u64>, Fault> {
    let text = format!("{HEAD}{body}\nret;\n}}\n");
    let mut memory = Memory::new();
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).load(&mut memory).expect("memory");
    let bytes = u64::from(threads) * 8;
    let data = memory.allocate(bytes).expect("memory");
    memory.fill(data, 0, bytes).expect("it is there");
    let launch = Launch { block: [threads, 1, 1], seed, most_instructions: 1_000_000, ..Launch::default() };
    module.entry("k").expect("the kernel").launch(&launch, &mut memory, &data.to_le_bytes())?;
    let all = memory.read(data, bytes).expect("it is there");
    Ok(all.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect())
}

fn results(body: &str, threads: u32) -> Vec<u64> {
    let first = launched(body, threads, 0).unwrap_or_else(|fault| panic!("{fault}"));
    for seed in 1..8 {
        assert_eq!(launched(body, threads, seed).as_ref(), Ok(&first), "seed {seed}: {body}");
    }
    first
}

/// What one thread leaves in `%r0`.
fn word(body: &str) -> u32 {
    results(&format!("{body}\nst.global.u32 [%rd1], %r0;"), 1)[0] as u32
}

fn fault(body: &str, threads: u32) -> Fault {
    launched(body, threads, 0).expect_err("it faults")
}

#[test]
fn products_and_sums_are_fused() {
    // (1 + 2^-12)² − 1.
    let fused = "mov.f32 %f1, 0f3F800800; mov.f32 %f2, 0fBF800000; fma.rn.f32 %f3, %f1, %f1, %f2; mov.b32 %r0, %f3;";
    assert_eq!(word(fused), 0x3a00_0400);
    let apart = "mov.f32 %f1, 0f3F800800; mul.rn.f32 %f3, %f1, %f1; add.rn.f32 %f3, %f3, 0fBF800000; mov.b32 %r0, %f3;";
    assert_eq!(word(apart), 0x3a00_0000);
    // Of an `f64`: (1 + 2^-27)² − 1 = 2^-26 + 2^-54.
    let double = "mov.f64 %fd1, 0d3FF0000002000000; fma.rn.f64 %fd2, %fd1, %fd1, 0dBFF0000000000000; st.global.f64 [%rd1], %fd2;";
    assert_eq!(f64::from_bits(results(double, 1)[0]), 2f64.powi(-26) + 2f64.powi(-54));
}

#[test]
fn rounding_to_whole_numbers() {
    let rounded = |how: &str, bits: u32| word(&format!("mov.f32 %f1, 0f{bits:08X}; cvt.{how}.s32.f32 %r0, %f1;")) as i32;
    assert_eq!([0.5f32, 1.5, 2.5, -0.5, -1.5].map(|x| rounded("rni", x.to_bits())), [0, 2, 2, 0, -2]);
    assert_eq!(["rzi", "rmi", "rpi"].map(|how| rounded(how, (-1.5f32).to_bits())), [-1, -2, -1]);
    assert_eq!([f32::NAN, f32::INFINITY, -1e30].map(|x| rounded("rzi", x.to_bits())), [0, i32::MAX, i32::MIN]);
    assert_eq!(word("mov.f32 %f1, 0f40200000; cvt.rni.f32.f32 %f1, %f1; mov.b32 %r0, %f1;"), 2f32.to_bits());
}

#[test]
fn comparisons_with_nan() {
    let compared = |how: &str| word(&format!("mov.f32 %f1, 0f7FC00000; setp.{how}.f32 %p1, %f1, 0f3F800000; selp.u32 %r0, 1, 0, %p1;"));
    assert_eq!(["eq", "ne", "lt", "ge", "num"].map(compared), [0; 5]);
    assert_eq!(["equ", "neu", "ltu", "geu", "nan"].map(compared), [1; 5]);
    assert_eq!(word("setp.lt.s32 %p1|%p2, -1, 0; selp.u32 %r0, 1, 0, %p2;"), 0);
    assert_eq!(word("setp.eq.u32 %p1, 0, 0; setp.lt.and.u32 %p2, 1, 2, !%p1; selp.u32 %r0, 1, 0, %p2;"), 0);
}

#[test]
fn loads_extend_and_words_part() {
    let stored = "mov.u32 %r1, 0x80FF7F01; st.global.u32 [%rd1], %r1;";
    assert_eq!(word(&format!("{stored} ld.global.s8 %r0, [%rd1+3];")), 0xffff_ff80);
    assert_eq!(word(&format!("{stored} ld.global.u8 %r0, [%rd1+2];")), 0xff);
    assert_eq!(word(&format!("{stored} ld.global.v2.u16 {{%rs1, %rs2}}, [%rd1]; mov.b32 %r0, {{%rs2, %rs1}};")), 0x7f01_80ff);
    assert_eq!(word("mov.u32 %r1, s; st.shared.v2.u32 [%r1+8], {7, 9}; ld.shared.u32 %r0, [s+12];"), 9);
    assert_eq!(word("mov.u32 %r1, s; cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; st.u32 [%rd2], 5; ld.shared.u32 %r0, [s];"), 5);
}

#[test]
fn shuffles_and_votes() {
    let shuffled = |mode: &str| {
        let body =
            format!("shfl.sync.{mode}, 0xffffffff; selp.u32 %r2, 1, 0, %p1; mov.b64 %rd2, {{%r0, %r2}}; st.global.u64 [%rd1], %rd2;");
        let all = results(&body, 32);
        [0, 3, 8, 31].map(|lane: usize| (all[lane] as u32, all[lane] >> 32 == 1))
    };
    assert_eq!(shuffled("up.b32 %r0|%p1, %r31, 4, 0"), [(0, false), (3, false), (4, true), (27, true)]);
    assert_eq!(shuffled("down.b32 %r0|%p1, %r31, 4, 31"), [(4, true), (7, true), (12, true), (31, false)]);
    assert_eq!(shuffled("bfly.b32 %r0|%p1, %r31, 1, 31"), [(1, true), (2, true), (9, true), (30, true)]);
    // In segments of eight lanes: the mask of 0x18 in the upper half.
    assert_eq!(shuffled("idx.b32 %r0|%p1, %r31, 2, 0x181f"), [(2, true), (2, true), (10, true), (26, true)]);
    let ballot = "and.b32 %r1, %r31, 1; setp.eq.u32 %p1, %r1, 1; vote.sync.ballot.b32 %r0, %p1, 0xffffffff; st.global.u32 [%rd1], %r0;";
    assert_eq!(results(ballot, 32), vec![0xaaaa_aaaa; 32]);
    let matched = "shr.u32 %r1, %r31, 3; match.any.sync.b32 %r0, %r1, 0xffffffff; st.global.u32 [%rd1], %r0;";
    assert_eq!(results(matched, 32)[9], 0xff00);
}

#[test]
fn lanes_that_are_alone() {
    // A lane that is not in its mask; lanes that wait for one that never comes.
    assert_eq!(fault("shfl.sync.idx.b32 %r0, %r31, 0, 31, 0x1;", 32).kind, FaultKind::Undefined);
    let never = "setp.eq.u32 %p1, %r31, 3;\n@%p1 bra $stay;\nbar.warp.sync 0xffffffff;\nbra $end;\n$stay: bar.sync 0;\n$end:";
    let found = fault(never, 32);
    assert_eq!(found.kind, FaultKind::Deadlock);
    assert!(found.message.contains("31 at line") && found.message.contains("1 at line"), "{found}");
    // Lanes that have exited are not waited for.
    assert_eq!(results("setp.gt.u32 %p1, %r31, 3; @%p1 ret; bar.warp.sync 0xffffffff; st.global.u32 [%rd1], 1;", 32)[..5], [1, 1, 1, 1, 0]);
}

#[test]
fn barriers_of_blocks() {
    let turned = "shl.b32 %r1, %r31, 2; add.u32 %r1, %r1, s; st.shared.u32 [%r1], %r31; bar.sync 0;
        xor.b32 %r2, %r31, 127; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, s; ld.shared.u32 %r0, [%r2]; st.global.u32 [%rd1], %r0;";
    let turned = turned.replace("%r1, s;", "%r1, %r30;").replace("%r2, s;", "%r2, %r30;");
    let turned = format!("mov.u32 %r30, s; {turned}");
    assert_eq!(results(&turned, 128), (0..128).rev().collect::<Vec<u64>>());
    // Without the barrier, some order of threads shows that it is missing.
    let without = turned.replace("bar.sync 0;", "");
    assert!((0..8).any(|seed| launched(&without, 128, seed).expect("no fault") != (0..128).rev().collect::<Vec<u64>>()));
    // Threads of one warp at two barriers; a barrier of fewer threads than there are; one that most skip.
    let parted = "setp.lt.u32 %p1, %r31, 16; @%p1 bra $a; bar.sync 0; bra $b; $a: bar.sync 0; $b:";
    assert_eq!(fault(parted, 32).kind, FaultKind::Undefined);
    assert_eq!(fault("setp.lt.u32 %p1, %r31, 32; @%p1 bra $a; bar.sync 1, 64; $a: bar.sync 0;", 64).kind, FaultKind::Deadlock);
    let counted = "setp.lt.u32 %p1, %r31, 40; bar.red.popc.u32 %r0, 0, %p1; st.global.u32 [%rd1], %r0;";
    assert_eq!(results(counted, 64), vec![40; 64]);
    assert_eq!(
        results("setp.lt.u32 %p1, %r31, 40; bar.red.and.pred %p2, 0, !%p1; selp.u32 %r0, 1, 0, %p2; st.global.u32 [%rd1], %r0;", 64),
        vec![0; 64]
    );
}

#[test]
fn accesses_that_may_not_be() {
    let misaligned = fault("ld.global.u32 %r0, [%rd1+2];", 1);
    assert_eq!(misaligned.kind, FaultKind::Misaligned);
    assert!(
        misaligned.message.starts_with("kernel `k`, line 12, `ld.global.u32 %r0, [%rd1+2];`: thread [0, 0, 0] of block [0, 0, 0]:"),
        "{misaligned}"
    );
    let outside = fault("setp.eq.u32 %p1, %r31, 5; @%p1 ld.global.u32 %r0, [%rd1+8];", 6);
    assert_eq!(outside.kind, FaultKind::IllegalAddress);
    assert!(outside.message.contains("thread [5, 0, 0]") && outside.message.contains("byte 48 of an allocation of 48 bytes"), "{outside}");
    assert_eq!(fault("mov.u32 %r1, 0; st.shared.u32 [%r1], 1;", 1).kind, FaultKind::IllegalAddress);
    assert_eq!(fault("st.shared.u32 [s+4096], 1;", 1).kind, FaultKind::IllegalAddress);
    assert_eq!(fault("trap;", 1).kind, FaultKind::Trap);
    assert_eq!(fault("$again: bra $again;", 1).kind, FaultKind::TooLong);
}

#[test]
fn threads_wait_for_what_others_write() {
    // The first thread waits for the last, which is in another warp.
    let spin = "mov.u32 %r1, s; setp.ne.u32 %p1, %r31, 0; @%p1 bra $other; $again: ld.volatile.shared.u32 %r0, [%r1]; setp.ne.u32 %p2, %r0, 77; @%p2 bra $again;
        st.global.u32 [%rd1], %r0; $other: setp.ne.u32 %p1, %r31, 63; @%p1 bra $end; st.volatile.shared.u32 [%r1], 77; $end:";
    assert_eq!(results(spin, 64)[0], 77);
    let added =
        "mov.u32 %r1, s; setp.eq.u32 %p1, %r31, 0; @%p1 st.shared.u32 [%r1], 0; bar.sync 0; atom.shared.add.u32 %r0, [%r1], 2; bar.sync 0;
        ld.shared.u32 %r0, [%r1]; st.global.u32 [%rd1], %r0;";
    assert_eq!(results(added, 96), vec![192; 96]);
    let swapped = "mov.u32 %r1, s; st.shared.u32 [%r1], 5; atom.shared.cas.b32 %r2, [%r1], 5, 9; atom.shared.cas.b32 %r0, [%r1], 5, 11;";
    assert_eq!(word(swapped), 9);
}

#[test]
fn copies_come_when_they_are_waited_for() {
    let copy = "mov.u32 %r1, s; st.shared.u32 [%r1], 1; st.global.u32 [%rd1], 42; cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group;";
    assert_eq!(word(&format!("{copy} ld.shared.u32 %r0, [%r1];")), 1);
    assert_eq!(word(&format!("{copy} cp.async.wait_group 0; ld.shared.u32 %r0, [%r1];")), 42);
    assert_eq!(word(&format!("{copy} cp.async.wait_group 1; ld.shared.u32 %r0, [%r1];")), 1);
    assert_eq!(fault("mov.u32 %r1, s; cp.async.ca.shared.global [%r1+2], [%rd1], 4;", 1).kind, FaultKind::Misaligned);
}

#[test]
fn barriers_that_count_bytes() {
    let bulk = "mov.u32 %r1, s; mbarrier.init.shared::cta.b64 [%r1], 1; st.global.u32 [%rd1], 42; st.global.u32 [%rd1+8], 43;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+16], [%rd1], 16, [%r1];
        $again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0; @!%p1 bra $again; ld.shared.u32 %r0, [%r1+24]; st.global.u32 [%rd1], %r0;";
    let one = |body: &str| launched(&format!("setp.ne.u32 %p8, %r31, 0; @%p8 ret; {body}"), 2, 0);
    assert_eq!(one(bulk).expect("no fault")[0], 43);
    // Fewer bytes than are expected never complete a phase; a barrier that nobody has initialised.
    assert_eq!(one(&bulk.replace("_, [%r1], 16", "_, [%r1], 32")).expect_err("it waits").kind, FaultKind::Deadlock);
    assert_eq!(one(&bulk.replace("mbarrier.init.shared::cta.b64 [%r1], 1;", "")).expect_err("no barrier").kind, FaultKind::Undefined);
}

#[test]
fn products_of_warps() {
    // A row of ones by the identity: lane l has row l / 4, and steps 2 (l % 4) and one more of each half.
    let body = "mov.b32 %r1, 0x3C003C00; mov.b32 %r2, 0; mov.b32 %r3, 0x00003C00; mov.b32 %r4, 0x3C000000;
        shr.u32 %r5, %r31, 2; and.b32 %r6, %r31, 3; shl.b32 %r6, %r6, 1;
        setp.eq.u32 %p1, %r5, %r6; selp.b32 %r7, %r3, 0, %p1; add.u32 %r6, %r6, 1; setp.eq.u32 %p1, %r5, %r6; selp.b32 %r7, %r4, %r7, %p1;
        cvt.rn.f32.u32 %f9, %r31; mov.f32 %f8, 0f00000000;
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r7}, {%f9, %f8, %f8, %f8};
        mov.b32 %r8, %f1; mov.b32 %r9, %f3; mov.b64 %rd2, {%r8, %r9}; st.global.u64 [%rd1], %rd2;";
    let found = results(body, 32);
    for (lane, word) in found.iter().enumerate() {
        let (first, third) = (f32::from_bits(*word as u32), f32::from_bits((*word >> 32) as u32));
        assert_eq!((first, third), (1.0 + lane as f32, 0.0), "lane {lane}");
    }
    assert_eq!(fault(&body.replace("cvt.rn", "setp.gt.u32 %p2, %r31, 3; @%p2 ret; cvt.rn"), 32).kind, FaultKind::Undefined);
}

#[test]
fn what_is_not_known_names_its_line() {
    let refused = |body: &str| Module::parse(&format!("{HEAD}{body}\nret;\n}}\n")).expect_err("it is refused");
    let error = refused("add.s32.rn %r0, %r1, %r2;");
    assert_eq!((error.line, error.message.contains("`.rn` is not known there")), (12, true), "{error}");
    assert!(refused("frobnicate.b32 %r0, %r1;").message.contains("`frobnicate.b32` is not executed here"));
    assert!(refused("add.s32 %r0, %rd1, %r2;").message.contains("`%rd1` is `.b64`, and `.s32` is needed"));
    assert!(refused("add.s32 %r0, %r1;").message.contains("operands are expected"));
    assert!(refused("bra $nowhere;").message.contains("no label `$nowhere`"));
    assert!(refused("cvt.f32.s32 %f1, %r0;").message.contains("is not executed here"));
    assert!(refused("ld.shared.u32 %r0, [data];").message.contains("another state space"));
}
