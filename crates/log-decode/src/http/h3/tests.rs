// SPDX-License-Identifier: Apache-2.0
//! Connections made frame by frame, and what is hostile in them.

use super::Connection;
use crate::http::testing::{everything, finish, hex, lines, Numbers};
use crate::tables::Finished;
use crate::Direction::{self, Down, Up};
use crate::End;

pub(super) fn varint(value: u64) -> Vec<u8> {
    match value {
        0..=0x3f => vec![u8::try_from(value).unwrap()],
        0x40..=0x3fff => (0x4000 | u16::try_from(value).unwrap())
            .to_be_bytes()
            .to_vec(),
        _ => (0xc000_0000_0000_0000 | value).to_be_bytes().to_vec(),
    }
}

pub(super) fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    [&varint(kind), &varint(payload.len() as u64), payload].concat()
}

/// A field section of literals with literal names (RFC 9204 section 4.5.6).
pub(super) fn section(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = vec![0, 0];
    for (name, value) in fields {
        let length = u8::try_from(name.len()).unwrap();
        if length < 7 {
            bytes.push(0x20 | length);
        } else {
            bytes.extend([0x27, length - 7]);
        }
        bytes.extend(name.as_bytes());
        bytes.push(u8::try_from(value.len()).unwrap());
        bytes.extend(value.as_bytes());
    }
    bytes
}

pub(super) const GET: [(&str, &str); 5] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "h3.test"),
    (":path", "/a?b"),
    ("priority", "u=1"),
];
pub(super) const OK: [(&str, &str); 2] = [(":status", "200"), ("content-type", "text/html")];

/// Direction, stream, time, bytes, whether the stream ends.
pub(super) type Portion = (Direction, u64, i64, Vec<u8>, bool);

pub(super) fn decode(vantage: End, portions: &[Portion]) -> Finished {
    finish(|tables| {
        let mut connection = Connection::new("c".into(), Some(vantage));
        for (direction, stream_id, time_ns, bytes, fin) in portions {
            connection.stream_data(*direction, *stream_id, *time_ns, bytes, *fin, tables);
        }
        connection.finish(tables);
    })
}

/// SETTINGS both ways, reserved frames and streams, a request with an early and a late priority, GOAWAY.
fn exchange() -> Vec<Portion> {
    let settings = [
        varint(1),
        varint(220),
        varint(0x33),
        varint(1),
        varint(0x21 + 0x1f),
        varint(5),
    ]
    .concat();
    let update = |text: &[u8]| frame(0xf_0700, &[&varint(0), text].concat());
    vec![
        (
            Up,
            2,
            1,
            [varint(0), frame(4, &settings), update(b"u=5")].concat(),
            false,
        ),
        (Up, 10, 1, [varint(0x21), vec![1, 2, 3]].concat(), true),
        (
            Up,
            0,
            2,
            [frame(1, &section(&GET)), frame(0x21 + 0x1f * 3, b"xyz")].concat(),
            true,
        ),
        (
            Down,
            3,
            3,
            [varint(0), frame(4, &[]), frame(7, &varint(400))].concat(),
            false,
        ),
        (Down, 0, 4, frame(1, &section(&[(":status", "103")])), false),
        (Down, 0, 5, frame(1, &section(&OK)), false),
        (Up, 2, 6, update(b"u=2, i"), false),
        (Down, 0, 7, frame(0, b"body"), false),
        (Down, 0, 8, frame(0, &[7; 100])[..50].to_vec(), false),
        (Down, 0, 9, frame(0, &[7; 100])[50..].to_vec(), false),
        (Down, 0, 10, vec![], true),
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

/// Every frame is a row with its instants, its numbers and its words, and says whether the stream ends with it.
#[test]
fn frames_become_rows() {
    let finished = decode(End::Server, &exchange());
    let request = r#"{"fields":[[":method","GET"],[":scheme","https"],[":authority","h3.test"],[":path","/a?b"],["priority","u=1"]]}"#;
    assert_eq!(
        lines(&finished, "http_frames", &FRAME),
        [
            r#"1|1|received|2|settings|8|||{"qpack_max_table_capacity":220,"h3_datagram":1,"0x40":5}"#.to_owned(),
            r#"1|1|received|2|priority_update|4||0|{"priority":"u=5"}"#.to_owned(),
            format!("2|2|received|0|headers|{}|false||{request}", section(&GET).len()),
            "2|2|received|0|reserved|3|true|126|".to_owned(),
            "3|3|sent|3|settings|0|||".to_owned(),
            "3|3|sent|3|goaway|2||400|".to_owned(),
            r#"4|4|sent|0|headers|15|false||{"fields":[[":status","103"]]}"#.to_owned(),
            r#"6|6|received|2|priority_update|7||0|{"priority":"u=2, i"}"#.to_owned(),
            r#"5|5|sent|0|headers|39|false||{"fields":[[":status","200"],["content-type","text/html"]]}"#.to_owned(),
            "7|7|sent|0|data|4|false||".to_owned(),
            "8|9|sent|0|data|100|true||".to_owned(),
        ]
    );
    assert_eq!(
        lines(&finished, "parameters", &["time_ns", "name", "value"]),
        [
            "1|settings.client.qpack_max_table_capacity|220",
            "1|settings.client.h3_datagram|1",
            "1|settings.client.0x40|5",
        ]
    );
}

/// The request's instants, bytes and priorities.
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
        "0|GET|https://h3.test/a?b|200|text/html|u=1|u=2, i|2|2|5|7|10|{}|0|54|104|",
        section(&GET).len()
    );
    assert_eq!(lines(&finished, "http_requests", &columns), [expected]);
    assert_eq!(finished.stats.iter().count(), 0);
}

