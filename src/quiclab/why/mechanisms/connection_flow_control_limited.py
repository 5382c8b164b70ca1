# SPDX-License-Identifier: Apache-2.0
"""Credit of the connection: the receiver allows no more of all streams together."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._credit_lead import beyond, window
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.CONNECTION_CREDIT)
    if not edges.any():
        return Claim(edges)
    return Claim(edges, (*window(trial, edges, "connection"), *beyond(trial, edges)))


CONNECTION_FLOW_CONTROL_LIMITED = Mechanism(
    "connection_flow_control_limited",
    "connection flow control",
    Family.CREDIT,
    "The receiver allows so many bytes of all streams together beyond what it has read. The sender had sent them all, "
    "and waited a round trip for more.",
    "Waits in which the sum of the highest offsets of all streams equals the connection's limit, until a packet raises "
    "it.",
    Level.E0,
    "RFC 9000 section 4.1, RFC 9113 section 6.9; curl issue 1102 (a window of 64 KB)",
    _claim,
    (
        Rival(
            "stream_flow_control_limited", "the offset of the stream equals its own limit, and the connection has more"
        ),
        Rival("slow_start", "the limits of the receiver are higher than what was sent, and the window is full"),
        Rival("credit_update_lost", "the packet that would have raised the limit was dropped"),
    ),
    (
        Setting(
            "receiver",
            "connection_window",
            "24 MB",
            "A larger window of the connection keeps the sender going.",
            ("the receiver may have to keep more",),
            ("64 KB", "256 KB", "1 MB", "24 MB"),
        ),
    ),
    reasons=(Why.CONNECTION_CREDIT,),
)
