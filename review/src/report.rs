//! What is known of one variant on one target, as people and programs read it. Every figure here is *estimated*.

use crate::estimate::clusters::ResidentClusters;
use crate::estimate::registers::Registers;
use crate::estimate::time::Prediction;
use crate::estimate::{Known, MemoryUse};
use std::fmt;
use warpwright_codegen::analysis::access::{AccessFact, AccessKind, BranchFact, Divergence, Pattern, Range};
use warpwright_codegen::ir::{Kernel, Loc, Space};
use warpwright_codegen::syntax::SourcePlace;
use warpwright_codegen::target::Target;
use warpwright_codegen::target::occupancy::Occupancy;

fn place_of(kernel: &Kernel, loc: Loc) -> SourcePlace {
    let at = kernel.locations[loc];
    let file = kernel.files.get(usize::from(at.file)).cloned().unwrap_or_default();
    SourcePlace { file, line: at.line, column: at.column }
}

/// How a warp makes one access.
#[derive(Clone, Debug)]
pub struct AccessReport {
    /// Where it is.
    pub place: SourcePlace,
    /// The name of what it touches.
    pub object: String,
    /// In which memory.
    pub space: Space,
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// Bytes of a lane.
    pub bytes: u32,
    /// How the lanes lie.
    pub pattern: Pattern,
    /// Whether only the elements left over at a boundary make it.
    pub is_rare: bool,
}

/// A branch, and whether it splits warps.
#[derive(Clone, Debug)]
pub struct BranchReport {
    /// Where it is.
    pub place: SourcePlace,
    /// Whether it splits warps.
    pub divergence: Divergence,
}

/// What is known of one variant on one target.
#[derive(Clone, Debug)]
pub struct Estimated {
    /// The kernel's name.
    pub kernel: String,
    /// The values of its generics, `B = 64, ILP = 4`; empty if it has none.
    pub variant: String,
    /// The target.
    pub target: &'static Target,
    /// Registers of a thread.
    pub registers: Registers,
    /// The source places whose values are live where the most registers are.
    pub peak: Vec<SourcePlace>,
    /// Bytes of memory.
    pub memory: MemoryUse,
    /// Resident blocks; `None` where the launch decides the block's size.
    pub occupancy: Option<Occupancy>,
    /// Clusters that are resident at once, if it has clusters and the device is known well enough.
    pub clusters: Option<ResidentClusters>,
    /// Accesses to global, shared and constant memory, in program order.
    pub accesses: Vec<AccessReport>,
    /// Branches, in program order.
    pub branches: Vec<BranchReport>,
    /// Instructions that a thread executes.
    pub instructions: f64,
    /// Floating-point operations for each byte of global memory; `None` without such bytes.
    pub intensity: Option<f64>,
    /// Time and what bounds it; `None` where the target has no row of rates, or the launch decides too much.
    pub prediction: Option<Prediction>,
}

impl Estimated {
    /// The reports of a variant, one for each target that it was estimated for.
    pub fn all(variant: &str, known: &Known) -> Vec<Estimated> {
        let kernel = &known.legal;
        let access = |fact: &AccessFact| AccessReport {
            place: place_of(kernel, fact.loc),
            object: kernel.objects[fact.object].name.clone(),
            space: fact.space,
            kind: fact.kind,
            bytes: fact.bytes,
            pattern: fact.pattern.clone(),
            is_rare: fact.is_rare,
        };
        let branch = |fact: &BranchFact| BranchReport { place: place_of(kernel, fact.loc), divergence: fact.divergence };
        let accesses: Vec<AccessReport> = known.facts.accesses.iter().map(access).collect();
        let branches: Vec<BranchReport> = known.facts.branches.iter().map(branch).collect();
        let one = |estimate: &crate::estimate::Estimate| Estimated {
            kernel: kernel.name.clone(),
            variant: variant.to_owned(),
            target: estimate.target,
            registers: estimate.registers.clone(),
            peak: estimate.registers.peak.iter().map(|loc| place_of(kernel, *loc)).collect(),
            memory: known.facts.memory,
            occupancy: estimate.occupancy,
            clusters: estimate.clusters,
            accesses: accesses.clone(),
            branches: branches.clone(),
            instructions: known.threads_on(estimate.target).mix.instructions(),
            intensity: known.threads_on(estimate.target).mix.intensity(),
            prediction: estimate.prediction.clone(),
        };
        known.targets.iter().map(one).collect()
    }

    /// Sectors of the worst request to global memory, the elements left over at a boundary left out; `None` without such a request, or where
    /// one is not known.
    pub fn sectors_per_request(&self) -> Option<Range> {
        self.worst(Space::Global, |pattern| match pattern {
            Pattern::Global { sectors, .. } => Some(*sectors),
            _ => None,
        })
    }

