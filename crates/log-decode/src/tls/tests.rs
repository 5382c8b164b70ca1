// SPDX-License-Identifier: Apache-2.0
//! Recorded connections: the example of RFC 8448 section 3, and OpenSSL's (`vectors/README.md`).

use super::keylog::KeyLog;
use super::layer::Layer;
use super::RoundTrips;
use crate::tables::{Finished, Tables};
use crate::{Direction, End, Stats};

/// A recording: lines of `key` and a line of a key log, or `up` or `down` and bytes in hexadecimal.
fn opened(recording: &str, with_keys: bool, portion: usize) -> Finished {
    let keys = KeyLog::default();
    let mut tables = Tables::default();
    let mut layer = Layer::new("client-server", Some(End::Client), keys.clone());
    let mut trips = RoundTrips::default();
    for (time_ns, line) in (0..).zip(recording.lines()) {
        let (kind, rest) = line.split_once(' ').unwrap();
        let direction = match kind {
            "key" if with_keys => {
                keys.read(&mut rest.as_bytes(), &mut Stats::default())
                    .unwrap();
                continue;
            }
            "key" => continue,
            "up" => Direction::Up,
            _ => Direction::Down,
        };
        let bytes = super::keylog::hex(rest).unwrap();
        for part in bytes.chunks(portion) {
            layer.data(direction, time_ns, part, &mut trips, &mut tables);
        }
    }
    layer.finish(&mut tables);
    tables.finish()
}

fn lines(finished: &Finished, table: &str, columns: &[&str]) -> Vec<String> {
    finished
        .table(table)
        .map_or_else(Vec::new, |table| table.lines(columns))
}

fn steps(finished: &Finished) -> String {
    lines(finished, "handshake", &["step"]).join(" ")
}

const PREFACE_FRAMES: [&str; 2] = ["up|settings|0", "up|ping|8"];

fn frames(finished: &Finished) -> Vec<String> {
    lines(
        finished,
        "http_frames",
        &["direction", "frame_type", "length_bytes"],
    )
}

/// Every message of the simple handshake, with what it chose, however the bytes are cut.
#[test]
fn the_handshake_of_rfc_8448_is_read() {
    for portion in [1, 7, 100_000] {
        let finished = opened(include_str!("vectors/rfc8448-section-3.txt"), true, portion);
        assert_eq!(
            lines(
                &finished,
                "handshake",
                &["direction", "step", "round_trip", "length_bytes"]
            ),
            [
                "up|client_hello|0|196",
                "down|server_hello|0|90",
                "down|encrypted_extensions|0|40",
                "down|certificate|0|445",
                "down|certificate_verify|0|136",
                "down|finished|0|36",
                "up|finished|1|36",
                "down|new_session_ticket|1|205",
            ]
        );
        assert_eq!(
            lines(&finished, "handshake", &["detail"])[1],
            r#"{"cipher_suite":"TLS_AES_128_GCM_SHA256","group":"x25519","pre_shared_key":false,"version":"TLS 1.3"}"#
        );
        // Its application data are the numbers from 0 to 49, which are no HTTP/2.
        assert_eq!(finished.stats.get("unknown_application_protocol"), 1);
        assert_eq!(finished.stats.get("undecryptable_record"), 0);
    }
}

/// Records of each direction follow one another without a gap, from the first byte behind the SYN on, however the bytes
/// are cut.
#[test]
fn records_stand_where_they_stood_in_the_stream() {
    for portion in [1, 7, 100_000] {
        let finished = opened(include_str!("vectors/tls12-aes128-gcm.txt"), true, portion);
        let records = lines(
            &finished,
            "tls_records",
            &[
                "direction",
                "event",
                "content_type",
                "first_byte",
                "length_bytes",
                "content_bytes",
            ],
        );
        let mut next = [1_u64, 1];
        let mut content = 0;
        for record in &records {
            let fields: Vec<&str> = record.split('|').collect();
            let [direction, event, kind, first, length, plain] = fields[..] else {
                panic!("{record}");
            };
            let (is_down, expected_event) = (
                direction == "down",
                if direction == "down" {
                    "received"
                } else {
                    "sent"
                },
            );
            assert_eq!(event, expected_event);
            let (first, length): (u64, u64) = (first.parse().unwrap(), length.parse().unwrap());
            let expected = &mut next[usize::from(is_down)];
            assert_eq!(first, *expected, "{record}");
            *expected += length;
            if kind == "application_data" {
                // Header, explicit nonce and tag (RFC 5288 section 3).
                let plain: u64 = plain.parse().unwrap();
                assert_eq!(length - plain, 5 + 8 + 16);
                content += plain;
            }
        }
        // The preface, SETTINGS and PING, as sent up.
        assert_eq!(content, 24 + 9 + 9 + 8);
    }
}

