# SPDX-License-Identifier: Apache-2.0
"""A history of releases, drawn over their dates."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import open_study
from quiclab.model.history_record import HistoryRecord, HistoryRelease
from quiclab.report.figures import Asked, spec
from quiclab.report.figures.releases import Releases
from quiclab.report.printing.picture import printed
from quiclab.store.history_file import keep_history

NAMES = ("0.40", "0.42", "0.44", "0.46")
DATES = ("2023-12-13", "2024-03-18", "2024-05-19", "2025-01-01")


def _asked(folder: Path, dates: tuple[str | None, ...] = DATES, **shape: object) -> Asked:
    """A study whose last two releases take four fifths of the time."""
    asked = {
        "workloads": ("1 MB",),
        "paths": ("clean",),
        "voids": frozenset(),
        "blocks": 20,
        "aa_blocks": 0,
        "baselines": dict.fromkeys(NAMES, NAMES[0]),
        "factors": {"0.44": 0.8, "0.46": 0.8},
    }
    write_study(folder, Shape(**(asked | shape)))  # type: ignore[arg-type]
    rule = {"version": 1, "effect_pct": 2, "at_most": 60, "blocks": {}, "looks": [{}]}
    (folder / "sequential.json").write_text(json.dumps(rule))
    releases = (HistoryRelease("0.39", "2023-01-01"), *map(HistoryRelease, NAMES, dates))
    keep_history(folder, HistoryRecord("quic-go", "server", releases))
    return Asked(open_study(folder), analyse_study(folder))


def test_a_release_that_changed_the_time_is_told_with_the_one_before(tmp_path: Path) -> None:
    """Others have their medians alone, and one without a trial has no point."""
    data = Releases().gather(_asked(tmp_path))
    assert data["release"].to_list() == list(NAMES)
    assert data["before"].to_list() == [None, None, "0.42", None]
    (step,) = data["step_pct"].drop_nulls()
    assert step == pytest.approx(-20, abs=4)
    assert all(low <= middle <= high for low, middle, high in data.select("low", "median", "high").iter_rows())


def test_points_stand_at_their_dates(tmp_path: Path) -> None:
    """A year is a unit of the axis, and a release that changed the time is in a colour of its own."""
    data = Releases().gather(_asked(tmp_path))
    drawn = spec(Releases().draw(data))
    plain, changed = drawn["data"]
    assert changed["x"] == pytest.approx([2024 + 139 / 366])
    assert plain["x"][-1] == 2025
    assert (plain["text"], changed["text"]) == (["0.40", "0.42", "0.46"], ["0.44"])
    assert drawn["layout"]["xaxis"]["ticktext"] == ["2023", "2024", "2025"]
    assert len(drawn["layout"]["annotations"]) == 1


def test_without_all_dates_releases_stand_one_after_the_other(tmp_path: Path) -> None:
    """An axis of dates would leave one of them out."""
    data = Releases().gather(_asked(tmp_path, (*DATES[:3], None)))
    drawn = spec(Releases().draw(data))
    assert drawn["layout"]["xaxis"]["ticktext"] == list(NAMES)
    assert [trace["x"] for trace in drawn["data"]] == [[0, 1, 3], [2]]


def test_a_release_that_always_fails_is_no_step(tmp_path: Path) -> None:
    """The one behind it is compared with the one before it."""
    failures = frozenset(("clean/1 MB", "0.44", block) for block in range(20))
    data = Releases().gather(_asked(tmp_path, failures=failures))
    assert data.filter(release="0.46")["before"].to_list() == ["0.42"]
    assert data.filter(release="0.44")["median"].to_list() == [None]


def test_another_study_has_none(tmp_path: Path) -> None:
    """A damaged file is none either."""
    asked = _asked(tmp_path)
    for content in ("{", None):
        file = tmp_path / "history.json"
        file.unlink() if content is None else file.write_text(content)
        data = Releases().gather(asked)
        assert data.height == 0
        assert set(data.columns) >= set(Releases.columns)


def test_its_picture_names_every_release(tmp_path: Path) -> None:
    """Nothing else on paper tells what a point is."""
    drawn = spec(Releases().draw(Releases().gather(_asked(tmp_path))))
    text = "".join(ElementTree.fromstring(printed(drawn, "svg")).itertext())
    assert all(name in text for name in NAMES)
