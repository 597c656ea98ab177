//! The book (`docs/book`), read as its reader reads it: what a block says of a file is written into the reader's crate, what a console block
//! says is run there, and what comes of it is held to the page.
//!
//! | block | what is done with it |
//! |---|---|
//! | `rust` or `toml` that begins with `// src/main.rs` or `# Cargo.toml` | the file is that text from here on |
//! | `rs` that begins with `// in src/main.rs` | its functions take the place of those of their name; of others, the end of the file is theirs |
//! | `console` | each line behind `$` is run, and prints the lines below it; `…` stands for anything |
//!
//! A chapter begins with the files as the chapters before have left them. `WARPWRIGHT_BLESS=1` writes what was printed into the page.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use warpwright_tests::command;

/// The chapters in their order.
const CHAPTERS: &[&str] = &[
    "1-first-kernel",
    "2-memory",
    "3-shared-tiles",
    "4-ilp-and-batching",
    "5-occupancy",
    "6-tuning",
    "7-on-a-gpu",
    "8-copies-ahead",
    "9-tensor-cores",
    "solutions",
];

#[test]
fn first_kernel() {
    read(0);
}

#[test]
fn memory() {
    read(1);
}

#[test]
fn shared_tiles() {
    read(2);
}

#[test]
fn ilp_and_batching() {
    read(3);
}

#[test]
fn occupancy() {
    read(4);
}

#[test]
fn tuning() {
    read(5);
}

#[test]
fn on_a_gpu() {
    read(6);
}

#[test]
fn copies_ahead() {
    read(7);
}

#[test]
fn tensor_cores() {
    read(8);
}

#[test]
fn solutions() {
    read(9);
}

/// A fenced block of a page.
struct Block<'p> {
    /// What stands behind the fence.
    language: &'p str,
    text: &'p str,
    /// Where `text` stands in the page.
    range: std::ops::Range<usize>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut found, mut open, mut at) = (Vec::new(), None, 0);
    for line in page.split_inclusive('\n') {
        let end = at + line.len();
        match (line.strip_prefix("```"), open) {
            (Some(language), None) => open = Some((language.trim(), end)),
            (Some(_), Some((language, start))) => {
                found.push(Block { language, text: &page[start..at], range: start..at });
                open = None;
            }
            (None, _) => {}
        }
        at = end;
    }
    assert!(open.is_none(), "a block has no end");
    found
}

fn page(chapter: usize) -> PathBuf {
    command::root().join("docs/book").join(CHAPTERS[chapter]).with_extension("md")
}

