// SPDX-License-Identifier: Apache-2.0
//! TCP reduced to what a download needs, as state machines without I/O.
//!
//! | part | by |
//! |---|---|
//! | three-way handshake, its timer | RFC 9293 section 3.5, RFC 6298 section 2 |
//! | slow start, congestion avoidance | RFC 5681 section 3.1; CUBIC by RFC 9438 section 4 |
//! | growth only while the window limits | RFC 9438 section 5.8, RFC 7661 section 4.3 |
//! | recovery by SACK | RFC 6675 sections 4 and 5, with whole segments for bytes |
//! | retransmission timeout | RFC 6298 sections 2 and 5; no less than 200 ms, as Linux has it |
//! | initial window | RFC 6928 |
//! | delayed acknowledgments | RFC 5681 section 4.2: every second segment, after 40 ms, out of order at once |
//! | receive window | RFC 9293 section 3.8.6; the program reads at once |
//!
//! Left out: tail loss probes and RACK (RFC 8985), proportional rate reduction (RFC 6937), `HyStart`, pacing.

mod endpoint;
mod kernel;
mod program;
mod receiver;
mod segment;
mod sender;
pub mod trial;
mod window;

pub use endpoint::Endpoint;
pub use kernel::Sample;
pub use segment::Segment;
