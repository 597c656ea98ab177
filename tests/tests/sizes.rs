//! Whatever a source looks like, the compiler's time is that of what it writes out: sources that made it take for ever, and ones that grow along each
//! dimension of `warpwright_tests::sizes`.

use std::time::Duration;
use warpwright_tests::random::{Failure, check_all};
use warpwright_tests::sizes::grow::grow;
use warpwright_tests::sizes::{DIMENSIONS, find, steps};

/// Most time of all steps with one source, of the processor, in an unoptimised build that verifies each pass. What grows as a tree of shared values
/// takes longer than there is time; what these sources take is a tenth of this.
const MOST: Duration = Duration::from_secs(20);

/// Most time of a random source that is written out as a thousand instructions or fewer; of more in proportion. An unoptimised build that verifies
/// each pass takes a quarter of a second for them, an optimised one a fiftieth; what is not linear is beyond this in any build.
const MOST_OF_A_THOUSAND: Duration = Duration::from_secs(1);

fn within_time(name: &str, source: &str) -> steps::Steps {
    let found = compiled(name, source);
    let time = found.cpu;
    assert!(time < MOST, "{name} took {time:?}: {:?}", found.times);
    found
}

fn compiled(name: &str, source: &str) -> steps::Steps {
    // As much stack as a thread of `rustc` has, where the macro runs.
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    let owned = source.to_owned();
    let found = thread.spawn(move || steps::run(&owned)).expect("a thread").join();
    found.unwrap_or_else(|_| panic!("{name} panicked:\n{source}"))
}

fn accepted(name: &str, source: &str) {
    let found = within_time(name, source);
    assert_eq!(found.errors, [""; 0], "{name}");
    assert!(found.instructions > 0, "{name}");
}

fn refused(name: &str, source: &str, message: &str) {
    let found = within_time(name, source);
    assert!(found.errors.iter().any(|error| error.contains(message)), "{name}: {:?}", found.errors);
}

#[test]
fn conditions_made_of_a_chain_on_the_elements_number() {
    let kernel = |arguments: &str, start: &str, step: &str, condition: &str| {
        format!(
            "#[kernel(block = 128, {arguments})] pub fn k(n: u32, y: &mut Global<u32>) {{ let i = global_id().x; let mut a = {start};\n\
             #[unroll] for j in 0..40 {{ {step} }} if {condition} {{ y[i] = 1; }} }}"
        )
    };
    let xorshift = "a ^= a << 13; a ^= a >> 17; a ^= a << 5;";
    accepted("a search with ilp", &kernel("ilp = 2", "i as u32", xorshift, "a == n"));
    accepted("a search with vectors", &kernel("vectorize = 2", "i as u32", xorshift, "a == n && i < y.len()"));
    accepted("squares", &kernel("ilp = 4", "i as u32", "a = a * a + n;", "a < n"));
    accepted("Newton's method", &kernel("ilp = 2", "i as f32 + 1.0", "a = 0.5 * (a + (i as f32) / a);", "a > 3.0 && i < y.len()"));
    accepted("conditions of conditions", &kernel("ilp = 2", "i < y.len()", "a = (a & (n > j as u32)) & (a & (n < 9));", "a"));
    accepted("negated conditions", &kernel("ilp = 2", "i < y.len()", "a = (a & (n > j as u32)) | (a & (n < 9));", "!a"));
    accepted("indices", &kernel("ilp = 2, batch_loads(best_effort)", "i", "a = (a * 3) ^ (a + 1);", "i < y.len() { y[a] += 1; } if a < 3"));
}

#[test]
fn updates_of_an_accumulator_under_many_conditions() {
    let updates: String = (0..40).map(|k| format!("if x[j] > {k}.5 {{ sum += x[j]; }}\n")).collect();
    let source = format!(
        "#[kernel(block = 128)] pub fn k(w: usize, x: &Global<f32>, y: &mut Global<f32>) {{ let mut sum = 0.0;\n\
         #[ilp(2)] for j in 0..w {{ {updates} }} y[global_id().x] = sum; }}"
    );
    accepted("updates", &source);
}

#[test]
fn loops_in_loops() {
    let open: String = (0..25).map(|k| format!("for j{k} in 0..m {{ y[i + j{k}] = v;\n")).collect();
    let source = format!(
        "#[kernel(block = 64)] pub fn k(m: usize, v: f32, y: &mut Global<f32>) {{ let i = global_id().x; {open} {} }}",
        "}".repeat(25)
    );
    accepted("nested loops", &source);
}

#[test]
fn matches_of_thousands_of_arms() {
    let arms = |arm: &dyn Fn(usize) -> String| -> String { (0..1500).map(arm).collect() };
    let kernel = |arms: &str| {
        format!(
            "#[kernel(block = 64)] pub fn k(x: &Global<u32>, y: &mut Global<u32>) {{ let i = global_id().x; let v = x[i];\n\
             y[i] = match v {{ {arms} _ => 5 }}; }}"
        )
    };
    accepted("numbers", &kernel(&arms(&|n| format!("{n} => {},\n", n * 7))));
    accepted("guards", &kernel(&arms(&|n| format!("{n} if v > {n} => {},\n", n * 7))));
    accepted("arms that leave", &kernel(&arms(&|n| if n % 3 == 0 { format!("{n} => return,\n") } else { format!("{n} => {n},\n") })));
}

