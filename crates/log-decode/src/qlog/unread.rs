// SPDX-License-Identifier: Apache-2.0
//! Members that no column holds: a log may say more than the tables take, and what they leave is counted by name.

use crate::tables::Tables;
use crate::Severity;

/// Names of one file; a hostile log cannot make the list long.
const MAX_NAMES: usize = 64;
const MAX_NAME_BYTES: usize = 48;

/// Number of times that each was met, by what it is a member of.
#[derive(Debug, Default)]
pub(super) struct Unread {
    names: Vec<(Vec<u8>, Vec<u8>, u64)>,
    others: u64,
}

impl Unread {
    /// `of`: `header`, `frame`, `event`, or the name of an event.
    pub(super) fn count(&mut self, of: &[u8], member: &[u8]) {
        // Logs have a dozen of them at most: each is found sooner than it would be hashed.
        let known = self
            .names
            .iter()
            .position(|(owner, name, _)| name == member && owner == of);
        if let Some((_, _, count)) = known.and_then(|at| self.names.get_mut(at)) {
            *count += 1;
        } else if self.names.len() < MAX_NAMES && of.len() + member.len() < MAX_NAME_BYTES {
            self.names.push((of.to_vec(), member.to_vec(), 1));
        } else {
            self.others += 1;
        }
    }

    /// Write what was counted so far.
    pub(super) fn finish(&mut self, tables: &mut Tables) {
        const ADVICE: &str = "a member of a record that no column of a table holds";
        for (owner, name, count) in self.names.drain(..) {
            let [owner, name] = [&owner, &name].map(|text| String::from_utf8_lossy(text));
            let name = format!("not_read:{owner}.{name}");
            tables.stats.add(name, count, Severity::Info, ADVICE);
        }
        let others = std::mem::take(&mut self.others);
        tables
            .stats
            .add("not_read:other", others, Severity::Info, ADVICE);
    }
}

/// A member that is read of every event, and that not every row has a column for.
pub(super) const TRIGGER: &[u8] = b"trigger";

/// The members of an event's data that rows are made of; `None` where all of them are, or the event as a whole is
/// counted.
pub(super) fn members_read(event: &[u8]) -> Option<&'static [&'static [u8]]> {
    const PACKET: &[&[u8]] = &[
        b"packet_type",
        b"type",
        b"packet_number",
        b"packet_size",
        TRIGGER,
    ];
    Some(match event {
        b"packet_sent" | b"PACKET_SENT" | b"packet_received" | b"PACKET_RECEIVED"
        | b"packet_lost" | b"PACKET_LOST" | b"packet_dropped" | b"packet_drop"
        | b"packet_buffered" => PACKET,
        b"metrics_updated"
        | b"recovery_metrics_updated"
        | b"metric_update"
        | b"METRIC_UPDATE"
        | b"congestion_metric_update"
        | b"bandwidth_est_update" => &[
            b"smoothed_rtt",
            b"min_rtt",
            b"latest_rtt",
            b"rtt_variance",
            b"pacing_rate",
            b"cf_delivery_rate",
            b"delivery_rate",
            b"bandwidth_estimate",
            b"bandwidth_bytes",
            b"bandwidth_interval",
            b"state",
            b"cc_phase",
            b"bbr_state",
            b"congestion_window",
            b"cwnd",
            b"current_cwnd",
            b"bytes_in_flight",
            b"ssthresh",
            b"pto_count",
        ],
        b"congestion_state_updated" | b"recovery_congestion_state_updated" => {
            &[b"old", b"new", TRIGGER]
        }
        b"loss_timer_updated" | b"recovery_loss_timer_updated" | b"timer_updated" => &[
            b"timer_type",
            b"event_type",
            b"packet_number_space",
            b"delta",
        ],
        b"connection_data_blocked_updated"
        | b"stream_data_blocked_updated"
        | b"datagram_data_blocked_updated"
        | b"data_blocked_updated" => &[
            b"old",
            b"new",
            b"state",
            b"stream_id",
            b"reason",
            b"limit",
            b"maximum",
            b"ready_bytes",
            b"inferred",
        ],
        b"app_idle_update" => &[b"idle", b"idle_event"],
        b"app_limited_update" => &[b"app_limited"],
        b"frame_created" | b"frame_parsed" => &[b"stream_id", b"frame", b"length", b"byte_length"],
        b"stream_type_set" => &[b"stream_id", b"stream_type", b"new"],
        b"priority_updated" => &[b"stream_id", b"request_stream_id", b"element_id", b"new"],
        b"key_updated" | b"key_discarded" | b"key_retired" => {
            &[b"key_type", b"key_phase", b"generation", TRIGGER]
        }
        b"frames_created" | b"frames_parsed" => &[b"packet_numbers"],
        _ => return None,
    })
}
