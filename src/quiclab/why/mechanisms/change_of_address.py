# SPDX-License-Identifier: Apache-2.0
"""A change of the client's address: until the response goes on over the new path."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.CHANGE_OF_ADDRESS)
    return Claim(edges)


CHANGE_OF_ADDRESS = Mechanism(
    "change_of_address",
    "client address change",
    Family.PATH,
    "The client's address changed. Over TCP a new connection, and a second request, are needed; QUIC has to validate "
    "the new path, and may begin with a small window there.",
    "From the change of the address until the first of the body to the new address is served.",
    Level.E0,
    "RFC 9000 sections 8.2 and 9",
    _claim,
    (Rival("abandoned_bytes", "the bottleneck is busy with packets for the old address"),),
    (
        Setting(
            "client",
            "on_address_change",
            "migrate",
            "The connection goes on over the new path.",
            ("the congestion window begins anew", "the path is validated"),
        ),
    ),
    reasons=(Why.CHANGE_OF_ADDRESS,),
)
