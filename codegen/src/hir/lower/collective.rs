//! Calls that a block's threads make together become one instruction; `schedule` says how it is done.

use super::Lowerer;
use super::environment::Tree;
use super::place::Place;
use crate::diagnostic::Diagnostic;
use crate::hir::tree::Expr;
use crate::intrinsics::{LOAD_TILE, STORE_TILE};
use crate::ir::intrinsic::IntrinsicId;
use crate::ir::{Access, Collective, MemoryType, Object, ObjectKind, Op};

impl Lowerer<'_, '_> {
    /// A call of a collective.
    pub(super) fn collective(&mut self, row: IntrinsicId, args: &[Expr], expr: &Expr) -> Tree {
        let collective = match (row.row().name, args) {
            (LOAD_TILE, [to, from, at, column]) => {
                let to = self.shared_array(row, to);
                let from = self.matrix(from);
                let [at, column] = [at, column].map(|index| self.value(index));
                to.zip(from).map(|(to, from)| Collective::LoadTile { to, from, row: at, column })
            }
            (STORE_TILE, [to, at, column, from]) => {
                let to = self.matrix(to);
                let [at, column] = [at, column].map(|index| self.value(index));
                let from = self.shared_array(row, from);
                to.zip(from).map(|(to, from)| Collective::StoreTile { to, row: at, column, from })
            }
            (_, [to, from, start]) => {
                let to = self.shared_array(row, to);
                let from = self.whole_buffer(from);
                let start = self.value(start);
                to.zip(from).map(|(to, from)| Collective::LoadRun { to, from, start })
            }
            _ => None,
        };
        // What is missing has been refused; of what has no elements there is nothing to copy.
        let Some(collective) = collective.filter(|collective| !self.is_empty(collective)) else { return self.unit() };
        self.at_call(expr.span, Some(row));
        let first = self.kernel.insts.len();
        self.builder().push(Op::Collective(collective), &[]);
        self.note_meeting(first, row.row().name, expr.span);
        self.at(expr.span);
        self.unit()
    }

    /// Whether a collective's array has no elements.
    fn is_empty(&self, collective: &Collective) -> bool {
        let (Collective::LoadTile { to: array, .. } | Collective::LoadRun { to: array, .. } | Collective::StoreTile { from: array, .. }) =
            collective;
        let ty = &self.kernel.objects[array.object].ty;
        let of_launch = if let MemoryType::Slice(element) = ty { element } else { ty };
        of_launch.size(&self.kernel.structs) == 0
    }

    /// The array that a collective is about: in shared memory, of a fixed length.
    fn shared_array(&mut self, row: IntrinsicId, expr: &Expr) -> Option<Access> {
        let (Place::Memory { access, .. } | Place::Guarded { access, .. }) = self.place(expr) else { return None };
        let data = &self.kernel.objects[access.object];
        let is_shared = data.kind == ObjectKind::Shared;
        if is_shared && (!access.path.is_empty() || matches!(data.ty, MemoryType::Array(..))) {
            return Some(access);
        }
        let (name, array) = (row.row().name, &data.name);
        let what = if is_shared { "has no fixed length" } else { "is no shared array" };
        let (verb, help) = match name {
            LOAD_TILE => ("fills a shared array of rows", "fill an array of its own: `#[shared] let mut tile: [[f32; 32]; 32];`"),
            STORE_TILE => {
                ("takes its elements from a shared array of rows", "write them to one first: `#[shared] let mut tile: [[f32; 32]; 32];`")
            }
            _ => ("fills a shared array of a fixed length", "fill an array of its own: `#[shared] let mut run: [f32; 256];`"),
        };
        self.report(Diagnostic::error(expr.span, format!("`{name}` {verb}, and `{array}` {what}")).help(help));
        None
    }

    /// A buffer as a whole.
    fn whole_buffer(&mut self, expr: &Expr) -> Option<Object> {
        match self.place(expr) {
            Place::Memory { access, .. } if access.path.is_empty() => Some(access.object),
            _ => None,
        }
    }
}
