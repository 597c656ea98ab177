//! Where the ranks of several programs find each other: the first tells the others what NCCL knows their group by.

use crate::error::{Error, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where the ranks of several programs find each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rendezvous {
    /// A file that all ranks see, and that is not there yet: rank 0 writes it, and removes it when all have come.
    File(PathBuf),
    /// An address, `host:port`, that rank 0 listens on and the others reach it by.
    Tcp(String),
}

/// Bytes of `ncclUniqueId`.
pub(super) const ID_BYTES: usize = 128;

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(5);

impl Rendezvous {
    /// Called by rank 0 with the group's identity, and by the others to learn it. What it returns goes away when the ranks have met.
    pub(super) fn meet(
        &self,
        rank: usize,
        ranks: usize,
        id: impl FnOnce() -> Result<[u8; ID_BYTES]>,
        end: Option<Instant>,
    ) -> Result<([u8; ID_BYTES], Left)> {
        match (self, rank) {
            (Rendezvous::File(path), 0) => {
                let id = id()?;
                if path.exists() {
                    return Err(self.failed("it is there already; help: remove it if no other group meets there, or pass another"));
                }
                // Written beside it and renamed: whoever sees it sees all of it.
                let beside = path.with_extension(format!("{}.new", std::process::id()));
                std::fs::write(&beside, id).and_then(|()| std::fs::rename(&beside, path)).map_err(|error| self.failed(error))?;
                Ok((id, Left(Some(path.clone()))))
            }
            (Rendezvous::File(path), _) => loop {
                match std::fs::read(path) {
                    Ok(bytes) => {
                        let id =
                            bytes.try_into().map_err(|_| self.failed("it holds something else than rank 0 writes; help: pass another"))?;
                        return Ok((id, Left(None)));
                    }
                    Err(error) if error.kind() == ErrorKind::NotFound => self.pause(end, "rank 0 has not written it")?,
                    Err(error) => return Err(self.failed(error)),
                }
            },
            (Rendezvous::Tcp(address), 0) => {
                let id = id()?;
                let listener = TcpListener::bind(address).map_err(|error| self.failed(error))?;
                listener.set_nonblocking(true).map_err(|error| self.failed(error))?;
                // Each says who it is: one that goes away again, or asks twice, is no rank more.
                let mut came = vec![false; ranks];
                came[0] = true;
                while came.contains(&false) {
                    match listener.accept() {
                        Ok((other, _)) => {
                            if let Some(came) = greeted(other, &id).ok().and_then(|rank| came.get_mut(rank)) {
                                *came = true;
                            }
                        }
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {
                            let count = came.iter().filter(|came| **came).count();
                            self.pause(end, &format!("{count} of {ranks} ranks have come"))?;
                        }
                        Err(error) => return Err(self.failed(error)),
                    }
                }
                Ok((id, Left(None)))
            }
            (Rendezvous::Tcp(address), _) => loop {
                match asked(address, rank, end) {
                    Ok(id) => return Ok((id, Left(None))),
                    Err(error) => self.pause(end, &format!("rank 0 does not answer ({error})"))?,
                }
            },
        }
    }

    fn pause(&self, end: Option<Instant>, why: &str) -> Result<()> {
        if end.is_some_and(|end| Instant::now() >= end) {
            return Err(self.failed(format!("{why} within the time limit; help: start all ranks, each with this place")));
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }

    fn failed(&self, why: impl std::fmt::Display) -> Error {
        let place = match self {
            Rendezvous::File(path) => format!("the file `{}`", path.display()),
            Rendezvous::Tcp(address) => format!("the address `{address}`"),
        };
        Error::Collective { reason: format!("ranks cannot meet at {place}: {why}") }
    }
}

/// How long the two ends of a connection wait for each other.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tells one that has come what the group is known by; gives which rank it is.
fn greeted(mut other: TcpStream, id: &[u8; ID_BYTES]) -> std::io::Result<usize> {
    other.set_nonblocking(false)?;
    other.set_read_timeout(Some(PATIENCE))?;
    let mut rank = [0; 8];
    other.read_exact(&mut rank)?;
    other.write_all(id)?;
    usize::try_from(u64::from_le_bytes(rank)).map_err(std::io::Error::other)
}

/// Asks rank 0 what the group is known by.
fn asked(address: &str, rank: usize, end: Option<Instant>) -> std::io::Result<[u8; ID_BYTES]> {
    let left = end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()).clamp(PAUSE, PATIENCE));
    let mut places = address.to_socket_addrs()?;
    let place = places.next().ok_or(ErrorKind::AddrNotAvailable)?;
    let mut first = TcpStream::connect_timeout(&place, left)?;
    first.set_read_timeout(Some(left))?;
    first.write_all(&(rank as u64).to_le_bytes())?;
    let mut id = [0; ID_BYTES];
    first.read_exact(&mut id).map(|()| id)
}

/// What a meeting leaves: a file, which is removed when this is dropped.
pub(super) struct Left(Option<PathBuf>);

impl Drop for Left {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Who finds it there next time is told.
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_meet(meeting: &Rendezvous) {
        let end = Some(Instant::now() + Duration::from_secs(20));
        let found: Vec<[u8; ID_BYTES]> = std::thread::scope(|scope| {
            let join = |rank: usize| scope.spawn(move || meeting.meet(rank, 3, || Ok([7; ID_BYTES]), end).map(|met| (met.0, Some(met.1))));
            let ranks = [2, 0, 1].map(join).map(|rank| rank.join().unwrap().unwrap());
            ranks.iter().map(|rank| rank.0).collect()
        });
        assert_eq!(found, [[7; ID_BYTES]; 3]);
    }

    #[test]
    fn ranks_meet_at_a_file_and_at_an_address() {
        let path = std::env::temp_dir().join(format!("warpwright-meeting-{}", std::process::id()));
        all_meet(&Rendezvous::File(path.clone()));
        assert!(!path.exists(), "the file is removed when they have met");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        all_meet(&Rendezvous::Tcp(format!("127.0.0.1:{port}")));
    }

    #[test]
    fn who_comes_alone_is_told_within_the_limit() {
        let path = std::env::temp_dir().join(format!("warpwright-alone-{}", std::process::id()));
        let meet = |meeting: &Rendezvous, rank: usize| {
            meeting
                .meet(rank, 2, || Ok([1; ID_BYTES]), Some(Instant::now() + Duration::from_millis(50)))
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        let error = meet(&Rendezvous::File(path.clone()), 1);
        assert_eq!(
            error,
            format!(
                "ranks cannot meet at the file `{}`: rank 0 has not written it within the time limit; help: start all ranks, each with this place",
                path.display()
            )
        );
        std::fs::write(&path, "old").unwrap();
        assert!(
            meet(&Rendezvous::File(path.clone()), 0)
                .ends_with("it is there already; help: remove it if no other group meets there, or pass another")
        );
        assert!(meet(&Rendezvous::File(path.clone()), 1).ends_with("it holds something else than rank 0 writes; help: pass another"));
        std::fs::remove_file(&path).unwrap();
        assert!(
            meet(&Rendezvous::Tcp("127.0.0.1:0".to_owned()), 0)
                .ends_with("1 of 2 ranks have come within the time limit; help: start all ranks, each with this place")
        );
        assert!(meet(&Rendezvous::Tcp("127.0.0.1:1".to_owned()), 1).contains("rank 0 does not answer"));
    }
}
