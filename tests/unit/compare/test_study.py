# SPDX-License-Identifier: Apache-2.0
"""Reading a study directory."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import write_study

from quiclab.compare.study import METRICS, read_json, read_study, read_table
from quiclab.model.errors import DecodeError


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


@pytest.mark.parametrize("content", ["[1, 2]", "null", "1", "{", '{"paths": NaN', "[" * 5000, "\udcff"])
def test_a_resolved_spec_that_is_no_object_is_one_error(tmp_path: Path, content: str) -> None:
    """Nothing of the study can be named without it; one that is missing is told on the page."""
    (tmp_path / "resolved.json").write_text(content, errors="surrogateescape")
    with pytest.raises(DecodeError, match=r"resolved\.json cannot be read"):
        read_study(tmp_path)


@pytest.mark.parametrize(
    ("content", "member"),
    [
        ({"paths": {"a": 1}}, "paths is no list"),
        ({"workloads": ["x"]}, r"workloads\[0\] is no object"),
        ({"workloads": [{"size": 1}]}, r"workloads\[0\].name is missing"),
        ({"paths": [{"name": "p", "up": {"delay_ns": []}}]}, r"paths\[0\].up.delay_ns is no number"),
        ({"arms": [{"name": "h3", "client": 5}]}, r"arms\[0\].client is no object"),
        ({"arms_summary": {"differences": 5}}, "arms_summary.differences is no list"),
    ],
)
def test_a_resolved_spec_of_another_form_is_one_error(tmp_path: Path, content: dict[str, object], member: str) -> None:
    """The member is named: no version writes such a file, so it is damaged or someone's own."""
    (tmp_path / "resolved.json").write_text(json.dumps(content))
    with pytest.raises(DecodeError, match=f"resolved.json is not a resolved spec: {member}") as raised:
        read_study(tmp_path)
    assert "copy of the study" in raised.value.hint


@pytest.mark.parametrize("value", [5, [[[1]]], "x", {"a": {"b": 1}}, [None, 1], 10**30])
def test_each_member_of_a_resolved_spec_has_a_form(tmp_path: Path, value: object) -> None:
    """Whatever stands in every member, it is told as an error."""
    file = write_study(tmp_path) / "resolved.json"
    file.write_text(json.dumps(dict.fromkeys(json.loads(file.read_text()), value)))
    with pytest.raises(DecodeError, match="is not a resolved spec"):
        read_study(tmp_path)


def test_a_resolved_spec_may_lack_members(tmp_path: Path) -> None:
    """What an earlier version did not write, or left empty, is no error."""
    (tmp_path / "resolved.json").write_text('{"name": "x", "paths": null, "workloads": [{"name": "y"}]}')
    study = read_study(tmp_path)
    assert study.names("paths") == []
    assert study.names("workloads") == ["y"]


def test_a_probe_that_left_a_server_out_can_be_read(tmp_path: Path) -> None:
    """Its resolved.json says why, for each arm, as `quiclab probe` keeps it."""
    left_out = {"https://left.example/": {"h3": "it does not answer"}}
    target = {"name": "kept", "url": "https://kept.example/", "address": "192.0.2.1", "looks": {"h2": 5, "h3": 5}}
    told = {"probe": {"targets": [target], "left_out": left_out, "any_certificate": False}}
    (tmp_path / "resolved.json").write_text(json.dumps(told))
    probe = read_study(tmp_path).spec.probe
    assert probe is not None
    assert [each.url for each in probe.targets] == ["https://kept.example/"]
