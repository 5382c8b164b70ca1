# SPDX-License-Identifier: Apache-2.0
"""Packets of a log in a capture without a key log, whose Initial packets anybody can open."""

from __future__ import annotations

import polars as pl

from quiclab.logs.decoders.aligned import aligned
from quiclab.logs.decoders.joins import sightings
from quiclab.model.tables import TABLES

_SIZES = {"initial": 1230, "1RTT": 700}


def packets(source: str, *kinds: str) -> pl.DataFrame:
    """What a source tells of packets that the client sent, numbered from 0."""
    rows = [
        {
            "source": source, "vantage": "client", "connection": "c", "time_ns": number, "transport": "quic",
            "event": "sent", "direction": "up", "packet_type": kind, "packet_number": number,
            "length_bytes": _SIZES[kind] + number,
        }
        for number, kind in enumerate(kinds)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=TABLES["packets"].schema())


def test_one_rtt_packets_are_found_beside_initials_that_could_be_opened() -> None:
    """By order and size, though the capture numbers its Initial packets itself."""
    told = packets("netlog", "initial", "1RTT", "1RTT")
    both = pl.concat([told, packets("client.pcapng", "initial")]).lazy()
    seen = sightings(both, ["client.pcapng"])
    wire = pl.DataFrame(
        [
            {
                "source": "client.pcapng", "vantage": "client", "direction": "up", "protocol": "udp",
                "time_ns": 1000 + number, "number": number, "payload_bytes": size,
            }
            for number, size in enumerate(told["length_bytes"])
        ],
        schema=TABLES["ip_packets"].schema(),
    )  # fmt: skip
    found = aligned(seen, both, wire.lazy(), ["client.pcapng"]).filter(pl.col("packet_type") == "1RTT")
    assert found.select("packet_number", "time_ns", "ip_packet").rows() == [(1, 1001, 1), (2, 1002, 2)]


def test_packets_of_which_only_headers_were_captured_are_found_behind_whole_ones() -> None:
    """The first two are opened by their keys; what the log tells beside them fits what stayed closed."""
    told = packets("netlog", "initial", "1RTT", "1RTT", "1RTT")
    shown = packets("client.pcapng", "initial", "1RTT", "1RTT", "1RTT").with_columns(
        ip_packet=10 + pl.col("packet_number"),
        time_ns=1000 + pl.col("time_ns"),
        packet_number=pl.when(pl.col("packet_number") < 2).then("packet_number"),
    )
    both = pl.concat([told, shown.select(told.columns).cast(told.schema)]).lazy()  # type: ignore[arg-type]
    seen = sightings(both, ["client.pcapng"])
    nothing = TABLES["ip_packets"].empty().lazy()
    found = aligned(seen, both, nothing, ["client.pcapng"])
    assert found.select("packet_number", "time_ns", "ip_packet").rows() == [(2, 1002, 12), (3, 1003, 13)]