/// Rows do not depend on the portions in which the bytes arrive.
#[test]
fn portions_do_not_matter() {
    let whole = everything(&decode(End::Server, &exchange()));
    let mut numbers = Numbers(5);
    for longest in [1, 2, 5, 20] {
        let mut cut: Vec<Portion> = Vec::new();
        for (direction, stream_id, time_ns, bytes, fin) in exchange() {
            for portion in numbers.portions(&bytes, longest) {
                cut.push((direction, stream_id, time_ns, portion.to_vec(), false));
            }
            if fin {
                cut.push((direction, stream_id, time_ns, vec![], true));
            }
        }
        assert_eq!(everything(&decode(End::Server, &cut)), whole);
    }
}

/// Purposes of streams are known from their ids, or from their types.
#[test]
fn streams_have_a_kind() {
    finish(|tables| {
        let mut connection = Connection::new("c".into(), None);
        for (id, kind) in [(2, 0), (6, 2), (10, 3), (14, 0x21)] {
            assert_eq!(connection.kind(id), None);
            connection.stream_data(Up, id, 1, &varint(kind), true, tables);
        }
        let kinds = [0, 1, 2, 6, 10, 14].map(|id| connection.kind(id));
        assert_eq!(
            kinds,
            [
                Some("request"),
                None,
                Some("control"),
                Some("qpack_encoder"),
                Some("qpack_decoder"),
                Some("unidirectional")
            ]
        );
    });
}

/// The inserts of RFC 9204 Appendix B.2, and a section that refers to them.
const INSERTS: &str = "02 3fbd01 c00f7777772e6578616d706c652e636f6d c10c2f73616d706c652f70617468";
pub(super) const REFERS: &str = "0381 10 11";

/// A section that came before its inserts is decoded when they come; its frame keeps its own instants.
#[test]
fn blocked_sections_are_resumed() {
    let portions = [
        (
            Down,
            3,
            1,
            [varint(0), frame(4, &[varint(1), varint(220)].concat())].concat(),
            false,
        ),
        (Up, 0, 2, frame(1, &hex(REFERS)), false),
        (Up, 0, 3, frame(0, b"body"), true),
        (Down, 0, 4, frame(1, &section(&OK)), true),
        (Up, 6, 5, hex(INSERTS), false),
    ];
    let finished = decode(End::Server, &portions);
    let columns = [
        "time_ns",
        "last_byte_ns",
        "frame_type",
        "end_stream",
        "detail",
    ];
    let fields = r#"{"fields":[[":authority","www.example.com"],[":path","/sample/path"]]}"#;
    assert!(
        lines(&finished, "http_frames", &columns).contains(&format!("2|2|headers|false|{fields}"))
    );
    let columns = ["send_start_ns", "url", "request_body_bytes", "last_byte_ns"];
    assert_eq!(
        lines(&finished, "http_requests", &columns),
        ["2|www.example.com|4|4"]
    );
    assert_eq!(finished.stats.get("qpack_blocked"), 1);
    assert_eq!(finished.stats.get("http3_header_not_decoded"), 0);
}

