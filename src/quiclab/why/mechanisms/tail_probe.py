# SPDX-License-Identifier: Apache-2.0
"""A probe at the tail: the last packets of a flight were lost, and nothing behind them shows it."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._follows import OF_A_LOSS
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.PROBE_TIMER)
    if not edges.any():
        return Claim(edges)
    times = trial.times(edges)
    longest = max(end - begin for begin, end in times) / 1e6
    return Claim(edges, (Fact("probes", len(times), ""), Fact("longest_wait", longest, "ms")))


TAIL_PROBE = Mechanism(
    "tail_probe",
    "tail loss probe",
    Family.RECOVERY,
    "The last packets of a flight, or the request, were lost. Nothing sent later could show that, so that a probe had "
    "to, after about two round trips and the time for which acknowledgments may be held.",
    "Waits that end when the sender's, or before the response the client's, probe timer does.",
    Level.E0,
    "RFC 9002 section 6.2, RFC 8985 section 7",
    _claim,
    (
        Rival("spurious_probe", "nothing was dropped in either direction"),
        Rival("acknowledgments_lost", "the data had arrived, and every acknowledgment of it was dropped"),
        Rival("retransmission_timeout", "TCP's long timer ends the wait, not a probe"),
    ),
    (
        Setting("path", "loss", "none", "Nothing is lost.", ("all other losses go too",)),
        Setting(
            "receiver",
            "ack_delay",
            "0 ms",
            "The timer is shorter by the time for which acknowledgments may be held.",
            ("more packets on the way back",),
            ("100 ms", "25 ms", "0 ms"),
        ),
    ),
    follows=OF_A_LOSS,
    reasons=(Why.PROBE_TIMER,),
)
