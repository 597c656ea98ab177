//! What the command is like in a terminal, a pipe and a script: widths, colour, help, completions, exit codes.

use std::io::Write;
use std::process::{Command, Stdio};
use warpwright_tests::command::{Folder, root};

const KERNELS: &[u8] = b"use warpwright::prelude::*;
#[kernel(block = B, variants(B in [64, 128]))]
pub fn copy<const B: usize>(out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}
";
const BAD: &[u8] = b"#[kernel] fn k(y: &mut Global<f32>) { y[0] = z; }";
const SUBCOMMANDS: [&str; 9] = ["emit", "check", "compare", "occupancy", "devices", "explain", "simulate", "tune", "completions"];

/// A file of `kernels`.
fn kernels(name: &str) -> String {
    root().join("kernels/src").join(name).to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn tables_fit_the_terminal_and_say_what_they_leave_out() {
    let folder = Folder::new("terminal-width", &[]);
    let (copy, matmul, transpose) = (kernels("copy.rs"), kernels("matmul.rs"), kernels("transpose.rs"));
    let launch = ["--grid", "2x2", "--args", "width=64", "height=64", "inp=random(4096)", "out=zeros(4096)"];
    let transposed = format!("{transpose}::transpose_tiled");
    let simulate = [&["simulate", &transposed] as &[&str], &launch].concat();
    for columns in [80, 120, 200] {
        for arguments in [
            &["compare", &copy, "--targets", "sm_80,sm_89,sm_90"] as &[&str],
            &["compare", &matmul, "--targets", "sm_90"],
            &["check", &copy, "--targets", "sm_90"],
            &["occupancy", &transpose, "--plot", "--targets", "sm_90"],
            &["tune", &copy, "--predict"],
            &simulate,
        ] {
            let run = folder.run_with(&[("COLUMNS", &columns.to_string())], arguments);
            assert_eq!(run.code, Some(0), "{}", run.err);
            // Paths are as long as they are.
            let lines = run.out.lines().filter(|line| !line.contains(".rs"));
            let long: Vec<&str> = lines.filter(|line| line.chars().count() > columns).collect();
            assert!(long.is_empty(), "{arguments:?} at {columns}: {long:#?}");
        }
    }
    let narrow = folder.run_with(&[("COLUMNS", "80")], &["compare", &copy, "--targets", "sm_90"]);
    assert!(narrow.out.contains("left out at 80 columns: ") && narrow.out.contains("a pipe has them"), "{}", narrow.out);
    for heading in ["B", "ILP", "BATCH", "V", "registers", "occupancy", "predicted", "bound"] {
        assert!(narrow.out.lines().nth(1).is_some_and(|line| line.split_whitespace().any(|word| word == heading)), "{}", narrow.out);
    }
}

#[test]
fn pipes_have_every_column_and_no_decoration() {
    let folder = Folder::new("terminal-pipe", &[]);
    let run = folder.run(&["compare", &kernels("copy.rs"), "--targets", "sm_90"]);
    assert!(!run.out.contains("left out") && !run.out.contains(['\u{1b}', '─', '│', '\t']), "{}", run.out);
    // `awk -F '  +'`: as many fields in each of the 36 rows.
    let rows = run.out.lines().filter(|line| line.contains("GB/s"));
    let fields: Vec<usize> = rows.map(|line| line.split("  ").filter(|field| !field.trim_matches([' ', '◆']).is_empty()).count()).collect();
    assert_eq!((fields.len(), fields.iter().all(|count| *count == fields[0])), (36, true), "{fields:?}\n{}", run.out);
}

#[test]
fn colour_is_decided_in_one_place() {
    let folder = Folder::new("terminal-colour", &[("k.rs", KERNELS), ("bad.rs", BAD)]);
    let escapes = |variables: &[(&str, &str)], arguments: &[&str]| {
        let run = folder.run_with(variables, arguments);
        (run.out.contains('\u{1b}'), run.err.contains('\u{1b}'))
    };
    // On standard output, and on standard error.
    let coloured: [(&[&str], (bool, bool)); 6] = [
        (&["compare", "k.rs"], (true, false)),
        (&["simulate", "k.rs", "-D", "B=64", "--cover", "64"], (true, false)),
        (&["--help"], (true, false)),
        (&["compare"], (false, true)),
        (&["check", "bad.rs"], (false, true)),
        (&["compare", "k.rs::cpy"], (false, true)),
    ];
    for (arguments, where_) in coloured {
        assert_eq!(escapes(&[], arguments), (false, false), "{arguments:?} in a pipe");
        assert_eq!(escapes(&[("CLICOLOR_FORCE", "1")], arguments), where_, "{arguments:?} with CLICOLOR_FORCE");
        assert_eq!(escapes(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], arguments), (false, false), "{arguments:?} with NO_COLOR");
    }
    // What programs read is never coloured.
    assert_eq!(escapes(&[("CLICOLOR_FORCE", "1")], &["compare", "k.rs", "--json"]), (false, false));
    assert_eq!(escapes(&[("CLICOLOR_FORCE", "1")], &["emit", "k.rs", "-D", "B=64"]), (false, false));
}

