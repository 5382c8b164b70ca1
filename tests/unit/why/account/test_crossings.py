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
    rows += [("client", "up", (at + 20) * MS, 7 + at) for at, _ in came] + [
        ("server", "up", (at + 40) * MS, 7 + at) for at, _ in came
    ]
    rows.sort(key=lambda row: row[2])
    found = [
        {
            "source": f"{end}.pcap", "vantage": end, "time_ns": time_ns, "number": number, "protocol": "tcp",
            "size_bytes": 1500 if way == "down" else 52, "payload_bytes": 1448 if way == "down" else 0,
            "tcp_seq": seq, "tcp_ack": 1, "tcp_flags": 16,
        }
        for number, (end, way, time_ns, seq) in enumerate(rows)
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


def test_captures_the_wrong_way_round_are_refused() -> None:
    """Packets come before they are sent then, whatever the clocks say."""
    found = tables((0, 1, True), (5, 2, False), (9, 3, True), (12, 4, True))
    turned = {
        name: told.with_columns(
            pl.when(pl.col("vantage") == "server").then(pl.lit("client")).otherwise(pl.lit("server")).alias("vantage")
        )
        for name, told in found.items()
    }
    for shift_ns in (0, 3_600_000 * MS):
        rows = turned["ip_packets"].with_columns(
            pl.col("time_ns") + pl.when(pl.col("vantage") == "server").then(shift_ns).otherwise(0)
        )
        with pytest.raises(Unknown, match="name the client's capture first"):
            crossed({**turned, "ip_packets": rows}, "tcp", {})


def test_two_captures_of_one_place_show_no_losses() -> None:
    found = tables(*((at, at, True) for at in range(9)))
    client = {name: told.filter(pl.col("vantage") == "client") for name, told in found.items()}
    both = {
        name: pl.concat([told, told.with_columns(vantage=pl.lit("server"), source=pl.lit("server.pcap"))])
        for name, told in client.items()
    }
    with pytest.raises(Unknown, match="at one place"):
        crossed(both, "tcp", {})


def test_a_capture_with_each_packet_twice_is_refused() -> None:
    """Half of them would count as lost."""
    found = tables(*((at, at, True) for at in range(9)))
    twice = {
        name: pl.concat([found[name], server.with_columns(pl.col(number) + 1000)])
        for name, number in (("ip_packets", "number"), ("packets", "ip_packet"))
        for server in [found[name].filter(pl.col("vantage") == "server")]
    }
    with pytest.raises(Unknown, match="the server's capture has most packets twice"):
        crossed(twice, "tcp", {})


def test_what_a_capture_lacks_is_counted() -> None:
    """Up to one packet of a hundred: with more its holes would be told as losses."""
    found = tables(*((at, at, True) for at in range(300)))
    for lacking in (2, 4):
        gone = pl.col("vantage").eq("server") & pl.col("tcp_seq").is_between(100, 99 + lacking)
        rows = found["ip_packets"].filter(~gone)
        if lacking == 2:
            assert crossed({**found, "ip_packets": rows}, "tcp", {})[1].lacking == 2
            continue
        with pytest.raises(Unknown, match="has holes"):
            crossed({**found, "ip_packets": rows}, "tcp", {})


def test_captures_without_a_packet_in_common_are_refused() -> None:
    found = tables((0, 1, True), (1, 2, True))
    other = found["ip_packets"].with_columns(
        pl.when(pl.col("vantage") == "server").then(pl.col("tcp_seq") + 1000).otherwise("tcp_seq").alias("tcp_seq")
    )
    with pytest.raises(Unknown, match="are found where they were sent"):
        crossed({**found, "ip_packets": other}, "tcp", {})
