# SPDX-License-Identifier: Apache-2.0
"""Paths by name: each is whole and says where it comes from; every own key overrides."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, study_of

from quiclab.spec.model import Path
from quiclab.spec.profiles import profiles
from quiclab.units import Bitrate, Duration, Share

OWN = 'name = "plain"\nrate = "10 Mbit/s"\ndelay = "10 ms"\n'


def path_of(folder: pathlib.Path, lines: str) -> Path:
    """The small spec's path with these lines and no others but its name."""
    return study_of(folder, changed((OWN, f'name = "plain"\n{lines}\n'))).paths[0]


@pytest.mark.parametrize("name", profiles())
def test_every_profile_is_a_path_with_a_source(tmp_path: pathlib.Path, name: str) -> None:
    """With a rate and a delay in each direction, a sentence, and an address to read it at."""
    path = path_of(tmp_path, f'profile = "{name}"')
    assert path.profile == name
    assert all(direction.rate and direction.delay.ns for direction in (path.up, path.down))
    profile = profiles()[name]
    assert path.title == profile.title
    assert all((profile.kind, profile.source, profile.chosen))
    assert profile.url.startswith("https://")


def test_the_names_that_users_expect_are_there() -> None:
    """And the four measured cellular ones."""
    expected = {"dsl", "cable", "lte", "3g", "5g", "wifi", "satellite"}
    assert expected | {"verizon-3g", "verizon-lte", "sprint-3g", "sprint-lte"} <= set(profiles())


def test_what_holds_for_both_directions_overrides_one(tmp_path: pathlib.Path) -> None:
    """The profile's own rates of up and down give way; its delay stays."""
    path = path_of(tmp_path, 'profile = "dsl"\nrate = "3 Mbit/s"\nloss = "1 %"\ntitle = "mine"')
    assert path.up.rate == path.down.rate == Bitrate(3_000_000)
    assert path.up.delay == Duration(25_000_000)
    assert path.title == "mine"


def test_one_direction_overrides_one(tmp_path: pathlib.Path) -> None:
    """The other keeps what the profile says."""
    path = path_of(tmp_path, 'profile = "satellite-lossy"\n[path.up]\nloss = "5 %"\ndelay = "1 ms"')
    assert path.up.loss is not None
    assert getattr(path.up.loss, "probability", None) == Share(0.05)
    assert getattr(path.down.loss, "probability", None) == Share(0.01)
    assert (path.up.rate, path.up.delay) == (Bitrate(2_000_000), Duration(1_000_000))
    assert path.down.delay == Duration(300_000_000)


def test_a_trace_takes_the_place_of_the_profiles_rate(tmp_path: pathlib.Path) -> None:
    """In the direction that names it."""
    (tmp_path / "lte.trace").write_text("1\n")
    path = path_of(tmp_path, 'profile = "lte"\n[path.down]\ntrace = "lte.trace"')
    assert path.down.rate is None
    assert path.down.trace == str(tmp_path / "lte.trace")
    assert path.up.rate == Bitrate(7_600_000)


def test_an_unknown_name_is_refused_with_the_closest(tmp_path: pathlib.Path) -> None:
    """As everywhere."""
    text = changed((OWN, 'name = "plain"\nprofile = "satelite"\n'))
    assert "satellite" in only_problem(tmp_path, text)
