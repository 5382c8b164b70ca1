# SPDX-License-Identifier: Apache-2.0
"""A path that does not let a transport in: from when on, and what the plan makes of it."""

from __future__ import annotations

import pathlib

from specs import study_of, with_path

from quiclab.model.study import Study
from quiclab.model.units import Duration
from quiclab.plan.blocked import Blocked, block_warnings, blocked
from quiclab.plan.duration import OVERHEAD, expected_duration
from quiclab.plan.make import make_plan

UDP = '{protocol = "udp"}'


def spans(study: Study) -> list[Blocked | None]:
    """Of the arms h2 and h3."""
    return [blocked(arm, study.paths[0]) for arm in study.arms]


def test_only_the_transport_that_is_named_is_blocked(tmp_path: pathlib.Path) -> None:
    """In one direction is enough: no answer comes."""
    study = study_of(tmp_path, with_path(f"[path.down]\nblock = {UDP}"))
    assert spans(study) == [None, Blocked(Duration(0), None)]
    (warning,) = block_warnings(study.arms, study.paths[0])
    assert "blocks udp: trials of h3 will fail at limits.trial" in warning


def test_a_block_may_begin_and_end(tmp_path: pathlib.Path) -> None:
    """Then trials do not fail for certain, so nothing is said."""
    lines = f'schedule = [{{at = "1 s", block = {UDP}}}, {{at = "3 s", block = "none"}}]'
    study = study_of(tmp_path, with_path(lines))
    assert spans(study) == [None, Blocked(Duration(10**9), Duration(3 * 10**9))]
    assert block_warnings(study.arms, study.paths[0]) == []


def test_a_blocked_trial_takes_all_the_time_there_is(tmp_path: pathlib.Path) -> None:
    """The others take what they took."""
    plain, no_udp = (study_of(tmp_path, with_path(lines)) for lines in ("", f"block = {UDP}"))
    for study, arm, expected in ((no_udp, "h3", no_udp.limits.trial.s), (no_udp, "h2", None)):
        row = next(row for row in make_plan(study) if row.arm == arm)
        if expected is None:
            expected = expected_duration(row, plain).s - OVERHEAD.s
        assert expected_duration(row, study).s == expected + OVERHEAD.s
