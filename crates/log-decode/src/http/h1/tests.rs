// SPDX-License-Identifier: Apache-2.0
//! Connections made message by message, and what is hostile in them.

use super::Connection;
use crate::http::testing::{everything, finish, lines, Numbers};
use crate::tables::Finished;
use crate::Direction::{self, Down, Up};

type Portion<'a> = (Direction, i64, &'a str);

fn decode(portions: &[Portion<'_>]) -> Finished {
    finish(|tables| {
        let mut connection = Connection::new("c".into(), None, "https");
        for (direction, time_ns, text) in portions {
            connection.data(*direction, *time_ns, text.as_bytes(), tables);
        }
        connection.finish(tables);
    })
}

const COLUMNS: [&str; 11] = [
    "method",
    "url",
    "status",
    "content_type",
    "send_start_ns",
    "send_end_ns",
    "headers_ns",
    "first_byte_ns",
    "last_byte_ns",
    "request_body_bytes",
    "response_body_bytes",
];

const PIPELINED: [Portion<'static>; 8] = [
    (Up, 1, "GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nhost: h\r\nContent-Length: 4\r\n\r\nbo"),
    (Up, 2, "dyHEAD http://other:80/c HTTP/1.1\r\n\r\n"),
    (Down, 3, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/css\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"),
    (Down, 4, "5;x=y\r\nhello\r\n"),
    (Down, 5, "1\r\n!\r\n0\r\nX: y\r\n\r\n"),
    (Down, 6, "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
    (Down, 7, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
    (Up, 8, "GET /d HTTP/1.1\nHost: h\n\n"),
];

/// Requests one behind the other, chunks, trailers, interim responses, answers without a body.
#[test]
fn requests_become_rows() {
    let finished = decode(&PIPELINED);
    assert_eq!(
        lines(&finished, "http_requests", &COLUMNS),
        [
            "GET|https://h/a|200|text/css|1|1|3|4|5|0|6",
            "POST|https://h/b|304||1|2|6||6|4|0",
            "HEAD|http://other:80/c|200||2|2|7||7|0|0",
            "GET|https://h/d|||8|8||||0|",
        ]
    );
    assert_eq!(finished.stats.iter().count(), 0);
}

/// Rows do not depend on the portions in which the bytes arrive.
#[test]
fn portions_do_not_matter() {
    let whole = everything(&decode(&PIPELINED));
    let mut numbers = Numbers(11);
    for longest in [1, 3, 30] {
        let mut cut: Vec<Portion<'_>> = Vec::new();
        for (direction, time_ns, text) in PIPELINED {
            for portion in numbers.portions(text.as_bytes(), longest) {
                cut.push((direction, time_ns, std::str::from_utf8(portion).unwrap()));
            }
        }
        assert_eq!(everything(&decode(&cut)), whole);
    }
}

/// A response without a length ends with its connection, and not with the log.
#[test]
fn a_response_may_end_with_the_connection() {
    for (is_closed, last) in [(true, "9"), (false, "")] {
        let finished = finish(|tables| {
            let mut connection = Connection::new("c".into(), None, "http");
            connection.data(Up, 1, b"GET / HTTP/1.0\r\n\r\n", tables);
            connection.data(Down, 2, b"HTTP/1.0 200 OK\r\n\r\nsome", tables);
            connection.data(Down, 3, b"body", tables);
            if is_closed {
                connection.end(Down, 9, tables);
            }
            connection.finish(tables);
        });
        let columns = ["http_version", "response_body_bytes", "last_byte_ns"];
        assert_eq!(
            lines(&finished, "http_requests", &columns),
            [format!("HTTP/1.0|8|{last}")]
        );
    }
}

/// Bytes behind an upgrade or a tunnel are no HTTP/1.1 and are not looked into.
#[test]
fn tunnels_are_left_alone() {
    for (request, response) in [
        ("CONNECT h:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"),
        (
            "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        ),
    ] {
        let finished = decode(&[
            (Up, 1, request),
            (Down, 2, response),
            (Up, 3, "\x16\x03"),
            (Down, 4, "\x16\x03"),
        ]);
        let status = if request.starts_with("CONNECT") {
            "200"
        } else {
            "101"
        };
        assert_eq!(
            lines(
                &finished,
                "http_requests",
                &[
                    "status",
                    "headers_ns",
                    "last_byte_ns",
                    "response_body_bytes"
                ]
            ),
            [format!("{status}|2|2|0")]
        );
        assert_eq!(finished.stats.iter().count(), 0);
    }
}

/// No headers, answers without a request, chunks and lengths that are none, lines without end.
#[test]
fn hostile_messages_are_counted() {
    let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    let endless = "x".repeat(1 << 17);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (up, down) in [
        ("\x01\x02 \n\n", ""),
        (endless.as_str(), ""),
        (
            get,
            "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ),
        (get, "nonsense\r\n\r\n"),
        (get, &format!("{chunked}+5\r\n")),
        (get, &format!("{chunked}ffffffffffffffffff\r\n")),
        (get, &format!("{chunked}1\r\nab\r\n")),
        (get, &format!("{chunked}{endless}")),
    ] {
        let finished = decode(&[
            (Up, 1, up),
            (Down, 2, down),
            (Up, 3, "rest"),
            (Down, 4, "rest"),
        ]);
        assert_eq!(
            finished.stats.get("http1_malformed"),
            1,
            "{up:.40} {down:.80}"
        );
    }
}

/// `*` is no path, and a method may have a hyphen.
#[test]
fn requests_of_the_whole_server_have_no_path() {
    let finished = decode(&[
        (Up, 1, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"),
        (Down, 2, "HTTP/1.1 204 No Content\r\n\r\n"),
        (Up, 3, "M-SEARCH /a HTTP/1.1\r\nHost: h\r\n\r\n"),
    ]);
    assert_eq!(
        lines(&finished, "http_requests", &["method", "url", "status"]),
        ["OPTIONS|https://h|204", "M-SEARCH|https://h/a|"]
    );
}

/// Headers are rows with their fields, in the words of the later versions, interim ones too.
#[test]
fn header_fields_are_told() {
    let finished = decode(&PIPELINED[..3]);
    assert_eq!(
        lines(
            &finished,
            "http_frames",
            &[
                "http_version",
                "direction",
                "stream_id",
                "frame_type",
                "length_bytes",
                "detail"
            ]
        ),
        [
            r#"HTTP/1.1|up||headers|28|{"fields":[[":method","GET"],[":scheme","https"],[":path","/a"],["host","h"]]}"#,
            r#"HTTP/1.1|up||headers|48|{"fields":[[":method","POST"],[":scheme","https"],[":path","/b"],["host","h"],["content-length","4"]]}"#,
            r#"HTTP/1.1|up||headers|35|{"fields":[[":method","HEAD"],[":scheme","http"],[":authority","other:80"],[":path","/c"]]}"#,
            r#"HTTP/1.1|down||headers|25|{"fields":[[":status","100"]]}"#,
            r#"HTTP/1.1|down||headers|77|{"fields":[[":status","200"],["content-type","text/css"],["transfer-encoding","gzip, Chunked"]]}"#,
        ]
    );
}

/// A response to what came before the capture has a row, and the next request is read.
#[test]
fn a_response_may_come_first() {
    let finished = decode(&[
        (Down, 1, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"),
        (Up, 2, "GET /b HTTP/1.1\r\nHost: h\r\n\r\n"),
        (
            Down,
            3,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        ),
    ]);
    assert_eq!(
        lines(
            &finished,
            "http_requests",
            &["method", "url", "status", "last_byte_ns"]
        ),
        ["||200|1", "GET|https://h/b|404|3"]
    );
    assert_eq!(finished.stats.iter().count(), 0);
}

/// Only a method and a blank look like a request.
#[test]
fn starts_are_told_apart() {
    for (bytes, expected) in [
        (&b"GET / HTTP/1.1"[..], true),
        (b"OPTIONS * HTTP/1.1", true),
        (b"PRI * HTTP/2.0", false),
        (b"\x16\x03\x01", false),
        (b"SSH-2.0-x", false),
        (b"M-SEARCH * HTTP/1.1\r\n", true),
        (b"VERSION-CONTROL /a", true),
        (b"SOME_METHOD /a HTTP/1.1\r\nHost: h", true),
        (b"GET key\r\n", false),
        (b"-T / HTTP/1.1", false),
    ] {
        assert_eq!(Connection::may_start_with(bytes), expected);
    }
}
