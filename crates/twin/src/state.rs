// SPDX-License-Identifier: Apache-2.0
//! State that holds a sender back, as the sender itself knows it after each of its steps.

/// Event that last tightened the congestion window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tightened {
    /// Nothing yet: it grows as in slow start.
    #[default]
    Never,
    /// A loss, by whatever it was noticed.
    ByLoss,
    /// Slow start had ended without a loss.
    ByExit,
}

/// Reason that keeps new data back, whatever the congestion window says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Data {
    /// Something can be sent.
    #[default]
    There,
    /// All has been sent once; nothing is known to be lost.
    AllSent,
    /// The program has nothing to send.
    Application,
    /// The send buffer is full of bytes on their way.
    SendBuffer,
    /// The credit of the stream is used up.
    StreamCredit,
    /// The credit of the connection is used up.
    ConnectionCredit,
    /// TCP's receive window is full.
    ReceiveWindow,
}

/// Event that makes an endpoint act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A packet of the other end.
    Packet,
    /// A retransmission timeout, or the timer of QUIC's time threshold.
    LossTimer,
    /// A probe timeout.
    ProbeTimer,
    /// The pacer, the program's own time, an acknowledgment that was held back.
    Other,
}

/// Kind of what an endpoint sent first in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Something for the first time.
    New,
    /// Something that was lost.
    Again,
}

/// All conditions of sending at one instant, from which they hold until the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The congestion window is full, and why.
    pub window: Option<Tightened>,
    /// Reason that keeps data back.
    pub data: Data,
    /// The pacer waits, with room in the window and data at hand.
    pub pacing: bool,
}

impl Held {
    /// True if nothing but a packet of the other end, or a timer in its place, lets it go on.
    #[must_use]
    pub fn waits_for_peer(self) -> bool {
        self.window.is_some() || !matches!(self.data, Data::There | Data::Application)
    }
}

/// One step of a sender.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The instant.
    pub at_ns: u64,
    /// Event that made it act.
    pub trigger: Trigger,
    /// Kind of what it sent, if anything, new or sent before.
    pub sent: Option<Sent>,
    /// State that holds it back when it has done all it could.
    pub held: Held,
}
