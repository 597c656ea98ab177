//! The forms of a kernel, and the text that holds them.
//!
//! A kernel whose threads exchange values within their warps is printed twice. The *portable* form runs on every device: through local memory and
//! barriers of the block (`warp`), after all threads have been brought to each exchange. The form for *sub-groups* is the kernel as it is:
//! like the language, sub-group functions ask for the lanes of one warp only. It stands where the macro is defined:
//!
//! ```text
//! what both need
//! #ifdef WARPWRIGHT_SUB_GROUPS
//! … the kernel for devices whose sub-groups are the warps
//! #else
//! … the kernel for any device
//! #endif
//! ```
//!
//! Both take the same arguments. Whoever builds the text defines the macro if the device's sub-groups are the warps for the
//! block of the launch: 32 threads each, in order of their number in the block. There is no form for sub-groups where the lanes of a warp may
//! part before an exchange: how a device treats a warp that is split is its own.

use super::{BUILD_OPTIONS, Features, Writer, has_doubles, order, portable};
use crate::backend::structured::Control;
use crate::backend::{AbiArgument, Emitted};
use crate::diagnostic::Diagnostics;
use crate::ir::{Kernel, Loc};
use crate::passes;
use proc_macro2::Span;

/// The macro that chooses the form for sub-groups.
pub const SUB_GROUPS_MACRO: &str = "WARPWRIGHT_SUB_GROUPS";

/// How exchanges of a warp are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Through local memory and barriers.
    Portable,
    /// As sub-group functions.
    SubGroups,
}

/// A form of the kernel, but for its head: what that needs is known when all forms are.
struct Written<'k> {
    writer: Writer<'k>,
    arrays: String,
    body: String,
}

/// A form as text.
struct Printed {
    /// Types and tables.
    before: String,
    functions: Vec<(String, String)>,
    kernel: String,
    abi: Vec<AbiArgument>,
    shared_bytes: u64,
}

/// Prints a kernel in all its forms.
pub(super) fn emit(kernel: &Kernel, span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
    let placed = passes::place(kernel);
    let kernel = placed.as_ref().unwrap_or(kernel);
    let has_sub_groups = portable::parted_exchanges(kernel).is_some_and(|parted| parted.is_empty());
    // Block barriers still need all threads of the block.
    let met = if has_sub_groups { passes::converge_barriers(kernel) } else { None };
    let converged = passes::converge(kernel);
    let portable = write(kernel, converged.as_ref(), Form::Portable, Vec::new(), span)?;
    let faults = portable.writer.faults.clone();
    let sub_groups = match has_sub_groups {
        true => Some(write(kernel, met.as_ref(), Form::SubGroups, faults, span)?),
        false => None,
    };
    Ok(assemble(portable, sub_groups))
}

/// What of a kernel has no words in OpenCL C.
pub(super) fn refusals(kernel: &Kernel, span: &dyn Fn(Loc) -> Span) -> Diagnostics {
    let placed = passes::place(kernel);
    let kernel = placed.as_ref().unwrap_or(kernel);
    let converged = passes::converge(kernel);
    let written = write(kernel, converged.as_ref(), Form::Portable, Vec::new(), span);
    written.err().unwrap_or_default()
}

/// Prints a form. `faults`: the messages that have numbers already.
fn write<'k>(
    kernel: &'k Kernel,
    converged: Option<&'k Kernel>,
    form: Form,
    faults: Vec<String>,
    span: &'k dyn Fn(Loc) -> Span,
) -> Result<Written<'k>, Diagnostics> {
    let mut writer = Writer::new(converged.unwrap_or(kernel), form, span);
    writer.is_taken_apart = converged.is_some();
    writer.faults = faults;
    writer.name_everything();
    writer.state.level = 1;
    writer.declare_arrays();
    let arrays = std::mem::take(&mut writer.state.text);
    writer.body();
    let body = std::mem::take(&mut writer.state.text);
    writer.diagnostics.barrier()?;
    Ok(Written { writer, arrays, body })
}

