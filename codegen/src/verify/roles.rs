//! Kernels with a producer: where the roles part, who arrives at barriers of the copy engine and who waits for them, and that slots are handed over.

use super::Verifier;
use crate::analysis::uniformity::Uniformity;
use crate::collections::{HashMap, HashSet};
use crate::ir::{
    Block, Engine, Inst, Kernel, MemoryType, Object, Op, Region, Role, Roles, Scope, Tensor, Terminator, Type, Value, WARPGROUP,
    with_producer,
};
use crate::target::limits::WARP;

/// The threads that run a part of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// All, before the roles part or where they do not.
    All,
    Producer,
    Work,
}

/// What is done to the barriers of an array.
#[derive(Default)]
struct Use {
    /// How many arrivals they count, and where that is said.
    counts: Vec<(Inst, u32)>,
    /// Who announces bytes, and who arrives without.
    announced: Vec<(Inst, Who)>,
    arrived: Vec<(Inst, Who)>,
    awaited: Vec<(Inst, Who)>,
    /// Whether all blocks of the cluster arrive.
    is_of_cluster: bool,
    /// Whether every thread that comes there arrives: it does so under no condition of its own.
    all_arrive: bool,
}

impl Verifier<'_> {
    pub(super) fn check_roles(&mut self) {
        let kernel = self.kernel;
        let roles = kernel.roles();
        self.check_parting(roles);
        let mut uses: Vec<(Object, Use)> = Vec::new();
        let who =
            |inst: Inst, of: &[(Who, Vec<Inst>)]| of.iter().find(|(_, insts)| insts.contains(&inst)).map_or(Who::All, |(who, _)| *who);
        let of = roles.map_or(Vec::new(), |roles| {
            vec![
                (Who::Producer, kernel.insts_in(roles.producer).collect::<Vec<_>>()),
                (Who::Work, kernel.insts_in(roles.work).collect::<Vec<_>>()),
            ]
        });
        // Where some threads of a block come, and others do not.
        let mut conditional: HashSet<Block> = HashSet::default();
        let arrives = |inst: Inst| matches!(kernel.insts[inst].op, Op::Engine(Engine::Arrive { .. }));
        if kernel.insts_in(kernel.body).any(arrives) {
            let uniformity = Uniformity::without_races(kernel);
            kernel.for_each_inst(|kernel, _, inst| {
                if let Op::Region(Region::If { condition, then_block, .. }) = kernel.insts[inst].op
                    && !uniformity.is_uniform(condition)
                {
                    conditional.insert(then_block);
                }
            });
        }
        kernel.for_each_inst(|kernel, block, inst| {
            let Op::Engine(engine) = &kernel.insts[inst].op else { return };
            let Some(object) = engine.barriers().filter(|_| engine.copied().is_none()) else { return };
            let at = uses.iter().position(|(known, _)| *known == object).unwrap_or_else(|| {
                uses.push((object, Use::default()));
                uses.len() - 1
            });
            let (one, who) = (&mut uses[at].1, who(inst, &of));
            match engine {
                Engine::Init { arrivals, .. } => one.counts.push((inst, *arrivals)),
                Engine::Arrive { of_block, .. } => {
                    one.is_of_cluster |= of_block.is_some();
                    one.all_arrive |= !conditional.contains(&block);
                    one.arrived.push((inst, who));
                }
                Engine::Expect { .. } => one.announced.push((inst, who)),
                Engine::Wait { .. } => one.awaited.push((inst, who)),
                Engine::CopyRun { .. }
                | Engine::CopyTile { .. }
                | Engine::StoreTile { .. }
                | Engine::CommitStores
                | Engine::AwaitStores { .. }
                | Engine::Fence
                | Engine::Meet { .. }
                | Engine::Turn(_)
                | Engine::KeepTurn { .. }
                | Engine::Is(_) => {}
            }
        });
        for (object, one) in &uses {
            self.check_arrivals(*object, one, roles.is_some());
        }
        let meets = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Engine(Engine::Meet { .. }));
        for inst in kernel.insts_in(kernel.body).filter(meets) {
            self.inst = Some(inst);
            self.require(who(inst, &of) == Who::Work, || "warpgroups meet outside of the work of a kernel with a producer".to_owned());
        }
        if let Some(roles) = roles {
            for (_, inst) in
                of.iter().filter(|(who, _)| *who == Who::Producer).flat_map(|(who, insts)| insts.iter().map(move |inst| (who, *inst)))
            {
                self.inst = Some(inst);
                let is_barrier = kernel.effects(inst).is_barrier();
                self.require(!is_barrier, || "a barrier of the block within the producer, to which no other thread comes".to_owned());
            }
            let last = kernel.blocks[roles.producer].insts.last().copied();
            self.inst = last;
            let returns = last.is_some_and(|last| matches!(kernel.insts[last].op, Op::Terminator(Terminator::Return)));
            self.require(!returns, || "the producer's part ends with a return, and is to end with a yield".to_owned());
            self.check_once(roles);
            self.check_slots(roles.work, &filled(kernel), &mut Vec::new());
            self.check_meetings(roles);
        }
    }

    /// Each round of a persistent kernel does what stands before the roles part, each role for itself: barriers of the block stand there only once, behind those of the engine that are made.
    fn check_once(&mut self, roles: Roles) {
        let kernel = self.kernel;
        if !kernel.options.persistent {
            return;
        }
        let before = kernel.blocks[kernel.body].insts.iter().take_while(|inst| **inst != roles.inst);
        let barriers = before.filter(|inst| kernel.effects(**inst).is_barrier()).count();
        self.inst = Some(roles.inst);
        self.require(barriers <= 1, || {
            format!("{barriers} barriers of the block before the roles of a persistent kernel part: there is one")
        });
    }

    /// V5: blocks that reach each other's slots have met before the roles part, and do so again behind.
    fn check_meetings(&mut self, roles: Roles) {
        let kernel = self.kernel;
        if !kernel.shares_copies() {
            return;
        }
        let insts = &kernel.blocks[kernel.body].insts;
        let at = insts.iter().position(|inst| *inst == roles.inst).unwrap_or(0);
        let meets = |insts: &[Inst]| insts.iter().any(|inst| kernel.effects(*inst).converges == Some(Scope::Cluster));
        let (before, behind) = (meets(&insts[..at]), meets(&insts[at..]));
        self.inst = Some(roles.inst);
        self.require(before, || "blocks of a cluster reach each other's slots before they have met".to_owned());
        self.require(behind, || "a block may end while others of its cluster reach its slots".to_owned());
    }

    /// The roles part once, in the body, where the block leaves room for a producer.
    fn check_parting(&mut self, roles: Option<Roles>) {
        let kernel = self.kernel;
        let mut asked: Vec<(Inst, Role, Value)> = Vec::new();
        kernel.for_each_inst(|kernel, _, inst| {
            if let (Op::Engine(Engine::Is(role)), [result]) = (&kernel.insts[inst].op, &kernel.insts[inst].results[..])
                && kernel.ty(*result) == Type::Bool
            {
                asked.push((inst, *role, *result));
            }
        });
        for (inst, role, result) in asked {
            self.inst = Some(inst);
            let Some(roles) = roles else {
                self.complain("no `if` of the body parts the roles");
                continue;
            };
            let block = kernel.options.block;
            let fits = block.is_some_and(|block| with_producer(block).is_some());
            self.require(fits, || "a producer beside a block that leaves no room for one".to_owned());
            let uses = kernel.use_counts()[result.0 as usize];
            match role {
                Role::Producer => {
                    self.require(uses == 1, || "the roles part more than once".to_owned());
                }
                Role::Issuer => {
                    let is_within = kernel.insts_in(roles.producer).any(|inner| inner == inst);
                    self.require(is_within, || "the issuer is asked for outside of the producer".to_owned());
                }
            }
        }
    }

    /// V1: as many arrive in a phase as are counted, all of one role, and the other one waits.
    fn check_arrivals(&mut self, object: Object, one: &Use, has_roles: bool) {
        // Where a loop turned out not to run, nobody does.
        let all = || one.announced.iter().chain(&one.arrived);
        let Some((_, first)) = all().next() else { return };
        let threads = self.kernel.options.block.map_or(0, |block| block.iter().product::<u32>());
        // One thread announces; of the work, all arrive or one of each warp.
        let blocks = if one.is_of_cluster { self.kernel.options.cluster_blocks() } else { 1 };
        let of_block = if one.all_arrive { threads } else { threads / WARP };
        if self.are_turns(object, one) {
            let warps = (WARPGROUP / u64::from(WARP)) as u32;
            for (inst, counts) in &one.counts {
                self.inst = Some(*inst);
                self.require(*counts == warps, || {
                    format!("{object} counts {counts} arrivals in a phase, and {warps} warps pass a turn on")
                });
            }
            return;
        }
        let arrives = if one.arrived.is_empty() { 1 } else { of_block * blocks };
        for (inst, counts) in &one.counts {
            self.inst = Some(*inst);
            self.require(*counts == arrives, || format!("{object} counts {counts} arrivals in a phase, and there are {arrives}"));
        }
        for (inst, who) in all() {
            self.inst = Some(*inst);
            self.require(who == first, || format!("threads of both roles arrive at {object}"));
        }
        self.require(one.announced.is_empty() || one.arrived.is_empty(), || format!("{object} counts announcements and arrivals"));
        for (inst, who) in &one.awaited {
            self.inst = Some(*inst);
            self.require(!has_roles || who != first, || format!("who arrives at {object} waits for it"));
        }
    }

    /// Whether warpgroups of the work take turns by these barriers: each has its own, and they arrive and wait.
    fn are_turns(&self, object: Object, one: &Use) -> bool {
        let threads = self.kernel.options.block.map_or(0, |block| block.iter().map(|side| u64::from(*side)).product::<u64>());
        let groups = threads / WARPGROUP;
        let is_each = matches!(&self.kernel.objects[object].ty, MemoryType::Array(_, len) if *len == groups && groups > 1);
        let is_of_work = |(_, who): &(Inst, Who)| *who == Who::Work;
        is_each && one.announced.is_empty() && one.arrived.iter().chain(&one.awaited).all(is_of_work)
    }

    /// V2, of the work: what copies fill is touched behind a wait for it, and before an arrival, in the block that waits.
    fn check_slots(&mut self, block: Block, filled: &Filled, waited: &mut Vec<Object>) {
        let kernel = self.kernel;
        let before = waited.len();
        let insts = &kernel.blocks[block].insts;
        let mut last_touch: Option<Inst> = None;
        let mut waits_here = false;
        // What a product reads that is left running is handed back where the product has been waited for: in the iteration behind.
        let mut hands_back = false;
        for inst in insts {
            let op = &kernel.insts[*inst].op;
            if let Op::Engine(Engine::Wait { barrier, .. }) = op {
                waited.push(barrier.object);
                waits_here = true;
            }
            let inner: Vec<Inst> = op.blocks().into_iter().flat_map(|block| kernel.insts_in(block)).chain([*inst]).collect();
            if inner.iter().any(|inst| touches(kernel, filled, *inst).is_some()) {
                last_touch = Some(*inst);
            }
            if inner.iter().any(|inst| matches!(kernel.insts[*inst].op, Op::Engine(Engine::Arrive { .. }))) {
                last_touch = None;
                hands_back = true;
            }
            if let Some((object, counted_by)) = touches(kernel, filled, *inst)
                && !counted_by.iter().any(|barriers| waited.contains(barriers))
            {
                self.inst = Some(*inst);
                self.complain(format!("{object} is touched before a wait for what is copied to it"));
            }
            for inner in op.blocks() {
                self.check_slots(inner, filled, waited);
            }
        }
        let is_left = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Tensor(Tensor::WarpgroupMma { running: 1.., .. }));
        if let Some(inst) = last_touch.filter(|inst| waits_here && !(hands_back && is_left(inst))) {
            self.inst = Some(inst);
            self.complain("a slot is touched, and not handed back behind that");
        }
        waited.truncate(before);
    }
}

