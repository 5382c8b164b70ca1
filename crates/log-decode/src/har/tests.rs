// SPDX-License-Identifier: Apache-2.0
use super::decode;
use crate::tables::{Finished, Tables};
use crate::{Clock, DecodeError, Input, Options, Source};

const LOG: &str = r#"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},
"pages":[{"startedDateTime":"1970-01-01T00:00:01Z","id":"p","pageTimings":{"onLoad":20.5,"onContentLoad":-1,"_firstPaint":null}}],
"entries":[{"startedDateTime":"1970-01-01T00:00:01.000Z","request":{"method":"GET","url":"https://a/b#c","httpVersion":"h2"},
"response":{"status":200,"httpVersion":"http/2.0","bodySize":7},
"timings":{"blocked":1,"dns":-1,"connect":4,"ssl":3,"send":0.5,"wait":10,"receive":2}},
{"startedDateTime":"yesterday"}]}}"#;

fn decoded(log: &str, offset: Option<i64>) -> Result<(Source, Finished), DecodeError> {
    let mut tables = Tables::default();
    let options = Options {
        realtime_minus_monotonic_ns: offset,
        ..Options::default()
    };
    let source = decode(&Input::bytes(log.as_bytes()), &options, &mut tables)?;
    Ok((source, tables.finish()))
}

#[test]
fn entries_and_pages_are_rows_and_what_has_no_time_is_counted() {
    let (source, tables) = decoded(LOG, None).unwrap();
    assert_eq!(source.clock, Clock::Realtime);
    assert_eq!(
        (tables.rows("http_requests"), tables.rows("page_events")),
        (1, 2)
    );
    assert_eq!(tables.stats.get("malformed_entry"), 1);
    assert_eq!(decoded(LOG, Some(5)).unwrap().0.clock, Clock::Monotonic);
}

#[test]
fn a_log_cut_anywhere_gives_what_came_before() {
    for end in 0..LOG.len() {
        match decoded(LOG.get(..end).unwrap(), None) {
            Ok((_, tables)) => assert_eq!(tables.stats.get("truncated_log"), 1, "cut at {end}"),
            Err(DecodeError::Foreign { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn numbers_beyond_all_bounds_leave_nulls() {
    let log = LOG
        .replace("\"wait\":10", "\"wait\":1e300")
        .replace("\"status\":200", "\"status\":-1e9");
    assert_eq!(
        decoded(&log, Some(i64::MIN))
            .unwrap()
            .1
            .rows("http_requests"),
        0
    );
    assert_eq!(decoded(&log, None).unwrap().1.rows("http_requests"), 1);
}
