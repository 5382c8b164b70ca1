# SPDX-License-Identifier: Apache-2.0
"""Credit of a stream: the receiver allows no more of it."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._credit_lead import beyond, window
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.STREAM_CREDIT)
    if not edges.any():
        return Claim(edges)
    return Claim(edges, (*window(trial, edges, "stream"), *beyond(trial, edges)))


STREAM_FLOW_CONTROL_LIMITED = Mechanism(
    "stream_flow_control_limited",
    "stream flow control",
    Family.CREDIT,
    "The receiver allows so many bytes of a stream beyond what it has read. The sender had sent them all, and waited "
    "a round trip for more: at most one window of the stream per round trip.",
    "Waits in which the highest offset sent of the stream equals the limit that the receiver gave, until a packet "
    "raises it.",
    Level.E0,
    "RFC 9000 section 4.1, RFC 9113 section 5.2; curl issue 20030",
    _claim,
    (
        Rival("connection_flow_control_limited", "the sum over all streams equals the limit of the connection"),
        Rival("send_buffer_limited", "the limit of the receiver is higher than what was sent"),
        Rival("slow_start", "the limit of the receiver is higher than what was sent, and the window is full"),
        Rival("credit_update_lost", "the packet that would have raised the limit was dropped"),
    ),
    (
        Setting(
            "receiver",
            "stream_window",
            "16 MB",
            "A larger window of the stream keeps the sender going.",
            ("the receiver may have to keep more", "a window that is larger at first grows otherwise"),
            ("64 KB", "256 KB", "1 MB", "16 MB"),
        ),
    ),
    reasons=(Why.STREAM_CREDIT,),
)
