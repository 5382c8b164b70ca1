# SPDX-License-Identifier: Apache-2.0
"""Plans of histories: which releases, in which order, and the spec of their study."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from specs import study_of

from quiclab.model.errors import SpecError
from quiclab.project import releases_of
from quiclab.study.contenders import Build
from quiclab.study.history.history_plan import HistoryPlan, chosen_releases, role_of, study_name
from quiclab.study.question import Question

CURRENT = Build("server", "quic-go", None, "0.65.0 (Go 1.26.8)")
QUESTION = Question(
    None,  # type: ignore[arg-type]
    {"name": "1MB", "size": "1 MB"},
    {"name": "40ms", "title": "50 Mbit/s, RTT 40 ms", "rate": "50 Mbit/s", "rtt": "40 ms"},
)


def _plan(ends: tuple[str | None, str | None] = (None, None)) -> HistoryPlan:
    releases = chosen_releases("quic-go", CURRENT, ends)
    return HistoryPlan("quic-go", "server", "h3", QUESTION, releases, "curl-cffi", "curl-cffi 0.16.3")


def test_all_releases_are_in_the_order_of_their_versions_with_the_current_one_last() -> None:
    """Each has its date; 0.9 comes before 0.10 whatever their letters say."""
    plan = _plan()
    assert set(plan.names) == {*releases_of("quic-go"), "0.65.0"}
    assert plan.names[-1] == "0.65.0"
    assert list(plan.names) == sorted(plan.names, key=lambda name: [int(part) for part in name.split(".")])
    dates = [each.date for each in plan.releases]
    assert None not in dates
    assert dates == sorted(dates, key=str)


@pytest.mark.parametrize(
    ("ends", "first", "last"),
    [
        ((None, None), "0.40.1", "0.65.0"),
        (("0.48.2", None), "0.48.2", "0.65.0"),
        (("0.48", "latest"), "0.48.2", "0.65.0"),
        ((None, "0.48"), "0.40.1", "0.48.2"),
    ],
)
def test_ends_are_releases_or_the_beginnings_of_their_versions(
    ends: tuple[str | None, str | None], first: str, last: str
) -> None:
    """Both are measured too."""
    names = _plan(ends).names
    assert (names[0], names[-1]) == (first, last)


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (("0.99", None), "there is no release 0.99"),
        (("latest", None), "these are not two releases"),
        (("0.48.2", "0.40.1"), "these are not two releases"),
        (("0.4", None), "there is no release 0.4"),
    ],
)
def test_ends_that_are_not_two_releases_are_refused(ends: tuple[str | None, str | None], told: str) -> None:
    """The hint lists those that there are."""
    with pytest.raises(SpecError, match=told) as raised:
        _plan(ends)
    assert "0.40.1, 0.42.0" in raised.value.hint


def test_a_program_without_releases_is_refused_and_a_role_that_it_does_not_have() -> None:
    """The nearest name is told."""
    assert role_of("quic-go", None) == "server"
    assert role_of("curl-cffi", None) == "client"
    with pytest.raises(SpecError, match="no releases of 'quicgo'") as raised:
        role_of("quicgo", None)
    assert "quic-go" in raised.value.hint
    with pytest.raises(SpecError, match="curl-cffi is no server"):
        role_of("curl-cffi", "server")


def test_its_study_has_an_arm_for_each_release_against_the_oldest(tmp_path: Path) -> None:
    """Nothing but the release differs: no knob is set, and the other end is one program."""
    plan = _plan(("0.48", None))
    text = plan.spec("history-quic-go-1MB-40ms", "3 %", "5 %")
    document = tomllib.loads(text)
    assert document["arm"][0]["server"] == {"name": "quic-go", "version": "0.48.2"}
    assert {arm["client"] for arm in document["arm"]} == {"curl-cffi"}
    study = study_of(tmp_path, text)
    assert [arm.name for arm in study.measured_arms] == list(plan.names)
    assert study.baseline == "0.48.2"
    assert (study.aa.blocks, study.matters.pct) == (0, 5)
    assert plan.cell == "1MB/40ms"
    assert study_name("quic-go", QUESTION) == "history-quic-go-1MB-40ms"


def test_over_tcp_all_arms_have_one_congestion_control(tmp_path: Path) -> None:
    """The kernel's is pinned, as in every study."""
    plan = HistoryPlan(
        "caddy", "server", "h2", QUESTION, _plan(("0.59", None)).releases, "curl-cffi", "curl-cffi 0.16.3"
    )
    study = study_of(tmp_path, plan.spec("tcp", "3 %"))
    assert {arm.tcp.congestion_control for arm in study.measured_arms} == {"cubic"}


def test_what_is_kept_of_it_says_which_releases_could_not_be_made() -> None:
    """The figure reads it, and so does a run that goes on."""
    record = _plan().record({"0.42.0": "it cannot be installed"})
    assert record.releases[0].arm == "0.40.1"
    assert record.releases[0].date == "2023-12-13"
    assert record.unusable == {"0.42.0": "it cannot be installed"}
