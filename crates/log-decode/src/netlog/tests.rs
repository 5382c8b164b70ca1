// SPDX-License-Identifier: Apache-2.0
use super::decode;
use crate::tables::{Finished, Tables};
use crate::{Clock, DecodeError, Input, Options, Source};

/// Numbers of event types differ between versions: these are none of Chromium's.
const HEAD: &str = r#"{"constants":{"logEventTypes":{"QUIC_SESSION":1,"QUIC_SESSION_PACKET_SENT":2,
"QUIC_SESSION_CRYPTO_FRAME_SENT":3,"QUIC_SESSION_PADDING_FRAME_SENT":4,"QUIC_SESSION_COALESCED_PACKET_SENT":5,
"QUIC_SESSION_PACKET_RECEIVED":6,"QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED":7,
"QUIC_SESSION_PACKET_AUTHENTICATED":8,"QUIC_SESSION_STREAM_FRAME_RECEIVED":9,"QUIC_SESSION_PACKET_LOST":10,
"QUIC_SESSION_ACK_FRAME_RECEIVED":11},"logEventPhase":{"PHASE_BEGIN":5,"PHASE_END":6,"PHASE_NONE":7},
"logSourceType":{},"timeTickOffset":"1000","clientInfo":{"name":"Chromium","os_type":"Linux: 6"}},
"events":[
"#;

fn event(kind: u32, time: u32, params: &str) -> String {
    format!(
        r#"{{"params":{params},"phase":7,"source":{{"id":46,"type":13}},"time":"{time}","type":{kind}}}"#
    )
}

fn decoded(log: &str) -> Result<(Source, Finished), DecodeError> {
    let mut tables = Tables::default();
    let source = decode(
        &Input::bytes(log.as_bytes()),
        &Options::default(),
        &mut tables,
    )?;
    Ok((source, tables.finish()))
}

fn whole(events: &[String]) -> String {
    format!("{HEAD}{}]}}", events.join(",\n"))
}

fn padded_initial() -> Vec<String> {
    let crypto = r#"{"data_length":64,"encryption_level":"ENCRYPTION_INITIAL","offset":0}"#;
    vec![
        event(3, 10, crypto),
        event(
            2,
            10,
            r#"{"packet_number":1,"size":100,"encryption_level":"ENCRYPTION_INITIAL","sent_time_us":"10123"}"#,
        ),
        event(3, 10, crypto),
        event(4, 10, r#"{"num_padding_bytes":1100}"#),
        event(
            5,
            10,
            r#"{"info":"total_length: 1200 padding_size: 1100 packets: {ENCRYPTION_INITIAL}"}"#,
        ),
    ]
}

#[test]
fn the_frames_of_a_padded_initial_are_told_twice_and_count_once() {
    let (source, tables) = decoded(&whole(&padded_initial())).unwrap();
    assert_eq!(
        (source.clock, source.resolution_ns),
        (Clock::Monotonic, 1_000_000)
    );
    // The middle of the millisecond that Chromium cuts it to.
    assert_eq!(source.realtime_minus_monotonic_ns, Some(1_000_500_000));
    assert_eq!((tables.rows("packets"), tables.rows("frames")), (1, 2));
    assert_eq!(tables.stats.iter().count(), 0);
}

#[test]
fn a_packet_is_received_once_it_is_authenticated() {
    let header = r#"{"header_format":"IETF_QUIC_SHORT_HEADER_PACKET","packet_number":3}"#;
    let events = [
        event(6, 20, r#"{"size":1200}"#),
        event(7, 20, header),
        event(8, 20, "null"),
        event(
            9,
            20,
            r#"{"stream_id":0,"offset":0,"length":1170,"fin":true}"#,
        ),
        event(6, 21, r#"{"size":1200}"#),
        event(7, 21, header),
    ];
    let (_, tables) = decoded(&whole(&events)).unwrap();
    assert_eq!((tables.rows("packets"), tables.rows("streams")), (1, 1));
    assert_eq!(tables.stats.get("packet_not_authenticated"), 1);
}

#[test]
fn a_loss_that_is_acknowledged_after_all_is_one_row() {
    let events = [
        event(
            2,
            10,
            r#"{"packet_number":7,"size":100,"encryption_level":"ENCRYPTION_FORWARD_SECURE"}"#,
        ),
        event(10, 30, r#"{"packet_number":7,"detection_time_us":30001}"#),
        event(
            11,
            31,
            r#"{"largest_observed":9,"smallest_observed":7,"missing_packets":[8]}"#,
        ),
    ];
    let (_, tables) = decoded(&whole(&events)).unwrap();
    assert_eq!(
        (
            tables.rows("losses"),
            tables.rows("acks"),
            tables.rows("packets")
        ),
        (1, 2, 2)
    );
}

#[test]
fn a_log_cut_anywhere_gives_what_came_before() {
    let log = whole(&padded_initial());
    for end in 0..log.len() {
        match decoded(log.get(..end).unwrap()) {
            Ok((_, tables)) => assert_eq!(tables.stats.get("truncated_log"), 1, "cut at {end}"),
            Err(DecodeError::Foreign { .. }) => assert!(end < HEAD.len(), "cut at {end}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn numbers_beyond_all_bounds_are_counted() {
    let events = [
        event(6, 20, r#"{"size":1e300}"#),
        event(
            11,
            20,
            r#"{"largest_observed":9223372036854775807,"smallest_observed":-5,"missing_packets":[0,0]}"#,
        ),
        event(
            2,
            20,
            r#"{"packet_number":"18446744073709551616","sent_time_us":9223372036854775807}"#,
        ),
        event(99, 20, "{}"),
        event(
            9,
            20,
            r#"{"stream_id":4294967295,"offset":9223372036854775807,"length":9223372036854775807}"#,
        ),
        r#"{"time":"9223372036854775807","type":6,"source":{"id":46}}"#.to_owned(),
        r#"{"time":[],"type":6,"source":{"id":46}}"#.to_owned(),
    ];
    let (_, tables) = decoded(&whole(&events)).unwrap();
    assert_eq!(tables.stats.get("unknown_event_type"), 1);
    assert_eq!(tables.stats.get("impossible_time"), 1);
    assert_eq!(tables.stats.get("malformed_event"), 1);
}

#[test]
fn an_event_that_is_no_json_is_malformed_whoever_reads_it() {
    let count = |params: &str| {
        let (_, tables) = decoded(&whole(&[event(6, 20, params)])).unwrap();
        tables.stats.get("malformed_event")
    };
    for fine in [
        r#"{"size":-0.5e3,"a":[1,{"b":[null,true]}],"c":"\u00e9 \"\\"}"#,
        "{ \"size\" :\n12 , \"a\": \"\u{e9}\"}",
        "null",
        "{}",
    ] {
        assert_eq!(count(fine), 0, "{fine}");
    }
    for broken in [
        r#"{"size":01}"#,
        r#"{"size":1 2}"#,
        r#"{"size":nul}"#,
        r#"{"size":1,}"#,
        r#"{"a":[1,]}"#,
        r#"{"a":{"b"}}"#,
        r#"{"a":"\x"}"#,
        "{\"a\":\"\n\"}",
        "[]",
        "7",
    ] {
        assert_eq!(count(broken), 1, "{broken}");
    }
}

#[test]
fn other_documents_are_foreign() {
    for other in [
        "",
        "[]",
        r#"{"log":{}}"#,
        r#"{"constants":7,"events":[]}"#,
        &"[".repeat(100_000),
    ] {
        assert!(
            matches!(decoded(other), Err(DecodeError::Foreign { .. })),
            "{other:.20}"
        );
    }
}
