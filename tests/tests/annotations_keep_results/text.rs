//! A generated kernel as a tree of source text: printed with its annotations and without them.

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A line as it is.
    Line(String),
    /// Something with a body: `for`, `if`, `while`.
    Block {
        /// What stands before the brace.
        head: String,
        /// Annotations, without `#[…]`.
        annotations: Vec<String>,
        body: Vec<Node>,
        /// What follows `else`.
        otherwise: Vec<Node>,
    },
}

/// How annotations are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Not at all.
    Stripped,
    /// As they were drawn.
    Annotated,
    /// Each with `best_effort`: what cannot be kept is left out.
    BestEffort,
}

/// What `#[kernel(…)]` asks for the elements of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    pub(crate) ilp: u32,
    pub(crate) vectorize: u32,
    pub(crate) batch_loads: bool,
}

impl Elements {
    pub(crate) const ONE: Elements = Elements { ilp: 1, vectorize: 1, batch_loads: false };

    /// Elements of a thread.
    pub(crate) fn each(self) -> u32 {
        self.ilp * self.vectorize
    }

    fn arguments(self, form: Form) -> String {
        let mut text = String::new();
        if form == Form::Stripped {
            return text;
        }
        if self.ilp > 1 {
            text += &format!(", ilp = {}", self.ilp);
        }
        if self.vectorize > 1 {
            text += &format!(", vectorize = {}", self.vectorize);
        }
        if self.batch_loads {
            text += ", batch_loads";
        }
        if form == Form::BestEffort && self != Elements::ONE {
            text += ", best_effort";
        }
        text
    }
}

/// A kernel.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// What stands before it.
    pub(crate) items: String,
    /// Threads of a block, x and y.
    pub(crate) block: [u32; 2],
    /// Further arguments of the attribute.
    pub(crate) arguments: String,
    pub(crate) elements: Elements,
    pub(crate) parameters: String,
    pub(crate) body: Vec<Node>,
}

impl Source {
    /// As text.
    pub(crate) fn print(&self, form: Form) -> String {
        let [x, y] = self.block;
        let block = if y == 1 { x.to_string() } else { format!("({x}, {y})") };
        let mut text = format!(
            "{}#[kernel(block = {block}{}{})]\npub fn k({}) {{\n",
            self.items,
            self.arguments,
            self.elements.arguments(form),
            self.parameters
        );
        self.body.iter().for_each(|node| node.print(form, 1, &mut text));
        text + "}\n"
    }

    /// How many annotations there are.
    pub(crate) fn annotations(&self) -> usize {
        let elements = self.elements;
        let own = usize::from(elements.ilp > 1) + usize::from(elements.vectorize > 1) + usize::from(elements.batch_loads);
        own + self.body.iter().map(Node::annotations).sum::<usize>()
    }
}

impl Node {
    /// A line.
    pub(crate) fn line(text: impl Into<String>) -> Node {
        Node::Line(text.into())
    }

    /// Something with a body and without annotations.
    pub(crate) fn block(head: impl Into<String>, body: Vec<Node>) -> Node {
        Node::Block { head: head.into(), annotations: Vec::new(), body, otherwise: Vec::new() }
    }

    fn annotations(&self) -> usize {
        match self {
            Node::Line(_) => 0,
            Node::Block { annotations, body, otherwise, .. } => {
                annotations.len() + body.iter().chain(otherwise).map(Node::annotations).sum::<usize>()
            }
        }
    }

    fn print(&self, form: Form, depth: usize, text: &mut String) {
        let space = "    ".repeat(depth);
        match self {
            Node::Line(line) => *text += &format!("{space}{line}\n"),
            Node::Block { head, annotations, body, otherwise } => {
                for annotation in annotations.iter().filter(|_| form != Form::Stripped) {
                    *text += &format!("{space}#[{}]\n", printed(annotation, form));
                }
                *text += &format!("{space}{head} {{\n");
                body.iter().for_each(|node| node.print(form, depth + 1, text));
                if !otherwise.is_empty() {
                    *text += &format!("{space}}} else {{\n");
                    otherwise.iter().for_each(|node| node.print(form, depth + 1, text));
                }
                *text += &format!("{space}}}\n");
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
