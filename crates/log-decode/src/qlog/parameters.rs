// SPDX-License-Identifier: Apache-2.0
//! Announcements, negotiations and progress of the handshake, as the program says them.

use super::context::{Context, State};
use super::handshake;
use super::losses::Who;
use crate::json::Span;
use crate::tables::{FlowControl, Parameter, Tables};
use crate::Severity;
use serde_json::Value;
use std::fmt::Write;

/// True if the members of an event go to the table `parameters`.
pub(super) fn holds(name: &[u8]) -> bool {
    matches!(
        name,
        b"version_information"
            | b"alpn_information"
            | b"parameters_set"
            | b"parameters_restored"
            | b"recovery_parameters_set"
            | b"connection_started"
            | b"connection_closed"
            | b"connection_new"
            | b"connection_close"
            | b"ALPN_update"
            | b"transport_parameters_update"
            | b"server_listening"
            | b"connection_id_updated"
            | b"connection_id_update"
            | b"spin_bit_updated"
            | b"spin_bit_update"
            | b"tuple_assigned"
            | b"path_assigned"
            | b"mtu_updated"
            | b"migration_state_updated"
            | b"ecn_state_updated"
    )
}

/// One row for every member.
pub(super) fn all(context: &Context<'_>, state: &mut State<'_>, tables: &mut Tables) {
    // "owner" in 0.3, "initiator" in the drafts of `file_schema`: whose parameters these are.
    let owner = context
        .member("owner")
        .or_else(|| context.member("initiator"));
    let namespace = context
        .event
        .name
        .of(context.text)
        .strip_suffix(context.name);
    // 0.3 has two events of that name, told apart by their namespace.
    let event = match (context.name, namespace) {
        (b"parameters_set", Some(b"recovery:")) => "recovery_parameters_set".into(),
        (b"parameters_set", Some(b"http:" | b"h3:" | b"http3:")) => "settings".into(),
        (b"parameters_restored", Some(b"http:" | b"h3:" | b"http3:")) => "settings_restored".into(),
        _ => String::from_utf8_lossy(context.name),
    };
    let mut name = match &owner {
        Some(owner) => format!("{event}.{}.", end(owner, context.who)),
        None => format!("{event}."),
    };
    let stem = name.len();
    for (key, value) in &context.event.members {
        let key = context.text(*key);
        if matches!(key.as_ref(), "owner" | "initiator") {
            continue;
        }
        name.truncate(stem);
        if key == "unknown_parameters" {
            unknown(&mut name, *value, context, tables);
            continue;
        }
        name.push_str(match event.as_ref() {
            "settings" | "settings_restored" => setting(&key),
            "connection_started" => end(&key, context.who),
            _ => &key,
        });
        tables.parameters.push(Parameter {
            vantage: context.who.vantage,
            connection: Some(context.who.connection),
            time_ns: context.time_ns,
            name: &name,
            value: &context.text(*value),
        });
    }
    if let Some(trigger) = context.trigger() {
        name.truncate(stem);
        name.push_str("trigger");
        tables.parameters.push(Parameter {
            vantage: context.who.vantage,
            connection: Some(context.who.connection),
            time_ns: context.time_ns,
            name: &name,
            value: &trigger,
        });
    }
    if event == "parameters_set" {
        if let Some(owner) = owner {
            first_limits(&owner, context, tables);
            if let Some(exponent) = context.unsigned("ack_delay_exponent") {
                let direction = match owner.as_ref() {
                    "local" => context.who.outbound,
                    "remote" => context.who.inbound,
                    _ => None,
                };
                state.ack_exponents.announce(direction, exponent);
            }
        }
    }
}

