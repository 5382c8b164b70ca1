# SPDX-License-Identifier: Apache-2.0
"""The account of one transfer: what passed while the client waited for its end, and why.

The account of a page's load: the object that completed it, what led to each request, and the browser's own time.

It ends with the load event, as `plt_ms` does. Which object led to a request the browser's own account tells; what the
browser did meanwhile it does not: parsing, scripts, style, waits for other objects are its time as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import polars as pl

from quiclab.evidence.metrics import Evidence, Noted, Unknown, page, times
from quiclab.evidence.metrics.evidence import Direction
from quiclab.evidence.metrics.responses import those_asked_for
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account import processor
from quiclab.why.account.after_a_change import Judges, judges, name_change_edges
from quiclab.why.account.amplification import Amplification, amplification
from quiclab.why.account.critical_path import Path
from quiclab.why.account.dependency_chain import Chain, Prompt
from quiclab.why.account.edges import PROMPT_NS, Edge, Reason, chained
from quiclab.why.account.forward_path import Way, arrived_at
from quiclab.why.account.links import path_of
from quiclab.why.account.loads import Load, first_on, loads_of
from quiclab.why.account.objects import objects
from quiclab.why.account.pacer import told_by_rate
from quiclab.why.account.request import answers_ns, request_came_ns
from quiclab.why.account.response import response_edges
from quiclab.why.account.second_network import told_apart, told_together
from quiclab.why.account.sender_cause import Judge
from quiclab.why.account.set_up import SetUp

_BROWSER = Reason(Why.BROWSER, "http_requests")
_LOADS = Reason(Why.BROWSER, "page_events")
_LATER_PAGE = Reason(Why.LATER_REQUEST, "http_requests")
_NOT_TOLD_PAGE = Reason(Why.UNEXPLAINED, "http_requests")
NEVER_AWAITED = frozenset(
    {"fetch", "xhr", "other", "ping", "beacon", "preflight", "prefetch", "eventsource", "websocket", "manifest"}
)
"""Types of requests that a load event does not wait for (HTML, section 13.2.7), in the browser's words."""


def account_of_page(evidence: Evidence) -> list[Edge]:
    """Edges from navigation start to the load event, as `plt_ms` has them: it is put off by the document's name lookup.

    Raises Unknown where neither captures nor the browser tell enough.
    """
    if evidence.second_link is not None:
        raise Unknown("a page whose client changes its address is not accounted for")
    end_ns = page.load_event_ns(evidence)
    zero_ns = end_ns - round(page.plt_ms(evidence) * 1e6)
    told = _BrowserAccount.from_evidence(evidence)
    loads = loads_of(evidence, lambda rows: rows)
    if all(load.url != told.document for load in loads):
        raise Unknown("the captures do not show the request for the document: early data may have no secret there")
    awaited = [load for load in loads if told.awaited(load) and load.done_ns <= end_ns]
    if not awaited or zero_ns > loads[0].left_ns:
        raise Unknown("the browser's times and the captures of this trial contradict each other")
    last = max(awaited, key=lambda load: load.done_ns)
    chain = Chain(evidence, loads, told.prompt, _BROWSER, _LOADS)
    edges = chain.edges(last, last.done_ns, zero_ns)
    loaded = Edge(What.CLIENT, last.done_ns, end_ns, reason=_LOADS)
    return chained([*edges, loaded], zero_ns, end_ns)


