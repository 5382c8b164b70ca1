# SPDX-License-Identifier: Apache-2.0
"""The links of a first visit."""

from __future__ import annotations

from quiclab.lab.runner.first_visit import unimpaired
from quiclab.model.study import Bernoulli, Direction, Link, Path
from quiclab.model.units import Bitrate, Duration, Share
from quiclab.spec.link import link_config


def test_delays_stay_and_nothing_else() -> None:
    """Of every link: the client remembers the round trip, and a first visit shall neither be slow nor fail."""
    bad = Direction(rate=Bitrate(10**6), delay=Duration(20_000_000), loss=Bernoulli(Share(0.5)))
    path = Path("bad", up=bad, down=bad, more_links=(Link("far", up=bad, down=bad),))
    first = unimpaired(path)
    assert (first.base_rtt, len(first.links)) == (path.base_rtt, 2)
    config = link_config(first, 1)
    for link in (config, *config["more_links"]):
        for side in ("up", "down"):
            told = link[side]
            assert (told["delay_ns"], told["rate_bit_per_s"], told["loss"]) == (20_000_000, None, None)
