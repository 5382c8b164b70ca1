# SPDX-License-Identifier: Apache-2.0
"""Where a CPU limit belongs, and how many competitors make a share."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.lab.testbed.cpu_competitor import competition
from quiclab.lab.testbed.cpu_limit import OwnCgroup, find_cgroup
from quiclab.model.units import Share

V1_MOUNTS = """\
30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 / /sys/fs/cgroup/cpuset rw,nosuid shared:10 - cgroup cgroup rw,cpuset
33 30 0:29 / /sys/fs/cgroup/unified rw,nosuid shared:11 - cgroup2 cgroup2 rw
"""
V2_MOUNTS = "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
CONTAINER_MOUNTS = "35 24 0:30 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n"


@pytest.mark.parametrize(
    ("groups", "mounts", "expected"),
    [
        (
            "4:cpu,cpuacct:/user.slice\n2:cpuset:/\n0::/user.slice\n",
            V1_MOUNTS,
            OwnCgroup(1, Path("/sys/fs/cgroup/cpu,cpuacct/user.slice")),
        ),
        (
            "0::/user.slice/user-1000.slice/session-3.scope\n",
            V2_MOUNTS,
            OwnCgroup(2, Path("/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope")),
        ),
        ("0::/docker/abc/job\n", CONTAINER_MOUNTS, OwnCgroup(2, Path("/sys/fs/cgroup/job"))),
        ("0::/\n", CONTAINER_MOUNTS, None),
        ("0::/\n", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n", None),
        ("", V2_MOUNTS, None),
    ],
)
def test_the_own_group_is_found(groups: str, mounts: str, expected: OwnCgroup | None) -> None:
    """Version 1 by its cpu hierarchy, version 2 by its only one, each at the place where it is mounted."""
    assert find_cgroup(groups, mounts) == expected


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 0.95])
def test_competitors_of_whole_niceness_come_near(share: float) -> None:
    """By the kernel's weights: within an eighth of what is asked, from either side, and never with nobody."""
    number, niceness = competition(Share(share))
    left = 1 / (1 + number * 1.25**-niceness)
    assert number >= 1
    assert 0 <= niceness <= 19
    assert left == pytest.approx(share, rel=0.125)
    assert (1 - left) == pytest.approx(1 - share, rel=0.125)
