//! The stages of a kernel, as types.

use crate::analysis::variant::needs_variant;
use crate::ir::{Asked, Kernel, Stage};
use crate::passes::{self, Timings, UnknownPass};
use crate::schedule::{Form, Refusal, schedule_kernel};
use crate::target::{Requirement, Target};
use crate::verify::{Violation, verify};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A kernel as its source says it: its annotations are still to be kept.
#[derive(Clone, Debug)]
pub struct Built(Kernel);

/// A kernel whose annotations are kept: what back ends are given. The later stages are made when somebody first asks for them.
///
/// Read, it is the form for all machines. Where those with a copy engine have one of their own, [`Scheduled::for_target`] gives that, as [`Legal::for_target`] does.
#[derive(Clone, Debug)]
pub struct Scheduled {
    kernel: Kernel,
    legal: OnceLock<Legal>,
    /// The forms for machines that have more, those that need most first.
    forms: Vec<(Requirement, Arc<Scheduled>)>,
}

/// An optimised kernel of operations that every device has: what the simulator runs, OpenCL C is printed from and analyses look at. Clones share it.
#[derive(Clone, Debug)]
pub struct Legal(Arc<LegalForms>);

#[derive(Debug)]
struct LegalForms {
    kernel: Kernel,
    addressed: OnceLock<Addressed>,
    /// The forms for machines that have more, those that need most first.
    forms: Vec<(Requirement, Legal)>,
}

/// A kernel whose accesses of memory go to addresses: what PTX is printed from, and whose values take registers.
#[derive(Clone, Debug)]
pub struct Addressed(Kernel);

/// What all stages have: read access, and a way in for kernels from elsewhere.
macro_rules! stage {
    ($name:ident, $kernel:ident => $read:expr) => {
        impl Deref for $name {
            type Target = Kernel;
            fn deref(&self) -> &Kernel {
                let $kernel = self;
                $read
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Kernel::fmt(self, f)
            }
        }

        impl $name {
            /// Of a kernel that was made by hand or read from the text form.
            ///
            /// # Errors
            /// What the kernel violates of the invariants of this stage.
            pub fn verified(mut kernel: Kernel) -> Result<$name, Vec<Violation>> {
                kernel.stage = Stage::$name;
                verify(&kernel)?;
                Ok($name::new(kernel))
            }
        }
    };
}

stage!(Built, built => &built.0);
stage!(Scheduled, scheduled => &scheduled.kernel);
stage!(Legal, legal => &legal.0.kernel);
stage!(Addressed, addressed => &addressed.0);

impl Built {
    pub(super) fn new(kernel: Kernel) -> Built {
        Built(kernel)
    }

    /// Keeps every annotation; `statements` tells by location which statement of the source an instruction belongs to. No kernel if a promise cannot be
    /// kept; with `best_effort`, that is a warning.
    pub fn schedule(&self, statements: &[u32]) -> (Option<Scheduled>, Vec<Refusal>) {
        let mut kernel = self.0.clone();
        let (findings, wanted) = schedule_kernel(&mut kernel, statements, Form::PORTABLE);
        if findings.iter().any(|finding| !finding.is_warning) {
            return (None, findings);
        }
        let made = Form::several(&wanted).into_iter().filter_map(|form| {
            let mut kernel = self.0.clone();
            // What is to be said was said of the first form. Where another one is refused, since it is larger, the first is for these machines, too.
            let (findings, _) = schedule_kernel(&mut kernel, statements, form);
            findings.iter().all(|finding| finding.is_warning).then(|| (form.needs(), Arc::new(Scheduled::new(kernel))))
        });
        let forms = made.collect();
        (Some(Scheduled { forms, ..Scheduled::new(kernel) }), findings)
    }

    /// The kernel with those of its annotations that are wanted.
    #[must_use]
    pub fn annotated(&self, wanted: impl Fn(&Asked) -> bool) -> Built {
        let mut kernel = self.0.clone();
        kernel.annotations.retain(|_, annotations| {
            *annotations = annotations.filter(&wanted);
            !annotations.is_empty()
        });
        Built(kernel)
    }
}

impl Scheduled {
    fn new(kernel: Kernel) -> Scheduled {
        Scheduled { kernel, legal: OnceLock::new(), forms: Vec::new() }
    }

