# SPDX-License-Identifier: Apache-2.0
"""Other objects first: the bottleneck serves them before the object that is there last."""

from __future__ import annotations

from quiclab.accounting.levels import Level
from quiclab.accounting.what import What
from quiclab.diagnoses._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.diagnoses._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.what(What.OTHER_OBJECT)
    return Claim(edges, (Fact("bytes_served", trial.bytes(edges), "bytes"),) if edges.any() else ())


OTHER_OBJECTS_FIRST = Mechanism(
    "other_objects_first",
    "other objects served first",
    Family.BYTES,
    "The server sent other objects before, or in turns with, the one that was there last: its scheduler and the "
    "priorities decide the order.",
    "Edges on which the bottleneck serves bytes of an object that is not the last to be there.",
    Level.E0,
    "RFC 9218, RFC 9113 section 5.3",
    _claim,
    (
        Rival("bytes_on_the_wire", "the bytes are those of the object that is there last"),
        Rival("scheduling", "the sender's log says that another stream has its turn, and the link is idle"),
    ),
    (
        Setting(
            "sender",
            "scheduler",
            "fifo",
            "One response after the other.",
            ("each object but the last is there earlier",),
        ),
        Setting(
            "sender",
            "priorities",
            value=True,
            gain="More urgent responses come first.",
            also_changes=("less urgent ones come later",),
        ),
    ),
)
