# SPDX-License-Identifier: Apache-2.0
"""Packets of two captures found in each other."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from quiclab.evidence.metrics import Unknown
from quiclab.model.tables import TABLES
from quiclab.why.account.crossings import crossed

MS = 1_000_000
Sent = tuple[int, int, bool]
"""Instant in ms, sequence number, and if the packet came: 20 ms later."""


def tables(*down: Sent, doubled: int | None = None) -> dict[str, pl.DataFrame]:
    """Captures of both ends of segments from the server, each answered by the client when it came; the one with a
    sequence number came twice where it is `doubled`."""
    rows = [("server", "down", at * MS, seq) for at, seq, _ in down]
    came = [(at, seq) for at, seq, arrives in down if arrives for _ in range(2 if seq == doubled else 1)]
    rows += [("client", "down", (at + 20) * MS, seq) for at, seq in came]
    rows += [("client", "up", (at + 20) * MS, 7) for at, _ in came] + [
        ("server", "up", (at + 40) * MS, 7) for at, _ in came
    ]
    rows.sort(key=lambda row: row[2])
    found = [
        {
            "source": f"{end}.pcap", "vantage": end, "time_ns": time_ns, "number": number, "protocol": "tcp",
            "size_bytes": 1500, "payload_bytes": 1448, "tcp_seq": seq, "tcp_ack": 1, "tcp_flags": 16,
        }
        for number, (end, _, time_ns, seq) in enumerate(rows)
    ]  # fmt: skip
    packets = [
        {
            "source": each["source"],
            "vantage": each["vantage"],
            "transport": "tcp",
            "direction": way,
            "ip_packet": number,
        }
        for number, (each, (_, way, _, _)) in enumerate(zip(found, rows, strict=True))
    ]
    filled = {"ip_packets": found, "packets": packets}
    return {name: pl.DataFrame(told, schema=TABLES[name].schema()) for name, told in filled.items()}


def lost(*down: Sent, doubled: int | None = None) -> list[int]:
    """Positions of the server's packets that did not come."""
    _, found = crossed(tables(*down, doubled=doubled), "tcp", {})
    return np.flatnonzero(found.crossing.lost).tolist()


def test_packets_that_came_have_their_delay_and_the_others_none() -> None:
    _, down = crossed(tables((0, 1, True), (5, 2, False), (9, 3, True)), "tcp", {})
    assert down.crossing.sent_ns.tolist() == [0, 5 * MS, 9 * MS]
    assert down.crossing.delay_ns[[0, 2]].tolist() == [20 * MS, 20 * MS]
    assert np.isnan(down.crossing.delay_ns[1])


@pytest.mark.parametrize("first_came", [False, True])
def test_of_a_segment_and_its_repeat_the_one_that_came_is_told(first_came: bool) -> None:
    """Both have the same numbers; the delay of the others tells which of them it was."""
    sent = ((0, 1, True), (1, 2, first_came), (2, 3, True), (100, 2, not first_came), (110, 4, True))
    assert lost(*sent) == ([3] if first_came else [1])


def test_a_packet_that_came_twice_is_not_lost() -> None:
    assert lost((0, 1, True), (1, 2, True), (2, 3, False), (3, 4, True), doubled=2) == [2]


def test_packets_after_the_last_that_came_are_left_out() -> None:
    """The other capture may have ended before they came."""
    _, down = crossed(tables((0, 1, True), (1, 2, True), (2, 3, False)), "tcp", {})
    assert len(down.numbers) == 2


def test_captures_without_a_packet_in_common_are_refused() -> None:
    found = tables((0, 1, True), (1, 2, True))
    other = found["ip_packets"].with_columns(
        pl.when(pl.col("vantage") == "server").then(pl.col("tcp_seq") + 1000).otherwise("tcp_seq").alias("tcp_seq")
    )
    with pytest.raises(Unknown, match="are found where they were sent"):
        crossed({**found, "ip_packets": other}, "tcp", {})
