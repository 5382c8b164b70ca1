// SPDX-License-Identifier: Apache-2.0
//! Keys, and the packets that they open.

use super::*;

#[test]
fn every_version_suite_and_level_is_opened() {
    for version in [
        Version::V1,
        Version::V2,
        Version::Draft(29),
        Version::Draft(34),
    ] {
        for suite in 0x1301..=0x1304 {
            let talk = Talk {
                version,
                suite,
                ..Talk::new()
            };
            let mut capture = Capture::new(talk.key_log(), None);
            capture.hellos(&talk);
            let both = [
                talk.packet(Level::Handshake, Down, 0, PING),
                talk.packet(Level::Application, Down, 0, PING),
            ];
            capture.datagram(Up, &talk.packet(Level::Early, Up, 0, PING));
            capture.datagram(Down, &both.concat());
            capture.datagram(Up, &talk.packet(Level::Handshake, Up, 0, PING));
            capture.datagram(Up, &talk.packet(Level::Application, Up, 1, PING));
            let tables = capture.finish();
            // Each of the five pings is padded.
            assert_eq!(rows(&tables), (7, 2 + 10), "{version:?} {suite:x}");
            assert_eq!(tables.stats.iter().count(), 0);
        }
    }
}

/// QUIC forbids the short tag (RFC 9001 section 5.3).
#[test]
fn ccm_8_is_told_as_a_suite_that_cannot_be_opened() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), None);
    capture.hellos(&Talk {
        suite: 0x1305,
        ..Talk::new()
    });
    capture.datagram(Down, &talk.packet(Level::Handshake, Down, 0, PING));
    assert_eq!(
        capture
            .finish()
            .stats
            .get("unsupported_cipher:TLS_AES_128_CCM_8_SHA256"),
        1
    );
}

#[test]
fn keys_are_updated_in_both_directions_and_late_packets_still_opened() {
    for version in [Version::V1, Version::V2] {
        let mut talk = Talk {
            version,
            ..Talk::new()
        };
        let mut capture = Capture::new(talk.key_log(), None);
        capture.hellos(&talk);
        capture.datagram(Up, &talk.packet(Level::Application, Up, 0, PING));
        let late = talk.packet(Level::Application, Up, 1, PING);
        for update in 1..4 {
            talk.updates = [update, update];
            for way in [Up, Down] {
                capture.datagram(
                    way,
                    &talk.packet(Level::Application, way, update as u32 * 2, PING),
                );
            }
            if update == 1 {
                capture.datagram(Up, &late);
            }
        }
        let tables = capture.finish();
        assert_eq!(rows(&tables), (10, 18), "{version:?}");
        assert_eq!(tables.stats.iter().count(), 0);
    }
}

#[test]
fn a_retry_changes_the_initial_keys() {
    let retry = "ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba";
    let dcid = crate::tls::keylog::hex("8394c8f03e515708").unwrap();
    let talk = Talk {
        ids: [vec![], dcid.clone()],
        initial_dcid: dcid,
        ..Talk::new()
    };
    let mut capture = Capture::new(talk.key_log(), None);
    capture.datagram(Up, &talk.packet(Level::Initial, Up, 0, PING));
    capture.datagram(Down, &crate::tls::keylog::hex(retry).unwrap());
    let scid = crate::tls::keylog::hex("f067a5502a4262b5").unwrap();
    let talk = Talk {
        ids: [vec![], scid.clone()],
        initial_dcid: scid,
        ..Talk::new()
    };
    capture.datagram(
        Up,
        &talk.packet(Level::Initial, Up, 1, &crypto(0, &client_hello(&RANDOM))),
    );
    capture.datagram(Down, &talk.packet(Level::Initial, Down, 0, PING));
    capture.datagram(
        Down,
        &crate::tls::keylog::hex(&retry.replace("f067", "f068")).unwrap(),
    );
    let tables = capture.finish();
    assert_eq!(rows(&tables), (5, 5));
    assert_eq!(
        (tables.rows("handshake"), tables.stats.get("stray_retry")),
        (2, 1)
    );
    assert_eq!(tables.stats.iter().count(), 1);
}

#[test]
fn keys_that_are_missing_or_wrong_are_told() {
    let talk = Talk::new();
    let wrong = Talk {
        suite: 0x1302,
        ..Talk::new()
    };
    for (keys, name) in [
        (KeyLog::default(), "missing_keys"),
        (wrong.key_log(), "wrong_keys"),
    ] {
        let mut capture = Capture::new(keys, None);
        capture.hellos(&talk);
        capture.datagram(Down, &talk.packet(Level::Handshake, Down, 0, PING));
        capture.datagram(Down, &talk.packet(Level::Application, Down, 0, PING));
        let tables = capture.finish();
        assert_eq!(rows(&tables), (4, 2), "{name}");
        assert_eq!(tables.stats.get(name), 2);
    }
}
