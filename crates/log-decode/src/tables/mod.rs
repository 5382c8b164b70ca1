// SPDX-License-Identifier: Apache-2.0
//! The tables that decoders fill, whatever the format: QUIC and TCP share one wherever the notion is the same.
//!
//! What every column means, its unit and when it is null stands in the Python package `quiclab.model.tables`; a test holds
//! both to the same names and types.

mod http;
mod link;
mod page;
mod quic;
mod transport;

pub(crate) use http::{HttpFrame, HttpFrames, HttpRequest, HttpRequests, Stream, Streams};
pub(crate) use link::{IpPacket, IpPackets, LinkPacket, LinkPackets};
pub(crate) use page::{PageEvent, PageEvents};
pub(crate) use quic::{Frame, Frames};
pub(crate) use transport::{
    Ack, Acks, BlockedState, BlockedStates, CcState, CcStates, FlowControl, FlowControls,
    Handshake, HandshakeStep, Loss, Losses, Packet, Packets, Parameter, Parameters, Timer, Timers,
    TlsRecord, TlsRecords, TransportMetric, TransportMetrics,
};

use crate::arrow::{Outlet, Table};
use crate::{Severity, Stats};

/// Something that a log cannot tell, as opposed to something that did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// A table's name.
    pub table: &'static str,
    /// A column of it; `None` for the whole table.
    pub column: Option<&'static str>,
    /// Reason why the log cannot tell.
    pub reason: &'static str,
}

macro_rules! tables {
    ($($name:ident: $builder:ident),* $(,)?) => {
        /// Every table under construction, and what did not become a row.
        #[derive(Debug, Default)]
        pub struct Tables {
            $(pub(crate) $name: $builder,)*
            /// Counts of what did not become a row.
            pub stats: Stats,
            /// Facts that the log cannot tell.
            pub absent: Vec<Absent>,
        }

        impl Tables {
            /// Tables whose full chunks leave through `outlet` at once.
            #[must_use]
            pub fn new(outlet: &Outlet) -> Self {
                Self {
                    $($name: $builder::new(outlet),)*
                    ..Self::default()
                }
            }

            /// Every table without rows: names and types of what decoders give.
            #[must_use]
            pub fn empty() -> Vec<Table> {
                vec![$($builder::empty(),)*]
            }

            /// True if a row was pushed to the table of this name.
            pub(crate) fn has_rows(&self, table: &str) -> bool {
                match table {
                    $(stringify!($name) => !self.$name.is_empty(),)*
                    _ => false,
                }
            }

            /// Seal what is left; with an outlet it takes that too.
            #[must_use]
            pub fn finish(self) -> Finished {
                let tables: Vec<Table> = [$(self.$name.finish(),)*].into_iter().flatten().collect();
                Finished { tables, stats: self.stats, absent: self.absent }
            }
        }
    };
}

tables! {
    link_packets: LinkPackets,
    ip_packets: IpPackets,
    packets: Packets,
    frames: Frames,
    acks: Acks,
    streams: Streams,
    transport_metrics: TransportMetrics,
    cc_states: CcStates,
    losses: Losses,
    timers: Timers,
    flow_control: FlowControls,
    blocked: BlockedStates,
    handshake: Handshake,
    tls_records: TlsRecords,
    parameters: Parameters,
    http_requests: HttpRequests,
    http_frames: HttpFrames,
    page_events: PageEvents,
}

/// Results that are left when a file ends.
#[derive(Debug)]
pub struct Finished {
    /// The tables that have rows and have not left through an outlet.
    pub tables: Vec<Table>,
    /// Counts of what did not become a row.
    pub stats: Stats,
    /// Facts that the log cannot tell.
    pub absent: Vec<Absent>,
}

impl Finished {
    /// One table by its name, if it has rows.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Number of rows of one table.
    #[must_use]
    pub fn rows(&self, name: &str) -> usize {
        self.table(name).map_or(0, Table::rows)
    }
}

impl Tables {
    /// Count one finding.
    pub(crate) fn count(&mut self, name: &'static str, severity: Severity, advice: &'static str) {
        self.stats.count(name, severity, advice);
    }

    /// Say once what the log cannot tell.
    pub(crate) fn cannot_tell(
        &mut self,
        table: &'static str,
        column: Option<&'static str>,
        reason: &'static str,
    ) {
        let absent = Absent {
            table,
            column,
            reason,
        };
        if !self.absent.contains(&absent) {
            self.absent.push(absent);
        }
    }
}
