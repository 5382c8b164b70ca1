# SPDX-License-Identifier: Apache-2.0
"""Causes of repeated trials, in one line."""

from __future__ import annotations

from trial_records import record

from quiclab.cli.trials import told_causes, told_repeats
from quiclab.evidence.verify.disturbed import disturbance_problem

_COST = "disturbed: this machine added {} ms (3.1 %): {}"


def test_causes_are_counted_the_most_frequent_first() -> None:
    reasons = [_COST.format(9, "the client waited"), *(_COST.format(late, "packets were late") for late in (1, 4, 13))]
    assert told_repeats(reasons) == "4 trials repeated: 3 × packets were late, 1 × the client waited"


def test_the_cause_is_that_of_the_verdict() -> None:
    parts = {"client": {"cost_ns": 12_000_000, "most_ns": 12_000_000}}
    disturbance = {"time_ns": 100_000_000, "cost_ns": 12_000_000, "parts": parts, "by": "account"}
    reason = disturbance_problem(record({"tolerated": 0.01, "disturbance": disturbance, "failure": None}))
    assert told_repeats([str(reason)]) == "1 trial repeated: the client waited for a processor"


def test_reasons_that_differ_in_their_numbers_are_one_cause() -> None:
    reasons = [f"the server was stopped from outside for {ms} ms" for ms in ("1.0", "20.0")]
    assert told_causes(reasons) == "such as the server was stopped from outside for 20.0 ms"


def test_seldom_causes_are_counted_together() -> None:
    reasons = [name for number, name in enumerate("abcdef", 1) for _ in range(number)]
    assert told_causes(reasons) == "6 × f, 5 × e, 4 × d, 3 × c, 3 × something else"
