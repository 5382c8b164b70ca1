# SPDX-License-Identifier: Apache-2.0
"""What a study has twice is held against each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from quiclab.study.specs import load_study
from quiclab.study.stored_twice import clock_differences, content_asked, content_differences, usual_pages

_OFFSET_NS = 1_795_882_277_912_932_779


def _trial(**changed: Any) -> dict[str, object]:
    clock = {"realtime_minus_monotonic_start_ns": _OFFSET_NS, "realtime_minus_monotonic_end_ns": _OFFSET_NS}
    return {
        "started_utc": "2026-11-29T11:04:02.230+00:00",
        "started_monotonic_ns": 67_964_317_195_448,
        "clock": clock,
        "link": {"clock": clock},
        "time_ns": {"transfer": 10**9},
        **changed,
    }


def test_clocks_that_agree_and_one_that_does_not() -> None:
    """A clock may be slewed, and a trial without a link has nothing to compare but its own begin."""
    slewed = _OFFSET_NS + 10**6
    steady = {"realtime_minus_monotonic_start_ns": _OFFSET_NS, "realtime_minus_monotonic_end_ns": slewed}
    for fine in (_trial(), _trial(clock=steady), _trial(link={}), _trial(link=None)):
        assert clock_differences(fine) == []
    moved = dict.fromkeys(steady, _OFFSET_NS + 10**9)
    assert {each.what for each in clock_differences(_trial(clock=moved))} == {f"clock.{name}" for name in moved}
    assert {each.what for each in clock_differences(_trial(clock=None))} == {f"clock.{name}" for name in moved}
    assert [each.what for each in clock_differences(_trial(clock=moved, link={}))] == ["started_utc"]
    assert [each.what for each in clock_differences(_trial(started_monotonic_ns=5))] == ["started_utc"]


_SPEC = """
[study]
name = "s"
seed = 7
blocks = 1
[[workload]]
name = "w"
size = "{size}"
count = 2
[[path]]
name = "p"
rate = "10 Mbit/s"
delay = "10 ms"
[[arm]]
name = "h3"
protocol = "h3"
client = "curl-cffi"
server = "caddy"
[[arm]]
name = "other"
protocol = "h3"
client = "curl-cffi"
server = "quinn"
"""


def _content(folder: Path, size: str) -> dict[str, Any]:
    (spec := folder / "spec.toml").write_text(_SPEC.format(size=size))
    study = load_study(spec)
    content = content_asked(study, study.workloads[0])
    assert content is not None
    return json.loads(json.dumps(content))  # type: ignore[no-any-return]


def test_objects_have_the_content_that_their_spec_gives(tmp_path: Path) -> None:
    """Of objects that are too large to be made anew the hash is not compared, and all else is."""
    small = _content(tmp_path, "1 KB")
    assert content_differences({"expected": small}, small, "the spec") == []
    assert len(small["objects"][0]["sha256"]) == 64
    small["objects"][1]["sha256"] = "0" * 64
    found = content_differences({"expected": small}, _content(tmp_path, "1 KB"), "the spec")
    assert [each.what for each in found] == ["expected.objects[1].sha256"]
    large, told = _content(tmp_path, "1 GB"), _content(tmp_path, "1 GB")
    told["objects"][0] |= {"sha256": "0" * 64, "body_bytes": 5}
    found = content_differences({"expected": told}, large, "the spec")
    assert [each.what for each in found] == ["expected.objects[0].body_bytes"]
    assert content_differences({"expected": {}, "probe": {"server": "x"}}, large, "the spec") == []


def test_a_page_is_that_of_most_trials(tmp_path: Path) -> None:
    """A trial.json that cannot be read does not count."""
    folders = [tmp_path / str(number) for number in range(4)]
    for folder, size in zip(folders, (1, 2, 2, None), strict=True):
        folder.mkdir()
        page = {"row": {"workload": "shop"}, "expected": {"body_bytes": size, "page": {}}}
        (folder / "trial.json").write_text("{" if size is None else json.dumps(page))
    assert usual_pages(folders) == {"shop": ({"body_bytes": 2, "page": {}}, "2 of 3 trials of shop")}
