# SPDX-License-Identifier: Apache-2.0
"""Trials that are kept of a cell: those that its claims, and the correction of their p, rest on."""

from __future__ import annotations

import pathlib
from dataclasses import replace

from headlines_trials import COLUMNS, trials_of
from synthetic_paper import CLEAR, UNTESTABLE, direction, number, write_paper
from synthetic_study import write_study


def test_every_trial_of_a_claim_has_a_row(tmp_path: pathlib.Path) -> None:
    """Trials of the map's metric in all of its cells, and of other metrics in the cells of their claims alone."""
    claims = (
        direction("lower", id="a"),
        number("60 ms", 50.0, 70.0, "ms", id="b", metric="ttfb_ms", arms=["h3"]),
        direction("lower", id="c", paths=["nowhere"]),
        UNTESTABLE,
    )
    found = trials_of(write_paper(write_study(tmp_path, CLEAR), *claims))
    assert found is not None
    assert found.columns == list(COLUMNS)
    assert found.filter(metric="ttlb_ms").height == 2 * 2 * 2 * 20
    other = found.filter(metric="ttfb_ms")
    assert set(other.select("workload", "path", "arm", "better").rows()) == {("100 KB", "loss", "h3", "lower")}
    assert other["block"].to_list() == list(range(20))
    assert found.height == 160 + 20
    assert set(found["ended"]) == {"verified"}
    assert found["least"].null_count() == found["most"].null_count() == found.height


def test_how_a_trial_ended_is_told_where_it_has_no_value(tmp_path: pathlib.Path) -> None:
    """A failed one ranks worst, a void one is not there."""
    shape = replace(
        CLEAR, failures=frozenset({("loss/100 KB", "h2", 3)}), lost=frozenset({("loss/100 KB", "h3", 5)}), blocks=9
    )
    found = trials_of(write_paper(write_study(tmp_path, shape), direction("lower")))
    assert found is not None
    without = found.filter(found["value"].is_null()).select("path", "workload", "arm", "block", "ended")
    assert set(without.rows()) == {("loss", "100 KB", "h2", 3, "failed"), ("loss", "100 KB", "h3", 5, "void")}


def test_what_the_machine_may_have_added_is_kept(tmp_path: pathlib.Path) -> None:
    """A time has the least that it may be; the value is the most."""
    study = write_study(tmp_path, replace(CLEAR, disturbed={"h2": 1.0}, blocks=9))
    found = trials_of(write_paper(study, direction("lower")))
    assert found is not None
    h2 = found.filter(arm="h2")
    assert ((h2["least"] / h2["value"] - 0.99).abs() < 1e-9).all()
    assert h2["most"].null_count() == h2.height
    assert found.filter(arm="h3")["least"].null_count() == 4 * 9


def test_values_are_whole_and_no_longer_than_that(tmp_path: pathlib.Path) -> None:
    """Values are read back as they were measured."""
    found = trials_of(write_paper(write_study(tmp_path / "study", CLEAR), direction("lower")))
    assert found is not None
    found.write_csv(tmp_path / "trials.csv")
    lines = (tmp_path / "trials.csv").read_text().splitlines()[1:]
    values = [line.split(",")[7] for line in lines]
    assert [float(each) for each in values] == found["value"].to_list()
    assert all(repr(float(each)) == each for each in values)


def test_a_study_without_a_paper_has_none(tmp_path: pathlib.Path) -> None:
    """There is no claim that a trial could be kept for."""
    assert trials_of(write_study(tmp_path, CLEAR)) is None
