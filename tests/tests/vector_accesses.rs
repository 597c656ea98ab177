//! Elements, `load` and `store` are as few accesses as the language page says: in our PTX, in what `ptxas` makes of it, and in what is predicted.

use warpwright::inspect::Order;
use warpwright_codegen::backend::ptx::code::Module;
use warpwright_tests::emitted::ptx;
use warpwright_tests::sass::Judge;

/// The target whose SASS is looked at.
const TARGET: (&str, u16) = ("sm_90", 90);

const STRUCTS: &str = "
#[derive(Clone, Copy)] #[repr(C)] pub struct Pair { re: f32, im: f32 }
#[derive(Clone, Copy)] #[repr(C)] pub struct Body { pos: [f32; 3], id: u32 }
#[derive(Clone, Copy)] #[repr(C, align(16))] pub struct Vec3 { x: f32, y: f32, z: f32 }
#[derive(Clone, Copy)] #[repr(C)] pub struct Line { from: [f64; 3] }
#[derive(Clone, Copy)] #[repr(C)] pub struct Texel { rgba: [u8; 4], depth: [u16; 6] }
";

/// A copy of elements of this type, or of what stands in `body`.
fn kernel(element: &str, body: &str) -> Module {
    let source = format!(
        "{STRUCTS} #[kernel(block = 128)] pub fn k(x: &Global<{element}>, y: &mut Global<{element}>) {{
            let i = global_id().x;
            if i < y.len() {{ {body} }}
        }}"
    );
    ptx(&source, "k", &[], TARGET.0).unwrap_or_else(|error| panic!("{element}, {body}: {error}"))
}

/// An element, how it is used, and the accesses in PTX; in SASS, bytes of each in bits.
const CASES: &[(&str, &str, &[&str], &[&str])] = &[
    ("[f32; 4]", "y[i] = x[i];", &["ld.global.v4.f32", "st.global.v4.f32"], &["LDG.E.128", "STG.E.128"]),
    ("[f32; 2]", "y[i] = x[i];", &["ld.global.v2.f32", "st.global.v2.f32"], &["LDG.E.64", "STG.E.64"]),
    ("[f64; 2]", "y[i] = x[i];", &["ld.global.v2.f64", "st.global.v2.f64"], &["LDG.E.128", "STG.E.128"]),
    ("Pair", "let p = x[i]; y[i] = Pair { re: p.im, im: p.re };", &["ld.global.v2.f32", "st.global.v2.f32"], &["LDG.E.64", "STG.E.64"]),
    ("Body", "y[i] = x[i];", &["ld.global.v4.b32", "st.global.v4.b32"], &["LDG.E.128", "STG.E.128"]),
    ("Vec3", "y[i] = x[i];", &["ld.global.v4.f32", "st.global.v4.f32"], &["LDG.E.128", "STG.E.128"]),
    ("[u8; 16]", "y[i] = x[i];", &["ld.global.v4.u32", "st.global.v4.u32"], &["LDG.E.128", "STG.E.128"]),
    ("[u16; 8]", "y[i] = x[i];", &["ld.global.v4.u32", "st.global.v4.u32"], &["LDG.E.128", "STG.E.128"]),
    (
        "[f32; 8]",
        "y[i] = x[i];",
        &["ld.global.v4.f32", "ld.global.v4.f32", "st.global.v4.f32", "st.global.v4.f32"],
        &["LDG.E.128", "LDG.E.128", "STG.E.128", "STG.E.128"],
    ),
    // 24 bytes: multiples of 8.
    ("Line", "y[i] = x[i];", &["ld.global.f64"; 3], &["LDG.E.64"; 3]),
    ("[f32; 3]", "y[i] = x[i];", &["ld.global.f32"; 3], &["LDG.E"; 3]),
    // A part that nobody wants comes along where nobody writes it, and stays where somebody may. So do two of four, since `ptxas` takes them apart.
    ("[f32; 4]", "y[i][0] = x[i][0] + x[i][1] * x[i][3];", &["ld.global.v4.f32", "st.global.f32"], &["LDG.E.128", "STG.E"]),
    ("[f32; 4]", "y[i][0] = x[i][0] + x[i][3];", &["ld.global.f32", "ld.global.f32", "st.global.f32"], &["LDG.E", "LDG.E", "STG.E"]),
    (
        "[f32; 4]",
        "y[i][0] = y[i][0] + y[i][1] + y[i][3];",
        &["ld.global.v2.f32", "ld.global.f32", "st.global.f32"],
        &["LDG.E.64", "LDG.E", "STG.E"],
    ),
    ("u8", "y.store::<16>(16 * i, x.load::<16>(16 * i));", &["ld.global.v4.u32", "st.global.v4.u32"], &["LDG.E.128", "STG.E.128"]),
];

