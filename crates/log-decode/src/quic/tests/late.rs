// SPDX-License-Identifier: Apache-2.0
//! Connections whose start is not in the capture, and secrets that are tried on them.

use super::*;

fn late(talk: &Talk, keys: KeyLog, number: u32) -> Finished {
    let mut capture = Capture::new(keys, None);
    for step in 0..3 {
        for way in [Up, Down] {
            let packet = talk.packet(Level::Application, way, number + step, PING);
            assert!(capture.datagram(way, &packet));
        }
    }
    capture.finish()
}

/// Secrets that nobody asked for are shown by the AEAD's tag, whatever the version, suite, length
/// of ids and of packet numbers.
#[test]
fn secrets_that_nobody_asked_for_are_tried() {
    for version in [Version::V1, Version::V2] {
        for (suite, ids, number_bytes, number) in [
            (0x1301, 8, 4, 70_000),
            (0x1302, 0, 1, 300),
            (0x1303, 20, 2, 100_000),
            (0x1301, 5, 3, 1),
        ] {
            let talk = Talk {
                version,
                suite,
                number_bytes,
                ids: [vec![1; ids], vec![2; ids]],
                ..Talk::new()
            };
            let tables = late(&talk, talk.key_log(), number);
            let packets = tables.table("packets").unwrap();
            let name = "10.0.0.1:50000-10.0.0.2:443";
            let expected: Vec<String> = (0..3)
                .flat_map(|step| {
                    ["up", "down"].map(|way| format!("{name}|{way}|{}", number + step))
                })
                .collect();
            let found = packets.lines(&["connection", "direction", "packet_number"]);
            assert_eq!(found, expected, "{version:?} {suite:x}");
            let names: Vec<_> = tables.stats.iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["late_connection"]);
        }
    }
}

/// Secrets of another connection open nothing, however many there are, and the reason stays what it was.
#[test]
fn other_secrets_open_nothing() {
    let talk = Talk::new();
    let keys = KeyLog::default();
    let secret = "ab".repeat(32);
    for session in 0..300 {
        for label in ["CLIENT", "SERVER"] {
            let line = format!("{label}_TRAFFIC_SECRET_0 {session:064x} {secret}");
            keys.read(&mut line.as_bytes(), &mut crate::Stats::default())
                .unwrap();
        }
    }
    let tables = late(&talk, keys, 3);
    assert_eq!(
        (rows(&tables), tables.stats.get("no_first_packet")),
        ((6, 0), 6)
    );
    assert_eq!(tables.stats.get("too_many_keys_to_try"), 1);
}

/// A connection whose hello came in two packets, one of which was missed, is known by its ids.
#[test]
fn a_connection_without_its_hello_keeps_its_name() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), None);
    capture.datagram(Up, &talk.first().packet(Level::Initial, Up, 1, PING));
    capture.datagram(Down, &talk.packet(Level::Initial, Down, 0, PING));
    for way in [Down, Up] {
        capture.datagram(way, &talk.packet(Level::Application, way, 500, PING));
    }
    let tables = capture.finish();
    let packets = tables.table("packets").unwrap();
    let name = crate::quic::wire::hex(&talk.initial_dcid);
    assert_eq!(
        packets.lines(&["connection", "direction", "packet_number"])[2..],
        [format!("{name}|down|500"), format!("{name}|up|500")]
    );
    assert_eq!(tables.stats.iter().count(), 0);
}
