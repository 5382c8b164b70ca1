# SPDX-License-Identifier: Apache-2.0
"""What a link that is kept from running says of its own lateness, held against stamps of the kernels at both ends."""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from live_link import BACKENDS, in_sandbox, open_link, with_backend
from probes import one_way_delays_ns

from quiclab.lab.testbed.link import Backend
from quiclab.model.study import Direction, Queue
from quiclab.model.units import Bitrate, Duration

pytestmark = [pytest.mark.netns, pytest.mark.alone]
DELAY = Duration(10_000_000)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Both ways to carry packets, where this machine has them."""
    return with_backend(request.param)


def _late_ns(delays: dict[int, int]) -> list[int]:
    return [delay - DELAY.ns for delay in delays.values()]


def test_a_link_that_was_not_running_says_so(backend: Backend, tmp_path: Path) -> None:
    """Stopped around each of 20 probes for three times the delay: what the link calls its lateness is what the ends see
    beyond the delay, and the run is not sound."""

    def work() -> dict[str, Any]:
        with open_link(
            Direction(rate=Bitrate(100_000_000), delay=DELAY, queue=Queue(packets=100)), tmp_path, backend
        ) as ends:

            def stop(_: int) -> None:
                os.kill(ends.link.pid, signal.SIGSTOP)
                threading.Timer(0.03, os.kill, [ends.link.pid, signal.SIGCONT]).start()

            delays = one_way_delays_ns(ends, 20, 0.06, stop)
            time.sleep(0.1)
            return {"late_ns": _late_ns(delays), "summary": ends.link.stop()}

    outcome = in_sandbox(work)
    seen_ns = statistics.median(outcome["late_ns"])
    told_ns = outcome["summary"]["lateness"]["p50_ns"]
    assert seen_ns > DELAY.ns
    assert 0.9 < told_ns / seen_ns < 1.1
    assert not outcome["summary"]["sound"]


def test_a_link_without_a_rate_that_stood_still_once_says_so(backend: Backend, tmp_path: Path) -> None:
    """One stop among many probes: each of those that came due meanwhile is late, not the first of them alone."""

    def work() -> dict[str, Any]:
        with open_link(Direction(delay=DELAY), tmp_path, backend) as ends:

            def stop(number: int) -> None:
                if number == 500:
                    os.kill(ends.link.pid, signal.SIGSTOP)
                    threading.Timer(0.1, os.kill, [ends.link.pid, signal.SIGCONT]).start()

            delays = one_way_delays_ns(ends, 1000, 0.001, stop)
            return {"late_ns": _late_ns(delays), "summary": ends.link.stop()}

    outcome = in_sandbox(work)
    told = outcome["summary"]["lateness"]
    late_ns = sorted(outcome["late_ns"])
    for told_ns, share in ((told["p99_ns"], 0.99), (told["max_ns"], 1.0)):
        seen_ns = late_ns[round(share * len(late_ns)) - 1]
        assert seen_ns > 1_000_000
        assert 0.8 < told_ns / seen_ns < 1.2
    assert not outcome["summary"]["sound"]
