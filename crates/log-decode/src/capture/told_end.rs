// SPDX-License-Identifier: Apache-2.0
//! The end that a capture was taken at, told by its own packets: what opens connections
//! goes out where the client is.

use super::batch::Batch;
use super::driver::Driver;
use super::format;
use super::headers::Headers;
use crate::{DecodeError, End, Input};
use std::net::IpAddr;

const SYN: u16 = 2;
const ACK: u16 = 0x10;

/// Bytes of a capture that are read for it.
const MAX_STRETCHES: usize = 16;
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// Pairs of addresses that are watched for the first packet of QUIC.
const MAX_PAIRS: usize = 64;

/// Watches packets that open connections, and those that answer them.
#[derive(Debug, Default)]
pub(super) struct Opener {
    at_client: bool,
    at_server: bool,
    /// Sender and receiver of first packets of QUIC.
    pairs: Vec<((IpAddr, u16), (IpAddr, u16))>,
}

impl Opener {
    /// Look at a packet whose frame says that it went out or came in.
    pub(super) fn look(&mut self, headers: &Headers, packet: &[u8], flags: u32) {
        let (INBOUND | OUTBOUND) = flags else {
            return;
        };
        let is_answer = match &headers.tcp {
            Some(tcp) if tcp.flags & SYN != 0 => tcp.flags & ACK != 0,
            Some(_) => return,
            None => {
                let payload = packet.get(headers.payload.clone()).unwrap_or_default();
                match self.answers_quic(headers, payload) {
                    Some(is_answer) => is_answer,
                    None => return,
                }
            }
        };
        if (flags == OUTBOUND) == is_answer {
            self.at_server = true;
        } else {
            self.at_client = true;
        }
    }

    /// True if an Initial packet of QUIC is the server's: the first one between two ends is the client's, if it goes to the
    /// lower port. `None` if it is no such packet.
    fn answers_quic(&mut self, headers: &Headers, payload: &[u8]) -> Option<bool> {
        // Long header, fixed bit, Initial of version 1 or of the last drafts; or version 2, which counts from one on.
        let is_initial = match payload {
            [first, 0, 0, 0, 1, ..] | [first, 0xff, 0, 0, _, ..] => first & 0xf0 == 0xc0,
            [first, 0x6b, 0x33, 0x43, 0xcf, ..] => first & 0xf0 == 0xd0,
            _ => false,
        };
        let ((src, dst), (src_port, dst_port)) = (headers.addresses?, headers.ports?);
        if !is_initial || src_port == dst_port {
            return None;
        }
        let (src, dst) = ((src, src_port), (dst, dst_port));
        if self.pairs.contains(&(src, dst)) {
            return Some(false);
        }
        if self.pairs.contains(&(dst, src)) {
            return Some(true);
        }
        if self.pairs.len() >= MAX_PAIRS || dst_port > src_port {
            return None;
        }
        self.pairs.push((src, dst));
        Some(false)
    }

    /// `None` where nothing tells, or packets contradict each other, as they do on loopback and between two networks.
    pub(super) fn end(&self) -> Option<End> {
        match (self.at_client, self.at_server) {
            (true, false) => Some(End::Client),
            (false, true) => Some(End::Server),
            _ => None,
        }
    }
}

/// The end by what the start of a capture holds.
pub(super) fn of(input: &Input) -> Result<Option<End>, DecodeError> {
    let mut driver = Driver::new(None);
    let mut format = format(input, &mut driver)?;
    let mut batch = Batch::default();
    for _ in 0..MAX_STRETCHES {
        let more = format.stretch(&mut driver)?;
        driver.hand_over(&mut batch);
        batch.items.clear();
        if !more {
            break;
        }
    }
    Ok(driver.opener.end())
}
