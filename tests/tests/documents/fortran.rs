//! The tables of the page about "Thread- and Instruction-Level Parallelism in CUDA Fortran" (2012).

use super::figures::{limits, measured, release, resident, today};
use super::library::{Library, Looked, Named};
use warpwright_tests::ptxas::Ptxas;

/// Rows of the article's table: threads of a block, occupancy, occupancy with 0.9 of the shared memory taken.
const OCCUPANCY: [(u32, f64, f64); 6] =
    [(32, 0.167, 0.021), (64, 0.333, 0.042), (128, 0.667, 0.083), (256, 1.0, 0.167), (512, 1.0, 0.333), (1024, 0.667, 0.667)];

/// The article's device: a Tesla C2050.
const FERMI: &str = "2.0";

/// The kernels: what the article calls each, its registers where it gives them, our generics.
const KERNELS: [(&str, Option<u32>, &str); 6] = [
    ("ILP 1", Some(10), "T=f64 B=1024 ILP=1 BATCH=false V=1"),
    ("ILP 4, loop", None, "T=f64 B=1024 ILP=4 BATCH=false V=1"),
    ("ILP 4, loads batched", Some(19), "T=f64 B=1024 ILP=4 BATCH=true V=1"),
    ("ILP 8, loads batched", Some(35), "T=f64 B=1024 ILP=8 BATCH=true V=1"),
    ("16 bytes an access", None, "T=f64 B=1024 ILP=1 BATCH=false V=2"),
    ("16 bytes an access, ILP 4, loads batched", None, "T=f64 B=1024 ILP=4 BATCH=true V=2"),
];

fn copy(generics: &'static str) -> Named {
    Named { file: "copy.rs", kernel: "copy", generics }
}

fn look(library: &mut Library, generics: &'static str) -> Looked {
    library.look(copy(generics), today())
}

/// The tables that the compiler computes.
pub(super) fn sections(library: &mut Library) -> Vec<(&'static str, String)> {
    vec![("capabilities", capabilities()), ("occupancy", occupancies(library)), ("flight", flight(library))]
}

/// What a multiprocessor has: the article's columns, and today's.
fn capabilities() -> String {
    let columns = ["1.0", "1.3", "2.0", "9.0"].map(limits);
    let mut text = String::from("| | 1.0 | 1.3 | 2.0 | 9.0 |\n|---|---|---|---|---|");
    let mut row = |name: &str, cells: [u32; 4]| text += &format!("\n| {name} | {} |", cells.map(|cell| cell.to_string()).join(" | "));
    row("most threads of a block", columns.map(|column| column.threads_per_block));
    row("blocks of a multiprocessor", columns.map(|column| column.blocks));
    row("threads of a multiprocessor", columns.map(|column| column.threads()));
    row("registers of a multiprocessor", columns.map(|column| column.registers));
    row("shared memory of a multiprocessor, KiB", columns.map(|column| column.shared / 1024));
    text
}

/// Occupancy: the article's, our tables' for its device, and our copy's today.
fn occupancies(library: &mut Library) -> String {
    let registers = look(library, KERNELS[0].2).known.targets[0].registers.estimate;
    let taken = |capability: &str| limits(capability).shared * 9 / 10;
    let mut text = String::from(
        "| threads | article | our tables, 2.0 | article, taken | our tables, 2.0 | copy, 9.0 | copy, 9.0, taken |\n|---|---|---|---|---|---|---|",
    );
    for (threads, free, braked) in OCCUPANCY {
        let share = |capability, registers, shared| resident(capability, threads, registers, shared).share();
        let (ours, ours_braked) = (share(FERMI, 10, 0), share(FERMI, 10, taken(FERMI)));
        let (today, today_braked) = (share("9.0", registers, 0), share("9.0", registers, taken("9.0")));
        text += &format!("\n| {threads} | {free:.3} | {ours:.3} | {braked:.3} | {ours_braked:.3} | {today:.3} | {today_braked:.3} |");
    }
    text
}

/// What is in flight on a multiprocessor of today, and what would have to be.
fn flight(library: &mut Library) -> String {
    let mut text =
        String::from("| kernel | block | loads in flight, a thread | KiB in flight, a multiprocessor | needed |\n|---|---|---|---|---|");
    let variants = [
        (32, "T=f64 B=32 ILP=1 BATCH=false V=1"),
        (128, "T=f64 B=128 ILP=1 BATCH=false V=1"),
        (1024, "T=f64 B=1024 ILP=1 BATCH=false V=1"),
        (32, "T=f64 B=32 ILP=4 BATCH=true V=1"),
        (32, "T=f64 B=32 ILP=8 BATCH=true V=1"),
        (32, "T=f64 B=32 ILP=1 BATCH=false V=2"),
        (32, "T=f64 B=32 ILP=4 BATCH=true V=2"),
    ];
    for (block, generics) in variants {
        let looked = look(library, generics);
        let prediction = looked.known.targets[0].prediction.as_ref().expect("the block is known");
        let (kernel, loads) = (copy(generics).short(), prediction.loads_in_flight);
        let kib = |bytes: f64| format!("{:.1}", bytes / 1024.0);
        text += &format!("\n| `{kernel}` | {block} | {loads} | {} | {} |", kib(prediction.bytes_in_flight), kib(prediction.bytes_needed));
    }
    text
}

/// Registers, and whether a block of 1,024 threads fits with them.
pub(super) fn registers(library: &mut Library, ptxas: &Ptxas) -> String {
    let mut text = format!(
        "{}, blocks of 1,024.\n\n| kernel | registers, article | 1,024 threads on 2.0 | ours | 1,024 threads on 9.0 |\n|---|---|---|---|---|",
        release(ptxas)
    );
    let blocks = |capability, registers| match resident(capability, 1024, registers, 0).blocks {
        0 => "do not fit".to_owned(),
        1 => "1 block".to_owned(),
        blocks => format!("{blocks} blocks"),
    };
    for (name, article, generics) in KERNELS {
        let ours = measured(&look(library, generics), ptxas);
        let (theirs, fit) = article.map_or_else(Default::default, |registers| (registers.to_string(), blocks(FERMI, registers)));
        text += &format!("\n| {name} | {theirs} | {fit} | {ours} | {} |", blocks("9.0", ours));
    }
    text
}
