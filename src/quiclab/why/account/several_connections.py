# SPDX-License-Identifier: Apache-2.0
"""The account of objects that came over several connections: the last one's, and what its request had waited for."""

from __future__ import annotations

from functools import partial

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.responses import those_asked_for
from quiclab.model.cause import Why
from quiclab.why.account.dependency_chain import Chain, Prompt
from quiclab.why.account.edges import Edge, Reason, chained
from quiclab.why.account.loads import Load, loads_of

_LATER = Reason(Why.LATER_REQUEST, "http_requests")
_REQUEST = Reason(Why.REQUEST, "ip_packets")
_NOT_TOLD = Reason(Why.UNEXPLAINED, "ip_packets")


def over_several(evidence: Evidence) -> bool:
    """Whether the objects of a trial came over more than one connection."""
    several = len((evidence.trial.get("expected") or {}).get("objects") or ()) > 1
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
    expected = chain.evidence.trial["expected"]
    at_once = int(expected.get("concurrency") or len(expected["objects"]))
    before = [each for each in chain.loads if each.left_ns < load.left_ns]
    done = [each for each in before if each.done_ns <= by_ns]
    if len(before) < at_once or not done:
        return None
    freed = max(done, key=lambda each: each.done_ns)
    return Prompt(freed, freed.done_ns, _LATER)
