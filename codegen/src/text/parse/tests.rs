//! The text form there and back.

use super::*;
use crate::ir::Builder;
use crate::ir::intrinsic::{IntrinsicId, OperandType};
use crate::ir::{Access, Location, MemoryType, Message, ObjectData, ObjectKind, PrintPart, Scalar, Stage, Step, StructType, Terminator};
use crate::ir::{AtomicOp, Axis, BinaryOp, CompareOp, MemoryOrder, Scope, Special, UnaryOp};

/// Every kind of instruction, written as it is printed. Nothing that [`crate::verify`] would let pass as a whole.
const EVERYTHING: &str = r#"kernel "module::every\"thing" built
block = 16, 8, 1
min_blocks = 2
max_registers = 64
index = 64
math = fast
contract = false
bounds = trap
persistent = true
overlap = true
cluster = 2, 1, 3
file "src/main.rs"
file "src/other file.rs"
struct s0 "Pair" { "a": f32, "b": [u8; 3] }
struct s1 "Nested" { "pair": s0, "pairs": [[s0; 2]; 4] }
struct s2 "Empty" { }
struct s3 "Wide" align 16 { "a": f32, "b": [u8; 3] }
param m0 "a": value f32 @1:20
param m1 "x": global [f32]
param m2 "y": global mut [s1] @1:2:3
param m3 "c": constant [f64; 8]
object m4 "tile": shared [[f32; 17]; 16]
object m5 "buf": shared [f32]
object m6 "tmp": local [i32; 4]
object m7 "lut": table [f32; 4] = 1.0, -0.0, 1e-40, 0x7fc00000
object m8 "bits": table [bool; 2] = true, false @4:5
object m9 "tile": peers m4 [[[f32; 17]; 16]; 6]
{
  v0: f32 = const 0.1 @3:4
  v1: f32 "naïve \"x\"" = const 0x7f800000 @1:3:4
  v2: f64 = const 1e300
  v3: f16 = const 0.0999755859375
  v4: bf16 = const -1.5
  v5: i8 = const -128
  v6: u64 = const 18446744073709551615
  v7: bool = const true
  v8: u32 = thread_idx.x
  v9: u32 = block_idx.y
  v10: u32 = block_dim.z
  v11: u32 = grid_dim.x
  v12: u32 = lane_id.x
  v13: u32 = warp_id.x
  v14: f32 = neg v0
  v15: bool = not v7
  v16: f32 = abs v0
  v17: u32 = add v8, v9
  v18: u32 = shr v8, v9
  v19: f32 = max v0, v1
  v20: f32 = mul_add v0, v1, v0
  v21: bool = ge v0, v1
  v22: f32 = select v21, v0, v1
  v23: i64 = cast v0
  v24: u32 = bitcast v0
  v25: u64 = len m1
  v26: f32 = load m0
  v27: u8 = load m2[v25].0.1[v25]
  v28: f32 = load m2[v25].1[v25][v25].0
  v29: f32, v30: f32 "second" = load m1[v25]
  store m4[v8][v9], v0
  store m5[v8], v0, v1 @9:9
  v31: f32 = atomic add m5[v8], v0
  v32: f32 = atomic cas m5[v8], v0, v1
  print "plain {{}}\n"
  print "x = {} {:.2}", v0, v2
  assert v7, "at {}", v8
  v33: ptr.global = address m1
  v34: ptr.global = offset v33, v25
  v35: f32 = load_at m1, v34 + 8
  v36: f32, v37: f32 = load_at m1, v34 + -8
  store_at m1, v34, v0
  atomic_at and m1, v34 + 4, v8
  if v7 @10:1 {
    yield @11:1
  }
  v38: f32 = if v7 @10:1 {
    yield v0 @11:1
  } else {
    trap "no\tway"
  }
  v39: i32, v40: f32 = for i49 (v41: u32 "i" in v8..v9 step v10; v42: i32 = v5, v43: f32 "acc" = v0) rolled @12:1 {
    if v7 {
      break i49 v42, v43
    } else {
      continue i49 v42, v43
    }
    yield v42, v43
  }
  for i54 (v44: u32 in v8..v9 step v10) {
    loop i55 (v45: u32 = v8) {
      region i56 {
        break i55
      }
      continue i55 v45
    }
    v46: f64 = loop i59 () @13:1 {
      break i59 v2
    }
    v47: f32 = region i61 {
      yield v0
    }
    yield
  }
  v48: ptr.cluster = peer_address m9, v8
  return
}
"#;

