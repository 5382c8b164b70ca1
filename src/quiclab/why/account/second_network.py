# SPDX-License-Identifier: Apache-2.0
"""A client that changes its network: which link has a packet, and what was on its way to an address that is gone.

Both networks' links share the captures at their ends, and each counts its packets from 0.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.why.account.edges import Edge
from quiclab.why.account.forward_path import Way

_APART = 1 << 31
"""Number added to `index` in link_packets for the second network's link."""
_INDEX = pl.col("packet_index")


def told_apart(evidence: Evidence) -> Evidence:
    """A trial with one number for each packet, whichever network's link it passed."""
    second = evidence.second_link
    if second is None:
        return evidence
    change = evidence.trial.address_change
    one_link = len(evidence.trial.links_of("client")) < 2
    new = change and change.new_address
    shared = (pl.col("vantage") == "client") | (pl.lit(one_link) & (pl.col("vantage") == "server"))
    there = (shared & ((pl.col("src") == new) | (pl.col("dst") == new))).fill_null(value=False)
    shown = evidence.table("ip_packets")
    moved = shown.filter(there).drop_nulls("packet_index")
    packets = evidence.table("packets").with_row_index("row")
    by_number = packets.join(moved.select("source", ip_packet="number"), on=("source", "ip_packet"), how="semi")
    by_time = packets.filter(pl.col("ip_packet").is_null()).join(
        moved.select("vantage", "packet_index", captured_ns="time_ns"),
        on=("vantage", "packet_index", "captured_ns"),
        how="semi",
    )
    rows = pl.concat([by_number["row"], by_time["row"]]).to_list()
    log = pl.col("source") == second.log
    tables = {
        **evidence.tables,
        "ip_packets": shown.with_columns(pl.when(there).then(_INDEX + _APART).otherwise(_INDEX)),
        "packets": packets.with_columns(
            pl.when(pl.col("row").is_in(rows)).then(_INDEX + _APART).otherwise(_INDEX)
        ).drop("row"),
        "link_packets": evidence.table("link_packets").with_columns(
            pl.when(log).then(pl.col("index") + _APART).otherwise("index").alias("index")
        ),
    }
    return Evidence(tables, evidence.trial)


def told_together(edge: Edge) -> Edge:
    """An edge with its packets' numbers as the links count them."""
    index, event = edge.packet_index, edge.reason.event_packet
    if event is not None and event >= _APART:
        edge = replace(edge, reason=replace(edge.reason, event_packet=event - _APART))
    return edge if index is None or index < _APART else replace(edge, packet_index=index - _APART)


def unclaimed_packets(evidence: Evidence) -> set[int]:
    """Indices, at the client's links, of packets that came for an address after the client had left it."""
    return set(evidence.for_nobody["packet_index"].drop_nulls().to_list())


def abandoned(evidence: Evidence, down: Way) -> frozenset[int]:
    """Positions down of packets for the address that the client has left, which it had not got by then."""
    changed_ns = changed(evidence)
    if changed_ns is None:
        return frozenset()
    change = evidence.trial.address_change
    indices = _sent_to(evidence, change.old_address) if change else ()
    return frozenset(
        position
        for position, index in enumerate(down.index)
        if index in indices and down.written[position] is None and _last_seen(down, position) >= changed_ns
    )


def moved(evidence: Evidence, down: Way) -> frozenset[int]:
    """Positions down of packets for the address that the client has changed to."""
    change = evidence.trial.address_change
    indices = _sent_to(evidence, change.new_address) if change and change.changed_ns is not None else ()
    return frozenset(position for position, index in enumerate(down.index) if index in indices)


def changed(evidence: Evidence) -> int | None:
    """Instant at which the client's address was gone; None where it stayed."""
    change = evidence.trial.address_change
    return change.changed_ns if change else None


def _sent_to(evidence: Evidence, address: str | None) -> set[int]:
    sent = evidence.packets("server", "down", ("tcp", "udp")).filter(pl.col("dst") == address)
    return set(sent["packet_index"].drop_nulls().to_list())


def _last_seen(down: Way, position: int) -> int:
    number, at = down.course[position][-1]
    hop = down.hops[number]
    return hop.written[at] or hop.left[at] or hop.arrival[at]