/// HTTP/2 comes out of every AEAD suite of TLS 1.2.
#[test]
fn tls_1_2_is_opened() {
    for recording in [
        include_str!("vectors/tls12-aes128-gcm.txt"),
        include_str!("vectors/tls12-aes256-gcm.txt"),
        include_str!("vectors/tls12-chacha20.txt"),
        include_str!("vectors/tls12-aes128-ccm.txt"),
        include_str!("vectors/tls12-aes256-ccm.txt"),
        include_str!("vectors/tls12-aes128-ccm8.txt"),
        include_str!("vectors/tls12-aes256-ccm8.txt"),
    ] {
        let finished = opened(recording, true, 1000);
        assert!(steps(&finished).starts_with(
            "client_hello server_hello certificate server_key_exchange server_hello_done client_key_exchange finished"
        ), "{}", steps(&finished));
        assert_eq!(frames(&finished), PREFACE_FRAMES);
        assert_eq!(
            lines(&finished, "parameters", &["name", "value"]),
            [
                "alert.client.description|close_notify",
                "alert.server.description|close_notify"
            ]
        );
    }
}

/// A server that asks for another group costs a round trip more; the second `ClientHello`'s keys count.
#[test]
fn a_hello_retry_request_is_followed() {
    let finished = opened(
        include_str!("vectors/tls13-chacha20-retry-request.txt"),
        true,
        1000,
    );
    assert!(steps(&finished).starts_with(
        "client_hello hello_retry_request client_hello server_hello encrypted_extensions"
    ));
    assert_eq!(
        lines(&finished, "handshake", &["round_trip"])[..4],
        ["0", "0", "1", "1"]
    );
    assert_eq!(frames(&finished), PREFACE_FRAMES);
}

/// Records after a `KeyUpdate` of the client, and after one that both ends make, are opened with the next keys.
#[test]
fn key_updates_are_followed() {
    let finished = opened(include_str!("vectors/tls13-key-update.txt"), true, 1000);
    assert_eq!(steps(&finished).matches("key_update").count(), 3);
    assert_eq!(
        frames(&finished),
        ["up|settings|0", "up|ping|8", "up|ping|8", "up|ping|8"]
    );
    assert_eq!(finished.stats.get("undecryptable_record"), 0);
}

/// 0-RTT data are read once the server has taken them, whichever suite the resumed session had.
#[test]
fn early_data_are_read() {
    let finished = opened(include_str!("vectors/tls13-early-data.txt"), true, 1000);
    assert!(steps(&finished).contains("end_of_early_data finished"));
    assert_eq!(
        frames(&finished),
        ["up|settings|0", "up|ping|8", "up|ping|8"]
    );
    // Sent before the server's answer.
    let times = lines(&finished, "http_frames", &["time_ns"]);
    let answer = &lines(&finished, "handshake", &["time_ns"])[1];
    assert!(times[0].parse::<i64>().unwrap() < answer.parse().unwrap());
}

/// 0-RTT data that the server refuses are counted, not read; what follows them is.
#[test]
fn refused_early_data_are_left_out() {
    let finished = opened(
        include_str!("vectors/tls13-early-data-rejected.txt"),
        true,
        1000,
    );
    assert_eq!(finished.stats.get("early_data_rejected"), 1);
    assert_eq!(frames(&finished), PREFACE_FRAMES);
}

/// Missing keys leave the clear part of the handshake, and it is said what cannot be told.
#[test]
fn missing_keys_are_told() {
    let finished = opened(include_str!("vectors/tls13-key-update.txt"), false, 1000);
    assert_eq!(steps(&finished), "client_hello server_hello");
    assert_eq!(finished.stats.get("no_keys"), 1);
    assert!(finished
        .absent
        .iter()
        .any(|absent| absent.table == "http_requests"));
    let finished = opened(include_str!("vectors/tls12-aes128-gcm.txt"), false, 1000);
    assert!(steps(&finished).ends_with("client_key_exchange"));
    assert_eq!(finished.stats.get("no_keys"), 1);
}

