# SPDX-License-Identifier: Apache-2.0
"""Programs whose absence fails a test instead of skipping it: those that QUICLAB_REQUIRE names, or `all`."""

from __future__ import annotations

import os
import re
from collections.abc import Generator

import pytest

from quiclab.lab.endpoints import ENDPOINTS
from quiclab.lab.stacks.catalogue import ITEMS

_OF_THE_MACHINE = (
    *("namespaces", "tshark", "strace", "bwrap", "pasta", "slirp4netns", "ffmpeg", "apt-get", "dpkg-deb"),
    "qemu-x86_64",
)


def required_programs(asked: str) -> frozenset[str]:
    """Names, in lower case. `all`: endpoints, what `make stacks` must install, what tests use of the machine."""
    names = {name.lower() for name in asked.split()}
    if "all" in names:
        names = {endpoint.name for endpoint in ENDPOINTS} - {"command"} | {"make stacks", *_OF_THE_MACHINE}
        names |= {name for item in ITEMS if not item.optional for name in item.names}
    return frozenset(name.removeprefix("quiclab-") for name in names)


def told_missing(reason: str, required: frozenset[str]) -> list[str]:
    """Required programs that the reason of a skip names."""
    said = reason.lower()
    return sorted(name for name in required if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said))


_REQUIRED = required_programs(os.environ.get("QUICLAB_REQUIRE", ""))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where a program is required, a test that is skipped for want of it has failed."""
    report = yield
    if not report.skipped or not isinstance(report.longrepr, tuple):
        return report
    if missing := told_missing(report.longrepr[2], _REQUIRED):
        report.outcome = "failed"
        report.longrepr = f"QUICLAB_REQUIRE names {', '.join(missing)}, but this test was skipped: {report.longrepr[2]}"
    return report