@dataclass(frozen=True)
class _BrowserAccount:
    """The browser's own account of each URL."""

    document: str
    because: Mapping[str, str]
    """URL → that of its initiator."""
    types: Mapping[str, str]
    queued: Mapping[str, int]
    """URL → instant at which the page asked for it."""

    @classmethod
    def from_evidence(cls, evidence: Evidence) -> _BrowserAccount:
        rows = page.requests(evidence)
        told = rows.drop_nulls("initiator").select("url", "initiator")
        return cls(
            page.document_url(evidence),
            dict(reversed(told.rows())),
            dict(rows.select("url", pl.col("resource_type").fill_null("").str.to_lowercase()).iter_rows()),
            dict(reversed(rows.select("url", "time_ns").rows())),
        )

    def awaited(self, load: Load) -> bool:
        """True if the load event waits for an object."""
        return self.types.get(load.url, "other") not in NEVER_AWAITED

    def prompt(self, chain: Chain, load: Load, by_ns: int) -> Prompt | None:
        """Prompt of an object's request, or of its connection, by an instant; None of the document."""
        if load.url == self.document:
            return None
        found = [self._initiator(chain, load, by_ns)]
        if by_ns == load.left_ns:
            found += [self._before(chain, load), self._held_back(chain, load)]
        return max((each for each in found if each), key=lambda each: each.came_ns, default=None)

    def _initiator(self, chain: Chain, load: Load, by_ns: int) -> Prompt | None:
        """The object that the browser names, else the document: all else follows from that."""
        named = self.because.get(load.url)
        for url, reason in ((named, _BROWSER), (self.document, _BROWSER if named == self.document else _NOT_TOLD_PAGE)):
            earlier = [each for each in chain.loads if each.url == url and each.left_ns < load.left_ns]
            came_ns = chain.wire(earlier[-1]).last_came(earlier[-1], by_ns) if earlier else None
            if came_ns is not None:
                return Prompt(earlier[-1], came_ns, reason)
        return None

    def _before(self, chain: Chain, load: Load) -> Prompt | None:
        """The answer before it on its connection, of HTTP/1.1, which carries one at a time."""
        if load.stream is not None:
            return None
        same = [each for each in chain.loads if each.connection == load.connection and each.left_ns < load.left_ns]
        done = [each for each in same if each.done_ns <= load.left_ns]
        return Prompt(done[-1], done[-1].done_ns, _LATER_PAGE) if done else None

    def _held_back(self, chain: Chain, load: Load) -> Prompt | None:
        """The first answer of its host, until which a browser may send no more than the first requests."""
        first = first_on(chain.loads, load.connection)
        between = [
            each
            for each in chain.loads
            if each.connection == load.connection and first.left_ns + PROMPT_NS < each.left_ns < first.headers_ns
        ]
        wanted_ns = self.queued.get(load.url, load.left_ns)
        if between or load is first or not wanted_ns < first.headers_ns <= load.left_ns:
            return None
        return Prompt(first, first.headers_ns, _BROWSER)


_CONTRADICT = "the captures, the link's log and the times of this trial contradict each other"


def account_of_transfer(evidence: Evidence, until: str = "ttlb_ms") -> list[Edge]:
    """Edges that follow each other without a gap from the client's first packet to the end of its transfer.

    The end is that of a metric: `ttlb_ms`, `ttfb_ms` of a download, `upload_ms` of an upload; of a page it is always
    that of `plt_ms`. The bottleneck of the bodies' direction has priority: while it serves, that is where the time
    goes. Raises Unknown where the trial is of another kind, or its records cannot carry an account or contradict each
    other.
    """
    check_kind(evidence)
    if evidence.trial.expected.page:
        return account_of_page(evidence)
    if over_several(evidence) and until == "ttlb_ms":
        return account_of_several(evidence, _ends(evidence, until).last_ns)
    of = transfer_of(evidence, until)
    evidence, path, ends = of.evidence, of.path, of.ends
    carrier = _sent_at(path.up, ends.set_up_ns)
    before = SetUp(evidence, path, of.limit, ends.bodies_ns if evidence.upload else request_came_ns(evidence))
    bodies, start = response_edges(path, of.judge, of.first, of.completing)
    edges = [
        *before.set_up_edges(carrier, ends.zero_ns),
        *before.request_edges(start.position, start.place, ends.set_up_ns),
        *told_by_rate(evidence, path, of.judge.captured, name_change_edges(evidence, path, of.judge, bodies)),
    ]
    if ends.last_ns > ends.bodies_ns:
        edges += before.answer_edges(arrived_at(evidence, path.down, ends.last_ns), ends.bodies_ns)
    whole = chained([told_together(edge) for edge in edges], ends.zero_ns, ends.last_ns)
    return processor.name_processor_edges(evidence, path, whole)


@dataclass(frozen=True)
class Transfer:
    """A transfer over one connection: its packets on the links, its sender, and the first and the last of the bodies'
    packets that count."""

    evidence: Evidence
    path: Path
    judge: Judge | Judges
    limit: Amplification
    first: int
    """Position of the first packet of the bodies that is served."""
    completing: int
    """Position of the packet that completes the bodies."""
    ends: Ends


@lru_cache(maxsize=1)  # the account and the predictions of a trial are made of one
def transfer_of(evidence: Evidence, until: str = "ttlb_ms") -> Transfer:
    """The transfer that an account is of. Raises Unknown where records cannot carry one or contradict each other."""
    evidence = told_apart(evidence)
    of = objects(evidence)
    path = path_of(evidence, of.own)
    ends = _ends(evidence, until)
    first = _first(evidence, path, ends.set_up_ns)
    completing = arrived_at(evidence, path.ahead, ends.bodies_ns)
    if first is None or first > completing:
        raise Unknown(_CONTRADICT)
    limit = amplification(evidence)
    return Transfer(evidence, path, judges(evidence, path, completing, of, limit), limit, first, completing, ends)


