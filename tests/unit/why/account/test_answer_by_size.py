# SPDX-License-Identifier: Apache-2.0
"""Where an answer begins by the sizes of packets alone, with packets of the server's own before it. Times in ms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from quiclab.evidence.metrics import Unknown
from quiclab.why.account.answer_by_size import asked, guessed
from quiclab.why.account.one_end import Instant

_MS = 1_000_000
_BODY = [(70.0, 1200, True), (71.0, 1200, True), (72.0, 1200, True), (73.0, 300, True)]


def _begins(*before: tuple[float, int, bool], transport: str = "quic") -> float:
    """Begin of an answer from 70 on, after these packets: (instant, size, whether it can carry application data)."""
    rows = [*before, *_BODY]
    down = pl.DataFrame(
        {
            "time_ns": [round(at * _MS) for at, _, _ in rows],
            "size_bytes": [size for _, size, _ in rows],
            "payload_bytes": [size for _, size, _ in rows],
            "app": [app for _, _, app in rows],
            "again": False,
        }
    )
    up = pl.DataFrame({"time_ns": [90 * _MS], "flags": [1]})
    recorded = cast(Any, SimpleNamespace(transport=transport, down=down, up=up))
    return guessed(recorded, Instant.exactly(50 * _MS))[0] / _MS


@pytest.mark.parametrize(
    "before",
    [
        pytest.param((60.0, 200, True), id="a ticket"),
        pytest.param((60.0, 1200, False), id="a handshake again"),
        pytest.param((60.0, 1400, True), id="a probe of the path's MTU"),
    ],
)
def test_what_is_the_servers_own_begins_no_answer(before: tuple[float, int, bool]) -> None:
    """It is small, its header says that it is of the set-up, or what follows is smaller."""
    assert _begins(before) == 70


def test_a_large_packet_begins_the_answer() -> None:
    """Of the size of the next, or smaller; over TCP segments within a record show no type."""
    assert _begins((60.0, 1200, True)) == _begins((60.0, 1100, True)) == 60
    assert _begins((60.0, 1200, False), transport="tcp") == 60


def test_what_a_network_card_put_together_is_no_measure_of_a_full_packet() -> None:
    """A first segment alone begins the answer, however large the records are that follow."""
    rows = [(60.0, 1500), (61.0, 20_000), (62.0, 60_000), (63.0, 400)]
    down = pl.DataFrame(
        {
            "time_ns": [round(at * _MS) for at, _ in rows],
            "size_bytes": [size for _, size in rows],
            "payload_bytes": [size - 40 for _, size in rows],
            "app": True,
            "again": False,
        }
    )
    up = pl.DataFrame({"time_ns": [90 * _MS], "flags": [1]})
    recorded = cast(Any, SimpleNamespace(transport="tcp", down=down, up=up))
    assert guessed(recorded, Instant.exactly(50 * _MS))[0] == 60 * _MS


def _closed(up: tuple[float, ...], late: float, ends: float) -> bool:
    """True if an answer over QUIC from 70 to 73 is taken as whole, of a client that sends at `up`, with data that came
    at `late`, in a recording that ends at `ends`."""
    rows = [*_BODY, (late, 1200, True)]
    down = pl.DataFrame(
        {
            "time_ns": [round(at * _MS) for at, _, _ in rows],
            "size_bytes": [size for _, size, _ in rows],
            "payload_bytes": [size for _, size, _ in rows],
            "app": True,
            "again": False,
        }
    )
    sent = pl.DataFrame({"time_ns": [round(at * _MS) for at in up], "flags": 0})
    ip_packets = pl.DataFrame({"time_ns": [0, round(ends * _MS)]})
    packets = pl.DataFrame(schema={"ip_packet": pl.UInt64})
    tables = {"ip_packets": ip_packets}
    recorded = cast(Any, SimpleNamespace(transport="quic", down=down, up=sent, packets=packets, tables=tables))
    try:
        begin, last, _ = guessed(recorded, Instant.exactly(50 * _MS))
    except Unknown:
        return False
    assert (begin, last.at_ns) == (70 * _MS, 73 * _MS)
    return True


def test_data_that_come_after_a_client_has_closed_are_no_sign_of_a_cut() -> None:
    """It left them unanswered while the recording went on, or its last two packets are an acknowledgment and the close,
    and nothing comes for half a round trip (of 20)."""
    assert _closed((0.0, 50.0, 73.5), late=80.0, ends=300.0)
    assert _closed((0.0, 50.0, 73.5, 73.6), late=113.0, ends=113.0)
    assert not _closed((0.0, 50.0, 73.5), late=80.0, ends=81.0)
    assert not _closed((0.0, 50.0, 73.5, 73.6), late=74.0, ends=75.0)


def test_a_request_may_be_in_any_packet_that_leaves_with_the_first() -> None:
    """Three leave within 1 ms; of two that are further apart it may be the second."""
    for sent, last in (((10.0, 10.2, 10.4, 30.0), 10.4), ((10.0, 15.0, 30.0), 15.0), ((10.0,), 10.0)):
        up = pl.DataFrame({"time_ns": [round(at * _MS) for at in sent], "app": True})
        found = asked(cast(Any, SimpleNamespace(transport="quic", opened=False, up=up)))
        assert found == Instant(10 * _MS, 10 * _MS, round(last * _MS))


def test_what_a_server_sends_of_its_own_after_an_answer_does_not_end_it() -> None:
    """A probe of the path's MTU, larger than all before it, and small packets some time later: the answer may have
    ended with the last of them, but likely did so with what followed at once on its last large packet."""
    rows = [*_BODY[:3], (72.3, 53, True), (84.0, 1417, True), (84.2, 50, True), (165.0, 50, True)]
    down = pl.DataFrame(
        {
            "time_ns": [round(at * _MS) for at, _, _ in rows],
            "size_bytes": [size for _, size, _ in rows],
            "payload_bytes": [size for _, size, _ in rows],
            "app": True,
            "again": False,
        }
    )
    up = pl.DataFrame({"time_ns": [900 * _MS], "flags": [1]})
    recorded = cast(Any, SimpleNamespace(transport="quic", down=down, up=up))
    _, last, _ = guessed(recorded, Instant.exactly(50 * _MS))
    assert (last.early_ns / _MS, last.at_ns / _MS, last.late_ns / _MS) == (72, 72.3, 165)
