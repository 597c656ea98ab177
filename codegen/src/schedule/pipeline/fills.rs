//! What fills the rings of each loop. Loops that share an array share its slots, and so what fills them: the copy engine if it copies for all of them, and if its
//! barriers fit the shared memory, too; else stores, if `by` asks for them, or `cp.async`.

use super::super::Refusal;
use super::{Plan, SLOT_ALIGN};
use crate::annotations::Modifier;
use crate::collections::HashMap;
use crate::ir::{Asked, BARRIER, Collective, Fill, Kernel, MemoryType, Object, ObjectKind, Op, TILE_ALIGN};
use crate::target::limits::MOST_SHARED_BYTES;

/// What was chosen for a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// In the form for machines with a copy engine: whether it copies.
    pub(super) by_engine: bool,
    /// What fills the slots elsewhere.
    pub(super) otherwise: Fill,
    /// What the source asks for, of this loop or of one that shares an array with it.
    pub(super) by: Option<Modifier>,
}

/// Chooses for all loops, and gives what cannot be as asked: which loop, and why.
pub(super) fn choose(kernel: &Kernel, plans: &[(Plan, Asked)]) -> (Vec<Choice>, Vec<(usize, Refusal)>) {
    let groups = groups(plans);
    let mut refusals = Vec::new();
    let mut choices = vec![Choice { by_engine: false, otherwise: Fill::Groups, by: None }; plans.len()];
    for (n, group) in groups.iter().enumerate() {
        let members: Vec<usize> = (0..plans.len()).filter(|other| groups[*other] == *group).collect();
        // The first that says something speaks for all.
        let Some(by) = members.iter().find_map(|other| plans[*other].1.by()) else { continue };
        choices[n].by = Some(by);
        if let Some(own) = plans[n].1.by().filter(|own| *own != by) {
            let array = shared_array(kernel, plans, n, &members);
            let message = format!("`{}`: {array} is a ring of another loop, too, which says `{}`", own.name(), by.name());
            refusals.push((n, Refusal::new(message, "write the same on both, or copy into another array")));
        }
    }
    for (n, (plan, _)) in plans.iter().enumerate() {
        let is_other = |other: &usize| groups[*other] == groups[n] && plans[*other].0.is_out != plan.is_out;
        if (0..n).any(|other| is_other(&other)) {
            let members: Vec<usize> = (0..plans.len()).filter(|other| groups[*other] == groups[n]).collect();
            let array = shared_array(kernel, plans, n, &members);
            let message =
                format!("`pipeline`: {array} is a ring of another loop, too, and one of the two copies into it, the other out of it");
            refusals.push((n, Refusal::new(message, "use another array in one of them")));
        }
    }
    for (n, choice) in choices.iter_mut().enumerate() {
        let mut members = (0..plans.len()).filter(|other| groups[*other] == groups[n]);
        choice.by_engine = members.all(|other| plans[other].0.is_for_engine(kernel, &plans[other].1));
        choice.otherwise = if choice.by == Some(Modifier::ByRegisters) { Fill::Stores } else { Fill::Groups };
    }
    // Barriers take room. What nobody asked for gives way.
    if !fits(kernel, plans, &choices) {
        let is_free = |(choice, (_, asked)): &(&mut Choice, &(Plan, Asked))| choice.by.is_none() && !asked.says(Modifier::Producer);
        choices.iter_mut().zip(plans).filter(is_free).for_each(|(choice, _)| choice.by_engine = false);
    }
    let has_room = fits(kernel, plans, &choices);
    for (n, (_, asked)) in plans.iter().enumerate() {
        let is_produced = asked.says(Modifier::Producer);
        let by = match asked.by() {
            _ if is_produced => Modifier::Producer,
            Some(by @ (Modifier::ByBulk | Modifier::ByTma)) => by,
            _ => continue,
        };
        let leave = if is_produced { "producer" } else { "by" };
        let members: Vec<usize> = (0..plans.len()).filter(|other| groups[*other] == groups[n]).collect();
        if !choices[n].by_engine && (is_produced || choices[n].by == Some(by)) {
            let array = shared_array(kernel, plans, n, &members);
            let message = format!("`{}`: {array} is a ring of another loop, too, for which the copy engine does not copy", by.name());
            refusals.push((n, Refusal::new(message, format!("copy into another array there, or leave `{leave}` out"))));
        } else if let Some(other) = members.iter().find(|other| is_produced && !share_turns(&plans[n], &plans[**other])) {
            let array = shared_array(kernel, plans, n, &[n, *other]);
            let message = format!("`producer`: {array} is a ring of another loop, too, which is not copied ahead in the same way");
            let help = "write `producer` and the same `stages` on both, with the same arrays, or copy into another array there";
            refusals.push((n, Refusal::new(message, help)));
        } else if choices[n].by_engine && !has_room {
            let message = format!(
                "`{}`: the barriers of the slots do not fit a block's shared memory of {MOST_SHARED_BYTES} bytes beside the arrays",
                by.name()
            );
            refusals.push((n, Refusal::new(message, "make an array smaller, or write fewer stages")));
        }
    }
    (choices, refusals)
}