/// The arrays that copies of the engine fill, each with the arrays of barriers that count these.
type Filled = HashMap<Object, Vec<Object>>;

fn filled(kernel: &Kernel) -> Filled {
    let mut filled = Filled::default();
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Engine(engine) = &kernel.insts[inst].op
            && let (Some((to, _)), Some(barriers)) = (engine.copied(), engine.barriers())
        {
            filled.entry(to.object).or_default().push(barriers);
        }
    });
    filled
}

/// What an instruction touches of them, as a thread does.
fn touches<'f>(kernel: &Kernel, filled: &'f Filled, inst: Inst) -> Option<(Object, &'f [Object])> {
    let op = &kernel.insts[inst].op;
    let touched: Vec<Object> = if let Op::Tensor(tensor) = op {
        tensor.arrays().into_iter().map(|array| array.object).collect()
    } else {
        op.object().filter(|_| matches!(op, Op::Memory(_))).into_iter().collect()
    };
    touched.into_iter().find_map(|object| filled.get(&object).map(|barriers| (object, &barriers[..])))
}

#[cfg(test)]
mod tests {
    use crate::text::parse_kernel;
    use crate::verify::verify;

    /// 64 threads work, behind which the launch adds 128.
    const KERNEL: &str = "kernel \"k\" legal
block = 64, 1, 1
param m0 \"x\": global [u32]
param m1 \"y\": global mut [u32]
object m2 \"t\": shared engine [[u32; 64]; 2]
object m3 \"arrived\": shared [u64; 2]
object m4 \"free\": shared [u64; 2]
{
  v0: u32 = thread_idx.x
  v1: u32 = const 0
  v2: u32 = const 256
  v3: bool = eq v0, v1
  if v3 {
    barrier_init m3
    barrier_init m4, 2
    yield
  }
  call sync_threads
  v4: bool = is_producer
  if v4 {
    v5: bool = is_issuer
    if v5 {
      barrier_wait m4[v1], v1
      barrier_expect m3[v1], v2
      copy_run m2[v1], m0, m3[v1], v1
      yield
    }
    yield
  } else {
    barrier_wait m3[v1], v1
    v6: u32 = load m2[v1][v0]
    call sync_warp
    if v3 {
      barrier_arrive m4[v1]
      yield
    }
    call sync_threads
    store m1[v0], v6
    yield
  }
  return
}
";

