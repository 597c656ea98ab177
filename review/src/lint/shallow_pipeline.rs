//! `shallow_pipeline`: a pipeline copies too little ahead to hide the latency of memory.
//!
//! By Little's law a multiprocessor has to have latency × bandwidth bytes under way for its share of the memory's bandwidth. Of a loop with
//! `pipeline(stages = S)` the copies of S − 1 iterations are: the bytes of S − 1 slots in each resident block. Said where that is less than the memory of
//! the device that stands for the target asks for, and the model (`estimate::time`) says that the kernel waits for memory and does not reach nine tenths of
//! what it gives. So neither loops that compute longer than they copy are found, nor those whose other loads or warps make up for it.
//!
//! **Left alone**: targets below sm_80, where copies are plain loads and stores; loops of so few iterations that all of them are under way; kernels whose
//! block the launch decides, since nobody knows how many are resident.

use super::{Finding, Lint, Subject, each};
use crate::estimate::Estimate;
use crate::estimate::time::{Bound, REACHED};
use crate::machine::Machine;
use std::collections::BTreeMap;
use warpwright_codegen::ir::intrinsic::CopyStep;
use warpwright_codegen::ir::{Block, Fill, Inst, Kernel, Loc, MemoryType, Object, Op, Region, Ring};
use warpwright_codegen::target::occupancy::{Demand, Occupancy, Resource, occupancy};

pub(super) const LINT: Lint = Lint {
    name: "shallow_pipeline",
    summary: "a `pipeline` has too few bytes in flight for the latency of memory",
    of_machine: true,
    page: include_str!("shallow_pipeline.md"),
    check,
};

/// The first compute capability whose threads copy without waiting.
const COPIES: u16 = 80;

/// As many stages as the annotation takes.
const MOST_STAGES: u64 = 32;

/// The rings that one annotation made.
struct Pipeline {
    place: Loc,
    stages: u64,
    /// Bytes that an iteration copies, in a block.
    slot: u64,
    /// Bytes of shared memory that one more stage takes: padding counts.
    stage: u64,
    /// Iterations, where they are known.
    trips: Option<u64>,
}

/// A target on which too little is under way.
struct Shallow<'a> {
    on: &'a Estimate,
    now: Occupancy,
    bytes: u64,
    needed: u64,
}

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel: &Kernel = &subject.known.legal;
    for pipeline in pipelines(kernel) {
        // More stages than iterations bring nothing.
        if pipeline.trips.is_some_and(|trips| trips < pipeline.stages) {
            continue;
        }
        let all: Vec<Shallow<'_>> = subject.known.targets.iter().filter_map(|on| pipeline.shallow(on)).collect();
        if all.is_empty() {
            continue;
        }
        let slots = pipeline.stages - 1;
        let figures = all.iter().map(|one| {
            let blocks = one.now.blocks;
            let words = format!(
                "{} bytes ({blocks} resident block{} × {slots} slot{} of {}) of the {} that latency × bandwidth asks for",
                one.bytes,
                if blocks == 1 { "" } else { "s" },
                if slots == 1 { "" } else { "s" },
                pipeline.slot,
                one.needed
            );
            (one.on.target, words)
        });
        findings.push(Finding {
            span: subject.span(pipeline.place),
            message: format!(
                "`pipeline` with {} stages has in flight, for each multiprocessor, {} (estimated)",
                pipeline.stages,
                each(figures)
            ),
            labels: Vec::new(),
            help: pipeline.help(&all),
        });
    }
}