/// What is refused, with every factor named; a smaller one of each is accepted.
#[test]
fn factors_that_multiply_have_one_limit() {
    let rows = |arguments: &str, outer: &str, inner: &str| {
        format!(
            "#[kernel(block = 128, {arguments})] pub fn k(w: usize, x: &Global<f32>, y: &mut Global<f32>) {{ let row = global_id().x;\n\
             if row < y.len() {{ let mut sum = 0.0;\n{outer} for i in 0..w {{\n{inner} for j in 0..w {{ sum += x[row * w + i + j]; }} }} y[row] = sum; }} }}"
        )
    };
    let limit = "all annotations of a kernel may make 20000";
    let unrolled = |n: u32| {
        format!(
            "#[kernel(block = 128, ilp = {n})] pub fn k(w: usize, x: &Global<f32>, y: &mut Global<f32>) {{ let row = global_id().x;\n\
             if row < y.len() {{ let mut sum = 0.0;\n#[unroll(1024)] for i in 0..w {{ sum += x[row * w + i]; }} y[row] = sum; }} }}"
        )
    };
    let found = within_time("ilp of the kernel, unroll", &unrolled(128));
    let [error] = &found.errors[..] else { panic!("{:?}", found.errors) };
    assert!(error.starts_with("128 copies of a body of "), "{error}");
    assert!(error.contains("(with `unroll` by 1024 inside) are ") && error.ends_with(limit), "{error}");
    accepted("two elements, unroll", &unrolled(2));
    let one = |name: &str, source: &str, parts: &[&str]| {
        let found = within_time(name, source);
        let [error] = &found.errors[..] else { panic!("{name}: {:?}", found.errors) };
        assert!(parts.iter().chain(&[limit]).all(|part| error.contains(part)), "{name}: {error}");
    };
    one("nested unrolls", &rows("index = 32", "#[unroll(200)]", "#[unroll(200)]"), &["200 copies", "(with `unroll` by 200 inside)"]);
    one("ilp, nested unrolls", &rows("ilp = 32", "#[unroll(32)]", "#[unroll(32)]"), &["32 copies", "`unroll` by 32 and `unroll` by 32"]);
    one("ilp of loops", &rows("index = 32", "#[ilp(128)]", "#[ilp(128)]"), &["128 copies", "(with `ilp` by 128 inside)"]);
    one(
        "ilp round an ilp that is unrolled",
        &rows("index = 32", "#[ilp(64)]", "#[ilp(8)] #[unroll(64)]"),
        &["64 copies", "under `ilp` by 64", "`ilp` by 8"],
    );
    one("elements, batch", &rows("ilp = 128", "#[unroll(1)]", "#[batch_loads] #[unroll(128)]"), &["128 copies", "`unroll` by 128"]);
    accepted("fewer of each", &rows("ilp = 4", "#[unroll(8)]", "#[unroll(8)]"));
    let vectors = |n: u32| {
        format!(
            "#[kernel(block = 128, vectorize = 4)] pub fn k(x: &Global<f32>, y: &mut Global<f32>) {{ let i = global_id().x; if i < y.len() {{\n\
             let mut v = x[i]; #[unroll] for j in 0..{n} {{ v = v * v + (v - j as f32) / 3.0; }} y[i] = v; }} }}"
        )
    };
    one("vectorize, unroll", &vectors(3200), &["4 copies", "(with `unroll` by 3200 inside)"]);
    accepted("vectorize, fewer", &vectors(200));
    let many = |n: u32| -> String {
        let loops: String = (0..n).map(|k| format!("#[unroll(400)] for j in 0..m {{ sum += x[i + j * {}]; }}\n", k + 1)).collect();
        format!(
            "#[kernel(block = 64)] pub fn k(m: usize, x: &Global<f32>, y: &mut Global<f32>) {{ let i = global_id().x; let mut sum = 0.0; {loops} y[i] = sum; }}"
        )
    };
    let found = within_time("loops one behind the other", &many(60));
    assert!(
        found.errors.iter().all(|error| error.contains("that annotations made elsewhere") && error.contains(limit)),
        "{:?}",
        found.errors
    );
    assert!(!found.errors.is_empty());
    accepted("fewer loops", &many(5));
    let loops = "#[ilp(2)] #[unroll(40)] for i in 0..w { sum += x[row * w + i] * x[i + w]; }\n".repeat(3);
    let of_elements = format!(
        "#[kernel(block = 128, ilp = 32)] pub fn k(w: usize, x: &Global<f32>, y: &mut Global<f32>) {{ let row = global_id().x;\n\
         if row < y.len() {{ let mut sum = 0.0; {loops} y[row] = sum; }} }}"
    );
    let found = within_time("loops one behind the other, of several elements", &of_elements);
    // No figure is below the limit that it is said to be over.
    assert!(found.errors.iter().all(|error| error.contains("that annotations made elsewhere")), "{:?}", found.errors);
    assert!(!found.errors.is_empty());
}

