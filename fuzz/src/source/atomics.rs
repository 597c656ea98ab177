//! Atomics of which the order does not matter: what commutes, each kind on elements of its own, and nobody looks at a previous value.

use super::block::Shape;
use super::scope::{Generator, Ty};
use super::tree::Node;
use super::types::Scalar;

/// Elements of each kind.
pub(super) const EACH: usize = 4;
/// Kinds: sums, least, greatest, and, or, xor, exchanges, comparisons.
pub(super) const KINDS: usize = 8;

impl Generator<'_> {
    /// An atomic on the buffer of sums, or on a shared array that is read behind a barrier.
    pub(super) fn atomic(&mut self, shape: Shape) -> Vec<Node> {
        if self.random.chance(50) && self.sums.is_some() {
            return self.atomic_on_global().into_iter().collect();
        }
        self.atomic_on_shared(shape)
    }

    /// An atomic on the buffer of sums, if there is one.
    pub(super) fn atomic_on_global(&mut self) -> Option<Node> {
        let (name, ty) = self.sums.clone()?;
        self.hit("atomics.global");
        if ty.is_float() {
            return Some(self.atomic_of_floats(&name, ty));
        }
        let value = self.expr(ty, 1);
        let slot = format!("({} as usize % {EACH})", self.expr(Scalar::U8, 1));
        let kind = self.random.below(9);
        let (at, call) = match kind {
            0 => (0, self.atomic_call("atomic_add", &value)),
            1 => (0, self.atomic_call("atomic_sub", &value)),
            2 => (1, self.atomic_call("atomic_min", &value)),
            3 => (2, self.atomic_call("atomic_max", &value)),
            4 => (3, self.atomic_call("atomic_and", &value)),
            5 => (4, self.atomic_call("atomic_or", &value)),
            6 => (5, self.atomic_call("atomic_xor", &value)),
            7 => (6, self.atomic_call("atomic_exchange", &format!("77{}", ty.name()))),
            _ => {
                self.hit("atomic_cas");
                return Some(Node::line(format!("{name}.atomic_cas({slot} + {}, 0, 55);", 7 * EACH)));
            }
        };
        let place = format!("{slot} + {}", at * EACH);
        Some(Node::line(format!("{name}.{}", call.replace("AT", &place))))
    }

    /// Whole numbers as floats: sums of them are exact, in any order.
    fn atomic_of_floats(&mut self, name: &str, ty: Scalar) -> Node {
        self.hit("atomics.float");
        let t = ty.name();
        let value = format!("({} as {t})", self.expr(Scalar::U8, 1));
        let slot = format!("({} as usize % {EACH})", self.expr(Scalar::U8, 1));
        let (at, call) = match self.random.below(6) {
            0 => (0, self.atomic_call("atomic_add", &value)),
            1 => (0, self.atomic_call("atomic_sub", &value)),
            2 => (1, self.atomic_call("atomic_min", &format!("{value} - 300.0"))),
            3 => (2, self.atomic_call("atomic_max", &format!("{value} + 1.0"))),
            4 => (6, self.atomic_call("atomic_exchange", "77.0")),
            _ => {
                self.hit("atomic_cas");
                (7, "atomic_cas(AT, 0.0, 55.0);".to_owned())
            }
        };
        Node::line(format!("{name}.{}", call.replace("AT", &format!("{slot} + {}", at * EACH))))
    }

    fn atomic_call(&mut self, method: &'static str, value: &str) -> String {
        self.hit(method);
        if self.random.chance(25) {
            self.hit("atomics.ordered");
            let order = self.random.pick(&["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"]);
            // Beside atomics of other blocks, a block's would be a race.
            let scope = self.random.pick(&["Device", "System"]);
            return format!("{method}_ordered(AT, {value}, Ordering::{order}, ThreadScope::{scope});");
        }
        format!("{method}(AT, {value});")
    }

    fn atomic_on_shared(&mut self, shape: Shape) -> Vec<Node> {
        self.hit("atomics.shared");
        let ty = self.random.pick(&Scalar::ATOMIC);
        let (tile, t) = (self.unique_name(), self.own.1.clone());
        let len = 8.min(shape.threads);
        let start = self.literal(ty);
        let value = self.expr(ty, 1);
        let method = self.random.pick(&["atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor", "atomic_sub"]);
        self.hit(method);
        let slot = format!("{} as usize % {len}", self.expr(Scalar::U8, 1));
        let change = if self.random.chance(25) {
            self.hit("atomics.shared_ordered");
            let (order, scope) = (self.random.pick(&["Relaxed", "AcqRel", "SeqCst"]), self.random.pick(&["Block", "Device"]));
            format!("{tile}.{method}_ordered({slot}, {value}, Ordering::{order}, ThreadScope::{scope});")
        } else {
            format!("{tile}.{method}({slot}, {value});")
        };
        let name = self.name();
        let index = self.index(len, 1);
        self.bind(&name, Ty::Scalar(ty), false);
        let mut nodes = vec![
            Node::line("#[shared]"),
            Node::line(format!("let mut {tile}: [{}; {len}];", ty.name())),
            Node::block(format!("if {t} < {len}"), vec![Node::line(format!("{tile}[{t}] = {start};"))]),
            Node::line("sync_threads();"),
            Node::line(change),
        ];
        if self.random.chance(20) {
            self.hit("fence_block");
            nodes.push(Node::line("fence_block();"));
        }
        nodes.push(Node::line("sync_threads();"));
        nodes.push(Node::line(format!("let {name} = {tile}[{index}];")));
        nodes.push(Node::line("sync_threads();"));
        nodes
    }
}
