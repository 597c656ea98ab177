//! Blocks on several workers give what blocks in order give.

use super::*;

fn both(text: &str, buffer: &[u32]) -> [(Result<Counters, Error>, Vec<u32>); 2] {
    [1, 4].map(|workers| {
        let mut bytes = to_bytes(buffer);
        let program = program(text, SimOptions { workers, ..SimOptions::default() });
        let result = program.run(&launch(64, 128), &mut [SimArgument::Global { bytes: &mut bytes }]);
        (result, from_bytes(&bytes))
    })
}

const HEAD: &str = "kernel \"k\" legal
param m0 \"y\": global mut [u32]
{
  v0: u32 = thread_idx.x
  v1: u32 = block_idx.x
  v2: u32 = block_dim.x
  v3: u32 = mul_add v1, v2, v0
  v4: u32 = const 7
  v8: u32 = const 1
";

#[test]
fn workers_make_no_difference() {
    let cases = [
        ("own elements", "  v5: u32 = load m0[v3]\n  v6: u32 = mul_add v5, v3, v4\n  store m0[v3], v6", true),
        ("atomics", "  v5: u32 = and v3, v4\n  v6: u32 = atomic add m0[v5], v3", true),
        ("ordered atomics", "  v5: u32 = and v3, v4\n  v6: u32 = atomic exchange m0[v5], v3", true),
        ("race across blocks", "  v5: u32 = load m0[v3]\n  store m0[v0], v5", false),
        (
            "write what others read",
            "  v5: u32 = load m0[v4]\n  v6: bool = eq v3, v4\n  if v6 {\n    store m0[v4], v3\n    yield\n  }",
            false,
        ),
        ("out of bounds late", "  v5: u32 = add v3, v8\n  store m0[v5], v3", false),
    ];
    for (name, body, is_good) in cases {
        let text = format!("{HEAD}{body}\n  return\n}}\n");
        let initial: Vec<u32> = (0..64 * 128).map(|i| i * i).collect();
        let [one, four] = both(&text, &initial);
        assert_eq!(one.0.is_ok(), is_good, "{name}: {:?}", one.0.err());
        assert_eq!(one, four, "{name}");
    }
}
