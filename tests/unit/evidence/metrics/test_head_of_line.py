# SPDX-License-Identifier: Apache-2.0
"""Head-of-line blocking of trials whose tables are written by hand, to the nanosecond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics import METRICS, Evidence, Unknown, evidence_of, metrics_of
from quiclab.evidence.metrics.head_of_line import deliveries, delivery_waits
from quiclab.model.tables import TABLES

ZERO_NS = 1_000_000_000
MS = 1_000_000
RECORD_BYTES = 5 + 100 + 17
"""A record of TLS 1.3 that carries a frame of 100 bytes: header, content, type and tag."""
Rows = list[dict[str, Any]]


def _table(name: str, rows: Rows) -> pl.DataFrame:
    return (
        pl.concat([TABLES[name].empty(), pl.DataFrame(rows)], how="diagonal_relaxed") if rows else TABLES[name].empty()
    )


def _evidence(protocol: str, upload: bool, content: dict[str, Rows], body_bytes: int) -> Evidence:
    receiver = "server" if upload else "client"
    content["sources"] = [
        {"source": f"raw/{end}.pcapng", "vantage": end, "format": "pcapng"} for end in sorted({receiver, "client"})
    ]
    first = {"source": "raw/client.pcapng", "vantage": "client", "direction": "up", "time_ns": ZERO_NS}
    content["ip_packets"] = [first | {"protocol": "udp" if protocol == "h3" else "tcp"}]
    content["http_requests"] = [
        {"source": "raw/client.pcapng", "connection": "c", "stream_id": stream_id, "url": f"https://server.test/{name}"}
        for stream_id, name in ((1, "a"), (3, "b"), (0, "a"), (4, "b"))
    ] + content.get("http_requests", [])
    expected = {
        "objects": [{"name": "a"}, {"name": "b"}],
        "body_bytes": body_bytes,
        "direction": "upload" if upload else "download",
    }
    tables = {name: _table(name, rows) for name, rows in content.items()}
    return evidence_of(tables, record({"trial_id": "t", "protocol": protocol, "expected": expected}))


def _tcp(
    streams: Sequence[int],
    segments: Sequence[tuple[int, int, float, int]],
    *,
    upload: bool = False,
    body_bytes: int | None = None,
    records: Callable[[Rows], Rows] = lambda rows: rows,
) -> Evidence:
    """A frame of 9 + 91 bytes in a record of its own for each of `streams`, behind a handshake's record of 78 bytes in
    the first segment; `segments` are (first byte, bytes, arrival in ms, place in the order of sending)."""
    end, way = ("server", "up") if upload else ("client", "down")
    common = {
        "source": f"raw/{end}.pcapng",
        "vantage": end,
        "connection": "c",
        "direction": way,
        "event": "received",
        "time_ns": ZERO_NS,
    }
    preface = 24 if upload else 0
    rows = [
        common | {"content_type": "handshake", "first_byte": 1, "length_bytes": 78 - preface, "content_bytes": 40},
        common
        | {
            "content_type": "application_data",
            "first_byte": 79 - preface,
            "length_bytes": preface + 22 if preface else 0,
            "content_bytes": preface,
        },
        *(
            common
            | {
                "content_type": "application_data",
                "first_byte": 79 + (22 if preface else 0) + RECORD_BYTES * number,
                "length_bytes": RECORD_BYTES,
                "content_bytes": 100,
            }
            for number in range(len(streams))
        ),
    ]
    frames = [
        common | {"http_version": "HTTP/2", "stream_id": stream_id, "frame_type": "data", "length_bytes": 91}
        for stream_id in streams
    ]
    packets = [
        common
        | {
            "transport": "tcp",
            "packet_number": first,
            "length_bytes": size,
            "time_ns": ZERO_NS + round(at_ms * MS),
            "packet_index": index,
        }
        for first, size, at_ms, index in segments
    ]
    content = {"tls_records": records([row for row in rows if row["length_bytes"]]), "http_frames": frames}
    return _evidence(
        "h2", upload, content | {"packets": packets}, 91 * len(streams) if body_bytes is None else body_bytes
    )


def _segments(*arrivals: tuple[float, int]) -> list[tuple[int, int, float, int]]:
    """The handshake at 5 ms, then a segment for each record."""
    return [
        (1, 78, 5.0, 0),
        *((79 + RECORD_BYTES * number, RECORD_BYTES, at, index) for number, (at, index) in enumerate(arrivals)),
    ]


def _values(evidence: Evidence) -> dict[str, float | None]:
    return {row.name: row.value for row in metrics_of(evidence, "t")}


def _brief(evidence: Evidence) -> list[tuple[Any, ...]]:
    columns = ("x_ms", "until_ms", "object", "cause", "behind_object", "bytes", "byte_milliseconds", "overtaken")
    return delivery_waits(evidence).select(columns).rows()


LOST = _segments((60.0, 9), (11.0, 2), (12.5, 3), (13.000001, 4))
"""A, B, A, B: the segment of the first record is lost, and comes again at 60 ms."""


def test_two_streams_over_tcp_and_one_lost_segment() -> None:
    """B waits from 11 and from 13.000001 to 60 ms for A. That A waits for its own is told apart."""
    evidence = _tcp((1, 3, 1, 3), LOST)
    assert _brief(evidence) == [
        (11, 60, "b", "other_gap", "a", 200, 9599.9999, False),
        (12.5, 60, "a", "own_gap", "a", 100, 4750, False),
    ]
    values = _values(evidence)
    assert values["hol_blocked_ms"] == values["hol_longest_blocked_ms"] == 49
    assert values["hol_blocked_bytes"] == 200
    assert values["hol_mean_wait_ms"] == pytest.approx(9599.9999 / 400, abs=1e-12)
    assert values["own_gap_mean_wait_ms"] == 4750 / 400
    assert values["tls_record_mean_wait_ms"] == 0
    # B's last byte came at 13.000001 ms, A's at 60.
    assert values["hol_longest_object_delay_ms"] == 46.999999
    assert values["hol_object_delay_ms"] == 46.999999 / 2
    assert values["hol_overtaken_pct"] == 0
    assert values["qpack_blocked_ms"] is None


def test_an_upload_is_judged_at_the_server() -> None:
    """The client's preface stands before its frames, and nothing else is different."""
    shifted = [(first + 22 * (first > 1), size + 22 * (first == 1), at, index) for first, size, at, index in LOST]
    evidence = _tcp((1, 3, 1, 3), shifted, upload=True)
    assert [row[2:6] for row in _brief(evidence)] == [("b", "other_gap", "a", 200), ("a", "own_gap", "a", 100)]
    assert _values(evidence)["hol_blocked_ms"] == 49


