//! Copies by the copy engine, in the form of a kernel for targets that have it. No statement of the language says them: they are comments that read like the calls they would be, where
//! they happen; around them stands the kernel's own code.

use super::Printer;
use super::expression::Expr;
use super::kinds::Kind;
use crate::backend::structured::{PRIMARY, Values};
use crate::ir::{Access, BARRIER, Engine, Inst, Object, Op, PitchedMatrix, Role, Share, StoreStage, Value};

impl Printer<'_> {
    pub(super) fn engine(&mut self, inst: Inst, engine: &Engine) {
        let text = match engine {
            Engine::Init { barriers, arrivals } => {
                let who = if *arrivals == 1 { "a thread".to_owned() } else { format!("{arrivals} threads") };
                let count = self.kernel.objects[*barriers].ty.size(&self.kernel.structs) / u64::from(BARRIER.bytes());
                format!(
                    "// {}.init(): {count} barriers (mbarrier); a phase of one is over when {who} and the bytes it tells have arrived.",
                    self.array(*barriers)
                )
            }
            Engine::Arrive { barrier, of_block } => {
                let barrier = self.accessed(barrier);
                let block = of_block.map_or(String::new(), |rank| format!(" of the cluster's block {}", self.take(rank).text));
                format!("// {barrier}{block}.arrive(): this warp has read the slot.")
            }
            Engine::Is(role) => {
                // Threads that the launch adds to the block, and the first of them.
                let asked = if *role == Role::Producer { "is_producer()" } else { "is_issuer()" };
                for result in self.kernel.insts[inst].results.clone() {
                    self.define(inst, result, Expr::new(asked.to_owned(), PRIMARY));
                }
                return;
            }
            Engine::Expect { barrier, bytes } => {
                let barrier = self.accessed(barrier);
                format!("// {barrier}.arrive_expect_tx({});", self.take(*bytes).text)
            }
            Engine::Wait { barrier, parity } => {
                let barrier = self.accessed(barrier);
                format!("// {barrier}.wait(parity = {}): the copies to this slot have arrived.", self.take(*parity).text)
            }
            Engine::CopyRun { to, from, start, barrier } => {
                let (to, from, start) = (self.accessed(to), self.array(*from), self.take(*start).text);
                format!("// load_run(&mut {to}, {from}, {start}) by the copy engine, its bytes counted by {};", self.accessed(barrier))
            }
            Engine::CopyTile { to, from, row, column, barrier, share } => {
                let to = self.accessed(to);
                let (matrix, at) = self.place_in_matrix(from, [*row, *column]);
                let share = share.map_or(String::new(), |Share { parts, part, blocks }| {
                    let (part, blocks) = (self.take(part).text, self.take(blocks).text);
                    format!(", of {parts} parts the one of number {part}, to the cluster's blocks {blocks} (a bit each)")
                });
                format!(
                    "// load_tile(&mut {to}, {matrix}, {}, {}) by the copy engine{share}, its bytes counted by {};",
                    at[0],
                    at[1],
                    self.accessed(barrier)
                )
            }
            Engine::StoreTile { from, to, row, column } => {
                let from = self.accessed(from);
                let (matrix, at) = self.place_in_matrix(to, [*row, *column]);
                format!("// store_tile({matrix}, {}, {}, &{from}) by the copy engine, in the thread's next group of stores;", at[0], at[1])
            }
            Engine::CommitStores => "// The stores so far are a group.".to_owned(),
            Engine::AwaitStores { but, until } => {
                let which = if *but == 0 { String::new() } else { format!(" but the last {but}") };
                let what = match until {
                    StoreStage::Read => "have read their arrays",
                    StoreStage::Exit => "have read their arrays, behind the last round",
                    StoreStage::Done => "are in memory",
                };
                format!("// Waits until this thread's groups of stores{which} {what}.")
            }
            Engine::Fence => "// The copy engine may fill what was written (fence.proxy.async).".to_owned(),
            Engine::Meet { warpgroup } => format!("// Waits for the threads of warpgroup {} (bar.sync).", self.take(*warpgroup).text),
            Engine::Turn(barriers) => {
                let turn = self.turn(*barriers);
                let results = self.kernel.insts[inst].results.clone();
                for (n, result) in results.into_iter().enumerate() {
                    self.define(inst, result, Expr::new(format!("{turn}[{n}]"), PRIMARY));
                }
                return;
            }
            Engine::KeepTurn { barriers, slot, parity } => {
                let values = [*slot, *parity].map(|value| self.take_as(value, Kind::Plain).text);
                let word = if self.is_first_turn(inst, *barriers) { "let mut " } else { "" };
                format!("{word}{} = [{}, {}];", self.turn(*barriers), values[0], values[1])
            }
        };
        self.flush_loads();
        self.line(&text);
    }

    fn array(&self, object: Object) -> String {
        self.object_names[usize::from(object)].clone()
    }

    fn accessed(&mut self, access: &Access) -> String {
        self.place(access.object, &access.path).text
    }

    /// A matrix, and a row and a column of it.
    fn place_in_matrix(&mut self, matrix: &PitchedMatrix, at: [Value; 2]) -> (String, [String; 2]) {
        [matrix.rows, matrix.columns, matrix.pitch].into_iter().for_each(|value| drop(self.take(value)));
        let name = self.array(matrix.data);
        let mut name = name.trim_end_matches("_data").to_owned();
        if let Some(batch) = matrix.batch {
            [batch.count, batch.stride].into_iter().for_each(|value| drop(self.take(value)));
            name = format!("{name}[{}]", self.take(batch.index).text);
        }
        (name, at.map(|value| self.take(value).text))
    }

    /// The variable that keeps where a ring stands: slot and parity.
    fn turn(&self, barriers: Object) -> String {
        format!("{}_turn", self.array(barriers))
    }

    /// Whether nothing has said before where the ring stands.
    fn is_first_turn(&self, inst: Inst, barriers: Object) -> bool {
        let mut first: Option<Inst> = None;
        self.kernel.for_each_inst(|kernel, _, other| {
            let is_one = matches!(&kernel.insts[other].op, Op::Engine(Engine::KeepTurn { barriers: of, .. }) if *of == barriers);
            first = first.or(is_one.then_some(other));
        });
        first == Some(inst)
    }
}
