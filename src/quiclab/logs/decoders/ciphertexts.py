# SPDX-License-Identifier: Apache-2.0
"""Datagrams in captures of several places, found without keys: the encrypted bytes of one are equal everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import polars as pl

from quiclab.logs.decoders import _core
from quiclab.logs.decoders.joins import KEY
from quiclab.model.errors import DecodeError

_PROTECTED = ("handshake", "0RTT", "1RTT")
_CIPHERTEXT = "ciphertext"
"""Type of such packets in sightings, whose number is a digest: they are joined with each other alone."""


def same_ciphertexts(seen: pl.DataFrame, packets: pl.LazyFrame, captures: Mapping[str, Path]) -> pl.DataFrame:
    """Sightings, in the form of `seen`, of encrypted QUIC packets that several captures show.

    `captures` has the files by their source's name. The order of captures on the way is told by the packets, whatever
    ends are known: in both directions together a packet is never there before it is here, whatever the clocks say.
    """
    closed = packets.filter(
        pl.col("source").is_in(list(captures)),
        pl.col("transport") == "quic",
        pl.col("packet_number").is_null(),
        pl.col("packet_type").is_in(_PROTECTED),
        pl.col("direction").is_not_null(),
    ).collect()
    names = closed["source"].unique().to_list()
    if len(names) < 2:
        return seen.clear()
    once = pl.col("digest").is_unique()
    found = pl.concat([digests(name, captures[name]).filter(once) for name in sorted(names)])
    rows = (
        closed.unique(("source", "ip_packet"), keep="first", maintain_order=True)
        .join(found, left_on=("source", "ip_packet"), right_on=("source", "number"))
        .rename({"digest": "shared"})
    )
    rows = rows.filter(pl.col("source").n_unique().over("shared") > 1)
    places = _places(rows)
    rows = rows.filter(pl.col("source").is_in(list(places)))
    place = pl.col("source").replace_strict(places, default=None, return_dtype=pl.Int8)
    return rows.select(
        "source",
        "vantage",
        "connection",
        pl.when(pl.col("direction") == "up").then(place).otherwise(len(places) - 1 - place).alias("rank"),
        name=pl.lit(""),
        transport="transport",
        way="direction",
        packet_type=pl.lit(_CIPHERTEXT),
        packet_number="shared",
        time_ns="time_ns",
        length_bytes="length_bytes",
        ip_packet="ip_packet",
    ).cast({name: seen.schema[name] for name in KEY}).select(seen.columns)  # fmt: skip


def digests(name: str, path: Path) -> pl.DataFrame:
    """Digests of encrypted QUIC packets of a capture, each with the `number` of its IP packet and its `source`; none of
    a file that cannot be read again."""
    try:
        rows = _core.ciphertexts(path)
    except DecodeError:
        rows = pl.DataFrame(schema={"number": pl.UInt64, "digest": pl.UInt64})
    return rows.with_columns(source=pl.lit(name))


def _places(rows: pl.DataFrame) -> dict[str, int]:
    """Places of captures on the way from the client, counted from 0; of those alone whose place shows."""
    names = rows["source"].unique().sort().to_list()
    first = names[0] if names else ""
    own = rows.filter(pl.col("source") == first).select("shared", own_ns="time_ns")
    beyond = {first: 0.0}
    for name in names[1:]:
        other = rows.filter(pl.col("source") == name).join(own, on="shared")
        later = {
            way: other.filter(pl.col("direction") == way).select((pl.col("time_ns") - pl.col("own_ns")).median()).item()
            for way in ("up", "down")
        }
        up, down = later["up"], later["down"]
        if up is not None and down is not None and up != down:
            beyond[name] = up - down
    ordered = sorted(beyond, key=lambda name: (beyond[name], name))
    if any(beyond[one] == beyond[other] for one, other in pairwise(ordered)):
        return {}
    return {name: place for place, name in enumerate(ordered)} if len(ordered) > 1 else {}
