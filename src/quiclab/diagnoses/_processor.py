# SPDX-License-Identifier: Apache-2.0
"""Waits for a processor, told apart by the program that got none."""

from __future__ import annotations

from bisect import bisect_left

import polars as pl

from quiclab.accounting.what import What
from quiclab.accounting.why import Why
from quiclab.diagnoses._trial import Trial


def without_processor(trial: Trial, role: str) -> pl.Series:
    """Waits for a processor of one role's program: `client`, `server` or, before a server, `proxy`.

    What ends a wait is a sending of the program that got no processor; what passes before it belongs to it.
    """
    front = "proxy" if trial.evidence.trial.get("proxy") else "server"
    of_what = {
        str(What.CLIENT): "client",
        str(What.SERVER): front,
        str(What.ACK_HELD): "client" if trial.evidence.receiver == "client" else front,
    }
    whats = trial.account["what"]

    edges = trial.why(Why.PROCESSOR)
    ends = [at for at in edges.arg_true().to_list() if whats[at] in of_what]

    def ends_there(first: int, after: int) -> bool:
        # The bottleneck may be busy in the midst of a wait, which ends with the last sending of the run, else the next.
        at = bisect_left(ends, after) - 1
        if at < 0 or ends[at] < first:
            at += 1
        return at < len(ends) and of_what[whats[ends[at]]] == role

    return trial.of_runs(edges, ends_there)
