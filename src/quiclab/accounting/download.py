# SPDX-License-Identifier: Apache-2.0
"""The account of one download: what passed while the client waited for its last byte, and why."""

from __future__ import annotations

import polars as pl

from quiclab.accounting.after_a_change import judges, named
from quiclab.accounting.edges import Edge, chained
from quiclab.accounting.links import path_of
from quiclab.accounting.response import response_edges
from quiclab.accounting.second_network import told_apart, told_together
from quiclab.accounting.set_up import request_edges, set_up_edges
from quiclab.accounting.way import Way
from quiclab.metrics import Evidence, Noted, Unknown, times


def account_of_download(evidence: Evidence) -> list[Edge]:
    """Edges that follow each other without a gap from the client's first packet to its last byte.

    The bottleneck has priority: while it serves, that is where the time goes. Raises Unknown where the trial is of
    another kind, or its records cannot carry an account or contradict each other.
    """
    check_kind(evidence)
    evidence = told_apart(evidence)
    path = path_of(evidence)
    up, down = path.up, path.down
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
    first = next((p for p, at in enumerate(down.arrival) if at >= asked_ns and down.is_served(p)), None)
    if first is None or first > completing:
        raise Unknown("the captures, the link's log and the times of this trial contradict each other")
    judge = judges(evidence, path, completing)
    response, start = response_edges(path, judge, first, completing)
    edges = [
        *set_up_edges(evidence, path, carrier, zero_ns),
        *request_edges(evidence, path, start.position, start.place, set_up_ns),
        *named(evidence, path, judge, response),
    ]
    return chained([told_together(edge) for edge in edges], zero_ns, last_ns)


def check_kind(evidence: Evidence) -> None:
    """Raise Unknown for what this account does not cover."""
    expected = evidence.trial.get("expected") or {}
    beyond = {
        "an upload": evidence.upload,
        "a page": bool(expected.get("page")),
        "a video": bool(expected.get("video")),
        "several objects": len(expected.get("objects") or ()) > 1,
    }
    for kind, there in beyond.items():
        if there:
            raise Unknown(f"{kind} is not accounted for yet: only downloads of one object are")


def _sent_at(up: Way, time_ns: int) -> int:
    """Position of the packet that reached the link at an instant. Raises Unknown without one."""
    found = next((p for p, at in enumerate(up.arrival) if at == time_ns), None)
    if found is None:
        raise Unknown("the packet that can carry the request is not found in the link's log")
    return found


def _completing(evidence: Evidence, down: Way, last_ns: int) -> int:
    """Position of the packet that arrived with the last byte. Raises Unknown without one."""
    arrived = set(evidence.packets("client", "down").filter(pl.col("time_ns") == last_ns)["packet_index"].to_list())
    found = [p for p in down.came if down.written[p] == last_ns and down.arrived_as.get(p) in arrived]
    if not found:
        raise Unknown("the packet with the last byte is not found in the link's log")
    return max(found)
