//! PTX.
//!
//! An `Addressed` kernel becomes instructions (`code`) in one walk; `fuse` looks ahead for what is made as part of its users, `control` turns regions into
//! labels, `template` reads what the table of intrinsics says, `module` makes what stands around. `print` prints them, estimates count them. Values are virtual registers, one each; a loop's carried values are moved into the registers of its
//! parameters, all at once. Constants stand in place. `predicate` prints guarded accesses without jumps.
//!
//! **Traps of PTX**, and where they are kept:
//!
//! * `mul.f32` and `add.f32` without `.rn` may be contracted by ptxas to an `fma` that the kernel did not ask for: everything says `.rn`
//!   (`arithmetic`).
//! * Shift counts are clamped to the width, not taken modulo it (`arithmetic`). `shf.wrap` is the exception.
//! * There are no 8-bit registers: `i8` and `u8` live in 16 bits, extended by their sign, and are brought back to that after what may
//!   carry out (`Emitter::normalize`). `ld.s8`, `ld.u8` extend by themselves.
//! * A `bool` is a predicate in a register and a byte in memory. Predicates cannot be loaded, stored, selected or compared: `setp` and
//!   `selp` go between, logic makes up the rest.
//! * 16-bit float literals do not exist: constants of them are moved by their bits. `f16` arithmetic begins with sm_53, `bf16` conversion
//!   with sm_80; before, `f32` and integer code do it. Sums, products and quotients rounded from `f32` are those of the short type.
//! * `setp.ne` of floats is false with a NaN; Rust's `!=` is `setp.neu` (`arithmetic`).
//! * Float to integer saturates; of a NaN, 64-bit forms and those from `f64` have given other values than 0 on hardware (`casts`).
//! * `%warpid` is where a warp runs, not which one of the block it is (`instruction`).
//! * `bar.sync` and `.sync` shuffles wait for threads that have not exited; an early `ret` is safe, a divergent one deadlocks.
//! * Shared, constant, local and parameter addresses fit 32 bits, and `ld`, `st`, `atom` take them so. Global ones are 64 bits; parameters
//!   hold generic addresses, which `cvta.to.global` makes global.
//! * `red` has no exchange or compare-and-swap; float minima, 8- and 16-bit atomics and `f64` sums before sm_60 do not exist (`atomics`).
//! * Labels are local to `{ }`: templates with labels bring their own scope. Names of `%` registers never meet symbols; of other
//!   names only `WARP_SZ` is taken.
//! * `.pragma "nounroll"` belongs directly behind the label at the loop's top.
//! * `.loc` needs no debug sections: `ptxas -lineinfo` and `nvdisasm -g` are content with `.file` at the end.

mod arithmetic;
mod atomics;
mod cache;
mod casts;
pub mod code;
mod control;
mod copies;
mod early;
mod emitter;
mod engine;
mod first_product;
mod fuse;
mod halves;
mod instruction;
mod joined;
mod memory;
mod messages;
mod module;
mod negation;
mod predicate;
mod print;
mod product_registers;
mod region;
mod remainder;
mod roles;
mod room;
mod template;
mod tensor;
mod texture;
mod truths;
mod types;
mod warpgroup;
pub mod words;

use super::{Backend, Emitted, Language, Line};
pub use crate::analysis::moved_registers::MovedRegisters;
use crate::collections::HashSet;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::hir::Lowered;
use crate::ir::{Kernel, Loc, Stage};
use crate::passes;
use crate::pipeline::{Addressed, Scheduled};
use crate::target::{TARGETS, Target, Targets};
use code::{Entry, Module, Statement};
use emitter::Emitter;
use messages::{ASSERTFAIL, VPRINTF};
use proc_macro2::Span;
pub use room::{RegisterBound, register_bound};

static LANGUAGE: Language = Language {
    name: "ptx",
    title: "PTX",
    purpose: "For NVIDIA's driver and `ptxas`",
    stage: Stage::Addressed,
    is_per_target: true,
    is_for_devices: true,
    family: None,
};

/// The back end. For any device, the text is that of the oldest target, which all later devices take.
pub struct Ptx;

