// SPDX-License-Identifier: Apache-2.0
//! A transfer over QUIC as a trial: its marks and what its files would show.

use std::time::{Duration, Instant};

use serde_json::{json, Value};

use crate::case::Case;
use crate::quic::endpoint::{Datagram, Endpoint};
use crate::quic::wire::{Frame, Packet, Space};
use crate::state::{Data, Held};
use crate::tables::{dropped, ends, seen, End, Logs, Tables, CLIENT, LINK, SERVER};
use crate::truth::Marks;
use crate::way::Logged;
use crate::world::World;

const CONNECTION: &str = "0700000000000000";
const LOG: &str = "raw/server.sqlog";

/// Runs one transfer. `Err` too if the mirror of the server's state is not exact.
pub fn run(case: &Case) -> Result<World<Endpoint>, String> {
    let base = Instant::now();
    let (client, server) = (Endpoint::client(case, base), Endpoint::server(case, base));
    let world = World::run(case, client, server)?;
    match world.server.observer.mirror.mistakes {
        0 => Ok(world),
        many => Err(format!(
            "what is in flight was counted otherwise than by quinn {many} times"
        )),
    }
}

fn frames(datagram: &Datagram) -> impl Iterator<Item = (&Packet, &Frame)> {
    let of = |packet| move |frame| (packet, frame);
    let packets = datagram.packets.iter();
    packets.flat_map(move |packet| packet.frames.iter().map(of(packet)))
}

fn has_stream(datagram: &Datagram) -> bool {
    frames(datagram).any(|(_, frame)| frame.name == "stream")
}

/// Facts that the endpoints alone know of a transfer.
pub fn marks(world: &World<Endpoint>) -> Option<Marks> {
    let asks = world.sent_up.iter().position(has_stream)?;
    let served = world.sent_down.iter().zip(&world.down.log);
    let mut served = served.map(|(datagram, logged)| (has_stream(datagram), logged));
    Some(Marks {
        stages: vec![("quic_handshake", world.up.log[asks].arrival_ns)],
        first: served.position(|(answers, logged)| answers && logged.left_ns.is_some())?,
        completing: world.completing?,
    })
}

/// The tables of a trial, with as much of the server's log as is asked for.
pub fn tables(case: &Case, world: &World<Endpoint>, marks: &Marks, logs: Logs) -> Tables {
    let mut tables = Tables::default();
    tables.source(LINK, "packet_log", None);
    tables.source(CLIENT, "pcapng", Some("client"));
    tables.source(SERVER, "pcapng", Some("server"));
    tables.link("up", &world.up);
    tables.link("down", &world.down);
    for end in ends() {
        datagrams(&mut tables, world, &end);
    }
    requests(&mut tables, case, world, marks);
    limits(&mut tables, case, world);
    let captured = logs == Logs::Captures;
    if !captured {
        tables.source(LOG, "qlog", Some("server"));
    }
    metrics(&mut tables, world, captured);
    if logs == Logs::OwnWord {
        blocked(&mut tables, world);
    }
    tables
}

fn datagrams(tables: &mut Tables, world: &World<Endpoint>, end: &End<'_>) {
    let up = end.direction == "up";
    let (way, sent) = if up {
        (&world.up, &world.sent_up)
    } else {
        (&world.down, &world.sent_down)
    };
    let (client, server) = (("10.77.0.1", 40_000), ("10.77.0.2", 443));
    let (from, to) = if up {
        (client, server)
    } else {
        (server, client)
    };
    for (at_ns, index) in seen(way, end) {
        let size = way.log[index].size;
        tables.add(
            "ip_packets",
            json!({
                "source": end.source, "vantage": end.vantage, "direction": end.direction,
                "time_ns": at_ns, "number": index, "packet_index": way.log[index].verdict.index, "ip_version": 4,
                "protocol": "udp", "src": from.0, "src_port": from.1, "dst": to.0, "dst_port": to.1,
                "size_bytes": size, "payload_bytes": size - 28, "dropped": dropped(way, index),
                "ecn": 0, "uncertainty_ns": 0,
            }),
        );
        for packet in &sent[index].packets {
            tables.add(
                "packets",
                of_packet(end, at_ns, (index, way.log[index].verdict.index), packet),
            );
            for frame in &packet.frames {
                tables.add("frames", of_frame(end, at_ns, packet, frame));
                for range in &frame.ranges {
                    tables.add("acks", of_range(end, at_ns, packet, *range));
                }
            }
        }
    }
}

