// SPDX-License-Identifier: Apache-2.0
//! Connections made frame by frame, and what is hostile in them.

use super::reader::PREFACE;
use super::Connection;
use crate::http::testing::{everything, finish, lines, Numbers};
use crate::tables::Finished;
use crate::Direction::{self, Down, Up};
use crate::End;

pub(super) fn frame(kind: u8, flags: u8, stream_id: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream_id.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Literal fields without indexing (RFC 7541 section 6.2.2).
pub(super) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    fields
        .iter()
        .flat_map(|(name, value)| [vec![0], text(name), text(value)].concat())
        .collect()
}

pub(super) const GET: [(&str, &str); 4] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "h3.test"),
    (":path", "/a?b"),
];
pub(super) const OK: [(&str, &str); 2] = [(":status", "200"), ("content-type", "text/html")];

pub(super) type Portion = (Direction, i64, Vec<u8>);

pub(super) fn decode(vantage: End, portions: &[Portion]) -> Finished {
    finish(|tables| {
        let mut connection = Connection::new("c".into(), Some(vantage));
        for (direction, time_ns, bytes) in portions {
            connection.data(*direction, *time_ns, bytes, tables);
        }
        connection.finish(tables);
    })
}

/// A request with everything: SETTINGS, priorities in all forms, CONTINUATION, padding, an interim response, trailers.
fn exchange() -> Vec<Portion> {
    let request = block(&GET);
    let (first, second) = request.split_at(10);
    let mut headers = vec![2, 0x80, 0, 0, 3, 219];
    headers.extend(first);
    headers.extend([0, 0]);
    let response = block(&OK);
    vec![
        (
            Up,
            1,
            [
                PREFACE,
                &frame(4, 0, 0, &[0, 4, 0, 0, 0, 10, 0x1a, 0x2a, 0, 0, 0, 7]),
            ]
            .concat(),
        ),
        (Up, 2, frame(0x10, 0, 0, b"\0\0\0\x01u=5")),
        (Up, 3, frame(1, 0x1 | 0x8 | 0x20, 1, &headers)),
        (Up, 4, frame(9, 0x4, 1, second)),
        (Down, 5, frame(4, 0, 0, &[])),
        (Down, 6, frame(1, 0x4, 1, &block(&[(":status", "103")]))),
        (Down, 7, frame(1, 0x4, 1, &response)),
        (Down, 8, frame(0, 0x8, 1, b"\x03body\0\0\0")),
        (Up, 9, frame(0x10, 0, 0, b"\0\0\0\x01u=1, i")),
        (Down, 10, frame(0, 0, 1, b"more")),
        (Down, 11, frame(1, 0x5, 1, &block(&[("x", "y")]))),
        (Down, 12, frame(7, 0, 0, b"\0\0\0\x01\0\0\0\0bye")),
    ]
}

const FRAME: [&str; 9] = [
    "time_ns",
    "last_byte_ns",
    "event",
    "stream_id",
    "frame_type",
    "length_bytes",
    "end_stream",
    "value",
    "detail",
];

/// Every frame is a row with its instants, its numbers and its words.
#[test]
fn frames_become_rows() {
    let finished = decode(End::Client, &exchange());
    let fields = r#"{"fields":[[":method","GET"],[":scheme","https"],[":authority","h3.test"],[":path","/a?b"]]}"#;
    assert_eq!(
        lines(&finished, "http_frames", &FRAME),
        [
            r#"1|1|sent||settings|12|||{"initial_window_size":10,"0x1a2a":7}"#.to_owned(),
            r#"2|2|sent||priority_update|7||1|{"priority":"u=5"}"#.to_owned(),
            r#"3|3|sent|1|headers|18|true||{"priority":"weight=220, depends_on=3, exclusive"}"#.to_owned(),
            format!("4|4|sent|1|continuation|{}|||{fields}", block(&GET).len() - 10),
            "5|5|received||settings|0|||".to_owned(),
            r#"6|6|received|1|headers|13|false||{"fields":[[":status","103"]]}"#.to_owned(),
            r#"7|7|received|1|headers|37|false||{"fields":[[":status","200"],["content-type","text/html"]]}"#.to_owned(),
            "8|8|received|1|data|8|false||".to_owned(),
            r#"9|9|sent||priority_update|10||1|{"priority":"u=1, i"}"#.to_owned(),
            "10|10|received|1|data|4|false||".to_owned(),
            r#"11|11|received|1|headers|5|true||{"fields":[["x","y"]]}"#.to_owned(),
            r#"12|12|received||goaway|11||1|{"error":"NO_ERROR","debug":"bye"}"#.to_owned(),
        ]
    );
}

