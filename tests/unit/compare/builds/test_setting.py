# SPDX-License-Identifier: Apache-2.0
"""Where two studies were not run alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quiclab.compare.builds.setting import differences, groups
from quiclab.compare.study import METRICS, TRIALS, Study

HOST = {
    "kernel": "6.1.0", "cpu_model": "Example", "memory_bytes": 16 * 2**30, "quiclab": "0.1.0", "link_backend": "tun",
    "programs": {"client curl": "8.1", "server caddy": "2.1", "server ngtcp2": "1.0", "server ngtcp2 of /new": "1.1"},
}  # fmt: skip


def arm(name: str, server: str, **more: Any) -> dict[str, Any]:
    """An arm of a resolved spec."""
    return {
        "name": name,
        "protocol": name,
        "client": {"name": "curl", "prefix": None},
        "server": {"name": server, **more},
    }


def spec(**more: Any) -> dict[str, Any]:
    """A resolved spec."""
    return {
        "name": "s", "seed": 1, "blocks": 9, "arms": [arm("h2", "caddy"), arm("h3", "ngtcp2", prefix=None)],
        "paths": [{"name": "far", "title": "far", "down": {"delay_ns": 5, "trace": "/a/x.trace"}}],
        "workloads": [{"name": "1MB", "size_bytes": 10}],
    } | more  # fmt: skip


def study(folder: Path, resolved: dict[str, Any], host: dict[str, Any] | None = None) -> Study:
    """A study of which only the records are there."""
    folder.mkdir()
    (folder / "host.json").write_text(json.dumps(HOST if host is None else host), encoding="utf-8")
    return Study(folder, resolved, pl.DataFrame(schema=TRIALS), pl.DataFrame(schema=METRICS), ())


def told(
    tmp_path: Path, new: dict[str, Any], host: dict[str, Any] | None = None, under_test: str = "h2 h3"
) -> dict[str, bool]:
    """Key → whether it was expected, of a new study against the usual one."""
    found = differences(study(tmp_path / "old", spec()), study(tmp_path / "new", new, host), set(under_test.split()))
    return {each.key: each.expected for each in found}


def test_the_same_spec_on_the_same_machine_differs_in_nothing(tmp_path: Path) -> None:
    """Titles, blocks, seeds, the folder of a trace, unset keys and a few kilobytes of memory are no difference."""
    paths = [
        {"name": "far", "title": "other", "down": {"delay_ns": 5, "trace": "/b/x.trace", "loss": None, "profile": ""}}
    ]
    new = spec(name="t", seed=2, blocks=3, paths=paths)
    assert told(tmp_path, new, HOST | {"memory_bytes": 16 * 2**30 - 4096}) == {}


@pytest.mark.parametrize("key", ["kernel", "cpu_model", "quiclab", "link_backend"])
def test_another_machine_is_not_expected(tmp_path: Path, key: str) -> None:
    """Each fact by its name."""
    assert told(tmp_path, spec(), HOST | {key: "other"}) == {key: False}


def test_another_build_of_one_program_is_expected(tmp_path: Path) -> None:
    """The prefix in the spec, and the version that was found there."""
    new = spec(arms=[arm("h2", "caddy"), arm("h3", "ngtcp2", prefix="/new")])
    assert told(tmp_path, new) == {"programs.ngtcp2": True, "spec.arms.h3.server.prefix": True}


def test_builds_of_two_programs_are_not(tmp_path: Path) -> None:
    """Of two changes at once nobody can tell which did it, unless one of them is of no arm under test."""
    programs = HOST["programs"] | {"server caddy": "2.2", "server ngtcp2": "1.1"}  # type: ignore[operator]
    assert told(tmp_path, spec(), HOST | {"programs": programs}) == {"programs.caddy": False, "programs.ngtcp2": False}
    (tmp_path / "only").mkdir()
    only = told(tmp_path / "only", spec(), HOST | {"programs": programs}, "h3")
    assert only == {"programs.caddy": False, "programs.ngtcp2": True}


def test_what_is_accepted_is_not_the_change(tmp_path: Path) -> None:
    """With one of two programs accepted, the other is the one that was meant."""
    programs = HOST["programs"] | {"server caddy": "2.2", "server ngtcp2": "1.1"}  # type: ignore[operator]
    studies = study(tmp_path / "a", spec()), study(tmp_path / "b", spec(), HOST | {"programs": programs})
    found = differences(*studies, {"h2", "h3"}, ["programs.caddy"])
    assert {each.key: each.expected for each in found} == {"programs.caddy": False, "programs.ngtcp2": True}


def test_the_spec_key_by_key(tmp_path: Path) -> None:
    """Every leaf with its place; another program or knob is no build; what one study lacks is told elsewhere."""
    new = spec(
        paths=[{"name": "far", "down": {"delay_ns": 6, "trace": "/a/x.trace"}}, {"name": "near"}],
        arms=[arm("h2", "nginx"), arm("h3", "ngtcp2", knobs={"pacing": True})],
    )
    found = told(tmp_path, new)
    assert found == {
        "spec.paths.far.down.delay_ns": False,
        "spec.arms.h2.server.name": False,
        "spec.arms.h3.server.knobs.pacing": False,
    }


def test_the_program_of_a_command_is_its_build_and_its_options_are_not(tmp_path: Path) -> None:
    """The first word of `argv` may differ, what follows may not."""
    studies = [
        study(tmp_path / name, spec(arms=[arm("h3", "command", argv=[f"/{name}/server", option])]))
        for name, option in (("a", "-x"), ("b", "-y"))
    ]
    found = {each.key: each.expected for each in differences(studies[0], studies[1], {"h3"})}
    assert found == {"spec.arms.h3.server.program": True, "spec.arms.h3.server.argv": False}


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    """A list of many resources does not bury the other differences."""
    studies = study(tmp_path / "a", spec()), study(tmp_path / "b", spec(limits={"words": "x" * 1000}))
    (found,) = differences(*studies, {"h3"})
    assert str(found) == f"spec.limits.words: – in OLD, {'x' * 80}… in NEW"


def test_a_missing_record_is_a_difference(tmp_path: Path) -> None:
    """Nothing can be checked of a machine that nobody wrote down."""
    assert told(tmp_path, spec(), {})["host"] is False


def test_keys_by_name_and_by_group(tmp_path: Path) -> None:
    """`spec.paths` takes all below it; `spec.path` takes nothing."""
    studies = study(tmp_path / "a", spec()), study(tmp_path / "b", spec(alpha=0.01))
    (found,) = differences(*studies, {"h3"})
    assert found.is_of(["spec"])
    assert found.is_of(["spec.alpha"])
    assert not found.is_of(["spec.alph"])
    assert {"kernel", "memory", "programs", "spec"} <= groups(*studies)
