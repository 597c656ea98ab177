//! What ranks of several programs launch, told to each other before they do.

use super::reduction::{DataType, Reduction};
use super::{CollectiveLaunch, Kind, Task, disagreement, nccl};
use crate::buffer::Buffer;
use crate::error::{Error, Result};

/// Numbers that a task is told by.
const NUMBERS: usize = 4;

impl Task {
    fn to_numbers(self) -> [u64; NUMBERS] {
        let (kind, more) = match self.kind {
            Kind::AllReduce(by) => (0, u64::from(by.of_nccl().unsigned_abs())),
            Kind::AllGather => (1, 0),
            Kind::ReduceScatter(by) => (2, u64::from(by.of_nccl().unsigned_abs())),
            Kind::Reduce(by, root) => (6, (root as u64) << 8 | u64::from(by.of_nccl().unsigned_abs())),
            Kind::Broadcast(root) => (3, root as u64),
            Kind::Send(to) => (4, to as u64),
            Kind::Receive(from) => (5, from as u64),
        };
        [kind, more, u64::from(self.ty.of_nccl().unsigned_abs()), self.count as u64]
    }

    fn from_numbers([kind, more, ty, count]: [u64; NUMBERS]) -> Option<Task> {
        let rank = usize::try_from(more).ok()?;
        let kind = match kind {
            0 => Kind::AllReduce(Reduction::from_nccl(more)?),
            1 => Kind::AllGather,
            2 => Kind::ReduceScatter(Reduction::from_nccl(more)?),
            3 => Kind::Broadcast(rank),
            4 => Kind::Send(rank),
            5 => Kind::Receive(rank),
            6 => Kind::Reduce(Reduction::from_nccl(more & 0xff)?, rank >> 8),
            _ => return None,
        };
        Some(Task { kind, ty: DataType::from_nccl(ty)?, count: usize::try_from(count).ok()? })
    }
}

/// Errors if ranks do not launch the same: sends and receives are left to the time limit.
pub(super) fn confer(collectives: &[(&nccl::Rank, &CollectiveLaunch<'_>)]) -> Result<()> {
    let is_asked = |collective: &CollectiveLaunch<'_>| collective.communicator.is_checked && !collective.task.kind.is_of_two();
    let asked: Vec<_> = collectives.iter().filter(|(_, collective)| is_asked(collective)).collect();
    let upload = |collective: &CollectiveLaunch<'_>| collective.communicator.device.upload(&collective.task.to_numbers());
    let own = asked.iter().map(|(_, collective)| upload(collective)).collect::<Result<Vec<Buffer<u64>>>>()?;
    let room = |collective: &CollectiveLaunch<'_>| collective.communicator.device.zeros(NUMBERS * collective.communicator.ranks);
    let mut all = asked.iter().map(|(_, collective)| room(collective)).collect::<Result<Vec<Buffer<u64>>>>()?;
    let told: Vec<_> = asked
        .iter()
        .zip(&own)
        .zip(&mut all)
        .map(|(((rank, collective), own), all)| (*rank, collective.communicator.all_gather(own, all)))
        .collect();
    told.iter().try_for_each(|(_, collective)| collective.order())?;
    nccl::launch(&told.iter().map(|(rank, collective)| (*rank, collective)).collect::<Vec<_>>())?;
    drop(told);
    for ((_, collective), all) in asked.iter().zip(&all) {
        for (rank, numbers) in all.download()?.as_chunks::<NUMBERS>().0.iter().enumerate() {
            if *numbers == collective.task.to_numbers() {
                continue;
            }
            let other = Task::from_numbers(*numbers).map_or_else(|| format!("{numbers:?}"), |task| task.to_string());
            let reason = disagreement(collective.communicator.rank, collective.task, rank, other);
            return Err(Error::Collective { reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::reduction::Reducible;

    fn type_of<T: Reducible>() -> DataType {
        T::DATA_TYPE
    }

    #[test]
    fn tasks_are_told_by_numbers() {
        let kinds = [
            Kind::AllReduce(Reduction::Min),
            Kind::AllGather,
            Kind::ReduceScatter(Reduction::Max),
            Kind::Reduce(Reduction::Average, 300),
            Kind::Broadcast(3),
            Kind::Send(1),
            Kind::Receive(2),
        ];
        for kind in kinds {
            for ty in [type_of::<f32>(), type_of::<half::bf16>(), type_of::<u8>()] {
                let task = Task { kind, ty, count: 12_345 };
                assert_eq!(Task::from_numbers(task.to_numbers()), Some(task));
            }
        }
        assert_eq!(Task::from_numbers([9, 0, 0, 0]), None);
    }
}
