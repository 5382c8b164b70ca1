# SPDX-License-Identifier: Apache-2.0
"""Paths by name: each is whole and says where it comes from; every own key overrides."""

from __future__ import annotations

import pathlib
import re

import pytest
from specs import changed, only_problem, study_of

from quiclab.model.study import Direction, Jitter, Path
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.jitter import realised
from quiclab.spec.profiles import profiles

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


PING = ByteCount(84)


def ping(direction: Direction) -> tuple[float, float]:
    """Mean in ms, and variance, of the time that a ping takes in one direction of an idle path."""
    assert isinstance(direction.rate, Bitrate)
    mean, variance = direction.rate.time_for(PING).ms + direction.delay.ms, 0.0
    if direction.jitter is not None:
        delay = realised(direction.delay, direction.jitter)
        mean += delay.mean.ms - direction.delay.ms
        variance += delay.deviation.ms**2
    if direction.reorder is not None:
        share, held_ms = direction.reorder.probability.value, direction.reorder.extra_delay.ms
        mean += share * held_ms
        variance += share * (1 - share) * held_ms**2
    return mean, variance


@pytest.mark.parametrize("name", ["verizon-3g", "verizon-lte", "sprint-3g", "sprint-lte"])
def test_a_title_names_the_round_trip_that_a_ping_has(tmp_path: pathlib.Path, name: str) -> None:
    """Its mean within 2 %, and its deviation within 5 %, whatever in the path makes them."""
    path = path_of(tmp_path, f'profile = "{name}"')
    told = re.search(r"(\d+) \((\d+)\) ms", profiles()[name].title)
    assert told is not None
    (up, up_variance), (down, down_variance) = ping(path.up), ping(path.down)
    assert up + down == pytest.approx(float(told[1]), rel=0.02)
    assert (up_variance + down_variance) ** 0.5 == pytest.approx(float(told[2]), rel=0.05)


@pytest.mark.parametrize("name", profiles())
def test_no_profile_has_jitter_that_is_cut_off(tmp_path: pathlib.Path, name: str) -> None:
    """A delay below zero is none, so mean and deviation would be other ones than those that are written."""
    path = path_of(tmp_path, f'profile = "{name}"')
    for direction in (path.up, path.down):
        assert direction.jitter is None or realised(direction.delay, direction.jitter).at_zero.value < 0.01


@pytest.mark.parametrize("name", profiles())
def test_what_is_held_back_is_overtaken(tmp_path: pathlib.Path, name: str) -> None:
    """A full packet that follows at once overtakes it."""
    path = path_of(tmp_path, f'profile = "{name}"')
    for direction in (path.up, path.down):
        assert isinstance(direction.rate, Bitrate)
        service = direction.rate.time_for(ByteCount(path.mtu))
        assert direction.reorder is None or direction.reorder.extra_delay.ns > service.ns


@pytest.mark.parametrize(
    ("delay_ms", "mean_ms", "deviation_ms", "at_zero"), [(2, 3.16, 3.57, 0.34), (10, 10.05, 4.91, 0.02)]
)
def test_jitter_wider_than_its_delay_makes_another_one(
    delay_ms: float, mean_ms: float, deviation_ms: float, at_zero: float
) -> None:
    """Moments of a normal jitter of 5 ms are those of a simulated link."""
    delay = realised(Duration(round(delay_ms * 1e6)), Jitter("normal", Duration(5_000_000)))
    assert delay.mean.ms == pytest.approx(mean_ms, abs=0.01)
    assert delay.deviation.ms == pytest.approx(deviation_ms, abs=0.02)
    assert delay.at_zero.value == pytest.approx(at_zero, abs=0.005)
