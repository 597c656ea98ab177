//! The machine code of every variant, where there are an assembler and a disassembler.

use super::super::Comparison;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpwright_codegen::backend::ptx::code::Module;
use warpwright_runtime::nvdisasm::{Nvdisasm, SassLine};
use warpwright_runtime::ptxas::Ptxas;

/// More disassemblies than these take too long, at half a second each: then only the newest target has them.
const MOST: usize = 24;

/// By variant and target.
#[derive(Default)]
pub(super) struct Sass {
    code: Vec<Vec<Option<Vec<SassLine>>>>,
    /// What else is to be said.
    pub(super) notes: Vec<String>,
}

impl Sass {
    /// Assembles and disassembles everything; nothing if a tool is missing, and what the assembler refused has been said where it measured.
    pub(super) fn of(comparison: &Comparison) -> Sass {
        let Ok(Some(assembler)) = Ptxas::find() else { return Sass::default() };
        let Some(disassembler) = Nvdisasm::find(&assembler) else {
            let note = "no SASS: there is no `nvdisasm` (WARPWRIGHT_NVDISASM, beside ptxas, PATH)".to_owned();
            return Sass { code: Vec::new(), notes: vec![note] };
        };
        let targets = &comparison.targets;
        let mut jobs: Vec<(usize, usize, &Module)> = comparison
            .variants
            .iter()
            .enumerate()
            .filter_map(|(n, variant)| Some((n, variant.compiled()?)))
            .flat_map(|(n, compiled)| compiled.ptx.iter().enumerate().filter_map(move |(target, ptx)| Some((n, target, ptx.as_ref()?))))
            .filter(|(_, target, _)| assembler.targets.contains(&targets[*target].capability))
            .collect();
        let newest = jobs.iter().map(|(_, target, _)| *target).max();
        let mut said = Vec::new();
        if jobs.len() > MOST
            && let Some(newest) = newest
        {
            jobs.retain(|(_, target, _)| *target == newest);
            said.push(format!("SASS is of {} only: there are too many variants for more", targets[newest].name));
        }
        let code = Mutex::new(vec![vec![None; targets.len()]; comparison.variants.len()]);
        let notes = Mutex::new(said);
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((variant, target, ptx)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Ok(cubin) = assembler.cubin_with_lines(&ptx.to_string(), targets[*target].capability) else { continue };
                let lines = disassembler.lines(&cubin);
                match (lines, code.lock(), notes.lock()) {
                    (Ok(lines), Ok(mut code), _) => code[*variant][*target] = Some(lines),
                    (Err(said), _, Ok(mut notes)) => {
                        let note = format!("no SASS for `{}`: {said}", targets[*target].name);
                        if !notes.contains(&note) {
                            notes.push(note);
                        }
                    }
                    _ => {}
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..std::thread::available_parallelism().map_or(1, usize::from) {
                // Where the system gives no more threads, fewer do it.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        Sass { code: code.into_inner().unwrap_or_default(), notes: notes.into_inner().unwrap_or_default() }
    }

    /// The code of a variant for a target.
    pub(super) fn get(&self, variant: usize, target: usize) -> Option<&[SassLine]> {
        self.code.get(variant)?.get(target)?.as_deref()
    }
}