fn event(end: &End<'_>) -> &'static str {
    if end.sends {
        "sent"
    } else {
        "received"
    }
}

fn of_packet(
    end: &End<'_>,
    at_ns: u64,
    (ip_packet, packet_index): (usize, u32),
    packet: &Packet,
) -> Value {
    json!({
        "source": end.source, "vantage": end.vantage, "connection": CONNECTION, "time_ns": at_ns,
        "transport": "quic", "event": event(end), "direction": end.direction,
        "packet_type": packet.space.name(), "packet_number": packet.number,
        "length_bytes": packet.length, "ip_packet": ip_packet, "packet_index": packet_index,
        "uncertainty_ns": 0,
    })
}

fn of_frame(end: &End<'_>, at_ns: u64, packet: &Packet, frame: &Frame) -> Value {
    json!({
        "source": end.source, "vantage": end.vantage, "connection": CONNECTION, "time_ns": at_ns,
        "event": event(end), "direction": end.direction, "packet_type": packet.space.name(),
        "packet_number": packet.number, "frame_type": frame.name, "stream_id": frame.stream,
        "offset": frame.offset, "length_bytes": frame.length, "fin": frame.fin, "value": frame.value,
        "uncertainty_ns": 0,
    })
}

fn of_range(end: &End<'_>, at_ns: u64, packet: &Packet, (first, last): (u64, u64)) -> Value {
    json!({
        "source": end.source, "vantage": end.vantage, "connection": CONNECTION, "time_ns": at_ns,
        "transport": "quic", "event": event(end), "direction": end.direction,
        "packet_type": packet.space.name(), "packet_number": packet.number, "kind": "ack",
        "first": first, "last": last, "uncertainty_ns": 0,
    })
}

/// The request as each end's opened capture shows it.
fn requests(tables: &mut Tables, case: &Case, world: &World<Endpoint>, marks: &Marks) {
    let left_ns = marks.stages.last().map(|(_, at)| *at);
    let came_ns = world.up.came_by(world.server.asked_ns);
    let (first, last) = (
        &world.down.log[marks.first],
        &world.down.log[marks.completing],
    );
    for (source, vantage, asked_ns, headers, ended) in [
        (CLIENT, "client", left_ns, first.due_ns(), last.due_ns()),
        (
            SERVER,
            "server",
            came_ns,
            Some(first.arrival_ns),
            Some(last.arrival_ns),
        ),
    ] {
        tables.add(
            "http_requests",
            json!({
                "source": source, "vantage": vantage, "connection": CONNECTION, "time_ns": asked_ns,
                "transport": "quic", "http_version": "HTTP/3", "stream_id": 0, "method": "GET",
                "url": "https://server.test/body", "status": 200, "send_start_ns": asked_ns,
                "send_end_ns": asked_ns, "headers_ns": headers, "first_byte_ns": headers,
                "last_byte_ns": ended, "response_body_bytes": case.body_bytes, "uncertainty_ns": 0,
            }),
        );
    }
}

/// The credit that the client gives, as the server's opened capture shows it.
fn limits(tables: &mut Tables, case: &Case, world: &World<Endpoint>) {
    let mut add = |at_ns: Option<u64>, scope: &str, stream: Option<u64>, limit: u64| {
        tables.add(
            "flow_control",
            json!({
                "source": SERVER, "vantage": "server", "connection": CONNECTION, "time_ns": at_ns,
                "transport": "quic", "event": "limit", "direction": "down", "scope": scope,
                "stream_id": stream, "limit": limit, "uncertainty_ns": 0,
            }),
        );
    };
    let all = u64::from(u32::MAX);
    let begun_ns = world.up.log.iter().find_map(Logged::due_ns);
    add(
        begun_ns,
        "connection",
        None,
        case.receive_window.unwrap_or(all),
    );
    add(begun_ns, "stream", None, case.stream_window.unwrap_or(all));
    for (datagram, logged) in world.sent_up.iter().zip(&world.up.log) {
        let Some(at_ns) = logged.due_ns() else {
            continue;
        };
        for (_, frame) in frames(datagram) {
            match (frame.name, frame.value) {
                ("max_data", Some(limit)) => add(Some(at_ns), "connection", None, limit),
                ("max_stream_data", Some(limit)) => add(Some(at_ns), "stream", frame.stream, limit),
                _ => {}
            }
        }
    }
}

/// Metrics of the server's qlog: window, bytes in flight, losses, timers. Of an opened capture, which shows bytes in
/// flight and losses: neither window nor timers.
fn metrics(tables: &mut Tables, world: &World<Endpoint>, captured: bool) {
    let source = if captured { SERVER } else { LOG };
    let begun_ns = world.down.log.first().map(|logged| logged.arrival_ns);
    let answers = world.up.log.iter().filter_map(Logged::due_ns);
    let round_trip_ns =
        begun_ns.and_then(|begun| Some(answers.filter(|at| *at > begun).min()? - begun));
    let base = |at_ns: u64| {
        json!({
            "source": source, "vantage": "server", "connection": CONNECTION, "time_ns": at_ns,
            "transport": "quic", "uncertainty_ns": 0,
        })
    };
    let with = |mut row: Value, more: Value| {
        if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
            row.extend(more);
        }
        row
    };
    for &(at_ns, window, in_flight) in &world.server.observer.metrics {
        let more = json!({
            "cwnd_bytes": if captured { None } else { Some(window) }, "bytes_in_flight": in_flight,
            "min_rtt_ms": round_trip_ns.filter(|_| captured).map(|ns| Duration::from_nanos(ns).as_secs_f64() * 1e3), "estimate": captured,
        });
        tables.add("transport_metrics", with(base(at_ns), more));
    }
    for lost in &world.server.observer.mirror.lost {
        let rule = if lost.by_time {
            "time_threshold"
        } else {
            "reordering_threshold"
        };
        let more = json!({
            "direction": "down", "packet_type": lost.space.name(), "packet_number": lost.number,
            "length_bytes": lost.bytes, "sent_ns": lost.sent_ns, "rule": rule, "estimate": captured,
        });
        tables.add("losses", with(base(lost.at_ns), more));
    }
    for &at_ns in world.server.observer.probes.iter().filter(|_| !captured) {
        let more = json!({
            "timer": "pto", "event": "expired", "packet_type": Space::Data.name(), "estimate": false,
        });
        tables.add("timers", with(base(at_ns), more));
    }
}

/// The sender's own word, for qlog's `*_data_blocked_updated`.
fn blocked(tables: &mut Tables, world: &World<Endpoint>) {
    let mut before = None;
    for step in &world.server.observer.steps {
        let reason = reason(step.held);
        if reason == before {
            continue;
        }
        tables.add(
            "blocked",
            json!({
                "source": LOG, "vantage": "server", "connection": CONNECTION, "time_ns": step.at_ns,
                "transport": "quic", "direction": "down", "scope": "connection",
                "new_state": if reason.is_some() { "blocked" } else { "unblocked" },
                "reason": reason, "inferred": false, "uncertainty_ns": 0,
            }),
        );
        before = reason;
    }
}

fn reason(held: Held) -> Option<&'static str> {
    if held.pacing {
        return Some("pacing");
    }
    match held.data {
        Data::StreamCredit => Some("stream_flow_control"),
        Data::ConnectionCredit => Some("connection_flow_control"),
        Data::AllSent | Data::Application => Some("application"),
        _ => held.window.map(|_| "congestion_control"),
    }
}