#[test]
fn everything_survives_the_way_there_and_back() {
    let kernel = parse_kernel(EVERYTHING).unwrap();
    assert_eq!(kernel.to_string(), EVERYTHING);
    assert_eq!(format!("{kernel:#}"), EVERYTHING);
    assert_eq!(parse_kernel(&kernel.to_string()).unwrap(), kernel);
    let mut compact = kernel.clone();
    compact.compact();
    assert_eq!(compact, kernel);
}

#[test]
fn every_word_of_every_table_survives() {
    let mut body = String::new();
    let mut line = |text: String| body.push_str(&format!("  {text}\n"));
    let mut n = 1;
    let mut result = |ty: &str, text: String| {
        line(format!("v{n}: {ty} = {text}"));
        n += 1;
    };
    UnaryOp::ALL.iter().for_each(|(_, word)| result("u32", format!("{word} v0")));
    BinaryOp::ALL.iter().for_each(|(_, word)| result("u32", format!("{word} v0, v0")));
    CompareOp::ALL.iter().for_each(|(_, word)| result("bool", format!("{word} v0, v0")));
    AtomicOp::ALL.iter().for_each(|(_, word)| result("u32", format!("atomic {word} m0[v0], v0")));
    for (_, order) in MemoryOrder::ALL {
        let scopes = Scope::OF_MEMORY.iter().filter(|(scope, _)| *order != "relaxed" || *scope != Scope::Device);
        scopes.for_each(|(_, scope)| result("u32", format!("atomic add.{order}.{scope} m0[v0], v0")));
    }
    for (_, special) in Special::ALL {
        Axis::ALL.iter().for_each(|(_, axis)| result("u32", format!("{special}.{axis}")));
    }
    let text = format!("kernel \"k\" legal\nparam m0 \"x\": global mut [u32]\n{{\n  v0: u32 = const 1\n{body}  return\n}}\n");
    assert_eq!(parse_kernel(&text).unwrap().to_string(), text);
}

#[test]
fn every_intrinsic_of_a_device_survives() {
    for row in intrinsics::rows().filter(|row| row.device().is_some()) {
        let all = Type::SCALARS.iter().map(|(ty, _)| *ty);
        let types: Vec<Type> = all.filter(|ty| row.over.contains(*ty)).collect();
        for t in if types.is_empty() { vec![Type::U32] } else { types } {
            let operand = |operand: &OperandType| match operand {
                OperandType::T => t,
                OperandType::UnsignedT => t.to_unsigned(),
                OperandType::Is(ty) => *ty,
                OperandType::Lane => Type::U32,
                OperandType::Index => Type::U32,
            };
            let mut kernel = Kernel::new("k", KernelOptions::default());
            let body = kernel.body;
            let mut builder = Builder::new(&mut kernel, body, Loc(0));
            let args = row.args.iter().map(|arg| builder.constant(Scalar::new(operand(arg), 1))).collect();
            let results: Vec<Type> = row.results.iter().map(operand).collect();
            builder.push(Op::Intrinsic(IntrinsicId(row), args), &results);
            builder.push(Op::Terminator(Terminator::Return), &[]);
            let back = parse_kernel(&kernel.to_string());
            assert_eq!(back.as_ref(), Ok(&kernel), "{} over {t}", row.name);
        }
    }
}