/// Parameters that the program has no name for: each by its number, with its value in hexadecimal.
fn unknown(name: &mut String, list: Span, context: &Context<'_>, tables: &mut Tables) {
    let stem = name.len();
    let Ok(listed) = serde_json::from_slice::<Vec<Value>>(list.of(context.text)) else {
        return count_impossible(tables);
    };
    for parameter in listed {
        let Some(id) = parameter["id"].as_u64() else {
            count_impossible(tables);
            continue;
        };
        name.truncate(stem);
        // Writing to a string does not fail.
        let _ = write!(name, "{id:#x}");
        tables.parameters.push(Parameter {
            vantage: context.who.vantage,
            connection: Some(context.who.connection),
            time_ns: context.time_ns,
            name,
            value: parameter["value"].as_str().unwrap_or_default(),
        });
    }
}

fn count_impossible(tables: &mut Tables) {
    tables.count(
        "impossible_value",
        Severity::Notice,
        super::context::IMPOSSIBLE,
    );
}

/// The end that `local` or `remote` stands for; the word itself where the log does not say whose it is.
fn end<'a>(name: &'a str, who: Who<'_>) -> &'a str {
    match (name, who.vantage) {
        ("local", Some("client")) | ("remote", Some("server")) => "client",
        ("local", Some("server")) | ("remote", Some("client")) => "server",
        _ => name,
    }
}

/// A setting of HTTP/3 by the name that it has in frames.
fn setting(name: &str) -> &str {
    match name {
        "max_table_capacity" => "qpack_max_table_capacity",
        "blocked_streams_count" => "qpack_blocked_streams",
        "extended_connect" => "enable_connect_protocol",
        _ => name,
    }
}

/// The limits that hold from the start (RFC 9000 section 18.2); those of streams hold for each once it is there.
fn first_limits(owner: &str, context: &Context<'_>, tables: &mut Tables) {
    let direction = match owner {
        "local" => context.who.inbound,
        "remote" => context.who.outbound,
        "client" | "server" | "unknown" | "" => return,
        _ => return count_impossible(tables),
    };
    for (parameter, scope) in [
        ("initial_max_data", "connection"),
        ("initial_max_streams_bidi", "streams_bidi"),
        ("initial_max_streams_uni", "streams_uni"),
    ] {
        let Some(limit) = context.unsigned(parameter) else {
            if context.member(parameter).is_some() {
                count_impossible(tables);
            }
            continue;
        };
        tables.flow_control.push(FlowControl {
            vantage: context.who.vantage,
            connection: Some(context.who.connection),
            time_ns: context.time_ns,
            transport: "quic",
            event: "limit",
            direction,
            scope,
            limit: Some(limit),
            ..FlowControl::default()
        });
    }
}

/// `key_updated`, `key_discarded`, `key_retired`.
pub(super) fn keys(context: &Context<'_>, tables: &mut Tables) {
    let key = context.member("key_type").unwrap_or_default();
    let direction = match key.split('_').next() {
        Some("client") => Some("up"),
        Some("server") => Some("down"),
        _ => None,
    };
    let phase = ["key_phase", "generation"]
        .iter()
        .find_map(|name| context.member(name));
    let trigger = context.trigger();
    let mut detail = key.into_owned();
    for (name, value) in [("phase", phase), ("trigger", trigger)] {
        if let Some(value) = value {
            detail.extend([", ", name, " ", &value]);
        }
    }
    let step = if context.name == b"key_updated" {
        "key_updated"
    } else {
        "key_discarded"
    };
    handshake::said(
        step,
        direction,
        &detail,
        context.time_ns,
        context.who,
        tables,
    );
}

/// `connection_state_updated`, as far as it is about the handshake.
pub(super) fn connection_state(context: &Context<'_>, tables: &mut Tables) {
    let new = context.member("new").or_else(|| context.member("state"));
    match new.as_deref() {
        Some("handshake_complete" | "handshake_completed") => {
            handshake::said(
                "handshake_complete",
                None,
                "",
                context.time_ns,
                context.who,
                tables,
            );
        }
        // What else a state may be is told by packets and by other events.
        Some("handshake_confirmed") => {
            handshake::said(
                "handshake_confirmed",
                None,
                "",
                context.time_ns,
                context.who,
                tables,
            );
        }
        _ => super::rest::count(context, tables),
    }
}
