//! What the compiler says of examples, and which of its messages have none: `messages FILE…`, `messages --missing [PREFIX]`.

use std::collections::BTreeSet;
use warpwright_tests::messages::{Site, examples, files, said, sites};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--missing") {
        let prefix = arguments.get(at + 1).map_or("", String::as_str);
        let reached: BTreeSet<Site> = files()
            .iter()
            .flat_map(|file| examples(&std::fs::read_to_string(file).expect("a file of examples")))
            .flat_map(|example| said(&example.text))
            .map(|said| said.site)
            .collect();
        let all = sites();
        let missing: Vec<_> = all.iter().filter(|(site, _)| !reached.contains(site) && site.file.starts_with(prefix)).collect();
        missing.iter().for_each(|(site, line)| println!("{}:{}: {line}", site.file, site.line));
        println!("{} of {} have no example", missing.len(), all.keys().filter(|site| site.file.starts_with(prefix)).count());
        return;
    }
    for file in &arguments {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        for example in examples(&text) {
            println!("---- {}", example.title);
            let all = said(&example.text);
            if all.is_empty() {
                println!("NOTHING");
            }
            for said in all {
                let (site, lint) = (said.site, said.lint.map(|lint| format!("[{lint}]")).unwrap_or_default());
                println!("{}:{}: {:?}{lint}: {} (at `{}`)", site.file, site.line, said.level, said.message, said.at);
                if let Some(help) = said.help {
                    println!("    help: {help}");
                }
            }
        }
    }
}