/// Whether the slots of two loops with a producer are filled and freed as if they were one loop.
fn share_turns((a, of_a): &(Plan, Asked), (b, of_b): &(Plan, Asked)) -> bool {
    let has_all = |a: &Plan, b: &Plan| a.rings.iter().all(|ring| b.rings.contains(ring));
    [of_a, of_b].iter().all(|asked| asked.says(Modifier::Producer)) && a.stages == b.stages && has_all(a, b) && has_all(b, a)
}

/// A number for each loop: the same for loops that share an array, or share one with a loop that does.
fn groups(plans: &[(Plan, Asked)]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..plans.len()).collect();
    for n in 0..plans.len() {
        for other in 0..n {
            let shares = plans[n].0.rings.iter().any(|ring| plans[other].0.rings.contains(ring));
            if shares && groups[n] != groups[other] {
                let (from, to) = (groups[n], groups[other]);
                groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    groups
}

/// An array that a loop shares with another of its group.
fn shared_array(kernel: &Kernel, plans: &[(Plan, Asked)], n: usize, members: &[usize]) -> String {
    let is_shared = |ring: &&Object| members.iter().any(|other| *other != n && plans[*other].0.rings.contains(ring));
    let found = plans[n].0.rings.iter().find(is_shared).or(plans[n].0.rings.first());
    found.map_or_else(|| "an array".to_owned(), |ring| format!("`{}`", kernel.objects[*ring].name))
}

/// Whether the slots of all loops, the barriers of those that the engine copies for, and all other arrays fit a block's shared memory.
fn fits(kernel: &Kernel, plans: &[(Plan, Asked)], choices: &[Choice]) -> bool {
    let mut stages: HashMap<Object, u64> = HashMap::default();
    let mut of_engine = 0u64;
    for ((plan, asked), choice) in plans.iter().zip(choices) {
        for ring in &plan.rings {
            let most = stages.entry(*ring).or_default();
            *most = (*most).max(plan.stages.into());
        }
        if choice.by_engine && !plan.is_out {
            let arrays = if asked.says(Modifier::Producer) { 2 } else { 1 };
            of_engine += arrays * (u64::from(plan.stages) * u64::from(BARRIER.bytes())).next_multiple_of(SLOT_ALIGN);
            let is_tile = |inst: &&crate::ir::Inst| matches!(kernel.insts[**inst].op, Op::Collective(Collective::LoadTile { .. }));
            // Where a tile begins, up to so many bytes are left free.
            of_engine += plan.section.iter().filter(is_tile).count() as u64 * TILE_ALIGN;
        }
    }
    let fixed = kernel.objects.iter().filter(|(_, data)| data.kind == ObjectKind::Shared && !matches!(data.ty, MemoryType::Slice(_)));
    let arrays: u64 = fixed
        .map(|(object, data)| data.ty.size(&kernel.structs).next_multiple_of(SLOT_ALIGN) * stages.get(&object).copied().unwrap_or(1))
        .sum();
    of_engine == 0 || arrays + of_engine <= u64::from(MOST_SHARED_BYTES)
}
