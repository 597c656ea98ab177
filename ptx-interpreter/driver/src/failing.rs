//! Functions that fail because a test says so: `PTX_INTERPRETER_FAILS=cuInit=100,clBuildProgram=-11` names each with the code that all its calls give, or with `hang` if they never return.

use std::sync::LazyLock;

/// What a function that is named does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Gives(i32),
    Hangs,
}

static ALL: LazyLock<Vec<(String, Told)>> = LazyLock::new(|| read(&std::env::var("PTX_INTERPRETER_FAILS").unwrap_or_default()));

/// What is no function with a code is left out.
fn read(text: &str) -> Vec<(String, Told)> {
    let one = |part: &str| {
        let (name, told) = part.split_once('=')?;
        let told = if told == "hang" { Told::Hangs } else { Told::Gives(told.parse().ok()?) };
        Some((name.to_owned(), told))
    };
    text.split(',').filter_map(one).collect()
}

/// The code that a function is to give, if a test names it. Does not return from one that is to hang.
pub(crate) fn told(name: &str) -> Option<i32> {
    match ALL.iter().find(|(known, _)| known == name)?.1 {
        Told::Gives(code) => Some(code),
        Told::Hangs => loop {
            std::thread::park();
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_are_read() {
        let found = read("cuInit=100,clBuildProgram=-11,ncclCommInitRank=hang,nothing,cuInit=many");
        let known = [("cuInit", Told::Gives(100)), ("clBuildProgram", Told::Gives(-11)), ("ncclCommInitRank", Told::Hangs)];
        assert_eq!(found, known.map(|(name, told)| (name.to_owned(), told)));
        assert!(read("").is_empty() && told("cuInit").is_none());
    }
}
