# SPDX-License-Identifier: Apache-2.0
"""The study that a probe is."""

from __future__ import annotations

from collections import Counter

import pytest

from quiclab.model.study import Limits, Path
from quiclab.plan.make import make_plan
from quiclab.plan.probing import LOOKS, describe_probe, planned_requests, probe_study
from quiclab.spec.target import Target, read_targets

_URLS = ["https://a.test/1", "https://a.test/2", "https://b.test/"]
_SIZES = {"a.test-1": 9, "a.test-2": 5, "b.test": 7}


def _targets(urls: list[str]) -> tuple[Target, ...]:
    return read_targets(urls)[0]


@pytest.mark.parametrize("urls", [_URLS, _URLS[:1]])
def test_no_host_gets_more_than_planned(urls: list[str]) -> None:
    """What is announced is no less than looks and trials of the plan; for the host of the A/A control exactly that."""
    targets = _targets(urls)
    study = probe_study("p", targets, Path("plain"), "curl-cffi", pairs=4, seed=1, limits=Limits(), sizes=_SIZES)
    host = {target.name: target.authority for target in targets}
    asked = Counter(host[row.workload] for row in make_plan(study))
    for target in targets:
        asked[target.authority] += LOOKS
    planned = planned_requests(targets, 4)
    assert asked["a.test:443"] == planned["a.test:443"]
    assert all(asked[each] <= planned[each] for each in planned)


def test_the_control_is_the_smallest_body() -> None:
    """Its requests cost strangers the least."""
    study = probe_study(
        "p", _targets(_URLS), Path("plain"), "curl-cffi", pairs=1, seed=1, limits=Limits(), sizes=_SIZES
    )
    assert study.aa.workload == "a.test-2"
    assert study.baseline == "h2"


def test_what_is_not_known_is_said_first() -> None:
    """The first line of table and report names what the servers keep to themselves."""
    text = describe_probe(_targets(_URLS[:1]), "curl-cffi")["text"]
    assert "https://a.test/1" in text
    assert "congestion control, initial window, packet size and pacing, which are the servers' own" in text
