# SPDX-License-Identifier: Apache-2.0
"""The account of one download over one link: what passed while the client waited for its last byte, and why."""

from __future__ import annotations

import polars as pl

from quiclab.accounting import processor
from quiclab.accounting.contents import contents
from quiclab.accounting.edges import Edge, chained
from quiclab.accounting.hop import Hop, hop
from quiclab.accounting.judge import judge
from quiclab.accounting.response import response_edges
from quiclab.accounting.set_up import request_edges, set_up_edges
from quiclab.accounting.walk import Path
from quiclab.metrics import Evidence, Noted, Unknown, times


def account_of_download(evidence: Evidence) -> list[Edge]:
    """Edges that follow each other without a gap from the client's first packet to its last byte.

    The bottleneck has priority: while it serves, that is where the time goes. Raises Unknown where the trial is of
    another kind, or its records cannot carry an account or contradict each other.
    """
    check_kind(evidence)
    up, down = hop(evidence, "up"), hop(evidence, "down")
    if evidence.packets("server", "up").is_empty():
        raise Unknown("the trial has no capture of what reached the server")
    path = Path(up, down, contents(evidence, "up", _delivered(up)), contents(evidence, "down", _delivered(down)))
    # Instants of the metrics setup_ms and ttlb_ms, so that account and metric agree.
    zero_ns = evidence.zero_ns
    set_up_ns = zero_ns + round(times.setup_ms(evidence) * 1e6)
    last = times.ttlb_ms(evidence)
    last_ns = zero_ns + round((last.value if isinstance(last, Noted) else last) * 1e6)
    carrier = _sent_at(up, set_up_ns)
    asked_ns = min((up.written[p] or 0 for p in up.came if up.arrival[p] >= set_up_ns), default=None)
    if asked_ns is None:
        raise Unknown("no packet of the client that could carry the request reached the server")
    completing = _completing(evidence, down, last_ns)
    first = next((p for p in down.served if down.arrival[p] >= asked_ns), None)
    if first is None or down.rank[first] > down.rank[completing]:
        raise Unknown("the captures, the link's log and the times of this trial contradict each other")
    found = chained(
        [
            *set_up_edges(evidence, path, carrier, zero_ns),
            *request_edges(evidence, path, first, set_up_ns),
            *response_edges(path, judge(evidence, path, completing), first, completing),
        ],
        zero_ns,
        last_ns,
    )
    return processor.named(evidence, path, found)


def _delivered(of: Hop) -> set[int]:
    return {of.index[position] for position in of.came}


def check_kind(evidence: Evidence) -> None:
    """Raise Unknown for what this account does not cover."""
    trial, expected = evidence.trial, evidence.trial.get("expected") or {}
    beyond = {
        "an upload": evidence.upload,
        "a page": bool(expected.get("page")),
        "a video": bool(expected.get("video")),
        "several objects": len(expected.get("objects") or ()) > 1,
        "a competition": bool(trial.get("competition")),
        "a change of address": bool(trial.get("address_change") or trial.get("second_link")),
        "a proxy": bool(trial.get("proxy")),
        "several links in a row": not evidence.one_link,
    }
    for kind, there in beyond.items():
        if there:
            raise Unknown(f"{kind} is not accounted for yet: only downloads of one object over one link are")


def _sent_at(up: Hop, time_ns: int) -> int:
    """Position of the packet that reached the link at an instant. Raises Unknown without one."""
    found = next((p for p, at in enumerate(up.arrival) if at == time_ns), None)
    if found is None:
        raise Unknown("the packet that can carry the request is not found in the link's log")
    return found


def _completing(evidence: Evidence, down: Hop, last_ns: int) -> int:
    """Position of the packet that arrived with the last byte. Raises Unknown without one."""
    arrived = set(evidence.packets("client", "down").filter(pl.col("time_ns") == last_ns)["packet_index"].to_list())
    found = [p for p in down.came if down.written[p] == last_ns and down.index[p] in arrived and p in down.rank]
    if not found:
        raise Unknown("the packet with the last byte is not found in the link's log")
    return max(found, key=lambda position: down.rank[position])
