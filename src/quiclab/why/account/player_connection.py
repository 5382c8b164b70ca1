# SPDX-License-Identifier: Apache-2.0
"""The connection that a player's requests went over, where its browser opened others beside it.

A browser opens another one when the first takes too long to be set up (its SYN was lost), and QUIC tries another port
when its path seems to fail. What such connections send shares the links, like another flow.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.edges import Edge, Reason
from quiclab.why.account.player import PLAYER

_TRIED = Reason(Why.SET_UP_LOSS, "ip_packets")


@dataclass(frozen=True)
class Used:
    """One connection of a trial, and what is known of those beside it."""

    evidence: Evidence
    """The trial without the packets and the records of other connections."""
    alone: bool
    """True if there was no other."""
    first_ns: int
    """The first packet of the client, of any connection."""
    waited: bool
    """True if an earlier connection was not yet set up when this one was begun."""

    def before(self, floor_ns: int) -> list[Edge]:
        """Edges from the connection's first packet back to an instant, latest first: the client waits for an earlier
        connection, and before that the player has not asked for anything."""
        zero_ns = self.evidence.zero_ns
        begin_ns = max(self.first_ns, floor_ns) if self.waited else zero_ns
        waits = [
            Edge(What.TIMER, begin_ns, zero_ns, reason=_TRIED),
            Edge(What.CLIENT, floor_ns, begin_ns, reason=PLAYER),
        ]
        return [edge for edge in waits if edge.from_ns < edge.until_ns]


def used(evidence: Evidence, connections: set[str]) -> Used:
    """The connection that has all requests, whose names in the client's records are given. Raises Unknown where these
    are several, or where the server answered on two ports of QUIC."""
    sent = evidence.packets("client", "up")
    ports = set(sent["src_port"].drop_nulls().to_list())
    others = ports - {_port(evidence, connections)} if len(ports) > 1 else set()
    first_ns = int(sent["time_ns"].min())  # type: ignore[arg-type]
    if not others:
        return Used(evidence, alone=True, first_ns=first_ns, waited=False)
    tables = dict(evidence.tables)
    beside = pl.col("src_port").is_in(list(others)) | pl.col("dst_port").is_in(list(others))
    tables["ip_packets"] = evidence.table("ip_packets").filter(~beside.fill_null(value=False))
    if not evidence.quic:
        of_others = pl.col("connection").str.contains(rf"^[^-]*:(?:{'|'.join(map(str, sorted(others)))})-")
        for name, table in evidence.tables.items():
            if "connection" in table.columns:
                tables[name] = table.filter(~of_others.fill_null(value=False))
    alone = Evidence(tables, evidence.trial)
    earlier = sent.filter(pl.col("src_port").is_in(list(others)), pl.col("time_ns") < alone.zero_ns)
    ready = earlier.filter(pl.col("tls_application_data")).height if not evidence.quic else 0
    return Used(alone, alone=False, first_ns=first_ns, waited=earlier.height > 0 and not ready)


def _port(evidence: Evidence, connections: set[str]) -> int:
    """The client's port of the connection with the requests."""
    if len(connections) != 1:
        raise Unknown(f"the player's requests went over {len(connections)} connections, which is not accounted for yet")
    if not evidence.quic:
        return int(next(iter(connections)).partition("-")[0].rpartition(":")[2])
    answered = evidence.packets("client", "down")["dst_port"].unique().to_list()
    if len(answered) != 1:
        raise Unknown("the server answered on several ports of the client, which is not accounted for yet")
    return int(answered[0])
