//! Where the ranks of several programs find each other: the first tells the others what NCCL knows their group by.

use crate::error::{Error, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the ranks of several programs find each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rendezvous {
    /// A file that all ranks see, and that is not there yet: rank 0 writes it, and removes it when all have come.
    ///
    /// A program that was killed leaves its file. Rank 0 refuses a file that is there already; the other ranks cannot know it from a new one, take it at once, and wait for a group that is no more until their time limit is over.
    /// So give each run a path of its own, with the number of its job for instance, or remove the file before any rank starts.
    File(PathBuf),
    /// An address, `host:port`, that rank 0 listens on and the others reach it by. If a host has several addresses, the others try each.
    ///
    /// Rank 0 may pass `0.0.0.0:port` to listen on all its interfaces, while the others pass `host:port`. It must where its own host name resolves to 127.0.1.1, as `/etc/hosts` of Debian and Ubuntu has it: listening there, it is
    /// reached from its own host alone. Use an address in a network that you trust: whoever connects is told what the group is known by.
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
                let beside = beside(path);
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
                let mut guests = Vec::new();
                loop {
                    while guests.len() < GUESTS {
                        match listener.accept() {
                            // One that cannot be waited for is gone.
                            Ok((other, _)) => guests.extend(Guest::new(other)),
                            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                            Err(error) => return Err(self.failed(error)),
                        }
                    }
                    guests.retain_mut(|guest| match guest.greeted(&id) {
                        Ok(rank) => {
                            if let Some(came) = rank.and_then(|rank| came.get_mut(rank)) {
                                *came = true;
                            }
                            rank.is_none()
                        }
                        Err(_) => false,
                    });
                    let count = came.iter().filter(|came| **came).count();
                    if count == ranks {
                        break;
                    }
                    self.pause(end, &format!("{count} of {ranks} ranks have come"))?;
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

/// How many may be waited for at once until they say who they are: more than that wait in the listener's own queue.
const GUESTS: usize = 256;

/// One that has come to rank 0 and has not said yet who it is. Nobody waits for it: it may be no rank at all, and say nothing.
struct Guest {
    stream: TcpStream,
    since: Instant,
    said: [u8; 8],
    len: usize,
}

impl Guest {
    fn new(stream: TcpStream) -> std::io::Result<Guest> {
        stream.set_nonblocking(true)?;
        Ok(Guest { stream, since: Instant::now(), said: [0; 8], len: 0 })
    }

    /// Hears what it says; once it has said which rank it is, tells it what the group is known by, and gives its rank. An error if it is gone, or has said nothing for too long.
    fn greeted(&mut self, id: &[u8; ID_BYTES]) -> std::io::Result<Option<usize>> {
        while self.len < self.said.len() {
            match self.stream.read(&mut self.said[self.len..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(len) => self.len += len,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.since.elapsed() < PATIENCE => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        // So few bytes fit in the buffer of a new connection; if not, it asks again.
        self.stream.write_all(id)?;
        usize::try_from(u64::from_le_bytes(self.said)).map(Some).map_err(std::io::Error::other)
    }
}

/// Where a file is written before it gets its name: another place for each path and each program.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    name.into()
}

/// Asks rank 0 what the group is known by, at each place that the address may mean.
fn asked(address: &str, rank: usize, end: Option<Instant>) -> std::io::Result<[u8; ID_BYTES]> {
    asked_at(address.to_socket_addrs()?, rank, end)
}

fn asked_at(places: impl Iterator<Item = SocketAddr>, rank: usize, end: Option<Instant>) -> std::io::Result<[u8; ID_BYTES]> {
    let mut last = ErrorKind::AddrNotAvailable.into();
    for place in places {
        match asked_there(place, rank, end) {
            Ok(id) => return Ok(id),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn asked_there(place: SocketAddr, rank: usize, end: Option<Instant>) -> std::io::Result<[u8; ID_BYTES]> {
    let left = end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()).clamp(PAUSE, PATIENCE));
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
    fn strangers_who_say_nothing_keep_no_rank_waiting() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let meeting = &Rendezvous::Tcp(format!("127.0.0.1:{port}"));
        let end = Some(Instant::now() + Duration::from_secs(20));
        let found = std::thread::scope(|scope| {
            let first = scope.spawn(move || meeting.meet(0, 3, || Ok([7; ID_BYTES]), end).map(|met| met.0));
            let come = || loop {
                match TcpStream::connect(("127.0.0.1", port)) {
                    Ok(stream) => break stream,
                    Err(_) => std::thread::sleep(PAUSE),
                }
            };
            let mut strangers: Vec<TcpStream> = (0..5).map(|_| come()).collect();
            // One has begun to say something, one names a rank that there is not, and one is gone again.
            strangers[0].write_all(&[1, 0, 0]).unwrap();
            strangers[1].write_all(&u64::MAX.to_le_bytes()).unwrap();
            strangers.truncate(4);
            let start = Instant::now();
            let join = |rank: usize| scope.spawn(move || meeting.meet(rank, 3, || unreachable!(), end).map(|met| met.0));
            let others = [1, 2].map(join).map(|rank| rank.join().unwrap().unwrap());
            let all = [first.join().unwrap().unwrap(), others[0], others[1]];
            // Three silent ones, one after the other, would take three times that.
            assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
            all
        });
        assert_eq!(found, [[7; ID_BYTES]; 3]);
    }

    #[test]
    fn who_says_nothing_for_too_long_is_let_go() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _silent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut guest = Guest::new(listener.accept().unwrap().0).unwrap();
        assert!(guest.greeted(&[7; ID_BYTES]).unwrap().is_none());
        guest.since = Instant::now().checked_sub(PATIENCE).unwrap();
        assert_eq!(guest.greeted(&[7; ID_BYTES]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn every_place_of_an_address_is_asked() {
        // Nobody listens at the first: it is no port that a test is given.
        let closed = SocketAddr::from(([127, 0, 0, 1], 1));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let places = [closed, listener.local_addr().unwrap()];
        let end = Some(Instant::now() + Duration::from_secs(20));
        std::thread::scope(|scope| {
            let asking = scope.spawn(move || asked_at(places.into_iter(), 5, end));
            let mut guest = Guest::new(listener.accept().unwrap().0).unwrap();
            let rank = loop {
                if let Some(rank) = guest.greeted(&[7; ID_BYTES]).unwrap() {
                    break rank;
                }
            };
            assert_eq!(rank, 5);
            assert_eq!(asking.join().unwrap().unwrap(), [7; ID_BYTES]);
        });
        assert_eq!(asked_at([closed].into_iter(), 5, end).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        assert_eq!(asked_at(std::iter::empty(), 5, end).unwrap_err().kind(), ErrorKind::AddrNotAvailable);
    }

    #[test]
    fn groups_whose_paths_differ_in_the_extension_write_different_files() {
        let (first, second) = (beside(Path::new("/shared/group.1")), beside(Path::new("/shared/group.2")));
        assert_ne!(first, second);
        assert_eq!(first.parent(), Some(Path::new("/shared")), "renamed within its folder");
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
