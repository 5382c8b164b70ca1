# SPDX-License-Identifier: Apache-2.0
"""Competitions as specs say them, and what is wrong with them."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, study_of

from quiclab.plan.duration import OVERHEAD, expected_duration
from quiclab.plan.make import make_plan
from quiclab.spec.model import Background, Competition, Competitor
from quiclab.spec.resolved import resolved_json
from quiclab.units import Bitrate, Duration

SIZE = 'size = "100 KB"'


def _text(competition: str, size: str = "20 MB") -> str:
    return changed((SIZE, f'size = "{size}"\ncompetition = {{{competition}}}'))


def test_a_competition_with_all_that_it_can_have(tmp_path: pathlib.Path) -> None:
    """Competitors by arm, background traffic, and the time after which all is over."""
    text = _text(
        'duration = "10 s", start = "1 s", start_spread = "50 ms", '
        'competitors = [{arm = "h2", count = 2, start = "2 s"}, {arm = "h3", workload = "100KB"}], '
        'background = [{kind = "udp", rate = "2 Mbit/s"}]'
    )
    competition = study_of(tmp_path, text).workloads[0].competition
    assert competition == Competition(
        duration=Duration(10 * 10**9),
        start=Duration(10**9),
        start_spread=Duration(50_000_000),
        competitors=(Competitor("h2", None, 2, Duration(2 * 10**9)), Competitor("h3", "100KB")),
        background=(Background("udp", Bitrate(2_000_000)),),
    )
    assert competition.flows == 4


def test_its_trials_last_as_long_as_it_does(tmp_path: pathlib.Path) -> None:
    """However large the object is; and the captures stay whole, as they hold what the link carries, not the object."""
    study = study_of(tmp_path, _text('duration = "10 s"', size="5 GB"))
    assert expected_duration(make_plan(study)[0], study) == Duration(10 * 10**9) + OVERHEAD
    assert study.captures == "whole"
    assert resolved_json(study)["workloads"][0]["competition"]["duration_ns"] == 10 * 10**9


@pytest.mark.parametrize(
    ("competition", "size", "told"),
    [
        ("", "20 MB", "it says nothing"),
        ('competitors = [{arm = "h4"}]', "20 MB", '"h4" is not one of the arms; valid arms: h2, h3'),
        ('competitors = [{arm = "h2", workload = "10KB"}]', "20 MB", '"10KB" is not one of the workloads'),
        ('competitors = [{arm = "h2", count = 51}]', "20 MB", "51 is out of range"),
        ('competitors = [{arm = "h2", count = 26}, {arm = "h3", count = 26}]', "20 MB", "there are 52 flows"),
        ('background = [{kind = "udp"}]', "20 MB", '"rate" is missing'),
        ('background = [{kind = "udp", rate = "1 Mbit/s", on = "1 s"}]', "20 MB", 'it is for on_off, not for "udp"'),
        ('duration = "90 s"', "1 GB", "90 s does not fit in limits.trial, 60 s"),
        ('duration = "10 s"', "12 MB", 'the path "plain" carries 12.5 MB in 10 s, and "100KB" has 12 MB'),
        ('duration = "5 s", start = "5 s"', "20 MB", "a flow starts at 5 s, and all end at 5 s"),
    ],
)
def test_what_cannot_be(tmp_path: pathlib.Path, competition: str, size: str, told: str) -> None:
    """Each is told with what to do."""
    assert told in only_problem(tmp_path, _text(competition, size))


@pytest.mark.parametrize(
    ("client", "why"),
    [
        ('{name = "quic-go", session = "resumed"}', "resumes a session"),
        ('{name = "curl-cffi", cpu = "50 %"}', "has a slow processor"),
        ('{name = "quinn", migration = "active", migrate_at = "1 KB"}', "migrates"),
    ],
)
def test_what_only_the_measured_flow_can_have(tmp_path: pathlib.Path, client: str, why: str) -> None:
    """An arm with it may be measured in a competition, but nobody can compete by it."""
    text = _text('competitors = [{arm = "h3"}]')
    before, _, arm = text.rpartition('client = "curl-cffi"')
    assert f'"h3" {why}, which is for measured flows only' in only_problem(tmp_path, f"{before}client = {client}{arm}")
