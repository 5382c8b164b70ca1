// SPDX-License-Identifier: Apache-2.0
//! Connections that a packet may belong to: found by connection id, else by addresses.

use super::connection::Connection;
use super::hashing::HashMap;
use super::wire::ConnectionId;
use crate::{Direction, End};
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

/// Connections that are followed at a time.
const MAX_CONNECTIONS: usize = 1 << 11;
/// Connections, one after the other, with the same addresses that are still told apart.
const MAX_PER_PATH: usize = 4;
const MAX_CANDIDATES: usize = 6;

/// A connection that a packet may belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) index: usize,
    /// The way that the packet went, if it does.
    pub(super) way: Direction,
    /// Length of the Destination Connection ID in its short header, if it does.
    pub(super) id_bytes: usize,
}

#[derive(Default)]
pub(super) struct Candidates {
    all: [Option<Candidate>; MAX_CANDIDATES],
    count: usize,
}

impl Candidates {
    fn add(&mut self, candidate: Candidate) {
        if self.contains(candidate) {
            return;
        }
        if let Some(slot) = self.all.get_mut(self.count) {
            *slot = Some(candidate);
            self.count += 1;
        }
    }

    pub(super) fn contains(&self, candidate: Candidate) -> bool {
        self.iter().any(|known| known == candidate)
    }

    /// The likeliest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Candidate> + '_ {
        self.all.iter().map_while(|candidate| *candidate)
    }
}

/// Source and destination.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Path(pub(super) SocketAddr, pub(super) SocketAddr);

impl Hash for Path {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        for end in [self.0, self.1] {
            let port = u64::from(end.port());
            match end.ip() {
                IpAddr::V4(address) => state.write_u64(u64::from(address.to_bits()) << 16 | port),
                IpAddr::V6(address) => {
                    let [high, low] = [64, 0].map(|shift| address.to_bits() >> shift);
                    state.write_u64(u64::try_from(high).unwrap_or_default());
                    state.write_u64(u64::try_from(low & u128::from(u64::MAX)).unwrap_or_default());
                    state.write_u64(port);
                }
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Directory {
    /// Indexes are never used again.
    connections: Vec<Option<Box<Connection>>>,
    oldest: usize,
    by_id: HashMap<ConnectionId, (usize, End)>,
    /// Connections by source and destination; newest last.
    by_path: HashMap<Path, Vec<(usize, Direction)>>,
    /// Lengths of all connection ids, as bits.
    id_lengths: u32,
}

impl Directory {
    pub(super) fn get(&mut self, index: usize) -> Option<&mut Connection> {
        self.connections.get_mut(index)?.as_deref_mut()
    }

    /// Take a new connection; gives its index, and one that had to go for it.
    pub(super) fn insert(
        &mut self,
        connection: Box<Connection>,
    ) -> (usize, Option<Box<Connection>>) {
        let index = self.connections.len();
        self.connections.push(Some(connection));
        if index - self.oldest < MAX_CONNECTIONS {
            return (index, None);
        }
        let oldest = self.connections.get_mut(self.oldest).and_then(Option::take);
        self.oldest += 1;
        if let Some(gone) = &oldest {
            for (id, _) in &gone.peers.ids {
                self.forget_id(*id, self.oldest - 1);
            }
            for &(client, server) in &gone.peers.paths {
                for path in [Path(client, server), Path(server, client)] {
                    self.forget_path(path, self.oldest - 1);
                }
            }
        }
        (index, oldest)
    }

    fn forget_id(&mut self, id: ConnectionId, index: usize) {
        if self
            .by_id
            .get(&id)
            .is_some_and(|(owner, _)| *owner == index)
        {
            self.by_id.remove(&id);
        }
    }

    fn forget_path(&mut self, path: Path, index: usize) {
        if let Some(connections) = self.by_path.get_mut(&path) {
            connections.retain(|(known, _)| *known != index);
            if connections.is_empty() {
                self.by_path.remove(&path);
            }
        }
    }

    /// Find packets by what `connection` has learned since the last time.
    pub(super) fn update(&mut self, index: usize) {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return;
        };
        let peers = &mut connection.peers;
        if peers.fresh_ids.is_empty() {
            return;
        }
        let (fresh, old) = (
            std::mem::take(&mut peers.fresh_ids),
            std::mem::take(&mut peers.old_ids),
        );
        for (id, end) in fresh.into_iter().filter(|(id, _)| id.len() > 0) {
            self.by_id.insert(id, (index, end));
            self.id_lengths |= 1 << id.len();
        }
        for id in old {
            self.forget_id(id, index);
        }
    }

    /// Find packets between these addresses.
    pub(super) fn add_path(&mut self, client: SocketAddr, server: SocketAddr, index: usize) {
        for (path, way) in [
            (Path(client, server), Direction::Up),
            (Path(server, client), Direction::Down),
        ] {
            let connections = self.by_path.entry(path).or_default();
            if connections.len() >= MAX_PER_PATH {
                connections.remove(0);
            }
            connections.push((index, way));
        }
    }

    /// Connections that a packet with a long header may belong to.
    pub(super) fn by_long(&self, dcid: &ConnectionId, path: Path) -> Candidates {
        let mut candidates = Candidates::default();
        if let Some(&owner) = self.by_id.get(dcid) {
            candidates.add(candidate(owner, dcid.len()));
        }
        self.add_by_path(path, &mut candidates);
        candidates
    }

    /// Connections that a packet with a short header may belong to, by its connection id.
    pub(super) fn by_short(&self, packet: &[u8]) -> Candidates {
        let mut candidates = Candidates::default();
        let mut lengths = self.id_lengths;
        while let Some(length) = lengths.checked_ilog2() {
            lengths &= !(1 << length);
            let length = length as usize;
            let id = packet.get(1..=length).and_then(ConnectionId::new);
            if let Some(&owner) = id.and_then(|id| self.by_id.get(&id)) {
                candidates.add(candidate(owner, length));
            }
        }
        candidates
    }

    /// Connections that a packet may belong to, by its addresses: what is left where connection ids
    /// are empty or not known.
    pub(super) fn by_path(&self, path: Path) -> Candidates {
        let mut candidates = Candidates::default();
        self.add_by_path(path, &mut candidates);
        candidates
    }

    fn add_by_path(&self, path: Path, candidates: &mut Candidates) {
        for &(index, way) in self.by_path.get(&path).into_iter().flatten().rev() {
            if let Some(Some(connection)) = self.connections.get(index) {
                let id_bytes = connection.peers.id_bytes(way.reverse().sender());
                candidates.add(Candidate {
                    index,
                    way,
                    id_bytes,
                });
            }
        }
    }

    /// All that are left, oldest first.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<Connection>> + '_ {
        self.connections.drain(..).flatten()
    }
}

fn candidate((index, end): (usize, End), id_bytes: usize) -> Candidate {
    let way = match end {
        End::Server => Direction::Up,
        End::Client => Direction::Down,
    };
    Candidate {
        index,
        way,
        id_bytes,
    }
}
