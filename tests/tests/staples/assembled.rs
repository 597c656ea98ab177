//! What the library's kernels compile to: every `ptxas` takes them for its targets, and none spills at the sizes that tables choose.

use warpwright::prelude::*;
use warpwright_codegen::target::Target;
use warpwright_kernels::staples::{
    by_key, gemm, histogram, map, norm, product, reduce, scan, search, select, softmax, sort, spmv, transpose,
};
use warpwright_tests::ptxas::{Counts, found_or_skip};

/// A launch of each kernel in the variants that large inputs take, by name.
fn each(mut see: impl FnMut(&'static str, Launch<'_>)) {
    let device = Device::host();
    let zeros = |n| device.zeros::<u32>(n).expect("memory");
    let (x, w) = (zeros(8), zeros(8));
    let (mut y, mut z, mut counts, mut digits, mut tickets) = (zeros(8), zeros(8), zeros(8), zeros(8), zeros(8));
    let (mut states, mut places) = (device.zeros::<u64>(8).expect("memory"), device.zeros::<u64>(8).expect("memory"));
    let flags = device.zeros::<u8>(8).expect("memory");
    let (a, b, mut c) =
        (device.zeros::<f32>(8).expect("memory"), device.zeros::<f32>(8).expect("memory"), device.zeros::<f32>(8).expect("memory"));
    see("copy", map::copy_elements::<f32, 4, 32>(&a, &mut c));
    see("axpy", map::axpy_elements::<f32, 4, 1, 32>(1.0, &a, &mut c));
    see("sum", reduce::reduce_words::<u32, u32, 2, 2, 0, 4, 512, 4, 32>(0, &x, &mut y, &mut tickets, &mut z));
    see("sum, long", reduce::reduce_words::<u32, u32, 2, 2, 0, 4, 512, 4, 64>(0, &x, &mut y, &mut tickets, &mut z));
    see("least place", search::find_words::<u32, u32, 2, 2, false, 4, 32>(0, &x, &mut y, &mut places, &mut tickets, &mut states));
    see("dot", search::dot_words::<u32, u32, 2, 2, 4, 32>(0, &x, &w, &mut y, &mut tickets, &mut z));
    see("scan", scan::scan_words::<u32, 2, 0, false, 4, 8, 10, 32>(0, 1, &x, &mut y, &mut states, &mut z, &mut tickets));
    see("scan, long", scan::scan_words::<u32, 2, 0, false, 4, 8, 10, 64>(0, 1, &x, &mut y, &mut states, &mut z, &mut tickets));
    see("by key", by_key::scan_runs::<u32, 0, 2, 0, false, 4, 8, 4, 32>(0, 1, &x, &w, &mut y, &mut states, &mut z, &mut tickets));
    see(
        "select",
        select::select_words::<u32, 0, 6, 4, 8, 8, 8192>(0, 1, 1, &x, &flags, &mut y, &mut counts, &mut states, &mut z, &mut tickets),
    );
    see(
        "unique",
        select::select_words::<u32, 0, 8, 4, 8, 8, 8192>(0, 1, 1, &x, &flags, &mut y, &mut counts, &mut states, &mut z, &mut tickets),
    );
    see("digits", sort::kernels::count_digits::<u32, 0, false, 4, 4, 1024, 32>(&x, &mut y));
    see(
        "keys",
        sort::kernels::sort_pass::<u32, 0, false, false, 16, 16, false, 1, 2>(
            0,
            0,
            8,
            &x,
            &w,
            &mut y,
            &mut z,
            &mut counts,
            &mut digits,
            &mut tickets,
        ),
    );
    see(
        "pairs",
        sort::kernels::sort_pass::<u32, 0, false, true, 16, 16, false, 1, 2>(
            0,
            0,
            8,
            &x,
            &w,
            &mut y,
            &mut z,
            &mut counts,
            &mut digits,
            &mut tickets,
        ),
    );
    see("bytes", histogram::count_replicated::<u32, true, 4, 1024, 32, 4, 32>(0, &x, &mut counts, &mut tickets, &mut y));
    see("halves", histogram::count_halves::<u32, 4, 4, 32>(&x, &mut y));
    see("transpose", transpose::transpose_wide::<32>(1, 8, 8, &x, &mut y));
    see("softmax f32", softmax::softmax_block::<2, 4, 512, 2>(8, &x, &mut y));
    see("softmax bf16", softmax::softmax_block::<3, 8, 256, 2>(8, &x, &mut y));
    see("softmax of short rows", softmax::softmax_warp::<3, 8, 4, 4>(8, 8, &x, &mut y));
    see("softmax of long rows", softmax::softmax_hybrid::<3, 8, 1024, 2, 6, 2>(&x, &mut y));
    see("RMS norm", norm::norm_block::<3, 8, false, 256, 2>(8, 1e-5, &x, &w, &w, &mut y));
    see("layer norm", norm::norm_block::<3, 8, true, 256, 2>(8, 1e-5, &x, &w, &w, &mut y));
    see("norm of short rows", norm::norm_warp::<3, 8, false, 4, 4>(8, 8, 1e-5, &x, &w, &w, &mut y));
    let mut partials = device.zeros::<f32>(8).expect("memory");
    see("product", gemm::gemm_tiles::<false, 2>(0, 1, (8, 8, 8), 1.0, &a, &b, &mut c, &mut partials, &mut y, &mut tickets));
    see("product with edges", gemm::gemm_tiles::<true, 2>(0, 1, (8, 8, 8), 1.0, &a, &b, &mut c, &mut partials, &mut y, &mut tickets));
    see("product of any extents", gemm::gemm_guarded::<f32, 32>(1, (8, 8, 8), 1.0, &a, &b, &mut c));
    let (d, e, none) =
        (device.zeros::<f64>(64).expect("memory"), device.zeros::<f64>(64).expect("memory"), device.zeros::<f64>(1).expect("memory"));
    let mut f = device.zeros::<f64>(64).expect("memory");
    let (left, right) = (device.matrix(&d, 8, 8).expect("fits"), device.matrix(&e, 8, 8).expect("fits"));
    macro_rules! doubles {
        ($($kernel:ident::<$($generic:literal),+>;)*) => {$(
            let result = device.matrix_mut(&mut f, 8, 8).expect("fits");
            let name = concat!(stringify!($kernel), " of doubles", $(", ", $generic),+);
            see(name, product::$kernel::<f64, f64, f64, $($generic),+>(1.0, 0.0, 0, 0, left.into(), right.into(), &none, result.into()));
        )*};
    }
    doubles! {
        multiply_nn::<128, 128, 64, 16, 16, 3, true, false>;
        multiply_nt::<128, 128, 64, 16, 16, 3, true, false>;
        multiply_tn::<128, 128, 64, 16, 16, 3, true, false>;
        multiply_tt::<128, 128, 64, 16, 16, 3, true, true>;
        multiply_nn::<128, 64, 64, 16, 16, 2, true, false>;
        multiply_nt::<128, 64, 64, 16, 16, 2, true, true>;
    }
    see("rows times vector", gemm::gemv_rows::<f32, 4, 32>(8, 8, &a, &b, &mut c));
    see("sparse rows", spmv::spmv_rows::<f32, 8>(8, &x, &w, &a, &b, &mut c));
}

