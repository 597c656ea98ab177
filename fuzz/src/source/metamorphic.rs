//! Edits of a kernel that change nothing it computes.

use super::kernel::Kernel;
use super::tree::Node;
use crate::random::Random;

/// An edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Blocks that no thread enters.
    DeadBlocks,
    /// Neighbours that have nothing to do with each other change places.
    Reordered,
    /// Lines within `if true`.
    IfTrue,
    /// Lines within a loop of one turn.
    OneTurn,
}

impl Edit {
    /// All of them.
    pub const ALL: [Edit; 4] = [Edit::DeadBlocks, Edit::Reordered, Edit::IfTrue, Edit::OneTurn];

    /// The kernel after it.
    #[must_use]
    pub fn apply(self, kernel: &Kernel, random: &mut Random) -> Kernel {
        let mut kernel = kernel.clone();
        let mut edit = |list: &mut Vec<Node>| match self {
            Edit::DeadBlocks => dead(list, random),
            Edit::Reordered => reorder(list, random),
            Edit::IfTrue => wrap(list, random, "if true"),
            Edit::OneTurn => wrap(list, random, "for one_ in 0..1"),
        };
        kernel.body.iter_mut().for_each(|node| node.each_list(&mut edit));
        edit(&mut kernel.body);
        kernel
    }
}

/// Whether a list is the arms of a `match`, or holds a declaration whose attribute is a line of its own.
fn is_special(list: &[Node]) -> bool {
    list.iter().any(|node| matches!(node, Node::Block { head, .. } if head.ends_with("=>")))
}

fn dead(list: &mut Vec<Node>, random: &mut Random) {
    if is_special(list) || !random.chance(40) {
        return;
    }
    // Not between an attribute and what it is of, nor behind the value of a block.
    let inside = |at: &usize| *at == 0 || !matches!(&list[at - 1], Node::Line(line) if line.starts_with('#'));
    let places: Vec<usize> = (0..list.len()).filter(inside).collect();
    if places.is_empty() {
        return;
    }
    let at = random.pick(&places);
    let body = vec![Node::line("let dead_ = global_id().x as u32 + 3;"), Node::line("if dead_ * 2 == 1 { panic!(\"never\"); }")];
    list.insert(at, Node::block(random.pick(&["if false", "while false", "for _ in 0..0", "if 3u32 < 2"]), body));
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn reorder(list: &mut [Node], _: &mut Random) {
    for at in 1..list.len() {
        let [Node::Let { names: first, text: a }, Node::Let { names: second, text: b }] = &list[at - 1..=at] else { continue };
        let apart =
            !words(b).any(|word| first.iter().any(|name| name == word)) && !words(a).any(|word| second.iter().any(|name| name == word));
        if apart {
            list.swap(at - 1, at);
        }
    }
}

/// Whether a line binds nothing, and may stand under a condition.
fn may_wrap(node: &Node) -> bool {
    match node {
        Node::Line(line) => {
            line.ends_with(';')
                && line.contains('=')
                && !line.starts_with("let ")
                && !line.starts_with("break")
                && !line.contains("sync")
                && !line.contains("_idx")
        }
        Node::Let { .. } | Node::Block { .. } => false,
    }
}

fn wrap(list: &mut [Node], random: &mut Random, head: &str) {
    if is_special(list) {
        return;
    }
    for node in list {
        if may_wrap(node) && random.chance(25) {
            *node = Node::block(head, vec![node.clone()]);
        }
    }
}
