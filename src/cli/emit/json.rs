//! Texts as programs read them, with what a launch of them needs.

use super::Printed;
use crate::cli::json::{generics, words};
use serde_json::{Value, json};
use warpwright_codegen::backend::{AbiArgument, Emitted};
use warpwright_codegen::ir::{Kernel, MemoryType, ObjectKind};

/// The document.
pub(super) fn document(file: &str, kernels: &[Printed]) -> Value {
    let one = |printed: &Printed| {
        json!({
            "kernel": printed.name,
            "variant": words(&printed.generics),
            "generics": generics(&printed.generics),
            "target": printed.target.map(|target| target.name),
            "format": printed.format.word(),
            "text": printed.text,
            "entry": printed.entry,
        })
    };
    json!({ "file": file, "kernels": kernels.iter().map(one).collect::<Vec<_>>() })
}

/// The entry point of a text.
pub(super) fn entry(kernel: &Kernel, emitted: &Emitted) -> Value {
    let parameters = kernel.params.iter().map(|object| {
        let parameter = &kernel.objects[*object];
        let kind = match parameter.kind {
            ObjectKind::Global { writable: true } => "buffer",
            ObjectKind::Global { writable: false } => "read-only buffer",
            ObjectKind::Constant => "constant",
            _ => "value",
        };
        let element = match &parameter.ty {
            MemoryType::Slice(element) => element,
            whole => whole,
        };
        json!({ "name": parameter.name, "kind": kind, "type": type_name(kernel, element), "bytes": element.size(&kernel.structs) })
    });
    json!({
        "name": emitted.entry,
        "block": kernel.started_block(),
        "elements_per_thread": kernel.options.elements_per_thread(),
        "shared_bytes": emitted.shared_bytes,
        "parameters": parameters.collect::<Vec<_>>(),
        "arguments": emitted.abi.iter().map(argument).collect::<Vec<_>>(),
        "build_options": emitted.build_options,
        "has_sub_groups": emitted.has_sub_groups,
        "faults": emitted.faults,
    })
}

fn type_name(kernel: &Kernel, ty: &MemoryType) -> String {
    match ty {
        MemoryType::Struct(id) => kernel.structs[*id].name.clone(),
        other => other.to_string(),
    }
}

/// What is passed, in order.
fn argument(argument: &AbiArgument) -> Value {
    let (kind, parameter, bytes) = match argument {
        AbiArgument::Value { param, bytes, .. } => ("value", Some(*param), Some(*bytes)),
        AbiArgument::Buffer { param } => ("buffer", Some(*param), None),
        AbiArgument::Length { param, bytes } => ("length", Some(*param), Some(*bytes)),
        AbiArgument::ConstantSymbol { param, bytes, .. } => ("constant symbol", Some(*param), Some(*bytes)),
        AbiArgument::TensorMap(map) => ("tensor map", Some(map.matrix.data), Some(128)),
        AbiArgument::Texture { param, .. } => ("texture object", Some(*param), Some(8)),
        AbiArgument::Extent { param, .. } => ("texture extent", Some(*param), Some(4)),
        AbiArgument::Image { param } => ("image", Some(*param), None),
        AbiArgument::Sampler { param, .. } => ("sampler", Some(*param), None),
        AbiArgument::DynamicShared => ("dynamic shared memory", None, None),
        AbiArgument::Exchange { bytes } => ("exchange for each thread", None, Some(*bytes)),
        AbiArgument::DynamicLength { bytes, .. } => ("length of dynamic shared memory", None, Some(*bytes)),
        AbiArgument::AskedGrid { .. } => ("grid", None, Some(4)),
        AbiArgument::Fault => ("fault", None, None),
    };
    json!({ "kind": kind, "parameter": parameter, "bytes": bytes })
}
