//! Litmus tests as data: what each thread does, as source text of a kernel, and what sequential consistency gives.

use std::collections::BTreeSet;

/// A variable: every instance of a test has its own, in a buffer of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    X,
    Y,
}

/// What an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Plain,
    Relaxed,
    /// Acquires if it reads, releases if it writes.
    Ordered,
    SeqCst,
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    Ordinary,
    SeqCst,
}

/// What a thread does at once, with the fence that stands behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Store(Variable, u32, Access),
    /// Into the thread's register, 0 or 1.
    Load(usize, Variable, Access),
    /// A plain read into the second register, if the first one holds this value; else it holds 1.
    LoadIf(u32, Variable),
    /// The value before.
    Add(usize, Variable),
    /// The same, and nobody asks for the value before.
    Bump(Variable),
    /// A load that acquires, of which nobody asks for the value.
    Hear(Variable),
    /// Then the fence.
    Then(&'static Act, Fence),
}

/// Whom the threads are among: what their atomics and fences say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Warps of one block, scope `Block`.
    Block,
    /// Blocks, scope `Device`.
    Device,
    /// Blocks, scope `System`.
    System,
    /// Blocks, though the scope is `Block`: too narrow.
    Narrow,
}

/// All registers, thread by thread, and at the end both variables.
pub(crate) type Outcome = Vec<u32>;

/// A test: what each thread does.
pub(crate) type Threads = &'static [&'static [Act]];

impl Variable {
    fn name(self) -> &'static str {
        match self {
            Variable::X => "x",
            Variable::Y => "y",
        }
    }
}

impl Reach {
    fn scope(self) -> &'static str {
        match self {
            Reach::Block | Reach::Narrow => "ThreadScope::Block",
            Reach::Device => "ThreadScope::Device",
            Reach::System => "ThreadScope::System",
        }
    }

    fn fence(self) -> &'static str {
        match self {
            Reach::Block | Reach::Narrow => "fence_block",
            Reach::Device => "fence_device",
            Reach::System => "fence_system",
        }
    }

    /// Whether the threads are warps of one block.
    pub(crate) fn is_within_block(self) -> bool {
        self == Reach::Block
    }
}

impl Access {
    fn order(self, one: &str) -> String {
        let order = match self {
            Access::Plain | Access::Relaxed => "Relaxed",
            Access::Ordered => one,
            Access::SeqCst => "SeqCst",
        };
        format!("Ordering::{order}")
    }
}

impl Act {
    /// Its source; `i` is the instance, `r0` and `r1` the registers.
    fn source(&self, reach: Reach) -> String {
        let scope = reach.scope();
        match *self {
            Act::Store(variable, value, Access::Plain) => format!("{}[i] = {value};", variable.name()),
            Act::Store(variable, value, access) => {
                format!("{}.atomic_store(i, {value}, {}, {scope});", variable.name(), access.order("Release"))
            }
            Act::Load(register, variable, Access::Plain) => format!("r{register} = {}[i];", variable.name()),
            Act::Load(register, variable, access) => {
                format!("r{register} = {}.atomic_load(i, {}, {scope});", variable.name(), access.order("Acquire"))
            }
            Act::LoadIf(value, variable) => format!("r1 = 1; if r0 == {value} {{ r1 = {}[i]; }}", variable.name()),
            Act::Add(register, variable) => {
                format!("r{register} = {}.atomic_add_ordered(i, 1, Ordering::Relaxed, {scope});", variable.name())
            }
            Act::Bump(variable) => format!("{}.atomic_add_ordered(i, 1, Ordering::Relaxed, {scope});", variable.name()),
            Act::Hear(variable) => format!("{}.atomic_load(i, Ordering::Acquire, {scope});", variable.name()),
            Act::Then(act, Fence::Ordinary) => format!("{} {}();", act.source(reach), reach.fence()),
            Act::Then(act, Fence::SeqCst) => format!("{} {}_seq_cst();", act.source(reach), reach.fence()),
        }
    }

    /// What it does where one thing happens after another.
    fn run(&self, registers: &mut [u32; 2], memory: &mut [u32; 2]) {
        match *self {
            Act::Store(variable, value, _) => memory[variable as usize] = value,
            Act::Load(register, variable, _) => registers[register] = memory[variable as usize],
            Act::LoadIf(value, variable) => registers[1] = if registers[0] == value { memory[variable as usize] } else { 1 },
            Act::Add(register, variable) => {
                registers[register] = memory[variable as usize];
                memory[variable as usize] += 1;
            }
            Act::Bump(variable) => memory[variable as usize] += 1,
            Act::Hear(_) => {}
            Act::Then(act, _) => act.run(registers, memory),
        }
    }
}

