// SPDX-License-Identifier: Apache-2.0
//! Hostile input: counted, bounded, survived.

use super::reader::PREFACE;
use super::tests::{decode, frame};
use crate::http::testing::{lines, Numbers};
use crate::Direction::{Down, Up};
use crate::End;

/// Endless CONTINUATIONs, frames within a header, wrong padding, short payloads: counted, and the rest goes on.
#[test]
fn hostile_frames_are_counted() {
    let mut endless = frame(1, 0, 1, &[]);
    for _ in 0..20 {
        endless.extend(frame(9, 0, 1, &vec![0x82; 60_000]));
    }
    endless.extend(frame(9, 4, 1, &[]));
    for (bytes, stat) in [
        (endless, "http2_header_block_too_long"),
        (
            [frame(1, 0, 1, &[]), frame(6, 0, 0, &[0; 8])].concat(),
            "http2_malformed_frame",
        ),
        (frame(9, 4, 1, &[0x82]), "http2_malformed_frame"),
        (frame(1, 0xc, 1, &[9, 0x82]), "http2_malformed_frame"),
        (frame(1, 0x24, 1, &[9, 0x82]), "http2_header_not_decoded"),
        (frame(5, 4, 1, &[9]), "http2_malformed_frame"),
        (frame(1, 4, 1, &[0xff]), "http2_header_not_decoded"),
        (frame(3, 0, 1, &[]), "http2_malformed_frame"),
        (frame(8, 0, 1, &[1]), "http2_malformed_frame"),
        (frame(0xa, 0, 1, &[0xff, 0xff]), "http2_malformed_frame"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "http2_no_preface"),
    ] {
        let bytes = if stat == "http2_no_preface" {
            bytes
        } else {
            [PREFACE, &bytes].concat()
        };
        let finished = decode(
            End::Client,
            &[(Up, 1, bytes), (Down, 2, frame(6, 0, 0, &[0; 8]))],
        );
        assert_eq!(finished.stats.get(stat), 1, "{stat}: {:?}", finished.stats);
        assert!(lines(&finished, "http_frames", &["frame_type"]).contains(&"ping".to_owned()));
    }
}

/// More streams than are followed, and settings without end, cost bounded memory and time.
#[test]
fn floods_are_bounded() {
    let mut bytes = PREFACE.to_vec();
    for id in 0..10_000 {
        bytes.extend(frame(1, 0x4, id * 2 + 1, &[0x82]));
        bytes.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 10]));
        bytes.extend(frame(0x10, 0, 0, &[0x7f, 0, 0, 1]));
    }
    let finished = decode(End::Client, &[(Up, 1, bytes)]);
    assert_eq!(finished.rows("streams"), 4096);
    assert_eq!(finished.stats.get("http2_too_many_streams"), 10_000 - 4096);
    assert_eq!(finished.rows("http_frames"), 30_000);
}

/// Random bytes give rows and findings, never a panic.
#[test]
fn noise_is_survived() {
    let mut numbers = Numbers(3);
    for _ in 0..200 {
        let mut bytes: Vec<u8> = PREFACE.to_vec();
        for _ in 0..20 {
            let payload: Vec<u8> = (0..numbers.below(40))
                .map(|_| u8::try_from(numbers.below(256)).unwrap())
                .collect();
            let kind = u8::try_from(numbers.below(18)).unwrap();
            let flags = u8::try_from(numbers.below(256)).unwrap();
            bytes.extend(frame(
                kind,
                flags,
                u32::try_from(numbers.below(6)).unwrap(),
                &payload,
            ));
        }
        let down = bytes[PREFACE.len()..].to_vec();
        decode(End::Server, &[(Up, 1, bytes), (Down, 2, down)]);
    }
}
