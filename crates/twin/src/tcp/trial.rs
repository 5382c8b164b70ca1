// SPDX-License-Identifier: Apache-2.0
//! A transfer over TCP as a trial: its marks and what its files would show.

use std::time::Duration;

use serde_json::{json, Value};

use crate::case::Case;
use crate::tables::{dropped, ends, seen, End, Tables, CLIENT, SERVER};
use crate::tcp::program::HELLO_BYTES;
use crate::tcp::sender::{Phase, Rule};
use crate::tcp::{Endpoint, Sample, Segment};
use crate::truth::Marks;
use crate::way::Logged;
use crate::world::World;

const CONNECTION: &str = "10.77.0.1:40000-10.77.0.2:443";
const CLIENT_ADDRESS: (&str, u16) = ("10.77.0.1", 40_000);
const SERVER_ADDRESS: (&str, u16) = ("10.77.0.2", 443);
/// `snd_ssthresh` before anything has set it.
const UNSET: u64 = 0x7fff_ffff;

/// Runs one transfer.
pub fn run(case: &Case) -> Result<World<Endpoint>, String> {
    World::run(case, Endpoint::client(case), Endpoint::server(case))
}

/// Facts that the endpoints alone know of a transfer.
pub fn marks(case: &Case, world: &World<Endpoint>) -> Option<Marks> {
    let sent = |wanted: &dyn Fn(&Segment) -> bool| {
        let index = world.sent_up.iter().position(wanted)?;
        Some(world.up.log[index].arrival_ns)
    };
    let hello_ns = sent(&|segment| segment.length > 0)?;
    let asked_ns = sent(&|segment| segment.start + segment.length > HELLO_BYTES)?;
    let before = case.flight_bytes + case.settings_bytes;
    let answers = |segment: &Segment| segment.start + segment.length > before;
    let first = world
        .sent_down
        .iter()
        .zip(&world.down.log)
        .position(|(segment, logged)| {
            segment.length > 0 && answers(segment) && logged.left_ns.is_some()
        })?;
    Some(Marks {
        stages: vec![("tcp_handshake", hello_ns), ("tls_round_trip", asked_ns)],
        first,
        completing: world.completing?,
    })
}

/// The tables of a trial. With `kernel` the samples of `tcp_info` are among them.
pub fn tables(case: &Case, world: &World<Endpoint>, marks: &Marks, kernel: bool) -> Tables {
    let mut tables = Tables::default();
    tables.source(crate::tables::LINK, "packet_log", None);
    tables.source(CLIENT, "pcapng", Some("client"));
    tables.source(SERVER, "pcapng", Some("server"));
    tables.link("up", &world.up);
    tables.link("down", &world.down);
    for end in ends() {
        packets(&mut tables, case, world, &end);
    }
    requests(&mut tables, case, world, marks);
    steps_of_set_up(&mut tables, world);
    losses(&mut tables, world);
    in_flight(&mut tables, world);
    receive_window(&mut tables, world);
    credit(&mut tables, world);
    if kernel {
        tables.source("raw/server.tcpinfo", "tcp_info", Some("server"));
        for sample in world.server.samples() {
            tables.add("tcp_info", sampled(sample));
        }
    }
    tables
}

fn packets(tables: &mut Tables, case: &Case, world: &World<Endpoint>, end: &End<'_>) {
    let up = end.direction == "up";
    let (way, sent) = if up {
        (&world.up, &world.sent_up)
    } else {
        (&world.down, &world.sent_down)
    };
    let (from, to) = if up {
        (CLIENT_ADDRESS, SERVER_ADDRESS)
    } else {
        (SERVER_ADDRESS, CLIENT_ADDRESS)
    };
    let plain = if up { HELLO_BYTES } else { case.flight_bytes };
    for (at_ns, index) in seen(way, end) {
        let segment = &sent[index];
        let acked = segment.ack;
        let flags = if segment.syn { 2 } else { 0 } + if acked.is_some() { 16 } else { 0 };
        let sack: Vec<u64> = segment
            .sack
            .iter()
            .flat_map(|&(a, b)| [a + 1, b + 1])
            .collect();
        let ends = segment.start + segment.length;
        tables.add(
            "ip_packets",
            json!({
                "source": end.source, "vantage": end.vantage, "direction": end.direction,
                "time_ns": at_ns, "number": index, "packet_index": way.log[index].verdict.index, "ip_version": 4,
                "protocol": "tcp", "src": from.0, "src_port": from.1, "dst": to.0, "dst_port": to.1,
                "size_bytes": way.log[index].size, "payload_bytes": segment.length,
                "dropped": dropped(way, index), "ecn": 0, "tcp_flags": flags,
                "tcp_seq": segment.start + u64::from(!segment.syn), "tcp_ack": acked.map(|at| at + 1),
                "tcp_sack": if sack.is_empty() { None } else { Some(sack) },
                "tls_application_data": segment.length > 0 && ends > plain, "uncertainty_ns": 0,
            }),
        );
    }
}

