//! What the lanes of a warp do together.

use super::expressions::one;
use super::scope::{Generator, Ty};
use super::tree::Node;
use super::types::Scalar;

impl Generator<'_> {
    /// An exchange or a vote of whole warps.
    pub(super) fn warp_call(&mut self) -> Vec<Node> {
        let name = self.name();
        let ty = self.random.pick(&Scalar::ALL);
        let value = self.expr(ty, 1);
        let condition = self.expr(Scalar::Bool, 1);
        let n = match self.random.below(3) {
            0 => format!("{}{}", self.random.below(31), self.random.pick(&["", "usize", "i32", "u32"])),
            1 => format!("{}u32", self.random.below(32)),
            _ => self.uniform_value(Scalar::U32).unwrap_or_else(|| "5".to_owned()),
        };
        let (call, ty) = match self.random.below(9) {
            kind @ 0..=3 => {
                let function = ["shuffle", "shuffle_up", "shuffle_down", "shuffle_xor"][kind];
                (self.calling_of(function, ty, &format!("{value}, {n}")), ty)
            }
            4 => (self.calling("ballot", &condition), Scalar::U32),
            5 => (self.calling("any", &condition), Scalar::Bool),
            6 => (self.calling("all", &condition), Scalar::Bool),
            7 => {
                self.hit("shuffle.lane_of_each");
                self.called("shuffle", ty.name());
                let lane = self.expr(Scalar::U32, 1);
                (format!("shuffle({value}, {lane} % 32)"), ty)
            }
            _ => {
                // NaNs have bits that nobody fixes.
                let value =
                    if ty.is_float() { format!("{{ let m_ = {value}; if m_.is_nan() {{ {} }} else {{ m_ }} }}", one(ty)) } else { value };
                (self.calling_of("match_any", ty, &value), Scalar::U32)
            }
        };
        self.bind(&name, Ty::Scalar(ty), false);
        let mut nodes = vec![Node::line(format!("let {name} = {call};"))];
        if self.random.chance(15) {
            self.hit("sync_warp");
            nodes.push(Node::line("sync_warp();"));
        }
        nodes
    }

    /// A reduction or scan over the warp, which may be a partial one.
    pub(super) fn warp_reduction(&mut self) -> Vec<Node> {
        let name = self.name();
        let is_float = self.random.chance(25);
        let ty = if is_float { self.random.pick(&Scalar::FLOATS) } else { self.random.pick(&Scalar::INTEGERS) };
        let value = self.expr(ty, 1);
        let function = self.random.pick(&[
            "warp_sum",
            "warp_min",
            "warp_max",
            "warp_inclusive_sum",
            "warp_inclusive_min",
            "warp_inclusive_max",
            "warp_exclusive_sum",
        ]);
        let call = self.reducing(function, ty, &value);
        self.bind(&name, Ty::Scalar(ty), false);
        vec![Node::line(format!("let {name} = {call};"))]
    }

    /// The same of some warps only, or in each warp as often as it likes.
    pub(super) fn warps_apart(&mut self) -> Vec<Node> {
        self.hit("warp_id");
        let some = |g: &mut Self| {
            g.scoped(|g| {
                let mut nodes = g.warp_reduction();
                nodes.push(g.own_store());
                nodes
            })
        };
        let nodes = some(self);
        if self.turns >= 4 && self.random.chance(50) {
            self.hit("warp.in_loop");
            let counter = self.unique_name();
            return vec![Node::block(format!("for {counter} in 0..warp_id() % 3 + 1"), nodes)];
        }
        self.hit("warp.in_branch");
        let otherwise = if self.random.chance(60) { some(self) } else { Vec::new() };
        let head = format!("if warp_id() % 2 == {}", self.random.below(2));
        vec![Node::Block { head, annotations: Vec::new(), body: nodes, otherwise, end: String::new() }]
    }
}
