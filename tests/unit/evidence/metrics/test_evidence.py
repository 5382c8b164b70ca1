# SPDX-License-Identifier: Apache-2.0
"""What the tables of a trial can be asked for beside their rows."""

from __future__ import annotations

import polars as pl
from trial_records import record

from quiclab.evidence.metrics.evidence import Evidence


def test_what_nobody_would_know_is_told_from_what_did_not_happen() -> None:
    """A whole table, one of its columns, and neither: by the files of the end that is asked about."""
    sources = pl.DataFrame({"source": ["c.sqlog", "s.sqlog"], "vantage": ["client", "server"]})
    absent = pl.DataFrame(
        {
            "source": ["c.sqlog", "s.sqlog"],
            "table": ["timers", "losses"],
            "column": [None, "rule"],
            "reason": ["logs no timers", "logs no rule"],
        },
        schema_overrides={"column": pl.String},
    )
    evidence = Evidence({"sources": sources, "absent": absent}, record({}))
    assert evidence.cannot_tell("timers", "client") == "logs no timers"
    assert evidence.cannot_tell("timers", "client", "delta_ms") == "logs no timers"
    assert evidence.cannot_tell("timers", "server") is None
    assert evidence.cannot_tell("losses", "server") is None
    assert evidence.cannot_tell("losses", "server", "rule") == "logs no rule"
