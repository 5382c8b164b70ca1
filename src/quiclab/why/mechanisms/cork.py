# SPDX-License-Identifier: Apache-2.0
"""A corked socket: its program asked the kernel to keep what does not fill a segment."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Transport
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.CORK)
    if not edges.any():
        return Claim(edges)
    longest = max(end - begin for begin, end in trial.times(edges)) / 1e6
    return Claim(edges, (Fact("longest_wait", longest, "ms"),))


CORK = Mechanism(
    "cork",
    "corked socket",
    Family.PROGRAMS,
    "The program has told its kernel that more will follow (TCP_CORK, MSG_MORE), and it does not. What does not fill a "
    "segment stays there until the program lets it go, for 200 ms at most.",
    "Waits in which TCP's kernel has less than a full segment to send and more than a third of its window free, the "
    "socket cannot pace, every segment before that was not full is acknowledged, and no packet ends the wait.",
    Level.E0,
    "Linux, TCP_CORK in tcp(7) and MSG_MORE in send(2)",
    _claim,
    (
        Rival("nagle", "an acknowledgment of the last segment that was not full ends the wait"),
        Rival("pacing", "the socket can pace"),
        Rival("application", "the kernel has nothing to send"),
    ),
    reasons=(Why.CORK,),
    transports=frozenset({Transport.TCP}),
)
