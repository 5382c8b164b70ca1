# SPDX-License-Identifier: Apache-2.0
"""The table `predicted_effects`: by how much a transfer would be shorter without each of its mechanisms.

A prediction comes from the trial's own graph, evaluated with and without the mechanism. It is no share of the account:
where another limit would hold next, less goes than the mechanism takes. It is no effect either: that is measured, by
running again (docs/explanation/confirming.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.model.cause import Why
from quiclab.model.metric_scope import MetricScope
from quiclab.model.tables import TABLES
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.transfer import over_several, transfer_of
from quiclab.why.mechanisms import BY_NAME
from quiclab.why.prediction.conditions import OF_LIMIT, SLOW_START, Graph, graph_of
from quiclab.why.prediction.evaluation import Evaluation, evaluation

_BEFORE = (
    Why.TCP_HANDSHAKE, Why.TLS_ROUND_TRIP, Why.QUIC_HANDSHAKE, Why.HELLO_RETRY_REQUEST, Why.RETRY,
    Why.AMPLIFICATION_LIMIT, Why.SET_UP_LOSS, Why.REQUEST,
)  # fmt: skip
"""Reasons before the bodies' first packet: without their time all that follows comes earlier by it."""
_EVALUATED = (
    Why.SLOW_START, Why.WINDOW_AFTER_EXIT, Why.STREAM_CREDIT, Why.CONNECTION_CREDIT, Why.RECEIVE_WINDOW,
    Why.SEND_BUFFER, Why.APPLICATION, Why.PACING, Why.LOSS_TIMER, Why.PROBE_TIMER, Why.NAGLE, Why.CORK,
    Why.KEPT_IN_KERNEL,
)  # fmt: skip
"""Reasons of waits that are evaluated. What a sender would do without a loss is not in the records of one that had it:
its next loss by its own overshoot, for one."""
_NOT_EVALUATED = "delayed_acknowledgment"
"""Mechanism whose edges have these reasons, and which the records do not tell what would be without: an acknowledgment
for many packets does not say what those for fewer would have let go."""
LARGE_INITIAL_WINDOW = next(each.value for each in BY_NAME[SLOW_START].settings if isinstance(each.value, int))
"""Packets of the first window with which slow start counts as gone: the value of the setting that takes it away."""
_APART = 2
"""Full packets by which a receiver's acknowledgments lie apart (RFC 5681 section 4.2, RFC 9000 section 13.2.2): no
limit is known to less."""
_SHOWN = 0.01
"""Share of the transfer from which on a mechanism's time is evaluated, and a limit is told that would hold next."""
_SAME_NS = PROMPT_NS
"""Distance up to which the graph with all its edges must end when the transfer did."""


@dataclass(frozen=True)
class _Effect:
    """Time by which the bodies are complete earlier."""

    least_ns: int
    most_ns: int
    next_why: Why | None
    """Limit that would hold next; None where the link would be busy, or nothing new would."""
    next_ns: int


def predicted_effects(evidence: Evidence, account: pl.DataFrame) -> pl.DataFrame:
    """One row for each mechanism of a trial whose time can be evaluated, and one more without the limit that would hold
    next; no row where the trial has no such graph, or this does not end when the transfer did.

    `account` names the mechanisms.
    """
    account = account.filter(pl.col("of") == str(MetricScope.TTLB))
    try:
        rows = [] if account.is_empty() or over_several(evidence) else list(_rows(evidence, account))
    except Unknown:
        rows = []
    return pl.DataFrame(rows, schema=TABLES["predicted_effects"].schema(), orient="row")


_Row = tuple[str, str, str | None, int, int, str | None, int]


