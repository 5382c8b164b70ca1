// SPDX-License-Identifier: Apache-2.0
//! Choice of the module that makes the rows of an event: the names of all drafts and dialects.

use super::context::{Context, State};
use super::{blocked, controller, packets, parameters, rest};
use crate::tables::Tables;

/// Make the rows of one event.
pub(super) fn dispatch(context: &Context<'_>, state: &mut State<'_>, tables: &mut Tables) {
    match context.name {
        b"packet_sent" | b"PACKET_SENT" => packets::packet("sent", context, state, tables),
        b"packet_received" | b"PACKET_RECEIVED" => {
            packets::packet("received", context, state, tables);
        }
        b"packet_lost" | b"PACKET_LOST" => packets::packet("lost", context, state, tables),
        b"packet_dropped" | b"packet_drop" => packets::packet("dropped", context, state, tables),
        b"packet_buffered" => packets::packet("buffered", context, state, tables),
        b"packets_acked" => {
            packets::acked(context, state);
            rest::count(context, tables);
        }
        b"metrics_updated"
        | b"recovery_metrics_updated"
        | b"metric_update"
        | b"METRIC_UPDATE"
        | b"congestion_metric_update"
        | b"bandwidth_est_update" => controller::metrics(context, tables),
        b"congestion_state_updated" | b"recovery_congestion_state_updated" => {
            controller::state(context, tables);
        }
        b"loss_timer_updated" | b"recovery_loss_timer_updated" | b"timer_updated" => {
            controller::timer(context, tables);
        }
        b"connection_data_blocked_updated"
        | b"stream_data_blocked_updated"
        | b"datagram_data_blocked_updated"
        | b"data_blocked_updated" => {
            blocked::updated(context, tables);
        }
        b"app_idle_update" | b"app_limited_update" => blocked::by_application(context, tables),
        b"frames_created" => packets::frames("sent", context, state, tables),
        b"frames_parsed" => packets::frames("received", context, state, tables),
        b"frame_created" => rest::http_frame(true, context, state, tables),
        b"frame_parsed" => rest::http_frame(false, context, state, tables),
        b"stream_type_set" => rest::stream_type(context, state, tables),
        b"priority_updated" => rest::priority(context, state),
        b"key_updated" | b"key_discarded" | b"key_retired" => {
            parameters::keys(context, tables);
        }
        b"connection_state_updated" => parameters::connection_state(context, tables),
        name if parameters::holds(name) => parameters::all(context, state, tables),
        b"" => {}
        _ => rest::count(context, tables),
    }
}
