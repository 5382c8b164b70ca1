# SPDX-License-Identifier: Apache-2.0
"""The other flows that use the link while a workload runs (`competition`), read from a spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.model.competition import MOST_FLOWS, Background, Competition, Competitor
from quiclab.model.units import Bitrate, ByteCount
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, ReportedError, build

COMPETITOR_KEYS: Mapping[str, Kind[Any]] = {
    "arm": kinds.NAME,
    "workload": kinds.NAME,
    "count": kinds.whole(1, MOST_FLOWS),
    "start": kinds.INSTANT,
}


BACKGROUND_KEYS: Mapping[str, Kind[Any]] = {
    "kind": kinds.choice(("udp", "on_off", "short_flows")),
    "rate": kinds.quantity(Bitrate, "a rate", "2 Mbit/s", Bitrate(1000), Bitrate(10**9)),
    "packet": kinds.quantity(ByteCount, "a size", "1200 B", ByteCount(16), ByteCount(9000)),
    "on": kinds.TIME,
    "off": kinds.TIME,
    "flow_size": kinds.quantity(ByteCount, "a size", "20 KB", ByteCount(1), ByteCount(10**9)),
    "count": kinds.whole(1, MOST_FLOWS),
    "start": kinds.INSTANT,
}


_ONLY: Mapping[str, tuple[str, ...]] = {
    "packet": ("udp", "on_off"),
    "on": ("on_off",),
    "off": ("on_off",),
    "flow_size": ("short_flows",),
}


_COMPETITOR: Kind[Competitor] = Kind(
    'a table such as {arm = "h2"}', lambda node: build(Competitor, node, COMPETITOR_KEYS)
)


def _read_background(node: Node) -> Background:
    background = build(Background, node, BACKGROUND_KEYS)
    wrong = [key for key, of in _ONLY.items() if key in node.value and background.kind not in of]
    for key in wrong:
        node.child(key).report(f'it is for {" and ".join(_ONLY[key])}, not for "{background.kind}"; leave it out')
    if wrong:
        raise ReportedError
    return background


_BACKGROUND: Kind[Background] = Kind('a table such as {kind = "udp", rate = "2 Mbit/s"}', _read_background)


COMPETITION_KEYS: Mapping[str, Kind[Any]] = {
    "duration": kinds.TIMEOUT,
    "start": kinds.INSTANT,
    "start_spread": kinds.TIME,
    "competitors": kinds.several(_COMPETITOR, 'an array of tables such as [{arm = "h2", count = 2}]'),
    "background": kinds.several(_BACKGROUND, 'an array of tables such as [{kind = "udp", rate = "2 Mbit/s"}]'),
}


def _read_competition(node: Node) -> Competition:
    competition = build(Competition, node, COMPETITION_KEYS)
    if competition.flows > MOST_FLOWS:
        node.report(f"there are {competition.flows} flows beside the measured one; at most {MOST_FLOWS} are possible")
    if competition.duration is not None:
        starts = [competition.start, *(each.start + competition.start_spread for each in competition.others)]
        if max(starts) >= competition.duration:
            node.report(
                f"a flow starts at {max(starts)}, and all end at {competition.duration}; write an earlier start"
            )
    elif not competition.flows:
        node.report('it is empty; write "duration", "competitors" or "background"')
    return competition


COMPETITION: Kind[Competition] = Kind(
    'a table such as {duration = "60 s", competitors = [{arm = "h2", count = 2}]}', _read_competition
)
