# SPDX-License-Identifier: Apache-2.0
"""Pacing: the sender spreads its packets over time, by its own word or by its kernel's samples."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, settings_of_both_transports
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.PACING)
    return Claim(edges, (Fact("gaps", trial.waits(edges), ""),) if edges.any() else ())


PACING = Mechanism(
    "pacing",
    "pacing",
    Family.PROGRAMS,
    "The sender spreads its packets over the round trip so as not to fill queues. Where it paces more slowly than the "
    "path carries, the link runs idle between its packets.",
    "Waits of which the sender's log says that it paces, or in which TCP's kernel has bytes to send and leaves more "
    "than a third of its window free, of a socket that can pace: by BBR, by a limit of its rate, or by fq below it. "
    "Without a log of a QUIC sender: waits at its pacer's rate, or at even intervals between full packets.",
    Level.E0,
    "RFC 9002 section 7.7; neqo issues 3640 and 3760",
    _claim,
    (
        Rival("application", "the sender's log says that there is nothing to send"),
        Rival("slow_start", "an acknowledgment ends the wait, and the window is full"),
        Rival("nagle", "less than a full segment waits for the acknowledgment of the small one before it"),
        Rival("cork", "the socket cannot pace, and less than a full segment waits"),
    ),
    (
        *settings_of_both_transports(
            "pacing",
            value=False,
            gain="Packets leave as soon as the window allows.",
            also_changes=("bursts may overflow a short queue",),
        ),
        Setting(
            "sender",
            "initial_window",
            32,
            "The first round trip is paced over a larger window.",
            ("slow start begins higher",),
            (10, 16, 32),
        ),
    ),
    reasons=(Why.PACING,),
)
