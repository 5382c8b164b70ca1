# SPDX-License-Identifier: Apache-2.0
"""`rtt` of a path or link: the delay of both directions in one number."""

from __future__ import annotations

import pathlib

import pytest
from specs import SMALL, changed, only_problem, problems_of, study_of

from quiclab.model.units import Duration
from quiclab.spec.resolved import resolved_json


def test_it_is_half_of_it_each_way(tmp_path: pathlib.Path) -> None:
    """And the resolved spec is the same as with the delay: such studies are of one kind."""
    by_delay = study_of(tmp_path, SMALL)
    by_rtt = study_of(tmp_path, changed(('delay = "10 ms"', 'rtt = "20ms"')))
    assert by_rtt.paths[0].base_rtt == Duration(20_000_000)
    assert resolved_json(by_rtt) == resolved_json(by_delay)


def test_it_overrides_a_profile_in_both_directions(tmp_path: pathlib.Path) -> None:
    """Whatever those of the profile are."""
    path = study_of(tmp_path, changed(('delay = "10 ms"', 'profile = "3g"\nrtt = "31 ms"'))).paths[0]
    assert (path.up.delay, path.down.delay) == (Duration(15_500_000), Duration(15_500_000))


def test_links_in_a_row_have_one_each(tmp_path: pathlib.Path) -> None:
    """The path has their sum, and no key of its own for it."""
    links = '\n[[path.link]]\nname = "a"\nrtt = "4 ms"\n[[path.link]]\nname = "b"\nrtt = "30 ms"\n'
    plain = changed(('rate = "10 Mbit/s"\n', ""), ('delay = "10 ms"\n', links))
    assert study_of(tmp_path, plain).paths[0].base_rtt == Duration(34_000_000)
    beside = plain.replace('name = "plain"\n', 'name = "plain"\nrtt = "3 ms"\n')
    assert "belongs to each of those links" in only_problem(tmp_path, beside)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('rtt = "20 ms"\ndelay = "10 ms"', "rtt: it cannot stand beside"),
        ('rtt = "20 ms"\nup = {delay = "10 ms"}', "beside"),
        ('rtt = "20"', "not a duration"),
        ('rtt = "3 min"', "out of range"),
        ('rtt = "3 ns"', "even number"),
        ("rtt = 20", "a round-trip time"),
        ('round_trip = "20 ms"', "write rtt"),
    ],
)
def test_what_it_cannot_be(tmp_path: pathlib.Path, text: str, told: str) -> None:
    """One sentence, at the key."""
    (problem,) = problems_of(tmp_path, changed(('delay = "10 ms"', text)))
    assert told in problem
    assert "path[plain]" in problem


def test_a_direction_has_a_delay(tmp_path: pathlib.Path) -> None:
    """There is no round trip in one of them."""
    assert "write delay" in only_problem(tmp_path, changed(('delay = "10 ms"', 'up = {rtt = "20 ms"}')))
