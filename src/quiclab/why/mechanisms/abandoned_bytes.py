# SPDX-License-Identifier: Apache-2.0
"""Abandoned bytes: the bottleneck serves packets for an address that the client has left."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.what(What.ABANDONED)
    return Claim(edges, (Fact("bytes_served", trial.bytes(edges), "bytes"),) if edges.any() else ())


ABANDONED_BYTES = Mechanism(
    "abandoned_bytes",
    "packets for an address that the client has left",
    Family.BYTES,
    "What was under way to the client's old address holds up what goes to the new one: a server that does not know of "
    "the change goes on with the old response, which fills the queue.",
    "Edges on which the bottleneck serves packets for an address that the client had left.",
    Level.E0,
    "RFC 9000 section 9",
    _claim,
    (Rival("change_of_address", "nothing is served: the new path is set up or validated"),),
    (
        Setting(
            "client",
            "on_address_change",
            "migrate",
            "The connection moves, and the server stops at once.",
            ("the congestion window begins anew", "the path is validated"),
        ),
        Setting("path", "queue", "0.5 bdp", "Less of it fits into the queue.", ("packets are dropped earlier",)),
    ),
    activities=(What.ABANDONED,),
)