#[test]
fn scalars_keep_their_bits() {
    let bits = [
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        0x3c01,
        0x7bff,
        0x7c00,
        0x7e01,
        0x8001,
        0xffff,
        0x0080_0001,
        0x3dcc_cccd,
        0x7f80_0001,
        u64::MAX,
        1 << 63,
    ];
    let types = Type::SCALARS.map(|(ty, _)| ty);
    for scalar in types.iter().flat_map(|ty| bits.iter().map(|bits| Scalar::new(*ty, *bits))) {
        let text = format!("kernel \"k\" built\n{{\n  v0: {} = const {scalar}\n  return\n}}\n", scalar.ty);
        let kernel = parse_kernel(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        assert_eq!(kernel.constant(Value(0)), Some(scalar), "{text}");
        assert_eq!(kernel.to_string(), text);
    }
}

#[test]
fn structs_are_laid_out_again() {
    let kernel = parse_kernel(EVERYTHING).unwrap();
    assert_eq!(kernel.structs[0usize.into()].size, 8);
    let pairs: &StructType = &kernel.structs[1usize.into()];
    assert_eq!((pairs.size, pairs.align, pairs.fields[1].offset), (72, 4, 8));
    let wide = &kernel.structs[3usize.into()];
    assert_eq!((wide.size, wide.align, wide.fields[1].offset), (16, 16, 4));
}

/// A kernel with holes in its numbering: an unreachable block, an unused instruction number, locations out of order.
fn gappy() -> Kernel {
    let mut kernel = Kernel::new("k", KernelOptions::default());
    kernel.stage = Stage::Legal;
    kernel.files.push("a.rs".to_owned());
    let locs: Vec<Loc> = [9, 4, 9]
        .iter()
        .map(|line| kernel.locations.push(Location { file: 0, line: *line, column: 1, call: None, caller: None }))
        .collect();
    let slice = MemoryType::Slice(Box::new(MemoryType::Scalar(Type::U32)));
    let object = |name: &str, kind| ObjectData { name: name.to_owned(), kind, ty: slice.clone(), loc: Loc(0) };
    kernel.objects.push(object("t", ObjectKind::Shared));
    let out = kernel.objects.push(object("out", ObjectKind::Global { writable: true }));
    kernel.params.push(out);
    let dead = kernel.new_block(&[Type::F32]);
    Builder::new(&mut kernel, dead, locs[0]).push(Op::Terminator(Terminator::Return), &[]);
    let body = kernel.body;
    let mut builder = Builder::new(&mut kernel, body, locs[1]);
    let unused = builder.int(Type::U32, 3);
    builder.loc = locs[2];
    let index = builder.special(Special::ThreadIdx, Axis::X);
    builder.name(index, "i");
    builder.push(Op::store(Access { object: out, path: vec![Step::Index(index)] }, vec![index]), &[]);
    builder.loc = Loc(0);
    builder.push(Op::Message(Message::Print(vec![PrintPart::Text("a{".to_owned()), PrintPart::Argument(Some(3))], vec![index])), &[]);
    builder.push(Op::Terminator(Terminator::Return), &[]);
    assert_eq!(unused, Value(1));
    kernel.blocks[body].insts.remove(0);
    kernel
}

#[test]
fn numbers_without_meaning_are_not_printed() {
    let kernel = gappy();
    let text = kernel.to_string();
    let expected = r#"kernel "k" legal
file "a.rs"
param m0 "out": global mut [u32]
object m1 "t": shared [u32]
{
  v0: u32 "i" = thread_idx.x @9:1
  store m0[v0], v0 @9:1
  print "a{{{:.3}", v0
  return
}
"#;
    assert_eq!(text, expected);
    assert!(format!("{kernel:#}").contains("  v2: u32 \"i\" = thread_idx.x @9:1\n"));
    let mut compact = kernel.clone();
    compact.compact();
    assert_eq!(parse_kernel(&text).unwrap(), compact);
    assert_eq!(compact.blocks.len(), 1);
    assert_eq!(compact.locations.len(), 2);
    assert_eq!(kernel.text_without_locations(), expected.replace(" @9:1", "").replace("file \"a.rs\"\n", ""));
}

#[test]
fn any_numbers_name_things() {
    let text = "kernel \"k\" built\nparam m7 \"p\": value u32\n{\n  v90: u32 = load m7 // a comment\n\n  // another\n  v3: u32 = add v90, v90\n  return\n}";
    let kernel = parse_kernel(text).unwrap();
    assert!(kernel.to_string().contains("  v0: u32 = load m0\n  v1: u32 = add v0, v0\n"));
}

#[test]
fn errors_name_line_and_cause() {
    let in_body = |line: &str| format!("kernel \"k\" built\nparam m0 \"p\": value u32\n{{\n  v0: u32 = const 1\n{line}\n  return\n}}\n");
    let cases = [
        ("  v1: u32 = add v0, v7", "v7 is defined nowhere"),
        ("  v0: u32 = const 1", "v0 is defined twice"),
        ("  v1: u32 = frobnicate v0, v0", "there is no instruction `frobnicate` with 2 operands"),
        ("  v1: u32 = add v0", "there is no instruction `add` with 1 operands"),
        ("  v1: u32 = load m1", "m1 is not declared"),
        ("  v1: u7 = const 1", "`u7` is no type"),
        ("  v1: u8 = const 256", "`256` is no constant of type `u8`"),
        ("  v1: f16 = const 65520.0", "`65520.0` is no constant of type `f16`"),
        ("  v1: u32 = call frobnicate v0", "there is no intrinsic `frobnicate` for `u32`"),
        ("  break i9", "no loop or region is called i9"),
        ("  loop i1 () {", "the end of the text"),
        ("  trap \"x", "a string without end"),
        ("  trap \"\\q\"", "`\\q` is not an escape"),
        ("  print \"{:x}\", v0", "\"{:x}\" is no format string"),
        ("  v1: u32 = warp_idx.x", "there is no special register `warp_idx`"),
        ("  v1: u32 = thread_idx.w", "`w` is no axis"),
        ("  atomic nand m0, v0", "there is no atomic `nand`"),
        ("  return return", "the end of the line expected, not `return`"),
        ("  return @3:1:1", "there is no file 3"),
        ("  const 1", "a constant has one result"),
    ];
    for (line, message) in cases {
        let error = parse_kernel(&in_body(line)).unwrap_err();
        assert!(error.message.contains(message), "{line}: {error}");
        assert!(error.line == 5 || message.starts_with("the end of the text"), "{line}: {error}");
    }
    let headers = [
        ("", "`kernel` expected"),
        ("kernel \"k\" cooked\n{\n}", "`cooked` is no stage"),
        ("kernel \"k\" built\ncolour = 3\n{\n}", "`colour` is no option"),
        ("kernel \"k\" built\nindex = 16\n{\n}", "`index` is 32 or 64, not 16"),
        ("kernel \"k\" built\nblock = 1, -2, 3\n{\n}", "`-2` is no number that fits here"),
        (
            "kernel \"k\" built\nblock = 4294967295, 4294967295, 4294967295\n{\n}",
            "the threads of a block are 1 to 1024, not 79228162458924105385300197375",
        ),
        ("kernel \"k\" built\nblock = 32, 0, 1\n{\n}", "the threads of a block are 1 to 1024, not 0"),
        ("kernel \"k\" built\ncluster = 2, 4294967295, 1\n{\n}", "the blocks of a cluster are 1 to 8, not 8589934590"),
        ("kernel \"k\" built\nparam m0 \"x\": local [[u8; 1099511627776]; 2]\n{\n}", "a type of more than"),
        ("kernel \"k\" built\nparam m0 \"x\": local s0\n{\n}", "s0 is not declared"),
        ("kernel \"k\" built\n{\n}\nmore", "the end of the text expected"),
    ];
    for (text, message) in headers {
        let error = parse_kernel(text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

#[test]
fn no_text_makes_it_panic() {
    // Cut and garbled at every place.
    for (at, c) in EVERYTHING.char_indices() {
        let _ = parse_kernel(&EVERYTHING[..at]);
        for with in ["", "}", "v", "0", ":", "\"", "é", "-", "@"] {
            if at % 7 == 0 {
                let _ = parse_kernel(&format!("{}{with}{}", &EVERYTHING[..at], &EVERYTHING[at + c.len_utf8()..]));
            }
        }
    }
    let deep = format!("kernel \"k\" built\n{{\n{}", "region i1 {\n".repeat(100_000));
    assert!(parse_kernel(&deep).is_err());
    let nested: String = (0..100_000).map(|n| format!("region i{n} {{\n")).collect();
    assert!(parse_kernel(&format!("kernel \"k\" built\n{{\n{nested}")).unwrap_err().message.contains("nested deeper"));
    let brackets = format!("kernel \"k\" built\nparam m0 \"x\": value {}", "[".repeat(100_000));
    assert!(parse_kernel(&brackets).unwrap_err().message.contains("nested deeper"));
}
