# SPDX-License-Identifier: Apache-2.0
"""One connection of a trial that has several: its own rows of each table, and its packets among those of the links."""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.evidence import CAPTURES

_UP_ENDS = ("src", "src_port", "dst", "dst_port")
_DOWN_ENDS = ("dst", "dst_port", "src", "src_port")


def of_connection(evidence: Evidence, connection: str) -> Evidence:
    """A trial without the rows of its other connections; rows that name no connection stay.

    Raises Unknown where no capture shows the connection's packets.
    """
    quic, own = _packets(evidence, connection)
    tables = {
        name: table.filter((pl.col("connection") == connection).fill_null(value=True))
        if "connection" in table.columns
        else table
        for name, table in evidence.tables.items()
    }
    return Evidence({**tables, "ip_packets": own}, {**evidence.trial, "protocol": "h3" if quic else "h2"})


def _packets(evidence: Evidence, connection: str) -> tuple[bool, pl.DataFrame]:
    """Whether a connection is one of QUIC, and the rows of ip_packets between its addresses and ports."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    shown = evidence.table("packets").filter(pl.col("connection") == connection, pl.col("source").is_in(captures))
    packets = evidence.table("ip_packets")
    numbers = shown.drop_nulls("ip_packet").select("source", number="ip_packet").unique()
    rows = packets.join(numbers, on=("source", "number"), how="semi")
    ends = pl.concat(
        rows.filter(direction=way).select(
            [pl.col(name).alias(each) for name, each in zip(names, _UP_ENDS, strict=True)]
        )
        for way, names in (("up", _UP_ENDS), ("down", _DOWN_ENDS))
    ).unique()
    if ends.is_empty():
        raise Unknown("no capture shows the packets of one of the trial's connections")
    protocol = str(rows["protocol"][0])
    back = ends.rename(dict(zip(_UP_ENDS, _DOWN_ENDS, strict=True)))
    own = pl.concat(
        packets.filter(direction=way, protocol=protocol).join(each, on=list(_UP_ENDS), how="semi", nulls_equal=True)
        for way, each in (("up", ends), ("down", back.select(_UP_ENDS)))
    )
    return protocol == "udp", own.sort("source", "number")
