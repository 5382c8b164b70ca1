# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: the sender's own word, where its log tells what held it back (table `blocked`)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.cause import Why
from quiclab.why.account.edges import PROMPT_NS

_SAID = {
    "congestion_control": Why.WINDOW,
    "pacing": Why.PACING,
    "amplification_protection": Why.AMPLIFICATION_LIMIT,
    "connection_flow_control": Why.CONNECTION_CREDIT,
    "stream_flow_control": Why.STREAM_CREDIT,
    "stream_id": Why.STREAM_LIMIT,
    "application": Why.APPLICATION,
    "scheduling": Why.SCHEDULING,
}


@dataclass(frozen=True)
class OwnWord:
    """Times in which a sender says that it was held back."""

    spells: tuple[tuple[int, int, Why], ...]
    """Spells of (from, until, reason) in the order of `from`."""
    reach: tuple[int, ...]
    """Latest `until` of the spells up to each."""

    def reason(self, from_ns: int, sent_ns: int) -> Why | None:
        """Reason that the sender says was lifted last before it sent, within a time without sending; None without a
        word.

        A spell that begins as it sends is about what comes after.
        """
        last = bisect_left(self.spells, (sent_ns,))
        found: tuple[int, int, Why] | None = None
        oldest_ns = max(from_ns, sent_ns - PROMPT_NS)
        for at in range(last - 1, -1, -1):
            if self.reach[at] < oldest_ns:
                break
            since_ns, until_ns, why = self.spells[at]
            ended = min(until_ns, sent_ns)
            if ended >= oldest_ns and (found is None or (ended, since_ns) > found[:2]):
                found = (ended, since_ns, why)
        return found[2] if found else None

    def spell(self, why: Why, sent_ns: int) -> tuple[int, int] | None:
        """The last spell (from, until) of a reason that began before the sender sent; None without one."""
        begun = self.spells[: bisect_left(self.spells, (sent_ns,))]
        return next(((since_ns, until_ns) for since_ns, until_ns, each in reversed(begun) if each is why), None)


def own_word(evidence: Evidence) -> OwnWord:
    """Reasons in the sender's log; nothing where it has none."""
    rows = (
        evidence.table("blocked")
        .filter(pl.col("vantage") == evidence.sender, pl.col("direction") == evidence.way)
        .select("time_ns", "scope", "stream_id", "old_state", "new_state", "reason")
    )
    spells: list[tuple[int, int, Why]] = []
    running: dict[tuple[str, int | None], dict[Why, int]] = {}
    for time_ns, scope, stream, old, new, reason in rows.iter_rows():
        holds, why = running.setdefault((scope, stream), {}), _SAID.get(reason)
        if new == "blocked":
            # A reason that was not there before, although another one holds, has a state of its own.
            ended = [] if old == "unblocked" or why in holds else list(holds)
        else:
            ended = list(holds) if reason is None else [each for each in holds if each is why]
        spells.extend((holds.pop(each), time_ns, each) for each in ended)
        if new == "blocked" and why is not None:
            holds.setdefault(why, time_ns)
    spells.extend((since_ns, 1 << 62, why) for holds in running.values() for why, since_ns in holds.items())
    spells.sort()
    reach: list[int] = []
    for _, until_ns, _ in spells:
        reach.append(max(until_ns, reach[-1]) if reach else until_ns)
    return OwnWord(tuple(spells), tuple(reach))
