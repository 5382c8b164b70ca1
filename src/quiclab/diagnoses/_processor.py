# SPDX-License-Identifier: Apache-2.0
"""Waits for a processor, told apart by the program that got none."""

from __future__ import annotations

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

    def ends_there(first: int, after: int) -> bool:
        named = (of_what[what] for what in reversed(whats[first:after].to_list()) if what in of_what)
        return next(named, None) == role

    return trial.of_runs(trial.why(Why.PROCESSOR), ends_there)
