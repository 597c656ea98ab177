//! Calls that a block's threads make together become one instruction; `schedule` says how it is done.

use super::Lowerer;
use super::environment::Tree;
use super::place::Place;
use crate::diagnostic::Diagnostic;
use crate::hir::tree::Expr;
use crate::ir::intrinsic::IntrinsicId;
use crate::ir::{Access, Collective, MemoryType, Object, ObjectKind, Op};

impl Lowerer<'_, '_> {
    /// A call of a collective.
    pub(super) fn collective(&mut self, row: IntrinsicId, args: &[Expr], expr: &Expr) -> Tree {
        let collective = match args {
            [to, from, start] => {
                let to = self.shared_array(row, to);
                let from = self.whole_buffer(from);
                let start = self.value(start);
                to.zip(from).map(|(to, from)| Collective::LoadRun { to, from, start })
            }
            _ => None,
        };
        // What is missing has been refused.
        let Some(collective) = collective else { return self.unit() };
        self.at_call(expr.span, Some(row));
        let first = self.kernel.insts.len();
        self.builder().push(Op::Collective(collective), &[]);
        self.note_meeting(first, row.row().name, expr.span);
        self.at(expr.span);
        self.unit()
    }

    /// The array that a collective is about: in shared memory, of a fixed length.
    fn shared_array(&mut self, row: IntrinsicId, expr: &Expr) -> Option<Access> {
        let place = self.place(expr);
        let Place::Memory { access, .. } = place else { return None };
        let data = &self.kernel.objects[access.object];
        let is_shared = data.kind == ObjectKind::Shared;
        if is_shared && (!access.path.is_empty() || matches!(data.ty, MemoryType::Array(..))) {
            return Some(access);
        }
        let (name, array) = (row.row().name, &data.name);
        let what = if is_shared { "has no fixed length" } else { "is no shared array" };
        let message = format!("`{name}` fills a shared array of a fixed length, and `{array}` {what}");
        self.report(Diagnostic::error(expr.span, message).help("fill an array of its own: `#[shared] let mut run: [f32; 256];`"));
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
