# SPDX-License-Identifier: Apache-2.0
"""Loss detection: an acknowledgment has to show a loss before it is mended."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._follows import OF_A_LOSS
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.LOSS_DETECTION)
    if not edges.any():
        return Claim(edges)
    drops = trial.drops(trial.way)
    return Claim(edges, (Fact("waits", trial.waits(edges), ""), Fact("dropped_by_links", drops.height, "packets")))


LOSS_DETECTION_DELAY = Mechanism(
    "loss_detection_delay",
    "loss detection",
    Family.RECOVERY,
    "Nothing new was left to send, or none was allowed, and the lost packet could be sent again only when an "
    "acknowledgment of later ones had shown the loss: a round trip.",
    "Waits that end with a repeat which a packet of the receiver caused, with no window full.",
    Level.E0,
    "RFC 9002 section 6.1.1, RFC 6675",
    _claim,
    (
        Rival("loss_timer", "a time threshold shows the loss, no later packets do"),
        Rival("loss_on_the_path", "the sender knew of the loss, and its window was full"),
        Rival("reordering_taken_for_loss", "the packet arrived after all"),
    ),
    (
        Setting("path", "loss", "none", "Nothing is lost.", ("all other losses go too",)),
        Setting(
            "path",
            "queue",
            "4 bdp",
            "A longer queue drops less.",
            ("packets wait longer",),
            ("0.5 bdp", "1 bdp", "2 bdp", "4 bdp"),
        ),
        Setting(
            "receiver",
            "ack_frequency",
            1,
            "Every packet is acknowledged at once.",
            ("more packets on the way back",),
            (10, 2, 1),
        ),
    ),
    follows=OF_A_LOSS,
    reasons=(Why.LOSS_DETECTION,),
)
