//! What is told to the copy engine.

use super::super::AccessKind;
use super::super::copied_matrix::CopiedMatrix;
use super::super::engine::{EngineStep, scalar_of_bytes};
use super::super::multicast::SharedPart;
use super::super::program::{Access, SimStep};
use super::super::registers::Reg;
use super::super::stores::TileStore;
use super::{Compiler, Result, Verified, add};
use crate::error::mistake;
use crate::sim::InstructionClass;
use warpwright_codegen::ir::{self, Engine, Step, Type, Value};

impl Compiler<'_> {
    pub(super) fn engine(&mut self, engine: &Engine, results: &[Value]) -> Result<()> {
        if let Engine::Turn(barriers) = engine {
            let turn = self.turn(*barriers)?;
            let to = self.define_all(results)?;
            return self.moves(&to, &turn);
        }
        if let Engine::KeepTurn { barriers, slot, parity } = engine {
            let turn = self.turn(*barriers)?;
            let from = self.slots(&[*slot, *parity])?;
            return self.moves(&turn, &from);
        }
        self.count(InstructionClass::Memory, 1);
        let step = match engine {
            Engine::Init { barriers, arrivals } => EngineStep::Init { object: usize::from(*barriers), arrivals: *arrivals },
            Engine::Arrive { barrier, of_block } => EngineStep::Arrive {
                barrier: self.place(barrier, 1, Type::U64, AccessKind::Atomic)?,
                of_block: of_block.map(|rank| self.slot(rank)).transpose()?,
            },
            Engine::Is(role) => match results {
                [result] => EngineStep::Is { role: *role, result: self.define(*result)? },
                _ => return Err(mistake()),
            },
            Engine::Expect { barrier, bytes } => {
                EngineStep::Expect { barrier: self.place(barrier, 1, Type::U64, AccessKind::Atomic)?, bytes: self.slot(*bytes)? }
            }
            Engine::Wait { barrier, parity } => {
                EngineStep::Wait { barrier: self.place(barrier, 1, Type::U64, AccessKind::Atomic)?, parity: self.slot(*parity)? }
            }
            Engine::CopyRun { to, from, start, barrier } => {
                let granule = self.program.objects[usize::from(to.object)].granule.min(8);
                let ty = scalar_of_bytes(granule);
                let bytes = self.kernel.bytes_of(to);
                let element = self.program.objects[usize::from(*from)].unit.max(1);
                let source = ir::Access { object: *from, path: vec![Step::Index(*start)] };
                EngineStep::Copy {
                    to: self.place(to, 1, ty, AccessKind::Write)?,
                    from: self.place(&source, (bytes / element) as u32, ty, AccessKind::Read)?,
                    bytes,
                    barrier: self.place(barrier, 1, Type::U64, AccessKind::Atomic)?,
                }
            }
            Engine::CopyTile { to, from, row, column, barrier, share } => {
                let share = match share {
                    Some(share) => Some(SharedPart { parts: share.parts, part: self.slot(share.part)?, blocks: self.slot(share.blocks)? }),
                    None => None,
                };
                let (rows, columns, element) = self.kernel.tile_of(to).verified()?;
                // The first element: the others are as far from it as the pitch says.
                let first = ir::Access { object: from.data, path: vec![Step::Index(from.pitch)] };
                let matrix = self.copied_matrix(from)?;
                let [row, column] = [*row, *column].map(|value| self.slot(value));
                EngineStep::CopyTile {
                    to: self.place(to, 1, element, AccessKind::Write)?,
                    from: self.place(&first, 1, element, AccessKind::Read)?,
                    tile: [rows, columns],
                    swizzle: self.kernel.swizzled.get(&to.object).copied(),
                    matrix,
                    at: [row?, column?],
                    barrier: self.place(barrier, 1, Type::U64, AccessKind::Atomic)?,
                    share,
                }
            }
            Engine::StoreTile { from, to, row, column } => {
                let (rows, columns, element) = self.kernel.tile_of(from).verified()?;
                let first = ir::Access { object: to.data, path: vec![Step::Index(to.pitch)] };
                let matrix = self.copied_matrix(to)?;
                let [row, column] = [*row, *column].map(|value| self.slot(value));
                EngineStep::StoreTile(TileStore {
                    from: self.place(from, 1, element, AccessKind::Read)?,
                    to: self.place(&first, 1, element, AccessKind::Write)?,
                    tile: [rows, columns],
                    swizzle: self.kernel.swizzled.get(&from.object).copied(),
                    matrix,
                    at: [row?, column?],
                })
            }
            Engine::CommitStores => EngineStep::CommitStores,
            Engine::AwaitStores { but, until } => EngineStep::AwaitStores { but: *but, until: *until },
            Engine::Fence => EngineStep::Fence,
            Engine::Meet { .. } => EngineStep::Meet,
            Engine::Turn(_) | Engine::KeepTurn { .. } => return Ok(()),
        };
        let step = add(&mut self.program.engines, step);
        self.emit(SimStep::Engine(step));
        Ok(())
    }

    fn copied_matrix(&mut self, matrix: &ir::PitchedMatrix) -> Result<CopiedMatrix> {
        let batch = match matrix.batch {
            Some(batch) => Some([self.slot(batch.index)?, self.slot(batch.count)?, self.slot(batch.stride)?]),
            None => None,
        };
        Ok(CopiedMatrix { rows: self.slot(matrix.rows)?, columns: self.slot(matrix.columns)?, pitch: self.slot(matrix.pitch)?, batch })
    }

    /// The slots that keep where a ring stands.
    fn turn(&mut self, barriers: ir::Object) -> Result<[Reg; 2]> {
        if let Some(turn) = self.turns.get(&barriers) {
            return Ok(*turn);
        }
        let turn = [self.allocate(Type::U32)?, self.allocate(Type::U32)?];
        self.turns.insert(barriers, turn);
        Ok(turn)
    }

    /// A place as an access of one scalar, which is never run as such.
    fn place(&mut self, place: &ir::Access, width: u32, ty: Type, kind: AccessKind) -> Result<u32> {
        let (path, _) = self.path_into(place, width)?;
        let (object, location) = (usize::from(place.object), self.location());
        let access =
            Access { object, kind, atomic: None, ty, path, values: vec![Reg::Narrow(0)], result: None, is_of_engine: true, location };
        Ok(add(&mut self.program.accesses, access))
    }
}