def test_without_a_gap_nothing_is_blocked() -> None:
    """No row and zeros, not unknown: but there is no share of nothing."""
    evidence = _tcp((1, 3, 1, 3), _segments((10, 1), (11, 2), (12, 3), (13, 4)))
    values = _values(evidence)
    assert delivery_waits(evidence).is_empty()
    assert {values[name] for name in ("hol_blocked_ms", "hol_blocked_bytes", "hol_object_delay_ms")} == {0}
    assert values["hol_overtaken_pct"] is None


def test_a_copy_of_bytes_that_are_there_changes_nothing() -> None:
    """A retransmission that overlaps two segments brings only what had not come."""
    repeated = [*LOST, (79 + 50, RECORD_BYTES, 40.0, 8)]  # the end of the lost one, and some of the next again
    assert _brief(_tcp((1, 3, 1, 3), repeated)) == [
        (11, 60, "b", "other_gap", "a", 200, 9599.9999, False),
        # Of the 72 bytes that came at 40 ms, 17 are the tag: 55 of the object wait for the 45 before them.
        (12.5, 60, "a", "own_gap", "a", 155, 4750 + 55 * 20, False),
    ]


def test_reordering_is_blocking_too_and_told_apart() -> None:
    """The first record was sent before B's, which it lets pass by 0.002 ms."""
    evidence = _tcp((1, 3), _segments((11.002, 1), (11.0, 2)))
    assert _brief(evidence) == [(11, 11.002, "b", "other_gap", "a", 100, pytest.approx(0.2), True)]
    assert _values(evidence)["hol_overtaken_pct"] == 100


def test_a_record_cut_in_two() -> None:
    """The first 45 bytes of the frame wait 15 ms for the rest; nothing is blocked by others."""
    evidence = _tcp((1,), [(1, 78, 5, 0), (79, 50, 10, 1), (129, RECORD_BYTES - 50, 25, 2)])
    assert _brief(evidence) == [(10, 25, "a", "tls_record", None, 45, 45 * 15, None)]
    values = _values(evidence)
    assert values["tls_record_mean_wait_ms"] == 45 * 15 / 100
    assert values["hol_blocked_ms"] == 0


def test_a_lost_handshake_is_a_gap_of_no_object() -> None:
    """A record of the handshake comes last."""
    evidence = _tcp((1,), [(1, 78, 30, 5), (79, RECORD_BYTES, 10, 1)])
    assert _brief(evidence) == [(10, 30, "a", "other_gap", None, 100, 2000, False)]


def _quic(arrivals: Sequence[tuple[int, int, int, float]], **content: Rows) -> Evidence:
    """`arrivals` are (stream, offset, packet number, arrival in ms), each with 100 bytes in a packet of its own."""
    common = {
        "source": "raw/client.pcapng",
        "vantage": "client",
        "connection": "c",
        "direction": "down",
        "event": "received",
        "packet_type": "1RTT",
    }
    rows = [
        common
        | {"packet_number": number, "time_ns": ZERO_NS + round(at * MS), "transport": "quic", "ip_packet": number}
        for _, _, number, at in arrivals
    ]
    frames = [
        common
        | {
            "packet_number": number,
            "time_ns": ZERO_NS + round(at * MS),
            "frame_type": "stream",
            "stream_id": stream,
            "offset": offset,
            "length_bytes": 100,
        }
        for stream, offset, number, at in arrivals
    ]
    return _evidence("h3", False, {"packets": rows, "frames": frames, **content}, 100 * len(arrivals))