/// The kernel of a test. `paced`: each act waits for its turn, which `plan` says; relaxed atomics do that, which order nothing else. Otherwise all
/// threads meet before each round, and each lane has an instance of its own.
pub(crate) fn source(threads: Threads, reach: Reach) -> String {
    let role = if reach.is_within_block() { "warp_id()" } else { "block_idx().x" };
    let count = threads.len();
    let mut bodies = String::new();
    let mut number = 0;
    let total: usize = threads.iter().map(|acts| acts.len()).sum();
    for (role, acts) in threads.iter().enumerate() {
        bodies += &format!("            if role == {role} {{\n");
        for act in *acts {
            bodies += &format!(
                "                if paced == 1 {{ while turn.atomic_load(0, Ordering::Relaxed, ThreadScope::Device) != plan[{number}] {{}} }}\n                \
                 {}\n                \
                 if paced == 1 {{ turn.atomic_store(0, plan[{number}] + 1, Ordering::Relaxed, ThreadScope::Device); }}\n",
                act.source(reach)
            );
            number += 1;
        }
        // A load that comes late comes after all steps.
        bodies += &format!(
            "                if paced == 1 {{ while turn.atomic_load(0, Ordering::Relaxed, ThreadScope::Device) != {total} {{}} }}\n            }}\n"
        );
    }
    format!(
        "use std::sync::atomic::Ordering;
use warpwright::prelude::*;

#[kernel(block = 128)]
pub(crate) fn litmus(rounds: usize, paced: u32, plan: &Global<u32>, turn: &mut Global<u32>, x: &mut Global<u32>, y: &mut Global<u32>, out: &mut Global<u32>) {{
    let lane = lane_id();
    let role = {role};
    let acts = role < {count} && ({} || warp_id() == 0);
    let width = if paced == 1 {{ 1 }} else {{ 32 }};
    if acts {{
        for round in 0..rounds {{
            if paced == 0 {{
                if lane == 0 {{
                    turn.atomic_add(0, 1);
                    while turn.atomic_load(0, Ordering::Relaxed, ThreadScope::Device) < (round as u32 + 1) * {count} {{}}
                }}
                sync_warp();
            }}
            let i = round * 32 + lane;
            let mut r0 = 0u32;
            let mut r1 = 0u32;
            if lane < width {{
{bodies}            }}
            out[(role * 2) * rounds * 32 + i] = r0;
            out[(role * 2 + 1) * rounds * 32 + i] = r1;
        }}
    }}
}}
",
        reach.is_within_block()
    )
}

/// The orders in which the acts of all threads can happen: of each act, thread by thread, when it comes.
pub(crate) fn interleavings(threads: Threads) -> Vec<Vec<u32>> {
    let starts: Vec<usize> = threads.iter().scan(0, |at, acts| Some(std::mem::replace(at, *at + acts.len()))).collect();
    let total: usize = threads.iter().map(|acts| acts.len()).sum();
    let mut found = Vec::new();
    let mut open = vec![(vec![0; threads.len()], vec![0; total], 0)];
    while let Some((done, plan, now)) = open.pop() {
        if now as usize == total {
            found.push(plan);
            continue;
        }
        for thread in 0..threads.len() {
            if done[thread] < threads[thread].len() {
                let (mut done, mut plan) = (done.clone(), plan.clone());
                plan[starts[thread] + done[thread]] = now;
                done[thread] += 1;
                open.push((done, plan, now + 1));
            }
        }
    }
    found
}

/// What an interleaving gives.
pub(crate) fn outcome(threads: Threads, plan: &[u32]) -> Outcome {
    let mut acts: Vec<(u32, usize, &Act)> = Vec::new();
    for (thread, list) in threads.iter().enumerate() {
        let before = acts.len();
        acts.extend(list.iter().enumerate().map(|(n, act)| (plan[before + n], thread, act)));
    }
    acts.sort_by_key(|(when, ..)| *when);
    let (mut registers, mut memory) = (vec![[0; 2]; threads.len()], [0; 2]);
    for (_, thread, act) in acts {
        act.run(&mut registers[thread], &mut memory);
    }
    registers.into_iter().flatten().chain(memory).collect()
}

/// All that sequential consistency gives.
pub(crate) fn consistent(threads: Threads) -> BTreeSet<Outcome> {
    interleavings(threads).iter().map(|plan| outcome(threads, plan)).collect()
}
