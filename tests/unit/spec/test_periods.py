# SPDX-License-Identifier: Apache-2.0
"""A schedule that repeats itself, as the spec writes it and as the emulator reads it."""

from __future__ import annotations

import pathlib

import pytest
from specs import only_problem, study_of, with_path

from quiclab.model.study import Block, Change, Direction
from quiclab.model.units import Duration, Share
from quiclab.plan.blocked import blocked
from quiclab.spec.counterfactual import Change as OneSetting
from quiclab.spec.counterfactual import _changed_link
from quiclab.spec.link import link_config
from quiclab.spec.outage import endless_outage


def test_a_schedule_has_its_period(tmp_path: pathlib.Path) -> None:
    """The period reaches the link's configuration, where one is given."""
    lines = 'schedule = [{at = "0 s", delay = "30 ms"}, {at = "7 s", delay = "45 ms"}]\n[path.up]\nrepeat = "15 s"'
    path = study_of(tmp_path, with_path(lines)).paths[0]
    assert (path.up.repeat, path.down.repeat) == (Duration(15 * 10**9), None)
    up, down = (link_config(path, 1)[side] for side in ("up", "down"))
    assert isinstance(up, dict)
    assert isinstance(down, dict)
    assert up["repeat_ns"] == 15 * 10**9
    assert "repeat_ns" not in down


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('repeat = "15 s"', "nothing would repeat itself"),
        ('repeat = "5 s"\nschedule = [{at = "5 s", delay = "1 ms"}]', "a change at 5 s is not before the end"),
        ('repeat = "1 ms"\nschedule = [{at = "0 s", delay = "1 ms"}]', "a period is from 10 ms to"),
        (
            'block = {protocol = "udp", after = "1 s"}\nrepeat = "5 s"\nschedule = [{at = "2 s", block = "none"}]',
            "write a change in its place",
        ),
    ],
)
def test_a_period_that_cannot_be_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """The problem says what to write."""
    assert words in only_problem(tmp_path, with_path(lines))


def test_an_outage_ends_with_its_period() -> None:
    """The first settings come again."""
    ends = Direction(schedule=(Change(Duration(5), corrupt=Share(1.0)),))
    assert endless_outage(ends) == Duration(5)
    assert endless_outage(Direction(schedule=ends.schedule, repeat=Duration(9))) is None
    always = Direction(corrupt=Share(1.0), schedule=(Change(Duration(5), delay=Duration(1)),), repeat=Duration(9))
    assert endless_outage(always) == Duration(0)


def test_a_block_ends_with_its_period(tmp_path: pathlib.Path) -> None:
    """The plan's estimate counts the time until then."""
    lines = 'schedule = [{at = "2 s", block = {protocol = "tcp"}}]\nrepeat = "5 s"'
    study = study_of(tmp_path, with_path(lines))
    span = blocked(study.arms[0], study.paths[0])
    assert span is not None
    assert (span.start, span.end) == (Duration(2 * 10**9), Duration(5 * 10**9))
    assert isinstance(study.paths[0].up.schedule[0].block, Block)


def test_a_path_without_its_schedule_has_no_period() -> None:
    """A counterfactual path that loses its last change loses the period too."""
    link = {"schedule": [{"at": "1 s", "loss": "1 %"}], "repeat": "5 s", "delay": "1 ms"}
    assert _changed_link(link, OneSetting("path", "loss", "none")) == {"delay": "1 ms"}
