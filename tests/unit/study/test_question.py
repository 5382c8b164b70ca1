# SPDX-License-Identifier: Apache-2.0
"""A question of one line as the spec of a study."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import numpy as np
import pytest
from specs import SMALL, schema_errors, study_of

from quiclab.compare.statistics import anytime_p
from quiclab.lab.endpoints import names_by_role
from quiclab.model.errors import SpecError
from quiclab.model.study import Knobs, Workload
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.read import read_study
from quiclab.study.contenders import Build, Contender, Contenders
from quiclab.study.question import LEAST_PAIRS, Question, new_folder, refuse_too_long, seconds_for_trials, usable_name

_ARMS = Contenders(
    Contender("h2", Build("client", "curl", None, "8.21.0"), Build("server", "caddy", None, "2.11.7"), {}, 12),
    Contender(
        "h3",
        Build("client", "quiche", None, "0.30.0"),
        Build("server", "quiche", None, "0.30.0"),
        {"server": Knobs(congestion_control="cubic", initial_window=12)},
    ),
)
_PATH = {"name": "40ms", "title": "50 Mbit/s, RTT 40 ms", "rate": "50 Mbit/s", "rtt": "40 ms"}


def _question(**workload: object) -> Question:
    table = {"name": "300KB", "size": "300 KB", **workload}
    return Question(Workload("300KB", size=ByteCount(300_000)), table, _PATH)


def test_its_spec_is_read_as_it_was_meant(tmp_path: Path) -> None:
    """Each part of the question, and of the arms."""
    spec = tmp_path / "spec.toml"
    spec.write_text(_question(count=20).spec(_ARMS, "mine"))
    study = read_study(spec, names_by_role())
    assert not schema_errors(tomllib.loads(spec.read_text()))
    (workload,), (path,), (h2, h3) = study.workloads, study.paths, study.arms
    assert (study.name, study.blocks, study.baseline) == ("mine", LEAST_PAIRS, "h2")
    assert workload.object_sizes == (ByteCount(300_000),) * 20
    assert (path.base_rtt, path.down.rate) == (Duration(40_000_000), Bitrate(50_000_000))
    assert (h2.tcp.congestion_control, h2.tcp.initial_window, h3.tcp) == ("cubic", 12, h2.tcp)
    assert h3.server.knobs == Knobs(congestion_control="cubic", initial_window=12)
    assert (h2.client.name, h3.client.name) == ("curl", "quiche")
    assert study.limits.disturbance == Share(0.03)


def test_its_pairs_are_the_fewest_that_can_decide() -> None:
    """The sequential test decides with them where all have one sign, and never with one pair less."""
    assert anytime_p(np.ones(LEAST_PAIRS)) <= 0.05 < anytime_p(np.ones(LEAST_PAIRS - 1))


def test_minutes_hold_the_report_too() -> None:
    """A sixth of them, at least 15 s, and never more than half."""
    assert [seconds_for_trials(minutes) for minutes in (0.2, 1, 3)] == pytest.approx([6, 45, 150])


def test_its_folder_is_new_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one of that name has a number."""
    monkeypatch.chdir(tmp_path)
    names = []
    for _ in range(3):
        folder = new_folder(_question().name)
        folder.mkdir(parents=True)
        names.append(str(folder))
    assert names == ["studies/ask-300KB-40ms", "studies/ask-300KB-40ms-2", "studies/ask-300KB-40ms-3"]


def test_a_name_is_one_that_a_spec_takes() -> None:
    """A file or folder of any name gives a usable one."""
    assert usable_name("My page (1)") == "My-page-1"
    assert usable_name("…") == "ask"
    assert len(usable_name("a" * 200)) == 64


def test_minutes_that_hold_too_few_pairs_are_refused_before_anything_runs(tmp_path: Path) -> None:
    """The refusal says how many minutes would do."""
    study = dataclasses.replace(study_of(tmp_path, SMALL), blocks=LEAST_PAIRS)
    refuse_too_long(study, 3)
    with pytest.raises(SpecError, match=f"{LEAST_PAIRS} pairs are the least"):
        refuse_too_long(study, 0.01)
