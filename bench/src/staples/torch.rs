//! The times of torch, which `bench/torch_staples.py` takes by the same protocol.

use super::Line;
use crate::Outcome;
use crate::report::Spread;
use std::io::Write;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("../../torch_staples.py");

/// Has this Python time torch, and adds what it says to the lines.
pub(super) fn add_to(lines: &mut [Line], python: &str, is_quick: bool) -> Outcome<()> {
    let mut command = Command::new(python);
    command.args(["-", "--csv", "-"]).args(is_quick.then_some("--quick"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`--torch {python}` cannot be run: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(SCRIPT.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("`--torch {python}`: the script ended with {}", output.status).into());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    for (work, size, time) in parse(&said)? {
        lines.iter_mut().filter(|line| line.is(&work, &size)).for_each(|line| line.torch = Some(time));
    }
    Ok(())
}

/// `work,size,unit,us,min_us,max_us,rate`, behind a line of names.
fn parse(text: &str) -> Outcome<Vec<(String, String, Spread)>> {
    let row = |line: &str| {
        let values: Vec<&str> = line.split(',').collect();
        let seconds = |n: usize| values.get(n)?.parse::<f64>().ok().map(|microseconds| microseconds / 1e6);
        let (Some(median), Some(min), Some(max)) = (seconds(3), seconds(4), seconds(5)) else {
            return Err(format!("torch said `{line}`, which is no row of times").into());
        };
        Ok((values[0].to_owned(), values[1].to_owned(), Spread { min, median, max, runs: 20 }))
    };
    text.lines().skip(1).filter(|line| !line.is_empty()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::lines;
    use super::*;

    #[test]
    fn times_go_to_the_lines_that_they_are_of() {
        let found = parse("work,size,unit,us,min_us,max_us,rate\nsum f32,10000,GB/s,12.5,12.0,13.0,3.2\n").expect("rows");
        assert_eq!((found[0].0.as_str(), found[0].1.as_str()), ("sum f32", "10000"));
        assert!((found[0].2.median - 12.5e-6).abs() < 1e-12);
        assert!(parse("work\nsum f32,10000,GB/s,much\n").is_err());
    }

    #[test]
    fn a_python_that_is_not_there_is_said() {
        let error = add_to(&mut lines(), "no-such-python", false).expect_err("none");
        assert!(error.to_string().starts_with("`--torch no-such-python` cannot be run"), "{error}");
    }
}