/// A response header is complete only with what it refers to.
#[test]
fn headers_wait_for_inserts() {
    // Capacity, then `:status: 200` by the static table's index 25.
    let inserts = hex("02 3fbd01 d9 03323030");
    let finished = decode(
        End::Client,
        &[
            (
                Up,
                2,
                1,
                [varint(0), frame(4, &[varint(1), varint(220)].concat())].concat(),
                false,
            ),
            (Up, 0, 2, frame(1, &section(&GET)), true),
            (Down, 0, 3, frame(1, &hex("0200 80")), false),
            (Down, 0, 4, frame(0, b"body"), true),
            (Down, 7, 9, inserts, false),
        ],
    );
    let columns = ["status", "headers_ns", "first_byte_ns", "last_byte_ns"];
    assert_eq!(lines(&finished, "http_requests", &columns), ["200|9|4|4"]);
}

/// The encoder's own capacity is taken at the end where the SETTINGS that bound the table are missing.
#[test]
fn missing_settings_are_assumed() {
    let finished = decode(
        End::Client,
        &[
            (Up, 6, 1, hex(INSERTS), false),
            (Up, 0, 2, frame(1, &hex(REFERS)), true),
        ],
    );
    assert_eq!(finished.stats.get("http3_header_not_decoded"), 0);
    assert!(lines(&finished, "http_frames", &["detail"])[0].contains("/sample/path"));
}

/// A section whose inserts never come is a row without fields, and counted.
#[test]
fn missing_inserts_are_counted() {
    let settings = [varint(0), frame(4, &[varint(1), varint(220)].concat())].concat();
    let finished = decode(
        End::Client,
        &[
            (Down, 3, 1, settings, false),
            (Up, 0, 2, frame(1, &hex(REFERS)), true),
        ],
    );
    assert_eq!(finished.stats.get("http3_header_not_decoded"), 1);
    let columns = ["stream_id", "frame_type", "end_stream", "detail"];
    assert_eq!(
        lines(&finished, "http_frames", &columns)[1],
        "0|headers|true|"
    );
}

/// A stream that was given up: the error, the bytes so far, and the frame that was not finished.
#[test]
fn resets_are_errors() {
    let finished = finish(|tables| {
        let mut connection = Connection::new("c".into(), Some(End::Client));
        connection.stream_data(Up, 0, 1, &frame(1, &section(&GET)), true, tables);
        connection.stream_data(Down, 0, 2, &frame(0, &[0; 50])[..20], false, tables);
        connection.reset(Down, 0, 0x10c, 3, tables);
        connection.stream_data(Down, 0, 4, b"straggler", true, tables);
        connection.finish(tables);
    });
    let columns = ["response_body_bytes", "last_byte_ns", "error"];
    assert_eq!(
        lines(&finished, "http_requests", &columns),
        ["18||H3_REQUEST_CANCELLED from the server"]
    );
    let columns = ["frame_type", "length_bytes", "last_byte_ns"];
    assert_eq!(lines(&finished, "http_frames", &columns)[1..], ["data|50|"]);
}

/// A push is announced on a request stream and comes on its own.
#[test]
fn pushes_have_a_request() {
    let promise = [varint(3), section(&GET)].concat();
    let finished = decode(
        End::Client,
        &[
            (Up, 0, 1, frame(1, &section(&GET)), true),
            (Down, 0, 2, frame(5, &promise), false),
            (
                Down,
                15,
                3,
                [
                    varint(1),
                    varint(3),
                    frame(1, &section(&OK)),
                    frame(0, b"pushed"),
                ]
                .concat(),
                true,
            ),
        ],
    );
    let columns = [
        "stream_id",
        "time_ns",
        "url",
        "status",
        "response_body_bytes",
        "last_byte_ns",
    ];
    assert_eq!(
        lines(&finished, "http_requests", &columns),
        [
            "15|2|https://h3.test/a?b|200|6|3",
            "0|1|https://h3.test/a?b|||"
        ]
    );
}

/// A body is known to be empty where it has ended; before, what was not seen may hold it.
#[test]
fn a_body_of_which_nothing_was_seen_is_no_empty_one() {
    let asked = (Up, 0, 1, frame(1, &section(&GET)), true);
    let columns = ["status", "request_body_bytes", "response_body_bytes"];
    for (fin, expected) in [(false, "200|0|"), (true, "200|0|0")] {
        let answered = (Down, 0, 2, frame(1, &section(&OK)), fin);
        let table = decode(End::Client, &[asked.clone(), answered]);
        assert_eq!(lines(&table, "http_requests", &columns), [expected]);
    }
}
