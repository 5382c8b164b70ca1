# SPDX-License-Identifier: Apache-2.0
"""A client without a processor: its program was ready to run, and others ran."""

from __future__ import annotations

import polars as pl

from quiclab.accounting.levels import Level
from quiclab.diagnoses._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.diagnoses._processor import without_processor
from quiclab.diagnoses._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = without_processor(trial, "client")
    if not edges.any():
        return Claim(edges)
    looks = trial.evidence.table("run_delays").filter(pl.col("role") == "client")
    longest = looks["longest_ns"].max()
    waited = (Fact("longest_look", longest / 1e6, "ms"),) if isinstance(longest, int) else ()
    return Claim(edges, (Fact("waits", trial.waits(edges), ""), *waited))


CLIENT_WITHOUT_PROCESSOR = Mechanism(
    "client_without_processor",
    "client without a processor",
    Family.PROGRAMS,
    "A thread of the client was ready to run and got no processor: others had it, or the client's quota was used up. "
    "Meanwhile nothing was read, acknowledged or sent.",
    "Waits at the client of 10 ms and more in which a thread of it waited for a processor for at least half of that.",
    Level.E0,
    "Linux, /proc/PID/schedstat (run-queue delay); Kakhki et al., IMC 2017, section 5.2 (slow devices)",
    _claim,
    (
        Rival("acknowledgment_held", "the receiver had a processor, and held the acknowledgment back"),
        Rival("application", "the program had a processor, and nothing to send"),
    ),
    (
        Setting(
            "client",
            "cpu",
            "100 %",
            "The program gets a whole processor.",
            ("all of its work is faster",),
            ("15 %", "30 %", "60 %", "100 %"),
        ),
    ),
)
