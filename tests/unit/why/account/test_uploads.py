# SPDX-License-Identifier: Apache-2.0
"""Uploads that were written by hand: the client sends, and the server's answer comes after the last byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from unit.why.account.stories import (
    SEGMENT,
    Quic,
    Tcp,
    blocked_row,
    evidence_of_scene,
    limit_row,
    metrics_row,
    sample_row,
    sums,
    upload_rows,
)

from quiclab.evidence.metrics import Evidence, Unknown, times
from quiclab.why.account import account_of_transfer

_ROWS = dict[str, list[dict[str, Any]]]


def _quic(folder: Path, **rows: list[dict[str, Any]]) -> Evidence:
    """Two packets at 22 ms, their acknowledgment, two more at 42; the server's answer leaves at 53."""
    story = Quic(asks=None)
    story.up(22, writers.stream(0, 1200), length=1240)
    story.up(22, writers.stream(1200, 1200), length=1240)
    story.tell(32, writers.ack((0, 2)))
    story.up(42, writers.stream(2400, 1200), length=1240)
    story.up(42, writers.stream(3600, 1200, fin=True), length=1240)
    story.down(53, 0, 50, fin=True)
    scene = story.end(63, 0)
    scene.extra["expected"] = {"direction": "upload", "body_bytes": 4700}
    return evidence_of_scene(scene, folder, http_requests=upload_rows(52), **rows)


def _full(window: int) -> _ROWS:
    return {"transport_metrics": [metrics_row(21, window, 0, "client"), metrics_row(22, window, 2480, "client")]}


def test_an_upload_waits_for_the_clients_window(tmp_path: Path) -> None:
    """Up, the server's acknowledgment, and no time at either end: 20 ms. The answer comes after the last flight."""
    evidence = _quic(tmp_path, **_full(2500))
    edges = account_of_transfer(evidence)
    assert sums(edges) == {
        "quic_handshake": 21,
        "pacing_or_program": 1,  # what can carry the request leaves at 21, the first of the body at 22
        "slow_start": 20,
        "last_flight": 10,
        "answer": 11,
    }
    assert sums(edges, "what") == {"propagation_up": 30, "propagation_down": 30, "client": 2, "server": 1}
    whole_ns = edges[-1].until_ns - edges[0].from_ns
    assert whole_ns == round(times.ttlb_ms(evidence) * 1e6)  # type: ignore[operator]


def test_without_the_answer_it_ends_with_its_own_metric(tmp_path: Path) -> None:
    """To the nanosecond: the edges of `upload_ms` are those of `ttlb_ms` without the answer."""
    evidence = _quic(tmp_path, **_full(2500))
    whole, body = account_of_transfer(evidence), account_of_transfer(evidence, "upload_ms")
    assert body == [edge for edge in whole if edge.reason.why != "answer"]
    assert body[-1].until_ns - body[0].from_ns == round(times.upload_ms(evidence) * 1e6)


@pytest.mark.parametrize(("scope", "why"), [("stream", "stream_credit"), ("connection", "connection_credit")])
def test_credit_is_the_servers(scope: str, why: str, tmp_path: Path) -> None:
    """The client's window has room; what the server allowed is used up. The connection's counts the control stream."""
    stream, limit = (0, 2400) if scope == "stream" else (None, 2409)
    limits = [limit_row(0, scope, limit, stream, of="client", way="up")]
    limits += [limit_row(42, scope, 9000, stream, of="client", way="up")]
    # What the client allows the server is no limit of an upload.
    limits += [limit_row(0, scope, limit, stream, of="client", way="down")]
    assert sums(account_of_transfer(_quic(tmp_path, flow_control=limits, **_full(50_000))))[why] == 20