impl Backend for Ptx {
    fn language(&self) -> &'static Language {
        &LANGUAGE
    }

    fn emit(&self, kernel: &Scheduled, target: Option<&Target>, span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
        {
            let target = target.unwrap_or(&TARGETS[0]);
            emit_ptx(kernel.legal().for_target(target).addressed(), target, span)
        }
    }

    /// Of what several targets refuse, the first one's words.
    fn refusals(&self, kernel: &Scheduled, targets: &Targets, span: &dyn Fn(Loc) -> Span) -> Diagnostics {
        let (mut found, mut places) = (Diagnostics::new(), HashSet::default());
        // A device may take the text for a variant of its target.
        let variants = targets.gpus.iter().map(|target| kernel.target_on(target)).filter(|variant| !targets.gpus.contains(variant));
        for target in targets.gpus.iter().copied().chain(variants) {
            let refused = module(kernel.legal().for_target(target).addressed(), target, span).err().unwrap_or_default();
            let new: Vec<Diagnostic> = refused.into_iter().filter(|refusal| !places.contains(&refusal.place())).collect();
            places.extend(new.iter().map(Diagnostic::place));
            found.extend(new);
        }
        found
    }

    fn lines(&self, kernel: &Scheduled, target: Option<&Target>) -> Result<Vec<Line>, Diagnostics> {
        let target = target.unwrap_or(&TARGETS[0]);
        Ok(module(kernel.legal().for_target(target).addressed(), target, &|_| Span::call_site())?.lines())
    }
}

impl Lowered<Scheduled> {
    /// The PTX as data.
    ///
    /// # Errors
    /// As [`Backend::emit`].
    pub fn ptx(&self, target: &Target) -> Result<Module, Diagnostics> {
        module(self.kernel.legal().for_target(target).addressed(), target, &|loc| self.span(loc))
    }
}

/// The instructions of an `Addressed` kernel in the order in which `target`'s assembler is given them, whether or not it can have them all:
/// what estimates are made of.
pub fn body(kernel: &Kernel, target: &Target) -> Vec<Statement> {
    let placed = passes::place_on(kernel, target);
    let kernel = placed.as_ref().unwrap_or(kernel);
    let mut emitter = Emitter::new(kernel, target, module::entry_name(&kernel.name), &|_| Span::call_site());
    emitter.fuse();
    emitter.body();
    emitter.code
}

/// Prints an `Addressed` kernel for `target`, in the lowest PTX version that has what it uses. `span` gives the source span behind a
/// location, for refusals: intrinsics without a form for the target, memory beyond its limits.
pub fn emit_ptx(kernel: &Addressed, target: &Target, span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
    let module = module(kernel, target, span)?;
    let text = module.to_string();
    let Module { entry: Entry { name: entry, .. }, abi, shared_bytes, asks_for_shared, overlaps, has_producer, cluster, .. } = module;
    Ok(Emitted { text, entry, abi, shared_bytes, asks_for_shared, overlaps, has_producer, cluster, ..Emitted::default() })
}

/// The same as data: what [`emit_ptx`] prints.
pub fn module(kernel: &Addressed, target: &Target, span: &dyn Fn(Loc) -> Span) -> Result<Module, Diagnostics> {
    let placed = passes::place_on(kernel, target);
    let kernel = placed.as_ref().unwrap_or(kernel);
    let name = module::entry_name(&kernel.name);
    let mut emitter = Emitter::new(kernel, target, name.clone(), span);
    emitter.check_product_registers();
    emitter.fuse();
    emitter.body();
    let (abi, parameters) = emitter.parameters();
    emitter.check_rings();
    let (memory, shared_bytes) = emitter.memory();
    let variables = emitter.variables();
    emitter.diagnostics.barrier()?;
    let functions = [(emitter.has_print, VPRINTF), (emitter.has_assert, ASSERTFAIL)];
    let cluster = emitter.cluster();
    Ok(Module {
        version: emitter.version,
        target: target.name,
        functions: functions.into_iter().filter_map(|(is_called, function)| is_called.then_some(function)).collect(),
        variables,
        files: emitter.files(),
        entry: Entry {
            name,
            parameters,
            directives: emitter.directives(),
            registers: emitter.counts,
            variables: memory,
            body: emitter.code,
        },
        abi,
        shared_bytes,
        asks_for_shared: emitter.region.is_some(),
        overlaps: emitter.overlaps,
        has_producer: emitter.roles.is_some(),
        cluster,
        early_loads: kernel.early_loads.iter().map(|early| (early.annotation, early.place)).collect(),
    })
}
