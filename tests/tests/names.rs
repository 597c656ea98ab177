//! Names that mean something to a language that kernels are printed in: suffixes of literals, keywords, types, macros, builtin functions, registers.
//! Each stands for a kernel, parameters, locals, fields, structs, constants, shared arrays, functions, labels and counters. The results are
//! those of the simulator on PoCL, every `ptxas` takes the PTX, and the printed Rust is a kernel again that does the same.

use proc_macro2::Span;
use std::fmt::Write;
use warpwright_codegen::backend::opencl::OpenCl;
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::backend::rust::emit_rust;
use warpwright_codegen::backend::{AbiArgument, Backend};
use warpwright_codegen::ir::{Kernel, MemoryType, ObjectKind};
use warpwright_codegen::pipeline::{Scheduled, compile_text};
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::target::Target;
use warpwright_runtime::sim::{SimArgument, SimLaunch, SimProgram};
use warpwright_tests::opencl_tools::{Argument, INTEL_STANDARD, Job, Tool, run};
use warpwright_tests::ptxas::{Counts, found_or_skip};

const CHILD: &str = env!("CARGO_BIN_EXE_opencl-child");
const THREADS: usize = 32;

const NAMES: &[&str] = &[
    // Suffixes and exponents of literals, and what looks like one.
    "l",
    "u",
    "ul",
    "lu",
    "ull",
    "uu",
    "f",
    "h",
    "lf",
    "e",
    "e5",
    "e1",
    "p3",
    "x",
    "x1",
    "x4",
    "u32x",
    "u1",
    "l1",
    "inf",
    "nan",
    // Keywords and types of C and of OpenCL C.
    "auto",
    "case",
    "char",
    "complex",
    "default",
    "double",
    "float",
    "goto",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "short",
    "signed",
    "sizeof",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "constant",
    "event_t",
    "float4",
    "global",
    "half",
    "half2",
    "image2d_t",
    "int8",
    "kernel",
    "local",
    "pipe",
    "private",
    "read_only",
    "size_t",
    "uchar",
    "asm",
    // Macros.
    "CHAR_BIT",
    "CLK_LOCAL_MEM_FENCE",
    "FLT_MAX",
    "FLT_DIG",
    "HALF_MAX",
    "INFINITY",
    "M_PI",
    "NAN",
    "NULL",
    "SCHAR_MAX",
    "USHRT_MAX",
    "kernel_exec",
    "linux",
    "unix",
    "ALIGN4",
    "FP_ILOGB0",
    // Functions.
    "abs",
    "all",
    "any",
    "as_float",
    "atomic_add",
    "barrier",
    "clamp",
    "convert_int",
    "cross",
    "dot",
    "fabs",
    "fma",
    "fmin",
    "get_global_id",
    "isgreaterequal",
    "islessequal",
    "islessgreater",
    "length",
    "mad",
    "max",
    "min",
    "mix",
    "native_sin",
    "printf",
    "select",
    "shuffle",
    "sign",
    "sqrt",
    "step",
    "vload4",
    "intel_sub_group_shuffle",
    "dot_acc_sat",
    "to_global",
    "ndrange_t",
    // What the printers call things of their own.
    "done",
    "exchange",
    "fault",
    "k",
    "next",
    "t",
    "v0",
    "v7",
    "ww_fault",
    "ww_in_order",
    // PTX: registers, instructions, constants, directives.
    "WARP_SZ",
    "add",
    "bra",
    "entry",
    "ld",
    "mov",
    "p0",
    "p1",
    "r1",
    "rd1",
    "reg",
    "ret",
    "rs1",
    "st",
    "tid",
    "laneid",
    "vprintf",
    // Rust: what its text calls, and what it must write otherwise.
    "lane_id",
    "global_id",
    "thread_idx",
    "sync_threads",
    "warp_sum",
    "u32",
    "usize",
    "f32",
    "r#type",
    "r#fn",
    "größe",
    "_unused",
    "union_",
];

/// What a position needs of a name: raw identifiers are no labels, and types of Rust no structs.
fn fits(position: &str, name: &str) -> bool {
    let is_raw = name.starts_with("r#");
    let is_type = matches!(name, "u32" | "usize" | "f32");
    match position {
        "label" => !is_raw,
        // The text calls these functions.
        // (`union` takes the name of `union_` in a text of its own.)
        "kernel" => !matches!(name, "global_id" | "union_"),
        "struct" | "function" | "constant" => !is_type && !matches!(name, "global_id" | "lane_id" | "warp_sum"),
        _ => true,
    }
}

