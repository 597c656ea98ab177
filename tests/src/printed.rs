//! A kernel as `emit --format rust` prints it, compiled again and run on the simulator beside the original.

use warpwright::Launch;
use warpwright_runtime::definition::{DeviceItem, KernelDefinition, SourceText};

/// What came of printing a launch's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The printed kernel leaves the same bytes in every buffer.
    Same,
    /// It does not compile, runs into a fault, or leaves something else: what is wrong, and the text.
    Wrong(String),
}

/// Prints the kernel of a launch, compiles the text and compares what both leave behind. The buffers stay as they are.
pub fn round_trip(launch: &Launch<'_>) -> Outcome {
    match launch.rust() {
        Ok(text) => compare(launch, &text),
        Err(error) => Outcome::Wrong(format!("it cannot be printed: {error}")),
    }
}

/// The same for any text of a kernel with the same name and parameters.
pub fn compare(launch: &Launch<'_>, text: &str) -> Outcome {
    let wrong = |why: String| Outcome::Wrong(format!("{why}\n{text}"));
    let expected = match launch.simulated_memory(None) {
        Ok(memory) => memory,
        Err(error) => return wrong(format!("the original does not run: {error}")),
    };
    match launch.simulated_memory(Some(definition(launch.definition(), text))) {
        Ok(found) if found == expected => Outcome::Same,
        Ok(found) => {
            let buffer = (0..expected.len()).find(|k| found[*k] != expected[*k]).unwrap_or(0);
            let byte = (0..expected[buffer].len()).find(|n| found[buffer].get(*n) != Some(&expected[buffer][*n])).unwrap_or(0);
            wrong(format!("argument {buffer} differs from byte {byte} on"))
        }
        Err(error) => wrong(format!("the text does not run: {error}")),
    }
}

/// The definition that `#[kernel]` would leave of the text. Definitions live for good, and so does this one.
fn definition(original: &'static KernelDefinition, text: &str) -> &'static KernelDefinition {
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    let name = original.name.rsplit("::").next().unwrap_or(original.name);
    let source = SourceText { text, file: "printed.rs", line: 1, column: 1 };
    let item = DeviceItem { name, source, externs: &[] };
    Box::leak(Box::new(KernelDefinition { name, item, parameters: original.parameters, generics: &[] }))
}
