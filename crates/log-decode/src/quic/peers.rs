// SPDX-License-Identifier: Apache-2.0
//! Names of the two ends of a connection: connection ids, addresses, stateless reset tokens.

use super::wire::ConnectionId;
use crate::End;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Connection ids that are remembered: endpoints keep a handful at a time.
const MAX_IDS: usize = 128;
/// Pairs of addresses that are remembered.
const MAX_PATHS: usize = 16;
const MAX_RESET_TOKENS: usize = 64;

#[derive(Default)]
pub(super) struct Peers {
    /// Oldest first; the end is the one that packets with this id go to.
    pub(super) ids: VecDeque<(ConnectionId, End)>,
    /// Learned since they were last taken.
    pub(super) fresh_ids: Vec<(ConnectionId, End)>,
    /// Remembered no longer.
    pub(super) old_ids: Vec<ConnectionId>,
    /// Client and server.
    pub(super) paths: Vec<(SocketAddr, SocketAddr)>,
    reset_tokens: VecDeque<[u8; 16]>,
}

impl Peers {
    /// `end` wants to be addressed by `id`.
    pub(super) fn learn(&mut self, id: ConnectionId, end: End) {
        if self.ids.contains(&(id, end)) {
            return;
        }
        if self.ids.len() >= MAX_IDS {
            self.old_ids.extend(self.ids.pop_front().map(|(id, _)| id));
        }
        self.ids.push_back((id, end));
        self.fresh_ids.push((id, end));
    }

    /// Length of the connection ids of `end`, for all that is known.
    pub(super) fn id_bytes(&self, end: End) -> usize {
        let own = self.ids.iter().rev().find(|(_, owner)| *owner == end);
        own.map_or(0, |(id, _)| id.len())
    }

    /// True if these addresses are new.
    pub(super) fn add_path(&mut self, client: SocketAddr, server: SocketAddr) -> bool {
        if self.paths.contains(&(client, server)) || self.paths.len() >= MAX_PATHS {
            return false;
        }
        self.paths.push((client, server));
        true
    }

    pub(super) fn add_reset_token(&mut self, token: [u8; 16]) {
        if self.reset_tokens.len() >= MAX_RESET_TOKENS {
            self.reset_tokens.pop_front();
        }
        self.reset_tokens.push_back(token);
    }

    /// RFC 9000 section 10.3.1.
    pub(super) fn is_stateless_reset(&self, datagram: &[u8]) -> bool {
        let token = datagram.last_chunk::<16>();
        token.is_some_and(|token| self.reset_tokens.contains(token))
    }
}
