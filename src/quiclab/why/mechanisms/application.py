# SPDX-License-Identifier: Apache-2.0
"""Nothing to send: the sender's program had not produced the bytes."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.APPLICATION)
    if not edges.any():
        return Claim(edges)
    longest = max(end - begin for begin, end in trial.times(edges)) / 1e6
    return Claim(edges, (Fact("waits", trial.waits(edges), ""), Fact("longest_wait", longest, "ms")))


APPLICATION = Mechanism(
    "application",
    "waiting for the application",
    Family.PROGRAMS,
    "Window and credit had room, and the transport had nothing to send: the program above it had not produced the "
    "bytes, or had not handed them over.",
    "Waits of which the sender's log says that there is nothing to send, or in which the kernel's send buffer is "
    "empty; without both, behind a packet that was not full though the sender could have filled it.",
    Level.E0,
    "RFC 9002 section 7.8; Linux, tcpi_notsent_bytes",
    _claim,
    (
        Rival("pacing", "the sender's log says that it paces"),
        Rival("server_without_processor", "a thread of the server waited for a processor"),
        Rival("origin", "a proxy waits for data of its origin"),
    ),
    reasons=(Why.APPLICATION,),
)
