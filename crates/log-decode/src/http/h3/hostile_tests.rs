// SPDX-License-Identifier: Apache-2.0
//! Hostile input: counted, bounded, survived.

use super::tests::{decode, frame, section, varint, Portion, GET, REFERS};
use super::Connection;
use crate::http::testing::{finish, hex, lines, Numbers};
use crate::Direction::{Down, Up};
use crate::End;

/// Lengths without end, malformed payloads, broken encoders: counted, and other streams go on.
#[test]
fn hostile_frames_are_counted() {
    let huge = [varint(1), hex("ffffffffffffffff")].concat();
    for (stream_id, bytes, stat) in [
        (
            2,
            [varint(0), frame(7, &[])].concat(),
            "http3_malformed_frame",
        ),
        (
            2,
            [varint(0), frame(0xf_0700, b"\x01\xff")].concat(),
            "http3_malformed_frame",
        ),
        (4, frame(5, &[]), "http3_malformed_frame"),
        (4, frame(1, &[]), "http3_header_not_decoded"),
        (4, frame(1, &hex("0000 ff ff")), "http3_header_not_decoded"),
        (
            4,
            frame(1, &vec![0; (1 << 20) + 1]),
            "http3_header_not_decoded",
        ),
        (6, hex("02 3fe1ffffff7f"), "qpack_encoder_stream_broken"),
        (4, [huge, vec![1; 1 << 21]].concat(), ""),
    ] {
        let finished = decode(
            End::Client,
            &[
                (Up, stream_id, 1, bytes, false),
                (Up, 0, 2, frame(1, &section(&GET)), true),
            ],
        );
        assert_eq!(
            finished.stats.get(stat),
            u64::from(!stat.is_empty()),
            "{stat}: {:?}",
            finished.stats
        );
        assert!(lines(&finished, "http_requests", &["method"]).contains(&"GET".to_owned()));
    }
}

/// More streams, waiting sections and priorities than are followed cost bounded memory.
#[test]
fn floods_are_bounded() {
    let finished = finish(|tables| {
        let mut connection = Connection::new("c".into(), None);
        let settings = [varint(0), frame(4, &[varint(1), varint(220)].concat())].concat();
        connection.stream_data(Down, 3, 1, &settings, false, tables);
        for id in 0..6_000 {
            connection.stream_data(Up, id * 4, 1, &frame(1, &hex(REFERS)), false, tables);
            let update = frame(
                0xf_0700,
                &[varint(1_000_000 + id), b"u=1".to_vec()].concat(),
            );
            let start = if id == 0 { varint(0) } else { vec![] };
            connection.stream_data(Up, 2, 1, &[start, update].concat(), false, tables);
        }
        connection.finish(tables);
    });
    assert_eq!(finished.rows("http_requests"), 4094);
    assert_eq!(finished.stats.get("http3_too_many_streams"), 6_000 - 4094);
    assert_eq!(finished.stats.get("http3_header_not_decoded"), 4094);
}

/// Headers that never end, on many streams, cost no more memory than all of them may hold together.
#[test]
fn unfinished_headers_are_bounded() {
    let finished = finish(|tables| {
        let mut connection = Connection::new("c".into(), None);
        for id in 0..40 {
            let endless = [varint(1), varint(1 << 40), vec![0; 1 << 20]].concat();
            connection.stream_data(Up, id * 4, 1, &endless, false, tables);
            assert!(connection.held_bytes <= super::MAX_HELD_BYTES);
        }
        connection.reset(Up, 0, 0x10c, 2, tables);
        connection.stream_data(Up, 160, 3, &frame(1, &section(&GET)), true, tables);
        connection.finish(tables);
    });
    assert_eq!(lines(&finished, "http_requests", &["method"]), ["GET"]);
}

/// Random bytes give rows and findings, never a panic.
#[test]
fn noise_is_survived() {
    let mut numbers = Numbers(9);
    for _ in 0..200 {
        let mut portions: Vec<Portion> = Vec::new();
        for _ in 0..40 {
            let payload: Vec<u8> = (0..numbers.below(30))
                .map(|_| u8::try_from(numbers.below(256)).unwrap())
                .collect();
            let bytes = match numbers.below(3) {
                0 => payload,
                kind => frame(kind as u64 - 1, &payload),
            };
            let direction = if numbers.below(2) == 0 { Up } else { Down };
            portions.push((
                direction,
                numbers.below(12) as u64,
                1,
                bytes,
                numbers.below(9) == 0,
            ));
        }
        decode(End::Server, &portions);
    }
}
