# SPDX-License-Identifier: Apache-2.0
"""Competitions as specs say them, and what is wrong with them."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, study_of

from quiclab.lab.runner.flows import other_flows
from quiclab.model.study import Background, Competition, Competitor
from quiclab.model.units import Bitrate, Duration
from quiclab.plan.duration import OVERHEAD, expected_duration
from quiclab.plan.make import make_plan
from quiclab.spec.resolved import resolved_json

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
        ("", "20 MB", "it is empty"),
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
        ('{name = "curl-cffi", cpu_by = "emulator"}', "has a slow processor"),
        ('{name = "quinn", migration = "active", migrate_at = "1 KB"}', "migrates"),
    ],
)
def test_what_only_the_measured_flow_can_have(tmp_path: pathlib.Path, client: str, why: str) -> None:
    """An arm with it may be measured in a competition, but nobody can compete by it."""
    text = _text('competitors = [{arm = "h3"}]')
    before, _, arm = text.rpartition('client = "curl-cffi"')
    assert f'"h3" {why}, which is for measured flows only' in only_problem(tmp_path, f"{before}client = {client}{arm}")


_ARM = """
[[arm]]
name = "browser"
only_for = "competition"
protocol = "h3"
client = "chromium"
server = "caddy"
"""
_WORK = """
[[workload]]
name = "film"
only_for = "competition"
kind = "video"
video = {qualities = ["432p"], length = "60 s"}

[[path]]"""


def _mixed(competitors: str, more: tuple[str, str] = ("", "")) -> str:
    text = _text(f'duration = "10 s", competitors = [{competitors}]').replace("[[path]]", _WORK, 1) + _ARM
    return text.replace(*more) if more[0] else text


def test_what_only_competes_makes_no_cells(tmp_path: pathlib.Path) -> None:
    """Neither is it in the plan, nor must the other arms be able to do its work."""
    study = study_of(tmp_path, _mixed('{arm = "browser", workload = "film"}'))
    rows = make_plan(study)
    assert {row.arm_name for row in rows} == {"h2", "h3"}
    assert {row.workload for row in rows} == {"100KB"}
    runs = {arm.name: [workload.name for workload in workloads] for arm, workloads in study.runs()}
    assert runs == {"h2": ["100KB"], "h3": ["100KB"], "browser": ["film"]}
    flow = other_flows(study, rows[0])[0]
    assert flow.workload is not None
    assert flow.workload.video is not None
    assert flow.workload.video.watch == study.limits.trial


@pytest.mark.parametrize(
    ("competitors", "more", "told"),
    [
        ('{arm = "h2"}, {arm = "h2", workload = "film"}', ("", ""), "no competitor is of this kind"),
        ('{arm = "browser"}, {arm = "h2", workload = "film"}', ('"60 s"}', '"8 s"}'), "ends after 8 s"),
        (
            '{arm = "browser", workload = "film"}',
            ("blocks = 4", 'blocks = 4\nbaseline = "browser"'),
            "measured arms: h2",
        ),
    ],
)
def test_what_cannot_compete(tmp_path: pathlib.Path, competitors: str, more: tuple[str, str], told: str) -> None:
    """A kind that nobody names, a video that ends too early, a baseline that is not measured."""
    assert told in only_problem(tmp_path, _mixed(competitors, more))


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ('kind = "page"\npage = {}', "a page ends when it is loaded"),
        (
            'kind = "video"\nvideo = {qualities = ["360p"], watch = "9 s"}',
            'a video ends when it has been watched ("watch")',
        ),
    ],
)
def test_a_browser_ends_a_competition_itself(tmp_path: pathlib.Path, kind: str, told: str) -> None:
    """What it tells of a page or a video it tells at its end."""
    text = changed((SIZE, f'{kind}\ncompetition = {{duration = "10 s", competitors = [{{arm = "h2"}}]}}'))
    assert told in only_problem(tmp_path, text)


def test_a_page_of_several_hosts_does_not_compete(tmp_path: pathlib.Path) -> None:
    """A flow is known by its server."""
    page = 'kind = "page"\npage = {resources = [{type = "image", size = "29 KB", third_party = "100 %"}]}'
    text = changed((SIZE, page + '\ncompetition = {competitors = [{arm = "h2"}]}'))
    assert "this page has several" in only_problem(tmp_path, text)