    /// Passes of the worst access to shared memory beyond those it needs; `None` without such an access, or where one is not known.
    pub fn bank_conflicts(&self) -> Option<Range> {
        self.worst(Space::Shared, |pattern| match pattern {
            Pattern::Shared { degree, .. } => Some(Range { least: degree.least.saturating_sub(1), most: degree.most.saturating_sub(1) }),
            _ => None,
        })
    }

    fn worst(&self, space: Space, figure: impl Fn(&Pattern) -> Option<Range>) -> Option<Range> {
        let all = self.accesses.iter().filter(|access| access.space == space && !access.is_rare);
        let figures: Option<Vec<Range>> = all.map(|access| figure(&access.pattern)).collect();
        figures?.into_iter().max_by_key(|range| (range.most, range.least))
    }
}

/// `4`, `4 to 5`.
pub fn range_text(range: Range) -> String {
    if range.least == range.most { range.most.to_string() } else { format!("{} to {}", range.least, range.most) }
}

/// `32-way`, `none`, `2- to 4-way`: a bank conflict by the passes that it takes, of which these are beyond the one that is needed.
pub fn conflict_text(extra: Range) -> String {
    let way = |extra: u32| if extra == 0 { "none".to_owned() } else { format!("{}-way", extra.saturating_add(1)) };
    match (extra.least, extra.most) {
        (least, most) if least == most => way(most),
        (0, most) => format!("none to {}", way(most)),
        (least, most) => format!("{}- to {}", least.saturating_add(1), way(most)),
    }
}

/// `31 extra passes`.
pub(crate) fn extra_text(extra: Range) -> String {
    format!("{} extra pass{}", range_text(extra), if extra.most == 1 { "" } else { "es" })
}

/// `4 sectors a request`, `32-way bank conflict` …: how the lanes of a warp lie, in words.
pub fn pattern_text(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Unknown => "not known: the index depends on data".to_owned(),
        Pattern::Global { sectors, bytes, .. } => {
            let used = f64::from(bytes.least) / f64::from(32 * sectors.most.max(1)) * 100.0;
            format!("{} sectors a request, {used:.0} % of their bytes used", range_text(*sectors))
        }
        Pattern::Shared { degree, .. } if degree.most <= 1 => "no bank conflict".to_owned(),
        Pattern::Shared { degree, .. } => {
            let extra = Range { least: degree.least.saturating_sub(1), most: degree.most.saturating_sub(1) };
            format!("{} bank conflict ({})", conflict_text(extra), extra_text(extra))
        }
        Pattern::Constant { addresses } => match addresses.exact() {
            Some(1) => "one address, a broadcast".to_owned(),
            _ => format!("{} addresses, one after the other", range_text(*addresses)),
        },
    }
}

fn divergence_text(divergence: Divergence) -> &'static str {
    match divergence {
        Divergence::Uniform => "whole warps",
        Divergence::Boundary => "splits a warp at the boundary only",
        Divergence::Splits => "splits warps",
        Divergence::Unknown => "depends on data",
    }
}

fn access_text(access: &AccessReport) -> String {
    let kind = match access.kind {
        AccessKind::Load => "load from",
        AccessKind::Store => "store to",
        AccessKind::Atomic => "atomic on",
    };
    let rare = if access.is_rare { " (elements left over only)" } else { "" };
    let AccessReport { place, space, object, pattern, .. } = access;
    format!("access       {place}: {kind} {space} `{object}`: {}{rare}", pattern_text(pattern))
}

/// Lines, those that follow each other and are alike as one: an unrolled loop's copies.
fn counted(f: &mut fmt::Formatter<'_>, lines: impl Iterator<Item = String>) -> fmt::Result {
    let lines: Vec<String> = lines.collect();
    for run in lines.chunk_by(|a, b| a == b) {
        let times = if run.len() > 1 { format!(" (x{})", run.len()) } else { String::new() };
        writeln!(f, "{}{times}", run[0])?;
    }
    Ok(())
}