/// The kernel `the_kernel` with all `names` in one position.
fn source(position: &str, names: &[&str]) -> String {
    let (mut items, mut params, mut body) = (String::new(), String::new(), String::new());
    for (n, name) in names.iter().enumerate() {
        let _ = match position {
            "buffer" => {
                let _ = write!(params, "{name}: &Global<f32>, ");
                writeln!(body, "sum_ += {name}[index_ + {n}] + {name}[{n}];")
            }
            "scalar" => {
                let _ = write!(params, "{name}: u32, ");
                writeln!(body, "sum_ += ({name} * 2 + {n} + index_ as u32) as f32;")
            }
            "local" => writeln!(
                body,
                "{{ let {name} = at_[id_ + {n}] as usize; sum_ += values_[{name}] + values_[{name} + 1].min(values_[2 * {name}]); \
                 if {name} % 3 == 0 {{ sum_ *= 0.5; }} }}"
            ),
            "carried" => writeln!(
                body,
                "{{ let mut {name} = index_ as i32 - 2; while {name} < 5 {{ sum_ += {name} as f32; {name} += 3 - {name} % 2; }} sum_ -= {name} as f32; }}"
            ),
            "counter" => writeln!(body, "for {name} in {n}..index_ + {n} + 1 {{ sum_ += values_[{name}]; }}"),
            "field" => {
                let _ = write!(
                    items,
                    "{}{name}: f32,{}",
                    if n == 0 { "#[derive(Clone, Copy)] #[repr(C)] struct Item_ { " } else { "" },
                    if n + 1 == names.len() { " }\n" } else { " " }
                );
                let _ = if n == 0 { write!(params, "items_: &Global<Item_>, ") } else { Ok(()) };
                writeln!(body, "sum_ += items_[index_ % 2].{name};")
            }
            "struct" => {
                let _ = writeln!(items, "#[derive(Clone, Copy)] #[repr(C)] struct {name} {{ a: f32, b: f32 }}");
                let _ = write!(params, "p{n}_: &Global<{name}>, ");
                writeln!(body, "sum_ += p{n}_[index_].a - p{n}_[index_].b;")
            }
            "constant" => {
                let _ = writeln!(items, "const {name}: [f32; 4] = [{n}.5, 1.0, 2.0, {n}.0];");
                writeln!(body, "sum_ += {name}[index_ % 4];")
            }
            "shared" => writeln!(
                body,
                "#[shared] let mut {name}: [f32; 32]; {name}[id_] = values_[id_ + {n}]; sync_threads(); sum_ += {name}[31 - id_]; sync_threads();"
            ),
            "function" => {
                let _ = writeln!(
                    items,
                    "#[device] fn {name}({name}: f32, at_: usize) -> f32 {{ if at_ == 1 {{ return {name}; }} {name}.abs() * 0.5 + {n}.0 }}"
                );
                writeln!(body, "sum_ += {name}(sum_, index_);")
            }
            _ => writeln!(
                body,
                "'{name}: for a_ in 0..4 {{ for b_ in 0..4 {{ sum_ += values_[a_ + b_]; if a_ + b_ == index_ {{ continue '{name}; }} \
                 if a_ * b_ == 6 {{ break '{name}; }} }} sum_ += 1.0; }}"
            ),
        };
    }
    format!(
        "{items}#[kernel(block = 32, contract = false)]\nfn the_kernel({params}at_: &Global<u32>, values_: &Global<f32>, out_: &mut Global<f32>) {{\n\
         let id_ = global_id().x;\nlet index_ = at_[id_] as usize;\nlet mut sum_ = values_[id_];\n{body}\
         sum_ = sum_.max(-1e30).abs().sqrt() + warp_sum(sum_ as i32 % 7) as f32 + lane_id() as f32;\n\
         out_[id_] = if sum_ == f32::INFINITY {{ 0.0 }} else {{ sum_.mul_add(2.0, 1.0).floor() }};\n}}\n"
    )
}

/// The kernel of this name of a source, scheduled.
fn scheduled(source: &str, name: &str) -> Scheduled {
    match compile_text("names.rs", source, name, &Instance::default()) {
        Ok(lowered) => lowered.kernel,
        Err(found) => panic!("{:?}\n{source}", found.iter().map(|finding| &finding.message).collect::<Vec<_>>()),
    }
}

/// The bytes of each parameter, and its elements.
fn parameters(kernel: &Kernel) -> Vec<(Vec<u8>, usize)> {
    let bytes = |object: &MemoryType| object.size(&kernel.structs) as usize;
    let one = |(n, object): (usize, &warpwright_codegen::ir::Object)| {
        let data = &kernel.objects[*object];
        match &data.ty {
            MemoryType::Slice(element) => {
                let is_index = data.name == "at_";
                let words = (0..80u32).map(|k| if is_index { k * 5 % 7 } else { ((k * 37 + n as u32) % 64) as f32 as u32 });
                let words = words.map(|word| if is_index { word } else { (word as f32 * 0.25 - 4.0).to_bits() });
                let all: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
                let count = all.len() / bytes(element);
                (all[..count * bytes(element)].to_vec(), count)
            }
            _ => ((n as u32 * 3).to_le_bytes().to_vec(), 0),
        }
    };
    kernel.params.iter().enumerate().map(one).collect()
}

