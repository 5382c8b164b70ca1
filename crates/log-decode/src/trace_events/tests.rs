// SPDX-License-Identifier: Apache-2.0
use super::decode;
use crate::tables::{Finished, Tables};
use crate::{Clock, DecodeError, Input, Options, Source};

const EVENTS: &str = r#"{"name":"navigationStart","cat":"blink.user_timing","ph":"R","ts":14709360518,"pid":7,"tid":1,"args":{"frame":"F"}},
{"name":"Screenshot","cat":"disabled-by-default-devtools.screenshot","ph":"O","ts":14709360600,"pid":1,"tid":1,"args":{"snapshot":"/9j/4A=="}},
{"name":"ResourceSendRequest","cat":"devtools.timeline","ph":"I","ts":14709360700.5,"pid":7,"tid":1,"args":{"data":{"requestId":"7.1","url":"https://a/b","priority":"VeryHigh"}}},
{"name":"ResourceFinish","cat":"devtools.timeline","ph":"I","ts":14709360900,"pid":7,"tid":1,"args":{"data":{"requestId":"7.1","finishTime":14709.3608}}}"#;

fn decoded(log: &str) -> Result<(Source, Finished), DecodeError> {
    let mut tables = Tables::default();
    let source = decode(
        &Input::bytes(log.as_bytes()),
        &Options::default(),
        &mut tables,
    )?;
    Ok((source, tables.finish()))
}

#[test]
fn both_forms_give_the_same_rows() {
    let object = format!(
        r#"{{"traceEvents":[{EVENTS}],"metadata":{{"clock-domain":"LINUX_CLOCK_MONOTONIC"}}}}"#
    );
    for log in [object, format!("[{EVENTS}]"), format!("[{EVENTS},\n")] {
        let (source, tables) = decoded(&log).unwrap();
        assert_eq!(
            (source.clock, source.resolution_ns),
            (Clock::Monotonic, 1000)
        );
        assert_eq!(
            (tables.rows("page_events"), tables.rows("http_requests")),
            (2, 1)
        );
    }
}

#[test]
fn another_systems_clock_is_not_the_studys() {
    let log = format!(r#"{{"traceEvents":[{EVENTS}],"metadata":{{"clock-domain":"WIN_QPC"}}}}"#);
    assert_eq!(decoded(&log).unwrap().0.clock, Clock::OwnStart);
}

#[test]
fn a_trace_cut_anywhere_gives_what_came_before() {
    let log = format!("[{EVENTS}]");
    for end in 0..log.len() {
        match decoded(log.get(..end).unwrap()) {
            Ok((_, tables)) => assert_eq!(tables.stats.get("truncated_log"), 1, "cut at {end}"),
            Err(DecodeError::Foreign { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn impossible_values_are_counted() {
    let log = r#"[{"name":"LayoutShift","ph":"I","ts":1e300,"args":{}},{"name":7},
{"name":"Screenshot","ph":"O","ts":1,"args":{"snapshot":"?"}},{"name":"x","ph":"X","ts":-1,"dur":-1e300}]"#;
    let (_, tables) = decoded(log).unwrap();
    for finding in [
        "impossible_time",
        "malformed_event",
        "broken_image",
        "event_without_table",
    ] {
        assert_eq!(tables.stats.get(finding), 1, "{finding}");
    }
}

#[test]
fn other_documents_are_foreign() {
    for other in [
        "",
        "{}",
        "[]",
        r#"{"log":{}}"#,
        "[1,2,3]",
        &"[".repeat(100_000),
    ] {
        assert!(
            matches!(decoded(other), Err(DecodeError::Foreign { .. })),
            "{other:.20}"
        );
    }
}
