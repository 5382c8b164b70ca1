// SPDX-License-Identifier: Apache-2.0
//! Records that hold several datagrams.

use super::*;

/// Packets of `sizes` bytes each, one behind the other.
fn record(talk: &Talk, way: Direction, first: u32, sizes: &[usize]) -> Vec<u8> {
    let packets = (first..).zip(sizes).map(|(number, size)| {
        // Header, packet number and tag take the rest.
        let header = 1 + talk.ids[usize::from(way == Up)].len() + talk.number_bytes;
        let frames = vec![1; size - header - 16];
        let packet = talk.packet(Level::Application, way, number, &frames);
        assert_eq!(packet.len(), *size);
        packet
    });
    packets.collect::<Vec<_>>().concat()
}

/// Lengths of the packets of `tables` and whether their numbers are known, but for those of the two hellos.
fn lengths(tables: &Finished) -> Vec<(String, bool)> {
    let lines =
        tables
            .table("packets")
            .unwrap()
            .lines(&["packet_type", "length_bytes", "packet_number"]);
    let short = lines.iter().filter_map(|line| line.strip_prefix("1RTT|"));
    short
        .map(|line| line.split_once('|').unwrap())
        .map(|(length, number)| (length.to_owned(), !number.is_empty()))
        .collect()
}

fn told(lengths: &[usize], opened: bool) -> Vec<(String, bool)> {
    let lengths = lengths.iter().map(|length| (length.to_string(), opened));
    lengths.collect()
}

const SIZES: [usize; 5] = [1301, 1301, 1301, 1301, 77];

/// A connection whose client has this id, and its capture at the server, with the handshake in it.
fn recorded(id: &str, has_keys: bool) -> (Talk, Capture) {
    let talk = Talk {
        ids: [id.into(), b"server01".to_vec()],
        ..Talk::new()
    };
    let keys = if has_keys {
        talk.key_log()
    } else {
        KeyLog::default()
    };
    let mut capture = Capture::new(keys, Some(End::Server));
    capture.hellos(&talk);
    (talk, capture)
}

/// Every packet of a record counts once, with its own length, by keys, by a connection id, and by both.
#[test]
fn a_record_is_taken_apart_by_ids_or_by_keys() {
    for (id, has_keys) in [("client", true), ("", true), ("client", false)] {
        let (talk, mut capture) = recorded(id, has_keys);
        capture.datagram(Down, &record(&talk, Down, 0, &SIZES));
        // Of another size, and of two packets alone.
        capture.datagram(Down, &record(&talk, Down, 5, &[900, 900]));
        let tables = capture.finish();
        let expected = [&SIZES[..], &[900, 900]].concat();
        assert_eq!(
            lengths(&tables),
            told(&expected, has_keys),
            "{id} {has_keys}"
        );
        assert_eq!(tables.stats.get("segmented_datagram"), 2);
        for bad in ["undecryptable_packet", "wrong_keys", "unsplit_datagram"] {
            assert_eq!(tables.stats.get(bad), 0, "{bad}");
        }
    }
}

/// Packets with long headers may stand first, in datagrams of their own or together with one that has a short header.
#[test]
fn long_headers_may_stand_before() {
    for (id, has_keys) in [("client", true), ("client", false)] {
        let (talk, mut capture) = recorded(id, has_keys);
        let mut whole = talk.packet(Level::Initial, Down, 1, &[1; 500]);
        let rest = 1200 - whole.len();
        whole.extend(record(&talk, Down, 0, &[rest, 1200, 300]));
        // Zeros fill the datagram with an Initial packet, behind it.
        let mut padded = talk.packet(Level::Initial, Down, 2, PING);
        padded.resize(1200, 0);
        padded.extend(record(&talk, Down, 3, &[1200, 1200]));
        capture.datagram(Down, &whole);
        capture.datagram(Down, &padded);
        let tables = capture.finish();
        let expected = [rest, 1200, 300, 1200, 1200];
        assert_eq!(
            lengths(&tables),
            told(&expected, has_keys),
            "{id} {has_keys}"
        );
    }
}

/// Nothing shows where a packet ends without keys and connection ids: that is told, once for a record.
#[test]
fn a_record_that_nothing_takes_apart_is_told() {
    let talk = Talk {
        ids: [vec![], b"server01".to_vec()],
        ..Talk::new()
    };
    let mut capture = Capture::new(KeyLog::default(), Some(End::Server));
    capture.hellos(&talk);
    capture.datagram(Down, &record(&talk, Down, 0, &SIZES));
    let tables = capture.finish();
    let whole: usize = SIZES.iter().sum();
    assert_eq!(lengths(&tables), told(&[whole], false));
    assert_eq!(tables.stats.get("unsplit_datagram"), 1);
}

/// Packets of a record that were not captured count, where the size is known from others.
#[test]
fn a_record_that_was_cut_counts_all_its_packets() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), Some(End::Server));
    capture.hellos(&talk);
    capture.datagram(Down, &record(&talk, Down, 0, &SIZES));
    let second = record(&talk, Down, 5, &SIZES);
    for captured in [100, 1301, 1500, 3000] {
        capture.cut(Down, &second[..captured], second.len());
    }
    let tables = capture.finish();
    let lengths: Vec<String> = lengths(&tables)
        .into_iter()
        .map(|(length, _)| length)
        .collect();
    let expected: Vec<String> = SIZES.repeat(5).iter().map(usize::to_string).collect();
    assert_eq!(lengths, expected);
}

/// One long packet stays one, with keys and with an id that does not come again.
#[test]
fn a_jumbo_packet_stays_whole() {
    let talk = Talk::new();
    for keys in [talk.key_log(), KeyLog::default()] {
        let mut capture = Capture::new(keys, Some(End::Server));
        capture.hellos(&talk);
        capture.datagram(Down, &record(&talk, Down, 0, &[8000]));
        assert_eq!(lengths(&capture.finish()).len(), 1);
    }
}
