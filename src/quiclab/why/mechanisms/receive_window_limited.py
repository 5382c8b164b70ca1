# SPDX-License-Identifier: Apache-2.0
"""TCP receive window: the receiver's kernel has no room, or says so late."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.kernel import sender_samples
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting, Transport
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.RECEIVE_WINDOW)
    if not edges.any():
        return Claim(edges)
    begin_ns = int(trial.account["from_ns"].filter(edges)[0])
    told = sender_samples(trial.evidence).drop_nulls("snd_wnd_bytes")
    at = told.filter(pl.col("time_ns") <= begin_ns).sort("time_ns")["snd_wnd_bytes"]
    size = (Fact("window_at_the_first_wait", float(at[-1]), "bytes"),) if at.len() else ()
    return Claim(edges, size)


RECEIVE_WINDOW_LIMITED = Mechanism(
    "receive_window_limited",
    "TCP receive window",
    Family.CREDIT,
    "The receiver's kernel offers no more room. It begins with a small window and raises it as its program reads, a "
    "round trip late on a long path.",
    "Time that the sender's kernel counts as limited by the receive window.",
    Level.E0,
    "RFC 9293 section 3.8.6; Linux, tcp_rmem and `tcpi_rwnd_limited`",
    _claim,
    (
        Rival("slow_start", "the kernel does not count the time as limited by the receiver"),
        Rival("receiver_application_limited", "the receiver's program leaves data unread while the window is closed"),
        Rival("connection_flow_control_limited", "HTTP/2's own credit is used up before TCP's window is"),
    ),
    (
        Setting(
            "tcp",
            "receive_buffer",
            ("4096 B", "4 MiB", "16 MiB"),
            "A larger default lets the window begin as large as the path needs.",
            ("more memory for each connection",),
        ),
    ),
    reasons=(Why.RECEIVE_WINDOW,),
    transports=frozenset({Transport.TCP}),
)