impl Pipeline {
    /// What is short on a target, if something is.
    fn shallow<'a>(&self, on: &'a Estimate) -> Option<Shallow<'a>> {
        let (now, prediction) = (on.occupancy?, on.prediction.as_ref()?);
        let machine = Machine::of(on.target.capability)?;
        let waits = matches!(prediction.bound, Bound::MemoryLatency | Bound::MemoryBandwidth) && prediction.attained < REACHED;
        let (bytes, needed) = (self.in_flight(&now, self.stages), machine.bytes_in_flight_needed() as u64);
        (on.target.capability >= COPIES && waits && bytes < needed).then_some(Shallow { on, now, bytes, needed })
    }

    /// Bytes under way on a multiprocessor that has so many blocks.
    fn in_flight(&self, occupancy: &Occupancy, stages: u64) -> u64 {
        self.slot.saturating_mul(stages - 1).saturating_mul(occupancy.blocks.into())
    }

    /// The blocks that are resident with so many stages.
    fn with(&self, now: &Occupancy, stages: u64) -> Option<Occupancy> {
        let more = u32::try_from(self.stage.checked_mul(stages - self.stages)?).ok()?;
        let demand = Demand { shared: now.demand.shared.checked_add(more)?, ..now.demand };
        Some(occupancy(now.limits, &demand, &now.options)).filter(|then| then.blocks > 0)
    }

    /// The most stages that mean something: more than iterations are all under way anyway.
    fn most_stages(&self) -> u64 {
        self.trips.map_or(MOST_STAGES, |trips| trips.saturating_add(1).min(MOST_STAGES))
    }

    /// The fewest stages with which enough is under way, if the shared memory has room for them and the loop so many iterations.
    fn enough(&self, one: &Shallow<'_>) -> Option<u64> {
        (self.stages + 1..=self.most_stages())
            .find(|stages| self.with(&one.now, *stages).is_some_and(|then| self.in_flight(&then, *stages) >= one.needed))
    }

    /// The stages with the most under way that shared memory has room for.
    fn best(&self, one: &Shallow<'_>) -> (u64, u64) {
        let with = |stages: u64| Some((stages, self.in_flight(&self.with(&one.now, stages)?, stages)));
        let all = (self.stages..=self.most_stages()).filter_map(with);
        all.fold((self.stages, one.bytes), |best, other| if other.1 > best.1 { other } else { best })
    }

    fn help(&self, all: &[Shallow<'_>]) -> String {
        if let Some(stages) = all.iter().filter_map(|one| self.enough(one)).max() {
            let left: Vec<_> = all.iter().filter(|one| self.enough(one).is_none()).map(|one| one.on.target).collect();
            let left = if left.is_empty() {
                String::new()
            } else {
                format!("; {} has no room for enough of them", super::on(left).replace("on ", ""))
            };
            return format!("write `stages = {stages}`{left}");
        }
        let Some(worst) = all.iter().max_by_key(|one| one.needed.saturating_sub(one.bytes)) else { return String::new() };
        let (stages, bytes) = self.best(worst);
        let beside = u64::from(worst.now.demand.shared).saturating_sub(self.stage * self.stages);
        // Where all stages leave as many blocks resident, shared memory is not what is short.
        let is_full = self.with(&worst.now, self.most_stages()).is_none_or(|then| then.limiters().any(|what| what == Resource::Shared));
        if !is_full {
            let slots = (self.stages - 1).max(1) * u64::from(worst.now.blocks.max(1));
            return format!("copy more in each iteration: {} bytes instead of {}", worst.needed.div_ceil(slots), self.slot);
        }
        let less = if beside == 0 {
            "copy narrower elements, or fewer".to_owned()
        } else {
            format!("make the block's other arrays smaller, which take {beside} bytes of shared memory")
        };
        if stages > self.stages {
            format!("write `stages = {stages}`, for {bytes} bytes, more than any other number has; beyond that, {less}")
        } else {
            format!("no number of stages has more in flight: {less}")
        }
    }
}

