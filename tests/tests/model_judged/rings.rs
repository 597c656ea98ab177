//! What the compiler predicts of pipelined loops whose copies the copy engine makes, against the timings and the kernels of `docs/measurements.md`.

use crate::{Errors, percent};
use std::path::Path;
use warpwright_codegen::ir::Scalar;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance};
use warpwright_codegen::target::Target;
use warpwright_review::estimate::time::Prediction;
use warpwright_review::estimate::{Launched, estimate_launched};

/// A launch that was timed.
struct Timed {
    kernel: &'static str,
    /// Stages, and elements of a run or rows of a tile.
    generics: [i128; 2],
    blocks: u32,
    /// The row of the table, the figure behind it.
    row: &'static str,
}

/// Elements of the buffers.
const ELEMENTS: u32 = 1 << 28;

const TIMED: [Timed; 5] = [
    Timed {
        kernel: "sum",
        generics: [3, 8192],
        blocks: 132,
        row: "| `#[pipeline(stages = 3, by = bulk)]`, runs of 8192 | one thread, `cp.async.bulk` |",
    },
    Timed { kernel: "sum", generics: [3, 2048], blocks: 132 * 8, row: "| the same, runs of 2048 (least in flight) | |" },
    Timed { kernel: "copy", generics: [4, 8], blocks: 1 << 17, row: "| a block for each tile, R = 8, 4 stages |" },
    Timed { kernel: "copy", generics: [2, 8], blocks: 1 << 17, row: "| a block for each tile, R = 8, 2 stages |" },
    Timed { kernel: "copy", generics: [2, 16], blocks: 1 << 16, row: "| a block for each tile, R = 16, 2 stages |" },
];

fn predicted(page: &str, timed: &Timed) -> Prediction {
    let header = format!("pub fn {}<const S: usize", timed.kernel);
    let code = page.split("```").find(|block| block.contains(&header)).expect("the kernel is on the page");
    let source = code.strip_prefix("rust,ignore").expect("a block of Rust");
    let generics = timed.generics.iter().map(|value| GenericValue::Const(ConstValue::Index(*value, false))).collect();
    let lowered = compile_text("rings.rs", source, timed.kernel, &Instance { generics }).unwrap_or_else(|_| panic!("{}", timed.kernel));
    let legal = lowered.kernel.legal();
    let mut launched = Launched { grid: Some([timed.blocks, 1, 1]), ..Launched::default() };
    for (object, data) in legal.objects.iter() {
        let name = data.name.as_str();
        let number = match name.rsplit('.').next() {
            Some("rows") => Some(ELEMENTS / 256),
            Some("columns" | "pitch") if name.contains('.') => Some(256),
            _ => None,
        };
        launched.numbers.extend(number.map(|number| ((object, 0), Scalar::u32(number))));
        if ["x", "a.data", "c.data"].contains(&name) {
            launched.lengths.insert(object, ELEMENTS.into());
        }
    }
    let known = estimate_launched(legal, &[Target::find("sm_90").expect("a target")], &launched);
    known.targets[0].prediction.clone().expect("a prediction")
}

/// The table, and the errors of its rows.
pub(crate) fn judged() -> (String, Errors) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/measurements.md");
    let page = std::fs::read_to_string(path).expect("docs/measurements.md");
    let mut text = String::from(
        "| kernel | stages, elements or rows | predicted, µs | timed, µs | error | bytes in flight | needed | bound |\n|---|---|---|---|---|---|---|---|",
    );
    let mut errors = Errors::default();
    for timed in &TIMED {
        let row = page.lines().find_map(|line| line.strip_prefix(timed.row)).unwrap_or_else(|| panic!("no row {}", timed.row));
        let measured: f64 = row.split('|').next().and_then(|cell| cell.trim().parse().ok()).expect("a time");
        let prediction = predicted(&page, timed);
        let seconds = prediction.seconds(timed.blocks.into());
        let [stages, size] = timed.generics;
        text += &format!(
            "\n| {} | {stages}, {size} | {:.1} | {measured} | {} | {:.0} | {:.0} | {} |",
            timed.kernel,
            seconds * 1e6,
            percent(errors.add(seconds * 1e6, measured)),
            prediction.bytes_in_flight,
            prediction.bytes_needed,
            prediction.bound.word(),
        );
    }
    (text, errors)
}
