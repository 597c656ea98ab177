//! The documents that the project is for: what they advise is what the lints say, and `docs/documents` shows what the compiler says today.
//!
//! `WARPWRIGHT_BLESS=1 cargo test -p warpwright-tests --test documents` writes the tables into the pages.

#[path = "documents/advice.rs"]
mod advice;
#[path = "documents/applications.rs"]
mod applications;
#[path = "documents/computers.rs"]
mod computers;
#[path = "documents/figures.rs"]
mod figures;
#[path = "documents/fortran.rs"]
mod fortran;
#[path = "documents/guide.rs"]
mod guide;
#[path = "documents/lecture.rs"]
mod lecture;
#[path = "documents/library.rs"]
mod library;
#[path = "documents/multiplication.rs"]
mod multiplication;
#[path = "documents/ryoo.rs"]
mod ryoo;

use advice::ADVICE;
use applications::APPLICATIONS;
use library::Library;
use std::path::PathBuf;
use warpwright_tests::command::root;
use warpwright_tests::marked::{hold, is_blessing};
use warpwright_tests::ptxas::{self, Ptxas};

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
        // But what its larger groups cost, which its variants are there to show.
        assert!(allows.is_none_or(|(.., lints)| *lints == ["costly_batch"]), "{allows:?}");
    }
}

/// What our tables of 1.0 hold with the document's registers and shared memory, against the threads that it gives.
#[test]
fn as_many_threads_fit_as_the_document_says() {
    let more: Vec<&str> = APPLICATIONS
        .iter()
        .filter(|application| application.threads / 16 > ryoo::most_threads(application))
        .map(|application| application.name)
        .collect();
    // Their figures do not fit together: 200 × 84.2 bytes are more than 16 KiB, 768 × 11 registers more than 8,192. The page says so.
    assert_eq!(more, ["LBM", "FDTD"]);
}

/// A page of `docs/documents`.
struct Page {
    name: &'static str,
    /// The tables that the compiler computes.
    sections: fn(&mut Library) -> Vec<(&'static str, String)>,
    /// The one of registers that an assembler measures, if there is one; it names the release.
    measured: Option<fn(&mut Library, &Ptxas) -> String>,
}

const PAGES: &[Page] = &[
    Page { name: "ryoo.md", sections: ryoo::sections, measured: Some(ryoo::registers) },
    Page { name: "fortran.md", sections: fortran::sections, measured: Some(fortran::registers) },
    Page { name: "parallel-computers.md", sections: computers::sections, measured: Some(computers::registers) },
    Page { name: "best-practices.md", sections: guide::sections, measured: None },
    Page { name: "lecture.md", sections: lecture::sections, measured: Some(lecture::registers) },
];

impl Page {
    fn path(&self) -> PathBuf {
        root().join("docs/documents").join(self.name)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

#[test]
fn the_pages_say_what_the_compiler_and_ptxas_say() {
    const TEST: &str = "the_pages_say_what_the_compiler_and_ptxas_say";
    let assemblers = ptxas::all();
    let (mut library, mut held) = (Library::new(), 0);
    for page in PAGES {
        let mut sections = (page.sections)(&mut library);
        if let Some(measured) = page.measured {
            let text = page.text();
            // Another release gives other registers.
            let is_of_page = |assembler: &&Ptxas| text.contains(&figures::release(assembler));
            let newest = || assemblers.iter().max_by_key(|ptxas| ptxas.ptx_version().unwrap_or(u16::MAX));
            match if is_blessing() { newest() } else { assemblers.iter().find(is_of_page) } {
                Some(assembler) => {
                    sections.push(("registers", measured(&mut library, assembler)));
                    held += 1;
                }
                None => println!("skipped: {TEST}, registers of {} (no ptxas of the page's release)", page.name),
            }
        }
        hold(&page.path(), &sections);
    }
    println!("ran: {TEST} ({held} tables on ptxas)");
}

#[test]
fn another_bottleneck_than_the_document_names_is_explained() {
    let mut library = Library::new();
    let text = PAGES[0].text();
    for application in APPLICATIONS {
        let section = text.split("\n### ").find(|section| section.starts_with(application.name)).expect("a section for each application");
        let is_explained = section.contains("**Another bottleneck.**");
        assert_eq!(is_explained, !ryoo::is_same(application, &mut library), "{}", application.name);
    }
}

/// What a page leads to is there: other pages, lints' pages, sources.
#[test]
fn the_pages_lead_somewhere() {
    let folder = root().join("docs/documents");
    let mut count = 0;
    for name in PAGES.iter().map(|page| page.name).chain(["README.md"]) {
        let text = std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()).filter(|target| !target.is_empty());
        let sources = text.split('`').skip(1).step_by(2).filter(|code| code.contains('/') && !code.contains(' '));
        for path in targets.map(|target| folder.join(target)).chain(sources.map(|source| root().join(source))) {
            assert!(path.exists(), "{name} names {}, which is not there", path.display());
            count += 1;
        }
    }
    assert!(count > 40, "{count} places");
}
