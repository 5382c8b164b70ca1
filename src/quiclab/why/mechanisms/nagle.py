# SPDX-License-Identifier: Apache-2.0
"""Nagle's algorithm: a small segment waits for the acknowledgment of the small one before it."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Transport
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.NAGLE)
    if not edges.any():
        return Claim(edges)
    held = trial.ms(edges & trial.what(What.ACK_HELD))
    longest = max(end - begin for begin, end in trial.times(edges)) / 1e6
    return Claim(edges, (Fact("acknowledgments_held_for", held, "ms"), Fact("longest_wait", longest, "ms")))


NAGLE = Mechanism(
    "nagle",
    "Nagle's algorithm",
    Family.PROGRAMS,
    "The program writes in small pieces without TCP_NODELAY. Its kernel keeps a segment that is not full back until "
    "the one before it is acknowledged, and a receiver that delays its acknowledgments holds that back for 40 ms or "
    "more.",
    "Waits in which TCP's kernel has less than a full segment to send and room in its window, and which the "
    "acknowledgment of the last segment that was not full ends.",
    Level.E0,
    "RFC 9293 section 3.7.4, RFC 5681 section 4.2; Linux, TCP_NODELAY in tcp(7)",
    _claim,
    (
        Rival("pacing", "no acknowledgment is needed to end the wait, and the socket can pace"),
        Rival("cork", "no packet ends the wait"),
        Rival("delayed_acknowledgment", "the window is full, or a full segment waits"),
        Rival("application", "the kernel has nothing to send"),
    ),
    reasons=(Why.NAGLE,),
    transports=frozenset({Transport.TCP}),
)
