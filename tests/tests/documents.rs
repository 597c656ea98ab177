//! The documents that the project is for: what they advise is what the lints say, and `docs/documents` shows what the compiler says today.
//!
//! `WARPWRIGHT_BLESS=1 cargo test -p warpwright-tests --test documents` writes the tables into the pages.

#[path = "documents/advice.rs"]
mod advice;
#[path = "documents/applications.rs"]
mod applications;
#[path = "documents/library.rs"]
mod library;
#[path = "documents/multiplication.rs"]
mod multiplication;
#[path = "documents/tables.rs"]
mod tables;

use advice::ADVICE;
use applications::APPLICATIONS;
use library::Library;
use std::path::PathBuf;
use warpwright_tests::command::root;
use warpwright_tests::marked::{hold, is_blessing};
use warpwright_tests::ptxas;

#[test]
fn every_allowance_is_needed() {
    let allowances = Library::new().allowances();
    let mut strict = Library::without_allowances();
    let mut wrong = Vec::new();
    for (file, kernel, mut allowed) in allowances.iter().cloned() {
        allowed.sort();
        let found = strict.lints_of_all(&file, &kernel);
        if found != allowed {
            wrong.push(format!("{file}::{kernel} allows {allowed:?}, and {found:?} are found"));
        }
    }
    println!("{} kernels allow something", allowances.len());
    assert!(allowances.len() >= 25, "{allowances:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lints_say_what_the_documents_say() {
    let mut strict = Library::without_allowances();
    let forms = APPLICATIONS.iter().flat_map(|application| application.forms.iter().map(move |form| (application, form)));
    let of_applications = forms.clone().map(|(application, form)| (application.name, form.named, form.lints));
    let of_experiments = ADVICE.iter().map(|row| (row.document, row.named, row.lints));
    let mut wrong = Vec::new();
    for (said_by, named, lints) in of_applications.chain(of_experiments) {
        let found = strict.lints(named);
        if found != lints {
            wrong.push(format!("{said_by}: {}::{} {:?} are expected, {found:?} are found", named.file, named.short(), lints));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tuned forms allow nothing, and nothing is found in any of their variants (`command_line::nothing_is_found_in_the_library` looks at those).
#[test]
fn tuned_forms_allow_nothing() {
    let mut library = Library::new();
    let allowances = library.allowances();
    for application in APPLICATIONS {
        let [plain, .., tuned] = application.forms else { panic!("{} has a plain form and a tuned one", application.name) };
        assert_eq!((plain.role, tuned.role), ("plain", "tuned"), "{}", application.name);
        assert_eq!(tuned.lints, [""; 0], "{}", application.name);
        assert!(library.declares(tuned.named), "{:?} is no declared variant", tuned.named);
        let allows = allowances.iter().find(|(file, kernel, _)| (file.as_str(), kernel.as_str()) == (tuned.named.file, tuned.named.kernel));
        assert!(allows.is_none(), "{allows:?}");
    }
}

/// What our tables of 1.0 hold with the document's registers and shared memory, against the threads that it gives.
#[test]
fn as_many_threads_fit_as_the_document_says() {
    let more: Vec<&str> = APPLICATIONS
        .iter()
        .filter(|application| application.threads / 16 > tables::most_threads(application))
        .map(|application| application.name)
        .collect();
    // Their figures do not fit together: 200 × 84.2 bytes are more than 16 KiB, 768 × 11 registers more than 8,192. The page says so.
    assert_eq!(more, ["LBM", "FDTD"]);
}

fn page(name: &str) -> PathBuf {
    root().join("docs/documents").join(name)
}

#[test]
fn the_page_of_the_suite_says_what_the_compiler_says() {
    let mut library = Library::new();
    let mut sections = vec![("suite", tables::suite(&mut library)), ("multiplication", tables::multiplication(&mut library))];
    for application in APPLICATIONS {
        sections.push((application.name, tables::forms(application, &mut library)));
    }
    hold(&page("ryoo.md"), &sections);
    // Where a report names another bottleneck than the document, the page says why.
    let text = std::fs::read_to_string(page("ryoo.md")).expect("the page");
    for application in APPLICATIONS {
        let section = text.split("\n### ").find(|section| section.starts_with(application.name)).expect("a section for each application");
        let is_explained = section.contains("**Another bottleneck.**");
        assert_eq!(is_explained, !tables::is_same(application, &mut library), "{}", application.name);
    }
}

#[test]
fn the_page_of_the_suite_says_what_ptxas_measures() {
    const TEST: &str = "the_page_of_the_suite_says_what_ptxas_measures";
    let page = page("ryoo.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let assemblers = ptxas::all();
    let of_page = |assembler: &&ptxas::Ptxas| text.contains(&format!("Measured by ptxas {} for", assembler.release));
    // Another release gives other registers.
    let found = if is_blessing() { assemblers.iter().max_by_key(|ptxas| ptxas.ptx_version()) } else { assemblers.iter().find(of_page) };
    let Some(assembler) = found else {
        println!("skipped: {TEST} (no ptxas of the page's release)");
        return;
    };
    hold(&page, &[("registers", tables::registers(&mut Library::new(), assembler))]);
    println!(
        "ran: {TEST} ({} texts on ptxas)",
        multiplication::VERSIONS.len() + APPLICATIONS.iter().map(|one| one.forms.len()).sum::<usize>()
    );
}
