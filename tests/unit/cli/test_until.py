# SPDX-License-Identifier: Apache-2.0
"""What `--until` and `--at-most` ask for, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from specs import SMALL, study_of

from quiclab.cli.until import read_goal
from quiclab.model.errors import SpecError
from quiclab.study.sequential_run import Goal


@pytest.mark.parametrize(
    ("until", "at_most"), [("0%", None), ("much", None), ("150%", None), ("5", None), (None, 9), ("5%", 0)]
)
def test_bad_goals(until: str | None, at_most: int | None, tmp_path: Path) -> None:
    """Each is refused before anything runs."""
    with pytest.raises(SpecError):
        read_goal(until, at_most, study_of(tmp_path, SMALL))


def test_a_goal(tmp_path: Path) -> None:
    """Per cent, and said so; five times the spec's blocks at most unless said."""
    study = study_of(tmp_path, SMALL)
    assert read_goal("2.5 %", 400, study) == Goal(2.5, 400)
    assert read_goal("5%", None, study) == Goal(5.0, 5 * study.blocks)
    assert read_goal(None, None, study) is None