/// What a command prints in a terminal of 100 columns as util-linux's `script` makes one; `None` where there is none.
fn in_terminal(folder: &Folder, arguments: &str, variables: &[(&str, &str)]) -> Option<String> {
    let command = format!("stty rows 24 cols 100 < /dev/tty; '{}' {arguments}", warpwright_tests::command::binary().display());
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(&folder.0).stdin(Stdio::null()).stderr(Stdio::null());
    for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        script.env_remove(variable);
    }
    script.env("TERM", "xterm").env("SHELL", "/bin/sh").envs(variables.iter().copied());
    let output = script.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn a_real_terminal() {
    let folder = Folder::new("terminal-real", &[]);
    let command = format!("compare '{}' --targets sm_90", kernels("copy.rs"));
    let run = |variables: &[(&str, &str)]| in_terminal(&folder, &command, variables);
    let Some(text) = run(&[]) else {
        println!("skipped: a_real_terminal (no script)");
        return;
    };
    assert!(text.contains("left out at 100 columns") && text.contains("\u{1b}["), "{text}");
    assert!(!text.contains(" left: "), "nothing was simulated or timed: {text}");
    for variables in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")] {
        let text = run(&[variables]).expect("it ran before");
        assert!(text.contains("left out at 100 columns") && !text.contains('\u{1b}'), "{variables:?}: {text}");
    }
}

/// What takes a while says on a terminal how far it is; a pipe has nothing of it, and neither has what is done at once.
#[test]
fn progress_is_for_terminals() {
    let folder = Folder::new("terminal-progress", &[("k.rs", KERNELS)]);
    let compare = |elements: usize| format!("compare k.rs --targets sm_90 --set B=32,64,96,128 --cover {elements} --simulate");
    let Some(text) = in_terminal(&folder, &compare(64), &[]) else {
        println!("skipped: progress_is_for_terminals (no script)");
        return;
    };
    assert!(text.contains("k.rs::copy for sm_90") && !text.contains("simulated, "), "64 elements take no second: {text}");
    // As long as this machine needs two seconds for: the bar comes after one.
    let mut elements = 1 << 18;
    loop {
        let began = std::time::Instant::now();
        let run = folder.run(&compare(elements).split(' ').collect::<Vec<_>>());
        run.prints("k.rs::copy for sm_90");
        if began.elapsed().as_secs_f64() > 2.0 {
            break;
        }
        elements *= 2;
    }
    let text = in_terminal(&folder, &compare(elements), &[]).expect("it ran before");
    assert!(text.contains("/4 simulated, ") && text.contains(" left: B = "), "{text}");
    let dumb = in_terminal(&folder, &compare(elements), &[("TERM", "dumb")]).expect("it ran before");
    assert!(!dumb.contains(" left: "), "{dumb}");
}

#[test]
fn every_subcommand_has_examples_and_options_in_one_order() {
    let folder = Folder::new("terminal-help", &[]);
    let order = ["Usage:", "Arguments:", "Options:", "Variants:", "Launch:", "Output:", "Examples:"];
    for subcommand in SUBCOMMANDS {
        let help = folder.run(&[subcommand, "--help"]);
        help.prints(&format!("\nExamples:\n  warpwright {subcommand}"));
        let found: Vec<usize> = order.iter().filter_map(|heading| help.out.find(&format!("\n{heading}"))).collect();
        assert!(found.is_sorted(), "{}", help.out);
        folder.run(&["--help"]).prints(&format!("\n  {subcommand} "));
    }
}

