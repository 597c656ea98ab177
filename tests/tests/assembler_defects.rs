//! What `ptxas` has got wrong silently, or ended at, and is printed otherwise since: the machine code of every release that is found has what was missing.

use warpwright_tests::emitted::ptx;
use warpwright_tests::sass::Judge;

fn text(parameters: &str, body: &str) -> String {
    let source = format!("#[kernel(block = 32, contract = false)] fn k({parameters}) {{ let i = global_id().x; {body} }}");
    ptx(&source, "k", &[], "sm_90").unwrap_or_else(|error| panic!("{error}")).to_string()
}

/// Whether a line has all of these words.
fn has(sass: &str, words: &[&str]) -> bool {
    sass.lines().any(|line| words.iter().all(|word| line.contains(word)))
}

#[test]
fn machine_code_has_what_the_text_says() {
    let rounded = |body: &str| text("x: &Global<f32>, y: &mut Global<[u16; 2]>", body);
    let masked = rounded("y[i] = [(x[i] as f16).abs().to_bits(), 5];");
    let low = rounded("y[i] = [(x[i] as bf16).to_bits() & 0x7ff0, 5];");
    let selected = text(
        "x: &Global<i16>, y: &mut Global<u32>",
        "let (a, b, d) = (x[i] as bf16, x[i + 32] as bf16, x[i + 64] as bf16); let (p, q) = (a + b, (if x[i] > 5 { b } else { -b }) + d);
        y[i] = p.to_bits() as u32; y[i + 32] = q.to_bits() as u32;",
    );
    let least = text("x: &Global<i64>, y: &mut Global<u32>", "y[i] = (x[i].wrapping_abs() < 0) as u32;");
    let least_short = text("x: &Global<i32>, y: &mut Global<i32>", "y[i] = x[i].wrapping_abs() % 7 + (x[i].wrapping_abs() < 0) as i32;");
    let greatest = text("x: &Global<i32>, y: &mut Global<i32>", "y[i] = x[i].max(-x[i + 32]).max(x[i + 64]);");
    let least_unsigned = text("x: &Global<u32>, y: &mut Global<u32>", "y[i] = x[i].min(x[i + 32] * u32::MAX).min(x[i + 64]);");
    let of_both = text(
        "x: &Global<u32>, y: &mut Global<u32>",
        "y[i] = x[i].min(0 - x[i + 32]).min(x[i + 64]); y[i + 32] = (x[i] as i32).max(-(x[i + 32] as i32)).max(x[i + 64] as i32) as u32;",
    );
    let truth = text("x: &Global<u32>, y: &mut Global<u16>", "y[i] = (f16::from_bits((x[i] > 3) as u16) % f16::ONE).to_bits();");
    let truth_of_word = text(
        "x: &Global<u64>, y: &mut Global<f64>",
        "y[i] = f32::from_bits((x[i] % x[i + 1] > 3) as u32) as f64; y[i + 32] = (x[i + 2] % x[i + 3]) as f64;",
    );
    let unread = "#[kernel(block = (4, 4, 4), contract = false)] fn k(p: bool, y: &mut Global<u32>) {
        let i = global_id().x; if warp_id() == 1 { panic!(\"the second\"); } ballot(p); print!(\"{}\", i); y[i] = 1; }";
    let unread = ptx(unread, "k", &[], "sm_90").unwrap_or_else(|error| panic!("{error}")).to_string();
    let judges = Judge::every_or_skip("assembler_defects");
    for judge in &judges {
        let sass = |text: &str| judge.sass(text, 90).unwrap_or_else(|error| panic!("{}: {error}", judge.release()));
        let check = |what: &str, text: &str, holds: &dyn Fn(&str) -> bool| {
            let sass = sass(text);
            assert!(holds(&sass), "{}: {what}\n{sass}", judge.release());
        };
        check("the sign is masked out", &masked, &|sass| has(sass, &["LOP3", " 0x7fff,"]));
        check("four bits are masked out", &low, &|sass| has(sass, &["LOP3", " 0x7ff0,"]));
        // Under a predicate it would be the register of `b`, which the first sum reads.
        check("`-b` has a register of its own", &selected, &|sass| {
            has(sass, &["LOP3", " 0x8000,"]) && !has(sass, &["@", "LOP3", " 0x8000,"])
        });
        check("both halves of the least number are looked at", &least, &|sass| has(sass, &["IADD3", "-R"]) && !has(sass, &["IABS"]));
        check("the least number has a sign", &least_short, &|sass| has(sass, &["MNMX"]) && has(sass, &["-R"]));
        check("one of three is negated", &greatest, &|sass| has(sass, &["MNMX"]) && has(sass, &[", -R"]));
        check("one of three without a sign is negated", &least_unsigned, &|sass| has(sass, &["MNMX", ".U32"]) && has(sass, &[", -R"]));
        // A complement, and 1 more.
        check("one of three is negated for both signs", &of_both, &|sass| {
            has(sass, &["MNMX", ".U32"]) && (has(sass, &["LOP3", " 0x33,"]) || has(sass, &["~R"]))
        });
        check("the bits of a truth are converted", &truth, &|sass| has(sass, &["BREV"]) && !has(sass, &["FSEL", "RZ, 1,"]));
        check("those of a word are converted", &truth_of_word, &|sass| has(sass, &["BREV"]) && has(sass, &["F2F.F64.F32"]));
        // 13.5 ended with an internal error at the ballot that nobody reads.
        check("nobody reads the ballot", &unread, &|sass| has(sass, &["STG"]) && !has(sass, &["VOTE"]));
    }
    println!("ran: assembler_defects ({} texts on nvdisasm)", 9 * judges.len());
}
