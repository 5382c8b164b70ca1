# SPDX-License-Identifier: Apache-2.0
"""Waits for a processor, told apart by the program that got none, and the mechanism that each is."""

from __future__ import annotations

from bisect import bisect_left

import polars as pl

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.account.processor import LEAST_NS, SHARE, looks_at
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._trial import Trial


def mechanism_of(role: str, table: str) -> Mechanism:
    """The mechanism of a role's program without a processor. `table` is where a spec has that program."""
    return Mechanism(
        f"{role}_without_processor",
        f"{role} waiting for a CPU",
        Family.PROGRAMS,
        f"A thread of the {role} was ready to run and got no processor: others had it, or the {role}'s quota was used "
        "up. Meanwhile nothing was read, acknowledged or sent.",
        f"Waits at the {role} of 10 ms and more in which a thread of it waited for a processor for at least half of "
        "that.",
        Level.E0,
        "Linux, /proc/PID/schedstat (run-queue delay); Kakhki et al., IMC 2017, section 5.2 (slow devices)",
        lambda trial: _claim(trial, role),
        (
            Rival("delayed_acknowledgment", "the receiver had a processor, and held the acknowledgment back"),
            Rival("application", "the program had a processor, and nothing to send"),
        ),
        (
            Setting(
                table,
                "cpu",
                "100 %",
                "The program gets a whole processor.",
                ("all of its work is faster",),
                ("15 %", "30 %", "60 %", "100 %"),
            ),
        ),
        reasons=(Why.PROCESSOR,),
    )


def _claim(trial: Trial, role: str) -> Claim:
    edges = without_processor(trial, role)
    if not edges.any():
        return Claim(edges)
    looks = trial.evidence.table("run_delays").filter(pl.col("role") == role)
    longest = looks["longest_ns"].max()
    waited = (Fact("longest_wait_for_a_processor", longest / 1e6, "ms"),) if isinstance(longest, int) else ()
    return Claim(edges, (Fact("waits", trial.waits(edges), ""), *waited))


def without_processor(trial: Trial, role: str) -> pl.Series:
    """Waits for a processor of one role's program: `client`, `server` or, before a server, `proxy`.

    What ends a wait is a sending of the program that got no processor; what passes before it belongs to it. The other
    program may send meanwhile: only what ends with a wait of its own is an end.
    """
    front = "proxy" if trial.evidence.trial.proxy else "server"
    of_what = {
        str(What.CLIENT): "client",
        str(What.SERVER): front,
        str(What.ACK_HELD): "client" if trial.evidence.receiver == "client" else front,
    }
    whats = trial.account["what"]

    edges = trial.why(Why.PROCESSOR)
    looks, until = {each: looks_at(trial.evidence, each) for each in of_what.values()}, trial.account["until_ns"]
    ends = [
        at
        for at in edges.arg_true().to_list()
        if (end := of_what.get(whats[at])) and looks[end].waited_ns(until[at]) * SHARE >= LEAST_NS
    ]

    def ends_there(first: int, after: int) -> bool:
        # The bottleneck may be busy in the midst of a wait, which ends with the last sending of the run, else the next.
        at = bisect_left(ends, after) - 1
        if at < 0 or ends[at] < first:
            at += 1
        return at < len(ends) and of_what[whats[ends[at]]] == role

    return trial.keep_runs(edges, ends_there)