impl Written<'_> {
    /// The form's text. `passed`: what any form needs to be passed.
    fn print(mut self, passed: Features) -> Printed {
        let writer = &mut self.writer;
        let block = writer.kernel.options.block;
        let mut before = writer.emit_structs();
        let (parameters, abi) = writer.signature(passed, &mut before);
        before.push_str(&writer.emit_tables());
        let mut attributes: Vec<String> = Vec::new();
        attributes.extend(block.map(|[x, y, z]| format!("__attribute__((reqd_work_group_size({x}, {y}, {z})))\n")));
        if writer.form == Form::SubGroups {
            attributes.push("__attribute__((intel_reqd_sub_group_size(32)))\n".to_owned());
        }
        let mut kernel = format!("__kernel {}void {}(", attributes.concat(), writer.entry);
        let one_line = parameters.join(", ");
        if one_line.len() <= 110 {
            kernel.push_str(&one_line);
        } else {
            kernel.push_str(&format!("\n    {}", parameters.join(",\n    ")));
        }
        kernel.push_str(") {\n");
        kernel.push_str(&self.arrays);
        let mut shared_bytes = writer.shared_bytes;
        if let (true, Some([x, y, z])) = (writer.features.exchange, block) {
            let threads = u64::from(x) * u64::from(y) * u64::from(z);
            kernel.push_str(&format!("    __local uint {}[{threads}];\n", writer.exchange_name));
            shared_bytes = shared_bytes.next_multiple_of(4) + 4 * threads;
        }
        kernel.push_str(&self.body);
        kernel.push_str("}\n");
        Printed { before, functions: self.writer.prelude.into_functions(), kernel, abi, shared_bytes }
    }
}

/// Puts the parts of the text together.
fn assemble(portable: Written<'_>, sub_groups: Option<Written<'_>>) -> Emitted {
    let (features, faults) = match &sub_groups {
        Some(other) => (portable.writer.features.or(other.writer.features), other.writer.faults.clone()),
        None => (portable.writer.features, portable.writer.faults.clone()),
    };
    let entry = portable.writer.entry.clone();
    let is_ordered = [Some(&portable), sub_groups.as_ref()].into_iter().flatten().any(|form| !form.writer.in_order.is_empty());
    let mut portable = portable.print(features);
    let sub_groups = sub_groups.map(|form| form.print(features));
    debug_assert!(sub_groups.as_ref().is_none_or(|form| form.abi == portable.abi), "the forms of `{entry}` take the same");
    let (abi, shared_bytes) = (std::mem::take(&mut portable.abi), portable.shared_bytes);
    let has_sub_groups = sub_groups.is_some();

    let mut code = String::new();
    if is_ordered {
        code.push_str(order::DEFINITION);
    }
    match sub_groups {
        None => code.push_str(&portable.text()),
        Some(mut sub_groups) => {
            code.push_str(&take_shared(&mut portable, &mut sub_groups));
            code.push_str(&format!(
                "#ifdef {SUB_GROUPS_MACRO}\n// For devices whose sub-groups are the warps: 32 threads, in order of their number in the block.\n\n{}\n#else\n\
                 // For any device.\n\n{}\n#endif\n",
                sub_groups.text(),
                portable.text()
            ));
        }
    }
    let extensions = [
        (has_doubles(&code), "cl_khr_fp64"),
        (features.int64_base_atomics, "cl_khr_int64_base_atomics"),
        (features.int64_extended_atomics, "cl_khr_int64_extended_atomics"),
    ];
    let mut text = String::from("#pragma OPENCL FP_CONTRACT OFF\n");
    for (_, name) in extensions.iter().filter(|(used, _)| *used) {
        text.push_str(&format!("#pragma OPENCL EXTENSION {name} : enable\n"));
    }
    text.push('\n');
    text.push_str(&code);
    Emitted {
        text,
        entry,
        abi,
        shared_bytes,
        asks_for_shared: false,
        overlaps: false,
        has_producer: false,
        cluster: None,
        faults,
        build_options: BUILD_OPTIONS.into(),
        has_sub_groups,
    }
}

impl Printed {
    fn text(&self) -> String {
        let functions: String = self.functions.iter().map(|(_, text)| format!("{text}\n\n")).collect();
        format!("{}{functions}{}", self.before, self.kernel)
    }
}

/// Takes what two forms have in common out of both.
fn take_shared(a: &mut Printed, b: &mut Printed) -> String {
    let mut shared = String::new();
    if a.before != b.before {
        return shared;
    }
    shared.push_str(&std::mem::take(&mut a.before));
    b.before.clear();
    // A function that is the same in both may call one that is not, under the same name. Callers come behind what they call.
    let (mut common, mut own): (Vec<(String, String)>, Vec<String>) = (Vec::new(), Vec::new());
    for function in &a.functions {
        let calls_own = own.iter().any(|call| function.1.contains(call));
        match b.functions.contains(function) && !calls_own {
            true => common.push(function.clone()),
            false => own.push(format!("{}(", function.0)),
        }
    }
    for form in [a, b] {
        form.functions.retain(|function| !common.contains(function));
    }
    common.iter().for_each(|(_, text)| shared.push_str(&format!("{text}\n\n")));
    shared
}