@pytest.mark.parametrize("acknowledges", [False, True])
@pytest.mark.parametrize("last_came", [42, 42.2])
def test_a_program_that_goes_on_late_after_credit_came_waited_for_the_credit_until_then(
    last_came: float, acknowledges: bool, tmp_path: Path
) -> None:
    """Only from the last packet that came, 0.2 ms after the credit or with it, to the body's next is the client's."""
    story = Quic(asks=None)
    story.up(22, writers.stream(0, 1200), length=1240)
    story.up(22, writers.stream(1200, 1200), length=1240)
    story.tell(32, writers.ack((0, 2)))
    if last_came > 42:
        story.tell(last_came - 10, {"frame_type": "ping"})
    if acknowledges:
        story.up(42.3, writers.ack((0, 2)))
    story.up(44, writers.stream(2400, 1200), length=1240)
    story.up(44, writers.stream(3600, 1200, fin=True), length=1240)
    story.down(55, 0, 50, fin=True)
    scene = story.end(65, 0)
    scene.extra["expected"] = {"direction": "upload", "body_bytes": 4700}
    limits = [limit_row(at, "stream", limit, 0, of="client", way="up") for at, limit in ((0, 2400), (42, 9000))]
    evidence = evidence_of_scene(scene, tmp_path, http_requests=upload_rows(54), flow_control=limits, **_full(50_000))
    why = sums(account_of_transfer(evidence))
    assert why["stream_credit"] == pytest.approx(last_came - 22)
    assert why["pacing_or_program"] == pytest.approx(1 + 44 - last_came)


def test_the_clients_own_word_counts(tmp_path: Path) -> None:
    """It says that it paces; a word of the server, which sends nothing, would not count."""
    said = [blocked_row(22.1, "blocked", "pacing"), blocked_row(42, "unblocked", None)]
    other = _quic(tmp_path, blocked=said, **_full(50_000))
    assert "pacing" not in sums(account_of_transfer(other))
    own = [row | {"source": "raw/client.sqlog", "vantage": "client", "direction": "up"} for row in said]
    assert sums(account_of_transfer(_quic(tmp_path, blocked=own, **_full(50_000))))["pacing"] == 20


def _tcp(folder: Path, **rows: list[dict[str, Any]]) -> Evidence:
    story = Tcp()
    story.up(42, 0)
    story.up(42, 1)
    story.receipt(52, 2)
    story.up(62, 2)
    story.down(73, 0)
    scene = story.end(83, 1)
    scene.extra["expected"] = {"direction": "upload", "body_bytes": 3 * SEGMENT - 100}
    return evidence_of_scene(scene, folder, http_requests=upload_rows(72), **rows)


@pytest.mark.parametrize(
    ("values", "why", "ms"),
    [
        ({}, "slow_start", 20),
        ({"rwnd_limited_us": 19_000}, "receive_window", 20),
        ({"notsent_bytes": 0}, "application", 21),
    ],
)
def test_over_tcp_the_clients_kernel_says_what_it_waits_for(
    values: dict[str, int], why: str, ms: int, tmp_path: Path
) -> None:
    """20 ms, by samples of the client's socket; those of the server's say nothing of an upload.

    The first of the body leaves 1 ms after what can carry the request, which an empty buffer explains too.
    """
    first = {name: 0 for name in values if name == "notsent_bytes"}
    rows: _ROWS = {"tcp_info": [sample_row(at, end="client", **first) for at in (40, 50)]}
    rows["tcp_info"].append(sample_row(63, end="client", **values))
    rows["tcp_info"] += [sample_row(at, sndbuf_limited_us=1000 * at) for at in (40, 50, 63)]
    edges = account_of_transfer(_tcp(tmp_path, **rows))
    found = sums(edges)
    assert found.pop(why) == ms
    assert sum(found.values()) == 83 - ms
    assert (found["last_flight"], found["answer"]) == (10, 11)


def test_an_answer_before_the_last_byte_has_no_account(tmp_path: Path) -> None:
    """The time to the answer is then not that of the upload."""
    evidence = _quic(tmp_path)
    later = evidence.tables["http_requests"].with_columns(send_end_ns=evidence.zero_ns + 70_000_000)
    with pytest.raises(Unknown, match="answered before it had all"):
        account_of_transfer(Evidence({**evidence.tables, "http_requests": later}, evidence.trial))
