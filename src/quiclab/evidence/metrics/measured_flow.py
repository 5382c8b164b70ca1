# SPDX-License-Identifier: Apache-2.0
"""Tables of one flow among several at a link: every metric of a trial is computed from the measured flow's."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from quiclab.model.trial_record import Flow, TrialRecord

Tables = Mapping[str, pl.DataFrame]

_COMPETITORS = "raw/competitors/"
"""Prefix of the competitors' files, with a folder for each."""


def measured_tables(tables: Tables, trial: TrialRecord) -> Tables:
    """Tables without the packets and connections of competitors; without a competition, the tables as they are."""
    competition = trial.competition
    return tables if competition is None else flow_tables(tables, trial, competition.flows[0])


def flow_tables(tables: Tables, trial: TrialRecord, flow: Flow) -> Tables:
    """Tables with only what belongs to one flow.

    The captures are shared, and so is every table made from them: a connection is another flow's if its packets in a
    capture are. Files that a flow left are its own. `link_packets` stays whole: all flows share the link's one queue.
    """
    packets = tables["ip_packets"]
    own = server_packets(flow.server_address, flow.server_port)
    foreign = _connections(tables, packets.filter(~own))
    is_measured = trial.competition is None or flow.label == trial.competition.flows[0].label
    captured = pl.col("source").is_in(packets["source"].unique().to_list())
    of_measured = ~pl.col("source").str.starts_with(_COMPETITORS)
    of_flow = pl.col("source").str.starts_with(f"{_COMPETITORS}{flow.label}/")
    found = dict(tables)
    for name, table in tables.items():
        if name in ("link_packets", "trials"):
            continue
        kept = table
        if "source" in table.columns:
            kept = kept.filter(of_measured if is_measured else captured | of_flow)
        if "connection" in table.columns:
            kept = kept.filter(pl.col("connection").is_null() | ~pl.col("connection").is_in(foreign))
        found[name] = kept
    found["ip_packets"] = packets.filter(own)
    return found


def server_packets(address: str, port: int) -> pl.Expr:
    """Rows of `ip_packets` from or to a server."""
    down = (pl.col("src") == address) & (pl.col("src_port") == port)
    up = (pl.col("dst") == address) & (pl.col("dst_port") == port)
    return (down | up).fill_null(value=False)


def _connections(tables: Tables, packets: pl.DataFrame) -> list[str]:
    """Names of the connections that these packets belong to."""
    numbers = packets.select("source", ip_packet="number")
    carried = tables["packets"].drop_nulls("ip_packet").join(numbers, on=["source", "ip_packet"], how="semi")
    return carried["connection"].unique().to_list()