/// The request's instants, bytes and priorities, and its stream.
#[test]
fn a_request_becomes_a_row() {
    let finished = decode(End::Client, &exchange());
    let columns = [
        "stream_id",
        "method",
        "url",
        "status",
        "content_type",
        "priority",
        "priority_updated",
        "send_start_ns",
        "send_end_ns",
        "headers_ns",
        "first_byte_ns",
        "last_byte_ns",
        "request_header_bytes",
        "request_body_bytes",
        "response_header_bytes",
        "response_body_bytes",
        "error",
    ];
    let expected = format!(
        "1|GET|https://h3.test/a?b|200|text/html|weight=220, depends_on=3, exclusive|u=1, i|3|4|7|8|11|{}|0|55|8|",
        block(&GET).len()
    );
    assert_eq!(lines(&finished, "http_requests", &columns), [expected]);
    let columns = [
        "stream_id",
        "kind",
        "up_bytes",
        "up_first_ns",
        "up_last_ns",
        "up_end",
        "down_bytes",
        "down_end",
    ];
    let up = 18 + 18 + block(&GET).len() - 10;
    let down = 22 + 46 + 17 + 13 + 14;
    assert_eq!(
        lines(&finished, "streams", &columns),
        [format!("1|request|{up}|3|4|fin|{down}|fin")]
    );
    assert_eq!(
        lines(&finished, "parameters", &["name", "value"]),
        [
            "settings.client.initial_window_size|10",
            "settings.client.0x1a2a|7"
        ]
    );
    assert_eq!(finished.stats.iter().count(), 0);
}