/// The same of kernels that are for machines with a copy engine alone.
fn each_of_engine(mut see: impl FnMut(&'static str, Launch<'_>)) {
    let device = Device::host();
    let zeros = |n| device.zeros::<f64>(n).expect("memory");
    let (d, e, none, mut f) = (zeros(64), zeros(64), zeros(1), zeros(64));
    let (left, right) = (device.matrix(&d, 8, 8).expect("fits"), device.matrix(&e, 8, 8).expect("fits"));
    macro_rules! doubles {
        ($($kernel:ident::<$($generic:literal),+>;)*) => {$(
            let result = device.matrix_mut(&mut f, 8, 8).expect("fits");
            let name = concat!(stringify!($kernel), " of doubles", $(", ", $generic),+);
            see(name, product::$kernel::<f64, f64, f64, $($generic),+>(1.0, 0.0, 0, 0, left.into(), right.into(), &none, result.into()));
        )*};
    }
    doubles! {
        multiply_nn_engine::<128, 128, 64, 16, 16, 3, 2, false, 1, true, false>;
        multiply_nt_engine::<128, 128, 64, 16, 16, 3, 2, false, 1, true, false>;
        multiply_tn_engine::<128, 128, 64, 16, 16, 3, 2, false, 1, true, false>;
        multiply_tt_engine::<128, 128, 64, 16, 16, 3, 2, false, 1, true, true>;
        multiply_nn_engine::<128, 64, 64, 32, 16, 2, 3, false, 1, true, false>;
        multiply_nt_engine::<128, 64, 64, 32, 16, 2, 3, false, 1, true, true>;
        multiply_tn_engine::<128, 64, 64, 32, 16, 2, 3, false, 1, true, false>;
        multiply_tt_engine::<128, 64, 64, 32, 16, 2, 3, false, 1, true, false>;
    }
}

#[test]
fn every_ptxas_takes_the_library_and_spills_nothing() {
    let test = "every_ptxas_takes_the_library_and_spills_nothing";
    let Some(assemblers) = found_or_skip(test) else { return };
    let counts = Counts::default();
    let newest = assemblers.last().expect("one was found");
    let mut spilled = Vec::new();
    let [old, own, new] = ["sm_80", "sm_90", "sm_120"].map(|name| Target::find(name).expect("a target"));
    // One lowering for all.
    let ptx = |name: &str, launch: &Launch<'_>, targets: &[&Target]| -> Vec<String> {
        let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
        let texts = launch.ptx_of_each(&names).and_then(|texts| texts.into_iter().collect::<Result<Vec<_>, _>>());
        texts.unwrap_or_else(|error| panic!("{name} for {names:?}: {error}"))
    };
    let mut on_hopper = |name: &'static str, text: String| {
        assemblers.iter().for_each(|assembler| counts.ask(assembler, &text, name, own.capability));
        let measured = newest.measure(&text, own.capability).unwrap_or_else(|error| panic!("{name}: {error}"));
        if measured.spill_stores > 0 {
            spilled.push(format!("{name}: {} registers", measured.registers));
        }
    };
    each(|name, launch| {
        let mut texts = ptx(name, &launch, &[old, new, own]);
        counts.ask(&assemblers[0], &texts[0], name, old.capability);
        counts.ask(newest, &texts[1], name, new.capability);
        on_hopper(name, texts.remove(2));
    });
    each_of_engine(|name, launch| on_hopper(name, ptx(name, &launch, &[own]).remove(0)));
    assert!(spilled.is_empty(), "{spilled:?}");
    counts.report(test);
}