impl fmt::Display for Estimated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variant = if self.variant.is_empty() { String::new() } else { format!(" ({})", self.variant) };
        writeln!(f, "{}{variant} on {}, estimated", self.kernel, self.target.name)?;
        let registers = &self.registers;
        write!(f, "registers    {} ({} to {})", registers.estimate, registers.low, registers.high)?;
        if registers.needed > registers.estimate {
            write!(f, ", {} needed: the rest spills", registers.needed)?;
        }
        writeln!(f)?;
        if !self.peak.is_empty() {
            let places: Vec<String> = self.peak.iter().map(ToString::to_string).collect();
            writeln!(f, "  most live at {}", places.join(", "))?;
        }
        let memory = &self.memory;
        let dynamic = memory.dynamic_shared_element.map_or("", |_| " and what the launch gives");
        writeln!(f, "memory       shared {} B{dynamic}, constant {} B, local {} B", memory.shared, memory.constant, memory.local)?;
        match &self.occupancy {
            None => writeln!(f, "occupancy    not known: the launch chooses the block")?,
            Some(found) => {
                let limiters: Vec<String> = found.limiters().map(|resource| resource.to_string()).collect();
                let (blocks, warps, most) = (found.blocks, found.warps, found.limits.warps);
                let limit = if limiters.is_empty() { "nothing".to_owned() } else { limiters.join(", ") };
                writeln!(f, "occupancy    {} % ({blocks} blocks, {warps} of {most} warps), limited by {limit}", found.percent())?;
                for step in found.steps() {
                    writeln!(f, "  next step up: {step}")?;
                }
                for cliff in found.cliffs() {
                    writeln!(f, "  next cliff down: {cliff}")?;
                }
            }
        }
        if let Some(found) = &self.clusters {
            let (range, size, room) = (found.range(), found.size, found.slots / found.size);
            writeln!(f, "clusters     {range} of {size} blocks resident on the {}, of {room} that there are places for", found.device)?;
        }
        counted(f, self.accesses.iter().map(access_text))?;
        let branch = |branch: &BranchReport| format!("branch       {}: {}", branch.place, divergence_text(branch.divergence));
        counted(f, self.branches.iter().map(branch))?;
        let intensity = self.intensity.map_or(String::new(), |n| format!(", {n:.2} operations a byte"));
        writeln!(f, "work         {:.0} instructions a thread{intensity}", self.instructions)?;
        match &self.prediction {
            None => writeln!(f, "prediction   none: no device stands for this target, or the launch decides too much"),
            Some(found) => {
                let (loads, bytes, needed) = (found.loads_in_flight, found.bytes_in_flight, found.bytes_needed);
                writeln!(f, "in flight    {loads} loads a thread, {bytes:.0} B a multiprocessor where {needed:.0} B are needed")?;
                let (speed, share) = found.speed();
                let share = share * 100.0;
                writeln!(f, "prediction   {speed}, {share:.0} % of peak, on {}: bound by {}", found.device, found.bound.word())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::estimate;
    use warpwright_codegen::pipeline::Legal;
    use warpwright_codegen::text::parse_kernel;

    #[test]
    fn conflicts_are_said_by_ways_and_passes() {
        let said = |least: u32, most: u32| pattern_text(&Pattern::Shared { degree: Range { least, most }, stride: None });
        assert_eq!(said(1, 1), "no bank conflict");
        assert_eq!(said(2, 2), "2-way bank conflict (1 extra pass)");
        assert_eq!(said(32, 32), "32-way bank conflict (31 extra passes)");
        assert_eq!(said(2, 4), "2- to 4-way bank conflict (1 to 3 extra passes)");
        assert_eq!(said(1, 4), "none to 4-way bank conflict (0 to 3 extra passes)");
        assert_eq!(conflict_text(Range { least: 0, most: 0 }), "none");
    }

    #[test]
    fn a_report_says_everything_once() {
        let text = "kernel \"k\" legal\nblock = 256, 1, 1\nfile \"k.rs\"\nparam m0 \"x\": global [f32] @1:1\nparam m1 \"y\": global mut [f32] @1:2\n{\n  \
                    v0: u32 = block_idx.x @2:1\n  v1: u32 = const 256 @2:1\n  v2: u32 = thread_idx.x @2:1\n  v3: u32 = mul v0, v1 @2:1\n  \
                    v4: u32 = add v3, v2 @2:1\n  v5: f32 = load m0[v4] @3:4\n  store m1[v4], v5 @3:9\n  return @3:9\n}\n";
        let kernel = parse_kernel(text).unwrap();
        let known = estimate(&Legal::verified(kernel).unwrap(), &[Target::find("sm_90").unwrap(), Target::find("sm_80").unwrap()]);
        let reports = Estimated::all("B = 256", &known);
        assert_eq!(reports.iter().map(|report| report.target.name).collect::<Vec<_>>(), ["sm_90", "sm_80"]);
        let report = &reports[0];
        let four = Range { least: 4, most: 4 };
        assert_eq!((report.sectors_per_request(), report.bank_conflicts()), (Some(four), None));
        let text = report.to_string();
        let lines = [
            "k (B = 256) on sm_90, estimated\n",
            "\nmemory       shared 0 B, constant 0 B, local 0 B\n",
            "\noccupancy    100 % (8 blocks, 64 of 64 warps), limited by warp slots\n",
            "\naccess       k.rs:3:4: load from global `x`: 4 sectors a request, 100 % of their bytes used\n",
            "\naccess       k.rs:3:9: store to global `y`: 4 sectors a request, 100 % of their bytes used\n",
            "% of peak, on ",
        ];
        for line in lines {
            assert!(text.contains(line), "`{line}` is not in\n{text}");
        }
    }
}