/// The accesses of global memory in PTX: opcodes, whatever cache they go through.
fn accesses(text: &str) -> Vec<String> {
    let word = |line: &str| line.find("ld.global").or_else(|| line.find("st.global"));
    text.lines().filter_map(|line| Some(line[word(line)?..].split_whitespace().next()?.replace(".nc", ""))).collect()
}

#[test]
fn elements_are_as_few_accesses_as_their_alignment_allows() {
    for (element, body, expected, _) in CASES {
        let text = kernel(element, body).to_string();
        let found = accesses(&text);
        let is_kept = found.len() >= expected.len() && found.iter().zip(*expected).all(|(found, expected)| found == expected);
        assert!(is_kept, "{element}, {body}: {found:?}\n{text}");
    }
}

#[test]
fn ptxas_keeps_them_whole() {
    let test = "ptxas_keeps_them_whole";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    for (element, body, _, expected) in CASES {
        let sass = judge.sass(&kernel(element, body).to_string(), TARGET.1).unwrap_or_else(|error| panic!("{element}: {error}"));
        let found: Vec<&str> = sass
            .split_whitespace()
            .filter(|word| word.starts_with("LDG") || word.starts_with("STG"))
            .map(|word| word.trim_end_matches(".CONSTANT"))
            .collect();
        assert!(found.starts_with(expected), "{element}, {body}: {found:?}\n{sass}");
    }
    println!("ran: {test} ({} texts on nvdisasm)", CASES.len());
}

#[test]
fn bytes_that_are_copied_are_not_taken_apart() {
    let test = "bytes_that_are_copied_are_not_taken_apart";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let sass = judge.sass(&kernel("[u8; 16]", "y[i] = x[i];").to_string(), TARGET.1).expect("ptxas takes it");
    assert_eq!((sass.matches("PRMT").count(), sass.matches("LOP3").count()), (0, 0), "{sass}");
    println!("ran: {test} (1 texts on nvdisasm)");
}

#[test]
fn elements_of_shared_memory_and_constants_are_vectors_too() {
    let source = format!(
        "{STRUCTS} #[kernel(block = 128)] pub fn k(c: &Constant<[[u8; 4]; 8]>, x: &Global<[f32; 4]>, y: &mut Global<[f32; 4]>) {{
            #[shared]
            let mut tile: [[f32; 4]; 128];
            #[shared]
            let mut bytes: [u8; 2048];
            let t = thread_idx().x;
            tile[t] = x[global_id().x];
            bytes.store::<16>(16 * t, [t as u8; 16]);
            sync_threads();
            let (v, p, b) = (tile[127 - t], c[t % 8], bytes.load::<16>(16 * (127 - t)));
            y[global_id().x] = [v[3] * (p[0] + p[1]) as f32, v[2] * (p[2] + p[3]) as f32, v[1] + (b[3] + b[4]) as f32, v[0] + (b[9] + b[12]) as f32];
        }}"
    );
    let text = ptx(&source, "k", &[], TARGET.0).expect("it compiles").to_string();
    for wanted in ["st.shared.v4.f32", "ld.shared.v4.f32", "st.shared.v4.u32", "ld.shared.v4.u32", "ld.const.v4.u8", "st.global.v4.f32"] {
        assert_eq!(text.matches(wanted).count(), 1, "{wanted}\n{text}");
    }
    let test = "elements_of_shared_memory_and_constants_are_vectors_too";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let found = Order::of_sass(&judge.sass(&text, TARGET.1).expect("ptxas takes it")).accesses();
    assert_eq!((found.count("ld.shared"), found.count("st.shared"), found.count("st.global")), (2, 2, 1), "{found}");
    println!("ran: {test} (1 texts on nvdisasm)");
}
