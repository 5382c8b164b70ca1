# SPDX-License-Identifier: Apache-2.0
"""What a program used during the transfer, as the difference of two looks."""

from __future__ import annotations

from quiclab.testbed._process_tree import Used
from quiclab.testbed.process_cost import _transfer


def test_counts_that_ended_with_their_process_are_not_told() -> None:
    """A tree that is smaller at the end has fewer switches than before, which says nothing of those in between."""
    begin = Used(cpu_ns=10, user_ns=10, system_ns=5, minor_faults=7, voluntary_switches=100, involuntary_switches=3)
    end = Used(cpu_ns=30, user_ns=20, system_ns=4, minor_faults=9, voluntary_switches=60, involuntary_switches=3)
    told = _transfer(begin, end)
    assert told == {
        "cpu_ns": 20,
        "user_ns": 10,
        "system_ns": 0,  # by a clock of 10 ms
        "minor_faults": 2,
        "major_faults": 0,
        "voluntary_switches": None,
        "involuntary_switches": 0,
    }