/// Rows do not depend on the portions in which the bytes arrive.
#[test]
fn portions_do_not_matter() {
    let whole = everything(&decode(End::Server, &exchange()));
    let mut numbers = Numbers(7);
    for longest in [1, 2, 5, 20] {
        let cut: Vec<Portion> = exchange()
            .iter()
            .flat_map(|(direction, time_ns, bytes)| {
                let portions = numbers.portions(bytes, longest);
                portions
                    .into_iter()
                    .map(|portion| (*direction, *time_ns, portion.to_vec()))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(everything(&decode(End::Server, &cut)), whole);
    }
}

/// A frame that arrives bit by bit has a first and a last instant; one that the log ends in has only the first.
#[test]
fn frames_take_time() {
    let data = frame(0, 0, 1, b"0123456789");
    let finished = decode(
        End::Client,
        &[
            (Down, 1, data[..4].to_vec()),
            (Down, 2, data[4..12].to_vec()),
            (Down, 3, data[12..].to_vec()),
            (Down, 4, data[..15].to_vec()),
        ],
    );
    assert_eq!(lines(&finished, "http_frames", &FRAME[..2]), ["1|3", "4|"]);
    let columns = ["first_byte_ns", "last_byte_ns", "response_body_bytes"];
    assert_eq!(lines(&finished, "http_requests", &columns), ["2||16"]);
}

/// A sender that has used a window up is blocked until the receiver gives more, by `WINDOW_UPDATE` or by SETTINGS.
#[test]
fn windows_block_and_unblock() {
    let finished = decode(
        End::Server,
        &[
            (
                Up,
                1,
                [PREFACE, &frame(4, 0, 0, &[0, 4, 0, 0, 0, 10])].concat(),
            ),
            (Up, 2, frame(1, 0x5, 1, &block(&GET))),
            (Down, 3, frame(1, 0x4, 1, &block(&OK))),
            (Down, 4, frame(0, 0, 1, &[0; 10])),
            (Up, 5, frame(8, 0, 1, &[0, 0, 0, 5])),
            (Down, 6, frame(0, 0, 1, &[0; 5])),
            (Up, 7, frame(4, 0, 0, &[0, 4, 0, 0, 0, 12])),
            (Up, 8, frame(8, 0, 0, &[0, 1, 0, 0])),
            (Down, 9, frame(0, 0x1, 1, &[0; 2])),
        ],
    );
    let columns = [
        "time_ns",
        "event",
        "direction",
        "scope",
        "stream_id",
        "limit",
        "window_bytes",
    ];
    assert_eq!(
        lines(&finished, "flow_control", &columns),
        [
            "4|blocked|down|stream|1|10|0",
            "5|limit|down|stream|1|15|5",
            "5|unblocked|down|stream|1|15|5",
            "6|blocked|down|stream|1|15|0",
            "7|unblocked|down|stream|1|17|2",
            "8|limit|down|connection||131071|131056",
        ]
    );
}

/// Nothing says at the receiver's end when the sender learnt of more room, and the tables say so.
#[test]
fn who_was_blocked_shows_only_at_the_sender() {
    let finished = decode(End::Client, &[(Down, 1, frame(0, 0, 1, &vec![0; 70_000]))]);
    assert_eq!(finished.rows("flow_control"), 0);
    assert_eq!(finished.absent[0].table, "flow_control");
}

/// `RST_STREAM` ends both ways at once and is the request's error; a code of zero is none.
#[test]
fn resets_end_streams() {
    let columns = ["stream_id", "up_end", "down_end"];
    for (code, error) in [(8, "1|CANCEL from the client"), (0, "1|")] {
        let finished = decode(
            End::Client,
            &[
                (Up, 1, [PREFACE, &frame(1, 0x5, 1, &block(&GET))].concat()),
                (Up, 2, frame(3, 0, 1, &[0, 0, 0, code])),
                // What was on its way changes nothing.
                (Down, 3, frame(0, 0x1, 1, b"late")),
            ],
        );
        assert_eq!(
            lines(&finished, "streams", &columns),
            ["1|fin|stop_sending"]
        );
        assert_eq!(
            lines(&finished, "http_requests", &["stream_id", "error"]),
            [error]
        );
    }
}

/// A promise is the request of the stream that it opens.
#[test]
fn pushes_have_a_request() {
    let finished = decode(
        End::Client,
        &[
            (Up, 1, [PREFACE, &frame(1, 0x5, 1, &block(&GET))].concat()),
            (
                Down,
                2,
                frame(5, 0x4, 1, &[&[0, 0, 0, 2][..], &block(&GET)].concat()),
            ),
            (Down, 3, frame(1, 0x5, 2, &block(&OK))),
        ],
    );
    let columns = ["stream_id", "time_ns", "url", "status", "last_byte_ns"];
    assert_eq!(
        lines(&finished, "http_requests", &columns),
        ["2|2|https://h3.test/a?b|200|3", "1|1|https://h3.test/a?b||"]
    );
}

/// Nothing more is read one way after a gap; the other way goes on.
#[test]
fn a_gap_ends_one_direction() {
    let finished = finish(|tables| {
        let mut connection = Connection::new("c".into(), Some(End::Client));
        connection.data(
            Up,
            1,
            &[PREFACE, &frame(1, 0x5, 1, &block(&GET))].concat(),
            tables,
        );
        connection.data(Down, 2, &frame(0, 0, 1, &[0; 50])[..20], tables);
        connection.gap(Down, 100, tables);
        connection.gap(Down, 100, tables);
        connection.data(Down, 3, &frame(0, 0, 1, b"lost"), tables);
        connection.data(Up, 4, &frame(6, 0, 0, &[0; 8]), tables);
        connection.finish(tables);
    });
    assert_eq!(finished.stats.get("http2_gap"), 1);
    let columns = ["frame_type", "last_byte_ns"];
    assert_eq!(
        lines(&finished, "http_frames", &columns),
        ["headers|1", "data|", "ping|4"]
    );
}