    #[track_caller]
    fn complaints(edit: &[(&str, &str)]) -> Vec<String> {
        let text = edit.iter().fold(KERNEL.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        let kernel = parse_kernel(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        verify(&kernel).err().unwrap_or_default().into_iter().map(|violation| violation.message).collect()
    }

    #[test]
    fn roles_part_once_where_there_is_room() {
        assert_eq!(complaints(&[]), [""; 0]);
        let room = "a producer beside a block that leaves no room for one";
        assert_eq!(complaints(&[("block = 64", "block = 1024"), ("m4, 2", "m4, 32")]), [room; 2]);
        let outside = complaints(&[("v4: bool = is_producer", "v4: bool = is_producer\n  v9: bool = is_issuer")]);
        assert_eq!(outside, ["the issuer is asked for outside of the producer"]);
        let unparted =
            complaints(&[("  v4: bool = is_producer\n  if v4 {", "  v9: bool = is_producer\n  v4: bool = eq v0, v1\n  if v4 {")]);
        assert!(unparted.contains(&"no `if` of the body parts the roles".to_owned()), "{unparted:?}");
    }

    #[test]
    fn as_many_arrive_as_are_counted_and_the_other_role_waits() {
        assert_eq!(complaints(&[("m4, 2", "m4, 3")]), ["m4 counts 3 arrivals in a phase, and there are 2"]);
        // Every thread, where none is chosen.
        let all = ("    call sync_warp\n    if v3 {\n      barrier_arrive m4[v1]\n      yield\n    }\n", "    barrier_arrive m4[v1]\n");
        assert_eq!(complaints(&[all]), ["m4 counts 2 arrivals in a phase, and there are 64"]);
        assert_eq!(complaints(&[all, ("m4, 2", "m4, 64")]), [""; 0]);
        // Under a condition that is the whole block's, too.
        let together = ("    call sync_warp\n    if v3 {\n", "    v8: u32 = len m0\n    v9: bool = eq v8, v2\n    if v9 {\n");
        assert_eq!(complaints(&[together]), ["m4 counts 2 arrivals in a phase, and there are 64"]);
        assert_eq!(complaints(&[together, ("m4, 2", "m4, 64")]), [""; 0]);
        assert_eq!(complaints(&[("init m3\n", "init m3, 2\n")]), ["m3 counts 2 arrivals in a phase, and there are 1"]);
        assert_eq!(complaints(&[("barrier_wait m4[v1], v1", "barrier_wait m3[v1], v1")]), ["who arrives at m3 waits for it"]);
        let both = complaints(&[("call sync_warp", "barrier_expect m3[v1], v2")]);
        assert_eq!(both[0], "threads of both roles arrive at m3");
    }

    #[test]
    fn slots_are_waited_for_and_handed_back() {
        let (wait, load) = ("    barrier_wait m3[v1], v1\n", "    v6: u32 = load m2[v1][v0]\n");
        let early = complaints(&[(&format!("{wait}{load}"), &format!("{load}{wait}"))]);
        assert_eq!(early, ["m2 is touched before a wait for what is copied to it"]);
        let late = complaints(&[("    call sync_threads\n    store", "    v8: u32 = load m2[v1][v0]\n    store")]);
        assert_eq!(late, ["a slot is touched, and not handed back behind that"]);
    }

    /// 256 threads work. Each of the two warpgroups waits for its turn, and one lane of each warp gives it to the other.
    fn turns(arrivals: u32, groups: u32) -> Vec<String> {
        let (wait, object) = ("    barrier_wait m3[v1], v1\n", "object m4 \"free\": shared [u64; 2]\n");
        complaints(&[
            ("block = 64", "block = 256"),
            ("m4, 2", &format!("m4, 8\n    barrier_init m5, {arrivals}")),
            (object, &format!("{object}object m5 \"turns\": shared [u64; {groups}]\n")),
            (wait, &format!("    barrier_wait m5[v1], v1\n{wait}")),
            ("barrier_arrive m4[v1]\n", "barrier_arrive m4[v1]\n      barrier_arrive m5[v1]\n"),
        ])
    }

    #[test]
    fn warps_of_a_warpgroup_pass_its_turn_on() {
        assert_eq!(turns(4, 2), [""; 0]);
        assert_eq!(turns(8, 2), ["m5 counts 8 arrivals in a phase, and 4 warps pass a turn on"]);
        // One barrier is not one of each warpgroup: it is as any other.
        assert_eq!(turns(8, 1), ["who arrives at m5 waits for it"]);
    }

    #[test]
    fn no_barrier_of_the_block_stands_within_the_producer() {
        let found = complaints(&[("    v5: bool = is_issuer", "    call sync_threads\n    v5: bool = is_issuer")]);
        assert_eq!(found, ["a barrier of the block within the producer, to which no other thread comes"]);
    }

    #[test]
    fn the_producer_ends_with_its_part() {
        let found = complaints(&[("      yield\n    }\n    yield\n  } else", "      yield\n    }\n    return\n  } else")]);
        assert_eq!(found, ["the producer's part ends with a return, and is to end with a yield"]);
    }

    #[test]
    fn roles_of_a_persistent_kernel_part_behind_one_barrier() {
        let twice = [("  v4: bool = is_producer", "  call sync_threads\n  call sync_threads\n  v4: bool = is_producer")];
        assert_eq!(complaints(&twice), [""; 0]);
        let found = complaints(&[twice[0], ("block = 64, 1, 1", "block = 64, 1, 1\npersistent = true")]);
        assert_eq!(found, ["3 barriers of the block before the roles of a persistent kernel part: there is one"]);
    }
}