/// What is folded away does not count.
#[test]
fn what_is_known_does_not_count() {
    let kernel = |body: &str| {
        format!(
            "#[kernel(block = 64)] pub fn k(x: &Global<f32>, y: &mut Global<f32>) {{ let i = global_id().x; let mut v = x[i];\n{body}\ny[i] = v; }}"
        )
    };
    let rare =
        "#[unroll] for a in 0..120 { #[unroll] for b in 0..60 { if (a * 60 + b) % 7 == 3 && a % 5 == 0 { v = v * x[i + b] + 1.0; } } }";
    accepted("iterations that do nothing", &kernel(rare));
    let triangle = "#[unroll] for a in 0..120 { #[unroll] for b in 0..120 { if b > a + 110 { v += x[i + a * 120 + b]; } } }";
    accepted("a corner of a square", &kernel(triangle));
    let digits = "#[unroll] for a in 0..1000 { let mut n = a * 7 + 3; #[unroll] for _ in 0..8 { n = (n * 5 + 1) % 1024; } v += n as f32; }";
    accepted("numbers of numbers", &kernel(digits));
    let all = "#[unroll] for a in 0..200 { #[unroll] for b in 0..200 { v = v * x[i + b] + a as f32; } }";
    refused("all of them", &kernel(all), "all annotations of a kernel may make 20000");
}

#[test]
fn what_nests_without_end_is_refused() {
    let empty =
        (1..60).fold("#[device] fn f0() {}\n".to_owned(), |text, n| text + &format!("#[device] fn f{n}() {{ f{0}(); f{0}(); }}\n", n - 1));
    let kernel = "#[kernel(block = 64)] pub fn k(y: &mut Global<u32>) { f59(); y[global_id().x] = 1; }";
    refused("calls that double", &(empty + kernel), "inlined here the kernel has more than 200000 instructions");
    let deep = (1..2000).fold("#[device] fn f0(v: f32) -> f32 { v }\n".to_owned(), |text, n| {
        text + &format!("#[device] fn f{n}(v: f32) -> f32 {{ if v > 1.0 {{ f{}(v) }} else {{ v }} }}\n", n - 1)
    });
    let kernel = "#[kernel(block = 64)] pub fn k(y: &mut Global<f32>) { let i = global_id().x; y[i] = f1999(y[i]); }";
    refused("deep calls", &(deep + kernel), "expressions are nested");
    let constants: String = (0..3000).map(|n| format!("const C{n}: u32 = C{} + 1;\n", n + 1)).collect();
    let kernel = "const C3000: u32 = 0;\n#[kernel(block = 64)] pub fn k(y: &mut Global<u32>) { y[0] = C0; }";
    refused("a chain of constants", &(constants + kernel), "at most 64 are");
}

#[test]
fn every_dimension_is_accepted_or_refused_with_figures() {
    for dimension in DIMENSIONS {
        let found = within_time(dimension.name, &(dimension.source)(dimension.n / 2 + 1));
        let is_known = ["moves the loads of the body that it stands on", "is not possible", "expected", "each computed from the next"];
        let unknown: Vec<_> = found.errors.iter().filter(|error| !is_known.iter().any(|known| error.contains(known))).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", dimension.name);
    }
}

/// What eight times as much may take, eight times being linear: what is quadratic takes 64 times as long.
const MOST_OF_EIGHT: u32 = 24;

/// Loops whose annotations are kept in a time that grows as they do: the least of three, since others have the processor, too.
#[test]
fn annotations_are_kept_in_linear_time() {
    for name in ["ilp_of_updates", "ilp_round_a_ring", "annotated_loops_in_place"] {
        let dimension = find(name).expect("a dimension");
        let least = |n: usize| (0..3).map(|_| steps::of_schedule(&(dimension.source)(n))).min().expect("three");
        let n = 2 * dimension.n;
        let (one, eight) = (least(n), least(8 * n));
        assert!(eight < one * MOST_OF_EIGHT, "{name}: {n} take {one:?}, {} take {eight:?}", 8 * n);
    }
}

/// `WARPWRIGHT_GROWN` says how many, `WARPWRIGHT_GROWN_SEED` where to begin.
#[test]
fn random_sources_are_compiled_within_a_second() {
    let var = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (var("WARPWRIGHT_GROWN_SEED").unwrap_or(0), var("WARPWRIGHT_GROWN").unwrap_or(40));
    let check = |source: &String| {
        let found = compiled("a random source", source);
        let thousands = found.instructions.div_ceil(1000).max(1) as u32;
        match found.cpu < MOST_OF_A_THOUSAND * thousands {
            true => Ok(u64::from(found.errors.is_empty())),
            false => Err(Failure::Wrong(format!("took {:?}: {:?}", found.cpu, found.times))),
        }
    };
    let accepted: u64 = check_all(first..first + count, grow, String::clone, check).into_iter().sum();
    assert!(accepted * 2 > count, "{accepted} of {count} are accepted: the others say nothing about what comes after a refusal");
}
