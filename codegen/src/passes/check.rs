//! How the passes' tests speak: a body before, a body after, in the text form.

use super::dce;
use crate::ir::Kernel;
use crate::text::parse_kernel;
use crate::verify::verify;

/// The objects of every test kernel, `block` 16×16.
const OBJECTS: &str = r#"struct s0 "S" { "a": [f32; 3], "b": u32, "c": f64, "d": [f32; 2] }
param m0 "n": value u32
param m1 "x": global [f32]
param m2 "y": global mut [f32]
param m3 "u": global mut [u32]
param m4 "c": constant [f32; 8]
object m5 "tile": shared [[f32; 16]; 16]
object m6 "tmp": local [f32; 4]
param m7 "q": global [[f32; 4]]
param m8 "s": global mut [s0]
object m9 "pairs": shared [[f32; 2]; 16]
param m10 "bytes": constant [u8; 8]
"#;

/// A kernel with this body.
pub(super) fn kernel(body: &str) -> Kernel {
    let text = format!("kernel \"k\" built\nblock = 16, 16, 1\n{OBJECTS}{{\n{body}\n}}\n");
    match parse_kernel(&text) {
        Ok(kernel) => kernel,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// The body's text.
pub(super) fn body(kernel: &Kernel) -> String {
    let text = kernel.text_without_locations();
    text.split_once("{\n").map_or(String::new(), |(_, body)| body.trim_end().trim_end_matches('}').to_owned())
}

/// The pass, with dead code removed behind it, makes `after` of `before`.
#[track_caller]
pub(super) fn check(pass: fn(&mut Kernel) -> bool, before: &str, after: &str) {
    let mut changed = kernel(before);
    pass(&mut changed);
    dce::run(&mut changed);
    if let Err(violations) = verify(&changed) {
        panic!("{violations:?}\n{changed:#}");
    }
    // Arrays that nothing touches are gone from what was found: renumber what is expected likewise.
    let mut wanted = kernel(after);
    dce::run(&mut wanted);
    let (found, expected) = (body(&changed), body(&wanted));
    assert!(found == expected, "expected\n{expected}\nbut found\n{found}");
}

/// The pass leaves the body as it is.
#[track_caller]
pub(super) fn check_refused(pass: fn(&mut Kernel) -> bool, before: &str) {
    check(pass, before, before);
}