#[test]
fn shells_complete_the_command() {
    let folder = Folder::new("terminal-completions", &[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""));
        for subcommand in SUBCOMMANDS {
            assert!(script.out.contains(subcommand), "{shell}: {subcommand}");
        }
    }
    let script = folder.run(&["completions", "bash"]).out;
    let ask = format!(
        "{script}\nCOMP_WORDS=(warpwright com); COMP_CWORD=1; _warpwright warpwright com warpwright; echo \"${{COMPREPLY[@]}}\"\n\
         COMP_WORDS=(warpwright tune --s); COMP_CWORD=2; _warpwright warpwright --s tune; echo \"${{COMPREPLY[@]}}\"\n"
    );
    let bash = |arguments: &[&str], input: &str| {
        let mut shell = Command::new("bash").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        shell.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("bash reads");
        let output = shell.wait_with_output().expect("bash ends");
        Some((output.status.success(), String::from_utf8(output.stdout).expect("text")))
    };
    let Some((is_fine, _)) = bash(&["-n"], &script) else {
        println!("skipped: shells_complete_the_command (no bash)");
        return;
    };
    assert!(is_fine, "{script}");
    let (_, offered) = bash(&["--norc"], &ask).expect("it ran before");
    let offered: Vec<&str> = offered.lines().collect();
    assert_eq!(offered.first(), Some(&"compare completions"), "{offered:?}");
    assert!(offered[1].split(' ').any(|word| word == "--share") && offered[1].split(' ').any(|word| word == "--set"), "{offered:?}");
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_readers_that_go_away_are_none() {
    let folder = Folder::new("terminal-full", &[("k.rs", KERNELS)]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").ok();
    if full.is_none() {
        println!("skipped: output that cannot be written (no /dev/full)");
    }
    let lines = [
        "compare k.rs",
        "compare k.rs --json",
        "check k.rs",
        "simulate k.rs -D B=64 --cover 64",
        "tune k.rs --predict",
        "--help",
        "completions zsh",
    ];
    for line in lines {
        let command = || {
            let mut command = Command::new(warpwright_tests::command::binary());
            command.args(line.split(' ')).current_dir(&folder.0).stderr(Stdio::piped());
            command
        };
        if let Some(full) = &full {
            let output = command().stdout(full.try_clone().expect("a handle")).output().expect("it runs");
            let said = String::from_utf8(output.stderr).expect("text");
            assert_eq!(
                (output.status.code(), said.starts_with("error: the output cannot be written: ")),
                (Some(2), true),
                "{line}: {said}"
            );
        }
        let mut child = command().stdout(Stdio::piped()).spawn().expect("it runs");
        drop(child.stdout.take());
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{line}");
    }
}

#[test]
fn exit_codes() {
    let folder = Folder::new("terminal-codes", &[("k.rs", KERNELS), ("bad.rs", BAD)]);
    // Fine; findings; usage or input. What reads no source has no findings.
    let codes: [(&str, Option<&str>, &str); 9] = [
        ("emit k.rs", Some("emit bad.rs"), "emit k.rs::cpy"),
        ("check k.rs", Some("check bad.rs"), "check missing.rs"),
        ("compare k.rs", Some("compare bad.rs"), "compare k.rs --set X=1"),
        ("occupancy k.rs", Some("occupancy bad.rs"), "occupancy --cc 9.0 --threads 0 --registers 1"),
        ("simulate k.rs --cover 64", Some("simulate k.rs --cover 64 --args inp=zeros(8)"), "simulate k.rs"),
        ("tune k.rs --predict", Some("tune bad.rs"), "tune k.rs --target sm_1"),
        ("explain unchecked", None, "explain unchekced"),
        ("devices", None, "devices --all"),
        ("completions fish", None, "completions"),
    ];
    for (fine, findings, usage) in codes {
        let run = |line: &str| folder.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(run(fine).code, Some(0), "{fine}");
        if let Some(line) = findings {
            run(line).refuses(1, &["error: "]);
        }
        run(usage).refuses(2, &["error: "]);
    }
}
