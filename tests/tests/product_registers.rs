//! Products of warpgroups whose registers do not suffice where a thread begins: an error that names shapes that fit, and `ptxas` as the judge of its figures.

use warpwright_codegen::backend::Backend;
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::target::{Target, Targets};
use warpwright_tests::ptxas::found_or_skip;

/// A product of one tile after another.
struct Product {
    /// Of sums.
    rows: usize,
    columns: usize,
    threads: usize,
    /// More of the kernel's options.
    options: &'static str,
    /// The pipeline's.
    pipeline: &'static str,
    /// Of factors, and of sums.
    types: [&'static str; 2],
}

impl Product {
    fn of(rows: usize, columns: usize, threads: usize) -> Product {
        Product { rows, columns, threads, options: "", pipeline: "stages = 2, by = tma", types: ["bf16", "f32"] }
    }

    fn source(&self) -> String {
        let Product { rows, columns, threads, options, pipeline, types: [factor, sum] } = self;
        let steps = if matches!(*factor, "bf16" | "f16") { 64 } else { 128 };
        format!(
            "#[kernel(block = {threads}{options})]
             fn k(a: &Matrix<{factor}>, b: &Matrix<{factor}>, c: &mut Matrix<{sum}>) {{
                 #[shared(swizzle = 128)] let mut left: [[{factor}; {steps}]; {rows}];
                 #[shared(swizzle = 128)] let mut right: [[{factor}; {steps}]; {columns}];
                 let mut sums = Accumulator::<{sum}, {rows}, {columns}>::zero();
                 #[pipeline({pipeline})]
                 for step in 0..a.columns().div_ceil({steps}) {{
                     load_tile(&mut left, a, 0, step * {steps});
                     load_tile(&mut right, b, 0, step * {steps});
                     sync_threads();
                     multiply_add(&left, transposed(&right), &mut sums);
                     sync_threads();
                 }}
                 #[unroll] for e in 0..sums.len() {{ let (r, n) = sums.position(e); c[(r, n)] = sums[e]; }}
             }}"
        )
    }
}

/// Two products, the second of the first's sums.
fn of_sums(columns: usize) -> String {
    format!(
        "#[kernel(block = 128)]
         fn k(a: &Matrix<bf16>, b: &Matrix<bf16>, v: &Matrix<bf16>, c: &mut Matrix<f32>) {{
             #[shared(swizzle = 128)] let mut left: [[bf16; 64]; 64];
             #[shared(swizzle = 128)] let mut right: [[bf16; 64]; 64];
             #[shared(swizzle = 128)] let mut values: [[bf16; 64]; {columns}];
             let (mut sums, mut more) = (Accumulator::<f32, 64, 64>::zero(), Accumulator::<f32, 64, {columns}>::zero());
             load_tile(&mut left, a, 0, 0);
             load_tile(&mut right, b, 0, 0);
             load_tile(&mut values, v, 0, 0);
             sync_threads();
             multiply_add(&left, transposed(&right), &mut sums);
             multiply_add(sums.operand::<bf16>(), transposed(&values), &mut more);
             #[unroll] for e in 0..more.len() {{ let (r, n) = more.position(e); c[(r, n)] = more[e]; }}
         }}"
    )
}

/// The PTX, or what is said: what stands at the place, the message, the help.
fn emitted(source: &str) -> Result<String, Vec<String>> {
    let target = Target::find("sm_90a").expect("a target");
    let lowered = compile_text("kernel.rs", source, "k", &Instance::default()).expect("the front end takes it");
    let said = lowered.ptx(target).map(|module| module.to_string());
    said.map_err(|found| {
        let one = |one: &warpwright_codegen::diagnostic::Diagnostic| {
            format!("{}: {}; {}", one.span.source_text().unwrap_or_default(), one.message, one.help.as_deref().unwrap_or_default())
        };
        found.iter().map(one).collect()
    })
}

#[track_caller]
fn refused(product: &Product, why: &str) {
    let place = "multiply_add(&left, transposed(&right), &mut sums)";
    assert_eq!(emitted(&product.source()).err(), Some(vec![format!("{place}: {why}")]));
}

#[track_caller]
fn taken(product: &Product) {
    assert_eq!(emitted(&product.source()).err(), None);
}

#[test]
fn too_few_registers_are_an_error_that_names_what_fits() {
    let producer = "stages = 3, by = tma, producer";
    refused(
        &Product { pipeline: producer, ..Product::of(192, 256, 384) },
        "this product takes 154 registers of a thread at once on sm_90a, 128 of them sums, and each of 512 threads (128 of them the producer's) begins \
         with 128; take 192 × 192 sums, or 128 × 256 among 256 threads",
    );
    taken(&Product { pipeline: producer, ..Product::of(192, 192, 384) });
    taken(&Product { pipeline: producer, ..Product::of(128, 256, 256) });
    refused(
        &Product::of(256, 256, 512),
        "this product takes 154 registers of a thread at once on sm_90a, 128 of them sums, and each of 512 threads begins with 128; take 256 × 192 sums, \
         or 192 × 256 among 384 threads",
    );
    taken(&Product::of(256, 192, 512));
    taken(&Product::of(192, 256, 384));
    refused(
        &Product { options: ", min_blocks = 4", ..Product::of(64, 256, 128) },
        "this product takes 154 registers of a thread at once on sm_90a, 128 of them sums, and each of 128 threads in 4 resident blocks begins with 128; \
         take 64 × 192 sums, or write `min_blocks = 3` at most",
    );
    taken(&Product { options: ", min_blocks = 4", ..Product::of(64, 192, 128) });
    taken(&Product { options: ", min_blocks = 3", ..Product::of(64, 256, 128) });
    refused(
        &Product { options: ", max_registers = 100", ..Product::of(64, 160, 128) },
        "this product takes 106 registers of a thread at once on sm_90a, 80 of them sums, and `max_registers = 100` leaves it fewer; take 64 × 144 sums, or \
         write `max_registers = 106` at least",
    );
    taken(&Product { options: ", max_registers = 100", ..Product::of(64, 144, 128) });
    taken(&Product { options: ", max_registers = 106", ..Product::of(64, 160, 128) });
    // With the producer's threads no multiprocessor holds 16 blocks, and the assembler ignores the number.
    taken(&Product { options: ", min_blocks = 16", pipeline: producer, ..Product::of(64, 256, 128) });
    let of_sums = of_sums(256).replace("block = 128", "block = 128, max_registers = 155");
    let place = "multiply_add(sums.operand::<bf16>(), transposed(&values), &mut more)";
    let why = "this product takes 158 registers of a thread at once on sm_90a, 128 of them sums, and `max_registers = 155` leaves it fewer; take 64 × 240 sums, \
               or write `max_registers = 158` at least";
    assert_eq!(emitted(&of_sums).err(), Some(vec![format!("{place}: {why}")]));
}

/// A device of `sm_90` takes the text for `sm_90a`: what is wrong with that is said where `sm_90` is named.
#[test]
fn the_target_that_is_named_is_enough() {
    let product = Product { pipeline: "stages = 3, by = tma, producer", ..Product::of(192, 256, 384) };
    let lowered = compile_text("kernel.rs", &product.source(), "k", &Instance::default()).expect("the front end takes it");
    let said = |names: &[&str]| {
        let mut targets = Targets::default();
        names.iter().for_each(|name| targets.add(name).expect("a target"));
        let found = Ptx.refusals(&lowered.kernel, &targets, &|loc| lowered.span(loc));
        found.iter().map(|one| one.message.clone()).collect::<Vec<_>>()
    };
    let of_sm_90 = said(&["sm_90"]);
    assert!(
        of_sm_90.len() == 1 && of_sm_90[0].starts_with("this product takes 154 registers of a thread at once on sm_90a"),
        "{of_sm_90:?}"
    );
    assert_eq!(said(&["sm_90a"]), of_sm_90);
    assert_eq!(said(&["sm_90", "sm_90a"]), of_sm_90);
    assert_eq!(said(&["sm_100"]), [""; 0]);
}

/// Under a bound one below the figure it refuses the instruction, and says that figure; under the figure it takes it.
#[test]
fn the_figures_are_those_of_the_assembler() {
    const TEST: &str = "the_figures_are_those_of_the_assembler";
    let Some(assemblers) = found_or_skip(TEST) else { return };
    let target = Target::find("sm_90a").expect("a target");
    let mut texts: Vec<(String, usize)> = Vec::new();
    for columns in [16, 48, 96, 128, 208, 256] {
        let all = [["bf16", "f32"], ["i8", "i32"], ["e4m3", "f32"]];
        texts.extend(all.map(|types| (Product { types, ..Product::of(64, columns, 128) }.source(), columns / 2 + 26)));
    }
    // Where the first of the two products takes less.
    texts.extend([96, 128, 208, 256].map(|columns| (of_sums(columns), columns / 2 + 30)));
    let mut count = 0;
    for ptxas in &assemblers {
        for (source, takes) in &texts {
            let ptx = emitted(source).unwrap_or_else(|said| panic!("{said:?}\n{source}"));
            if !warpwright_tests::ptxas::reads(ptxas, &ptx, target.capability) {
                continue;
            }
            count += 2;
            let bounded = |most: usize| {
                let directive = format!(".reqntid 128, 1, 1\n.maxnreg {most}\n");
                let text = ptx.replacen(".reqntid 128, 1, 1\n", &directive, 1);
                assert!(text.contains(&directive), "{ptx}");
                ptxas.measure(&text, target.capability).map_err(|error| error.to_string())
            };
            let said = bounded(takes - 1).expect_err("one register too few");
            assert!(said.contains("C7602") && said.contains(&format!("register target of {takes} or higher")), "{said}\n{source}");
            assert!(bounded(*takes).is_ok(), "{:?}\n{source}", bounded(*takes));
        }
    }
    println!("ran: {TEST} ({count} texts on ptxas)");
}

/// What the message says of the threads' registers is what the assembler goes by, too: with the shape that fits it takes the text, and of the next one it says the same figures.
#[test]
fn the_bound_is_that_of_the_assembler() {
    const TEST: &str = "the_bound_is_that_of_the_assembler";
    let Some(assemblers) = found_or_skip(TEST) else { return };
    let target = Target::find("sm_90a").expect("a target");
    let mut count = 0;
    for (threads, begins, fits) in [(384, 168, 256), (512, 128, 192), (640, 96, 128), (768, 80, 96), (1024, 64, 64)] {
        let rows = threads / 2;
        let source = |columns: usize| Product { pipeline: "stages = 1", ..Product::of(rows, columns, threads) }.source();
        let ptx = emitted(&source(fits)).unwrap_or_else(|said| panic!("{said:?}"));
        let next = (fits < 256).then(|| emitted(&source(fits + 16)).expect_err("a step wider").join("; "));
        assert!(next.is_none_or(|said| said.contains(&format!("each of {threads} threads begins with {begins};"))), "{threads}");
        for ptxas in assemblers.iter().filter(|ptxas| warpwright_tests::ptxas::reads(ptxas, &ptx, target.capability)) {
            count += 1;
            let measured = ptxas.measure(&ptx, target.capability).unwrap_or_else(|error| panic!("{threads} threads: {error}"));
            assert!(measured.registers <= begins, "{threads} threads: {} registers", measured.registers);
        }
    }
    println!("ran: {TEST} ({count} texts on ptxas)");
}
