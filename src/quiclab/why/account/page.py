# SPDX-License-Identifier: Apache-2.0
"""The account of a page's load: the object that completed it, what led to each request, and the browser's own time.

It ends with the load event, as `plt_ms` does. Which object led to a request the browser's own account tells; what the
browser did meanwhile it does not: parsing, scripts, style, waits for other objects are its time as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown, page
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.dependency_chain import Chain, Prompt
from quiclab.why.account.edges import PROMPT_NS, Edge, Reason, chained
from quiclab.why.account.loads import Load, first_on, loads_of

_BROWSER = Reason(Why.BROWSER, "http_requests")
_LOADS = Reason(Why.BROWSER, "page_events")
_LATER = Reason(Why.LATER_REQUEST, "http_requests")
_NOT_TOLD = Reason(Why.UNEXPLAINED, "http_requests")
_NEVER_AWAITED = frozenset(
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
        return self.types.get(load.url, "other") not in _NEVER_AWAITED

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
        for url, reason in ((named, _BROWSER), (self.document, _BROWSER if named == self.document else _NOT_TOLD)):
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
        return Prompt(done[-1], done[-1].done_ns, _LATER) if done else None

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