/// The request as each end's opened capture shows it.
fn requests(tables: &mut Tables, case: &Case, world: &World<Endpoint>, marks: &Marks) {
    let left_ns = marks.stages.last().map(|(_, at)| *at);
    let answering = world.server.answering();
    let came_ns = world
        .up
        .came_by(answering.and_then(|server| server.asked_ns));
    let last = &world.down.log[marks.completing];
    let first = world.down.log[marks.first].arrival_ns;
    for (source, vantage, asked_ns, headers, ended) in [
        (
            CLIENT,
            "client",
            left_ns,
            world.down.log[marks.first].due_ns(),
            last.due_ns(),
        ),
        (
            SERVER,
            "server",
            came_ns,
            Some(first),
            Some(last.arrival_ns),
        ),
    ] {
        tables.add(
            "http_requests",
            json!({
                "source": source, "vantage": vantage, "connection": CONNECTION, "time_ns": asked_ns,
                "transport": "tcp", "http_version": "HTTP/2", "stream_id": 1, "method": "GET",
                "url": "https://server.test/body", "status": 200, "send_start_ns": asked_ns,
                "send_end_ns": asked_ns, "headers_ns": headers, "first_byte_ns": headers,
                "last_byte_ns": ended, "response_body_bytes": case.body_bytes, "uncertainty_ns": 0,
            }),
        );
    }
}

fn steps_of_set_up(tables: &mut Tables, world: &World<Endpoint>) {
    let mut add = |direction: &str, step: &str, at_ns: Option<u64>| {
        let Some(at_ns) = at_ns else {
            return;
        };
        tables.add(
            "handshake",
            json!({
                "source": CLIENT, "vantage": "client", "connection": CONNECTION, "time_ns": at_ns,
                "transport": "tcp", "direction": direction, "step": step, "uncertainty_ns": 0,
            }),
        );
    };
    let ways = [
        ("up", "syn", "client_hello", &world.up, &world.sent_up),
        (
            "down",
            "syn_ack",
            "server_hello",
            &world.down,
            &world.sent_down,
        ),
    ];
    for (direction, first, hello, way, sent) in ways {
        let up = direction == "up";
        for (segment, logged) in sent.iter().zip(&way.log) {
            let at_ns = if up {
                Some(logged.arrival_ns)
            } else {
                logged.due_ns()
            };
            if segment.syn {
                add(direction, first, at_ns);
            } else if segment.start == 0 && segment.length > 0 {
                add(direction, hello, at_ns);
            }
        }
    }
}

/// Losses and timeouts as the server's capture shows them.
fn losses(tables: &mut Tables, world: &World<Endpoint>) {
    for each in &world.server.sender.declared {
        let rule = match each.rule {
            Rule::FastRetransmit => "fast_retransmit",
            Rule::Timeout => "timeout",
        };
        tables.add(
            "losses",
            json!({
                "source": SERVER, "vantage": "server", "connection": CONNECTION,
                "time_ns": each.at_ns, "transport": "tcp", "direction": "down",
                "packet_number": each.start, "length_bytes": each.length, "sent_ns": each.sent_ns,
                "rule": rule, "estimate": true, "uncertainty_ns": 0,
            }),
        );
    }
    for at_ns in &world.server.sender.timeouts {
        tables.add(
            "timers",
            json!({
                "source": SERVER, "vantage": "server", "connection": CONNECTION, "time_ns": at_ns,
                "transport": "tcp", "timer": "rto", "event": "expired", "estimate": true,
                "uncertainty_ns": 0,
            }),
        );
    }
}

/// Segments in the server's capture, in the order of time: instant, true if it was sent, and the segment.
fn captured(world: &World<Endpoint>) -> Vec<(u64, bool, &Segment)> {
    let sent = world.sent_down.iter().zip(&world.down.log);
    let sent = sent.map(|(segment, logged)| (logged.arrival_ns, true, segment));
    let came = world.sent_up.iter().zip(&world.up.log);
    let came = came.filter_map(|(segment, logged)| Some((logged.due_ns()?, false, segment)));
    let mut events: Vec<_> = sent.chain(came).collect();
    events.sort_by_key(|(at_ns, is_sent, _)| (*at_ns, *is_sent));
    events
}

