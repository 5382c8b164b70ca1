# SPDX-License-Identifier: Apache-2.0
"""Changes of a path that is in use: each becomes one of its schedule, checked as a spec is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quiclab.model.errors import SpecError
from quiclab.model.study import Bernoulli
from quiclab.model.units import Bitrate, Duration, Share
from quiclab.spec.live_path import LivePath, settings_at

AT = Duration(3_000_000_000)


def _live(**keys: Any) -> LivePath:
    return LivePath({"name": "link", **keys}, Path.cwd())


def test_a_change_is_told_to_the_link_and_kept() -> None:
    """One direction, or both; the path has it in its schedule, behind what was there."""
    live = _live(rate="10 Mbit/s", schedule=[{"at": "1 s", "delay": "5 ms"}])
    live, told = live.changed({"": {"delay": "80 ms"}, "down": {"loss": "2 %"}}, None, AT)
    assert told == {
        "link": "bottleneck",
        "up": {"delay_ns": 80_000_000},
        "down": {"delay_ns": 80_000_000, "loss": {"model": "bernoulli", "probability": 0.02}},
    }
    live, told = live.changed({"up": {"rate": "1 Mbit/s"}}, None, Duration(AT.ns + 1))
    assert told == {"link": "bottleneck", "up": {"rate_bit_per_s": 10**6}}
    path = live.read()
    up, down = (settings_at(direction, Duration(AT.ns + 1)) for direction in (path.up, path.down))
    assert (up.rate, up.delay, up.loss) == (Bitrate(10**6), Duration(80_000_000), None)
    assert (down.rate, down.delay, down.loss) == (Bitrate(10**7), Duration(80_000_000), Bernoulli(Share(0.02)))
    assert settings_at(path.up, Duration(0)).delay == Duration(0)


def test_what_is_ended_is_gone() -> None:
    """Changes that the schedule has for later are still to come."""
    live = _live(jitter={"distribution": "normal", "scale": "1 ms"}, schedule=[{"at": "9 s", "loss": "1 %"}])
    live, told = live.changed({"": {"jitter": "none"}}, None, AT)
    assert told["up"] == {"jitter": None}
    direction = settings_at(live.read().up, AT)
    assert direction.jitter is None
    assert [change.at.ns for change in direction.schedule] == [9_000_000_000]


def test_a_link_of_several_is_named() -> None:
    """The client's is the first, which needs no name."""
    live = _live(link=[{"name": "home", "delay": "1 ms"}, {"name": "far"}])
    assert live.changed({"up": {"delay": "2 ms"}}, None, AT)[1] == {"link": "home", "up": {"delay_ns": 2_000_000}}
    live, told = live.changed({"up": {"delay": "3 ms"}}, "far", AT)
    assert told["link"] == "far"
    assert [settings_at(link.up, AT).delay.ms for link in live.read().links] == [1, 3]
    with pytest.raises(SpecError) as caught:
        live.changed({"up": {"delay": "3 ms"}}, "fra", AT)
    assert caught.value.hint == 'did you mean "far"?'


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        ({"": {"delay": "fast"}}, {"--up-delay", "--down-delay"}),
        ({"down": {"loss": "120 %", "queue": "9 packets"}}, {"--down-loss"}),
        ({"up": {"aqm": "codel"}}, {"up"}),
        ({"up": {"latency": "1 ms"}}, {"--up-latency"}),
    ],
)
def test_what_cannot_be_is_told_by_its_option(settings: dict[str, Any], problems: set[str]) -> None:
    """Nothing changes then."""
    live = _live(delay="10 ms")
    with pytest.raises(SpecError) as caught:
        live.changed(settings, None, AT)
    assert {problem.partition(":")[0] for problem in caught.value.problems} == problems
    assert live.read().up.schedule == ()


def test_all_packets_may_be_lost_for_a_while() -> None:
    """The change that ends it is still to come."""
    _, told = _live().changed({"": {"loss": "100 %"}}, None, Duration(1))
    assert told["up"]["loss"]["probability"] == 1
