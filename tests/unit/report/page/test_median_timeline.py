# SPDX-License-Identifier: Apache-2.0
"""The cell whose median trials the first screen shows, and the reason for the choice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import Conclusion, Outcome
from quiclab.report.page.median_timeline import chosen_cell


@pytest.mark.parametrize(
    ("outcome", "conclusion", "reason"),
    [
        (Outcome.OTHER_BETTER, Conclusion.DIFFERENT, "where the difference is largest"),
        (Outcome.NOT_SIGNIFICANT, Conclusion.UNDECIDED, "where no difference was found"),
        (Outcome.NOT_JUDGED, Conclusion.NOT_JUDGED, "which could not be judged"),
    ],
)
def test_a_cell_that_is_not_judged_is_not_said_to_be_without_a_difference(
    tmp_path: Path, outcome: Outcome, conclusion: Conclusion, reason: str
) -> None:
    """Not judged and inconclusive are told apart."""
    shape = replace(Shape(), workloads=("1 MB",), paths=("loss",), blocks=8, voids=frozenset())
    analysis = analyse_study(write_study(tmp_path, shape))
    (each,) = analysis.comparisons
    found = replace(analysis, comparisons=(replace(each, outcome=outcome, conclusion=conclusion),))
    assert chosen_cell(found, ())[1] == reason
