// SPDX-License-Identifier: Apache-2.0
//! Choice of the end that is the client: segments wait until one of them tells.

use super::Flow;
use crate::tables::Tables;
use crate::tcp::segment::Segment;
use crate::tcp::undecided::Kept;
use crate::tls::layer::Layer;
use std::net::SocketAddr;

impl Flow {
    /// The client is one of the ends of `segment`.
    pub(super) fn decide(&mut self, client: SocketAddr, segment: &Segment<'_>) {
        let server = if client == segment.src {
            segment.dst
        } else {
            segment.src
        };
        self.client = client;
        self.name = match self.sequel {
            0 => format!("{client}-{server}"),
            sequel => format!("{client}-{server}#{sequel}"),
        };
        self.layer = Layer::new(&self.name, self.vantage, self.keys.clone());
    }

    /// Take what has waited, now that `client` is told.
    fn catch_up(&mut self, client: SocketAddr, kept: &[Kept], tables: &mut Tables) {
        if let Some(first) = kept.first() {
            self.decide(client, &first.segment());
        }
        for kept in kept {
            self.take(&kept.segment(), tables);
        }
    }

    /// Take a segment.
    pub(in crate::tcp) fn segment(&mut self, segment: &Segment<'_>, tables: &mut Tables) {
        if self.undecided.is_none() {
            return self.take(segment, tables);
        }
        let Some(mut waiting) = self.undecided.take() else {
            return;
        };
        match waiting.take(segment) {
            Some(client) => self.catch_up(client, &waiting.drain(), tables),
            None => self.undecided = Some(waiting),
        }
    }

    /// Nothing more may wait: the ports tell the client.
    pub(super) fn stop_waiting(&mut self, tables: &mut Tables) {
        let waiting = self.undecided.take();
        if let Some((client, mut waiting)) = waiting.and_then(|all| Some((all.by_port()?, all))) {
            self.catch_up(client, &waiting.drain(), tables);
        }
    }
}
