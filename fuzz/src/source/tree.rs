//! A kernel as a tree: statements that hold text, printed with annotations and without.

use std::fmt::Write;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A line as it is.
    Line(String),
    /// A `let` of values that nothing but the thread's own values make: it may change places with a neighbour that has nothing to do with it.
    Let {
        /// What it binds.
        names: Vec<String>,
        /// All of it.
        text: String,
    },
    /// Something with a body: `for`, `if`, `while`.
    Block {
        /// What stands before the brace.
        head: String,
        /// Annotations, without `#[…]`.
        annotations: Vec<String>,
        /// Between the braces.
        body: Vec<Node>,
        /// What follows `else`.
        otherwise: Vec<Node>,
        /// What follows the last brace, `;` say.
        end: String,
    },
}

/// How annotations are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Not at all.
    Stripped,
    /// Each with `best_effort`: what cannot be kept is left out.
    BestEffort,
    /// As they were drawn; the compiler may refuse.
    Annotated,
}

impl Node {
    /// A line.
    pub fn line(text: impl Into<String>) -> Node {
        Node::Line(text.into())
    }

    /// Something with a body and without annotations.
    pub fn block(head: impl Into<String>, body: Vec<Node>) -> Node {
        Node::Block { head: head.into(), annotations: Vec::new(), body, otherwise: Vec::new(), end: String::new() }
    }

    /// Statements that it consists of.
    pub fn count(&self) -> usize {
        match self {
            Node::Line(_) | Node::Let { .. } => 1,
            Node::Block { body, otherwise, .. } => 1 + body.iter().chain(otherwise).map(Node::count).sum::<usize>(),
        }
    }

    /// Calls this for every list of statements in it.
    pub fn each_list(&mut self, f: &mut dyn FnMut(&mut Vec<Node>)) {
        if let Node::Block { body, otherwise, .. } = self {
            for list in [body, otherwise] {
                list.iter_mut().for_each(|node| node.each_list(f));
                f(list);
            }
        }
    }

    pub(super) fn print(&self, form: Form, depth: usize, text: &mut String) {
        let space = "    ".repeat(depth);
        // Writing to a string does not fail.
        match self {
            Node::Line(line) | Node::Let { text: line, .. } => {
                let _ = writeln!(text, "{space}{line}");
            }
            Node::Block { head, annotations, body, otherwise, end } => {
                for annotation in annotations.iter().filter(|_| form != Form::Stripped) {
                    let _ = writeln!(text, "{space}#[{}]", printed(annotation, form));
                }
                let _ = writeln!(text, "{space}{head} {{");
                body.iter().for_each(|node| node.print(form, depth + 1, text));
                if !otherwise.is_empty() {
                    let _ = writeln!(text, "{space}}} else {{");
                    otherwise.iter().for_each(|node| node.print(form, depth + 1, text));
                }
                let _ = writeln!(text, "{space}}}{end}");
            }
        }
    }
}

fn printed(annotation: &str, form: Form) -> String {
    if form == Form::Annotated || annotation.contains("best_effort") {
        return annotation.to_owned();
    }
    match annotation.strip_suffix(')') {
        Some(rest) => format!("{rest}, best_effort)"),
        None => format!("{annotation}(best_effort)"),
    }
}
