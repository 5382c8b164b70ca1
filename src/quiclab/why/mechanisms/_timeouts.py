# SPDX-License-Identifier: Apache-2.0
"""TCP's retransmission timeouts among the waits that a loss timer ended: RACK's timer is another, shorter one."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.mechanisms._trial import Trial

_LEAST_NS = 190_000_000
"""Silence after which a repeat is a timeout's: the least of Linux is 200 ms, of which clocks may miss some."""


def timeouts(trial: Trial) -> pl.Series:
    """Edges of waits for a retransmission timeout of TCP."""
    if trial.evidence.quic:
        return trial.none()
    account = trial.account
    named = account["event_ns"].is_not_null()
    silent_ns = account["prompted_after_ns"].fill_null(0)
    long = (silent_ns >= _LEAST_NS) | (trial.length_ns >= _LEAST_NS)
    return trial.keep_runs(trial.why(Why.LOSS_TIMER), lambda first, after: bool((named | long)[first:after].any()))