def _rows(evidence: Evidence, account: pl.DataFrame) -> Iterator[_Row]:
    graph = graph_of(transfer_of(evidence), account)
    observed = evaluation(graph)
    if abs(observed.end_ns - graph.end_ns) > _SAME_NS:
        return
    whole_ns = int(account["until_ns"][-1] - account["from_ns"][0])
    length = pl.col("until_ns") - pl.col("from_ns")
    totals = account.drop_nulls("mechanism").group_by("mechanism", maintain_order=True).agg(length.sum().alias("ns"))
    for name, ns in totals.iter_rows():
        own = account.filter(mechanism=name)
        before_ns = _before_ns(graph, own)
        is_known = name in BY_NAME and name != _NOT_EVALUATED
        if ns < _SHOWN * whole_ns or not is_known or before_ns is None:
            continue
        if before_ns == ns:
            slack_ns = _slack_ns(graph, ns) + _served_ns(graph, own)
            yield str(MetricScope.TTLB), name, None, max(0, ns - slack_ns), ns + slack_ns, None, 0
            continue
        found = _effect(graph, observed, frozenset({name}), before_ns)
        following = found.next_why if found.next_ns >= _SHOWN * whole_ns else None
        also = OF_LIMIT.get(following) if following else None
        told = (str(following) if following else None, found.next_ns if following else 0)
        yield str(MetricScope.TTLB), name, None, found.least_ns, found.most_ns, *told
        if also is not None and also != name:
            both = _effect(graph, observed, frozenset({name, also}), before_ns)
            yield str(MetricScope.TTLB), name, also, both.least_ns, both.most_ns, None, 0


def _before_ns(graph: Graph, own: pl.DataFrame) -> int | None:
    """Time of a mechanism before the bodies' first packet; None where its edges are not evaluated."""
    length = pl.col("until_ns") - pl.col("from_ns")
    before = own.filter(pl.col("until_ns") <= graph.begin_ns)
    after = own.filter(pl.col("until_ns") > graph.begin_ns)
    evaluated = after.filter(pl.col("why").is_in([str(each) for each in _EVALUATED]))
    shifts = before.filter(pl.col("why").is_in([str(each) for each in _BEFORE]))
    if shifts.height < before.height or evaluated.height < after.height:
        return None
    return int(before.select(length.sum()).item())


def _served_ns(graph: Graph, own: pl.DataFrame) -> int:
    """Time that the link takes for what the amplification limit kept back: it lies beside the wait or within it."""
    if str(Why.AMPLIFICATION_LIMIT) not in own["why"]:
        return 0
    hop = graph.path.ahead.hops[0]
    return sum(took for at, took in enumerate(hop.service) if hop.arrival[at] < graph.begin_ns)


def _effect(graph: Graph, observed: Evaluation, without: frozenset[str], before_ns: int) -> _Effect:
    """The effect for the least and the most that the first window may let go, to a packet of the bottleneck."""
    begins = _first_windows(graph, without)
    found = [evaluation(graph, without, window) for window in begins]
    gone = sorted(observed.end_ns - each.end_ns + before_ns for each in found)
    slack_ns = _slack_ns(graph, gone[-1])
    usual = found[len(found) // 2]
    grown = {why: ns - observed.idle_ns.get(why, 0) for why, ns in usual.idle_ns.items()}
    following = max(grown, key=lambda why: grown[why], default=None)
    next_ns = 0 if following is None else grown[following]
    return _Effect(max(0, gone[0] - slack_ns), gone[-1] + slack_ns, following if next_ns > 0 else None, max(0, next_ns))


def _first_windows(graph: Graph, without: frozenset[str]) -> list[float | None]:
    """Windows to begin with: the sender's own, less and more by what acknowledgments lie apart; without slow start the
    one that takes it away."""
    if SLOW_START in without:
        return [LARGE_INITIAL_WINDOW * graph.packet_bytes]
    window = graph.initial_window
    if window is None:
        return [None]
    return [window + apart * graph.packet_bytes for apart in (-_APART, 0, _APART)]


def _slack_ns(graph: Graph, gone_ns: int) -> int:
    """Precision of a prediction: three hundredths of itself, the service of packets that one acknowledgment is for, and
    the time within which one packet counts as another's consequence."""
    return max(gone_ns, 0) * 3 // 100 + _APART * max(graph.path.ahead.hops[0].service, default=0) + PROMPT_NS