/// The pipelines of a kernel, in the order of the source.
fn pipelines(kernel: &Kernel) -> Vec<Pipeline> {
    let mut of_place: BTreeMap<Loc, Pipeline> = BTreeMap::new();
    // What is copied out waits for nothing that is far away.
    let comes_in = |ring: &Ring| !matches!(ring.fill, Fill::Out | Fill::EngineOut);
    for (object, ring) in kernel.rings.iter().filter(|(_, ring)| comes_in(ring)) {
        let MemoryType::Array(slot, stages) = &kernel.objects[*object].ty else { continue };
        let stage = slot.size(&kernel.structs);
        let copied = slot.as_ref().clone().unpadded().size(&kernel.structs);
        let pipeline = of_place.entry(ring.place).or_insert(Pipeline {
            place: ring.place,
            stages: *stages,
            slot: 0,
            stage: 0,
            trips: trips(kernel, *object),
        });
        pipeline.slot += copied;
        pipeline.stage += stage;
        pipeline.stages = pipeline.stages.max(*stages);
    }
    of_place.into_values().filter(|pipeline| pipeline.stages > 1 && pipeline.slot > 0).collect()
}

/// The most iterations of the loops that wait for copies to a ring, if all are known. A loop of one iteration is none any more.
fn trips(kernel: &Kernel, ring: Object) -> Option<u64> {
    let mut most = Some(0);
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Region(Region::For { start, end, step, body, .. }) = &kernel.insts[inst].op
            && waits_for(kernel, *body, ring)
        {
            let constants = [start, end, step].map(|value| kernel.constant(*value).map(|scalar| scalar.as_int()));
            let trips = match constants {
                [Some(start), Some(end), Some(step)] if step > 0 => u64::try_from((end - start + step - 1) / step).ok(),
                _ => None,
            };
            most = most.zip(trips).map(|(most, trips)| most.max(trips));
        }
    });
    most
}

