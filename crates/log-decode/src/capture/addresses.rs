// SPDX-License-Identifier: Apache-2.0
//! Addresses as text, made once for the few that a stretch of a capture is about.

use std::fmt::Write as _;
use std::net::IpAddr;

/// Both ends of two connections.
const KEPT: usize = 4;

/// The texts of the addresses met last.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    kept: [(Option<IpAddr>, String); KEPT],
    /// The slot that is given up next.
    next: usize,
}

impl Addresses {
    /// Both addresses as text.
    pub(super) fn texts(&mut self, (src, dst): (IpAddr, IpAddr)) -> (Option<&str>, Option<&str>) {
        let src = self.slot(src, KEPT);
        let dst = self.slot(dst, src);
        let text = |slot: usize| self.kept.get(slot).map(|(_, text)| text.as_str());
        (text(src), text(dst))
    }

    /// Slot of the text of `address`, which is not `taken` if it has to be made.
    fn slot(&mut self, address: IpAddr, taken: usize) -> usize {
        let found = (self.kept.iter()).position(|(kept, _)| *kept == Some(address));
        if let Some(found) = found {
            return found;
        }
        if self.next == taken {
            self.next = (self.next + 1) % KEPT;
        }
        let slot = self.next;
        self.next = (self.next + 1) % KEPT;
        if let Some((kept, text)) = self.kept.get_mut(slot) {
            *kept = Some(address);
            text.clear();
            // Writing to a String does not fail.
            let _ = write!(text, "{address}");
        }
        slot
    }
}
