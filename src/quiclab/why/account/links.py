# SPDX-License-Identifier: Apache-2.0
"""The links of the client's leg as two ways, with what their packets carry."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.evidence import Direction, End
from quiclab.why.account.behind_proxy import origin_of
from quiclab.why.account.contents import contents
from quiclab.why.account.critical_path import Path
from quiclab.why.account.forward_path import Spot, Way, way
from quiclab.why.account.hop import Hop, hop
from quiclab.why.account.second_network import abandoned, moved, unclaimed_packets


def path_of(evidence: Evidence, own: int | None = None, among: Evidence | None = None, *, shared: bool = False) -> Path:
    """Both directions between the client and its front. Raises Unknown where a link's log or a capture is missing.

    Of a client that changes its network, `evidence` is that of `second_network.told_apart`; of one connection of
    several it is that of `connections.of_connection`, and `among` is that of all. `own` is the stream of the object
    that is waited for, where there are several. `shared` says that other connections of the trial use the links, which
    the captures in `evidence` leave out.
    """
    shared = shared or bool(evidence.trial.competition)
    apart = shared or among is not None
    up, down = (_way(evidence, direction, apart=apart) for direction in (_UP, _DOWN))
    ends: tuple[tuple[End, Direction], ...] = (("server", _UP), (evidence.receiver, evidence.way))
    for end, direction in ends:
        if evidence.packets(end, direction).is_empty():
            raise Unknown(f"the trial has no capture of what reached the {end}")
    carried = {
        direction: contents(evidence, direction, _delivered(each), own if direction == evidence.way else None)
        for each, direction in ((up, _UP), (down, _DOWN))
    }
    return Path(
        up,
        down,
        carried["up"],
        carried["down"],
        evidence.way,
        abandoned(evidence, down),
        shared,
        frozenset() if evidence.quic else moved(evidence, down),
        origin_of(evidence),
        {} if among is None else {way.direction: _siblings(among, way) for way in (up, down)},
    )


def told_by_object(evidence: Evidence, path: Path, own: int) -> Path:
    """A path whose packets with first-time bytes of other objects than that of the stream `own` are told from its."""
    return replace(path, carried_down=contents(evidence, _DOWN, _delivered(path.down), own))


_UP: Direction = "up"
_DOWN: Direction = "down"


def _delivered(of: Way) -> set[int]:
    return {of.index[position] for position in of.came}


def _way(evidence: Evidence, direction: Direction, *, apart: bool) -> Way:
    """The way of one direction; `apart` says that the links also carry packets that are not of `evidence`."""
    stages = _stages(evidence, direction)
    own = None
    if apart:
        sender = evidence.packets("client" if direction == "up" else "server", direction, ("tcp", "udp"))
        shown = set(sender["packet_index"].drop_nulls().to_list())
        own = {at for at, index in enumerate(stages[0][0].index) if index in shown}
    return way(direction, stages, own, unclaimed_packets(evidence) if direction == "down" else ())


def _siblings(among: Evidence, own: Way) -> Collection[Spot]:
    """Spots of the packets of the trial's other connections, in the hops of one connection's way."""
    competed = bool(among.trial.competition)
    whole = _way(among, "up" if own.direction == "up" else "down", apart=competed)
    pairs = enumerate(zip(whole.owner, own.owner, strict=True))
    return {(number, at) for number, (every, mine) in pairs for at in every if at not in mine}


def _stages(evidence: Evidence, direction: Direction) -> Sequence[Sequence[Hop]]:
    """Hops from the sender to the receiver; the client's links in two networks are one stage."""
    rows = evidence.table("link_packets").filter(pl.col("direction") == direction, pl.col("action") != "outside_model")
    if rows.is_empty():
        raise Unknown("the trial has no log of its link's packets")
    by_log = {str(source): part for (source,), part in rows.partition_by("source", as_dict=True).items()}
    logs = evidence.trial.logs_of_client_links
    stages = [[each] for each in logs or by_log]
    if evidence.second_link is not None:
        stages[0].append(evidence.second_link.log)
    # A second network that the client never came to has no packets.
    found = [[hop(by_log[log]) for log in stage if log in by_log] for stage in stages]
    if not all(found):
        raise Unknown("the trial has no log of the packets of one of its links")
    return found if direction == "up" else found[::-1]
