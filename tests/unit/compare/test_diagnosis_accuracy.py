# SPDX-License-Identifier: Apache-2.0
"""Verdicts against causes planted in the golden twin: some twenty small studies, of which each must be told right.

`benches/diagnosis` has hundreds, drawn at random, and measures how many are.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from golden_twin import built

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benches" / "diagnosis"))

from confirmed_cases import confirmation_of, names_given
from drawing import Plan
from scoring import names, open_set_answer, top, wrong_of_null
from trials import Result, ScoredVerdict, result

_PAIRS = 9
_MS = 1_000_000
_BASE: dict[str, Any] = {
    "body_bytes": 120_000,
    "rate_down": 20_000_000,
    "rate_up": 20_000_000,
    "control": "cubic",
    "initial_window": 32,
    "loss_down": 0.0,
}
_ONE: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "loss": ("h3", "state", {"loss_down": 0.08}, {"loss_down": 0.0}),
    "handshake packet lost": ("h2", "state", {"drop_down": [0]}, {"drop_down": []}),
    "competing flow": ("h2", "captures", {"other_rate": 12_000_000}, {"other_rate": None}),
    "initial window": ("h3", "state", {"initial_window": 3}, {}),
    "slow start left early": ("h2", "state", {"initial_window": 10, "threshold": 12}, {"initial_window": 32}),
    "largest window": ("h3", "state", {"largest_window": 10}, {"largest_window": None}),
    "stream credit": ("h2", "state", {"stream_window": 30_000}, {"stream_window": None}),
    "connection credit": ("h3", "own_word", {"receive_window": 30_000}, {"receive_window": None}),
    "receive window": ("h2", "state", {"receive_window": 20 * 1448}, {"receive_window": None}),
    "send buffer": ("h2", "state", {"send_buffer": 20 * 1448}, {"send_buffer": None}),
    "pausing program": ("h3", "own_word", {"pause_at": 60_000, "pause_ns": 80 * _MS}, {"pause_ns": 0}),
    "slow pacing": ("h3", "own_word", {"pace": 5_000_000}, {"pace": None}),
    "acknowledgments held": ("h2", "state", {"ack_every": 64, "ack_delay_ns": 40 * _MS}, {"ack_every": 2}),
    "long certificate": ("h3", "state", {"flight_bytes": 5_000}, {"flight_bytes": 1_200}),
}
"""Cause → transport, server's logs, keys with it and without it."""
_BY_DAY = ("loss", "competing flow", "stream credit", "acknowledgments held", "long certificate")
"""Causes of each kind: path, window, credit, acknowledgments, handshake."""
_NONE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "losses that fall differently": ("h3", "state", {"loss_down": 0.02}),
    "the same credit": ("h2", "state", {"stream_window": 40_000}),
    "reordering in both": ("h3", "own_word", {"reorder": 0.03, "reorder_ns": 4 * _MS}),
    "a server without a log": ("h3", "captures", {}),
}


def _plan(name: str, protocol: str, logs: Any, both: dict[str, Any], *planted: dict[str, Any]) -> Plan:
    causes = (name,) if planted else ()
    with_it, without = ((planted[0],), (planted[1],)) if planted else ((), ())
    blocks = tuple({"delay_ns": 20 * _MS + 200_000 * block} for block in range(_PAIRS))
    reactions = tuple((20_000 + 3_000 * block, 44_000 - 3_000 * block) for block in range(_PAIRS))
    return Plan(
        f"7/{name}", "one" if causes else "none", causes, (protocol, protocol), False, logs,
        _BASE | both, with_it, without, (), blocks, reactions,
    )  # fmt: skip


def _with(cause: str) -> Plan:
    protocol, logs, planted, without = _ONE[cause]
    as_usual = {key: _BASE[key] for key in planted if key in _BASE}
    return _plan(cause, protocol, logs, {}, planted, {**as_usual, **without})


@functools.cache
def _planted(cause: str) -> Result:
    """What is told of a planted cause; several tests ask."""
    return result(built(), _with(cause))


@pytest.mark.parametrize("cause", [*_BY_DAY, *by_night(*(cause for cause in _ONE if cause not in _BY_DAY))])
def test_a_planted_cause_is_named_and_without_its_detector_nothing_else(cause: str) -> None:
    """Its effect is clear, and the largest difference is given to a mechanism that names it."""
    found = _planted(cause)
    assert found.label == "cause"
    assert names(top(found.verdicts), cause)
    assert open_set_answer(found) in ("unknown", "several", "nothing")


@pytest.mark.parametrize("name", [*list(_NONE)[2:], *by_night(*list(_NONE)[:2])])
def test_nothing_is_named_between_arms_that_are_the_same(name: str) -> None:
    """Losses, limits and reordering stand in both."""
    protocol, logs, both = _NONE[name]
    assert wrong_of_null(result(built(), _plan(name, protocol, logs, both))) is None


@pytest.mark.parametrize(
    ("cause", "setting"), [("stream credit", "stream_window"), *by_night(("initial window", "initial_window"))]
)
def test_a_right_name_is_confirmed_by_runs_without_it(cause: str, setting: str) -> None:
    """By the checks of `explain --confirm`, in virtual time."""
    plan = _with(cause)
    ((kind, told, right),) = [each for each in names_given(plan, _planted(cause)) if each[0] == "one"]
    found = confirmation_of(built(), plan, kind, told, right=right)
    assert (found.setting, found.right, found.verdict) == (setting, True, "confirmed"), found


def test_what_has_no_time_is_not_put_to_the_test() -> None:
    """A mechanism that no trial shows predicts nothing; one without a setting in the twin cannot be taken away."""
    plan = _with("initial window")
    for name, setting in (("largest_window", "max_window"), ("application", "")):
        told = ScoredVerdict(name, "indicated", True, name, None, (), 10.0, ())
        found = confirmation_of(built(), plan, "one", told, right=False)
        assert (found.setting, found.verdict, found.blocks) == (setting, "not run", 0)