/// What the kernel leaves in its last parameter.
fn simulated(kernel: &Scheduled) -> Vec<u8> {
    let kernel = kernel.legal();
    let program = SimProgram::compile(kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    let mut contents = parameters(kernel);
    let mut arguments: Vec<SimArgument<'_>> = Vec::new();
    for (object, (bytes, _)) in kernel.params.iter().zip(&mut contents) {
        arguments.push(match kernel.objects[*object].kind {
            ObjectKind::Global { writable: true } => SimArgument::Global { bytes },
            ObjectKind::Global { writable: false } => SimArgument::GlobalReadOnly { bytes },
            _ => SimArgument::Value(bytes),
        });
    }
    let launch = SimLaunch { grid: [1, 1, 1], block: [THREADS as u32, 1, 1], shared_bytes: 0 };
    program.run(&launch, &mut arguments).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    drop(arguments);
    contents.pop().expect("the kernel writes").0
}

fn job(kernel: &Scheduled, name: String) -> Job {
    let emitted = OpenCl.emit(kernel, None, &|_| Span::call_site()).unwrap_or_else(|_| panic!("{name} is refused"));
    let contents = parameters(kernel);
    let argument = |argument: &AbiArgument| match argument {
        AbiArgument::Value { param, .. } => Argument::Value(contents[*param].0.clone()),
        AbiArgument::Buffer { param } => Argument::Buffer(contents[*param].0.clone()),
        AbiArgument::Length { param, .. } => Argument::Value((contents[*param].1 as u32).to_le_bytes().to_vec()),
        other => panic!("{name}: {other:?}"),
    };
    // Names are gone before anything is optimised, which would take most of the time.
    let unoptimised = |options: String| format!("{options} -cl-opt-disable");
    Job {
        sub_group_options: emitted.sub_group_options(INTEL_STANDARD).map(unoptimised),
        arguments: emitted.abi.iter().map(argument).collect(),
        name,
        text: emitted.text,
        options: unoptimised(emitted.build_options),
        entry: emitted.entry,
        global: [THREADS, 1, 1],
        local: [THREADS, 1, 1],
    }
}

const POSITIONS: [&str; 11] =
    ["buffer", "scalar", "local", "carried", "counter", "field", "struct", "constant", "shared", "function", "label"];

/// Kernels of up to 24 names each: the position, the source and the kernel.
fn kernels() -> Vec<(String, Scheduled)> {
    let mut kernels = Vec::new();
    for position in POSITIONS {
        let names: Vec<&str> = NAMES.iter().copied().filter(|name| fits(position, name)).collect();
        for (n, names) in names.chunks(24).enumerate() {
            kernels.push((format!("{position} {n}"), scheduled(&source(position, names), "the_kernel")));
        }
    }
    kernels
}

#[test]
fn opencl_devices_take_every_name() {
    let kernels = kernels();
    let mut jobs: Vec<Job> = kernels.iter().map(|(name, kernel)| job(kernel, name.clone())).collect();
    // Kernels of these names, in one text.
    let mut text = String::new();
    for name in NAMES.iter().filter(|name| fits("kernel", name)) {
        let kernel = scheduled(&format!("#[kernel] fn {name}(out_: &mut Global<u32>) {{ out_[global_id().x] = 1; }}"), name);
        text.push_str(&job(&kernel, (*name).to_owned()).text);
    }
    jobs.push(Job { name: "kernels".to_owned(), text, options: jobs[0].options.clone(), ..Job::default() });
    let expected: Vec<Vec<u8>> = kernels.iter().map(|(_, kernel)| simulated(kernel)).collect();
    for tool in Tool::DEVICES {
        let Some(outcomes) = run("opencl_devices_take_every_name", CHILD, tool, &jobs) else { continue };
        for (n, (job, outcome)) in jobs.iter().zip(&outcomes).enumerate() {
            assert!(outcome.complaints.is_empty(), "{} on {}: {}\n{}", job.name, tool.name(), outcome.complaints, job.text);
            assert_eq!(outcome.buffers.last(), expected.get(n), "{} on {}\n{}", job.name, tool.name(), job.text);
        }
    }
}

#[test]
fn every_ptxas_takes_every_name() {
    let Some(assemblers) = found_or_skip("names") else { return };
    let counts = Counts::default();
    let target = Target::find("sm_75").expect("the target is known");
    let mut all = kernels();
    for name in NAMES.iter().filter(|name| fits("kernel", name)) {
        let source = format!("#[kernel] fn {name}(out_: &mut Global<u32>) {{ out_[global_id().x] = 1; }}");
        all.push(((*name).to_owned(), scheduled(&source, name)));
    }
    for (name, kernel) in &all {
        let emitted = Ptx.emit(kernel, Some(target), &|_| Span::call_site()).unwrap_or_else(|_| panic!("{name} is refused"));
        counts.ask(&assemblers[all_but_one(name, assemblers.len())], &emitted.text, name, target.capability);
    }
    counts.report("names");
}

/// The assembler that looks at a kernel: each has its share.
fn all_but_one(name: &str, count: usize) -> usize {
    name.bytes().map(usize::from).sum::<usize>() % count
}

#[test]
fn printed_rust_keeps_every_name_apart() {
    for (name, kernel) in kernels() {
        let text = emit_rust(&kernel.tidied());
        let again = scheduled(&text, "the_kernel");
        assert_eq!(simulated(&again), simulated(&kernel), "{name}\n{text}");
    }
}
