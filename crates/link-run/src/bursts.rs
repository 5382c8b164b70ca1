// SPDX-License-Identifier: Apache-2.0
//! Numbers of super-packets in one direction, which packets keep from link to link.
//!
//! A node between two links gets packets as the wire has them, and hands them over one by one or as its kernel joins
//! them again. Which of them the sender's host handed over as one is known by the link before it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::packet;

/// More than are on their way through a node at a time. A proxy's end packets there: none of those is asked for.
const MOST: usize = 16_384;

/// The super-packets of one direction of one link.
#[derive(Debug, Default)]
pub struct Bursts {
    /// The next number, of all links in this direction.
    next: Arc<AtomicU32>,
    /// The node that packets come from, and the one that they go to, where a link is on its other side.
    from: Option<Arc<Node>>,
    to: Option<Arc<Node>>,
}

/// The packets that a node has and passes on.
#[derive(Debug, Default)]
struct Node(Mutex<InNode>);

#[derive(Debug, Default)]
struct InNode {
    /// Identity of a packet → its super-packet.
    known: HashMap<u64, u32>,
    /// Identities in the order in which they came.
    order: VecDeque<u64>,
}

impl Bursts {
    /// One for each of several links in a row, in the order in which their packets pass them.
    #[must_use]
    pub fn in_a_row(links: usize) -> Vec<Self> {
        let next = Arc::default();
        let mut from = None;
        let mut row = Vec::new();
        for number in 1..=links {
            let to = (number < links).then(Arc::default);
            row.push(Self {
                next: Arc::clone(&next),
                from,
                to: to.clone(),
            });
            from = to;
        }
        row
    }

    /// The number of what a host hands over now.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The number that a packet had on the link before this one; `None` where its way begins here.
    #[must_use]
    pub fn kept(&self, packet: &[u8]) -> Option<u32> {
        let node = self.from.as_ref()?;
        node.take(packet::identity(packet)?)
    }

    /// Keeps the number of a packet that leaves the link, for the next one.
    pub fn keep(&self, packet: &[u8], burst: u32) {
        let identity = self.to.as_ref().and_then(|_| packet::identity(packet));
        if let (Some(node), Some(identity)) = (&self.to, identity) {
            node.put(identity, burst);
        }
    }
}

impl Node {
    fn put(&self, identity: u64, burst: u32) {
        let mut node = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if node.order.len() == MOST {
            if let Some(oldest) = node.order.pop_front() {
                node.known.remove(&oldest);
            }
        }
        node.order.push_back(identity);
        node.known.insert(identity, burst);
    }

    fn take(&self, identity: u64) -> Option<u32> {
        let mut node = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        node.known.remove(&identity)
    }
}
