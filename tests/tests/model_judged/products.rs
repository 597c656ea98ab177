//! What the compiler predicts of products on tensor cores, against the timings and the kernel of `docs/measurements.md`.

use crate::{Errors, percent};
use std::path::Path;
use warpwright_codegen::ir::Scalar;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance};
use warpwright_codegen::target::Target;
use warpwright_review::estimate::time::Prediction;
use warpwright_review::estimate::{Launched, estimate_launched};

/// Rows and columns of a block's tile, in the timed variants.
const TILE: [u32; 2] = [128, 256];

/// The columns of the table: whether there is a producer, and whether the kernel is persistent.
const FORMS: [(&str, bool, bool); 3] = [("plain", false, false), ("`producer`", true, false), ("`producer`, `persistent`", true, true)];

fn predicted(page: &str, n: u32, (producer, persistent): (bool, bool)) -> Prediction {
    let code = page.split("```").find(|block| block.contains("pub fn gemm<const BM")).expect("the kernel is on the page");
    let source = code.strip_prefix("rust").expect("a block of Rust");
    let number = |value: i128| GenericValue::Const(ConstValue::Index(value, false));
    let flag = |value: bool| GenericValue::Const(ConstValue::Scalar(Scalar::bool(value)));
    let [rows, columns] = TILE;
    let generics = vec![number(rows.into()), number(columns.into()), number(4), number(8), flag(producer), flag(persistent)];
    let lowered = compile_text("products.rs", source, "gemm", &Instance { generics }).unwrap_or_else(|found| panic!("{found:?}"));
    let legal = lowered.kernel.legal();
    let mut launched = Launched { grid: Some([n / columns, n / rows, 1]), ..Launched::default() };
    for (object, data) in legal.objects.iter() {
        match data.name.rsplit('.').next() {
            Some("rows" | "columns" | "pitch") => drop(launched.numbers.insert((object, 0), Scalar::u32(n))),
            Some("data") => drop(launched.lengths.insert(object, u64::from(n) * u64::from(n))),
            _ => {}
        }
    }
    let known = estimate_launched(legal, &[Target::find("sm_90").expect("a target")], &launched);
    known.targets[0].prediction.clone().expect("a prediction")
}

/// The table, and the errors of its rows.
pub(crate) fn judged() -> (String, Errors) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/measurements.md");
    let page = std::fs::read_to_string(path).expect("docs/measurements.md");
    let header = format!("| n = m = k | {} |", FORMS.map(|(name, ..)| name).join(" | "));
    let table = page.split(&header).nth(1).expect("the table is on the page");
    let mut text = String::from("| n = m = k | form | predicted, µs | timed, µs | error | bound |\n|---|---|---|---|---|---|");
    let mut errors = Errors::default();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<f64> = row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
        let n = cells[0] as u32;
        for ((name, producer, persistent), measured) in FORMS.into_iter().zip(&cells[1..]) {
            let prediction = predicted(&page, n, (producer, persistent));
            let seconds = prediction.seconds(u64::from(n / TILE[0]) * u64::from(n / TILE[1]));
            text += &format!(
                "\n| {n} | {name} | {:.0} | {measured} | {} | {} |",
                seconds * 1e6,
                percent(errors.add(seconds * 1e6, *measured)),
                prediction.bound.word(),
            );
        }
    }
    (text, errors)
}