    /// The form for a target.
    pub fn for_target(&self, target: &Target) -> &Scheduled {
        self.forms.iter().find(|(needs, _)| needs.is_met_by(target)).map_or(self, |(_, form)| form)
    }

    /// What the kernel is compiled for on a device whose best target is this one: a variant of it (`sm_90a`) where the kernel's form for that has
    /// instructions that the target itself has not, else the target.
    pub fn target_on(&self, device: &'static Target) -> &'static Target {
        self.legal().target_on(device)
    }

    /// The forms for machines that have more than all, a copy engine or tensor cores: those that need most first.
    pub fn forms(&self) -> impl Iterator<Item = &Scheduled> {
        self.forms.iter().map(|(_, form)| &**form)
    }

    /// The kernel without what is known or unused: for people to read.
    pub fn tidied(&self) -> Kernel {
        let mut kernel = self.kernel.clone();
        passes::run(&mut kernel, passes::TIDY, None);
        kernel
    }

    /// The kernel, optimised.
    pub fn legal(&self) -> &Legal {
        self.optimized(None)
    }

    /// Makes the stages up to this one, and notes what each pass takes that runs for it.
    pub fn make(&self, stage: Stage, timings: &mut Timings) {
        if stage >= Stage::Legal {
            let legal = self.optimized(Some(timings));
            if stage == Stage::Addressed {
                legal.with_addresses(Some(timings));
            }
        }
    }

    fn optimized(&self, timings: Option<&mut Timings>) -> &Legal {
        self.legal.get_or_init(|| {
            let mut kernel = self.kernel.clone();
            passes::run(&mut kernel, passes::OPTIMIZE, timings);
            kernel.stage = Stage::Legal;
            let forms = self.forms.iter().map(|(needs, form)| (*needs, form.legal().clone())).collect();
            Legal(Arc::new(LegalForms { kernel, addressed: OnceLock::new(), forms }))
        })
    }

    /// The kernel behind a pass on its way to [`Addressed`]; `cse.2` is the second run of `cse`. What each pass takes is noted.
    ///
    /// # Errors
    /// No pass is called so.
    pub fn after(&self, pass: &str, timings: &mut Timings) -> Result<Kernel, UnknownPass> {
        let (optimize, address) = passes::up_to(pass)?;
        let mut kernel = self.kernel.clone();
        passes::run(&mut kernel, optimize, Some(timings));
        if !address.is_empty() {
            kernel.stage = Stage::Legal;
            passes::meet(&mut kernel);
            passes::run(&mut kernel, address, Some(timings));
        }
        Ok(kernel)
    }
}

impl Legal {
    fn new(kernel: Kernel) -> Legal {
        Legal(Arc::new(LegalForms { kernel, addressed: OnceLock::new(), forms: Vec::new() }))
    }

    /// The form for a target.
    pub fn for_target(&self, target: &Target) -> &Legal {
        self.0.forms.iter().find(|(needs, _)| needs.is_met_by(target)).map_or(self, |(_, form)| form)
    }

    /// As [`Scheduled::target_on`].
    pub fn target_on(&self, device: &'static Target) -> &'static Target {
        device.variants().find(|variant| needs_variant(self.for_target(variant), variant)).unwrap_or(device)
    }

    /// The form that runs on a device whose best target is this one.
    pub fn on_device(&self, device: &'static Target) -> &Legal {
        self.for_target(self.target_on(device))
    }

    /// The forms for machines that have more than all, a copy engine or tensor cores: those that need most first.
    pub fn forms(&self) -> impl Iterator<Item = &Legal> {
        self.0.forms.iter().map(|(_, form)| form)
    }

    /// The kernel with addresses.
    pub fn addressed(&self) -> &Addressed {
        self.with_addresses(None)
    }

    fn with_addresses(&self, timings: Option<&mut Timings>) -> &Addressed {
        self.0.addressed.get_or_init(|| {
            let mut kernel = self.0.kernel.clone();
            passes::meet(&mut kernel);
            passes::run(&mut kernel, passes::ADDRESS, timings);
            Addressed::new(kernel)
        })
    }
}

impl Addressed {
    fn new(kernel: Kernel) -> Addressed {
        Addressed(kernel)
    }
}
