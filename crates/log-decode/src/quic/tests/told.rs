// SPDX-License-Identifier: Apache-2.0
//! Events out of the ordinary, and how they are told.

use super::*;

fn names(tables: &Finished) -> Vec<String> {
    let all = tables.stats.iter();
    all.map(|(name, stat)| format!("{} {name} {}", stat.severity.as_str(), stat.count))
        .collect()
}

/// A draft that is not opened is the reason for all of its packets, with its number.
#[test]
fn a_version_that_is_not_opened_is_named() {
    let mut capture = Capture::new(KeyLog::default(), None);
    let long = [&[0xc0, 0xff, 0, 0, 27, 4][..], b"drft", &[0], &[0; 1200]].concat();
    assert!(capture.datagram(Up, &long));
    assert!(capture.datagram(Up, &long));
    assert!(capture.datagram(Down, &[0x40; 60]));
    let tables = capture.finish();
    assert_eq!(names(&tables), ["data_loss unknown_version:ff00001b 3"]);
    let parameters = tables.table("parameters").unwrap();
    assert_eq!(
        parameters.lines(&["connection", "name", "value"]),
        ["64726674|version_information.chosen_version|ff00001b"]
    );
}

/// The client's version stands with its hello, so that one without an answer is known; the server's where it is another.
#[test]
fn the_version_is_told_when_it_is_chosen() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), None);
    let hello = crypto(0, &client_hello(&talk.random));
    capture.datagram(Up, &talk.first().packet(Level::Initial, Up, 0, &hello));
    let tables = capture.finish();
    let told = |tables: &Finished| {
        let lines = tables
            .table("parameters")
            .unwrap()
            .lines(&["name", "value"]);
        lines
            .into_iter()
            .filter(|line| line.starts_with("version"))
            .collect::<Vec<_>>()
    };
    let version = ["version_information.chosen_version|00000001"];
    assert_eq!(told(&tables), version);
    let mut capture = Capture::new(talk.key_log(), None);
    capture.hellos(&talk);
    assert_eq!(told(&capture.finish()), version);
}

/// Anybody can seal an Initial packet: what must not stand there (RFC 9000 section 12.4) is not taken for the program's.
#[test]
fn a_forbidden_frame_is_not_read() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), None);
    capture.hellos(&talk);
    capture.datagram(
        Up,
        &talk.packet(Level::Initial, Up, 1, &[0x0a, 0, 2, b'h', b'i']),
    );
    let tables = capture.finish();
    assert_eq!(names(&tables), ["data_loss forbidden_frame 1"]);
    assert_eq!(rows(&tables), (3, 2));
}

/// Reasons why there is no handshake are told, in clear: a TLS alert is 0x100 and its number (RFC
/// 9001 section 4.8).
#[test]
fn a_close_in_an_initial_packet_is_told() {
    let talk = Talk::new();
    let mut capture = Capture::new(KeyLog::default(), None);
    capture.hellos(&talk);
    capture.datagram(
        Down,
        &talk.packet(Level::Initial, Down, 1, &[0x1c, 0x41, 0x28, 6, 0]),
    );
    let parameters = capture.finish();
    let lines = parameters.table("parameters").unwrap();
    assert_eq!(
        lines.lines(&["name", "value"]).last().unwrap(),
        "connection_closed.server.connection_code|296"
    );
}

/// Frames of extensions are passed over, and what follows them is read; an ACK of the first path is one like any other.
#[test]
fn frames_of_extensions_end_nothing() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), Some(End::Client));
    capture.hellos(&talk);
    let frames = [
        &[0x42, 0xf5, 0x44, 0][..],
        &[0x3e, 0, 0, 0, 0, 0],
        &[0x7e, 0x75, 3, 0],
        &[0x1a, 0, 0, 0, 0, 0, 0, 1, 2],
        &[0x20, 1],
    ];
    capture.datagram(
        Down,
        &talk.packet(Level::Application, Down, 0, &frames.concat()),
    );
    let tables = capture.finish();
    let rows = tables
        .table("frames")
        .unwrap()
        .lines(&["frame_type", "value", "detail"]);
    assert_eq!(
        rows[2..],
        [
            "time_stamp|1024|",
            "path_ack|0|",
            "path_abandon|3|",
            "path_challenge||{\"data\":\"0000000000000102\"}"
        ]
    );
    assert_eq!(tables.rows("acks"), 1);
    assert_eq!(names(&tables), ["data_loss unknown_frame:0x20 1"]);
}

/// Only the first of several paths is opened; that the others are not is told, with the name of their connection.
#[test]
fn packets_of_other_paths_are_told() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), None);
    capture.hellos(&talk);
    let frame = [&[0x7e, 0x78, 1, 0, 0, 4][..], b"path", &[9; 16]].concat();
    capture.datagram(Down, &talk.packet(Level::Application, Down, 0, &frame));
    capture.datagram(Up, &talk.packet(Level::Application, Up, 0, PING));
    capture.client = "10.0.0.9:1234".parse().unwrap();
    capture.datagram(Up, &[&[0x41][..], b"path", &[7; 40]].concat());
    let tables = capture.finish();
    assert_eq!(names(&tables), ["data_loss other_paths 1"]);
    let packets = tables.table("packets").unwrap().lines(&["connection"]);
    assert_eq!(packets.first(), packets.last());
}

/// A client that counts anew after a Retry does not send the same packet twice.
#[test]
fn numbers_may_start_again_after_a_retry() {
    let retry = "ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba";
    let dcid = crate::tls::keylog::hex("8394c8f03e515708").unwrap();
    let talk = |id: &[u8]| Talk {
        ids: [vec![], id.to_vec()],
        initial_dcid: id.to_vec(),
        ..Talk::new()
    };
    let hello = crypto(0, &client_hello(&RANDOM));
    let mut capture = Capture::new(KeyLog::default(), Some(End::Client));
    capture.datagram(Up, &talk(&dcid).packet(Level::Initial, Up, 0, &hello));
    capture.datagram(Down, &crate::tls::keylog::hex(retry).unwrap());
    let again = talk(&crate::tls::keylog::hex("f067a5502a4262b5").unwrap());
    for _ in 0..2 {
        capture.datagram(Up, &again.packet(Level::Initial, Up, 0, &hello));
    }
    let tables = capture.finish();
    let packets = tables.table("packets").unwrap();
    assert_eq!(
        packets.lines(&["event", "packet_number", "trigger"]),
        ["sent|0|", "received||", "sent|0|", "dropped|0|duplicate"]
    );
    assert_eq!(names(&tables), ["notice packet_numbers_restarted 1"]);
}

/// The token with which a client shows its address stands beside its hello.
#[test]
fn a_token_is_told_with_the_hello() {
    let talk = Talk {
        token: b"token".to_vec(),
        ..Talk::new()
    };
    let mut capture = Capture::new(talk.key_log(), None);
    capture.hellos(&talk);
    let tables = capture.finish();
    let details = tables.table("handshake").unwrap().lines(&["detail"]);
    assert!(
        details[0].ends_with(r#""token_bytes":5}"#),
        "{}",
        details[0]
    );
}
