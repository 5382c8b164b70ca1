# SPDX-License-Identifier: Apache-2.0
"""The one line of what was found of the machine, and the one remedy that it names."""

from __future__ import annotations

from typing import Any

import pytest

from quiclab.lab.testbed.timekeeping import Timekeeping
from quiclab.model.units import Share
from quiclab.study.machine_check import MachineCheck

_BOUND_NS = 1_200_000
_MEASURED: dict[str, Any] = {
    "packets": 2000,
    "p50_ns": 1000,
    "p99_ns": 50_000,
    "max_ns": 900_000,
    "real_time": "none",
    "load": 0.2,
    "processors": 2,
    "waited": 0.02,
    "slice_ns": 100_000,
    "others": 0.02,
    "stolen": 0.0,
}
_LATE = {"p99_ns": 4_000_000}
_WAITS = {"waited": 0.4}


def _check(measured: dict[str, Any], **changes: Any) -> MachineCheck:
    facts: dict[str, Any] = {"backend": "veth", "tun_problem": None, "governor": None, "begun": False}
    return MachineCheck(Timekeeping(**(_MEASURED | measured)), bound_ns=_BOUND_NS, **(facts | changes))


def test_of_a_machine_that_is_fine_nothing_is_said() -> None:
    """Whatever else could be better: a closed TUN device, a link without real time, a governor."""
    check = _check({}, tun_problem="Permission denied", governor="powersave")
    assert check.sentence == ""
    assert check.document["fine"] is True


@pytest.mark.parametrize(
    ("measured", "changes", "reason", "remedy"),
    [
        (_LATE | {"stolen": 0.3, "others": 1.0}, {}, "hypervisor", "processors of its own"),
        (_LATE | {"stolen": 0.03, "others": 1.0}, {}, "1.0 of 2 processors", "`top` lists them"),
        (_WAITS | {"stolen": 0.03}, {}, "waits 40% of its time", "more processors"),
        (_LATE | {"others": 0.8}, {"governor": "powersave"}, "0.8 of 2 processors", "`top` lists them"),
        (_WAITS | {"others": 1.6, "real_time": "deadline"}, {}, "1.6 of 2 processors", "`top` lists them"),
        (_LATE, {"governor": "powersave"}, "governor powersave", "cpupower"),
        (_LATE, {"tun_problem": "Permission denied"}, "/dev/net/tun", "`sudo chmod 666 /dev/net/tun`"),
        (_LATE, {"tun_problem": "Permission denied", "begun": True}, "4 ms late", "`sudo quiclab run`"),
        (_LATE, {"backend": "tun"}, "4 ms late", "`sudo quiclab run`"),
        (_WAITS, {"tun_problem": "Permission denied"}, "waits 40% of its time", "more processors"),
    ],
)
def test_one_line_names_the_reason_and_one_remedy(
    measured: dict[str, Any], changes: dict[str, Any], reason: str, remedy: str
) -> None:
    """The strongest reason wins; a remedy that cannot help this study is not named."""
    check = _check(measured, **changes)
    assert reason in check.sentence
    assert remedy in check.sentence
    assert "\n" not in check.sentence
    assert check.sentence.count("What helps") == 1
    assert check.document["told"] == check.sentence


def test_root_is_not_told_to_become_root() -> None:
    """Its link is real-time already, so that it can only be too few processors."""
    assert "sudo" not in _check(_LATE | {"real_time": "deadline"}).sentence


def test_the_bound_is_that_of_the_study() -> None:
    """A lateness that one path does not bear is punctual for another."""
    assert _check({"p99_ns": _BOUND_NS}).is_fine
    assert not _check({"p99_ns": _BOUND_NS + 1}).is_fine


def test_a_study_that_tolerates_more_is_foretold_less() -> None:
    """By its own limit: what disturbs trials at 1 % does not at 50 %, and at 0.1 % less is enough."""
    assert _check(_LATE | _WAITS).sentence
    assert not _check(_LATE | _WAITS, tolerated=Share(0.5)).sentence
    assert _check({}, tolerated=Share(0.0001)).sentence
