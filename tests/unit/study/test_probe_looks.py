# SPDX-License-Identifier: Apache-2.0
"""What the first looks of a probe say."""

from __future__ import annotations

import pytest

from quiclab.model.errors import TrialError
from quiclab.spec.target import read_targets
from quiclab.study.probe_looks import UrlAnswer, comparable

(TARGET,), _ = read_targets(["https://www.example.com/"])
BOTH = UrlAnswer(TARGET, {"h2": 1000, "h3": 1000}, {})
ONE = UrlAnswer(TARGET, {"h2": 1000}, {"h3": "nothing came back"})
NONE = UrlAnswer(TARGET, {}, {"h2": "nothing came back", "h3": "nothing came back"})


def test_those_that_answer_over_both_protocols_are_compared() -> None:
    """The others are left out."""
    assert comparable([BOTH, ONE, NONE]) == (BOTH,)


@pytest.mark.parametrize(("looks", "hint"), [([ONE, NONE], "cannot be compared"), ([NONE], "firewall")])
def test_nothing_to_compare(looks: list[UrlAnswer], hint: str) -> None:
    """Where nobody answers at all, this machine may be why."""
    with pytest.raises(TrialError, match="nothing to compare") as told:
        comparable(looks)
    assert hint in told.value.hint
    assert len(told.value.problems) == len(looks)


def test_a_look_is_told_in_a_sentence() -> None:
    """With what each protocol answered."""
    assert BOTH.sentence() == "https://www.example.com/: both answer, with 1000 bytes"
    assert "its HTTP/2 answers" in ONE.sentence()
    assert UrlAnswer(TARGET, {"h2": 9, "h3": 8}, {}).sentence().endswith("with 9 bytes over HTTP/2 and 8 over HTTP/3")