fn load(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All chapters are about one crate, in one folder, as cargo takes crates of one name in two folders for one: one chapter at a time.
static CRATE: Mutex<()> = Mutex::new(());

/// Goes through a chapter.
fn read(chapter: usize) {
    let _turn = CRATE.lock().unwrap_or_else(PoisonError::into_inner);
    let reader = Reader::begin();
    for before in 0..chapter {
        for block in blocks(&load(&page(before))) {
            reader.write(&block);
        }
    }
    let path = page(chapter);
    let text = load(&path);
    let (mut blessed, mut at, mut differences, mut commands) = (String::new(), 0, String::new(), 0);
    for block in blocks(&text) {
        reader.write(&block);
        if block.language != "console" {
            continue;
        }
        let printed = reader.console(block.text, &mut differences);
        commands += printed.matches("\n$ ").count() + 1;
        blessed.push_str(&text[at..block.range.start]);
        blessed.push_str(&printed);
        at = block.range.end;
    }
    blessed.push_str(&text[at..]);
    if CHAPTERS[chapter] != "solutions" {
        let left = reader.run("cargo check -q --all-targets");
        assert_eq!(left.trim(), "", "findings are left in the reader's crate");
    }
    if std::env::var_os("WARPWRIGHT_BLESS").is_some() {
        assert!(std::env::var_os("CI").is_none(), "nothing is blessed where CI is set");
        std::fs::write(&path, blessed).expect("the page can be written");
    } else {
        assert!(differences.is_empty(), "{} says otherwise (WARPWRIGHT_BLESS=1 writes it anew):\n{differences}", path.display());
    }
    println!("ran: {} ({commands} commands on the book)", CHAPTERS[chapter]);
}

/// The reader's crate.
struct Reader {
    folder: PathBuf,
    target: PathBuf,
}

impl Reader {
    /// With what `cargo new` makes, and the versions of the workspace's crates that are here already.
    fn begin() -> Reader {
        let temporary = env!("CARGO_TARGET_TMPDIR");
        let folder = Path::new(temporary).join("book/lessons");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for the reader");
        std::fs::copy(command::root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
        Reader { folder, target: command::outside_target(temporary) }
    }

    /// Does what a block says of a file, if it does.
    fn write(&self, block: &Block<'_>) {
        let first = block.text.lines().next().unwrap_or_default();
        let Some(name) = first.strip_prefix("// ").or_else(|| first.strip_prefix("# ")) else { return };
        let kind = block.language.split(',').next().unwrap_or_default();
        match (kind, name.strip_prefix("in ")) {
            ("rust" | "toml", None) if name.ends_with(".rs") || name.ends_with(".toml") => {
                let path = self.folder.join(name);
                std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
                let root = command::root().canonicalize().expect("the repository is there");
                // The reader has the repository beside the crate.
                let mut text = block.text.replace("\"../warpwright\"", &format!("{:?}", root.display().to_string()));
                if name == "Cargo.toml" {
                    // The reader's crate is in no workspace; the folder it stands in here is in ours, unless CARGO_TARGET_DIR is elsewhere.
                    text.push_str("\n[workspace]\n");
                }
                std::fs::write(path, text).expect("the file can be written");
            }
            ("rs", Some(name)) => {
                let path = self.folder.join(name);
                let rest = block.text.split_once('\n').map_or("", |(_, rest)| rest);
                std::fs::write(&path, with_functions(&load(&path), rest)).expect("the file can be written");
            }
            ("rs", None) => panic!("a part of a file says `// in src/…` first:\n{}", block.text),
            _ => {}
        }
    }

    /// Runs the commands of a console block: the block as it should be.
    fn console(&self, text: &str, differences: &mut String) -> String {
        let mut found = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let line = line.strip_prefix("$ ").unwrap_or_else(|| panic!("no command stands above: {line}"));
            let mut expected = String::new();
            while let Some(below) = lines.next_if(|below| !below.starts_with("$ ")) {
                let _ = writeln!(expected, "{below}");
            }
            let printed = self.run(line);
            let _ = writeln!(found, "$ {line}");
            if matches(&expected, &printed) {
                found.push_str(&expected);
            } else {
                let changes = similar::TextDiff::from_lines(expected.as_str(), printed.as_str());
                let _ = writeln!(differences, "$ {line}\n{}", changes.unified_diff());
                found.push_str(&printed);
            }
        }
        found
    }

    /// What a command prints to a terminal, without the blank lines around it. One that fails says so in its text.
    fn run(&self, line: &str) -> String {
        let mut words = words(line).into_iter();
        let mut command = match words.next().as_deref() {
            Some("warpwright") => Command::new(command::binary()),
            Some("cargo") => command::outside_cargo(env!("CARGO_TARGET_TMPDIR")),
            other => panic!("the book runs `warpwright` and `cargo` only, not {other:?}"),
        };
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        command.args(words).current_dir(&self.folder);
        self.surround(&mut command);
        command.stdout(writer.try_clone().expect("a pipe")).stderr(writer);
        let mut child = command.spawn().expect("the command runs");
        // It holds ends of the pipe.
        drop(command);
        let mut printed = String::new();
        reader.read_to_string(&mut printed).expect("text");
        let status = child.wait().expect("the command ends");
        let refused = line.starts_with("warpwright ") && printed.contains("error");
        assert!(status.success() || refused, "`{line}` gives {status}:\n{printed}");
        let lines = printed.trim_matches('\n').lines().map(|line| match line.split_once("; finished in ") {
            // How long tests took.
            Some((result, _)) => format!("{result}; finished in …s"),
            None => line.trim_end().to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// A terminal of 110 columns without colour, on a machine without GPU, OpenCL and assembler, whose cargo is not asked for what is not there.
    fn surround(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_")) {
            if name != "CARGO_HOME" {
                command.env_remove(name);
            }
        }
        command.env("CARGO_TARGET_DIR", &self.target).env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_COLOR", "never");
        command.env_remove("RUST_BACKTRACE");
        command.env("COLUMNS", "110").env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
        command.env("WARPWRIGHT_PTXAS", "").env("WARPWRIGHT_NVDISASM", "").env_remove("CUDA_HOME").env("CUDA_VISIBLE_DEVICES", "");
        // Where the loader of OpenCL finds no driver.
        command.env("OCL_ICD_VENDORS", "/nowhere");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let without = std::env::split_paths(&path).filter(|folder| !folder.join("ptxas").exists());
        command.env("PATH", std::env::join_paths(without).expect("folders of a path"));
    }
}

/// A line's words as a shell sees them; quotes are `'`.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("there is a word").push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a text is what the page says, where `…` is anything.
fn matches(expected: &str, printed: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = printed.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A file with some functions in the place of those of the same name.
fn with_functions(file: &str, part: &str) -> String {
    let functions = |text: &str| -> Vec<(String, std::ops::Range<usize>)> {
        let items = syn::parse_file(text).unwrap_or_else(|error| panic!("{error}:\n{text}")).items;
        let named = items.iter().filter_map(|item| match item {
            syn::Item::Fn(function) => Some((function.sig.ident.to_string(), lines(text, item))),
            _ => None,
        });
        named.collect()
    };
    let mut result = file.to_owned();
    for (name, new) in functions(part) {
        let text = &part[new];
        match functions(&result).into_iter().find(|(known, _)| *known == name) {
            Some((_, old)) => result.replace_range(old, text),
            None => {
                result.push('\n');
                result.push_str(text);
            }
        }
    }
    result
}

/// The bytes of an item's lines, its attributes and comments among them.
fn lines(text: &str, item: &syn::Item) -> std::ops::Range<usize> {
    use syn::spanned::Spanned;
    let start_of = |line: usize| text.split_inclusive('\n').take(line).map(str::len).sum();
    start_of(item.span().start().line - 1)..start_of(item.span().end().line)
}

#[test]
fn anything_is_three_dots() {
    assert!(matches("a … c\n", "a b c\n") && matches("a\n", "a\n") && matches("a\n…\nd\n", "a\nb\nc\nd\n"));
    assert!(!matches("a … c\n", "a b d\n") && !matches("a\n", "a\nb\n") && !matches("a…b…c", "acb"));
}

#[test]
fn a_function_takes_the_place_of_its_namesake() {
    let file = "use a::b;\n\n/// One.\nfn one() {}\n\nfn two() {}\n";
    assert_eq!(
        with_functions(file, "/// New.\nfn one() {\n    two();\n}\n"),
        "use a::b;\n\n/// New.\nfn one() {\n    two();\n}\n\nfn two() {}\n"
    );
    assert_eq!(with_functions("fn one() {}\n", "fn three() {}\n"), "fn one() {}\n\nfn three() {}\n");
}

/// Times in the book are those of kernels in `kernels/src`: the reader's compile to the same.
#[test]
fn the_readers_kernels_are_those_that_were_timed() {
    let _turn = CRATE.lock().unwrap_or_else(PoisonError::into_inner);
    let reader = Reader::begin();
    for chapter in 0..CHAPTERS.len() - 1 {
        for block in blocks(&load(&page(chapter))) {
            reader.write(&block);
        }
    }
    let library = command::root().canonicalize().expect("the repository is there").join("kernels/src");
    let timed = [
        ("main.rs::saxpy", "-D ILP=1", "saxpy.rs::saxpy_grouped", "-D B=256 -D BATCH=true -D V=1"),
        ("main.rs::saxpy", "-D ILP=4", "saxpy.rs::saxpy_grouped", "-D B=256 -D BATCH=true -D V=1"),
        ("bin/memory.rs::stride_copy", "", "access.rs::stride_copy", ""),
        ("bin/tiles.rs::transpose_direct", "", "transpose.rs::transpose_direct", ""),
        ("bin/tiles.rs::transpose", "-D PAD=0 -D SWIZZLE=false", "transpose.rs::transpose_tiled", ""),
        ("bin/tiles.rs::transpose", "-D PAD=1 -D SWIZZLE=false", "transpose.rs::transpose_tiled", ""),
        ("bin/tiles.rs::transpose", "-D PAD=0 -D SWIZZLE=true", "transpose.rs::transpose_tiled", ""),
        ("bin/copy.rs::copy", "-D B=32 -D ILP=8 -D BATCH=true -D V=1", "copy.rs::copy", "-D T=f64"),
        ("bin/copy.rs::copy", "-D B=1024 -D ILP=4 -D BATCH=true -D V=1", "copy.rs::copy", "-D T=f64"),
        ("bin/copy.rs::copy", "-D B=128 -D ILP=1 -D BATCH=true -D V=2", "copy.rs::copy", "-D T=f64"),
        ("bin/multiply.rs::matmul_tiled", "-D T=16 -D UNROLL=16 -D PREFETCH=true", "matmul.rs::matmul_tiled", ""),
        ("bin/multiply.rs::matmul_tiled", "-D T=8 -D UNROLL=1 -D PREFETCH=false", "matmul.rs::matmul_tiled", ""),
    ];
    for (ours, variant, theirs, more) in timed {
        let (own, other) = (ours.rsplit(':').next().unwrap_or_default(), theirs.rsplit(':').next().unwrap_or_default());
        let ours = reader.run(&format!("warpwright emit src/{ours} {variant} --target sm_90"));
        let theirs = reader.run(&format!("warpwright emit {}/{theirs} {variant} {more} --target sm_90", library.display()));
        assert_eq!(code(&ours), code(&theirs).replace(other, own), "{own} {variant}");
    }
}

/// PTX without places in files.
fn code(ptx: &str) -> String {
    ptx.lines()
        .filter(|line| !line.trim_start().starts_with(".loc") && !line.trim_start().starts_with(".file"))
        .collect::<Vec<_>>()
        .join("\n")
}
