// SPDX-License-Identifier: Apache-2.0
//! Packets that a connection has made, until they are due.
//!
//! quiche's bbr2 gives every packet a time of release and believes that it left then. Packets are therefore made up to
//! `max_release_into_future` early (1 to 5 ms, an eighth of the RTT) and kept here: a late wake-up delays one packet
//! and not all that follow. reno and cubic release at once.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::library;

/// Linux takes no more segments, nor more bytes than an IP packet has, in one call.
const MAX_SEGMENTS: usize = 64;
const MAX_BATCH: usize = 65_000;
/// quiche counts releases that are closer than this as the same.
const SAME_TIME: Duration = Duration::from_micros(50);

/// Datagrams that leave together: one, or several of `segment` bytes, where the last may be shorter.
pub struct Batch {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub segment: usize,
    pub bytes: Vec<u8>,
    at: Instant,
}

impl Batch {
    fn takes(&self, other: &Self) -> bool {
        self.bytes.len().is_multiple_of(self.segment)
            && other.bytes.len() <= self.segment
            && self.bytes.len() + other.bytes.len() <= MAX_BATCH
            && self.bytes.len() / self.segment < MAX_SEGMENTS
            && (self.from, self.to) == (other.from, other.to)
            && other.at.saturating_duration_since(self.at) <= SAME_TIME
    }
}

/// The packets of one connection.
pub struct Outbox {
    waiting: VecDeque<Batch>,
    spare: Vec<Vec<u8>>,
    segmentation: bool,
    make_more_at: Option<Instant>,
    blocked: bool,
    packet: Vec<u8>,
}

impl Outbox {
    /// An empty outbox. With segmentation several datagrams may share a batch.
    pub fn new(segmentation: bool) -> Self {
        Self {
            waiting: VecDeque::new(),
            spare: Vec::new(),
            segmentation,
            make_more_at: None,
            blocked: false,
            packet: vec![0; 65_535],
        }
    }

    /// Let the connection make packets until it has no more to say, or none that is due soon.
    pub fn fill(&mut self, quic: &mut quiche::Connection) {
        self.make_more_at = None;
        loop {
            let now = Instant::now();
            let (at, early) = library::next_release(quic, now);
            if at > now + early {
                self.make_more_at = at.checked_sub(early);
                return;
            }
            // Any error closes the connection in the library, which then makes a last packet and says Done.
            let Ok((length, info)) = quic.send(&mut self.packet[..]) else {
                return;
            };
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.extend_from_slice(&self.packet[..length]);
            self.push(Batch {
                from: info.from,
                to: info.to,
                segment: length,
                bytes,
                at: library::release(&info, at),
            });
        }
    }

    fn push(&mut self, batch: Batch) {
        match self.waiting.back_mut() {
            Some(last) if self.segmentation && last.takes(&batch) => {
                last.bytes.extend_from_slice(&batch.bytes);
                self.recycle(batch.bytes);
            }
            _ => self.waiting.push_back(batch),
        }
    }

    fn recycle(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        self.spare.push(bytes);
    }

    /// Hand over what is due. What cannot be sent is lost, as on the path, unless the socket is only full.
    pub fn send(&mut self, mut transmit: impl FnMut(&Batch) -> io::Result<()>) {
        self.blocked = false;
        while self
            .waiting
            .front()
            .is_some_and(|batch| batch.at <= Instant::now())
        {
            match self.waiting.front().map(&mut transmit) {
                Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return;
                }
                _ => {
                    if let Some(batch) = self.waiting.pop_front() {
                        self.recycle(batch.bytes);
                    }
                }
            }
        }
    }

    /// Hand over everything now, because the end has come.
    pub fn send_all(&mut self, mut transmit: impl FnMut(&Batch) -> io::Result<()>) {
        for batch in self.waiting.drain(..) {
            // The peer would learn the same from its idle timeout.
            let _ = transmit(&batch);
        }
    }

    /// The instant at which there is something to do here without any packet from the peer.
    pub fn wake_at(&self) -> Option<Instant> {
        let due = if self.blocked {
            None
        } else {
            self.waiting.front().map(|batch| batch.at)
        };
        earliest(due, self.make_more_at)
    }

    /// True if packets, or the making of more, wait for their time.
    pub fn is_paced(&self) -> bool {
        let now = Instant::now();
        self.make_more_at.is_some() || self.waiting.front().is_some_and(|batch| batch.at > now)
    }

    /// True if the socket must become writable first.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }
}

/// The earlier of two deadlines, where there are any.
pub fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(length: usize, at: Instant) -> Batch {
        let address = "127.0.0.1:1".parse().expect("an address");
        Batch {
            from: address,
            to: address,
            segment: length,
            bytes: vec![0; length],
            at,
        }
    }

    fn lengths(segmentation: bool, batches: Vec<Batch>) -> Vec<usize> {
        let mut outbox = Outbox::new(segmentation);
        for each in batches {
            outbox.push(each);
        }
        outbox.waiting.iter().map(|each| each.bytes.len()).collect()
    }

    /// Only equal sizes at one time share a batch, and a shorter packet ends it.
    #[test]
    fn batches_hold_equal_segments() {
        let now = Instant::now();
        let later = now + Duration::from_millis(1);
        let packets = || {
            vec![
                batch(1200, now),
                batch(1200, now),
                batch(80, now),
                batch(1200, now),
                batch(1200, later),
            ]
        };
        assert_eq!(lengths(true, packets()), [2480, 1200, 1200]);
        assert_eq!(lengths(false, packets()), [1200, 1200, 80, 1200, 1200]);
    }

    /// The kernel's limits hold.
    #[test]
    fn batches_are_bounded() {
        let now = Instant::now();
        assert_eq!(
            lengths(true, (0..130).map(|_| batch(100, now)).collect()),
            [6400, 6400, 200]
        );
        assert!(lengths(true, (0..130).map(|_| batch(1200, now)).collect())
            .iter()
            .all(|&bytes| bytes <= MAX_BATCH));
    }

    /// A packet that is not due stays, and the outbox says until when.
    #[test]
    fn packets_wait_until_they_are_due() {
        let later = Instant::now() + Duration::from_secs(60);
        let mut outbox = Outbox::new(false);
        outbox.push(batch(1, Instant::now()));
        outbox.push(batch(2, later));
        let mut sent = Vec::new();
        outbox.send(|each| {
            sent.push(each.bytes.len());
            Ok(())
        });
        assert_eq!((sent, outbox.wake_at()), (vec![1], Some(later)));
    }

    /// A full socket keeps the packet, and only the socket can wake it.
    #[test]
    fn a_full_socket_loses_nothing() {
        let mut outbox = Outbox::new(false);
        outbox.push(batch(1, Instant::now()));
        outbox.send(|_| Err(io::ErrorKind::WouldBlock.into()));
        assert!(outbox.is_blocked());
        assert_eq!(outbox.wake_at(), None);
        outbox.send(|_| Ok(()));
        assert!(!outbox.is_blocked() && outbox.waiting.is_empty());
    }
}