/// HTTP/2 comes out of AES-CCM under TLS 1.3, with the long tag and the short one.
#[test]
fn ccm_of_tls_1_3_is_opened() {
    for recording in [
        include_str!("vectors/tls13-ccm.txt"),
        include_str!("vectors/tls13-ccm8.txt"),
    ] {
        let finished = opened(recording, true, 1000);
        assert!(steps(&finished).contains("certificate_verify finished finished"));
        assert_eq!(frames(&finished), PREFACE_FRAMES);
        assert_eq!(finished.stats.get("undecryptable_record"), 0);
    }
}

/// Suites that cannot be opened are named as such, not as a lack of keys.
#[test]
fn unsupported_suites_are_told() {
    let finished = opened(include_str!("vectors/tls12-cbc.txt"), true, 1000);
    let stats: Vec<_> = finished.stats.iter().map(|(name, _)| name).collect();
    assert_eq!(
        stats,
        ["unsupported_cipher_suite:TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 of TLS 1.2"]
    );
    // What stands in clear text is read all the same.
    assert_eq!(
        steps(&finished),
        "client_hello server_hello certificate server_key_exchange server_hello_done client_key_exchange new_session_ticket"
    );
}

/// A pre-shared key needs no certificate, and the key log opens it like any other.
#[test]
fn a_pre_shared_key_of_tls_1_2_is_opened() {
    let finished = opened(include_str!("vectors/tls12-psk-aes256-gcm.txt"), true, 1000);
    assert_eq!(
        steps(&finished),
        "client_hello server_hello server_hello_done client_key_exchange finished new_session_ticket finished"
    );
    assert_eq!(frames(&finished), PREFACE_FRAMES);
    assert_eq!(finished.stats.iter().count(), 0);
}

/// Bytes that a proxy passes on are read as if they stood alone, tunnels within tunnels too, to a
/// depth.
#[test]
fn tls_in_a_tunnel_is_opened() {
    let inner = include_str!("vectors/tls12-aes256-gcm.txt");
    let hex = |text: &str| {
        text.bytes()
            .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    };
    let asked = format!("up {}\n", hex("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n"));
    let granted = format!("down {}\n", hex("HTTP/1.1 200 OK\r\n\r\n"));
    for tunnels in 1..5 {
        let recording = [asked.as_str(), &granted].concat().repeat(tunnels) + inner;
        let finished = opened(&recording, true, 1000);
        let requests = lines(&finished, "http_requests", &["method", "url", "status"]);
        assert_eq!(requests, vec!["CONNECT|h:443|200"; tunnels]);
        let too_deep = u64::from(tunnels > 3);
        assert_eq!(finished.stats.get("unknown_application_protocol"), too_deep);
        if too_deep == 0 {
            assert_eq!(frames(&finished)[2 * tunnels..], PREFACE_FRAMES);
            assert_eq!(finished.stats.iter().count(), 0);
        }
    }
}

/// A server's certificate without the hellos before it stays what it is: a connection that began before the capture.
#[test]
fn a_handshake_without_its_start_is_told() {
    let recording = include_str!("vectors/tls12-aes256-gcm.txt");
    let begun = recording.find("\ndown").unwrap();
    let finished = opened(&recording[begun + 1..], true, 1000);
    assert_eq!(finished.stats.get("tls_without_start"), 1);
}

/// Keys of another connection open nothing and are told.
#[test]
fn wrong_keys_are_told() {
    let recording = include_str!("vectors/rfc8448-section-3.txt");
    let wrong = recording.replace("SECRET_0 cb34", "SECRET_0 cb35").replace(
        "SERVER_HANDSHAKE_TRAFFIC_SECRET cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7 b67b",
        "SERVER_HANDSHAKE_TRAFFIC_SECRET cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7 b67c",
    );
    let finished = opened(&wrong, true, 1000);
    assert_eq!(steps(&finished), "client_hello server_hello finished");
    assert!(finished.stats.get("undecryptable_record") > 0);
}

/// No byte of a recording can be damaged so that reading it fails.
#[test]
fn damage_is_survived() {
    let recording = include_str!("vectors/tls13-early-data.txt");
    let (keys, messages) = recording.split_at(recording.find("\nup ").unwrap());
    let hexadecimal = (messages.char_indices())
        .filter(|(_, digit)| digit.is_ascii_hexdigit())
        .map(|(at, _)| at);
    for at in hexadecimal.step_by(7) {
        for digit in ["0", "f"] {
            let mut damaged = messages.to_owned();
            damaged.replace_range(at..=at, digit);
            let damaged = damaged.replace("fown", "down").replace("0own", "down");
            opened(&format!("{keys}{damaged}"), true, 700);
        }
    }
}