/// Bytes in flight as the server's capture shows them: sent, and neither acknowledged nor selectively so.
fn in_flight(tables: &mut Tables, world: &World<Endpoint>) {
    let (mut next, mut acknowledged, mut begun_ns, mut round_trip_ns) = (0, 0, None, None);
    let mut apart: Vec<(u64, u64)> = Vec::new();
    for (at_ns, is_sent, segment) in captured(world) {
        if is_sent {
            begun_ns = begun_ns.or(Some(at_ns));
            if segment.length == 0 {
                continue;
            }
            next = next.max(segment.start + segment.length);
        } else {
            let Some(ack) = segment.ack else { continue };
            round_trip_ns = round_trip_ns.or(begun_ns.map(|begun| at_ns - begun));
            acknowledged = acknowledged.max(ack);
            apart.extend(&segment.sack);
        }
        let row = json!({
            "source": SERVER, "vantage": "server", "connection": CONNECTION, "time_ns": at_ns,
            "transport": "tcp", "bytes_in_flight": next - acknowledged.min(next) - covered(&mut apart, acknowledged),
            "min_rtt_ms": round_trip_ns.map(|ns| Duration::from_nanos(ns).as_secs_f64() * 1e3), "estimate": true, "uncertainty_ns": 0,
        });
        tables.add("transport_metrics", row);
    }
}

/// Times in which the receive window has no room for one more segment, as the server's capture shows them.
fn receive_window(tables: &mut Tables, world: &World<Endpoint>) {
    let (mut next, mut largest, mut limit, mut blocked) = (0, 0, None, false);
    for (at_ns, is_sent, segment) in captured(world) {
        if is_sent && segment.length > 0 {
            next = next.max(segment.start + segment.length);
            largest = largest.max(segment.length);
        } else if segment.ack.is_some() && !is_sent {
            limit = limit.max(Some(segment.edge));
        }
        let full = limit.is_some_and(|limit| limit < next + largest);
        if full == blocked || full != is_sent {
            continue;
        }
        blocked = full;
        tables.add(
            "flow_control",
            json!({
                "source": SERVER, "vantage": "server", "connection": CONNECTION, "time_ns": at_ns,
                "transport": "tcp", "event": if full { "blocked" } else { "unblocked" }, "direction": "down",
                "scope": "receive_window", "stream_id": None::<u64>, "limit": limit, "uncertainty_ns": 0,
            }),
        );
    }
}

/// Bytes of ranges above an acknowledgment; those that touch become one.
fn covered(ranges: &mut Vec<(u64, u64)>, acknowledged: u64) -> u64 {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for &(start, end) in ranges.iter().filter(|(_, end)| *end > acknowledged) {
        let start = start.max(acknowledged);
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    *ranges = joined;
    ranges.iter().map(|(start, end)| end - start).sum()
}

/// HTTP/2's credit and its DATA frames, as the server's opened capture shows them.
fn credit(tables: &mut Tables, world: &World<Endpoint>) {
    let Some(server) = world.server.answering() else {
        return;
    };
    for (at_ns, limit) in &server.limits {
        // A capture sees the packet when it comes, which is before the program acts on it.
        let came = world.up.log.iter().filter_map(Logged::due_ns);
        let came_ns = came.filter(|came| came <= at_ns).max();
        tables.add(
            "flow_control",
            json!({
                "source": SERVER, "vantage": "server", "connection": CONNECTION, "time_ns": came_ns,
                "transport": "tcp", "event": "limit", "direction": "down", "scope": "stream",
                "stream_id": 1, "limit": limit, "uncertainty_ns": 0,
            }),
        );
    }
    if server.limits.is_empty() {
        return;
    }
    for (end, length) in &server.frames {
        let carries =
            |segment: &Segment| segment.start < *end && *end <= segment.start + segment.length;
        let Some(index) = world.sent_down.iter().position(carries) else {
            continue;
        };
        let at_ns = world.down.log[index].arrival_ns;
        tables.add(
            "http_frames",
            json!({
                "source": SERVER, "vantage": "server", "connection": CONNECTION, "time_ns": at_ns,
                "http_version": "HTTP/2", "event": "sent", "direction": "down", "stream_id": 1,
                "frame_type": "data", "length_bytes": length, "last_byte_ns": at_ns,
                "uncertainty_ns": 0,
            }),
        );
    }
}

fn sampled(sample: &Sample) -> Value {
    let [unacked, sacked, lost, retrans] = sample.counts;
    let [busy, receiver, buffer] = sample.clocks_ns;
    let phase = match sample.phase {
        Phase::Open => "open",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    };
    json!({
        "source": "raw/server.tcpinfo", "vantage": "server", "connection": CONNECTION,
        "time_ns": sample.at_ns, "state": "ESTABLISHED", "ca_state": phase, "unacked": unacked,
        "sacked": sacked, "lost": lost, "retrans": retrans, "snd_cwnd": sample.window,
        "snd_ssthresh": sample.threshold.unwrap_or(UNSET), "notsent_bytes": sample.unsent,
        "data_segs_out": sample.segments_sent, "delivered": sample.delivered, "busy_time_us": busy / 1000,
        "rwnd_limited_us": receiver / 1000, "sndbuf_limited_us": buffer / 1000, "uncertainty_ns": 0,
    })
}
