// SPDX-License-Identifier: Apache-2.0
//! Packets that make a client start again: Retry and Version Negotiation.

use super::{push_packet, At, Connection};
use crate::quic::handshake::Space;
use crate::quic::header::{Kind, Long, Version};
use crate::quic::numbers::Numbers;
use crate::quic::protection;
use crate::quic::wire::hex;
use crate::tables::Tables;
use crate::{Direction, End, Severity};
use serde_json::json;
use std::rc::Rc;

impl Connection {
    /// True if `packet` is a Retry that answers this client.
    pub(in crate::quic) fn is_retried_by(&self, version: Version, packet: &[u8]) -> bool {
        protection::retry_fits(version, &self.original_dcid, packet)
    }

    /// A Retry: the client starts again with another connection id (RFC 9000 section 17.2.5).
    pub(in crate::quic) fn retry(&mut self, at: At, long: &Long<'_>, tables: &mut Tables) {
        let name = Rc::clone(&self.name);
        let row = self.row(&name, at, Some(Kind::Retry.as_str()));
        push_packet(&row, at, None, None, tables);
        self.retried = [Some(long.scid); 2];
        for version in [long.version, Version::V1, Version::V2] {
            self.keyring.add_initial(version, &long.scid);
        }
        self.peers.learn(long.scid, End::Server);
        let token_bytes = long.token.len().saturating_sub(protection::TAG_BYTES);
        let detail = format!("{{\"token_bytes\":{token_bytes}}}");
        self.handshake
            .step(&row, "retry", Some(at.length_bytes), Some(&detail), tables);
    }

    /// A Version Negotiation packet.
    pub(in crate::quic) fn version_negotiation(
        &mut self,
        at: At,
        versions: &[u8],
        tables: &mut Tables,
    ) {
        let name = Rc::clone(&self.name);
        let row = self.row(&name, at, Some("version_negotiation"));
        push_packet(&row, at, None, None, tables);
        let versions: Vec<_> = versions.chunks_exact(4).take(32).map(hex).collect();
        let versions = json!(versions).to_string();
        row.parameter("version_information.server_versions", &versions, tables);
        self.handshake.step(
            &row,
            "version_negotiation",
            Some(at.length_bytes),
            None,
            tables,
        );
    }

    /// A client must not start its packet numbers again after a Retry (RFC 9000 section 17.2.5.3), and some do.
    pub(super) fn after_retry(
        &mut self,
        long: &Long<'_>,
        space: Space,
        number: u64,
        tables: &mut Tables,
    ) {
        let Some(retried) = self
            .retried
            .get_mut(usize::from(long.kind == Kind::ZeroRtt))
        else {
            return;
        };
        if long.kind == Kind::Handshake || *retried != Some(long.dcid) {
            return;
        }
        *retried = None;
        let numbers = &mut self.numbers[space as usize][Direction::Up as usize];
        if numbers.largest().is_some_and(|largest| number <= largest) {
            *numbers = Numbers::default();
            self.recovery.discard(space);
            tables.count(
                "packet_numbers_restarted",
                Severity::Notice,
                "clients that count packets anew after a Retry (RFC 9000 section 17.2.5.3 forbids it): numbers come twice",
            );
        }
    }
}
