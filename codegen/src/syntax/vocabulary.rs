//! Names of Rust that the device has nothing for, each with what to use in its place.

/// A name that device code cannot use.
pub(super) struct Missing {
    /// The name: a type, a variant or a module's function.
    pub(super) name: &'static str,
    /// Why.
    pub(super) why: &'static str,
    /// What to use in its place.
    pub(super) instead: &'static str,
}

impl Missing {
    /// Whether it is an enum with fields, or a variant of one.
    pub(super) fn is_sum(&self) -> bool {
        self.why == SUM
    }
}

const HEAP: &str = "needs a heap, which device code does not have";
pub(super) const SUM: &str = "is an enum with fields, which the kernel language does not have";
const NO_TYPE: &str = "is not a type of the kernel language";
const FLAG: &str = "use a flag beside the value, `(bool, f32)`: `(true, v)` for `Some(v)`, `(false, 0.0)` for `None`, and `if o.0`, in which `o.1` is the value, for `if let Some(v) = o`";
const ARRAY: &str = "use an array, `let mut v = [0.0f32; 16];`, and `v[n] = …` for `push`; or take a buffer, `&mut Global<f32>`";
const OWN: &str = "use the value itself";
const ATOMIC: &str = "use a buffer's atomics: `y.atomic_add(i, 1)`";

/// The table. What a unit defines itself under such a name is meant instead.
const MISSING: &[Missing] = &[
    Missing { name: "Vec", why: HEAP, instead: ARRAY },
    Missing { name: "VecDeque", why: HEAP, instead: ARRAY },
    Missing { name: "HashMap", why: HEAP, instead: ARRAY },
    Missing { name: "HashSet", why: HEAP, instead: ARRAY },
    Missing { name: "BTreeMap", why: HEAP, instead: ARRAY },
    Missing { name: "BTreeSet", why: HEAP, instead: ARRAY },
    Missing { name: "Box", why: HEAP, instead: OWN },
    Missing { name: "Rc", why: HEAP, instead: OWN },
    Missing { name: "Arc", why: HEAP, instead: OWN },
    Missing {
        name: "String",
        why: HEAP,
        instead: "print with `println!`; for a text take an array, `[u8; 16]`, or a buffer, `&Global<u8>`",
    },
    Missing {
        name: "str",
        why: NO_TYPE,
        instead: "print with `println!`; for a text take an array, `[u8; 16]`, or a buffer, `&Global<u8>`",
    },
    Missing { name: "char", why: NO_TYPE, instead: "use `u8` or `u32`" },
    Missing { name: "i128", why: NO_TYPE, instead: "use `i64`, or two of them" },
    Missing { name: "u128", why: NO_TYPE, instead: "use `u64`, or two of them" },
    Missing { name: "Option", why: SUM, instead: FLAG },
    Missing { name: "Some", why: SUM, instead: FLAG },
    Missing { name: "None", why: SUM, instead: FLAG },
    Missing { name: "Result", why: SUM, instead: FLAG },
    Missing { name: "Ok", why: SUM, instead: FLAG },
    Missing { name: "Err", why: SUM, instead: FLAG },
    Missing { name: "AtomicU32", why: NO_TYPE, instead: ATOMIC },
    Missing { name: "AtomicI32", why: NO_TYPE, instead: ATOMIC },
    Missing { name: "AtomicU64", why: NO_TYPE, instead: ATOMIC },
    Missing { name: "AtomicUsize", why: NO_TYPE, instead: ATOMIC },
    Missing { name: "AtomicBool", why: NO_TYPE, instead: ATOMIC },
];

/// What there is to say of a name.
pub(super) fn missing(name: &str) -> Option<&'static Missing> {
    MISSING.iter().find(|missing| missing.name == name)
}

/// Macros that device code may call.
pub(super) const MACROS: &[&str] = &[
    "assert",
    "debug_assert",
    "assert_eq",
    "assert_ne",
    "debug_assert_eq",
    "debug_assert_ne",
    "print",
    "println",
    "eprint",
    "eprintln",
    "panic",
    "unreachable",
    "unimplemented",
    "todo",
    "matches",
];

/// Macros that people try, and what to do instead.
pub(super) const REFUSED_MACROS: &[(&str, &str)] = &[
    ("vec", ARRAY),
    ("format", "print with `println!`"),
    ("write", "print with `print!`"),
    ("writeln", "print with `println!`"),
    ("dbg", "print with `println!`"),
    ("cfg", "ask a constant defined outside: `const CHECKED: bool = cfg!(feature = \"checked\");`"),
];

/// Whether it is the name of a scalar type.
pub(super) fn is_scalar(name: &str) -> bool {
    name.parse::<crate::ir::Type>().is_ok() || matches!(name, "usize" | "isize")
}
