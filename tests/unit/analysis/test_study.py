# SPDX-License-Identifier: Apache-2.0
"""Reading a study directory."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from synthetic_study import write_study

from quiclab.analysis.study import METRICS, read_json, read_study, read_table


def test_axes_keep_the_order_of_the_spec(tmp_path: Path) -> None:
    """Names come as the spec lists them, unknown ones last; titles fall back to names."""
    study = read_study(write_study(tmp_path))
    assert study.order("paths", {"far", "clean", "other"}) == ["clean", "far", "other"]
    assert study.titles("paths")["loss"] == "1 % loss"
    assert study.titles("workloads")["5 MB"] == "5 MB"
    assert study.missing == ()


def test_a_table_without_a_column_is_read_and_told(tmp_path: Path) -> None:
    """The absent column is null and named; a column of another type is cast."""
    path = tmp_path / "metrics.parquet"
    pl.DataFrame({"trial_id": ["a"], "name": ["ttlb_ms"], "value": [3]}).write_parquet(path)
    missing: list[str] = []
    frame = read_table(path, METRICS, missing)
    assert frame.schema["value"] == pl.Float64
    assert frame["note"].to_list() == [None]
    assert missing == ["metrics.parquet has no column unit, better, note."]


@pytest.mark.parametrize(
    ("content", "says"), [("[1]", "holds no JSON object"), ("{", "cannot be read"), (None, "is missing")]
)
def test_unusable_json_is_told(tmp_path: Path, content: str | None, says: str) -> None:
    """Whatever is wrong with it, the result is an empty object and one sentence."""
    path = tmp_path / "host.json"
    if content is not None:
        path.write_text(content)
    missing: list[str] = []
    assert read_json(path, missing) == {}
    assert says in missing[0]


def test_a_resolved_spec_of_another_shape_does_no_harm(tmp_path: Path) -> None:
    """Entries without a name and axes that are no lists are ignored."""
    (tmp_path / "resolved.json").write_text('{"paths": {"a": 1}, "workloads": [{"size": 1}, "x", {"name": "y"}]}')
    study = read_study(tmp_path)
    assert study.items("paths") == []
    assert [item["name"] for item in study.items("workloads")] == ["y"]