/// Whether a loop's body itself waits for copies, and reads or fills the ring.
fn waits_for(kernel: &Kernel, body: Block, ring: Object) -> bool {
    let is_wait = |inst: &Inst| matches!(&kernel.insts[*inst].op, Op::Intrinsic(row, _) if row.row().copy_step() == Some(CopyStep::Await));
    kernel.blocks[body].insts.iter().any(is_wait) && kernel.insts_in(body).any(|inst| kernel.insts[inst].op.object() == Some(ring))
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;
    use crate::estimate::estimate;
    use warpwright_codegen::pipeline::compile_text;
    use warpwright_codegen::syntax::Instance;
    use warpwright_codegen::target::Target;

    /// A sum of rows through a ring, beside so many bytes that nobody copies.
    fn sum(stages: u32, width: u32, rest: &str, trips: &str, work: &str) -> Vec<(String, String, String)> {
        found_at(
            "shallow_pipeline",
            &format!(
                "#[kernel(block = 64, targets = [sm_90])] fn sum(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {{
                    #[shared] let mut tile: [f32; {width}];
                    {rest}
                    let t = thread_idx().x;
                    let mut sum = 0.0;
                    #[pipeline(stages = {stages})]
                    for row in 0..{trips} {{
                        #[unroll] for k in 0..{width} / 64 {{
                            tile[t + k * 64] = x[(block_idx().x * rows + row) * {width} + t + k * 64];
                        }}
                        sync_threads();
                        #[unroll] for k in 0..{width} / 64 {{ {work} }}
                        sync_threads();
                    }}
                    y[global_id().x] = sum;
                }}"
            ),
        )
    }

    const ADD: &str = "sum += tile[t + k * 64];";
    /// 40 KiB, so that five blocks are resident.
    const ROOM: &str =
        "#[shared] let mut room: [f32; 10240]; room[thread_idx().x] = 1.0; sync_threads(); let mut s = room[63 - thread_idx().x];";

    /// So much that one block is resident.
    fn taken(words: u32) -> String {
        format!(
            "#[shared] let mut room: [f32; {words}]; room[thread_idx().x] = 1.0; sync_threads(); let mut s = room[63 - thread_idx().x];"
        )
    }

    #[test]
    fn two_stages_of_small_rows_are_found_with_as_many_as_it_takes() {
        let (at, message, help) = sum(2, 128, ROOM, "rows", ADD).remove(0);
        assert_eq!(at, "pipeline");
        // 390 ns × 4.59 TB/s of an H200's 132 multiprocessors.
        assert_eq!(
            message,
            "`pipeline` with 2 stages has in flight, for each multiprocessor, 2560 bytes (5 resident blocks × 1 slot of 512) of the 13575 that \
             latency × bandwidth asks for on sm_90 (estimated)"
        );
        assert_eq!(help, "write `stages = 7`");
        assert_eq!(sum(6, 128, ROOM, "rows", ADD).len(), 1);
        assert_eq!(sum(7, 128, ROOM, "rows", ADD), []);
        // Without the other array 32 blocks are resident.
        assert_eq!(sum(2, 64, "", "rows", ADD)[0].2, "write `stages = 3`");
        assert_eq!(sum(3, 64, "", "rows", ADD), []);
    }

    /// What the model has in flight is what the lint says, whatever copies.
    #[test]
    fn the_model_counts_the_same_bytes() {
        let source = "#[kernel(block = 64)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
            #[shared] let mut run: [f32; 256];
            #[shared] let mut room: [f32; 10240];
            let t = thread_idx().x;
            room[t] = 1.0;
            sync_threads();
            let mut sum = room[63 - t];
            #[pipeline(stages = S BY)] for k in 0..n {
                load_run(&mut run, x, (block_idx().x * n + k) * 256);
                sync_threads();
                sum += run[t] + run[t + 192];
                sync_threads();
            }
            y[global_id().x] = sum;
        }";
        for by in ["", ", by = cp_async"] {
            for stages in [2, 3, 5] {
                let source = source.replace("S BY", &format!("{stages}{by}"));
                let lowered = compile_text("k.rs", &source, "k", &Instance::default()).unwrap_or_else(|_| panic!("{source}"));
                let known = estimate(lowered.kernel.legal(), &[Target::find("sm_90").expect("a target")]);
                let (on, pipeline) = (&known.targets[0], &super::pipelines(&known.legal)[0]);
                let (now, prediction) = (on.occupancy.expect("an occupancy"), on.prediction.as_ref().expect("a prediction"));
                assert_eq!(pipeline.in_flight(&now, pipeline.stages) as f64, prediction.bytes_in_flight, "{stages} stages{by}");
            }
        }
    }

    #[test]
    fn without_room_for_enough_stages_it_says_what_takes_it() {
        let help = |found: Vec<(String, String, String)>| found.into_iter().map(|(.., help)| help).collect::<Vec<_>>();
        let more = "write `stages = 24`, for 11776 bytes, more than any other number has; beyond that, make the block's other arrays smaller, \
                    which take 220000 bytes of shared memory";
        assert_eq!(help(sum(2, 128, &taken(55_000), "rows", ADD)), [more]);
        let none =
            "no number of stages has more in flight: make the block's other arrays smaller, which take 231680 bytes of shared memory";
        assert_eq!(help(sum(3, 64, &taken(57_920), "rows", ADD)), [none]);
        // Three iterations: four stages have all of them in flight.
        let all = "write `stages = 4`, for 3840 bytes, more than any other number has; beyond that, make the block's other arrays smaller, which \
                   take 40960 bytes of shared memory";
        assert_eq!(help(sum(2, 64, ROOM, "3", ADD)), [all]);
    }

    #[test]
    fn enough_in_flight_few_iterations_and_much_arithmetic_are_left_alone() {
        assert_eq!(sum(2, 4096, "", "rows", ADD), []);
        assert_eq!(sum(2, 128, ROOM, "1", ADD), []);
        assert_eq!(sum(3, 128, ROOM, "2", ADD), []);
        let much = "let mut v = tile[t + k * 64]; for _ in 0..400 { v = v * 1.25 + 0.5; } sum += v;";
        assert_eq!(sum(2, 128, ROOM, "rows", much), []);
    }
}
