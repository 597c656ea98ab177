//! `black_box`: what is made of it is computed again, in our text and in the machine code.

use warpwright_tests::emitted::ptx;
use warpwright_tests::sass::Judge;

const TWICE: &str =
    "let i = global_id().x; let v = x[i]; y[i] = v * v + 2.0; y[i + 64] = BOX(v) * BOX(v) + 2.0; y[i + 128] = BOX(v) * 3.0 + 2.0;";
const LOOPED: &str = "let i = global_id().x; let v = x[i]; #[unroll(1)] for k in 0..9 { y[k * 64 + i] = BOX(v) * 3.5; }";

fn text(body: &str, name: &str, target: &str) -> String {
    let body = body.replace("BOX", name);
    let source = format!("#[kernel(block = 64, contract = false)] fn k(x: &Global<f32>, y: &mut Global<f32>) {{ {body} }}");
    ptx(&source, "k", &[], target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

fn count(text: &str, word: &str) -> usize {
    text.lines().filter(|line| line.split_whitespace().any(|part| part.starts_with(word))).count()
}

/// Whether a word stands behind the first label: in the loop.
fn is_in_loop(text: &str, word: &str) -> bool {
    let body = text.split_once("$L").map_or("", |(_, body)| body);
    body.contains(word)
}

#[test]
fn it_is_computed_again() {
    let (plain, boxed) = (text(TWICE, "", "sm_90"), text(TWICE, "black_box", "sm_90"));
    assert_eq!((count(&plain, "mul.rn.f32"), count(&boxed, "mul.rn.f32")), (2, 3), "{boxed}");
    // Three calls, none merged with another.
    assert_eq!(count(&boxed, "xor.b32"), 3, "{boxed}");
    assert!(!is_in_loop(&text(LOOPED, "", "sm_90"), "mul.rn.f32"));
    assert!(is_in_loop(&text(LOOPED, "black_box", "sm_90"), "mul.rn.f32"));
}

#[test]
fn the_assembler_does_not_look_through_it() {
    let Some(judge) = Judge::found_or_skip("opaque") else { return };
    for target in [80, 90, 120] {
        let sass = |name: &str| judge.sass(&text(TWICE, name, &format!("sm_{target}")), target).unwrap_or_else(|error| panic!("{error}"));
        let (plain, boxed) = (sass(""), sass("black_box"));
        assert_eq!((count(&plain, "FMUL"), count(&boxed, "FMUL")), (2, 3), "sm_{target}: {boxed}");
    }
    println!("ran: opaque (6 texts on nvdisasm)");
}