def test_the_same_loss_over_quic_blocks_no_other_stream() -> None:
    """A, B, A, B as over TCP: A waits for its own bytes, and B for nothing."""
    evidence = _quic([(4, 0, 2, 11.0), (0, 100, 3, 12.5), (4, 100, 4, 13.000001), (0, 0, 9, 60.0)])
    assert _brief(evidence) == [(12.5, 60, "a", "own_gap", "a", 100, 4750, False)]
    values = _values(evidence)
    assert values["hol_blocked_ms"] == values["hol_blocked_bytes"] == values["hol_object_delay_ms"] == 0
    assert values["own_gap_mean_wait_ms"] == 4750 / 400
    assert values["hol_overtaken_pct"] is values["tls_record_mean_wait_ms"] is None


def test_a_header_that_waits_for_qpack_is_blocked_by_others() -> None:
    """The header of A was whole at 11 ms and could be decoded at 31: its body, there at 12, waits too. B does not."""
    common = {"source": "raw/client.pcapng", "vantage": "client", "connection": "c", "direction": "down"}
    header = common | {"event": "received", "http_version": "HTTP/3", "frame_type": "headers"}
    frames = [
        header | {"stream_id": 0, "last_byte_ns": ZERO_NS + 11 * MS},
        header | {"stream_id": 4, "last_byte_ns": ZERO_NS + 13 * MS},
    ]
    requests = [
        common | {"stream_id": 0, "status": 200, "headers_ns": ZERO_NS + 31 * MS},
        common | {"stream_id": 4, "status": 200, "headers_ns": ZERO_NS + 13 * MS},
    ]
    arrivals = [(0, 0, 1, 11.0), (0, 100, 2, 12.0), (4, 0, 3, 13.0)]
    evidence = _quic(arrivals, http_frames=frames, http_requests=requests)
    assert _brief(evidence) == [(11, 31, "a", "qpack", None, 200, 100 * 20 + 100 * 19, None)]
    values = _values(evidence)
    assert values["qpack_blocked_ms"] == values["hol_blocked_ms"] == 20
    assert values["hol_longest_object_delay_ms"] == 19


def test_packets_that_cannot_be_opened_yet_wait_for_the_handshake() -> None:
    """The server's Finished came 4 ms after a packet of 1-RTT."""
    step = {"source": "raw/client.pcapng", "vantage": "client", "connection": "c", "direction": "down"}
    finished = step | {"transport": "quic", "step": "finished", "time_ns": ZERO_NS + 15 * MS}
    evidence = _quic([(0, 0, 1, 11.0), (0, 100, 2, 16.0)], handshake=[finished])
    assert _brief(evidence) == [(11, 15, "a", "other_gap", None, 100, 400, None)]


def test_a_part_of_the_bytes_tells_nothing() -> None:
    """No row, no number."""
    evidence = _tcp((1, 3, 1, 3), LOST, body_bytes=500)
    assert delivery_waits(evidence).is_empty()
    with pytest.raises(Unknown, match="shows 400 of 500 bytes of the objects"):
        deliveries(evidence)


def test_a_capture_without_keys_tells_nothing() -> None:
    """Records are not opened then, and there are no frames."""
    evidence = _tcp((), [(1, 78, 5, 0)])
    values = {row.name: row for row in metrics_of(evidence, "t")}
    assert values["hol_blocked_ms"].value is None
    assert "the client's capture does not tell" in str(values["hol_blocked_ms"].note)


def test_frames_that_are_not_all_that_the_records_carry_tell_nothing() -> None:
    """A record more than the frames fill: which bytes are whose is not known."""
    more = {"content_type": "application_data", "first_byte": 567, "length_bytes": 122, "content_bytes": 100}
    evidence = _tcp((1, 3, 1, 3), LOST, records=lambda rows: [*rows, rows[-1] | more])
    with pytest.raises(Unknown, match="TLS records carry 500 bytes, and the frames of HTTP/2 that were read 400"):
        deliveries(evidence)


def test_a_segment_that_was_not_captured_tells_nothing() -> None:
    """The receiver may have had it in time."""
    with pytest.raises(Unknown, match="lacks segments"):
        deliveries(_tcp((1, 3, 1, 3), [each for each in LOST if each[2] != 12.5]))


def test_http_1_has_no_streams() -> None:
    """Objects come one after the other on a connection."""
    evidence = _evidence("h1", False, {}, 100)
    with pytest.raises(Unknown, match="one object after the other"):
        deliveries(evidence)


def test_every_metric_says_what_it_cannot_tell() -> None:
    """None is made up where nothing was recorded."""
    rows = {row.name: row for row in metrics_of(_evidence("h2", False, {}, 100), "t")}
    mine = [metric.name for metric in METRICS if metric.name.startswith(("hol_", "own_gap", "tls_record_", "qpack_"))]
    assert len(mine) == 10
    assert all(rows[name].value is None and rows[name].note for name in mine)
