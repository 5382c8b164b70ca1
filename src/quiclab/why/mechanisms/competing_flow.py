# SPDX-License-Identifier: Apache-2.0
"""A competing flow: the bottleneck serves others' packets while this flow's wait."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, settings_of_both_transports
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.what(What.OTHER_FLOW)
    if not edges.any():
        return Claim(edges)
    busy = trial.ms(trial.why(Why.LINK_BUSY))
    share = 100 * trial.ms(edges) / busy if busy else 0.0
    return Claim(edges, (Fact("bytes_served", trial.bytes(edges), "bytes"), Fact("share_of_the_busy_time", share, "%")))


COMPETING_FLOW = Mechanism(
    "competing_flow",
    "competing flow served first",
    Family.PATH,
    "Another flow's packets stood in the same queue, and were served while this flow's waited.",
    "Edges on which the bottleneck serves packets of another flow while packets of this one wait.",
    Level.E0,
    "RFC 5166 section 2.3 (fairness); Kakhki et al., IMC 2017, section 5.1",
    _claim,
    (Rival("competition_for_the_queue", "the queue dropped a packet of this flow, whose window was then reduced"),),
    (
        Setting("path", "aqm", "fq_codel", "Flows take turns.", ("packets are dropped before a queue is full",)),
        *settings_of_both_transports(
            "congestion_control",
            "bbr",
            "A congestion control that claims another share.",
            ("slow start, pacing and the reaction to losses are other ones",),
        ),
    ),
    activities=(What.OTHER_FLOW,),
)