@dataclass(frozen=True)
class Ends:
    """Instants of the metrics, so that account and metric agree."""

    zero_ns: int
    set_up_ns: int
    bodies_ns: int
    """Arrival of the last byte of the bodies, or of the first where the account ends there."""
    last_ns: int


def _ends(evidence: Evidence, until: str) -> Ends:
    metrics = {"ttlb_ms": times.ttlb_ms, "ttfb_ms": times.ttfb_ms, "upload_ms": times.upload_ms}
    if until not in metrics:
        raise Unknown(f"{until} has no account: those of {', '.join(metrics)} have one")

    def instant(value: float | Noted) -> int:
        return evidence.zero_ns + round((value.value if isinstance(value, Noted) else value) * 1e6)

    set_up_ns, last_ns = instant(times.setup_ms(evidence)), instant(metrics[until](evidence))
    bodies_ns = instant(times.upload_ms(evidence)) if evidence.upload else last_ns
    if bodies_ns > last_ns:
        raise Unknown("the server had answered before it had all that was uploaded")
    return Ends(evidence.zero_ns, set_up_ns, bodies_ns, last_ns)


_UP: Direction = "up"
_DOWN: Direction = "down"


def check_kind(evidence: Evidence) -> None:
    """Raise Unknown for what this account does not cover."""
    if evidence.trial.expected.video:
        raise Unknown("a video has accounts of its start-up and of its stalls, and none of a transfer")


def _sent_at(up: Way, time_ns: int) -> int:
    """Position of the packet that reached the link at an instant. Raises Unknown without one."""
    found = next((p for p, at in enumerate(up.arrival) if at == time_ns), None)
    if found is None:
        raise Unknown("the packet that can carry the request is not found in the link's log")
    return found


def _first(evidence: Evidence, path: Path, set_up_ns: int) -> int | None:
    """Position of the first packet of the bodies' sender that is served once it may send: the client when it can send
    application data, the server when the first request has come and, where that is shown, when it answers."""
    ahead, up = path.ahead, path.up
    since_ns = set_up_ns
    if not evidence.upload:
        asked = [up.written[p] or 0 for p in up.came if up.arrival[p] >= set_up_ns]
        if not asked:
            raise Unknown("no packet of the client that could carry the request reached the server")
        sent = [(at, content) for p, at in enumerate(ahead.arrival) if (content := path.content(ahead, p))]
        since_ns = max(min(asked), answers_ns(evidence, sent) or 0)
    return next((p for p, at in enumerate(ahead.arrival) if at >= since_ns and ahead.is_served(p)), None)


# The account of objects that came over several connections: the last one's, and what its request had waited for.
_LATER = Reason(Why.LATER_REQUEST, "http_requests")
_REQUEST = Reason(Why.REQUEST, "ip_packets")
_NOT_TOLD = Reason(Why.UNEXPLAINED, "ip_packets")


def over_several(evidence: Evidence) -> bool:
    """True if the objects of a trial came over more than one connection."""
    several = len(evidence.trial.expected.objects or ()) > 1
    return several and evidence.packets("client", "up").select("src", "src_port", "dst", "dst_port").n_unique() > 1


def account_of_several(evidence: Evidence, last_ns: int) -> list[Edge]:
    """Edges from the client's first packet to the end of the last of several objects, at an instant.

    Raises Unknown where the captures do not show all requests, and for uploads.
    """
    if evidence.upload or evidence.second_link is not None:
        raise Unknown("uploads over several connections, and changes of address among them, are not accounted for")
    loads = loads_of(evidence, partial(those_asked_for, evidence))
    last = next((load for load in loads if load.done_ns == last_ns), None)
    if last is None:
        raise Unknown("the captures do not show which of the objects is the last")
    chain = Chain(evidence, loads, _prompt, _REQUEST, _NOT_TOLD)
    return chained(chain.edges(last, last_ns, evidence.zero_ns), evidence.zero_ns, last_ns)


def _prompt(chain: Chain, load: Load, by_ns: int) -> Prompt | None:
    """The answer whose end gave the client a place for another object, where it asks for so many at a time."""
    expected = chain.evidence.trial.expected
    at_once = expected.concurrency or len(expected.listed)
    before = [each for each in chain.loads if each.left_ns < load.left_ns]
    done = [each for each in before if each.done_ns <= by_ns]
    if len(before) < at_once or not done:
        return None
    freed = max(done, key=lambda each: each.done_ns)
    return Prompt(freed, freed.done_ns, _LATER)
