# SPDX-License-Identifier: Apache-2.0
"""What is told of a study whose trials were run."""

from __future__ import annotations

from quiclab.study.trials import Outcome


def test_an_outcome_counts_only_where_all_do() -> None:
    """One trial that is not verified and whole is enough."""
    assert Outcome(0, 0, 0, {}).all_count
    assert not any(
        each.all_count for each in (Outcome(1, 0, 0, {}), Outcome(0, 0, 1, {}), Outcome(0, 0, 0, {"t": "x"}))
    )
