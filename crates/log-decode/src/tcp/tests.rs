// SPDX-License-Identifier: Apache-2.0
//! Segments of one connection, made one by one.

mod spurious;
mod strays;

use super::*;
use crate::tables::Finished;

const SYN: u16 = 2;
const MS: i64 = 1_000_000;

/// A connection whose server sends; the client's initial number is 1,000, the server's lies close before the wrap.
struct Scene {
    connections: Connections,
    tables: Tables,
}

const CLIENT_INITIAL: u32 = 1_000;
const SERVER_INITIAL: u32 = u32::MAX - 1_000;

impl Scene {
    /// Captured at `vantage`, and opened within 20 ms.
    fn new(vantage: Option<End>) -> Self {
        let mut scene = Self {
            connections: Connections::new(KeyLog::default(), vantage),
            tables: Tables::default(),
        };
        let offer = [2, 4, 5, 0xb4, 4, 2, 1, 1, 3, 3, 7, 0];
        scene.put(0, true, 0, None, SYN, 0, &offer);
        scene.put(0, false, 0, Some(1), SYN, 0, &offer);
        scene.put(20, true, 1, Some(1), 0, 0, &[]);
        scene
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of a segment")]
    fn put(
        &mut self,
        time_ms: i64,
        up: bool,
        seq: u32,
        ack: Option<u32>,
        flags: u16,
        length: usize,
        options: &[u8],
    ) {
        let (client, server) = (([10, 0, 0, 1], 5000).into(), ([10, 0, 0, 2], 443).into());
        let (src, dst, own, other) = if up {
            (client, server, CLIENT_INITIAL, SERVER_INITIAL)
        } else {
            (server, client, SERVER_INITIAL, CLIENT_INITIAL)
        };
        let segment = Segment {
            time_ns: time_ms * MS,
            src,
            dst,
            seq: own.wrapping_add(seq),
            ack: ack.map(|ack| other.wrapping_add(ack)),
            flags: flags | if ack.is_some() { 0x10 } else { 0 },
            window: 500,
            options: &TcpOptions::parse(options),
            payload: &vec![0; length],
            length: u32::try_from(length).unwrap(),
            direction: None,
            ip_packet: 0,
        };
        self.connections.segment(&segment, &mut self.tables);
    }

    /// The server sends 1,000 bytes.
    fn data(&mut self, time_ms: i64, seq: u32) {
        self.put(time_ms, false, seq, Some(1), 0, 1000, &[]);
    }

    /// The client acknowledges, with SACK blocks.
    fn ack(&mut self, time_ms: i64, ack: u32, blocks: &[(u32, u32)]) {
        let mut options = vec![1, 1, 5, u8::try_from(2 + 8 * blocks.len()).unwrap()];
        for &(left, right) in blocks {
            options.extend(SERVER_INITIAL.wrapping_add(left).to_be_bytes());
            options.extend(SERVER_INITIAL.wrapping_add(right).to_be_bytes());
        }
        let options = if blocks.is_empty() { &[][..] } else { &options };
        self.put(time_ms, true, 1, Some(ack), 0, 0, options);
    }

    fn finish(mut self) -> Finished {
        self.connections.finish(&mut self.tables);
        self.tables.finish()
    }
}

fn losses(finished: &Finished) -> Vec<String> {
    finished.table("losses").map_or_else(Vec::new, |table| {
        table.lines(&["packet_number", "rule", "spurious", "sent_ns"])
    })
}

fn timers(finished: &Finished) -> Vec<String> {
    finished.table("timers").map_or_else(Vec::new, |table| {
        table.lines(&["timer", "event", "time_ns", "delta_ms"])
    })
}

/// Options of both SYNs; ECE and CWR ask for ECN, ECE alone agrees (RFC 3168 section 6.1.1).
#[test]
fn what_a_syn_announces_is_told() {
    let mut scene = Scene {
        connections: Connections::new(KeyLog::default(), None),
        tables: Tables::default(),
    };
    let options = [2, 4, 5, 0xb4, 4, 2, 1, 1, 3, 3, 7, 0];
    scene.put(0, true, 0, None, SYN | 0xc0, 0, &options);
    scene.put(
        1,
        false,
        0,
        Some(1),
        SYN | 0x40,
        0,
        &[2, 4, 2, 0, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2],
    );
    scene.put(2, true, 1, Some(1), 0, 0, &[]);
    let finished = scene.finish();
    assert_eq!(
        finished
            .table("handshake")
            .unwrap()
            .lines(&["step", "detail"]),
        [
            r#"syn|{"ecn":true,"mss":1460,"sack_permitted":true,"timestamps":false,"window":500,"window_scale":7}"#,
            r#"syn_ack|{"ecn":true,"mss":512,"sack_permitted":false,"timestamps":true,"window":500,"window_scale":null}"#,
            "ack|"
        ]
    );
}

/// Segments that SACK blocks show to be missing and that are sent again then are fast
/// retransmissions, across the wrap.
#[test]
fn a_hole_is_a_fast_retransmission() {
    let mut scene = Scene::new(Some(End::Server));
    for (time, seq) in [(21, 1), (22, 1001), (23, 2001), (24, 3001)] {
        scene.data(time, seq);
    }
    scene.ack(43, 1, &[(1001, 2001)]);
    scene.ack(44, 1, &[(1001, 3001)]);
    scene.ack(45, 1, &[(1001, 4001)]);
    scene.data(45, 1);
    scene.ack(65, 4001, &[]);
    let finished = scene.finish();
    assert_eq!(losses(&finished), ["1|fast_retransmit|false|21000000"]);
    let acks = finished.table("acks").unwrap();
    assert_eq!(
        acks.lines(&["kind", "first", "last"])[2..],
        [
            "cumulative|0|0",
            "sack|1001|2000",
            "cumulative|0|0",
            "sack|1001|3000",
            "cumulative|0|0",
            "sack|1001|4000",
            "cumulative|0|4000"
        ]
    );
    let flight = finished.table("transport_metrics").unwrap();
    assert_eq!(
        flight.lines(&["bytes_in_flight"])[1..],
        ["4000", "3000", "2000", "1000", "1000", "0"]
    );
    // Samples: the SYN-ACK, and the SACK blocks; what was sent twice gives none.
    assert_eq!(
        flight.lines(&["latest_rtt_ms"]),
        ["20", "", "21", "21", "21", "", ""]
    );
}

/// The last segment sent again without a word from the receiver is a probe; the first then, a timeout, and all behind
/// it.
#[test]
fn silence_is_a_probe_and_then_a_timeout() {
    let mut scene = Scene::new(Some(End::Server));
    for seq in [1, 1001, 2001] {
        scene.data(21, seq);
    }
    scene.data(62, 2001);
    scene.data(300, 1);
    scene.ack(320, 1001, &[]);
    scene.data(321, 1001);
    scene.ack(341, 3001, &[]);
    let finished = scene.finish();
    assert_eq!(
        losses(&finished),
        [
            "2001|tail_loss_probe|false|21000000",
            "1|timeout|false|21000000",
            "1001|timeout|false|21000000"
        ]
    );
    assert_eq!(
        timers(&finished),
        [
            "pto|set|21000000|41",
            "pto|expired|62000000|",
            "rto|set|62000000|238",
            "rto|expired|300000000|"
        ]
    );
}

/// A probe may carry new bytes; what merely comes a little later is none.
#[test]
fn new_bytes_after_silence_are_a_probe() {
    let mut scene = Scene::new(Some(End::Server));
    for (time, seq) in [(21, 1), (21, 1001), (41, 2001), (90, 3001)] {
        scene.data(time, seq);
    }
    scene.ack(110, 4001, &[]);
    scene.data(200, 4001);
    let finished = scene.finish();
    assert_eq!(
        timers(&finished),
        ["pto|set|41000000|49", "pto|expired|90000000|"]
    );
    assert!(losses(&finished).is_empty());
}

/// A timeout waits again until it expires once more, whatever duplicate acknowledgments say; each is counted.
#[test]
fn timeouts_follow_each_other() {
    let mut scene = Scene::new(Some(End::Server));
    for (time, seq) in [(21, 1), (21, 1001), (260, 1), (750, 1)] {
        scene.data(time, seq);
    }
    scene.ack(770, 2001, &[]);
    for number in 0..5 {
        scene.data(771, 2001 + 1000 * number);
    }
    for time in [850, 900, 950, 1000] {
        scene.ack(time, 2001, &[]);
    }
    scene.data(1011, 2001);
    let finished = scene.finish();
    assert_eq!(
        timers(&finished)[1..],
        [
            "rto|expired|260000000|",
            "rto|set|260000000|490",
            "rto|expired|750000000|",
            "rto|set|771000000|240",
            "rto|expired|1011000000|"
        ]
    );
    let metrics = finished.table("transport_metrics").unwrap();
    let counts = metrics.lines(&["pto_count"]);
    let counts: Vec<&str> = counts
        .iter()
        .map(String::as_str)
        .filter(|count| !count.is_empty())
        .collect();
    assert_eq!(counts, ["1", "2", "1"]);
}

/// Nothing is said about why a segment was sent again where there is neither a reason nor silence.
#[test]
fn what_nothing_explains_is_said() {
    let mut scene = Scene::new(Some(End::Server));
    scene.data(21, 1);
    scene.data(21, 1001);
    scene.data(25, 1);
    let finished = scene.finish();
    assert_eq!(losses(&finished), ["1|||21000000"]);
    assert!(timers(&finished).is_empty());
    assert_eq!(finished.stats.get("retransmission_unexplained"), 1);
}

/// A segment that comes twice at the receiver's end was needless, and nothing is said about why it was sent.
#[test]
fn the_receiver_sees_duplicates_only() {
    let mut scene = Scene::new(Some(End::Client));
    scene.data(31, 1001);
    scene.data(35, 1);
    scene.data(80, 1);
    scene.ack(81, 2001, &[]);
    let finished = scene.finish();
    assert_eq!(losses(&finished), ["1||true|"]);
    let told = finished.table("losses").unwrap();
    assert_eq!(told.lines(&["acknowledged_ns"]), ["81000000"]);
    let packets = finished.table("packets").unwrap();
    assert_eq!(
        packets.lines(&["event", "packet_number", "retransmission"])[3..6],
        ["received|1001|false", "received|1|false", "received|1|true"]
    );
    assert_eq!(finished.rows("transport_metrics"), 1);
}

/// Windows are scaled as both ends agreed, and a sender that fills one is blocked until it grows.
#[test]
fn a_full_window_blocks() {
    let mut scene = Scene::new(Some(End::Server));
    for number in 0..64 {
        scene.data(21, 1 + 1000 * number);
    }
    scene.ack(41, 64_001, &[]);
    let finished = scene.finish();
    let rows = finished.table("flow_control").unwrap();
    assert_eq!(
        rows.lines(&["direction", "event", "limit", "window_bytes"]),
        [
            "up|limit|501|500",
            "down|limit|64001|64000",
            "up|limit|64001|64000",
            "down|blocked|64001|64000",
            "down|limit|128001|64000",
            "down|unblocked|128001|64000",
        ]
    );
}

/// A connection that uses the ports of an earlier one has another name; a probe of an idle one is no retransmission.
#[test]
fn connections_and_probes_are_told_apart() {
    let mut scene = Scene::new(None);
    scene.data(30, 1);
    scene.ack(40, 1001, &[]);
    scene.put(9_000, false, 1000, Some(1), 0, 1, &[]);
    scene.put(20_000, true, 77, None, SYN, 0, &[]);
    let finished = scene.finish();
    let packets = finished.table("packets").unwrap();
    let names = packets.lines(&["connection", "event", "retransmission"]);
    assert_eq!(names[5], "10.0.0.1:5000-10.0.0.2:443|seen|false");
    assert_eq!(names[6], "10.0.0.1:5000-10.0.0.2:443#1|seen|false");
    assert!(finished
        .absent
        .iter()
        .any(|absent| absent.table == "transport_metrics"));
}
