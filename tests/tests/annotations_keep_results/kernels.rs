//! The kernels of the table, as they are and with other annotations on every loop: the same results.

use warpwright::{Device, Launch};
use warpwright_codegen::annotations::{Annotation, On};
use warpwright_runtime::definition::{DeviceItem, KernelDefinition, SourceText};
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES};

/// What every `for` is given instead of what it has; `best_effort`, since no loop takes all of them. With `ilp`, sums of floats are others.
const SETS: [(&str, bool); 10] = [
    ("", false),
    ("#[unroll(best_effort)]", false),
    ("#[unroll(3, best_effort)]", false),
    ("#[batch_loads(best_effort)]", false),
    ("#[prefetch(best_effort)]", false),
    ("#[pipeline(stages = 3, best_effort)]", false),
    ("#[vectorize(4, best_effort)]", false),
    ("#[unroll(2, best_effort)] #[prefetch(best_effort)] #[batch_loads(best_effort)]", false),
    ("#[ilp(3, best_effort)]", true),
    ("#[ilp(2, best_effort)] #[batch_loads(best_effort)] #[prefetch(best_effort)]", true),
];

/// A source whose loops have these annotations and no others, and how many loops that are.
fn annotated(text: &str, annotations: &str) -> (String, usize) {
    let (mut new, mut count) = (String::new(), 0);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = annotation(rest) {
            rest = &rest[length..];
            continue;
        }
        let starts_word = !new.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if starts_word && is_loop(rest) {
            // A label is part of the loop.
            let label = new.rfind('\'').filter(|at| new[*at + 1..].trim_end().strip_suffix(':').is_some_and(is_word));
            new.insert_str(label.unwrap_or(new.len()), &format!("{annotations} "));
            count += 1;
        }
        new.push(c);
        rest = &rest[c.len_utf8()..];
    }
    (new, count)
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The length of a loop's annotation that stands here.
fn annotation(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("#[")?.trim_start();
    let annotation = Annotation::all_on(On::Loop).find(|annotation| inner.starts_with(annotation.name))?;
    let after = inner[annotation.name.len()..].trim_start();
    if !after.starts_with(['(', ']']) {
        return None;
    }
    text.find(']').map(|end| end + 1)
}

/// `for k in`, and not `impl A for B`.
fn is_loop(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("for ") else { return false };
    rest.split_once(" in ").is_some_and(|(pattern, _)| is_word(pattern.trim()))
}

/// Definitions live for good.
fn definition(original: &'static KernelDefinition, text: String) -> &'static KernelDefinition {
    let text: &'static str = Box::leak(text.into_boxed_str());
    let source = SourceText { text, ..original.item.source };
    let item = DeviceItem { source, ..original.item };
    Box::leak(Box::new(KernelDefinition { item, name: original.name, parameters: original.parameters, generics: original.generics }))
}

/// Bytes of the floats that a parameter holds, if it holds any, as its type says; a generic type is the one that the case's name has.
fn float_bytes(text: &str, parameter: &str, case: &str) -> Option<usize> {
    let mut places = text.match_indices(parameter).map(|(at, _)| &text[at + parameter.len()..]);
    let ty = places.find_map(|after| after.strip_prefix(": &mut Global<"))?;
    let ty = if ty.starts_with("T>") { case.split_once("::<")?.1 } else { ty };
    if ty.starts_with("f32") { Some(4) } else { ty.starts_with("f64").then_some(8) }
}

/// Sums of some hundreds of numbers of magnitude one, in two orders: each is off by less than a hundredth of a thousandth, in `f64` by as many of its own ulp.
fn is_near(expected: &[u8], found: &[u8], bytes: usize) -> bool {
    let floats = |from: &[u8]| -> Vec<f64> {
        let float = |b: &[u8]| match bytes {
            4 => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            _ => f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
        };
        from.chunks_exact(bytes).map(float).collect()
    };
    let bound = if bytes == 4 { 1e-4 } else { 1e-4 * f64::EPSILON / f64::from(f32::EPSILON) };
    let (expected, found) = (floats(expected), floats(found));
    let scale = expected.iter().fold(1.0f64, |most, value| most.max(value.abs()));
    expected.len() == found.len() && expected.iter().zip(&found).all(|(a, b)| a.to_bits() == b.to_bits() || (a - b).abs() <= bound * scale)
}

fn complaints(launch: &Launch<'_>, name: &str, runs: &mut usize) -> Vec<String> {
    let original = launch.definition();
    let mut all = Vec::new();
    let mut plain = None;
    for (annotations, reassociates) in SETS {
        let (text, loops) = annotated(original.item.source.text, annotations);
        if loops == 0 {
            break;
        }
        let found = launch.simulated_memory(Some(definition(original, text)));
        *runs += 1;
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                all.push(format!("{name} with `{annotations}`: {error}"));
                continue;
            }
        };
        let Some(plain) = &plain else {
            plain = Some(found);
            continue;
        };
        for (n, parameter) in original.parameters.iter().enumerate() {
            let (Some(expected), Some(found)) = (plain.get(n), found.get(n)) else { continue };
            let floats = float_bytes(original.item.source.text, parameter.name, name).filter(|_| reassociates);
            if expected != found && !floats.is_some_and(|bytes| is_near(expected, found, bytes)) {
                all.push(format!("{name} with `{annotations}`: `{}` differs", parameter.name));
            }
        }
    }
    all
}

#[test]
fn kernels_of_the_table_keep_their_results() {
    let device = Device::simulator();
    let (mut all, mut runs) = (Vec::new(), 0);
    for case in CASES {
        let mut inspect = |launch: &Launch<'_>| all.extend(complaints(launch, case.name, &mut runs));
        let output = (case.run)(&mut Bench { device: &device, random: Random::new(11), inspect: &mut inspect });
        output.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    }
    assert!(all.is_empty(), "{} complaints:\n{}", all.len(), all.join("\n"));
    println!("ran: annotations_keep_results ({runs} annotated kernels of the table on the simulator)");
    // Every family has loops.
    assert!(runs > 100, "{runs}");
}

#[test]
fn loops_are_found() {
    let text = "impl A for B { } 'a: for k in 0..4 { #[unroll(N)] #[batch_loads] for j in 0..k { } } #[unrolled] fn f()";
    let expected = "impl A for B { } #[ilp(2)] 'a: for k in 0..4 {   #[ilp(2)] for j in 0..k { } } #[unrolled] fn f()";
    assert_eq!(annotated(text, "#[ilp(2)]"), (expected.to_owned(), 2));
}
