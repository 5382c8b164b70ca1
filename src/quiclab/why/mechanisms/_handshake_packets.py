# SPDX-License-Identifier: Apache-2.0
"""The handshake of a connection: its reasons in the account, and the packets of it that links dropped."""

from __future__ import annotations

import polars as pl

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.mechanisms._trial import Trial

ROUND_TRIPS = (Why.TCP_HANDSHAKE, Why.TLS_ROUND_TRIP, Why.QUIC_HANDSHAKE, Why.SET_UP)
SET_UP = (*ROUND_TRIPS, Why.HELLO_RETRY_REQUEST, Why.RETRY, Why.AMPLIFICATION_LIMIT, Why.SET_UP_LOSS)
_SYN = 2
_CLOCK_NS = 100_000
"""Distance of a capture's time of a packet from the end of its way in the account."""


def amplification(trial: Trial) -> pl.Series:
    """Edges of the limit by which a server may send three times what came."""
    return trial.why(Why.AMPLIFICATION_LIMIT)


def before_validation(trial: Trial, edges: pl.Series) -> tuple[float, float]:
    """UDP payload that the server had received, and had sent, when it waited for more in the first of some waits."""
    first, after = trial.runs(edges)[0]
    ups = (trial.what(What.PROPAGATION_UP) & edges)[first:after].arg_true()
    came_ns = int(trial.account["until_ns"][first + int(ups[-1]) if ups.len() else after - 1])
    at_server = trial.evidence.table("ip_packets").filter(
        pl.col("vantage") == "server", pl.col("protocol") == "udp", pl.col("time_ns") < came_ns - _CLOCK_NS
    )
    came, sent = (at_server.filter(pl.col("direction") == way)["payload_bytes"].sum() for way in ("up", "down"))
    return float(came), float(sent)


def dropped(trial: Trial, until_ns: int) -> pl.DataFrame:
    """Handshake packets that a link dropped: their direction and what they are (`kind`)."""
    evidence = trial.evidence
    drops = evidence.table("link_packets").filter(pl.col("action") == "dropped", pl.col("arrival_ns") <= until_ns)
    drops = drops.select("direction", "arrival_ns", pl.col("index").alias("packet_index"))
    end = pl.when(pl.col("direction") == "up").then(pl.lit("client")).otherwise(pl.lit("server"))
    own = (
        evidence.table("ip_packets")
        .filter(pl.col("vantage") == end)
        .select("direction", "packet_index", "source", pl.col("number").alias("ip_packet"), "protocol", "tcp_flags")
    )
    kinds = (
        evidence.table("packets").filter(pl.col("ip_packet").is_not_null()).select("source", "ip_packet", "packet_type")
    )
    syn = pl.col("tcp_flags").fill_null(0).cast(pl.Int64).and_(_SYN) > 0
    kind = pl.when(pl.col("protocol") == "tcp").then(pl.when(syn).then(pl.lit("syn")).otherwise(pl.lit("tls")))
    rows = drops.join(own, on=("direction", "packet_index"), how="left").join(
        kinds.unique(("source", "ip_packet"), keep="first"), on=("source", "ip_packet"), how="left"
    )
    return rows.with_columns(kind.otherwise("packet_type").alias("kind"))
