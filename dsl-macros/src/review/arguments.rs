//! What the compiler's command line tells: where the crate begins, what it is called, and where the compiler keeps what it knows between builds.

use std::ffi::OsString;
use std::path::PathBuf;

/// Flags of `rustc` whose value is an argument of its own.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-L",
    "-l",
    "-C",
    "-A",
    "-W",
    "-D",
    "-F",
    "-Z",
    "--allow",
    "--warn",
    "--deny",
    "--forbid",
    "--cap-lints",
    "--cfg",
    "--check-cfg",
    "--codegen",
    "--crate-name",
    "--crate-type",
    "--edition",
    "--emit",
    "--extern",
    "--out-dir",
    "--print",
    "--remap-path-prefix",
    "--sysroot",
    "--target",
];

#[derive(Debug, Default, PartialEq)]
pub(super) struct Arguments {
    /// The file that the crate begins with: the only one among the arguments. That a module is in it is seen from the files; so what this gets
    /// wrong makes names unknown, and none wrong.
    pub(super) root: Option<PathBuf>,
    pub(super) crate_name: Option<String>,
    /// The folder of incremental compilation; `None`: there is none.
    pub(super) incremental: Option<PathBuf>,
}

impl Arguments {
    /// Those of this process.
    pub(super) fn of_process() -> Arguments {
        Arguments::of(std::env::args_os().skip(1))
    }

    fn of(arguments: impl Iterator<Item = OsString>) -> Arguments {
        let mut found = Arguments::default();
        let mut roots = Vec::new();
        let mut flag: Option<String> = None;
        for argument in arguments {
            if let Some(flag) = flag.take() {
                found.note(&flag, argument);
                continue;
            }
            let Some(text) = argument.to_str() else {
                roots.push(PathBuf::from(argument));
                continue;
            };
            if WITH_VALUE.contains(&text) {
                flag = Some(text.to_owned());
            } else if let Some(value) = text.strip_prefix("-C") {
                found.note("-C", value.into());
            } else if let Some((flag, value)) = text.split_once('=').filter(|_| text.starts_with("--")) {
                found.note(flag, value.into());
            } else if !text.starts_with('-') {
                roots.push(PathBuf::from(argument));
            }
        }
        roots.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
        found.root = roots.pop().filter(|_| roots.is_empty());
        found
    }

    /// One flag with its value; of several the last counts, as for `rustc`.
    fn note(&mut self, flag: &str, value: OsString) {
        let Ok(value) = value.into_string() else { return };
        match flag {
            "--crate-name" => self.crate_name = Some(value),
            "-C" | "--codegen" => {
                if let Some(folder) = value.strip_prefix("incremental=") {
                    self.incremental = Some(PathBuf::from(folder));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Arguments {
        Arguments::of(text.split(' ').map(OsString::from))
    }

    #[test]
    fn the_root_is_the_one_file_among_the_arguments() {
        let root = |text: &str| of(text).root.map(|path| path.display().to_string());
        assert_eq!(root("--crate-name a --edition=2024 src/lib.rs --emit=metadata --test").as_deref(), Some("src/lib.rs"));
        assert_eq!(root("rustc --crate-name a -o b.rs tests/a.rs --extern c=libc.rlib").as_deref(), Some("tests/a.rs"));
        for none in ["", "--crate-name a", "a.rs b.rs", "- --cfg x.rs"] {
            assert_eq!(root(none), None, "{none}");
        }
    }

    #[test]
    fn incremental_compilation_is_asked_for_in_four_ways() {
        for text in ["-C incremental=/t/i", "-Cincremental=/t/i", "--codegen incremental=/t/i", "--codegen=incremental=/t/i"] {
            let found = of(&format!("--crate-name own src/lib.rs -C debuginfo=2 {text} -C metadata=3"));
            assert_eq!((found.crate_name.as_deref(), found.incremental), (Some("own"), Some(PathBuf::from("/t/i"))), "{text}");
        }
        assert_eq!(of("--crate-name=own -C incremental=a -C incremental=b").incremental, Some(PathBuf::from("b")));
        for none in ["--crate-name a src/lib.rs", "-C debuginfo=2", "--cfg incremental=x", "--crate-name incremental=x", "-C"] {
            assert_eq!(of(none).incremental, None, "{none}");
        }
    }
}
