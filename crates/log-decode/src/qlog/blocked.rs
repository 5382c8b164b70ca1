// SPDX-License-Identifier: Apache-2.0
//! Reasons that hold a sender back, as it says itself: limits, its congestion controller, its
//! pacer, its application.

use super::context::Context;
use crate::tables::{BlockedState, FlowControl, Tables};

const QUIC: &str = "quic";
const BLOCKED: &str = "blocked";
const UNBLOCKED: &str = "unblocked";

/// `connection_data_blocked_updated`, `stream_data_blocked_updated`, `datagram_data_blocked_updated`.
pub(super) fn updated(context: &Context<'_>, tables: &mut Tables) {
    let new = context.member("new").or_else(|| context.member("state"));
    let new_state = new.as_deref().unwrap_or(BLOCKED);
    let stream_id = context.unsigned("stream_id");
    let scope = match (context.name, stream_id) {
        (b"datagram_data_blocked_updated", _) => "datagram",
        (_, Some(_)) => "stream",
        (_, None) => "connection",
    };
    let reason = context.member("reason");
    let limit = context
        .unsigned("limit")
        .or_else(|| context.unsigned("maximum"));
    tables.blocked.push(BlockedState {
        scope,
        stream_id,
        old_state: context.member("old").as_deref(),
        new_state,
        reason: reason.as_deref(),
        limit,
        ready_bytes: context.unsigned("ready_bytes"),
        inferred: context
            .member("inferred")
            .and_then(|inferred| inferred.parse().ok()),
        ..of(context)
    });
    // What is no limit of the receiver's is no matter of flow control; before the drafts had reasons, it was the only
    // one.
    let limit_of = match reason.as_deref() {
        Some("connection_flow_control") => "connection",
        Some("stream_flow_control") => "stream",
        None if scope != "datagram" => scope,
        _ => return,
    };
    tables.flow_control.push(FlowControl {
        vantage: context.who.vantage,
        connection: Some(context.who.connection),
        time_ns: context.time_ns,
        transport: QUIC,
        event: if new_state == UNBLOCKED {
            UNBLOCKED
        } else {
            BLOCKED
        },
        direction: context.who.outbound,
        scope: limit_of,
        stream_id: stream_id.filter(|_| limit_of == "stream"),
        limit,
        ..FlowControl::default()
    });
}

/// mvfst's `app_idle_update` and `app_limited_update`: the application has nothing to send, or has something again.
pub(super) fn by_application(context: &Context<'_>, tables: &mut Tables) {
    let told = context
        .member("idle")
        .or_else(|| context.member("app_limited"));
    let new_state = match told.as_deref() {
        Some("true" | "1" | "app limited") => BLOCKED,
        Some(_) => UNBLOCKED,
        None => return,
    };
    tables.blocked.push(BlockedState {
        scope: "connection",
        new_state,
        reason: Some("application"),
        ..of(context)
    });
}

/// Values that every row has: whose it is, and when.
fn of<'a>(context: &Context<'a>) -> BlockedState<'a> {
    BlockedState {
        vantage: context.who.vantage,
        connection: Some(context.who.connection),
        time_ns: context.time_ns,
        transport: QUIC,
        direction: context.who.outbound,
        ..BlockedState::default()
    }
}
