//! Launches without the macro: hand-made definitions on every device, and a device that does nothing.

mod checks;
mod cost;
mod cpu;
mod devices;
mod drivers;
mod null;

use crate::definition::{DeviceItem, SourceText};
use crate::element::TypeName;
use crate::twin::TwinEntry;

/// A twin that does nothing: these tests are about what happens around it.
pub(crate) const NO_TWIN: TwinEntry = |_| {};

/// The name of a type that no kernel takes as a generic: its source is asked for by none.
pub(crate) const fn type_name(name: &'static str) -> TypeName {
    const NO_SOURCE: SourceText = SourceText { text: "", file: "", line: 1, column: 1 };
    TypeName { name, place: "here", item: || &DeviceItem { name: "", source: NO_SOURCE, externs: &[] } }
}

/// A `static` definition, as the macro writes one.
macro_rules! definition {
    ($name:ident = $path:literal, $text:literal, [$($parameter:literal: $kind:ident),*], [$($generic:literal),*]) => {
        pub(crate) static $name: $crate::definition::KernelDefinition = $crate::definition::KernelDefinition {
            name: $path,
            item: $crate::definition::DeviceItem {
                name: $path,
                source: $crate::definition::SourceText { text: $text, file: "src/kernels.rs", line: 10, column: 1 },
                externs: &[],
            },
            parameters: &[$($crate::definition::Parameter { name: $parameter, kind: $crate::definition::ParameterKind::$kind }),*],
            generics: &[$($generic),*],
        };
    };
}
pub(crate) use definition;

definition!(
    SAXPY = "saxpy",
    "#[kernel(block = 256)]
    fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) { let i = global_id().x; if i < y.len() { y[i] = a * x[i] + y[i]; } }",
    ["a": Value, "x": Global, "y": GlobalMut],
    []
);

definition!(
    FREE = "free",
    "#[kernel] fn free(n: usize, y: &mut Global<u32>) { let i = global_id().x; if i < n { y[i] = i as u32; } }",
    ["n": Value, "y": GlobalMut],
    []
);

definition!(
    SHARED = "shared",
    "#[kernel(block = B)] fn shared<const B: usize>(y: &mut Global<f32>) {
        #[shared] let mut tile: [[f32; 16]; 16];
        let t = thread_idx().x;
        tile[0][t % 16] = 1.0;
        sync_threads();
        y[t] = tile[0][(t + 1) % 16];
    }",
    ["y": GlobalMut],
    ["B"]
);

definition!(BROKEN = "broken", "#[kernel]\nfn broken(y: &mut Global<u32>) {\n    y[0] = nowhere;\n}", ["y": GlobalMut], []);
