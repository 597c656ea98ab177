//! The README's first command does what is said of it.

use warpwright_tests::command::{Folder, root};

#[test]
fn the_first_command_compares_the_copies_and_writes_the_page() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let (_, commands) = readme.split_once("```sh\n").expect("commands");
    let command = commands.lines().next().expect("a command").split('#').next().expect("it").trim();
    let arguments = command.strip_prefix("cargo run --features cli -- ").unwrap_or_else(|| panic!("`{command}` runs the command"));
    let folder = Folder::new("readme", &[]);
    std::fs::create_dir_all(folder.0.join("kernels/src")).expect("a folder");
    std::fs::copy(root().join("kernels/src/copy.rs"), folder.0.join("kernels/src/copy.rs")).expect("the kernel");
    let run = folder.run(&arguments.split(' ').collect::<Vec<_>>());
    run.prints("\n   1024    8   true  2  ");
    let page = std::fs::read_to_string(folder.0.join("copy.html")).expect("the page");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"), "{}", &page[..80.min(page.len())]);
    assert!(page.contains("36 variants"));
}
