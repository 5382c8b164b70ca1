// SPDX-License-Identifier: Apache-2.0
//! Small logs of each dialect, and what is wrong in them.

use super::*;
use crate::tables::Finished;

const HEADER: &str = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"},"common_fields":{"time_format":"relative","reference_time":0,"group_id":"ab"}}}"#;
const SENT: &str = r#"{"time":1,"name":"transport:packet_sent","data":{"frames":[{"frame_type":"ack","acked_ranges":[[3],[0,1]]},{"frame_type":"stream","stream_id":0,"offset":0,"length":9,"fin":true}],"header":{"packet_type":"1RTT","packet_number":4},"raw":{"length":50}}}"#;

pub(super) fn sequence(records: &[&str]) -> Vec<u8> {
    records
        .iter()
        .flat_map(|record| format!("\x1e{record}\n").into_bytes())
        .collect()
}

fn rows(qlog: &Finished) -> [usize; 3] {
    ["packets", "frames", "acks"].map(|name| qlog.rows(name))
}

/// Some columns of a table, one line a row.
pub(super) fn lines(qlog: &Finished, table: &str, columns: &[&str]) -> Vec<String> {
    qlog.table(table)
        .map_or_else(Vec::new, |table| table.lines(columns))
}

pub(super) fn decode_bytes(bytes: &[u8]) -> Result<Finished, DecodeError> {
    let mut tables = Tables::default();
    decode(&Input::bytes(bytes), &Options::default(), &mut tables)?;
    Ok(tables.finish())
}

#[test]
fn a_packet_becomes_its_rows() {
    let qlog = decode_bytes(&sequence(&[HEADER, SENT])).unwrap();
    assert_eq!(rows(&qlog), [1, 2, 2]);
    assert_eq!(qlog.stats.get("no_epoch"), 1);
}

/// A log of a later version may still have events that are known: they are read, and that is told.
#[test]
fn a_version_that_is_not_known_is_told() {
    for (version, told) in [
        (r#""9.9""#, 1),
        ("5", 1),
        (r#""0.4""#, 0),
        (r#""draft-02""#, 0),
    ] {
        let header = HEADER.replace(r#""0.3""#, version);
        let qlog = decode_bytes(&sequence(&[&header, SENT])).unwrap();
        assert_eq!(rows(&qlog), [1, 2, 2]);
        assert_eq!(qlog.stats.get("unknown_qlog_version"), told, "{version}");
    }
}

#[test]
fn the_last_record_may_be_cut_anywhere() {
    let whole = sequence(&[HEADER, SENT, SENT]);
    let head = sequence(&[HEADER, SENT]).len();
    for cut in head + 2..whole.len() - 1 {
        let qlog = decode_bytes(&whole[..cut]).unwrap();
        assert_eq!(
            (rows(&qlog)[0], qlog.stats.get("truncated_record")),
            (1, 1),
            "{cut}"
        );
    }
}

#[test]
fn bad_records_are_counted_and_skipped() {
    let wrong_type = r#"{"time":1,"name":"transport:packet_sent","data":{"frames":7}}"#;
    let unknown = r#"{"time":1,"name":"moon:phase_changed","data":{}}"#;
    let known = r#"{"time":1,"name":"recovery:marked_for_retransmit","data":{}}"#;
    let qlog = decode_bytes(&sequence(&[HEADER, "{]", wrong_type, unknown, known, SENT])).unwrap();
    assert_eq!(rows(&qlog)[0], 1);
    let count = |name| qlog.stats.get(name);
    assert_eq!(
        (
            count("malformed_event"),
            count("unknown_event:phase_changed"),
            count("not_tabled:marked_for_retransmit")
        ),
        (2, 1, 1)
    );
}

#[test]
fn a_malformed_event_still_moves_a_clock_of_deltas() {
    let header = HEADER.replace("relative", "delta");
    let bad = r#"{"time":40,"name":"transport:packet_sent","data":{"frames":7}}"#;
    let qlog = decode_bytes(&sequence(&[&header, bad, SENT])).unwrap();
    assert_eq!(qlog.stats.get("malformed_event"), 1);
    assert_eq!(lines(&qlog, "packets", &["time_ns"]), ["41000000"]);
}

#[test]
fn deep_nesting_is_an_error_of_one_event() {
    let deep = format!(
        r#"{{"time":1,"name":"transport:packet_sent","data":{{"frames":{}}}}}"#,
        "[".repeat(100_000)
    );
    let qlog = decode_bytes(&sequence(&[HEADER, &deep, SENT])).unwrap();
    assert_eq!((rows(&qlog)[0], qlog.stats.get("malformed_event")), (1, 1));
}

#[test]
fn a_document_may_name_its_vantage_point_last() {
    let document = format!(
        r#"{{"qlog_version":"0.3","traces":[{{"events":[{SENT},{SENT}],"vantage_point":{{"type":"server"}}}}]}}"#
    );
    let qlog = decode_bytes(document.as_bytes()).unwrap();
    assert_eq!((rows(&qlog)[0], qlog.stats.get("no_vantage")), (2, 0));
    let cut = &document.as_bytes()[..document.len() - 60];
    let qlog = decode_bytes(cut).unwrap();
    assert_eq!(
        (
            qlog.stats.get("broken_document"),
            qlog.stats.get("no_vantage")
        ),
        (1, 1)
    );
}

#[test]
fn something_else_is_refused() {
    for bytes in [
        &b""[..],
        b"<html>",
        b"{\"a\":1}",
        b"\x1e{\"a\":1}\n",
        b"\x1e",
        b"\xff\xfe",
    ] {
        assert!(
            matches!(decode_bytes(bytes), Err(DecodeError::Foreign { .. })),
            "{bytes:?}"
        );
    }
}
