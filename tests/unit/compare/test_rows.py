# SPDX-License-Identifier: Apache-2.0
"""The frames behind the figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.rows import details, differences, distributions
from quiclab.report.figures import BytesAcknowledged, DifferenceMap, Distribution
from quiclab.report.page.pair_selector import bytes_acknowledged

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("loss",), failures=frozenset({("loss/100 KB", "h2", 3)}))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small study for the tests that only read."""
    return write_study(tmp_path_factory.mktemp("study"), SHAPE)


@pytest.fixture(scope="module")
def analysis(written: Path) -> StudyAnalysis:
    """Its analysis."""
    return analyse_study(written)


def test_frames_hold_what_the_figures_need(written: Path, analysis: StudyAnalysis) -> None:
    """Every column that a figure declares is there, `arm` and `trial` of the curves apart, which the page joins."""
    trials = distributions(analysis)
    frames = (differences(analysis), trials, bytes_acknowledged(written, trials))
    shown = (DifferenceMap(), Distribution(), BytesAcknowledged())
    for figure, frame in zip(shown, frames, strict=True):
        assert set(figure.columns) - {"arm", "trial"} <= set(frame.columns)


def test_a_failed_trial_is_a_row_without_a_value(analysis: StudyAnalysis) -> None:
    """It keeps its place, its status and its reason."""
    failed = distributions(analysis).filter(status="failed").row(0, named=True)
    assert (failed["arm"], failed["block"], failed["value"]) == ("h2", 3, None)
    assert "time limit" in failed["reason"]


def test_details_tell_every_number(analysis: StudyAnalysis) -> None:
    """Medians, difference, interval, conclusion, pairs and all three tests."""
    told = details(analysis.comparisons[0], analysis)
    for words in (
        "h2: median",
        "1 failed",
        "within pairs, h3: ",
        "% less time",
        "its 96.1 % interval",
        "\ndifferent",
        "9 pairs, p .0",
        "Welch p –",
    ):
        assert words in told


def test_an_empty_study_has_empty_frames(tmp_path: Path) -> None:
    """No row, no error."""
    analysis = analyse_study(tmp_path)
    trials = distributions(analysis)
    assert differences(analysis).height == trials.height == 0
    assert bytes_acknowledged(tmp_path, trials).height == 0
