// SPDX-License-Identifier: Apache-2.0
//! Segments of other connections between the same ports, and connections whose start was not captured.

use super::*;

const RST: u16 = 4;
const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Segments between two ports, in order: whether the client sends, numbers, flags and bytes.
type Line<'a> = (bool, u32, Option<u32>, u16, &'a [u8]);

fn decoded(ports: (u16, u16), lines: &[Line<'_>]) -> Finished {
    let mut connections = Connections::new(KeyLog::default(), None);
    let mut tables = Tables::default();
    let (client, server) = (
        ([10, 0, 0, 1], ports.0).into(),
        ([10, 0, 0, 2], ports.1).into(),
    );
    for (time_ns, &(up, seq, ack, flags, payload)) in (0..).zip(lines) {
        let (src, dst) = if up {
            (client, server)
        } else {
            (server, client)
        };
        let segment = Segment {
            time_ns,
            src,
            dst,
            seq,
            ack,
            flags: flags | if ack.is_some() { 0x10 } else { 0 },
            window: 500,
            options: &TcpOptions::parse(&[]),
            payload,
            length: u32::try_from(payload.len()).unwrap(),
            direction: None,
            ip_packet: 0,
        };
        connections.segment(&segment, &mut tables);
    }
    connections.finish(&mut tables);
    tables.finish()
}

/// A whole connection from the SYN on, and its first request; the initial numbers are 1,000 and 9,000,000.
const OPENING: [Line<'_>; 5] = [
    (true, 1000, None, SYN, &[]),
    (false, 9_000_000, Some(1001), SYN, &[]),
    (true, 1001, Some(9_000_001), 0, &[]),
    (true, 1001, Some(9_000_001), 0, GET),
    (false, 9_000_001, Some(1001 + 28), 0, ANSWER),
];

fn requests(finished: &Finished) -> Vec<String> {
    finished
        .table("http_requests")
        .map_or_else(Vec::new, |table| {
            table.lines(&["connection", "url", "status"])
        })
}

const REQUEST: &str = "10.0.0.1:5000-10.0.0.2:443|http://h/a|200";

/// Answers for a connection that the server still remembers have no number, and spoil none.
#[test]
fn a_challenge_acknowledgment_spoils_nothing() {
    let challenge: [Line<'_>; 3] = [
        OPENING[0],
        (false, 3_000_000_000, Some(2_000_000_000), 0, &[]),
        (true, 2_000_000_000, None, RST, &[]),
    ];
    let finished = decoded((5000, 443), &[&challenge[..], &OPENING].concat());
    let packets = finished.table("packets").unwrap();
    assert_eq!(
        packets.lines(&["direction", "packet_number", "retransmission"]),
        [
            "up|0|false",
            "down||false",
            "up||false",
            "up|0|true",
            "down|0|false",
            "up|1|false",
            "up|1|false",
            "down|1|false",
        ]
    );
    assert_eq!(requests(&finished), [REQUEST]);
    assert_eq!(finished.stats.get("stray_segment"), 2);
    let acks = finished.table("acks").unwrap();
    let acks = acks.lines(&["direction", "first", "last"]);
    assert_eq!(acks, ["down|0|0", "up|0|0", "down|0|28"]);
}

/// A refusal with the number 0, after which the client asks again and is let in.
#[test]
fn a_refused_client_may_ask_again() {
    let refusal: [Line<'_>; 2] = [OPENING[0], (false, 0, Some(1001), RST, &[])];
    let finished = decoded((5000, 443), &[&refusal[..], &OPENING].concat());
    assert_eq!(requests(&finished), [REQUEST]);
    let packets = finished.table("packets").unwrap();
    assert_eq!(packets.lines(&["packet_number"])[3..], ["0", "1", "1", "1"]);
}

/// A server that keeps no state may answer with several SYNs: the client's word decides.
#[test]
fn the_client_takes_one_of_two_answers() {
    let other: [Line<'_>; 2] = [OPENING[0], (false, 77, Some(1001), SYN, &[])];
    let finished = decoded((5000, 443), &[&other[..], &OPENING[1..]].concat());
    assert_eq!(requests(&finished), [REQUEST]);
}

/// The end of another connection is followed by the SYN of the next one.
#[test]
fn what_came_before_the_syn_is_another_connection() {
    let before: [Line<'_>; 2] = [
        (false, 5, Some(6), 0, &[]),
        (false, 5, Some(6), 0, &[0x17, 3, 3, 0, 1, 9]),
    ];
    let finished = decoded((5000, 443), &[&before[..], &OPENING].concat());
    assert_eq!(
        requests(&finished),
        ["10.0.0.1:5000-10.0.0.2:443#1|http://h/a|200"]
    );
}

/// A capture that begins late: the bytes tell the client, whatever the ports say, for all that came before them.
#[test]
fn the_first_bytes_tell_the_client() {
    let late = &OPENING[2..];
    for ports in [(5000, 443), (443, 5000)] {
        for lines in [
            late,
            &[OPENING[4], OPENING[3], OPENING[4]][..],
            &[OPENING[4]],
        ] {
            let finished = decoded(ports, lines);
            let packets = finished.table("packets").unwrap();
            let name = format!("10.0.0.1:{}-10.0.0.2:{}", ports.0, ports.1);
            let names = packets.lines(&["connection"]);
            assert_eq!(names, vec![name; lines.len()]);
        }
    }
    assert_eq!(requests(&decoded((443, 5000), late)).len(), 1);
}

/// The ports tell where nothing else does, and nothing waits forever.
#[test]
fn the_ports_tell_where_nothing_else_does() {
    let lines: Vec<Line<'_>> = (0..100)
        .map(|n| (false, n, Some(6), 0, &b"."[..]))
        .collect();
    for count in [1, 31, 32, 33, 100] {
        let packets = decoded((443, 5000), &lines[..count]);
        let packets = packets.table("packets").unwrap();
        assert_eq!(packets.rows(), count);
        assert!(packets.lines(&["connection"])[0].starts_with("10.0.0.2:5000-"));
    }
}

/// A capture of one way alone keeps its acknowledgments, however far they go.
#[test]
fn acknowledgments_of_what_was_not_captured_are_no_strays() {
    let mut lines = vec![OPENING[0], OPENING[1]];
    lines.extend((1..9).map(|n: u32| {
        let ack = 1001_u32.wrapping_add(n << 29);
        (false, 9_000_001, Some(ack), 0, &[][..])
    }));
    let finished = decoded((5000, 443), &lines);
    assert_eq!(finished.stats.get("stray_segment"), 0);
}

/// Segments with any numbers, flags and bytes become rows and nothing worse.
#[test]
fn nothing_that_is_made_up_fails() {
    let mut state = 7_u64;
    let mut next = |most: u64| {
        state = (state.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1);
        (state >> 33) % most
    };
    let payloads = [
        &b""[..],
        GET,
        ANSWER,
        &[22, 3, 1, 0, 5, 1, 0, 0, 1, 0],
        &[0; 1000],
    ];
    for round in 0..200 {
        let lines: Vec<Line<'_>> = (0..60)
            .map(|_| {
                // Numbers near each other, and all over.
                let mut number = |near: u64| {
                    let most = if round % 2 == 0 { near } else { 1 << 32 };
                    u32::try_from(next(most)).unwrap()
                };
                let (seq, ack) = (number(3000), number(3000));
                let flags = [0, 0, 0, 1, SYN, RST][usize::try_from(next(6)).unwrap()];
                let payload = payloads[usize::try_from(next(5)).unwrap()];
                (
                    next(2) == 0,
                    seq,
                    (next(4) > 0).then_some(ack),
                    flags,
                    payload,
                )
            })
            .collect();
        let rows = decoded((5000, 443), &lines).rows("packets");
        assert_eq!(rows, lines.len());
    }
}
